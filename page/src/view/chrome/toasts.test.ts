import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Session } from "../../model/session";
import { words } from "../testing";
import { connection, forgetAll, refused, toast, Toasts } from "./toasts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  forgetAll();
  connection(true);
  vi.useRealTimers();
});

const shown = (): string => words(Toasts({ place: "float" })).replaceAll("More", "");

test("what was not sent is said to be not done, and not that it will be", async () => {
  const clock = { now: () => 0, frame: () => undefined, later: () => () => undefined };
  const session = new Session({ session: "s" }, clock);
  session.use({ send: () => false, wake: () => undefined, retryNow: () => undefined, close: () => undefined });
  connection(false);
  await session.send({ cancel: {} }).catch(refused);
  expect(shown()).toBe("No connection to Parlor: nothing was done. Try again when it is back");
});

test("words about the connection go when it is back, others stay until they were read", () => {
  connection(false);
  refused({ kind: "lost", message: "No connection" });
  refused({ kind: "invalid", message: "No such thing" });
  vi.advanceTimersByTime(60_000);
  expect(shown()).toBe("No such thingNo connection");
  connection(true);
  expect(shown()).toBe("No such thing");
  // On a page that has a connection they do not stand for ever.
  refused({ kind: "lost", message: "No connection" });
  vi.advanceTimersByTime(60_000);
  expect(shown()).toBe("No such thing");
  toast("info", "said");
  forgetAll();
  expect(shown()).toBe("");
});
