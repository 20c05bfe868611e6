// The state of one session, as the page keeps it: the fold of its events. What it holds and means is what
// `crates/domain/src/state.rs` says; `hashed.ts` proves that both agree.
//
// Whoever reads may keep what it was given: an entry or a tool run that changes is another object afterwards (within
// one batch it may change in place, and nobody looks in the middle of a batch). The maps are the same ones all the
// time; `rev` tells that something in them changed.

import type {
  Ask,
  Budget,
  Cause,
  Compaction,
  Decision,
  Effort,
  Finish,
  Input,
  Level,
  Mode,
  ModelRef,
  Origin,
  Outcome,
  Part,
  PlanItem,
  Policy,
  RetryKind,
  Role,
  ToolOutcome,
  ToolResult,
  Usage,
} from "./types";

/** A number of 64 bits in two halves, both unsigned. */
export interface Halves {
  hi: number;
  lo: number;
}

/** A count of 64 bits: a number while it is exact as one. */
export type Count = number | bigint;

/** What was used; a member that is absent is zero. */
export type Used = { [K in keyof Usage]: K extends "rough" ? Usage[K] : Count };

/** What every node of the tree has. */
interface Node {
  readonly id: number;
  /** The entry before it; absent at a root. */
  readonly parent?: number | undefined;
  /** Milliseconds since 1970. */
  readonly at: number;
  /** What it has added to the sum of the state's hash. For the fold alone. */
  added: Halves;
  /** The batch in which it may be changed in place. For the fold alone. */
  batch: number;
}

/** A message, finished or under way. */
export interface MessageEntry extends Node {
  readonly kind: "message";
  readonly role: Role;
  readonly run?: number | undefined;
  readonly turn?: number | undefined;
  readonly step?: number | undefined;
  parts: Part[];
  /** How it ended; absent while it is under way. */
  finish?: Finish | undefined;
  /** Whether the next delta may extend the last part. */
  tailOpen: boolean;
  /** Its events as a stream, as far as it was asked for: so many whole parts, and so much of the text behind them. */
  roll: Halves;
  rolled: { begun: boolean; parts: number; text: number };
}

/** A summary of what came before. */
export interface CompactionEntry extends Node {
  readonly kind: "compaction";
  readonly compaction: Compaction;
}

/** A word for the person; never the leaf. */
export interface NoticeEntry extends Node {
  readonly kind: "notice";
  readonly level: Level;
  /** A short stable word. */
  readonly code: string;
  readonly text: string;
  readonly run?: number | undefined;
}

export type Entry = MessageEntry | CompactionEntry | NoticeEntry;

export type ToolPhase = "proposed" | "allowed" | "running" | { awaiting: number } | { ended: ToolOutcome };

/** One use of a tool. */
export interface ToolRun {
  readonly id: number;
  readonly run: number;
  readonly step: number;
  /** The message that proposed it. */
  readonly message: number;
  readonly name: string;
  /** Its arguments, JSON as the model wrote it; `parsed` reads it. */
  readonly args: string;
  phase: ToolPhase;
  decision?: Decision | undefined;
  /** Live output so far. */
  output: string;
  /** Last measure of progress: percent where it is known, and what it does now. */
  status?: { percent?: number | undefined; message: string } | undefined;
  /** What it gave back, once it ended; `json` in it is JSON text as it came. */
  result?: ToolResult | undefined;
  readonly proposedAt: number;
  startedAt?: number | undefined;
  endedAt?: number | undefined;
  /** How it was proposed, as a stream; and that with its output. For the fold alone. */
  proposed: Halves;
  roll: Halves;
  added: Halves;
  batch: number;
}

export interface Step {
  readonly id: number;
  readonly model?: ModelRef | undefined;
  /** What its answer used, known while its tools are under way. */
  billed?: Used | undefined;
  /** What it used, once it is over. */
  usage?: Used | undefined;
}

export interface Turn {
  readonly id: number;
  readonly cause: Cause;
  ended: boolean;
  steps: Step[];
}

export interface Run {
  readonly id: number;
  readonly startedAt: number;
  /** When and how it ended; absent while it is under way. */
  ended?: { at: number; outcome: Outcome } | undefined;
  turns: Turn[];
}

