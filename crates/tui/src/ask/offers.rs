//! The keys of a question: each stands in its line of keys, and a letter that does not stand there answers nothing.

use super::keyboard::{Keyboard, Waits};
use super::{AskPanel, PanelMode};
use crate::clean::agreed_line;
use crate::key::Key;
use crate::look::Appearance;
use crate::row::{KEEPS, Piece, Row, width, wrap};
use crate::theme::Role;
use domain::ask::{Ask, AskKind, Consent, Preview};

/// Words up to this length stay with their key when the line breaks.
const SHORT_WORDS: usize = 24;

/// Shows all of a question whose letters are text, as `v` does where they are not.
pub(super) const VIEW: &str = "F2";

/// A key with what it does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Offer {
    /// The key, as it is written; none where the words tell all.
    pub(crate) key: &'static str,
    pub(crate) words: String,
}

/// How far a yes goes that is for more than once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reach {
    /// For the session only the same action: the runtime does not keep its rule that long. Always is as the runtime means it.
    Same,
    /// For the session by the rule, always as the runtime means it.
    Theirs,
    /// By the rule until the session closes, or in this project: that is where Parlor keeps it.
    Project,
}

/// What of the question can be seen, and how many words there is room for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Sees {
    /// All of what is asked, here or on the page that shows it: nobody says yes to less.
    pub(crate) subject: bool,
    /// All words of the rule that `s` and `a` would make.
    pub(crate) rule: bool,
    pub(crate) reach: Reach,
    /// That there is more than can be seen.
    pub(crate) cut: bool,
    /// Whether words are to be short.
    pub(crate) short: bool,
    /// Whether there is room to say in whole words how long a yes counts.
    pub(crate) wide: bool,
}

impl Sees {
    /// What the key does that shows all of it: where a yes waits for that, it says so.
    fn view(self) -> &'static str {
        match (self.subject, self.short) {
            (true, true) => "all",
            (true, false) => "view all",
            (false, true) => "all first",
            (false, false) => "view all first",
        }
    }
}

/// Whether the key is a letter, or another sign, that is offered.
pub(super) fn takes(offers: &[Offer], key: Key) -> bool {
    let mut bytes = [0; 4];
    key.typed().is_some_and(|c| offers.iter().any(|offer| offer.key == c.encode_utf8(&mut bytes)))
}

/// Whether a key that is no letter is offered.
pub(super) fn has(offers: &[Offer], key: &str) -> bool {
    offers.iter().any(|offer| offer.key == key)
}

/// The keys of a question that has the keyboard.
pub(super) fn of_question(panel: &AskPanel, ask: &Ask, sees: Sees, draft: bool) -> Vec<Offer> {
    let mut list = List(Vec::new());
    match (&ask.kind, panel.mode) {
        (AskKind::Consent(consent), PanelMode::Menu) => list.consent(ask, consent, sees),
        (AskKind::Consent(_), PanelMode::Reason) => {
            list.say("Enter", "deny; the model goes on with your reason");
            list.say("Esc", "back");
        }
        (AskKind::Confirm { yes, no, .. }, _) => {
            if sees.subject {
                list.say("y", yes.as_deref().unwrap_or("yes"));
            }
            list.say("n", no.as_deref().unwrap_or("no"));
            if sees.cut {
                list.say("v", sees.view());
            }
            list.say("Esc", "no answer");
        }
        (AskKind::Choose { choices, many, .. }, _) => {
            let numbers = super::numbers(choices.len());
            // Who has not seen it all moves, and looks at the rest.
            if let Some(numbers) = numbers.filter(|_| *many || sees.subject) {
                list.say(numbers, if *many { "select" } else { "answer" });
            }
            list.say("↑↓", "move");
            if *many {
                list.say("Space", "select");
            }
            list.answer(sees);
            list.say("Esc", if panel.editor.is_empty() { "no answer" } else { "clear the filter" });
            if panel.has_filter(choices.len()) {
                // No key does it, all letters do.
                list.say("", "type to filter");
            }
        }
        (AskKind::Text { multiline, secret, .. }, _) => {
            list.answer(sees);
            list.lines(*multiline, *secret);
            list.say("Esc", "no answer");
        }
        (AskKind::Edit { .. }, _) => {
            list.answer(sees);
            list.lines(true, false);
            list.say("Esc", "no answer");
        }
    }
    list.say("Tab", if draft { "back to your text" } else { "type a message" });
    list.0
}

