//! What keys do, by name: the defaults, what the person changed, and how a key is shown. One table serves pressing, the `?` page and
//! the settings file.
//!
//! Not here: the keys of questions and lists (they are written on the screen where they count) and the ways out (`Esc`, `Ctrl-C`),
//! which cannot be taken away. Invariant: a key does one thing; a wrong setting is told and changes nothing else.

mod table;
#[cfg(test)]
mod tests;

pub(crate) use table::GROUPS;
use table::Named;
pub use table::{ACTIONS, Action};

use crate::commands::{COMMANDS, switches};
use crate::key::{Code, Key};
use domain::port::Abilities;
use std::collections::{BTreeMap, BTreeSet};

/// Names in a settings file that are looked at; more are told and left alone.
pub(crate) const MAX_SETTINGS: usize = 256;

/// What a key does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Does {
    /// An action with a name.
    Action(Action),
    /// The slash command of this place in [`COMMANDS`].
    Command(usize),
}

/// Which key does what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Keymap {
    bound: BTreeMap<Key, Does>,
    /// Keys that would edit but were taken from that.
    freed: BTreeSet<Key>,
}

impl Default for Keymap {
    fn default() -> Keymap {
        let mut keymap = Keymap { bound: BTreeMap::new(), freed: BTreeSet::new() };
        for named in ACTIONS {
            keymap.bound.extend(default_keys(named).map(|key| (key, Does::Action(named.action))));
        }
        keymap
    }
}

impl Keymap {
    /// The defaults with what the person wants: names of actions (or commands such as `/model`), each with its keys. What cannot be
    /// done is told in words, and what to do instead.
    pub fn read(wanted: &[(String, Vec<String>)]) -> (Keymap, Vec<String>) {
        let mut keymap = Keymap::default();
        let mut told = Vec::new();
        let mut chosen: BTreeMap<Key, &str> = BTreeMap::new();
        if wanted.len() > MAX_SETTINGS {
            told.push(format!("only the first {MAX_SETTINGS} keys are looked at"));
        }
        for (name, keys) in wanted.iter().take(MAX_SETTINGS) {
            let does = match named(name) {
                Ok(does) => does,
                Err(why) => {
                    told.push(why);
                    continue;
                }
            };
            let mut taken = Vec::new();
            for text in keys {
                match text.parse::<Key>().map_err(|error| error.to_string()).and_then(may_be_bound) {
                    Err(why) => told.push(format!("{name}: {why}")),
                    Ok(key) => match chosen.get(&key) {
                        Some(other) if *other != name => told.push(format!(
                            "{key} is given to both {other} and {name}; {other} has it: give {name} another key"
                        )),
                        _ => taken.push(key),
                    },
                }
            }
            if taken.is_empty() && !keys.is_empty() {
                // Nothing of it can be used: what it had stays.
                continue;
            }
            keymap.unbind(does);
            for key in taken {
                chosen.insert(key, name);
                keymap.bound.insert(key, does);
                keymap.freed.remove(&key);
            }
        }
        told.extend(keymap.lonely(wanted));
        (keymap, told)
    }

    /// Takes all keys from what is done.
    fn unbind(&mut self, does: Does) {
        let keys: Vec<Key> = self.keys_of(does).collect();
        for key in keys {
            self.bound.remove(&key);
            let edits = matches!(does, Does::Action(action) if action.edits() || action == Action::NewLine);
            if edits {
                self.freed.insert(key);
            }
        }
    }

    /// Actions that lost their last key to another one, in words.
    fn lonely(&self, wanted: &[(String, Vec<String>)]) -> Vec<String> {
        let asked = |name: &str| wanted.iter().any(|(wanted, _)| wanted == name);
        let lost = ACTIONS
            .iter()
            .filter(|named| self.keys_of(Does::Action(named.action)).next().is_none() && !asked(named.name));
        lost.map(|named| {
            let was = default_keys(named).find_map(|key| Some((key, self.bound.get(&key)?)));
            let taker = was.map_or(String::new(), |(key, by)| format!(" ({key} is {} now)", name_of(*by)));
            format!("{} has no key{taker}: give it one in [ui.keys]", named.name)
        })
        .collect()
    }

