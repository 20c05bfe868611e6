//! The shell on a real pseudo-terminal: what a person sees, and that the terminal is given back whatever ends the program.
//!
//! The program under test is this test binary itself, started again as [`child`] with a runtime that repeats what is said.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use domain::command::{Command as Wish, Receipt, RunCommand};
use domain::content::{Json, Part, Role, TextKind, Usage};
use domain::event::{Body, Cause, Event, Finish, MessageEvent, Outcome, RunEvent, SessionEvent, ToolEvent};
use domain::ids::{EntryId, Ids, MessageId, Millis, RunId, Seq, SessionId, StepId, ToolRunId, TurnId};
use domain::port::{Abilities, News};
use domain::signal::Board;
use domain::tool::{ToolOutcome, ToolResult};
use rustix::termios::{InputModes, LocalModes, OutputModes, SpecialCodeIndex, tcgetattr};
use std::io::Read as _;
use std::process::Command;
use std::sync::Arc;
use testkit::Screen;
use tokio::sync::mpsc;
use tui::{About, Options, Outgoing, Settings};

const CHILD: &str = "PARLOR_TUI_CHILD";
const COLUMNS: u16 = 80;
const ROWS: u16 = 24;
/// What a tool writes: red in three ways.
const PAINTED: &str = "\x1b[38;2;255;0;0mred\x1b[0m \x1b[48;5;196mred\x1b[0m \x1b[31mred\x1b[0m";

/// The program under test; does nothing when the tests themselves run.
#[test]
fn child() {
    let Ok(mode) = std::env::var(CHILD) else { return };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async move {
        let (news, incoming) = mpsc::channel(64);
        let (outgoing, commands) = mpsc::channel(64);
        tokio::spawn(repeat(news, commands));
        let about = About { program: "under test".into(), ..About::default() };
        let settings = Settings { inline: mode == "inline", mouse: false, ..Settings::default() };
        let options = Options { about, settings, ..Options::default() };
        tui::run(options, incoming, outgoing).await.unwrap();
    });
}

async fn repeat(news: mpsc::Sender<News>, mut commands: mpsc::Receiver<Outgoing>) {
    let session = SessionId::from_number(1);
    let opened = Body::Session(SessionEvent::Opened { cwd: "/w".into(), project: "/w".into(), parent: None });
    let (replay, board) = (vec![(Millis(0), opened)], Board::default());
    let attached =
        News::Attached { session: session.clone(), replay, board, abilities: Abilities::all("test") };
    let _ = news.send(attached).await;
    let (ids, mut seq, mut leaf) = (Ids::default(), 0, None);
    while let Some(Outgoing { ticket, command, .. }) = commands.recv().await {
        let _ = news.send(News::Settled { ticket, with: Ok(Receipt::Done) }).await;
        let Wish::Run(RunCommand::Prompt { input, .. }) = command else { continue };
        if input.text == "break" {
            std::thread::spawn(|| panic!("something else broke"));
            continue;
        }
        let (run, turn) = (RunId::mint(&ids), TurnId::mint(&ids));
        let (asked, answer) = (MessageId::mint(&ids), MessageId::mint(&ids));
        let (step, tool) = (StepId::mint(&ids), ToolRunId::mint(&ids));
        let paints = input.text == "paint";
        let end = |message| Body::Message(MessageEvent::Ended { message, finish: Finish::Complete });
        let text = format!("you said **{}**", input.text);
        let mut bodies = vec![
            Body::Run(RunEvent::Started { run }),
            Body::Run(RunEvent::TurnStarted { run, turn, cause: Cause::Prompt }),
            Body::Message(MessageEvent::Started {
                message: asked,
                parent: leaf,
                role: Role::User,
                turn: Some(turn),
                step: None,
            }),
            Body::Message(MessageEvent::PartAdded { message: asked, part: Part::Text(input.text) }),
            end(asked),
            Body::Run(RunEvent::StepStarted { turn, step, model: None }),
            Body::Message(MessageEvent::Started {
                message: answer,
                parent: Some(EntryId::from(asked)),
                role: Role::Assistant,
                turn: Some(turn),
                step: Some(step),
            }),
            Body::Message(MessageEvent::Delta { message: answer, kind: TextKind::Text, text }),
            end(answer),
            Body::Run(RunEvent::StepEnded { step, usage: Usage::default() }),
            Body::Run(RunEvent::TurnEnded { turn }),
            Body::Run(RunEvent::Ended { run, outcome: Outcome::Done }),
        ];
        if paints {
            let (name, args) = ("paint".to_owned(), Json::verbatim("{}"));
            let (outcome, result) = (ToolOutcome::Done, ToolResult::text(PAINTED));
            let at = bodies.len() - 4;
            let painted = [
                ToolEvent::Proposed { tool, message: answer, name, args },
                ToolEvent::Started { tool },
                ToolEvent::Ended { tool, outcome, result },
            ];
            bodies.splice(at..at, painted.map(Body::Tool));
        }
        leaf = Some(answer.into());
        for body in bodies {
            seq += 1;
            let event = Arc::new(Event { seq: Seq(seq), at: Millis(0), body });
            let _ = news.send(News::Happened { session: session.clone(), event }).await;
        }
    }
}

