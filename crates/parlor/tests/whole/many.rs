//! Several UIs, each in its own dialect, on one live session: one consent is seen in all that can show it, the first answer wins,
//! and at the end all agree.

use crate::bench;
use crate::talk::Talk;
use dialects::Dialect;
use domain::ask::{Answer, Scope};
use domain::command::{Command, LibraryCommand};
use domain::content::Role;
use domain::event::{AskEvent, Body, Outcome, RunEvent};
use domain::state::{EntryKind, State};
use hub::Hub;
use models::scripted::Scripted;
use std::sync::Arc;

const SCRIPT: &str = r#"
model text "Look: " | tool write {"path":"b.txt","content":"new"}
model step
model text "Written."
"#;

/// A UI of ours that sits on the session over a foreign wire.
struct Sitting {
    dialect: Dialect,
    talk: Talk,
    _hub: Hub,
}

/// What the model said. Wires differ in where one message of the model ends and the next begins, and some do not tell a UI what
/// another one's person said.
fn said(state: &State) -> String {
    let texts = state.path().into_iter().filter_map(|entry| match &entry.kind {
        EntryKind::Message(message) if message.role == Role::Assistant => Some(message.text()),
        EntryKind::Message(_) | EntryKind::Compaction(_) | EntryKind::Notice { .. } => None,
    });
    texts.collect::<String>().split_whitespace().collect::<Vec<_>>().join(" ")
}

async fn together() {
    let place = bench::workplace();
    let script = Arc::new(Scripted::parse(SCRIPT).expect("a script"));
    let runtime = bench::runtime_of(script, place.path());
    // The first UI makes the session; the others come to it, each over its own wire.
    let mut first = Talk::start(&runtime).await;
    let session = first.new_session().await;
    let mut sitting = Vec::new();
    // On asst's wire everything answers a request of one's own: what another UI does cannot be shown there.
    for dialect in dialects::ALL.iter().filter(|dialect| dialect.name() != "asst") {
        let mut guest = bench::guest(*dialect, place.path(), Vec::new());
        guest.start = Some(Command::Library(LibraryCommand::Open { session: session.clone() }));
        let ends = bench::serve(&runtime, guest, &bench::lanes(*dialect)).await;
        let hub = bench::front(*dialect, bench::wire(&bench::lanes(*dialect), ends));
        let talk = Talk::start(&hub).await;
        sitting.push(Sitting { dialect: *dialect, talk, _hub: hub });
    }
    for sits in &mut sitting {
        sits.talk.until_connected().await;
    }
    first.ask("go").await;
    let mut shown = Vec::new();
    for sits in &mut sitting {
        let consent = sits.dialect.runtime_role().can_answer().consent
            || sits.dialect.name() == "codelia"
            || sits.dialect.is_lossless();
        if consent {
            eprintln!("waiting for the question on {}", sits.dialect);
            sits.talk.until(|event| matches!(event.body, Body::Ask(AskEvent::Opened(_)))).await;
            shown.push(sits.dialect);
        }
    }
    assert!(shown.len() >= 2, "the question is shown on several wires: {shown:?}");
    // One of them answers; the record says which.
    let answering = sitting.iter_mut().find(|sits| sits.dialect.name() == "codelia").expect("a codelia UI");
    answering.talk.answer(Answer::Allow { scope: Scope::Once, digest: None }).await;
    let ended = |event: &domain::event::Event| matches!(event.body, Body::Run(RunEvent::Ended { .. }));
    first.until(ended).await;
    for sits in &mut sitting {
        eprintln!("waiting for the end on {}", sits.dialect);
        sits.talk.until(ended).await;
    }
    let by =
        first.state.tools.values().next().and_then(|tool| tool.decision.clone()).map(|decision| decision.by);
    let by = format!("{by:?}");
    assert!(by.contains("codelia"), "who answered is in the record: {by}");
    assert!(place.path().join("b.txt").exists(), "the tool ran once it was allowed");
    assert_eq!(
        first.state.runs.last().and_then(|run| run.ended.clone()).map(|(_, outcome)| outcome),
        Some(Outcome::Done)
    );
    for sits in &sitting {
        let name = sits.dialect.name();
        assert!(sits.talk.state.asks.is_empty(), "{name}: the question is closed everywhere");
        assert_eq!(said(&sits.talk.state), said(&first.state), "{name}: all saw the same conversation");
        if sits.dialect.is_lossless() {
            assert_eq!(sits.talk.state.hash(), first.state.hash(), "{name}: equal state hashes");
        }
    }
}

#[test]
fn uis_of_every_dialect_sit_on_one_session() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .start_paused(true)
        .build()
        .expect("a runtime");
    runtime.block_on(together());
    runtime.shutdown_background();
}
