//! One prompt without a screen. Nobody can be asked, so what would need a yes is denied, and the exit code says so.
//!
//! Invariant: only the run of the prompt's own receipt is told and ends it; what a session held before is not.

mod args;
pub(crate) mod attachments;
mod form;
mod prompt_run;
mod report;
mod request;

use crate::exit::{self, Exit};
use crate::output::{self, Stream};
use domain::ask::{Answer, Ask, AskKind, Closing, Scope};
use domain::command::{Command, PromptOptions, Receipt, RunCommand, Target};
use domain::content::{Input, Part, TextKind};
use domain::event::{
    AskEvent, Body, CACHE_LOST, EMPTY_ANSWER, ERRAND_REFUSED, Event, Finish, MessageEvent, NoteEvent,
    Outcome, REFUSED, RunEvent, ToolEvent,
};
use domain::ids::{AskId, MessageId, Millis, SessionId, ToolRunId};
use domain::origin::shell_word;
use domain::port::{LinkState, News, Ticket};
use domain::session::Policy;
use domain::signal::{Level, Signal};
use domain::state::State;
use domain::tool::{ToolOutcome, ToolPhase, ToolRun};
use form::{Fitting, Form};
use host::stop::Stops;
use hub::core::Standing;
use hub::{Hub, LocalPort};
use prompt_run::PromptRun;
use report::Ending;
use roles::Answers;

pub(crate) use args::Run;
pub(crate) use request::PromptRequest;
use std::collections::BTreeMap;
use std::time::Duration;
use tokio::time::Instant;
use tools::policy::Allowance;
use tui::StopSignal;

/// Most text taken from a pipe as a prompt.
pub(crate) const MAX_PIPED: u64 = 10 * 1024 * 1024;
const PROMPT: Ticket = Ticket(1);
/// How the end of a link is told that nobody has explained.
const CLOSED: &str = "the peer closed the link";
const ANSWER: Ticket = Ticket(2);
const CANCEL: Ticket = Ticket(3);

/// The code of a remark that tells what another client of the same runtime said.
const ASKED_ELSEWHERE: &str = "prompt";

/// Tells, as `--json` tells things, that the run was stopped before it had begun.
pub(crate) fn stopped_early(signal: StopSignal) {
    report::header(None, None);
    let error = &stopped_by(signal);
    report::result(Exit::Cancelled(signal), &Ending { error: Some(error), ..Ending::default() });
}

fn stopped_by(signal: StopSignal) -> String {
    format!("told to stop by {} before the run was over", signal.name())
}

/// How long a run that was told to stop may take for it. The hub gives an engine less.
const STOP_GRACE: Duration = Duration::from_secs(4);
/// The same where nobody has taken the prompt: there may be nobody who hears.
const UNHEARD_GRACE: Duration = Duration::from_millis(500);

