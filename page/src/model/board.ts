// The board beside a session: what its extensions show until they say something else.

import type { Board, Signal } from "./types";

/** The board after a signal; the same one where the signal is not about it. */
export function onBoard(board: Board, said: Signal): Board {
  if ("status" in said) {
    const { [said.status.key]: _, ...status } = board.status ?? {};
    if (said.status.text !== undefined) status[said.status.key] = said.status.text;
    return { ...board, status };
  }
  if ("widget" in said) {
    const { [said.widget.key]: _, ...widgets } = board.widgets ?? {};
    if (said.widget.lines.length > 0) widgets[said.widget.key] = [said.widget.place, said.widget.lines];
    return { ...board, widgets };
  }
  if ("working" in said) {
    const { working: _, ...rest } = board;
    return said.working === null ? rest : { ...rest, working: said.working };
  }
  return "title" in said ? { ...board, title: said.title } : board;
}

/** The field of the status line with the ports at which commands listen, as `crates/domain/src/listening.rs` writes it. */
export const LISTENING = "parlor/listening";

/** The ports that the field names, the newest last, and how many there are beside them. */
export function listening(text: string): { ports: { port: number; open: boolean }[]; more: string | undefined } {
  const words = text.startsWith("listens on ") ? text.slice("listens on ".length).split(", ") : [];
  const ports = words.flatMap((word) => {
    const [, digits, open] = /^(\d{1,5})( \(open\))?$/.exec(word) ?? [];
    const port = Number(digits ?? 0);
    return port > 0 && port < 65536 ? [{ port, open: open !== undefined }] : [];
  });
  return { ports, more: words.find((word) => /^and \d+ more$/.test(word)) };
}
