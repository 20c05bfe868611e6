// Whether the reader is about to hit a row of the list: for that long no row changes its place, since one that jumps
// away is one that is hit by mistake. A pointer or a focus that only rests there holds nothing.

/** After the last move of the pointer or the last key. */
export const HELD_MS = 4000;

export class Hold {
  private pointer = false;
  private focus = false;
  private timer: ReturnType<typeof setTimeout> | undefined;

  /** `released` draws anew. `writes`: a field of the list has the focus, and its words would go with its row. */
  constructor(
    private readonly released: () => void,
    private readonly writes: () => boolean,
  ) {}

  get on(): boolean {
    return this.pointer || this.focus;
  }

  /** The pointer is over the list and moves. */
  point(): void {
    this.pointer = true;
    this.wait();
  }

  /** The focus came into the list, or a key was pressed there. */
  key(): void {
    this.focus = true;
    this.wait();
  }

  /** The pointer has left; a focus that it has left behind is of no use. */
  leave(): void {
    this.end(this.writes());
  }

  /** The focus has left; the pointer may still be there. */
  blur(): void {
    if (this.pointer) this.focus = false;
    else this.end(false);
  }

  stop(): void {
    clearTimeout(this.timer);
  }

  private wait(): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => (this.writes() ? this.wait() : this.end(false)), HELD_MS);
  }

  private end(focus: boolean): void {
    const was = this.on;
    this.pointer = false;
    this.focus = focus;
    if (focus) return this.wait();
    clearTimeout(this.timer);
    if (was) this.released();
  }
}
