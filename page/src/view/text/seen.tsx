// Text whose invisible characters are shown by number.

import { pieces } from "./unseen";

export function Seen({ text }: { text: string }) {
  const found = pieces(text);
  if (found.length === 0) return null;
  if (found.length === 1 && !found[0]?.unseen) return <>{text}</>;
  return <>{found.map((piece) => (piece.unseen ? <span class="unseen">{piece.text}</span> : piece.text))}</>;
}

/** The same, with what stands between backticks as code. */
export function Coded({ text }: { text: string }) {
  return <>{text.split(/`([^`]+)`/).map((piece, at) => (at % 2 === 1 ? <code><Seen text={piece} /></code> : <Seen text={piece} />))}</>;
}
