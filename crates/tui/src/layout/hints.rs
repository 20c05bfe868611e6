//! Right above the composer: what may be completed, the search, what the selection can do, a command the person ran.

use super::{appearance, areas, passing};
use crate::commands::COMMANDS;
use crate::complete::{Candidate, Kind};
use crate::figures::{counted, duration};
use crate::keymap::Action;
use crate::model::Model;
use crate::row::{Piece, Row, fit, fit_words, fitting, width, wrap};
use crate::theme::Role;
use ratatui_core::layout::{Position, Rect};
use std::ops::Range;

/// Lines of a completion shown at most, and their share of the screen.
const MAX_OFFERS: usize = 20;
const OFFERS_SHARE: u16 = 3;
/// Lines of a command's output shown at most.
const MAX_OUTPUT: usize = 8;
const SEARCH: &str = "find: ";

/// The lines above the composer that are not widgets of the runtime.
pub(super) fn rows(model: &Model) -> Vec<Row> {
    let look = appearance(model);
    let mut rows = ran(model);
    let names = model.screen.composer.attached();
    if !names.is_empty() {
        let names = names.join(", ");
        let text_only = model.world.seen().abilities.text_only;
        let short = if text_only { "   cannot be sent" } else { "   Esc removes it" };
        let fate = if text_only {
            "stays here: this runtime accepts only text"
        } else {
            "will be sent with your next prompt"
        };
        let text = fitting(
            &[
                format!("▣ {names}   {fate}, Esc removes it"),
                format!("▣ {}{short}", fit(&names, look.columns.saturating_sub(width(short) + 2))),
            ],
            look.columns,
        );
        rows.push(Row::of(text, look.theme.style(Role::Accent)));
    }
    if let Some(search) = model.screen.transcript.search() {
        let (at, count) = search.place();
        let tries = match count {
            _ if search.editor().is_empty() => vec![
                "type words; Enter goes to the older one, Esc closes".to_owned(),
                "type words · Esc closes".to_owned(),
            ],
            0 => vec!["no match · Esc closes".to_owned(), "no match · Esc".to_owned()],
            _ => vec![
                format!("{at} of {count} · Enter older · ↓ newer · Esc closes"),
                format!("{at}/{count} · Enter older · Esc"),
                format!("{at}/{count} · Esc"),
            ],
        };
        let words = search.editor().text();
        let room = look.columns.saturating_sub(width(SEARCH) + width(words) + 3);
        rows.push(Row::from(vec![
            look.piece(SEARCH, Role::Accent),
            look.piece(words, Role::Text),
            look.piece(format!("   {}", fitting(&tries, room)), Role::Dim),
        ]));
    } else if model.selects() {
        let keys = [
            ("Enter", "opens"),
            ("c", "copies"),
            ("b", "goes back here"),
            ("↑↓", "move"),
            ("p n", "prompts"),
            ("Esc", "leaves"),
        ];
        let mut pieces = Vec::new();
        let cell = model.screen.transcript.selected().is_some();
        let back = cell && model.world.seen().abilities.go_back;
        let does = |key: &str| match key {
            "b" => back,
            "p n" => cell,
            _ => true,
        };
        for (key, what) in keys.into_iter().filter(|(key, _)| does(key)) {
            pieces.push(look.piece(key, Role::Key));
            pieces.push(look.piece(format!("\u{a0}{}   ", what.replace(' ', "\u{a0}")), Role::Dim));
        }
        let none = Piece::default();
        rows.extend(wrap(&pieces, look.columns, &none, &none));
    }
    let offers = offers(model);
    // What may be completed is no part of what was said above it.
    let apart = rows.is_empty() && !offers.is_empty() && model.screen.window.size().1 >= ROOMY;
    rows.extend(apart.then(Row::empty));
    rows.extend(offers);
    rows
}

/// Rows of a screen that has some to spare.
const ROOMY: u16 = 18;
/// Columns from which names may take half of them.
const WIDE: usize = 100;
/// Columns below which a hint must not take the room of what it is about.
const NARROW: usize = 60;

/// The rows of the screen on which a command of the person's own is told.
pub(crate) fn own_rows(model: &Model) -> Range<u16> {
    let area = areas(model).middle;
    let after = rows(model).len() + passing::rows(model).len();
    let first = area.bottom().saturating_sub(u16::try_from(after).unwrap_or(u16::MAX)).max(area.y);
    let high = u16::try_from(ran(model).len()).unwrap_or(u16::MAX);
    first..first.saturating_add(high).min(area.bottom())
}

