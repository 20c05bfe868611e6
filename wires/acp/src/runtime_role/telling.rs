//! What one run says on this wire: what happened in, updates out.
//!
//! Text and thoughts go out piece by piece; calls with their kind, places and diffs; live output as it comes to clients that show it so,
//! else the newest of it each time, since a list of content takes the place of the one before. Used live and for the past alike.
//! Invariants: `tool_call` comes before all other words about that call; a call ends once; no terminal is named in a past.

use super::super::wire::{
    CallMeta, ContentBlock, ContentChunk, DiffContent, Meta, Own, ProgressNote, SessionUpdate,
    TerminalContent, TerminalEnd, TerminalInfo, TerminalPiece, ToolCall, ToolCallContent, ToolCallUpdate,
    ToolContent, ToolKind, ToolStatus,
};
use super::super::{blocks, patch, tool_words};
use domain::content::{Json, Part, Role};
use domain::event::{AskEvent, Body, Finish};
use domain::ids::{AskId, MessageId, Millis, RunId, ToolRunId};
use domain::state::State;
use domain::tool::{Progress, ToolOutcome, ToolResult};
use rolekit::narrator::{Came, NarratedCall, Narration, Narrator};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};

/// The newest live output that is shown of a call each time.
const OUTPUT_TAIL: usize = 8 * 1024;

/// What the client shows.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Shows {
    /// It reads what we say beside the protocol.
    pub(super) ours: bool,
    /// Live output as pieces.
    pub(super) output: bool,
}

/// A run that is being told.
#[derive(Debug)]
pub(super) struct Telling {
    narrator: Narrator,
    shows: Shows,
    cwd: String,
    /// The client said the prompt itself.
    own_prompt: bool,
    /// The person's message that is open.
    person: Option<MessageId>,
    outputs: BTreeMap<ToolRunId, String>,
    /// Calls whose output the client has as a terminal.
    terminals: BTreeSet<ToolRunId>,
    /// Calls in whose place a question about them stands.
    hidden: BTreeMap<AskId, ToolRunId>,
    /// The last message was cut by the model's length limit.
    pub(super) cut: bool,
    out: Vec<SessionUpdate>,
}

impl Telling {
    /// A run from its beginning; `own` when the client said its prompt.
    pub(super) fn new(run: RunId, shows: Shows, cwd: &str, own: bool) -> Telling {
        Telling {
            narrator: Narrator::new(run),
            shows,
            cwd: cwd.to_owned(),
            own_prompt: own,
            person: None,
            outputs: BTreeMap::new(),
            terminals: BTreeSet::new(),
            hidden: BTreeMap::new(),
            cut: false,
            out: Vec::new(),
        }
    }

    /// A run that is under way: what is open in it goes on here. Gives the calls that have no end, so that what follows has a beginning.
    pub(super) fn amid(run: RunId, shows: Shows, cwd: &str, state: &State) -> (Telling, Vec<SessionUpdate>) {
        let narrator = Narrator::amid(run, state);
        let mut telling =
            Telling { narrator, ..Telling::new(run, Shows { output: false, ..shows }, cwd, false) };
        for tool in state.tools.values().filter(|tool| tool.run == run && !tool.ended()) {
            telling.call(tool.id, &tool.name, &tool.args);
        }
        telling.shows = shows;
        let begun = std::mem::take(&mut telling.out);
        (telling, begun)
    }

    /// A run that is under way, from its beginning: what it said so far names no terminal, as in a past.
    pub(super) fn again(run: RunId, shows: Shows, cwd: &str, state: &State) -> (Telling, Vec<SessionUpdate>) {
        let mut telling = Telling::new(run, Shows { output: false, ..shows }, cwd, false);
        let begun = telling.catch_up(state);
        telling.shows = shows;
        (telling, begun)
    }

    /// What is told, by its name.
    pub(super) fn run(&self) -> RunId {
        self.narrator.run()
    }

    /// Whether the client has the output of a call as a terminal.
    pub(super) fn has_terminal(&self, tool: ToolRunId) -> bool {
        self.terminals.contains(&tool)
    }

    /// The next thing that the person says was said by this client.
    pub(super) fn own_turn(&mut self) {
        self.own_prompt = true;
    }

    /// A question about this call went out, which stands where the call stood.
    pub(super) fn stands_for(&mut self, tool: ToolRunId, ask: AskId) {
        self.hidden.insert(ask, tool);
    }

