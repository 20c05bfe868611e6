// A file that was chosen elsewhere and is to stand in the composer.

import { signal } from "@preact/signals";

export const mentioned = signal<string | undefined>(undefined);

/** The text with the file named at the cursor, and where the cursor is then. */
export function withMention(text: string, cursor: number, path: string): { text: string; cursor: number } {
  const before = text.slice(0, cursor);
  const gap = before === "" || /\s$/.test(before) ? "" : " ";
  const word = `${gap}@${path} `;
  return { text: before + word + text.slice(cursor).replace(/^ /, ""), cursor: cursor + word.length };
}
