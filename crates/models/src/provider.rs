//! A model on the network: one wire, one address, one key.
//!
//! Each wire is a pure file (request → JSON, events → deltas); this file is the only one that moves bytes. It asks again
//! after passing trouble, also in the middle of an answer, watches for silence, and drops the connection on cancel.
//!
//! Invariants: an attempt that said something is followed by [`Delta::Retrying`] before another one speaks; nothing is
//! asked again once the provider ran a tool of its own.

mod anthropic;
mod cache;
mod calls;
mod effort;
mod failure;
mod gemini;
mod history;
mod house;
mod json;
mod openai_chat;
mod openai_responses;
mod reasoning;
mod schema;
mod size;

use std::collections::BTreeMap;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use serde_json::Value;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

pub(crate) use effort::is_taken as is_effort_taken;
pub(crate) use failure::failure;
pub(crate) use house::House;

use crate::emit::{Emit, Halt, produce};
use crate::http::{self, Call, Clients, HeaderText};
use crate::retry::{Limits, wait_before_next};
use crate::{
    Delta, Deltas, Effort, ErrorKind, Figures, Model, ModelError, ModelInfo, ModelName, Request, Secret,
    StopReason, Usage, Wait, sse,
};

/// The language a server speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wire {
    /// Anthropic Messages.
    Anthropic,
    /// OpenAI Chat Completions, of OpenAI itself or a compatible server.
    OpenAiChat {
        /// OpenAI's own server, which knows newer fields.
        official: bool,
    },
    OpenAiResponses,
    /// Gemini `streamGenerateContent`.
    Gemini,
}

/// How the key goes into a header.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Login {
    /// No key.
    Open,
    /// The wire's own header.
    Key(Secret),
    /// `Authorization: Bearer`.
    Bearer(Secret),
    /// `api-key`, as Azure has it.
    ApiKey(Secret),
}

impl Login {
    /// The key, to keep it out of texts that come back.
    pub(crate) fn secret(&self) -> Option<&Secret> {
        match self {
            Self::Open => None,
            Self::Key(key) | Self::Bearer(key) | Self::ApiKey(key) => Some(key),
        }
    }
}

/// Where and how a provider is reached.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Target {
    pub(crate) wire: Wire,
    pub(crate) house: House,
    /// Without a slash at the end.
    pub(crate) base_url: String,
    pub(crate) login: Login,
    /// The version that Azure wants to be told where a model is a deployment with a path of its own.
    pub(crate) deployments: Option<String>,
}

impl Target {
    /// Where a model is asked; `path` is what the wire says.
    fn path(&self, model: &str, path: String) -> String {
        match &self.deployments {
            Some(version) => format!("/deployments/{model}{path}?api-version={version}"),
            None => path,
        }
    }

    /// A call of a path below the base URL.
    pub(crate) fn call(&self, path: &str, body: Option<&Value>) -> Call {
        let mut headers = vec![("content-type", HeaderText::Plain("application/json"))];
        match (&self.login, self.wire) {
            (Login::Open, _) => {}
            (Login::ApiKey(key), _) => headers.push(("api-key", HeaderText::Key(key.clone()))),
            (Login::Key(key), Wire::Anthropic) => headers.push(("x-api-key", HeaderText::Key(key.clone()))),
            (Login::Key(key), Wire::Gemini) => headers.push(("x-goog-api-key", HeaderText::Key(key.clone()))),
            (Login::Key(key) | Login::Bearer(key), _) => {
                headers.push(("authorization", HeaderText::Bearer(key.clone())));
            }
        }
        if self.wire == Wire::Anthropic {
            headers.push(("anthropic-version", HeaderText::Plain("2023-06-01")));
        }
        Call { url: format!("{}{path}", self.base_url), headers, body: body.map(Value::to_string) }
    }
}

/// What a wire needs to write a request.
pub(crate) struct Draft<'a> {
    pub(crate) model: &'a str,
    pub(crate) house: House,
    pub(crate) info: &'a ModelInfo,
    pub(crate) request: &'a Request,
}

