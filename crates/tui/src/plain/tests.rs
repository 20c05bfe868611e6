//! Whole conversations as lines, without a terminal.

use super::*;
use crate::about::About;
use crate::msg::Outgoing;
use crate::theme::Theme;
use domain::ask::{ActionDigest, Answer, Assessment, Consent, Preview, Risk, Scope};
use domain::command::{QueueCommand, Receipt, Refusal, RefusalKind};
use domain::content::{Json, Part, Role, TextKind};
use domain::event::{AskEvent, Cause, Event, Finish, MessageEvent, Outcome, SessionEvent, ToolEvent};
use domain::ids::{EntryId, MessageId, RunId, Seq, StepId, ToolRunId, TurnId};
use domain::port::Abilities;
use domain::session::{ModelEntry, ModelRef};
use domain::signal::Board;
use domain::tool::{ToolOutcome, ToolResult};
use std::sync::Arc;

/// A plain UI with a session, what it said, and the mark that holds.
struct Bench {
    plain: Plain,
    lines: Vec<String>,
    fx: Vec<Fx>,
    mark: u64,
    seq: u64,
    /// Whether questions are written out at once.
    writes: bool,
}

impl Bench {
    fn new(echoes: bool) -> Bench {
        let about = About { program: "parlor 1".into(), ..About::default() };
        let plain = Plain::new(Model::new(about, Theme::Plain), echoes);
        let mut bench = Bench { plain, lines: Vec::new(), fx: Vec::new(), mark: 0, seq: 0, writes: true };
        let told = bench.plain.begin();
        bench.perform(told);
        let (cwd, project) = ("/w".to_owned(), "/w".to_owned());
        let opened = Body::Session(SessionEvent::Opened { cwd, project, parent: None });
        bench.hear(News::Attached {
            session: SessionId::from_number(1),
            replay: vec![(Millis(0), opened)],
            board: Board::default(),
            abilities: Abilities::all("test"),
        });
        bench.take();
        bench
    }

    fn perform(&mut self, told: Told) {
        for line in &told.lines {
            assert!(!line.chars().any(|c| c.is_control()), "{line:?}");
        }
        self.lines.extend(told.lines);
        self.fx.extend(told.fx);
        if told.asks && self.writes {
            self.mark += 1;
            self.plain.seen(self.mark);
        }
    }

    fn hear(&mut self, news: News) {
        let told = self.plain.hear(Heard::News(news));
        self.perform(told);
    }

    fn happen(&mut self, body: Body) {
        self.seq += 1;
        let event = Arc::new(Event { seq: Seq(self.seq), at: Millis(self.seq * 1_000), body });
        self.hear(News::Happened { session: SessionId::from_number(1), event });
    }

    fn line(&mut self, line: &str) {
        let told = self.plain.line(line, self.mark);
        self.perform(told);
    }

    fn take(&mut self) -> Vec<String> {
        std::mem::take(&mut self.lines)
    }

    fn sent(&mut self) -> Vec<Outgoing> {
        let fx = std::mem::take(&mut self.fx);
        fx.into_iter().filter_map(|fx| if let Fx::Send(sent) = fx { Some(sent) } else { None }).collect()
    }

    fn quits(&self) -> bool {
        self.fx.contains(&Fx::Quit)
    }

    /// A run with the model's first message open, as the screen's tests have it.
    fn run(&mut self, prompt: &str) {
        let (run, turn, step) = (RunId(1), TurnId(2), StepId(4));
        self.happen(Body::Run(RunEvent::Started { run }));
        self.happen(Body::Run(RunEvent::TurnStarted { run, turn, cause: Cause::Prompt }));
        let message = MessageId(3);
        let (parent, role) = (None, Role::User);
        self.happen(Body::Message(MessageEvent::Started {
            message,
            parent,
            role,
            turn: Some(turn),
            step: None,
        }));
        let part = Part::Text(prompt.into());
        self.happen(Body::Message(MessageEvent::PartAdded { message, part }));
        self.happen(Body::Message(MessageEvent::Ended { message, finish: Finish::Complete }));
        self.happen(Body::Run(RunEvent::StepStarted { turn, step, model: None }));
        self.happen(Body::Message(MessageEvent::Started {
            message: MessageId(5),
            parent: Some(EntryId(3)),
            role: Role::Assistant,
            turn: Some(turn),
            step: Some(step),
        }));
    }

