// How an event changes the state: `crates/domain/src/state/fold.rs`, arm by arm. A body that names something that is
// not there, or that this page does not know, changes nothing and is told as a value; nothing here throws.

import { rollText, start } from "./hash";
import { accounted, known, knownDecision, knownPart, proposal, Unknown, unknown, verbatim } from "./hashed";
import { openRun, openStep, openTurn, plus, toolOutcome } from "./state";
import type { Entry, MessageEntry, Run, State, Step, ToolRun, Turn, Waiting } from "./state";
import type { Ask, Body, Event, Part, Progress, QueueKind, TextKind } from "./types";

/** Why an event was not applied; the state is as it was. */
export type NotApplied =
  | { why: "out_of_order"; expected: number; got: number }
  | { why: "dangling"; what: string }
  | { why: "unknown"; what: string };

class Dangling extends Error {}

function dangling(what: string): never {
  throw new Dangling(what);
}

/** Folds an event that may stand for several: numbers rise, not always by one. */
export function follow(state: State, event: Event): NotApplied | undefined {
  if (event.seq <= state.seq) return { why: "out_of_order", expected: state.seq + 1, got: event.seq };
  const refused = apply(state, event.at, event.body);
  if (!refused) state.seq = event.seq;
  return refused;
}

/** Applies what happened, without looking at its number. */
export function apply(state: State, at: number, body: Body): NotApplied | undefined {
  try {
    change(state, at, body);
    state.rev += 1;
    return undefined;
  } catch (error) {
    if (error instanceof Dangling) return { why: "dangling", what: error.message };
    if (error instanceof Unknown) return { why: "unknown", what: error.message };
    // A member that is missing or of another kind: what a broken peer sends is no reason to fall over.
    return { why: "unknown", what: String(error) };
  }
}

/** What a reader was given stays as it is from here on. */
export function nextBatch(state: State): void {
  state.batch += 1;
}

