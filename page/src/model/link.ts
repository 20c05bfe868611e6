// The connection to Parlor: lines in, lines out, and how it stands. `WebSocketLink` is the one for browsers; a shell around
// the page may bring another. Whoever uses a link is told when it is open anew, and says then what it knows already
// (`session.ts`), so that nothing is missed or heard twice.
//
// connecting → (challenge, the server's proof, signature, welcome) → up → lost → connecting …; `unpaired`, `revoked`,
// `other_run`, `impostor` and `refused` end it until `retryNow`. A tab that knows the server's key says nothing but a
// number to whoever has not shown to have it.

import { holds, isProof, known, meet, newNonce, offeredAt, serverKey, shown } from "./device";
import type { Device } from "./device";
import type { ConnectionState } from "../view/ports";

/** What a socket is opened for. */
export type Subscription = "fleet" | { session: string } | { new: { cwd?: string; model?: string; agent?: string } };

export interface LinkListener {
  /** The link is open; lines may be sent from here on. `page` tells which page the server has. */
  opened(device: Device, version: string, page?: string | undefined): void;
  line(text: string): void;
  connection(connection: ConnectionState): void;
}

export interface Link {
  /** False when there is no connection: nothing was sent. */
  send(text: string): boolean;
  /** The machine was asleep or out of reach: what looks open may be dead. */
  wake(): void;
  /** Opens anew at once. */
  retryNow(): void;
  close(): void;
}

/** Of a WebSocket, what is used; tests bring their own. */
export interface Socket {
  send(text: string): void;
  close(): void;
  onmessage: ((message: { data: unknown }) => void) | null;
  onclose: ((closed: { code: number; reason?: string }) => void) | null;
}

/** What a link needs of the browser; tests bring their own. */
export interface Env {
  /** `wants` is for those who need no word on it to be told so. */
  open(wants: Subscription): Socket;
  host: string;
  now(): number;
  later(ms: number, what: () => void): () => void;
  /** Has Parlor begun, where that can be done from here: when the page begins, and when the person wants to try again. */
  begin?(): Promise<void>;
  /** Whether this browser has ever been enrolled here. */
  enrolled(): Promise<boolean>;
  /** Signs a challenge for this device; `undefined` while it is not enrolled. */
  sign(nonce: string, host: string): Promise<{ id: string; signature: string; with?: "tab" } | undefined>;
  /** The server's key, where this tab holds it. */
  server(): string | undefined;
  /** A server with this key has welcomed this tab. */
  met?(server: string): void;
  /** A number for the server to sign. */
  nonce(): string;
  isProof(signature: string, server: string, mine: string, host: string, theirs: string): Promise<boolean>;
  /** Goes where a browser can be enrolled now; false where that is no place of this server. */
  leaveFor(open: string | undefined): boolean;
}

/** Waits before a new try. The first is at once: most losses are a passing one. */
export const WAITS_MS = [0, 1000, 2000, 4000, 8000, 15000, 30000];
/** A welcome that does not come by then never will. */
export const HANDSHAKE_MS = 10_000;
/** A socket that was silent for so long is not believed after waking. */
export const STALE_MS = 5_000;
/** Nobody answered for so long: Parlor has stopped. */
export const STOPPED_MS = 60_000;

const REVOKED = 4410;
/** The server ends, and says so in words. */
const LEAVES = 1001;

/** Why the server sends a page away. */
export interface Refused {
  code: string;
  message: string;
  hint?: string;
  /** Where a browser can be enrolled now. */
  open?: string;
}

export class WebSocketLink implements Link {
  private socket: Socket | undefined;
  private up = false;
  private ended = false;
  private tries = 0;
  private lostSince: number | undefined;
  private heardAt = 0;
  /** The server has said that it ends: when it is not back at once, it has stopped. */
  private goodbye = false;
  private page: string | undefined;
  /**
   * What was said on this connection so far: the server's challenge, our number for the server, and whether it has
   * shown who it is.
   */
  private shaking: { challenge?: Challenge; mine?: string; proven: boolean } = { proven: false };
  private cancel: (() => void) | undefined;

