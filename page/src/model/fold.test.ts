import { expect, test } from "vitest";
import { apply, follow, nextBatch } from "./fold";
import { hex, rollText, start } from "./hash";
import { settle, stateHash } from "./hashed";
import { emptyState, plus, type MessageEntry } from "./state";
import type { Body } from "./types";
import { kept, read } from "./wire";

test("a tag that is not known is an error value, and the state is as it was", () => {
  const state = emptyState();
  const before = stateHash(state);
  expect(apply(state, 1, { teleported: { to: "mars" } } as unknown as Body)).toMatchObject({ why: "unknown" });
  expect(apply(state, 1, {} as unknown as Body)).toMatchObject({ why: "unknown" });
  expect(apply(state, 1, null as unknown as Body)).toMatchObject({ why: "unknown" });
  expect(apply(state, 1, { policy_chosen: { policy: "reckless" } } as unknown as Body)).toMatchObject({
    why: "unknown",
  });
  expect(stateHash(state)).toBe(before);
});

test("an event that is not newer is refused", () => {
  const state = emptyState();
  expect(follow(state, { seq: 3, at: 1, body: { renamed: { title: "a" } } })).toBeUndefined();
  expect(follow(state, { seq: 3, at: 1, body: { renamed: { title: "b" } } })).toEqual({
    why: "out_of_order",
    expected: 4,
    got: 3,
  });
  expect(state.settings.title).toBe("a");
});

test("what a reader was given does not change under it", () => {
  const state = emptyState();
  apply(state, 1, { message_started: { message: 1, role: "assistant" } });
  apply(state, 1, { message_delta: { message: 1, kind: "text", text: "one" } });
  nextBatch(state);
  const seen = state.entries.get(1) as MessageEntry;
  apply(state, 1, { message_delta: { message: 1, kind: "text", text: " two" } });
  expect(seen.parts).toEqual([{ text: "one" }]);
  expect((state.entries.get(1) as MessageEntry).parts).toEqual([{ text: "one two" }]);
});

test("any cut of a text gives the same hash, pairs and long texts too", () => {
  const text = "naïve 🦊 text ".repeat(3000);
  const whole = start();
  rollText(whole, text);
  const pieces = start();
  for (const piece of text.match(/.{1,7}/gsu) ?? []) rollText(pieces, piece);
  expect(hex(pieces)).toBe(hex(whole));
});

test("payloads are kept as they were written", () => {
  const line =
    '{"event":{"session":"s","event":{"seq":1,"at":2,"body":{"tool_proposed":{"tool":9,"message":7,"name":"\\"args\\":","args":{"path": "a}\\"", "args":[1.0]}}}}}}';
  const got = read(line) as { line: { event: { event: { body: { tool_proposed: { name: string; args: string } } } } } };
  expect(got.line.event.event.body.tool_proposed).toEqual({
    tool: 9,
    message: 7,
    name: '"args":',
    args: '{"path": "a}\\"", "args":[1.0]}',
  });
  expect(kept('{"json":{"$verbatim":"{\\n}"}}')).toBe('{"json":"{\\n}"}');
  expect(kept('{"json": null}')).toBe('{"json": "null"}');
  const board = read('{"attached":{"at":{},"board":{"status":{"args":"x"}},"abilities":{}}}') as {
    line: { attached: { board: unknown } };
  };
  expect(board.line.attached.board).toEqual({ status: { args: "x" } });
  expect(read("nonsense")).toHaveProperty("unreadable");
  expect(read("7")).toHaveProperty("unreadable");
});

test("megabytes are hashed in a moment", () => {
  const text = "0123456789abcdef".repeat(256 * 1024);
  const begun = performance.now();
  rollText(start(), text);
  const took = performance.now() - begun;
  // A bound that only BigInt arithmetic in the loop would pass: about 20 ms on an idle machine.
  expect(took).toBeLessThan(2000);
});

test("sums are exact where floats are not, and stop where Rust's do", () => {
  const most = 2n ** 64n - 1n;
  expect(plus({ input: Number.MAX_SAFE_INTEGER }, { input: 2, output: 3 })).toEqual({
    input: 2n ** 53n + 1n,
    output: 3,
  });
  expect(plus({ cost_micros: most }, { cost_micros: 1 })).toEqual({ cost_micros: most });
  const told = read(
    '{"event":{"session":"s","event":{"seq":1,"at":1,"body":{"step_ended":{"step":1,"usage":{"input":18446744073709551615,"output":7}}}}}}',
  );
  expect(
    (told as { line: { event: { event: { body: { step_ended: { usage: unknown } } } } } }).line.event.event.body
      .step_ended.usage,
  ).toEqual({ input: most, output: 7 });
  // Words that look like a count are words.
  const said = read(
    '{"event":{"session":"s","event":{"seq":1,"at":1,"body":{"message_delta":{"message":1,"kind":"text","text":"\\"input\\":12345678901234567890 #1"}}}}}',
  );
  expect(JSON.stringify(said)).toContain('\\"input\\":12345678901234567890 #1');
});

test("the hash is the same however often and in whatever pieces it was asked for", () => {
  const deltas = ["", "a", "bc", "", "déf", "🦀", " and so on"];
  const bodies: Body[] = [
    { session_opened: { cwd: "/w", project: "/w" } },
    { message_started: { message: 1, role: "assistant" } },
  ];
  for (const kind of ["thought", "text", "thought"] as const)
    for (const text of deltas) bodies.push({ message_delta: { message: 1, kind, text } });
  bodies.push(
    { part_added: { message: 1, part: { text: "whole" } } },
    { message_delta: { message: 1, kind: "text", text: "begun anew" } },
    { part_added: { message: 1, part: { thought: { text: "t", signature: "s" } } } },
    { message_ended: { message: 1, finish: "complete" } },
  );
  const once = emptyState();
  for (const body of bodies) expect(apply(once, 1, body)).toBeUndefined();
  const hash = stateHash(once);
  for (let every = 1; every < 6; every += 1) {
    const state = emptyState();
    bodies.forEach((body, at) => {
      apply(state, 1, body);
      if (at % every === 0) stateHash(state);
      if (at % 2 === 0) nextBatch(state);
    });
    let left = 0;
    while (!settle(state, () => (left = 1 - left) === 0));
    expect(stateHash(state)).toBe(hash);
  }
});
