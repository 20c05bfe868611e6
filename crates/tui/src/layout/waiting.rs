//! The whole question of who waits, at the right of the fleet: to be read there. It is answered in its session, where Enter goes.

use super::page::reach;
use super::{appearance, fleet_foot};
use crate::ask;
use crate::fleet::Board;
use crate::look::Appearance;
use crate::model::Model;
use crate::row::{Row, fit, wrap_text};
use crate::theme::Role;
use domain::ask::Ask;
use domain::fleet::{Row as Line, Status};
use ratatui_core::layout::Rect;
use ratatui_core::style::Style;

/// Columns from which there is room for a question beside the rows.
const BESIDE: u16 = 100;
/// Columns between the rows and the question, with its bar.
const GAP: u16 = 3;

/// A question as it is drawn: its rows, and the colour of its bar.
pub(crate) struct WaitingQuestion {
    pub(crate) rows: Vec<Row>,
    pub(crate) bar: Style,
}

fn question_of(line: &Line) -> Option<&Ask> {
    match &line.status {
        Status::Waiting { ask, .. } => ask.as_deref(),
        _ => None,
    }
}

/// Columns that the rows of the fleet have: half of a wide screen while somebody's question stands beside them.
pub(super) fn list_columns(model: &Model) -> u16 {
    let columns = model.screen.window.size().0;
    let beside =
        columns >= BESIDE && model.screen.fleet.rows().iter().any(|line| question_of(line).is_some());
    if beside { columns / 2 } else { columns }
}

/// How the rows of the fleet are drawn.
pub(super) fn list_look(model: &Model) -> Appearance {
    let columns = usize::from(list_columns(model).saturating_sub(2)).max(1);
    Appearance { columns, ..appearance(model) }
}

/// Where the question stands: nothing where there is no room for it, or nobody waits.
pub(crate) fn waiting_area(model: &Model, list: Rect) -> Option<Rect> {
    let (columns, rows) = model.screen.window.size();
    let left = list_columns(model) + GAP;
    let foot = fleet_foot(model) + 1;
    let high = rows.saturating_sub(list.y + foot);
    (left < columns && high > 0).then(|| Rect::new(left, list.y, columns - left, high))
}

/// The question of the row under the cursor, else of who has waited longest; what does not fit is counted.
pub(crate) fn waiting_question(board: &Board, model: &Model, area: Rect) -> Option<WaitingQuestion> {
    let lines = model.screen.fleet.rows();
    let under = lines.get(board.cursor()).filter(|line| question_of(line).is_some());
    let (line, ask) = under.into_iter().chain(lines).find_map(|line| Some((line, question_of(line)?)))?;
    let columns = usize::from(area.width.saturating_sub(2)).max(1);
    let look = Appearance { columns, ..appearance(model) };
    let dim = look.theme.style(Role::Dim);
    let mut rows = wrap_text(&ask::page_title(ask), columns, look.theme.style(Role::Heading));
    if under.is_none() {
        let whose = crate::clean::clean_line(&line.title);
        rows.push(Row::of(fit(&format!("in {whose}"), columns), dim));
    }
    rows.push(Row::empty());
    rows.extend(ask::full(ask, look, reach(model)).rows);
    let room = usize::from(area.height);
    if rows.len() > room {
        let more = rows.len() - room.saturating_sub(1);
        rows.truncate(room.saturating_sub(1));
        rows.push(Row::of(fit(&format!("… {more} more lines: Enter opens it"), columns), dim));
    }
    Some(WaitingQuestion { rows, bar: ask::bar_style(ask, look.theme) })
}
