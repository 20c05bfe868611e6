//! Folders that may be a workspace and those that may not: real folders, owners, modes and mounts.

use super::*;
use std::os::unix::fs::{PermissionsExt as _, chown, symlink};

/// A home with a project in it, and whatever else a case needs.
struct Scene {
    _dir: tempfile::TempDir,
    base: PathBuf,
}

impl Scene {
    fn new(folders: &[&str]) -> Scene {
        let dir = tempfile::tempdir().unwrap();
        let base = dir.path().canonicalize().unwrap();
        for folder in folders {
            std::fs::create_dir_all(base.join(folder)).unwrap();
        }
        Scene { _dir: dir, base }
    }

    fn bounds(&self, named: &[&str]) -> Bounds {
        let named: Vec<PathBuf> = named.iter().map(|dir| self.base.join(dir)).collect();
        Bounds::new(Some(&self.base.join("home")), &[self.base.join("home/.config/parlor")], &named)
    }

    #[track_caller]
    fn finds(&self, cwd: &str, root: &str) {
        let found = self.bounds(&[]).find(&self.base.join(cwd)).unwrap();
        assert_eq!(found, self.base.join(root), "started in {cwd}");
    }

    #[track_caller]
    fn refuses(&self, cwd: &str, why: &str) {
        let said = self.bounds(&[]).find(&self.base.join(cwd)).unwrap_err().to_string();
        assert!(said.contains(why), "started in {cwd}: {said}");
    }
}

#[test]
fn a_project_begins_where_its_repository_does() {
    let scene = Scene::new(&[
        "home/work/.git",
        "home/work/a/b",
        "home/alone/x",
        "home/other/.parlor/y",
        "home/other/z",
    ]);
    scene.finds("home/work/a/b", "home/work");
    scene.finds("home/work", "home/work");
    scene.finds("home/alone/x", "home/alone/x");
    scene.finds("home/other/z", "home/other");
}

#[test]
fn a_repository_of_the_home_folder_does_not_make_it_a_workspace() {
    let scene = Scene::new(&["home/.git", "home/docs/x", ".parlor", ".git"]);
    scene.finds("home/docs/x", "home/docs/x");
    scene.refuses("home", "is your home folder");
    scene.refuses(".", "your home folder lies in");
    assert!(matches!(scene.bounds(&[]).find(Path::new("/")), Err(NoWorkspace::System(_))));
    assert!(matches!(
        scene.bounds(&[]).find(Path::new("/proc/self")),
        Err(NoWorkspace::System(_) | NoWorkspace::Gone { .. })
    ));
}

#[test]
fn a_link_to_the_home_folder_is_the_home_folder() {
    let scene = Scene::new(&["real/.git", "real/docs"]);
    symlink("real", scene.base.join("home")).unwrap();
    symlink("real", scene.base.join("way")).unwrap();
    scene.refuses("way", "is your home folder");
    scene.refuses("real", "is your home folder");
    scene.finds("way/docs", "real/docs");
}

#[test]
fn keys_and_parlors_own_folders_are_no_workspace() {
    let scene = Scene::new(&[
        "home/.ssh/x/.git",
        "home/.config/parlor/y",
        "home/.config/nvim",
        "home/.config/gh",
        "home/.local/share/keyrings/deep",
        "home/.docker/cli-plugins",
        "home/.password-store/.git",
        "dots/hub",
    ]);
    symlink("../../dots/hub", scene.base.join("home/.config/hub")).unwrap();
    for keys in [
        "home/.ssh/x",
        "home/.config/gh",
        "home/.local/share/keyrings/deep",
        "home/.docker",
        "home/.docker/cli-plugins",
        "home/.password-store",
        "home/.config/hub",
        "dots/hub",
    ] {
        scene.refuses(keys, "place for keys");
        let named = scene.bounds(&[keys]).judge(&scene.base.join(keys));
        assert!(named.is_err(), "nobody vouches for {keys}");
    }
    scene.refuses("home/.config/parlor/y", "Parlor's own");
    scene.finds("home/.config/nvim", "home/.config/nvim");
}

#[test]
fn a_folder_that_everybody_may_write_in_is_nobodys() {
    let scene = Scene::new(&["shared/.git", "shared/mine"]);
    std::fs::set_permissions(scene.base.join("shared"), std::fs::Permissions::from_mode(0o1777)).unwrap();
    scene.refuses("shared", "everybody may write in");
    scene.finds("shared/mine", "shared/mine");
}

