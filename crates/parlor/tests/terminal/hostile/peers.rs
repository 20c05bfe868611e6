//! A command that wants to be the UI and answer for the person: by itself, through a child that dies, through an heir, from far below.

use crate::hostile::bench::{World, alive, as_each_user, wait_until};
use serde_json::json;
use testkit::Screen;

/// How often the trick with the dying child is tried.
const TRIES: usize = 60;

#[test]
fn a_command_is_not_let_in_also_when_whoever_connected_is_gone() {
    as_each_user(|world| {
        let attack = world.attack();
        let serving = world.serve(&["--policy", "full"]);
        let mut ui = world.ui(&serving.socket);
        for socket in [serving.socket.clone(), serving.native_socket(world)] {
            let socket = socket.display();
            for free in [false, true] {
                let args = json!({"command": format!("{attack} enter {socket}"), "unsandboxed": free, "reason": "to see what stops it"});
                let text = ui.call("bash", &args, true).text;
                assert!(text.contains("never answers for a person"), "{text}");
                // They connect and die while Parlor sleeps: when it wakes, nobody who connected is there.
                let line = format!(
                    "rm -f died; echo > waiting; until test -e go; do :; done; {attack} enter-and-die {socket} {TRIES}"
                );
                ui.begin(
                    "bash",
                    &json!({"command": line, "unsandboxed": free, "reason": "to see what stops it"}),
                );
                if free {
                    ui.allow();
                }
                wait_until("it waits", || world.path("project/waiting").exists());
                serving.pause(true);
                world.put("project/go", "");
                wait_until("they died", || world.path("project/died").exists());
                serving.pause(false);
                let text = ui.end(true).text;
                assert!(text.contains(&format!("let in 0 of {TRIES}")) && text.contains("is gone"), "{text}");
                for file in ["waiting", "go"] {
                    std::fs::remove_file(world.path("project").join(file)).unwrap();
                }
            }
        }
    });
}

#[test]
fn an_heir_of_a_killed_guard_is_ended_and_never_let_in() {
    as_each_user(|world| {
        let attack = world.attack();
        let serving = world.serve(&["--policy", "full"]);
        let mut ui = world.ui(&serving.socket);
        // Free of the sandbox it can kill its guard on every kernel. The heir tries to enter until it is ended.
        let heir = format!(
            "echo $$ > heir; while :; do {attack} enter {} >> entered; done",
            serving.socket.display()
        );
        world.put("project/heir.sh", &heir);
        let line = "setsid --fork sh heir.sh; until test -s entered; do :; done; kill -9 $PPID; sleep 1000";
        ui.call(
            "bash",
            &json!({"command": line, "unsandboxed": true, "reason": "to see what stops it"}),
            true,
        );
        let pid: i32 = world.get("project/heir").trim().parse().unwrap();
        wait_until("the heir is gone", || !alive(pid));
        let entered = world.get("project/entered");
        assert!(entered.contains("stopped: ") && !entered.contains("let in"), "{entered}");
        // Nor is anything left of it that nobody reaps.
        let parlor = serving.child.id();
        wait_until("all heirs are reaped", || children(parlor).is_empty());
    });
}

/// The children of a process, dead or alive.
fn children(pid: u32) -> Vec<String> {
    let threads = std::fs::read_dir(format!("/proc/{pid}/task")).unwrap().flatten();
    let lists =
        threads.map(|thread| std::fs::read_to_string(thread.path().join("children")).unwrap_or_default());
    lists.flat_map(|list| list.split_whitespace().map(str::to_owned).collect::<Vec<_>>()).collect()
}

#[test]
fn what_a_person_left_behind_is_reaped_and_not_ended() {
    as_each_user(|world| {
        let mut terminal = terminal(world, &[]);
        terminal.send("!setsid --fork sh -c 'echo $$ > mine; until test -e end; do sleep 0.01; done'\r");
        wait_until("it runs", || !world.get("project/mine").is_empty());
        let pid: i32 = world.get("project/mine").trim().parse().unwrap();
        // What the person ran goes along with the next prompt, and would hide what the one after it asks for.
        terminal.shows(&["it worked"]);
        terminal.send("hello\r");
        terminal.shows(&["I am the offline model"]);
        // The death of a command's guard makes us look after heirs.
        terminal.send("call bash {\"command\": \"echo one\"}\r");
        terminal.shows(&["echo one printed"]);
        assert!(alive(pid));
        world.put("project/end", "");
        wait_until("it is reaped", || !std::path::Path::new(&format!("/proc/{pid}")).exists());
    });
}

