//! Queries under way, and where each of them runs.
//!
//! The first query runs at home. While a run is under way there, a further query runs in a side session that branches off the entry on
//! which the run was asked, so that it sees the same conversation and not a half-written answer; it streams under its own `query_id`,
//! and the side session is left at its end. Invariants: at most [`MAX_QUERIES`] of the client's own; one query per run; each query
//! that was accepted ends with one `stream.complete`.

use super::super::suggest;
use super::super::wire::notify::Suggestion;
use super::super::wire::{CancelParams, CancelResult, Context, QueryOptions, QueryParams, QueryResult, code};
use super::requests::{OpenagentMemo, invalid, objects, read};
use super::telling::Telling;
use super::{MAX_QUERIES, MAX_UNSAID, OpenagentRuntime, approval, context, words};
use domain::ask::{Answer, Ask, AskKind, Assessment, Risk, Scope};
use domain::command::{
    Command, LibraryCommand, PromptOptions, Receipt, Refusal, RefusalKind, RunCommand, SessionCommand, Target,
};
use domain::content::Input;
use domain::event::{AskEvent, Body, Event, Failure, NoteEvent, RunEvent};
use domain::ids::{RunId, SessionId};
use domain::signal::Level;
use rolekit::endpoint::{RpcRole, reply};
use rolekit::exchange::{
    Answering, Asking, Exchange, Fault, Next, Pending, Request, Settlement, TableRole as _, no_answer,
};
use rolekit::rpc::{self, Call as _};
use rolekit::shown;
use roles::{Item, RuntimeCx, View};
use wire::WireId;
use wire::jsonrpc::{self, RpcError};

pub(super) const REQUESTS: &[Exchange<OpenagentRuntime>] = &[
    Exchange::of::<QueryParams>(OpenagentRuntime::query, no_answer),
    Exchange::of::<CancelParams>(OpenagentRuntime::cancel_query, OpenagentRuntime::query_cancelled),
];

/// A word outside of a query.
#[derive(Debug)]
pub(super) struct Unsaid {
    pub(super) session: SessionId,
    level: Level,
    code: String,
    text: String,
}

/// How far a query is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum QueryStage {
    /// It is not known yet where it can run.
    Waiting,
    /// Its side session is being made.
    Branching,
    /// The prompt is with the hub. Its run may be heard before the receipt; what it says is held until then.
    Prompting,
    /// Its run is under way, or about to be.
    Running,
}

/// A query under way.
#[derive(Debug)]
pub(super) struct Query {
    stage: QueryStage,
    /// The request that is not answered yet.
    request: Option<WireId>,
    /// Asked over this link; else the run of somebody else, told along.
    own: bool,
    pub(super) session: Option<SessionId>,
    pub(super) run: Option<RunId>,
    /// Runs in a side session.
    side: bool,
    /// Came too late to a session that was believed free.
    again: bool,
    /// Wants pieces of text.
    stream: bool,
    /// Lines that wait for the answer to the request.
    held: Vec<String>,
    cancelled: bool,
    /// The person wants to be asked before tools run.
    asks: bool,
    /// Nothing but requests for approval is told: the existing client takes every end for that of its own query.
    only_asks: bool,
    prompt: Option<(Input, PromptOptions)>,
    suggestion: Option<Suggestion>,
    pub(super) telling: Telling,
}

impl Query {
    /// Whether its run is under way in this session.
    pub(super) fn runs_in(&self, session: &SessionId) -> bool {
        let under_way =
            self.stage == QueryStage::Running || (self.stage == QueryStage::Prompting && self.run.is_some());
        under_way && self.session.as_ref() == Some(session)
    }

    /// Says lines, after the answer to the request.
    pub(super) fn say(&mut self, cx: &mut RuntimeCx<'_>, lines: Vec<String>) {
        if self.only_asks {
            return;
        }
        if self.request.is_some() {
            self.held.extend(lines);
        } else {
            lines.into_iter().for_each(|line| cx.send(line));
        }
    }

