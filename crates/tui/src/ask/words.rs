//! The words of a question: what it is called, how dangerous it is, what a yes for longer allows. Each thing is said once: what the
//! preview shows is not in the title again.

use crate::clean::agreed_line;
use crate::diff;
use crate::theme::{Role, Theme};
use domain::ask::{Ask, AskKind, Assessment, Consent, Preview, Risk};
use ratatui_core::style::{Modifier, Style};

/// Characters of a command by which it is known again in a title that is cut.
const KNOWN_BY: usize = 40;

/// Words before a command that say no more than that it would run.
const LEADS: &[&str] = &["", "run", "execute", "bash", "shell", "run command", "run the command", "allow"];

/// Said of what no rule is offered for.
pub(super) const ONLY_ONCE: &str = "no rule is offered";

/// What our own tools say of a change whose lines stand there.
pub(super) const CHANGES: &str = "changes a file";

/// The title of a question, and whether it names the file that the preview changes.
pub(super) struct Title {
    pub(super) text: String,
    /// Lines that are added and taken away, when they stand beside the title.
    pub(super) counts: Option<(usize, usize)>,
}

impl Title {
    /// What is asked, as the runtime calls it, unless that only repeats the preview or says nothing.
    pub(super) fn of(ask: &Ask) -> Title {
        let said = agreed_line(&ask.title);
        let AskKind::Consent(consent) = &ask.kind else { return Title { text: said, counts: None } };
        let plain = |text| Title { text: question(text), counts: None };
        let vague = is_vague(&said, &consent.name);
        match &consent.preview {
            Some(Preview::Command { line, .. }) if vague || repeats(&said, line) => {
                plain("Run this command".to_owned())
            }
            Some(Preview::Diff { path, text: changes }) => {
                let path = agreed_line(path);
                let text = if vague { format!("change {path}") } else { said };
                let counts = text.contains(&path).then(|| diff::counts(changes));
                Title { text: question(text), counts }
            }
            Some(Preview::Command { .. }) => plain(said),
            Some(Preview::Text(_)) | None if vague => plain(format!("use {}", agreed_line(&consent.name))),
            Some(Preview::Text(_)) | None => plain(said),
        }
    }
}

/// A title as a question: it begins and ends as one, unless it ends otherwise already.
fn question(title: String) -> String {
    let ends = title.ends_with(['?', '!', '.', ':', '…']) || title.is_empty();
    let mut letters = title.chars();
    let first = letters.next().filter(char::is_ascii_lowercase);
    // A path or a name of code keeps its letters.
    let is_word =
        title.split(' ').next().is_some_and(|word| word.bytes().all(|byte| byte.is_ascii_alphabetic()));
    let begun = match first.filter(|_| is_word) {
        Some(first) => format!("{}{}", first.to_ascii_uppercase(), letters.as_str()),
        None => title,
    };
    if ends { begun } else { begun + "?" }
}

/// The title in one line, for a page of its own.
pub(crate) fn page_title(ask: &Ask) -> String {
    let Title { text, counts } = Title::of(ask);
    counts.map_or(text.clone(), |(added, removed)| format!("{text}  +{added} −{removed}"))
}

/// Whether a title only says that a tool is to be used.
fn is_vague(title: &str, tool: &str) -> bool {
    let said = title.trim_end_matches(['?', '.', ' ']).to_lowercase();
    let (verb, what) = said.split_once(' ').unwrap_or((&said, ""));
    ["run", "use", "allow", "approve", "execute"].contains(&verb)
        && (["tool", "a tool", "this tool", "command", "a command"].contains(&what)
            || what == tool.to_lowercase())
}

/// Whether a title is the command once more, all of it or its beginning, and nothing else: what stands there besides is told.
fn repeats(title: &str, line: &str) -> bool {
    let all = agreed_line(line.trim());
    let first = agreed_line(line.trim().lines().next().unwrap_or_default());
    let start: String = first.chars().take(KNOWN_BY).collect();
    let Some((lead, _)) = title.split_once(&start).filter(|_| !start.is_empty()) else { return false };
    let said = title[lead.len()..].trim_end_matches(['?', '.', '…', '`', '"', ' ']);
    let lead = lead.trim_matches(['`', '"', ':', ' ', '$']).to_lowercase();
    all.starts_with(said) && LEADS.contains(&lead.as_str())
}

/// Risk as a word; none where nobody told how dangerous it is.
pub(super) fn risk(assessment: &Assessment) -> &'static str {
    match assessment.risk {
        _ if assessment.unrated => "",
        Risk::Low => "low risk",
        Risk::Medium => "medium risk",
        Risk::High => "HIGH RISK",
        Risk::Critical => "CRITICAL RISK",
    }
}

/// The same, and whether it can be undone.
pub(super) fn risk_and_undo(assessment: &Assessment) -> String {
    let undo = match assessment.risk {
        _ if assessment.reversible => "",
        Risk::Low => "",
        Risk::Medium => "may not be undoable",
        Risk::High | Risk::Critical => "cannot be undone",
    };
    let words = [risk(assessment), undo];
    words.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(", ")
}

/// How the words about risk look: each level otherwise, the highest also without any colour.
pub(super) fn risk_style(assessment: &Assessment, theme: Theme) -> Style {
    match assessment.risk {
        _ if assessment.unrated => theme.style(Role::Accent),
        Risk::Low => theme.style(Role::Ok),
        Risk::Medium => theme.style(Role::Warn),
        Risk::High => theme.style(Role::Bad),
        Risk::Critical => theme.style(Role::Bad).add_modifier(Modifier::REVERSED),
    }
}

/// How the bar of a question looks, which holds it together: as dangerous as it is.
pub(crate) fn bar_style(ask: &Ask, theme: Theme) -> Style {
    match &ask.kind {
        AskKind::Consent(consent) => {
            risk_style(&consent.assessment, theme).remove_modifier(Modifier::REVERSED)
        }
        AskKind::Confirm { danger: true, .. } => theme.style(Role::Warn),
        AskKind::Confirm { .. } | AskKind::Choose { .. } | AskKind::Text { .. } | AskKind::Edit { .. } => {
            theme.style(Role::Accent)
        }
    }
}

/// What the rule of a consent allows; the command that stands above is not written out again.
pub(super) fn rule(consent: &Consent) -> Option<String> {
    let rule = agreed_line(consent.rule.as_deref()?);
    let exactly = match &consent.preview {
        Some(Preview::Command { line, .. }) => format!("run exactly `{}`", agreed_line(line.trim())),
        Some(_) | None => return Some(rule),
    };
    Some(match rule.strip_prefix(&exactly) {
        // What it would have answered may stand behind it.
        Some(rest) if rest.is_empty() || rest.starts_with("; would ") => {
            format!("exactly this command{rest}")
        }
        Some(_) | None => rule,
    })
}
