//! A session as Markdown: readable as it is, and in any viewer.

use crate::{beside, conversation, facts, output, speaker, standing, when};
use domain::content::Part;
use domain::event::Finish;
use domain::state::{Entry, EntryKind, Message, State};
use domain::tool::ToolRun;
use std::fmt::Write;

/// The conversation on the active path as Markdown.
pub fn markdown(state: &State) -> String {
    let mut out = format!("# {}\n\n", one_line(&state.title()));
    for (name, value) in facts(state) {
        put(&mut out, format_args!("- {name}: {}\n", one_line(&value)));
    }
    for entry in conversation(state) {
        out.push('\n');
        tell(&mut out, state, entry);
    }
    out
}

/// Writing to a text does not fail.
fn put(out: &mut String, text: std::fmt::Arguments<'_>) {
    let _ = out.write_fmt(text);
}

fn tell(out: &mut String, state: &State, entry: &Entry) {
    match &entry.kind {
        EntryKind::Message(message) => {
            put(out, format_args!("## {} · {}\n", speaker(message.role), when(entry.at)));
            tell_message(out, state, message);
        }
        EntryKind::Compaction(compaction) => {
            put(out, format_args!("---\n\n*What came before, in short ({}):*\n\n", when(entry.at)));
            out.push_str(&quote(&compaction.summary));
        }
        EntryKind::Notice { text, .. } => out.push_str(&quote(&format!("**Notice:** {text}"))),
    }
}

fn tell_message(out: &mut String, state: &State, message: &Message) {
    for part in &message.parts {
        out.push('\n');
        tell_part(out, state, part);
    }
    match message.finish {
        Some(Finish::Complete) => {}
        Some(Finish::Length) => out.push_str("\n*(cut: the model's limit)*\n"),
        Some(Finish::Cut) => out.push_str("\n*(cut: repeated below)*\n"),
        Some(Finish::Refused) => out.push_str("\n*(the model declined to answer)*\n"),
        Some(Finish::Interrupted | Finish::Failed) => out.push_str("\n*(interrupted)*\n"),
        None => out.push_str("\n*(under way)*\n"),
    }
}

fn tell_part(out: &mut String, state: &State, part: &Part) {
    match part {
        Part::Text(text) => put(out, format_args!("{}\n", text.trim_end())),
        Part::Thought { text, .. } => out.push_str(&quote(&format!("*Thought:* {text}"))),
        Part::Image { mime, base64 } => {
            put(out, format_args!("![{mime}](data:{mime};base64,{base64})\n"));
        }
        Part::Code { language, text, path } => {
            if let Some(path) = path {
                put(out, format_args!("`{path}`\n\n"));
            }
            out.push_str(&fenced(language.as_deref().unwrap_or(""), text));
        }
        Part::Diff { path, text } => {
            if let Some(path) = path {
                put(out, format_args!("`{path}`\n\n"));
            }
            out.push_str(&fenced("diff", text));
        }
        Part::Tool(id) => {
            if let Some(tool) = state.tool(*id) {
                tell_tool(out, state, tool);
            }
        }
        Part::Opaque { .. } if part.is_private() => {}
        Part::Opaque { kind, json } => {
            put(out, format_args!("`{kind}`\n\n{}", fenced("json", json.as_str())));
        }
    }
}

fn tell_tool(out: &mut String, state: &State, tool: &ToolRun) {
    put(out, format_args!("**{}** ({})\n\n", tool.name, standing(tool)));
    out.push_str(&fenced("json", tool.args.as_str()));
    let said = output(tool);
    if !said.trim().is_empty() {
        out.push('\n');
        out.push_str(&fenced("", said));
    }
    for part in beside(tool) {
        out.push('\n');
        tell_part(out, state, part);
    }
}

/// A block of code whose fence is longer than any in the text.
fn fenced(language: &str, text: &str) -> String {
    let runs = text.split(|c| c != '`').map(str::len);
    let fence = "`".repeat(runs.max().unwrap_or(0).max(2) + 1);
    let language: String =
        language.chars().filter(|c| c.is_ascii_alphanumeric() || "+-#".contains(*c)).collect();
    format!("{fence}{language}\n{}\n{fence}\n", text.trim_end_matches('\n'))
}

fn quote(text: &str) -> String {
    text.trim_end().lines().map(|line| format!("> {line}").trim_end().to_owned() + "\n").collect()
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