    fn text(&mut self, text: &str) {
        let (message, kind) = (MessageId(5), TextKind::Text);
        self.happen(Body::Message(MessageEvent::Delta { message, kind, text: text.into() }));
    }

    fn propose(&mut self) {
        let args = Json::verbatim("{\"command\":\"touch x\"}");
        let (tool, message) = (ToolRunId(9), MessageId(5));
        self.happen(Body::Tool(ToolEvent::Proposed { tool, message, name: "bash".into(), args }));
    }

    fn asks(&mut self, id: u64, kind: AskKind) {
        let ask =
            Ask { id: AskId(id), run: Some(RunId(1)), title: "Run touch x?".into(), kind, deadline: None };
        self.happen(Body::Ask(AskEvent::Opened(ask)));
    }

    fn consent(&mut self, id: u64) {
        self.consent_to(id, Preview::Command { line: "touch x".into(), inner: Vec::new() });
    }

    fn consent_to(&mut self, id: u64, preview: Preview) {
        self.asks(
            id,
            AskKind::Consent(Box::new(Consent {
                tool: ToolRunId(9),
                name: "bash".into(),
                args: Json::empty(),
                preview: Some(preview),
                assessment: Assessment {
                    risk: Risk::Medium,
                    reasons: Vec::new(),
                    reversible: true,
                    unrated: false,
                },
                digest: ActionDigest("d".into()),
                rule: None,
                takes_reason: true,
            })),
        );
    }

    fn closes(&mut self, id: u64, answer: Answer) {
        let closing = domain::ask::Closing::Answered { answer, by: Some("terminal".into()) };
        self.happen(Body::Ask(AskEvent::Closed { ask: AskId(id), closing }));
    }

    fn ends(&mut self, outcome: Outcome) {
        for body in self.plain.model.world.state().close_run(outcome) {
            self.happen(body);
        }
    }
}

fn answers(sent: &[Outgoing]) -> Vec<&Answer> {
    let answer = |sent: &'_ Outgoing| matches!(sent.command, Command::Answer { .. });
    sent.iter()
        .filter(|sent| answer(sent))
        .filter_map(
            |sent| if let Command::Answer { answer, .. } = &sent.command { Some(answer) } else { None },
        )
        .collect()
}

#[test]
fn a_run_with_a_consent_is_told_line_by_line_and_answered_in_words() {
    let mut bench = Bench::new(true);
    bench.line("make x");
    let sent = bench.sent();
    assert!(
        matches!(&sent[0].command, Command::Run(RunCommand::Prompt { input, .. }) if input.text == "make x"),
        "{sent:?}"
    );
    bench.run("make x");
    bench.text("I will ");
    bench.text("touch it.\nThen");
    bench.propose();
    bench.consent(7);
    assert_eq!(
        bench.take(),
        [
            "Working.",
            "The model says:",
            "I will touch it.",
            "Then",
            "Question: Run touch x?",
            "Risk: medium.",
            "Command: touch x",
            "Answer \"yes\" for this once; \"no\" stops the run, \"no because\" and your reason lets it go on. \"show\" tells all of it.",
        ]
    );
    bench.line("y");
    assert_eq!(bench.take(), ["A letter is no answer here: write the whole word."]);
    bench.line("yes");
    assert_eq!(bench.take(), ["You allowed it once."]);
    let digest = Some(ActionDigest("d".into()));
    let yes = Answer::Allow { scope: Scope::Once, digest };
    assert_eq!(answers(&bench.sent()), [&yes]);
    bench.closes(7, yes);
    let tool = ToolRunId(9);
    let (scope, digest) = (Scope::Once, None);
    let decision = domain::tool::Decision {
        allowed: true,
        by: domain::tool::Decider::Person(None),
        scope,
        reason: None,
        digest,
    };
    bench.happen(Body::Tool(ToolEvent::Decided { tool, decision }));
    bench.happen(Body::Tool(ToolEvent::Started { tool }));
    let result = ToolResult::text("made\u{1b}[31m it\n");
    bench.happen(Body::Tool(ToolEvent::Ended { tool, outcome: ToolOutcome::Done, result }));
    bench.ends(Outcome::Done);
    let told = bench.take();
    assert_eq!(told[..3], ["Tool bash (touch x) runs.", "Tool bash (touch x) is done.", "  made it"]);
    assert!(told[3].starts_with("Done, in "), "{told:?}");
    assert_eq!(told[4..], ["Ready."]);
}

