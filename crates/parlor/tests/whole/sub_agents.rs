//! A sub-agent's question about a call over every wire that has consents, and over every pair of wires: it is asked, and its answer
//! reaches the sub-agent; over a wire that has none it is denied, and the run goes on.

use crate::bench;
use crate::talk::Talk;
use dialects::Dialect;
use domain::ask::{Answer, Scope};
use domain::event::Outcome;
use domain::tool::{ToolOutcome, ToolPhase};
use hub::Hub;
use models::scripted::Scripted;
use roles::Item;
use roles::fidelity::Verdict;
use std::path::Path;
use std::sync::Arc;

/// The session's model, that of its sub-agent, and the session's again.
const SCRIPT: &str = r#"
model tool task {"agent":"general","prompt":"write b"}
model step
model tool write {"path":"b.txt","content":"new"}
model step
model text "The sub-agent is done."
model step
model text "And so am I."
"#;

/// A UI that speaks these wires with our runtime, its own first; two have a bridge between them.
async fn chain(wires: &[Dialect], place: &Path) -> (Talk, Vec<Hub>) {
    let script = Arc::new(Scripted::parse(SCRIPT).expect("a script"));
    let mut hubs = vec![bench::runtime_of(script, place)];
    for dialect in wires.iter().rev() {
        let mut guest = bench::guest(*dialect, place, Vec::new());
        guest.greeting.follows = hubs.len() > 1;
        let behind = &hubs[hubs.len() - 1];
        let ends = bench::serve(behind, guest, &bench::lanes(*dialect)).await;
        hubs.push(bench::front_in(*dialect, bench::wire(&bench::lanes(*dialect), ends), place));
    }
    let talk = Talk::start(&hubs[hubs.len() - 1]).await;
    (talk, hubs)
}

fn asks(wires: &[Dialect]) -> bool {
    let carries = |verdict: Verdict| matches!(verdict, Verdict::Exact | Verdict::Emulated);
    match wires {
        [one] => one.fidelity().iter().any(|row| row.item == Item::Consent && carries(row.verdict)),
        [a, b, ..] => a.carried_on(*b).iter().any(|row| row.item == Item::Consent && carries(row.verdict)),
        [] => false,
    }
}

async fn cell(wires: &[Dialect]) {
    let yes = Answer::Allow { scope: Scope::Once, digest: None };
    let no = Answer::Deny { reason: Some("not that".to_owned()) };
    for answer in [yes.clone(), no] {
        let place = bench::workplace();
        let (mut talk, _hubs) = chain(wires, place.path()).await;
        let said = talk.prompt("go", std::slice::from_ref(&answer)).await;
        let (asked, is_yes) = (asks(wires), answer == yes);
        assert_eq!(said.asked, usize::from(asked), "{wires:?}: asked where the wire can carry it");
        let written = place.path().join("b.txt").exists();
        assert_eq!(written, asked && is_yes, "{wires:?}: written if and only if it was allowed");
        assert_eq!(said.outcome, Outcome::Done, "{wires:?}");
        if is_yes || !asked {
            assert!(said.text.ends_with("And so am I."), "{wires:?}: {said:?}");
            let tools: Vec<_> = talk.state.tools.values().map(|tool| (&*tool.name, &tool.phase)).collect();
            let done = ToolPhase::Ended(ToolOutcome::Done);
            assert!(tools.iter().all(|(_, phase)| **phase == done), "{wires:?}: nothing hangs: {tools:?}");
        }
        talk.check();
    }
}

fn play(wires: &[Dialect]) {
    eprintln!("{wires:?}");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build();
    let runtime = runtime.expect("a runtime");
    runtime.block_on(cell(wires));
    runtime.shutdown_background();
}

#[test]
fn every_wire_with_consents_asks_what_a_sub_agent_asks() {
    dialects::ALL.iter().for_each(|dialect| play(&[*dialect]));
}

#[test]
fn every_pair_of_wires_carries_what_a_sub_agent_asks() {
    for a in dialects::ALL {
        dialects::ALL.iter().for_each(|b| play(&[*a, *b]));
    }
}
