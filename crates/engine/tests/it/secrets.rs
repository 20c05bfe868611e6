//! What a person types into a question for a secret: the model that asked reads it, and nothing that is kept holds it.

use crate::bench::{Bench, Plan, allow, answered};
use domain::ask::{Answer, AskKind, Scope};
use domain::event::{AskEvent, Body};
use domain::port::TurnEnd;

const LOGIN: &str = r#"
    model tool ask {"kind":"text","title":"Password?","secret":true}
    ---
    model text "I write hun" | text "ter2 down" | tool write {"path":"login.txt","content":"pw=hunter2"}
    ---
    model text "hunter2 it is"
    ---
    model text "still there"
"#;

fn kept(bench: &Bench) -> String {
    format!("{:?} {:?}", bench.events, bench.state)
}

#[tokio::test(start_paused = true)]
async fn the_model_that_asked_reads_it_and_the_record_holds_a_mark() {
    let mut bench = Bench::new(LOGIN);
    bench.closings = vec![answered(Answer::Entered("hunter2".into())), allow(Scope::Always)];
    assert_eq!(bench.run("log in").await, TurnEnd::Done);
    assert_eq!(bench.get("login.txt").as_deref(), Some("pw=hunter2"), "the tool runs with the value");
    let told = bench.told();
    assert!(told.iter().any(|line| line == "tool: hunter2"), "{told:?}");
    assert!(!told.join("\n").contains("Ask for it again"), "there is nothing to be told");
    let asked = bench.events.iter().find_map(|event| match &event.body {
        Body::Ask(AskEvent::Opened(ask)) => match &ask.kind {
            AskKind::Consent(consent) => Some(consent.clone()),
            _ => None,
        },
        _ => None,
    });
    assert_eq!(asked.unwrap().rule, None, "no rule is made of a secret");
    let rules = bench.dir.path().join("data/rules");
    assert!(!rules.exists() || std::fs::read_dir(rules).unwrap().next().is_none());
    assert!(!kept(&bench).contains("hunter2") && kept(&bench).contains("not kept"));
    // In the next turn the conversation comes from the record.
    assert_eq!(bench.run("and now?").await, TurnEnd::Done);
    let told = bench.told();
    assert!(told.iter().any(|line| line == "tool: hunter2"), "{told:?}");
    assert!(told.iter().any(|line| line.contains("I write hunter2 down")), "{told:?}");
    let seen = bench.model.seen();
    let written = format!("{:?}", seen.last().unwrap().messages);
    assert!(written.contains("pw=hunter2"), "{written}");
    assert!(!kept(&bench).contains("hunter2"));
}

#[tokio::test(start_paused = true)]
async fn after_a_restart_the_model_reads_the_mark_and_is_told_so() {
    let mut bench = Bench::new(LOGIN);
    bench.closings = vec![answered(Answer::Entered("hunter2".into())), allow(Scope::Once)];
    assert_eq!(bench.run("log in").await, TurnEnd::Done);
    let mut bench = bench.reborn(Plan::script("model text \"I do not have it\""));
    assert_eq!(bench.run("and now?").await, TurnEnd::Done);
    let told = bench.told();
    assert!(told.iter().any(|line| line.starts_with("tool: [secret ")), "{told:?}");
    assert!(!told.join("\n").contains("hunter2"));
    let explained = told.iter().filter(|line| line.contains("Ask for it again")).count();
    assert!(explained == 1 && !bench.system().contains("Ask for it again"), "{told:?}");
}

#[tokio::test(start_paused = true)]
async fn a_short_one_is_not_kept_either() {
    let mut bench = Bench::new(LOGIN);
    bench.closings = vec![answered(Answer::Entered("q#9!".into())), allow(Scope::Once)];
    assert_eq!(bench.run("log in").await, TurnEnd::Done);
    assert!(bench.told().iter().any(|line| line == "tool: q#9!"));
    assert!(!kept(&bench).contains("q#9!"));
}
