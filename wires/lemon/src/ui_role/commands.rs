//! What our side wants, lowered, and what settles it. The wire gives commands no ids: answers are matched by their type, errors go to
//! the oldest command that waits, and what the server never answers is settled by a timer.

use super::super::lift;
use super::super::wire::frame::{ModelsList, SaveResult, Stats as WireStats};
use super::super::wire::{
    self, ALREADY_STREAMING, NO_ACTIVE_SESSION, SESSION_NOT_FOUND, StartSession, UNKNOWN_COMMAND, Words,
};
use super::sessions::{ListFor, is_same, known_as};
use super::{LemonUi, MAX_WAITING};
use domain::ask::Answer;
use domain::command::{
    Command, LibraryCommand, ListCommand, Receipt, Refusal, RefusalKind, RunCommand, SessionCommand,
};
use domain::content::{Input, Json, Part};
use domain::ids::{AskId, Millis, SessionId};
use domain::port::Ticket;
use domain::session::{ModelEntry, ModelRef, RunSummary, SessionSummary, Stats};
use roles::{Item, Seen, TimerKey, UiCx};
use std::time::Duration;

/// How long a command may wait for a line that settles it.
pub(super) const PATIENCE: Duration = Duration::from_secs(10);
/// The first servers save without a word.
const SAVE_PATIENCE: Duration = Duration::from_secs(3);

/// Sessions that are saved when we leave.
const MAX_UNSAVED: usize = 64;

/// The one command of its own that the wire has for everybody: whether anybody is there.
const PING: &str = "ping";

/// What it answers, as JSON.
const PONG: &str = "\"pong\"";

/// What a command waits for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Wanted {
    /// A run to begin.
    Run,
    /// A file to be written.
    Save,
    /// Numbers.
    Stats,
    /// An answer, whatever it is.
    Pong,
    /// Saved sessions.
    Sessions(ListFor),
    /// The sessions that run there, after the saved ones came.
    Running(ListFor),
    Models,
    Session,
    /// This session to be active.
    Active(String),
}

/// A command that waits.
#[derive(Debug)]
pub(super) struct UnsettledCommand {
    pub(super) ticket: Ticket,
    pub(super) wanted: Wanted,
    pub(super) key: TimerKey,
}

impl LemonUi {
    /// Sends a command, or refuses what the wire has no word for.
    pub(super) fn want(&mut self, cx: &mut UiCx<'_>, seen: Seen<'_>, ticket: Ticket, command: Command) {
        match command {
            Command::Run(RunCommand::Prompt { input, .. }) => self.prompt(cx, ticket, &input),
            Command::Run(RunCommand::Cancel { .. }) => match seen.state.open_run() {
                Some(run) => {
                    self.send(cx, &wire::Command::Abort { session_id: self.session.clone() });
                    let run = RunSummary { run: run.id, outcome: None };
                    cx.settle(ticket, Ok(Receipt::Cancelling { run }));
                }
                None => cx.settle(ticket, Err(Refusal::new(RefusalKind::NoRun, "no run is under way"))),
            },
            Command::Answer { ask, answer } => self.answer(cx, seen, ticket, ask, &answer),
            Command::Session(SessionCommand::Clear) => {
                self.send(cx, &wire::Command::Reset { session_id: self.session.clone() });
                cx.settle(ticket, Ok(Receipt::Leaf(None)));
            }
            Command::Library(LibraryCommand::Save { .. }) => {
                self.send(cx, &wire::Command::Save { session_id: self.session.clone() });
                self.wait(cx, ticket, Wanted::Save, SAVE_PATIENCE);
            }
            Command::Session(SessionCommand::Stats) => {
                self.send(cx, &wire::Command::Stats { session_id: self.session.clone() });
                self.wait(cx, ticket, Wanted::Stats, PATIENCE);
            }
            Command::Library(LibraryCommand::List { .. }) => {
                self.ask(cx, ticket, &wire::Command::ListSessions, Wanted::Sessions(ListFor::Telling));
            }
            Command::List(ListCommand::Models { .. }) => {
                self.ask(cx, ticket, &wire::Command::ListModels, Wanted::Models);
            }
            Command::Library(LibraryCommand::New { cwd, .. }) => {
                self.start(cx, seen, ticket, StartSession { cwd, ..StartSession::default() });
            }
            Command::Library(LibraryCommand::Load { path }) => {
                let session_file = Some(path);
                self.start(cx, seen, ticket, StartSession { session_file, ..StartSession::default() });
            }
            Command::Library(LibraryCommand::Open { session }) => {
                self.open_session(cx, seen, ticket, &session);
            }
            Command::Extension { name, .. } if name == PING => {
                self.send(cx, &wire::Command::Ping);
                self.wait(cx, ticket, Wanted::Pong, PATIENCE);
            }
            Command::Session(SessionCommand::SetModel { .. }) => {
                let refusal = unsupported("this runtime chooses its model when a session starts");
                cx.settle(ticket, Err(refusal.hint("start the server with --model provider:id")));
            }
            // The wire has no word for the size of a terminal.
            Command::UpdateContext(context) if context.is_size_only() => cx.settle(ticket, Ok(Receipt::Done)),
            Command::Queue(_)
            | Command::Library(
                LibraryCommand::Branch { .. }
                | LibraryCommand::Delete { .. }
                | LibraryCommand::History { .. }
                | LibraryCommand::Export { .. },
            )
            | Command::Session(
                SessionCommand::Close
                | SessionCommand::Rename { .. }
                | SessionCommand::SetLeaf { .. }
                | SessionCommand::SetEffort { .. }
                | SessionCommand::SetBudget { .. }
                | SessionCommand::SetPolicy { .. }
                | SessionCommand::SetTools { .. },
            )
            | Command::Run(RunCommand::Compact { .. })
            | Command::List(ListCommand::Servers | ListCommand::Skills { .. } | ListCommand::Tools)
            | Command::UpdateContext(_)
            | Command::Shell(_)
            | Command::Files(_)
            | Command::Performed { .. }
            | Command::Extension { .. } => cx.settle(ticket, Err(unsupported("this runtime cannot do that"))),
        }
    }

