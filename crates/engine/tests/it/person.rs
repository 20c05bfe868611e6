//! Command lines of the person's own, and those that they start in the background.

use crate::bench::{Bench, Plan, answered};
use domain::ask::Answer;
use domain::command::{Command, Receipt, Refusal, RefusalKind, ShellCommand};
use domain::event::{AskEvent, Body, NoteEvent, PERSONS_COMMAND};
use domain::session::{JobState, Policy, ShellJob};

fn bench(policy: Policy) -> Bench {
    Bench::with(Plan::script("").policy(policy))
}

fn run(line: &str, cwd: Option<&str>) -> Command {
    Command::Shell(ShellCommand::Run {
        line: line.to_owned(),
        cwd: cwd.map(str::to_owned),
        seconds: Some(20),
    })
}

fn start(line: &str) -> Command {
    Command::Shell(ShellCommand::Start { line: line.to_owned(), cwd: None, typed: false })
}

async fn jobs(bench: &mut Bench, command: Command) -> Result<Vec<ShellJob>, Refusal> {
    match bench.consult(command).await? {
        Receipt::Jobs(jobs) => Ok(jobs),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn what_the_person_types_runs_unasked_and_is_noted_as_theirs() {
    let mut bench = bench(Policy::Ask);
    let ran =
        jobs(&mut bench, run("echo hi > f; echo out; echo err >&2; exit 3", None)).await.unwrap().remove(0);
    assert_eq!(
        (ran.state, ran.output.as_str(), ran.truncated),
        (JobState::Exited(Some(3)), "out\nerr\n", false)
    );
    assert_eq!(bench.get("f").as_deref(), Some("hi\n"));
    assert!(ran.ended_at >= Some(ran.started_at));
    assert_eq!(bench.count(|body| matches!(body, Body::Ask(AskEvent::Opened(_)))), 0);
    let noted = |body: &Body| {
        matches!(body, Body::Note(NoteEvent::Noticed { code, text, .. })
            if code == PERSONS_COMMAND && text.starts_with("$ echo hi > f") && text.contains("out\nerr"))
    };
    assert_eq!(bench.count(noted), 1, "{:?}", bench.events);
    assert!(bench.state.context_path().is_empty(), "the model does not read it");
    let quiet = jobs(&mut bench, run("true", None)).await.unwrap().remove(0);
    assert_eq!((quiet.state, quiet.output.as_str()), (JobState::Exited(Some(0)), ""));
}

#[tokio::test]
async fn a_mode_that_denies_and_the_workspace_hold_for_the_person_too() {
    let mut bench = bench(Policy::ReadOnly);
    let refused = jobs(&mut bench, run("echo hi > f", None)).await.unwrap_err();
    assert_eq!((refused.kind, bench.get("f")), (RefusalKind::NotAllowed, None));
    let refused = jobs(&mut bench, start("sleep 30 > f")).await.unwrap_err();
    assert_eq!(refused.kind, RefusalKind::NotAllowed);
    let mut bench = self::bench(Policy::Ask);
    let outside = jobs(&mut bench, run("ls", Some("/"))).await.unwrap_err();
    assert_eq!(outside.kind, RefusalKind::Invalid);
}

#[tokio::test]
async fn what_the_person_starts_themselves_runs_unasked_and_can_be_ended() {
    let own =
        |line: &str| Command::Shell(ShellCommand::Start { line: line.to_owned(), cwd: None, typed: true });
    let mut bench = bench(Policy::Ask);
    let job = jobs(&mut bench, own("echo on > f; sleep 300")).await.unwrap().remove(0);
    assert_eq!(job.state, JobState::Running);
    assert_eq!(bench.count(|body| matches!(body, Body::Ask(AskEvent::Opened(_)))), 0);
    let noted =
        |body: &Body| matches!(body, Body::Note(NoteEvent::Noticed { code, .. }) if code == PERSONS_COMMAND);
    assert_eq!(bench.count(noted), 1);
    let ended = jobs(&mut bench, Command::Shell(ShellCommand::Stop { job: job.id })).await.unwrap().remove(0);
    assert_eq!(ended.state, JobState::Stopped);
    let mut held = self::bench(Policy::ReadOnly);
    assert_eq!(jobs(&mut held, own("sleep 30 > f")).await.unwrap_err().kind, RefusalKind::NotAllowed);
}

#[tokio::test]
async fn the_background_asks_as_the_model_has_to() {
    for (answer, allowed) in [(Answer::Confirmed(true), true), (Answer::Confirmed(false), false)] {
        let mut bench = bench(Policy::Ask);
        bench.begin_consult(start("echo on > f; sleep 30")).await;
        while bench.state.asks.is_empty() {
            bench.take_some(1).await;
        }
        assert_eq!(bench.get("f"), None, "nothing happens before the answer");
        let ask = bench.state.asks[0].id;
        bench.close(ask, answered(answer)).await;
        while bench.settled.is_empty() {
            bench.take_some(1).await;
        }
        let with = bench.settled.remove(0);
        assert_eq!(with.is_ok(), allowed, "{with:?}");
        if let Ok(Receipt::Jobs(started)) = with {
            assert_eq!(started[0].state, JobState::Running);
            let stop = Command::Shell(ShellCommand::Stop { job: started[0].id.clone() });
            assert_eq!(jobs(&mut bench, stop).await.unwrap()[0].state, JobState::Stopped);
        }
    }
}

#[tokio::test]
async fn jobs_are_listed_waited_for_and_told_with_their_output() {
    let mut bench = bench(Policy::Full);
    let started = jobs(&mut bench, start("echo one; exit 4")).await.unwrap().remove(0);
    let wait = Command::Shell(ShellCommand::Job { job: started.id.clone(), wait: Some(20) });
    let over = jobs(&mut bench, wait).await.unwrap().remove(0);
    assert_eq!((over.state, over.output.as_str()), (JobState::Exited(Some(4)), "one\n"));
    let listed = jobs(&mut bench, Command::Shell(ShellCommand::Jobs)).await.unwrap();
    assert_eq!((listed.len(), listed[0].id.as_str(), listed[0].output.as_str()), (1, "job-1", ""));
    for job in ["job-9", "nine", ""] {
        let unknown = Command::Shell(ShellCommand::Job { job: job.to_owned(), wait: None });
        assert_eq!(jobs(&mut bench, unknown).await.unwrap_err().kind, RefusalKind::Invalid, "{job}");
    }
}

#[tokio::test]
async fn no_more_than_a_few_of_the_persons_commands_run_at_once() {
    let mut bench = bench(Policy::Ask);
    for _ in 0..16 {
        bench.begin_consult(run("sleep 20", None)).await;
    }
    // All answers have the same ticket here; those that sleep have none yet.
    let refused = jobs(&mut bench, run("true", None)).await.unwrap_err();
    assert_eq!(refused.kind, RefusalKind::TooMany, "{refused}");
}
