// Which answers a device may give, as `crates/domain/src/rights.rs` has it: the server refuses the rest, so the screens
// offer nothing else.

import type { Answer } from "./types";
import type { DeviceRole } from "../view/ports";

export function mayAnswer(role: DeviceRole, answer: Answer): boolean {
  if (role !== "approver") return role === "controller";
  if (answer === "dismissed") return true;
  if ("allow" in answer) return answer.allow.scope === "once";
  // A no to whatever was asked; a yes to anything but one action may last.
  return "deny" in answer || ("confirmed" in answer && !answer.confirmed);
}
