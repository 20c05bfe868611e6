// A model that says what a test tells it to, when the test tells it: a server of the OpenAI wire on this machine.

import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** How long the program may take to ask. */
const PATIENCE_MS = 100_000;

/** One answer, as far as the test has given it. */
export class Turn {
  private closedByPeer: (() => void) | undefined;
  /** Resolves when the program lets go of the answer before its end. */
  readonly dropped: Promise<void>;
  private finish = "stop";

  constructor(
    readonly body: { messages: { role: string; content: unknown }[] },
    private readonly to: ServerResponse,
  ) {
    this.dropped = new Promise((done) => (this.closedByPeer = done));
    to.on("close", () => !to.writableFinished && this.closedByPeer?.());
    to.writeHead(200, { "content-type": "text/event-stream" });
  }

  /** All that the program sent, as text: what the model was told. */
  get told(): string {
    return JSON.stringify(this.body.messages);
  }

  say(text: string): this {
    return this.delta({ content: text });
  }

  think(text: string): this {
    return this.delta({ reasoning_content: text });
  }

  call(name: string, args: object, at = 0): this {
    this.finish = "tool_calls";
    return this.delta({
      tool_calls: [
        {
          index: at,
          id: `call_${name}_${at}_${this.body.messages.length}`,
          type: "function",
          function: { name, arguments: JSON.stringify(args) },
        },
      ],
    });
  }

  end(): void {
    this.chunk({
      choices: [{ index: 0, delta: {}, finish_reason: this.finish }],
      usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
    });
    this.to.end("data: [DONE]\n\n");
  }

  private delta(delta: object): this {
    return this.chunk({ choices: [{ index: 0, delta, finish_reason: null }] });
  }

  private chunk(chunk: object): this {
    this.to.write(
      `data: ${JSON.stringify({ id: "1", object: "chat.completion.chunk", created: 1, model: "scripted", ...chunk })}\n\n`,
    );
    return this;
  }
}

export class Model {
  private readonly asked: Turn[] = [];
  private readonly waiting: ((turn: Turn) => void)[] = [];

  private constructor(private readonly server: Server) {}

  static async start(): Promise<Model> {
    const server = createServer();
    const model = new Model(server);
    server.on("request", (request, response) => {
      let text = "";
      request.setEncoding("utf8");
      request.on("data", (piece: string) => (text += piece));
      request.on("end", () => {
        if (request.method !== "POST")
          return void response
            .writeHead(200, { "content-type": "application/json" })
            .end('{"data":[{"id":"scripted"}]}');
        const turn = new Turn(JSON.parse(text), response);
        const first = model.waiting.shift();
        if (first) first(turn);
        else model.asked.push(turn);
      });
    });
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
    return model;
  }

  /** What the program must be started with to ask this model. */
  get environment(): Record<string, string> {
    return {
      VLLM_BASE_URL: `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/v1`,
      PARLOR_MODEL: "vllm/scripted",
    };
  }

  /** The next request of the program. */
  turn(): Promise<Turn> {
    const first = this.asked.shift();
    if (first) return Promise.resolve(first);
    return new Promise((done, never) => {
      const waits = (turn: Turn): void => {
        clearTimeout(timer);
        done(turn);
      };
      const timer = setTimeout(() => {
        // The next one is for who waits then.
        this.waiting.splice(this.waiting.indexOf(waits), 1);
        never(new Error("the model was not asked"));
      }, PATIENCE_MS);
      this.waiting.push(waits);
    });
  }

  stop(): void {
    this.server.closeAllConnections();
    this.server.close();
  }
}
