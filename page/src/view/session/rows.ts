// The transcript as rows: one for each thing that a reader opens, folds or jumps to.

import {
  shown,
  type Entry,
  type MessageEntry,
  type NoticeEntry,
  type CompactionEntry,
  type Run,
  type State,
  type ToolRun,
} from "../../model/state";
import type { Cause, Part } from "../../model/types";

export type Row =
  | { is: "prompt"; key: string; entry: MessageEntry; cause: Cause | undefined }
  | { is: "text"; key: string; text: string; open: boolean }
  | { is: "thought"; key: string; text: string; open: boolean; entry: MessageEntry }
  | { is: "tool"; key: string; tool: ToolRun }
  | { is: "part"; key: string; part: Part }
  | { is: "notice"; key: string; entry: NoticeEntry }
  | { is: "compaction"; key: string; entry: CompactionEntry }
  | { is: "cut"; key: string; words: string }
  | { is: "end"; key: string; run: Run };

/** Rows of each entry are kept for as long as the entry stays the same: a long session is walked, not built again. */
const known = new WeakMap<State["entries"], Kept>();
type Kept = Map<number, { entry: Entry; rows: Row[]; tools: (ToolRun | undefined)[] }>;

type CauseOf = (turn: number) => Cause | undefined;

export function rows(state: State): Row[] {
  let causes: Map<number, Cause> | undefined;
  const causeOf: CauseOf = (turn) =>
    (causes ??= new Map(state.runs.flatMap((run) => run.turns.map((turn) => [turn.id, turn.cause] as const)))).get(
      turn,
    );
  const ends = new Map<number, Run>();
  const denied = deniedRuns(state);
  for (const run of state.runs) {
    if (run.ended && (run.ended.outcome !== "done" || denied.has(run.id))) ends.set(run.id, run);
  }
  const kept: Kept = known.get(state.entries) ?? new Map();
  known.set(state.entries, kept);
  const entries = shown(state);
  /** Where each run that did not end well has its last entry. */
  const lastOf = new Map<number, number>();
  if (ends.size > 0) {
    entries.forEach((entry, at) => {
      const run = runOf(entry);
      if (run !== undefined && ends.has(run)) lastOf.set(run, at);
    });
  }
  const found: Row[] = [];
  /** The run whose last entry has passed, until its end is told. */
  let over: Run | undefined;
  const tell = (): void => {
    if (!over) return;
    dropTold(found, over);
    found.push({ is: "end", key: `run-${over.id}`, run: over });
    over = undefined;
  };
  entries.forEach((entry, at) => {
    const run = runOf(entry);
    // What belongs to no run stands before the end that it came before.
    if (run !== undefined || (over?.ended && entry.at >= over.ended.at)) tell();
    for (const row of ofEntry(entry, state, kept, causeOf)) found.push(row);
    if (run !== undefined && lastOf.get(run) === at) over = ends.get(run);
  });
  tell();
  return found;
}

function runOf(entry: Entry): number | undefined {
  return entry.kind === "compaction" ? undefined : entry.run;
}

/** Runs that are over because somebody denied what they wanted last, without a reason to go on with. */
function deniedRuns(state: State): Set<number> {
  const found = new Set<number>();
  for (const { decision, run: id, step } of state.tools.values()) {
    if (!decision || decision.allowed || decision.reason) continue;
    if (typeof decision.by !== "object" || !("person" in decision.by)) continue;
    const run = state.runs.find((one) => one.id === id);
    if (run?.turns.at(-1)?.steps.at(-1)?.id === step) found.add(id);
  }
  return found;
}

/** Notices that only say what the end of the run says again, with what to do about it. */
function dropTold(found: Row[], run: Run): void {
  const outcome = run.ended?.outcome;
  if (typeof outcome !== "object") return;
  for (
    let last = found.at(-1);
    last?.is === "notice" &&
    last.entry.run === run.id &&
    last.entry.level === "error" &&
    last.entry.text.startsWith(outcome.failed.message);
    last = found.at(-1)
  )
    found.pop();
}

function ofEntry(entry: Entry, state: State, kept: Kept, causeOf: CauseOf): Row[] {
  const last = kept.get(entry.id);
  const before = last?.entry === entry ? last : undefined;
  if (before?.tools.length === 0) return before.rows;
  const parts = entry.kind === "message" ? entry.parts : [];
  const tools = parts.some((part) => "tool" in part)
    ? parts.map((part) => ("tool" in part ? state.tools.get(part.tool) : undefined))
    : [];
  if (before && before.tools.length === tools.length && before.tools.every((tool, at) => tool === tools[at]))
    return before.rows;
  const rows = made(entry, tools, causeOf);
  kept.set(entry.id, { entry, rows, tools });
  return rows;
}

function made(entry: Entry, tools: (ToolRun | undefined)[], causeOf: CauseOf): Row[] {
  switch (entry.kind) {
    case "notice":
      return [{ is: "notice", key: `n${entry.id}`, entry }];
    case "compaction":
      return [{ is: "compaction", key: `c${entry.id}`, entry }];
    case "message":
      break;
  }
  if (entry.role === "user") {
    return [
      { is: "prompt", key: `p${entry.id}`, entry, cause: entry.turn === undefined ? undefined : causeOf(entry.turn) },
    ];
  }
  const rows: Row[] = [];
  entry.parts.forEach((part, at) => {
    const key = `m${entry.id}.${at}`;
    const open = entry.finish === undefined && at === entry.parts.length - 1;
    if ("text" in part) {
      if (part.text.trim() !== "") rows.push({ is: "text", key, text: part.text, open });
    } else if ("thought" in part) {
      if (part.thought.text.trim() !== "") rows.push({ is: "thought", key, text: part.thought.text, open, entry });
    } else if ("tool" in part) {
      const tool = tools[at];
      if (tool) rows.push({ is: "tool", key, tool });
    } else if (!("opaque" in part && part.opaque.kind === "kept")) rows.push({ is: "part", key, part });
  });
  const words = cutWords(entry);
  if (words) rows.push({ is: "cut", key: `m${entry.id}.cut`, words });
  return rows;
}

function cutWords(entry: MessageEntry): string | undefined {
  switch (entry.finish) {
    case "length":
      return "Cut: the model reached the longest answer that it may give.";
    case "cut":
      return "Cut off; the model was asked again, and its new answer is below.";
    case "refused":
      return "The model declined to answer.";
    case "failed":
    case "interrupted":
    case "complete":
    case undefined:
      return undefined;
  }
}
