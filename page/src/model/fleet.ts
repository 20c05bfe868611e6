// The fleet: rows as the server tells them, all at first and then what changed.

import { signal } from "@preact/signals";
import type { ReadonlySignal, Signal as Value } from "@preact/signals";
import type { LinkListener, Link } from "./link";
import { isOther, OWN } from "./own";
import type { Clock } from "./session";
import type { DeviceRole, FleetPort, FleetRow, Joined, LookUp, Pairing, ConnectionState } from "../view/ports";

/** Devices that it is told of at once; of more, the newest. */
const MAX_JOINED = 8;

interface Told {
  rows?: Rows;
  said?: { id: number; words: string };
  found?: { id: number; is?: unknown; words?: string };
  pairing?: (Omit<Pairing, "until"> & { seconds: number }) | null;
  joined?: { device: Joined };
}

interface Rows {
  all?: boolean;
  rows?: FleetRow[];
  gone?: string[];
}

export class Fleet implements FleetPort {
  readonly rows: Value<FleetRow[]> = signal([]);
  readonly role: Value<DeviceRole> = signal("observer");
  readonly version: Value<string | undefined> = signal(undefined);
  readonly known: Value<boolean> = signal(false);
  readonly newer: Value<boolean> = signal(false);
  readonly pairing: Value<Pairing | undefined> = signal(undefined);
  readonly joined: Value<readonly Joined[]> = signal([]);
  private self: string | undefined;
  private readonly connectionNow: Value<ConnectionState>;
  private readonly byKey = new Map<string, FleetRow>();
  private readonly asked = new Map<number, (words: string) => void>();
  private readonly looked = new Map<number, { tell: (found: unknown) => void; fail: (words: string) => void }>();
  private link: Link | undefined;
  private nextId = 1;
  private framed = false;

  constructor(
    private readonly clock: Clock,
    private readonly own: string | undefined = OWN,
  ) {
    this.connectionNow = signal({ is: "connecting", since: clock.now() });
  }

  get connection(): ReadonlySignal<ConnectionState> {
    return this.connectionNow;
  }

  readonly listener: LinkListener = {
    opened: (device, version, page) => {
      this.newer.value = isOther(this.own, page);
      this.role.value = device.role;
      this.self = device.id;
      this.version.value = version;
    },
    line: (text) => this.line(text),
    connection: (connection) => {
      this.connectionNow.value = connection;
      if (connection.is === "up") return;
      // Whether it still asks is told anew.
      this.pairing.value = undefined;
      for (const tell of this.asked.values()) tell("The connection was lost: nobody knows whether it was done");
      this.asked.clear();
      for (const { fail } of this.looked.values()) fail("The connection was lost");
      this.looked.clear();
    },
  };

  use(link: Link): void {
    this.link = link;
  }

  private line(text: string): void {
    let said: Told;
    try {
      said = JSON.parse(text);
    } catch {
      return;
    }
    if (said.said) {
      this.asked.get(said.said.id)?.(said.said.words);
      this.asked.delete(said.said.id);
    }
    if (said.found) {
      const looked = this.looked.get(said.found.id);
      this.looked.delete(said.found.id);
      if (said.found.words !== undefined) looked?.fail(said.found.words);
      else looked?.tell(said.found.is);
    }
    if (said.pairing !== undefined) this.asks(said.pairing);
    if (said.joined) this.joins(said.joined.device);
    if (!said.rows) return;
    if (said.rows.all) this.byKey.clear();
    for (const row of said.rows.rows ?? []) this.byKey.set(row.key, row);
    for (const key of said.rows.gone ?? []) this.byKey.delete(key);
    if (this.framed) return;
    this.framed = true;
    this.clock.frame(() => {
      this.framed = false;
      this.rows.value = [...this.byKey.values()];
      this.known.value = true;
    });
  }

  act(key: string, what: { steer: string } | "stop"): Promise<string> {
    return new Promise((tell) => {
      const id = this.nextId++;
      if (this.link?.send(JSON.stringify({ act: { id, key, what } }))) this.asked.set(id, tell);
      else tell("No connection to Parlor: nothing was done");
    });
  }

  look<K extends keyof LookUp>(up: LookUp[K]["asks"] & Record<K, unknown>): Promise<LookUp[K]["tells"]> {
    return new Promise((tell, fail) => {
      const id = this.nextId++;
      if (this.link?.send(JSON.stringify({ look: { id, up: "start" in up ? "start" : up } })))
        this.looked.set(id, { tell: tell as (found: unknown) => void, fail });
      else fail("No connection to Parlor");
    });
  }

  private asks(asking: Told["pairing"]): void {
    if (!asking) return void (this.pairing.value = undefined);
    const { seconds, ...pairing } = asking;
    this.pairing.value = { ...pairing, until: this.clock.now() + seconds * 1000 };
  }

  private joins(device: Joined): void {
    if (device.id === this.self) return;
    this.joined.value = [...this.joined.value.filter((one) => one.id !== device.id), device].slice(-MAX_JOINED);
  }

  pair(id: number, allow: boolean): boolean {
    return this.link?.send(JSON.stringify({ pair: { id, allow } })) ?? false;
  }

  revoke(device: string): boolean {
    return this.link?.send(JSON.stringify({ revoke: { device } })) ?? false;
  }

  seenJoined(device: string): void {
    this.joined.value = this.joined.value.filter((one) => one.id !== device);
  }

  retryNow(): void {
    this.link?.retryNow();
  }
}
