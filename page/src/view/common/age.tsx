// How long ago something was. It is drawn by itself, and no more often than its words change: a list of hundreds is not
// drawn each second.

import { computed } from "@preact/signals";
import { age } from "./format";
import { now } from "./now";

/** Minutes, hours and days need no closer look. */
const tens = computed(() => Math.floor(now.value / 10_000));

export function Age({ since }: { since: number | undefined }) {
  if (since === undefined) return <span class="faint" />;
  const time = now.peek();
  void (time - since < 60_000 ? now.value : tens.value);
  return <span class="faint">{age(since, time)}</span>;
}