    fn wait(&mut self, cx: &mut UiCx<'_>, ticket: Ticket, wanted: Wanted, patience: Duration) {
        if self.pending.len() >= MAX_WAITING {
            let refusal = Refusal::new(RefusalKind::TooMany, "too many commands wait for the runtime");
            return cx.settle(ticket, Err(refusal.hint("wait until it answers")));
        }
        self.last_number += 1;
        // The keys below are the role's own.
        let key = TimerKey(self.last_number + 100);
        cx.timer(key, patience);
        self.pending.push_back(UnsettledCommand { ticket, wanted, key });
    }

    /// A question that only servers with several sessions understand.
    fn ask(&mut self, cx: &mut UiCx<'_>, ticket: Ticket, command: &wire::Command, wanted: Wanted) {
        if !self.sessions {
            return cx.settle(ticket, Err(unsupported("this runtime has one session and one model")));
        }
        self.send(cx, command);
        self.wait(cx, ticket, wanted, PATIENCE);
    }

    fn prompt(&mut self, cx: &mut UiCx<'_>, ticket: Ticket, input: &Input) {
        let mut text = input.text.clone();
        for part in &input.attachments {
            match part {
                Part::Text(more) | Part::Code { text: more, .. } | Part::Diff { text: more, .. } => {
                    text.push_str("\n\n");
                    text.push_str(more);
                }
                _ => cx.loss(Item::Attachments, "a picture or file that goes with a prompt"),
            }
        }
        if text.trim().is_empty() {
            let refusal =
                Refusal::new(RefusalKind::Invalid, "this runtime takes only text, and there is none");
            return cx.settle(ticket, Err(refusal.hint("write something beside the attachment")));
        }
        let session_id = self.session.clone();
        self.said = Some(text.clone());
        if self.unsaved.len() < MAX_UNSAVED {
            self.unsaved.insert(session_id.clone());
        }
        self.send(cx, &wire::Command::Prompt { text, session_id });
        self.wait(cx, ticket, Wanted::Run, PATIENCE);
    }

    fn answer(&mut self, cx: &mut UiCx<'_>, seen: Seen<'_>, ticket: Ticket, ask: AskId, answer: &Answer) {
        let key = seen.names.ask(ask).map(ToString::to_string);
        let Some((id, asked)) = key.and_then(|id| self.asked.remove_entry(&id)) else {
            let refusal = Refusal::new(RefusalKind::AskOver, "the runtime no longer waits for this answer");
            return cx.settle(ticket, Err(refusal));
        };
        if matches!(answer, Answer::Deny { reason: Some(_) }) {
            cx.loss(Item::DenialReason, "why the person said no");
        }
        let result = Some(lift::result(&asked, answer));
        self.send(cx, &wire::Command::UiResponse { id, result, error: Some(None) });
        cx.settle(ticket, Ok(Receipt::Done));
    }

