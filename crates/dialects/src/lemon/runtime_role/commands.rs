//! What the client wants, lifted: each command becomes one of the hub's, or is answered here.

use super::super::lower;
use super::super::wire::frame::{Frame, Running};
use super::super::wire::{self, NO_ACTIVE_SESSION, SESSION_NOT_FOUND, UNKNOWN_COMMAND, command};
use super::LemonRuntime;
use super::receipts::Pending;
use super::telling::event_line;
use domain::command::{
    Command, LibraryCommand, ListCommand, ListScope, PromptOptions, RunCommand, SessionCommand, Target,
};
use domain::content::Input;
use domain::ids::SessionId;
use domain::session::ModelRef;
use roles::{Item, Reason, RuntimeCx};
use serde_json::Value;

/// Most sessions in a list.
const MAX_LISTED: u64 = 200;

impl LemonRuntime {
    pub(super) fn command(&mut self, cx: &mut RuntimeCx<'_>, said: &wire::Command) {
        let of = said.session_id.as_deref();
        match said.kind.as_str() {
            command::PROMPT => match &said.text {
                Some(text) => self.prompt(cx, of, text),
                None => self.error(cx, UNKNOWN_COMMAND, None),
            },
            command::ABORT => {
                let Some(session) = self.named(cx, of) else { return };
                let cancel = Command::Run(RunCommand::Cancel { run: None, reason: None });
                self.ask_hub(cx, Target::Session(session), cancel, Pending::Abort);
            }
            command::RESET => self.reset(cx, of),
            command::SAVE => {
                let Some(session) = self.named(cx, of) else { return };
                let save = Command::Library(LibraryCommand::Save { path: None, history: true });
                self.ask_hub(cx, Target::Session(session.clone()), save, Pending::Save(session));
            }
            command::STATS => {
                let Some(session) = self.named(cx, of) else { return };
                self.ask_hub(
                    cx,
                    Target::Session(session.clone()),
                    Command::Session(SessionCommand::Stats),
                    Pending::Stats(session),
                );
            }
            command::PING => cx.send(Frame::Pong.line()),
            command::DEBUG => cx.send(Frame::Debug { message: "debug command received" }.line()),
            command::QUIT => {
                self.quitting = true;
                self.leave_if_due(cx);
            }
            command::UI_RESPONSE => self.response(cx, said),
            command::LIST_SESSIONS => {
                let scope = ListScope::Project(None);
                let list =
                    Command::Library(LibraryCommand::List { scope, limit: Some(MAX_LISTED), search: None });
                self.ask_hub(cx, Target::Current, list, Pending::Sessions);
            }
            command::LIST_RUNNING_SESSIONS => self.list_running(cx),
            command::LIST_MODELS => self.list_models(cx),
            command::START_SESSION => self.start_session(cx, said),
            command::CLOSE_SESSION => self.close_session(cx, of),
            command::SET_ACTIVE_SESSION => self.set_active(cx, of),
            command::GET_CONFIG => cx.send(Frame::ConfigState { config: self.config }.line()),
            command::SET_CONFIG => self.set_config(cx, said),
            _ => self.error(cx, UNKNOWN_COMMAND, None),
        }
    }

    /// Goodbye, once what was asked before it has been answered: a client that saves and quits wants both.
    pub(super) fn leave_if_due(&mut self, cx: &mut RuntimeCx<'_>) {
        if self.quitting && self.pending.is_empty() {
            self.quitting = false;
            cx.send(event_line(self.front.as_ref(), None, "quit", Vec::new()));
            cx.close(Reason::Quit);
        }
    }

    pub(super) fn prompt(&mut self, cx: &mut RuntimeCx<'_>, of: Option<&str>, text: &str) {
        let Some(session) = self.named(cx, of) else { return };
        let prompt =
            Command::Run(RunCommand::Prompt { input: Input::text(text), options: PromptOptions::default() });
        self.ask_hub(cx, Target::Session(session.clone()), prompt, Pending::Prompt(session));
    }

    /// The session that a command is for. Without an id: the active one. The client is told when there is none.
    fn named(&self, cx: &mut RuntimeCx<'_>, of: Option<&str>) -> Option<SessionId> {
        let Some(id) = of else {
            if self.front.is_none() {
                self.error(cx, NO_ACTIVE_SESSION, None);
            }
            return self.front.clone();
        };
        let session = SessionId::parse(id).filter(|session| self.open.contains_key(session));
        if session.is_none() {
            cx.send(Frame::Error { message: SESSION_NOT_FOUND.into(), session_id: Some(id) }.line());
        }
        session
    }

    /// Empties the conversation; a run under way is stopped first. The session keeps its id.
    fn reset(&mut self, cx: &mut RuntimeCx<'_>, of: Option<&str>) {
        let Some(session) = self.named(cx, of) else { return };
        let Some(open) = self.open.get_mut(&session) else { return };
        let target = Target::Session(session.clone());
        if open.telling.is_running() {
            (open.reset, open.telling.stop_word) = (true, Some("reset"));
            return self.ask_hub(
                cx,
                target,
                Command::Run(RunCommand::Cancel { run: None, reason: None }),
                Pending::Abort,
            );
        }
        self.ask_hub(cx, target, Command::Session(SessionCommand::Clear), Pending::Reset(session));
    }

