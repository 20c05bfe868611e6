//! How a headless run ends when it does not end well: each way has an exit code of its own and says what to do.

use crate::story::{self, Say};
use crate::{Project, Server, Wire};
use serde_json::json;
use std::io::{BufRead, BufReader, Read};
use std::process::Stdio;

const WIRE: Wire = Wire::OpenAiResponses;

#[test]
fn a_question_to_a_person_who_is_not_there_needs_input() {
    let ask = json!({ "kind": "confirm", "title": "Sure?", "message": "Really?" });
    let story = vec![Say::call("I ask.", "ask", ask, ""), Say::words("Nobody is there.")];
    let (project, server) = (Project::new(), Server::start(WIRE, story));
    let output = project.parlor(WIRE, &server, &["run", "ask me"]).output().unwrap();
    assert_eq!(server.trouble(), Vec::<String>::new());
    assert_eq!(output.status.code(), Some(4));
}

#[test]
fn a_model_that_says_nothing_more_times_out() {
    let (project, server) = (Project::new(), Server::start(WIRE, vec![Say::stall("I begin, and")]));
    let output = project.parlor(WIRE, &server, &["run", "--timeout", "2", "go"]).output().unwrap();
    assert_eq!(output.status.code(), Some(5));
    // On a busy machine the time may be over before anything was asked.
    if server.requests() > 0 {
        server.left_alone();
    }
}

#[test]
fn an_interrupt_cancels_and_leaves_the_provider() {
    let (project, server) = (Project::new(), Server::start(WIRE, vec![Say::stall("I begin, and")]));
    let mut command = project.parlor(WIRE, &server, &["run", "--json", "go"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    while !line.contains("I begin, and") {
        line.clear();
        assert!(out.read_line(&mut line).unwrap() > 0, "it ended before it began");
    }
    let id = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(id, rustix::process::Signal::INT).unwrap();
    let mut rest = String::new();
    out.read_to_string(&mut rest).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130), "{rest}");
    let result: serde_json::Value = serde_json::from_str(rest.lines().last().unwrap()).unwrap();
    assert_eq!(result["result"]["outcome"], "cancelled");
    server.left_alone();
}

#[test]
fn a_provider_that_refuses_is_told_with_what_to_do() {
    // The story is over before it begins: the server refuses.
    let (project, server) = (Project::new(), Server::start(WIRE, story::mend()));
    let mut command = project.parlor(WIRE, &server, &["run", "go"]);
    let output = command.env("OPENAI_API_KEY", "another").output().unwrap();
    assert_eq!((output.status.code(), server.requests()), (Some(1), 1), "it is not tried again");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("openai-responses/gpt-5: bad request (HTTP 400)"), "{said}");
    assert!(said.contains("another model may take it"), "{said}");
}

#[test]
fn a_budget_ends_a_run_with_a_code_of_its_own_and_holds_when_it_goes_on() {
    let look = || Say::call("I look.", "ls", json!({ "path": "." }), "sum.sh");
    let (project, server) = (Project::new(), Server::start(WIRE, vec![look(), look(), look()]));
    // 100 tokens in and 20 out cost 325 millionths.
    let args = ["run", "--json", "--max-cost", "0.0004", "go"];
    let output = project.parlor(WIRE, &server, &args).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert_eq!((output.status.code(), server.requests()), (Some(8), 2), "{said}");
    let lines: Vec<serde_json::Value> =
        said.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let (first, last) = (&lines[0]["header"], &lines[lines.len() - 1]["result"]);
    assert_eq!(first["model"], json!(WIRE.model()));
    assert_eq!((&first["format"], &first["version"]), (&json!(1), &json!(env!("CARGO_PKG_VERSION"))));
    assert!(first["session"].is_string() && first["session"] == last["session"], "{said}");
    assert_eq!(last["outcome"], json!("over_budget"));
    assert!(last["error"].as_str().unwrap().contains("The budget is used up"), "{last}");
    for args in [
        vec!["run", "--continue", "--max-cost", "0.0004", "on"],
        vec!["run", "--resume", first["session"].as_str().unwrap(), "--max-cost", "0.0004", "on"],
    ] {
        let output = project.parlor(WIRE, &server, &args).output().unwrap();
        assert_eq!((output.status.code(), server.requests()), (Some(8), 2), "{args:?}");
    }
}

#[test]
fn what_was_typed_wrongly_is_wrong_usage() {
    let project = Project::new();
    for args in [
        &["run", "--cwd", "/no/such/folder", "hi"][..],
        &["run", "--model", "nobody/x", "hi"],
        &["run", "--model", "no such model", "hi"],
        &["run", "--max-cost", "nothing", "hi"],
        &["run", "--max-steps", "0", "hi"],
    ] {
        let output = project.bare(args).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{args:?} {}", String::from_utf8_lossy(&output.stderr));
    }
}
