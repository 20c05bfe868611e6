import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { mayAnswer } from "./rights";
import type { Answer, Command, Standing } from "./types";

// The table of every command, by which the hub and the relay are tested too.
const TABLE = readFileSync(new URL("../../../wires/native/src/rights.jsonl", import.meta.url), "utf8")
  .trim()
  .split("\n")
  .map((row) => JSON.parse(row) as { least: Standing; what: Command });
const answers = TABLE.flatMap(({ least, what }): [Answer, Standing][] =>
  typeof what === "object" && "answer" in what ? [[what.answer.answer, least]] : [],
);

test("every answer is offered to the roles that it is for and to no other", () => {
  expect(answers.length).toBeGreaterThan(8);
  for (const [answer, least] of answers) {
    const offered = (["controller", "approver", "observer"] as const).map((role) => mayAnswer(role, answer));
    expect(offered, JSON.stringify(answer)).toEqual([true, least !== "controller", least === "observer"]);
  }
});
