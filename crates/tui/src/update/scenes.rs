//! Longer ways through the screen: commands, lists, selection, mouse, completion.

use super::tests::{AttachedUi, said};
use crate::Headless;
use crate::commands::Restart;
use crate::msg::{AgentLine, Begin, Fx, Mouse, MouseAct, Msg, ScreenExit};
use crate::settings::Setting;
use crate::theme::Theme;
use domain::ask::{Answer, Ask, AskKind};
use domain::command::{
    Command, ExportFormat, LibraryCommand, ListCommand, QueueCommand, Receipt, Refusal, RefusalKind,
    RunCommand, SessionCommand,
};
use domain::content::{Input, Part, Usage};
use domain::event::{AskEvent, Body, Outcome, QueueEvent, RunEvent, SessionEvent, ToolEvent};
use domain::ids::{AskId, EntryId, Millis, QueuedId, RunId, SessionId, StepId};
use domain::port::{Abilities, LinkState, News};
use domain::queue::{Mode, QueueKind};
use domain::session::{Budget, Effort, ModelEntry, ModelRef, Policy, SessionSummary, ToolEntry};
use domain::signal::{Board, Signal};

fn settle(stage: &mut AttachedUi, receipt: Receipt) {
    let ticket = stage.ui.model.screen.tickets.last();
    stage.ui.hear(News::Settled { ticket, with: Ok(receipt) });
}

/// Two and a half dollars, and nothing else bounded.
const COST: Budget = Budget { max_cost_micros: Some(2_500_000), max_steps: None, max_time_s: None };

#[test]
fn a_budget_is_shown_with_what_was_spent_and_changed_bound_by_bound() {
    let mut stage = AttachedUi::new(120, 24);
    let told = |stage: &mut AttachedUi, line: &str| {
        stage.ui.keys(&format!("{line}<enter>"));
        stage.ui.model.screen.toasts.shown().next_back().map(|toast| toast.text.clone()).unwrap_or_default()
    };
    assert!(told(&mut stage, "/budget").starts_with("no budget is set in this session; write /budget cost"));
    stage.happen(Body::Session(SessionEvent::BudgetChosen { budget: COST }));
    assert!(told(&mut stage, "/budget").starts_with("$0.0000 of $2.50 spent;"));
    stage.ui.keys("/budget steps 40<enter>");
    let budget = Budget { max_steps: Some(40), ..COST };
    assert_eq!(stage.commands(), [Command::Session(SessionCommand::SetBudget { budget })]);
    stage.happen(Body::Session(SessionEvent::BudgetChosen {
        budget: Budget { max_time_s: Some(0), ..budget },
    }));
    stage.run("go");
    let usage = Usage { input: 10, output: 5, ..Usage::default() };
    stage.happen(Body::Run(RunEvent::StepEnded { step: StepId(4), usage }));
    // Unknown is not nothing.
    let shown = told(&mut stage, "/budget");
    assert!(shown.starts_with("cost cannot be counted (the price is not known), bound $2.50, 1 of 40 steps for one prompt, no bound on time;"), "{shown}");
    stage.commands();
    for wrong in [
        "/budget cost",
        "/budget cost 0",
        "/budget cost -1",
        "/budget cost nan",
        "/budget steps 2.5",
        "/budget money 2",
        "/budget cost 1 2",
    ] {
        assert!(told(&mut stage, wrong).starts_with("write /budget cost 2.50"), "{wrong}");
        assert_eq!(stage.commands(), [], "{wrong}");
    }
}

