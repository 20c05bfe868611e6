//! A data folder that cannot be written: what is kept is read, and it is said that nothing new is kept. Root may write everywhere, so
//! root's tests run the program as somebody who may not.

use crate::faults::damage::{PAGE, change, copy, fill};
use crate::faults::{PARLOR, World, stderr, stdout};
use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Output;

/// An ordinary user that owns nothing, on every machine.
const NOBODY: u32 = 65534;

/// The program where whoever runs it can read it.
fn program(world: &World) -> PathBuf {
    let others = |path: &Path| fs::metadata(path).is_ok_and(|meta| meta.mode() & 0o005 == 0o005);
    let program = Path::new(PARLOR);
    if program.ancestors().take_while(|path| !path.as_os_str().is_empty()).all(others) {
        return program.to_owned();
    }
    let copy = world.path("parlor");
    if !copy.exists() {
        fs::copy(program, &copy).unwrap();
    }
    copy
}

fn run(world: &World, args: &[&str]) -> Output {
    let mut command = world.command(&program(world), args);
    if rustix::process::getuid().is_root() {
        command.uid(NOBODY);
    }
    command.output().unwrap()
}

/// Lets nobody write `data` any more.
fn close(world: &World, data: &Path) {
    let owner = rustix::process::getuid().is_root().then_some(NOBODY);
    for path in [world.path("."), world.path("project")] {
        fs::set_permissions(path, Permissions::from_mode(0o755)).unwrap();
    }
    for entry in fs::read_dir(data).unwrap() {
        let path = entry.unwrap().path();
        fs::set_permissions(&path, Permissions::from_mode(0o444)).unwrap();
        chown(&path, owner, None).unwrap();
    }
    chown(data, owner, None).unwrap();
    chown(world.path("project"), owner, None).unwrap();
    fs::set_permissions(data, Permissions::from_mode(0o555)).unwrap();
}

/// The names and contents of a folder.
fn contents(data: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found: Vec<PathBuf> = fs::read_dir(data).unwrap().map(|entry| entry.unwrap().path()).collect();
    found.sort();
    found.into_iter().map(|path| (path.clone(), fs::read(path).unwrap())).collect()
}

#[test]
fn what_is_kept_in_a_folder_that_cannot_be_written_is_read_and_nothing_is_changed() {
    for log in ["none", "without the file beside it", "whole"] {
        let world = World::new();
        let (source, data) = (world.path("source"), world.path("data"));
        let store = fill(&source, 3);
        if log == "none" {
            drop(store);
            copy(&source, &data);
        } else {
            copy(&source, &data);
            if log == "whole" {
                fs::copy(source.join("sessions.db-shm"), data.join("sessions.db-shm")).unwrap();
            }
        }
        close(&world, &data);
        let before = contents(&data);
        let one = "sess-000000000002";
        for (args, wanted) in [
            (&["sessions", "list", "--all"][..], "story 2"),
            (&["sessions", "show", one], "story 2"),
            (&["sessions", "tree", one], "word12"),
            (&["sessions", "search", "word7"], "word7"),
            (&["sessions", "export", one, "-f", "jsonl"], "word12"),
        ] {
            let shown = run(&world, args);
            let (said, told) = (stdout(&shown), stderr(&shown));
            assert!(shown.status.success() && said.contains(wanted), "{log}: {args:?}: {said}{told}");
            assert!(told.contains("nothing new can be kept"), "{log}: {args:?}: {told}");
        }
        let doctor = run(&world, &["doctor"]);
        assert_eq!(doctor.status.code(), Some(1), "{}", stdout(&doctor));
        assert!(stdout(&doctor).contains("whole: 3 conversations"), "{log}: {}", stdout(&doctor));
        assert!(stdout(&doctor).contains("nothing new can be kept"), "{log}: {}", stdout(&doctor));
        for args in [&["sessions", "rm", "--yes", one][..], &["sessions", "rename", one, "other"]] {
            let refused = run(&world, args);
            assert_eq!(refused.status.code(), Some(1), "{log}: {args:?}");
            assert!(stderr(&refused).contains("cannot be written"), "{log}: {}", stderr(&refused));
        }
        let talked = run(&world, &["run", "say hi"]);
        assert!(
            talked.status.success() && stderr(&talked).contains("nothing will be kept"),
            "{log}: {}",
            stderr(&talked)
        );
        let copied = run(&world, &["sessions", "backup", world.path("project/copy.db").to_str().unwrap()]);
        assert!(copied.status.success(), "{log}: {}", stderr(&copied));
        assert_eq!(contents(&data), before, "{log}");
        fs::set_permissions(&data, Permissions::from_mode(0o755)).unwrap();
    }
}

#[test]
fn a_damaged_store_that_cannot_be_written_names_the_way_that_works() {
    let kinds: [fn(&mut Vec<u8>); 2] =
        [|bytes| bytes.truncate(bytes.len() - PAGE), |bytes| bytes[..PAGE].fill(0)];
    for damage in kinds {
        let world = World::new();
        let (source, data) = (world.path("source"), world.path("data"));
        drop(fill(&source, 3));
        copy(&source, &data);
        change(&data.join("sessions.db"), damage);
        close(&world, &data);
        let before = contents(&data);
        let file = data.join("sessions.db").display().to_string();
        let way = format!("PARLOR_DATA_DIR=FOLDER parlor sessions recover {file}");
        let doctor = stdout(&run(&world, &["doctor"]));
        assert!(doctor.contains("damaged") && doctor.contains("can be read, but not written"), "{doctor}");
        assert!(doctor.contains(&way) && !doctor.contains("`parlor sessions recover`"), "{doctor}");
        let copied = world.path("project/copy.db").display().to_string();
        let show = ["sessions", "show", "sess-000000000002"];
        for args in
            [&["sessions", "recover"][..], &["sessions", "backup", &copied], &["sessions", "list"], &show]
        {
            let refused = run(&world, args);
            let told = stderr(&refused);
            // What can still be read is shown.
            assert!(refused.status.success() || told.contains(&way), "{args:?}: {told}");
            assert!(!told.contains("`parlor sessions recover`"), "{args:?}: {told}");
        }
        assert_eq!(run(&world, &["sessions", "recover"]).status.code(), Some(1));
        let own = world.path("project/own");
        let with_own = |args: &[&str]| {
            let mut command = world.command(&program(&world), args);
            if rustix::process::getuid().is_root() {
                command.uid(NOBODY);
            }
            command.env("PARLOR_DATA_DIR", &own).output().unwrap()
        };
        let saved = with_own(&["sessions", "recover", &file]);
        assert!(saved.status.success(), "the way works: {}", stderr(&saved));
        let listed = stdout(&with_own(&["sessions", "list", "--all"]));
        assert!(listed.contains("story 1"), "{listed}");
        assert_eq!(contents(&data), before);
        fs::set_permissions(&data, Permissions::from_mode(0o755)).unwrap();
    }
}
