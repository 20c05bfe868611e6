// When the transcript moves by itself: three modes, and nothing else moves it.

/**
 * `following`: the end stays in view. `anchoring`: a prompt of one's own was put to the top, once, and its answer grows
 * below. `free`: the reader has gone elsewhere.
 */
export type Mode = "following" | "anchoring" | "free";

export interface Scroll {
  mode: Mode;
  /** Rows that came while the end was out of sight, and that nobody has seen. */
  fresh: number;
}

export type Move =
  /** The reader scrolled up, by whatever means, or selected text. */
  | { is: "up" }
  /** The reader came to the end, or asked for it. */
  | { is: "end" }
  /** A prompt of one's own was sent. */
  | { is: "own" }
  /** Rows were added at the end. */
  | { is: "grew"; rows: number }
  /** So many rows are below what is on the screen: no more than these are new to the reader. */
  | { is: "below"; rows: number };

export const START: Scroll = { mode: "following", fresh: 0 };

export function moved(now: Scroll, move: Move): Scroll {
  switch (move.is) {
    case "up":
      return now.mode === "free" ? now : { mode: "free", fresh: now.fresh };
    case "end":
      return now.mode === "following" && now.fresh === 0 ? now : START;
    case "own":
      return { mode: "anchoring", fresh: 0 };
    case "grew":
      return now.mode === "following" || move.rows <= 0 ? now : { mode: now.mode, fresh: now.fresh + move.rows };
    case "below":
      return now.fresh <= move.rows ? now : { mode: now.mode, fresh: Math.max(0, move.rows) };
  }
}

/** How many of the last `most` rows begin below the edge of what is seen; `start` tells where a row begins. */
export function below(most: number, count: number, edge: number, start: (at: number) => number): number {
  let found = 0;
  while (found < Math.min(most, count) && start(count - 1 - found) >= edge) found += 1;
  return found;
}

/** Pixels from the end that still count as the end: fractions of zoomed pixels must not free the view. */
export const NEAR_END = 4;

export function atEnd(top: number, height: number, content: number): boolean {
  return content - height - top <= NEAR_END;
}
