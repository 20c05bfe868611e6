// Cuts a growing Markdown text into blocks, so that a delta makes only the open end be parsed again.
//
// What always holds: where it cuts depends on the text alone, never on how the text arrived; so any cut of the same
// text into deltas gives the same blocks. A cut is made only where nothing that follows can change what stands before
// it.

/** How far the lines seen so far leave something open. */
type Open =
  | { in: "nothing" }
  | { in: "fence"; mark: string; length: number }
  | { in: "list" }
  | { in: "html"; until: RegExp }
  /** What it is depends on more than these rules know: nothing is cut any more. */
  | { in: "doubt" };

const FENCE = /^ {0,3}(`{3,}|~{3,})(.*)$/;
const ITEM = /^ {0,3}(?:[-*+]|\d{1,9}[.)])(?:[ \t]|$)/;
const RAW_HTML: [RegExp, RegExp][] = [
  [/^ {0,3}<(?:script|pre|style|textarea)(?:[\s>]|$)/i, /<\/(?:script|pre|style|textarea)>/i],
  [/^ {0,3}<!--/, /-->/],
  [/^ {0,3}<\?/, /\?>/],
  [/^ {0,3}<!\[CDATA\[/, /\]\]>/],
  [/^ {0,3}<![a-z]/i, />/],
];
const BLANK = /^\s*$/;
const TAG = /^ {0,3}<\/?[a-z]/i;
const DEFINITION = /^ {0,3}\[[^\]\n]+\]:/m;

export class Blocks {
  /** Closed blocks: their text never changes again. */
  readonly closed: string[] = [];
  /** Whether a link definition was seen: it may change links in every block. */
  defines = false;
  private tail = "";
  private open: Open = { in: "nothing" };
  /** Where in the tail the first line begins that was not looked at yet. */
  private seen = 0;
  /** Whether the last line looked at was blank. */
  private afterBlank = false;
  /** Whether anything but blank lines stands in the tail. */
  private filled = false;
  private length = 0;

  /** The text that may still change. */
  get rest(): string {
    return this.tail;
  }

  /** Takes the whole text as it stands now: most often what was known, and more. */
  take(text: string): void {
    if (text.length < this.length || !this.follows(text)) this.reset();
    const more = text.slice(this.length);
    this.length = text.length;
    this.append(more);
  }

  append(delta: string): void {
    if (delta === "") return;
    this.tail += delta;
    for (;;) {
      const end = this.tail.indexOf("\n", this.seen);
      if (end < 0) return;
      this.line(this.tail.slice(this.seen, end).replace(/\r$/, ""), end + 1);
    }
  }

  private line(line: string, next: number): void {
    const blank = line.trim() === "";
    if (this.open.in === "nothing" || this.open.in === "list") {
      if (this.afterBlank && this.filled && this.mayCutBefore(line)) {
        this.close(this.seen);
        next = next - this.cutBy;
        this.open = { in: "nothing" };
      }
    }
    this.seen = next;
    this.afterBlank = blank;
    this.filled ||= !blank;
    this.follow(line);
  }

  private cutBy = 0;

  /**
   * Nothing that begins in the first column after a blank line goes on with what was before, except the item of a list.
   */
  private mayCutBefore(line: string): boolean {
    if (line.trim() === "" || /^[ \t]/.test(line)) return false;
    return !(this.open.in === "list" && ITEM.test(line));
  }

  private close(at: number): void {
    const block = this.tail.slice(0, at);
    this.defines ||= DEFINITION.test(block);
    this.closed.push(block);
    this.tail = this.tail.slice(at);
    this.cutBy = at;
    this.filled = false;
  }

  private follow(line: string): void {
    const open = this.open;
    switch (open.in) {
      case "fence": {
        const fence = FENCE.exec(line);
        const closes = fence?.[1]?.startsWith(open.mark) && fence[1].length >= open.length && fence[2]?.trim() === "";
        if (closes) this.open = { in: "nothing" };
        return;
      }
      case "html":
        if (open.until.test(line)) this.open = { in: "nothing" };
        // Whether this is code depends on where the paragraph around the tag began.
        else if (open.until === BLANK && (FENCE.test(line) || RAW_HTML.some(([begins]) => begins.test(line))))
          this.open = { in: "doubt" };
        return;
      case "doubt":
        return;
      case "nothing":
      case "list": {
        const fence = FENCE.exec(line);
        const mark = fence?.[1];
        // A backtick in the words after a fence of backticks makes it a code span.
        if (mark && !(mark[0] === "`" && fence[2]?.includes("`"))) {
          // Inside of a list the fence belongs to its item, which ends by itself.
          if (open.in === "nothing" || !/^ /.test(line))
            this.open = { in: "fence", mark: mark[0] ?? "`", length: mark.length };
          return;
        }
        if (ITEM.test(line)) {
          this.open = { in: "list" };
          return;
        }
        // So does HTML that is indented.
        if (open.in === "list" && line.startsWith(" ")) return;
        const raw = RAW_HTML.find(([begins]) => begins.test(line));
        if (raw && !raw[1].test(line)) this.open = { in: "html", until: raw[1] };
        else if (TAG.test(line)) this.open = { in: "html", until: BLANK };
      }
    }
  }

  private follows(text: string): boolean {
    // Only the end is compared: streams grow at their end, and a replay begins with another object.
    const known = this.tail.slice(-64);
    return text.slice(Math.max(0, this.length - known.length), this.length) === known;
  }

  private reset(): void {
    this.closed.length = 0;
    this.tail = "";
    this.open = { in: "nothing" };
    this.seen = 0;
    this.afterBlank = false;
    this.filled = false;
    this.defines = false;
    this.length = 0;
  }
}

/** Definitions of links in a text, as lines of Markdown: every block must know them. */
export function definitions(text: string): string {
  return text
    .split("\n")
    .filter((line) => DEFINITION.test(line))
    .join("\n");
}
