//! One session as its UI hears it: events of the domain become events of the wire, numbered from 0.
//!
//! What lemon calls a turn is a step here. The wire's turn opens with our turn, before the person's message, and then with each further
//! step. After a gap only what was missed is said.

use super::super::lower;
use super::super::wire::Frame;
use super::super::wire::event::{Compaction, Event, EventLine};
use super::super::wire::message::{AssistantMessage, Message};
use super::stream::{Draft, Output};
use domain::content::{Json, Part, Role, TextKind, Usage};
use domain::event::{Body, ContextEvent, Finish, Outcome, RunEvent};
use domain::ids::{EntryId, MessageId, Millis, RunId, SessionId, StepId, ToolRunId};
use domain::session::ModelRef;
use domain::state::{EntryKind, State};
use domain::tool::{ToolOutcome, ToolResult};
use rolekit::narrator::{CUT_LINE, Came, Narration, Narrator};
use rolekit::session_name;
use roles::{Item, RuntimeCx};
use std::collections::{BTreeMap, BTreeSet};

/// Most text of messages that `agent_end` and `turn_end` repeat; the oldest are left out. Clients know them already.
const MAX_REPEATED: usize = 40_000;

/// What one session's UI has heard.
#[derive(Debug)]
pub(super) struct Telling {
    session: SessionId,
    /// What the wire calls it.
    name: String,
    next_seq: u64,
    /// The run under way.
    narrator: Option<Narrator>,
    last_run: Option<RunId>,
    model: Option<ModelRef>,
    /// Whether the wire's turn is open.
    turn_open: bool,
    /// The turn ended without a word of the model: why is told with the end of the run.
    turn_over: bool,
    drafts: BTreeMap<MessageId, Draft>,
    /// Messages that the wire was told the end of because a tool of theirs began; what still comes of them is another message there.
    cut: BTreeSet<MessageId>,
    running: BTreeMap<ToolRunId, Output>,
    last_entry: Option<EntryId>,
    /// A finished message that waits for what its step used.
    held: Option<(Draft, Finish)>,
    /// What steps with tools used: their messages were gone before it was known.
    owed: Usage,
    /// Why the run is being stopped, if not by an abort.
    pub(super) stop_word: Option<&'static str>,
}

impl Telling {
    pub(super) fn new(session: SessionId) -> Telling {
        Telling {
            name: session_name::write(&session),
            session,
            next_seq: 0,
            narrator: None,
            last_run: None,
            model: None,
            turn_open: false,
            turn_over: false,
            drafts: BTreeMap::new(),
            cut: BTreeSet::new(),
            running: BTreeMap::new(),
            last_entry: None,
            held: None,
            owed: Usage::default(),
            stop_word: None,
        }
    }

    /// The same session before anything was told; its events go on being counted.
    pub(super) fn anew(&self) -> Telling {
        Telling { next_seq: self.next_seq, ..Telling::new(self.session.clone()) }
    }

    /// Whether a run is under way, as far as the UI was told.
    pub(super) fn is_running(&self) -> bool {
        self.narrator.is_some()
    }

    /// The name of a tool that runs.
    pub(super) fn running_tool(&self) -> Option<&str> {
        self.running.values().next_back().map(|output| output.name.as_str())
    }

    /// Tells what the UI has missed of the run that it was being told, and of those that began since.
    pub(super) fn catch_up(&mut self, cx: &mut RuntimeCx<'_>, state: &State) {
        let from = self.narrator.as_ref().map(Narrator::run).or_else(|| match self.last_run {
            Some(last) => state.runs.iter().map(|run| run.id).find(|run| *run > last),
            None => state.open_run().map(|run| run.id),
        });
        let Some(from) = from else { return };
        self.drafts.values_mut().for_each(Draft::say_again);
        for run in state.runs.iter().map(|run| run.id).filter(|run| *run >= from) {
            let told = self.narrator.as_ref().filter(|narrator| narrator.run() == run);
            let missed = told.map_or_else(|| Narrator::new(run).missed(state), |told| told.missed(state));
            for (at, body) in missed {
                self.hear(cx, state, at, &body);
            }
        }
        self.release(cx, None);
    }

    /// The session was there before: what it holds counts as told.
    pub(super) fn skip_past(&mut self, state: &State) {
        self.last_run = state.runs.iter().rev().find(|run| run.ended.is_some()).map(|run| run.id);
        self.last_entry = state.entries.keys().next_back().copied();
    }

