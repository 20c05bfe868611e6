import { expect, test } from "vitest";
import { highlight } from "./highlight";

test("code of a language that is known is coloured, and nothing is lost of it", async () => {
  expect((await highlight("let x = 1;", "rust"))?.map((piece) => piece.text).join("")).toBe("let x = 1;");
  expect(await highlight("let x = 1;", "a language of nobody")).toBeUndefined();
});
