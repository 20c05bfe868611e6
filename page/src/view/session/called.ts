// What a tool was called with, as far as the line above its output does not hold it.

import type { ToolRun } from "../../model/state";

/** Most characters that are shown of it. */
const SHOWN = 20_000;

export function called(tool: ToolRun): string | undefined {
  try {
    const value = JSON.parse(tool.args) as Record<string, unknown>;
    const command = value.command ?? value.cmd;
    if (typeof command === "string") return command.includes("\n") || command.length > 80 ? command : undefined;
    return tool.name.startsWith("mcp__") || Object.keys(value).length > 2
      ? JSON.stringify(value, null, 2).slice(0, SHOWN)
      : undefined;
  } catch {
    return tool.args.slice(0, SHOWN);
  }
}
