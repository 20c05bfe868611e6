//! Takes secrets out of lines before they are written down: values under telling keys and behind telling options, keys of well-known
//! providers wherever they stand, what passes for a secret by its form ([`wire::secret`]), and what a person typed into a question that asked
//! for a secret.
//!
//! It errs on the side of taking out. It cannot know a secret that looks like ordinary text, so a recording is still worth a look
//! before it is shared. Invariants: the shape of a line stays (same members, same types where possible); memory is bounded.

#[cfg(test)]
mod tests;

use crate::notation::{Kind, RawBytes, Side, Step};
use crate::pattern::{Item, Pattern, Piece, Text};
use std::borrow::Cow;
use std::collections::VecDeque;
use wire::secret::{REDACTED, is_telling, without_secrets};

/// Open questions for secrets that are remembered.
const MAX_ASKED: usize = 64;
/// Typed secrets that are remembered, to find them when they are echoed.
const MAX_TYPED: usize = 64;
/// Shorter typed secrets are not searched for elsewhere: they would hit ordinary words.
const MIN_ECHO: usize = 6;

/// Takes secrets out of the lines of one conversation, in order.
#[derive(Debug, Default)]
pub struct Redactor {
    /// Ids of questions that ask for a secret and are not answered yet.
    asked: VecDeque<Pattern>,
    typed: VecDeque<String>,
}

impl Redactor {
    /// Knows nothing yet.
    pub fn new() -> Redactor {
        Redactor::default()
    }

    /// The step with its secrets taken out.
    #[must_use]
    pub fn step(&mut self, mut step: Step) -> Step {
        match &mut step.kind {
            Kind::Say(say) => {
                match say.side {
                    Side::Runtime => self.note_question(&say.pattern),
                    Side::Ui => self.answer(&mut say.pattern),
                }
                self.value(None, &mut say.pattern);
            }
            Kind::Raw(raw) => {
                let text = match &raw.bytes {
                    RawBytes::Line(text) => text.clone(),
                    RawBytes::Exact(bytes) => String::from_utf8_lossy(bytes).into_owned(),
                };
                if let Some(clean) = self.text(&text) {
                    raw.bytes = RawBytes::line(clean.replace(['\n', '\r'], " ").as_bytes());
                }
            }
            _ => {}
        }
        step
    }

    /// A line with its secrets taken out; as it is when there are none.
    pub fn line<'l>(&mut self, side: Side, line: &'l str) -> Cow<'l, str> {
        let step = Step::recorded(side, 0, line.as_bytes(), None);
        let before = step.kind.to_string();
        let after = self.step(step).kind.to_string();
        if after == before {
            return Cow::Borrowed(line);
        }
        // What comes before the line tells who said it.
        let said = after.split_once(' ').map_or(after.as_str(), |(_, said)| said);
        Cow::Owned(said.to_owned())
    }

    /// Remembers the id of a question for a secret.
    fn note_question(&mut self, line: &Pattern) {
        if !asks_secret(line) {
            return;
        }
        let mut ids = Vec::new();
        collect_ids(line, &mut ids);
        for id in ids {
            if self.asked.len() == MAX_ASKED {
                self.asked.pop_front();
            }
            self.asked.push_back(id);
        }
    }

    /// Takes everything that may be the answer out of a line that names such a question.
    fn answer(&mut self, line: &mut Pattern) {
        let mut ids = Vec::new();
        collect_ids(line, &mut ids);
        if !ids.iter().any(|id| self.asked.contains(id)) {
            return;
        }
        let mut typed = Vec::new();
        blank_answers(line, false, &mut typed);
        for secret in typed.into_iter().filter(|secret| secret.len() >= MIN_ECHO) {
            if self.typed.len() == MAX_TYPED {
                self.typed.pop_front();
            }
            self.typed.push_back(secret);
        }
    }

    fn value(&self, key: Option<&str>, value: &mut Pattern) {
        match value {
            Pattern::Text(text) => {
                let plain = plain(text);
                let secret = key.is_some_and(|key| is_telling(key, &plain)) && !plain.is_empty();
                let clean = if secret { Some(REDACTED.to_owned()) } else { self.text(&plain) };
                if let Some(clean) = clean {
                    *text = Text::plain(&clean);
                }
            }
            Pattern::Array(items) => {
                // `["--password", "…"]`: the words of a command.
                let mut option = None;
                for item in items {
                    if let Item::One(value) = item {
                        let before = option.take();
                        if let Pattern::Text(text) = &*value {
                            let word = plain(text);
                            option = Some(word).filter(|word| word.starts_with('-') && !word.contains('='));
                        }
                        let is_option = option.is_some();
                        self.value(before.as_deref().filter(|_| !is_option).or(key), value);
                    }
                }
            }
            Pattern::Object(object) => {
                // `{"name":"API_KEY","value":"…"}`: the name stands beside the value.
                let named = object.members.iter().find(|(key, _)| key == "name").and_then(|(_, value)| {
                    if let Pattern::Text(text) = value { Some(plain(text)) } else { None }
                });
                for (key, value) in &mut object.members {
                    let key = match (&named, key.as_str()) {
                        (Some(name), "value") => name.as_str(),
                        (_, key) => key,
                    };
                    self.value(Some(key), value);
                }
            }
            Pattern::Anything | Pattern::Name(_) | Pattern::Null => {}
            Pattern::Bool(_) | Pattern::Number(_) | Pattern::Glob(_) => {}
        }
    }

    /// Running text without its secrets; `None` when there are none.
    fn text(&self, text: &str) -> Option<String> {
        let shown = without_secrets(text);
        let mut found = shown.is_some();
        let mut clean = shown.unwrap_or_else(|| text.to_owned());
        for typed in &self.typed {
            if clean.contains(typed.as_str()) {
                found = true;
                clean = clean.replace(typed.as_str(), REDACTED);
            }
        }
        found.then_some(clean)
    }
}

