//! Temp of a session's own: what one command leaves is found by the next and by tools, and nothing of it is the person's.

use crate::leash::Bench;
use crate::room::Room;
use crate::sandbox::{guarded, guarded_by_program, program};
use domain::ask::Risk;
use serde_json::json;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use tools::checkpoint::{CallScope, Ledger, UndoError};
use tools::sandbox::{Guard, Lacks, Leash};

/// A file of the person's temp, by a name that nobody else has.
fn of_the_person(text: &str) -> tempfile::NamedTempFile {
    let file = tempfile::NamedTempFile::new_in("/tmp").unwrap();
    std::fs::write(file.path(), text).unwrap();
    file
}

/// A name in temp that nothing has.
fn free_name() -> PathBuf {
    of_the_person("").path().to_owned()
}

fn has_own_temp(room: &Room) -> bool {
    room.place.guard().unwrap().namespaces().is_ok()
}

/// The folders of sessions' temp below a room's outputs.
fn left(room: &Room) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(room.place.outputs()).into_iter().flatten().flatten();
    let temps = entries.filter(|entry| entry.file_name().to_string_lossy().starts_with("parlor-temp-"));
    temps.map(|entry| entry.path()).collect()
}

#[tokio::test]
async fn what_a_command_leaves_in_temp_is_the_sessions_and_nobody_elses() {
    let room = guarded();
    if !has_own_temp(&room) {
        return;
    }
    let (own, var) = (free_name(), Path::new("/var/tmp").join(free_name().file_name().unwrap()));
    let theirs = of_the_person("theirs\n");
    let line = format!("echo own > {} && echo var > {}", own.display(), var.display());
    room.done("bash", json!({"command": line})).await;
    // The next command finds it, and a tool by the same name; the person's temp does not have it.
    let line = format!("cat {} {}", own.display(), var.display());
    assert_eq!(room.done("bash", json!({"command": line})).await, "own\nvar\n");
    for (path, text) in [(&own, "own"), (&var, "var")] {
        assert_eq!(room.risk("read", &json!({"path": path})), Risk::Low);
        assert!(room.done("read", json!({"path": path})).await.contains(text));
        assert!(!path.exists());
    }
    // What only the person has is not there for commands; a tool reads it as what it is: a file outside.
    room.failed("bash", json!({"command": format!("cat {}; test -e {0}", theirs.path().display())})).await;
    assert_eq!(room.risk("read", &json!({"path": theirs.path()})), Risk::High);
    assert!(room.done("read", json!({"path": theirs.path()})).await.contains("theirs"));
    // Another session has its own.
    let other = guarded();
    other.failed("bash", json!({"command": format!("cat {}", own.display())})).await;
    // With consent to leave the sandbox it is the person's.
    let free = json!({"command": format!("cat {}", theirs.path().display()), "unsandboxed": true});
    assert_eq!(room.done("bash", free).await, "theirs\n");
}

#[tokio::test]
async fn tools_write_in_temp_where_commands_find_it_and_never_in_the_persons() {
    let room = guarded();
    if !has_own_temp(&room) {
        return;
    }
    let theirs = of_the_person("theirs\n");
    let path = theirs.path();
    let made = room.done("write", json!({"path": path, "content": "ours\n"})).await;
    assert!(made.contains(&path.display().to_string()), "{made}");
    assert_eq!(room.risk("write", &json!({"path": path, "content": "x"})), Risk::Medium);
    assert_eq!(std::fs::read_to_string(path).unwrap(), "theirs\n");
    assert_eq!(room.done("bash", json!({"command": format!("cat {}", path.display())})).await, "ours\n");
    room.done("edit", json!({"path": path, "old": "ours", "new": "more"})).await;
    let line = format!("cat {}", path.file_name().unwrap().display());
    room.done("bash", json!({"command": format!("mkdir /tmp/below && mv {} /tmp/below", path.display())}))
        .await;
    assert_eq!(room.risk("bash", &json!({"command": line, "workdir": "/tmp/below"})), Risk::Low);
    assert_eq!(room.done("bash", json!({"command": line, "workdir": "/tmp/below"})).await, "more\n");
    let listed = room.done("ls", json!({"path": "/tmp/below"})).await;
    assert!(listed.contains(path.file_name().unwrap().to_str().unwrap()), "{listed}");
    // A link that a command leaves leads a tool nowhere unasked.
    room.done("bash", json!({"command": "ln -s /etc/hostname /tmp/link"})).await;
    assert_eq!(room.risk("read", &json!({"path": "/tmp/link"})), Risk::High);
    assert_eq!(room.risk("write", &json!({"path": "/tmp/link", "content": "x"})), Risk::High);
}

