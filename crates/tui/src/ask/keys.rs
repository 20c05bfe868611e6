//! What a key means to the question on the screen.

use super::{AskPanel, Stage};
use crate::composer::Editor;
use crate::key::{Code, Key};
use domain::ask::{Answer, Ask, AskKind, Consent, Scope};

/// What comes of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// Nothing to tell.
    Nothing,
    /// The person answers.
    Answer(Answer),
    /// All of it is to be shown.
    Full,
    /// The text is to be written in the person's own editor.
    Editor,
    /// The run is to be stopped.
    Stop,
    /// A word about what this key cannot do here.
    Word(&'static str),
}

impl AskPanel {
    /// Does what the key means.
    pub fn key(&mut self, ask: &Ask, key: Key) -> Reply {
        match (&ask.kind, self.stage) {
            (AskKind::Consent(_), Stage::Reason) => self.reason_key(key),
            (AskKind::Consent(consent), Stage::Menu) => self.consent_key(ask, consent, key),
            (AskKind::Confirm { danger, .. }, _) => confirm_key(*danger, key),
            (AskKind::Choose { many, .. }, _) => self.choose_key(ask, *many, key),
            (AskKind::Text { multiline, .. }, _) => self.text_key(*multiline, key),
            (AskKind::Edit { .. }, _) => self.text_key(true, key),
        }
    }

    fn consent_key(&mut self, ask: &Ask, consent: &Consent, key: Key) -> Reply {
        let allow = |scope| Reply::Answer(Answer::Allow { scope, digest: Some(consent.digest.clone()) });
        match key.code {
            Code::Char('y' | 'Y') => allow(Scope::Once),
            Code::Char('s' | 'S') => allow(Scope::Session),
            Code::Char('a' | 'A') if consent.rule.is_some() => allow(Scope::Always),
            Code::Char('a' | 'A') => Reply::Word("there is no rule to remember for this; y or s allow it"),
            Code::Char('n' | 'N') => Reply::Answer(Answer::Deny { reason: None }),
            Code::Char('r' | 'R') if consent.takes_reason => {
                self.stage = Stage::Reason;
                self.editor = Editor::default();
                Reply::Nothing
            }
            Code::Char('r' | 'R') => Reply::Word("this runtime takes no reason; n denies"),
            Code::Char('v' | 'V' | 'f' | 'F') => Reply::Full,
            Code::Esc if ask.run.is_some() => Reply::Stop,
            Code::Esc => Reply::Answer(Answer::Dismissed),
            _ => Reply::Word("y allows once, n denies; the keys are on the last line of the question"),
        }
    }

    fn reason_key(&mut self, key: Key) -> Reply {
        match key.code {
            Code::Esc => {
                self.stage = Stage::Menu;
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

    fn choose_key(&mut self, ask: &Ask, many: bool, key: Key) -> Reply {
        let shown = self.shown(ask);
        let AskKind::Choose { choices, .. } = &ask.kind else { return Reply::Nothing };
        let last = shown.len().saturating_sub(1);
        self.cursor = self.cursor.min(last);
        let under = shown.get(self.cursor).copied();
        match key.code {
            Code::Up => self.cursor = self.cursor.checked_sub(1).unwrap_or(last),
            Code::Down => self.cursor = if self.cursor >= last { 0 } else { self.cursor + 1 },
            Code::PageUp => self.cursor = self.cursor.saturating_sub(10),
            Code::PageDown => self.cursor = (self.cursor + 10).min(last),
            Code::Esc if !self.editor.is_empty() => self.editor = Editor::default(),
            Code::Esc => return Reply::Answer(Answer::Dismissed),
            Code::Tab | Code::Char(' ') if many => {
                if let Some(at) = under
                    && !self.taken.remove(&at)
                {
                    self.taken.insert(at);
                }
            }
            Code::Enter => {
                let taken: Vec<usize> =
                    if many { self.taken.iter().copied().collect() } else { under.into_iter().collect() };
                let taken = if taken.is_empty() { under.into_iter().collect() } else { taken };
                if taken.is_empty() {
                    return Reply::Word("nothing fits the filter; Esc clears it");
                }
                let ids = taken.iter().filter_map(|at| choices.get(*at)).map(|c| c.id.clone()).collect();
                return Reply::Answer(Answer::Chosen(ids));
            }
            _ => {
                if self.editor.key(key) {
                    self.cursor = 0;
                }
            }
        }
        Reply::Nothing
    }

    fn text_key(&mut self, multiline: bool, key: Key) -> Reply {
        match key.code {
            Code::Esc => return Reply::Answer(Answer::Dismissed),
            Code::Char('g') if multiline && key.ctrl => return Reply::Editor,
            Code::Enter if multiline && (key.alt || key.shift) => self.editor.insert("\n"),
            Code::Enter => return Reply::Answer(Answer::Entered(self.editor.unfolded())),
            _ => {
                self.editor.key(key);
            }
        }
        Reply::Nothing
    }
}

fn confirm_key(danger: bool, key: Key) -> Reply {
    match key.code {
        Code::Char('y' | 'Y') => Reply::Answer(Answer::Confirmed(true)),
        Code::Char('n' | 'N') => Reply::Answer(Answer::Confirmed(false)),
        Code::Enter if danger => Reply::Word("press y to do it, n not to"),
        Code::Enter => Reply::Answer(Answer::Confirmed(true)),
        Code::Esc => Reply::Answer(Answer::Dismissed),
        _ => Reply::Word("y is yes, n is no"),
    }
}
