//! The plain mode on a real pseudo-terminal and in pipes: lines and words, and not one byte that moves a cursor.

use crate::task::Project;
use rustix::process::{Pid, Signal, kill_process};
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use testkit::Screen;

/// The program in a terminal that can do nothing.
fn dumb(project: &Project, args: &[&str]) -> Command {
    let mut command = project.bare(args);
    command.args(["--model", "offline/offline"]).env("TERM", "dumb");
    command
}

fn made(project: &Project, name: &str) -> bool {
    project.path("work").join(name).exists()
}

#[track_caller]
fn nothing_but_lines(terminal: &Screen) {
    let is_line = |byte: &u8| *byte >= b' ' && *byte != 0x7f || matches!(byte, b'\n' | b'\r' | b'\t');
    let odd: Vec<u8> = terminal.bytes().iter().copied().filter(|byte| !is_line(byte)).collect();
    // What the terminal itself writes where Ctrl-D was typed.
    let odd: Vec<u8> = odd.into_iter().filter(|byte| *byte != 0x08).collect();
    assert_eq!(odd, Vec::<u8>::new());
    let text = String::from_utf8_lossy(terminal.bytes());
    for noise in ['▱', '─', '│', '·', '…', '✓', '›', '●'] {
        assert!(!text.contains(noise), "{noise} is noise to an ear: {text}");
    }
}

#[test]
fn a_whole_conversation_in_a_dumb_terminal_is_lines_and_words() {
    let project = Project::new();
    let mut terminal = Screen::start(&mut dumb(&project, &[]));
    terminal.shows(&["plain mode", "Ready."]);
    terminal.send("write a.txt: hi\n");
    terminal.shows(&["Question: write a.txt", "add line 1: hi", "Answer \"yes\""]);
    // No letter answers.
    terminal.send("y\n");
    terminal.shows(&["A letter is no answer here"]);
    assert!(!made(&project, "a.txt"));
    terminal.send("yes\n");
    terminal.shows(&["You allowed it once.", "Tool write (a.txt) is done.", "Done, in"]);
    assert!(made(&project, "a.txt"));
    terminal.send("write b.txt: hi\n");
    terminal.shows(&["Question: write b.txt"]);
    terminal.settles();
    terminal.send("no because it is not needed\n");
    terminal.shows(&["You said no, because it is not needed", "Tool write (b.txt) was denied."]);
    assert!(!made(&project, "b.txt"));
    terminal.settles();
    terminal.send("/status\n");
    terminal.shows(&["Status:", "folder:", "queue:"]);
    terminal.send("\u{4}");
    assert_eq!(terminal.code(), Some(0));
    assert!(terminal.said("Resume this conversation with: parlor --resume"));
    nothing_but_lines(&terminal);
    // It goes on where it was.
    let mut terminal = Screen::start(&mut dumb(&project, &["--continue"]));
    terminal.shows(&["Going on with", "You: write b.txt: hi", "Ready."]);
    // What a terminal does with Ctrl-C: once is a warning, twice is the end.
    for shown in ["Ctrl-C again quits.", "Resume this conversation with"] {
        kill_process(Pid::from_child(terminal.child()), Signal::INT).unwrap();
        terminal.shows(&[shown]);
    }
    assert_eq!(terminal.code(), Some(0));
    nothing_but_lines(&terminal);
}

#[test]
fn a_line_that_was_begun_before_the_question_does_not_answer_it() {
    let project = Project::new();
    let mut terminal = Screen::start(&mut dumb(&project, &[]));
    terminal.shows(&["Ready."]);
    // A whole line, and one that is begun: the terminal holds it back until Enter.
    terminal.send("count to 3 slowly then write a.txt: hi\nye");
    terminal.shows(&["Question: write a.txt"]);
    terminal.settles();
    terminal.send("s\n");
    terminal.shows(&["begun before the question was there"]);
    assert!(!made(&project, "a.txt"));
    terminal.send("yes\n");
    terminal.shows(&["You allowed it once.", "Tool write (a.txt) is done."]);
    assert!(made(&project, "a.txt"));
    nothing_but_lines(&terminal);
}

