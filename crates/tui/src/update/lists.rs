//! Pickers: what fills them.

use super::{choices, copies, options, ports, rules, servers};
use crate::clean::{clean, clean_line};
use crate::commands::is_command;
use crate::figures::{ago, counted, window};
use crate::keymap::Action;
use crate::layout::fleet_sign;
use crate::model::{Model, Want};
use crate::msg::{AgentLine, FleetWish, Fx};
use crate::picker::{CURRENT, Choice, ELSEWHERE, HERE, Hint, IN_USE, Item, ListKind, Picker};
use crate::row::fit;
use crate::world::SessionView;
use domain::command::{Command, LibraryCommand, ListCommand, ListScope, Receipt};
use domain::content::Role;
use domain::event::Outcome;
use domain::fleet::Status;
use domain::ids::{EntryId, SessionId};
use domain::session::{ModelEntry, ModelRef, SessionSummary};
use domain::signal::Level;
use domain::state::{EntryKind, State};
use std::collections::BTreeMap;

/// Sessions listed at most.
const MAX_SESSIONS: u64 = 500;

/// Characters shown below a list of what the cursor stands on.
const MAX_MORE: usize = 2_000;

/// Columns of a message in a list at most.
const MAX_LINE: usize = 200;

/// What the keys do in a list whose lines cannot be chosen.
const ONLY_READ: &[Hint] = &[("read-only", "read-only")];
/// The same where Enter takes what is under the cursor.
const SELECTS: &[Hint] = &[("Enter selects it", "Enter selects")];

