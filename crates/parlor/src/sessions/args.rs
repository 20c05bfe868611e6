//! What can be typed after `parlor sessions`.

use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;

/// The newest that a list shows unless told otherwise.
const LISTED: usize = 20;

/// The conversations that are kept.
///
/// An ID may be shortened as long as it fits one conversation only; the `sess-` in front may be left out. Where it may be left out
/// altogether, the newest conversation of this project is meant.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  parlor sessions\n  parlor sessions search failing bridge\n  parlor sessions show 3f2a\n  parlor sessions export 3f2a -o bridge.html\n  parlor --resume 3f2a"
)]
pub(crate) struct Sessions {
    #[command(subcommand)]
    pub(crate) act: Option<Act>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Act {
    /// The newest conversations of this project.
    #[command(visible_alias = "ls")]
    List(List),
    /// One conversation: what it is, and its last entries.
    Show(Show),
    /// Where these words were said: every word must begin a word of the entry.
    Search(Search),
    /// All entries of a conversation with their branches.
    Tree(Id),
    /// A conversation as Markdown, HTML or JSONL.
    Export(Export),
    /// Take a conversation in that was exported as JSONL or saved as JSON; it becomes one of this project.
    Import(Import),
    /// Give a conversation another title.
    Rename(Rename),
    /// Take conversations away for good.
    #[command(name = "rm", visible_alias = "remove")]
    Remove(Remove),
}

impl Default for Act {
    fn default() -> Act {
        Act::List(List { all: false, limit: LISTED, report: Report { json: false } })
    }
}

/// How it is told.
#[derive(Debug, Args)]
pub(crate) struct Report {
    /// Tell it as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

/// The newest conversations.
#[derive(Debug, Args)]
pub(crate) struct List {
    /// Of all projects.
    #[arg(long, short)]
    pub(crate) all: bool,
    /// How many at most.
    #[arg(long, short = 'n', value_name = "N", default_value_t = LISTED)]
    pub(crate) limit: usize,
    #[command(flatten)]
    pub(crate) report: Report,
}

/// One conversation.
#[derive(Debug, Args)]
pub(crate) struct Show {
    /// Which.
    pub(crate) id: Option<String>,
    /// How many of its last entries.
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub(crate) last: usize,
    /// All entries of its active path.
    #[arg(long, conflicts_with = "last")]
    pub(crate) all: bool,
    #[command(flatten)]
    pub(crate) report: Report,
}

/// Where words were said.
#[derive(Debug, Args)]
pub(crate) struct Search {
    /// What to look for.
    #[arg(required = true)]
    pub(crate) words: Vec<String>,
    /// In this project only.
    #[arg(long)]
    pub(crate) here: bool,
    /// How many hits at most.
    #[arg(long, short = 'n', value_name = "N", default_value_t = LISTED)]
    pub(crate) limit: usize,
    #[command(flatten)]
    pub(crate) report: Report,
}

/// One conversation by its id.
#[derive(Debug, Args)]
pub(crate) struct Id {
    /// Which.
    pub(crate) id: Option<String>,
    #[command(flatten)]
    pub(crate) report: Report,
}

/// How a conversation is written out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Readable text.
    #[value(alias = "markdown")]
    Md,
    /// One page that needs nothing else.
    Html,
    /// Lossless; what `import` takes.
    Jsonl,
}

/// A conversation as a text.
#[derive(Debug, Args)]
pub(crate) struct Export {
    /// Which.
    pub(crate) id: Option<String>,
    /// How; without it, what the name of the file says, else Markdown.
    #[arg(long, short, value_enum)]
    pub(crate) format: Option<Format>,
    /// Into this file instead of stdout.
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Overwrite the file if it is there.
    #[arg(long, requires = "output")]
    pub(crate) force: bool,
    #[command(flatten)]
    pub(crate) report: Report,
}

/// A conversation from a file.
#[derive(Debug, Args)]
pub(crate) struct Import {
    /// The file; `-` is stdin.
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) report: Report,
}

/// Another title.
#[derive(Debug, Args)]
pub(crate) struct Rename {
    /// Which.
    pub(crate) id: String,
    /// The title.
    #[arg(required = true)]
    pub(crate) title: Vec<String>,
    #[command(flatten)]
    pub(crate) report: Report,
}

/// Gone for good.
#[derive(Debug, Args)]
pub(crate) struct Remove {
    /// Which.
    #[arg(required = true)]
    pub(crate) ids: Vec<String>,
    /// Do not ask.
    #[arg(long, short)]
    pub(crate) yes: bool,
    #[command(flatten)]
    pub(crate) report: Report,
}
