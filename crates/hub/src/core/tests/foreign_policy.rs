//! A runtime with rules of its own: no mode of ours is taken for it but read-only, and that only where it asks.

use super::rules::{behind, says, wants};
use super::*;
use crate::core::MAX_REQUESTS;
use domain::ask::Choice;
use domain::command::{DiffSince, ExportFormat, FilesCommand};
use domain::fact::{FactAsk, Said};
use domain::port::Abilities;

fn told(consent: bool) -> Abilities {
    Abilities { name: "theirs".into(), cancel: true, consent, ..Abilities::default() }
}

fn set(bench: &mut Bench, policy: Policy) -> Result<Receipt, Refusal> {
    bench.command(TERMINAL, Command::Session(SessionCommand::SetPolicy { policy }))
}

/// The prompts that the runtime heard.
fn heard(bench: &Bench) -> usize {
    let prompt = |out: &&CoreEffect| {
        matches!(
            out,
            CoreEffect::Order(Order::Consult { command: Command::Run(RunCommand::Prompt { .. }), .. })
        )
    };
    bench.outs.iter().filter(prompt).count()
}

fn prompt(bench: &mut Bench, ticket: u64) {
    let options = PromptOptions::default();
    let command = Command::Run(RunCommand::Prompt { input: Input::text("go"), options });
    bench.step(CoreInput::Command { ui: TERMINAL, ticket: Ticket(ticket), target: Target::Current, command });
}

fn demanding(engine: Engine, policy: Policy, require_consent: bool) -> Bench {
    let mut bench = Bench::with(engine, None);
    bench.core.setup.policy = policy;
    bench.core.setup.require_consent = require_consent;
    bench.core.runtime_session(Millis(bench.now));
    bench.step(CoreInput::Left { ui: TERMINAL });
    bench.arrive(TERMINAL, Answers::ALL, Standing::Controller);
    bench
}

#[test]
fn a_mode_that_nobody_can_keep_is_refused_with_what_to_do() {
    for policy in [Policy::Ask, Policy::AutoEdit, Policy::Sandboxed, Policy::Full] {
        let (mut bench, _) = behind(Answers::ALL);
        bench.step(CoreInput::Abilities(told(true)));
        let refused = set(&mut bench, policy).expect_err("refused");
        assert_eq!(refused.kind, RefusalKind::Unsupported);
        assert!(refused.to_string().contains("where the runtime is started"), "{refused}");
        assert_eq!(bench.state().settings.policy, Policy::default());
    }
}

#[test]
fn what_a_runtime_of_another_program_did_to_files_is_not_taken_back_and_the_reason_is_said() {
    let (mut bench, _) = behind(Answers::ALL);
    for abilities in [None, Some(told(true))] {
        if let Some(abilities) = abilities {
            bench.step(CoreInput::Abilities(abilities));
        }
        for command in [FilesCommand::Undo { leave: false }, FilesCommand::Diff { since: DiffSince::Commit }]
        {
            let refused = bench.command(TERMINAL, Command::Files(command)).expect_err("refused");
            assert_eq!(refused.kind, RefusalKind::Unsupported);
            assert!(refused.to_string().contains("only what Parlor's own agent does to files"), "{refused}");
        }
    }
}

#[test]
fn read_only_denies_what_is_asked_now_and_later_and_in_other_sessions() {
    let (mut bench, session) = behind(Answers::ALL);
    bench.step(CoreInput::Abilities(told(true)));
    says(&mut bench, &session, wants("open"));
    assert_eq!(bench.closings(), []);
    set(&mut bench, Policy::ReadOnly).expect("taken");
    says(&mut bench, &session, wants("later"));
    let denials = bench.closings();
    assert_eq!(denials.len(), 2);
    let denied = |closing: &Closing| {
        matches!(closing, Closing::Answered { answer: Answer::Deny { reason: Some(_) }, .. })
    };
    assert!(denials.iter().all(denied), "{denials:?}");
    assert!(bench.state().asks.is_empty());
    let deciders: Vec<_> = bench.state().tools.values().filter_map(|tool| tool.decision.clone()).collect();
    assert!(deciders.iter().all(|decision| !decision.allowed && decision.by == Decider::Policy));
    assert_eq!((deciders.len(), bench.state().settings.policy), (2, Policy::ReadOnly));
    let other = bench.core.create(None, None, None).expect("made");
    assert_eq!(bench.core.state(&other).map(|state| state.settings.policy), Some(Policy::ReadOnly));
}

