//! `parlor attach`: be the UI of another program's runtime.

use crate::agent_list;
use crate::exit::{self, Exit};
use crate::headless::{self, PromptRequest, Run};
use crate::output;
use crate::screen::{self, UiOptions, Whereabouts};
use crate::tape::Tape;
use crate::{aloud, attach_ssh, unsupported_flags};
use clap::Args;
use domain::ids::SessionId;
use domain::session::Policy;
use host::launch::Launch;
use host::processes;
use host::stop::Stops;
use host::{fleet, paths, stack};
use remote::agents;
use remote::front::{Approach, Begin, Front, Person};
use remote::origin;
use remote::origin::{KeepAs, RuntimeAddress};
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use tools::policy::Allowance;
use tui::{Begin as Beginning, ExitReason, Restart, ScreenExit, ScreenExits};

/// Be a UI on another program's runtime.
///
/// The conversation is kept, with the command or socket (not with the environment, nor with words that look like keys): `parlor sessions`
/// lists it, `parlor --resume ID` goes on with it. `--ephemeral` keeps nothing.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  parlor attach goose\n  parlor attach --dialect asst -- python3 agent.py\n  parlor attach --dialect native --socket $XDG_RUNTIME_DIR/parlor.sock\n  parlor attach ssh://me@build-host --cwd src/shop"
)]
pub(crate) struct Attach {
    /// An agent of `parlor agents`, by its name; before its first start you see its command and are asked. Or `ssh://HOST[/SESSION]`: a
    /// session of Parlor on another machine, by your own ssh; `--cwd` is then the folder there that a new one works in.
    #[arg(value_name = "NAME", conflicts_with_all = ["dialect", "socket", "command"])]
    pub(crate) name: Option<String>,
    /// With NAME: say yes to its first start, where nobody can be asked.
    #[arg(long)]
    pub(crate) yes: bool,
    /// With NAME: a list of agents as the ACP registry publishes it, a file or a folder of this machine.
    #[arg(long, value_name = "PATH")]
    pub(crate) registry: Vec<PathBuf>,
    /// The protocol that the runtime speaks.
    #[arg(long, default_value = "native", value_name = "DIALECT", value_parser = crate::flags::driven())]
    pub(crate) dialect: dialects::Dialect,
    /// Connect to this Unix socket.
    #[arg(long, value_name = "PATH", conflicts_with = "command")]
    pub(crate) socket: Option<PathBuf>,
    /// The session to go to, by the runtime's own id. Alone: wherever `parlor ps` shows it.
    #[arg(long, value_name = "SESSION")]
    pub(crate) session: Option<String>,
    /// Say nothing to a runtime that acts without asking, and stop one that does.
    #[arg(long)]
    pub(crate) require_consent: bool,
    /// Write the conversation down in this file. Secrets are taken out.
    #[arg(long, value_name = "FILE")]
    pub(crate) record: Option<PathBuf>,
    /// One prompt without a screen, like `parlor run`, with its exit codes.
    #[arg(help_heading = "Without a screen", long, value_name = "TEXT")]
    pub(crate) prompt: Option<String>,
    /// With `--prompt`: print every event as one JSON line, and a last line with the result.
    #[arg(help_heading = "Without a screen", long, requires = "prompt")]
    pub(crate) json: bool,
    /// With `--prompt`: tools of the runtime that are said yes to when it asks, by the runtime's own names; `all` for everything it asks.
    #[arg(help_heading = "Without a screen", long, requires = "prompt", value_delimiter = ',', value_name = "TOOL,…", value_parser = crate::flags::granted)]
    pub(crate) allow: Vec<Allowance>,
    /// With `--prompt`: give up after this time, such as 90s or 5m.
    #[arg(help_heading = "Without a screen", long, requires = "prompt", value_name = "TIME", value_parser = crate::flags::seconds)]
    pub(crate) timeout: Option<u64>,
    /// Start this program and speak on its stdin and stdout.
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<OsString>,
}

impl Attach {
    /// To a runtime of this protocol whose place is told otherwise.
    pub(crate) fn on(dialect: dialects::Dialect) -> Attach {
        Attach {
            name: None,
            registry: Vec::new(),
            yes: false,
            dialect,
            socket: None,
            session: None,
            record: None,
            require_consent: false,
            prompt: None,
            json: false,
            allow: Vec::new(),
            timeout: None,
            command: Vec::new(),
        }
    }
}

