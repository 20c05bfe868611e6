//! Whether a planned call may run: remembered rules and policy modes.

use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// What a person allowed for good, for one project.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Rule {
    /// The tool it is for; `None` when the matcher alone says it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// Which of its calls.
    pub matcher: Matcher,
}

/// Which calls a rule covers.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Matcher {
    /// Every call of the tool.
    Whole,
    /// Commands that start with these words.
    Prefix {
        /// The words.
        words: Vec<String>,
    },
    /// Commands that are exactly these words.
    Exact {
        /// The words.
        words: Vec<String>,
    },
    /// Writes to files in this directory or below.
    Under {
        /// The directory, canonical.
        dir: PathBuf,
    },
}
