// Pictures of the demo page at the three widths and in both schemes: node tests/shot.mjs FOLDER [HASH]
import { chromium } from "playwright-core";
import { createServer } from "vite";

const [folder = "/tmp", hash = "#/s/s1"] = process.argv.slice(2);
const server = await createServer({
  root: new URL("..", import.meta.url).pathname,
  server: { port: 0, host: "127.0.0.1" },
  logLevel: "error",
});
await server.listen();
const address = server.resolvedUrls.local[0];
const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] });
for (const scheme of ["light", "dark"]) {
  for (const [width, height] of [
    [1440, 900],
    [1024, 768],
    [390, 664],
  ]) {
    const context = await browser.newContext({ viewport: { width, height }, colorScheme: scheme });
    const page = await context.newPage();
    page.on("pageerror", (error) => console.log("error:", error.message));
    page.on("console", (message) => message.type() === "error" && console.log("console:", message.text()));
    await page.goto(`${address}tests/demo/index.html${hash}`);
    await page.waitForSelector(".head");
    await page.waitForTimeout(1500);
    await page.screenshot({ path: `${folder}/${width}-${scheme}.png` });
    await context.close();
  }
}
await browser.close();
await server.close();