#[test]
fn commands_say_what_they_mean() {
    for (line, command) in [
        (
            "/new trip",
            Command::Library(LibraryCommand::New { cwd: None, title: Some("trip".into()), id: None }),
        ),
        ("/rename Big trip", Command::Session(SessionCommand::Rename { title: "Big trip".into() })),
        ("/policy full", Command::Session(SessionCommand::SetPolicy { policy: Policy::Full })),
        ("/plan", Command::Session(SessionCommand::SetPolicy { policy: Policy::Plan })),
        ("/effort high", Command::Session(SessionCommand::SetEffort { effort: Some(Effort::High) })),
        ("/budget cost 2.5", Command::Session(SessionCommand::SetBudget { budget: COST })),
        ("/budget off", Command::Session(SessionCommand::SetBudget { budget: Budget::OFF })),
        ("/effort auto", Command::Session(SessionCommand::SetEffort { effort: None })),
        (
            "/mode steer all",
            Command::Queue(QueueCommand::SetMode { kind: QueueKind::Steer, mode: Mode::All }),
        ),
        (
            "/model a/b",
            Command::Session(SessionCommand::SetModel { provider: Some("a".into()), name: "b".into() }),
        ),
        ("/compact keep names", Command::Run(RunCommand::Compact { instruction: Some("keep names".into()) })),
        (
            "/export html out.html",
            Command::Library(LibraryCommand::Export { session: None, format: ExportFormat::Html }),
        ),
        ("/clear", Command::Session(SessionCommand::Clear)),
        ("/mcp", Command::List(ListCommand::Servers)),
    ] {
        let mut stage = AttachedUi::new(80, 24);
        stage.ui.keys(line);
        // What may stand behind it was looked up while it was typed.
        stage.commands();
        stage.ui.keys("<enter>");
        assert_eq!(stage.commands(), [command], "{line}");
        assert!(stage.ui.model.screen.composer.is_empty());
    }
}

#[test]
fn what_is_to_be_planned_is_said_once_the_mode_is_set() {
    let mut stage = AttachedUi::new(80, 24);
    stage.ui.keys("/plan move the parser<enter>");
    let commands = stage.commands();
    let [Command::Session(SessionCommand::SetPolicy { policy: Policy::Plan }), Command::Run(prompt)] =
        commands.as_slice()
    else {
        panic!("{commands:?}");
    };
    let RunCommand::Prompt { input, .. } = prompt else { panic!("{prompt:?}") };
    assert_eq!(input.text, "move the parser");
}

#[test]
fn what_is_no_command_is_not_sent_as_one() {
    let mut stage = AttachedUi::new(80, 24);
    stage.ui.keys("/modl<esc><enter>");
    assert_eq!(stage.commands(), []);
    assert!(stage.ui.screen().contains("did you mean /model?"));
    assert!(stage.ui.model.screen.composer.is_empty(), "nothing is glued to it");
    stage.ui.keys("<up>");
    assert_eq!(stage.ui.model.screen.composer.text(), "/modl");
    let mut stage = AttachedUi::new(80, 24);
    stage.ui.keys("/etc/hosts, what is it?<enter>");
    assert!(matches!(&stage.commands()[..], [Command::Run(RunCommand::Prompt { .. })]));
}

#[test]
fn an_export_is_written_where_it_was_asked_for() {
    let mut stage = AttachedUi::new(80, 24);
    stage.ui.keys("/export md talk.md<enter>");
    settle(&mut stage, Receipt::Exported { format: ExportFormat::Markdown, text: "# Talk".into() });
    assert!(stage.ui.fx.contains(&Fx::Write { path: "talk.md".into(), text: "# Talk".into() }));
}

#[test]
fn completion_takes_a_command_and_runs_it_when_it_needs_nothing() {
    let mut stage = AttachedUi::new(80, 24);
    stage.ui.keys("/tre<enter>");
    assert!(stage.ui.screen().contains("Messages and branches"));
    let mut stage = AttachedUi::new(80, 24);
    stage.ui.keys("/ren<tab>trip<enter>");
    assert_eq!(stage.commands(), [Command::Session(SessionCommand::Rename { title: "trip".into() })]);
}

#[test]
fn files_are_asked_for_and_put_in_place() {
    let mut stage = AttachedUi::new(80, 24);
    stage.ui.keys("see @mai");
    assert!(stage.ui.fx.contains(&Fx::FindFiles("mai".into())));
    stage.ui.feed(Msg::Files { query: "ma".into(), paths: vec!["old.rs".into()] });
    stage.ui.feed(Msg::Files { query: "mai".into(), paths: vec!["src/main.rs".into()] });
    stage.ui.keys("<tab>please");
    assert_eq!(stage.ui.model.screen.composer.text(), "see @src/main.rs please");
}

#[test]
fn a_model_is_chosen_from_the_list() {
    let mut stage = AttachedUi::new(80, 24);
    stage.ui.keys("/model<esc><enter>");
    let entry = |name: &str| ModelEntry {
        model: ModelRef { provider: "p".into(), name: name.into() },
        context_window: None,
        max_output: None,
        price_input: None,
        price_output: None,
        thinks: None,
    };
    settle(&mut stage, Receipt::Models { models: vec![entry("small"), entry("large")], current: None });
    stage.ui.sent();
    stage.ui.keys("lar<enter>");
    assert_eq!(
        stage.commands(),
        [Command::Session(SessionCommand::SetModel { provider: Some("p".into()), name: "large".into() })]
    );
}

