//! The guard: limits, and no orphan whatever happens.

use crate::bash::{SOON, gone, told};
use crate::room::{Room, port};
use domain::tool::ToolOutcome;
use serde_json::json;
use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use tokio::time::timeout;
use tools::sandbox::{Guard, Leash, status};

pub(crate) fn program() -> PathBuf {
    let here = std::env::current_exe().unwrap();
    here.ancestors().nth(2).unwrap().join("examples/guard")
}

pub(crate) fn guarded() -> Room {
    guarded_by_program(Room::new())
}

pub(crate) fn guarded_by_program(room: Room) -> Room {
    let place = room.place.clone().guarded(Guard::new(&program(), &["__guard"]));
    Room { place, ..room }
}

#[tokio::test]
async fn a_guarded_command_is_like_any_other() {
    let room = guarded();
    assert_eq!(room.done("bash", json!({"command": "echo a; echo b >&2; cat"})).await, "a\nb\n");
    assert_eq!(room.failed("bash", json!({"command": "exit 7"})).await, "(exit code 7)");
    assert_eq!(room.failed("bash", json!({"command": "kill -9 $$"})).await, "(exit code 137)");
    room.done("bash", json!({"command": "echo x > inside.txt; echo y > $(mktemp); echo z > /dev/null"}))
        .await;
    assert_eq!(room.get("inside.txt"), "x\n");
}

#[tokio::test]
async fn writing_outside_is_stopped_where_the_kernel_can() {
    // The test's own directory lies in temp, which is writable, and the build may too: the person's home does not.
    let room = guarded();
    let outside = tempfile::tempdir_in(std::env::home_dir().unwrap()).unwrap();
    let file = outside.path().join("x");
    let line = json!({"command": format!("echo x > {}", file.display())});
    let outcome = room.call("bash", line.clone()).await;
    assert_eq!(outcome.outcome == ToolOutcome::Failed, status().files, "{}", outcome.result.text);
    assert_eq!(!file.exists(), status().files);
    let mut free = line;
    free["unsandboxed"] = json!(true);
    room.done("bash", free).await;
    assert!(file.exists(), "with consent it may");
}

#[tokio::test]
async fn what_runs_unasked_is_held_to_looking() {
    let room = guarded();
    room.put("a.txt", "one\n");
    // The reader is fooled: what was decided on is not what runs.
    let looking = room.plan("bash", &json!({"command": "cat a.txt"})).unwrap();
    let asked = room.plan("bash", &json!({"command": "touch b.txt"})).unwrap();
    assert!(looking.read_only && !asked.read_only);
    let line = "echo \"$TMPDIR\"; echo y > \"$TMPDIR\"/t && cat \"$TMPDIR\"/t; echo x > a.txt; true";
    let run = async |mut plan: tools::Plan| {
        plan.args = json!({"command": line});
        let (port, _news) = port();
        room.tool("bash").run(plan, port).await.result.text
    };
    let text = run(looking).await;
    let (temp, rest) = text.split_once('\n').unwrap();
    assert!(temp.contains("parlor-look-") && rest.starts_with("y\n"), "{text}");
    assert!(!std::path::Path::new(temp).exists(), "its temp is left behind");
    assert_eq!(room.get("a.txt") == "one\n", status().files, "{text}");
    run(asked).await;
    assert_eq!(room.get("a.txt"), "x\n");
}

#[tokio::test]
async fn the_network_is_closed_where_the_kernel_can_and_open_when_allowed() {
    let room = guarded();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let line = format!("exec 3<>/dev/tcp/127.0.0.1/{}", listener.local_addr().unwrap().port());
    let outcome = room.call("bash", json!({"command": line})).await;
    assert_eq!(outcome.outcome == ToolOutcome::Failed, status().network, "{}", outcome.result.text);
    room.done("bash", json!({"command": line, "network": true})).await;
}

