//! What a server told of itself when it last ran: its tools, its words on how to use them, its prompts and resources. Kept, so that the first request of the next
//! session has them without waiting, and has the same ones. Reads and writes files: call where blocking is allowed.
//!
//! It says nothing about what may run: that is the person's word, in `approvals`. It lies where no server can write, and belongs to one
//! entry of one project (or the person): whoever changes the entry has no card.

use super::beside::BesideTools;
use super::tool::Offered;
use crate::private_file::write_private;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// The folder of all of them below the data folder.
const FOLDER: &str = "mcp-cards";
/// Largest card; a server that tells more is waited for each time.
const MAX_CARD: usize = 1024 * 1024;

/// What a server told of itself.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Card {
    pub(super) tools: Vec<Offered>,
    /// How to use them, in its own words.
    pub(super) instructions: Option<String>,
    /// Its prompts and resources.
    #[serde(default)]
    pub(super) beside: BesideTools,
}

/// Where the card of a server lies.
#[derive(Debug, Clone)]
pub(super) struct CardFile(PathBuf);

impl CardFile {
    /// `digest` is that of the entry; `project` brought it, if that was not the person.
    pub(super) fn of(data: &Path, project: Option<&Path>, digest: &str) -> CardFile {
        let project = project.unwrap_or(Path::new("")).display();
        let name = tools::digest::hex(format!("{project}\n{digest}").as_bytes());
        CardFile(data.join(FOLDER).join(format!("{name}.json")))
    }

    /// The card, if there is one that can be read.
    pub(super) fn read(&self) -> Option<Card> {
        let size = std::fs::metadata(&self.0).ok()?.len();
        if size > MAX_CARD as u64 {
            return None;
        }
        serde_json::from_str(&std::fs::read_to_string(&self.0).ok()?).ok()
    }

    /// Keeps a card. Where that does not work the next session waits for the server, as without one.
    pub(super) fn write(&self, card: &Card) {
        if let Some(text) = serde_json::to_string(card).ok().filter(|text| text.len() <= MAX_CARD) {
            let _ = write_private(&self.0, &text);
        }
    }

    /// The server did not start: what it told before is no longer to be counted on.
    pub(super) fn remove(&self) {
        let _ = std::fs::remove_file(&self.0);
    }
}
