//! `parlor rules`: what was allowed for good, in this project or in all; narrowed or taken back. A session that runs hears of it at once.

use crate::aloud;
use crate::exit::{self, Exit};
use crate::output;
use clap::{Args, Subcommand};
use host::launch::Launch;
use host::paths;
use std::path::Path;
use tools::policy::{Rule, Rules};

/// What was allowed for good.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  parlor rules\n  parlor rules narrow 2 cargo test --lib\n  parlor rules revoke 2\n\nSee parlor help consent."
)]
pub(crate) struct RulesArgs {
    #[command(subcommand)]
    what: Option<RulesCommand>,
    /// The rules of all projects, not only of this one.
    #[arg(long)]
    all: bool,
    /// Print them as JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Subcommand)]
enum RulesCommand {
    /// Revoke one: it is asked again from now on.
    Revoke {
        /// Its number in the list of this project.
        number: usize,
    },
    /// Put a narrower one in its place: `parlor rules narrow 2 cargo test --lib`; its own words mean exactly that command.
    Narrow {
        /// Its number in the list of this project.
        number: usize,
        /// The words of the command, or the folder.
        #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true)]
        to: Vec<String>,
    },
}

/// Lists, narrows or takes back.
pub(crate) fn rules(launch: &Launch, asked: RulesArgs) -> anyhow::Result<Exit> {
    let mut config = aloud::settings();
    let (data, work_dir) = (paths::data()?, aloud::work_dir(launch, &mut config)?);
    let here = work_dir.workspace.as_deref().ok();
    match asked.what {
        None => list(&data, here, &asked),
        Some(RulesCommand::Revoke { number }) => {
            let (mut rules, rule) = numbered(&data, here, number)?;
            rules.remove(&rule)?;
            output::print_line(&format!("revoked: {rule}"));
            Ok(Exit::Done)
        }
        Some(RulesCommand::Narrow { number, to }) => {
            let (mut rules, rule) = numbered(&data, here, number)?;
            let narrower = rules.narrow(&rule, &to.join(" "))?;
            output::print_line(&format!("now: {narrower}"));
            Ok(Exit::Done)
        }
    }
}

fn numbered(data: &Path, here: Option<&Path>, number: usize) -> anyhow::Result<(Rules, Rule)> {
    let Some(here) = here else {
        anyhow::bail!(
            "there is no project here, so it has no rules\n\nhint: go to its folder, or name it with --cwd"
        )
    };
    let rules = Rules::load(data, here)?;
    let rule = number.checked_sub(1).and_then(|at| rules.kept().get(at)).cloned();
    let Some(rule) = rule else {
        return Err(exit::usage(format!("there is no rule {number}\n\nhint: `parlor rules` numbers them")));
    };
    Ok((rules, rule))
}

fn list(data: &Path, here: Option<&Path>, asked: &RulesArgs) -> anyhow::Result<Exit> {
    let (mut told, mut failed) = (Vec::new(), false);
    if asked.all {
        for rules in tools::policy::projects(data)? {
            match rules {
                Ok(rules) => told.push(rules),
                Err(why) => {
                    failed = true;
                    output::print_error(&format!("error: {why}"));
                }
            }
        }
    } else if let Some(here) = here {
        told.extend(Some(Rules::load(data, here)?).filter(|rules| !rules.kept().is_empty()));
    }
    if asked.json {
        let project = |rules: &Rules| {
            let kept = rules
                .kept()
                .iter()
                .map(|rule| serde_json::json!({ "words": rule.to_string(), "rule": rule }));
            serde_json::json!({
                "project": domain::path_text::write(rules.project()),
                "rules": kept.collect::<Vec<_>>(),
            })
        };
        output::print_line(
            &serde_json::Value::from(told.iter().map(project).collect::<Vec<_>>()).to_string(),
        );
    } else {
        for rules in &told {
            output::print_line(&domain::path_text::write(rules.project()));
            for (number, rule) in (1..).zip(rules.kept()) {
                output::print_line(&format!("{number:>4}  {rule}"));
            }
        }
        if told.is_empty() && !failed {
            let where_else = if asked.all { "" } else { " in this project; --all lists those of all" };
            output::print_line(&format!("nothing is allowed permanently{where_else}"));
        }
    }
    Ok(if failed { Exit::Failed } else { Exit::Done })
}
