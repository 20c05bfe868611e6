//! Visits: sessions that another process of the person has open, shown here and mirrored.
//!
//! When the store does not open a session, because somebody else writes it or because it knows none of that id, it is looked for once who
//! has it ([`CoreEffect::Visit`]); the command waits for that as for the store. What is said in a visited session goes to its process, and
//! what happens there is told here; nothing of it is kept here, and no deadline is looked at. Which processes there are and how they are
//! reached is the shell's.
//!
//! Invariants: at most [`MAX_VISITS`] at once; a session that nobody here sees is left; a visited session is never told as open here, so
//! that no process visits a visitor.

use super::follow::too_large;
use super::library::{AwaitedAnswer, Purpose};
use super::{
    Answer, Core, CoreEffect, CoreInput, Engine, Live, MAX_MIRRORED, RequestId, Sharing, Ui, no_session,
};
use domain::command::{Command, Refusal, RefusalKind, SessionCommand};
use domain::event::Outcome;
use domain::ids::{SessionId, UiId};
use domain::port::Ticket;
use domain::signal::{Board, Level, Signal};
use domain::state::State;

/// Sessions of other processes that are shown at once; each has a link and a copy of its state.
pub const MAX_VISITS: usize = 16;

impl Core {
    /// Whether a session is another process's.
    pub(super) fn is_visited(&self, session: &SessionId) -> bool {
        self.setup.engine.is_ours() && self.sessions.get(session).is_some_and(|live| !live.engine.is_ours())
    }

    /// Whether a UI sees a session of another process.
    pub fn is_visiting(&self) -> bool {
        self.uis.values().any(|ui| ui.seen.iter().any(|session| self.is_visited(session)))
    }

    /// The sessions that are open here and in no other process.
    pub(super) fn own(&self) -> impl Iterator<Item = (&SessionId, &Live)> {
        let visits = self.setup.engine.is_ours();
        self.sessions.iter().filter(move |(_, live)| !visits || live.engine.is_ours())
    }

    /// What came of an answer to a command that wants a session, unless its process is looked for now.
    pub(super) fn unless_elsewhere(
        &mut self,
        awaited: AwaitedAnswer,
        with: Result<Answer, Refusal>,
    ) -> Option<(AwaitedAnswer, Result<Answer, Refusal>)> {
        let AwaitedAnswer { ui, ticket, purpose, bytes } = awaited;
        let (session, moves, again, refused) = match purpose {
            Purpose::Open { session, moves, again, refused } => (session, moves, again, refused),
            purpose => return Some((AwaitedAnswer { ui, ticket, purpose, bytes }, with)),
        };
        let found = |refused, with| {
            let purpose = Purpose::Open { session: session.clone(), moves, again, refused };
            (AwaitedAnswer { ui, ticket, purpose, bytes }, with)
        };
        let why = match (refused, with) {
            // Nobody has it, or is not to be reached: what the store said holds.
            (Some((why, _)), Err(gone)) => {
                self.visit_over(&session, &gone.message);
                return Some(found(None, Err(why)));
            }
            (None, Ok(Answer::Opened(None))) => no_session(session.as_str()),
            (None, Ok(Answer::Elsewhere(why))) => why,
            (refused, with) => return Some(found(refused, with)),
        };
        let visits = self.sessions.len() - self.own().count();
        let has_room = visits < MAX_VISITS || self.is_visited(&session);
        let Some(seat) = self.uis.get(&ui).filter(|_| self.setup.visits && has_room) else {
            return Some(found(None, Err(why)));
        };
        let answers = seat.is_person();
        self.next_request += 1;
        let id = RequestId(self.next_request);
        self.out.push(CoreEffect::Visit { id, session: session.clone(), answers });
        let (awaited, _) = found(Some((why, answers)), Ok(Answer::Folder));
        self.pending.insert(id, awaited);
        None
    }

    /// A session is shown by its process; the command that wanted it is taken again.
    pub(super) fn visit(
        &mut self,
        session: SessionId,
        (state, board): (State, Board),
        sharing: Sharing,
        again: CoreInput,
    ) -> Result<(), Refusal> {
        let mut live = Live::new(state, Engine::Mirrored);
        (live.mirrored, live.board, live.grammar) = (live.state.weight(), board, None);
        live.sharing = sharing;
        if live.mirrored > MAX_MIRRORED {
            self.out.push(CoreEffect::Leave { session });
            return Err(Refusal::new(RefusalKind::TooMany, too_large()));
        }
        if let Some(before) = self.sessions.remove(&session) {
            (live.own_run, live.prompter, live.turn_since) =
                (before.own_run, before.prompter, before.turn_since);
            self.lose_waiting(&session, "it is reached again");
            let is_behind = before.state.seq != live.state.seq;
            self.show_to_all(&session, is_behind);
        }
        let shown = live.state.settings.policy;
        self.sessions.insert(session.clone(), live);
        if let CoreInput::Command { ui, ticket, target, command } = again {
            self.take_command(ui, ticket, target, command);
        }
        if let Some(typed) = self.setup.typed_policy.filter(|typed| *typed != shown) {
            let text = format!(
                "This session is open in another process, which decides: its mode is {}, and --policy {} holds only for what is opened here.",
                shown.name(),
                typed.name()
            );
            self.signal(&session, Signal::Notify { level: Level::Warning, text });
        }
        Ok(())
    }

