import { signal } from "@preact/signals";
import { expect, test } from "vitest";
import type { Abilities, Command, Receipt } from "../../model/types";
import type { SessionPort } from "../ports";
import { askFolder, folderOf, FRESH_MS, remark, withFolder } from "./folder";

function port(answer: () => Promise<unknown>, extensions = true): { port: SessionPort; sent: Command[] } {
  const sent: Command[] = [];
  const send = (command: Command): Promise<Receipt> => {
    sent.push(command);
    return answer() as Promise<Receipt>;
  };
  return { port: { abilities: signal({ extensions } as Abilities), send } as unknown as SessionPort, sent };
}
const settled = (): Promise<void> => new Promise((done) => setTimeout(done, 0));

test("the folder's files are asked for once in a while, and come after those that were met", async () => {
  let files = ["a.rs", "src/b.rs"];
  const one = port(async () => ({ extension: { files, more: false } }));
  askFolder(one.port, 0);
  askFolder(one.port, FRESH_MS - 1);
  await settled();
  expect(one.sent).toEqual([{ extension: { name: "parlor/files", payload: {} } }]);
  expect(withFolder([{ path: "src/b.rs", how: "changed" }], folderOf(one.port).value)).toEqual([
    { path: "src/b.rs", how: "changed" },
    { path: "a.rs", how: "in the folder" },
  ]);
  expect(remark(folderOf(one.port).value)).toBeUndefined();
  files = ["c.rs"];
  askFolder(one.port, FRESH_MS);
  await settled();
  expect(folderOf(one.port).value).toEqual({ files: ["c.rs"], more: false });
});

test("where nobody tells it is said that only met files are known", async () => {
  for (const one of [
    port(() => Promise.reject({ kind: "extension_unknown", message: "no" })),
    port(async () => ({ extension: { odd: 1 } })),
    port(async () => "done"),
    port(async () => "done", false),
  ]) {
    askFolder(one.port, 0);
    await settled();
    expect(folderOf(one.port).value).toBe("untold");
    expect(withFolder([{ path: "a", how: "read" }], folderOf(one.port).value)).toEqual([{ path: "a", how: "read" }]);
  }
  expect(remark("untold")).toMatch(/Only files that this session has met/);
  expect(remark({ files: [], more: true })).toMatch(/more files than are listed/);
  expect(remark(undefined)).toBeUndefined();
});

test("a lost connection takes nothing away that was known", async () => {
  let lost = false;
  const one = port(() =>
    lost
      ? Promise.reject({ kind: "lost", message: "gone" })
      : Promise.resolve({ extension: { files: ["a"], more: true } }),
  );
  askFolder(one.port, 0);
  await settled();
  lost = true;
  askFolder(one.port, FRESH_MS);
  await settled();
  expect(folderOf(one.port).value).toEqual({ files: ["a"], more: true });
});
