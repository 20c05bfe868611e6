// A server that says only what a bench needs: the built page, one device, a session of any length, a fleet of any size.

import { createServer, type Server } from "node:http";
import { existsSync, readFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { extname, join } from "node:path";
import { WebSocketServer, type WebSocket } from "ws";
import { apply } from "../src/model/fold";
import { stateHash } from "../src/model/hashed";
import { emptyState } from "../src/model/state";
import type { Body } from "../src/model/types";
import type { FleetRow } from "../src/view/ports";

export const SESSION = "sess-000000000001";
/** What one line of a replay holds at most. */
const PIECE = 2000;
const TYPES: Record<string, string> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript",
  ".css": "text/css",
  ".svg": "image/svg+xml",
};
const ABILITIES = {
  name: "bench",
  steer: true,
  follow_up: true,
  cancel: true,
  sessions: true,
  branch: true,
  models: true,
  servers: true,
  skills: true,
  consent: true,
};
const DEVICE = { id: "dev-bench", name: "bench", role: "controller" };

/** A conversation of that many entries: a prompt and an answer each, with code in every tenth. */
export function conversation(entries: number): Body[] {
  const bodies: Body[] = [{ session_opened: { cwd: "/w", project: "/w" } }];
  let id = 0;
  let parent: number | undefined;
  for (let at = 0; at < entries / 2; at += 1) {
    const run = (id += 1);
    const turn = (id += 1);
    const prompt = (id += 1);
    const step = (id += 1);
    const answer = (id += 1);
    const code = at % 10 === 0 ? `\n\n\`\`\`rust\nfn number() -> usize {\n    ${at}\n}\n\`\`\`\n` : "";
    bodies.push(
      { run_started: { run } },
      { turn_started: { run, turn, cause: "prompt" } },
      { message_started: { message: prompt, role: "user", turn, ...(parent === undefined ? {} : { parent }) } },
      { part_added: { message: prompt, part: { text: `question ${at}` } } },
      { message_ended: { message: prompt, finish: "complete" } },
      { step_started: { turn, step } },
      { message_started: { message: answer, parent: prompt, role: "assistant", turn, step } },
      {
        part_added: {
          message: answer,
          part: { text: `answer ${at}: some **words** about it, with \`code\` and a list\n\n- one\n- two${code}` },
        },
      },
      { message_ended: { message: answer, finish: "complete" } },
      { step_ended: { step, usage: {} } },
      { turn_ended: { turn } },
      { run_ended: { run, outcome: "done" } },
    );
    parent = answer;
  }
  return bodies;
}

/**
 * What an answer is made of, token by token, as models give them: mostly sentences, now and then a list, code or a
 * table.
 */
export function answer(tokens: number): string[] {
  const sentence = [
    "The ",
    "reader ",
    "task ",
    "waits ",
    "on ",
    "a ",
    "**channel** ",
    "that ",
    "is ",
    "`closed` ",
    "only ",
    "when ",
    "the ",
    "other ",
    "half ",
    "is ",
    "dropped",
    ". ",
  ];
  const paragraph = [...sentence, ...sentence, ...sentence, "\n\n"];
  const list = [
    "- ",
    ...sentence.slice(0, 9),
    "\n",
    "- ",
    ...sentence.slice(0, 9),
    "\n",
    "- ",
    ...sentence.slice(0, 9),
    "\n\n",
  ];
  const code = [
    "```",
    "rust\n",
    ...Array.from({ length: 20 }, () => ["    let ", "line ", "= ", "inbox", ".recv()", ".await;\n"]).flat(),
    "```\n\n",
  ];
  const table = [
    "| case ",
    "| before ",
    "| after ",
    "|\n",
    "|---",
    "|---",
    "|---",
    "|\n",
    ...Array.from({ length: 5 }, () => ["| peer ", "| hangs ", "| ends ", "|\n"]).flat(),
    "\n",
  ];
  const round = [
    "## ",
    "Step ",
    "\n\n",
    ...paragraph,
    ...paragraph,
    ...list,
    ...code,
    ...paragraph,
    ...table,
    ...paragraph,
  ];
  return Array.from({ length: tokens }, (_, at) => round[at % round.length] ?? "");
}

