//! Commands of the wire become commands for the hub, or are answered from what the role knows.

use super::NousRuntime;
use super::answers::{self, why};
use super::lift::{self, Wanted};
use super::receipts::{Purpose, SessionRead};
use crate::nous::entry_name;
use crate::nous::wire::{ErrorBody, PendingCounts, State as WireState};
use domain::command::{
    Command, LibraryCommand, PromptOptions, QueueCommand, RunCommand, SessionCommand, Target,
};
use domain::content::Input;
use domain::ids::{EntryId, SessionId};
use domain::queue::{Mode, QueueKind};
use roles::{Lane, RuntimeCx};
use serde_json::{Value, json};

/// A prompt that waits for its session.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Prompt {
    pub(super) text: String,
    pub(super) wait: bool,
    pub(super) from: Option<EntryId>,
}

impl NousRuntime {
    /// Does one line of a connection.
    pub(super) fn command(&mut self, cx: &mut RuntimeCx<'_>, lane: Lane, line: &str) {
        let asked = match lift::decode(line) {
            Ok(asked) => asked,
            Err(message) => return cx.send_on(lane, answers::error("", why("invalid_command", message))),
        };
        let result = lift::wanted(&asked).map_err(|message| match message {
            lift::BLANK => {
                ErrorBody { cause: Some("invalid_message_entry".to_owned()), ..why("session_error", message) }
            }
            message => why("invalid_payload", message),
        });
        let result = result.and_then(|wanted| self.want(cx, lane, &asked.id, wanted));
        match result {
            Ok(None) => {}
            Ok(Some((kind, payload))) => cx.send_on(lane, answers::ok(&asked.id, kind, payload)),
            Err(error) => cx.send_on(lane, answers::error(&asked.id, error)),
        }
    }

    /// Answers at once, or hands a command to the hub (`None`).
    fn want(
        &mut self,
        cx: &mut RuntimeCx<'_>,
        lane: Lane,
        id: &str,
        wanted: Wanted,
    ) -> Result<Option<(&'static str, Value)>, ErrorBody> {
        let from = id.to_owned();
        match wanted {
            Wanted::Ping => return Ok(Some(("pong", json!({ "message": "pong" })))),
            Wanted::State => return Ok(Some(("state", json!(self.state())))),
            Wanted::Prompt { text, wait, leaf } => {
                if self.running().is_some() {
                    return Err(why("command_rejected", "run_in_progress"));
                }
                let from_entry = leaf.map(|leaf| entry_name::read(&leaf).ok_or_else(no_leaf)).transpose()?;
                self.prompt(cx, lane, from, Prompt { text, wait, from: from_entry });
            }
            Wanted::Enqueue { kind, text } => {
                let (session, name) = self.open_run()?;
                let command = Command::Queue(QueueCommand::Add { kind, input: Input::text(text) });
                self.ask_hub(
                    cx,
                    lane,
                    from,
                    Target::Session(session),
                    command,
                    Purpose::Enqueue { kind, name },
                );
            }
            Wanted::Abort => {
                let (session, name) = self.open_run()?;
                let run = self.tellings.get(&session).map(|telling| telling.run);
                let command = Command::Run(RunCommand::Cancel { run, reason: None });
                let what = Purpose::Abort { session: session.clone(), name };
                self.ask_hub(cx, lane, from, Target::Session(session), command, what);
            }
            Wanted::Messages { session, leaf } => {
                let Some(session) = self.session(session)? else {
                    return Ok(Some(("messages", json!({ "session_id": "", "messages": [] }))));
                };
                let leaf = leaf.map(|leaf| entry_name::read(&leaf).ok_or_else(no_leaf)).transpose()?;
                self.look(cx, lane, from, session, SessionRead::Messages { leaf });
            }
            Wanted::Tree { session } => {
                let Some(session) = self.session(session)? else {
                    return Ok(Some(("tree", json!({ "session_id": "", "nodes": [] }))));
                };
                self.look(cx, lane, from, session, SessionRead::Tree);
            }
            Wanted::NewSession => {
                let command = Command::Library(LibraryCommand::New { cwd: None, title: None, id: None });
                self.ask_hub(cx, lane, from, Target::Current, command, Purpose::Session);
            }
            Wanted::Switch { session } => {
                let session = session_id(&session)?;
                self.ask_hub(
                    cx,
                    lane,
                    from,
                    Target::Current,
                    Command::Library(LibraryCommand::Open { session }),
                    Purpose::Session,
                );
            }
            Wanted::Branch { session } => {
                let session = Some(session_id(&session)?);
                let command = Command::Library(LibraryCommand::Branch { session, at: None });
                self.ask_hub(cx, lane, from, Target::Current, command, Purpose::Session);
            }
            Wanted::SetTools { tools } => {
                let what = Purpose::Tools { tools: tools.clone() };
                let target = self.target();
                self.ask_hub(
                    cx,
                    lane,
                    from,
                    target,
                    Command::Session(SessionCommand::SetTools { tools: Some(tools) }),
                    what,
                );
            }
            Wanted::SetMode { kind, mode } => {
                let Some(session) = self.active.clone() else {
                    // Modes are the server's; the next session gets them.
                    *self.modes.of(kind) = Some(mode);
                    return Ok(Some(("accepted", mode_accepted(kind, mode))));
                };
                let command = Command::Queue(QueueCommand::SetMode { kind, mode });
                self.ask_hub(cx, lane, from, Target::Session(session), command, Purpose::Mode { kind, mode });
            }
            Wanted::Extension { name, payload } => {
                let what = Purpose::Extension { name: name.clone() };
                let target = self.target();
                self.ask_hub(cx, lane, from, target, Command::Extension { name, payload }, what);
            }
            Wanted::SetLeaf { leaf, session } => {
                let session = self.session(session)?.ok_or_else(no_leaf)?;
                let leaf = entry_name::read(&leaf).ok_or_else(no_leaf)?;
                let what = Purpose::Leaf { session: session.clone(), leaf };
                let command = Command::Session(SessionCommand::SetLeaf { leaf: Some(leaf) });
                self.ask_hub(cx, lane, from, Target::Session(session), command, what);
            }
            Wanted::Compact { session, instruction } => {
                let nothing = || why("command_rejected", "nothing_to_compact");
                let session = self.session(session)?.ok_or_else(nothing)?;
                let what = Purpose::Compact { session: session.clone(), instruction: instruction.clone() };
                let command = Command::Run(RunCommand::Compact { instruction });
                self.ask_hub(cx, lane, from, Target::Session(session), command, what);
            }
        }
        Ok(None)
    }

