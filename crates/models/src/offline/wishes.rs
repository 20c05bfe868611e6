//! Plain English → wishes. Pure and total: every text is understood as something, at worst as [`Wish::Chat`].
//!
//! A prompt is steps (`X then Y`); a step is wishes that happen together (`read A and B`).

use serde_json::{Value, json};

use crate::ErrorKind;

/// Numbers counted at most.
pub(super) const MAX_COUNT: u32 = 10_000;
/// Steps of one prompt at most; the rest is ignored.
const MAX_STEPS: usize = 20;
/// Tools called at once at most.
const MAX_PARALLEL: usize = 8;

/// One thing the person wants.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Wish {
    /// Use a tool.
    Tool(String, Value),
    /// An `ask` whose kind is chosen in turn.
    AskSomething,
    /// Think aloud, then answer.
    Think,
    /// Fail, perhaps after a few words.
    Fail {
        kind: ErrorKind,
        halfway: bool,
    },
    /// Stream numbers.
    Count {
        to: u32,
        slowly: bool,
    },
    /// Show every sort of Markdown.
    Markdown,
    /// Say these words.
    Say(String),
    Summary,
    /// Say what is understood.
    Help,
    /// Anything else.
    Chat,
}

impl Wish {
    /// The tool that this wish needs.
    pub(super) fn tool(&self) -> Option<&str> {
        match self {
            Self::Tool(name, _) => Some(name),
            Self::AskSomething => Some("ask"),
            _ => None,
        }
    }
}

/// The steps of a prompt, each with at least one wish.
pub(super) fn read(prompt: &str) -> Vec<Vec<Wish>> {
    let mut steps = Vec::new();
    let mut rest = prompt.trim();
    while steps.len() < MAX_STEPS {
        let (step, after) = cut_then(rest);
        steps.push(step_wishes(step));
        match after {
            Some(after) => rest = after,
            None => break,
        }
    }
    steps
}

/// Cuts before the next "then" that begins a wish; a "then" inside prose or a file's text is left alone.
fn cut_then(text: &str) -> (&str, Option<&str>) {
    for separator in places(text, " then ") {
        let after = text[separator.end..].trim_start();
        if single(after).is_some() {
            let before =
                text[..separator.start].trim_end().trim_end_matches(" and").trim_end_matches([',', ';', '.']);
            return (before, Some(after));
        }
    }
    (text, None)
}

fn step_wishes(step: &str) -> Vec<Wish> {
    let step = polite(step);
    let Some(first) = single(step) else { return vec![Wish::Chat] };
    let (verb, rest) = word(step);
    let verb = verb.trim_end_matches(':').to_ascii_lowercase();
    // The text of a file belongs to the file and the items to the plan, "and" or not.
    if matches!(verb.as_str(), "write" | "edit" | "say" | "call" | "plan" | "todo" | "make") {
        return vec![first];
    }
    if matches!(verb.as_str(), "run" | "bash" | "exec") {
        let commands = quoted(rest);
        if commands.len() > 1 {
            return commands.into_iter().take(MAX_PARALLEL).map(bash).collect();
        }
        return vec![first];
    }
    let mut wishes = Vec::new();
    for part in parts(step) {
        let wish = match single(part) {
            Some(wish) => Some(wish),
            // "read A and B": the verb goes on.
            None => single(&format!("{verb} {part}")),
        };
        wishes.extend(wish);
        if wishes.len() == MAX_PARALLEL {
            break;
        }
    }
    if wishes.is_empty() { vec![first] } else { wishes }
}

