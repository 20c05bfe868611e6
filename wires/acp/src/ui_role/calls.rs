//! Tool calls as agents tell them: in any order, with what is known so far, sometimes only when they are over.
//!
//! A call is proposed once its input is known, so that what the person sees is what would run; it runs once a question about it would
//! have come. Invariants: a result counts once; a status that goes back changes nothing; what a call gave is shown also where it stands
//! in its raw output only; kinds and statuses that we do not know are kept with the result; a call that the agent never ends has its
//! end with the run, and keeps what was told of it.

use super::super::wire::{
    CallMeta, ContentBlock, Raw, RequestPermissionParams, ToolCallContent, ToolCallUpdate, ToolKind,
    ToolStatus,
};
use super::super::{blocks, patch};
use super::hearing::Hearing;
use domain::content::{Json, Part};
use domain::errand::AskedChange;
use domain::fact::{Key, Said};
use domain::tool::{Progress, ToolOutcome, ToolResult};
use rolekit::said::Change;
use roles::{Drift, UiCx};
use serde_json::Value;

/// Most output of a call that is kept for its result.
const MAX_OUTPUT: usize = 256 * 1024;
/// Most words of one call that are kept although we do not know them.
const MAX_ODD: usize = 8;
/// What stands in the result of a call that the agent left open.
const NO_END: &str = "(the agent did not say how it ended)";
/// Members of a raw output that hold what a person wants to read, best first.
const READABLE: &[&str] =
    &["formatted_output", "aggregated_output", "output", "stdout", "content", "text", "message", "error"];

/// A call without a result.
#[derive(Debug, Clone, Default)]
pub(super) struct Tool {
    pub(super) name: String,
    pub(super) title: String,
    pub(super) kind: ToolKind,
    pub(super) args: Option<Raw>,
    content: Vec<ToolCallContent>,
    raw_output: Option<Raw>,
    /// Live output, as pieces came.
    output: String,
    /// What was last shown of its content.
    shown: String,
    /// Words of the agent that we do not know, with what they stand for.
    odd: Vec<(&'static str, String)>,
    pub(super) phase: Phase,
}

/// How far a call has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Phase {
    /// Its input may still come.
    #[default]
    Announced,
    Proposed,
    /// The agent says that it runs; a question may still come.
    Begun,
    Asked,
    Allowed,
    Running,
}

impl Tool {
    /// Its input; empty until the agent has told it.
    pub(super) fn json(&self) -> Json {
        self.args.as_ref().map_or_else(Json::empty, |args| Json::verbatim(args.text()))
    }

    fn has_input(&self) -> bool {
        self.args.as_ref().is_some_and(|args| !matches!(args.text(), "{}" | "null" | "\"\""))
    }

    fn learn(&mut self, update: &mut ToolCallUpdate) {
        let theirs = update.meta.as_mut().and_then(tool_name);
        if let Some(name) = update.name.take().or(theirs).filter(|name| !name.is_empty()) {
            self.name = name;
        }
        if let Some(title) = update.title.take().filter(|title| !title.is_empty()) {
            self.title = title;
        }
        self.kind = update.kind.take().unwrap_or_else(|| self.kind.clone());
        if let ToolKind::Other(word) = &self.kind {
            let word = word.clone();
            self.note_odd("kind", word);
        }
        if let Some(args) = update.raw_input.take().filter(|args| !args.is_null()) {
            self.args = Some(args);
        }
        if let Some(content) = update.content.take() {
            self.content = content;
        }
        if let Some(output) = update.raw_output.take().filter(|output| !output.is_null()) {
            self.raw_output = Some(output);
        }
    }

    /// Keeps a word that we do not know, once.
    fn note_odd(&mut self, what: &'static str, word: String) {
        let odd = (what, word);
        if self.odd.len() < MAX_ODD && !self.odd.contains(&odd) {
            self.odd.push(odd);
        }
    }

    /// The name that the person knows it by.
    pub(super) fn known_as(&self) -> String {
        let names = [self.name.as_str(), self.title.as_str(), self.kind.word()];
        names.into_iter().find(|name| !name.is_empty()).unwrap_or("tool").to_owned()
    }
}

/// The tool's own name, as some agents say it beside the protocol.
fn tool_name(meta: &mut CallMeta) -> Option<String> {
    let at = |path: &[&str]| {
        let (first, rest) = path.split_first()?;
        let mut value = meta.rest.get(*first)?;
        for step in rest {
            value = value.get(step)?;
        }
        value.as_str().map(ToOwned::to_owned)
    };
    at(&["claudeCode", "toolName"]).or_else(|| at(&["goose", "toolCall", "toolName"]))
}

