//! `parlor` in a terminal while a server runs: the session lives in a room, and the screen is only attached to it. What cannot go that
//! way has a process of its own, and the first screen says why.

use crate::exit::Exit;
use crate::interactive::{self, Over};
use crate::output;
use crate::screen::{self, UiOptions, Whereabouts};
use domain::ids::SessionId;
use host::clock;
use host::control::Control;
use host::kept;
use host::launch::Launch;
use host::mode::{Folder, Ground};
use host::rooms::{OpenedRoom, RoomRequest, spawn_env};
use host::{mode, paths, settings, stack};
use remote::front::{Approach, Begin, Front, Person};
use remote::origin::RuntimeAddress;
use std::ffi::OsString;
use std::path::PathBuf;
use store::{SqliteStore, Store};
use tui::{ExitReason, Note, Restart, ScreenExit};

/// Shows the session in a room of the server; `None` when this terminal has a process of its own. Why is said on its first screen then.
pub(crate) async fn join(launch: &mut Launch) -> anyhow::Result<Option<Exit>> {
    if launch.here {
        return Ok(None);
    }
    let found = match Control::here().await {
        Ok(None) => return Ok(None),
        Ok(Some(control)) => Ok(control),
        Err(why) => Err(format!("the server is not used: {why:#}")),
    };
    let ready = match found {
        Ok(control) => prepare(launch, control).await?,
        Err(why) => Err(why),
    };
    match ready {
        Ok(joined) => joined.show(launch).await.map(Some),
        Err(why) => {
            launch
                .unread
                .told
                .push(format!("runs in this terminal, not in the server, and ends with it: {why}"));
            Ok(None)
        }
    }
}

/// A room to be in.
struct Joined {
    wanted: RoomRequest,
    opened: OpenedRoom,
    cwd: PathBuf,
    /// What the mode of sessions that begin there depends on.
    ground: Ground,
}

/// Finds or asks for the room; else says why this terminal has a process of its own.
async fn prepare(launch: &Launch, mut control: Control) -> anyhow::Result<Result<Joined, String>> {
    if let Some(why) = apart(launch) {
        return Ok(Err(why));
    }
    let salt = format!("{}-{}", std::process::id(), clock::now().0);
    let status = match control.status_with(&salt).await {
        Ok(status) => status,
        Err(why) => return Ok(Err(format!("{why:#}"))),
    };
    let ours = host::version::version();
    if status.version != ours {
        let theirs = status.version;
        return Ok(Err(format!(
            "the server is parlor {theirs} and this is {ours}; `parlor down`, `parlor up` renews it"
        )));
    }
    let only_here = spawn_env::only_here(&spawn_env::providers(&salt), &status.providers);
    if !only_here.is_empty() {
        let names = only_here.join(", ");
        return Ok(Err(format!(
            "the server has not this terminal's {names}; `parlor down`, `parlor up` here gives it"
        )));
    }
    let mut config = settings::read().config;
    let work_dir = paths::work_dir(launch, &mut config)?;
    let session = match session(launch, &paths::project(&work_dir))? {
        ResumeTarget::None => None,
        ResumeTarget::Ours(session) => Some(session),
        ResumeTarget::Theirs => {
            return Ok(Err("the conversation is with another program's runtime".to_owned()));
        }
    };
    let wanted = RoomRequest {
        session,
        cwd: Some(work_dir.cwd.clone()),
        environment: Some(spawn_env::of_terminal()),
        own_ui: true,
        flags: flags(launch)?,
    };
    // A room that cannot keep what stood in files tells so itself.
    let folder = Folder::of(&work_dir, true);
    let ground = Ground { own_ui: wanted.own_ui, ..Ground::of(launch, &config, folder) };
    match control.open(&wanted).await {
        Ok(opened) => Ok(Ok(Joined { wanted, opened, cwd: work_dir.cwd, ground })),
        Err(why) => Ok(Err(format!("the server cannot open it: {why:#}"))),
    }
}

/// What never goes through a server.
fn apart(launch: &Launch) -> Option<String> {
    if launch.ephemeral {
        return Some("nothing is to be kept".to_owned());
    }
    if launch.worktree.is_some() {
        return Some("a worktree is ended where it was begun".to_owned());
    }
    if launch.search.is_some() {
        return Some("the search opens conversations here".to_owned());
    }
    if launch.resume == Some(None) {
        return Some("the list of conversations opens them here".to_owned());
    }
    if launch.unread.model.is_some() {
        return Some("PARLOR_MODEL cannot be read".to_owned());
    }
    None
}

/// What is to be gone on with.
enum ResumeTarget {
    None,
    Ours(SessionId),
    Theirs,
}