#[test]
fn a_process_below_too_many_others_is_not_let_in() {
    as_each_user(|world| {
        let attack = world.attack();
        world.put(
            "project/deep.sh",
            "if test $1 -gt 0; then sh deep.sh $(($1 - 1)); else $ATTACK; fi; exit $?",
        );
        let serving = world.serve(&["--policy", "full"]);
        let enter = format!("{attack} enter {}", serving.socket.display());
        let outside =
            |depth: &str| world.outside("env", &[&format!("ATTACK={enter}"), "sh", "deep.sh", depth]);
        assert_eq!(outside("20"), "let in\n");
        let text = outside("300");
        assert!(text.contains("more than 256 processes"), "{text}");
        let mut ui = world.ui(&serving.socket);
        let text = ui.bash(&format!("ATTACK='{enter}' sh deep.sh 300"), true).text;
        assert!(text.contains("stopped: "), "{text}");
    });
}

#[test]
fn a_process_that_carries_the_mark_of_a_command_is_not_let_in() {
    as_each_user(|world| {
        let attack = world.attack();
        let serving = world.serve(&[]);
        let socket = serving.socket.display().to_string();
        assert_eq!(world.outside(&attack, &["enter", &socket]), "let in\n");
        let text = world.outside(&attack, &["lower-and-enter", &socket]);
        assert!(text.contains("is lower than Parlor's"), "{text}");
    });
}

fn terminal(world: &World, args: &[&str]) -> Screen {
    let on_terminal = world.attack();
    let parlor = world.parlor(args);
    let mut command = world.program(on_terminal);
    command.arg("on-terminal").arg(parlor.get_program()).args(parlor.get_args());
    let mut terminal = Screen::start(&mut command);
    terminal.shows(&["offline"]);
    terminal
}

#[test]
fn the_sockets_of_the_terminal_let_in_neither_a_command_nor_what_was_started_inside() {
    as_each_user(|world| {
        let mut terminal = terminal(world, &["--policy", "full"]);
        let native_socket = || {
            let entries = std::fs::read_dir(world.path("data/run")).into_iter().flatten().flatten();
            let mut paths = entries.map(|entry| entry.path());
            paths.find(|path| path.extension().is_some_and(|kind| kind == "sock"))
        };
        wait_until("it can be found", || native_socket().is_some());
        let native_socket = native_socket().unwrap().display().to_string();
        assert_eq!(world.outside("./attack", &["enter", &native_socket]), "let in\n");
        let line = format!("./attack enter-and-die {native_socket} {TRIES}");
        terminal.send(&format!("call bash {{\"command\": \"{line}\"}}\r"));
        terminal.shows(&[&format!("let in 0 of {TRIES}")]);
        terminal.send(&format!("!./attack enter {native_socket} > below\r"));
        wait_until("it was told", || world.get("project/below").contains("\n"));
        let text = world.get("project/below");
        assert!(text.contains("started from inside of Parlor"), "{text}");
    });
}

#[test]
fn parlor_inside_of_a_command_of_parlor_can_be_spoken_to_from_there() {
    as_each_user(|world| {
        let serving = world.serve(&["--policy", "full"]);
        let mut ui = world.ui(&serving.socket);
        // In the project: commands do not see what else lies in /tmp, and the checkout may.
        let parlor = world.path("project/inside");
        std::fs::copy(world.parlor(&[]).get_program(), &parlor).unwrap();
        let parlor = parlor.display();
        world.put(
            "project/nested.sh",
            format!(
                "export PARLOR_DATA_DIR=$PWD/inner\n\
                 {parlor} --model offline serve --dialect native --socket $PWD/s & \n\
                 until test -S s; do :; done\n\
                 {parlor} attach --socket $PWD/s --prompt 'say nested'\n\
                 {parlor} attach --socket {} --prompt 'say outer'",
                serving.socket.display()
            ),
        );
        let text = ui.bash("sh nested.sh 2>&1", true).text;
        assert!(text.contains("nested\n"), "{text}");
        assert!(text.contains("came from a command that an agent runs"), "the outer one: {text}");
    });
}

