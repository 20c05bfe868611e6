//! `/login` in the screen: whose key it is, the key, and what came of it.

#[cfg(test)]
mod tests;

use super::lists;
use crate::clean::{clean, clean_line};
use crate::login::{LoginForm, LoginStep};
use crate::model::{Model, Want};
use crate::msg::{Fx, LoginNews, ProviderLine};
use crate::picker::{Choice, Item, ListKind};
use domain::command::{Command, SessionCommand};
use domain::signal::Level;

/// The provider that answers where nobody has a key.
const OFFLINE: &str = "offline";

/// Asks whose key it is.
pub(super) fn open(model: &mut Model, fx: &mut Vec<Fx>) {
    lists::open(model, ListKind::Providers, fx);
}

/// A provider was chosen: its key is asked for.
pub(super) fn chosen(model: &mut Model, provider: String) {
    model.screen.over.log_in(LoginForm::new(provider));
}

/// A key on the form.
pub(super) fn does(model: &mut Model, step: LoginStep, fx: &mut Vec<Fx>) {
    match step {
        LoginStep::Nothing => {}
        LoginStep::Stop => fx.push(Fx::StopLogin),
        LoginStep::Close => model.screen.over.close(),
        LoginStep::Try(key, keep) => {
            if let Some(form) = model.screen.over.login() {
                fx.push(Fx::Login { provider: form.provider().to_owned(), key, keep });
            }
        }
    }
}

/// Ends the form, and what is under way for it, if there is one.
pub(super) fn stop(model: &mut Model, fx: &mut Vec<Fx>) -> bool {
    let open = model.screen.over.login().is_some();
    if open {
        fx.push(Fx::StopLogin);
        model.screen.over.close();
    }
    open
}

/// What came of it.
pub(super) fn hear(model: &mut Model, news: LoginNews, fx: &mut Vec<Fx>) {
    match news {
        LoginNews::Providers(providers) => fill(model, providers),
        LoginNews::Failed(why) => match model.screen.over.login_mut() {
            Some(form) => form.failed(clean(&why).into_owned()),
            None => model.toast(Level::Warning, clean(&why)),
        },
        LoginNews::Unsure(why) => match model.screen.over.login_mut() {
            Some(form) => form.unsure(clean(&why).into_owned()),
            None => model.toast(Level::Warning, format!("{}; nothing was saved", clean_line(&why))),
        },
        LoginNews::Kept { said, note, model: offered } => {
            if model.screen.over.login().is_some() {
                model.screen.over.close();
            }
            said.iter().for_each(|line| model.toast(Level::Success, clean_line(line)));
            if let Some(note) = note {
                let about = model.screen.start.about().note.clone();
                model.screen.start.note(crate::about::Note {
                    unkept: about.unkept,
                    told: about.told,
                    ..note
                });
            }
            // Who has a model keeps it; who had none gets the one that the key is for.
            let none = model.world.seen().model().is_none_or(|model| model.provider == OFFLINE);
            if let Some((provider, name)) = offered.filter(|_| none && model.world.seen().abilities.set_model)
            {
                let command = Command::Session(SessionCommand::SetModel { provider: Some(provider), name });
                model.send(Want::Nothing, command, fx);
            }
        }
    }
}

fn fill(model: &mut Model, providers: Vec<ProviderLine>) {
    let item = |provider: ProviderLine| Item {
        cells: Vec::new(),
        label: clean_line(&provider.name),
        detail: clean_line(&provider.about),
        more: String::new(),
        sign: if provider.has_key { "✓ " } else { "  " },
        choice: Choice::Provider(provider.name),
    };
    if let Some(picker) = model.screen.over.list_mut().filter(|picker| picker.kind() == ListKind::Providers) {
        picker.fill(providers.into_iter().map(item).collect(), 0, "no provider is known");
    }
}
