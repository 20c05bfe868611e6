// The fleet in groups: who waits for you, who runs, then by day.

import { oneLine } from "../text/unseen";
import { folder, money } from "../common/format";
import type { Sign } from "../common/glyph";
import { forWhom } from "../common/who";
import type { DeviceRole, FleetRow, FleetStatus } from "../ports";

export interface Group {
  name: string;
  rows: FleetRow[];
}

export const GLYPHS: Record<FleetStatus, { glyph: Sign; look: string; word: string }> = {
  waiting: { glyph: "diamond", look: "wait", word: "waits for you" },
  running: { glyph: "dot", look: "accent", word: "running" },
  new: { glyph: "ring", look: "faint", word: "new" },
  done: { glyph: "check", look: "ok", word: "done" },
  failed: { glyph: "cross", look: "risk", word: "failed" },
  stopped: { glyph: "square", look: "faint", word: "stopped" },
  interrupted: { glyph: "pause", look: "faint", word: "interrupted" },
  lost: { glyph: "broken", look: "faint", word: "its runtime went away" },
  kept: { glyph: "ring", look: "faint", word: "closed" },
  silent: { glyph: "dots", look: "faint", word: "does not answer" },
  other: { glyph: "ring", look: "faint", word: "another version of Parlor" },
  dead: { glyph: "cross", look: "faint", word: "its process died" },
};

/** A word that a newer server has is no reason to show nothing. */
export function standing(status: string, role: DeviceRole = "controller"): (typeof GLYPHS)[FleetStatus] {
  if (status === "waiting") return { ...GLYPHS.waiting, word: `waits ${forWhom(role)}` };
  return Object.hasOwn(GLYPHS, status)
    ? GLYPHS[status as FleetStatus]
    : { glyph: "question", look: "faint", word: status };
}

const DAY = 86_400_000;

/** Waiting: the longest wait first. Running: the newest first. Everything else by day, newest first. */
export function groups(rows: readonly FleetRow[], now: number, role: DeviceRole = "controller"): Group[] {
  const of = (status: FleetStatus): FleetRow[] => rows.filter((row) => row.status === status);
  const byKey = (a: FleetRow, b: FleetRow): number => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0);
  const oldest = (a: FleetRow, b: FleetRow): number => (a.since ?? 0) - (b.since ?? 0) || byKey(a, b);
  const newest = (a: FleetRow, b: FleetRow): number => (b.since ?? 0) - (a.since ?? 0) || byKey(a, b);
  const waiting = of("waiting").sort(oldest);
  const running = of("running").sort(newest);
  const rest = rows.filter((row) => row.status !== "waiting" && row.status !== "running").sort(newest);
  const today = new Date(now).setHours(0, 0, 0, 0);
  const day = (row: FleetRow): string => {
    if (row.since === undefined) return "Earlier";
    if (row.since >= today) return "Today";
    if (row.since >= today - DAY) return "Yesterday";
    return row.since >= today - 6 * DAY ? "This week" : "Earlier";
  };
  const found: Group[] = [];
  if (waiting.length > 0) found.push({ name: `Waiting ${forWhom(role)}`, rows: waiting });
  if (running.length > 0) found.push({ name: "Running", rows: running });
  for (const row of rest) {
    const name = day(row);
    const last = found.find((group) => group.name === name);
    if (last) last.rows.push(row);
    else found.push({ name, rows: [row] });
  }
  return found;
}

/** Who waits for you, the longest wait first. */
export function waitingRows(rows: readonly FleetRow[]): FleetRow[] {
  return rows.filter((row) => row.status === "waiting").sort((a, b) => (a.since ?? 0) - (b.since ?? 0));
}

/** The second line: what it asks or does, then where. */
export function second(row: FleetRow): string {
  const what =
    row.status === "waiting" ? row.question : (row.about ?? (row.status === "failed" ? "failed" : undefined));
  return [what && oneLine(what, 120), place(row)].filter(Boolean).join(" · ");
}

/** Where it is, and what it has cost. */
export function place(row: FleetRow): string {
  return [folder(row.cwd), row.branch, row.runtime, money(row.cost_micros, row.rough)].filter(Boolean).join(" · ");
}

/** Most folders that are offered for a new session. */
const FOLDERS = 6;

/** Where sessions are, the one that was used last first: a new one is mostly begun where others are. */
export function folders(rows: readonly FleetRow[], except: string): string[] {
  const newest = [...rows].sort((a, b) => (b.since ?? 0) - (a.since ?? 0));
  const all = newest.map((row) => row.cwd).filter((cwd) => cwd?.startsWith("/") && cwd !== except);
  return [...new Set(all as string[])].slice(0, FOLDERS);
}

export function title(row: FleetRow): string {
  return oneLine(row.title || (row.session ? "New session" : row.pid ? `process ${row.pid}` : row.key), 200);
}

/** A part of the list as it is drawn: rows under a heading that is true of all of them. */
export interface Section {
  key: string;
  heading: string;
  rows: FleetRow[];
}

function section(key: string, counts: readonly (readonly [name: string, count: number])[], rows: FleetRow[]): Section {
  const words = counts
    .filter(([, count]) => count > 0)
    .map(([name, count], at) => `${at === 0 ? name : name.charAt(0).toLowerCase() + name.slice(1)} · ${count}`);
  return { key, heading: words.join(", "), rows };
}

export function sections(found: readonly Group[]): Section[] {
  return found.map(({ name, rows }) => section(name, [[name, rows.length]], rows));
}

/** Where rows stand that came while the others were kept in their places. */
const LATER = "later";

/**
 * Keeps every row in its place while the reader is about to hit one: a row that jumps away is a row that is hit by
 * mistake. Headings say what stands below them by now; rows that are new go to the end.
 */
export function steady(before: readonly Section[], found: readonly Group[]): Section[] {
  const now = new Map(found.flatMap(({ name, rows }) => rows.map((row) => [row.key, { name, row }] as const)));
  const places = before
    .filter(({ key }) => key !== LATER)
    .map(({ key, rows }) => ({ key, keys: rows.map((row) => row.key) }));
  const placed = new Set(places.flatMap(({ keys }) => keys));
  const last = before.find(({ key }) => key === LATER)?.rows.map((row) => row.key) ?? [];
  places.push({ key: LATER, keys: [...new Set([...last, ...[...now.keys()].filter((key) => !placed.has(key))])] });
  return places
    .map(({ key, keys }) => {
      const here = keys.map((one) => now.get(one)).filter((one) => one !== undefined);
      return section(
        key,
        found.map(({ name }) => [name, here.filter((one) => one.name === name).length] as const),
        here.map(({ row }) => row),
      );
    })
    .filter(({ rows }) => rows.length > 0);
}

/** How many wait and do not stand first, where one looks for them. */
export function waitingElsewhere(shown: readonly Section[]): { more: boolean; count: number } {
  const waits = (row: FleetRow): boolean => row.status === "waiting";
  const first = shown[0]?.rows.every(waits) ?? false;
  return {
    more: first,
    count: shown
      .slice(first ? 1 : 0)
      .flatMap(({ rows }) => rows)
      .filter(waits).length,
  };
}
