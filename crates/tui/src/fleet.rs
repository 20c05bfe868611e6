//! The fleet on the screen: all sessions of the person, wherever they run, and what can be done from a row.
//!
//! States: moving over rows; writing a line for one session (`line`); a stop that wants a second press (`doomed`). Invariants: no key
//! answers a question here, whichever row the cursor is on: that needs the session itself, with its whole question; the cursor stays
//! with its session when rows change places.

use crate::composer::Editor;
use crate::key::{Code, Key};
use domain::fleet::{Row, Status};
use domain::ids::SessionId;
use std::collections::BTreeSet;
use std::sync::Arc;

/// All rows, those that want attention first.
pub type Rows = Arc<Vec<Row>>;

/// What is known of the fleet, open or not.
#[derive(Debug, Default)]
pub(crate) struct FleetRows {
    rows: Option<Rows>,
    /// All that were told, and the dead processes that the person has seen.
    heard: Rows,
    looked_at: BTreeSet<u32>,
    /// The person came from the fleet to answer: it is there again when they have.
    errand: Option<Errand>,
}

/// Answering from the fleet: into a session, its question, and back.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Errand {
    /// Whose question it is; none while the fleet is open again.
    there: Option<SessionId>,
    is_answered: bool,
    /// Where the person was before.
    home: Option<SessionId>,
}

impl FleetRows {
    /// All rows; none before the first were told.
    pub(crate) fn rows(&self) -> &[Row] {
        self.rows.as_deref().map_or(&[], Vec::as_slice)
    }

    /// The same, to be held while something else changes.
    pub(crate) fn shared(&self) -> Rows {
        self.rows.clone().unwrap_or_default()
    }

    /// Whether anything was told.
    pub(crate) fn is_told(&self) -> bool {
        self.rows.is_some()
    }

    /// Takes other rows; gives those before, unless these are the first.
    pub(crate) fn take(&mut self, rows: Rows) -> Option<Rows> {
        self.heard = rows;
        self.rows.replace(told(self.heard.clone(), &self.looked_at))
    }

    /// The person goes to the question of this session and means to come back to the fleet; `here` is where they are.
    pub(crate) fn goes_to_answer(&mut self, there: SessionId, here: Option<SessionId>) {
        let home = self.errand.take().map_or(here, |errand| errand.home);
        self.errand = Some(Errand { there: Some(there), is_answered: false, home });
    }

    /// They have answered in this session.
    pub(crate) fn answered(&mut self, here: Option<&SessionId>) {
        if let Some(errand) = self.errand.as_mut().filter(|errand| errand.there.as_ref() == here) {
            errand.is_answered = true;
        }
    }

    /// Whether the fleet is to be there again: what they came for in this session is answered.
    pub(crate) fn comes_back(&mut self, here: Option<&SessionId>) -> bool {
        let due = self.errand.as_mut().filter(|errand| errand.is_answered && errand.there.as_ref() == here);
        due.is_some_and(|errand| errand.there.take().is_some())
    }

    /// The errand is over, because the fleet is closed or the person stays where they are. Where they were before, if it was.
    pub(crate) fn ends_errand(&mut self) -> Option<SessionId> {
        self.errand.take().and_then(|errand| errand.home)
    }

    /// The person has looked at them: processes that died are told no more.
    pub(crate) fn looked_at(&mut self) {
        self.looked_at
            .extend(self.heard.iter().filter(|row| row.status == Status::Dead).filter_map(|row| row.pid));
        if self.rows.is_some() {
            self.rows = Some(told(self.heard.clone(), &self.looked_at));
        }
    }

    /// Nobody tells any more.
    pub(crate) fn forget(&mut self) {
        self.rows = None;
    }

    /// How many wait for the person, one session apart.
    pub(crate) fn waiting_besides(&self, session: Option<&SessionId>) -> usize {
        self.rows().iter().filter(|row| row.is_waiting() && row.session.as_ref() != session).count()
    }
}

/// The next row that waits for the person behind this one, or the first of them.
pub(crate) fn next_waiting(rows: &[Row], behind: usize) -> Option<usize> {
    let later = (behind + 1..rows.len()).find(|at| rows[*at].is_waiting());
    later.or_else(|| rows.iter().position(Row::is_waiting))
}

