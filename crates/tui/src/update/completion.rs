//! The list below the caret: when it comes, what its keys do.

use crate::complete::{self, Completion, Kind};
use crate::key::{Code, Key};
use crate::model::{Model, Want};
use crate::msg::Fx;
use domain::command::{Command, ListCommand};

/// Looks at the word at the caret again, after the text changed.
pub(super) fn refresh(model: &mut Model, fx: &mut Vec<Fx>) {
    let Some((kind, from, query)) = complete::word(&model.screen.composer) else {
        model.screen.completion = None;
        return;
    };
    let query = query.to_owned();
    let same = model
        .screen
        .completion
        .as_ref()
        .is_some_and(|c| c.kind == kind && c.from == from && c.query == query);
    if same {
        return;
    }
    model.screen.completion = match kind {
        Kind::Slash => {
            Some(complete::slashes(from, &query, &model.world.seen().abilities, model.screen.here()))
        }
        Kind::File => {
            fx.push(Fx::FindFiles(query.clone()));
            // What was found for the shorter word stays until the answer is here.
            let kept = model.screen.completion.take().filter(|c| c.kind == Kind::File && c.from == from);
            let offers = kept.map(|c| c.offers).unwrap_or_default();
            Some(Completion { kind, from, query, offers, cursor: 0 })
        }
        Kind::Skill => {
            if model.screen.skills.is_empty() && model.world.seen().abilities.skills {
                model.send(Want::Skills, Command::List(ListCommand::Skills { cwd: None, reload: false }), fx);
            }
            Some(complete::skills(from, &query, &model.screen.skills))
        }
    };
}

/// Shows the files that were found, unless something else was typed meanwhile.
pub(super) fn found(model: &mut Model, query: &str, paths: Vec<String>) {
    if let Some(completion) = &mut model.screen.completion
        && completion.kind == Kind::File
        && completion.query == query
    {
        *completion = complete::files(completion.from, query, paths);
    }
}

/// Gives the key to the list; `false` when there is none or it means something else.
pub(super) fn press(model: &mut Model, key: Key, fx: &mut Vec<Fx>) -> bool {
    let Some(completion) = model.screen.completion.as_mut().filter(|c| !c.offers.is_empty()) else {
        return false;
    };
    let last = completion.offers.len() - 1;
    match (key.code, key.ctrl, key.alt) {
        (Code::Up, false, false) => completion.cursor = completion.cursor.checked_sub(1).unwrap_or(last),
        (Code::Down, false, false) => {
            completion.cursor = if completion.cursor >= last { 0 } else { completion.cursor + 1 };
        }
        (Code::Esc, ..) => completion.offers.clear(),
        (Code::Tab, ..) => accept(model, fx),
        (Code::Enter, false, false) => {
            let whole = completion.kind == Kind::Slash
                && completion.offers.iter().any(|o| o.insert.trim_end() == format!("/{}", completion.query));
            if whole {
                return false;
            }
            let runs =
                completion.kind == Kind::Slash && !completion.offers[completion.cursor].insert.ends_with(' ');
            accept(model, fx);
            // A command that takes nothing is meant as soon as it is chosen.
            return !runs;
        }
        _ => return false,
    }
    true
}

fn accept(model: &mut Model, fx: &mut Vec<Fx>) {
    let Some(completion) = model.screen.completion.take() else { return };
    if let Some(offer) = completion.offers.get(completion.cursor) {
        model.screen.composer.complete(completion.from, &offer.insert);
    }
    refresh(model, fx);
    if let Some(completion) = model.screen.completion.as_mut().filter(|c| c.kind == Kind::Slash) {
        completion.offers.clear();
    }
}
