//! Real programs (`sh`, `cat`): lines, last words, and that nothing is left running. Conditions are polled, never waited out.

use super::*;
use crate::lane_io::{Ending, Incoming};
use std::sync::Mutex;
use tokio::time::timeout;
use wire::Frame;

const LANE: Lane = Lane::MAIN;
const SOON: Duration = Duration::from_secs(20);

fn sh(script: &str) -> Launch {
    Launch::new(["sh", "-c", script])
}

fn start(launch: Launch) -> (LinkIo, Child) {
    launch.start(LANE, Limits::default()).unwrap()
}

async fn line(io: &mut LinkIo) -> String {
    match timeout(SOON, io.incoming.recv()).await.unwrap() {
        Some(Incoming::Frame { frame: Frame::Line(text), .. }) => text,
        other => panic!("{other:?}"),
    }
}

/// Waits until no process of this id runs any more. A zombie whose parent is gone too counts as gone.
async fn gone(id: &str) {
    let running = |id: &str| {
        std::fs::read_to_string(format!("/proc/{id}/stat")).is_ok_and(|stat| {
            !stat.rsplit(')').next().unwrap_or_default().trim_start().starts_with(['Z', 'X'])
        })
    };
    timeout(SOON, async {
        while running(id) {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    })
    .await
    .unwrap();
}

#[tokio::test]
async fn lines_go_through_a_real_program() {
    let (mut io, child) = start(Launch::new(["cat"]));
    let big = "x".repeat(1024 * 1024);
    io.outgoing.try_send(LANE, "hello".into()).unwrap();
    io.outgoing.try_send(LANE, big.clone()).unwrap();
    assert_eq!(line(&mut io).await, "hello");
    assert_eq!(line(&mut io).await, big);
    let (exit, stderr) = timeout(SOON, child.shutdown()).await.unwrap();
    assert_eq!((exit, stderr.len()), (Exit::Code(0), 0));
    assert_eq!(io.incoming.recv().await, Some(Incoming::Closed { lane: LANE, reason: Ending::Eof }));
}

#[tokio::test]
async fn environment_and_directory_are_set() {
    let directory = tempfile::tempdir().unwrap();
    let mut launch = sh("echo \"$LINK_TEST ${HOME-none}\"; pwd -P");
    launch.env = vec![("LINK_TEST".into(), "yes".into())];
    launch.env_remove = vec!["HOME".into()];
    launch.cwd = Some(directory.path().to_owned());
    let (mut io, _child) = start(launch);
    assert_eq!(line(&mut io).await, "yes none");
    assert_eq!(line(&mut io).await, directory.path().canonicalize().unwrap().to_string_lossy());
}

#[tokio::test]
async fn a_guard_stands_in_front_of_the_command() {
    let mut launch = sh("echo inner $GUARDED");
    launch.guard = ["env", "GUARDED=1"].map(Into::into).into();
    let (mut io, _child) = start(launch);
    assert_eq!(line(&mut io).await, "inner 1");
}

#[tokio::test]
async fn a_failure_comes_with_its_last_words() {
    let heard = Arc::new(Mutex::new(Vec::new()));
    let copy = heard.clone();
    let mut launch = sh("echo one >&2; echo two >&2; exit 7");
    launch.on_stderr = Some(Box::new(move |line| copy.lock().unwrap().push(line.to_owned())));
    let (mut io, mut child) = start(launch);
    assert_eq!(timeout(SOON, child.wait()).await.unwrap(), Exit::Code(7));
    assert_eq!(child.exit(), Some(Exit::Code(7)));
    assert_eq!(child.stderr(), ["one", "two"]);
    assert_eq!(*heard.lock().unwrap(), ["one", "two"]);
    assert_eq!(io.incoming.recv().await, Some(Incoming::Closed { lane: LANE, reason: Ending::Eof }));
}

#[tokio::test]
async fn a_talkative_stderr_does_not_stall_the_program() {
    let (mut io, mut child) =
        start(sh("i=0; while [ $i -lt 20000 ]; do echo line $i >&2; i=$((i+1)); done; echo done"));
    assert_eq!(line(&mut io).await, "done");
    assert_eq!(timeout(SOON, child.wait()).await.unwrap(), Exit::Code(0));
    let lines = child.stderr();
    assert_eq!((lines.len(), lines[STDERR_LINES - 1].as_str()), (STDERR_LINES, "line 19999"));
}

#[test]
fn a_program_that_is_not_there_is_named() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let _guard = runtime.enter();
    let error = Launch::new(["/nonexistent/program"]).start(LANE, Limits::default()).unwrap_err();
    assert!(
        matches!(&error, LinkError::Spawn { program, .. } if program == "/nonexistent/program"),
        "{error}"
    );
    let none = Launch { guard: vec!["env".into()], ..Launch::default() };
    assert!(matches!(none.start(LANE, Limits::default()), Err(LinkError::NoCommand)));
}

