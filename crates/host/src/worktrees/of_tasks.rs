//! Worktrees of sub-agents: made one after the other, and gone where nothing was done in them.

use super::{Git, Named, end, listed, make, work};
use engine::{OwnTree, Worktrees};
use hub::Log;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// The word that their names begin with.
const WORD: &str = "task";

/// Several sub-agents of a process may want one at the same time, and a name is free until it is taken.
static MAKING: Mutex<()> = Mutex::new(());

/// Makes worktrees for sub-agents.
#[derive(Debug)]
pub struct OfTasks;

fn quietly() -> Log {
    Arc::new(|_: &str| {})
}

impl Worktrees for OfTasks {
    fn make(&self, folder: &Path) -> Result<OwnTree, String> {
        let _one = MAKING.lock().unwrap_or_else(PoisonError::into_inner);
        let git = Git::of(folder, quietly()).map_err(|why| format!("{why:#}"))?;
        let tree = make(&git, Named::After(WORD), &[]).map_err(|why| format!("{why:#}"))?;
        let branch = tree.branch();
        let of = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
        // A session may itself work in a worktree: then that is the checkout that folders are counted from.
        let of = listed(&git)
            .into_iter()
            .map(|known| known.path)
            .find(|path| of.starts_with(path))
            .unwrap_or_else(|| git.root().to_owned());
        Ok(OwnTree { name: tree.name, branch, path: tree.path, of })
    }

    fn settle(&self, tree: &OwnTree) -> Result<Option<String>, String> {
        let _one = MAKING.lock().unwrap_or_else(PoisonError::into_inner);
        let settled = || -> anyhow::Result<Option<String>> {
            let git = Git::of(&tree.of, quietly())?;
            let found = super::find(&git, &tree.name)?;
            let left = work(&git, &found)?;
            if !left.is_none() {
                return Ok(Some(left.words()));
            }
            end::drop_tree(&git.at(git.root()), &found)?;
            Ok(None)
        };
        settled().map_err(|why| format!("{why:#}"))
    }
}