/// Opens a list; what it holds may come later.
pub(super) fn open(model: &mut Model, of: ListKind, fx: &mut Vec<Fx>) {
    let can = &model.world.seen().abilities;
    let (title, hints): (_, &[Hint]) = match of {
        ListKind::Sessions if !can.open_session => ("Sessions", ONLY_READ),
        ListKind::Sessions if can.delete_session => {
            ("Sessions", &[("Enter opens it", "Enter opens"), ("Del twice deletes it", "Del twice deletes")])
        }
        ListKind::Sessions => ("Sessions", &[("Enter opens it", "Enter opens")]),
        ListKind::Search => ("Search all sessions", SELECTS),
        ListKind::Tree if can.go_back => (
            "Messages and branches",
            &[("Enter goes back there: a prompt can be said differently", "Enter goes back there")],
        ),
        ListKind::Tree => ("Messages", ONLY_READ),
        ListKind::Models if !can.set_model => {
            ("Models", &[("read-only: the runtime is started with its model", "read-only")])
        }
        ListKind::Models => ("Models", SELECTS),
        ListKind::Policies => ("What may run without asking", SELECTS),
        ListKind::Rules => (
            "What you have allowed",
            &[("Enter narrows the rule", "Enter narrows it"), ("Del twice revokes it", "Del twice revokes")],
        ),
        ListKind::Ports => (
            "Ports that commands listen on",
            &[("Enter opens the port on this machine, or closes it", "Enter opens or closes it")],
        ),
        ListKind::Devices => (
            "Devices of the page",
            &[
                ("Enter allows the one that asks", "Enter allows who asks"),
                ("Del twice revokes or denies", "Del twice revokes"),
            ],
        ),
        ListKind::Tools if !can.set_tools => ("Tools", ONLY_READ),
        ListKind::Tools => ("Tools", &[("Enter switches it on or off", "Enter switches it")]),
        ListKind::Skills => ("Skills", &[("Enter puts it into your prompt", "Enter inserts")]),
        ListKind::Servers if !can.policy => ("MCP servers", ONLY_READ),
        ListKind::Servers => (
            "MCP servers",
            &[("Enter changes what it may reach, and starts the server again", "Enter changes its reach")],
        ),
        ListKind::History => ("Earlier prompts", &[("Enter puts it into the composer", "Enter inserts")]),
        ListKind::Queue => (
            "What is queued",
            &[("Enter puts it back to edit", "Enter edits"), ("Del twice deletes it", "Del twice deletes")],
        ),
        ListKind::Themes => ("Theme", &[("Enter selects and saves it", "Enter selects")]),
        ListKind::Settings => ("Settings", &[("Enter changes it", "Enter changes it")]),
        ListKind::Options => ("Options of the agent", &[("Enter shows its values", "Enter shows values")]),
        ListKind::OptionValues => ("Values", SELECTS),
        ListKind::GoBack => ("Go back there with", SELECTS),
        ListKind::Copies => ("What to copy", &[("Enter copies it", "Enter copies it")]),
        ListKind::Providers => ("Whose API key do you have?", &[("Enter asks for its key", "Enter selects")]),
        ListKind::Agents => (
            "Agents",
            &[(
                "Enter goes on with it, and tells it what was said here; its first start is asked",
                "Enter goes on with it",
            )],
        ),
    };
    let takes_away = match of {
        ListKind::Sessions => can.delete_session,
        ListKind::Queue | ListKind::Rules | ListKind::Devices => true,
        ListKind::Tree
        | ListKind::Search
        | ListKind::Models
        | ListKind::Policies
        | ListKind::Tools
        | ListKind::Skills
        | ListKind::Servers
        | ListKind::Ports
        | ListKind::History
        | ListKind::Themes
        | ListKind::Settings
        | ListKind::GoBack
        | ListKind::Copies
        | ListKind::Options
        | ListKind::OptionValues
        | ListKind::Providers
        | ListKind::Agents => false,
    };
    let settings = &model.screen.start.about().settings;
    let picker = Picker::new(of, title, hints).kept_in(if of == ListKind::Settings { settings } else { "" });
    let mut picker = if takes_away { picker.taking_away() } else { picker };
    let command = match of {
        ListKind::Sessions if !can.sessions => {
            picker.fill(
                seen_here(model),
                0,
                "there is no other session yet; /sessions ID goes to one that you know",
            );
            None
        }
        ListKind::Sessions => Some(sessions(None)),
        // Its command goes with what is to be done first.
        ListKind::Rules | ListKind::Ports => None,
        ListKind::Devices => {
            fx.push(Fx::Fleet(FleetWish::Devices));
            None
        }
        ListKind::Models => Some(Command::List(ListCommand::Models { provider: None })),
        ListKind::Tools => Some(Command::List(ListCommand::Tools)),
        ListKind::Skills => Some(Command::List(ListCommand::Skills { cwd: None, reload: true })),
        ListKind::Servers => Some(Command::List(ListCommand::Servers)),
        ListKind::Tree => {
            let items = tree(model.world.state());
            let last = items.iter().position(|item| item.sign == CURRENT).unwrap_or(items.len());
            picker.fill(items, last, "nothing was said yet");
            None
        }
        ListKind::Policies => {
            let items = choices::policies(model.world.seen());
            let at = items.iter().position(|item| item.sign == CURRENT).unwrap_or(0);
            picker.fill(items, at, "");
            None
        }
        ListKind::History => {
            let prompts = model.screen.composer.prompts();
            let said = prompts.iter().filter(|prompt| !is_command(prompt.trim()));
            let items = said.map(|prompt| text_item(prompt, "")).collect();
            picker.fill(items, 0, "nothing was said yet");
            None
        }
        ListKind::Queue => {
            picker.fill(queue(model.world.state()), 0, "nothing is queued");
            None
        }
        ListKind::Themes => {
            let items = choices::themes(model);
            let at = items.iter().position(|item| item.sign == CURRENT).unwrap_or(0);
            picker.fill(items, at, "");
            None
        }
        ListKind::Settings => {
            picker.fill(choices::settings(model), 0, "");
            None
        }
        ListKind::Options => {
            picker.fill(options::items(&can.menu.options), 0, "this agent has nothing that can be set");
            None
        }
        ListKind::GoBack | ListKind::OptionValues | ListKind::Search => None,
        ListKind::Copies => {
            picker.fill(copies::items(model), 0, "there is nothing to copy yet");
            None
        }
        ListKind::Agents => {
            fx.push(Fx::FindAgents);
            None
        }
        ListKind::Providers => {
            fx.push(Fx::FindProviders);
            None
        }
    };
    model.screen.over.choose(picker);
    if let Some(command) = command {
        model.send(Want::List(of), command, fx);
    }
}

/// Asks for all sessions, or for those in which these words were said.
pub(super) fn sessions(search: Option<String>) -> Command {
    Command::Library(LibraryCommand::List { scope: ListScope::All, limit: Some(MAX_SESSIONS), search })
}

