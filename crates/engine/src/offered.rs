//! Tools that a UI offers and performs itself: the model sees them beside ours, they get their consent like any tool of which nobody knows
//! what it does, and then the UI is waited for, within a bound.
//!
//! What it is not: the way to the UI. It hears from the record that its tool was started, and says by an order what came of it.

use crate::long_text::{MAX_TEXT, cap};
use domain::ask::{Preview, Risk};
use domain::content::Part;
use domain::ids::ToolRunId;
use domain::offer::Offer;
use domain::tool::ToolResult;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::oneshot;
use tools::{BoxFuture, Deed, Outcome, Plan, Port, Spec, Tool, ToolContext, ToolError};

/// Characters of a description that the model reads.
const MAX_DESCRIPTION: usize = 2_000;
/// Bytes of a schema; a larger one is left open.
const MAX_SCHEMA: usize = 32 * 1024;
/// Most pictures of one result.
const MAX_IMAGES: usize = 8;
/// What the model reads when nobody is left to perform a tool.
pub(crate) const UI_LEFT: &str = "The UI that performs this tool has left. Go on without it.";
/// By what an offer is allowed whose UI wants nobody to be asked.
pub(crate) const WAIVED: &str = "the UI that performs it says that nobody has to be asked";

/// What a UI says about a call.
#[derive(Debug)]
pub(crate) struct Performed {
    pub(crate) failed: bool,
    pub(crate) result: ToolResult,
}

#[derive(Debug, Default)]
struct CallTable {
    open: BTreeMap<ToolRunId, oneshot::Sender<Performed>>,
    gone: bool,
}

/// The calls of one session that a UI has to answer. Clones share them.
#[derive(Debug, Default, Clone)]
pub(crate) struct OpenCalls(Arc<Mutex<CallTable>>);

/// A call that is waited for; dropped, it is forgotten.
pub(crate) struct OpenCall {
    calls: OpenCalls,
    tool: ToolRunId,
    answer: oneshot::Receiver<Performed>,
}

impl OpenCalls {
    /// A turn begins, with offers of a UI that is there.
    pub(crate) fn begin(&self) {
        self.lock().gone = false;
    }

    /// Waits for a call; register before its start is reported, so that no answer can be missed.
    pub(crate) fn wait_for(&self, tool: ToolRunId) -> OpenCall {
        let (sender, answer) = oneshot::channel();
        let mut book = self.lock();
        if !book.gone {
            book.open.insert(tool, sender);
        }
        OpenCall { calls: self.clone(), tool, answer }
    }

    /// The UI has answered.
    pub(crate) fn close(&self, tool: ToolRunId, performed: Performed) {
        if let Some(waiting) = self.lock().open.remove(&tool) {
            let _ = waiting.send(performed);
        }
    }

    /// The UI is gone: nothing is answered any more.
    pub(crate) fn gone(&self) {
        let mut book = self.lock();
        book.gone = true;
        book.open.clear();
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, CallTable> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl OpenCall {
    /// What came of it; `None` when nobody is left to say it.
    pub(crate) async fn answered(&mut self) -> Option<Performed> {
        (&mut self.answer).await.ok()
    }
}

impl Drop for OpenCall {
    fn drop(&mut self) {
        self.calls.lock().open.remove(&self.tool);
    }
}

/// A tool of a UI as one of ours.
pub(crate) struct OfferedTool {
    spec: Spec,
}

impl OfferedTool {
    pub(crate) fn new(offer: &Offer) -> OfferedTool {
        let schema = serde_json::from_str::<Value>(offer.schema.as_str())
            .ok()
            .filter(|schema| offer.schema.as_str().len() <= MAX_SCHEMA && schema["type"] == "object");
        let spec = Spec {
            name: offer.name.clone(),
            description: offer.description.chars().take(MAX_DESCRIPTION).collect(),
            schema: schema.unwrap_or_else(|| json!({"type": "object"})),
            read_only: false,
        };
        OfferedTool { spec }
    }
}

impl Tool for OfferedTool {
    fn spec(&self) -> Spec {
        self.spec.clone()
    }

    fn plan(&self, args: &Value, place: &ToolContext) -> Result<Plan, ToolError> {
        let name = &self.spec.name;
        let mut plan = Plan::reading(name, args, place, format!("{name}, which the UI performs"));
        plan.raise(Risk::Medium, "the UI does it; only it knows what that changes");
        (plan.read_only, plan.deed) = (false, Deed::Other);
        plan.preview = Some(Preview::Text(format!("{name} {args:#}")));
        // No rule: another UI may call something else by the same name.
        Ok(plan)
    }

    fn run(&self, _plan: Plan, _port: Port) -> BoxFuture<'static, Outcome> {
        // The turn waits for the UI itself: only it knows under which id the call was told.
        Box::pin(async { Outcome::failed(UI_LEFT) })
    }
}

/// What a UI gave back, no larger than what any tool may give.
pub(crate) fn bounded(performed: Performed, outputs: &Path, id: &str) -> Outcome {
    let Performed { failed, result } = performed;
    let (text, cut) = cap(result.text, outputs, "ui", id);
    if failed {
        return Outcome::failed(text);
    }
    let images = result.parts.into_iter().filter(|part| matches!(part, Part::Image { .. }));
    Outcome::done(ToolResult {
        text,
        parts: images.take(MAX_IMAGES).collect(),
        json: result.json.filter(|json| json.as_str().len() <= MAX_TEXT),
        truncated: cut || result.truncated,
    })
}
