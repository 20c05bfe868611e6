//! `rm -rf` by a rule: only of what can be built or installed again, whatever was tried to make something else of it.

use crate::room::Room;
use domain::session::Policy;
use domain::tool::Decider;
use serde_json::json;
use std::path::Path;
use std::process::Command;
use tools::policy::{Verdict, decide};

fn git(room: &Room, args: &[&str]) {
    let person = ["-c", "user.name=A", "-c", "user.email=a@example.org"];
    let ran = Command::new("git").arg("-C").arg(room.path("")).args(person).args(args).output().unwrap();
    assert!(ran.status.success(), "{args:?}: {}", String::from_utf8_lossy(&ran.stderr));
}

/// A project in which much is ignored; its session begins.
fn project() -> Room {
    let room = Room::new();
    for (name, text) in [
        (".gitignore", "target\nnode_modules/\nbuild\nlogs\ndist\n.venv\nvenv\n/coverage/*\n"),
        ("target/debug/x", ""),
        ("sub/target/x", ""),
        ("node_modules/y/index.js", ""),
        ("build/kept.txt", ""),
        ("dist/x.js", ""),
        ("logs/x", ""),
        ("out/x", ""),
        ("coverage/x", ""),
        ("src/main.rs", ""),
    ] {
        room.put(name, text);
    }
    std::os::unix::fs::symlink("target", room.path("venv")).unwrap();
    git(&room, &["init", "-q"]);
    git(&room, &["add", "-f", "build/kept.txt", "src"]);
    git(&room, &["commit", "-q", "-m", "x"]);
    room.begun_again()
}

/// Whether a rule is proposed for a line; if so, it covers the line.
#[track_caller]
fn proposed(room: &Room, line: &str) -> bool {
    let plan = room.plan("bash", &json!({"command": line})).unwrap();
    for mode in [Policy::Ask, Policy::Sandboxed, Policy::Full] {
        assert_eq!(decide(mode, &plan, &[]), Verdict::Ask, "{line}");
    }
    let Some(offer) = &plan.rule else { return false };
    assert_eq!(offer.words, format!("run exactly `{line}`"));
    assert!(matches!(decide(Policy::Ask, &plan, &offer.rules), Verdict::Allow(Decider::Rule(_))), "{line}");
    assert!(matches!(decide(Policy::ReadOnly, &plan, &offer.rules), Verdict::Deny(_)), "{line}");
    true
}

#[test]
fn what_is_built_again_may_be_removed_by_a_rule() {
    let room = project();
    for line in ["rm -rf target", "rm -r -f target node_modules/", "rm -rf node_modules", "rm -fr dist"] {
        assert!(proposed(&room, line), "{line}");
    }
}

#[test]
fn nothing_else_is() {
    let room = project();
    for line in [
        // Not such a name, not ignored, ignored in part, recorded, a link.
        "rm -rf src",
        "rm -rf logs",
        "rm -rf out",
        "rm -rf coverage",
        "rm -rf build",
        "rm -rf venv",
        "rm -rf venv/",
        "rm -rf .venv",
        "rm -rf target src",
        // Not a name that is written out.
        "rm -rf sub/target",
        "rm -rf ./target",
        "rm -rf target//",
        "rm -rf target/debug",
        "rm -rf target/../src",
        "rm -rf target/*",
        "rm -rf t*",
        "rm -rf \"target\"",
        "rm -rf {target,src}",
        "rm -rf $PWD/target",
        "rm -rf ~/target",
        "rm -rf :/target",
        "rm -rf ':(top)target'",
        "rm -rf",
        // Not this alone.
        "rm -rf -- target",
        "rm --recursive target",
        "rm -rfv target",
        "rm -rf --no-preserve-root target",
        "rm -rf --one-file-system target",
        "cd sub && rm -rf target",
        "mv src target; rm -rf target",
        "rm -rf target; rm -rf src",
        "rm -rf target && cargo build",
        "X=1 rm -rf target",
        "rm -rf target > /tmp/x",
        "rm -rf target &",
        "(rm -rf target)",
        "! rm -rf target",
        "sudo rm -rf target",
        "env rm -rf target",
        "command rm -rf target",
        "/bin/rm -rf target",
        "./rm -rf target",
        "echo target | xargs rm -rf",
        "rm -rf $(echo target)",
        "find target -delete",
    ] {
        assert!(!proposed(&room, line), "{line}");
    }
    let elsewhere = json!({"command": "rm -rf target", "cwd": "sub"});
    let other = json!({"command": "rm() { :; }; rm -rf target"});
    for args in [elsewhere, other, json!({"command": "rm -rf target", "unsandboxed": true, "reason": "so"})] {
        assert_eq!(room.plan("bash", &args).map(|plan| plan.rule), Ok(None), "{args}");
    }
}

