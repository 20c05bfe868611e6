//! Pickers: what choosing a line does, and taking one away.

use super::{
    choices, commands, copies, devices, everywhere, files, lists, login, options, ports, rules, servers,
};
use crate::model::{Model, Want};
use crate::msg::{Fx, ScreenExit};
use crate::picker::{Choice, ListKind, Picked};
use crate::settings::Setting;
use domain::command::{Command, LibraryCommand, QueueCommand, SessionCommand};
use domain::signal::Level;

/// What comes of a key that went to the list.
pub(super) fn picked(model: &mut Model, picked: Picked, fx: &mut Vec<Fx>) {
    match picked {
        Picked::Nothing => {}
        Picked::Moved => try_on(model),
        Picked::Closed => {
            model.screen.over.close();
            model.screen.preferences.recolour();
        }
        Picked::Search(words)
            if model.screen.over.list().is_some_and(|list| list.kind() == ListKind::Search) =>
        {
            everywhere::look(model, &words, fx);
        }
        Picked::Search(words) => {
            if let Some(picker) = model.screen.over.list_mut() {
                picker.look_for(words.clone());
            }
            model.send(Want::List(ListKind::Sessions), lists::sessions(Some(words)), fx);
        }
        Picked::Chosen(choice) => {
            let stays = matches!(
                choice,
                Choice::Tool(..)
                    | Choice::Setting(_)
                    | Choice::Reach(_)
                    | Choice::Port(..)
                    | Choice::Asking(..)
                    | Choice::Device(_)
            );
            if !stays {
                model.screen.over.close();
            }
            choose(model, choice, fx);
        }
        Picked::Drop(choice) => drop_line(model, choice, fx),
    }
}

/// Shows the colours under the cursor before they are taken.
fn try_on(model: &mut Model) {
    let under = model.screen.over.list().and_then(|picker| picker.under());
    if let Some(Choice::Value(Setting::Theme, name)) = under.map(|item| &item.choice) {
        model.screen.preferences.try_on(name);
    }
}

fn choose(model: &mut Model, choice: Choice, fx: &mut Vec<Fx>) {
    match choice {
        Choice::Session(_) if !model.world.seen().abilities.open_session => {}
        Choice::Model(..) if !model.world.seen().abilities.set_model => {}
        Choice::Tool(..) if !model.world.seen().abilities.set_tools => {}
        Choice::Entry(_) if !model.world.seen().abilities.go_back => {}
        Choice::Session(session) => {
            if model.world.current.as_ref() != Some(&session) {
                model.send(Want::Nothing, Command::Library(LibraryCommand::Open { session }), fx);
            }
        }
        Choice::Found(session, words) => everywhere::go(model, session, words, fx),
        Choice::Elsewhere(session) => commands::leave(model, ScreenExit::GoOn(session), fx),
        Choice::Entry(entry) => files::go_back(model, entry, fx),
        Choice::GoBack(entry, with_files) => files::go_with(model, entry, with_files, fx),
        Choice::Model(provider, name) => {
            let command = Command::Session(SessionCommand::SetModel { provider: Some(provider), name });
            model.send(Want::Word("model set"), command, fx);
        }
        Choice::Rule(rule) => rules::narrow(model, &rule),
        Choice::Asking(server, id) => devices::allow(model, server, id, fx),
        Choice::Device(id) => {
            let id = crate::clean::clean_line(&id);
            model.toast(
                Level::Info,
                format!("Del twice in the list revokes it, and so does /devices revoke {id}"),
            );
        }
        Choice::Copy(what) => copies::copy(model, what, fx),
        Choice::Policy(policy) => commands::set_policy(model, policy, fx),
        Choice::Reach(line) => servers::switch(model, &line, fx),
        Choice::Port(port, open) => ports::switch(model, port, open, fx),
        Choice::Tool(name, active) => switch_tool(model, &name, !active, fx),
        Choice::Text(text) => {
            if text.starts_with('$') {
                model.screen.composer.insert(&text);
            } else {
                model.screen.composer.recall(&text);
            }
        }
        Choice::Queued(item) => {
            let waiting = model.world.state().queues.all().find(|(_, waiting)| waiting.id == item);
            let text = waiting.map(|(_, waiting)| waiting.input.text.clone());
            model.send(Want::Nothing, Command::Queue(QueueCommand::Drop { item }), fx);
            text.into_iter().for_each(|text| model.screen.composer.give_back(&text));
        }
        Choice::Value(setting, value) => model.set(setting, value, fx),
        Choice::Setting(setting) => {
            let value = model.screen.preferences.settings().next(setting);
            model.set(setting, value, fx);
            if setting.later() {
                model.toast(Level::Info, format!("{} is {value} from the next start on", setting.name()));
            }
            let items = choices::settings(model);
            if let Some(picker) = model.screen.over.list_mut() {
                picker.refill(items);
            }
        }
        Choice::Command(line) => {
            commands::execute(model, line, fx);
        }
        Choice::Option(id) => options::choose(model, &id, fx),
        Choice::SetOption(id, value) => options::set(model, id, value, fx),
        Choice::Agent(Ok(name)) => commands::leave(model, ScreenExit::Attach(name), fx),
        Choice::Provider(provider) => login::chosen(model, provider),
        Choice::Agent(Err(missing)) => model.toast(Level::Warning, missing),
        Choice::Nothing => {}
    }
}

fn switch_tool(model: &mut Model, name: &str, on: bool, fx: &mut Vec<Fx>) {
    let Some(picker) = model.screen.over.list_mut() else { return };
    let tools = picker.switch_tool(name, on);
    model.send(Want::Nothing, Command::Session(SessionCommand::SetTools { tools }), fx);
}

fn drop_line(model: &mut Model, choice: Choice, fx: &mut Vec<Fx>) {
    let command = match &choice {
        Choice::Session(session) if model.world.current.as_ref() == Some(session) => {
            return model.toast(Level::Info, "this is the session you are in; go to another one first");
        }
        Choice::Session(session) | Choice::Elsewhere(session) => {
            Command::Library(LibraryCommand::Delete { session: session.clone() })
        }
        Choice::Queued(item) => Command::Queue(QueueCommand::Drop { item: *item }),
        Choice::Rule(rule) => return rules::revoke(model, rule, fx),
        Choice::Asking(server, id) => return devices::answer(model, *server, *id, false, fx),
        Choice::Device(id) => return devices::revoke(id, fx),
        _ => return,
    };
    model.send(Want::Gone(choice), command, fx);
}

/// What a line stood for is gone, and so is the line.
pub(super) fn gone(model: &mut Model, choice: &Choice) {
    if let Some(picker) = model.screen.over.list_mut() {
        picker.remove(choice);
    }
    model.toast(Level::Success, "gone");
}
