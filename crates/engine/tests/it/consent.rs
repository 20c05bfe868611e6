//! Consent: allowed, denied, expired, nobody there; remembered; and once only after a crash.

use crate::bench::{Bench, Plan, allow, answered, deny};
use crate::stand_in::Mark;
use domain::ask::{Answer, AskKind, Closing, Scope};
use domain::command::{Command, RULES, Receipt, Refusal};
use domain::content::Json;
use domain::event::{AskEvent, Body, ToolEvent};
use domain::port::TurnEnd;
use domain::session::{Budget, Policy};
use domain::tool::{Decider, ToolOutcome};
use engine::{Config, OVER_BUDGET};
use std::time::Duration;

const WRITE: &str = r#"
    model tool write {"path":"f","content":"text\n"}
    ---
    model text "went on"
    "#;

fn opened(body: &Body) -> bool {
    matches!(body, Body::Ask(AskEvent::Opened(_)))
}

#[tokio::test(start_paused = true)]
async fn allowed_runs_and_the_model_goes_on() {
    let mut bench = Bench::new(WRITE);
    bench.prompt("write f").await;
    bench.until(opened).await;
    let ask = bench.state.asks[0].clone();
    let AskKind::Consent(consent) = &ask.kind else { panic!() };
    assert!(consent.preview.is_some() && consent.takes_reason && !consent.digest.0.is_empty());
    assert_eq!(bench.get("f"), None, "nothing happens before the answer");
    bench.close(ask.id, allow(Scope::Once)).await;
    assert_eq!(bench.finish().await, TurnEnd::Done);
    assert_eq!(bench.get("f").as_deref(), Some("text\n"));
    assert_eq!(bench.model.seen().len(), 2);
    let decision = bench.state.tools.values().next().unwrap().decision.clone().unwrap();
    assert_eq!(decision.by, Decider::Person(Some("test".to_owned())));
    assert_eq!(decision.digest.as_ref(), Some(&consent.digest), "the decision is about what was shown");
}

#[tokio::test(start_paused = true)]
async fn denied_with_a_reason_the_model_goes_on_with_it() {
    let mut bench = Bench::new(WRITE);
    bench.closings = vec![deny(Some("not in this file"))];
    assert_eq!(bench.run("write f").await, TurnEnd::Done);
    assert_eq!(bench.get("f"), None);
    assert_eq!(bench.told().last().unwrap(), "tool: Permission denied: not in this file");
}

