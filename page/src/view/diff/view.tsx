// A diff: unified, or side by side where the column is wide enough. Only the rows in sight are drawn.

import { signal } from "@preact/signals";
import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { toast } from "../chrome/toasts";
import { counted } from "../common/format";
import { CopyButton } from "../common/copy";
import { printing } from "../common/printing";
import { inSight } from "../list/rows";
import { Seen } from "../text/seen";
import { visible } from "../text/unseen";
import { marks, pairs, partners, type Mark, type Pair } from "./pairs";
import { parse, type FileDiff, type Row } from "./parse";

const ROW = 18;
/** Longer diffs show this many rows until more are asked for. */
export const SHOWN = 400;
/** Characters of a line that are drawn; the rest on demand. */
const LINE = 2000;
/** A column narrower than this has no room for two sides. */
const WIDE = 1100;

/** Whether the reader wants two sides; `d` switches it. */
export const sideBySide = signal(false);

/** Switches it, and says so where nothing of it is seen. */
export function switchSides(): void {
  sideBySide.value = !sideBySide.value;
  if (!sideBySide.value) return;
  requestAnimationFrame(() => {
    const shown = document.querySelectorAll(".diff");
    if ([...shown].some((one) => one.classList.contains("split"))) return;
    toast(
      "info",
      shown.length > 0
        ? "There is no room for two sides here. They are side by side where there is, as in “Diff and undo” in a wide window."
        : "Diffs are side by side from now on, where there is room for it.",
    );
  });
}

export function Diffs({ text, path }: { text: string; path?: string | undefined }) {
  const files = useMemo(() => parse(text, path), [text, path]);
  if (files.length === 0) return <p class="soft">No change.</p>;
  return (
    <div class="diffs">
      {files.map((file) => (
        <Diff key={file.path} file={file} source={files.length === 1 ? text : undefined} />
      ))}
    </div>
  );
}

function Diff({ file, source }: { file: FileDiff; source: string | undefined }) {
  const box = useRef<HTMLDivElement>(null);
  const [view, setView] = useState({ top: 0, height: 600, width: 0 });
  const [all, setAll] = useState(false);
  const split = sideBySide.value && view.width >= WIDE;
  const rows = all ? file.rows : file.rows.slice(0, SHOWN);
  const partner = useMemo(() => partners(rows), [rows]);
  const both = useMemo(() => (split ? pairs(rows) : []), [rows, split]);
  const count = split ? both.length : rows.length;
  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return;
    const look = (): void =>
      setView({ top: element.scrollTop, height: element.clientHeight, width: element.clientWidth });
    const watch = new ResizeObserver(look);
    watch.observe(element);
    element.addEventListener("scroll", look, { passive: true });
    look();
    return () => {
      watch.disconnect();
      element.removeEventListener("scroll", look);
    };
  }, []);
  const { first, end } = printing.value ? { first: 0, end: count } : inSight(view.top, view.height, ROW, count, 20);
  const words = `${visible(file.path) || "Changes"}, ${file.added} added, ${file.removed} removed`;
  return (
    <figure class={`diff${split ? " split" : ""}`}>
      <header>
        <span class="path cut">
          <Seen text={file.path || "changes"} />
        </span>
        <span class="ok">+{file.added}</span>
        <span class="risk">−{file.removed}</span>
        <span class="grow" />
        {view.width >= WIDE && (
          <button type="button" class="quiet" aria-pressed={split} title="Side by side (d)" onClick={switchSides}>
            Side by side
          </button>
        )}
        {source !== undefined && <CopyButton text={source} what="diff" />}
      </header>
      <div class="diff-rows" ref={box} tabIndex={0} role="group" aria-label={words}>
        <div class="diff-space" style={{ height: `${count * ROW}px` }}>
          <div style={{ transform: `translateY(${first * ROW}px)` }}>
            {split
              ? both.slice(first, end).map((pair, at) => <Two key={first + at} pair={pair} />)
              : rows.slice(first, end).map((row, at) => <One key={first + at} row={row} partner={partner.get(row)} />)}
          </div>
        </div>
      </div>
      {file.rows.length > rows.length && (
        <footer>
          <button type="button" class="more" onClick={() => setAll(true)}>
            Show {counted(file.rows.length - rows.length, "more line")}
          </button>
        </footer>
      )}
    </figure>
  );
}

const SIGNS: Record<Row["kind"], string> = { added: "+", removed: "−", same: "", hunk: "", note: "", file: "" };

function One({ row, partner }: { row: Row; partner: Row | undefined }) {
  return (
    <div class={`diff-row ${row.kind}`}>
      <span class="num">{row.before}</span>
      <span class="num">{row.after}</span>
      <span class="sign">{SIGNS[row.kind]}</span>
      <Line row={row} partner={partner} />
    </div>
  );
}

function Two({ pair }: { pair: Pair }) {
  const half = (row: Row | undefined, other: Row | undefined, number: number | undefined) => (
    <div class={`half ${row ? row.kind : "empty"}`}>
      <span class="num">{number}</span>
      <span class="sign">{row ? SIGNS[row.kind] : ""}</span>
      {row && <Line row={row} partner={row === other ? undefined : other} />}
    </div>
  );
  return (
    <div class="diff-row">
      {half(pair.left, pair.right, pair.left?.before)}
      {half(pair.right, pair.left, pair.right?.after)}
    </div>
  );
}

function Line({ row, partner }: { row: Row; partner: Row | undefined }) {
  const [whole, setWhole] = useState(false);
  const found = useMemo((): Mark[] | undefined => {
    if (!partner) return undefined;
    return row.kind === "removed" ? marks(row.text, partner.text)?.before : marks(partner.text, row.text)?.after;
  }, [row, partner]);
  if (found)
    return (
      <span class="line">
        {found.map((mark) =>
          mark.changed ? (
            <mark>
              <Seen text={mark.text} />
            </mark>
          ) : (
            <Seen text={mark.text} />
          ),
        )}
      </span>
    );
  const text = whole ? row.text : row.text.slice(0, LINE);
  return (
    <span class="line">
      <Seen text={text} />
      {text.length < row.text.length && (
        <button type="button" class="more" onClick={() => setWhole(true)}>
          … {row.text.length - text.length} more
        </button>
      )}
    </span>
  );
}
