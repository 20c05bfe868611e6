//! What the backend answers, understood by what was asked.

use super::super::wire::{
    ApproveResult, CancelResult, DeleteResult, ExportResult, InitializeResult, ListParams, ListResult,
    LoadParams, LoadResult, QueryParams, QueryResult, SaveResult, SessionItem, SessionMessage, code,
};
use super::{MAX_KNOWN, OpenagentUi, fact, read, same_number};
use domain::command::{ExportFormat, Receipt, Refusal, RefusalKind};
use domain::content::{Role, TextKind, Usage};
use domain::event::{Finish, Outcome};
use domain::fact::{Key, Said};
use domain::ids::{Millis, RunId, SessionId};
use domain::port::Ticket;
use domain::session::{RunSummary, SessionSummary};
use rolekit::rpc::Call as _;
use roles::{Drift, Seen, UiCx};
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use wire::jsonrpc::{INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND, RpcError};
use wire::{WireId, time};

/// A request of ours that the backend has not answered.
#[derive(Debug)]
pub(super) enum SentRequest {
    Handshake,
    /// The query in [`OpenagentUi::asking`].
    Query,
    /// Stop a query; nobody waits when it was stopped before it had a name.
    Cancel {
        ticket: Option<(Ticket, RunId)>,
        query_id: String,
    },
    /// Settled when it was sent.
    Approve {
        execution_id: String,
        allowed: bool,
    },
    Load {
        ticket: Option<Ticket>,
    },
    Save {
        ticket: Ticket,
    },
    List {
        ticket: Ticket,
        search: Option<String>,
    },
    /// What the session is called in which this was said first.
    Name {
        first: String,
    },
    Export {
        ticket: Ticket,
        format: ExportFormat,
    },
    Delete {
        ticket: Ticket,
    },
}

impl SentRequest {
    /// The command that waits; a query has its own place.
    pub(super) fn ticket(&self) -> Option<Ticket> {
        match self {
            SentRequest::Handshake
            | SentRequest::Query
            | SentRequest::Name { .. }
            | SentRequest::Approve { .. } => None,
            SentRequest::Cancel { ticket, .. } => ticket.map(|(ticket, _)| ticket),
            SentRequest::Load { ticket } => *ticket,
            SentRequest::Save { ticket }
            | SentRequest::List { ticket, .. }
            | SentRequest::Export { ticket, .. }
            | SentRequest::Delete { ticket } => Some(*ticket),
        }
    }
}

impl OpenagentUi {
    /// Settles the command that an answer belongs to.
    pub(super) fn response(
        &mut self,
        cx: &mut UiCx<'_>,
        seen: Seen<'_>,
        id: &WireId,
        outcome: Result<&RawValue, RpcError>,
        line: &str,
    ) {
        let pending = self.pending.take(id).or_else(|| self.pending.take(&same_number(id)?));
        let Some(pending) = pending else {
            return cx.drift(Drift::new("response", "an answer to nothing that we asked", line));
        };
        let outcome = outcome.map(RawValue::get);
        match pending {
            SentRequest::Handshake => match outcome.map(read::<InitializeResult>) {
                Ok(Ok(server)) => self.greeted(cx, seen, server),
                Ok(Err(why)) => self.unusable(cx, format!("the answer to initialize cannot be read: {why}")),
                Err(error) => self.unusable(cx, refused_hello(&error)),
            },
            SentRequest::Query => self.query_answered(cx, lift(outcome)),
            SentRequest::Cancel { ticket, query_id } => {
                // A backend that cannot stop it is not listened to any more.
                let stopping = lift::<CancelResult>(outcome).is_ok_and(|result| result.cancelled);
                if !stopping {
                    self.stop_here(cx, &query_id);
                }
                if let Some((ticket, run)) = ticket {
                    cx.settle(ticket, Ok(Receipt::Cancelling { run: RunSummary { run, outcome: None } }));
                }
            }
            SentRequest::Approve { execution_id, allowed } => {
                let said = lift::<ApproveResult>(outcome).map_err(|refusal| refusal.to_string());
                if let Some(query) = &mut self.query {
                    query.approved(cx, &execution_id, allowed, said);
                }
                self.end_if_over(cx);
            }
            SentRequest::Load { ticket } => {
                self.loading = false;
                let loaded = lift(outcome).map_err(|mut refusal: Refusal| {
                    if refusal.kind == RefusalKind::Invalid && refusal.message.contains("no session") {
                        refusal.kind = RefusalKind::SessionUnknown;
                    }
                    refusal
                });
                self.loaded(cx, ticket, loaded);
            }
            SentRequest::Save { ticket } => {
                let saved = lift::<SaveResult>(outcome);
                cx.settle(ticket, saved.map(|saved| Receipt::Saved { path: saved.path, size: saved.size }));
            }
            SentRequest::List { ticket, search } => {
                let receipt = lift::<ListResult>(outcome)
                    .and_then(|list| check(list.error.clone()).map(|()| list))
                    .map(|list| Receipt::Sessions(self.sessions(cx, list, search.as_deref())));
                cx.settle(ticket, receipt);
            }
            SentRequest::Name { first } => {
                // One that has no list has no names either.
                if let Ok(list) = lift::<ListResult>(outcome) {
                    self.named(list, &first);
                }
                self.end_first(cx);
            }
            SentRequest::Export { ticket, format } => {
                let exported = lift::<ExportResult>(outcome).and_then(|e| check(e.error.clone()).map(|()| e));
                cx.settle(ticket, exported.map(|e| Receipt::Exported { format, text: e.content }));
            }
            SentRequest::Delete { ticket } => {
                let deleted = lift::<DeleteResult>(outcome).and_then(|deleted| check(deleted.error));
                cx.settle(ticket, deleted.map(|()| Receipt::Done));
            }
        }
    }

