import { expect, test } from "vitest";
import { apply } from "../../model/fold";
import { emptyState, type State } from "../../model/state";
import type { Body } from "../../model/types";
import { knownFiles } from "./files";
import { withMention } from "./mention";

function session(tools: [string, object, string][], prompt = ""): State {
  const state = emptyState();
  const bodies: unknown[] = [
    { session_opened: { cwd: "/w", project: "/w" } },
    { run_started: { run: 1 } },
    { turn_started: { run: 1, turn: 2, cause: "prompt" } },
    { message_started: { message: 3, role: "user", turn: 2 } },
    { part_added: { message: 3, part: { text: prompt } } },
    { message_ended: { message: 3, finish: "complete" } },
    { step_started: { turn: 2, step: 4 } },
    { message_started: { message: 5, parent: 3, role: "assistant", turn: 2, step: 4 } },
  ];
  tools.forEach(([name, args, text], at) => {
    const tool = 10 + at;
    bodies.push(
      { tool_proposed: { tool, message: 5, name, args: JSON.stringify(args) } },
      { tool_started: { tool } },
      { tool_ended: { tool, outcome: "done", result: { text } } },
    );
  });
  for (const body of bodies) expect(apply(state, 1, body as Body), JSON.stringify(body)).toBeUndefined();
  return state;
}

test("files that the session has met are known, with how, the newest first", () => {
  const state = session(
    [
      ["ls", { path: "src" }, "deep/\nmain.rs\nlink@\n(more than 500 entries: list a subdirectory)"],
      ["find", { pattern: "*.md" }, "README.md\ndocs/web.md"],
      ["grep", { pattern: "x" }, "src/lib.rs:12:let x\nsrc/lib.rs-13-let y\n--\n"],
      ["read", { path: "/w/src/main.rs" }, "1\tfn main"],
      ["edit", { path: "./Cargo.toml" }, "edited"],
      ["bash", { command: "cat /etc/passwd" }, "root:x"],
      ["read", { path: "/etc/hosts" }, "…"],
    ],
    "look at @notes/todo.txt, please. a@b.example is mail",
  );
  expect(knownFiles(state)).toEqual([
    { path: "/etc/hosts", how: "read" },
    { path: "Cargo.toml", how: "changed" },
    { path: "src/main.rs", how: "read" },
    { path: "src/lib.rs", how: "listed" },
    { path: "README.md", how: "listed" },
    { path: "docs/web.md", how: "listed" },
    { path: "src/link", how: "listed" },
    { path: "notes/todo.txt", how: "named" },
  ]);
});

test("a file that was changed is called so, whatever came later", () => {
  expect(
    knownFiles(
      session([
        ["write", { path: "a" }, "ok"],
        ["read", { path: "a" }, "x"],
      ]),
    ),
  ).toEqual([{ path: "a", how: "changed" }]);
  expect(
    knownFiles(
      session([["apply_patch", { input: "*** Begin Patch\n*** Update File: a.rs\n*** Delete File: b.rs\n" }, "ok"]]),
    ),
  ).toEqual([{ path: "a.rs", how: "changed" }]);
});

test("a chosen file is named at the cursor, with room around it", () => {
  expect(withMention("", 0, "a.rs")).toEqual({ text: "@a.rs ", cursor: 6 });
  expect(withMention("see and go", 3, "a.rs")).toEqual({ text: "see @a.rs and go", cursor: 10 });
});