/// Whether somewhere in a line `"secret":true` (or a word for it) stands.
fn asks_secret(value: &Pattern) -> bool {
    match value {
        Pattern::Object(object) => object.members.iter().any(|(key, value)| {
            (matches!(key.as_str(), "secret" | "password" | "masked") && *value == Pattern::Bool(true))
                || asks_secret(value)
        }),
        Pattern::Array(items) => {
            items.iter().any(|item| matches!(item, Item::One(value) if asks_secret(value)))
        }
        _ => false,
    }
}

/// The values that may name a question: under `id`, `ask`, `request_id` and the like.
fn collect_ids(value: &Pattern, ids: &mut Vec<Pattern>) {
    match value {
        Pattern::Object(object) => {
            for (key, value) in &object.members {
                let names = matches!(key.as_str(), "id" | "ask" | "ask_id" | "request_id");
                if names && matches!(value, Pattern::Text(_) | Pattern::Number(_)) {
                    ids.push(value.clone());
                } else {
                    collect_ids(value, ids);
                }
            }
        }
        Pattern::Array(items) => {
            for item in items {
                if let Item::One(value) = item {
                    collect_ids(value, ids);
                }
            }
        }
        _ => {}
    }
}

/// Blanks every text that may be an answer; `inside` once below a member that holds answers.
fn blank_answers(value: &mut Pattern, inside: bool, typed: &mut Vec<String>) {
    match value {
        Pattern::Text(text) if inside => {
            typed.push(plain(text));
            *text = Text::plain(REDACTED);
        }
        Pattern::Object(object) => {
            for (key, value) in &mut object.members {
                let holds = matches!(
                    key.as_str(),
                    "result" | "value" | "text" | "answer" | "input" | "entered" | "response" | "content"
                );
                let names = matches!(key.as_str(), "id" | "ask" | "ask_id" | "request_id" | "type" | "kind");
                blank_answers(value, !names && (inside || holds), typed);
            }
        }
        Pattern::Array(items) => {
            for item in items {
                if let Item::One(value) = item {
                    blank_answers(value, inside, typed);
                }
            }
        }
        _ => {}
    }
}

fn plain(text: &Text) -> String {
    text.pieces()
        .iter()
        .map(|piece| match piece {
            Piece::Plain(plain) => plain.clone(),
            Piece::Name(name) => format!("${{{name}}}"),
        })
        .collect()
}
