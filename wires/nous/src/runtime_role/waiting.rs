//! A prompt with `wait:true`: the events of its run are collected until its end, then it is answered.

use crate::wire::FlatEvent;
use domain::event::Outcome;
use roles::Lane;
use serde_json::{Value, json};

/// Most bytes of text and events that one answer carries.
const MAX_RESULT_BYTES: usize = 4 * 1024 * 1024;
/// What an event weighs beside its text.
const EVENT_BYTES: usize = 160;

/// Somebody waits for the end of a run.
#[derive(Debug)]
pub(super) struct Waiting {
    pub(super) lane: Lane,
    pub(super) id: String,
    pub(super) leaf: Option<String>,
    events: Vec<FlatEvent>,
    output: String,
    bytes: usize,
    truncated: bool,
}

impl Waiting {
    pub(super) fn new(lane: Lane, id: String, leaf: Option<String>) -> Waiting {
        Waiting { lane, id, leaf, events: Vec::new(), output: String::new(), bytes: 0, truncated: false }
    }

    /// Notes an event of the run.
    pub(super) fn note(&mut self, event: FlatEvent) {
        let text = event.payload.delta.as_deref().unwrap_or_default();
        // Text is counted twice: it stands in the events and in the output.
        let weight = EVENT_BYTES + 2 * text.len();
        if self.truncated || self.bytes + weight > MAX_RESULT_BYTES {
            self.truncated = true;
            return;
        }
        self.bytes += weight;
        if event.kind == "message_update" {
            self.output.push_str(text);
        }
        self.events.push(event);
    }

    /// The payload of `result`, or why there is none.
    pub(super) fn result(self, session: &str, outcome: &Outcome) -> Result<Value, (String, Option<String>)> {
        match outcome {
            Outcome::Done => {
                let mut payload =
                    json!({ "output": self.output, "events": self.events, "session_id": session });
                if let Some(leaf) = self.leaf {
                    payload["leaf_id"] = Value::String(leaf);
                }
                if self.truncated {
                    payload["truncated"] = Value::Bool(true);
                }
                Ok(payload)
            }
            Outcome::Cancelled => Err(("request_aborted".to_owned(), None)),
            Outcome::Failed(failure) => {
                Err(("provider request failed".to_owned(), Some(failure.message.clone())))
            }
            Outcome::Interrupted | Outcome::Lost => {
                Err(("the runtime went away in the middle of the run".to_owned(), None))
            }
        }
    }
}
