//! Extensions: the person's own commands, asked in JSON.

use crate::bench::{Bench, Plan};
use domain::command::{Command, FILES, Receipt, Refusal, RefusalKind};
use domain::content::Json;
use engine::{Config, Extension};
use std::time::{Duration, Instant};

async fn ask(line: &str, payload: &str, deadline: Duration) -> Result<String, Refusal> {
    let command = ["sh", "-c", line].map(str::to_owned).to_vec();
    let config = Config {
        extensions: [("mine".to_owned(), Extension { command, deadline })].into(),
        ..Config::default()
    };
    let mut bench = Bench::with(Plan::script("").config(config));
    let command = Command::Extension { name: "mine".to_owned(), payload: Json::verbatim(payload) };
    match bench.consult(command).await? {
        Receipt::Extension(json) => Ok(json.to_string()),
        other => panic!("{other:?}"),
    }
}

const LONG: Duration = Duration::from_secs(60);

#[tokio::test]
async fn json_goes_in_and_comes_out() {
    assert_eq!(ask("cat", "{\"a\": [1, 2.50]}", LONG).await.unwrap(), "{\"a\": [1, 2.50]}");
    assert_eq!(ask("echo ' [1]\n'", "{}", LONG).await.unwrap(), "[1]", "it need not read the question");
}

#[tokio::test]
async fn what_goes_wrong_is_told() {
    for (line, what) in [
        ("echo no json", "its answer is not JSON"),
        ("echo 'no database' >&2; exit 3", "it failed (exit status: 3): no database"),
        ("head -c 11000000 /dev/zero", "larger than 10 MB"),
    ] {
        let refusal = ask(line, "{}", LONG).await.unwrap_err();
        assert!(refusal.message.contains(what), "{refusal}");
    }
}

#[tokio::test]
async fn it_has_a_deadline_and_knows_no_secret() {
    let start = Instant::now();
    let refusal = ask("sleep 1000", "{}", Duration::from_millis(100)).await.unwrap_err();
    assert_eq!(refusal.kind, RefusalKind::TimedOut);
    assert!(refusal.hint.unwrap().contains("timeout_s") && start.elapsed() < Duration::from_secs(30));
    let names = ask("printf '\"'; env | cut -d= -f1 | tr '\\n' ' '; printf '\"'", "{}", LONG).await.unwrap();
    assert!(names.contains("PATH") && !names.contains("KEY") && !names.contains("TOKEN"), "{names}");
}

#[tokio::test]
async fn an_unknown_one_is_refused() {
    let mut bench = Bench::new("");
    let command = Command::Extension { name: "other".to_owned(), payload: Json::empty() };
    let refusal = bench.consult(command).await.unwrap_err();
    assert_eq!(refusal.kind, RefusalKind::ExtensionUnknown);
    assert!(refusal.hint.unwrap().contains("extensions.other"));
}

#[tokio::test]
async fn the_files_of_the_folder_are_told_to_whoever_is_elsewhere() {
    let mut bench = Bench::new("");
    for path in ["notes.md", "src/main.rs", ".hidden"] {
        bench.put(path, "");
    }
    let asked = Command::Extension { name: FILES.to_owned(), payload: Json::verbatim("{}") };
    let Receipt::Extension(json) = bench.consult(asked).await.unwrap() else { panic!() };
    let told: serde_json::Value = serde_json::from_str(json.as_str()).unwrap();
    assert_eq!(told, serde_json::json!({ "files": ["notes.md", "src/main.rs"], "more": false }));
}
