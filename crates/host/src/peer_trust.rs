//! Judges the processes at the other end of a socket: where they come from, whether they may be a UI of ours (`link::entry` decides for
//! every door), what a refused one is told, and whether the runtime that we connect to is one that we may trust.

use crate::guard::GUARD;
use link::entry::{Door, Entry, Origin, decide};
use link::peer::{Ends, Holders, holders};
use link::unix::{Accepted, Peer, PeerProcess};
use std::os::fd::AsFd;
use tokio::task::JoinSet;
use tools::sandbox::NotAdmitted;

/// What a verdict on a process says of where it comes from.
fn origin(verdict: Result<(), NotAdmitted>) -> Origin {
    match verdict {
        Ok(()) => Origin::Person,
        Err(NotAdmitted::FromCommand) => Origin::Command,
        Err(NotAdmitted::BelowParlor(pid)) => Origin::Inside(pid),
        Err(NotAdmitted::LowerLimit) => Origin::LowerLimit,
        Err(NotAdmitted::Gone) => Origin::Gone,
        // Also what a later version says and we do not know.
        Err(_) => Origin::Unseen,
    }
}

/// How much is to be feared of an origin: of several who hold a connection, the worst counts.
fn worse(origin: &Origin) -> u8 {
    match origin {
        Origin::Person => 0,
        Origin::Inside(_) => 1,
        Origin::Proxy => 2,
        Origin::LowerLimit => 3,
        Origin::Unseen => 4,
        Origin::Gone => 5,
        Origin::NotLookedAt => 6,
        Origin::OtherUser => 7,
        Origin::Command => 8,
    }
}

/// Who is at the other end of a TCP connection. Blocks: it goes through the processes of this machine. `behind_proxy`: the person said
/// that a proxy of theirs stands before us.
pub(crate) fn look(ends: Ends, behind_proxy: bool) -> web::ConnectionOwner {
    let of = |pid, handle: Option<&std::os::fd::OwnedFd>| {
        if pid == std::process::id().cast_signed() {
            return Origin::Person;
        }
        origin(tools::sandbox::may_enter(GUARD, pid, handle.map(AsFd::as_fd)))
    };
    let (origin, process) = match holders(ends) {
        // Where the system does not tell, sockets are closed to other machines, and that is all.
        Holders::Untold => (Origin::Person, None),
        Holders::Elsewhere => (Origin::Unseen, None),
        Holders::NotLookedAt => (Origin::NotLookedAt, None),
        Holders::Here { uid, .. } if is_another(uid) => (Origin::OtherUser, None),
        Holders::Here { holders, hidden, .. } if holders.is_empty() => {
            // Who hides may hold it. If one of those is a command, it is taken for that one; if nobody hides, nobody holds it, but for
            // those who have it on the way from one process to another so that it is not seen.
            let worst = hidden.iter().map(|pid| of(*pid, None)).find(|origin| *origin == Origin::Command);
            let nobody = if hidden.is_empty() { Origin::Gone } else { Origin::Unseen };
            (worst.unwrap_or(nobody), None)
        }
        // Also one that hides may have it. That is no reason to doubt: else every command that hides would keep the person out.
        Holders::Here { holders, .. } => {
            let judged = holders.iter().map(|holder| (of(holder.pid, holder.handle.as_ref()), holder.pid));
            let worst = judged.max_by_key(|(origin, _)| worse(origin));
            worst.map_or((Origin::Gone, None), |(origin, pid)| (origin, Some(pid)))
        }
    };
    let origin = match origin {
        Origin::OtherUser | Origin::Unseen if behind_proxy => Origin::Proxy,
        origin => origin,
    };
    web::ConnectionOwner { origin, process }
}

/// Whether a user is neither us nor the administrator.
fn is_another(uid: u32) -> bool {
    uid != 0 && uid != rustix::process::getuid().as_raw()
}

/// Whether whoever is at the other end of a TCP connection may come in by a door where no code can be shown.
///
/// # Errors
/// Why not, in words.
pub(crate) async fn admit_tcp(door: Door, ends: Ends) -> Result<(), String> {
    let seen = tokio::task::spawn_blocking(move || look(ends, false)).await;
    let seen = seen.map_or(Origin::NotLookedAt, |seen| seen.origin);
    match decide(door, seen) {
        Entry::LetIn => Ok(()),
        Entry::Unproven | Entry::Refused => Err(match seen {
            Origin::Command => NotAdmitted::FromCommand.to_string(),
            Origin::Inside(pid) => NotAdmitted::BelowParlor(pid).to_string(),
            Origin::LowerLimit => NotAdmitted::LowerLimit.to_string(),
            Origin::Gone => "nobody can be seen to hold the connection".to_owned(),
            Origin::NotLookedAt => NOT_LOOKED_AT.to_owned(),
            Origin::OtherUser => "it belongs to another user of this machine".to_owned(),
            Origin::Person | Origin::Unseen | Origin::Proxy => NotAdmitted::Unknown.to_string(),
        }),
    }
}

