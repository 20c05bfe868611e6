//! What a server asks of the person. A form: each field becomes one question, and the answers become the form's content. An address to
//! be opened (`visit`): it is shown.
//!
//! A form is flat by its definition: texts, numbers, yes or no, one or several of a list. A form with anything else is declined.
//! Invariant: what the server gets fits its form; what does not is said at the field and asked for again.

mod field;
mod rule;
mod visit;

use super::calls::McpCalls;
use domain::ask::{Answer, AskKind, Closing};
use domain::harmless;
use field::{fields, shown};
use rmcp::model::ElicitationSchema;
use serde_json::{Map, Value};
pub(crate) use visit::{visit, visits};

/// How often a value that does not fit is asked for again.
const ATTEMPTS: usize = 5;

/// How a form ended.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum FormOutcome {
    In(Map<String, Value>),
    /// The person opened the address that it named.
    Visited,
    /// The person said no.
    Declined,
    /// Nobody answered.
    Not,
}

/// Puts a form before the person, field by field in the server's order.
pub(crate) async fn fill(
    calls: &McpCalls,
    server: &str,
    message: &str,
    form: ElicitationSchema,
) -> FormOutcome {
    let order = form.property_order.clone().unwrap_or_default();
    let schema = serde_json::to_value(form).unwrap_or_default();
    let Some(fields) = fields(message, &schema, &order) else { return FormOutcome::Declined };
    let mut content = Map::new();
    let count = fields.len();
    if count == 0 {
        let kind = AskKind::Confirm {
            message: harmless::marked(&shown(message)),
            yes: None,
            no: None,
            danger: false,
        };
        return match calls.ask(format!("The MCP server {server} asks"), kind).await {
            Some(Closing::Answered { answer: Answer::Confirmed(true), .. }) => FormOutcome::In(content),
            Some(Closing::Answered { .. }) => FormOutcome::Declined,
            _ => FormOutcome::Not,
        };
    }
    for (at, mut field) in fields.into_iter().enumerate() {
        let place = if count > 1 { format!(" ({} of {count})", at + 1) } else { String::new() };
        let mut title = format!("The MCP server {server} asks for {}{place}", shown(&field.name));
        let mut given = None;
        for _ in 0..ATTEMPTS {
            let answer = match calls.ask(title.clone(), field.kind.clone()).await {
                Some(Closing::Answered { answer: Answer::Dismissed, .. }) => return FormOutcome::Declined,
                Some(Closing::Answered { answer, .. }) => answer,
                _ => return FormOutcome::Not,
            };
            match field.read(&answer) {
                Ok(value) => {
                    given = Some(value);
                    break;
                }
                Err(why) => {
                    title = format!("{}{place}: {why}", shown(&field.name));
                    field.put_back(&answer);
                }
            }
        }
        match given {
            Some(Some(value)) => {
                content.insert(field.name, value);
            }
            Some(None) => {}
            None => return FormOutcome::Declined,
        }
    }
    FormOutcome::In(content)
}