/// What a screen begins with that goes on from elsewhere, and may be left for another agent.
#[derive(Debug, Clone, Default)]
pub(crate) struct Handed {
    /// What goes with the first prompt.
    pub(crate) begin: Option<Beginning>,
    /// In a line, for the first screen.
    pub(crate) line: Option<String>,
}

/// A kept session that is gone on with.
#[derive(Debug, Clone, Default)]
pub(crate) struct KeptSession {
    /// `None` for a session that is not kept yet, as far as we know.
    pub(crate) session: Option<SessionId>,
    /// Where its program was started; `None` is where we are.
    pub(crate) folder: Option<PathBuf>,
}

/// Opens the terminal UI (or says one prompt) on a foreign runtime.
pub(crate) async fn attach(mut launch: Launch, mut attach: Attach) -> anyhow::Result<Exit> {
    launch.require_consent = attach.require_consent;
    if let Some(address) = attach.name.as_deref().filter(|name| name.starts_with(remote::ssh::SCHEME)) {
        unsupported_flags::refuse(&launch, dialects::native::DIALECT)?;
        let said = attach.prompt.clone().map(PromptRequest::text);
        let say = said.map(|said| async |front, stops| say_on(front, &attach, said, stops).await);
        return attach_ssh::attach(launch, address, say).await;
    }
    if let Some(name) = attach.name.clone() {
        return attach_listed(launch, attach, &name).await;
    }
    if attach.yes || !attach.registry.is_empty() {
        return Err(exit::usage(
            "--yes and --registry go with the NAME of an agent\n\nhint: `parlor agents` lists names",
        ));
    }
    unsupported_flags::refuse(&launch, attach.dialect)?;
    let named = RuntimeAddress::of(attach.socket.as_ref(), &attach.command)
        .or_else(|| RuntimeAddress::usual(attach.dialect));
    let place = match (named, &attach.session) {
        (Some(place), _) => place,
        (None, Some(session)) if attach.dialect.is_lossless() => {
            let (socket, id) = processes::find(session).await?;
            attach.session = Some(id);
            RuntimeAddress::Socket(socket)
        }
        (None, _) => {
            return Err(exit::usage(
                "say what to attach to\n\nhint: NAME (`parlor agents` lists them), ssh://HOST, --socket PATH, --session ID (see `parlor ps`), or -- COMMAND",
            ));
        }
    };
    let said = attach.prompt.clone().map(PromptRequest::text);
    go(&launch, &attach, said, place, KeptSession::default()).await
}

/// The same on an agent that is listed, once the person has agreed to its command.
async fn attach_listed(launch: Launch, mut attach: Attach, name: &str) -> anyhow::Result<Exit> {
    let agent = agents::find(name, &attach.registry, output::print_error)?;
    attach.dialect = agent.dialect;
    unsupported_flags::refuse(&launch, attach.dialect)?;
    if let Some(exit) = agent_list::started(&agent, attach.yes).await? {
        return Ok(exit);
    }
    let place = RuntimeAddress::Command(agent.command.iter().map(Into::into).collect());
    let said = attach.prompt.clone().map(PromptRequest::text);
    go(&launch, &attach, said, place, KeptSession::default()).await
}

/// The screen of an agent that is listed, which goes on from what it is told; `None` where the person did not let it be started.
pub(crate) async fn on_listed(
    launch: &Launch,
    name: &str,
    handed: Handed,
) -> anyhow::Result<Option<ExitReason>> {
    let agent = agents::find(name, &[], output::print_error)?;
    let launch = Launch { own_ui: false, policy: None, ..launch.clone() };
    if agent_list::started(&agent, false).await?.is_some() {
        return Ok(None);
    }
    let place = RuntimeAddress::Command(agent.command.iter().map(Into::into).collect());
    let attach = Attach::on(agent.dialect);
    let keep = keep_as(agent.dialect, &place, KeptSession::default())?;
    show(&launch, &attach, place, Some(keep), None, (true, Some(handed))).await.map(Some)
}