    fn start(&mut self, cx: &mut UiCx<'_>, seen: Seen<'_>, ticket: Ticket, start: StartSession) {
        if !self.sessions {
            return cx.settle(ticket, Err(unsupported("this runtime has one session")));
        }
        if let Err(refusal) = idle(seen) {
            return cx.settle(ticket, Err(refusal));
        }
        self.send(cx, &wire::Command::StartSession(start));
        self.wait(cx, ticket, Wanted::Session, PATIENCE);
    }

    fn open_session(&mut self, cx: &mut UiCx<'_>, seen: Seen<'_>, ticket: Ticket, session: &SessionId) {
        if !self.sessions {
            return cx.settle(ticket, Err(unsupported("this runtime has one session")));
        }
        if let Err(refusal) = idle(seen) {
            return cx.settle(ticket, Err(refusal));
        }
        // Whether it runs there, and which file it is in, only the lists tell.
        let purpose = ListFor::Opening(session.clone());
        self.ask(cx, ticket, &wire::Command::ListSessions, Wanted::Sessions(purpose));
    }

    /// Settles the oldest command that waits for this; `false` when none does.
    pub(super) fn settle_wanted(
        &mut self,
        cx: &mut UiCx<'_>,
        is: impl Fn(&Wanted) -> bool,
        with: Result<Receipt, Refusal>,
    ) -> bool {
        let Some(at) = self.pending.iter().position(|pending| is(&pending.wanted)) else { return false };
        if let Some(pending) = self.pending.remove(at) {
            cx.cancel_timer(pending.key);
            cx.settle(pending.ticket, with);
        }
        true
    }

    /// The run began: the prompt was taken; `false` when none waited.
    pub(super) fn settle_prompt(&mut self, cx: &mut UiCx<'_>) -> bool {
        self.settle_wanted(cx, |wanted| *wanted == Wanted::Run, Ok(Receipt::Done))
    }

    /// A session was started for whoever asked for one.
    pub(super) fn settle_session(&mut self, cx: &mut UiCx<'_>, id: &str, cwd: String) {
        let summary = summary(id, cwd, cx.now, None);
        self.settle_wanted(
            cx,
            |wanted| *wanted == Wanted::Session,
            Ok(Receipt::Session { session: summary, parent: None }),
        );
    }

    /// Another session came to the front for whoever asked for it.
    pub(super) fn settle_active(&mut self, cx: &mut UiCx<'_>, id: &str) {
        let summary = summary(id, self.folder_of(id), cx.now, None);
        let is = |wanted: &Wanted| matches!(wanted, Wanted::Active(active) if is_same(active, id));
        self.settle_wanted(cx, is, Ok(Receipt::Session { session: summary, parent: None }));
    }

    /// The counts came.
    pub(super) fn settle_stats(&mut self, cx: &mut UiCx<'_>, said: &WireStats<'_>) {
        let stats = Stats { messages: said.message_count, turns: said.turn_count, ..Stats::default() };
        self.settle_wanted(cx, |wanted| *wanted == Wanted::Stats, Ok(Receipt::Stats(stats)));
    }

    /// Whoever asked whether the server is there has an answer.
    pub(super) fn settle_pong(&mut self, cx: &mut UiCx<'_>) {
        self.settle_wanted(
            cx,
            |wanted| *wanted == Wanted::Pong,
            Ok(Receipt::Extension(Json::verbatim(PONG))),
        );
    }

    /// The session was written to a file, or was not.
    pub(super) fn settle_save(&mut self, cx: &mut UiCx<'_>, said: SaveResult<'_>) {
        if said.ok {
            self.unsaved.remove(&self.session);
        }
        let with = match (said.ok, said.path) {
            (true, Some(path)) => Ok(Receipt::Saved { path: path.into_owned(), size: 0 }),
            (true, None) => Ok(Receipt::Done),
            (false, _) => {
                let why = said.error.as_ref().map(Words::shown).unwrap_or_default();
                Err(Refusal::new(RefusalKind::Storage, format!("the runtime could not save: {why}")))
            }
        };
        self.settle_wanted(cx, |wanted| *wanted == Wanted::Save, with);
    }