/// Says one thing to whatever runs behind the hub and follows it to its end. `granted` is what a foreign runtime is told yes to: our own
/// agent knows what is allowed, and does not ask for it. `stops` listen since before a foreign runtime was greeted; a listener for each
/// round would miss what comes between two rounds.
pub(crate) async fn converse(
    hub: &Hub,
    start: Option<Command>,
    said: PromptRequest,
    run: &Run,
    granted: &[Allowance],
    mut stops: Stops,
) -> anyhow::Result<Exit> {
    // Nobody answers what is no consent, and that is said when a question was seen: one that is closed before would leave no trace here.
    let answers = Answers::ALL;
    let begins = start.is_some();
    let mut ui = hub.attach("run", Standing::Controller, answers, start).await?;
    let first = if begins { ui.begun().await? } else { None };
    let mut headless = Headless::new(run, granted, ui.port.clone(), said.form);
    headless.say(said.input).await?;
    if let Some(first) = first {
        headless.news(first).await?;
    }
    let give_up = tokio::time::sleep(Duration::from_secs(run.timeout.unwrap_or(u64::from(u32::MAX))));
    tokio::pin!(give_up);
    let mut stopping = None;
    loop {
        let why;
        tokio::select! {
            news = ui.news.recv() => {
                let Some(news) = news else {
                    let exit = stopping.unwrap_or_else(|| headless.failed("the runtime stopped before the run was over"));
                    headless.finish(exit);
                    return Ok(exit);
                };
                if let Some(exit) = headless.news(news).await? {
                    let Some(exit) = stopping.or(headless.judged(exit).await?) else { continue };
                    headless.finish(exit);
                    return Ok(exit);
                }
                continue;
            }
            () = &mut give_up => {
                let seconds = run.timeout.unwrap_or_default();
                why = (Exit::TimedOut, format!("not over within {seconds} s, which --timeout gives it"));
            }
            signal = stops.next() => {
                let signal = exit::by(signal);
                why = (Exit::Cancelled(signal), stopped_by(signal));
            }
        }
        match stopping {
            None => {
                let (exit, words) = why;
                if exit == Exit::TimedOut {
                    headless.aside(&words);
                }
                stopping = Some(exit);
                headless.stopped = Some(words);
                let grace = if headless.own.is_taken() { STOP_GRACE } else { UNHEARD_GRACE };
                give_up.as_mut().reset(Instant::now() + grace);
                let cancel = Command::Run(RunCommand::Cancel { run: None, reason: None });
                ui.port.command(CANCEL, Target::Current, cancel).await?;
            }
            // Told again, or told and not heard (a runtime that never said hello): nothing is waited for any more.
            Some(exit) => {
                hub.end().await;
                headless.finish(exit);
                return Ok(exit);
            }
        }
    }
}

struct Headless<'a> {
    run: &'a Run,
    granted: &'a [Allowance],
    port: LocalPort,
    state: State,
    session: Option<SessionId>,
    own: PromptRun,
    /// What the answer must be like, and the answer once it is so.
    form: Option<Form>,
    fitting: Option<Fitting>,
    /// Whether an answer that was not so was asked for once more.
    asked_again: bool,
    /// Bytes of the answer that were written, by message.
    written: BTreeMap<MessageId, usize>,
    /// The same from before the session was shown again, as far as that did not come again yet.
    again: BTreeMap<MessageId, usize>,
    /// The whole answer, for the last line of `--json`; where a form is asked for, the newest message of it.
    text: String,
    /// What is said in the open message, while nobody watches: one that is cut and said anew is not written twice.
    held: Option<String>,
    /// How the newest message of the model ended, where it is not whole.
    unfinished: Option<&'static str>,
    /// Each time that the provider had lost what was sent before, in words.
    cache_lost: Vec<String>,
    /// Whether something was said that no line break ended.
    in_line: bool,
    /// What was denied first.
    denied: Option<String>,
    /// Questions of a run that nobody has answered yet, with the tool that was at work.
    unanswered: BTreeMap<AskId, Option<ToolRunId>>,
    /// Those of them that were given up.
    given_up: Vec<Option<ToolRunId>>,
    /// The last error that was told as it happened.
    told: Option<String>,
    /// Why it failed, for the last line of `--json`.
    failure: Option<String>,
    /// Why it was to stop before its end.
    stopped: Option<String>,
    /// Whether the first line of `--json` was written.
    begun: bool,
    /// Why the conversation is not saved, while it is not.
    unsaved: Option<String>,
}

/// Whether it holds only what no one but a provider can read.
fn is_private(body: &Body) -> bool {
    matches!(body, Body::Message(MessageEvent::PartAdded { part, .. }) if part.is_private())
}

fn is_consent(ask: &Ask) -> bool {
    matches!(ask.kind, AskKind::Consent(_))
}