#[test]
fn what_was_begun_before_the_question_is_no_answer() {
    for before in ["yes", "no", "no because I say so"] {
        let mut bench = Bench::new(true);
        bench.run("go");
        bench.propose();
        bench.sent();
        // It is on its way, and not written yet.
        bench.writes = false;
        let earlier = bench.mark;
        bench.consent(7);
        bench.line(before);
        assert_eq!(answers(&bench.sent()), [] as [&Answer; 0], "{before}");
        bench.writes = true;
        bench.mark += 1;
        bench.plain.seen(bench.mark);
        // It was begun before the question, and ended after it.
        let told = bench.plain.line(before, earlier);
        assert_eq!(
            told.lines,
            ["That was begun before the question was there, so it is no answer. Write it again."]
        );
        assert!(told.fx.iter().all(|fx| !matches!(fx, Fx::Send(_))), "neither is it said to the model");
        bench.line(before);
        assert_eq!(answers(&bench.sent()).len(), 1, "{before}");
    }
}

#[test]
fn a_prompt_that_was_typed_ahead_stays_a_prompt() {
    let mut bench = Bench::new(true);
    bench.run("go");
    bench.propose();
    bench.sent();
    bench.consent(7);
    let told = bench.plain.line("and then write the tests", 0);
    let queued = told.fx.iter().any(|fx| {
        matches!(fx, Fx::Send(sent) if matches!(&sent.command, Command::Queue(QueueCommand::Add { input, .. }) if input.text == "and then write the tests"))
    });
    assert!(queued, "{told:?}");
    // After the question only what is marked so.
    bench.line("and then write the tests");
    assert_eq!(bench.sent(), []);
    bench.line("say and then write the tests");
    assert!(matches!(&bench.sent()[..], [sent] if matches!(sent.command, Command::Queue(_))));
}

#[test]
fn the_runtime_hears_that_a_question_was_told() {
    let mut bench = Bench::new(true);
    bench.run("go");
    bench.asks(7, AskKind::Confirm { message: String::new(), yes: None, no: None, danger: false });
    let shown = |fx: &Fx| matches!(fx, Fx::Shown(sent) if sent.command == domain::command::shown(AskId(7)));
    assert!(bench.fx.iter().any(shown), "{:?}", bench.fx);
}

#[test]
fn no_line_of_a_question_is_somebody_elses_without_a_mark() {
    let theirs = format!("true {}ALLOWED BEFORE.{}\n\nRISK: LOW.", "x".repeat(70), "y".repeat(90));
    let mut bench = Bench::new(true);
    bench.run("go");
    let message = format!("ours\n{}\nours", domain::harmless::marked_command(&theirs));
    bench.asks(7, AskKind::Confirm { message, yes: None, no: None, danger: false });
    bench.closes(7, Answer::Confirmed(false));
    bench.propose();
    for (id, preview) in
        [(8, Preview::Command { line: theirs.clone(), inner: Vec::new() }), (9, Preview::Text(theirs))]
    {
        bench.consent_to(id, preview);
        bench.closes(id, Answer::Deny { reason: None });
    }
    let is_theirs = |line: &&String| ["xx", "yy", "RISK"].iter().any(|words| line.contains(words));
    let theirs: Vec<&String> = bench.lines.iter().filter(is_theirs).collect();
    assert!(theirs.len() >= 12, "{:?}", bench.lines);
    for line in theirs {
        let marks = ["  | ", "$ true", "Command: true"];
        assert!(marks.iter().any(|mark| line.starts_with(mark)), "{line:?} of {:?}", bench.lines);
        assert!(line.len() <= 80, "{line}");
    }
}

