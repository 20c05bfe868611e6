//! Tool runs of a query: a name on the wire for each, its approval, its progress and its end.

use super::super::super::plain;
use super::super::super::wire::notify::{
    BlockMetadata, Progress as WireProgress, ProgressState, ToolComplete, ToolOutput,
};
use super::super::approval;
use super::{Counters, Telling, last_line};
use domain::ask::{Ask, Closing, Consent};
use domain::content::{Json, Part};
use domain::ids::{AskId, Millis, ToolRunId};
use domain::tool::{Progress, ToolOutcome, ToolResult};
use rolekit::narrator::NarratedCall;
use rolekit::shown::Shown;

/// Most characters of a tool's output in a block; all of it is in `tool.complete`.
const MAX_SHOWN: usize = 2000;
/// Longest arguments in words.
const MAX_ARGS: usize = 100;

/// A tool run as the wire knows it.
#[derive(Debug)]
pub(in super::super) struct Execution {
    /// Its name on the wire.
    pub(in super::super) id: String,
    /// The question about it.
    pub(in super::super) ask: Option<OpenApproval>,
    /// As the tool told it last.
    percent: Option<u8>,
}

/// A request for approval.
#[derive(Debug)]
pub(in super::super) struct OpenApproval {
    pub(in super::super) ask: AskId,
    /// What it is about.
    pub(in super::super) consent: Consent,
    pub(in super::super) closing: Option<Closing>,
    /// Whether a yes may reach further than this action.
    pub(in super::super) lasts: bool,
}

impl Telling {
    /// Asks the person; nothing when the question was asked already.
    pub(in super::super) fn approval(
        &mut self,
        counters: &mut Counters,
        ask: &Ask,
        consent: &Consent,
        shown: &Shown,
        now: Millis,
    ) -> Vec<String> {
        if !self.asked(counters, ask, consent) {
            return Vec::new();
        }
        if let Some(whole) = approval::before(shown, self.style) {
            self.block(counters, "text", None, whole, BlockMetadata::default());
        }
        let Some(execution) = self.tools.get_mut(&consent.tool) else { return Vec::new() };
        if let Some(asked) = &mut execution.ask {
            asked.lasts = approval::lasts(shown, self.style);
        }
        let params = approval::lower(ask, consent, shown, &execution.id, &self.query_id, self.style, now);
        self.say(&params);
        std::mem::take(&mut self.lines)
    }

    /// Notes a question without asking it; `false` when it was known.
    pub(in super::super) fn asked(&mut self, counters: &mut Counters, ask: &Ask, consent: &Consent) -> bool {
        self.register(counters, consent.tool);
        let Some(execution) = self.tools.get_mut(&consent.tool) else { return false };
        if execution.ask.as_ref().is_some_and(|asked| asked.ask == ask.id) {
            return false;
        }
        let consent = consent.clone();
        execution.ask = Some(OpenApproval { ask: ask.id, consent, closing: None, lasts: false });
        true
    }

    /// The tool run of this name.
    pub(in super::super) fn execution(&self, id: &str) -> Option<&Execution> {
        self.tools.values().find(|execution| execution.id == id)
    }

    fn register(&mut self, counters: &mut Counters, tool: ToolRunId) {
        self.tools.entry(tool).or_insert_with(|| {
            counters.executions += 1;
            Execution { id: format!("exec-{}", counters.executions), ask: None, percent: None }
        });
    }

    /// The model wants a tool: the text before it ends, and the client is told what is planned.
    pub(super) fn proposed(&mut self, counters: &mut Counters, tool: ToolRunId, name: &str) {
        if self.tools.contains_key(&tool) {
            return;
        }
        self.end_text(counters);
        self.register(counters, tool);
        self.thinking("planning", format!("Wants to use {name}"));
    }

    /// A tool begins to run.
    pub(super) fn started(&mut self, tool: ToolRunId) {
        let call = self.narrator.as_ref().and_then(|narrator| narrator.call(tool)).cloned();
        let (Some(execution), Some(call)) = (self.tools.get(&tool), call) else { return };
        let words = doing(&call.name, &call.args);
        let params = WireProgress {
            execution_id: execution.id.clone(),
            progress: ProgressState {
                percentage: Some(0.0),
                status: "started".to_owned(),
                message: words.clone(),
                indeterminate: true,
                ..ProgressState::default()
            },
            query_id: Some(self.query_id.clone()),
            tool: Some(approval::tool(&call.name, words.clone())),
            arguments: Some(approval::object(&call.args)),
        };
        self.tools_executed.push(call.name);
        self.thinking("executing", words);
        self.say(&params);
    }

