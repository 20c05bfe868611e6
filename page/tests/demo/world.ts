// A fleet and a session that nobody runs: what the screens are looked at with.

import { signal } from "@preact/signals";
import { emptyState, type Entry, type State, type ToolRun } from "../../src/model/state";
import type { Abilities, Answer, Ask, Board, Command, Part, Receipt, ToolOutcome } from "../../src/model/types";
import type {
  Beginning,
  DeviceRole,
  FleetPort,
  FleetRow,
  Joined,
  Pairing,
  SessionPort,
  ConnectionState,
  World,
} from "../../src/view/ports";

const NOW = Date.now();
const zero = { hi: 0, lo: 0 };

export const DIFF = `--- a/crates/link/src/bridge.rs
+++ b/crates/link/src/bridge.rs
@@ -40,5 +40,7 @@ impl Bridge {
     loop {
-        let line = inbox.recv().await;
+        let Some(line) = inbox.recv().await else {
+            return outgoing.close().await;
+        };
         outgoing.send(line).await?;
     }
`;

function message(
  id: number,
  parent: number | undefined,
  role: "user" | "assistant",
  parts: Part[],
  done = true,
): Entry {
  return {
    id,
    parent,
    at: NOW - 240_000,
    kind: "message",
    role,
    run: 1,
    turn: 2,
    step: role === "user" ? undefined : 3,
    parts,
    finish: done ? "complete" : undefined,
    tailOpen: !done,
    roll: zero,
    rolled: { begun: false, parts: 0, text: 0 },
    added: zero,
    batch: 0,
  };
}

function tool(
  id: number,
  name: string,
  args: object,
  outcome: ToolOutcome | undefined,
  text: string,
  parts?: Part[],
): ToolRun {
  return {
    id,
    run: 1,
    step: 3,
    message: 5,
    name,
    args: JSON.stringify(args),
    phase: outcome ? { ended: outcome } : "running",
    output: outcome ? "" : text,
    result: outcome ? { text, ...(parts ? { parts } : {}) } : undefined,
    proposedAt: NOW - 200_000,
    startedAt: NOW - 200_000,
    endedAt: outcome ? NOW - 199_900 : undefined,
    proposed: zero,
    roll: zero,
    added: zero,
    batch: 0,
  };
}

export const ASK: Ask = {
  id: 90,
  run: 1,
  title: "Run a command?",
  kind: {
    consent: {
      tool: 12,
      name: "bash",
      args: { command: "cargo test -p link -- bridge --nocapture" },
      preview: { command: { line: "cargo test -p link -- bridge --nocapture", inner: [] } },
      assessment: {
        risk: "medium",
        reasons: ["builds and runs code of this project", "sandboxed, no network"],
        reversible: true,
      },
      digest: "d1",
      rule: "run `cargo test`",
      takes_reason: true,
    },
  },
};

export function session(): State {
  const state = emptyState();
  const add = (entry: Entry): void => void state.entries.set(entry.id, entry);
  add(
    message(4, undefined, "user", [
      { text: "The bridge test hangs when the peer goes away. Find out why and fix it." },
    ]),
  );
  add(
    message(5, 4, "assistant", [
      { thought: { text: "The reader waits. Let me look at how it is closed." } },
      { tool: 6 },
      { tool: 7 },
      {
        text: "The reader task waits on a channel that is only closed when the `Outgoing` half is dropped, and the half lives in the seat. I close it when the link reports the **end of input**:\n\n1. the seat gives its half back\n2. the reader ends\n\n```rust\nlet Some(line) = inbox.recv().await else {\n    return outgoing.close().await; // the peer is gone\n};\n```\n\n| case | before | after |\n|---|---|---|\n| peer closes | hangs | ends |\n",
      },
      { tool: 8 },
      { tool: 9 },
    ]),
  );
  for (const run of [
    tool(6, "read", { path: "crates/link/src/bridge.rs" }, "done", "a\n".repeat(214)),
    tool(7, "bash", { command: 'rg "fn close"' }, "done", "a\nb\nc"),
    tool(8, "edit", { path: "crates/link/src/bridge.rs" }, "done", "edited", [
      { diff: { path: "crates/link/src/bridge.rs", text: DIFF } },
    ]),
    tool(
      9,
      "bash",
      { command: "cargo test -p link" },
      "failed",
      "\u001b[1;32m   Compiling\u001b[0m link v0.1.0\n\u001b[31merror\u001b[0m: test failed, to rerun pass `-p link`\n",
    ),
  ])
    state.tools.set(run.id, run);
  state.leaf = 5;
  state.runs = [{ id: 1, startedAt: NOW - 240_000, turns: [{ id: 2, cause: "prompt", ended: false, steps: [] }] }];
  state.asks = [ASK];
  state.plan = [
    { text: "Reproduce", state: "done" },
    { text: "Fix close of the inbox", state: "active" },
    { text: "Test with a dead peer", state: "pending" },
  ];
  state.context = { used: 76_000, window: 200_000 };
  state.usage = { input: 81_000, output: 3200, cost_micros: 310_000 };
  state.settings = {
    cwd: "/home/ada/parlor",
    project: "/home/ada/parlor",
    title: "Fix the failing bridge",
    model: { provider: "anthropic", name: "claude-sonnet" },
    budget: {},
    policy: "ask",
  };
  return state;
}

