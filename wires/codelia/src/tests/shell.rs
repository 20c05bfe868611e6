//! The person's own shell, tasks and the theme on the wire.

use super::{greeted, runtime, said};
use domain::command::{Command, Receipt, Refusal, RefusalKind, ShellCommand};
use domain::event::{Body, NoteEvent, PERSONS_COMMAND};
use domain::ids::{EntryId, Millis};
use domain::session::{JobState, ShellJob};
use domain::signal::Level;
use expect_test::expect;

fn job(id: &str, state: JobState) -> ShellJob {
    ShellJob {
        id: id.into(),
        line: "make".into(),
        state,
        started_at: Millis(1_730_000_000_000),
        ended_at: (state != JobState::Running).then_some(Millis(1_730_000_000_250)),
        output: "built\n".into(),
        truncated: false,
    }
}

fn told(line: &str, jobs: Vec<ShellJob>) -> (Command, String) {
    let mut bench = greeted();
    let (_, command) = bench.asked(line, Ok(Receipt::Jobs(jobs)));
    (command, said(&mut bench.link))
}

#[test]
fn a_command_of_the_persons_own() {
    let (command, sent) = told(
        r#"{"id":"2","method":"shell.exec","params":{"command":"make","timeout_seconds":9,"cwd":"sub"}}"#,
        vec![job("", JobState::Exited(Some(2)))],
    );
    let run = ShellCommand::Run { line: "make".into(), cwd: Some("sub".into()), seconds: Some(9) };
    assert_eq!(command, Command::Shell(run));
    expect![[r#"
        {"id":"2","result":{"command_preview":"make","duration_ms":250,"exit_code":2,"stderr":"","stdout":"built\n","truncated":{"combined":false,"stderr":false,"stdout":false}}}
    "#]]
    .assert_eq(&sent);
}

#[test]
fn what_it_wrote_is_not_said_again_on_stderr() {
    let mut bench = greeted();
    let noticed = NoteEvent::Noticed {
        entry: EntryId(7),
        parent: None,
        run: None,
        level: Level::Info,
        code: PERSONS_COMMAND.into(),
        text: "$ make\nfatal: no".into(),
    };
    bench.happen(Body::Note(noticed));
    assert!(bench.is_silent() && bench.link.logs.is_empty(), "{:?}", bench.link.logs);
}

#[test]
fn tasks_as_they_are_asked_for_and_told() {
    let running = || vec![job("job-1", JobState::Running)];
    let (command, sent) =
        told(r#"{"id":"2","method":"task.spawn","params":{"kind":"shell","command":"make"}}"#, running());
    assert_eq!(command, Command::Shell(ShellCommand::Start { line: "make".into(), cwd: None, typed: false }));
    expect![[r#"
        {"id":"2","result":{"created_at":"2024-10-27T03:33:20.000Z","duration_ms":null,"exit_code":null,"key":"job-1","kind":"shell","started_at":"2024-10-27T03:33:20.000Z","state":"running","task_id":"job-1","title":"make","updated_at":"2024-10-27T03:33:20.000Z","workspace_mode":"live_workspace"}}
    "#]]
    .assert_eq(&sent);
    let id = r#"{"task_id":"job-1"}"#;
    let ask = |method: &str| format!(r#"{{"id":"2","method":"{method}","params":{id}}}"#);
    let one = |wait| Command::Shell(ShellCommand::Job { job: "job-1".into(), wait });
    let (command, sent) = told(&ask("task.status"), running());
    assert!(command == one(None) && sent.contains(r#""stdout":"built\n""#), "{sent}");
    let (command, sent) = told(&ask("task.wait"), running());
    assert!(command == one(Some(120)) && sent.contains(r#""still_running":true"#), "{sent}");
    let (_, sent) = told(&ask("task.result"), running());
    assert!(sent.contains(r#""result":null"#), "{sent}");
    let (_, sent) = told(&ask("task.result"), vec![job("job-1", JobState::Exited(Some(0)))]);
    assert!(sent.contains(r#""state":"completed""#), "{sent}");
    let (command, sent) = told(&ask("task.cancel"), vec![job("job-1", JobState::Stopped)]);
    assert_eq!(command, Command::Shell(ShellCommand::Stop { job: "job-1".into() }));
    assert!(sent.contains(r#""state":"cancelled""#) && sent.contains(r#""exit_code":null"#), "{sent}");
}

#[test]
fn a_list_of_tasks_is_newest_first_and_as_long_as_wanted() {
    let mut older = job("job-1", JobState::Exited(Some(1)));
    older.started_at = Millis(1);
    let jobs = || vec![older.clone(), job("job-2", JobState::Running)];
    let list =
        |params: &str| told(&format!(r#"{{"id":"2","method":"task.list","params":{params}}}"#), jobs()).1;
    let all = list("{}");
    assert!(all.find("job-2") < all.find("job-1") && all.contains(r#""state":"failed""#), "{all}");
    assert!(!all.contains("built"), "a list holds no output: {all}");
    assert!(!list(r#"{"limit":1}"#).contains("job-1"));
    assert!(!list(r#"{"state":"failed"}"#).contains("job-2"));
    let mut bench = greeted();
    bench.say(r#"{"id":"2","method":"task.list","params":{"kind":"subagent"}}"#);
    assert!(said(&mut bench.link).contains(r#""tasks":[]"#));
}

#[test]
fn a_task_that_is_not_for_the_background_is_waited_for() {
    let mut bench = greeted();
    let spawn =
        r#"{"id":"2","method":"task.spawn","params":{"kind":"shell","command":"make","background":false}}"#;
    bench.asked(spawn, Ok(Receipt::Jobs(vec![job("job-1", JobState::Running)])));
    assert_eq!(said(&mut bench.link), "");
    let (ticket, _, command) = bench.command();
    assert_eq!(command, Command::Shell(ShellCommand::Job { job: "job-1".into(), wait: Some(300) }));
    bench.settle(ticket, Ok(Receipt::Jobs(vec![job("job-1", JobState::Exited(Some(0)))])));
    assert!(said(&mut bench.link).contains(r#""state":"completed""#));
}

#[test]
fn what_cannot_be_is_refused() {
    for params in [
        r#"{"kind":"subagent","prompt":"x"}"#,
        r#"{"kind":"shell"}"#,
        r#"{"kind":"shell","command":"x","workspace_mode":"worktree"}"#,
        r#"{"kind":"shell","command":"x","timeout_seconds":5}"#,
        "{}",
    ] {
        let mut bench = greeted();
        bench.say(&format!(r#"{{"id":"2","method":"task.spawn","params":{params}}}"#));
        assert!(said(&mut bench.link).contains("-32602"), "{params}");
    }
    let mut bench = greeted();
    let denied = Refusal::new(RefusalKind::NotAllowed, "the person did not allow it");
    bench.asked(r#"{"id":"2","method":"shell.exec","params":{"command":"x"}}"#, Err(denied));
    assert!(said(&mut bench.link).contains("the person did not allow it"));
}

#[test]
fn a_theme_is_refused_with_the_way_to_have_it_and_a_logout_too() {
    let mut bench = greeted();
    bench.say(r#"{"id":"2","method":"theme.set","params":{"name":"ocean"}}"#);
    let sent = said(&mut bench.link);
    assert!(sent.contains("-32602") && sent.contains("CODELIA_TUI_THEME=ocean"), "{sent}");
    bench.say(r#"{"id":"3","method":"auth.logout"}"#);
    let sent = said(&mut bench.link);
    assert!(sent.contains("-32602") && sent.contains("parlor logout PROVIDER"), "{sent}");
    bench.say(r#"{"id":"4","method":"initialize","params":{"protocol_version":"0","client":{"name":"t","version":"0"}}}"#);
    assert!(said(&mut bench.link).contains(r#""supports_theme_set":false"#));
}

#[test]
fn what_the_person_starts_can_be_waited_for_left_read_and_ended() {
    let running = || vec![job("job-1", JobState::Running)];
    let start = r#"{"id":"2","method":"shell.start","params":{"command":"make","cwd":"sub"}}"#;
    let (command, sent) = told(start, running());
    let typed = ShellCommand::Start { line: "make".into(), cwd: Some("sub".into()), typed: true };
    assert_eq!(command, Command::Shell(typed));
    assert!(sent.contains(r#""task_id":"job-1""#) && sent.contains(r#""command_preview":"make""#), "{sent}");
    let ask = |method: &str, more: &str| {
        format!(r#"{{"id":"2","method":"shell.{method}","params":{{"task_id":"job-1"{more}}}}}"#)
    };
    let (_, sent) = told(&ask("output", r#","stream":"stdout","offset":1,"limit":1"#), {
        vec![ShellJob { output: "one\ntwo\nthree\n".into(), ..job("job-1", JobState::Running) }]
    });
    assert!(sent.contains(r#""content":"000002  two""#), "{sent}");
    let (command, sent) = told(&ask("cancel", ""), vec![job("job-1", JobState::Stopped)]);
    assert_eq!(command, Command::Shell(ShellCommand::Stop { job: "job-1".into() }));
    assert!(sent.contains(r#""state":"cancelled""#), "{sent}");
    let (_, sent) = told(r#"{"id":"2","method":"shell.list"}"#, running());
    assert!(sent.contains(r#""tasks":[{"#), "{sent}");
    // Who waits is answered by a detach, and once.
    let mut bench = greeted();
    bench.say(&ask("wait", ""));
    let (waits, _, command) = bench.command();
    assert_eq!(command, Command::Shell(ShellCommand::Job { job: "job-1".into(), wait: Some(120) }));
    let detach = ask("detach", "").replace(r#""id":"2""#, r#""id":"3""#);
    bench.asked(&detach, Ok(Receipt::Jobs(running())));
    let sent = said(&mut bench.link);
    for id in ["2", "3"] {
        let told =
            format!(r#"{{"id":"{id}","result":{{"detached":true,"state":"running","task_id":"job-1"}}}}"#);
        assert!(sent.contains(&told), "{sent}");
    }
    bench.settle(waits, Ok(Receipt::Jobs(vec![job("job-1", JobState::Exited(Some(0)))])));
    assert!(said(&mut bench.link).is_empty(), "it was answered");
}

#[test]
fn in_front_of_another_program_none_of_it_is_claimed_or_taken() {
    let mut bench = runtime();
    bench.say(r#"{"id":"1","method":"initialize","params":{"protocol_version":"0","client":{"name":"t","version":"0"}}}"#);
    assert!(said(&mut bench.link).contains(r#""supports_shell_exec":true"#));
    let greeting = roles::Greeting { follows: true, ..roles::Greeting::default() };
    bench.call(|role, cx| role.open(cx, &greeting));
    for method in ["shell.exec", "task.list", "theme.set"] {
        bench.say(&format!(r#"{{"id":"2","method":"{method}","params":{{"command":"x","name":"ocean"}}}}"#));
        assert!(said(&mut bench.link).contains("-32601"), "{method}");
    }
}
