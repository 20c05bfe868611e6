//! What the client wants, lifted: each command becomes one of the hub's, or is answered here.

use super::super::lower;
use super::super::wire::event::Event;
use super::super::wire::frame::{
    Bare, ClosedBecause, ConfigState, DebugLine, ErrorLine, Running, RunningSessions,
};
use super::super::wire::{self, Frame, NO_ACTIVE_SESSION, SESSION_NOT_FOUND, StartSession};
use super::receipts::{HubCommand, closed};
use super::telling::event_line;
use super::{LEAVE, LINGER, LemonRuntime};
use domain::command::{
    Command, LibraryCommand, ListCommand, ListScope, PromptOptions, RunCommand, SessionCommand, Target,
};
use domain::content::Input;
use domain::ids::SessionId;
use domain::session::ModelRef;
use domain::signal::{Level, Signal};
use rolekit::session_name;
use roles::{Item, RuntimeCx};
use serde_json::Value;

/// Most sessions in a list.
const MAX_LISTED: u64 = 200;

impl LemonRuntime {
    /// Takes a command of the client: it goes to the hub, or is answered at once.
    pub(super) fn command(&mut self, cx: &mut RuntimeCx<'_>, said: wire::Command) {
        use wire::Command as Said;
        match said {
            Said::Prompt { text, session_id } => self.prompt(cx, session_id.as_deref(), &text),
            Said::Abort { session_id } => {
                let Some(session) = self.named(cx, session_id.as_deref()) else { return };
                let cancel = Command::Run(RunCommand::Cancel { run: None, reason: None });
                self.ask_hub(cx, Target::Session(session), cancel, HubCommand::Abort);
            }
            Said::Reset { session_id } => self.reset(cx, session_id.as_deref()),
            Said::Save { session_id } => {
                let Some(session) = self.named(cx, session_id.as_deref()) else { return };
                let save = Command::Library(LibraryCommand::Save { path: None, history: true });
                self.ask_hub(cx, Target::Session(session.clone()), save, HubCommand::Save(session));
            }
            Said::Stats { session_id } => {
                let Some(session) = self.named(cx, session_id.as_deref()) else { return };
                let (target, stats) = (Target::Session(session.clone()), SessionCommand::Stats);
                self.ask_hub(cx, target, Command::Session(stats), HubCommand::Stats(session));
            }
            Said::Ping => cx.send(Frame::Pong(Bare {}).line()),
            Said::Debug => {
                cx.send(Frame::Debug(DebugLine { message: "debug command received".into() }).line());
            }
            Said::Quit => {
                self.quitting = true;
                self.leave_if_due(cx);
            }
            Said::UiResponse { id, result, error } => self.response(cx, &id, result, error),
            Said::ListSessions => {
                let scope = ListScope::Project(None);
                let list =
                    Command::Library(LibraryCommand::List { scope, limit: Some(MAX_LISTED), search: None });
                self.ask_hub(cx, Target::Current, list, HubCommand::Sessions);
            }
            Said::ListRunningSessions => self.list_running(cx),
            Said::ListModels => self.list_models(cx),
            Said::StartSession(start) => self.start_session(cx, start),
            Said::CloseSession { session_id } => self.close_session(cx, session_id.as_deref()),
            Said::SetActiveSession { session_id } => self.set_active(cx, session_id.as_deref()),
            Said::GetConfig => self.say_config(cx),
            Said::SetConfig { key, value } => self.set_config(cx, &key, &value),
        }
    }

    fn say_config(&self, cx: &mut RuntimeCx<'_>) {
        cx.send(Frame::ConfigState(ConfigState { config: self.config }).line());
    }

    /// The client is told that there is no such session, in its own words.
    pub(super) fn unknown_session(&self, cx: &mut RuntimeCx<'_>, id: &str) {
        let error = ErrorLine { message: SESSION_NOT_FOUND.into(), session_id: Some(id.into()) };
        cx.send(Frame::Error(error).line());
    }

    /// Goodbye, once what was asked before it has been answered: a client that saves and quits wants both.
    pub(super) fn leave_if_due(&mut self, cx: &mut RuntimeCx<'_>) {
        if self.quitting && self.pending.is_empty() {
            (self.quitting, self.left) = (false, true);
            let front = self.front.as_ref().map(session_name::write);
            cx.send(event_line(front.as_deref(), None, Event::Quit([])));
            // What runs ends now and not with the link: we stay for the client's signal, not for its tools. A question stays open for whoever
            // opens the session next.
            let idle = self.open.keys().filter(|session| !self.questions.wait_in(session));
            for session in idle.cloned().collect::<Vec<_>>() {
                let pending = HubCommand::Close { session: session.clone(), was_front: false };
                self.ask_hub(cx, Target::Session(session), Command::Session(SessionCommand::Close), pending);
            }
            cx.timer(LEAVE, LINGER);
        }
    }

    /// Begins a run in the session that is meant.
    pub(super) fn prompt(&mut self, cx: &mut RuntimeCx<'_>, of: Option<&str>, text: &str) {
        let Some(session) = self.named(cx, of) else { return };
        let prompt =
            Command::Run(RunCommand::Prompt { input: Input::text(text), options: PromptOptions::default() });
        self.ask_hub(cx, Target::Session(session.clone()), prompt, HubCommand::Prompt(session));
    }

    /// The session that a command is for. Without an id: the active one. The client is told when there is none.
    fn named(&self, cx: &mut RuntimeCx<'_>, of: Option<&str>) -> Option<SessionId> {
        let Some(id) = of else {
            if self.front.is_none() {
                self.error(cx, NO_ACTIVE_SESSION, None);
            }
            return self.front.clone();
        };
        let session = self.find_open(id);
        if session.is_none() {
            self.unknown_session(cx, id);
        }
        session
    }

