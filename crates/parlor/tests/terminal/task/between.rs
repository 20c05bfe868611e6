//! The built program between an editor and an agent (`parlor acp --to`): what the agent asks is judged by our rules, comes to the editor
//! where none covers it, and on the leash nothing else is reached.

use crate::task::Project;
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt;
use testkit::{Lines, Screen};

/// An agent that does what a shell script says for each prompt. `asks` asks for a command, `does` is whether it was allowed.
pub(crate) fn agent(project: &Project, turn: &str) -> String {
    let script = format!(
        r#"#!/bin/sh
say() {{ echo '{{"jsonrpc":"2.0","method":"session/update","params":{{"sessionId":"s","update":{{"sessionUpdate":"agent_message_chunk","content":{{"type":"text","text":"'"$1"'"}}}}}}}}'; }}
asks() {{ echo '{{"jsonrpc":"2.0","id":"ask","method":"session/request_permission","params":{{"sessionId":"s","toolCall":{{"toolCallId":"c","title":"'"$1"'","kind":"execute","rawInput":{{"command":"'"$1"'"}}}},"options":[{{"optionId":"for-ever","name":"Always","kind":"allow_always"}},{{"optionId":"just-once","name":"Yes","kind":"allow_once"}},{{"optionId":"never","name":"No","kind":"reject_once"}}]}}}}'; read -r answer; }}
allowed() {{ case $answer in *just-once*) true;; *) say "answered $answer"; false;; esac; }}
read -r line; echo '{{"jsonrpc":"2.0","id":1,"result":{{"protocolVersion":1,"agentCapabilities":{{}}}}}}'
while read -r line; do
  id=$(echo "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
  case $line in
    *session/new*) echo '{{"jsonrpc":"2.0","id":'$id',"result":{{"sessionId":"s"}}}}';;
    *session/prompt*)
{turn}
      echo '{{"jsonrpc":"2.0","id":'$id',"result":{{"stopReason":"end_turn"}}}}';;
  esac
done
"#
    );
    let program = project.path("work/agent");
    std::fs::write(&program, script).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    program.display().to_string()
}

/// An editor in front of it, with a session.
struct Editor {
    lines: Lines,
    session: String,
    last: u64,
}