/// The sessions that were seen since this UI is here, where the runtime lists none.
fn seen_here(model: &Model) -> Vec<Item> {
    let item = |(id, seen): (&SessionId, &SessionView)| {
        let title = clean_line(&seen.state.title());
        Item {
            cells: Vec::new(),
            more: String::new(),
            label: title,
            detail: id.to_string(),
            choice: Choice::Session(id.clone()),
            sign: if model.world.current.as_ref() == Some(id) { CURRENT } else { "  " },
        }
    };
    model.world.sessions.iter().map(item).collect()
}

/// Goes to the next of the sessions that were seen, or to the one before.
pub(super) fn next_session(model: &mut Model, back: bool, fx: &mut Vec<Fx>) {
    let ids: Vec<_> = model.world.sessions.keys().cloned().collect();
    let at = model.world.current.as_ref().and_then(|current| ids.iter().position(|id| id == current));
    let Some(at) = at.filter(|_| ids.len() > 1) else {
        let key = model.screen.preferences.keymap().shown(Action::Sessions);
        return model.toast(Level::Info, format!("there is no other session open; {key} lists them all"));
    };
    let next = if back { (at + ids.len() - 1) % ids.len() } else { (at + 1) % ids.len() };
    model.send(Want::Nothing, Command::Library(LibraryCommand::Open { session: ids[next].clone() }), fx);
}

