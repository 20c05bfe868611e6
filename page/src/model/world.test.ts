// The page as a whole, on sockets that a test holds: which page it is, and what it keeps before it is loaded anew.

import "fake-indexeddb/auto";
import { expect, test, vi } from "vitest";
import { DRAFTS, kept } from "./database";
import { Fleet } from "./fleet";
import type { Socket } from "./link";
import { isOther } from "./own";
import { openWorld } from "./world";

const MINE = "a".repeat(64);
const OTHER = "b".repeat(64);

/** A tab that does not know the server's key. */
const UNKNOWN = {
  enrolled: async () => true,
  server: () => undefined,
  nonce: () => "",
  isProof: async () => false,
  leaveFor: () => false,
};

test("a page is another one only where both sides say which", () => {
  expect(isOther(MINE, MINE)).toBe(false);
  expect(isOther(MINE, OTHER)).toBe(true);
  expect(isOther(undefined, OTHER)).toBe(false);
  for (const told of [undefined, "", "p"]) expect(isOther(MINE, told)).toBe(false);
});

test("a server that was replaced has another page, and one that is put back has not", () => {
  const fleet = new Fleet({ now: () => 0, frame: (what) => what(), later: () => () => undefined }, MINE);
  const device = { id: "dev-1", name: "x", role: "controller" as const };
  fleet.listener.opened(device, "0.1.0", MINE);
  expect(fleet.newer.value).toBe(false);
  fleet.listener.opened(device, "0.2.0", OTHER);
  expect(fleet.newer.value).toBe(true);
  fleet.listener.opened(device, "0.1.0", MINE);
  expect(fleet.newer.value).toBe(false);
  // Which sessions there are is known when it was told, also where there are none.
  expect(fleet.known.value).toBe(false);
  fleet.listener.line('{"rows":{"all":true,"rows":[]}}');
  expect([fleet.known.value, fleet.rows.value]).toEqual([true, []]);
});

test("what is being written is kept before the page is loaded anew, and when it goes out of sight", async () => {
  const reload = vi.fn();
  vi.stubGlobal("location", { reload });
  let leave: () => void = () => undefined;
  const socket: Socket = { send: () => undefined, close: () => undefined, onmessage: null, onclose: null };
  const env = {
    open: () => socket,
    host: "h",
    now: () => 0,
    later: () => () => undefined,
    sign: async () => undefined,
    ...UNKNOWN,
  };
  const clock = { now: () => 0, frame: () => undefined, later: () => () => undefined };
  const world = openWorld(
    env,
    clock,
    () => () => undefined,
    (what) => void (leave = what),
  );
  const session = world.open("sess-000000000077");
  session.saveDraft({ text: "half a tho", attachments: [] });
  await world.reload?.();
  expect(reload).toHaveBeenCalledOnce();
  expect(await kept(DRAFTS, "sess-000000000077")).toEqual({ text: "half a tho", attachments: [] });
  session.saveDraft({ text: "half a thought", attachments: [] });
  leave();
  expect(
    await vi.waitFor(async () => {
      const draft = await kept<{ text: string }>(DRAFTS, "sess-000000000077");
      if (draft?.text !== "half a thought") throw new Error("not yet");
      return draft.text;
    }),
  ).toBe("half a thought");
  vi.unstubAllGlobals();
});

test("a session that is begun may be written in at once by who may write", async () => {
  const sockets: (Socket & { said: string[] })[] = [];
  const env = {
    open: () => {
      const said: string[] = [];
      const socket = {
        said,
        send: (text: string) => void said.push(text),
        close: () => undefined,
        onmessage: null,
        onclose: null,
      };
      sockets.push(socket);
      return socket;
    },
    host: "h",
    now: () => 0,
    later: () => () => undefined,
    sign: async () => ({ id: "dev-1", signature: "s" }),
    ...UNKNOWN,
  };
  const clock = { now: () => 0, frame: () => undefined, later: () => () => undefined };
  const world = openWorld(
    env,
    clock,
    () => () => undefined,
    () => undefined,
  );
  await vi.waitFor(() => expect(sockets.length).toBe(1));
  expect(world.begin({}).role.value).toBe("observer");
  sockets[0]?.onmessage?.({ data: JSON.stringify({ challenge: { nonce: "n", version: "0", page: "p" } }) });
  await vi.waitFor(() => expect(sockets[0]?.said.length).toBe(1));
  sockets[0]?.onmessage?.({
    data: JSON.stringify({ welcome: { device: { id: "dev-1", name: "x", role: "controller" }, version: "0" } }),
  });
  expect(world.begin({}).role.value).toBe("controller");
});
