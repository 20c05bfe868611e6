// How the nouns of the vocabulary go into the hash: member by member in the order in which `crates/domain` declares them, and with the
// exceptions that it makes ("as the first release hashed it; what came later counts only where it was said").

import { add, Hasher, hex, rollBytes, rollText, subtract } from "./hash";
import type { Entry, Halves, MessageEntry, Queues, Settings, State, Step, ToolRun, Turn, Used, Waiting } from "./state";
import type { Ask, AskKind, Assessment, Compaction, Decision, Json, Outcome, Part, Preview, TextKind, ToolResult } from "./types";

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

/** The places of variants that carry nothing, as declared. */
const PLACES = {
  role: ["user", "assistant", "system"],
  finish: ["complete", "length", "interrupted", "failed", "cut", "refused"],
  level: ["info", "success", "warning", "error"],
  trigger: ["manual", "threshold", "overflow"],
  policy: ["read_only", "ask", "auto_edit", "sandboxed", "full"],
  effort: ["low", "medium", "high"],
  mode: ["one_at_a_time", "all"],
  plan: ["pending", "active", "done"],
  cause: ["prompt", "steer", "follow_up"],
  risk: ["low", "medium", "high", "critical"],
  scope: ["once", "session", "always"],
  toolOutcome: ["done", "failed", "denied", "skipped", "cancelled", "unknown"],
} as const;

function place<K extends keyof typeof PLACES>(kind: K, name: (typeof PLACES)[K][number]): number {
  const at = (PLACES[kind] as readonly string[]).indexOf(name);
  if (at < 0) throw new Unknown(kind, name);
  return at;
}

/** Throws unless every name that the fold keeps as it comes is one that can be hashed later. */
export function known<K extends keyof typeof PLACES>(kind: K, name: (typeof PLACES)[K][number]): typeof name {
  place(kind, name);
  return name;
}

/** JSON as it was written. `wire.ts` reads such members as text; a value from elsewhere is written out. */
export function verbatim(json: Json): string {
  return typeof json === "string" ? json : (JSON.stringify(json) ?? "null");
}

function usage(hasher: Hasher, of: Used): void {
  hasher.number(of.input ?? 0).number(of.output ?? 0).number(of.cache_read ?? 0).number(of.cache_write ?? 0);
  hasher.number(of.cost_micros ?? 0);
  if (of.rough) hasher.flag(true);
}

export function part(hasher: Hasher, of: Part): void {
  if ("text" in of) hasher.number(0).text(of.text);
  else if ("thought" in of) hasher.number(1).text(of.thought.text).maybeText(of.thought.signature);
  else if ("image" in of) hasher.number(2).text(of.image.mime).text(of.image.base64);
  else if ("code" in of) hasher.number(3).maybeText(of.code.language).text(of.code.text).maybeText(of.code.path);
  else if ("diff" in of) hasher.number(4).maybeText(of.diff.path).text(of.diff.text);
  else if ("tool" in of) hasher.number(5).number(of.tool);
  else if ("opaque" in of) hasher.number(6).text(of.opaque.kind).text(verbatim(of.opaque.json));
  else unknown("part", of);
}

export function beginPart(roll: Halves, kind: TextKind): void {
  rollBytes(roll, kind === "text" ? TEXT : THOUGHT, 1);
}
const TEXT = Uint8Array.of(0xf8);
const THOUGHT = Uint8Array.of(0xf9);
const WHOLE = Uint8Array.of(0xfa);

