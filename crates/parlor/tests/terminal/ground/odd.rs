//! Bytes that are no text, in the environment, in folders, in homes and in what is typed; flags that nobody knows; lines without end.

use crate::ground::names_every_command;
use crate::hostile::bench::{World, as_each_user};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use testkit::Screen;

/// Every command, as it can be called without waiting for anybody.
pub(crate) const EVERY: &[&[&str]] = &[
    &["run", "list files"],
    &["run", "--json", "list files"],
    &["doctor"],
    &["models"],
    &["devices"],
    &["devices", "list", "--json"],
    &["worktrees"],
    &["worktrees", "list", "--json"],
    &["agents"],
    &["agents", "--json"],
    &["logout"],
    &["mcp"],
    &["hooks"],
    &["skills"],
    &["rules", "--all"],
    &["prompt"],
    &["ps"],
    &["down"],
    &["sessions"],
    &["sessions", "show"],
    &["sessions", "tree"],
    &["sessions", "search", "list"],
    &["sessions", "export"],
    &["schema", "--dialect", "codelia"],
    &["schema", "--typescript"],
    &["completions", "bash"],
    &["man"],
    &["new", "agent", "mine"],
    &["tour", "--list"],
    &["serve", "--dialect", "native", "--stdio"],
    &["serve", "--dialect", "asst", "--stdio"],
    &["bridge", "--from", "codelia", "--to", "native", "--report"],
    &["check", "--dialect", "codelia", "--role", "runtime", "--list"],
    &["--help"],
    &["--version"],
    &[],
];

/// Those that need a program or a recording that is not there.
const UNSERVED: &[&[&str]] = &[
    // Stands first or not at all.
    &["acp"],
    &["login"],
    &["login", "openai"],
    &["attach", "goose"],
    &["up", "--room-idle", "0"],
    &["relay", "sess-nothing"],
    &["web", "--bind", "0.0.0.0"],
    &["attach", "--dialect", "codelia", "--prompt", "hi", "--", "true"],
    &["bridge", "--from", "codelia", "--stdio", "--to", "codelia", "--", "true"],
    &["record", "--dialect", "codelia", "--out", "tape", "--", "true"],
    &["trace", "no-such-file"],
    &["replay", "no-such-file", "--", "true"],
];

fn odd(name: &[u8]) -> &Path {
    Path::new(OsStr::from_bytes(name))
}

