//! Performs slash commands.

use super::{
    budget, copies, devices, everywhere, files, fleet, lists, login, options, ports, prompt, reading, rules,
};
use crate::commands::{COMMANDS, Parsed, SlashAction, parse, to_agent};
use crate::layout::queue_modes;
use crate::model::{Model, Want};
use crate::msg::{Fx, ScreenExit};
use crate::overlay::Content;
use crate::picker::ListKind;
use crate::policy::{DENIES_ALL, asks_when};
use crate::settings::Setting;
use domain::command::{Command, ExportFormat, LibraryCommand, QueueCommand, RunCommand, SessionCommand};
use domain::content::Json;
use domain::ids::SessionId;
use domain::queue::{Mode, QueueKind};
use domain::session::{Effort, Policy};
use domain::signal::Level;

/// Does what a line that begins with a slash says; `false` when it is a prompt after all.
pub(super) fn execute(model: &mut Model, line: &str, fx: &mut Vec<Fx>) -> bool {
    if to_agent(line, &model.world.seen().abilities, model.screen.start.here()).is_some() {
        return false;
    }
    let (command, argument) = match parse(line) {
        None => return false,
        Some(Parsed::Unknown(name, near)) => {
            let hint = near.map_or("/help lists them".to_owned(), |near| format!("did you mean /{near}?"));
            // Left there, it would be glued to what is typed next.
            model.toast(Level::Warning, format!("there is no command /{name}: {hint} (↑ brings it back)"));
            return true;
        }
        Some(Parsed::Command(command, argument)) => (command, argument),
    };
    if !command.is_offered(&model.world.seen().abilities, model.screen.start.here()) {
        // Not the runtime's doing: it is this view that has no place for it.
        if command.does == SlashAction::Fleet {
            let word =
                "/fleet is only on the whole screen; `parlor ps` lists your sessions wherever they run";
            model.toast(Level::Info, word);
            return true;
        }
        let instead = match command.does {
            SlashAction::Devices => ": `parlor devices` in a shell lists them",
            SlashAction::Plan => ": /mode lists the modes of an agent that has some",
            SlashAction::Policy | SlashAction::Model => ": set it where the runtime is started",
            SlashAction::Undo | SlashAction::Redo | SlashAction::Diff => {
                ": only what Parlor's own agent does to files is kept"
            }
            SlashAction::Servers => ": MCP status unavailable",
            SlashAction::Skills => ": skills list unavailable",
            SlashAction::Clear if model.world.seen().abilities.new_session => ": /new begins a new session",
            _ => "",
        };
        model.toast(Level::Warning, format!("this runtime cannot do /{}{instead}", command.name));
        return true;
    }
    run(model, command.does, argument, fx);
    true
}

/// A key that stands for a command was pressed.
pub(super) fn press(model: &mut Model, at: usize, fx: &mut Vec<Fx>) {
    if let Some(command) = COMMANDS.get(at) {
        execute(model, &format!("/{}", command.name), fx);
    }
}

