// A terminal on a session: the program's plain screen in a pseudo-terminal. Its process is another one than the
// session's and folds what it is told by itself; it is announced as every process with sessions is, so that it can be
// asked what its own state hashes to.

import { spawn, type ChildProcess } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { createConnection, createServer, type Server, type Socket } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { expect } from "vitest";
import { WAIT, type House } from "./house";

/** Colours and moves of the cursor: what is left is what one reads. */
const DRAWN = /\u001b\[[0-9;?]*[A-Za-z]|\u001b\][^\u0007]*\u0007|\r/g;

export class Terminal {
  private shown = "";
  private seen = 0;
  private refused = 0;

  private constructor(
    private readonly house: House,
    private readonly child: ChildProcess,
    private readonly between: Server,
    private readonly carried: Set<Socket>,
  ) {
    child.stdout?.setEncoding("utf8");
    child.stdout?.on("data", (piece: string) => (this.shown += piece));
  }

  static async on(house: House, session: string): Promise<Terminal> {
    const room = processes(house).find(({ serving }) => serving === "room");
    expect(room, "the session has a room").toBeDefined();
    // What a terminal starts is never believed to be a person by rooms: so the way there is ours.
    const path = join(house.place, "between.sock");
    const carried = new Set<Socket>();
    const between = createServer((near) => {
      const far = createConnection(join(house.place, "data", "run", `${room?.pid}.sock`));
      near.pipe(far).pipe(near);
      for (const socket of [near, far]) {
        carried.add(socket);
        socket.on("error", () => undefined);
      }
    });
    await new Promise<void>((done) => between.listen(path, done));
    const carry = `const s=require("net").connect(${JSON.stringify(path)});process.stdin.pipe(s).pipe(process.stdout)`;
    const quoted = (word: string): string => `'${word.replaceAll("'", "'\\''")}'`;
    const command = [
      house.program,
      "attach",
      "--plain",
      "--dialect",
      "native",
      "--session",
      session,
      "--",
      process.execPath,
      "-e",
      carry,
    ]
      .map(quoted)
      .join(" ");
    const child = spawn("script", ["-qfec", `stty -echo rows 40 cols 100; exec ${command}`, "/dev/null"], {
      cwd: house.project,
      env: house.environment,
      stdio: ["pipe", "pipe", "ignore"],
    });
    const terminal = new Terminal(house, child, between, carried);
    await terminal.shows("Write a prompt");
    return terminal;
  }

  /** Waits until it has written this since the last thing that was waited for. */
  async shows(words: string): Promise<void> {
    const text = (): string => this.shown.replace(DRAWN, "").slice(this.seen);
    await expect.poll(text, { timeout: WAIT }).toContain(words);
    this.seen += text().indexOf(words) + words.length;
  }

  types(line: string): void {
    this.child.stdin?.write(`${line}\r`);
  }

  /**
   * Answers the question that is shown. What comes in the moment in which it is written is no answer: it is said so,
   * and written again.
   */
  async answers(line: string, until: Promise<unknown>): Promise<void> {
    this.types(line);
    let over = false;
    void until.then(
      () => (over = true),
      () => (over = true),
    );
    await expect
      .poll(
        () => {
          const again = this.shown.indexOf("so it is no answer. Write it again", this.refused);
          if (again >= 0) {
            this.refused = again + 1;
            this.types(line);
          }
          return over;
        },
        { timeout: WAIT },
      )
      .toBe(true);
    await until;
  }

  /** Where its own state stands. */
  async hash(session: string): Promise<{ seq: number; hash: string }> {
    const self = processes(this.house).find(({ serving }) => serving !== "room");
    const socket = createConnection(join(this.house.place, "data", "run", `${self?.pid}.sock`));
    try {
      socket.write(
        `${JSON.stringify({ hello: { protocol: 1, revision: 2, name: "test", version: "0", capabilities: ["hash"], session } })}\n`,
      );
      let greeted = false;
      for await (const line of createInterface({ input: socket })) {
        const said = JSON.parse(line);
        greeted ||= said.hello !== undefined;
        // It shows its session by itself, also to one that has not greeted yet: what that hashes to is told after the
        // hello.
        const at = greeted && (said.hash ?? said.attached?.at ?? said.attached_begin?.at);
        if (at) return { seq: at.seq, hash: at.hash };
      }
      throw new Error("the terminal's process says nothing of the session");
    } finally {
      socket.destroy();
    }
  }

  async close(): Promise<void> {
    const gone = new Promise((done) => this.child.once("exit", done));
    this.child.stdin?.end("\u0004");
    for (const socket of this.carried) socket.destroy();
    if (this.child.exitCode === null) {
      this.child.kill();
      await gone;
    }
    this.between.close();
  }
}

function processes(house: House): { pid: number; serving: string }[] {
  const folder = join(house.place, "data", "run");
  return readdirSync(folder)
    .filter((name) => name.endsWith(".json"))
    .map((name) => JSON.parse(readFileSync(join(folder, name), "utf8")));
}