/// A terminal with the program in it.
fn started(mode: &str) -> Screen {
    started_as(mode, &[("TERM", "xterm-256color")])
}

/// A terminal that tells this of itself in the environment, and nothing else.
fn started_as(mode: &str, environment: &[(&str, &str)]) -> Screen {
    let mut command = Command::new(std::env::current_exe().unwrap());
    for name in ["TERM", "COLORTERM", "COLORFGBG", "NO_COLOR", "TMUX", "STY"] {
        command.env_remove(name);
    }
    command.args(["--exact", "child", "--quiet", "--nocapture"]).env(CHILD, mode);
    command.envs(environment.iter().copied());
    Screen::sized(&mut command, COLUMNS, ROWS).named("XTerm(390)")
}

#[test]
fn a_person_talks_and_leaves_and_the_terminal_is_as_it_was() {
    let mut terminal = started("full");
    terminal.shows(&["under test"]);
    terminal.send("hello\r");
    terminal.shows(&["you said hello"]);
    terminal.send("?");
    terminal.shows(&["steers the run"]);
    terminal.send("q");
    terminal.shows(&["you said hello"]);
    terminal.send("\x04");
    assert!(terminal.finish());
    assert!(terminal.said("\x1b[?1049h") && terminal.said("\x1b[?1049l") && terminal.said("\x1b[?25h"));
    assert!(terminal.said("\x1b[?2026h"), "the terminal said that it can show frames at once");
}

#[test]
fn keys_come_raw_meanwhile_and_every_mode_of_the_terminal_comes_back() {
    // Modes that no terminal has by itself, so that what comes back cannot be anything else.
    let odd = "stty -ixon -opost eof ^E && exec \"$0\" \"$@\"";
    let mut command = Command::new("sh");
    command.args(["-c", odd]).arg(std::env::current_exe().unwrap());
    command.args(["--exact", "child", "--quiet", "--nocapture"]).env(CHILD, "full");
    let mut terminal = Screen::sized(&mut command, COLUMNS, ROWS);
    // Held, or a terminal that nobody has open any more forgets its modes.
    let end = terminal.other_end();
    let modes = || {
        let modes = tcgetattr(&end).unwrap();
        let (input, output) = (modes.input_modes, modes.output_modes);
        let codes = [SpecialCodeIndex::VEOF, SpecialCodeIndex::VMIN, SpecialCodeIndex::VTIME];
        (input, output, modes.control_modes, modes.local_modes, codes.map(|code| modes.special_codes[code]))
    };
    terminal.shows(&["under test"]);
    let raw = modes();
    terminal.send("\x04");
    assert!(terminal.finish());
    let after = modes();
    assert!(after.3.contains(LocalModes::ECHO | LocalModes::ICANON | LocalModes::ISIG));
    assert!(!after.0.contains(InputModes::IXON) && !after.1.contains(OutputModes::OPOST));
    assert_eq!(after.4[0], 5, "the end of input is still ^E");
    let mut wanted = tcgetattr(&end).unwrap();
    wanted.make_raw();
    let codes = [after.4[0], 1, 0];
    assert_eq!(
        raw,
        (wanted.input_modes, wanted.output_modes, wanted.control_modes, wanted.local_modes, codes)
    );
    assert!(!raw.3.intersects(LocalModes::ECHO | LocalModes::ICANON | LocalModes::ISIG | LocalModes::IEXTEN));
}