#[test]
fn tools_are_switched_in_the_list() {
    let mut stage = AttachedUi::new(80, 24);
    stage.ui.keys("/tools<enter>");
    let tool = |name: &str| ToolEntry {
        name: name.into(),
        description: String::new(),
        source: "built-in".into(),
        active: true,
    };
    settle(&mut stage, Receipt::Tools(vec![tool("bash"), tool("read")]));
    stage.ui.sent();
    stage.ui.keys("<enter>");
    assert_eq!(
        stage.commands(),
        [Command::Session(SessionCommand::SetTools { tools: Some(vec!["read".into()]) })]
    );
    stage.ui.keys("<enter>");
    assert_eq!(stage.commands(), [Command::Session(SessionCommand::SetTools { tools: None })]);
}

#[test]
fn going_back_to_a_prompt_brings_its_text() {
    let mut stage = AttachedUi::new(80, 24);
    stage.run("first try");
    stage.text("an answer");
    stage.ui.keys("<ctrl-up>b");
    assert!(stage.ui.screen().contains("stop the run first"));
    stage.end(Outcome::Done);
    stage.ui.keys("<esc><ctrl-up>b");
    assert_eq!(stage.commands(), [Command::Session(SessionCommand::SetLeaf { leaf: None })]);
    assert_eq!(stage.ui.model.screen.composer.text(), "first try");
}

#[test]
fn going_back_to_an_answer_makes_it_the_tip() {
    let mut stage = AttachedUi::new(80, 24);
    stage.run("first try");
    stage.text("an answer");
    stage.end(Outcome::Done);
    stage.ui.keys("<alt-up>b");
    assert_eq!(stage.commands(), [Command::Session(SessionCommand::SetLeaf { leaf: Some(EntryId(5)) })]);
}

#[test]
fn the_selection_copies_and_typing_leaves_it() {
    let mut stage = AttachedUi::new(80, 24);
    stage.run("hello");
    stage.text("an *answer*");
    stage.ui.keys("<alt-up>c");
    assert!(stage.ui.fx.contains(&Fx::Copy("an *answer*".into())));
    stage.ui.keys("x");
    assert_eq!(stage.ui.model.screen.transcript.selected(), None);
    assert_eq!(stage.ui.model.screen.composer.text(), "x");
}

#[test]
fn the_last_code_can_be_copied() {
    let mut stage = AttachedUi::new(80, 24);
    stage.run("hello");
    stage.text("see\n\n```sh\nls\n```\n\nand\n\n```sh\npwd\n```\n");
    stage.ui.keys("/copy code<enter>");
    assert!(stage.ui.fx.contains(&Fx::Copy("pwd".into())));
}

#[test]
fn the_mouse_copies_what_it_is_drawn_over() {
    let mut stage = AttachedUi::new(40, 12);
    stage.run("hello");
    stage.text("first line\n\nsecond line");
    let mouse = |act, column, row| Msg::Mouse(Mouse { act, column, row });
    stage.ui.feed(mouse(MouseAct::Press, 7, 2));
    stage.ui.feed(mouse(MouseAct::Drag, 6, 4));
    assert!(stage.ui.dump().contains("2:7..40 REVERSED"), "{}", stage.ui.dump());
    stage.ui.feed(mouse(MouseAct::Release, 6, 4));
    assert!(stage.ui.fx.contains(&Fx::Copy("line\n\nsecond".into())), "{:?}", stage.ui.fx);
}

#[test]
fn what_waits_can_be_taken_back() {
    let mut stage = AttachedUi::new(80, 24);
    stage.run("go");
    let item = QueuedId(9);
    stage.happen(Body::Queue(QueueEvent::Added {
        item,
        kind: QueueKind::FollowUp,
        input: Input::text("then this"),
        by: None,
    }));
    stage.ui.keys("<ctrl-q><enter>");
    assert_eq!(stage.commands(), [Command::Queue(QueueCommand::Drop { item })]);
    assert_eq!(stage.ui.model.screen.composer.text(), "then this");
}

