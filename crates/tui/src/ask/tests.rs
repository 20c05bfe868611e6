//! What keys answer, for every kind of ask.

use super::*;
use crate::key::{Code, Key};
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
        assessment: Assessment {
            risk: Risk::High,
            reasons: vec!["network".into()],
            reversible: false,
            unrated: false,
        },
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

/// Everything is in sight.
const ALL: Sees =
    Sees { subject: true, rule: true, reach: Reach::Theirs, cut: false, short: false, wide: false };

fn press(kind: AskKind, keys: &[&str]) -> Reply {
    let ask = ask(kind);
    let mut panel = AskPanel::open(&ask, Millis(0), None);
    let mut last = Reply::Nothing;
    for key in keys {
        let offers = offers::of_question(&panel, &ask, ALL, false);
        last = panel.key(&ask, key.parse::<Key>().unwrap(), &offers);
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
        (consent(Some("ls")), &["s"], allowed(Scope::Session)),
        (consent(Some("ls")), &["a"], allowed(Scope::Always)),
        (consent(None), &["n"], denied(None)),
        (consent(None), &["r", "u", "s", "e", "space", "l", "s", "enter"], denied(Some("use ls"))),
        (consent(None), &["r", "y", "esc", "y"], allowed(Scope::Once)),
        (consent(None), &["v"], Reply::Full),
        (consent(None), &["esc"], Reply::Stop),
        (confirm(false), &["y"], Reply::Answer(Answer::Confirmed(true))),
        (confirm(true), &["n"], Reply::Answer(Answer::Confirmed(false))),
        (choose(false), &["down", "enter"], chosen(&["g"])),
        (choose(false), &["2"], chosen(&["g"])),
        (choose(true), &["3", "1", "3", "enter"], chosen(&["r"])),
        (choose(false), &["b"], Reply::Writes),
        (choose(true), &["space", "down", "down", "space", "enter"], chosen(&["r", "b"])),
        (choose(false), &["esc"], Reply::Answer(Answer::Dismissed)),
        (text(None), &["B", "o", "enter"], Reply::Answer(Answer::Entered("Bo".into()))),
        (text(Some("Al")), &["enter"], Reply::Answer(Answer::Entered("Al".into()))),
    ];
    for (kind, keys, reply) in cases {
        assert_eq!(press(kind.clone(), keys), reply, "{kind:?} {keys:?}");
    }
}

/// Every key there is that is not text in a field: plain, with control, with alt.
fn all_keys() -> Vec<Key> {
    let letters = ('a'..='z').chain('A'..='Z').chain('0'..='9').chain([' ', '.', 'é']).map(Code::Char);
    let named = [
        Code::Enter,
        Code::Tab,
        Code::BackTab,
        Code::Backspace,
        Code::Delete,
        Code::Esc,
        Code::Up,
        Code::Down,
    ];
    let more = [Code::Left, Code::Right, Code::Home, Code::End, Code::PageUp, Code::PageDown, Code::F(1)];
    let held = [(false, false), (true, false), (false, true), (true, true)];
    let codes = letters.chain(named).chain(more);
    codes.flat_map(|code| held.map(|(ctrl, alt)| Key { code, ctrl, alt, shift: false })).collect()
}

#[test]
fn no_key_answers_that_is_not_in_the_line_of_keys() {
    let confirm = |danger| AskKind::Confirm { message: "sure?".into(), yes: None, no: None, danger };
    let none = Sees { subject: false, rule: false, cut: true, ..ALL };
    for kind in [consent(Some("ls")), consent(None), confirm(false), confirm(true)] {
        let same = Sees { reach: Reach::Same, ..ALL };
        let unseen = Sees { rule: false, ..same };
        for sees in [ALL, Sees { rule: false, ..ALL }, none, Sees { short: true, ..ALL }, same, unseen] {
            let ask = ask(kind.clone());
            for key in all_keys() {
                let mut panel = AskPanel::open(&ask, Millis(0), None);
                let offers = offers::of_question(&panel, &ask, sees, false);
                let listed = offers.iter().any(|offer| key.to_string() == offer.key);
                let reply = panel.key(&ask, key, &offers);
                let does = matches!(reply, Reply::Answer(_) | Reply::Stop | Reply::Full)
                    || panel.mode == PanelMode::Reason;
                assert!(
                    listed || key.code == Code::Esc || !does,
                    "{key} does something: {reply:?} to {offers:?}"
                );
                assert!(
                    does || !listed || key.code == Code::Tab,
                    "{key} is listed and does nothing: {offers:?}"
                );
            }
        }
    }
}

