// Mends the end of a Markdown text that is still being written, for the eye only: marks that have no partner yet are
// closed, and those that may still become one thing or another are held back. So words never change their look when
// their mark arrives, and no mark flashes up and is gone. A text that is whole is never touched.

/** Where a link leads that has not said so yet. */
export const PENDING = "pending:";

const FENCE = /^ {0,3}(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)?\s*(`{3,}|~{3,})(.*)$/;
/** A line on which something of its own begins. */
const BEGINS = /^\s*(?:(?:[-*+]|\d{1,9}[.)])[ \t]|#{1,6}[ \t]|>|\|)/;
/** Marks at the beginning of a line of which nobody knows yet what they become. */
const UNDECIDED = /^\s*(?:#{1,6}|[-*+_=]{1,3}|`{1,2}|~{1,2}|\d{1,9}[.)]?|>)[ \t]*$/;
/** A paragraph that is longer than this is shown as it is: looking for partners takes longer the more there is. */
const MOST = 20_000;
const CELLS = /^\s*\|/;
const RULER = /^[\s|:-]*$/;

export function heal(text: string): string {
  const lines = text.split("\n");
  const last = lines.pop() ?? "";
  const fence = openFence(lines);
  if (fence !== undefined) {
    // The end of a fence arrives letter by letter.
    const mark = /^ *(`+|~+)$/.exec(last)?.[1];
    const ends = mark !== undefined && mark[0] === fence[0] && mark.length < fence.length;
    return ends ? `${lines.join("\n")}\n` : text;
  }
  if (FENCE.test(last)) return text;
  const above = lines.at(-1) ?? "";
  if (UNDECIDED.test(last) && (!/^\s*\d/.test(last) || above.trim() === "" || BEGINS.test(above))) return kept(lines);
  // Four spaces after a blank line are code.
  if (/^(?: {4}|\t)/.test(last) && above.trim() === "" && !lines.some((line) => BEGINS.test(line))) return text;
  const table = pendingTable(lines, last);
  if (table !== undefined) return table;
  const from = paragraph(lines, last);
  const before = lines
    .slice(0, from)
    .map((line) => `${line}\n`)
    .join("");
  const open = [...lines.slice(from), last].join("\n");
  if (CELLS.test(open)) {
    // Marks do not reach from one cell into the next.
    const cell = open.lastIndexOf("|") + 1;
    return before + open.slice(0, cell) + inline(open.slice(cell));
  }
  return before + inline(open);
}

function kept(lines: string[]): string {
  return lines.length === 0 ? "" : `${lines.join("\n")}\n`;
}

/** The mark of a fence that these lines leave open. */
function openFence(lines: string[]): string | undefined {
  let open: string | undefined;
  for (const line of lines) {
    const [, mark = "", words = ""] = FENCE.exec(line) ?? [];
    if (mark === "") continue;
    if (open === undefined) open = mark[0] === "`" && words.includes("`") ? undefined : mark;
    else if (mark[0] === open[0] && mark.length >= open.length && words.trim() === "") open = undefined;
  }
  return open;
}

/** A line of cells is a table only once the line below it says so: until then it is held back. */
function pendingTable(lines: string[], last: string): string | undefined {
  const above = lines.at(-1) ?? "";
  const alone = (lines.at(-2) ?? "").trim() === "";
  if (CELLS.test(last) && above.trim() === "") return kept(lines);
  if (CELLS.test(above) && alone && RULER.test(last)) {
    const columns = (line: string): number =>
      line
        .trim()
        .replace(/^\||\|$/g, "")
        .split("|").length;
    const whole =
      last.includes("-") &&
      columns(last) === columns(above) &&
      /[-:|]\s*$/.test(last) &&
      last
        .trim()
        .replace(/^\||\|$/g, "")
        .split("|")
        .every((cell) => /-/.test(cell));
    if (!whole) return kept(lines.slice(0, -1));
  }
  return undefined;
}

/** Where the paragraph begins that the last line belongs to. */
function paragraph(lines: string[], last: string): number {
  let from = lines.length;
  if (BEGINS.test(last)) return from;
  while (from > 0 && (lines[from - 1] ?? "").trim() !== "") {
    from -= 1;
    if (BEGINS.test(lines[from] ?? "")) break;
  }
  return from;
}

interface Mark {
  mark: string;
  at: number;
}

/** Closes what is open in a paragraph. */
function inline(text: string): string {
  if (text.length > MOST) return text;
  const open: Mark[] = [];
  let at = 0;
  let out = text;
  while (at < out.length) {
    const letter = out[at] ?? "";
    if (letter === "\\") {
      // What it protects is not there yet.
      if (at + 1 === out.length) out = out.slice(0, at);
      at += 2;
    } else if (letter === "`") {
      const run = /^`+/.exec(out.slice(at))?.[0] ?? "`";
      const end = closing(out, at + run.length, run);
      if (end === undefined) return closed(codeEnd(out, at, run), open);
      at = end;
    } else if (letter === "[") {
      const link = linkAt(out, at);
      if (link === "task") return closed(out.slice(0, at), open);
      if (link === "text") {
        // Its words are shown as those of a link that leads nowhere yet.
        const hidden = out[at - 1] === "!" ? at - 1 : at;
        const end = out.indexOf("]", at);
        const words = out.slice(at + 1, end < 0 ? out.length : end);
        return closed(out.slice(0, hidden) + (words === "" ? "" : `[${inline(words)}](${PENDING})`), open);
      }
      at = link ?? at + 1;
    } else if (letter === "*" || letter === "_" || letter === "~") {
      const run = new RegExp(`^\\${letter}+`).exec(out.slice(at))?.[0] ?? letter;
      const after = out[at + run.length];
      const top = open.at(-1);
      if (after === undefined) {
        // The end of a mark, or the beginning of one that has nothing in it yet.
        if (top && top.mark[0] === letter && top.mark.length >= run.length && !/\s/.test(out[at - 1] ?? " ")) {
          open.pop();
          return closed(out + letter.repeat(top.mark.length - run.length), open);
        }
        return closed(out.slice(0, at), open);
      }
      if (top?.mark === run && !/\s/.test(out[at - 1] ?? " ")) open.pop();
      else if (top && top.mark[0] === letter && run.length > top.mark.length && !/\s/.test(out[at - 1] ?? " ")) {
        // Several end at once: ***both***.
        let left = run.length;
        while (left > 0 && open.at(-1)?.mark[0] === letter) left -= open.pop()?.mark.length ?? left;
      } else if (begins(letter, run, out[at - 1], after)) open.push({ mark: run, at });
      at += run.length;
    } else at += 1;
  }
  return closed(out, open);
}