/// Live output that came with an update: as clients in use read it, and as one agent says it.
fn pieces(meta: &CallMeta) -> String {
    let piece = meta.terminal_output.as_ref().map(|piece| piece.data.clone()).unwrap_or_default();
    let chunks = meta.rest.get("toolNotification").and_then(|note| note.pointer("/params/chunks"));
    let chunks = chunks.and_then(Value::as_array).into_iter().flatten();
    chunks.filter_map(|chunk| chunk.get("output")?.as_str()).fold(piece, |all, more| all + more)
}

impl Hearing {
    /// Something about a call. `first` when it is announced as a new one.
    pub(super) fn call(&mut self, cx: &mut UiCx<'_>, mut update: ToolCallUpdate, first: bool) {
        let key = Key::from(update.tool_call_id.as_str());
        if !first && self.listener.has_ended(&key) && self.listener.noted(&key).is_none() {
            return;
        }
        let is_new = self.listener.noted(&key).is_none();
        if is_new {
            self.model_speaks(cx);
        }
        let Some(tool) = self.listener.note(&key, Tool::default) else { return };
        tool.learn(&mut update);
        let status = update.status.take();
        let begins =
            matches!(status, Some(ToolStatus::InProgress | ToolStatus::Completed | ToolStatus::Failed));
        if tool.phase == Phase::Announced && (tool.has_input() || begins || !is_new) {
            tool.phase = Phase::Proposed;
            let (name, args) = (tool.known_as(), tool.json());
            self.listener.say(cx, Said::ToolProposed { tool: key.clone(), name, args });
        }
        let meta = update.meta.unwrap_or_default();
        self.live(cx, &key, &meta, status.as_ref());
        match status {
            Some(ToolStatus::InProgress) => self.begun(&key),
            Some(ToolStatus::Completed) => self.over(cx, &key, ToolOutcome::Done),
            Some(ToolStatus::Failed) => {
                let word = meta.parlor.and_then(|own| own.outcome);
                let outcome = match word.as_deref() {
                    Some("denied") => ToolOutcome::Denied,
                    Some("skipped") => ToolOutcome::Skipped,
                    Some("cancelled") => ToolOutcome::Cancelled,
                    Some("unknown") => ToolOutcome::Unknown,
                    _ => ToolOutcome::Failed,
                };
                self.over(cx, &key, outcome);
            }
            Some(ToolStatus::Other(word)) => self.odd_status(cx, &key, word),
            Some(ToolStatus::Pending) | None => {}
        }
    }

    /// A status that we do not know: shown while the call runs, and kept.
    fn odd_status(&mut self, cx: &mut UiCx<'_>, key: &Key, word: String) {
        cx.drift(Drift::new("tool_call status", format!("{word:?}, which we do not know"), key));
        let Some(tool) = self.listener.noted(key) else { return };
        tool.note_odd("status", word.clone());
        if tool.phase == Phase::Running && !self.past {
            let progress = Progress::Status { percent: None, message: word };
            self.listener.say(cx, Said::ToolProgress { tool: key.clone(), progress });
        }
    }

    /// The run is over: calls that the agent left open end with it, with what was told of them. What is still asked about is
    /// withdrawn elsewhere.
    pub(super) fn end_calls(&mut self, cx: &mut UiCx<'_>, stopped: bool) {
        for key in self.listener.open().map(|(key, _)| key.clone()).collect::<Vec<_>>() {
            let Some(tool) = self.listener.noted(&key).filter(|tool| tool.phase != Phase::Asked) else {
                continue;
            };
            if tool.phase == Phase::Announced {
                let (name, args) = (tool.known_as(), tool.json());
                tool.phase = Phase::Proposed;
                self.listener.say(cx, Said::ToolProposed { tool: key.clone(), name, args });
            }
            let Some(tool) = self.listener.noted(&key) else { continue };
            let mut result = result(std::mem::take(tool));
            let gap = if result.text.is_empty() { "" } else { "\n" };
            result.text = format!("{}{gap}{NO_END}", result.text);
            let outcome = if stopped { ToolOutcome::Cancelled } else { ToolOutcome::Unknown };
            self.listener.result(cx, &key, outcome, result);
        }
    }

    /// The agent says that it runs: it does once nobody is asked, or at once where the question is behind it.
    fn begun(&mut self, key: &Key) {
        let past = self.past;
        if let Some(tool) = self.listener.noted(key) {
            match tool.phase {
                Phase::Announced | Phase::Proposed => {
                    tool.phase = Phase::Begun;
                    self.wants_timer |= !past;
                }
                Phase::Begun | Phase::Asked | Phase::Allowed | Phase::Running => {}
            }
        }
    }