    /// Answers the request, if it is not answered yet, and says what waited for that.
    fn accept(&mut self, cx: &mut RuntimeCx<'_>) {
        if let Some(id) = self.request.take() {
            cx.send(accepted(&id, &self.telling.query_id));
            if let Some(suggestion) = self.suggestion.take() {
                cx.send(rpc::notification(&suggestion));
            }
            std::mem::take(&mut self.held).into_iter().for_each(|line| cx.send(line));
        }
    }
}

impl OpenagentRuntime {
    /// Takes `agent.query`: its prompt goes to the hub as soon as there is a session for it.
    fn query(&mut self, cx: &mut RuntimeCx<'_>, request: Request<'_, Self>) -> Asking<Self> {
        if let Err(error) = self.take_query(cx, &request) {
            self.refuse_query(cx, request.from, error);
        }
        Ok(Next::Nothing)
    }

    fn take_query(&mut self, cx: &mut RuntimeCx<'_>, request: &Request<'_, Self>) -> Result<(), RpcError> {
        objects(request.params, &["context", "options"])?;
        let QueryParams { message, context, options } = read(request.params)?;
        if message.trim().is_empty() {
            return Err(invalid("message is empty; say what you want to know"));
        }
        let own = self.queries.values().filter(|query| query.own).count();
        if own >= MAX_QUERIES {
            let why = format!("{MAX_QUERIES} queries are under way; wait for one to end or cancel it");
            let data = serde_json::json!({ "max_concurrent_queries": MAX_QUERIES });
            return Err(RpcError::new(code::AGENT, words(code::AGENT, &why)).with_data(&data));
        }
        let options = options.unwrap_or_default();
        let suggestion = context.as_ref().and_then(|context: &Context| context.recent_commands.as_deref());
        let suggestion = suggestion.and_then(suggest::suggest).filter(|_| !self.client.terminal);
        context::merge(&mut self.context, context.unwrap_or_default());
        let (number, mut query) = self.new_query(cx, options.stream.unwrap_or(true));
        query.request = Some(request.from.clone());
        query.own = true;
        query.asks = options.require_approval.unwrap_or(true);
        let ask_first = self.client.asks_first(&options);
        query.prompt = Some((Input::text(message), PromptOptions { ask_first, ..lift_options(&options) }));
        query.suggestion = suggestion;
        self.queries.insert(number, query);
        self.advance(cx);
        Ok(())
    }

    fn new_query(&mut self, cx: &RuntimeCx<'_>, stream: bool) -> (u64, Query) {
        self.last_query += 1;
        let (query_id, style) = (format!("q-{}", self.last_query), self.client.style());
        let telling = Telling::new(query_id, style, self.endpoint.greeting.follows, stream, cx.now);
        let query = Query {
            stage: QueryStage::Waiting,
            request: None,
            own: false,
            session: None,
            run: None,
            side: false,
            again: false,
            stream,
            held: Vec::new(),
            cancelled: false,
            asks: true,
            only_asks: false,
            prompt: None,
            suggestion: None,
            telling,
        };
        (self.last_query, query)
    }

    /// The existing client shows nothing of an error: it is told as an answer.
    fn refuse_query(&mut self, cx: &mut RuntimeCx<'_>, id: &WireId, error: RpcError) {
        if !self.client.terminal {
            return cx.send(jsonrpc::error(Some(id), &error));
        }
        let (_, mut query) = self.new_query(cx, true);
        cx.send(accepted(id, &query.telling.query_id));
        let failure = Failure::new("refused", error.message);
        query.telling.failed(&mut self.counters, cx.now, failure).into_iter().for_each(|line| cx.send(line));
    }

    /// Sends the queries that wait to where they can run now.
    pub(super) fn advance(&mut self, cx: &mut RuntimeCx<'_>) {
        while let Some(number) =
            self.queries.iter().find(|(_, q)| q.stage == QueryStage::Waiting).map(|(n, _)| *n)
        {
            let at_home = |query: &Query| query.own && !query.side && query.stage != QueryStage::Waiting;
            let taken = self.queries.values().any(at_home);
            let run = self.home.as_ref().and_then(|home| self.runs.get(home)).copied();
            match (taken, run) {
                (false, None) => self.prompt(cx, number, None),
                (_, Some(Some(asked_on))) => self.branch(cx, number, asked_on),
                // The first query is on its way: where it was asked is known as soon as it runs.
                _ => return,
            }
        }
    }

