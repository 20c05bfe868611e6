//! `parlor sessions undo`, `redo` and `diff`: what a conversation did to files, taken back or shown without a screen.
//!
//! The conversation is opened for writing first, so that no running Parlor works in it meanwhile, and notes what was done.

use super::SessionCommands;
use super::args::{Diff, Undo};
use crate::exit::Exit;
use crate::output;
use anyhow::Context as _;
use domain::event::{Body, Event, FILES_REDONE, FILES_UNDONE, NoteEvent};
use domain::ids::{EntryId, Ids, SessionId};
use domain::path_text;
use domain::signal::Level;
use domain::state::State;
use host::guard;
use host::kept::told;
use host::{paths, rooms, settings, vault};
use serde_json::json;
use store::Durability;
use tools::ToolContext;
use tools::checkpoint::{Direction, FileOutcome, Ledger, Since, UndoError, UndoOutcome, against_git};

impl SessionCommands {
    /// Takes back, or does again, what the last prompt did to files.
    pub(super) async fn move_files(&mut self, undo: &Undo, went: Direction) -> anyhow::Result<Exit> {
        let id = self.named(undo.id.as_deref())?;
        rooms::make_way(&id).await?;
        let state = self.store.open(&id).map_err(|why| told(&why))?.state;
        let moved = ledger(&id, &state).map(|ledger| match went {
            Direction::Forth => ledger.redo(undo.leave),
            Direction::Back | Direction::Elsewhere => ledger.undo(undo.leave),
        });
        let noted = match &moved {
            Ok(Ok(moved)) => self.note_moved(&id, &state, went, moved),
            Ok(Err(_)) | Err(_) => Ok(()),
        };
        self.store.close(&id).map_err(|why| told(&why))?;
        let moved = moved?;
        noted?;
        match moved {
            Ok(moved) => {
                let words =
                    if undo.report.json { as_json(&id, &moved).to_string() } else { moved.words(went) };
                output::print_line(&words);
                // A script must not take files for what they were before.
                if moved.is_all_left() {
                    return Ok(Exit::Failed);
                }
            }
            Err(why @ UndoError::Conflicts(_)) => {
                anyhow::bail!(
                    "{}\nhint: --leave does it for the other files; or put these in order first",
                    why.words()
                )
            }
            Err(why) => anyhow::bail!(why.words()),
        }
        Ok(Exit::Done)
    }

    fn note_moved(
        &mut self,
        id: &SessionId,
        state: &State,
        went: Direction,
        moved: &UndoOutcome,
    ) -> anyhow::Result<()> {
        let code = if went == Direction::Forth { FILES_REDONE } else { FILES_UNDONE };
        let ids = Ids::after(state.last_id);
        let note = NoteEvent::Noticed {
            entry: EntryId::mint(&ids),
            parent: state.leaf,
            run: None,
            level: Level::Info,
            code: code.to_owned(),
            text: moved.words(went),
        };
        let event = Event { seq: state.seq.next(), at: self.now, body: Body::Note(note) };
        self.store.append(id, &[event], Durability::Now).map_err(|why| told(&why))?;
        Ok(())
    }

    /// Prints what the conversation changed, or what git says.
    pub(super) fn diff_files(&mut self, diff: &Diff) -> anyhow::Result<Exit> {
        let id = self.named(diff.id.as_deref())?;
        let state = self.store.load(&id).map_err(|why| told(&why))?.state;
        // What another program is in the middle of is not ours to bring to an end.
        let is_ours = self.store.open(&id).is_ok();
        let text = self.diff_text(&id, &state, diff, is_ours);
        let closed = self.store.close(&id);
        let text = text?;
        closed.map_err(|why| told(&why))?;
        if diff.report.json {
            output::print_line(&json!({ "session": id.as_str(), "diff": text }).to_string());
        } else if text.is_empty() {
            output::print_error("Nothing changed.");
        } else {
            output::print_line(text.trim_end());
        }
        Ok(Exit::Done)
    }

    fn diff_text(&self, id: &SessionId, state: &State, diff: &Diff, is_ours: bool) -> anyhow::Result<String> {
        if diff.git {
            let project = path_text::read(&state.settings.project);
            let guard = guard::of(&settings::read().config);
            return against_git(&project, guard.as_ref()).map_err(anyhow::Error::msg);
        }
        let since = if diff.all { Since::Start } else { Since::Prompt };
        let ledger = ledger(id, state)?;
        let ledger = if is_ours { ledger } else { ledger.only_looking() };
        ledger.diff(since).map_err(anyhow::Error::msg)
    }
}

/// The ledger of a conversation where it works.
fn ledger(id: &SessionId, state: &State) -> anyhow::Result<Ledger> {
    let data = paths::data()?;
    let vault = vault::open(Some(&data)).map_err(|why| told(&why))?;
    let project = path_text::read(&state.settings.project);
    let place = ToolContext::new(&project, &data.join("outputs").join(id.as_str())).with_context(|| {
        format!("the workspace of this conversation cannot be used: {}", state.settings.project)
    })?;
    Ok(Ledger::new(id.as_str(), &place, vault))
}

fn as_json(id: &SessionId, moved: &UndoOutcome) -> serde_json::Value {
    let how = |how: FileOutcome| match how {
        FileOutcome::Made => "made",
        FileOutcome::Changed => "changed",
        FileOutcome::Merged => "merged",
        FileOutcome::Removed => "removed",
    };
    let files: Vec<_> =
        moved.files.iter().map(|(path, done)| json!({ "path": path, "done": how(*done) })).collect();
    let left: Vec<_> = moved.left.iter().map(|(path, why)| json!({ "path": path, "why": why })).collect();
    json!({ "session": id.as_str(), "prompts": moved.prompts, "files": files, "left": left })
}
