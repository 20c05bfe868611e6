//! Files that a UI holds: a tool's wish goes to one UI that sees the session and holds files, and its answer goes back to the engine.
//!
//! What always holds: every wish is answered once, also when the UI leaves; what is said about a wish of somebody else is dropped.

use super::{Core, Out};
use domain::ids::{SessionId, UiId};
use domain::port::Order;
use domain::ui_files::{FileAnswer, FileRequest, FileRequestId, UiFiles};

/// Most wishes that may be open; a turn has few at a time.
const MAX_OPEN: usize = 256;

/// A wish that a UI was told.
#[derive(Debug)]
pub(super) struct WantedFile {
    ui: UiId,
    session: SessionId,
}

impl Core {
    /// What the UIs of a session do with files.
    pub(super) fn ui_files(&self, session: &SessionId) -> UiFiles {
        self.holder(session).map(|(_, files)| files).unwrap_or_default()
    }

    /// Who holds the files of a session: of several the one that is there longest.
    fn holder(&self, session: &SessionId) -> Option<(UiId, UiFiles)> {
        let sees = self.uis.iter().filter(|(_, seat)| seat.seen.contains(session));
        sees.map(|(ui, seat)| (*ui, seat.files)).find(|(_, files)| files.any())
    }

    /// A tool wants a file.
    pub(super) fn file_wanted(&mut self, session: SessionId, id: FileRequestId, request: FileRequest) {
        let may = |files: UiFiles| match &request {
            FileRequest::Read { .. } => files.reads,
            FileRequest::Write { .. } => files.writes,
        };
        match self.holder(&session).filter(|(_, files)| may(*files)) {
            Some((ui, _)) if self.wanted_files.len() < MAX_OPEN => {
                self.wanted_files.insert(id, WantedFile { ui, session: session.clone() });
                self.out.push(Out::File { ui, session, id, request });
            }
            Some(_) => self.file_answered(session, id, Err("too many files are asked for".to_owned())),
            None => self.file_answered(session, id, Err("the editor has left".to_owned())),
        }
    }

    /// A UI has done what was wanted, or could not.
    pub(super) fn file_done(&mut self, ui: UiId, id: FileRequestId, with: FileAnswer) {
        if self.wanted_files.get(&id).is_some_and(|wanted| wanted.ui == ui)
            && let Some(wanted) = self.wanted_files.remove(&id)
        {
            self.file_answered(wanted.session, id, with);
        }
    }

    /// A UI answers nothing any more: in one session, or in all of them.
    pub(super) fn withdraw_files(&mut self, ui: UiId, only: Option<&SessionId>) {
        let theirs = |wanted: &WantedFile| wanted.ui == ui && only.is_none_or(|only| *only == wanted.session);
        let gone: Vec<FileRequestId> =
            self.wanted_files.iter().filter(|(_, wanted)| theirs(wanted)).map(|(id, _)| *id).collect();
        for id in gone {
            self.file_done(ui, id, Err("the editor has left".to_owned()));
        }
    }

    fn file_answered(&mut self, session: SessionId, id: FileRequestId, with: FileAnswer) {
        self.out.push(Out::Order(Order::FileDone { session, id, with }));
    }
}
