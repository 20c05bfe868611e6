// What the composer offers to complete: slash commands at the beginning, files after an @.

export interface Offer {
  /** What is put in the place of what was typed. */
  text: string;
  name: string;
  words: string;
}

export interface Completing {
  kind: "command" | "file";
  /** Where the typed word begins and ends. */
  from: number;
  to: number;
  word: string;
}

/** What stands at the cursor that could be completed. */
export function completing(text: string, cursor: number): Completing | undefined {
  const before = text.slice(0, cursor);
  const command = /^\/(\S*)$/.exec(before);
  if (command) return { kind: "command", from: 0, to: cursor, word: command[1] ?? "" };
  const file = /(^|\s)@([^\s@]*)$/.exec(before);
  if (!file) return undefined;
  const word = file[2] ?? "";
  return { kind: "file", from: cursor - word.length - 1, to: cursor, word };
}

/** How well `word` fits into `name`: letters in order, the beginning and whole words first. */
export function fits(word: string, name: string): number | undefined {
  const wanted = word.toLowerCase();
  const given = name.toLowerCase();
  if (wanted === "") return 0;
  const at = given.indexOf(wanted);
  if (at >= 0) return at === 0 ? 0 : /[\s/._-]/.test(given[at - 1] ?? "") ? 1 : 2;
  let from = 0;
  for (const letter of wanted) {
    from = given.indexOf(letter, from) + 1;
    if (from === 0) return undefined;
  }
  return 3;
}

export function best<T>(word: string, all: readonly T[], name: (one: T) => string, most: number): T[] {
  const ranked = all
    .map((one, at) => ({ one, at, rank: fits(word, name(one)) }))
    .filter((found) => found.rank !== undefined);
  ranked.sort((a, b) => (a.rank ?? 0) - (b.rank ?? 0) || a.at - b.at);
  return ranked.slice(0, most).map((found) => found.one);
}
