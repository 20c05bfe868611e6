//! Files that a UI holds open, perhaps changed and not saved: what our agent reads and writes goes through it.
//!
//! What it is not: a permission. Whether a file may be read or changed is decided before, as for files on the disk.

/// What a UI does with files on our behalf.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct UiFiles {
    /// It tells what it holds.
    pub reads: bool,
    /// It takes another content.
    pub writes: bool,
}

impl UiFiles {
    /// Whether it does anything.
    pub fn any(self) -> bool {
        self.reads || self.writes
    }
}

/// Names a request until it is answered; the engine counts them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileRequestId(pub u64);

/// What a UI is to do with a file. Paths are absolute, every link followed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileRequest {
    /// Tell all of its text.
    Read { path: String },
    /// Put this text in its place.
    Write { path: String, text: String },
}

impl FileRequest {
    /// About how many bytes it holds.
    pub fn weight(&self) -> usize {
        match self {
            FileRequest::Read { path } => path.len(),
            FileRequest::Write { path, text } => path.len() + text.len(),
        }
    }
}

/// How the reason begins where a UI has the file and what it said was too long to be heard: that is no word that there is none.
pub const TOO_LONG: &str = "what it holds is too long to be told";

/// The text of a file that was read, nothing for one that was written; or why it could not be done.
pub type FileAnswer = Result<String, String>;
