// What a runtime puts near the composer: widgets, fields of the status line, and what is going on.

import { useState } from "preact/hooks";
import { LISTENING, listening } from "../../model/board";
import type { Board, WidgetPlace } from "../../model/types";
import { refused } from "../chrome/toasts";
import type { SessionPort } from "../ports";
import { visible } from "../text/unseen";

export function Widgets({ board, place }: { board: Board; place: WidgetPlace }) {
  const shown = Object.entries(board.widgets ?? {}).filter(([, [where]]) => where === place);
  return (
    <>
      {shown.map(([key, [, lines]]) => (
        <pre class="widget" key={key} tabIndex={0} role="region" aria-label={visible(key)}>
          {lines.map(visible).join("\n")}
        </pre>
      ))}
    </>
  );
}

export function StatusLine({ board, port }: { board: Board; port: SessionPort }) {
  const { [LISTENING]: ports, ...others } = board.status ?? {};
  const fields = Object.entries(others);
  if (fields.length === 0 && ports === undefined) return null;
  return (
    <dl class="status-line" aria-label="Status">
      {ports !== undefined && <Listening text={ports} port={port} />}
      {fields.map(([key, text]) => (
        <div key={key} title={`${visible(key)}: ${visible(text)}`}>
          <dt>{visible(key)}</dt>
          <dd class="cut">{visible(text)}</dd>
        </div>
      ))}
    </dl>
  );
}

/** At which ports commands of the session listen. Whoever may steer it opens one on the machine where Parlor runs. */
function Listening({ text, port }: { text: string; port: SessionPort }) {
  const [busy, setBusy] = useState(false);
  const { ports, more } = listening(text);
  const may = port.role.value === "controller";
  const here = /^127\.0\.0\.1$|^\[::1\]$|(^|\.)localhost$/.test(location.hostname);
  const ask = (payload: object): void => {
    setBusy(true);
    void port
      .send({ extension: { name: "parlor/ports", payload } })
      .catch(refused)
      .finally(() => setBusy(false));
  };
  return (
    <div class="listening">
      <dt>A command listens on</dt>
      {ports.map(({ port: number, open }) => (
        <dd key={number}>
          {open && here ? (
            <a href={`http://127.0.0.1:${number}/`} rel="noopener noreferrer" target="_blank">
              127.0.0.1:{number}
            </a>
          ) : (
            <span>{open ? `${number} (open on Parlor's machine)` : number}</span>
          )}
          {may && (
            <button
              type="button"
              disabled={busy}
              aria-label={open ? `Close port ${number}` : `Open port ${number} on Parlor's machine`}
              onClick={() => ask(open ? { close: number } : { open: number })}
            >
              {open ? "Close" : "Open"}
            </button>
          )}
        </dd>
      ))}
      {more !== undefined && <dd>{more}</dd>}
    </div>
  );
}
