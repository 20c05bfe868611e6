//! One run as it is heard: updates in, what was said in our words out.
//!
//! The wire tells chunks and calls, not messages and steps. A message ends when another begins, when the other side speaks, or with its
//! run; a step ends when the model speaks after its calls. Invariant: an update of a kind that we do not know is kept, up to a bound.

use super::super::blocks;
use super::super::wire::{
    CompactionStatus, ContentBlock, ContentChunk, Notice, PlanStatus, Raw, RunNote, SessionInfoUpdate,
    SessionNotification, SessionUpdate, Severity, UsageUpdate,
};
use super::calls::Tool;
use super::{ASK_GRACE, AcpUi, CALL_RUNS, QUIET, QUIET_AFTER, QUIET_CALL, STOPPED};
use domain::content::{Input, Json, Part, Role, TextKind, Usage};
use domain::event::{Compaction, Failure, Finish, Outcome, PlanItem, PlanState, Trigger};
use domain::fact::{Fact, Key, Said};
use domain::signal::{Level, Signal};
use rolekit::listener::Listener;
use roles::{Drift, UiCx};

/// Updates of unknown kinds that one run keeps; more are only counted.
const MAX_UNKNOWN: usize = 16;
/// Longest unknown update that is kept.
const MAX_UNKNOWN_BYTES: usize = 64 * 1024;

/// Who speaks in the open message.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Speaking {
    role: Role,
    message: Option<Key>,
}

/// A run under way, or told again.
#[derive(Debug)]
pub(super) struct Hearing {
    pub(super) listener: Listener<Tool>,
    /// It is told again, not under way.
    pub(super) past: bool,
    /// The agent says when it ends.
    pub(super) told_end: bool,
    /// The person stopped it.
    pub(super) stopped: bool,
    /// It is silent, and a call of it has no end.
    waits: bool,
    speaking: Option<Speaking>,
    /// What the person said, which some agents repeat.
    echo: Option<String>,
    unknown: usize,
    pub(super) wants_timer: bool,
}

impl Hearing {
    pub(super) fn new(key: Key, past: bool) -> Hearing {
        Hearing {
            listener: Listener::new(key),
            past,
            told_end: false,
            stopped: false,
            waits: false,
            speaking: None,
            echo: None,
            unknown: 0,
            wants_timer: false,
        }
    }

    /// The name of the run.
    pub(super) fn key(&self) -> &Key {
        self.listener.run()
    }

    /// Whether the model is in the middle of an answer.
    pub(super) fn answers(&self) -> bool {
        self.speaking.as_ref().is_some_and(|open| open.role == Role::Assistant)
    }

    /// What the person said: the wire does not say it again, or should not.
    pub(super) fn prompt(&mut self, cx: &mut UiCx<'_>, input: &Input) {
        self.echo = Some(input.text.clone());
        self.listener.input(cx, input);
    }

    /// The model says or wants something: after its calls that is another step.
    pub(super) fn model_speaks(&mut self, cx: &mut UiCx<'_>) {
        if self.speaking.as_ref().is_some_and(|speaking| speaking.role == Role::User) {
            self.message_over(cx);
        }
        if self.listener.model_speaks(cx) {
            self.speaking = None;
        }
    }

    fn message_over(&mut self, cx: &mut UiCx<'_>) {
        if let Some(Speaking { message, .. }) = self.speaking.take() {
            self.listener.say(cx, Said::MessageEnded { message, finish: Finish::Complete });
        }
    }

    fn model_chunk(&mut self, cx: &mut UiCx<'_>, kind: TextKind, chunk: ContentChunk) {
        self.echo = None;
        self.model_speaks(cx);
        let message: Option<Key> = chunk.message_id.map(Key::from);
        let speaking = Speaking { role: Role::Assistant, message: message.clone() };
        if self.speaking.as_ref().is_some_and(|open| *open != speaking) {
            self.message_over(cx);
        }
        self.speaking = Some(speaking);
        match (chunk.content, kind) {
            (ContentBlock::Text(text), kind) => {
                self.listener.say(cx, Said::Text { message, kind, text: text.text });
            }
            (block, _) => self.listener.say(cx, Said::Part { message, part: blocks::lift_block(block) }),
        }
    }

