//! The runtime's end of a JSON-RPC wire: what comes in is told apart, limits hold, requests go to the table, and a greeting waits until the
//! runtime behind has told what it can do. The methods and the words are the wire's.
//!
//! Invariants: the link lives on whatever comes in; what has an id gets an answer with that id, once.

#[cfg(test)]
mod tests;

use crate::exchange::{self, Answer, Ask, Asking, Exchange, Next, Pending, Request, TableRole};
use crate::rpc::Call;
use domain::command::{Receipt, Refusal};
use domain::port::Abilities;
use roles::{GREET_WITHIN, Greeting, Line, RuntimeCx, Tickets, TimerKey, View};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::value::{RawValue, to_raw_value};
use std::convert::identity;
use std::fmt::Debug;
use wire::jsonrpc::{self, INTERNAL_ERROR, INVALID_REQUEST, Message, PARSE_ERROR, RpcError, Version};
use wire::{Rate, WireId};

/// Most requests that may wait for the hub.
pub const MAX_PENDING: usize = 1024;
/// Most bytes of requests that wait for the answer to a handshake.
pub const MAX_EARLY_BYTES: usize = 32 * 1024 * 1024;
/// A handshake waits no longer for what the runtime behind us can do. No ticket has this number.
pub const GREET: TimerKey = TimerKey(u64::MAX);

/// What a JSON-RPC wire does its own way with lines that are none of its requests.
pub struct Manners {
    /// An error that belongs to no request is said with the id null; else it is logged. One of a request whose id is none always is.
    pub null_id: bool,
    /// `"jsonrpc":"2.0"` must be there, and whatever is answered counts as a request.
    pub strict: bool,
    /// What is wrong with a line that is no text.
    pub garbled: &'static str,
    /// The message of an error, from its code and what is wrong this time.
    pub words: fn(i64, &str) -> String,
    pub unknown: fn(&str) -> RpcError,
    /// For a peer that asks too much at once.
    pub too_many: fn() -> RpcError,
    /// For a receipt that answers another question.
    pub odd: fn() -> RpcError,
}

impl Manners {
    fn error(&self, code: i64, why: &str) -> RpcError {
        RpcError::new(code, (self.words)(code, why))
    }
}

/// A result as it stands on the wire, or that it cannot be written.
pub type Written = Result<Box<RawValue>, RpcError>;

