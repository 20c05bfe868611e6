// The slash commands of the page: each is offered only where the runtime can do it. A line is read as the terminal
// reads it (`crates/tui/src/commands.rs`): a name that nobody knows is refused, a path and more than one line are a
// prompt.

import type { Abilities, Command } from "../../model/types";
import type { DeviceRole } from "../ports";
import { best } from "./complete";

export type Screen = "settings" | "tree" | "changes" | "timeline" | "log" | "keys" | "search" | "print" | "export";

/** Whether a device may open it: what files and logs hold is told to those who may change things, and refused to others. */
export function mayShow(screen: Screen, role: DeviceRole): boolean {
  return (screen !== "changes" && screen !== "log") || role === "controller";
}

export type Does =
  /** With `leaves`, what stands behind it stays in the field, to be said next. */
  | { is: "send"; command: (rest: string) => Command; needs?: string; leaves?: true }
  | { is: "show"; screen: Screen }
  /** Another place of the page. */
  | { is: "go"; hash: string };

export interface Slash {
  name: string;
  words: string;
  does: Does;
  can?: (abilities: Abilities) => boolean;
}

const send = (command: (rest: string) => Command, needs?: string): Does => ({
  is: "send",
  command,
  ...(needs ? { needs } : {}),
});
const show = (screen: Screen): Does => ({ is: "show", screen });
const go = (hash: string): Does => ({ is: "go", hash });

export const SLASH: Slash[] = [
  { name: "model", words: "choose a model", does: show("settings"), can: (can) => can.set_model ?? can.models },
  { name: "new", words: "begin a new session", does: go("#/new"), can: (can) => can.new_session ?? can.sessions },
  { name: "fleet", words: "all your sessions: who waits for you first", does: go("#/") },
  {
    name: "settings",
    words: "model, effort, mode, limits, queue, tools, servers, skills, rules",
    does: show("settings"),
  },
  {
    name: "compact",
    words: "put a summary in the place of older messages",
    does: send((rest) => ({ compact: rest ? { instruction: rest } : {} })),
    can: (can) => can.compact !== false,
  },
  {
    name: "plan",
    words: "look and write a plan; begin when you agree",
    does: { is: "send", command: () => ({ set_policy: { policy: "plan" } }), leaves: true },
    can: (can) => can.policy !== false,
  },
  { name: "diff", words: "what changed in files", does: show("changes"), can: (can) => can.undo !== false },
  {
    name: "undo",
    words: "undo what the last prompt did to files",
    does: send(() => ({ undo_files: { leave: false } })),
    can: (can) => can.undo !== false,
  },
  {
    name: "redo",
    words: "redo what was undone last",
    does: send(() => ({ redo_files: { leave: false } })),
    can: (can) => can.undo !== false,
  },
  { name: "tree", words: "branches of this conversation", does: show("tree") },
  { name: "timeline", words: "what took how long", does: show("timeline") },
  { name: "log", words: "what the agent's program said beside its answers", does: show("log") },
  {
    name: "rename",
    words: "give the session a title",
    does: send((title) => ({ rename_session: { title } }), "a title"),
    can: (can) => can.rename_session !== false,
  },
  {
    name: "clear",
    words: "start over on an empty branch",
    does: send(() => "clear_session"),
    can: (can) => can.clear !== false,
  },
  {
    name: "run",
    words: "run a command line of your own",
    does: send((line) => ({ run_line: { line } }), "a command line"),
  },
  { name: "stop", words: "stop the run", does: send(() => ({ cancel: {} })), can: (can) => can.cancel },
  { name: "find", words: "look for words in this conversation", does: show("search") },
  { name: "print", words: "print this conversation", does: show("print") },
  { name: "export", words: "save this conversation as a Markdown file", does: show("export") },
  { name: "keys", words: "all keys", does: show("keys") },
];

export function offered(abilities: Abilities): Slash[] {
  return SLASH.filter((slash) => slash.can?.(abilities) ?? true);
}

/** What is listed behind a slash: our commands, then those that the agent announced, under its name. */
export function listed(abilities: Abilities): { name: string; written: string; words: string }[] {
  const ours = offered(abilities).map((slash) => ({ name: slash.name, written: `/${slash.name}`, words: slash.words }));
  const theirs = (abilities.menu?.commands ?? []).map(({ name, about }) => ({
    name,
    written: `${isOurs(name, abilities) ? "//" : "/"}${name}`,
    words: `${abilities.name}: ${about}`,
  }));
  return [...ours, ...theirs];
}

