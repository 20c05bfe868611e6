import { describe, expect, test } from "vitest";
import { demo, session } from "../../../tests/demo/world";
import { allowed } from "./allowed";
import { turnsTo, type State, type ToolRun } from "../../model/state";
import type { Abilities } from "../../model/types";
import { moveTo, type LeafMove } from "./back";
import { Going, placed } from "./panels";
import { endWords } from "./live";
import { rows, type Row } from "./rows";
import { h } from "preact";
import type { Outcome } from "../../model/types";
import { words } from "../testing";
import { Entry } from "./entry";

void demo;

describe("rows of a transcript", () => {
  test("one for each thing that a reader opens", () => {
    expect(rows(session()).map((row) => row.is)).toEqual(["prompt", "thought", "tool", "tool", "text", "tool", "tool"]);
  });

  test("of what did not change are the same objects", () => {
    const state = session();
    const before = rows(state);
    expect(rows(state)[0]).toBe(before[0]);
    const tool = state.tools.get(9);
    if (tool) state.tools.set(9, { ...tool, output: "more" });
    const after = rows(state);
    expect(after[0]).toBe(before[0]);
    expect(after.at(-1)).not.toBe(before.at(-1));
  });

  test("a run that failed ends with its words", () => {
    const state = session();
    state.runs = [
      { id: 1, startedAt: 0, ended: { at: 5, outcome: { failed: { code: "x", message: "no key" } } }, turns: [] },
    ];
    expect(rows(state).at(-1)?.is).toBe("end");
  });

  test("what the end of a failed run says is not said before it as well, other notices are", () => {
    const state = session();
    const before = rows(state).length;
    const notice = (id: number, text: string): void =>
      void state.entries.set(id, {
        id,
        parent: 5,
        at: 0,
        kind: "notice",
        level: "error",
        code: "x",
        text,
        run: 1,
        added: { hi: 0, lo: 0 },
        batch: 0,
      });
    notice(100, "something else");
    notice(101, "no key\nrun parlor login");
    state.runs = [
      {
        id: 1,
        startedAt: 0,
        ended: { at: 5, outcome: { failed: { code: "x", message: "no key", hint: "run parlor login" } } },
        turns: [],
      },
    ];
    expect(
      rows(state)
        .slice(before)
        .map((row) => (row.is === "notice" ? row.entry.text : row.is)),
    ).toEqual(["something else", "end"]);
    // Another run's is its own.
    state.runs = [{ id: 1, startedAt: 0, ended: { at: 5, outcome: "cancelled" }, turns: [] }];
    expect(
      rows(state)
        .slice(before)
        .map((row) => row.is),
    ).toEqual(["notice", "notice", "end"]);
  });

  test("each run's end stands once, where its run ends, whatever follows that belongs to no run", () => {
    const state = session();
    const before = rows(state).length;
    const base = { parent: 5, added: { hi: 0, lo: 0 }, batch: 0 };
    const notice = (id: number, at: number, run?: number): void =>
      void state.entries.set(id, {
        ...base,
        id,
        at,
        kind: "notice",
        level: "info",
        code: "persons_command",
        text: String(id),
        run,
      });
    const compaction = (id: number, at: number): void => {
      state.entries.set(id, {
        ...base,
        id,
        at,
        kind: "compaction",
        compaction: { summary: "s", tokens_before: 1, trigger: "manual" },
      });
      state.leaf = id;
    };
    state.runs = [{ id: 1, startedAt: 0, ended: { at: 50, outcome: "cancelled" }, turns: [] }];
    const told = (): string[] =>
      rows(state)
        .slice(before)
        .map((row) => (row.is === "notice" ? row.entry.text : row.is === "end" ? row.key : row.is));
    notice(100, 60);
    notice(101, 70);
    expect(told()).toEqual(["run-1", "100", "101"]);
    compaction(102, 80);
    expect(told()).toEqual(["run-1", "100", "101", "compaction"]);
    // Another run, with an own command in its middle and one just before its end.
    state.runs = [
      ...state.runs,
      {
        id: 2,
        startedAt: 90,
        ended: { at: 200, outcome: { failed: { code: "x", message: "overloaded" } } },
        turns: [],
      },
    ];
    notice(110, 100, 2);
    notice(111, 110);
    notice(112, 120, 2);
    notice(113, 130);
    notice(114, 300);
    expect(told()).toEqual(["run-1", "100", "101", "compaction", "110", "111", "112", "113", "run-2", "114"]);
  });
});

test("a run that was stopped says after how long, one that was interrupted does not: nobody knows", () => {
  const end = (outcome: Outcome): string =>
    words(
      h(Entry, {
        row: { is: "end", key: "run-1", run: { id: 1, startedAt: 0, ended: { at: 8900, outcome }, turns: [] } },
        open: undefined,
        toggle: () => undefined,
        again: () => undefined,
        edit: undefined,
      }),
    );
  expect(end("cancelled")).toBe("Stopped after 8.9 s.");
  expect(end("interrupted")).toBe("Interrupted: Parlor ended in the middle.");
});

