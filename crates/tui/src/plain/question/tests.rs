//! What words answer, for every kind of ask.

use super::*;
use domain::ask::{ActionDigest, Assessment};
use domain::content::Json;
use domain::ids::{AskId, RunId, ToolRunId};

fn ask(kind: AskKind) -> Ask {
    Ask { id: AskId(1), run: Some(RunId(2)), title: "run `touch x`".into(), kind, deadline: None }
}

fn consent(rule: Option<&str>, preview: Option<Preview>, takes_reason: bool) -> Ask {
    ask(AskKind::Consent(Box::new(Consent {
        tool: ToolRunId(3),
        name: "bash".into(),
        args: Json::verbatim("{\"command\":\"touch x\"}"),
        preview,
        assessment: Assessment {
            risk: Risk::High,
            reasons: vec!["it writes outside · of the project".into()],
            reversible: false,
            unrated: false,
        },
        digest: ActionDigest("d".into()),
        rule: rule.map(str::to_owned),
        takes_reason,
    })))
}

fn choose(many: bool) -> Ask {
    let choice = |id: &str, label: &str| Choice { id: id.into(), label: label.into(), detail: None };
    let choices = vec![choice("r", "red"), choice("g", "Dark green"), choice("b", "blue")];
    ask(AskKind::Choose { message: "Which colour?".into(), choices, many })
}

fn text(default: Option<&str>, multiline: bool) -> Ask {
    let (message, default) = ("Your name?".into(), default.map(str::to_owned));
    ask(AskKind::Text { message, placeholder: None, default, secret: false, multiline })
}

fn answer(ask: &Ask, line: &str) -> Option<Answer> {
    match read(ask, line, &[], QuestionExtent::Usual) {
        Reading::Answer(answer, _) => {
            assert!(ask.kind.accepts(&answer), "{line}");
            Some(answer)
        }
        _ => None,
    }
}

#[test]
fn a_consent_is_answered_by_whole_words() {
    let asked = consent(Some("touch anything"), None, true);
    let allow = |scope| Some(Answer::Allow { scope, digest: Some(ActionDigest("d".into())) });
    let deny = |reason: &str| Some(Answer::Deny { reason: Some(reason.into()) });
    for (line, expected) in [
        ("yes", allow(Scope::Once)),
        (" YES. ", allow(Scope::Once)),
        ("yes for this session", allow(Scope::Session)),
        ("yes always", allow(Scope::Always)),
        ("no", Some(Answer::Deny { reason: None })),
        ("no because I said So", deny("I said So")),
        ("No, because of the tests", None),
        ("no, because it is wrong", deny("it is wrong")),
        ("no because", None),
        ("skip", Some(Answer::Dismissed)),
        ("y", None),
        ("n", None),
        ("a", None),
        ("s", None),
        ("", None),
        ("1", None),
        ("yes please", None),
        ("yesterday", None),
        ("nobody", None),
        ("ok", None),
        ("please go on, yes", None),
    ] {
        let expected = if line.starts_with("No, because of") { deny("of the tests") } else { expected };
        assert_eq!(answer(&asked, line), expected, "{line:?}");
    }
    assert_eq!(read(&asked, "show", &[], QuestionExtent::Usual), Reading::Show);
    assert_eq!(read(&asked, "stop", &[], QuestionExtent::Usual), Reading::Stop);
    assert_eq!(
        read(&asked, "say Also do Y", &[], QuestionExtent::Usual),
        Reading::Prompt("Also do Y".into())
    );
    // What is not offered is not taken.
    let bare = consent(None, None, false);
    for line in ["yes always", "yes for this session", "no because x"] {
        assert!(matches!(read(&bare, line, &[], QuestionExtent::Usual), Reading::Hint(_)), "{line}");
    }
}

#[test]
fn choices_are_taken_by_number_or_word() {
    let one = |line: &str| answer(&choose(false), line);
    let many = |line: &str| answer(&choose(true), line);
    let ids = |ids: &[&str]| Some(Answer::Chosen(ids.iter().map(|id| (*id).to_owned()).collect()));
    assert_eq!((one("1"), one("dark green"), one("b")), (ids(&["r"]), ids(&["g"]), ids(&["b"])));
    assert_eq!((one("0"), one("4"), one("dark"), one("1 2")), (None, None, None, None));
    assert_eq!(
        (many("3, 1"), many("1 and 3"), many("blue")),
        (ids(&["r", "b"]), ids(&["r", "b"]), ids(&["b"]))
    );
    assert_eq!((many("none"), many("1 9"), many("")), (ids(&[]), None, None));
}

