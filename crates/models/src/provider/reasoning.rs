//! What a server of Chat Completions wants back of its model's thoughts. Pure.
//!
//! The wire has no place for them, so every house made its own: words beside the answer (`reasoning_content`, `reasoning`), or a list that
//! may be signed (`reasoning_details`). Both are kept as they came (`wire` = `openai-chat`) and go back in the form that the house asks for;
//! one that asks for nothing gets nothing, since strict servers refuse members that they do not know.

use serde_json::{Map, Value, json};

use super::House;
use super::house::{plain_name, version};
use super::json::{list, text};
use crate::{Delta, OpaquePart};

const WIRE: &str = "openai-chat";
/// The names that servers have for words of a thought.
const WORDS: [&str; 3] = ["reasoning_content", "reasoning", "thinking"];
const DETAILS: &str = "reasoning_details";
/// Stands where a house insists on a thought and there is none, such as in what another model said: it refuses a message without one and
/// one that is empty.
const NO_THOUGHT: &str = " ";
/// Bytes of a response's thoughts that are kept at most; of longer ones nothing is, since a part of them is not what was said.
const MAX_KEPT: usize = 4 * 1024 * 1024;

/// Puts together what is kept of a response.
#[derive(Debug, Default)]
pub(super) struct Gathered {
    words: Option<(&'static str, String)>,
    details: Vec<Value>,
    /// Bytes of both, about.
    size: usize,
}

impl Gathered {
    /// Takes what a piece of the response says of thoughts.
    pub(super) fn read(&mut self, delta: &Value, out: &mut Vec<Delta>) {
        let told = WORDS.iter().find_map(|field| {
            let words = delta.get(field)?.as_str().filter(|words| !words.is_empty())?;
            Some((*field, words))
        });
        if let Some((field, words)) = told {
            out.push(Delta::Thought(words.to_owned()));
            self.size = self.size.saturating_add(words.len());
            if self.size <= MAX_KEPT {
                self.words.get_or_insert_with(|| (field, String::new())).1.push_str(words);
            }
        }
        for detail in list(delta, "/reasoning_details") {
            self.size = self.size.saturating_add(detail.to_string().len());
            if self.size <= MAX_KEPT {
                self.detail(detail);
            }
        }
    }

    /// A detail is streamed in pieces of one type and index; what is encrypted comes whole.
    fn detail(&mut self, piece: &Value) {
        let same = |last: &Value| {
            ["type", "index"].iter().all(|field| last.get(field) == piece.get(field))
                && piece.get("data").is_none()
        };
        let grows = self.details.last_mut().filter(|last| same(last));
        let (Some(Value::Object(last)), Value::Object(piece)) = (grows, piece) else {
            self.details.push(piece.clone());
            return;
        };
        for (field, value) in piece {
            match (last.get_mut(field), value) {
                (Some(Value::String(so_far)), Value::String(more))
                    if matches!(field.as_str(), "text" | "summary") =>
                {
                    so_far.push_str(more);
                }
                (None | Some(Value::Null), value) => drop(last.insert(field.clone(), value.clone())),
                (Some(_), _) => {}
            }
        }
    }

    /// The response is over: what is to be kept of it.
    pub(super) fn keep(&mut self, out: &mut Vec<Delta>) {
        let Self { words, details, size } = std::mem::take(self);
        if size > MAX_KEPT {
            return;
        }
        let mut value = Map::new();
        if let Some((field, words)) = words {
            value.insert(field.to_owned(), json!(words));
        }
        if !details.is_empty() {
            value.insert(DETAILS.to_owned(), Value::Array(details));
        }
        if !value.is_empty() {
            out.push(Delta::Keep(OpaquePart { wire: WIRE.to_owned(), value: Value::Object(value) }));
        }
    }
}

/// Asks that the model reads all that it thought before, of houses where that is off and the model knows it: agents think better, and what
/// was sent before stays the same for the cache.
pub(super) fn ask_to_read(house: House, model: &str, body: &mut Map<String, Value>) {
    let name = plain_name(model);
    match house {
        House::Zai if version(&name, "glm-") >= Some((4, 7)) => {
            body.insert("thinking".into(), json!({ "type": "enabled", "clear_thinking": false }));
        }
        House::Qwen if version(&name, "qwen") >= Some((3, 5)) => {
            body.insert("preserve_thinking".into(), json!(true));
        }
        _ => {}
    }
}

/// Adds to a message of the model what this house wants back of its thoughts. `thinks`: the model is not told to leave thinking out.
pub(super) fn give_back(house: House, thinks: bool, kept: &[OpaquePart], message: &mut Map<String, Value>) {
    let kept = kept.iter().find(|kept| kept.wire == WIRE).map(|kept| &kept.value);
    let words = || kept.and_then(words_of);
    match house {
        // Each message of the model must have one, whoever wrote it.
        House::DeepSeek if thinks => {
            message
                .insert("reasoning_content".into(), json!(words().unwrap_or_else(|| NO_THOUGHT.to_owned())));
        }
        // The same of messages that call tools.
        House::Moonshot if thinks && message.contains_key("tool_calls") => {
            message
                .insert("reasoning_content".into(), json!(words().unwrap_or_else(|| NO_THOUGHT.to_owned())));
        }
        House::Moonshot | House::Zai | House::Qwen if thinks => {
            message.extend(words().map(|words| ("reasoning_content".to_owned(), json!(words))));
        }
        House::OpenRouter => {
            let details = kept.and_then(|kept| kept.get(DETAILS)).cloned();
            match (details, words()) {
                (Some(details), _) => drop(message.insert(DETAILS.into(), details)),
                (None, Some(words)) => drop(message.insert("reasoning".into(), json!(words))),
                (None, None) => {}
            }
        }
        // By the names that a server of its kind gave them.
        House::Other => {
            let fields = kept.and_then(Value::as_object).into_iter().flatten();
            message.extend(fields.map(|(field, value)| (field.clone(), value.clone())));
        }
        House::DeepSeek | House::Moonshot | House::Zai | House::Qwen => {}
        House::Anthropic | House::OpenAi | House::Google | House::Xai | House::Groq | House::Mistral => {}
    }
}

/// The thought as words, in whichever form it was kept.
fn words_of(kept: &Value) -> Option<String> {
    let plain = WORDS.iter().find_map(|field| kept.get(field)?.as_str().map(str::to_owned));
    let listed = || {
        let of =
            |detail: &Value| text(detail, "/text").or_else(|| text(detail, "/summary")).map(str::to_owned);
        list(kept, "/reasoning_details").iter().filter_map(of).collect::<String>()
    };
    plain.or_else(|| Some(listed())).filter(|words| !words.is_empty())
}
