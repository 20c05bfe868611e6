// The built page against a running `parlor web`: node tests/real.mjs ADDRESS FOLDER. The page's files come from dist/,
// everything else from the server, so that no rebuild of the program is needed to look at a change.
import { readFileSync, existsSync } from "node:fs";
import { chromium } from "playwright-core";

const [address, folder = "/tmp"] = process.argv.slice(2);
const origin = new URL(address).origin;
const dist = new URL("../dist", import.meta.url).pathname;
const TYPES = { html: "text/html", js: "text/javascript", css: "text/css", svg: "image/svg+xml" };
const CSP =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; font-src 'self'; connect-src 'self'; manifest-src 'self'; worker-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types parlor-sw";
const browser = await chromium.launch({
  executablePath: "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-features=LocalNetworkAccessChecks"],
});
const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, colorScheme: "dark" });
const page = await context.newPage();
page.on("pageerror", (error) => console.log("error:", error.message, error.stack?.split("\n")[1]));
page.on("console", (message) => console.log("console:", message.type(), message.text()));
await page.route(`${origin}/**`, (route) => {
  const path = new URL(route.request().url()).pathname;
  const file = dist + (path === "/" ? "/index.html" : path);
  if (route.request().method() !== "GET" || !existsSync(file)) return route.continue();
  return route.fulfill({
    body: readFileSync(file),
    contentType: TYPES[file.split(".").at(-1)],
    headers: { "content-security-policy": CSP },
  });
});
await page.goto(address);
await page.waitForTimeout(3000);
console.log("url:", page.url());
await page.screenshot({ path: `${folder}/real-1.png` });
await page.locator("a.fleet-row").first().click();
await page.waitForTimeout(4000);
await page.screenshot({ path: `${folder}/real-2.png` });
console.log("url:", page.url());
const words = process.argv.slice(4);
for (const [at, line] of words.entries()) {
  if (line.startsWith("key:")) await page.keyboard.press(line.slice(4));
  else if (line.startsWith("click:"))
    await page
      .getByRole("button", { name: line.slice(6) })
      .first()
      .click();
  else if (line.startsWith("size:")) await page.setViewportSize({ width: Number(line.slice(5)), height: 844 });
  else {
    await page.locator("#composer").fill(line);
    await page.locator("#composer").press("Enter");
  }
  await page.waitForTimeout(2500);
  await page.screenshot({ path: `${folder}/real-${at + 3}.png` });
}
console.log("url:", page.url());
await browser.close();
