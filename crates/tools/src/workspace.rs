//! Which folder the agent may work in freely, and which never.
//!
//! Started somewhere, the workspace is the nearest folder up with a `.git` or a `.parlor`, else the folder itself. Invariants, on paths
//! with every link followed: it is never the home folder nor one above it, never the root of the file system or another top folder of
//! the system, never a folder of keys or one of Parlor's own; neither it nor any folder on the way up to it belongs to another user, and
//! a mark that another user planted does not count; a folder that everybody may write in (`/tmp`) is nobody's. Where no folder
//! remains there is no workspace, and then everything is outside.
//!
//! A folder that the person named (`--workspace`, or `workspaces` in the settings) may belong to another user: the person vouches for it.
//! This holds for root too. Root may write everywhere, but a repository of another user would make root run its hooks; so root names
//! such folders as everybody else does. With `sudo`, the folders of the user who called it count as their own.

use domain::path_text;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// What makes a folder the root of a project.
const MARKS: &[&str] = &[".git", ".parlor"];
/// Top folders that belong to the whole system, whoever owns them. What lies in them may be a workspace.
const SYSTEM: &[&str] = &[
    "/",
    "/bin",
    "/boot",
    "/etc",
    "/home",
    "/lib",
    "/lib32",
    "/lib64",
    "/media",
    "/mnt",
    "/opt",
    "/root",
    "/run",
    "/sbin",
    "/srv",
    "/tmp",
    "/usr",
    "/usr/bin",
    "/usr/lib",
    "/usr/local",
    "/usr/share",
    "/var",
    "/var/lib",
    "/var/tmp",
];
/// What the kernel shows as files: nothing in them is a workspace.
const KERNEL: &[&str] = &["/dev", "/proc", "/sys"];
/// Folders of the home that hold keys: nothing in them is a workspace.
const KEYS: &[&str] = &[
    ".aws",
    ".docker",
    ".gnupg",
    ".kube",
    ".local/share/keyrings",
    ".mozilla",
    ".password-store",
    ".pki",
    ".ssh",
];
/// In the mode of a folder: only the owner of a file may remove it, as in `/tmp`.
const STICKY: u32 = 0o1000;
/// In the mode of a folder: everybody may make files in it.
const BY_ALL: u32 = 0o002;

/// Why there is no workspace.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NoWorkspace {
    /// It is the home folder.
    #[error("{} is your home folder", path_text::write(.0))]
    Home(PathBuf),
    /// The home folder lies in it.
    #[error("your home folder lies in {}", path_text::write(.0))]
    AboveHome(PathBuf),
    /// The whole system's.
    #[error("{} belongs to the whole system", path_text::write(.0))]
    System(PathBuf),
    /// Another user's.
    #[error("{} belongs to another user (number {owner})", path_text::write(dir))]
    Foreign {
        /// Which folder.
        dir: PathBuf,
        /// Whose.
        owner: u32,
    },
    /// Everybody may write in it.
    #[error("everybody may write in {}", path_text::write(.0))]
    Shared(PathBuf),
    /// Keys lie in it.
    #[error("{} is a place for keys", path_text::write(.0))]
    Keys(PathBuf),
    /// Parlor's own.
    #[error("{} is Parlor's own folder", path_text::write(.0))]
    Own(PathBuf),
    /// It cannot be looked at.
    #[error("{} cannot be worked in: {why}", path_text::write(dir))]
    Gone {
        /// Which folder.
        dir: PathBuf,
        /// Why.
        why: io::Error,
    },
}

impl NoWorkspace {
    /// All of it for a person: why, what that means, and what to do.
    pub fn words(&self) -> String {
        let trust = match self {
            NoWorkspace::Foreign { .. } => " (this one too, if you trust what lies in it)",
            _ => "",
        };
        format!(
            "no workspace: {self}. All reading and writing is asked for, and commands cannot write. Start Parlor in the \
             folder of a project, or name one with --workspace DIR{trust}"
        )
    }
}

/// What is known about this process and its user, to judge folders by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bounds {
    home: Option<PathBuf>,
    own: Vec<PathBuf>,
    named: Vec<PathBuf>,
    /// Whose folders are the person's.
    owners: Vec<u32>,
}

impl Bounds {
    /// For this process: the person's home, Parlor's own folders, and the folders that the person named.
    pub fn new(home: Option<&Path>, own: &[PathBuf], named: &[PathBuf]) -> Bounds {
        let caller = std::env::var_os("SUDO_UID").and_then(|uid| uid.to_str()?.parse().ok());
        let user = rustix::process::geteuid();
        let owners = [user.as_raw()].into_iter().chain(caller.filter(|_| user.is_root())).collect();
        let real = |dir: &PathBuf| dir.canonicalize().unwrap_or_else(|_| dir.clone());
        Bounds {
            home: home.filter(|home| home.is_absolute()).map(|home| real(&home.to_owned())),
            own: own.iter().map(real).collect(),
            named: named.iter().map(real).collect(),
            owners,
        }
    }