fn run(model: &mut Model, does: SlashAction, argument: &str, fx: &mut Vec<Fx>) {
    let given = (!argument.is_empty()).then(|| argument.to_owned());
    match does {
        SlashAction::Restart => fx.push(Fx::Restart),
        SlashAction::Login if model.screen.start.here().login => login::open(model, fx),
        SlashAction::Login => leave(model, ScreenExit::Login, fx),
        SlashAction::Agents => match given {
            Some(name) => leave(model, ScreenExit::Attach(name), fx),
            None => lists::open(model, ListKind::Agents, fx),
        },
        SlashAction::Fleet => fleet::open(model, fx),
        SlashAction::Devices => devices::command(model, argument, fx),
        SlashAction::Help => model.screen.over.read("Commands", Content::Commands),
        SlashAction::Keys => model.screen.over.read("Keys", Content::Keys),
        SlashAction::Status => model.screen.over.read("Status", Content::Status),
        SlashAction::Notices => model.screen.over.read("Recent messages", Content::Notices),
        SlashAction::New => model.send(
            Want::Nothing,
            Command::Library(LibraryCommand::New { cwd: None, title: given, id: None }),
            fx,
        ),
        SlashAction::Sessions => match given.as_deref().map(SessionId::parse) {
            Some(Some(session)) => {
                model.send(Want::Nothing, Command::Library(LibraryCommand::Open { session }), fx);
            }
            Some(None) => model.toast(Level::Info, format!("{argument} cannot be the id of a session")),
            None => lists::open(model, ListKind::Sessions, fx),
        },
        SlashAction::Tree => lists::open(model, ListKind::Tree, fx),
        SlashAction::Undo => files::undo(model, argument, fx),
        SlashAction::Redo => files::redo(model, argument, fx),
        SlashAction::Diff => files::diff(model, argument, fx),
        SlashAction::Rules => rules::command(model, argument, fx),
        SlashAction::Ports => ports::command(model, argument, fx),
        SlashAction::Tools => tools(model, argument, fx),
        SlashAction::Extension => extension(model, argument, fx),
        SlashAction::Skills => lists::open(model, ListKind::Skills, fx),
        SlashAction::Servers => lists::open(model, ListKind::Servers, fx),
        SlashAction::Queue => queue(model, argument, fx),
        SlashAction::History => lists::open(model, ListKind::History, fx),
        SlashAction::Branch => {
            model.send(
                Want::Word("branched"),
                Command::Library(LibraryCommand::Branch { session: None, at: None }),
                fx,
            );
        }
        SlashAction::Rename => match given {
            Some(title) => {
                model.send(Want::Word("renamed"), Command::Session(SessionCommand::Rename { title }), fx);
            }
            None => model.toast(Level::Info, "write the title behind it: /rename TITLE"),
        },
        SlashAction::Clear => model.send(Want::Nothing, Command::Session(SessionCommand::Clear), fx),
        SlashAction::Compact => {
            model.screen.wishes.want_summary();
            model.send(Want::Summary, Command::Run(RunCommand::Compact { instruction: given }), fx);
        }
        SlashAction::Model => match given {
            Some(_) if !model.world.seen().abilities.set_model => {
                model.toast(
                    Level::Info,
                    "this runtime cannot switch models: set the model where it is started",
                );
            }
            Some(name) => set_model(model, &name, fx),
            None => lists::open(model, ListKind::Models, fx),
        },
        SlashAction::Effort => effort(model, given.as_deref(), fx),
        SlashAction::Budget => budget::command(model, argument, fx),
        SlashAction::Policy => own_mode(model, argument, fx),
        SlashAction::Plan => {
            set_policy(model, Policy::Plan, fx);
            if let Some(text) = given {
                prompt::say(model, text, prompt::Manner::FollowUp, fx);
            }
        }
        SlashAction::Mode => mode(model, argument, fx),
        SlashAction::Options => options::command(model, argument, fx),
        SlashAction::Copy => copies::command(model, argument, fx),
        SlashAction::Export => export(model, argument, fx),
        SlashAction::Save => {
            let command = Command::Library(LibraryCommand::Save { path: given, history: true });
            model.send(Want::Saved, command, fx);
        }
        SlashAction::Ping => {
            let command = Command::Extension { name: "ping".to_owned(), payload: Json::empty() };
            model.send(Want::Told, command, fx);
        }
        SlashAction::Search => everywhere::open(model, argument, fx),
        SlashAction::Find => reading::search(model, argument),
        SlashAction::Fold => model.screen.transcript.fold_all(),
        SlashAction::Print => fx.push(Fx::Print),
        SlashAction::Theme => match given.as_deref().map(theme) {
            Some(Some(name)) => model.set(Setting::Theme, name, fx),
            Some(None) => {
                let names = Setting::Theme.values().join(", ");
                model.toast(Level::Info, format!("themes: {names}"));
            }
            None => lists::open(model, ListKind::Themes, fx),
        },
        SlashAction::Settings => lists::open(model, ListKind::Settings, fx),
        SlashAction::Mouse => {
            let value = model.screen.preferences.settings().next(Setting::Mouse);
            model.set(Setting::Mouse, value, fx);
            let on = model.screen.preferences.settings().mouse;
            model.toast(
                Level::Info,
                if on { "the mouse scrolls and clicks" } else { "the mouse selects text" },
            );
        }
        SlashAction::Edit => fx.push(Fx::OpenEditor(String::new())),
        SlashAction::Stop if model.world.is_running() => prompt::stop(model, fx),
        SlashAction::Stop => model.toast(Level::Info, "nothing runs"),
        SlashAction::Quit => fx.push(Fx::Quit),
    }
}

