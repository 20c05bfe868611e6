//! The guard's own life, in a process of its own.
//!
//! States: set up → command runs → one of: it ended, we are asked to stop, our parent died → everything that came from
//! the command is ended and reaped → exit with the command's code. It adopts orphans (it is a subreaper), so nothing gets away.
//! It never limits itself to what the command may do: a process with the command's limits could be killed or traced by it.
//!
//! SIGTERM and SIGHUP ask the family to end and end it after the grace time; SIGINT ends it at once.

use super::family::{Family, Reaped};
#[cfg(target_os = "linux")]
use super::keeper;
use super::{Leash, limiter, limits};
use std::convert::Infallible;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use tokio::signal::unix::{Signal as Signals, SignalKind, signal};
use tokio::time::{Instant, sleep, sleep_until, timeout};

/// How long the command may take to end after it was asked to, when nobody said otherwise.
const GRACE: Duration = Duration::from_millis(100);
/// How long we wait between two looks for processes that are still there.
const ROUND: Duration = Duration::from_millis(2);
/// How often we look before giving up: something does not die, whatever we do.
const MAX_ROUNDS: usize = 500;
/// How often the parent is looked for where the kernel cannot tell us.
const POLL: Duration = Duration::from_millis(200);
/// The first argument of a limiter, in the place of the guard's own.
const LIMIT: &str = "--limit";

/// The first argument of a guard: who started it.
pub(super) const PARENT: &str = "--parent";
/// The only argument of a guard that tries whether namespaces work.
pub(super) const PROBE: &str = "--probe";
/// The only argument of what keeps a network instead.
pub(super) const KEEP: &str = "--keep";
/// The exit code of a guard that found namespaces to work, but none for a network.
pub(super) const NO_NETWORK: u8 = 3;

/// Why a command could not be guarded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GuardError {
    /// The arguments do not fit.
    #[error("guard: {0}")]
    Usage(String),
    /// Whoever started us is gone.
    #[error("guard: the program that started it is gone")]
    ParentGone,
    /// The system said no.
    #[error("guard: cannot {what}: {source}")]
    System { what: &'static str, source: std::io::Error },
    /// Namespaces work here, but there is none for a network.
    #[error("guard: cannot make a network: {source}")]
    NoNetwork { source: std::io::Error },
    /// The command cannot be started.
    #[error("{}: {source}", program.display())]
    Spawn {
        program: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
}

impl GuardError {
    /// The exit code: of what was only tried its own, else that which a shell has for it, 127 for a program that is not there, else 126.
    pub fn exit_code(&self) -> u8 {
        match self {
            GuardError::Spawn { source, .. } if source.kind() == std::io::ErrorKind::NotFound => 127,
            GuardError::NoNetwork { .. } => NO_NETWORK,
            _ => 126,
        }
    }
}

/// Makes an error of what the system said about this attempt.
pub(super) fn system<E: Into<std::io::Error>>(what: &'static str) -> impl FnOnce(E) -> GuardError {
    move |source| GuardError::System { what, source: source.into() }
}

/// Is the guard, or the limiter that a guard starts: runs the command and exits with its code. `args` is what follows the lead
/// arguments. To be called first thing in `main`, before any thread is started: limits hold per thread.
pub fn run_guard(args: &[OsString]) -> Result<Infallible, GuardError> {
    if let Some((first, words)) = args.split_first()
        && first == LIMIT
    {
        return limiter::become_command(Order::parse(words)?);
    }
    #[cfg(target_os = "linux")]
    match args {
        [one] if one == PROBE => return probe(),
        [one] if one == KEEP => return keeper::keep(),
        _ => {}
    }
    let duty = Duty::parse(args)?;
    limits::separate(&duty.order.leash).map_err(system("give the command its own view"))?;
    #[cfg(target_os = "linux")]
    rustix::process::set_child_subreaper(Some(rustix::process::getpid())).map_err(system("adopt orphans"))?;
    let family = Family::found(duty.parent, &duty.order.leash);
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(system("start"))?;
    let code = runtime.block_on(duty.carry_out(family, lead(args.len())))?;
    std::process::exit(code)
}

/// Tries what commands of a session get: a network, and a view of the file system, each of their own.
#[cfg(target_os = "linux")]
fn probe() -> Result<Infallible, GuardError> {
    let network = keeper::enter_new();
    limits::separate(&Leash { private: true, ..Leash::default() }).map_err(system("use namespaces"))?;
    network.map_err(|source| GuardError::NoNetwork { source })?;
    std::process::exit(0)
}

/// The arguments that make our binary call [`run_guard`]: those before the last `own`.
fn lead(own: usize) -> Vec<OsString> {
    let mut lead: Vec<OsString> = std::env::args_os().skip(1).collect();
    lead.truncate(lead.len().saturating_sub(own));
    lead
}

/// Our own program as whoever we start finds it: what runs, not what lies at its path. A command that may write there could put another
/// program in its place, and the next command would be guarded by that.
pub fn own_program() -> PathBuf {
    let running = Path::new("/proc/self/exe");
    match std::env::current_exe() {
        Ok(path) if running.metadata().is_err() => path,
        _ => running.to_owned(),
    }
}

/// What a guard is told.
#[derive(Debug, PartialEq, Eq)]
struct Duty {
    parent: i32,
    grace: Duration,
    /// Handed on to the limiter as it is.
    words: Vec<OsString>,
    order: Order,
}

/// What a limiter is told: which program to become, on which leash.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Order {
    pub(super) leash: Leash,
    pub(super) program: OsString,
    pub(super) args: Vec<OsString>,
}