    fn person_chunk(&mut self, cx: &mut UiCx<'_>, chunk: ContentChunk) {
        if let (Some(echo), ContentBlock::Text(text)) = (&self.echo, &chunk.content)
            && echo.contains(text.text.trim())
        {
            return;
        }
        let message: Option<Key> = chunk.message_id.map(Key::from);
        let speaking = Speaking { role: Role::User, message: message.clone() };
        if self.speaking.as_ref() != Some(&speaking) {
            self.message_over(cx);
            self.listener.say(cx, Said::MessageStarted { message: message.clone(), role: Role::User });
            self.speaking = Some(speaking);
        }
        self.listener.say(cx, Said::Part { message, part: blocks::lift_block(chunk.content) });
    }

    fn unknown(&mut self, cx: &mut UiCx<'_>, kind: String, raw: &Raw) {
        self.unknown += 1;
        if self.unknown <= MAX_UNKNOWN && raw.text().len() <= MAX_UNKNOWN_BYTES {
            let part = Part::Opaque { kind, json: Json::verbatim(raw.text()) };
            self.listener.say(cx, Said::Part { message: None, part });
        }
    }

    /// The run is over; nothing of it is said after.
    pub(super) fn end(mut self, cx: &mut UiCx<'_>, outcome: Outcome, finish: Finish) {
        self.end_calls(cx, self.stopped || outcome == Outcome::Cancelled);
        if let Some(Speaking { message, .. }) = self.speaking.take() {
            self.listener.say(cx, Said::MessageEnded { message, finish });
        }
        self.listener.end(cx, outcome);
    }
}

impl AcpUi {
    /// Says something about the session, in the run under way if there is one.
    fn say(&self, cx: &mut UiCx<'_>, said: Said) {
        match &self.run {
            Some(run) => run.listener.say(cx, said),
            None => cx.fact(Fact::new(said)),
        }
    }

    /// Something about a session; others than ours go on without us, and are read when they are opened.
    pub(super) fn update(&mut self, cx: &mut UiCx<'_>, params: SessionNotification) {
        let SessionNotification { session_id, update, .. } = params;
        let loads = self.loading.as_ref() == Some(&session_id);
        // Before its first session is named, whatever is told is told of that.
        if !loads && self.session.as_ref().is_some_and(|shown| *shown != session_id) {
            return cx.log(format!("ignored: an update of session {session_id}, which is not shown"));
        }
        let of_past = loads && self.loading.is_some();
        if is_work(&update) {
            self.prompt_taken(cx);
        }
        match update {
            SessionUpdate::UserMessage(chunk) => self.person(cx, chunk, of_past),
            SessionUpdate::AgentMessage(chunk) => self.model(cx, TextKind::Text, chunk, of_past),
            SessionUpdate::AgentThought(chunk) => self.model(cx, TextKind::Thought, chunk, of_past),
            SessionUpdate::ToolCall(call) => self.call(cx, (*call).into(), true, of_past),
            SessionUpdate::ToolCallUpdate(update) => self.call(cx, *update, false, of_past),
            SessionUpdate::Plan(plan) => {
                let item = |entry: super::super::wire::PlanEntry| PlanItem {
                    text: entry.content,
                    state: match entry.status {
                        PlanStatus::InProgress => PlanState::Active,
                        PlanStatus::Completed => PlanState::Done,
                        PlanStatus::Pending | PlanStatus::Other(_) => PlanState::Pending,
                    },
                };
                self.say(cx, Said::Plan(plan.entries.into_iter().map(item).collect()));
            }
            SessionUpdate::AvailableCommands(commands) => {
                self.options.learn_commands(commands.available_commands);
            }
            SessionUpdate::CurrentMode(mode) => self.learn_mode(cx, mode.current_mode_id),
            SessionUpdate::ConfigOptions(options) => self.learn_options(cx, options.config_options),
            SessionUpdate::SessionInfo(info) => self.info(cx, info),
            SessionUpdate::Usage(usage) => self.usage(cx, &usage),
            SessionUpdate::Notice(notice) => self.say(cx, lift_notice(notice)),
            SessionUpdate::Compaction(compaction) => {
                let blocks = compaction.summary.unwrap_or_default();
                self.compaction(cx, &compaction.status, blocks, compaction.error);
            }
            SessionUpdate::CompactionSummary(_) => {}
            SessionUpdate::Unknown(raw) => self.unknown(cx, &raw, of_past),
        }
    }

