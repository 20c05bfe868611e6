//! One command and all it starts: started, watched, stopped as a whole.
//!
//! Invariants: stdout and stderr share one pipe, so their order is kept; a command that is dropped is ended. Without a guard the
//! command leads a process group, and after a stop nothing of the group lives longer than [`GRACE`]. With one the guard is asked, ends
//! the command's whole family, and is never ended before it.

use super::steered::names;
use super::way::Way;
use crate::context::ToolContext;
use crate::output::{Live, Output};
use crate::proxy::Thinking;
use crate::sandbox::{Leash, handed_on};
use crate::steering::{self, Commits};
use crate::temp::Temp;
use crate::tree::{AtWork, Tree};
use domain::ids::AskId;
use domain::secret::Secrets;
use domain::tool::Progress;
use rustix::process::{Pid, Signal, kill_process_group};
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tempfile::TempDir;
use tokio::io::AsyncReadExt as _;
use tokio::net::unix::pipe;
use tokio::process::{Child, Command};
use tokio::sync::mpsc;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// How long a group may take to end after it was asked to.
pub const GRACE: Duration = Duration::from_millis(200);
/// How long a guard may take to end a whole family; one that takes longer is ended itself.
const GUARD_WITHIN: Duration = Duration::from_secs(5);
/// How long output is awaited after the command itself ended: something it left behind may hold the pipe open.
const DRAIN: Duration = Duration::from_millis(100);
/// Far enough away to mean never.
const FOREVER: Duration = Duration::from_secs(365 * 24 * 3600);
const CHUNK: usize = 16 * 1024;
/// Bytes that a pipe holds, as systems usually make it.
const PIPE: usize = 64 * 1024;
/// Variables by which programs find temp.
const TEMP_NAMES: [&str; 3] = ["TMPDIR", "TMP", "TEMP"];

/// What a command may do beside running.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Leave {
    /// Use the network.
    pub(crate) network: bool,
    /// Run outside of the sandbox.
    pub(crate) unsandboxed: bool,
    /// It only looks, and nobody was asked: it writes nowhere but in an empty folder of its own.
    pub(crate) looking: bool,
    /// Change git's own records.
    pub(crate) git: bool,
    /// Change files that steer programs, those which the line names.
    pub(crate) steers: bool,
}

/// What a command has for itself.
#[derive(Clone, Copy)]
struct Own<'a> {
    /// An empty folder for one that only looks.
    scratch: Option<&'a Path>,
    /// The session's temp, where it is not the person's.
    temp: Option<&'a Path>,
    /// Whether it joins the session's network.
    network: bool,
}

/// How watching a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    Exited(ExitStatus),
    TimedOut,
    Cancelled,
}

/// A process group that does not outlive this value. Under a guard it is the guard alone, and the guard answers for the rest.
#[derive(Debug)]
struct Group {
    leader: Option<Pid>,
    guarded: bool,
}

impl Group {
    fn signal(&self, signal: Signal) {
        if let Some(pid) = self.leader {
            // The group may be gone already, which is what we want.
            let _ = kill_process_group(pid, signal);
        }
    }

    /// Signals nobody any more: the leader is gone, and its number may be another's by now.
    fn let_go(&mut self) {
        self.leader = None;
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // A guard ends more than the group, but only when it is asked and not killed.
        self.signal(if self.guarded { Signal::INT } else { Signal::KILL });
    }
}

/// A command that was started, with everything it starts; dropping it ends them all.
#[derive(Debug)]
pub(crate) struct Running {
    child: Child,
    group: Group,
    pipe: pipe::Receiver,
    /// Temp of a command that only looks; goes away with it.
    _scratch: Option<TempDir>,
    /// Says that files may change, until the command is gone.
    at_work: Option<AtWork>,
}

/// Where output goes while a command runs.
pub(crate) struct Sink {
    pub(crate) output: Arc<Mutex<Output>>,
    /// Where live output goes; `None` when nobody wants it.
    pub(crate) progress: Option<mpsc::Sender<Progress>>,
    pub(crate) live: Live,
    /// The login of the command's own proxy, which `env` prints and nobody needs to read.
    pub(crate) login: Secrets,
    /// What may be the beginning of it.
    pub(crate) held: Vec<u8>,
}

impl Sink {
    /// Nothing yet of a command that has this way out.
    pub(super) fn new(
        output: &Arc<Mutex<Output>>,
        progress: Option<mpsc::Sender<Progress>>,
        way: Option<&Way>,
    ) -> Sink {
        let mut login = Secrets::default();
        if let Some(way) = way {
            // One is neither too many nor too long.
            let _ = login.keep(AskId(0), way.secret());
        }
        Sink { output: output.clone(), progress, live: Live::default(), login, held: Vec::new() }
    }

    fn take(&mut self, bytes: &[u8]) {
        self.held.extend_from_slice(bytes);
        let (ready, held) = self.login.mask_beginning(&self.held);
        self.held.drain(..self.held.len() - held);
        self.give(&ready);
    }