#[test]
fn a_secret_is_not_shown_while_it_is_typed_in_lines() {
    let project = Project::new();
    let mut terminal = Screen::start(&mut dumb(&project, &[]));
    terminal.shows(&["Ready."]);
    assert!(terminal.echoes());
    terminal.send("call ask {\"kind\":\"text\",\"title\":\"Password?\",\"secret\":true}\n");
    terminal.shows(&["Question: Password?", "What you type is not shown."]);
    terminal.settles();
    assert!(!terminal.echoes());
    terminal.send("hunter2-of-tonight\n");
    terminal.shows(&["The secret was received.", "Done, in"]);
    terminal.settles();
    assert!(terminal.echoes());
    terminal.send("\u{4}");
    assert_eq!(terminal.code(), Some(0));
    assert!(!terminal.said("hunter2") && !project.kept_anywhere("hunter2-of-tonight"));
}

#[test]
fn told_to_stop_it_ends_its_run_and_leaves_the_terminal_as_it_was() {
    for (signal, code) in [(Signal::TERM, 143), (Signal::HUP, 129)] {
        let project = Project::new();
        let mut terminal = Screen::start(&mut dumb(&project, &[]));
        terminal.shows(&["Ready."]);
        terminal.send("count to 200 slowly\n");
        terminal.shows(&["The model says:"]);
        kill_process(Pid::from_child(terminal.child()), signal).unwrap();
        assert_eq!(terminal.code(), Some(code));
        assert!(terminal.echoes());
    }
}

#[test]
fn told_to_stop_in_a_pipe_it_ends_at_once() {
    let project = Project::new();
    let mut command = project.bare(&["--plain", "--model", "offline/offline"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    // Held until the end: without it the program would leave by itself.
    let stdin = child.stdin.take();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    assert!(lines.any(|line| line == "Ready."));
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130), "nobody is there to say it twice");
    drop(stdin);
}

#[test]
fn a_command_of_ones_own_runs_in_lines_and_goes_along() {
    let project = Project::new();
    let mut terminal = Screen::start(&mut dumb(&project, &[]));
    terminal.shows(&["Ready."]);
    terminal.send("!echo first; echo sec$((1+1))nd >&2; touch made-by-hand; exit 3\n");
    terminal.shows(&["Your command runs.", "sec2nd", "Your command is over: exit code 3."]);
    assert!(made(&project, "made-by-hand"), "in the folder of the project, and unasked");
    terminal.settles();
    // What will not end is stopped, with all that it started.
    terminal.send("!echo pid $$; while :; do sleep 1; done\n");
    terminal.shows(&["pid "]);
    terminal.send("/stop\n");
    terminal.shows(&["Stopping your command.", "Your command is over: stopped."]);
    terminal.settles();
    terminal.send("/fleet\n");
    terminal.shows(&["`parlor ps` lists your sessions"]);
    terminal.send("say what it was\n");
    terminal.shows(&["Done, in"]);
    terminal.send("\u{4}");
    assert_eq!(terminal.code(), Some(0));
    nothing_but_lines(&terminal);
    assert!(project.kept_anywhere("I ran `echo pid"), "it went along");
}

#[test]
fn a_pipe_is_heard_to_its_end_and_its_lines_answer_no_question_that_comes_later() {
    let project = Project::new();
    let said = |input: &str| {
        let mut command = project.bare(&["--plain", "--model", "offline/offline"]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        (output.status.code(), String::from_utf8(output.stdout).unwrap())
    };
    let (code, text) = said("say howdy\n");
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("You: say howdy\n") && text.contains("The model says:\n"), "{text}");
    assert!(!text.contains('\u{1b}'), "{text:?}");
    let (code, text) = said("write a.txt: hi\nyes\n");
    assert_eq!(code, Some(4), "{text}");
    assert!(text.contains("Nobody is there to answer."), "{text}");
    assert!(!made(&project, "a.txt"));
}

/// A project with two conversations, the newer one "say moin".
fn with_two() -> Project {
    let project = Project::new();
    for said in ["say howdy", "say moin"] {
        let output = project.bare(&["--model", "offline/offline", "run", said]).output().unwrap();
        assert!(output.status.success(), "{output:?}");
    }
    project
}

const OFFERED: &[&str] =
    &["1: say moin, ", "2: say howdy, ", "Write a number or words of a title, and Enter."];

