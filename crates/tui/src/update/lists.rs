//! Pickers: what fills them, and what choosing a line does.

use super::{choices, commands, files, prompt};
use crate::cell::{ago, count};
use crate::clean::{clean, clean_line};
use crate::keymap::Action;
use crate::model::{Model, Want};
use crate::msg::{AgentLine, Errand, Fx};
use crate::overlay::Overlay;
use crate::picker::{Choice, Item, ListKind, Picked, Picker};
use crate::row::fit;
use crate::settings::Setting;
use crate::theme::Theme;
use crate::world::Seen;
use domain::command::{
    Command, LibraryCommand, ListCommand, ListScope, QueueCommand, Receipt, SessionCommand,
};
use domain::content::Role;
use domain::ids::{EntryId, SessionId};
use domain::session::{ModelEntry, ModelRef, ServerState, SessionSummary};
use domain::signal::Level;
use domain::state::{EntryKind, State};
use std::collections::BTreeMap;

/// Sessions listed at most.
const MAX_SESSIONS: u64 = 500;

/// Characters shown below a list of what the cursor stands on.
const MAX_MORE: usize = 2_000;

/// What the keys do in a list whose lines cannot be chosen.
const ONLY_READ: &str = "only to be read";

/// Opens a list; what it holds may come later.
pub(super) fn open(model: &mut Model, of: ListKind, fx: &mut Vec<Fx>) {
    let can = &model.world.seen().abilities;
    let (title, hint) = match of {
        ListKind::Sessions if !can.open_session => ("Sessions", ONLY_READ),
        ListKind::Sessions if can.delete_session => ("Sessions", "Enter goes there · Ctrl-X twice deletes"),
        ListKind::Sessions => ("Sessions", "Enter goes there"),
        ListKind::Tree if can.go_back => {
            ("Messages and branches", "Enter goes back there: a prompt can be said differently")
        }
        ListKind::Tree => ("Messages", ONLY_READ),
        ListKind::Models if !can.set_model => {
            ("Models", "only to be read: the runtime is started with its model")
        }
        ListKind::Models => ("Models", "Enter takes it"),
        ListKind::Policies => ("What may run without asking", "Enter takes it"),
        ListKind::Tools if !can.set_tools => ("Tools", ONLY_READ),
        ListKind::Tools => ("Tools", "Enter switches it on or off"),
        ListKind::Skills => ("Skills", "Enter puts it into your prompt"),
        ListKind::Servers => ("MCP servers", ONLY_READ),
        ListKind::History => ("Earlier prompts", "Enter puts it into the composer"),
        ListKind::Queue => ("What waits", "Enter takes it back to edit · Ctrl-X twice drops"),
        ListKind::Themes => ("Colours", "Enter takes and keeps it"),
        ListKind::Settings => ("Settings", "Enter changes and keeps it"),
        ListKind::GoBack => ("Go back there with", "Enter takes it · Esc stays"),
        ListKind::Agents => ("Agents", "Enter leaves this conversation for it; its first start is asked"),
    };
    let mut picker = Picker::new(of, title, hint);
    picker.takes_away = match of {
        ListKind::Sessions => can.delete_session,
        ListKind::Queue => true,
        ListKind::Tree
        | ListKind::Models
        | ListKind::Policies
        | ListKind::Tools
        | ListKind::Skills
        | ListKind::Servers
        | ListKind::History
        | ListKind::Themes
        | ListKind::Settings
        | ListKind::GoBack
        | ListKind::Agents => false,
    };
    let command = match of {
        ListKind::Sessions if !can.sessions => {
            picker.fill(
                seen_here(model),
                0,
                "there is no other session yet; /sessions ID goes to one that you know",
            );
            None
        }
        ListKind::Sessions => Some(Command::Library(LibraryCommand::List {
            scope: ListScope::All,
            limit: Some(MAX_SESSIONS),
            search: None,
        })),
        ListKind::Models => Some(Command::List(ListCommand::Models { provider: None })),
        ListKind::Tools => Some(Command::List(ListCommand::Tools)),
        ListKind::Skills => Some(Command::List(ListCommand::Skills { cwd: None, reload: true })),
        ListKind::Servers => Some(Command::List(ListCommand::Servers)),
        ListKind::Tree => {
            let items = tree(model.world.state());
            let last = items.iter().position(|item| item.sign == "› ").unwrap_or(items.len());
            picker.fill(items, last, "nothing was said yet");
            None
        }
        ListKind::Policies => {
            let items = choices::policies(model.world.seen());
            let at = items.iter().position(|item| item.sign == "› ").unwrap_or(0);
            picker.fill(items, at, "");
            None
        }
        ListKind::History => {
            let prompts = model.screen.history.newest_first();
            let items = prompts.into_iter().map(|prompt| text_item(prompt, "")).collect();
            picker.fill(items, 0, "nothing was said yet");
            None
        }
        ListKind::Queue => {
            picker.fill(queue(model.world.state()), 0, "nothing waits");
            None
        }
        ListKind::Themes => {
            let items = choices::themes(model);
            let at = items.iter().position(|item| item.sign == "› ").unwrap_or(0);
            picker.fill(items, at, "");
            None
        }
        ListKind::Settings => {
            picker.fill(choices::settings(model), 0, "");
            None
        }
        ListKind::GoBack => None,
        ListKind::Agents => {
            fx.push(Fx::FindAgents);
            None
        }
    };
    model.screen.overlay = Some(Overlay::Picker(Box::new(picker)));
    if let Some(command) = command {
        model.send(Want::List(of), command, fx);
    }
}