/// One wish, or `None` when the text does not begin like one.
fn single(text: &str) -> Option<Wish> {
    let text = polite(text).trim_end_matches(['!', '?']);
    let text = text.strip_suffix('.').unwrap_or(text);
    let (verb, rest) = word(text);
    let lower = rest.to_ascii_lowercase();
    let tool = |name: &str, args: Value| Some(Wish::Tool(name.to_owned(), args));
    match verb.trim_end_matches(':').to_ascii_lowercase().as_str() {
        "ls" => tool("ls", json!({ "path": path_or_here(rest) })),
        "list" | "show" if lower.split_whitespace().any(|word| word == "files") => {
            let dir = ["in", "of", "under"].iter().find_map(|word| after_word(rest, word)).unwrap_or("");
            tool("ls", json!({ "path": path_or_here(dir) }))
        }
        "show" if lower.starts_with("markdown") || lower.starts_with("me markdown") => Some(Wish::Markdown),
        "markdown" => Some(Wish::Markdown),
        "read" | "cat" if !rest.is_empty() => tool("read", json!({ "path": bare(rest) })),
        "run" | "bash" | "exec" if !rest.is_empty() => {
            Some(bash(quoted(rest).into_iter().next().unwrap_or_else(|| rest.to_owned())))
        }
        "write" => {
            let (path, content) = rest.split_once(':')?;
            tool(
                "write",
                json!({ "path": bare(path), "content": content.strip_prefix(' ').unwrap_or(content) }),
            )
        }
        "edit" => {
            let (path, change) = rest.split_once(':')?;
            let (old, new) = change.split_once("=>")?;
            tool("edit", json!({ "path": bare(path), "old": old.trim(), "new": new.trim() }))
        }
        "grep" | "search" if !rest.is_empty() => search(rest),
        "find" if lower.starts_with("files named ") || lower.starts_with("files called ") => {
            let (_, name) = word(word(rest).1);
            tool("find", json!({ "pattern": bare(name) }))
        }
        "find" if rest.contains('*') => tool("find", json!({ "pattern": bare(rest) })),
        "find" if !rest.is_empty() => search(rest),
        "fetch" if !rest.is_empty() => tool("fetch", json!({ "url": bare(rest) })),
        "call" => {
            let (name, args) = word(rest);
            let args = if args.is_empty() { "{}" } else { args };
            let args = serde_json::from_str::<Value>(args).ok().filter(Value::is_object)?;
            (!name.is_empty()).then(|| Wish::Tool(bare(name), args))
        }
        "plan" | "todo" => Some(todo(rest)),
        "make" if lower.starts_with("a plan") => Some(todo(rest["a plan".len()..].trim())),
        "ask" => Some(ask(&lower)),
        "think" => Some(Wish::Think),
        "fail" => Some(fail(&lower)),
        "count" => count(&lower),
        "say" if !rest.is_empty() => Some(Wish::Say(bare(rest))),
        "summarize" | "summarise" | "summary" => Some(Wish::Summary),
        "help" => Some(Wish::Help),
        _ => None,
    }
}

fn bash(command: String) -> Wish {
    Wish::Tool("bash".to_owned(), json!({ "command": command }))
}

fn search(text: &str) -> Option<Wish> {
    let text =
        after_word(text, "for").filter(|_| text.to_ascii_lowercase().starts_with("for ")).unwrap_or(text);
    let args = match places(text, " in ").pop() {
        Some(at) => json!({ "pattern": bare(&text[..at.start]), "path": bare(&text[at.end..]) }),
        None => json!({ "pattern": bare(text) }),
    };
    Some(Wish::Tool("grep".to_owned(), args))
}

fn todo(rest: &str) -> Wish {
    let named: Vec<&str> =
        rest.trim_start_matches(':').split([',', ';']).map(str::trim).filter(|s| !s.is_empty()).collect();
    let items: Vec<&str> = if named.len() > 1 {
        named
    } else {
        vec!["look at what is there", "make the change", "check that it works"]
    };
    let items: Vec<Value> = items
        .iter()
        .enumerate()
        .map(|(at, text)| json!({ "text": text, "status": if at == 0 { "active" } else { "pending" } }))
        .collect();
    Wish::Tool("todo".to_owned(), json!({ "items": items }))
}

fn ask(lower: &str) -> Wish {
    let has = |words: &[&str]| {
        words.iter().any(|word| lower.split(|c: char| !c.is_alphanumeric()).any(|w| w == *word))
    };
    let which = if has(&["confirm", "yes"]) {
        0
    } else if has(&["choose", "pick", "select", "choice"]) {
        1
    } else if has(&["type", "text", "enter", "name", "word"]) {
        2
    } else if has(&["edit"]) {
        3
    } else {
        return Wish::AskSomething;
    };
    question(which)
}

/// The four sorts of questions, by number; the number wraps.
pub(super) fn question(which: usize) -> Wish {
    let args = match which % 4 {
        0 => json!({ "kind": "confirm", "question": "Shall I go on?" }),
        1 => {
            json!({ "kind": "choose", "question": "Which fruit do you like best?", "options": ["apple", "pear", "plum"] })
        }
        2 => json!({ "kind": "text", "question": "What shall I call you?", "placeholder": "a name" }),
        _ => {
            json!({ "kind": "edit", "question": "Please improve this text", "text": "The quick brown fox\njumps over the lazy dog.\n" })
        }
    };
    Wish::Tool("ask".to_owned(), args)
}