#[test]
fn from_read_only_there_is_a_way_back_to_being_asked() {
    let (mut bench, session) = behind(Answers::ALL);
    bench.step(CoreInput::Abilities(told(true)));
    set(&mut bench, Policy::ReadOnly).expect("taken");
    assert!(set(&mut bench, Policy::Full).is_err());
    set(&mut bench, Policy::Ask).expect("taken back");
    says(&mut bench, &session, wants("t"));
    assert_eq!((bench.closings(), bench.state().asks.len()), (vec![], 1));
}

#[test]
fn a_runtime_that_never_asks_cannot_be_held_to_read_only() {
    let (mut bench, _) = behind(Answers::ALL);
    bench.step(CoreInput::Abilities(told(false)));
    let refused = set(&mut bench, Policy::ReadOnly).expect_err("refused");
    assert!(refused.to_string().contains("acts without asking"), "{refused}");
    assert_eq!(bench.state().settings.policy, Policy::default());
}

#[test]
fn nothing_is_said_to_a_runtime_that_had_to_ask_and_does_not() {
    for (engine, policy, required) in [
        (Engine::Followed, Policy::Ask, true),
        (Engine::Mirrored, Policy::Ask, true),
        (Engine::Followed, Policy::ReadOnly, false),
    ] {
        let mut bench = demanding(engine, policy, required);
        prompt(&mut bench, 900);
        bench.step(CoreInput::Abilities(Abilities::untold()));
        assert_eq!(heard(&bench), 0, "it has not told yet whether it asks");
        bench.step(CoreInput::Abilities(told(false)));
        assert_eq!(heard(&bench), 0);
        let refused =
            |out: &CoreEffect| matches!(out, CoreEffect::Settle { ticket: Ticket(900), with: Err(_), .. });
        assert!(bench.outs.iter().any(refused), "whoever waits hears of it");
        let let_go =
            |out: &CoreEffect| matches!(out, CoreEffect::LetGo(why) if why.contains("acts without asking"));
        assert!(bench.outs.iter().any(let_go), "{:?}", bench.outs);
    }
}

#[test]
fn a_runtime_that_asks_hears_what_was_said_before_it_told() {
    for engine in [Engine::Followed, Engine::Mirrored] {
        let mut bench = demanding(engine, Policy::Ask, true);
        prompt(&mut bench, 900);
        prompt(&mut bench, 901);
        assert_eq!(heard(&bench), 0);
        bench.step(CoreInput::Abilities(told(true)));
        assert_eq!(heard(&bench), 2);
        assert!(!bench.outs.iter().any(|out| matches!(out, CoreEffect::LetGo(_))));
        // One that stops asking is let go as well.
        bench.step(CoreInput::Abilities(told(false)));
        assert!(bench.outs.iter().any(|out| matches!(out, CoreEffect::LetGo(_))));
    }
}

#[test]
fn what_waits_for_a_runtime_to_tell_is_bounded() {
    let mut bench = demanding(Engine::Followed, Policy::Ask, true);
    for ticket in 0..=MAX_REQUESTS as u64 {
        prompt(&mut bench, 1_000 + ticket);
    }
    let too_many = |out: &&CoreEffect| matches!(out, CoreEffect::Settle { with: Err(refusal), .. } if refusal.kind == RefusalKind::TooMany);
    assert_eq!(bench.outs.iter().filter(too_many).count(), 1);
}

#[test]
fn a_session_is_written_out_here_where_the_runtime_cannot() {
    let format = ExportFormat::Markdown;
    let export = || Command::Library(LibraryCommand::Export { session: None, format });
    let (mut bench, _) = behind(Answers::ALL);
    bench.step(CoreInput::Abilities(told(true)));
    bench.step(CoreInput::Command {
        ui: TERMINAL,
        ticket: Ticket(7),
        target: Target::Current,
        command: export(),
    });
    let asked =
        |bench: &Bench| bench.outs.iter().any(|out| matches!(out, CoreEffect::Order(Order::Consult { .. })));
    assert!(!asked(&bench));
    bench.step(CoreInput::Abilities(Abilities { export: true, ..told(true) }));
    bench.step(CoreInput::Command {
        ui: TERMINAL,
        ticket: Ticket(8),
        target: Target::Current,
        command: export(),
    });
    assert!(asked(&bench));
}

