//! Draws the last line of the screen: model, how hard it thinks, policy, folder, branch; fields of the runtime; context, tokens, money.

use crate::clean::clean_line;
use crate::figures::{cost, count, mark};
use crate::keymap::Action;
use crate::model::Model;
use crate::policy::policy_shown;
use crate::row::{Links, Piece, Row, draw, fit, width};
use crate::theme::{Role, Theme};
use domain::listening::LISTENING;
use domain::port::LinkState;
use ratatui_core::buffer::Buffer;
use ratatui_core::layout::{Position, Rect};

/// Columns of a branch's name at most.
const MAX_BRANCH: usize = 32;
/// Columns of a model's name that are kept beside figures, at least.
const LEAST_NAME: usize = 11;
const BETWEEN: &str = " · ";
/// Columns between what stands left and what stands right.
const GAP: usize = 2;

/// A field of the line.
#[derive(Clone)]
struct Field {
    text: String,
    role: Role,
    worth: Worth,
}

/// Which fields make room for others.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Worth {
    /// Stays.
    Needed,
    /// Gets shorter.
    Name,
    /// Goes.
    Spare,
}

fn field(text: impl Into<String>, role: Role, worth: Worth) -> Field {
    Field { text: text.into(), role, worth }
}

/// Draws the line.
pub(super) fn view(model: &Model, area: Rect, buf: &mut Buffer, links: &mut Links) {
    let theme = model.screen.preferences.theme();
    let columns = usize::from(area.width.saturating_sub(2));
    let (left, right) = fitting(left(model), &rights(model), columns);
    draw(&row(&left, theme), Position::new(area.x + 1, area.y), area.width.saturating_sub(2), buf, links);
    let right = row(&right, theme);
    let x = area.x + 1 + u16::try_from(columns.saturating_sub(right.width())).unwrap_or(0);
    draw(&right, Position::new(x, area.y), area.width, buf, links);
}

/// What stands left and right. How full the context is and what was paid have their place also on a narrow screen: there the folder
/// and the branch go, and the model's name gets shorter.
fn fitting(left: Vec<Field>, rights: &[Vec<Field>], columns: usize) -> (Vec<Field>, Vec<Field>) {
    let fits = |left: &[Field], right: &[Field]| long(left) + GAP + long(right) <= columns;
    let mut shorter = left;
    loop {
        if let Some(right) = rights.iter().find(|right| fits(&shorter, right)) {
            return (shorter, right.clone());
        }
        match shorter.iter().rposition(|field| field.worth == Worth::Spare) {
            Some(at) => drop(shorter.remove(at)),
            None => break,
        }
    }
    let Some(name) = shorter.iter().position(|field| field.worth == Worth::Name) else {
        return (shorter, Vec::new());
    };
    let figures = rights.last().into_iter().map(|right| (right.as_slice(), GAP + long(right)));
    for (right, wide) in figures.chain([(&[][..], 0)]) {
        let over = (long(&shorter) + wide).saturating_sub(columns);
        let room = width(&shorter[name].text).checked_sub(over).filter(|room| *room >= LEAST_NAME);
        if let Some(room) = room {
            shorter[name].text = shortened(&shorter[name].text, room);
            return (shorter, right.to_vec());
        }
    }
    shorter.remove(name);
    let right = rights.last().filter(|right| fits(&shorter, right)).cloned();
    (shorter, right.unwrap_or_default())
}

/// A model's name in fewer columns: of `claude-sonnet-4-5` the end tells more than the beginning.
fn shortened(name: &str, columns: usize) -> String {
    let parts = name.char_indices().filter(|(at, sign)| *at > 0 && matches!(sign, '-' | '/'));
    let ends = parts.map(|(at, _)| format!("…{}", &name[at + 1..]));
    let whole = [name.to_owned()].into_iter().chain(ends).find(|end| width(end) <= columns);
    whole.filter(|end| width(end) * 2 > columns).unwrap_or_else(|| fit(name, columns))
}

fn long(fields: &[Field]) -> usize {
    let between = width(BETWEEN) * fields.len().saturating_sub(1);
    fields.iter().map(|field| width(&field.text)).sum::<usize>() + between
}

