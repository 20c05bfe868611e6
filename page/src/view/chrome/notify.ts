// Who is told while nobody looks at the page: a person who wants it, of who waits and of what is done. It is off until
// it is switched on, and silent until a sound is wanted too.

import { signal } from "@preact/signals";
import type { FleetRow } from "../ports";
import { oneLine } from "../text/unseen";
import { title } from "../fleet/groups";
import { toast } from "./toasts";

export type Telling = "off" | "silent" | "sound";
const NEXT: Record<Telling, Telling> = { off: "silent", silent: "sound", sound: "off" };
const KEPT = "notifications";

function kept(): Telling {
  try {
    const said = localStorage.getItem(KEPT);
    return said === "silent" || said === "sound" ? said : "off";
  } catch {
    return "off";
  }
}

export const telling = signal<Telling>(kept());

/** The next way to be told. The browser asks the person the first time. */
export async function nextTelling(): Promise<void> {
  const next = NEXT[telling.value];
  if (next === "silent") {
    if (typeof Notification === "undefined" || !isSecureContext)
      return void toast("warning", "Notifications need HTTPS or localhost.");
    if ((await Notification.requestPermission()) !== "granted")
      return void toast("warning", "The browser does not allow notifications of this page.");
  }
  telling.value = next;
  try {
    localStorage.setItem(KEPT, next);
  } catch {
    // Without storage it holds until the page is left.
  }
}

/** Something of which a person is told. */
export interface News {
  session: string;
  title: string;
  body: string;
}

const ENDS: Partial<Record<string, string>> = {
  done: "Done",
  failed: "Failed",
  stopped: "Stopped",
  interrupted: "Interrupted",
  lost: "Its runtime went away",
};

/** What rows tell that they did not tell before. Of a session that was not there before, only that it waits. */
export function news(before: ReadonlyMap<string, FleetRow>, rows: readonly FleetRow[]): News[] {
  const found: News[] = [];
  for (const row of rows) {
    if (row.session === undefined) continue;
    const was = before.get(row.key);
    const told = { session: row.session, title: title(row) };
    if (row.status === "waiting") {
      if (was?.status !== "waiting" || was.question !== row.question)
        found.push({ ...told, body: `Question: ${oneLine(row.question ?? "waits for you", 160)}` });
    } else if (was?.status === "running" || was?.status === "waiting") {
      const word = ENDS[row.status];
      if (word) found.push({ ...told, body: row.about ? `${word}: ${oneLine(row.about, 160)}` : word });
    }
  }
  return found;
}

/** Looks at the rows each time they change; what was there at first is no news. */
export class Teller {
  private before: Map<string, FleetRow> | undefined;

  look(rows: readonly FleetRow[], known: boolean): void {
    const before = this.before;
    if (!known) return;
    this.before = new Map(rows.map((row) => [row.key, row]));
    if (!before || telling.peek() === "off" || document.visibilityState === "visible") return;
    for (const one of news(before, rows)) tell(one);
  }
}

function tell({ session, title, body }: News): void {
  try {
    const shown = new Notification(title, { body, tag: session, silent: telling.peek() !== "sound" });
    shown.onclick = () => {
      window.focus();
      location.hash = `#/s/${encodeURIComponent(session)}`;
      shown.close();
    };
  } catch {
    // A phone's browser shows them only for an installed page.
  }
}

/** The number at the page's icon, where it has one. */
export function badge(count: number): void {
  if (!("setAppBadge" in navigator)) return;
  void (count > 0 ? navigator.setAppBadge(count) : navigator.clearAppBadge()).catch(() => undefined);
}
