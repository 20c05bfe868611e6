//! From receipts and refusals to what the client gets for its request.

use super::super::fences::{Fences, Piece};
use super::super::plain;
use super::super::wire::{
    ApproveResult, Context, ContextResult, DeleteResult, ExportResult, ListResult, LoadResult, LoadedSession,
    SaveResult, SessionItem, SessionMessage,
};
use super::requests::{cancel_line, refusal_error};
use super::{MAX_REMEMBERED, OpenagentRuntime};
use crate::narrator::CUT_LINE;
use crate::session_name;
use domain::ask::ActionDigest;
use domain::command::{Receipt, Refusal, RefusalKind};
use domain::content::{Part, Role};
use domain::event::Finish;
use domain::ids::SessionId;
use domain::session::SessionSummary;
use domain::state::{EntryKind, Message, State};
use roles::{RuntimeCx, View};
use wire::jsonrpc::{self, INTERNAL_ERROR, RpcError};
use wire::{WireId, time};

/// Who waits for a receipt, and what it is needed for.
#[derive(Debug)]
pub(super) enum HubCommand {
    /// Nobody: something sent along.
    Silent,
    /// Nobody: a client has said who it is and is shown what goes on.
    Joined,
    /// A side session for a query.
    Branch {
        query: u64,
    },
    /// The context of a query, which goes before its prompt.
    Prepared {
        query: u64,
    },
    /// The run of a query.
    Query {
        query: u64,
    },
    /// What the client told of its surroundings, and what holds if it is refused.
    Context {
        id: WireId,
        before: Box<Context>,
    },
    Cancel {
        id: WireId,
        query_id: String,
    },
    Approve {
        id: WireId,
        execution_id: String,
        approved: bool,
        /// What is not asked about again once the hub took the answer.
        remember: Option<(SessionId, ActionDigest)>,
    },
    Save {
        id: WireId,
    },
    Load {
        id: WireId,
    },
    List {
        id: WireId,
    },
    Export {
        id: WireId,
        format: String,
    },
    Delete {
        id: WireId,
        session: SessionId,
    },
}

