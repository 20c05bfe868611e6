//! A session as one HTML page: no script, nothing fetched from anywhere, light and dark, code in colour.
//!
//! Invariant: whatever stands in a session, only what this file writes becomes markup. Raw HTML in messages is shown as text,
//! links lead only to places a person can see in the address, and pictures are shown only from the page itself.

mod code;

use crate::{beside, conversation, facts, output, speaker, standing, when};
use domain::content::{Part, Role};
use domain::event::Finish;
use domain::signal::Level;
use domain::state::{Entry, EntryKind, Message, State};
use domain::tool::{ToolOutcome, ToolPhase, ToolRun};
use pulldown_cmark::{CodeBlockKind, CowStr, Event, Options, Parser, Tag, TagEnd};
use std::fmt::Write;

const STYLE: &str = include_str!("html/page.css");
/// Tool output up to this many lines is shown at once; longer ones fold.
const SHOWN_LINES: usize = 12;

/// The conversation on the active path as one page.
pub fn html(state: &State) -> String {
    let title = escaped(&state.title());
    let mut out = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; img-src data:; style-src 'unsafe-inline'\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>{title}</title>\n\
         <style>\n{STYLE}</style>\n</head>\n<body>\n<h1>{title}</h1>\n<dl>\n"
    );
    for (name, value) in facts(state) {
        put(&mut out, format_args!("<dt>{name}</dt><dd>{}</dd>\n", escaped(&value)));
    }
    out.push_str("</dl>\n<main>\n");
    for entry in conversation(state) {
        tell(&mut out, state, entry);
    }
    out.push_str("</main>\n</body>\n</html>\n");
    out
}

/// Writing to a text does not fail.
fn put(out: &mut String, text: std::fmt::Arguments<'_>) {
    let _ = out.write_fmt(text);
}

/// Text that is safe between tags and in quoted attributes.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            c => out.push(c),
        }
    }
    out
}

fn tell(out: &mut String, state: &State, entry: &Entry) {
    match &entry.kind {
        EntryKind::Message(message) => {
            let class = if message.role == Role::User { "you" } else { "agent" };
            let (who, at) = (speaker(message.role), when(entry.at));
            put(
                out,
                format_args!("<article class=\"{class}\"><header><b>{who}</b><time>{at}</time></header>\n"),
            );
            tell_message(out, state, message);
            out.push_str("</article>\n");
        }
        EntryKind::Compaction(compaction) => {
            out.push_str("<article><details><summary><b>What came before, in short</b></summary>\n");
            out.push_str(&rendered(&compaction.summary));
            out.push_str("</details></article>\n");
        }
        EntryKind::Notice { level, text, .. } => {
            let class = if *level == Level::Error { "notice bad" } else { "notice" };
            put(out, format_args!("<p class=\"{class}\">{}</p>\n", escaped(text)));
        }
    }
}

fn tell_message(out: &mut String, state: &State, message: &Message) {
    for part in &message.parts {
        tell_part(out, state, part);
    }
    match message.finish {
        Some(Finish::Complete) => {}
        Some(Finish::Length) => out.push_str("<p class=\"cut\">(cut: the model's limit)</p>\n"),
        Some(Finish::Cut) => out.push_str("<p class=\"cut\">(cut: repeated below)</p>\n"),
        Some(Finish::Refused) => out.push_str("<p class=\"cut\">(the model declined to answer)</p>\n"),
        Some(Finish::Interrupted | Finish::Failed) => out.push_str("<p class=\"cut\">(interrupted)</p>\n"),
        None => out.push_str("<p class=\"cut\">(under way)</p>\n"),
    }
}

fn tell_part(out: &mut String, state: &State, part: &Part) {
    match part {
        Part::Text(text) => out.push_str(&rendered(text)),
        Part::Thought { text, .. } => {
            out.push_str("<details class=\"thought\"><summary>Thought</summary>\n");
            out.push_str(&rendered(text));
            out.push_str("</details>\n");
        }
        Part::Image { mime, base64 } => put(out, format_args!("{}\n", image(mime, base64))),
        Part::Code { language, text, path } => {
            block(out, path.as_deref(), language.as_deref().unwrap_or(""), text);
        }
        Part::Diff { path, text } => block(out, path.as_deref(), "diff", text),
        Part::Tool(id) => {
            if let Some(tool) = state.tool(*id) {
                tell_tool(out, state, tool);
            }
        }
        Part::Opaque { .. } if part.is_private() => {}
        Part::Opaque { kind, json } => block(out, Some(kind), "json", json.as_str()),
    }
}

