// The transcript as a virtual list: rows are measured, and the view moves by the three modes of `list/scroll.ts` only.

import {
  elementScroll,
  measureElement,
  observeElementOffset,
  observeElementRect,
  Virtualizer,
} from "@tanstack/virtual-core";
import { useSignal, type Signal } from "@preact/signals";
import { useEffect, useLayoutEffect, useReducer, useRef } from "preact/hooks";
import { Icon } from "../common/icon";
import { printing } from "../common/printing";
import { atEnd, below, moved, type Move, type Scroll } from "../list/scroll";
import { Entry } from "./entry";
import type { Sought } from "./finder";
import { jump } from "./jump";
import { mark, step, unmark, way, type Way } from "./marks";
import type { Row } from "./rows";

/** Frames in which a prompt of one's own is put to the top. */
const TRIES = 4;

function lastPrompt(rows: Row[]): Row | undefined {
  return rows.findLast((row) => row.is === "prompt");
}

export interface TranscriptProps {
  rows: Row[];
  /** Rises with each prompt of one's own: the view goes there once. */
  own: number;
  scroll: Signal<Scroll>;
  opened: Signal<ReadonlyMap<string, boolean>>;
  sought: Sought | undefined;
  again: () => void;
  /** Goes back before a prompt, which comes to the composer; absent where that cannot be done. */
  edit: ((entry: number) => void) | undefined;
}