    fn list_running(&self, cx: &mut RuntimeCx<'_>) {
        let models: Vec<Option<ModelRef>> =
            self.open.keys().map(|session| self.model_of(Some(session))).collect();
        let sessions = self.open.iter().zip(&models).map(|((session, open), model)| Running {
            session_id: session.as_str(),
            cwd: &open.cwd,
            is_streaming: open.telling.is_running(),
            model: lower::model_id(model.as_ref()),
        });
        cx.send(Frame::RunningSessions { sessions: sessions.collect(), error: None }.line());
    }

    fn list_models(&mut self, cx: &mut RuntimeCx<'_>) {
        // Models belong to the runtime, but the hub answers in a session; any will do.
        let session = self.front.clone().or_else(|| self.open.keys().next().cloned());
        let target = session.map_or(Target::Current, Target::Session);
        self.ask_hub(cx, target, Command::List(ListCommand::Models { provider: None }), Pending::Models);
    }

    fn start_session(&mut self, cx: &mut RuntimeCx<'_>, said: &wire::Command) {
        let model = match said.model.as_deref().filter(|model| !model.is_empty()) {
            Some(text) => match text
                .split_once(':')
                .filter(|(provider, id)| !provider.is_empty() && !id.is_empty())
            {
                Some((provider, id)) => Some(ModelRef { provider: provider.to_owned(), name: id.to_owned() }),
                None => {
                    let why = format!("invalid model: {text} (write it as provider:id)");
                    return self.error(cx, &why, None);
                }
            },
            None => None,
        };
        if said.system_prompt.as_deref().is_some_and(|text| !text.is_empty()) {
            cx.loss(Item::SessionNew, "a system prompt of its own");
        }
        if said.parent_session.is_some() {
            cx.loss(Item::SessionNew, "the session it came from");
        }
        let command = match said.session_file.as_deref().filter(|file| !file.is_empty()) {
            Some(file) => match saved(file) {
                Some(session) => Command::Library(LibraryCommand::Open { session }),
                None => Command::Library(LibraryCommand::Load { path: file.to_owned() }),
            },
            None => Command::Library(LibraryCommand::New {
                cwd: said.cwd.clone().filter(|cwd| !cwd.is_empty()),
                title: None,
                id: None,
            }),
        };
        self.ask_hub(cx, Target::Current, command, Pending::Start(model));
    }

    fn close_session(&mut self, cx: &mut RuntimeCx<'_>, of: Option<&str>) {
        let Some(id) = of else { return self.error(cx, "session_id required for close_session", None) };
        let Some(session) = SessionId::parse(id).filter(|session| self.open.contains_key(session)) else {
            return cx.send(Frame::SessionClosed { session_id: id, reason: "not_found" }.line());
        };
        let was_front = self.front.as_ref() == Some(&session);
        let pending = Pending::Close { session: session.clone(), was_front };
        self.ask_hub(cx, Target::Session(session), Command::Session(SessionCommand::Close), pending);
    }

    fn set_active(&mut self, cx: &mut RuntimeCx<'_>, of: Option<&str>) {
        let Some(id) = of else { return self.error(cx, "session_id required for set_active_session", None) };
        let Some(session) = SessionId::parse(id) else {
            return cx.send(Frame::Error { message: SESSION_NOT_FOUND.into(), session_id: Some(id) }.line());
        };
        let pending = Pending::Activate(session.clone());
        self.ask_hub(
            cx,
            Target::Current,
            Command::Library(LibraryCommand::Open { session: session.clone() }),
            pending,
        );
        if self.open.contains_key(&session) {
            // What follows on this line is already meant for it.
            self.bring_front(cx, Some(session));
        }
    }

    fn set_config(&mut self, cx: &mut RuntimeCx<'_>, said: &wire::Command) {
        let key = said.key.as_deref().unwrap_or_default();
        let switch = match key {
            "claude_skip_permissions" => &mut self.config.claude_skip_permissions,
            "codex_auto_approve" => &mut self.config.codex_auto_approve,
            _ => return self.error(cx, &format!("unknown config key: {key}"), None),
        };
        let Some(Value::Bool(on)) = said.value else {
            return self.error(cx, &format!("the value of {key} must be true or false"), None);
        };
        *switch = on;
        cx.send(Frame::ConfigState { config: self.config }.line());
    }
}

/// The session that a file of ours is named after. The clients give back the `path` of the list.
fn saved(file: &str) -> Option<SessionId> {
    let name = file.rsplit('/').next()?;
    let stem = name.strip_suffix(".jsonl").or_else(|| name.strip_suffix(".json")).unwrap_or(name);
    // A file somewhere else with another name is one to load.
    SessionId::parse(stem).filter(|_| stem == file || stem.starts_with("sess-"))
}
