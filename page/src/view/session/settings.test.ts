import { expect, test } from "vitest";
import type { Abilities } from "../../model/types";
import { words } from "../testing";
import { Field } from "./field";
import { serverWords } from "./settings";
import { LIMITS, limitText, whyNot, withLimit, withTool, type Switch } from "./switches";

const ALL: Abilities = {
  name: "parlor",
  steer: true,
  follow_up: true,
  cancel: true,
  sessions: true,
  branch: true,
  models: true,
  servers: true,
  skills: true,
  consent: true,
  set_model: true,
  set_tools: true,
  effort: true,
  policy: true,
  rename_session: true,
};
const [cost, steps, time] = LIMITS as [(typeof LIMITS)[number], (typeof LIMITS)[number], (typeof LIMITS)[number]];

test("a controller of a runtime that can everything may switch everything", () => {
  expect(Object.values(whyNot(ALL, "controller")).filter(Boolean)).toEqual([]);
});

test("what a runtime cannot is not offered, and says why", () => {
  for (const [lacks, hides] of [
    [{ set_model: false }, ["model"]],
    [{ effort: false }, ["effort"]],
    [{ policy: false }, ["limits", "mode"]],
    [{ set_tools: false }, ["tools"]],
    [{ rename_session: false }, ["title"]],
    [{ steer: false, follow_up: false }, ["queue"]],
    [{ steer: false }, []],
  ] as [Partial<Abilities>, Switch[]][]) {
    const why = whyNot({ ...ALL, ...lacks }, "controller");
    expect(
      Object.entries(why)
        .filter(([, reason]) => reason !== undefined)
        .map(([name]) => name)
        .sort(),
      JSON.stringify(lacks),
    ).toEqual(hides);
    for (const reason of Object.values(why)) if (reason) expect(reason).toMatch(/^parlor /);
  }
});

test("who may only look changes nothing, and reads what is set", () => {
  for (const role of ["observer", "approver"] as const) {
    expect(new Set(Object.values(whyNot(ALL, role)))).toEqual(new Set(["This device may not change anything."]));
  }
  const drawn = Field({ id: "x", name: "Mode", why: "Because.", value: "Ask", children: "the switch" });
  expect(words(drawn)).toBe("ModeAsk Because.");
  expect(words(Field({ id: "x", name: "Mode", why: undefined, value: "Ask", children: "the switch" }))).toBe(
    "Modethe switch",
  );
});

test("limits are written as people write them: empty is the settings', zero is none", () => {
  expect(withLimit({ max_steps: 5 }, cost, "2.5")).toEqual({ max_steps: 5, max_cost_micros: 2_500_000 });
  expect(withLimit({}, cost, "$0,10")).toEqual({ max_cost_micros: 100_000 });
  expect(withLimit({ max_time_s: 60, max_steps: 3 }, time, " ")).toEqual({ max_steps: 3 });
  expect(withLimit({}, time, "0")).toEqual({ max_time_s: 0 });
  for (const odd of ["-1", "much", "1e99", "9".repeat(40)]) expect(withLimit({}, steps, odd), odd).toBeTypeOf("string");
  expect(withLimit({}, steps, "2.5")).toMatch(/whole number/);
  expect([limitText({ max_time_s: 90 }, time), limitText({}, time), limitText({ max_cost_micros: 0 }, cost)]).toEqual([
    "1.5",
    "",
    "0",
  ]);
});

test("a tool that is switched leaves the others as they are, and all of them is no list", () => {
  const tools = [
    { name: "read", active: true },
    { name: "bash", active: false },
    { name: "edit", active: true },
  ];
  expect(withTool(tools, "edit", false)).toEqual(["read"]);
  expect(withTool(tools, "bash", true)).toBeUndefined();
});

test("a server that fails says its last words", () => {
  expect(serverWords({ id: "x", http: false, from_project: true, state: { failed: "no such\nfile" } })).toBe(
    "failed: no such ⏎ file · of this project",
  );
  expect(serverWords({ id: "x", http: true, from_project: false, state: "ready", tools: 1 })).toBe("ready · 1 tool");
});
