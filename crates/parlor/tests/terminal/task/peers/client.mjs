// A client on the official SDK: drives the agent whose command line is given through one whole session, and tells what it saw.
import { spawn } from "node:child_process";
import { Readable, Writable } from "node:stream";
const acp = await import(process.env.PARLOR_ACP_SDK);

const [command, ...args] = process.argv.slice(2);
const child = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
const stream = acp.ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout));
const { methods } = acp;
const seen = { updates: [], permissions: [], forms: [], reads: [], writes: [] };
let answer = "allow_once";
const open = new Map();

const app = acp.client({ name: "sdk" })
  .onRequest(methods.client.session.requestPermission, async ({ params }) => {
    seen.permissions.push({ kinds: params.options.map((option) => option.kind), call: params.toolCall.toolCallId });
    if (answer === "cancel") {
      await new Promise((resolve) => setTimeout(resolve, 60000).unref());
    }
    const option = params.options.find((option) => option.kind === answer);
    return { outcome: { outcome: "selected", optionId: option.optionId } };
  })
  .onRequest(methods.client.fs.readTextFile, async ({ params }) => {
    seen.reads.push(params.path);
    if (!open.has(params.path)) throw acp.RequestError.resourceNotFound(params.path);
    return { content: open.get(params.path) };
  })
  .onRequest(methods.client.fs.writeTextFile, async ({ params }) => {
    seen.writes.push(params.path);
    open.set(params.path, params.content);
    return {};
  })
  .onRequest(methods.client.elicitation.create, async ({ params }) => {
    seen.forms.push(Object.keys(params.requestedSchema.properties).length);
    const [name, field] = Object.entries(params.requestedSchema.properties)[0];
    const content = { [name]: field.oneOf ? field.oneOf[0].const : "typed" };
    return { action: "accept", content };
  })
  .onNotification(methods.client.session.update, async ({ params }) => {
    seen.updates.push(params.update);
  });

const take = () => {
  const kinds = seen.updates.map((update) => update.sessionUpdate);
  const text = seen.updates.filter((update) => update.sessionUpdate === "agent_message_chunk").map((update) => update.content.text).join("");
  const diffs = seen.updates.flatMap((update) => update.content ?? []).filter((content) => content?.type === "diff").length;
  const told = { kinds: [...new Set(kinds)], text, diffs, permissions: seen.permissions, forms: seen.forms, reads: seen.reads.length, writes: seen.writes };
  seen.updates = []; seen.permissions = []; seen.forms = []; seen.reads = []; seen.writes = [];
  return told;
};
const say = (what, told) => console.log(JSON.stringify({ what, ...told }));

await app.connectWith(stream, async (ctx) => {
  const hello = await ctx.request(methods.agent.initialize, {
    protocolVersion: acp.PROTOCOL_VERSION,
    clientCapabilities: { fs: { readTextFile: true, writeTextFile: true }, terminal: false, elicitation: { form: {} } },
  });
  say("initialize", { version: hello.protocolVersion, auth: hello.authMethods.map((way) => way.type), capabilities: Object.keys(hello.agentCapabilities.sessionCapabilities) });
  const cwd = process.cwd();
  const { sessionId, modes, configOptions } = await ctx.request(methods.agent.session.new, { cwd, mcpServers: [] });
  say("new", { mode: modes.currentModeId, options: configOptions.map((option) => option.id) });
  const prompt = async (text) => {
    const { stopReason } = await ctx.request(methods.agent.session.prompt, { sessionId, prompt: [{ type: "text", text }] });
    return { stopReason, ...take() };
  };
  take();
  say("text", await prompt("say one two three"));
  say("allowed", await prompt("write a.txt: hi"));
  answer = "reject_once";
  say("rejected", await prompt("write b.txt: no"));
  say("form", await prompt("ask me to choose"));
  answer = "cancel";
  const cancelled = prompt("write c.txt: never");
  while (seen.permissions.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  await ctx.notify(methods.agent.session.cancel, { sessionId });
  say("cancelled", await cancelled);
  const { sessions } = await ctx.request(methods.agent.session.list, {});
  say("list", { count: sessions.length, same: sessions[0].sessionId === sessionId });
  await ctx.request(methods.agent.session.close, { sessionId });
  take();
  await ctx.request(methods.agent.session.load, { sessionId, cwd, mcpServers: [] });
  say("load", take());
  await ctx.request(methods.agent.session.close, { sessionId });
  await ctx.request(methods.agent.session.resume, { sessionId, cwd });
  say("resume", take());
  say("after", await prompt("say still here"));
  say("end", { open: [...open.keys()].length });
});
child.stdin.end();
child.on("exit", (code) => { console.log(JSON.stringify({ what: "exit", code })); process.exit(code ?? 1); });