    /// A tool is under way.
    pub(super) fn progress(&mut self, tool: ToolRunId, progress: &Progress) {
        let Some(execution) = self.tools.get_mut(&tool) else { return };
        let mut state = ProgressState { status: "processing".to_owned(), ..ProgressState::default() };
        match progress {
            Progress::Output(text) => {
                let text = plain::clean(text);
                (state.message, state.indeterminate) = (last_line(&text), true);
                state.output = Some(text);
            }
            Progress::Replace(text) => {
                (state.message, state.indeterminate) = (last_line(&plain::clean(text)), true);
            }
            Progress::Status { percent, message } => {
                execution.percent = percent.or(execution.percent);
                (state.message, state.indeterminate) = (plain::clean(message), percent.is_none());
            }
        }
        state.percentage = execution.percent.map(f64::from);
        let (execution_id, query_id) = (execution.id.clone(), Some(self.query_id.clone()));
        let params = WireProgress { execution_id, progress: state, query_id, tool: None, arguments: None };
        self.say(&params);
    }

    /// A tool is over: its block and its `tool.complete`.
    pub(super) fn tool_ended(
        &mut self,
        counters: &mut Counters,
        at: Millis,
        tool: ToolRunId,
        call: NarratedCall,
        outcome: &ToolOutcome,
        result: &ToolResult,
    ) {
        let Some(execution) = self.tools.get(&tool) else { return };
        let expired = matches!(execution.ask, Some(OpenApproval { closing: Some(Closing::Expired), .. }));
        let status = match outcome {
            ToolOutcome::Done => "success",
            ToolOutcome::Failed => "error",
            ToolOutcome::Denied if expired => "timeout",
            ToolOutcome::Denied => "rejected",
            ToolOutcome::Skipped => "skipped",
            ToolOutcome::Cancelled => "cancelled",
            ToolOutcome::Unknown => "unknown",
        };
        let (id, started) = (execution.id.clone(), call.started_at.is_some());
        let duration_ms = call.started_at.map_or(0, |since| at.since(since));
        let files: Vec<String> = result.parts.iter().filter_map(changed_file).collect();
        let params = ToolComplete {
            execution_id: id.clone(),
            status: status.to_owned(),
            result: ToolOutput {
                output: plain::clean(&result.text),
                files_modified: if *outcome == ToolOutcome::Done { files } else { Vec::new() },
                duration_ms,
                truncated: result.truncated,
            },
            query_id: Some(self.query_id.clone()),
            tool_name: Some(call.name),
        };
        if started {
            self.show_diffs(counters, &id, result);
        }
        self.say(&params);
        if started {
            self.show_output(counters, &id, result);
        }
    }

    fn show_diffs(&mut self, counters: &mut Counters, id: &str, result: &ToolResult) {
        for part in &result.parts {
            // A file that was written as it stood has nothing to show.
            if let Part::Diff { path, text } = part
                && !text.is_empty()
            {
                self.diff(counters, path.clone(), text, Some(id.to_owned()));
            }
        }
    }

    /// What the tool gave back, as a block: the existing client shows nothing of `tool.complete`.
    fn show_output(&mut self, counters: &mut Counters, id: &str, result: &ToolResult) {
        if !self.style.blocks {
            return;
        }
        let mut text: String = result.text.chars().take(MAX_SHOWN).collect();
        if text.trim().is_empty() {
            return;
        }
        if text.len() < result.text.len() {
            text.push_str("\n[…]");
        }
        let metadata = BlockMetadata { execution_id: Some(id.to_owned()), ..BlockMetadata::default() };
        self.block(counters, "tool_output", None, &text, metadata);
    }

    /// Notes how a question ended, for the words about its tool.
    pub(super) fn ask_closed(&mut self, ask: AskId, closing: &Closing) {
        let asked = self.tools.values_mut().filter_map(|execution| execution.ask.as_mut());
        for asked in asked.filter(|asked| asked.ask == ask) {
            asked.closing = Some(closing.clone());
        }
    }
}

/// Words for a tool and its arguments.
fn doing(name: &str, args: &Json) -> String {
    let args = args.as_str().trim();
    if args == "{}" || args.is_empty() {
        return format!("Running {name}");
    }
    let mut short: String = args.chars().take(MAX_ARGS).collect();
    if short.len() < args.len() {
        short.push('…');
    }
    format!("Running {name} {short}")
}

fn changed_file(part: &Part) -> Option<String> {
    match part {
        // One that changes nothing is told where a file was written as it stood.
        Part::Diff { path, text } if !text.is_empty() => path.clone(),
        _ => None,
    }
}
