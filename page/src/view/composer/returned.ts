// Words that come back to the composer.

import type { Input } from "../../model/types";

/** What is being written, and below it what came back, oldest first. */
export function together(text: string, returned: readonly Input[]): string {
  return [text.trimEnd(), ...returned.map((input) => input.text)].filter((part) => part !== "").join("\n");
}
