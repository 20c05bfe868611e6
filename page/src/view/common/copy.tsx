// Copies a text; says so, and says why not where the browser does not let us.

import { useState } from "preact/hooks";
import { Icon } from "./icon";

export function CopyButton({ text, what }: { text: string; what: string }) {
  const [said, setSaid] = useState<string | undefined>();
  const copy = async (): Promise<void> => {
    const done = await copyText(text);
    setSaid(done ? "Copied" : "Copying needs HTTPS or localhost");
    setTimeout(() => setSaid(undefined), 2000);
  };
  return (
    <button type="button" class="quiet" onClick={() => void copy()} aria-label={`Copy ${what}`} title={`Copy ${what}`}>
      {said ?? <Icon name="copy" />}
    </button>
  );
}

/** Whether it worked: there is no clipboard outside of a secure context. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}
