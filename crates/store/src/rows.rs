//! Rows of the log and snapshots as bytes: lines of records, packed when that saves space, with a checksum.
//!
//! The checksum covers the session, the numbers and the bytes as they are stored, so a row that was damaged, cut or moved to
//! another place is told from a good one.

mod parted;

use domain::event::Event;
use domain::ids::{Seq, SessionId};
use domain::state::State;
use flate2::Compression;
use flate2::read::DeflateDecoder;
use flate2::write::DeflateEncoder;
use std::io::{Read, Write};

/// Rows shorter than this are stored as they are: packing would not pay.
const WORTH_PACKING: usize = 256;
/// Most bytes of a row before packing; a longer append takes several rows. One large event still fits one row.
const ROW_BYTES: usize = 1024 * 1024;
/// Most bytes that a packed row may unfold to: a damaged or forged row must not fill the memory.
const MAX_UNPACKED: u64 = 512 * 1024 * 1024;

/// How the bytes are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Plain = 0,
    Deflate = 1,
    /// Of a snapshot: its texts apart.
    Parted = 2,
}

/// A row of the log or a snapshot as it stands in the file: bytes, and what proves them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// First event in it; for a snapshot the event it stands at.
    pub first: Seq,
    /// Last event in it.
    pub last: Seq,
    /// Version of the records.
    pub version: u32,
    /// How the bytes are stored.
    pub form: u8,
    pub crc: u32,
    pub bytes: Vec<u8>,
}

/// Why a row cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unreadable {
    /// It is not as it was written.
    Damaged(String),
    /// It is as it was written, by a program that knows more than this one: the text says what.
    Newer(String),
}

/// What is wrong with a row that was damaged.
pub(crate) fn damaged(what: impl Into<String>) -> Unreadable {
    Unreadable::Damaged(what.into())
}

/// The rows that hold `events`.
pub fn pack(session: &SessionId, events: &[Event]) -> Vec<Row> {
    let mut rows = Vec::new();
    let mut raw = Vec::new();
    let mut first = None;
    for (at, event) in events.iter().enumerate() {
        first = first.or(Some(event.seq));
        raw.extend_from_slice(record::encode(event).as_bytes());
        raw.push(b'\n');
        let full = raw.len() >= ROW_BYTES || at + 1 == events.len();
        if let Some(first) = first.take_if(|_| full) {
            rows.push(row(session, first, event.seq, &std::mem::take(&mut raw)));
        }
    }
    rows
}

/// The events of a row.
pub fn unpack(session: &SessionId, row: &Row) -> Result<Vec<Event>, Unreadable> {
    let text = text(session, row)?;
    let mut events = Vec::new();
    let mut due = row.first;
    for line in text.lines() {
        // Its checksum is right: whoever wrote it meant it so.
        let event: Event = record::decode(line).map_err(|error| Unreadable::Newer(error.to_string()))?;
        if event.seq != due {
            return Err(damaged("its numbers do not follow"));
        }
        due = due.next();
        events.push(event);
    }
    if due != row.last.next() {
        return Err(damaged("it is cut"));
    }
    Ok(events)
}

/// The row that holds a snapshot.
pub fn pack_state(session: &SessionId, state: &State) -> Row {
    let (version, form) = (record::VERSION, Form::Parted as u8);
    let mut row =
        Row { first: state.seq, last: state.seq, version, form, crc: 0, bytes: parted::pack(state) };
    row.crc = checksum(session, &row);
    row
}

/// The state of a snapshot.
pub fn unpack_state(session: &SessionId, row: &Row) -> Result<State, Unreadable> {
    check(session, row)?;
    if row.form != Form::Parted as u8 {
        return Err(Unreadable::Newer(format!("it is stored in the form {}", row.form)));
    }
    let state = parted::unpack(&row.bytes)?;
    if state.seq != row.first {
        return Err(damaged("it is at another event"));
    }
    Ok(state)
}

fn row(session: &SessionId, first: Seq, last: Seq, raw: &[u8]) -> Row {
    let (form, bytes) = match deflated(raw) {
        Some(packed) => (Form::Deflate, packed),
        None => (Form::Plain, raw.to_vec()),
    };
    let mut row = Row { first, last, version: record::VERSION, form: form as u8, crc: 0, bytes };
    row.crc = checksum(session, &row);
    row
}

fn deflated(raw: &[u8]) -> Option<Vec<u8>> {
    if raw.len() < WORTH_PACKING {
        return None;
    }
    let mut encoder = DeflateEncoder::new(Vec::with_capacity(raw.len() / 2), Compression::fast());
    // Writing to memory does not fail; if it did, the plain form is as good.
    encoder.write_all(raw).ok()?;
    encoder.finish().ok().filter(|packed| packed.len() < raw.len())
}

