//! A project that wants to command the terminal, seen through every plain command: what it says on a terminal, and on a pipe.

use crate::ground::names_every_command;
use crate::hostile::bench::World;
use std::path::PathBuf;
use std::process::{Command, Output};
use std::sync::atomic::{AtomicUsize, Ordering};
use testkit::Screen;

/// Sets the clipboard, clears the screen, moves, hides, turns the reading round, and overwrites its line.
const EVIL: &str =
    "\u{1b}]52;c;RVZJTA==\u{7}\u{1b}[2J\u{9b}1;1H\u{1b}[8m\u{1b}[7m\u{202e}\u{2067}\u{e0041}over\rwritten";
/// The beginning of it, which stands in one piece wherever it is quoted.
const BEGINNING: &str = "\u{1b}]52;c;RVZJTA==\u{7}\u{1b}[2J\u{9b}1;1H";
/// The same in what many programs take for text: controls above ASCII, marks that turn the reading round.
const SLY: &str = "\u{9d}52;c;RVZJTA==\u{9c}\u{9b}2J\u{202e}\u{2067}\u{e0041}written";
/// The colours of our own reports.
const OURS: &[&str] = &["0", "1", "2", "4", "31", "32", "33", "36"];
/// How many commands are tried at the same time.
const AT_ONCE: usize = 4;

/// A folder whose own name is hostile, with a server, a skill, files, a script and a recording that are.
fn lair(world: &World) -> PathBuf {
    let lair = PathBuf::from(format!("lair{EVIL}"));
    world.folder(&lair);
    for below in [".git", ".parlor", ".parlor/skills", ".parlor/skills/evil", ".parlor/skills/sly"] {
        world.folder(lair.join(below));
    }
    let server = serde_json::json!({"command": format!("sh{EVIL}"), "args": [EVIL]});
    let servers = serde_json::json!({"mcpServers": {format!("evil{EVIL}"): server, "plain": server}});
    world.put(lair.join(".mcp.json"), servers.to_string());
    let hook = serde_json::json!({"type": "command", "command": format!("touch ran{EVIL}")});
    let group = serde_json::json!({"matcher": EVIL, "hooks": [hook]});
    let groups = serde_json::json!([group, {"hooks": [hook]}]);
    let hooks = serde_json::json!({"hooks": {"PreToolUse": groups, format!("Evil{EVIL}"): groups}});
    world.put(lair.join(".parlor/hooks.json"), hooks.to_string());
    let skill = format!("---\nname: evil\ndescription: does {EVIL}\n---\n{EVIL}\n");
    world.put(lair.join(".parlor/skills/evil/SKILL.md"), skill);
    // One without the controls that make a skill's head unreadable.
    let skill = format!("---\nname: sly\ndescription: does {SLY}\n---\n{EVIL}\n");
    world.put(lair.join(".parlor/skills/sly/SKILL.md"), skill);
    world.put(lair.join("evil.txt"), format!("text {EVIL} end\n"));
    world.put(lair.join(format!("file{EVIL}")), "x\n");
    world.put(lair.join("run.sh"), format!("printf '%s\\n' '{EVIL}'; printf '%s\\n' '{EVIL}' >&2\n"));
    let line = EVIL.replace('\r', "");
    world.put(
        lair.join("tape.txt"),
        format!("dialect codelia\ntitle {line}\n> {{\"a\":\"\u{9b}2J\"}}\n< {{\"b\":\"{line}\"}}\n"),
    );
    world.path(lair)
}

/// What was written to the terminal that could command it. Our own colours are none of that.
fn commands(bytes: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(bytes).replace("\r\n", "\n");
    let (mut found, mut rest) = (Vec::new(), text.as_str());
    while let Some(c) = rest.chars().next() {
        if let Some(after) = after_our_colour(rest) {
            rest = after;
            continue;
        }
        if c != '\n' && c != '\t' && domain::harmless::is_harmful(c) {
            found.push(rest.chars().take(12).collect::<String>().escape_debug().to_string());
        }
        rest = &rest[c.len_utf8()..];
    }
    found
}

fn after_our_colour(text: &str) -> Option<&str> {
    let (numbers, after) = text.strip_prefix("\u{1b}[")?.split_once('m')?;
    numbers.split(';').all(|number| OURS.contains(&number)).then_some(after)
}

/// What a command says on a terminal, which it must not command. Whoever reads what is typed hears the end of it at once.
#[track_caller]
fn quiet(mut command: Command) -> String {
    let shown = format!("{:?}", command.get_args().collect::<Vec<_>>());
    let mut terminal = Screen::start(&mut command);
    terminal.send("\u{4}");
    terminal.code();
    assert_eq!(commands(terminal.bytes()), Vec::<String>::new(), "{shown}");
    String::from_utf8_lossy(terminal.bytes()).into_owned()
}