#[test]
fn the_next_question_is_not_answered_by_the_line_before_it() {
    let mut bench = Bench::new(true);
    bench.run("go");
    bench.propose();
    let kind = || AskKind::Confirm { message: String::new(), yes: None, no: None, danger: false };
    bench.asks(7, kind());
    bench.asks(8, kind());
    bench.sent();
    let mark = bench.mark;
    bench.line("yes");
    bench.closes(7, Answer::Confirmed(true));
    let told = bench.plain.line("yes", mark);
    assert_eq!(answers(&bench.sent()).len(), 1);
    assert!(told.fx.iter().all(|fx| !matches!(fx, Fx::Send(_))), "{told:?}");
    bench.line("yes");
    assert_eq!(answers(&bench.sent()).len(), 1);
}

#[test]
fn an_answer_that_is_refused_is_asked_for_again() {
    let mut bench = Bench::new(true);
    bench.run("go");
    bench.asks(7, AskKind::Confirm { message: String::new(), yes: None, no: None, danger: false });
    bench.line("yes");
    let ticket = bench.sent().last().unwrap().ticket;
    bench.take();
    bench.hear(News::Settled { ticket, with: Err(Refusal::new(RefusalKind::Busy, "not now")) });
    let told = bench.take();
    assert!(told[0].starts_with("Error: ") && told[0].contains("not now"), "{told:?}");
    assert_eq!(told[1], "Question: Run touch x?");
    bench.line("no");
    assert_eq!(answers(&bench.sent()), [&Answer::Confirmed(false)]);
}

#[test]
fn a_secret_is_hidden_while_it_is_typed_and_never_told() {
    let mut bench = Bench::new(true);
    bench.run("go");
    bench.take();
    let kind = AskKind::Text {
        message: "Password?".into(),
        placeholder: None,
        default: None,
        secret: true,
        multiline: false,
    };
    let ask = Ask { id: AskId(7), run: Some(RunId(1)), title: "Log in".into(), kind, deadline: None };
    bench.seq += 1;
    let event =
        Arc::new(Event { seq: Seq(bench.seq), at: Millis(9), body: Body::Ask(AskEvent::Opened(ask)) });
    let session = SessionId::from_number(1);
    let told = bench.plain.hear(Heard::News(News::Happened { session, event }));
    assert_eq!(told.hidden, Some(true));
    assert!(told.lines.contains(&"What you type is not shown.".to_owned()), "{told:?}");
    bench.perform(told);
    let told = bench.plain.line("hunter2", bench.mark);
    assert_eq!(
        (told.hidden, told.lines.as_slice()),
        (Some(false), &["The secret was received.".to_owned()][..])
    );
    bench.perform(told);
    assert_eq!(answers(&bench.sent()), [&Answer::Entered("hunter2".into())]);
    assert!(!bench.fx.iter().any(|fx| matches!(fx, Fx::SaveHistory(_))));
}

