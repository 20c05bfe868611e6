// The marks of a search, painted by the browser over what is drawn: nothing of the page is changed for them.

import { drawn, type Hit } from "./find";

/** Frames in which the way to a hit is looked for: a row is drawn, opened, measured. */
const TRIES = 24;

/** On the way to a hit. */
export interface Way {
  hit: Hit;
  left: number;
}

export function way(hit: Hit): Way {
  return { hit, left: TRIES };
}

/** One line of a diff is this high. */
const LINE = 18;

const painted = (name: string, ranges: Range[], priority: number): void => {
  if (!("highlights" in CSS)) return;
  if (ranges.length === 0) return void CSS.highlights.delete(name);
  const marks = new Highlight(...ranges);
  marks.priority = priority;
  CSS.highlights.set(name, marks);
};

export function unmark(): void {
  painted("found", [], 0);
  painted("found-now", [], 1);
}

/** Marks every hit that is drawn, and the one that was gone to. */
export function mark(box: Element, word: string, now: Hit | undefined): void {
  const all: Range[] = [];
  let here: Range | undefined;
  for (const entry of box.querySelectorAll<HTMLElement>(".entry")) {
    const ranges = drawn(entry, word);
    for (const range of ranges) all.push(range);
    if (now && entry.dataset.key === now.key) here = chosen(entry, ranges, now);
  }
  painted("found", all, 0);
  painted("found-now", here ? [here] : [], 1);
}

const inDiff = (range: Range): Element | null => range.startContainer.parentElement?.closest(".diff-rows") ?? null;

function chosen(entry: Element, ranges: Range[], hit: Hit): Range | undefined {
  if (!hit.diff) {
    const plain = ranges.filter((range) => !inDiff(range));
    return plain[Math.min(hit.nth, plain.length - 1)];
  }
  const rows = entry.querySelectorAll(".diff-rows")[hit.diff.file];
  if (!rows) return undefined;
  const y = rows.getBoundingClientRect().top - rows.scrollTop + hit.diff.line * LINE;
  const far = (range: Range): number => Math.abs(range.getBoundingClientRect().top - y);
  return ranges.filter((range) => inDiff(range) === rows).sort((a, b) => far(a) - far(b))[0];
}

/** One step towards a hit whose row is drawn; whether the word is in sight. */
export function step(box: HTMLElement, word: string, { hit }: Way): boolean {
  const entry = box.querySelector<HTMLElement>(`.entry[data-key="${CSS.escape(hit.key)}"]`);
  if (!entry) return false;
  const rows = hit.diff && entry.querySelectorAll<HTMLElement>(".diff-rows")[hit.diff.file];
  if (rows && hit.diff) {
    const y = hit.diff.line * LINE;
    if (y < rows.scrollTop || y + LINE > rows.scrollTop + rows.clientHeight) rows.scrollTop = y - rows.clientHeight / 2;
  }
  const range = chosen(entry, drawn(entry, word), hit);
  if (!range || (hit.diff && rows && rows.scrollTop + rows.clientHeight < hit.diff.line * LINE)) {
    entry.querySelector<HTMLElement>(".more")?.click();
    return false;
  }
  for (let at = range.startContainer.parentElement; at && at !== box; at = at.parentElement) {
    if (at.scrollHeight <= at.clientHeight + 1 && at.scrollWidth <= at.clientWidth + 1) continue;
    const [inner, word] = [at.getBoundingClientRect(), range.getBoundingClientRect()];
    if (word.top < inner.top || word.bottom > inner.bottom) at.scrollTop += word.top - inner.top - inner.height / 2;
    if (word.left < inner.left || word.right > inner.right) at.scrollLeft += word.left - inner.left - inner.width / 2;
  }
  const [seen, place] = [box.getBoundingClientRect(), range.getBoundingClientRect()];
  if (place.top >= seen.top + 8 && place.bottom <= seen.bottom - 8) return true;
  box.scrollTop += place.top - seen.top - seen.height / 2;
  return false;
}
