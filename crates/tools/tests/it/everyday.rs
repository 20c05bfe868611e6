//! How often a person is asked in a day of usual work, by mode: once as they come, once more with the rules that were proposed.

use crate::room::Room;
use crate::sandbox::guarded_by_program;
use domain::session::Policy;
use serde_json::json;
use tools::Plan;
use tools::policy::{Rule, Verdict, decide};

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

fn plans(room: &Room) -> Vec<Plan> {
    let lines = LINES.lines().filter(|line| !line.starts_with('#'));
    let plan = |line: &str| match line.strip_prefix("net: ") {
        Some(line) => json!({"command": line, "network": true, "reason": "the registry"}),
        None => json!({"command": line}),
    };
    lines.map(|line| room.plan("bash", &plan(line)).unwrap()).collect()
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
    assert_eq!(plans.len(), 62);
    for (mode, first, second) in [(Policy::Ask, 25, 5), (Policy::Sandboxed, 12, 3)] {
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
