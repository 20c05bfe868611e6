// The middle of the fleet: who waits for you, as whole as a card can show it; or what to do when nobody does.

import { Age } from "../common/age";
import { Glyph } from "../common/glyph";
import { memo } from "../common/memo";
import { forWhom } from "../common/who";
import { State } from "../chrome/connection";
import type { FleetPort, FleetRow } from "../ports";
import { Coded } from "../text/seen";
import { oneLine } from "../text/unseen";
import { Start } from "./start";
import { place, title, waitingRows } from "./groups";

/** Most cards: the list at the side has all of them. */
const CARDS = 8;

export const Home = memo(function Home({ fleet }: { fleet: FleetPort }) {
  const rows = fleet.rows.value;
  const role = fleet.role.value;
  const waiting = waitingRows(rows);
  // Before the server has told, nobody knows whether there are any.
  if (!(fleet.known?.value ?? true))
    return (
      <div class="slow state" role="status">
        <h2>Looking for sessions…</h2>
      </div>
    );
  const running = rows.filter((row) => row.status === "running").length;
  if (waiting.length === 0) {
    const none = rows.length === 0;
    return (
      <div class="home-empty">
        {role === "controller" && <Start fleet={fleet} />}
        <State title={none ? "No session yet" : `Nobody waits ${forWhom(role)}.`}>
          {none ? (
            <>
              {role === "controller" ? "Say above what you want done, or run" : "Run"} <code>parlor</code> in a
              terminal.
            </>
          ) : running > 0 ? (
            `${running} ${running === 1 ? "session is" : "sessions are"} at work.`
          ) : (
            "Nothing runs either."
          )}
        </State>
      </div>
    );
  }
  return (
    <div class="home scroll" tabIndex={0} role="region" aria-label={`Waiting ${forWhom(role)}`}>
      <div class="column">
        {role === "controller" && <Start fleet={fleet} />}
        <div class="row">
          <h2 class="grow">
            {waiting.length} {waiting.length === 1 ? "waits" : "wait"} {forWhom(role)}
          </h2>
        </div>
        <ul class="cards">
          {waiting.slice(0, CARDS).map((row) => (
            <Card key={row.key} row={row} />
          ))}
        </ul>
        {waiting.length > CARDS && <p class="faint">and {waiting.length - CARDS} more in the list</p>}
      </div>
    </div>
  );
});

/** A screen of its own for a new session. */
export function Begin({
  title,
  ...start
}: {
  fleet: FleetPort;
  folder?: string | undefined;
  model?: string | undefined;
  title: string;
  trouble?: string | undefined;
}) {
  return (
    <div class="begin scroll">
      <div class="column">
        <h2>{title}</h2>
        <Start {...start} writes />
      </div>
    </div>
  );
}

const Card = memo(function Card({ row }: { row: FleetRow }) {
  return (
    <li>
      <a class="card" href={row.session ? `#/s/${encodeURIComponent(row.session)}` : "#/"}>
        <span class="row">
          <Glyph of="diamond" look="wait" />
          <b class="grow cut isolate">{title(row)}</b>
          <Age since={row.since} />
        </span>
        {row.question && (
          <span class="question isolate">
            <Coded text={oneLine(row.question, 600)} />
          </span>
        )}
        <span class="soft cut isolate">
          {[place(row), row.asks && row.asks > 1 ? `${row.asks} questions` : ""].filter(Boolean).join(" · ")}
        </span>
      </a>
    </li>
  );
});
