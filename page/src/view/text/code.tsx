// A block of code: plain at once, coloured when it is whole.

import { useEffect, useRef, useState } from "preact/hooks";
import { CopyButton } from "../common/copy";
import { grouped } from "../common/format";
import { classOf, highlight, type Scoped } from "./highlight";
import { Seen } from "./seen";
import { visible } from "./unseen";

/** How long an open fence must be quiet to be coloured. */
const QUIET_MS = 200;
/** Characters of a line that are drawn at once. */
const MAX_CODE = 200_000;

export function Code({ text, language, open }: { text: string; language: string | undefined; open: boolean }) {
  const [coloured, setColoured] = useState<{ of: string; pieces: Scoped[] } | undefined>();
  const [all, setAll] = useState(false);
  const alive = useRef(true);
  useEffect(() => () => void (alive.current = false), []);
  useEffect(() => {
    let current = true;
    const colour = (): void => {
      void highlight(text, language).then((pieces) => {
        if (current && alive.current && pieces) setColoured({ of: text, pieces });
      });
    };
    const wait = open ? setTimeout(colour, QUIET_MS) : undefined;
    if (!open) colour();
    return () => {
      current = false;
      clearTimeout(wait);
    };
  }, [text, language, open]);
  const shown = all ? text : text.slice(0, MAX_CODE);
  const known = coloured !== undefined && shown.startsWith(coloured.of) ? coloured : undefined;
  return (
    <div class="code">
      <div class="code-head">
        <span>{visible(language?.split(/\s/)[0] || "text")}</span>
        <CopyButton text={text} what="code" />
      </div>
      <pre tabIndex={0} role="group" aria-label={`Code${language ? `, ${visible(language)}` : ""}`}>
        <code>
          {known ? (
            <>
              {known.pieces.map((piece) => (
                <span class={classOf(piece.scope) || undefined}>
                  <Seen text={piece.text} />
                </span>
              ))}
              <Seen text={shown.slice(known.of.length)} />
            </>
          ) : (
            <Seen text={shown} />
          )}
        </code>
      </pre>
      {text.length > shown.length && (
        <button type="button" class="more" onClick={() => setAll(true)}>
          Show {grouped(String(text.length - shown.length))} more characters
        </button>
      )}
    </div>
  );
}
