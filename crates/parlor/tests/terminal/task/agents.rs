//! `parlor agents` and `parlor attach NAME`: what is there is told, nothing is started unasked, and a yes is for one command.

use crate::task::Project;
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt;
use std::process::{Output, Stdio};
use testkit::Screen;

fn said(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// The list, as JSON.
fn listed(project: &Project, args: &[&str]) -> Vec<Value> {
    let output = project.bare(&[&["agents", "--json"], args].concat()).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn find<'a>(agents: &'a [Value], name: &str) -> &'a Value {
    agents.iter().find(|agent| agent["name"] == name).ok_or(format!("no {name}")).unwrap()
}

/// An agent of the person's, which leaves a mark when it is started.
fn own(project: &Project, word: &str) {
    let program = project.path("home/agent");
    let script = format!(
        "#!/bin/sh\ntouch {}\nexec {} serve --dialect codelia --stdio --ephemeral\n",
        project.path("home/started").display(),
        env!("CARGO_BIN_EXE_parlor")
    );
    std::fs::write(&program, script).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let settings = format!(
        "[agents.mine]\ncommand = [{:?}, {word:?}]\ndialect = \"codelia\"\n",
        program.display().to_string()
    );
    std::fs::write(project.path("config/config.toml"), settings).unwrap();
}

fn started(project: &Project) -> bool {
    std::fs::remove_file(project.path("home/started")).is_ok()
}

#[test]
fn agents_are_listed_with_what_is_installed_and_how_to_get_the_others() {
    let project = Project::new();
    own(&project, "one");
    let bin = project.path("home/bin");
    std::fs::create_dir(&bin).unwrap();
    for (name, mode) in [("goose", 0o755), ("opencode", 0o644)] {
        std::fs::write(bin.join(name), "#!/bin/sh\nexit 3\n").unwrap();
        std::fs::set_permissions(bin.join(name), std::fs::Permissions::from_mode(mode)).unwrap();
    }
    let mut command = project.bare(&["agents", "--json"]);
    let text = String::from_utf8(command.env("PATH", &bin).output().unwrap().stdout).unwrap();
    let agents: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let goose = find(&agents, "goose");
    assert_eq!((&goose["state"], &goose["dialect"]), (&json!("installed"), &json!("acp")));
    assert_eq!((&goose["command"], &goose["program"]), (&json!(["goose", "acp"]), &json!(bin.join("goose"))));
    let opencode = find(&agents, "opencode");
    assert_eq!(opencode["state"], "not installed", "a file that does not run is no program");
    assert!(opencode["install"].as_str().unwrap().contains("opencode"));
    assert_eq!(find(&agents, "mine")["source"], "from your settings");
    let plain = said(&project.bare(&["agents"]).env("PATH", &bin).output().unwrap());
    assert!(plain.contains("goose          installed      goose acp"), "{plain}");
    assert!(plain.contains("get it: npm install -g @agentclientprotocol/codex-acp"), "{plain}");
    assert!(!started(&project), "nothing is started");
}