/// The same on a runtime whose place is known; with something to say, without a screen.
pub(crate) async fn go(
    launch: &Launch,
    attach: &Attach,
    said: Option<PromptRequest>,
    place: RuntimeAddress,
    kept: KeptSession,
) -> anyhow::Result<Exit> {
    unsupported_flags::refuse_allowed(&attach.allow, attach.dialect)?;
    let keep = match launch.ephemeral || attach.dialect.is_lossless() {
        true => None,
        false => Some(keep_as(attach.dialect, &place, kept)?),
    };
    let tape = attach.record.as_deref().map(Tape::new);
    let exit = match said {
        Some(said) => say(launch, attach, place, keep, tape.as_ref(), said).await,
        None => {
            let visits = matches!(place, RuntimeAddress::Socket(_));
            let left = show(launch, attach, place, keep, tape.as_ref(), (visits, None)).await;
            match left {
                Ok(left) => wander(launch, left).await,
                Err(why) => Err(why),
            }
        }
    };
    if let Some(tape) = tape {
        tape.finish();
    }
    exit
}

/// Follows a person who goes from one process to the next, until they leave.
async fn wander(launch: &Launch, left: ExitReason) -> anyhow::Result<Exit> {
    Ok(screen::exit(&visited(launch, left).await?))
}

/// Where the person is in the end who goes from one process to the next.
pub(crate) async fn visited(launch: &Launch, mut left: ExitReason) -> anyhow::Result<ExitReason> {
    while let ExitReason::Wants { exit: ScreenExit::Visit { pid, session }, .. } = left {
        left = visit(launch, pid, &session).await?;
    }
    Ok(left)
}

/// The terminal UI on a session that another process of this person has open.
pub(crate) async fn visit(launch: &Launch, pid: u32, session: &SessionId) -> anyhow::Result<ExitReason> {
    // What was typed for sessions of our own says nothing about this one.
    let launch = Launch { prompt: None, resume: None, continue_last: false, policy: None, ..launch.clone() };
    let attach = Attach { session: Some(session.to_string()), ..Attach::on(dialects::native::DIALECT) };
    let place = RuntimeAddress::Socket(fleet::act::socket(pid)?);
    show(&launch, &attach, place, None, None, (true, None)).await
}

/// As whose its sessions are kept. A command that was typed now may be started again later.
pub(crate) fn keep_as(
    dialect: dialects::Dialect,
    place: &RuntimeAddress,
    kept: KeptSession,
) -> anyhow::Result<KeepAs> {
    let folder = match kept.folder {
        Some(folder) => folder,
        None => paths::here()?,
    };
    let origin = origin::origin(dialect, place, &folder);
    if kept.session.is_none() {
        aloud::remember(&origin);
    }
    let insists = kept.session.is_some();
    Ok(KeepAs { origin, folder, session: kept.session, insists })
}

/// How the runtime is spoken with.
fn approach<'a>(attach: &Attach, begin: Begin<'a>, person: Person, tape: Option<&Tape>) -> Approach<'a> {
    let (dialect, size) = (attach.dialect, output::terminal_size());
    Approach {
        dialect,
        begin,
        person,
        size,
        judged: false,
        leash: None,
        listening: tape.map(Tape::of_runtimes),
        in_room: false,
    }
}

/// One prompt without a screen.
async fn say(
    launch: &Launch,
    attach: &Attach,
    place: RuntimeAddress,
    keep: Option<KeepAs>,
    tape: Option<&Tape>,
    said: PromptRequest,
) -> anyhow::Result<Exit> {
    // Before a runtime is greeted: a signal must not leave it behind.
    let stops = Stops::listen().with_reader(output::reader_gone().ok());
    let begin = Begin { session: attach.session.as_deref(), last: None };
    let log = aloud::log();
    let approach = approach(attach, begin, Person::Away, tape);
    let front = Front::open(launch, place, approach, keep, log).await?;
    say_on(front, attach, said, stops).await
}

/// The same on a runtime that is reached already.
async fn say_on(front: Front, attach: &Attach, said: PromptRequest, stops: Stops) -> anyhow::Result<Exit> {
    let run = Run { json: attach.json, timeout: attach.timeout, ..Run::of(String::new()) };
    let exit = headless::converse(&front.hub, None, said, &run, &attach.allow, stops).await;
    let last = match &exit {
        Ok(Exit::Cancelled(_) | Exit::TimedOut) => Some(front.close_soon().await),
        _ => front.close(exit.as_ref().is_ok_and(|exit| *exit == Exit::Done)).await,
    };
    last.iter().for_each(aloud::last_words);
    exit
}