fn fail(lower: &str) -> Wish {
    let kinds = [
        ("auth", ErrorKind::Auth),
        ("rate", ErrorKind::RateLimited),
        ("network", ErrorKind::Network),
        ("time", ErrorKind::Timeout { which: crate::Wait::FirstByte }),
        ("stall", ErrorKind::Timeout { which: crate::Wait::Idle }),
        ("context", ErrorKind::ContextOverflow),
        ("request", ErrorKind::BadRequest),
        ("protocol", ErrorKind::Protocol),
    ];
    let kind =
        kinds.iter().find(|(word, _)| lower.contains(word)).map_or(ErrorKind::Overloaded, |(_, kind)| *kind);
    Wish::Fail { kind, halfway: lower.contains("halfway") || lower.contains("half way") }
}

fn count(lower: &str) -> Option<Wish> {
    let number =
        lower.split_whitespace().find_map(|word| word.trim_end_matches(['.', ',']).parse::<u64>().ok())?;
    let to = u32::try_from(number).unwrap_or(MAX_COUNT).min(MAX_COUNT);
    Some(Wish::Count { to, slowly: lower.contains("slow") })
}

fn polite(text: &str) -> &str {
    let mut text = text.trim();
    loop {
        let (first, rest) = word(text);
        let first = first.trim_end_matches(',').to_ascii_lowercase();
        let known =
            ["please", "now", "then", "and", "can", "could", "would", "you", "let's", "also", "first"];
        if rest.is_empty() || !known.contains(&first.as_str()) {
            return text;
        }
        text = rest;
    }
}

fn word(text: &str) -> (&str, &str) {
    let text = text.trim_start();
    let end = text.find(char::is_whitespace).unwrap_or(text.len());
    let (word, rest) = text.split_at(end);
    (word, rest.trim())
}

/// What follows a whole word.
fn after_word<'a>(text: &'a str, wanted: &str) -> Option<&'a str> {
    let mut rest = text;
    while !rest.is_empty() {
        let (first, after) = word(rest);
        if first.eq_ignore_ascii_case(wanted) {
            return Some(after);
        }
        rest = after;
    }
    None
}

fn path_or_here(text: &str) -> String {
    let path = bare(text);
    if path.is_empty() || path == "here" { ".".to_owned() } else { path }
}

/// Without quotes or backticks around it.
fn bare(text: &str) -> String {
    let text = text.trim();
    let text = text.strip_prefix("the file ").unwrap_or(text);
    for quote in ['`', '"', '\''] {
        let inner = text.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote));
        if let Some(inner) = inner.filter(|inner| !inner.contains(quote)) {
            return inner.to_owned();
        }
    }
    text.to_owned()
}

/// What stands between backticks.
fn quoted(text: &str) -> Vec<String> {
    let pieces: Vec<&str> = text.split('`').collect();
    // An open backtick at the end quotes nothing.
    let closed = (pieces.len() - 1) / 2;
    pieces.into_iter().skip(1).step_by(2).take(closed).filter(|s| !s.is_empty()).map(str::to_owned).collect()
}

/// The parts of a step between "and" and commas.
fn parts(step: &str) -> Vec<&str> {
    let mut cuts: Vec<std::ops::Range<usize>> = places(step, " and ");
    cuts.extend(places(step, ", "));
    cuts.sort_by_key(|cut| cut.start);
    let mut parts = Vec::new();
    let mut from = 0;
    for cut in cuts {
        if cut.start >= from {
            parts.push(&step[from..cut.start]);
            from = cut.end;
        }
    }
    parts.push(&step[from..]);
    parts.into_iter().map(str::trim).filter(|part| !part.is_empty()).collect()
}

/// Where a separator stands outside of backticks and double quotes.
fn places(text: &str, separator: &str) -> Vec<std::ops::Range<usize>> {
    let mut found = Vec::new();
    let mut open: Option<char> = None;
    for (at, c) in text.char_indices() {
        match (open, c) {
            (None, '`' | '"') => open = Some(c),
            (Some(quote), c) if quote == c => open = None,
            (None, _)
                if text[at..].get(..separator.len()).is_some_and(|s| s.eq_ignore_ascii_case(separator)) =>
            {
                found.push(at..at + separator.len());
            }
            _ => {}
        }
    }
    found
}