impl Duty {
    fn parse(args: &[OsString]) -> Result<Duty, GuardError> {
        let (mut parent, mut grace, mut words) = (None, GRACE, args);
        while let [name, value, rest @ ..] = words {
            let number = value.to_str().and_then(|text| text.parse::<i32>().ok());
            match name.to_str() {
                Some(PARENT) => parent = number,
                Some("--grace") => {
                    let millis = number.and_then(|millis| u64::try_from(millis).ok());
                    grace = millis.map(Duration::from_millis).unwrap_or(GRACE);
                }
                _ => break,
            }
            words = rest;
        }
        let parent = parent.ok_or_else(|| GuardError::Usage("--parent is missing".to_owned()))?;
        Ok(Duty { parent, grace, words: words.to_vec(), order: Order::parse(words)? })
    }

    async fn carry_out(self, family: Family, lead: Vec<OsString>) -> Result<i32, GuardError> {
        // Before the command exists, so that no signal is missed.
        let mut stop = Stop::listen().map_err(system("listen for signals"))?;
        let mut deaths = signal(SignalKind::child()).map_err(system("listen for signals"))?;
        let parent = Parent::watch(self.parent)?;
        let mut command = Command::new(own_program());
        command.args(lead).arg(LIMIT).args(&self.words);
        let spawned = command.spawn();
        let limiter = spawned
            .map_err(|source| GuardError::Spawn { program: PathBuf::from(self.order.program), source })?;
        let family = family.with_head(&limiter);
        let_go_of_pipes().map_err(system("let go of the command's pipes"))?;
        let gone = parent.gone();
        tokio::pin!(gone);
        let mut code = None;
        let mut reap = || {
            let Reaped { head, alone } = family.reap();
            code = code.or(head);
            (code.is_some(), alone)
        };
        let asked = loop {
            tokio::select! {
                _ = deaths.recv() => if let (true, _) = reap() { break StopRequest::AtOnce },
                () = &mut gone => break StopRequest::Politely,
                asked = stop.asked() => break asked,
            }
        };
        if asked == StopRequest::Politely {
            family.signal(rustix::process::Signal::TERM);
            let over = Instant::now() + self.grace;
            while let (_, false) = reap() {
                tokio::select! {
                    () = sleep_until(over) => break,
                    // Looked at again now and then: a death may come between the look and the wait.
                    _ = timeout(POLL, deaths.recv()) => {}
                    asked = stop.asked() => if asked == StopRequest::AtOnce { break },
                }
            }
        }
        for _ in 0..MAX_ROUNDS {
            family.signal(rustix::process::Signal::KILL);
            let _ = timeout(ROUND, deaths.recv()).await;
            if let (_, true) = reap() {
                break;
            }
        }
        Ok(code.unwrap_or(STOPPED))
    }
}

/// The exit code of a command that does not die, whatever we do.
const STOPPED: i32 = 128 + rustix::process::Signal::KILL.as_raw();

impl Order {
    fn parse(args: &[OsString]) -> Result<Order, GuardError> {
        let mut args = args.iter();
        let mut leash = Leash::default();
        loop {
            let Some(arg) = args.next() else { return Err(GuardError::Usage("no command".to_owned())) };
            let mut value =
                || args.next().ok_or_else(|| GuardError::Usage(format!("{} needs a value", arg.display())));
            match arg.to_str() {
                Some("--") => break,
                Some(flag) if leash.take(flag, || value().cloned())? => {}
                _ => return Err(GuardError::Usage(format!("{} is not known", arg.display()))),
            }
        }
        let program = args.next().ok_or_else(|| GuardError::Usage("no command".to_owned()))?;
        Ok(Order { leash, program: program.clone(), args: args.cloned().collect() })
    }
}

