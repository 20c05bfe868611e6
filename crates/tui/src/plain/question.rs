//! Questions as lines, and lines as answers. Pure.
//!
//! Invariant: only whole words answer, never a letter; a yes is bound to what was told, and counts only once all of it was.

use super::words::{aloud, diff, is_long, many, some_of, span};
use crate::clean::{agreed, agreed_line};
use crate::diff::counts;
use crate::row::{Row, wrap_told};
use domain::ask::{Answer, Ask, AskKind, Choice, Consent, Preview, Risk, Scope};
use domain::harmless::{MARK, mark_of, marked, visible};
use domain::ids::Millis;
use ratatui_core::style::Style;

/// What a line means to a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Reading {
    /// An answer, and what is said of it.
    Answer(Answer, String),
    /// All of the question is to be told.
    Show,
    /// The run is to be stopped.
    Stop,
    /// It is for the model, not for the question.
    Prompt(String),
    /// The text goes on in the next line.
    More,
    /// It is no answer, and what would be one.
    Hint(String),
}

/// How much of a question is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum QuestionExtent {
    /// As much as one reads or hears at once.
    Usual,
    All,
}

/// Columns of a marked line: fewer than nearly every terminal has.
const COLUMNS: usize = 72;

/// Ends a text of several lines.
const END: &str = ".";

/// The question in words. `of` is how many wait; `same` whether a yes for the session is only for the same action.
pub(super) fn told(ask: &Ask, of: usize, same: bool, extent: QuestionExtent, now: Millis) -> Vec<String> {
    let title = aloud(&visible(&ask.title));
    let mut lines = match of {
        0 | 1 => vec![format!("Question: {title}")],
        of => vec![format!("Question, the first of {of}: {title}")],
    };
    let message = match &ask.kind {
        AskKind::Consent(_) => "",
        AskKind::Confirm { message, .. }
        | AskKind::Choose { message, .. }
        | AskKind::Text { message, .. }
        | AskKind::Edit { message, .. } => message,
    };
    if message.trim() != ask.title.trim() {
        let rows = wrap_marked(&agreed(message));
        lines.extend(rows.into_iter().filter(|line| !line.trim().is_empty()));
    }
    match &ask.kind {
        AskKind::Consent(consent) => lines.extend(consent_told(consent, same, extent)),
        AskKind::Confirm { yes, no, danger, .. } => {
            if *danger {
                lines.push("Careful: yes is dangerous.".to_owned());
            }
            let label = |word: &str, label: &Option<String>| match label {
                Some(label) => format!("{word} ({})", aloud(&visible(label))),
                None => word.to_owned(),
            };
            lines.push(format!(
                "Answer {} or {}. \"skip\" gives no answer.",
                label("yes", yes),
                label("no", no)
            ));
        }
        AskKind::Choose { choices, many, .. } => {
            lines.extend(choices.iter().enumerate().map(|(at, choice)| choice_told(at, choice)));
            lines.push(match many {
                false => "Answer with a number or its words. \"skip\" gives no answer.".to_owned(),
                true => "Answer with numbers, such as 1 and 3, or with \"none\". \"skip\" gives no answer."
                    .to_owned(),
            });
        }
        AskKind::Text { placeholder, default, secret, multiline, .. } => {
            lines.extend(placeholder.iter().map(|hint| format!("For instance: {}", agreed_line(hint))));
            if *secret {
                lines.push("This is a secret: it is not kept.".to_owned());
            }
            lines.extend(default.iter().map(|text| format!("An empty line answers: {}", agreed_line(text))));
            lines.push(match multiline {
                false => "Write the answer and Enter. \"/skip\" gives no answer.".to_owned(),
                true => "Write the answer; a line with only a full stop ends it. \"/skip\" gives no answer."
                    .to_owned(),
            });
        }
        AskKind::Edit { prefill, .. } => {
            lines.push("The text so far:".to_owned());
            let text: Vec<String> = agreed(prefill).lines().map(str::to_owned).collect();
            lines.extend(match extent {
                QuestionExtent::All => text,
                QuestionExtent::Usual => some_of(text, "; \"/show\" tells them all"),
            });
            lines.push(
                "Write the new text; a line with only a full stop ends it. Only a full stop keeps the text as it is. \"/skip\" gives no answer."
                    .to_owned(),
            );
        }
    }
    if let Some(deadline) = ask.deadline {
        lines.push(format!("It waits for {}.", span(deadline.since(now))));
    }
    lines
}