/** Whether a mark before this letter begins something: inside of a word it does not (2*3, snake_case). */
function begins(letter: string, run: string, before: string | undefined, after: string): boolean {
  if (/\s/.test(after) || run.length > 3 || (letter === "~" && run.length > 2)) return false;
  return before === undefined || !/[\p{L}\p{N}]/u.test(before);
}

/** Behind the run that ends a code span. */
function closing(text: string, from: number, run: string): number | undefined {
  for (let at = text.indexOf("`", from); at >= 0; ) {
    const next = /^`+/.exec(text.slice(at))?.[0] ?? "`";
    if (next.length === run.length) return at + next.length;
    at = text.indexOf("`", at + next.length);
  }
  return undefined;
}

function codeEnd(text: string, at: number, run: string): string {
  const inner = text.slice(at + run.length).replace(/`+$/, "");
  return inner.trim() === "" ? text.slice(0, at) : text.slice(0, at + run.length) + inner + run;
}

/**
 * Behind a link that is whole; "text" where it may still become one, "task" where a box to tick may; nothing where it
 * is a bracket.
 */
function linkAt(text: string, at: number): number | "text" | "task" | undefined {
  let depth = 0;
  let end = at;
  for (; end < text.length; end += 1) {
    if (text[end] === "\\") end += 1;
    else if (text[end] === "[") depth += 1;
    else if (text[end] === "]" && --depth === 0) break;
  }
  const before = text[at - 1];
  const plain = before !== undefined && /[\p{L}\p{N}\])]/u.test(before);
  // A number in brackets is a note, not a link.
  const odd = plain || /^\[[\s\d]/.test(text.slice(at, at + 2));
  if (isTask(text, at)) return "task";
  const next = text[end + 1];
  if (end >= text.length || next === undefined) return odd ? undefined : "text";
  if (next !== "(") return undefined;
  const ends = text.indexOf(")", end);
  return ends < 0 ? "text" : ends + 1;
}

function isTask(text: string, at: number): boolean {
  return /^\s*(?:[-*+]|\d{1,9}[.)])[ \t]+$/.test(text.slice(0, at)) && /^\[[ xX]?\]?[ \t]*$/.test(text.slice(at));
}

/** The text with its open marks closed, before the space at its end: a mark after a space closes nothing. */
function closed(text: string, open: Mark[]): string {
  if (open.length === 0) return text;
  const space = /\s*$/.exec(text)?.[0] ?? "";
  let words = text.slice(0, text.length - space.length);
  for (const { mark, at } of [...open].reverse()) {
    // Nothing stands in it yet.
    if (words.length <= at + mark.length) words = words.slice(0, at);
    else words += mark;
  }
  return words + space;
}
