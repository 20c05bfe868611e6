//! `parlor trace`: show what a recording tells, as text or as one page to look at.

use crate::exit::Exit;
use crate::output;
use crate::replay;
use anyhow::Context;
use std::path::PathBuf;

/// Show what a recording tells: runs, turns, steps, tools, questions, waiting, tokens.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  parlor trace talk.txt\n  parlor trace talk.txt --html talk.html")]
pub(crate) struct Trace {
    /// The recording, as `parlor record` wrote it.
    file: PathBuf,
    /// Write one self-contained page with a timeline.
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// The protocol, where the recording does not say.
    #[arg(long, value_name = "DIALECT", value_parser = crate::flags::dialect())]
    dialect: Option<dialects::Dialect>,
}

/// Reads the recording and prints it, or writes the page.
pub(crate) fn trace(asked: &Trace) -> anyhow::Result<Exit> {
    let transcript = replay::read(&asked.file)?;
    let dialect = match asked.dialect {
        Some(dialect) => dialect,
        None => replay::dialect(&transcript)?,
    };
    let trace = kit::trace::Trace::of(&transcript, dialect);
    match &asked.html {
        None => output::print(&trace.to_string()),
        Some(path) => {
            std::fs::write(path, trace.to_html())
                .with_context(|| format!("cannot write {}", path.display()))?;
            output::print_error(&format!("wrote {}", path.display()));
        }
    }
    Ok(Exit::Done)
}