#[test]
fn lists_are_numbered_and_taken_by_number() {
    let mut bench = Bench::new(true);
    bench.line("/model");
    let ticket = bench.sent().last().unwrap().ticket;
    let entry = |name: &str| ModelEntry {
        model: ModelRef { provider: "offline".into(), name: name.into() },
        context_window: None,
        price_input: None,
        max_output: None,
        price_output: None,
        thinks: None,
    };
    let models = vec![entry("one"), entry("two")];
    bench.take();
    bench.hear(News::Settled { ticket, with: Ok(Receipt::Models { models, current: None }) });
    let told = bench.take();
    assert_eq!(told[..3], ["Models, 2 lines:", "1. offline/one", "2. offline/two"]);
    bench.line("3");
    assert_eq!(bench.take(), ["That is none of them: a number from 1 to 2."]);
    bench.line("2");
    let sent = bench.sent();
    assert!(
        matches!(&sent[..], [sent] if matches!(&sent.command, Command::Session(domain::command::SessionCommand::SetModel { name, .. }) if name == "two")),
        "{sent:?}"
    );
    // The number is a prompt again.
    bench.line("2");
    assert!(matches!(&bench.sent()[..], [sent] if matches!(sent.command, Command::Run(_))));
}

#[test]
fn commands_are_told_as_lines_and_those_of_the_screen_are_said_to_be() {
    let mut bench = Bench::new(true);
    for (line, told) in [
        ("/help", "/status: context, tokens, cost and where you are"),
        ("/status", "folder: /w"),
        ("/theme", "/theme is only on the screen: start parlor without --plain."),
        ("/mdl", "There is no command /mdl: did you mean /model?"),
        ("/stop", "Nothing runs."),
        ("/policy nonsense", "modes: read-only, plan, ask, auto-edit, sandboxed, full"),
    ] {
        bench.line(line);
        let said = bench.take();
        assert!(said.iter().any(|line| line == told), "{line}: {said:#?}");
    }
    bench.line("/quit");
    assert!(bench.quits());
}

#[test]
fn commands_work_while_a_question_waits_unless_a_text_is_asked_for() {
    let mut bench = Bench::new(true);
    bench.run("go");
    bench.asks(7, AskKind::Confirm { message: String::new(), yes: None, no: None, danger: false });
    bench.take();
    bench.line("/status");
    assert!(bench.take().iter().any(|line| line == "folder: /w"));
    bench.line("yes");
    bench.closes(7, Answer::Confirmed(true));
    let (message, placeholder, default) = ("Where?".to_owned(), None, None);
    bench.asks(8, AskKind::Text { message, placeholder, default, secret: false, multiline: false });
    bench.sent();
    bench.line("/status");
    assert_eq!(answers(&bench.sent()), [&Answer::Entered("/status".into())]);
}

#[test]
fn ctrl_c_stops_the_run_and_twice_quits() {
    let mut bench = Bench::new(true);
    bench.run("go");
    bench.take();
    let told = bench.plain.hear(Heard::Interrupt);
    bench.perform(told);
    assert_eq!(bench.take(), ["Stopping the run.", "Ctrl-C again quits."]);
    assert!(!bench.quits());
    assert!(bench.sent().iter().any(|sent| matches!(sent.command, Command::Run(RunCommand::Cancel { .. }))));
    bench.ends(Outcome::Cancelled);
    let told = bench.plain.hear(Heard::Interrupt);
    bench.perform(told);
    assert!(bench.quits());
}

#[test]
fn a_pipe_that_ends_is_heard_to_the_end_of_its_run_and_nobody_answers_for_it() {
    let mut bench = Bench::new(false);
    bench.line("go");
    let ticket = bench.sent().last().unwrap().ticket;
    let told = bench.plain.hear(Heard::End);
    bench.perform(told);
    assert!(!bench.quits(), "nothing has answered yet");
    bench.run("go");
    bench.hear(News::Settled {
        ticket,
        with: Ok(Receipt::Started { session: SessionId::from_number(1), run: RunId(1) }),
    });
    let told = bench.take();
    let you = told.iter().position(|line| line == "You: go").expect("nobody sees what a pipe says");
    assert_eq!(told.get(you + 1).map(String::as_str), Some("Working."), "a prompt goes before its run");
    assert!(!bench.quits());
    bench.ends(Outcome::Done);
    assert!(bench.quits());
    let mut bench = Bench::new(false);
    bench.run("go");
    let told = bench.plain.hear(Heard::End);
    bench.perform(told);
    bench.asks(7, AskKind::Confirm { message: String::new(), yes: None, no: None, danger: false });
    assert!(bench.quits() && bench.take().last().unwrap().starts_with("Nobody is there"));
    let mut bench = Bench::new(true);
    let told = bench.plain.hear(Heard::End);
    bench.perform(told);
    assert!(bench.quits(), "Ctrl-D leaves at once");
}