/// The sessions that were seen since this UI is here, where the runtime lists none.
fn seen_here(model: &Model) -> Vec<Item> {
    let item = |(id, seen): (&SessionId, &Seen)| {
        let title = clean_line(&seen.state.title());
        Item {
            more: format!("{title}\n{id}"),
            label: title,
            detail: id.to_string(),
            choice: Choice::Session(id.clone()),
            sign: if model.world.current.as_ref() == Some(id) { "› " } else { "  " },
        }
    };
    model.world.sessions.iter().map(item).collect()
}

/// Goes to the next of the sessions that were seen, or to the one before.
pub(super) fn next_session(model: &mut Model, back: bool, fx: &mut Vec<Fx>) {
    let ids: Vec<_> = model.world.sessions.keys().cloned().collect();
    let at = model.world.current.as_ref().and_then(|current| ids.iter().position(|id| id == current));
    let Some(at) = at.filter(|_| ids.len() > 1) else {
        let key = model.screen.keymap.shown(Action::Sessions);
        return model.toast(Level::Info, format!("there is no other session open; {key} lists them all"));
    };
    let next = if back { (at + ids.len() - 1) % ids.len() } else { (at + 1) % ids.len() };
    model.send(Want::Nothing, Command::Library(LibraryCommand::Open { session: ids[next].clone() }), fx);
}

