//! Tools of the UI: offered with `run.start`, called when the engine has started them, answered by the UI or taken back.
//!
//! What is called and when it is over follows from the record alone, so nothing is called that was not allowed first. An answer that comes
//! after that is ignored. An answer that cannot be read is a failure: the UI believes that it has answered.

use super::super::run_name;
use super::super::wire::{
    ClientTool, ClientToolCallParams, ClientToolCallResult, ClientToolCancelParams, InputPart,
};
use super::requests::{self, CodeliaMemo};
use super::{CodeliaRuntime, runs, tool_words};
use domain::command::{Command, Target};
use domain::content::{Json, Part};
use domain::event::ToolEvent;
use domain::ids::{RunId, SessionId, ToolRunId};
use domain::offer::Offer;
use domain::tool::{ToolOutcome, ToolResult};
use rolekit::endpoint::MAX_PENDING;
use rolekit::exchange::TableRole as _;
use rolekit::rpc;
use roles::{RuntimeCx, View};
use serde_json::Value;
use serde_json::value::RawValue;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use wire::jsonrpc::RpcError;
use wire::{Correlation, WireId};

/// How ids of calls begin: those of questions begin otherwise.
const PREFIX: &str = "tool_";
/// What the model reads of a tool that gave nothing back.
const NO_RESULT: &str = "(no result)";

/// A call that the UI has not answered.
#[derive(Debug)]
struct ClientCall {
    session: SessionId,
    run: RunId,
    tool: ToolRunId,
    name: String,
}

/// What the UI offers, and what it was called for.
#[derive(Debug, Default)]
pub(super) struct ClientTools {
    ids: Correlation<()>,
    offered: BTreeMap<(SessionId, RunId), BTreeSet<String>>,
    open: HashMap<WireId, ClientCall>,
}

impl ClientTools {
    /// A run began, with these tools of the UI.
    pub(super) fn offered(&mut self, session: &SessionId, run: RunId, names: BTreeSet<String>) {
        if names.is_empty() {
            return;
        }
        if self.offered.len() >= MAX_PENDING {
            self.offered.pop_first();
        }
        self.offered.insert((session.clone(), run), names);
    }

    /// A run is over: nothing of it is called any more.
    pub(super) fn run_over(&mut self, session: &SessionId, run: RunId) {
        self.offered.remove(&(session.clone(), run));
    }

    /// Nothing of this session is told any more.
    pub(super) fn forget(&mut self, session: &SessionId) {
        self.offered.retain(|(of, _), _| of != session);
        self.open.retain(|_, call| call.session != *session);
    }
}

impl CodeliaRuntime {
    /// A tool of the session goes on: one of the UI's is called, or taken back.
    pub(super) fn tool_event(&mut self, cx: &mut RuntimeCx<'_>, view: View<'_>, event: &ToolEvent) {
        match event {
            ToolEvent::Started { tool } => self.call_ui(cx, view, *tool),
            ToolEvent::Ended { tool, outcome, .. } => self.take_back(cx, view.session, *tool, outcome),
            ToolEvent::Proposed { .. } | ToolEvent::Decided { .. } | ToolEvent::Progress { .. } => {}
        }
    }

    fn call_ui(&mut self, cx: &mut RuntimeCx<'_>, view: View<'_>, tool: ToolRunId) {
        // A slow link may hear of the start when the tool is over already.
        let Some(started) = view.state.tool(tool).filter(|started| !started.ended()) else { return };
        let key = (view.session.clone(), started.run);
        if !self.client_tools.offered.get(&key).is_some_and(|names| names.contains(&started.name)) {
            return;
        }
        let id = self.client_tools.ids.next_string_id(PREFIX);
        let raw = started.args.as_str();
        let arguments = RawValue::from_string(raw.trim().to_owned()).ok();
        let params = ClientToolCallParams {
            run_id: run_name::write(view.session, started.run),
            name: started.name.clone(),
            arguments: arguments.filter(|arguments| arguments.get().starts_with('{')),
            raw_arguments: raw.to_owned(),
        };
        cx.send(rpc::request(&id, &params));
        let (session, run, name) = (view.session.clone(), started.run, started.name.clone());
        self.client_tools.open.insert(id, ClientCall { session, run, tool, name });
    }

