// What of a session goes into its hash: the forms of docs/native-protocol.md, "Proof". What came over the wire goes in
// as it came.

import { add, hashOf, hex, mixed, rollBytes, rollText, rollValue, start, subtract, verbatim } from "./hash";
import type { Entry, Halves, MessageEntry, Queues, Run, Settings, State, ToolRun, Waiting } from "./state";
import type { Compaction, Decision, Part, TextKind } from "./types";

export { verbatim };

/** A tag that this page does not know. */
export class Unknown extends Error {
  constructor(what: string, value: unknown) {
    super(`unknown ${what}: ${JSON.stringify(value)?.slice(0, 200)}`);
  }
}

/** What the checker proves never happens, and a newer server may send. */
export function unknown(what: string, value: never): never {
  throw new Unknown(what, value);
}

/** Variants that carry nothing, which the fold keeps as they come. */
const NAMES = {
  role: ["user", "assistant", "system"],
  finish: ["complete", "length", "interrupted", "failed", "cut", "refused"],
  level: ["info", "success", "warning", "error"],
  trigger: ["manual", "threshold", "overflow"],
  policy: ["read_only", "ask", "auto_edit", "sandboxed", "full", "plan"],
  mode: ["one_at_a_time", "all"],
  cause: ["prompt", "steer", "follow_up"],
  scope: ["once", "session", "always"],
  toolOutcome: ["done", "failed", "denied", "skipped", "cancelled", "unknown"],
} as const;

/** Throws unless the name is one that this page can show. */
export function known<K extends keyof typeof NAMES>(kind: K, name: (typeof NAMES)[K][number]): typeof name {
  if (!(NAMES[kind] as readonly string[]).includes(name)) throw new Unknown(kind, name);
  return name;
}

/** The same for a decision. */
export function knownDecision(of: Decision): Decision {
  known("scope", of.scope);
  if (of.by !== "policy" && of.by !== "foreign" && !("rule" in of.by) && !("person" in of.by))
    unknown("decider", of.by);
  return of;
}

/** The same for a part. */
export function knownPart(of: Part): void {
  if ("text" in of) texts(of.text);
  else if ("thought" in of) texts(of.thought.text);
  else if ("image" in of) texts(of.image.mime, of.image.base64);
  else if ("code" in of) texts(of.code.text);
  else if ("diff" in of) texts(of.diff.text);
  else if ("opaque" in of) texts(of.opaque.kind);
  else if (!("tool" in of)) unknown("part", of);
}

function texts(...all: string[]): void {
  for (const one of all) if (typeof one !== "string") throw new Unknown("text", one);
}

const TEXT = Uint8Array.of(0xf8);
const THOUGHT = Uint8Array.of(0xf9);
const WHOLE = Uint8Array.of(0xfa);
const END = Uint8Array.of(0xfb);

/** A streamed part begins. */
function beginPart(roll: Halves, kind: TextKind): void {
  rollBytes(roll, kind === "text" ? TEXT : THOUGHT, 1);
}

/** A part that is never streamed. */
function wholePart(roll: Halves, of: Part): void {
  rollBytes(roll, WHOLE, 1);
  rollValue(roll, of);
}

function isEmpty(of: object): boolean {
  return Object.values(of).every((value) => value === undefined);
}

function compactionForm(of: Compaction): unknown {
  return { ...of, usage: of.usage && !isEmpty(of.usage) ? of.usage : undefined };
}

/** What an entry that is no message counts as. */
function entryForm(entry: Exclude<Entry, MessageEntry>): unknown {
  const { id, parent } = entry;
  switch (entry.kind) {
    case "compaction":
      return { compacted: { compaction: compactionForm(entry.compaction), entry: id, parent } };
    case "notice": {
      const { code, level, run, text } = entry;
      return { noticed: { code, entry: id, level, parent, run, text } };
    }
    default:
      return unknown("entry", entry);
  }
}

/** The stream of a tool run before its output. */
export function proposal({ args, message, name, id }: ToolRun): Halves {
  const roll = start();
  rollValue(roll, { tool_proposed: { args, message, name, tool: id } });
  return roll;
}