#[tokio::test]
async fn one_that_ignores_its_stdin_gets_the_term_signal() {
    let (mut io, child) = start(sh("trap 'exit 5' TERM; echo ready; while :; do sleep 0.02; done"));
    assert_eq!(line(&mut io).await, "ready");
    let (exit, _) = child.shutdown_within(Duration::from_millis(10), SOON).await;
    assert_eq!(exit, Exit::Code(5));
}

#[tokio::test]
async fn one_that_ignores_everything_is_killed_with_its_group() {
    let (mut io, child) = start(sh("trap '' TERM; sleep 1000 & echo $!; while :; do wait; done"));
    let grandchild = line(&mut io).await;
    let leader = child.id().to_string();
    let short = Duration::from_millis(10);
    let (exit, _) = timeout(SOON, child.shutdown_within(short, short)).await.unwrap();
    assert_eq!(exit, Exit::Signal(9));
    gone(&grandchild).await;
    gone(&leader).await;
}

#[tokio::test]
async fn dropping_the_handle_leaves_no_orphan() {
    let (mut io, child) = start(sh("sleep 1000 & echo $!; wait"));
    let grandchild = line(&mut io).await;
    let leader = child.id().to_string();
    drop(child);
    gone(&grandchild).await;
    gone(&leader).await;
    assert_eq!(io.incoming.recv().await, Some(Incoming::Closed { lane: LANE, reason: Ending::Eof }));
}

#[tokio::test]
async fn what_a_program_leaves_behind_at_its_own_exit_is_ended() {
    let (mut io, mut child) = start(sh("sleep 1000 & echo $!"));
    let grandchild = line(&mut io).await;
    assert_eq!(timeout(SOON, child.wait()).await.unwrap(), Exit::Code(0));
    gone(&grandchild).await;
}

#[tokio::test]
async fn shutdown_does_not_hang_on_a_program_that_does_not_read() {
    let (mut io, child) = start(sh("echo ready; exec sleep 1000"));
    assert_eq!(line(&mut io).await, "ready");
    io.outgoing.try_send(LANE, "x".repeat(1024 * 1024)).unwrap();
    let short = Duration::from_millis(10);
    let (exit, _) = timeout(SOON, child.shutdown_within(short, SOON)).await.unwrap();
    assert_eq!(exit, Exit::Signal(15));
}

#[tokio::test]
async fn a_witness_sees_the_end_and_the_last_words_beside_whoever_holds_the_program() {
    let (mut io, child) =
        Launch::new(["sh", "-c", "echo boom >&2; exit 3"]).start(LANE, Limits::default()).unwrap();
    let witness = child.witness();
    while io.incoming.recv().await.is_some() {}
    let (exit, stderr) = witness.end_within(Duration::from_secs(60)).await;
    assert_eq!((exit, stderr.as_slice()), (Some(Exit::Code(3)), &["boom".to_owned()][..]));
    let (_io, child) = Launch::new(["sleep", "1000"]).start(LANE, Limits::default()).unwrap();
    let (exit, _) = child.witness().end_within(Duration::from_millis(1)).await;
    assert_eq!(exit, None, "it goes on");
    child.shutdown_within(Duration::ZERO, Duration::from_secs(60)).await;
}