    /// The workspace of whoever works in `cwd`, canonical.
    ///
    /// # Errors
    /// Why there is none.
    pub fn find(&self, cwd: &Path) -> Result<PathBuf, NoWorkspace> {
        let cwd = self.judge(cwd)?;
        let fitting = cwd.ancestors().take_while(|dir| self.may_be(dir).is_ok());
        let root = fitting.into_iter().find(|dir| self.is_root(dir)).unwrap_or(&cwd).to_owned();
        Ok(root)
    }

    /// Whether this very folder may be a workspace; gives it canonical.
    ///
    /// # Errors
    /// Why it may not.
    pub fn judge(&self, dir: &Path) -> Result<PathBuf, NoWorkspace> {
        let real = dir.canonicalize().map_err(|why| NoWorkspace::Gone { dir: dir.to_owned(), why })?;
        self.may_be(&real)?;
        Ok(real)
    }

    fn may_be(&self, dir: &Path) -> Result<(), NoWorkspace> {
        let found = || dir.to_owned();
        if let Some(home) = self.home.as_deref() {
            if dir == home && dir != Path::new("/") {
                return Err(NoWorkspace::Home(found()));
            }
            if home.starts_with(dir) && dir != Path::new("/") {
                return Err(NoWorkspace::AboveHome(found()));
            }
            if KEYS.iter().any(|keys| dir.starts_with(home.join(keys))) {
                return Err(NoWorkspace::Keys(found()));
            }
        }
        if SYSTEM.iter().any(|known| dir == Path::new(known))
            || KERNEL.iter().any(|known| dir.starts_with(known))
        {
            return Err(NoWorkspace::System(found()));
        }
        if self.own.iter().any(|own| dir.starts_with(own)) {
            return Err(NoWorkspace::Own(found()));
        }
        let meta = std::fs::metadata(dir).map_err(|why| NoWorkspace::Gone { dir: found(), why })?;
        if !meta.is_dir() {
            let why = io::Error::from(io::ErrorKind::NotADirectory);
            return Err(NoWorkspace::Gone { dir: found(), why });
        }
        if self.is_vouched(dir) {
            return Ok(());
        }
        if !self.owners.contains(&meta.uid()) {
            return Err(NoWorkspace::Foreign { dir: found(), owner: meta.uid() });
        }
        if meta.mode() & STICKY != 0 && meta.mode() & BY_ALL != 0 {
            return Err(NoWorkspace::Shared(found()));
        }
        Ok(())
    }

    /// Whether the person named it, or a folder above it.
    fn is_vouched(&self, dir: &Path) -> bool {
        self.named.iter().any(|named| dir.starts_with(named))
    }

    fn is_root(&self, dir: &Path) -> bool {
        let planted = |owner: u32| owner != 0 && !self.owners.contains(&owner) && !self.is_vouched(dir);
        self.named.iter().any(|named| named == dir)
            || MARKS
                .iter()
                .any(|mark| std::fs::symlink_metadata(dir.join(mark)).is_ok_and(|meta| !planted(meta.uid())))
    }
}

#[cfg(test)]
mod tests {
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
        let scene = Scene::new(&["home/.ssh/x/.git", "home/.config/parlor/y", "home/.config/nvim"]);
        scene.refuses("home/.ssh/x", "place for keys");
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

    /// Another user than this one, who can be given files only by root.
    const OTHER: u32 = 4242;

    #[test]
    fn what_another_user_planted_does_not_count() {
        if !rustix::process::geteuid().is_root() {
            // Seen from there everything of root is another user's.
            assert!(Scene::new(&["home"]).bounds(&[]).find(Path::new("/usr/include")).is_err());
            return;
        }
        let scene = Scene::new(&[
            "theirs/.git",
            "theirs/mine/deep",
            "mine/.parlor",
            "mine/sub",
            "late/.git",
            "late/sub",
        ]);
        let give = |path: &str| chown(scene.base.join(path), Some(OTHER), None).unwrap();
        give("theirs");
        give("theirs/.git");
        give("mine/.parlor");
        scene.refuses("theirs", "belongs to another user (number 4242)");
        scene.finds("theirs/mine/deep", "theirs/mine/deep");
        scene.finds("mine/sub", "mine/sub");
        // A folder of another user on the way up is a wall, whatever stands behind it.
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
}