#[test]
fn a_registry_that_the_person_names_is_read_and_nothing_of_it_is_fetched() {
    let project = Project::new();
    let entry = json!({"id": "new-agent", "name": "New Agent\u{1b}[2J", "version": "1.0.0", "description": "d",
        "distribution": {"npx": {"package": "@no/such-package@1.0.0", "args": ["--acp"], "env": {"A": "b"}}}});
    let registry = json!({"version": "1.0.0", "agents": [entry, {"id": "BAD"}]});
    std::fs::write(project.path("work/registry.json"), registry.to_string()).unwrap();
    let output = project.bare(&["agents", "--registry", "registry.json", "--json"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "something of it cannot be used");
    assert!(said(&output).contains("\"BAD\" is no id"), "{}", said(&output));
    let agents = listed(&project, &["--registry", "registry.json"]);
    let new = find(&agents, "new-agent");
    assert_eq!(new["command"], json!(["env", "A=b", "npx", "@no/such-package@1.0.0", "--acp"]));
    assert!(!new["title"].as_str().unwrap().contains('\u{1b}'), "{new}");
    assert!(find(&agents, "goose").is_object(), "the others are there as well");
    // Named in the settings, it is always read.
    let settings = format!("registries = [{:?}]\n", project.path("work/registry.json").display().to_string());
    std::fs::write(project.path("config/config.toml"), settings).unwrap();
    assert!(find(&listed(&project, &[]), "new-agent").is_object());
    let none = project.bare(&["agents", "--registry", "nowhere"]).output().unwrap();
    assert!(none.status.code() == Some(1) && said(&none).contains("nowhere is not there"), "{}", said(&none));
}

#[test]
fn a_listed_command_is_not_started_unasked_and_a_yes_is_for_that_command() {
    let project = Project::new();
    own(&project, "one");
    let attach = |args: &[&str]| {
        let mut command = project.bare(&[&["attach", "mine", "--prompt", "say howdy"], args].concat());
        let output = command.stdin(Stdio::null()).output().unwrap();
        (output.status.code(), said(&output))
    };
    let (code, words) = attach(&[]);
    assert_eq!(code, Some(4), "{words}");
    assert!(
        words.contains("home/agent one") && words.contains("--yes"),
        "the command is shown whole: {words}"
    );
    assert!(!started(&project));
    let (code, words) = attach(&["--yes"]);
    assert!(code == Some(0) && words.contains("howdy"), "{words}");
    assert!(started(&project));
    let (code, words) = attach(&[]);
    assert!(code == Some(0) && !words.contains("To be started"), "known by now: {words}");
    // From another folder it is the same program.
    let mut elsewhere = project.bare(&["attach", "mine", "--prompt", "say howdy"]);
    assert_eq!(elsewhere.current_dir(project.path("home")).output().unwrap().status.code(), Some(0));
    own(&project, "two");
    assert!(started(&project));
    let (code, words) = attach(&[]);
    assert_eq!(code, Some(4), "another command: {words}");
    assert!(!started(&project));
}

#[test]
fn a_yes_is_for_the_file_that_was_found() {
    let project = Project::new();
    own(&project, "one");
    for folder in ["first", "second"] {
        let folder = project.path("home").join(folder);
        std::fs::create_dir(&folder).unwrap();
        std::fs::copy(project.path("home/agent"), folder.join("my-agent")).unwrap();
    }
    let settings = "[agents.mine]\ncommand = [\"my-agent\", \"one\"]\ndialect = \"codelia\"\n";
    std::fs::write(project.path("config/config.toml"), settings).unwrap();
    let usual = std::env::var("PATH").unwrap();
    let attach = |folders: &[&str], args: &[&str]| {
        let home = project.path("home").display().to_string();
        let folders: Vec<String> = folders.iter().map(|folder| format!("{home}/{folder}")).collect();
        let path = format!("{}:{usual}", folders.join(":"));
        let mut command = project.bare(&[&["attach", "mine", "--prompt", "say howdy"], args].concat());
        command.env("PATH", path).stdin(Stdio::null()).output().unwrap().status.code()
    };
    assert_eq!(attach(&["first"], &["--yes"]), Some(0));
    assert_eq!(attach(&["first"], &[]), Some(0), "known by now");
    assert!(started(&project));
    assert_eq!(attach(&["second", "first"], &[]), Some(4), "another file of that name");
    assert!(!started(&project));
    // The same file by another way.
    std::os::unix::fs::symlink(project.path("home/first"), project.path("home/third")).unwrap();
    assert_eq!(attach(&["third"], &[]), Some(0));
}

#[test]
fn a_name_that_nobody_has_and_one_that_is_not_installed_say_what_to_do() {
    let project = Project::new();
    for (args, code, hint) in [
        (&["attach", "gose"][..], 2, "did you mean goose?"),
        (&["attach", "nobody-knows"], 2, "`parlor agents` lists"),
        (&["attach", "goose"], 1, "there is no `goose` on your PATH"),
        (&["attach", "goose", "--dialect", "codelia"], 2, "cannot be used with"),
        (&["attach", "--yes", "--", "true"], 2, "NAME"),
    ] {
        let output = project.bare(args).env("PATH", "/nowhere").stdin(Stdio::null()).output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{args:?}: {}", said(&output));
        assert!(said(&output).contains(hint), "{args:?}: {}", said(&output));
    }
}

#[test]
fn a_person_sees_the_command_and_says_yes_or_no() {
    let project = Project::new();
    own(&project, "one");
    for answer in ["\r", "n\r", "\u{3}"] {
        let mut terminal = Screen::start(&mut project.bare(&["attach", "mine"]));
        terminal.shows(&["To be started:", "home/agent one", "from your settings", "[y/N]"]);
        terminal.send(answer);
        assert_eq!(terminal.code(), Some(3), "{answer:?}");
        assert!(!started(&project));
    }
    let mut terminal = Screen::start(&mut project.bare(&["attach", "mine"]));
    terminal.shows(&["[y/N]"]);
    terminal.send("y\r");
    terminal.shows(&["on a runtime that speaks codelia"]);
    terminal.send("say howdy\r");
    terminal.shows(&["howdy"]);
    assert!(started(&project));
    terminal.settles();
    terminal.send("\u{4}");
    assert!(terminal.finish());
}

#[test]
fn the_terminal_ui_lists_agents_and_leaves_for_one() {
    let project = Project::new();
    own(&project, "one");
    let mut terminal = Screen::start(project.bare(&[]).env("PATH", "/nowhere"));
    terminal.shows(&["offline"]);
    terminal.send("/agents\r");
    terminal.shows(&["goose", "not installed", "mine", "installed"]);
    terminal.send("goose\r");
    terminal.shows(&["goose is not installed"]);
    terminal.send("/agents\r");
    terminal.shows(&["✓ mine"]);
    terminal.send("mine");
    terminal.shows(&["home/agent one"]);
    terminal.send("\r");
    terminal.shows(&["To be started:", "[y/N]"]);
    assert!(!started(&project));
    terminal.send("y\r");
    terminal.shows(&["on a runtime that speaks codelia"]);
    // The first key is not lost on the way.
    terminal.send("say howdy\r");
    terminal.shows(&["howdy"]);
    terminal.settles();
    terminal.send("\u{4}");
    assert!(terminal.finish());
}
