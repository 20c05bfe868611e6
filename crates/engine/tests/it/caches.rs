//! Providers on loopback that count what of a request they have in their cache, each by the rules that its maker documents. They say what
//! they are told to say and report the counts in their own words.

use serde_json::{Map, Value, json};
use std::collections::{HashSet, VecDeque, hash_map::DefaultHasher};
use std::hash::Hasher as _;
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};

/// A token is about this many bytes.
const BYTES_PER_TOKEN: u64 = 4;

/// What a provider says next: words, and calls by name and arguments.
pub(crate) type Says = (String, Vec<(&'static str, Value)>);

/// Whose rules and whose wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Maker {
    /// "Cache prefixes are created in the following order: `tools`, `system`, then `messages`." "You can define up to 4 cache breakpoints."
    /// "Cache writes happen only at your breakpoint." "If none exists, it walks backward one block at a time, checking whether the prefix
    /// hash at each earlier position matches something already in the cache." "The lookback window is 20 blocks. The system checks at most 20
    /// positions per breakpoint, counting the breakpoint itself as the first." "1,024 tokens for […] Claude Sonnet 4.5"
    /// (platform.claude.com/docs/en/build-with-claude/prompt-caching. Of late the Claude API counts a run of calls or of results as one
    /// position; other clouds do not, so here they do not.)
    Anthropic,
    /// "Cache hits require an exact, repeated prefix match and works automatically for prompts containing 1024 tokens or more, with cache hits
    /// occurring in increments of 128 tokens." (OpenAI's cookbook, Prompt Caching 201, for models before GPT-5.6)
    Responses,
    /// "When `prompt_cache_options.mode` is `implicit`, OpenAI places a breakpoint at the end of the latest eligible message."
    /// (developers.openai.com/api/docs/guides/prompt-caching, for GPT-5.6 and later): what is in the cache ends there, and a hit ends there too.
    Chat,
    /// "Implicit caching is enabled by default for all Gemini 2.5 and newer models." "Gemini 2.5 Pro 2,048" tokens at least.
    /// (ai.google.dev/gemini-api/docs/caching)
    Gemini,
}

/// One piece of a request that is compared as a whole.
struct Unit {
    text: String,
    marked: bool,
}

/// What a provider counted.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Counts {
    /// All tokens.
    pub(crate) sent: u64,
    /// Of them: the words were in an earlier request, wherever.
    pub(crate) again: u64,
    /// Of them: read from the cache.
    pub(crate) cached: u64,
    written: u64,
}

/// What a provider has seen.
#[derive(Default)]
struct Seen {
    /// Beginnings that are in the cache.
    prefixes: HashSet<u64>,
    /// Lines and blocks of all requests.
    pieces: HashSet<u64>,
    counts: Vec<Counts>,
    bodies: Vec<Value>,
    says: VecDeque<Says>,
}

/// A provider on loopback.
pub(crate) struct Provider {
    pub(crate) url: String,
    seen: Arc<Mutex<Seen>>,
}

impl Provider {
    pub(crate) async fn start(maker: Maker, says: Vec<Says>) -> Provider {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let seen = Arc::new(Mutex::new(Seen { says: says.into(), ..Seen::default() }));
        let provider = Provider { url, seen: seen.clone() };
        tokio::spawn(async move {
            while let Ok((socket, _)) = listener.accept().await {
                // A client that goes away fails its own test.
                let _ = serve(socket, maker, &seen).await;
            }
        });
        provider
    }

    /// What was counted, request by request.
    pub(crate) fn counts(&self) -> Vec<Counts> {
        self.seen.lock().unwrap().counts.clone()
    }

    pub(crate) fn bodies(&self) -> Vec<Value> {
        self.seen.lock().unwrap().bodies.clone()
    }

    /// Percent of each request with which the next one begins, over all of them; what is left out since counts as not kept.
    pub(crate) fn kept(&self, maker: Maker) -> u64 {
        let (mut before, mut kept) = (0, 0);
        let requests: Vec<Vec<Unit>> = self.bodies().iter().map(|body| maker.units(body)).collect();
        for pair in requests.windows(2) {
            let same = pair[0].iter().zip(&pair[1]).take_while(|(old, new)| old.text == new.text);
            kept += same.map(|(old, _)| old.text.len() as u64).sum::<u64>();
            before += pair[0].iter().map(|unit| unit.text.len() as u64).sum::<u64>();
        }
        kept * 100 / before
    }
}