#[test]
fn a_command_that_listens_in_the_place_of_parlor_is_not_believed() {
    as_each_user(|world| {
        let attack = world.attack();
        for (how, free, why) in [
            ("listen-instead", false, "started by an agent's command"),
            ("listen-instead", true, "started by an agent's command"),
            ("listen-instead-and-die", false, "is gone"),
        ] {
            let serving = world.serve_at(&["--policy", "full"], world.path("project/s"));
            let mut ui = world.ui(&serving.socket);
            let line = format!("{attack} {how} s; until test -e end; do sleep 0.01; done");
            let args = json!({"command": line, "background": true, "unsandboxed": free, "reason": "to see what stops it"});
            ui.call("bash", &args, true);
            wait_until("it listens", || world.path("project/listening").exists());
            let socket = serving.socket.display().to_string();
            for words in [
                vec!["attach", "--socket", &socket, "--prompt", "say my-thoughts"],
                vec!["bridge", "--from", "codelia", "--stdio", "--to", "native", "--to-socket", &socket],
                vec!["check", "--dialect", "native", "--role", "runtime", "--socket", &socket],
            ] {
                let output = world.parlor(&words).output().unwrap();
                let said = [output.stdout, output.stderr].concat();
                let said = String::from_utf8_lossy(&said);
                assert!(!output.status.success() && said.contains(why), "{how} {free} {words:?}: {said}");
                assert!(said.contains("folder that no command may write in"), "what to do: {said}");
            }
            assert_eq!(world.get("project/heard"), "", "nothing is said to it");
            // Parlor itself listens where its socket is now.
            let moved = format!("{socket}.moved");
            let output =
                world.parlor(&["attach", "--socket", &moved, "--prompt", "say hello"]).output().unwrap();
            assert!(String::from_utf8_lossy(&output.stdout).contains("hello"), "{output:?}");
            drop((ui, serving));
            for file in ["s", "s.moved", "listening", "heard"] {
                let _ = std::fs::remove_file(world.path("project").join(file));
            }
        }
    });
}

#[test]
fn a_command_in_the_place_of_the_process_that_has_a_session_is_not_visited() {
    as_each_user(|world| {
        let attack = world.attack();
        let serving = world.serve(&["--policy", "full"]);
        let mut ui = world.ui(&serving.socket);
        let begun = ui.settled(json!({"new_session": {}}));
        let session = begun["receipt"]["session"]["session"]["id"].as_str().unwrap().to_owned();
        ui.bash("true", true);
        let native = serving.native_socket(world).display().to_string();
        let joins = || {
            let mut command =
                world.parlor(&["serve", "--dialect", "lemon", "--stdio", "--session", &session]);
            let output = command.stdin(std::process::Stdio::null()).output().unwrap();
            String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned()
        };
        let said = joins();
        assert!(said.contains("\"type\":\"ready\""), "where Parlor itself is there: {said}");
        let line = format!("{attack} listen-instead {native}; until test -e end; do sleep 0.01; done");
        let args = json!({"command": line, "background": true, "unsandboxed": true, "reason": "to see what stops it"});
        ui.call("bash", &args, true);
        wait_until("it listens", || world.path("project/listening").exists());
        let said = joins();
        assert!(said.contains("is open in another program"), "{said}");
        assert_eq!(world.get("project/heard"), "", "nothing is said to it");
    });
}

#[test]
fn a_socket_where_commands_may_write_is_complained_about() {
    as_each_user(|world| {
        let temp = world.temp();
        let places = [
            (world.path("project/new/s"), Some("(the workspace)")),
            (temp.path().join("s"), Some("(temp or also_writable)")),
            (world.path("run/s"), None),
        ];
        for (socket, which) in places {
            let mut serving = world.serve_at(&[], socket.clone());
            wait_until("it can be talked to", || socket.exists());
            drop(world.ui(&socket));
            let _ = serving.child.kill();
            let mut said = String::new();
            std::io::Read::read_to_string(&mut serving.child.stderr.take().unwrap(), &mut said).unwrap();
            match which {
                Some(which) => assert!(said.contains(which) && said.contains("mode 0700"), "{said}"),
                None => assert!(!said.contains("warning"), "{said}"),
            }
        }
    });
}
