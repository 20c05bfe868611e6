//! The status page: where the session stands, in numbers.

use super::policy::policy_told;
use super::{appearance, bottom};
use crate::cell::count;
use crate::clean::clean_line;
use crate::model::Model;
use crate::row::{Row, wrap};
use crate::theme::Role;
use domain::queue::{Mode, Queues};

/// How many waiting texts a turn takes of each queue, in words.
pub(crate) fn queue_modes(queues: &Queues) -> String {
    let word = |mode: Mode| match mode {
        Mode::OneAtATime => "one at a time",
        Mode::All => "all at once",
    };
    format!("steers {}, follow-ups {}", word(queues.steer_mode), word(queues.follow_up_mode))
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
        ("project", clean_line(&state.settings.project)),
        ("runtime", clean_line(&seen.abilities.name)),
        (
            "model",
            state
                .settings
                .model
                .as_ref()
                .map_or("the runtime's own".to_owned(), |m| clean_line(&m.to_string())),
        ),
    ];
    facts.extend(policy_told(seen).map(|policy| ("policy", policy)));
    facts.push(("messages", format!("{} in {} runs, {} tool runs", stats.messages, stats.runs, stats.tools)));
    // What nobody told is left out: it is not zero.
    if stats.usage.total() > 0 {
        let usage = &stats.usage;
        let (read, cached) = (count(usage.input), count(usage.cache_read));
        let rough = if usage.rough { " (estimated in part)" } else { "" };
        let written = count(usage.output);
        facts.push(("tokens", format!("{read} in ({cached} from cache), {written} out{rough}")));
    }
    if stats.usage.cost_micros > 0 {
        facts.push(("cost", bottom::cost(stats.usage)));
    }
    if let Some((used, window)) = state.context {
        let left = state.context_left().unwrap_or(0);
        facts.push(("context", format!("{} of {} used, {left}% left", count(used), count(window))));
    }
    match &state.settings.tools {
        Some(tools) => facts.push(("tools", clean_line(&tools.join(", ")))),
        None if seen.abilities.list_tools => facts.push(("tools", "all".to_owned())),
        None => {}
    }
    facts.push(("queues", queue_modes(&state.queues)));
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
        ("take another model", can.set_model),
        ("list tools", can.list_tools),
        ("switch tools", can.set_tools),
        ("mcp", can.servers),
        ("skills", can.skills),
        ("extensions", can.extensions),
        ("save to a file of its own", can.save),
        ("ask for consent", can.consent),
        ("keep a policy of ours", can.policy),
        ("think harder or less hard", can.effort),
    ];
    let words: Vec<&str> = able.iter().filter(|(_, can)| !can).map(|(name, _)| *name).collect();
    let word = if words.is_empty() { "nothing".to_owned() } else { words.join(", ") };
    facts.push(("it cannot", word));
    let mut rows = Vec::new();
    for (name, value) in facts {
        let lead = look.piece(format!("{name:<10}"), Role::Dim);
        let rest = look.piece(" ".repeat(10), Role::Dim);
        rows.extend(wrap(&[look.piece(value, Role::Text)], look.columns, &lead, &rest));
    }
    rows
}
