// The files of a change that is asked about: which of them is read, and the way to the next and to the one before.

import type { RefObject } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Preview } from "../../model/types";
import { Icon } from "../common/icon";
import { parse } from "../diff/parse";
import { visible } from "../text/unseen";

/** Nothing where there is no more than one file. */
export function Files({ preview, body }: { preview: Preview | undefined; body: RefObject<HTMLDivElement | null> }) {
  const paths = useMemo(
    () =>
      preview && "diff" in preview ? parse(preview.diff.text, preview.diff.path).map((file) => visible(file.path)) : [],
    [preview],
  );
  const [at, setAt] = useState(0);
  /** The next scroll is a step of ours: a short last file never comes to the top. */
  const stepped = useRef(false);
  const many = paths.length > 1;
  useEffect(() => {
    const box = body.current;
    if (!box || !many) return;
    setAt(0);
    const look = (): void => {
      if (stepped.current) return void (stepped.current = false);
      const edge = box.getBoundingClientRect().top + box.clientHeight / 3;
      const begun = [...box.querySelectorAll(".diff")].filter((one) => one.getBoundingClientRect().top <= edge);
      setAt(Math.max(0, begun.length - 1));
    };
    box.addEventListener("scroll", look, { passive: true });
    return () => box.removeEventListener("scroll", look);
  }, [paths]);
  if (!many) return null;
  const step = (by: number): void => {
    const box = body.current;
    const to = box?.querySelectorAll(".diff")[at + by];
    if (!box || !to) return;
    const before = box.scrollTop;
    box.scrollTop += to.getBoundingClientRect().top - box.getBoundingClientRect().top;
    stepped.current = box.scrollTop !== before;
    setAt(at + by);
  };
  return (
    <div class="ask-files" role="group" aria-label="Files of this change">
      <button type="button" class="quiet" disabled={at === 0} onClick={() => step(-1)} aria-label="Previous file">
        <Icon name="back" />
      </button>
      <span class="cut grow" title={paths[at]}>
        {at + 1} of {paths.length}: {paths[at]}
      </span>
      <button
        type="button"
        class="quiet next"
        disabled={at === paths.length - 1}
        onClick={() => step(1)}
        aria-label="Next file"
      >
        <Icon name="back" />
      </button>
    </div>
  );
}
