// The fleet: every session, in the order in which it wants you.

import { computed } from "@preact/signals";
import { useMemo, useRef, useState } from "preact/hooks";
import { Age } from "../common/age";
import { Glyph } from "../common/glyph";
import { Icon } from "../common/icon";
import { memo } from "../common/memo";
import { narrow } from "../common/narrow";
import { now } from "../common/now";
import { toast } from "../chrome/toasts";
import { SchemeSwitch } from "../chrome/scheme";
import type { FleetPort, FleetRow } from "../ports";
import { groups, second, standing, steady, title, type Group } from "./groups";

/** Rows of a group that are drawn before more are asked for: a fleet of 500 must not cost a frame. */
const SHOWN = 60;

/** A day begins in some minute: groups are made anew only then, or when rows change. */
const minute = computed(() => Math.floor(now.value / 60_000));

export interface FleetProps {
  fleet: FleetPort;
  current: string | undefined;
  begin: () => void;
}

export const Fleet = memo(function Fleet({ fleet, current, begin }: FleetProps) {
  const rows = fleet.rows.value;
  const held = useRef(false);
  const before = useRef<Group[]>([]);
  const [more, setMore] = useState<ReadonlySet<string>>(new Set());
  const fresh = useMemo(() => groups(rows, now.peek()), [rows, minute.value]);
  // While the reader points at the list no row changes its place: what is new is told in its row.
  const shown = held.current && before.current.length > 0 ? frozen(before.current, rows) : fresh;
  before.current = shown;
  const hold = (on: boolean) => () => void (held.current = on);
  const may = fleet.role.value === "controller";
  const known = fleet.known?.value ?? true;
  const waiting = rows.some((row) => row.status === "waiting");
  return (
    <nav class="fleet" id="fleet" aria-label="Sessions" tabIndex={-1}>
      <div class="scroll" onPointerEnter={hold(true)} onPointerLeave={hold(false)} onFocusCapture={hold(true)} onBlurCapture={hold(false)}>
        {known && !waiting && rows.length > 0 && <p class="nobody">Nobody waits for you.</p>}
        {known && rows.length === 0 && <p class="nobody">No session yet. Begin one here, or run <code>parlor</code> in a terminal.</p>}
        {!known && <p class="slow nobody">Looking for sessions…</p>}
        {shown.map((group) => {
          const some = more.has(group.name) ? group.rows : group.rows.slice(0, SHOWN);
          return (
            <section key={group.name}>
              <h2>{group.name} · {group.rows.length}</h2>
              <ul>{some.map((row) => <Item key={row.key} row={row} fleet={fleet} current={row.session !== undefined && row.session === current} may={may} />)}</ul>
              {some.length < group.rows.length && <button type="button" class="more" onClick={() => setMore(new Set([...more, group.name]))}>Show {group.rows.length - some.length} more</button>}
            </section>
          );
        })}
      </div>
      <footer>
        <button type="button" class="quiet" disabled={!may} onClick={begin}><Icon name="plus" /> New session</button>
        <span class="grow" />
        <SchemeSwitch />
      </footer>
    </nav>
  );
});

function frozen(before: Group[], rows: readonly FleetRow[]): Group[] {
  const known = new Map(rows.map((row) => [row.key, row]));
  const kept = before.map((group) => ({ name: group.name, rows: steady(group.rows.map((row) => row.key), group.rows.map((row) => known.get(row.key)).filter((row) => row !== undefined)) }));
  const shown = new Set(kept.flatMap((group) => group.rows.map((row) => row.key)));
  const rest = rows.filter((row) => !shown.has(row.key));
  for (const group of groups(rest, Date.now())) {
    const same = kept.find((one) => one.name === group.name);
    if (same) same.rows.push(...group.rows);
    else kept.push(group);
  }
  return kept.filter((group) => group.rows.length > 0);
}

const Item = memo(function Item({ row, fleet, current, may }: { row: FleetRow; fleet: FleetPort; current: boolean; may: boolean }) {
  const [says, setSays] = useState<string | undefined>();
  const [armed, setArmed] = useState(false);
  // Most rows are only looked at: buttons are made for those that somebody comes near.
  const [near, setNear] = useState(false);
  const { glyph, look, word } = standing(row.status);
  const busy = row.status === "running" || row.status === "waiting";
  const act = (what: { steer: string } | "stop"): void => void fleet.act(row.key, what).then((words) => toast("info", words), (error: unknown) => toast("error", String(error)));
  const stop = (): void => {
    if (armed) act("stop");
    setArmed(!armed);
    setTimeout(() => setArmed(false), 3000);
  };
  const inner = (
    <>
      <Glyph of={glyph} look={look} />
      <span class="cut isolate"><span class="hidden">{word}: </span>{title(row)}</span>
      <Age since={row.since} />
      <span class="second cut isolate">{second(row)}{row.asks && row.asks > 1 ? ` · ${row.asks} questions` : ""}</span>
    </>
  );
  return (
    <li class={`fleet-item${busy ? " busy" : ""}`} onPointerEnter={() => setNear(true)} onFocusCapture={() => setNear(true)}>
      {row.session ? <a class="fleet-row" href={`#/s/${encodeURIComponent(row.session)}`} aria-current={current ? "true" : undefined}>{inner}</a> : <div class="fleet-row">{inner}</div>}
      {may && row.session && (near || (busy && narrow.value)) && (
        <div class="acts">
          <button type="button" class="quiet" onClick={() => setSays(says === undefined ? "" : undefined)} aria-label={`Say something to ${title(row)}`} title="Say something to it"><Icon name="steer" size={12} /></button>
          {busy ? <button type="button" class="quiet" onClick={stop} aria-label={`Stop ${title(row)}`} title="Stop its run">{armed ? "Stop?" : <Icon name="stop" size={12} />}</button> : null}
        </div>
      )}
      {says !== undefined && (
        <form class="fleet-say" onSubmit={(event) => { event.preventDefault(); if (says.trim()) act({ steer: says.trim() }); setSays(undefined); }}>
          <input type="text" aria-label="What to say" placeholder="Steer, or begin…" value={says} onInput={(event) => setSays(event.currentTarget.value)} onKeyDown={(event) => event.key === "Escape" && setSays(undefined)} />
          <button type="submit" class="button">Say</button>
        </form>
      )}
    </li>
  );
});