#[test]
fn a_paste_comes_as_a_paste() {
    let mut terminal = started("full");
    terminal.shows(&["under test"]);
    terminal.send("\x1b[200~two\nlines\x1b[201~");
    terminal.shows(&["lines"]);
    assert!(!terminal.contents().contains("you said"));
    terminal.send("\r");
    terminal.shows(&["you said"]);
    terminal.send("\x03\x03");
    assert!(terminal.finish());
}

#[test]
fn a_signal_gives_the_terminal_back() {
    for signal in [rustix::process::Signal::TERM, rustix::process::Signal::QUIT] {
        let mut terminal = started("full");
        terminal.shows(&["under test"]);
        terminal.signal(signal);
        terminal.finish();
        assert!(terminal.said("\x1b[?1049l"));
    }
}

#[test]
fn what_breaks_elsewhere_does_not_break_the_screen_and_is_told_at_the_end() {
    let mut terminal = started("full");
    terminal.shows(&["under test"]);
    terminal.send("break\rhello\r");
    terminal.shows(&["you said hello"]);
    assert!(!terminal.said("something else broke"));
    terminal.send("\x04");
    assert!(terminal.finish());
    assert!(terminal.said("something else broke"));
}

#[test]
fn inline_leaves_the_conversation_in_the_terminal() {
    let mut terminal = started("inline");
    terminal.shows(&["under test"]);
    terminal.send("hello\r");
    terminal.shows(&["you said hello"]);
    terminal.send("\x04");
    assert!(terminal.finish());
    let left = terminal.contents();
    assert!(left.contains("> hello") && left.contains("you said hello"), "{left}");
    assert!(!left.contains("ask anything"), "the live part is gone: {left}");
    assert!(!terminal.said("\x1b[?1049h"));
}

#[test]
fn inline_survives_a_storm_of_sizes_and_leaves_what_stood_there_before() {
    let mut terminal = started("inline");
    terminal.draw(b"$ ls\r\none two\r\n$ parlor --inline\r\n");
    terminal.shows(&["under test"]);
    let mut expected = Vec::new();
    for (number, (columns, rows)) in
        [(60, 20), (40, 12), (100, 30), (50, 16), (50, 24), (72, 14), (80, 24)].into_iter().enumerate()
    {
        terminal.resize(columns, rows);
        let rule = "─".repeat(columns.into());
        terminal.until("the live part in its new width", |terminal| {
            terminal.contents().lines().any(|line| line == rule)
        });
        terminal.send(&format!("hello {number}\r"));
        terminal.shows(&[&format!("you said hello {number}")]);
        expected.extend([format!(" > hello {number}"), format!(" you said hello {number}")]);
    }
    terminal.send("\x04");
    assert!(terminal.finish());
    let lines = terminal.lines();
    assert_eq!(lines[..3], ["$ ls", "one two", "$ parlor --inline"]);
    let said: Vec<&String> = lines[3..].iter().filter(|line| line.starts_with(' ')).collect();
    assert_eq!(said, expected.iter().collect::<Vec<_>>());
}

