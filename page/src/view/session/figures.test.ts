// The figures of a session: how full its context is, and what took how long.

import { signal } from "@preact/signals";
import { expect, test } from "vitest";
import { emptyState, type ToolRun } from "../../model/state";
import type { Abilities } from "../../model/types";
import type { DeviceRole, SessionPort, ConnectionState } from "../ports";
import { words } from "../testing";
import { Details } from "./details";
import { spans, wasUndone } from "./panels";

const port = (role: DeviceRole = "controller", id = "s", connection: ConnectionState = { is: "up" }): SessionPort =>
  ({
    role: signal(role),
    id: signal(id || undefined),
    connection: signal(connection),
    abilities: signal({ name: "" } as Abilities),
  }) as unknown as SessionPort;

test("the context is told as the terminal tells it: what is used, and what is left of it", () => {
  const say = (used: number, rough: boolean): string =>
    words(
      Details({
        port: port(),
        state: { ...emptyState(), context: { used, window: 100_000 }, contextRough: rough },
        show: () => undefined,
      }),
    );
  expect(say(1290, false)).toMatch(/^Context1\.2 k of 100 k98 % left/);
  expect(say(211, true)).toMatch(/^Context~211 of 100 k~99 % left/);
});

test("what files hold is offered to those who may ask for it", () => {
  const say = (role: DeviceRole): string =>
    words(Details({ port: port(role), state: emptyState(), show: () => undefined }));
  expect(say("controller")).toContain("Diff and undo");
  for (const role of ["approver", "observer"] as const) expect(say(role)).not.toContain("Diff and undo");
});

test("without a session there is nothing to open", () => {
  const say = (id: string, connection: ConnectionState): string =>
    words(Details({ port: port("controller", id, connection), state: emptyState(), show: () => undefined }));
  expect(say("s", { is: "up" })).toContain("Timeline");
  expect(say("", { is: "up" })).not.toContain("Timeline");
  expect(say("s", { is: "refused", message: "there is no such session", hint: undefined })).not.toContain("Timeline");
});

test("what was never taken back is not offered to be done again", () => {
  const state = emptyState();
  const note = (code: string) =>
    ({ id: 1, at: 0, kind: "notice", level: "info", code, text: "", added: { hi: 0, lo: 0 }, batch: 0 }) as const;
  expect(wasUndone(state)).toBe(false);
  state.entries.set(1, note("files_redone"));
  expect(wasUndone(state)).toBe(false);
  state.entries.set(1, note("files_undone"));
  expect(wasUndone(state)).toBe(true);
});

test("runs are numbered as they are seen, and a wait for an answer is told whatever the answer was", () => {
  const state = emptyState();
  const zero = { hi: 0, lo: 0 };
  const tool = (id: number, run: number, more: Partial<ToolRun>): void =>
    void state.tools.set(id, {
      id,
      run,
      step: 0,
      message: 0,
      name: "write",
      args: '{"path":"a.txt"}',
      phase: "proposed",
      output: "",
      proposedAt: 1000,
      proposed: zero,
      roll: zero,
      added: zero,
      batch: 0,
      ...more,
    });
  state.runs = [
    { id: 6, startedAt: 0, ended: { at: 9000, outcome: "done" }, turns: [] },
    { id: 22, startedAt: 10_000, turns: [] },
  ];
  const no = { allowed: false, by: { person: "page" }, scope: "once", reason: "no" } as unknown as NonNullable<
    ToolRun["decision"]
  >;
  tool(7, 6, { phase: { ended: "denied" }, decision: no, endedAt: 6000 });
  tool(8, 6, { phase: { ended: "done" }, startedAt: 4000, endedAt: 5000 });
  tool(9, 6, { phase: { ended: "denied" }, decision: { ...no, by: "policy" }, endedAt: 1000 });
  tool(23, 22, { phase: { awaiting: 24 }, proposedAt: 11_000 });
  expect(spans(state, 15_000).map(({ name, from, to, look }) => [name, to - from, look])).toEqual([
    ["Run 1", 9000, ""],
    ["  waited for an answer, denied: Write a.txt", 5000, "asked"],
    ["  waited for an answer", 3000, "asked"],
    ["  Wrote a.txt", 1000, "tool"],
    ["Run 2", 5000, ""],
    ["  waits for an answer: Write a.txt", 4000, "asked"],
  ]);
  const many = { ...state, runs: Array.from({ length: 30 }, (_, at) => ({ id: at * 5, startedAt: at, turns: [] })) };
  expect(
    spans(many, 99)
      .filter(({ name }) => name.startsWith("Run"))
      .map(({ name }) => name),
  ).toEqual(Array.from({ length: 20 }, (_, at) => `Run ${at + 11}`));
});
