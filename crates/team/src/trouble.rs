//! What a database says no with, as what is to be done about it.

use std::error::Error as _;
use store::StoreError;
use tokio_postgres::Error;
use tokio_postgres::error::SqlState;

/// Why a call did not succeed.
#[derive(Debug)]
pub(crate) enum Trouble {
    /// Nobody knows what became of it: the connection is gone, or no answer came.
    Lost(String),
    /// It changed nothing, and may be made again at once: somebody else was in the way.
    Again(String),
    /// It changed nothing, and cannot succeed as it is.
    Refused(StoreError),
}

impl Trouble {
    /// No answer came within the time of a call.
    pub(crate) fn silent() -> Trouble {
        Trouble::Lost("it has not answered in time".to_owned())
    }

    /// The same for the caller, once nothing more is tried.
    pub(crate) fn told(self, place: &str) -> StoreError {
        match self {
            Trouble::Lost(detail) | Trouble::Again(detail) => {
                StoreError::Unreachable { place: place.to_owned(), detail }
            }
            Trouble::Refused(why) => why,
        }
    }
}

/// What an error of the library means.
pub(crate) fn trouble(place: &str, error: &Error) -> Trouble {
    let detail = in_words(error);
    let Some(code) = error.code() else {
        // It asks for a password, and we have none.
        if detail.contains("password missing") {
            let detail = "it asks for a password, and no file names one".to_owned();
            return Trouble::Refused(StoreError::Denied { place: place.to_owned(), detail });
        }
        if is_refusal(error) {
            return Trouble::Refused(StoreError::Unreachable { place: place.to_owned(), detail });
        }
        // The socket, or what came over it.
        return Trouble::Lost(detail);
    };
    let place = place.to_owned();
    match code {
        &SqlState::T_R_SERIALIZATION_FAILURE
        | &SqlState::T_R_DEADLOCK_DETECTED
        | &SqlState::LOCK_NOT_AVAILABLE => Trouble::Again(detail),
        // The server goes, comes, or is the one that only follows another.
        &SqlState::ADMIN_SHUTDOWN
        | &SqlState::CRASH_SHUTDOWN
        | &SqlState::CANNOT_CONNECT_NOW
        | &SqlState::TOO_MANY_CONNECTIONS
        | &SqlState::QUERY_CANCELED
        | &SqlState::READ_ONLY_SQL_TRANSACTION => Trouble::Lost(detail),
        &SqlState::DISK_FULL => Trouble::Refused(StoreError::Full { path: place.into() }),
        &SqlState::INVALID_PASSWORD | &SqlState::INVALID_AUTHORIZATION_SPECIFICATION => {
            Trouble::Refused(StoreError::Denied { place, detail })
        }
        &SqlState::INSUFFICIENT_PRIVILEGE => Trouble::Refused(StoreError::Database { place, detail }),
        code if code.code().starts_with("08") => Trouble::Lost(detail),
        _ => Trouble::Refused(StoreError::Database { place, detail }),
    }
}

/// Whether two could not agree on TLS: that is so the next time, too.
fn is_refusal(error: &Error) -> bool {
    let Some(source) = error.source().filter(|_| error.to_string().contains("TLS")) else { return false };
    source
        .downcast_ref::<std::io::Error>()
        .is_none_or(|source| source.kind() == std::io::ErrorKind::InvalidData)
}

fn in_words(error: &Error) -> String {
    if let Some(said) = error.as_db_error() {
        return said.message().to_owned();
    }
    match error.source() {
        Some(source) => source.to_string(),
        None => error.to_string(),
    }
}