    fn query_answered(&mut self, cx: &mut UiCx<'_>, result: Result<QueryResult, Refusal>) {
        let Some(asking) = self.asking.take() else { return };
        let query_id = result.and_then(|result| match (result.query_id, result.error) {
            (Some(query_id), None) if !query_id.is_empty() => Ok(query_id),
            (_, error) if result.status == "rate_limited" => {
                let words = error.unwrap_or_else(|| "too many queries".to_owned());
                Err(Refusal::new(RefusalKind::TooMany, words).hint("wait a minute and ask again"))
            }
            (_, error) => {
                let words = error.unwrap_or_else(|| "the backend gave the query no name".to_owned());
                Err(Refusal::new(RefusalKind::Remote { code: result.status }, words))
            }
        });
        let query_id = match query_id {
            Ok(query_id) => query_id,
            Err(refusal) => {
                if let Some(ticket) = asking.ticket {
                    cx.settle(ticket, Err(refusal));
                }
                return;
            }
        };
        match asking.ticket {
            Some(ticket) => self.begin(cx, &query_id, Some(asking.input), Some(ticket)),
            None if self.query.as_ref().is_none_or(|query| **query.key() != *query_id)
                && !self.over.contains(&query_id) =>
            {
                cx.drift(Drift::new(
                    QueryParams::METHOD,
                    "the stream had another name than the answer",
                    &query_id,
                ));
            }
            None => {}
        }
        if asking.stop {
            let params = super::super::wire::CancelParams { query_id: query_id.clone() };
            let pending = SentRequest::Cancel { ticket: None, query_id: query_id.clone() };
            if self.ask_backend(cx, &params, pending).is_err() {
                self.stop_here(cx, &query_id);
            }
        }
    }

    fn loaded(&mut self, cx: &mut UiCx<'_>, ticket: Option<Ticket>, result: Result<LoadResult, Refusal>) {
        let loaded = result.and_then(|result| {
            check(result.error.clone())?;
            let id = result.session_id.clone().unwrap_or_else(|| result.session.id.clone());
            let Some(session) = self.session_named(&id) else {
                let words = format!("the backend named a session {id:?}, which cannot be one");
                return Err(Refusal::new(RefusalKind::Remote { code: "session".to_owned() }, words));
            };
            Ok((session, result))
        });
        let (session, result) = match (loaded, ticket) {
            (Ok(loaded), _) => loaded,
            (Err(refusal), Some(ticket)) => return cx.settle(ticket, Err(refusal)),
            (Err(refusal), None) => return cx.drift(Drift::new(LoadParams::METHOD, refusal.to_string(), "")),
        };
        self.session = Some(session.clone());
        let messages = result.messages.unwrap_or_default();
        let summary = self.known.get(&session).cloned().unwrap_or_else(|| {
            let first = messages.iter().find(|message| message.role == "user");
            let title = first
                .map_or_else(|| session.to_string(), |message| message.content.chars().take(60).collect());
            let created_at = Millis(result.session.created.saturating_mul(1000));
            let count = result.message_count.unwrap_or(result.session.messages_count);
            summary(session.clone(), title, created_at, created_at, count, 0)
        });
        if let Some(ticket) = ticket {
            cx.settle(ticket, Ok(Receipt::Session { session: summary, parent: None }));
        }
        self.tell_model(cx);
        if self.told.len() < MAX_KNOWN && self.told.insert(session.clone()) {
            tell_messages(cx, &session, messages);
        }
    }

