//! What every runtime role does with a question of any kind and length, on models of the screens that existing UIs draw of it.
//!
//! The models know no more than was seen of those programs: columns, rows, what is cut, and what Enter alone answers.

mod replies;
mod screens;
mod theirs;
mod wires;

use domain::ask::{AskKind, Assessment, Choice, Consent, MAX_SHOWN, Preview, Risk};
use domain::content::Json;
use domain::ids::ToolRunId;
use proptest::prelude::*;
use rolekit::shown::{choices_of, is_too_long, risk, show_question, visible, what, words_of};
use serde_json::{Value, json};
use wires::{WIRES, Wire};

/// The first and the last word of what is asked: whoever sees both has seen its two ends.
const HEAD: &str = "HEAD!";
const TAIL: &str = "!TAIL";
/// Stands in the rule, so that an offer to remember it is found wherever it stands.
const RULE: &str = "RULE-of-the-test";

fn consent(preview: Option<Preview>, args: String, risk: Risk, reasons: Vec<String>, rule: bool) -> Consent {
    Consent {
        tool: ToolRunId(0),
        name: "bash".to_owned(),
        args: Json::verbatim(args),
        preview,
        assessment: Assessment { risk, reasons, reversible: false, unrated: false },
        digest: domain::ask::ActionDigest("d".to_owned()),
        rule: rule.then(|| RULE.to_owned()),
        takes_reason: true,
    }
}

fn command(line: String, rule: bool) -> Consent {
    let preview = Some(Preview::Command { line, inner: Vec::new() });
    consent(preview, "{}".to_owned(), Risk::High, vec!["it changes files".to_owned()], rule)
}

/// What a yes would be for. The path of a diff stands where each wire has it.
fn said(asked: &Consent) -> String {
    match &asked.preview {
        Some(Preview::Diff { text, .. }) => text.clone(),
        _ => what(asked),
    }
}

/// Everything that must hold of a consent on one wire.
fn check(wire: &Wire, asked: &Consent) {
    let told = wire.ask("run it", &AskKind::Consent(Box::new(asked.clone())));
    let name = wire.name;
    let (all, words) = (what(asked), said(asked));
    let is_long = all.len() + "run it".len() > MAX_SHOWN;
    if !wire.asks {
        assert!(told.question.is_none(), "{name} asks nobody");
        return;
    }
    let Some(question) = &told.question else {
        assert!(is_long, "{name} did not ask about {} bytes", words.len());
        assert!(told.unanswerable, "{name}: the hub does not know that nobody is asked");
        assert!(told.said.contains("parlor attach --session"), "{name} does not say where it can be seen");
        return;
    };
    assert!(!is_long || wire.lossless, "{name} asked about {} bytes", words.len());
    let risk = risk(&asked.assessment).unwrap();
    let screen = &question.screen;
    // A word may be parted by the end of a row.
    let rows = screen.concat();
    let shows = |word: &str| rows.contains(word);
    assert!(shows(risk), "{name}: no risk on\n{}", screen.join("\n"));
    assert!(shows(question.no), "{name}: no way to say no on\n{}", screen.join("\n"));
    assert!(shows(HEAD) && shows(TAIL), "{name}: not both ends on\n{}", screen.join("\n"));
    let panel = &question.panel;
    let first = |word: &str| panel.iter().position(|row| row.contains(word));
    assert!(
        first(HEAD).is_none() || first(risk) <= first(HEAD),
        "{name}: the risk is late\n{}",
        panel.join("\n")
    );
    // All of it is on the screen, or whoever presses Enter says no and nothing lasts.
    let plain = |text: &str| text.replace(char::is_whitespace, "");
    let is_whole = question.scrolls || plain(&screen.concat()).contains(&plain(&visible(&words)));
    if !is_whole {
        assert!(!question.enter_allows, "{name}: Enter allows what is not shown\n{}", screen.join("\n"));
        assert!(
            !question.lasts,
            "{name}: offers more than once for what is not shown\n{}",
            screen.join("\n")
        );
    }
    if wire.lossless {
        assert!(plain(&told.said).contains(&plain(&words)), "{name} left something out");
    }
}

/// Everything that must hold of a question that is no consent on one wire.
fn check_question(wire: &Wire, title: &str, kind: &AskKind) {
    let told = wire.ask(title, kind);
    let name = wire.name;
    if !wire.asks_all {
        assert!(told.question.is_none(), "{name} asks nobody");
        return;
    }
    let is_long = is_too_long(title, kind);
    let Some(question) = &told.question else {
        assert!(is_long, "{name} did not ask {title:?}");
        assert!(told.unanswerable, "{name}: the hub does not know that nobody is asked");
        assert!(told.said.contains("parlor attach --session"), "{name} does not say where it can be seen");
        return;
    };
    assert!(!is_long || wire.lossless, "{name} asked what is too long");
    let screen = question.screen.join("\n");
    let plain = |text: &str| text.replace(char::is_whitespace, "");
    let shows = |word: &str| question.scrolls || plain(&screen).contains(&plain(&visible(word)));
    assert!(shows(HEAD) && shows(TAIL), "{name}: not both ends on\n{screen}");
    let (title, message) = words_of(title, kind);
    let in_sight = |choice: &Choice| shows(&choice.label) && choice.detail.as_deref().is_none_or(shows);
    let is_whole = shows(title) && shows(message) && choices_of(kind).iter().all(in_sight);
    if !is_whole {
        assert!(!question.enter_allows, "{name}: Enter answers what is not shown\n{screen}");
        assert!(!question.lasts && shows(question.no), "{name}: no way to say no on\n{screen}");
        // Where it can be read: a text before it, or a widget beside it.
        let said = plain(&told.said);
        assert!(said.contains(&plain(&visible(message))), "{name}: the whole is nowhere\n{screen}");
    }
}

