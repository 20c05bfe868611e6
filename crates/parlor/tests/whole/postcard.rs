//! postcard: the wire that docs/guides/a-dialect.md takes as its example. Ten messages, one JSON object per line, and no program speaks
//! it but ours. It is a whole dialect all the same: both roles, a description, a computed table.
//!
//! It stands among the tests because the program does not offer it. As a wire of the program it would be a folder of `dialects`.

mod runtime_role;
mod ui_role;
mod wire;

use crate::bench::{Conversation, Cut};
use crate::fidelity::{column, written};
use domain::content::Part;
use domain::event::{Body, Outcome, RunEvent, ToolEvent};
use expect_test::expect_file;
use roles::dialect::{Description, Dialect, Habits, Lanes};
use roles::fidelity::{Sources, Verdicts, Words};
use runtime_role::PostcardRuntime;
use ui_role::PostcardUi;

/// The wire, for everybody else.
const DIALECT: Dialect = Dialect::new(&Description {
    name: "postcard",
    lanes: Lanes::One,
    lossless: false,
    drains: false,
    restart_code: None,
    // The runtime speaks first.
    recognises: |_| false,
    sockets: None,
    habits: Habits::NONE,
    runtime_role: || Box::new(PostcardRuntime::default()),
    ui_role: || Box::new(PostcardUi::default()),
    fidelity: Sources {
        words: Words(include_str!("postcard/words.txt")),
        verdicts: Verdicts(include_str!("postcard/verdicts.txt")),
    },
    quirks: &[],
    schema: String::new,
});

#[test]
fn a_conversation_with_tools_and_a_consent_arrives_over_the_example_wire() {
    let seen = Conversation::new(DIALECT).play(Cut::Never);
    let texts: String = seen.events.iter().filter_map(|event| said(&event.body)).collect();
    assert_eq!(texts, "goI will look first.Writing.All done.");
    let tools = seen.events.iter().filter_map(|event| match &event.body {
        Body::Tool(ToolEvent::Ended { outcome, .. }) => Some(outcome.clone()),
        _ => None,
    });
    assert_eq!(tools.collect::<Vec<_>>(), [domain::tool::ToolOutcome::Done, domain::tool::ToolOutcome::Done]);
    let last = seen.events.last().map(|event| &event.body);
    assert!(matches!(last, Some(Body::Run(RunEvent::Ended { outcome: Outcome::Done, .. }))), "{last:?}");
}

fn said(body: &Body) -> Option<&str> {
    use domain::event::MessageEvent;
    match body {
        Body::Message(MessageEvent::Delta { text, .. }) => Some(text),
        Body::Message(MessageEvent::PartAdded { part: Part::Text(text), .. }) => Some(text),
        _ => None,
    }
}

#[test]
fn the_verdicts_of_the_example_are_computed_like_any_other() {
    let verdicts = written(&[(roles::fidelity::ALONE.to_owned(), column(&[DIALECT]))]);
    expect_file![concat!(env!("CARGO_MANIFEST_DIR"), "/tests/whole/postcard/verdicts.txt")]
        .assert_eq(&verdicts);
    assert_eq!(DIALECT.description().fidelity.faults(), Vec::<String>::new());
}

/// The figure of docs/guides/a-dialect.md.
#[test]
fn the_guide_says_how_long_the_example_is() {
    let sources = [
        include_str!("postcard/wire.rs"),
        include_str!("postcard/runtime_role.rs"),
        include_str!("postcard/ui_role.rs"),
    ];
    let lines: usize = sources.iter().map(|text| text.lines().count()).sum();
    let guide = include_str!("../../../../docs/guides/a-dialect.md");
    assert!(
        guide.contains(&format!("{lines} lines")),
        "the example has {lines} lines; the guide says otherwise"
    );
}