/// The command has its pipes; its reader must see when it closes them.
fn let_go_of_pipes() -> std::io::Result<()> {
    let nothing = std::fs::OpenOptions::new().read(true).write(true).open("/dev/null")?;
    rustix::stdio::dup2_stdin(&nothing)?;
    rustix::stdio::dup2_stdout(&nothing)?;
    rustix::stdio::dup2_stderr(&nothing)?;
    Ok(())
}

/// How we are asked to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StopRequest {
    /// The command may end by itself.
    Politely,
    AtOnce,
}

/// The ways in which we are asked to stop.
struct Stop {
    term: Signals,
    interrupt: Signals,
    hangup: Signals,
}

impl Stop {
    fn listen() -> std::io::Result<Stop> {
        Ok(Stop {
            term: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
            hangup: signal(SignalKind::hangup())?,
        })
    }

    async fn asked(&mut self) -> StopRequest {
        tokio::select! {
            _ = self.term.recv() => StopRequest::Politely,
            _ = self.hangup.recv() => StopRequest::Politely,
            _ = self.interrupt.recv() => StopRequest::AtOnce,
        }
    }
}

/// The process that started us. Watched as a process, not by a death signal: that one tells of a thread's end.
struct Parent {
    pid: i32,
    #[cfg(target_os = "linux")]
    death: Option<tokio::sync::oneshot::Receiver<()>>,
}

impl Parent {
    fn watch(pid: i32) -> Result<Parent, GuardError> {
        #[cfg(target_os = "linux")]
        let parent = Parent { pid, death: death(pid) };
        #[cfg(not(target_os = "linux"))]
        let parent = Parent { pid };
        // Looked at after the handle was taken: from here on its death cannot be missed.
        if parent.there() { Ok(parent) } else { Err(GuardError::ParentGone) }
    }

    fn there(&self) -> bool {
        rustix::process::getppid().is_some_and(|pid| pid.as_raw_nonzero().get() == self.pid)
    }

    async fn gone(self) {
        #[cfg(target_os = "linux")]
        if let Some(death) = self.death {
            let _ = death.await;
            return;
        }
        while self.there() {
            sleep(POLL).await;
        }
    }
}

/// Tells when a process is gone; `None` where the kernel cannot tell.
#[cfg(target_os = "linux")]
fn death(pid: i32) -> Option<tokio::sync::oneshot::Receiver<()>> {
    use rustix::event::{PollFd, PollFlags, poll};
    use rustix::process::{Pid, PidfdFlags, pidfd_open};
    let handle = pidfd_open(Pid::from_raw(pid)?, PidfdFlags::empty()).ok()?;
    let (tell, death) = tokio::sync::oneshot::channel();
    let wait = move || {
        // The handle becomes readable when the process is gone; a signal may wake us before.
        while poll(&mut [PollFd::new(&handle, PollFlags::IN)], None)
            .is_err_and(|error| error == rustix::io::Errno::INTR)
        {}
        let _ = tell.send(());
    };
    std::thread::Builder::new().spawn(wait).ok()?;
    Some(death)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::OsStr;
    use std::path::Path;

    fn duty(args: &[&str]) -> Result<Duty, String> {
        let args: Vec<OsString> = args.iter().map(OsString::from).collect();
        Duty::parse(&args).map_err(|error| error.to_string())
    }

    #[test]
    fn a_guard_understands_what_it_is_told() {
        let guard =
            super::super::Guard::new(Path::new("parlor"), &["__guard"]).also_writable(&["/cache".into()]);
        let leash = Leash { writable: vec!["/w".into()], network: true, ..Leash::default() };
        let mut command = guard.command(OsStr::new("bash"), &leash);
        command.arg("-c").arg("--net");
        let said: Vec<OsString> = command.get_args().skip(1).map(OsStr::to_owned).collect();
        let duty = Duty::parse(&said).unwrap();
        assert_eq!(duty.parent, std::process::id().cast_signed());
        // The limiter hears of the leash exactly what the guard heard.
        assert_eq!(Order::parse(&duty.words).unwrap(), duty.order);
        let heard = &duty.order.leash;
        assert_eq!(heard.writable, [Path::new("/w"), Path::new("/cache"), &std::env::temp_dir()]);
        assert_eq!((heard.network, &heard.home), (true, &std::env::home_dir()));
        assert_eq!(duty.order.args, ["-c", "--net"]);
    }

    #[test]
    fn nonsense_is_refused() {
        for args in [&[][..], &["--parent"], &["--parent", "1", "--"], &["--", "ls"], &["--what", "--", "ls"]]
        {
            assert!(duty(args).is_err(), "{args:?}");
        }
    }
}
