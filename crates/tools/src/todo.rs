//! `todo`: the model's plan for the work at hand. The tool only checks it; the engine turns it into what UIs show.

use crate::args::Args;
use crate::context::ToolContext;
use crate::tool::{BoxFuture, Outcome, Plan, Port, Spec, Tool, ToolError};
use domain::content::Json;
use domain::tool::ToolResult;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// Steps of one plan.
pub const MAX_ITEMS: usize = 100;
/// Characters of one step; the rest is cut.
pub const MAX_TEXT: usize = 500;

const NAME: &str = "todo";

/// Where a step of the plan stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ItemState {
    /// Not begun.
    Pending,
    /// Being done.
    Active,
    Done,
}

/// One step of the plan, as it stands in the result's `items`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct PlanItem {
    /// What is to be done.
    pub text: String,
    pub state: ItemState,
}

/// The tool with which the model keeps its plan.
#[derive(Debug, Clone, Copy)]
pub struct Todo;

/// The plan in a call's arguments.
pub fn items(args: &Value) -> Result<Vec<PlanItem>, ToolError> {
    let said = Args::new(NAME, args);
    let Some(Value::Array(list)) = said.find(&["items", "todos", "plan", "tasks", "steps"]) else {
        return Err(said.wrong("`items` must be a list of {text, state}"));
    };
    if list.len() > MAX_ITEMS {
        return Err(said.wrong(format!("`items` has {} entries, more than {MAX_ITEMS}", list.len())));
    }
    list.iter().map(item).collect()
}

fn item(value: &Value) -> Result<PlanItem, ToolError> {
    let said = Args::new(NAME, value);
    let text = match value {
        Value::String(text) => text,
        _ => said.text(&["text", "content", "step", "title", "task"])?,
    };
    let state = match said.text_opt(&["state", "status"])?.unwrap_or("pending") {
        "pending" | "todo" | "open" => ItemState::Pending,
        "active" | "in_progress" | "doing" => ItemState::Active,
        "done" | "completed" | "cancelled" => ItemState::Done,
        other => return Err(said.wrong(format!("`state` is pending, active or done, not {other}"))),
    };
    Ok(PlanItem { text: text.chars().take(MAX_TEXT).collect(), state })
}

impl Tool for Todo {
    fn spec(&self) -> Spec {
        Spec {
            name: NAME.into(),
            description: "Keep a plan for work of several steps, so that the person sees how far it is. Give the whole \
                          plan each time; one step at a time is active."
                .into(),
            schema: json!({
                "type": "object",
                "properties": {
                    "items": {
                        "type": "array",
                        "maxItems": MAX_ITEMS,
                        "items": {
                            "type": "object",
                            "properties": {
                                "text": {"type": "string"},
                                "state": {"type": "string", "enum": ["pending", "active", "done"]}
                            },
                            "required": ["text", "state"]
                        }
                    }
                },
                "required": ["items"]
            }),
            read_only: true,
        }
    }

    fn plan(&self, args: &Value, place: &ToolContext) -> Result<Plan, ToolError> {
        let items = items(args)?;
        let active = items.iter().find(|item| item.state == ItemState::Active);
        let title =
            active.map_or_else(|| "update the plan".to_owned(), |item| format!("plan: {}", item.text));
        Ok(Plan::reading(NAME, args, place, title))
    }

    fn run(&self, plan: Plan, _: Port) -> BoxFuture<'static, Outcome> {
        Box::pin(async move {
            Outcome::from(items(&plan.args).map(|items| {
                let done = items.iter().filter(|item| item.state == ItemState::Done).count();
                let text = format!("the plan has {} steps, {done} done", items.len());
                let json = Json::verbatim(json!({"items": items}).to_string());
                ToolResult { json: Some(json), ..ToolResult::text(text) }
            }))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plans_are_read_in_the_forms_that_models_write() {
        let plan = items(
            &json!({"todos": [{"content": "a", "status": "completed"}, {"text": "b", "state": "active"}, "c"]}),
        );
        let states: Vec<_> = plan.unwrap().into_iter().map(|item| (item.text, item.state)).collect();
        let expected = [("a", ItemState::Done), ("b", ItemState::Active), ("c", ItemState::Pending)];
        assert_eq!(states, expected.map(|(text, state)| (text.to_owned(), state)));
        for bad in [
            json!({}),
            json!({"items": 3}),
            json!({"items": [{"text": 1}]}),
            json!({"items": [{"text": "a", "state": "x"}]}),
        ] {
            assert!(items(&bad).is_err(), "{bad}");
        }
    }
}
