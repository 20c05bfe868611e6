//! What is shown of a question, without a wire: what it may offer, which ends stay, how wide a row is.

use super::*;
use domain::ask::ActionDigest;
use domain::content::Json;
use domain::ids::ToolRunId;
use proptest::prelude::*;

fn assessment() -> Assessment {
    Assessment { risk: Risk::Medium, reasons: vec!["why".to_owned()], reversible: false, unrated: false }
}

#[test]
fn a_rule_that_cannot_be_read_is_not_made() {
    let rule = "and more ".repeat(30);
    let words = Asked { title: "t", what: "w", assessment: &assessment(), rule: Some(&rule) };
    assert_eq!(show(words, 6).unwrap().offers, ONCE);
}

#[test]
fn a_small_change_is_shown_whole_in_a_few_rows() {
    let diff = "--- /dev/null\n+++ b/b.txt\n@@ -0,0 +1 @@\n+new\n\\ No newline at end of file\n";
    let asked = Consent {
        tool: ToolRunId(0),
        name: "write".to_owned(),
        args: Json::verbatim("{}"),
        preview: Some(Preview::Diff { path: "b.txt".to_owned(), text: diff.to_owned() }),
        assessment: assessment(),
        digest: ActionDigest("d".to_owned()),
        rule: None,
        takes_reason: true,
    };
    assert_eq!(what(&asked), "b.txt\n@@ -0,0 +1 @@\n+new\n\\ No newline at end of file\n");
    let told = what(&asked);
    let words =
        Asked { title: "write b.txt", what: &told, assessment: &asked.assessment, rule: Some("a rule") };
    assert_eq!(show(words, 6).unwrap().offers, ALL);
    // Where it names another file, it is part of what is asked.
    let moved = diff.replace("/dev/null", "a/other.txt");
    assert_eq!(without_header("b.txt", &moved), moved);
}

#[test]
fn blank_rows_hide_neither_end() {
    let what = format!("HEAD{}TAIL{}", "\n".repeat(500), " \n".repeat(500));
    let shown = show(Asked { title: "t", what: &what, assessment: &assessment(), rule: None }, 6).unwrap();
    assert!(shown.what.contains("HEAD") && shown.what.contains("TAIL"), "{}", shown.what);
    assert_eq!(shown.offers, CAREFUL);
}

/// Any text, of any width and any number of lines.
fn anything() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        "[ -~]{0,90}",
        "[a-z \n\t]{0,90}",
        r"\PC{0,60}",
        "[漢字😀é\u{301}\u{200d}]{0,40}",
        "[\u{1b}\r\u{202e}\u{0}\u{9b}x]{0,20}",
        "\n{0,40}",
    ];
    proptest::collection::vec(piece, 0..6).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(testkit::cases(32))]

    #[test]
    fn a_row_is_no_wider_than_the_screen(text in anything(), columns in 20usize..100) {
        prop_assert!(width(&one_row(&text, columns)) <= columns);
        for row in rows_of(&visible(&text)) {
            prop_assert!(width(&row) <= COLUMNS);
        }
    }
}
