//! The end of a query: what went wrong, if anything, and the one `stream.complete` with its numbers.

use super::super::super::wire::code;
use super::super::super::wire::notify::{Complete, CompleteMetadata, StreamError, StreamFault};
use super::{Counters, Telling};
use domain::content::Usage;
use domain::event::{Failure, Outcome};
use domain::ids::Millis;
use domain::signal::Level;

impl Telling {
    /// Tells the end of the query, with its counts.
    pub(super) fn ended(&mut self, counters: &mut Counters, at: Millis, outcome: &Outcome) {
        self.end_text(counters);
        let (status, failure) = match outcome {
            Outcome::Done => ("success", None),
            Outcome::Cancelled => ("cancelled", None),
            Outcome::Failed(failure) if fault_code(failure) == code::TIMEOUT => {
                ("timeout", Some(failure.clone()))
            }
            Outcome::Failed(failure) => ("error", Some(failure.clone())),
            Outcome::Interrupted => {
                ("error", Some(Failure::new("interrupted", "The run was interrupted; ask again")))
            }
            Outcome::Lost => {
                let words = "The runtime behind this one went away; start it again";
                ("error", Some(Failure::new("lost", words)))
            }
        };
        if let Some(failure) = &failure {
            if self.style.error_blocks && !self.error_told {
                self.notice(counters, Level::Error, &failure.code, &failure.message);
            }
            let error = StreamFault {
                code: fault_code(failure),
                message: failure.message.clone(),
                details: Some(
                    failure
                        .hint
                        .as_ref()
                        .map_or(failure.code.clone(), |hint| format!("{}: {hint}", failure.code)),
                ),
            };
            self.say(&StreamError { query_id: self.query_id.clone(), error });
        }
        let duration_ms = at.since(self.began);
        // Another program that told no tokens did not use none.
        let counted = |count: u64| (!self.follows || self.usage != Usage::default()).then_some(count);
        let metadata = CompleteMetadata {
            total_tokens: counted(self.usage.total()),
            tokens_per_second: counted(self.usage.output).map(|output| per_second(output, duration_ms)),
            input_tokens: counted(self.usage.input),
            output_tokens: counted(self.usage.output),
            model_used: Some(self.model.clone()).filter(|model| !model.is_empty()),
            tools_executed: std::mem::take(&mut self.tools_executed),
            duration_ms,
        };
        let query_id = self.query_id.clone();
        let error = failure.map(|failure| failure.message);
        self.say(&Complete { query_id, status: status.to_owned(), metadata: Some(metadata), error });
        self.over = true;
    }
}

fn per_second(tokens: u64, duration_ms: u64) -> f64 {
    let tenths = tokens.saturating_mul(10_000) / duration_ms.max(1);
    u32::try_from(tenths).map_or(0.0, |tenths| f64::from(tenths) / 10.0)
}

/// The document's code for a failure of ours.
fn fault_code(failure: &Failure) -> i64 {
    let has = |words: &[&str]| words.iter().any(|word| failure.code.contains(word));
    if has(&["timeout", "timed_out"]) {
        code::TIMEOUT
    } else if has(&["cancel"]) {
        code::CANCELLED
    } else if has(&["denied", "permission", "not_allowed"]) {
        code::DENIED
    } else if has(&["tool"]) {
        code::TOOL
    } else if has(&["model", "provider", "overload", "rate", "auth", "context", "key", "quota"]) {
        code::MODEL
    } else {
        code::AGENT
    }
}
