//! What can still be read of a store that SQLite no longer opens: sessions by name, and the rows of their logs.
//!
//! Every leaf of the file is looked at by itself, so lost inner pages, a lost header and a file that was cut cost nothing but the pages
//! that are gone. A row counts only when its checksum holds, which covers the session's name, the numbers and the bytes: a row that is
//! damaged, or only looks like one, is not taken. What was removed stays removed: pages that the file keeps for later are passed over,
//! and rows of a session that is in no list are nobody's.

use super::cells::{self, Column};
use super::number::nat;
use super::pages::{Header, Pages};
use super::reading::{MAX_SEQ, SEQ_BITS, key};
use super::schema::{Made, Tables};
use crate::rows::{self, Row, Unreadable};
use domain::ids::{Seq, SessionId};
use domain::session::SessionSummary;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::Path;

/// How long the header of a file is.
const HEADER: usize = 100;

/// Where a row stands: its page, and which of the page's rows it is.
type RowPosition = (u32, usize);

/// What is known of a session besides its log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SessionFacts {
    pub(super) name: SessionId,
    /// Its last event; `None` when nobody knows.
    pub(super) last: Option<Seq>,
    /// Its title; empty when nobody knows.
    pub(super) title: String,
}

/// The rows of one session.
#[derive(Debug, Default)]
pub(super) struct SalvagedRows {
    /// Rows of the log, in order, as they were written.
    pub(super) rows: Vec<Row>,
    pub(super) snapshot: Option<Row>,
}

impl SalvagedRows {
    pub(super) fn is_empty(&self) -> bool {
        self.rows.is_empty() && self.snapshot.is_none()
    }
}

/// A file that was looked through.
#[derive(Debug)]
pub(super) struct Salvage {
    pages: Pages,
    /// The same file once more: closing it would give up the lock of whoever recovers it.
    kept_open: Option<Pages>,
    sessions: BTreeMap<i64, SessionFacts>,
    rows: Vec<(i64, RowPosition)>,
    snapshots: Vec<(i64, RowPosition)>,
    made: Made,
    /// Processes that said that they write a session.
    pub(super) writers: BTreeSet<u32>,
}

impl Salvage {
    /// Looks the file at `path` through.
    pub(super) fn of(path: &Path) -> io::Result<Salvage> {
        let salvage = Salvage::among(Pages::open(path)?);
        // The size of the pages is a number in the header, which may be damaged.
        let Some(usual) = salvage.pages.of_usual_size(path).map(Salvage::among) else { return Ok(salvage) };
        let (mut better, other) =
            if usual.rows.len() > salvage.rows.len() { (usual, salvage) } else { (salvage, usual) };
        better.kept_open = Some(other.pages);
        Ok(better)
    }

    fn among(pages: Pages) -> Salvage {
        let mut salvage = Salvage {
            pages,
            kept_open: None,
            sessions: BTreeMap::new(),
            rows: Vec::new(),
            snapshots: Vec::new(),
            made: Made::new(),
            writers: BTreeSet::new(),
        };
        if let Some(first) = salvage.pages.page(1) {
            salvage.look_at_tables(&first);
        }
        let numbers: Vec<u32> = salvage.pages.numbers().collect();
        for number in numbers {
            if let Some(page) = salvage.pages.page(number) {
                salvage.look_at(number, &page);
            }
        }
        salvage.rows.sort_unstable();
        salvage.snapshots.sort_unstable();
        salvage
    }

    /// What the header of the file says; `None` when it is lost.
    pub(super) fn header(&self) -> Option<Header> {
        self.pages.header()
    }

    /// What kind of file it is by what is in it.
    pub(super) fn tables(&self) -> Tables {
        match Tables::of(&self.made) {
            Tables::Strange if self.has_records() => Tables::Alike,
            tables => tables,
        }
    }

    /// Whether a record of a session holds.
    fn has_records(&self) -> bool {
        self.sessions().into_iter().any(|(id, known)| !self.found(id, &known.name).is_empty())
    }