fn consent_told(consent: &Consent, same: bool, extent: QuestionExtent) -> Vec<String> {
    let mut lines = Vec::new();
    let assessment = &consent.assessment;
    let risk = match assessment.risk {
        _ if assessment.unrated => None,
        Risk::Low => Some("low"),
        Risk::Medium => Some("medium"),
        Risk::High => Some("high"),
        Risk::Critical => Some("critical"),
    };
    let lasts = !assessment.reversible && assessment.risk > Risk::Low;
    match (risk, lasts) {
        (Some(risk), true) => lines.push(format!("Risk: {risk}, and it cannot be undone.")),
        (Some(risk), false) => lines.push(format!("Risk: {risk}.")),
        (None, true) => lines.push("It cannot be undone.".to_owned()),
        (None, false) => {}
    }
    lines.extend(
        assessment
            .reasons
            .iter()
            .map(|reason| format!("Because: {}.", aloud(&visible(reason)).trim_end_matches('.'))),
    );
    let body = body(consent);
    match extent {
        QuestionExtent::Usual => lines.extend(some_of(body, "; \"show\" tells them all")),
        QuestionExtent::All => {
            lines.extend(body);
            lines.push(format!(
                "Tool: {}. Its arguments: {}",
                agreed_line(&consent.name),
                agreed_line(consent.args.as_str())
            ));
        }
    }
    if let Some(rule) = &consent.rule {
        let rule = aloud(&visible(rule));
        lines.push(match same {
            true => format!("\"yes for this session\" allows the same again; \"yes always\" allows: {rule}"),
            false => format!("\"yes for this session\" and \"yes always\" allow: {rule}"),
        });
    }
    let no = match consent.takes_reason {
        true => "\"no\" stops the run, \"no because\" and your reason lets it go on",
        false => "or \"no\"",
    };
    lines.push(format!("Answer \"yes\" for this once; {no}. \"show\" tells all of it."));
    lines
}

/// What would happen, in lines.
fn body(consent: &Consent) -> Vec<String> {
    match &consent.preview {
        Some(Preview::Command { line, .. }) => {
            // Its first line stands behind our word for it, all others are marked.
            let mut said = wrap_marked(&marked(&agreed(line)));
            if let Some(first) = said.first_mut() {
                *first = format!("Command: {}", first.strip_prefix(MARK).unwrap_or(first));
            }
            said
        }
        Some(Preview::Diff { path, text }) => {
            let (added, removed) = counts(text);
            let (added, removed) = (many(added as u64, "line"), removed);
            let mut said = vec![format!("In {}: {added} added, {removed} removed.", agreed_line(path))];
            said.extend(diff(&visible(text)).into_iter().filter(|line| !line.starts_with("File ")));
            said
        }
        Some(Preview::Text(text)) => wrap_marked(&marked(&agreed(text))),
        None => {
            vec![format!("{} {}", agreed_line(&consent.name), agreed_line(consent.args.as_str()))]
        }
    }
}

/// The lines of a message; those that are marked as somebody else's are broken here, with the mark in each piece, since a terminal would
/// break them without it.
fn wrap_marked(text: &str) -> Vec<String> {
    let told = |line: &str| match mark_of(line) {
        None => vec![line.to_owned()],
        Some(_) => wrap_told(line, COLUMNS, Style::default()).iter().map(Row::text).collect(),
    };
    text.lines().flat_map(told).collect()
}

