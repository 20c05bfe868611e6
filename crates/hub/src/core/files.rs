//! What a UI brings along for the agent: files that it holds, and MCP servers. A tool's wish for a file goes to the UI that began the run, if it holds files, and its answer goes back to the engine.
//!
//! What always holds: every wish is answered once, also when the UI leaves; what is said about a wish of somebody else is dropped.

use super::{Core, CoreEffect, Standing};
use domain::event::Failure;
use domain::given_server::{GivenServer, MAX_GIVEN};
use domain::ids::{SessionId, UiId};
use domain::port::Order;
use domain::signal::Level;
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

    /// Who holds the files of a run: the UI that began it, and nobody else, so that one that never answers holds up no other.
    fn holder(&self, session: &SessionId) -> Option<(UiId, UiFiles)> {
        let ui = self.sessions.get(session)?.prompter?;
        let seat = self.uis.get(&ui).filter(|seat| seat.seen.contains(session) && seat.files.any())?;
        Some((ui, seat.files))
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
                self.out.push(CoreEffect::File { ui, session, id, request });
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

    /// A UI brings MCP servers for a session that it sees; more than fits is left out, and told.
    pub(super) fn take_servers(&mut self, ui: UiId, session: &SessionId, servers: Vec<GivenServer>) {
        let session = self.here(session);
        let controls =
            |seat: &super::Ui| seat.standing == Standing::Controller && seat.seen.contains(&session);
        if !self.setup.engine.is_ours() || !self.uis.get(&ui).is_some_and(controls) {
            return;
        }
        if !domain::given_server::fits(&servers) {
            let what = format!(
                "More than {MAX_GIVEN} MCP servers, or too large ones, came with this session; none is used."
            );
            return self.notice(&session, Level::Warning, &Failure::new("servers", what));
        }
        if let Some(live) = self.sessions.get_mut(&session) {
            live.given_servers = servers;
        }
    }

    fn file_answered(&mut self, session: SessionId, id: FileRequestId, with: FileAnswer) {
        self.out.push(CoreEffect::Order(Order::FileDone { session, id, with }));
    }
}