/// What a list asked for is here.
pub(super) fn fill(model: &mut Model, of: ListKind, receipt: Receipt) {
    let now = model.screen.now;
    let current = model.world.current.clone();
    let unread =
        |summary: &SessionSummary| model.world.sessions.get(&summary.id).is_some_and(|seen| seen.unread);
    let (items, at, empty) = match receipt {
        Receipt::Sessions(sessions) => {
            let at = sessions.iter().position(|s| Some(&s.id) == current.as_ref()).unwrap_or(0);
            let item = |session: &SessionSummary| {
                let mut detail = format!("{} · {} messages", ago(now, session.updated_at), session.messages);
                if session.running {
                    detail.push_str(" · running");
                }
                if let Some(last) = &session.last_prompt {
                    detail.push_str(" · ");
                    detail.push_str(&clean_line(last));
                }
                let sign = match (Some(&session.id) == current.as_ref(), unread(session)) {
                    (true, _) => "› ",
                    (false, true) => "* ",
                    (false, false) => "  ",
                };
                let last = session.last_prompt.as_deref().map(clean).unwrap_or_default();
                let (title, runtime) = match &session.origin {
                    // One of another program, which goes on there.
                    Some(origin) => (
                        clean_line(&format!("[{}] {}", origin.dialect, session.title)),
                        format!("\nwith {}", clean_line(&origin.place.typed())),
                    ),
                    None => (clean_line(&session.title), String::new()),
                };
                let more = format!(
                    "{title}\n{}{runtime}\n{}, begun {}\n\n{}",
                    clean_line(&session.cwd),
                    session.id,
                    ago(now, session.created_at),
                    beginning(&last)
                );
                Item { label: title, detail, choice: Choice::Session(session.id.clone()), sign, more }
            };
            (sessions.iter().map(item).collect::<Vec<_>>(), at, "there is no other session yet")
        }
        Receipt::Models { models, current } => {
            let at = models.iter().position(|m| Some(&m.model) == current.as_ref()).unwrap_or(0);
            (models.iter().map(|m| model_item(m, current.as_ref())).collect(), at, "no model is known")
        }
        Receipt::Tools(tools) => {
            let item = |tool: domain::session::ToolEntry| Item {
                label: clean_line(&tool.name),
                detail: format!("{} · {}", clean_line(&tool.source), clean_line(&tool.description)),
                more: beginning(&clean(&tool.description)),
                choice: Choice::Tool(tool.name, tool.active),
                sign: if tool.active { "☑ " } else { "☐ " },
            };
            (tools.into_iter().map(item).collect(), 0, "there are no tools")
        }
        Receipt::Skills(list) => {
            let mut items: Vec<Item> = list
                .skills
                .into_iter()
                .map(|skill| {
                    // The words can be filtered by.
                    let scope = if skill.from_project { "repo" } else { "user" };
                    text_item(&format!("${} ", skill.name), &format!("{scope} · {}", skill.description))
                })
                .collect();
            if list.truncated {
                items.push(Item {
                    label: "…".to_owned(),
                    detail: "there are more than the runtime tells".to_owned(),
                    more: String::new(),
                    choice: Choice::Nothing,
                    sign: "  ",
                });
            }
            items.extend(list.errors.into_iter().map(|(path, why)| Item {
                label: clean_line(&path),
                detail: format!("could not be read: {}", clean_line(&why)),
                more: format!("{}\n{}", clean_line(&path), clean(&why)),
                choice: Choice::Nothing,
                sign: "✗ ",
            }));
            (items, 0, "no skills: put a SKILL.md into .parlor/skills/NAME/")
        }
        Receipt::Servers(servers) => {
            let item = |server: domain::session::ServerEntry| {
                let (sign, state) = match server.state {
                    ServerState::Disabled => ("  ", "switched off".to_owned()),
                    ServerState::Connecting => ("… ", "connecting".to_owned()),
                    ServerState::Ready => ("✓ ", format!("ready, {} tools", server.tools.unwrap_or(0))),
                    ServerState::Failed(why) => ("✗ ", format!("failed: {}", clean_line(&why))),
                    ServerState::AuthRequired => ("! ", "wants a login".to_owned()),
                };
                let more = format!("{}\n{state}", clean_line(&server.id));
                Item { label: clean_line(&server.id), detail: state, choice: Choice::Nothing, sign, more }
            };
            (servers.into_iter().map(item).collect(), 0, "no MCP servers are set up")
        }
        _ => return,
    };
    if let Some(Overlay::Picker(picker)) = &mut model.screen.overlay
        && picker.kind == of
    {
        picker.fill(items, at, empty);
    }
}

fn model_item(entry: &ModelEntry, current: Option<&ModelRef>) -> Item {
    let dollars = |micros: u64| format!("${}.{:02}", micros / 1_000_000, micros % 1_000_000 / 10_000);
    let mut detail = Vec::new();
    detail.extend(entry.context_window.map(|window| format!("{} context", count(window))));
    if let (Some(input), Some(output)) = (entry.price_input, entry.price_output) {
        detail.push(format!("{} in, {} out per million", dollars(input), dollars(output)));
    }
    Item {
        label: clean_line(&entry.model.to_string()),
        detail: detail.join(" · "),
        choice: Choice::Model(entry.model.provider.clone(), entry.model.name.clone()),
        sign: if current == Some(&entry.model) { "› " } else { "  " },
        more: String::new(),
    }
}

fn text_item(text: &str, detail: &str) -> Item {
    let choice = Choice::Text(text.to_owned());
    let more = beginning(&clean(if detail.is_empty() { text } else { detail }));
    Item { label: clean_line(text), detail: clean_line(detail), choice, sign: "  ", more }
}

