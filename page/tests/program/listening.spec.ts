// A server that a command of the session starts, in a network where nobody else is: opened from the page, seen in the
// browser, closed again.

import { createServer, type AddressInfo } from "node:net";
import { join } from "node:path";
import { existsSync } from "node:fs";
import { expect, test } from "vitest";
import { begin, LONG, ownHouse, say, WAIT } from "./house";

const home = ownHouse();

/** Whether somebody listens at this port of the machine. */
async function free(port: number): Promise<number | undefined> {
  const server = createServer();
  return new Promise((done) => {
    server.once("error", () => done(undefined));
    server.listen(port, "127.0.0.1", () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => done(port));
    });
  });
}

/** A port that nobody has here, below those that the kernel gives by itself: a test elsewhere gets none of these. */
async function chosen(): Promise<number> {
  for (;;) {
    const port = await free(10_000 + Math.floor(Math.random() * 20_000));
    if (port !== undefined) return port;
  }
}

test("a server of the agent's is opened in the browser by one button, and by nobody who only looks", LONG, async () => {
  if (!(await home.house.parlor("doctor")).includes("a network of their own: what they start")) return;
  const { page, context, trouble } = await home.house.visitor();
  const session = await begin(page);
  const port = await chosen();
  const serve = `perl -MIO::Socket::INET -e 'my $s = IO::Socket::INET->new(LocalAddr => q(127.0.0.1:${port}), Listen => 5) or die; open(F, q(>up)); while (my $c = $s->accept) { while (<$c>) { last if /^\\r?\\n$/ } print $c qq(HTTP/1.0 200 OK\\r\\nContent-Type: text/html\\r\\n\\r\\n<h1>Served inside</h1>); close $c }'`;
  await say(page, "serve it");
  (await home.model.turn()).call("bash", { command: serve, background: true }).end();
  await page.getByRole("button", { name: /Allow once/ }).click();
  (await home.model.turn()).say("it serves").end();
  await expect.poll(() => existsSync(join(home.house.project, "up")), { timeout: WAIT }).toBe(true);

  const looker = await home.house.visitor({}, "--role", "observer");
  await looker.page.goto(`${new URL(looker.page.url()).origin}/#/s/${session}`);
  const seen = looker.page.locator(".listening");
  await seen.getByText(String(port)).waitFor();
  expect(await seen.getByRole("button").count()).toBe(0);

  const outside = await context.newPage();
  await expect(outside.goto(`http://127.0.0.1:${port}/`)).rejects.toThrow();
  await page.getByRole("button", { name: `Open port ${port}` }).press("Enter");
  const [popup] = await Promise.all([
    context.waitForEvent("page"),
    page.getByRole("link", { name: `127.0.0.1:${port}` }).click(),
  ]);
  await popup.getByRole("heading", { name: "Served inside" }).waitFor({ timeout: WAIT });
  await outside.goto(`http://127.0.0.1:${port}/`);
  await outside.getByRole("heading", { name: "Served inside" }).waitFor({ timeout: WAIT });

  await page.getByRole("button", { name: `Close port ${port}` }).click();
  await page.getByRole("button", { name: `Open port ${port}` }).waitFor();
  await expect(outside.goto(`http://127.0.0.1:${port}/`)).rejects.toThrow();
  expect(trouble.filter((one) => !one.startsWith(`popup: `))).toEqual([]);
  expect(looker.trouble).toEqual([]);
  await looker.context.close();
  await context.close();
});