#[test]
fn a_command_of_the_person_goes_along_with_the_prompt() {
    let mut stage = AttachedUi::new(80, 24);
    stage.ui.keys("!ls<enter>");
    assert!(stage.ui.fx.contains(&Fx::Shell("ls".into())));
    stage.ui.feed(Msg::Shell { line: "ls".into(), said: said("a\u{1b}[2J\n"), code: Some(0) });
    stage.ui.keys("what is this<enter>");
    let sent = stage.commands();
    let [Command::Run(RunCommand::Prompt { input, .. })] = &sent[..] else { panic!("{sent:?}") };
    assert_eq!(input.text, "I ran `ls` (it worked):\n```\na\n```\n\nwhat is this");
}

#[test]
fn a_command_of_the_person_never_blocks_and_can_be_stopped() {
    let mut stage = AttachedUi::new(80, 24);
    stage.ui.keys("!make<enter>");
    stage.ui.feed(Msg::ShellSaid(said("building\u{1b}[2J")));
    stage.ui.wait(3_000);
    let screen = stage.ui.screen();
    assert!(
        screen.contains("$ make   runs for 3s; Esc stops it") && screen.contains("│ building"),
        "{screen}"
    );
    stage.ui.keys("!ls<enter>");
    assert_eq!(stage.ui.model.screen.composer.text(), "!ls", "one at a time");
    stage.ui.keys("<ctrl-u>go on<enter>");
    assert!(
        matches!(&stage.commands()[..], [Command::Run(RunCommand::Prompt { input, .. })] if input.text == "go on")
    );
    assert!(stage.ui.screen().contains("runs for 3s"), "a prompt leaves it alone");
    stage.ui.keys("<esc>");
    assert!(stage.ui.fx.contains(&Fx::StopShell) && stage.ui.screen().contains("stopping…"));
    stage.ui.feed(Msg::Shell { line: "make".into(), said: said("building"), code: None });
    assert!(stage.ui.screen().contains("stopped; will be sent with your next prompt"));
    stage.ui.keys("<esc>");
    let left = stage.ui.model.screen.own.shown();
    assert!(left.is_some_and(|ran| ran.dropped), "it can be read, and does not go along");
}

#[test]
fn a_long_answer_can_be_written_in_the_own_editor() {
    let mut stage = AttachedUi::new(80, 24);
    stage.run("hi");
    let kind = AskKind::Edit { message: String::new(), prefill: "old".into() };
    let ask = Ask { id: AskId(9), run: Some(RunId(1)), title: "improve it".into(), kind, deadline: None };
    stage.happen(Body::Ask(AskEvent::Opened(ask)));
    stage.ui.wait(crate::ask::SEEN_MS);
    stage.ui.keys("<ctrl-g>");
    assert!(stage.ui.fx.contains(&Fx::OpenEditor("old".into())));
    stage.ui.feed(Msg::FromEditor(Some("new\n".into())));
    stage.ui.keys("<enter>");
    let answers: Vec<Command> = stage.commands();
    assert!(
        matches!(&answers[..], [Command::Answer { answer: Answer::Entered(text), .. }] if text == "new"),
        "{answers:?}"
    );
}

#[test]
fn a_picture_goes_along_with_the_prompt() {
    let mut stage = AttachedUi::new(80, 24);
    stage.ui.feed(Msg::Paste("'/tmp/my shot.png' ".into()));
    assert!(stage.ui.fx.contains(&Fx::Attach(Some("/tmp/my shot.png".into()))));
    let part = Part::Image { mime: "image/png".into(), base64: "AA==".into() };
    stage.ui.feed(Msg::Attached(Ok(("my shot.png".into(), part.clone()))));
    stage.ui.keys("look<enter>");
    let sent = stage.commands();
    let [Command::Run(RunCommand::Prompt { input, .. })] = &sent[..] else { panic!("{sent:?}") };
    assert_eq!(input.attachments, [part]);
}

#[test]
fn a_draft_stays_with_its_session() {
    let mut stage = AttachedUi::new(80, 24);
    stage.ui.keys("half a thought");
    let attach = |number| News::Attached {
        session: SessionId::from_number(number),
        replay: vec![(
            Millis(0),
            Body::Session(SessionEvent::Opened { cwd: "/w".into(), project: "/w".into(), parent: None }),
        )],
        board: Board::default(),
        abilities: Abilities::all("test"),
    };
    stage.ui.hear(attach(2));
    assert!(stage.ui.model.screen.composer.is_empty());
    stage.ui.keys("<alt-]>");
    assert_eq!(
        stage.commands(),
        [Command::Library(LibraryCommand::Open { session: SessionId::from_number(1) })]
    );
    stage.ui.hear(attach(1));
    assert_eq!(stage.ui.model.screen.composer.text(), "half a thought");
}

