//! The commands of the wire as a table: each with what it becomes, or is answered with from what the role knows, and what is answered when
//! the hub has settled it.

use super::answers::{self, refused, why};
use super::lift::{self, invalid, maybe, required, said};
use super::{NousRuntime as Role, reads};
use crate::entry_name;
use crate::wire::{ErrorBody, Keys, PendingCounts, State as WireState};
use domain::command::{
    Command, LibraryCommand, PromptOptions, QueueCommand, Receipt, Refusal, RefusalKind, RunCommand,
    SessionCommand, Target,
};
use domain::content::{Input, Json};
use domain::ids::{EntryId, SessionId};
use domain::queue::{Mode, QueueKind};
use rolekit::exchange::{
    self, Answering, Asking, Exchange, Fault, Next, Pending, Request, Settlement, TableRole, no_answer,
};
use roles::{Lane, RuntimeCx, Tickets, View};
use serde_json::{Value, json};

/// How often a read is tried again when the hub shows another session, because another connection named one meanwhile.
const MAX_LOOKS: u32 = 16;

const COMMANDS: &[Exchange<Role>] = &[
    Exchange { method: "ping", ask: ping, answer: no_answer },
    Exchange { method: "prompt", ask: Role::prompt, answer: Role::prompted },
    Exchange { method: "steer", ask: Role::enqueue, answer: enqueued },
    Exchange { method: "follow_up", ask: Role::enqueue, answer: enqueued },
    Exchange { method: "abort", ask: Role::abort, answer: Role::aborting },
    Exchange { method: "get_state", ask: Role::get_state, answer: no_answer },
    Exchange { method: "get_messages", ask: Role::get_messages, answer: Role::looked },
    Exchange { method: "get_tree", ask: Role::get_tree, answer: Role::looked },
    Exchange { method: "new_session", ask: new_session, answer: Role::arrived },
    Exchange { method: "switch_session", ask: switch_session, answer: Role::arrived },
    Exchange { method: "branch_session", ask: branch_session, answer: Role::arrived },
    Exchange { method: "set_active_tools", ask: Role::set_tools, answer: Role::tools_set },
    Exchange { method: "set_steering_mode", ask: Role::set_mode, answer: Role::mode_set },
    Exchange { method: "set_follow_up_mode", ask: Role::set_mode, answer: Role::mode_set },
    Exchange { method: "extension_command", ask: Role::extension, answer: extended },
    Exchange { method: "set_leaf", ask: Role::set_leaf, answer: leaf_set },
    Exchange { method: "compact_session", ask: Role::compact, answer: Role::compacting },
];

/// What an answer needs of its command.
#[derive(Debug, Clone, PartialEq)]
pub enum NousMemo {
    Nothing,
    Prompt {
        session: SessionId,
        wait: bool,
    },
    /// A session for a prompt that came when none was active.
    SessionFor(Prompt),
    /// The run that takes it, as the wire names it.
    Enqueue {
        run: String,
    },
    Abort {
        session: SessionId,
        run: String,
    },
    /// A session is only looked at.
    Read {
        session: SessionId,
        leaf: Option<EntryId>,
        tries: u32,
    },
    Tools(Vec<String>),
    Mode(Mode),
    Extension {
        name: String,
    },
    Leaf {
        session: SessionId,
        leaf: EntryId,
    },
    Compact {
        session: SessionId,
        instruction: Option<String>,
    },
}

/// A prompt that waits for its session.
#[derive(Debug, Clone, PartialEq)]
pub struct Prompt {
    text: String,
    wait: bool,
    from: Option<EntryId>,
}

impl TableRole for Role {
    type From = (Lane, String);
    type Params<'a> = &'a Keys;
    type Memo = NousMemo;
    type Reply = (&'static str, Value);
    type Error = ErrorBody;

    fn tables(&self) -> &'static [&'static [Exchange<Role>]] {
        &[COMMANDS]
    }

