// What a tool was called with, in words: never as it was written for machines.

import { toolOutcome, type Retry, type ToolRun } from "../../model/state";
import { counted } from "../common/format";
import { oneLine } from "../text/unseen";

const TELLING = [
  "command",
  "cmd",
  "path",
  "file_path",
  "file",
  "pattern",
  "query",
  "url",
  "question",
  "title",
  "name",
  "message",
];
const PLANS = ["items", "todos", "plan", "tasks", "steps"];
const DONE = ["done", "completed", "cancelled"];
const PATCHED = /^\*\*\* (?:Update|Add|Delete) File: (.+)$/gm;

/** Verbs of our own tools: what is wanted, under way, done. */
const VERBS: Record<string, [string, string, string]> = {
  read: ["Read", "Reading", "Read"],
  write: ["Write", "Writing", "Wrote"],
  edit: ["Edit", "Editing", "Edited"],
  bash: ["Run", "Running", "Ran"],
  grep: ["Search", "Searching", "Searched"],
  find: ["Look for", "Looking for", "Looked for"],
  ls: ["List", "Listing", "Listed"],
  fetch: ["Fetch", "Fetching", "Fetched"],
  todo: ["Plan", "Planning", "Planned"],
  ask: ["Ask", "Asking", "Asked"],
  task: ["Ask a sub-agent:", "A sub-agent works:", "A sub-agent worked:"],
  recall: ["Read again", "Reading again", "Read again"],
  skill: ["Read skill", "Reading skill", "Read skill"],
  bash_jobs: ["Look at jobs", "Looking at jobs", "Looked at jobs"],
};

/** How far a call came: what was only wanted is not told as if it had happened. */
export type Came = "wanted" | "running" | "happened";

export function came(tool: ToolRun): Came {
  const outcome = toolOutcome(tool);
  if (outcome === undefined) return tool.phase === "running" ? "running" : "wanted";
  // A command that was begun ran, however it ended; a file that failed to be written was not written.
  const began = tool.name === "bash" && tool.startedAt !== undefined && outcome !== "denied" && outcome !== "skipped";
  return outcome === "done" || began ? "happened" : "wanted";
}

export function verb(name: string, far: Came): string {
  const known = VERBS[name];
  if (known) return known[{ wanted: 0, running: 1, happened: 2 }[far] as 0 | 1 | 2];
  const server = /^mcp__(.+?)__(.+)$/.exec(name);
  return server ? `${server[2]} (${server[1]})` : name;
}

/** The retry that is waited for; in how many seconds it comes, until it is there. */
export function retryWords({ attempt, max, delayMs, reason, at }: Retry, now: number): string {
  const left = Math.ceil(Math.min(delayMs, at + delayMs - now) / 1000);
  return `Trying again${left > 0 ? ` in ${left} s` : ""} (${attempt} of ${max}): ${oneLine(reason)}`;
}

/** What the arguments are about, in a line. */
export function summary(args: string): string {
  let value: unknown;
  try {
    value = JSON.parse(args);
  } catch {
    return oneLine(args);
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) return word(value);
  const fields = value as Record<string, unknown>;
  const steps = plan(fields) ?? task(fields);
  if (steps) return steps;
  const names = Object.keys(fields);
  const telling = TELLING.map((name) => fields[name]).find((found) => typeof found === "string");
  const only = names.length === 1 ? fields[names[0] ?? ""] : undefined;
  const text = telling ?? (typeof only === "string" ? only : undefined);
  if (typeof text === "string") {
    if (!text.trimStart().startsWith("*** Begin Patch")) return oneLine(text);
    const files = [...text.matchAll(PATCHED)].map((match) => oneLine(match[1] ?? ""));
    return files.length > 0 ? files.join(", ") : "a patch";
  }
  return names
    .sort()
    .map((name) => `${oneLine(name)}: ${word(fields[name]).slice(0, 40)}`)
    .join(", ");
}

/** What a sub-agent is to do: who, and a few words for the person or else all that it was told. */
function task(fields: Record<string, unknown>): string | undefined {
  const said = (names: string[]): unknown => names.map((name) => fields[name]).find((text) => typeof text === "string");
  const agent = said(["agent", "subagent_type", "subagent", "agent_type"]);
  const about = said(["title", "description", "prompt", "task", "message", "instructions"]);
  return typeof agent === "string" && typeof about === "string" ? `${oneLine(agent)}: ${oneLine(about)}` : undefined;
}

function plan(fields: Record<string, unknown>): string | undefined {
  const steps = PLANS.map((name) => fields[name]).find((list) => Array.isArray(list)) as unknown[] | undefined;
  if (!steps) return undefined;
  const states = steps.map((step) => {
    const fields = step as { state?: unknown; status?: unknown } | null;
    return fields?.state ?? fields?.status;
  });
  if (!states.every((state) => typeof state === "string")) return undefined;
  return `${counted(steps.length, "step")}, ${states.filter((state) => DONE.includes(state as string)).length} done`;
}

function word(value: unknown): string {
  if (value === null || value === undefined) return "";
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (typeof value === "number") return String(value);
  if (typeof value === "string") return oneLine(value);
  if (Array.isArray(value)) {
    return value.every((inner) => typeof inner === "string" || typeof inner === "number")
      ? value.map(word).join(", ")
      : counted(value.length, "entry", "entries");
  }
  return counted(Object.keys(value).length, "field");
}

/** A name of a file that the arguments hold. */
export function pathIn(args: string): string | undefined {
  try {
    const fields = JSON.parse(args) as Record<string, unknown> | null;
    const found = ["path", "file_path", "file"]
      .map((name) => fields?.[name])
      .find((value) => typeof value === "string");
    return found as string | undefined;
  } catch {
    return undefined;
  }
}
