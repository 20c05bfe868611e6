//! `parlor ps --watch`: the fleet as it changes. A terminal shows a table that keeps itself current, drawn in place; anything else gets
//! a line for each change.

use super::rows::{as_json, plain_line, table};
use crate::exit::Exit;
use crate::output::{self, Canvas};
use crate::paint::Paint;
use crate::ui_settings::Ui;
use domain::fleet::{Row, newly_waiting};
use host::clock;
use host::fleet::Gathering;
use host::settings;
use host::stop::Stops;
use std::time::Duration;
use tui::Rows;

/// How often the times in a table are said anew.
const CLOCK: Duration = Duration::from_secs(15);
/// The size of a terminal that does not tell it.
const USUAL_SIZE: (u16, u16) = (100, 30);

/// Tells until the person ends it: on a screen, or in lines where that is wanted.
pub(super) async fn watch(json: bool, plain: bool) -> anyhow::Result<Exit> {
    let mut stops = Stops::listen();
    let gathering = Gathering::begin()?;
    let telling = async {
        match !json && !plain && output::Stream::Out.is_terminal() {
            true => on_screen(gathering).await,
            false => in_lines(gathering, json).await,
        }
    };
    tokio::select! {
        told = telling => told,
        _ = stops.next() => Ok(Exit::Done),
    }
}

/// A line for each change. At first for what is alive; what is only kept is told when it changes.
async fn in_lines(mut gathering: Gathering, json: bool) -> anyhow::Result<Exit> {
    let mut before: Option<Rows> = None;
    while let Some(rows) = gathering.next().await {
        let before_now = before.as_deref().map(Vec::as_slice).unwrap_or_default();
        for row in changed(before.as_deref().map(Vec::as_slice), &rows) {
            if json {
                output::print_line(&as_json(row).to_string());
            } else if !before_now.iter().any(|old| reads_alike(old, row)) {
                output::print_line(&plain_line(row));
            }
        }
        if !output::is_heard() {
            break;
        }
        before = Some(rows);
    }
    Ok(Exit::Done)
}

/// The rows that say something else than before.
fn changed<'a>(before: Option<&[Row]>, rows: &'a [Row]) -> Vec<&'a Row> {
    match before {
        None => rows.iter().filter(|row| row.pid.is_some()).collect(),
        Some(before) => rows.iter().filter(|row| !before.contains(row)).collect(),
    }
}

/// Whether a reader of lines would read the same twice: what git has checked out is known later than the rest, and is no change.
fn reads_alike(old: &Row, new: &Row) -> bool {
    let words = |row: &Row| plain_line(&Row { branch: None, ..row.clone() });
    words(old) == words(new)
}

/// A table in place.
async fn on_screen(mut gathering: Gathering) -> anyhow::Result<Exit> {
    let notify = Ui::read(settings::file().as_deref()).settings.notify;
    let mut canvas = Canvas::open();
    let mut resized = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::window_change())?;
    let mut rows = Rows::default();
    let mut known = false;
    loop {
        tokio::select! {
            next = gathering.next() => {
                let Some(next) = next else { return Ok(Exit::Done) };
                // What waited before anybody looked is seen at once, and rings for nobody.
                if known {
                    for row in newly_waiting(&rows, &next) {
                        let words = format!("{} waits for you", row.title);
                        canvas.ring(notify.bell, notify.desktop.then_some(words.as_str()));
                    }
                }
                (rows, known) = (next, true);
                let waiting = rows.iter().filter(|row| row.is_waiting()).count();
                canvas.title(&title(waiting));
            }
            () = canvas.left() => return Ok(Exit::Done),
            _ = resized.recv() => canvas.forget(),
            () = tokio::time::sleep(CLOCK) => {}
        }
        if known {
            let (columns, high) = output::terminal_size().unwrap_or(USUAL_SIZE);
            let size = (usize::from(columns), usize::from(high));
            canvas.draw(&table(&rows, clock::now(), size, Paint::of_stdout()));
        }
        if !output::is_heard() {
            return Ok(Exit::Done);
        }
    }
}

/// What the window is called.
fn title(waiting: usize) -> String {
    match waiting {
        0 => "Parlor".to_owned(),
        waiting => format!("({waiting}) Parlor: waiting for you"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::fleet::{Contact, Fleet, FleetFact, Process};
    use domain::ids::{Millis, SessionId};
    use domain::session::SessionSummary;

    #[test]
    fn at_first_what_is_alive_is_told_and_then_what_changes() {
        let mut fleet = Fleet::default();
        fleet.take(FleetFact::Kept(vec![SessionSummary::new(SessionId::from_number(1))]));
        let process = Process {
            since: Millis(1),
            cwd: "/w".to_owned(),
            serving: "terminal".to_owned(),
            contact: Contact::Silent,
        };
        let older = Process { since: Millis(0), ..process.clone() };
        fleet.take(FleetFact::Found { pid: 7, process });
        fleet.take(FleetFact::Found { pid: 9, process: older });
        let first = fleet.rows();
        let told: Vec<Option<u32>> = changed(None, &first).iter().map(|row| row.pid).collect();
        assert_eq!(told, [Some(9), Some(7)], "in the order of the fleet");
        let title = "mended".to_owned();
        let kept = SessionSummary { title, ..SessionSummary::new(SessionId::from_number(1)) };
        fleet.take(FleetFact::Kept(vec![kept]));
        let second = fleet.rows();
        let told: Vec<&str> = changed(Some(&first), &second).iter().map(|row| row.title.as_str()).collect();
        assert_eq!(told, ["mended"]);
        assert_eq!(changed(Some(&second), &second).len(), 0);
        let row = second.iter().find(|row| row.title == "mended").expect("it is there");
        let on_a_branch = Row { branch: Some("main".to_owned()), since: Millis(9), ..row.clone() };
        assert!(reads_alike(row, &on_a_branch));
        assert!(!reads_alike(row, &Row { title: "mended twice".to_owned(), ..row.clone() }));
    }
}