fn tell_tool(out: &mut String, state: &State, tool: &ToolRun) {
    let bad = matches!(
        tool.phase,
        ToolPhase::Ended(ToolOutcome::Failed | ToolOutcome::Denied | ToolOutcome::Unknown)
    );
    let class = if bad { " class=\"bad\"" } else { "" };
    let said = output(tool);
    let open = if said.lines().count() <= SHOWN_LINES { " open" } else { "" };
    let (name, how) = (escaped(&tool.name), escaped(&standing(tool)));
    put(out, format_args!("<details{open}><summary><b>{name}</b> <span{class}>{how}</span></summary>\n"));
    block(out, None, "json", tool.args.as_str());
    if !said.trim().is_empty() {
        block(out, None, "", said);
    }
    for part in beside(tool) {
        tell_part(out, state, part);
    }
    out.push_str("</details>\n");
}

fn block(out: &mut String, name: Option<&str>, language: &str, text: &str) {
    if let Some(name) = name {
        put(out, format_args!("<p><code>{}</code></p>\n", escaped(name)));
    }
    put(out, format_args!("<pre><code>{}</code></pre>\n", code::coloured(language, text)));
}

/// A picture that is in the session. What does not look like one is named and not shown.
fn image(mime: &str, base64: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "+/=".contains(c);
    let known = matches!(mime, "image/png" | "image/jpeg" | "image/gif" | "image/webp" | "image/svg+xml");
    if known && base64.chars().all(plain) {
        return format!("<p><img alt=\"picture\" src=\"data:{mime};base64,{base64}\"></p>");
    }
    format!("<p class=\"cut\">(attachment: {})</p>", escaped(mime))
}

/// Markdown as HTML, with nothing of it trusted.
fn rendered(text: &str) -> String {
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let mut events = Vec::new();
    let mut code: Option<(String, String)> = None;
    for event in Parser::new_ext(text, options) {
        match event {
            Event::Start(Tag::CodeBlock(kind)) => {
                let language = match kind {
                    CodeBlockKind::Fenced(language) => language.to_string(),
                    CodeBlockKind::Indented => String::new(),
                };
                code = Some((language, String::new()));
            }
            Event::End(TagEnd::CodeBlock) => {
                if let Some((language, text)) = code.take() {
                    let page = format!("<pre><code>{}</code></pre>\n", code::coloured(&language, &text));
                    events.push(Event::Html(page.into()));
                }
            }
            Event::Text(piece) => match &mut code {
                Some((_, text)) => text.push_str(&piece),
                None => events.push(Event::Text(piece)),
            },
            Event::Html(raw) | Event::InlineHtml(raw) => events.push(Event::Text(raw)),
            Event::Start(Tag::Link { link_type, dest_url, title, id }) => {
                events.push(Event::Start(Tag::Link { link_type, dest_url: visible(dest_url), title, id }));
            }
            // A picture from elsewhere would tell that place who reads this page: a link instead.
            Event::Start(Tag::Image { link_type, dest_url, title, id }) => {
                events.push(Event::Start(Tag::Link { link_type, dest_url: visible(dest_url), title, id }));
            }
            Event::End(TagEnd::Image) => events.push(Event::End(TagEnd::Link)),
            other => events.push(other),
        }
    }
    let mut out = String::new();
    pulldown_cmark::html::push_html(&mut out, events.into_iter());
    out
}

/// Where a link may lead.
fn visible(url: CowStr<'_>) -> CowStr<'_> {
    let scheme = url.split(['/', '?', '#']).next().filter(|start| start.contains(':'));
    let scheme = scheme.and_then(|start| start.split(':').next()).map(str::to_ascii_lowercase);
    match scheme.as_deref() {
        None | Some("http" | "https" | "mailto") => url,
        Some(_) => "#".into(),
    }
}
