//! Which commands are trusted with contents that only git holds, and that the kernel holds them to it.

use crate::room::Room;
use crate::sandbox::{guarded_by_program, program};
use serde_json::json;
use std::process::Command;
use std::sync::Arc;
use tools::checkpoint::{CallScope, Ledger, MemoryVault, Vault as _};
use tools::sandbox::{Guard, Lacks};

fn git(room: &Room, args: &[&str]) {
    let mut git = Command::new("git");
    git.arg("-C").arg(room.place.root().unwrap());
    git.args(["-c", "user.name=x", "-c", "user.email=x@example.org"]).args(args);
    let done = git.env("GIT_CONFIG_GLOBAL", "/dev/null").output().unwrap();
    assert!(done.status.success(), "{args:?} {done:?}");
}

/// A repository with a recorded file and a script.
fn recorded() -> Room {
    let room = Room::new();
    room.put("a", "one\n");
    room.put("evil.sh", "rm -rf .git/objects; git gc -q --prune=now; echo changed > a; exit 0\n");
    git(&room, &["init", "-q"]);
    git(&room, &["add", "-A"]);
    git(&room, &["commit", "-qm", "all"]);
    room
}

fn scope(room: &Room, args: serde_json::Value) -> CallScope {
    CallScope::of(&room.plan("bash", &args).unwrap()).unwrap()
}

#[test]
fn what_may_rewrite_gits_records_has_everything_copied_first() {
    let room = guarded_by_program(recorded());
    let held = match room.place.guard().unwrap().namespaces() {
        Ok(()) => CallScope::AllButGit,
        Err(_) => CallScope::Everything,
    };
    // The last one fails: nobody is let near git's records to remove them.
    for line in ["make", "sh ./evil.sh", "echo x > a", "rm -rf a", "rm -rf .git"] {
        assert_eq!(scope(&room, json!({ "command": line })), held, "{line}");
    }
    let may_write = [
        "git gc",
        "git repack -ad",
        "git prune",
        "git commit --amend -m x",
        "git rebase HEAD~1",
        "git reset HEAD~1",
        "git reset --hard",
        "git checkout -- a && git gc --prune=now",
        "make && git commit -am x",
    ];
    let is_held = |line: &&str| scope(&room, json!({ "command": line })) != CallScope::Everything;
    assert_eq!(may_write.into_iter().filter(is_held).collect::<Vec<_>>(), [""; 0]);
    let free = json!({"command": "make", "unsandboxed": true, "reason": "x"});
    assert_eq!(scope(&room, free), CallScope::Everything);
}

#[test]
fn where_the_kernel_does_not_keep_commands_from_them_everything_is_copied() {
    let make = || json!({"command": "make"});
    assert_eq!(scope(&recorded(), make()), CallScope::Everything, "without a guard");
    let room = recorded();
    let guard = Guard::new(&program(), &["__guard"]).without(Lacks { namespaces: true, ..Lacks::default() });
    let place = room.place.clone().guarded(guard);
    assert_eq!(scope(&Room { place, ..room }, make()), CallScope::Everything, "without namespaces");
    let room = guarded_by_program(Room::new());
    assert_eq!(scope(&room, make()), CallScope::Everything, "without git");
    let room = guarded_by_program(recorded());
    room.put(".git/objects/info/alternates", "/elsewhere/objects\n");
    assert_eq!(scope(&room, make()), CallScope::Everything, "with objects that lie elsewhere");
    let room = guarded_by_program(recorded());
    std::fs::rename(room.path(".git"), room.dir.path().join("records")).unwrap();
    room.put(".git", &format!("gitdir: {}\n", room.dir.path().join("records").display()));
    assert_eq!(scope(&room, make()), CallScope::Everything, "with records that lie elsewhere");
}

#[tokio::test]
async fn a_script_that_destroys_gits_objects_costs_no_content() {
    // Once unjudged and held by the kernel, once agreed to by its words.
    for line in ["sh ./evil.sh", "rm -rf .git/objects; echo changed > a"] {
        let room = guarded_by_program(recorded());
        let vault = Arc::new(MemoryVault::default());
        let ledger = Ledger::new("s", &room.place, vault.clone());
        ledger.begin("t", "p");
        let scope = scope(&room, json!({ "command": line }));
        let watched = ledger.before(&scope, &|| false);
        let digest = tools::digest::hex(b"one\n");
        let is_copied = vault.content(&digest).unwrap().is_some();
        assert_eq!(is_copied, scope == CallScope::Everything, "{line}");
        room.call("bash", json!({ "command": line })).await;
        assert_eq!(room.get("a"), "changed\n", "{line}");
        assert_eq!(ledger.after(watched), None, "{line}");
        assert_eq!(ledger.undo(false).unwrap().left, [], "{line}");
        assert_eq!(room.get("a"), "one\n", "{line}");
    }
}

#[tokio::test]
async fn a_command_that_throws_work_away_does_so_once_it_was_allowed() {
    let room = guarded_by_program(recorded());
    room.put("a", "two\n");
    room.done("bash", json!({"command": "git reset --hard"})).await;
    assert_eq!(room.get("a"), "one\n");
}