    fn branch(&mut self, cx: &mut RuntimeCx<'_>, number: u64, at: Option<domain::ids::EntryId>) {
        let Some(query) = self.queries.get_mut(&number) else { return };
        query.stage = QueryStage::Branching;
        query.side = true;
        self.branching += 1;
        let command = match at {
            Some(at) => Command::Library(LibraryCommand::Branch { session: self.home.clone(), at: Some(at) }),
            // Nothing was said before: the side session begins empty.
            None => Command::Library(LibraryCommand::New { cwd: None, title: None, id: None }),
        };
        self.tell_hub(cx, self.at_home(), command, OpenagentMemo::Branch(number));
    }

    /// A session of its own was made for a query that runs beside another.
    pub(super) fn branched(&mut self, cx: &mut RuntimeCx<'_>, number: u64, with: Result<Receipt, Refusal>) {
        self.branching = self.branching.saturating_sub(1);
        match with {
            Ok(Receipt::Session { session, .. }) => self.prompt(cx, number, Some(session.id)),
            Ok(_) => {
                self.refused(cx, number, &Refusal::new(RefusalKind::Internal, "no side session was made"));
            }
            Err(refusal) => {
                let why = format!(
                    "a run is under way and no second one could be started beside it: {}",
                    refusal.message
                );
                let refusal = Refusal::new(RefusalKind::Busy, why).hint("wait for the first answer");
                self.refused(cx, number, &refusal);
            }
        }
    }

    /// Hands the prompt to the hub: at home, or in a side session.
    fn prompt(&mut self, cx: &mut RuntimeCx<'_>, number: u64, side: Option<SessionId>) {
        let target = side.clone().map_or_else(|| self.at_home(), Target::Session);
        let Some(query) = self.queries.get_mut(&number) else { return };
        query.stage = QueryStage::Prompting;
        query.session.clone_from(&side);
        if context::tells(&self.context) {
            // The prompt follows when the context is there: the session may have to be made first.
            let command = Command::UpdateContext(context::lift(&self.context));
            return self.tell_hub(cx, target, command, OpenagentMemo::Prepared(number));
        }
        self.send_prompt(cx, number);
    }

    /// Hands the prompt of a query to the hub.
    pub(super) fn send_prompt(&mut self, cx: &mut RuntimeCx<'_>, number: u64) {
        let Some(query) = self.queries.get(&number) else { return };
        let side = query.session.clone().filter(|_| query.side);
        let target = side.clone().map_or_else(|| self.at_home(), Target::Session);
        let Some((input, options)) = query.prompt.clone() else { return };
        self.tell_hub(
            cx,
            target,
            Command::Run(RunCommand::Prompt { input, options }),
            OpenagentMemo::Query(number),
        );
        if side.is_some() {
            self.come_home(cx);
        }
    }

    /// Makes home the hub's current session again: a command that names it does.
    fn come_home(&mut self, cx: &mut RuntimeCx<'_>) {
        self.tell_context(cx);
    }

    /// Tells the hub where the person works, once there is a session.
    pub(super) fn tell_context(&mut self, cx: &mut RuntimeCx<'_>) {
        if self.home.is_some() {
            let command = Command::UpdateContext(context::lift(&self.context));
            self.tell_hub(cx, self.at_home(), command, OpenagentMemo::Nothing);
        }
    }

