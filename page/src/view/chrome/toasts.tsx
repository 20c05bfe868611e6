// Words that come and go.

import { signal } from "@preact/signals";
import type { Level } from "../../model/types";
import { Glyph, LEVELS } from "../common/glyph";
import { Icon } from "../common/icon";
import { refusalWords } from "../ports";

/** What some words are about: those about the connection hold no longer than it is away. */
type About = "connection" | undefined;

interface Toast {
  id: number;
  level: Level;
  text: string;
  about: About;
  /** The reader wants all of it. */
  whole: boolean;
}

const SHOWN_MS = 6000;
const MOST = 4;
const toasts = signal<Toast[]>([]);
let last = 0;
let connected = true;

/** Says it; gives what takes it away before its time, where it no longer holds. */
export function toast(level: Level, text: string, about?: About): () => void {
  last += 1;
  const id = last;
  toasts.value = [
    ...toasts.value.filter((one) => one.text !== text),
    { id, level, text: text.slice(0, 2000), about, whole: false },
  ].slice(-MOST);
  // What went wrong stays until it was read. Who has no connection on a page that has one again just came too early.
  if (level !== "error" || (about === "connection" && connected)) setTimeout(() => close(id), SHOWN_MS);
  return () => close(id);
}

/** Says why something was not done. */
export function refused(error: unknown): void {
  const lost = typeof error === "object" && error !== null && "kind" in error && error.kind === "lost";
  toast("error", refusalWords(error), lost ? "connection" : undefined);
}

/** How the connection is: once it is back, nothing that was said of it holds. */
export function connection(up: boolean): void {
  connected = up;
  if (up) toasts.value = toasts.value.filter((one) => one.about !== "connection");
}

/** Whoever may not look any more reads nothing of what there was. */
export function forgetAll(): void {
  toasts.value = [];
}

function close(id: number): void {
  toasts.value = toasts.value.filter((one) => one.id !== id);
}

function unfold(id: number): void {
  toasts.value = toasts.value.map((one) => (one.id === id ? { ...one, whole: !one.whole } : one));
}

/** Words that do not fit are marked, so that the rest is offered. */
function measure(element: HTMLElement | null): void {
  element?.classList.toggle("cut-off", element.scrollHeight > element.clientHeight + 1);
}

const LOOKS: Record<Level, string> = { info: "soft", success: "ok", warning: "soft", error: "risk" };

/**
 * `flow`: above the composer of a session. `float`: over everything, at the foot; `dialog` tells that one is open
 * there.
 */
export function Toasts({ place, dialog = false }: { place: "flow" | "float"; dialog?: boolean }) {
  return (
    <div class={`toasts ${place}${dialog ? " over-dialog" : ""}`} role="status" aria-live="polite">
      {[...toasts.value].reverse().map((one, at, all) => (
        <div class={`toast${one.whole ? " whole" : ""}`} key={one.id}>
          <Glyph of={LEVELS[one.level]} look={LOOKS[one.level]} />
          <span
            class="said grow"
            ref={measure}
            {...(one.whole ? { tabIndex: 0, role: "group", "aria-label": "The whole notice" } : {})}
          >
            {one.text}
          </span>
          <button type="button" class="more" aria-expanded={one.whole} onClick={() => unfold(one.id)}>
            {one.whole ? "Less" : "More"}
          </button>
          {place === "flow" && at === 0 && all.length > 1 && <span class="count faint">1 of {all.length}</span>}
          <button type="button" class="quiet" aria-label="Close" onClick={() => close(one.id)}>
            <Icon name="close" size={12} />
          </button>
        </div>
      ))}
    </div>
  );
}