impl Draft<'_> {
    /// The effort that is asked for, of models that take one.
    fn effort(&self) -> Effort {
        if self.info.thinking == Some(false) { Effort::Off } else { self.request.thinking }
    }
}

/// Reads the events of one response. Pure.
pub(crate) trait Reader: Send {
    /// Takes one event. A failure without source; the caller fills it in.
    fn read(&mut self, event: &sse::Event, out: &mut Vec<Delta>) -> Result<(), ModelError>;

    /// The provider itself ran a tool (a search, code): what that did is done.
    fn ran_tool(&self) -> bool;

    /// Set when the response is complete; nothing more is read then.
    fn done(&self) -> Option<StopReason>;

    /// The server closed the stream. Whether what arrived is a complete response.
    fn closed(&mut self, out: &mut Vec<Delta>) -> Option<StopReason>;
}

impl Wire {
    fn draft(self, draft: &Draft<'_>) -> (String, Value) {
        match self {
            Self::Anthropic => ("/v1/messages".to_owned(), anthropic::body(draft)),
            Self::OpenAiChat { official } => {
                ("/chat/completions".to_owned(), openai_chat::body(draft, official))
            }
            Self::OpenAiResponses => ("/responses".to_owned(), openai_responses::body(draft)),
            Self::Gemini => {
                (format!("/models/{}:streamGenerateContent?alt=sse", draft.model), gemini::body(draft))
            }
        }
    }

    /// A header that this request needs beside those of all.
    fn header(self, draft: &Draft<'_>) -> Option<(&'static str, HeaderText)> {
        let wanted = self == Self::Anthropic && anthropic::interleaves(draft);
        wanted.then_some(("anthropic-beta", HeaderText::Plain(anthropic::INTERLEAVED)))
    }

    fn reader(self) -> Box<dyn Reader> {
        let seed = dice();
        match self {
            Self::Anthropic => Box::new(anthropic::Messages::new(seed)),
            Self::OpenAiChat { .. } => Box::new(openai_chat::Chunks::new(seed)),
            Self::OpenAiResponses => Box::new(openai_responses::Items::new(seed)),
            Self::Gemini => Box::new(gemini::Candidates::new(seed)),
        }
    }
}

/// What is known of a model: by the table, as its server told meanwhile, as the person has set it.
#[derive(Debug, Clone)]
pub(crate) struct Facts {
    pub(crate) known: ModelInfo,
    pub(crate) learned: Arc<Mutex<BTreeMap<ModelName, Figures>>>,
    pub(crate) set: Figures,
}

impl Facts {
    /// What is set goes before what the table says, and that before what the server told; a guess comes last.
    pub(crate) fn info(&self, name: &ModelName) -> ModelInfo {
        let learned = self.learned.lock().unwrap_or_else(PoisonError::into_inner).get(name).copied();
        self.known.clone().with(learned.unwrap_or_default(), false).with(self.set, true)
    }
}

/// A model on the network.
#[derive(Debug, Clone)]
pub(crate) struct Remote {
    pub(crate) name: ModelName,
    pub(crate) facts: Facts,
    pub(crate) target: Target,
    pub(crate) limits: Limits,
    pub(crate) clients: Clients,
    /// It has refused a request that had a schema of the answer.
    pub(crate) takes_no_schema: Arc<AtomicBool>,
}

impl Model for Remote {
    fn name(&self) -> &ModelName {
        &self.name
    }

    fn info(&self) -> ModelInfo {
        self.facts.info(&self.name)
    }

    fn stream(&self, request: Request, cancel: CancellationToken) -> Deltas {
        let remote = self.clone();
        produce(
            self.name.to_string(),
            cancel,
            move |emit| async move { remote.respond(&request, &emit).await },
        )
    }
}

