// Every figure of the sheet as a picture of its own: node tests/sheet.mjs FOLDER
import { mkdirSync } from "node:fs";
import { chromium } from "playwright-core";

const [folder = "/tmp"] = process.argv.slice(2);
mkdirSync(`${folder}/pictures`, { recursive: true });
const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] });
const page = await browser.newPage({ viewport: { width: 1100, height: 1000 } });
await page.goto(`file://${folder}/sheet.html`);
for (const figure of await page.locator("figure").all())
  await figure.locator("img").screenshot({ path: `${folder}/pictures/${await figure.getAttribute("id")}.png` });
await browser.close();
