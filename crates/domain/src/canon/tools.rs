//! Tool runs of a foreign runtime: whatever the wire leaves out (the proposal, the decision, the start) is told first.

use super::Canon;
use crate::ask::Scope;
use crate::content::Json;
use crate::event::{Body, ToolEvent};
use crate::fact::Key;
use crate::ids::ToolRunId;
use crate::live::LiveOutput;
use crate::tool::{Decider, Decision, Progress, ToolOutcome, ToolResult};

/// A tool run that has not ended.
#[derive(Debug)]
pub(super) struct OpenTool {
    pub(super) id: ToolRunId,
    pub(super) decided: Option<bool>,
    pub(super) running: bool,
    live: LiveOutput,
}

impl Canon {
    pub(super) fn propose(&mut self, key: &Key, name: Option<String>, args: Option<Json>) -> ToolRunId {
        if let Some(open) = self.tools.get(key) {
            return open.id;
        }
        let message = self.assistant_message();
        let tool = ToolRunId::mint(&self.ids);
        let name = name.unwrap_or_else(|| "tool".to_owned());
        let args = args.unwrap_or_else(Json::empty);
        self.out.push(Body::Tool(ToolEvent::Proposed { tool, message, name, args }));
        let open = OpenTool { id: tool, decided: None, running: false, live: LiveOutput::default() };
        self.tools.insert(key.clone(), open);
        self.names.tools.insert(tool, key.clone());
        tool
    }

    pub(super) fn start_tool(&mut self, key: &Key, name: Option<String>, args: Option<Json>) {
        let tool = self.propose(key, name, args);
        self.withdraw_about(key);
        let Some(open) = self.tools.get_mut(key) else { return };
        if open.running {
            return;
        }
        match open.decided {
            // A foreign runtime that runs what was denied cannot be stopped from here; the record must not claim a yes.
            Some(false) => return,
            Some(true) => {}
            None => {
                open.decided = Some(true);
                self.out.push(Body::Tool(ToolEvent::Decided { tool, decision: foreign(true) }));
            }
        }
        open.running = true;
        self.out.push(Body::Tool(ToolEvent::Started { tool }));
    }

    pub(super) fn tool_progress(&mut self, key: &Key, progress: Progress) {
        self.start_tool(key, None, None);
        let now = self.now;
        if let Some(open) = self.tools.get_mut(key).filter(|open| open.running)
            && let Some(progress) = open.live.take(now, progress)
        {
            self.out.push(Body::Tool(ToolEvent::Progress { tool: open.id, progress }));
        }
    }

    pub(super) fn end_tool(&mut self, key: &Key, outcome: ToolOutcome, result: ToolResult) {
        match outcome {
            ToolOutcome::Done => self.start_tool(key, None, None),
            ToolOutcome::Failed
            | ToolOutcome::Denied
            | ToolOutcome::Skipped
            | ToolOutcome::Cancelled
            | ToolOutcome::Unknown => {
                self.propose(key, None, None);
                self.withdraw_about(key);
            }
        }
        if let Some(open) = self.tools.remove(key) {
            self.out.push(Body::Tool(ToolEvent::Ended { tool: open.id, outcome, result }));
        }
    }
}

/// A decision that the foreign runtime took without telling.
fn foreign(allowed: bool) -> Decision {
    Decision { allowed, by: Decider::Foreign, scope: Scope::Once, reason: None, digest: None }
}
