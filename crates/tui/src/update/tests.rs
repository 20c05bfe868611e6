//! What keys and news do, driven without a terminal.

use crate::Headless;
use crate::ask::SEEN_MS;
use crate::msg::CommandOutput;
use crate::msg::Fx;
use crate::wishes::TWICE_MS;
use domain::ask::{Answer, Ask, AskKind, Closing};
use domain::command::{Command, QueueCommand, Receipt, Refusal, RefusalKind, RunCommand, WhenBusy};
use domain::content::{Input, Json, Part, Role, TextKind, Usage};
use domain::event::{
    AskEvent, Body, Cause, Compaction, ContextEvent, Event, Finish, Leaving, MessageEvent, Outcome,
    QueueEvent, RunEvent, SessionEvent, ToolEvent, Trigger,
};
use domain::ids::{
    AskId, EntryId, MessageId, Millis, QueuedId, RunId, Seq, SessionId, StepId, ToolRunId, TurnId,
};
use domain::port::{Abilities, LinkState, News, Ticket};
use domain::queue::QueueKind;
use domain::signal::Board;
use std::sync::Arc;

/// A screen attached to a session, and the number of the last event.
pub(crate) struct AttachedUi {
    pub(crate) ui: Headless,
    seq: u64,
}

/// What a command of the person's own wrote, all of it.
pub(crate) fn said(text: &str) -> CommandOutput {
    CommandOutput { text: text.to_owned(), lost: 0 }
}

impl AttachedUi {
    pub(crate) fn new(columns: u16, rows: u16) -> AttachedUi {
        AttachedUi::on(Abilities::all("test"), columns, rows)
    }

    /// On a runtime that can do this.
    pub(crate) fn on(abilities: Abilities, columns: u16, rows: u16) -> AttachedUi {
        let mut ui = Headless::new(columns, rows);
        let opened = Body::Session(SessionEvent::Opened {
            cwd: "/w/shop".into(),
            project: "/w/shop".into(),
            parent: None,
        });
        ui.hear(News::Attached {
            session: SessionId::from_number(1),
            replay: vec![(Millis(0), opened)],
            board: Board::default(),
            abilities,
        });
        AttachedUi { ui, seq: 0 }
    }

    pub(crate) fn happen(&mut self, body: Body) {
        self.seq += 1;
        let at = self.ui.model.screen.window.now();
        let event = Arc::new(Event { seq: Seq(self.seq), at, body });
        self.ui.hear(News::Happened { session: SessionId::from_number(1), event });
    }

    /// A run in which the model's first message is open: run 1, turn 2, prompt 3, step 4, answer 5.
    pub(crate) fn run(&mut self, prompt: &str) {
        let (run, turn, step) = (RunId(1), TurnId(2), StepId(4));
        self.happen(Body::Run(RunEvent::Started { run }));
        self.happen(Body::Run(RunEvent::TurnStarted { run, turn, cause: Cause::Prompt }));
        let asked = MessageId(3);
        let turn_of = Some(turn);
        self.happen(Body::Message(MessageEvent::Started {
            message: asked,
            parent: None,
            role: Role::User,
            turn: turn_of,
            step: None,
        }));
        self.happen(Body::Message(MessageEvent::PartAdded {
            message: asked,
            part: Part::Text(prompt.into()),
        }));
        self.happen(Body::Message(MessageEvent::Ended { message: asked, finish: Finish::Complete }));
        self.happen(Body::Run(RunEvent::StepStarted { turn, step, model: None }));
        self.happen(Body::Message(MessageEvent::Started {
            message: MessageId(5),
            parent: Some(EntryId(3)),
            role: Role::Assistant,
            turn: turn_of,
            step: Some(step),
        }));
    }

    pub(crate) fn text(&mut self, text: &str) {
        let kind = TextKind::Text;
        self.happen(Body::Message(MessageEvent::Delta { message: MessageId(5), kind, text: text.into() }));
    }

    pub(crate) fn end(&mut self, outcome: Outcome) {
        for body in self.ui.model.world.state().close_run(outcome) {
            self.happen(body);
        }
    }

    pub(crate) fn ask(&mut self, id: u64) {
        self.ask_for(id, AskKind::Confirm { message: "sure?".into(), yes: None, no: None, danger: false });
    }

