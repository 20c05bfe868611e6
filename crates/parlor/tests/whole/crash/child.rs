//! The program that is killed: this test binary, started again. It holds conversations and tells on stdout what its UIs were told.

use super::stage::{Mortal, script, stack};
use domain::ask::{Answer, AskKind, Scope};
use domain::command::{Command, LibraryCommand, PromptOptions, RunCommand, Target};
use domain::content::Input;
use domain::event::{AskEvent, Body, RunEvent};
use domain::ids::SessionId;
use domain::port::{News, Ticket};
use hub::core::Standing;
use hub::{Hub, LocalUi};
use roles::Answers;
use std::io::Write;
use std::path::Path;
use store::{SqliteStore, Store};

pub(super) const PLACE: &str = "PARLOR_CRASH_PLACE";
pub(super) const RECORDS: &str = "PARLOR_CRASH_RECORDS";

/// Steps and words of the run that is killed at each record.
pub(super) const RUN: (u32, u32) = (6, 34);
/// Sessions that run at once under load, and runs in each.
pub(super) const LOAD: (u64, u32) = (3, 3);

/// Does nothing when run as a test.
#[test]
fn child() {
    let Some(place) = std::env::var_os(PLACE) else { return };
    let records = std::env::var(RECORDS).ok().and_then(|records| records.parse::<u64>().ok());
    let place = Path::new(&place);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let store = SqliteStore::at(&place.join("data")).expect("a store");
        match records {
            Some(left) => {
                let store: Box<dyn Store> = Box::new(Mortal { store, left });
                let hub = stack(&script(RUN.0, RUN.1), store, place);
                converse(hub.clone(), 1, 1).await;
                hub.stop().await;
            }
            None => {
                let hub = stack(&script(LOAD.1 * 3, 8), Box::new(store), place);
                let talks: Vec<_> =
                    (1..=LOAD.0).map(|n| tokio::spawn(converse(hub.clone(), n, LOAD.1))).collect();
                for talk in talks {
                    let _ = talk.await;
                }
            }
        }
    });
}

/// Prompts, and allows whatever is asked, until each run has ended.
async fn converse(hub: Hub, number: u64, runs: u32) {
    let session = SessionId::from_number(number);
    let start = Command::Library(LibraryCommand::New { cwd: None, title: None, id: Some(session.clone()) });
    let ui = hub.attach("doomed", Standing::Controller, Answers::ALL, Some(start)).await;
    let LocalUi { mut news, port } = ui.expect("the hub runs");
    let target = Target::Session(session.clone());
    let mut left = runs;
    let prompt =
        || Command::Run(RunCommand::Prompt { input: Input::text("go"), options: PromptOptions::default() });
    port.command(Ticket(1), target.clone(), prompt()).await.expect("the hub runs");
    while let Some(news) = news.recv().await {
        let News::Happened { event, .. } = news else { continue };
        if event.body.is_durable() {
            // One write per line, so that a kill cuts none in two that the other side would take for whole.
            let line = format!("told {session} {}\n", record::encode(&*event));
            let mut out = std::io::stdout().lock();
            out.write_all(line.as_bytes()).and_then(|()| out.flush()).expect("somebody listens");
        }
        match &event.body {
            Body::Ask(AskEvent::Opened(ask)) if matches!(ask.kind, AskKind::Consent(_)) => {
                let answer = Answer::Allow { scope: Scope::Once, digest: None };
                let answer = Command::Answer { ask: ask.id, answer };
                port.command(Ticket(2), target.clone(), answer).await.expect("the hub runs");
            }
            Body::Run(RunEvent::Ended { .. }) if left == 1 => return,
            Body::Run(RunEvent::Ended { .. }) => {
                left -= 1;
                port.command(Ticket(3), target.clone(), prompt()).await.expect("the hub runs");
            }
            _ => {}
        }
    }
}
