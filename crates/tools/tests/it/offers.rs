//! What rules are proposed, and how long they hold.

use crate::consent::trapped;
use crate::room::Room;
use domain::session::Policy;
use domain::tool::Decider;
use serde_json::json;
use tools::policy::{Matcher, Rule, Verdict, decide};

#[test]
fn offered_rules_are_shown_in_words_and_cover_what_they_were_offered_for() {
    let room = trapped();
    let cases = [
        (
            "cargo test --all",
            Some(
                "run commands that start with `cargo build`, `cargo check`, `cargo clippy`, `cargo doc`, `cargo test`, `cargo fmt`, `cargo tree`, run exactly `cargo --version`, `rustc --version`",
            ),
        ),
        ("npm test", Some("run commands that start with `npm test`, `npm ls`, run exactly `npm --version`")),
        // Formatting is less than building, so it asks for no more.
        ("cd src && cargo fmt", Some("run commands that start with `cargo fmt`")),
        ("cargo fmt && cargo run | tail", Some("run commands that start with `cargo fmt`, `cargo run`")),
        ("cargo test --config x", Some("run exactly `cargo test --config x`")),
        ("npm run build -- --x", Some("run commands that start with `npm run build`")),
        (
            "git commit -m 'a b'",
            Some(
                "run commands that start with `git commit`, `git checkout -b`, `git switch -c`, `git add`, `git stash`",
            ),
        ),
        ("git checkout -b x -f", Some("run exactly `git checkout -b x -f`")),
        ("python3 tool.py", Some("run exactly `python3 tool.py`")),
        ("make test", Some("run commands that start with `make test`")),
        ("make test CC=evil", Some("run exactly `make test CC=evil`")),
        ("make -f x test", Some("run exactly `make -f x test`")),
        ("npx vitest run", Some("run commands that start with `npx vitest`")),
        // What runs whatever it is given is covered word by word.
        ("npx concurrently x", Some("run exactly `npx concurrently x`")),
        ("npx -y vitest", Some("run exactly `npx -y vitest`")),
        ("npx vitest@latest", Some("run exactly `npx vitest@latest`")),
        ("./unknown x", Some("run exactly `./unknown x`")),
        ("rm a.txt", Some("run exactly `rm a.txt`")),
        ("rm -rf x", None),
        ("cargo test $X", None),
        ("cargo test > /tmp/x", None),
        ("curl x | sh", None),
        ("ls", None),
    ];
    for (line, words) in cases {
        let plan = room.plan("bash", &json!({"command": line})).unwrap();
        assert_eq!(plan.rule.as_ref().map(|offer| offer.words.as_str()), words, "{line}");
        if let Some(offer) = &plan.rule {
            assert!(
                matches!(decide(Policy::Ask, &plan, &offer.rules), Verdict::Allow(Decider::Rule(_))),
                "{line}"
            );
        }
    }
}

#[test]
fn what_tells_a_version_is_covered_word_by_word() {
    let room = trapped();
    let plan = |line: &str| room.plan("bash", &json!({"command": line})).unwrap();
    let rules: Vec<Rule> =
        ["cargo test", "npm test"].iter().flat_map(|line| plan(line).rule.unwrap().rules).collect();
    let allowed = |line: &str| matches!(decide(Policy::Ask, &plan(line), &rules), Verdict::Allow(_));
    for line in ["cargo --version && rustc --version", "npm --version", "npm ls --depth=0"] {
        assert!(allowed(line), "{line}");
    }
    for line in [
        "npm --version --no-version run evil",
        "npm --version=false run evil",
        "npm -v run evil",
        "npm ls --prefix /tmp",
        "npm install",
        "cargo --version run",
        "cargo +nightly --version",
        "rustc --version a.rs",
        "rustc a.rs",
    ] {
        assert!(!allowed(line), "{line}");
    }
}

#[test]
fn a_rule_for_a_script_holds_while_it_is_what_it_was() {
    let room = Room::new();
    room.put("run.sh", "echo 1\n");
    room.put("other.sh", "echo 1\n");
    let plan = |line: &str| room.plan("bash", &json!({"command": line})).unwrap();
    let first = plan("bash run.sh --all");
    let offer = first.rule.clone().unwrap();
    assert!(offer.words.ends_with("run.sh` as it is now, with any arguments"), "{}", offer.words);
    let root = Matcher::Under { dir: room.path("").canonicalize().unwrap() };
    let mut kept: Vec<Rule> = serde_json::from_str(&serde_json::to_string(&offer.rules).unwrap()).unwrap();
    // Who may also write there may not change it in the same line.
    kept.push(Rule { tool: None, matcher: root });
    let allowed = |line: &str| matches!(decide(Policy::Ask, &plan(line), &kept), Verdict::Allow(_));
    for line in ["bash run.sh --all", "bash run.sh", "bash ./run.sh x"] {
        assert!(allowed(line), "{line}");
    }
    for line in [
        "bash other.sh",
        "sh run.sh",
        "bash -x run.sh",
        "bash run.sh; rm x",
        "echo x > run.sh; bash run.sh",
        "bash run.sh > /tmp/x",
        "./run.sh",
    ] {
        assert!(!allowed(line), "{line}");
    }
    room.put("run.sh", "echo 2\n");
    assert!(!allowed("bash run.sh --all"));
    // What was agreed to is no longer what would run.
    assert!(tools::still_valid(&*room.tool("bash"), &first).is_err());
}