    /// Something happened, or is told again.
    pub(super) fn hear(&mut self, cx: &mut RuntimeCx<'_>, state: &State, at: Millis, body: &Body) {
        if !matches!(
            body,
            Body::Run(RunEvent::StepEnded { .. }) | Body::Context(ContextEvent::Measured { .. })
        ) {
            self.release(cx, None);
        }
        match body {
            Body::Run(RunEvent::Started { run })
                if self.narrator.is_none() && self.last_run.is_none_or(|last| *run > last) =>
            {
                self.narrator = Some(Narrator::new(*run));
            }
            Body::Context(ContextEvent::Compacted { entry, compaction, .. })
                if self.last_entry.is_none_or(|last| last < *entry) =>
            {
                self.last_entry = Some(*entry);
                let compaction = Compaction {
                    summary: compaction.summary.as_str().into(),
                    first_kept_entry_id: compaction.first_kept.map(|kept| kept.to_string()),
                    tokens_before: compaction.tokens_before,
                };
                self.say(cx, Event::CompactionComplete((compaction,)));
            }
            _ => {}
        }
        let told = self.narrator.as_mut().map(|narrator| narrator.hear(at, body));
        for told in told.into_iter().flatten() {
            self.tell(cx, state, at, told);
        }
        self.flush(cx);
    }

    fn tell(&mut self, cx: &mut RuntimeCx<'_>, state: &State, at: Millis, told: Narration<'_>) {
        match told {
            Narration::RunStarted => self.say(cx, Event::AgentStart([])),
            Narration::RunEnded { outcome, .. } => self.run_ended(cx, state, outcome),
            Narration::TurnStarted => self.open_turn(cx),
            Narration::TurnEnded => self.turn_over = self.turn_open,
            Narration::StepStarted { model, .. } => {
                self.model = model.cloned().or_else(|| state.settings.model.clone());
                self.open_turn(cx);
            }
            Narration::StepEnded { step, usage, .. } => self.step_ended(cx, state, step, usage),
            Narration::MessageStarted { message, role: Role::Assistant } => {
                self.message_started(cx, message, at);
            }
            Narration::Prompt { parts, began } => {
                // The person's message is whole before the model is asked, so it is said whole.
                self.say_whole(cx, lower::user_message(&parts, began));
            }
            // This wire says it with the end of the message.
            Narration::Text { text: CUT_LINE, .. } => {}
            Narration::Text { message, text, came, .. } => {
                self.text(cx, at, message, (TextKind::Text, text), came);
            }
            Narration::Thought { message, text, came } => {
                self.text(cx, at, message, (TextKind::Thought, text), came);
            }
            Narration::Block { message, part, .. } => {
                if let Some(draft) = self.draft(cx, at, message) {
                    draft.part(part);
                }
            }
            Narration::Call { tool, message, name, args } => {
                if let Some(draft) = self.draft(cx, at, message) {
                    draft.tool(tool, name, args);
                }
            }
            Narration::MessageEnded { message, role: Role::Assistant, finish } => {
                self.message_ended(cx, message, finish);
            }
            Narration::MessageEnded { role: Role::System, .. } => {
                cx.loss(Item::MessageText, "a message of the program itself");
            }
            Narration::CallStarted { tool } => {
                let call = self.narrator.as_ref().and_then(|narrator| narrator.call(tool));
                if let Some((name, args)) = call.map(|call| (call.name.clone(), call.args.clone())) {
                    self.tool_started(cx, tool, name, args);
                }
            }
            Narration::CallProgress { tool, progress, .. } => {
                if let Some(output) = self.running.get_mut(&tool) {
                    output.take(progress);
                }
            }
            Narration::CallResult { tool, call, outcome, result } => {
                if call.started_at.is_none() && *outcome == ToolOutcome::Cancelled {
                    // It was passed over with its run, perhaps in the middle of its question: nothing of it was carried out.
                    return;
                }
                if call.started_at.is_none() {
                    // A tool that never ran still has both ends here: clients know tools only by their start.
                    self.tool_started(cx, tool, call.name, call.args);
                }
                self.tool_ended(cx, state, tool, outcome, result);
            }
            Narration::MessageStarted { .. }
            | Narration::MessageEnded { role: Role::User, .. }
            | Narration::Whole(_) => {}
        }
    }

