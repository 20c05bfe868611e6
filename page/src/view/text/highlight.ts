// Colours of code, as a tree of highlight.js, made while the browser has nothing else to do.

import { hljs } from "./languages";

/** A piece of code with the class it gets. */
export interface Scoped {
  text: string;
  scope: string;
}

/** More lines than this stay without colour. */
export const MAX_LINES = 2000;
/** Longest piece that is looked at without letting the browser breathe. */
export const MAX_PIECE = 20 * 1024;

const NAMES: Record<string, string> = {
  rs: "rust",
  js: "javascript",
  mjs: "javascript",
  cjs: "javascript",
  jsx: "javascript",
  ts: "typescript",
  tsx: "typescript",
  mts: "typescript",
  py: "python",
  sh: "bash",
  shell: "bash",
  zsh: "bash",
  console: "bash",
  yml: "yaml",
  toml: "ini",
  conf: "ini",
  html: "xml",
  htm: "xml",
  svg: "xml",
  h: "c",
  cc: "cpp",
  hpp: "cpp",
  "c++": "cpp",
  md: "markdown",
  patch: "diff",
  golang: "go",
  jsonc: "json",
};

/** The language by the word after a fence, or by a file's ending. */
export function languageOf(word: string | undefined): string | undefined {
  const name =
    (word ?? "")
      .trim()
      .split(/[\s,{]/)[0]
      ?.toLowerCase() ?? "";
  return name === "" ? undefined : (NAMES[name] ?? name);
}

export function languageOfPath(path: string): string | undefined {
  const name = path.split("/").at(-1) ?? "";
  const dot = name.lastIndexOf(".");
  return dot > 0 ? languageOf(name.slice(dot + 1)) : undefined;
}

interface Node {
  scope?: string;
  children?: (string | Node)[];
}

/** Colours `code`; nothing when the language is not known, or there is too much of it. */
export async function highlight(code: string, language: string | undefined): Promise<Scoped[] | undefined> {
  const name = languageOf(language);
  if (name === undefined || tooMany(code) || !hljs.getLanguage(name)) return undefined;
  const found: Scoped[] = [];
  for (const piece of slices(code)) {
    await turn();
    const result = hljs.highlight(piece, { language: name, ignoreIllegals: true }) as unknown as {
      _emitter?: { rootNode?: Node };
    };
    const root = result._emitter?.rootNode;
    // The tree is private to the library: without it the code stays plain, which a test of ours would tell.
    if (!root) return undefined;
    flatten(root, "", found);
  }
  return found;
}

export function tooMany(code: string): boolean {
  let lines = 1;
  for (let at = code.indexOf("\n"); at >= 0; at = code.indexOf("\n", at + 1)) {
    lines += 1;
    if (lines > MAX_LINES) return true;
  }
  return false;
}

/** Cuts at an empty line where the code begins again in the first column, so that strings and comments stay whole. */
export function slices(code: string): string[] {
  const found: string[] = [];
  let rest = code;
  while (rest.length > MAX_PIECE) {
    const at = rest.slice(0, MAX_PIECE).search(/\n\n(?=\S)(?![\s\S]*\n\n\S)/);
    const line = rest.lastIndexOf("\n", MAX_PIECE);
    const cut = at > 0 ? at + 2 : line > 0 ? line + 1 : MAX_PIECE;
    found.push(rest.slice(0, cut));
    rest = rest.slice(cut);
  }
  found.push(rest);
  return found;
}

function flatten(node: Node, scope: string, into: Scoped[]): void {
  for (const child of node.children ?? []) {
    if (typeof child !== "string") flatten(child, child.scope ?? scope, into);
    else {
      const last = into.at(-1);
      if (last && last.scope === scope) last.text += child;
      else into.push({ text: child, scope });
    }
  }
}

/** Pieces that wait to be coloured. The newest is the first: it is what the reader looks at. */
const waiting: Array<() => void> = [];
let asked = false;
/** Of the time that the browser has left, so much is left to it. */
const SPARE_MS = 4;

/** Waits until the browser has nothing else to do. One piece after the other, so that many of them hold nothing up. */
function turn(): Promise<void> {
  return new Promise((done) => {
    waiting.push(done);
    ask();
  });
}

function ask(): void {
  if (asked || waiting.length === 0) return;
  asked = true;
  if (typeof requestIdleCallback === "function") requestIdleCallback(next, { timeout: 500 });
  else setTimeout(next, 0);
}

function next(deadline?: IdleDeadline): void {
  asked = false;
  waiting.pop()?.();
  // What it does comes after this: then it is seen how much time is left.
  if (deadline && deadline.timeRemaining() > SPARE_MS)
    queueMicrotask(() => queueMicrotask(() => (deadline.timeRemaining() > SPARE_MS ? next(deadline) : ask())));
  else ask();
}

const CLASSES: Record<string, string> = {
  keyword: "k",
  literal: "k",
  built_in: "k",
  "meta.keyword": "k",
  selector: "k",
  "selector-tag": "k",
  tag: "k",
  name: "k",
  section: "k",
  string: "s",
  regexp: "s",
  char: "s",
  "char.escape": "s",
  addition: "s",
  "meta.string": "s",
  link: "s",
  code: "s",
  number: "n",
  symbol: "n",
  bullet: "n",
  variable: "n",
  "template-variable": "n",
  attr: "n",
  title: "f",
  "title.function": "f",
  "title.function.invoke": "f",
  function: "f",
  type: "t",
  "title.class": "t",
  "title.class.inherited": "t",
  class: "t",
  attribute: "t",
  params: "",
  property: "t",
  comment: "c",
  quote: "c",
  doctag: "c",
  meta: "c",
  deletion: "d",
};

/** Our class for a scope of the library. */
export function classOf(scope: string): string {
  const known = CLASSES[scope] ?? CLASSES[scope.split(".")[0] ?? ""] ?? "";
  return known === "" ? "" : `hl-${known}`;
}