#[test]
fn signals_reach_their_places() {
    let mut stage = AttachedUi::new(80, 24);
    let session = SessionId::from_number(1);
    let mut say = |signal| stage.ui.hear(News::Signal { session: session.clone(), signal });
    say(Signal::Suggestion {
        text: "run the tests".into(),
        confidence: 900,
        source: "x".into(),
        context: None,
    });
    say(Signal::Title("My window\u{7}".into()));
    assert!(stage.ui.fx.contains(&Fx::Title("My window · parlor".into())));
    stage.ui.keys("<tab>");
    assert_eq!(stage.ui.model.screen.composer.text(), "run the tests");
    stage.ui.hear(News::Signal { session, signal: Signal::EditorText("from the runtime".into()) });
    assert_eq!(stage.ui.model.screen.composer.text(), "from the runtime");
}

#[test]
fn keys_can_stand_for_others_and_colours_can_be_chosen() {
    let mut stage = AttachedUi::new(120, 100);
    let wanted = [("sessions", "ctrl-t"), ("/theme", "f2"), ("cut-word", "alt-w")];
    let wanted = wanted.map(|(name, key)| (name.to_owned(), vec![key.to_owned()]));
    let (keymap, told) = crate::keymap::Keymap::read(&wanted);
    assert_eq!(told, Vec::<String>::new());
    stage.ui.model.screen.preferences.load(crate::settings::Settings::default(), keymap);
    stage.ui.keys("<ctrl-t>");
    assert!(stage.ui.screen().contains("Sessions"));
    stage.ui.keys("<esc><f2>");
    assert!(stage.ui.screen().contains("Theme"));
    stage.ui.keys("<esc>two words<alt-w><ctrl-w>");
    assert_eq!(stage.ui.model.screen.composer.text(), "two ");
    stage.ui.keys("<esc>?");
    assert!(stage.ui.screen().contains("Ctrl-T") && !stage.ui.screen().contains("Ctrl-X"));
    stage.ui.keys("<esc>/theme dark<enter>");
    assert_eq!(stage.ui.model.screen.preferences.theme(), Theme::Dark);
}

#[test]
fn colours_are_tried_on_and_kept_when_taken() {
    let mut stage = AttachedUi::new(80, 24);
    stage.ui.keys("/theme<enter><down><down>");
    assert_eq!(stage.ui.model.screen.preferences.theme(), Theme::Dark);
    stage.ui.keys("<esc>");
    assert_eq!(stage.ui.model.screen.preferences.theme(), Theme::Terminal, "not taken, not kept");
    stage.ui.keys("/theme<enter><down><down><enter>");
    assert_eq!(stage.ui.model.screen.preferences.theme(), Theme::Dark);
    assert!(stage.ui.fx.contains(&Fx::Keep { setting: Setting::Theme, value: "dark" }));
    stage.ui.keys("/settings<enter><down><down><enter>");
    assert!(stage.ui.fx.contains(&Fx::Mouse(false)));
    assert!(stage.ui.fx.contains(&Fx::Keep { setting: Setting::Mouse, value: "off" }));
    assert!(stage.ui.screen().contains("mouse   off"), "the list stays and tells the new value");
    stage.ui.keys("<up><enter>");
    assert!(stage.ui.fx.contains(&Fx::Keep { setting: Setting::Screen, value: "inline" }));
}

#[test]
fn the_person_says_what_rings() {
    let mut stage = AttachedUi::new(80, 24);
    stage.ui.model.screen.preferences.set(Setting::Notify, "off").unwrap();
    stage.run("hi");
    let confirm = |id: u64| {
        let kind = AskKind::Confirm { message: String::new(), danger: false, yes: None, no: None };
        Body::Ask(AskEvent::Opened(Ask {
            id: AskId(id),
            run: Some(RunId(1)),
            title: "go on?".into(),
            kind,
            deadline: None,
        }))
    };
    stage.happen(confirm(7));
    assert!(!stage.ui.fx.iter().any(|fx| matches!(fx, Fx::Bell | Fx::Notify(_))));
    let mut stage = AttachedUi::new(80, 24);
    stage.run("hi");
    stage.happen(confirm(7));
    assert!(stage.ui.fx.contains(&Fx::Bell) && stage.ui.fx.contains(&Fx::Notify("go on?".into())));
}

