import { describe, expect, it } from "vitest";
import { WebSocketLink } from "./link";
import type { ConnectionState } from "../view/ports";
import { WindowSocket, windowed } from "./window";

/** A shell that is played: reads wait until something is told. */
function played(open: () => Promise<number> = async () => 7) {
  const told: { lines: string[]; end: { code: number; reason: string } | null }[] = [];
  const waits: ((heard: unknown) => void)[] = [];
  const calls: [string, unknown][] = [];
  const held: (() => void)[] = [];
  let holds = false;
  const invoke = (command: string, args?: Record<string, unknown>): Promise<unknown> => {
    calls.push([command, args]);
    if (command === "channel_open") return open();
    if (command === "channel_read")
      return new Promise((heard) => {
        const next = told.shift();
        if (next) heard(next);
        else waits.push(heard);
      });
    if (command === "channel_send" && holds) return new Promise((sent) => held.push(() => sent(true)));
    return Promise.resolve(true);
  };
  return {
    invoke,
    calls,
    tell: (lines: string[], end: { code: number; reason: string } | null = null): void => {
      const wait = waits.shift();
      if (wait) wait({ lines, end });
      else told.push({ lines, end });
    },
    hold: () => void (holds = true),
    release: () => held.shift()?.(),
    sent: () => calls.filter(([command]) => command === "channel_send").map(([, args]) => args),
  };
}

const settled = async (): Promise<void> => {
  for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
};

describe("a window's connection", () => {
  it("is welcomed without a key, carries lines both ways and tells its end once", async () => {
    const shell = played();
    const lines: string[] = [];
    const states: ConnectionState["is"][] = [];
    let opened: string | undefined;
    const link = new WebSocketLink(
      () => ({ session: "s" }),
      {
        opened: (device, version) => void (opened = `${device.id} ${device.role} ${version}`),
        line: (text) => void lines.push(text),
        connection: ({ is }) => void states.push(is),
      },
      windowed(shell.invoke),
    );
    link.start();
    await settled();
    expect(shell.calls[0]).toEqual(["channel_open", { wants: { session: "s" } }]);
    expect(link.send("early")).toBe(false);
    shell.tell(['{"welcome":{"device":{"id":"window","name":"this window","role":"controller"},"version":"7"}}', "a"]);
    await settled();
    shell.tell(["b"]);
    await settled();
    expect([opened, lines, states]).toEqual(["window controller 7", ["a", "b"], ["connecting", "up"]]);
    expect(link.send("c")).toBe(true);
    await settled();
    expect(shell.sent()).toEqual([{ number: 7, lines: ["c"] }]);
    shell.tell([], { code: 4412, reason: "gone" });
    await settled();
    expect(states).toEqual(["connecting", "up", "lost"]);
    link.close();
  });

  it("hands lines over in their order, those of a wait together", async () => {
    const shell = played();
    const socket = new WindowSocket("fleet", shell.invoke);
    await settled();
    shell.hold();
    for (const line of ["1", "2", "3"]) socket.send(line);
    await settled();
    socket.send("4");
    await settled();
    shell.release();
    await settled();
    shell.release();
    await settled();
    expect(shell.sent()).toEqual([
      { number: 7, lines: ["1", "2", "3"] },
      { number: 7, lines: ["4"] },
    ]);
  });

  it("says what it is told in the place of a connection", async () => {
    const refused = JSON.stringify({
      refused: { code: "no_parlor", message: "there is no program", hint: "install it" },
    });
    const shell = played(() => Promise.reject({ lines: [refused], end: { code: 4404, reason: "no" } }));
    const states: ConnectionState[] = [];
    const listener = {
      opened: () => undefined,
      line: () => undefined,
      connection: (is: ConnectionState) => void states.push(is),
    };
    new WebSocketLink(() => "fleet", listener, windowed(shell.invoke)).start();
    await settled();
    expect(states.at(-1)).toEqual({ is: "refused", message: "there is no program", hint: "install it" });
  });

  it("says nothing after it is closed", async () => {
    const shell = played();
    const socket = new WindowSocket("fleet", shell.invoke);
    const heard: unknown[] = [];
    socket.onmessage = ({ data }) => void heard.push(data);
    socket.onclose = (closed) => void heard.push(closed);
    await settled();
    socket.close();
    shell.tell(["late"], { code: 1001, reason: "" });
    await settled();
    expect(heard).toEqual([]);
    expect(shell.calls.at(-1)).toEqual(["channel_close", { number: 7 }]);
  });
});
