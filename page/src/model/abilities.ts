// What a runtime can do. Members that came later are absent where older ones say the same: read as
// `crates/domain/src/port/abilities.rs` does.

import type { Abilities } from "./types";

// What the page does not read stays as it was told.
type Unread = "model" | "text_only" | "menu";

export function whole(said: Abilities): Required<Omit<Abilities, Unread>> & Pick<Abilities, Unread> {
  const { sessions, branch, models, consent } = said;
  return {
    ...said,
    new_session: said.new_session ?? sessions,
    open_session: said.open_session ?? sessions,
    delete_session: said.delete_session ?? sessions,
    rename_session: said.rename_session ?? sessions,
    clear: said.clear ?? sessions,
    go_back: said.go_back ?? branch,
    compact: said.compact ?? sessions,
    export: said.export ?? sessions,
    save: said.save ?? sessions,
    set_model: said.set_model ?? models,
    policy: said.policy ?? (branch && models),
    list_tools: said.list_tools ?? models,
    set_tools: said.set_tools ?? models,
    extensions: said.extensions ?? models,
    session_scope: said.session_scope ?? consent,
    // Who does not know the word cannot do it.
    effort: said.effort ?? false,
    ping: said.ping ?? false,
    errands: said.errands ?? false,
    undo: said.undo ?? false,
  };
}
