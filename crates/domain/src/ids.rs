//! Identities and time. Ids are minted here and never reused; the ids that a foreign wire uses stay inside its role.
//!
//! Inside one session every id comes from one counter ([`Ids`]), so ids also tell the order of creation.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Milliseconds since the Unix epoch. The domain never reads a clock: time is handed in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(inline))]
pub struct Millis(pub u64);

impl Millis {
    /// Time passed since `earlier`; zero when the clock jumped backwards.
    pub fn since(self, earlier: Millis) -> u64 {
        self.0.saturating_sub(earlier.0)
    }
}

/// Position of an event in its session; the first event has 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(inline))]
pub struct Seq(pub u64);

impl Seq {
    /// The position after this one.
    pub fn next(self) -> Seq {
        Seq(self.0 + 1)
    }
}

/// Shortest session id that existing clients survive (one of them slices the first eight bytes).
pub const MIN_SESSION_ID: usize = 8;
/// Longest session id accepted from outside.
pub const MAX_SESSION_ID: usize = 128;

/// A session: `sess-` and at least eight ASCII characters in all.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(inline))]
#[serde(try_from = "String")]
pub struct SessionId(Arc<str>);

impl SessionId {
    /// Takes text from outside; `None` unless it is a plain name (no path can be smuggled in).
    pub fn parse(text: &str) -> Option<SessionId> {
        let plain = text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_' || b == b'.');
        let sized = (MIN_SESSION_ID..=MAX_SESSION_ID).contains(&text.len());
        (plain && sized && !text.contains("..")).then(|| SessionId(text.into()))
    }

    /// A new id from a number that the shell chose (time and randomness are its business).
    pub fn from_number(number: u64) -> SessionId {
        SessionId(format!("sess-{number:012x}").into())
    }

    /// The id for a session that a foreign runtime names like this: the name itself where it is plain, else one that is made of it.
    pub fn of_peer(name: &str) -> SessionId {
        SessionId::parse(name).unwrap_or_else(|| {
            let hash = name.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
                (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
            });
            SessionId::from_number(hash & 0xffff_ffff_ffff)
        })
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl TryFrom<String> for SessionId {
    type Error = String;

    fn try_from(text: String) -> Result<SessionId, String> {
        SessionId::parse(&text).ok_or_else(|| format!("`{text}` is not a session id"))
    }
}

macro_rules! id {
    ($(#[$doc:meta])* $name:ident, $prefix:literal) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(inline))]
        pub struct $name(pub u64);

        impl $name {
            /// Mints the next id of this kind.
            pub fn mint(ids: &Ids) -> $name {
                $name(ids.next())
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!($prefix, "-{}"), self.0)
            }
        }

        impl FromStr for $name {
            type Err = NotAnId;
            fn from_str(text: &str) -> Result<$name, NotAnId> {
                let number = text.strip_prefix(concat!($prefix, "-")).ok_or(NotAnId)?;
                number.parse().map($name).map_err(|_| NotAnId)
            }
        }
    };
}

/// The text is not an id of the wanted kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotAnId;

impl fmt::Display for NotAnId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not an id of this kind")
    }
}

impl std::error::Error for NotAnId {}

id!(
    /// From a prompt to its end.
    RunId, "run");
id!(
    /// One input of a run until the model has nothing more to do.
    TurnId, "turn");
id!(
    /// One model response and its tool calls.
    StepId, "step");
id!(
    /// A node of the session's tree; a message's entry carries the message's number.
    EntryId, "entry");
id!(MessageId, "msg");
id!(
    /// One use of a tool.
    ToolRunId, "tool");
id!(
    /// A question to the person.
    AskId, "ask");
id!(
    /// An input that waits for its turn.
    QueuedId, "queued");
id!(
    /// One attached UI.
    UiId, "ui");

impl From<MessageId> for EntryId {
    fn from(message: MessageId) -> EntryId {
        EntryId(message.0)
    }
}

/// The counter that one session's ids come from. Clones share it, so that the engine of a run and the hub never collide.
#[derive(Debug, Clone, Default)]
pub struct Ids(Arc<AtomicU64>);

impl Ids {
    /// A counter whose next id is `last + 1`.
    pub fn after(last: u64) -> Ids {
        Ids(Arc::new(AtomicU64::new(last)))
    }

    /// Takes the next number.
    pub fn next(&self) -> u64 {
        self.0.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Makes sure that no number up to `seen` is minted again.
    pub fn at_least(&self, seen: u64) {
        self.0.fetch_max(seen, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_read_back_what_they_print() {
        let ids = Ids::after(6);
        let run = RunId::mint(&ids);
        assert_eq!(run.to_string(), "run-7");
        assert_eq!("run-7".parse(), Ok(run));
        assert_eq!("msg-7".parse::<RunId>(), Err(NotAnId));
    }

    #[test]
    fn session_ids_cannot_carry_a_path() {
        assert!(SessionId::parse("sess-0123abcd").is_some());
        for bad in ["", "short", "sess-../../etc/passwd", "sess-a..b..c", "sess-with space", "sess/../../x"] {
            assert_eq!(SessionId::parse(bad), None, "{bad}");
        }
    }
}