    /// Takes what happened; gives what to say.
    pub(super) fn hear(&mut self, at: Millis, body: &Body) -> Vec<SessionUpdate> {
        if let Body::Ask(AskEvent::Closed { ask, .. }) = body
            && let Some(tool) = self.hidden.remove(ask)
        {
            self.shown_again(tool);
        }
        for told in self.narrator.hear(at, body) {
            self.tell(told);
        }
        std::mem::take(&mut self.out)
    }

    /// What of the run a state holds and was not told.
    pub(super) fn catch_up(&mut self, state: &State) -> Vec<SessionUpdate> {
        let missed = self.narrator.missed(state);
        missed.iter().flat_map(|(at, body)| self.hear(*at, body)).collect()
    }

    fn tell(&mut self, told: Narration<'_>) {
        match told {
            Narration::MessageStarted { message, role: Role::User } => self.person = Some(message),
            Narration::Prompt { parts, .. } => self.prompt(&parts),
            Narration::Text { message, text, came: Came::InPieces | Came::AtOnce(_), .. } => {
                self.out.push(SessionUpdate::AgentMessage(chunk(message, ContentBlock::text(text))));
            }
            Narration::Thought { message, text, .. } => {
                self.out.push(SessionUpdate::AgentThought(chunk(message, ContentBlock::text(text))));
            }
            Narration::Block { message, part, .. } => {
                let block = blocks::lower_part(part, self.shows.ours);
                self.out.extend(block.map(|block| SessionUpdate::AgentMessage(chunk(message, block))));
            }
            Narration::Call { tool, name, args, .. } => self.call(tool, name, args),
            Narration::CallStarted { tool } => {
                self.update(
                    tool,
                    ToolCallUpdate { status: Some(ToolStatus::InProgress), ..Default::default() },
                );
            }
            Narration::CallProgress { tool, progress, .. } => self.progress(tool, progress),
            Narration::CallResult { tool, call, outcome, result } => {
                self.result(tool, &call, outcome, result);
            }
            Narration::MessageEnded { role: Role::Assistant, finish, .. } => {
                self.cut = *finish == Finish::Length;
            }
            Narration::RunStarted
            | Narration::RunEnded { .. }
            | Narration::TurnStarted
            | Narration::TurnEnded
            | Narration::StepStarted { .. }
            | Narration::StepEnded { .. }
            | Narration::MessageStarted { .. }
            | Narration::MessageEnded { .. }
            | Narration::Whole(_) => {}
        }
    }

    /// What the person said, unless the client said it itself.
    fn prompt(&mut self, parts: &[Part]) {
        let message = self.person.take();
        if std::mem::take(&mut self.own_prompt) {
            return;
        }
        let blocks = parts.iter().filter_map(|part| blocks::lower_part(part, true));
        let chunks = blocks.map(|content| {
            let message_id = message.map(|message| message.to_string());
            SessionUpdate::UserMessage(ContentChunk { content, message_id, ..ContentChunk::default() })
        });
        self.out.extend(chunks);
    }

    fn call(&mut self, tool: ToolRunId, name: &str, args: &Json) {
        let kind = tool_words::kind(name);
        let mut call = ToolCall {
            tool_call_id: tool.to_string(),
            title: tool_words::title(name, args),
            name: Some(name.to_owned()),
            status: Some(ToolStatus::Pending),
            locations: tool_words::locations(args, &self.cwd),
            raw_input: Some(blocks::raw(args)),
            ..ToolCall::default()
        };
        if kind == ToolKind::Execute && self.shows.output {
            let terminal_id = tool.to_string();
            self.terminals.insert(tool);
            call.content.push(terminal_content(tool));
            let terminal_info = Some(TerminalInfo { terminal_id, ..TerminalInfo::default() });
            call.meta = Some(CallMeta { terminal_info, ..CallMeta::default() });
        }
        call.kind = Some(kind);
        self.out.push(SessionUpdate::ToolCall(Box::new(call)));
    }

