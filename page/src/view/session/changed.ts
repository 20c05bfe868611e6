// The files that a session has changed, with how many lines, and the tool run that changed each last.

import { toolOutcome, type State, type ToolRun } from "../../model/state";
import { parse } from "../diff/parse";
import { pathIn } from "./words";

export interface Changed {
  path: string;
  added: number;
  removed: number;
  /** Whether a diff told how many lines. */
  counted: boolean;
  tool: number;
}

/** Read once for each tool run, not with each word that arrives. */
const known = new WeakMap<ToolRun, Changed | undefined>();

function ofTool(tool: ToolRun): Changed | undefined {
  if (known.has(tool)) return known.get(tool);
  const path = pathIn(tool.args);
  const files = (tool.result?.parts ?? []).flatMap((part) =>
    "diff" in part ? parse(part.diff.text, part.diff.path) : [],
  );
  const sum = (which: "added" | "removed"): number => files.reduce((all, file) => all + file[which], 0);
  const found =
    path === undefined
      ? undefined
      : { path, added: sum("added"), removed: sum("removed"), counted: files.length > 0, tool: tool.id };
  known.set(tool, found);
  return found;
}

/** In the order in which they were changed last. */
export function changed(state: State): Changed[] {
  const all = new Map<string, Changed>();
  for (const tool of state.tools.values()) {
    if ((tool.name !== "edit" && tool.name !== "write") || toolOutcome(tool) !== "done") continue;
    const one = ofTool(tool);
    if (!one) continue;
    const before = all.get(one.path);
    all.delete(one.path);
    all.set(one.path, {
      ...one,
      added: one.added + (before?.added ?? 0),
      removed: one.removed + (before?.removed ?? 0),
      counted: one.counted && (before?.counted ?? true),
    });
  }
  return [...all.values()];
}
