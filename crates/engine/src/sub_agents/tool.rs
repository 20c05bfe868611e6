//! `task`: the model gives a task to a sub-agent. What it does is judged call by call; the call itself changes nothing.

use domain::harmless;
use serde_json::{Value, json};
use tools::args::Args;
use tools::{BoxFuture, Outcome, Plan, Port, Spec, Tool, ToolContext, ToolError};

pub(crate) const NAME: &str = "task";
/// The one that is meant where none is named.
const USUAL: &str = "general";
/// Characters of a task that name it to a person.
const MAX_TITLE: usize = 80;

/// A task as the model gives it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Task {
    pub(crate) agent: String,
    pub(crate) prompt: String,
    /// A few words for the person.
    pub(crate) title: String,
}

impl Task {
    /// Reads a call's arguments, also as Claude Code's models write them.
    ///
    /// # Errors
    /// What is missing.
    pub(crate) fn read(args: &Value) -> Result<Task, ToolError> {
        let said = Args::new(NAME, args);
        let agent = said.text_opt(&["agent", "subagent_type", "subagent", "agent_type"])?.unwrap_or(USUAL);
        let prompt = said.text(&["prompt", "task", "message", "instructions"])?;
        let words = said.text_opt(&["title", "description"])?.unwrap_or(prompt);
        let seen = harmless::visible(words);
        let title = seen.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(MAX_TITLE).collect();
        Ok(Task { agent: agent.trim().to_owned(), prompt: prompt.to_owned(), title })
    }
}

/// The tool that gives a task to a sub-agent. The turn itself performs it.
pub(crate) struct TaskTool;

impl Tool for TaskTool {
    fn spec(&self) -> Spec {
        Spec {
            name: NAME.to_owned(),
            description: "Give a task to a sub-agent and get its last words: `explore` only looks, `general` has your tools. It knows \
                          only `prompt`. Calls run side by side."
                .to_owned(),
            schema: json!({
                "type": "object",
                "properties": {"agent": {"type": "string"}, "prompt": {"type": "string"}},
                "required": ["agent", "prompt"]
            }),
            read_only: true,
        }
    }

    fn plan(&self, args: &Value, place: &ToolContext) -> Result<Plan, ToolError> {
        let task = Task::read(args)?;
        Ok(Plan::reading(NAME, args, place, format!("{}: {}", task.agent, task.title)))
    }

    fn run(&self, _: Plan, _: Port) -> BoxFuture<'static, Outcome> {
        // The turn does it: only it knows what the sub-agent shall work with.
        Box::pin(async { Outcome::failed("There are no sub-agents here.") })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_every_request_carries_of_it_is_small() {
        let spec = TaskTool.spec();
        let size = spec.name.len() + spec.description.len() + spec.schema.to_string().len();
        assert!(size < 600, "{size}");
    }

    #[test]
    fn a_task_is_read_in_the_forms_that_models_write() {
        let task =
            Task::read(&json!({"subagent_type": "explore", "prompt": "find it", "description": "Find\nit"}));
        let expected = Task { agent: "explore".into(), prompt: "find it".into(), title: "Find it".into() };
        assert_eq!(task.unwrap(), expected);
        assert_eq!(Task::read(&json!({"prompt": "x"})).unwrap().agent, USUAL);
        assert!(Task::read(&json!({"agent": "explore"})).is_err());
    }
}