/** Throws unless a part can be hashed later. */
export function hashable(of: Part): void {
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

/** A whole part; equal to the same text streamed. */
export function wholePart(roll: Halves, of: Part): void {
  if ("text" in of) {
    beginPart(roll, "text");
    rollText(roll, of.text);
  } else if ("thought" in of && of.thought.signature === undefined) {
    beginPart(roll, "thought");
    rollText(roll, of.thought.text);
  } else {
    const hasher = new Hasher();
    part(hasher, of);
    const { hi, lo } = hasher.finish();
    rollBytes(roll, WHOLE, 1);
    const bytes = new DataView(new ArrayBuffer(8));
    bytes.setUint32(0, lo, true);
    bytes.setUint32(4, hi, true);
    rollBytes(roll, new Uint8Array(bytes.buffer), 8);
  }
}

function compaction(hasher: Hasher, of: Compaction): void {
  hasher.text(of.summary).maybeNumber(of.first_kept).number(of.tokens_before).number(place("trigger", of.trigger));
  usage(hasher, of.usage ?? {});
  if (of.unexplained) hasher.flag(true);
}

/** What an entry adds to the hash of its state. */
export function entryHash(entry: Entry): Halves {
  const hasher = new Hasher().number(entry.id).maybeNumber(entry.parent);
  switch (entry.kind) {
    case "message":
      hasher.byte(0).number(place("role", entry.role)).maybeNumber(entry.run).maybeNumber(entry.turn).maybeNumber(entry.step);
      hasher.maybe(entry.finish, (finish) => hasher.number(place("finish", finish))).halves(entry.roll);
      break;
    case "compaction":
      compaction(hasher.byte(1), entry.compaction);
      break;
    case "notice":
      hasher.byte(2).number(place("level", entry.level)).text(entry.code).text(entry.text).maybeNumber(entry.run);
      break;
    default:
      unknown("entry", entry);
  }
  return hasher.finish();
}

/** The part of a tool run that never changes. */
export function fixedHash(tool: ToolRun): Halves {
  return new Hasher()
    .number(tool.id).number(tool.run).number(tool.step).number(tool.message).text(tool.name).text(tool.args)
    .finish();
}

function decision(hasher: Hasher, of: Decision): void {
  hasher.flag(of.allowed);
  if (of.by === "policy") hasher.number(0);
  else if (of.by === "foreign") hasher.number(3);
  else if ("rule" in of.by) hasher.number(1).text(of.by.rule);
  else if ("person" in of.by) hasher.number(2).maybeText(of.by.person);
  else unknown("decider", of.by);
  hasher.number(place("scope", of.scope)).maybeText(of.reason).maybeText(of.digest);
}

function result(hasher: Hasher, of: ToolResult): void {
  hasher.text(of.text).list(of.parts ?? [], (one) => part(hasher, one));
  // A JSON null is a value of its own: only an absent member is none.
  if (of.json === undefined) hasher.number(0);
  else hasher.number(1).text(verbatim(of.json));
  hasher.flag(of.truncated ?? false);
}

function phase(hasher: Hasher, of: ToolRun["phase"]): void {
  if (of === "proposed") hasher.number(0);
  else if (of === "allowed") hasher.number(2);
  else if (of === "running") hasher.number(3);
  else if ("awaiting" in of) hasher.number(1).number(of.awaiting);
  else if ("ended" in of) hasher.number(4).number(place("toolOutcome", of.ended));
  else unknown("phase", of);
}

/** What a tool run adds to the hash of its state. */
export function toolHash(tool: ToolRun): Halves {
  const hasher = new Hasher().halves(tool.fixed).halves(tool.roll);
  phase(hasher, tool.phase);
  hasher.maybe(tool.decision, (of) => decision(hasher, of));
  hasher.maybe(tool.status, (status) => {
    hasher.maybe(status.percent, (percent) => hasher.byte(percent)).text(status.message);
  });
  return hasher.maybe(tool.result, (of) => result(hasher, of)).finish();
}

function assessment(hasher: Hasher, of: Assessment): void {
  hasher.number(place("risk", of.risk)).texts(of.reasons).flag(of.reversible);
  if (of.unrated) hasher.flag(true);
}

function preview(hasher: Hasher, of: Preview): void {
  if ("text" in of) hasher.number(0).text(of.text);
  else if ("command" in of) hasher.number(1).text(of.command.line).texts(of.command.inner);
  else if ("diff" in of) hasher.number(2).text(of.diff.path).text(of.diff.text);
  else unknown("preview", of);
}

function askKind(hasher: Hasher, of: AskKind): void {
  if ("consent" in of) {
    const consent = of.consent;
    hasher.number(0).number(consent.tool).text(consent.name).text(verbatim(consent.args));
    hasher.maybe(consent.preview, (shown) => preview(hasher, shown));
    assessment(hasher, consent.assessment);
    hasher.text(consent.digest).maybeText(consent.rule).flag(consent.takes_reason);
  } else if ("confirm" in of) {
    const { message, yes, no, danger } = of.confirm;
    hasher.number(1).text(message).maybeText(yes).maybeText(no).flag(danger);
  } else if ("choose" in of) {
    const { message, choices, many } = of.choose;
    hasher.number(2).text(message);
    hasher.list(choices, (choice) => hasher.text(choice.id).text(choice.label).maybeText(choice.detail)).flag(many);
  } else if ("text" in of) {
    const { message, placeholder, default: usual, secret, multiline } = of.text;
    hasher.number(3).text(message).maybeText(placeholder).maybeText(usual).flag(secret).flag(multiline);
  } else if ("edit" in of) {
    hasher.number(4).text(of.edit.message).text(of.edit.prefill);
  } else unknown("kind of ask", of);
}

function ask(hasher: Hasher, of: Ask): void {
  hasher.number(of.id).maybeNumber(of.run).text(of.title);
  askKind(hasher, of.kind);
  hasher.maybeNumber(of.deadline);
}

function waiting(hasher: Hasher, of: Waiting): void {
  hasher.number(of.id).text(of.input.text).list(of.input.attachments ?? [], (one) => part(hasher, one)).maybeText(of.by);
}

function queues(hasher: Hasher, of: Queues): void {
  hasher.list(of.steer, (one) => waiting(hasher, one)).list(of.followUp, (one) => waiting(hasher, one));
  hasher.number(place("mode", of.steerMode)).number(place("mode", of.followUpMode));
}

function settings(hasher: Hasher, of: Settings): void {
  hasher.text(of.cwd).text(of.project);
  hasher.maybe(of.parent, ([session, at]) => hasher.text(session).maybeNumber(at));
  hasher.maybeText(of.title).maybe(of.model, (model) => hasher.text(model.provider).text(model.name));
  hasher.number(place("policy", of.policy)).maybe(of.tools, (tools) => hasher.texts(tools));
  if (of.effort !== undefined) hasher.number(1).number(place("effort", of.effort));
  const { max_cost_micros: cost, max_steps: steps, max_time_s: time } = of.budget;
  if (cost !== undefined || steps !== undefined || time !== undefined) {
    hasher.maybeNumber(cost).maybeNumber(steps).maybeNumber(time);
  }
  if (of.origin !== undefined) {
    hasher.number(1).text(of.origin.dialect);
    const where = of.origin.place;
    if ("socket" in where) hasher.number(0).text(where.socket.path);
    else if ("command" in where) {
      hasher.number(1).texts(where.command.words).text(where.command.folder).flag(where.command.incomplete ?? false);
    } else unknown("place", where);
    hasher.maybeText(of.origin.session);
  }
}

function step(hasher: Hasher, of: Step): void {
  hasher.number(of.id).maybe(of.model, (model) => hasher.text(model.provider).text(model.name));
  hasher.maybe(of.usage, (used) => usage(hasher, used));
  if (of.billed !== undefined) {
    hasher.number(1);
    usage(hasher, of.billed);
  }
}

function turn(hasher: Hasher, of: Turn): void {
  hasher.number(of.id).number(place("cause", of.cause)).flag(of.ended).list(of.steps, (one) => step(hasher, one));
}

function outcome(hasher: Hasher, of: Outcome): void {
  if (of === "done") hasher.number(0);
  else if (of === "cancelled") hasher.number(2);
  else if (of === "interrupted") hasher.number(3);
  else if (of === "lost") hasher.number(4);
  else if ("failed" in of) hasher.number(1).text(of.failed.code).text(of.failed.message).maybeText(of.failed.hint);
  else unknown("outcome", of);
}

/** An entity has changed: what it adds to the state's sum is another number now. */
export function accounted(state: State, entity: Entry | ToolRun): void {
  subtract(state.entities, entity.added);
  entity.added = "kind" in entity ? entryHash(entity) : toolHash(entity);
  add(state.entities, entity.added);
}

/** The stream of a message's parts, as far as they go now. What was rolled before is not rolled again. */
function rollParts(message: MessageEntry): void {
  const { parts, roll, rolled } = message;
  for (let at = rolled.parts; at < parts.length; at += 1) {
    const one = parts[at] as Part;
    const text = "text" in one ? one.text : "thought" in one && one.thought.signature === undefined ? one.thought.text : undefined;
    if (text === undefined) wholePart(roll, one);
    else {
      if (rolled.text === 0) beginPart(roll, "text" in one ? "text" : "thought");
      rollText(roll, rolled.text === 0 ? text : text.slice(rolled.text - 1));
    }
    // The last one may still grow: one more than its letters, so that an empty beginning counts as begun.
    const grows = text !== undefined && message.tailOpen && at === parts.length - 1;
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
      rollParts(message);
      accounted(state, message);
    }
    state.owed.delete(id);
  }
  return true;
}

/** The hash of everything that was said and decided: sixteen hex digits. Times are left out, since clocks differ. */
export function stateHash(state: State): string {
  settle(state);
  const hasher = new Hasher().number(state.seq).halves(state.entities);
  settings(hasher, state.settings);
  hasher.maybeNumber(state.leaf).list(state.asks, (one) => ask(hasher, one));
  queues(hasher, state.queues);
  hasher.list(state.plan, (item) => hasher.text(item.text).number(place("plan", item.state)));
  usage(hasher, state.usage);
  hasher.maybe(state.context, ({ used, window }) => hasher.number(used).number(window));
  if (state.contextRough) hasher.flag(true);
  hasher.number(state.runs.length);
  const run = state.runs.at(-1);
  if (run) {
    hasher.number(run.id).list(run.turns, (one) => turn(hasher, one));
    hasher.maybe(run.ended, (ended) => outcome(hasher, ended.outcome));
  }
  return hex(hasher.finish());
}