    fn text(
        &mut self,
        cx: &mut RuntimeCx<'_>,
        at: Millis,
        message: MessageId,
        (kind, text): (TextKind, &str),
        came: Came<'_>,
    ) {
        let Some(draft) = self.draft(cx, at, message) else { return };
        match came {
            Came::InPieces => draft.text(kind, text),
            Came::AtOnce(part) => draft.part(part),
        }
    }

    /// Says what is due of what is being written; gives the time of the next.
    pub(super) fn flush(&mut self, cx: &mut RuntimeCx<'_>) -> Option<Millis> {
        let due = |due: Option<Millis>, now: Millis| due.is_some_and(|due| due <= now);
        let drafts: Vec<MessageId> =
            self.drafts.iter().filter(|(_, draft)| due(draft.due(), cx.now)).map(|(id, _)| *id).collect();
        for id in drafts {
            self.update(cx, id);
        }
        let outputs: Vec<ToolRunId> =
            self.running.iter().filter(|(_, output)| due(output.due(), cx.now)).map(|(id, _)| *id).collect();
        for id in outputs {
            self.tool_update(cx, id);
        }
        let drafts = self.drafts.values().filter_map(Draft::due);
        drafts.chain(self.running.values().filter_map(Output::due)).min()
    }

    /// A finished message that waits for its tokens, for a timer that ends the wait.
    pub(super) fn is_holding(&self) -> bool {
        self.held.is_some()
    }

    /// Says the finished message that waits, with what its step used if that is known.
    pub(super) fn release(&mut self, cx: &mut RuntimeCx<'_>, usage: Option<Usage>) {
        let Some((draft, finish)) = self.held.take() else { return };
        let owed = std::mem::take(&mut self.owed);
        let usage = match usage {
            Some(usage) => Some(usage.plus(owed)),
            None => (owed != Usage::default()).then_some(owed),
        };
        let message = Message::Assistant(draft.message(Some(&finish), usage));
        self.say(cx, Event::MessageEnd((Box::new(message),)));
    }

    /// Sends an event of the session.
    pub(super) fn say(&mut self, cx: &mut RuntimeCx<'_>, event: Event<'_>) {
        cx.send(event_line(Some(&self.name), Some(self.next_seq), event));
        self.next_seq += 1;
    }

    /// A message that is not told piece by piece: its start and its end.
    pub(super) fn say_whole(&mut self, cx: &mut RuntimeCx<'_>, message: Message<'_>) {
        self.say(cx, Event::MessageStart((Box::new(message.clone()),)));
        self.say(cx, Event::MessageEnd((Box::new(message),)));
    }

    fn open_turn(&mut self, cx: &mut RuntimeCx<'_>) {
        if self.turn_over {
            self.close_silent_turn(cx, &Outcome::Cancelled);
        }
        if !std::mem::replace(&mut self.turn_open, true) {
            self.say(cx, Event::TurnStart([]));
        }
    }

    fn close_turn(&mut self, cx: &mut RuntimeCx<'_>, message: Message<'_>, results: Vec<Message<'_>>) {
        self.turn_over = false;
        if !std::mem::replace(&mut self.turn_open, false) {
            return;
        }
        let results = newest(results, lower::MAX_LINE.saturating_sub(written(&message)));
        self.say(cx, Event::TurnEnd(Box::new(message), results));
    }

    /// A turn in which the model said nothing has a message all the same: it says how that came.
    fn close_silent_turn(&mut self, cx: &mut RuntimeCx<'_>, outcome: &Outcome) {
        let why = failed(outcome);
        let finish = if why.is_some() { Finish::Failed } else { Finish::Interrupted };
        let model = self.model.clone();
        let message = lower::assistant_message(Vec::new(), model.as_ref(), Some(&finish), None, cx.now);
        let message = AssistantMessage { error_message: why.map(Into::into), ..message };
        self.close_turn(cx, Message::Assistant(message), Vec::new());
    }

    fn step_ended(&mut self, cx: &mut RuntimeCx<'_>, state: &State, step: StepId, usage: Usage) {
        if self.is_holding() {
            self.release(cx, Some(usage));
        } else {
            self.owed = self.owed.plus(usage);
        }
        let newest = state.entries.values().rev().filter_map(|entry| state.message(MessageId(entry.id.0)));
        let mut of_run = newest.take_while(|message| message.run.is_none_or(|run| Some(run) >= self.run()));
        let message = of_run.find(|message| message.step == Some(step));
        let results = message.into_iter().flat_map(|message| message.tools());
        let results =
            results.filter_map(|id| state.tool(id)).filter_map(lower::tool_message).map(Message::Tool);
        let results = results.collect();
        match message.and_then(|message| whole_message(state, message.id)) {
            Some(message) => self.close_turn(cx, message, results),
            None => self.turn_over = self.turn_open,
        }
    }

