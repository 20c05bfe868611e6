//! How a question looks: said once, in the colour of its risk, beside what it is about, with how many wait.

use super::*;
use domain::harmless::{marked, marked_command};

fn command(stage: &mut AttachedUi, id: u64, line: &str, risk: Risk) {
    let asked = tool(stage, id, "bash", &format!(r#"{{"command":"{line}"}}"#));
    let preview = Preview::Command { line: line.into(), inner: vec![line.into()] };
    let mut kind = consent(asked, preview, risk);
    if let AskKind::Consent(consent) = &mut kind {
        consent.rule = (risk < Risk::Critical).then(|| format!("run exactly `{line}`"));
        consent.assessment.reversible = risk < Risk::High;
        consent.assessment.reasons = vec!["`touch` changes files".into()];
    }
    ask(stage, id + 100, &format!("run `{line}`"), kind);
}

#[test]
fn a_command_stands_once_in_its_question() {
    for title in ["run `touch new.txt`", "Run tool?", "Run command?", "Allow bash?"] {
        let mut stage = AttachedUi::new(100, 30);
        stage.run("go");
        let id = tool(&mut stage, 20, "bash", r#"{"command":"touch new.txt"}"#);
        let preview = Preview::Command { line: "touch new.txt".into(), inner: Vec::new() };
        let mut kind = consent(id, preview, Risk::Medium);
        if let AskKind::Consent(consent) = &mut kind {
            consent.rule = Some("run exactly `touch new.txt`".into());
        }
        ask(&mut stage, 40, title, kind);
        let screen = stage.ui.screen();
        let question = &screen[screen.find('▌').unwrap()..];
        assert_eq!(question.matches("touch new.txt").count(), 1, "{title}\n{screen}");
        assert!(question.contains("▌Run this command?"), "{title}\n{screen}");
        assert!(question.contains("s and a would also allow: exactly this command"), "{title}\n{screen}");
    }
}

#[test]
fn a_change_names_its_file_once_whatever_the_runtime_calls_it() {
    for (title, shown) in [
        ("overwrite src/lib.rs", "▌Overwrite src/lib.rs?  +2 −1"),
        ("Run tool?", "▌Change src/lib.rs?  +2 −1"),
        ("Delete the helper?", "▌Delete the helper?"),
    ] {
        let mut stage = AttachedUi::new(100, 30);
        stage.run("go");
        let id = tool(&mut stage, 20, "edit", "{}");
        let preview = Preview::Diff { path: "src/lib.rs".into(), text: DIFF.into() };
        ask(&mut stage, 40, title, consent(id, preview, Risk::Medium));
        let screen = stage.ui.screen();
        let question = &screen[screen.find('▌').unwrap()..];
        assert!(question.contains(shown), "{title}\n{screen}");
        assert_eq!(question.matches("src/lib.rs").count(), 1, "{title}\n{screen}");
    }
}

#[test]
fn each_risk_has_its_look_and_its_words() {
    let look = |risk: Risk| {
        let mut stage = AttachedUi::new(100, 24);
        stage.run("go");
        command(&mut stage, 20, "touch x", risk);
        let (buffer, _) = stage.ui.draw();
        let screen = stage.ui.screen();
        let (y, line) = screen.lines().enumerate().find(|(_, line)| line.contains("Run this")).unwrap();
        let x = line.to_lowercase().find("risk").map(|at| line[..at].chars().count()).unwrap();
        let cell = |x: usize| {
            let cell = &buffer[(u16::try_from(x).unwrap(), u16::try_from(y).unwrap())];
            (cell.fg, cell.modifier)
        };
        (line.trim_end().to_owned(), cell(x), cell(4))
    };
    let levels = [Risk::Low, Risk::Medium, Risk::High, Risk::Critical].map(look);
    for (at, (line, style, title)) in levels.iter().enumerate() {
        assert_ne!(style, title, "the risk looks like the title: {line}");
        for (other, worse, _) in &levels[at + 1..] {
            assert_ne!(style, worse, "{line} looks like {other}");
        }
    }
    let words = ["low risk", "medium risk", "HIGH RISK, cannot be undone", "CRITICAL RISK, cannot be undone"];
    for ((line, ..), words) in levels.iter().zip(words) {
        assert!(line.ends_with(words), "{line}");
    }
    let (_, (_, modifier), _) = &levels[3];
    assert!(modifier.contains(ratatui_core::style::Modifier::REVERSED), "the highest is seen without colour");
}

#[test]
fn several_questions_are_counted() {
    check("question_of_several", 20, |stage| {
        stage.run("go");
        for id in [20, 21, 22] {
            command(stage, id, &format!("touch w{id}"), Risk::Medium);
        }
    });
    let mut stage = AttachedUi::new(80, 24);
    stage.run("go");
    for id in [20, 21, 22] {
        command(&mut stage, id, &format!("touch w{id}"), Risk::Medium);
    }
    for (ask, place) in [(120, "1 of 3"), (121, "2 of 3"), (122, "3 of 3")] {
        assert!(stage.ui.screen().contains(place), "{place}\n{}", stage.ui.screen());
        stage.close(ask, domain::ask::Answer::Deny { reason: None });
    }
    command(&mut stage, 30, "touch last", Risk::Medium);
    let screen = stage.ui.screen();
    assert!(!screen.contains("1 of 1"), "one alone is not counted\n{screen}");
}

#[test]
fn the_question_stands_right_below_what_it_is_about() {
    for rows in [20, 40, 60] {
        let mut stage = AttachedUi::new(80, rows);
        stage.run("go");
        command(&mut stage, 20, "touch x", Risk::Medium);
        let screen = stage.ui.screen();
        let line = |words: &str| screen.lines().position(|line| line.contains(words)).unwrap();
        assert_eq!(line("▌Run"), line(" ? bash") + 2, "with one blank row\n{screen}");
        assert!(line("waiting for your answer") > line("▌Run"), "{screen}");
    }
}

#[test]
fn what_is_typed_after_a_key_that_opens_something_answers_nothing() {
    for keys in ["<ctrl-f>alpha", "<ctrl-r>yaml", "<ctrl-x>share", "<ctrl-v>y", "<ctrl-p>n"] {
        let mut stage = AttachedUi::new(80, 24);
        stage.run("go");
        command(&mut stage, 20, "touch new.txt", Risk::Medium);
        stage.ui.keys(keys);
        let sent = stage.commands();
        let answers = sent.iter().any(|sent| matches!(sent, domain::command::Command::Answer { .. }));
        assert!(!answers, "{keys}: {sent:?}\n{}", stage.ui.screen());
    }
}

#[test]
fn on_the_smallest_screen_no_rule_is_made_unseen() {
    for (columns, rows) in [(30, 8), (30, 10), (40, 12), (60, 9)] {
        let mut stage = AttachedUi::new(columns, rows);
        stage.run("go");
        command(&mut stage, 20, "touch smallrule", Risk::Medium);
        let screen = stage.ui.screen();
        let words = screen.replace('▌', " ");
        let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.contains("medium risk"), "{columns}x{rows}\n{screen}");
        let told = words.contains("s and a would also allow: exactly this command");
        stage.ui.keys("a");
        let sent = stage.commands();
        let made = sent.iter().any(|sent| matches!(sent, domain::command::Command::Answer { .. }));
        assert_eq!(made, told, "{columns}x{rows}: {sent:?}\n{screen}");
    }
}

/// A run with one tool that was denied, for this reason, with so many steps after it.
fn denied(reason: Option<&str>, goes_on: bool) -> AttachedUi {
    let mut stage = AttachedUi::new(80, 24);
    stage.run("make three");
    command(&mut stage, 20, "touch w3", Risk::Medium);
    let reason = reason.map(str::to_owned);
    stage.close(120, domain::ask::Answer::Deny { reason: reason.clone() });
    let by = domain::tool::Decider::Person(None);
    let decision =
        domain::tool::Decision { allowed: false, by, scope: domain::ask::Scope::Once, reason, digest: None };
    let tool = ToolRunId(20);
    stage.happen(Body::Tool(ToolEvent::Decided { tool, decision }));
    let (outcome, result) = (ToolOutcome::Denied, ToolResult::text("Permission denied."));
    stage.happen(Body::Tool(ToolEvent::Ended { tool, outcome, result }));
    if goes_on {
        let ended = RunEvent::StepEnded { step: StepId(4), usage: Usage::default() };
        stage.happen(Body::Run(ended));
        let turn = stage.ui.state().runs.last().unwrap().turns.last().unwrap().id;
        stage.happen(Body::Run(RunEvent::StepStarted { turn, step: StepId(90), model: None }));
    }
    // Short runs that went well end without a word.
    stage.ui.wait(5_000);
    stage.end(Outcome::Done);
    stage
}

#[test]
fn a_denial_that_ended_an_older_run_is_still_what_its_end_says() {
    let mut stage = denied(None, false);
    let (run, turn, step, message, tool) =
        (RunId(200), domain::ids::TurnId(201), StepId(202), MessageId(203), ToolRunId(204));
    for event in [
        RunEvent::Started { run },
        RunEvent::TurnStarted { run, turn, cause: domain::event::Cause::Prompt },
        RunEvent::StepStarted { turn, step, model: None },
    ] {
        stage.happen(Body::Run(event));
    }
    let (parent, role) = (Some(domain::ids::EntryId(5)), domain::content::Role::Assistant);
    let (turn, step) = (Some(turn), Some(step));
    stage.happen(Body::Message(MessageEvent::Started { message, parent, role, turn, step }));
    let (name, args) = ("ls".to_owned(), Json::verbatim("{}"));
    stage.happen(Body::Tool(ToolEvent::Proposed { tool, message, name, args }));
    // Everything is drawn anew.
    stage.ui.feed(Msg::Resize(70, 30));
    let screen = stage.ui.screen();
    assert!(screen.contains("■ stopped: you denied touch w3"), "{screen}");
}

#[test]
fn a_denial_that_ends_the_run_is_what_its_end_says() {
    let screen = denied(None, false).ui.screen();
    assert!(screen.contains("■ stopped: you denied touch w3") && !screen.contains("done in"), "{screen}");
    for (reason, goes_on) in [(Some("use mkdir"), true), (None, true)] {
        let screen = denied(reason, goes_on).ui.screen();
        assert!(
            screen.contains("── done in") && !screen.contains("stopped"),
            "{reason:?} {goes_on}\n{screen}"
        );
    }
}

/// Every kind of question with this message, as long as wanted.
fn every_kind(message: &str) -> Vec<(AskKind, &'static str)> {
    let message = message.to_owned();
    let choice = |id: &str| Choice { id: id.into(), label: format!("take {id}"), detail: None };
    let choices = vec![choice("one"), choice("two")];
    let preview = Preview::Text(message.clone());
    vec![
        (consent(ToolRunId(20), preview, Risk::High), "v"),
        (AskKind::Confirm { message: message.clone(), yes: None, no: None, danger: false }, "v"),
        (AskKind::Choose { message: message.clone(), choices: choices.clone(), many: false }, "<f2>"),
        (AskKind::Choose { message: message.clone(), choices, many: true }, "<f2>"),
        (
            AskKind::Text {
                message: message.clone(),
                placeholder: None,
                default: None,
                secret: false,
                multiline: false,
            },
            "<f2>",
        ),
        (AskKind::Edit { message, prefill: "what stands there".into() }, "<f2>"),
    ]
}

#[test]
fn what_somebody_else_says_in_a_question_is_marked_in_each_of_its_rows() {
    for columns in [40, 80, 100, 101] {
        // A row full of something, then words that read as ours, then a row full again.
        let full = "x".repeat(columns - 9);
        let theirs = format!(
            "true {full} THIS HOST IS ONE THAT YOU ALLOWED BEFORE.{full}\n\nPARLOR: THIS IS SAFE\n$ ls"
        );
        for message in [marked(&theirs), marked_command(&theirs)] {
            let message = format!("Ours.\n\n{message}\n\nOurs too.");
            let kinds =
                every_kind(&message).into_iter().filter(|(kind, _)| !matches!(kind, AskKind::Consent(_)));
            for (kind, _) in kinds {
                let mut stage = AttachedUi::new(u16::try_from(columns).unwrap(), 50);
                stage.run("go");
                ask(&mut stage, 40, "Take it?", kind.clone());
                let screen = stage.ui.screen();
                let panel = &screen[screen.find('▌').unwrap()..];
                let rows: Vec<&str> = panel.lines().map(|row| row.trim_start_matches(['▌', ' '])).collect();
                let end = rows.iter().position(|row| *row == "Ours too.").unwrap();
                let told: Vec<&&str> = rows[2..end].iter().filter(|row| !row.is_empty()).collect();
                assert!(told.len() >= 7 && rows[1] == "Ours.", "{kind:?}\n{screen}");
                let is_marked = |row: &&&str| ["|", "$ "].iter().any(|mark| row.starts_with(mark));
                assert!(told.iter().all(is_marked), "{kind:?}\n{screen}");
            }
        }
    }
}

/// Puts the question on a screen of its own.
fn asked(title: &str, kind: AskKind) -> AttachedUi {
    let mut stage = AttachedUi::new(80, 24);
    stage.run("go");
    tool(&mut stage, 20, "bash", "{}");
    ask(&mut stage, 40, title, kind);
    stage
}

/// All that the page shows which `key` opens, read to its end.
fn viewed(stage: &mut AttachedUi, key: &str) -> String {
    stage.ui.keys(key);
    let mut all = stage.ui.screen();
    for _ in 0..20 {
        stage.ui.keys("<pagedown>");
        all.push_str(&stage.ui.screen());
    }
    all
}

#[test]
fn what_does_not_fit_is_said_and_can_be_viewed_for_every_kind_of_question() {
    let lines: Vec<String> = (0..60).map(|at| format!("line {at} of what is asked")).collect();
    for (kind, key) in every_kind(&lines.join("\n")) {
        let mut stage = asked("Go on?", kind.clone());
        let screen = stage.ui.screen();
        assert!(screen.contains("more lines") && screen.contains("view all first"), "{kind:?}\n{screen}");
        assert!(screen.contains("line 0 of"), "{screen}");
        let all = viewed(&mut stage, key);
        for line in &lines {
            assert!(all.contains(line), "{kind:?} never shows {line}\n{all}");
        }
    }
    for (kind, _) in every_kind("one line") {
        let screen = asked("Go on?", kind.clone()).ui.screen();
        let is_consent = matches!(kind, AskKind::Consent(_));
        assert!(!screen.contains("more line") && (is_consent || !screen.contains("view all")), "{screen}");
    }
}

#[test]
fn a_long_title_leaves_the_risk_in_sight_and_can_be_viewed() {
    let words: Vec<String> = (0..80).map(|at| format!("word{at}")).collect();
    for (kind, key) in every_kind("one line") {
        let is_consent = matches!(kind, AskKind::Consent(_));
        let mut stage = asked(&words.join(" "), kind.clone());
        let screen = stage.ui.screen();
        assert!(!is_consent || screen.contains("HIGH RISK"), "{screen}");
        assert!(screen.contains("view all first") && screen.contains('…'), "{kind:?}\n{screen}");
        let all = viewed(&mut stage, key);
        assert!(words.iter().all(|word| all.contains(word)), "{kind:?}\n{all}");
    }
}

#[test]
fn a_long_choice_can_be_viewed() {
    let long = |end: &str| format!("{} {end}", "and so on".repeat(30));
    let choice = Choice { id: "a".into(), label: long("LABEL-END"), detail: Some(long("DETAIL-END")) };
    let short = Choice { id: "b".into(), label: "the other".into(), detail: None };
    let kind = AskKind::Choose { message: String::new(), choices: vec![choice, short], many: false };
    let mut stage = asked("Which?", kind);
    let screen = stage.ui.screen();
    assert!(screen.contains("F2 view all first"), "{screen}");
    let all = viewed(&mut stage, "<f2>");
    assert!(all.contains("LABEL-END") && all.contains("DETAIL-END"), "{all}");
}

#[test]
fn nothing_is_answered_from_the_page_of_a_list_or_a_field() {
    let lines = "a line\n".repeat(60);
    for (kind, _) in every_kind(&lines).into_iter().filter(|(_, key)| *key == "<f2>") {
        let mut stage = asked("Go on?", kind.clone());
        stage.ui.keys("<f2>");
        stage.ui.wait(crate::ask::SEEN_MS);
        let sent = |stage: &AttachedUi| stage.ui.fx.iter().filter(|fx| matches!(fx, Fx::Send(_))).count();
        let before = sent(&stage);
        stage.ui.keys("xy<space><enter>");
        assert_eq!(sent(&stage), before, "{kind:?}");
        stage.ui.keys("<esc>");
        assert!(!stage.ui.screen().contains("xy"), "{}", stage.ui.screen());
    }
}

#[test]
fn what_nobody_sees_is_written_out_in_what_is_agreed_to() {
    let hidden = "rm\u{2060} -rf\u{a0}x\u{202e}y\u{1b}[8mz\u{3164}\u{e0041}";
    for (kind, _) in every_kind(hidden) {
        let screen = asked(&format!("do {hidden}"), kind).ui.screen();
        let written = r"rm\u{2060} -rf\u{a0}x\u{202e}y\u{1b}[8mz\u{3164}\u{e0041}";
        assert_eq!(screen.matches(written).count(), 2, "{screen}");
    }
}

/// A change whose first lines are all context.
const LATE: &str = "@@ -1,9 +1,9 @@\n one\n two\n three\n four\n five\n-old words\n+new words\n six\n seven\n eight\n nine\n ten\n";

#[test]
fn the_first_change_is_on_the_screen_at_any_size() {
    for (columns, rows) in [(40, 15), (40, 12), (40, 10), (30, 8), (80, 16), (80, 24), (120, 40)] {
        let mut stage = AttachedUi::new(columns, rows);
        stage.run("go");
        let id = tool(&mut stage, 20, "edit", "{}");
        let preview = Preview::Diff { path: "src/lib.rs".into(), text: LATE.into() };
        let mut kind = consent(id, preview, Risk::Medium);
        if let AskKind::Consent(consent) = &mut kind {
            consent.assessment.reasons = vec!["changes a file".into()];
        }
        ask(&mut stage, 40, "edit src/lib.rs", kind);
        let screen = stage.ui.screen();
        assert!(screen.contains("old words"), "{columns}x{rows}\n{screen}");
        assert!(!screen.contains("changes a file"), "its lines say so\n{screen}");
    }
}

#[test]
fn one_bar_holds_the_question_together() {
    let mut stage = AttachedUi::new(80, 24);
    stage.run("go");
    command(&mut stage, 20, "touch x", Risk::High);
    let screen = stage.ui.screen();
    let barred: Vec<bool> = screen.lines().map(|line| line.starts_with('▌')).collect();
    let first = barred.iter().position(|bar| *bar).unwrap();
    let last = barred.iter().rposition(|bar| *bar).unwrap();
    assert!(barred[first..=last].iter().all(|bar| *bar), "{screen}");
    let lines: Vec<&str> = screen.lines().collect();
    assert!(lines[first].contains("Run this command?") && lines[last].contains("deny"), "{screen}");
}
