// A setting as it is shown: its name and its switch.

import type { ComponentChildren } from "preact";
import { visible } from "../text/unseen";

/** A setting: its switch, or its value and why there is none. */
export function Field({
  id,
  name,
  why,
  value,
  children,
}: {
  id: string;
  name: string;
  why: string | undefined;
  value: string;
  children: ComponentChildren;
}) {
  if (why !== undefined)
    return (
      <>
        <span class="soft">{name}</span>
        <span>
          {visible(value)} <span class="faint">{why}</span>
        </span>
      </>
    );
  return (
    <>
      <label for={id}>{name}</label>
      {children}
    </>
  );
}
