// What the view wants of the model. One file, so that whatever carries the lines can change without a screen noticing.

import type { ReadonlySignal } from "@preact/signals";
import type { State } from "../model/state";
import { visible } from "./text/unseen";
import type {
  Abilities,
  Answer,
  Board,
  Closing,
  Command,
  Input,
  Part,
  Receipt,
  Signal,
  Standing,
} from "../model/types";

/** What this device may do, as the server enforces it. */
export type DeviceRole = Standing;

/** How the connection to Parlor is. */
export type ConnectionState =
  | { is: "connecting"; since: number }
  | { is: "up" }
  /** Lost; tried again at `retryAt`. */
  | { is: "lost"; since: number; retryAt: number | undefined }
  /** Nobody answers any more. */
  | { is: "stopped" }
  /** This device asks to be paired; both sides show the code until then. */
  | { is: "pairing"; code?: string; until?: number }
  /** This device is not paired; why not, where it has asked. */
  | { is: "unpaired"; refused?: { code: string; message: string; hint?: string } }
  /** Parlor was started again since this page was paired, and was not open meanwhile. */
  | { is: "other_run" }
  /** Whoever answers is not the Parlor that this page was paired with. */
  | { is: "impostor" }
  | { is: "revoked" }
  /** The server is newer and wants another page. */
  | { is: "newer" }
  | { is: "refused"; message: string; hint: string | undefined };

/**
 * What this page holds is not what Parlor holds, as the hashes tell: it is being read again, it was read again, or
 * reading it again does not help.
 */
export type Doubt = "reading" | "read" | "disagrees";

/** A prompt that is not settled yet. */
export interface Unsent {
  id: string;
  text: string;
  /** It waits for the connection. */
  kept: boolean;
  /** The connection was lost before Parlor answered: nobody knows whether it was taken. `sendAgain` or `takeBack`. */
  uncertain?: boolean;
}

export interface Draft {
  text: string;
  attachments: Part[];
}

export interface SessionPort {
  readonly id: ReadonlySignal<string | undefined>;
  /** The same object all the time may change inside; `rev` tells that it did. */
  readonly state: ReadonlySignal<State>;
  readonly rev: ReadonlySignal<number>;
  readonly board: ReadonlySignal<Board>;
  readonly abilities: ReadonlySignal<Abilities>;
  readonly connection: ReadonlySignal<ConnectionState>;
  readonly role: ReadonlySignal<DeviceRole>;
  readonly unsent: ReadonlySignal<Unsent[]>;
  readonly doubt?: ReadonlySignal<Doubt | undefined>;
  /** The person has read of the doubt. */
  seenDoubt?(): void;
  /**
   * Words that were queued here and that nobody will hear: they go back into the composer, which says so with
   * `seenReturned`.
   */
  readonly returned?: ReadonlySignal<Input[]>;
  seenReturned?(): void;
  /** How a question ended, where it ended while this page looked. */
  closing?(ask: number): Closing | undefined;
  /** Whether a waiting input was queued from here. */
  isOwn?(item: number): boolean;
  /** Settles with a receipt, or throws a refusal. */
  send(command: Command): Promise<Receipt>;
  answer(ask: number, answer: Answer): Promise<Receipt>;
  /** This question is on the screen. */
  shown?(ask: number): void;
  /** A prompt that is kept until Parlor answers. */
  prompt(command: Command, text: string): Promise<Receipt>;
  takeBack(id: string): void;
  sendAgain?(id: string): void;
  /** Words that come and go: notices, text for the composer, suggestions. */
  onSignal(hear: (signal: Signal) => void): () => void;
  loadDraft(): Promise<Draft | undefined>;
  saveDraft(draft: Draft): void;
  /** The reason for a no to this question, as far as it was written. */
  loadReason?(ask: number): Promise<string | undefined>;
  saveReason?(ask: number, text: string): void;
  retryNow(): void;
  close(): void;
}

