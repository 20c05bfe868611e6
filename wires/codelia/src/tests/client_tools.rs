//! Tools of the UI on the wire: offered with a run, called, answered, taken back.

use super::{greeted, runtime, said};
use domain::command::{Command, Receipt, RunCommand};
use domain::content::{Json, Part};
use domain::event::Outcome;
use domain::ids::{RunId, ToolRunId};
use domain::tool::{ToolOutcome, ToolResult};
use expect_test::expect;
use roles::Item;
use testkit::bench::RuntimeBench;

const TOOLS: &str = r#"[{"type":"function","name":"show","description":"Shows","parameters":{"type":"object"},"timeout_ms":900000,"approval":"never"},{"name":"pick","parameters":null,"approval":"default"}]"#;

fn start(tools: &str) -> String {
    format!(
        r#"{{"id":"r","method":"run.start","params":{{"input":{{"type":"text","text":"x"}},"tools":{tools}}}}}"#
    )
}

/// A run of a UI that offers tools, in which one of them was proposed and allowed.
fn called(name: &str, args: &str) -> (RuntimeBench, ToolRunId) {
    let mut bench = greeted();
    bench.say(&start(TOOLS));
    let (ticket, _, command) = bench.command();
    let Command::Run(RunCommand::Prompt { options, .. }) = command else { panic!("{command:?}") };
    assert_eq!(options.offers.len(), 2);
    // The first run of the bench has this number.
    let session = bench.session.clone();
    bench.settle(ticket, Ok(Receipt::Started { session, run: RunId(1) }));
    bench.begin("x");
    let (_, message) = bench.step();
    let tool = bench.propose(message, name, args);
    bench.forget();
    bench.start_tool(tool);
    (bench, tool)
}

