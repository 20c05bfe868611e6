// Whether anybody is still there. A socket may be dead and look alive: after a silence somebody is asked, and without an
// answer it is given up.

import type { Clock } from "./session";

/** Silence after which it is asked whether anybody is there, and how long the answer may take. */
const SILENCE_MS = 20_000;
const ANSWER_MS = 10_000;

export class Silence {
  private cancel: (() => void) | undefined;
  private heardAt = 0;

  constructor(
    private readonly clock: Clock,
    /** Asks; false where nobody can be asked now. */
    private readonly ask: () => boolean,
    private readonly giveUp: () => void,
  ) {}

  heard(): void {
    this.heardAt = this.clock.now();
    if (!this.cancel) this.look(SILENCE_MS);
  }

  end(): void {
    this.cancel?.();
  }

  /** Looks after a while whether anything was heard: a timer for each line would cost more than the line. */
  private look(after: number): void {
    this.cancel = this.clock.later(after, () => {
      this.cancel = undefined;
      const silent = this.clock.now() - this.heardAt;
      if (silent < SILENCE_MS) return this.look(SILENCE_MS - silent);
      if (!this.ask()) return;
      const asked = this.clock.now();
      this.cancel = this.clock.later(ANSWER_MS, () => {
        this.cancel = undefined;
        if (this.heardAt < asked) this.giveUp();
        else this.look(SILENCE_MS);
      });
    });
  }
}
