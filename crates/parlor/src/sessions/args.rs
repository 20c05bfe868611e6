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
    after_help = "Examples:\n  parlor sessions\n  parlor sessions search failing bridge\n  parlor sessions show 3f2a\n  parlor sessions export 3f2a -o bridge.html\n  parlor sessions backup ~/parlor.db\n  parlor --resume 3f2a"
)]
pub(crate) struct Sessions {
    #[command(subcommand)]
    pub(crate) act: Option<Act>,
}

impl Sessions {
    /// The words of a search that goes on as they are typed, if that was asked for.
    pub(crate) fn searched_as_typed(&self) -> Option<String> {
        match &self.act {
            Some(Act::Search(search)) if search.interactive => Some(search.words.join(" ")),
            _ => None,
        }
    }
}

/// What can be done with conversations; without a word, they are listed.
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
    /// Import a conversation that was exported as JSONL or saved as JSON; it becomes one of this project.
    Import(Import),
    /// Give a conversation another title.
    Rename(Rename),
    /// Delete conversations permanently. The space goes back to the disk.
    #[command(name = "rm", visible_aliases = ["remove", "delete"])]
    Remove(Remove),
    /// Undo what the last prompt of a conversation did to files.
    ///
    /// Files that you or others changed since are merged. Where the same lines were changed, nothing is written and the files are named.
    /// What was undone can be done again with `redo`; once more, it undoes the prompt before.
    Undo(Undo),
    /// Redo what was undone last.
    Redo(Undo),
    /// Move conversations to another store: a database, or `here` for the file of this machine.
    ///
    /// Each is copied record by record, compared by digest, and only then taken away where it was. What is interrupted goes on when it is
    /// run again. Contents of files for undo stay on this machine. From a database: `parlor --store postgres://… sessions move --to here`.
    Move(Move),
    /// What a conversation changed in files: since its last prompt that changed some, or since its start.
    Diff(Diff),
    /// Save what can be read of a damaged store into a new one, and say what is lost.
    ///
    /// Without FILE it is the usual store: every record that is whole goes into a new store, which takes the place of the damaged one;
    /// the damaged file stays beside it as `sessions.db.damaged-1`. No other Parlor may have it open meanwhile. Conversations with gaps
    /// say so when they are opened.
    ///
    /// With FILE (a backup, or a store that was kept aside), its conversations come into the usual store, unless one of the same id is
    /// there: that one is left as it is. FILE itself is only read.
    Recover(Recover),
    /// A copy of all conversations in another file, also while Parlor runs.
    ///
    /// The copy is consistent, for you alone (mode 0600), and a whole store: `parlor sessions recover FILE` takes back what is missing,
    /// and as `sessions.db` in a data folder it is that folder's store. A file that is there is never overwritten.
    ///
    /// What is damaged in the store is damaged in the copy: then it says so and the exit code is 6.
    Backup(Backup),
}

impl Default for Act {
    fn default() -> Act {
        Act::List(List { all: false, limit: LISTED, report: Report { json: false } })
    }
}

impl Act {
    /// Whether it changes nothing that is kept.
    pub(crate) fn only_reads(&self) -> bool {
        match self {
            Act::List(_)
            | Act::Show(_)
            | Act::Search(_)
            | Act::Tree(_)
            | Act::Export(_)
            | Act::Diff(_)
            | Act::Backup(_) => true,
            Act::Import(_)
            | Act::Rename(_)
            | Act::Remove(_)
            | Act::Undo(_)
            | Act::Redo(_)
            | Act::Move(_)
            | Act::Recover(_) => false,
        }
    }
}

/// Which conversations go where.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  parlor sessions move --to postgres://ada@db.example/team 3f2a\n  parlor --store postgres://ada@db.example/team sessions move --to here"
)]
pub(crate) struct Move {
    /// The database, as `--store` takes it, or `here`.
    #[arg(long, value_name = "PLACE")]
    pub(crate) to: String,
    /// The conversations; all where none is named.
    #[arg(value_name = "ID")]
    pub(crate) ids: Vec<String>,
    #[command(flatten)]
    pub(crate) report: Report,
}

