//! `parlor hooks`: the hooks of the person and of the project. A project's run only after the person agreed to each as it is.

use crate::aloud;
use crate::exit::Exit;
use crate::output;
use clap::{Args, Subcommand};
use domain::{harmless, path_text};
use engine::ListedHook;
use host::launch::Launch;
use host::paths;

/// List, approve and forget the hooks of this project and yours.
///
/// Hooks are commands that run before and after the agent's tools and prompts, in the form of Claude Code. They may deny and add text.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  parlor hooks list\n  parlor hooks approve\n  parlor hooks forget\n\nSee parlor help extend."
)]
pub(crate) struct Hooks {
    #[command(subcommand)]
    what: Option<HooksCommand>,
}

#[derive(Debug, Subcommand)]
enum HooksCommand {
    /// Which there are and whether each may run.
    List,
    /// Agree that this project's hooks may run as they are now: all or those named.
    Approve {
        /// Commands as the list shows them.
        commands: Vec<String>,
    },
    /// Revoke that for all hooks or those named.
    Forget {
        /// Commands as the list shows them.
        commands: Vec<String>,
    },
}

/// Lists, approves or forgets hooks.
pub(crate) fn hooks(launch: &Launch, asked: Hooks) -> anyhow::Result<Exit> {
    let mut config = aloud::settings();
    let (data, work_dir) = (paths::data()?, aloud::work_dir(launch, &mut config)?);
    let (hooks, told) = engine::hooks(&config, &data, work_dir.workspace.as_deref().ok());
    match asked.what.unwrap_or(HooksCommand::List) {
        HooksCommand::List => {
            for listed in &hooks {
                output::print_line(&line(listed));
            }
            for (file, why) in &told {
                output::print_error(&format!("{}: {}", path_text::write(file), harmless::in_line(why)));
            }
            if hooks.is_empty() && told.is_empty() {
                output::print_line(
                    "no hooks\n\nhint: write them into .claude/settings.json or .parlor/hooks.json of a project, or hooks.json beside your settings; parlor help extend shows how",
                );
            }
        }
        HooksCommand::Approve { commands } => {
            let wanted = chosen(&hooks, &commands)?;
            if wanted.is_empty() {
                output::print_line("this project brings no hooks");
            }
            for listed in wanted {
                engine::approve_hook(&data, listed)?;
                let compared = listed.compared.as_deref().unwrap_or_default();
                output::print_line(&format!("may run: {}\n  {compared}", shown(listed)));
            }
        }
        HooksCommand::Forget { commands } => {
            for listed in chosen(&hooks, &commands)? {
                let had = engine::forget_hook(&data, listed)?;
                let said = if had { "does not run any more" } else { "you had not agreed to it" };
                output::print_line(&format!("{said}: {}", shown(listed)));
            }
        }
    }
    Ok(Exit::Done)
}

/// The project's hooks that are named; all where none is.
fn chosen<'a>(hooks: &'a [ListedHook], commands: &[String]) -> anyhow::Result<Vec<&'a ListedHook>> {
    let theirs = || hooks.iter().filter(|listed| listed.project.is_some());
    for command in commands {
        anyhow::ensure!(
            theirs().any(|listed| listed.hook.command == *command),
            "this project brings no hook {}\n\nhint: `parlor hooks` lists them; put the command in quotes",
            harmless::quoted(command)
        );
    }
    let is_wanted = |listed: &&ListedHook| commands.is_empty() || commands.contains(&listed.hook.command);
    Ok(theirs().filter(is_wanted).collect())
}

fn shown(listed: &ListedHook) -> String {
    listed.words()
}

fn line(listed: &ListedHook) -> String {
    let state = match (&listed.project, listed.approved) {
        (None, _) => "yours, runs",
        (Some(_), true) => "project, runs in the sandbox",
        (Some(_), false) => "project, waits for your consent (parlor hooks approve)",
    };
    format!("{}\n  {state}; from {}", shown(listed), path_text::write(&listed.file))
}