/** How a tool run stands. */
function standing({ decision, phase, result, status, id }: ToolRun): unknown {
  return { decision, phase, result, status, tool: id };
}

/** What an entity adds to the sum of its state. A tool run adds two numbers: how it stands, and its stream. */
function counted(entity: Entry | ToolRun): Halves {
  if (!("kind" in entity)) {
    const sum = hashOf(standing(entity));
    add(sum, mixed(entity.roll));
    return sum;
  }
  return entity.kind === "message" ? mixed(entity.roll) : hashOf(entryForm(entity));
}

function waitingForm({ by, input, id }: Waiting): unknown {
  return { by, input, item: id };
}

function queuesForm(of: Queues): unknown {
  return {
    follow_up: of.followUp.map(waitingForm),
    follow_up_mode: of.followUpMode,
    steer: of.steer.map(waitingForm),
    steer_mode: of.steerMode,
  };
}

function settingsForm(of: Settings): unknown {
  return { ...of, budget: isEmpty(of.budget) ? undefined : of.budget };
}

function runForm({ id, ended, turns }: Run): unknown {
  const steps = (of: Run["turns"][number]): unknown[] =>
    of.steps.map(({ id: step, model, billed, usage }) => ({ billed, model, step, usage }));
  return {
    outcome: ended?.outcome,
    run: id,
    turns: turns.map((turn) => ({ cause: turn.cause, ended: turn.ended, steps: steps(turn), turn: turn.id })),
  };
}

/** An entity has changed: what it adds to the state's sum is another number now. */
export function accounted(state: State, entity: Entry | ToolRun): void {
  subtract(state.entities, entity.added);
  entity.added = counted(entity);
  add(state.entities, entity.added);
}

/** The stream of a message, as far as it goes now. What was rolled before is not rolled again. */
function rollMessage(message: MessageEntry): void {
  const { id, parent, role, step, turn, finish, roll, rolled } = message;
  if (!rolled.begun) rollValue(roll, { message_started: { message: id, parent, role, step, turn } });
  rolled.begun = true;
  rollParts(message);
  if (finish === undefined) return;
  rollBytes(roll, END, 1);
  rollValue(roll, { message_ended: { finish, message: id } });
}

function rollParts({ parts, roll, rolled, tailOpen }: MessageEntry): void {
  for (let at = rolled.parts; at < parts.length; at += 1) {
    const one = parts[at] as Part;
    const text =
      "text" in one ? one.text : "thought" in one && one.thought.signature === undefined ? one.thought.text : undefined;
    if (text === undefined) wholePart(roll, one);
    else {
      if (rolled.text === 0) beginPart(roll, "text" in one ? "text" : "thought");
      rollText(roll, rolled.text === 0 ? text : text.slice(rolled.text - 1));
    }
    // The last one may still grow: one more than its letters, so that an empty beginning counts as begun.
    const grows = text !== undefined && tailOpen && at === parts.length - 1;
    rolled.parts = grows ? at : at + 1;
    rolled.text = grows ? text.length + 1 : 0;
    if (grows) break;
  }
}

/** Adds up what is owed to the hash, for as long as `enough` says no. Gives whether all of it is. */
export function settle(state: State, enough: () => boolean = () => false): boolean {
  for (const id of state.owed) {
    if (enough()) return false;
    const message = state.entries.get(id);
    if (message?.kind === "message") {
      rollMessage(message);
      accounted(state, message);
    }
    state.owed.delete(id);
  }
  return true;
}

/** The hash of everything that was said and decided: sixteen hex digits. Times are left out, since clocks differ. */
export function stateHash(state: State): string {
  settle(state);
  const { asks, context, contextRough, entities, leaf, plan, queues, runs, seq, settings, usage } = state;
  const run = runs.at(-1);
  return hex(
    hashOf({
      asks,
      context: context && [context.used, context.window],
      context_rough: contextRough,
      entities: hex(entities),
      leaf,
      plan,
      queues: queuesForm(queues),
      run: run && runForm(run),
      runs: runs.length,
      seq,
      settings: settingsForm(settings),
      usage,
    }),
  );
}