export interface Settings {
  cwd: string;
  project: string;
  /** The session it branched from, and at which entry. */
  parent?: [string, number | null] | undefined;
  /** Whose session it is, when it is not ours. */
  origin?: Origin | undefined;
  title?: string | undefined;
  model?: ModelRef | undefined;
  /** How hard it shall think; absent leaves it to the provider. */
  effort?: Effort | undefined;
  budget: Budget;
  policy: Policy;
  /** Which tools the model may use; absent means all. */
  tools?: string[] | undefined;
}

export interface Waiting {
  readonly id: number;
  readonly input: Input;
  /** By which UI, in words. */
  readonly by?: string | undefined;
}

export interface Queues {
  /** Heard as soon as the current step's tool call is over. */
  steer: Waiting[];
  /** Heard when the model has nothing more to do. */
  followUp: Waiting[];
  steerMode: Mode;
  followUpMode: Mode;
}

/** The retry that is being waited for. */
export interface Retry {
  attempt: number;
  max: number;
  delayMs: number;
  reason: string;
  kind?: RetryKind | undefined;
  /** When it was announced. */
  at: number;
}

/** One session as it stands. */
export interface State {
  /** Position of the last event. */
  seq: number;
  createdAt: number;
  updatedAt: number;
  settings: Settings;
  /** All entries of the tree, by id. A larger id is younger. */
  readonly entries: Map<number, Entry>;
  /** The active tip. */
  leaf?: number | undefined;
  /** All runs, oldest first; at most the last one is under way. */
  runs: Run[];
  readonly tools: Map<number, ToolRun>;
  /** Open asks, oldest first. */
  asks: Ask[];
  queues: Queues;
  plan: PlanItem[];
  /** Last measure of the context. */
  context?: { used: number; window: number } | undefined;
  /** One of these is a guess. */
  contextRough: boolean;
  /** Tokens and money of all steps. */
  usage: Used;
  retry?: Retry | undefined;
  /** The largest id seen. */
  lastId: number;
  /** Sum of what entries and tool runs add to the hash, without what is owed. */
  entities: Halves;
  /** Messages that have changed since the hash was last asked for. */
  readonly owed: Set<number>;
  /** Rises with each change. */
  rev: number;
  /** What was made or copied in this batch may be changed in place. */
  batch: number;
}

/** An empty session. */
export function emptyState(): State {
  return {
    seq: 0,
    createdAt: 0,
    updatedAt: 0,
    settings: { cwd: "", project: "", budget: {}, policy: "ask" },
    entries: new Map(),
    runs: [],
    tools: new Map(),
    asks: [],
    queues: { steer: [], followUp: [], steerMode: "one_at_a_time", followUpMode: "one_at_a_time" },
    plan: [],
    contextRough: false,
    usage: {},
    lastId: 0,
    entities: { hi: 0, lo: 0 },
    owed: new Set(),
    rev: 0,
    batch: 0,
  };
}

/** The run under way. */
export function openRun(state: State): Run | undefined {
  const last = state.runs.at(-1);
  return last?.ended ? undefined : last;
}

/** The turn under way. */
export function openTurn(run: Run): Turn | undefined {
  const last = run.turns.at(-1);
  return last?.ended ? undefined : last;
}

/** The step under way. */
export function openStep(run: Run): Step | undefined {
  const last = openTurn(run)?.steps.at(-1);
  return last?.usage ? undefined : last;
}

/** How a tool run ended; `undefined` while it has not. */
export function toolOutcome(tool: ToolRun): ToolOutcome | undefined {
  return typeof tool.phase === "object" && "ended" in tool.phase ? tool.phase.ended : undefined;
}

/** The entries from the root to `leaf`. */
export function pathTo(state: State, leaf: number | undefined): Entry[] {
  const path: Entry[] = [];
  let entry = leaf === undefined ? undefined : state.entries.get(leaf);
  while (entry) {
    path.push(entry);
    // A parent is always older: a damaged record cannot make this loop.
    const parent: number | undefined = entry.parent;
    entry = parent !== undefined && parent < entry.id ? state.entries.get(parent) : undefined;
  }
  return path.reverse();
}

