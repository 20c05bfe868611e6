//! `parlor prompt`: what a model is told before the first word of a conversation.

use crate::exit::{self, Exit};
use crate::launch::Launch;
use crate::model_source::Source;
use crate::{places, settings};
use serde_json::json;

/// Prints the text and the tools, and how long both are.
pub(crate) async fn print(launch: &Launch, as_json: bool) -> anyhow::Result<Exit> {
    let mut config = settings::read_aloud();
    config.fetch.enabled |= launch.fetch;
    let ground = places::ground_aloud(launch, &mut config)?;
    let wanted = launch.model.as_deref().or(config.model.as_deref());
    let source =
        Source::new(wanted).await.map_err(|why| exit::usage(format!("{why}\nhint: {}", why.hint())))?;
    let model = source.default_model().name;
    let told = engine::standing_text(&config, &ground, &model, tools::Toolbox::standard());
    for trouble in &told.trouble {
        exit::complain(trouble);
    }
    if as_json {
        let tools: Vec<_> = told
            .tools
            .iter()
            .map(|tool| json!({"name": tool.name, "description": tool.description, "schema": tool.schema}))
            .collect();
        exit::say(&serde_json::to_string_pretty(&json!({"system": told.system, "tools": tools}))?);
        return Ok(Exit::Done);
    }
    exit::say(&told.system);
    let mut size = 0;
    for tool in &told.tools {
        let schema = tool.schema.to_string();
        size += tool.name.len() + tool.description.len() + schema.len();
        exit::say(&format!("\n--- the tool {}\n{}\n{schema}", tool.name, tool.description));
    }
    let text = told.system.len();
    exit::complain(&format!(
        "\n{text} bytes of text, {size} bytes of tools; tools of MCP servers come on top"
    ));
    Ok(Exit::Done)
}
