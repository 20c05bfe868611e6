//! What a project, a setting or a command line makes Parlor start, each from a terminal: none of it gets that terminal, or leaves
//! anything behind, or reaches into the process that watches over it.

use crate::hostile::bench::{World, alive, as_each_user, wait_until};
use serde_json::json;
use testkit::Screen;

/// Tells of the process that runs it: its session, whether it has a terminal, and something that tries to outlive it.
const PROBE: &str = "\
setsid --fork sh -c 'echo $$ > '$1'.left; exec sleep 1000' < /dev/null > /dev/null 2>&1
until test -s $1.left; do :; done
read -r stat < /proc/self/stat
if (: > /dev/tty) 2> /dev/null; then tty=some; else tty=none; fi
echo \"${stat##*) } $tty $LD_PRELOAD\" > $1.new
mv $1.new $1 2> /dev/null
echo '{}'
";

/// What a probe told.
struct ProbeReport {
    session: i32,
    terminal: String,
    left: i32,
    preload: String,
}

fn told(world: &World, name: &str) -> ProbeReport {
    let file = format!("project/{name}");
    wait_until(&format!("{name} was started"), || world.path(&file).exists());
    let text = world.get(&file);
    let words: Vec<&str> = text.trim().split(' ').collect();
    // The last two words come after what /proc tells: state, parent, group, session, terminal.
    let number = |at: usize| words[at].parse::<i32>().unwrap();
    let terminal = words.iter().rev().find(|word| ["some", "none"].contains(word)).unwrap();
    assert_eq!(number(4), 0, "{name} has a controlling terminal: {text}");
    ProbeReport {
        session: number(3),
        terminal: (*terminal).to_owned(),
        left: world.get(&format!("{file}.left")).trim().parse().unwrap(),
        preload: text.trim().rsplit_once(' ').map(|(_, last)| last.to_owned()).unwrap(),
    }
}

fn probe(world: &World, name: &str) -> [String; 3] {
    world.put("project/probe.sh", PROBE);
    [
        "sh".to_owned(),
        world.path("project/probe.sh").display().to_string(),
        world.path("project").join(name).display().to_string(),
    ]
}

#[test]
fn programs_on_the_command_line_get_no_terminal_and_leave_nothing_behind() {
    as_each_user(|world| {
        let attack = world.attack();
        let ways: [(&str, &[&str]); 6] = [
            ("attach", &["attach", "--dialect", "native", "--prompt", "x", "--"]),
            ("screen", &["attach", "--dialect", "codelia", "--"]),
            ("bridge", &["bridge", "--from", "codelia", "--to", "native", "--stdio", "--"]),
            ("record", &["record", "--dialect", "codelia", "--out", "talk.txt", "--"]),
            ("check", &["check", "--dialect", "codelia", "--role", "runtime", "--at-once", "1", "--"]),
            ("agent", &["check", "agent", "--only", "exact-edit", "--"]),
        ];
        for (name, args) in ways {
            let parlor = world.parlor(args);
            let mut command = world.program(&attack);
            command
                .arg("on-terminal")
                .arg(parlor.get_program())
                .args(parlor.get_args())
                .args(probe(world, name))
                // Who is killed leaves its folder behind.
                .env("TMPDIR", world.path("project"));
            let terminal = Screen::start(&mut command);
            let told = told(world, name);
            assert_eq!(told.terminal, "none", "{name}");
            drop(terminal);
            wait_until(&format!("nothing of {name} is left"), || !alive(told.left));
        }
    });
}

#[test]
fn servers_and_extensions_get_no_terminal_and_leave_nothing_behind() {
    as_each_user(|world| {
        let server = probe(world, "server");
        let book = json!({"mcpServers": {"probe": {
            "command": server[0], "args": &server[1..], "env": {"LD_PRELOAD": "/no/such/evil.so"},
        }}});
        world.put("config/mcp.json", book.to_string());
        let command = toml(&probe(world, "extension"));
        world.put("config/config.toml", format!("[extensions.probe]\ncommand = {command}\n"));
        let serving = world.serve(&[]);
        let mut ui = world.ui(&serving.socket);
        ui.command(json!({"extension": {"name": "probe", "payload": {}}}));
        let attack = world.attack();
        // It tells what it saw by files of the project.
        assert!(world.parlor(&["mcp", "approve", "probe", "--write"]).output().unwrap().status.success());
        let parlor = world.parlor(&["mcp", "test", "probe"]);
        let mut command = world.program(attack);
        command.arg("on-terminal").arg(parlor.get_program()).args(parlor.get_args());
        let mut terminal = Screen::start(&mut command);
        terminal.finish();
        for name in ["server", "extension"] {
            let told = told(world, name);
            assert!(told.terminal == "none" && told.session > 1, "{name}");
            wait_until(&format!("nothing of {name} is left"), || !alive(told.left));
        }
        // The server obeys its entry, and nobody else does: not what watches over it, outside of all limits.
        assert_eq!(told(world, "server").preload, "/no/such/evil.so");
        assert_eq!(terminal.count("cannot be preloaded"), 1);
    });
}

fn toml(words: &[String]) -> String {
    serde_json::to_string(words).unwrap()
}

#[test]
fn a_program_that_is_not_there_is_named() {
    as_each_user(|world| {
        for args in
            [&["attach", "--dialect", "native", "--prompt", "x"][..], &["record", "--dialect", "native"]]
        {
            let output = world.parlor(args).args(["--", "no-such-program"]).output().unwrap();
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(said.contains("no-such-program") && output.status.code() == Some(1), "{said}");
        }
    });
}