fn session(launch: &Launch, project: &str) -> anyhow::Result<ResumeTarget> {
    if launch.resume.is_none() && !launch.continue_last {
        return Ok(ResumeTarget::None);
    }
    let data = paths::data()?;
    // What is wrong with a store is told by who opens it to write.
    let Ok(store) = SqliteStore::to_read(&data) else { return Ok(ResumeTarget::Theirs) };
    let Some(session) = kept::wanted(launch, &store, project)? else { return Ok(ResumeTarget::None) };
    let summary = store.summary(&session).map_err(|why| kept::told(&why))?;
    Ok(if summary.origin.is_some() { ResumeTarget::Theirs } else { ResumeTarget::Ours(session) })
}

/// What was typed, or set for this terminal, for the sessions that begin in the room.
fn flags(launch: &Launch) -> anyhow::Result<Vec<OsString>> {
    let dollars = |micros: u64| format!("{}.{:06}", micros / 1_000_000, micros % 1_000_000);
    let words = [
        ("--model", launch.model.clone()),
        ("--effort", launch.effort.map(|effort| effort.name().to_owned())),
        ("--policy", launch.policy.map(|policy| policy.name().to_owned())),
        ("--max-cost", launch.max_cost.map(dollars)),
        ("--max-steps", launch.max_steps.map(|steps| steps.to_string())),
        ("--max-time", launch.max_time.map(|seconds| seconds.to_string())),
    ];
    let mut flags: Vec<OsString> = words
        .into_iter()
        .filter_map(|(flag, value)| Some(OsString::from(format!("{flag}={}", value?))))
        .collect();
    if launch.fetch {
        flags.push("--fetch".into());
    }
    if let Some(workspace) = &launch.workspace {
        let mut flag = OsString::from("--workspace=");
        flag.push(std::path::absolute(workspace)?);
        flags.push(flag);
    }
    Ok(flags)
}

/// What is said of flags that came too late.
fn unheeded(flags: &[OsString]) -> String {
    let flags: Vec<_> = flags.iter().map(|flag| flag.to_string_lossy()).collect();
    let flags = flags.join(", ");
    format!("{flags} was not heeded: the session is open already; /policy, /model and /effort change it")
}

impl Joined {
    /// The screen, until the person leaves it. What runs in the room goes on then.
    async fn show(self, launch: &Launch) -> anyhow::Result<Exit> {
        let mut session = self.wanted.session.clone();
        let (mut told, mut prompt) = (Vec::new(), launch.prompt.clone());
        if self.opened.was_open && !self.wanted.flags.is_empty() {
            told.push(unheeded(&self.wanted.flags));
        }
        loop {
            let first = (std::mem::take(&mut told), prompt.take());
            let left = self.screen(launch, session.clone(), first).await?;
            match left {
                ExitReason::Wants { exit: ScreenExit::Visit { pid, session: other }, session: was } => {
                    session = was;
                    if let Over::Ended(exit) = interactive::visits(launch, pid, other).await? {
                        return Ok(exit);
                    }
                }
                left => return Ok(screen::exit(&left)),
            }
        }
    }

    async fn screen(
        &self,
        launch: &Launch,
        session: Option<SessionId>,
        (told, prompt): (Vec<String>, Option<String>),
    ) -> anyhow::Result<ExitReason> {
        let dialect = dialects::native::DIALECT;
        // What was typed is the room's to heed: here nothing is run.
        let plain = Launch { policy: None, resume: None, continue_last: false, ..launch.clone() };
        let open = async |was: Option<Whereabouts>| {
            let again = was.is_some();
            let session = was.and_then(|was| was.session).or_else(|| session.clone());
            // The room may have ended meanwhile, and another one have the session.
            let socket = match &session {
                Some(session) if again => reopened(&self.wanted, session).await?,
                _ => self.opened.socket.clone(),
            };
            let named = session.as_ref().map(ToString::to_string);
            let begin = Begin { session: named.as_deref(), last: None };
            let (place, log) = (RuntimeAddress::Socket(socket), stack::no_log());
            let (person, size) = (Person::There, output::terminal_size());
            let approach =
                Approach { dialect, begin, person, size, judged: false, leash: None, listening: None };
            Front::open(&plain, place, approach, None, log).await
        };
        let words = "goes on when this terminal is closed".to_owned();
        let new = match session {
            None => mode::first_told(&self.ground, &paths::data()?, false),
            Some(_) => None,
        };
        let note = Note { told: new, ..screen::note_on_another(words) };
        let look = UiOptions::of(launch)?.telling(told).saying(prompt);
        let front = open(None).await?;
        screen::on_runtime(front, open, Restart::Connect, (note, true), self.cwd.clone(), look, true).await
    }
}

/// The socket of the process that has the session now.
async fn reopened(wanted: &RoomRequest, session: &SessionId) -> anyhow::Result<PathBuf> {
    let wanted = RoomRequest { session: Some(session.clone()), ..wanted.clone() };
    match Control::here().await? {
        Some(mut control) => Ok(control.open(&wanted).await?.socket),
        None => Ok(host::processes::find(session.as_str()).await?.0),
    }
}
