// Text whose invisible characters are shown by number.

import { harmless, pieces, type Piece } from "./unseen";

export function Seen({ text }: { text: string }) {
  return drawn(pieces(text));
}

/** Prose: what turns its direction or hides in it is shown by number, what scripts and emoji need stays. */
export function Prose({ text }: { text: string }) {
  return drawn(harmless(text));
}

function drawn(found: Piece[]) {
  if (found.length === 0) return null;
  if (found.length === 1 && !found[0]?.unseen) return <>{found[0]?.text}</>;
  return <>{found.map((piece) => (piece.unseen ? <span class="unseen">{piece.text}</span> : piece.text))}</>;
}

/** The same, with what stands between backticks as code. */
export function Coded({ text }: { text: string }) {
  return (
    <>
      {text.split(/`([^`]+)`/).map((piece, at) =>
        at % 2 === 1 ? (
          <code>
            <Seen text={piece} />
          </code>
        ) : (
          <Seen text={piece} />
        ),
      )}
    </>
  );
}