    fn run(&self) -> Option<RunId> {
        self.narrator.as_ref().map(Narrator::run)
    }

    fn message_started(&mut self, cx: &mut RuntimeCx<'_>, id: MessageId, at: Millis) {
        let draft = Draft::new(at, self.model.clone());
        let message = Message::Assistant(draft.message(None, None));
        self.say(cx, Event::MessageStart((Box::new(message),)));
        self.drafts.insert(id, draft);
    }

    /// The message as far as it is written; what comes of one that was cut begins another.
    fn draft(&mut self, cx: &mut RuntimeCx<'_>, at: Millis, id: MessageId) -> Option<&mut Draft> {
        if !self.drafts.contains_key(&id) && self.cut.contains(&id) {
            self.message_started(cx, id, at);
        }
        self.drafts.get_mut(&id)
    }

    /// The messages that are being written end here: on this wire a message ends before its tools start. Other wires let it go on.
    fn cut_messages(&mut self, cx: &mut RuntimeCx<'_>) {
        let open: Vec<MessageId> = self.drafts.keys().copied().collect();
        for id in open {
            self.message_ended(cx, id, &Finish::Complete);
            self.release(cx, None);
            self.cut.insert(id);
        }
    }

    fn update(&mut self, cx: &mut RuntimeCx<'_>, id: MessageId) {
        let Some(mut draft) = self.drafts.remove(&id) else { return };
        let message = Message::Assistant(draft.message(None, None));
        self.say(cx, Event::MessageUpdate(Box::new(message), draft.change()));
        draft.said(cx.now);
        self.drafts.insert(id, draft);
    }

    fn message_ended(&mut self, cx: &mut RuntimeCx<'_>, id: MessageId, finish: &Finish) {
        if self.drafts.get(&id).is_some_and(|draft| draft.due().is_some()) {
            self.update(cx, id);
        }
        let Some(draft) = self.drafts.remove(&id) else { return };
        let waits = !draft.has_tools();
        self.held = Some((draft, finish.clone()));
        if !waits {
            self.release(cx, None);
        }
    }

    fn tool_started(&mut self, cx: &mut RuntimeCx<'_>, id: ToolRunId, name: String, args: Json) {
        self.cut_messages(cx);
        let output = Output::new(name, args);
        let (name, args) = (output.name.as_str().into(), Some(lower::arguments(&output.args)));
        self.say(cx, Event::ToolExecutionStart(id.to_string(), name, args));
        self.running.insert(id, output);
    }

    fn tool_update(&mut self, cx: &mut RuntimeCx<'_>, id: ToolRunId) {
        let Some(mut output) = self.running.remove(&id) else { return };
        let (name, args) = (output.name.as_str().into(), Some(lower::arguments(&output.args)));
        self.say(cx, Event::ToolExecutionUpdate(id.to_string(), name, args, output.partial()));
        output.said(cx.now);
        self.running.insert(id, output);
    }

    fn tool_ended(
        &mut self,
        cx: &mut RuntimeCx<'_>,
        state: &State,
        id: ToolRunId,
        outcome: &ToolOutcome,
        result: &ToolResult,
    ) {
        let Some(output) = self.running.remove(&id) else { return };
        let (name, result) = (output.name.as_str().into(), lower::tool_result(result));
        let failed = lower::is_error(outcome);
        self.say(cx, Event::ToolExecutionEnd(id.to_string(), name, result, failed));
        if let Some(message) = state.tool(id).and_then(lower::tool_message) {
            self.say_whole(cx, Message::Tool(message));
        }
    }