#[tokio::test]
async fn names_cannot_be_looked_up_either_where_the_kernel_can() {
    let room = guarded();
    let listener = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let line = format!("echo x > /dev/udp/127.0.0.1/{}", listener.local_addr().unwrap().port());
    let outcome = room.call("bash", json!({"command": line})).await;
    let closed = status().words.contains("no network");
    // On loopback it has arrived once it was sent, if it does at all: in a network of its own it goes nowhere.
    assert_eq!(listener.recv(&mut [0; 8]).is_err(), closed, "{}", outcome.result.text);
    room.done("bash", json!({"command": line, "network": true})).await;
    assert_eq!(listener.recv(&mut [0; 8]).unwrap(), 2);
}

#[tokio::test]
async fn a_command_cannot_end_a_program_that_is_not_its_own_where_the_kernel_can() {
    let room = guarded();
    let mut other = Command::new("sleep").arg("1000").spawn().unwrap();
    let outcome = room.call("bash", json!({"command": format!("kill -9 {}", other.id())})).await;
    let safe = status().landlock.is_some_and(|version| version >= 6);
    assert_eq!(outcome.outcome == ToolOutcome::Failed, safe, "{}", outcome.result.text);
    assert!(!safe || other.try_wait().unwrap().is_none());
    room.done("bash", json!({"command": "sleep 1000 & kill -9 $!"})).await;
    let _ = other.kill();
    other.wait().unwrap();
}

#[tokio::test]
async fn nothing_gets_away_when_the_command_ends() {
    let room = guarded();
    let line = "setsid sleep 1000 & echo $!; setsid --wait sh -c 'sleep 1000 & echo $!'";
    let text = room.done("bash", json!({"command": line})).await;
    let pids: Vec<i32> = text.lines().map(|line| line.parse().unwrap()).collect();
    assert_eq!(pids.len(), 2, "{text}");
    for pid in pids {
        gone(pid).await;
    }
}

#[tokio::test]
async fn nothing_gets_away_when_it_is_cancelled() {
    let room = guarded();
    let (port, mut news) = port();
    let cancel = port.cancel.clone();
    let line = "trap '' TERM; setsid sh -c 'trap \"\" TERM; echo $$.; while :; do sleep 1000; done' & wait";
    let call = room.call_with("bash", json!({"command": line}), port);
    let watch = async {
        let text = told(&mut news, ".").await;
        cancel.cancel();
        text
    };
    let (outcome, text) = tokio::join!(call, watch);
    assert_eq!(outcome.outcome, ToolOutcome::Cancelled);
    gone(text.trim().trim_end_matches('.').parse().unwrap()).await;
}

#[tokio::test]
async fn no_orphan_after_a_kill_of_whoever_started_it() {
    let guard = program();
    // A host that starts a guarded command in a group of its own, as the agent does, and waits for it.
    let inner = "trap \"\" TERM; setsid sleep 1000 & echo $!; echo $$; sleep 1000";
    let script =
        format!("set -m; {} __guard --parent $$ --rw / -- bash -c '{inner}' & wait", guard.display());
    let mut host = Command::new("bash").arg("-c").arg(script).stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(host.stdout.take().unwrap()).lines();
    let mut pid = || lines.next().unwrap().unwrap().parse::<i32>().unwrap();
    let pids = [pid(), pid()];
    host.kill().unwrap();
    host.wait().unwrap();
    for pid in pids {
        gone(pid).await;
    }
}

#[tokio::test]
async fn a_guard_works_where_its_session_is_led_from_outside() {
    // In a container without a leader of its own, session and group are 0.
    let inside = |script: &str| {
        let mut command = Command::new("unshare");
        command.args(["--map-root-user", "--pid", "--fork", "--mount-proc", "bash", "-c", script]);
        timeout(SOON, tokio::process::Command::from(command).output())
    };
    if !inside("true").await.unwrap().is_ok_and(|output| output.status.success()) {
        return; // No container can be made here.
    }
    let guard = program();
    let line = "setsid sleep 1000 & exit 7";
    let script = format!(
        "read -r stat < /proc/self/stat; set -- ${{stat##*) }}; test $4 = 0 || exit 1; \
         {} __guard --parent $$ --free -- bash -c '{line}'; exit $?",
        guard.display()
    );
    let output = inside(&script).await.unwrap().unwrap();
    assert_eq!(output.status.code(), Some(7), "{output:?}");
}

