//! Single things of a foreign runtime, cut to a size that can be kept and shown. What is cut says so where it is cut.
//!
//! A part, a result or the arguments of a tool come whole in one line of the wire, so they are bounded one by one, here; what comes
//! in pieces is bounded where the pieces are put together, and the sum of all by the [`super::allowance`].

use crate::ask::{AskKind, Choice, Preview};
use crate::content::{Json, Part};
use crate::event::{Outcome, PlanItem};
use crate::fact::{FactAsk, Key, Said};
use crate::live::cut as cut_name;
use crate::tool::ToolResult;

/// Longest text of one message, one part, one result, one argument list.
pub const MAX_TEXT: usize = 1024 * 1024;
/// Largest picture, as base64.
pub const MAX_PICTURE: usize = 8 * 1024 * 1024;
/// Longest notice, question or preview.
pub const MAX_WORDS: usize = 64 * 1024;
/// Longest name, title, label or reason.
pub const MAX_NAME: usize = 1024;
/// Most choices of a question, lines of a plan, parts of a result, reasons of a risk.
pub const MAX_LIST: usize = 256;
/// Longest id of a peer; a longer one names nothing.
pub const MAX_KEY: usize = 1024;

/// Cuts whatever is too long; true when something was.
pub(super) fn shorten(said: &mut Said) -> bool {
    match said {
        Said::Part { part, .. } => part_cut(part),
        Said::ToolProposed { name, args, .. } => cut(name, MAX_NAME) | json(args),
        Said::ToolStarted { name, args, .. } => maybe(name, MAX_NAME) | args.as_mut().is_some_and(json),
        Said::ToolEnded { result, .. } => result_cut(result),
        Said::AskOpened { title, kind, .. } => cut(title, MAX_NAME) | ask(kind),
        Said::Compacted(compaction) => cut(&mut compaction.summary, MAX_TEXT),
        Said::Plan(items) => list(items) | each(items, |PlanItem { text, .. }| cut(text, MAX_NAME)),
        Said::Retrying { reason, .. } => cut(reason, MAX_NAME),
        Said::Notice { code, text, .. } => cut(code, MAX_NAME) | cut(text, MAX_WORDS),
        Said::Title(title) => cut(title, MAX_NAME),
        Said::Queued(_, input) => cut(&mut input.text, MAX_TEXT) | each(&mut input.attachments, part_cut),
        Said::Model(model) => cut(&mut model.provider, MAX_NAME) | cut(&mut model.name, MAX_NAME),
        Said::RunEnded(Outcome::Failed(failure)) => {
            cut(&mut failure.code, MAX_NAME)
                | cut(&mut failure.message, MAX_WORDS)
                | maybe(&mut failure.hint, MAX_WORDS)
        }
        // Text and live output are bounded where their pieces come together.
        Said::Text { .. } | Said::Whole { .. } | Said::ToolProgress { .. } => false,
        Said::RunStarted
        | Said::RunEnded(_)
        | Said::TurnStarted(_)
        | Said::TurnEnded
        | Said::StepStarted
        | Said::StepEnded(_)
        | Said::MessageStarted { .. }
        | Said::MessageEnded { .. }
        | Said::AskWithdrawn { .. }
        | Said::NeedsNoConsent { .. }
        | Said::AllowedHere { .. }
        | Said::Context { .. }
        | Said::Effort(_)
        | Said::QueueMode(..)
        | Said::Unqueued { .. }
        | Said::Lost => false,
    }
}

/// Whether the peer's ids in it can be ids.
pub(super) fn names_fit(run: Option<&Key>, said: &Said) -> bool {
    let named = match said {
        Said::MessageStarted { message, .. }
        | Said::Text { message, .. }
        | Said::Whole { message, .. }
        | Said::Part { message, .. }
        | Said::MessageEnded { message, .. } => message.as_ref(),
        Said::ToolProposed { tool, .. }
        | Said::ToolStarted { tool, .. }
        | Said::NeedsNoConsent { tool }
        | Said::AllowedHere { tool, .. }
        | Said::ToolProgress { tool, .. }
        | Said::ToolEnded { tool, .. } => Some(tool),
        Said::AskOpened { ask, .. } | Said::AskWithdrawn { ask, .. } => Some(ask),
        _ => None,
    };
    let about = match said {
        Said::AskOpened { kind: FactAsk::Consent { tool, .. }, .. } => tool.as_ref(),
        _ => None,
    };
    run.into_iter().chain(named).chain(about).all(|key| key.len() <= MAX_KEY)
}