    /// The hub took the prompt of a query, or refused it.
    pub(super) fn prompted(
        &mut self,
        cx: &mut RuntimeCx<'_>,
        view: Option<View<'_>>,
        number: u64,
        with: Result<Receipt, Refusal>,
    ) {
        let style = self.client.style();
        let Some(query) = self.queries.get_mut(&number) else { return };
        match with {
            Err(refusal) if refusal.kind == RefusalKind::Busy && !query.side && !query.again => {
                // Somebody else was quicker: beside their run, then. What was held is theirs.
                (query.again, query.stage) = (true, QueryStage::Waiting);
                (query.session, query.run) = (None, None);
                query.held.clear();
                let query_id = query.telling.query_id.clone();
                query.telling =
                    Telling::new(query_id, style, self.endpoint.greeting.follows, query.stream, cx.now);
                if self.home.as_ref().is_none_or(|home| !self.runs.contains_key(home)) {
                    self.refused(cx, number, &refusal);
                }
            }
            Err(refusal) => self.refused(cx, number, &refusal),
            Ok(receipt) => {
                query.stage = QueryStage::Running;
                query.prompt = None;
                if let (Receipt::Started { session, run }, None) = (receipt, query.run) {
                    (query.session, query.run) = (Some(session), Some(run));
                } else if query.session.is_none() {
                    query.session = view.map(|view| view.session.clone()).or_else(|| self.home.clone());
                }
                query.accept(cx);
                if query.cancelled {
                    self.stop(cx, number, Pending { from: None, memo: OpenagentMemo::Nothing });
                }
            }
        }
    }

    fn refused(&mut self, cx: &mut RuntimeCx<'_>, number: u64, refusal: &Refusal) {
        let Some(query) = self.queries.remove(&number) else { return };
        if let Some(id) = query.request {
            if query.cancelled && !self.client.terminal {
                let why = "the query was cancelled before it ran";
                return cx.send(jsonrpc::error(
                    Some(&id),
                    &RpcError::new(code::CANCELLED, words(code::CANCELLED, why)),
                ));
            }
            self.refuse_query(cx, &id, <Self as RpcRole>::refused(QueryParams::METHOD, refusal));
        }
        self.leave_side(cx, query.side, query.session);
    }

    /// Ends a query whose run cannot be told any more.
    pub(super) fn end_early(&mut self, cx: &mut RuntimeCx<'_>, number: u64, failure: Failure) {
        let Some(mut query) = self.queries.remove(&number) else { return };
        query.accept(cx);
        let lines = query.telling.failed(&mut self.counters, cx.now, failure);
        query.say(cx, lines);
    }

    /// Stops a query; the pending receipt answers the client.
    pub(super) fn stop(
        &mut self,
        cx: &mut RuntimeCx<'_>,
        number: u64,
        pending: Pending<WireId, OpenagentMemo>,
    ) {
        let Some(query) = self.queries.get_mut(&number) else { return };
        let target = query.session.clone().map_or(Target::Current, Target::Session);
        let command = Command::Run(RunCommand::Cancel { run: query.run, reason: None });
        let side = query.side;
        self.endpoint.pending.command(cx, target, command, pending);
        if side {
            self.come_home(cx);
        }
    }

    /// Takes `agent.cancel`, also for a query that has not begun.
    fn cancel_query(&mut self, cx: &mut RuntimeCx<'_>, request: Request<'_, Self>) -> Asking<Self> {
        let CancelParams { query_id } = read(request.params)?;
        let found = self.queries.iter_mut().find(|(_, query)| query.telling.query_id == query_id);
        let Some((number, query)) = found else {
            let asked = query_id.strip_prefix("q-").and_then(|n| n.parse::<u64>().ok());
            if asked.is_some_and(|n| (1..=self.last_query).contains(&n)) {
                return Ok(reply(&lower_cancel(query_id, false)));
            }
            return Err(invalid(format!("there is no query {query_id:?}")));
        };
        let number = *number;
        match query.stage {
            QueryStage::Running => {
                self.stop(cx, number, request.pending(OpenagentMemo::Cancel(query_id)));
            }
            QueryStage::Waiting => {
                cx.send(jsonrpc::result(request.from, &lower_cancel(query_id, true)));
                let Some(mut query) = self.queries.remove(&number) else { return Ok(Next::Nothing) };
                query.accept(cx);
                let lines = query.telling.cancelled(&mut self.counters, cx.now);
                lines.into_iter().for_each(|line| cx.send(line));
            }
            QueryStage::Branching | QueryStage::Prompting => {
                query.cancelled = true;
                return Ok(reply(&lower_cancel(query_id, true)));
            }
        }
        Ok(Next::Nothing)
    }

