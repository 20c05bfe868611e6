// A UI on the codelia wire: ui.ts PROMPT [RUNTIME...]. It starts the runtime and speaks JSON-RPC with it, one object per line.
// Its types are inferred, so that Node 20.16 runs it as it is; with annotations of your own it needs Node 22.18.

const { spawn } = process.getBuiltinModule("node:child_process");
const { createInterface } = process.getBuiltinModule("node:readline/promises");

const [prompt, ...given] = process.argv.slice(2);
const [program, ...words] = given.length ? given : ["parlor", "serve", "--dialect", "codelia", "--stdio"];
const runtime = spawn(program, words, { stdio: ["pipe", "pipe", "inherit"] });
const keys = process.stdin.isTTY ? createInterface({ input: process.stdin, output: process.stdout }) : null;

const say = (line = {}) => runtime.stdin.write(JSON.stringify({ jsonrpc: "2.0", ...line }) + "\n");

/** Shows a line of the runtime, answers it if it is a question, and ends with the run. */
async function take(line = "") {
  const { id, method, params, error } = JSON.parse(line);
  const event = method === "agent.event" ? params.event : {};
  if (event.type === "text" || event.type === "final") console.log(event.content);
  if (event.type === "tool_call") console.log("·", event.tool, event.args);
  if (method === "ui.confirm.request") {
    const answer = await keys?.question(`${params.title}\n${params.message}\n[y/n] `); // Where nobody sits, nothing is allowed.
    say({ id, result: { ok: answer === "y", remember: false } });
  }
  const over = method === "run.status" && ["completed", "cancelled", "error"].includes(params.status);
  if (error || over) {
    console.log(error ?? params.message ?? "");
    process.exit();
  }
}

(async () => {
  const client = { name: "mine", version: "1" };
  say({ id: "1", method: "initialize", params: { protocol_version: "0", client, ui_capabilities: { supports_confirm: true } } });
  say({ id: "2", method: "run.start", params: { input: { type: "text", text: prompt } } });
  let rest = "";
  for await (const piece of runtime.stdout.setEncoding("utf8")) {
    const lines = (rest + piece).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) await take(line).catch(() => console.error("not understood:", line.slice(0, 80)));
  }
})();