/// Why nobody is let in when it cannot be looked who is there.
const NOT_LOOKED_AT: &str = "it could not be looked who holds the connection, so nobody is let in: Parlor may have no file descriptors \
                             left; end what has many connections to it, or raise `ulimit -n`";

/// The code of an error that refuses a connection.
const REFUSED: i32 = -32_001;

/// Whether whoever connects may be a UI: not what came from a command that an agent runs, which would answer for the person.
///
/// # Errors
/// Why it may not.
fn may_enter(peer: &Peer) -> Result<(), NotAdmitted> {
    match &peer.process {
        PeerProcess::Held(pid, handle) => tools::sandbox::may_enter(GUARD, *pid, Some(handle.as_fd())),
        PeerProcess::Named(pid) => tools::sandbox::may_enter(GUARD, *pid, None),
        PeerProcess::Gone => Err(NotAdmitted::Gone),
    }
}

/// Where whoever connected comes from, as it stands now. Blocks: it goes through the processes of this machine.
pub(crate) fn origin_of(peer: &Peer) -> Origin {
    if is_ourselves(peer) { Origin::Person } else { origin(may_enter(peer)) }
}

/// Whether whoever listens at a socket may be the runtime that a person talks to: not what came from a command that an agent runs, which
/// can move a socket away and listen in its place.
///
/// # Errors
/// Why it may not, for the person.
pub fn trust(listener: &Peer) -> Result<(), String> {
    if is_ourselves(listener) {
        return Ok(());
    }
    may_enter(listener).map_err(|why| format!("{}; {ANEW}", distrust(why)))
}

/// Whether this very process is at the other end, as when a screen looks at all sessions, its own among them. The number is ours for as
/// long as we can ask.
fn is_ourselves(peer: &Peer) -> bool {
    let ourselves = std::process::id().cast_signed();
    matches!(&peer.process, PeerProcess::Held(pid, _) | PeerProcess::Named(pid) if *pid == ourselves)
}

/// What to do about a runtime that is not believed.
const ANEW: &str = "start the runtime from a terminal of your own, with its socket in a folder that no command may write in \
                    (outside of projects and temp, mode 0700)";

/// Why a runtime is not believed.
fn distrust(why: NotAdmitted) -> String {
    match why {
        NotAdmitted::FromCommand => {
            "that socket belongs to a process started by an agent's command; it would read what you type and speak as your runtime"
                .to_owned()
        }
        NotAdmitted::Gone => {
            "the process that began to listen there is gone, or lives where it cannot be seen (another container), so nobody knows \
             who answers"
                .to_owned()
        }
        NotAdmitted::BelowParlor(pid) => format!(
            "whoever listens there was started from inside of Parlor (process {pid}), where it cannot be told from a command of the agent"
        ),
        other => format!("whoever listens there is not believed: {other}"),
    }
}

/// Most connections that are told at once why they are refused; more are closed unheard.
const MAX_REFUSALS: usize = 16;

/// Tells those who may not be a UI why.
#[derive(Default)]
pub(crate) struct Refusals(JoinSet<()>);

impl Refusals {
    /// Lets somebody in by a door, or tells it why not.
    ///
    /// # Errors
    /// Why not.
    pub(crate) fn admit(&mut self, door: Door, accepted: Accepted) -> Result<Accepted, NotAdmitted> {
        if is_ourselves(&accepted.peer) {
            return Ok(accepted);
        }
        let verdict = may_enter(&accepted.peer);
        let why = match (verdict, decide(door, origin(verdict))) {
            (_, Entry::LetIn) => return Ok(accepted),
            (Err(why), _) => why,
            (Ok(()), _) => NotAdmitted::Unknown,
        };
        while self.0.try_join_next().is_some() {}
        if self.0.len() < MAX_REFUSALS {
            self.0.spawn(accepted.refuse(refusal(why)));
        }
        Err(why)
    }
}

