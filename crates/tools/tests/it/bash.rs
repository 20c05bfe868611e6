//! bash and its background jobs: output, limits, stopping.

use crate::room::{Room, port};
use domain::tool::{Progress, ToolOutcome};
use rustix::process::{Pid, test_kill_process};
use serde_json::json;
use std::time::{Duration, Instant};
use tokio::time::timeout;

pub(crate) const SOON: Duration = Duration::from_secs(10);

/// Whether a process is there and does something: one that only waits to be reaped does not.
fn alive(pid: i32) -> bool {
    match std::fs::read_to_string(format!("/proc/{pid}/stat")) {
        Ok(stat) => !stat.rsplit(')').next().is_some_and(|rest| rest.trim_start().starts_with('Z')),
        Err(_) => {
            !std::path::Path::new("/proc/self").exists()
                && test_kill_process(Pid::from_raw(pid).unwrap()).is_ok()
        }
    }
}

/// Waits until a process is gone.
pub(crate) async fn gone(pid: i32) {
    timeout(SOON, async {
        while alive(pid) {
            tokio::task::yield_now().await;
        }
    })
    .await
    .expect("the process is still there");
}

/// Reads live output until it holds `word`.
pub(crate) async fn told(news: &mut tokio::sync::mpsc::Receiver<Progress>, word: &str) -> String {
    let mut text = String::new();
    timeout(SOON, async {
        while !text.contains(word) {
            match news.recv().await.expect("the output ended") {
                Progress::Output(more) => text.push_str(&more),
                other => panic!("{other:?}"),
            }
        }
    })
    .await
    .expect("no such output");
    text
}

#[tokio::test]
async fn output_in_order_exit_code_and_a_clean_environment() {
    let room = Room::new();
    let text = room.done("bash", json!({"cmd": "echo a; echo b >&2; echo c; pwd"})).await;
    assert_eq!(text, format!("a\nb\nc\n{}\n", room.place.root().unwrap().display()));
    let text = room.failed("bash", json!({"command": "echo no; exit 3"})).await;
    assert_eq!(text, "no\n(exit code 3)");
    assert_eq!(room.done("bash", json!({"command": "true"})).await, "(no output)");
    assert_eq!(room.done("bash", json!({"command": "cat; echo end"})).await, "end\n", "there is no stdin");
    let text = room.done("bash", json!({"command": "env"})).await;
    assert!(text.contains("PATH=") && !text.contains("CARGO_PKG_NAME="), "{text}");
    room.put("sub/x", "");
    assert_eq!(room.done("bash", json!({"command": "ls", "workdir": "sub"})).await, "x\n");
}

#[tokio::test]
async fn live_output_comes_while_the_command_runs() {
    let room = Room::new();
    let (port, mut news) = port();
    let cancel = port.cancel.clone();
    let call = room.call_with("bash", json!({"command": "echo first; sleep 1000"}), port);
    let watch = async {
        told(&mut news, "first").await;
        cancel.cancel();
    };
    let (outcome, ()) = tokio::join!(call, watch);
    assert_eq!(outcome.outcome, ToolOutcome::Cancelled);
    assert_eq!(outcome.result.text, "first\n(cancelled)");
}

#[tokio::test]
async fn cancel_answers_at_once_and_ends_the_whole_group() {
    let room = Room::new();
    let (port, mut news) = port();
    let cancel = port.cancel.clone();
    // Both refuse to end when asked, so that only the last resort helps.
    let line = "trap '' TERM; (trap '' TERM; echo inner $BASHPID.; while :; do sleep 0.05; done) & echo outer $$.; wait";
    let call = room.call_with("bash", json!({"command": line}), port);
    let watch = async {
        let mut text = told(&mut news, "outer").await;
        while text.matches('.').count() < 2 {
            text.push_str(&told(&mut news, ".").await);
        }
        cancel.cancel();
        (text, Instant::now())
    };
    let (outcome, (text, cancelled)) = tokio::join!(call, watch);
    assert!(cancelled.elapsed() < Duration::from_millis(100), "{:?}", cancelled.elapsed());
    assert_eq!(outcome.outcome, ToolOutcome::Cancelled);
    for pid in text.split([' ', '.']).filter_map(|word| word.parse().ok()) {
        gone(pid).await;
    }
}

#[tokio::test]
async fn a_time_limit_stops_it_and_says_what_to_do() {
    let room = Room::new();
    let text = room.failed("bash", json!({"command": "echo start; sleep 1000", "timeout": 1})).await;
    assert_eq!(text, "start\n(stopped after 1 s: give a longer `timeout`, or `background`)");
}

