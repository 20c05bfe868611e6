// The page in a window of the desktop shell: the same lines, over the shell's channel in the place of a WebSocket. Nothing is paired and
// nothing is signed: the shell is a program of the person's, and the server lets it in or refuses it for what it is. What came waits in
// the shell until it is read here, so that a page that is busy holds up only itself.

import { signal } from "@preact/signals";
import type { Env, Socket, Subscription } from "./link";

/** Asks the shell. */
export type Invoke = (command: string, args?: Record<string, unknown>) => Promise<unknown>;

interface Heard {
  lines: string[];
  end: { code: number; reason: string } | null;
}

/** The connection was lost, and nobody said why. */
const LOST = 1006;

/** What the shell puts into its windows. */
export function shell(): Invoke | undefined {
  return (globalThis as { __TAURI_INTERNALS__?: { invoke?: Invoke } }).__TAURI_INTERNALS__?.invoke;
}

/** What the person may set of the window, as `crates/window/src/kept.rs` has it. */
export interface WindowSettings {
  small: boolean;
  /** In percent. */
  zoom: number;
  hidden: boolean;
  /** Empty for none. */
  shortcut: string;
  notify: boolean;
  /** Who a session begins with; empty for Parlor's own agent. */
  agent: string;
  /** Where it begins; empty for the folder that was used last. */
  folder: string;
  autostart: boolean;
}

export interface WindowStanding {
  settings: WindowSettings;
  /** Whether the desktop has a tray. */
  tray: boolean;
  /** Why no program has a shortcut here. */
  no_shortcut: string | null;
}

/** What a session begins with where the person has set it, once the shell has said so; nothing in a browser. */
export const usual = signal<Pick<WindowSettings, "agent" | "folder"> | undefined>(undefined);

async function told(standing: Promise<unknown>): Promise<WindowStanding> {
  const known = (await standing) as WindowStanding;
  usual.value = known.settings;
  return known;
}

export const windowSettings = {
  read: (invoke: Invoke): Promise<WindowStanding> => told(invoke("settings")),
  /** Fails with the reason, in words. */
  set: (invoke: Invoke, wanted: WindowSettings): Promise<WindowStanding> => told(invoke("set_settings", { wanted })),
};

/** The picture in the clipboard, where there is one and no text: the view hands over none by itself. */
export async function pastedPicture(invoke: Invoke): Promise<File[]> {
  const bytes = (await invoke("pasted_picture")) as ArrayBuffer;
  return bytes.byteLength === 0 ? [] : [new File([bytes], "pasted.png", { type: "image/png" })];
}

/** A connection over the shell's channel. */
export class WindowSocket implements Socket {
  onmessage: Socket["onmessage"] = null;
  onclose: Socket["onclose"] = null;
  private readonly number: Promise<number | undefined>;
  private closed = false;
  /** Said and not handed over yet: what is said next waits for it, so that lines stay in their order. */
  private waiting: string[] = [];
  private sending = false;

  constructor(
    wants: Subscription,
    private readonly invoke: Invoke,
  ) {
    this.number = this.open(wants);
    void this.hear();
  }

  send(text: string): void {
    this.waiting.push(text);
    if (!this.sending) void this.hand();
  }

  close(): void {
    this.closed = true;
    void this.number.then((number) => number !== undefined && this.invoke("channel_close", { number }));
  }

  private async open(wants: Subscription): Promise<number | undefined> {
    try {
      return (await this.invoke("channel_open", { wants })) as number;
    } catch (told) {
      // What the person is told in the place of a connection, or a shell that is gone.
      const heard = told as Partial<Heard> | undefined;
      // Whoever opened it is only now about to listen.
      await Promise.resolve();
      this.told({ lines: heard?.lines ?? [], end: heard?.end ?? { code: LOST, reason: "" } });
      return undefined;
    }
  }

  private async hear(): Promise<void> {
    const number = await this.number;
    while (number !== undefined && !this.closed) {
      const heard = (await this.invoke("channel_read", { number }).catch(() => undefined)) as Heard | undefined;
      this.told(heard ?? { lines: [], end: { code: LOST, reason: "" } });
    }
  }

  private told({ lines, end }: Heard): void {
    for (const data of lines) if (!this.closed) this.onmessage?.({ data });
    if (end === null || this.closed) return;
    this.closed = true;
    this.onclose?.(end);
  }

  private async hand(): Promise<void> {
    this.sending = true;
    const number = await this.number;
    while (this.waiting.length > 0 && number !== undefined && !this.closed) {
      const lines = this.waiting;
      this.waiting = [];
      // A connection that is gone is told where it is read.
      await this.invoke("channel_send", { number, lines }).catch(() => undefined);
    }
    this.sending = false;
  }
}

/** The window that the page is in. */
export function windowed(invoke: Invoke): Env {
  return {
    open: (wants) => new WindowSocket(wants, invoke),
    host: "",
    now: () => Date.now(),
    later: (ms, what) => {
      const timer = setTimeout(what, ms);
      return () => clearTimeout(timer);
    },
    // Why it cannot is told by `open`.
    begin: () =>
      invoke("begin").then(
        () => undefined,
        () => undefined,
      ),
    enrolled: async () => true,
    sign: async () => undefined,
    server: () => undefined,
    nonce: () => "",
    isProof: async () => false,
    leaveFor: () => false,
  };
}
