//! What the reports say. Pure: sessions in, text out.

mod tree;

use crate::paint::{self, Paint, ago, cut, home, pad};
use domain::content::Part;
use domain::event::Finish;
use domain::ids::{Millis, SessionId};
use domain::session::SessionSummary;
use domain::state::{Entry, EntryKind, Message, State};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write;
use store::SearchHit;
use unicode_width::UnicodeWidthStr;

pub(super) use tree::{tree, tree_json};

/// Widest that a project is shown.
const PROJECT: usize = 30;
/// Narrowest that a title is cut to.
const TITLE: usize = 20;
/// Most lines of a tool's output in `show`.
const OUTPUT_LINES: usize = 5;
/// Longest line of an entry in a tree where nobody looks at a screen.
const TREE_TEXT: usize = 80;

fn put(out: &mut String, text: std::fmt::Arguments<'_>) {
    let _ = writeln!(out, "{text}");
}

/// What is told of sessions beside what is kept of each.
#[derive(Debug, Default)]
pub(super) struct Called {
    /// What each is called in the first column.
    pub(super) short: BTreeMap<SessionId, String>,
    /// Its holder: a process of this machine by its number, one of another in words.
    pub(super) open: BTreeMap<SessionId, Value>,
}

/// The list for programs: what is kept of each, and which process has it open, if one has.
pub(super) fn list_json(
    sessions: &[SessionSummary],
    open: &BTreeMap<SessionId, Value>,
) -> serde_json::Result<String> {
    let told = |session: &SessionSummary| {
        let mut told = serde_json::to_value(session)?;
        if let (Some(told), Some(pid)) = (told.as_object_mut(), open.get(&session.id)) {
            // A process of this machine by its number, one of another in words.
            let key = if pid.is_number() { "pid" } else { "holder" };
            told.insert(key.to_owned(), pid.clone());
        }
        Ok(told)
    };
    let told: serde_json::Result<Vec<Value>> = sessions.iter().map(told).collect();
    serde_json::to_string(&told?)
}

/// Sessions as a table.
pub(super) fn table(
    sessions: &[SessionSummary],
    called: &Called,
    projects: bool,
    now: Millis,
    paint: Paint,
) -> String {
    let Called { short: names, open } = called;
    let place = |session: &SessionSummary| if projects { home(&session.project) } else { String::new() };
    let times: Vec<String> = sessions
        .iter()
        .map(|session| match open.contains_key(&session.id) {
            _ if session.running => "running".to_owned(),
            true => format!("{}, open", ago(session.updated_at, now)),
            false => ago(session.updated_at, now),
        })
        .collect();
    let widest =
        |texts: &mut dyn Iterator<Item = usize>, head: &str| texts.max().unwrap_or(0).max(head.len());
    let names_width = widest(&mut sessions.iter().map(|s| name_of(names, &s.id).width()), "ID");
    let times_width = widest(&mut times.iter().map(|time| time.width()), "CHANGED");
    let place_width = widest(&mut sessions.iter().map(|s| place(s).width().min(PROJECT)), "PROJECT");
    let mut title_width = widest(&mut sessions.iter().map(|s| titled(s).width()), "TITLE");
    if let Some(width) = paint.width {
        let fixed = names_width + times_width + "MSGS".len() + 6 + if projects { place_width + 2 } else { 0 };
        title_width = title_width.min(width.saturating_sub(fixed + 1).max(TITLE));
    }
    let mut out = String::new();
    let head = format!("{}  {}  MSGS  ", pad("ID", names_width), pad("CHANGED", times_width));
    let tail = if projects { pad("TITLE", title_width) + "  PROJECT" } else { "TITLE".to_owned() };
    put(&mut out, format_args!("{}", paint.dim(&(head + &tail))));
    for (session, time) in sessions.iter().zip(&times) {
        let id = paint.accent(&pad(name_of(names, &session.id), names_width));
        let time = pad(time, times_width);
        let time = if session.running { paint.hit(&time) } else { time };
        let title = cut(&titled(session), title_width);
        let (title, place) = if projects {
            (pad(&title, title_width), "  ".to_owned() + &paint.dim(&cut(&place(session), PROJECT)))
        } else {
            (title, String::new())
        };
        put(&mut out, format_args!("{id}  {time}  {:>4}  {title}{place}", session.messages));
    }
    out
}

/// The title, behind the wire of a runtime that is not ours.
fn titled(session: &SessionSummary) -> String {
    let title = paint::line(&session.title);
    match &session.origin {
        Some(origin) => format!("[{}] {title}", paint::line(&origin.dialect)),
        None => title,
    }
}

fn name_of<'a>(names: &'a BTreeMap<SessionId, String>, id: &'a SessionId) -> &'a str {
    names.get(id).map_or(id.as_str(), String::as_str)
}

