//! What a key means to the question on the screen. A letter means something only while it stands in the line of keys.

use super::offers::{VIEW, has, takes};
use super::{AskPanel, MAX_NUMBERED, Offer, PanelMode};
use crate::composer::Editor;
use crate::key::{Code, Key};
use domain::ask::{Answer, Ask, AskKind, Consent, Scope};

/// Said where not all of what is asked was seen.
pub(super) const UNSEEN: &str = "this does not fit on this screen: view all of it first";

/// What comes of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Reply {
    Nothing,
    Answer(Answer),
    /// All of it is to be shown.
    Full,
    /// The text is to be written in the person's own editor.
    Editor,
    /// The run is to be stopped.
    Stop,
    /// A word about what this key cannot do here.
    Word(&'static str),
    /// The key is none of this question's: the person begins to write.
    Writes,
}

impl AskPanel {
    /// Does what the key means, given the keys that are on the screen.
    pub(crate) fn key(&mut self, ask: &Ask, key: Key, offers: &[Offer]) -> Reply {
        if key == Key::plain(Code::F(2)) && has(offers, VIEW) {
            return Reply::Full;
        }
        // Who answers with Enter has seen what is asked.
        if key == Key::plain(Code::Enter) && answered_by_enter(&ask.kind) && !has(offers, "Enter") {
            return Reply::Word(UNSEEN);
        }
        match (&ask.kind, self.mode) {
            (AskKind::Consent(_), PanelMode::Reason) => self.reason_key(key),
            (AskKind::Consent(consent), PanelMode::Menu) => self.consent_key(ask, consent, key, offers),
            (AskKind::Confirm { .. }, _) => confirm_key(key, offers),
            (AskKind::Choose { many, .. }, _) => self.choose_key(ask, *many, key, offers),
            (AskKind::Text { multiline, secret, .. }, _) => self.text_key(*multiline, *secret, key),
            (AskKind::Edit { .. }, _) => self.text_key(true, false, key),
        }
    }

    fn consent_key(&mut self, ask: &Ask, consent: &Consent, key: Key, offers: &[Offer]) -> Reply {
        let allow = |scope| Reply::Answer(Answer::Allow { scope, digest: Some(consent.digest.clone()) });
        match key.code {
            Code::Esc if ask.run.is_some() => return Reply::Stop,
            Code::Esc => return Reply::Answer(Answer::Dismissed),
            _ => {}
        }
        match key.typed() {
            Some('y') if takes(offers, key) => allow(Scope::Once),
            Some('s') if takes(offers, key) => allow(Scope::Session),
            Some('a') if takes(offers, key) => allow(Scope::Always),
            Some('n') if takes(offers, key) => Reply::Answer(Answer::Deny { reason: None }),
            Some('r') if takes(offers, key) => {
                self.mode = PanelMode::Reason;
                self.editor = Editor::default();
                Reply::Nothing
            }
            Some('v') if takes(offers, key) => Reply::Full,
            Some('s' | 'a') if consent.rule.is_none() => {
                Reply::Word("no rule is offered for this: y allows it once")
            }
            Some('s' | 'a') => Reply::Word("what it would allow does not fit on this screen: view all of it"),
            Some('y') => Reply::Word(UNSEEN),
            Some('r') => Reply::Word("this runtime accepts no reason: deny without one"),
            Some(c) if c != ' ' => Reply::Writes,
            _ => Reply::Word("the answers and their keys are below the question"),
        }
    }

    fn reason_key(&mut self, key: Key) -> Reply {
        match key.code {
            Code::Esc => {
                self.mode = PanelMode::Menu;
                Reply::Nothing
            }
            Code::Enter if self.editor.text().trim().is_empty() => {
                Reply::Word("write what the model should do instead, or Esc to go back")
            }
            Code::Enter => {
                Reply::Answer(Answer::Deny { reason: Some(self.editor.unfolded().trim().to_owned()) })
            }
            _ => {
                self.editor.key(key);
                Reply::Nothing
            }
        }
    }