impl<'a> Headless<'a> {
    fn new(run: &'a Run, granted: &'a [Allowance], port: LocalPort, form: Option<Form>) -> Headless<'a> {
        let holds = run.json || form.is_some() || !Stream::Out.is_terminal();
        Headless {
            run,
            granted,
            port,
            state: State::new(),
            session: None,
            own: PromptRun::default(),
            form,
            fitting: None,
            asked_again: false,
            written: BTreeMap::new(),
            again: BTreeMap::new(),
            text: String::new(),
            held: holds.then(String::new),
            unfinished: None,
            cache_lost: Vec::new(),
            in_line: false,
            denied: None,
            unanswered: BTreeMap::new(),
            given_up: Vec::new(),
            told: None,
            failure: None,
            stopped: None,
            begun: false,
            unsaved: None,
        }
    }

    /// Says something; the run of it is the one that is followed.
    async fn say(&mut self, input: Input) -> anyhow::Result<()> {
        self.own = PromptRun::default();
        let prompt = RunCommand::Prompt { input, options: PromptOptions::default() };
        Ok(self.port.command(PROMPT, Target::Current, Command::Run(prompt)).await?)
    }

    /// How it ends with this, once the answer was looked at; `None` when it was asked for once more.
    async fn judged(&mut self, exit: Exit) -> anyhow::Result<Option<Exit>> {
        if !matches!(exit, Exit::Done | Exit::Denied | Exit::NeedsInput) {
            return Ok(Some(exit));
        }
        self.let_go();
        let Some(form) = &self.form else { return Ok(Some(exit)) };
        let why = match form.judge(&self.text) {
            Ok(fitting) => {
                self.fitting = Some(fitting);
                return Ok(Some(exit));
            }
            Err(why) => why,
        };
        if !std::mem::replace(&mut self.asked_again, true) {
            self.aside(&format!("the answer does not fit --output-schema, asking once more: {why}"));
            self.text.clear();
            self.say(Input::text(Form::once_more(&why))).await?;
            return Ok(None);
        }
        let words = format!("the answer does not fit --output-schema: {why}");
        output::print_error(&format!("error: {words}"));
        self.failure = Some(words);
        Ok(Some(if exit == Exit::Done { Exit::WrongForm } else { exit }))
    }

    /// Takes news in; gives the exit once the run is over.
    async fn news(&mut self, news: News) -> anyhow::Result<Option<Exit>> {
        match news {
            News::Attached { session, replay, .. } => {
                let seen = self.session.as_ref().filter(|seen| **seen == session).map(|_| self.state.seq);
                self.state = State::new();
                for (at, body) in &replay {
                    self.state.apply(*at, body)?;
                }
                let open: Vec<AskId> =
                    self.state.asks.iter().filter(|ask| !is_consent(ask)).map(|ask| ask.id).collect();
                for ask in open {
                    self.port.cannot_answer(session.clone(), ask).await?;
                }
                self.session = Some(session);
                if seen == Some(self.state.seq) {
                    // It is shown again, and nothing happened in between.
                    return Ok(None);
                }
                let written = std::mem::take(&mut self.written);
                self.again = if seen.is_some() { written } else { BTreeMap::new() };
                let exit = self.catch_up(&replay).await;
                self.again.clear();
                exit
            }
            News::Happened { session, event } => {
                self.state.follow(&event)?;
                if let Body::Ask(AskEvent::Opened(ask)) = &event.body
                    && !is_consent(ask)
                {
                    self.port.cannot_answer(session, ask.id).await?;
                }
                self.heard(event.as_ref().clone()).await
            }
            News::Settled { ticket: PROMPT, with: Ok(Receipt::Started { run, .. }) } => {
                let told = self.own.taken(run);
                if let Some(exit) = self.tell(&told).await? {
                    return Ok(Some(exit));
                }
                // More may have happened than could be put aside.
                let over =
                    self.state.runs.iter().find(|seen| seen.id == run).and_then(|seen| seen.ended.clone());
                Ok(over.map(|(_, outcome)| self.exit(&outcome)))
            }
            News::Settled { ticket: PROMPT, with: Ok(Receipt::Queued { run, .. }) } => {
                self.own.waits_for(run);
                Ok(None)
            }
            News::Settled { ticket: PROMPT, with: Ok(_) } => {
                self.own.taken_somehow();
                Ok(None)
            }
            News::Settled { ticket: PROMPT, with: Err(refusal) } => {
                Ok(Some(self.failed(&refusal.to_string())))
            }
            News::Link(LinkState::Lost(why)) => {
                let unheard = self.session.is_none() && why.ends_with(CLOSED);
                let words = if unheard {
                    format!(
                        "{why} before it said anything\n\nhint: does it speak this protocol? --dialect names another one; where it is served with --dialect auto clients speak first, which those of asst and lemon do not"
                    )
                } else {
                    why.clone()
                };
                let exit = self.failed(&words);
                Ok(Some(if hub::core::acted_unasked(&why) { Exit::Denied } else { exit }))
            }
            News::Signal { signal: Signal::Status { key, text }, .. } if key == domain::signal::UNSAVED => {
                if let Some(why) = &text {
                    output::print_error(&format!("warning: {why}"));
                }
                self.unsaved = text;
                Ok(None)
            }
            // Before the prompt is taken this is all that is heard of a runtime which does not answer.
            News::Signal { signal: Signal::Notify { level: Level::Warning, text }, .. }
            | News::Link(LinkState::Odd(text))
                if !self.own.is_taken() =>
            {
                output::print_error(&format!("warning: {text}"));
                Ok(None)
            }
            News::Settled { .. } | News::Signal { .. } | News::Link(_) => Ok(None),
        }
    }

    /// The first line of `--json`: who speaks, and about what. It comes with the first event, since a foreign runtime may lead to another
    /// session before.
    fn begin(&mut self) {
        if !self.run.json || std::mem::replace(&mut self.begun, true) {
            return;
        }
        let model = self.state.settings.model.as_ref().map(ToString::to_string);
        report::header(self.session.as_ref(), model.or_else(|| self.run.usual_model.clone()));
    }

    /// What the newest run has said and asked before its session was seen: ours, or one that may be.
    async fn catch_up(&mut self, replay: &[(Millis, Body)]) -> anyhow::Result<Option<Exit>> {
        let open = || self.state.open_run().map(|run| run.id);
        let ours = if self.own.is_taken() { self.own.run().or_else(open) } else { None };
        if self.own.is_taken() && ours.is_none() {
            return Ok(None);
        }
        let began = |(_, body): &(Millis, Body)| matches!(body, Body::Run(RunEvent::Started { run }) if ours.is_none_or(|ours| ours == *run));
        let Some(at) = replay.iter().rposition(began) else { return Ok(None) };
        for (at, body) in &replay[at..] {
            let event = Event { seq: self.state.seq, at: *at, body: body.clone() };
            if let Some(exit) = self.heard(event).await? {
                return Ok(Some(exit));
            }
        }
        Ok(None)
    }

    async fn heard(&mut self, event: Event) -> anyhow::Result<Option<Exit>> {
        let told = self.own.heard(event);
        self.tell(&told).await
    }

    async fn tell(&mut self, events: &[Event]) -> anyhow::Result<Option<Exit>> {
        for event in events {
            if let Some(exit) = self.event(event).await? {
                return Ok(Some(exit));
            }
        }
        Ok(None)
    }

    async fn event(&mut self, event: &Event) -> anyhow::Result<Option<Exit>> {
        self.begin();
        if self.run.json && !is_private(&event.body) {
            output::print_line(&record::encode(event));
        }
        match &event.body {
            Body::Message(MessageEvent::Delta { message, kind: TextKind::Text, text }) => {
                let ours =
                    self.state.message(*message).is_some_and(|m| m.role == domain::content::Role::Assistant);
                if ours {
                    self.answer(*message, text);
                }
            }
            Body::Message(MessageEvent::PartAdded { message, part }) => {
                let ours =
                    self.state.message(*message).is_some_and(|m| m.role == domain::content::Role::Assistant);
                if ours {
                    self.part(*message, part);
                }
            }
            Body::Message(MessageEvent::Ended { message, finish }) => self.message_ended(*message, finish),
            Body::Tool(ToolEvent::Proposed { name, args, .. }) => self.aside(&format!("· {name} {args}")),
            Body::Note(NoteEvent::Noticed { level: Level::Error, text, .. }) => {
                output::print_error(&format!("error: {text}"));
                self.told = Some(text.clone());
            }
            // What another client asked is not of this prompt.
            Body::Note(NoteEvent::Noticed { code, .. }) if code == ASKED_ELSEWHERE => {}
            Body::Note(NoteEvent::Noticed { code, text, .. }) => {
                if code == EMPTY_ANSWER {
                    self.unfinished = Some("the answer is empty");
                }
                if code == CACHE_LOST {
                    self.cache_lost.push(text.clone());
                }
                if code == ERRAND_REFUSED {
                    self.denied.get_or_insert_with(|| text.clone());
                }
                self.aside(text);
            }
            Body::Run(RunEvent::Retrying { attempt, max, delay_ms, reason, .. }) => {
                let seconds = delay_ms.div_ceil(1000);
                self.aside(&format!("asking again in {seconds} s ({attempt} of {max}): {reason}"));
            }
            // By the mode or a rule, without a question.
            Body::Tool(ToolEvent::Decided { tool, decision }) if !decision.allowed => {
                let name = self.state.tools.get(tool).map_or("a tool", |run| run.name.as_str());
                self.denied.get_or_insert_with(|| format!("{name} was denied"));
            }
            Body::Ask(AskEvent::Opened(ask)) => self.asked(ask).await?,
            Body::Ask(AskEvent::Closed { ask, closing }) => {
                let given_up = match closing {
                    // What the mode says no to was denied, whatever its form.
                    Closing::Answered { by: Some(by), .. } if by == Policy::ReadOnly.name() => {
                        self.denied.get_or_insert_with(|| "a question was denied (read-only)".to_owned());
                        false
                    }
                    Closing::Answered { answer, .. } => *answer == Answer::Dismissed,
                    Closing::Unattended | Closing::Expired => true,
                    Closing::Withdrawn => false,
                };
                let asked = self.unanswered.remove(ask);
                self.given_up.extend(asked.filter(|_| given_up));
            }
            Body::Run(RunEvent::Ended { run, outcome }) => {
                let ends = self.own.ends_with(*run);
                return Ok(ends.then(|| self.exit(outcome)));
            }
            _ => {}
        }
        Ok(None)
    }

    fn part(&mut self, message: MessageId, part: &Part) {
        match part {
            Part::Text(text) => self.answer(message, text),
            Part::Code { language, text, .. } => {
                let language = language.as_deref().unwrap_or_default();
                self.answer(message, &format!("```{language}\n{}\n```\n", text.trim_end()));
            }
            Part::Diff { text, .. } => {
                self.answer(message, &format!("```diff\n{}\n```\n", text.trim_end()));
            }
            Part::Thought { .. } | Part::Image { .. } | Part::Tool(_) | Part::Opaque { .. } => {}
        }
    }

    /// Nobody is here: what our own agent was allowed on the command line would not have been asked. A question that no run waits for is
    /// the runtime's own matter, and it goes on without an answer.
    async fn asked(&mut self, ask: &Ask) -> anyhow::Result<()> {
        let AskKind::Consent(consent) = &ask.kind else {
            if self.state.settings.policy == Policy::ReadOnly {
                self.aside(&format!("denied: {} (read-only)", ask.title));
            } else if ask.run.is_some() {
                // What needs a dangerous yes is not done without it, however the tool that asked ends.
                let is_dangerous = matches!(ask.kind, AskKind::Confirm { danger: true, .. });
                self.unanswered.insert(ask.id, self.at_work().filter(|_| !is_dangerous));
                self.aside(&format!("not answered: {} (nobody is here to be asked)", ask.title));
            }
            return Ok(());
        };
        if self.unsaved.is_none() && self.granted.iter().any(|granted| granted.covers_consent(consent)) {
            let answer = Answer::Allow { scope: Scope::Once, digest: Some(consent.digest.clone()) };
            self.port.command(ANSWER, Target::Current, Command::Answer { ask: ask.id, answer }).await?;
            return Ok(());
        }
        self.denied.get_or_insert_with(|| format!("denied: {}", ask.title));
        let reason = match &self.unsaved {
            Some(why) => {
                self.aside(&format!("denied: {} ({why}: after a crash it could run twice)", ask.title));
                format!("{why}: after a crash it could run twice, and nobody is here to decide that")
            }
            None if self.state.settings.policy == Policy::ReadOnly => {
                self.aside(&format!("denied: {} (read-only)", ask.title));
                "nothing may be changed in this headless run (read-only)".to_owned()
            }
            None => {
                let needed = shell_word(&Allowance::for_consent(consent).to_string());
                let how = if Allowance::is_elsewhere(consent) {
                    format!("name its folder with --workspace DIR; --allow {needed} allows everything")
                } else {
                    format!("allow it with --allow {needed}")
                };
                self.aside(&format!("denied: {} ({how})", ask.title));
                "not approved: no one can be asked in headless mode".to_owned()
            }
        };
        let answer = Answer::Deny { reason: Some(reason) };
        self.port.command(ANSWER, Target::Current, Command::Answer { ask: ask.id, answer }).await?;
        Ok(())
    }

    /// The tool that was started last and has not ended.
    fn at_work(&self) -> Option<ToolRunId> {
        let is_at_work = |id: &ToolRunId| self.state.tool(*id).is_some_and(|tool| tool.started_at.is_some());
        self.state.open_tools().into_iter().rfind(is_at_work)
    }

    /// Whether something was not done for want of an answer. A tool that came to its end without one has done it, and so has another run
    /// of it since.
    fn is_left_undone(&self) -> bool {
        let is_done = |tool: &ToolRun| tool.phase == ToolPhase::Ended(ToolOutcome::Done);
        let made_up = |id: &ToolRunId| {
            let asking = self.state.tool(*id);
            let since = self.state.tools.range(*id..).map(|(_, tool)| tool);
            asking
                .is_some_and(|asking| since.into_iter().any(|tool| tool.name == asking.name && is_done(tool)))
        };
        !self.unanswered.is_empty() || self.given_up.iter().any(|tool| !tool.as_ref().is_some_and(made_up))
    }

    /// It failed, for a reason that nobody has told yet.
    fn failed(&mut self, why: &str) -> Exit {
        output::print_error(&format!("error: {why}"));
        self.failure = Some(why.to_owned());
        Exit::Failed
    }

    fn exit(&mut self, outcome: &Outcome) -> Exit {
        match outcome {
            Outcome::Failed(failure) => {
                self.failure = Some(failure.message.clone());
                // What was told as it happened is not said twice.
                if !self.told.as_ref().is_some_and(|told| told.contains(&failure.message)) {
                    output::print_error(&format!("error: {}", failure.message));
                }
                match failure.code.as_str() {
                    engine::OVER_BUDGET => Exit::OverBudget,
                    hub::core::ACTED_UNASKED => Exit::Denied,
                    REFUSED => Exit::Unfinished,
                    _ => Exit::Failed,
                }
            }
            Outcome::Interrupted | Outcome::Lost => {
                self.failed("the runtime went away before the run was over")
            }
            Outcome::Cancelled => Exit::LEFT,
            Outcome::Done if self.is_left_undone() => Exit::NeedsInput,
            Outcome::Done if self.denied.is_some() => Exit::Denied,
            Outcome::Done => match self.unfinished {
                Some(why) => {
                    output::print_error(&format!("warning: {why}"));
                    Exit::Unfinished
                }
                None => Exit::Done,
            },
        }
    }

    /// A message is over: it is written now if it was held back.
    fn message_ended(&mut self, message: MessageId, finish: &Finish) {
        let ours = self.state.message(message).is_some_and(|m| m.role == domain::content::Role::Assistant);
        if !ours {
            return self.end_line();
        }
        self.unfinished = match finish {
            Finish::Length => Some("the answer was cut: it reached the model's length limit"),
            Finish::Refused => Some("the model or its provider declined to answer"),
            Finish::Complete | Finish::Interrupted | Finish::Failed | Finish::Cut => None,
        };
        if *finish == Finish::Cut {
            match &mut self.held {
                Some(held) => {
                    held.clear();
                    self.in_line = false;
                }
                None => {
                    self.end_line();
                    self.aside("… cut here; the answer starts again");
                }
            }
        } else {
            self.end_line();
            self.let_go();
        }
    }

    /// Writes what was held back.
    fn let_go(&mut self) {
        let Some(held) = &mut self.held else { return };
        let text = std::mem::take(held);
        if self.form.is_some() {
            // What it says beside its tools is not the answer.
            if !text.trim().is_empty() {
                self.text = text;
            }
        } else if self.run.json {
            self.text.push_str(&text);
        } else {
            output::print(&text);
        }
    }

    /// A piece of the answer, without what of it was written before the session was shown again.
    fn answer(&mut self, message: MessageId, text: &str) {
        *self.written.entry(message).or_default() += text.len();
        let before = self.again.entry(message).or_default();
        let known = text.len().min(*before);
        *before -= known;
        self.write(text.get(known..).unwrap_or_default());
    }

    fn write(&mut self, text: &str) {
        if !text.is_empty() {
            self.in_line = !text.ends_with('\n');
        }
        match &mut self.held {
            Some(held) => held.push_str(text),
            None => output::print(text),
        }
    }

    fn end_line(&mut self) {
        if self.in_line {
            self.write("\n");
        }
    }

    fn aside(&self, line: &str) {
        if !self.run.json {
            output::print_error(line);
        }
    }

    /// Why it is not done, if so: the last line of `--json` tells it.
    fn trouble(&self, exit: Exit) -> Option<&str> {
        let why = match exit {
            Exit::Done => None,
            Exit::TimedOut | Exit::Cancelled(_) => self.stopped.as_deref(),
            Exit::Denied => self.denied.as_deref(),
            Exit::NeedsInput => Some("a question needed a person, and nobody was there to answer it"),
            Exit::Failed | Exit::Damaged | Exit::Unfinished | Exit::OverBudget | Exit::WrongForm => None,
        };
        self.failure.as_deref().or(why).or(self.unfinished)
    }

    /// What stands at the end: the answer where a form was asked for, and the last line of `--json`.
    fn finish(&mut self, exit: Exit) {
        self.let_go();
        self.begin();
        if self.run.json {
            let text = self.fitting.as_ref().map_or(self.text.as_str(), |fitting| fitting.text.as_str());
            report::result(
                exit,
                &Ending {
                    session: self.session.as_ref(),
                    text,
                    output: self.fitting.as_ref().map(|fitting| &fitting.value),
                    error: self.trouble(exit),
                    usage: self.state.usage,
                    cache_lost: &self.cache_lost,
                },
            );
        } else if let Some(fitting) = &self.fitting {
            output::print_line(&fitting.text);
        } else if self.form.is_some() && !self.text.is_empty() {
            // Who waits for JSON gets none rather than something else; a person may want to read it.
            output::print_error(self.text.trim_end());
        }
    }
}