fn row(fields: &[Field], theme: Theme) -> Row {
    let mut pieces = Vec::new();
    for field in fields {
        if !pieces.is_empty() {
            pieces.push(Piece::new(BETWEEN, theme.style(Role::Dim)));
        }
        pieces.push(Piece::new(&field.text, theme.style(field.role)));
    }
    Row::from(pieces)
}

fn left(model: &Model) -> Vec<Field> {
    let seen = model.world.seen();
    let state = &seen.state;
    let mut left = Vec::new();
    let gone = matches!(model.world.link, LinkState::Lost(_));
    if gone {
        left.push(field("runtime gone", Role::Bad, Worth::Needed));
    }
    // Before the first answer it is the one that was found at the start.
    let found = || model.screen.start.about().note.model.clone();
    let name =
        seen.model().map(|model| seen.named(model).unwrap_or_else(|| model.name.clone())).or_else(found);
    // Where nothing can run, by which model and what unasked goes before figures do.
    let worth = |worth| if gone { Worth::Spare } else { worth };
    left.extend(name.map(|name| field(clean_line(&name), Role::Accent, worth(Worth::Name))));
    if let Some(effort) = state.settings.effort {
        left.push(field(format!("thinks {}", effort.name()), Role::Dim, Worth::Spare));
    }
    let policy = policy_shown(seen);
    left.extend(policy.map(|(policy, role)| field(policy, role, worth(Worth::Needed))));
    let folder = state.settings.cwd.rsplit('/').next().unwrap_or("");
    if !folder.is_empty() {
        left.push(field(clean_line(folder), Role::Dim, Worth::Spare));
    }
    let branch = model.screen.start.branch(&state.settings.cwd);
    left.extend(branch.map(|branch| field(fit(&clean_line(branch), MAX_BRANCH), Role::Dim, Worth::Spare)));
    let opens = model.screen.preferences.keymap().shown(Action::OpenPort);
    left.extend(seen.board.status.iter().map(|(key, text)| {
        let key = if key == LISTENING { format!(" ({opens})") } else { String::new() };
        field(clean_line(text) + &key, Role::Dim, Worth::Spare)
    }));
    let unread = model.world.sessions.values().filter(|seen| seen.unread).count();
    if unread > 0 {
        left.push(field(format!("{unread} unread"), Role::Warn, Worth::Needed));
    }
    left
}

/// What may stand right, the longest first. Sums go before the price, and words before figures.
fn rights(model: &Model) -> [Vec<Field>; 5] {
    let state = &model.world.seen().state;
    let figure = |text: String, role| field(text, role, Worth::Needed);
    let [drawn, said, short] = state.context_left().map_or([const { None }; 3], |left| {
        let role = match left {
            0..10 => Role::Bad,
            10..25 => Role::Warn,
            _ => Role::Dim,
        };
        // Of what it is the share, and that it is what is left, is said in every one of them.
        let percent = format!("{}{left}% left", mark(state.context_rough));
        let told = [format!("context {} ", bar(left)), "context ".to_owned(), "ctx ".to_owned()];
        told.map(|lead| Some(figure(format!("{lead}{percent}"), role)))
    });
    let rough = mark(state.usage.rough);
    let tokens = (state.usage.total() > 0)
        .then(|| figure(format!("{rough}{} tokens so far", count(state.usage.total())), Role::Dim));
    let paid = (state.usage.cost_micros > 0).then(|| figure(cost(state.usage), Role::Dim));
    [
        vec![drawn.clone(), tokens, paid.clone()],
        vec![drawn, paid.clone()],
        vec![said, paid.clone()],
        vec![short.clone(), paid],
        vec![short],
    ]
    .map(|fields| fields.into_iter().flatten().collect())
}

/// As full as there is room left.
fn bar(left: u8) -> String {
    const BARS: usize = 8;
    let free = (usize::from(left.min(100)) * BARS).div_ceil(100);
    format!("{}{}", "▰".repeat(free), "▱".repeat(BARS - free))
}
