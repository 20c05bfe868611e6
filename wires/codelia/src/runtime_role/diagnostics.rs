//! Numbers about each call of a model and about the run, for developers who ask for them. Pure: made of what the steps told.
//!
//! What a provider did not tell is null, never zero: a usage of nothing at all is none, and a price that nobody knows is no price.

use super::super::wire::RunDiagnosticsParams;
use domain::content::Usage;
use domain::ids::Millis;
use domain::session::ModelRef;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use wire::time;

/// Most models of a run that are told apart; the rest counts in the sums alone.
const MAX_MODELS: usize = 32;

/// The calls of one run.
#[derive(Debug, Default)]
pub(super) struct Diagnostics {
    open: Option<ModelCall>,
    calls: u64,
    sum: Usage,
    by_model: BTreeMap<String, (u64, Usage)>,
}

/// A call of a model that is not over.
#[derive(Debug)]
struct ModelCall {
    model: Option<ModelRef>,
    began: Millis,
    answered: Option<Millis>,
}

impl Diagnostics {
    /// The model is asked.
    pub(super) fn asked(&mut self, at: Millis, model: Option<&ModelRef>) {
        self.open = Some(ModelCall { model: model.cloned(), began: at, answered: None });
    }

    /// It has answered; its tools may still run.
    pub(super) fn answered(&mut self, at: Millis) {
        if let Some(call) = &mut self.open {
            call.answered = Some(at);
        }
    }

    /// The call is over.
    pub(super) fn over(&mut self, at: Millis, usage: Usage, run_id: &str) -> Option<RunDiagnosticsParams> {
        let call = self.open.take()?;
        let answered = call.answered.unwrap_or(at);
        self.calls += 1;
        self.sum = self.sum.plus(usage);
        let name = call.model.as_ref().map(|model| model.name.clone()).unwrap_or_default();
        if self.by_model.len() < MAX_MODELS || self.by_model.contains_key(&name) {
            let (calls, sum) = self.by_model.entry(name.clone()).or_default();
            (*calls, *sum) = (*calls + 1, sum.plus(usage));
        }
        let told = usage != Usage::default();
        let hit_state = match usage.cache_read {
            _ if !told => "unknown",
            0 => "miss",
            _ => "hit",
        };
        let tokens = json!({
            "input_tokens": usage.input,
            "output_tokens": usage.output,
            "total_tokens": usage.total(),
            "input_cached_tokens": usage.cache_read,
            "input_cache_creation_tokens": usage.cache_write,
        });
        let call = json!({
            "run_id": run_id,
            "seq": self.calls,
            "provider": call.model.map(|model| model.provider),
            "model": name,
            "request_ts": time::write(call.began.0),
            "response_ts": time::write(answered.0),
            "latency_ms": answered.since(call.began),
            "stop_reason": null,
            "usage": if told { tokens } else { Value::Null },
            "cache": {
                "hit_state": hit_state,
                "cache_read_tokens": usage.cache_read,
                "cache_creation_tokens": usage.cache_write,
            },
            "cost_usd": cost(usage),
        });
        Some(params(run_id, "llm_call", Some(call), None))
    }

    /// The run is over.
    pub(super) fn summary(&self, run_id: &str) -> RunDiagnosticsParams {
        let numbers = |calls: u64, usage: Usage| {
            json!({
                "calls": calls,
                "input_tokens": usage.input,
                "output_tokens": usage.output,
                "cached_input_tokens": usage.cache_read,
                "cache_creation_tokens": usage.cache_write,
                "total_tokens": usage.total(),
                "cost_usd": cost(usage),
            })
        };
        let by_model: Map<String, Value> =
            self.by_model.iter().map(|(name, (calls, sum))| (name.clone(), numbers(*calls, *sum))).collect();
        let summary = json!({
            "total_calls": self.calls,
            "total_tokens": self.sum.total(),
            "total_input_tokens": self.sum.input,
            "total_output_tokens": self.sum.output,
            "total_cached_input_tokens": self.sum.cache_read,
            "total_cache_creation_tokens": self.sum.cache_write,
            "total_cost_usd": cost(self.sum),
            "by_model": by_model,
        });
        params(run_id, "run_summary", None, Some(summary))
    }
}

fn params(run_id: &str, kind: &str, call: Option<Value>, summary: Option<Value>) -> RunDiagnosticsParams {
    let object = |value: Option<Value>| match value {
        Some(Value::Object(map)) => Some(map),
        _ => None,
    };
    RunDiagnosticsParams {
        run_id: run_id.to_owned(),
        kind: kind.to_owned(),
        call: object(call),
        summary: object(summary),
    }
}

/// In dollars; `None` when the price is not known.
fn cost(usage: Usage) -> Option<f64> {
    (usage.cost_micros > 0).then(|| usage.cost_micros as f64 / 1e6)
}