#[test]
fn enter_answers_only_where_what_it_answers_is_seen() {
    let confirm = |danger| AskKind::Confirm { message: "?".into(), yes: None, no: None, danger };
    for kind in [consent(None), consent(Some("ls")), confirm(true), confirm(false), choose(true)] {
        assert!(matches!(press(kind.clone(), &["enter"]), Reply::Word(_)), "{kind:?}");
    }
    assert!(matches!(press(consent(None), &["r", "enter"]), Reply::Word(_)));
    let many: Vec<Choice> =
        (0..10).map(|at| Choice { id: at.to_string(), label: format!("c{at}"), detail: None }).collect();
    let ten = AskKind::Choose { message: String::new(), choices: many, many: false };
    assert!(matches!(press(ten.clone(), &["z", "z", "enter"]), Reply::Word(_)));
    assert_eq!(press(ten, &["c", "9", "enter"]), Reply::Answer(Answer::Chosen(vec!["9".into()])));
    assert!(matches!(press(text(None), &["alt-enter"]), Reply::Word(_)));
}

#[test]
fn what_is_not_seen_is_not_answered_until_all_of_it_was_viewed() {
    let unseen = Sees { subject: false, cut: true, ..ALL };
    let edit = AskKind::Edit { message: "better?".into(), prefill: "text".into() };
    for kind in [choose(false), choose(true), text(Some("Al")), edit] {
        let ask = ask(kind.clone());
        let mut panel = AskPanel::open(&ask, Millis(0), None);
        let press = |panel: &mut AskPanel, key: &str| {
            let sees = Sees { subject: panel.is_viewed(), ..unseen };
            let offers = offers::of_question(panel, &ask, sees, false);
            panel.key(&ask, key.parse().unwrap(), &offers)
        };
        if matches!(&kind, AskKind::Choose { many: true, .. }) {
            assert_eq!(press(&mut panel, "space"), Reply::Nothing);
        }
        // The beginning of the page alone, and its end without what lies between, are not all of it.
        for top in [0, 20] {
            assert_eq!(press(&mut panel, "f2"), Reply::Full, "{kind:?}");
            panel.viewed = panel.viewed.and(Sight { columns: 80, rows: 30, top, fits: 10 });
            assert!(
                matches!(press(&mut panel, "enter"), Reply::Word(word) if word.contains("view all of it first")),
                "{kind:?}"
            );
        }
        // On a screen of another width it is begun anew.
        panel.viewed = panel.viewed.and(Sight { columns: 60, rows: 30, top: 10, fits: 20 });
        assert!(matches!(press(&mut panel, "enter"), Reply::Word(_)), "{kind:?}");
        for top in [0, 10, 15] {
            panel.viewed = panel.viewed.and(Sight { columns: 60, rows: 25, top, fits: 10 });
        }
        assert!(matches!(press(&mut panel, "enter"), Reply::Answer(_)), "{kind:?}");
    }
}

#[test]
fn a_yes_for_the_session_says_how_far_it_reaches() {
    let words = |rule: Option<&str>, sees: Sees| {
        let ask = ask(consent(rule));
        let panel = AskPanel::open(&ask, Millis(0), None);
        let offers = offers::of_question(&panel, &ask, sees, false);
        offers.into_iter().find(|offer| offer.key == "s").map(|offer| offer.words.replace('\u{a0}', " "))
    };
    assert_eq!(words(Some("ls"), ALL).as_deref(), Some("for this session"));
    assert_eq!(words(Some("ls"), Sees { reach: Reach::Same, ..ALL }).as_deref(), Some("the same again"));
    assert_eq!(
        words(None, Sees { reach: Reach::Same, ..ALL }),
        None,
        "what is never remembered is asked every time"
    );
}

#[test]
fn keys_that_are_off_say_why() {
    let ask = ask(consent(Some("ls")));
    let mut panel = AskPanel::open(&ask, Millis(0), None);
    let offers = offers::of_question(&panel, &ask, Sees { rule: false, ..ALL }, false);
    for letter in ['s', 'a'] {
        let Reply::Word(word) = panel.key(&ask, Key::char(letter), &offers) else { panic!("{letter}") };
        assert!(word.contains("view all of it"), "{word}");
    }
    assert!(matches!(press(consent(None), &["a"]), Reply::Word(word) if word.contains("no rule")));
}

#[test]
fn a_secret_is_not_written_in_an_editor_that_keeps_it_in_a_file() {
    let secret = AskKind::Text {
        message: "?".into(),
        placeholder: None,
        default: None,
        secret: true,
        multiline: true,
    };
    assert_eq!(press(secret, &["ctrl-g"]), Reply::Nothing);
}

#[test]
fn every_answer_fits_its_ask() {
    for (kind, key) in [(consent(None), "y"), (choose(false), "enter"), (text(None), "enter")] {
        let Reply::Answer(answer) = press(kind.clone(), &[key]) else { panic!("no answer") };
        assert!(kind.accepts(&answer));
    }
}
