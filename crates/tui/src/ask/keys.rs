//! What a key means to the question on the screen. A letter means something only while it stands in the line of keys.

use super::offers::{VIEW, has, takes};
use super::{AskPanel, Offer, PanelMode};
use crate::composer::Editor;
use crate::key::{Code, Key};
use domain::ask::{Answer, Ask, AskKind, Consent, Scope};

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
            return Reply::Word("this does not fit on the screen here; F2 shows all of it first");
        }
        match (&ask.kind, self.mode) {
            (AskKind::Consent(_), PanelMode::Reason) => self.reason_key(key),
            (AskKind::Consent(consent), PanelMode::Menu) => self.consent_key(ask, consent, key, offers),
            (AskKind::Confirm { .. }, _) => confirm_key(key, offers),
            (AskKind::Choose { many, .. }, _) => self.choose_key(ask, *many, key),
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
                Reply::Word("there is no rule to remember for this; y allows it once")
            }
            Some('s' | 'a') => Reply::Word("the rule does not fit on the screen here; v shows it"),
            Some('y') => Reply::Word("this does not fit on the screen here; v shows all of it first"),
            Some('r') => Reply::Word("this runtime takes no reason; n denies"),
            Some(c) if c != ' ' => Reply::Writes,
            _ => Reply::Word("the keys of the question are in its last line"),
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

    fn choose_key(&mut self, ask: &Ask, many: bool, key: Key) -> Reply {
        let shown = self.shown(ask);
        let AskKind::Choose { choices, .. } = &ask.kind else { return Reply::Nothing };
        let last = shown.len().saturating_sub(1);
        self.cursor = self.cursor.min(last);
        let under = shown.get(self.cursor).copied();
        match key.code {
            Code::Up => self.cursor = self.cursor.checked_sub(1).unwrap_or(last),
            Code::Down => self.cursor = if self.cursor >= last { 0 } else { self.cursor + 1 },
            Code::Esc if !self.editor.is_empty() => self.editor = Editor::default(),
            Code::Esc => return Reply::Answer(Answer::Dismissed),
            Code::Char(' ') if many => {
                if let Some(at) = under
                    && !self.taken.remove(&at)
                {
                    self.taken.insert(at);
                }
            }
            Code::Enter => {
                let taken: Vec<usize> =
                    if many { self.taken.iter().copied().collect() } else { under.into_iter().collect() };
                if taken.is_empty() {
                    return Reply::Word(if many && under.is_some() {
                        "nothing is taken yet: Space takes a line, Esc gives no answer"
                    } else {
                        "nothing fits the filter; Esc clears it"
                    });
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
        Some('y') => Reply::Word("this does not fit on the screen here; v shows all of it first"),
        Some(c) if c != ' ' => Reply::Writes,
        _ => Reply::Word("y is yes, n is no"),
    }
}
