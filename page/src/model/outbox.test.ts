// Words on their way: kept without a connection, sent once, shown once, and given back when nobody will hear them.

import { expect, test, vi } from "vitest";
import { keep, OUTBOX } from "./database";
import { apply } from "./fold";
import { stateHash } from "./hashed";
import { emptyState } from "./state";
import { ABILITIES, attached, Bench, PATIENCE, SESSION, stored } from "./testing";
import type { Body } from "./types";

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