/// A runtime role of a JSON-RPC wire.
pub trait RpcRole: Sized + 'static {
    type Memo: Debug;
    const MANNERS: Manners;

    /// What the endpoint keeps for this role.
    fn endpoint(&self) -> &Endpoint<Self::Memo>;
    /// The same, to change it.
    fn endpoint_mut(&mut self) -> &mut Endpoint<Self::Memo>;
    /// All requests of the wire; a method is looked for from the first row on.
    fn tables(&self) -> &'static [&'static [Exchange<Self>]];
    /// As [`TableRole::refused`].
    fn refused(method: &'static str, refusal: &Refusal) -> RpcError;
    /// As [`TableRole::unasked`].
    fn unasked(
        &mut self,
        cx: &mut RuntimeCx<'_>,
        view: Option<View<'_>>,
        memo: Self::Memo,
        with: Result<Receipt, Refusal>,
    );
    /// The answer to a handshake, with what is known by now.
    fn initialized(&self, memo: &Self::Memo) -> Written;
    /// A handshake was answered.
    fn greeted(&mut self, _cx: &mut RuntimeCx<'_>) {}
    /// The peer says something that wants no answer.
    fn notification(&mut self, cx: &mut RuntimeCx<'_>, method: &str, params: Option<&RawValue>);
    /// The peer answers what it was asked.
    fn response(&mut self, cx: &mut RuntimeCx<'_>, id: &WireId, outcome: Result<&RawValue, RpcError>);
    /// Takes the head of a line that was too long to be read whole; `false` where it answers nothing.
    fn overlong(&mut self, _cx: &mut RuntimeCx<'_>, _head: &str) -> bool {
        false
    }
}

impl<R: RpcRole> TableRole for R {
    type From = WireId;
    type Params<'a> = Option<&'a RawValue>;
    type Memo = R::Memo;
    type Reply = Written;
    type Error = RpcError;

    fn tables(&self) -> &'static [&'static [Exchange<Self>]] {
        RpcRole::tables(self)
    }

    fn pending(&mut self) -> &mut Tickets<Pending<WireId, R::Memo>> {
        &mut self.endpoint_mut().pending
    }

    fn reply(&mut self, cx: &mut RuntimeCx<'_>, to: &WireId, with: Result<Written, RpcError>) {
        cx.send(match with.and_then(identity) {
            Ok(result) => jsonrpc::result(to, &result),
            Err(error) => jsonrpc::error(Some(to), &error),
        });
    }

    fn unknown(method: &str) -> RpcError {
        (R::MANNERS.unknown)(method)
    }

    fn odd() -> RpcError {
        (R::MANNERS.odd)()
    }

    fn refused(method: &'static str, refusal: &Refusal) -> RpcError {
        <R as RpcRole>::refused(method, refusal)
    }

    fn unasked(
        &mut self,
        cx: &mut RuntimeCx<'_>,
        view: Option<View<'_>>,
        memo: R::Memo,
        with: Result<Receipt, Refusal>,
    ) {
        RpcRole::unasked(self, cx, view, memo, with);
    }
}

impl<R: RpcRole> Exchange<R> {
    /// The row of a request, named by the type of its parameters.
    pub const fn of<P: Call>(ask: Ask<R>, answer: Answer<R>) -> Exchange<R> {
        Exchange { method: P::METHOD, ask, answer }
    }
}

/// What every such role keeps.
#[derive(Debug)]
pub struct Endpoint<M> {
    pub greeting: Greeting,
    pub pending: Tickets<Pending<WireId, M>>,
    rate: Rate,
    /// What the runtime behind us can do, where we were told.
    behind: Option<Abilities>,
    /// Handshakes that wait for that.
    ungreeted: Vec<(WireId, M)>,
    /// What a peer says that does not wait for that answer: what can be done is not known yet.
    early: Vec<String>,
    early_bytes: usize,
    /// Why the runtime behind us is gone, when it went before it told.
    gone: Option<String>,
}

impl<M> Default for Endpoint<M> {
    fn default() -> Endpoint<M> {
        Endpoint {
            greeting: Greeting::default(),
            pending: Tickets::default(),
            rate: Rate::default(),
            behind: None,
            ungreeted: Vec::new(),
            early: Vec::new(),
            early_bytes: 0,
            gone: None,
        }
    }
}

impl<M> Endpoint<M> {
    /// What the runtime can do, as far as it is known.
    pub fn can(&self) -> Abilities {
        match &self.behind {
            Some(behind) => behind.clone(),
            None if self.greeting.follows => Abilities { cancel: true, ..Abilities::default() },
            None => Abilities::all("parlor"),
        }
    }

    /// Whether no more may wait.
    pub fn is_full(&self) -> bool {
        self.pending.len() >= MAX_PENDING
    }

    /// Whether a handshake waits for its answer.
    pub fn owes(&self) -> bool {
        !self.ungreeted.is_empty()
    }

    /// Keeps a line until the handshake is answered; `false` when too much waits for that.
    fn keep_early(&mut self, text: &str) -> bool {
        let fits = self.early.len() < MAX_PENDING && self.early_bytes + text.len() <= MAX_EARLY_BYTES;
        if fits {
            self.early_bytes += text.len();
            self.early.push(text.to_owned());
        }
        fits
    }

    fn take_early(&mut self) -> Vec<String> {
        self.early_bytes = 0;
        std::mem::take(&mut self.early)
    }

    /// The memos of all that waits, oldest first.
    pub fn memos(&self) -> impl Iterator<Item = &M> {
        self.pending.values().map(|pending| &pending.memo)
    }
}

/// Reads parameters that have to be an object; absent and null are the empty one.
pub fn object<T: DeserializeOwned>(params: Option<&RawValue>) -> Result<T, String> {
    let raw = params.map(RawValue::get).filter(|raw| *raw != "null").unwrap_or("{}");
    if !raw.trim_start().starts_with('{') {
        return Err("params must be an object".to_owned());
    }
    serde_json::from_str(raw).map_err(|error| in_words(&error.to_string()))
}

/// What is wrong with parameters, without names of our types.
fn in_words(error: &str) -> String {
    let Some((before, behind)) = error.split_once("internally tagged enum ") else { return error.to_owned() };
    let behind = behind.split_once(' ').map_or("", |(_, behind)| behind);
    format!("{before}an object that says what it is {behind}").trim_end().to_owned()
}

/// The reply to a request.
pub fn reply<R: RpcRole>(result: &impl Serialize) -> Next<R> {
    Next::Reply(written(result))
}

/// Writes a result down.
pub fn written(result: &impl Serialize) -> Written {
    to_raw_value(result)
        .map_err(|why| RpcError::new(INTERNAL_ERROR, format!("the result cannot be written: {why}")))
}

/// Takes a line of the peer.
pub fn line<R: RpcRole>(role: &mut R, cx: &mut RuntimeCx<'_>, line: Line) {
    match line {
        Line::Text(text) if text.trim().is_empty() => {}
        Line::Text(text) => message(role, cx, &text, false),
        Line::Overlong(head) if role.overlong(cx, &head) => {}
        Line::Overlong(head) => {
            let why = format!("the line is longer than {} bytes; send less at once", wire::lines::MAX_LINE);
            unread::<R>(cx, jsonrpc::request_id_in_head(&head).as_ref(), INVALID_REQUEST, &why);
        }
        Line::Garbled(_) => unread::<R>(cx, None, PARSE_ERROR, R::MANNERS.garbled),
    }
}

/// A line that could not be read.
fn unread<R: RpcRole>(cx: &mut RuntimeCx<'_>, id: Option<&WireId>, code: i64, why: &str) {
    if id.is_some() || R::MANNERS.null_id {
        cx.send(jsonrpc::error(id, &R::MANNERS.error(code, why)));
    } else {
        cx.log(format!("ignored: {why}"));
    }
}

/// Takes a message; one that has waited was counted when it came.
fn message<R: RpcRole>(role: &mut R, cx: &mut RuntimeCx<'_>, text: &str, has_waited: bool) {
    let line = jsonrpc::inspect(text);
    let unmarked = R::MANNERS.strict && line.version != Version::Two;
    let counts = match &line.message {
        Message::Request { .. } => true,
        Message::Notification { .. } => R::MANNERS.strict && !unmarked,
        Message::Invalid { why, .. } => R::MANNERS.strict && why.answerable(),
        Message::Response { .. } => false,
    };
    let too_many = counts && !has_waited && !role.endpoint_mut().rate.allow(cx.now.0);
    match line.message {
        Message::Request { id, .. } if too_many || role.endpoint().is_full() && !unmarked => {
            cx.send(jsonrpc::error(Some(&id), &(R::MANNERS.too_many)()));
        }
        Message::Request { id, .. } if unmarked => {
            let error = R::MANNERS.error(INVALID_REQUEST, "\"jsonrpc\":\"2.0\" is missing");
            cx.send(jsonrpc::error(Some(&id), &error));
        }
        Message::Request { id, .. } if role.endpoint().owes() => {
            if !role.endpoint_mut().keep_early(text) {
                cx.send(jsonrpc::error(Some(&id), &(R::MANNERS.too_many)()));
            }
        }
        Message::Request { id, method, params } => exchange::ask(role, cx, &id, &method, params),
        Message::Notification { method, .. } if unmarked => {
            cx.log(format!("ignored: notification {method:?} without \"jsonrpc\":\"2.0\""));
        }
        Message::Notification { method, .. } if too_many => {
            cx.log(format!("ignored: notification {method:?}: too many at once"));
        }
        Message::Notification { method, .. } if role.endpoint().owes() => {
            if !role.endpoint_mut().keep_early(text) {
                cx.log(format!("ignored: notification {method:?}: too many at once"));
            }
        }
        Message::Notification { method, params } => role.notification(cx, &method, params),
        Message::Response { id, outcome } => role.response(cx, &id, outcome),
        Message::Invalid { id, why }
            if !too_many
                && why.answerable()
                && (id.is_some() || R::MANNERS.null_id || why.is_waited_for()) =>
        {
            cx.send(jsonrpc::error(id.as_ref(), &R::MANNERS.error(why.code(), &why.to_string())));
        }
        // In words of ours alone: a line may hold a secret.
        Message::Invalid { why, .. } => cx.log(format!("ignored: {}", why.kind())),
    }
}

/// Answers a handshake. In front of another program that waits until it has told what it can do.
pub fn initialize<R: RpcRole>(
    role: &mut R,
    cx: &mut RuntimeCx<'_>,
    request: Request<'_, R>,
    memo: R::Memo,
) -> Asking<R> {
    let endpoint = role.endpoint_mut();
    if !endpoint.greeting.follows || endpoint.behind.is_some() {
        let result = role.initialized(&memo);
        role.reply(cx, request.from, Ok(result));
        role.greeted(cx);
        return Ok(Next::Nothing);
    }
    if let Some(why) = &endpoint.gone {
        return Err(R::MANNERS.error(INTERNAL_ERROR, why));
    }
    if endpoint.ungreeted.len() >= MAX_PENDING {
        return Err((R::MANNERS.too_many)());
    }
    cx.timer(GREET, GREET_WITHIN);
    endpoint.ungreeted.push((request.from.clone(), memo));
    Ok(Next::Nothing)
}

/// Takes what the runtime behind can do.
pub fn abilities<R: RpcRole>(role: &mut R, cx: &mut RuntimeCx<'_>, abilities: &Abilities) {
    role.endpoint_mut().behind = Some(abilities.clone());
    greet(role, cx);
}

/// Answers the handshakes that waited, with what is known by now.
pub fn greet<R: RpcRole>(role: &mut R, cx: &mut RuntimeCx<'_>) {
    let waited = std::mem::take(&mut role.endpoint_mut().ungreeted);
    if waited.is_empty() {
        return;
    }
    cx.cancel_timer(GREET);
    for (id, memo) in waited {
        let result = role.initialized(&memo);
        role.reply(cx, &id, Ok(result));
    }
    role.greeted(cx);
    for text in role.endpoint_mut().take_early() {
        message(role, cx, &text, true);
    }
}

/// Refuses the handshakes that waited, and those that come: the runtime behind went before it told.
pub fn lost<R: RpcRole>(role: &mut R, cx: &mut RuntimeCx<'_>, why: String) {
    for (id, _) in std::mem::take(&mut role.endpoint_mut().ungreeted) {
        cx.cancel_timer(GREET);
        role.reply(cx, &id, Err(R::MANNERS.error(INTERNAL_ERROR, &why)));
    }
    for text in role.endpoint_mut().take_early() {
        if let Message::Request { id, .. } = jsonrpc::inspect(&text).message {
            role.reply(cx, &id, Err(R::MANNERS.error(INTERNAL_ERROR, &why)));
        }
    }
    role.endpoint_mut().gone = Some(why);
}