    pub(crate) fn ask_for(&mut self, id: u64, kind: AskKind) {
        let (id, run, title) = (AskId(id), Some(RunId(1)), format!("Question {id}"));
        self.happen(Body::Ask(AskEvent::Opened(Ask { id, run, title, kind, deadline: None })));
    }

    /// Asks whether a tool may run.
    pub(crate) fn consent(&mut self, id: u64, rule: Option<&str>) {
        let (tool, message) = (ToolRunId(id + 1_000), MessageId(5));
        self.happen(Body::Tool(ToolEvent::Proposed {
            tool,
            message,
            name: "bash".into(),
            args: Json::empty(),
        }));
        let mut kind = crate::ask::tests::consent(rule);
        if let AskKind::Consent(consent) = &mut kind {
            consent.tool = tool;
        }
        self.ask_for(id, kind);
    }

    /// The runtime says that the question is answered.
    pub(crate) fn close(&mut self, id: u64, answer: Answer) {
        let closing = Closing::Answered { answer, by: None };
        self.happen(Body::Ask(AskEvent::Closed { ask: AskId(id), closing }));
    }

    pub(crate) fn commands(&mut self) -> Vec<Command> {
        self.ui.sent().into_iter().map(|sent| sent.command).collect()
    }
}

#[test]
fn enter_prompts_when_idle_and_queues_while_a_run_is_under_way() {
    let mut stage = AttachedUi::new(80, 24);
    stage.ui.keys("hello<enter>");
    assert!(
        matches!(&stage.commands()[..], [Command::Run(RunCommand::Prompt { input, .. })] if input.text == "hello")
    );
    stage.run("hello");
    stage.ui.keys("later<enter>now<ctrl-s>");
    let queued = |kind, text: &str| Command::Queue(QueueCommand::Add { kind, input: Input::text(text) });
    assert_eq!(stage.commands(), [queued(QueueKind::FollowUp, "later"), queued(QueueKind::Steer, "now")]);
}

#[test]
fn escape_stops_the_run_and_what_waited_comes_back() {
    let mut stage = AttachedUi::new(80, 24);
    stage.run("go");
    let item = QueuedId(9);
    stage.happen(Body::Queue(QueueEvent::Added {
        item,
        kind: QueueKind::FollowUp,
        input: Input::text("then this"),
        by: None,
    }));
    stage.ui.keys("<esc>");
    assert_eq!(stage.commands(), [Command::Run(RunCommand::Cancel { run: Some(RunId(1)), reason: None })]);
    stage.happen(Body::Queue(QueueEvent::Left { item, leaving: Leaving::Cleared }));
    assert_eq!(stage.ui.model.screen.composer.text(), "then this");
}

#[test]
fn what_another_ui_wrote_comes_back_there_and_what_was_written_here_comes_back_here() {
    let mut stage = AttachedUi::new(80, 24);
    stage.run("go");
    stage.ui.keys("mine<enter>");
    let ticket = stage.ui.sent().pop().unwrap().ticket;
    stage.ui.hear(News::Settled { ticket, with: Ok(Receipt::Queued { item: QueuedId(8), run: RunId(1) }) });
    for (item, text) in [(QueuedId(8), "mine"), (QueuedId(9), "theirs")] {
        let (kind, input) = (QueueKind::FollowUp, Input::text(text));
        stage.happen(Body::Queue(QueueEvent::Added { item, kind, input, by: None }));
    }
    // The run was stopped by somebody else.
    for item in [QueuedId(8), QueuedId(9)] {
        stage.happen(Body::Queue(QueueEvent::Left { item, leaving: Leaving::Cleared }));
    }
    assert_eq!(stage.ui.model.screen.composer.text(), "mine");
}

#[test]
fn escape_twice_drops_what_waited_too_and_it_can_be_had_back() {
    let mut stage = AttachedUi::new(80, 24);
    stage.run("go");
    let item = QueuedId(9);
    stage.happen(Body::Queue(QueueEvent::Added {
        item,
        kind: QueueKind::FollowUp,
        input: Input::text("then this"),
        by: None,
    }));
    stage.ui.keys("half a thought<esc><esc>");
    stage.happen(Body::Queue(QueueEvent::Left { item, leaving: Leaving::Cleared }));
    assert!(stage.ui.model.screen.composer.is_empty());
    stage.ui.keys("<up><up>");
    assert_eq!(stage.ui.model.screen.composer.text(), "half a thought");
}

