// What programs write for terminals: colours become classes, everything else that is no text is dropped.

export interface Span {
  text: string;
  /** Class names, empty for plain text. */
  look: string;
}

interface Style {
  fg: number | undefined;
  bold: boolean;
  dim: boolean;
  italic: boolean;
  underline: boolean;
}

const PLAIN: Style = { fg: undefined, bold: false, dim: false, italic: false, underline: false };
// CSI with its parameters, OSC and the other strings up to their end, two-character escapes.
const ESCAPE =
  /\u001b\[([0-9:;<=>?]*)[ -/]*([@-~])|\u001b[\]PX^_](?:[^\u0007\u001b]|\u001b(?!\\))*(?:\u0007|\u001b\\|$)|\u001b[ -/]*[0-~]?|\u009b([0-9:;<=>?]*)[ -/]*([@-~])/g;

/** The text without any escape, and with overwritten parts of lines gone. */
export function plain(text: string): string {
  return collapse(text).replace(ESCAPE, "");
}

export function spans(text: string): Span[] {
  const clean = collapse(text);
  const found: Span[] = [];
  let style = PLAIN;
  let from = 0;
  const push = (piece: string): void => {
    if (piece === "") return;
    const look = classes(style);
    const last = found.at(-1);
    if (last && last.look === look) last.text += piece;
    else found.push({ text: piece, look });
  };
  for (const match of clean.matchAll(ESCAPE)) {
    push(clean.slice(from, match.index));
    from = match.index + match[0].length;
    if (match[2] === "m" || match[4] === "m") style = select(style, match[1] ?? match[3] ?? "");
  }
  push(clean.slice(from));
  return found;
}

/** A carriage return begins the line again: what a progress bar wrote before is overwritten. */
export function collapse(text: string): string {
  if (!/[\r\b]/.test(text)) return text;
  return text
    .split("\n")
    .map((line) => {
      const parts = line.replace(/\r+$/, "").split("\r");
      let shown = parts[0] ?? "";
      for (const part of parts.slice(1))
        shown = part.includes("\u001b[K") || part.length >= shown.length ? part : part + shown.slice(part.length);
      return shown.includes("\b") ? backspaced(shown) : shown;
    })
    .join("\n");
}

function backspaced(line: string): string {
  const kept: string[] = [];
  for (const character of line) {
    if (character === "\b") kept.pop();
    else kept.push(character);
  }
  return kept.join("");
}

function select(style: Style, parameters: string): Style {
  const numbers = parameters === "" ? [0] : parameters.split(/[;:]/).map((part) => Number.parseInt(part || "0", 10));
  let next = { ...style };
  for (let at = 0; at < numbers.length; at += 1) {
    const code = numbers[at] ?? 0;
    if (code === 0) next = { ...PLAIN };
    else if (code === 1) next.bold = true;
    else if (code === 2) next.dim = true;
    else if (code === 3) next.italic = true;
    else if (code === 4) next.underline = true;
    else if (code === 22) next.bold = next.dim = false;
    else if (code === 23) next.italic = false;
    else if (code === 24) next.underline = false;
    else if (code >= 30 && code <= 37) next.fg = code - 30;
    else if (code >= 90 && code <= 97) next.fg = code - 90;
    else if (code === 39) next.fg = undefined;
    else if (code === 38 || code === 48) {
      const kind = numbers[at + 1];
      const colour =
        kind === 5
          ? ofTable(numbers[at + 2] ?? 0)
          : kind === 2
            ? nearest(numbers[at + 2] ?? 0, numbers[at + 3] ?? 0, numbers[at + 4] ?? 0)
            : undefined;
      at += kind === 5 ? 2 : kind === 2 ? 4 : 0;
      if (code === 38) next.fg = colour;
    }
  }
  return next;
}

/** One of the eight by which the page keeps its contrast, whatever a program dreams of. */
function nearest(red: number, green: number, blue: number): number | undefined {
  const most = Math.max(red, green, blue);
  if (most - Math.min(red, green, blue) < 40) return undefined;
  const on = (value: number): boolean => value > most * 0.6;
  return (on(red) ? 1 : 0) + (on(green) ? 2 : 0) + (on(blue) ? 4 : 0);
}

function ofTable(index: number): number | undefined {
  if (index < 16) return index % 8;
  if (index > 231) return undefined;
  const cube = index - 16;
  const level = (value: number): number => (value === 0 ? 0 : 55 + value * 40);
  return nearest(level(Math.floor(cube / 36)), level(Math.floor(cube / 6) % 6), level(cube % 6));
}

function classes(style: Style): string {
  const names: string[] = [];
  // Black and white are the text's own colour here: either would vanish on one of the two grounds.
  if (style.fg !== undefined && style.fg !== 0 && style.fg !== 7) names.push(`ansi-${style.fg}`);
  if (style.bold) names.push("ansi-bold");
  if (style.dim) names.push("ansi-dim");
  if (style.italic) names.push("ansi-italic");
  if (style.underline) names.push("ansi-underline");
  return names.join(" ");
}