function change(state: State, at: number, body: Body): void {
  const tag = tagOf(body);
  switch (tag) {
    case "session_opened": {
      const { cwd, project, parent } = inside(body, tag);
      state.createdAt = at;
      state.settings = { ...state.settings, cwd, project, parent };
      break;
    }
    case "came_from":
      state.settings = { ...state.settings, origin: inside(body, tag).origin };
      break;
    case "renamed":
      state.settings = { ...state.settings, title: inside(body, tag).title };
      break;
    case "model_chosen":
      state.settings = { ...state.settings, model: inside(body, tag).model };
      break;
    case "effort_chosen":
      state.settings = { ...state.settings, effort: inside(body, tag).effort };
      break;
    case "budget_chosen":
      state.settings = { ...state.settings, budget: inside(body, tag).budget };
      break;
    case "policy_chosen":
      state.settings = { ...state.settings, policy: known("policy", inside(body, tag).policy) };
      break;
    case "tools_chosen":
      state.settings = { ...state.settings, tools: inside(body, tag).tools };
      break;
    case "leaf_moved": {
      const { leaf } = inside(body, tag);
      if (leaf !== undefined && !state.entries.has(leaf)) dangling("an entry");
      state.leaf = leaf;
      break;
    }
    case "run_started": {
      const { run } = inside(body, tag);
      if (openRun(state)) dangling("a second run");
      ownRuns(state).push({ id: run, startedAt: at, turns: [] });
      saw(state, run);
      break;
    }
    case "run_ended": {
      const { run, outcome } = inside(body, tag);
      changeRun(state, run, (open) => ({ ...open, ended: { at, outcome } }));
      state.retry = undefined;
      break;
    }
    case "turn_started": {
      const { run, turn, cause } = inside(body, tag);
      const begun: Turn = { id: turn, cause: known("cause", cause), ended: false, steps: [] };
      changeRun(state, run, (open) => ({ ...open, turns: [...open.turns, begun] }));
      saw(state, turn);
      break;
    }
    case "turn_ended":
      changeTurn(state, inside(body, tag).turn, (turn) => ({ ...turn, ended: true }));
      break;
    case "step_started": {
      const { turn, step, model } = inside(body, tag);
      changeTurn(state, turn, (open) => ({ ...open, steps: [...open.steps, { id: step, model }] }));
      saw(state, step);
      break;
    }
    case "step_billed": {
      const { step, usage } = inside(body, tag);
      changeStep(state, step, (open) => ({ ...open, billed: usage }));
      break;
    }
    case "step_ended": {
      const { step, usage } = inside(body, tag);
      changeStep(state, step, (open) => ({ id: open.id, model: open.model, usage }));
      state.usage = plus(state.usage, usage);
      break;
    }
    case "retrying": {
      const { attempt, max, delay_ms: delayMs, reason, kind } = inside(body, tag);
      state.retry = { attempt, max, delayMs, reason, kind, at };
      break;
    }
    case "message_started":
      startMessage(state, at, inside(body, tag));
      break;
    case "message_delta": {
      const { message, kind, text } = inside(body, tag);
      changeMessage(state, message, (open) => stream(open, kind, text));
      break;
    }
    case "part_added": {
      const { message, part } = inside(body, tag);
      changeMessage(state, message, (open) => addPart(open, part));
      break;
    }
    case "message_ended": {
      const { message, finish } = inside(body, tag);
      known("finish", finish);
      changeMessage(state, message, (open) => {
        open.finish = finish;
        open.tailOpen = false;
      });
      break;
    }
    case "tool_proposed":
      propose(state, at, inside(body, tag));
      break;
    case "tool_decided": {
      const { tool, decision } = inside(body, tag);
      changeTool(state, tool, (open) => {
        open.decision = knownDecision(decision);
        if (decision.allowed) open.phase = "allowed";
      });
      break;
    }
    case "tool_started":
      changeTool(state, inside(body, tag).tool, (open) => {
        open.phase = "running";
        open.startedAt = at;
      });
      break;
    case "tool_progress": {
      const { tool, progress } = inside(body, tag);
      changeTool(state, tool, (open) => advance(open, progress));
      break;
    }
    case "tool_ended": {
      const { tool, outcome, result } = inside(body, tag);
      known("toolOutcome", outcome);
      result.parts?.forEach(knownPart);
      changeTool(state, tool, (open) => {
        open.phase = { ended: outcome };
        open.result = result;
        open.endedAt = at;
      });
      break;
    }
    case "ask_opened":
      openAsk(state, inside(body, tag));
      break;
    case "ask_closed":
      closeAsk(state, inside(body, tag).ask);
      break;
    case "queued": {
      const { item, kind, input, by } = inside(body, tag);
      const waiting: Waiting = { id: item, input, by };
      const queue = queueOf(kind);
      state.queues = { ...state.queues, [queue]: [...state.queues[queue], waiting] };
      saw(state, item);
      break;
    }
    case "queue_edited": {
      const { item, input } = inside(body, tag);
      changeQueues(state, item, (waiting) => [{ ...waiting, input }]);
      break;
    }
    case "unqueued":
      changeQueues(state, inside(body, tag).item, () => []);
      break;
    case "queue_mode_set": {
      const { kind, mode } = inside(body, tag);
      known("mode", mode);
      const which = queueOf(kind) === "steer" ? "steerMode" : "followUpMode";
      state.queues = { ...state.queues, [which]: mode };
      break;
    }
    case "context_measured": {
      const { used, window, rough } = inside(body, tag);
      state.context = { used, window };
      state.contextRough = rough ?? false;
      break;
    }
    case "compacted": {
      const { entry, parent, compaction } = inside(body, tag);
      known("trigger", compaction.trigger);
      addEntry(state, { ...node(state, at, entry, parent), kind: "compaction", compaction });
      state.leaf = entry;
      state.usage = plus(state.usage, compaction.usage ?? {});
      break;
    }
    case "plan_changed":
      state.plan = inside(body, tag).items;
      break;
    case "noticed": {
      const { entry, parent, run, level, code, text } = inside(body, tag);
      addEntry(state, {
        ...node(state, at, entry, parent),
        kind: "notice",
        level: known("level", level),
        code,
        text,
        run,
      });
      break;
    }
    case "rebased": {
      const base = inside(body, tag);
      state.seq = base.seq;
      state.updatedAt = base.updated_at;
      state.usage = base.usage;
      state.context = base.context && { used: base.context[0], window: base.context[1] };
      state.contextRough = base.context_rough ?? false;
      saw(state, base.last_id);
      return;
    }
    default:
      unknown("event", tag);
  }
  state.updatedAt = at;
}

