//! The way to a foreign runtime: a socket (or two), or a program that is started and spoken with on its stdin and stdout.

use crate::agents;
use crate::errands::Doing;
use crate::hubs;
use crate::leash::{self, LeashWish};
use crate::origin::KeepAs;
use crate::origin::RuntimeAddress;
use dialects::Dialect;
use domain::path_text;
use host::announcement::Announcement;
use host::guard;
use host::guests::Listening;
use host::launch::Launch;
use host::{paths, peer_trust, stack};
use hub::core::Sharing;
use hub::{Ended, ForeignKeeping, Hub, LastLines, Log, RemoteSeat, Stranger};
use link::child::{self, Child, Exit, Restarted, start_again_on};
use link::{Limits, LinkIo, unix};
use roles::{Hello, Lane};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use store::Store;
use tools::leashed::Leashed;

/// How long a socket may take to answer.
const CONNECT_WITHIN: Duration = Duration::from_secs(5);
/// Lines of a runtime's stderr that are shown after a failure.
const LAST_LINES: usize = 20;
/// How long a runtime that closed its link may take to end by itself, so that its exit code is its own.
const END_WITHIN: Duration = Duration::from_millis(500);
/// The same where a UI beyond a bridge is told how it ended: only one that closed its stdout and goes on takes that long.
const ENDED_WITHIN: Duration = Duration::from_secs(5);
/// The same for each step of ending one that the person does not want to wait for.
const SOON: Duration = Duration::from_millis(300);

/// The sessions of the runtime that are to be gone to at once, by its own ids.
#[derive(Debug, Clone, Copy, Default)]
pub struct Begin<'a> {
    /// That the person named.
    pub session: Option<&'a str>,
    /// Where the person was before the link broke, if it is still there.
    pub last: Option<&'a str>,
}

/// How a runtime is spoken with, wherever it is.
#[derive(Clone)]
pub struct Approach<'a> {
    pub dialect: Dialect,
    pub begin: Begin<'a>,
    pub person: Person,
    /// Columns and rows of the person's terminal, where there is one.
    pub size: Option<(u16, u16)>,
    /// Whether what the runtime asks consent for is judged by our mode and our rules before a person is asked.
    pub judged: bool,
    /// Folders for a program that is started on the leash; `None` where it is held by nothing.
    pub leash: Option<LeashWish>,
    /// Who listens in on the link.
    pub listening: Option<Listening>,
    /// In a room nobody sees what the program writes beside its answers: it goes into the log, and how it ended is told by the hub.
    pub in_room: bool,
}

/// Whether somebody sits there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Person {
    /// Somebody answers.
    There,
    /// Somebody answers in another program, which says by itself which session it wants.
    Beyond,
    /// The same, as one of several on a session of ours: what nobody there can answer is left to the others.
    Among { answers: bool },
    /// Nobody can choose or write anything; consent is answered by what was allowed before.
    Away,
}

/// A foreign runtime with a hub in front of it.
pub struct Front {
    pub hub: Hub,
    program: Option<Program>,
    doing: Option<Doing>,
    /// Lets others find it, for as long as it is there.
    announcement: Option<Announcement>,
    /// What a program on the leash needs for as long as it runs.
    _leashed: Option<Leashed>,
}

/// Why a runtime that we started is gone, as far as it told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LastWords {
    /// How it ended, if that was by itself.
    pub exit: Option<Exit>,
    /// The end of its stderr.
    pub stderr: Vec<String>,
}

impl LastWords {
    fn of(exit: Option<Exit>, stderr: &[String]) -> LastWords {
        let stderr = stderr.iter().skip(stderr.len().saturating_sub(LAST_LINES)).cloned().collect();
        LastWords { exit, stderr }
    }

    /// The end of a program as a sentence; `None` while it goes on.
    async fn within(end: impl Future<Output = (Option<Exit>, Vec<String>)>) -> Option<String> {
        let (exit, stderr) = end.await;
        let LastWords { stderr, .. } = LastWords::of(exit, &stderr);
        let said = match stderr.is_empty() {
            true => "and wrote nothing on stderr".to_owned(),
            false => format!("with this at the end of its stderr:\n{}", stderr.join("\n")),
        };
        exit.map(|exit| format!("it {exit}, {said}"))
    }

    /// In lines, for the person.
    pub fn lines(&self) -> Vec<String> {
        let stderr = self.stderr.iter().map(|line| format!("runtime: {line}"));
        stderr.chain(self.exit.map(|exit| format!("the runtime {exit}"))).collect()
    }
}

/// A runtime that we started.
enum Program {
    Once(Child),
    /// Of a wire where it may ask to be started again.
    Restarted(Restarted),
}

impl Program {
    /// Tells in words how it ended, once its link is over.
    fn ended(&self) -> Ended {
        match self {
            Program::Once(child) => {
                let witness = child.witness();
                Box::pin(async move { LastWords::within(witness.end_within(ENDED_WITHIN)).await })
            }
            Program::Restarted(program) => {
                let witness = program.witness();
                Box::pin(async move { LastWords::within(witness.end_within(ENDED_WITHIN)).await })
            }
        }
    }
}

