//! A UI on any wire hears of it when what its conversation did to files is taken back somewhere else.

use crate::bench;
use crate::talk::Talk;
use dialects::Dialect;
use domain::command::{Command, FilesCommand, Receipt, Target};
use domain::event::Outcome;
use domain::session::Policy;
use models::scripted::Scripted;
use std::sync::{Arc, Mutex};

const SCRIPT: &str = r#"
model text "I write it." | tool write {"path":"new.txt","content":"new"}
model step
model text "Written."
model step
model text "And on."
"#;

const TOLD: &str = "Undid 1 file change";

/// How a wire hears of what happens while no request of its own is under way.
enum Hears {
    AtOnce,
    /// It can be told nothing meanwhile: the next request begins with it.
    WithTheNext,
    /// It has no word for it: the log has, which a UI that started the runtime shows.
    InTheLog,
}

fn hears(dialect: Dialect) -> Hears {
    match dialect.name() {
        "openagent" => Hears::WithTheNext,
        "codelia" | "asst" => Hears::InTheLog,
        _ => Hears::AtOnce,
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_taken_back_elsewhere_is_told_on_every_wire() {
    let mut silent = Vec::new();
    for dialect in dialects::ALL.iter().copied() {
        let place = bench::workplace();
        let logged = Arc::new(Mutex::new(String::new()));
        let log = logged.clone();
        let log = Arc::new(move |line: &str| log.lock().expect("a log").push_str(line));
        let script = Arc::new(Scripted::parse(SCRIPT).expect("the model's script"));
        let runtime = bench::runtime_in(script, place.path(), Policy::AutoEdit, log);
        let lanes = bench::lanes(dialect);
        let ends = bench::serve(&runtime, bench::guest(dialect, place.path(), Vec::new()), &lanes).await;
        let front = bench::front_in(dialect, bench::wire(&lanes, ends), place.path());
        let mut near = Talk::start(&front).await;
        let mut other = Talk::start(&runtime).await;
        let spoken = near.prompt("write it", &[]).await;
        let file = place.path().join("new.txt");
        assert!(spoken.outcome == Outcome::Done && file.exists(), "{dialect}: {spoken:?}");

        let sessions = other.sessions().await.expect("a list");
        let session = sessions.iter().max_by_key(|session| session.messages).expect("a session").id.clone();
        let undo = Command::Files(FilesCommand::Undo { leave: false });
        let receipt = other.settled(Target::Session(session), undo).await.expect("taken back");
        assert!(matches!(receipt, Receipt::Files { .. }) && !file.exists(), "{dialect}: {receipt:?}");
        let told = match hears(dialect) {
            Hears::AtOnce => near.is_told(TOLD).await,
            Hears::WithTheNext => {
                near.ask("go on").await;
                near.is_told(TOLD).await
            }
            Hears::InTheLog => logged.lock().expect("a log").contains(TOLD),
        };
        if !told {
            silent.push(dialect.name());
        }
        front.stop().await;
        runtime.stop().await;
    }
    assert_eq!(silent, Vec::<&str>::new(), "nobody there hears of it");
}
