//! Which mode a session begins in: one table of who begins it, what was said, what the kernel holds and what kind of folder it is. It
//! decides and does nothing; whether a mode is kept with a session is the hub's business.
//!
//! Invariants: what a person typed goes before all else, what a kept session had before what is set, what is set before what is usual.
//! `sandboxed` is given to nobody whose commands the kernel cannot hold. Nobody but Parlor's own terminal and page gets another mode
//! than `ask` without having said so: other programs' UIs live from being asked.

use crate::launch::Launch;
use crate::{private, settings};
use domain::path_text;
use domain::session::Policy;
use engine::{Config, WorkDir};
use std::path::Path;

/// The file in the data folder that says that this was told.
const TOLD: &str = "told-sandboxed";

/// What kind of folder a session works in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Folder {
    /// No workspace: home, a top folder of the system, a place of secrets or of another user.
    None,
    /// A workspace whose files could not be had back.
    Bare,
    /// A workspace with git, or with undo at hand.
    Project,
}

impl Folder {
    /// The kind of a folder; `undo` says whether what stood in files can be kept.
    pub fn of(work_dir: &WorkDir, undo: bool) -> Folder {
        match &work_dir.workspace {
            Err(_) => Folder::None,
            // In a worktree it is a file.
            Ok(root) if undo || root.join(".git").exists() => Folder::Project,
            Ok(_) => Folder::Bare,
        }
    }
}

/// All that the mode of a session depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ground {
    /// Whether it begins in Parlor's own terminal or page.
    pub own_ui: bool,
    /// What the command line says.
    pub typed: Option<Policy>,
    /// What the settings say.
    pub set: Option<Policy>,
    /// Whether the kernel holds commands.
    pub holds: bool,
    pub folder: Folder,
}

impl Ground {
    /// What is known before anything is put together.
    pub fn of(launch: &Launch, config: &Config, folder: Folder) -> Ground {
        let holds = tools::sandbox::status().can_hold().is_ok();
        Ground { own_ui: launch.own_ui, typed: launch.policy, set: config.policy, holds, folder }
    }

    /// The mode of a session; `kept` is the one that it had, where it is gone on with.
    pub fn mode(&self, kept: Option<Policy>) -> Policy {
        let usual =
            if self.own_ui && self.folder == Folder::Project { Policy::Sandboxed } else { Policy::Ask };
        match self.typed.or(kept).or(self.set).unwrap_or(usual) {
            Policy::Sandboxed if !self.holds => Policy::Ask,
            mode => mode,
        }
    }

    /// Whether new sessions get another mode than `ask` although nobody said so.
    pub fn is_new_default(&self) -> bool {
        (self.typed, self.set) == (None, None) && self.mode(None) != Policy::Ask
    }
}

/// The one line for whoever begins to work with the new default, the first time. Where it cannot be kept that it was told, it is told
/// again.
pub fn first_told(ground: &Ground, data: &Path, is_ephemeral: bool) -> Option<String> {
    let mark = data.join(TOLD);
    if !ground.is_new_default() || mark.exists() {
        return None;
    }
    if !is_ephemeral {
        let _ = private::replace(&mark, "");
    }
    let file = settings::file().map_or("your settings".to_owned(), |file| path_text::write(&file));
    Some(format!(
        "in a project it works in the sandbox without asking; to be asked before each change: /mode ask, or policy = \"ask\" in {file} for good"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use Policy::{Ask, AutoEdit, Full, Plan, ReadOnly, Sandboxed};

    const FOLDERS: [Folder; 3] = [Folder::None, Folder::Bare, Folder::Project];

    /// Every way to say a mode or to say none.
    fn said() -> impl Iterator<Item = Option<Policy>> + Clone {
        Policy::ALL.into_iter().map(Some).chain([None])
    }

    #[test]
    fn nobody_says_a_mode_and_the_table_does() {
        // Parlor's own UI, whether the kernel holds, the folder: the mode.
        let table = [
            (true, true, Folder::Project, Sandboxed),
            (true, true, Folder::Bare, Ask),
            (true, true, Folder::None, Ask),
            (true, false, Folder::Project, Ask),
            (true, false, Folder::Bare, Ask),
            (true, false, Folder::None, Ask),
            (false, true, Folder::Project, Ask),
            (false, true, Folder::Bare, Ask),
            (false, true, Folder::None, Ask),
            (false, false, Folder::Project, Ask),
            (false, false, Folder::Bare, Ask),
            (false, false, Folder::None, Ask),
        ];
        for (own_ui, holds, folder, mode) in table {
            let ground = Ground { own_ui, typed: None, set: None, holds, folder };
            assert_eq!(ground.mode(None), mode, "{ground:?}");
            assert_eq!(ground.is_new_default(), mode == Sandboxed, "{ground:?}");
        }
    }

    #[test]
    fn a_mode_that_was_said_counts_wherever_it_can_be_had() {
        for (own_ui, holds) in [(true, true), (true, false), (false, true), (false, false)] {
            for folder in FOLDERS {
                for ((typed, set), kept) in said()
                    .flat_map(|typed| said().map(move |set| (typed, set)))
                    .flat_map(|both| said().map(move |kept| (both, kept)))
                {
                    let Some(said) = typed.or(kept).or(set) else { continue };
                    let ground = Ground { own_ui, typed, set, holds, folder };
                    let mode = match (said, holds) {
                        (Sandboxed, false) | (Ask, _) => Ask,
                        (Sandboxed, true) => Sandboxed,
                        (ReadOnly, _) => ReadOnly,
                        (Plan, _) => Plan,
                        (AutoEdit, _) => AutoEdit,
                        (Full, _) => Full,
                    };
                    assert_eq!(ground.mode(kept), mode, "{ground:?}, kept {kept:?}");
                }
            }
        }
    }

    #[test]
    fn a_folder_is_a_project_by_git_or_by_undo() {
        let place = tempfile::tempdir().unwrap();
        let root = place.path().to_owned();
        let there = WorkDir { cwd: root.clone(), workspace: Ok(root.clone()) };
        assert_eq!((Folder::of(&there, false), Folder::of(&there, true)), (Folder::Bare, Folder::Project));
        // A worktree has a file there.
        std::fs::write(root.join(".git"), "gitdir: elsewhere\n").unwrap();
        assert_eq!(Folder::of(&there, false), Folder::Project);
        let none = WorkDir { cwd: root, workspace: Err(tools::NoWorkspace::Home(place.path().to_owned())) };
        assert_eq!(Folder::of(&none, true), Folder::None);
    }

    #[test]
    fn the_new_default_is_told_once_to_whoever_said_nothing() {
        let data = tempfile::tempdir().unwrap();
        let data = data.path().join("new");
        let new = Ground { own_ui: true, typed: None, set: None, holds: true, folder: Folder::Project };
        for quiet in [
            Ground { own_ui: false, ..new },
            Ground { typed: Some(Sandboxed), ..new },
            Ground { set: Some(Sandboxed), ..new },
            Ground { holds: false, ..new },
            Ground { folder: Folder::None, ..new },
        ] {
            assert_eq!(first_told(&quiet, &data, false), None, "{quiet:?}");
        }
        assert!(first_told(&new, &data, true).is_some() && !data.exists(), "nothing is kept");
        let words = first_told(&new, &data, false).unwrap();
        assert!(words.contains("/mode ask") && words.contains("policy = \"ask\""), "{words}");
        assert_eq!(first_told(&new, &data, false), None);
    }
}
