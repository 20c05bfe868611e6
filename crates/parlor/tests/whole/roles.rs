//! What a UI may do does not depend on its wire: who approves may answer and nothing else, who observes may only look; and the record
//! says who answered.

use crate::bench;
use crate::talk::Talk;
use dialects::Dialect;
use domain::ask::{Answer, Scope};
use domain::command::{Command, LibraryCommand};
use domain::event::{AskEvent, Body, Event, RunEvent};
use hub::core::Standing;
use models::scripted::Scripted;
use std::sync::Arc;

const SCRIPT: &str = r#"
model tool write {"path":"b.txt","content":"new"}
model step
model text "Done."
"#;

/// Whether a UI of this wire is shown what another UI has begun, questions included.
fn is_asked(dialect: Dialect) -> bool {
    dialect.runtime_role().can_answer().consent || matches!(dialect.name(), "codelia" | "native")
}

async fn takes_part(dialect: Dialect, standing: Standing) {
    let name = format!("{dialect} as {standing:?}");
    let place = bench::workplace();
    let script = Arc::new(Scripted::parse(SCRIPT).expect("a script"));
    let runtime = bench::runtime_of(script, place.path());
    let mut first = Talk::start(&runtime).await;
    let session = first.new_session().await;
    let mut guest = bench::guest(dialect, place.path(), Vec::new());
    guest.start = Some(Command::Library(LibraryCommand::Open { session }));
    guest.standing = standing;
    let ends = bench::serve(&runtime, guest, &bench::lanes(dialect)).await;
    let hub = bench::front(dialect, bench::wire(&bench::lanes(dialect), ends));
    let mut other = Talk::start(&hub).await;
    other.until_connected().await;
    other.refused("let me").await;
    assert!(first.state.runs.is_empty(), "{name}: a prompt of one who may not begins nothing");
    first.ask("go").await;
    first.until(|event| matches!(event.body, Body::Ask(AskEvent::Opened(_)))).await;
    let allow = || Answer::Allow { scope: Scope::Once, digest: None };
    let ended = |event: &Event| matches!(event.body, Body::Run(RunEvent::Ended { .. }));
    let answers = is_asked(dialect);
    if answers {
        other.until(|event| matches!(event.body, Body::Ask(AskEvent::Opened(_)))).await;
        other.answer(allow()).await;
    }
    let counts = answers && standing == Standing::Approver;
    if !counts {
        // What an observer says on its link is settled in order: after this its answer has been heard, too.
        if answers {
            other.refused("again").await;
        }
        first.answer(Answer::Deny { reason: None }).await;
    }
    first.until(ended).await;
    assert_eq!(place.path().join("b.txt").exists(), counts, "{name}: the answer counts or not");
    let decision = first.state.tools.values().next().and_then(|tool| tool.decision.clone());
    let by = format!("{:?}", decision.map(|decision| decision.by));
    assert_eq!(by.contains(dialect.name()), counts, "{name}: who answered is in the record: {by}");
}

#[test]
fn roles_hold_on_every_wire() {
    for dialect in dialects::ALL {
        for standing in [Standing::Approver, Standing::Observer] {
            let runtime =
                tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build();
            let runtime = runtime.expect("a runtime");
            eprintln!("{dialect} as {standing:?}");
            runtime.block_on(takes_part(*dialect, standing));
            runtime.shutdown_background();
        }
    }
}
