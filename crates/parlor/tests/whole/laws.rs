//! The laws of a bridge, held by every pair of wires: what a UI may say by the documents' own examples is said through a bridge, and
//! each of its lines causes a bounded number of lines to the runtime and is answered.
//!
//! The examples are those of `examples.rs`. What a runtime says by them is in `laws/heard.rs`.

mod heard;

use crate::bench;
use crate::examples::{Example, examples};
use dialects::Dialect;
use domain::command::{
    Command, ExportFormat, LibraryCommand, ListCommand, PromptOptions, QueueCommand, RefusalKind, RunCommand,
    Target,
};
use domain::content::Input;
use domain::port::{News, Ticket};
use domain::queue::{Mode, QueueKind};
use hub::core::Standing;
use link::{Watcher, Way};
use models::scripted::Scripted;
use roles::{Answers, START_TIMEOUT};
use serde_json::Value;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, WriteHalf};

/// Most lines to a runtime that one line of a UI may cause.
const MAX_CAUSED: usize = 4;
/// How long an answer may take. A model of these tests takes no time.
const ANSWERED_WITHIN: Duration = Duration::from_secs(2);
/// Answers that the model has ready: more than there are examples for one wire.
const ANSWERS: usize = 80;
/// Examples of any wire of which the last is a prompt or comes after one.
const UP_TO_A_PROMPT: usize = 3;
/// Commands of a wire that has no word for their success.
const WITHOUT_ANSWER: &[&str] = &["abort", "reset", "quit"];
/// What commands of a wire without ids are answered with, where not by an error.
const ANSWERED_BY: &[(&str, &str)] =
    &[("prompt", "event"), ("ping", "pong"), ("save", "save_result"), ("stats", "stats"), ("debug", "debug")];
/// Lists that a wire has in parts, models by provider and sessions by whether they run: together they are one command.
const IN_PARTS: &[&[&str]] = &[&["model.list"], &["list_sessions", "list_running_sessions"]];

/// Our runtime with a model that always answers, and the ends of a link to it.
async fn served(b: Dialect, place: &Path) -> (hub::Hub, Vec<DuplexStream>) {
    let script = "model text \"Well.\"\nmodel step\n".repeat(ANSWERS);
    let behind = bench::runtime_of(Arc::new(Scripted::parse(&script).expect("a script")), place);
    let ends = bench::serve(&behind, bench::guest(b, place, Vec::new()), &bench::lanes(b)).await;
    (behind, ends)
}

/// A UI that says lines on wire `a`, a bridge, and our runtime on wire `b`.
struct Bridged {
    says: WriteHalf<DuplexStream>,
    heard: Arc<Mutex<Vec<String>>>,
    /// Lines to the runtime.
    caused: Arc<Mutex<Vec<String>>>,
    session: String,
    /// What the bridge wrote down.
    logged: Arc<Mutex<Vec<String>>>,
    hubs: Vec<hub::Hub>,
}

impl Bridged {
    async fn new(a: Dialect, b: Dialect, place: &Path) -> Bridged {
        let (behind, ends) = served(b, place).await;
        let mut bridged = Bridged::between(a, b, ends, place).await;
        bridged.hubs.insert(0, behind);
        // The greetings.
        bridged.quiet(ANSWERED_WITHIN).await;
        bridged
    }