    /// A call that ran all along stands again where a question of it stood; one that was asked about is what the question said.
    fn shown_again(&mut self, tool: ToolRunId) {
        let Some(call) = self.narrator.call(tool).filter(|call| call.started_at.is_some()).cloned() else {
            return;
        };
        let output = self.outputs.get(&tool).cloned().filter(|_| !self.terminals.contains(&tool));
        let content = match self.terminals.contains(&tool) {
            true => vec![terminal_content(tool)],
            false => output.map(text_content).into_iter().collect(),
        };
        let update = ToolCallUpdate {
            title: Some(tool_words::title(&call.name, &call.args)),
            name: Some(call.name.clone()),
            kind: Some(tool_words::kind(&call.name)),
            status: Some(ToolStatus::InProgress),
            content: Some(content),
            locations: Some(tool_words::locations(&call.args, &self.cwd)),
            raw_input: Some(blocks::raw(&call.args)),
            ..ToolCallUpdate::default()
        };
        self.update(tool, update);
    }

    fn update(&mut self, tool: ToolRunId, update: ToolCallUpdate) {
        let update = ToolCallUpdate { tool_call_id: tool.to_string(), ..update };
        self.out.push(SessionUpdate::ToolCallUpdate(Box::new(update)));
    }

    fn progress(&mut self, tool: ToolRunId, progress: &Progress) {
        let update = match progress {
            Progress::Output(piece) if self.terminals.contains(&tool) => {
                self.outputs.entry(tool).or_default();
                ToolCallUpdate { meta: Some(piece_of(tool, piece)), ..ToolCallUpdate::default() }
            }
            Progress::Output(piece) => {
                let output = self.outputs.entry(tool).or_default();
                output.push_str(piece);
                keep_tail(output);
                let content = Some(vec![text_content(output.clone())]);
                ToolCallUpdate { content, ..ToolCallUpdate::default() }
            }
            Progress::Replace(whole) => {
                let mut output = whole.clone();
                keep_tail(&mut output);
                let content = Some(vec![text_content(output.clone())]);
                self.outputs.insert(tool, output);
                ToolCallUpdate { content, ..ToolCallUpdate::default() }
            }
            Progress::Status { percent, message } => {
                let progress = Some(ProgressNote {
                    percent: percent.map(u64::from),
                    message: message.clone(),
                    ..ProgressNote::default()
                });
                let own = Own { progress, ..Own::default() };
                // Shown where nothing else is: a client that does not know our note still sees that it goes on.
                let quiet = !self.outputs.contains_key(&tool) && !self.terminals.contains(&tool);
                let content = quiet.then(|| vec![text_content(message.clone())]);
                let meta = Some(CallMeta { parlor: Some(own), ..CallMeta::default() });
                ToolCallUpdate { content, meta, ..ToolCallUpdate::default() }
            }
        };
        self.update(tool, ToolCallUpdate { status: Some(ToolStatus::InProgress), ..update });
    }

    fn result(&mut self, tool: ToolRunId, call: &NarratedCall, outcome: &ToolOutcome, result: &ToolResult) {
        let streamed = self.outputs.remove(&tool).is_some();
        let (status, own) = ended(outcome);
        let own = own.map(|outcome| Own { outcome: Some(outcome.to_owned()), ..Own::default() });
        let mut meta = CallMeta { parlor: own, ..CallMeta::default() };
        let content;
        if self.terminals.remove(&tool) {
            if !streamed {
                meta.terminal_output = piece_of(tool, &result.text).terminal_output;
            }
            let terminal_id = tool.to_string();
            let exit_code = exit_code(result);
            meta.terminal_exit = Some(TerminalEnd { terminal_id, exit_code, ..TerminalEnd::default() });
            // Who reads our words has the result apart from the output.
            content = self.shows.ours.then(|| self.result_content(result));
        } else {
            content = Some(self.result_content(result));
        }
        let told = ToolCallUpdate {
            status: Some(status),
            locations: self.places(call, result),
            content,
            raw_output: result.json.as_ref().map(blocks::raw),
            meta: Some(meta).filter(|meta| *meta != CallMeta::default()),
            ..ToolCallUpdate::default()
        };
        self.update(tool, told);
    }

    fn result_content(&self, result: &ToolResult) -> Vec<ToolCallContent> {
        let mut content: Vec<ToolCallContent> =
            result.parts.iter().flat_map(|part| part_content(part, &self.cwd, self.shows.ours)).collect();
        if !result.text.is_empty() {
            content.push(text_content(result.text.clone()));
        }
        content
    }

