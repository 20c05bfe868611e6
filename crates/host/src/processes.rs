//! What processes tell of their sessions: each that a [`Directory`] knows is asked who is there.

use crate::directory::{Directory, FoundProcess, Notice, SocketPurpose};
use crate::{directory, peer_trust};
use anyhow::Context;
use domain::ids::SessionId;
use link::{Incoming, Limits, LinkError, LinkIo, unix};
use roles::Lane;
use serde_json::Value;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::task::JoinSet;
use wire::lines::Frame;

/// How long a process may take to tell who is there.
const ANSWER_WITHIN: Duration = Duration::from_secs(2);
/// How long to try to reach it.
const REACHED_WITHIN: Duration = Duration::from_millis(200);
/// Processes that are asked.
const MAX_PROCESSES: usize = 1024;

/// A serving process and what it told.
pub struct Process {
    pub notice: Notice,
    /// Its live sessions; `None` when it did not answer.
    pub sessions: Option<Vec<Value>>,
}

impl Process {
    /// Whether it has this session open.
    pub(crate) fn has(&self, session: &SessionId) -> bool {
        let ids = self.sessions.iter().flatten().filter_map(|live| live.get("id").and_then(Value::as_str));
        ids.into_iter().any(|id| id == session.as_str())
    }

    /// Why it cannot let go of this session, in words; `None` when nobody needs any of its sessions.
    pub(crate) fn needed(&self, session: &SessionId) -> Option<&'static str> {
        let all = self.sessions.as_deref().unwrap_or_default();
        let own = all.iter().find(|live| live.get("id").and_then(Value::as_str) == Some(session.as_str()));
        let is_used = || all.iter().any(|live| need(live).is_some());
        own.and_then(need).or_else(|| is_used().then_some("its process has another session in use"))
    }
}

/// For what a session is needed that a process told of.
fn need(live: &Value) -> Option<&'static str> {
    if live.get("asks").and_then(Value::as_u64) != Some(0) {
        Some("a question waits for an answer there")
    } else if live.get("running") != Some(&Value::Bool(false)) {
        Some("a run is under way there")
    } else if live.get("uis").and_then(Value::as_array).is_none_or(|uis| !uis.is_empty()) {
        Some("somebody is attached to it")
    } else {
        None
    }
}

/// The serving processes that are alive, oldest first. What dead ones left is removed.
///
/// # Errors
/// When it cannot be known who is there.
pub async fn all(directory: &dyn Directory) -> anyhow::Result<Vec<Process>> {
    let mut all = Vec::new();
    // All at once: one that is stopped keeps nobody waiting for the others.
    let mut asked = JoinSet::new();
    for FoundProcess { notice, is_alive } in directory.look(MAX_PROCESSES)? {
        if is_alive {
            let who = directory.socket(notice.pid, SocketPurpose::Who);
            asked.spawn(async move { (ask(&who).await, notice) });
        }
    }
    while let Some(answered) = asked.join_next().await {
        match answered {
            Ok((Ok(sessions), notice)) => all.push(Process { notice, sessions }),
            Ok((Err(Nobody), notice)) => directory.withdraw(notice.pid),
            Err(_) => {}
        }
    }
    all.sort_by_key(|process| (process.notice.since, process.notice.pid));
    Ok(all)
}

/// The number of a notice belongs to another process now.
struct Nobody;

/// What the process at a socket tells; `None` when it does not. Its sockets are there before its notice: where nobody listens it is gone.
/// One that is only slow, on a busy machine, stays.
async fn ask(who: &Path) -> Result<Option<Vec<Value>>, Nobody> {
    match unix::connect(who, Lane::MAIN, Limits::default(), REACHED_WITHIN, peer_trust::trust).await {
        Ok(link) => Ok(told(link).await),
        Err(LinkError::Connect { source, .. }) if nobody(&source) => Err(Nobody),
        Err(_) => Ok(None),
    }
}

/// The process that tells that it has this session open.
///
/// # Errors
/// As for [`all`].
pub async fn holder(directory: &dyn Directory, session: &SessionId) -> anyhow::Result<Option<Process>> {
    Ok(all(directory).await?.into_iter().find(|process| process.has(session)))
}

/// Whether nobody listens there.
fn nobody(why: &io::Error) -> bool {
    matches!(why.kind(), io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused)
}

/// What a process tells about who is there.
async fn told(mut link: LinkIo) -> Option<Vec<Value>> {
    let first = tokio::time::timeout(ANSWER_WITHIN, link.incoming.recv()).await.ok()??;
    let Incoming::Frame { frame: Frame::Line(line), .. } = first else { return None };
    serde_json::from_str(&line).ok()
}

/// The socket of the process that has this session open; its id may be shortened.
pub async fn find(session: &str) -> anyhow::Result<(PathBuf, String)> {
    let directory = directory::here()?;
    let (mut found, mut silent) = (Vec::new(), Vec::new());
    for process in all(directory.as_ref()).await? {
        if process.sessions.is_none() {
            silent.push(process.notice.pid.to_string());
        }
        for live in process.sessions.iter().flatten() {
            let id = live.get("id").and_then(Value::as_str).unwrap_or_default();
            if id == session || id.starts_with(session) || id.trim_start_matches("sess-").starts_with(session)
            {
                found.push((directory.socket(process.notice.pid, SocketPurpose::Ui), id.to_owned()));
            }
        }
    }
    match found.len() {
        1 => found.pop().context("just counted"),
        0 if !silent.is_empty() => anyhow::bail!(
            "no process says that it has {session} open, and process {} does not answer: it may be stopped; `parlor ps` lists what is open",
            silent.join(", ")
        ),
        0 => anyhow::bail!("no serving process has {session} open; `parlor ps` lists what is open"),
        _ => anyhow::bail!("{session} fits several sessions; `parlor ps` lists them, give more of the id"),
    }
}
