//! The list below the caret: what must be looked up for it.

use crate::complete::Kind;
use crate::composer::{Chosen, Lookup};
use crate::key::Key;
use crate::model::{Model, Want};
use crate::msg::Fx;
use domain::command::{Command, ListCommand};

/// Looks at the word at the caret again, after the text changed.
pub(super) fn refresh(model: &mut Model, fx: &mut Vec<Fx>) {
    let here = model.screen.start.here();
    match model.screen.composer.refresh(&model.world.seen().abilities, here) {
        Some(Lookup::Files(query)) => fx.push(Fx::FindFiles(query)),
        Some(Lookup::Skills) => {
            model.send(Want::Skills, Command::List(ListCommand::Skills { cwd: None, reload: false }), fx);
        }
        Some(Lookup::Models) => {
            model.send(Want::ModelNames, Command::List(ListCommand::Models { provider: None }), fx);
        }
        None => {}
    }
}

/// Gives the key to the list; `false` when there is none or it means something else too.
pub(super) fn press(model: &mut Model, key: Key, fx: &mut Vec<Fx>) -> bool {
    let Some(chosen) = model.screen.composer.choose(key) else { return false };
    let taken = match chosen {
        Chosen::Moved => return true,
        Chosen::Taken(kind @ (Kind::Slash | Kind::Argument)) => Some(kind),
        Chosen::Taken(Kind::File | Kind::Skill) => None,
        Chosen::Runs => Some(Kind::Slash),
    };
    refresh(model, fx);
    taken.into_iter().for_each(|kind| model.screen.composer.hide(kind));
    chosen != Chosen::Runs
}