#[test]
fn a_conversation_is_picked_from_lines_by_a_number_or_by_words() {
    let project = with_two();
    let mut terminal = Screen::start(&mut dumb(&project, &["--plain", "--resume"]));
    terminal.shows(OFFERED);
    // An arrow is no choice, and what fits two is asked again.
    terminal.send("\u{1b}[A\n");
    terminal.shows(&["That is none of them: a number from 1 to 2"]);
    terminal.send("say\n");
    terminal.shows(&["That fits several of them: 1, 2."]);
    assert!(!terminal.said("plain mode"), "nothing has begun");
    terminal.send("HOWDY\n");
    terminal.shows(&["plain mode", "Going on with", "You: say howdy", "Ready."]);
    terminal.send("\u{4}");
    assert_eq!(terminal.code(), Some(0));
    nothing_but_lines(&terminal);
    // A terminal that can do nothing has the same list without being asked for plain lines; nothing picked is a new conversation.
    let mut terminal = Screen::start(&mut dumb(&project, &["--resume"]));
    terminal.shows(&["1: say ", "2: say "]);
    terminal.send("\n");
    terminal.shows(&["plain mode", "Ready."]);
    terminal.send("\u{4}");
    assert_eq!(terminal.code(), Some(0));
    assert!(!terminal.said("Going on with"));
    // Who leaves at the list has begun nothing.
    let mut terminal = Screen::start(&mut dumb(&project, &["--resume", "--plain"]));
    terminal.shows(&["1: say ", "2: say "]);
    terminal.send("\u{4}");
    assert_eq!(terminal.code(), Some(0));
    assert!(!terminal.said("plain mode"));
    nothing_but_lines(&terminal);
}

#[test]
fn a_pipe_picks_with_its_first_line_and_goes_on_with_the_rest() {
    let project = with_two();
    let piped = |project: &Project, input: &str| {
        let mut command = project.bare(&["--plain", "--model", "offline/offline", "--resume"]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        // Who is not interested in the rest may have left.
        let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
        let output = child.wait_with_output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (output.status.code(), text(output.stdout), text(output.stderr))
    };
    let (code, out, err) = piped(&project, "");
    assert!(
        code == Some(4) && err.contains("nothing was picked") && err.contains("--resume ID"),
        "{out}{err}"
    );
    let (code, out, err) = piped(&project, "nonsense\nsay nothing\n");
    assert!(code == Some(2) && err.contains("none of them"), "{out}{err}");
    assert!(!out.contains("say nothing"), "nobody hears what was meant for another: {out}");
    let (code, out, err) = piped(&project, "2\nsay again\n");
    assert_eq!(code, Some(0), "{out}{err}");
    assert!(out.contains("Going on with") && out.contains("You: say howdy\n"), "{out}");
    assert!(out.contains("You: say again\n") && !out.contains("You: say moin\n"), "{out}");
    assert!(!out.contains('\u{1b}'), "{out:?}");
    let (code, out, err) = piped(&project, "\nsay anew\n");
    assert_eq!(code, Some(0), "{out}{err}");
    assert!(!out.contains("Going on with") && out.contains("You: say anew\n"), "{out}");
    let (code, out, err) = piped(&Project::new(), "say first\n");
    assert_eq!(code, Some(0), "{out}{err}");
    assert!(out.contains("No conversation is kept yet") && out.contains("You: say first\n"), "{out}");
}

#[test]
fn another_programs_runtime_is_spoken_to_in_lines() {
    let project = Project::new();
    let parlor = env!("CARGO_BIN_EXE_parlor");
    let served = [parlor, "serve", "--dialect", "codelia", "--stdio", "--model", "offline/offline"];
    let args = [&["attach", "--plain", "--dialect", "codelia", "--"][..], &served].concat();
    let mut terminal = Screen::start(&mut project.bare(&args));
    terminal.shows(&["plain mode", "Ready."]);
    terminal.send("write a.txt: hi\n");
    terminal.shows(&["Question:", "Answer \"yes\""]);
    terminal.send("yes\n");
    terminal.shows(&["You allowed it once.", "is done."]);
    terminal.sees("the file", || made(&project, "a.txt"));
    terminal.send("\u{4}");
    assert_eq!(terminal.code(), Some(0));
    nothing_but_lines(&terminal);
}