test("a run that a no has ended says so, and is not told as an answer", () => {
  const state = session();
  const tool = [...state.tools.values()].at(-1);
  if (!tool) throw new Error("no tool");
  const ended = (decision: ToolRun["decision"]): Row | undefined => {
    state.tools.set(tool.id, { ...tool, decision });
    const turn = { id: 2, cause: "prompt" as const, ended: true, steps: [{ id: tool.step }] };
    state.runs = [{ id: tool.run, startedAt: 0, ended: { at: 5, outcome: "done" }, turns: [turn] }];
    return rows(state).at(-1);
  };
  const denied = { allowed: false, by: { person: null }, scope: "once" as const };
  expect(ended(denied)?.is).toBe("end");
  expect(endWords("done", rows(state))).toBe("Stopped: denied");
  // With a reason the agent goes on, and what it says then is its answer; a policy's no ends nothing.
  expect(ended({ ...denied, reason: "not here" })?.is).not.toBe("end");
  expect(ended({ ...denied, by: "policy" })?.is).not.toBe("end");
});

describe("the picture of branches", () => {
  test("puts a second branch beside the first and marks where one is", () => {
    const state = session();
    const first = state.entries.get(4);
    if (first) {
      state.entries.set(20, { ...first, id: 20, parent: 5 });
      state.entries.set(21, { ...first, id: 21, parent: 5 });
      state.leaf = 21;
    }
    const { nodes, edges } = placed(state);
    expect(nodes.map((node) => [node.entry.id, node.x, node.here])).toEqual([
      [4, 0, true],
      [20, 0, false],
      [21, 1, true],
    ]);
    expect(edges.length).toBe(2);
  });
});

describe("going back", () => {
  const can = { name: "x", branch: true, sessions: true, undo: true } as Abilities;
  const ended = (): State => {
    const state = session();
    state.asks = [];
    state.runs = [
      {
        id: 1,
        startedAt: 0,
        ended: { at: 5, outcome: "done" },
        turns: [{ id: 2, cause: "prompt", ended: true, steps: [] }],
      },
    ];
    return state;
  };

  test("offers files where tools ran on the way and they can be taken back", () => {
    expect(moveTo(ended(), can, undefined)).toEqual({
      leaf: undefined,
      back: [2],
      forth: [],
      files: "choose",
      why: undefined,
    });
    expect(moveTo(ended(), { ...can, undo: false }, undefined).files).toBe("stay");
    const state = ended();
    state.tools.clear();
    expect(moveTo(state, can, undefined).files).toBe("none");
    // On the same way nothing is gone over.
    expect(moveTo(ended(), can, 5)).toMatchObject({ back: [], forth: [], files: "none" });
    // From another branch it goes back and forth.
    const first = state.entries.get(4);
    if (first?.kind === "message") state.entries.set(20, { ...first, id: 20, parent: undefined, turn: 9 });
    state.leaf = 20;
    expect(turnsTo(state, 5)).toEqual({ back: [9], forth: [2] });
  });

  test("says why it cannot be gone, and that files stay", () => {
    expect(moveTo(session(), can, undefined).why).toBe("Stop the run first.");
    expect(moveTo(ended(), { ...can, branch: false }, undefined).why).toMatch(/cannot go back/);
    expect(moveTo(ended(), { ...can, clear: false }, undefined).why).toMatch(/Nothing comes before/);
    const told = (move: LeafMove): string => words(Going({ name: "Go", move, may: true, go: () => undefined }));
    expect(told(moveTo(ended(), can, undefined))).toBe(
      "Go, words onlyGo, words and filesWords only: files stay as they are.",
    );
    expect(told(moveTo(ended(), { ...can, undo: false }, undefined))).toBe(
      "GoFiles stay as they are: this runtime cannot undo changes.",
    );
  });
});

describe("what was allowed for good", () => {
  test("is told with where it holds and how it is taken back", () => {
    const told = {
      session: [{ words: "run `ls`", rule: { a: 1 } }],
      projects: [
        { project: "/other", rules: [{ words: "x", rule: 2 }] },
        { project: "/here", here: true, rules: [{ words: "y", rule: 3 }] },
      ],
    };
    expect(allowed(JSON.stringify(told)).map((rule) => [rule.words, rule.where, rule.revoke.revoke.project])).toEqual([
      ["run `ls`", "until this session closes", null],
      ["y", "in this project", "/here"],
      ["x", "in /other", "/other"],
    ]);
    expect(allowed("no json")).toEqual([]);
    expect(allowed(undefined)).toEqual([]);
  });
});
