//! `parlor run --output-schema`: the answer is JSON of the form that was asked for, or a code of its own says that it is not.

use crate::task::story::{Ends, Say};
use crate::task::{Project, Server, Wire};
use serde_json::{Value, json};
use std::process::Output;

const WIRE: Wire = Wire::OpenAiChat;
const SCHEMA: &str = r#"{"type":"object","required":["sum"],"properties":{"sum":{"type":"integer"}}}"#;

/// A run that wants an answer of the form.
fn asks(story: Vec<Say>, args: &[&str]) -> (Output, Server) {
    let (project, server) = (Project::new(), Server::start(WIRE, story));
    std::fs::write(project.path("work/form.json"), SCHEMA).unwrap();
    let args = [&["run", "--output-schema", "form.json", "how much?"], args].concat();
    let output = project.parlor(WIRE, &server, &args).output().unwrap();
    assert_eq!(server.trouble(), Vec::<String>::new(), "{}", String::from_utf8_lossy(&output.stderr));
    (output, server)
}

fn words(output: &Output) -> (String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&output.stdout), text(&output.stderr))
}

fn result(output: &Output) -> Value {
    serde_json::from_str::<Value>(words(output).0.lines().last().unwrap()).unwrap()["result"].clone()
}

#[test]
fn the_answer_alone_is_on_stdout_and_the_model_was_told_the_form() {
    let look = Say::call("I look.", "ls", json!({ "path": "." }), "sum.sh");
    let (output, server) = asks(vec![look, Say::words("```json\n{ \"sum\": 5 }\n```")], &[]);
    assert_eq!((output.status.code(), words(&output).0.as_str()), (Some(0), "{ \"sum\": 5 }\n"));
    let first = server.last()["messages"][1]["content"].as_str().unwrap_or_default().to_owned();
    assert!(first.starts_with("how much?") && first.contains(SCHEMA), "{first}");
}

#[test]
fn an_answer_of_another_form_is_asked_for_once_more_with_what_is_wrong() {
    let story = || vec![Say::words("{\"sum\": \"five\"}"), Say::words("{\"sum\": 5}")];
    let (output, server) = asks(story(), &[]);
    let (out, err) = words(&output);
    assert_eq!(
        (output.status.code(), out.as_str(), server.requests()),
        (Some(0), "{\"sum\": 5}\n", 2),
        "{err}"
    );
    let heard = server.last()["messages"].to_string();
    assert!(heard.contains("at '/sum'"), "the model is told what is wrong: {heard}");
    let (output, _) = asks(story(), &["--json"]);
    let result = result(&output);
    assert_eq!((&result["outcome"], &result["output"]), (&json!("done"), &json!({ "sum": 5 })));
    assert_eq!((&result["text"], &result["error"]), (&json!("{\"sum\": 5}"), &Value::Null));
}

#[test]
fn an_answer_that_does_not_fit_twice_ends_with_a_code_of_its_own_and_an_empty_stdout() {
    let story = || vec![Say::words("Five."), Say::words("Still five.")];
    let (output, server) = asks(story(), &[]);
    let (out, err) = words(&output);
    assert_eq!((output.status.code(), out.as_str(), server.requests()), (Some(9), "", 2), "{err}");
    assert!(err.contains("error: the answer does not fit --output-schema: it is not JSON"), "{err}");
    assert!(err.contains("Still five."), "{err}");
    let (output, _) = asks(story(), &["--json"]);
    let result = result(&output);
    assert_eq!((&result["outcome"], &result["exit_code"]), (&json!("wrong_form"), &json!(9)));
    assert_eq!((&result["text"], &result["output"]), (&json!("Still five.\n"), &Value::Null));
    assert!(result["error"].as_str().unwrap().contains("does not fit --output-schema"), "{result}");
}

#[test]
fn what_was_cut_is_not_asked_for_once_more_and_a_denial_stays_one() {
    let (output, server) = asks(vec![Say::ending("{\"sum\"", Ends::AtLimit)], &[]);
    assert_eq!((output.status.code(), words(&output).0.as_str(), server.requests()), (Some(7), "", 1));
    let call = Say::call("I try.", "bash", json!({ "command": "touch x" }), "denied");
    let (output, _) = asks(vec![call, Say::words("{\"sum\": 1}")], &["--json"]);
    let result = result(&output);
    assert_eq!((output.status.code(), &result["output"]), (Some(3), &json!({ "sum": 1 })));
    assert!(result["error"].as_str().unwrap().contains("denied"), "{result}");
}
