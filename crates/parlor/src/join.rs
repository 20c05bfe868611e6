//! `parlor` in a terminal while a server runs: the session lives in a room, and the screen is only attached to it. What cannot go that
//! way has a process of its own, and the first screen says why.

use crate::attach::{Attach, Handed};
use crate::exit::{self, Exit};
use crate::handover::{self, Ended, OURS, Told};
use crate::interactive::{self, Over};
use crate::login::{self, Login};
use crate::screen::{self, UiOptions, Whereabouts};
use crate::{agent_list, output, unsupported_flags};
use domain::ids::SessionId;
use domain::path_text;
use domain::session::{Origin, RuntimePlace};
use host::clock;
use host::control::Control;
use host::kept;
use host::launch::Launch;
use host::mode::{Folder, Ground};
use host::rooms::{OpenedRoom, RoomRequest, spawn_env};
use host::{mode, paths, settings, stack, store_place};
use remote::agents;
use remote::front::{Approach, Begin, Front, Person};
use remote::origin::RuntimeAddress;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use store::{SqliteStore, Store};
use tui::{ExitReason, Note, Restart, ScreenExit, ScreenExits};

/// Shows the session in a room of the server; `None` when this terminal has a process of its own. Why is said on its first screen then.
pub(crate) async fn join(launch: &mut Launch) -> anyhow::Result<Option<Exit>> {
    if launch.here {
        return Ok(None);
    }
    let Some(found) = server().await else { return Ok(None) };
    let ready = match found {
        Ok(control) => prepare(launch, control).await?,
        Err(why) => Err(why),
    };
    enter(launch, ready).await
}

/// `parlor attach NAME` while a server runs: shows the agent in a room of its own, once the person has agreed to its command; `None` when it
/// is started in this terminal.
pub(crate) async fn attach(launch: &mut Launch, asked: &Attach) -> anyhow::Result<Option<Exit>> {
    // A room knows the lists that every process knows, and no flags but its own.
    let is_plain = asked.prompt.is_none() && asked.record.is_none() && asked.session.is_none();
    let is_plain = is_plain && asked.registry.is_empty() && !asked.require_consent && !launch.here;
    let name = asked.name.as_deref().filter(|name| is_plain && !name.starts_with(remote::ssh::SCHEME));
    let Some(name) = name else { return Ok(None) };
    let Some(found) = server().await else { return Ok(None) };
    let agent = agents::find(name, &[], output::print_error)?;
    unsupported_flags::refuse(launch, agent.dialect)?;
    if let Some(exit) = agent_list::started(&agent, asked.yes).await? {
        return Ok(Some(exit));
    }
    // What it was agreed to cannot be kept of every command.
    if !agent_list::is_agreed(&agent) {
        return Ok(None);
    }
    let ready = match found {
        Ok(control) => match usable(launch, control).await {
            Ok(control) => of_agent(launch, control, &agent.name).await?,
            Err(why) => Err(why),
        },
        Err(why) => Err(why),
    };
    enter(launch, ready).await
}

/// The server that runs, or why it is not used; `None` when there is none.
async fn server() -> Option<Result<Control, String>> {
    Control::here().await.map_err(|why| format!("the server is not used: {why:#}")).transpose()
}

/// Shows the room; without one, says on the first screen why the session is in this terminal.
async fn enter(launch: &mut Launch, ready: Result<Joined, String>) -> anyhow::Result<Option<Exit>> {
    match ready {
        Ok(joined) => joined.show(launch).await.map(Some),
        Err(why) => {
            let told = format!("runs in this terminal, not in the server, and ends with it: {why}");
            launch.unread.told.push(told);
            Ok(None)
        }
    }
}

/// A room to be in.
struct Joined {
    wanted: RoomRequest,
    opened: OpenedRoom,
    cwd: PathBuf,
    /// What the mode of sessions that begin there depends on; nothing where another program's agent has its own.
    ground: Option<Ground>,
    /// Whose agent is there, where it is not ours.
    whose: Option<String>,
}

/// The server, where it can have rooms for this terminal; else why not.
async fn usable(launch: &Launch, mut control: Control) -> Result<Control, String> {
    if let Some(why) = apart(launch) {
        return Err(why);
    }
    let salt = format!("{}-{}", std::process::id(), clock::now().0);
    let status = control.status_with(&salt).await.map_err(|why| format!("{why:#}"))?;
    let ours = host::version::version();
    if status.version != ours {
        let theirs = status.version;
        return Err(format!(
            "the server is parlor {theirs} and this is {ours}; `parlor down`, `parlor up` renews it"
        ));
    }
    let only_here = spawn_env::only_here(&spawn_env::providers(&salt), &status.providers);
    if !only_here.is_empty() {
        let names = only_here.join(", ");
        return Err(format!(
            "the server has not this terminal's {names}; `parlor down`, `parlor up` here gives it"
        ));
    }
    Ok(control)
}

