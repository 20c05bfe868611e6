//! The built program in front of an agent that wants files and commands of its client: what our mode says happens, in our leash, and
//! nothing outlives the program.

use crate::task::{PATIENCE, Project};
use std::os::unix::fs::PermissionsExt;
use std::process::{Child, Output, Stdio};
use std::time::{Duration, Instant};

/// An agent that wants one thing of its client for a prompt, and says what came of it.
fn agent(project: &Project, wants: &str) -> String {
    let script = format!(
        r#"#!/bin/sh
read -r line; echo '{{"jsonrpc":"2.0","id":1,"result":{{"protocolVersion":1,"agentCapabilities":{{}}}}}}'
read -r line; echo '{{"jsonrpc":"2.0","id":2,"result":{{"sessionId":"s"}}}}'
read -r line
ask() {{ echo '{{"jsonrpc":"2.0","id":50,"method":"'"$1"'","params":{{"sessionId":"s",'"$2"'}}}}'; read -r answer; }}
say() {{ echo '{{"jsonrpc":"2.0","method":"session/update","params":{{"sessionId":"s","update":{{"sessionUpdate":"agent_message_chunk","content":{{"type":"text","text":"'"$1"'"}}}}}}}}'; }}
came() {{ case $answer in *'"error"'*) say refused;; *"$1"*) say granted;; *) say odd;; esac; }}
{wants}
echo '{{"jsonrpc":"2.0","id":3,"result":{{"stopReason":"end_turn"}}}}'
read -r line
"#
    );
    let program = project.path("home/agent");
    std::fs::write(&program, script).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    program.display().to_string()
}

fn attach(project: &Project, agent: &str, flags: &[&str]) -> (Option<i32>, String) {
    let args = [&["attach", "--dialect", "acp", "--prompt", "go"], flags, &["--", agent]].concat();
    let output: Output = project.bare(&args).stdin(Stdio::null()).output().unwrap();
    let words =
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    (output.status.code(), words)
}

