//! The screen of the fleet: its rows, and where they stand.

use super::appearance;
use super::page::{foot_rows, in_parts};
use super::waiting::{list_columns, list_look};
use crate::clean::clean_line;
use crate::figures::{ago, lasting, mark, money};
use crate::fleet::Board;
use crate::look::Appearance;
use crate::model::Model;
use crate::picker::{CLOSES, HERE, Hint};
use crate::row::{Piece, Row, fit, fit_words, fitting, width, wrap_text};
use crate::theme::Role;
use domain::event::Outcome;
use domain::fleet::{Row as Line, Status};
use domain::ids::Millis;
use ratatui_core::layout::Rect;

/// Columns of since when a row stands so.
const SINCE: usize = 12;
/// From so many columns on a title leaves room for what else is known.
const WIDE: usize = 60;
/// Rows from which there is room for all of the row under the cursor.
const ROOMY: u16 = 14;
/// Rows of the fleet that are looked at to know how many the longest takes below it.
const MOST_MEASURED: usize = 24;
/// Fewer columns tell nothing beside a title, and fewer still nothing of what it is about.
const LEAST_FACTS: usize = 8;
const LEAST_ABOUT: usize = 14;
const LEAST_TITLE: usize = 16;
/// Said of a row that a second press stops.
const STOPS: &str = "x again stops it";

/// What the keys do.
const OPENS: Hint = ("Enter opens it", "Enter opens");
const ANSWERS: Hint = ("Enter shows the question", "Enter shows it");
const WRITES: Hint = ("s writes to it", "s writes");
const STOPS_IT: Hint = ("x stops it", "x stops");
/// More than one waits.
const NEXT: Hint = ("n next waiting", "n next");

/// Where the rows stand: below the title, above what is told of one and the keys.
pub(crate) fn fleet_list(model: &Model) -> Rect {
    let (columns, rows) = model.screen.window.size();
    let below = more_rows(model);
    // Below a blank row, where there is room.
    let above = if rows >= ROOMY { 2 } else { 1 };
    let columns = list_columns(model).min(columns);
    Rect::new(0, above.min(rows), columns, rows.saturating_sub(above + fleet_foot(model) + below))
}

/// Rows of what the keys do, as many for each row of the list.
pub(crate) fn fleet_foot(model: &Model) -> u16 {
    let all = [CLOSES, OPENS, WRITES, STOPS_IT];
    foot_rows(all.iter(), appearance(model).columns, model.screen.window.size().1)
}

/// Rows of what is told of the row under the cursor, with the rule above it: as many as the row takes that has most to tell, so that
/// the list stands still while the cursor moves.
fn more_rows(model: &Model) -> u16 {
    let rows = model.screen.window.size().1;
    let lines = model.screen.fleet.rows();
    if rows < ROOMY || lines.is_empty() {
        return 0;
    }
    let most = rows / 3;
    // The first ones: those that wait have most to tell.
    let longest = lines.iter().take(MOST_MEASURED).map(|line| told(line, model).len()).max().unwrap_or(0);
    u16::try_from(longest).unwrap_or(most).clamp(1, most) + 1
}

/// What the first line says.
pub(crate) fn fleet_title(model: &Model) -> String {
    let rows = model.screen.fleet.rows();
    let waiting = rows.iter().filter(|row| row.is_waiting()).count();
    let running = rows.iter().filter(|row| row.status == Status::Running).count();
    let tries = [
        format!("Fleet · {waiting} waiting for you · {running} running · {} in all", rows.len()),
        format!("Fleet · {waiting} waiting for you · {running} running"),
        format!("Fleet · {waiting} waiting for you"),
    ];
    fitting(&tries, appearance(model).columns)
}

/// The rows that fit into so many lines.
pub(crate) fn fleet_rows(board: &Board, model: &Model, high: usize) -> Vec<Row> {
    let look = list_look(model);
    let lines = model.screen.fleet.rows();
    if lines.is_empty() {
        let told = model.screen.fleet.is_told();
        let words = if told { "no session yet" } else { "one moment…" };
        return vec![Row::of(words, look.theme.style(Role::Dim))];
    }
    let shown: Vec<(usize, &Line)> =
        lines.iter().enumerate().skip(board.top(high)).take(high.max(1)).collect();
    let columns = Columns::of(shown.iter().map(|(_, line)| *line), model, look);
    shown.iter().map(|(at, line)| row(line, *at == board.cursor(), &columns, board, model, look)).collect()
}