fn ran(model: &Model) -> Vec<Row> {
    let look = appearance(model);
    let Some(ran) = model.screen.own.shown() else { return Vec::new() };
    let narrow = look.columns < NARROW;
    let word = match &ran.end {
        Some(end) if ran.dropped && narrow => format!("{end}, not sent"),
        Some(end) if ran.dropped => {
            let lines = counted(ran.lines() as u64, "line");
            let opens = model.screen.preferences.keymap().shown(Action::Fold);
            format!("{end}, {lines}, not sent; {opens} shows it")
        }
        Some(end) if narrow => format!("{end}; Esc discards it"),
        Some(end) => format!("{end}; will be sent with your next prompt · Esc discards it"),
        None if ran.stopping => "stopping…".to_owned(),
        None => {
            let took =
                duration(model.screen.window.now().since(ran.since) / 1_000 * 1_000).replace(".0s", "s");
            let twice = if narrow { "" } else { ", twice the run too" };
            format!("runs for {took}; Esc stops it{twice}")
        }
    };
    let room = look.columns.saturating_sub(width(&word) + 5);
    let mut rows = vec![Row::from(vec![
        look.piece("$ ", if ran.selected { Role::Selected } else { Role::Accent }),
        look.piece(fit(&ran.line, room), if ran.selected { Role::Selected } else { Role::Text }),
        look.piece(format!("   {word}"), Role::Dim),
    ])];
    if ran.dropped {
        return rows;
    }
    let lines: Vec<&str> = ran.output.lines().collect();
    // On a small screen the line that tells how to stop it must stay in sight.
    let most = usize::from(model.screen.window.size().1 / 4).clamp(1, MAX_OUTPUT);
    let hidden = lines.len().saturating_sub(most);
    let before = hidden + ran.lost;
    if before > 0 {
        let opens = model.screen.preferences.keymap().shown(Action::Fold);
        let word = format!("│ … {before} more before ({opens} shows them)");
        rows.push(Row::of(fit(&word, look.columns), look.theme.style(Role::Dim)));
    }
    let style = look.theme.style(Role::Dim);
    rows.extend(lines[hidden..].iter().map(|line| Row::of(fit(&format!("│ {line}"), look.columns), style)));
    rows
}

fn offers(model: &Model) -> Vec<Row> {
    let look = appearance(model);
    let Some(completion) = model.screen.composer.completion() else { return Vec::new() };
    let offers = &completion.offers;
    let most = usize::from(model.screen.window.size().1 / OFFERS_SHARE).clamp(1, MAX_OFFERS);
    let top = completion.cursor.saturating_sub(most - 1);
    let shown: Vec<(usize, &Candidate)> = offers.iter().enumerate().skip(top).take(most).collect();
    // What is written behind the name of a command is told where there is room for what it does as well.
    let name = |offer: &Candidate| match look.columns < NARROW && completion.kind == Kind::Slash {
        true => offer.label.split(' ').next().unwrap_or_default().to_owned(),
        false => offer.label.clone(),
    };
    let most_column = if look.columns < WIDE { look.columns * 2 / 5 } else { look.columns / 2 };
    let column = shown.iter().map(|(_, offer)| width(&name(offer))).max().unwrap_or(0).min(most_column);
    let mut rows: Vec<Row> = shown
        .into_iter()
        .map(|(at, offer)| {
            let under = at == completion.cursor;
            let style = |role: Role| match under {
                true => look.theme.over(Role::Selected, role),
                false => look.theme.style(role),
            };
            let label = fit(&name(offer), if offer.detail.is_empty() { look.columns } else { column });
            let space = " ".repeat(column.saturating_sub(width(&label)) + 2);
            let room = look.columns.saturating_sub(column + 2);
            let detail = match width(&offer.detail) <= room {
                true => offer.detail.clone(),
                false => fit_words(brief(offer, completion.kind), room),
            };
            let mut row = Row::from(vec![
                Piece::new(label, style(Role::Accent)),
                Piece::new(space, style(Role::Dim)),
                Piece::new(detail, style(Role::Dim)),
            ]);
            row.fill = under.then(|| look.theme.style(Role::Selected));
            row
        })
        .collect();
    let hidden = offers.len().saturating_sub(top + most);
    // With nothing to be written behind it, it is run.
    let does = match offers.get(completion.cursor) {
        _ if completion.kind != Kind::Slash && hidden == 0 => return rows,
        Some(offer) if completion.kind == Kind::Slash && !offer.insert.ends_with(' ') => {
            "Tab inserts · Enter runs"
        }
        Some(_) => "Tab inserts",
        None => return rows,
    };
    let tries = match (hidden, offers.len()) {
        (0, 1) => vec![does.to_owned()],
        (0, _) => vec![format!("↑↓ choose · {does}")],
        (hidden, _) => vec![
            format!("and {hidden} more, type to filter · ↑↓ choose · {does}"),
            format!("and {hidden} more · ↑↓ choose · {does}"),
            format!("{hidden} more · ↑↓ · {does}"),
            format!("{hidden} more · {does}"),
        ],
    };
    rows.push(Row::from(look.keyed(&fitting(&tries, look.columns))));
    rows
}

/// What an offer is or does, in as few words as there are.
fn brief(offer: &Candidate, kind: Kind) -> &str {
    let name = offer.insert.strip_prefix('/').unwrap_or(&offer.insert).trim_end();
    let command = COMMANDS.iter().find(|command| kind == Kind::Slash && command.name == name);
    command.map_or(offer.detail.as_str(), |command| command.brief)
}

/// The caret of the search, which stands in the last rows above the composer.
pub(crate) fn search_caret(model: &Model, middle: Rect) -> Option<Position> {
    let search = model.screen.transcript.search()?;
    let below = u16::try_from(offers(model).len()).unwrap_or(0);
    let y = middle.bottom().checked_sub(1 + below).filter(|y| *y >= middle.y)?;
    let before = width(SEARCH) + width(&search.editor().text()[..search.editor().caret()]);
    let x = middle.x + 1 + u16::try_from(before).unwrap_or(0);
    Some(Position::new(x.min(middle.right().saturating_sub(1)), y))
}
