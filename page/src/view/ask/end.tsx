// A yes is to all of what is asked: it is not taken before the end of it was in sight.

import type { RefObject } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { Icon } from "../common/icon";
import type { Giving } from "./dock";

/** What keeps somebody from a yes: more is below, or a part is still folded; or it was not drawn yet. */
export type Left = "below" | "folded" | "undrawn" | undefined;

const WORDS = { below: "More below: scroll to the end first", folded: "Some of it is folded: show all of it first" };

export interface End {
  body: RefObject<HTMLDivElement | null>;
  /** Stands behind the last of what is asked. */
  mark: RefObject<HTMLElement | null>;
  left: Left;
  /** A yes was wanted before its time: this says why not, and lets the keys scroll. */
  said: boolean;
  say: () => void;
}

/**
 * Watches whether the end of `what` was in sight, where anything is shown. Something else that is asked is to be read
 * anew.
 */
export function useEnd(what: string | undefined): End {
  const body = useRef<HTMLDivElement>(null);
  const mark = useRef<HTMLElement>(null);
  const [read, setRead] = useState<{ what: string; left: Left } | undefined>();
  const [said, setSaid] = useState(false);
  useLayoutEffect(() => {
    setSaid(false);
    const [box, end] = [body.current, mark.current];
    if (what === undefined || !box || !end || (read?.what === what && read.left === undefined)) return;
    // Another one is read from its beginning.
    box.scrollTop = 0;
    let inSight = false;
    let done = false;
    const look = (): void => {
      if (done) return;
      const left = !inSight ? "below" : box.querySelector(".more") ? "folded" : undefined;
      done = left === undefined;
      setRead({ what, left });
    };
    const sight = new IntersectionObserver((all) => {
      inSight = all.at(-1)?.isIntersecting ?? false;
      look();
    });
    // A part that is unfolded may leave the end where it is.
    const inside = new MutationObserver(look);
    sight.observe(end);
    inside.observe(box, { childList: true, subtree: true });
    return () => {
      sight.disconnect();
      inside.disconnect();
    };
  }, [what]);
  const say = (): void => {
    setSaid(true);
    body.current?.focus();
  };
  return { body, mark, left: what === undefined ? undefined : read?.what === what ? read.left : "undrawn", said, say };
}

/** Above the buttons, so that they stay where they are: why they are off. */
export function Note({ giving }: { giving: Giving }) {
  return giving.why === undefined ? null : (
    <p class="ask-note" role="status">
      {giving.why}
    </p>
  );
}

/**
 * At the foot of what scrolls, over it: that there is more. Its place stays when all was read, so that nothing moves.
 */
export function Further({ end }: { end: End }) {
  const shown = useRef<"below" | "folded" | undefined>(undefined);
  if (end.left === "below" || end.left === "folded") shown.current = end.left;
  if (end.left === "undrawn" || shown.current === undefined) return null;
  return (
    <p
      class={`ask-further${end.said ? " risk" : ""}`}
      role={end.said ? "alert" : "status"}
      style={{ visibility: end.left ? "visible" : "hidden" }}
    >
      {WORDS[shown.current]} <Icon name="down" size={12} />
    </p>
  );
}
