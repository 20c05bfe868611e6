// A unified diff as rows that a list can draw.

export type RowKind = "file" | "hunk" | "same" | "added" | "removed" | "note";

export interface Row {
  kind: RowKind;
  text: string;
  /** Line numbers, where known. */
  before: number | undefined;
  after: number | undefined;
}

export interface FileDiff {
  path: string;
  rows: Row[];
  added: number;
  removed: number;
}

const HUNK = /^@@+ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/;

/** The files of a diff in the usual form; `path` is for a diff that names none. */
export function parse(text: string, path = ""): FileDiff[] {
  const files: FileDiff[] = [];
  let file: FileDiff | undefined;
  let before: number | undefined;
  let after: number | undefined;
  // Lines of the hunk that are still to come: inside of one, `--- x` is a removed line and no header.
  let left = { before: 0, after: 0 };
  const begin = (name: string): FileDiff => {
    const next: FileDiff = { path: name, rows: [], added: 0, removed: 0 };
    files.push(next);
    before = after = undefined;
    left = { before: 0, after: 0 };
    return next;
  };
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at] ?? "";
    const inside = left.before > 0 || left.after > 0;
    if (!inside && /^diff (?:--git )?"?a\//.test(line)) {
      file = begin(gitName(line) ?? path);
      continue;
    }
    if (!inside && line.startsWith("--- ") && (lines[at + 1] ?? "").startsWith("+++ ")) {
      const name = headName(lines[at + 1] ?? "") ?? headName(line) ?? path;
      if (!file || file.rows.some((row) => row.kind === "hunk")) file = begin(name);
      else file.path = name;
      at += 1;
      continue;
    }
    // What git counts is for git.
    if (!inside && /^index [0-9a-f]+\.\./.test(line)) continue;
    const hunk = inside ? null : HUNK.exec(line);
    if (hunk) {
      file ??= begin(path);
      before = Number(hunk[1]);
      after = Number(hunk[3]);
      left = { before: Number(hunk[2] ?? 1), after: Number(hunk[4] ?? 1) };
      file.rows.push({ kind: "hunk", text: line, before: undefined, after: undefined });
      continue;
    }
    file ??= begin(path);
    const sign = line[0];
    if (sign === "+") {
      file.added += 1;
      left.after -= 1;
      file.rows.push({
        kind: "added",
        text: line.slice(1),
        before: undefined,
        after: after === undefined ? undefined : after++,
      });
    } else if (sign === "-") {
      file.removed += 1;
      left.before -= 1;
      file.rows.push({
        kind: "removed",
        text: line.slice(1),
        before: before === undefined ? undefined : before++,
        after: undefined,
      });
    } else if (sign === "\\" || (!inside && !(sign === " " || before === undefined))) {
      file.rows.push({ kind: "note", text: line, before: undefined, after: undefined });
    } else if (!inside && sign !== " " && line !== "") {
      file.rows.push({ kind: "note", text: line, before: undefined, after: undefined });
    } else {
      left.before -= 1;
      left.after -= 1;
      file.rows.push({
        kind: "same",
        text: sign === " " ? line.slice(1) : line,
        before: before === undefined ? undefined : before++,
        after: after === undefined ? undefined : after++,
      });
    }
  }
  for (const file of files) {
    // A file without a line in it has nothing to show but what it is.
    if (file.rows.some((row) => row.kind !== "note" || row.text.startsWith("Binary files "))) continue;
    for (const row of file.rows) row.text = bare(row.text);
  }
  return files;
}

/** Whether a text is a diff, in git's form or in ours. */
export function isDiff(text: string): boolean {
  return /^(?:diff (?:--git )?"?a\/|--- |@@)/m.test(text);
}

/** The head of a file without a line in it, in words. */
function bare(text: string): string {
  if (/^new file mode \d+$/.test(text)) return "new, empty";
  return /^deleted file mode \d+$/.test(text) ? "deleted, it was empty" : text;
}

function headName(line: string): string | undefined {
  const name = line.slice(4).split("\t")[0]?.trim() ?? "";
  if (name === "" || name === "/dev/null") return undefined;
  return name.replace(/^"(.*)"$/, "$1").replace(/^[ab]\//, "");
}

function gitName(line: string): string | undefined {
  return / b\/(.+?)"?$/.exec(line)?.[1];
}
