//! The requests of a wire as a table. A row is one request: what it asks the hub for, and what is answered when the hub has settled that.
//!
//! What waits for the hub is a value, no closure: who asked, by which row, and a memo of what the answer needs of the question. So it can be
//! printed, compared, searched and bounded. Nothing here knows an envelope: how a line becomes a request and a reply a line is the role's
//! ([`crate::endpoint`] for JSON-RPC).

use domain::command::{Command, Receipt, Refusal, Target};
use domain::port::Ticket;
use roles::{RuntimeCx, Tickets, View};
use std::fmt::Debug;

/// One request of a wire.
pub struct Exchange<R: TableRole> {
    /// Its name on the wire.
    pub method: &'static str,
    pub ask: Ask<R>,
    pub answer: Answer<R>,
}

/// From a request's parameters to what is done.
pub type Ask<R> = fn(&mut R, &mut RuntimeCx<'_>, Request<'_, R>) -> Asking<R>;
/// From what the hub settled to what is answered.
pub type Answer<R> = fn(&mut R, &mut RuntimeCx<'_>, Settlement<'_, R>) -> Answering<R>;

/// What comes of a request, or why it is refused.
pub type Asking<R> = Result<Next<R>, <R as TableRole>::Error>;
/// What comes of a settlement.
pub type Answering<R> = Result<Next<R>, Fault<<R as TableRole>::Error>>;

/// A runtime role whose requests are a table.
pub trait TableRole: Sized + 'static {
    /// Who asked, as a reply has to name it.
    type From: Clone + Debug;
    /// Parameters as they came.
    type Params<'a>: Copy;
    /// What an answer needs of its question, beside who asked what.
    type Memo: Debug;
    type Reply;
    type Error;

    /// The requests that there are, in tables.
    fn tables(&self) -> &'static [&'static [Exchange<Self>]];
    /// What waits for the hub.
    fn pending(&mut self) -> &mut Tickets<Pending<Self::From, Self::Memo>>;
    /// Answers a request, in the wire's envelope.
    fn reply(&mut self, cx: &mut RuntimeCx<'_>, to: &Self::From, with: Result<Self::Reply, Self::Error>);
    /// The error for a request that is not in the tables.
    fn unknown(method: &str) -> Self::Error;
    /// The error for a receipt that answers another question; a defect of ours.
    fn odd() -> Self::Error;
    /// Our refusals in the wire's codes and words.
    fn refused(method: &'static str, refusal: &Refusal) -> Self::Error;
    /// What the hub made of a command that no request waits for.
    fn unasked(
        &mut self,
        cx: &mut RuntimeCx<'_>,
        view: Option<View<'_>>,
        memo: Self::Memo,
        with: Result<Receipt, Refusal>,
    );

    /// Hands a command to the hub on the role's own account.
    fn tell_hub(&mut self, cx: &mut RuntimeCx<'_>, target: Target, command: Command, memo: Self::Memo) {
        self.pending().command(cx, target, command, Pending { from: None, memo });
    }
}

/// A command that waits for the hub.
#[derive(Debug, Clone, PartialEq)]
pub struct Pending<F, M> {
    /// Who waits for the answer, and to which request; nobody where the role asked by itself.
    pub from: Option<(F, &'static str)>,
    pub memo: M,
}

/// A request as it came.
pub struct Request<'a, R: TableRole> {
    pub from: &'a R::From,
    pub method: &'static str,
    pub params: R::Params<'a>,
}

impl<R: TableRole> Request<'_, R> {
    /// What waits for its answer, for a role that hands the command over itself.
    pub fn pending(&self, memo: R::Memo) -> Pending<R::From, R::Memo> {
        Pending { from: Some((self.from.clone(), self.method)), memo }
    }
}

/// What the hub made of a request's command.
pub struct Settlement<'a, R: TableRole> {
    /// Where this link works.
    pub view: Option<View<'a>>,
    pub ticket: Ticket,
    pub from: &'a R::From,
    pub method: &'static str,
    pub memo: R::Memo,
    pub with: Result<Receipt, Refusal>,
}

/// What is done next for whoever asked.
pub enum Next<R: TableRole> {
    /// The hub is asked; the row's answer hears what came of it.
    Hub(Target, Command, R::Memo),
    Reply(R::Reply),
    /// Nothing: the reply was sent, or comes with something else.
    Nothing,
}

/// Why an answer is none.
#[derive(Debug)]
pub enum Fault<E> {
    /// The hub refused: the wire's own table has the code.
    Refused(Refusal),
    /// The receipt answers another question.
    Odd,
    /// This request says it in its own way.
    Error(E),
}

impl<E> From<Refusal> for Fault<E> {
    fn from(refusal: Refusal) -> Fault<E> {
        Fault::Refused(refusal)
    }
}

/// The answer of a row that asks the hub for nothing.
pub fn no_answer<R: TableRole>(_: &mut R, _: &mut RuntimeCx<'_>, _: Settlement<'_, R>) -> Answering<R> {
    Err(Fault::Odd)
}

/// Takes a request: it becomes a command, or is answered at once.
pub fn ask<'a, R: TableRole>(
    role: &mut R,
    cx: &mut RuntimeCx<'_>,
    from: &'a R::From,
    method: &str,
    params: R::Params<'a>,
) {
    let Some(&Exchange { method, ask, .. }) = row(role, method) else {
        return role.reply(cx, from, Err(R::unknown(method)));
    };
    let next = ask(role, cx, Request { from, method, params });
    perform(role, cx, from, method, next);
}

/// Answers the request that a settlement belongs to.
pub fn settle<R: TableRole>(
    role: &mut R,
    cx: &mut RuntimeCx<'_>,
    view: Option<View<'_>>,
    ticket: Ticket,
    with: Result<Receipt, Refusal>,
) {
    let Some(Pending { from, memo }) = role.pending().settled(cx, ticket) else { return };
    let Some((from, method)) = from else { return role.unasked(cx, view, memo, with) };
    let Some(row) = row(role, method) else { return };
    let next = (row.answer)(role, cx, Settlement { view, ticket, from: &from, method, memo, with });
    let next = next.map_err(|fault| match fault {
        Fault::Refused(refusal) => R::refused(method, &refusal),
        Fault::Odd => R::odd(),
        Fault::Error(error) => error,
    });
    perform(role, cx, &from, method, next);
}

fn row<R: TableRole>(role: &R, method: &str) -> Option<&'static Exchange<R>> {
    role.tables().iter().copied().flatten().find(|row| row.method == method)
}

fn perform<R: TableRole>(
    role: &mut R,
    cx: &mut RuntimeCx<'_>,
    from: &R::From,
    method: &'static str,
    next: Asking<R>,
) {
    match next {
        Ok(Next::Hub(target, command, memo)) => {
            let from = Some((from.clone(), method));
            role.pending().command(cx, target, command, Pending { from, memo });
        }
        Ok(Next::Reply(reply)) => role.reply(cx, from, Ok(reply)),
        Ok(Next::Nothing) => {}
        Err(error) => role.reply(cx, from, Err(error)),
    }
}
