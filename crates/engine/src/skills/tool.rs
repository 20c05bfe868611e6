//! `skill`: the model loads a skill that it saw in the list.

use super::{Skill, Skills};
use domain::tool::ToolResult;
use serde_json::{Value, json};
use std::sync::Arc;
use tools::args::Args;
use tools::{BoxFuture, Outcome, Plan, Port, Spec, Tool, ToolContext, ToolError};

const NAME: &str = "skill";

/// The tool with which the model loads a skill's instructions.
pub(crate) struct SkillTool(pub(crate) Arc<Skills>);

impl SkillTool {
    fn wanted(&self, args: &Value) -> Result<&Skill, ToolError> {
        let said = Args::new(NAME, args);
        let name = said.text(&["name", "skill", "id"])?;
        self.0.all.iter().find(|skill| skill.entry.name == name).ok_or_else(|| {
            let names: Vec<&str> = self.0.all.iter().map(|skill| skill.entry.name.as_str()).collect();
            ToolError::Args {
                tool: NAME.to_owned(),
                why: format!("there is no skill {name}; there are: {}", names.join(", ")),
            }
        })
    }
}

impl Tool for SkillTool {
    fn spec(&self) -> Spec {
        Spec {
            name: NAME.to_owned(),
            description: "Load a skill: instructions for a kind of task. Take it when its description fits what is to be \
                          done, before you begin."
                .to_owned(),
            schema: json!({
                "type": "object",
                "properties": {"name": {"type": "string", "description": "The skill's name from the list"}},
                "required": ["name"]
            }),
            read_only: true,
        }
    }

    fn plan(&self, args: &Value, place: &ToolContext) -> Result<Plan, ToolError> {
        let skill = self.wanted(args)?;
        Ok(Plan::reading(NAME, args, place, format!("skill {}", skill.entry.name)))
    }

    fn run(&self, plan: Plan, _: Port) -> BoxFuture<'static, Outcome> {
        let skill = self.wanted(&plan.args).cloned();
        Box::pin(async move {
            let load = || match skill {
                Ok(skill) => match skill.load() {
                    Ok(text) => Outcome::done(ToolResult::text(text)),
                    Err(why) => Outcome::failed(why),
                },
                Err(why) => Outcome::failed(why.to_string()),
            };
            tokio::task::spawn_blocking(load)
                .await
                .unwrap_or_else(|_| Outcome::failed("the skill could not be read"))
        })
    }
}