#[test]
fn a_session_that_could_not_be_deleted_is_not_shown_as_gone() {
    let list = || {
        let mut stage = AttachedUi::new(80, 24);
        stage.ui.keys("<ctrl-x>");
        let asked = stage.ui.sent().pop().expect("the list is asked for");
        let kept = SessionSummary {
            title: "kept elsewhere".into(),
            ..SessionSummary::new(SessionId::from_number(5))
        };
        stage.ui.hear(News::Settled { ticket: asked.ticket, with: Ok(Receipt::Sessions(vec![kept])) });
        stage.ui.keys("<delete><delete>");
        let delete = stage.ui.sent().pop().expect("it is to be deleted");
        assert!(matches!(delete.command, Command::Library(LibraryCommand::Delete { .. })));
        assert!(stage.ui.screen().contains("kept elsewhere"), "nothing is gone before it is");
        (stage, delete.ticket)
    };
    let (mut stage, ticket) = list();
    let refusal = Refusal::new(RefusalKind::Storage, "it is open in another program");
    stage.ui.hear(News::Settled { ticket, with: Err(refusal) });
    let screen = stage.ui.screen();
    assert!(screen.contains("it is open in another program"), "no list hides it");
    assert!(screen.contains("kept elsewhere"), "and the list stays\n{screen}");
    let (mut stage, ticket) = list();
    stage.ui.hear(News::Settled { ticket, with: Ok(Receipt::Done) });
    assert!(!stage.ui.screen().contains("kept elsewhere"));
}

#[test]
fn sessions_that_no_title_fits_are_looked_for_in_what_was_said() {
    let mut stage = AttachedUi::new(80, 24);
    stage.ui.keys("<ctrl-x>");
    let Some(Fx::Send(asked)) = stage.ui.fx.iter().rev().find(|fx| matches!(fx, Fx::Send(_))).cloned() else {
        panic!("the list is asked for")
    };
    stage.ui.hear(News::Settled { ticket: asked.ticket, with: Ok(Receipt::Sessions(Vec::new())) });
    stage.ui.keys("forty-two");
    assert!(stage.ui.screen().contains("Enter searches what was said"));
    stage.ui.keys("<enter>");
    let searched = stage.commands().into_iter().any(
        |command| matches!(command, Command::Library(LibraryCommand::List { search: Some(words), .. }) if words == "forty-two"),
    );
    assert!(searched);
}

const DIED: &str = "it ended with code 3. /restart starts it again\nboom: no config\n\u{1b}[31mgiving up";

#[test]
fn the_last_words_of_a_runtime_stand_with_the_loss_and_among_the_notices() {
    let mut stage = AttachedUi::new(80, 24);
    stage.ui.hear(News::Link(LinkState::Lost(DIED.to_owned())));
    let screen = stage.ui.screen();
    for words in [
        "the runtime is gone: it ended with code 3\n",
        "\n   /restart starts it again",
        "it said last:\n   │ boom: no config",
        "giving up",
    ] {
        assert!(screen.contains(words), "{words}: {screen}");
    }
    // It is told again while nobody comes.
    stage.ui.hear(News::Link(LinkState::Lost(DIED.to_owned())));
    stage.ui.keys("/notices<enter>");
    let page = stage.ui.screen();
    let place = |words: &str| page.lines().position(|line| line.contains(words)).expect(words);
    assert!(place("it ended with code 3") < place("boom") && place("boom") < place("giving up"), "{page}");
    assert_eq!(page.matches("boom: no config").count(), 1, "once: {page}");
}

#[test]
fn a_runtime_is_started_again_where_that_is_possible() {
    let mut stage = AttachedUi::new(80, 24);
    stage.ui.keys("/restart<enter>");
    assert!(!stage.ui.fx.contains(&Fx::Restart));
    assert!(stage.ui.screen().contains("this runtime cannot do /restart"));
    for restart in [Restart::Start, Restart::Connect] {
        stage.ui.model.screen.start.stand(restart, false);
        stage.ui.hear(News::Link(LinkState::Lost(DIED.to_owned())));
        stage.ui.fx.clear();
        stage.ui.keys("/restart<enter>");
        assert!(stage.ui.fx.contains(&Fx::Restart), "{restart:?}");
    }
}