#[tokio::test]
async fn a_guard_whose_starter_is_gone_starts_nothing() {
    let mut command = Command::new(program());
    command.args(["__guard", "--parent", "1", "--rw", "/", "--", "echo", "ran"]);
    let output = timeout(SOON, tokio::process::Command::from(command).output()).await.unwrap().unwrap();
    assert!(!output.status.success() && output.stdout.is_empty());
    assert!(String::from_utf8_lossy(&output.stderr).contains("is gone"));
}

#[tokio::test]
async fn nothing_gets_away_when_nobody_waits_for_it_any_more() {
    let room = guarded();
    let (port, mut news) = port();
    let mut call =
        Box::pin(room.call_with("bash", json!({"command": "setsid sleep 1000 & echo $!.; wait"}), port));
    let text = tokio::select! {
        text = told(&mut news, ".") => text,
        outcome = &mut call => panic!("{outcome:?}"),
    };
    drop(call);
    gone(text.trim().trim_end_matches('.').parse().unwrap()).await;
}

#[tokio::test]
async fn a_command_has_no_terminal_and_a_session_of_its_own() {
    let room = guarded();
    for free in [false, true] {
        let line = "read -r stat < /proc/self/stat; echo ${stat##*) }";
        let text = room.done("bash", json!({"command": line, "unsandboxed": free})).await;
        // State, parent, group, session, terminal.
        let fields: Vec<i32> =
            text.split_whitespace().skip(1).take(4).map(|it| it.parse().unwrap()).collect();
        let [_, group, session, terminal] = fields[..] else { panic!("{text}") };
        let ours = std::fs::read_to_string("/proc/self/stat").unwrap();
        let ours =
            ours.rsplit_once(')').unwrap().1.split_whitespace().nth(3).unwrap().parse::<i32>().unwrap();
        assert!(group == session && session != ours && terminal == 0, "{text}");
        room.failed("bash", json!({"command": "echo painted > /dev/tty", "unsandboxed": free})).await;
    }
}

#[tokio::test]
async fn a_command_cannot_end_or_stop_its_guard_where_the_kernel_can() {
    let room = guarded();
    let safe = status().landlock.is_some_and(|version| version >= 6);
    for signal in ["KILL", "STOP", "TERM", "INT"] {
        let line = format!("kill -{signal} $PPID && sleep 1000");
        if safe {
            let text = room.failed("bash", json!({"command": line})).await;
            assert!(text.contains("not permitted"), "{text}");
        }
    }
}

#[tokio::test]
async fn nothing_gets_away_that_forks_and_changes_its_session_all_the_time() {
    let room = guarded();
    if status().landlock.is_none_or(|version| version < 6) {
        return;
    }
    // Each one starts the next in a session of its own and is gone; the file tells of the last.
    let link = "echo $$ > last; exec setsid --fork bash chain.sh";
    room.put("chain.sh", link);
    room.done("bash", json!({"command": "bash chain.sh; until test -s last; do :; done"})).await;
    let last = || std::fs::metadata(room.place.root().unwrap().join("last")).unwrap().modified().unwrap();
    let then = last();
    // Far longer than one link of the chain takes; the guard was gone before the call came back.
    std::thread::sleep(std::time::Duration::from_millis(50));
    assert_eq!(last(), then);
}

#[tokio::test]
async fn what_cannot_be_started_says_so_with_the_code_of_a_shell() {
    let room = guarded();
    let guard = Guard::new(&program(), &["__guard"]);
    room.put("plain", "no program");
    for (name, code) in [("no-such-program", 127), ("./plain", 126)] {
        for free in [false, true] {
            let leash = Leash { free, writable: vec!["/".into()], ..Leash::default() };
            let mut command = tokio::process::Command::from(guard.command(name.as_ref(), &leash));
            let output = command.current_dir(room.place.root().unwrap()).output();
            let output = timeout(SOON, output).await.unwrap().unwrap();
            assert_eq!(output.status.code(), Some(code));
            assert!(String::from_utf8_lossy(&output.stderr).starts_with(name), "{output:?}");
        }
    }
}

