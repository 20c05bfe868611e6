// A live session: how it begins, is lost at every message, and returns; what its hash tells, and how commands settle.

import { expect, test, vi } from "vitest";
import { apply } from "./fold";
import { stateHash } from "./hashed";
import { MANY, MAX_GATHERED, MOST_WRONG } from "./session";
import { emptyState, type MessageEntry, path, textOf } from "./state";
import { ABILITIES, attached, BODIES, Bench, event, PATIENCE } from "./testing";
import type { Body } from "./types";

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
  expect(bench.session.connection.value.is).toBe("up");
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
  expect(bench.session.connection.value).toEqual({ is: "refused", message: "the disk is full" });
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
    capabilities: ["hash", "cursor", "answers", "shown"],
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

test("that a question is on the screen is said, and nobody minds a Parlor that does not know the word", async () => {
  const bench = new Bench();
  await bench.welcome();
  bench.socket.say(attached(bench, 4));
  bench.session.shown(4);
  const { ticket, what } = bench.socket.lastCommand();
  expect(what).toEqual({ extension: { name: "parlor/shown", payload: { ask: 4 } } });
  const refusal = { kind: "extension_unknown", message: "no" };
  bench.socket.say({ settled: { ticket, with: { refusal } } });
  await Promise.resolve();
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

test("how a question ended is known", async () => {
  const bench = new Bench();
  await bench.welcome();
  bench.socket.say(attached(bench, BODIES.length - 1));
  bench.socket.say(event(bench, BODIES.length - 1));
  bench.frame();
  expect(bench.session.closing(4)).toBe("expired");
  expect(bench.session.closing(5)).toBeUndefined();
});
