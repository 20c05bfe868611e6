// One run from its first words to its end: as a screen reader hears it, in Firefox, and what it costs on the wire.

import { get } from "node:http";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { converses } from "./conversation";
import { Firefox } from "./firefox";
import { ended, LONG, ownHouse } from "./house";
import { web } from "./pairing";

const home = ownHouse();

/** Most bytes that a browser loads before it shows anything. */
const MOST_BYTES = 180 * 1024;
/** Roles that only say how something is laid out, or repeat what is in the one around them. */
const SILENT = new Set([
  "none",
  "generic",
  "StaticText",
  "InlineTextBox",
  "LineBreak",
  "RootWebArea",
  "Section",
  "MenuListPopup",
]);
/** Roles that are named by what is in them. */
const NAMED = new Set(["button", "link", "option", "ListMarker"]);
/** Roles whose words are read as they stand. */
const READ = new Set([
  "paragraph",
  "code",
  "cell",
  "columnheader",
  "status",
  "alert",
  "blockquote",
  "LabelText",
  "note",
]);

interface Node {
  nodeId: string;
  ignored: boolean;
  role?: { value: string };
  name?: { value: string };
  properties?: { name: string; value: { value: unknown } }[];
  childIds?: string[];
}

/** All that a screen reader finds from the top to the end, one line for each thing: what it is, its name, how it stands. */
async function heard(page: Page): Promise<string> {
  const session = await page.context().newCDPSession(page);
  const { nodes } = (await session.send("Accessibility.getFullAXTree")) as { nodes: Node[] };
  await session.detach();
  const byId = new Map(nodes.map((node) => [node.nodeId, node]));
  const lines: string[] = [];
  const text = (node: Node): string =>
    node.role?.value === "StaticText"
      ? (node.name?.value ?? "")
      : (node.childIds ?? []).map((id) => (byId.has(id) ? text(byId.get(id) as Node) : "")).join("");
  const walk = (node: Node, deep: number): void => {
    const role = node.role?.value ?? "";
    const silent = node.ignored || SILENT.has(role);
    if (!silent) {
      const words = (node.name?.value || (READ.has(role) ? text(node) : "")).replace(/\s+/g, " ").trim();
      const states = (node.properties ?? [])
        .filter(
          ({ name, value }) =>
            ["disabled", "expanded", "checked", "selected", "level"].includes(name) && value.value !== false,
        )
        .map(({ name, value }) => (value.value === true ? name : `${name} ${String(value.value)}`));
      lines.push(`${"  ".repeat(deep)}${[role, words && `“${words}”`, ...states].filter(Boolean).join(" ")}`);
    } else if (role === "StaticText" && !node.ignored && node.name?.value.trim())
      lines.push(`${"  ".repeat(deep)}“${node.name.value.replace(/\s+/g, " ").trim()}”`);
    // What is read as the name of a thing is not read again.
    if (!silent && (READ.has(role) || NAMED.has(role))) return;
    for (const id of node.childIds ?? []) {
      const child = byId.get(id);
      if (child) walk(child, deep + (silent ? 0 : 1));
    }
  };
  const root = nodes[0];
  if (root) walk(root, 0);
  return (
    lines
      .join("\n")
      .replaceAll(home.house.project, "/project")
      // What differs from run to run: times, counts of tokens, versions.
      .replace(/\b(\d+(\.\d+)? (s|m|h|d))(?=\b|”)/g, "TIME")
      .replace(/\d+(\.\d+)?( k)? (in|out)\b/g, "N $3")
      .replace(/\d+(\.\d+)? (k )?of \d+(\.\d+)? k/g, "N of N")
      .replace(/\b(\d\d:\d\d|now)\b/g, "TIME")
      .replace(/\d+ % left/g, "N % left")
      .replace(/parlor \d\S*/g, "parlor VERSION")
  );
}

