// How a browser becomes a device, against a server that a test plays; and what a tab that knows Parlor says to one that
// it does not know.

import "fake-indexeddb/auto";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { DEVICE, forget } from "./database";
import { hold, holds, isProof, known, meet, newKey, serverKey, shown, signed } from "./device";
import { enrol } from "./enrol";
import type { Code, EnrolEnv } from "./enrol";
import { HANDSHAKE_MS, WebSocketLink } from "./link";
import type { Socket, Env } from "./link";
import { openWorld } from "./world";
import type { ConnectionState } from "../view/ports";

const HOST = "k3v9x2m7ab.localhost:8322";

class Wire implements Socket {
  said: string[] = [];
  closed = false;
  onmessage: Socket["onmessage"] = null;
  onclose: Socket["onclose"] = null;
  send(text: string): void {
    this.said.push(text);
  }
  close(): void {
    this.closed = true;
  }
  say(value: unknown): void {
    this.onmessage?.({ data: JSON.stringify(value) });
  }
  /** What the page says next. */
  async next(): Promise<Record<string, Record<string, string>>> {
    await vi.waitFor(() => expect(this.said.length).toBeGreaterThan(0), { timeout: 30_000, interval: 1 });
    return JSON.parse(this.said.shift() ?? "");
  }
}

class FakeEnv implements EnrolEnv {
  wires: Wire[] = [];
  time = 0;
  timers: { at: number; what: () => void }[] = [];
  host = HOST;
  now = (): number => this.time;
  open = (): Wire => {
    const wire = new Wire();
    this.wires.push(wire);
    return wire;
  };
  later = (ms: number, what: () => void): (() => void) => {
    const timer = { at: this.time + ms, what };
    this.timers.push(timer);
    return () => (this.timers = this.timers.filter((one) => one !== timer));
  };
  name = (): string => "Firefox on Linux";
  pass(ms: number): void {
    this.time += ms;
    for (const timer of this.timers.filter((one) => one.at <= this.time)) {
      this.timers = this.timers.filter((one) => one !== timer);
      timer.what();
    }
  }
  async wire(at = 0): Promise<Wire> {
    await vi.waitFor(() => expect(this.wires.length).toBeGreaterThan(at), { timeout: 30_000, interval: 1 });
    return this.wires[at] as Wire;
  }
}

const DEVICE_ONE = { id: "dev-1", name: "Firefox on Linux", role: "controller" as const };
let server: { key: CryptoKey; shown: string };
beforeEach(async () => void (server = await newKey()));
afterEach(async () => {
  hold(undefined);
  await forget(DEVICE, "this");
});

test("a browser shows the code, and holds two keys and the server's once a person has said yes", async () => {
  const fake = new FakeEnv();
  const codes: Code[] = [];
  const done = enrol((code) => codes.push(code), fake);
  const wire = await fake.wire();
  wire.say({ challenge: { nonce: "n1", version: "0.1.0", page: "p", server: server.shown, lasting: false } });
  const { enrol: asked } = await wire.next();
  expect(Object.keys(asked ?? {}).sort()).toEqual(["key", "name", "signature", "tab"]);
  expect(asked?.name).toBe("Firefox on Linux");
  expect(asked?.key).not.toBe(asked?.tab);
  const words = ["parlor-enrol-1", "n1", HOST, asked?.key ?? "", asked?.tab ?? ""];
  expect(await isSigned(asked?.key, asked?.signature, words)).toBe(true);
  wire.say({ code: { code: "482 913", seconds: 57 } });
  expect(codes).toEqual([{ code: "482 913", until: 57_000 }]);
  expect([holds(), await known()]).toEqual([undefined, undefined]);
  // A second challenge is not signed.
  wire.say({ challenge: { nonce: "n2", server: server.shown } });
  wire.say({ enrolled: { device: DEVICE_ONE } });
  // The server has nothing more to say, before anything was kept.
  wire.onclose?.({ code: 1000 });
  expect(await done).toBeUndefined();
  expect([wire.said, wire.closed]).toEqual([[], true]);
  expect(holds()).toMatchObject({ id: "dev-1", server: server.shown });
  expect((await known())?.device).toEqual(DEVICE_ONE);
  for (const key of [holds()?.key, (await known())?.key]) expect(key?.extractable).toBe(false);
  // What it says from now on is the tab's.
  const said = await shown("n3", HOST);
  expect(said?.with).toBe("tab");
  expect(await isSigned(asked?.tab, said?.signature, ["parlor-device-1", "n3", HOST, "dev-1"])).toBe(true);
});