/// What is said to somebody who may not be a UI. No wire is chosen yet: this is an error of the native one and of JSON-RPC, and a
/// person can read it.
fn refusal(why: NotAdmitted) -> String {
    let words = format!("refused: {why}");
    serde_json::json!({"error": {"about": "hello", "code": REFUSED, "message": words}}).to_string()
}

#[cfg(target_os = "linux")]
#[cfg(test)]
mod tests {
    use super::*;
    use link::unix::Listener;
    use std::path::Path;
    use std::process::{Command, Stdio};

    /// Connects to the socket and stays until it is let go.
    const CONNECTS: &str =
        "socket(S, AF_UNIX, SOCK_STREAM, 0); connect(S, sockaddr_un($ARGV[0])) or die; sysread(S, $_, 1)";
    /// The same once whoever started it is gone.
    const ORPHAN: &str = "$first = $$; fork and exit; 1 while getppid == $first;";

    fn perl(program: &str, socket: &Path) -> Command {
        let mut command = Command::new("perl");
        command.args(["-MSocket", "-e", program]).arg(socket).stdin(Stdio::null());
        command
    }

    /// Whether kernels with and without handles on processes let in whoever connects now; `dies` waits until it is dead.
    async fn both(dies: bool, connect: impl Fn(&Path)) -> [Result<(), NotAdmitted>; 2] {
        let mut verdicts = Vec::new();
        for handles in [true, false] {
            let dir = tempfile::tempdir().unwrap();
            let listener = Listener::bind(&dir.path().join("s")).await.unwrap();
            let listener = if handles { listener } else { listener.without_handles() };
            connect(listener.path());
            let accepted = listener.accept().await.unwrap();
            if let (true, PeerProcess::Held(pid, _) | PeerProcess::Named(pid)) =
                (dies, &accepted.peer.process)
            {
                let ended = |stat: String| stat.rsplit(')').next().is_some_and(|rest| rest.starts_with(" Z"));
                while std::fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| !ended(stat)) {
                    tokio::task::yield_now().await;
                }
            }
            assert!(handles || !matches!(accepted.peer.process, PeerProcess::Held(..)));
            verdicts.push(may_enter(&accepted.peer));
        }
        verdicts.try_into().unwrap()
    }

    #[tokio::test]
    async fn without_a_handle_on_who_connects_the_same_are_let_in_and_refused() {
        let wait = |mut child: std::process::Child| assert!(child.wait().unwrap().success());
        // A program of the person's own; its first process is gone, so it is no child of ours.
        let person =
            both(false, |socket| wait(perl(&format!("{ORPHAN} {CONNECTS}"), socket).spawn().unwrap())).await;
        assert_eq!(person, [Ok(()), Ok(())]);
        // It connected and is gone, and nobody has its number.
        let gone = both(true, |socket| {
            let program = CONNECTS.replace("sysread(S, $_, 1)", "exit");
            wait(perl(&program, socket).spawn().unwrap());
        });
        let gone = gone.await;
        assert!(gone[0] == Err(NotAdmitted::Gone) && gone[1].is_err(), "{gone:?}");
        // It connected for another process and is gone, but nobody took leave of it: its number still tells of it.
        let zombie = both(true, |socket| {
            // Until its child has connected there is nothing to read.
            let program = "socket(S, AF_UNIX, SOCK_STREAM, 0); fork or connect(S, sockaddr_un($ARGV[0])) && exit; 1 until defined sysread(S, $_, 1)";
            wait(perl(&format!("{ORPHAN} {program}"), socket).spawn().unwrap());
        });
        assert_eq!(zombie.await, [Err(NotAdmitted::Gone); 2]);
        let unseen = Peer { uid: 0, process: PeerProcess::Gone };
        assert_eq!(may_enter(&unseen), Err(NotAdmitted::Gone));
        // It stands below what looks like a guard, which is no child of ours.
        let dir = tempfile::tempdir().unwrap();
        let guard = dir.path().join(GUARD);
        // Only its words make it a guard.
        std::fs::write(&guard, format!("perl -MSocket -e '{CONNECTS}' \"$2\"; exit")).unwrap();
        let command = both(false, |socket| {
            let script =
                format!("chdir q({}); {ORPHAN} exec qw(sh {GUARD} --parent), @ARGV", dir.path().display());
            wait(perl(&script, socket).spawn().unwrap());
        });
        assert_eq!(command.await, [Err(NotAdmitted::FromCommand); 2]);
    }
}
