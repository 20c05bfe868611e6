//! The table of modes with the agent around it: what is free runs unasked, what is asked waits for a person and is denied where there is
//! none, and the model always reads why.

use crate::bench::{Bench, Plan, allow, put};
use crate::mcp::{child, echo, let_reach_nothing, until};
use domain::ask::{Closing, Scope};
use domain::event::{AskEvent, Body};
use domain::port::TurnEnd;
use domain::session::{Policy, ServerState};
use domain::tool::{Decider, ToolOutcome};
use engine::Config;
use serde_json::{Value, json};
use tools::policy::Allowance;
use tools::policy::table::{Act, Say, says};
use tools::sandbox::Guard;

/// One call for each act, by the tools that the model has.
fn calls() -> Vec<(Act, &'static str, Value)> {
    vec![
        (Act::LookInside, "read", json!({"path": "a"})),
        (Act::LookOutside, "read", json!({"path": "/etc/passwd"})),
        (Act::Write, "write", json!({"path": "w", "content": "x"})),
        (Act::Steer, "write", json!({"path": ".envrc", "content": "x"})),
        (Act::Repository, "bash", json!({"command": "git tag x"})),
        (Act::Command, "bash", json!({"command": "touch made"})),
        (Act::Network, "bash", json!({"command": "true", "network": true, "reason": "because"})),
        (Act::Leave, "bash", json!({"command": "true", "unsandboxed": true, "reason": "because"})),
        (Act::Leave, "read", json!({"path": "../hidden/key"})),
        (Act::Critical, "bash", json!({"command": "rm -rf gone"})),
        (Act::Server, "mcp__echo__put", json!({"text": "x"})),
    ]
}

/// A bench whose model makes all these calls, one after the other, with a server that is ready.
async fn bench(policy: Policy, allowed: Vec<Allowance>) -> Bench {
    let calls = calls().into_iter().map(|(_, tool, args)| format!("model tool {tool} {args}\n---\n"));
    let script = format!("model text \"starting\"\n---\n{}model text \"ok\"", calls.collect::<String>());
    let dir = tempfile::tempdir().unwrap();
    let servers = json!({"mcpServers": {"echo": child("")}});
    put(dir.path(), "settings/mcp.json", &servers.to_string());
    let_reach_nothing(dir.path(), &servers);
    put(dir.path(), "work/a", "text");
    put(dir.path(), "hidden/key", "SECRET");
    let config = Config::default().at(None, Some(dir.path().join("settings")));
    let plan = Plan::script(script).config(config).policy(policy).allow(allowed);
    let guard = Guard::new(&echo(), &["__guard"]).hiding(&[dir.path().join("hidden")]);
    let mut bench = Bench::at(dir, plan.guard(guard));
    assert_eq!(bench.run("start").await, TurnEnd::Done);
    until(&mut bench, |state| *state == ServerState::Ready).await;
    bench
}

fn strictest(mode: Policy, act: Act) -> Say {
    // Every command is one, whatever else it does.
    let command = matches!(act, Act::Repository | Act::Network | Act::Leave | Act::Critical);
    if command { says(mode, act).max(says(mode, Act::Command)) } else { says(mode, act) }
}

fn mode(policy: Policy) -> Policy {
    let held = policy != Policy::Sandboxed || tools::sandbox::status().can_hold().is_ok();
    if held { policy } else { Policy::Ask }
}

#[tokio::test]
async fn with_nobody_to_ask_what_is_asked_is_denied_with_a_reason() {
    for policy in Policy::ALL {
        let mut bench = bench(policy, Vec::new()).await;
        bench.closings = vec![Closing::Unattended; calls().len()];
        assert_eq!(bench.run("go").await, TurnEnd::Done);
        let outcomes = bench.outcomes();
        let opened = bench.count(|body| matches!(body, Body::Ask(AskEvent::Opened(_))));
        let mode = mode(policy);
        let asked = calls().iter().filter(|(act, ..)| strictest(mode, *act) == Say::Asked).count();
        assert_eq!(opened, asked, "{mode}");
        for ((act, ..), (name, outcome, text)) in calls().iter().zip(&outcomes) {
            let about = format!("{mode}, {} by {name}: {text}", act.name());
            match strictest(mode, *act) {
                Say::Free => assert_ne!(*outcome, ToolOutcome::Denied, "{about}"),
                Say::Asked => {
                    assert_eq!(*outcome, ToolOutcome::Denied, "{about}");
                    assert!(text.contains("nobody could be asked"), "{about}");
                }
                Say::Denied => {
                    assert_eq!(*outcome, ToolOutcome::Denied, "{about}");
                    assert!(text.contains(&format!("is not allowed in {mode} mode")), "{about}");
                }
            }
        }
        assert_eq!(bench.get(".envrc"), None, "{mode}");
    }
}

#[tokio::test]
async fn with_a_person_what_is_asked_runs_after_a_yes() {
    for policy in Policy::ALL {
        let mut bench = bench(policy, Vec::new()).await;
        bench.closings = vec![allow(Scope::Once); calls().len()];
        assert_eq!(bench.run("go").await, TurnEnd::Done);
        let mode = mode(policy);
        let mut tools: Vec<_> = bench.state.tools.values().cloned().collect();
        tools.sort_by_key(|tool| tool.id);
        for ((act, ..), tool) in calls().iter().zip(&tools) {
            let decision = tool.decision.clone().unwrap();
            let expected = match strictest(mode, *act) {
                Say::Free => (true, Decider::Policy),
                Say::Asked => (true, Decider::Person(Some("test".to_owned()))),
                Say::Denied => (false, Decider::Policy),
            };
            assert_eq!((decision.allowed, decision.by), expected, "{mode}, {}", act.name());
        }
    }
}

#[tokio::test]
async fn what_was_allowed_from_the_start_is_not_asked_and_the_record_says_so() {
    let allowed = vec![Allowance::Tool("bash".to_owned()), Allowance::Network];
    let mut bench = bench(Policy::Ask, allowed).await;
    bench.closings = vec![Closing::Unattended; calls().len()];
    assert_eq!(bench.run("go").await, TurnEnd::Done);
    let mut tools: Vec<_> = bench.state.tools.values().cloned().collect();
    tools.sort_by_key(|tool| tool.id);
    for ((act, ..), tool) in calls().iter().zip(&tools) {
        let decision = tool.decision.clone().unwrap();
        let by = match act {
            Act::Repository | Act::Command => Some("allowed from the start: bash"),
            Act::Network => Some("allowed from the start: bash:network"),
            _ => None,
        };
        assert_eq!(decision.allowed, by.is_some() || *act == Act::LookInside, "{}", act.name());
        if let Some(by) = by {
            assert_eq!(decision.by, Decider::Rule(by.to_owned()));
        }
    }
}
