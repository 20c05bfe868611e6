// Words that come and go.

import { signal } from "@preact/signals";
import type { Level } from "../../model/types";
import { Glyph, LEVELS } from "../common/glyph";
import { Icon } from "../common/icon";

interface Toast {
  id: number;
  level: Level;
  text: string;
}

const SHOWN_MS = 6000;
const MOST = 4;
const toasts = signal<Toast[]>([]);
let last = 0;

/** Says it; gives what takes it away before its time, where it no longer holds. */
export function toast(level: Level, text: string): () => void {
  last += 1;
  const id = last;
  toasts.value = [...toasts.value.filter((one) => one.text !== text), { id, level, text: text.slice(0, 2000) }].slice(-MOST);
  // What went wrong stays until it was read.
  if (level !== "error") setTimeout(() => close(id), SHOWN_MS);
  return () => close(id);
}

function close(id: number): void {
  toasts.value = toasts.value.filter((one) => one.id !== id);
}

const LOOKS: Record<Level, string> = { info: "soft", success: "ok", warning: "soft", error: "risk" };

/** `flow`: above the composer of a session. `float`: over everything, at the foot; `dialog` tells that one is open there. */
export function Toasts({ place, dialog = false }: { place: "flow" | "float"; dialog?: boolean }) {
  return (
    <div class={`toasts ${place}${dialog ? " over-dialog" : ""}`} role="status" aria-live="polite">
      {[...toasts.value].reverse().map((one) => (
        <div class="toast" key={one.id}>
          <Glyph of={LEVELS[one.level]} look={LOOKS[one.level]} />
          <span class="grow">{one.text}</span>
          <button type="button" class="quiet" aria-label="Close" onClick={() => close(one.id)}><Icon name="close" size={12} /></button>
        </div>
      ))}
    </div>
  );
}
