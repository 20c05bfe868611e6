// Words that come back to the composer.

import { signal } from "@preact/signals";
import type { Input } from "../../model/types";

/** A prompt that is to stand in the composer, to be said otherwise. */
export const wanted = signal<string | undefined>(undefined);

/** What is being written, and below it what came back, oldest first. */
export function together(text: string, returned: readonly Input[]): string {
  return [text.trimEnd(), ...returned.map((input) => input.text)].filter((part) => part !== "").join("\n");
}
