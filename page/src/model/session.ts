// A live session: what the link says becomes state, board and settlements; what the person wants goes out with a
// ticket.
//
// Events are gathered and folded once per frame, so that a fast model costs no more than the screen shows. After a loss
// the session is opened again with a cursor; a state that hashes to something else than the runtime's is thrown away
// and read again, and the person is told, since what they have read may have been wrong. A prompt stays in the outbox
// until it is settled: it is sent again by itself only where nothing has happened in the session since it was sent.

import { signal } from "@preact/signals";
import type { ReadonlySignal, Signal as Value } from "@preact/signals";
import { whole } from "./abilities";
import { onBoard } from "./board";
import { forget, keep, kept as fromStore, OUTBOX } from "./database";
import type { Device } from "./device";
import { Drafts } from "./drafts";
import { apply, follow, nextBatch } from "./fold";
import { settle, stateHash } from "./hashed";
import type { LinkListener, Link, Subscription } from "./link";
import { inputOf, isEncrypted, onlyWords, type Outgoing } from "./outgoing";
import { OwnQueue } from "./queued";
import { Silence } from "./silence";
import { emptyState } from "./state";
import type { State } from "./state";
import type {
  Abilities,
  Answer,
  Attached,
  Board,
  Body,
  Closing,
  Command,
  Complaint,
  Cursor,
  Event,
  FromRuntime,
  Input,
  Receipt,
  Refusal,
  Settled,
  Signal,
} from "./types";
import type { DeviceRole, Doubt, Draft, SessionPort, Unsent, ConnectionState } from "../view/ports";
import { read, written } from "./wire";

const PROTOCOL = 1;
const REVISION = 2;
/** A runtime of an earlier revision hashes otherwise than this page: what it tells is not compared. */
const WRITTEN_HASHES = 2;
/** A state that was wrong so often within this time is not read again: it would be wrong once more. */
export const AGAIN_MS = 60_000;
export const MOST_WRONG = 3;
/** Most events that wait for a frame: a page in the background may get none for hours. */
export const MAX_GATHERED = 2048;
/** More messages than this are drawn before their hash is compared, which is done in between. */
export const MANY = 400;
/** How long a frame may be kept busy by that. */
const SLICE_MS = 6;
/** Most questions of which it is known how they ended. */
const MAX_CLOSINGS = 64;
/** Most prompts that wait to be sent. */
export const MAX_UNSENT = 32;

/** What the session needs of its surroundings. */
export interface Clock {
  now(): number;
  /** Calls back before the next picture. */
  frame(what: () => void): void;
  later(ms: number, what: () => void): () => void;
}

interface Pending {
  command: Command;
  /** An answer to this ask: it may be sent again as long as the ask is open, since an ask closes once. */
  ask?: number;
  settle(receipt: Receipt): void;
  refuse(refusal: Refusal): void;
}

const NO_ABILITIES: Abilities = {
  name: "",
  steer: false,
  follow_up: false,
  cancel: false,
  sessions: false,
  branch: false,
  models: false,
  servers: false,
  skills: false,
  consent: false,
};

function isUsers(state: State, message: number): boolean {
  const entry = state.entries.get(message);
  return entry?.kind === "message" && entry.role === "user";
}

/** Connections on which nobody answers any more. */
const ENDS: readonly ConnectionState["is"][] = ["unpaired", "other_run", "impostor", "revoked", "refused"];

/** The connection comes back by itself; what was wanted is not sent again by itself. */
function lostRefusal(message: string, hint: string): Refusal {
  return { kind: "lost", message, hint };
}

export class Session implements SessionPort {
  readonly id: Value<string | undefined>;
  readonly state: Value<State> = signal(emptyState());
  readonly rev: Value<number> = signal(0);
  readonly board: Value<Board> = signal({});
  readonly abilities: Value<Abilities> = signal(NO_ABILITIES);
  readonly role: Value<DeviceRole>;
  readonly unsent: Value<Unsent[]> = signal([]);
  readonly doubt: Value<Doubt | undefined> = signal(undefined);
  readonly returned: Value<Input[]> = signal([]);
  private readonly connectionNow: Value<ConnectionState>;