fn checksum(session: &SessionId, row: &Row) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(session.as_str().as_bytes());
    hasher.update(&row.first.0.to_le_bytes());
    hasher.update(&row.last.0.to_le_bytes());
    hasher.update(&row.version.to_le_bytes());
    hasher.update(&[row.form]);
    hasher.update(&row.bytes);
    hasher.finalize()
}

/// Whether a row is as it was written, in a version that we know.
fn check(session: &SessionId, row: &Row) -> Result<(), Unreadable> {
    if checksum(session, row) != row.crc {
        return Err(damaged("its checksum is wrong"));
    }
    if row.version > record::VERSION {
        let (theirs, ours) = (row.version, record::VERSION);
        return Err(Unreadable::Newer(format!("its records have version {theirs}, up to {ours} are known")));
    }
    Ok(())
}

fn text(session: &SessionId, row: &Row) -> Result<String, Unreadable> {
    check(session, row)?;
    let bytes = match row.form {
        0 => row.bytes.clone(),
        1 => inflated(&row.bytes)?,
        other => return Err(Unreadable::Newer(format!("it is stored in the form {other}"))),
    };
    String::from_utf8(bytes).map_err(|_| damaged("it is not text"))
}

fn inflated(packed: &[u8]) -> Result<Vec<u8>, Unreadable> {
    let mut raw = Vec::new();
    let mut decoder = DeflateDecoder::new(packed).take(MAX_UNPACKED);
    decoder.read_to_end(&mut raw).map_err(|error| damaged(error.to_string()))?;
    Ok(raw)
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::content::TextKind;
    use domain::event::{Body, MessageEvent};
    use domain::ids::{MessageId, Millis};

    fn events(count: u64, text: &str) -> Vec<Event> {
        let body = Body::Message(MessageEvent::Delta {
            message: MessageId(1),
            kind: TextKind::Text,
            text: text.to_owned(),
        });
        (1..=count).map(|n| Event { seq: Seq(n), at: Millis(n), body: body.clone() }).collect()
    }

    #[test]
    fn rows_come_back_and_a_stream_packs_well() {
        let session = SessionId::from_number(1);
        for (count, text) in [(1, "x"), (400, "token "), (3, &"y".repeat(700_000))] {
            let events = events(count, text);
            let rows = pack(&session, &events);
            let back: Vec<Event> = rows.iter().flat_map(|row| unpack(&session, row).unwrap()).collect();
            assert_eq!(back, events);
        }
        let rows = pack(&session, &events(400, "token "));
        assert!(rows[0].bytes.len() < 400 * 12, "{}", rows[0].bytes.len());
        assert_eq!(pack(&session, &[]), Vec::new());
    }

    #[test]
    fn snapshots_come_back_small_and_large() {
        let session = SessionId::from_number(1);
        for messages in [1u64, 2_000] {
            let mut state = State::new();
            for n in 1..=messages {
                let message = MessageId(n);
                let (parent, role) =
                    ((n > 1).then(|| domain::ids::EntryId(n - 1)), domain::content::Role::User);
                let start =
                    Body::Message(MessageEvent::Started { message, parent, role, turn: None, step: None });
                state.apply(Millis(n), &start).unwrap();
                let text = format!("é{n}\n").repeat(n as usize % 7);
                let delta = Body::Message(MessageEvent::Delta { message, kind: TextKind::Text, text });
                state.apply(Millis(n), &delta).unwrap();
                let finish = domain::event::Finish::Complete;
                state.apply(Millis(n), &Body::Message(MessageEvent::Ended { message, finish })).unwrap();
                state.seq = Seq(n);
            }
            let row = pack_state(&session, &state);
            assert_eq!(unpack_state(&session, &row), Ok(state));
            for end in [0, 3, row.bytes.len() / 2, row.bytes.len() - 1] {
                assert!(parted::unpack(&row.bytes[..end]).is_err(), "{end}");
            }
        }
    }

    #[test]
    fn any_flipped_bit_and_any_other_place_is_noticed() {
        let session = SessionId::from_number(1);
        let row = pack(&session, &events(3, "hello")).remove(0);
        for at in 0..row.bytes.len() {
            let mut damaged = row.clone();
            damaged.bytes[at] ^= 0x10;
            assert!(unpack(&session, &damaged).is_err(), "{at}");
        }
        let mut moved = row.clone();
        moved.first = Seq(2);
        assert!(unpack(&session, &moved).is_err());
        assert!(unpack(&SessionId::from_number(2), &row).is_err());
    }
}
