//! A request of an agent to its model, on any of the three APIs, as what the scripted model wants to know of it. Pure.
//!
//! What it is not: a judge of the request. Whatever is missing or odd is read as nothing there.

use serde_json::{Value, json};

/// Bytes of a request per token: an estimate, good enough to compare.
pub(super) const BYTES_PER_TOKEN: usize = 4;
/// What an agent that wants a summary of its conversation writes in its last message.
const ASKS_FOR_SUMMARY: [&str; 3] = ["summar", "compact", "continuing our conversation"];

/// The API that an agent speaks with its model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ModelApi {
    /// OpenAI's Chat Completions, which most others have too.
    Chat,
    /// OpenAI's Responses.
    Responses,
    /// Anthropic's Messages.
    Messages,
}

impl ModelApi {
    /// The API whose requests go to a path that ends so.
    pub(super) fn of_path(path: &str) -> Option<ModelApi> {
        let ends = [
            ("/chat/completions", ModelApi::Chat),
            ("/responses", ModelApi::Responses),
            ("/messages", ModelApi::Messages),
        ];
        ends.into_iter().find(|(end, _)| path.ends_with(end)).map(|(_, api)| api)
    }
}

/// A tool that the agent offers to its model.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct OfferedTool {
    pub(super) name: String,
    /// The JSON Schema of its arguments.
    pub(super) schema: Value,
}

/// One thing of the conversation, as far as the scripted model looks at it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum HeardItem {
    /// The person's words, or what the agent puts where those stand.
    Person(String),
    Model,
    Result(String),
}

/// A request as it was heard.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Heard {
    pub(super) api: ModelApi,
    pub(super) streams: bool,
    pub(super) tools: Vec<OfferedTool>,
    pub(super) items: Vec<HeardItem>,
    /// All that counts, in the order in which a provider keeps it.
    pub(super) whole: String,
    /// Whether a provider would keep anything of it for the next request.
    pub(super) is_marked: bool,
}

impl Heard {
    /// Reads a request.
    pub(super) fn read(api: ModelApi, body: &Value) -> Heard {
        let (tools, items) = match api {
            ModelApi::Chat => (functions(&body["tools"], "/function"), chat(&body["messages"])),
            ModelApi::Responses => (functions(&body["tools"], ""), responses(&body["input"])),
            ModelApi::Messages => (functions(&body["tools"], ""), messages(&body["messages"])),
        };
        let parts = match api {
            ModelApi::Chat => [&body["tools"], &Value::Null, &body["messages"]],
            ModelApi::Responses => [&body["tools"], &body["instructions"], &body["input"]],
            ModelApi::Messages => [&body["tools"], &body["system"], &body["messages"]],
        };
        let marked = parts.map(|part| part.to_string()).concat();
        let whole = parts.map(|part| unmarked(part.clone()).to_string()).concat();
        // Messages keeps only what it is told to keep; the others keep everything.
        let is_marked = api != ModelApi::Messages || marked.len() > whole.len();
        Heard { api, streams: body["stream"] == json!(true), tools, items, whole, is_marked }
    }

    /// About how many tokens it has.
    pub(super) fn tokens(&self) -> u64 {
        u64::try_from(self.whole.len() / BYTES_PER_TOKEN).unwrap_or(u64::MAX)
    }

    /// Whether a text that needs no escapes stands anywhere in it.
    pub(super) fn carries(&self, text: &str) -> bool {
        self.whole.contains(text)
    }

    /// What came after the model's last answer, in order. Agents give calls other ids than the model did, so results are known by their place.
    fn newest(&self) -> &[HeardItem] {
        let last = self.items.iter().rposition(|item| *item == HeardItem::Model).map_or(0, |at| at + 1);
        &self.items[last..]
    }

