// Lines to values and back. The JSON inside of a payload (a tool's arguments, a result's structured form) is kept as it
// was written: the state's hash is over its text, and reading and printing it again would lose spaces, the order of odd
// keys and large numbers.

import type { FromRuntime, FromUi } from "./types";

/** Members of events that are JSON of others. Wherever else these words are keys is told in `plainBoard`. */
const PAYLOADS = /"(?:args|json)"\s*:/g;
/**
 * Counts that a float does not hold: they are summed up and hashed, so every digit matters. In a string the quotes
 * would be escaped.
 */
const LARGE = /"(input|output|cache_read|cache_write|cost_micros)"\s*:\s*(\d{16,})/g;
const SUMMED = new Set(["input", "output", "cache_read", "cache_write", "cost_micros"]);
const LARGE_AS_TEXT = /^#(\d+)$/;
/** Lines with events in them. */
const EVENTFUL = /^\s*\{\s*"(?:event|replay|attached|attached_begin)"/;

export type Line<T> = { line: T } | { unreadable: string };

/** Reads a line; what cannot be read is told. */
export function read(text: string): Line<FromRuntime> {
  try {
    const line: unknown = EVENTFUL.test(text) ? counted(kept(text)) : JSON.parse(text);
    if (typeof line !== "object" || line === null) return { unreadable: "a line that is no object" };
    plainBoard(line);
    return { line: line as FromRuntime };
  } catch (error) {
    return { unreadable: String(error) };
  }
}

/** Reads JSON with large counts as what they are. */
function counted(text: string): unknown {
  const marked = text.replace(LARGE, '"$1":"#$2"');
  if (marked === text) return JSON.parse(text);
  return JSON.parse(marked, (key, value: unknown) => {
    const digits = typeof value === "string" && SUMMED.has(key) ? LARGE_AS_TEXT.exec(value)?.[1] : undefined;
    return digits === undefined ? value : BigInt(digits);
  });
}

export function written(line: FromUi): string {
  return JSON.stringify(line);
}

/**
 * The same text with every payload as a string of its own text. A quote inside of a string is always escaped, so a key
 * is found by it.
 */
export function kept(text: string): string {
  let out = "";
  let from = 0;
  PAYLOADS.lastIndex = 0;
  for (let found = PAYLOADS.exec(text); found; found = PAYLOADS.exec(text)) {
    // An escaped quote: this stands inside of a string.
    if (text[found.index - 1] === "\\") continue;
    let begin = PAYLOADS.lastIndex;
    while (isSpace(text.charCodeAt(begin))) begin += 1;
    const end = valueEnd(text, begin);
    out += text.slice(from, begin) + JSON.stringify(unescaped(text.slice(begin, end)));
    from = end;
    PAYLOADS.lastIndex = end;
  }
  return from === 0 ? text : out + text.slice(from);
}

/** What would have broken its line stands in `{"$verbatim": "…"}`. */
function unescaped(json: string): string {
  if (!json.startsWith("{") || !json.includes("$verbatim")) return json;
  const text = (JSON.parse(json) as Record<string, unknown>).$verbatim;
  if (typeof text !== "string") return json;
  try {
    JSON.parse(text);
    return text;
  } catch {
    return JSON.stringify(text);
  }
}

function isSpace(code: number): boolean {
  return code === 32 || code === 9 || code === 10 || code === 13;
}

/** Where the value that begins here ends. */
function valueEnd(text: string, begin: number): number {
  const first = text[begin];
  if (first === '"') return stringEnd(text, begin);
  if (first !== "{" && first !== "[") {
    let at = begin;
    while (at < text.length && !",}]".includes(text[at] as string) && !isSpace(text.charCodeAt(at))) at += 1;
    return at;
  }
  let depth = 0;
  for (let at = begin; at < text.length; at += 1) {
    const c = text[at];
    if (c === '"') at = stringEnd(text, at) - 1;
    else if (c === "{" || c === "[") depth += 1;
    else if ((c === "}" || c === "]") && --depth === 0) return at + 1;
  }
  return text.length;
}

function stringEnd(text: string, begin: number): number {
  for (let at = text.indexOf('"', begin + 1); at >= 0; at = text.indexOf('"', at + 1)) {
    let slashes = 0;
    while (text[at - 1 - slashes] === "\\") slashes += 1;
    if (slashes % 2 === 0) return at + 1;
  }
  return text.length;
}

/** Fields of the status line have names of their own, which may be those of payloads: they are no payloads. */
function plainBoard(line: object): void {
  const attached =
    (line as { attached?: unknown; attached_begin?: unknown }).attached ??
    (line as { attached_begin?: unknown }).attached_begin;
  const board = (
    attached as { board?: { status?: Record<string, unknown>; widgets?: Record<string, unknown> } } | undefined
  )?.board;
  for (const fields of [board?.status, board?.widgets]) {
    for (const key of ["args", "json"]) {
      const value = fields?.[key];
      if (fields && typeof value === "string") fields[key] = JSON.parse(value);
    }
  }
}