    /// A session that the client has open, as it names it.
    fn find_open(&self, name: &str) -> Option<SessionId> {
        session_name::find(name, self.open.keys())
    }

    /// A session as the client names it: one that it has open, one of the last list, or any by its whole name.
    fn find(&self, name: &str) -> Option<SessionId> {
        session_name::find(name, self.open.keys().chain(&self.listed)).or_else(|| session_name::read(name))
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
                HubCommand::Abort,
            );
        }
        self.ask_hub(cx, target, Command::Session(SessionCommand::Clear), HubCommand::Reset(session));
    }

    fn list_running(&self, cx: &mut RuntimeCx<'_>) {
        // In the order in which they were opened: clients number them by their place in the list.
        let mut open: Vec<_> = self.open.iter().collect();
        open.sort_by_key(|(_, open)| open.order);
        let models: Vec<Option<ModelRef>> =
            open.iter().map(|(session, _)| self.model_of(Some(session))).collect();
        let sessions = open.iter().zip(&models).map(|((session, open), model)| Running {
            session_id: session_name::write(session).into(),
            cwd: open.cwd.as_str().into(),
            is_streaming: open.telling.is_running(),
            model: lower::model_id(model.as_ref()),
        });
        let elsewhere = self.elsewhere.iter().filter(|session| !self.open.contains_key(&session.id));
        let elsewhere = elsewhere.map(|session| Running {
            session_id: session_name::write(&session.id).into(),
            cwd: session.cwd.as_str().into(),
            is_streaming: session.running,
            model: lower::model_id(None),
        });
        let sessions = sessions.chain(elsewhere).collect();
        cx.send(Frame::RunningSessions(RunningSessions { sessions, error: None }).line());
    }

    fn list_models(&mut self, cx: &mut RuntimeCx<'_>) {
        // Models belong to the runtime, but the hub answers in a session; any will do.
        let session = self.front.clone().or_else(|| self.open.keys().next().cloned());
        let target = session.map_or(Target::Current, Target::Session);
        self.ask_hub(cx, target, Command::List(ListCommand::Models { provider: None }), HubCommand::Models);
    }

    fn start_session(&mut self, cx: &mut RuntimeCx<'_>, said: StartSession) {
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
            self.not_taken(cx, "a system prompt of its own");
        }
        if said.parent_session.is_some() {
            self.not_taken(cx, "the session it came from");
        }
        let command = match said.session_file.as_deref().filter(|file| !file.is_empty()) {
            Some(file) => match self.saved_session(file) {
                Some(session) => Command::Library(LibraryCommand::Open { session }),
                None => Command::Library(LibraryCommand::Load { path: file.to_owned() }),
            },
            None => Command::Library(LibraryCommand::New {
                cwd: said.cwd.filter(|cwd| !cwd.is_empty()),
                title: None,
                id: None,
            }),
        };
        self.ask_hub(cx, Target::Current, command, HubCommand::Start(model));
    }

    fn close_session(&mut self, cx: &mut RuntimeCx<'_>, of: Option<&str>) {
        let Some(id) = of else { return self.error(cx, "session_id required for close_session", None) };
        let Some(session) = self.find_open(id) else {
            return cx.send(closed(id, ClosedBecause::NotFound));
        };
        let was_front = self.front.as_ref() == Some(&session);
        let pending = HubCommand::Close { session: session.clone(), was_front };
        self.ask_hub(cx, Target::Session(session), Command::Session(SessionCommand::Close), pending);
    }

    fn set_active(&mut self, cx: &mut RuntimeCx<'_>, of: Option<&str>) {
        let Some(id) = of else { return self.error(cx, "session_id required for set_active_session", None) };
        let Some(session) = self.find(id) else {
            return self.unknown_session(cx, id);
        };
        let pending = HubCommand::Activate { session: session.clone(), said: id.to_owned() };
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

    fn set_config(&mut self, cx: &mut RuntimeCx<'_>, key: &str, value: &Value) {
        let switch = match key {
            "claude_skip_permissions" => &mut self.config.claude_skip_permissions,
            "codex_auto_approve" => &mut self.config.codex_auto_approve,
            _ => return self.error(cx, &format!("unknown config key: {key}"), None),
        };
        let Value::Bool(on) = *value else {
            return self.error(cx, &format!("the value of {key} must be true or false"), None);
        };
        if on {
            // Nobody may believe that tools run unasked, or that they do because of this.
            let why = format!(
                "{key} cannot be switched on: it is for engines that this runtime does not have \
                 (--policy says what runs without asking)"
            );
            return self.error(cx, &why, None);
        }
        *switch = on;
        self.say_config(cx);
    }

    /// The session that a file of ours is named after. The clients give back the `path` of the list.
    fn saved_session(&self, file: &str) -> Option<SessionId> {
        let name = file.rsplit('/').next()?;
        let stem = name.strip_suffix(".jsonl").or_else(|| name.strip_suffix(".json")).unwrap_or(name);
        // A file somewhere else with another name is one to load.
        self.find(stem).filter(|_| stem == file || stem.starts_with("sess-"))
    }

    /// Something that the client asked for is not done: it hears so.
    fn not_taken(&self, cx: &mut RuntimeCx<'_>, what: &str) {
        cx.loss(Item::SessionNew, what);
        let text = format!("Not taken here: {what}.");
        self.say_signal(cx, &Signal::Notify { level: Level::Warning, text });
    }
}