/// Whether not all of a question is told unless that is asked for.
fn leaves_out(ask: &Ask) -> bool {
    match &ask.kind {
        AskKind::Consent(consent) => is_long(&body(consent)),
        AskKind::Edit { prefill, .. } => is_long(&agreed(prefill).lines().collect::<Vec<_>>()),
        AskKind::Confirm { .. } | AskKind::Choose { .. } | AskKind::Text { .. } => false,
    }
}

fn choice_told(at: usize, choice: &Choice) -> String {
    let detail =
        choice.detail.as_deref().map(|detail| format!(", {}", aloud(&visible(detail)))).unwrap_or_default();
    format!("{}. {}{detail}", at + 1, aloud(&visible(&choice.label)))
}

/// What a line means to the question, of which so much was told; `before` are the lines of the answer that came already.
pub(super) fn read(ask: &Ask, line: &str, before: &[String], told: QuestionExtent) -> Reading {
    let reading = meant(ask, line, before);
    let agrees = match (&reading, &ask.kind) {
        (Reading::Answer(Answer::Allow { .. }, _), _) => true,
        (Reading::Answer(Answer::Entered(text), _), AskKind::Edit { prefill, .. }) => text == prefill,
        _ => false,
    };
    if agrees && told == QuestionExtent::Usual && leaves_out(ask) {
        let show = if matches!(ask.kind, AskKind::Edit { .. }) { "/show" } else { "show" };
        return Reading::Hint(format!(
            "Not all of it was told: \"{show}\" tells it, and then you can agree."
        ));
    }
    reading
}

fn meant(ask: &Ask, line: &str, before: &[String]) -> Reading {
    let plain = simple(line);
    match (&ask.kind, plain.as_str()) {
        (_, "/skip") => return dismissed(),
        (_, "/show") => return Reading::Show,
        (AskKind::Text { .. } | AskKind::Edit { .. }, _) => return entered(ask, line, before),
        (_, "skip") => return dismissed(),
        (_, "show") => return Reading::Show,
        (_, "stop") => return Reading::Stop,
        (_, "y" | "n" | "s" | "a" | "r" | "v") => {
            return Reading::Hint("A letter is no answer here: write the whole word.".to_owned());
        }
        _ => {}
    }
    if let Some(text) = plain.strip_prefix("say ").and_then(|_| line.trim().get(4..)) {
        return Reading::Prompt(text.trim().to_owned());
    }
    match &ask.kind {
        AskKind::Consent(consent) => consent_read(consent, &plain, line),
        AskKind::Confirm { yes, no, .. } => {
            let is = |label: &Option<String>| label.as_deref().is_some_and(|label| simple(label) == plain);
            match plain.as_str() {
                "yes" => Reading::Answer(Answer::Confirmed(true), "You said yes.".to_owned()),
                "no" => Reading::Answer(Answer::Confirmed(false), "You said no.".to_owned()),
                _ if is(yes) && !is(no) => {
                    Reading::Answer(Answer::Confirmed(true), "You said yes.".to_owned())
                }
                _ if is(no) && !is(yes) => {
                    Reading::Answer(Answer::Confirmed(false), "You said no.".to_owned())
                }
                _ => Reading::Hint(format!("That is no answer: yes or no? {SAY}")),
            }
        }
        AskKind::Choose { choices, many, .. } => chosen(choices, *many, &plain),
        AskKind::Text { .. } | AskKind::Edit { .. } => Reading::More,
    }
}

/// What to do with a line that was meant for the model.
const SAY: &str = "\"say\" and a text is for the model.";

fn dismissed() -> Reading {
    Reading::Answer(Answer::Dismissed, "You gave no answer.".to_owned())
}

