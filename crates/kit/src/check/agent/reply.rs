//! What the scripted model says, written as each API writes it: in pieces, as a whole, and as a refusal. Pure.

use super::heard::ModelApi;
use serde_json::{Value, json};

/// The model's name on every API.
pub const MODEL: &str = "parlor-check";

/// A call of a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ReplyCall {
    pub(super) id: String,
    pub(super) name: String,
    /// The arguments as the model wrote them, which need not be JSON.
    pub(super) args: String,
}

/// How an answer ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum ReplyEnd {
    #[default]
    Whole,
    /// The longest answer that the model may give is reached.
    AtLimit,
    /// The connection breaks after some of the text, or of the last call.
    Broken,
}

/// An answer of the model.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Reply {
    pub(super) text: String,
    pub(super) calls: Vec<ReplyCall>,
    pub(super) end: ReplyEnd,
}

impl Reply {
    /// Words alone.
    pub(super) fn text(text: impl Into<String>) -> Reply {
        Reply { text: text.into(), ..Reply::default() }
    }

    /// About how many tokens it has.
    pub(super) fn tokens(&self) -> u64 {
        let bytes = self.text.len() + self.calls.iter().map(|call| call.args.len()).sum::<usize>();
        u64::try_from(bytes / super::heard::BYTES_PER_TOKEN).unwrap_or(u64::MAX)
    }
}

/// What the agent is charged with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Charged {
    pub(super) sent: u64,
    pub(super) cached: u64,
    pub(super) said: u64,
}

impl Charged {
    fn chat(self) -> Value {
        json!({"prompt_tokens":self.sent,"completion_tokens":self.said,"total_tokens":self.sent + self.said,
            "prompt_tokens_details":{"cached_tokens":self.cached}})
    }

    fn responses(self) -> Value {
        json!({"input_tokens":self.sent,"output_tokens":self.said,"total_tokens":self.sent + self.said,
            "input_tokens_details":{"cached_tokens":self.cached},"output_tokens_details":{"reasoning_tokens":0}})
    }

    fn messages(self) -> Value {
        json!({"input_tokens":self.sent - self.cached,"cache_read_input_tokens":self.cached,
            "cache_creation_input_tokens":0,"output_tokens":self.said})
    }
}

/// The answer as an event stream. One that breaks stops in the middle, and the caller breaks the connection.
pub(super) fn stream(api: ModelApi, reply: &Reply, charged: Charged) -> String {
    let mut events = match api {
        ModelApi::Chat => chat(reply, charged),
        ModelApi::Responses => responses(reply, charged),
        ModelApi::Messages => messages(reply, charged),
    };
    let (end, names) =
        (events.split_off(events.len().saturating_sub(last_events(api))), api != ModelApi::Chat);
    if reply.end != ReplyEnd::Broken {
        events.extend(end);
    }
    let written = events.iter().map(|event| match event["type"].as_str().filter(|_| names) {
        Some(name) => format!("event: {name}\ndata: {event}\n\n"),
        None => format!("data: {event}\n\n"),
    });
    let mut text: String = written.collect();
    if api == ModelApi::Chat && reply.end != ReplyEnd::Broken {
        text.push_str("data: [DONE]\n\n");
    }
    text
}

/// How many events end a stream of this API.
fn last_events(api: ModelApi) -> usize {
    match api {
        ModelApi::Responses => 1,
        ModelApi::Chat | ModelApi::Messages => 2,
    }
}

