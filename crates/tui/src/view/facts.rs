//! The status page: where the session stands, in numbers.

use super::{appearance, bottom};
use crate::cell::count;
use crate::clean::clean_line;
use crate::model::Model;
use crate::row::{Row, wrap};
use crate::theme::Role;

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
        ("policy", bottom::policy_word(state.settings.policy).0.to_owned()),
        ("messages", format!("{} in {} runs, {} tool runs", stats.messages, stats.runs, stats.tools)),
        (
            "tokens",
            format!(
                "{} in ({} from cache), {} out",
                count(stats.usage.input),
                count(stats.usage.cache_read),
                count(stats.usage.output)
            ),
        ),
        ("cost", bottom::money(stats.usage.cost_micros)),
    ];
    if let Some((used, window)) = state.context {
        let left = state.context_left().unwrap_or(0);
        facts.push(("context", format!("{} of {} used, {left}% left", count(used), count(window))));
    }
    let tools = state.settings.tools.as_ref().map_or("all".to_owned(), |tools| clean_line(&tools.join(", ")));
    facts.push(("tools", tools));
    let can = &seen.abilities;
    let able = [
        ("steer", can.steer),
        ("follow-up", can.follow_up),
        ("cancel", can.cancel),
        ("sessions", can.sessions),
        ("branch", can.branch),
        ("models", can.models),
        ("mcp", can.servers),
        ("skills", can.skills),
        ("consent", can.consent),
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