    fn pending(&mut self) -> &mut Tickets<Pending<(Lane, String), NousMemo>> {
        &mut self.pending
    }

    fn reply(
        &mut self,
        cx: &mut RuntimeCx<'_>,
        (lane, id): &(Lane, String),
        with: Result<(&'static str, Value), ErrorBody>,
    ) {
        if self.connections.contains_key(lane) {
            let line = match with {
                Ok((kind, payload)) => answers::ok(id, kind, payload),
                Err(error) => answers::error(id, error),
            };
            cx.send_on(*lane, line);
        }
    }

    fn unknown(method: &str) -> ErrorBody {
        why("invalid_command", format!("invalid_command: {method}"))
    }

    fn odd() -> ErrorBody {
        refused(&Refusal::new(RefusalKind::Internal, "an answer of another kind came"), "")
    }

    fn refused(_: &'static str, refusal: &Refusal) -> ErrorBody {
        refused(refusal, "")
    }

    fn unasked(
        &mut self,
        cx: &mut RuntimeCx<'_>,
        _: Option<View<'_>>,
        _: NousMemo,
        with: Result<Receipt, Refusal>,
    ) {
        if let Err(refusal) = with {
            cx.log(format!("nous: a setting of the server could not be applied: {refusal}"));
        }
    }
}

impl Role {
    /// Does one line of a connection.
    pub(super) fn command(&mut self, cx: &mut RuntimeCx<'_>, lane: Lane, line: &str) {
        match lift::decode(line) {
            Ok(asked) => exchange::ask(self, cx, &(lane, asked.id), &asked.kind, &asked.payload),
            Err(message) => cx.send_on(lane, answers::error("", why("invalid_command", message))),
        }
    }

    /// Whether a session is only being read, so that seeing it does not make it active.
    pub(super) fn looks_at(&self, session: &SessionId) -> bool {
        self.pending.values().any(|pending| match &pending.memo {
            NousMemo::Read { session: of, .. }
            | NousMemo::Leaf { session: of, .. }
            | NousMemo::Compact { session: of, .. } => of == session,
            _ => false,
        })
    }

    fn target(&self) -> Target {
        self.active.clone().map_or(Target::Current, Target::Session)
    }