/// Its title in so many columns; the one on this screen is marked, and the mark stands whole.
fn title(line: &Line, model: &Model, columns: usize) -> String {
    let here = model.world.current == line.session && line.session.is_some();
    let mark = if here { HERE } else { "" };
    format!("{}{mark}", fit_words(&clean_line(&line.title), columns.saturating_sub(width(mark))))
}

/// How wide what stands below each other is; nothing where there is no room for it.
struct Columns {
    status: usize,
    since: usize,
    title: usize,
    place: usize,
    cost: usize,
    about: usize,
}

impl Columns {
    /// Titles come first; then where it is, what it cost, and what is to be said about it.
    fn of<'a>(lines: impl Iterator<Item = &'a Line> + Clone, model: &Model, look: Appearance) -> Columns {
        let longest =
            |words: fn(&Line) -> String| lines.clone().map(|line| width(&words(line))).max().unwrap_or(0);
        let titles = lines.clone().map(|line| width(&title(line, model, usize::MAX))).max().unwrap_or(0);
        let status = longest(|line| line.status.shown().to_owned()) + 2;
        let wide = look.columns >= WIDE;
        let since = if wide { SINCE } else { 0 };
        let room = look.columns.saturating_sub(2 + status + since);
        // Where it is and what it cost stand whole where the titles keep most of the room.
        let facts = longest(place) + longest(cost) + 4;
        let least = (room / 2).min(room.saturating_sub(facts).max(room * 2 / 5)).max(LEAST_TITLE);
        let most = if wide { titles.min(least.max(room.saturating_sub(facts))).min(room) } else { room };
        let mut left = room.saturating_sub(most);
        let mut take = |wanted: usize, least: usize| {
            let given = if wanted == 0 || left < least + 2 { 0 } else { wanted.min(left - 2) };
            left -= if given == 0 { 0 } else { given + 2 };
            given
        };
        let cost = take(longest(cost), longest(cost));
        let place = take(longest(place), LEAST_FACTS);
        let about = take(longest(about), LEAST_ABOUT);
        Columns { status, since, title: most, place, cost, about }
    }
}

/// Words in a column, with a gap behind it.
fn cell(words: &str, column: usize) -> String {
    let words = fit(words, column);
    format!("{words}{}  ", " ".repeat(column.saturating_sub(width(&words))))
}

fn row(line: &Line, under: bool, columns: &Columns, board: &Board, model: &Model, look: Appearance) -> Row {
    let (sign, role) = fleet_sign(&line.status);
    let style = |role: Role| match under {
        true => look.theme.over(Role::Selected, role),
        false => look.theme.style(role),
    };
    let mut pieces = vec![
        Piece::new(sign, style(role)),
        Piece::new(cell(line.status.shown(), columns.status.saturating_sub(2)), style(role)),
    ];
    if columns.since > 0 {
        let since = cell(&since(line, model.screen.window.now()), columns.since - 2);
        pieces.push(Piece::new(since, style(Role::Dim)));
    }
    if board.is_doomed(line) {
        let used: usize = pieces.iter().map(|piece| width(&piece.text)).sum();
        let room = look.columns.saturating_sub(used + width(STOPS) + 2);
        let column = columns.title.min(room);
        pieces.push(Piece::new(cell(&title(line, model, column), column), style(Role::Text)));
        pieces.push(Piece::new(STOPS, style(Role::Bad)));
    } else {
        pieces.push(Piece::new(cell(&title(line, model, columns.title), columns.title), style(Role::Text)));
        // What cost nothing that is known leaves its room to where it is.
        let (place, cost) = (place(line), cost(line));
        let free = columns.cost > 0 && cost.is_empty() && width(&place) > columns.place && columns.place > 0;
        let facts = match free {
            true => [(place, columns.place + 2 + columns.cost), (cost, 0), (about(line), columns.about)],
            false => [(place, columns.place), (cost, columns.cost), (about(line), columns.about)],
        };
        for (words, column) in facts.into_iter().filter(|(_, column)| *column > 0) {
            pieces.push(Piece::new(cell(&words, column), style(Role::Dim)));
        }
    }
    let mut row = Row::from(pieces);
    row.fill = under.then(|| look.theme.style(Role::Selected));
    row
}

/// For how long it is so, or how long ago it was.
fn since(line: &Line, now: Millis) -> String {
    match line.status {
        Status::Waiting { .. } | Status::Running => lasting(now, line.since),
        Status::Ended(_)
        | Status::Dead
        | Status::Silent
        | Status::OtherVersion(_)
        | Status::Fresh
        | Status::Kept => ago(now, line.since),
    }
}