async function isSigned(key: string | undefined, signature: string | undefined, words: string[]): Promise<boolean> {
  const bytes = (text = ""): Uint8Array<ArrayBuffer> =>
    Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0));
  const shown = await crypto.subtle.importKey("raw", bytes(key), { name: "ECDSA", namedCurve: "P-256" }, false, [
    "verify",
  ]);
  return crypto.subtle.verify(
    { name: "ECDSA", hash: "SHA-256" },
    shown,
    bytes(signature),
    new TextEncoder().encode(words.join("\n")),
  );
}

test("where the key lasts there is no other, and the tab holds nothing", async () => {
  const fake = new FakeEnv();
  const done = enrol(() => undefined, fake);
  const wire = await fake.wire();
  wire.say({ challenge: { nonce: "n1", server: server.shown, lasting: true } });
  const { enrol: asked } = await wire.next();
  expect(Object.keys(asked ?? {}).sort()).toEqual(["key", "name", "signature"]);
  expect(await isSigned(asked?.key, asked?.signature, ["parlor-enrol-1", "n1", HOST, asked?.key ?? "", ""])).toBe(true);
  wire.say({ enrolled: { device: DEVICE_ONE } });
  expect(await done).toBeUndefined();
  expect([holds(), (await known())?.device.id]).toEqual([undefined, "dev-1"]);
  expect((await shown("n", HOST))?.with).toBeUndefined();
});

test("a refusal says why, a loss and a silence too, and nothing is kept", async () => {
  const refusal = { code: "denied", message: "the answer was no", hint: "run `parlor web`" };
  for (const [end, code] of [
    [(wire: Wire) => wire.say({ refused: refusal }), "denied"],
    [(wire: Wire) => wire.onclose?.({ code: 1006 }), "lost"],
    [(_: Wire, fake: FakeEnv) => fake.pass(HANDSHAKE_MS), "lost"],
  ] as [(wire: Wire, fake: FakeEnv) => void, string][]) {
    const fake = new FakeEnv();
    const done = enrol(() => undefined, fake);
    end(await fake.wire(), fake);
    expect((await done)?.code).toBe(code);
  }
  // A person may take as long as was said, and no longer.
  const fake = new FakeEnv();
  const done = enrol(() => undefined, fake);
  const wire = await fake.wire();
  wire.say({ challenge: { nonce: "n1", server: server.shown } });
  await wire.next();
  wire.say({ code: { code: "1", seconds: 57 } });
  fake.pass(57_000);
  expect(wire.closed).toBe(false);
  fake.pass(HANDSHAKE_MS);
  expect((await done)?.code).toBe("lost");
  expect(await known()).toBeUndefined();
});

test("a tab that knows Parlor asks nobody else to be enrolled", async () => {
  hold({ id: "dev-1", key: (await newKey()).key, server: server.shown });
  const fake = new FakeEnv();
  const done = enrol(() => undefined, fake);
  const wire = await fake.wire();
  wire.say({ challenge: { nonce: "n1", server: (await newKey()).shown } });
  expect((await done)?.code).toBe("impostor");
  expect(wire.said).toEqual([]);
});

/** A link of a tab, with what it was told. */
function linked(
  known: boolean,
  met: (server: string) => void = () => undefined,
): {
  fake: FakeEnv;
  link: WebSocketLink;
  connections: ConnectionState[];
  opened: number[];
  left: (string | undefined)[];
} {
  const fake = new FakeEnv();
  const [connections, opened, left]: [ConnectionState[], number[], (string | undefined)[]] = [[], [], []];
  const leaveFor = (open: string | undefined): boolean => left.push(open) > 0 && open !== undefined;
  const env: Env = {
    open: fake.open,
    host: HOST,
    now: fake.now,
    later: fake.later,
    sign: async (nonce) => ({ id: "dev-1", signature: `signed ${nonce}`, with: "tab" }),
    enrolled: async () => true,
    server: () => (known ? server.shown : undefined),
    met,
    nonce: () => "mine",
    isProof,
    leaveFor,
  };
  const link = new WebSocketLink(
    () => "fleet",
    {
      opened: () => void opened.push(1),
      line: () => undefined,
      connection: (connection) => void connections.push(connection),
    },
    env,
  );
  link.start();
  return { fake, link, connections, opened, left };
}

const challenge = (shown: string | undefined) => ({
  challenge: { nonce: "theirs", version: "0.1.0", page: "p", server: shown, lasting: false },
});

test("a tab that knows the server has it show who it is, and only then says who it is itself", async () => {
  const { fake, connections, opened } = linked(true);
  const wire = await fake.wire();
  wire.say(challenge(server.shown));
  expect(await wire.next()).toEqual({ prove: { nonce: "mine" } });
  expect(wire.said).toEqual([]);
  wire.say({ proof: { signature: await signed(server.key, ["parlor-server-1", "mine", HOST, "theirs"]) } });
  expect(await wire.next()).toEqual({
    device: { id: "dev-1", signature: "signed theirs", with: "tab", wants: "fleet" },
  });
  wire.say({ welcome: { device: DEVICE_ONE, version: "0.1.0" } });
  expect([connections.at(-1), opened.length]).toEqual([{ is: "up" }, 1]);
});

