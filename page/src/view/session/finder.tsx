// The field over a conversation that is searched.

import { signal } from "@preact/signals";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { Icon } from "../common/icon";
import { LEAST, MOST_HITS, search, type Hit } from "./find";
import type { Row } from "./rows";

/** What is looked for, and the hit that was gone to. */
export interface Sought {
  word: string;
  hit: Hit | undefined;
}

/** Words that were found in a session from elsewhere: it is searched for them once it is shown. */
export const toFind = signal<{ session: string; word: string } | undefined>(undefined);

/** All of the words where they stand so, else the longest of them. */
function found(rows: readonly Row[], words: string): string {
  if (search(rows, words).length > 0) return words;
  return words.split(/\s+/).reduce((long, word) => (word.length > long.length ? word : long), "");
}

/** The first hit from what is on the screen on. */
function nearest(rows: readonly Row[], hits: readonly Hit[]): number {
  const box = document.getElementById("transcript");
  const edge = box?.getBoundingClientRect().top ?? 0;
  const seen = [...(box?.querySelectorAll<HTMLElement>(".entry") ?? [])].find(
    (entry) => entry.getBoundingClientRect().bottom > edge,
  )?.dataset.key;
  const order = new Map(rows.map((row, at) => [row.key, at]));
  const from = (seen !== undefined && order.get(seen)) || 0;
  return Math.max(
    0,
    hits.findIndex((hit) => (order.get(hit.key) ?? 0) >= from),
  );
}

export function Find({
  rows,
  session,
  go,
  close,
}: {
  rows: Row[];
  session: string | undefined;
  go: (sought: Sought) => void;
  close: () => void;
}) {
  const [word, setWord] = useState("");
  const [at, setAt] = useState(0);
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.focus(), []);
  const wanted = toFind.value;
  useEffect(() => {
    if (wanted === undefined || wanted.session !== session) return;
    toFind.value = undefined;
    setWord(found(rows, wanted.word));
  }, [wanted]);
  const hits = useMemo(() => search(rows, word), [word, rows]);
  const to = (next: number): void => {
    setAt(next);
    go({ word, hit: hits[next] });
  };
  useEffect(() => to(hits.length === 0 ? 0 : nearest(rows, hits)), [word]);
  const step = (by: number): void => to(hits.length === 0 ? 0 : (at + by + hits.length) % hits.length);
  const many = hits.length >= MOST_HITS ? `${MOST_HITS} or more` : hits.length;
  return (
    <div class="find" role="search">
      <input
        ref={field}
        type="search"
        aria-label="Search this conversation"
        placeholder="Search"
        value={word}
        onInput={(event) => setWord(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === "Enter" && !event.isComposing) step(event.shiftKey ? -1 : 1);
          if (event.key === "Escape") {
            event.stopPropagation();
            close();
          }
        }}
      />
      <span class="soft" role="status">
        {hits.length > 0 ? `${Math.min(at + 1, hits.length)} of ${many}` : word.length >= LEAST ? "No match" : ""}
      </span>
      <button
        type="button"
        class="quiet"
        aria-label="Previous match"
        disabled={hits.length === 0}
        onClick={() => step(-1)}
      >
        <span class="upwards">
          <Icon name="down" size={12} />
        </span>
      </button>
      <button type="button" class="quiet" aria-label="Next match" disabled={hits.length === 0} onClick={() => step(1)}>
        <Icon name="down" size={12} />
      </button>
      <button type="button" class="quiet" aria-label="Close search" onClick={close}>
        <Icon name="close" size={12} />
      </button>
    </div>
  );
}
