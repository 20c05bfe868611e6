// A message of ours, in which somebody else's lines are drawn as theirs.

import { Seen } from "../text/seen";

/** What begins such a line, as `MARK` in `crates/domain/src/harmless.rs`, and the first line of a command. */
const MARK = "  | ";
const PROMPT = "$ ";

export interface ToldPart {
  text: string;
  /** Whether these are somebody else's lines: drawn as such, however they are broken. */
  theirs: boolean;
}

/** A message as our words and theirs; what is theirs stands without its marks. */
export function told(message: string): ToldPart[] {
  const parts: ToldPart[] = [];
  for (const line of message.split("\n")) {
    const marked = line.startsWith(MARK);
    const theirs = marked || line.startsWith(PROMPT);
    const text = marked ? line.slice(MARK.length) : line;
    const last = parts.at(-1);
    // A command begins anew behind another.
    if (last && last.theirs === theirs && (marked || !theirs)) last.text += `\n${text}`;
    else parts.push({ text, theirs });
  }
  // Lines between ours and theirs only part them.
  const trimmed = parts.map((part) => (part.theirs ? part : { ...part, text: part.text.replace(/^\n+|\n+$/g, "") }));
  return trimmed.filter((part) => part.theirs || part.text !== "");
}

export function Told({ text }: { text: string }) {
  return (
    <>
      {told(text).map((part) =>
        part.theirs ? (
          <span class="theirs">
            <Seen text={part.text} />
          </span>
        ) : (
          <Seen text={part.text} />
        ),
      )}
    </>
  );
}