fn choices(labels: &[String]) -> Vec<Choice> {
    let choice = |(at, label): (usize, &String)| Choice {
        id: format!("c{at}"),
        label: label.clone(),
        detail: (at % 2 == 0).then(|| format!("as {label}")),
    };
    labels.iter().enumerate().map(choice).collect()
}

/// Each kind of question that is no consent.
fn kinds(message: &str, labels: &[String]) -> Vec<AskKind> {
    let message = message.to_owned();
    let choose = |many| AskKind::Choose { message: message.clone(), choices: choices(labels), many };
    let confirm = |danger| AskKind::Confirm { message: message.clone(), yes: None, no: None, danger };
    let (placeholder, default) = (None, None);
    vec![
        confirm(false),
        confirm(true),
        choose(false),
        choose(true),
        AskKind::Text { message: message.clone(), placeholder, default, secret: false, multiline: false },
        AskKind::Edit { message: message.clone(), prefill: "so far".to_owned() },
    ]
}

#[test]
fn every_kind_of_question_is_shown_whole_or_with_its_ends_and_the_no_first() {
    let few: Vec<String> = ["Do not start it", "Start it to read only"].map(str::to_owned).to_vec();
    let many: Vec<String> = (0..7).map(|at| format!("Choice number {at} with some words")).collect();
    let long = vec!["a label that goes on ".repeat(20), "the other".to_owned()];
    for length in [0, 60, 300, 900, 6_600, MAX_SHOWN + 1] {
        for filler in ["a", "word ", "line\n"] {
            let message = format!("{HEAD} {} {TAIL}", filler.repeat(length / filler.len()));
            for labels in [&few, &many, &long] {
                for kind in kinds(&message, labels) {
                    WIRES.iter().for_each(|wire| check_question(wire, "This project brings a server", &kind));
                }
            }
        }
    }
}

#[test]
fn a_long_title_is_what_is_asked() {
    let title = format!("{HEAD} {} {TAIL}", "and more ".repeat(700));
    let labels = ["yes".to_owned(), "no".to_owned()];
    for kind in kinds("", &labels).into_iter().chain(kinds(&title, &labels)) {
        WIRES.iter().for_each(|wire| check_question(wire, &title, &kind));
    }
}

#[test]
fn to_give_no_answer_is_none_of_the_choices() {
    let mut all = choices(&["a".to_owned(), "b".to_owned()]);
    all[1].id = "no_answer".to_owned();
    let kind = AskKind::Choose { message: "m\n".repeat(50), choices: all, many: false };
    let shown = show_question("t", &kind, 6).unwrap();
    let ids: Vec<&str> = shown.choices.iter().map(|choice| choice.id.as_str()).collect();
    assert_eq!(ids, ["no_answer_", "c0", "no_answer"]);
    assert!(shown.is_no_answer(&["no_answer_".to_owned()]) && !shown.is_no_answer(&["no_answer".to_owned()]));
}

#[test]
fn every_wire_of_this_build_is_tried() {
    let tried: Vec<&str> = WIRES.iter().map(|wire| wire.name).collect();
    let all: Vec<&str> = dialects::ALL.iter().map(|dialect| dialect.name()).collect();
    for name in all {
        assert!(tried.iter().any(|tried| tried.starts_with(name)), "{name} is not tried");
    }
}

#[test]
fn a_yes_is_for_what_was_shown_or_has_to_be_looked_for() {
    let fillers = ["a", "line\n", "a b ", "&& cp x y ", "\n", "漢", "\t"];
    let short = [0, 40, 300, 400, 900, 4_100].into_iter().flat_map(|length| fillers.map(|one| (one, length)));
    let long = [MAX_SHOWN - 200, MAX_SHOWN + 1].into_iter().map(|length| ("a line\n", length));
    for (filler, length) in short.chain(long) {
        let middle = filler.repeat(length / filler.len());
        let line = command(format!("{HEAD} {middle} {TAIL}"), true);
        let text = format!("+{HEAD}\n{middle}\n+{TAIL}\n");
        let preview = Some(Preview::Diff { path: "a.rs".to_owned(), text });
        let diff = consent(preview, "{}".to_owned(), Risk::Medium, Vec::new(), length % 3 != 0);
        for wire in WIRES {
            check(wire, &line);
            check(wire, &diff);
        }
    }
}

