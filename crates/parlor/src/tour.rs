//! `parlor tour`: what Parlor promises, seen in ten minutes, with the offline model and in a folder of its own.
//!
//! A step says what to do, opens the ordinary program in this terminal, and afterwards tells what really happened: the record of the
//! session and the files on the disk say whether it was done, never a clock and never the person. Everything of the tour (its project,
//! its data, its settings, what was done of it) lies in the folder `tour` of the data folder, so that nothing of the person's is touched.

mod stage;
mod steps;

use crate::exit::{self, Exit};
use crate::output::{self, Stream};
use crate::paint::{Paint, WIDEST, wrapped};
use clap::Args;
use stage::Stage;
use std::io::IsTerminal;
use steps::{STEPS, Step};
use tui::{Echo, TypedLine, ask_line};

/// Learn Parlor in ten minutes: offline, without a key.
///
/// Seven steps in a scratch folder: allow, deny with a reason, a rule, kill -9, undo, the page, a bridge. Each opens the real program and
/// is done when its record says so. Called again, it goes on where you left.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  parlor tour\n  parlor tour undo\n  parlor tour --list\n  parlor tour --reset"
)]
pub(crate) struct Tour {
    /// Only this step, whether it was done or not.
    #[arg(value_name = "STEP", conflicts_with_all = ["list", "reset"], value_parser = clap::builder::PossibleValuesParser::new(STEPS.iter().map(|step| step.name)))]
    step: Option<String>,
    /// List the steps and what was done of them.
    #[arg(long, conflicts_with = "reset")]
    list: bool,
    /// Delete all that the tour made, to begin it again.
    #[arg(long)]
    reset: bool,
}

/// Set for what a step opens: its conversations lie with the tour, so `parlor --resume` would not find them.
pub(crate) const WITHIN: &str = "PARLOR_TOUR";

/// What came of one step.
enum Came {
    /// It is over: done, or skipped.
    Over,
    /// The person left.
    Left(Exit),
}

/// Takes the person through the steps.
pub(crate) async fn tour(asked: Tour) -> anyhow::Result<Exit> {
    let stage = Stage::at(host::paths::data()?.join("tour"));
    if asked.reset {
        stage.reset()?;
        output::print_line("The tour begins again with its first step: parlor tour");
        return Ok(Exit::Done);
    }
    if asked.list {
        list(&stage);
        return Ok(Exit::Done);
    }
    if !std::io::stdin().is_terminal() || !Stream::Out.is_terminal() {
        return Err(exit::usage("the tour needs a terminal\n\nhint: `parlor tour --list` tells its steps"));
    }
    if let Some(step) = STEPS.iter().find(|step| Some(step.name) == asked.step.as_deref()) {
        return Ok(match walk(&stage, step).await? {
            Came::Over => Exit::Done,
            Came::Left(exit) => exit,
        });
    }
    while let Some(step) = next(&stage) {
        if let Came::Left(exit) = walk(&stage, step).await? {
            output::print_line("Your place is kept: `parlor tour` goes on here.");
            return Ok(exit);
        }
    }
    let skipped = STEPS.iter().filter(|step| stage.came_of(step.name) == Some("skipped"));
    let skipped: Vec<String> = skipped.map(|step| format!("parlor tour {}", step.name)).collect();
    let skipped = match skipped.is_empty() {
        true => String::new(),
        false => format!("; what you skipped is still there: {}", skipped.join(", ")),
    };
    output::print_line("");
    say(&format!(
        "The tour is over{skipped}. Now in a project of yours: parlor; with a real model: parlor login."
    ));
    say(&format!(
        "What you did here lies in {}; `parlor tour --reset` deletes it.",
        stage.folder().display()
    ));
    Ok(Exit::Done)
}

/// One sentence or several, broken between words where the terminal ends.
fn say(text: &str) {
    let width = Paint::of_stdout().width.unwrap_or(WIDEST).min(WIDEST);
    wrapped(text, width).iter().for_each(|line| output::print_line(line));
}

/// The first step that was neither done nor skipped.
fn next(stage: &Stage) -> Option<&'static Step> {
    STEPS.iter().find(|step| stage.came_of(step.name).is_none())
}

fn list(stage: &Stage) {
    let next = next(stage).map(|step| step.name);
    for (at, step) in STEPS.iter().enumerate() {
        let word = stage.came_of(step.name).unwrap_or(if next == Some(step.name) { "next" } else { "" });
        output::print_line(format!("{}  {:<8} {:<8} {}", at + 1, step.name, word, step.title).trim_end());
    }
}

/// One step, until it is done, skipped, or the person leaves.
async fn walk(stage: &Stage, step: &Step) -> anyhow::Result<Came> {
    let paint = Paint::of_stdout();
    let at = STEPS.iter().position(|one| one.name == step.name).map_or(1, |at| at + 1);
    let title = format!("Step {at} of {}: {}", STEPS.len(), step.title);
    output::print_line(&format!("\n{}\n\n{}\n", paint.strong(&title), step.words));
    let mut begins = "Enter begins";
    loop {
        let exit = match ask_line(&format!("{begins}; s and Enter skips, q and Enter leaves: "), Echo::Shown)
            .await?
        {
            TypedLine::Line(line) if line.trim().is_empty() => None,
            TypedLine::Line(line) if line.trim() == "s" => {
                stage.note(step.name, "skipped")?;
                return Ok(Came::Over);
            }
            TypedLine::Line(line) if line.trim() == "q" => Some(Exit::Done),
            TypedLine::Line(_) | TypedLine::Unusable(_) => continue,
            TypedLine::Cancelled => Some(Exit::Done),
            TypedLine::Told(signal) => Some(Exit::Cancelled(signal)),
        };
        if let Some(exit) = exit {
            return Ok(Came::Left(exit));
        }
        let seen = match stage.show(step).await? {
            Ok(seen) => seen,
            Err(exit) => return Ok(Came::Left(exit)),
        };
        match (step.judge)(&seen) {
            Ok(told) => {
                output::print_line("");
                say(&format!("{} {told}", paint.hit("Done.")));
                stage.note(step.name, "done")?;
                return Ok(Came::Over);
            }
            Err(missing) => {
                output::print_line("");
                say(&format!("Not done yet: {missing}."));
                begins = "Enter tries again";
            }
        }
    }
}