    /// The newest session of the backend is the one where we are, where its title says what was said first here: another client may have
    /// been quicker, or the backend have gone on with a conversation of before.
    fn named(&mut self, list: ListResult, first: &str) {
        let Some(newest) = list.sessions.into_iter().next().filter(|_| self.session.is_none()) else {
            return;
        };
        let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let title = words(newest.title.trim_end_matches('…').trim_end_matches("..."));
        if !title.is_empty() && words(first).starts_with(&title) {
            self.session = self.session_named(&newest.session_id);
        }
    }

    fn sessions(&mut self, cx: &mut UiCx<'_>, list: ListResult, search: Option<&str>) -> Vec<SessionSummary> {
        let mut summaries = Vec::with_capacity(list.sessions.len());
        for item in list.sessions {
            let session = self.session_named(&item.session_id);
            let Some(summary) = session.map(|session| lift_session(session, &item)) else {
                cx.drift(Drift::new(
                    ListParams::METHOD,
                    "a session whose name cannot be one",
                    &item.session_id,
                ));
                continue;
            };
            if self.known.len() < MAX_KNOWN {
                self.known.insert(summary.id.clone(), summary.clone());
            }
            let wanted =
                search.is_none_or(|words| summary.title.to_lowercase().contains(&words.to_lowercase()));
            summaries.extend(wanted.then_some(summary));
        }
        summaries
    }
}

/// Tells what a session holds, one run for each thing that the person said.
fn tell_messages(cx: &mut UiCx<'_>, session: &SessionId, messages: Vec<SessionMessage>) {
    let mut key: Option<Key> = None;
    for (number, message) in messages.into_iter().enumerate() {
        let role = match message.role.as_str() {
            "user" => Role::User,
            "assistant" => Role::Assistant,
            // The existing backend also has `tool`.
            _ => Role::System,
        };
        if role == Role::User || key.is_none() {
            if let Some(before) = key.take() {
                cx.fact(fact(&before, Said::RunEnded(Outcome::Done)));
            }
            let fresh = Key::from(format!("{session}#{number}"));
            cx.fact(fact(&fresh, Said::RunStarted));
            key = Some(fresh);
        }
        let Some(key) = &key else { continue };
        cx.fact(fact(key, Said::MessageStarted { message: None, role }));
        cx.fact(fact(key, Said::Text { message: None, kind: TextKind::Text, text: message.content }));
        cx.fact(fact(key, Said::MessageEnded { message: None, finish: Finish::Complete }));
    }
    if let Some(key) = key {
        cx.fact(fact(&key, Said::RunEnded(Outcome::Done)));
    }
}

fn lift_session(id: SessionId, item: &SessionItem) -> SessionSummary {
    let at = |text: &str| Millis(time::read(text).unwrap_or(0));
    let (created, updated) = (at(&item.created_at), at(&item.updated_at));
    summary(
        id,
        item.title.clone(),
        created,
        updated,
        item.message_count.unwrap_or_default(),
        item.total_tokens.unwrap_or_default(),
    )
}

fn summary(
    id: SessionId,
    title: String,
    created_at: Millis,
    updated_at: Millis,
    messages: u64,
    tokens: u64,
) -> SessionSummary {
    let usage = Usage { output: tokens, ..Usage::default() };
    SessionSummary { title, created_at, updated_at, messages, usage, ..SessionSummary::new(id) }
}

/// The existing backend says what is wrong inside the result.
fn check(error: Option<String>) -> Result<(), Refusal> {
    match error {
        None => Ok(()),
        Some(words) if words.contains("not found") => Err(Refusal::new(RefusalKind::SessionUnknown, words)),
        Some(words) => Err(Refusal::new(RefusalKind::Remote { code: "error".to_owned() }, words)),
    }
}

fn lift<T: DeserializeOwned>(outcome: Result<&str, RpcError>) -> Result<T, Refusal> {
    match outcome {
        Ok(raw) => read(raw).map_err(|why| {
            let words = format!("the backend's answer cannot be read: {why}");
            Refusal::new(RefusalKind::Remote { code: "unreadable".to_owned() }, words)
        }),
        Err(error) => {
            let kind = match error.code {
                METHOD_NOT_FOUND => RefusalKind::Unsupported,
                INVALID_PARAMS => RefusalKind::Invalid,
                code::TIMEOUT => RefusalKind::TimedOut,
                code::DENIED => RefusalKind::NotAllowed,
                number => RefusalKind::Remote { code: number.to_string() },
            };
            Err(Refusal::new(kind, error.message))
        }
    }
}

fn refused_hello(error: &RpcError) -> String {
    let hint = if error.code == INVALID_REQUEST { "; use a backend that speaks protocol 1.x" } else { "" };
    format!("the backend refused initialize: {}{hint}", error.message)
}