/// Finds or asks for the room; else says why this terminal has a process of its own.
async fn prepare(launch: &Launch, control: Control) -> anyhow::Result<Result<Joined, String>> {
    let control = match usable(launch, control).await {
        Ok(control) => control,
        Err(why) => return Ok(Err(why)),
    };
    let work_dir = paths::work_dir(launch, &mut settings::read().config)?;
    match session(launch, &paths::project(&work_dir))? {
        ResumeTarget::None => of_ours(launch, control, None).await,
        ResumeTarget::Ours(session) => of_ours(launch, control, Some(session)).await,
        ResumeTarget::Theirs(session, origin) => of_theirs(launch, control, session, &origin).await,
        ResumeTarget::Elsewhere => {
            Ok(Err("the conversation is with a program that cannot be started unasked".to_owned()))
        }
    }
}

/// A room with our agent.
async fn of_ours(
    launch: &Launch,
    mut control: Control,
    session: Option<SessionId>,
) -> anyhow::Result<Result<Joined, String>> {
    let mut config = settings::read().config;
    let work_dir = paths::work_dir(launch, &mut config)?;
    let wanted = RoomRequest {
        session,
        cwd: Some(work_dir.cwd.clone()),
        environment: Some(spawn_env::of_terminal()),
        own_ui: true,
        flags: flags(launch)?,
        ..RoomRequest::default()
    };
    // A room that cannot keep what stood in files tells so itself.
    let folder = Folder::of(&work_dir, true);
    let ground = Some(Ground { own_ui: wanted.own_ui, ..Ground::of(launch, &config, folder) });
    opened(&mut control, wanted, work_dir.cwd, (ground, None)).await
}

/// A room with a listed agent, in a new session.
async fn of_agent(
    launch: &Launch,
    mut control: Control,
    name: &str,
) -> anyhow::Result<Result<Joined, String>> {
    let cwd = paths::work_dir(launch, &mut settings::read().config)?.cwd;
    let wanted = RoomRequest { agent: Some(name.to_owned()), ..of_others(launch, None, cwd.clone())? };
    opened(&mut control, wanted, cwd, (None, Some(name.to_owned()))).await
}

/// A room with the agent that a kept session was with.
async fn of_theirs(
    launch: &Launch,
    mut control: Control,
    session: SessionId,
    origin: &Origin,
) -> anyhow::Result<Result<Joined, String>> {
    let dialect = dialects::driven(&origin.dialect).map_err(|why| anyhow::anyhow!("{why}"))?;
    unsupported_flags::refuse_resumed(launch, dialect)?;
    let cwd = paths::work_dir(launch, &mut settings::read().config)?.cwd;
    let cwd = match &origin.place {
        RuntimePlace::Command { folder, .. } => path_text::read(folder),
        RuntimePlace::Socket { .. } => cwd,
    };
    let wanted = of_others(launch, Some(session), cwd.clone())?;
    opened(&mut control, wanted, cwd, (None, Some(remote::origin::words(origin)))).await
}

/// What is wanted of a room that another program's agent is in: models and budgets are its own matter.
fn of_others(launch: &Launch, session: Option<SessionId>, cwd: PathBuf) -> anyhow::Result<RoomRequest> {
    let ours = Launch { policy: launch.policy, workspace: launch.workspace.clone(), ..Launch::default() };
    Ok(RoomRequest {
        session,
        cwd: Some(cwd),
        environment: Some(spawn_env::of_terminal()),
        flags: flags(&ours)?,
        ..RoomRequest::default()
    })
}

