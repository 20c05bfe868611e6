// Files that a session has met, each with how it is known: what is named most often stands among them.

import type { State, ToolRun } from "../../model/state";
import { pathIn } from "../session/words";

export type How = "changed" | "read" | "listed" | "named" | "in the folder";

export interface KnownFile {
  /** As it is written in the session's folder, or whole where it lies elsewhere. */
  path: string;
  how: How;
}

/** The most telling first. */
const RANK: How[] = ["changed", "read", "named", "listed", "in the folder"];
/** Most files, and most lines of one listing that are looked at. */
const MOST = 4000;
const MOST_LINES = 1000;
const MENTION = /(?:^|\s)@([^\s@]+)/g;
const CHANGES = new Set(["edit", "write", "apply_patch"]);
const PATCHED = /^\*\*\* (?:Update|Add) File: (.+)$/gm;

/** The newest first. */
export function knownFiles(state: State): KnownFile[] {
  const found = new Map<string, How>();
  const add = (path: string | undefined, how: How): void => {
    const name = path === undefined ? "" : inside(path.trim(), state.settings.cwd);
    if (name === "" || name.endsWith("/") || found.size >= MOST) return;
    const before = found.get(name);
    if (before === undefined || RANK.indexOf(how) < RANK.indexOf(before)) found.set(name, how);
  };
  for (const tool of [...state.tools.values()].reverse()) ofTool(tool, add);
  for (const entry of [...state.entries.values()].reverse()) {
    if (entry.kind !== "message" || entry.role !== "user") continue;
    for (const part of entry.parts) {
      if ("text" in part)
        for (const match of part.text.matchAll(MENTION)) add(match[1]?.replace(/[.,;:!?)]+$/, ""), "named");
      else if ("code" in part) add(part.code.path, "named");
    }
  }
  return [...found].map(([path, how]) => ({ path, how }));
}

function ofTool(tool: ToolRun, add: (path: string | undefined, how: How) => void): void {
  const done = typeof tool.phase === "object" && "ended" in tool.phase && tool.phase.ended === "done";
  for (const part of tool.result?.parts ?? []) if ("diff" in part) add(part.diff.path, "changed");
  const path = pathIn(tool.args);
  if (CHANGES.has(tool.name)) {
    if (done) add(path, "changed");
    if (done && tool.name === "apply_patch")
      for (const match of String(asText(tool.args)).matchAll(PATCHED)) add(match[1], "changed");
    return;
  }
  if (!done) return;
  const lines = (tool.result?.text ?? "").split("\n", MOST_LINES);
  if (tool.name === "read") add(path, "read");
  else if (tool.name === "find") for (const line of lines) add(plainPath(line), "listed");
  else if (tool.name === "grep")
    for (const line of lines) add(plainPath(/^([^\s:]+)[:-]\d+[:-]/.exec(line)?.[1] ?? ""), "listed");
  else if (tool.name === "ls") for (const line of lines) add(under(path, plainPath(line)), "listed");
}

function asText(args: string): unknown {
  try {
    return (
      (JSON.parse(args) as { input?: unknown; patch?: unknown } | null)?.input ??
      (JSON.parse(args) as { patch?: unknown } | null)?.patch ??
      ""
    );
  } catch {
    return "";
  }
}

/** A line that is a path; remarks stand in brackets. */
function plainPath(line: string): string | undefined {
  const path = line.trim().replace(/@$/, "");
  return path === "" || path.startsWith("(") || path === "--" ? undefined : path;
}

function under(folder: string | undefined, name: string | undefined): string | undefined {
  if (name === undefined) return undefined;
  const above = (folder ?? "").replace(/^\.\/?/, "").replace(/\/+$/, "");
  return above === "" || name.startsWith("/") ? name : `${above}/${name}`;
}

function inside(path: string, cwd: string): string {
  const plain = path.replace(/^\.\//, "");
  return cwd !== "" && plain.startsWith(`${cwd}/`) ? plain.slice(cwd.length + 1) : plain;
}
