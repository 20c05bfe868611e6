//! The fleet on the screen: how it looks, what its keys do, and who is told when somebody waits.

use crate::commands::FleetHere;
use crate::key::Key;
use crate::msg::{FleetAct, FleetNews, FleetWish, Fx, Msg, ScreenExit};
use crate::update::tests::AttachedUi;
use domain::ask::{Answer, Ask, AskKind, Closing, Preview, Risk};
use domain::command::{Command, LibraryCommand};
use domain::event::{AskEvent, Body, Event, Failure, Outcome, SessionEvent};
use domain::fleet::{Row, Status};
use domain::ids::{AskId, Millis, Seq, SessionId, ToolRunId};
use domain::port::{Abilities, News};
use expect_test::expect;
use std::sync::Arc;

const OWN: u32 = 100;

fn row(number: u64, status: Status, pid: Option<u32>, title: &str) -> Row {
    Row {
        status,
        session: Some(SessionId::from_number(number)),
        pid,
        title: title.to_owned(),
        cwd: "/home/ann/bridge".to_owned(),
        since: Millis(number),
        cost_micros: None,
        rough: false,
        branch: None,
        runtime: None,
        tasks: Vec::new(),
    }
}

fn waiting(question: &str) -> Status {
    Status::Waiting { asks: 1, question: question.to_owned(), ask: None }
}

fn rows() -> Vec<Row> {
    let failed = Outcome::Failed(Failure {
        code: "model_overloaded".to_owned(),
        message: "the model is overloaded".to_owned(),
        hint: None,
    });
    let known = Row {
        cost_micros: Some(1_230_000),
        rough: true,
        branch: Some("main".to_owned()),
        ..row(21, waiting("Run `rm -rf build`?"), Some(7), "mend the bridge\u{1b}[2J")
    };
    let dead = Row { session: None, ..row(9, Status::Dead, Some(4711), "terminal") };
    let theirs =
        Row { runtime: Some("acp".to_owned()), ..row(5, Status::Ended(failed), None, "日本語の題") };
    vec![known, row(22, Status::Running, Some(8), "count the files"), dead, theirs]
}

/// A screen where the fleet is gathered, with these rows on it.
fn stage(columns: u16, high: u16, rows: Vec<Row>) -> AttachedUi {
    let mut stage = AttachedUi::new(columns, high);
    stage.ui.model.screen.start.survey(FleetHere { pid: OWN, visits: true });
    stage.ui.keys("<alt-o>");
    tell(&mut stage, rows);
    stage.ui.wait(120_000);
    stage
}

fn tell(stage: &mut AttachedUi, rows: Vec<Row>) {
    stage.ui.feed(Msg::Fleet(FleetNews::Rows(Arc::new(rows))));
}

fn effects(stage: &mut AttachedUi) -> Vec<Fx> {
    let fx = std::mem::take(&mut stage.ui.fx);
    fx.into_iter().filter(|fx| !matches!(fx, Fx::Wake(_))).collect()
}

/// The rows without the blank that stands before each of them: an expectation is indented as one.
fn flush(screen: &str) -> String {
    screen.lines().map(|line| line.strip_prefix(' ').unwrap_or(line)).collect::<Vec<_>>().join("\n")
}

