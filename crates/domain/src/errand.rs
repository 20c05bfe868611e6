//! Errands: what a foreign runtime has done by our hands instead of its own, with files and commands of this machine.
//!
//! What it is not: a permission. Whoever does errands judges each by our mode and our rules, as what our own agent wants is judged;
//! where a person must say, the runtime's role puts the question and tells what was answered.

use crate::ask::{Assessment, Preview, Scope};
use crate::command::FilesCommand;
use crate::content::Json;
use crate::ids::SessionId;
use crate::session::Policy;
use crate::tool::{Decider, ToolResult};

/// Names an errand until it is done; the role counts them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ErrandId(pub u64);

/// What is wanted. Paths are as the runtime wrote them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Errand {
    /// Tell the text of a file.
    Read {
        path: String,
        /// From this line on, counted from 1.
        line: Option<u64>,
        /// This many lines.
        limit: Option<u64>,
    },
    /// Put this text in the place of a file, or make it.
    Write {
        path: String,
        text: String,
    },
    Start(CommandErrand),
    /// Tell what a command has printed, and whether it is over.
    Output {
        terminal: String,
    },
    /// Tell how a command ends, once it does.
    Wait {
        terminal: String,
    },
    /// End a command; what it printed can still be asked for.
    Kill {
        terminal: String,
    },
    /// End a command and forget it.
    Release {
        terminal: String,
    },
    /// Say whether the runtime may do something by its own hands, which it asks for first.
    Judge(Box<AskedCall>),
    /// Keep what stands in the files: the runtime is about to hear this prompt.
    Before {
        prompt: String,
    },
    /// What began so is over: write down what changed.
    After {
        of: ErrandId,
    },
    /// Take back, do again or show what prompts did to files.
    Files(FilesCommand),
}

/// What a runtime wants to do by its own hands, as it showed it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AskedCall {
    /// The runtime's name for its tool.
    pub name: String,
    pub args: Json,
    /// The command line that would run, where it is one, and where.
    pub command: Option<String>,
    pub cwd: Option<String>,
    /// The changes of files that it would make.
    pub changes: Vec<AskedChange>,
    /// Whether that is all of it: what shows more than we can judge is always asked about.
    pub is_whole: bool,
}

/// A change of a file as a runtime shows it: of the whole text or of one place of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AskedChange {
    pub path: String,
    /// `None` where the file is new.
    pub old: Option<String>,
    pub new: String,
}

/// A command that is to be started.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CommandErrand {
    /// A program, or a whole line for a shell where there are no arguments.
    pub command: String,
    pub args: Vec<String>,
    /// Variables that are set for it.
    pub env: Vec<(String, String)>,
    pub cwd: Option<String>,
    /// Bytes of output that are kept, the last ones.
    pub output_limit: Option<u64>,
}

/// What a role says about an errand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ErrandStep {
    Wanted(Errand),
    /// The person said yes to what was asked.
    Allowed(Scope),
    /// Nobody wants it any more, or the person said no.
    Dropped,
}

/// The same as it reaches whoever does errands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ErrandOrder {
    pub id: ErrandId,
    /// The session that it is for, once there is one.
    pub session: Option<SessionId>,
    pub step: ErrandStep,
    /// The mode of this moment.
    pub policy: Policy,
}

/// What became of an errand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ErrandNews {
    /// A person must say.
    Asks(Box<ErrandConsent>),
    /// It is being done and nobody was asked: what it is, for whoever watches. Left out for what only looks.
    Begins { name: String, args: Json },
    /// It is done; what there is to see of it is for whoever watches.
    Done { done: ErrandDone, seen: Option<ToolResult> },
    /// A command that was started has written more: for whoever watches.
    Wrote(String),
    /// A command that was started is over.
    Over(ToolResult),
    /// It was not done.
    Refused { cause: ErrandCause, why: String },
}

/// A question about an errand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ErrandConsent {
    pub title: String,
    /// The tool of ours that would do it, and its arguments.
    pub name: String,
    pub args: Json,
    pub preview: Option<Preview>,
    pub assessment: Assessment,
    /// The rule that "always" would add, in words.
    pub rule: Option<String>,
}

/// What came of an errand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ErrandDone {
    /// Nothing more to say.
    Nothing,
    /// The text of a file.
    Text(String),
    /// A command was started, by this name.
    Started(String),
    Output {
        text: String,
        /// Whether something was left out.
        truncated: bool,
        /// How it ended, if it did.
        end: Option<CommandEnd>,
    },
    Ended(CommandEnd),
    /// It may be done, and who said so.
    Allowed(Decider),
    /// What became of files, in words, and the code of the notice where they were changed.
    Files {
        text: String,
        noted: Option<String>,
    },
}

/// By what a command came to its end, as far as that is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommandEnd {
    /// By itself; `None` when a signal ended it, which one is not known.
    Exited(Option<i32>),
    /// Because it was told to.
    Stopped,
}

/// Why an errand was not done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrandCause {
    /// Our mode does not let it happen.
    Mode,
    /// There is no such file or command.
    Missing,
    /// It cannot be done as it was wanted.
    Failed,
}