  constructor(
    private readonly subscription: () => Subscription,
    private readonly listener: LinkListener,
    private readonly env: Env = browser(),
  ) {}

  /** Opens it; `connection` tells how that goes. */
  start(): void {
    this.listener.connection({ is: "connecting", since: this.env.now() });
    this.connect();
  }

  send(text: string): boolean {
    if (!this.up || !this.socket) return false;
    this.socket.send(text);
    return true;
  }

  wake(): void {
    if (this.ended) return;
    // One that is just being opened is no older than that.
    if (this.socket && this.env.now() - this.heardAt < STALE_MS) return;
    this.retryNow();
  }

  retryNow(): void {
    this.ended = false;
    this.tries = 0;
    this.drop();
    this.connect();
  }

  /** The network is gone: whoever is still there, on this machine, answers at the next try. */
  cut(): void {
    if (!this.ended && this.socket) this.lost();
  }

  close(): void {
    this.ended = true;
    this.drop();
  }

  /** Lets go of the socket without a word to it or from it. */
  private drop(): void {
    this.cancel?.();
    this.cancel = undefined;
    this.up = false;
    const socket = this.socket;
    this.socket = undefined;
    if (!socket) return;
    socket.onmessage = null;
    socket.onclose = null;
    socket.close();
  }

  private connect(): void {
    let socket: Socket;
    try {
      socket = this.env.open(this.subscription());
    } catch {
      this.lost();
      return;
    }
    this.socket = socket;
    this.heardAt = this.env.now();
    this.shaking = { proven: this.env.server() === undefined };
    this.wait(() => this.lost());
    socket.onmessage = ({ data }) => {
      this.heardAt = this.env.now();
      if (typeof data !== "string") return;
      if (this.up) this.listener.line(data);
      else void this.shake(socket, data);
    };
    socket.onclose = ({ code, reason }) => {
      if (code === LEAVES && reason) this.goodbye = true;
      // Before the welcome anybody may say so.
      if (code === REVOKED && this.up) this.end({ is: "revoked" });
      else this.lost();
    };
  }

  /** From now on `what` happens when nothing comes in time. */
  private wait(what: () => void): void {
    this.cancel?.();
    this.cancel = this.env.later(HANDSHAKE_MS, what);
  }

  private async shake(socket: Socket, text: string): Promise<void> {
    const words = said(text) as Shaking;
    const { shaking } = this;
    const server = this.env.server();
    if (words.challenge) {
      // One for each connection: nobody has this device sign what they like.
      if (shaking.challenge) return;
      shaking.challenge = words.challenge;
      if (shaking.proven || server === undefined) return this.show(socket, words.challenge);
      if (words.challenge.server !== server) return this.end({ is: "impostor" });
      shaking.mine = this.env.nonce();
      socket.send(JSON.stringify({ prove: { nonce: shaking.mine } }));
      const asked = this.env.now();
      // After a sleep of this machine nobody has had the time.
      this.wait(() => (this.env.now() - asked > 2 * HANDSHAKE_MS ? this.lost() : this.end({ is: "impostor" })));
    } else if (words.proof && !shaking.proven) {
      const { challenge, mine } = shaking;
      if (!challenge || mine === undefined || server === undefined) return this.end({ is: "impostor" });
      delete shaking.mine;
      const holds = await this.env.isProof(words.proof.signature, server, mine, this.env.host, challenge.nonce);
      if (this.socket !== socket) return;
      if (!holds) return this.end({ is: "impostor" });
      shaking.proven = true;
      this.wait(() => this.lost());
      await this.show(socket, challenge);
    } else if (!shaking.proven) {
      // What this one says counts for nothing; that it has no room is no harm to believe.
      if (words.refused?.code === "too_many") this.lost();
      else this.end({ is: "impostor" });
    } else if (words.welcome) {
      this.cancel?.();
      this.cancel = undefined;
      this.up = true;
      this.tries = 0;
      this.lostSince = undefined;
      this.goodbye = false;
      // Over HTTPS the address itself tells who answers.
      if (shaking.challenge?.server !== undefined && !shaking.challenge.lasting)
        this.env.met?.(shaking.challenge.server);
      this.listener.connection({ is: "up" });
      this.listener.opened(words.welcome.device, words.welcome.version, this.page);
    } else if (words.refused) {
      this.refused(words.refused);
    }
  }