#[test]
fn it_fits_every_screen() {
    for (columns, high) in [(1, 1), (3, 2), (20, 6), (40, 14), (80, 24), (200, 60)] {
        stage(columns, high, rows()).ui.screen();
    }
    expect![[r#"
        Fleet · 1 waiting for you · 1 running · 4 in all

        ? waiting  for 1 min   mend the bridge  bridge · main  ~$1.23  Run `rm -rf build`?
        ● running  for 1 min   count the files  bridge
        ✗ dead     1 min ago   terminal         bridge                 process 4711 died; what it left wa…
        ✗ failed   1 min ago   日本語の題       bridge · acp           the model is overloaded



        ──────────────────────────────────────────────────────────────────────────────────────────────────
        mend the bridge
        Run `rm -rf build`?
        /home/ann/bridge · process 7 · sess-000000000015
        Esc closes · Enter shows the question · s writes to it · x stops it"#]]
    .assert_eq(&flush(&stage(100, 14, rows()).ui.screen()));
    expect![[r#"
        Fleet · 1 waiting for you · 1 running
        ? waiting  mend the bridge
        ● running  count the files
        ✗ dead     terminal
        ✗ failed   日本語の題


        Esc closes · Enter shows it · s writes"#]]
    .assert_eq(&flush(&stage(40, 8, rows()).ui.screen()));
}

#[test]
fn the_key_works_from_anywhere_and_closes_what_it_opened() {
    let mut stage = AttachedUi::new(80, 24);
    stage.ui.model.screen.start.survey(FleetHere { pid: OWN, visits: true });
    effects(&mut stage);
    // From a list, from a page, from a question, while something is being written.
    for before in ["/sessions<enter>", "?", "some text"] {
        stage.ui.keys(before);
        stage.ui.keys("<alt-o>");
        assert!(stage.ui.screen().contains("Fleet ·"), "{before}");
        stage.ui.keys("<alt-o>");
        assert!(!stage.ui.screen().contains("Fleet ·"), "{before}");
        stage.ui.tidy();
    }
    let watched: Vec<Fx> = effects(&mut stage).into_iter().filter(|fx| matches!(fx, Fx::Fleet(_))).collect();
    let (on, off) = (Fx::Fleet(FleetWish::Watch(true)), Fx::Fleet(FleetWish::Watch(false)));
    assert_eq!(
        watched,
        [&on, &off, &on, &off, &on, &off].map(Clone::clone),
        "it is gathered while it is open"
    );
}

#[test]
fn no_letter_on_a_row_answers_the_question_below_or_elsewhere() {
    let mut stage = stage(80, 24, rows());
    stage.ui.keys("<esc>");
    stage.run("go");
    stage.consent(90, None);
    stage.ui.wait(10_000);
    stage.commands();
    stage.ui.keys("<alt-o>");
    tell(&mut stage, rows());
    for letter in ('a'..='z').chain('A'..='Z').chain('0'..='9').filter(|letter| !"qsx".contains(*letter)) {
        stage.ui.feed(Msg::Key(Key::char(letter)));
    }
    let said = effects(&mut stage);
    let acts = |fx: &Fx| matches!(fx, Fx::Send(_) | Fx::Fleet(FleetWish::Act(_)) | Fx::Leave(_));
    assert!(!said.iter().any(acts), "{said:?}");
}

#[test]
fn a_row_is_opened_spoken_to_and_stopped() {
    let (first, second) = (SessionId::from_number(21), SessionId::from_number(22));
    let say = FleetAct::Say { pid: 7, session: first, text: "only tests".to_owned(), busy: true };
    let stop = FleetAct::Stop { pid: 8, session: second.clone() };
    let act = |act| Fx::Fleet(FleetWish::Act(act));
    for (keys, wanted) in [
        ("<down><enter>", Fx::Leave(ScreenExit::Visit { pid: 8, session: second })),
        ("sonly tests<enter>", act(say)),
        ("<down>xx", act(stop)),
    ] {
        let mut stage = stage(80, 24, rows());
        effects(&mut stage);
        stage.ui.keys(keys);
        let said = effects(&mut stage);
        assert!(said.contains(&wanted), "{keys}: {said:?}");
    }
    // What this process has itself is opened right here; what another program keeps is told how to be had.
    let mut stage = stage(80, 24, vec![row(30, Status::Kept, None, "older"), rows().remove(3)]);
    stage.ui.keys("<down><enter>");
    assert!(stage.ui.screen().contains("parlor --resume"), "{}", stage.ui.screen());
    stage.commands();
    stage.ui.keys("<up><enter>");
    let session = SessionId::from_number(30);
    assert_eq!(stage.commands(), [Command::Library(LibraryCommand::Open { session })]);
}

#[test]
fn who_begins_to_wait_elsewhere_rings_once_where_the_person_wants_it() {
    let rings = |always: bool| {
        let mut stage = AttachedUi::new(80, 24);
        stage.ui.model.screen.start.survey(FleetHere { pid: OWN, visits: true });
        if always {
            stage.ui.model.screen.preferences.set(crate::settings::Setting::Fleet, "on").unwrap();
        }
        let running = vec![row(21, Status::Running, Some(7), "mend it")];
        tell(&mut stage, running);
        effects(&mut stage);
        let asked = vec![row(21, waiting("Run?"), Some(7), "mend it")];
        tell(&mut stage, asked.clone());
        let first = effects(&mut stage);
        tell(&mut stage, asked);
        assert!(!effects(&mut stage).contains(&Fx::Bell), "once");
        (first, stage.ui.screen())
    };
    let (first, screen) = rings(true);
    assert!(
        first.contains(&Fx::Bell) && first.contains(&Fx::Notify("mend it waits for you".into())),
        "{first:?}"
    );
    assert!(first.iter().any(|fx| matches!(fx, Fx::Title(title) if title.starts_with("(1) "))), "{first:?}");
    assert!(screen.contains("mend it waits for you"), "{screen}");
    assert_eq!(rings(false).0, [], "nobody wants it");
}

#[test]
fn where_no_fleet_is_gathered_it_is_told_where_to_look() {
    let mut stage = AttachedUi::new(100, 24);
    stage.ui.keys("/fleet<enter>");
    let screen = stage.ui.screen();
    assert!(
        screen.contains("only on the whole screen; `parlor ps` lists") && !screen.contains("cannot do"),
        "{screen}"
    );
}

fn dead(pid: u32, since: u64) -> Row {
    let dead = row(u64::from(pid), Status::Dead, Some(pid), "terminal");
    Row { session: None, since: Millis(since), ..dead }
}

#[test]
fn processes_that_died_are_one_line_in_its_place_and_gone_after_a_look() {
    let ended = |number: u64, since| Row { since: Millis(since), ..row(number, Status::Kept, None, "older") };
    let running = row(22, Status::Running, Some(8), "count the files");
    let all = || {
        let dead = (1..=22).map(|pid| dead(pid, 500 + u64::from(pid)));
        dead.chain([running.clone(), ended(30, 900), ended(31, 100)]).collect::<Vec<_>>()
    };
    let mut stage = stage(80, 24, all());
    let screen = stage.ui.screen();
    assert_eq!(screen.matches("dead").count(), 1, "{screen}");
    let at = |words: &str| screen.find(words).unwrap_or_else(|| panic!("{words}: {screen}"));
    assert!(at("running") < at("22 processes died") && screen.contains("4 in all"), "{screen}");
    assert_eq!(screen.lines().position(|line| line.contains("22 processes died")), Some(4), "{screen}");
    stage.ui.keys("<alt-o><alt-o>");
    tell(&mut stage, all());
    assert!(!stage.ui.screen().contains("died"), "{}", stage.ui.screen());
    // One that died since is new.
    tell(&mut stage, all().into_iter().chain([dead(99, 950)]).collect());
    assert!(stage.ui.screen().contains("process 99 died"), "{}", stage.ui.screen());
}

fn asks_to_run(number: u64, pid: u32, title: &str, line: &str) -> Row {
    let preview = Preview::Command { line: line.into(), inner: Vec::new() };
    let kind = super::consent(ToolRunId(number), preview, Risk::High);
    let ask = Ask { id: AskId(number), run: None, title: "Run?".into(), kind, deadline: None };
    let status = Status::Waiting { asks: 1, question: "Run?".into(), ask: Some(Box::new(ask)) };
    row(number, status, Some(pid), title)
}

#[test]
fn the_whole_question_of_who_waits_stands_beside_the_rows_of_a_wide_screen() {
    let all = vec![
        asks_to_run(21, 7, "mend the bridge", "rm -rf build && make"),
        asks_to_run(23, 9, "weekly report", "git push origin main"),
        row(22, Status::Running, Some(8), "count the files"),
    ];
    for (columns, is_beside) in [(80, false), (120, true)] {
        let screen = stage(columns, 36, all.clone()).ui.screen();
        assert_eq!(screen.contains("▌"), is_beside, "{screen}");
        assert_eq!(screen.contains("rm -rf build && make"), is_beside, "{screen}");
    }
    let mut stage = stage(120, 36, all.clone());
    stage.ui.keys("n");
    let screen = stage.ui.screen();
    assert!(screen.contains("git push origin main") && !screen.contains("rm -rf build && make"), "{screen}");
    // On one that does not wait it is that of who waits longest.
    stage.ui.keys("<end>");
    let screen = stage.ui.screen();
    assert!(screen.contains("rm -rf build && make") && screen.contains("in mend the bridge"), "{screen}");
    for (columns, high) in [(100, 3), (100, 8), (101, 14), (300, 90)] {
        self::stage(columns, high, all.clone()).ui.screen();
    }
}

fn elsewhere(stage: &mut AttachedUi, session: &SessionId, seq: u64, body: Body) {
    let event = Arc::new(Event { seq: Seq(seq), at: Millis(0), body });
    stage.ui.hear(News::Happened { session: session.clone(), event });
}

/// Another session comes to the screen, and asks something.
fn joins(stage: &mut AttachedUi, session: &SessionId) {
    let (cwd, project) = ("/w/other".to_owned(), "/w/other".to_owned());
    let opened = Body::Session(SessionEvent::Opened { cwd, project, parent: None });
    stage.ui.hear(News::Attached {
        session: session.clone(),
        replay: vec![(Millis(0), opened)],
        board: domain::signal::Board::default(),
        abilities: Abilities::all("test"),
    });
    let kind = AskKind::Confirm { message: "sure?".into(), yes: None, no: None, danger: false };
    let ask = Ask { id: AskId(90), run: None, title: "Go on?".into(), kind, deadline: None };
    elsewhere(stage, session, 1, Body::Ask(AskEvent::Opened(ask)));
    stage.ui.screen();
}

fn over() -> Body {
    let closing = Closing::Answered { answer: Answer::Confirmed(true), by: None };
    Body::Ask(AskEvent::Closed { ask: AskId(90), closing })
}

#[test]
fn who_waits_is_answered_from_the_board_in_its_session_and_the_board_is_back() {
    let mut stage =
        stage(120, 36, vec![asks_to_run(21, 7, "mend it", "make"), asks_to_run(23, 9, "report", "ls")]);
    let home = stage.ui.model.world.current.clone().unwrap();
    effects(&mut stage);
    stage.ui.keys("<enter>");
    let open = |session: SessionId| Command::Library(LibraryCommand::Open { session });
    let there = SessionId::from_number(21);
    assert_eq!(stage.commands(), [open(there.clone())], "the screen stays, and the session comes to it");
    // Its question is asked here, with all that is asked of an answer.
    joins(&mut stage, &there);
    assert!(!stage.ui.model.screen.over.is_open(), "{}", stage.ui.screen());
    stage.ui.wait(10_000);
    stage.ui.keys("y");
    stage.ui.wait(1_000);
    assert!(matches!(&stage.commands()[..], [Command::Answer { ask: AskId(90), .. }]));
    assert!(!stage.ui.model.screen.over.is_open(), "until it is taken");
    elsewhere(&mut stage, &there, 2, over());
    assert!(stage.ui.model.screen.over.fleet().is_some(), "{}", stage.ui.screen());
    // Closed, the person is where they were.
    stage.ui.keys("<esc>");
    assert_eq!(stage.commands(), [open(home)]);
}

#[test]
fn who_says_something_in_the_session_stays_there() {
    let mut stage = stage(120, 36, vec![asks_to_run(21, 7, "mend it", "make")]);
    stage.ui.keys("<enter>");
    let there = SessionId::from_number(21);
    joins(&mut stage, &there);
    stage.ui.keys("and then?<enter>");
    stage.ui.wait(10_000);
    stage.ui.keys("<tab>y");
    stage.ui.wait(1_000);
    elsewhere(&mut stage, &there, 2, over());
    assert!(!stage.ui.model.screen.over.is_open(), "{}", stage.ui.screen());
}

#[test]
fn one_key_goes_to_who_waits_next() {
    let waits = |number, pid| row(number, waiting("Run?"), Some(pid), "waits");
    let mut stage = AttachedUi::new(80, 24);
    stage.ui.model.screen.start.survey(FleetHere { pid: OWN, visits: true });
    stage.ui.model.screen.preferences.set(crate::settings::Setting::Fleet, "on").unwrap();
    let here = stage.ui.model.world.current.clone().unwrap();
    let own = Row { session: Some(here), ..waits(1, OWN) };
    tell(&mut stage, vec![waits(21, 7), own.clone(), waits(22, 8)]);
    effects(&mut stage);
    stage.ui.keys("<alt-n>");
    let visit = |pid, number| Fx::Leave(ScreenExit::Visit { pid, session: SessionId::from_number(number) });
    assert_eq!(effects(&mut stage), [visit(8, 22)], "the one behind this one");
    tell(&mut stage, vec![waits(21, 7), own.clone()]);
    effects(&mut stage);
    stage.ui.keys("<f6>");
    assert_eq!(effects(&mut stage), [visit(7, 21)], "then from the first again");
    tell(&mut stage, vec![own]);
    effects(&mut stage);
    stage.ui.keys("<alt-n>");
    assert!(!effects(&mut stage).iter().any(|fx| matches!(fx, Fx::Leave(_))));
    assert!(stage.ui.screen().contains("no other session waits for you"), "{}", stage.ui.screen());
}
