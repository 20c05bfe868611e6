//! The keys of a question: each stands in its line of keys, and a letter that does not stand there answers nothing.

use super::keyboard::{Keyboard, Waits};
use super::{AskPanel, PanelMode};
use crate::cell::Appearance;
use crate::clean::clean_line;
use crate::key::Key;
use crate::row::{Piece, Row, wrap};
use crate::theme::Role;
use domain::ask::{Ask, AskKind, Consent};

/// Words up to this length stay with their key when the line breaks.
const SHORT_WORDS: usize = 14;

/// A key with what it does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offer {
    /// The key, as it is written.
    pub key: &'static str,
    pub words: String,
}

/// What of the question can be seen, and how many words there is room for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sees {
    /// Enough of what is asked to say yes to it.
    pub subject: bool,
    /// All words of the rule that `s` and `a` would make.
    pub rule: bool,
    /// Whether a yes for the session is only for the same action: the runtime does not keep its rule that long.
    pub same: bool,
    /// That there is more than can be seen.
    pub cut: bool,
    /// Whether words are to be short.
    pub short: bool,
}

/// Whether the key is a letter, or another sign, that is offered.
pub(super) fn takes(offers: &[Offer], key: Key) -> bool {
    let mut bytes = [0; 4];
    key.typed().is_some_and(|c| offers.iter().any(|offer| offer.key == c.encode_utf8(&mut bytes)))
}

/// The keys of a question that has the keyboard.
pub(super) fn of_question(panel: &AskPanel, ask: &Ask, sees: Sees, draft: bool) -> Vec<Offer> {
    let mut list = List(Vec::new());
    match (&ask.kind, panel.mode) {
        (AskKind::Consent(consent), PanelMode::Menu) => list.consent(ask, consent, sees),
        (AskKind::Consent(_), PanelMode::Reason) => {
            list.say("Enter", "deny; the model goes on with this reason");
            list.say("Esc", "back");
        }
        (AskKind::Confirm { yes, no, .. }, _) => {
            if sees.subject {
                list.say("y", yes.as_deref().unwrap_or("yes"));
            }
            list.say("n", no.as_deref().unwrap_or("no"));
            if sees.cut {
                list.say("v", "view all");
            }
            list.say("Esc", "no answer");
        }
        (AskKind::Choose { many, .. }, _) => {
            list.say("↑↓", "move");
            if *many {
                list.say("Space", "take");
            }
            list.say("type", "filter");
            list.say("Enter", "answer");
            list.say("Esc", if panel.editor.is_empty() { "no answer" } else { "all again" });
        }
        (AskKind::Text { multiline, secret, .. }, _) => {
            list.say("Enter", "answer");
            list.lines(*multiline, *secret);
            list.say("Esc", "no answer");
        }
        (AskKind::Edit { .. }, _) => {
            list.say("Enter", "answer");
            list.lines(true, false);
            list.say("Esc", "no answer");
        }
    }
    list.say("Tab", if draft { "your text" } else { "write" });
    list.0
}

/// The keys on the page that shows all of a question.
pub fn of_page(ask: &Ask, sees: Sees) -> Vec<Offer> {
    let mut list = List(Vec::new());
    match &ask.kind {
        AskKind::Consent(consent) => list.consent_answers(consent, sees),
        AskKind::Confirm { yes, no, .. } => {
            list.say("y", yes.as_deref().unwrap_or("yes"));
            list.say("n", no.as_deref().unwrap_or("no"));
        }
        AskKind::Choose { .. } | AskKind::Text { .. } | AskKind::Edit { .. } => {}
    }
    list.say("Esc", "back");
    list.0
}

/// What a question says that does not have the keyboard.
pub(super) fn of_waiting(ask: &Ask, keyboard: Keyboard) -> Vec<Offer> {
    let mut list = List(Vec::new());
    let stops = ask.run.is_some();
    match keyboard {
        Keyboard::Composer | Keyboard::Question => {}
        Keyboard::Soon(_) => list.say("Tab", "to answer, or wait a moment"),
        Keyboard::Waits(Waits::Completion) => list.say("Tab", "to answer, once the word is finished"),
        Keyboard::Waits(Waits::Reading) => list.say("Tab", "to answer"),
        Keyboard::Waits(Waits::Text) => list.say("Tab", "to answer; your text stays"),
        Keyboard::Waits(Waits::Left) => list.say("Tab", "to answer"),
    }
    if stops && matches!(keyboard, Keyboard::Soon(_) | Keyboard::Waits(Waits::Text | Waits::Left)) {
        list.say("Esc", "stop the run");
    }
    list.0
}

struct List(Vec<Offer>);

impl List {
    fn say(&mut self, key: &'static str, words: &str) {
        let words = clean_line(words);
        let words = if words.len() <= SHORT_WORDS { words.replace(' ', "\u{a0}") } else { words };
        self.0.push(Offer { key, words });
    }

    fn consent(&mut self, ask: &Ask, consent: &Consent, sees: Sees) {
        self.consent_answers(consent, sees);
        self.say("v", "view all");
        self.say(
            "Esc",
            match (ask.run.is_some(), sees.short) {
                (true, true) => "stop",
                (true, false) => "stop the run",
                (false, _) => "close",
            },
        );
    }

    fn consent_answers(&mut self, consent: &Consent, sees: Sees) {
        if sees.subject {
            self.say("y", "once");
        }
        let rule = sees.subject && sees.rule && consent.rule.is_some();
        if rule && !sees.same {
            self.say("s", if sees.short { "session" } else { "this session" });
        } else if sees.subject && sees.same && consent.rule.is_some() {
            self.say("s", if sees.short { "same" } else { "the same again" });
        }
        if rule {
            self.say("a", "always");
        }
        self.say("n", if consent.takes_reason && !sees.short { "no, and stop" } else { "no" });
        if consent.takes_reason {
            self.say("r", if sees.short { "why" } else { "no, because…" });
        }
    }

    fn lines(&mut self, multiline: bool, secret: bool) {
        if multiline {
            self.say("Alt-Enter", "new line");
        }
        // The editor would write a secret to a file.
        if multiline && !secret {
            self.say("Ctrl-G", "your editor");
        }
    }
}

/// The line of keys.
pub fn row(offers: &[Offer], look: Appearance, short: bool) -> Vec<Row> {
    let mut pieces = Vec::new();
    for (at, Offer { key, words }) in offers.iter().enumerate() {
        let space = match (at + 1 == offers.len(), short) {
            (true, _) => "",
            (false, true) => " ",
            (false, false) => "   ",
        };
        pieces.push(look.piece(*key, Role::Accent));
        pieces.push(look.piece(format!("\u{a0}{words}{space}"), Role::Dim));
    }
    let none = Piece::default();
    wrap(&pieces, look.columns, &none, &none)
}