/// What a list asked for is here.
pub(super) fn fill(model: &mut Model, of: ListKind, receipt: Receipt) {
    let now = model.screen.window.now();
    let current = model.world.current.clone();
    let unread =
        |summary: &SessionSummary| model.world.sessions.get(&summary.id).is_some_and(|seen| seen.unread);
    // Another program's runtime may tell neither how a session stands nor what is in it: nothing is said then.
    let is_theirs = !model.world.seen().abilities.policy;
    // As in the fleet, which knows more where it is told.
    let status = |summary: &SessionSummary| {
        let here = model.world.sessions.get(&summary.id).map_or(0, |seen| seen.state.asks.len());
        let row = model.screen.fleet.rows().iter().find(|row| row.session.as_ref() == Some(&summary.id));
        match (row.map(|row| row.status.clone()), summary.outcome.as_deref()) {
            _ if here > 0 => Some(Status::Waiting { asks: here as u64, question: String::new(), ask: None }),
            (Some(status @ Status::Waiting { .. }), _) => Some(status),
            _ if summary.running => Some(Status::Running),
            (_, Some(outcome)) => Some(Status::Ended(outcome.clone())),
            (Some(status), None) => Some(status),
            // The one on the screen is open, and no more is known of it.
            (None, None) => (!is_theirs && Some(&summary.id) != current.as_ref()).then_some(Status::Kept),
        }
    };
    let own = model.screen.start.here().fleet.map(|fleet| fleet.pid);
    let holder = |session: &SessionId| {
        let row = model.screen.fleet.rows().iter().find(|row| row.session.as_ref() == Some(session));
        row.and_then(|row| row.pid)
    };
    // In front of our own runtime those of other programs are gone on with there.
    let goes_on = model.screen.start.here().exits && model.world.seen().abilities.policy;
    let mut title = None;
    let (items, at, empty) = match receipt {
        Receipt::Sessions(sessions) => {
            let at = sessions.iter().position(|s| Some(&s.id) == current.as_ref()).unwrap_or(0);
            let item = |session: &SessionSummary| {
                let status = status(session);
                let (age, told) = (ago(now, session.updated_at), session.messages > 0 || !is_theirs);
                let said = if told { counted(session.messages, "message") } else { String::new() };
                // What matters most stands first: on a narrow screen the rest is told below the list.
                let prompt = session.last_prompt.as_deref().map(clean_line).unwrap_or_default();
                let cells = vec![status.as_ref().map_or("", Status::shown).to_owned(), age, said, prompt];
                let told = cells.iter().filter(|cell| !cell.is_empty()).map(String::as_str);
                let detail = told.collect::<Vec<_>>().join(" · ");
                // What was not read yet is told where nothing else is to be looked at.
                let sign = match status {
                    Some(Status::Ended(Outcome::Done) | Status::Kept) if unread(session) => "* ",
                    Some(status) => fleet_sign(&status).0,
                    None if Some(&session.id) == current.as_ref() => CURRENT,
                    None => "  ",
                };
                let last = session.last_prompt.as_deref().map(of_several).unwrap_or_default();
                let (title, runtime) = match &session.origin {
                    // One of another program, which goes on there.
                    Some(origin) => (
                        clean_line(&format!("[{}] {}", origin.dialect, session.title)),
                        format!("\nwith {}", clean_line(&origin.place.typed())),
                    ),
                    None => (clean_line(&session.title), String::new()),
                };
                let more = format!(
                    "{}{runtime}\n{}, begun {}{}",
                    clean_line(&session.cwd),
                    session.id,
                    ago(now, session.created_at),
                    if last.is_empty() { String::new() } else { format!("\n\n{last}") }
                );
                let choice = match &session.origin {
                    Some(_) if goes_on => Choice::Elsewhere(session.id.clone()),
                    _ => Choice::Session(session.id.clone()),
                };
                let here = match holder(&session.id) {
                    _ if Some(&session.id) == current.as_ref() => HERE,
                    Some(pid) if own.is_some_and(|own| own != pid) => ELSEWHERE,
                    Some(_) | None => "",
                };
                Item { label: format!("{title}{here}"), detail, cells, choice, sign, more }
            };
            (sessions.iter().map(item).collect::<Vec<_>>(), at, "there is no other session yet")
        }
        Receipt::Models { models, current } => {
            let at = models.iter().position(|m| Some(&m.model) == current.as_ref()).unwrap_or(0);
            let menu = &model.world.seen().abilities.menu;
            // Where none has a price, that is nothing to be told of each.
            let priced =
                models.iter().any(|m| m.price_input.zip(m.price_output).is_some_and(|p| p != (0, 0)));
            title = priced.then_some(PRICED);
            let item = |m: &ModelEntry| {
                let (unknown, mut item) = (!is_priced(m), model_item(m, current.as_ref()));
                if let Some(named) = menu.model(&m.model) {
                    item.detail = told(&[
                        if item.sign == CURRENT { "in use" } else { "" },
                        &clean_line(named.about.as_deref().unwrap_or_default()),
                        &std::mem::replace(&mut item.label, clean_line(&named.name)),
                    ]);
                }
                if priced && unknown {
                    item.detail = told(&[item.detail.as_str(), "price not known"]);
                }
                item
            };
            (models.iter().map(item).collect(), at, "no model is known")
        }
        Receipt::Tools(tools) => {
            let item = |tool: domain::session::ToolEntry| Item {
                cells: Vec::new(),
                label: clean_line(&tool.name),
                detail: format!("{} · {}", clean_line(&tool.source), clean_line(&tool.description)),
                more: of_several(&tool.description),
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
                    cells: Vec::new(),
                    label: "…".to_owned(),
                    detail: "there are more than the runtime tells".to_owned(),
                    more: String::new(),
                    choice: Choice::Nothing,
                    sign: "  ",
                });
            }
            items.extend(list.errors.into_iter().map(|(path, why)| Item {
                cells: Vec::new(),
                label: clean_line(&path),
                detail: format!("could not be read: {}", clean_line(&why)),
                more: of_several(&why),
                choice: Choice::Nothing,
                sign: "✗ ",
            }));
            (items, 0, "no skills: put a SKILL.md into .parlor/skills/NAME/")
        }
        Receipt::Servers(servers) => (servers::items(servers), 0, "no MCP servers are set up"),
        Receipt::Extension(json) if of == ListKind::Rules => {
            (rules::items(&json), 0, "nothing was allowed for longer than once yet: a question offers it")
        }
        Receipt::Extension(json) if of == ListKind::Ports => (ports::items(&json), 0, ports::NOBODY),
        _ => return,
    };
    if let Some(picker) = model.screen.over.list_mut().filter(|picker| picker.kind() == of) {
        // What was switched in it is told again: the cursor stays on it.
        let is_switched = matches!(of, ListKind::Servers | ListKind::Ports);
        match is_switched && picker.all().count() == items.len() && !items.is_empty() {
            true => picker.refill(items),
            false => picker.fill(items, at, empty),
        }
        title.into_iter().for_each(|title| picker.call(title));
    }
}

/// Puts lines into a list, if it is still open.
pub(super) fn put(model: &mut Model, of: ListKind, items: Vec<Item>, empty: &str) {
    if let Some(picker) = model.screen.over.list_mut().filter(|picker| picker.kind() == of) {
        picker.fill(items, 0, empty);
    }
}

/// The first line of the models, where prices stand beside them.
const PRICED: &str = "Models · prices per 1M tokens";

/// Provider and name of the model that is built in, for trying things without a key.
const OFFLINE: &str = "offline";

