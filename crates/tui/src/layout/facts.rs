//! The status page: where the session stands, in numbers.

use super::appearance;
use crate::clean::clean_line;
use crate::figures::{cost, count, counted, money, window};
use crate::model::Model;
use crate::policy::policy_told;
use crate::row::{Row, wrap};
use crate::theme::Role;
use domain::event::{CACHE_LOST, PERCENTS};
use domain::port::menu::OptionKind;
use domain::queue::{Mode, Queues};
use domain::session::Budget;
use domain::state::{EntryKind, State};

/// How many waiting texts a turn takes of each queue, in words.
pub(crate) fn queue_modes(queues: &Queues) -> String {
    let word = |mode: Mode| match mode {
        Mode::OneAtATime => "one at a time",
        Mode::All => "all at once",
    };
    match (queues.steer_mode, queues.follow_up_mode) {
        (steers, queued) if steers == queued => format!("sent {}", word(queued)),
        (steers, queued) => format!("steering is sent {}, the queue {}", word(steers), word(queued)),
    }
}

/// Why a figure is marked as a guess.
const ROUGH_USAGE: &str =
    " (~: a provider told no count for some of it, or the price is that of a related model)";
const ROUGH_CONTEXT: &str = " (~: the window is that of a related model, or the tokens are counted by size until the model answers again)";

/// How often the provider had lost what was sent before, and the last time in words.
fn cache_lost(state: &State) -> Option<String> {
    let lost = state.entries.values().filter_map(|entry| match &entry.kind {
        EntryKind::Notice { code, text, .. } if code == CACHE_LOST => Some(text),
        EntryKind::Notice { .. } | EntryKind::Message(_) | EntryKind::Compaction(_) => None,
    });
    let lost: Vec<&String> = lost.collect();
    let last = clean_line(lost.last()?);
    Some(if lost.len() == 1 { last } else { format!("lost {} times; the last: {last}", lost.len()) })
}

