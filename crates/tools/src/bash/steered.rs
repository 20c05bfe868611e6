//! A command and the files that steer programs: looked at before it, put back after it, and the person is asked.

use super::child::Leave;
use crate::context::ToolContext;
use crate::steering::compare::{PutBack, SteeringSnapshot, is_of_git};
use crate::steering::linked_git;
use crate::steering::question::{SteeringAnswer, ask};
use crate::tool::{Outcome, Port};
use domain::tool::ToolOutcome;
use std::path::Path;
use std::sync::Arc;

/// What steered the workspace before a command ran in it.
#[derive(Debug, Clone)]
pub(crate) struct Steered {
    seen: Arc<SteeringSnapshot>,
    /// The same of the repository that the workspace is a worktree of.
    linked: Option<Arc<SteeringSnapshot>>,
    line: Arc<str>,
    leave: Leave,
}

impl Steered {
    /// Looks, unless the command cannot write anyway or there is no workspace to look at.
    pub(crate) async fn before(place: &ToolContext, line: &str, leave: Leave) -> Option<Steered> {
        if leave.looking {
            return None;
        }
        let tree = place.tree()?.clone();
        let look = move || {
            let linked =
                linked_git(tree.root()).map(|linked| Arc::new(SteeringSnapshot::look_at_git(&linked.common)));
            (Arc::new(SteeringSnapshot::before(&tree)), linked)
        };
        let (seen, linked) = tokio::task::spawn_blocking(look).await.ok()?;
        Some(Steered { seen, linked, line: line.into(), leave })
    }

    /// Looks again; what changed is put back already. `is_over` where the command was waited for: then undo looks next.
    async fn put_back(self, is_over: bool) -> Vec<PutBack> {
        let Steered { seen, linked, line, leave } = self;
        let agreed = move |path: &Path, is_of_git: bool| {
            names(&line, path) && leave.steers || leave.git && leave.unsandboxed && is_of_git
        };
        let look = move || {
            let linked = linked.and_then(|linked| linked.put_back(|path| agreed(path, true)));
            let agreed = |path: &Path| agreed(path, is_of_git(path));
            let own = if is_over { seen.put_back_at_the_end(agreed) } else { seen.put_back(agreed) };
            own.into_iter().chain(linked).collect()
        };
        tokio::task::spawn_blocking(look).await.unwrap_or_default()
    }

    /// After a command that the model waits for: the person may have what it wrote.
    pub(crate) async fn after(self, mut outcome: Outcome, port: &Port) -> Outcome {
        let line = self.line.clone();
        for back in self.put_back(true).await {
            let title = format!("`{line}` changed protected files");
            let asked = outcome.outcome != ToolOutcome::Cancelled;
            let said =
                if asked { ask(&back, &title, "The command", port).await } else { SteeringAnswer::Nothing };
            let told = match said {
                SteeringAnswer::Yes => back.keep(),
                SteeringAnswer::No => back.discard(),
                SteeringAnswer::Nothing => back.leave(),
                SteeringAnswer::NotAsked => back.leave_unshown(),
            };
            if !outcome.result.text.ends_with('\n') {
                outcome.result.text.push('\n');
            }
            outcome.result.text.push_str(&told);
        }
        outcome
    }

    /// After a command in the background: nobody waits, so nobody is asked.
    pub(crate) async fn after_all(self) -> Option<String> {
        let told: Vec<String> = self.put_back(false).await.into_iter().map(PutBack::leave).collect();
        (!told.is_empty()).then(|| told.join("\n"))
    }
}

/// What programs say when they get no terminal, in lower case.
const NO_TERMINAL: &[&str] = &["pty", "ptys", "pseudo-terminal", "pseudo terminal", "/dev/ptmx"];
/// What the model is told then.
const HOW_TO_GET_ONE: &str = "\n(There are no pseudo-terminals in the sandbox here. If it needs one, call it again with `unsandboxed`: the person is asked.)";

/// Tells the model what to ask for, when a command failed for want of a terminal that this kernel cannot give it.
pub(crate) fn explain(mut outcome: Outcome, place: &ToolContext, leave: Leave) -> Outcome {
    let without = place.guard().is_some_and(|guard| guard.namespaces().is_err());
    if outcome.outcome == ToolOutcome::Failed && without && !leave.unsandboxed {
        let text = outcome.result.text.to_lowercase();
        let words = |said: &str| {
            text.split(|c: char| c.is_whitespace() || ",.:;'\"()".contains(c)).any(|word| word == said)
        };
        if NO_TERMINAL.iter().any(|said| words(said) || said.contains(' ') && text.contains(said)) {
            outcome.result.text.push_str(HOW_TO_GET_ONE);
        }
    }
    outcome
}

/// Whether a line that was shown and agreed to names the part of a path that steers.
pub(crate) fn names(line: &str, path: &Path) -> bool {
    let part = domain::steering::part(path.iter().filter_map(|name| name.to_str()));
    part.is_some_and(|part| line.to_ascii_lowercase().contains(&part.to_ascii_lowercase()))
}
