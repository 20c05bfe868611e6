// A session over a socket that a test holds in its hand: how it begins, is lost at every message, and returns.

import "fake-indexeddb/auto";
import { expect, test, vi } from "vitest";
import { keep, kept, OUTBOX } from "./database";
import { HANDSHAKE_MS, WebSocketLink } from "./link";
import type { Socket, Surroundings } from "./link";
import { MANY, MAX_GATHERED, MOST_WRONG, Session } from "./session";
import type { Clock } from "./session";
import { stateHash } from "./hashed";
import { apply } from "./fold";
import { emptyState, path, textOf, type MessageEntry } from "./state";
import type { Body } from "./types";
import type { Way } from "../view/ports";

class FakeSocket implements Socket {
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
const PATIENCE = { timeout: 30_000, interval: 1 };

/** Waits until so many are kept under a name. */
const stored = (name: string, count: number): Promise<void> =>
  vi.waitFor(async () => expect(await kept(OUTBOX, name)).toHaveLength(count), PATIENCE);

const SESSION = "sess-000000000001";
let counter = 0;

class Bench {
  readonly sockets: FakeSocket[] = [];
  readonly ways: Way["is"][] = [];
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
    const around: Surroundings = {
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
    const ear = this.session.ear;
    const way = (way: Way): void => {
      this.ways.push(way.is);
      ear.way(way);
    };
    const heard = { ...ear, way };
    this.link = new WebSocketLink(() => this.session.wants(), heard, around);
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

const ABILITIES = {
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

const BODIES: unknown[] = [
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
function attached(bench: Bench, upTo: number): unknown {
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

function event(bench: Bench, n: number): unknown {
  return { event: { session: bench.name, event: { seq: n + 1, at: 5, body: BODIES[n] } } };
}

test("a room that was asked for is given its session, once, and what was typed meanwhile is said there", async () => {
  const bench = new Bench(undefined, { new: {} });
  await bench.welcome();
  void bench.session.prompt({ prompt: { input: { text: "hi" }, options: { when_busy: "queue" } } }, "hi");
  bench.socket.say({ hello: { protocol: 1, name: "parlor", version: "0.1.0" } });
  const begun = bench.socket.lastCommand();
  expect(begun.what).toEqual({ new_session: {} });
  bench.socket.say(attached(bench, 1));
  expect(bench.socket.lastCommand().what).toEqual({
    prompt: { input: { text: "hi" }, options: { when_busy: "queue" } },
  });
  bench.socket.say({ settled: { ticket: begun.ticket, with: { receipt: "done" } } });
  expect(bench.session.way.value.is).toBe("up");
  // Lost and found again, it is opened and not begun a second time.
  bench.socket.onclose?.({ code: 1006 });
  bench.pass(1);
  await bench.welcome();
  bench.socket.say({ hello: { protocol: 1, name: "parlor", version: "0.1.0" } });
  expect(bench.hello().session).toBe(bench.name);
  expect(bench.socket.said.some((line) => line.includes("new_session"))).toBe(false);
});

test("a session that is refused is said to be", async () => {
  const bench = new Bench(undefined, { new: {} });
  await bench.welcome();
  bench.socket.say({ hello: { protocol: 1, name: "parlor", version: "0.1.0" } });
  const { ticket } = bench.socket.lastCommand();
  bench.socket.say({ settled: { ticket, with: { refusal: { kind: "storage", message: "the disk is full" } } } });
  expect(bench.session.way.value).toEqual({ is: "refused", message: "the disk is full" });
});

test("it opens with a signature, says hello, and folds once per frame", async () => {
  const bench = new Bench();
  await bench.welcome();
  expect(JSON.parse(bench.socket.said[0] as string)).toEqual({
    device: { id: "dev-1", signature: "signed n", wants: { session: bench.name } },
  });
  expect(bench.hello()).toMatchObject({
    protocol: 1,
    session: bench.name,
    capabilities: ["hash", "cursor", "answers"],
  });
  bench.socket.say(attached(bench, 4));
  const rev = bench.session.rev.value;
  bench.socket.say(event(bench, 4));
  bench.socket.say(event(bench, 5));
  expect(bench.session.rev.value).toBe(rev);
  bench.frame();
  expect(textOf(path(bench.session.state.value)[0] as MessageEntry)).toBe("do it");
  expect(bench.session.state.value.seq).toBe(6);
});

test("lost at any message, it returns without a gap and without hearing twice", async () => {
  const whole = new Bench();
  await whole.welcome();
  whole.socket.say(attached(whole, BODIES.length));
  for (let cut = 0; cut < BODIES.length; cut += 1) {
    const bench = new Bench();
    await bench.welcome();
    bench.socket.say(attached(bench, 0));
    for (let n = 0; n < cut; n += 1) bench.socket.say(event(bench, n));
    if (cut % 2 === 0) bench.frame();
    bench.socket.onclose?.({ code: 1006 });
    bench.pass(0);
    expect(bench.sockets.length).toBe(2);
    await bench.welcome();
    const known = Math.min(cut + 1, BODIES.length);
    bench.socket.say(attached(bench, known));
    bench.frame();
    for (let n = Math.max(0, known - 2); n < BODIES.length; n += 1) bench.socket.say(event(bench, n));
    bench.frame();
    expect(bench.session.state.value.seq, `cut at ${cut}`).toBe(BODIES.length);
    expect(stateHash(bench.session.state.value), `cut at ${cut}`).toBe(stateHash(whole.session.state.value));
  }
});

test("a session in pieces counts from its end on", async () => {
  const bench = new Bench();
  await bench.welcome();
  const { attached: whole } = attached(bench, 6) as { attached: { replay: unknown[] } };
  bench.socket.say({ attached_begin: { ...whole, replay: [] } });
  bench.socket.say({ replay: { session: bench.name, items: whole.replay.slice(0, 3) } });
  expect(bench.session.state.value.seq).toBe(0);
  bench.socket.say({ replay: { session: bench.name, items: whole.replay.slice(3) } });
  bench.socket.say({ attached_end: { session: bench.name } });
  expect(bench.session.state.value.seq).toBe(6);
});

test("another hash opens the session again, without a cursor, and says so", async () => {
  const bench = new Bench();
  const heard: unknown[] = [];
  await bench.welcome();
  bench.socket.say(attached(bench, 3));
  bench.session.onSignal((signal) => heard.push(signal));
  bench.socket.say({ hash: { session: bench.name, seq: 3, hash: stateHash(bench.session.state.value) } });
  bench.frame();
  expect(bench.sockets.length).toBe(1);
  bench.socket.say({ hash: { session: bench.name, seq: 3, hash: "0000000000000000" } });
  bench.frame();
  expect(bench.sockets.length).toBe(2);
  expect(bench.session.doubt.value).toBe("reading");
  await bench.welcome();
  expect(bench.hello().cursor).toBeUndefined();
  bench.socket.say(attached(bench, 3));
  expect(bench.session.doubt.value).toBe("read");
  bench.session.seenDoubt();
  expect(bench.session.doubt.value).toBeUndefined();
  expect(heard).toEqual([]);
});

test("a state that is wrong again and again is not read for ever", async () => {
  const bench = new Bench();
  for (let times = 1; times <= MOST_WRONG; times += 1) {
    await bench.welcome();
    bench.socket.say(attached(bench, 3));
    bench.socket.say({ hash: { session: bench.name, seq: 3, hash: "0000000000000000" } });
    bench.frame();
    expect(bench.sockets.length).toBe(Math.min(times + 1, MOST_WRONG));
  }
  expect(bench.session.doubt.value).toBe("disagrees");
});

test("a page that hashes otherwise from the beginning says so once and does not read for ever", async () => {
  const bench = new Bench();
  const heard: unknown[] = [];
  bench.session.onSignal((signal) => heard.push(signal));
  await bench.welcome();
  const { attached: told } = attached(bench, 3) as { attached: { at: object } };
  bench.socket.say({ attached: { ...told, at: { ...told.at, hash: "0000000000000000" } } });
  bench.socket.say({ hash: { session: bench.name, seq: 3, hash: "0000000000000000" } });
  bench.frame();
  expect(bench.sockets.length).toBe(1);
  expect(heard).toEqual([]);
  expect(bench.session.doubt.value).toBe("disagrees");
});

test("what a runtime of before tells is not compared: it hashes otherwise, and tells the whole to whoever comes back", async () => {
  const bench = new Bench();
  for (const revision of [0, 1]) {
    await bench.welcome(revision);
    expect(bench.hello()).toMatchObject({ revision: 2 });
    const { attached: told } = attached(bench, 3) as { attached: { at: object } };
    const replay = [
      ...BODIES.slice(0, 3).map((body) => [5, body]),
      [5, { rebased: { seq: 3, updated_at: 5, last_id: 4, usage: {} } }],
    ];
    bench.socket.say({ attached: { ...told, current: false, replay, at: { ...told.at, hash: "00000000000000a1" } } });
    bench.socket.say(event(bench, 3));
    bench.socket.say({ hash: { session: bench.name, seq: 4, hash: "00000000000000a2" } });
    bench.frame();
    expect(bench.session.state.value.seq).toBe(4);
    expect(bench.session.doubt.value).toBeUndefined();
    expect(bench.sockets.length).toBe(revision + 1);
    bench.link.retryNow();
  }
});

test("a hash that is left out is not compared", async () => {
  const bench = new Bench();
  await bench.welcome();
  const { attached: told } = attached(bench, 3) as { attached: { at: object } };
  bench.socket.say({ attached: { ...told, at: { session: bench.name, seq: 3 } } });
  bench.socket.say({ hash: { session: bench.name, seq: 3 } });
  bench.socket.say(event(bench, 3));
  bench.frame();
  expect([bench.session.state.value.seq, bench.session.doubt.value, bench.sockets.length]).toEqual([4, undefined, 1]);
});

test("a long session is there before its hash is compared, and what happens meanwhile is folded after it", async () => {
  const bodies: Body[] = [{ session_opened: { cwd: "/w", project: "/w" } }];
  for (let id = 1; id <= MANY + 1; id += 1)
    bodies.push(
      { message_started: { message: id, role: "user", ...(id > 1 ? { parent: id - 1 } : {}) } },
      { part_added: { message: id, part: { text: `words ${id}` } } },
    );
  const state = emptyState();
  for (const body of bodies) apply(state, 5, body);
  const base = { seq: 900, updated_at: 5, last_id: MANY + 1, usage: {} };
  apply(state, 5, { rebased: base });
  const right = stateHash(state);
  const more: Body = { message_delta: { message: MANY + 1, kind: "text", text: " and more" } };
  apply(state, 5, more);
  state.seq = 901;
  const after = stateHash(state);
  for (const hash of [right, "0000000000000000"]) {
    const bench = new Bench();
    await bench.welcome();
    const items = [...bodies, { rebased: base }].map((body) => [5, body]);
    bench.socket.say({
      attached_begin: {
        at: { session: bench.name, seq: 900, hash },
        replay: items.slice(0, 300),
        board: {},
        abilities: ABILITIES,
      },
    });
    bench.socket.say({ replay: { session: bench.name, items: items.slice(300) } });
    bench.socket.say({ attached_end: { session: bench.name } });
    const text = (): string => textOf(bench.session.state.value.entries.get(MANY + 1) as MessageEntry);
    expect(text()).toBe(`words ${MANY + 1}`);
    expect(bench.session.doubt.value).toBeUndefined();
    bench.socket.say({ event: { session: bench.name, event: { seq: 901, at: 5, body: more } } });
    bench.socket.say({ hash: { session: bench.name, seq: 901, hash: after } });
    for (let frame = 0; frame < 10_000 && bench.session.state.value.seq !== 901; frame += 1) bench.frame();
    expect(text()).toBe(`words ${MANY + 1} and more`);
    expect(bench.session.doubt.value).toBe(hash === right ? undefined : "disagrees");
    expect(bench.sockets.length).toBe(1);
  }
});

test("commands settle by their tickets, and a refusal is thrown", async () => {
  const bench = new Bench();
  await bench.welcome();
  bench.socket.say(attached(bench, 3));
  const renamed = bench.session.send({ rename_session: { title: "x" } });
  const { ticket } = bench.socket.lastCommand();
  const cleared = bench.session.send("clear_session");
  bench.socket.say({
    settled: { ticket: bench.socket.lastCommand().ticket, with: { refusal: { kind: "busy", message: "busy" } } },
  });
  bench.socket.say({ settled: { ticket, with: { receipt: "done" } } });
  expect(await renamed).toBe("done");
  await expect(cleared).rejects.toMatchObject({ kind: "busy" });
});

const PROMPT = { prompt: { input: { text: "go" }, options: { when_busy: "queue" as const } } };

test("a prompt is kept without a connection and sent once when it is back", async () => {
  const bench = new Bench();
  const settled = bench.session.prompt(PROMPT, "go");
  expect(bench.session.unsent.value).toMatchObject([{ text: "go", kept: true }]);
  await bench.welcome();
  bench.socket.say(attached(bench, 1));
  expect(bench.socket.said.filter((line) => line.includes('"prompt"')).length).toBe(1);
  bench.socket.say({
    settled: {
      ticket: bench.socket.lastCommand().ticket,
      with: { receipt: { started: { session: SESSION, run: 1 } } },
    },
  });
  await settled;
  expect(bench.session.unsent.value).toEqual([]);
});

test("a prompt that was sent goes again only where nothing has happened since", async () => {
  for (const [known, again] of [
    [1, true],
    [3, false],
  ] as const) {
    const bench = new Bench();
    await bench.welcome();
    bench.socket.say(attached(bench, 1));
    void bench.session.prompt(PROMPT, "go").catch(() => undefined);
    bench.socket.onclose?.({ code: 1006 });
    bench.pass(0);
    await bench.welcome();
    bench.socket.say(attached(bench, known));
    const sent = bench.socket.said.filter((line) => line.includes('"prompt"')).length;
    expect(sent).toBe(again ? 1 : 0);
    if (again) continue;
    const [waiting] = bench.session.unsent.value;
    expect(waiting).toMatchObject({ uncertain: true });
    bench.session.sendAgain(waiting?.id ?? "");
    expect(bench.socket.said.filter((line) => line.includes('"prompt"')).length).toBe(1);
  }
});

test("words that the session shows already are not shown as being sent as well", async () => {
  const bench = new Bench();
  await bench.welcome();
  bench.socket.say(attached(bench, 3));
  const settled = bench.session.prompt({ enqueue: { kind: "steer", input: { text: "left" } } }, "left");
  expect(bench.session.unsent.value).toMatchObject([{ text: "left" }]);
  bench.socket.say({
    event: {
      session: bench.name,
      event: { seq: 4, at: 5, body: { queued: { item: 9, kind: "steer", input: { text: "left" } } } },
    },
  });
  bench.frame();
  expect([bench.session.state.value.queues.steer.length, bench.session.unsent.value]).toEqual([1, []]);
  bench.socket.say({
    settled: { ticket: bench.socket.lastCommand().ticket, with: { receipt: { queued: { item: 9 } } } },
  });
  await settled;
  // Of a prompt too; the same words of somebody else leave those of this page where they are.
  const other = new Bench();
  await other.welcome();
  other.socket.say(attached(other, 3));
  void other.session.prompt(PROMPT, "go");
  const say = (seq: number, body: unknown): void =>
    other.socket.say({ event: { session: other.name, event: { seq, at: 5, body } } });
  say(4, { message_started: { message: 5, role: "assistant", turn: 2 } });
  say(5, { part_added: { message: 5, part: { text: "go" } } });
  other.frame();
  expect(other.session.unsent.value.length).toBe(1);
  say(6, { message_started: { message: 6, role: "user", turn: 2 } });
  say(7, { part_added: { message: 6, part: { text: "go" } } });
  other.frame();
  expect(other.session.unsent.value).toEqual([]);
  // It was heard, so nobody is asked whether it was when the connection is lost before the receipt.
  other.socket.onclose?.({ code: 1006 });
  other.pass(0);
  await other.welcome();
  const { seq } = other.session.state.value;
  other.socket.say({
    attached: {
      at: { session: other.name, seq, hash: stateHash(other.session.state.value) },
      current: true,
      board: {},
      abilities: ABILITIES,
    },
  });
  expect(other.session.unsent.value).toEqual([]);
  expect(other.socket.said.some((line) => line.includes('"prompt"'))).toBe(false);
});

test("words are one's own also where the receipt comes before the event", async () => {
  const bench = new Bench();
  await bench.welcome();
  bench.socket.say(attached(bench, 3));
  const settled = bench.session.prompt({ enqueue: { kind: "steer", input: { text: "left" } } }, "left");
  bench.socket.say({
    settled: { ticket: bench.socket.lastCommand().ticket, with: { receipt: { queued: { item: 9 } } } },
  });
  await settled;
  bench.socket.say({
    event: {
      session: bench.name,
      event: { seq: 4, at: 5, body: { queued: { item: 9, kind: "steer", input: { text: "left" }, by: "native#3" } } },
    },
  });
  bench.frame();
  expect([bench.session.state.value.queues.steer.length, bench.session.isOwn(9)]).toEqual([1, true]);
});

test("words for a run that ended meanwhile begin the next one", async () => {
  const bench = new Bench();
  await bench.welcome();
  bench.socket.say(attached(bench, 3));
  const settled = bench.session.prompt({ enqueue: { kind: "steer", input: { text: "left" } } }, "left");
  bench.socket.say({
    settled: {
      ticket: bench.socket.lastCommand().ticket,
      with: { refusal: { kind: "no_run", message: "no run is under way" } },
    },
  });
  const { ticket, what } = bench.socket.lastCommand();
  expect(what).toEqual({ prompt: { input: { text: "left" }, options: { when_busy: "queue" } } });
  expect(bench.session.unsent.value).toMatchObject([{ text: "left", kept: false }]);
  bench.socket.say({ settled: { ticket, with: { receipt: { started: { session: SESSION, run: 2 } } } } });
  await settled;
  expect(bench.session.unsent.value).toEqual([]);
});

test("a refusal of words whose page was left is told to the next one", async () => {
  const left = new Bench();
  void left.session.prompt(PROMPT, "go");
  await stored(left.name, 1);
  const bench = new Bench(left.name);
  const told: unknown[] = [];
  bench.session.onSignal((signal) => told.push(signal));
  await bench.welcome();
  bench.socket.say(attached(bench, 1));
  await vi.waitFor(() => expect(bench.session.unsent.value).toMatchObject([{ text: "go", uncertain: true }]), PATIENCE);
  bench.session.sendAgain(bench.session.unsent.value[0]?.id ?? "");
  await vi.waitFor(() => bench.socket.lastCommand(), PATIENCE);
  bench.socket.say({
    settled: {
      ticket: bench.socket.lastCommand().ticket,
      with: { refusal: { kind: "busy", message: "somebody else is asked" } },
    },
  });
  expect(told).toEqual([{ notify: { level: "error", text: "Not taken: go. somebody else is asked" } }]);
});

test("what another program left at a plain address is sent by nobody but the person, and only as words", async () => {
  const left = new Bench();
  const planted = [
    { id: "1", text: "looks harmless", command: { set_policy: { policy: "full" } } },
    { id: "2", text: "shown", command: { prompt: { input: { text: "said" }, options: { model: "x" } } } },
    { id: "3", text: "odd" },
    null,
  ];
  await keep(OUTBOX, left.name, planted);
  const bench = new Bench(left.name);
  await bench.welcome();
  bench.socket.say(attached(bench, 1));
  await vi.waitFor(
    () => expect(bench.session.unsent.value).toMatchObject([{ id: "2", text: "said", uncertain: true }]),
    PATIENCE,
  );
  expect(() => bench.socket.lastCommand()).toThrow();
  bench.session.sendAgain("2");
  await vi.waitFor(
    () =>
      expect(bench.socket.lastCommand().what).toEqual({
        prompt: { input: { text: "said" }, options: { when_busy: "queue" } },
      }),
    PATIENCE,
  );
});

test("an answer under way goes again while its ask is open, else it is over", async () => {
  for (const [known, open] of [
    [8, true],
    [9, false],
  ] as const) {
    const bench = new Bench();
    await bench.welcome();
    bench.socket.say(attached(bench, 8));
    const answered = bench.session.answer(4, { confirmed: true });
    bench.socket.onclose?.({ code: 1006 });
    bench.pass(0);
    await bench.welcome();
    bench.socket.say(attached(bench, known));
    if (open) bench.socket.say({ settled: { ticket: bench.socket.lastCommand().ticket, with: { receipt: "done" } } });
    if (open) expect(await answered).toBe("done");
    else await expect(answered).rejects.toMatchObject({ kind: "ask_over" });
  }
});

test("an answer that Parlor has not taken is not lost in silence when the session is left", async () => {
  const bench = new Bench();
  const told: unknown[] = [];
  bench.session.onSignal((signal) => told.push(signal));
  await bench.welcome();
  bench.socket.say(attached(bench, 8));
  void bench.session.answer(4, { confirmed: true }).catch(() => undefined);
  bench.socket.onclose?.({ code: 1006 });
  bench.session.close();
  expect(told).toEqual([
    { notify: { level: "warning", text: expect.stringMatching(/before Parlor had taken your answer/) } },
  ]);
});

test("the reason for a no is kept for its question only, until it is given", async () => {
  const bench = new Bench();
  bench.session.saveReason(4, "use nextest");
  expect(await bench.session.loadReason(4)).toBe("use nextest");
  expect(await bench.session.loadReason(40)).toBeUndefined();
  bench.session.close();
  const after = new Bench(bench.name);
  await vi.waitFor(async () => expect(await after.session.loadReason(4)).toBe("use nextest"), PATIENCE);
  after.session.saveReason(4, "");
  expect(await after.session.loadReason(4)).toBeUndefined();
});

test("the first new try is at once, later ones wait longer, and one asks no more than once at a time", async () => {
  const bench = new Bench();
  for (const wait of [0, 1000, 2000, 4000]) {
    const before = bench.sockets.length;
    bench.socket.onclose?.({ code: 1006 });
    bench.pass(Math.max(0, wait - 1));
    expect(bench.sockets.length).toBe(wait === 0 ? before + 1 : before);
    bench.pass(1);
    expect(bench.sockets.length).toBe(before + 1);
  }
  expect(bench.ways.slice(-1)).toEqual(["lost"]);
});

test("a server that says that it ends has stopped when it is not back at once", async () => {
  const bench = new Bench();
  await bench.welcome();
  bench.socket.onclose?.({ code: 1001, reason: "the server ends" });
  expect(bench.session.way.value.is).toBe("lost");
  bench.pass(0);
  bench.socket.onclose?.({ code: 1006, reason: "" });
  expect(bench.session.way.value.is).toBe("stopped");
  // It is still tried, and back when the server is.
  bench.pass(1000);
  await bench.welcome();
  expect(bench.session.way.value.is).toBe("up");
  // A loss without a word is one that passes, as a rule.
  bench.socket.onclose?.({ code: 1001, reason: "" });
  bench.pass(0);
  bench.socket.onclose?.({ code: 1006, reason: "" });
  expect(bench.session.way.value.is).toBe("lost");
});

test("a socket that never says a word is given up", () => {
  const bench = new Bench();
  bench.pass(HANDSHAKE_MS);
  expect(bench.sockets.length).toBe(2);
});

test("after a silence somebody is asked, and without an answer it is opened anew", async () => {
  const bench = new Bench();
  await bench.welcome();
  bench.socket.say(attached(bench, 3));
  bench.pass(20_000);
  expect(bench.socket.lastCommand().what).toBe("stats");
  bench.pass(10_000);
  expect(bench.sockets.length).toBe(2);
});

test("waking does not trust a socket that was silent", async () => {
  const bench = new Bench();
  await bench.welcome();
  bench.socket.say(attached(bench, 3));
  bench.link.wake();
  expect(bench.sockets.length).toBe(1);
  bench.time += 6_000;
  bench.link.wake();
  expect(bench.sockets.length).toBe(2);
  await bench.welcome();
  expect(bench.hello().cursor).toMatchObject({ seq: 3 });
});

test("whoever is not paired or revoked is told so and not tried again", async () => {
  const bench = new Bench();
  bench.enrolled = false;
  bench.socket.say({ challenge: { nonce: "n", version: "0.1.0", page: "p" } });
  await new Promise((done) => setTimeout(done, 0));
  expect(bench.session.way.value).toEqual({ is: "unpaired" });
  const other = new Bench();
  await other.welcome();
  other.socket.onclose?.({ code: 4410 });
  other.pass(100_000);
  expect(other.session.way.value).toEqual({ is: "revoked" });
  expect(other.sockets.length).toBe(1);
});

test("a page without frames does not gather for ever", async () => {
  const bench = new Bench();
  await bench.welcome();
  bench.socket.say(attached(bench, 4));
  for (let n = 0; n < MAX_GATHERED; n += 1) {
    bench.socket.say({
      event: {
        session: bench.name,
        event: { seq: 5 + n, at: 5, body: { message_delta: { message: 3, kind: "text", text: "x" } } },
      },
    });
  }
  expect(bench.session.state.value.seq).toBe(4 + MAX_GATHERED);
});

test("what waits for an answer is told when the device is revoked", async () => {
  const bench = new Bench();
  await bench.welcome();
  bench.socket.say(attached(bench, 8));
  const answered = bench.session.answer(4, { confirmed: true });
  bench.socket.onclose?.({ code: 4410 });
  await expect(answered).rejects.toMatchObject({ kind: "lost" });
});

test("what a runtime does not say that it can is what older words imply", async () => {
  const bench = new Bench();
  await bench.welcome();
  const told = attached(bench, 3) as { attached: object };
  bench.socket.say({ attached: { ...told.attached, abilities: { ...ABILITIES, models: false, set_tools: true } } });
  expect(bench.session.abilities.value).toMatchObject({
    undo: false,
    effort: false,
    compact: true,
    set_model: false,
    policy: false,
    set_tools: true,
    session_scope: true,
  });
});

test("every kind of signal is on the board or heard", async () => {
  const bench = new Bench();
  await bench.welcome();
  bench.socket.say(attached(bench, 3));
  const heard: string[] = [];
  bench.session.onSignal((signal) => heard.push(Object.keys(signal)[0] ?? ""));
  const say = (signal: unknown): void => bench.socket.say({ signal: { session: bench.name, signal } });
  say({ notify: { level: "info", text: "hi" } });
  say({ status: { key: "git", text: "main" } });
  say({ status: { key: "old", text: "x" } });
  say({ status: { key: "old" } });
  say({ working: "thinking" });
  say({ widget: { key: "w", lines: ["a"], place: "below" } });
  say({ widget: { key: "gone", lines: ["a"], place: "above" } });
  say({ widget: { key: "gone", lines: [], place: "above" } });
  say({ title: "A window" });
  say({ editor_text: "do this" });
  say({ suggestion: { text: "run the tests", confidence: 900, source: "habit" } });
  expect(bench.session.board.value).toEqual({
    status: { git: "main" },
    working: "thinking",
    widgets: { w: ["below", ["a"]] },
    title: "A window",
  });
  expect(heard).toEqual([
    "notify",
    "status",
    "status",
    "status",
    "working",
    "widget",
    "widget",
    "widget",
    "title",
    "editor_text",
    "suggestion",
  ]);
  bench.socket.say({ signal: { session: "sess-ffffffffffff", signal: { title: "of another" } } });
  expect(bench.session.board.value.title).toBe("A window");
});

const RUNNING: unknown[] = [{ session_opened: { cwd: "/w", project: "/w" } }, { run_started: { run: 1 } }];

/** A session with a run under way, and events that are numbered by themselves. */
async function running(bench: Bench): Promise<(body: unknown) => void> {
  await bench.welcome();
  bench.socket.say(attached(bench, 3));
  let seq = 3;
  return (body) => bench.socket.say({ event: { session: bench.name, event: { seq: (seq += 1), at: 5, body } } });
}

/** Queues words from this page as item `item`. */
function queue(bench: Bench, happen: (body: unknown) => void, item: number, text: string): void {
  const input = { text };
  void bench.session.prompt({ enqueue: { kind: "steer", input } }, text);
  happen({ queued: { item, kind: "steer", input, by: "native#3" } });
  bench.socket.say({
    settled: { ticket: bench.socket.lastCommand().ticket, with: { receipt: { queued: { item, run: 1 } } } },
  });
}

test("words that this page queued come back when the run is stopped, heard and dropped ones do not", async () => {
  const bench = new Bench();
  const happen = await running(bench);
  queue(bench, happen, 10, "first");
  queue(bench, happen, 11, "second");
  queue(bench, happen, 12, "dropped");
  queue(bench, happen, 13, "third");
  happen({ queued: { item: 14, kind: "steer", input: { text: "of another screen" }, by: "native#4" } });
  bench.frame();
  expect([10, 14].map((item) => bench.session.isOwn(item))).toEqual([true, false]);
  happen({ unqueued: { item: 10, leaving: "taken" } });
  happen({ unqueued: { item: 12, leaving: "dropped" } });
  happen({ queue_edited: { item: 13, input: { text: "third, changed" } } });
  for (const item of [11, 13, 14]) happen({ unqueued: { item, leaving: "cleared" } });
  bench.frame();
  expect(bench.session.returned.value).toEqual([{ text: "second" }, { text: "third, changed" }]);
  bench.session.seenReturned();
  expect(bench.session.returned.value).toEqual([]);
});

test("who stops a run gets all words that waited for it, also those of a page that is gone", async () => {
  const bench = new Bench();
  const happen = await running(bench);
  happen({ queued: { item: 10, kind: "follow_up", input: { text: "of another screen" }, by: "native#4" } });
  bench.frame();
  void bench.session.send({ cancel: {} }).catch(() => undefined);
  happen({ unqueued: { item: 10, leaving: "cleared" } });
  bench.frame();
  expect(bench.session.returned.value).toEqual([{ text: "of another screen" }]);
});

test("words that were cleared while the page was away come back with the next one, heard ones do not", async () => {
  const bench = new Bench();
  const happen = await running(bench);
  queue(bench, happen, 10, "lost");
  queue(bench, happen, 11, "heard");
  bench.frame();
  await stored(`queued ${bench.name}`, 2);
  const next = new Bench(bench.name);
  await next.welcome();
  const bodies = [
    ...RUNNING,
    { turn_started: { run: 1, turn: 2, cause: "prompt" } },
    { message_started: { message: 20, role: "user", turn: 2 } },
    { message_delta: { message: 20, kind: "text", text: "heard" } },
  ];
  const replay = [
    ...bodies.map((body) => [5, body]),
    [5, { rebased: { seq: 30, updated_at: 5, last_id: 20, usage: {} } }],
  ];
  const state = emptyState();
  for (const [, body] of replay) apply(state, 5, body as Body);
  next.socket.say({
    attached: { at: { session: bench.name, seq: 30, hash: stateHash(state) }, replay, board: {}, abilities: ABILITIES },
  });
  await vi.waitFor(() => expect(next.session.returned.value).toEqual([{ text: "lost" }]), PATIENCE);
});

test("how a question ended is known", async () => {
  const bench = new Bench();
  await bench.welcome();
  bench.socket.say(attached(bench, BODIES.length - 1));
  bench.socket.say(event(bench, BODIES.length - 1));
  bench.frame();
  expect(bench.session.closing(4)).toBe("expired");
  expect(bench.session.closing(5)).toBeUndefined();
});