#[tokio::test]
async fn temp_ends_with_its_session_whatever_a_command_made_of_it() {
    let room = guarded();
    if !has_own_temp(&room) {
        return;
    }
    let line = "mkdir -p /tmp/shut/inner /tmp/deep && echo x > /tmp/shut/inner/file && ln -s \"$PWD\" /tmp/link && cd /tmp/deep && \
                perl -e 'for (1..1500) { mkdir q(dddddddddd); chdir q(dddddddddd) or die }' && chmod 0 /tmp/shut/inner /tmp/shut";
    room.put("kept.txt", "kept\n");
    room.done("bash", json!({"command": line})).await;
    assert_eq!(left(&room).len(), 1);
    let outputs = room.place.outputs().to_owned();
    let Room { dir, place, toolbox } = room;
    // Who decides on ports lasts as long as the session's network, which is kept by what would keep temp.
    let _gate = place.without_net();
    drop(place);
    let room = guarded_by_program(Room { place: Room::new().place, dir, toolbox });
    let left = std::fs::read_dir(&outputs).unwrap().count();
    assert_eq!(left, 0, "{}", outputs.display());
    assert_eq!(std::fs::read_to_string(room.dir.path().join("work/kept.txt")).unwrap(), "kept\n");
}

#[tokio::test]
async fn what_a_killed_process_left_goes_when_the_next_session_makes_its_own() {
    let (room, temps) = (guarded(), tempfile::tempdir().unwrap());
    if !has_own_temp(&room) {
        return;
    }
    let dead = temps.path().join("parlor-temp-dead");
    std::fs::create_dir_all(dead.join("tmp/below")).unwrap();
    let other = temps.path().join("other");
    std::fs::create_dir(&other).unwrap();
    let guard = || Guard::new(&program(), &["__guard"]).temps_in(temps.path().to_owned());
    let one = Room { place: room.place.clone().guarded(guard()), ..room };
    one.done("bash", json!({"command": "echo one > /tmp/f"})).await;
    assert!(!dead.exists() && other.exists());
    // One that is used stays.
    let room = Room::new();
    let two = Room { place: room.place.clone().guarded(guard()), ..room };
    two.done("bash", json!({"command": "echo two > /tmp/f"})).await;
    assert_eq!(one.done("bash", json!({"command": "cat /tmp/f"})).await, "one\n");
}

#[tokio::test]
async fn the_persons_variable_for_temp_is_not_handed_on_and_what_a_setting_shares_is_there() {
    let room = guarded();
    if !has_own_temp(&room) {
        return;
    }
    let shared = tempfile::tempdir_in("/tmp").unwrap();
    let elsewhere = tempfile::tempdir_in("/tmp").unwrap();
    let guard = Guard::new(&program(), &["__guard"]).also_writable(&[shared.path().to_owned()]);
    let env = [("PATH", crate::room::SYSTEM), ("TMPDIR", elsewhere.path().to_str().unwrap())];
    let place = room.place.clone().guarded(guard);
    let place = place.with_env(env.map(|(name, value)| (name.into(), value.into())).into_iter());
    let room = Room { place, ..room };
    let line = format!("mktemp; echo x > {}/new; ls {}", shared.path().display(), elsewhere.path().display());
    let said = room.failed("bash", json!({"command": line})).await;
    assert!(said.starts_with("/tmp/tmp.") && said.contains("No such file"), "{said}");
    assert!(shared.path().join("new").exists());
    // A tool means the shared file too.
    assert!(room.done("read", json!({"path": shared.path().join("new")})).await.contains('x'));
}