#[test]
fn texts_are_lines_and_a_full_stop_ends_several() {
    let entered = |text: &str| Some(Answer::Entered(text.into()));
    assert_eq!(answer(&text(None, false), "Ada  L."), entered("Ada  L."));
    assert_eq!(answer(&text(Some("Bob"), false), ""), entered("Bob"));
    assert_eq!(answer(&text(None, false), "yes"), entered("yes"));
    assert_eq!(answer(&text(None, false), "/skip"), Some(Answer::Dismissed));
    let several = text(None, true);
    assert_eq!(read(&several, "one", &[], QuestionExtent::Usual), Reading::More);
    let Reading::Answer(whole, _) = read(&several, ".", &["one".into(), "two".into()], QuestionExtent::Usual)
    else {
        panic!()
    };
    assert_eq!(Some(whole), entered("one\ntwo"));
    let edit = ask(AskKind::Edit { message: String::new(), prefill: "old".into() });
    assert_eq!(answer(&edit, "."), entered("old"));
}

#[test]
fn a_confirm_takes_its_own_labels_and_no_letter() {
    let (yes, no) = (Some("Delete it".to_owned()), Some("Keep".to_owned()));
    let asked = ask(AskKind::Confirm { message: String::new(), yes, no, danger: true });
    for (line, expected) in [
        ("yes", Some(Answer::Confirmed(true))),
        ("delete it", Some(Answer::Confirmed(true))),
        ("keep", Some(Answer::Confirmed(false))),
        ("no", Some(Answer::Confirmed(false))),
        ("y", None),
        ("", None),
    ] {
        assert_eq!(answer(&asked, line), expected, "{line:?}");
    }
}

#[test]
fn a_question_is_told_in_words() {
    let line = "touch x".to_owned();
    let asked = consent(Some("touch"), Some(Preview::Command { line, inner: Vec::new() }), true);
    let lines = told(&asked, 2, false, QuestionExtent::Usual, Millis(0));
    assert_eq!(
        lines,
        [
            "Question, the first of 2: run `touch x`",
            "Risk: high, and it cannot be undone.",
            "Because: it writes outside, of the project.",
            "Command: touch x",
            "\"yes for this session\" and \"yes always\" allow: touch",
            "Answer \"yes\" for this once; \"no\" stops the run, \"no because\" and your reason lets it go on. \"show\" tells all of it.",
        ]
    );
    let text = format!("--- a/f\n+++ b/f\n@@ -1,0 +1,60 @@\n{}", "+line\n".repeat(60));
    let long = consent(None, Some(Preview::Diff { path: "f".into(), text }), true);
    let usual = told(&long, 1, false, QuestionExtent::Usual, Millis(0));
    assert!(
        usual.iter().any(|line| line.contains("more lines are left out; \"show\" tells them all")),
        "{usual:?}"
    );
    let all = told(&long, 1, false, QuestionExtent::All, Millis(0));
    assert!(all.len() > 60 && all.iter().any(|line| line == "add line 60: line"), "{all:?}");
}

#[test]
fn nobody_agrees_to_what_was_not_told() {
    let line = (0..60).map(|at| format!("step {at}")).collect::<Vec<_>>().join("\n");
    let long = consent(Some("touch"), Some(Preview::Command { line: line.clone(), inner: Vec::new() }), true);
    for word in ["yes", "yes once", "yes for this session", "yes always"] {
        assert!(matches!(read(&long, word, &[], QuestionExtent::Usual), Reading::Hint(_)), "{word}");
        assert!(matches!(read(&long, word, &[], QuestionExtent::All), Reading::Answer(..)), "{word}");
    }
    assert!(matches!(read(&long, "no", &[], QuestionExtent::Usual), Reading::Answer(..)));
    let edit = ask(AskKind::Edit { message: "The text".into(), prefill: line });
    assert!(matches!(read(&edit, END, &[], QuestionExtent::Usual), Reading::Hint(_)));
    assert!(matches!(read(&edit, END, &["mine".to_owned()], QuestionExtent::Usual), Reading::Answer(..)));
    assert!(matches!(read(&edit, END, &[], QuestionExtent::All), Reading::Answer(..)));
    // Without a form of its own a call is told by its arguments, all of them.
    let bare = told(&consent(None, None, true), 1, false, QuestionExtent::Usual, Millis(0));
    assert!(bare.iter().any(|line| line.contains("\"command\":\"touch x\"")), "{bare:?}");
}
