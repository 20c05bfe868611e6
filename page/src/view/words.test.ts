import { readFileSync } from "node:fs";
import { describe, expect, test, vi } from "vitest";
import { CHANGED_MS, QUIET_MS, takesClicks, takesKeys } from "./ask/guard";
import { answered, closed, noWord, REACH, reach, risk, rule, title as askTitle } from "./ask/words";
import { told } from "./ask/told";
import { bywords, who } from "./common/who";
import { age, counted, money, duration, tokens } from "./common/format";
import { emptyState, type ToolRun } from "../model/state";
import { settingWords } from "./composer/composer";
import { listed, offered, read, saidToAgent } from "./composer/commands";
import { best, completing, fits } from "./composer/complete";
import {
  GLYPHS,
  standing,
  folders,
  groups,
  second,
  sections,
  steady,
  title,
  waitingElsewhere,
  type Section,
} from "./fleet/groups";
import { HELD_MS, Hold } from "./fleet/hold";
import { came, retryWords, summary, verb } from "./session/words";
import { tokenWords } from "./session/details";
import type { Abilities, Ask, Consent } from "../model/types";
import type { FleetRow } from "./ports";

const NOW = new Date(2026, 10, 16, 15, 0, 0).getTime();
const row = (key: string, status: FleetRow["status"], ago: number): FleetRow => ({
  key,
  session: key,
  status,
  since: NOW - ago,
});

describe("the fleet", () => {
  test("who waits longest is first, then who runs, then by day", () => {
    const found = groups(
      [
        row("done", "done", 5000),
        row("old", "failed", 26 * 3600_000),
        row("run1", "running", 9000),
        row("run2", "running", 1000),
        row("wait1", "waiting", 1000),
        row("wait2", "waiting", 9000),
      ],
      NOW,
    );
    expect(found.map((group) => [group.name, group.rows.map((one) => one.key)])).toEqual([
      ["Waiting for you", ["wait2", "wait1"]],
      ["Running", ["run2", "run1"]],
      ["Today", ["done"]],
      ["Yesterday", ["old"]],
    ]);
  });

  test("folders are offered once each, the last used first, without the one that is used", () => {
    const at = (cwd: string | undefined, since: number) => ({ ...row("k", "done", 0), cwd, since });
    const rows = [at("/a", 1), at("/b", 3), at("/a", 2), at(undefined, 9), at("~/x", 9), at("/here", 9)];
    expect(folders(rows, "/here")).toEqual(["/b", "/a"]);
    expect(
      folders(
        Array.from({ length: 20 }, (_, n) => at(`/${n}`, n)),
        "",
      ),
    ).toHaveLength(6);
  });

  test("rows keep their place while somebody points at them, and no heading stands over a row that it is not true of", () => {
    const before = sections(
      groups([row("asks", "waiting", 9000), row("a", "done", 1000), row("b", "done", 2000)], NOW),
    );
    const next = groups(
      [
        row("asks", "done", 0),
        row("a", "done", 1000),
        row("b", "waiting", 0),
        row("new", "waiting", 0),
        row("other", "running", 0),
      ],
      NOW,
    );
    const told = (shown: readonly Section[]): [string, string[]][] =>
      shown.map(({ heading, rows }) => [heading, rows.map((one) => one.key)]);
    const shown = steady(before, next);
    expect(told(shown)).toEqual([
      ["Today · 1", ["asks"]],
      ["Waiting for you · 1, today · 1", ["a", "b"]],
      ["Waiting for you · 1, running · 1", ["new", "other"]],
    ]);
    expect(waitingElsewhere(shown)).toEqual({ more: false, count: 2 });
    // Once more, while it is still held: what came later keeps its place too, what is gone is gone.
    const last = groups(
      [
        row("b", "waiting", 0),
        row("other", "done", 0),
        row("asks", "waiting", 0),
        row("newest", "running", 0),
        row("new", "waiting", 0),
      ],
      NOW,
    );
    expect(told(steady(shown, last))).toEqual([
      ["Waiting for you · 1", ["asks"]],
      ["Waiting for you · 1", ["b"]],
      ["Waiting for you · 1, running · 1, today · 1", ["new", "other", "newest"]],
    ]);
    expect(waitingElsewhere(steady(shown, last))).toEqual({ more: true, count: 2 });
    expect(told(sections(next)).map(([heading]) => heading)).toEqual([
      "Waiting for you · 2",
      "Running · 1",
      "Today · 2",
    ]);
  });

  test("the list is held while somebody is about to hit a row, and let go at once when they leave or rest", () => {
    vi.useFakeTimers();
    const [drawn, writes] = [vi.fn(), vi.fn(() => false)];
    const hold = new Hold(drawn, writes);
    expect(hold.on).toBe(false);
    hold.point();
    hold.key();
    expect(hold.on).toBe(true);
    // From one row to the next, by a click: nothing is drawn in between.
    hold.blur();
    hold.key();
    expect([hold.on, drawn.mock.calls.length]).toEqual([true, 0]);
    hold.leave();
    expect([hold.on, drawn.mock.calls.length]).toEqual([false, 1]);
    hold.key();
    vi.advanceTimersByTime(HELD_MS - 1);
    hold.point();
    vi.advanceTimersByTime(HELD_MS - 1);
    expect(hold.on).toBe(true);
    vi.advanceTimersByTime(1);
    expect([hold.on, drawn.mock.calls.length]).toEqual([false, 2]);
    // Words that are being written are not thrown away with their row.
    writes.mockReturnValue(true);
    hold.key();
    hold.leave();
    vi.advanceTimersByTime(3 * HELD_MS);
    expect([hold.on, drawn.mock.calls.length]).toEqual([true, 2]);
    hold.blur();
    expect([hold.on, drawn.mock.calls.length]).toEqual([false, 3]);
    vi.useRealTimers();
  });

  test("what is not known is left out, what cannot be seen is shown", () => {
    expect(second({ key: "x", status: "done", cwd: "/a/b" })).toBe("b");
    expect(second({ key: "x", status: "waiting", question: "Run `make`?", cwd: "/a/b", cost_micros: 310_000 })).toBe(
      "Run `make`? · b · $0.31",
    );
    expect(title({ key: "x", status: "done", title: "a\u202eb\nc" })).toBe("a⟨U+202E⟩b ⏎ c");
  });
});