/// Cuts a text; a long one says how much is missing.
fn cut(text: &mut String, most: usize) -> bool {
    let length = text.len();
    let was_cut = cut_name(text, most);
    if was_cut && most > MAX_NAME {
        text.push_str(&missing(length - text.len()));
    }
    was_cut
}

/// What stands where a text was cut.
pub(super) fn missing(bytes: usize) -> String {
    format!("\n[cut here: {bytes} bytes more]")
}

fn maybe(text: &mut Option<String>, most: usize) -> bool {
    text.as_mut().is_some_and(|text| cut(text, most))
}

fn json(json: &mut Json) -> bool {
    let length = json.as_str().len();
    let long = length > MAX_TEXT;
    if long {
        *json = Json::verbatim(format!("{{\"left_out\":\"{length} bytes, too long to be kept\"}}"));
    }
    long
}

fn part_cut(part: &mut Part) -> bool {
    match part {
        Part::Text(text) => cut(text, MAX_TEXT),
        Part::Thought { text, signature } => {
            let unsigned = signature.take_if(|signature| signature.len() > MAX_WORDS).is_some();
            cut(text, MAX_TEXT) | unsigned
        }
        Part::Code { language, text, path } => {
            cut(text, MAX_TEXT) | maybe(language, MAX_NAME) | maybe(path, MAX_NAME)
        }
        Part::Diff { path, text } => maybe(path, MAX_NAME) | cut(text, MAX_TEXT),
        Part::Image { mime, base64 } => {
            let length = base64.len();
            if length > MAX_PICTURE {
                *part = Part::Text(format!("[a picture of {length} bytes was too large to be kept]"));
                return true;
            }
            cut(mime, MAX_NAME)
        }
        Part::Opaque { kind, json: value } => cut(kind, MAX_NAME) | json(value),
        Part::Tool(_) => false,
    }
}

fn result_cut(result: &mut ToolResult) -> bool {
    let was_cut = cut(&mut result.text, MAX_TEXT);
    result.truncated |= was_cut;
    let large = result.json.take_if(|value| value.as_str().len() > MAX_TEXT).is_some();
    was_cut | large | list(&mut result.parts) | each(&mut result.parts, part_cut)
}

fn ask(ask: &mut FactAsk) -> bool {
    match ask {
        FactAsk::Consent { name, args, preview: shown, assessment, rule, .. } => {
            let words = list(&mut assessment.reasons) | each(&mut assessment.reasons, |r| cut(r, MAX_NAME));
            let shown = shown.as_mut().is_some_and(preview);
            cut(name, MAX_NAME) | json(args) | shown | words | maybe(rule, MAX_NAME)
        }
        FactAsk::Other(AskKind::Confirm { message, yes, no, .. }) => {
            cut(message, MAX_WORDS) | maybe(yes, MAX_NAME) | maybe(no, MAX_NAME)
        }
        FactAsk::Other(AskKind::Choose { message, choices, .. }) => {
            let labels =
                |Choice { label, detail, .. }: &mut Choice| cut(label, MAX_NAME) | maybe(detail, MAX_NAME);
            // An id that was cut would name something else.
            let before = choices.len();
            choices.retain(|choice| choice.id.len() <= MAX_KEY);
            (choices.len() < before) | cut(message, MAX_WORDS) | list(choices) | each(choices, labels)
        }
        FactAsk::Other(AskKind::Text { message, placeholder, default, .. }) => {
            cut(message, MAX_WORDS) | maybe(placeholder, MAX_NAME) | maybe(default, MAX_TEXT)
        }
        FactAsk::Other(AskKind::Edit { message, prefill }) => {
            cut(message, MAX_WORDS) | cut(prefill, MAX_TEXT)
        }
        // A consent has its own form among facts.
        FactAsk::Other(AskKind::Consent(_)) => false,
    }
}

fn preview(preview: &mut Preview) -> bool {
    match preview {
        Preview::Text(text) => cut(text, MAX_WORDS),
        Preview::Command { line, inner } => {
            cut(line, MAX_WORDS) | list(inner) | each(inner, |line| cut(line, MAX_NAME))
        }
        Preview::Diff { path, text } => cut(path, MAX_NAME) | cut(text, MAX_TEXT),
    }
}

fn list<T>(items: &mut Vec<T>) -> bool {
    let long = items.len() > MAX_LIST;
    items.truncate(MAX_LIST);
    long
}

fn each<T>(items: &mut [T], mut shorten: impl FnMut(&mut T) -> bool) -> bool {
    let mut any = false;
    for item in items {
        any |= shorten(item);
    }
    any
}
