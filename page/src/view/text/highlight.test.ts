import { expect, test } from "vitest";
import { highlight } from "./highlight";

test("code stays plain while its colours cannot be had, and is coloured once they can", async () => {
  expect(await highlight("let x = 1;", "rust", () => Promise.reject(new Error("404")))).toBeUndefined();
  expect((await highlight("let x = 1;", "rust"))?.map((piece) => piece.text).join("")).toBe("let x = 1;");
});