    /// A UI on wire `a` and a bridge to whatever is at the other ends, which should speak wire `b`.
    async fn between(a: Dialect, b: Dialect, ends: Vec<DuplexStream>, place: &Path) -> Bridged {
        let caused = Arc::new(Mutex::new(Vec::new()));
        let kept = caused.clone();
        let keeping = Watcher::new(move |way, _, line| {
            if way == Way::Out {
                kept.lock().expect("whole").push(line.to_owned());
            }
        });
        let link = bench::wire(&bench::lanes(b), ends).watched(&keeping);
        let logged = Arc::new(Mutex::new(Vec::new()));
        let writes = Arc::clone(&logged);
        let log: hub::Log = Arc::new(move |line: &str| writes.lock().expect("whole").push(line.to_owned()));
        let bridge = bench::front_logged(b, link, place, log);
        let mut guest = bench::guest(a, place, Vec::new());
        (guest.greeting.follows, guest.greeting.model) = (true, None);
        let ends = bench::serve(&bridge, guest, &bench::lanes(a)).await;
        let heard = Arc::new(Mutex::new(Vec::new()));
        let mut says = None;
        for end in ends {
            let (read, write) = tokio::io::split(end);
            let heard = heard.clone();
            tokio::spawn(async move {
                let mut lines = BufReader::new(read).lines();
                while let Ok(Some(line)) = lines.next_line().await {
                    heard.lock().expect("whole").push(line);
                }
            });
            // Events come on the second lane, and nothing is said there.
            says.get_or_insert(write);
        }
        let says = says.expect("a lane");
        Bridged { says, heard, caused, session: "none".to_owned(), logged, hubs: vec![bridge] }
    }