  private link: Link | undefined;
  private attached = false;
  /** A session that arrives in pieces: folded as they come. */
  private staged: { at: Attached; state: State; broken: boolean } | undefined;
  /** What the session must hash to, while that is not known yet. Nothing is folded meanwhile. */
  private unproved: string | undefined;
  private buffer: Array<Event | Cursor> = [];
  private framed = false;
  private nextTicket = 1;
  /** The command that makes the session, until it is settled. */
  private beginning: number | undefined;
  private readonly pending = new Map<number, Pending>();
  private outbox: Outgoing[] = [];
  private readonly hearers = new Set<(signal: Signal) => void>();
  /** Who waits for a prompt of the outbox. */
  private readonly promises = new Map<string, Pending>();
  private readonly own: OwnQueue;
  /** The run under way was stopped from here. */
  private stopped = false;
  /** How questions ended, the newest last. */
  private readonly closings = new Map<number, Closing>();
  private wrongAt: number[] = [];
  /** The next hello has no cursor: what is here is not to be trusted. */
  private forgetState = false;
  /** This page and that Parlor hash alike. */
  private agreed = true;
  /** The revision that the runtime has said on this link. */
  private revision = 0;
  private readonly silence: Silence;
  private draftKey: string;

  constructor(
    private readonly wanted: Exclude<Subscription, "fleet">,
    private readonly clock: Clock,
    private readonly drafts: Drafts = new Drafts(),
    /** What this device may do, where another link was told already. */
    role: DeviceRole = "observer",
  ) {
    this.role = signal(role);
    this.id = signal("session" in wanted ? wanted.session : undefined);
    this.draftKey = "session" in wanted ? wanted.session : "new";
    this.connectionNow = signal({ is: "connecting", since: clock.now() });
    this.own = new OwnQueue(this.id.peek());
    this.silence = new Silence(
      clock,
      () => this.attached && this.post({ command: "stats", settle: () => undefined, refuse: () => undefined }),
      () => this.link?.retryNow(),
    );
    void this.restore();
    void this.own.restore().then(() => {
      if (this.attached) this.giveBack(this.own.missed(this.state.peek()));
    });
  }

  get connection(): ReadonlySignal<ConnectionState> {
    return this.connectionNow;
  }

  /** What the link tells; `use` says which link that is. */
  readonly listener: LinkListener = {
    opened: (device, version) => this.opened(device, version),
    line: (text) => this.line(text),
    connection: (connection) => this.connectionIs(connection),
  };

  /** The link that carries it; opened by whoever made both. */
  use(link: Link): void {
    this.link = link;
  }

  /** What a socket for it asks for: a session that was begun is opened again, not begun twice. */
  subscription(): Subscription {
    return this.id.value === undefined ? this.wanted : { session: this.id.value };
  }

  // What the link says.

  private opened(device: Device, version: string): void {
    this.role.value = device.role;
    this.attached = false;
    this.staged = undefined;
    this.buffer = [];
    this.revision = 0;
    this.prove(true);
    const session = this.id.value;
    const capabilities = ["hash", "cursor", ...(device.role === "observer" ? [] : ["answers", "shown"])];
    const hello = { protocol: PROTOCOL, revision: REVISION, name: "parlor-page", version, capabilities };
    const cursor = this.cursor();
    this.link?.send(written({ hello: { ...hello, ...(session ? { session } : {}), ...(cursor ? { cursor } : {}) } }));
    this.silence.heard();
  }

  private connectionIs(connection: ConnectionState): void {
    if (connection.is !== "up") this.attached = false;
    if (ENDS.includes(connection.is)) this.giveUp();
    this.connectionNow.value = connection;
  }

  /** Nobody will answer on this link any more. Prompts stay in the outbox. */
  private giveUp(): void {
    const under = [...this.pending.values()];
    this.pending.clear();
    for (const pending of under)
      pending.refuse({ kind: "lost", message: "This page may not speak with Parlor any more" });
  }

  private line(text: string): void {
    this.silence.heard();
    const got = read(text);
    if ("unreadable" in got) return;
    this.take(got.line);
  }