/// The keys without the one that goes to the composer, where that tells it.
pub(super) fn without_tab(offers: Vec<Offer>) -> Vec<Offer> {
    offers.into_iter().filter(|offer| offer.key != "Tab").collect()
}

/// The keys on the page that shows all of a question.
pub(crate) fn of_page(ask: &Ask, sees: Sees) -> Vec<Offer> {
    let mut list = List(Vec::new());
    match &ask.kind {
        AskKind::Consent(consent) => list.consent_answers(consent, sees),
        AskKind::Confirm { yes, no, .. } => {
            if sees.subject {
                list.say("y", yes.as_deref().unwrap_or("yes"));
            }
            list.say("n", no.as_deref().unwrap_or("no"));
        }
        AskKind::Choose { .. } | AskKind::Text { .. } | AskKind::Edit { .. } => {}
    }
    list.say("Esc", "back");
    if !sees.subject {
        // No key does it.
        list.say("", "go to its end first");
    }
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
        let words = agreed_line(words);
        let words = if words.len() <= SHORT_WORDS { words.replace(' ', "\u{a0}") } else { words };
        self.0.push(Offer { key, words });
    }

    fn consent(&mut self, ask: &Ask, consent: &Consent, sees: Sees) {
        self.consent_answers(consent, sees);
        if sees.cut || hides_arguments(consent) {
            self.say("v", sees.view());
        }
        // Where a no stops the run, there is one key for that.
        if ask.run.is_none() || !consent.takes_reason {
            self.say(
                "Esc",
                match (ask.run.is_some(), sees.short) {
                    (true, true) => "stop",
                    (true, false) => "stop the run",
                    (false, _) => "close",
                },
            );
        }
    }

    fn consent_answers(&mut self, consent: &Consent, sees: Sees) {
        if sees.subject {
            self.say("y", if sees.short { "once" } else { "allow once" });
        }
        let rule = sees.subject && sees.rule && consent.rule.is_some();
        if rule && sees.reach != Reach::Same {
            let session = match (sees.short, sees.wide) {
                (true, _) => "session",
                (false, false) => "for this session",
                (false, true) => "allow for this session",
            };
            self.say("s", session);
        } else if sees.subject && sees.reach == Reach::Same && consent.rule.is_some() {
            self.say("s", if sees.short { "same" } else { "the same again" });
        }
        if rule {
            // For how long, and not of what: that the rule tells.
            let project = match (sees.short, sees.wide) {
                (true, _) => "project",
                (false, false) => "for this project",
                (false, true) => "always allow in this project",
            };
            self.say("a", if sees.reach == Reach::Project { project } else { "always" });
        }
        self.say(
            "n",
            match (consent.takes_reason, sees.short) {
                (true, false) => "deny and stop",
                (true, true) | (false, _) => "deny",
            },
        );
        if consent.takes_reason {
            self.say("r", if sees.short { "why" } else { "deny with a reason" });
        }
    }

    /// Enter, where all of what is asked was seen; and how to see the rest.
    fn answer(&mut self, sees: Sees) {
        if sees.subject {
            self.say("Enter", "answer");
        }
        if sees.cut {
            self.say(VIEW, sees.view());
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

/// Whether the tool is called with more than its preview tells, even where all of that is in sight.
fn hides_arguments(consent: &Consent) -> bool {
    match &consent.preview {
        // What a change is called with is the change.
        Some(Preview::Diff { .. }) => false,
        Some(Preview::Command { .. }) => {
            let args = serde_json::from_str::<serde_json::Value>(consent.args.as_str());
            args.ok().and_then(|args| args.as_object().map(serde_json::Map::len)).is_none_or(|args| args > 1)
        }
        Some(Preview::Text(_)) | None => true,
    }
}

/// The line of keys. A key stays with its words where both fit on one row.
pub(crate) fn row(offers: &[Offer], look: Appearance, short: bool) -> Vec<Row> {
    let space = if short { " " } else { "   " };
    let mut rows: Vec<Row> = Vec::new();
    for Offer { key, words } in offers {
        let between = if key.is_empty() { "" } else { KEEPS };
        let told = [look.piece(*key, Role::Key), look.piece(format!("{between}{words}"), Role::Dim)];
        let wide: usize = told.iter().map(|piece| width(&piece.text)).sum();
        match rows.last_mut() {
            Some(row) if row.width() + space.len() + wide <= look.columns => {
                row.pieces.push(look.piece(space, Role::Dim));
                row.pieces.extend(told);
            }
            _ => {
                let none = Piece::default();
                rows.extend(wrap(&told, look.columns, &none, &none));
            }
        }
    }
    rows
}
