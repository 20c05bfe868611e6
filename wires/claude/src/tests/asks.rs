//! Questions of the program, and the answers to them.

use super::{hear, over, phase, result_of, says, up};
use domain::ask::{Answer, AskKind, Preview, Scope};
use domain::event::Outcome;
use domain::tool::{ToolOutcome, ToolPhase};
use serde_json::{Value, json};
use testkit::bench::UiBench;

/// A run in which the program asks about a call.
fn asked(tool: &str, input: Value, more: Value) -> UiBench {
    let mut bench = up();
    bench.prompt("do it");
    says(&mut bench, "msg_1", json!({"type":"tool_use","id":"toolu_1","name":tool,"input":input}));
    let mut request =
        json!({"subtype":"can_use_tool","tool_name":tool,"input":input,"tool_use_id":"toolu_1"});
    if let (Some(request), Value::Object(more)) = (request.as_object_mut(), more) {
        request.extend(more);
    }
    bench.forget();
    hear(&mut bench, json!({"type":"control_request","request_id":"q-1","request":request}));
    bench
}

fn answered(bench: &mut UiBench, answer: Answer) -> Value {
    bench.answer(answer);
    let sent = bench.sent();
    assert_eq!(
        (&sent[0]["type"], &sent[0]["response"]["request_id"]),
        (&json!("control_response"), &json!("q-1"))
    );
    sent[0]["response"]["response"].clone()
}

fn bash() -> UiBench {
    let offers = json!({"permission_suggestions":[
        {"type":"addRules","rules":[{"toolName":"Bash","ruleContent":"echo hi *"}],"behavior":"allow","destination":"localSettings"},
        {"type":"addDirectories","directories":["/w"],"destination":"session"},
        {"type":"setMode","mode":"acceptEdits","destination":"session"}],
        "blocked_path":"/w/out.txt","description":"Run it"});
    asked("Bash", json!({"command":"echo hi > out.txt"}), offers)
}

#[test]
fn a_yes_runs_exactly_what_was_shown() {
    let mut bench = bash();
    let AskKind::Consent(consent) = &bench.state.asks[0].kind else { panic!() };
    let command = Preview::Command { line: "echo hi > out.txt".to_owned(), inner: Vec::new() };
    assert_eq!(
        (consent.preview.as_ref(), consent.rule.as_deref()),
        (Some(&command), Some("Bash(echo hi *)"))
    );
    assert!(
        consent.assessment.unrated && consent.assessment.reasons.iter().any(|why| why.contains("/w/out.txt"))
    );
    assert!(matches!(phase(&bench), ToolPhase::Awaiting(_)));
    let said = answered(&mut bench, Answer::Allow { scope: Scope::Once, digest: None });
    assert_eq!(said, json!({"behavior":"allow","updatedInput":{"command":"echo hi > out.txt"}}));
    assert_eq!(phase(&bench), ToolPhase::Running);
    result_of(&mut bench, "toolu_1", "", false);
    over(&mut bench, json!({}));
    assert_eq!(phase(&bench), ToolPhase::Ended(ToolOutcome::Done));
}

#[test]
fn a_yes_that_lasts_is_the_rule_that_was_shown_and_nothing_beside_it() {
    let said = answered(&mut bash(), Answer::Allow { scope: Scope::Always, digest: None });
    let kinds: Vec<&Value> =
        said["updatedPermissions"].as_array().expect("rules").iter().map(|one| &one["type"]).collect();
    assert_eq!(kinds, ["addRules"]);
    // The program keeps nothing for a session alone: the hub answers the same action.
    let mut bench = bash();
    let said = answered(&mut bench, Answer::Allow { scope: Scope::Session, digest: None });
    assert_eq!(said.get("updatedPermissions"), None);
    assert_eq!(bench.link.losses.len(), 1);
}

#[test]
fn a_no_with_a_reason_goes_on_and_one_without_stops() {
    let mut bench = bash();
    let said = answered(&mut bench, Answer::Deny { reason: Some("not there".to_owned()) });
    assert_eq!(said, json!({"behavior":"deny","message":"not there","interrupt":false}));
    result_of(&mut bench, "toolu_1", "not there", true);
    assert_eq!(phase(&bench), ToolPhase::Ended(ToolOutcome::Denied));
    let said = answered(&mut bash(), Answer::Deny { reason: None });
    assert_eq!((&said["behavior"], &said["interrupt"]), (&json!("deny"), &json!(true)));
}

#[test]
fn a_change_is_shown_as_one() {
    let bench = asked("Edit", json!({"file_path":"/w/a","old_string":"one","new_string":"two"}), json!({}));
    let AskKind::Consent(consent) = &bench.state.asks[0].kind else { panic!() };
    assert_eq!(
        consent.preview,
        Some(Preview::Diff { path: "/w/a".to_owned(), text: "-one\n+two\n".to_owned() })
    );
    assert_eq!(consent.rule, None, "nothing that lasts was offered");
    let bench = asked("ExitPlanMode", json!({"plan":"First this."}), json!({}));
    let AskKind::Consent(consent) = &bench.state.asks[0].kind else { panic!() };
    assert_eq!(consent.preview, Some(Preview::Text("First this.".to_owned())));
}

#[test]
fn what_the_model_wants_to_know_is_asked_question_by_question() {
    let questions = json!({"questions":[
        {"question":"Which colour?","header":"Colour","multiSelect":false,"options":[{"label":"Red","description":"warm"},{"label":"Blue"}]},
        {"question":"Which sizes?","header":"Size","multiSelect":true,"options":[{"label":"S"},{"label":"L"}]}]});
    let mut bench = asked("AskUserQuestion", questions, json!({}));
    let AskKind::Choose { message, choices, many: false } = &bench.state.asks[0].kind else { panic!() };
    assert_eq!((message.as_str(), choices[0].detail.as_deref()), ("Which colour?", Some("warm")));
    bench.answer(Answer::Chosen(vec!["Blue".to_owned()]));
    assert!(bench.sent().is_empty(), "one request, one answer");
    let said = answered(&mut bench, Answer::Chosen(vec!["S".to_owned(), "L".to_owned()]));
    assert_eq!(said["updatedInput"]["answers"], json!({"Which colour?":"Blue","Which sizes?":"S, L"}));
    assert_eq!(said["updatedInput"]["questions"][0]["question"], "Which colour?");
    let one = json!({"questions":[{"question":"Which?","options":[{"label":"A"}]}]});
    let said = answered(&mut asked("AskUserQuestion", one, json!({})), Answer::Dismissed);
    assert_eq!(said["behavior"], "deny");
}

#[test]
fn a_question_that_is_taken_back_is_over() {
    let mut bench = bash();
    hear(&mut bench, json!({"type":"control_cancel_request","request_id":"q-1"}));
    assert!(bench.state.asks.is_empty());
    result_of(&mut bench, "toolu_1", "rejected", true);
    over(&mut bench, json!({}));
    assert_eq!(bench.outcome(), Some(Outcome::Done));
}
