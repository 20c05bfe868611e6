//! What turns did to files, taken back, done again or shown, outside of a run. The session notes it, so that every UI hears of it.

use super::Consultation;
use domain::command::{DiffSince, FilesCommand, Receipt, Refusal, RefusalKind};
use domain::event::{Body, FILES_REDONE, FILES_UNDONE, NoteEvent};
use domain::ids::EntryId;
use domain::signal::Level;
use std::path::Path;
use tools::checkpoint::{Direction, Ledger, Since, UndoError, UndoOutcome, against_git};

/// What is said where nothing is kept.
const NOT_KEPT: &str = "what happens to files is not kept here";
/// What can be done about files that others changed too.
const LEAVE: &str =
    "/undo rest or /redo rest (headless: --leave) does it for the other files; or put these in order first";

impl Consultation {
    /// Does what the person wants with files.
    pub(crate) async fn files(mut self, command: FilesCommand) -> Result<Receipt, Refusal> {
        let shell_context = match self.shell_context.take() {
            Some(Ok(shell_context)) => shell_context,
            Some(Err(why)) => return Err(Refusal::new(RefusalKind::Invalid, why)),
            None => return Err(Refusal::new(RefusalKind::Internal, "there is no place to look at")),
        };
        let unsupported = || Refusal::new(RefusalKind::Unsupported, NOT_KEPT);
        if let FilesCommand::Diff { since: DiffSince::Commit } = command {
            let root = shell_context.place.root().unwrap_or(shell_context.place.workdir()).to_owned();
            let guard = shell_context.place.guard().cloned();
            let told = tokio::task::spawn_blocking(move || against_git(&root, guard.as_ref())).await;
            return match told {
                Ok(Ok(text)) => Ok(Receipt::Files { text }),
                Ok(Err(why)) => Err(Refusal::new(RefusalKind::Invalid, why)),
                Err(_) => Err(broke()),
            };
        }
        let ledger = shell_context.ledger.ok_or_else(unsupported)?;
        let (went, moved) = match tokio::task::spawn_blocking(move || perform(&ledger, &command)).await {
            Ok(FilesOutcome::Told(text)) => return Ok(Receipt::Files { text: text? }),
            Ok(FilesOutcome::Moved(went, moved)) => (went, moved.map_err(refused)?),
            Err(_) => return Err(broke()),
        };
        let text = moved.words(went);
        if moved != UndoOutcome::default() {
            self.note_moved(moved.went(went), text.clone()).await;
        }
        Ok(Receipt::Files { text })
    }

    /// The session says what became of files; the model hears it with the next prompt.
    async fn note_moved(&self, went: Direction, text: String) {
        let code = code_of(went);
        self.kept(Body::Note(NoteEvent::Noticed {
            entry: EntryId::mint(&self.grounds.ids),
            parent: self.grounds.leaf,
            run: None,
            level: Level::Info,
            code: code.to_owned(),
            text,
        }))
        .await;
    }
}

/// What became of files outside of a run of ours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilesTold {
    pub text: String,
    /// The code of the notice that the session keeps, where something was moved.
    pub noted: Option<&'static str>,
}

/// Does what a person wants with the files of a session whose turns are another program's. Blocks.
///
/// # Errors
/// Why it was not done.
pub fn files_of(ledger: &Ledger, root: &Path, command: &FilesCommand) -> Result<FilesTold, Refusal> {
    if let FilesCommand::Diff { since: DiffSince::Commit } = command {
        let told = against_git(root, None).map_err(|why| Refusal::new(RefusalKind::Invalid, why));
        return told.map(|text| FilesTold { text, noted: None });
    }
    match perform(ledger, command) {
        FilesOutcome::Told(text) => text.map(|text| FilesTold { text, noted: None }),
        FilesOutcome::Moved(went, moved) => {
            let moved = moved.map_err(refused)?;
            let noted = (moved != UndoOutcome::default()).then(|| code_of(moved.went(went)));
            Ok(FilesTold { text: moved.words(went), noted })
        }
    }
}

fn code_of(went: Direction) -> &'static str {
    match went {
        Direction::Back | Direction::Elsewhere => FILES_UNDONE,
        Direction::Forth => FILES_REDONE,
    }
}

enum FilesOutcome {
    Told(Result<String, Refusal>),
    Moved(Direction, Result<UndoOutcome, UndoError>),
}

fn perform(ledger: &Ledger, command: &FilesCommand) -> FilesOutcome {
    let turns = |turns: &[domain::ids::TurnId]| turns.iter().map(ToString::to_string).collect::<Vec<_>>();
    match command {
        FilesCommand::Undo { leave } => FilesOutcome::Moved(Direction::Back, ledger.undo(*leave)),
        FilesCommand::Redo { leave } => FilesOutcome::Moved(Direction::Forth, ledger.redo(*leave)),
        FilesCommand::Go { back, forth, leave } => {
            FilesOutcome::Moved(Direction::Elsewhere, ledger.go(&turns(back), &turns(forth), *leave))
        }
        FilesCommand::Diff { since } => {
            let since = match since {
                DiffSince::Prompt | DiffSince::Commit => Since::Prompt,
                DiffSince::Start => Since::Start,
            };
            FilesOutcome::Told(ledger.diff(since).map_err(|why| Refusal::new(RefusalKind::Storage, why)))
        }
    }
}

fn refused(why: UndoError) -> Refusal {
    let refusal = |kind| Refusal::new(kind, why.words());
    match &why {
        UndoError::Nothing(_) => refusal(RefusalKind::Invalid),
        UndoError::Conflicts(_) => refusal(RefusalKind::NotAllowed).hint(LEAVE),
        UndoError::Failed(_) => refusal(RefusalKind::Storage),
    }
}

fn broke() -> Refusal {
    Refusal::new(RefusalKind::Internal, "it broke down while it looked at the files")
}