/// Command lines that show what is in the lair, or what was typed.
const SHOWN: &[&[&str]] = &[
    &["run", "--json", "read evil.txt"],
    &["run", "list files"],
    &["--policy", "full", "run", "run `sh run.sh`"],
    &["run", EVIL],
    &["doctor"],
    &["mcp"],
    &["mcp", "list"],
    &["mcp", "add", EVIL, "--", EVIL],
    &["mcp", "remove", EVIL],
    &["mcp", "approve", EVIL],
    &["mcp", "test", EVIL],
    &["mcp", "log", EVIL],
    &["mcp", "forget", EVIL],
    &["mcp", "import"],
    &["mcp", "import", EVIL],
    &["hooks"],
    &["hooks", "list"],
    &["hooks", "approve", EVIL],
    &["hooks", "forget", EVIL],
    &["hooks", "forget"],
    &["skills"],
    &["rules"],
    &["rules", "--all", "--json"],
    &["rules", "revoke", "1"],
    &["rules", "narrow", "1", EVIL],
    &["prompt"],
    &["prompt", "--json"],
    &["models"],
    &["--plain"],
    &["devices", "revoke", EVIL],
    &["devices", "rename", EVIL, EVIL],
    &["web", "--no-open", "--tls", EVIL, EVIL],
    &["serve", "--dialect", "codelia", "--listen", EVIL],
    &["worktrees"],
    &["worktrees", "merge", EVIL],
    &["worktrees", "keep", EVIL],
    &["worktrees", "remove", EVIL, "--discard"],
    &["--worktree", EVIL, "run", "hi"],
    &["run", "--worktree=evil", "--copy", EVIL, "hi"],
    &["ps"],
    &["ps", "--json"],
    // Wrong usage: no server is left behind.
    &["up", EVIL],
    &["down"],
    &["relay", EVIL],
    &["attach", "ssh://\u{9b}2J\u{202e}"],
    &["sessions"],
    &["sessions", "list", "--all"],
    &["sessions", "show"],
    &["sessions", "show", "--json"],
    &["sessions", "show", EVIL],
    &["sessions", "tree"],
    &["sessions", "diff"],
    &["sessions", "diff", EVIL],
    &["sessions", "undo"],
    &["sessions", "redo"],
    &["sessions", "search", "say"],
    &["sessions", "search", EVIL],
    &["sessions", "export"],
    &["sessions", "export", "--format", "html"],
    &["sessions", "export", "--format", "jsonl"],
    &["sessions", "export", "--output", EVIL],
    &["sessions", "import", "evil.txt"],
    &["sessions", "import", EVIL],
    &["sessions", "rename", EVIL, EVIL],
    &["sessions", "move", EVIL],
    &["sessions", "move", "--to", EVIL],
    &["sessions", "rm", EVIL],
    &["sessions", "backup", EVIL],
    &["sessions", "backup", "no-such-folder/\u{9b}2J"],
    &["sessions", "recover", "no-such-file\u{9b}2J\u{202e}"],
    &["trace", "tape.txt"],
    &["trace", EVIL],
    &["replay", "tape.txt", "--at-once", "--patience", "1", "--all", "--", "sh", "run.sh"],
    &[
        "check",
        "--dialect",
        "codelia",
        "--role",
        "runtime",
        "--only",
        "hand",
        "--patience",
        "1",
        "--",
        "sh",
        "run.sh",
    ],
    &["check", "--dialect", "codelia", "--role", "runtime", "--only", EVIL, "--", EVIL],
    &["record", "--dialect", "codelia", "--out", "taken.txt", "--", "sh", "run.sh"],
    &["record", "--dialect", "codelia", "--out", EVIL, "--", EVIL],
    &["attach", "--dialect", "codelia", "--prompt", "x", "--", "sh", "run.sh"],
    &["attach", "--socket", EVIL],
    &["attach", EVIL],
    &["agents", "--registry", EVIL],
    &["agents", "--registry", "evil.txt"],
    &["login", EVIL],
    &["logout", EVIL],
    &["attach", "--session", EVIL],
    &["bridge", "--from", "codelia", "--to", "codelia", "--stdio", "--", "sh", "run.sh"],
    &["bridge", "--from", "codelia", "--to", "codelia", "--stdio", "--to-socket", EVIL],
    &["serve", "--dialect", "native", "--stdio", EVIL],
    &["serve", "--dialect", "lemon", "--stdio", "--base-url", EVIL],
    &["serve", "--dialect", "native", "--stdio", "--session", EVIL],
    &["schema", "--dialect", EVIL],
    &["completions", EVIL],
    &["man", EVIL],
    &["new", "agent", EVIL],
    &["tour", EVIL],
    &["tour", "--list"],
    &["acp", EVIL],
    &["--cwd", EVIL, "run", "hi"],
    &["--workspace", EVIL, "run", "hi"],
    &["--resume", EVIL, "run", "hi"],
    &["--model", EVIL, "run", "hi"],
];

