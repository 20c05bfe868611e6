// Who is to answer a new session, as it stands in one list: a model, or another program's agent.

import { expect, test } from "vitest";
import { answerer } from "./start";

test("an agent is begun by its name, a model by its own, and the usual one by none", () => {
  expect(answerer("")).toEqual({});
  expect(answerer("anthropic/claude-sonnet-4-5")).toEqual({ model: "anthropic/claude-sonnet-4-5" });
  expect(answerer("agent:goose")).toEqual({ agent: "goose" });
  expect(answerer("openai/agent:odd")).toEqual({ model: "openai/agent:odd" });
});