#[test]
fn a_long_run_is_spoken_of_now_and_then() {
    let mut bench = Bench::new(true);
    bench.run("go");
    bench.take();
    let mut told = Vec::new();
    for second in 1..200 {
        let heard = bench.plain.hear(Heard::Tick(Millis(1_000 + second * 1_000)));
        told.extend(heard.lines);
    }
    assert_eq!(
        told,
        [
            "Still working, 10 seconds so far.",
            "Still working, 30 seconds so far.",
            "Still working, 1 minute so far.",
            "Still working, 2 minutes so far.",
            "Still working, 3 minutes so far."
        ]
    );
}

#[test]
fn a_backslash_lets_a_prompt_go_on() {
    let mut bench = Bench::new(true);
    bench.line("one\\");
    bench.line("two");
    let sent = bench.sent();
    assert!(
        matches!(&sent[..], [sent] if matches!(&sent.command, Command::Run(RunCommand::Prompt { input, .. }) if input.text == "one\ntwo"))
    );
}

#[test]
fn a_session_that_is_gone_on_with_tells_its_last_words_and_print_all() {
    let mut bench = Bench::new(true);
    bench.run("first");
    bench.text("All of it.\n");
    bench.ends(Outcome::Done);
    let replay = bench.plain.model.world.state().replay();
    let mut other = Bench::new(true);
    other.hear(News::Attached {
        session: SessionId::from_number(2),
        replay,
        board: Board::default(),
        abilities: Abilities::all("test"),
    });
    let told = other.take();
    assert!(told[0].starts_with("Going on with \"first\", 2 entries so far."), "{told:?}");
    assert_eq!(told[1..], ["You: first", "The model says:", "All of it.", "Ready."]);
    other.line("/print");
    assert_eq!(other.take(), ["You: first", "The model says:", "All of it.", "Ready."]);
}

fn shell_said(text: &str) -> crate::msg::CommandOutput {
    crate::msg::CommandOutput { text: text.to_owned(), lost: 0 }
}

#[test]
fn a_command_of_ones_own_is_told_as_it_writes_and_goes_along() {
    let mut bench = Bench::new(false);
    bench.line("!make all");
    assert!(bench.fx.contains(&Fx::Shell("make all".into())), "{:?}", bench.fx);
    assert_eq!(bench.take(), ["Your command runs."], "it is not the model's turn, nor ready");
    let heard = |bench: &mut Bench, msg| {
        let told = bench.plain.hear(Heard::Msg(msg));
        bench.perform(told);
        bench.take()
    };
    assert_eq!(heard(&mut bench, Msg::ShellSaid(shell_said("one\ntw"))), ["one"]);
    bench.line("!ls");
    assert_eq!(bench.take(), ["Not run: !ls. Your command before still runs, /stop stops it."]);
    bench.line("/stop");
    assert_eq!(bench.take(), ["Stopping your command."]);
    assert!(bench.fx.contains(&Fx::StopShell));
    let over = Msg::Shell { line: "make all".into(), said: shell_said("one\ntwo"), code: None };
    let told = heard(&mut bench, over);
    let goes = "It will be sent with your next prompt; \"!\" alone discards it.";
    assert_eq!(told, ["two", &format!("Your command is over: stopped. {goes}"), "Ready."]);
    bench.fx.clear();
    bench.line("why?");
    let sent = format!("{:?}", bench.sent());
    assert!(
        sent.contains("I ran `make all` (stopped)") && sent.contains("two") && sent.contains("why?"),
        "{sent}"
    );
}

