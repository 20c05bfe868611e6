import { expect, test } from "vitest";
import { mayAnswer } from "./rights";
import type { Answer } from "./types";

// The rows of `crates/domain/src/rights/tests.rs` that are answers.
const TABLE: [Answer, approver: boolean][] = [
  [{ allow: { scope: "once" } }, true],
  [{ allow: { scope: "session" } }, false],
  [{ allow: { scope: "always" } }, false],
  [{ deny: {} }, true],
  [{ deny: { reason: "not there" } }, true],
  [{ confirmed: true }, false],
  [{ confirmed: false }, true],
  [{ chosen: ["a"] }, false],
  [{ entered: "a key" }, false],
  ["dismissed", true],
];

test("every answer is offered to the roles that it is for and to no other", () => {
  for (const [answer, approver] of TABLE) {
    expect((["controller", "approver", "observer"] as const).map((role) => mayAnswer(role, answer)), JSON.stringify(answer)).toEqual([true, approver, false]);
  }
});