#[test]
fn files_are_written_as_the_mode_says_and_read_in_the_workspace() {
    let project = Project::new();
    let made = project.path("work/made");
    let write =
        format!(r#"ask fs/write_text_file '"path":"{}","content":"by hand"'; came result"#, made.display());
    let writer = agent(&project, &write);
    for (flags, granted) in [
        (&[][..], false),
        (&["--policy", "read-only"], false),
        (&["--allow", "write"], true),
        (&["--policy", "auto-edit"], true),
    ] {
        let (code, words) = attach(&project, &writer, flags);
        assert_eq!(words.contains("granted"), granted, "{flags:?}: {words}");
        assert_eq!(words.contains("refused"), !granted, "{flags:?}: {words}");
        assert_eq!(made.exists(), granted, "{flags:?}: {words}");
        assert_eq!(code, Some(if granted { 0 } else { 3 }), "{flags:?}: {words}");
        let _ = std::fs::remove_file(&made);
    }
    // What steers programs is asked for whatever the mode.
    let hook = project.path("work/.git/hooks/post-checkout");
    let steer = format!(r#"ask fs/write_text_file '"path":"{}","content":"x"'; came result"#, hook.display());
    let steerer = agent(&project, &steer);
    let (_, words) = attach(&project, &steerer, &["--policy", "auto-edit"]);
    assert!(words.contains("refused") && !hook.exists(), "{words}");
    std::fs::write(project.path("work/notes"), "HOWDY").unwrap();
    std::fs::write(project.path("home/secret"), "HOWDY").unwrap();
    for (path, granted) in [("work/notes", true), ("home/secret", false)] {
        let read =
            format!(r#"ask fs/read_text_file '"path":"{}"'; came HOWDY"#, project.path(path).display());
        let (_, words) = attach(&project, &agent(&project, &read), &[]);
        assert_eq!(words.contains("granted"), granted, "{path}: {words}");
    }
}

#[test]
fn commands_run_in_the_leash_where_they_may_and_end_with_the_program() {
    let project = Project::new();
    let made = project.path("work/made");
    // Somebody who listens on this machine: in a leash nobody comes there, also not by a network of one's own.
    let machine = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = machine.local_addr().unwrap().port();
    let line = r#"ask terminal/create '"command":"touch made; (: > /dev/tcp/127.0.0.1/PORT) && echo reached > leash || echo refused > leash; echo done"'
case $answer in *error*) say refused;; *)
id=$(echo "$answer" | sed 's/.*"terminalId":"\([^"]*\)".*/\1/')
ask terminal/wait_for_exit '"terminalId":"'$id'"'
ask terminal/output '"terminalId":"'$id'"'; came done;; esac"#;
    let runner = agent(&project, &line.replace("PORT", &port.to_string()));
    let (code, words) = attach(&project, &runner, &[]);
    assert!(code == Some(3) && words.contains("refused") && !made.exists(), "{words}");
    let (code, words) = attach(&project, &runner, &["--allow", "all"]);
    assert!(code == Some(0) && words.contains("granted") && made.exists(), "{words}");
    if tools::sandbox::status().can_hold().is_ok() {
        let network = std::fs::read_to_string(project.path("work/leash")).unwrap();
        assert_eq!(network, "refused\n", "it has the network");
    }
    let stays = r#"ask terminal/create '"command":"echo $$ > pid; exec sleep 1000"'
until test -s pid; do :; done; came terminalId"#;
    let (_, words) = attach(&project, &agent(&project, stays), &["--allow", "bash"]);
    assert!(words.contains("granted"), "{words}");
    let pid = std::fs::read_to_string(project.path("work/pid")).unwrap();
    gone(pid.trim());
}

fn gone(pid: &str) {
    let end = Instant::now() + PATIENCE;
    while std::path::Path::new(&format!("/proc/{pid}")).exists() {
        assert!(Instant::now() < end, "{pid} outlives the program");
        std::thread::yield_now();
    }
}

fn wait_for(child: &mut Child, within: Duration) {
    let end = Instant::now() + within;
    while child.try_wait().unwrap().is_none() {
        assert!(Instant::now() < end, "it does not end");
        std::thread::yield_now();
    }
}

#[test]
fn an_agent_that_never_answers_is_left_soon_with_all_that_it_started() {
    let project = Project::new();
    let program = project.path("home/agent");
    // As a wrapper does: the program itself is a child, in a session of its own.
    let script = "#!/bin/sh\necho waiting for a browser >&2\ntrap '' TERM\n\
        setsid sh -c 'trap \"\" TERM; echo $$ > pid; exec sleep 1000' &\nwhile :; do sleep 1000; done\n";
    std::fs::write(&program, script).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let agent = program.display().to_string();
    let args = ["attach", "--dialect", "acp", "--prompt", "go", "--", agent.as_str()];
    let mut child = project.bare(&args).stdin(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let pid = project.path("work/pid");
    let end = Instant::now() + PATIENCE;
    while !std::fs::read_to_string(&pid).is_ok_and(|pid| pid.ends_with('\n')) {
        assert!(Instant::now() < end, "it was not started");
        std::thread::yield_now();
    }
    let told = Instant::now();
    let parlor = rustix::process::Pid::from_raw(child.id().cast_signed()).unwrap();
    rustix::process::kill_process(parlor, rustix::process::Signal::TERM).unwrap();
    wait_for(&mut child, PATIENCE);
    let took = told.elapsed();
    gone(std::fs::read_to_string(&pid).unwrap().trim());
    let mut words = String::new();
    std::io::Read::read_to_string(&mut child.stderr.take().unwrap(), &mut words).unwrap();
    assert!(words.contains("waiting for a browser"), "{words}");
    assert!(took < Duration::from_secs(5), "{took:?}");
}
