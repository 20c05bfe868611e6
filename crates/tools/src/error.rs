//! Why a tool cannot do what it was called for, in words for the model. What becomes of it is the caller's.

use rustix::io::Errno;
use std::io;
use std::path::{Path, PathBuf};

/// Why a call cannot be planned or done. The text is for the model: it says what to do next.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ToolError {
    /// The arguments do not fit.
    #[error("{tool}: {why}")]
    Args {
        tool: String,
        /// What is wrong and what would be right.
        why: String,
    },
    /// The file system said no.
    #[error("{}: {source}", domain::path_text::write(path))]
    Io { path: PathBuf, source: io::Error },
    /// The path cannot be used for this.
    #[error("{}: {why}", domain::path_text::write(path))]
    Path {
        path: PathBuf,
        /// What is wrong and what to do instead.
        why: String,
    },
    /// The file is not the one that was read.
    #[error(
        "{} changed since it was read: read it again, then repeat the change",
        domain::path_text::write(path)
    )]
    Changed { path: PathBuf },
    /// What was shown is no longer what would happen.
    #[error("{tool}: the files changed since this call was shown: plan it again")]
    Stale { tool: String },
}

impl ToolError {
    /// Makes an error of what the system said about this file.
    pub(crate) fn io(path: &Path) -> impl FnOnce(io::Error) -> ToolError {
        let path = path.to_owned();
        move |source| ToolError::Io { path, source }
    }

    /// A path that the tool refuses, with the reason.
    pub(crate) fn path(path: &Path, why: impl Into<String>) -> ToolError {
        ToolError::Path { path: path.to_owned(), why: why.into() }
    }

    /// What a tool says when the path cannot be used: that it leads elsewhere now, where that is why.
    pub(crate) fn at_path(tool: &'static str, path: &Path) -> impl Fn(io::Error) -> ToolError {
        let path = path.to_owned();
        move |source| match Errno::from_io_error(&source) {
            Some(Errno::NOTDIR | Errno::LOOP) => ToolError::Stale { tool: tool.to_owned() },
            _ => ToolError::Io { path: path.clone(), source },
        }
    }
}