/// Processes that died are one line, where the newest of them would stand; those that were looked at before are none.
fn told(rows: Rows, looked_at: &BTreeSet<u32>) -> Rows {
    let is_dead = |row: &Row| row.status == Status::Dead && row.session.is_none();
    if !rows.iter().any(is_dead) {
        return rows;
    }
    let (dead, mut others): (Vec<Row>, Vec<Row>) = rows.iter().cloned().partition(is_dead);
    let mut dead: Vec<Row> =
        dead.into_iter().filter(|row| row.pid.is_none_or(|pid| !looked_at.contains(&pid))).collect();
    dead.sort_by_key(|row| row.since);
    if let Some(newest) = dead.pop() {
        let count = dead.len() + 1;
        let one = match dead.is_empty() {
            true => newest,
            false => {
                Row { pid: None, title: format!("{count} processes died"), cwd: String::new(), ..newest }
            }
        };
        let lasts =
            |row: &Row| row.is_busy() || matches!(row.status, Status::Silent | Status::OtherVersion(_));
        let at = others.iter().position(|row| !lasts(row) && row.since <= one.since).unwrap_or(others.len());
        others.insert(at, one);
    }
    Arc::new(others)
}

/// By what a row is known when it changes its place.
type Name = (Option<SessionId>, Option<u32>);

fn name(row: &Row) -> Name {
    // A session may move from one process to another, or end there.
    let pid = if row.session.is_some() { None } else { row.pid };
    (row.session.clone(), pid)
}

/// The screen of the fleet.
#[derive(Debug, Default)]
pub(crate) struct Board {
    cursor: usize,
    on: Option<Name>,
    line: Option<(Row, Editor)>,
    doomed: Option<Name>,
}

/// What comes of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum FleetChoice {
    Nothing,
    Close,
    /// Go there.
    Open(Row),
    /// This line is for whoever works there.
    Say(Row, String),
    /// Stop what runs there.
    Stop(Row),
    /// Begin with another agent.
    Agents,
    /// That cannot be done, and why.
    Not(&'static str),
}

impl Board {
    /// Which row is under the cursor.
    pub(crate) fn cursor(&self) -> usize {
        self.cursor
    }

    /// The line that is being written, and for whom.
    pub(crate) fn line(&self) -> Option<(&Row, &Editor)> {
        self.line.as_ref().map(|(row, editor)| (row, editor))
    }

    /// Whether a second press stops this one.
    pub(crate) fn is_doomed(&self, row: &Row) -> bool {
        self.doomed.as_ref() == Some(&name(row))
    }

    /// Rows are others now: the cursor stays with its own.
    pub(crate) fn settle(&mut self, rows: &[Row]) {
        let found = self.on.as_ref().and_then(|on| rows.iter().position(|row| name(row) == *on));
        self.cursor = found.unwrap_or(self.cursor).min(rows.len().saturating_sub(1));
        self.on = rows.get(self.cursor).map(name);
    }

    fn go(&mut self, to: usize, rows: &[Row]) {
        self.cursor = to.min(rows.len().saturating_sub(1));
        self.on = rows.get(self.cursor).map(name);
    }

    /// The first row that is shown where `high` fit.
    pub(crate) fn top(&self, high: usize) -> usize {
        self.cursor.saturating_sub(high.max(1) - 1)
    }

    /// A click moves the cursor.
    pub(crate) fn click(&mut self, row: usize, high: usize, rows: &[Row]) {
        let at = self.top(high) + row;
        if at < rows.len() {
            self.go(at, rows);
        }
    }

    /// Pasted text goes into the line that is being written, and nowhere else.
    pub(crate) fn paste(&mut self, text: &str) {
        if let Some((_, editor)) = &mut self.line {
            editor.paste(text);
        }
    }