#[test]
fn a_key_starts_the_runtime_again_while_the_draft_stays() {
    let mut stage = AttachedUi::new(80, 24);
    stage.ui.model.screen.start.stand(Restart::Start, false);
    stage.ui.keys("my long text<f5>");
    assert!(!stage.ui.fx.contains(&Fx::Restart), "nothing is gone");
    stage.ui.hear(News::Link(LinkState::Lost(DIED.to_owned())));
    stage.ui.keys("<enter>");
    let screen = stage.ui.screen();
    assert!(screen.contains("your text stays here; F5 starts it again"), "{screen}");
    stage.ui.keys("<f5>");
    assert!(stage.ui.fx.contains(&Fx::Restart));
    assert!(stage.ui.screen().contains("my long text"), "the draft is still there");
}

#[test]
fn the_screen_is_left_for_a_login_or_an_agent_where_somebody_sees_to_it() {
    let agent = |name: &str, missing: Option<&str>| AgentLine {
        name: name.to_owned(),
        about: "about it\u{1b}[2J".to_owned(),
        more: format!("{name} --stdio"),
        missing: missing.map(str::to_owned),
    };
    let agents = || vec![agent("here", None), agent("gone", Some("gone is not installed\nhint: get it"))];
    let mut stage = AttachedUi::new(80, 24);
    stage.ui.keys("/login<enter>/agents<enter>");
    assert!(!stage.ui.fx.iter().any(|fx| matches!(fx, Fx::Leave(_) | Fx::FindAgents)));
    stage.ui.model.screen.start.stand(Restart::None, true);
    stage.ui.keys("/login<enter>");
    assert!(stage.ui.fx.contains(&Fx::Leave(ScreenExit::Login)));
    stage.ui.keys("/agents<enter>");
    assert!(stage.ui.fx.contains(&Fx::FindAgents) && stage.ui.screen().contains("one moment"));
    stage.ui.feed(Msg::Agents(agents()));
    assert!(stage.ui.screen().contains("✓ here") && stage.ui.screen().contains("here --stdio"));
    stage.ui.keys("gone<enter>");
    assert!(stage.ui.screen().contains("gone is not installed"), "{}", stage.ui.screen());
    assert!(!stage.ui.fx.contains(&Fx::Leave(ScreenExit::Attach("gone".into()))));
    stage.ui.keys("/agents<enter>");
    stage.ui.feed(Msg::Agents(agents()));
    stage.ui.keys("<enter>");
    assert!(stage.ui.fx.contains(&Fx::Leave(ScreenExit::Attach("here".into()))));
    stage.ui.keys("/agents goose<enter>");
    assert!(stage.ui.fx.contains(&Fx::Leave(ScreenExit::Attach("goose".into()))), "named, no list is needed");
    // What an agent goes on from goes with the first prompt, and is seen before it does.
    let part = Part::Code { language: None, text: "we spoke".into(), path: Some("What came before".into()) };
    stage.ui.feed(Msg::Begin(Begin::With { name: "what came before: 2 messages".into(), part }));
    assert!(stage.ui.screen().contains("what came before: 2 messages"), "{}", stage.ui.screen());
    stage.ui.keys("<esc>");
    assert!(!stage.ui.screen().contains("what came before"), "it can be taken away");
    // A list that comes when nobody looks any more disturbs nobody.
    stage.ui.feed(Msg::Agents(agents()));
    assert!(!stage.ui.model.screen.over.is_open());
    // Nobody leaves a run behind.
    stage.run("hello");
    stage.ui.fx.clear();
    stage.ui.keys("/login<enter>");
    assert!(!stage.ui.fx.contains(&Fx::Leave(ScreenExit::Login)));
    assert!(stage.ui.screen().contains("a run is under way"), "{}", stage.ui.screen());
}

