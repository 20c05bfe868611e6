// A project as users of Claude Code have it (examples/claude-project), on the page of the built program: its instructions with
// imports, commands, agents, hooks and servers are used as they are, and nothing of it runs before a yes.

import { cpSync, existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { begin, ended, LONG, ownHouse, say } from "./house";

const EXAMPLE = fileURLToPath(new URL("../../../examples/claude-project", import.meta.url));
const home = ownHouse();

test("a project of Claude Code's works on the page as it is", LONG, async () => {
  cpSync(EXAMPLE, home.house.project, { recursive: true });
  const { page, trouble } = await home.house.visitor();
  await begin(page);
  const answer = (name: string) => page.getByRole("button", { name }).first().click();
  await say(page, "/greet Ada");
  await page.getByText("This project brings the MCP server words").first().waitFor();
  await page.getByText("Start it to read only").click();
  await answer("Answer");
  await page.getByText("This project brings hooks").first().waitFor();
  await answer("Run them");

  const counts = await home.model.turn();
  for (const told of ["Greetings are one line", "never written by hand", "Add a greeting for Ada", "- reviewer:"])
    expect(counts.told).toContain(told);
  counts.call("mcp__words__count_words", { text: "Hello, Ada." }).end();
  await answer("Allow once");
  const writes = await home.model.turn();
  expect(writes.told).toContain("2 words");
  writes.call("write", { path: "generated/count.txt", content: "2" }).end();
  const gives = await home.model.turn();
  expect(gives.told).toContain("generated/ is made by tools/gen.sh");
  gives.call("task", { agent: "reviewer", prompt: "look at greetings.txt" }).end();
  const reviews = await home.model.turn();
  expect(reviews.told).toContain("You review greetings.");
  expect(reviews.told).not.toContain("Add a greeting for Ada");
  reviews.say("Line 1 keeps to the style.").end();
  const tells = await home.model.turn();
  expect(tells.told).toContain("Line 1 keeps to the style.");
  tells.say("Ada is greeted.").end();

  await page.locator("#transcript").getByText("Ada is greeted.").waitFor();
  await ended(page);
  expect(existsSync(join(home.house.project, "generated"))).toBe(false);
  expect(trouble).toEqual([]);
});
