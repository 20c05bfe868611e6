//! Stores that may not be read, and what stands in their place: every command says what is so and what to do, and none waits.

use crate::hostile::bench::World;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Output;
use testkit::Screen;

/// An ordinary user that owns nothing, on every machine.
const NOBODY: u32 = 65534;

/// What is done to a world with a store in `data`, and what is said of it.
type Stand = (&'static str, &'static str, fn(&World));

fn close(path: &Path, mode: u32) {
    // Of root, where we are root; else of the person, who may not read it either.
    if rustix::process::getuid().is_root() {
        std::os::unix::fs::chown(path, Some(0), Some(0)).unwrap();
        fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    } else {
        fs::set_permissions(path, Permissions::from_mode(0o000)).unwrap();
    }
}

fn pipe(path: &Path) {
    rustix::fs::mkfifoat(rustix::fs::CWD, path, rustix::fs::Mode::from_raw_mode(0o666)).unwrap();
    fs::set_permissions(path, Permissions::from_mode(0o666)).unwrap();
}

const STANDS: &[Stand] = &[
    ("a folder above is another's", "outside may not be read: ", |world| {
        fs::rename(world.path("data"), world.path("outside/data")).unwrap();
        std::os::unix::fs::symlink("outside/data", world.path("data")).unwrap();
        close(&world.path("outside"), 0o700);
    }),
    ("the folder is another's", "data may not be read: ", |world| close(&world.path("data"), 0o700)),
    ("the file is another's", "sessions.db may not be read: ", |world| {
        close(&world.path("data/sessions.db"), 0o600);
    }),
    ("the log is another's", "sessions.db-wal may not be read: ", |world| {
        world.put("data/sessions.db-wal", "log");
        close(&world.path("data/sessions.db-wal"), 0o600);
    }),
    ("the folder is a file", "data is not a folder", |world| {
        fs::remove_dir_all(world.path("data")).unwrap();
        world.put("data", "words");
    }),
    ("the file is a pipe", "sessions.db is not a file but a pipe", |world| {
        fs::remove_file(world.path("data/sessions.db")).unwrap();
        pipe(&world.path("data/sessions.db"));
    }),
    ("the file is a folder", "sessions.db is not a file but a folder", |world| {
        fs::remove_file(world.path("data/sessions.db")).unwrap();
        world.folder("data/sessions.db");
    }),
    ("the log is a pipe", "sessions.db-wal is not a file but a pipe", |world| {
        pipe(&world.path("data/sessions.db-wal"));
    }),
];

fn said(output: &Output) -> (String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&output.stdout), text(&output.stderr))
}

#[test]
fn a_store_that_may_not_be_read_or_is_none_is_told_as_what_it_is() {
    let root = rustix::process::getuid().is_root();
    let owner = if root { "it belongs to root" } else { "it is yours, but its mode is 0000" };
    for (what, words, stand) in STANDS {
        // Root may read everything.
        let world = World::new(root.then_some(NOBODY));
        assert!(world.parlor(&["run", "say hello"]).output().unwrap().status.success());
        stand(&world);
        let fits = |said: &str| said.contains(words) && (words.ends_with(' ') == said.contains(owner));
        let copy = world.path("project/copy.db").display().to_string();
        for args in [
            &["sessions"][..],
            &["sessions", "list", "--all", "--json"],
            &["sessions", "show"],
            &["sessions", "search", "hello"],
            &["sessions", "export"],
            &["sessions", "backup", &copy],
            &["sessions", "recover"],
            &["--continue", "run", "say hello"],
        ] {
            let output = world.parlor(args).output().unwrap();
            let (stdout, stderr) = said(&output);
            assert_eq!(output.status.code(), Some(1), "{what}, {args:?}: {stdout}{stderr}");
            assert!(fits(&stderr), "{what}, {args:?}: {stderr}");
            assert!(stderr.contains("PARLOR_DATA_DIR"), "{what}, {args:?} says what to do: {stderr}");
            for untrue in ["cannot be written", "is kept yet", "damaged"] {
                assert!(!format!("{stdout}{stderr}").contains(untrue), "{what}, {args:?}: {stdout}{stderr}");
            }
        }
        let (stdout, stderr) = said(&world.parlor(&["doctor"]).output().unwrap());
        assert!(fits(&stdout) && stdout.contains("PARLOR_DATA_DIR"), "{what}: {stdout}{stderr}");
        assert!(!stdout.contains("none yet"), "{what}: {stdout}");
        let output = world.parlor(&["run", "say hello"]).output().unwrap();
        let (stdout, stderr) = said(&output);
        assert!(output.status.success() && stdout.contains("hello"), "{what}: {stdout}{stderr}");
        assert!(stderr.contains("nothing will be kept") && fits(&stderr), "{what}: {stderr}");
        let mut terminal = Screen::start(&mut world.parlor(&[]));
        terminal.shows(&[
            "Nothing will be kept",
            if words.ends_with(' ') { "may not be read" } else { "is not a f" },
        ]);
        drop(terminal);
        for closed in ["outside", "data"] {
            let _ = fs::set_permissions(world.path(closed), Permissions::from_mode(0o700));
        }
    }
}

#[test]
fn another_file_that_may_not_be_read_or_is_none_is_told_as_what_it_is() {
    let root = rustix::process::getuid().is_root();
    let world = World::new(root.then_some(NOBODY));
    world.put("project/foreign.db", "x");
    close(&world.path("project/foreign.db"), 0o600);
    pipe(&world.path("project/pipe.db"));
    for (file, words) in
        [("foreign.db", "foreign.db may not be read: "), ("pipe.db", "is not a file but a pipe")]
    {
        let output = world.parlor(&["sessions", "recover", file]).output().unwrap();
        let (stdout, stderr) = said(&output);
        assert_eq!(output.status.code(), Some(1), "{stdout}{stderr}");
        assert!(stderr.contains(words) && stderr.contains("hint: "), "{stderr}");
    }
}