fn consent_read(consent: &Consent, plain: &str, line: &str) -> Reading {
    let allow = |scope, said: &str| {
        let digest = Some(consent.digest.clone());
        Reading::Answer(Answer::Allow { scope, digest }, said.to_owned())
    };
    let no_rule = || Reading::Hint("There is no rule to keep for this: \"yes\" allows it once.".to_owned());
    match plain {
        "yes" | "yes once" => allow(Scope::Once, "You allowed it once."),
        "yes for this session" | "yes session" if consent.rule.is_some() => {
            allow(Scope::Session, "You allowed it for this session.")
        }
        "yes always" if consent.rule.is_some() => allow(Scope::Always, "You allowed it always."),
        "yes for this session" | "yes session" | "yes always" => no_rule(),
        "no" => Reading::Answer(Answer::Deny { reason: None }, "You said no.".to_owned()),
        _ => match reason(line) {
            Some(_) if !consent.takes_reason => {
                Reading::Hint("This runtime accepts no reason: \"no\" denies it.".to_owned())
            }
            Some(reason) => Reading::Answer(
                Answer::Deny { reason: Some(reason.to_owned()) },
                format!("You said no, because {}", agreed_line(reason)),
            ),
            None => Reading::Hint(format!("That is no answer: yes, no, or no because and a reason. {SAY}")),
        },
    }
}

/// What stands behind `no because`.
fn reason(line: &str) -> Option<&str> {
    let line = line.trim();
    ["no because ", "no, because "].iter().find_map(|lead| {
        let begins = line.get(..lead.len()).is_some_and(|start| start.eq_ignore_ascii_case(lead));
        line.get(lead.len()..).filter(|reason| begins && !reason.trim().is_empty()).map(str::trim)
    })
}

fn chosen(choices: &[Choice], many: bool, plain: &str) -> Reading {
    let one = |words: &str| {
        let number = words.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
        let named = || {
            let mut fits = choices
                .iter()
                .enumerate()
                .filter(|(_, c)| simple(&c.label) == words || simple(&c.id) == words);
            let first = fits.next().map(|(at, _)| at);
            first.filter(|_| fits.next().is_none())
        };
        number.filter(|at| *at < choices.len()).or_else(named)
    };
    let taken: Option<Vec<usize>> = match (many, one(plain)) {
        (_, Some(at)) => Some(vec![at]),
        (true, None) if plain == "none" => Some(Vec::new()),
        (true, None) => {
            let words = plain.split([',', ' ']).filter(|word| !word.is_empty() && *word != "and");
            words.map(one).collect::<Option<Vec<_>>>().filter(|taken| !taken.is_empty())
        }
        (false, None) => None,
    };
    match taken {
        Some(mut taken) => {
            taken.sort_unstable();
            taken.dedup();
            let named = taken.iter().filter_map(|at| choices.get(*at));
            let words: Vec<String> = named.clone().map(|choice| aloud(&choice.label)).collect();
            let said = if words.is_empty() { "nothing".to_owned() } else { words.join(", ") };
            let ids = named.map(|choice| choice.id.clone()).collect();
            Reading::Answer(Answer::Chosen(ids), format!("You chose {said}."))
        }
        None => Reading::Hint(format!("That is none of them: a number from 1 to {}. {SAY}", choices.len())),
    }
}

fn entered(ask: &Ask, line: &str, before: &[String]) -> Reading {
    let (several, kept, secret) = match &ask.kind {
        AskKind::Text { multiline, default, secret, .. } => (*multiline, default.as_deref(), *secret),
        AskKind::Edit { prefill, .. } => (true, Some(prefill.as_str()), false),
        AskKind::Consent(_) | AskKind::Confirm { .. } | AskKind::Choose { .. } => (false, None, false),
    };
    if several && line.trim_end() != END {
        return Reading::More;
    }
    let text = match several {
        true => before.join("\n"),
        false => line.to_owned(),
    };
    let text = match (text.is_empty(), kept) {
        (true, Some(kept)) => kept.to_owned(),
        _ => text,
    };
    let said = if secret { "The secret was received." } else { "Your answer was received." };
    Reading::Answer(Answer::Entered(text), said.to_owned())
}

/// Words without capitals, points and double spaces.
fn simple(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ").trim_end_matches(['.', '!']).to_lowercase()
}

#[cfg(test)]
mod tests;
