import "fake-indexeddb/auto";
import { afterEach, expect, test } from "vitest";
import { base64url, browserName, hold, isProof, known, newKey, newNonce, offeredAt, shown, signed } from "./device";
import { DEVICE, keep } from "./database";
import { Drafts } from "./drafts";
import { Fleet } from "./fleet";

afterEach(() => hold(undefined));

const raw = (text: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0));

async function verifies(key: string, signature: string, words: string): Promise<boolean> {
  const public_ = await crypto.subtle.importKey("raw", raw(key), { name: "ECDSA", namedCurve: "P-256" }, true, [
    "verify",
  ]);
  return crypto.subtle.verify(
    { name: "ECDSA", hash: "SHA-256" },
    public_,
    raw(signature),
    new TextEncoder().encode(words),
  );
}

test("a device signs with the key that is kept, and with the tab's own where there is one", async () => {
  expect(await shown("n", "h")).toBeUndefined();
  const [ours, tab] = [await newKey(), await newKey()];
  expect([ours.key.extractable, raw(ours.shown).length]).toEqual([false, 65]);
  await keep(DEVICE, "this", { device: { id: "dev-1", name: "x", role: "controller" }, key: ours.key });
  const first = await shown("n", "h:1");
  expect(first).toEqual({ id: "dev-1", signature: first?.signature });
  expect(raw(first?.signature ?? "").length).toBe(64);
  expect(await verifies(ours.shown, first?.signature ?? "", "parlor-device-1\nn\nh:1\ndev-1")).toBe(true);
  hold({ id: "dev-2", key: tab.key, server: "s" });
  const second = await shown("n", "h:1");
  expect(second).toMatchObject({ id: "dev-2", with: "tab" });
  expect(await verifies(tab.shown, second?.signature ?? "", "parlor-device-1\nn\nh:1\ndev-2")).toBe(true);
});

test("a server's proof holds for its key, this number, this host and this connection, and for nothing else", async () => {
  const [server, other] = [await newKey(), await newKey()];
  const proof = await signed(server.key, ["parlor-server-1", "mine", "h:1", "theirs"]);
  expect(await isProof(proof, server.shown, "mine", "h:1", "theirs")).toBe(true);
  for (const [signature, key, mine, host, theirs] of [
    [proof, other.shown, "mine", "h:1", "theirs"],
    [proof, server.shown, "another", "h:1", "theirs"],
    [proof, server.shown, "mine", "h:2", "theirs"],
    [proof, server.shown, "mine", "h:1", "another"],
    ["", server.shown, "mine", "h:1", "theirs"],
    ["no base64!", server.shown, "mine", "h:1", "theirs"],
    [proof, "no key", "mine", "h:1", "theirs"],
    // What it signed for somebody else's use is no proof.
    [await signed(server.key, ["parlor-device-1", "mine", "h:1", "theirs"]), server.shown, "mine", "h:1", "theirs"],
  ] as [string, string, string, string, string][])
    expect(await isProof(signature, key, mine, host, theirs)).toBe(false);
  expect(raw(newNonce()).length).toBe(32);
  expect(newNonce()).not.toBe(newNonce());
});

test("the page goes to another name of this server, and to no other address", () => {
  const here = { protocol: "http:", hostname: "aaaa.localhost", port: "8322", hash: "#/s/sess-1" };
  expect(offeredAt("http://bbbb.localhost:8322/", here)).toBe("http://bbbb.localhost:8322/#/s/sess-1");
  expect(offeredAt("http://bbbb.localhost:8322/", { ...here, hostname: "127.0.0.1", hash: "" })).toBe(
    "http://bbbb.localhost:8322/",
  );
  for (const open of [
    undefined,
    "",
    "nonsense",
    "http://bbbb.localhost:8323/",
    "https://bbbb.localhost:8322/",
    "http://evil.example:8322/",
    "http://localhost.evil.example:8322/",
    "javascript:alert(1)//.localhost:8322",
    "http://aaaa.localhost:8322/",
    "http://x@evil.example:8322/.localhost",
  ]) {
    expect(offeredAt(open, here), open).toBeUndefined();
  }
});

test("what is kept of a device is found again", async () => {
  await keep(DEVICE, "this", { device: { id: "dev-2" } });
  expect((await known())?.device.id).toBe("dev-2");
});

test("names and letters", () => {
  expect(browserName("Mozilla/5.0 (X11; Linux x86_64) Gecko/20100101 Firefox/140.0")).toBe("Firefox on Linux");
  expect(browserName("Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) Safari/604.1")).toBe("Safari on iOS");
  expect(base64url(Uint8Array.of(0xfb, 0xff))).toBe("-_8");
});