/** How a session stands, in the words of `crates/domain/src/fleet/words.rs`. */
export type FleetStatus =
  | "waiting"
  | "running"
  | "new"
  | "done"
  | "failed"
  | "stopped"
  | "interrupted"
  | "lost"
  | "kept"
  | "silent"
  | "other"
  | "dead";

/** A session of the fleet; what is absent is not known. */
export interface FleetRow {
  key: string;
  status: FleetStatus;
  asks?: number | undefined;
  question?: string | undefined;
  session?: string | undefined;
  pid?: number | undefined;
  title?: string | undefined;
  cwd?: string | undefined;
  since?: number | undefined;
  cost_micros?: number | undefined;
  rough?: boolean | undefined;
  branch?: string | undefined;
  runtime?: string | undefined;
  about?: string | undefined;
}

/** A device that asks to be paired. */
export interface Pairing {
  id: number;
  name: string;
  role: DeviceRole;
  /** What it shows; only controllers are told. */
  code?: string | undefined;
  /** When it is too late. */
  until: number;
}

/** A device that was paired while this page looked. */
export interface Joined {
  id: string;
  name: string;
  role: DeviceRole;
}

/** What a session is begun with. */
export interface Beginning {
  words?: string;
  cwd?: string;
  /** As provider/name; without it the usual one. */
  model?: string;
  /** Another program's agent, by its name. */
  agent?: string;
}

/** Where sessions begin, and with which models. */
export interface StartInfo {
  cwd?: string | null;
  /** Whose agent it is. */
  agent: string;
  models: string[];
  /** The one that is used where none is named. */
  model?: string | null;
  /** Other programs' agents that may be begun; an older server tells none. */
  agents?: string[];
}

/** A session in which words were said. */
export interface Said {
  session: string;
  title: string;
  cwd: string;
  at: number;
  /** The text around the newest place. */
  snippet?: string;
  hits?: number;
}

/** What is asked for that no session tells, each with what comes back. */
export interface LookUp {
  start: { asks: { start: true }; tells: StartInfo };
  folders: { asks: { folders: string }; tells: { folders: string[] } };
  search: { asks: { search: string }; tells: { sessions: Said[] } };
  log: { asks: { log: string }; tells: { lines: string[] } };
}

export interface FleetPort {
  readonly rows: ReadonlySignal<FleetRow[]>;
  readonly connection: ReadonlySignal<ConnectionState>;
  readonly role: ReadonlySignal<DeviceRole>;
  readonly version: ReadonlySignal<string | undefined>;
  /** Whether the server has told which sessions there are. */
  readonly known?: ReadonlySignal<boolean>;
  /** The server has another page than this one. */
  readonly newer?: ReadonlySignal<boolean>;
  /** The device that asks to be paired, while it does. */
  readonly pairing?: ReadonlySignal<Pairing | undefined>;
  /** Devices that were paired, until the person has read of them. */
  readonly joined?: ReadonlySignal<readonly Joined[]>;
  act(key: string, what: { steer: string } | "stop"): Promise<string>;
  /** Looks something up; throws words for the person. */
  look?<K extends keyof LookUp>(up: LookUp[K]["asks"] & Record<K, unknown>): Promise<LookUp[K]["tells"]>;
  /** Says whether the device may; false when nothing was sent. */
  pair?(id: number, allow: boolean): boolean;
  /** Takes a device off the list; false when nothing was sent. */
  revoke?(device: string): boolean;
  /** The person has read of the device. */
  seenJoined?(device: string): void;
  retryNow(): void;
}

export interface World {
  readonly fleet: FleetPort;
  open(session: string): SessionPort;
  begin(wanted: Beginning): SessionPort;
  /** Loads the page that the server has now. What is being written is kept first. */
  reload?(): Promise<void>;
}

/** The words of whatever was thrown: a refusal, or a defect. */
export function refusalWords(error: unknown): string {
  if (typeof error === "object" && error !== null && "message" in error) {
    const { message, hint } = error as { message: unknown; hint?: unknown };
    return visible(typeof hint === "string" && hint !== "" ? `${String(message)}. ${hint}` : String(message));
  }
  return visible(String(error));
}
