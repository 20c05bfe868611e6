//! Which question stands on the screen, who has the keyboard, and what keys mean to it. What comes of an answer is the update's.

use super::keys::{UNSEEN, answered_by_enter};
use super::{Answered, AskPanel, Focus, HeldReply, Keyboard, Offer, PanelMode, Reply, Sight, Waits};
use super::{HELD_MS, QUIET_MS, SEEN_MS};
use crate::key::{Code, Key};
use domain::ask::{Ask, AskKind};
use domain::ids::{AskId, Millis};
use domain::state::State;
use std::collections::BTreeSet;

/// What is around the question, and may keep the keyboard from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Around {
    pub(crate) now: Millis,
    /// Whether a word is being completed.
    pub(crate) completing: bool,
    /// Whether a text stands in the composer.
    pub(crate) draft: bool,
    /// Whether words are looked for, or something in the conversation is selected.
    pub(crate) reading: bool,
}

/// What became of the question on the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AskStatus {
    /// No question was on the screen.
    Nothing,
    /// It is still open.
    Stays,
    /// It is over, by the person's answer or in a way that was told.
    Over,
    /// It is over, and nobody has said how.
    Vanished,
}

/// Whose a text is that was written in the person's own editor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TextOwner {
    /// Of the composer: no question was being answered there.
    Prompt,
    /// The answer; the question has it.
    Answer,
    /// The answer to a question that is over.
    Late,
}

/// What came of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Pressed {
    /// It is none of the question's.
    NotMine,
    /// It is a letter of a text, but the person uses the question: the keys are to be told.
    Letter,
    /// This is to be done.
    Reply(Reply),
    /// The key may be held down: its answer waits a moment.
    Held,
}

/// Where Tab moved the keyboard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Moved {
    Nowhere,
    ToQuestion,
    ToComposer,
}

/// The question on the screen, and what is remembered from key to key.
#[derive(Debug, Default)]
pub(crate) struct Asks {
    panel: Option<AskPanel>,
    /// When a key came last that was not meant for a question.
    typed_at: Option<Millis>,
    /// The last key would have answered, had all of the question been in sight: the person was told to view it, and may do so at once.
    must_view: bool,
    /// The key that answered the last question, while no other came.
    last_answer: Option<Answered>,
    /// The question whose answer is being written in the person's own editor.
    edited: Option<AskId>,
    /// Questions that went while others waited, to tell how many there are in all.
    passed: usize,
    /// Open questions of which the runtime knows that they are on the screen, be it as one more that waits.
    said: BTreeSet<AskId>,
}

impl Asks {
    /// Whether a question stands on the screen.
    pub(crate) fn is_open(&self) -> bool {
        self.panel.is_some()
    }

