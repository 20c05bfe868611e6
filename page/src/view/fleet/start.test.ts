// Who is to answer a new session: Parlor with a model, or another program's agent.

import { expect, test } from "vitest";
import { answerer } from "./start";

test("an agent is begun by its name, a model by its own, and the usual one by none", () => {
  expect(answerer("", "")).toEqual({});
  expect(answerer("", "anthropic/claude-sonnet-4-5")).toEqual({ model: "anthropic/claude-sonnet-4-5" });
  expect(answerer("goose", "")).toEqual({ agent: "goose" });
  // It has a model of its own; the one that was chosen before is Parlor's.
  expect(answerer("goose", "anthropic/claude-sonnet-4-5")).toEqual({ agent: "goose" });
});