/// Leaves the screen, unless that would leave a run behind.
pub(super) fn leave(model: &mut Model, exit: ScreenExit, fx: &mut Vec<Fx>) {
    if model.world.is_running() {
        model.toast(Level::Warning, "a run is under way: let it end, or stop it with Esc");
    } else {
        fx.push(Fx::Leave(exit));
    }
}

/// Takes another policy mode.
pub(super) fn set_policy(model: &mut Model, policy: Policy, fx: &mut Vec<Fx>) {
    model.send(Want::Policy(policy), Command::Session(SessionCommand::SetPolicy { policy }), fx);
}

/// What a mode that was taken means here.
pub(super) fn policy_means(model: &Model, policy: Policy) -> &'static str {
    let can = &model.world.seen().abilities;
    match policy {
        // Of one that has not told what it can do, nothing is claimed.
        _ if can.policy => asks_when(policy),
        _ if can.name.is_empty() => "mode set",
        Policy::ReadOnly => DENIES_ALL,
        Policy::Plan | Policy::Ask | Policy::AutoEdit | Policy::Sandboxed | Policy::Full => {
            "its questions come to you again"
        }
    }
}

/// The list of tools, or the names of those that the model may use from now on.
fn tools(model: &mut Model, names: &str, fx: &mut Vec<Fx>) {
    let can = &model.world.seen().abilities;
    if !names.is_empty() && can.set_tools {
        let names = names.split([',', ' ']).filter(|name| !name.is_empty()).map(str::to_owned).collect();
        let command = Command::Session(SessionCommand::SetTools { tools: Some(names) });
        model.send(Want::Word("the model may use these tools and no other"), command, fx);
    } else if can.list_tools {
        lists::open(model, ListKind::Tools, fx);
    } else {
        model.toast(
            Level::Info,
            "this runtime does not list its tools; write those that the model may use: /tools NAME NAME",
        );
    }
}

/// A command of an extension, with what it is given: JSON, or a text.
fn extension(model: &mut Model, argument: &str, fx: &mut Vec<Fx>) {
    let (name, given) = argument.split_once(char::is_whitespace).unwrap_or((argument, ""));
    if name.is_empty() {
        return model.toast(Level::Info, "write its name behind it: /extension NAME {\"a\": 1}");
    }
    let given = given.trim();
    let payload = match serde_json::from_str::<serde_json::Value>(given) {
        _ if given.is_empty() => Json::empty(),
        Ok(_) => Json::verbatim(given),
        Err(_) => Json::verbatim(serde_json::Value::String(given.to_owned()).to_string()),
    };
    model.send(Want::Told, Command::Extension { name: name.to_owned(), payload }, fx);
}

/// One effort more or less; from what the provider decides it begins in the middle.
pub(super) fn step_effort(model: &mut Model, more: bool, fx: &mut Vec<Fx>) {
    let seen = model.world.seen();
    if !seen.abilities.effort {
        return model.toast(Level::Info, "effort cannot be set with this runtime");
    }
    let now = seen.state.settings.effort.unwrap_or(Effort::Medium);
    let at = Effort::ALL.iter().position(|effort| *effort == now).unwrap_or(0);
    let next = if more { Some(at + 1) } else { at.checked_sub(1) };
    let Some(next) = next.and_then(|at| Effort::ALL.get(at).copied()) else {
        return model.toast(Level::Info, format!("effort is {} already", now.name()));
    };
    let told = match next {
        Effort::None => "effort: none",
        Effort::Minimal => "effort: minimal",
        Effort::Low => "effort: low",
        Effort::Medium => "effort: medium",
        Effort::High => "effort: high",
        Effort::Xhigh => "effort: xhigh",
        Effort::Max => "effort: max",
    };
    model.send(Want::Word(told), Command::Session(SessionCommand::SetEffort { effort: Some(next) }), fx);
}

/// How hard the model thinks; `auto` leaves it to the provider.
fn effort(model: &mut Model, word: Option<&str>, fx: &mut Vec<Fx>) {
    let chosen = match word {
        Some("auto") => None,
        Some(word) if Effort::named(word).is_some() => Effort::named(word),
        _ => {
            let now = model.world.state().settings.effort.map_or("the provider decides", Effort::name);
            let names = Effort::ALL.map(Effort::name).join(", ");
            return model.toast(Level::Info, format!("effort: {now}; there are {names} and auto"));
        }
    };
    model.send(Want::Word("effort set"), Command::Session(SessionCommand::SetEffort { effort: chosen }), fx);
}