/// A program that a person named: what it does is its own matter, but it gets no terminal and leaves nothing behind.
fn watched(command: Vec<OsString>, folder: Option<PathBuf>, heard: Option<Log>) -> child::Launch {
    let on_stderr = heard.map(told);
    child::Launch { guard: guard::watching(), cwd: folder, on_stderr, ..child::Launch::new(command) }
}

/// Each line of its stderr goes into the log, as what it is: a room has no terminal to show it on, and is asked for its log.
fn told(log: Log) -> child::OnStderr {
    Box::new(move |line| log(&format!("stderr: {}", domain::harmless::in_line(line))))
}

/// The same on the leash.
fn on_leash(
    command: Vec<OsString>,
    folder: Option<PathBuf>,
    heard: Option<Log>,
    leashed: &mut Leashed,
) -> child::Launch {
    let (guard, stdin) = (leashed.guard.clone(), leashed.stdin.take());
    let (env, on_stderr) = (leashed.env.clone(), heard.map(told));
    child::Launch { guard, stdin, env, cwd: folder, on_stderr, ..child::Launch::new(command) }
}

async fn held(launch: &Launch, wish: &LeashWish, command: &[OsString], log: &Log) -> anyhow::Result<Leashed> {
    let mut config = host::settings::read().config;
    let work_dir = paths::work_dir(launch, &mut config)?;
    let guard = guard::of(&config);
    leash::hold(wish, command, &work_dir, &paths::data()?, guard, &launch.allow, &**log).await
}

/// A program whose wire has no word for going to a session is started in it.
fn going_on(dialect: Dialect, place: RuntimeAddress, begin: Begin<'_>) -> RuntimeAddress {
    match (place, dialect.description().habits.resumes, begin.last.or(begin.session)) {
        (RuntimeAddress::Command(mut command), Some(flag), Some(session)) => {
            command.extend([flag, session].map(OsString::from));
            RuntimeAddress::Command(command)
        }
        (place, ..) => place,
    }
}

impl Front {
    /// Reaches the runtime and puts a hub in front of it. Its sessions are kept if it is said as whose.
    ///
    /// # Errors
    /// When it cannot be reached or started, or the session to go on with cannot be had.
    pub async fn open(
        launch: &Launch,
        place: RuntimeAddress,
        approach: Approach<'_>,
        keep: Option<KeepAs>,
        log: Log,
    ) -> anyhow::Result<Front> {
        let dialect = approach.dialect;
        let held_in = approach.leash.as_ref().and_then(|wish| wish.folder.clone());
        let folder = keep.as_ref().map(|keep| keep.folder.clone()).or(held_in);
        // Before anything is started: a session that another Parlor writes cannot be gone on with.
        let keeping = keep.map(|keep| hubs::keeping(launch, keep, &log)).transpose()?;
        let start_within = match &place {
            RuntimeAddress::Command(command) => agents::start_within(command),
            RuntimeAddress::Socket(_) => None,
        };
        let place = going_on(dialect, place, approach.begin);
        let heard = approach.in_room.then(|| log.clone());
        let mut leashed = match (&approach.leash, &place) {
            (None, _) => None,
            (Some(wish), RuntimeAddress::Command(command))
                if dialect.description().restart_code.is_none() =>
            {
                Some(held(launch, wish, command, &log).await?)
            }
            (Some(_), _) => {
                anyhow::bail!("--leash: only a program that is started here, and once, can be held")
            }
        };
        let (link, program) = match place {
            RuntimeAddress::Socket(path) => (connect(dialect, &path).await?, None),
            // What happens there is told on a second socket, which a program's pipes have not.
            RuntimeAddress::Command(_) if dialect.has_event_lane() => anyhow::bail!(
                "{dialect} speaks over two sockets, not over a program's stdin and stdout; \
                 start the program, then name its socket instead of the command"
            ),
            RuntimeAddress::Command(command) => match dialect.description().restart_code {
                Some(code) => {
                    let launch = move || watched(command.clone(), folder.clone(), heard.clone());
                    let (link, program) = start_again_on(code, launch, Lane::MAIN, Limits::default())?;
                    (link, Some(Program::Restarted(program)))
                }
                None => {
                    let started = match &mut leashed {
                        Some(leashed) => on_leash(command, folder, heard, leashed),
                        None => watched(command, folder, heard),
                    };
                    let (link, child) = started.start(Lane::MAIN, Limits::default())?;
                    (link, Some(Program::Once(child)))
                }
            },
        };
        let watcher = match &approach.listening {
            Some(listening) => listening(dialect)?,
            None => None,
        };
        let link = match &watcher {
            Some(watcher) => link.watched(watcher),
            None => link,
        };
        let front = Front::seated(launch, link, approach, (program, start_within), keeping, log)?;
        Ok(Front { _leashed: leashed, ..front })
    }

    /// Puts a hub in front of a runtime that was reached otherwise; nothing of it is kept here.
    ///
    /// # Errors
    /// When there is no folder to work in.
    pub fn on_link(launch: &Launch, link: LinkIo, approach: Approach<'_>) -> anyhow::Result<Front> {
        Front::seated(launch, link, approach, (None, None), None, stack::no_log())
    }