#[test]
fn a_second_escape_that_comes_late_is_a_first_one() {
    let mut stage = AttachedUi::new(80, 24);
    stage.run("go");
    let item = QueuedId(9);
    stage.happen(Body::Queue(QueueEvent::Added {
        item,
        kind: QueueKind::FollowUp,
        input: Input::text("then this"),
        by: None,
    }));
    stage.ui.keys("<esc>");
    stage.ui.wait(TWICE_MS + 1);
    stage.ui.keys("<esc>");
    stage.happen(Body::Queue(QueueEvent::Left { item, leaving: Leaving::Cleared }));
    assert_eq!(stage.ui.model.screen.composer.text(), "then this");
}

#[test]
fn a_refused_prompt_comes_back_with_the_reason() {
    let mut stage = AttachedUi::new(80, 24);
    stage.ui.keys("hello<enter>");
    let refusal = Refusal::new(RefusalKind::TooMany, "too many runs").hint("wait a little");
    stage.ui.hear(News::Settled { ticket: Ticket(1), with: Err(refusal) });
    assert_eq!(stage.ui.model.screen.composer.text(), "hello");
    assert!(stage.ui.screen().contains("too many runs (wait a little)"));
}

fn no_run() -> Refusal {
    Refusal::new(RefusalKind::NoRun, "no run is under way").hint("send a prompt instead")
}

#[test]
fn what_was_written_for_a_run_that_just_ended_is_said_as_a_prompt() {
    let mut stage = AttachedUi::new(80, 24);
    stage.run("go");
    stage.ui.keys("and then<enter>now<ctrl-s>");
    let tickets: Vec<Ticket> = stage.ui.sent().into_iter().map(|sent| sent.ticket).collect();
    stage.end(Outcome::Done);
    for ticket in tickets {
        stage.ui.hear(News::Settled { ticket, with: Err(no_run()) });
    }
    let said = stage.commands();
    let text = |command: &Command| match command {
        Command::Run(RunCommand::Prompt { input, options }) if options.when_busy == WhenBusy::Queue => {
            input.text.clone()
        }
        other => panic!("{other:?}"),
    };
    assert_eq!(
        said.iter().map(text).collect::<Vec<_>>(),
        ["and then", "now"],
        "in the order they were written"
    );
    assert!(stage.ui.model.screen.composer.is_empty(), "it is sent, and nothing of it stays behind");
}

#[test]
fn what_was_written_while_a_run_is_being_stopped_is_said_when_it_has_stopped() {
    let mut stage = AttachedUi::new(80, 24);
    stage.run("go");
    stage.ui.keys("<esc>do that instead<enter>");
    let ticket = stage.ui.sent().pop().unwrap().ticket;
    stage.ui.hear(News::Settled { ticket, with: Err(no_run()) });
    assert_eq!(stage.commands(), [], "not before the run has stopped");
    stage.end(Outcome::Cancelled);
    assert!(
        matches!(&stage.commands()[..], [Command::Run(RunCommand::Prompt { input, .. })] if input.text == "do that instead")
    );
    assert!(stage.ui.model.screen.composer.is_empty());
}

#[test]
fn what_was_written_for_the_end_of_a_run_comes_back_when_the_runtime_is_gone() {
    let mut stage = AttachedUi::new(80, 24);
    stage.run("go");
    stage.ui.keys("<esc>one<enter>two<enter>");
    let sent = stage.ui.sent();
    stage.ui.hear(News::Settled { ticket: sent[1].ticket, with: Err(no_run()) });
    stage.ui.hear(News::Link(LinkState::Lost("gone".to_owned())));
    assert_eq!(stage.ui.model.screen.composer.text(), "one\ntwo");
}

#[test]
fn a_question_that_is_over_vanishes_with_a_word() {
    let mut stage = AttachedUi::new(80, 24);
    stage.run("go");
    stage.ask(10);
    assert!(stage.ui.screen().contains("Question 10"));
    stage.happen(Body::Ask(AskEvent::Closed { ask: AskId(10), closing: Closing::Withdrawn }));
    let screen = stage.ui.screen();
    assert!(!screen.contains("Question 10") && screen.contains("the question is over"), "{screen}");
}

/// What the runtime was told to be on the screen since the last look.
fn shown(stage: &mut AttachedUi) -> Vec<AskId> {
    let said = |fx: Fx| match fx {
        Fx::Shown(outgoing) => domain::command::is_shown(&outgoing.command),
        _ => None,
    };
    std::mem::take(&mut stage.ui.fx).into_iter().filter_map(said).collect()
}