  /** Says who this is. */
  private async show(socket: Socket, challenge: Challenge): Promise<void> {
    this.page = challenge.page;
    const signed = await this.env.sign(challenge.nonce, this.env.host).catch(() => undefined);
    if (this.socket !== socket) return;
    if (!signed) this.end({ is: "unpaired" });
    else socket.send(JSON.stringify({ device: { ...signed, wants: this.subscription() } }));
  }

  private refused({ code, message, hint, open }: Refused): void {
    if (code === "other_run") {
      if (!this.env.leaveFor(open)) this.end({ is: "other_run" });
    } else if (code === "unknown_device" || code === "bad_signature") this.end({ is: "unpaired" });
    else if (code === "revoked") this.end({ is: "revoked" });
    else if (code === "too_many") this.lost();
    else this.end({ is: "refused", message, hint });
  }

  private end(connection: ConnectionState): void {
    this.ended = true;
    this.drop();
    this.listener.connection(connection);
  }

  private lost(): void {
    this.drop();
    if (this.ended) return;
    const now = this.env.now();
    this.lostSince ??= now;
    const wait = WAITS_MS[Math.min(this.tries, WAITS_MS.length - 1)] as number;
    this.tries += 1;
    if (now - this.lostSince >= STOPPED_MS || (this.goodbye && this.tries > 1))
      this.listener.connection({ is: "stopped" });
    else this.listener.connection({ is: "lost", since: this.lostSince, retryAt: now + wait });
    this.cancel = this.env.later(wait, () => this.connect());
  }
}

interface Challenge {
  nonce: string;
  version: string;
  page: string;
  server?: string;
  lasting?: boolean;
}

interface Shaking {
  challenge?: Challenge;
  proof?: { signature: string };
  welcome?: { device: Device; version: string };
  refused?: Refused;
}

/** A message as an object; one that is none says nothing. */
export function said(text: unknown): object {
  if (typeof text !== "string") return {};
  try {
    const said: unknown = JSON.parse(text);
    return typeof said === "object" && said !== null ? said : {};
  } catch {
    return {};
  }
}

/** The browser that the page is in. */
export function browser(): Env {
  return {
    open: () =>
      new WebSocket(`${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/wire`) as unknown as Socket,
    host: location.host,
    now: () => Date.now(),
    later: (ms, what) => {
      const timer = setTimeout(what, ms);
      return () => clearTimeout(timer);
    },
    enrolled: async () => holds() !== undefined || (await known()) !== undefined,
    sign: shown,
    server: serverKey,
    met: meet,
    nonce: newNonce,
    isProof,
    leaveFor: (open) => {
      const there = offeredAt(open, location);
      if (there === undefined) return false;
      location.replace(there);
      return true;
    },
  };
}

/** Tells when the network is gone: a socket may look alive long after. Gives what ends that. */
export function cutOff(what: () => void): () => void {
  globalThis.addEventListener?.("offline", what);
  return () => globalThis.removeEventListener?.("offline", what);
}

/** Wakes links when the page is looked at again or the network is back. Gives what ends that. */
export function wakeful(wake: () => void): () => void {
  const seen = (): void => {
    if (document.visibilityState === "visible") wake();
  };
  document.addEventListener("visibilitychange", seen);
  window.addEventListener("online", wake);
  window.addEventListener("pageshow", wake);
  return () => {
    document.removeEventListener("visibilitychange", seen);
    window.removeEventListener("online", wake);
    window.removeEventListener("pageshow", wake);
  };
}