#[test]
fn a_signal_ends_the_inline_screen_below_what_was_said() {
    use rustix::process::Signal;
    for signal in [Signal::TERM, Signal::HUP, Signal::INT, Signal::QUIT] {
        let mut terminal = started("inline");
        terminal.shows(&["under test"]);
        terminal.send("hello\r");
        terminal.shows(&["you said hello"]);
        terminal.signal(signal);
        terminal.finish();
        let left = terminal.contents();
        assert!(left.contains("you said hello") && !left.contains("ask anything"), "{left}");
        assert!(terminal.said("\x1b[?2004l") && !terminal.hides_cursor());
    }
}

/// The dark and the light accent, as the first screen has them.
const DARK: &str = "38;2;127;209;199";
const LIGHT: &str = "38;2;11;114;133";

#[test]
fn a_terminal_that_answers_nothing_has_the_first_screen_at_once() {
    let environment = [("TERM", "xterm-256color"), ("COLORTERM", "truecolor")];
    let mut terminal = started_as("full", &environment).mute();
    // No answer is ever sent before this.
    terminal.shows(&["under test"]);
    assert!(terminal.said(DARK) && terminal.said("\x1b]11;?"));
    // The answers come late, in the wrong order, in pieces, with typing between them.
    terminal.send("hel\x1b[?62;22clo\x1b]11;rgb:ffff/fa");
    terminal.shows(&["> hello"]);
    assert!(!terminal.said(LIGHT));
    terminal.send("fa/f0f0\x1b\\");
    terminal.until("the light colours", |terminal| terminal.said(LIGHT));
    terminal.send("\x1bP>|foot(1.20)\x1b\\\x1b[?2026;2$y\x1b[7;9R\x1b[?0u!\r");
    terminal.shows(&["you said hello!"]);
    let screen = terminal.contents();
    assert!(!screen.contains("rgb") && !screen.contains("foot") && !screen.contains("62;22c"), "{screen}");
    assert!(terminal.said("\x1b[>1u"), "keys come in their own form once the terminal said that they can");
    terminal.send("\x04");
    assert!(terminal.finish());
}

#[test]
fn no_colour_is_written_that_the_terminal_does_not_show() {
    for (environment, has, has_not) in [
        (&[("TERM", "xterm-256color")][..], "38;5;", &["38;2;", "48;2;"][..]),
        (&[("TERM", "xterm")], "\x1b[0;1;36m", &["38;2;", "48;2;", "38;5;", "48;5;"]),
        (&[("TERM", "vt100")], "\x1b[0;1m", &["38;2;", "48;2;", "38;5;", ";36m", ";31m"]),
        (&[("TERM", "xterm-256color"), ("COLORTERM", "truecolor")], DARK, &["38;5;"]),
        (
            &[("TERM", "xterm-256color"), ("COLORTERM", "truecolor"), ("NO_COLOR", "1")],
            "\x1b[0;1m",
            &["38;2;", "48;2;", "38;5;", ";36m", ";31m"],
        ),
        (&[("TERM", "xterm"), ("COLORTERM", "truecolor"), ("COLORFGBG", "0;15")], LIGHT, &[DARK]),
    ] {
        let mut terminal = started_as("full", environment);
        terminal.shows(&["under test"]);
        // What a tool writes has colours of its own.
        terminal.send("paint\r");
        terminal.shows(&["red red red"]);
        terminal.send("\x04");
        assert!(terminal.finish());
        assert!(terminal.said(has), "{environment:?}");
        for code in has_not {
            assert!(!terminal.said(code), "{environment:?}: {code}");
        }
    }
}

#[test]
fn an_answer_on_its_way_is_awaited_at_the_end() {
    let mut terminal = started("full").mute();
    terminal.shows(&["under test"]);
    terminal.send("\x04\x1b[?62;22c");
    assert!(terminal.finish());
    terminal.send("x");
    let mut left = [0; 16];
    let mut slave = terminal.other_end();
    terminal.send("\n");
    let count = slave.read(&mut left).unwrap();
    assert_eq!(&left[..count], b"x\n", "nothing of the answer is left for whatever reads next");
}
