import { expect, test } from "vitest";
import { session } from "../../../tests/demo/world";
import { markdown } from "./export";
import { search } from "./find";
import { rows } from "./rows";

test("a conversation is exported whole, and no fence ends too early", () => {
  const text = markdown("Fix the bridge", rows(session()));
  for (const part of [
    "# Fix the bridge",
    "## You\n\nThe bridge test hangs",
    "> The reader waits.",
    "**Edited** crates/link/src/bridge.rs\n\n```diff\n--- a/crates",
  ])
    expect(text).toContain(part);
  const state = session();
  const tool = state.tools.get(7);
  if (tool) (state.tools as Map<number, unknown>).set(7, { ...tool, result: { text: "```\nx\n```" } });
  expect(markdown("x", rows(state))).toContain("````\n```\nx\n```\n````");
});

test("hits are counted as hits, in all that a session holds", () => {
  const all = rows(session());
  expect(search(all, "x")).toEqual([]);
  expect(search(all, "outgoing.close").map((hit) => Boolean(hit.diff))).toEqual([false, true]);
  expect(search(all, "THE READER").length).toBe(3);
  expect(search(all, "İ!")).toEqual([]);
});
