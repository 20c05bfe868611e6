// Dark or light: as the system says, until the person says otherwise.

import { signal } from "@preact/signals";
import { Icon } from "../common/icon";

type Scheme = "system" | "light" | "dark";
const NEXT: Record<Scheme, Scheme> = { system: "light", light: "dark", dark: "system" };

function kept(): Scheme {
  try {
    const said = localStorage.getItem("scheme");
    return said === "light" || said === "dark" ? said : "system";
  } catch {
    return "system";
  }
}

export const scheme = signal<Scheme>(kept());

export function apply(): void {
  if (scheme.value === "system") delete document.documentElement.dataset.scheme;
  else document.documentElement.dataset.scheme = scheme.value;
}

export function nextScheme(): void {
  scheme.value = NEXT[scheme.value];
  try {
    localStorage.setItem("scheme", scheme.value);
  } catch {
    // Without storage it holds until the page is left.
  }
  apply();
}

export function SchemeSwitch() {
  const words = `Colours: ${scheme.value}`;
  return (
    <button type="button" class="quiet" aria-label={words} title={words} onClick={nextScheme}>
      <Icon name={scheme.value} />
    </button>
  );
}
