//! What is copied: with the mouse, with a key, by a command.

use super::tests::AttachedUi;
use crate::msg::{Fx, Mouse, MouseAct, Msg};
use domain::content::{Json, Part};
use domain::event::{Body, ToolEvent};
use domain::ids::{MessageId, ToolRunId};
use domain::tool::{ToolOutcome, ToolResult};

/// What is copied when the mouse is drawn from one place to another.
fn drawn_over(stage: &mut AttachedUi, from: (u16, u16), to: (u16, u16)) -> String {
    let mouse = |act, (column, row)| Msg::Mouse(Mouse { act, column, row });
    stage.ui.fx.clear();
    stage.ui.feed(mouse(MouseAct::Press, from));
    stage.ui.feed(mouse(MouseAct::Drag, to));
    stage.ui.feed(mouse(MouseAct::Release, to));
    let copied = stage.ui.fx.iter().find_map(|fx| match fx {
        Fx::Copy(text) => Some(text.clone()),
        _ => None,
    });
    copied.unwrap_or_default()
}

#[test]
fn what_stands_beside_code_is_not_copied() {
    let mut stage = AttachedUi::new(60, 24);
    stage.run("a question\nof two lines");
    stage.text("> said\n> twice\n\n```py\ndef f():\n    \"\"\"doc\"\"\"\n    return 1\n```\n");
    let screen = stage.ui.screen();
    let at =
        |text: &str| u16::try_from(screen.lines().position(|line| line.contains(text)).unwrap()).unwrap();
    let code = "def f():\n    \"\"\"doc\"\"\"\n    return 1";
    let (first, last) = (at("def f()"), at("return 1"));
    for from in 0..4 {
        assert_eq!(drawn_over(&mut stage, (from, first), (40, last)), code, "from column {from}\n{screen}");
    }
    assert_eq!(drawn_over(&mut stage, (4, first), (40, last)), code[1..]);
    assert_eq!(drawn_over(&mut stage, (1, at("said")), (30, at("twice"))), "said\ntwice");
    assert_eq!(drawn_over(&mut stage, (0, 0), (30, 1)), "a question\nof two lines");
    // What is not copied does not look as if it were.
    let mouse = |act, column, row| Msg::Mouse(Mouse { act, column, row });
    stage.ui.feed(mouse(MouseAct::Press, 0, first));
    stage.ui.feed(mouse(MouseAct::Drag, 40, last));
    let dump = stage.ui.dump();
    assert!(dump.contains(&format!("{last}:1..3 DIM\n")), "{dump}");
    assert!(dump.contains(&format!("{last}:3..7 REVERSED\n")), "{dump}");
}

#[test]
fn a_line_that_was_wrapped_is_copied_as_it_was() {
    let code = "let address = \"https://example.org/a-very-long-path/that-does-not-fit\";  // two blanks";
    for columns in [20, 33, 40, 61] {
        let mut stage = AttachedUi::new(columns, 24);
        stage.run("q");
        stage.text(&format!("```rs\n{code}\n```\n"));
        let copied = drawn_over(&mut stage, (0, 2), (columns - 1, 12));
        assert_eq!(copied.trim_end(), code, "{columns}\n{}", stage.ui.screen());
    }
}

#[test]
fn numbers_and_signs_of_a_diff_are_not_copied() {
    let mut stage = AttachedUi::new(60, 24);
    stage.run("q");
    let tool = ToolRunId(40);
    let (message, name, args) = (MessageId(5), "edit".to_owned(), Json::empty());
    stage.happen(Body::Tool(ToolEvent::Proposed { tool, message, name, args }));
    stage.happen(Body::Tool(ToolEvent::Started { tool }));
    let text = "@@ -9,2 +9,2 @@\n same\n-let a = 1;\n+let a = 2;\n".to_owned();
    let parts = vec![Part::Diff { text, path: None }];
    let result = ToolResult { text: String::new(), parts, json: None, truncated: false };
    stage.happen(Body::Tool(ToolEvent::Ended { tool, outcome: ToolOutcome::Done, result }));
    let screen = stage.ui.screen();
    let row = u16::try_from(screen.lines().position(|line| line.contains("9   same")).unwrap()).unwrap();
    let copied = drawn_over(&mut stage, (0, row), (40, row + 2));
    assert_eq!(copied, "same\nlet a = 1;\nlet a = 2;", "{screen}");
}

fn copied(stage: &AttachedUi) -> Option<&str> {
    stage.ui.fx.iter().rev().find_map(|fx| match fx {
        Fx::Copy(text) => Some(text.as_str()),
        _ => None,
    })
}

#[test]
fn what_can_be_copied_is_chosen_from_a_list() {
    let mut stage = AttachedUi::new(80, 24);
    stage.ui.keys("/copy<enter>");
    assert!(stage.ui.screen().contains("there is nothing to copy yet"), "{}", stage.ui.screen());
    stage.ui.keys("<esc>");
    stage.run("hello");
    stage.text("see\n\n```sh\nls -l\n```\n\nand\n\n```py\ndef f():\n    pass\n```\n");
    let tool = ToolRunId(40);
    let (message, name) = (MessageId(5), "bash".to_owned());
    let args = Json::verbatim(r#"{"command": "cargo test"}"#);
    stage.happen(Body::Tool(ToolEvent::Proposed { tool, message, name, args }));
    stage.happen(Body::Tool(ToolEvent::Started { tool }));
    let result = ToolResult { text: "2 passed".into(), parts: Vec::new(), json: None, truncated: false };
    stage.happen(Body::Tool(ToolEvent::Ended { tool, outcome: ToolOutcome::Done, result }));
    stage.ui.keys("/copy<esc><enter>");
    let screen = stage.ui.screen();
    for line in [
        "the last answer",
        "what cargo test printed",
        "py: def f():",
        "2 lines",
        "sh: ls -l",
        "the whole conversation",
    ] {
        assert!(screen.contains(line), "{line}\n{screen}");
    }
    for (filter, text) in [
        ("last answer", "see\n\n```sh"),
        ("def f", "def f():\n    pass"),
        ("sh: ls", "ls -l"),
        ("printed", "2 passed"),
        ("whole", "hello"),
    ] {
        stage.ui.keys("<esc>/copy<esc><enter>");
        stage.ui.keys(&format!("{filter}<enter>"));
        let got = copied(&stage).unwrap().to_owned();
        assert!(got.contains(text), "{filter}: {got}");
    }
    for (line, text) in [("code", "def f():\n    pass"), ("output", "2 passed")] {
        stage.ui.keys(&format!("/copy {line}<enter>"));
        assert_eq!(copied(&stage), Some(text));
    }
    stage.ui.fx.clear();
    stage.ui.keys("/copy everything<enter>");
    assert_eq!(copied(&stage), None);
}
