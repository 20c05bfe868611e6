//! What the hub needs of a store while it thinks: reading, and taking away. Writing is an output of the core
//! ([`crate::core::Out::Append`]).

use domain::command::{ExportFormat, History, Refusal};
use domain::ids::SessionId;
use domain::session::SessionSummary;
use domain::state::State;
use store::Opened;

/// Kept sessions.
pub trait Shelf {
    /// Opens a session for writing; `None` if there is none.
    ///
    /// # Errors
    /// When it is open elsewhere or the store cannot be read; the refusal says what to do.
    fn open(&mut self, session: &SessionId) -> Result<Option<Opened>, Refusal>;

    /// Whether there is such a session.
    ///
    /// # Errors
    /// When the store cannot be read.
    fn holds(&self, session: &SessionId) -> Result<bool, Refusal>;

    /// Sessions, newest first.
    ///
    /// # Errors
    /// When the store cannot be read.
    fn list(
        &self,
        project: Option<&str>,
        limit: Option<u64>,
        search: Option<&str>,
    ) -> Result<Vec<SessionSummary>, Refusal>;

    /// The newest events of the last runs.
    ///
    /// # Errors
    /// When the store cannot be read.
    fn history(&self, session: &SessionId, max_runs: u64, max_events: u64) -> Result<History, Refusal>;

    /// A session as a text.
    ///
    /// # Errors
    /// When it cannot be written that way.
    fn export(&self, session: &SessionId, state: &State, format: ExportFormat) -> Result<String, Refusal>;

    /// Takes a session away for good.
    ///
    /// # Errors
    /// When it is open elsewhere or the store cannot be written; it is all there then.
    fn delete(&mut self, session: &SessionId) -> Result<(), Refusal>;

    /// Writes a session to a JSON file; where it is and how many bytes it has.
    ///
    /// # Errors
    /// When the file is outside the allowed places, there already, or cannot be written.
    fn save_file(
        &self,
        session: &SessionId,
        state: &State,
        path: Option<&str>,
        history: bool,
    ) -> Result<(String, u64), Refusal>;

    /// A session from a JSON file that was saved before.
    ///
    /// # Errors
    /// When the file is outside the allowed places, unreadable, or not such a file.
    fn load_file(&self, path: &str) -> Result<State, Refusal>;
}
