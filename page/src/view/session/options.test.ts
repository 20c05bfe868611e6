import { expect, test } from "vitest";
import type { Abilities, AgentOption } from "../../model/types";
import { words } from "../testing";
import { AgentOptions, agentMode, grouped, modelId, modelName, setOption } from "./options";

const MODE: AgentOption = {
  id: "mode",
  name: "Mode",
  kind: "mode",
  value: "plan",
  choices: [
    { value: "auto", name: "Auto", about: "does it" },
    { value: "plan", name: "Plan", about: "only looks" },
  ],
};
const FAST: AgentOption = {
  id: "fast",
  name: "Fast mode",
  about: "answers sooner",
  kind: "other",
  value: "off",
  choices: [
    { value: "off", name: "Off" },
    { value: "on", name: "On" },
  ],
};
const MODEL: AgentOption = { id: "model", name: "Model", kind: "model", value: "m", choices: [] };

const agent = (...options: AgentOption[]): Abilities => ({
  name: "Codex 2",
  steer: false,
  follow_up: false,
  cancel: true,
  sessions: true,
  branch: false,
  models: true,
  servers: false,
  skills: false,
  consent: true,
  menu: { options },
});
const drawn = (can: Abilities, may = true): string => words(AgentOptions({ can, may, set: () => undefined }));

test("an agent's modes and options are offered in its own words, with what it says of the value", () => {
  const text = drawn(agent(MODEL, MODE, FAST));
  expect(text).toBe("Options of Codex 2ModeAutoPlanonly looksFast modeOffOnanswers sooner");
  expect(drawn(agent(MODEL))).toBe("");
  expect(drawn({ ...agent(), menu: undefined } as unknown as Abilities)).toBe("");
});

test("an option is set by its id and its value, as the terminal does it", () => {
  expect(setOption(MODE, "auto")).toEqual({ extension: { name: "option", payload: { id: "mode", value: "auto" } } });
});

test("who may only look reads what is set", () => {
  expect(drawn(agent(MODE), false)).toContain("ModePlan This device may not change anything.");
});

test("values stand under the headlines that the agent gives them, and what is unseen is shown", () => {
  const choices = [
    { value: "a", name: "A", group: "Fast" },
    { value: "b", name: "B", group: "Slow" },
    { value: "c", name: "C", group: "Fast" },
  ];
  expect(grouped(choices).map(([group, of]) => [group, of.map((one) => one.value).join("")])).toEqual([
    ["Fast", "ac"],
    ["Slow", "b"],
  ]);
  const odd = { ...MODE, name: "Mo\u202ede" };
  expect(drawn(agent(odd))).not.toContain("\u202e");
});

test("the mode that an agent is in is called as the agent calls it", () => {
  expect(agentMode(agent(MODE))).toBe("Plan");
  expect(agentMode(agent({ ...MODE, value: "secret" }))).toBe("secret");
  expect(agentMode(agent(FAST))).toBe(undefined);
});

test("a model is called as the agent calls it, and written without a provider that nobody told", () => {
  const named = { ...MODEL, choices: [{ value: "opus", name: "Opus 5" }] };
  const opus = { provider: "", name: "opus" };
  expect([modelId(opus), modelName(agent(named), opus), modelName(agent(), opus)]).toEqual(["opus", "Opus 5", "opus"]);
  expect(modelId({ provider: "north", name: "large" })).toBe("north/large");
});