type Tags<T> = T extends T ? keyof T : never;
type Inside<K extends Tags<Body>> = Extract<Body, Record<K, unknown>>[K & keyof Extract<Body, Record<K, unknown>>];

/** The one key of a body, which says what it is. */
function tagOf(body: Body): Tags<Body> {
  for (const key in body) return key as Tags<Body>;
  throw new Unknown("event", body);
}

function inside<K extends Tags<Body>>(body: Body, tag: K): Inside<K> {
  return (body as Record<string, unknown>)[tag] as Inside<K>;
}

function saw(state: State, id: number): void {
  state.lastId = Math.max(state.lastId, id);
}

function queueOf(kind: QueueKind): "steer" | "followUp" {
  switch (kind) {
    case "steer":
      return "steer";
    case "follow_up":
      return "followUp";
    default:
      return unknown("queue", kind);
  }
}

function changeRun(state: State, id: number, changed: (run: Run) => Run): void {
  const run = openRun(state);
  if (run?.id !== id) dangling("a run under way");
  const next = changed(run as Run);
  ownRuns(state).splice(-1, 1, next);
}

/** The batch that each list of runs was copied in. */
const copied = new WeakMap<Run[], number>();

/**
 * The runs as a list that may be changed in place: a long session is copied once in a batch, not once for each of its
 * events.
 */
function ownRuns(state: State): Run[] {
  if (copied.get(state.runs) !== state.batch) {
    state.runs = [...state.runs];
    copied.set(state.runs, state.batch);
  }
  return state.runs;
}

function changeTurn(state: State, id: number, changed: (turn: Turn) => Turn): void {
  const run = openRun(state);
  const turn = run && openTurn(run);
  if (!run || turn?.id !== id) dangling("a turn under way");
  changeRun(state, (run as Run).id, (open) => ({
    ...open,
    turns: [...open.turns.slice(0, -1), changed(turn as Turn)],
  }));
}

function changeStep(state: State, id: number, changed: (step: Step) => Step): void {
  const run = openRun(state);
  const turn = run && openTurn(run);
  const step = run && openStep(run);
  if (!turn || step?.id !== id) dangling("a step under way");
  changeTurn(state, (turn as Turn).id, (open) => ({
    ...open,
    steps: [...open.steps.slice(0, -1), changed(step as Step)],
  }));
}

function changeQueues(state: State, item: number, into: (waiting: Waiting) => Waiting[]): void {
  for (const queue of ["steer", "followUp"] as const) {
    const at = state.queues[queue].findIndex((waiting) => waiting.id === item);
    const waiting = state.queues[queue][at];
    if (waiting) {
      state.queues = { ...state.queues, [queue]: state.queues[queue].toSpliced(at, 1, ...into(waiting)) };
      return;
    }
  }
  dangling("a waiting input");
}

function node(state: State, at: number, id: number, parent: number | undefined) {
  return { id, parent, at, added: { hi: 0, lo: 0 }, batch: state.batch };
}

function addEntry(state: State, entry: Entry): void {
  const { id, parent } = entry;
  if ((parent !== undefined && (parent >= id || !state.entries.has(parent))) || state.entries.has(id))
    dangling("a parent entry");
  if (entry.kind === "message") state.owed.add(id);
  else accounted(state, entry);
  state.entries.set(id, entry);
  saw(state, id);
}

function startMessage(state: State, at: number, body: Inside<"message_started">): void {
  const { message: id, parent, role, turn, step } = body;
  const run = turn === undefined ? undefined : openRun(state)?.id;
  known("role", role);
  addEntry(state, {
    ...node(state, at, id, parent),
    kind: "message",
    role,
    run,
    turn,
    step,
    parts: [],
    tailOpen: false,
    roll: start(),
    rolled: { begun: false, parts: 0, text: 0 },
  });
  state.leaf = id;
  state.retry = undefined;
}

