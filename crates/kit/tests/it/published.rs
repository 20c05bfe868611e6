//! The published schema of acp's version 1 against our types and roles: lines are made from it by a seeded generator, and every line
//! that our roles say is held against it.
//!
//! It is the authors' own document (`documents/acp.txt`), and nothing here uses our own schema: a fault must not hide itself. Members
//! that nobody knows are strewn into what is made, and must come out of our types again.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panic")]

mod making;

use boon::{Compiler, SchemaIndex, Schemas};
use dialects::acp::wire;
use dialects::acp::{AcpRuntime, AcpUi};
use domain::canon::{Canon, Names};
use domain::command::{Command, Receipt, Refusal, RefusalKind};
use domain::ids::{Ids, Millis, SessionId};
use domain::port::Ticket;
use domain::session::SessionSummary;
use domain::signal::Board;
use domain::state::State;
use making::Maker;
use roles::{
    Cx, Greeting, Hello, Lane, Line, LinkEffect, RuntimeEffect, RuntimeRole as _, Seen, UiEffect,
    UiRole as _, View,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Lines that are made of each method: a line costs far less than a case of most properties.
fn lines() -> u64 {
    testkit::cases(10_000).cases.into()
}
/// Of so many lines that our roles say to what is made, one is held against the schema: the judge is slower than all the rest.
const JUDGED: u64 = 16;
const HOME: &str = "https://schema.invalid/published.json";

fn published() -> Value {
    let path = format!("{}/documents/acp.txt", env!("CARGO_MANIFEST_DIR"));
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// The schema, ready to judge lines: parameters by their method, results by the method that they answer. The schema of a whole line
/// allows everything, for methods to come.
struct Judge {
    schemas: Schemas,
    compiled: BTreeMap<String, SchemaIndex>,
    /// The definitions of parameters and of results, by method.
    params: BTreeMap<String, String>,
    results: BTreeMap<String, String>,
}

impl Judge {
    fn new() -> Judge {
        let schema = published();
        let (mut compiler, mut schemas, mut compiled) = (Compiler::new(), Schemas::new(), BTreeMap::new());
        compiler.add_resource(HOME, schema.clone()).unwrap();
        let (mut params, mut results) = (BTreeMap::new(), BTreeMap::new());
        for (name, definition) in schema["$defs"].as_object().unwrap() {
            let Some(method) = definition["x-method"].as_str() else { continue };
            let into = if name.ends_with("Response") { &mut results } else { &mut params };
            into.insert(method.to_owned(), name.clone());
            let index = compiler.compile(&format!("{HOME}#/%24defs/{name}"), &mut schemas).unwrap();
            compiled.insert(name.clone(), index);
        }
        Judge { schemas, compiled, params, results }
    }

    /// Whether a line that was said holds; `asked` is the method that it answers, if it answers one.
    fn holds(&self, line: &Value, asked: &str) -> bool {
        let is =
            |definition: &str, value: &Value| self.schemas.validate(value, self.compiled[definition]).is_ok();
        match (line["method"].as_str(), line.get("result"), line.get("error")) {
            (Some(method), ..) => {
                self.params.get(method).is_none_or(|definition| is(definition, &line["params"]))
            }
            (None, Some(result), None) => is(&self.results[asked], result),
            (None, None, Some(error)) => error["code"].is_i64() && error["message"].is_string(),
            _ => false,
        }
    }
}

/// Every scalar of a value with the way to it; null is as good as absent.
fn leaves(value: &Value, way: &mut String, found: &mut Vec<(String, Value)>) {
    let length = way.len();
    match value {
        Value::Null => {}
        Value::Array(items) => {
            for (at, item) in items.iter().enumerate() {
                way.push_str(&format!("/{at}"));
                leaves(item, way, found);
                way.truncate(length);
            }
        }
        Value::Object(members) => {
            for (name, member) in members {
                way.push('/');
                way.push_str(&name.replace('~', "~0").replace('/', "~1"));
                leaves(member, way, found);
                way.truncate(length);
            }
        }
        scalar => found.push((way.clone(), scalar.clone())),
    }
}

fn same(one: &Value, other: &Value) -> bool {
    one == other || one.as_f64().is_some() && one.as_f64() == other.as_f64()
}

/// Reads a value as one of our types and writes it again: nothing may be lost, whoever knows it.
fn through<T: DeserializeOwned + Serialize>(made: &Value) -> Result<(), String> {
    let read: T = serde_json::from_str(&made.to_string()).map_err(|why| format!("{why}: {made}"))?;
    let again = serde_json::to_value(&read).map_err(|why| format!("{why}: {made}"))?;
    let (mut way, mut found) = (String::new(), Vec::new());
    leaves(made, &mut way, &mut found);
    match found.iter().find(|(way, value)| !again.pointer(way).is_some_and(|there| same(there, value))) {
        None => Ok(()),
        Some((way, value)) => Err(format!("{value} at {way} is lost\n{made}\n{again}")),
    }
}

type Through = fn(&Value) -> Result<(), String>;

/// Every type that stands in a line, by the schema's name.
const TYPES: &[(&str, Through)] = &[
    ("InitializeRequest", through::<wire::InitializeParams>),
    ("InitializeResponse", through::<wire::InitializeResult>),
    ("AuthenticateRequest", through::<wire::AuthenticateParams>),
    ("AuthenticateResponse", through::<wire::Nothing>),
    ("LogoutRequest", through::<wire::LogoutParams>),
    ("NewSessionRequest", through::<wire::NewSessionParams>),
    ("NewSessionResponse", through::<wire::NewSessionResult>),
    ("LoadSessionRequest", through::<wire::LoadSessionParams>),
    ("LoadSessionResponse", through::<wire::SessionSetup>),
    ("ResumeSessionRequest", through::<wire::ResumeSessionParams>),
    ("ResumeSessionResponse", through::<wire::SessionSetup>),
    ("ListSessionsRequest", through::<wire::ListSessionsParams>),
    ("ListSessionsResponse", through::<wire::ListSessionsResult>),
    ("CloseSessionRequest", through::<wire::CloseSessionParams>),
    ("DeleteSessionRequest", through::<wire::DeleteSessionParams>),
    ("PromptRequest", through::<wire::PromptParams>),
    ("PromptResponse", through::<wire::PromptResult>),
    ("SetSessionModeRequest", through::<wire::SetModeParams>),
    ("SetSessionConfigOptionRequest", through::<wire::SetConfigOptionParams>),
    ("SetSessionConfigOptionResponse", through::<wire::SetConfigOptionResult>),
    ("CancelNotification", through::<wire::CancelParams>),
    ("SessionNotification", through::<wire::SessionNotification>),
    ("RequestPermissionRequest", through::<wire::RequestPermissionParams>),
    ("RequestPermissionResponse", through::<wire::RequestPermissionResult>),
    ("CreateElicitationRequest", through::<wire::CreateElicitationParams>),
    ("CreateElicitationResponse", through::<wire::CreateElicitationResult>),
    ("CompleteElicitationNotification", through::<wire::CompleteElicitationParams>),
    ("ReadTextFileRequest", through::<wire::ReadTextFileParams>),
    ("ReadTextFileResponse", through::<wire::ReadTextFileResult>),
    ("WriteTextFileRequest", through::<wire::WriteTextFileParams>),
    ("CreateTerminalRequest", through::<wire::CreateTerminalParams>),
    ("CreateTerminalResponse", through::<wire::CreateTerminalResult>),
    ("TerminalOutputRequest", through::<wire::TerminalOutputParams>),
    ("TerminalOutputResponse", through::<wire::TerminalOutputResult>),
    ("WaitForTerminalExitRequest", through::<wire::WaitForExitParams>),
    ("WaitForTerminalExitResponse", through::<wire::ExitStatus>),
    ("KillTerminalRequest", through::<wire::KillTerminalParams>),
    ("ReleaseTerminalRequest", through::<wire::ReleaseTerminalParams>),
];

/// A few of all that is made, for each of several tests at a time.
fn types_come_out_again(part: usize, parts: usize) {
    let schema = published();
    for (name, through) in TYPES.iter().skip(part).step_by(parts) {
        let mut maker = Maker::new(&schema, name);
        // What a request is answered with is read by the same types, in fewer shapes.
        let lines = if name.ends_with("Response") { lines() / 10 } else { lines() };
        for number in 0..lines {
            let made = maker.make(name);
            if let Err(why) = through(&made) {
                panic!("{name}, the {number}th: {why}");
            }
        }
        assert!(maker.strewn > lines / 20, "{name}: members that nobody knows were hardly there");
    }
}

#[test]
fn what_is_made_from_the_schema_comes_out_of_our_types_again() {
    types_come_out_again(0, 2);
}

#[test]
fn what_is_made_from_the_schema_comes_out_of_our_types_again_too() {
    types_come_out_again(1, 2);
}

#[test]
fn every_method_of_the_schema_has_its_types() {
    let schema = published();
    let mut missing = Vec::new();
    for (name, definition) in schema["$defs"].as_object().unwrap() {
        let ours = TYPES.iter().any(|(known, _)| known == name);
        // A result that says nothing is one type for all; what takes a request back has a type without room for more.
        let nothing = definition["properties"]
            .as_object()
            .is_none_or(|members| members.keys().all(|name| name == "_meta"));
        if definition.get("x-method").is_some() && !ours && !nothing && name != "CancelRequestNotification" {
            missing.push(name.as_str());
        }
    }
    assert!(missing.is_empty(), "{missing:?}");
}

/// The definitions of parameters, by method, of one side.
fn methods(schema: &Value, side: &str) -> Vec<(String, String)> {
    let all = schema["$defs"].as_object().unwrap().iter().filter_map(|(name, definition)| {
        let is_params = name.ends_with("Request") || name.ends_with("Notification");
        let method = definition["x-method"].as_str().filter(|_| is_params && definition["x-side"] == side)?;
        Some((method.to_owned(), name.clone()))
    });
    all.collect()
}

/// A line with made parameters. Sessions are mostly the one that is there.
fn line(maker: &mut Maker<'_>, method: &str, params: &str, session: &str, id: u64) -> Value {
    let mut made = maker.make(params);
    if maker.chance(4, 5) && made.get("sessionId").is_some() {
        made["sessionId"] = json!(session);
    }
    let mut line = json!({"jsonrpc":"2.0","method":method,"params":made});
    if params.ends_with("Request") {
        line["id"] = json!(id);
    }
    line
}

struct Runtime {
    role: AcpRuntime,
    state: State,
    session: SessionId,
    effects: Vec<RuntimeEffect>,
}

impl Runtime {
    fn new() -> Runtime {
        let session = SessionId::parse("sess-0001").unwrap();
        let mut runtime =
            Runtime { role: AcpRuntime::new(), state: State::new(), session, effects: Vec::new() };
        runtime.call(0, |role, cx, _| role.open(cx, &Greeting::default()));
        runtime
    }

    fn call(&mut self, now: u64, act: impl FnOnce(&mut AcpRuntime, &mut roles::RuntimeCx<'_>, View<'_>)) {
        let board = Board::default();
        let view = View { session: &self.session, state: &self.state, board: &board, current: true };
        let mut cx = Cx { now: Millis(now), effects: &mut self.effects };
        act(&mut self.role, &mut cx, view);
    }

    /// What was said and wanted since the last look.
    fn take(&mut self) -> (Vec<Value>, Vec<(Ticket, Command)>) {
        let (mut lines, mut commands) = (Vec::new(), Vec::new());
        for effect in std::mem::take(&mut self.effects) {
            match effect {
                RuntimeEffect::Command { ticket, command, .. } => commands.push((ticket, command)),
                RuntimeEffect::Link(LinkEffect::Send { line, .. }) => {
                    lines.push(serde_json::from_str(&line).unwrap());
                }
                RuntimeEffect::Link(LinkEffect::Close(reason)) => panic!("closed: {reason:?}"),
                RuntimeEffect::Link(_)
                | RuntimeEffect::FileDone { .. }
                | RuntimeEffect::Servers { .. }
                | RuntimeEffect::CannotAnswer { .. }
                | RuntimeEffect::WatchFleet { .. }
                | RuntimeEffect::Keep { .. } => {}
            }
        }
        (lines, commands)
    }
}

/// What the hub says to a command: sessions and lists are there, everything else is refused.
fn receipt(command: &Command, session: &SessionId) -> Result<Receipt, Refusal> {
    use domain::command::{LibraryCommand, ListCommand};
    match command {
        Command::Library(LibraryCommand::New { .. } | LibraryCommand::Open { .. }) => {
            Ok(Receipt::Session { session: SessionSummary::new(session.clone()), parent: None })
        }
        Command::Library(LibraryCommand::List { .. }) => {
            Ok(Receipt::Sessions(vec![SessionSummary::new(session.clone())]))
        }
        Command::List(ListCommand::Skills { .. }) => Ok(Receipt::Skills(Default::default())),
        Command::Session(_) => Ok(Receipt::Done),
        _ => Err(Refusal::new(RefusalKind::Internal, "not in this test")),
    }
}

/// What an agent of ours serves; a runtime that cannot do one of them says so by its capabilities.
const SERVED: &[&str] = &[
    "initialize",
    "authenticate",
    "logout",
    "session/new",
    "session/load",
    "session/resume",
    "session/list",
    "session/close",
    "session/delete",
    "session/prompt",
    "session/set_mode",
    "session/set_config_option",
    "session/set_model",
    "session/fork",
    "session/set_title",
    "_session/steering",
];
/// Of drafts and of the other side; none is in the stable schema as an agent's.
const NOT_OURS: &[&str] =
    &["session/archive", "session/status", "auth/status", "providers/list", "mcp/message", "_someone/else"];

#[test]
fn every_method_of_the_schema_is_served_or_refused_by_its_name_and_never_by_silence() {
    let schema = published();
    let mut all: Vec<String> = methods(&schema, "agent").into_iter().map(|(method, _)| method).collect();
    // A client that mixes up the sides, and one that is ahead of the schema.
    all.extend(methods(&schema, "client").into_iter().map(|(method, _)| method));
    all.extend(NOT_OURS.iter().chain(SERVED).map(|method| (*method).to_owned()));
    assert!(all.len() > 30, "{all:?}");
    for method in all {
        let mut runtime = Runtime::new();
        let line = json!({"jsonrpc":"2.0","id":7,"method":method,"params":{}}).to_string();
        runtime.call(0, |role, cx, _| role.line(cx, Lane::MAIN, Line::Text(line)));
        let (mut said, mut commands) = runtime.take();
        while let Some((ticket, command)) = commands.pop() {
            let with = receipt(&command, &runtime.session);
            runtime.call(0, |role, cx, view| role.settled(cx, Some(view), ticket, with));
            let (more, wanted) = runtime.take();
            said.extend(more);
            commands.extend(wanted);
        }
        let answers: Vec<&Value> = said.iter().filter(|line| line["id"] == 7).collect();
        assert_eq!(answers.len(), 1, "{method}: {said:?}");
        let refused = answers[0]["error"]["code"] == -32601;
        assert_eq!(refused, !SERVED.contains(&method.as_str()), "{method}: {}", answers[0]);
    }
}

#[test]
fn what_clients_may_say_is_answered_once_and_every_answer_is_of_the_schema() {
    let (schema, judge) = (published(), Judge::new());
    for (method, params) in methods(&schema, "agent") {
        let mut runtime = Runtime::new();
        let mut maker = Maker::new(&schema, &method);
        let mut answered: BTreeMap<u64, u64> = BTreeMap::new();
        for id in 0..lines() {
            let line = line(&mut maker, &method, &params, "sess-0001", id);
            // The clock goes on, so that nobody asks too much at once.
            let now = id * 100;
            runtime.call(now, |role, cx, _| role.line(cx, Lane::MAIN, Line::Text(line.to_string())));
            let mut rounds = 0;
            loop {
                let (lines, commands) = runtime.take();
                for said in lines {
                    let judged = id % JUDGED != 0 || judge.holds(&said, &method);
                    assert!(judged, "{line}\n{said}");
                    if let Some(of) =
                        said.get("id").and_then(Value::as_u64).filter(|_| said.get("method").is_none())
                    {
                        *answered.entry(of).or_default() += 1;
                    }
                }
                if commands.is_empty() {
                    break;
                }
                for (ticket, command) in commands {
                    let with = receipt(&command, &runtime.session);
                    if matches!(with, Ok(Receipt::Session { .. })) {
                        runtime.call(now, |role, cx, view| role.attached(cx, view));
                    }
                    runtime.call(now, |role, cx, view| role.settled(cx, Some(view), ticket, with));
                }
                rounds += 1;
                assert!(rounds < 20, "it never comes to rest: {line}");
            }
            if line.get("id").is_some() {
                assert_eq!(answered.get(&id), Some(&1), "{line}");
            }
        }
    }
}

struct Ui {
    role: AcpUi,
    canon: Canon,
    state: State,
    now: u64,
}

/// What came of a line: lines that were said, and whether it was noticed at all.
struct Heard {
    lines: Vec<Value>,
    noticed: bool,
}

impl Ui {
    fn new() -> Ui {
        let (role, canon) = (AcpUi::new(), Canon::new(Ids::default()));
        let mut ui = Ui { role, canon, state: State::new(), now: 0 };
        let hello = Hello { cwd: "/w".to_owned(), ..Hello::default() };
        ui.call(|role, cx, _| role.open(cx, &hello));
        ui.hear(&json!({"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1}}));
        ui.hear(&json!({"jsonrpc":"2.0","id":2,"result":{"sessionId":"sess-0001"}}));
        ui
    }

    fn call(&mut self, act: impl FnOnce(&mut AcpUi, &mut roles::UiCx<'_>, Seen<'_>)) -> Heard {
        self.now += 100;
        let mut effects = Vec::new();
        let names: Names = self.canon.names().clone();
        let mut cx = Cx { now: Millis(self.now), effects: &mut effects };
        act(&mut self.role, &mut cx, Seen { state: &self.state, names: &names });
        let mut heard = Heard { lines: Vec::new(), noticed: !effects.is_empty() };
        for effect in effects {
            match effect {
                UiEffect::Link(LinkEffect::Send { line, .. }) => {
                    heard.lines.push(serde_json::from_str(&line).unwrap());
                }
                UiEffect::Link(LinkEffect::Close(reason)) => panic!("closed: {reason:?}"),
                UiEffect::Fact(fact) => {
                    for body in self.canon.take(&self.state, Millis(self.now), fact) {
                        self.state.apply(Millis(self.now), &body).unwrap();
                    }
                }
                _ => {}
            }
        }
        heard
    }

    fn hear(&mut self, line: &Value) -> Heard {
        let text = line.to_string();
        self.call(|role, cx, seen| role.line(cx, seen, Lane::MAIN, Line::Text(text)))
    }
}

/// Updates that change what we know and nothing that is seen at once.
const QUIET: &[&str] = &[
    "available_commands_update",
    "config_option_update",
    "current_mode_update",
    "session_info_update",
    "compaction_summary_chunk",
    "tool_call",
    "tool_call_update",
    "user_message_chunk",
];

#[test]
fn what_agents_may_say_is_heard_and_every_answer_is_of_the_schema() {
    let (schema, judge) = (published(), Judge::new());
    for (method, params) in methods(&schema, "client") {
        let mut maker = Maker::new(&schema, &method);
        let mut ui = Ui::new();
        for id in 0..lines() {
            if id % 500 == 0 {
                ui = Ui::new();
            }
            let line = line(&mut maker, &method, &params, "sess-0001", id);
            let heard = ui.hear(&line);
            for said in &heard.lines {
                let judged = id % JUDGED != 0 || judge.holds(said, &method);
                assert!(judged, "{line}\n{said}");
            }
            let kind =
                line.pointer("/params/update/sessionUpdate").and_then(Value::as_str).unwrap_or_default();
            let elsewhere = line.pointer("/params/sessionId").is_some_and(|session| session != "sess-0001");
            assert!(
                heard.noticed || QUIET.contains(&kind) || elsewhere || method == "elicitation/complete",
                "lost: {line}"
            );
            if line.get("id").is_some() {
                let answered = heard.lines.iter().any(|said| said.get("id") == line.get("id"));
                let asked = heard.noticed && !answered;
                assert!(answered || asked, "never answered: {line}");
            }
        }
    }
}
