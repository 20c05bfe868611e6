//! Rows in a bare page: which there are, and what their columns hold.
//!
//! Only leaves are read, each by itself: a tree whose inner pages are lost still gives all its rows. Nothing that stands in a page is
//! trusted; what makes no sense is no row.

use super::pages::Pages;

/// The first byte of a leaf of a table, and of an index.
const TABLE_LEAF: u8 = 0x0d;
const INDEX_LEAF: u8 = 0x0a;
/// Where the cells of a leaf are listed.
const LIST: usize = 8;
/// Most bytes of a row: a damaged number must not fill the memory.
const MAX_PAYLOAD: usize = 512 * 1024 * 1024;

/// A row in a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Cell {
    /// Its number; `None` in an index.
    pub(super) rowid: Option<i64>,
    length: usize,
    /// The part of it that stands in the page itself.
    from: usize,
    to: usize,
    /// Where it goes on; 0 when it does not.
    next: u32,
}

/// What a column holds. `None` stands for what is beyond the bytes that were given, or no text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Column<'a> {
    Null,
    Int(Option<i64>),
    Text(Option<&'a str>),
    Blob(Option<&'a [u8]>),
}

/// The rows of a page, if it is a leaf.
pub(super) fn cells(page: &[u8], usable: usize) -> Vec<Cell> {
    cells_at(page, 0, usable)
}

/// The rows of a page of which the first `begin` bytes are something else.
pub(super) fn cells_at(page: &[u8], begin: usize, usable: usize) -> Vec<Cell> {
    let of_table = match page.get(begin) {
        Some(&TABLE_LEAF) => true,
        Some(&INDEX_LEAF) => false,
        _ => return Vec::new(),
    };
    let count = short_at(page, begin + 3).unwrap_or(0);
    let list = begin + LIST;
    let count = if list + 2 * count <= usable { count } else { 0 };
    (0..count).filter_map(|at| cell(page, usable, short_at(page, list + 2 * at)?, of_table)).collect()
}

fn cell(page: &[u8], usable: usize, at: usize, of_table: bool) -> Option<Cell> {
    let page = page.get(..usable)?;
    let (length, at) = varint(page, at)?;
    let (rowid, from) = if of_table {
        let (rowid, at) = varint(page, at)?;
        (Some(rowid), at)
    } else {
        (None, at)
    };
    let length = usize::try_from(length).ok().filter(|length| *length <= MAX_PAYLOAD)?;
    let most = if of_table { usable - 35 } else { (usable - 12) * 64 / 255 - 23 };
    if length <= most {
        let to = from.checked_add(length).filter(|to| *to <= usable)?;
        return Some(Cell { rowid, length, from, to, next: 0 });
    }
    let least = (usable - 12) * 32 / 255 - 23;
    let here = least + (length - least) % (usable - 4);
    let to = from + if here <= most { here } else { least };
    let next = page.get(to..to + 4)?;
    Some(Cell { rowid, length, from, to, next: u32::from_be_bytes(next.try_into().ok()?) })
}

impl Cell {
    /// As much of the row as stands in the page.
    pub(super) fn here<'a>(&self, page: &'a [u8]) -> &'a [u8] {
        page.get(self.from..self.to).unwrap_or_default()
    }

    /// The whole row; `None` when a page of it is gone.
    pub(super) fn whole(&self, page: &[u8], pages: &Pages) -> Option<Vec<u8>> {
        if self.length > pages.capacity() {
            return None;
        }
        let mut bytes = self.here(page).to_vec();
        let mut next = self.next;
        while bytes.len() < self.length {
            let page = pages.page(next)?;
            let room = (self.length - bytes.len()).min(pages.usable() - 4);
            bytes.extend(page.get(4..4 + room)?);
            next = u32::from_be_bytes(page.get(..4)?.try_into().ok()?);
        }
        Some(bytes)
    }
}

/// The columns of a row, of which the end may be missing; `None` when it is no row.
pub(super) fn columns(row: &[u8]) -> Option<Vec<Column<'_>>> {
    let (length, mut at) = varint(row, 0)?;
    let end = usize::try_from(length).ok()?;
    let mut body = end;
    let mut columns = Vec::new();
    while at < end {
        let (kind, next) = varint(row, at)?;
        let kind = usize::try_from(kind).ok().filter(|kind| *kind <= 2 * MAX_PAYLOAD + 13)?;
        at = next;
        let mut take = |length: usize| {
            let bytes = row.get(body..body + length);
            body += length;
            bytes
        };
        columns.push(match kind {
            0 => Column::Null,
            1..=4 => Column::Int(take(kind).map(signed)),
            5 => Column::Int(take(6).map(signed)),
            6 => Column::Int(take(8).map(signed)),
            8 | 9 => Column::Int(Some(i64::from(kind == 9))),
            7 | 10 | 11 => return None,
            even if even % 2 == 0 => Column::Blob(take((even - 12) / 2)),
            odd => Column::Text(take((odd - 13) / 2).and_then(|text| std::str::from_utf8(text).ok())),
        });
    }
    (at == end).then_some(columns)
}

fn signed(bytes: &[u8]) -> i64 {
    let negative = bytes.first().is_some_and(|first| first & 0x80 != 0);
    bytes.iter().fold(if negative { -1 } else { 0 }, |number, byte| number << 8 | i64::from(*byte))
}

fn short_at(bytes: &[u8], at: usize) -> Option<usize> {
    Some(usize::from(*bytes.get(at)?) << 8 | usize::from(*bytes.get(at + 1)?))
}

/// SQLite's number of one to nine bytes at `at`, and where it ends.
fn varint(bytes: &[u8], at: usize) -> Option<(i64, usize)> {
    let mut number: i64 = 0;
    for length in 0..8 {
        let byte = *bytes.get(at + length)?;
        number = number << 7 | i64::from(byte & 0x7f);
        if byte & 0x80 == 0 {
            return Some((number, at + length + 1));
        }
    }
    Some((number << 8 | i64::from(*bytes.get(at + 8)?), at + 9))
}
