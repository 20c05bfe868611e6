//! The client scenarios of `@modelcontextprotocol/conformance`, played by the agent with a scripted model and a person who says yes. What
//! came of each stands in `docs/extend.md`, which `cargo xtask mcp-conformance` writes.

use crate::bench::{Bench, Plan, allow, answered, put};
use crate::mcp::until;
use crate::mcp_login::log_in;
use domain::ask::{Answer, AskKind, Closing, Scope};
use domain::event::Outcome;
use domain::port::TurnEnd;
use domain::session::ServerState;
use domain::tool::ToolOutcome;
use engine::Config;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpListener;
use tokio::process::Command;

/// Where the suite lies; without it nothing is tried.
const SUITE: &str = "PARLOR_MCP_CONFORMANCE";
/// What runs the suite, where the usual node is too old for it.
const NODE: &str = "PARLOR_NODE";
/// How often the person logs in before they leave it.
const LOGINS: usize = 2;
/// Between these lines of the page stands what came of it.
const FROM: &str = "<!-- what came of each scenario: cargo xtask mcp-conformance -->\n";
const TO: &str = "<!-- so far -->\n";

/// The scenarios that are not passed, and why.
const NOT_PASSED: &[(&str, &str)] = &[
    (
        "auth/client-credentials-jwt",
        "no: a program that shows who it is by a signed token (JWT) is not built",
    ),
    ("auth/cross-app-access-complete-flow", "no: access by a company's own identity provider is not built"),
];

fn node() -> String {
    std::env::var(NODE).unwrap_or_else(|_| "node".to_owned())
}

/// The tools that the model calls, by scenario.
fn calls(scenario: &str) -> &'static str {
    match scenario {
        "initialize" => "",
        "tools_call" => "tool mcp__s__add_numbers {\"a\":5,\"b\":3}",
        "elicitation-sep1034-client-defaults" => "tool mcp__s__test_client_elicitation_defaults {}",
        "sse-retry" => "tool mcp__s__test_reconnection {}",
        _ => "tool mcp__s__test-tool {}",
    }
}

/// The entry of a server, as its scenario has the person write it.
fn entry(scenario: &str, url: &Value, context: &Value) -> Value {
    let mut entry = json!({"type": "http", "url": url});
    if context["client_id"].is_string() {
        entry["oauth"] = json!({"clientId": context["client_id"]});
        if context["client_secret"].is_string() {
            entry["oauth"]["clientSecret"] = context["client_secret"].clone();
        }
    }
    match scenario {
        "auth/basic-cimd" => {
            entry["oauth"] = json!({"clientId": "https://conformance-test.local/client-metadata.json"});
        }
        "auth/client-credentials-basic" => entry["oauth"]["grant"] = "client_credentials".into(),
        _ => {}
    }
    entry
}

/// What a person answers who takes what is suggested.
fn suggested(kind: &AskKind) -> Closing {
    match kind {
        AskKind::Text { .. } => answered(Answer::Entered(String::new())),
        AskKind::Confirm { .. } => answered(Answer::Confirmed(true)),
        AskKind::Choose { choices, .. } => answered(Answer::Chosen(vec![choices[0].id.clone()])),
        AskKind::Consent(_) => allow(Scope::Once),
        other => panic!("{other:?} is not asked here"),
    }
}

/// Plays one scenario: whether all went well, as far as the client knows.
async fn play(scenario: &str, said: &Value) -> bool {
    let entry = entry(scenario, &said["url"], &said["context"]);
    let dir = tempfile::tempdir().unwrap();
    put(dir.path(), "settings/mcp.json", &json!({"mcpServers": {"s": entry}}).to_string());
    std::fs::create_dir(dir.path().join("work")).unwrap();
    let config = Config::default().at(None, Some(dir.path().join("settings")));
    let calls = calls(scenario);
    let turn = if calls.is_empty() { String::new() } else { format!("model {calls}\n---\n") };
    let script = format!(
        "model text \"hi\"\n---\n{}",
        format!("{turn}model text \"ok\"\n---\n").repeat(2 * LOGINS + 1)
    );
    let mut bench = Bench::at(dir, Plan::script(script.trim_end_matches("---\n")).config(config));
    let dir = bench.dir.path().to_owned();
    bench.run("start").await;
    for logins in 0..=LOGINS {
        let is_settled =
            |state: &ServerState| !matches!(state, ServerState::Connecting | ServerState::Disabled);
        let state = until(&mut bench, is_settled).await.state;
        let wants_login = match state {
            ServerState::Ready => {
                let before = bench.outcomes().len();
                turn_of(&mut bench).await;
                match bench.outcomes().get(before) {
                    Some((_, ToolOutcome::Failed, why)) => why.contains("parlor mcp login"),
                    _ => return true,
                }
            }
            ServerState::AuthRequired => true,
            _ => return false,
        };
        if !wants_login || logins == LOGINS || log_in(&entry, &dir).await.is_err() {
            return false;
        }
        // The login is noticed with the next turn.
        if state == ServerState::AuthRequired {
            turn_of(&mut bench).await;
            if bench.outcomes().iter().any(|(_, outcome, _)| *outcome == ToolOutcome::Done) {
                return true;
            }
        }
    }
    false
}