#[tokio::test]
async fn the_limit_can_be_set_and_who_asks_for_more_hears_what_counted() {
    let mut room = Room::new();
    room.toolbox.add(std::sync::Arc::new(tools::Bash { max_timeout: 1 }));
    let spec = room.tool("bash").spec();
    assert_eq!(spec.schema["properties"]["timeout"]["maximum"], 1);
    assert!(spec.description.contains("limit is 1 s unless `timeout` (at most 1)"), "{}", spec.description);
    let told =
        "(`timeout` 5000 is more than a command may have here: 1 s counted; `background` has no limit)";
    let text = room.done("bash", json!({"command": "echo a", "timeout": 5000})).await;
    assert_eq!(text, format!("a\n{told}"));
    let text = room.failed("bash", json!({"command": "sleep 1000", "timeout": 5000})).await;
    assert_eq!(text, format!("(stopped after 1 s: use `background`)\n{told}"));
    room.toolbox.add(std::sync::Arc::new(tools::Bash { max_timeout: 7200 }));
    assert_eq!(room.done("bash", json!({"command": "echo a", "timeout": 5000})).await, "a\n");
}

#[tokio::test]
async fn what_a_command_leaves_behind_does_not_keep_us_and_ends_with_it() {
    let room = Room::new();
    let started = Instant::now();
    let text = room.done("bash", json!({"command": "sleep 1000 & echo $!"})).await;
    assert!(started.elapsed() < Duration::from_secs(5));
    gone(text.trim().parse().unwrap()).await;
}

#[tokio::test]
async fn long_output_is_cut_and_the_whole_can_be_read() {
    let room = Room::new();
    let outcome = room.call("bash", json!({"command": "seq 1 100000"})).await;
    assert!(outcome.result.truncated && outcome.result.text.len() < 52_000);
    let json: serde_json::Value = serde_json::from_str(outcome.result.json.unwrap().as_str()).unwrap();
    let file = json["output_file"].as_str().unwrap();
    assert_eq!(room.risk("read", &json!({"path": file})), domain::ask::Risk::Low);
    let page = room.done("read", json!({"path": file, "offset": 50_000, "limit": 1})).await;
    assert!(page.starts_with(" 50000\t50000\n"), "{page}");
}

#[tokio::test]
async fn nobody_listening_does_not_stop_a_command() {
    let room = Room::new();
    let (port, news) = port();
    let outcome = room.call_with("bash", json!({"command": "seq 1 50000"}), port).await;
    assert_eq!(outcome.outcome, ToolOutcome::Done);
    drop(news);
}

#[tokio::test]
async fn background_jobs_are_listed_read_and_stopped() {
    let room = Room::new();
    let line = "echo $$; exec sleep 1000";
    assert!(room.done("bash", json!({"command": line, "background": true})).await.contains("job-1"));
    let pid = timeout(SOON, async {
        loop {
            let text = room.done("bash_jobs", json!({"action": "read", "id": "job-1"})).await;
            if let Some(pid) = text.lines().nth(1).and_then(|line| line.parse::<i32>().ok()) {
                break pid;
            }
            tokio::task::yield_now().await;
        }
    })
    .await
    .unwrap();
    assert!(room.done("bash_jobs", json!({"action": "list"})).await.starts_with("job-1 (running"));
    room.done("bash_jobs", json!({"action": "stop", "id": 1})).await;
    gone(pid).await;
    assert!(room.done("bash_jobs", json!({})).await.starts_with("job-1 (stopped"));
    assert!(room.failed("bash_jobs", json!({"action": "read", "id": "9"})).await.contains("no job-9"));
    assert!(room.failed("bash_jobs", json!({"action": "dance"})).await.contains("list, read or stop"));
}

#[tokio::test]
async fn jobs_are_bounded_and_end_with_the_workplace() {
    let room = Room::new();
    for _ in 0..tools::bash::MAX_RUNNING {
        room.done("bash", json!({"command": "echo $$ >> pids; exec sleep 1000", "background": true})).await;
    }
    let told = room.failed("bash", json!({"command": "true", "background": true})).await;
    assert!(told.contains("stop one"), "{told}");
    let pids = timeout(SOON, async {
        loop {
            let text = std::fs::read_to_string(room.path("pids")).unwrap_or_default();
            if text.lines().count() == tools::bash::MAX_RUNNING {
                break text;
            }
            tokio::task::yield_now().await;
        }
    })
    .await
    .unwrap();
    let Room { dir, place, toolbox } = room;
    drop((place, toolbox));
    for pid in pids.lines() {
        gone(pid.parse().unwrap()).await;
    }
    drop(dir);
}
