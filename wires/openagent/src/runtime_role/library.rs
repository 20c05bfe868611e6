//! Sessions as the client keeps them: saved, loaded, listed, exported, deleted.

use super::super::fences::{Fences, Piece};
use super::super::plain;
use super::super::wire::{
    DeleteParams, DeleteResult, ExportParams, ExportResult, ListParams, ListResult, LoadParams, LoadResult,
    LoadedSession, SaveParams, SaveResult, SessionItem, SessionMessage, code,
};
use super::requests::{OpenagentMemo, invalid, read};
use super::{OpenagentRuntime as Role, words};
use domain::command::{Command, ExportFormat, LibraryCommand, ListScope, Receipt};
use domain::content::{Part, Role as Speaker};
use domain::event::Finish;
use domain::ids::SessionId;
use domain::session::SessionSummary;
use domain::state::{EntryKind, Message, State};
use rolekit::endpoint::reply;
use rolekit::exchange::{Answering, Asking, Exchange, Fault, Next, Request, Settlement};
use rolekit::narrator::CUT_LINE;
use rolekit::session_name;
use roles::RuntimeCx;
use wire::jsonrpc::RpcError;
use wire::time;

pub(super) const REQUESTS: &[Exchange<Role>] = &[
    Exchange::of::<SaveParams>(save, saved),
    Exchange::of::<LoadParams>(load, loaded),
    Exchange::of::<ListParams>(list, listed),
    Exchange::of::<ExportParams>(export, exported),
    Exchange::of::<DeleteParams>(delete, deleted),
];

/// Sessions in a list unless the client says otherwise.
const DEFAULT_SESSIONS: u64 = 10;
/// Most sessions in a list.
const MAX_SESSIONS: u64 = 1000;

fn hub(role: &Role, command: LibraryCommand, memo: OpenagentMemo) -> Asking<Role> {
    Ok(Next::Hub(role.at_home(), Command::Library(command), memo))
}

fn save(role: &mut Role, _: &mut RuntimeCx<'_>, request: Request<'_, Role>) -> Asking<Role> {
    let params: SaveParams = read(request.params)?;
    let history = params.include_history.unwrap_or(true);
    if history && params.include_blocks == Some(false) {
        let why = "blocks are part of the messages here, so include_blocks cannot be false while include_history is true; \
                   leave it out, or save without the history";
        return Err(invalid(why));
    }
    if !history && params.include_blocks == Some(true) {
        let why = "blocks are part of the messages here, so they cannot be saved without the history; leave one of \
                   the two out";
        return Err(invalid(why));
    }
    if role.home.is_none() {
        let why = "there is no session to save yet; send a query first";
        return Err(RpcError::new(code::AGENT, words(code::AGENT, why)));
    }
    hub(role, LibraryCommand::Save { path: params.path, history }, OpenagentMemo::Nothing)
}

fn saved(_: &mut Role, _: &mut RuntimeCx<'_>, settled: Settlement<'_, Role>) -> Answering<Role> {
    let Receipt::Saved { path, size } = settled.with? else { return Err(Fault::Odd) };
    Ok(reply(&SaveResult { saved: true, path, size }))
}

fn load(role: &mut Role, _: &mut RuntimeCx<'_>, request: Request<'_, Role>) -> Asking<Role> {
    let params: LoadParams = read(request.params)?;
    let command = match (params.session_id, params.path) {
        (Some(session), _) => LibraryCommand::Open { session: role.session_id(&session)? },
        (None, Some(path)) if !path.is_empty() => LibraryCommand::Load { path },
        (None, _) => return Err(invalid("session_id or path is required")),
    };
    hub(role, command, OpenagentMemo::Nothing)
}

fn loaded(role: &mut Role, _: &mut RuntimeCx<'_>, settled: Settlement<'_, Role>) -> Answering<Role> {
    let Receipt::Session { session, .. } = settled.with? else { return Err(Fault::Odd) };
    role.home = Some(session.id.clone());
    let state = settled.view.filter(|view| *view.session == session.id).map(|view| view.state);
    Ok(reply(&lower_loaded(&session, state)))
}

/// Both shapes at once. Tool runs have no role that the existing client can read; they stand in the text of the model's messages.
fn lower_loaded(session: &SessionSummary, state: Option<&State>) -> LoadResult {
    let mut messages = Vec::new();
    let mut blocks = 0;
    for entry in state.map(State::path).unwrap_or_default() {
        let (role, content) = match &entry.kind {
            EntryKind::Message(message) => {
                blocks += blocks_in(message);
                let cut = if message.finish == Some(Finish::Cut) { CUT_LINE } else { "" };
                (message.role, plain::clean(&(message.text() + cut)))
            }
            EntryKind::Compaction(compaction) => (Speaker::System, plain::clean(&compaction.summary)),
            EntryKind::Notice { .. } => continue,
        };
        if content.is_empty() {
            continue;
        }
        let role = match role {
            Speaker::User => "user",
            Speaker::Assistant => "assistant",
            Speaker::System => "system",
        };
        let (role, timestamp) = (role.to_owned(), time::write(entry.at.0));
        messages.push(SessionMessage { role, content, timestamp, token_count: None });
    }
    // As lists count them: messages without a text, such as those that only call tools, are some too. A list of another program may
    // have told no count; what it then told of the session counts.
    let count = session.messages.max(messages.len() as u64);
    LoadResult {
        loaded: true,
        session: LoadedSession {
            id: session_name::write(&session.id),
            created: session.created_at.0 / 1000,
            blocks_count: blocks,
            messages_count: count,
        },
        status: Some("success".to_owned()),
        session_id: Some(session_name::write(&session.id)),
        message_count: Some(count),
        messages: Some(messages),
        error: None,
    }
}

