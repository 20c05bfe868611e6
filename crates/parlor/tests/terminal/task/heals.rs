//! Answers that break off, and ends that are not whole: `parlor run` and the screen through every wire.

use crate::task::story::{Ends, Say};
use crate::task::wire::SIGNATURE;
use crate::task::{Project, Server, Wire};
use serde_json::{Value, json};
use std::process::Output;
use testkit::Screen;

const WIRES: [Wire; 5] =
    [Wire::Anthropic, Wire::OpenAiChat, Wire::OpenAiResponses, Wire::Gemini, Wire::Local];
const HALF: &str = "Half of the";
const WHOLE: &str = "Half of the answer is no answer.";

fn words(output: &Output) -> (String, String) {
    (
        String::from_utf8_lossy(&output.stdout).into_owned(),
        String::from_utf8_lossy(&output.stderr).into_owned(),
    )
}

/// The answer breaks off in this way, and is whole the next time.
#[track_caller]
fn heals(wire: Wire, ends: Ends, said: &str) {
    let story = vec![Say::ending(HALF, ends), Say::words(WHOLE)];
    let (project, server) = (Project::new(), Server::start(wire, story));
    std::fs::write(project.path("config/config.toml"), "[network]\nidle_s = 1\n").unwrap();
    let output = project.parlor(wire, &server, &["run", "go"]).output().unwrap();
    let (out, err) = words(&output);
    assert_eq!(server.trouble(), Vec::<String>::new(), "{wire:?} {err}");
    assert_eq!((output.status.code(), server.requests()), (Some(0), 2), "{wire:?} {out}\n{err}");
    assert_eq!(out, format!("{WHOLE}\n"), "nothing is said twice: {wire:?}");
    assert!(err.contains(said) && err.contains("(2 of "), "{wire:?} {err}");
}

#[test]
fn a_connection_that_breaks_in_the_middle_of_an_answer_costs_nothing_but_time() {
    for wire in WIRES {
        heals(wire, Ends::Cut, "connection lost");
    }
}

#[test]
fn trouble_that_a_provider_tells_in_the_middle_of_an_answer_costs_nothing_but_time() {
    for wire in WIRES {
        heals(wire, Ends::InError, "overloaded");
    }
}

#[test]
fn an_answer_that_stalls_is_asked_for_again_after_the_time_that_the_settings_say() {
    for wire in WIRES {
        heals(wire, Ends::Stalled, "the answer stalled: nothing arrived for 1 s");
    }
}

/// What came of a run, from the last line of `--json`.
fn result(out: &str) -> Value {
    serde_json::from_str::<Value>(out.lines().last().unwrap()).unwrap()["result"].clone()
}

