//! How a headless run ends when it does not end well: each way has an exit code of its own and says what to do.

use crate::task::story::{self, Say};
use crate::task::{Project, Server, Wire, until};
use serde_json::json;
use std::io::{BufRead, BufReader, Read};
use std::process::Stdio;

const WIRE: Wire = Wire::OpenAiResponses;

#[test]
fn where_nobody_is_there_the_model_knows_it_and_finishes_by_itself() {
    let ask = json!({ "kind": "confirm", "title": "Sure?", "message": "Really?" });
    let story =
        vec![Say::call("I ask.", "ask", ask, "There is no tool ask"), Say::words("I took the first.")];
    let (project, server) = (Project::new(), Server::start(WIRE, story));
    let output = project.parlor(WIRE, &server, &["run", "ask me"]).output().unwrap();
    assert_eq!(server.trouble(), Vec::<String>::new());
    assert_eq!(
        output.status.code(),
        Some(0),
        "nothing was left undone: {}",
        String::from_utf8_lossy(&output.stderr)
    );
}

#[test]
fn the_end_of_the_time_is_told() {
    let (project, server) = (Project::new(), Server::start(WIRE, vec![Say::stall("I begin, and")]));
    let output = project.parlor(WIRE, &server, &["run", "--timeout", "1", "go"]).output().unwrap();
    assert_eq!(output.status.code(), Some(5));
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(told.contains("not over within 1 s, which --timeout gives it"), "{told}");
}