    /// The pages that it reads, to look for more in them.
    pub(super) fn pages(&self) -> &Pages {
        &self.pages
    }

    /// The sessions with their numbers in this file, without those in which nothing was ever written. A name that is there twice was
    /// taken away and used again: the later one counts.
    pub(super) fn sessions(&self) -> Vec<(i64, &SessionFacts)> {
        let written =
            self.sessions.iter().filter(|(id, known)| known.last != Some(Seq(0)) || self.has_rows(**id));
        let newest: BTreeMap<&SessionId, (i64, &SessionFacts)> =
            written.map(|(id, known)| (&known.name, (*id, known))).collect();
        let mut sessions: Vec<(i64, &SessionFacts)> = newest.into_values().collect();
        sessions.sort_by_key(|(id, _)| *id);
        sessions
    }

    /// Whether rows of the log say that they are of this session.
    fn has_rows(&self, id: i64) -> bool {
        let from = self.rows.partition_point(|(found, _)| *found < key(id, Seq(0)));
        self.rows.get(from).is_some_and(|(found, _)| *found <= key(id, Seq(MAX_SEQ)))
    }

    /// Rows of the log that belong to no session that is known.
    pub(super) fn strays(&self) -> u64 {
        let known = |key: &i64| self.sessions.contains_key(&(key >> SEQ_BITS));
        let strays: BTreeSet<i64> = self.rows.iter().map(|(key, _)| *key).filter(|key| !known(key)).collect();
        strays.len() as u64
    }

    /// Everything of a session that holds.
    pub(super) fn found(&self, id: i64, session: &SessionId) -> SalvagedRows {
        let (from, to) = (key(id, Seq(0)), key(id, Seq(MAX_SEQ)));
        let from = self.rows.partition_point(|(key, _)| *key < from);
        let mut found = SalvagedRows::default();
        let mut due = Seq(1);
        for (key, place) in self.rows[from..].iter().take_while(|(key, _)| *key <= to) {
            let first = Seq(nat(*key) & MAX_SEQ);
            // Also what stood twice: the first that holds is taken.
            if first < due {
                continue;
            }
            let row = self.row(*place, |last| (first, last));
            if let Some(row) = row.filter(|row| holds(rows::unpack(session, row))) {
                due = row.last.next();
                found.rows.push(row);
            }
        }
        let from = self.snapshots.partition_point(|(of, _)| *of < id);
        let kept = self.snapshots[from..].iter().take_while(|(of, _)| *of == id);
        let kept = kept.filter_map(|(_, place)| self.row(*place, |seq| (seq, seq)));
        found.snapshot =
            kept.filter(|row| holds(rows::unpack_state(session, row))).max_by_key(|row| row.first);
        found
    }

    /// The row at `place`, whose second column gives its numbers.
    fn row(&self, (page, at): RowPosition, numbers: impl Fn(Seq) -> (Seq, Seq)) -> Option<Row> {
        let page = self.pages.page(page)?;
        let cell = *cells::cells(&page, self.pages.usable()).get(at)?;
        let bytes = cell.whole(&page, &self.pages)?;
        let columns = cells::columns(&bytes)?;
        let [
            _,
            Column::Int(Some(last)),
            Column::Int(Some(version)),
            Column::Int(Some(form)),
            Column::Int(Some(crc)),
            Column::Blob(Some(record)),
        ] = columns.as_slice()
        else {
            return None;
        };
        let (first, last) = numbers(Seq(nat(*last)));
        let (version, form, crc) =
            ((*version).try_into().ok()?, (*form).try_into().ok()?, (*crc).try_into().ok()?);
        Some(Row { first, last, version, form, crc, bytes: record.to_vec() })
    }