    fn choose_key(&mut self, ask: &Ask, many: bool, key: Key, offers: &[Offer]) -> Reply {
        let shown = self.shown(ask);
        let AskKind::Choose { choices, .. } = &ask.kind else { return Reply::Nothing };
        if let Some(at) = number(key).filter(|at| choices.len() <= MAX_NUMBERED && *at < choices.len()) {
            self.cursor = at;
            return match choices.get(at) {
                _ if many => self.select(at),
                Some(choice) if has(offers, "Enter") => {
                    Reply::Answer(Answer::Chosen(vec![choice.id.clone()]))
                }
                _ => Reply::Word(UNSEEN),
            };
        }
        let last = shown.len().saturating_sub(1);
        self.cursor = self.cursor.min(last);
        let under = shown.get(self.cursor).copied();
        match key.code {
            Code::Up => self.cursor = self.cursor.checked_sub(1).unwrap_or(last),
            Code::Down => self.cursor = if self.cursor >= last { 0 } else { self.cursor + 1 },
            Code::Esc if !self.editor.is_empty() => self.editor = Editor::default(),
            Code::Esc => return Reply::Answer(Answer::Dismissed),
            Code::Char(' ') if many => {
                under.into_iter().for_each(|at| {
                    self.select(at);
                });
            }
            Code::Enter => {
                let taken: Vec<usize> =
                    if many { self.taken.iter().copied().collect() } else { under.into_iter().collect() };
                if taken.is_empty() {
                    return Reply::Word(if many && under.is_some() {
                        "nothing is selected yet"
                    } else {
                        "no match: Esc clears the filter"
                    });
                }
                let ids = taken.iter().filter_map(|at| choices.get(*at)).map(|c| c.id.clone()).collect();
                return Reply::Answer(Answer::Chosen(ids));
            }
            // Without a filter a letter begins a prompt.
            _ if !self.has_filter(choices.len()) => {
                return match key.typed() {
                    Some(c) if c != ' ' => Reply::Writes,
                    _ => Reply::Nothing,
                };
            }
            _ => {
                if self.editor.key(key) {
                    self.cursor = 0;
                }
            }
        }
        Reply::Nothing
    }

    /// Selects a choice, or takes that back.
    fn select(&mut self, at: usize) -> Reply {
        if !self.taken.remove(&at) {
            self.taken.insert(at);
        }
        Reply::Nothing
    }

    fn text_key(&mut self, multiline: bool, secret: bool, key: Key) -> Reply {
        match key.code {
            Code::Esc => return Reply::Answer(Answer::Dismissed),
            Code::Char('g') if multiline && !secret && key.ctrl => return Reply::Editor,
            Code::Enter if multiline && (key.alt || key.shift) => self.editor.insert("\n"),
            Code::Enter if key.alt || key.shift => {
                return Reply::Word("one line is asked for; Enter answers");
            }
            Code::Enter => return Reply::Answer(Answer::Entered(self.editor.unfolded())),
            _ => {
                self.editor.key(key);
            }
        }
        Reply::Nothing
    }
}

/// Which choice a digit names.
fn number(key: Key) -> Option<usize> {
    key.typed()?.to_digit(10)?.checked_sub(1).and_then(|at| usize::try_from(at).ok())
}

/// Whether Enter is the yes of this kind of question.
pub(super) fn answered_by_enter(kind: &AskKind) -> bool {
    match kind {
        AskKind::Consent(_) | AskKind::Confirm { .. } => false,
        AskKind::Choose { .. } | AskKind::Text { .. } | AskKind::Edit { .. } => true,
    }
}

fn confirm_key(key: Key, offers: &[Offer]) -> Reply {
    if key.code == Code::Esc {
        return Reply::Answer(Answer::Dismissed);
    }
    match key.typed() {
        Some('y') if takes(offers, key) => Reply::Answer(Answer::Confirmed(true)),
        Some('n') if takes(offers, key) => Reply::Answer(Answer::Confirmed(false)),
        Some('v') if takes(offers, key) => Reply::Full,
        Some('y') => Reply::Word(UNSEEN),
        Some(c) if c != ' ' => Reply::Writes,
        _ => Reply::Word("the answers and their keys are below the question"),
    }
}