fn queue(state: &State) -> Vec<Item> {
    let item = |(kind, waiting): (domain::queue::QueueKind, &domain::queue::Waiting)| Item {
        label: clean_line(&waiting.input.text),
        detail: match kind {
            domain::queue::QueueKind::Steer => "steers next".to_owned(),
            domain::queue::QueueKind::FollowUp => "waits for the end of the turn".to_owned(),
        },
        choice: Choice::Queued(waiting.id),
        sign: "↳ ",
        more: beginning(&clean(&waiting.input.text)),
    };
    state.queues.all().map(item).collect()
}

/// As much of a text as is shown below a list.
fn beginning(text: &str) -> String {
    text.chars().take(MAX_MORE).collect()
}

/// The messages of the session as a tree: a branch is indented under the message it leaves from.
fn tree(state: &State) -> Vec<Item> {
    let mut children: BTreeMap<Option<EntryId>, Vec<EntryId>> = BTreeMap::new();
    for entry in state.entries.values() {
        if !matches!(entry.kind, EntryKind::Notice { .. }) {
            children.entry(entry.parent).or_default().push(entry.id);
        }
    }
    let on_path: std::collections::BTreeSet<EntryId> = state.path().iter().map(|entry| entry.id).collect();
    let mut items = Vec::new();
    let mut stack: Vec<(EntryId, usize)> =
        children.get(&None).into_iter().flatten().rev().map(|id| (*id, 0)).collect();
    while let Some((id, depth)) = stack.pop() {
        let Some(entry) = state.entries.get(&id) else { continue };
        let below = children.get(&Some(id)).map_or(&[][..], Vec::as_slice);
        let next = if below.len() > 1 { depth + 1 } else { depth };
        stack.extend(below.iter().rev().map(|child| (*child, next)));
        let (who, text) = match &entry.kind {
            EntryKind::Message(message) if message.role == Role::User => ("you: ", message.text()),
            EntryKind::Message(message) => {
                let tools = message.tools().filter_map(|id| state.tool(id)).map(|tool| tool.name.clone());
                let text = message.text();
                let said = if text.trim().is_empty() { tools.collect::<Vec<_>>().join(", ") } else { text };
                ("", said)
            }
            EntryKind::Compaction(_) => ("", "older messages as a summary".to_owned()),
            EntryKind::Notice { .. } => continue,
        };
        let label = format!("{}{who}{}", "  ".repeat(depth.min(12)), fit(&clean_line(text.trim()), 200));
        let sign = match (state.leaf == Some(id), on_path.contains(&id)) {
            (true, _) => "› ",
            (false, true) => "│ ",
            (false, false) => "  ",
        };
        let more = beginning(&clean(text.trim()));
        items.push(Item { label, detail: String::new(), choice: Choice::Entry(id), sign, more });
    }
    items
}

/// What comes of a key that went to the list.
pub(super) fn picked(model: &mut Model, picked: Picked, fx: &mut Vec<Fx>) {
    match picked {
        Picked::Nothing => {}
        Picked::Moved => try_on(model),
        Picked::Closed => {
            model.screen.overlay = None;
            model.recolour();
        }
        Picked::Search(words) => {
            if let Some(Overlay::Picker(picker)) = &mut model.screen.overlay {
                picker.found = Some(words.clone());
                picker.fill(Vec::new(), 0, "looking…");
            }
            let (scope, limit) = (ListScope::All, Some(MAX_SESSIONS));
            model.send(
                Want::List(ListKind::Sessions),
                Command::Library(LibraryCommand::List { scope, limit, search: Some(words) }),
                fx,
            );
        }
        Picked::Chosen(choice) => {
            if !matches!(choice, Choice::Tool(..) | Choice::Setting(_)) {
                model.screen.overlay = None;
            }
            choose(model, choice, fx);
        }
        Picked::Drop(choice) => drop_line(model, choice, fx),
    }
}

