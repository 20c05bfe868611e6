// Searching a conversation: every place at which a word stands, also in what is folded, cut or not drawn; and the same
// places in what the browser has drawn.

import { parse } from "../diff/parse";
import { summary } from "./words";
import { called } from "./called";
import type { Row } from "./rows";

/** Most hits that are counted. */
export const MOST_HITS = 5000;
/** A word is looked for from this length on. */
export const LEAST = 2;

/** One place of the word. */
export interface Hit {
  key: string;
  /** Which of the hits of its row it is, those in diffs not counted. */
  nth: number;
  /** In a diff: which of the row's, and at which of its lines. */
  diff?: { file: number; line: number };
}

const lower = (text: string): string => {
  const small = text.toLowerCase();
  return small.length === text.length ? small : text;
};

/** Where the word stands, without regard to capitals. */
export function places(text: string, word: string): number[] {
  const [all, what] = [lower(text), lower(word)];
  const found: number[] = [];
  for (let at = all.indexOf(what); at >= 0 && found.length < MOST_HITS; at = all.indexOf(what, at + what.length))
    found.push(at);
  return found;
}

const known = new WeakMap<Row, { word: string; hits: Hit[] }>();

/** All of them, in the order of the rows. A row that stays the same is read once for a word. */
export function search(rows: readonly Row[], word: string): Hit[] {
  const found: Hit[] = [];
  if (word.length < LEAST) return found;
  for (const row of rows) {
    let kept = known.get(row);
    if (kept?.word !== word) known.set(row, (kept = { word, hits: inRow(row, word) }));
    for (const hit of kept.hits) if (found.push(hit) >= MOST_HITS) return found;
  }
  return found;
}

function inRow(row: Row, word: string): Hit[] {
  if (row.is !== "tool") return places(texts(row), word).map((_, nth) => ({ key: row.key, nth }));
  const { tool } = row;
  const found: Hit[] = [];
  let nth = 0;
  const plain = (text: string): void => {
    for (const _ of places(text, word)) found.push({ key: row.key, nth: nth++ });
  };
  const diffs = (tool.result?.parts ?? []).flatMap((part) =>
    "diff" in part ? parse(part.diff.text, part.diff.path) : [],
  );
  plain(summary(tool.args));
  if (diffs.length === 0) plain(called(tool) ?? "");
  for (const [file, { rows }] of diffs.entries())
    for (const [line, { text }] of rows.entries())
      for (const _ of places(text, word)) found.push({ key: row.key, nth: 0, diff: { file, line } });
  plain(tool.result?.text ?? tool.output);
  return found;
}

function texts(row: Exclude<Row, { is: "tool" }>): string {
  switch (row.is) {
    case "prompt":
      return row.entry.parts.map((part) => ("text" in part ? part.text : "")).join("");
    case "text":
    case "thought":
      return row.text;
    case "notice":
      return row.entry.text;
    case "compaction":
      return row.entry.compaction.summary;
    case "cut":
      return row.words;
    case "end": {
      const outcome = row.run.ended?.outcome;
      return typeof outcome === "object" ? `${outcome.failed.message} ${outcome.failed.hint ?? ""}` : "";
    }
    case "part":
      return "";
  }
}

const BLOCKS = new Set(["P", "LI", "PRE", "TD", "TH", "H2", "H3", "H4", "H5", "DIV", "BUTTON", "FIGURE"]);

/** Where the word stands in what is drawn of an element: also across the marks inside of a sentence. */
export function drawn(element: Element, word: string): Range[] {
  if (word.length < LEAST) return [];
  const nodes: { from: number; node: Text }[] = [];
  let text = "";
  const walk = document.createTreeWalker(element, NodeFilter.SHOW_TEXT | NodeFilter.SHOW_ELEMENT, (node) =>
    node instanceof Element && node.classList.contains("hidden") ? NodeFilter.FILTER_REJECT : NodeFilter.FILTER_ACCEPT,
  );
  while (walk.nextNode()) {
    const node = walk.currentNode;
    if (node instanceof Text) {
      nodes.push({ from: text.length, node });
      text += node.data;
    } else if (BLOCKS.has(node.nodeName)) text += "\n";
  }
  let near = 0;
  const spot = (at: number, end: boolean): [Text, number] | undefined => {
    const over = (index: number): boolean => {
      const from = nodes[index]?.from ?? Number.POSITIVE_INFINITY;
      return end ? from >= at : from > at;
    };
    while (near + 1 < nodes.length && !over(near + 1)) near += 1;
    const found = nodes[near];
    return found && [found.node, Math.min(found.node.length, at - found.from)];
  };
  return places(text, word).flatMap((at) => {
    const [from, to] = [spot(at, false), spot(at + word.length, true)];
    if (!from || !to) return [];
    const range = document.createRange();
    range.setStart(...from);
    range.setEnd(...to);
    return [range];
  });
}
