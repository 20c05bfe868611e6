//! How often a person is asked in a day of usual work, by mode: once as they come, once more with the rules that were proposed.

use crate::room::Room;
use crate::sandbox::guarded_by_program;
use domain::session::Policy;
use serde_json::{Value, json};
use tools::policy::{Rule, Verdict, decide};
use tools::{Host, Plan};

const LINES: &str = include_str!("everyday.txt");

/// A project of all three kinds of people.
fn project() -> Room {
    let room = Room::new();
    for (name, text) in [
        ("Cargo.toml", "[package]\nname = \"x\"\n"),
        ("package.json", "{\"name\": \"x\", \"scripts\": {\"test\": \"node t.js\"}}"),
        ("README.md", "# x\n"),
        ("Makefile", "test:\n\ttrue\n"),
        ("script.py", "print(1)\n"),
        ("scripts/run.sh", "true\n"),
        ("src/main.rs", "fn main() {}\n"),
        ("src/a.rs", ""),
        ("src/b.rs", ""),
        ("tests/test_a.py", ""),
        (".gitignore", "target\nnode_modules\n.venv\n"),
        ("target/debug/x", ""),
        ("node_modules/y/index.js", ""),
    ] {
        room.put(name, text);
    }
    let git = |args: &[&str]| {
        let mut git = std::process::Command::new("git");
        let ran = git.arg("-C").arg(room.path("")).args(args).output().unwrap();
        assert!(ran.status.success(), "{args:?}: {}", String::from_utf8_lossy(&ran.stderr));
    };
    git(&["init", "-q"]);
    guarded_by_program(room.begun_again())
}

/// The commands, each followed by the host that it reaches by the session's proxy, where the session has a network of its own.
fn plans(room: &Room) -> Vec<Plan> {
    let lines: Vec<&str> = LINES.lines().filter(|line| !line.starts_with('#')).collect();
    assert_eq!(lines.len(), 62);
    let own = room.place.guard().unwrap().networks().is_ok();
    let plan = |args: Value| room.plan("bash", &args).unwrap();
    let one = |line: &&str| match line.strip_prefix("net").and_then(|rest| rest.split_once(": ")) {
        None => vec![plan(json!({"command": line}))],
        Some((_, line)) if !own => vec![plan(json!({"command": line, "network": true, "reason": "it must"}))],
        Some((host, line)) => {
            let host = Host::parse(host.trim(), Some(443)).ok();
            let reaching = host.map(|host| Plan::reaching(&host, &room.place));
            std::iter::once(plan(json!({"command": line}))).chain(reaching).collect()
        }
    };
    lines.iter().flat_map(one).collect()
}

/// What is asked in a mode; whoever is asked takes the rule that is proposed.
fn asked(mode: Policy, plans: &[Plan], rules: &mut Vec<Rule>) -> Vec<String> {
    let mut asked = Vec::new();
    for plan in plans {
        if decide(mode, plan, rules) == Verdict::Ask {
            let offer = plan.rule.as_ref().map_or("-".to_owned(), |offer| offer.words.clone());
            asked.push(format!("{} [{offer}]", plan.title));
            rules.extend(plan.rule.iter().flat_map(|offer| offer.rules.clone()));
        }
    }
    asked
}

#[test]
fn a_day_of_usual_work_asks_seldom() {
    let room = project();
    let plans = plans(&room);
    // In a network of its own a session needs no word for loopback, and asks for a host once.
    let own = room.place.guard().unwrap().networks().is_ok();
    let bars = match own {
        true => [(Policy::Ask, 25, 3), (Policy::Sandboxed, 5, 0)],
        false => [(Policy::Ask, 25, 5), (Policy::Sandboxed, 12, 3)],
    };
    for (mode, first, second) in bars {
        // Without a leash that holds, `sandboxed` asks like `ask`.
        let first = if room.place.confined() { first } else { 25 };
        let mut rules = Vec::new();
        for most in [first, second] {
            let asked = asked(mode, &plans, &mut rules);
            println!("{mode}: {} of {most}:\n  {}", asked.len(), asked.join("\n  "));
            assert!(asked.len() <= most, "{mode}: {} questions, not {most}", asked.len());
        }
    }
}
