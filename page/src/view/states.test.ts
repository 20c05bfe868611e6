// What the page says when something is not as it should be.

import { signal } from "@preact/signals";
import { h } from "preact";
import { expect, test, vi } from "vitest";
import { Banner, Blocked, Doubted, Newer, Role } from "./chrome/connection";
import { some } from "./chrome/palette";
import { Home } from "./fleet/home";
import { now } from "./common/now";
import { Coded } from "./text/seen";
import { Widgets, StatusLine } from "./session/board";
import { Empty } from "./session/empty";
import type { Board } from "../model/types";
import type { ConnectionState, FleetPort, FleetRow, SessionPort } from "./ports";
import { words } from "./testing";

// It has a state of its own, and is looked at in a browser.
vi.mock("./fleet/start", () => ({ Start: () => "start: " }));

const NOW = new Date(2026, 10, 16, 14, 2, 0).getTime();
const nothing = (): void => undefined;
const banner = (connection: ConnectionState, at: number): string => {
  now.value = at;
  return words(Banner({ connection, retry: nothing, reload: nothing }));
};

test("a passing loss says nothing, a longer one says since when and when it tries again", () => {
  const lost: ConnectionState = { is: "lost", since: NOW, retryAt: NOW + 8000 };
  expect(banner(lost, NOW + 2000)).toBe("");
  expect(banner(lost, NOW + 4000)).toBe(
    "No connection to Parlor since 14:02. Trying again in 4 s. If it was stopped, start it with parlor up.Try now",
  );
  expect(banner({ is: "connecting", since: NOW }, NOW + 500)).toBe("");
  expect(banner({ is: "connecting", since: NOW }, NOW + 1500)).toBe("Connecting…");
  expect(banner({ is: "up" }, NOW)).toBe("");
});

test("a newer server is told, with a way to get its page", () => {
  expect(banner({ is: "newer" }, NOW)).toMatch(/newer than this page.*What you are writing is kept\.Reload$/);
  expect(words(Newer({ reload: nothing }))).toMatch(/newer page.*What you are writing is kept\.Reload$/);
});

test("a page that is wrong says so, and what it does about it", () => {
  const say = (doubt: Parameters<typeof Doubted>[0]["doubt"]): string =>
    words(Doubted({ doubt, seen: nothing, reload: nothing }));
  expect(say(undefined)).toBe("");
  expect(say("reading")).toMatch(/Reading the session again/);
  expect(say("read")).toMatch(/has read the session again\.Close$/);
  expect(say("disagrees")).toMatch(/may be wrong.*Reload$/);
});

test("what ends everything takes the whole screen and says what to do", () => {
  for (const [connection, said] of [
    [{ is: "stopped" }, /stopped.*parlor up/],
    [{ is: "unpaired" }, /not paired.*parlor web.*Try again/],
    [{ is: "unpaired", refused: { code: "denied", message: "no" } }, /answer was no.*parlor web.*Try again/],
    [{ is: "unpaired", refused: { code: "from_command", message: "no" } }, /not let in.*command of an agent/],
    [
      { is: "unpaired", refused: { code: "of tomorrow", message: "the moon is full", hint: "wait for `parlor moon`" } },
      /^the moon is full.*wait for parlor moon/,
    ],
    [{ is: "other_run" }, /started again.*parlor web.*Try again/],
    [{ is: "impostor" }, /not your Parlor.*Nothing was sent.*Close this tab.*parlor web.*Try again/],
    [{ is: "pairing" }, /^Pairing this device/],
    [{ is: "pairing", code: "482 913", until: NOW + 57_000 }, /same code\?482 913.*press y in the terminal.*57 s left/],
    [{ is: "revoked" }, /revoked.*parlor web/],
    [
      { is: "refused", message: "No such session", hint: "`parlor ps` shows the fleet" },
      /No such session.*parlor ps shows the fleet/,
    ],
  ] as [ConnectionState, RegExp][]) {
    now.value = NOW;
    expect(words(Blocked({ connection, known: false, retry: nothing }))).toMatch(said);
  }
  for (const is of ["up", "newer"] as const)
    expect(Blocked({ connection: { is }, known: true, retry: nothing })).toBeNull();
  // What was read stays to be read when Parlor has stopped; a device that was taken off reads nothing.
  expect(Blocked({ connection: { is: "stopped" }, known: true, retry: nothing })).toBeNull();
  expect(banner({ is: "stopped" }, NOW)).toMatch(/stopped.*parlor up.*how it was\.Try now$/);
  expect(words(Blocked({ connection: { is: "revoked" }, known: true, retry: nothing }))).toMatch(/revoked/);
});