    /// The results of the model's last calls.
    pub(super) fn newest_results(&self) -> Vec<&str> {
        let results = self.newest().iter().filter_map(|item| match item {
            HeardItem::Result(text) => Some(text.as_str()),
            HeardItem::Person(_) | HeardItem::Model => None,
        });
        results.collect()
    }

    /// Whether any result says this.
    pub(super) fn says(&self, words: &str) -> bool {
        self.items.iter().any(|item| matches!(item, HeardItem::Result(text) if text.contains(words)))
    }

    /// What the agent put after the model's last answer beside results.
    pub(super) fn newest_words(&self) -> String {
        let words = self.newest().iter().filter_map(|item| match item {
            HeardItem::Person(text) => Some(text.as_str()),
            HeardItem::Model | HeardItem::Result(_) => None,
        });
        words.collect::<Vec<_>>().join("\n")
    }

    /// Whether the agent asks for a summary: its last message says so, and is not a prompt that the model was given.
    pub(super) fn asks_for_summary(&self, prompt: &str) -> bool {
        let Some(HeardItem::Person(last)) = self.items.last() else { return false };
        let lower = last.to_lowercase();
        !last.contains(prompt) && ASKS_FOR_SUMMARY.iter().any(|word| lower.contains(word))
    }
}

/// Without the marks that say where to keep: they move from request to request, and are not part of what is kept.
fn unmarked(value: Value) -> Value {
    match value {
        Value::Array(items) => items.into_iter().map(unmarked).collect(),
        Value::Object(members) => {
            let kept = members.into_iter().filter(|(key, _)| key != "cache_control");
            Value::Object(kept.map(|(key, value)| (key, unmarked(value))).collect())
        }
        other => other,
    }
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

fn word<'v>(value: &'v Value, key: &str) -> &'v str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

fn functions(tools: &Value, place: &str) -> Vec<OfferedTool> {
    let read = |tool: &Value| {
        let tool = tool.pointer(place)?;
        let name = word(tool, "name").to_owned();
        let schema = tool.get("parameters").or_else(|| tool.get("input_schema"))?.clone();
        (!name.is_empty()).then_some(OfferedTool { name, schema })
    };
    list(tools).iter().filter_map(read).collect()
}

/// The text of a content, which is a text or a list of blocks.
fn text(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        other => list(other).iter().map(|block| word(block, "text")).collect::<Vec<_>>().join("\n"),
    }
}

fn chat(items: &Value) -> Vec<HeardItem> {
    let read = |message: &Value| match word(message, "role") {
        "assistant" => Some(HeardItem::Model),
        "tool" => Some(HeardItem::Result(text(&message["content"]))),
        "user" => Some(HeardItem::Person(text(&message["content"]))),
        _ => None,
    };
    list(items).iter().filter_map(read).collect()
}

fn responses(items: &Value) -> Vec<HeardItem> {
    if let Value::String(prompt) = items {
        return vec![HeardItem::Person(prompt.clone())];
    }
    let read = |item: &Value| match (word(item, "type"), word(item, "role")) {
        ("function_call_output", _) => Some(HeardItem::Result(text(&item["output"]))),
        ("function_call" | "reasoning", _) | (_, "assistant") => Some(HeardItem::Model),
        (_, "user") => Some(HeardItem::Person(text(&item["content"]))),
        _ => None,
    };
    list(items).iter().filter_map(read).collect()
}

fn messages(items: &Value) -> Vec<HeardItem> {
    let mut all = Vec::new();
    for message in list(items) {
        if word(message, "role") == "assistant" {
            all.push(HeardItem::Model);
            continue;
        }
        if let Value::String(said) = &message["content"] {
            all.push(HeardItem::Person(said.clone()));
        }
        for block in list(&message["content"]) {
            match word(block, "type") {
                "tool_result" => all.push(HeardItem::Result(text(&block["content"]))),
                "text" => all.push(HeardItem::Person(word(block, "text").to_owned())),
                _ => {}
            }
        }
    }
    all
}
