// A session over a socket that a test holds in its hand, with a clock and frames of its own.

import "fake-indexeddb/auto";
import { expect, vi } from "vitest";
import type { ConnectionState } from "../view/ports";
import { kept, OUTBOX } from "./database";
import { apply } from "./fold";
import { stateHash } from "./hashed";
import { type Socket, type Env, WebSocketLink } from "./link";
import { type Clock, Session } from "./session";
import { emptyState } from "./state";
import type { Body } from "./types";

export class FakeSocket implements Socket {
  onmessage: Socket["onmessage"] = null;
  onclose: Socket["onclose"] = null;
  readonly said: string[] = [];
  closed = false;
  send(text: string): void {
    this.said.push(text);
  }
  close(): void {
    this.closed = true;
  }
  say(value: unknown): void {
    this.onmessage?.({ data: typeof value === "string" ? value : JSON.stringify(value) });
  }
  lastCommand(): { ticket: number; what: unknown } {
    const all = this.said.map((line) => JSON.parse(line)).filter((line) => "command" in line);
    return all.at(-1).command;
  }
}

/** However slow the machine is. */
export const PATIENCE = { timeout: 30_000, interval: 1 };

/** Waits until so many are kept under a name. */
export const stored = (name: string, count: number): Promise<void> =>
  vi.waitFor(async () => expect(await kept(OUTBOX, name)).toHaveLength(count), PATIENCE);

export const SESSION = "sess-000000000001";
let counter = 0;

export class Bench {
  readonly sockets: FakeSocket[] = [];
  readonly connections: ConnectionState["is"][] = [];
  time = 1000;
  private timers: Array<{ at: number; what: () => void }> = [];
  private frames: Array<() => void> = [];
  readonly session: Session;
  readonly link: WebSocketLink;
  enrolled = true;

  constructor(
    readonly name = `sess-00000000${String((counter += 1)).padStart(4, "0")}`,
    wanted: ConstructorParameters<typeof Session>[0] = { session: name },
  ) {
    const later = (ms: number, what: () => void): (() => void) => {
      const timer = { at: this.time + ms, what };
      this.timers.push(timer);
      return () => (this.timers = this.timers.filter((one) => one !== timer));
    };
    const clock: Clock = { now: () => this.time, frame: (what) => void this.frames.push(what), later };
    const env: Env = {
      open: () => {
        const socket = new FakeSocket();
        this.sockets.push(socket);
        return socket;
      },
      host: "127.0.0.1:1",
      now: () => this.time,
      later,
      sign: async (nonce) => (this.enrolled ? { id: "dev-1", signature: `signed ${nonce}` } : undefined),
      enrolled: async () => this.enrolled,
      server: () => undefined,
      nonce: () => "",
      isProof: async () => false,
      leaveFor: () => false,
    };
    this.session = new Session(wanted, clock);
    const listener = this.session.listener;
    const connection = (connection: ConnectionState): void => {
      this.connections.push(connection.is);
      listener.connection(connection);
    };
    const heard = { ...listener, connection };
    this.link = new WebSocketLink(() => this.session.subscription(), heard, env);
    this.session.use(this.link);
    this.link.start();
  }

  get socket(): FakeSocket {
    return this.sockets.at(-1) as FakeSocket;
  }

  pass(ms: number): void {
    this.time += ms;
    for (let due = this.due(); due; due = this.due()) {
      this.timers = this.timers.filter((one) => one !== due);
      due.what();
    }
  }

  private due() {
    return this.timers.filter((one) => one.at <= this.time).sort((a, b) => a.at - b.at)[0];
  }

  frame(): void {
    for (const what of this.frames.splice(0)) what();
  }

  /** Welcomed, and greeted by the runtime where the session is there already. */
  async welcome(revision = 2): Promise<void> {
    this.socket.say({ challenge: { nonce: "n", version: "0.1.0", page: "p" } });
    await Promise.resolve();
    await new Promise((done) => setTimeout(done, 0));
    this.socket.say({ welcome: { device: { id: "dev-1", name: "x", role: "controller" }, version: "0.1.0" } });
    if (this.session.id.value !== undefined)
      this.socket.say({
        hello: { protocol: 1, revision, name: "parlor", version: "0.1.0", capabilities: ["hash", "cursor"] },
      });
  }

  hello(): { cursor?: { seq: number; hash: string }; session: string } {
    return this.socket.said.map((line) => JSON.parse(line)).find((line) => "hello" in line).hello;
  }
}

export const ABILITIES = {
  name: "t",
  steer: true,
  follow_up: true,
  cancel: true,
  sessions: true,
  branch: true,
  models: true,
  servers: true,
  skills: true,
  consent: true,
};

export const BODIES: unknown[] = [
  { session_opened: { cwd: "/w", project: "/w" } },
  { run_started: { run: 1 } },
  { turn_started: { run: 1, turn: 2, cause: "prompt" } },
  { message_started: { message: 3, role: "user", turn: 2 } },
  { message_delta: { message: 3, kind: "text", text: "do " } },
  { message_delta: { message: 3, kind: "text", text: "it" } },
  { message_ended: { message: 3, finish: "complete" } },
  { ask_opened: { id: 4, title: "?", kind: { confirm: { message: "?", danger: false } } } },
  { ask_closed: { ask: 4, closing: "expired" } },
];

/** A runtime that has the first `upTo` of the events. */
export function attached(bench: Bench, upTo: number): unknown {
  const bodies = BODIES.slice(0, upTo).map((body) => [5, body]);
  const base = { seq: upTo, updated_at: 5, last_id: 4, usage: {} };
  const cursor = bench.hello().cursor;
  const state = emptyState();
  for (const body of BODIES.slice(0, upTo)) apply(state, 5, body as Body);
  state.seq = upTo;
  const at = { session: bench.name, seq: upTo, hash: stateHash(state) };
  if (cursor?.seq === upTo) return { attached: { at, current: true, board: {}, abilities: ABILITIES } };
  return { attached: { at, replay: [...bodies, [5, { rebased: base }]], board: {}, abilities: ABILITIES } };
}

export function event(bench: Bench, n: number): unknown {
  return { event: { session: bench.name, event: { seq: n + 1, at: 5, body: BODIES[n] } } };
}