#[test]
fn no_command_falls_over_bytes_that_are_not_utf8() {
    as_each_user(|world| {
        names_every_command(world, &[EVERY, UNSERVED].concat(), &[&[]]);
        world.folder(odd(b"caf\xe9"));
        world.folder(odd(b"h\xf6me"));
        world.put(odd(b"caf\xe9/a.txt"), "alpha\n");
        world.put(odd(b"caf\xe9/b\xff"), "beta\n");
        let (folder, home) = (world.path(odd(b"caf\xe9")), world.path(odd(b"h\xf6me")));
        for args in EVERY.iter().chain(UNSERVED) {
            let mut command = world.parlor(args);
            command.current_dir(&folder).env("HOME", &home).env("PWD", &folder);
            command.env("FOO", odd(b"caf\xe9")).env(odd(b"B\xe9R"), "x").env("EDITOR", odd(b"v\xef"));
            command.env("TERM", odd(b"xt\xe9rm")).env("NO_COLOR", odd(b"\xff"));
            command.env("OPENAI_API_KEY", odd(b"k\xff")).env("PARLOR_SAVE_DIRS", &folder);
            for place in ["XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR"] {
                command.env(place, &home);
            }
            command.env_remove("PARLOR_DATA_DIR").env_remove("PARLOR_CONFIG_DIR");
            let output = command.output().unwrap();
            let (stdout, stderr) =
                (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
            assert!(output.status.code() != Some(101) && !stderr.contains("panicked"), "{args:?}: {stderr}");
            if !UNSERVED.contains(args) {
                assert!(output.status.success(), "{args:?}: {output:?}");
            }
            if args.first() == Some(&"run") {
                assert!(stdout.contains("a.txt") && stdout.contains("caf%E9/b%FF"), "{args:?}: {stdout}");
            }
        }
        assert!(home.join("parlor").is_dir(), "what is kept is kept in that home, by its own bytes");
        // What a child hears of the environment is what we heard.
        let mut command =
            world.parlor(&["--policy", "full", "run", "run `printf %s \"$COLORTERM\" > heard`"]);
        command.env("COLORTERM", odd(b"caf\xe9")).output().unwrap();
        assert_eq!(fs::read(world.path("project/heard")).unwrap(), b"caf\xe9");
        // As arguments too: a folder, a workspace, a program and its words.
        let mut command = world.parlor(&["--workspace"]);
        command.arg(&folder).arg("--cwd").arg(&folder).args(["run", "read a.txt"]);
        let output = command.output().unwrap();
        assert!(String::from_utf8_lossy(&output.stdout).contains("alpha"), "{output:?}");
        let program = odd(b"caf\xe9/prog\xff");
        world.put(program, "#!/bin/sh\nprintf '%s' \"$1\" > \"$2\"\n");
        fs::set_permissions(world.path(program), fs::Permissions::from_mode(0o755)).unwrap();
        let mut command = world.parlor(&["attach", "--dialect", "codelia", "--prompt", "hi", "--"]);
        command.arg(world.path(program)).arg(odd(b"w\xf8rd")).arg(folder.join("got"));
        assert_eq!(command.output().unwrap().status.code(), Some(1));
        assert_eq!(fs::read(folder.join("got")).unwrap(), b"w\xf8rd");
        // A word that has to be text is wrong usage, not a panic.
        for args in [&["run"][..], &["--model"], &["--policy"], &["mcp", "add"], &["sessions", "show"]] {
            let output = world.parlor(args).arg(odd(b"\xff")).output().unwrap();
            assert_eq!(output.status.code(), Some(2), "{args:?}: {output:?}");
        }
    });
}

#[test]
fn a_session_in_a_folder_that_is_not_utf8_is_found_again() {
    as_each_user(|world| {
        world.folder(odd(b"caf\xe9"));
        world.put(odd(b"caf\xe9/a.txt"), "alpha\n");
        let at = |args: &[&str]| {
            let output = world.parlor(args).current_dir(world.path(odd(b"caf\xe9"))).output().unwrap();
            assert!(output.status.success(), "{args:?}: {output:?}");
            String::from_utf8(output.stdout).unwrap()
        };
        at(&["run", "say hello"]);
        let list: serde_json::Value = serde_json::from_str(&at(&["sessions", "list", "--json"])).unwrap();
        assert!(list[0]["cwd"].as_str().unwrap().ends_with("/caf%E9"), "{list}");
        assert!(at(&["--continue", "run", "read a.txt"]).contains("alpha"), "tools work in the folder again");
        let shown = at(&["sessions", "show"]);
        assert!(shown.contains("say hello") && shown.contains("read a.txt"), "one conversation: {shown}");
        // A folder whose name is what the other's is when its bytes are guessed is another folder.
        world.folder("caf\u{fffd}");
        for other in ["project", "caf\u{fffd}"] {
            let other = world
                .parlor(&["sessions", "list", "--json"])
                .current_dir(world.path(other))
                .output()
                .unwrap();
            assert_eq!(String::from_utf8(other.stdout).unwrap().trim(), "[]", "it belongs to its folder");
        }
    });
}

#[test]
fn a_misspelt_flag_serves_nobody() {
    let world = World::new(None);
    let socket = world.path("run/served.sock");
    for (args, told) in [
        (&["--polcy", "read-only"][..], "--policy"),
        (&["--rol", "observer"], "--role"),
        (&["--rol=observer"], "--role"),
        (&["--standng", "observer"], "is not known"),
        (&["stray"], "is not known"),
    ] {
        for socketed in [false, true] {
            let mut command = world.parlor(&["serve", "--dialect", "native"]);
            match socketed {
                false => command.arg("--stdio"),
                true => command.arg("--socket").arg(&socket),
            };
            let output = command.args(args).output().unwrap();
            let stderr = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(2), "{args:?}: {output:?}");
            assert!(output.stdout.is_empty() && stderr.contains(told), "{args:?}: {output:?}");
            assert!(!socket.exists(), "{args:?}");
        }
    }
}

#[test]
fn two_hundred_thousand_empty_lines_are_a_few_lines_on_stderr() {
    let world = World::new(None);
    world.put("project/empty", "\n".repeat(200_000));
    let mut command = world.parlor(&["serve", "--dialect", "asst", "--stdio"]);
    command.stdin(fs::File::open(world.path("project/empty")).unwrap());
    let output = command.output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && stderr.len() < 4_096, "{} bytes\n{stderr}", stderr.len());
    assert!(stderr.contains("(100000 times by now)"), "{stderr}");
    assert!(stderr.ends_with("(100000 lines were left out)\n"), "{stderr}");
}

/// Variables that stand for a flag, with what they may be said to be.
const FLAGS: &[(&str, &str)] = &[
    ("PARLOR_MODEL", "PROVIDER/NAME"),
    ("PARLOR_THEME", "contrast"),
    ("PARLOR_FETCH", "on or off"),
    ("PARLOR_INLINE", "on or off"),
    ("PARLOR_PLAIN", "on or off"),
    ("PARLOR_EPHEMERAL", "on or off"),
];

fn both(output: &std::process::Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stderr), String::from_utf8_lossy(&output.stdout))
}

