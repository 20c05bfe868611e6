//! How the form for a provider's key looks.

use super::over::{Foot, foot, head};
use super::paste_rows;
use crate::clean::clean_line;
use crate::figures::counted;
use crate::layout::appearance;
use crate::login::{LoginForm, LoginState};
use crate::model::Model;
use crate::picker::{CLOSES, Hint};
use crate::row::{Links, Row, width, wrap_text};
use crate::theme::Role;
use ratatui_core::buffer::Buffer;
use ratatui_core::layout::{Position, Rect};

const SAVES: Hint = ("Enter tries and saves it", "Enter saves");
const STOPS: Hint = ("Esc stops", "Esc stops");
const AGAIN: Hint = ("Enter asks for another one", "Enter again");
const ALL_THE_SAME: Hint = ("s saves it all the same", "s saves it");
/// What stands before what is written.
const LEAD: &str = "> ";

/// Draws it; tells where the caret stands.
pub(super) fn view(
    form: &LoginForm,
    model: &Model,
    area: Rect,
    buf: &mut Buffer,
    links: &mut Links,
) -> Option<Position> {
    let look = appearance(model);
    let provider = clean_line(form.provider());
    head("Add an API key", model, area, buf, links);
    let dim = look.theme.style(Role::Dim);
    let about = format!("The API key of {provider}. It is not shown, and saved for you alone.");
    let mut rows = wrap_text(&about, look.columns, dim);
    let line = rows.len();
    let typed = match form.len() {
        0 => String::new(),
        many => format!("({}, not shown)", counted(many as u64, "character")),
    };
    rows.push(Row::from(vec![look.piece(LEAD, Role::Accent), look.piece(typed.clone(), Role::Text)]));
    let (hints, said) = match form.state() {
        LoginState::Typing(None) => (vec![CLOSES, SAVES], None),
        LoginState::Typing(Some(why)) => (vec![CLOSES, SAVES], Some((why.clone(), Role::Warn))),
        LoginState::Trying => (vec![STOPS], Some((format!("asking {provider}…"), Role::Dim))),
        LoginState::Unsure(why) => (vec![CLOSES, AGAIN, ALL_THE_SAME], Some((why.clone(), Role::Warn))),
    };
    rows.extend(said.iter().flat_map(|(words, role)| {
        words
            .lines()
            .flat_map(|line| wrap_text(line, look.columns, look.theme.style(*role)))
            .collect::<Vec<_>>()
    }));
    let inner = Rect { y: area.y + 1, height: area.height.saturating_sub(2), ..area };
    paste_rows(&rows, inner, buf, links);
    foot(&Foot { place: None, first: hints.len(), hints }, 1, model, area, buf, links);
    let writes = matches!(form.state(), LoginState::Typing(_));
    let x = area.x + 1 + u16::try_from(width(LEAD) + width(&typed)).unwrap_or(0);
    let y = inner.y + u16::try_from(line).unwrap_or(0);
    writes
        .then(|| Position::new(x.min(area.right().saturating_sub(1)), y.min(area.bottom().saturating_sub(1))))
}