/// A turn in which the person takes whatever is suggested.
async fn turn_of(bench: &mut Bench) {
    bench.prompt("go").await;
    let end = loop {
        if let Some(end) = bench.take_some(1).await {
            break end;
        }
        if let Some(ask) = bench.state.asks.first().cloned() {
            bench.close(ask.id, suggested(&ask.kind)).await;
        }
    };
    assert_eq!(end, TurnEnd::Done);
    for body in bench.state.close_run(Outcome::Done) {
        bench.emit(body);
    }
}

/// Plays a scenario against the suite's server; what is wrong, in its words.
async fn tried(suite: &Path, driver: &Path, scenario: &str) -> Vec<String> {
    let results = tempfile::tempdir().unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let client = format!("{} {} {port}", node(), driver.display());
    let mut runner = Command::new(node())
        .arg(suite)
        .args(["client", "--command", &client, "--scenario", scenario, "--timeout", "120000", "--output-dir"])
        .arg(results.path())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let playing = async {
        let (stream, _) = listener.accept().await.unwrap();
        let mut stream = BufReader::new(stream);
        let mut line = String::new();
        stream.read_line(&mut line).await.unwrap();
        let well = play(scenario, &serde_json::from_str(&line).unwrap()).await;
        stream.write_all(if well { b"done" } else { b"failed" }).await.unwrap();
    };
    let status = tokio::select! {
        status = runner.wait() => status.unwrap(),
        () = playing => runner.wait().await.unwrap(),
    };
    let mut wrong = Vec::new();
    for file in files(results.path()) {
        let checks: Value = serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
        for check in checks.as_array().unwrap() {
            if matches!(check["status"].as_str(), Some("FAILURE" | "WARNING")) {
                wrong.push(format!("{}: {}", check["id"], check["description"]));
            }
        }
    }
    if wrong.is_empty() && !status.success() {
        wrong.push(format!("the suite ended with {status}"));
    }
    wrong
}

/// The lists of checks below a folder.
fn files(dir: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
    entries
        .flat_map(|path| match path.is_dir() {
            true => files(&path),
            false => vec![path].into_iter().filter(|path| path.ends_with("checks.json")).collect(),
        })
        .collect()
}

/// The client scenarios that the suite has.
async fn scenarios(suite: &Path) -> Vec<String> {
    let listed = Command::new(node()).arg(suite).args(["list", "--client"]).output().await.unwrap();
    let text = String::from_utf8(listed.stdout).unwrap();
    let names = text.lines().filter_map(|line| line.trim().strip_prefix("- ")?.split(' ').next());
    names.map(str::to_owned).collect()
}

#[tokio::test]
async fn every_client_scenario_of_the_conformance_suite_is_passed_or_named() {
    let Some(suite) = std::env::var_os(SUITE).map(PathBuf::from) else { return };
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let driver = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/mcp_driver.mjs");
    let (mut table, mut troubles) = ("| scenario | passed |\n|---|---|\n".to_owned(), Vec::new());
    let scenarios = scenarios(&suite).await;
    assert!(scenarios.len() > 20, "{scenarios:?}");
    for scenario in scenarios {
        let wrong = tried(&suite, &driver, &scenario).await;
        let known = NOT_PASSED.iter().find(|(name, _)| *name == scenario).map(|(_, why)| *why);
        match (wrong.is_empty(), known) {
            (true, None) | (false, Some(_)) => {}
            (true, Some(_)) => troubles.push(format!("{scenario} is passed now")),
            (false, None) => troubles.push(format!("{scenario}: {}", wrong.join("; "))),
        }
        let _ = writeln!(table, "| `{scenario}` | {} |", known.unwrap_or("yes"));
    }
    assert!(troubles.is_empty(), "{}", troubles.join("\n"));
    let page = root.join("docs/extend.md");
    let text = std::fs::read_to_string(&page).unwrap();
    let (before, rest) = text.split_once(FROM).expect("the page has a place for it");
    let (stands, after) = rest.split_once(TO).expect("that place has an end");
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::write(&page, format!("{before}{FROM}{table}{TO}{after}")).unwrap();
    } else {
        assert_eq!(stands, table, "`cargo xtask mcp-conformance` writes it");
    }
}
