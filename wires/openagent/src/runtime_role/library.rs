//! Sessions as the client keeps them: saved, loaded, listed, exported, deleted.

use super::super::fences::{Fenced, Fences};
use super::super::plain;
use super::super::wire::{
    DeleteParams, DeleteResult, ExportParams, ExportResult, ListParams, ListResult, LoadParams, LoadResult,
    LoadedSession, SaveParams, SaveResult, SessionItem, SessionMessage, code,
};
use super::requests::{NamedDeed, OpenagentMemo, invalid, read};
use super::{OpenagentRuntime as Role, words};
use domain::command::{Command, ExportFormat, LibraryCommand, ListScope, Receipt, Refusal};
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
    match (params.session_id, params.path) {
        (Some(session), _) => role.named(session, NamedDeed::Load),
        (None, Some(path)) if !path.is_empty() => {
            hub(role, LibraryCommand::Load { path }, OpenagentMemo::Nothing)
        }
        (None, _) => Err(invalid("session_id or path is required")),
    }
}

fn loaded(role: &mut Role, _: &mut RuntimeCx<'_>, settled: Settlement<'_, Role>) -> Answering<Role> {
    if let OpenagentMemo::Named(name, deed) = settled.memo {
        return role.found(&name, deed, settled.with).map_err(Fault::Error);
    }
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
            pieces.filter(|piece| matches!(piece, Fenced::Block { .. })).count() as u64
        }
        Part::Code { .. } | Part::Diff { .. } | Part::Tool(_) => 1,
        Part::Text(_) | Part::Thought { .. } | Part::Image { .. } | Part::Opaque { .. } => 0,
    };
    message.parts.iter().map(in_part).sum()
}

fn list(role: &mut Role, _: &mut RuntimeCx<'_>, request: Request<'_, Role>) -> Asking<Role> {
    let params: ListParams = read(request.params)?;
    let wanted = params.limit.unwrap_or(DEFAULT_SESSIONS).min(MAX_SESSIONS);
    // Some of them may be left out.
    let limit = Some(if role.endpoint.greeting.follows { wanted } else { MAX_SESSIONS });
    let command = LibraryCommand::List { scope: ListScope::All, limit, search: None };
    hub(role, command, OpenagentMemo::List(usize::try_from(wanted).unwrap_or(usize::MAX)))
}

fn listed(role: &mut Role, _: &mut RuntimeCx<'_>, settled: Settlement<'_, Role>) -> Answering<Role> {
    let (OpenagentMemo::List(wanted), Receipt::Sessions(mut sessions)) = (settled.memo, settled.with?) else {
        return Err(Fault::Odd);
    };
    // A conversation of ours with another program cannot be loaded here.
    let follows = role.endpoint.greeting.follows;
    sessions.retain(|session| follows || session.origin.is_none());
    sessions.truncate(wanted);
    role.listed = sessions.iter().map(|session| session.id.clone()).collect();
    // The existing client reads no list without them.
    let told = follows && !role.client.terminal;
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
    if let Some(session) = params.session_id {
        return role.named(session, NamedDeed::Export(name, format));
    }
    let session = role.home.clone();
    if session.is_none() {
        let status = "success".to_owned();
        return Ok(reply(&ExportResult { status, format: name, ..ExportResult::default() }));
    }
    hub(role, LibraryCommand::Export { session, format }, OpenagentMemo::Export(name))
}

fn exported(role: &mut Role, _: &mut RuntimeCx<'_>, settled: Settlement<'_, Role>) -> Answering<Role> {
    let format = match settled.memo {
        OpenagentMemo::Named(name, deed) => {
            return role.found(&name, deed, settled.with).map_err(Fault::Error);
        }
        OpenagentMemo::Export(format) => format,
        _ => return Err(Fault::Odd),
    };
    let Receipt::Exported { text, .. } = settled.with? else { return Err(Fault::Odd) };
    let content = plain::clean(&text);
    // The existing client prints it as it stands.
    let raw = role.client.style().carriage_returns;
    let content = if raw { plain::in_raw_mode(&content) } else { content };
    Ok(reply(&ExportResult { status: "success".to_owned(), format, content, error: None }))
}

fn delete(role: &mut Role, _: &mut RuntimeCx<'_>, request: Request<'_, Role>) -> Asking<Role> {
    let params: DeleteParams = read(request.params)?;
    let name = params.session_id.ok_or_else(|| invalid("session_id is required"))?;
    role.named(name, NamedDeed::Delete)
}

fn deleted(role: &mut Role, _: &mut RuntimeCx<'_>, settled: Settlement<'_, Role>) -> Answering<Role> {
    let session = match settled.memo {
        OpenagentMemo::Named(name, deed) => {
            return role.found(&name, deed, settled.with).map_err(Fault::Error);
        }
        OpenagentMemo::Delete(session) => session,
        _ => return Err(Fault::Odd),
    };
    settled.with?;
    let (status, deleted) = ("success".to_owned(), Some(session_name::write(&session)));
    Ok(reply(&DeleteResult { status, deleted, error: None }))
}

impl Role {
    /// Does something with the session that the client names: by its name or its id, or by a beginning that no other has, of those
    /// that were listed last or else of all.
    fn named(&mut self, name: String, deed: NamedDeed) -> Asking<Role> {
        let known = session_name::find(&name, self.listed.iter().chain(&self.home));
        if let Some(session) = known.or_else(|| session_name::read_whole(&name)) {
            return self.with(session, deed);
        }
        let all = LibraryCommand::List { scope: ListScope::All, limit: Some(MAX_SESSIONS), search: None };
        hub(self, all, OpenagentMemo::Named(name, deed))
    }

    /// The same once all sessions are known; a runtime without a list may know the name all the same.
    fn found(&mut self, name: &str, deed: NamedDeed, all: Result<Receipt, Refusal>) -> Asking<Role> {
        let among = match &all {
            Ok(Receipt::Sessions(sessions)) => session_name::find(name, sessions.iter().map(|one| &one.id)),
            _ => None,
        };
        let session = among.or_else(|| session_name::read(name)).ok_or_else(|| {
            let short: String = name.chars().take(64).collect();
            invalid(format!("there is no session {short:?}; list the sessions to see which there are"))
        })?;
        self.with(session, deed)
    }

    fn with(&mut self, session: SessionId, deed: NamedDeed) -> Asking<Role> {
        match deed {
            NamedDeed::Load => hub(self, LibraryCommand::Open { session }, OpenagentMemo::Nothing),
            NamedDeed::Export(name, format) => {
                let session = Some(session);
                hub(self, LibraryCommand::Export { session, format }, OpenagentMemo::Export(name))
            }
            NamedDeed::Delete => {
                let command = LibraryCommand::Delete { session: session.clone() };
                hub(self, command, OpenagentMemo::Delete(session))
            }
        }
    }
}