    fn seated(
        launch: &Launch,
        link: LinkIo,
        approach: Approach<'_>,
        (program, start_within): (Option<Program>, Option<Duration>),
        keeping: Option<(Box<dyn Store>, ForeignKeeping)>,
        log: Log,
    ) -> anyhow::Result<Front> {
        let Approach { dialect, begin, person, size, judged, leash: _, listening: _, in_room } = approach;
        let hello = Hello {
            version: host::version::version().to_owned(),
            cwd: path_text::write(&paths::working_directory(launch)?),
            size,
            shell: std::env::var("SHELL").ok().and_then(|path| path.rsplit('/').next().map(str::to_owned)),
            session: begin.session.map(Into::into),
            last_session: begin.last.map(Into::into),
            is_away: person == Person::Away,
            does_errands: false,
            judges: judged,
            begins: person == Person::There && begin.session.is_none(),
            keeps: keeping.is_some(),
            is_mute: person == Person::Among { answers: false },
            patience: host::settings::read().config.give_up_after,
            is_attended: person == Person::There,
            start_within,
        };
        let (role, lossless) = (dialect.ui_role(), dialect.is_lossless());
        let last_lines = match &program {
            Some(Program::Once(child)) => Some(last_lines_of(child)),
            Some(Program::Restarted(_)) | None => None,
        };
        // A terminal that has started it tells it by itself; whoever looks into a room hears it from there.
        let is_told = in_room || person == Person::Beyond;
        let ended = if is_told { program.as_ref().map(Program::ended) } else { None };
        let stranger: Option<Stranger> = Some(Box::new(move |line| dialects::stranger(dialect, line)));
        let seat = RemoteSeat { role, link, hello, lossless, errands: None, last_lines, ended, stranger };
        let sharing = match person {
            Person::Among { answers } => Sharing::among(answers),
            Person::There | Person::Beyond | Person::Away => Sharing::Alone,
        };
        let (hub, doing) = hubs::start(launch, seat, keeping, sharing, log)?;
        Ok(Front { hub, program, doing, announcement: None, _leashed: None })
    }

    /// Lets `parlor ps` show it.
    pub async fn announced(self, cwd: &Path, serving: &str) -> Front {
        let announcement = Announcement::quietly(&self.hub, cwd, serving).await;
        Front { announcement, ..self }
    }

    /// Whether the runtime was started by us.
    pub fn is_ours(&self) -> bool {
        self.program.is_some()
    }

    /// Lets the runtime go; after a failure gives what it said last.
    pub async fn close(self, well: bool) -> Option<LastWords> {
        if well {
            self.let_go().await;
            return None;
        }
        self.last_words().await
    }

    /// Lets the runtime go because the person wants to go now: it has little time to end by itself. Gives what it said last.
    pub async fn close_soon(self) -> LastWords {
        let Front { hub, program, doing, announcement, _leashed } = self;
        drop(announcement);
        hub.stop().await;
        let (ended, stderr) = tokio::join!(
            async {
                if let Some(doing) = doing {
                    doing.end().await;
                }
            },
            async {
                match program {
                    Some(Program::Once(child)) => child.shutdown_within(SOON, SOON).await.1,
                    Some(Program::Restarted(program)) => program.shutdown().await.1,
                    None => Vec::new(),
                }
            }
        );
        let () = ended;
        LastWords::of(None, &stderr)
    }

    /// Lets a runtime go that is gone or failed; gives what is known of its end, if we started it.
    pub async fn last_words(mut self) -> Option<LastWords> {
        let exit = match &mut self.program {
            Some(Program::Once(child)) => tokio::time::timeout(END_WITHIN, child.wait()).await.ok(),
            Some(Program::Restarted(program)) => program.ended_within(END_WITHIN).await,
            None => None,
        };
        Some(LastWords::of(exit, &self.let_go().await?))
    }

    /// Lets the runtime go; gives its stderr, if we started it.
    async fn let_go(self) -> Option<Vec<String>> {
        let Front { hub, program, doing, announcement, _leashed } = self;
        drop(announcement);
        hub.stop().await;
        if let Some(doing) = doing {
            doing.end().await;
        }
        let (_, stderr) = match program? {
            Program::Once(child) => child.shutdown().await,
            Program::Restarted(program) => program.shutdown().await,
        };
        Some(stderr)
    }
}

fn last_lines_of(child: &Child) -> LastLines {
    let tail = child.stderr_tail();
    Arc::new(move || tail.lines())
}

async fn connect(dialect: Dialect, path: &Path) -> anyhow::Result<LinkIo> {
    let limits = Limits::default();
    if dialect.has_event_lane() {
        let lanes = (Lane::MAIN, Lane::EVENTS);
        return Ok(unix::connect_two(path, lanes, limits, CONNECT_WITHIN, peer_trust::trust).await?);
    }
    Ok(unix::connect(path, Lane::MAIN, limits, CONNECT_WITHIN, peer_trust::trust).await?)
}
