// The files of a session's folder, as our own agent tells them. Other runtimes do not: then only files that the session
// has met are known.

import { signal, type ReadonlySignal, type Signal } from "@preact/signals";
import type { SessionPort } from "../ports";
import type { KnownFile } from "./files";

/** What was told; "untold" where nobody tells; nothing before anybody was asked. */
export type Folder = { files: string[]; more: boolean } | "untold" | undefined;

/** How long an answer is good for: files come and go while an agent works. */
export const FRESH_MS = 10_000;

const asked = new WeakMap<SessionPort, { at: number; folder: Signal<Folder> }>();

function of(port: SessionPort): { at: number; folder: Signal<Folder> } {
  const known = asked.get(port) ?? { at: Number.NEGATIVE_INFINITY, folder: signal<Folder>(undefined) };
  asked.set(port, known);
  return known;
}

export function folderOf(port: SessionPort): ReadonlySignal<Folder> {
  return of(port).folder;
}

/** Asks, unless somebody has just been asked. */
export function askFolder(port: SessionPort, now: number): void {
  const known = of(port);
  if (now - known.at < FRESH_MS) return;
  known.at = now;
  const told = (folder: Folder): void => void (known.folder.value = folder);
  if (port.abilities.peek().extensions === false) return told("untold");
  port.send({ extension: { name: "parlor/files", payload: {} } }).then(
    (receipt) => told(typeof receipt === "object" && "extension" in receipt ? read(receipt.extension) : "untold"),
    // A lost connection says nothing about the folder; what was known is still better than nothing.
    () => known.folder.peek() === undefined && told("untold"),
  );
}

function read(answer: unknown): Folder {
  const { files, more } = (answer ?? {}) as { files?: unknown; more?: unknown };
  if (!Array.isArray(files)) return "untold";
  return { files: files.filter((path) => typeof path === "string"), more: more === true };
}

/** Files that the session has met, then the others of the folder. */
export function withFolder(met: readonly KnownFile[], folder: Folder): KnownFile[] {
  if (typeof folder !== "object") return [...met];
  const known = new Set(met.map((file) => file.path));
  return [
    ...met,
    ...folder.files.filter((path) => !known.has(path)).map((path): KnownFile => ({ path, how: "in the folder" })),
  ];
}

/** What is said below the offers, where they are not all there is. */
export function remark(folder: Folder): string | undefined {
  if (folder === "untold") return "Only files that this session has met are known here. You can type any other path.";
  return folder?.more ? "The folder has more files than are listed. You can type any other path." : undefined;
}