#[test]
fn the_runtime_hears_once_that_a_question_is_on_the_screen_and_when_it_is() {
    let mut stage = AttachedUi::new(80, 24);
    stage.run("go");
    assert_eq!(shown(&mut stage), []);
    stage.consent(10, None);
    assert_eq!(shown(&mut stage), [AskId(10)]);
    stage.ask(11);
    assert_eq!(shown(&mut stage), [AskId(11)], "it is told as one more that waits");
    stage.close(10, Answer::Deny { reason: None });
    stage.ui.wait(SEEN_MS);
    assert_eq!(shown(&mut stage), []);
    stage.close(11, Answer::Dismissed);
    stage.ui.keys("/help<enter>");
    stage.ask(12);
    assert_eq!(shown(&mut stage), [], "a page stands over it");
    stage.ui.keys("<esc>");
    assert_eq!(shown(&mut stage), [AskId(12)]);
    let refused = Err(Refusal::new(RefusalKind::ExtensionUnknown, "what is that"));
    for ticket in 0..100 {
        let (ticket, with) = (Ticket(ticket), refused.clone());
        stage.ui.hear(News::Settled { ticket, with });
    }
    assert!(!stage.ui.screen().contains("what is that"), "an older runtime has no such word");
}

#[test]
fn who_stops_the_run_is_not_told_that_its_question_is_over() {
    let mut stage = AttachedUi::new(80, 24);
    stage.run("go");
    stage.consent(10, None);
    stage.ui.wait(SEEN_MS);
    stage.ui.keys("<esc>");
    assert_eq!(stage.commands(), [Command::Run(RunCommand::Cancel { run: Some(RunId(1)), reason: None })]);
    stage.happen(Body::Ask(AskEvent::Closed { ask: AskId(10), closing: Closing::Withdrawn }));
    assert!(!stage.ui.screen().contains("the question is over"));
}

#[test]
fn only_what_somebody_else_ended_is_told() {
    let answered = |by: Option<&str>| Closing::Answered {
        answer: Answer::Deny { reason: None },
        by: by.map(str::to_owned),
    };
    for (closing, word) in [
        (answered(Some("read-only")), None),
        (answered(Some(domain::ask::EARLIER_YES)), None),
        (answered(Some("web")), Some("denied by web")),
        (answered(None), Some("denied elsewhere")),
        (Closing::Withdrawn, Some("withdrawn")),
        (Closing::Expired, Some("not answered in time")),
    ] {
        let mut stage = AttachedUi::new(80, 24);
        stage.run("go");
        stage.consent(10, None);
        stage.happen(Body::Ask(AskEvent::Closed { ask: AskId(10), closing: closing.clone() }));
        let screen = stage.ui.screen();
        assert_eq!(screen.contains("the question is over"), word.is_some(), "{closing:?}: {screen}");
        assert!(word.is_none_or(|word| screen.contains(word)), "{closing:?}: {screen}");
    }
    // What is over does not stand above what is open.
    let mut stage = AttachedUi::new(80, 24);
    stage.run("go");
    stage.consent(10, None);
    stage.happen(Body::Ask(AskEvent::Closed { ask: AskId(10), closing: answered(Some("web")) }));
    assert!(stage.ui.screen().contains("the question is over"));
    stage.consent(11, None);
    let screen = stage.ui.screen();
    assert!(screen.contains("Question 11") && !screen.contains("the question is over"), "{screen}");
    // Ctrl-C stops the run, and with it goes the question.
    let mut stage = AttachedUi::new(80, 24);
    stage.run("go");
    stage.consent(10, None);
    stage.ui.keys("<ctrl-c>");
    stage.end(Outcome::Cancelled);
    let screen = stage.ui.screen();
    assert!(!screen.contains("the question is over") && !screen.contains("Question 10"), "{screen}");
}

#[test]
fn what_a_mode_means_is_said_when_it_is_known() {
    let all = Abilities::all("test");
    let own_rules = Abilities { policy: false, ..all.clone() };
    for (can, word) in [
        (all, "read-only: it changes nothing"),
        (Abilities::untold(), "mode set"),
        (own_rules, "every consent"),
    ] {
        let mut stage = AttachedUi::on(can.clone(), 80, 24);
        stage.ui.keys("/policy read-only<enter>");
        let ticket = stage.ui.sent()[0].ticket;
        stage.ui.hear(News::Settled { ticket, with: Ok(Receipt::Done) });
        assert!(stage.ui.screen().contains(word), "{can:?}: {}", stage.ui.screen());
    }
}