async fn serve(socket: TcpStream, maker: Maker, seen: &Mutex<Seen>) -> std::io::Result<()> {
    let mut socket = BufReader::new(socket);
    let (mut line, mut length) = (String::new(), 0);
    while socket.read_line(&mut line).await? > 2 {
        if let Some(bytes) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = bytes.trim().parse().unwrap();
        }
        line.clear();
    }
    let mut body = vec![0; length];
    socket.read_exact(&mut body).await?;
    let body: Value = serde_json::from_slice(&body).unwrap_or_default();
    let answer = {
        let mut seen = seen.lock().unwrap();
        let counts = seen.count(maker, &body);
        let says = seen.says.pop_front().unwrap_or(("nothing left to say".to_owned(), Vec::new()));
        let at = seen.bodies.len();
        seen.counts.push(counts);
        seen.bodies.push(body);
        maker.answer(at, &says, counts)
    };
    let head = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\ncontent-length: {}\r\n\r\n",
        answer.len()
    );
    socket.write_all(head.as_bytes()).await?;
    socket.write_all(answer.as_bytes()).await?;
    socket.shutdown().await
}

fn hash(value: impl std::hash::Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

fn array(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

impl Seen {
    fn count(&mut self, maker: Maker, body: &Value) -> Counts {
        let units = maker.units(body);
        let (mut ends, mut before, mut size) = (Vec::new(), 0_u64, 0);
        for unit in &units {
            before = hash((before, &unit.text));
            size += unit.text.len() as u64;
            ends.push((before, size / BYTES_PER_TOKEN));
        }
        let cached = self.read(maker, &units, &ends);
        let written = self.write(maker, &units, &ends).saturating_sub(cached);
        let (mut again, mut new) = (0, Vec::new());
        for piece in units.iter().flat_map(|unit| unit.text.split_inclusive("\\n")) {
            match self.pieces.contains(&hash(piece)) {
                true => again += piece.len() as u64,
                false => new.push(hash(piece)),
            }
        }
        self.pieces.extend(new);
        Counts { sent: size / BYTES_PER_TOKEN, again: again / BYTES_PER_TOKEN, cached, written }
    }

    /// Tokens that are in the cache.
    fn read(&self, maker: Maker, units: &[Unit], ends: &[(u64, u64)]) -> u64 {
        // Backwards from a place, so many positions at most.
        let longest = |from: usize, most: usize| {
            let found = (0..=from).rev().take(most).find(|at| self.prefixes.contains(&ends[*at].0));
            found.map_or(0, |at| ends[at].1)
        };
        let last = units.len() - 1;
        match maker {
            Maker::Anthropic => {
                let marks = (0..units.len()).filter(|at| units[*at].marked);
                marks.map(|mark| longest(mark, 20)).max().unwrap_or(0)
            }
            Maker::Responses => match longest(last, usize::MAX) {
                tokens if tokens < 1024 => 0,
                tokens => tokens / 128 * 128,
            },
            Maker::Chat => longest(last, usize::MAX),
            Maker::Gemini => Some(longest(last, usize::MAX)).filter(|tokens| *tokens >= 2048).unwrap_or(0),
        }
    }

    /// Keeps what the maker keeps; tells how many tokens the longest of it has.
    fn write(&mut self, maker: Maker, units: &[Unit], ends: &[(u64, u64)]) -> u64 {
        let kept: Vec<usize> = match maker {
            Maker::Anthropic => (0..units.len()).filter(|at| units[*at].marked).collect(),
            Maker::Responses | Maker::Gemini => (0..units.len()).collect(),
            Maker::Chat => units.len().checked_sub(1).into_iter().collect(),
        };
        assert!(
            maker != Maker::Anthropic || kept.len() <= 4,
            "a maximum of 4 blocks with cache_control may be provided"
        );
        let least = if matches!(maker, Maker::Anthropic | Maker::Chat) { 1024 } else { 0 };
        let kept: Vec<(u64, u64)> =
            kept.into_iter().map(|at| ends[at]).filter(|end| end.1 >= least).collect();
        self.prefixes.extend(kept.iter().map(|end| end.0));
        kept.last().map_or(0, |end| end.1)
    }
}

impl Maker {
    /// The request in the order in which the maker reads it.
    fn units(self, body: &Value) -> Vec<Unit> {
        let unit = |role: &Value, block: &Value| {
            let mut block = block.clone();
            let mark = block.as_object_mut().and_then(|fields| fields.remove("cache_control"));
            Unit { text: format!("{role}{block}"), marked: mark.is_some() }
        };
        let plain = |block: &Value| unit(&Value::Null, block);
        match self {
            Maker::Anthropic => {
                let before = array(&body["tools"]).chain(array(&body["system"])).map(plain);
                let said = array(&body["messages"]).flat_map(|message| {
                    array(&message["content"]).map(move |block| unit(&message["role"], block))
                });
                before.chain(said).collect()
            }
            Maker::Responses => {
                let before = [&body["tools"], &body["instructions"]].into_iter();
                before.chain(array(&body["input"])).map(plain).collect()
            }
            Maker::Chat => [&body["tools"]].into_iter().chain(array(&body["messages"])).map(plain).collect(),
            Maker::Gemini => {
                let before = [&body["systemInstruction"], &body["tools"]].into_iter().map(plain);
                let said = array(&body["contents"])
                    .flat_map(|turn| array(&turn["parts"]).map(move |part| unit(&turn["role"], part)));
                before.chain(said).collect()
            }
        }
    }

    /// The answer on the maker's wire.
    fn answer(self, at: usize, (words, calls): &Says, counts: Counts) -> String {
        let Counts { sent, cached, written, .. } = counts;
        let mut events: Vec<Value> = Vec::new();
        match self {
            Maker::Anthropic => {
                let fresh = sent - cached - written;
                let usage = json!({ "input_tokens": fresh, "cache_creation_input_tokens": written, "cache_read_input_tokens": cached });
                events.push(json!({ "type": "message_start", "message": { "usage": usage } }));
                let thought = json!({ "type": "thinking", "thinking": format!("Step {at}."), "signature": format!("SIG{at}") });
                let mut blocks = vec![(thought, Value::Null)];
                blocks.push((
                    json!({ "type": "text", "text": "" }),
                    json!({ "type": "text_delta", "text": words }),
                ));
                for (n, (name, args)) in calls.iter().enumerate() {
                    let block = json!({ "type": "tool_use", "id": format!("toolu_{at}_{n}"), "name": name, "input": {} });
                    blocks.push((
                        block,
                        json!({ "type": "input_json_delta", "partial_json": args.to_string() }),
                    ));
                }
                for (index, (block, delta)) in blocks.into_iter().enumerate() {
                    events.push(
                        json!({ "type": "content_block_start", "index": index, "content_block": block }),
                    );
                    if !delta.is_null() {
                        events.push(json!({ "type": "content_block_delta", "index": index, "delta": delta }));
                    }
                    events.push(json!({ "type": "content_block_stop", "index": index }));
                }
                let stop = if calls.is_empty() { "end_turn" } else { "tool_use" };
                events.push(json!({ "type": "message_delta", "delta": { "stop_reason": stop }, "usage": { "output_tokens": 9 } }));
                events.push(json!({ "type": "message_stop" }));
            }
            Maker::Responses => {
                let item = json!({ "type": "reasoning", "id": format!("rs_{at}"), "summary": [], "encrypted_content": format!("ENC{at}") });
                events.push(json!({ "type": "response.output_item.done", "output_index": 0, "item": item }));
                events
                    .push(json!({ "type": "response.output_text.delta", "output_index": 1, "delta": words }));
                for (n, (name, args)) in calls.iter().enumerate() {
                    let item = json!({ "type": "function_call", "call_id": format!("fc_{at}_{n}"), "name": name, "arguments": args.to_string() });
                    events.push(
                        json!({ "type": "response.output_item.done", "output_index": n + 2, "item": item }),
                    );
                }
                let usage = json!({ "input_tokens": sent, "input_tokens_details": { "cached_tokens": cached }, "output_tokens": 9 });
                events.push(json!({ "type": "response.completed", "response": { "status": "completed", "usage": usage } }));
            }
            Maker::Chat => {
                events.push(json!({ "choices": [{ "index": 0, "delta": { "content": words } }] }));
                for (n, (name, args)) in calls.iter().enumerate() {
                    let function = json!({ "name": name, "arguments": args.to_string() });
                    let call = json!({ "index": n, "id": format!("c_{at}_{n}"), "type": "function", "function": function });
                    events.push(json!({ "choices": [{ "index": 0, "delta": { "tool_calls": [call] } }] }));
                }
                let reason = if calls.is_empty() { "stop" } else { "tool_calls" };
                let details = json!({ "cached_tokens": cached, "cache_write_tokens": written });
                let usage = json!({ "prompt_tokens": sent, "prompt_tokens_details": details, "completion_tokens": 9 });
                events.push(json!({ "choices": [{ "index": 0, "delta": {}, "finish_reason": reason }], "usage": usage }));
            }
            Maker::Gemini => {
                let mut parts = vec![json!({ "text": words })];
                for (n, (name, args)) in calls.iter().enumerate() {
                    let mut part = Map::new();
                    part.insert("functionCall".to_owned(), json!({ "name": name, "args": args }));
                    if n == 0 {
                        part.insert("thoughtSignature".to_owned(), json!(format!("SIG{at}")));
                    }
                    parts.push(Value::Object(part));
                }
                let usage = json!({ "promptTokenCount": sent, "cachedContentTokenCount": cached, "candidatesTokenCount": 9 });
                let turn = json!({ "content": { "role": "model", "parts": parts }, "finishReason": "STOP" });
                events.push(json!({ "candidates": [turn], "usageMetadata": usage }));
            }
        }
        events.into_iter().map(|event| format!("data: {event}\n\n")).collect()
    }
}
