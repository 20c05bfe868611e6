// What a runtime puts near the composer: widgets, fields of the status line, and what is going on.

import type { Board, WidgetPlace } from "../../model/types";
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

export function StatusLine({ board }: { board: Board }) {
  const fields = Object.entries(board.status ?? {});
  if (fields.length === 0) return null;
  return (
    <dl class="status-line" aria-label="Status">
      {fields.map(([key, text]) => (
        <div key={key} title={`${visible(key)}: ${visible(text)}`}>
          <dt>{visible(key)}</dt>
          <dd class="cut">{visible(text)}</dd>
        </div>
      ))}
    </dl>
  );
}