test("a tab that was loaded again knows the server from its first welcome on, and over HTTPS by its address", async () => {
  for (const lasting of [false, true]) {
    const met: string[] = [];
    const { fake } = linked(false, (server) => void met.push(server));
    const wire = await fake.wire();
    wire.say({ challenge: { nonce: "theirs", version: "0.1.0", page: "p", server: server.shown, lasting } });
    await wire.next();
    expect(met).toEqual([]);
    wire.say({ welcome: { device: DEVICE_ONE, version: "0.1.0" } });
    expect(met).toEqual(lasting ? [] : [server.shown]);
  }
  meet("first");
  meet("second");
  expect(serverKey()).toBe("first");
});

test("whoever is not that server hears nothing but a number", async () => {
  const other = await newKey();
  const bad = await signed(other.key, ["parlor-server-1", "mine", HOST, "theirs"]);
  const replayed = await signed(server.key, ["parlor-server-1", "another", HOST, "theirs"]);
  const relayed = await signed(server.key, ["parlor-server-1", "mine", "127.0.0.1:9", "theirs"]);
  for (const [name, says, heard] of [
    ["another key", [challenge(other.shown)], 0],
    ["no key", [challenge(undefined)], 0],
    ["a welcome at once", [{ welcome: { device: DEVICE_ONE, version: "0.1.0" } }], 0],
    [
      "a refusal that leads elsewhere",
      [{ refused: { code: "other_run", message: "m", open: "http://x.localhost:8322/" } }],
      0,
    ],
    ["a proof without a challenge", [{ proof: { signature: bad } }], 0],
    ["a wrong proof", [challenge(server.shown), { proof: { signature: bad } }], 1],
    ["an old proof", [challenge(server.shown), { proof: { signature: replayed } }], 1],
    ["a proof for another host", [challenge(server.shown), { proof: { signature: relayed } }], 1],
    ["no proof, a welcome", [challenge(server.shown), { welcome: { device: DEVICE_ONE, version: "0.1.0" } }], 1],
    [
      "no proof, a second challenge, then a refusal",
      [challenge(server.shown), challenge(server.shown), { refused: { code: "unknown_device", message: "m" } }],
      1,
    ],
  ] as [string, unknown[], number][]) {
    const { fake, link, connections, opened, left } = linked(true);
    const wire = await fake.wire();
    for (const line of says) wire.say(line);
    await vi.waitFor(() => expect(connections.at(-1), name).toEqual({ is: "impostor" }), {
      timeout: 30_000,
      interval: 1,
    });
    expect(wire.said, name).toEqual(Array(heard).fill('{"prove":{"nonce":"mine"}}'));
    expect([wire.closed, opened.length, left.length], name).toEqual([true, 0, 0]);
    // It is not tried again by itself, also not when the page is looked at; only when a person says so.
    fake.pass(1_000_000);
    link.wake();
    expect(fake.wires.length, name).toBe(1);
    link.retryNow();
    expect(fake.wires.length, name).toBe(2);
  }
});

test("a proof that does not come is none; a sleep of the machine is no reason for that", async () => {
  const silent = linked(true);
  (await silent.fake.wire()).say(challenge(server.shown));
  silent.fake.pass(HANDSHAKE_MS);
  expect(silent.connections.at(-1)).toEqual({ is: "impostor" });
  const asleep = linked(true);
  (await asleep.fake.wire()).say(challenge(server.shown));
  asleep.fake.pass(3_600_000);
  expect(asleep.connections.at(-1)).toMatchObject({ is: "lost" });
  const full = linked(true);
  (await full.fake.wire()).say({ refused: { code: "too_many", message: "m" } });
  expect(full.connections.at(-1)).toMatchObject({ is: "lost" });
  // A connection that ends is lost, whatever it says with its end.
  const ended = linked(true);
  (await ended.fake.wire()).onclose?.({ code: 4410 });
  expect(ended.connections.at(-1)).toMatchObject({ is: "lost" });
});

test("a tab that was loaded anew signs once for each connection and is sent where it can be confirmed", async () => {
  const { fake, connections, left } = linked(false);
  const wire = await fake.wire();
  wire.say(challenge(server.shown));
  expect(await wire.next()).toHaveProperty("device");
  wire.say(challenge(server.shown));
  wire.say({ challenge: { nonce: "another", version: "", page: "" } });
  await Promise.resolve();
  expect(wire.said).toEqual([]);
  wire.say({ refused: { code: "other_run", message: "m" } });
  expect(connections.at(-1)).toEqual({ is: "other_run" });
  const offered = linked(false);
  const second = await offered.fake.wire();
  second.say(challenge(server.shown));
  await second.next();
  second.say({ refused: { code: "other_run", message: "m", open: "http://bbbb.localhost:8322/" } });
  expect([left, offered.left, offered.connections.map((connection) => connection.is)]).toEqual([
    [undefined],
    ["http://bbbb.localhost:8322/"],
    ["connecting"],
  ]);
});

