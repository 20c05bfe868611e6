//! The list below the caret: when it comes, what its keys do.

use super::Composer;
use crate::commands::Here;
use crate::complete::{self, Completion, Kind, ValueSources};
use crate::key::{Code, Key};
use domain::port::Abilities;

/// What must be looked up for the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Lookup {
    /// Files whose names fit.
    Files(String),
    /// The skills of the runtime.
    Skills,
    Models,
}

/// What came of a key in the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Chosen {
    /// Another line, or none.
    Moved,
    /// A line of this kind was taken.
    Taken(Kind),
    /// A command that takes nothing was taken: it is meant as soon as it is chosen.
    Runs,
}

impl Composer {
    /// The list, to be shown.
    pub(crate) fn completion(&self) -> Option<&Completion> {
        self.completion.as_ref()
    }

    /// Whether something is offered.
    pub(crate) fn is_completing(&self) -> bool {
        self.completion.as_ref().is_some_and(|completion| !completion.offers.is_empty())
    }

    /// Looks at the word at the caret again, after the text changed.
    pub(crate) fn refresh(&mut self, abilities: &Abilities, here: Here) -> Option<Lookup> {
        let before = &self.editor.text()[..self.editor.caret()];
        let Some((kind, from, query)) = complete::word(before) else {
            self.completion = None;
            return None;
        };
        let query = query.to_owned();
        let same =
            self.completion.as_ref().is_some_and(|c| c.kind == kind && c.from == from && c.query == query);
        if same {
            return None;
        }
        let (completion, lookup) = match kind {
            Kind::Slash => (complete::slashes(from, &query, abilities, here), None),
            Kind::Argument => {
                let known = ValueSources {
                    models: &self.models,
                    policy: abilities.policy,
                    menu: Some(&abilities.menu),
                };
                let unknown =
                    self.models.is_empty() && self.completion.as_ref().is_none_or(|c| c.kind != kind);
                let lookup = unknown && complete::wants_models(&before[..from]) && abilities.models;
                (complete::arguments(&before[..from], &query, &known), lookup.then_some(Lookup::Models))
            }
            Kind::File => {
                // What was found for the shorter word stays until the answer is here.
                let kept = self.completion.take().filter(|c| c.kind == Kind::File && c.from == from);
                let offers = kept.map(|c| c.offers).unwrap_or_default();
                let lookup = Lookup::Files(query.clone());
                (Completion { kind, from, query, offers, cursor: 0, closed: false }, Some(lookup))
            }
            Kind::Skill => {
                let unknown = self.skills.is_empty() && abilities.skills;
                (complete::skills(from, &query, &self.skills), unknown.then_some(Lookup::Skills))
            }
        };
        self.completion = Some(completion);
        lookup
    }

    /// Shows the files that were found, unless something else was typed meanwhile.
    pub(crate) fn found(&mut self, query: &str, paths: Vec<String>) {
        if let Some(completion) = &mut self.completion
            && completion.kind == Kind::File
            && completion.query == query
            && !completion.closed
        {
            // More may be found while the person walks through the list: the cursor stays with what it is on.
            let under = completion.offers.get(completion.cursor).filter(|_| completion.cursor > 0);
            let label = under.map(|offer| offer.label.clone());
            *completion = complete::files(completion.from, query, paths);
            let at = label.and_then(|label| completion.offers.iter().position(|offer| offer.label == label));
            completion.cursor = at.unwrap_or(0);
        }
    }

    /// The runtime named its skills: the list is made anew.
    pub(crate) fn know_skills(&mut self, skills: Vec<(String, String)>) {
        self.skills = skills;
        self.completion = None;
    }

    /// The runtime named its models: those that fit are offered, if they are still wanted.
    pub(crate) fn know_models(&mut self, models: Vec<(String, String)>) {
        self.models = models;
        let wanted = self.completion.as_ref().filter(|completion| completion.kind == Kind::Argument);
        let Some((from, query)) = wanted.map(|completion| (completion.from, completion.query.clone())) else {
            return;
        };
        let before = self.editor.text().get(..from).unwrap_or_default();
        if complete::wants_models(before) {
            let known = ValueSources { models: &self.models, ..ValueSources::default() };
            self.completion = Some(complete::arguments(before, &query, &known));
        }
    }

    /// Gives the key to the list; `None` when there is none or it means something else.
    pub(crate) fn choose(&mut self, key: Key) -> Option<Chosen> {
        let completion = self.completion.as_mut().filter(|c| !c.offers.is_empty())?;
        let last = completion.offers.len() - 1;
        match (key.code, key.ctrl, key.alt) {
            (Code::Up, false, false) => completion.cursor = completion.cursor.checked_sub(1).unwrap_or(last),
            (Code::Down, false, false) => {
                completion.cursor = if completion.cursor >= last { 0 } else { completion.cursor + 1 };
            }
            (Code::Esc, ..) => close(completion),
            (Code::Tab, ..) => {
                let kind = completion.kind;
                self.accept();
                return Some(Chosen::Taken(kind));
            }
            // What was typed behind a command counts as it is, unless a line was walked to: a mode or a model is never guessed.
            (Code::Enter, false, false) if completion.kind == Kind::Argument && completion.cursor == 0 => {
                return None;
            }
            (Code::Enter, false, false) => {
                let kind = completion.kind;
                let slash = kind == Kind::Slash;
                let typed = format!("/{}", completion.query);
                if slash && completion.offers.iter().any(|offer| offer.insert.trim_end() == typed) {
                    return None;
                }
                let runs = slash && !completion.offers[completion.cursor].insert.ends_with(' ');
                self.accept();
                return Some(if runs { Chosen::Runs } else { Chosen::Taken(kind) });
            }
            _ => return None,
        }
        Some(Chosen::Moved)
    }

    fn accept(&mut self) {
        let Some(completion) = self.completion.take() else { return };
        if let Some(offer) = completion.offers.get(completion.cursor) {
            self.editor.complete(completion.from, &offer.insert);
        }
    }

    /// What was just taken is not offered once more.
    pub(crate) fn hide(&mut self, kind: Kind) {
        if let Some(completion) = self.completion.as_mut().filter(|c| c.kind == kind) {
            close(completion);
        }
    }
}

fn close(completion: &mut Completion) {
    completion.offers.clear();
    completion.closed = true;
}