/// How it is told.
#[derive(Debug, Args)]
pub(crate) struct Report {
    /// Tell it as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

/// What `sessions list` takes.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  parlor sessions list --all -n 50")]
pub(crate) struct List {
    /// Those of all projects.
    #[arg(long, short)]
    pub(crate) all: bool,
    /// How many at most.
    #[arg(long, short = 'n', value_name = "N", default_value_t = LISTED)]
    pub(crate) limit: usize,
    #[command(flatten)]
    pub(crate) report: Report,
}

/// What `sessions show` takes.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  parlor sessions show\n  parlor sessions show 3f2a --last 3")]
pub(crate) struct Show {
    /// The conversation, by its id or the beginning of it; without it, the newest one of this project.
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
#[command(
    after_help = "Examples:\n  parlor sessions search failing bridge --here\n  parlor sessions search -i"
)]
pub(crate) struct Search {
    /// What to look for.
    #[arg(required_unless_present = "interactive")]
    pub(crate) words: Vec<String>,
    /// As you type, in the terminal UI; Enter opens the match.
    #[arg(long, short, conflicts_with_all = ["here", "limit", "json"])]
    pub(crate) interactive: bool,
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
#[command(after_help = "Example:\n  parlor sessions tree 3f2a")]
pub(crate) struct Id {
    /// The conversation, by its id or the beginning of it; without it, the newest one of this project.
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
#[command(
    after_help = "Examples:\n  parlor sessions export 3f2a > bridge.md\n  parlor sessions export 3f2a -o bridge.html\n  parlor sessions export 3f2a -o bridge.jsonl"
)]
pub(crate) struct Export {
    /// The conversation, by its id or the beginning of it; without it, the newest one of this project.
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
#[command(after_help = "Example:\n  parlor sessions import bridge.jsonl")]
pub(crate) struct Import {
    /// The file; `-` is stdin.
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) report: Report,
}

/// What `sessions rename` takes.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  parlor sessions rename 3f2a the failing bridge")]
pub(crate) struct Rename {
    /// The conversation, by its id or the beginning of it.
    pub(crate) id: String,
    /// The new title; its words need no quotes.
    #[arg(required = true)]
    pub(crate) title: Vec<String>,
    #[command(flatten)]
    pub(crate) report: Report,
}

/// What `sessions rm` takes.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  parlor sessions rm 3f2a\n  parlor sessions rm --yes 3f2a")]
pub(crate) struct Remove {
    /// The conversations, by their ids or the beginnings of them.
    #[arg(required = true)]
    pub(crate) ids: Vec<String>,
    /// Do not ask whether it is meant.
    #[arg(long, short)]
    pub(crate) yes: bool,
    #[command(flatten)]
    pub(crate) report: Report,
}

/// What `sessions undo` and `sessions redo` take.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  parlor sessions undo\n  parlor sessions redo\n  parlor sessions diff --all"
)]
pub(crate) struct Undo {
    /// The conversation, by its id or the beginning of it; without it, the newest one of this project.
    pub(crate) id: Option<String>,
    /// Leave files that cannot be merged as they are, and do the others.
    #[arg(long)]
    pub(crate) leave: bool,
    #[command(flatten)]
    pub(crate) report: Report,
}

/// What `sessions diff` takes.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  parlor sessions diff\n  parlor sessions diff --git")]
pub(crate) struct Diff {
    /// The conversation, by its id or the beginning of it; without it, the newest one of this project.
    pub(crate) id: Option<String>,
    /// Since the start of the conversation.
    #[arg(long, short, conflicts_with = "git")]
    pub(crate) all: bool,
    /// Against what was committed last, as git tells it.
    #[arg(long)]
    pub(crate) git: bool,
    #[command(flatten)]
    pub(crate) report: Report,
}

/// What can be read of a damaged store.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  parlor doctor                          is the store whole?\n  parlor sessions recover\n  parlor sessions recover ~/parlor.db    what a backup has beside it"
)]
pub(crate) struct Recover {
    /// A store in another file, such as a backup.
    pub(crate) file: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) report: Report,
}

/// A copy of everything.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  parlor sessions backup ~/parlor-$(date +%F).db")]
pub(crate) struct Backup {
    /// Where to; no file of this name may be there.
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) report: Report,
}
