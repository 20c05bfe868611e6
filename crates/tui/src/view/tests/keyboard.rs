//! Who has the keyboard while a question is there, as it looks on small and on large screens.

use super::*;

const SIZES: &[(u16, u16)] = &[(30, 8), (40, 12), (80, 16), (120, 16)];

fn asked(stage: &mut AttachedUi) {
    let id = tool(stage, 20, "bash", r#"{"command":"rm -rf build"}"#);
    let preview = Preview::Command { line: "rm -rf build".into(), inner: vec!["rm -rf build".into()] };
    ask(stage, 40, "Allow bash?", consent(id, preview, Risk::High));
}

#[test]
fn while_a_text_is_written_the_question_waits() {
    check_at("keyboard_waits", SIZES, |stage| {
        stage.run("clean up");
        stage.ui.keys("and then you");
        asked(stage);
    });
}

#[test]
fn a_moment_after_a_key_the_question_waits() {
    check_at("keyboard_soon", SIZES, |stage| {
        stage.run("clean up");
        stage.ui.keys("<down>");
        asked(stage);
    });
}

#[test]
fn after_a_tab_the_question_has_the_keys_and_the_text_stays() {
    check_at("keyboard_question", SIZES, |stage| {
        stage.run("clean up");
        stage.ui.keys("and then you");
        asked(stage);
        stage.ui.keys("<tab>");
    });
}

#[test]
fn on_the_page_with_all_of_it_the_rule_has_its_keys() {
    check_at("keyboard_page", SIZES, |stage| {
        stage.run("clean up");
        asked(stage);
        stage.ui.keys("v");
    });
}
