// An agent on the asst wire: one JSON object per line, requests on stdin, answers on stdout. Logs belong on stderr.
// Its types are inferred, so that Node 20 runs it as it is; with annotations of your own it needs Node 22.18.

/** What your agent says, piece by piece. This is the part that is yours. */
async function* answer(prompt = "") {
  yield "You said: ";
  yield prompt;
}

function say(line = {}) {
  process.stdout.write(JSON.stringify({ ...line, timestamp: Date.now() }) + "\n");
}

async function take(line = "") {
  let request;
  try { request = JSON.parse(line); } catch { request = null; }
  const { kind, id, message } = request ?? {};
  if (typeof kind !== "string" || typeof id !== "string") {
    if (line.trim()) say({ type: "error", id: "", error: "not a request" });
  } else if (kind === "user_message" && typeof message === "string") {
    for await (const token of answer(message)) say({ type: "token", id, token });
    say({ type: "done", id });
  } else if (kind === "get_status") {
    say({ type: "status", id, data: { state: "idle", conversationLength: 0, uptime: 0 } });
  } else if (kind === "clear_history") {
    say({ type: "done", id });
  } else {
    say({ type: "error", id, error: `not understood: ${kind}` });
  }
}

(async () => {
  say({ type: "ready", version: "1.0.0", capabilities: ["streaming"] });
  let rest = "";
  for await (const piece of process.stdin.setEncoding("utf8")) {
    const lines = (rest + piece).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) await take(line);
  }
})();