#[test]
fn both_attempts_are_paid_for_and_told_and_only_the_whole_one_is_the_answer() {
    let story = vec![Say::ending(HALF, Ends::Cut), Say::words(WHOLE)];
    let (project, server) = (Project::new(), Server::start(Wire::Anthropic, story));
    let output = project.parlor(Wire::Anthropic, &server, &["run", "--json", "go"]).output().unwrap();
    let (out, err) = words(&output);
    assert_eq!(output.status.code(), Some(0), "{out}\n{err}");
    let result = result(&out);
    assert_eq!(result["text"], json!(format!("{WHOLE}\n")));
    // 100 tokens in and 1 out were told before the cut, then 101 and 20.
    assert_eq!(result["usage"]["input"], json!(201), "{result}");
    assert_eq!(result["usage"]["output"], json!(21), "{result}");
    assert!(out.contains(r#""finish":"cut""#), "{out}");
    assert_eq!(out.matches(r#""step_ended":"#).count(), 2, "{out}");
}

#[test]
fn what_was_cut_is_not_sent_to_the_model_with_the_next_prompt() {
    let story = vec![Say::ending(HALF, Ends::Cut), Say::words(WHOLE), Say::words("And on.")];
    let (project, server) = (Project::new(), Server::start(Wire::Anthropic, story));
    for args in [&["run", "go"][..], &["--continue", "run", "on"]] {
        let output = project.parlor(Wire::Anthropic, &server, args).output().unwrap();
        assert_eq!(server.trouble(), Vec::<String>::new(), "{}", words(&output).1);
        assert_eq!(output.status.code(), Some(0));
    }
}

#[test]
fn the_screen_marks_what_was_cut_and_counts_down() {
    let story = vec![Say::ending(HALF, Ends::Cut), Say::words(WHOLE)];
    let (project, server) = (Project::new(), Server::start(Wire::OpenAiChat, story));
    let mut terminal = Screen::start(&mut project.parlor(Wire::OpenAiChat, &server, &[]));
    terminal.shows(&[Wire::OpenAiChat.model()]);
    terminal.send("go\r");
    terminal.shows(&[HALF, "… cut here: the model was asked again, and repeats it below.", WHOLE]);
    terminal.send("\x04");
    assert!(terminal.finish(), "it ends well");
}

#[test]
fn where_a_model_cannot_answer_the_fallback_of_the_settings_does() {
    let busy = vec![Say::ending(HALF, Ends::InError)];
    let spare = vec![Say::words(WHOLE)];
    let project = Project::new();
    let (server, other) = (Server::start(Wire::Gemini, busy), Server::start(Wire::Local, spare));
    let settings = format!("fallback = \"{}\"\n[network]\nattempts = 1\n", Wire::Local.model());
    std::fs::write(project.path("config/config.toml"), settings).unwrap();
    let mut command = project.parlor(Wire::Gemini, &server, &["run", "go"]);
    let output = command.envs(Wire::Local.environment(&other.url)).output().unwrap();
    let (out, err) = words(&output);
    assert_eq!((output.status.code(), out.as_str()), (Some(0), &*format!("{WHOLE}\n")), "{err}");
    assert_eq!((server.requests(), other.requests(), other.trouble()), (1, 1, Vec::new()));
    assert!(err.contains("Overloaded") && err.contains("Going on with vllm/tiny-coder"), "{err}");
}

#[test]
fn a_request_that_is_refused_as_it_is_does_not_go_to_the_fallback() {
    // It has nothing to say: every request is refused.
    let (server, other) =
        (Server::start(Wire::Gemini, vec![]), Server::start(Wire::Local, vec![Say::words(WHOLE)]));
    let project = Project::new();
    let settings = format!("fallback = \"{}\"\n", Wire::Local.model());
    std::fs::write(project.path("config/config.toml"), settings).unwrap();
    let mut command = project.parlor(Wire::Gemini, &server, &["run", "go"]);
    let output = command.envs(Wire::Local.environment(&other.url)).output().unwrap();
    let (out, err) = words(&output);
    assert_eq!((output.status.code(), out.as_str()), (Some(1), ""), "{err}");
    assert_eq!((server.requests(), other.requests()), (1, 0), "{err}");
}

/// The answer ends in this way: what `run` says about it.
#[track_caller]
fn told(wire: Wire, say: Say, warning: &str) {
    let (project, server) = (Project::new(), Server::start(wire, vec![say.clone()]));
    let output = project.parlor(wire, &server, &["run", "go"]).output().unwrap();
    let (out, err) = words(&output);
    assert_eq!((output.status.code(), server.requests()), (Some(7), 1), "{wire:?} {out}\n{err}");
    assert_eq!(out.trim_end(), say.text, "{wire:?}");
    assert!(err.contains(warning), "{wire:?} {err}");
}

#[test]
fn an_answer_that_is_not_whole_is_told_on_stderr_and_in_the_exit_code() {
    for wire in WIRES {
        told(
            wire,
            Say::ending(HALF, Ends::AtLimit),
            "warning: the answer was cut: it reached the model's length limit",
        );
        told(
            wire,
            Say::ending("No.", Ends::Refused),
            "warning: the model or its provider declined to answer",
        );
        told(wire, Say::words(""), "warning: the answer is empty");
    }
}

#[test]
fn what_only_a_provider_can_read_is_neither_shown_nor_given_away() {
    for wire in [Wire::Anthropic, Wire::OpenAiResponses, Wire::Gemini] {
        let look = Say::call("I look.", "ls", json!({ "path": "." }), "sum.sh");
        let (project, server) = (Project::new(), Server::start(wire, vec![look, Say::words(WHOLE)]));
        let output = project.parlor(wire, &server, &["run", "--json", "go"]).output().unwrap();
        let (out, err) = words(&output);
        assert_eq!((output.status.code(), server.trouble()), (Some(0), Vec::new()), "{err}");
        assert!(!out.contains(SIGNATURE), "{wire:?} {out}");
        let id = result(&out)["session"].as_str().unwrap().to_owned();
        for format in ["md", "html", "jsonl"] {
            let file = project.path(&format!("work/out.{format}"));
            let args = ["sessions", "export", &id, "--output", file.to_str().unwrap()];
            let exported = project.bare(&args).output().unwrap();
            assert_eq!(exported.status.code(), Some(0), "{}", words(&exported).1);
            let text = std::fs::read_to_string(&file).unwrap();
            assert!(text.contains(WHOLE) && !text.contains(SIGNATURE), "{wire:?} {format}: {text}");
            assert!(format == "jsonl" || !text.contains("kept"), "{wire:?} {format}: {text}");
        }
        let shown = project.bare(&["sessions", "show", &id]).output().unwrap();
        assert!(!words(&shown).0.contains("kept"), "{}", words(&shown).0);
        let mut terminal = Screen::start(&mut project.parlor(wire, &server, &["--continue"]));
        terminal.shows(&["I look.", WHOLE]);
        assert!(!terminal.said("kept") && !terminal.said(SIGNATURE), "{wire:?}");
        terminal.send("\x04");
        assert!(terminal.finish(), "it ends well");
    }
}

#[test]
fn a_model_of_tomorrow_has_a_window_a_long_answer_and_a_cost_that_is_marked() {
    let (project, server) = (Project::new(), Server::start(Wire::Anthropic, vec![Say::words(WHOLE)]));
    let mut command = project.bare(&["run", "--json", "--model", "anthropic/claude-opus-4-7", "go"]);
    let output = command.envs(Wire::Anthropic.environment(&server.url)).output().unwrap();
    let (out, err) = words(&output);
    assert_eq!(output.status.code(), Some(0), "{err}");
    assert!(out.contains(r#""window":200000"#), "{out}");
    // 100 in and 20 out, at five and twenty-five dollars per million.
    let usage = json!({ "input": 100, "output": 20, "cost_micros": 1000, "estimated": true });
    assert_eq!(result(&out)["usage"], usage);
    assert_eq!(server.last()["max_tokens"], json!(64_000));
}