#[test]
fn offers_are_understood_with_their_time_and_their_wish_not_to_ask() {
    let mut bench = greeted();
    bench.say(&start(TOOLS));
    let (_, _, command) = bench.command();
    let Command::Run(RunCommand::Prompt { options, .. }) = command else { panic!("{command:?}") };
    let [show, pick] = &options.offers[..] else { panic!("{options:?}") };
    assert_eq!((show.name.as_str(), show.description.as_str()), ("show", "Shows"));
    assert_eq!((show.patience_ms, show.unasked), (Some(900_000), true));
    assert_eq!((&show.schema, &pick.schema), (&Json::verbatim(r#"{"type":"object"}"#), &Json::empty()));
    assert_eq!((pick.patience_ms, pick.unasked), (None, false));
}

#[test]
fn a_tool_is_called_once_it_runs_and_its_answer_is_handed_over() {
    let (mut bench, tool) = called("show", r#"{"file":"a"}"#);
    expect![[r#"
        {"id":"tool_1","method":"client.tool.call","params":{"arguments":{"file":"a"},"name":"show","raw_arguments":"{\"file\":\"a\"}","run_id":"run_0123abcd_1"}}
    "#]]
    .assert_eq(&said(&mut bench.link));
    bench.say(r#"{"id":"tool_1","result":{"ok":true,"result":"shown"}}"#);
    let (_, _, command) = bench.command();
    assert_eq!(command, Command::Performed { tool, failed: false, result: ToolResult::text("shown") });
    // Twice is once.
    bench.say(r#"{"id":"tool_1","result":{"ok":true,"result":"again"}}"#);
    assert_eq!(bench.commands(), []);
    bench.forget();
    bench.end_tool(tool, ToolOutcome::Done, ToolResult::text("shown"));
    assert!(!said(&mut bench.link).contains("client.tool.cancel"), "there is nothing to take back");
}

#[test]
fn every_shape_of_an_answer_is_read_and_an_odd_one_is_a_failure() {
    let image = r#"{"type":"image_url","image_url":{"url":"data:image/png;base64,QUJD"}}"#;
    let parts = format!(
        r#"{{"ok":true,"result":{{"type":"parts","parts":[{{"type":"text","text":"a"}},{image},7]}}}}"#
    );
    let cases = [
        (r#"{"ok":true}"#, false, "(no result)"),
        (r#"{"ok":true,"result":null}"#, false, "(no result)"),
        (r#"{"ok":true,"result":7}"#, false, "7"),
        (r#"{"ok":true,"result":[1,2]}"#, false, "[1,2]"),
        (r#"{"ok":true,"result":{"type":"text","text":"t"}}"#, false, "t"),
        (r#"{"ok":true,"result":{"type":"json","value":{"a":1}}}"#, false, r#"{"a":1}"#),
        (r#"{"ok":true,"result":{"type":"text","text":7}}"#, false, r#"{"text":7,"type":"text"}"#),
        (r#"{"ok":true,"result":{"a":1}}"#, false, r#"{"a":1}"#),
        (parts.as_str(), false, "a\n7"),
        (r#"{"ok":false,"error":"no such file"}"#, true, "no such file"),
        (r#"{"ok":false}"#, true, "The UI says that it did not work."),
        (r#"{"ok":"yes"}"#, true, "The answer of the UI cannot be read"),
        ("null", true, "The answer of the UI cannot be read"),
        ("[]", true, "The answer of the UI cannot be read"),
    ];
    for (answer, wrong, words) in cases {
        let (mut bench, _) = called("show", "{}");
        bench.say(&format!(r#"{{"id":"tool_1","result":{answer}}}"#));
        let (_, _, command) = bench.command();
        let Command::Performed { failed, result, .. } = command else { panic!("{command:?}") };
        assert_eq!(failed, wrong, "{answer}");
        assert!(result.text.starts_with(words), "{answer}: {}", result.text);
        let images = result.parts.iter().filter(|part| matches!(part, Part::Image { .. })).count();
        assert_eq!(images, usize::from(answer.contains("QUJD")));
    }
    let (mut bench, _) = called("show", "{}");
    bench.say(r#"{"id":"tool_1","error":{"code":-32601,"message":"method not found"}}"#);
    let (_, _, command) = bench.command();
    assert!(
        matches!(command, Command::Performed { failed: true, result, .. } if result.text.contains("method not found"))
    );
}

#[test]
fn what_is_over_is_taken_back_and_a_late_answer_does_nothing() {
    for (outcome, reason) in [(ToolOutcome::Cancelled, "cancelled"), (ToolOutcome::Failed, "timeout")] {
        let (mut bench, tool) = called("show", "{}");
        bench.forget();
        bench.end_tool(tool, outcome, ToolResult::text("over"));
        let sent = said(&mut bench.link);
        let cancel = sent.lines().find(|line| line.contains("client.tool.cancel")).expect("taken back");
        assert!(cancel.contains(r#""request_id":"tool_1""#) && cancel.contains(reason), "{cancel}");
        bench.say(r#"{"id":"tool_1","result":{"ok":true,"result":"late"}}"#);
        assert_eq!(bench.commands(), []);
    }
}

#[test]
fn nothing_is_called_that_this_ui_did_not_offer_for_this_run() {
    let (mut bench, _) = called("bash", "{}");
    assert!(!said(&mut bench.link).contains("client.tool.call"));
    bench.end(Outcome::Done);
    bench.forget();
    // The same name in a run of somebody else.
    bench.begin("other");
    let (_, message) = bench.step();
    let tool = bench.propose(message, "show", "{}");
    bench.start_tool(tool);
    assert!(!said(&mut bench.link).contains("client.tool.call"));
}

#[test]
fn behind_another_program_tools_are_named_as_lost() {
    let mut bench = greeted();
    let greeting = roles::Greeting { follows: true, ..roles::Greeting::default() };
    bench.call(|role, cx| role.open(cx, &greeting));
    bench.say(&start(TOOLS));
    let (_, _, command) = bench.command();
    let Command::Run(RunCommand::Prompt { options, .. }) = command else { panic!("{command:?}") };
    assert!(options.offers.is_empty());
    assert!(bench.link.losses.iter().any(|loss| loss.item == Item::Tools));
    let _ = runtime();
}
