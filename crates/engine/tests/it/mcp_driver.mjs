// What the conformance suite starts as the client: it tells the test, which is the client, and ends as that says.
import net from "node:net";

const [port, url] = process.argv.slice(2);
const context = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? "{}");
const test = net.connect(Number(port), "127.0.0.1");
test.write(`${JSON.stringify({ url, context })}\n`);
let said = "";
test.on("data", (piece) => {
  said += piece;
});
test.on("close", () => process.exit(said.trim() === "done" ? 0 : 1));
