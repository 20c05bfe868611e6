//! One session as its UI hears it: events of the domain become events of the wire, numbered from 0.
//!
//! What lemon calls a turn is a step here. The wire's turn opens with our turn, before the person's message, and then with each further
//! step. Told twice, an event is said once: after a gap the whole run is told again and only what was missing is said.

use super::super::lower;
use super::super::wire::frame::{Compaction, Element, Event, Frame, Message};
use super::stream::{Draft, Output};
use domain::content::{Part, Role, Usage};
use domain::event::{Body, ContextEvent, Finish, MessageEvent, Outcome, RunEvent, ToolEvent};
use domain::ids::{EntryId, MessageId, Millis, RunId, SessionId, StepId, ToolRunId, TurnId};
use domain::session::ModelRef;
use domain::state::{EntryKind, State};
use domain::tool::{ToolOutcome, ToolResult};
use roles::{Item, RuntimeCx};
use std::collections::{BTreeMap, BTreeSet};

/// Most text of messages that `agent_end` and `turn_end` repeat; the oldest are left out. Clients know them already.
const MAX_REPEATED: usize = 40_000;

/// What one session's UI has heard.
#[derive(Debug)]
pub(super) struct Telling {
    session: SessionId,
    next_seq: u64,
    run: Option<RunId>,
    last_run: Option<RunId>,
    last_turn: Option<TurnId>,
    last_step: Option<StepId>,
    step: Option<StepId>,
    model: Option<ModelRef>,
    /// Whether the wire's turn is open.
    turn_open: bool,
    drafts: BTreeMap<MessageId, Draft>,
    /// Messages of this run that were said whole.
    ended: BTreeSet<MessageId>,
    ended_tools: BTreeSet<ToolRunId>,
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
            session,
            next_seq: 0,
            run: None,
            last_run: None,
            last_turn: None,
            last_step: None,
            step: None,
            model: None,
            turn_open: false,
            drafts: BTreeMap::new(),
            ended: BTreeSet::new(),
            ended_tools: BTreeSet::new(),
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
        self.run.is_some()
    }

    /// The name of a tool that runs.
    pub(super) fn running_tool(&self) -> Option<&str> {
        self.running.values().next_back().map(|output| output.name.as_str())
    }

    /// Tells what the UI has missed of the run that it was being told, and of those that began since.
    pub(super) fn catch_up(&mut self, cx: &mut RuntimeCx<'_>, state: &State) {
        let from = self.run.or_else(|| match self.last_run {
            Some(last) => state.runs.iter().map(|run| run.id).find(|run| *run > last),
            None => state.open_run().map(|run| run.id),
        });
        let Some(from) = from else { return };
        let replay = state.replay();
        let begins = replay.iter().position(|(_, body)| *body == Body::Run(RunEvent::Started { run: from }));
        for (at, body) in replay.iter().skip(begins.unwrap_or(replay.len())) {
            self.hear(cx, state, *at, body);
        }
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
            Body::Run(RunEvent::Started { run }) => self.run_started(cx, *run),
            Body::Run(RunEvent::Ended { run, outcome }) => self.run_ended(cx, state, *run, outcome),
            Body::Run(RunEvent::TurnStarted { turn, .. })
                if self.last_turn.is_none_or(|last| last < *turn) =>
            {
                self.last_turn = Some(*turn);
                self.open_turn(cx);
            }
            Body::Run(RunEvent::StepStarted { step, model, .. })
                if self.last_step.is_none_or(|last| last < *step) =>
            {
                (self.last_step, self.step) = (Some(*step), Some(*step));
                self.model = model.clone().or_else(|| state.settings.model.clone());
                self.open_turn(cx);
            }
            Body::Run(RunEvent::StepEnded { step, usage }) => self.step_ended(cx, state, *step, *usage),
            Body::Run(RunEvent::TurnEnded { turn }) if self.last_turn == Some(*turn) => {
                self.close_turn(cx, None, Vec::new());
            }
            Body::Message(MessageEvent::Started { message, role, .. }) => {
                self.message_started(cx, *message, *role, at);
            }
            Body::Message(MessageEvent::Delta { message, kind, text }) => {
                if let Some(draft) = self.drafts.get_mut(message) {
                    draft.text(*kind, text);
                }
            }
            Body::Message(MessageEvent::PartAdded { message, part }) => {
                if let Some(draft) = self.drafts.get_mut(message) {
                    draft.part(part);
                }
            }
            Body::Tool(ToolEvent::Proposed { tool, message, name, args }) => {
                if let Some(draft) = self.drafts.get_mut(message) {
                    draft.tool(*tool, name, args);
                }
            }
            Body::Message(MessageEvent::Ended { message, finish }) => {
                self.message_ended(cx, *message, finish);
            }
            Body::Tool(ToolEvent::Started { tool }) => self.tool_started(cx, state, *tool),
            Body::Tool(ToolEvent::Progress { tool, progress }) => {
                if let Some(output) = self.running.get_mut(tool) {
                    output.take(progress);
                }
            }
            Body::Tool(ToolEvent::Ended { tool, outcome, result }) => {
                self.tool_ended(cx, state, *tool, outcome, result);
            }
            Body::Context(ContextEvent::Compacted { entry, compaction, .. })
                if self.last_entry.is_none_or(|last| last < *entry) =>
            {
                self.last_entry = Some(*entry);
                let word = Compaction {
                    summary: &compaction.summary,
                    first_kept_entry_id: compaction.first_kept.map(|kept| kept.to_string()),
                    tokens_before: compaction.tokens_before,
                };
                self.say(cx, "compaction_complete", vec![Element::Compaction(word)]);
            }
            _ => {}
        }
        self.flush(cx);
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
        self.say(cx, "message_end", vec![Element::Message(Box::new(message))]);
    }

    pub(super) fn say(&mut self, cx: &mut RuntimeCx<'_>, kind: &'static str, data: Vec<Element<'_>>) {
        cx.send(event_line(Some(&self.session), Some(self.next_seq), kind, data));
        self.next_seq += 1;
    }

    fn run_started(&mut self, cx: &mut RuntimeCx<'_>, run: RunId) {
        if self.run == Some(run) || self.last_run.is_some_and(|last| run <= last) {
            return;
        }
        self.run = Some(run);
        self.say(cx, "agent_start", Vec::new());
    }

    fn open_turn(&mut self, cx: &mut RuntimeCx<'_>) {
        if self.run.is_some() && !std::mem::replace(&mut self.turn_open, true) {
            self.say(cx, "turn_start", Vec::new());
        }
    }

    fn close_turn(
        &mut self,
        cx: &mut RuntimeCx<'_>,
        message: Option<Message<'_>>,
        results: Vec<Message<'_>>,
    ) {
        if !std::mem::replace(&mut self.turn_open, false) {
            return;
        }
        let message = message.unwrap_or_else(|| {
            let finish = Some(&Finish::Interrupted);
            Message::Assistant(lower::assistant_message(Vec::new(), None, finish, None, cx.now))
        });
        let results = newest(results, lower::MAX_LINE.saturating_sub(written(&message)));
        self.say(cx, "turn_end", vec![Element::Message(Box::new(message)), Element::Messages(results)]);
    }

    fn step_ended(&mut self, cx: &mut RuntimeCx<'_>, state: &State, step: StepId, usage: Usage) {
        if self.step != Some(step) {
            return;
        }
        self.step = None;
        if self.is_holding() {
            self.release(cx, Some(usage));
        } else {
            self.owed = self.owed.plus(usage);
        }
        let said = self.ended.iter().rev().filter_map(|id| state.message(*id));
        let message = said.into_iter().find(|message| message.step == Some(step));
        let results = message.into_iter().flat_map(|message| message.tools());
        let results =
            results.filter_map(|id| state.tool(id)).filter_map(lower::tool_message).map(Message::Tool);
        let results = results.collect();
        let message = message.and_then(|message| whole_message(state, message.id));
        self.close_turn(cx, message, results);
    }

    fn message_started(&mut self, cx: &mut RuntimeCx<'_>, id: MessageId, role: Role, at: Millis) {
        if self.ended.contains(&id) || self.run.is_none() {
            return;
        }
        if let Some(draft) = self.drafts.get_mut(&id) {
            return draft.rewind();
        }
        let draft = Draft::new(role, at, self.model.clone());
        if role == Role::Assistant {
            let message = Message::Assistant(draft.message(None, None));
            self.say(cx, "message_start", vec![Element::Message(Box::new(message))]);
        }
        self.drafts.insert(id, draft);
    }

    fn update(&mut self, cx: &mut RuntimeCx<'_>, id: MessageId) {
        let Some(mut draft) = self.drafts.remove(&id) else { return };
        let message = Message::Assistant(draft.message(None, None));
        self.say(
            cx,
            "message_update",
            vec![Element::Message(Box::new(message)), Element::Change(draft.change())],
        );
        draft.said(cx.now);
        self.drafts.insert(id, draft);
    }

    fn message_ended(&mut self, cx: &mut RuntimeCx<'_>, id: MessageId, finish: &Finish) {
        if self.drafts.get(&id).is_some_and(|draft| draft.due().is_some()) {
            self.update(cx, id);
        }
        let Some(draft) = self.drafts.remove(&id) else { return };
        self.ended.insert(id);
        match draft.role {
            Role::User => {
                // The person's message is whole before the model is asked, so it is said whole.
                for kind in ["message_start", "message_end"] {
                    let message = lower::user_message(&draft.parts, draft.at);
                    self.say(cx, kind, vec![Element::Message(Box::new(message))]);
                }
            }
            Role::Assistant => {
                let waits = !draft.has_tools();
                self.held = Some((draft, finish.clone()));
                if !waits {
                    self.release(cx, None);
                }
            }
            Role::System => cx.loss(Item::MessageText, "a message of the program itself"),
        }
    }

    fn tool_started(&mut self, cx: &mut RuntimeCx<'_>, state: &State, id: ToolRunId) {
        if let Some(output) = self.running.get_mut(&id) {
            return output.rewind();
        }
        if self.run.is_none() || self.ended_tools.contains(&id) {
            return;
        }
        let Some(tool) = state.tool(id) else { return };
        let output = Output::new(tool.name.clone(), tool.args.clone());
        let args = lower::arguments(&output.args);
        let data = vec![
            Element::Text(id.to_string().into()),
            Element::Text(output.name.as_str().into()),
            Element::Raw(&args),
        ];
        self.say(cx, "tool_execution_start", data);
        self.running.insert(id, output);
    }

    fn tool_update(&mut self, cx: &mut RuntimeCx<'_>, id: ToolRunId) {
        let Some(mut output) = self.running.remove(&id) else { return };
        let args = lower::arguments(&output.args);
        let (id_text, name) = (id.to_string().into(), output.name.as_str().into());
        let data = vec![
            Element::Text(id_text),
            Element::Text(name),
            Element::Raw(&args),
            Element::Result(output.partial()),
        ];
        self.say(cx, "tool_execution_update", data);
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
        if self.run.is_none() || self.ended_tools.contains(&id) {
            return;
        }
        // A tool that never ran (denied, skipped) still has both ends here: clients know tools only by their start.
        self.tool_started(cx, state, id);
        let Some(output) = self.running.remove(&id) else { return };
        self.ended_tools.insert(id);
        let (id_text, name) = (id.to_string().into(), output.name.as_str().into());
        let flag = Element::Flag(lower::is_error(outcome));
        let data = vec![
            Element::Text(id_text),
            Element::Text(name),
            Element::Result(lower::tool_result(result)),
            flag,
        ];
        self.say(cx, "tool_execution_end", data);
        let Some(tool) = state.tool(id) else { return };
        for kind in ["message_start", "message_end"] {
            if let Some(message) = lower::tool_message(tool) {
                self.say(cx, kind, vec![Element::Message(Box::new(Message::Tool(message)))]);
            }
        }
    }

    fn run_ended(&mut self, cx: &mut RuntimeCx<'_>, state: &State, run: RunId, outcome: &Outcome) {
        if self.run != Some(run) {
            return;
        }
        self.close_turn(cx, None, Vec::new());
        let stop_word = self.stop_word.take();
        match outcome {
            Outcome::Done => {}
            Outcome::Failed(failure) => {
                let reason = match &failure.hint {
                    Some(hint) => format!("{} ({hint})", failure.message),
                    None => failure.message.clone(),
                };
                self.say(cx, "error", vec![Element::Text(reason.into()), Element::Null]);
            }
            Outcome::Cancelled => {
                let word = stop_word.unwrap_or("assistant_aborted");
                self.say(cx, "canceled", vec![Element::Text(word.into())]);
            }
            Outcome::Interrupted | Outcome::Lost => {
                let word = "the runtime was interrupted in the middle of the run";
                self.say(cx, "error", vec![Element::Text(word.into()), Element::Null]);
            }
        }
        // Always, also after an abort and after an error: without it no client takes another prompt.
        self.say(cx, "agent_end", vec![Element::Messages(newest(run_messages(state, run), lower::MAX_LINE))]);
        (self.run, self.last_run, self.step, self.owed) = (None, Some(run), None, Usage::default());
        self.last_entry = state.entries.keys().next_back().copied();
        self.drafts.clear();
        self.running.clear();
        self.ended.clear();
        self.ended_tools.clear();
    }
}

/// A line with an event.
pub(super) fn event_line(
    session: Option<&SessionId>,
    seq: Option<u64>,
    kind: &'static str,
    data: Vec<Element<'_>>,
) -> String {
    let session_id = session.map(SessionId::as_str);
    Frame::Event { session_id, event_seq: seq, event: Event { kind, data } }.line()
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
