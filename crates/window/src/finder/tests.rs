//! The way to the server, with a script in the place of `parlor` and this process in that of the server.

use super::*;
use std::os::unix::fs::PermissionsExt as _;
use tokio::net::UnixListener;

/// A world with a program in the place of `parlor`: it writes down that it was called and says what stands in a file.
pub(crate) struct World {
    pub(crate) dir: tempfile::TempDir,
}

impl World {
    pub(crate) fn new() -> World {
        let world = World { dir: tempfile::tempdir().unwrap() };
        let script = format!(
            "#!/bin/sh\ncd '{}'\necho \"$@\" >>calls\ntest -e fails && {{ echo 'no \x1b[31mhome' >&2; exit 3; }}\ncat says\n",
            world.dir.path().display()
        );
        // Written by another name first: a file that is open to be written cannot be run.
        let (new, program) = (world.dir.path().join("new"), world.program());
        std::fs::write(&new, script).unwrap();
        std::fs::set_permissions(&new, std::fs::Permissions::from_mode(0o755)).unwrap();
        std::fs::rename(new, program).unwrap();
        world
    }

    pub(crate) fn program(&self) -> PathBuf {
        self.dir.path().join("parlor")
    }

    pub(crate) fn finder(&self) -> Finder {
        Finder::new(self.program())
    }

    /// A server runs, as this process.
    pub(crate) fn listens(&self) -> UnixListener {
        self.says(std::process::id());
        let _ = std::fs::remove_file(self.dir.path().join("control"));
        std::fs::write(self.dir.path().join(NOTICE), "{}").unwrap();
        UnixListener::bind(self.dir.path().join("control")).unwrap()
    }

    fn says(&self, pid: u32) {
        let (control, data) = (self.dir.path().join("control"), self.dir.path());
        let told =
            serde_json::json!({"pid": pid, "version": "7", "control": control, "data": data, "more": 1});
        std::fs::write(data.join("says"), told.to_string()).unwrap();
    }

    pub(crate) fn calls(&self) -> usize {
        std::fs::read_to_string(self.dir.path().join("calls")).unwrap_or_default().lines().count()
    }
}

#[tokio::test]
async fn a_server_is_found_once_and_begun_again_when_it_died() {
    let world = World::new();
    let server = world.listens();
    let finder = world.finder();
    assert_eq!(finder.begin().await.unwrap().version, "7");
    finder.reach().await.unwrap();
    finder.reach().await.unwrap();
    assert_eq!(world.calls(), 1);
    drop(server);
    // The notice is there: it died. A new one is begun by whoever needs it.
    let _server = world.listens();
    std::fs::write(world.dir.path().join("calls"), "").unwrap();
    finder.reach().await.unwrap();
    // The same process listens at the same place: it was found without asking anew.
    assert_eq!(world.calls(), 0);
    drop(_server);
    assert_eq!(finder.reach().await.unwrap_err().code, GONE);
    assert_eq!(world.calls(), 1);
    assert_eq!(std::fs::read_to_string(world.dir.path().join("calls")).unwrap(), "up --json\n");
}

#[tokio::test]
async fn what_the_person_ended_stays_ended_until_they_want_it() {
    let world = World::new();
    let finder = world.finder();
    let server = world.listens();
    finder.begin().await.unwrap();
    drop(server);
    std::fs::remove_file(world.dir.path().join(NOTICE)).unwrap();
    for _ in 0..3 {
        let refused = finder.reach().await.unwrap_err();
        assert!(refused.code == STOPPED && refused.passes(), "{refused:?}");
    }
    assert_eq!(world.calls(), 1);
    let _server = world.listens();
    finder.begin().await.unwrap();
    finder.reach().await.unwrap();
    assert_eq!(world.calls(), 2);
}

#[tokio::test]
async fn nobody_else_is_talked_to() {
    let world = World::new();
    let _server = world.listens();
    // Another process is named than the one that listens.
    world.says(1);
    let refused = world.finder().reach().await.unwrap_err();
    assert!(refused.message.contains("another process listens in its place"), "{refused}");
}

#[tokio::test]
async fn what_is_wrong_with_the_program_is_told_harmlessly() {
    let world = World::new();
    for (says, words) in
        [("", "says nothing that can be read"), ("{}", "missing field"), ("[", "nothing that can be read")]
    {
        std::fs::write(world.dir.path().join("says"), says).unwrap();
        let refused = world.finder().begin().await.unwrap_err();
        assert!(refused.code == "cannot_start" && refused.message.contains(words), "{refused}");
    }
    std::fs::write(world.dir.path().join("fails"), "").unwrap();
    let refused = world.finder().begin().await.unwrap_err();
    assert!(refused.message.contains("exit status: 3") && refused.message.contains("home"), "{refused}");
    assert!(!refused.message.contains('\u{1b}') && !refused.passes());
    let nowhere = Finder::new(world.dir.path().join("nowhere")).begin().await.unwrap_err();
    assert_eq!((nowhere.code, nowhere.hint.contains(PROGRAM)), ("no_parlor", true));
}

#[test]
fn the_program_is_the_one_that_is_named_or_beside_us_or_found() {
    let world = World::new();
    let ours = world.dir.path().join("parlor-desktop");
    assert_eq!(program(Some("/x/parlor".into()), Some(&ours)), PathBuf::from("/x/parlor"));
    assert_eq!(program(Some("".into()), Some(&ours)), world.program());
    assert_eq!(program(None, Some(Path::new("/nowhere/parlor-desktop"))), PathBuf::from("parlor"));
    assert_eq!(program(None, None), PathBuf::from("parlor"));
}