export function Transcript({ rows, own, scroll, opened, sought, again, edit }: TranscriptProps) {
  const box = useRef<HTMLDivElement>(null);
  // biome-ignore lint/suspicious/noConfusingVoidType: drawn anew without saying why.
  const [, draw] = useReducer((count: number, _: void) => count + 1, 0);
  const move = (by: Move): void => void (scroll.value = moved(scroll.value, by));
  const list = useRef<Virtualizer<HTMLDivElement, HTMLDivElement> | undefined>(undefined);
  const space = useSignal(0);
  // The list measures all rows anew when this is another function: it is the same one for as long as rows are only
  // added.
  const keys = useRef<{ of: Row[]; get: (at: number) => string | number }>({
    of: [],
    get: (at) => shown.current[at]?.key ?? at,
  });
  if (keys.current.of.some((row, at) => row.key !== rows[at]?.key))
    keys.current = { of: rows, get: (at) => shown.current[at]?.key ?? at };
  else keys.current.of = rows;
  const shown = useRef(rows);
  shown.current = rows;
  const options = {
    count: rows.length,
    getScrollElement: () => box.current,
    estimateSize: (at: number) => (rows[at]?.is === "text" ? 96 : rows[at]?.is === "prompt" ? 60 : 32),
    getItemKey: keys.current.get,
    overscan: 6,
    observeElementRect,
    observeElementOffset,
    scrollToFn: elementScroll,
    measureElement,
    paddingEnd: 16 + space.value,
    onChange: () => draw(),
  };
  list.current ??= new Virtualizer<HTMLDivElement, HTMLDivElement>(options);
  const virtual = list.current;
  virtual.setOptions(options);
  useLayoutEffect(() => virtual._didMount(), []);
  useLayoutEffect(() => virtual._willUpdate());

  const toEnd = (): void => {
    const element = box.current;
    if (!element) return;
    element.scrollTop = element.scrollHeight;
    // Said at once: the browser tells only with the next frame, and rows that nobody sees would be drawn until then.
    virtual.scrollOffset = element.scrollTop;
    last.current.top = element.scrollTop;
    last.current.height = element.scrollHeight;
  };
  /** The newest prompt when one's own was sent: the next one is one's own. */
  const before = useRef<string | undefined>(undefined);
  const tries = useRef(0);
  const last = useRef({ count: rows.length, own, top: 0, height: 0 });
  /** Where the prompt was put, while it stays there: the view is turned or resized around it. */
  const put = useRef<number | undefined>(undefined);
  /** Frames in which the beginning is kept in view: rows above are measured a moment after they are drawn. */
  const begins = useRef(0);
  useLayoutEffect(() => {
    const grew = rows.length - last.current.count;
    if (grew > 0) move({ is: "grew", rows: grew });
    if (own !== last.current.own) {
      before.current = lastPrompt(rows)?.key;
      move({ is: "own" });
    }
    last.current.count = rows.length;
    last.current.own = own;
    const element = box.current;
    const { mode, fresh } = scroll.peek();
    if (element && mode !== "following" && fresh > 0) {
      // Rows that were just drawn have their height by now: where the next ones begin is reckoned anew.
      virtual.getTotalSize();
      const starts = virtual.measurementsCache;
      move({
        is: "below",
        rows: below(
          fresh,
          rows.length,
          element.scrollTop + element.clientHeight,
          (at) => starts[at]?.start ?? Number.POSITIVE_INFINITY,
        ),
      });
    }
  });
  const hiddenBelow = useSignal(false);
  // A prompt of one's own is put to the top once it is there; the room below it is what the answer will fill.
  const anchored = useRef<string | undefined>(undefined);
  useLayoutEffect(() => {
    const element = box.current;
    if (!element || scroll.value.mode !== "anchoring") {
      anchored.current = undefined;
      hiddenBelow.value = false;
      if (space.value !== 0 && scroll.value.mode === "following") space.value = 0;
      return;
    }
    const row = lastPrompt(rows);
    if (!row || row.key === before.current) return;
    const at = rows.indexOf(row);
    const start = virtual.measurementsCache[at]?.start ?? 0;
    const end = virtual.measurementsCache.at(-1)?.end ?? 0;
    space.value = Math.max(0, element.clientHeight - (end - start) - 16);
    hiddenBelow.value = end > element.scrollTop + element.clientHeight + 8;
    if (anchored.current !== row.key) {
      anchored.current = row.key;
      tries.current = TRIES;
    }
    // Rows are measured a moment after they are drawn: the place is right when it stays where it was put.
    if (tries.current > 0) {
      tries.current -= 1;
      if (Math.abs(element.scrollTop - start) > 1) element.scrollTop = start;
      put.current = element.scrollTop;
      requestAnimationFrame(() => draw());
    }
  });
  useLayoutEffect(() => {
    if (scroll.value.mode === "following") toEnd();
    if (begins.current > 0 && box.current) {
      begins.current -= 1;
      box.current.scrollTop = 0;
      virtual.scrollOffset = 0;
      requestAnimationFrame(() => draw());
    }
  });
  useEffect(() => {
    const element = box.current;
    if (!element) return;
    const up = (): void => {
      if (!atEnd(0, element.clientHeight, element.scrollHeight)) move({ is: "up" });
    };
    // Whatever the reader's hand does next ends what Home began: the beginning is not put back under it.
    const wheel = (event: WheelEvent): void => {
      begins.current = 0;
      if (event.deltaY < 0) up();
    };
    const key = (event: KeyboardEvent): void => {
      begins.current = 0;
      if (event.key === "Home" && !event.ctrlKey && !event.shiftKey) {
        event.preventDefault();
        up();
        begins.current = TRIES;
        draw();
      } else if (["ArrowUp", "PageUp", "Home"].includes(event.key)) up();
      else if (event.key === "End" && !event.ctrlKey) move({ is: "end" });
    };
    const scrolled = (): void => {
      const went = element.scrollTop - last.current.top;
      const shrank = element.scrollHeight < last.current.height;
      last.current.top = element.scrollTop;
      last.current.height = element.scrollHeight;
      // The bar at the side was moved, or its track pressed: only what became shorter goes up by itself.
      if (
        went < 0 &&
        !shrank &&
        scroll.value.mode === "following" &&
        !atEnd(element.scrollTop, element.clientHeight, element.scrollHeight)
      )
        up();
      if (
        went > 0 &&
        scroll.value.mode === "free" &&
        atEnd(element.scrollTop, element.clientHeight, element.scrollHeight)
      )
        move({ is: "end" });
    };
    let touch = 0;
    const began = (event: TouchEvent): void => {
      begins.current = 0;
      touch = event.touches[0]?.clientY ?? 0;
    };
    const dragged = (event: TouchEvent): void => {
      if ((event.touches[0]?.clientY ?? 0) > touch + 4) up();
    };
    const selected = (): void => {
      const chosen = document.getSelection();
      if (chosen && !chosen.isCollapsed && element.contains(chosen.anchorNode)) move({ is: "up" });
    };
    let { width, height } = element.getBoundingClientRect();
    const resized = new ResizeObserver(() => {
      const now = element.getBoundingClientRect();
      if (now.width === width && now.height === height) return;
      ({ width, height } = now);
      if (scroll.value.mode !== "anchoring" || Math.abs(last.current.top - (put.current ?? -2)) > 1) return;
      tries.current = TRIES;
      draw();
    });
    resized.observe(element);
    const passive = { passive: true } as const;
    element.addEventListener("wheel", wheel, passive);
    element.addEventListener("keydown", key);
    // Before the list hears of it: that draws, and whoever follows is put to the end then.
    element.addEventListener("scroll", scrolled, { passive: true, capture: true });
    element.addEventListener("touchstart", began, passive);
    element.addEventListener("touchmove", dragged, passive);
    document.addEventListener("selectionchange", selected);
    return () => {
      resized.disconnect();
      element.removeEventListener("wheel", wheel);
      element.removeEventListener("keydown", key);
      element.removeEventListener("scroll", scrolled, true);
      element.removeEventListener("touchstart", began);
      element.removeEventListener("touchmove", dragged);
      document.removeEventListener("selectionchange", selected);
    };
  }, []);
  const going = useRef<Way | undefined>(undefined);
  useEffect(() => {
    const hit = sought?.hit;
    going.current = undefined;
    const at = hit ? rows.findIndex((row) => row.key === hit.key) : -1;
    if (!hit || at < 0) return;
    move({ is: "up" });
    if (["tool", "thought", "compaction"].includes(rows[at]?.is ?? "") && !opened.value.get(hit.key))
      opened.value = new Map(opened.value).set(hit.key, true);
    going.current = way(hit);
    virtual.scrollToIndex(at, { align: "center" });
    draw();
  }, [sought]);
  const wanted = jump.value;
  useEffect(() => {
    jump.value = undefined;
    const at = rows.findIndex((row) => row.is === "tool" && row.tool.id === wanted);
    const row = rows[at];
    if (wanted === undefined || !row) return;
    move({ is: "up" });
    opened.value = new Map(opened.value).set(row.key, true);
    virtual.scrollToIndex(at, { align: "start" });
    box.current?.focus({ preventScroll: true });
    draw();
  }, [wanted]);
  useLayoutEffect(() => {
    const element = box.current;
    if (!element || !sought) return;
    const on = going.current;
    if (on) {
      on.left -= 1;
      // It stays there when what is above it was measured too: two steps have to agree.
      if (step(element, sought.word, on)) on.left = Math.min(on.left, 2);
      if (on.left <= 0) going.current = undefined;
      requestAnimationFrame(() => draw());
    }
    mark(element, sought.word, sought.hit);
  });
  useEffect(() => (sought === undefined ? unmark() : unmark), [sought === undefined]);
  const toggle = useRef((key: string): void => {
    const next = new Map(opened.value);
    const before =
      document.querySelector(`[data-key="${CSS.escape(key)}"] [aria-expanded]`)?.getAttribute("aria-expanded") ===
      "true";
    next.set(key, !before);
    opened.value = next;
  });
  const { mode, fresh } = scroll.value;
  return (
    <>
      <div
        class="transcript"
        id="transcript"
        ref={box}
        tabIndex={0}
        role="log"
        aria-label="Conversation"
        aria-live="off"
      >
        <div class="rows" style={{ height: `${virtual.getTotalSize()}px` }}>
          {(printing.value
            ? rows.map((row, index) => ({ key: row.key, index, start: 0 }))
            : virtual.getVirtualItems()
          ).map((item) => {
            const row = rows[item.index];
            if (!row) return null;
            return (
              <div
                key={item.key}
                class={`entry is-${row.is}`}
                data-index={item.index}
                data-key={row.key}
                ref={(element) => {
                  if (element && !printing.peek()) virtual.measureElement(element);
                }}
                style={{ transform: `translateY(${item.start}px)` }}
              >
                <div class="column">
                  <Entry row={row} open={opened.value.get(row.key)} toggle={toggle.current} again={again} edit={edit} />
                </div>
              </div>
            );
          })}
        </div>
      </div>
      {mode !== "following" && (mode === "free" || hiddenBelow.value) && (
        <div class="over">
          <button
            type="button"
            class="button new-below"
            onClick={() => {
              begins.current = 0;
              move({ is: "end" });
              toEnd();
            }}
          >
            {fresh > 0 ? `${fresh} new` : "To the end"} <Icon name="down" />
          </button>
        </div>
      )}
    </>
  );
}