impl Remote {
    async fn respond(&self, request: &Request, emit: &Emit) -> Result<(), Halt> {
        let messages = history::mend(&request.messages);
        let mut request = Request { messages, ..request.clone() };
        if self.takes_no_schema.load(Ordering::Relaxed) {
            request.schema = None;
        }
        let mut call = self.call(&request);
        let mut failed = 0;
        loop {
            let mut heard = AttemptReply { asked: size::of_request(&request), ..AttemptReply::default() };
            let error = match self.attempt(&call, emit, &mut heard).await {
                Err(Halt::Failed(error)) if heard.tool && error.is_transient() => {
                    // What the provider did is done: neither this model nor another is asked to do it twice.
                    self.signed(ModelError { kind: ErrorKind::Cut, ..error }).retryable(false)
                }
                Err(Halt::Failed(error)) => self.signed(error),
                other => return other,
            };
            if error.kind == ErrorKind::BadRequest && request.schema.take().is_some() {
                let plain = self.call(&request);
                if plain != call {
                    // The form was told in words as well: better an answer that is only asked for it than none.
                    self.takes_no_schema.store(true, Ordering::Relaxed);
                    call = plain;
                    continue;
                }
            }
            failed += 1;
            if let Some(estimate) = heard.estimate().filter(|_| heard.words) {
                emit.send(Delta::Estimated(estimate)).await?;
            }
            let wait = wait_before_next(&error, failed, &self.limits, dice());
            let Some(wait) = wait else { return Err(error.into()) };
            let delta = Delta::Retrying {
                attempt: failed + 1,
                max: self.limits.attempts,
                delay_ms: u64::try_from(wait.as_millis()).unwrap_or(u64::MAX),
                reason: error.to_string(),
                kind: Some(error.kind),
                status: error.status,
                source: self.name.to_string(),
            };
            emit.send(delta).await?;
            emit.pause(wait).await?;
        }
    }

    fn call(&self, request: &Request) -> Call {
        let (model, info) = (&*self.name.name, self.info());
        let draft = Draft { model, house: self.target.house, info: &info, request };
        let (path, body) = self.target.wire.draft(&draft);
        let mut call = self.target.call(&self.target.path(model, path), Some(&body));
        call.headers.extend(self.target.wire.header(&draft));
        call
    }

    /// Asks once, and notes in `heard` what came before it failed.
    async fn attempt(&self, call: &Call, emit: &Emit, heard: &mut AttemptReply) -> Result<(), Halt> {
        let deadline = Instant::now() + self.limits.first_byte;
        let source = self.name.to_string();
        let sent =
            self.watch(emit, deadline, Wait::FirstByte, http::send(&self.clients, call, &source)).await?;
        let mut response = sent?;
        let status = response.status().as_u16();
        if !response.status().is_success() || !is_event_stream(&response) {
            let asked = http::retry_after(response.headers(), SystemTime::now());
            let may_retry = response.headers().get("x-should-retry").is_none_or(|value| value != "false");
            let body = emit.until_stopped(http::error_body(response)).await?;
            return Err(failure(status, &body).with_retry_after(asked).retryable(may_retry).into());
        }

        let mut reader = self.target.wire.reader();
        let mut parser = sse::Parser::default();
        let (mut events, mut out) = (Vec::new(), Vec::new());
        let mut deadline = deadline;
        let mut which = Wait::FirstByte;
        let stop = loop {
            let piece = self.watch(emit, deadline, which, response.chunk()).await?;
            let piece = piece.map_err(|error| {
                if heard.words {
                    let text = "the connection broke in the middle of the answer";
                    return ModelError::new(ErrorKind::Cut, &source, text);
                }
                ModelError::new(ErrorKind::Network, &source, http::describe(&error.without_url()))
            })?;
            let closed = piece.is_none();
            match piece {
                Some(bytes) => parser
                    .push(&bytes, &mut events)
                    .map_err(|error| ModelError::new(ErrorKind::Protocol, &source, error.to_string()))?,
                None => events.extend(std::mem::take(&mut parser).finish()),
            }
            let mut failed = None;
            for event in events.drain(..) {
                heard.anything = true;
                failed = reader.read(&event, &mut out).err();
                if failed.is_some() || reader.done().is_some() {
                    break;
                }
            }
            let stop = reader.done().or_else(|| if closed { reader.closed(&mut out) } else { None });
            heard.tool |= reader.ran_tool();
            for delta in out.drain(..) {
                heard.take(&delta);
                emit.send(delta).await?;
            }
            match (stop, failed) {
                (_, Some(error)) => return Err(error.into()),
                (Some(stop), None) => break stop,
                (None, None) if closed => {
                    let (kind, text) = match heard {
                        AttemptReply { words: true, .. } => {
                            (ErrorKind::Cut, "the connection closed before the answer was complete")
                        }
                        AttemptReply { anything: true, .. } => {
                            (ErrorKind::Network, "the connection closed before the answer began")
                        }
                        AttemptReply { .. } => {
                            (ErrorKind::Empty, "the server took the request and closed without a word")
                        }
                    };
                    return Err(ModelError::new(kind, &source, text).into());
                }
                (None, None) => {}
            }
            which = Wait::Idle;
            deadline = Instant::now() + self.limits.idle;
        };
        // Dropped before the last delta: whoever sees `Done` may rely on the connection being gone.
        drop(response);
        if let Some(estimate) = heard.estimate() {
            emit.send(Delta::Estimated(estimate)).await?;
        }
        emit.send(Delta::Done { stop }).await
    }

