//! `parlor run` through each wire.

use crate::task::project::KEY;
use crate::task::story::{self, Say};
use crate::task::{Project, Server, Wire};
use serde_json::{Value, json};
use std::process::Output;
use std::sync::{Arc, Mutex};

fn words(output: &Output) -> (String, String) {
    (
        String::from_utf8_lossy(&output.stdout).into_owned(),
        String::from_utf8_lossy(&output.stderr).into_owned(),
    )
}

#[track_caller]
fn mends(wire: Wire) {
    let (project, server) = (Project::new(), Server::start(wire, story::mend()));
    let args = ["run", "--allow", "edit,bash", "mend sum.sh until the test passes"];
    let output = project.parlor(wire, &server, &args).output().unwrap();
    let (out, err) = words(&output);
    assert_eq!(server.trouble(), Vec::<String>::new(), "{err}");
    assert_eq!(output.status.code(), Some(0), "{out}\n{err}");
    assert_eq!(server.requests(), 6);
    assert_eq!(project.sum(), "echo $(( $1 + $2 ))\n");
    let lines: Vec<&str> = out.lines().collect();
    assert_eq!(lines.first(), Some(&"I look at it first."), "{out}");
    assert_eq!(lines.last(), Some(&"It adds now, and the test passes."), "{out}");
    assert!(err.contains("· bash {\"command\":\"sh test.sh\"}"), "{err}");
    assert!(!out.contains(KEY) && !err.contains(KEY) && !project.kept_anywhere(KEY), "a key has got out");
}

#[test]
fn the_task_through_anthropic_messages() {
    mends(Wire::Anthropic);
}

#[test]
fn the_task_through_openai_chat_completions() {
    mends(Wire::OpenAiChat);
}

#[test]
fn the_task_through_openai_responses() {
    mends(Wire::OpenAiResponses);
}

#[test]
fn the_task_through_gemini() {
    mends(Wire::Gemini);
}

#[test]
fn the_task_through_a_local_server_without_a_key() {
    mends(Wire::Local);
}

/// What came of a run, from the last line of `--json`.
fn result(out: &str) -> Value {
    serde_json::from_str::<Value>(out.lines().last().unwrap()).unwrap()["result"].clone()
}

#[test]
fn a_mode_frees_edits_and_a_command_that_nobody_allowed_is_told_to_the_model() {
    let mut story = story::mend();
    story[2].gives = "Permission denied: not approved: no one can be asked";
    story.truncate(3);
    story.push(Say::words("I cannot test it here."));
    let (project, server) = (Project::new(), Server::start(Wire::Anthropic, story));
    let args = ["run", "--json", "--policy", "auto-edit", "mend sum.sh"];
    let output = project.parlor(Wire::Anthropic, &server, &args).output().unwrap();
    let (out, err) = words(&output);
    assert_eq!(server.trouble(), Vec::<String>::new(), "{err}");
    assert_eq!(output.status.code(), Some(3), "{out}\n{err}");
    assert_eq!(project.sum(), "echo $(( $1 * $2 ))\n");
    let result = result(&out);
    assert_eq!((&result["outcome"], &result["exit_code"]), (&json!("denied"), &json!(3)));
    // Four requests of 100 to 103 tokens in and 20 out each, at three and fifteen dollars per million.
    assert_eq!(result["usage"], json!({ "input": 406, "output": 80, "cost_micros": 406 * 3 + 80 * 15 }));
}

#[test]
fn reading_only_changes_nothing() {
    let mut story = story::mend();
    story[1].gives = "Permission denied";
    story.truncate(2);
    story.push(Say::words("Then not."));
    let (project, server) = (Project::new(), Server::start(Wire::Gemini, story));
    let args = ["run", "--allow", "all", "--policy", "read-only", "mend sum.sh"];
    let before = project.sum();
    let output = project.parlor(Wire::Gemini, &server, &args).output().unwrap();
    assert_eq!(server.trouble(), Vec::<String>::new(), "{}", words(&output).1);
    assert_eq!(project.sum(), before);
}

/// What the model gets when it wants a page of this machine.
#[track_caller]
fn fetching(args: &[&str], settings: &str, gives: &'static str) {
    let story = Arc::new(Mutex::new(Vec::new()));
    let server = Server::playing(Wire::OpenAiChat, story.clone());
    let call = Say::call("I look.", "fetch", json!({ "url": format!("{}/page", server.url) }), gives);
    *story.lock().unwrap() = vec![call, Say::words("So it is.")];
    let project = Project::new();
    std::fs::write(project.path("config/config.toml"), settings).unwrap();
    let args = [&["run", "--allow", "fetch", "look at the page"], args].concat();
    let output = project.parlor(Wire::OpenAiChat, &server, &args).output().unwrap();
    assert_eq!(server.trouble(), Vec::<String>::new(), "{}", words(&output).1);
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn pages_are_fetched_only_when_somebody_said_so() {
    fetching(&[], "", "There is no tool fetch.");
    fetching(&["--fetch"], "", "`private = true`");
    fetching(&["--fetch"], "[fetch]\nprivate = true", "# A fine page");
    fetching(&[], "[fetch]\nenabled = true\nprivate = true", "# A fine page");
}

#[test]
fn a_command_sees_no_key_and_the_settings_choose_the_model() {
    let look = json!({ "command": "env; cat /proc/$PPID/environ" });
    let story = vec![Say::call("I look around.", "bash", look, "PATH="), Say::words("No key there.")];
    let (project, server) = (Project::new(), Server::start(Wire::Gemini, story));
    let settings = format!("model = \"{}\"", Wire::Gemini.model());
    std::fs::write(project.path("config/config.toml"), settings).unwrap();
    let mut command = project.bare(&["run", "--allow", "bash", "look around"]);
    let output =
        command.env_remove("PARLOR_MODEL").envs(Wire::Gemini.environment(&server.url)).output().unwrap();
    assert_eq!(server.trouble(), Vec::<String>::new(), "{}", words(&output).1);
    assert_eq!((output.status.code(), server.requests()), (Some(0), 2), "{}", words(&output).1);
}

#[test]
fn what_was_put_back_for_want_of_an_answer_is_left_undone() {
    let call = |line: &str| Say::call("I run it.", "bash", json!({ "command": line }), "");
    // A later command that comes to its end has not done it either.
    let story = vec![call("sh ./make.sh"), call("echo fine"), Say::words("That is all.")];
    let (project, server) = (Project::new(), Server::start(Wire::Anthropic, story));
    std::fs::write(project.path("work/make.sh"), "echo made > .envrc\n").unwrap();
    let args = ["run", "--json", "--allow", "bash", "make it"];
    let output = project.parlor(Wire::Anthropic, &server, &args).output().unwrap();
    let (out, err) = words(&output);
    assert_eq!(server.trouble(), Vec::<String>::new(), "{err}");
    assert!(!project.path("work/.envrc").exists() && project.path("work/.envrc.held").exists(), "{out}{err}");
    assert_eq!(output.status.code(), Some(4), "{out}{err}");
    let result: Value = serde_json::from_str(out.lines().last().unwrap()).unwrap();
    assert_eq!(result["result"]["outcome"], "needs_input", "{result}");
}