  private take(line: FromRuntime): void {
    if ("event" in line) {
      if (line.event.session === this.id.value && this.attached) this.gather(line.event.event);
    } else if ("hash" in line) {
      const compares = this.revision >= WRITTEN_HASHES && line.hash.hash !== undefined;
      if (compares && line.hash.session === this.id.value && this.attached) this.gather(line.hash);
    } else if ("settled" in line) this.settled(line.settled);
    else if ("signal" in line) {
      if (line.signal.session === this.id.value) this.signalled(line.signal.signal);
    } else if ("attached" in line) {
      this.stage(line.attached);
      this.attach();
    } else if ("attached_begin" in line) this.stage(line.attached_begin);
    else if ("replay" in line) {
      if (this.staged?.at.at.session === line.replay.session) this.replay(line.replay.items);
    } else if ("attached_end" in line) {
      if (this.staged?.at.at.session === line.attached_end.session) this.attach();
    } else if ("hello" in line) {
      this.revision = line.hello.revision;
      // A room that was asked for has no session yet.
      if (this.id.value === undefined) this.begin();
    } else if ("error" in line) this.complained(line.error);
    else if ("detached" in line) {
      if (line.detached.session === this.id.value) this.attached = false;
    }
  }

  private begin(): void {
    const ticket = this.ticket();
    if (this.link?.send(written({ command: { ticket, what: { new_session: {} } } }))) this.beginning = ticket;
  }

  private stage(at: Attached): void {
    this.staged = { at, state: emptyState(), broken: false };
    this.replay(at.replay ?? []);
  }

  private replay(items: Array<[number, Body]>): void {
    const staged = this.staged;
    if (!staged) return;
    for (const [when, body] of items) staged.broken ||= apply(staged.state, when, body) !== undefined;
  }

  private attach(): void {
    const staged = this.staged;
    this.staged = undefined;
    if (!staged) return;
    const { at, state } = staged;
    const session = at.at.session;
    if (!at.current) {
      if (staged.broken) {
        this.connectionNow.value = { is: "newer" };
        return;
      }
      this.buffer = [];
      state.rev = this.state.peek().rev + 1;
      nextBatch(state);
      this.state.value = state;
      this.rev.value = state.rev;
      this.unproved = this.revision >= WRITTEN_HASHES ? at.at.hash : undefined;
      if (this.unproved === undefined) this.agrees(true);
      else if (state.owed.size <= MANY) this.prove(true);
      else this.clock.frame(() => this.prove(false));
    }
    this.id.value = session;
    void this.drafts.rename(this.draftKey, session);
    this.draftKey = session;
    this.own.named(session);
    this.board.value = at.board;
    this.abilities.value = whole(at.abilities);
    this.attached = true;
    if (!at.current) this.giveBack(this.own.missed(this.state.peek()));
    this.settleAfterReturn();
  }

  /**
   * Compares the hash of what was read: at once, or frame by frame, so that a long session can be seen and scrolled
   * meanwhile.
   */
  private prove(atOnce: boolean): void {
    if (this.unproved === undefined) return;
    const state = this.state.peek();
    const until = performance.now() + SLICE_MS;
    if (!atOnce && !settle(state, () => performance.now() > until)) return this.clock.frame(() => this.prove(false));
    const same = stateHash(state) === this.unproved;
    this.unproved = undefined;
    this.agrees(same);
    this.flush();
  }

  /** What was read is what the runtime holds, as far as that can be told. */
  private agrees(same: boolean): void {
    this.agreed = same;
    // Reading it once more would give the same: this page and that Parlor do not agree on what a session is.
    if (!same) this.doubt.value = "disagrees";
    else if (this.doubt.peek() !== undefined) this.doubt.value = "read";
  }

  private gather(what: Event | Cursor): void {
    this.buffer.push(what);
    if (this.buffer.length >= MAX_GATHERED) {
      this.prove(true);
      this.flush();
    }
    if (this.framed) return;
    this.framed = true;
    this.clock.frame(() => {
      this.framed = false;
      this.flush();
    });
  }