    /// The run that something is heard of: the prompt's, one of the past, or what the agent does by itself.
    fn hear(&mut self, cx: &mut UiCx<'_>, past: bool) -> &mut Hearing {
        if self.run.as_ref().is_some_and(|run| run.past != past && !run.told_end) {
            self.end_run(cx, Outcome::Done);
        }
        let mut run = self.run.take().unwrap_or_else(|| {
            self.runs += 1;
            let word = if past { "past" } else { "own" };
            let key = Key::from(format!("{word}-{}", self.runs));
            cx.fact(Fact::of(key.clone(), Said::RunStarted));
            Hearing::new(key, past)
        });
        if !past && self.prompt.is_none() && !run.told_end {
            run.waits = false;
            cx.timer(QUIET, QUIET_AFTER);
        }
        self.run.insert(run)
    }

    /// What an agent does by itself is over when it is silent, unless it waits for an answer or for a call.
    pub(super) fn quiet(&mut self, cx: &mut UiCx<'_>) {
        let Some(run) = self.run.as_mut().filter(|run| !run.told_end) else { return };
        if run.stopped {
            return self.end_run_with(cx, Outcome::Cancelled, Finish::Interrupted);
        }
        if !self.asks.is_empty() {
            return cx.timer(QUIET, QUIET_AFTER);
        }
        if !run.waits && run.listener.open().next().is_some() {
            run.waits = true;
            return cx.timer(QUIET, QUIET_CALL);
        }
        self.end_run(cx, Outcome::Done);
    }

    fn model(&mut self, cx: &mut UiCx<'_>, kind: TextKind, chunk: ContentChunk, past: bool) {
        self.hear(cx, past).model_chunk(cx, kind, chunk);
    }

    /// What the person said: in the past each time a run of its own.
    fn person(&mut self, cx: &mut UiCx<'_>, chunk: ContentChunk, past: bool) {
        let key: Option<Key> = chunk.message_id.as_deref().map(Key::from);
        let goes_on = self.run.as_ref().is_some_and(|run| {
            run.speaking.as_ref().is_some_and(|open| open.role == Role::User && open.message == key)
        });
        if past && !goes_on {
            self.end_run(cx, Outcome::Done);
        }
        self.hear(cx, past).person_chunk(cx, chunk);
    }

    fn call(
        &mut self,
        cx: &mut UiCx<'_>,
        update: super::super::wire::ToolCallUpdate,
        first: bool,
        past: bool,
    ) {
        // What still comes for a call of a prompt that is answered begins nothing.
        if !first && self.run.is_none() && !past {
            return;
        }
        let run = self.hear(cx, past);
        run.call(cx, update, first);
        if std::mem::take(&mut run.wants_timer) {
            cx.timer(CALL_RUNS, ASK_GRACE);
        }
    }

    fn info(&mut self, cx: &mut UiCx<'_>, info: SessionInfoUpdate) {
        if let Some(Some(title)) = info.title {
            cx.signal(Signal::Title(title.clone()));
            self.say(cx, Said::Title(title));
        }
        if let Some(note) = info.meta.and_then(|meta| meta.parlor?.run) {
            self.run_note(cx, note);
        }
    }

    /// A run that no prompt of ours began.
    fn run_note(&mut self, cx: &mut UiCx<'_>, note: RunNote) {
        let outcome = match note.state.as_str() {
            "started" => {
                if self.prompt.is_none() {
                    self.end_run(cx, Outcome::Done);
                    let key = Key::from(note.id);
                    cx.fact(Fact::of(key.clone(), Said::RunStarted));
                    self.run = Some(Hearing { told_end: true, ..Hearing::new(key, false) });
                }
                return;
            }
            "cancelled" => Outcome::Cancelled,
            "interrupted" => Outcome::Interrupted,
            "lost" => Outcome::Lost,
            "failed" => {
                let why = note.message.unwrap_or_else(|| "the agent gave no reason".to_owned());
                Outcome::Failed(Failure::new("agent", why))
            }
            _ => Outcome::Done,
        };
        if self.prompt.is_none() {
            self.end_run(cx, outcome);
        }
    }