/// As whose the sessions are kept once the runtime is there again: the one where the person was is gone on with, if it can be.
fn kept_where(keep: KeepAs, was: &Whereabouts) -> KeepAs {
    match &was.session {
        Some(session) => KeepAs { session: Some(session.clone()), insists: false, ..keep },
        None if was.anew => KeepAs { session: None, insists: false, ..keep },
        None => keep,
    }
}

/// What was typed, with what the person set since: a runtime that begins anew is held to it from its first word.
fn held_as(launch: &Launch, was: &Whereabouts) -> Launch {
    let policy = match was.policy {
        // The way back from read-only leaves the runtime its own rules.
        Some(Policy::Ask) => None,
        // The others count for what it has done by our hands.
        Some(policy) => Some(policy),
        None => launch.policy,
    };
    Launch { policy, ..launch.clone() }
}

/// The terminal UI. `visits`: nothing is lost when the person leaves for another process; `handed`: what the runtime goes on from.
async fn show(
    launch: &Launch,
    attach: &Attach,
    place: RuntimeAddress,
    keep: Option<KeepAs>,
    tape: Option<&Tape>,
    (visits, handed): (bool, Option<Handed>),
) -> anyhow::Result<ExitReason> {
    let note = match keep.as_ref().filter(|keep| keep.session.is_some()) {
        Some(keep) => screen::note_on_another(format!("again on {}", origin::words(&keep.origin))),
        None => screen::note_on_another(format!("on a runtime that speaks {}", attach.dialect)),
    };
    let (cwd, look) =
        (paths::working_directory(launch)?, UiOptions::of(launch)?.saying(launch.prompt.clone()));
    let exits =
        handed.as_ref().map(|_| ScreenExits { agents: Arc::new(agent_list::for_screen), login: None });
    let Handed { begin, line } = handed.unwrap_or_default();
    let look = look.leaving(exits).beginning(begin).telling(line.into_iter().collect());
    let restart = match place {
        RuntimeAddress::Socket(_) => Restart::Connect,
        RuntimeAddress::Command(_) => Restart::Start,
    };
    let is_kept = keep.is_some();
    let open = async |was: Option<Whereabouts>| {
        let was = was.unwrap_or_default();
        let lossless = attach.dialect.is_lossless();
        let ours = was.session.as_ref().filter(|_| lossless).map(ToString::to_string);
        let known = ours.as_deref().or(was.theirs.as_deref());
        let named = attach.session.as_deref().filter(|_| !was.anew);
        // Who goes on with a conversation was there; who names a session of the runtime wants that one or none.
        let went_on = keep.as_ref().is_some_and(|keep| keep.insists);
        let last = was.theirs.as_deref().or(named.filter(|_| went_on));
        let begin = Begin { session: known.or(named), last };
        let (place, keep, log) = (place.clone(), keep.clone(), stack::no_log());
        let keep = keep.map(|keep| kept_where(keep, &was));
        let launch = &held_as(launch, &was);
        let front =
            Front::open(launch, place, approach(attach, begin, Person::There, tape), keep, log).await?;
        // Behind a socket others find it by itself.
        Ok(match restart {
            Restart::Start => front.announced(&cwd, &format!("terminal on {}", attach.dialect)).await,
            Restart::Connect | Restart::None => front,
        })
    };
    let front = open(None).await?;
    screen::on_runtime(front, open, restart, (note, visits), cwd.clone(), look, is_kept).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_person_set_holds_after_a_restart() {
        let typed = Launch { policy: Some(Policy::ReadOnly), ..Launch::default() };
        let set = |policy| Whereabouts { policy, ..Whereabouts::default() };
        for (launch, since, held) in [
            (Launch::default(), None, None),
            (Launch::default(), Some(Policy::ReadOnly), Some(Policy::ReadOnly)),
            (typed.clone(), None, Some(Policy::ReadOnly)),
            (typed, Some(Policy::Ask), None),
        ] {
            assert_eq!(held_as(&launch, &set(since)).policy, held, "{since:?}");
        }
    }
}
