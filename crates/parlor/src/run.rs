//! `parlor run`: one prompt without a screen. Nobody can be asked, so what would need a yes is denied, and the exit code says so.
//!
//! Invariant: only the run of the prompt's own receipt is told and ends it; what a session held before is not.

mod own;

use crate::cli::{Common, Run};
use crate::exit::{self, Exit, Stream};
use crate::stop::Stops;
use crate::{resumed, stack};
use anyhow::Context;
use domain::ask::{Answer, Ask, AskKind, Closing, Scope};
use domain::command::{Command, PromptOptions, Receipt, RunCommand, Target};
use domain::content::{Input, Part, TextKind, Usage};
use domain::event::{
    AskEvent, Body, EMPTY_ANSWER, ERRAND_REFUSED, Event, Finish, MessageEvent, NoteEvent, Outcome, RunEvent,
    ToolEvent,
};
use domain::ids::{AskId, MessageId, Millis, SessionId};
use domain::port::{LinkState, News, Ticket};
use domain::signal::{Level, Signal};
use domain::state::State;
use hub::core::Standing;
use hub::{Hub, LocalPort};
use own::OwnRun;
use roles::Answers;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::time::Duration;
use tokio::time::Instant;
use tools::policy::Allowance;

const PROMPT: Ticket = Ticket(1);
const ANSWER: Ticket = Ticket(2);
const CANCEL: Ticket = Ticket(3);

/// The form of the lines of `--json`; another number when a name in them changes.
const FORMAT: u32 = 1;

/// The code of a remark that tells what another client of the same runtime said.
const ASKED_ELSEWHERE: &str = "prompt";

