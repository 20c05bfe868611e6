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
