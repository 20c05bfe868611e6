//! Tools that stand in for real ones, so that a test sees when they run.

use domain::ask::Risk;
use domain::tool::ToolResult;
use serde_json::{Value, json};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::Barrier;
use tools::{BoxFuture, Deed, Outcome, Plan, Port, Spec, Tool, ToolContext, ToolError};

fn spec(name: &str, read_only: bool) -> Spec {
    let schema = json!({"type": "object", "properties": {"name": {"type": "string"}}});
    Spec { name: name.to_owned(), description: "a stand-in".to_owned(), schema, read_only }
}

/// Reads nothing, but only once as many calls as the barrier wants are under way at the same time.
pub(crate) struct Meet(pub(crate) Arc<Barrier>);

impl Tool for Meet {
    fn spec(&self) -> Spec {
        spec("meet", true)
    }

    fn plan(&self, args: &Value, place: &ToolContext) -> Result<Plan, ToolError> {
        Ok(Plan::reading("meet", args, place, "meet"))
    }

    fn run(&self, _: Plan, _: Port) -> BoxFuture<'static, Outcome> {
        let barrier = self.0.clone();
        Box::pin(async move {
            barrier.wait().await;
            Outcome::done(ToolResult::text("met"))
        })
    }
}

/// Changes something: writes down when it begins and ends.
#[derive(Default, Clone)]
pub(crate) struct Mark(pub(crate) Arc<Mutex<Vec<String>>>);

impl Mark {
    pub(crate) fn seen(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }
}

impl Tool for Mark {
    fn spec(&self) -> Spec {
        spec("mark", false)
    }

    fn plan(&self, args: &Value, place: &ToolContext) -> Result<Plan, ToolError> {
        let mut plan = Plan::reading("mark", args, place, "mark");
        plan.raise(Risk::Medium, "it changes something");
        (plan.read_only, plan.deed) = (false, Deed::Other);
        Ok(plan)
    }

    fn run(&self, plan: Plan, _: Port) -> BoxFuture<'static, Outcome> {
        let marks = self.0.clone();
        Box::pin(async move {
            let name = plan.args["name"].as_str().unwrap_or("?").to_owned();
            marks.lock().unwrap().push(format!("{name} begins"));
            tokio::task::yield_now().await;
            marks.lock().unwrap().push(format!("{name} ends"));
            Outcome::done(ToolResult::text(format!("marked {name}")))
        })
    }
}

/// Does not hear a cancel, and holds on to its live output.
pub(crate) struct Deaf;

impl Tool for Deaf {
    fn spec(&self) -> Spec {
        spec("deaf", true)
    }

    fn plan(&self, args: &Value, place: &ToolContext) -> Result<Plan, ToolError> {
        Ok(Plan::reading("deaf", args, place, "deaf"))
    }

    fn run(&self, _: Plan, port: Port) -> BoxFuture<'static, Outcome> {
        Box::pin(async move {
            std::future::pending::<()>().await;
            drop(port);
            Outcome::cancelled()
        })
    }
}

/// Needs a while to put things in order once it is told to stop.
#[derive(Default, Clone)]
pub(crate) struct Orderly(pub(crate) Arc<AtomicBool>);

impl Tool for Orderly {
    fn spec(&self) -> Spec {
        spec("orderly", true)
    }

    fn plan(&self, args: &Value, place: &ToolContext) -> Result<Plan, ToolError> {
        Ok(Plan::reading("orderly", args, place, "orderly"))
    }

    fn run(&self, _: Plan, port: Port) -> BoxFuture<'static, Outcome> {
        let in_order = self.0.clone();
        Box::pin(async move {
            port.cancel.cancelled().await;
            tokio::time::sleep(Duration::from_millis(20)).await;
            in_order.store(true, Ordering::SeqCst);
            Outcome::cancelled()
        })
    }
}

/// Breaks.
pub(crate) struct Broken;

impl Tool for Broken {
    fn spec(&self) -> Spec {
        spec("broken", true)
    }

    fn plan(&self, args: &Value, place: &ToolContext) -> Result<Plan, ToolError> {
        Ok(Plan::reading("broken", args, place, "broken"))
    }

    fn run(&self, _: Plan, _: Port) -> BoxFuture<'static, Outcome> {
        Box::pin(async { panic!("a defect") })
    }
}