/// Runs one prompt on our own agent.
pub(crate) async fn run(mut common: Common, mut run: Run) -> anyhow::Result<Exit> {
    common.allow.clone_from(&run.allow);
    common.continue_last |= run.continue_last;
    if let Some(id) = &run.resume {
        common.resume = Some(Some(id.clone()));
    }
    let prompt = match run.prompt.join(" ") {
        dash if dash == "-" => {
            let mut text = String::new();
            std::io::stdin().take(crate::MAX_PIPED).read_to_string(&mut text)?;
            text
        }
        prompt => prompt,
    };
    if prompt.trim().is_empty() {
        return Err(exit::usage("there is nothing to say\n\nhint: parlor run \"list files\""));
    }
    if let Some(kept) = resumed::find(&mut common)? {
        return resumed::go_on(common, kept, Some((prompt, run))).await;
    }
    let own = stack::own(&common, stack::log_to_stderr()).await?;
    if let Some(words) = &own.no_workspace {
        exit::complain(words);
    }
    run.usual_model = Some(own.model.to_string());
    let exit = converse(&own.hub, own.start, prompt, &run, &[], Stops::listen()).await;
    own.engine.stop(&own.hub).await;
    exit
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
    prompt: String,
    run: &Run,
    granted: &[Allowance],
    mut stops: Stops,
) -> anyhow::Result<Exit> {
    let answers = Answers { consent: true, other: false, deadline: None };
    let begins = start.is_some();
    let mut ui = hub.attach("run", Standing::Controller, answers, start).await?;
    let first = if begins { ui.begun().await? } else { None };
    let command =
        Command::Run(RunCommand::Prompt { input: Input::text(prompt), options: PromptOptions::default() });
    ui.port.command(PROMPT, Target::Current, command).await?;
    let mut headless = Headless::new(run, granted, ui.port.clone());
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
                let news = news.context("the runtime stopped before the run was over")?;
                if let Some(exit) = headless.news(news).await? {
                    let exit = stopping.unwrap_or(exit);
                    headless.finish(exit);
                    return Ok(exit);
                }
                continue;
            }
            () = &mut give_up => why = Exit::TimedOut,
            () = stops.next() => why = Exit::Cancelled,
        }
        match stopping {
            None => {
                stopping = Some(why);
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
    own: OwnRun,
    /// Bytes of the answer that were written, by message.
    written: BTreeMap<MessageId, usize>,
    /// The same from before the session was shown again, as far as that did not come again yet.
    again: BTreeMap<MessageId, usize>,
    /// The whole answer, for the last line of `--json`.
    text: String,
    /// What is said in the open message, while nobody watches: one that is cut and said anew is not written twice.
    held: Option<String>,
    /// How the newest message of the model ended, where it is not whole.
    unfinished: Option<&'static str>,
    /// Whether something was said that no line break ended.
    in_line: bool,
    denied: bool,
    /// Questions of a run that nobody has answered yet.
    unanswered: BTreeSet<AskId>,
    /// Whether one of them was given up.
    needs_input: bool,
    /// The last error that was told as it happened.
    told: Option<String>,
    /// Why it failed, for the last line of `--json`.
    failure: Option<String>,
    /// Whether the first line of `--json` was written.
    begun: bool,
    /// Why the conversation is not saved, while it is not.
    unsaved: Option<String>,
}

/// Whether it holds only what no one but a provider can read.
fn is_private(body: &Body) -> bool {
    matches!(body, Body::Message(MessageEvent::PartAdded { part, .. }) if part.is_private())
}

impl<'a> Headless<'a> {
    fn new(run: &'a Run, granted: &'a [Allowance], port: LocalPort) -> Headless<'a> {
        Headless {
            run,
            granted,
            port,
            state: State::new(),
            session: None,
            own: OwnRun::default(),
            written: BTreeMap::new(),
            again: BTreeMap::new(),
            text: String::new(),
            held: (run.json || !Stream::Out.is_terminal()).then(String::new),
            unfinished: None,
            in_line: false,
            denied: false,
            unanswered: BTreeSet::new(),
            needs_input: false,
            told: None,
            failure: None,
            begun: false,
            unsaved: None,
        }
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
                self.session = Some(session);
                self.begin();
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
            News::Happened { event, .. } => {
                self.state.follow(&event)?;
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
                exit::complain(&format!("error: {refusal}"));
                self.failure = Some(refusal.to_string());
                Ok(Some(Exit::Failed))
            }
            News::Link(LinkState::Lost(why)) => {
                exit::complain(&format!("error: {why}"));
                self.failure = Some(why);
                Ok(Some(Exit::Failed))
            }
            News::Signal { signal: Signal::Status { key, text }, .. } if key == hub::UNSAVED => {
                if let Some(why) = &text {
                    exit::complain(&format!("warning: {why}"));
                }
                self.unsaved = text;
                Ok(None)
            }
            // Before the prompt is taken this is all that is heard of a runtime which does not answer.
            News::Signal { signal: Signal::Notify { level: Level::Warning, text }, .. }
                if !self.own.is_taken() =>
            {
                exit::complain(&format!("warning: {text}"));
                Ok(None)
            }
            News::Settled { .. } | News::Signal { .. } | News::Link(_) => Ok(None),
        }
    }

    /// The first line of `--json`: who speaks, and about what.
    fn begin(&mut self) {
        if !self.run.json || std::mem::replace(&mut self.begun, true) {
            return;
        }
        let model = self.state.settings.model.as_ref().map(ToString::to_string);
        let header = serde_json::json!({
            "header": {
                "format": FORMAT,
                "version": env!("CARGO_PKG_VERSION"),
                "session": self.session.as_ref().map(SessionId::as_str),
                "model": model.or_else(|| self.run.usual_model.clone()),
            }
        });
        exit::say(&header.to_string());
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
        if self.run.json && !is_private(&event.body) {
            exit::say(&record::encode(event));
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
                exit::complain(&format!("error: {text}"));
                self.told = Some(text.clone());
            }
            // What another client asked is not of this prompt.
            Body::Note(NoteEvent::Noticed { code, .. }) if code == ASKED_ELSEWHERE => {}
            Body::Note(NoteEvent::Noticed { code, text, .. }) => {
                if code == EMPTY_ANSWER {
                    self.unfinished = Some("the answer is empty");
                }
                self.denied |= code == ERRAND_REFUSED;
                self.aside(text);
            }
            Body::Run(RunEvent::Retrying { attempt, max, delay_ms, reason, .. }) => {
                let seconds = delay_ms.div_ceil(1000);
                self.aside(&format!("asking again in {seconds} s ({attempt} of {max}): {reason}"));
            }
            // By the mode or a rule, without a question.
            Body::Tool(ToolEvent::Decided { decision, .. }) if !decision.allowed => self.denied = true,
            Body::Ask(AskEvent::Opened(ask)) => self.asked(ask).await?,
            Body::Ask(AskEvent::Closed { ask, closing }) => {
                let given_up = match closing {
                    Closing::Answered { answer, .. } => *answer == Answer::Dismissed,
                    Closing::Unattended | Closing::Expired => true,
                    Closing::Withdrawn => false,
                };
                self.needs_input |= self.unanswered.remove(ask) && given_up;
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
            self.unanswered.extend(ask.run.map(|_| ask.id));
            return Ok(());
        };
        if self.unsaved.is_none() && self.granted.iter().any(|granted| granted.covers_consent(consent)) {
            let answer = Answer::Allow { scope: Scope::Once, digest: Some(consent.digest.clone()) };
            self.port.command(ANSWER, Target::Current, Command::Answer { ask: ask.id, answer }).await?;
            return Ok(());
        }
        self.denied = true;
        let reason = match &self.unsaved {
            Some(why) => {
                self.aside(&format!("denied: {} ({why}: after a crash it could run twice)", ask.title));
                format!("{why}: after a crash it could run twice, and nobody is here to decide that")
            }
            None => {
                let needed = Allowance::for_consent(consent);
                self.aside(&format!("denied: {} (allow it with --allow {needed})", ask.title));
                "nobody is here to allow it in this headless run".to_owned()
            }
        };
        let answer = Answer::Deny { reason: Some(reason) };
        self.port.command(ANSWER, Target::Current, Command::Answer { ask: ask.id, answer }).await?;
        Ok(())
    }

    fn exit(&mut self, outcome: &Outcome) -> Exit {
        match outcome {
            Outcome::Failed(failure) => {
                self.failure = Some(failure.message.clone());
                // What was told as it happened is not said twice.
                if !self.told.as_ref().is_some_and(|told| told.contains(&failure.message)) {
                    exit::complain(&format!("error: {}", failure.message));
                }
                if failure.code == engine::OVER_BUDGET { Exit::OverBudget } else { Exit::Failed }
            }
            Outcome::Interrupted | Outcome::Lost => {
                let why = "the runtime went away before the run was over";
                self.failure = Some(why.to_owned());
                exit::complain(&format!("error: {why}"));
                Exit::Failed
            }
            Outcome::Cancelled => Exit::Cancelled,
            Outcome::Done if self.needs_input || !self.unanswered.is_empty() => Exit::NeedsInput,
            Outcome::Done if self.denied => Exit::Denied,
            Outcome::Done => match self.unfinished {
                Some(why) => {
                    exit::complain(&format!("warning: {why}"));
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
                    self.aside("… cut here; the answer begins anew");
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
        if self.run.json {
            self.text.push_str(&text);
        } else {
            exit::put(&text);
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
            None => exit::put(text),
        }
    }

    fn end_line(&mut self) {
        if self.in_line {
            self.write("\n");
        }
    }

    fn aside(&self, line: &str) {
        if !self.run.json {
            exit::complain(line);
        }
    }

    /// The last line of `--json`.
    fn finish(&mut self, exit: Exit) {
        self.let_go();
        if self.run.json {
            let usage = self.state.usage;
            let mut result = serde_json::json!({
                "result": {
                    "outcome": exit.word(),
                    "exit_code": exit.code(),
                    "session": self.session.as_ref().map(SessionId::as_str),
                    "text": self.text,
                }
            });
            if let Some(why) = self.failure.as_deref().or(self.unfinished) {
                result["result"]["error"] = why.into();
            }
            // Nobody knows what a runtime used that did not tell.
            if usage != Usage::default() {
                let mut told = serde_json::json!({ "input": usage.input, "output": usage.output, "cost_micros": usage.cost_micros });
                if usage.rough {
                    told["estimated"] = true.into();
                }
                result["result"]["usage"] = told;
            }
            exit::say(&result.to_string());
        }
    }
}
