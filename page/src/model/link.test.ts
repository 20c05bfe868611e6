// The link under a session: when it is tried again, and when it is given up.

import { expect, test } from "vitest";
import { HANDSHAKE_MS } from "./link";
import { attached, Bench } from "./testing";

test("the first new try is at once, later ones wait longer, and one asks no more than once at a time", async () => {
  const bench = new Bench();
  for (const wait of [0, 1000, 2000, 4000]) {
    const before = bench.sockets.length;
    bench.socket.onclose?.({ code: 1006 });
    bench.pass(Math.max(0, wait - 1));
    expect(bench.sockets.length).toBe(wait === 0 ? before + 1 : before);
    bench.pass(1);
    expect(bench.sockets.length).toBe(before + 1);
  }
  expect(bench.connections.slice(-1)).toEqual(["lost"]);
});

test("a server that says that it ends has stopped when it is not back at once", async () => {
  const bench = new Bench();
  await bench.welcome();
  bench.socket.onclose?.({ code: 1001, reason: "the server ends" });
  expect(bench.session.connection.value.is).toBe("lost");
  bench.pass(0);
  bench.socket.onclose?.({ code: 1006, reason: "" });
  expect(bench.session.connection.value.is).toBe("stopped");
  // It is still tried, and back when the server is.
  bench.pass(1000);
  await bench.welcome();
  expect(bench.session.connection.value.is).toBe("up");
  // A loss without a word is one that passes, as a rule.
  bench.socket.onclose?.({ code: 1001, reason: "" });
  bench.pass(0);
  bench.socket.onclose?.({ code: 1006, reason: "" });
  expect(bench.session.connection.value.is).toBe("lost");
});

test("a socket that never says a word is given up", () => {
  const bench = new Bench();
  bench.pass(HANDSHAKE_MS);
  expect(bench.sockets.length).toBe(2);
});

test("after a silence somebody is asked, and without an answer it is opened anew", async () => {
  const bench = new Bench();
  await bench.welcome();
  bench.socket.say(attached(bench, 3));
  bench.pass(20_000);
  expect(bench.socket.lastCommand().what).toBe("stats");
  bench.pass(10_000);
  expect(bench.sockets.length).toBe(2);
});

test("waking does not trust a socket that was silent", async () => {
  const bench = new Bench();
  await bench.welcome();
  bench.socket.say(attached(bench, 3));
  bench.link.wake();
  expect(bench.sockets.length).toBe(1);
  bench.time += 6_000;
  bench.link.wake();
  expect(bench.sockets.length).toBe(2);
  await bench.welcome();
  expect(bench.hello().cursor).toMatchObject({ seq: 3 });
});

test("without a network it is lost at once, and tried again: this machine answers without one", async () => {
  const bench = new Bench();
  await bench.welcome();
  bench.socket.say(attached(bench, 3));
  bench.link.cut();
  expect(bench.session.connection.value.is).toBe("lost");
  bench.link.cut();
  bench.pass(1_000);
  expect(bench.sockets.length).toBe(2);
  await bench.welcome();
  expect(bench.session.connection.value.is).toBe("up");
});

test("whoever is not paired or revoked is told so and not tried again", async () => {
  const bench = new Bench();
  bench.enrolled = false;
  bench.socket.say({ challenge: { nonce: "n", version: "0.1.0", page: "p" } });
  await new Promise((done) => setTimeout(done, 0));
  expect(bench.session.connection.value).toEqual({ is: "unpaired" });
  const other = new Bench();
  await other.welcome();
  other.socket.onclose?.({ code: 4410 });
  other.pass(100_000);
  expect(other.session.connection.value).toEqual({ is: "revoked" });
  expect(other.sockets.length).toBe(1);
});

test("what waits for an answer is told when the device is revoked", async () => {
  const bench = new Bench();
  await bench.welcome();
  bench.socket.say(attached(bench, 8));
  const answered = bench.session.answer(4, { confirmed: true });
  bench.socket.onclose?.({ code: 4410 });
  await expect(answered).rejects.toMatchObject({ kind: "lost" });
});