    /// Runs one wait under cancel and watchdog.
    async fn watch<T>(
        &self,
        emit: &Emit,
        deadline: Instant,
        which: Wait,
        work: impl Future<Output = T>,
    ) -> Result<T, Halt> {
        let timed = emit.until_stopped(tokio::time::timeout_at(deadline, work)).await?;
        timed.map_err(|_| {
            let limit = match which {
                Wait::FirstByte => self.limits.first_byte,
                Wait::Idle => self.limits.idle,
            };
            let text = format!("nothing arrived for {}", in_words(limit));
            ModelError::new(ErrorKind::Timeout { which }, self.name.to_string(), text).into()
        })
    }

    /// The error with this model's name, without its key.
    fn signed(&self, error: ModelError) -> ModelError {
        let source_name = self.name.to_string();
        ModelError { source_name, ..error }.without(self.target.login.secret())
    }
}

/// What an attempt brought.
#[derive(Debug, Default)]
struct AttemptReply {
    /// Any event of the wire.
    anything: bool,
    /// Some of the answer.
    words: bool,
    /// The provider ran a tool of its own.
    tool: bool,
    /// The provider told how many tokens it was.
    counted: bool,
    /// Bytes that were asked, about.
    asked: u64,
    /// Bytes that were said.
    said: u64,
}

impl AttemptReply {
    fn take(&mut self, delta: &Delta) {
        match delta {
            Delta::Usage(usage) => self.counted |= usage.input > 0 || usage.output > 0,
            other => {
                self.words = true;
                self.said += size::of_delta(other);
            }
        }
    }

    /// Tokens by size, where the provider told none.
    fn estimate(&self) -> Option<Usage> {
        let tokens = |bytes: u64| bytes.div_ceil(size::BYTES_PER_TOKEN);
        let usage = Usage { input: tokens(self.asked), output: tokens(self.said), ..Usage::default() };
        (!self.counted).then_some(usage)
    }
}

/// A page or a JSON document is no answer, whatever the status says; servers that give no type get the benefit.
fn is_event_stream(response: &reqwest::Response) -> bool {
    let kind =
        response.headers().get("content-type").and_then(|value| value.to_str().ok()).unwrap_or_default();
    !(kind.starts_with("application/json") || kind.starts_with("text/html"))
}

fn in_words(time: Duration) -> String {
    if time >= Duration::from_secs(1) {
        format!("{} s", time.as_secs())
    } else {
        format!("{} ms", time.as_millis())
    }
}

/// A number nobody can foresee, for jitter and made-up ids; needs no strength.
fn dice() -> u64 {
    RandomState::new().build_hasher().finish()
}

#[cfg(test)]
mod tests;
