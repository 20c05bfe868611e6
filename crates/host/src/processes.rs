//! What processes tell of their sessions: each that a [`Directory`] knows is asked who is there.

use crate::directory::{Directory, FoundProcess, Notice, SocketPurpose};
use crate::{directory, peer_trust};
use anyhow::Context;
use domain::ids::SessionId;
use link::{Incoming, Limits, LinkError, LinkIo, unix};
use roles::Lane;
use serde_json::Value;
use std::io;
use std::path::PathBuf;
use std::time::Duration;
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
        own.and_then(need).or_else(|| is_used().then_some("its room has another session in use"))
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
    for FoundProcess { notice, is_alive } in directory.look(MAX_PROCESSES)? {
        if !is_alive {
            continue;
        }
        // Its sockets are there before its notice: if nobody answers, the number belongs to another process now.
        // One that is only slow, on a busy machine, stays.
        let (who, limits) = (directory.socket(notice.pid, SocketPurpose::Who), Limits::default());
        match unix::connect(&who, Lane::MAIN, limits, REACHED_WITHIN, peer_trust::trust).await {
            Ok(link) => all.push(Process { notice, sessions: told(link).await }),
            Err(LinkError::Connect { source, .. }) if nobody(&source) => directory.withdraw(notice.pid),
            Err(_) => all.push(Process { notice, sessions: None }),
        }
    }
    all.sort_by_key(|process| process.notice.since);
    Ok(all)
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
    let mut found = Vec::new();
    for process in all(directory.as_ref()).await? {
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
        0 => anyhow::bail!("no serving process has {session} open; `parlor ps` lists what is open"),
        _ => anyhow::bail!("{session} fits several sessions; `parlor ps` lists them, give more of the id"),
    }
}