    /// No question came: the calls that the agent began run.
    pub(super) fn quiet_calls_run(&mut self, cx: &mut UiCx<'_>) {
        let begun = self.listener.open().filter(|(_, tool)| tool.phase == Phase::Begun);
        for key in begun.map(|(key, _)| key.clone()).collect::<Vec<_>>() {
            self.start(cx, &key);
        }
    }

    fn start(&mut self, cx: &mut UiCx<'_>, key: &Key) {
        let Some(tool) = self.listener.noted(key).filter(|tool| tool.phase != Phase::Running) else { return };
        tool.phase = Phase::Running;
        let name = Some(tool.known_as());
        let args = Some(tool.json());
        if matches!(tool.kind, ToolKind::Read | ToolKind::Search | ToolKind::Think) {
            self.listener.say(cx, Said::NeedsNoConsent { tool: key.clone() });
        }
        self.listener.say(cx, Said::ToolStarted { tool: key.clone(), name, args });
    }

    /// Output and progress of a call that runs.
    fn live(&mut self, cx: &mut UiCx<'_>, key: &Key, meta: &CallMeta, status: Option<&ToolStatus>) {
        let over = matches!(status, Some(ToolStatus::Completed | ToolStatus::Failed));
        let piece = pieces(meta);
        let note = meta.parlor.as_ref().and_then(|own| own.progress.clone());
        let past = self.past;
        let Some(tool) = self.listener.noted(key) else { return };
        let room = MAX_OUTPUT.saturating_sub(tool.output.len());
        tool.output.extend(piece.char_indices().take_while(|(at, _)| *at < room).map(|(_, c)| c));
        let mut progress = Vec::new();
        if !piece.is_empty() {
            progress.push(Progress::Output(piece));
        }
        if let Some(note) = note {
            let percent = note.percent.and_then(|percent| u8::try_from(percent.min(100)).ok());
            progress.push(Progress::Status { percent, message: note.message });
        } else if !over && tool.output.is_empty() {
            let text = texts(&tool.content);
            if !text.is_empty() && text != tool.shown && status != Some(&ToolStatus::Pending) {
                tool.shown.clone_from(&text);
                progress.push(Progress::Replace(text));
            }
        }
        let runs = matches!(tool.phase, Phase::Begun | Phase::Allowed | Phase::Running);
        if past || progress.is_empty() || !(runs || status == Some(&ToolStatus::InProgress)) {
            return;
        }
        self.start(cx, key);
        for progress in progress {
            self.listener.say(cx, Said::ToolProgress { tool: key.clone(), progress });
        }
    }

    fn over(&mut self, cx: &mut UiCx<'_>, key: &Key, outcome: ToolOutcome) {
        if !matches!(outcome, ToolOutcome::Denied | ToolOutcome::Skipped) && !self.is_asked(key) {
            self.start(cx, key);
        }
        let Some(tool) = self.listener.noted(key) else { return };
        let result = result(std::mem::take(tool));
        self.listener.result(cx, key, outcome, result);
    }

    fn is_asked(&mut self, key: &Key) -> bool {
        self.listener.noted(key).is_some_and(|tool| tool.phase == Phase::Asked)
    }

    /// The agent asks about a call: what its request says counts as said. Gives the call, and whether the question decides on it: one that
    /// runs already asks about more than itself.
    pub(super) fn asked_about(
        &mut self,
        cx: &mut UiCx<'_>,
        params: &mut RequestPermissionParams,
    ) -> (Key, Tool, bool) {
        let mut update = std::mem::take(&mut params.tool_call);
        let key = Key::from(update.tool_call_id.as_str());
        update.status = None;
        let fresh = self.listener.noted(&key).is_none();
        if fresh {
            self.model_speaks(cx);
        }
        let Some(tool) = self.listener.note(&key, Tool::default) else {
            return (key, Tool::default(), false);
        };
        tool.learn(&mut update);
        if tool.phase == Phase::Running {
            return (key, tool.clone(), false);
        }
        if matches!(tool.phase, Phase::Announced) {
            let (name, args) = (tool.known_as(), tool.json());
            tool.phase = Phase::Asked;
            let asked = tool.clone();
            self.listener.say(cx, Said::ToolProposed { tool: key.clone(), name, args });
            return (key, asked, true);
        }
        tool.phase = Phase::Asked;
        (key.clone(), tool.clone(), true)
    }

    /// The person allowed a call: it runs.
    pub(super) fn allowed(&mut self, cx: &mut UiCx<'_>, key: &Key) {
        if let Some(tool) = self.listener.noted(key).filter(|tool| tool.phase == Phase::Asked) {
            tool.phase = Phase::Allowed;
            self.start(cx, key);
        }
    }
}

