// Characters that change what one sees without being seen: shown by number. In commands, paths and diffs all of them;
// in prose those that do harm, since scripts and emoji need joiners and selectors.

/**
 * Controls but tab and line feed, soft hyphen, fillers, zero-width and directional marks, line separators, tags,
 * variation selectors.
 */
const UNSEEN =
  // biome-ignore lint/suspicious/noMisleadingCharacterClass: each of them is looked for by itself, also the joiners.
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0e\ufeff\uffa0\ufff9-\ufffb]|\udb40[\udc00-\udfff]/g;

/**
 * What does something else than being read, as `is_harmful` in `crates/domain/src/harmless.rs` has it: controls, what
 * turns the direction of writing, what hides words.
 */
const HARMFUL =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{1bca0}-\u{1bca3}\u{1d173}-\u{1d17a}\u{e0000}-\u{e007f}\u{10eeee}]/gu;

export interface Piece {
  text: string;
  /** The text stands for a character that cannot be seen. */
  unseen: boolean;
}

/** The same for prose; a line break may be written in each of the ways there are. */
export function harmless(text: string): Piece[] {
  return pieces(text.replace(/\r\n?/g, "\n"), HARMFUL);
}

export function pieces(text: string, which = UNSEEN): Piece[] {
  const found: Piece[] = [];
  let from = 0;
  for (const match of text.matchAll(which)) {
    if (match.index > from) found.push({ text: text.slice(from, match.index), unseen: false });
    found.push({ text: named(match[0]), unseen: true });
    from = match.index + match[0].length;
  }
  if (from < text.length) found.push({ text: text.slice(from), unseen: false });
  return found;
}

/** The same as one text, for titles and labels. */
export function visible(text: string): string {
  return text.replace(UNSEEN, named);
}

/** One line for a place that has room for one. */
export function oneLine(text: string, most = 400): string {
  const line = visible(
    text
      .slice(0, most * 2)
      .replace(/\s*[\r\n]+\s*/g, " ⏎ ")
      .trim(),
  );
  return line.length > most ? `${line.slice(0, most)}…` : line;
}

function named(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  return `⟨U+${code.toString(16).toUpperCase().padStart(4, "0")}⟩`;
}
