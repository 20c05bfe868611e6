// A conversation as Markdown, for a file.

import { called } from "./called";
import type { Row } from "./rows";
import { summary, verb, came } from "./words";

/** A fence that no line of the text ends. */
function fenced(text: string, language: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map((ticks) => ticks[0].length));
  const fence = "`".repeat(longest + 1);
  return `${fence}${language}\n${text.replace(/\n$/, "")}\n${fence}`;
}

export function markdown(name: string, rows: readonly Row[]): string {
  const quoted = (text: string): string => text.trim().replace(/^/gm, "> ");
  const block = (row: Row): string => {
    switch (row.is) {
      case "prompt":
        return `## You\n\n${row.entry.parts.map((part) => ("text" in part ? part.text : "")).join("")}`;
      case "text":
        return row.text;
      case "thought":
        return quoted(row.text);
      case "tool": {
        const { tool } = row;
        const what = called(tool);
        const diffs = (tool.result?.parts ?? []).flatMap((part) => ("diff" in part ? [part.diff.text] : []));
        const said = diffs.length > 0 ? "" : (tool.result?.text ?? tool.output);
        return [
          `**${verb(tool.name, came(tool))}** ${summary(tool.args)}`.trim(),
          what && fenced(what, ""),
          ...diffs.map((diff) => fenced(diff, "diff")),
          said && fenced(said, ""),
        ]
          .filter(Boolean)
          .join("\n\n");
      }
      case "notice":
        return quoted(row.entry.text);
      case "compaction":
        return `## Summary of what came before\n\n${row.entry.compaction.summary}`;
      case "cut":
        return quoted(row.words);
      case "end": {
        const outcome = row.run.ended?.outcome;
        return quoted(typeof outcome === "object" ? `Failed: ${outcome.failed.message}` : `Run: ${outcome ?? "done"}`);
      }
      case "part":
        return "";
    }
  };
  return `${[`# ${name}`, ...rows.map((row) => block(row).trim()).filter(Boolean)].join("\n\n")}\n`;
}

/** Gives the browser a file to keep. */
export function save(name: string, text: string): void {
  const link = document.createElement("a");
  const address = URL.createObjectURL(new Blob([text], { type: "text/markdown" }));
  link.href = address;
  link.download = `${name.replace(/[^\p{L}\p{N}._-]+/gu, "-").slice(0, 80) || "session"}.md`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}
