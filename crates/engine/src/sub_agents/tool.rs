//! `task`: the model gives a task to a sub-agent. What it does is judged call by call; the call itself changes nothing.

use super::{SubAgents, WORKTREE};
use domain::ask::{Preview, Risk};
use domain::harmless;
use domain::path_text;
use serde_json::{Value, json};
use std::sync::Arc;
use tools::args::Args;
use tools::{BoxFuture, Deed, Outcome, Plan, Port, Spec, Tool, ToolContext, ToolError, digest};

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
    /// Whether it is to be done in a git worktree of its own.
    pub(crate) apart: bool,
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
        let apart = said.text_opt(&["isolation"])?.is_some_and(|word| word == WORKTREE);
        Ok(Task { agent: agent.trim().to_owned(), prompt: prompt.to_owned(), title, apart })
    }
}

/// The tool that gives a task to a sub-agent. The turn itself performs it.
pub(crate) struct TaskTool(Arc<SubAgents>);

impl TaskTool {
    /// The tool where these can be given one: what a call does depends on who does it.
    pub(crate) fn of(sub_agents: &Arc<SubAgents>) -> TaskTool {
        TaskTool(sub_agents.clone())
    }
}

impl Tool for TaskTool {
    fn spec(&self) -> Spec {
        Spec {
            name: NAME.to_owned(),
            description: "Give a sub-agent a task and get its last words: `explore` only looks, `general` has your tools. It knows only \
                          `prompt`."
                .to_owned(),
            schema: json!({
                "type": "object",
                "properties": {
                    "agent": {"type": "string"},
                    "prompt": {"type": "string"},
                    "isolation": {"enum": [WORKTREE]}
                },
                "required": ["prompt"]
            }),
            read_only: true,
        }
    }

    fn plan(&self, args: &Value, place: &ToolContext) -> Result<Plan, ToolError> {
        let task = Task::read(args)?;
        let mut plan = Plan::reading(NAME, args, place, format!("{}: {}", task.agent, task.title));
        let Some(other) = self.0.named(&task.agent).and_then(|agent| agent.other.as_ref()) else {
            return Ok(plan);
        };
        // It works by its own hands, so the call is what is decided on.
        (plan.read_only, plan.deed) = (false, Deed::Other);
        plan.raise(
            Risk::Medium,
            format!(
                "{} is another program's agent: in the sandbox it changes files of this project unasked",
                other.name
            ),
        );
        // A yes is for this command at this file.
        let file = (other.file.clone(), Some(other.typed.clone()));
        plan.digest = digest::action(NAME, args, place.workdir(), &[file]);
        let (typed, file) = (harmless::visible(&other.typed), path_text::write(&other.file));
        plan.preview =
            Some(Preview::Text(format!("{typed}\n({file})\n\n{}", harmless::visible(&task.prompt))));
        Ok(plan)
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
        let spec = TaskTool(Arc::default()).spec();
        let size = spec.name.len() + spec.description.len() + spec.schema.to_string().len();
        assert!(size < 600, "{size}");
    }

    #[test]
    fn a_task_is_read_in_the_forms_that_models_write() {
        let task =
            Task::read(&json!({"subagent_type": "explore", "prompt": "find it", "description": "Find\nit"}));
        let expected =
            Task { agent: "explore".into(), prompt: "find it".into(), title: "Find it".into(), apart: false };
        assert_eq!(task.unwrap(), expected);
        assert_eq!(Task::read(&json!({"prompt": "x"})).unwrap().agent, USUAL);
        assert!(Task::read(&json!({"agent": "explore"})).is_err());
    }
}