    /// The session that a read is about: the named one, else the active one.
    fn session(&self, keys: &Keys) -> Result<Option<SessionId>, ErrorBody> {
        match maybe(keys, "session_id") {
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

    fn prompt(&mut self, _: &mut RuntimeCx<'_>, request: Request<'_, Self>) -> Asking<Self> {
        let (text, wait) = (said(request.params)?, lift::wait(request.params)?);
        let leaf = lift::leaf(request.params)?;
        if self.running().is_some() {
            return Err(why("command_rejected", "run_in_progress"));
        }
        let from = leaf.map(|leaf| entry_name::read(&leaf).ok_or_else(no_leaf)).transpose()?;
        Ok(self.begins(Prompt { text, wait, from }))
    }

    /// Starts a run in the active session; makes one first if there is none, so that its beginning is seen.
    fn begins(&self, prompt: Prompt) -> Next<Role> {
        let Some(session) = self.active.clone() else {
            let command = Command::Library(LibraryCommand::New { cwd: None, title: None, id: None });
            return Next::Hub(Target::Current, command, NousMemo::SessionFor(prompt));
        };
        let options = PromptOptions { from: prompt.from, ..PromptOptions::default() };
        let command = Command::Run(RunCommand::Prompt { input: Input::text(prompt.text), options });
        let memo = NousMemo::Prompt { session: session.clone(), wait: prompt.wait };
        Next::Hub(Target::Session(session), command, memo)
    }

    fn prompted(&mut self, cx: &mut RuntimeCx<'_>, settled: Settlement<'_, Self>) -> Answering<Self> {
        match (settled.memo, settled.with?) {
            (NousMemo::Prompt { session, wait }, receipt) => {
                self.started(cx, settled.view, settled.from.clone(), session, wait, &receipt)
            }
            (NousMemo::SessionFor(prompt), Receipt::Session { session, .. }) => {
                self.active = Some(session.id);
                Ok(self.begins(prompt))
            }
            _ => Err(Fault::Odd),
        }
    }

    fn enqueue(&mut self, _: &mut RuntimeCx<'_>, request: Request<'_, Self>) -> Asking<Self> {
        let input = Input::text(said(request.params)?);
        let (session, run) = self.open_run()?;
        let kind = if request.method == "steer" { QueueKind::Steer } else { QueueKind::FollowUp };
        let command = Command::Queue(QueueCommand::Add { kind, input });
        Ok(Next::Hub(Target::Session(session), command, NousMemo::Enqueue { run }))
    }

    fn abort(&mut self, _: &mut RuntimeCx<'_>, _: Request<'_, Self>) -> Asking<Self> {
        let (session, name) = self.open_run()?;
        let run = self.tellings.get(&session).map(|telling| telling.run);
        let command = Command::Run(RunCommand::Cancel { run, reason: None });
        let memo = NousMemo::Abort { session: session.clone(), run: name };
        Ok(Next::Hub(Target::Session(session), command, memo))
    }

    fn aborting(&mut self, _: &mut RuntimeCx<'_>, settled: Settlement<'_, Self>) -> Answering<Self> {
        let receipt = settled.with?;
        let NousMemo::Abort { session, run } = settled.memo else { return Err(Fault::Odd) };
        if matches!(receipt, Receipt::Cancelling { run } if run.outcome.is_some()) {
            return Err(Fault::Error(why("command_rejected", "no_active_run")));
        }
        if let Some(telling) = self.tellings.get_mut(&session).filter(|telling| telling.name == run) {
            telling.aborting = true;
        }
        Ok(Next::Reply(("accepted", json!({ "command": settled.method, "run_id": run }))))
    }

    fn get_state(&mut self, _: &mut RuntimeCx<'_>, _: Request<'_, Self>) -> Asking<Self> {
        Ok(Next::Reply(("state", json!(self.state()))))
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

    fn get_messages(&mut self, _: &mut RuntimeCx<'_>, request: Request<'_, Self>) -> Asking<Self> {
        let Some(session) = self.session(request.params)? else {
            return Ok(Next::Reply(("messages", json!({ "session_id": "", "messages": [] }))));
        };
        let leaf = maybe(request.params, "leaf_id");
        Ok(look(session, leaf.map(|leaf| entry_name::read(&leaf).ok_or_else(no_leaf)).transpose()?, 0))
    }

    fn get_tree(&mut self, _: &mut RuntimeCx<'_>, request: Request<'_, Self>) -> Asking<Self> {
        Ok(match self.session(request.params)? {
            Some(session) => look(session, None, 0),
            None => Next::Reply(("tree", json!({ "session_id": "", "nodes": [] }))),
        })
    }

    fn looked(&mut self, _: &mut RuntimeCx<'_>, settled: Settlement<'_, Self>) -> Answering<Self> {
        settled.with?;
        let NousMemo::Read { session, leaf, tries } = settled.memo else { return Err(Fault::Odd) };
        let Some(view) = settled.view.filter(|view| *view.session == session) else {
            if tries >= MAX_LOOKS {
                let error = why("internal_error", "the session could not be read; try again");
                return Err(Fault::Error(error));
            }
            return Ok(look(session, leaf, tries + 1));
        };
        if settled.method == "get_tree" {
            return Ok(Next::Reply(("tree", reads::tree(&session, view.state))));
        }
        if leaf.is_some_and(|leaf| !view.state.entries.contains_key(&leaf)) {
            return Err(Fault::Error(no_leaf()));
        }
        Ok(Next::Reply(("messages", reads::messages(&session, view.state, leaf, &self.runs))))
    }

    /// A session was made, opened or branched off.
    fn arrived(&mut self, _: &mut RuntimeCx<'_>, settled: Settlement<'_, Self>) -> Answering<Self> {
        let Receipt::Session { session, parent } = settled.with? else { return Err(Fault::Odd) };
        self.active = Some(session.id.clone());
        let mut payload = json!({ "session_id": session.id.as_str(), "active": true });
        if let Some(parent) = parent {
            payload["parent_id"] = Value::String(parent.to_string());
        }
        Ok(Next::Reply(("session", payload)))
    }

    fn set_tools(&mut self, _: &mut RuntimeCx<'_>, request: Request<'_, Self>) -> Asking<Self> {
        let tools = lift::tools(request.params)?;
        let command = Command::Session(SessionCommand::SetTools { tools: Some(tools.clone()) });
        Ok(Next::Hub(self.target(), command, NousMemo::Tools(tools)))
    }

    fn tools_set(&mut self, _: &mut RuntimeCx<'_>, settled: Settlement<'_, Self>) -> Answering<Self> {
        let NousMemo::Tools(tools) = settled.memo else { return Err(Fault::Odd) };
        if let Err(refusal) = settled.with {
            let found = tools.iter().find(|tool| refusal.message.ends_with(&format!(" {tool}")));
            let name = found.or_else(|| tools.first()).cloned().unwrap_or_default();
            return Err(Fault::Error(refused(&refusal, &name)));
        }
        let count = tools.len();
        self.tools = Some(tools);
        Ok(Next::Reply(("accepted", json!({ "command": settled.method, "count": count }))))
    }

    fn set_mode(&mut self, _: &mut RuntimeCx<'_>, request: Request<'_, Self>) -> Asking<Self> {
        let (kind, mode) = (mode_kind(request.method), lift::mode(request.params)?);
        let Some(session) = self.active.clone() else {
            // Modes are the server's; the next session gets them.
            *self.modes.of(kind) = Some(mode);
            return Ok(mode_accepted(request.method, mode));
        };
        let command = Command::Queue(QueueCommand::SetMode { kind, mode });
        Ok(Next::Hub(Target::Session(session), command, NousMemo::Mode(mode)))
    }

    fn mode_set(&mut self, _: &mut RuntimeCx<'_>, settled: Settlement<'_, Self>) -> Answering<Self> {
        settled.with?;
        let NousMemo::Mode(mode) = settled.memo else { return Err(Fault::Odd) };
        *self.modes.of(mode_kind(settled.method)) = Some(mode);
        Ok(mode_accepted(settled.method, mode))
    }

    fn extension(&mut self, _: &mut RuntimeCx<'_>, request: Request<'_, Self>) -> Asking<Self> {
        let name = required(request.params, "name")?;
        let payload = match request.params.get("payload") {
            Some(payload @ Value::Object(_)) => Json::verbatim(payload.to_string()),
            _ => Json::empty(),
        };
        let memo = NousMemo::Extension { name: name.clone() };
        Ok(Next::Hub(self.target(), Command::Extension { name, payload }, memo))
    }

    fn set_leaf(&mut self, _: &mut RuntimeCx<'_>, request: Request<'_, Self>) -> Asking<Self> {
        let leaf = required(request.params, "leaf_id")?;
        let session = self.session(request.params)?.ok_or_else(no_leaf)?;
        let leaf = entry_name::read(&leaf).ok_or_else(no_leaf)?;
        let command = Command::Session(SessionCommand::SetLeaf { leaf: Some(leaf) });
        Ok(Next::Hub(Target::Session(session.clone()), command, NousMemo::Leaf { session, leaf }))
    }

    fn compact(&mut self, _: &mut RuntimeCx<'_>, request: Request<'_, Self>) -> Asking<Self> {
        let instruction = lift::instruction(request.params)?;
        let nothing = || why("command_rejected", "nothing_to_compact");
        let session = self.session(request.params)?.ok_or_else(nothing)?;
        let command = Command::Run(RunCommand::Compact { instruction: instruction.clone() });
        Ok(Next::Hub(Target::Session(session.clone()), command, NousMemo::Compact { session, instruction }))
    }
}

fn ping(_: &mut Role, _: &mut RuntimeCx<'_>, _: Request<'_, Role>) -> Asking<Role> {
    Ok(Next::Reply(("pong", json!({ "message": "pong" }))))
}

fn enqueued(_: &mut Role, _: &mut RuntimeCx<'_>, settled: Settlement<'_, Role>) -> Answering<Role> {
    settled.with?;
    let NousMemo::Enqueue { run } = settled.memo else { return Err(Fault::Odd) };
    Ok(Next::Reply(("accepted", json!({ "command": settled.method, "run_id": run }))))
}

/// Makes sure that a session is there; the command is answered from its state.
fn look(session: SessionId, leaf: Option<EntryId>, tries: u32) -> Next<Role> {
    let (target, command) = (Target::Session(session.clone()), Command::Session(SessionCommand::Stats));
    Next::Hub(target, command, NousMemo::Read { session, leaf, tries })
}

fn hub(command: LibraryCommand) -> Asking<Role> {
    Ok(Next::Hub(Target::Current, Command::Library(command), NousMemo::Nothing))
}

fn new_session(_: &mut Role, _: &mut RuntimeCx<'_>, _: Request<'_, Role>) -> Asking<Role> {
    hub(LibraryCommand::New { cwd: None, title: None, id: None })
}

fn switch_session(_: &mut Role, _: &mut RuntimeCx<'_>, request: Request<'_, Role>) -> Asking<Role> {
    hub(LibraryCommand::Open { session: session_id(&required(request.params, "session_id")?)? })
}

fn branch_session(_: &mut Role, _: &mut RuntimeCx<'_>, request: Request<'_, Role>) -> Asking<Role> {
    let session = maybe(request.params, "session_id").or_else(|| maybe(request.params, "parent_id"));
    let session = session_id(&session.ok_or_else(|| invalid("session_id is required"))?)?;
    hub(LibraryCommand::Branch { session: Some(session), at: None })
}

fn mode_kind(method: &str) -> QueueKind {
    if method == "set_steering_mode" { QueueKind::Steer } else { QueueKind::FollowUp }
}

fn mode_accepted(method: &str, mode: Mode) -> Next<Role> {
    Next::Reply(("accepted", json!({ "command": method, "mode": mode_word(mode) })))
}

fn mode_word(mode: Mode) -> &'static str {
    match mode {
        Mode::OneAtATime => "one-at-a-time",
        Mode::All => "all",
    }
}

fn extended(_: &mut Role, _: &mut RuntimeCx<'_>, settled: Settlement<'_, Role>) -> Answering<Role> {
    let NousMemo::Extension { name } = settled.memo else { return Err(Fault::Odd) };
    let receipt = settled.with.map_err(|refusal| Fault::Error(refused(&refusal, &name)))?;
    let Receipt::Extension(json) = receipt else { return Err(Fault::Odd) };
    let payload = match serde_json::from_str(json.as_str()) {
        Ok(payload @ Value::Object(_)) => payload,
        Ok(other) => json!({ "result": other }),
        Err(_) => json!({ "result": json.as_str() }),
    };
    Ok(Next::Reply(("extension_result", payload)))
}

fn leaf_set(_: &mut Role, _: &mut RuntimeCx<'_>, settled: Settlement<'_, Role>) -> Answering<Role> {
    settled.with?;
    let NousMemo::Leaf { session, leaf } = settled.memo else { return Err(Fault::Odd) };
    let payload = json!({ "session_id": session.as_str(), "leaf_id": entry_name::message(leaf) });
    Ok(Next::Reply(("leaf", payload)))
}

fn session_id(text: &str) -> Result<SessionId, ErrorBody> {
    // The text of a stranger is not repeated: it may be a path.
    SessionId::parse(text).ok_or_else(|| why("session_not_found", "there is no session with this id"))
}

fn no_leaf() -> ErrorBody {
    why("command_rejected", "leaf_not_found")
}