#[tokio::test]
async fn pipes_that_a_command_closes_are_closed() {
    let room = guarded();
    let leash = Leash { writable: vec!["/".into()], ..Leash::default() };
    let mut command = Guard::new(&program(), &["__guard"]).command("sh".as_ref(), &leash);
    command
        .arg("-c")
        .arg("exec >&-; exec sleep 1000")
        .current_dir(room.place.root().unwrap())
        .stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut said = String::new();
    std::io::Read::read_to_string(child.stdout.as_mut().unwrap(), &mut said).unwrap();
    assert!(child.try_wait().unwrap().is_none(), "its pipe ended before it");
    rustix::process::kill_process(rustix::process::Pid::from_child(&child), rustix::process::Signal::INT)
        .unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(137));
}

#[tokio::test]
async fn the_model_learns_how_to_ask_and_the_person_sees_why() {
    let room = guarded();
    let outside = tempfile::tempdir_in(std::env::home_dir().unwrap()).unwrap();
    let line = format!("echo before; echo x > {}/x", outside.path().display());
    let first = room.call("bash", json!({"command": line})).await;
    if !status().files {
        return;
    }
    assert_eq!(first.outcome, ToolOutcome::Failed);
    assert!(first.result.text.contains("`unsandboxed` set and a `reason`"), "{}", first.result.text);
    // Without a reason nobody is bothered.
    let why = room.plan("bash", &json!({"command": line, "unsandboxed": true})).unwrap_err();
    assert!(why.contains("need a `reason`"), "{why}");
    let asks = json!({"command": line, "unsandboxed": true, "reason": "it\u{1b}[2J must\nlie there"});
    let reasons = room.plan("bash", &asks).unwrap().assessment.reasons;
    assert!(reasons.contains(&"the model's reason: it [2J must lie there".to_owned()), "{reasons:?}");
    let last = reasons.iter().position(|reason| reason.contains("its last lines were")).unwrap();
    assert_eq!(reasons[last + 1], "| before");
    assert!(
        reasons[last + 2].starts_with("| ") && reasons[last + 2].contains("ermission denied"),
        "{reasons:?}"
    );
    // Another command has its own lines, and so has another folder.
    let other = json!({"command": "ls", "unsandboxed": true, "reason": "x"});
    assert!(!room.plan("bash", &other).unwrap().assessment.reasons.iter().any(|line| line.starts_with("| ")));
    // A failure that has nothing to do with it is left alone.
    let plain = room.failed("bash", json!({"command": "echo no; exit 3"})).await;
    assert_eq!(plain, "no\n(exit code 3)");
}

#[tokio::test]
async fn files_that_were_left_open_do_not_reach_a_command() {
    let room = guarded();
    room.put("open", "left open\n");
    for free in [false, true] {
        let leash = Leash { free, writable: vec![room.place.root().unwrap().to_owned()], ..Leash::default() };
        // A shell that leaves a file open for whatever it starts, as somebody might who starts Parlor.
        let guard = Guard::new(&program(), &["__guard"]).command("sh".as_ref(), &leash);
        let words: Vec<_> = guard.get_args().map(|word| word.to_string_lossy().into_owned()).collect();
        let host = format!("exec 7< open; exec {} \"$@\"", program().display());
        let mut command = Command::new("bash");
        command.arg("-c").arg(host).arg("bash").args(words).args(["-c", "cat <&7"]);
        command.current_dir(room.place.root().unwrap());
        let output = timeout(SOON, tokio::process::Command::from(command).output()).await.unwrap().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.stdout.is_empty() && said.contains("7"), "{free} {output:?}");
    }
}
