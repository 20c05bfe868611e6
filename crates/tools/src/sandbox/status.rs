//! What the sandbox really gives on this machine, in words that promise no more than that.

use super::leash::Lacks;
#[cfg(target_os = "linux")]
use super::{calls, landlocked, private};
#[cfg(target_os = "linux")]
use std::sync::OnceLock;

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
    /// Whether commands get a view of the file system of their own, or why not; `None` when it was not tried.
    pub namespaces: Option<Result<(), String>>,
    /// Whether the commands of a session get a network of their own, or why not; `None` when it was not tried.
    pub networks: Option<Result<(), String>>,
    /// The most important of it in words for a person.
    pub words: String,
}

/// What each version of Landlock brought, for whom a kernel lacks it.
const BROUGHT: &[(u32, &str)] = &[
    (2, "files cannot be moved to other folders, only copied"),
    (3, "a file outside can be emptied by truncating it, though not written"),
    (5, "requests to devices are not covered"),
    (6, "a command can signal your other programs, and talk to abstract sockets"),
];

impl Status {
    fn of(landlock: Option<u32>, filter: bool, namespaces: Option<Result<(), String>>) -> Status {
        let files = landlock.map_or_else(
            || {
                "no Landlock in this kernel: commands read and write wherever you may, only consent protects you"
                    .to_owned()
            },
            |version| {
                format!("Landlock {version}: commands write only in the workspace and temp, and read no secrets")
            },
        );
        let tcp = landlock.is_some_and(|version| version >= 4);
        let network = match (filter, tcp) {
            (true, _) => "they have no network unless allowed",
            (false, true) => "they have no TCP unless allowed, but everything else of the network",
            (false, false) => "this kernel cannot keep them off the network",
        };
        let words = format!("{files}; {network}");
        let network = filter || tcp;
        Status { landlock, files: landlock.is_some(), network, filter, namespaces, networks: None, words }
    }

    /// Whether commands can be held well enough to run them unasked, so that mode `sandboxed` can be had.
    ///
    /// # Errors
    /// In words for a person: what this kernel lacks.
    pub fn can_hold(&self) -> Result<(), String> {
        let lacks = match (self.files, self.network) {
            (false, _) => {
                "this kernel has no Landlock (Linux 5.13 with it switched on), so nothing keeps commands from \
                 reading and writing wherever you may"
            }
            (true, false) => {
                "this kernel can neither filter system calls nor TCP, so commands could reach the network"
            }
            (true, true) => return Ok(()),
        };
        Err(format!("mode sandboxed cannot be had here: {lacks}"))
    }

    /// All that holds and all that does not, a line each.
    pub fn lines(&self) -> Vec<String> {
        let mut lines = vec![self.words.clone()];
        if let Some(version) = self.landlock {
            lines.extend(
                BROUGHT.iter().filter(|(since, _)| version < *since).map(|(_, lack)| (*lack).to_owned()),
            );
        }
        if !self.filter {
            lines.push(
                "system calls are not filtered: io_uring and the kernel's key store are open".to_owned(),
            );
        }
        lines.push(match &self.namespaces {
            None => "namespaces: not tried".to_owned(),
            Some(Ok(())) => "namespaces work: commands have terminals of their own, the commands of a session have a /tmp, \
                             /var/tmp and /dev/shm of their own, sockets of Docker, D-Bus, tmux and the like are out of \
                             their reach, and protected files are read-only to them"
                .to_owned(),
            Some(Err(why)) => format!(
                "namespaces do not work here ({why}): programs that need a terminal fail in the sandbox, /tmp is \
                 shared with your programs, sockets of Docker, D-Bus, tmux and the like can be reached, and protected files are compared before \
                 and after each command instead of being read-only, and what listens at 127.0.0.1 must ask for the network"
            ),
        });
        match &self.networks {
            // Where namespaces do not work at all, that was said.
            Some(Ok(())) => lines.push(
                "the commands of a session have a network of their own: what they start at 127.0.0.1 or ::1 they reach \
                 there, and nothing of it leaves or comes in"
                    .to_owned(),
            ),
            Some(Err(why)) if matches!(self.namespaces, Some(Ok(()))) => lines.push(format!(
                "commands have no network of their own ({why}): one that listens at 127.0.0.1, as tests and servers do, \
                 must ask for the network"
            )),
            Some(Err(_)) | None => {}
        }
        lines.push(typing(self.filter).to_owned());
        lines
    }
}