/// The sign of how a session stands, and its colour: the same wherever one is told of.
pub(crate) fn fleet_sign(status: &Status) -> (&'static str, Role) {
    match status {
        Status::Waiting { .. } => ("? ", Role::Warn),
        Status::Running => ("● ", Role::Accent),
        Status::Ended(Outcome::Done) => ("✓ ", Role::Ok),
        Status::Ended(Outcome::Failed(_) | Outcome::Lost | Outcome::Interrupted) | Status::Dead => {
            ("✗ ", Role::Bad)
        }
        Status::Silent | Status::OtherVersion(_) => ("! ", Role::Warn),
        Status::Ended(Outcome::Cancelled) | Status::Fresh | Status::Kept => ("· ", Role::Dim),
    }
}

/// Where it runs; what is not known is left out.
fn place(line: &Line) -> String {
    let folder = line.cwd.rsplit('/').find(|name| !name.is_empty()).map(clean_line);
    let branch = line.branch.as_deref().map(clean_line);
    let runtime = line.runtime.as_deref().map(clean_line);
    [folder, branch, runtime].into_iter().flatten().collect::<Vec<_>>().join(" · ")
}

fn cost(line: &Line) -> String {
    line.cost_micros.map_or(String::new(), |micros| format!("{}{}", mark(line.rough), money(micros)))
}

/// What it asks, or why it failed.
fn about(line: &Line) -> String {
    line.about().map(|about| clean_line(&about)).unwrap_or_default()
}

/// All of the row under the cursor, below a rule; always as many rows, so that the list stands still.
pub(crate) fn fleet_more(board: &Board, model: &Model) -> Vec<Row> {
    let look = list_look(model);
    let high = usize::from(more_rows(model));
    if high == 0 {
        return Vec::new();
    }
    let mut rows = vec![Row::of("─".repeat(look.columns), look.theme.style(Role::Border))];
    let under = model.screen.fleet.rows().get(board.cursor());
    rows.extend(under.into_iter().flat_map(|line| told(line, model)));
    rows.resize(high, Row::empty());
    rows
}

/// All that is known of a row.
fn told(line: &Line, model: &Model) -> Vec<Row> {
    let look = list_look(model);
    let session = line.session.as_ref().map(ToString::to_string);
    let pid = line.pid.map(|pid| format!("process {pid}"));
    let known = [Some(clean_line(&line.cwd)), pid, session].into_iter().flatten();
    let known: Vec<String> = known.filter(|word| !word.is_empty()).collect();
    let known = in_parts(&known.join(" · "), look.columns);
    let (dim, text) = (look.theme.style(Role::Dim), look.theme.style(Role::Text));
    // A title that is cut above stands here whole, and what it says where there is no column for it.
    let mut words = vec![(title(line, model, usize::MAX), text)];
    let about = about(line);
    words.extend((!about.is_empty() && about != clean_line(&line.title)).then_some((about, text)));
    // Where there are no columns for them they are told here.
    let narrow = look.columns < WIDE;
    let facts = [since(line, model.screen.window.now()), place(line), cost(line)];
    let facts = facts.into_iter().filter(|word| narrow && !word.is_empty()).collect::<Vec<_>>().join(" · ");
    let facts = in_parts(&facts, look.columns).into_iter().chain(known).filter(|words| !words.is_empty());
    words.extend(facts.map(|words| (words, dim)));
    words.iter().flat_map(|(words, style)| wrap_text(words, look.columns, *style)).collect()
}

/// What the keys do, for the last line.
pub(crate) fn fleet_keys(board: &Board, model: &Model) -> Vec<Hint> {
    let rows = model.screen.fleet.rows();
    let under = rows.get(board.cursor());
    let others = rows.iter().filter(|row| row.is_waiting() && Some(*row) != under).count();
    let mut keys = keys_of(under);
    keys.extend((others > 0 && appearance(model).columns >= WIDE).then_some(NEXT));
    keys
}

fn keys_of(row: Option<&Line>) -> Vec<Hint> {
    match row {
        Some(row) if row.is_waiting() => vec![CLOSES, ANSWERS, WRITES, STOPS_IT],
        Some(row) if row.is_live() && row.is_busy() => vec![CLOSES, OPENS, WRITES, STOPS_IT],
        Some(row) if row.is_live() => vec![CLOSES, OPENS, WRITES],
        Some(row) if row.session.is_some() => vec![CLOSES, OPENS],
        Some(_) | None => vec![CLOSES],
    }
}
