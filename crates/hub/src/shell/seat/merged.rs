//! Two events of one stream as one, for who reads more slowly than it comes.

use domain::event::{Body, ContextEvent, Event, MessageEvent, NoteEvent, RunEvent, ToolEvent};
use domain::tool::Progress;

/// Two deltas of one stream as one, or the newer of two values, with the number of the newer.
pub(super) fn merge(before: &Event, after: &Event) -> Option<Event> {
    let body = match (&before.body, &after.body) {
        (
            Body::Message(MessageEvent::Delta { message, kind, text }),
            Body::Message(MessageEvent::Delta { message: message_2, kind: kind_2, text: more }),
        ) if message == message_2 && kind == kind_2 => Body::Message(MessageEvent::Delta {
            message: *message,
            kind: *kind,
            text: format!("{text}{more}"),
        }),
        (
            Body::Tool(ToolEvent::Progress { tool, progress: Progress::Output(text) }),
            Body::Tool(ToolEvent::Progress { tool: tool_2, progress: Progress::Output(more) }),
        ) if tool == tool_2 => Body::Tool(ToolEvent::Progress {
            tool: *tool,
            progress: Progress::Output(format!("{text}{more}")),
        }),
        (
            Body::Tool(ToolEvent::Progress { tool, progress: Progress::Output(_) | Progress::Replace(_) }),
            Body::Tool(ToolEvent::Progress { tool: tool_2, progress: Progress::Replace(_) }),
        )
        | (
            Body::Tool(ToolEvent::Progress { tool, progress: Progress::Status { .. } }),
            Body::Tool(ToolEvent::Progress { tool: tool_2, progress: Progress::Status { .. } }),
        ) if tool == tool_2 => after.body.clone(),
        (Body::Context(ContextEvent::Measured { .. }), Body::Context(ContextEvent::Measured { .. }))
        | (Body::Run(RunEvent::Retrying { .. }), Body::Run(RunEvent::Retrying { .. }))
        | (Body::Note(NoteEvent::PlanChanged { .. }), Body::Note(NoteEvent::PlanChanged { .. })) => {
            after.body.clone()
        }
        _ => return None,
    };
    Some(Event { seq: after.seq, at: after.at, body })
}