#[test]
fn patches_are_in_the_prompt_of_models_that_know_them_and_can_be_allowed() {
    let (project, server) = (Project::new(), Server::start(WIRE, vec![Say::words("Fine.")]));
    let tools = |wire: Wire| {
        let output = project.parlor(wire, &server, &["prompt", "--json"]).output().unwrap();
        let told: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        told["tools"].as_array().unwrap().iter().map(|tool| tool["name"].to_string()).collect::<Vec<_>>()
    };
    let patch = || "\"apply_patch\"".to_owned();
    assert!(tools(WIRE).contains(&patch()));
    assert!(!tools(Wire::Anthropic).contains(&patch()));
    let output = project.parlor(WIRE, &server, &["run", "--allow", "apply_patch", "go"]).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn a_model_that_says_nothing_more_times_out() {
    let (project, server) = (Project::new(), Server::start(WIRE, vec![Say::stall("I begin, and")]));
    let output = project.parlor(WIRE, &server, &["run", "--json", "--timeout", "2", "go"]).output().unwrap();
    assert_eq!(output.status.code(), Some(5));
    let said = String::from_utf8_lossy(&output.stdout);
    let result: serde_json::Value = serde_json::from_str(said.lines().last().unwrap()).unwrap();
    assert_eq!(result["result"]["error"], json!("not over within 2 s, which --timeout gives it"));
    // On a busy machine the time may be over before anything was asked.
    if server.requests() > 0 {
        server.left_alone();
    }
}

#[test]
fn told_to_stop_it_ends_with_a_result_that_says_so_and_leaves_the_provider() {
    use rustix::process::Signal;
    for (signal, name, code) in [
        (Signal::INT, "SIGINT", 130),
        (Signal::TERM, "SIGTERM", 143),
        (Signal::HUP, "SIGHUP", 129),
        (Signal::QUIT, "SIGQUIT", 131),
    ] {
        let (project, server) = (Project::new(), Server::start(WIRE, vec![Say::stall("I begin, and")]));
        let mut command = project.parlor(WIRE, &server, &["run", "--json", "go"]);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let (mut line, mut header) = (String::new(), String::new());
        while !line.contains("I begin, and") {
            line.clear();
            assert!(out.read_line(&mut line).unwrap() > 0, "it ended before it began");
            if header.is_empty() {
                header.clone_from(&line);
            }
        }
        let id = rustix::process::Pid::from_child(&child);
        rustix::process::kill_process(id, signal).unwrap();
        let mut rest = String::new();
        out.read_to_string(&mut rest).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(code), "{rest}");
        let read = |line: &str| serde_json::from_str::<serde_json::Value>(line).unwrap();
        let (header, result) = (&read(&header)["header"], &read(rest.lines().last().unwrap())["result"]);
        assert_eq!((&result["outcome"], &result["exit_code"]), (&json!("cancelled"), &json!(code)), "{name}");
        assert_eq!(result["error"], json!(format!("told to stop by {name} before the run was over")));
        assert!(result["session"].is_string() && result["session"] == header["session"], "{result}");
        assert_eq!(result["text"], json!("I begin, and\n"));
        server.left_alone();
    }
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
    assert!(said.contains("another model may accept it"), "{said}");
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
fn a_budget_is_kept_with_its_session_through_a_kill_and_is_raised_by_saying_so() {
    // What a model signed in the answer that the kill cut is another matter.
    let wire = Wire::OpenAiChat;
    let look = || Say::call("I look.", "ls", json!({ "path": "." }), "sum.sh");
    let story = vec![look(), look(), Say::stall("And I"), Say::words("Done.")];
    let (project, server) = (Project::new(), Server::start(wire, story));
    // A step costs 325 millionths or a few more: the third is begun, and never over.
    let mut command = project.parlor(wire, &server, &["run", "--json", "--max-cost", "0.0009", "go"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    while !line.contains("And I") {
        line.clear();
        assert!(out.read_line(&mut line).unwrap() > 0, "it ended before it began");
    }
    child.kill().unwrap();
    child.wait().unwrap();
    // Nobody names the budget again: it is the session's, and so is what was spent before the kill.
    std::fs::write(project.path("config/config.toml"), "[budget]\nmax_steps = 40\n").unwrap();
    let lowered = ["run", "--continue", "--json", "--max-cost", "0.0006", "on"];
    let plain = ["run", "--continue", "--json", "on"];
    for args in [&lowered[..], &plain] {
        let output = project.parlor(wire, &server, args).output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        assert_eq!((output.status.code(), server.requests()), (Some(8), 3), "{said}");
        let result: serde_json::Value = serde_json::from_str(said.lines().last().unwrap()).unwrap();
        let error = result["result"]["error"].as_str().unwrap();
        assert!(error.contains("of $0.0006. Raise it with /budget cost or --max-cost"), "{error}");
    }
    let raised = ["run", "--continue", "--max-cost", "1", "on"];
    let output = project.parlor(wire, &server, &raised).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!((output.status.code(), server.requests()), (Some(0), 4), "{said} {:?}", server.trouble());
}

#[test]
fn an_answer_is_paid_for_also_when_the_program_is_killed_while_its_command_runs() {
    let wire = Wire::OpenAiChat;
    let wait = json!({ "command": "touch begun; sleep 600" });
    let story = vec![Say::call("I wait.", "bash", wait, ""), Say::words("Done.")];
    let (project, server) = (Project::new(), Server::start(wire, story));
    // The one answer costs 325 millionths or a few more.
    let args = ["run", "--allow", "bash", "--max-cost", "0.0002", "go"];
    let mut child = project.parlor(wire, &server, &args).stdout(Stdio::null()).spawn().unwrap();
    until("the command runs", &server, || project.path("work/begun").exists());
    child.kill().unwrap();
    child.wait().unwrap();
    let output = project.parlor(wire, &server, &["run", "--continue", "on"]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!((output.status.code(), server.requests()), (Some(8), 1), "{said}");
}

#[test]
fn a_budget_in_money_says_that_it_cannot_be_counted_where_nobody_knows_the_price() {
    let (project, server) = (Project::new(), Server::start(Wire::Local, vec![Say::words("Hi.")]));
    let output = project.parlor(Wire::Local, &server, &["run", "--max-cost", "1", "hi"]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        said.contains("The price of vllm/tiny-coder is not known: the budget in money cannot be kept"),
        "{said}"
    );
    assert_eq!(output.status.code(), Some(0));
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
        &["run", "--cwd", "sum.sh", "hi"],
        &["run", "--resume", "sess-000000000000", "hi"],
        &["run", "--resume", "no such", "hi"],
        &["run", "--resume", "ab", "--continue", "hi"],
        &["run", "--allow", "bsah", "hi"],
        &["run", "--allow", "mcp__nobody__x", "hi"],
        &["run", "--policy", "everything", "hi"],
        &["run", "--timeout", "soon", "hi"],
        &["run", "--unheard-of", "hi"],
        &["run"],
        &["run", " "],
    ] {
        let output = project.bare(args).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{args:?} {said}");
        assert!(said.starts_with("error: ") && output.stdout.is_empty(), "{args:?} {said}");
    }
}