    fn look_at(&mut self, number: u32, page: &[u8]) {
        for (at, cell) in cells::cells(page, self.pages.usable()).into_iter().enumerate() {
            let Some(columns) = cells::columns(cell.here(page)) else { continue };
            match (cell.rowid, columns.as_slice()) {
                // A row of the log, or a snapshot: they look alike, but keys of the log are far beyond the numbers of sessions.
                (
                    Some(rowid),
                    [
                        Column::Null,
                        Column::Int(_),
                        Column::Int(_),
                        Column::Int(_),
                        Column::Int(_),
                        Column::Blob(_),
                    ],
                ) => {
                    let place = (number, at);
                    if rowid >> SEQ_BITS > 0 {
                        self.rows.push((rowid, place));
                    } else if rowid > 0 {
                        self.snapshots.push((rowid, place));
                    }
                }
                (
                    Some(rowid),
                    [
                        Column::Null,
                        Column::Text(_),
                        Column::Int(_),
                        Column::Text(_),
                        Column::Int(_),
                        Column::Text(_),
                    ],
                ) => {
                    let whole = cell.whole(page, &self.pages).unwrap_or_else(|| cell.here(page).to_vec());
                    if let Some(known) = cells::columns(&whole).and_then(|columns| known(&columns)) {
                        self.remember(rowid, known);
                    }
                }
                // Of the index of names: it knows a session also where its row is lost.
                (None, [Column::Text(Some(name)), Column::Int(Some(rowid))]) => {
                    if let Some(name) = SessionId::parse(name) {
                        self.remember(*rowid, SessionFacts { name, last: None, title: String::new() });
                    }
                }
                (
                    Some(_),
                    [
                        Column::Text(Some("table" | "index")),
                        Column::Text(_),
                        Column::Text(_),
                        Column::Int(_),
                        Column::Text(_),
                    ],
                ) => {
                    let whole = cell.whole(page, &self.pages);
                    if let Some(columns) = whole.as_deref().and_then(cells::columns) {
                        self.note_table(&columns);
                    }
                }
                // A lease.
                (
                    Some(_),
                    [
                        Column::Null,
                        Column::Text(Some(owner)),
                        Column::Text(_),
                        Column::Int(Some(pid)),
                        Column::Int(_),
                        Column::Int(_),
                        Column::Int(_),
                    ],
                ) if !owner.is_empty() => {
                    self.writers.extend(u32::try_from(*pid).ok());
                }
                _ => {}
            }
        }
    }

    /// The list of tables begins behind the header of the first page, and goes on in others.
    fn look_at_tables(&mut self, first: &[u8]) {
        for cell in cells::cells_at(first, HEADER, self.pages.usable()) {
            let Some(row) = cell.whole(first, &self.pages) else { continue };
            if let Some(columns) = cells::columns(&row) {
                self.note_table(&columns);
            }
        }
    }

    fn note_table(&mut self, columns: &[Column<'_>]) {
        if let [_, Column::Text(Some(name)), _, Column::Int(_), Column::Text(Some(sql))] = columns {
            self.made.insert((*name).to_owned(), (*sql).to_owned());
        }
    }

    fn remember(&mut self, id: i64, known: SessionFacts) {
        if !(1..=MAX_SESSION).contains(&id) {
            return;
        }
        let before = self.sessions.entry(id).or_insert_with(|| known.clone());
        if known.last > before.last || (known.last == before.last && !known.title.is_empty()) {
            *before = known;
        }
    }
}

/// The largest number of a session that a log key can hold.
const MAX_SESSION: i64 = i64::MAX >> SEQ_BITS;

fn known(columns: &[Column<'_>]) -> Option<SessionFacts> {
    let [_, Column::Text(Some(name)), Column::Int(Some(last)), .., summary] = columns else { return None };
    let title = match summary {
        Column::Text(Some(summary)) => {
            record::decode::<SessionSummary>(summary).ok().map(|summary| summary.title)
        }
        _ => None,
    };
    Some(SessionFacts {
        name: SessionId::parse(name)?,
        last: Some(Seq(nat(*last))),
        title: title.unwrap_or_default(),
    })
}

/// Whether a row is as it was written, also by a program that knows more than this one.
fn holds<T>(read: Result<T, Unreadable>) -> bool {
    !matches!(read, Err(Unreadable::Damaged(_)))
}