/// Parts that are there, with dots between them.
fn told(parts: &[&str]) -> String {
    parts.iter().filter(|part| !part.is_empty()).copied().collect::<Vec<_>>().join(" · ")
}

/// Whether the model is the one that is built in.
fn is_built_in(entry: &ModelEntry) -> bool {
    entry.model.provider == OFFLINE && entry.model.name == OFFLINE
}

/// Whether it is known what the model costs.
fn is_priced(entry: &ModelEntry) -> bool {
    is_built_in(entry) || entry.price_input.is_some() && entry.price_output.is_some()
}

/// What is told of a model; of how many tokens its prices are stands behind them.
pub(super) fn model_told(entry: &ModelEntry, per: &str) -> String {
    let dollars = |micros: u64| format!("${}.{:02}", micros / 1_000_000, micros % 1_000_000 / 10_000);
    let context = entry.context_window.map(|tokens| format!("{} context", window(tokens)));
    let price = match entry.price_input.zip(entry.price_output) {
        _ if is_built_in(entry) => "free: built in, needs no key".to_owned(),
        Some((0, 0)) => "free".to_owned(),
        Some((input, output)) => format!("{} in, {} out{per}", dollars(input), dollars(output)),
        None => String::new(),
    };
    told(&[&context.unwrap_or_default(), &price])
}

/// A model with what is told of it; the one in use is marked.
pub(super) fn model_item(entry: &ModelEntry, current: Option<&ModelRef>) -> Item {
    let current = current == Some(&entry.model);
    Item {
        cells: Vec::new(),
        label: clean_line(&entry.model.to_string()),
        detail: format!("{}{}", if current { IN_USE } else { "" }, model_told(entry, "")),
        choice: Choice::Model(entry.model.provider.clone(), entry.model.name.clone()),
        sign: if current { CURRENT } else { "  " },
        more: String::new(),
    }
}

fn text_item(text: &str, detail: &str) -> Item {
    let choice = Choice::Text(text.to_owned());
    let more = of_several(if detail.is_empty() { text } else { detail });
    Item { cells: Vec::new(), label: clean_line(text), detail: clean_line(detail), choice, sign: "  ", more }
}

fn queue(state: &State) -> Vec<Item> {
    let item = |(kind, waiting): (domain::queue::QueueKind, &domain::queue::Waiting)| Item {
        cells: Vec::new(),
        label: clean_line(&waiting.input.text),
        detail: match kind {
            domain::queue::QueueKind::Steer => "steers next".to_owned(),
            domain::queue::QueueKind::FollowUp => "queued".to_owned(),
        },
        choice: Choice::Queued(waiting.id),
        sign: "↳ ",
        more: of_several(&waiting.input.text),
    };
    state.queues.all().map(item).collect()
}

/// As much of a text as is shown below a list, where it is more than its line there tells.
pub(super) fn of_several(text: &str) -> String {
    let more = text.trim().contains('\n') || crate::row::width(text) > MAX_LINE;
    if more { beginning(&clean(text)) } else { String::new() }
}

/// As much of a text as is shown below a list.
pub(super) fn beginning(text: &str) -> String {
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
        let label = format!("{}{who}{}", "  ".repeat(depth.min(12)), fit(&clean_line(text.trim()), MAX_LINE));
        let sign = match (state.leaf == Some(id), on_path.contains(&id)) {
            (true, _) => CURRENT,
            (false, true) => "│ ",
            (false, false) => "  ",
        };
        let more = of_several(text.trim());
        items.push(Item {
            cells: Vec::new(),
            label,
            detail: String::new(),
            choice: Choice::Entry(id),
            sign,
            more,
        });
    }
    items
}

/// Puts in what was found, if the list is still open.
pub(super) fn fill_agents(model: &mut Model, agents: Vec<AgentLine>) {
    let item = |agent: AgentLine| Item {
        cells: Vec::new(),
        label: clean_line(&agent.name),
        detail: clean_line(&agent.about),
        more: beginning(&clean(&agent.more)),
        sign: if agent.missing.is_none() { "✓ " } else { "  " },
        choice: Choice::Agent(match agent.missing {
            None => Ok(agent.name),
            Some(missing) => Err(clean_line(&missing)),
        }),
    };
    if let Some(picker) = model.screen.over.list_mut().filter(|picker| picker.kind() == ListKind::Agents) {
        picker.fill(agents.into_iter().map(item).collect(), 0, "no agent is known");
    }
}
