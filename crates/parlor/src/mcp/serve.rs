//! `parlor mcp serve`: other agents use Parlor's sessions as the tools of an MCP server, on stdin and stdout.
//!
//! A client begins sessions, says something in them, waits and reads. It answers no question and chooses no mode: what would need a yes
//! is asked on the person's own screens, as on a wire that has no questions, and the mode is the one that the person has set. It reaches
//! only sessions that it began itself. Where Parlor's own agent, or a command of it, started this, sessions only look, and everything
//! that holds the command holds them too.

mod desk;
mod protocol;

use crate::aloud;
use crate::exit::Exit;
use crate::output;
use desk::Desk;
use domain::rights::Standing;
use domain::session::Policy;
use host::announcement::Announcement;
use host::guests::Host;
use host::launch::Launch;
use host::stop::{self, Manner, Runs};
use host::{doors, guard, stack, visits};
use link::{Incoming, Lane, Limits, LinkIo};
use protocol::{Asked, Call};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;
use tokio::task::{AbortHandle, JoinSet};
use wire::Frame;

/// Most calls at once; most of them wait for a session.
const MAX_CALLS: usize = 64;

/// Serves until the client leaves.
pub(super) async fn serve(mut launch: Launch) -> anyhow::Result<Exit> {
    if tools::sandbox::is_started_by_an_agent(guard::GUARD) {
        output::print_error("this was started by Parlor's own agent: sessions here only look");
        launch.policy = Some(Policy::ReadOnly);
    }
    let own = stack::own_visiting(&launch, Some(visits::port()), aloud::log()).await?;
    if let Some(words) = &own.no_workspace {
        output::print_error(words);
    }
    let host = Host::new(&own, Vec::new(), Standing::Controller, Vec::new(), output::stderr_log());
    // The person's own screens find these sessions by it.
    let _announcement = Announcement::open(&own.hub, &host, &own.cwd, "mcp".to_owned()).await;
    let link = link::stdio::join(Lane::MAIN, Limits::default(), std::io::stdin(), output::carrier())?;
    let gone = output::reader_gone()?;
    let serving = async {
        tokio::select! {
            () = attend(link, Arc::new(Desk::new(own.hub.clone()))) => {}
            Ok(()) = gone => {}
        }
        Ok(())
    };
    let manner = Manner {
        runs: Runs::BreakOff,
        last_lines: doors::last_lines(true),
        keeps_questions: !launch.ephemeral,
    };
    let exit = stop::until_told(&own.hub, serving, manner, output::print_error).await.map(|_| Exit::Done);
    aloud::stop(own.engine, &own.hub).await;
    exit
}

/// Answers a client until it has closed its end. Calls go on side by side: most of them wait.
async fn attend(mut link: LinkIo, desk: Arc<Desk>) {
    let mut calls = JoinSet::new();
    let mut by_id: BTreeMap<String, AbortHandle> = BTreeMap::new();
    loop {
        let incoming = tokio::select! {
            biased;
            Some(ended) = calls.join_next() => {
                if let Ok((id, answer)) = ended {
                    by_id.remove(&id);
                    let _ = link.outgoing.try_send(Lane::MAIN, answer);
                }
                continue;
            }
            incoming = link.incoming.recv() => incoming,
        };
        let line = match incoming {
            None | Some(Incoming::Closed { .. }) => break,
            Some(Incoming::Frame { frame: Frame::Line(line) | Frame::Unfinished(line), .. }) => line,
            Some(Incoming::Frame { .. }) => {
                let refused = protocol::refused(
                    &Value::Null,
                    protocol::PARSE,
                    "this line is no JSON: too long, or no text",
                );
                let _ = link.outgoing.try_send(Lane::MAIN, refused);
                continue;
            }
        };
        match protocol::read(&line) {
            Asked::Nothing => {}
            Asked::Answered(answer) => {
                let _ = link.outgoing.try_send(Lane::MAIN, answer);
            }
            Asked::CalledOff(id) => {
                if let Some(call) = by_id.remove(&id.to_string()) {
                    call.abort();
                }
            }
            Asked::Call(Call { id, .. })
                if calls.len() >= MAX_CALLS || by_id.contains_key(&id.to_string()) =>
            {
                let why = "too many calls at once, or one of this id is under way: wait for an answer first";
                let _ = link.outgoing.try_send(Lane::MAIN, protocol::refused(&id, protocol::INVALID, why));
            }
            Asked::Call(call) => {
                let (desk, id) = (desk.clone(), call.id.to_string());
                let name = id.clone();
                let doing = calls.spawn(async move {
                    let told = desk.call(&call.name, &call.arguments).await;
                    (name, protocol::result(&call.id, told))
                });
                by_id.insert(id, doing);
            }
        }
    }
    // What was asked is answered before the end, unless it waits for a session.
    calls.abort_all();
    while let Some(ended) = calls.join_next().await {
        if let Ok((_, answer)) = ended {
            let _ = link.outgoing.try_send(Lane::MAIN, answer);
        }
    }
    link.shutdown(doors::last_lines(true)).await;
}
