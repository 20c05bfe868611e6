// Going back in the conversation: where the tip stands then, and whether files can go along. As
// `crates/tui/src/update/files.rs` has it.

import { openRun, textOf, turnsTo, type Entry, type State } from "../../model/state";
import type { Abilities } from "../../model/types";

/** What can be done about files: they may go along, they stay, or nothing ran on the way. */
export type Files = "choose" | "stay" | "none";

export interface LeafMove {
  leaf: number | undefined;
  files: Files;
  /** What the prompts in between did, by their turns. */
  back: number[];
  forth: number[];
  /** Why it cannot be done now. */
  why: string | undefined;
}

/** What moving the tip to `leaf` means. */
export function moveTo(state: State, can: Abilities, leaf: number | undefined): LeafMove {
  const { back, forth } = turnsTo(state, leaf);
  const turns = new Set([...back, ...forth]);
  const ran = [...state.tools.values()].some((tool) => {
    const message = state.entries.get(tool.message);
    return message?.kind === "message" && message.turn !== undefined && turns.has(message.turn);
  });
  const why =
    (can.go_back ?? can.branch) === false
      ? "This runtime cannot go back to an earlier message."
      : openRun(state)
        ? "Stop the run first."
        : leaf === undefined && (can.clear ?? can.sessions) === false
          ? "Nothing comes before this message: begin a new session."
          : undefined;
  return { leaf, back, forth, files: !ran ? "none" : can.undo === false ? "stay" : "choose", why };
}

/** The prompt that comes to the composer when one goes before it. */
export function promptOf(entry: Entry): string | undefined {
  return entry.kind === "message" && entry.role === "user" ? textOf(entry) : undefined;
}