    /// Where a change begins, once it is known.
    fn places(&self, call: &NarratedCall, result: &ToolResult) -> Option<Vec<super::super::wire::Location>> {
        let line = result.parts.iter().find_map(|part| match part {
            Part::Diff { text, .. } => patch::read(text).hunks.first().map(|hunk| hunk.line),
            _ => None,
        })?;
        let mut places = tool_words::locations(&call.args, &self.cwd);
        places.iter_mut().for_each(|place| place.line = Some(line));
        Some(places).filter(|places| !places.is_empty())
    }
}

fn chunk(message: MessageId, content: ContentBlock) -> ContentChunk {
    ContentChunk { content, message_id: Some(message.to_string()), ..ContentChunk::default() }
}

/// Words in the content of a call.
pub(super) fn text_content(text: String) -> ToolCallContent {
    block_content(ContentBlock::text(text))
}

/// The place where the live output of a call is shown.
pub(super) fn terminal_content(tool: ToolRunId) -> ToolCallContent {
    let terminal_id = tool.to_string();
    ToolCallContent::Terminal(TerminalContent { terminal_id, ..TerminalContent::default() })
}

fn block_content(content: ContentBlock) -> ToolCallContent {
    ToolCallContent::Content(ToolContent { content, ..ToolContent::default() })
}

/// A part beside a tool's text: a patch becomes a diff for each place that it changes. A place that is not there whole is shown as text.
pub(super) fn part_content(part: &Part, cwd: &str, ours: bool) -> Vec<ToolCallContent> {
    let Part::Diff { path: Some(path), text } = part else {
        return blocks::lower_part(part, false).map(block_content).into_iter().collect();
    };
    let patch = patch::read(text);
    if patch.hunks.is_empty() {
        return blocks::lower_part(part, false).map(block_content).into_iter().collect();
    }
    let first = patch.hunks.first().and_then(|hunk| hunk.file.clone());
    let several = patch.hunks.iter().any(|hunk| hunk.file != first);
    let mut whole = ours.then(|| Own { patch: Some(text.clone()), ..Own::default() });
    let diff = |hunk: patch::Hunk| {
        let meta = whole.take().map(|own| Meta { parlor: Some(own), ..Meta::default() });
        ToolCallContent::Diff(Box::new(DiffContent {
            path: tool_words::absolute(hunk.file.as_ref().filter(|_| several).unwrap_or(path), cwd),
            old_text: hunk.old,
            new_text: hunk.new,
            meta,
            ..DiffContent::default()
        }))
    };
    let mut content: Vec<ToolCallContent> = patch.hunks.into_iter().map(diff).collect();
    // Who reads our words has the whole text already.
    let rest = patch.cut.filter(|_| !ours);
    content.extend(rest.map(|rest| text_content(blocks::fenced(Some("diff"), rest, Some(path)))));
    content
}

/// The status of a call that is over, and our own word where the protocol has none.
fn ended(outcome: &ToolOutcome) -> (ToolStatus, Option<&'static str>) {
    match outcome {
        ToolOutcome::Done => (ToolStatus::Completed, None),
        ToolOutcome::Failed => (ToolStatus::Failed, None),
        ToolOutcome::Denied => (ToolStatus::Failed, Some("denied")),
        ToolOutcome::Skipped => (ToolStatus::Failed, Some("skipped")),
        ToolOutcome::Cancelled => (ToolStatus::Failed, Some("cancelled")),
        ToolOutcome::Unknown => (ToolStatus::Failed, Some("unknown")),
    }
}

fn piece_of(tool: ToolRunId, piece: &str) -> CallMeta {
    let (terminal_id, data) = (tool.to_string(), piece.to_owned());
    let terminal_output = Some(TerminalPiece { terminal_id, data, ..TerminalPiece::default() });
    CallMeta { terminal_output, ..CallMeta::default() }
}

fn exit_code(result: &ToolResult) -> Option<i64> {
    #[derive(Deserialize, Default)]
    #[serde(default)]
    struct Ran {
        exit_code: Option<i64>,
    }
    serde_json::from_str::<Ran>(result.json.as_ref()?.as_str()).ok()?.exit_code
}

/// Cuts all but the newest of an output, at a line where there is one.
fn keep_tail(output: &mut String) {
    let Some(mut from) = output.len().checked_sub(OUTPUT_TAIL).filter(|from| *from > 0) else { return };
    while !output.is_char_boundary(from) {
        from += 1;
    }
    from = output[from..].find('\n').map_or(from, |line| from + line + 1);
    output.drain(..from);
}
