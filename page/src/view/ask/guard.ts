// When a key may answer a question. People type while questions arrive: the same rule as in the terminal.

/** A question that has appeared or changed takes no key until nobody has typed for this long. */
export const QUIET_MS = 1500;
/** Buttons of a question that was changed are off for this long. */
export const CHANGED_MS = 400;

export interface Guard {
  /** When the question appeared or changed. */
  since: number;
  /** When a key was last pressed. */
  typed: number;
}

export function takesKeys(guard: Guard, now: number): boolean {
  return now - guard.typed >= QUIET_MS || guard.typed < guard.since - QUIET_MS;
}

export function takesClicks(guard: Guard, changed: boolean, now: number): boolean {
  return !changed || now - guard.since >= CHANGED_MS;
}