/// The end of the last character that ends at or before this byte.
pub(super) fn boundary(text: &str, at: usize) -> usize {
    (0..=at).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

/// The arguments in two pieces. Of a call that breaks, and is the last, the second one never comes.
fn pieces(reply: &Reply, index: usize) -> Vec<&str> {
    let args = &reply.calls[index].args;
    let (first, second) = args.split_at(boundary(args, args.len() / 2));
    let breaks = reply.end == ReplyEnd::Broken && index + 1 == reply.calls.len();
    if breaks { vec![first] } else { vec![first, second] }
}

fn chat(reply: &Reply, charged: Charged) -> Vec<Value> {
    let chunk = |delta: Value, finish: Option<&str>| {
        json!({"id":"check","object":"chat.completion.chunk","created":0,"model":MODEL,
            "choices":[{"index":0,"delta":delta,"finish_reason":finish}]})
    };
    let mut events = vec![chunk(json!({"role":"assistant","content":reply.text}), None)];
    for (index, call) in reply.calls.iter().enumerate() {
        let head = json!({"index":index,"id":call.id,"type":"function","function":{"name":call.name,"arguments":""}});
        events.push(chunk(json!({"tool_calls":[head]}), None));
        for piece in pieces(reply, index) {
            let more = json!({"index":index,"function":{"arguments":piece}});
            events.push(chunk(json!({"tool_calls":[more]}), None));
        }
    }
    let finish = finish(reply, "stop", "tool_calls", "length");
    events.push(chunk(json!({}), Some(finish)));
    events.push(json!({"id":"check","object":"chat.completion.chunk","created":0,"model":MODEL,"choices":[],
        "usage":charged.chat()}));
    events
}

fn finish<'w>(reply: &Reply, done: &'w str, calls: &'w str, limit: &'w str) -> &'w str {
    match reply.end {
        ReplyEnd::AtLimit => limit,
        ReplyEnd::Whole | ReplyEnd::Broken if reply.calls.is_empty() => done,
        ReplyEnd::Whole | ReplyEnd::Broken => calls,
    }
}

/// The items of an answer of Responses.
fn output(reply: &Reply) -> Vec<Value> {
    let status = if reply.end == ReplyEnd::AtLimit { "incomplete" } else { "completed" };
    let mut items = Vec::new();
    if !reply.text.is_empty() {
        items.push(json!({"id":"msg_check","type":"message","role":"assistant","status":status,
            "content":[{"type":"output_text","text":reply.text,"annotations":[]}]}));
    }
    items.extend(reply.calls.iter().map(|call| {
        json!({"id":format!("fc_{}", call.id),"type":"function_call","status":status,"call_id":call.id,
            "name":call.name,"arguments":call.args})
    }));
    items
}

fn response(reply: &Reply, charged: Charged) -> Value {
    let mut whole = json!({"id":"resp_check","object":"response","created_at":0,"model":MODEL,"status":"completed",
        "output":output(reply),"usage":charged.responses()});
    if reply.end == ReplyEnd::AtLimit {
        whole["status"] = json!("incomplete");
        whole["incomplete_details"] = json!({"reason":"max_output_tokens"});
    }
    whole
}

fn responses(reply: &Reply, charged: Charged) -> Vec<Value> {
    let begun = json!({"id":"resp_check","object":"response","created_at":0,"model":MODEL,"status":"in_progress","output":[]});
    let mut events = vec![json!({"type":"response.created","response":begun})];
    let texts = usize::from(!reply.text.is_empty());
    for (index, item) in output(reply).into_iter().enumerate() {
        let mut empty = item.clone();
        empty["status"] = json!("in_progress");
        let breaks = reply.end == ReplyEnd::Broken && index + 1 == texts + reply.calls.len();
        if item["type"] == "message" {
            empty["content"] = json!([]);
            events.push(json!({"type":"response.output_item.added","output_index":index,"item":empty}));
            events
                .push(json!({"type":"response.output_text.delta","item_id":item["id"],"output_index":index,
                "content_index":0,"delta":reply.text}));
        } else {
            empty["arguments"] = json!("");
            events.push(json!({"type":"response.output_item.added","output_index":index,"item":empty}));
            for piece in pieces(reply, index - texts) {
                events.push(json!({"type":"response.function_call_arguments.delta","item_id":item["id"],
                    "output_index":index,"delta":piece}));
            }
        }
        if !breaks {
            events.push(json!({"type":"response.output_item.done","output_index":index,"item":item}));
        }
    }
    let last = if reply.end == ReplyEnd::AtLimit { "response.incomplete" } else { "response.completed" };
    events.push(json!({"type":last,"response":response(reply, charged)}));
    events
}

