//! What a model had said when its program was killed stands in the past that every wire tells, marked as cut where the wire can say
//! so. It knows the lines of the wires that tell a past; a new one shows it in its own transcripts.
//!
//! The program that is killed is this test binary as a child, with the real hub, agent and store.

use crate::bench;
use crate::crash::stage;
use dialects::Dialect;
use domain::command::{Command, LibraryCommand, PromptOptions, RunCommand, Target};
use domain::content::Input;
use domain::event::{Body, MessageEvent};
use domain::ids::SessionId;
use domain::port::{News, Ticket};
use hub::core::Standing;
use roles::Answers;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::Stdio;
use store::SqliteStore;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, DuplexStream, Lines, ReadHalf, WriteHalf};

const PLACE: &str = "PARLOR_PARTIAL_PLACE";
/// Words that are said before the kill: more than wait in memory before they are written.
const WORDS: usize = 600;
/// A word that is on disk by then, and with it all before.
const KEPT: &str = "word500 ";

/// The program that is killed. Does nothing when run as a test.
#[test]
fn child() {
    let Some(place) = std::env::var_os(PLACE) else { return };
    let place = Path::new(&place);
    let words: Vec<String> = (0..WORDS).map(|word| format!("text \"word{word} \"")).collect();
    let script = format!("model {} | pause 600s\n", words.join(" | "));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let store = SqliteStore::at(&place.join("data")).expect("a store");
        let hub = stage::stack(&script, Box::new(store), place);
        let start = Command::Library(LibraryCommand::New {
            cwd: None,
            title: None,
            id: Some(SessionId::from_number(1)),
        });
        let ui = hub.attach("doomed", Standing::Controller, Answers::ALL, Some(start)).await;
        let mut ui = ui.expect("the hub runs");
        let prompt =
            Command::Run(RunCommand::Prompt { input: Input::text("go"), options: PromptOptions::default() });
        ui.port.command(Ticket(1), Target::Current, prompt).await.expect("the hub runs");
        while let Some(news) = ui.news.recv().await {
            if let News::Happened { event, .. } = news
                && matches!(event.body, Body::Message(MessageEvent::Delta { .. }))
            {
                let mut out = std::io::stdout().lock();
                out.write_all(b"a word\n").and_then(|()| out.flush()).expect("somebody listens");
            }
        }
    });
}

/// Lets the child speak, and kills it in the middle.
fn killed_in_the_middle(place: &Path) {
    let mut command = std::process::Command::new(std::env::current_exe().expect("this program"));
    command.args(["--exact", "partial::child", "--nocapture", "--test-threads=1"]).env(PLACE, place);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().expect("this program starts");
    let lines = BufReader::new(child.stdout.take().expect("its stdout")).lines();
    let heard = lines.map_while(Result::ok).filter(|line| line.ends_with("a word")).take(WORDS).count();
    child.kill().expect("it is ours");
    child.wait().expect("it ends");
    assert_eq!(heard, WORDS, "it spoke to the end before it was killed");
}

/// One end of a wire, as a foreign UI has it.
struct Wire {
    lines: Lines<tokio::io::BufReader<ReadHalf<DuplexStream>>>,
    out: WriteHalf<DuplexStream>,
    /// The other lanes, which only have to stay open.
    _others: Vec<DuplexStream>,
}

impl Wire {
    async fn say(&mut self, line: Value) {
        self.out.write_all(format!("{line}\n").as_bytes()).await.expect("the hub listens");
    }

    /// Reads on to a line that is wanted; gives it and everything before.
    async fn until(&mut self, wanted: impl Fn(&Value) -> bool) -> (Value, Vec<Value>) {
        let mut before = Vec::new();
        loop {
            let line = self.lines.next_line().await.expect("a line").expect("the hub stays");
            let line: Value = serde_json::from_str(&line).expect("JSON");
            if wanted(&line) {
                return (line, before);
            }
            before.push(line);
        }
    }
}

/// The wires whose lines about the past are known here.
const KNOWN: &[&str] = &["native", "codelia", "nous", "lemon", "openagent"];

