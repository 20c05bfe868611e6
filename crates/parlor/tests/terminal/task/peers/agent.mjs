// An agent on the official SDK: what it does is said by the prompt.
import { Readable, Writable } from "node:stream";
const acp = await import(process.env.PARLOR_ACP_SDK);

const { methods } = acp;
const stream = acp.ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin));
let last = 0;
const cancels = new Map();

const deeds = {
  async hello(say) {
    for (const text of ["one ", "two ", "three"]) await say({ sessionUpdate: "agent_message_chunk", content: { type: "text", text } });
    return "end_turn";
  },
  async edit(say, ctx, sessionId) {
    const toolCallId = "call-1";
    const content = [{ type: "diff", path: "/w/a.txt", oldText: "old\n", newText: "new\n" }];
    await say({ sessionUpdate: "tool_call", toolCallId, title: "Edit a.txt", kind: "edit", status: "pending", content, rawInput: { path: "/w/a.txt" } });
    const options = [
      { optionId: "yes", name: "Allow", kind: "allow_once" },
      { optionId: "no", name: "Reject", kind: "reject_once" },
    ];
    const { outcome } = await ctx.client.request(methods.client.session.requestPermission, { sessionId, toolCall: { toolCallId }, options });
    const allowed = outcome.outcome === "selected" && outcome.optionId === "yes";
    await say({ sessionUpdate: "tool_call_update", toolCallId, status: allowed ? "completed" : "failed" });
    await say({ sessionUpdate: "agent_message_chunk", content: { type: "text", text: allowed ? "edited" : "left alone" } });
    return "end_turn";
  },
  async files(say, ctx, sessionId) {
    const file = (name) => ({ sessionId, path: `${process.cwd()}/${name}` });
    const { content } = await ctx.client.request(methods.client.fs.readTextFile, file("notes"));
    const wrote = await ctx.client.request(methods.client.fs.writeTextFile, { ...file("made"), content: content.toUpperCase() }).then(() => "wrote", () => "refused");
    await say({ sessionUpdate: "agent_message_chunk", content: { type: "text", text: `${content.trim()} ${wrote}` } });
    return "end_turn";
  },
  async command(say, ctx, sessionId) {
    const { terminalId } = await ctx.client.request(methods.client.terminal.create, { sessionId, command: "echo", args: ["from", "terminal"] });
    const { exitCode } = await ctx.client.request(methods.client.terminal.waitForExit, { sessionId, terminalId });
    const { output } = await ctx.client.request(methods.client.terminal.output, { sessionId, terminalId });
    await ctx.client.request(methods.client.terminal.release, { sessionId, terminalId });
    await say({ sessionUpdate: "agent_message_chunk", content: { type: "text", text: `${output.trim()} ${exitCode}` } });
    return "end_turn";
  },
  async form(say, ctx, sessionId) {
    const requestedSchema = { type: "object", properties: { name: { type: "string", title: "A name" } }, required: ["name"] };
    const { action } = await ctx.client.request(methods.client.elicitation.create, { sessionId, mode: "form", message: "Who?", requestedSchema });
    await say({ sessionUpdate: "agent_message_chunk", content: { type: "text", text: `form ${action}` } });
    return "end_turn";
  },
  async wait(say, _ctx, sessionId) {
    await say({ sessionUpdate: "agent_message_chunk", content: { type: "text", text: "waiting" } });
    await new Promise((resolve) => cancels.set(sessionId, resolve));
    return "cancelled";
  },
};

const past = [
  { sessionUpdate: "user_message_chunk", content: { type: "text", text: "before" } },
  { sessionUpdate: "agent_message_chunk", content: { type: "text", text: "an answer of before" } },
];

acp.agent({ name: "sdk-agent" })
  .onRequest(methods.agent.initialize, async () => ({
    protocolVersion: acp.PROTOCOL_VERSION,
    agentInfo: { name: "sdk-agent", version: "1" },
    agentCapabilities: { loadSession: true, sessionCapabilities: { list: {}, resume: {}, close: {} } },
  }))
  .onRequest(methods.agent.session.new, async () => ({ sessionId: `theirs-${++last}` }))
  .onRequest(methods.agent.session.list, async () => ({ sessions: [{ sessionId: "theirs-old", cwd: process.cwd(), title: "an old one" }] }))
  .onRequest(methods.agent.session.load, async (ctx) => {
    for (const update of past) await ctx.client.notify(methods.client.session.update, { sessionId: ctx.params.sessionId, update });
    return {};
  })
  .onRequest(methods.agent.session.resume, async () => ({}))
  .onRequest(methods.agent.session.close, async () => ({}))
  .onRequest(methods.agent.session.prompt, async (ctx) => {
    const { sessionId, prompt } = ctx.params;
    const text = prompt.map((block) => block.text ?? "").join("").trim();
    const say = (update) => ctx.client.notify(methods.client.session.update, { sessionId, update });
    const deed = deeds[text] ?? deeds.hello;
    return { stopReason: await deed(say, ctx, sessionId) };
  })
  .onNotification(methods.agent.session.cancel, async ({ params }) => cancels.get(params.sessionId)?.())
  .connect(stream);
