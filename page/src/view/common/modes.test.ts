// The modes are called on the page as they are in the terminal.

import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { modeWord, MODES } from "./modes";

test("a mode is told in the words of the terminal", () => {
  const terminal = readFileSync(new URL("../../../../crates/tui/src/policy.rs", import.meta.url), "utf8");
  for (const [name, word, when] of MODES) {
    const variant = name.replace(/(^|_)(.)/g, (_, _between, letter: string) => letter.toUpperCase());
    expect(terminal).toContain(`Policy::${variant} => "${word}${when}"`);
    expect(terminal).toContain(`Policy::${variant} => ("${word}"`);
    expect(modeWord(name)).toBe(word);
  }
  expect(terminal.match(/Policy::\w+ => "/g)?.length).toBeGreaterThanOrEqual(MODES.length);
});