#[test]
fn a_folder_that_everybody_may_replace_is_nobodys() {
    let scene = Scene::new(&["open/.git", "open/mine/deep/.git"]);
    let allow =
        |mode| std::fs::set_permissions(scene.base.join("open"), std::fs::Permissions::from_mode(mode));
    allow(0o777).unwrap();
    scene.refuses("open", "everybody may write in");
    scene.refuses("open/mine", "is reached through");
    scene.refuses("open/mine/deep", "/open, where everybody may put something else in its place");
    let vouched = scene.bounds(&["open"]).find(&scene.base.join("open/mine")).unwrap();
    assert_eq!(vouched, scene.base.join("open"), "the person vouches for it");
    allow(0o772).unwrap();
    scene.refuses("open", "everybody may write in");
    allow(0o775).unwrap();
    scene.finds("open/mine", "open");
}

/// Only root may mount without more.
#[cfg(target_os = "linux")]
#[test]
fn a_mount_of_the_home_folder_is_the_home_folder() {
    use nix::sched::{CloneFlags, unshare};
    use rustix::mount::{MountPropagationFlags, mount_bind, mount_change};
    let scene = Scene::new(&[
        "people/home/.git",
        "people/home/.ssh",
        "people/home/docs/.git",
        "work/.git",
        "work/keys",
        "a",
        "b",
    ]);
    let home = scene.base.join("people/home");
    let bounds = |named: &str| Bounds::new(Some(&home), &[], &[scene.base.join(named)]);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            if unshare(CloneFlags::CLONE_NEWNS).is_err() {
                return;
            }
            mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC).unwrap();
            mount_bind(&home, scene.base.join("a")).unwrap();
            mount_bind(scene.base.join("people"), scene.base.join("b")).unwrap();
            mount_bind(home.join(".ssh"), scene.base.join("work/keys")).unwrap();
            for (place, why) in [
                ("a", "is your home folder"),
                ("b/home", "is your home folder"),
                ("b", "your home folder lies in"),
                ("a/.ssh", "place for keys"),
                ("work/keys", "place for keys"),
            ] {
                for named in ["nothing", place] {
                    let said = bounds(named).find(&scene.base.join(place)).unwrap_err().to_string();
                    assert!(said.contains(why), "{place}: {said}");
                }
            }
            for (place, root) in [("a/docs", "a/docs"), ("work", "work")] {
                assert_eq!(bounds("nothing").find(&scene.base.join(place)).unwrap(), scene.base.join(root));
            }
        });
    });
}

#[test]
fn where_no_home_is_known_there_is_no_workspace() {
    let scene = Scene::new(&["home", "work/.git"]);
    let mut bounds = scene.bounds(&["work"]);
    bounds.home = None;
    let said = bounds.find(&scene.base.join("work")).unwrap_err().to_string();
    assert!(said.contains("set HOME"), "{said}");
    for odd in ["", "relative"] {
        let known = Bounds::new(Some(Path::new(odd)), &[], &[]).home;
        assert_eq!(known, crate::home().map(|home| home.canonicalize().unwrap_or(home)), "{odd:?}");
    }
}

/// Another user than this one, who can be given files only by root.
const OTHER: u32 = 4242;

#[test]
fn what_another_user_planted_does_not_count() {
    if !rustix::process::geteuid().is_root() {
        // Seen from there everything of root is another user's.
        assert!(Scene::new(&["home"]).bounds(&[]).find(Path::new("/usr/include")).is_err());
        return;
    }
    let scene =
        Scene::new(&["theirs/.git", "theirs/mine/deep", "mine/.parlor", "mine/sub", "late/.git", "late/sub"]);
    let give = |path: &str| chown(scene.base.join(path), Some(OTHER), None).unwrap();
    give("theirs");
    give("theirs/.git");
    give("mine/.parlor");
    scene.refuses("theirs", "belongs to another user (number 4242)");
    scene.refuses("theirs/mine/deep", "is reached through");
    scene.refuses("theirs/mine", "/theirs, which belongs to another user (number 4242)");
    scene.finds("mine/sub", "mine/sub");
    // Where only owners may move things, one of another user could still be moved by that user.
    std::fs::set_permissions(scene.base.join("mine"), std::fs::Permissions::from_mode(0o1777)).unwrap();
    scene.finds("mine/sub", "mine/sub");
    give("late/sub");
    scene.refuses("late/sub", "belongs to another user");
    let vouched = scene.bounds(&["theirs"]).find(&scene.base.join("theirs/mine/deep")).unwrap();
    assert_eq!(vouched, scene.base.join("theirs"), "the person vouches for it");
    assert!(
        scene.bounds(&["home"]).judge(&scene.base.join("home")).is_err(),
        "but never for the home folder"
    );
}

#[test]
fn the_words_say_what_to_do() {
    let words = NoWorkspace::Home("/home/me".into()).words();
    assert!(words.starts_with("no workspace: /home/me is your home folder. All reading"), "{words}");
    assert!(words.contains("--workspace DIR"), "{words}");
    assert!(NoWorkspace::Foreign { dir: "/x".into(), owner: 7 }.words().contains("if you trust"));
}
