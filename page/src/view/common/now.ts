// The time, second by second. Whoever shows an age looks here, so that a second that passes draws ages anew and nothing
// else.

import { signal } from "@preact/signals";

export const now = signal(Date.now());

/** Lets it run; gives what stops it. */
export function tick(): () => void {
  const timer = setInterval(() => void (now.value = Date.now()), 1000);
  return () => clearInterval(timer);
}