impl Editor {
    fn open(project: &Project, agent: &str, flags: &[&str]) -> Editor {
        let args = [&["acp", "--to"], flags, &["--", agent]].concat();
        let mut lines = Lines::start(&mut project.bare(&args));
        lines.say(&json!({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{}}}).to_string());
        lines.until(r#""id":1"#);
        let cwd = project.path("work");
        lines.say(
            &json!({"jsonrpc":"2.0","id":2,"method":"session/new","params":{"cwd":cwd,"mcpServers":[]}})
                .to_string(),
        );
        let made: Value = serde_json::from_str(&lines.until(r#""id":2"#)).unwrap();
        let Some(session) = made["result"]["sessionId"].as_str().map(str::to_owned) else {
            unreachable!("no session: {made}");
        };
        Editor { lines, session, last: 2 }
    }

    fn prompt(&mut self) {
        self.last += 1;
        let prompt = json!([{"type":"text","text":"go"}]);
        let params = json!({"sessionId":self.session,"prompt":prompt});
        self.lines.say(
            &json!({"jsonrpc":"2.0","id":self.last,"method":"session/prompt","params":params}).to_string(),
        );
    }

    fn over(&mut self) {
        let end = format!(r#""id":{}"#, self.last);
        let line = self.lines.until(&end);
        assert!(line.contains("end_turn"), "{line}");
    }
}

#[test]
fn a_rule_answers_the_agent_at_once_and_the_rest_comes_to_the_editor() {
    let project = Project::new();
    let made = project.path("work/made");
    let agent = agent(&project, "asks 'touch made'; allowed && touch made; say done");
    let mut editor = Editor::open(&project, &agent, &[]);
    editor.prompt();
    let asked: Value = serde_json::from_str(&editor.lines.until("session/request_permission")).unwrap();
    assert!(!made.exists(), "nothing happens before the answer");
    let options = asked["params"]["options"].as_array().unwrap();
    let always = options
        .iter()
        .find(|option| option["kind"] == "allow_always" && option["optionId"] != "allow_session");
    let always = always.unwrap_or_else(|| panic!("{asked}"))["optionId"].clone();
    let outcome = json!({"outcome":{"outcome":"selected","optionId":always}});
    editor.lines.say(&json!({"jsonrpc":"2.0","id":asked["id"],"result":outcome}).to_string());
    // The agent hears a yes for once, whatever the editor said: an answer with its own "always" would not make the file.
    editor.over();
    assert!(made.exists());
    std::fs::remove_file(&made).unwrap();
    // The rule that was made answers now, and in the next run of the program.
    editor.prompt();
    editor.over();
    assert!(made.exists());
    editor.lines.end();
    std::fs::remove_file(&made).unwrap();
    let mut editor = Editor::open(&project, &agent, &[]);
    editor.prompt();
    editor.over();
    assert!(made.exists());
}

#[test]
fn on_the_leash_an_agent_writes_in_the_project_and_nowhere_else_and_reaches_no_host() {
    let project = Project::new();
    let machine = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = machine.local_addr().unwrap().port();
    std::fs::create_dir_all(project.path("home/shared")).unwrap();
    std::fs::create_dir_all(project.path("home/other")).unwrap();
    let (shared, other) = (project.path("home/shared"), project.path("home/other"));
    let turn = format!(
        "echo x > inside; echo x > {}/f; echo x > {}/f; bash -c ': > /dev/tcp/127.0.0.1/{port}' && echo x > reached; say done",
        shared.display(),
        other.display()
    );
    let agent = agent(&project, &turn);
    let shared_flag = shared.display().to_string();
    let flags = ["--leash", "--share", shared_flag.as_str()];
    if tools::sandbox::status().can_hold().is_err() {
        let refused =
            project.bare(&[&["acp", "--to"], &flags[..], &["--", &agent]].concat()).output().unwrap();
        assert!(!refused.status.success(), "never looser than was asked for: {refused:?}");
        return;
    }
    let mut editor = Editor::open(&project, &agent, &flags);
    editor.prompt();
    editor.over();
    let there = |path: &str| project.path(path).exists();
    assert_eq!(
        (there("work/inside"), there("home/shared/f"), there("home/other/f"), there("work/reached")),
        (true, true, false, false)
    );
}

/// Whether the program can hold anything here.
fn holds() -> bool {
    tools::sandbox::status().can_hold().is_ok()
}

#[test]
fn given_a_task_an_agent_is_on_the_leash_asked_about_and_taken_back() {
    let project = Project::new();
    let other = project.path("home/other");
    std::fs::create_dir_all(&other).unwrap();
    let turn = format!(
        "echo x > inside; echo x > {}/f; asks 'touch made'; allowed && touch made; say finished",
        other.display()
    );
    let program = agent(&project, &turn);
    let settings = format!("[agents.robot]\ncommand = [{program:?}]\ndialect = \"acp\"\n");
    std::fs::write(project.path("config/config.toml"), settings).unwrap();
    let script = "model tool task {\"agent\":\"robot\",\"prompt\":\"go\"}\n---\nmodel text \"over\"\n";
    std::fs::write(project.path("work/model.txt"), script).unwrap();
    let there = |path: &str| project.path(path).exists();
    let model = ["--model", "scripted/model.txt"];
    let run = |flags: &[&str]| {
        let output = project.bare(&[&["run"], flags, &model, &["go"]].concat()).output().unwrap();
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
    };
    // Nobody has agreed to it, and nobody can be asked.
    run(&["--policy", "full"]);
    assert!(!there("work/inside"));
    let mut screen = Screen::start(&mut project.bare(&[&["--policy", "ask"], &model[..]].concat()));
    screen.shows(&["asks first"]);
    screen.send("go\r");
    screen.asks(&["robot: go?", program.as_str(), "another program's agent"]);
    screen.send("y");
    screen.asks(&["Start robot for a task?"]);
    screen.send("y");
    if !holds() {
        screen.shows(&["cannot be put in the sandbox", "over"]);
        assert!(!there("work/inside"), "never looser than on the leash");
        return;
    }
    screen.asks(&["Sub-agent robot “go” asks:", "touch made"]);
    assert!(there("work/inside") && !there("work/made") && !there("home/other/f"));
    screen.send("y");
    screen.shows(&["finished", "over", "ask anything"]);
    assert!(there("work/made") && !there("home/other/f"));
    screen.send("/undo\r");
    screen.shows(&["Undid 2 file changes"]);
    assert!(!there("work/made") && !there("work/inside"));
    screen.send("\u{4}");
    assert!(screen.finish());
    // It was agreed to, so a run that nobody watches may have it where the mode lets it, and in no mode that only looks.
    run(&["--policy", "read-only"]);
    assert!(!there("work/inside"));
    run(&["--policy", "full"]);
    assert!(there("work/inside") && there("work/made") && !there("home/other/f"));
}

#[test]
fn what_stands_behind_to_is_an_agent_or_a_command_of_the_same_wire() {
    let project = Project::new();
    for (args, code, words) in [
        (&["acp", "--to", "nobody"][..], 2, "there is no agent `nobody`"),
        (&["acp", "--to"], 2, "say where the runtime is"),
        (&["acp", "--to", "--share", "/tmp", "--", "true"], 2, "--leash"),
        (&["bridge", "--from", "acp", "--stdio", "--judge", "--to", "nous", "--", "true"], 2, "--judge"),
    ] {
        let output = project.bare(args).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(code), "{args:?}: {said}");
        assert!(said.contains(words), "{args:?}: {said}");
    }
}