#[test]
fn what_a_command_of_ones_own_wrote_can_be_dropped_and_one_that_runs_is_waited_for() {
    let mut bench = Bench::new(false);
    bench.line("!");
    assert_eq!(bench.take(), ["Write a command behind the \"!\".", "Ready."]);
    bench.line("!ls");
    let told = bench.plain.hear(Heard::End);
    bench.perform(told);
    assert!(!bench.quits(), "it runs to its end");
    let over = Msg::Shell { line: "ls".into(), said: shell_said("a\n"), code: Some(0) };
    let told = bench.plain.hear(Heard::Msg(over));
    bench.perform(told);
    assert!(bench.quits() && bench.take().contains(&"a".to_owned()));
    let mut bench = Bench::new(true);
    bench.line("!ls");
    let over = Msg::Shell { line: "ls".into(), said: shell_said("secret\n"), code: Some(0) };
    let told = bench.plain.hear(Heard::Msg(over));
    bench.perform(told);
    bench.line("!");
    assert!(bench.take().iter().any(|line| line.contains("will not be sent")));
    bench.fx.clear();
    bench.line("go on");
    let sent = format!("{:?}", bench.sent());
    assert!(sent.contains("go on") && !sent.contains("secret"), "{sent}");
}

#[test]
fn devices_are_told_and_a_number_means_what_was_told_with_it() {
    use crate::msg::{Asking, DeviceLine, FleetNews, FleetWish};
    let mut bench = Bench::new(true);
    bench.plain.model.screen.start.enlist();
    let tell = |bench: &mut Bench, news: FleetNews| {
        let told = bench.plain.hear(Heard::Msg(Msg::Fleet(news)));
        bench.perform(told);
    };
    let asking = |id: u64| {
        let (name, role, code) = ("Fire\u{1b}fox".to_owned(), "observer".to_owned(), "482 913".to_owned());
        FleetNews::Asking(Some(Asking { server: 7, id, name, role, code }))
    };
    let device = |id: &str| {
        let (name, role) = ("iPad".to_owned(), "controller".to_owned());
        DeviceLine { id: id.to_owned(), name, role, since: Millis(0) }
    };
    bench.line("/devices");
    tell(&mut bench, FleetNews::Devices(vec![device("dev-a")]));
    assert!(bench.take().iter().any(|line| line.starts_with("1. iPad, controller")));
    // It stands above the device now, and is not what 1 means.
    tell(&mut bench, asking(3));
    assert!(bench.take().iter().any(|line| line.contains("with the code 482 913")));
    let late = bench.plain.hear(Heard::Tick(Millis(60_000)));
    bench.perform(late);
    bench.line("1");
    assert!(bench.take().iter().any(|line| line.contains("/devices revoke dev-a")));
    let wished = |bench: &mut Bench| -> Vec<FleetWish> {
        let fx = std::mem::take(&mut bench.fx);
        fx.into_iter().filter_map(|fx| if let Fx::Fleet(wish) = fx { Some(wish) } else { None }).collect()
    };
    assert_eq!(wished(&mut bench), [FleetWish::Devices]);
    bench.line("");
    bench.line("/devices");
    tell(&mut bench, FleetNews::Devices(vec![device("dev-a")]));
    assert!(bench.take().iter().any(|line| line.starts_with("1. 482 913")));
    let late = bench.plain.hear(Heard::Tick(Millis(120_000)));
    bench.perform(late);
    bench.line("1");
    let allowed = FleetWish::Pair { server: 7, id: 3, allow: true };
    assert_eq!(wished(&mut bench), [FleetWish::Devices, allowed]);
    tell(&mut bench, FleetNews::Asking(None));
    bench.take();
    bench.line("1");
    assert_eq!(bench.take(), ["That one is no longer there."]);
}