    /// Does what the key means.
    pub(crate) fn key(&mut self, key: Key, rows: &[Row], page: usize) -> FleetChoice {
        if let Some((row, editor)) = &mut self.line {
            match key.code {
                Code::Esc => self.line = None,
                Code::Enter => {
                    let (row, text) = (row.clone(), editor.unfolded());
                    self.line = None;
                    if !text.trim().is_empty() {
                        return FleetChoice::Say(row, text);
                    }
                }
                _ => {
                    editor.key(key);
                }
            }
            return FleetChoice::Nothing;
        }
        let doomed = self.doomed.take();
        let under = rows.get(self.cursor);
        match (key.code, key.ctrl || key.alt) {
            (Code::Esc, _) | (Code::Char('q'), false) => return FleetChoice::Close,
            (Code::Up, _) | (Code::Char('k'), false) => self.go(self.cursor.saturating_sub(1), rows),
            (Code::Down, _) | (Code::Char('j'), false) => self.go(self.cursor + 1, rows),
            (Code::PageUp, _) => self.go(self.cursor.saturating_sub(page), rows),
            (Code::PageDown, _) => self.go(self.cursor.saturating_add(page), rows),
            (Code::Home, _) => self.go(0, rows),
            (Code::End, _) => self.go(usize::MAX, rows),
            (Code::Enter, _) => return under.cloned().map_or(FleetChoice::Nothing, FleetChoice::Open),
            (Code::Char('n'), false) => {
                if let Some(at) = next_waiting(rows, self.cursor) {
                    self.go(at, rows);
                }
            }
            (Code::Char('A'), false) => return FleetChoice::Agents,
            (Code::Char('s'), false) => match under {
                Some(row) if row.is_live() => self.line = Some((row.clone(), Editor::default())),
                Some(_) => return FleetChoice::Not("nobody has it open: Enter opens it, then write there"),
                None => {}
            },
            (Code::Char('x'), false) => match under {
                Some(row) if row.is_live() && row.is_busy() => {
                    if doomed.as_ref() == Some(&name(row)) {
                        return FleetChoice::Stop(row.clone());
                    }
                    self.doomed = Some(name(row));
                }
                Some(_) => return FleetChoice::Not("nothing runs there"),
                None => {}
            },
            _ => {}
        }
        FleetChoice::Nothing
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::ids::Millis;

    fn row(number: u64, status: Status, pid: Option<u32>) -> Row {
        Row {
            status,
            session: Some(SessionId::from_number(number)),
            pid,
            title: format!("title {number}"),
            cwd: "/w".to_owned(),
            since: Millis(number),
            cost_micros: None,
            rough: false,
            branch: None,
            runtime: None,
            tasks: Vec::new(),
        }
    }

    fn rows() -> Vec<Row> {
        let waiting = Status::Waiting { asks: 1, question: "Run?".to_owned(), ask: None };
        vec![row(1, waiting, Some(7)), row(2, Status::Running, Some(8)), row(3, Status::Kept, None)]
    }

    fn press(board: &mut Board, keys: &[&str], rows: &[Row]) -> FleetChoice {
        keys.iter().map(|key| board.key(key.parse().unwrap(), rows, 10)).last().unwrap()
    }

    #[test]
    fn keys_move_open_say_and_stop() {
        let all = rows();
        for (keys, wanted) in [
            (&["enter"][..], FleetChoice::Open(all[0].clone())),
            (&["down", "enter"], FleetChoice::Open(all[1].clone())),
            (&["end", "down", "enter"], FleetChoice::Open(all[2].clone())),
            (&["up", "enter"], FleetChoice::Open(all[0].clone())),
            (&["s", "h", "i", "enter"], FleetChoice::Say(all[0].clone(), "hi".to_owned())),
            (&["s", "q", "esc"], FleetChoice::Nothing),
            (&["s", "space", "enter"], FleetChoice::Nothing),
            (&["x"], FleetChoice::Nothing),
            (&["down", "x", "x"], FleetChoice::Stop(all[1].clone())),
            (&["x", "down", "x"], FleetChoice::Nothing),
            (&["end", "x"], FleetChoice::Not("nothing runs there")),
            (&["end", "s"], FleetChoice::Not("nobody has it open: Enter opens it, then write there")),
            (&["esc"], FleetChoice::Close),
            (&["q"], FleetChoice::Close),
        ] {
            assert_eq!(press(&mut Board::default(), keys, &all), wanted, "{keys:?}");
        }
    }

    #[test]
    fn no_key_on_a_row_is_an_answer() {
        let all = rows();
        let letters = ('a'..='z').chain('A'..='Z').chain('0'..='9').chain("!?. ".chars());
        for letter in letters.filter(|letter| !"qsxjkA".contains(*letter)) {
            let mut board = Board::default();
            assert_eq!(board.key(Key::char(letter), &all, 10), FleetChoice::Nothing, "{letter}");
            assert_eq!((board.cursor(), board.line().is_some()), (0, false), "{letter}");
        }
    }

    #[test]
    fn the_cursor_stays_with_its_session() {
        let all = rows();
        let mut board = Board::default();
        board.settle(&all);
        press(&mut board, &["down"], &all);
        let mut other = all.clone();
        other.rotate_left(1);
        board.settle(&other);
        assert_eq!(other[board.cursor()].session, all[1].session);
        board.settle(&other[1..]);
        assert_eq!(board.cursor(), 0, "it is gone");
        board.settle(&[]);
        assert_eq!(press(&mut board, &["down", "enter"], &[]), FleetChoice::Nothing);
    }
}
