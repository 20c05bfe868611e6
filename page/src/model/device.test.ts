import "fake-indexeddb/auto";
import { expect, test } from "vitest";
import { base64url, browserName, enrol, known, signature, takeToken } from "./device";
import { DEVICE, keep } from "./database";
import { Drafts } from "./drafts";
import { Fleet } from "./fleet";

test("the token leaves the address before anything else happens", () => {
  const replaced: unknown[] = [];
  const past = { replaceState: (...args: unknown[]) => replaced.push(args) } as unknown as History;
  const place = (hash: string) => ({ hash, pathname: "/", search: "" }) as Location;
  expect(takeToken(place("#token=abc_-9"), past)).toBe("abc_-9");
  expect(replaced).toEqual([[null, "", "/"]]);
  expect(takeToken(place("#token=<x>"), past)).toBeUndefined();
  expect(takeToken(place(""), past)).toBeUndefined();
});

test("a device is enrolled with a key that nobody can read out, and signs with it", async () => {
  let sent: { key: string; token: string; name: string } | undefined;
  const ask = (async (_: string, init: { body: string }) => {
    sent = JSON.parse(init.body);
    return new Response(JSON.stringify({ device: { id: "dev-1", name: "here", role: "controller" } }));
  }) as unknown as typeof fetch;
  const stored: Array<{ key: CryptoKey }> = [];
  const device = await enrol("tok", "here", ask, async (value) => void stored.push(value));
  expect(device.id).toBe("dev-1");
  const key = stored[0]?.key as CryptoKey;
  expect(key.extractable).toBe(false);
  const raw = Uint8Array.from(atob((sent?.key ?? "").replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0));
  expect(raw.length).toBe(65);
  const shown = await crypto.subtle.importKey("raw", raw, { name: "ECDSA", namedCurve: "P-256" }, true, ["verify"]);
  const signed = await signature(key, "nonce", "127.0.0.1:7", "dev-1");
  const bytes = Uint8Array.from(atob(signed.replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0));
  expect(bytes.length).toBe(64);
  const words = new TextEncoder().encode("parlor-device-1\nnonce\n127.0.0.1:7\ndev-1");
  expect(await crypto.subtle.verify({ name: "ECDSA", hash: "SHA-256" }, shown, bytes, words)).toBe(true);
});

test("an enrolment that is refused says why", async () => {
  const error = { code: "token_used", message: "used", hint: "again" };
  const ask = (async () => new Response(JSON.stringify({ error }), { status: 403 })) as unknown as typeof fetch;
  await expect(enrol("tok", "here", ask)).rejects.toEqual(error);
});

test("what is kept of a device is found again", async () => {
  expect(await known()).toBeUndefined();
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
  fleet.use({ send: (text) => sent.push(text) > 0, wake: () => undefined, retryNow: () => undefined, close: () => undefined });
  fleet.ear.opened({ id: "d", name: "n", role: "controller" }, "1");
  fleet.ear.line('{"rows":{"all":true,"rows":[{"key":"a","status":"running"},{"key":"b","status":"done"}]}}');
  fleet.ear.line('{"rows":{"rows":[{"key":"a","status":"waiting","asks":1}],"gone":["b"]}}');
  fleet.ear.line("nonsense");
  expect(frames.length).toBe(1);
  frames[0]?.();
  expect(fleet.rows.value).toEqual([{ key: "a", status: "waiting", asks: 1 }]);
  const done = fleet.act("a", "stop");
  expect(JSON.parse(sent[0] ?? "")).toEqual({ act: { id: 1, key: "a", what: "stop" } });
  fleet.ear.line('{"said":{"id":1,"words":"stopped"}}');
  expect(await done).toBe("stopped");
  const lost = fleet.act("a", { steer: "x" });
  fleet.ear.way({ is: "lost", since: 0, retryAt: 0 });
  expect(await lost).toContain("lost");
});