    fn query_cancelled(&mut self, _: &mut RuntimeCx<'_>, settled: Settlement<'_, Self>) -> Answering<Self> {
        let OpenagentMemo::Cancel(query_id) = settled.memo else { return Err(Fault::Odd) };
        let cancelled = match settled.with {
            Ok(Receipt::Cancelling { run }) => run.outcome.is_none(),
            Ok(_) => true,
            Err(refusal) if matches!(refusal.kind, RefusalKind::NoRun | RefusalKind::RunUnknown) => false,
            Err(refusal) => return Err(refusal.into()),
        };
        Ok(reply(&lower_cancel(query_id, cancelled)))
    }

    /// Tells an event of a session to the query that it belongs to.
    pub(super) fn tell(&mut self, cx: &mut RuntimeCx<'_>, view: View<'_>, event: &Event) {
        if let Body::Run(RunEvent::Started { run }) = &event.body {
            self.bind(cx, view.session, *run);
        }
        let mut running = self.queries.iter_mut().filter(|(_, query)| query.runs_in(view.session));
        let found = running.find_map(|(number, query)| Some((*number, query.run?, query)));
        let Some((number, run, query)) = found else {
            if let Body::Note(NoteEvent::Noticed { level, code, text, .. }) = &event.body {
                self.put_off(cx, view.session, *level, code, text);
            }
            return;
        };
        let behind = view.state.seq > event.seq;
        let lines = query.telling.hear(&mut self.counters, run, event.at, &event.body, behind);
        query.say(cx, lines);
        if matches!(event.body, Body::Run(RunEvent::Started { .. })) {
            let (said, rest): (Vec<Unsaid>, Vec<Unsaid>) =
                std::mem::take(&mut self.unsaid).into_iter().partition(|word| word.session == *view.session);
            self.unsaid = rest;
            for Unsaid { level, code, text, .. } in said {
                let lines = query.telling.noticed(&mut self.counters, level, &code, &text);
                query.say(cx, lines);
            }
        }
        match &event.body {
            Body::Ask(AskEvent::Opened(ask)) => self.ask_person(cx, view.session, number, ask),
            Body::Run(RunEvent::Ended { .. }) => self.ended(cx, number),
            _ => {}
        }
    }

    /// Nothing is said outside of a query: such a word, as that changes of files were taken back, is told with the next one.
    fn put_off(&mut self, cx: &mut RuntimeCx<'_>, session: &SessionId, level: Level, code: &str, text: &str) {
        if self.unsaid.len() >= MAX_UNSAID {
            self.unsaid.remove(0);
            cx.loss(Item::Notice, "a word outside of a query");
        }
        let (session, code, text) = (session.clone(), code.to_owned(), text.to_owned());
        self.unsaid.push(Unsaid { session, level, code, text });
    }

    /// The run is that of a query of ours, or of somebody else: then it is told along, to a client that can tell answers apart.
    fn bind(&mut self, cx: &mut RuntimeCx<'_>, session: &SessionId, run: RunId) {
        let home = self.home.as_ref() == Some(session);
        let ours = |query: &&mut Query| {
            let prompted = query.stage == QueryStage::Prompting && query.run.is_none();
            query.runs_in(session)
                || (prompted && if query.side { query.session.as_ref() == Some(session) } else { home })
        };
        if let Some(query) = self.queries.values_mut().find(ours) {
            (query.run, query.session) = (Some(run), Some(session.clone()));
        } else if self.client.by_the_book() || self.client.terminal {
            let (number, mut query) = self.new_query(cx, true);
            query.only_asks = self.client.terminal;
            (query.stage, query.session, query.run) = (QueryStage::Running, Some(session.clone()), Some(run));
            self.queries.insert(number, query);
        }
    }

