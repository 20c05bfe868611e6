//! Tool runs of a foreign runtime: whatever the wire leaves out (the proposal, the decision, the start) is told first.

use super::Canon;
use super::draft::Draft;
use crate::ask::Scope;
use crate::content::Json;
use crate::event::{Body, ToolEvent};
use crate::fact::Key;
use crate::ids::{Millis, ToolRunId};
use crate::live::LiveOutput;
use crate::tool::{Decider, Decision, Progress, ToolOutcome, ToolResult};

/// A tool run that has not ended.
#[derive(Debug)]
pub(super) struct HeardTool {
    pub(super) id: ToolRunId,
    live: LiveOutput,
}

impl Canon {
    /// Our id of a tool run, which is proposed first if the wire has not said so.
    pub(super) fn propose(
        &mut self,
        draft: &mut Draft<'_>,
        key: &Key,
        name: Option<String>,
        args: Option<Json>,
    ) -> ToolRunId {
        if let Some(open) = self.tools.get(key) {
            return open.id;
        }
        let message = self.assistant_message(draft);
        let tool = ToolRunId::mint(&self.ids);
        let name = name.unwrap_or_else(|| "tool".to_owned());
        let args = args.unwrap_or_else(Json::empty);
        draft.push(Body::Tool(ToolEvent::Proposed { tool, message, name, args }));
        self.tools.insert(key.clone(), HeardTool { id: tool, live: LiveOutput::default() });
        self.names.tools.insert(tool, key.clone());
        tool
    }

    /// A rule or the mode here said yes, unless somebody has decided by now.
    pub(super) fn allow_tool(&mut self, draft: &mut Draft<'_>, key: &Key, by: Decider) {
        let tool = self.propose(draft, key, None, None);
        if draft.tool(tool).allowed.is_none() {
            let decision = Decision { by, ..foreign(true) };
            draft.push(Body::Tool(ToolEvent::Decided { tool, decision }));
        }
    }

    /// A tool runs, or the peer says something that only a running tool can do.
    pub(super) fn start_tool(
        &mut self,
        draft: &mut Draft<'_>,
        key: &Key,
        name: Option<String>,
        args: Option<Json>,
    ) {
        let tool = self.propose(draft, key, name, args);
        let stand = draft.tool(tool);
        if stand.running {
            return;
        }
        self.withdraw_about(draft, tool);
        match stand.allowed {
            // A foreign runtime that runs what was denied cannot be stopped from here; the record must not claim a yes.
            Some(false) => return,
            Some(true) => {}
            None => draft.push(Body::Tool(ToolEvent::Decided { tool, decision: foreign(true) })),
        }
        draft.push(Body::Tool(ToolEvent::Started { tool }));
    }

    /// Live output or a measure of a tool that runs.
    pub(super) fn tool_progress(
        &mut self,
        draft: &mut Draft<'_>,
        now: Millis,
        key: &Key,
        progress: Progress,
    ) {
        self.start_tool(draft, key, None, None);
        if let Some(open) = self.tools.get_mut(key).filter(|open| draft.tool(open.id).running)
            && let Some(progress) = open.live.take(now, progress)
        {
            draft.push(Body::Tool(ToolEvent::Progress { tool: open.id, progress }));
        }
    }

    /// A tool run is over; one that did something is told to have started first.
    pub(super) fn end_tool(
        &mut self,
        draft: &mut Draft<'_>,
        key: &Key,
        outcome: ToolOutcome,
        result: ToolResult,
    ) {
        match outcome {
            ToolOutcome::Done => self.start_tool(draft, key, None, None),
            ToolOutcome::Failed
            | ToolOutcome::Denied
            | ToolOutcome::Skipped
            | ToolOutcome::Cancelled
            | ToolOutcome::Unknown => {
                let tool = self.propose(draft, key, None, None);
                self.withdraw_about(draft, tool);
            }
        }
        if let Some(open) = self.tools.remove(key) {
            draft.push(Body::Tool(ToolEvent::Ended { tool: open.id, outcome, result }));
        }
    }
}

/// A decision that the foreign runtime took without telling.
fn foreign(allowed: bool) -> Decision {
    Decision { allowed, by: Decider::Foreign, scope: Scope::Once, reason: None, digest: None }
}