#[test]
fn no_plain_command_lets_a_hostile_project_command_the_terminal() {
    let world = World::new(None);
    let lair = lair(&world);
    names_every_command(&world, SHOWN, &[&[], &["sessions"], &["mcp"]]);
    let parlor = |args: &[&str]| {
        let mut command = world.parlor(args);
        command.current_dir(&lair);
        command
    };
    // A title, words, a tool's result and a file's name that are hostile are kept first, so that there is something to show.
    let named = quiet(parlor(&["run", &format!("say {EVIL}")]));
    assert!(named.contains("written"), "what is text is shown: {named}");
    let shown = quiet(parlor(&["run", "read evil.txt"]));
    assert!(shown.contains("text ") && shown.contains("written end"), "what is text is shown: {shown}");
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                while let Some(args) = SHOWN.get(next.fetch_add(1, Ordering::Relaxed)) {
                    quiet(parlor(args));
                }
            });
        }
    });
    // The server that nobody agreed to yet, and then somebody did; the newest conversation by its id.
    for args in [&["test"][..], &["approve"], &["test"]] {
        quiet(parlor(&[&["mcp"], args, &["plain"]].concat()));
    }
    quiet(parlor(&["mcp"]));
    quiet(parlor(&["doctor"]));
    let list = parlor(&["sessions", "list", "--json"]).output().unwrap();
    let list: serde_json::Value = serde_json::from_slice(&list.stdout).unwrap();
    let id = list[0]["id"].as_str().unwrap();
    quiet(parlor(&["sessions", "rename", id, EVIL]));
    quiet(parlor(&["sessions", "rm", "--yes", id]));
}

#[test]
fn the_wire_and_the_live_sessions_of_a_hostile_folder_are_shown_harmlessly() {
    let world = World::new(None);
    let lair = lair(&world);
    let mut serving = world.parlor(&["serve", "--dialect", "asst", "--stdio", "--log-wire"]);
    let mut terminal = Screen::start(serving.current_dir(&lair));
    terminal.shows(&["ready"]);
    // A line that is no JSON is complained about; the wire itself, and the log of it, are on this terminal too.
    terminal.send("nonsense \u{9b}2J\n");
    terminal.send("{\"id\":\"m1\",\"kind\":\"user_message\",\"message\":\"read evil.txt\"}\n");
    terminal.shows(&["\"done\""]);
    let told = quiet(world.parlor(&["ps"]));
    assert!(told.contains("asst"), "{told}");
    // What the terminal itself echoes of our typing is not the program's.
    let said = terminal.bytes().split(|byte| *byte == b'\n').filter(|line| !line.starts_with(b"nonsense"));
    let said: Vec<&[u8]> = said.collect();
    assert_eq!(commands(&said.join(&b'\n')), Vec::<String>::new());
}

#[test]
fn what_was_typed_is_quoted_harmlessly() {
    let world = World::new(None);
    for args in [
        &[EVIL, "sessions"][..],
        &["run", "--allow", EVIL, "hi"],
        &["serve", "--dialect", EVIL],
        &["--policy", EVIL],
        &["sessions", EVIL],
    ] {
        let shown = quiet(world.parlor(args));
        assert!(shown.contains("written"), "it is named all the same: {shown}");
    }
    for args in [&["--help"][..], &["run", "--help"]] {
        let shown = quiet(world.parlor(args));
        assert!(shown.contains("\u{1b}["), "our own colours stay: {shown}");
    }
}

#[test]
fn pipes_get_the_bytes_as_they_are() {
    let world = World::new(None);
    let lair = lair(&world);
    let run = |args: &[&str]| -> Output { world.parlor(args).current_dir(&lair).output().unwrap() };
    #[track_caller]
    fn holds(bytes: &[u8], what: &str) {
        let text = String::from_utf8_lossy(bytes);
        assert!(text.contains(what), "{text:?}");
    }
    holds(&run(&["run", "read evil.txt"]).stdout, BEGINNING);
    holds(&run(&["skills"]).stdout, SLY);
    holds(&run(&["mcp"]).stderr, BEGINNING);
    holds(&run(&["doctor"]).stdout, BEGINNING);
    holds(&run(&["sessions", "export"]).stdout, BEGINNING);
    holds(
        &run(&["record", "--dialect", "codelia", "--out", "taken.txt", "--", "sh", "run.sh"]).stdout,
        BEGINNING,
    );
    holds(&run(&["--cwd", EVIL, "run", "hi"]).stderr, BEGINNING);
}