    fn run_ended(&mut self, cx: &mut RuntimeCx<'_>, state: &State, outcome: &Outcome) {
        let Some(run) = self.narrator.take().map(|narrator| narrator.run()) else { return };
        self.close_silent_turn(cx, outcome);
        let stop_word = self.stop_word.take();
        match (failed(outcome), outcome) {
            (Some(why), _) => self.say(cx, Event::Error(why.into(), ())),
            (None, Outcome::Cancelled) => {
                let word = stop_word.unwrap_or("assistant_aborted");
                self.say(cx, Event::Canceled((word.into(),)));
            }
            (None, _) => {}
        }
        // Always, also after an abort and after an error: without it no client takes another prompt.
        self.say(cx, Event::AgentEnd((newest(run_messages(state, run), lower::MAX_LINE),)));
        (self.last_run, self.owed) = (Some(run), Usage::default());
        self.last_entry = state.entries.keys().next_back().copied();
        self.drafts.clear();
        self.cut.clear();
        self.running.clear();
    }
}

/// Why a run failed, in words; `None` for one that did not.
fn failed(outcome: &Outcome) -> Option<String> {
    match outcome {
        Outcome::Failed(failure) => Some(match &failure.hint {
            Some(hint) => format!("{} ({hint})", failure.message),
            None => failure.message.clone(),
        }),
        Outcome::Interrupted | Outcome::Lost => {
            Some("the runtime was interrupted in the middle of the run".to_owned())
        }
        Outcome::Done | Outcome::Cancelled => None,
    }
}

/// Wraps an event in the frame that carries it.
pub(super) fn event_line(session: Option<&str>, seq: Option<u64>, event: Event<'_>) -> String {
    let session_id = session.map(Into::into);
    Frame::Event(EventLine { session_id, event_seq: seq, event }).line()
}

/// A finished message as the state has it, with what its step used.
pub(super) fn whole_message(state: &State, id: MessageId) -> Option<Message<'_>> {
    let at = state.entries.get(&id.into())?.at;
    let message = state.message(id)?;
    match message.role {
        Role::User => Some(lower::user_message(&message.parts, at)),
        Role::Assistant => {
            let steps = message.run.and_then(|run| state.run(run)).into_iter().flat_map(|run| &run.turns);
            let step = steps.flat_map(|turn| &turn.steps).find(|step| Some(step.id) == message.step);
            let tool = |id| state.tool(id).map(|tool| (tool.name.as_str(), &tool.args));
            let content = lower::blocks(&message.parts, tool);
            let model = step.and_then(|step| step.model.as_ref()).or(state.settings.model.as_ref());
            let (finish, usage) = (message.finish.as_ref(), step.and_then(|step| step.usage));
            Some(Message::Assistant(lower::assistant_message(content, model, finish, usage, at)))
        }
        Role::System => None,
    }
}

/// The newest messages of a run, tools' results after the message that called them.
fn run_messages(state: &State, run: RunId) -> Vec<Message<'_>> {
    let mut size = 0;
    let mut newest_first = Vec::new();
    for entry in state.entries.values().rev() {
        let EntryKind::Message(message) = &entry.kind else { continue };
        if message.run.is_some_and(|of| of < run) {
            break;
        }
        if message.run != Some(run) {
            continue;
        }
        let tools: Vec<_> = message.tools().filter_map(|id| state.tool(id)).collect();
        let results = tools.iter().filter_map(|tool| tool.result.as_ref());
        let parts = message.parts.iter().chain(results.clone().flat_map(|result| &result.parts));
        size += parts.map(weight).sum::<usize>() + results.map(|result| result.text.len()).sum::<usize>();
        if size > MAX_REPEATED {
            break;
        }
        newest_first.extend(tools.into_iter().rev().filter_map(lower::tool_message).map(Message::Tool));
        newest_first.extend(whole_message(state, message.id));
    }
    newest_first.reverse();
    newest_first
}

/// The newest messages that fit into what is left of a line.
fn newest(mut messages: Vec<Message<'_>>, mut room: usize) -> Vec<Message<'_>> {
    let fits = messages.iter().rev().take_while(|message| {
        let size = written(message);
        let fits = size <= room;
        room = room.saturating_sub(size);
        fits
    });
    messages.split_off(messages.len() - fits.count())
}

/// How long a message is on the wire.
fn written(message: &Message<'_>) -> usize {
    serde_json::to_string(message).map_or(usize::MAX, |text| text.len() + 1)
}

/// About how long a part is on the wire.
pub(super) fn weight(part: &Part) -> usize {
    match part {
        Part::Text(text) | Part::Thought { text, .. } | Part::Code { text, .. } | Part::Diff { text, .. } => {
            text.len()
        }
        Part::Image { base64, .. } => base64.len(),
        Part::Opaque { json, .. } => json.as_str().len(),
        Part::Tool(_) => 64,
    }
}
