//! What keys answer, for every kind of ask.

use super::*;
use crate::key::Key;
use domain::ask::{ActionDigest, Answer, Assessment, Choice, Consent, Risk, Scope};
use domain::content::Json;
use domain::ids::{RunId, ToolRunId};

fn ask(kind: AskKind) -> Ask {
    Ask { id: AskId(1), run: Some(RunId(2)), title: "Allow bash?".into(), kind, deadline: None }
}

pub(crate) fn consent(rule: Option<&str>) -> AskKind {
    AskKind::Consent(Box::new(Consent {
        tool: ToolRunId(3),
        name: "bash".into(),
        args: Json::empty(),
        preview: None,
        assessment: Assessment { risk: Risk::High, reasons: vec!["network".into()], reversible: false },
        digest: ActionDigest("d".into()),
        rule: rule.map(str::to_owned),
        takes_reason: true,
    }))
}

fn choose(many: bool) -> AskKind {
    let choice = |id: &str, label: &str| Choice { id: id.into(), label: label.into(), detail: None };
    let choices = vec![choice("r", "red"), choice("g", "green"), choice("b", "blue")];
    AskKind::Choose { message: "colour?".into(), choices, many }
}

fn text(default: Option<&str>) -> AskKind {
    AskKind::Text {
        message: "name?".into(),
        placeholder: None,
        default: default.map(str::to_owned),
        secret: false,
        multiline: false,
    }
}

fn press(kind: AskKind, keys: &[&str]) -> Reply {
    let ask = ask(kind);
    let mut panel = AskPanel::open(&ask, Millis(0));
    let mut last = Reply::Nothing;
    for key in keys {
        last = panel.key(&ask, key.parse::<Key>().unwrap());
    }
    last
}

fn allowed(scope: Scope) -> Reply {
    Reply::Answer(Answer::Allow { scope, digest: Some(ActionDigest("d".into())) })
}

#[test]
fn each_key_gives_its_answer() {
    let chosen =
        |ids: &[&str]| Reply::Answer(Answer::Chosen(ids.iter().map(|id| (*id).to_owned()).collect()));
    let denied = |reason: Option<&str>| Reply::Answer(Answer::Deny { reason: reason.map(str::to_owned) });
    let confirm = |danger| AskKind::Confirm { message: "sure?".into(), yes: None, no: None, danger };
    let cases: Vec<(AskKind, &[&str], Reply)> = vec![
        (consent(None), &["y"], allowed(Scope::Once)),
        (consent(None), &["s"], allowed(Scope::Session)),
        (consent(Some("ls")), &["a"], allowed(Scope::Always)),
        (consent(None), &["n"], denied(None)),
        (consent(None), &["r", "u", "s", "e", "space", "l", "s", "enter"], denied(Some("use ls"))),
        (consent(None), &["r", "y", "esc", "y"], allowed(Scope::Once)),
        (consent(None), &["v"], Reply::Full),
        (consent(None), &["esc"], Reply::Stop),
        (confirm(false), &["y"], Reply::Answer(Answer::Confirmed(true))),
        (confirm(false), &["enter"], Reply::Answer(Answer::Confirmed(true))),
        (confirm(true), &["n"], Reply::Answer(Answer::Confirmed(false))),
        (choose(false), &["down", "enter"], chosen(&["g"])),
        (choose(false), &["b", "l", "enter"], chosen(&["b"])),
        (choose(true), &["space", "down", "down", "space", "enter"], chosen(&["r", "b"])),
        (choose(false), &["esc"], Reply::Answer(Answer::Dismissed)),
        (text(None), &["B", "o", "enter"], Reply::Answer(Answer::Entered("Bo".into()))),
        (text(Some("Al")), &["enter"], Reply::Answer(Answer::Entered("Al".into()))),
    ];
    for (kind, keys, reply) in cases {
        assert_eq!(press(kind.clone(), keys), reply, "{kind:?} {keys:?}");
    }
}

#[test]
fn keys_that_answer_nothing_say_so() {
    let confirm = AskKind::Confirm { message: "?".into(), yes: None, no: None, danger: true };
    assert!(matches!(press(consent(None), &["a"]), Reply::Word(_)));
    assert!(matches!(press(consent(None), &["enter"]), Reply::Word(_)));
    assert!(matches!(press(confirm, &["enter"]), Reply::Word(_)));
    assert!(matches!(press(choose(false), &["z", "z", "enter"]), Reply::Word(_)));
}

#[test]
fn every_answer_fits_its_ask() {
    for (kind, key) in [(consent(None), "y"), (choose(true), "enter"), (text(None), "enter")] {
        let Reply::Answer(answer) = press(kind.clone(), &[key]) else { panic!("no answer") };
        assert!(kind.accepts(&answer));
    }
}