  /** Folds what was gathered. */
  private flush(): void {
    if (this.buffer.length === 0 || this.unproved !== undefined) return;
    const gathered = this.buffer;
    this.buffer = [];
    const state = this.state.peek();
    for (const what of gathered) {
      if (!("body" in what)) {
        if (this.agreed && what.seq === state.seq && stateHash(state) !== what.hash) return this.wrong();
        continue;
      }
      // Known already: heard again after a return.
      if (what.seq <= state.seq) continue;
      this.notice(what.body, state);
      const refused = follow(state, what);
      if (refused?.why === "unknown") {
        this.connectionNow.value = { is: "newer" };
        return;
      }
      if (refused) return this.wrong();
    }
    nextBatch(state);
    this.state.value = { ...state };
    this.rev.value = state.rev;
  }

  /** What an event tells beside the state; before it is folded. */
  private notice(body: Body, state: State): void {
    if ("run_started" in body) this.stopped = false;
    else if ("ask_closed" in body) {
      if (this.closings.size >= MAX_CLOSINGS) this.closings.delete(this.closings.keys().next().value ?? 0);
      this.closings.set(body.ask_closed.ask, body.ask_closed.closing);
    }
    this.hearOwn(body, state);
    const left = this.own.left(body, state, this.stopped);
    if (left) this.giveBack([left]);
  }

  /** Words of the outbox that the session shows now are not shown twice until their receipt comes. */
  private hearOwn(body: Body, state: State): void {
    if (this.outbox.length === 0) return;
    const said =
      "queued" in body
        ? body.queued.input.text
        : "part_added" in body && "text" in body.part_added.part && isUsers(state, body.part_added.message)
          ? body.part_added.part.text
          : undefined;
    const one =
      said === undefined
        ? undefined
        : this.outbox.find(
            (waiting) => waiting.sentAt !== undefined && !waiting.heard && inputOf(waiting.command)?.text === said,
          );
    if (!one) return;
    one.heard = true;
    this.showOutbox();
  }

  private giveBack(inputs: Input[]): void {
    if (inputs.length > 0) this.returned.value = [...this.returned.peek(), ...inputs];
  }

  seenReturned(): void {
    this.returned.value = [];
  }

  closing(ask: number): Closing | undefined {
    return this.closings.get(ask);
  }

  isOwn(item: number): boolean {
    return this.own.has(item);
  }

  /** This page holds something else than the runtime: it says so and reads the session again. */
  private wrong(): void {
    const now = this.clock.now();
    this.wrongAt = [...this.wrongAt.filter((at) => now - at < AGAIN_MS), now];
    this.attached = false;
    this.forgetState = true;
    const again = this.wrongAt.length < MOST_WRONG;
    this.doubt.value = again ? "reading" : "disagrees";
    if (again) this.link?.retryNow();
  }

  seenDoubt(): void {
    if (this.doubt.peek() === "read") this.doubt.value = undefined;
  }

  private cursor(): Cursor | undefined {
    const session = this.id.value;
    const state = this.state.peek();
    if (this.forgetState || session === undefined || state.seq === 0) {
      this.forgetState = false;
      return undefined;
    }
    return { session, seq: state.seq, hash: stateHash(state) };
  }

  private signalled(said: Signal): void {
    this.board.value = onBoard(this.board.peek(), said);
    for (const hear of this.hearers) hear(said);
  }

  private settled({ ticket, with: how }: Settled): void {
    // What it led to comes before it: the state shows it when the promise tells.
    this.prove(true);
    this.flush();
    if (ticket === this.beginning) {
      this.beginning = undefined;
      if ("refusal" in how)
        this.connectionNow.value = { is: "refused", message: how.refusal.message, hint: how.refusal.hint };
      return;
    }
    const waiting = this.pending.get(ticket);
    this.pending.delete(ticket);
    const out = this.outbox.find((one) => one.ticket === ticket);
    if (out && "refusal" in how && how.refusal.kind === "no_run" && this.beginsAnew(out)) return;
    if (out) this.leave((one) => one.ticket === ticket);
    if (out && "receipt" in how) this.queued(out.command, how.receipt);
    if ("receipt" in how) waiting?.settle(how.receipt);
    else waiting?.refuse(how.refusal);
  }