#[tokio::test]
async fn without_namespaces_temp_is_the_persons_as_before() {
    let room = guarded();
    let guard = Guard::new(&program(), &["__guard"]).without(Lacks { namespaces: true, ..Lacks::default() });
    let room = Room { place: room.place.clone().guarded(guard), ..room };
    let theirs = of_the_person("theirs\n");
    let line = format!("cat {}", theirs.path().display());
    assert_eq!(room.done("bash", json!({"command": line})).await, "theirs\n");
    assert_eq!(room.risk("write", &json!({"path": theirs.path(), "content": "x"})), Risk::High);
    assert!(left(&room).is_empty());
}

/// A bench with a temp of its own, and a leash that has it.
fn with_own_temp(bench: &Bench) -> (tempfile::TempDir, Leash) {
    let temp = tempfile::tempdir_in(bench.home.path()).unwrap();
    for name in ["tmp", "var-tmp"] {
        std::fs::create_dir(temp.path().join(name)).unwrap();
    }
    bench.own(temp.path());
    let leash = Leash { temp: Some(temp.path().to_owned()), ..bench.leash() };
    (temp, leash)
}

#[test]
fn nothing_in_the_persons_temp_can_be_read_written_or_talked_to() {
    for bench in Bench::users().into_iter().filter(Bench::namespaces) {
        let (own, leash) = with_own_temp(&bench);
        for top in ["/tmp", "/var/tmp", "/dev/shm"] {
            let theirs = tempfile::tempdir_in(top).unwrap();
            let socket = theirs.path().join("socket");
            let _server = UnixListener::bind(&socket).unwrap();
            std::fs::write(theirs.path().join("file"), "SECRET").unwrap();
            bench.own(theirs.path());
            let there = theirs.path().display();
            let talk = format!(
                "perl -MSocket -e 'socket(S, AF_UNIX, SOCK_STREAM, 0) && connect(S, sockaddr_un(q({}))) or exit 1'",
                socket.display()
            );
            for line in [
                format!("cat {there}/file"),
                format!("cat /proc/self/root{there}/file"),
                format!("cat /proc/$PPID/root{there}/file"),
                format!("cat /proc/1/root{there}/file"),
                format!("echo x > {there}/file"),
                format!("test -e {there}"),
                talk.clone(),
                format!("umount {top}; cat {there}/file"),
                format!("unshare -rm umount {top}; unshare -rm cat {there}/file"),
            ] {
                let said = bench.run(&leash, &line);
                assert!(said.code != Some(0) && !said.text.contains("SECRET"), "{line} {said:?}");
            }
            for leash in [Leash { looking: true, ..leash.clone() }, Leash { network: true, ..leash.clone() }]
            {
                let said = bench.run(&leash, &format!("{talk} || cat {there}/file"));
                assert!(said.code != Some(0) && !said.text.contains("SECRET"), "{leash:?} {said:?}");
            }
            assert_eq!(std::fs::read_to_string(theirs.path().join("file")).unwrap(), "SECRET");
        }
        // Sockets of its own work.
        // A name that nobody else has there.
        let name = format!("socket-of-{}", std::process::id());
        let bind = format!("bind(S, sockaddr_un(q(/tmp/{name})))");
        let line = format!("perl -MSocket -e 'socket(S, AF_UNIX, SOCK_STREAM, 0) && {bind} or exit 1'");
        bench.run(&leash, &line).is(0, "");
        assert!(own.path().join("tmp").join(&name).exists() && !Path::new("/tmp").join(&name).exists());
    }
}

