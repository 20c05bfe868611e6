//! The lines of `--json` that are not events: the first, which says who speaks and about what, and the last, which says how it went.

use crate::exit::Exit;
use crate::output;
use domain::content::Usage;
use domain::ids::SessionId;
use serde_json::{Value, json};

/// The form of the lines of `--json`; another number when a name in them changes.
const FORMAT: u32 = 1;

/// Writes the first line.
pub(super) fn header(session: Option<&SessionId>, model: Option<String>) {
    let version = env!("CARGO_PKG_VERSION");
    let session = session.map(SessionId::as_str);
    let header = json!({ "format": FORMAT, "version": version, "session": session, "model": model });
    output::print_line(&json!({ "header": header }).to_string());
}

/// What the last line tells.
#[derive(Debug, Default)]
pub(super) struct Ending<'a> {
    pub(super) session: Option<&'a SessionId>,
    pub(super) text: &'a str,
    /// The answer where a form was asked for and it is of that form.
    pub(super) output: Option<&'a Value>,
    /// Why it is not done, if so.
    pub(super) error: Option<&'a str>,
    pub(super) usage: Usage,
    /// Each time that the provider had lost what was sent before, in words.
    pub(super) cache_lost: &'a [String],
}

/// Writes the last line.
pub(super) fn result(exit: Exit, told: &Ending<'_>) {
    let mut result = json!({
        "outcome": exit.word(),
        "exit_code": exit.code(),
        "session": told.session.map(SessionId::as_str),
        "text": told.text,
    });
    if let Some(output) = told.output {
        result["output"] = output.clone();
    }
    if let Some(why) = told.error {
        result["error"] = why.into();
    }
    // Nobody knows what a runtime used that did not tell.
    let usage = told.usage;
    if usage != Usage::default() {
        result["usage"] = used(usage);
    }
    if !told.cache_lost.is_empty() {
        result["cache_lost"] = told.cache_lost.into();
    }
    output::print_line(&json!({ "result": result }).to_string());
}

/// What was used; a price that is not known is left out.
fn used(usage: Usage) -> Value {
    let mut used = json!({ "input": usage.input, "output": usage.output });
    if let Some(percent) = usage.cached_percent() {
        used["cached"] = usage.cache_read.into();
        used["cached_percent"] = percent.into();
    }
    if usage.cost_micros > 0 {
        used["cost_micros"] = usage.cost_micros.into();
    }
    if usage.rough {
        used["estimated"] = true.into();
    }
    used
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cost_that_nobody_knows_is_left_out() {
        let known = Usage { input: 406, output: 80, cost_micros: 2418, ..Usage::default() };
        assert_eq!(used(known), json!({ "input": 406, "output": 80, "cost_micros": 2418 }));
        let unknown = Usage { cost_micros: 0, rough: true, ..known };
        assert_eq!(used(unknown), json!({ "input": 406, "output": 80, "estimated": true }));
        let cached = Usage { input: 400, cache_read: 300, ..Usage::default() };
        assert_eq!(used(cached), json!({ "input": 400, "output": 0, "cached": 300, "cached_percent": 75 }));
    }
}
