// The page folds what Rust folded, and gets the same numbers after each event.

import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { apply, follow, nextBatch } from "./fold";
import { hashOf, hex, mixed, rollText, start } from "./hash";
import { stateHash } from "./hashed";
import { emptyState, path, textOf } from "./state";
import type { Body } from "./types";
import { kept, read } from "./wire";

interface Vector {
  steps: Array<{ line: string; applied: boolean; hash: string }>;
  replay: string;
  hash: string;
  state: {
    seq: number;
    path: number[];
    entries: number;
    tools: number;
    asks: number[];
    runs: number;
    text: string;
    cost: string;
  };
}

const FOLDER = new URL("../../vectors/", import.meta.url);
const names = readdirSync(FOLDER).filter((name) => name.endsWith(".json"));

test("a recorded session: what Parlor said it hashes to", () => {
  const state = emptyState();
  let compared = 0;
  for (const text of readFileSync(new URL("recorded.jsonl", FOLDER), "utf8").split("\n").filter(Boolean)) {
    const got = read(text);
    if (!("line" in got)) throw new Error(`unreadable: ${text}`);
    if ("attached" in got.line) {
      for (const [at, body] of got.line.attached.replay ?? []) expect(apply(state, at, body), text).toBeUndefined();
      expect(stateHash(state)).toBe(got.line.attached.at.hash);
      compared += 1;
    } else if ("event" in got.line) expect(follow(state, got.line.event.event), text).toBeUndefined();
    else if ("hash" in got.line) {
      expect([state.seq, stateHash(state)]).toEqual([got.line.hash.seq, got.line.hash.hash]);
      compared += 1;
    }
  }
  expect(compared).toBeGreaterThan(1);
});

/** Large counts as text: JSON has no other way to say them. */
function plain(_: string, value: unknown): unknown {
  return typeof value === "bigint" ? value.toString() : value;
}

test("there are sessions with counts that no float holds, and sessions that a release kept", () => {
  const large = names.filter((name) =>
    /\\"(?:input|cost_micros)\\":\d{17,}/.test(readFileSync(new URL(name, FOLDER), "utf8")),
  );
  expect(large.length).toBeGreaterThan(0);
  expect(names.filter((name) => name.startsWith("kept-")).length).toBeGreaterThan(5);
});

test("what the first release said over its wire: every session it opened, and what each hashes to today where it told a hash", () => {
  const release = new URL("../../crates/parlor/fixtures/v0.1.0/native/", FOLDER);
  const today = new Map(
    readFileSync(new URL("hashes-2.txt", release), "utf8")
      .trim()
      .split("\n")
      .map((line) => line.split(" "))
      .map(([session, seq, hash]) => [`${session} ${seq}`, hash]),
  );
  const states = new Map<string, ReturnType<typeof emptyState>>();
  const compared = new Set<string>();
  for (const text of readFileSync(new URL("from-runtime.jsonl", release), "utf8").split("\n").filter(Boolean)) {
    const got = read(text);
    if (!("line" in got)) throw new Error(`unreadable: ${text}`);
    const at = "attached" in got.line ? got.line.attached.at : "hash" in got.line ? got.line.hash : undefined;
    if ("attached" in got.line && !got.line.attached.current) {
      const state = emptyState();
      for (const [when, body] of got.line.attached.replay ?? []) expect(apply(state, when, body), text).toBeUndefined();
      states.set(got.line.attached.at.session, state);
    } else if ("event" in got.line) {
      const state = states.get(got.line.event.session);
      if (state && got.line.event.event.seq > state.seq)
        expect(follow(state, got.line.event.event), text).toBeUndefined();
    }
    const state = at && states.get(at.session);
    if (!at || state?.seq !== at.seq) continue;
    expect(stateHash(state), text).toBe(today.get(`${at.session} ${at.seq}`));
    compared.add(`${at.session} ${at.seq}`);
  }
  expect(compared).toEqual(new Set(today.keys()));
  expect(compared.size).toBeGreaterThan(3);
});

/** The lines of a fenced block of docs/native-protocol.md: a hash, and what it is of. */
function ofTheDocument(kind: string): Array<[hash: string, what: string]> {
  const text = readFileSync(new URL("../../docs/native-protocol.md", FOLDER), "utf8");
  const block = text.split(`\n\`\`\`${kind}\n`)[1]?.split("\n```")[0] ?? "";
  return block.split("\n").map((line) => [line.slice(0, 16), line.slice(17)]);
}

test("the vectors of the document: texts, forms, and a session event by event", () => {
  for (const [hash, text] of ofTheDocument("hash-text")) {
    const roll = start();
    rollText(roll, JSON.parse(text) as string);
    expect(hex(mixed(roll)), text).toBe(hash);
  }
  for (const [hash, form] of ofTheDocument("hash-form")) expect(hex(hashOf(JSON.parse(kept(form)))), form).toBe(hash);
  const state = emptyState();
  const session = ofTheDocument("hash-session");
  session.forEach(([hash, body], at) => {
    expect(follow(state, { seq: at + 1, at: 0, body: JSON.parse(kept(body)) as Body }), body).toBeUndefined();
    expect(stateHash(state), body).toBe(hash);
  });
  expect(session.length).toBeGreaterThan(20);
});

function view(state: ReturnType<typeof emptyState>): Vector["state"] {
  const messages = [...state.entries.values()].filter((entry) => entry.kind === "message").sort((a, b) => a.id - b.id);
  return {
    seq: state.seq,
    path: path(state).map((entry) => entry.id),
    entries: state.entries.size,
    tools: state.tools.size,
    asks: state.asks.map((ask) => ask.id),
    runs: state.runs.length,
    text: messages.map(textOf).join(""),
    cost: String(state.usage.cost_micros ?? 0),
  };
}

for (const name of names) {
  const vector = JSON.parse(readFileSync(new URL(name, FOLDER), "utf8")) as Vector;

  test(`${name}: every event`, () => {
    const state = emptyState();
    vector.steps.forEach((step, n) => {
      const got = read(step.line);
      if (!("line" in got) || !("event" in got.line)) throw new Error(`unreadable: ${step.line}`);
      const refused = follow(state, got.line.event.event);
      expect(refused === undefined, `${n}: ${JSON.stringify(refused)} ${step.line}`).toBe(step.applied);
      expect(stateHash(state), `${n}: ${step.line}`).toBe(step.hash);
      if (n % 3 === 0) nextBatch(state);
    });
    expect(view(state)).toEqual(vector.state);
  });

  test(`${name}: the replay builds the same session`, () => {
    const state = emptyState();
    const got = read(vector.replay);
    if (!("line" in got) || !("replay" in got.line)) throw new Error(`unreadable: ${vector.replay}`);
    for (const [at, body] of got.line.replay.items)
      expect(apply(state, at, body), JSON.stringify(body, plain)).toBeUndefined();
    expect(stateHash(state)).toBe(vector.hash);
    expect(view(state)).toEqual(vector.state);
  });
}