impl OpenagentRuntime {
    /// Answers the request that a settlement belongs to.
    pub(super) fn answer(
        &mut self,
        cx: &mut RuntimeCx<'_>,
        view: Option<View<'_>>,
        pending: HubCommand,
        with: Result<Receipt, Refusal>,
    ) {
        let (id, outcome) = match pending {
            HubCommand::Silent => {
                if let Err(refusal) = with {
                    cx.log(format!("refused: {refusal}"));
                }
                return;
            }
            HubCommand::Joined => {
                if let Some(view) = view {
                    self.catch_up(cx, view);
                }
                return;
            }
            HubCommand::Branch { query } => return self.branched(cx, query, with),
            HubCommand::Prepared { query } => {
                if let Err(refusal) = with {
                    cx.log(format!("the context of a query was refused: {refusal}"));
                }
                return self.send_prompt(cx, query);
            }
            HubCommand::Context { id, before } => {
                if with.is_err() {
                    self.context = *before;
                    self.tell_context(cx);
                }
                let line = with.map(|_| jsonrpc::result(&id, &ContextResult::success()));
                (id, line)
            }
            HubCommand::Query { query } => return self.prompted(cx, view, query, with),
            HubCommand::Cancel { id, query_id } => match with {
                Ok(Receipt::Cancelling { run }) => {
                    return cx.send(cancel_line(&id, &query_id, run.outcome.is_none()));
                }
                Ok(_) => return cx.send(cancel_line(&id, &query_id, true)),
                Err(refusal) if matches!(refusal.kind, RefusalKind::NoRun | RefusalKind::RunUnknown) => {
                    return cx.send(cancel_line(&id, &query_id, false));
                }
                Err(refusal) => (id, Err(refusal)),
            },
            HubCommand::Approve { id, execution_id, approved, remember } => {
                if with.is_ok() && self.remembered.len() < MAX_REMEMBERED {
                    self.remembered.extend(remember);
                }
                return self.approved(cx, &id, execution_id, approved, with);
            }
            HubCommand::Save { id } => {
                let line = with.map(|receipt| match receipt {
                    Receipt::Saved { path, size } => {
                        jsonrpc::result(&id, &SaveResult { saved: true, path, size })
                    }
                    _ => odd(&id),
                });
                (id, line)
            }
            HubCommand::Load { id } => {
                let line = with.map(|receipt| match receipt {
                    Receipt::Session { session, .. } => {
                        self.home = Some(session.id.clone());
                        let state = view.filter(|view| *view.session == session.id).map(|view| view.state);
                        jsonrpc::result(&id, &lower_loaded(&session, state))
                    }
                    _ => odd(&id),
                });
                (id, line)
            }
            HubCommand::List { id } => {
                let line = with.map(|receipt| match receipt {
                    Receipt::Sessions(sessions) => {
                        self.listed = sessions.iter().map(|session| session.id.clone()).collect();
                        // The existing client reads no list without them.
                        let told = self.greeting.follows && !self.client.terminal;
                        let sessions = sessions.iter().map(|session| lower_session(session, told)).collect();
                        let status = "success".to_owned();
                        jsonrpc::result(&id, &ListResult { status, sessions, error: None })
                    }
                    _ => odd(&id),
                });
                (id, line)
            }
            HubCommand::Export { id, format } => {
                let line = with.map(|receipt| match receipt {
                    Receipt::Exported { text, .. } => {
                        let status = "success".to_owned();
                        let content = plain::clean(&text);
                        // The existing client prints it as it stands.
                        let raw = self.client.style().carriage_returns;
                        let content = if raw { plain::in_raw_mode(&content) } else { content };
                        jsonrpc::result(&id, &ExportResult { status, format, content, error: None })
                    }
                    _ => odd(&id),
                });
                (id, line)
            }
            HubCommand::Delete { id, session } => {
                let line = with.map(|_| {
                    let (status, deleted) = ("success".to_owned(), Some(session_name::write(&session)));
                    jsonrpc::result(&id, &DeleteResult { status, deleted, error: None })
                });
                (id, line)
            }
        };
        cx.send(outcome.unwrap_or_else(|refusal| jsonrpc::error(Some(&id), &refusal_error(&refusal))));
    }

    fn approved(
        &mut self,
        cx: &mut RuntimeCx<'_>,
        id: &WireId,
        execution_id: String,
        approved: bool,
        with: Result<Receipt, Refusal>,
    ) {
        let status = if approved { "approved" } else { "rejected" };
        let result = match with {
            Ok(_) => ApproveResult {
                status: status.to_owned(),
                execution_id: Some(execution_id),
                ..ApproveResult::default()
            },
            Err(refusal) if self.client.terminal => ApproveResult {
                status: "error".to_owned(),
                error: Some(refusal.to_string()),
                ..ApproveResult::default()
            },
            Err(refusal) => return cx.send(jsonrpc::error(Some(id), &refusal_error(&refusal))),
        };
        cx.send(jsonrpc::result(id, &result));
    }
}

/// A receipt that does not fit what was asked; a defect of ours.
fn odd(id: &WireId) -> String {
    jsonrpc::error(
        Some(id),
        &RpcError::new(INTERNAL_ERROR, "Internal error: the runtime answered something else"),
    )
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
            EntryKind::Compaction(compaction) => (Role::System, plain::clean(&compaction.summary)),
            EntryKind::Notice { .. } => continue,
        };
        if content.is_empty() {
            continue;
        }
        let role = match role {
            Role::User => "user",
            Role::Assistant => "assistant",
            Role::System => "system",
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
        Part::Text(text) if message.role == Role::Assistant => {
            let mut fences = Fences::default();
            let pieces = fences.push(text).into_iter().chain(fences.finish());
            pieces.filter(|piece| matches!(piece, Piece::Block { .. })).count() as u64
        }
        Part::Code { .. } | Part::Diff { .. } | Part::Tool(_) => 1,
        Part::Text(_) | Part::Thought { .. } | Part::Image { .. } | Part::Opaque { .. } => 0,
    };
    message.parts.iter().map(in_part).sum()
}
