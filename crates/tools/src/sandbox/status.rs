//! What the sandbox really gives on this machine, in words that promise no more than that.

use super::leash::Lacks;
#[cfg(target_os = "linux")]
use super::{calls, landlocked};

/// What the sandbox really gives on this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Status {
    /// The version of Landlock, when there is one.
    pub landlock: Option<u32>,
    /// Whether reading and writing outside of what is allowed is stopped.
    pub files: bool,
    /// Whether the network is closed.
    pub network: bool,
    /// Whether system calls can be filtered.
    pub filter: bool,
    /// All that in words for a person.
    pub words: String,
}

impl Status {
    fn of(landlock: Option<u32>, filter: bool) -> Status {
        let files = landlock.map_or_else(
            || {
                "no Landlock in this kernel: commands write wherever you may, only consent protects you"
                    .to_owned()
            },
            |version| format!("Landlock {version}: commands write only in the workspace and temp"),
        );
        let tcp = landlock.is_some_and(|version| version >= 4);
        let network = match (filter, tcp) {
            (true, _) => "they have no network unless allowed",
            (false, true) => "they have no TCP unless allowed, but everything else of the network",
            (false, false) => "this kernel cannot keep them off the network",
        };
        let words = format!("{files}; {network}");
        Status { landlock, files: landlock.is_some(), network: filter || tcp, filter, words }
    }
}

/// What this kernel gives, honestly.
pub fn status() -> Status {
    without(Lacks::default())
}

/// What this kernel gives without some of what it could do.
pub(super) fn without(lacks: Lacks) -> Status {
    #[cfg(target_os = "linux")]
    {
        let most = lacks.landlock.unwrap_or(u32::MAX);
        let landlock = landlocked::version().map(|version| version.min(most)).filter(|version| *version > 0);
        Status::of(landlock, !lacks.filter && calls::can_filter())
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = lacks;
        Status::of(None, false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_say_what_is_given() {
        assert!(Status::of(None, false).words.contains("only consent protects you"));
        assert!(Status::of(Some(3), false).words.contains("cannot keep them off the network"));
        assert!(Status::of(Some(6), false).words.contains("no TCP"));
        assert!(Status::of(Some(6), true).words.contains("no network unless allowed"));
        assert!(Status::of(None, true).network);
        assert_eq!(status().files, status().landlock.is_some());
    }
}