#[tokio::test(start_paused = true)]
async fn denied_without_a_reason_the_turn_stops() {
    let mut bench =
        Bench::new(r#"model tool write {"path":"f","content":"x"} | tool write {"path":"g","content":"x"}"#);
    bench.closings = vec![deny(None)];
    assert_eq!(bench.run("write").await, TurnEnd::Done);
    assert_eq!((bench.get("f"), bench.get("g")), (None, None));
    let outcomes: Vec<ToolOutcome> = bench.outcomes().into_iter().map(|(_, outcome, _)| outcome).collect();
    assert_eq!(outcomes, [ToolOutcome::Denied, ToolOutcome::Skipped]);
    assert_eq!(bench.model.seen().len(), 1, "the person speaks next");
}

#[tokio::test(start_paused = true)]
async fn dismissed_is_a_no() {
    let mut bench = Bench::new(WRITE);
    bench.closings = vec![answered(Answer::Dismissed)];
    assert_eq!(bench.run("write").await, TurnEnd::Done);
    assert_eq!((bench.get("f"), bench.model.seen().len()), (None, 1));
}

#[tokio::test(start_paused = true)]
async fn nobody_answers_and_the_model_is_told_why() {
    let how = "nobody could be asked here. Whoever started this runtime can allow it: with --policy auto-edit \
               (or a wider mode) or with `policy` in the settings";
    for (closing, why) in [(Closing::Expired, "nobody answered in time"), (Closing::Unattended, how)] {
        let mut bench = Bench::new(WRITE);
        bench.closings = vec![closing];
        assert_eq!(bench.run("write").await, TurnEnd::Done);
        assert_eq!(bench.get("f"), None);
        let told = bench.told();
        let told = told.last().unwrap();
        assert!(told.starts_with(&format!("tool: Permission denied: {why}")), "{told}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_file_that_changed_after_it_was_shown_is_not_written() {
    let mut bench = Bench::new(WRITE);
    bench.prompt("write f").await;
    bench.until(opened).await;
    bench.put("f", "somebody else's\n");
    let ask = bench.state.asks[0].id;
    bench.close(ask, allow(Scope::Once)).await;
    assert_eq!(bench.finish().await, TurnEnd::Done);
    assert_eq!(bench.get("f").as_deref(), Some("somebody else's\n"));
    assert_eq!(bench.outcomes()[0].1, ToolOutcome::Denied);
}

#[tokio::test(start_paused = true)]
async fn a_rule_for_the_session_covers_the_next_call_of_the_same_step() {
    let mut bench = Bench::new(
        r#"
        model tool write {"path":"a","content":"x"} | tool write {"path":"b","content":"x"}
        ---
        model text "ok"
        "#,
    );
    bench.closings = vec![allow(Scope::Session)];
    assert_eq!(bench.run("go").await, TurnEnd::Done);
    assert!(bench.get("a").is_some() && bench.get("b").is_some());
    assert_eq!(bench.count(opened), 1);
    let rules = bench.state.tools.values().filter_map(|tool| tool.decision.clone());
    assert_eq!(rules.filter(|decision| matches!(decision.by, Decider::Rule(_))).count(), 1);
}

#[tokio::test(start_paused = true)]
async fn read_only_denies_without_asking() {
    let mut bench = Bench::with(Plan::script(WRITE).policy(Policy::ReadOnly));
    assert_eq!(bench.run("write").await, TurnEnd::Done);
    assert_eq!((bench.get("f"), bench.count(opened)), (None, 0));
    assert!(bench.told().last().unwrap().contains("read-only"));
}

#[tokio::test(start_paused = true)]
async fn the_model_asks_the_person() {
    let mut bench = Bench::new(
        r#"
        model tool ask {"kind":"confirm","title":"Sure?","message":"Really?"}
        ---
        model text "ok"
        "#,
    );
    bench.closings = vec![answered(Answer::Confirmed(true))];
    assert_eq!(bench.run("go").await, TurnEnd::Done);
    assert_eq!(bench.count(opened), 1);
    assert_eq!(bench.outcomes()[0].1, ToolOutcome::Done);
}

#[tokio::test(start_paused = true)]
async fn after_a_crash_the_same_consent_runs_the_tool_once() {
    let script = "model tool mark {\"name\":\"a\"} | tool mark {\"name\":\"b\"}";
    let mark = Mark::default();
    let mut bench = Bench::with(Plan::script(script).tool(mark.clone()));
    bench.prompt("go").await;
    bench.until(opened).await;
    let ask = bench.state.asks[0].id;
    // The program dies here. The second call had no consent yet: the record closes it.
    let second = *bench.state.open_tools().last().unwrap();
    let (outcome, result) = (ToolOutcome::Skipped, domain::tool::ToolResult::text("Not run: interrupted."));
    bench.emit(Body::Tool(ToolEvent::Ended { tool: second, outcome, result }));
    let mut bench = bench.reborn(Plan::script("model text \"went on\"").tool(mark.clone()));
    bench.resume().await;
    bench.close(ask, allow(Scope::Once)).await;
    assert_eq!(bench.finish().await, TurnEnd::Done);
    assert_eq!(mark.seen(), ["a begins", "a ends"]);
    assert_eq!(bench.count(|body| matches!(body, Body::Tool(ToolEvent::Started { .. }))), 1);
    let told = bench.told();
    assert_eq!(told[2..], ["tool: Not run: interrupted.", "tool: marked a"], "{told:?}");
}

#[tokio::test(start_paused = true)]
async fn after_a_crash_the_time_of_the_prompt_goes_on() {
    let budget = Budget { max_time_s: Some(15), ..Budget::default() };
    for (took, asked) in [(16, 0), (5, 1)] {
        let mark = Mark::default();
        let mut bench = Bench::with(Plan::script("model tool mark {\"name\":\"a\"}").tool(mark.clone()));
        bench.prompt("go").await;
        bench.until(opened).await;
        let ask = bench.state.asks[0].id;
        let plan = Plan::script("model text \"went on\"").tool(mark.clone());
        let mut bench = bench.reborn(plan.config(Config { budget, ..Config::default() }));
        bench.took = Duration::from_secs(took);
        bench.resume().await;
        bench.close(ask, allow(Scope::Once)).await;
        let end = bench.finish().await;
        assert_eq!(bench.model.seen().len(), asked, "{took} s: {end:?}");
        assert_eq!(matches!(&end, TurnEnd::Failed(why) if why.code == OVER_BUDGET), asked == 0, "{end:?}");
        assert_eq!(mark.seen(), ["a begins", "a ends"], "what is under way goes on to its end");
    }
}

#[tokio::test(start_paused = true)]
async fn after_a_crash_a_no_is_still_a_no() {
    let mark = Mark::default();
    let script = "model tool mark {\"name\":\"a\"}";
    let mut bench = Bench::with(Plan::script(script).tool(mark.clone()));
    bench.prompt("go").await;
    bench.until(opened).await;
    let ask = bench.state.asks[0].id;
    let mut bench = bench.reborn(Plan::script("model text \"went on\"").tool(mark.clone()));
    bench.resume().await;
    bench.close(ask, deny(Some("no more"))).await;
    assert_eq!(bench.finish().await, TurnEnd::Done);
    assert_eq!(mark.seen(), Vec::<String>::new());
    assert_eq!(bench.told().last().unwrap(), "tool: Permission denied: no more");
}

#[tokio::test(start_paused = true)]
async fn after_a_crash_a_yes_is_for_what_was_shown_then() {
    let mut bench = Bench::new(WRITE);
    bench.prompt("write f").await;
    bench.until(opened).await;
    let ask = bench.state.asks[0].id;
    bench.put("f", "changed while nobody ran\n");
    let mut bench = bench.reborn(Plan::script("model text \"went on\""));
    bench.resume().await;
    bench.close(ask, allow(Scope::Always)).await;
    assert_eq!(bench.finish().await, TurnEnd::Done);
    assert_eq!(bench.get("f").as_deref(), Some("changed while nobody ran\n"));
    assert_eq!(bench.outcomes()[0].1, ToolOutcome::Denied);
}

#[tokio::test(start_paused = true)]
async fn another_mode_releases_what_is_being_asked() {
    let mut bench = Bench::new(WRITE);
    bench.prompt("write f").await;
    bench.until(opened).await;
    bench.choose_policy(Policy::AutoEdit).await;
    assert_eq!(bench.finish().await, TurnEnd::Done);
    assert_eq!(bench.get("f").as_deref(), Some("text\n"));
    let decision = bench.state.tools.values().next().unwrap().decision.clone().unwrap();
    assert_eq!(decision.by, Decider::Policy);
}

#[tokio::test(start_paused = true)]
async fn a_stricter_mode_holds_from_the_next_call_on() {
    let mark = Mark::default();
    let script =
        "model tool mark {\"name\":\"a\"}\n---\nmodel tool mark {\"name\":\"b\"}\n---\nmodel text \"ok\"";
    let mut bench = Bench::with(Plan::script(script).tool(mark.clone()).policy(Policy::Full));
    bench.prompt("go").await;
    bench.until(|body| matches!(body, Body::Tool(ToolEvent::Ended { .. }))).await;
    bench.choose_policy(Policy::ReadOnly).await;
    assert_eq!(bench.finish().await, TurnEnd::Done);
    assert_eq!(mark.seen(), ["a begins", "a ends"]);
}

#[tokio::test(start_paused = true)]
async fn after_a_crash_a_rule_from_the_first_answer_covers_the_second() {
    let script = r#"model tool write {"path":"a","content":"x"} | tool write {"path":"b","content":"x"}"#;
    let mut bench = Bench::new(script);
    bench.prompt("go").await;
    bench.until(opened).await;
    let first = bench.state.asks[0].clone();
    // As if a hub had let both be asked before it died.
    let mut second = first.clone();
    second.id = domain::ids::AskId::mint(&bench.ids);
    let tool = *bench.state.open_tools().last().unwrap();
    let AskKind::Consent(consent) = &mut second.kind else { panic!() };
    consent.tool = tool;
    let place = tools::ToolContext::new(&bench.work(), &bench.dir.path().join("out")).unwrap();
    let args = serde_json::json!({"path": "b", "content": "x"});
    consent.digest = tools::Tool::plan(&tools::Write, &args, &place).unwrap().digest;
    bench.emit(Body::Ask(AskEvent::Opened(second)));
    let mut bench = bench.reborn(Plan::script("model text \"went on\""));
    bench.resume().await;
    bench.close(first.id, allow(Scope::Session)).await;
    assert_eq!(bench.finish().await, TurnEnd::Done);
    assert!(bench.get("a").is_some() && bench.get("b").is_some());
}

#[tokio::test(start_paused = true)]
async fn rules_that_cannot_be_read_are_told() {
    let mut bench = Bench::new("model text \"ok\"");
    let name = tools::digest::hex(bench.work().as_os_str().as_encoded_bytes());
    crate::bench::put(bench.dir.path(), &format!("data/rules/{name}.json"), "{");
    assert_eq!(bench.run("go").await, TurnEnd::Done);
    let told = |signal: &domain::signal::Signal| matches!(signal, domain::signal::Signal::Notify { text, .. } if text.contains("allows nothing"));
    assert!(bench.signals.iter().any(told), "{:?}", bench.signals);
}

const FULL: &str = "no space left";

/// The questions that were put, as far as they name what a yes means now.
fn risks(bench: &Bench) -> Vec<bool> {
    let asked = bench.events.iter().filter_map(|event| match &event.body {
        Body::Ask(AskEvent::Opened(ask)) => Some(ask),
        _ => None,
    });
    let names = |ask: &domain::ask::Ask| match &ask.kind {
        AskKind::Consent(consent) => {
            let words = consent.assessment.reasons.join("; ");
            words.contains("could run twice") && words.contains(FULL)
        }
        _ => false,
    };
    asked.map(names).collect()
}

#[tokio::test(start_paused = true)]
async fn a_yes_that_could_not_be_written_does_nothing_and_is_asked_for_again_with_its_risk() {
    for (second, runs) in [(allow(Scope::Always), true), (deny(Some("then not")), false)] {
        let mut bench = Bench::new(WRITE);
        bench.prompt("write f").await;
        bench.until(opened).await;
        let first = bench.state.asks[0].id;
        // The disk is full while the person thinks.
        bench.store_fails(Some(FULL)).await;
        bench.close(first, allow(Scope::Session)).await;
        while bench.state.asks.is_empty() {
            assert_eq!(bench.take_some(1).await, None);
        }
        assert_eq!(bench.get("f"), None, "the first yes did nothing");
        assert_eq!(risks(&bench), [false, true]);
        let again = bench.state.asks[0].clone();
        let AskKind::Consent(consent) = &again.kind else { panic!() };
        assert_eq!(consent.rule, None, "nothing can be allowed beyond this once");
        assert!(again.id != first);
        bench.close(again.id, second).await;
        assert_eq!(bench.finish().await, TurnEnd::Done);
        assert_eq!(bench.get("f").is_some(), runs);
        // Neither yes is remembered. A write that changes nothing would not be asked about.
        bench.take_away("f");
        let mut next = Bench::at(bench.dir, Plan::script(WRITE));
        next.prompt("write f").await;
        next.until(opened).await;
    }
}

#[tokio::test(start_paused = true)]
async fn while_nothing_can_be_written_everything_that_changes_something_is_asked_and_looking_goes_on() {
    let script = r#"
        model tool ls {} | tool write {"path":"f","content":"x"}
        ---
        model text "went on"
        ---
        model tool write {"path":"g","content":"x"}
        ---
        model text "went on"
        "#;
    let mut bench = Bench::with(Plan { policy: Policy::Full, ..Plan::script(script) });
    bench.store_fails(Some(FULL)).await;
    bench.closings = vec![allow(Scope::Once)];
    assert_eq!(bench.run("write").await, TurnEnd::Done);
    assert_eq!(risks(&bench), [true], "looking was not asked for, writing was, in spite of the mode");
    assert!(bench.get("f").is_some());
    bench.store_fails(None).await;
    assert_eq!(bench.run("write").await, TurnEnd::Done);
    assert_eq!(risks(&bench), [true], "it works again: the mode counts");
    assert!(bench.get("g").is_some());
}

#[tokio::test(start_paused = true)]
async fn without_a_person_it_is_denied_with_that_reason() {
    for closing in [Closing::Unattended, Closing::Expired] {
        let mut bench = Bench::with(Plan { policy: Policy::Full, ..Plan::script(WRITE) });
        bench.store_fails(Some(FULL)).await;
        bench.closings = vec![closing];
        assert_eq!(bench.run("write").await, TurnEnd::Done);
        assert_eq!(bench.get("f"), None);
        let told = bench.told().last().unwrap().clone();
        assert!(told.contains(FULL) && told.contains("could run twice"), "{told}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_start_that_could_not_be_written_in_the_last_moment_does_not_happen() {
    let mut bench = Bench::new(WRITE);
    bench.prompt("write f").await;
    bench.until(opened).await;
    let ask = bench.state.asks[0].id;
    bench.close(ask, allow(Scope::Once)).await;
    bench.until(|body| matches!(body, Body::Tool(ToolEvent::Decided { .. }))).await;
    bench.store_fails_now(FULL);
    assert_eq!(bench.finish().await, TurnEnd::Done);
    assert_eq!(bench.get("f"), None);
    let told = bench.told().last().unwrap().clone();
    assert!(told.contains("Not run") && told.contains(FULL), "{told}");
}

#[tokio::test(start_paused = true)]
async fn who_wants_to_be_asked_first_is_asked_for_what_would_run_unasked() {
    let script = r#"
        model tool todo {"items":[{"text":"look","state":"open"}]} | tool read {"path":"f"}
        ---
        model text "ok"
        "#;
    for (ask_first, asked) in [(true, 1), (false, 0)] {
        let mut bench = Bench::new(script);
        bench.put("f", "text\n");
        bench.options.ask_first = ask_first;
        bench.closings = vec![deny(Some("not now"))];
        assert_eq!(bench.run("read f").await, TurnEnd::Done);
        assert_eq!(bench.count(opened), asked, "{ask_first}");
        let read = bench.outcomes().into_iter().find(|(name, ..)| name == "read").unwrap();
        assert_eq!(read.1 == ToolOutcome::Denied, asked == 1, "{read:?}");
    }
}

/// The answer of the agent about what was allowed for good.
async fn rules(bench: &mut Bench, payload: &str) -> Result<serde_json::Value, Refusal> {
    let payload = Json::verbatim(payload);
    let asked = Command::Extension { name: RULES.to_owned(), payload };
    let Receipt::Extension(json) = bench.consult(asked).await? else { panic!() };
    Ok(serde_json::from_str(json.as_str()).unwrap())
}

#[tokio::test(start_paused = true)]
async fn a_rule_that_is_taken_back_is_asked_about_again_at_once() {
    for scope in [Scope::Always, Scope::Session] {
        let mut bench = Bench::new(format!("{WRITE}---\n{WRITE}---\n{WRITE}"));
        bench.closings = vec![allow(scope)];
        assert_eq!(bench.run("write f").await, TurnEnd::Done);
        let asked = |bench: &Bench| bench.events.iter().filter(|event| opened(&event.body)).count();
        assert_eq!(asked(&bench), 1);
        // A write that changes nothing would not be asked about.
        bench.take_away("f");
        assert_eq!(bench.run("write f").await, TurnEnd::Done);
        assert_eq!(asked(&bench), 1, "it is allowed");
        let told = rules(&mut bench, "{}").await.unwrap();
        let (project, line) = match scope {
            Scope::Session => (serde_json::Value::Null, &told["session"][0]),
            _ => (told["projects"][0]["project"].clone(), &told["projects"][0]["rules"][0]),
        };
        assert!(line["words"].as_str().unwrap().starts_with("write files under"), "{told}");
        assert!(scope == Scope::Session || told["projects"][0]["here"] == true, "{told}");
        let revoke =
            serde_json::json!({ "revoke": { "project": project, "rule": line["rule"] } }).to_string();
        let left = rules(&mut bench, &revoke).await.unwrap();
        assert_eq!((&left["session"], &left["projects"]), (&serde_json::json!([]), &serde_json::json!([])));
        assert!(rules(&mut bench, &revoke).await.is_err(), "there is no such rule any more");
        bench.closings = vec![deny(Some("not again"))];
        bench.take_away("f");
        assert_eq!(bench.run("write f").await, TurnEnd::Done);
        assert_eq!(asked(&bench), 2, "it is asked again");
    }
}

#[tokio::test(start_paused = true)]
async fn what_names_no_rule_is_refused_and_changes_nothing() {
    let mut bench = Bench::new(WRITE);
    bench.closings = vec![allow(Scope::Always)];
    bench.run("write f").await;
    let before = rules(&mut bench, "").await.unwrap();
    for wrong in [
        "[]",
        "{",
        r#"{"revoke": {}}"#,
        r#"{"revoke": {"rule": {"allow": "all"}}}"#,
        r#"{"revoke": {"rule": {"allow": "whole", "tool": "bash"}}}"#,
        r#"{"narrow": {"to": ""}}"#,
        r#"{"narrow": {"to": "/"}}"#,
    ] {
        assert!(rules(&mut bench, wrong).await.is_err(), "{wrong}");
    }
    assert_eq!(rules(&mut bench, "null").await.unwrap(), before);
}