#[test]
fn a_workspace_in_the_persons_temp_stays_and_nothing_beside_it() {
    for bench in Bench::users().into_iter().filter(Bench::namespaces) {
        let (own, leash) = with_own_temp(&bench);
        let temp = tempfile::tempdir_in("/tmp").unwrap();
        let [work, read] = ["above/work", "read"].map(|name| temp.path().join(name));
        for folder in [&work, &read] {
            std::fs::create_dir_all(folder).unwrap();
            std::fs::write(folder.join("file"), "there\n").unwrap();
        }
        std::fs::write(temp.path().join("beside"), "SECRET").unwrap();
        std::fs::write(temp.path().join("one"), "one\n").unwrap();
        bench.own(temp.path());
        let readable = vec![read.clone(), temp.path().join("one")];
        let leash = Leash { writable: vec![work.clone()], readable, ..leash };
        let here = temp.path().display();
        let line = format!(
            "set -e; cd {0}; cat file {here}/read/file {here}/one; echo new > new; ls {here}",
            work.display()
        );
        for _ in 0..2 {
            bench.run(&leash, &line).is(0, "there\nthere\none\nabove\none\nread\n");
        }
        assert_eq!(std::fs::read_to_string(work.join("new")).unwrap(), "new\n");
        for line in [
            format!("echo x > {here}/read/file"),
            format!("echo x > {here}/one"),
            format!("mv {0} {0}.old", work.display()),
            format!("mv {here} {here}.old"),
        ] {
            let said = bench.run(&leash, &line);
            assert_ne!(said.code, Some(0), "{line} {said:?}");
        }
        // Whatever stands in the way of it: a link would lead what is mounted, and made, somewhere else.
        let inner = own.path().join("tmp").join(temp.path().file_name().unwrap());
        std::fs::remove_dir_all(&inner).unwrap();
        symlink(bench.home.path().join("notes"), &inner).unwrap();
        bench.run(&leash, &line).is(0, "there\nthere\none\nabove\none\nread\n");
        assert_eq!(std::fs::read_dir(bench.home.path().join("notes")).unwrap().count(), 1);
    }
}

#[test]
fn a_home_in_temp_is_there_to_be_read() {
    for bench in Bench::users().into_iter().filter(Bench::namespaces) {
        let (_own, leash) = with_own_temp(&bench);
        let home = tempfile::tempdir_in("/tmp").unwrap();
        std::fs::write(home.path().join("plain"), "plain\n").unwrap();
        std::fs::create_dir(home.path().join("work")).unwrap();
        bench.own(home.path());
        let work = home.path().join("work");
        let leash = Leash { home: Some(home.path().to_owned()), writable: vec![work.clone()], ..leash };
        bench
            .run(&leash, &format!("cat {0}/plain && echo x > {0}/work/new", home.path().display()))
            .is(0, "plain\n");
        let said = bench.run(&leash, &format!("echo x > {}/plain", home.path().display()));
        said.fails_with("Read-only file system");
    }
}

#[tokio::test]
async fn of_a_prompt_that_only_wrote_in_temp_undo_says_so_before_an_earlier_one_is_taken_back() {
    let room = guarded();
    if !has_own_temp(&room) {
        return;
    }
    let vault = std::sync::Arc::new(tools::checkpoint::MemoryVault::default());
    let ledger = Ledger::new("s", &room.place, vault);
    let kept = room.place.workdir().join("kept.txt");
    for (turn, path) in [&kept, &free_name()].into_iter().enumerate() {
        ledger.begin(&format!("turn-{turn}"), &format!("prompt {turn}"));
        let scope = CallScope::of(&room.plan("write", &json!({"path": path, "content": "x"})).unwrap());
        let watched = ledger.before(&scope.unwrap(), &|| false);
        room.done("write", json!({"path": path, "content": "x"})).await;
        assert_eq!(ledger.after(watched), None);
    }
    let Err(UndoError::Nothing(why)) = ledger.undo(false) else { panic!("it took something back") };
    assert!(why.contains("“prompt 1”") && why.contains("undoes “prompt 0”"), "{why}");
    assert!(kept.exists());
    ledger.undo(false).unwrap();
    assert!(!kept.exists());
}
