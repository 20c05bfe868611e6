//! `parlor worktrees`: the worktrees of a repository, listed, merged and removed.

use crate::exit::Exit;
use crate::output;
use crate::worktree_end::{kept, merged_words, removed_words};
use clap::{Args, Subcommand};
use domain::path_text;
use host::launch::Launch;
use host::paths;
use host::worktrees::{Git, common_of, find, listed, merge, remove, work};
use serde_json::json;

/// The worktrees that Parlor made in this repository.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  parlor --worktree fix-login        works apart, on branch parlor/fix-login\n  parlor worktrees list              what there is, and what is in it\n  parlor worktrees keep fix-login    says how to go on with it\n  parlor worktrees merge fix-login --commit \"fix the login\"\n  parlor worktrees remove try-redis --discard"
)]
pub(crate) struct Worktrees {
    #[command(subcommand)]
    does: Option<WorktreesCommand>,
}

#[derive(Debug, Subcommand)]
enum WorktreesCommand {
    /// What there is: branch, commits, files that are not committed.
    List {
        /// Print them as JSON.
        #[arg(long)]
        json: bool,
    },
    /// Merge its branch into the one it began from, then remove it.
    Merge {
        /// Its name in the list.
        name: String,
        /// Commit what is not committed first, with these words.
        #[arg(long, value_name = "MESSAGE")]
        commit: Option<String>,
        /// Remove it also where files outside of git (ignored ones, changed copies) are lost with it.
        #[arg(long)]
        discard: bool,
    },
    /// Keep its files and its branch, as it would be anyway, and say how to go on.
    Keep {
        /// Its name in the list.
        name: String,
    },
    /// Remove its files and its branch. What is not merged is kept unless you say --discard.
    Remove {
        /// Its name in the list.
        name: String,
        /// Throw away what is not merged, not committed or outside of git.
        #[arg(long)]
        discard: bool,
    },
}

/// `parlor worktrees`.
pub(crate) async fn worktrees(launch: &Launch, asked: Worktrees) -> anyhow::Result<Exit> {
    let here = paths::working_directory(launch)?;
    let does = asked.does.unwrap_or(WorktreesCommand::List { json: false });
    if let (WorktreesCommand::List { json }, None) = (&does, common_of(&here)) {
        let none = json!({ "worktrees": [] }).to_string();
        output::print_line(if *json {
            &none
        } else {
            "no worktrees: this is no checkout of a git repository"
        });
        return Ok(Exit::Done);
    }
    let git = Git::of(&here, output::stderr_log())?;
    match does {
        WorktreesCommand::List { json } => list(&git, json),
        WorktreesCommand::Merge { name, commit, discard } => {
            let tree = find(&git, &name)?;
            output::print_line(&merged_words(&tree, &merge(&git, &tree, commit.as_deref(), discard).await?));
            Ok(Exit::Done)
        }
        WorktreesCommand::Keep { name } => {
            output::print_line(&kept(&git, &find(&git, &name)?));
            Ok(Exit::Done)
        }
        WorktreesCommand::Remove { name, discard } => {
            let tree = find(&git, &name)?;
            output::print_line(&removed_words(&tree, &remove(&git, &tree, discard).await?));
            Ok(Exit::Done)
        }
    }
}

fn list(git: &Git, as_json: bool) -> anyhow::Result<Exit> {
    let all = listed(git);
    if as_json {
        let told = all.iter().map(|tree| {
            let mut told = json!({
                "name": tree.name,
                "branch": tree.branch(),
                "path": path_text::write(&tree.path),
                "base": tree.base,
            });
            match work(git, tree) {
                Ok(work) => {
                    told["commits"] = json!(work.commits);
                    told["uncommitted_files"] = json!(work.files);
                    told["outside_of_git"] = json!(work.outside.len());
                }
                // Nothing is known of what is in it, which is not the same as nothing.
                Err(why) => told["error"] = json!(format!("{why:#}")),
            }
            told
        });
        output::print_line(&json!({ "worktrees": told.collect::<Vec<_>>() }).to_string());
        return Ok(Exit::Done);
    }
    if all.is_empty() {
        output::print_line("no worktrees of Parlor's here; parlor --worktree NAME makes one");
    }
    for tree in &all {
        let base = tree.base.as_deref().unwrap_or("no branch");
        let work =
            work(git, tree).map_or_else(|why| format!("cannot be looked at: {why:#}"), |work| work.words());
        output::print_line(&format!(
            "{}  branch {} from {base}: {work}\n  {}",
            tree.name,
            tree.branch(),
            path_text::write(&tree.path)
        ));
    }
    Ok(Exit::Done)
}