/// One session: what it is, and its last entries.
pub(super) fn show(
    summary: &SessionSummary,
    state: &State,
    last: usize,
    now: Millis,
    paint: Paint,
) -> String {
    let mut out = String::new();
    put(&mut out, format_args!("{}", paint.strong(&paint::line(&state.title()))));
    let stats = state.stats();
    let holds = [
        counted(stats.messages, "message"),
        counted(stats.turns, "turn"),
        counted(stats.runs, "run"),
        counted(stats.tools, "tool run"),
    ];
    let mut facts = vec![
        ("id", summary.id.to_string()),
        ("project", home(&summary.project)),
        ("begun", ago(state.created_at, now)),
        ("changed", ago(state.updated_at, now)),
        ("holds", holds.join(", ")),
    ];
    if stats.usage.total() > 0 {
        let cost = stats.usage.cost_micros;
        let cost = if cost > 0 {
            format!(", ${}.{:04}", cost / 1_000_000, cost % 1_000_000 / 100)
        } else {
            String::new()
        };
        let rough = if stats.usage.rough { "about " } else { "" };
        let (read, written) = (stats.usage.input, stats.usage.output);
        facts.push(("tokens", format!("{rough}{read} in, {written} out{cost}")));
    }
    if let Some(model) = &state.settings.model {
        facts.push(("model", model.to_string()));
    }
    if let Some(origin) = &state.settings.origin {
        facts.push(("runtime", paint::line(&remote::origin::words(origin))));
        if let Some(session) = &origin.session {
            facts.push(("there", paint::line(session)));
        }
    }
    if let Some((parent, _)) = &state.settings.parent {
        facts.push(("branch of", parent.clone()));
    }
    if summary.running {
        facts.push(("now", "a run is under way".to_owned()));
    }
    for ask in &state.asks {
        facts.push(("waits for", paint::line(&ask.title)));
    }
    for (name, value) in facts {
        put(&mut out, format_args!("{} {value}", paint.dim(&pad(name, 9))));
    }
    let entries = export::conversation(state);
    let skipped = entries.len().saturating_sub(last);
    if skipped > 0 {
        let words = if skipped == 1 { "entry (--all shows it)" } else { "entries (--all shows them)" };
        put(&mut out, format_args!("\n{}", paint.dim(&format!("… {skipped} earlier {words}"))));
    }
    for entry in entries.into_iter().skip(skipped) {
        show_entry(&mut out, state, entry, now, paint);
    }
    out
}

fn counted(number: u64, what: &str) -> String {
    if number == 1 { format!("1 {what}") } else { format!("{number} {what}s") }
}

fn show_entry(out: &mut String, state: &State, entry: &Entry, now: Millis, paint: Paint) {
    let when = paint.dim(&ago(entry.at, now));
    match &entry.kind {
        EntryKind::Message(message) => {
            let who = paint.accent(export::speaker(message.role));
            put(out, format_args!("\n{who} {when}"));
            for part in &message.parts {
                show_part(out, state, part, paint);
            }
            match message.finish {
                None => put(out, format_args!("{}", paint.dim("(under way)"))),
                Some(Finish::Interrupted) => put(out, format_args!("{}", paint.dim("(cut off)"))),
                Some(Finish::Cut) => put(out, format_args!("{}", paint.dim("(cut off, repeated below)"))),
                Some(Finish::Refused) => {
                    put(out, format_args!("{}", paint.dim("(the model declined to answer)")));
                }
                Some(Finish::Length) => put(out, format_args!("{}", paint.dim("(cut: the model's limit)"))),
                Some(Finish::Complete | Finish::Failed) => {}
            }
        }
        EntryKind::Compaction(compaction) => {
            put(
                out,
                format_args!("\n{} {when}\n{}", paint.accent("Summary"), paint::lines(&compaction.summary)),
            );
        }
        EntryKind::Notice { text, .. } => put(out, format_args!("\n{}", paint.dim(&paint::lines(text)))),
    }
}

fn show_part(out: &mut String, state: &State, part: &Part, paint: Paint) {
    match part {
        Part::Text(text) => put(out, format_args!("{}", paint::lines(text))),
        Part::Thought { text, .. } => {
            put(out, format_args!("{}", paint.dim(&format!("thought: {}", paint::lines(text)))));
        }
        Part::Code { text, .. } | Part::Diff { text, .. } => put(out, format_args!("{}", paint::lines(text))),
        Part::Image { mime, .. } => {
            put(out, format_args!("{}", paint.dim(&format!("({})", paint::line(mime)))));
        }
        Part::Opaque { .. } if part.is_private() => {}
        Part::Opaque { kind, .. } => {
            put(out, format_args!("{}", paint.dim(&format!("({})", paint::line(kind)))));
        }
        Part::Tool(id) => {
            let Some(tool) = state.tool(*id) else { return };
            let args =
                cut(&paint::line(tool.args.as_str()), paint.width.unwrap_or(TREE_TEXT).saturating_sub(24));
            put(
                out,
                format_args!(
                    "  {} {} {}",
                    paint.strong(&paint::line(&tool.name)),
                    args,
                    paint.dim(&export::standing(tool))
                ),
            );
            let said = tool.result.as_ref().map_or(tool.output.as_str(), |result| &result.text);
            show_output(out, &paint::lines(said), paint);
        }
    }
}

