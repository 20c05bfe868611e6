//! How screens look: in the colours that most people see, and what is shown of tools and plans.

use super::*;
use crate::theme::Theme;

const WIDE: &[(u16, u16)] = &[(40, 50), (80, 44), (200, 40)];

/// A file was edited.
pub(super) fn changed(stage: &mut AttachedUi) {
    let edit = tool(stage, 21, "edit", r#"{"path":"src/cart.rs"}"#);
    let text = "@@ -11,7 +11,6 @@\n impl Cart {\n     /// What is to be paid.\n-    fn total(&self) -> u64 {\n-        let mut s = 0;\n-        for i in &self.items { s += i.price; }\n-        return s;\n+    pub fn total(&self) -> Money {\n+        self.items.iter().map(|item| item.price).sum()\n     }\n }\n";
    let diff = Part::Diff { path: Some("src/cart.rs".into()), text: text.into() };
    ended(stage, edit, ToolOutcome::Done, "edited", vec![diff]);
}

/// A run with something of everything.
pub(super) fn work(stage: &mut AttachedUi) {
    stage.run("make the total readable, and see that the tests pass");
    let bash = tool(stage, 20, "bash", r#"{"command":"cargo test -p shop"}"#);
    let lines: String =
        (1..=30).map(|n| format!("test cart::case_{n} ... \u{1b}[32mok\u{1b}[0m\n")).collect();
    let said = format!(
        "   Compiling shop v0.1.0\n{lines}\ntest result: \u{1b}[32mok\u{1b}[0m. 30 passed; 0 failed\n"
    );
    ended(stage, bash, ToolOutcome::Done, &said, Vec::new());
    changed(stage);
    let plan = r#"{"items":[{"text":"read","state":"done"},{"text":"write","state":"done"},{"text":"test","state":"active"}]}"#;
    let todo = tool(stage, 22, "todo", plan);
    ended(stage, todo, ToolOutcome::Done, "3 steps", Vec::new());
    stage.text("`total` now says **what** it sums; see https://example.org/iter for why that is as fast.\n");
    let item = |text: &str, state| PlanItem { text: text.into(), state };
    let items = vec![
        item("read the cart", PlanState::Done),
        item("write the sum as one expression", PlanState::Done),
        item("run the tests again", PlanState::Active),
    ];
    stage.happen(Body::Note(NoteEvent::PlanChanged { items }));
}

#[test]
fn the_default_look() {
    for theme in [Theme::Dark, Theme::Light] {
        check_at(&format!("work_{}", theme.name()), WIDE, |stage| {
            work(stage);
            stage.ui.wear(theme);
        });
    }
}

#[test]
fn own_tools_are_told_in_words() {
    let mut stage = AttachedUi::new(80, 30);
    work(&mut stage);
    let ask =
        tool(&mut stage, 23, "ask", r#"{"kind":"confirm","message":"It takes long.","title":"Go on?"}"#);
    ended(&mut stage, ask, ToolOutcome::Done, "yes", Vec::new());
    let screen = stage.ui.screen();
    assert!(screen.contains("✓ plan 3 steps, 2 done") && screen.contains("✓ ask Go on?"), "{screen}");
    assert!(!screen.contains('{') || !screen.contains("\"state\""), "{screen}");
}

#[test]
fn what_a_tool_wrote_is_shown_from_both_ends() {
    let shown = |outcome, lines: usize| {
        let mut stage = AttachedUi::new(80, 60);
        stage.run("go");
        let id = tool(&mut stage, 20, "bash", r#"{"command":"make"}"#);
        let said: String = (1..=lines).map(|n| format!("line {n}\n")).collect();
        ended(&mut stage, id, outcome, &said, Vec::new());
        let screen = stage.ui.screen();
        let rows = screen.lines().filter_map(|line| line.trim().strip_prefix("│ "));
        rows.map(|line| line.trim_end().to_owned()).collect::<Vec<_>>()
    };
    let done = shown(ToolOutcome::Done, 12);
    let end = ["line 9", "line 10", "line 11", "line 12"];
    assert_eq!(done[..2], ["line 1", "line 2"]);
    assert!(done[2].starts_with("… 6 more lines ("), "{done:?}");
    assert_eq!(done[3..], end);
    assert_eq!(shown(ToolOutcome::Done, 8).len(), 8, "two more lines are shown, not counted");
    assert_eq!(shown(ToolOutcome::Done, 9).len(), 7);
    assert_eq!(shown(ToolOutcome::Failed, 40).len(), 40, "all of it, for the reason is in there");
    let failed = shown(ToolOutcome::Failed, 500);
    assert!(failed.len() == 41 && failed[10].starts_with("… 460 more lines"), "{failed:?}");
}

#[test]
fn progress_is_its_last_state() {
    let mut stage = AttachedUi::new(80, 20);
    stage.run("go");
    let id = tool(&mut stage, 20, "bash", r#"{"command":"fetch"}"#);
    stage.happen(Body::Tool(ToolEvent::Started { tool: id }));
    let output: String = (0..=100).map(|n| format!("\r{n}%")).collect();
    stage.happen(Body::Tool(ToolEvent::Progress { tool: id, progress: Progress::Output(output) }));
    let screen = stage.ui.screen();
    assert!(screen.contains("│ 100%") && !screen.contains("99%"), "{screen}");
}

#[test]
fn the_plan_goes_with_the_run_and_makes_room_for_a_question() {
    let mut stage = AttachedUi::new(80, 40);
    work(&mut stage);
    let screen = stage.ui.screen();
    let lines: Vec<&str> = screen.lines().map(str::trim_end).collect();
    let at = lines.iter().position(|line| *line == " Plan  2 of 3 done").unwrap();
    assert_eq!((lines[at - 1], lines[at + 4]), ("", ""), "with air around it\n{screen}");
    assert_eq!(lines[at + 1], "   ✓ read the cart");
    let id = tool(&mut stage, 24, "bash", r#"{"command":"rm x"}"#);
    let preview = Preview::Command { line: "rm x".into(), inner: vec!["rm x".into()] };
    ask(&mut stage, 40, "Allow bash?", consent(id, preview, Risk::Medium));
    assert!(!stage.ui.screen().contains("Plan  2 of 3"), "a question is next to what it is about");
    stage.ui.keys("n");
    stage.end(Outcome::Done);
    assert!(!stage.ui.screen().contains("Plan"), "gone with the run\n{}", stage.ui.screen());
}
