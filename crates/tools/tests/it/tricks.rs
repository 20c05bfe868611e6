//! Lines that look harmless and are not: each once got past the reader of command lines. None may run unasked.

use crate::room::Room;
use std::process::Command;
use tools::policy::{Matcher, Mode, Rule, Verdict, decide};
use tools::shell::judge;

fn free(room: &Room, line: &str) -> bool {
    judge(line, &room.place).read_only()
}

#[test]
fn words_that_become_several_hide_no_command() {
    let room = Room::new();
    room.put("deep/a", "x");
    room.put("--pre=sh", "evil");
    let lines = [
        // What a wrapper's option takes may hold the command, too.
        "x='1 1 evil'; timeout -k $x 5 ls",
        "x='KILL 1 evil'; timeout --signal $x 5 ls",
        "timeout -k * 5 ls",
        "x='A evil'; env -u $x ls",
        "env --unset * ls",
        // A loop without a list goes over what the shell was given.
        "bash -c 'for x do evil; done' _ a",
        "bash -c 'for x do evil; done' _ a > deep/b",
        // `{}` may open a list of words after all.
        "rg -e --pre{},=sh} .",
        "cat deep/.{},./../../x}",
        // A file may have an option for its name.
        "rg x -*",
        "sort -[a-z]*",
        "git diff --*",
        // The second file is written.
        "echo x | uniq - deep/a",
        "echo x | xxd - deep/a",
        "uniq -- -in deep/a",
        // What is in directories may be links.
        "diff deep deep",
        "diff deep/a d*",
        // Says how much it wrote, in a variable.
        "printf '%n' PATH; ls",
        "printf 'a%%b% -5.*ln' x PATH; ls",
        // A time without a plus is set.
        "date 01010000",
    ];
    for line in lines {
        assert!(!free(&room, line), "{line:?} -> {:?}", judge(line, &room.place));
    }
    for line in [
        "timeout -k 1 5 ls",
        "env -u A ls",
        "date +%F",
        "diff deep/a deep/a",
        "uniq -",
        "uniq -c deep/a",
        "printf '%s\\n' a",
        "printf 'no\\n'",
        "date",
        "date -u +%s",
        "for x in a b; do echo $x; done",
    ] {
        assert!(free(&room, line), "{line:?} -> {:?}", judge(line, &room.place));
    }
}

#[test]
fn a_rule_never_covers_what_runs_anything() {
    let room = Room::new();
    let lines = [
        "rustup run nightly cargo test",
        "cmake -E env ls",
        "meson devenv ls",
        "yarn node x.js",
        "mix eval 1",
        "go env -w GOFLAGS=-x",
        "npm config set script-shell x",
    ];
    for line in lines {
        let offer = tools::policy::offer(&judge(line, &room.place));
        let exact = offer.is_none_or(|offer| offer.words.starts_with("run exactly"));
        assert!(exact, "{line}");
    }
    // An abbreviation is as good as the whole option.
    let words = ["npm", "test"].map(str::to_owned).to_vec();
    let rule = Rule { tool: None, matcher: Matcher::Prefix { words } };
    let verdict = |line: &str| {
        let plan = room.plan("bash", &serde_json::json!({ "command": line })).unwrap();
        decide(Mode::Ask, &plan, std::slice::from_ref(&rule))
    };
    assert!(matches!(verdict("npm test --silent"), Verdict::Allow(_)));
    assert_eq!(verdict("npm test --script-sh=evil"), Verdict::Ask);
}

fn git(room: &Room, args: &[&str]) {
    let mut command = Command::new("git");
    command.args(["-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"]).args(args);
    command.current_dir(room.place.root()).env("GIT_CONFIG_GLOBAL", "/dev/null");
    assert!(command.output().unwrap().status.success(), "{args:?}");
}

/// A plain repository, changed by one trap.
fn repository(trap: impl FnOnce(&Room)) -> bool {
    let room = Room::new();
    room.put("a", "x");
    git(&room, &["init", "-q"]);
    git(&room, &["add", "a"]);
    git(&room, &["commit", "-qm", "a"]);
    trap(&room);
    free(&room, "git status")
}

#[test]
fn a_repository_cannot_make_git_run_its_programs() {
    assert!(repository(|_| {}), "a plain one is looked at unasked");
    assert!(!repository(|room| room.put(".git/hooks/post-index-change", "#!/bin/sh\nevil")));
    assert!(!repository(|room| room.put(".git/commondir", "../other")));
    assert!(!repository(|room| git(room, &["config", "remote.origin.uploadpack", "./evil"])));
    assert!(!repository(|room| git(room, &["config", "remote.origin.promisor", "true"])));
    assert!(!repository(|room| {
        git(room, &["init", "-q", "inner"]);
        git(room, &["-C", "inner", "commit", "-q", "--allow-empty", "-m", "b"]);
        git(room, &["add", "inner"]);
    }));
}

#[test]
fn half_a_repository_hides_no_other() {
    let room = Room::new();
    room.put(".git/config", "[core]\n\tfsmonitor = evil\n");
    room.put("sub/.git/config", "[core]\n");
    let below = room.place.at(&room.path("sub")).unwrap();
    assert!(!judge("git status", &below).read_only());
}
