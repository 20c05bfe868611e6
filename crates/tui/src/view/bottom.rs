//! Below the transcript: what goes on, the composer, the status line.

use super::{appearance, composer_columns, hints};
use crate::ask::{Keyboard, keyboard};
use crate::cell::{count, duration, level_role};
use crate::clean::clean_line;
use crate::composer::lay_out;
use crate::keymap::Action;
use crate::model::{Model, Ran};
use crate::row::{Links, Piece, Row, draw, fit, width, wrap_text};
use crate::theme::Role;
use crate::transcript::Scroll;
use domain::content::Usage;
use domain::event::PlanState;
use domain::port::LinkState;
use domain::queue::{Mode, QueueKind};
use domain::signal::WidgetPlace;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};

/// Lines of the plan shown at most.
const MAX_PLAN: usize = 6;
/// Waiting inputs shown at most.
const MAX_QUEUE: usize = 4;
/// Columns of a toast at most.
const MAX_TOAST: usize = 60;
/// Rows of a toast at most.
const MAX_TOAST_ROWS: usize = 4;
/// Rows of the banner that tells of a lost runtime.
const MAX_BANNER: usize = 3;
/// Lines of widgets shown at most.
const MAX_WIDGET: usize = 6;
const SPINNER: &[&str] = &["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];

/// What stands between transcript and composer.
pub(super) fn middle(model: &Model) -> Vec<Row> {
    let look = appearance(model);
    let mut rows = Vec::new();
    if let LinkState::Lost(why) = &model.world.link {
        let (why, said) = why.split_once('\n').unwrap_or((why, ""));
        let text = format!("✗ the runtime is gone: {}", clean_line(why));
        let lines = wrap_text(&text, look.columns, look.theme.style(Role::Bad));
        rows.extend(lines.into_iter().take(MAX_BANNER));
        rows.extend(last_words(model, said));
    }
    rows.extend(plan(model));
    rows.extend(widgets(model, WidgetPlace::Above));
    rows.extend(working(model));
    rows.extend(queue(model));
    rows.extend(hints::rows(model));
    rows
}

/// What a runtime that is gone said last, as much as half of the screen holds; all of it is among the notices.
fn last_words(model: &Model, said: &str) -> Vec<Row> {
    let look = appearance(model);
    let room = usize::from(model.screen.size.1 / 2);
    let lines: Vec<&str> = said.lines().collect();
    let shown = lines.iter().skip(lines.len().saturating_sub(room));
    shown
        .map(|line| {
            let text = format!("  {}", clean_line(line));
            Row::of(fit(&text, look.columns), look.theme.style(Role::Dim))
        })
        .collect()
}

/// Widgets that stand below the composer.
pub(super) fn below(model: &Model) -> Vec<Row> {
    widgets(model, WidgetPlace::Below)
}

fn widgets(model: &Model, where_to: WidgetPlace) -> Vec<Row> {
    let look = appearance(model);
    let of_place = model.world.seen().board.widgets.values().filter(|(place, _)| *place == where_to);
    let lines = of_place.flat_map(|(_, lines)| lines.iter().take(MAX_WIDGET));
    lines.map(|line| Row::of(fit(&clean_line(line), look.columns), look.theme.style(Role::Text))).collect()
}

/// Words that show for a while, over the last rows of the transcript: they come and go without moving anything.
pub(super) fn toasts(model: &Model, area: Rect, buf: &mut Buffer, links: &mut Links) {
    let theme = model.screen.theme;
    let columns = usize::from(area.width.saturating_sub(4));
    let mut y = area.bottom();
    for toast in model.screen.toasts.iter().rev() {
        let lines = wrap_text(&toast.text, columns.min(MAX_TOAST), theme.style(level_role(toast.level)));
        for line in lines.into_iter().take(MAX_TOAST_ROWS).rev() {
            let Some(row) = y.checked_sub(1).filter(|row| *row >= area.y) else { return };
            y = row;
            let wide = u16::try_from(line.width() + 3).unwrap_or(u16::MAX).min(area.width);
            let x = area.right() - wide;
            (x..area.right()).for_each(|x| buf[(x, y)].reset());
            links.retain(|(at, _, to, _)| *at != y || *to <= x);
            let line = line.after("▏ ", theme.style(level_role(toast.level)));
            draw(&line, Position::new(x, y), wide, buf, links);
        }
    }
}

fn plan(model: &Model) -> Vec<Row> {
    let look = appearance(model);
    let items = &model.world.state().plan;
    if items.is_empty() || items.iter().all(|item| item.state == PlanState::Done) {
        return Vec::new();
    }
    let first = items.iter().position(|item| item.state != PlanState::Done).unwrap_or(0).saturating_sub(1);
    let mut rows = Vec::new();
    for item in items.iter().skip(first).take(MAX_PLAN) {
        let (sign, role) = match item.state {
            PlanState::Pending => ("☐", Role::Dim),
            PlanState::Active => ("▶", Role::Accent),
            PlanState::Done => ("☑", Role::Ok),
        };
        let text = format!("{sign} {}", clean_line(&item.text));
        rows.push(Row::of(fit(&text, look.columns), look.theme.style(role)));
    }
    let hidden = items.len().saturating_sub(first + MAX_PLAN);
    if hidden > 0 {
        rows.push(Row::of(format!("  and {hidden} more"), look.theme.style(Role::Dim)));
    }
    rows
}

fn working(model: &Model) -> Vec<Row> {
    let look = appearance(model);
    let state = model.world.state();
    let Some(run) = state.open_run() else { return Vec::new() };
    let now = model.screen.now;
    let spin = usize::try_from(now.0 / 125).unwrap_or(0) % SPINNER.len();
    let waits = model.screen.ask.is_some();
    let sign = if waits { "?" } else { SPINNER[spin] };
    let word = match (&model.world.seen().board.working, &state.retry) {
        _ if waits => "waiting for your answer".to_owned(),
        (_, Some(retry)) => {
            let left = (retry.at.0 + retry.delay_ms).saturating_sub(now.0) / 1_000;
            let (attempt, max) = (retry.attempt, retry.max);
            // The reason may be long, and is cut at the edge.
            format!("asking again in {left}s ({attempt} of {max}): {}", clean_line(&retry.reason))
        }
        (Some(text), None) => clean_line(text),
        (None, None) => "working".to_owned(),
    };
    let took = duration(now.since(run.started_at) / 1_000 * 1_000).replace(".0s", "s");
    let used = run.usage();
    let rate = match model.screen.flow.rate(now) {
        0 => String::new(),
        _ if waits => String::new(),
        rate => format!(" · ~{} tokens/s", about(rate)),
    };
    let tokens =
        if used.output > 0 { format!(" · {} tokens out", count(used.output)) } else { String::new() };
    let keymap = &model.screen.keymap;
    let own = model.screen.ran.as_ref().is_some_and(Ran::runs);
    // Esc means something else while a question or a command of the person's own has it, and says so there.
    let mut hints = Vec::new();
    if !waits && !own {
        if !model.screen.composer.is_empty() {
            let (send, steer) = (keymap.shown(Action::Send), keymap.shown(Action::Steer));
            hints.push(format!("   {send} queues · {steer} steers · Esc stops"));
        } else if state.queues.all().next().is_some() {
            let edit = keymap.shown(Action::Queue);
            hints.push(format!("   Esc stops and gives back what waits, twice drops it · {edit} edits it"));
        }
        hints.push("   Esc stops".to_owned());
    }
    let mut text = format!(" {word} · {took}");
    let fits = |text: &str, hint: &str| width(text) + width(hint) < look.columns;
    let hint = hints.into_iter().find(|hint| fits(&text, hint)).unwrap_or_default();
    // How to stop matters more than numbers.
    for number in [tokens, rate] {
        if fits(&format!("{text}{number}"), &hint) {
            text.push_str(&number);
        }
    }
    vec![Row::from(vec![
        look.piece(sign, Role::Accent),
        look.piece(fit(&text, look.columns.saturating_sub(1)), Role::Text),
        look.piece(hint, Role::Dim),
    ])]
}

/// A number that changes all the time, in steps that can be read.
fn about(number: u64) -> u64 {
    let step = match number {
        0..20 => 1,
        20..100 => 5,
        100..1_000 => 50,
        _ => 500,
    };
    (number + step / 2) / step * step
}

fn queue(model: &Model) -> Vec<Row> {
    let look = appearance(model);
    let queues = &model.world.state().queues;
    let total = queues.all().count();
    let mut rows = Vec::new();
    for (kind, waiting) in queues.all().take(MAX_QUEUE) {
        let mode = match queues.mode(kind) {
            Mode::OneAtATime => "",
            Mode::All => ", all at once",
        };
        let word = match kind {
            QueueKind::Steer => format!("steers next{mode}: "),
            QueueKind::FollowUp => format!("waits{mode}: "),
        };
        let room = look.columns.saturating_sub(width(&word) + 2);
        rows.push(Row::from(vec![
            look.piece("↳ ", Role::Accent),
            look.piece(word, Role::Dim),
            look.piece(fit(&clean_line(&waiting.input.text), room), Role::User),
        ]));
    }
    if total > MAX_QUEUE {
        rows.push(Row::of(format!("  and {} more", total - MAX_QUEUE), look.theme.style(Role::Dim)));
    }
    rows
}

/// A line across, with a word in it.
pub(super) fn rule(word: &str, model: &Model, area: Rect, buf: &mut Buffer, links: &mut Links) {
    let style = model.screen.theme.style(Role::Border);
    let columns = usize::from(area.width);
    let word =
        if word.is_empty() { String::new() } else { format!(" {} ", fit(word, columns.saturating_sub(6))) };
    let left = 2.min(columns);
    let line =
        format!("{}{word}{}", "─".repeat(left), "─".repeat(columns.saturating_sub(left + width(&word))));
    draw(&Row::of(line, style), Position::new(area.x, area.y), area.width, buf, links);
}

/// The composer; the caret.
pub(super) fn composer(model: &Model, area: Rect, buf: &mut Buffer, links: &mut Links) -> Option<Position> {
    if area.height == 0 {
        return None;
    }
    let word = if model.screen.scroll == Scroll::Tail {
        String::new()
    } else {
        format!("↓ more below ({})", model.screen.keymap.shown(Action::ToEnd))
    };
    rule(&word, model, area, buf, links);
    let text = model.screen.composer.text();
    let laid = lay_out(text, model.screen.composer.caret(), composer_columns(model));
    let high = usize::from(area.height.saturating_sub(1));
    let top = laid.caret.row.saturating_sub(high.saturating_sub(1));
    let theme = model.screen.theme;
    // Who does not have the keyboard does not look like it.
    let idle = keyboard(model) == Keyboard::Question;
    let (sign_role, text_role) = if idle { (Role::Dim, Role::Dim) } else { (Role::Accent, Role::Text) };
    for (line, (from, to)) in laid.rows.iter().enumerate().skip(top).take(high) {
        let y = area.y + 1 + u16::try_from(line - top).unwrap_or(0);
        let sign = if line == 0 { "> " } else { "  " };
        let mut row = Row::of(sign, theme.style(sign_role));
        row.pieces.push(Piece::new(&text[*from..*to], theme.style(text_role)));
        if text.is_empty() {
            let ghost = model.screen.suggestion.as_ref().filter(|_| model.screen.ask.is_none());
            let ghost = ghost.map(|text| format!("{text}   (Tab takes it)"));
            let hint = ghost.unwrap_or_else(|| placeholder(model));
            let hint = fit(&hint, composer_columns(model));
            row.pieces.push(Piece::new(hint, theme.style(Role::Dim)));
        }
        draw(&row, Position::new(area.x + 1, y), area.width.saturating_sub(1), buf, links);
    }
    let x = area.x + 3 + u16::try_from(laid.caret.column).unwrap_or(0);
    let y = area.y + 1 + u16::try_from(laid.caret.row - top).unwrap_or(0);
    Some(Position::new(x.min(area.right().saturating_sub(1)), y.min(area.bottom().saturating_sub(1))))
}

fn placeholder(model: &Model) -> String {
    if keyboard(model) == Keyboard::Question {
        "the question above has the keys".to_owned()
    } else if model.world.is_running() {
        "type to queue what comes next".to_owned()
    } else {
        let keys = model.screen.keymap.shown(Action::Keys);
        format!("ask for something · / commands · @ files · {keys} keys")
    }
}

/// The status line: model, how hard it thinks, policy, folder; fields of the runtime; context, tokens, money.
pub(super) fn status(model: &Model, area: Rect, buf: &mut Buffer, links: &mut Links) {
    let seen = model.world.seen();
    let state = &seen.state;
    let theme = model.screen.theme;
    let mut left: Vec<(String, Role)> = Vec::new();
    let in_use = state.runs.last().and_then(|run| run.turns.last()).and_then(|turn| turn.steps.last());
    let in_use = in_use.and_then(|step| step.model.as_ref());
    if let Some(model) = state.settings.model.as_ref().or(in_use) {
        left.push((clean_line(&model.name), Role::Accent));
    }
    if let Some(effort) = state.settings.effort {
        left.push((format!("thinks {}", effort.name()), Role::Dim));
    }
    left.extend(super::policy_shown(seen).map(|(policy, role)| (policy.to_owned(), role)));
    let folder = state.settings.cwd.rsplit('/').next().unwrap_or("");
    if !folder.is_empty() {
        left.push((clean_line(folder), Role::Dim));
    }
    left.extend(seen.board.status.values().map(|text| (clean_line(text), Role::Dim)));
    let unread = model.world.sessions.values().filter(|seen| seen.unread).count();
    if unread > 0 {
        left.push((format!("{unread} unread"), Role::Warn));
    }
    let mut right: Vec<(String, Role)> = Vec::new();
    if let Some(percent) = state.context_left() {
        right.push(gauge(percent));
    }
    if state.usage.total() > 0 {
        let rough = if state.usage.rough { "~" } else { "" };
        right.push((format!("{rough}{} tokens", count(state.usage.total())), Role::Dim));
    }
    if state.usage.cost_micros > 0 {
        right.push((cost(state.usage), Role::Dim));
    }
    let joined = |parts: Vec<(String, Role)>| {
        let mut pieces = Vec::new();
        for (text, role) in parts {
            if !pieces.is_empty() {
                pieces.push(Piece::new(" · ", theme.style(Role::Dim)));
            }
            pieces.push(Piece::new(text, theme.style(role)));
        }
        Row::from(pieces)
    };
    let (left, right) = (joined(left), joined(right));
    let columns = usize::from(area.width.saturating_sub(2));
    draw(&left, Position::new(area.x + 1, area.y), area.width.saturating_sub(2), buf, links);
    let short = state.context_left().map(|percent| vec![(format!("{percent}%"), gauge(percent).1)]);
    let right = match short {
        Some(short) if left.width() + right.width() + 2 > columns => joined(short),
        _ => right,
    };
    let needed = right.width();
    if left.width() + needed + 2 <= columns {
        let x = area.x + 1 + u16::try_from(columns - needed).unwrap_or(0);
        draw(&right, Position::new(x, area.y), area.width, buf, links);
    }
}

fn gauge(left: u8) -> (String, Role) {
    const BARS: usize = 8;
    let used = usize::from(100 - left.min(100)) * BARS / 100;
    let role = match left {
        0..10 => Role::Bad,
        10..25 => Role::Warn,
        _ => Role::Dim,
    };
    (format!("context {}{} {left}% left", "▰".repeat(used), "▱".repeat(BARS - used)), role)
}

/// Dollars, with as many digits as are of use.
/// What was paid, as far as prices are known.
pub(super) fn cost(usage: Usage) -> String {
    let rough = if usage.rough { "~" } else { "" };
    format!("{rough}{}", money(usage.cost_micros))
}

fn money(micros: u64) -> String {
    if micros < 10_000 {
        format!("${}.{:04}", micros / 1_000_000, micros % 1_000_000 / 100)
    } else {
        format!("${}.{:02}", micros / 1_000_000, micros % 1_000_000 / 10_000)
    }
}