/** What is said: a command of the agent's own that is written with a second slash goes to it with one. */
export function saidToAgent(text: string, abilities: Abilities): string {
  const [, name] = /^\/\/(\S+)/.exec(text) ?? [];
  return abilities.menu?.commands?.some((one) => one.name === name) ? text.slice(1) : text;
}

function isOurs(name: string, abilities: Abilities): boolean {
  const meant = MEANT[name] ?? name;
  return offered(abilities).some((slash) => slash.name === meant);
}

/** What the terminal calls otherwise, or where it is done here. */
const MEANT: Record<string, string> = {
  abort: "stop",
  budget: "settings",
  effort: "settings",
  help: "keys",
  mcp: "settings",
  mode: "settings",
  policy: "settings",
  reset: "clear",
  rules: "settings",
  sessions: "fleet",
  skills: "settings",
  tools: "settings",
  trace: "timeline",
};

/** What the terminal has and a page has not, and what does it instead. */
const ELSEWHERE: Record<string, string> = {
  agents: "run `parlor agents` in a terminal",
  branch: "/tree begins a branch at any message",
  devices: "a notice asks about a browser that wants to join; `parlor devices` lists them",
  context: "the column at the right has it, ] opens it",
  copy: "select the words, or use the button of a block of code",
  edit: "the field grows with what you write",
  extension: "a terminal can run it",
  fold: "a click opens and folds a line",
  history: "↑ in the empty field brings earlier prompts",
  login: "run `parlor login` in a terminal, then begin a new session",
  logout: "run `parlor logout` in a terminal",
  mouse: "the browser has it",
  notices: "they are in the conversation",
  options: "the agent of this session is set in a terminal",
  ping: "the line under the header says when Parlor does not answer",
  ports: "each is below the composer, with a button that opens it",
  queue: "what waits is above the field",
  quit: "close the tab: the session goes on",
  restart: "`parlor down` and `parlor up` start it again",
  save: "a terminal can do it",
  search: "Go to… searches all sessions",
  status: "the column at the right has it, ] opens it",
  theme: "the button below the list of sessions switches the colours",
};

export type Reading =
  | { is: "command"; slash: Slash; rest: string }
  /** No command of this page; what to do instead. */
  | { is: "refused"; words: string };

/** A line that begins with a slash; nothing when it is a prompt. */
export function read(text: string, abilities: Abilities): Reading | undefined {
  const line = text.trim();
  const [, name = "", rest = ""] = /^\/(\S*)\s*(.*)$/.exec(line) ?? [];
  if (!line.startsWith("/") || name.includes("/") || line.includes("\n")) return undefined;
  const meant = MEANT[name] ?? name;
  const slash = offered(abilities).find((one) => one.name === meant);
  if (slash) return { is: "command", slash, rest: rest.trim() };
  // What the agent announced is said to it.
  if (abilities.menu?.commands?.some((one) => one.name === name)) return undefined;
  if (SLASH.some((one) => one.name === meant)) return { is: "refused", words: `This runtime cannot do /${name}.` };
  const elsewhere = ELSEWHERE[name];
  if (elsewhere) return { is: "refused", words: `/${name} is a command of the terminal. Here: ${elsewhere}.` };
  const near = nearest(name, [...offered(abilities).map((one) => one.name), ...Object.keys(MEANT)]);
  return {
    is: "refused",
    words: `There is no command /${name}: ${near ? `did you mean /${near}?` : "type / alone to see them."} With two slashes, //${name}, it is said as it is.`,
  };
}

/** The name that was meant: letters of it in order, or one slip away. */
function nearest(name: string, names: string[]): string | undefined {
  if (name === "") return undefined;
  const letters = (word: string): string => [...word].sort().join("");
  return (
    best(name, names, (one) => one, 1)[0] ??
    names.find((one) => letters(one) === letters(name)) ??
    names.find((one) => oneSlip(name, one))
  );
}

/** Whether one letter is another, too much or missing. */
function oneSlip(a: string, b: string): boolean {
  if (Math.abs(a.length - b.length) > 1 || Math.max(a.length, b.length) < 4) return false;
  let same = 0;
  while (same < a.length && a[same] === b[same]) same += 1;
  const rest = (from: string, skipped: number): string => from.slice(same + skipped);
  return rest(a, 1) === rest(b, 1) || rest(a, 0) === rest(b, 1) || rest(a, 1) === rest(b, 0);
}
