// A diff side by side, and which words of a changed line changed.

import { diffWordsWithSpace } from "diff";
import type { Row } from "./parse";

/** A row of both sides; one of them may be empty. */
export interface Pair {
  left: Row | undefined;
  right: Row | undefined;
}

/** Longer lines are not compared word by word. */
const MAX_COMPARED = 500;

/** Puts removed lines beside the added ones that take their place. */
export function pairs(rows: Row[]): Pair[] {
  const found: Pair[] = [];
  for (let at = 0; at < rows.length; ) {
    const row = rows[at];
    if (!row) break;
    if (row.kind !== "removed" && row.kind !== "added") {
      found.push({ left: row, right: row });
      at += 1;
      continue;
    }
    const removed: Row[] = [];
    const added: Row[] = [];
    for (; rows[at]?.kind === "removed"; at += 1) removed.push(rows[at] as Row);
    for (; rows[at]?.kind === "added"; at += 1) added.push(rows[at] as Row);
    for (let line = 0; line < Math.max(removed.length, added.length); line += 1)
      found.push({ left: removed[line], right: added[line] });
  }
  return found;
}

export interface Mark {
  text: string;
  changed: boolean;
}

/** The pieces of both lines; nothing when they have too little in common for marks to help. */
export function marks(before: string, after: string): { before: Mark[]; after: Mark[] } | undefined {
  if (before.length > MAX_COMPARED || after.length > MAX_COMPARED) return undefined;
  const parts = diffWordsWithSpace(before, after);
  const kept = parts
    .filter((part) => !part.added && !part.removed)
    .reduce((sum, part) => sum + part.value.trim().length, 0);
  if (kept * 3 < Math.max(before.trim().length, after.trim().length)) return undefined;
  const left: Mark[] = [];
  const right: Mark[] = [];
  for (const part of parts) {
    if (!part.added) left.push({ text: part.value, changed: part.removed });
    if (!part.removed) right.push({ text: part.value, changed: part.added });
  }
  return { before: left, after: right };
}

/** For each removed or added row, the row that it is to be compared with. */
export function partners(rows: Row[]): Map<Row, Row> {
  const found = new Map<Row, Row>();
  for (const { left, right } of pairs(rows)) {
    if (left && right && left !== right) {
      found.set(left, right);
      found.set(right, left);
    }
  }
  return found;
}