async fn opened(
    control: &mut Control,
    wanted: RoomRequest,
    cwd: PathBuf,
    (ground, whose): (Option<Ground>, Option<String>),
) -> anyhow::Result<Result<Joined, String>> {
    Ok(match control.open(&wanted).await {
        Ok(opened) => Ok(Joined { wanted, opened, cwd, ground, whose }),
        Err(why) => Err(format!("the server cannot open it: {why:#}")),
    })
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
    // What is wrong with its name is told by who opens it.
    if !store_place::database(launch).is_ok_and(|database| database.is_none()) {
        return Some("conversations are kept in a database".to_owned());
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
    /// With an agent of another program, which the person has started here before.
    Theirs(SessionId, Box<Origin>),
    /// With one that cannot be started unasked, or is not started at all.
    Elsewhere,
}

fn session(launch: &Launch, project: &str) -> anyhow::Result<ResumeTarget> {
    if launch.resume.is_none() && !launch.continue_last {
        return Ok(ResumeTarget::None);
    }
    let data = paths::data()?;
    // What is wrong with a store is told by who opens it to write.
    let Ok(store) = SqliteStore::to_read(&data) else { return Ok(ResumeTarget::Elsewhere) };
    let Some(session) = kept::wanted(launch, &store, project)? else { return Ok(ResumeTarget::None) };
    let summary = store.summary(&session).map_err(|why| kept::told(&why))?;
    Ok(match summary.origin {
        None => ResumeTarget::Ours(session),
        Some(origin) => of_origin(session, origin),
    })
}

fn of_origin(session: SessionId, origin: Box<Origin>) -> ResumeTarget {
    let is_started = matches!(origin.place, RuntimePlace::Command { incomplete: false, .. });
    match is_started && remote::origin::is_typed(&origin) {
        true => ResumeTarget::Theirs(session, origin),
        false => ResumeTarget::Elsewhere,
    }
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

/// Where the person goes from a room.
enum Next {
    /// Into another room, which begins with this.
    Room(Box<Joined>, Handed),
    Stay,
    Over(Exit),
}

impl Joined {
    /// The screen, until the person leaves it, in this room and in those that they go on to. What runs in a room goes on then.
    async fn show(mut self, launch: &Launch) -> anyhow::Result<Exit> {
        let mut session = self.wanted.session.clone();
        // Where the person was with our agent, to come back to, and where they were last.
        let (mut ours, mut last) = (None, session.clone());
        let (mut told, mut prompt, mut handed) = (Vec::new(), launch.prompt.clone(), Handed::default());
        if self.opened.was_open && !self.wanted.flags.is_empty() {
            told.push(unheeded(&self.wanted.flags));
        }
        loop {
            told.extend(handed.line.take());
            let first = (std::mem::take(&mut told), prompt.take(), handed.begin.take());
            let (exit, was) = match self.screen(launch, session.clone(), first).await? {
                ExitReason::Wants { exit, session } => (exit, session),
                left => return Ok(screen::exit(&left)),
            };
            (session, last) = (was.clone(), was.or(last));
            if self.whose.is_none() {
                ours = last.clone();
            }
            let next = match exit {
                ScreenExit::Visit { pid, session: other } => {
                    if let Over::Ended(exit) = interactive::visits(launch, pid, other).await? {
                        return Ok(exit);
                    }
                    continue;
                }
                ScreenExit::Login => {
                    if let Err(why) = login::login(launch, Login { provider: None, keep: false }).await {
                        output::print_error(&format!("error: {}", exit::in_words(&why)));
                    }
                    output::print_error("rooms that begin from now on know the keys that are kept");
                    stay().await?
                }
                ScreenExit::Attach(name) => {
                    // The next one works where this one does.
                    let launch = Launch { cwd: Some(self.cwd.clone()), ..launch.clone() };
                    next(&launch, &name, (last.as_ref(), ours.clone())).await?
                }
                ScreenExit::GoOn(session) => onto(launch, session).await?,
            };
            match next {
                Next::Room(joined, with) => {
                    self = *joined;
                    handed = with;
                    session = self.wanted.session.clone();
                }
                Next::Stay => {}
                Next::Over(exit) => return Ok(exit),
            }
        }
    }

    async fn screen(
        &self,
        launch: &Launch,
        session: Option<SessionId>,
        (told, prompt, begin): (Vec<String>, Option<String>, Option<tui::Begin>),
    ) -> anyhow::Result<ExitReason> {
        let dialect = dialects::native::DIALECT;
        // What was typed is the room's to heed: here nothing is run.
        let plain = Launch { policy: None, resume: None, continue_last: false, ..launch.clone() };
        let open = async |was: Option<Whereabouts>| {
            let wants = was.as_ref().map(|was| was.is_wanted);
            let session = was.and_then(|was| was.session).or_else(|| session.clone());
            // The room may have ended meanwhile, and another one have the session. An agent that is gone is started again when the person
            // says so, and not by looking for it.
            let socket = match (&session, wants) {
                (Some(session), Some(false)) if self.whose.is_some() => {
                    host::processes::find(session.as_str()).await?.0
                }
                (Some(session), Some(_)) => reopened(&self.wanted, session).await?,
                _ => self.opened.socket.clone(),
            };
            let named = session.as_ref().map(ToString::to_string);
            let begin = Begin { session: named.as_deref(), last: None };
            let (place, log) = (RuntimeAddress::Socket(socket), stack::no_log());
            let (person, size) = (Person::There, output::terminal_size());
            let approach = Approach {
                dialect,
                begin,
                person,
                size,
                judged: false,
                leash: None,
                listening: None,
                in_room: false,
            };
            Front::open(&plain, place, approach, None, log).await
        };
        let whose = self.whose.as_ref().map(|whose| format!("{whose}, ")).unwrap_or_default();
        let words = format!("{whose}goes on when this terminal is closed");
        let new = match (&session, &self.ground) {
            (None, Some(ground)) => mode::first_told(ground, &paths::data()?, false),
            _ => None,
        };
        let note = Note { told: new, ..screen::note_on_another(words) };
        let look = UiOptions::of(launch)?.telling(told).saying(prompt).beginning(begin);
        let exits = ScreenExits {
            agents: Arc::new(agent_list::for_screen),
            login: Some(login::on_screen::port(false)),
        };
        let look = look.leaving(Some(exits));
        let front = open(None).await?;
        screen::on_runtime(front, open, Restart::Connect, (note, true), self.cwd.clone(), look, true).await
    }
}

/// The room where the agent of this name goes on, or ours, with what it is told.
async fn next(
    launch: &Launch,
    name: &str,
    (last, ours): (Option<&SessionId>, Option<SessionId>),
) -> anyhow::Result<Next> {
    // What was typed for the session before says nothing about this one.
    let launch = &Launch { prompt: None, resume: None, continue_last: false, policy: None, ..launch.clone() };
    let comes_back = name == OURS && ours.is_some();
    let told = last.filter(|last| ours.as_ref() != Some(*last) || name != OURS);
    let told = told.map(|last| Told::of(last, !comes_back)).transpose()?.flatten();
    let room = match name {
        OURS => match Control::here().await? {
            Some(control) => of_ours(launch, control, ours).await?,
            None => Err(GONE.to_owned()),
        },
        _ => {
            let agent = match agents::find(name, &[], output::print_error) {
                Ok(agent) => agent,
                Err(why) => return failed(&exit::in_words(&why)).await,
            };
            if agent_list::started(&agent, false).await?.is_some() {
                return stay().await;
            }
            match Control::here().await? {
                Some(control) => of_agent(launch, control, name).await?,
                None => Err(GONE.to_owned()),
            }
        }
    };
    match room {
        Ok(joined) => Ok(Next::Room(Box::new(joined), handover::handed(told.as_ref()))),
        Err(why) => failed(&why).await,
    }
}

/// The room of a kept conversation with another program's agent.
async fn onto(launch: &Launch, session: SessionId) -> anyhow::Result<Next> {
    let store = SqliteStore::to_read(&paths::data()?)?;
    let origin = store.summary(&session).map_err(|why| kept::told(&why))?.origin;
    let room = match (origin.map(|origin| of_origin(session, origin)), Control::here().await?) {
        (Some(ResumeTarget::Theirs(session, origin)), Some(control)) => {
            of_theirs(launch, control, session, &origin).await?
        }
        (_, None) => Err(GONE.to_owned()),
        _ => Err("its program cannot be started unasked; go on with it by parlor --here --resume".to_owned()),
    };
    match room {
        Ok(joined) => Ok(Next::Room(Box::new(joined), Handed::default())),
        Err(why) => failed(&why).await,
    }
}

/// Said where the server ended while a screen stood.
const GONE: &str = "the server is gone; `parlor up` starts it again";

async fn failed(why: &str) -> anyhow::Result<Next> {
    output::print_error(&format!("error: {why}"));
    stay().await
}

/// Back where the person was, once they have read why.
async fn stay() -> anyhow::Result<Next> {
    Ok(match handover::stay().await? {
        Ended::Back(_) => Next::Stay,
        Ended::Over(exit) => Next::Over(exit),
    })
}

/// The socket of the process that has the session now.
async fn reopened(wanted: &RoomRequest, session: &SessionId) -> anyhow::Result<PathBuf> {
    let wanted = RoomRequest { session: Some(session.clone()), agent: None, ..wanted.clone() };
    match Control::here().await? {
        Some(mut control) => Ok(control.open(&wanted).await?.socket),
        None => Ok(host::processes::find(session.as_str()).await?.0),
    }
}