    /// Ends what is being heard. Whatever the agent asked about it is answered with a no.
    pub(super) fn end_run(&mut self, cx: &mut UiCx<'_>, outcome: Outcome) {
        self.end_run_with(cx, outcome, Finish::Complete);
    }

    /// The same, with how its last message ended.
    pub(super) fn end_run_with(&mut self, cx: &mut UiCx<'_>, outcome: Outcome, finish: Finish) {
        let Some(run) = self.run.take() else { return };
        let (past, stopped) = (run.past, run.stopped || outcome == Outcome::Cancelled);
        if run.stopped {
            cx.cancel_timer(STOPPED);
        }
        if !past {
            // Before its end: what is ended for us is not shown as done.
            self.run_left(cx, stopped);
            self.watched_over(cx);
        }
        run.end(cx, outcome, finish);
        if !past {
            self.cancel_asks(cx);
        }
    }

    fn usage(&mut self, cx: &mut UiCx<'_>, usage: &UsageUpdate) {
        self.say(cx, Said::Context { used: usage.used, window: usage.size });
        let dollars = usage.cost.as_ref().filter(|cost| cost.currency == "USD").map(|cost| cost.amount);
        if let Some(dollars) = dollars.filter(|dollars| dollars.is_finite() && *dollars >= 0.0) {
            self.cost.0 = (dollars * 1e6).round() as u64;
        }
    }

    /// What was spent since it was last counted.
    pub(super) fn spent(&mut self) -> Usage {
        let cost_micros = self.cost.0.saturating_sub(self.cost.1);
        self.cost.1 = self.cost.0;
        Usage { cost_micros, ..Usage::default() }
    }

    fn compaction(
        &mut self,
        cx: &mut UiCx<'_>,
        status: &CompactionStatus,
        summary: Vec<ContentBlock>,
        error: Option<String>,
    ) {
        if *status == CompactionStatus::InProgress {
            return cx.signal(Signal::Working(Some("compacting the conversation".to_owned())));
        }
        cx.signal(Signal::Working(None));
        if *status != CompactionStatus::Completed {
            let text =
                error.unwrap_or_else(|| format!("the conversation was not compacted: {}", status.word()));
            return self.say(cx, Said::Notice { level: Level::Warning, code: "compaction".to_owned(), text });
        }
        let text = |block: ContentBlock| match blocks::lift_block(block) {
            Part::Text(text) => text,
            _ => String::new(),
        };
        let summary = summary.into_iter().map(text).collect::<Vec<_>>().join("\n");
        self.say(
            cx,
            Said::Compacted(Compaction {
                summary,
                first_kept: None,
                tokens_before: 0,
                trigger: Trigger::Threshold,
                unexplained: true,
                usage: Usage::default(),
            }),
        );
    }

    /// An update that we do not know, or cannot read: counted, kept and shown.
    fn unknown(&mut self, cx: &mut UiCx<'_>, raw: &Raw, past: bool) {
        let kind = raw.word("sessionUpdate").unwrap_or_default();
        cx.drift(Drift::new(
            "session/update",
            format!("an update {kind:?} that we do not know or cannot read"),
            raw.text(),
        ));
        match &mut self.run {
            Some(run) if run.past == past => run.unknown(cx, kind, raw),
            _ => {
                let text = format!("The agent said something that this client does not know: {kind:?}");
                cx.fact(Fact::new(Said::Notice {
                    level: Level::Info,
                    code: "unknown_update".to_owned(),
                    text,
                }));
            }
        }
    }
}

/// Whether an update shows that the agent works on a prompt; others come at any time.
fn is_work(update: &SessionUpdate) -> bool {
    matches!(
        update,
        SessionUpdate::UserMessage(_)
            | SessionUpdate::AgentMessage(_)
            | SessionUpdate::AgentThought(_)
            | SessionUpdate::ToolCall(_)
            | SessionUpdate::ToolCallUpdate(_)
            | SessionUpdate::Plan(_)
    )
}

fn lift_notice(notice: Notice) -> Said {
    let level = match notice.severity {
        Severity::Info | Severity::Other(_) => Level::Info,
        Severity::Warning => Level::Warning,
        Severity::Error => Level::Error,
    };
    let text = match notice.description {
        Some(more) => format!("{}\n{more}", notice.title),
        None => notice.title,
    };
    Said::Notice { level, code: "notice".to_owned(), text }
}