/// The name of a theme, or of following the terminal.
fn theme(name: &str) -> Option<&'static str> {
    Setting::Theme.values().into_iter().find(|known| *known == name)
}

fn set_model(model: &mut Model, name: &str, fx: &mut Vec<Fx>) {
    let (provider, name) = match name.split_once('/') {
        Some((provider, name)) => (Some(provider.to_owned()), name.to_owned()),
        None => (None, name.to_owned()),
    };
    model.send(Want::Word("model set"), Command::Session(SessionCommand::SetModel { provider, name }), fx);
}

/// What Parlor's own rules are called, and how people write them.
fn policy(name: &str) -> Option<Policy> {
    match name {
        "readonly" => Some(Policy::ReadOnly),
        "edit" => Some(Policy::AutoEdit),
        "sandbox" => Some(Policy::Sandboxed),
        name => Policy::named(name),
    }
}

/// Chooses among Parlor's own modes, or sets the one that is named.
fn own_mode(model: &mut Model, name: &str, fx: &mut Vec<Fx>) {
    match policy(name) {
        _ if name.is_empty() => lists::open(model, ListKind::Policies, fx),
        Some(policy) => set_policy(model, policy, fx),
        None => {
            let names = Policy::ALL.map(Policy::name).join(", ");
            model.toast(Level::Info, format!("modes: {names}"));
        }
    }
}

/// `/mode`: that of the agent where it has modes, else Parlor's own; and that of the queues, as it was written before they had `/queue`.
fn mode(model: &mut Model, argument: &str, fx: &mut Vec<Fx>) {
    let can = &model.world.seen().abilities;
    let own = can.policy || can.consent;
    match argument.split_whitespace().next() {
        Some("steer" | "follow-up" | "followup") => queue(model, argument, fx),
        _ if options::mode(model, argument, fx) => {}
        _ if own => own_mode(model, argument, fx),
        _ => model.toast(Level::Info, "this runtime has no modes"),
    }
}

/// The list of what is queued, or how many are sent at once: of one queue, or of both.
fn queue(model: &mut Model, argument: &str, fx: &mut Vec<Fx>) {
    let mut words = argument.split_whitespace().peekable();
    let kinds: &[QueueKind] = match words.peek().copied() {
        None => return lists::open(model, ListKind::Queue, fx),
        Some("one" | "all") => &[QueueKind::Steer, QueueKind::FollowUp],
        Some("steer") => &[QueueKind::Steer],
        Some("follow-up" | "followup") => &[QueueKind::FollowUp],
        Some(_) => return model.toast(Level::Info, "write it like: /queue all, or /queue follow-up one"),
    };
    let how = words.find_map(|word| match word {
        "all" => Some((Mode::All, "all that is queued is sent together")),
        "one" => Some((Mode::OneAtATime, "what is queued is sent one at a time")),
        _ => None,
    });
    let Some((mode, told)) = how else {
        let now = queue_modes(&model.world.state().queues);
        return model.toast(Level::Info, format!("one or all? now the queue is {now}"));
    };
    for kind in kinds {
        model.send(Want::Word(told), Command::Queue(QueueCommand::SetMode { kind: *kind, mode }), fx);
    }
}

fn export(model: &mut Model, argument: &str, fx: &mut Vec<Fx>) {
    let mut words = argument.split_whitespace();
    let first = words.next().unwrap_or("md");
    let (format, ending) = match first {
        "html" => (ExportFormat::Html, "html"),
        "jsonl" => (ExportFormat::Jsonl, "jsonl"),
        "md" | "markdown" => (ExportFormat::Markdown, "md"),
        _ => {
            return model
                .toast(Level::Info, "write it like: /export md [file], /export html or /export jsonl");
        }
    };
    let name = model.world.current.as_ref().map_or("session".to_owned(), ToString::to_string);
    let path = words.next().map_or_else(|| format!("{name}.{ending}"), str::to_owned);
    model.send(Want::Export(path), Command::Library(LibraryCommand::Export { session: None, format }), fx);
}