/// A runtime that asks about a command, and the answer of the person.
fn asks_about(bench: &mut Bench, session: &SessionId, tool: &str, args: &str) {
    let Said::AskOpened { ask, title, kind, deadline } = wants(tool) else { panic!("a question") };
    let FactAsk::Consent { tool, name, preview, assessment, takes_reason, .. } = kind else {
        panic!("a consent")
    };
    let (args, rule) = (Json::verbatim(args), Some("the like".to_owned()));
    let kind = FactAsk::Consent { tool, name, args, preview, assessment, rule, takes_reason };
    says(bench, session, Said::AskOpened { ask, title, kind, deadline });
}

fn allow(bench: &mut Bench, scope: Scope) {
    let ask = bench.state().asks.last().expect("a question").id;
    let answer = Answer::Allow { scope, digest: None };
    bench.command(TERMINAL, Command::Answer { ask, answer }).expect("taken");
}

#[test]
fn a_yes_for_the_session_is_kept_here_for_the_same_action_and_no_other() {
    const LS: &str = r#"{"command":"ls"}"#;
    let (mut bench, session) = behind(Answers::ALL);
    bench.step(CoreInput::Abilities(told(true)));
    asks_about(&mut bench, &session, "a", LS);
    allow(&mut bench, Scope::Once);
    asks_about(&mut bench, &session, "b", LS);
    assert_eq!(bench.state().asks.len(), 1, "once is once");
    allow(&mut bench, Scope::Session);
    asks_about(&mut bench, &session, "c", LS);
    assert_eq!(bench.state().asks.len(), 0, "the same again");
    let last = bench.closings().pop();
    assert!(matches!(last, Some(Closing::Answered { answer: Answer::Allow { .. }, .. })), "{last:?}");
    let decided =
        bench.state().tools.values().last().and_then(|tool| tool.decision.clone()).expect("decided");
    assert!(decided.allowed && matches!(decided.by, Decider::Rule(_)), "{decided:?}");
    asks_about(&mut bench, &session, "d", r#"{"command":"rm -rf /"}"#);
    assert_eq!(bench.state().asks.len(), 1, "another action is asked about");
    // Under read-only it counts no more.
    set(&mut bench, Policy::ReadOnly).expect("taken");
    asks_about(&mut bench, &session, "e", LS);
    let last = bench.closings().pop();
    assert!(matches!(last, Some(Closing::Answered { answer: Answer::Deny { .. }, .. })), "{last:?}");
}

#[test]
fn what_was_not_shown_is_never_taken_for_the_same() {
    let (mut bench, session) = behind(Answers::ALL);
    bench.step(CoreInput::Abilities(told(true)));
    asks_about(&mut bench, &session, "a", "{}");
    allow(&mut bench, Scope::Session);
    asks_about(&mut bench, &session, "b", "{}");
    assert_eq!(bench.state().asks.len(), 1);
}

#[test]
fn a_runtime_that_keeps_a_yes_itself_is_left_to_it() {
    let (mut bench, session) = behind(Answers::ALL);
    bench.step(CoreInput::Abilities(Abilities { session_scope: true, ..told(true) }));
    asks_about(&mut bench, &session, "a", r#"{"command":"ls"}"#);
    allow(&mut bench, Scope::Session);
    asks_about(&mut bench, &session, "b", r#"{"command":"ls"}"#);
    assert_eq!(bench.state().asks.len(), 1, "if it asks again, it means it");
}

/// What a wire may have in the place of a consent.
fn plain_questions() -> [AskKind; 4] {
    let message = String::new();
    let choice = |id: &str| Choice { id: id.to_owned(), label: id.to_owned(), detail: None };
    [
        AskKind::Confirm { message: message.clone(), yes: Some("Drop it".into()), no: None, danger: true },
        AskKind::Choose {
            message: message.clone(),
            choices: vec![choice("allow"), choice("deny")],
            many: false,
        },
        AskKind::Text {
            message: message.clone(),
            placeholder: None,
            default: None,
            secret: false,
            multiline: false,
        },
        AskKind::Edit { message, prefill: "yes".into() },
    ]
}

fn asks_plainly(bench: &mut Bench, session: &SessionId, kind: AskKind) {
    let kind = FactAsk::Other(kind);
    says(bench, session, Said::AskOpened { ask: "q".into(), title: "?".into(), kind, deadline: None });
}

#[test]
fn read_only_denies_every_question_also_one_that_no_tool_call_announced() {
    for kind in plain_questions() {
        let (mut bench, session) = behind(Answers::ALL);
        bench.step(CoreInput::Abilities(told(true)));
        asks_plainly(&mut bench, &session, kind.clone());
        assert_eq!(bench.state().asks.len(), 1, "it is asked: {kind:?}");
        set(&mut bench, Policy::ReadOnly).expect("taken");
        let closings = bench.closings();
        let no = |answer: &Answer| matches!(answer, Answer::Confirmed(false) | Answer::Dismissed);
        let denied = |closing: &Closing| matches!(closing, Closing::Answered { answer, by: Some(by) } if no(answer) && by == "read-only");
        assert!(closings.len() == 1 && closings.iter().all(denied), "{kind:?}: {closings:?}");
        asks_plainly(&mut bench, &session, kind.clone());
        assert_eq!((bench.closings().len(), bench.state().asks.len()), (2, 0), "{kind:?}");
    }
}

fn runs(bench: &mut Bench, session: &SessionId, tool: &str, name: &str) {
    let started = Said::ToolStarted { tool: tool.into(), name: Some(name.into()), args: None };
    says(bench, session, started);
}

/// Why the runtime was let go, and whether it was told to stop before.
fn let_go(bench: &Bench) -> Option<(&str, bool)> {
    let at = bench.outs.iter().position(|out| matches!(out, CoreEffect::LetGo(_)))?;
    let CoreEffect::LetGo(why) = &bench.outs[at] else { return None };
    let cancel = |out: &CoreEffect| {
        matches!(
            out,
            CoreEffect::Order(Order::Consult { command: Command::Run(RunCommand::Cancel { .. }), .. })
        )
    };
    Some((why.as_str(), bench.outs[..at].iter().any(cancel)))
}

/// A runtime that says it asks, held to that, with a prompt under way.
fn held(headless: bool, policy: Policy, required: bool) -> (Bench, SessionId) {
    let mut bench = demanding(Engine::Followed, policy, required);
    bench.core.setup.is_headless = headless;
    bench.step(CoreInput::Abilities(told(true)));
    let session = bench.core.runtime_session.clone().expect("a session");
    (bench, session)
}

#[test]
fn a_run_in_which_something_is_done_unasked_is_stopped_where_nobody_else_would_see_it() {
    for (headless, policy, required, stops) in [
        (true, Policy::ReadOnly, false, true),
        (true, Policy::Ask, true, true),
        (false, Policy::Ask, true, true),
        // A person looks on, and was told that this can happen.
        (false, Policy::ReadOnly, false, false),
        (true, Policy::Ask, false, false),
    ] {
        let (mut bench, session) = held(headless, policy, required);
        // What is told of before anything was said is its past.
        runs(&mut bench, &session, "past", "shell");
        says(&mut bench, &session, Said::RunEnded(Outcome::Done));
        assert_eq!(let_go(&bench), None);
        prompt(&mut bench, 900);
        runs(&mut bench, &session, "a", "Read");
        says(&mut bench, &session, Said::NeedsNoConsent { tool: "b".into() });
        runs(&mut bench, &session, "b", "look at main.rs");
        assert_eq!(let_go(&bench), None, "what only looks is free");
        runs(&mut bench, &session, "c", "shell");
        let case = format!("{headless} {policy:?} {required}");
        let Some((why, cancelled)) = let_go(&bench) else {
            assert!(!stops, "{case}");
            continue;
        };
        assert!(stops && cancelled, "{case}");
        assert!(crate::core::acted_unasked(why) && why.contains("(shell)"), "{case}: {why}");
        let ended = bench.state().runs.last().and_then(|run| run.ended.clone()).map(|(_, outcome)| outcome);
        let Some(Outcome::Failed(failure)) = ended else { panic!("{case}: {ended:?}") };
        assert_eq!(failure.code, crate::core::ACTED_UNASKED);
    }
}

#[test]
fn what_somebody_said_yes_to_is_not_unasked_and_one_yes_is_for_one_tool() {
    let (mut bench, session) = held(false, Policy::Ask, true);
    prompt(&mut bench, 900);
    asks_about(&mut bench, &session, "a", r#"{"command":"make"}"#);
    allow(&mut bench, Scope::Once);
    runs(&mut bench, &session, "a", "bash");
    assert_eq!(let_go(&bench), None, "a consent");
    let confirm = plain_questions()[0].clone();
    asks_plainly(&mut bench, &session, confirm);
    let ask = bench.state().asks.last().expect("a question").id;
    let yes = Command::Answer { ask, answer: Answer::Confirmed(true) };
    bench.command(TERMINAL, yes).expect("taken");
    runs(&mut bench, &session, "b", "drop_table");
    assert_eq!(let_go(&bench), None, "a plain yes, on a wire that has no other");
    runs(&mut bench, &session, "c", "drop_table");
    assert!(let_go(&bench).is_some(), "and nothing more");
}