/** From now on gathers what is read out by itself. */
async function listen(page: Page): Promise<() => Promise<string[]>> {
  await page.evaluate(() => {
    const said: string[] = [];
    Object.assign(globalThis, { said });
    new MutationObserver(() => {
      const words = document.getElementById("live")?.textContent?.replace(/\s+/g, " ").trim() ?? "";
      if (words !== "" && words !== said.at(-1)) said.push(words);
    }).observe(document.body, { subtree: true, childList: true, characterData: true });
  });
  return () => page.evaluate(() => (globalThis as never as { said: string[] }).said);
}

test("a whole run as a screen reader hears it", LONG, async () => {
  const { page, context, trouble } = await home.house.visitor({ reducedMotion: "reduce" });
  const said = await listen(page);
  await page.getByRole("button", { name: "New session" }).click();
  await page.getByLabel(/^Model/).waitFor();
  const pieces = [`# A new session\n${await heard(page)}`];
  await page.keyboard.type("write a greeting");
  await page.keyboard.press("Enter");
  const turn = await home.model.turn();
  turn
    .say("I write **hello.txt** here:\n\n1. make it\n2. look at it\n")
    .call("write", { path: "hello.txt", content: "hi\n" })
    .end();
  await page.locator("#ask .primary:enabled").waitFor();
  // The list hears of the session after its own page does.
  await page
    .locator("#fleet")
    .getByRole("link", { name: /^waits for you: write a greeting/ })
    .waitFor();
  pieces.push(`# A question\n${await heard(page)}`);
  // By its button: a key so soon behind the words that were typed is no answer.
  await page.locator("#ask .primary").click();
  (await home.model.turn()).say("It is written.").end();
  await ended(page);
  await page.locator("#transcript").getByText("It is written.").waitFor();
  await page.locator("#live").getByText("Answered").waitFor({ state: "attached" });
  pieces.push(`# The end\n${await heard(page)}`);
  pieces.push(`# Read out by itself\n${(await said()).join("\n")}`);
  await expect(`${pieces.join("\n\n")}\n`).toMatchFileSnapshot(join(import.meta.dirname, "whole.heard.txt"));
  expect(trouble).toEqual([]);
  await context.close();
});

test("a whole conversation in Firefox, on a desk and on a phone", LONG, async () => {
  const shell = await web(home.house.program, { cwd: home.house.project, env: home.house.environment });
  const firefox = await Firefox.start();
  try {
    await converses(home, shell, firefox);
  } finally {
    await firefox.close();
    shell.kill("SIGTERM");
  }
});

/** How many bytes come for a path, compressed as browsers ask for it; the words of it where it is the page. */
function loaded(
  address: string,
  path: string,
  accepts: string,
): Promise<{ bytes: number; encoding: string | undefined }> {
  return new Promise((done, lost) => {
    get(new URL(path, address), { headers: { "accept-encoding": accepts, host: new URL(address).host } }, (answer) => {
      let bytes = 0;
      answer.on("data", (piece: Buffer) => (bytes += piece.length));
      answer.on("end", () => done({ bytes, encoding: answer.headers["content-encoding"] }));
    }).once("error", lost);
  });
}

test("the page is no more than 180 KB on the wire", LONG, async () => {
  const { page, context } = await home.house.visitor();
  const paths = await page.evaluate(() => [
    "/",
    ...[...document.querySelectorAll<HTMLScriptElement | HTMLLinkElement>("script[src], link[href]")].map(
      (one) => new URL("src" in one ? one.src : one.href).pathname,
    ),
  ]);
  expect(paths.length).toBeGreaterThan(3);
  // The server is at this address by whatever name.
  const address = `http://127.0.0.1:${new URL(page.url()).port}/`;
  for (const accepts of ["gzip, deflate, br", "gzip"]) {
    const all = await Promise.all(paths.map((path) => loaded(address, path, accepts)));
    expect(all.map(({ encoding }) => encoding)).toEqual(paths.map(() => (accepts === "gzip" ? "gzip" : "br")));
    const sum = all.reduce((bytes, one) => bytes + one.bytes, 0);
    expect(sum).toBeGreaterThan(50 * 1024);
    expect(sum).toBeLessThan(MOST_BYTES);
  }
  await context.close();
});