/// What a wire tells of the past: all its text, and whether it says that the last message was cut.
async fn past(dialect: Dialect, wire: &mut Wire, session: &SessionId) -> (String, Option<bool>) {
    let id = session.as_str();
    let texts = |lines: &[Value]| lines.iter().map(Value::to_string).collect::<Vec<_>>().join("\n");
    match dialect.name() {
        "native" => {
            wire.say(json!({"hello": {"protocol": 1, "session": id}})).await;
            let (line, _) = wire.until(|line| line.get("attached").is_some()).await;
            let cut = line.to_string().contains("\"interrupted\"");
            (line.to_string(), Some(cut))
        }
        "codelia" => {
            let client = json!({"name": "t", "version": "0"});
            let params = json!({"protocol_version": "0", "client": client});
            wire.say(json!({"jsonrpc": "2.0", "id": "1", "method": "initialize", "params": params})).await;
            let params = json!({"session_id": id});
            wire.say(json!({"jsonrpc": "2.0", "id": "2", "method": "session.history", "params": params}))
                .await;
            let (_, told) = wire.until(|line| line["id"] == "2").await;
            // A replay holds events only, and none of them says how a run ended.
            (texts(&told), None)
        }
        "nous" => {
            wire.say(json!({"v": "1", "id": "c1", "type": "get_messages", "payload": {"session_id": id}}))
                .await;
            let (line, _) = wire.until(|line| line["id"] == "c1").await;
            let last = line["payload"]["messages"].as_array().and_then(|all| all.last()).cloned();
            let cut = last.is_some_and(|last| last["partial"] == true);
            (line.to_string(), Some(cut))
        }
        "lemon" => {
            wire.say(json!({"type": "list_sessions"})).await;
            let (line, _) = wire.until(|line| line["type"] == "sessions_list").await;
            let file = line["sessions"][0]["path"].clone();
            wire.say(json!({"type": "start_session", "session_file": file})).await;
            let (_, told) = wire.until(|line| line["event"]["type"] == "agent_end").await;
            let cut = texts(&told).contains("\"stop_reason\":\"aborted\"");
            (texts(&told), Some(cut))
        }
        "openagent" => {
            let params = json!({"protocol_version": "1.0.0", "client_info": {"name": "t", "version": "0"},
                "terminal_size": {"cols": 80, "rows": 24}, "capabilities": []});
            wire.say(json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params})).await;
            let params = json!({"session_id": id});
            wire.say(json!({"jsonrpc": "2.0", "id": 2, "method": "session.load", "params": params})).await;
            let (line, _) = wire.until(|line| line["id"] == 2).await;
            // Its messages have a role, a text and a time.
            (line["result"]["messages"].to_string(), None)
        }
        other => panic!("{other} is not known here"),
    }
}

#[test]
fn words_of_a_killed_run_are_in_the_past_of_every_wire() {
    let place = tempfile::tempdir().expect("a place");
    killed_in_the_middle(place.path());
    let session = SessionId::from_number(1);
    for dialect in KNOWN.iter().map(|name| dialects::named(name).expect("a wire")) {
        // Each finds what the killed program left, and not what another made of it.
        let copy = tempfile::tempdir().expect("a place");
        std::fs::create_dir(copy.path().join("data")).expect("a place");
        for file in std::fs::read_dir(place.path().join("data")).expect("the store") {
            let file = file.expect("a file");
            if file.file_type().expect("a kind").is_file() {
                std::fs::copy(file.path(), copy.path().join("data").join(file.file_name())).expect("a copy");
            }
        }
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let (text, cut) = runtime.block_on(async {
            let store = SqliteStore::at(&copy.path().join("data")).expect("a store");
            let hub = stage::stack("model text \"x\"\n", Box::new(store), place.path());
            let guest = bench::guest(dialect, place.path(), Vec::new());
            let mut ends = bench::serve(&hub, guest, &bench::lanes(dialect)).await;
            let (read, out) = tokio::io::split(ends.remove(0));
            let mut wire = Wire { lines: tokio::io::BufReader::new(read).lines(), out, _others: ends };
            let told = past(dialect, &mut wire, &session).await;
            hub.stop().await;
            told
        });
        runtime.shutdown_background();
        assert!(text.contains(KEPT), "{dialect}: {}", text.chars().take(600).collect::<String>());
        assert_ne!(cut, Some(false), "{dialect}: it does not say that it was cut");
    }
}