/// What stands against typing for the person by TIOCSTI.
fn typing(filter: bool) -> &'static str {
    let off =
        std::fs::read_to_string("/proc/sys/dev/tty/legacy_tiocsti").is_ok_and(|text| text.trim() == "0");
    match (off, filter) {
        (true, _) => "typing into a terminal for you (TIOCSTI): switched off in this kernel",
        (false, true) => {
            "typing into a terminal for you (TIOCSTI): the kernel has it, commands are refused it"
        }
        (false, false) => {
            "typing into a terminal for you (TIOCSTI): the kernel has it; commands have no terminal"
        }
    }
}

/// What this kernel gives, honestly, as far as it can be told without a guard.
pub fn status() -> Status {
    of_kernel(Lacks::default(), None)
}

/// What this kernel gives without some of what it could do.
pub(super) fn without(lacks: Lacks, namespaces: Result<(), String>, networks: Result<(), String>) -> Status {
    #[cfg(target_os = "linux")]
    let namespaces = namespaces.map_err(|why| private::obstacle().map_or(why, str::to_owned));
    Status { networks: Some(networks), ..of_kernel(lacks, Some(namespaces)) }
}

fn of_kernel(lacks: Lacks, namespaces: Option<Result<(), String>>) -> Status {
    #[cfg(target_os = "linux")]
    {
        // It does not change while we run, and finding out takes a thread.
        static KERNEL: OnceLock<(Option<u32>, bool)> = OnceLock::new();
        let (landlock, filter) = *KERNEL.get_or_init(|| (landlocked::version(), calls::can_filter()));
        let most = lacks.landlock.unwrap_or(u32::MAX);
        let landlock = landlock.map(|version| version.min(most)).filter(|version| *version > 0);
        Status::of(landlock, filter && !lacks.filter, namespaces)
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = lacks;
        Status::of(None, false, namespaces)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_say_what_is_given() {
        assert!(Status::of(None, false, None).words.contains("only consent protects you"));
        assert!(Status::of(Some(3), false, None).words.contains("cannot keep them off the network"));
        assert!(Status::of(Some(6), false, None).words.contains("no TCP"));
        assert!(Status::of(Some(6), true, None).words.contains("no network unless allowed"));
        assert!(Status::of(None, true, None).network);
        assert_eq!(status().files, status().landlock.is_some());
    }

    #[test]
    fn what_a_kernel_lacks_is_said_line_by_line() {
        let said = |status: &Status, words: &str| status.lines().iter().any(|line| line.contains(words));
        let old = Status::of(Some(1), false, Some(Err("because".to_owned())));
        for words in [
            "cannot be moved",
            "emptied",
            "devices",
            "signal",
            "io_uring",
            "(because)",
            "compared before",
            "/tmp is shared",
        ] {
            assert!(said(&old, words), "{words}: {:?}", old.lines());
        }
        let new = Status::of(Some(9), true, Some(Ok(())));
        assert_eq!(new.lines().len(), 3, "{:?}", new.lines());
        assert!(said(&new, "read-only to them") && said(&new, "a /tmp"));
        let with = |networks| Status { networks: Some(networks), ..new.clone() };
        assert!(said(&with(Ok(())), "a network of their own: what they start at 127.0.0.1"));
        assert!(said(&with(Err("because".to_owned())), "no network of their own (because)"));
    }

    #[test]
    fn only_a_kernel_that_holds_files_and_network_holds_commands() {
        assert!(Status::of(None, true, None).can_hold().unwrap_err().contains("Landlock"));
        assert!(Status::of(Some(3), false, None).can_hold().unwrap_err().contains("network"));
        assert_eq!(Status::of(Some(1), true, None).can_hold(), Ok(()));
        assert_eq!(Status::of(Some(4), false, None).can_hold(), Ok(()));
    }
}