/** The conversation: root to the active tip. */
export function path(state: State): Entry[] {
  return pathTo(state, state.leaf);
}

/** The turns that going to where `leaf` is the tip leaves, and those that it comes to, oldest first. */
export function turnsTo(state: State, leaf: number | undefined): { back: number[]; forth: number[] } {
  const turns = (path: Entry[]): Set<number> =>
    new Set(path.flatMap((entry) => (entry.kind === "message" && entry.turn !== undefined ? [entry.turn] : [])));
  const [here, there] = [turns(path(state)), turns(pathTo(state, leaf))];
  const without = (some: Set<number>, others: Set<number>): number[] =>
    [...some].filter((turn) => !others.has(turn)).sort((a, b) => a - b);
  return { back: without(here, there), forth: without(there, here) };
}

/**
 * What a reader is shown: the path, and the notices that hang off it, each where it was said. Notices are never the
 * leaf, so the path alone lacks them.
 */
export function shown(state: State): Entry[] {
  const { entries, leaf } = state;
  let known = places.get(entries);
  // Entries are added and never go: their number and the tip tell which are shown.
  if (!known || known.leaf !== leaf || known.size !== entries.size) {
    known = { leaf, size: entries.size, ids: shownIds(state) };
    places.set(entries, known);
  }
  return known.ids.map((id) => entries.get(id) as Entry);
}

/** Which entries are shown: asked for in each frame, and another answer only when one is added. */
const places = new WeakMap<State["entries"], { leaf: number | undefined; size: number; ids: number[] }>();

function shownIds(state: State): number[] {
  const all = path(state);
  const ids = new Set<number | undefined>(all.map((entry) => entry.id));
  ids.add(undefined);
  for (const entry of state.entries.values()) {
    if (entry.kind === "notice" && ids.has(entry.parent) && !ids.has(entry.id)) all.push(entry);
  }
  return all.map((entry) => entry.id).sort((a, b) => a - b);
}

/** The children of each entry, oldest first; those of no parent under `undefined`. For the picture of the branches. */
export function children(state: State): Map<number | undefined, Entry[]> {
  const all = new Map<number | undefined, Entry[]>();
  for (const entry of [...state.entries.values()].sort((a, b) => a.id - b.id)) {
    const siblings = all.get(entry.parent);
    if (siblings) siblings.push(entry);
    else all.set(entry.parent, [entry]);
  }
  return all;
}

/** All text of a message, thoughts and tools left out. */
export function textOf(message: MessageEntry): string {
  let text = "";
  for (const part of message.parts) {
    if ("text" in part) text += part.text;
    else if ("code" in part) text += `\n${part.code.text}\n`;
    else if ("diff" in part) text += `\n${part.diff.text}\n`;
  }
  return text;
}

/** The largest number that Rust counts to. */
const MOST = (1n << 64n) - 1n;

/** The sum of two counts, every digit of it; it stops at the largest number there is. */
function counted(a: Count, b: Count): Count {
  if (typeof a === "number" && typeof b === "number" && Number.isSafeInteger(a + b)) return a + b;
  const sum = BigInt(a) + BigInt(b);
  return sum > MOST ? MOST : sum;
}

/** Sum of two usages. */
export function plus(a: Used, b: Used): Used {
  const sum: Used = {};
  for (const key of ["input", "output", "cache_read", "cache_write", "cost_micros"] as const) {
    const both = counted(a[key] ?? 0, b[key] ?? 0);
    if (both > 0) sum[key] = both;
  }
  if (a.rough || b.rough) sum.rough = true;
  return sum;
}

/** What the session has used, the answer of a step whose tools are under way included. */
export function spent(state: State): Used {
  const run = openRun(state);
  const billed = run && openStep(run)?.billed;
  return billed ? plus(state.usage, billed) : state.usage;
}

/** Percent of the context that is left. */
export function contextLeft(state: State): number | undefined {
  if (!state.context || state.context.window === 0) return undefined;
  const left = Math.max(0, state.context.window - state.context.used);
  return Math.min(100, Math.floor((left * 100) / state.context.window));
}

/** JSON text as a value; `undefined` where it is none. */
export function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}