  /** Words of this page wait for a run. */
  private queued(command: Command, receipt: Receipt): void {
    if (typeof receipt !== "object" || !("queued" in receipt) || typeof command !== "object") return;
    const input = inputOf(command);
    const { queues, lastId } = this.state.peek();
    const { item } = receipt.queued;
    // Heard already: nothing is to come back. One that this page has not been told of yet is still to come.
    if (input && (item > lastId || [...queues.steer, ...queues.followUp].some((one) => one.id === item)))
      this.own.add(receipt.queued.item, input);
  }

  /** The run ended while words for it were on their way: they begin the next one. */
  private beginsAnew(one: Outgoing): boolean {
    if (typeof one.command !== "object" || !("enqueue" in one.command)) return false;
    one.command = { prompt: { input: one.command.enqueue.input, options: { when_busy: "queue" } } };
    delete one.ticket;
    delete one.sentAt;
    this.dispatch(one);
    this.showOutbox();
    return true;
  }

  private complained(error: Complaint): void {
    if (error.about === "hello") this.connectionNow.value = { is: "newer" };
    else if (error.about === "session") {
      this.connectionNow.value = { is: "refused", message: error.message, hint: error.hint };
    } else if (error.ticket !== undefined) {
      const refusal: Refusal = { kind: "invalid", message: error.message, ...(error.hint ? { hint: error.hint } : {}) };
      this.settled({ ticket: error.ticket, with: { refusal } });
    }
  }

  // What the person wants.

  send(command: Command): Promise<Receipt> {
    if (typeof command === "object" && "cancel" in command) this.stopped = true;
    return this.ordered(command);
  }

  answer(ask: number, answer: Answer): Promise<Receipt> {
    return this.ordered({ answer: { ask, answer } }, ask);
  }

  shown(ask: number): void {
    // A Parlor of before has no such word, and needs none.
    this.ordered({ extension: { name: "parlor/shown", payload: { ask } } }).catch(() => undefined);
  }

  private ordered(command: Command, ask?: number): Promise<Receipt> {
    return new Promise((settle, refuse) => {
      const pending: Pending = { command, settle, refuse, ...(ask === undefined ? {} : { ask }) };
      if (!this.attached || !this.post(pending)) {
        if (ask !== undefined) this.pending.set(this.ticket(), pending);
        else refuse(lostRefusal("No connection to Parlor: nothing was done", "Try again when it is back"));
      }
    });
  }

  private ticket(): number {
    return this.nextTicket++;
  }

  private post(pending: Pending, ticket: number = this.ticket()): boolean {
    const sent = this.link?.send(written({ command: { ticket, what: pending.command } })) ?? false;
    if (sent) this.pending.set(ticket, pending);
    return sent;
  }

  prompt(command: Command, text: string): Promise<Receipt> {
    if (this.outbox.length >= MAX_UNSENT) {
      return Promise.reject({ kind: "too_many", message: "Too many prompts wait to be sent" } satisfies Refusal);
    }
    return new Promise((settle, refuse) => {
      const one: Outgoing = { id: `${this.clock.now()}-${this.ticket()}`, text, command, kept: !this.attached };
      this.outbox.push(one);
      this.promises.set(one.id, { command, settle, refuse });
      if (this.attached) this.dispatch(one);
      this.showOutbox();
    });
  }

  takeBack(id: string): void {
    const pending = this.promises.get(id);
    this.leave((one) => one.id === id);
    pending?.refuse({ kind: "lost", message: "Taken back" });
  }

  /** Sends a prompt of which nobody knows whether it was taken: the person has said so. */
  sendAgain(id: string): void {
    const one = this.outbox.find((waiting) => waiting.id === id);
    if (!one || !this.attached) return;
    this.dispatch(one);
    this.showOutbox();
  }

