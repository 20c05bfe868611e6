//! Between transcript and composer: what goes on, what waits, what may be done; and widgets below.

use super::{appearance, hints, passing};
use crate::clean::clean_line;
use crate::figures::{count, duration};
use crate::keymap::Action;
use crate::model::Model;
use crate::row::{KEEPS, Row, fit, width, wrap};
use crate::theme::Role;
use domain::event::PlanState;
use domain::port::LinkState;
use domain::queue::{Mode, QueueKind};
use domain::signal::WidgetPlace;

/// Lines of the plan shown at most.
const MAX_PLAN: usize = 6;
/// Rows of a screen from which the plan has air around it.
const ROOMY: u16 = 18;
/// Waiting inputs shown at most.
const MAX_QUEUE: usize = 4;
/// Rows of the banner that tells of a lost runtime.
const MAX_BANNER: usize = 3;
/// Lines of widgets shown at most.
const MAX_WIDGET: usize = 6;
const SPINNER: &[&str] = &["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];

/// What stands between transcript and composer.
pub(crate) fn rows(model: &Model) -> Vec<Row> {
    let mut rows = lost(model);
    rows.extend(plan(model));
    rows.extend(widgets(model, WidgetPlace::Above));
    rows.extend(working(model));
    rows.extend(queue(model));
    rows.extend(hints::rows(model));
    rows.extend(passing::rows(model));
    rows
}

/// Why a runtime is gone, and what can be done about it, as whoever lost it says behind why.
pub(crate) fn loss(why: &str) -> (&str, Option<&str>) {
    let first = why.lines().next().unwrap_or_default();
    let told = first.find(". /restart ").map(|at| (&first[..at], Some(&first[at + 2..])));
    told.unwrap_or((first, None))
}

/// Why the runtime is gone, what to do about it, and what it said last.
fn lost(model: &Model) -> Vec<Row> {
    let LinkState::Lost(why) = &model.world.link else { return Vec::new() };
    let look = appearance(model);
    let said = why.split_once('\n').map_or("", |(_, said)| said);
    let (why, remedy) = loss(why);
    let mut rows: Vec<Row> = (model.screen.window.size().1 >= ROOMY).then(Row::empty).into_iter().collect();
    let text = look.piece(format!("the runtime is gone: {}", clean_line(why)), Role::Bad);
    let (first, rest) = (look.piece("✗ ", Role::Bad), look.piece("  ", Role::Bad));
    rows.extend(wrap(&[text], look.columns, &first, &rest).into_iter().take(MAX_BANNER));
    rows.extend(last_words(model, said));
    if let Some(remedy) = remedy {
        let lead = look.piece("  ", Role::Text);
        // A key stays with what it does.
        let remedy = clean_line(remedy).replace("Ctrl-D ", &format!("Ctrl-D{KEEPS}"));
        rows.extend(wrap(&[look.piece(remedy, Role::Text)], look.columns, &lead, &lead));
    }
    rows
}

/// What a runtime that is gone said last, as much as half of the screen holds; all of it is among the notices.
fn last_words(model: &Model, said: &str) -> Vec<Row> {
    let look = appearance(model);
    let room = usize::from(model.screen.window.size().1 / 2);
    let lines: Vec<&str> = said.lines().collect();
    let shown = lines.iter().skip(lines.len().saturating_sub(room));
    let style = look.theme.style(Role::Dim);
    let mut rows: Vec<Row> =
        shown.map(|line| Row::of(fit(&format!("  │ {}", clean_line(line)), look.columns), style)).collect();
    if !rows.is_empty() {
        rows.insert(0, Row::of("  it said last:", style));
    }
    rows
}

/// Widgets that stand below the composer.
pub(crate) fn below(model: &Model) -> Vec<Row> {
    widgets(model, WidgetPlace::Below)
}

fn widgets(model: &Model, where_to: WidgetPlace) -> Vec<Row> {
    let look = appearance(model);
    let of_place = model.world.seen().board.widgets.values().filter(|(place, _)| *place == where_to);
    let lines = of_place.flat_map(|(_, lines)| lines.iter().take(MAX_WIDGET));
    lines.map(|line| Row::of(fit(&clean_line(line), look.columns), look.theme.style(Role::Text))).collect()
}

/// The plan of the run under way, with air around it where there is room. While a question stands below it is put away: nothing comes
/// between a question and what it is about.
fn plan(model: &Model) -> Vec<Row> {
    let look = appearance(model);
    let items = &model.world.state().plan;
    let done = items.iter().filter(|item| item.state == PlanState::Done).count();
    let over = model.world.state().open_run().is_none() || done == items.len();
    if over || model.screen.asks.is_open() {
        return Vec::new();
    }
    let air = model.screen.window.size().1 >= ROOMY;
    let mut rows: Vec<Row> = air.then(Row::empty).into_iter().collect();
    rows.push(Row::from(vec![
        look.piece("Plan", Role::Heading),
        look.piece(format!("  {done} of {} done", items.len()), Role::Dim),
    ]));
    let open = items.iter().position(|item| item.state != PlanState::Done).unwrap_or(0);
    // A long one begins with what was done last.
    let first = if items.len() > MAX_PLAN { open.saturating_sub(1) } else { 0 };
    for item in items.iter().skip(first).take(MAX_PLAN) {
        let (sign, sign_role, role) = match item.state {
            PlanState::Pending => ("○", Role::Dim, Role::Dim),
            PlanState::Active => ("●", Role::Accent, Role::Text),
            PlanState::Done => ("✓", Role::Ok, Role::Dim),
        };
        rows.push(Row::from(vec![
            look.piece(format!("  {sign} "), sign_role),
            look.piece(fit(&clean_line(&item.text), look.columns.saturating_sub(4)), role),
        ]));
    }
    let hidden = items.len().saturating_sub(first + MAX_PLAN);
    if hidden > 0 {
        rows.push(Row::of(format!("    and {hidden} more"), look.theme.style(Role::Dim)));
    }
    rows.extend(air.then(Row::empty));
    rows
}

fn working(model: &Model) -> Vec<Row> {
    let look = appearance(model);
    let state = model.world.state();
    let Some(run) = state.open_run() else { return Vec::new() };
    let now = model.screen.window.now();
    let spin = usize::try_from(now.0 / 125).unwrap_or(0) % SPINNER.len();
    let waits = model.screen.asks.is_open();
    let sign = if waits { "·" } else { SPINNER[spin] };
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
    let keymap = model.screen.preferences.keymap();
    let own = model.screen.own.runs();
    // Esc means something else while a question or a command of the person's own has it, and says so there.
    let mut hints = Vec::new();
    let mut below = None;
    if !waits && !own {
        if !model.screen.composer.is_empty() {
            let (send, steer) = (keymap.shown(Action::Send), keymap.shown(Action::Steer));
            hints.push(format!("   {send} queues · {steer} steers · Esc stops"));
            // What the keys do now is told also where the line has no room for it.
            below =
                (model.screen.window.size().1 >= ROOMY).then(|| format!("  {send} queues · {steer} steers"));
        } else if state.queues.all().next().is_some() {
            let edit = keymap.shown(Action::Queue);
            hints.push(format!(
                "   Esc stops and gives back what is queued, twice discards it · {edit} edits it"
            ));
        }
        hints.push("   Esc stops".to_owned());
    }
    let mut text = format!(" {word} · {took}");
    let fits = |text: &str, hint: &str| width(text) + width(hint) < look.columns;
    let all = hints.first().cloned().unwrap_or_default();
    let hint = hints.into_iter().find(|hint| fits(&text, hint)).unwrap_or_default();
    let below = below.filter(|below| hint != all && width(below) <= look.columns);
    // How to stop matters more than numbers.
    for number in [tokens, rate] {
        if fits(&format!("{text}{number}"), &hint) {
            text.push_str(&number);
        }
    }
    let mut row = Row::from(vec![
        look.piece(sign, if waits { Role::Dim } else { Role::Accent }),
        look.piece(fit(&text, look.columns.saturating_sub(1)), if waits { Role::Dim } else { Role::Text }),
    ]);
    row.pieces.extend(look.keyed(&hint));
    // It stands apart from the keys of the question.
    let air = waits && model.screen.window.size().1 >= ROOMY;
    let mut rows: Vec<Row> = air.then(Row::empty).into_iter().collect();
    rows.push(row);
    rows.extend(below.map(|below| Row::from(look.keyed(&below))));
    rows
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
            QueueKind::FollowUp => format!("queued{mode}: "),
        };
        let room = look.columns.saturating_sub(width(&word) + 2);
        rows.push(Row::from(vec![
            look.piece("↳ ", Role::Accent),
            look.piece(word, Role::Dim),
            look.piece(fit(&clean_line(&waiting.input.text), room), Role::Text),
        ]));
    }
    if total > MAX_QUEUE {
        rows.push(Row::of(format!("  and {} more", total - MAX_QUEUE), look.theme.style(Role::Dim)));
    }
    rows
}