/// Blocks as they were streamed: parts of their own, fences in texts, and tool runs.
fn blocks_in(message: &Message) -> u64 {
    let in_part = |part: &Part| match part {
        Part::Text(text) if message.role == Speaker::Assistant => {
            let mut fences = Fences::default();
            let pieces = fences.push(text).into_iter().chain(fences.finish());
            pieces.filter(|piece| matches!(piece, Piece::Block { .. })).count() as u64
        }
        Part::Code { .. } | Part::Diff { .. } | Part::Tool(_) => 1,
        Part::Text(_) | Part::Thought { .. } | Part::Image { .. } | Part::Opaque { .. } => 0,
    };
    message.parts.iter().map(in_part).sum()
}

fn list(role: &mut Role, _: &mut RuntimeCx<'_>, request: Request<'_, Role>) -> Asking<Role> {
    let params: ListParams = read(request.params)?;
    let limit = Some(params.limit.unwrap_or(DEFAULT_SESSIONS).min(MAX_SESSIONS));
    let command = LibraryCommand::List { scope: ListScope::All, limit, search: None };
    hub(role, command, OpenagentMemo::Nothing)
}

fn listed(role: &mut Role, _: &mut RuntimeCx<'_>, settled: Settlement<'_, Role>) -> Answering<Role> {
    let Receipt::Sessions(sessions) = settled.with? else { return Err(Fault::Odd) };
    role.listed = sessions.iter().map(|session| session.id.clone()).collect();
    // The existing client reads no list without them.
    let told = role.endpoint.greeting.follows && !role.client.terminal;
    let sessions = sessions.iter().map(|session| lower_session(session, told)).collect();
    Ok(reply(&ListResult { status: "success".to_owned(), sessions, error: None }))
}

/// Where only what was told is written (`only_told`), a count of 0 is one that nobody told.
fn lower_session(session: &SessionSummary, only_told: bool) -> SessionItem {
    let known = |count: u64| Some(count).filter(|count| !only_told || *count > 0);
    let title = plain::clean(&session.title);
    SessionItem {
        session_id: session_name::write(&session.id),
        title: if title.trim().is_empty() { "new session".to_owned() } else { title },
        created_at: time::write(session.created_at.0),
        updated_at: time::write(session.updated_at.0),
        message_count: known(session.messages),
        total_tokens: known(session.usage.total()),
    }
}

fn export(role: &mut Role, _: &mut RuntimeCx<'_>, request: Request<'_, Role>) -> Asking<Role> {
    let params: ExportParams = read(request.params)?;
    let name = params.format.unwrap_or_else(|| "markdown".to_owned());
    let format = match name.as_str() {
        "markdown" | "md" => ExportFormat::Markdown,
        "html" => ExportFormat::Html,
        "jsonl" | "json" => ExportFormat::Jsonl,
        other => {
            return Err(invalid(format!("format {other:?} is not supported; use markdown, html or jsonl")));
        }
    };
    let session = params.session_id.as_deref().map(|name| role.session_id(name)).transpose()?;
    let session = session.or_else(|| role.home.clone());
    if session.is_none() {
        let status = "success".to_owned();
        return Ok(reply(&ExportResult { status, format: name, ..ExportResult::default() }));
    }
    hub(role, LibraryCommand::Export { session, format }, OpenagentMemo::Export(name))
}

fn exported(role: &mut Role, _: &mut RuntimeCx<'_>, settled: Settlement<'_, Role>) -> Answering<Role> {
    let (OpenagentMemo::Export(format), Receipt::Exported { text, .. }) = (settled.memo, settled.with?)
    else {
        return Err(Fault::Odd);
    };
    let content = plain::clean(&text);
    // The existing client prints it as it stands.
    let raw = role.client.style().carriage_returns;
    let content = if raw { plain::in_raw_mode(&content) } else { content };
    Ok(reply(&ExportResult { status: "success".to_owned(), format, content, error: None }))
}

fn delete(role: &mut Role, _: &mut RuntimeCx<'_>, request: Request<'_, Role>) -> Asking<Role> {
    let params: DeleteParams = read(request.params)?;
    let name = params.session_id.ok_or_else(|| invalid("session_id is required"))?;
    let session = role.session_id(&name)?;
    hub(role, LibraryCommand::Delete { session: session.clone() }, OpenagentMemo::Delete(session))
}

fn deleted(_: &mut Role, _: &mut RuntimeCx<'_>, settled: Settlement<'_, Role>) -> Answering<Role> {
    settled.with?;
    let OpenagentMemo::Delete(session) = settled.memo else { return Err(Fault::Odd) };
    let (status, deleted) = ("success".to_owned(), Some(session_name::write(&session)));
    Ok(reply(&DeleteResult { status, deleted, error: None }))
}

impl Role {
    /// The session that the client names: by its name or its id, or by a beginning that no other of the last list has. A name that
    /// cannot be one is unknown.
    fn session_id(&self, name: &str) -> Result<SessionId, RpcError> {
        let found = session_name::find(name, self.listed.iter().chain(&self.home));
        found.or_else(|| session_name::read(name)).ok_or_else(|| {
            let short: String = name.chars().take(64).collect();
            invalid(format!("there is no session {short:?}; list the sessions to see which there are"))
        })
    }
}
