// The small signs before a line. Drawn, since not every font has them: a sign that is missing there is an empty box.

import type { Level } from "../../model/types";

/** What is filled, and what is drawn as a line. */
const SHAPES = {
  diamond: { fill: "M8 1.5 14.5 8 8 14.5 1.5 8Z" },
  dot: { fill: "M3.5 8a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0-9 0Z" },
  ring: { line: "M3.5 8a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0-9 0Z" },
  half: { line: "M3 8a5 5 0 1 0 10 0a5 5 0 1 0-10 0Z", fill: "M8 3a5 5 0 0 0 0 10Z" },
  check: { line: "M2.5 8.5 6.5 12.5 13.5 4" },
  cross: { line: "M3.5 3.5 12.5 12.5M12.5 3.5 3.5 12.5" },
  square: { fill: "M3.5 3.5h9v9h-9Z" },
  pause: { fill: "M4 3h3v10H4ZM9 3h3v10H9Z" },
  broken: { line: "M3 3 8 8M10 10 13 13M13 3 10 6M6 10 3 13" },
  dots: { line: "M3 8h.01M8 8h.01M13 8h.01" },
  closed: { fill: "M6 3.5 11 8 6 12.5Z" },
  open: { fill: "M3.5 6 8 11 12.5 6Z" },
  warning: { line: "M8 2.5v7M8 13.2v.01" },
  point: { line: "M8 8h.01" },
  question: { line: "M5.3 6a2.7 2.7 0 1 1 4 2.3c-.9.5-1.3 1-1.3 1.9M8 13.2v.01" },
  ticked: { line: "M2.5 2.5h11v11h-11ZM5 8.2 7.2 10.5 11 5.8" },
  unticked: { line: "M2.5 2.5h11v11h-11Z" },
} satisfies Record<string, { fill?: string; line?: string }>;

export type Sign = keyof typeof SHAPES;

export const LEVELS: Record<Level, Sign> = { info: "point", success: "check", warning: "warning", error: "cross" };

/** The sign alone, as high as the letters around it. */
export function Shape({ of }: { of: Sign }) {
  const { fill, line }: { fill?: string; line?: string } = SHAPES[of];
  return (
    <svg class="shape" viewBox="0 0 16 16" aria-hidden="true">
      {fill && <path d={fill} fill="currentColor" />}
      {line && (
        <path
          d={line}
          fill="none"
          stroke="currentColor"
          stroke-width="2"
          stroke-linecap="round"
          stroke-linejoin="round"
        />
      )}
    </svg>
  );
}

/** A sign in a place of its own, so that lines below each other begin in one column. */
export function Glyph({ of, look = "", turns = false }: { of: Sign; look?: string; turns?: boolean }) {
  return (
    <span class={`glyph ${look}`} aria-hidden="true">
      {turns ? (
        <span class="turns">
          <Shape of={of} />
        </span>
      ) : (
        <Shape of={of} />
      )}
    </span>
  );
}
