//! Searching the session: every hit is counted, and the word itself comes into sight, wherever it was folded away.

use super::*;
use domain::content::Part;

fn edited(stage: &mut AttachedUi, at: u64, text: &str) {
    let edit = tool(stage, at, "edit", r#"{"path":"src/lib.rs"}"#);
    let diff = Part::Diff { path: Some("src/lib.rs".into()), text: text.into() };
    ended(stage, edit, ToolOutcome::Done, "edited", vec![diff]);
}

#[test]
fn a_word_of_a_diff_a_thought_or_a_long_output_is_found_and_scrolled_to() {
    let mut stage = AttachedUi::new(80, 20);
    stage.run("go");
    let text = "First this.\nThen the hidden thought.".into();
    let delta = MessageEvent::Delta { message: MessageId(5), kind: TextKind::Thought, text };
    stage.happen(Body::Message(delta));
    let lines: Vec<String> = (0..2_000).map(|at| format!("+added line {at}")).collect();
    edited(&mut stage, 20, &format!("@@ -0,0 +1,2000 @@\n{}\n", lines.join("\n")));
    let bash = tool(&mut stage, 21, "bash", r#"{"command":"seq"}"#);
    let output: Vec<String> = (0..2_000).map(|at| format!("row {at} of it")).collect();
    ended(&mut stage, bash, ToolOutcome::Done, &output.join("\n"), Vec::new());
    for (words, sees) in [
        ("row 1234 of", "row 1234 of it"),
        ("added line 777", "added line 777"),
        ("hidden thought", "Then the hidden thought."),
    ] {
        stage.ui.keys(&format!("<ctrl-f>{words}"));
        let screen = stage.ui.screen();
        assert!(screen.contains(sees) && screen.contains("1 of 1"), "{words}\n{screen}");
        stage.ui.keys("<esc>");
        assert!(stage.ui.screen().contains(sees), "it stays in sight\n{}", stage.ui.screen());
        stage.ui.keys("<esc>");
    }
    stage.ui.keys("<ctrl-f>is not there");
    assert!(stage.ui.screen().contains("no match"), "{}", stage.ui.screen());
}

#[test]
fn hits_are_counted_as_hits() {
    let mut stage = AttachedUi::new(80, 20);
    stage.run("go");
    stage.text("A parser is a parser.\n\nAnd this Parser too.");
    stage.ui.keys("<ctrl-f>parser");
    assert!(stage.ui.screen().contains("3 of 3"), "{}", stage.ui.screen());
    stage.ui.keys("<enter>");
    assert!(stage.ui.screen().contains("2 of 3"), "{}", stage.ui.screen());
}

#[test]
fn a_slash_searches_where_the_composer_has_not_the_keys() {
    let mut stage = AttachedUi::new(80, 20);
    stage.run("go");
    stage.text("here it is");
    stage.ui.keys("<alt-up>/here");
    let screen = stage.ui.screen();
    assert!(screen.contains("find: here") && screen.contains("1 of 1"), "{screen}");
}

#[test]
fn what_is_written_after_a_search_is_written_and_no_key_of_a_selection() {
    let mut stage = AttachedUi::new(80, 20);
    stage.run("go");
    stage.text("A parser is a parser.");
    stage.ui.keys("<ctrl-f>parser<esc>build it");
    let screen = stage.ui.screen();
    assert!(screen.contains("> build it") && !screen.contains("own branch"), "{screen}");
    // What was found is the first that is selected, and there letters are keys.
    stage.ui.keys("<ctrl-u><alt-up>");
    assert!(
        stage.ui.screen().contains("c\u{a0}copies") || stage.ui.screen().contains("c copies"),
        "{}",
        stage.ui.screen()
    );
}