    /// What comes and what is caused until nothing more can be on its way.
    async fn quiet(&mut self, after: Duration) -> (Vec<Value>, Vec<String>) {
        tokio::time::sleep(after).await;
        let lines = std::mem::take(&mut *self.heard.lock().expect("whole"));
        let heard: Vec<Value> =
            lines.iter().map(|line| serde_json::from_str(line).expect("JSON on every wire")).collect();
        if let Some(session) = heard.iter().rev().find_map(session_in) {
            self.session = session;
        }
        let mut caused = std::mem::take(&mut *self.caused.lock().expect("whole"));
        for parts in IN_PARTS {
            let is_part = |line: &str| parts.iter().any(|part| line.contains(&format!(r#""{part}""#)));
            let mut is_whole = false;
            caused.retain(|line| !is_part(line) || !std::mem::replace(&mut is_whole, true));
        }
        (heard, caused)
    }

    async fn say(&mut self, line: &str, place: &Path) -> (Value, Vec<Value>, Vec<String>) {
        let folder = place.canonicalize().expect("a place").display().to_string();
        let line = line.replace("{place}", &folder).replace("$session", &self.session);
        self.says.write_all(format!("{line}\n").as_bytes()).await.expect("the bridge is there");
        let (heard, caused) = self.quiet(ANSWERED_WITHIN).await;
        (serde_json::from_str(&line).expect("an example"), heard, caused)
    }
}

/// The session that a line tells of.
fn session_in(line: &Value) -> Option<String> {
    match line {
        Value::Object(members) => members.iter().find_map(|(name, value)| match (name.as_str(), value) {
            ("session_id" | "sessionId" | "session", Value::String(id)) if !id.is_empty() => Some(id.clone()),
            (_, value) => session_in(value),
        }),
        Value::Array(values) => values.iter().find_map(session_in),
        _ => None,
    }
}

/// Whether what was said was answered, refused or visibly begun; what wants no answer always is.
fn is_answered(said: &Value, heard: &[Value]) -> bool {
    let is_reply = said.get("method").is_none() && said.get("result").is_some();
    let is_notice = said.get("method").is_some() && said.get("id").is_none();
    let is_silent = said["type"].as_str().is_some_and(|kind| WITHOUT_ANSWER.contains(&kind));
    if is_reply || is_notice || is_silent {
        return true;
    }
    if let Some(id) = said.get("id") {
        return heard.iter().any(|line| line.get("id") == Some(id) && line.get("method").is_none());
    }
    match said["command"].get("ticket") {
        Some(ticket) => heard.iter().any(|line| line["settled"]["ticket"] == *ticket),
        None => heard.iter().any(|line| is_answer_to(said, line)),
    }
}

/// Whether a line answers one of a wire on which answers name nothing.
fn is_answer_to(said: &Value, line: &Value) -> bool {
    let by = ANSWERED_BY.iter().find(|(kind, _)| said["type"] == *kind);
    line["type"] == "error" || by.is_none_or(|(_, answer)| line["type"] == *answer)
}

/// Plays something over every pair, and tells which broke.
fn over_every_pair(play: impl AsyncFn(Dialect, Dialect, &mut Vec<String>)) {
    let mut broken = Vec::new();
    for a in dialects::ALL {
        for b in dialects::ALL {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .start_paused(true)
                .build()
                .expect("a runtime");
            runtime.block_on(play(*a, *b, &mut broken));
            runtime.shutdown_background();
        }
    }
    assert!(broken.is_empty(), "{} times: {broken:#?}", broken.len());
}

#[test]
fn every_example_of_every_document_causes_little_and_is_answered_over_every_pair() {
    over_every_pair(async |a, b, broken| {
        let place = bench::workplace();
        let mut bridged = Bridged::new(a, b, place.path()).await;
        for Example { section, line } in examples(a) {
            let (said, heard, mut caused) = bridged.say(&line, place.path()).await;
            if caused.len() > MAX_CAUSED {
                caused.truncate(2 * MAX_CAUSED);
                broken.push(format!("{a} on {b}: {section}: too many lines to the runtime: {caused:#?}"));
            }
            if !is_answered(&said, &heard) {
                broken.push(format!("{a} on {b}: {section}: no answer to {said}: {heard:?}"));
            }
        }
    });
}

#[test]
fn a_conversation_that_the_ui_named_is_begun_and_gone_on_with_over_every_runtime() {
    over_every_pair(async |a, b, broken| {
        if a != dialects::asst::DIALECT {
            return;
        }
        let place = bench::workplace();
        let mut bridged = Bridged::new(a, b, place.path()).await;
        let named = || examples(a).into_iter().filter(|example| example.line.contains("conv-456"));
        // Begun, and gone on with by the same name.
        for Example { line, .. } in named().chain(named()) {
            let (said, heard, _) = bridged.say(&line, place.path()).await;
            let is_done = heard.iter().any(|line| line["id"] == said["id"] && line["type"] == "done");
            if !is_done {
                broken.push(format!("{a} on {b}: not done: {heard:?}"));
            }
        }
        let sessions = bridged.hubs[0].present().await.expect("the runtime is there");
        let spoken = sessions.iter().filter(|session| session.title.contains("can you help me"));
        if spoken.count() != 1 {
            broken.push(format!("{a} on {b}: not one session has it: {sessions:?}"));
        }
    });
}

/// What becomes of commands that are given at once to a hub in front of a runtime: by their order, whether each was taken, or why not. The
/// runtime is there before them, or comes after them.
async fn given_to(b: Dialect, is_early: bool) -> Vec<(Command, Option<Result<(), RefusalKind>>)> {
    let place = bench::workplace();
    let script = "model text \"Well\" | pause 1s | text \".\"\nmodel step\n".repeat(ANSWERS);
    let behind = bench::runtime_of(Arc::new(Scripted::parse(&script).expect("a script")), place.path());
    let lanes = bench::lanes(b);
    let (near, far): (Vec<_>, Vec<_>) = lanes.iter().map(|_| tokio::io::duplex(1 << 20)).unzip();
    let front = bench::front_in(b, bench::wire(&lanes, near), place.path());
    let mut comes = Some(async {
        let ends = bench::serve(&behind, bench::guest(b, place.path(), Vec::new()), &lanes).await;
        for (mut end, mut far) in ends.into_iter().zip(far) {
            tokio::spawn(async move { tokio::io::copy_bidirectional(&mut end, &mut far).await });
        }
        tokio::time::sleep(ANSWERED_WITHIN).await;
    });
    if let Some(comes) = comes.take_if(|_| !is_early) {
        comes.await;
    }
    let mut ui = front.attach("early", Standing::Controller, Answers::ALL, None).await.expect("the hub runs");
    let queued = |kind| QueueCommand::Add { kind, input: Input::text("more") };
    let said = [
        Command::List(ListCommand::Models { provider: None }),
        Command::Run(RunCommand::Prompt { input: Input::text("hi"), options: PromptOptions::default() }),
        Command::Queue(queued(QueueKind::Steer)),
        Command::Queue(queued(QueueKind::FollowUp)),
        Command::Queue(QueueCommand::SetMode { kind: QueueKind::Steer, mode: Mode::All }),
        Command::Library(LibraryCommand::Export { session: None, format: ExportFormat::Markdown }),
    ];
    for (ticket, command) in (0..).zip(&said) {
        let given = ui.port.command(Ticket(ticket), Target::Current, command.clone());
        given.await.expect("the hub runs");
    }
    tokio::time::sleep(ANSWERED_WITHIN).await;
    if let Some(comes) = comes {
        comes.await;
    }
    let mut became: Vec<_> = said.into_iter().map(|command| (command, None)).collect();
    while let Ok(Some(news)) = tokio::time::timeout(ANSWERED_WITHIN, ui.news.recv()).await {
        if let News::Settled { ticket: Ticket(at), with } = news {
            became[at as usize].1 = Some(with.map(drop).map_err(|refusal| refusal.kind));
        }
    }
    became
}

#[test]
fn what_is_said_before_the_runtime_greets_gets_the_answer_that_it_would_get_after() {
    over_every_pair(async |a, b, broken| {
        if a != dialects::native::DIALECT {
            return;
        }
        let (early, late) = (given_to(b, true).await, given_to(b, false).await);
        for ((command, early), (_, late)) in early.into_iter().zip(late) {
            if early.is_none() || early != late {
                broken.push(format!("{b}: {command:?}: {early:?} before, {late:?} after"));
            }
        }
    });
}

/// What a UI may say at once with its handshake, without waiting for the answer.
const AT_ONCE: &[(Dialect, &[&str])] = &[
    (
        dialects::acp::DIALECT,
        &[
            r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}"#,
            r#"{"jsonrpc":"2.0","id":2,"method":"session/list","params":{}}"#,
            r#"{"jsonrpc":"2.0","id":3,"method":"session/load","params":{"sessionId":"sess-1","cwd":"{place}","mcpServers":[]}}"#,
        ],
    ),
    (
        dialects::codelia::DIALECT,
        &[
            r#"{"jsonrpc":"2.0","id":"1","method":"initialize","params":{"protocol_version":"0","client":{"name":"t","version":"0"}}}"#,
            r#"{"jsonrpc":"2.0","id":"2","method":"session.list","params":{}}"#,
            r#"{"jsonrpc":"2.0","id":"3","method":"session.history","params":{"session_id":"sess-1"}}"#,
        ],
    ),
    (
        dialects::openagent::DIALECT,
        &[
            r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocol_version":"1.0","client_info":{"name":"t","version":"0"},"capabilities":[]}}"#,
            r#"{"jsonrpc":"2.0","id":2,"method":"session.list","params":{}}"#,
            r#"{"jsonrpc":"2.0","id":3,"method":"session.load","params":{"session_id":"12345678"}}"#,
        ],
    ),
];

/// The answers to lines that are said at once, before the runtime is there or after, by their id: how it was refused, if so.
async fn answered_to(a: Dialect, b: Dialect, lines: &[&str], is_early: bool) -> Vec<(String, Option<Value>)> {
    let place = bench::workplace();
    let folder = place.path().canonicalize().expect("a place").display().to_string();
    let (near, far): (Vec<_>, Vec<_>) = bench::lanes(b).iter().map(|_| tokio::io::duplex(1 << 20)).unzip();
    let mut bridged = Bridged::between(a, b, near, place.path()).await;
    let mut far = Some(far);
    let mut heard = Vec::new();
    let mut behind = None;
    for says in [is_early, !is_early] {
        if says {
            let lines = lines.join("\n").replace("{place}", &folder);
            bridged.says.write_all(format!("{lines}\n").as_bytes()).await.expect("the bridge is there");
        } else if let Some(far) = far.take() {
            let (hub, ends) = served(b, place.path()).await;
            behind = Some(hub);
            for (mut end, mut far) in ends.into_iter().zip(far) {
                tokio::spawn(async move { tokio::io::copy_bidirectional(&mut end, &mut far).await });
            }
        }
        heard.extend(bridged.quiet(ANSWERED_WITHIN).await.0);
    }
    drop(behind);
    let answers = heard.iter().filter(|line| line.get("method").is_none() && line.get("id").is_some());
    let answers =
        answers.map(|line| (line["id"].to_string(), line.get("error").map(|why| why["code"].clone())));
    let mut answers: Vec<_> = answers.collect();
    answers.sort_by(|one, other| one.0.cmp(&other.0));
    answers
}

#[test]
fn what_a_ui_says_at_once_with_its_handshake_is_answered_as_what_it_says_after() {
    over_every_pair(async |a, b, broken| {
        let Some((_, lines)) = AT_ONCE.iter().find(|(of, _)| *of == a) else { return };
        let (early, late) = (answered_to(a, b, lines, true).await, answered_to(a, b, lines, false).await);
        if early.len() != lines.len() || early != late {
            broken.push(format!("{a} on {b}: {early:?} before the greeting, {late:?} after"));
        }
    });
}

/// What is at the other end of a bridge in place of the runtime that should be there.
#[derive(Debug, Clone, Copy)]
enum Wrong {
    Silent,
    Junk,
    /// A runtime that speaks another wire.
    Speaks(Dialect),
}

/// Wires that have no word for anything before their greeting: what is to be said then goes to the log, which their UIs show.
const ONLY_LOGGED: [Dialect; 4] = [
    dialects::acp::DIALECT,
    dialects::asst::DIALECT,
    dialects::codelia::DIALECT,
    dialects::openagent::DIALECT,
];

#[test]
fn what_comes_in_the_place_of_a_greeting_is_told_at_once_and_a_greeting_still_counts_over_every_pair() {
    const BANNER: &str = "Welcome to runtime 3000!";
    // While the UI is there, or before it comes.
    let play = async |a: Dialect, b: Dialect, broken: &mut Vec<String>, is_early: bool| {
        let place = bench::workplace();
        let (near, far): (Vec<_>, Vec<_>) =
            bench::lanes(b).iter().map(|_| tokio::io::duplex(1 << 20)).unzip();
        let (mut reads, mut writes): (Vec<_>, Vec<_>) = far.into_iter().map(tokio::io::split).unzip();
        let banner = format!("{BANNER}\n");
        if is_early {
            writes[0].write_all(banner.as_bytes()).await.expect("there is room");
        }
        let mut bridged = Bridged::between(a, b, near, place.path()).await;
        let mut greets = examples(a).into_iter();
        // A UI that speaks first has greeted.
        let first = greets.next().expect("an example");
        bridged.says.write_all(format!("{}\n", first.line).as_bytes()).await.expect("the bridge is there");
        if !is_early {
            writes[0].write_all(banner.as_bytes()).await.expect("the bridge is there");
        }
        let (mut heard, _) = bridged.quiet(ANSWERED_WITHIN).await;
        let logged = std::mem::take(&mut *bridged.logged.lock().expect("whole"));
        let in_log = ONLY_LOGGED.contains(&a) && logged.iter().any(|line| line.contains(BANNER));
        if !in_log && !heard.iter().any(|line| line.to_string().contains(BANNER)) {
            broken.push(format!("{a} on {b}: not told: {heard:?}, {logged:?}"));
        }
        if heard.iter().filter(|line| line.to_string().contains(BANNER)).count() > 1 {
            broken.push(format!("{a} on {b}: told twice: {heard:?}"));
        }
        // It was only a word before the greeting.
        let (behind, ends) = served(b, place.path()).await;
        for (end, (read, write)) in ends.into_iter().zip(reads.drain(..).zip(writes.drain(..))) {
            let mut far = tokio::io::join(read, write);
            let mut end = end;
            tokio::spawn(async move { tokio::io::copy_bidirectional(&mut end, &mut far).await });
        }
        heard.extend(bridged.quiet(ANSWERED_WITHIN).await.0);
        let mut unanswered = Vec::new();
        for Example { line, .. } in greets.take(UP_TO_A_PROMPT) {
            let (said, came, _) = bridged.say(&line, place.path()).await;
            heard.extend(came);
            unanswered.push(said);
        }
        unanswered.retain(|said| !is_answered(said, &heard));
        if !unanswered.is_empty() {
            broken.push(format!("{a} on {b}: no answer to {unanswered:?} after a banner: {heard:?}"));
        }
        drop(behind);
    };
    over_every_pair(async |a, b, broken| {
        for is_early in [false, true] {
            play(a, b, broken, is_early).await;
        }
    });
}

/// The wires that a program is said to speak in the place of the one that was meant.
fn speaks_as(line: &str) -> Option<String> {
    let (_, rest) = line.split_once("as a runtime of ")?;
    rest.split_once(" does").map(|(names, _)| names.to_owned())
}

#[test]
fn a_runtime_that_is_none_is_told_to_the_ui_over_every_pair() {
    over_every_pair(async |a, b, broken| {
        let others = dialects::ALL.iter().copied().filter(|c| *c != b && !c.has_event_lane());
        let wrongs = [Wrong::Silent, Wrong::Junk].into_iter().chain(others.map(Wrong::Speaks));
        for wrong in wrongs.filter(|wrong| !(b.has_event_lane() && matches!(wrong, Wrong::Speaks(_)))) {
            let place = bench::workplace();
            let (near, mut far): (Vec<_>, Vec<_>) =
                bench::lanes(b).iter().map(|_| tokio::io::duplex(1 << 20)).unzip();
            let mut bridged = Bridged::between(a, b, near, place.path()).await;
            let mut behind = None;
            match wrong {
                Wrong::Silent => {}
                Wrong::Junk => far[0].write_all(b"junk\n").await.expect("the bridge is there"),
                Wrong::Speaks(c) => {
                    let (hub, ends) = served(c, place.path()).await;
                    behind = Some(hub);
                    for (mut end, mut far) in ends.into_iter().zip(far.drain(..)) {
                        tokio::spawn(async move { tokio::io::copy_bidirectional(&mut end, &mut far).await });
                    }
                }
            }
            let (mut said, mut heard) = (Vec::new(), Vec::new());
            for Example { line, .. } in examples(a).into_iter().take(UP_TO_A_PROMPT) {
                let (line, came, _) = bridged.say(&line, place.path()).await;
                said.push(line);
                heard.extend(came);
                // It is known by what it says, within the time of one answer.
                if let (Wrong::Speaks(c), 1) = (wrong, said.len()) {
                    let logged = bridged.logged.lock().expect("whole").clone();
                    let lines: Vec<String> = heard.iter().map(Value::to_string).chain(logged).collect();
                    let named = lines.iter().find_map(|line| speaks_as(line));
                    // Two that greet by the same method refuse each other's greeting and do not say what they are.
                    let refused = lines.iter().any(|line| line.contains("initialize"));
                    let known = named
                        .as_ref()
                        .map_or(refused, |names| names.contains(c.name()) && !names.contains(b.name()));
                    if !known {
                        broken.push(format!(
                            "{a} on {b}, {wrong:?}: not told what it is: {named:?}: {lines:?}"
                        ));
                    }
                }
            }
            if matches!(wrong, Wrong::Silent | Wrong::Junk) {
                heard.extend(bridged.quiet(START_TIMEOUT).await.0);
            }
            let words = |line: &Value| {
                ["runtime", "agent is gone", "backend is gone"]
                    .iter()
                    .any(|word| line.to_string().contains(word))
            };
            let told = heard.iter().any(words);
            let is_greeting = |line: &Value| {
                let members = ["protocolVersion", "protocol_version", "server_info"];
                let is_result = members.iter().any(|member| line["result"].get(member).is_some());
                is_result || line["type"] == "ready" && line.get("cwd").is_some()
            };
            if matches!(wrong, Wrong::Silent | Wrong::Junk) && heard.iter().any(is_greeting) {
                broken.push(format!("{a} on {b}, {wrong:?}: greeted as if all were well: {heard:?}"));
            }
            let unanswered: Vec<&Value> = said.iter().filter(|said| !is_answered(said, &heard)).collect();
            if !told || !unanswered.is_empty() {
                broken.push(format!(
                    "{a} on {b}, {wrong:?}: told {told}, no answer to {unanswered:?}: {heard:?}"
                ));
            }
            drop((behind, far));
        }
    });
}
