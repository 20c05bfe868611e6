//! `parlor relay`: carries stdin and stdout to a session of this machine. By itself for a terminal on another one (`remote::ssh`): the first
//! line on stdout says who is there, so that the other side knows that ssh has asked all its questions; what follows are the bytes of the
//! native wire. For a UI of another wire ([`speak`]) with a hub between, and no line before its own.

use crate::aloud;
use crate::exit::{self, Exit};
use crate::output::{self, Carrier};
use crate::{serve, unsupported_flags};
use dialects::Dialect;
use domain::ids::SessionId;
use host::doors;
use host::guests::Host;
use host::launch::Launch;
use host::rooms::RoomRequest;
use host::stop::{self, Manner, Over, Runs};
use host::{paths, peer_trust, reach};
use link::unix;
use remote::front::{Approach, Begin, Front, Person};
use remote::origin::RuntimeAddress;
use serde_json::json;
use std::path::PathBuf;
use tokio::io::AsyncWriteExt;
use tokio::net::UnixStream;
use tokio::task::JoinSet;

/// Carry stdin and stdout to a session of this machine.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  parlor relay --dialect lemon sess-18c5a48ca629")]
pub(crate) struct Relay {
    /// Speak this protocol, from the first line on; without it the native one, behind a line that says who is there.
    #[arg(long, value_name = "DIALECT", value_parser = crate::flags::dialect())]
    dialect: Option<Dialect>,
    /// The session, by its id or the beginning of it; without one a session process for a new session in this folder.
    session: Option<String>,
}

/// Carries until one side ends.
pub(crate) async fn relay(mut launch: Launch, asked: Relay) -> anyhow::Result<Exit> {
    if let Some(dialect) = asked.dialect.filter(|dialect| dialect.has_event_lane()) {
        return Err(exit::usage(format!(
            "{dialect} needs two connections, which stdin and stdout are not\n\nhint: parlor serve --dialect {dialect} --socket PATH --session ID"
        )));
    }
    let (opened, session) = match asked.session.as_deref() {
        Some(_) if launch.cwd.is_some() => {
            return Err(exit::usage(
                "--cwd goes with a new session: one that is there works where it began\n\nhint: leave out one of both",
            ));
        }
        Some(id) => {
            let (opened, session) = reach::session(id).await?;
            (opened, Some(session))
        }
        None => (reach::open(RoomRequest::new_in(Some(paths::working_directory(&launch)?))).await?, None),
    };
    if let Some(dialect) = asked.dialect {
        // What was typed is for sessions of our own.
        launch.policy = None;
        return speak(&launch, dialect, opened.socket, session).await;
    }
    let stream = unix::reach(&opened.socket, unix::CONNECT_WITHIN, peer_trust::trust).await?;
    let greeting = json!({"relay": {
        "version": host::version::version(),
        "session": session.as_ref().map(SessionId::as_str),
    }});
    output::print_line(&greeting.to_string());
    carry(stream).await;
    Ok(Exit::Done)
}

/// Lets a UI of this wire on stdin and stdout be one of those on a process of ours. Runs go on there when it leaves.
async fn speak(
    launch: &Launch,
    dialect: Dialect,
    socket: PathBuf,
    session: Option<SessionId>,
) -> anyhow::Result<Exit> {
    let approach = Approach {
        dialect: dialects::native::DIALECT,
        begin: Begin { session: session.as_ref().map(SessionId::as_str), last: None },
        person: Person::Among { answers: unsupported_flags::asks(dialect) },
        size: None,
        judged: false,
        leash: None,
        listening: None,
        in_room: false,
    };
    let front = Front::open(launch, RuntimeAddress::Socket(socket), approach, None, aloud::log()).await?;
    let cwd = paths::working_directory(launch)?;
    let host = Host::in_front(&cwd, Vec::new(), Vec::new(), None, output::stderr_log());
    let manner = Manner { runs: Runs::Leave, last_lines: doors::last_lines(true), keeps_questions: true };
    let serving = serve::on_stdio(&front.hub, &host, dialect);
    let over = stop::until_told(&front.hub, serving, manner, output::print_error).await;
    front.close(matches!(over, Ok(Over::UiGone | Over::Told))).await;
    over.map(|over| match over {
        Over::UiGone | Over::Told => Exit::Done,
        Over::RuntimeLost => Exit::Failed,
    })
}

/// Carries stdin and stdout to a socket and back, byte for byte, until the socket ends.
pub(crate) async fn carry(stream: UnixStream) {
    let (mut from, mut to) = stream.into_split();
    let mut up = JoinSet::new();
    up.spawn(async move {
        let _ = tokio::io::copy(&mut tokio::io::stdin(), &mut to).await;
        let _ = to.shutdown().await;
    });
    let _ = tokio::io::copy(&mut from, &mut Carrier::of_tasks()).await;
}