#[test]
fn a_summary_is_told_when_there_is_one() {
    for told in [true, false] {
        let mut stage = AttachedUi::new(80, 24);
        stage.ui.keys("/compact<enter>");
        let ticket = stage.ui.sent()[0].ticket;
        stage.ui.hear(News::Settled { ticket, with: Ok(Receipt::Done) });
        assert!(!stage.ui.screen().contains("summarised"), "{}", stage.ui.screen());
        stage.happen(Body::Run(RunEvent::Started { run: RunId(1) }));
        if told {
            let compaction = Compaction {
                summary: "short".into(),
                first_kept: None,
                tokens_before: 0,
                trigger: Trigger::Manual,
                unexplained: false,
                usage: Usage::default(),
            };
            let (entry, parent) = (EntryId(2), None);
            stage.happen(Body::Context(ContextEvent::Compacted { entry, parent, compaction }));
        }
        stage.end(Outcome::Done);
        let notices = stage.ui.model.screen.toasts.notices().map(|notice| notice.text.as_str());
        let notices: Vec<&str> = notices.collect();
        assert_eq!(notices.contains(&"summarised"), told, "{notices:?}");
        assert_eq!(notices.contains(&"the runtime has told of no summary"), !told, "{notices:?}");
    }
}

#[test]
fn leaving_takes_ctrl_d_on_an_empty_line_or_ctrl_c_twice() {
    let quits = |keys: &str| {
        let mut stage = AttachedUi::new(80, 24);
        stage.ui.keys(keys);
        stage.ui.fx.contains(&Fx::Quit)
    };
    for (keys, expected) in [
        ("<ctrl-d>", true),
        ("x<ctrl-d>", false),
        ("<ctrl-c>", false),
        ("<ctrl-c><ctrl-c>", true),
        ("<ctrl-c>x<ctrl-c>", false),
        ("draft<ctrl-c><ctrl-c>", true),
    ] {
        assert_eq!(quits(keys), expected, "{keys}");
    }
    let mut stage = AttachedUi::new(80, 24);
    stage.ui.keys("<ctrl-c>");
    stage.ui.wait(2_500);
    stage.ui.keys("<ctrl-c>");
    assert!(!stage.ui.fx.contains(&Fx::Quit));
}

#[test]
fn the_place_stays_while_text_streams_in_below() {
    let mut stage = AttachedUi::new(40, 12);
    stage.run("go");
    for line in 0..60 {
        stage.text(&format!("line {line}\n\n"));
    }
    assert!(stage.ui.screen().contains("line 59"));
    stage.ui.keys("<pageup><pageup>");
    let before = stage.ui.screen();
    stage.text("more text\n\nand more\n\n");
    let top = |screen: &str| screen.lines().take(5).map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(top(&before), top(&stage.ui.screen()));
    stage.ui.keys("<ctrl-end>");
    assert!(stage.ui.screen().contains("and more"));
}

#[test]
fn nothing_wakes_an_idle_screen() {
    let mut stage = AttachedUi::new(80, 24);
    stage.ui.fx.clear();
    stage.ui.wait(1_000);
    assert_eq!(stage.ui.fx, []);
    stage.run("go");
    assert!(stage.ui.fx.iter().any(|fx| matches!(fx, Fx::Wake(_))));
    stage.end(Outcome::Done);
    stage.ui.wait(10_000);
    stage.ui.fx.clear();
    stage.ui.wait(1_000);
    assert_eq!(stage.ui.fx, []);
}

#[test]
fn no_size_is_too_small() {
    for (columns, rows) in [(1, 1), (2, 3), (10, 4), (40, 10), (400, 100)] {
        let mut stage = AttachedUi::new(columns, rows);
        stage.run("a long prompt that wraps");
        stage.text("some **text** with `code`\n\n```rust\nfn main() {}\n```\n");
        stage.ask(10);
        stage.ui.keys("typing<pageup>");
        stage.ui.draw();
        stage.ui.keys("<esc>?");
        stage.ui.draw();
    }
}