    fn keys_of(&self, does: Does) -> impl Iterator<Item = Key> + '_ {
        self.bound.iter().filter(move |(_, bound)| **bound == does).map(|(key, _)| *key)
    }

    /// What a key does outside of questions and lists.
    pub(crate) fn does(&self, key: Key) -> Option<Does> {
        self.bound.get(&key).copied()
    }

    /// The key as editors know it: what the person wants for editing stands for the default; a key that was taken from editing
    /// means nothing.
    pub(crate) fn edits(&self, key: Key) -> Option<Key> {
        match self.bound.get(&key) {
            Some(Does::Action(action)) => match ACTIONS.iter().find(|named| named.action == *action) {
                Some(named) if action.edits() && default_keys(named).all(|other| other != key) => {
                    default_keys(named).next()
                }
                _ => Some(key),
            },
            Some(Does::Command(_)) => Some(key),
            None if self.freed.contains(&key) => None,
            None => Some(key),
        }
    }

    /// The keys of an action, the default ones first.
    pub fn keys(&self, action: Action) -> Vec<Key> {
        let named = ACTIONS.iter().find(|named| named.action == action);
        let mut keys: Vec<Key> = self.keys_of(Does::Action(action)).collect();
        let order: Vec<Key> = named.into_iter().flat_map(default_keys).collect();
        keys.sort_by_key(|key| order.iter().position(|other| other == key).unwrap_or(usize::MAX));
        keys
    }

    /// The key to name on the screen for an action, when it has one.
    pub(crate) fn first(&self, action: Action) -> Option<Key> {
        self.keys(action).first().copied()
    }

    /// That key in words; `/help` when it has none.
    pub fn shown(&self, action: Action) -> String {
        self.shown_or(action, "/help")
    }

    /// That key in words; when it has none, the command that does the same.
    pub(crate) fn shown_or(&self, action: Action, command: &str) -> String {
        self.first(action).map_or_else(|| command.to_owned(), |key| key.to_string())
    }

    /// Keys that run commands: the key and the command's name.
    pub(crate) fn commands(&self) -> impl Iterator<Item = (Key, &'static str)> + '_ {
        self.bound.iter().filter_map(|(key, does)| match does {
            Does::Command(at) => COMMANDS.get(*at).map(|command| (*key, command.name)),
            Does::Action(_) => None,
        })
    }
}

/// Whether the runtime can do what a key stands for.
pub fn can_press(action: Action, abilities: &Abilities) -> bool {
    match action {
        Action::Sessions => switches(abilities),
        Action::NextSession | Action::PreviousSession => abilities.open_session,
        Action::LessEffort | Action::MoreEffort => abilities.effort,
        _ => true,
    }
}

fn default_keys(named: &Named) -> impl Iterator<Item = Key> + '_ {
    named.keys.iter().filter_map(|text| text.parse().ok())
}

fn name_of(does: Does) -> String {
    match does {
        Does::Action(action) => {
            ACTIONS.iter().find(|named| named.action == action).map_or("?", |named| named.name).to_owned()
        }
        Does::Command(at) => format!("/{}", COMMANDS.get(at).map_or("?", |command| command.name)),
    }
}

fn named(name: &str) -> Result<Does, String> {
    if let Some(command) = name.strip_prefix('/') {
        let at = COMMANDS.iter().position(|known| known.name == command);
        return at.map(Does::Command).ok_or_else(|| format!("there is no command {name}; /help lists them"));
    }
    let names: Vec<&str> = ACTIONS.iter().map(|named| named.name).collect();
    match ACTIONS.iter().find(|named| named.name == name) {
        Some(named) => Ok(Does::Action(named.action)),
        None => {
            let near = crate::fuzzy::rank(name, &names).first().map(|at| names[*at]);
            let hint = near.map_or("/keys has the names".to_owned(), |near| format!("did you mean {near}?"));
            Err(format!("[ui.keys] knows no {}: {hint}", crate::clean::clean_line(name)))
        }
    }
}

/// A key that may be given away, or why it may not.
fn may_be_bound(key: Key) -> Result<Key, String> {
    if key.typed().is_some_and(|c| c != '?') {
        return Err(format!("{key} alone is typed as text; hold ctrl or alt, or use f1 to f12"));
    }
    let way_out = key == Key::plain(Code::Esc) || key == Key::ctrl('c');
    let basic = [Code::Up, Code::Down, Code::Left, Code::Right, Code::Backspace, Code::Tab];
    if way_out || basic.iter().any(|code| key == Key::plain(*code)) {
        return Err(format!("{key} always keeps its meaning; choose another key"));
    }
    Ok(key)
}