test("a device that may not do everything is marked, once that is known", () => {
  expect(words(Role({ role: "observer", connection: { is: "up" } }))).toMatch(/^Read-only/);
  expect(words(Role({ role: "approver", connection: { is: "up" } }))).toMatch(/^Allow or deny/);
  expect(words(Role({ role: "controller", connection: { is: "up" } }))).toBe("");
  expect(words(Role({ role: "observer", connection: { is: "connecting", since: NOW } }))).toBe("");
});

test("an empty session says where it is once it knows, and never an empty name", () => {
  const say = (
    named: boolean,
    cwd: string,
    role: "controller" | "observer" = "controller",
    connection: ConnectionState = { is: "up" },
    sandboxed = false,
  ): string => words(Empty({ named, cwd, sandboxed, connection, role }));
  expect(say(false, "")).toBe("Beginning the session…");
  expect(say(true, "")).toBe("Opening the session…");
  expect(say(true, "/home/ada/p")).toBe("Nothing yetSay what you want done in /home/ada/p.");
  const free = say(true, "/p", "controller", { is: "up" }, true);
  expect(free).toMatch(
    /done in \/p\. It works inside this project, and asks before anything leaves it\. .*policy = "ask"/,
  );
  expect(say(true, "/p", "observer")).toBe("Nothing yetNothing was said in /p so far.");
  expect(say(true, "", "controller", { is: "lost", since: NOW, retryAt: undefined })).toBe("");
});

test("widgets stand where they were put, status fields in a line, and both show what cannot be seen", () => {
  const board: Board = {
    widgets: { a: ["above", ["one", "t\u202ewo"]], b: ["below", ["three"]] },
    status: { git: "main\u200b" },
  };
  expect(words(Widgets({ board, place: "above" }))).toBe("one\nt⟨U+202E⟩wo");
  expect(words(Widgets({ board, place: "below" }))).toBe("three");
  const port = {} as SessionPort;
  expect(words(StatusLine({ board, port }))).toBe("gitmain⟨U+200B⟩");
  expect(words(StatusLine({ board: {}, port }))).toBe("");
});

test("the fleet says nothing of sessions before it knows, then who waits, or what to do", () => {
  const wait: FleetRow = {
    key: "a",
    session: "a",
    status: "waiting",
    title: "Fix it",
    question: "Run `make`?",
    cwd: "/x/proj",
    since: NOW - 60_000,
  };
  const say = (rows: FleetRow[], known = true, may = true): string => {
    now.value = NOW;
    const fleet: FleetPort = {
      rows: signal(rows),
      known: signal(known),
      role: signal(may ? "controller" : "observer"),
      connection: signal({ is: "up" }),
      version: signal("0.1.0"),
      act: async () => "",
      retryNow: nothing,
    };
    return words(h(Home, { fleet }));
  };
  expect(say([], false)).toBe("Looking for sessions…");
  expect(say([])).toBe("start: No session yetSay above what you want done, or run parlor in a terminal.");
  expect(say([], true, false)).not.toContain("start: ");
  expect(say([{ key: "b", status: "running" }])).toBe("start: Nobody waits for you.1 session is at work.");
  expect(say([wait])).toBe("start: 1 waits for youFix it1 mRun make?proj");
  // Whoever may only look is asked nothing.
  expect(say([wait], true, false)).toBe("1 waits for an answerFix it1 mRun make?proj");
  expect(say([{ key: "b", status: "done" }], true, false)).toMatch(/^Nobody waits for an answer\./);
});

test("the palette shows commands among hundreds of sessions before a word is typed", () => {
  const act = (kind: string, at: number) => ({ kind, name: `${kind} ${at}`, does: nothing });
  const all = [
    ...Array.from({ length: 300 }, (_, at) => act("session", at)),
    act("do", 0),
    ...Array.from({ length: 300 }, (_, at) => act("file", at)),
    act("show", 0),
  ];
  expect(some(all).map(({ kind }) => kind)).toEqual([
    ...Array<string>(8).fill("session"),
    "do",
    ...Array<string>(6).fill("file"),
    "show",
  ]);
});

test("what stands between backticks is code, and what cannot be seen is shown there too", () => {
  expect(words(Coded({ text: "run `a\u200bb` or ` alone" }))).toBe("run a⟨U+200B⟩b or ` alone");
});