export const ROWS: FleetRow[] = [
  {
    key: "s1",
    session: "s1",
    status: "waiting",
    asks: 1,
    question: "run: cargo test -p link",
    title: "Fix the failing bridge",
    cwd: "/home/ada/parlor",
    since: NOW - 240_000,
  },
  {
    key: "s2",
    session: "s2",
    status: "waiting",
    asks: 1,
    question: "asks: keep the old route names?",
    title: "Bump axum to 0.8",
    cwd: "/home/ada/server",
    since: NOW - 31_000,
  },
  {
    key: "s3",
    session: "s3",
    status: "running",
    about: "editing docs/page.md",
    title: "Write docs for the page",
    cwd: "/home/ada/parlor",
    since: NOW - 12_000,
    branch: "docs",
  },
  {
    key: "s4",
    session: "s4",
    status: "running",
    about: "npm test · 41 of 96",
    title: "Port tests to vitest",
    cwd: "/home/ada/web",
    since: NOW - 120_000,
  },
  {
    key: "s5",
    session: "s5",
    status: "done",
    title: "Rename Desk to OpenAsks",
    cwd: "/home/ada/parlor",
    since: NOW - 3_600_000,
    cost_micros: 310_000,
  },
  {
    key: "s6",
    session: "s6",
    status: "failed",
    about: "failed: the model's server refused the key",
    title: "Release notes",
    cwd: "/home/ada/parlor",
    since: NOW - 7_200_000,
  },
];

/** The questions that were said to be on the screen. */
export const shown: number[] = [];
/** What sessions were begun with. */
export const begun: Beginning[] = [];

/** Folders, models and words of a machine that nobody has. */
const looks: NonNullable<FleetPort["look"]> = async (up) => {
  const all = ["/home/ada/parlor", "/home/ada/parlor-two", "/home/ada/server"];
  const told =
    "start" in up
      ? {
          cwd: "/home/ada/parlor-two",
          agent: "Parlor",
          models: ["anthropic/claude", "openai/gpt"],
          model: "openai/gpt",
          agents: ["codex", "opencode"],
        }
      : "folders" in up
        ? { folders: all.filter((one) => one.startsWith(String(up.folders))) }
        : "log" in up
          ? { lines: ["stderr: listening", "runtime said: no JSON"] }
          : {
              sessions: String(up.search).startsWith("hang")
                ? [
                    {
                      session: "s1",
                      title: "Fix the failing bridge",
                      cwd: "/home/ada/parlor",
                      at: NOW,
                      snippet: "The bridge test hangs when the peer",
                      hits: 2,
                    },
                  ]
                : [],
            };
  return told as never;
};

/** What was sent, for tests to look at. */
export const sent: (Command | { answer: [number, Answer] } | { pair: [number, boolean] } | { revoke: string })[] = [];

export function demo(state = session(), rows = ROWS, connection: ConnectionState = { is: "up" }): World {
  const states = signal(state);
  const rev = signal(0);
  const connections = signal(connection);
  const files = signal(DIFF);
  const role = signal<DeviceRole>("controller");
  // A new object each time, as a live session has it: what did not change is not drawn again.
  const poke = (change: (state: State) => void): void => {
    change(state);
    states.value = { ...state };
    rev.value += 1;
  };
  const port: SessionPort = {
    id: signal("s1"),
    state: states,
    rev,
    board: signal<Board>({}),
    connection: connections,
    role,
    unsent: signal([]),
    abilities: signal<Abilities>({
      name: "parlor 0.1.0",
      steer: true,
      follow_up: true,
      cancel: true,
      sessions: true,
      branch: true,
      models: true,
      servers: true,
      skills: true,
      consent: true,
    } as Abilities),
    send: async (command) => {
      if (connections.value.is !== "up")
        throw { kind: "lost", message: "No connection to Parlor: nothing was done", hint: "Try again when it is back" };
      sent.push(command);
      return (
        typeof command === "object" && "diff_files" in command ? { files: { text: files.value } } : "done"
      ) as Receipt;
    },
    shown: (ask) => void shown.push(ask),
    answer: async (ask, answer) => {
      sent.push({ answer: [ask, answer] });
      poke((state) => void (state.asks = state.asks.filter((one) => one.id !== ask)));
      return "done" as Receipt;
    },
    prompt: async (command) => {
      sent.push(command);
      return "done" as Receipt;
    },
    takeBack: () => undefined,
    onSignal: () => () => undefined,
    loadDraft: async () => undefined,
    saveDraft: () => undefined,
    loadReason: async (ask) => sessionStorage.getItem(`reason ${ask}`) ?? undefined,
    saveReason: (ask, text) => sessionStorage.setItem(`reason ${ask}`, text),
    retryNow: () => undefined,
    close: () => undefined,
  };
  const fleet = signal(rows);
  const pairing = signal<Pairing | undefined>(undefined);
  const joined = signal<readonly Joined[]>([]);
  Object.assign(globalThis, {
    parlorDemo: { poke, sent, begun, shown, rows: fleet, connection: connections, role, files, port, pairing, joined },
  });
  const devices = {
    pairing,
    joined,
    pair: (id: number, allow: boolean) => {
      sent.push({ pair: [id, allow] });
      pairing.value = undefined;
      return true;
    },
    revoke: (device: string) => sent.push({ revoke: device }) > 0,
    seenJoined: (device: string) => void (joined.value = joined.value.filter((one) => one.id !== device)),
  };
  return {
    fleet: {
      rows: fleet,
      connection: connections,
      role,
      version: signal("0.1.0"),
      act: async () => "Said.",
      look: looks,
      retryNow: () => undefined,
      ...devices,
    },
    open: () => port,
    begin: (wanted) => {
      begun.push(wanted);
      return port;
    },
  };
}