/// What the person accepted holds only while all of it is so.
#[track_caller]
fn no_longer(what: &str, change: impl FnOnce(&Room)) {
    let room = project();
    let plan = |line: &str| room.plan("bash", &json!({"command": line})).unwrap();
    let first = plan("rm -rf target");
    let rules = first.rule.clone().unwrap_or_else(|| panic!("{what}: it has no rule")).rules;
    change(&room);
    let second = plan("rm -rf target");
    assert_eq!((decide(Policy::Sandboxed, &second, &rules), second.rule), (Verdict::Ask, None), "{what}");
    assert!(tools::still_valid(&*room.tool("bash"), &first).is_err(), "{what}: it is not what was shown");
}

fn bare_records(at: &Path) {
    let made = Command::new("git").args(["init", "-q", "--bare"]).arg(at).status();
    assert!(made.unwrap().success());
}

#[test]
fn a_rule_holds_only_while_it_is_such_a_folder() {
    no_longer("a repository of its own", |room| room.put("target/.git/config", ""));
    no_longer("one far below", |room| room.put("target/a/b/c/.git", "gitdir: /elsewhere\n"));
    no_longer("one in other letters", |room| room.put("target/a/.GIT/config", ""));
    no_longer("another program's records", |room| room.put("target/a/.jj/repo", ""));
    no_longer("records without files", |room| bare_records(&room.path("target/mirror.git")));
    no_longer("a link", |room| {
        std::fs::rename(room.path("target"), room.path("moved")).unwrap();
        std::os::unix::fs::symlink("src", room.path("target")).unwrap();
    });
    no_longer("a file", |room| {
        std::fs::remove_dir_all(room.path("target")).unwrap();
        room.put("target", "");
    });
    no_longer("nothing", |room| std::fs::remove_dir_all(room.path("target")).unwrap());
    no_longer("recorded by now", |room| git(room, &["add", "-f", "target"]));
    no_longer("no longer ignored", |room| room.put(".gitignore", "node_modules\n"));
    no_longer("ignored in part", |room| room.put(".gitignore", "target/*\n!target/debug\n"));
    no_longer("git is gone", |room| std::fs::rename(room.path(".git"), room.path("records")).unwrap());
}

#[test]
fn what_was_not_so_at_the_beginning_is_not_made_so() {
    let room = project();
    // The first command that does more than look is planned: what is recorded is known from here on.
    assert!(!proposed(&room, "rm -rf build"));
    // Ignored and no longer recorded, all of it by commands of the session.
    git(&room, &["rm", "-q", "-r", "--cached", "build"]);
    room.put(".gitignore", "target\nnode_modules/\nbuild\nlogs\ndist\nout\n");
    git(&room, &["commit", "-q", "-a", "-m", "x"]);
    for line in ["rm -rf build", "rm -rf out"] {
        assert!(!proposed(&room, line), "{line}");
    }
    assert!(proposed(&room, "rm -rf target"));
    // In the next session it was so from the beginning.
    assert!(proposed(&room.begun_again(), "rm -rf out"));
}

#[test]
fn without_a_repository_there_is_no_rule() {
    let room = Room::new();
    room.put(".gitignore", "target\n");
    room.put("target/x", "");
    let room = room.begun_again();
    assert!(!proposed(&room, "rm -rf target"));
    // One that comes later was not there.
    git(&room, &["init", "-q"]);
    assert!(!proposed(&room, "rm -rf target"));
}