/** A message under way, which this batch may change in place. */
function changeMessage(state: State, id: number, changed: (message: MessageEntry) => void): void {
  const entry = state.entries.get(id);
  if (entry?.kind !== "message") return dangling("a message");
  if (entry.finish !== undefined) dangling("a message under way");
  // Tried on a copy, so that what cannot be done leaves nothing half done.
  const copy =
    entry.batch === state.batch
      ? entry
      : { ...entry, parts: [...entry.parts], roll: { ...entry.roll }, rolled: { ...entry.rolled }, batch: state.batch };
  changed(copy);
  state.owed.add(id);
  if (copy !== entry) state.entries.set(id, copy);
}

function stream(message: MessageEntry, kind: TextKind, text: string): void {
  if (kind !== "text" && kind !== "thought") unknown("kind of text", kind);
  if (typeof text !== "string") throw new Unknown("text", text);
  const last = message.tailOpen ? message.parts.at(-1) : undefined;
  const before =
    last &&
    (kind === "text" ? ("text" in last ? last.text : undefined) : "thought" in last ? last.thought.text : undefined);
  if (before === undefined) {
    message.parts.push(streamed(kind, text));
    message.tailOpen = true;
  } else {
    message.parts[message.parts.length - 1] = streamed(kind, before + text);
  }
}

function streamed(kind: TextKind, text: string): Part {
  return kind === "text" ? { text } : { thought: { text } };
}

function addPart(message: MessageEntry, part: Part): void {
  knownPart(part);
  message.parts.push(part);
  message.tailOpen = false;
}

function propose(state: State, at: number, body: Inside<"tool_proposed">): void {
  const { tool: id, message, name, args } = body;
  const within = state.entries.get(message);
  if (within?.kind !== "message") return dangling("a message");
  const { run, step } = within;
  if (run === undefined || step === undefined) return dangling("the step of a tool");
  if (state.tools.has(id)) dangling("a second tool run of one id");
  changeMessage(state, message, (open) => addPart(open, { tool: id }));
  const tool: ToolRun = {
    id,
    run,
    step,
    message,
    name,
    args: verbatim(args),
    phase: "proposed",
    output: "",
    proposedAt: at,
    proposed: start(),
    roll: start(),
    added: { hi: 0, lo: 0 },
    batch: state.batch,
  };
  tool.proposed = proposal(tool);
  tool.roll = { ...tool.proposed };
  accounted(state, tool);
  state.tools.set(id, tool);
  saw(state, id);
}

/** A tool run that has not ended, which this batch may change in place. */
function changeTool(state: State, id: number, changed: (tool: ToolRun) => void): void {
  const tool = state.tools.get(id);
  if (!tool) return dangling("a tool run");
  if (toolOutcome(tool) !== undefined) dangling("a tool run that has not ended");
  const copy = tool.batch === state.batch ? tool : { ...tool, roll: { ...tool.roll }, batch: state.batch };
  changed(copy);
  accounted(state, copy);
  if (copy !== tool) state.tools.set(id, copy);
}

function advance(tool: ToolRun, progress: Progress): void {
  if ("output" in progress) {
    tool.output += progress.output;
    rollText(tool.roll, progress.output);
  } else if ("replace" in progress) {
    tool.output = progress.replace;
    tool.roll = { ...tool.proposed };
    rollText(tool.roll, progress.replace);
  } else if ("status" in progress) {
    tool.status = { percent: progress.status.percent, message: progress.status.message };
  } else unknown("progress", progress);
}

function openAsk(state: State, ask: Ask): void {
  if ("consent" in ask.kind)
    changeTool(state, ask.kind.consent.tool, (tool) => {
      // One that runs asks about more than itself, and goes on running.
      if (tool.phase !== "running") tool.phase = { awaiting: ask.id };
    });
  state.asks = [...state.asks, ask];
  saw(state, ask.id);
}

function closeAsk(state: State, id: number): void {
  const closed = state.asks.find((ask) => ask.id === id);
  if (!closed) return dangling("an ask");
  state.asks = state.asks.filter((ask) => ask !== closed);
  if (!("consent" in closed.kind)) return;
  changeTool(state, closed.kind.consent.tool, (tool) => {
    if (typeof tool.phase === "object" && "awaiting" in tool.phase && tool.phase.awaiting === id)
      tool.phase = "proposed";
  });
}