    /// The process showed a visited session once more: those who see it here are shown it, where it stands otherwise.
    pub(super) fn shown_again(&mut self, session: &SessionId, state: State, board: Board) {
        let Some(live) = self.sessions.get_mut(session) else { return };
        if live.state.seq == state.seq {
            return;
        }
        (live.mirrored, live.state, live.board) = (state.weight(), state, board);
        self.show_to_all(session, true);
    }

    /// Shows a session anew to those who see it, where they are behind.
    fn show_to_all(&mut self, session: &SessionId, is_behind: bool) {
        let seen = self.uis.iter().filter(|(_, seat)| is_behind && seat.seen.contains(session));
        self.out.extend(seen.map(|(ui, _)| CoreEffect::Attach { ui: *ui, session: session.clone() }));
    }

    /// Whether a session is visited as by somebody who can answer nothing, and this UI can: it is then visited anew.
    pub(super) fn is_visited_mute(&self, session: &SessionId, ui: UiId) -> bool {
        let is_mute = self.sessions.get(session).is_some_and(|live| live.sharing == Sharing::Mute);
        is_mute && self.is_visited(session) && self.uis.get(&ui).is_some_and(Ui::is_person)
    }

    /// Nobody will answer what waits for the process of a session.
    fn lose_waiting(&mut self, session: &SessionId, why: &str) {
        let waits = self.consulted.iter().filter(|(_, consulted)| consulted.session == *session);
        let waits: Vec<Ticket> = waits.map(|(ticket, _)| *ticket).collect();
        for ticket in waits {
            let lost =
                Refusal::new(RefusalKind::Lost, format!("the process that has this session is gone: {why}"));
            self.consult_settled(ticket, Err(lost.hint("look whether it was done before you try again")));
        }
    }

    /// Something is wanted in a visited session: its process decides, but for who is here.
    pub(super) fn in_visited(
        &mut self,
        ui: UiId,
        ticket: Ticket,
        session: SessionId,
        command: Command,
    ) -> Result<(), Refusal> {
        match command {
            Command::Session(SessionCommand::Close) => {
                self.detach(ui, &session);
                self.done(ui, ticket)
            }
            Command::Shell(command) => {
                self.check_person(ui, &command)?;
                self.consult(ui, ticket, session, Command::Shell(command))
            }
            command => self.consult(ui, ticket, session, command),
        }
    }

    /// The process is gone: whoever waits for it is told, and its run is over as far as it can be known.
    pub(super) fn visit_over(&mut self, session: &SessionId, why: &str) {
        if !self.is_visited(session) {
            return;
        }
        self.lose_waiting(session, why);
        if self.live(session).is_ok_and(|live| live.state.open_run().is_some()) {
            self.end_run(session, Outcome::Lost);
        }
        let text = format!(
            "The process that had this session is gone ({why}). It is opened again with what you say next."
        );
        self.signal(session, Signal::Notify { level: Level::Error, text });
        // Everybody hears that first.
        self.out.push(CoreEffect::Again(Box::new(CoreInput::VisitForgotten { session: session.clone() })));
    }

    /// A session whose process is gone is not here any more. UIs stay where they are: what they say next opens it where it is then.
    pub(super) fn forget_visit(&mut self, session: &SessionId) {
        if self.is_visited(session) {
            self.sessions.remove(session);
            for seat in self.uis.values_mut() {
                seat.seen.remove(session);
            }
            self.out.push(CoreEffect::Leave { session: session.clone() });
        }
    }

    /// Leaves visited sessions that nobody sees.
    pub(super) fn leave_unseen(&mut self) {
        if !self.setup.visits {
            return;
        }
        let unseen = |session: &SessionId| self.is_visited(session) && !self.watched(session);
        let unseen: Vec<SessionId> =
            self.sessions.keys().filter(|session| unseen(session)).cloned().collect();
        for session in unseen {
            self.sessions.remove(&session);
            self.out.push(CoreEffect::Leave { session });
        }
    }
}

impl Ui {
    /// Whether questions can be answered by it.
    fn is_person(&self) -> bool {
        (self.answers.consent || self.answers.other) && self.standing.is_asked(true)
    }
}
