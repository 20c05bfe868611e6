//! A sub-agent in a git worktree of its own: what it does stays apart from the session's files until the person merges it.
//!
//! Nothing in the session's workspace changes by it, so `/undo` has nothing to take back; the worktree stays where something was done in it,
//! also after a cancel or a crash, and is gone where nothing was.

use super::Turn;
use crate::delegation::OwnTree;
use crate::text_sources::TextSources;
use domain::ids::ToolRunId;
use domain::path_text;
use std::path::Path;
use tools::{Outcome, ToolContext};

/// Where a sub-agent works that works apart.
pub(super) struct Apart {
    pub(super) tree: OwnTree,
    pub(super) place: ToolContext,
    pub(super) look: TextSources,
}

impl Turn {
    /// Makes a worktree for a sub-agent. Fails in words for the model.
    pub(super) async fn go_apart(&self, id: ToolRunId) -> Result<Apart, Outcome> {
        let no = |why: &str| {
            Outcome::failed(format!("There is no worktree for it: {why}. Give the task without one."))
        };
        let Some(worktrees) = self.delegation.worktrees.clone() else {
            return Err(no("nothing here makes one"));
        };
        let (place, look) = (self.place.clone(), self.look.clone());
        let outputs = self.place.outputs().join(format!("task-{}", id.0));
        let make = move || {
            let here = place.workdir();
            let tree = worktrees.make(here)?;
            let found = Apart::of(&tree, &place, &look, &outputs);
            if found.is_err() {
                // Nobody has worked in it.
                let _ = worktrees.settle(&tree);
            }
            found.map(|found| Apart { tree, ..found })
        };
        match tokio::task::spawn_blocking(make).await {
            Ok(Ok(apart)) => Ok(apart),
            Ok(Err(why)) => Err(no(why.trim_end_matches('.'))),
            Err(_) => Err(no("making it broke down")),
        }
    }

    /// What became of the worktree, in words; nothing where nothing was done in it.
    pub(super) async fn come_back(&self, tree: OwnTree) -> Option<String> {
        let worktrees = self.delegation.worktrees.clone()?;
        let asked = tree.clone();
        let settled = tokio::task::spawn_blocking(move || worktrees.settle(&asked)).await;
        let what = match settled {
            Ok(Ok(None)) => return None,
            Ok(Ok(Some(work))) => work,
            Ok(Err(why)) => format!("git does not tell what is in it ({why})"),
            Err(_) => "it could not be looked at".to_owned(),
        };
        let OwnTree { name, branch, path, .. } = tree;
        Some(format!(
            "It worked in the worktree {name} ({}), on branch {branch}: {what}. Nothing of it is in this folder yet. The person \
             merges it with `parlor worktrees merge {name} --commit MESSAGE`, or throws it away with `parlor worktrees remove {name} --discard`.",
            path_text::write(&path)
        ))
    }
}

impl Apart {
    /// The same folder of the project in it, where that is there.
    fn of(tree: &OwnTree, place: &ToolContext, look: &TextSources, outputs: &Path) -> Result<Apart, String> {
        let inner = place.workdir().strip_prefix(&tree.of).unwrap_or(Path::new(""));
        let folder = Some(tree.path.join(inner)).filter(|folder| folder.is_dir());
        let folder = folder.unwrap_or_else(|| tree.path.clone());
        let own = ToolContext::new(&tree.path, outputs).and_then(|own| own.at(&folder));
        let mut own = own.map_err(|why| why.to_string())?;
        if let Some(guard) = place.guard() {
            own = own.guarded(guard.clone());
        }
        let own = own.discreet(place.secrets().clone());
        let look = TextSources::new(Some(&tree.path), &folder, look.home.clone(), look.settings.clone());
        Ok(Apart { tree: tree.clone(), place: own, look })
    }
}