    fn ask_person(&mut self, cx: &mut RuntimeCx<'_>, session: &SessionId, number: u64, ask: &Ask) {
        let Some(query) = self.queries.get_mut(&number) else { return };
        let AskKind::Consent(consent) = &ask.kind else { return };
        let waved = !query.asks && is_harmless(&consent.assessment);
        let remembered = consent.assessment.risk < Risk::Critical
            && self.remembered.contains(&(session.clone(), consent.digest.clone()));
        if waved || remembered {
            if query.telling.asked(&mut self.counters, ask, consent) {
                // The client said that it need not be asked, with its query or about this very action; what is critical, and with
                // the query also what cannot be undone, is asked all the same.
                let answer = Answer::Allow { scope: Scope::Once, digest: Some(consent.digest.clone()) };
                let command = Command::Answer { ask: ask.id, answer };
                self.tell_hub(cx, Target::Session(session.clone()), command, OpenagentMemo::Nothing);
            }
        } else if !self.client.approves() {
            // It said that it cannot be asked; who else can answer is asked elsewhere.
            query.telling.asked(&mut self.counters, ask, consent);
        } else if let Some(shown) = approval::fitted(ask, consent) {
            let mut lines = query.telling.approval(&mut self.counters, ask, consent, &shown, cx.now);
            match lines.pop() {
                Some(request) if query.only_asks => cx.send(request),
                request => {
                    lines.extend(request);
                    query.say(cx, lines);
                }
            }
        } else if query.telling.asked(&mut self.counters, ask, consent) {
            let text = shown::not_asked(&ask.title, session);
            let lines = query.telling.notified(&mut self.counters, Level::Warning, &text);
            query.say(cx, lines);
            cx.cannot_answer(session.clone(), ask.id);
        }
    }

    fn ended(&mut self, cx: &mut RuntimeCx<'_>, number: u64) {
        if let Some(mut query) = self.queries.remove(&number) {
            query.accept(cx);
            self.leave_side(cx, query.side, query.session);
        }
    }

    fn leave_side(&mut self, cx: &mut RuntimeCx<'_>, side: bool, session: Option<SessionId>) {
        if let Some(session) = session.filter(|session| side && self.home.as_ref() != Some(session)) {
            self.tell_hub(
                cx,
                Target::Session(session),
                Command::Session(SessionCommand::Close),
                OpenagentMemo::Nothing,
            );
            self.come_home(cx);
        }
    }

    /// The session was shown (again): what it knows and we have not told.
    pub(super) fn catch_up(&mut self, cx: &mut RuntimeCx<'_>, view: View<'_>) {
        if let Some(run) = view.state.open_run() {
            self.bind(cx, view.session, run.id);
        }
        let found = self.queries.iter_mut().find(|(_, query)| query.runs_in(view.session));
        let Some((number, run)) = found.and_then(|(number, query)| Some((*number, query.run?))) else {
            return;
        };
        let Some(query) = self.queries.get_mut(&number) else { return };
        let lines = query.telling.catch_up(&mut self.counters, view.state, run);
        query.say(cx, lines);
        for ask in view.state.asks.iter().filter(|ask| ask.run == Some(run)) {
            self.ask_person(cx, view.session, number, ask);
        }
        if view.state.run(run).is_some_and(|run| run.ended.is_some()) {
            self.ended(cx, number);
        }
    }
}

fn lift_options(options: &QueryOptions) -> PromptOptions {
    let thousandths = |t: f64| (0.0..=10.0).contains(&t).then_some((t * 1000.0).round() as u32);
    PromptOptions {
        max_tokens: options.max_tokens.filter(|max| *max > 0),
        temperature: options.temperature.and_then(thousandths),
        tools: options.tools_enabled,
        ..PromptOptions::default()
    }
}

fn lower_cancel(query_id: String, cancelled: bool) -> CancelResult {
    CancelResult { cancelled, query_id, status: (!cancelled).then(|| "finished".to_owned()) }
}

fn accepted(id: &WireId, query_id: &str) -> String {
    let result =
        QueryResult { query_id: Some(query_id.to_owned()), status: "processing".to_owned(), error: None };
    jsonrpc::result(id, &result)
}

/// Whether an action is known to do little, and what it does to be undone.
fn is_harmless(assessment: &Assessment) -> bool {
    !assessment.unrated && assessment.risk <= Risk::Medium && assessment.reversible
}