/// Shows the colours under the cursor before they are taken.
fn try_on(model: &mut Model) {
    if let Some(Overlay::Picker(picker)) = &model.screen.overlay
        && let Some(Choice::Value(Setting::Theme, name)) = picker.under().map(|item| &item.choice)
    {
        model.screen.theme = Theme::named(name).unwrap_or(model.screen.auto);
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
        Choice::Entry(entry) => files::go_back(model, entry, fx),
        Choice::GoBack(entry, with_files) => files::go_with(model, entry, with_files, fx),
        Choice::Model(provider, name) => {
            let command = Command::Session(SessionCommand::SetModel { provider: Some(provider), name });
            model.send(Want::Word("model set"), command, fx);
        }
        Choice::Policy(policy) => commands::set_policy(model, policy, fx),
        Choice::Tool(name, active) => switch_tool(model, &name, !active, fx),
        Choice::Text(text) => {
            if text.starts_with('$') {
                model.screen.composer.insert(&text);
            } else {
                model.screen.composer.set(text);
            }
        }
        Choice::Queued(item) => {
            let waiting = model.world.state().queues.all().find(|(_, waiting)| waiting.id == item);
            let text = waiting.map(|(_, waiting)| waiting.input.text.clone());
            model.send(Want::Nothing, Command::Queue(QueueCommand::Drop { item }), fx);
            text.into_iter().for_each(|text| prompt::give_back(model, &text));
        }
        Choice::Value(setting, value) => model.set(setting, value, fx),
        Choice::Setting(setting) => {
            let value = model.screen.settings.next(setting);
            model.set(setting, value, fx);
            if setting.later() {
                model.toast(Level::Info, format!("{} is {value} from the next start on", setting.name()));
            }
            let items = choices::settings(model);
            if let Some(Overlay::Picker(picker)) = &mut model.screen.overlay {
                let at = picker.cursor;
                picker.fill(items, at, "");
            }
        }
        Choice::Command(line) => {
            commands::execute(model, line, fx);
        }
        Choice::Agent(Ok(name)) => commands::leave(model, Errand::Attach(name), fx),
        Choice::Agent(Err(missing)) => model.toast(Level::Warning, missing),
        Choice::Nothing => {}
    }
}

/// Puts in what was found, if the list is still open.
pub(super) fn fill_agents(model: &mut Model, agents: Vec<AgentLine>) {
    let item = |agent: AgentLine| Item {
        label: clean_line(&agent.name),
        detail: clean_line(&agent.about),
        more: beginning(&clean(&agent.more)),
        sign: if agent.missing.is_none() { "✓ " } else { "  " },
        choice: Choice::Agent(match agent.missing {
            None => Ok(agent.name),
            Some(missing) => Err(clean_line(&missing)),
        }),
    };
    if let Some(Overlay::Picker(picker)) = &mut model.screen.overlay
        && picker.kind == ListKind::Agents
    {
        picker.fill(agents.into_iter().map(item).collect(), 0, "no agent is known");
    }
}

fn switch_tool(model: &mut Model, name: &str, on: bool, fx: &mut Vec<Fx>) {
    let Some(Overlay::Picker(picker)) = &mut model.screen.overlay else { return };
    let mut active = Vec::new();
    for item in &mut picker.items {
        if let Choice::Tool(tool, is_on) = &mut item.choice {
            if tool == name {
                *is_on = on;
                item.sign = if on { "☑ " } else { "☐ " };
            }
            if *is_on {
                active.push(tool.clone());
            }
        }
    }
    let tools = (active.len() < picker.items.len()).then_some(active);
    model.send(Want::Nothing, Command::Session(SessionCommand::SetTools { tools }), fx);
}

fn drop_line(model: &mut Model, choice: Choice, fx: &mut Vec<Fx>) {
    let command = match &choice {
        Choice::Session(session) if model.world.current.as_ref() == Some(session) => {
            return model.toast(Level::Info, "this is the session you are in; go to another one first");
        }
        Choice::Session(session) => Command::Library(LibraryCommand::Delete { session: session.clone() }),
        Choice::Queued(item) => Command::Queue(QueueCommand::Drop { item: *item }),
        _ => return,
    };
    model.send(Want::Gone(choice), command, fx);
}

/// What a line stood for is gone, and so is the line.
pub(super) fn gone(model: &mut Model, choice: &Choice) {
    if let Some(Overlay::Picker(picker)) = &mut model.screen.overlay {
        let items: Vec<Item> = picker.items.iter().filter(|item| item.choice != *choice).cloned().collect();
        let (at, empty) = (picker.cursor, picker.empty.clone());
        picker.fill(items, at, &empty);
    }
    model.toast(Level::Success, "gone");
}
