//! `parlor models`: what can be had now.

use crate::exit::Exit;
use crate::output;
use domain::session::ModelEntry;
use host::launch::Launch;
use host::model_source::Source;

/// Prints the models, the one in use marked.
pub(crate) async fn list(launch: &Launch, json: bool) -> anyhow::Result<Exit> {
    let source = Source::new(launch.model.as_deref()).await.map_err(|why| {
        let hint = why.hint();
        anyhow::anyhow!("{why}\nhint: {hint}")
    })?;
    let current = source.default_model();
    for (entry, guessed) in source.entries().await {
        let used = entry.model == current;
        output::print_line(&if json { as_json(&entry, used, guessed) } else { line(&entry, used, guessed) });
    }
    Ok(Exit::Done)
}

/// Figures of a related model have a `~` before them.
fn line(entry: &ModelEntry, used: bool, guessed: bool) -> String {
    let rough = if guessed { "~" } else { "" };
    let mark = if used { "*" } else { " " };
    let window = entry.context_window.map_or_else(String::new, |window| format!("{rough}{}k", window / 1000));
    let price = match (entry.price_input, entry.price_output) {
        (Some(input), Some(output)) => {
            format!("{rough}${} / ${} per million", dollars(input), dollars(output))
        }
        _ => String::new(),
    };
    format!("{mark} {:<44} {window:>6}  {price}", entry.model.to_string()).trim_end().to_owned()
}

fn dollars(micros: u64) -> String {
    format!("{}.{:02}", micros / 1_000_000, micros % 1_000_000 / 10_000)
}

fn as_json(entry: &ModelEntry, used: bool, guessed: bool) -> String {
    serde_json::json!({
        "provider": entry.model.provider,
        "name": entry.model.name,
        "context_window": entry.context_window,
        "max_output": entry.max_output,
        "price_input_micros": entry.price_input,
        "price_output_micros": entry.price_output,
        "guessed": guessed,
        "current": used,
    })
    .to_string()
}
