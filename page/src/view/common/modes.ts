// What the modes are called and when each asks: the words of the terminal (crates/tui/src/policy.rs).

import type { Policy } from "../../model/types";

/** The mode, its word, and when it asks, in a line that goes on from the word. */
export const MODES: readonly [Policy, string, string][] = [
  ["read_only", "read-only", ": it changes nothing"],
  ["plan", "plans first", ": it changes nothing before you agree to its plan"],
  ["ask", "asks first", ", before it changes anything"],
  ["auto_edit", "edits freely", " in this project, asks before anything else"],
  ["sandboxed", "runs in the sandbox", " of this project, asks before anything leaves it"],
  ["full", "asks only to leave the sandbox", ": use it where nothing can be lost"],
];

/** The word of a mode; one that is not known is called as it was told. */
export function modeWord(policy: Policy): string {
  return MODES.find(([name]) => name === policy)?.[1] ?? policy;
}