test("drafts are kept at a pause, and an empty one is forgotten", async () => {
  const drafts = new Drafts();
  drafts.save("s", { text: "half a", attachments: [] });
  expect(await drafts.load("s")).toEqual({ text: "half a", attachments: [] });
  await drafts.flush("s");
  expect(await new Drafts().load("s")).toEqual({ text: "half a", attachments: [] });
  drafts.save("s", { text: "", attachments: [] });
  await drafts.flush("s");
  expect(await new Drafts().load("s")).toBeUndefined();
});

test("the fleet folds what it is told once per frame, and acts are answered or lost", async () => {
  const frames: Array<() => void> = [];
  const fleet = new Fleet({ now: () => 0, frame: (what) => void frames.push(what), later: () => () => undefined });
  const sent: string[] = [];
  fleet.use({
    send: (text) => sent.push(text) > 0,
    wake: () => undefined,
    retryNow: () => undefined,
    close: () => undefined,
  });
  fleet.listener.opened({ id: "d", name: "n", role: "controller" }, "1");
  fleet.listener.line('{"rows":{"all":true,"rows":[{"key":"a","status":"running"},{"key":"b","status":"done"}]}}');
  fleet.listener.line('{"rows":{"rows":[{"key":"a","status":"waiting","asks":1}],"gone":["b"]}}');
  fleet.listener.line("nonsense");
  expect(frames.length).toBe(1);
  frames[0]?.();
  expect(fleet.rows.value).toEqual([{ key: "a", status: "waiting", asks: 1 }]);
  const done = fleet.act("a", "stop");
  expect(JSON.parse(sent[0] ?? "")).toEqual({ act: { id: 1, key: "a", what: "stop" } });
  fleet.listener.line('{"said":{"id":1,"words":"stopped"}}');
  expect(await done).toBe("stopped");
  const lost = fleet.act("a", { steer: "x" });
  fleet.listener.connection({ is: "lost", since: 0, retryAt: 0 });
  expect(await lost).toContain("lost");
});

test("the fleet tells who asks to be paired and who was, and says what the person decided", () => {
  const fleet = new Fleet({ now: () => 1000, frame: (what) => what(), later: () => () => undefined });
  const sent: unknown[] = [];
  const link = {
    send: (text: string) => sent.push(JSON.parse(text)) > 0,
    wake: () => undefined,
    retryNow: () => undefined,
    close: () => undefined,
  };
  expect([fleet.pair(7, true), fleet.revoke("dev-2")]).toEqual([false, false]);
  fleet.use(link);
  fleet.listener.opened({ id: "dev-1", name: "n", role: "controller" }, "1");
  fleet.listener.line(
    '{"pairing":{"id":7,"name":"Firefox on Linux","role":"controller","code":"482 913","seconds":57}}',
  );
  expect(fleet.pairing.value).toEqual({
    id: 7,
    name: "Firefox on Linux",
    role: "controller",
    code: "482 913",
    until: 58_000,
  });
  expect(fleet.pair(7, true)).toBe(true);
  fleet.listener.line('{"pairing":null}');
  expect(fleet.pairing.value).toBeUndefined();
  // Of itself nobody is told.
  fleet.listener.line('{"joined":{"device":{"id":"dev-1","name":"n","role":"controller"}}}');
  expect(fleet.joined.value).toEqual([]);
  fleet.listener.line('{"joined":{"device":{"id":"dev-2","name":"phone","role":"approver"}}}');
  fleet.listener.line('{"joined":{"device":{"id":"dev-2","name":"phone","role":"approver"}}}');
  expect(fleet.joined.value).toEqual([{ id: "dev-2", name: "phone", role: "approver" }]);
  expect(fleet.revoke("dev-2")).toBe(true);
  expect(sent).toEqual([{ pair: { id: 7, allow: true } }, { revoke: { device: "dev-2" } }]);
  // Whoever asks may be gone when the connection is; who has come in is still in.
  fleet.listener.line('{"pairing":{"id":8,"name":"x","role":"observer","seconds":57}}');
  fleet.listener.connection({ is: "lost", since: 0, retryAt: 0 });
  expect([fleet.pairing.value, fleet.joined.value.length]).toEqual([undefined, 1]);
  fleet.seenJoined("dev-2");
  expect(fleet.joined.value).toEqual([]);
  for (let n = 0; n < 20; n += 1)
    fleet.listener.line(`{"joined":{"device":{"id":"dev-x${n}","name":"n","role":"observer"}}}`);
  expect(fleet.joined.value.map((one) => one.id)).toEqual([12, 13, 14, 15, 16, 17, 18, 19].map((n) => `dev-x${n}`));
});
