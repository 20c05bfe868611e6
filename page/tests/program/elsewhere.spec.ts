// A server of somebody else on another port of this machine, in the same browser: the dev server of a hostile project.

import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { begin, LONG, ownHouse, say } from "./house";

const home = ownHouse();
let stranger: Server;
let there: string;
const log: { line: string; headers: IncomingMessage["headers"] }[] = [];

beforeAll(async () => {
  stranger = createServer((request, response) => {
    log.push({ line: `${request.method} ${request.url}`, headers: request.headers });
    response.writeHead(200, { "content-type": "text/html" }).end("<!doctype html><title>theirs</title><h1>theirs</h1>");
  });
  await new Promise<void>((done) => stranger.listen(0, "127.0.0.1", done));
  there = `http://127.0.0.1:${(stranger.address() as AddressInfo).port}`;
});
afterAll(async () => {
  stranger?.closeAllConnections();
  stranger?.close();
});

test("another server on this machine gets nothing of ours and reaches nothing of ours", LONG, async () => {
  const { page, context, trouble } = await home.house.visitor();
  const ours = new URL(page.url()).origin;
  const session = await begin(page);
  const device = JSON.parse(await home.house.parlor("devices", "--json")).devices[0].id as string;

  // Somebody follows a link of the transcript.
  await say(page, "where is it?");
  (await home.model.turn()).say(`at [its page](${there}/from-the-transcript)`).end();
  const opened = context.waitForEvent("page");
  await page.locator("#transcript").getByRole("link", { name: "its page" }).click();
  const followed = await opened;
  await followed.getByRole("heading", { name: "theirs" }).waitFor();
  expect(await followed.evaluate(() => [window.opener, document.referrer])).toEqual([null, ""]);
  expect(trouble.splice(0)).toEqual([`popup: ${followed.url()}`]);

  // Their page, in the browser that we are enrolled in.
  await followed.goto(`${there}/again`);
  const found = await followed.evaluate(
    async ([origin, wanted]) => {
      const tried = async (what: () => Promise<unknown>): Promise<string> =>
        what().then(
          (got) => `got ${String(got)}`,
          (error: Error) => error.name,
        );
      const socket = (): Promise<string> =>
        new Promise((done) => {
          const wire = new WebSocket(`${origin?.replace("http", "ws")}/wire`);
          wire.onopen = () => done("open");
          wire.onclose = (event) => done(`closed ${event.code}`);
        });
      const loads = (tag: "script" | "img" | "link", path: string): Promise<string> =>
        new Promise((done) => {
          const element = document.createElement(tag);
          element.onload = () => done("loaded");
          element.onerror = () => done("refused");
          if (element instanceof HTMLLinkElement)
            Object.assign(element, { rel: "stylesheet", href: `${origin}${path}` });
          else element.src = `${origin}${path}`;
          document.body.append(element);
        });
      const frame = document.createElement("iframe");
      frame.src = `${origin}/#/s/${wanted}`;
      document.body.append(frame);
      await new Promise((done) => (frame.onload = done));
      const popup = window.open(`${origin}/#/s/${wanted}`, "ours");
      return {
        cookies: document.cookie,
        kept: [localStorage.length, sessionStorage.length],
        databases: (await indexedDB.databases()).length,
        socket: await socket(),
        read: await tried(() => fetch(`${origin}/`).then((answer) => answer.text())),
        opaque: await tried(() => fetch(`${origin}/`, { mode: "no-cors" }).then((answer) => answer.type)),
        enrol: await tried(() =>
          fetch(`${origin}/enrol`, { method: "POST", headers: { "content-type": "application/json" }, body: "{}" }),
        ),
        simple: await tried(() =>
          fetch(`${origin}/enrol`, { method: "POST", mode: "no-cors", body: "{}" }).then((answer) => answer.type),
        ),
        picture: await loads("img", "/favicon.svg"),
        script: await loads("script", "/"),
        style: await loads("link", "/favicon.svg"),
        framed: frame.contentDocument === null,
        popup: popup === null || popup.closed,
      };
    },
    [ours, session],
  );
  expect(found).toEqual({
    cookies: "",
    kept: [0, 0],
    databases: 0,
    socket: "closed 1006",
    read: "TypeError",
    opaque: "TypeError",
    enrol: "TypeError",
    simple: "TypeError",
    picture: "refused",
    script: "refused",
    style: "refused",
    framed: true,
    popup: true,
  });
  // The frame shows the browser's error, not us; the window that it opened is not its own.
  expect(
    followed
      .frames()
      .slice(1)
      .map((frame) => frame.url()),
  ).toEqual(["chrome-error://chromewebdata/"]);

  // All that it ever heard.
  expect(log.map(({ line }) => line).filter((line) => !line.endsWith("/favicon.ico"))).toEqual([
    "GET /from-the-transcript",
    "GET /again",
  ]);
  for (const { headers } of log) expect(headers.referer ?? there).toContain(there);
  const heard = JSON.stringify(log).toLowerCase();
  for (const secret of [
    "cookie",
    "authorization",
    'origin":',
    "token",
    "parlor",
    device.toLowerCase(),
    session.toLowerCase(),
    new URL(ours).port,
  ]) {
    expect(heard, secret).not.toContain(secret);
  }
  expect(await context.cookies()).toEqual([]);
  // Ours goes on as before.
  await page.locator("#transcript").getByText("where is it?").waitFor();
  expect(JSON.parse(await home.house.parlor("devices", "--json")).devices.length).toBe(1);
  await context.close();
});