impl Tool {
    /// Every change that the person sees before deciding; a patch that was sent whole stands with the first of its places.
    pub(super) fn changes(&self) -> Vec<Change> {
        let diffs = self.content.iter().filter_map(|content| match content {
            ToolCallContent::Diff(diff) => Some(&**diff),
            _ => None,
        });
        let change = |diff: &super::super::wire::DiffContent| Change {
            path: diff.path.clone(),
            text: diff_text(diff),
            sides: diff.old_text.iter().chain([&diff.new_text]).cloned().collect(),
        };
        diffs.map(change).collect()
    }

    /// The same as it can be judged: by the texts before and after.
    pub(super) fn asked_changes(&self) -> Vec<AskedChange> {
        let diffs = self.content.iter().filter_map(|content| match content {
            ToolCallContent::Diff(diff) => Some(&**diff),
            _ => None,
        });
        let change = |diff: &super::super::wire::DiffContent| AskedChange {
            path: diff.path.clone(),
            old: diff.old_text.clone(),
            new: diff.new_text.clone(),
        };
        diffs.map(change).collect()
    }

    /// What the agent wrote beside the call.
    pub(super) fn words(&self) -> String {
        texts(&self.content)
    }

    /// What it shows besides that is neither text nor a change, as it was written.
    pub(super) fn others(&self) -> Vec<String> {
        let others = self.content.iter().filter_map(|content| match content {
            ToolCallContent::Content(block) => match &block.content {
                ContentBlock::Text(_) => None,
                block => serde_json::to_string(block).ok(),
            },
            ToolCallContent::Unknown(raw) => Some(raw.text().to_owned()),
            ToolCallContent::Diff(_) | ToolCallContent::Terminal(_) => None,
        });
        others.collect()
    }
}

fn diff_text(diff: &super::super::wire::DiffContent) -> String {
    let whole = diff.meta.as_ref().and_then(|meta| meta.parlor.as_ref()?.patch.clone());
    whole.unwrap_or_else(|| patch::unified(&diff.path, diff.old_text.as_deref(), &diff.new_text))
}

/// All text of a call's content.
fn texts(content: &[ToolCallContent]) -> String {
    let texts = content.iter().filter_map(|content| match content {
        ToolCallContent::Content(block) => match &block.content {
            ContentBlock::Text(text) => Some(text.text.as_str()),
            _ => None,
        },
        _ => None,
    });
    texts.collect::<Vec<_>>().join("\n")
}

fn result(tool: Tool) -> ToolResult {
    let mut text = texts(&tool.content);
    let mut parts = Vec::new();
    let mut patches: Vec<String> = Vec::new();
    for content in tool.content {
        match content {
            ToolCallContent::Diff(diff) => {
                let whole = diff.meta.as_ref().is_some_and(|meta| meta.parlor.is_some());
                let text = diff_text(&diff);
                // One patch may show several places.
                if patches.iter().any(|known| !whole && known.contains(diff.new_text.trim_end())) {
                    continue;
                }
                patches.push(text.clone());
                parts.push(Part::Diff { path: Some(diff.path), text });
            }
            ToolCallContent::Content(block) => match block.content {
                ContentBlock::Text(_) => {}
                block => parts.push(blocks::lift_block(block)),
            },
            ToolCallContent::Terminal(_) => {}
            ToolCallContent::Unknown(raw) => {
                let kind = raw.word("type").unwrap_or_default();
                parts.push(Part::Opaque { kind, json: Json::verbatim(raw.text()) });
            }
        }
    }
    if text.is_empty() {
        text = tool.output;
    }
    if text.is_empty() {
        text = tool.raw_output.as_ref().map(readable).unwrap_or_default();
    }
    parts.extend(tool.odd.into_iter().map(|(what, word)| Part::Opaque {
        kind: format!("tool_call {what}"),
        json: Json::verbatim(Value::from(word).to_string()),
    }));
    let json = tool.raw_output.map(|raw| Json::verbatim(raw.text()));
    ToolResult { text, parts, json, truncated: false }
}

/// What a person wants to read of a raw output.
fn readable(raw: &Raw) -> String {
    let value = raw.value();
    let member = |name: &&str| value.get(*name).and_then(Value::as_str).filter(|text| !text.is_empty());
    match (&value, READABLE.iter().find_map(member)) {
        (Value::String(text), _) => text.clone(),
        (_, Some(text)) => text.to_owned(),
        _ => raw.text().to_owned(),
    }
}