    /// The question on the screen, with what is asked.
    pub(crate) fn shown<'a>(&'a self, state: &'a State) -> Option<(&'a AskPanel, &'a Ask)> {
        let panel = self.panel.as_ref()?;
        Some((panel, state.ask(panel.id)?))
    }

    /// Which of the questions that wait stands on the screen, and how many they are; `None` when it is the only one.
    pub(crate) fn place(&self, state: &State) -> Option<(usize, usize)> {
        let all = self.passed + state.asks.len();
        (self.panel.is_some() && all > 1).then_some((self.passed + 1, all))
    }

    /// Who has the keyboard: decided from what is open, what was typed and how long the question has been in sight.
    pub(crate) fn keyboard(&self, around: Around) -> Keyboard {
        let Some(panel) = self.panel.as_ref().filter(|panel| !panel.answered) else {
            return Keyboard::Composer;
        };
        let Some(seen_at) = panel.seen_at() else { return Keyboard::Soon(None) };
        let from = |at: Millis| {
            if around.now >= at { Keyboard::Question } else { Keyboard::Soon(Some(at)) }
        };
        match panel.focus {
            Focus::Question => from(seen_at),
            _ if around.completing => Keyboard::Waits(Waits::Completion),
            Focus::Composer => Keyboard::Waits(Waits::Left),
            Focus::Auto if around.draft => Keyboard::Waits(Waits::Text),
            Focus::Auto if around.reading => Keyboard::Waits(Waits::Reading),
            Focus::Auto => from(self.typed_at.map_or(seen_at, |at| seen_at.max(Millis(at.0 + QUIET_MS)))),
        }
    }

    /// Whether a question waits to be drawn: it can be seen from the next frame on, unless something covers it.
    pub(crate) fn is_unseen(&self) -> bool {
        self.panel.as_ref().is_some_and(|panel| panel.shown_at.is_none())
    }

    /// Whether a question is open of which the runtime does not know that it is on the screen.
    pub(crate) fn is_unsaid(&self, state: &State) -> bool {
        self.panel.is_some() && state.asks.iter().any(|ask| !self.said.contains(&ask.id))
    }

    /// The open questions of which the runtime is to be told that they are on the screen, each once.
    pub(crate) fn say(&mut self, state: &State) -> Vec<AskId> {
        let said = std::mem::take(&mut self.said);
        self.said = state.asks.iter().map(|ask| ask.id).collect();
        self.said.difference(&said).copied().collect()
    }

    /// A frame is on the screen: what it shows can be seen from now on.
    pub(crate) fn drawn(&mut self, now: Millis) {
        if let Some(panel) = self.panel.as_mut().filter(|panel| panel.shown_at.is_none()) {
            panel.shown_at = Some(now);
        }
    }

    /// Whether the page that shows all of the question tells something that was not on the screen before.
    pub(crate) fn is_new(&self, sight: Sight) -> bool {
        self.panel.as_ref().is_some_and(|panel| panel.viewed != panel.viewed.and(sight))
    }

    /// A frame with this part of the page is on the screen.
    pub(crate) fn viewed(&mut self, sight: Sight) {
        self.panel.iter_mut().for_each(|panel| panel.viewed = panel.viewed.and(sight));
    }

    /// Something stands over the question: nobody sees it.
    pub(crate) fn cover(&mut self) {
        self.panel.iter_mut().for_each(|panel| panel.shown_at = None);
    }

    /// Lets a question go that is over.
    pub(crate) fn look_after(&mut self, state: &State) -> AskStatus {
        let Some(panel) = &self.panel else { return AskStatus::Nothing };
        if state.ask(panel.id).is_some() {
            return AskStatus::Stays;
        }
        let told = panel.answered;
        self.panel = None;
        self.passed = if state.asks.is_empty() { 0 } else { self.passed + 1 };
        if told { AskStatus::Over } else { AskStatus::Vanished }
    }

    /// Puts the oldest open ask on the screen; its title, if there is one.
    pub(crate) fn open_next(&mut self, state: &State, now: Millis) -> Option<String> {
        let ask = state.asks.first()?;
        self.panel = Some(AskPanel::open(ask, now, self.last_answer));
        Some(ask.title.clone())
    }

    /// Another session is shown.
    pub(crate) fn forget(&mut self) {
        (self.panel, self.passed) = (None, 0);
        self.said.clear();
    }

    /// The question was closed by somebody; `false` when it is not the one on the screen, or was answered here.
    pub(crate) fn close(&mut self, id: AskId) -> bool {
        let panel = self.panel.as_mut().filter(|panel| panel.id == id && !panel.answered);
        // Nothing more is said about it when it goes.
        panel.map(|panel| panel.answered = true).is_some()
    }

    /// The person has answered, or stops the run that asked: nothing more is said about it when it goes.
    pub(crate) fn answer(&mut self) -> Option<AskId> {
        let panel = self.panel.as_mut()?;
        panel.answered = true;
        Some(panel.id)
    }

    /// The runtime did not take the answer: the question is open again, as if it had just come.
    pub(crate) fn reopen(&mut self) {
        self.panel.iter_mut().for_each(AskPanel::reopen);
    }

    /// The terminal is ours again: nobody saw the question meanwhile, but for the one whose answer they were writing.
    pub(crate) fn back(&mut self, now: Millis) {
        let edited = self.edited;
        if let Some(panel) = self.panel.as_mut().filter(|panel| edited != Some(panel.id)) {
            panel.shown_at = None;
            panel.in_a_row = false;
            self.writes(now);
        }
    }

    /// The clock went back: what was is taken for now, so that nobody waits for a time that is long gone.
    pub(crate) fn clock_went_back(&mut self, now: Millis) {
        self.typed_at = self.typed_at.map(|at| at.min(now));
        self.last_answer = None;
        if let Some(panel) = &mut self.panel {
            panel.shown_at = panel.shown_at.map(|at| at.min(now));
        }
    }

    /// The person writes: what they say to the question next, they say when they are done.
    pub(crate) fn writes(&mut self, now: Millis) {
        self.typed_at = Some(now);
        self.must_view = false;
        self.last_answer = None;
        if let Some(panel) = self.panel.as_mut().filter(|panel| panel.focus == Focus::Question) {
            panel.focus = Focus::Auto;
        }
    }

    /// Whether this letter would answer the question, if it had the keyboard.
    pub(crate) fn is_answer(&self, state: &State, letter: char) -> bool {
        let Some((_, ask)) = self.shown(state) else { return false };
        match &ask.kind {
            AskKind::Consent(consent) => match letter {
                'y' | 'n' => true,
                's' | 'a' => consent.rule.is_some(),
                'r' => consent.takes_reason,
                _ => false,
            },
            AskKind::Confirm { .. } => matches!(letter, 'y' | 'n'),
            AskKind::Choose { choices, .. } if choices.len() <= super::MAX_NUMBERED => {
                letter.to_digit(10).is_some_and(|at| (1..=choices.len()).contains(&(at as usize)))
            }
            AskKind::Choose { .. } | AskKind::Text { .. } | AskKind::Edit { .. } => false,
        }
    }

    /// The answer is written in the person's own editor from here on; the text that it begins with.
    pub(crate) fn edit(&mut self) -> Option<String> {
        let panel = self.panel.as_ref()?;
        self.edited = Some(panel.id);
        Some(panel.editor.unfolded())
    }

    /// The editor could not be run.
    pub(crate) fn edit_failed(&mut self) {
        self.edited = None;
    }

    /// What was written in the person's own editor: taken when it is the answer to the question it was opened for.
    pub(crate) fn written(&mut self, text: &str) -> TextOwner {
        match (self.edited.take(), &mut self.panel) {
            (None, _) => TextOwner::Prompt,
            (Some(id), Some(panel)) if panel.id == id && !panel.answered => {
                panel.editor.set(text);
                TextOwner::Answer
            }
            (Some(_), _) => TextOwner::Late,
        }
    }

    /// Pasted text, when the question has the keyboard: `false` when it shows no field in which one writes.
    pub(crate) fn paste(&mut self, state: &State, text: &str) -> bool {
        let has_field = |panel: &AskPanel| state.ask(panel.id).is_some_and(|ask| panel.has_field(ask));
        let Some(panel) = self.panel.as_mut().filter(|panel| has_field(panel)) else { return false };
        panel.focus = Focus::Question;
        panel.editor.paste(text);
        true
    }

    /// Whether the key is held down since it answered a question. It means nothing then, and takes back what it meant a moment ago.
    pub(crate) fn is_held_down(&mut self, key: Key, now: Millis) -> bool {
        let Some(last) = self.last_answer.as_mut() else { return false };
        if last.key != key || now.since(last.at) >= HELD_MS {
            return false;
        }
        last.at = now;
        self.panel.iter_mut().for_each(|panel| panel.held = None);
        true
    }

    /// The answer whose key was not held down after all. Any other key tells so at once.
    pub(crate) fn let_go(&mut self) -> Option<Reply> {
        self.panel.as_mut().and_then(|panel| panel.held.take()).map(|held| held.reply)
    }

    /// The same, when enough time has passed.
    pub(crate) fn release(&mut self, now: Millis) -> Option<Reply> {
        if self.held_until().is_some_and(|until| until <= now) { self.let_go() } else { None }
    }

    /// When an answer that waits a moment counts.
    pub(crate) fn held_until(&self) -> Option<Millis> {
        self.panel.as_ref().and_then(|panel| panel.held.as_ref()).map(|held| held.until)
    }

    /// Gives the key to the question that has the keyboard, given the keys that are on the screen.
    pub(crate) fn press(&mut self, state: &State, key: Key, offers: &[Offer], now: Millis) -> Pressed {
        let Some(panel) = self.panel.as_mut() else { return Pressed::NotMine };
        let Some(ask) = state.ask(panel.id) else { return Pressed::NotMine };
        let unused = panel.focus == Focus::Auto;
        let reply = panel.key(ask, key, offers);
        if key.ctrl && matches!((&reply, key.code), (Reply::Word(_), Code::Char(_))) {
            // It opens or does something else, and what is typed next is meant for that: it must not answer.
            panel.focus = Focus::Composer;
            return Pressed::NotMine;
        }
        self.must_view = reply == Reply::Word(UNSEEN);
        match reply {
            // Who has not used the question yet and begins with another letter writes a prompt.
            Reply::Writes if unused => Pressed::NotMine,
            Reply::Writes => Pressed::Letter,
            // A letter that this question does not offer may be the first of a word: what follows it is no answer.
            reply @ Reply::Word(_) if unused => {
                // Enter, or a key that is no letter, begins no word.
                if key.typed().is_some() {
                    self.typed_at = Some(now);
                }
                self.hold(reply, key, unused, now)
            }
            reply => {
                panel.focus = Focus::Question;
                if reply == Reply::Full {
                    self.typed_at = Some(now);
                }
                self.hold(reply, key, unused, now)
            }
        }
    }

    /// Whether this key shows all of the question although a letter came just before: that one was an answer which is not taken before all
    /// was seen, and this is the key that the person was told. It answers nothing.
    pub(crate) fn views(&mut self, key: Key, now: Millis) -> bool {
        let views = self.must_view && matches!(key.code, Code::F(2) | Code::Char('v'));
        if let Some(panel) = self.panel.as_mut().filter(|_| views) {
            panel.focus = Focus::Question;
            self.typed_at = Some(now);
        }
        views
    }

    /// A key on the page that shows all of the question; tells too whether the page closes.
    pub(crate) fn page_press(
        &mut self,
        state: &State,
        key: Key,
        offers: &[Offer],
        now: Millis,
    ) -> (Pressed, bool) {
        let none = (Pressed::NotMine, false);
        // Nobody can have read the page in that time: this key belongs to the one that opened it.
        if self.typed_at.is_some_and(|at| now.since(at) < SEEN_MS) {
            return none;
        }
        let Some(panel) = self.panel.as_mut().filter(|panel| !panel.answered) else { return none };
        // What is written or chosen is so in sight of the list or the field.
        let Some(ask) = state.ask(panel.id).filter(|ask| !answered_by_enter(&ask.kind)) else { return none };
        match panel.key(ask, key, offers) {
            Reply::Writes | Reply::Full | Reply::Editor | Reply::Word(_) => none,
            reply => {
                let closes = reply != Reply::Nothing || panel.mode == PanelMode::Reason;
                (self.hold(reply, key, false, now), closes)
            }
        }
    }

    /// What came of a key, unless it must wait a moment because the key may be held down.
    fn hold(&mut self, reply: Reply, key: Key, by_itself: bool, now: Millis) -> Pressed {
        let again = self.last_answer.is_some_and(|last| last.key == key);
        let answers = matches!(reply, Reply::Answer(_) | Reply::Stop);
        self.last_answer = answers.then_some(Answered { key, at: now, moved: !by_itself });
        match self.panel.as_mut().filter(|_| answers && again) {
            Some(panel) => {
                panel.held = Some(HeldReply { reply, until: Millis(now.0 + HELD_MS) });
                Pressed::Held
            }
            None => Pressed::Reply(reply),
        }
    }

    /// Tab: moves the keyboard to the question, and back to where the person writes.
    pub(crate) fn tab(&mut self, keyboard: Keyboard, now: Millis) -> Moved {
        let Some(panel) = self.panel.as_mut() else { return Moved::Nowhere };
        match keyboard {
            Keyboard::Question => {
                panel.focus = Focus::Composer;
                Moved::ToComposer
            }
            // Nobody moves to what they cannot have seen: this Tab is meant for something else.
            Keyboard::Waits(Waits::Text | Waits::Reading | Waits::Left) | Keyboard::Soon(Some(_))
                if panel.seen_at().is_some_and(|at| at <= now) =>
            {
                panel.focus = Focus::Question;
                Moved::ToQuestion
            }
            Keyboard::Waits(_) | Keyboard::Soon(_) | Keyboard::Composer => Moved::Nowhere,
        }
    }
}
