//! Where a session of another program's runtime comes from: what it speaks, where it is reached, and what it calls the session.
//!
//! It is enough to reach the runtime again, and no more: nothing of the environment is in it. What is only known as text here is
//! started or connected to by whoever owns processes and sockets. Invariant: two sessions with an equal origin that has a name are the
//! same conversation of the same runtime.

use crate::ids::SessionId;
use serde::{Deserialize, Serialize};

/// Most of a command that is kept, in bytes. A longer one is kept cut, and cannot be started again from here.
pub const MAX_COMMAND: usize = 16 * 1024;

/// The runtime that a session is held by, when it is not ours.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Origin {
    /// The wire that it speaks, by its name.
    pub dialect: String,
    pub place: RuntimePlace,
    /// What the runtime calls the session, once it has said so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
}

/// How it is reached again.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum RuntimePlace {
    /// Listening on this socket.
    Socket { path: String },
    /// Started with these words.
    Command {
        words: Vec<String>,
        /// Where it was started.
        folder: String,
        /// Whether something of the words is left out, such as what looks like a key: it cannot be started from them.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        incomplete: bool,
    },
}

impl RuntimePlace {
    /// As a person would type it: words with anything but plain characters in quotes.
    pub fn typed(&self) -> String {
        match self {
            RuntimePlace::Socket { path } => shell_word(path),
            RuntimePlace::Command { words, .. } => {
                words.iter().map(|word| shell_word(word)).collect::<Vec<_>>().join(" ")
            }
        }
    }
}

impl Origin {
    /// The origin of another session of the same runtime.
    #[must_use]
    pub fn named(&self, session: impl Into<String>) -> Origin {
        Origin { session: Some(session.into()), ..self.clone() }
    }

    /// Whether it is of the same runtime, whatever its session is called.
    pub fn is_beside(&self, other: &Origin) -> bool {
        (&self.dialect, &self.place) == (&other.dialect, &other.place)
    }

    /// The id under which a session of this origin is kept: the same wherever it is asked for, so that two who follow one session
    /// cannot keep it twice. `None` while the runtime has not named it.
    pub fn kept_as(&self) -> Option<SessionId> {
        let session = self.session.as_deref()?;
        let mut words = vec![self.dialect.as_str()];
        match &self.place {
            RuntimePlace::Socket { path } => words.extend(["socket", path]),
            RuntimePlace::Command { words: command, folder, .. } => {
                words.extend(["command", folder]);
                words.extend(command.iter().map(String::as_str));
            }
        }
        words.push(session);
        let bytes = words.into_iter().flat_map(|word| word.bytes().chain([0]));
        let hash = bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
        });
        Some(SessionId::from_number((hash ^ (hash >> 48)) & 0xffff_ffff_ffff))
    }

    /// About how much text it holds.
    pub fn weight(&self) -> usize {
        let place = match &self.place {
            RuntimePlace::Socket { path } => path.len(),
            RuntimePlace::Command { words, folder, .. } => {
                folder.len() + words.iter().map(String::len).sum::<usize>()
            }
        };
        self.dialect.len() + place + self.session.as_ref().map_or(0, String::len)
    }
}

/// A word as a shell takes it for one.
pub fn shell_word(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@%+,[]".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn started(words: &[&str], folder: &str, session: Option<&str>) -> Origin {
        let words = words.iter().map(|&word| word.to_owned()).collect();
        let place = RuntimePlace::Command { words, folder: folder.into(), incomplete: false };
        Origin { dialect: "wire".into(), place, session: session.map(Into::into) }
    }

    #[test]
    fn one_session_has_one_id_and_another_has_another() {
        let one = started(&["agent", "-x"], "/p", Some("s1"));
        assert_eq!(one.kept_as(), started(&["agent", "-x"], "/p", Some("s1")).kept_as());
        assert_eq!(started(&["agent"], "/p", None).kept_as(), None);
        let socket = Origin { place: RuntimePlace::Socket { path: "/p".into() }, ..one.clone() };
        for other in [
            started(&["agent -x"], "/p", Some("s1")),
            started(&["agent", "-x"], "/q", Some("s1")),
            started(&["agent", "-x"], "/p", Some("s2")),
            Origin { dialect: "other".into(), ..one.clone() },
            socket,
        ] {
            assert_ne!(one.kept_as(), other.kept_as(), "{other:?}");
        }
    }

    #[test]
    fn a_command_is_shown_as_a_shell_reads_it() {
        let place = started(&["agent", "--say", "it's here", "", "$(rm)"], "/p", None).place;
        assert_eq!(place.typed(), r"agent --say 'it'\''s here' '' '$(rm)'");
    }
}