fn messages(reply: &Reply, charged: Charged) -> Vec<Value> {
    let begun = json!({"id":"msg_check","type":"message","role":"assistant","model":MODEL,"content":[],
        "stop_reason":null,"stop_sequence":null,"usage":charged.messages()});
    let mut events = vec![json!({"type":"message_start","message":begun})];
    let mut index = 0;
    if !reply.text.is_empty() {
        events
            .push(json!({"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}));
        events.push(
            json!({"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":reply.text}}),
        );
        if reply.end != ReplyEnd::Broken || !reply.calls.is_empty() {
            events.push(json!({"type":"content_block_stop","index":0}));
        }
        index = 1;
    }
    for (number, call) in reply.calls.iter().enumerate() {
        let block = json!({"type":"tool_use","id":call.id,"name":call.name,"input":{}});
        events.push(json!({"type":"content_block_start","index":index,"content_block":block}));
        for piece in pieces(reply, number) {
            let delta = json!({"type":"input_json_delta","partial_json":piece});
            events.push(json!({"type":"content_block_delta","index":index,"delta":delta}));
        }
        if reply.end != ReplyEnd::Broken || number + 1 < reply.calls.len() {
            events.push(json!({"type":"content_block_stop","index":index}));
        }
        index += 1;
    }
    let stop = finish(reply, "end_turn", "tool_use", "max_tokens");
    events.push(json!({"type":"message_delta","delta":{"stop_reason":stop,"stop_sequence":null},
        "usage":{"output_tokens":charged.said}}));
    events.push(json!({"type":"message_stop"}));
    events
}

/// The answer to a request that wants no stream.
pub(super) fn whole(api: ModelApi, reply: &Reply, charged: Charged) -> Value {
    match api {
        ModelApi::Responses => response(reply, charged),
        ModelApi::Chat => {
            let calls: Vec<Value> = reply
                .calls
                .iter()
                .map(|call| json!({"id":call.id,"type":"function","function":{"name":call.name,"arguments":call.args}}))
                .collect();
            let mut message = json!({"role":"assistant","content":reply.text});
            if !calls.is_empty() {
                message["tool_calls"] = Value::Array(calls);
            }
            json!({"id":"check","object":"chat.completion","created":0,"model":MODEL,"usage":charged.chat(),
                "choices":[{"index":0,"message":message,"finish_reason":finish(reply, "stop", "tool_calls", "length")}]})
        }
        ModelApi::Messages => {
            let text = (!reply.text.is_empty()).then(|| json!({"type":"text","text":reply.text}));
            let calls = reply.calls.iter().map(|call| {
                let input =
                    serde_json::from_str(&call.args).unwrap_or_else(|_| Value::from(call.args.clone()));
                json!({"type":"tool_use","id":call.id,"name":call.name,"input":input})
            });
            let content: Vec<Value> = text.into_iter().chain(calls).collect();
            json!({"id":"msg_check","type":"message","role":"assistant","model":MODEL,"content":content,
                "stop_reason":finish(reply, "end_turn", "tool_use", "max_tokens"),"stop_sequence":null,
                "usage":charged.messages()})
        }
    }
}

/// The body of a refusal.
pub(super) fn refusal(api: ModelApi, status: u16, window: Option<u64>) -> Value {
    let (kind, words) = match (status, window) {
        (_, Some(window)) => (
            "context_length_exceeded",
            format!("prompt is too long: this model's maximum context length is {window} tokens"),
        ),
        (429, None) => ("rate_limit_exceeded", "too many requests".to_owned()),
        _ => ("server_error", "the server had an error".to_owned()),
    };
    match api {
        ModelApi::Chat | ModelApi::Responses => {
            let group = if window.is_some() { "invalid_request_error" } else { kind };
            json!({"error":{"message":words,"type":group,"param":null,"code":kind}})
        }
        ModelApi::Messages => {
            let kind = match (status, window) {
                (_, Some(_)) => "invalid_request_error",
                (429, None) => "rate_limit_error",
                _ => "api_error",
            };
            json!({"type":"error","error":{"type":kind,"message":words}})
        }
    }
}
