//! Lines exactly as lemon's programs write them, in their names. No logic: what they mean is the roles' business.
//!
//! One set of types for each direction: what a UI says ([`Command`]) and what a runtime says ([`Frame`]: [`frame`], its events
//! [`event`], its messages [`message`], its questions and signals [`ui`]). What is written is the document's form, `__struct__` included.
//! What is read may lack nearly everything, since the existing programs leave out, add and rename; a member that is only written is
//! `skip_deserializing`. `[L]` marks what only the existing programs have, later than the document.

mod command;
pub mod event;
pub mod frame;
pub mod message;
pub mod ui;
mod words;

pub use command::{Command, StartSession};
pub use frame::Frame;
pub use words::Words;

/// The error that every existing client knows for a prompt while a run is under way.
pub const ALREADY_STREAMING: &str = ":already_streaming";
/// The error for whatever is not a command.
pub const UNKNOWN_COMMAND: &str = "unknown command";
/// `[L]` The error for a command without a session to go to.
pub const NO_ACTIVE_SESSION: &str = "no active session";
/// `[L]` The error for a session that is not open.
pub const SESSION_NOT_FOUND: &str = "session not found";

/// An enum of objects that one member tells apart, each named once for writing, for reading and for the schema. What is not known is read as `Unknown`.
///
/// serde's own tagged enums read everything into memory first, and JSON that must stay as it was written (`RawValue`) does not survive
/// that.
macro_rules! by_member {
    ($(#[$meta:meta])* pub enum $name:ident<$life:lifetime> by $member:literal {
        $($(#[$doc:meta])* $variant:ident = $kind:literal ($of:ty),)*
    }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, serde::Serialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        #[serde(tag = $member)]
        pub enum $name<$life> {
            $($(#[$doc])* #[serde(rename = $kind)] $variant($of),)*
            /// Something else, by what the member says. It is read and never written.
            #[serde(skip)]
            Unknown(String),
        }

        impl<'de, $life> serde::Deserialize<'de> for $name<$life> {
            fn deserialize<D: serde::Deserializer<'de>>(reader: D) -> Result<Self, D::Error> {
                #[derive(serde::Deserialize)]
                struct Head {
                    #[serde(default, rename = $member)]
                    kind: String,
                }
                let raw = Box::<serde_json::value::RawValue>::deserialize(reader)?;
                let read = match serde_json::from_str(raw.get()).map(|Head { kind }| kind) {
                    $(Ok(kind) if kind == $kind => serde_json::from_str(raw.get()).map($name::$variant),)*
                    Ok(kind) => Ok($name::Unknown(kind)),
                    Err(why) => Err(why),
                };
                read.map_err(serde::de::Error::custom)
            }
        }
    };
}
use by_member;