/** The worst that a model writes: a block of code and a table in every sixteen tokens. */
export function heavyAnswer(tokens: number): string[] {
  const round = [
    "```",
    "rust\n",
    "let line",
    " = inbox",
    ".recv()",
    ";\n",
    "```",
    "\n\n",
    "| a ",
    "| b |\n",
    "|---|",
    "---|\n",
    "| 1 ",
    "| `2` |",
    "\n",
    "\n",
  ];
  return Array.from({ length: tokens }, (_, at) => round[at % round.length] ?? "");
}

/** A run whose answer is being written. */
export const OPEN: Body[] = [
  { run_started: { run: 1_000_001 } },
  { turn_started: { run: 1_000_001, turn: 1_000_002, cause: "prompt" } },
  { step_started: { turn: 1_000_002, step: 1_000_003 } },
  { message_started: { message: 1_000_004, role: "assistant", turn: 1_000_002, step: 1_000_003 } },
];

/** Whoever asks is a device, and stays one. */
function enrolled(socket: WebSocket): void {
  socket.send(JSON.stringify({ challenge: { nonce: "bm9uY2U", version: "0.1.0", page: "", lasting: true } }));
  socket.on("message", () => socket.send(JSON.stringify({ enrolled: { device: DEVICE } })));
}

export class Bench {
  /** The sockets that are open for the session and for the fleet. */
  readonly sessions = new Set<WebSocket>();
  readonly fleets = new Set<WebSocket>();
  private lines: string[] = [];
  private rows: FleetRow[] = [];
  private constructor(private readonly server: Server) {}

  static async start(folder: string): Promise<Bench> {
    const server = createServer((request, response) => {
      const file = join(folder, request.url === "/" ? "index.html" : (request.url ?? ""));
      if (!existsSync(file)) return void response.writeHead(404).end();
      response
        .writeHead(200, { "content-type": TYPES[extname(file)] ?? "application/octet-stream" })
        .end(readFileSync(file));
    });
    const bench = new Bench(server);
    new WebSocketServer({ server }).on("connection", (socket, request) =>
      request.url === "/enrol" ? enrolled(socket) : bench.met(socket),
    );
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
    return bench;
  }

  get address(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/`;
  }

  holds(bodies: Body[]): void {
    const state = emptyState();
    for (const body of bodies) {
      const refused = apply(state, 1000, body);
      if (refused) throw new Error(JSON.stringify(refused));
    }
    const at = { session: SESSION, seq: bodies.length, hash: stateHash(state) };
    const attached = { at, board: {}, abilities: ABILITIES };
    const pieces = Array.from({ length: Math.ceil(bodies.length / PIECE) }, (_, piece) =>
      bodies.slice(piece * PIECE, (piece + 1) * PIECE).map((body) => [1000, body]),
    );
    this.lines = [
      { attached_begin: { ...attached, replay: [] } },
      ...pieces.map((items) => ({ replay: { session: SESSION, items } })),
      { attached_end: { session: SESSION } },
    ].map((line) => JSON.stringify(line));
  }

  shows(rows: FleetRow[]): void {
    this.rows = rows;
  }

  private met(socket: WebSocket): void {
    socket.send(JSON.stringify({ challenge: { nonce: "bm9uY2U", version: "0.1.0", page: "" } }));
    socket.on("message", (data) => {
      const said = JSON.parse(String(data)) as {
        device?: { wants: unknown };
        hello?: object;
        command?: { ticket: number };
      };
      if (said.device) {
        socket.send(JSON.stringify({ welcome: { device: DEVICE, version: "0.1.0" } }));
        if (said.device.wants !== "fleet") return;
        this.fleets.add(socket);
        socket.send(JSON.stringify({ rows: { all: true, rows: this.rows } }));
      } else if (said.hello) {
        socket.send(
          JSON.stringify({
            hello: { protocol: 1, revision: 1, name: "bench", version: "0.1.0", capabilities: ["hash", "cursor"] },
          }),
        );
        for (const line of this.lines) socket.send(line);
        this.sessions.add(socket);
      } else if (said.command)
        socket.send(JSON.stringify({ settled: { ticket: said.command.ticket, with: { receipt: "done" } } }));
    });
    socket.on("close", () => {
      this.sessions.delete(socket);
      this.fleets.delete(socket);
    });
  }

  tell(to: Set<WebSocket>, line: object): void {
    const text = JSON.stringify(line);
    for (const socket of to) socket.send(text);
  }

  stop(): void {
    this.server.closeAllConnections();
    this.server.close();
  }
}
