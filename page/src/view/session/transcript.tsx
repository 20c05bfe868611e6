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
import { atEnd, below, moved, type Move, type Scroll } from "../list/scroll";
import { Entry } from "./entry";
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
  found: string | undefined;
  again: () => void;
}

export function Transcript({ rows, own, scroll, opened, found, again }: TranscriptProps) {
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
  };
  /** The newest prompt when one's own was sent: the next one is one's own. */
  const before = useRef<string | undefined>(undefined);
  const tries = useRef(0);
  const last = useRef({ count: rows.length, own, top: 0 });
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
      requestAnimationFrame(() => draw());
    }
  });
  useLayoutEffect(() => {
    if (scroll.value.mode === "following") toEnd();
  });
  useEffect(() => {
    const element = box.current;
    if (!element) return;
    const up = (): void => {
      if (!atEnd(0, element.clientHeight, element.scrollHeight)) move({ is: "up" });
    };
    const wheel = (event: WheelEvent): void => {
      if (event.deltaY < 0) up();
    };
    const key = (event: KeyboardEvent): void => {
      if (["ArrowUp", "PageUp", "Home"].includes(event.key)) up();
      else if (event.key === "End" && !event.ctrlKey) move({ is: "end" });
    };
    const scrolled = (): void => {
      const went = element.scrollTop - last.current.top;
      last.current.top = element.scrollTop;
      if (
        went > 0 &&
        scroll.value.mode === "free" &&
        atEnd(element.scrollTop, element.clientHeight, element.scrollHeight)
      )
        move({ is: "end" });
    };
    let touch = 0;
    const began = (event: TouchEvent): void => void (touch = event.touches[0]?.clientY ?? 0);
    const dragged = (event: TouchEvent): void => {
      if ((event.touches[0]?.clientY ?? 0) > touch + 4) up();
    };
    const selected = (): void => {
      const chosen = document.getSelection();
      if (chosen && !chosen.isCollapsed && element.contains(chosen.anchorNode)) move({ is: "up" });
    };
    const passive = { passive: true } as const;
    element.addEventListener("wheel", wheel, passive);
    element.addEventListener("keydown", key);
    element.addEventListener("scroll", scrolled, passive);
    element.addEventListener("touchstart", began, passive);
    element.addEventListener("touchmove", dragged, passive);
    document.addEventListener("selectionchange", selected);
    return () => {
      element.removeEventListener("wheel", wheel);
      element.removeEventListener("keydown", key);
      element.removeEventListener("scroll", scrolled);
      element.removeEventListener("touchstart", began);
      element.removeEventListener("touchmove", dragged);
      document.removeEventListener("selectionchange", selected);
    };
  }, []);
  useEffect(() => {
    if (found === undefined) return;
    const at = rows.findIndex((row) => row.key === found);
    if (at >= 0) {
      move({ is: "up" });
      virtual.scrollToIndex(at, { align: "center" });
    }
  }, [found]);
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
          {virtual.getVirtualItems().map((item) => {
            const row = rows[item.index];
            if (!row) return null;
            return (
              <div
                key={item.key}
                class={`entry is-${row.is}${row.key === found ? " found" : ""}`}
                data-index={item.index}
                data-key={row.key}
                ref={(element) => {
                  if (element) virtual.measureElement(element);
                }}
                style={{ transform: `translateY(${item.start}px)` }}
              >
                <div class="column">
                  <Entry row={row} open={opened.value.get(row.key)} toggle={toggle.current} again={again} />
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