    /// The list of models came.
    pub(super) fn settle_models(&mut self, cx: &mut UiCx<'_>, said: ModelsList<'_>) {
        if let Some(error) = said.error.as_ref().map(Words::shown).filter(|error| !error.is_empty()) {
            let refusal = Refusal::new(RefusalKind::Remote { code: "models_list".to_owned() }, error);
            self.settle_wanted(cx, |wanted| *wanted == Wanted::Models, Err(refusal));
            return;
        }
        let models = said.providers.iter().flat_map(|provider| {
            provider.models.iter().map(|model| ModelEntry {
                model: ModelRef { provider: provider.id.clone(), name: model.id.clone() },
                context_window: None,
                max_output: None,
                price_input: None,
                price_output: None,
                thinks: None,
            })
        });
        let models = models.collect();
        let current = self.model.as_ref().map(lift::model);
        self.settle_wanted(cx, |wanted| *wanted == Wanted::Models, Ok(Receipt::Models { models, current }));
    }

    /// An `error` line: the answer to the oldest command that waits; `false` when none does.
    pub(super) fn refuse(&mut self, cx: &mut UiCx<'_>, text: &str) -> bool {
        let (kind, hint) = match text {
            ALREADY_STREAMING => (RefusalKind::Busy, Some("wait for its end or cancel it")),
            UNKNOWN_COMMAND => (RefusalKind::Unsupported, None),
            SESSION_NOT_FOUND | NO_ACTIVE_SESSION => {
                (RefusalKind::SessionUnknown, Some("list the sessions, or start one"))
            }
            _ => (RefusalKind::Remote { code: "error".to_owned() }, None),
        };
        let message = match text {
            ALREADY_STREAMING => "a run is under way",
            UNKNOWN_COMMAND => "this runtime does not know the command",
            "" => "the runtime refused it without a word",
            text => text,
        };
        let refusal = Refusal { kind, message: message.to_owned(), hint: hint.map(str::to_owned) };
        if matches!(self.pending.front(), Some(pending) if matches!(pending.wanted, Wanted::Running(_))) {
            self.lists_are_here(cx);
            return true;
        }
        let only_runs = text == ALREADY_STREAMING;
        self.settle_wanted(cx, |wanted| !only_runs || *wanted == Wanted::Run, Err(refusal))
    }

    /// No line came that would settle a command.
    pub(super) fn overdue(&mut self, cx: &mut UiCx<'_>, key: TimerKey) {
        let Some(at) = self.pending.iter().position(|pending| pending.key == key) else { return };
        if matches!(self.pending[at].wanted, Wanted::Running(_)) {
            // A server that has no such list: the saved ones are all that it tells.
            return self.lists_are_here(cx);
        }
        let Some(pending) = self.pending.remove(at) else { return };
        let with = match pending.wanted {
            // Not every server says that it saved; silence is no refusal.
            Wanted::Save => Ok(Receipt::Done),
            Wanted::Run => {
                let refusal =
                    Refusal::new(RefusalKind::TimedOut, "the runtime did not begin with the prompt");
                Err(refusal.hint("it may still begin; look before you send it again"))
            }
            Wanted::Stats
            | Wanted::Pong
            | Wanted::Sessions(_)
            | Wanted::Running(_)
            | Wanted::Models
            | Wanted::Session
            | Wanted::Active(_) => {
                let refusal = Refusal::new(RefusalKind::TimedOut, "the runtime did not answer");
                Err(refusal.hint("try again, or start it anew"))
            }
        };
        cx.settle(pending.ticket, with);
    }
}

fn unsupported(why: &str) -> Refusal {
    Refusal::new(RefusalKind::Unsupported, why)
}

/// We follow one session of the server: going elsewhere in the middle of a run would leave it without an end here.
fn idle(seen: Seen<'_>) -> Result<(), Refusal> {
    match seen.state.open_run() {
        None => Ok(()),
        Some(_) => {
            Err(Refusal::new(RefusalKind::Busy, "a run is under way").hint("wait for its end or cancel it"))
        }
    }
}

/// What a list knows of a session. An id that is no plain name gets one of ours.
pub(super) fn summary(id: &str, cwd: String, at: Millis, title: Option<String>) -> SessionSummary {
    let session = known_as(id);
    SessionSummary {
        title: title.unwrap_or_else(|| id.to_owned()),
        project: cwd.clone(),
        cwd,
        created_at: at,
        updated_at: at,
        ..SessionSummary::new(session)
    }
}