  private dispatch(one: Outgoing): void {
    const promised = this.promises.get(one.id);
    // Who wrote it has left the page since: a refusal is told to whoever looks now.
    const unheard = (refusal: Refusal): void =>
      this.signalled({ notify: { level: "error", text: `Not taken: ${one.text}. ${refusal.message}` } });
    const pending: Pending = { settle: () => undefined, refuse: unheard, ...promised, command: one.command };
    const ticket = this.ticket();
    if (!this.post(pending, ticket)) return;
    one.ticket = ticket;
    one.sentAt = this.state.peek().seq;
    one.kept = false;
    delete one.uncertain;
  }

  private leave(which: (one: Outgoing) => boolean): void {
    for (const one of this.outbox.filter(which)) this.promises.delete(one.id);
    this.outbox = this.outbox.filter((one) => !which(one));
    this.showOutbox();
  }

  private showOutbox(): void {
    this.unsent.value = this.outbox
      .filter((one) => !one.heard)
      .map(({ id, text, kept, uncertain }) => ({ id, text, kept, ...(uncertain ? { uncertain } : {}) }));
    const all = this.outbox.map(({ id, text, command, sentAt }) => ({ id, text, command, sentAt }));
    const stored = all.length > 0 ? keep(OUTBOX, this.draftKey, all) : forget(OUTBOX, this.draftKey);
    stored.catch(() => undefined);
  }

  /** What waited when the page was left. */
  private async restore(): Promise<void> {
    const stored = await fromStore<Outgoing[]>(OUTBOX, this.draftKey).catch(() => undefined);
    // What was said since then may be in the store already.
    const own = isEncrypted() ? stored : stored?.flatMap(onlyWords);
    const waiting = own?.filter((one) => !this.outbox.some((other) => other.id === one.id));
    if (!waiting || waiting.length === 0) return;
    this.outbox = [...waiting.map((one) => ({ ...one, kept: true })), ...this.outbox];
    if (this.attached) this.settleAfterReturn();
    else this.showOutbox();
  }

  /** The session is there again: what was under way is settled, sent again, or put before the person. */
  private settleAfterReturn(): void {
    const under = [...this.pending];
    this.pending.clear();
    const state = this.state.peek();
    const posted = new Set(this.outbox.map((one) => one.ticket));
    for (const [ticket, pending] of under) {
      if (posted.has(ticket)) continue;
      if (pending.ask === undefined)
        pending.refuse(
          lostRefusal("The connection was lost before Parlor answered", "Nobody knows whether it was done"),
        );
      else if (state.asks.some((ask) => ask.id === pending.ask)) this.post(pending);
      else pending.refuse({ kind: "ask_over", message: "This question was answered meanwhile" });
    }
    for (const one of [...this.outbox]) {
      if (one.sentAt === undefined || one.sentAt === state.seq) this.dispatch(one);
      else if (one.heard) this.leave((other) => other === one);
      else {
        one.uncertain = true;
        one.kept = true;
      }
    }
    this.showOutbox();
  }

  onSignal(hear: (signal: Signal) => void): () => void {
    this.hearers.add(hear);
    return () => this.hearers.delete(hear);
  }

  loadDraft(): Promise<Draft | undefined> {
    return this.drafts.load(this.draftKey);
  }

  saveDraft(draft: Draft): void {
    this.drafts.save(this.draftKey, draft);
  }

  /** One for each session: the question that it is for stands before it. */
  async loadReason(ask: number): Promise<string | undefined> {
    const kept = (await this.drafts.load(`reason ${this.draftKey}`))?.text;
    return kept?.startsWith(`${ask} `) ? kept.slice(`${ask} `.length) : undefined;
  }

  saveReason(ask: number, text: string): void {
    this.drafts.save(`reason ${this.draftKey}`, { text: text === "" ? "" : `${ask} ${text}`, attachments: [] });
  }

  retryNow(): void {
    this.link?.retryNow();
  }

  close(): void {
    // Nobody will send it again from here. What goes over an open connection arrives before its end does.
    if (!this.attached && [...this.pending.values()].some((pending) => pending.ask !== undefined)) {
      this.signalled({
        notify: {
          level: "warning",
          text: "You left before Parlor had taken your answer: look whether the question is still open.",
        },
      });
    }
    void this.drafts.flush(`reason ${this.draftKey}`);
    this.silence.end();
    void this.drafts.flush(this.draftKey);
    this.link?.close();
  }
}