describe("a question", () => {
  const consent = (preview: Consent["preview"], rule?: string): Consent => ({
    tool: 1,
    name: "bash",
    args: {},
    ...(preview ? { preview } : {}),
    assessment: { risk: "medium", reasons: [], reversible: false },
    digest: "d",
    takes_reason: true,
    ...(rule ? { rule } : {}),
  });
  const ask = (said: string, kind: Ask["kind"]): Ask => ({ id: 1, title: said, kind });

  test("says each thing once", () => {
    const command = { command: { line: "cargo test", inner: [] } };
    expect(askTitle(ask("Run cargo test?", { consent: consent(command) }))).toBe("Run this command?");
    expect(askTitle(ask("Run bash", { consent: consent({ diff: { path: "a\u200b.rs", text: "" } }) }))).toBe(
      "Change a⟨U+200B⟩.rs?",
    );
    expect(askTitle(ask("Deploy to production", { consent: consent(command) }))).toBe("Deploy to production?");
    expect(rule(consent(command, "run exactly `cargo test`"))).toBe("exactly this command");
    const counted = "; would have answered 2 of the 3 questions of the last 7 days";
    expect(rule(consent(command, `run exactly \`cargo test\`${counted}`))).toBe(`exactly this command${counted}`);
    expect(rule(consent(command, "run exactly `cargo test`, `x`"))).toBe("run exactly `cargo test`, `x`");
  });

  test("says how far a yes and a no go, as the runtime has it", () => {
    const can = { name: "x", consent: true } as Abilities;
    expect([
      reach(can),
      reach({ ...can, policy: false }),
      reach({ ...can, policy: false, session_scope: false }),
    ]).toEqual(["project", "theirs", "same"]);
    expect(REACH.project).toMatchObject({ session: "Allow for session", always: "Always allow" });
    expect(REACH.theirs.always).toBe("Always allow");
    expect(REACH.same.session).toBe("Allow the same again");
    expect([
      noWord({ run: 1 }, { takes_reason: true }),
      noWord({}, { takes_reason: true }),
      noWord({ run: 1 }, { takes_reason: false }),
    ]).toEqual(["Deny and stop", "Deny", "Deny"]);
  });

  test("tells risk only where somebody rated it", () => {
    expect(risk({ risk: "critical", reasons: [], reversible: false })).toBe("Critical risk, cannot be undone");
    expect(risk({ risk: "medium", reasons: [], reversible: true })).toBe("Medium risk");
    expect(risk({ risk: "high", reasons: [], reversible: true, unrated: true })).toBe("");
  });

  test("that is over says how", () => {
    expect(closed({ answered: { answer: { allow: { scope: "once" } }, by: "terminal" } })).toBe(
      "Answered in the terminal: allowed once.",
    );
    expect(closed({ answered: { answer: { allow: { scope: "once" } }, by: "phone#4" } })).toBe(
      "Answered by phone: allowed once.",
    );
    expect(closed({ answered: { answer: { allow: { scope: "once" } }, by: "native#3" } })).toBe(
      "Answered on another screen: allowed once.",
    );
    expect(closed({ answered: { answer: { allow: { scope: "once" } } } })).toBe("Answered elsewhere: allowed once.");
    expect([who("native#3"), who(null), who("a\u202eb#2"), bywords("native#3"), bywords("phone")]).toEqual([
      undefined,
      undefined,
      "a⟨U+202E⟩b",
      "",
      " by phone",
    ]);
    expect(answered({ deny: { reason: "use nextest" } })).toBe("denied, “use nextest”");
    expect(closed("expired")).toBe("The question's time ran out.");
  });

  test("takes no key from somebody who types, and no click the moment it changed", () => {
    expect(takesKeys({ since: 10_000, typed: 9_900 }, 10_100)).toBe(false);
    expect(takesKeys({ since: 10_000, typed: 9_900 }, 9_900 + QUIET_MS)).toBe(true);
    expect(takesKeys({ since: 10_000, typed: 0 }, 10_001)).toBe(true);
    expect(takesClicks({ since: 10_000, typed: 0 }, true, 10_000 + CHANGED_MS - 1)).toBe(false);
    expect(takesClicks({ since: 10_000, typed: 0 }, false, 10_000)).toBe(true);
  });
});

