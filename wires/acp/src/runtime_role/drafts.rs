//! Requests of the protocol's draft that clients and agents use already: a session that goes on from another, and a title by the client.

use super::super::wire::{FORK, ResumeSessionParams, SET_TITLE, SetTitleParams, SetTitleResult};
use super::AcpRuntime as Role;
use super::requests::{AcpMemo, invalid, not_here, read};
use super::sessions::{OpeningKind, elsewhere, not_found};
use domain::command::{Command, LibraryCommand, Receipt, SessionCommand, Target};
use domain::ids::SessionId;
use rolekit::endpoint::reply;
use rolekit::exchange::{Answering, Asking, Exchange, Fault, Next, Request, Settlement, TableRole as _};
use roles::RuntimeCx;

pub(super) const REQUESTS: &[Exchange<Role>] = &[
    Exchange { method: FORK, ask: Role::fork, answer: Role::forked },
    Exchange { method: SET_TITLE, ask: set_title, answer: Role::title_is_set },
];

impl Role {
    /// The session is looked at first: where it works decides whether the client gets one that goes on from it.
    fn fork(&mut self, cx: &mut RuntimeCx<'_>, request: Request<'_, Self>) -> Asking<Self> {
        if !self.endpoint.can().branch {
            return Err(not_here(request.method));
        }
        let ResumeSessionParams { session_id, cwd, additional_directories: more, mcp_servers, .. } =
            read(request.params)?;
        let opening = self.opening(cx, OpeningKind::New, &cwd, &more, mcp_servers)?;
        let source = SessionId::parse(&session_id).ok_or_else(|| not_found(&session_id))?;
        let cwd = self.endpoint.greeting.folders.real(&cwd);
        let memo = AcpMemo::Fork { source: source.clone(), cwd, opening };
        Ok(Next::Hub(Target::Session(source), Command::Session(SessionCommand::Stats), memo))
    }

    fn forked(&mut self, cx: &mut RuntimeCx<'_>, settled: Settlement<'_, Self>) -> Answering<Self> {
        let AcpMemo::Fork { source, cwd, mut opening } = settled.memo else {
            if let (AcpMemo::Open { opening, .. }, Err(_)) = (&settled.memo, &settled.with)
                && let Some(source) = opening.leaves.clone()
            {
                self.leave_unheld(cx, source);
            }
            return self.opened(cx, settled);
        };
        settled.with?;
        let Some(view) = settled.view.filter(|view| *view.session == source) else { return Err(Fault::Odd) };
        let is_held = self.sessions.contains_key(&source);
        if let Some(error) = elsewhere(&cwd, &view.state.settings.cwd) {
            self.leave_unheld(cx, source);
            return Err(Fault::Error(error));
        }
        opening.leaves = (!is_held).then(|| source.clone());
        let command = LibraryCommand::Branch { session: Some(source.clone()), at: None };
        let memo = AcpMemo::Open { session: None, cwd: None, opening };
        Ok(Next::Hub(Target::Session(source), Command::Library(command), memo))
    }

    fn title_is_set(&mut self, cx: &mut RuntimeCx<'_>, settled: Settlement<'_, Self>) -> Answering<Self> {
        let AcpMemo::Title { session, title } = settled.memo else { return Err(Fault::Odd) };
        self.leave_unheld(cx, session);
        let Receipt::Done = settled.with? else { return Err(Fault::Odd) };
        Ok(reply(&SetTitleResult { title, ..SetTitleResult::default() }))
    }

    /// Leaves a session that the client was never given.
    pub(super) fn leave_unheld(&mut self, cx: &mut RuntimeCx<'_>, session: SessionId) {
        self.put.take_if(|put| *put == session);
        if !self.sessions.contains_key(&session) {
            let command = Command::Session(SessionCommand::Close);
            self.tell_hub(cx, Target::Session(session), command, AcpMemo::Nothing);
        }
    }
}

fn set_title(role: &mut Role, _: &mut RuntimeCx<'_>, request: Request<'_, Role>) -> Asking<Role> {
    if !role.endpoint.can().rename_session {
        return Err(not_here(request.method));
    }
    let SetTitleParams { session_id, title, .. } = read(request.params)?;
    let title = title.trim().to_owned();
    if title.is_empty() {
        return Err(invalid("a title must have a letter at least"));
    }
    let session = SessionId::parse(&session_id).ok_or_else(|| not_found(&session_id))?;
    let command = Command::Session(SessionCommand::Rename { title: title.clone() });
    Ok(Next::Hub(Target::Session(session.clone()), command, AcpMemo::Title { session, title }))
}