    /// No more comes.
    fn end(&mut self) {
        let rest = std::mem::take(&mut self.held);
        self.give(&self.login.mask_rest(&rest));
    }

    fn give(&mut self, bytes: &[u8]) {
        if bytes.is_empty() {
            return;
        }
        self.output.lock().unwrap_or_else(PoisonError::into_inner).push(bytes);
        if let Some(progress) = &self.progress {
            self.live.push(bytes);
            if !self.live.is_empty()
                && let Ok(permit) = progress.try_reserve()
            {
                permit.send(Progress::Output(self.live.take()));
            }
        }
    }
}

impl Running {
    /// Starts `line` in a shell, in its own process group, with a cleaned environment and no stdin.
    pub(crate) fn start(
        line: &str,
        cwd: &Path,
        place: &ToolContext,
        leave: Leave,
        way: Option<&Way>,
    ) -> io::Result<Running> {
        let (reader, writer) = io::pipe()?;
        let scratch = if leave.looking { Some(scratch(place)?) } else { None };
        let pass = pass(place, leave);
        let temp = place.temp().filter(|_| !leave.unsandboxed).map_or(Ok(None), Temp::make)?;
        let own = Own { scratch: scratch.as_ref().map(TempDir::path), temp, network: pass.is_some() };
        let mut command = shell(place, leave, line, own);
        command
            .arg("-c")
            .arg(line)
            .current_dir(cwd)
            .env_clear()
            .envs(variables(place, leave, own, way))
            .stdin(pass.unwrap_or_else(Stdio::null))
            .stdout(writer.try_clone()?)
            .stderr(writer)
            .process_group(0);
        let at_work = place.tree().filter(|_| !leave.looking).map(Tree::at_work);
        let child = command.spawn()?;
        // The command holds our ends of the pipe: with them open the pipe would never end.
        drop(command);
        let leader = child.id().and_then(|id| Pid::from_raw(id.cast_signed()));
        let group = Group { leader, guarded: place.guard().is_some() };
        let pipe = pipe::Receiver::from_owned_fd(reader.into())?;
        Ok(Running { child, group, pipe, _scratch: scratch, at_work })
    }

    /// Watches until the command ends, the time is over (without what a person took to think) or `cancel` fires. What still lives then is stopped behind our back.
    pub(crate) async fn watch(
        mut self,
        sink: &mut Sink,
        time: Option<Duration>,
        thinking: &Thinking,
        cancel: &CancellationToken,
    ) -> End {
        let over = thinking.over(time.unwrap_or(FOREVER));
        tokio::pin!(over);
        let mut drained = Instant::now() + FOREVER;
        let mut exited = None;
        let mut open = true;
        let mut chunk = vec![0; CHUNK];
        let end = loop {
            if let Some(status) = exited
                && !open
            {
                break End::Exited(status);
            }
            let waiting = sink.progress.clone().filter(|_| !sink.live.is_empty());
            let step = async {
                tokio::select! {
                    count = self.pipe.read(&mut chunk), if open => ChildEvent::Read(count.unwrap_or(0)),
                    status = self.child.wait(), if exited.is_none() => ChildEvent::Exit(status),
                    room = room(waiting.as_ref()), if waiting.is_some() => ChildEvent::Room(room),
                }
            };
            tokio::select! {
                biased;
                () = cancel.cancelled() => break End::Cancelled,
                () = &mut over => break End::TimedOut,
                () = tokio::time::sleep_until(drained), if exited.is_some() => open = false,
                step = step => match step {
                    ChildEvent::Read(0) => open = false,
                    ChildEvent::Read(count) => sink.take(chunk.get(..count).unwrap_or_default()),
                    ChildEvent::Exit(Ok(status)) => {
                        exited = Some(status);
                        drained = Instant::now() + DRAIN;
                    }
                    ChildEvent::Exit(Err(_)) => break End::Cancelled,
                    ChildEvent::Room(Some(permit)) => permit.send(Progress::Output(sink.live.take())),
                    ChildEvent::Room(None) => sink.progress = None,
                },
            }
        };
        if open && !matches!(end, End::Exited(_)) {
            self.take_rest(sink, &mut chunk);
        }
        sink.end();
        if let Some(progress) = &sink.progress
            && !sink.live.is_empty()
        {
            // A reader that is far behind finds the rest in the result.
            let _ = progress.try_send(Progress::Output(sink.live.take()));
        }
        if !matches!(end, End::Exited(_)) {
            self.stop();
        } else if self.group.guarded {
            self.group.let_go();
        }
        end
    }

    /// What stands in the pipe of a command that is stopped: it was printed before. Read past the event loop, which may not have heard
    /// of it, and no more than a pipe holds, since the command may still be printing.
    fn take_rest(&self, sink: &mut Sink, chunk: &mut [u8]) {
        let mut taken = 0;
        while taken < PIPE
            && let Ok(count @ 1..) = rustix::io::read(&self.pipe, &mut *chunk)
        {
            sink.take(chunk.get(..count).unwrap_or_default());
            taken += count;
        }
    }

