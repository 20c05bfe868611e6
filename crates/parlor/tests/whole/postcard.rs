//! The wire that docs/guides/a-dialect.md builds (`wires/postcard`): what the page prints is what is compiled, its conversations are played
//! over both roles, and its table is computed like any other's.

use crate::bench::{self, Conversation, Cut};
use crate::fidelity::{column, written};
use crate::transcripts;
use ::postcard::DIALECT;
use domain::content::Part;
use domain::event::{Body, MessageEvent, Outcome, RunEvent, ToolEvent};
use domain::tool::ToolOutcome;
use expect_test::expect_file;
use kit::notation::{Report, Transcript};
use kit::ui_player;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

const GUIDE: &str = include_str!("../../../../docs/guides/a-dialect.md");
/// The example may be no longer, both roles, lines and description together.
const MOST_LINES: usize = 250;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The blocks of the guide that have a second word after their fence, which is a file or a role: by that word, in order.
fn blocks() -> BTreeMap<&'static str, Vec<&'static str>> {
    let mut blocks: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let (text, block) = (GUIDE.split("\n```"), |text: &'static str| text.split_once('\n'));
    // Between two fences every second piece is a block.
    for (head, text) in text.skip(1).step_by(2).filter_map(block) {
        if let Some((_, word)) = head.split_once(' ') {
            blocks.entry(word).or_default().push(text);
        }
    }
    blocks
}

#[test]
fn the_blocks_of_the_guide_are_the_files_that_are_compiled() {
    let (blocks, folder) = (blocks(), root().join("wires/postcard/src"));
    let mut lines = 0;
    for entry in std::fs::read_dir(folder).expect("the example") {
        let name = entry.expect("a file").file_name().into_string().expect("a name");
        let path = format!("wires/postcard/src/{name}");
        if name.ends_with(".rs") {
            let file = std::fs::read_to_string(root().join(&path)).expect("a source file");
            lines += file.lines().count();
            assert!(blocks.contains_key(path.as_str()), "the guide does not show {path}");
        }
    }
    for (path, blocks) in blocks.iter().filter(|(path, _)| path.contains('/')) {
        let file = std::fs::read_to_string(root().join(path)).expect(path);
        if path.starts_with("wires/postcard/") {
            assert_eq!(
                blocks.join("\n\n").trim_end(),
                file.trim_end(),
                "{path} is not as the guide shows it"
            );
        } else {
            let strange = blocks.iter().find(|block| !file.contains(block.trim_end()));
            assert_eq!(strange, None, "{path} does not have what the guide shows of it");
        }
    }
    assert!(lines <= MOST_LINES, "the example has {lines} lines of Rust");
    assert!(GUIDE.contains(&format!("{lines} lines of Rust")), "the guide says otherwise: {lines}");
}

#[test]
fn the_conversations_of_the_guide_are_played_over_both_roles() {
    let conversations = |role: &str| {
        let told = blocks().remove(role).unwrap_or_default();
        assert!(!told.is_empty(), "the guide has no conversation of a {role}");
        told.into_iter().map(|text| Transcript::parse(text).expect("a transcript"))
    };
    for transcript in conversations("runtime") {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let place = bench::workplace();
        let played = runtime.block_on(transcripts::play(DIALECT, &transcript, place.path()));
        let report = Report { name: "runtime", transcript: &transcript, outcomes: &played.outcomes };
        assert!(report.passed(), "{report}");
    }
    for transcript in conversations("ui") {
        let played = ui_player::play(DIALECT.ui_role().as_mut(), &transcript);
        let report = Report { name: "ui", transcript: &transcript, outcomes: &played.outcomes };
        assert!(report.passed(), "{report}");
    }
}

#[test]
fn a_conversation_with_tools_and_a_consent_arrives_over_the_example_wire() {
    let seen = Conversation::new(DIALECT).play(Cut::Never);
    let texts: String = seen.events.iter().filter_map(|event| said(&event.body)).collect();
    assert_eq!(texts, "goI will look first.now writeWriting.All done.");
    let tools = seen.events.iter().filter_map(|event| match &event.body {
        Body::Tool(ToolEvent::Ended { outcome, .. }) => Some(outcome.clone()),
        _ => None,
    });
    assert_eq!(tools.collect::<Vec<_>>(), [ToolOutcome::Done, ToolOutcome::Done]);
    let last = seen.events.last().map(|event| &event.body);
    assert!(matches!(last, Some(Body::Run(RunEvent::Ended { outcome: Outcome::Done, .. }))), "{last:?}");
}

fn said(body: &Body) -> Option<&str> {
    match body {
        Body::Message(MessageEvent::Delta { text, .. }) => Some(text),
        Body::Message(MessageEvent::PartAdded { part: Part::Text(text), .. }) => Some(text),
        _ => None,
    }
}

#[test]
fn the_verdicts_of_the_example_are_computed_like_any_other() {
    let verdicts = written(&[(roles::fidelity::ALONE.to_owned(), column(&[DIALECT]))]);
    expect_file![root().join("wires/postcard/src/verdicts.txt")].assert_eq(&verdicts);
    assert_eq!(DIALECT.description().fidelity.faults(), Vec::<String>::new());
}