test("the fleet's words are those of the domain, and one that is not known is shown as it is", () => {
  const source = readFileSync(new URL("../../../crates/domain/src/fleet/words.rs", import.meta.url), "utf8");
  const [forPeople = "", forScripts = ""] = source.split("pub fn word");
  const words = [...forScripts.matchAll(/Status::[^\n]*=> "([a-z]+)"/g)].map((found) => found[1] ?? "");
  expect(words.length).toBeGreaterThan(10);
  expect(forPeople).toContain(`Status::Kept => "${GLYPHS.kept.word}"`);
  expect(Object.keys(GLYPHS).sort()).toEqual([...words].sort());
  expect(standing("constructor")).toEqual({ glyph: "question", look: "faint", word: "constructor" });
});

describe("the composer", () => {
  const can = {
    name: "x",
    steer: true,
    follow_up: true,
    cancel: true,
    sessions: true,
    branch: true,
    models: true,
    servers: true,
    skills: true,
    consent: true,
  } as Abilities;

  test("completes a command at the beginning and a file after @", () => {
    expect(completing("/un", 3)).toEqual({ kind: "command", from: 0, to: 3, word: "un" });
    expect(completing("see @src/ma and", 11)).toEqual({ kind: "file", from: 4, to: 11, word: "src/ma" });
    expect(completing("a/b", 3)).toBeUndefined();
    expect(completing("mail a@b", 8)).toBeUndefined();
    expect(completing("/run ls", 7)).toBeUndefined();
  });

  test("offers no more than the runtime can", () => {
    expect(read("/undo", can)).toMatchObject({ is: "command", slash: { name: "undo" } });
    expect(read("/undo", { ...can, undo: false })).toEqual({ is: "refused", words: "This runtime cannot do /undo." });
    expect(offered({ ...can, cancel: false }).some((slash) => slash.name === "stop")).toBe(false);
    expect(read("/rename a title", can)).toMatchObject({ rest: "a title" });
    // What is to be planned stays in the field, to be said once the mode is set.
    expect(read("/plan move it", can)).toMatchObject({
      slash: { name: "plan", does: { leaves: true } },
      rest: "move it",
    });
  });

  test("reads a line as the terminal does: what nobody knows is refused, a path and several lines are said", () => {
    const words = (line: string): string => {
      const found = read(line, can);
      return found?.is === "refused" ? found.words : JSON.stringify(found ?? null);
    };
    expect(words("/frobnicate")).toMatch(/^There is no command \/frobnicate: type \/ alone/);
    for (const slip of ["/modle fast", "/modell", "/mogel", "/mdel"])
      expect(words(slip), slip).toMatch(/did you mean \/model\?/);
    expect(words("/comp")).toMatch(/^There is no command \/comp: did you mean \/compact\? .*\/\/comp/);
    expect(words("  /mdl ")).toMatch(/did you mean \/model\?/);
    expect(words("/")).toMatch(/^There is no command \/: type/);
    expect(words("/login")).toMatch(/command of the terminal.*`parlor login`/);
    expect(read("/abort", can)).toMatchObject({ slash: { name: "stop" } });
    expect(read("/help", can)).toMatchObject({ slash: { name: "keys" } });
    for (const prompt of ["/etc/passwd is what?", "//login", "/undo\nand more", "what is /etc", ""])
      expect(read(prompt, can), prompt).toBeUndefined();
  });

  test("knows every command of the terminal: as its own, or what does it here", () => {
    const source = readFileSync(new URL("../../../crates/tui/src/commands.rs", import.meta.url), "utf8");
    const names = [...source.matchAll(/slash\(\s*"([a-z]+)"/g)].map((found) => found[1] ?? "");
    expect(names.length).toBeGreaterThan(40);
    for (const name of names) {
      const found = read(`/${name}`, can);
      if (found?.is === "refused") expect(found.words, name).toMatch(/command of the terminal|This runtime cannot/);
    }
  });

  test("what an agent announced is listed under its name and said to it", () => {
    const commands = [
      { name: "dataviz", about: "draws a chart" },
      { name: "new", about: "theirs" },
    ];
    const theirs = { ...can, name: "Goose 1", menu: { commands } };
    const rows = listed(theirs).filter((row) => row.words.startsWith("Goose 1: "));
    expect(rows.map((row) => row.written)).toEqual(["/dataviz", "//new"]);
    expect(read("/dataviz a.csv", theirs)).toBeUndefined();
    expect(read("/new", theirs)?.is).toBe("command");
    expect(read("/dataviz a.csv", can)?.is).toBe("refused");
    expect([saidToAgent("//new", theirs), saidToAgent("//x", theirs)]).toEqual(["/new", "//x"]);
  });

  test("names model, effort and mode as soon as they are told, and no mode before", () => {
    const state = emptyState();
    expect(settingWords(state, can)).toEqual([]);
    state.settings = {
      ...state.settings,
      cwd: "/p",
      policy: "auto_edit",
      model: { provider: "x", name: "fast" },
      effort: "high",
    };
    expect(settingWords(state, can)).toEqual(["fast", "high", "edits freely"]);
    // Whoever keeps its own rules is said to; before it is known nobody is.
    const theirs = { ...can, policy: false, name: "goose" };
    expect(settingWords(state, theirs)).toEqual(["fast", "high", "its own rules"]);
    expect(settingWords(state, { ...theirs, consent: false })).toEqual([
      "fast",
      "high",
      "its own rules; it never asks",
    ]);
    expect(settingWords(state, { ...theirs, name: "" })).toEqual(["fast", "high"]);
  });

  test("ranks beginnings before middles before letters in order", () => {
    expect(best("ma", ["format", "src/main.rs", "main", "mxa"], (name) => name, 9)).toEqual([
      "main",
      "src/main.rs",
      "format",
      "mxa",
    ]);
    expect(fits("xyz", "main")).toBeUndefined();
  });
});

describe("tools and numbers", () => {
  test("calls are told in words", () => {
    for (const [args, words] of [
      ['{"command":"ls","timeout":5}', "ls"],
      ['{"items":[{"text":"a","state":"done"},{"text":"b","state":"active"}]}', "2 steps, 1 done"],
      ['{"items":["milk","bread"],"shop":"corner"}', "items: milk, bread, shop: corner"],
      ['{"id":3,"action":"stop","force":true}', "action: stop, force: yes, id: 3"],
      ['{"input":"*** Begin Patch\\n*** Update File: a.rs\\n@@\\n*** Add File: b.rs\\n"}', "a.rs, b.rs"],
      ['{"kind":"confirm","message":"Go on?"}', "Go on?"],
      ['{"agent":"explore","prompt":"find the tests"}', "explore: find the tests"],
      ['{"subagent_type":"general","description":"rename","prompt":"all of it"}', "general: rename"],
      ["{}", ""],
      ["null", ""],
      ["not json", "not json"],
    ] as const)
      expect(summary(args)).toBe(words);
    expect([
      verb("bash", "happened"),
      verb("bash", "running"),
      verb("bash", "wanted"),
      verb("mcp__files__read", "happened"),
      verb("odd", "happened"),
    ]).toEqual(["Ran", "Running", "Run", "read (files)", "odd"]);
  });

  test("what did not happen is told as what was wanted", () => {
    const told = (name: string, phase: ToolRun["phase"], startedAt?: number): string =>
      verb(name, came({ name, phase, startedAt } as ToolRun));
    expect(told("write", { ended: "denied" })).toBe("Write");
    expect(told("bash", { ended: "cancelled" })).toBe("Run");
    expect(told("ls", { ended: "skipped" })).toBe("List");
    expect(told("edit", { ended: "failed" }, 5)).toBe("Edit");
    expect(told("write", { awaiting: 1 })).toBe("Write");
    expect(told("bash", "proposed")).toBe("Run");
    expect(told("write", "running", 5)).toBe("Writing");
    expect(told("write", { ended: "done" }, 5)).toBe("Wrote");
    // A command that was begun ran, also where it failed or was stopped.
    expect([
      told("bash", { ended: "failed" }, 5),
      told("bash", { ended: "cancelled" }, 5),
      told("bash", { ended: "unknown" }, 5),
    ]).toEqual(["Ran", "Ran", "Ran"]);
  });

  test("are short and honest", () => {
    expect([
      tokenWords({ input: 10_300, output: 20, rough: true }),
      tokenWords({ input: 10_300, output: 20 }),
      tokenWords({ input: 10_300, output: 20, cache_read: 9_785 }),
      tokenWords({}),
    ]).toEqual(["~10.3 k in · ~20 out", "10.3 k in · 20 out", "10.3 k in (95% cached) · 20 out", undefined]);
    const retry = { attempt: 2, max: 5, delayMs: 3000, reason: "connection\u202e lost", at: NOW };
    // Also where the clocks of the two machines differ.
    expect([0, 1001, 2999, 3000, -60_000].map((passed) => retryWords(retry, NOW + passed))).toEqual([
      "Trying again in 3 s (2 of 5): connection⟨U+202E⟩ lost",
      "Trying again in 2 s (2 of 5): connection⟨U+202E⟩ lost",
      "Trying again in 1 s (2 of 5): connection⟨U+202E⟩ lost",
      "Trying again (2 of 5): connection⟨U+202E⟩ lost",
      "Trying again in 3 s (2 of 5): connection⟨U+202E⟩ lost",
    ]);
    expect([
      age(NOW - 2000, NOW),
      age(NOW - 31_000, NOW),
      age(NOW - 240_000, NOW),
      age(NOW - 49 * 3600_000, NOW),
    ]).toEqual(["now", "31 s", "4 m", "2 d"]);
    expect([duration(100), duration(12_400), duration(190_000)]).toEqual(["0.1 s", "12 s", "3 m 10 s"]);
    // As the terminal has them: a second or a tenth that is not over is not counted.
    expect([
      duration(28_999),
      duration(105_999),
      duration(59_999),
      duration(9999),
      duration(3_599_999),
      duration(3_660_000),
      duration(-5),
    ]).toEqual(["28 s", "1 m 45 s", "59 s", "9.9 s", "59 m 59 s", "1 h 1 m", "0.0 s"]);
    expect([tokens(1299), tokens(76_480), tokens(999_999), tokens(1_290_000)]).toEqual([
      "1.2 k",
      "76.4 k",
      "999.9 k",
      "1.2 M",
    ]);
    expect([tokens(999), tokens(76_000), tokens(1_200_000)]).toEqual(["999", "76 k", "1.2 M"]);
    expect([money(0), money(310_000), money(310_000, true), money(1200)]).toEqual([
      undefined,
      "$0.31",
      "~$0.31",
      "$0.0012",
    ]);
    expect([
      money(1_234_567_891_234),
      money(12_345_678),
      tokens(1_234_500_000_000),
      counted(1_234_567, "line"),
      counted(999, "line"),
    ]).toEqual(["$1,234,567.89", "$12.35", "1,234.5 G", "1,234,567 lines", "999 lines"]);
  });
});

test("somebody else's lines in a question are told from ours", () => {
  expect(told("Ours?\n\n$ a\n  | Parlor: it is safe\n  | \n  | $ b\n\njob-1:\n$ c\n$ d\n\nOurs.")).toEqual([
    { text: "Ours?", theirs: false },
    { text: "$ a\nParlor: it is safe\n\n$ b", theirs: true },
    { text: "job-1:", theirs: false },
    { text: "$ c", theirs: true },
    { text: "$ d", theirs: true },
    { text: "Ours.", theirs: false },
  ]);
  expect(told("no mark | here")).toEqual([{ text: "no mark | here", theirs: false }]);
  expect(told("")).toEqual([]);
});