test("a page that is nobody's asks to be paired by itself, once, and connects when it was", async () => {
  const fake = new FakeEnv();
  const left: (string | undefined)[] = [];
  let enrolled = false;
  const env: Env = {
    open: fake.open,
    host: HOST,
    now: fake.now,
    later: fake.later,
    sign: async () => (enrolled ? { id: "dev-1", signature: "s" } : undefined),
    enrolled: async () => enrolled,
    server: () => undefined,
    nonce: () => "",
    isProof,
    leaveFor: (open) => left.push(open) > 0 && open !== undefined,
  };
  const clock = { now: fake.now, frame: () => undefined, later: fake.later };
  const answers: ((refused: Awaited<ReturnType<typeof enrol>>) => void)[] = [];
  let show: (code: Code) => void = () => undefined;
  const pairs: typeof enrol = (showing) => {
    show = showing;
    return new Promise((done) => void answers.push(done));
  };
  const world = openWorld(
    env,
    clock,
    () => () => undefined,
    () => undefined,
    pairs,
  );
  const settle = (): Promise<void> => new Promise((done) => setTimeout(done, 0));
  await settle();
  expect([world.fleet.connection.value, fake.wires.length]).toEqual([{ is: "pairing" }, 0]);
  const session = world.open("sess-000000000001");
  (await fake.wire()).say(challenge(server.shown));
  await settle();
  expect(session.connection.value).toEqual({ is: "unpaired" });
  show({ code: "482 913", until: 5 });
  expect(world.fleet.connection.value).toEqual({ is: "pairing", code: "482 913", until: 5 });
  const refused = { code: "not_offered", message: "m" };
  answers[0]?.(refused);
  await settle();
  expect(world.fleet.connection.value).toEqual({ is: "unpaired", refused });
  fake.pass(1_000_000);
  expect([answers.length, fake.wires.length]).toEqual([1, 1]);
  // Asked to.
  world.fleet.retryNow();
  await settle();
  expect(answers.length).toBe(2);
  enrolled = true;
  answers[1]?.(undefined);
  const wire = await fake.wire(1);
  wire.say(challenge(server.shown));
  await wire.next();
  wire.say({ welcome: { device: DEVICE_ONE, version: "0.1.0" } });
  expect(world.fleet.connection.value).toEqual({ is: "up" });
  // The session that could not be opened before is opened now.
  expect(fake.wires.length).toBe(3);
  expect(left).toEqual([]);
});

test("a device that Parlor does not know any more is paired anew", async () => {
  const fake = new FakeEnv();
  let asked = 0;
  const env: Env = {
    open: fake.open,
    host: HOST,
    now: fake.now,
    later: fake.later,
    sign: async () => ({ id: "dev-1", signature: "s" }),
    enrolled: async () => true,
    server: () => undefined,
    nonce: () => "",
    isProof,
    leaveFor: () => false,
  };
  openWorld(
    env,
    { now: fake.now, frame: () => undefined, later: fake.later },
    () => () => undefined,
    () => undefined,
    async () => {
      asked += 1;
      return { code: "not_offered", message: "m" };
    },
  );
  const wire = await fake.wire();
  wire.say(challenge(server.shown));
  await wire.next();
  wire.say({ refused: { code: "unknown_device", message: "m" } });
  await vi.waitFor(() => expect(asked).toBe(1), { timeout: 30_000, interval: 1 });
});

test("a page under an old name goes where a browser can be paired now", async () => {
  const fake = new FakeEnv();
  const left: (string | undefined)[] = [];
  const env: Env = {
    open: fake.open,
    host: HOST,
    now: fake.now,
    later: fake.later,
    sign: async () => undefined,
    enrolled: async () => false,
    server: () => undefined,
    nonce: () => "",
    isProof,
    leaveFor: (open) => left.push(open) > 0 && open !== undefined,
  };
  const world = openWorld(
    env,
    { now: fake.now, frame: () => undefined, later: fake.later },
    () => () => undefined,
    () => undefined,
    async () => ({ code: "other_name", message: "m", open: "http://bbbb.localhost:8322/" }),
  );
  await vi.waitFor(() => expect(left).toEqual(["http://bbbb.localhost:8322/"]), { timeout: 30_000, interval: 1 });
  expect(world.fleet.connection.value).toEqual({ is: "pairing" });
});