/// The lines of the page about the session.
pub(super) fn rows(model: &Model) -> Vec<Row> {
    let look = appearance(model);
    let seen = model.world.seen();
    let state = &seen.state;
    let stats = state.stats();
    let mut facts: Vec<(&str, String)> = vec![
        ("session", model.world.current.as_ref().map_or("none".to_owned(), ToString::to_string)),
        ("title", clean_line(&state.title())),
        ("folder", clean_line(&state.settings.cwd)),
        (
            "project",
            clean_line(Some(&state.settings.project).filter(|p| **p != state.settings.cwd).map_or("", |p| p)),
        ),
        ("runtime", clean_line(&seen.abilities.name)),
    ];
    // Its own programs go to the session by that name.
    let named_there = state.settings.origin.as_ref().and_then(|origin| origin.session.as_deref());
    facts.extend(named_there.map(|name| ("its id", clean_line(name))));
    facts.extend(seen.model_name().map(|model| ("model", clean_line(&model))));
    let theirs = seen.abilities.menu.options.iter().filter(|option| option.kind != OptionKind::Model);
    facts
        .extend(theirs.map(|option| ("option", clean_line(&format!("{}: {}", option.name, option.shown())))));
    facts.extend(policy_told(seen).map(|policy| ("mode", policy)));
    let (runs, tools) = (counted(stats.runs, "run"), counted(stats.tools, "tool run"));
    facts.push(("messages", format!("{} in {runs}, {tools}", stats.messages)));
    // What nobody told is left out: it is not zero.
    if stats.usage.total() > 0 {
        let usage = &stats.usage;
        let read = count(usage.input);
        let cached = match usage.cache_read {
            0 => String::new(),
            cached => {
                let share = usage.cached_percent().unwrap_or(0);
                format!(" ({} from the provider's cache, {share}%)", count(cached))
            }
        };
        let rough = if usage.rough { ROUGH_USAGE } else { "" };
        let written = count(usage.output);
        let mark = if usage.rough { "~" } else { "" };
        facts.push(("tokens", format!("{mark}{read} in{cached}, {written} out{rough}")));
    }
    if stats.usage.cost_micros > 0 {
        facts.push(("cost", cost(stats.usage)));
    }
    facts.extend(cache_lost(state).map(|told| ("cache", told)));
    facts.extend(budget_told(state).map(|told| ("budget", told)));
    if let Some((used, most)) = state.context {
        let left = state.context_left().unwrap_or(0);
        let (rough, why) = if state.context_rough { ("~", ROUGH_CONTEXT) } else { ("", "") };
        let is_percent = most == PERCENTS;
        let (used, most) = (count(used), window(most));
        let tokens = if is_percent { String::new() } else { format!("{rough}{used} of {most} used, ") };
        facts.push(("context", format!("{tokens}{rough}{left}% left{why}")));
    }
    match &state.settings.tools {
        Some(tools) => facts.push(("tools", clean_line(&tools.join(", ")))),
        None if seen.abilities.list_tools => facts.push(("tools", "all".to_owned())),
        None => {}
    }
    facts.push(("queue", queue_modes(&state.queues)));
    let can = &seen.abilities;
    let able = [
        ("steer", can.steer),
        ("follow-up", can.follow_up),
        ("cancel", can.cancel),
        ("list sessions", can.sessions),
        ("go to a session", can.open_session),
        ("begin a session", can.new_session),
        ("delete a session", can.delete_session),
        ("rename", can.rename_session),
        ("clear", can.clear),
        ("branch", can.branch),
        ("go back", can.go_back),
        ("compact", can.compact),
        ("list models", can.models),
        ("switch models", can.set_model),
        ("list tools", can.list_tools),
        ("switch tools", can.set_tools),
        ("mcp", can.servers),
        ("skills", can.skills),
        ("extensions", can.extensions),
        ("save to a file", can.save),
        ("ask for consent", can.consent),
        ("keep a policy of ours", can.policy),
        ("think harder or less hard", can.effort),
    ];
    let words: Vec<&str> = able.iter().filter(|(_, can)| !can).map(|(name, _)| *name).collect();
    if !words.is_empty() {
        facts.push(("it cannot", words.join(", ")));
    }
    // Nor is what has no name.
    facts.retain(|(_, value)| !value.is_empty());
    let mut rows = Vec::new();
    for (name, value) in facts {
        let lead = look.piece(format!("{name:<10}"), Role::Dim);
        let rest = look.piece(" ".repeat(10), Role::Dim);
        rows.extend(wrap(&[look.piece(value, Role::Text)], look.columns, &lead, &rest));
    }
    rows
}

/// What may be spent and what was, in one line; `None` where the session has no budget of its own.
pub(crate) fn budget_told(state: &State) -> Option<String> {
    let (budget, usage) = (state.settings.budget, state.usage);
    if budget == Budget::default() {
        return None;
    }
    let mut told = Vec::new();
    match budget.max_cost_micros {
        Some(0) => told.push("no bound on cost".to_owned()),
        // Nothing was paid for what was said: nobody told a price.
        Some(most) if usage.total() > 0 && usage.cost_micros == 0 => {
            told.push(format!("cost cannot be counted (the price is not known), bound {}", money(most)));
        }
        Some(most) => {
            let rough = if usage.rough { "~" } else { "" };
            told.push(format!("{rough}{} of {} spent", money(usage.cost_micros), money(most)));
        }
        None => {}
    }
    match budget.max_steps {
        Some(0) => told.push("no bound on steps".to_owned()),
        Some(most) => {
            let turns = state.runs.last().map(|run| run.turns.as_slice()).unwrap_or_default();
            let steps: usize = turns.iter().map(|turn| turn.steps.len()).sum();
            told.push(format!("{steps} of {most} steps for one prompt"));
        }
        None => {}
    }
    match budget.max_time_s {
        Some(0) => told.push("no bound on time".to_owned()),
        Some(most) => told.push(format!("{most} s for one prompt")),
        None => {}
    }
    Some(told.join(", "))
}
