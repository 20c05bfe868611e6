//! What runs ends with the UI that wanted it: by its close, its quit, or because it is gone; on every wire, and never while somebody
//! else looks on.

use crate::bench;
use crate::talk::Talk;
use dialects::Dialect;
use domain::command::{Command, SessionCommand, Target};
use domain::event::{Body, Event, MessageEvent};
use hub::Hub;
use roles::Lane;
use std::time::Duration;
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};

/// A run that nothing but a stop ends.
const SCRIPT: &str = r#"model text "Looking" | pause forever"#;
/// How long a stop may take on the test's clock: a UI that might still listen is waited for.
const SOON: Duration = Duration::from_secs(60);

/// How long it may take where the UI has said so.
const AT_ONCE: Duration = Duration::from_secs(1);

/// How often it is looked whether a UI is gone.
const LOOK: Duration = Duration::from_secs(1);

/// A UI of ours in front of a runtime of ours, with a wire between them on which a run is under way.
struct Bridge {
    runtime: Hub,
    front: Hub,
    talk: Talk,
    place: TempDir,
}

fn speaks(event: &Event) -> bool {
    matches!(event.body, Body::Message(MessageEvent::Delta { .. } | MessageEvent::PartAdded { .. }))
}

async fn running(dialect: Dialect) -> Bridge {
    let place = bench::workplace();
    let runtime = bench::runtime(SCRIPT, place.path());
    let lanes = bench::lanes(dialect);
    let ends = bench::serve(&runtime, bench::guest(dialect, place.path(), Vec::new()), &lanes).await;
    let front = bench::front(dialect, bench::wire(&lanes, ends));
    let mut talk = Talk::start(&front).await;
    talk.until_connected().await;
    talk.ask("go").await;
    talk.until(speaks).await;
    Bridge { runtime, front, talk, place }
}

/// Whether everything that ran ends by itself.
async fn ends(runtime: &Hub) -> bool {
    tokio::time::timeout(SOON, runtime.idle()).await.is_ok()
}

fn play(scene: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build();
    let runtime = runtime.expect("a runtime");
    runtime.block_on(scene);
    runtime.shutdown_background();
}

#[test]
fn closing_a_session_stops_the_run_that_nobody_else_wanted_on_every_wire() {
    // asst has no word by which a runtime behind a bridge could be stopped.
    for dialect in dialects::ALL.iter().filter(|dialect| dialect.name() != "asst") {
        play(async {
            let Bridge { runtime, mut talk, front: _front, place: _place } = running(*dialect).await;
            let close = Command::Session(SessionCommand::Close);
            talk.settled(Target::Current, close).await.expect("closed");
            assert!(ends(&runtime).await, "{dialect}: it goes on and nobody sees it");
        });
    }
}

#[test]
fn a_ui_that_is_gone_stops_its_run_unless_it_comes_back_by_itself() {
    for dialect in dialects::ALL {
        play(async {
            let Bridge { runtime, front, talk, place: _place } = running(*dialect).await;
            drop(talk);
            front.stop().await;
            let comes_back = dialect.runtime_role().comes_back();
            assert_eq!(ends(&runtime).await, !comes_back, "{dialect}");
        });
    }
}

#[test]
fn who_else_sees_the_session_keeps_its_run_alive() {
    // An editor that is closed stops its own prompts, whoever looks on.
    for dialect in dialects::ALL.iter().filter(|dialect| dialect.name() != "acp") {
        play(async {
            let Bridge { runtime, front, talk, place: _place } = running(*dialect).await;
            let present = runtime.present().await.expect("the hub runs");
            let session = present.into_iter().find(|session| session.running).expect("it runs").id;
            let mut page = Talk::start(&runtime).await;
            page.open(&session).await.expect("opened");
            drop(talk);
            front.stop().await;
            // The test's clock passes while everybody waits.
            let seen = loop {
                tokio::time::sleep(LOOK).await;
                let present = runtime.present().await.expect("the hub runs");
                let seen = present.into_iter().find(|open| open.id == session).expect("it is open");
                if seen.uis.len() == 1 {
                    break seen;
                }
            };
            assert!(seen.running, "{dialect}: the page looks on");
        });
    }
}

/// What a UI says on its wire to begin a run and to end its session, with `SESSION` for the name that the first line with `"KEY":` gave.
const GOODBYES: &[(&str, &str, &[&str], &str)] = &[
    (
        "lemon",
        "session_id",
        &[r#"{"type":"prompt","text":"go"}"#],
        r#"{"type":"close_session","session_id":"SESSION"}"#,
    ),
    ("lemon", "session_id", &[r#"{"type":"prompt","text":"go"}"#], r#"{"type":"quit"}"#),
    (
        "acp",
        "sessionId",
        &[
            r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}"#,
            r#"{"jsonrpc":"2.0","id":2,"method":"session/new","params":{"cwd":"PLACE","mcpServers":[]}}"#,
            r#"{"jsonrpc":"2.0","id":3,"method":"session/prompt","params":{"sessionId":"SESSION","prompt":[{"type":"text","text":"go"}]}}"#,
        ],
        r#"{"jsonrpc":"2.0","id":4,"method":"session/close","params":{"sessionId":"SESSION"}}"#,
    ),
];

#[test]
fn the_words_of_a_wire_for_an_end_stop_what_runs() {
    for (name, key, lines, goodbye) in GOODBYES {
        play(async {
            let dialect = dialects::named(name).expect("a dialect");
            let place = bench::workplace();
            let runtime = bench::runtime(SCRIPT, place.path());
            let guest = bench::guest(dialect, place.path(), Vec::new());
            let end = bench::serve(&runtime, guest, &[Lane::MAIN]).await.remove(0);
            let (read, mut out) = tokio::io::split(end);
            let mut said = BufReader::new(read).lines();
            let mut session = String::new();
            let mut lines = lines.iter().peekable();
            loop {
                // A line that names the session waits until it has a name.
                while let Some(line) = lines.next_if(|line| !line.contains("SESSION") || !session.is_empty())
                {
                    let place = place.path().display().to_string();
                    let line = line.replace("SESSION", &session).replace("PLACE", &place);
                    out.write_all(format!("{line}\n").as_bytes()).await.expect("the hub listens");
                }
                let heard = said.next_line().await.expect("a line").expect("the hub stays");
                if let Some((_, rest)) = heard.split_once(&format!(r#""{key}":""#)) {
                    session = rest.split('"').next().unwrap_or_default().to_owned();
                }
                if heard.contains("Looking") {
                    break;
                }
            }
            let goodbye = goodbye.replace("SESSION", &session);
            out.write_all(format!("{goodbye}\n").as_bytes()).await.expect("the hub listens");
            let ended = tokio::time::timeout(AT_ONCE, runtime.idle()).await;
            assert!(ended.is_ok(), "{name}: {goodbye}: it goes on until the link is gone");
        });
    }
}
