import { expect, test } from "vitest";
import type { FleetRow, FleetStatus } from "../ports";
import { news } from "./notify";

const row = (status: FleetStatus, question?: string): FleetRow => ({
  key: "k",
  session: "s",
  title: "Bridge",
  status,
  question,
});

test("who waits and what is done is news, once; what was there at first is none", () => {
  const told = (before: FleetRow | undefined, now: FleetRow): string[] =>
    news(new Map(before ? [["k", before]] : []), [now]).map((one) => `${one.title}: ${one.body}`);
  expect(told(row("running"), row("waiting", "run: rm x"))).toEqual(["Bridge: Question: run: rm x"]);
  expect(told(undefined, row("waiting", "a"))).toEqual(["Bridge: Question: a"]);
  expect(told(row("waiting", "a"), row("waiting", "a"))).toEqual([]);
  expect(told(row("waiting", "a"), row("waiting", "b"))).toEqual(["Bridge: Question: b"]);
  expect(told(row("waiting", "a"), row("running"))).toEqual([]);
  expect(told(row("running"), row("done"))).toEqual(["Bridge: Done"]);
  expect(told(row("running"), { ...row("failed"), about: "no key" })).toEqual(["Bridge: Failed: no key"]);
  expect(told(row("done"), row("done"))).toEqual([]);
  expect(told(undefined, row("done"))).toEqual([]);
  expect(told(row("running"), { ...row("done"), session: undefined })).toEqual([]);
});