#[test]
fn nothing_that_was_written_is_lost_with_the_runtime() {
    let mut stage = AttachedUi::new(80, 24);
    stage.ui.keys("heard by nobody<enter>");
    assert!(stage.ui.model.screen.composer.is_empty());
    stage.ui.hear(News::Link(LinkState::Lost("it crashed".into())));
    assert_eq!(stage.ui.model.screen.composer.text(), "heard by nobody");
    assert!(stage.ui.screen().contains("the runtime is gone: it crashed"));
    stage.commands();
    stage.ui.keys("<enter>");
    assert_eq!(stage.ui.model.screen.composer.text(), "heard by nobody", "it stays");
    assert_eq!(stage.commands(), [], "and is not sent");
    stage.ui.hear(News::Attached {
        session: SessionId::from_number(1),
        replay: Vec::new(),
        board: Board::default(),
        abilities: Abilities::all("test"),
    });
    assert!(stage.ui.screen().contains("the runtime is back") && !stage.ui.screen().contains("is gone"));
    stage.ui.keys("<enter>");
    assert_eq!(stage.commands().len(), 1);
}

#[test]
fn the_mouse_chooses_from_lists() {
    let mut stage = AttachedUi::new(80, 24);
    stage.ui.keys("/theme<enter>");
    let press = |row| Msg::Mouse(Mouse { act: MouseAct::Press, column: 5, row });
    stage.ui.feed(press(5));
    assert_eq!(stage.ui.model.screen.preferences.theme(), Theme::Dark, "the first click tries it on");
    assert!(stage.ui.model.screen.over.is_open());
    stage.ui.feed(press(5));
    assert!(!stage.ui.model.screen.over.is_open());
    assert!(stage.ui.fx.contains(&Fx::Keep { setting: Setting::Theme, value: "dark" }));
    stage.ui.keys("/theme<enter>");
    stage.ui.feed(press(20));
    stage.ui.feed(press(0));
    assert!(stage.ui.model.screen.over.is_open(), "a click beside the list does nothing");
}

#[test]
fn what_was_said_in_passing_can_be_read_again() {
    let mut stage = AttachedUi::new(80, 24);
    stage.ui.keys("/nosuch<enter><ctrl-u>");
    stage.ui.wait(120_000);
    assert!(!stage.ui.screen().contains("there is no command"));
    stage.ui.keys("/notices<enter>");
    assert!(stage.ui.screen().contains("2 min ago   there is no command /nosuch"), "{}", stage.ui.screen());
}

#[test]
fn a_page_stands_still_at_its_end() {
    let mut stage = AttachedUi::new(80, 24);
    stage.ui.keys("?<end>");
    let end = stage.ui.screen();
    stage.ui.keys("<down><pagedown>");
    assert_eq!(stage.ui.screen(), end);
    stage.ui.keys("<up>");
    assert_ne!(stage.ui.screen(), end);
}

#[test]
fn a_gap_in_the_events_asks_for_the_whole_session() {
    let mut stage = AttachedUi::new(80, 24);
    stage.happen(Body::Tool(ToolEvent::Started { tool: domain::ids::ToolRunId(99) }));
    assert_eq!(
        stage.commands(),
        [Command::Library(LibraryCommand::Open { session: SessionId::from_number(1) })]
    );
}

#[test]
fn keys_set_more_and_less_effort() {
    let mut stage = AttachedUi::new(80, 24);
    stage.ui.keys("<alt-.>");
    assert_eq!(
        stage.commands(),
        [Command::Session(SessionCommand::SetEffort { effort: Some(Effort::High) })]
    );
}

#[test]
fn esc_twice_gives_up_a_program_that_has_not_answered() {
    let cancels = |fx: &[Fx]| {
        let is_stop = |fx: &Fx| matches!(fx, Fx::Send(said) if matches!(said.command, Command::Run(RunCommand::Cancel { .. })));
        fx.iter().filter(|fx| is_stop(fx)).count()
    };
    for (restart, given_up) in [(Restart::Start, 1), (Restart::Connect, 0), (Restart::None, 0)] {
        let mut ui = Headless::new(80, 24);
        ui.model.screen.start.stand(restart, false);
        ui.keys("my text<esc>");
        assert_eq!(cancels(&ui.fx), 0, "{restart:?}: the first ones are about the text");
        ui.keys("<esc>");
        assert_eq!(ui.screen().contains("Esc again gives up the start"), given_up > 0, "{restart:?}");
        assert_eq!(cancels(&ui.fx), 0, "{restart:?}");
        ui.keys("<esc>");
        assert_eq!(cancels(&ui.fx), given_up, "{restart:?}");
    }
    let mut stage = AttachedUi::new(80, 24);
    stage.ui.model.screen.start.stand(Restart::Start, false);
    stage.ui.keys("<esc><esc>");
    assert_eq!(cancels(&stage.ui.fx), 0, "it has answered");
}