/// The beginning of what a tool gave back.
fn show_output(out: &mut String, said: &str, paint: Paint) {
    for line in said.lines().take(OUTPUT_LINES) {
        put(out, format_args!("  {} {}", paint.dim("│"), paint.dim(line)));
    }
    let more = said.lines().count().saturating_sub(OUTPUT_LINES);
    if more > 0 {
        let more = counted(more as u64, "more line");
        put(out, format_args!("  {}", paint.dim(&format!("│ … {more}"))));
    }
}

/// The same for a program.
pub(super) fn show_json(summary: &SessionSummary, state: &State) -> String {
    let entries: Vec<Value> =
        export::conversation(state).into_iter().map(|entry| entry_json(state, entry)).collect();
    let value = |record: Result<Value, serde_json::Error>| record.unwrap_or(Value::Null);
    json!({
        "session": value(serde_json::to_value(summary)),
        "stats": value(serde_json::to_value(state.stats())),
        "open_asks": state.asks.iter().map(|ask| ask.title.as_str()).collect::<Vec<_>>(),
        "entries": entries,
    })
    .to_string()
}

fn entry_json(state: &State, entry: &Entry) -> Value {
    let mut value = json!({
        "id": entry.id.to_string(),
        "parent": entry.parent.map(|parent| parent.to_string()),
        "at": entry.at.0,
        "kind": kind(entry),
        "text": text(entry),
    });
    if let EntryKind::Message(message) = &entry.kind {
        let tools = message.tools().filter_map(|id| state.tool(id));
        let tools: Vec<Value> =
            tools.map(|tool| json!({ "name": tool.name, "standing": export::standing(tool) })).collect();
        if !tools.is_empty() {
            value["tools"] = tools.into();
        }
    }
    value
}

fn kind(entry: &Entry) -> &'static str {
    use domain::content::Role;
    match &entry.kind {
        EntryKind::Message(Message { role: Role::User, .. }) => "user",
        EntryKind::Message(Message { role: Role::Assistant, .. }) => "assistant",
        EntryKind::Message(Message { role: Role::System, .. }) => "system",
        EntryKind::Compaction(_) => "compaction",
        EntryKind::Notice { .. } => "notice",
    }
}

fn text(entry: &Entry) -> String {
    match &entry.kind {
        EntryKind::Message(message) => message.text(),
        EntryKind::Compaction(compaction) => compaction.summary.clone(),
        EntryKind::Notice { text, .. } => text.clone(),
    }
}

/// Hits with the words in colour.
pub(super) fn found(
    hits: &[SearchHit],
    names: &BTreeMap<SessionId, String>,
    words: &str,
    now: Millis,
    paint: Paint,
) -> String {
    let mut out = String::new();
    let mut last: Option<&SessionId> = None;
    for hit in hits {
        if last != Some(&hit.session) {
            let name = name_of(names, &hit.session);
            put(&mut out, format_args!("{}  {}", paint.accent(name), paint.strong(&paint::line(&hit.title))));
            last = Some(&hit.session);
        }
        let when = paint.dim(&ago(hit.at, now));
        put(&mut out, format_args!("  {}  {when}", marked(&paint::line(&hit.snippet), words, paint)));
    }
    out
}

/// Every word that begins with one of those looked for.
fn marked(text: &str, words: &str, paint: Paint) -> String {
    let split = |c: char| !c.is_alphanumeric();
    let wanted: Vec<String> = words.split(split).filter(|w| !w.is_empty()).map(str::to_lowercase).collect();
    let piece = |piece: &str| {
        let end = piece.find(split).unwrap_or(piece.len());
        let low = piece[..end].to_lowercase();
        let hit = !low.is_empty() && wanted.iter().any(|word| low.starts_with(word.as_str()));
        if hit { paint.hit(&piece[..end]) + &piece[end..] } else { piece.to_owned() }
    };
    text.split_inclusive(split).map(piece).collect()
}

/// The same for a program.
pub(super) fn found_json(hits: &[SearchHit]) -> String {
    let hits = hits.iter().map(|hit| {
        json!({
            "session": hit.session.as_str(),
            "title": hit.title,
            "entry": hit.entry.to_string(),
            "at": hit.at.0,
            "snippet": hit.snippet,
        })
    });
    Value::Array(hits.collect()).to_string()
}

#[cfg(test)]
mod tests;