#[test]
fn a_variable_that_says_nothing_is_told_and_stops_no_command_that_does_not_need_it() {
    let world = World::new(None);
    assert!(world.parlor(&["run", "say hello"]).output().unwrap().status.success());
    for value in [&b"caf\xe9"[..], b"perhaps"] {
        // What names no model is known only to whoever looks for it.
        for (name, may_be) in FLAGS.iter().filter(|(name, _)| *name != "PARLOR_MODEL" || value != b"perhaps")
        {
            for args in EVERY {
                // What one of them makes stays, and is not made a second time.
                let _ = fs::remove_dir_all(world.path("project/mine"));
                let output = world.parlor(args).env(name, odd(value)).output().unwrap();
                let said = both(&output);
                let code = if args.first() == Some(&"doctor") { 1 } else { 0 };
                assert_eq!(output.status.code(), Some(code), "{name}, {args:?}: {said}");
                if !matches!(args.first(), Some(&"--help" | &"--version")) {
                    assert!(said.contains(name) && said.contains(may_be), "{name}, {args:?}: {said}");
                }
            }
            let mut terminal = Screen::start(world.parlor(&[]).env(name, odd(value)));
            terminal.shows(&[name]);
        }
    }
}

#[test]
fn a_model_that_cannot_be_read_is_not_replaced_by_another() {
    let world = World::new(None);
    let without = |args: &[&str]| {
        let program = world.parlor(&[]).get_program().to_owned();
        let mut command = world.program(program);
        command.args(args).env("PARLOR_MODEL", odd(b"local/\xff"));
        command.output().unwrap()
    };
    for args in [&["run", "say hello"][..], &["serve", "--dialect", "native", "--stdio"]] {
        let output = without(args);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {}", both(&output));
        assert!(
            both(&output).contains("PARLOR_MODEL") && both(&output).contains("--model"),
            "{}",
            both(&output)
        );
    }
    for args in [&["sessions"][..], &["models"], &["skills"], &["mcp"], &["ps"]] {
        let output = without(args);
        assert!(
            output.status.success() && both(&output).contains("PARLOR_MODEL"),
            "{args:?}: {}",
            both(&output)
        );
    }
    assert_eq!(without(&["doctor"]).status.code(), Some(1), "which tells it, and goes to its end");
    assert!(both(&without(&["doctor"])).contains("dialects"));
}

#[test]
fn nothing_is_kept_with_an_ephemeral_that_nobody_understands() {
    for (value, kept) in
        [(&b"ja"[..], false), (b"\xff", false), (b"1", false), (b"ON", false), (b"0", true), (b"", true)]
    {
        let world = World::new(None);
        let output =
            world.parlor(&["run", "say hello"]).env("PARLOR_EPHEMERAL", odd(value)).output().unwrap();
        assert!(output.status.success(), "{value:?}: {}", both(&output));
        let list = world.parlor(&["sessions", "list", "--json"]).output().unwrap();
        assert_eq!(list.stdout != b"[]\n", kept, "{value:?}: {}", both(&list));
    }
}

#[test]
fn a_workspace_that_cannot_be_one_stops_only_what_works_in_it() {
    let world = World::new(None);
    world.parlor(&["run", "say hello"]).output().unwrap();
    let with =
        |args: &[&str]| world.parlor(args).env("PARLOR_WORKSPACE", "/no/such/folder").output().unwrap();
    for args in [&["sessions", "list", "--all"][..], &["skills"], &["mcp"]] {
        let output = with(args);
        assert!(
            output.status.success() && both(&output).contains("PARLOR_WORKSPACE"),
            "{args:?}: {}",
            both(&output)
        );
    }
    let doctor = with(&["doctor"]);
    assert_eq!(doctor.status.code(), Some(1), "{}", both(&doctor));
    assert!(both(&doctor).contains("PARLOR_WORKSPACE cannot be used") && both(&doctor).contains("dialects"));
    let run = with(&["run", "say hello"]);
    assert_eq!(run.status.code(), Some(2), "{}", both(&run));
    assert!(both(&run).contains("PARLOR_WORKSPACE cannot be used"), "{}", both(&run));
}

#[test]
fn a_tool_of_a_server_that_is_not_there_cannot_be_allowed() {
    let world = World::new(None);
    let run = |tool: &str| world.parlor(&["run", "--allow", tool, "say hello"]).output().unwrap();
    let output = run("mcp__typo__x");
    assert_eq!(output.status.code(), Some(2), "{}", both(&output));
    assert!(
        both(&output).contains("mcp__typo__x") && both(&output).contains("parlor mcp add"),
        "{}",
        both(&output)
    );
    world.put("project/.mcp.json", r#"{"mcpServers": {"files": {"command": "true"}}}"#);
    let output = run("mcp__flies__read");
    assert_eq!(output.status.code(), Some(2), "{}", both(&output));
    assert!(both(&output).contains("servers here are files"), "{}", both(&output));
    assert_ne!(run("mcp__files__read").status.code(), Some(2), "it is there, and waits to be approved");
}
