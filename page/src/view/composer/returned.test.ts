import { expect, test } from "vitest";
import { together } from "./returned";

test("what came back stands below what is being written, in its order", () => {
  expect(together("", [{ text: "one" }, { text: "two" }])).toBe("one\ntwo");
  expect(together("half a thought \n", [{ text: "one" }])).toBe("half a thought\none");
  expect(together("half", [{ text: "" }])).toBe("half");
});
