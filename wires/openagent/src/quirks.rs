//! Where the existing openagent programs leave their own document, and what we do. Each has a test of the same name.

use roles::fidelity::Quirk;

const fn quirk(name: &'static str, what: &'static str, ours: &'static str) -> Quirk {
    Quirk { name, what, ours }
}

/// The deviations.
pub const QUIRKS: &[Quirk] = &[
    quirk(
        "flat_names",
        "the client reads content, flat blocks, tool_name, description and risk_level; the document has token, block and tool",
        "both spellings side by side in params, nothing beside params",
    ),
    quirk(
        "preview_is_a_text",
        "the client reads preview as a string; the document has an object",
        "a string for openagent-terminal 0.1 and for clients that do not say who they are, an object for others",
    ),
    quirk(
        "errors_of_queries_show_nothing",
        "the client shows nothing of an error to agent.query and of stream.error",
        "openagent-terminal 0.1 gets the query accepted, an error block, and stream.complete",
    ),
    quirk(
        "approval_errors_are_results",
        "the backend answers a wrong tool.approve with a result of status error",
        "openagent-terminal 0.1 gets that; others get the document's errors",
    ),
    quirk(
        "raw_mode_line_breaks",
        "the client prints line breaks without a carriage return, so that text runs like stairs",
        "content of text and of exports and the preview of an approval have CR LF for openagent-terminal 0.1; token stays as it is",
    ),
    quirk(
        "blocks_are_printed_raw",
        "of blocks the client draws code and diffs; any other is printed as it stands, glued to the text before and after it",
        "for openagent-terminal 0.1 the content of such a block has lines of its own; the block inside stays as it is",
    ),
    quirk(
        "approvals_wait_for_ever",
        "the client shows no deadline of an approval and its prompt waits as long as the person does",
        "openagent-terminal 0.1 is given no deadline; others get the document's 30 seconds",
    ),
    quirk(
        "versions_are_not_checked",
        "the backend takes any protocol_version, and clients may skip initialize",
        "another major version is refused, as the document demands; initialize may be skipped",
    ),
    quirk(
        "sessions_by_id",
        "session.list, session.export, session.delete and session.load by session_id are not in the document",
        "served beside the document's session.save and session.load by path, in one result of both shapes",
    ),
    quirk(
        "zoned_times",
        "the client wants times with a zone and the backend writes none; titles must not be null and roles only user, assistant, system",
        "we write UTC with a zone, never a null title or another role; we read times without a zone as UTC",
    ),
    quirk(
        "complete_before_approval",
        "the backend sends stream.complete right after its request for approval and runs the tool inside tool.approve",
        "the run stays open until the answer's own answer brought the tool's result",
    ),
    quirk(
        "cancel_is_not_implemented",
        "the backend answers agent.cancel with not_implemented and goes on streaming",
        "the run ends here as cancelled; what still comes for it is dropped and what it still asks is denied",
    ),
    quirk(
        "rate_limit_is_a_result",
        "the backend tells its limit of 20 queries a minute as a result without a query_id",
        "the prompt is refused with what to do",
    ),
    quirk(
        "short_lines",
        "the backend closes the connection at a line of 64 KiB",
        "what would be longer is sent without its context, or refused with what to do",
    ),
    quirk(
        "no_query_in_approval",
        "the backend's tool.request_approval names no query",
        "it belongs to the query that is heard; without one it is denied",
    ),
];