#[test]
fn nothing_that_a_screen_obeys_or_hides_is_left_out() {
    let hidden = "a\u{1b}[2Jb\r\u{202e}c\u{200b}d";
    assert_eq!(visible(hidden), r"a\u{1b}[2Jb\r\u{202e}c\u{200b}d");
    for wire in WIRES.iter().filter(|wire| wire.asks) {
        let told =
            wire.ask("run it", &AskKind::Consent(Box::new(command(format!("{HEAD} {hidden} {TAIL}"), true))));
        let question = told.question.unwrap_or_else(|| panic!("{} did not ask", wire.name));
        let screen = question.screen.join("\n");
        // An editor is no terminal, and Parlor's own screens write it out themselves.
        assert!(question.scrolls || screen.contains(r"\u{1b}[2J"), "{}: {screen}", wire.name);
    }
}

/// Whether a text that a person reads holds what they cannot see. What is meant for programs is as it is.
fn hides(json: &Value) -> bool {
    match json {
        // For a terminal in raw mode a line ends with a return.
        Value::String(text) => text.replace("\r\n", "\n").contains(domain::harmless::is_hidden),
        Value::Array(items) => items.iter().any(hides),
        Value::Object(members) => {
            let for_programs = ["_meta", "rawInput", "arguments", "opts", "locations", "prefill", "default"];
            members.iter().any(|(name, member)| !for_programs.contains(&name.as_str()) && hides(member))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

#[test]
fn nothing_that_nobody_sees_goes_out_with_a_question() {
    let hidden = "rm\u{2060} -rf\u{a0}x\u{202e}y\u{1b}[8mz\u{3164}\u{e0041}\r\u{ad}";
    let args = json!({ "command": hidden }).to_string();
    let mut tool = command(hidden.to_owned(), false);
    (tool.args, tool.assessment.reasons) = (Json::verbatim(args), vec![hidden.to_owned()]);
    let text = Consent { preview: Some(Preview::Text(hidden.to_owned())), ..tool.clone() };
    let mut all = kinds(hidden, &[hidden.to_owned(), "plain".to_owned()]);
    all.extend([tool, text].map(|consent| AskKind::Consent(Box::new(consent))));
    all.push(AskKind::Confirm {
        message: "?".to_owned(),
        yes: Some(hidden.to_owned()),
        no: Some(hidden.to_owned()),
        danger: true,
    });
    for wire in WIRES.iter().filter(|wire| !wire.lossless) {
        for kind in &all {
            let (_, sent) = wire.put(hidden, kind);
            let shown = sent.iter().find(|line| hides(line));
            assert!(shown.is_none(), "{}: {}", wire.name, shown.unwrap());
        }
    }
}

/// Any text, of any width and any number of lines, between its two ends.
fn anything() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        "[ -~]{0,90}",
        "[a-z \n\t]{0,90}",
        r"\PC{0,60}",
        "[漢字😀é\u{301}\u{200d}]{0,40}",
        "[\u{1b}\r\u{202e}\u{0}\u{9b}x]{0,20}",
        "\n{0,40}",
    ];
    // Doubled, so that every length from nothing to more than anybody is asked about comes.
    let doubled =
        |(pieces, times): (Vec<String>, u32)| format!("{HEAD} {} {TAIL}", pieces.concat().repeat(1 << times));
    (proptest::collection::vec(piece, 0..6), 0u32..10).prop_map(doubled)
}

proptest! {
    #![proptest_config(ProptestConfig { max_shrink_iters: 64, ..testkit::cases(32) })]

    #[test]
    fn any_consent_is_shown_whole_or_with_its_ends_and_the_no_first(
        text in anything(),
        kind in 0..3,
        risk in prop_oneof![Just(Risk::Low), Just(Risk::Medium), Just(Risk::High), Just(Risk::Critical)],
        reasons in proptest::collection::vec("[a-z ]{1,60}", 0..5),
        rule in any::<bool>(),
    ) {
        let preview = match kind {
            0 => Some(Preview::Command { line: text, inner: Vec::new() }),
            1 => Some(Preview::Diff { path: "src/a.rs".to_owned(), text }),
            _ => Some(Preview::Text(text)),
        };
        let asked = consent(preview, "{}".to_owned(), risk, reasons, rule);
        for wire in WIRES {
            check(wire, &asked);
        }
    }

    #[test]
    fn any_question_is_shown_whole_or_with_its_ends_and_the_no_first(
        text in anything(),
        labels in proptest::collection::vec(r"\PC{1,30}|[a-z ]{1,120}", 1..8),
        in_title in any::<bool>(),
    ) {
        let (title, message) = if in_title { (text.as_str(), "") } else { ("What now?", text.as_str()) };
        for kind in kinds(message, &labels) {
            WIRES.iter().for_each(|wire| check_question(wire, title, &kind));
        }
    }
}
