//! `parlor check agent`: our own agent with models that err, and that one which does worse is told so.

#![expect(clippy::unwrap_used, reason = "a test fails by panic")]

use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use serde_json::Value;
use std::path::Path;
use std::process::Output;
use std::time::Instant;
use testkit::{Running, in_world, said};

const PARLOR: &str = env!("CARGO_BIN_EXE_parlor");
/// Seconds for a prompt, on a machine that is wanted elsewhere.
const PATIENCE: &str = "300";

/// Checks an agent; its exit code, and the result.
fn checked(args: &[&str]) -> (Option<i32>, Value) {
    let output = told(args);
    let result = serde_json::from_slice(&output.stdout);
    assert!(result.is_ok(), "{}", said(&output));
    (output.status.code(), result.unwrap())
}

fn told(args: &[&str]) -> Output {
    let world = tempfile::tempdir().unwrap();
    let all = [&["check", "agent", "--json", "--patience", PATIENCE], args].concat();
    in_world(PARLOR, world.path(), &all).output().unwrap()
}

/// What stands at a name of a task.
fn of<'r>(result: &'r Value, task: &str, what: &str) -> &'r Value {
    let tasks = result["tasks"].as_array().unwrap();
    &tasks.iter().find(|found| found["task"] == task).unwrap()[what]
}

#[test]
fn our_agent_solves_tasks_with_models_that_err_and_loses_no_round() {
    let only = "drifted,line-numbers,arguments-as-text,raw-line-breaks,another-editor,patch-in-shell,formatted,two-places,circle,\
                breaks-in-call,parallel,flood";
    let (code, result) = checked(&["--only", only]);
    assert_eq!(code, Some(0), "{result}");
    assert_eq!((&result["solved"], &result["unsolved"]), (&12.into(), &0.into()), "{result}");
    assert_eq!(result["rounds_lost"], 0, "{result}");
    assert_eq!(of(&result, "drifted-indentation", "questions"), 1, "an edit is asked for, looking is not");
    assert!(
        of(&result, "drifted-indentation", "tokens_estimated")["cached"].as_u64().unwrap() > 0,
        "{result}"
    );
}

#[test]
fn a_summary_that_is_cut_loses_nothing_on_any_api() {
    for api in ["responses", "messages"] {
        let (code, result) = checked(&["--api", api, "--only", "cut-summary"]);
        assert_eq!(code, Some(0), "{api}: {result}");
        assert!(of(&result, "cut-summary", "summaries").as_u64().unwrap() >= 2, "{api}: {result}");
    }
}

#[test]
fn a_day_of_forty_prompts_ends_without_a_wall_a_lost_condition_or_a_dropped_input() {
    let (code, result) = checked(&["--day", "40"]);
    assert_eq!(code, Some(0), "{result}");
    assert!(of(&result, "day", "summaries").as_u64().unwrap() > 0, "no summary was needed: {result}");
}

#[test]
fn an_agent_that_refuses_what_is_wanted_does_worse() {
    let model = "openai-chat/parlor-check";
    let agent = ["--", PARLOR, "serve", "--dialect", "native", "--stdio", "--ephemeral", "--model", model];
    let only = ["--only", "exact-edit,flood"];
    let (code, well) = checked(&[&only[..], &agent].concat());
    assert_eq!((code, &well["solved"]), (Some(0), &2.into()), "as it is: {well}");
    let (code, badly) = checked(&[&only[..], &agent, &["--policy", "read-only"]].concat());
    assert_eq!((code, &badly["solved"]), (Some(1), &0.into()), "{badly}");
    let why = of(&badly, "exact-edit", "why").as_str().unwrap();
    assert!(why.contains("never had its effect"), "{why}");
    assert_eq!(of(&badly, "exact-edit", "rounds_lost"), 1, "{badly}");
}

#[test]
fn an_agent_without_a_wire_is_started_for_each_prompt() {
    let agent = [
        "--",
        PARLOR,
        "run",
        "--ephemeral",
        "--policy",
        "auto-edit",
        "--model",
        "anthropic/parlor-check",
        "{prompt}",
    ];
    let (code, result) = checked(&[&["--only", "exact-edit,empty-answer,patch-call"][..], &agent].concat());
    assert_eq!((code, &result["solved"]), (Some(0), &3.into()), "{result}");
    let day = told(&[&["--day", "2"][..], &agent].concat());
    assert_eq!(day.status.code(), Some(2), "a day is one session: {}", said(&day));
}

#[test]
fn an_agent_that_is_none_and_a_task_that_is_none_are_told_apart() {
    let (code, result) = checked(&["--only", "exact-edit", "--", "false"]);
    let why = of(&result, "exact-edit", "why").as_str().unwrap();
    assert!(code == Some(1) && why.contains("closed"), "{result}");
    let slip = told(&["--only", "no-such-task"]);
    assert_eq!(slip.status.code(), Some(2), "{}", said(&slip));
}

/// Looks until there is something.
fn until<T>(what: &str, look: impl Fn() -> Option<T>) -> T {
    let end = Instant::now() + testkit::PATIENCE;
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < end, "{what}");
        std::thread::yield_now();
    }
}

/// The folders of tasks there.
fn folders(temp: &Path) -> Vec<std::path::PathBuf> {
    let all = std::fs::read_dir(temp).unwrap().map(|entry| entry.unwrap().path());
    all.filter(|path| path.file_name().unwrap().to_string_lossy().starts_with("parlor-agent-")).collect()
}

#[test]
fn a_check_that_is_stopped_leaves_no_agent_and_no_folder() {
    let (world, temp) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let args = [
        "check",
        "agent",
        "--only",
        "exact-edit",
        "--",
        "sh",
        "-c",
        "echo $$ > pid.new; mv pid.new pid; exec sleep 600",
    ];
    let mut check =
        Running(in_world(PARLOR, world.path(), &args).env("TMPDIR", temp.path()).spawn().unwrap());
    let pid = until("the agent starts", || {
        let pid = std::fs::read_to_string(folders(temp.path()).first()?.join("work/pid")).ok()?;
        Pid::from_raw(pid.trim().parse().ok()?)
    });
    kill_process(Pid::from_child(&check.0), Signal::INT).unwrap();
    assert_eq!(check.0.wait().unwrap().code(), Some(130));
    assert_eq!(folders(temp.path()), Vec::<std::path::PathBuf>::new(), "its folder is gone with it");
    until("the agent ends", || test_kill_process(pid).is_err().then_some(()));
}