    /// Starts a run in the active session; makes one first if there is none, so that its beginning is seen.
    pub(super) fn prompt(&mut self, cx: &mut RuntimeCx<'_>, lane: Lane, id: String, prompt: Prompt) {
        match self.active.clone() {
            Some(session) => {
                let options = PromptOptions { from: prompt.from, ..PromptOptions::default() };
                let command = Command::Run(RunCommand::Prompt { input: Input::text(prompt.text), options });
                let what = Purpose::Prompt { session: session.clone(), wait: prompt.wait };
                self.ask_hub(cx, lane, id, Target::Session(session), command, what);
            }
            None => {
                let command = Command::Library(LibraryCommand::New { cwd: None, title: None, id: None });
                self.ask_hub(cx, lane, id, Target::Current, command, Purpose::SessionFor(prompt));
            }
        }
    }

    /// Makes sure that a session is there, and answers the request from its state.
    pub(super) fn look(
        &mut self,
        cx: &mut RuntimeCx<'_>,
        lane: Lane,
        id: String,
        session: SessionId,
        look: SessionRead,
    ) {
        let what = Purpose::Read { session: session.clone(), look, tries: 0 };
        self.ask_hub(cx, lane, id, Target::Session(session), Command::Session(SessionCommand::Stats), what);
    }

    fn target(&self) -> Target {
        self.active.clone().map_or(Target::Current, Target::Session)
    }

    /// The session that a read is about: the named one, else the active one.
    fn session(&self, named: Option<String>) -> Result<Option<SessionId>, ErrorBody> {
        match named {
            Some(named) => session_id(&named).map(Some),
            None => Ok(self.active.clone()),
        }
    }

    /// The run that takes steers, follow-ups and an abort: its session and its name.
    fn open_run(&self) -> Result<(SessionId, String), ErrorBody> {
        let running = self.running().filter(|(_, telling)| !telling.aborting);
        let found = running.map(|(session, telling)| (session.clone(), telling.name.clone()));
        found.ok_or_else(|| why("command_rejected", "no_active_run"))
    }

    fn state(&self) -> WireState {
        let running = self.running().map(|(_, telling)| telling);
        let run_state = match running {
            None => "idle",
            Some(telling) if telling.aborting => "aborting",
            Some(_) => "running",
        };
        let (steer, follow_up) = running.map_or((0, 0), |telling| telling.waiting);
        WireState {
            run_state: run_state.to_owned(),
            run_id: running.map(|telling| telling.name.clone()).unwrap_or_default(),
            session_id: self.active.as_ref().map(ToString::to_string).unwrap_or_default(),
            steering_mode: mode_word(self.modes.steer.unwrap_or_default()).to_owned(),
            follow_up_mode: mode_word(self.modes.follow_up.unwrap_or_default()).to_owned(),
            pending_counts: PendingCounts { steer, follow_up },
        }
    }
}

/// The payload that says that a mode was taken.
pub(super) fn mode_accepted(kind: QueueKind, mode: Mode) -> Value {
    let command = match kind {
        QueueKind::Steer => "set_steering_mode",
        QueueKind::FollowUp => "set_follow_up_mode",
    };
    json!({ "command": command, "mode": mode_word(mode) })
}

fn mode_word(mode: Mode) -> &'static str {
    match mode {
        Mode::OneAtATime => "one-at-a-time",
        Mode::All => "all",
    }
}

fn session_id(text: &str) -> Result<SessionId, ErrorBody> {
    // The text of a stranger is not repeated: it may be a path.
    SessionId::parse(text).ok_or_else(|| why("session_not_found", "there is no session with this id"))
}

fn no_leaf() -> ErrorBody {
    why("command_rejected", "leaf_not_found")
}
