// The fleet: every session, in the order in which it wants you.

import { computed } from "@preact/signals";
import { useEffect, useLayoutEffect, useMemo, useReducer, useRef, useState } from "preact/hooks";
import { Age } from "../common/age";
import { Glyph } from "../common/glyph";
import { Icon } from "../common/icon";
import { memo } from "../common/memo";
import { narrow } from "../common/narrow";
import { now } from "../common/now";
import { forWhom } from "../common/who";
import { Bell } from "../chrome/bell";
import { toast } from "../chrome/toasts";
import { SchemeSwitch } from "../chrome/scheme";
import type { FleetPort, FleetRow } from "../ports";
import { groups, second, sections, standing, steady, title, waitingElsewhere, type Section } from "./groups";
import { Hold } from "./hold";

/** Rows of a group that are drawn before more are asked for: a fleet of 500 must not cost a frame. */
const SHOWN = 60;

/** A day begins in some minute: groups are made anew only then, or when rows change. */
const minute = computed(() => Math.floor(now.value / 60_000));

export interface FleetProps {
  fleet: FleetPort;
  current: string | undefined;
  begin: () => void;
  /** Shows how the window stands, where the page is in one; there the desktop tells who waits. */
  window?: (() => void) | undefined;
}

export const Fleet = memo(function Fleet({ fleet, current, begin, window }: FleetProps) {
  const rows = fleet.rows.value;
  const role = fleet.role.value;
  const box = useRef<HTMLDivElement>(null);
  // biome-ignore lint/suspicious/noConfusingVoidType: drawn anew without saying why.
  const [, draw] = useReducer((count: number, _: void) => count + 1, 0);
  const hold = useMemo(() => new Hold(draw, () => box.current?.querySelector("input:focus") != null), []);
  useEffect(() => () => hold.stop(), []);
  const before = useRef<Section[]>([]);
  const [more, setMore] = useState<ReadonlySet<string>>(new Set());
  const fresh = useMemo(() => groups(rows, now.peek(), role), [rows, minute.value, role]);
  const shown = hold.on && before.current.length > 0 ? steady(before.current, fresh) : sections(fresh);
  before.current = shown;
  // A row that goes to another section is another element there: the focus goes with it.
  const focused = box.current?.contains(document.activeElement)
    ? document.activeElement?.getAttribute("href")
    : undefined;
  useLayoutEffect(() => {
    if (focused && document.activeElement === document.body)
      box.current?.querySelector<HTMLElement>(`a[href="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true });
  });
  const elsewhere = hold.on ? waitingElsewhere(shown) : { more: false, count: 0 };
  const may = role === "controller";
  const known = fleet.known?.value ?? true;
  const waiting = rows.some((row) => row.status === "waiting");
  return (
    <nav class="fleet" id="fleet" aria-label="Sessions" tabIndex={-1}>
      <div
        class="scroll"
        ref={box}
        onPointerEnter={() => hold.point()}
        onPointerMove={() => hold.point()}
        onPointerLeave={() => hold.leave()}
        onFocusCapture={() => hold.key()}
        onKeyDown={() => hold.key()}
        onBlurCapture={() => hold.blur()}
      >
        {known && !waiting && rows.length > 0 && <p class="nobody">Nobody waits {forWhom(role)}.</p>}
        {known && rows.length === 0 && (
          <p class="nobody">
            No session yet. Begin one here, or run <code>parlor</code> in a terminal.
          </p>
        )}
        {!known && <p class="slow nobody">Looking for sessions…</p>}
        {shown.map((section) => {
          const some = more.has(section.key) ? section.rows : section.rows.slice(0, SHOWN);
          return (
            <section key={section.key}>
              <h2>{section.heading}</h2>
              <ul>
                {some.map((row) => (
                  <Item
                    key={row.key}
                    row={row}
                    fleet={fleet}
                    current={row.session !== undefined && row.session === current}
                    may={may}
                  />
                ))}
              </ul>
              {some.length < section.rows.length && (
                <button type="button" class="more" onClick={() => setMore(new Set([...more, section.key]))}>
                  Show {section.rows.length - some.length} more
                </button>
              )}
            </section>
          );
        })}
      </div>
      {/* Below the list, where it moves no row. */}
      <p class="elsewhere-waits" role="status">
        {elsewhere.count > 0 && (
          <>
            <Glyph of="diamond" look="wait" /> {elsewhere.count}
            {elsewhere.more ? " more" : ""} {elsewhere.count === 1 ? "waits" : "wait"} {forWhom(role)}
          </>
        )}
      </p>
      <footer>
        <button type="button" class="quiet" disabled={!may} onClick={begin}>
          <Icon name="plus" /> New session
        </button>
        <span class="grow" />
        {window ? (
          <button
            type="button"
            class="quiet"
            aria-label="Window"
            title="Window: how it starts, shortcut, notifications"
            onClick={window}
          >
            <Icon name="settings" />
          </button>
        ) : (
          <Bell />
        )}
        <SchemeSwitch />
      </footer>
    </nav>
  );
});

const Item = memo(function Item({
  row,
  fleet,
  current,
  may,
}: {
  row: FleetRow;
  fleet: FleetPort;
  current: boolean;
  may: boolean;
}) {
  const [says, setSays] = useState<string | undefined>();
  const [armed, setArmed] = useState(false);
  // Most rows are only looked at: buttons are made for those that somebody comes near.
  const [near, setNear] = useState(false);
  const { glyph, look, word } = standing(row.status, fleet.role.value);
  const busy = row.status === "running" || row.status === "waiting";
  const act = (what: { steer: string } | "stop"): void =>
    void fleet.act(row.key, what).then(
      (words) => toast("info", words),
      (error: unknown) => toast("error", String(error)),
    );
  const stop = (): void => {
    if (armed) act("stop");
    setArmed(!armed);
    setTimeout(() => setArmed(false), 3000);
  };
  const inner = (
    <>
      <Glyph of={glyph} look={look} />
      <span class="cut isolate">
        <span class="hidden">{word}: </span>
        {title(row)}
      </span>
      <Age since={row.since} />
      <span class="second cut isolate">
        {second(row)}
        {row.asks && row.asks > 1 ? ` · ${row.asks} questions` : ""}
      </span>
    </>
  );
  return (
    <li
      class={`fleet-item${busy ? " busy" : ""}`}
      onPointerEnter={() => setNear(true)}
      onFocusCapture={() => setNear(true)}
    >
      {row.session ? (
        <a
          class="fleet-row"
          href={`#/s/${encodeURIComponent(row.session)}`}
          aria-current={current ? "true" : undefined}
        >
          {inner}
        </a>
      ) : (
        <div class="fleet-row">{inner}</div>
      )}
      {may && row.session && (near || (busy && narrow.value)) && (
        <div class="acts">
          <button
            type="button"
            class="quiet"
            onClick={() => setSays(says === undefined ? "" : undefined)}
            aria-label={`Say something to ${title(row)}`}
            title="Say something to it"
          >
            <Icon name="steer" size={12} />
          </button>
          {busy ? (
            <button type="button" class="quiet" onClick={stop} aria-label={`Stop ${title(row)}`} title="Stop its run">
              {armed ? "Stop?" : <Icon name="stop" size={12} />}
            </button>
          ) : null}
        </div>
      )}
      {says !== undefined && (
        <form
          class="fleet-say"
          onSubmit={(event) => {
            event.preventDefault();
            if (says.trim()) act({ steer: says.trim() });
            setSays(undefined);
          }}
        >
          <input
            type="text"
            aria-label="What to say"
            placeholder="Steer, or begin…"
            value={says}
            onInput={(event) => setSays(event.currentTarget.value)}
            onKeyDown={(event) => event.key === "Escape" && setSays(undefined)}
          />
          <button type="submit" class="button">
            Say
          </button>
        </form>
      )}
    </li>
  );
});