    /// The tool is over; the UI must not go on with what it has not answered.
    fn take_back(
        &mut self,
        cx: &mut RuntimeCx<'_>,
        session: &SessionId,
        tool: ToolRunId,
        outcome: &ToolOutcome,
    ) {
        let open = self.client_tools.open.iter();
        let mut calls = open.filter(|(_, call)| call.session == *session && call.tool == tool);
        let Some(id) = calls.next().map(|(id, _)| id.clone()) else { return };
        let Some(call) = self.client_tools.open.remove(&id) else { return };
        let reason = if *outcome == ToolOutcome::Cancelled { "cancelled" } else { "timeout" };
        cx.send(rpc::notification(&ClientToolCancelParams {
            request_id: id.as_text().unwrap_or_default().to_owned(),
            run_id: run_name::write(&call.session, call.run),
            name: call.name,
            reason: reason.to_owned(),
        }));
    }

    /// The UI answers a call; `false` when it is none that waits.
    pub(super) fn performed(
        &mut self,
        cx: &mut RuntimeCx<'_>,
        id: &WireId,
        outcome: &Result<&RawValue, RpcError>,
    ) -> bool {
        let Some(ClientCall { session, tool, .. }) = self.client_tools.open.remove(id) else { return false };
        let (failed, result) = match lift_result(outcome) {
            Ok(result) => (false, result),
            Err(why) => (true, ToolResult::text(why)),
        };
        let command = Command::Performed { tool, failed, result };
        self.tell_hub(cx, Target::Session(session), command, CodeliaMemo::Answer);
        true
    }
}

/// The tools that a UI offers, in our words. On this wire some tools of ours have other names, which are taken too.
///
/// # Errors
/// When one cannot be offered.
pub(super) fn lift_offers(tools: Vec<ClientTool>) -> Result<Vec<Offer>, RpcError> {
    if let Some(tool) = tools.iter().find(|tool| tool_words::is_ours(&tool.name)) {
        return Err(requests::invalid(format!("the tool {:?} is there already", tool.name)));
    }
    let offer = |tool: ClientTool| Offer {
        name: tool.name,
        description: tool.description,
        schema: tool
            .parameters
            .map_or_else(Json::empty, |schema| Json::verbatim(String::from(Box::<str>::from(schema)))),
        patience_ms: tool.timeout_ms,
        unasked: tool.approval.as_deref() == Some("never"),
    };
    let offers: Vec<Offer> = tools.into_iter().map(offer).collect();
    domain::offer::check(&offers).map_err(requests::invalid)?;
    Ok(offers)
}

fn lift_result(outcome: &Result<&RawValue, RpcError>) -> Result<ToolResult, String> {
    let raw = match outcome {
        Ok(raw) => raw.get(),
        Err(error) => return Err(format!("The UI refused to perform it: {}", error.message)),
    };
    let answer: ClientToolCallResult =
        serde_json::from_str(raw).map_err(|why| format!("The answer of the UI cannot be read: {why}"))?;
    if !answer.ok {
        return Err(answer.error.unwrap_or_else(|| "The UI says that it did not work.".to_owned()));
    }
    Ok(match answer.result {
        None | Some(Value::Null) => ToolResult::text(NO_RESULT),
        Some(Value::String(text)) => ToolResult::text(text),
        Some(Value::Object(object)) => lift_object(object),
        Some(other) => ToolResult::text(other.to_string()),
    })
}

fn lift_object(mut object: serde_json::Map<String, Value>) -> ToolResult {
    let kind = object.get("type").and_then(Value::as_str).map(str::to_owned);
    let value = match (kind.as_deref(), object.remove("text"), object.remove("value"), object.remove("parts"))
    {
        (Some("text"), Some(Value::String(text)), ..) => return ToolResult::text(text),
        (Some("json"), _, Some(value), _) => value,
        (Some("parts"), _, _, Some(Value::Array(parts))) => return lift_parts(parts),
        (_, text, value, parts) => {
            let put_back = [("text", text), ("value", value), ("parts", parts)];
            object.extend(put_back.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))));
            Value::Object(object)
        }
    };
    let text = value.to_string();
    ToolResult { json: Some(Json::verbatim(text.clone())), ..ToolResult::text(text) }
}

fn lift_parts(parts: Vec<Value>) -> ToolResult {
    let (mut texts, mut images) = (Vec::new(), Vec::new());
    for part in parts {
        let unread = part.to_string();
        match serde_json::from_value(part) {
            Ok(InputPart::Text { text }) => texts.push(text),
            Ok(InputPart::ImageUrl { image_url }) => match runs::data_url(&image_url.url) {
                Some((mime, base64)) => {
                    images.push(Part::Image { mime: mime.to_owned(), base64: base64.into() });
                }
                None => texts.push(format!("[image: {}]", image_url.url)),
            },
            Err(_) => texts.push(unread),
        }
    }
    ToolResult { parts: images, ..ToolResult::text(texts.join("\n")) }
}
