//! `parlor prompt`: what a model is told before the first word of a conversation.

use crate::aloud;
use crate::exit::{self, Exit};
use crate::output;
use host::launch::Launch;
use host::mode::{Folder, Ground};
use host::model_source::Source;
use serde_json::json;

/// Prints the text and the tools, and how long both are.
pub(crate) async fn print(launch: &Launch, as_json: bool) -> anyhow::Result<Exit> {
    let mut config = aloud::settings();
    config.fetch.enabled |= launch.fetch;
    let work_dir = aloud::work_dir(launch, &mut config)?;
    let wanted = launch.model.as_deref().or(config.model.as_deref());
    let source =
        Source::new(wanted).await.map_err(|why| exit::usage(format!("{why}\nhint: {}", why.hint())))?;
    let model = source.default_model().name;
    // As a session of the terminal begins here.
    let here = Launch { own_ui: true, ..launch.clone() };
    config.policy = Some(Ground::of(&here, &config, Folder::of(&work_dir, true)).mode(None));
    let told = engine::standing_text(&config, &work_dir, &model, tools::Toolbox::standard());
    for trouble in &told.trouble {
        output::print_error(trouble);
    }
    if as_json {
        let tools: Vec<_> = told
            .tools
            .iter()
            .map(|tool| json!({"name": tool.name, "description": tool.description, "schema": tool.schema}))
            .collect();
        output::print_line(&serde_json::to_string_pretty(&json!({"system": told.system, "tools": tools}))?);
        return Ok(Exit::Done);
    }
    output::print_line(&told.system);
    let mut size = 0;
    for tool in &told.tools {
        let schema = tool.schema.to_string();
        size += tool.name.len() + tool.description.len() + schema.len();
        output::print_line(&format!("\n--- the tool {}\n{}\n{schema}", tool.name, tool.description));
    }
    let text = told.system.len();
    output::print_error(&format!(
        "\n{text} bytes of text, {size} bytes of tools; tools of MCP servers come on top"
    ));
    Ok(Exit::Done)
}