    /// Asks the group to end, and makes it end after a grace time, without keeping the caller.
    fn stop(mut self) {
        self.group.signal(Signal::TERM);
        let grace = if self.group.guarded { GUARD_WITHIN } else { GRACE };
        tokio::spawn(async move {
            let ended = tokio::time::timeout(grace, self.child.wait()).await;
            if ended.is_err() || !self.group.guarded {
                // Members of the group that outlived their leader are still there.
                self.group.signal(Signal::KILL);
                let _ = self.child.wait().await;
            }
            self.group.let_go();
            drop(self.at_work);
        });
    }
}

enum ChildEvent<'a> {
    Read(usize),
    Exit(io::Result<ExitStatus>),
    Room(Option<mpsc::Permit<'a, Progress>>),
}

async fn room(progress: Option<&mpsc::Sender<Progress>>) -> Option<mpsc::Permit<'_, Progress>> {
    match progress {
        Some(progress) => progress.reserve().await.ok(),
        None => None,
    }
}

/// A folder for a command that only looks. Where no other command can write, as long as there is room: one that runs beside it could
/// put something else in its place.
fn scratch(place: &ToolContext) -> io::Result<TempDir> {
    let mut own = tempfile::Builder::new();
    own.prefix("parlor-look-");
    let kept = std::fs::create_dir_all(place.outputs()).and_then(|()| own.tempdir_in(place.outputs()));
    kept.or_else(|_| own.tempdir_in(std::env::temp_dir().canonicalize()?))
}

/// What the command knows: of our environment what is no secret, where it may write when it only looks, and by which proxy it goes out.
fn variables(
    place: &ToolContext,
    leave: Leave,
    own: Own<'_>,
    way: Option<&Way>,
) -> Vec<(OsString, OsString)> {
    let mut all = place.env().to_vec();
    let looking = crate::env::LOOKING.iter().filter(|_| leave.looking);
    all.extend(looking.map(|(name, value)| (name.into(), value.into())));
    if own.temp.is_some() {
        // They name the person's, which is not there; the usual one is.
        all.retain(|(name, _)| !TEMP_NAMES.iter().any(|temp| name == temp));
    }
    all.extend(own.scratch.iter().flat_map(|own| TEMP_NAMES.map(|name| (name.into(), own.into()))));
    let out = way.map(Way::variables).unwrap_or_default();
    all.extend(out.into_iter().map(|(name, value)| (name.into(), value.into())));
    if place.guard().is_some() { handed_on(all).collect() } else { all }
}

/// The way into the session's network, for a command that is on the leash and may not use another. Who only looks needs none.
fn pass(place: &ToolContext, leave: Leave) -> Option<Stdio> {
    match place.net() {
        Some(net) if !leave.looking && !leave.network && !leave.unsandboxed => net.pass(),
        _ => None,
    }
}

fn shell(place: &ToolContext, leave: Leave, line: &str, own: Own<'_>) -> Command {
    let program = ["/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash"]
        .into_iter()
        .find(|path| Path::new(path).exists());
    let program = OsStr::new(program.unwrap_or("/bin/sh"));
    match place.guard() {
        None => Command::new(program),
        Some(guard) => {
            let (root, outputs) = (place.root().map(Path::to_owned), place.outputs().to_owned());
            let linked = root.as_deref().and_then(steering::linked_git);
            let leash = match own.scratch {
                Some(scratch) => Leash {
                    writable: vec![scratch.to_owned()],
                    readable: root
                        .into_iter()
                        .chain([outputs])
                        .chain(linked.map(|linked| linked.common))
                        .collect(),
                    temp: own.temp.map(Path::to_owned),
                    looking: true,
                    ..Leash::default()
                },
                None => {
                    let commits = if leave.git { Commits::Agreed } else { Commits::Not };
                    let locks = !leave.unsandboxed && guard.namespaces().is_ok();
                    // The repository of a worktree is its `.git`: open where that would be, and only where it can be kept from
                    // steering.
                    let linked = linked.filter(|_| locks && commits == Commits::Agreed);
                    let (mut locked, pinned) = match !locks {
                        true => Default::default(),
                        false => place.tree().map_or_else(Default::default, |tree| {
                            // Looked at a moment ago, to be compared with afterwards.
                            let seen = tree.before(None).ok();
                            steering::locks_of(tree.root(), seen.as_ref().map(|(_, walk)| &**walk), commits)
                        }),
                    };
                    locked.extend(linked.iter().flat_map(steering::locks_of_linked));
                    if leave.steers {
                        let below = |path: &Path| {
                            let inner = root.as_ref().and_then(|root| path.strip_prefix(root).ok());
                            inner.is_some_and(|inner| names(line, inner))
                        };
                        locked.retain(|path| !below(path));
                    }
                    Leash {
                        writable: root.into_iter().chain(linked.map(|linked| linked.common)).collect(),
                        readable: vec![outputs],
                        locked,
                        pinned,
                        network: leave.network,
                        own_network: own.network,
                        temp: own.temp.map(Path::to_owned),
                        free: leave.unsandboxed,
                        ..Leash::default()
                    }
                }
            };
            guard.command(program, &leash).into()
        }
    }
}
