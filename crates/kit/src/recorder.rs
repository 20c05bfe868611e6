//! Writes a conversation down while it happens: both directions, with timing, secrets taken out, as a transcript.
//!
//! Whoever notes a line never waits: lines go through a bounded backlog to a thread that writes. When the disk does not keep up,
//! lines are left out and the transcript says how many. Invariants: order is the order of the notes; what was noted before
//! [`Recorder::finish`] is on disk afterwards; the file is for its owner alone.

use crate::notation::{Heads, Kind, Millis, Side, Step};
use crate::redact::Redactor;
use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Bytes of lines that may wait to be written.
pub const MAX_WAITING_BYTES: usize = 64 * 1024 * 1024;
/// Lines that may wait to be written.
pub const MAX_WAITING_LINES: usize = 16 * 1024;
/// The longest line that is kept whole; of a longer one only the beginning is written down.
pub const MAX_KEPT: usize = 10 * 1024 * 1024;
/// How long [`Recorder::finish`] waits for the disk.
const FINISH_WITHIN: Duration = Duration::from_secs(5);
/// How often it looks.
const FINISH_PAUSE: Duration = Duration::from_millis(2);

/// Takes lines down. Clones write into the same transcript.
#[derive(Debug, Clone)]
pub struct Recorder {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    /// `None` once finished.
    notes: Mutex<Option<mpsc::SyncSender<Note>>>,
    waiting: Arc<AtomicUsize>,
    left_out: Arc<AtomicU64>,
    writer: Mutex<Option<JoinHandle<io::Result<()>>>>,
}

struct Note {
    at: Instant,
    side: Side,
    lane: u8,
    line: Vec<u8>,
    /// What a reader must know of the line that cannot be seen in it.
    remark: Option<String>,
}

impl Recorder {
    /// Begins a new file; an existing one is never overwritten.
    ///
    /// # Errors
    /// When the file exists or cannot be made.
    pub fn create(path: &Path, heads: &Heads) -> io::Result<Recorder> {
        let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
        Recorder::to(file, heads)
    }

    fn to(file: File, heads: &Heads) -> io::Result<Recorder> {
        let mut out = BufWriter::new(file);
        writeln!(out, "{heads}")?;
        out.flush()?;
        let (sender, notes) = mpsc::sync_channel(MAX_WAITING_LINES);
        let (waiting, left_out) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicU64::new(0)));
        let writer = Writer {
            out,
            redactor: Redactor::new(),
            last: None,
            waiting: waiting.clone(),
            left_out: left_out.clone(),
        };
        let writer = std::thread::Builder::new().name("recorder".into()).spawn(move || writer.run(&notes))?;
        let inner =
            Inner { notes: Mutex::new(Some(sender)), waiting, left_out, writer: Mutex::new(Some(writer)) };
        Ok(Recorder { inner: Arc::new(inner) })
    }

    /// Takes down a line without its newline. Never waits.
    pub fn note(&self, side: Side, lane: u8, line: &[u8]) {
        self.note_with(side, lane, line, None);
    }

    /// The same, with a remark that the transcript has below it.
    pub fn note_with(&self, side: Side, lane: u8, line: &[u8], remark: Option<String>) {
        let kept = line.get(..MAX_KEPT).unwrap_or(line);
        let cut = line.len() - kept.len();
        let remark = remark.or_else(|| (cut > 0).then(|| format!("the line above went on for {cut} bytes")));
        let size = kept.len();
        let before = self.inner.waiting.fetch_add(size, Ordering::AcqRel);
        let taken = before + size <= MAX_WAITING_BYTES || before == 0;
        let sent = taken && {
            let note = Note { at: Instant::now(), side, lane, line: kept.to_vec(), remark };
            let notes = self.inner.notes.lock().unwrap_or_else(PoisonError::into_inner);
            notes.as_ref().is_some_and(|notes| notes.try_send(note).is_ok())
        };
        if !sent {
            self.inner.waiting.fetch_sub(size, Ordering::AcqRel);
            self.inner.left_out.fetch_add(1, Ordering::AcqRel);
        }
    }

    /// Ends the transcript: what was noted is on disk afterwards.
    ///
    /// # Errors
    /// When the disk failed meanwhile, so that the transcript ends early, or when it hangs.
    pub fn finish(&self) -> io::Result<()> {
        self.inner.notes.lock().unwrap_or_else(PoisonError::into_inner).take();
        let writer = self.inner.writer.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(writer) = writer else { return Ok(()) };
        let deadline = Instant::now() + FINISH_WITHIN;
        while !writer.is_finished() && Instant::now() < deadline {
            std::thread::sleep(FINISH_PAUSE);
        }
        if !writer.is_finished() {
            return Err(io::Error::new(io::ErrorKind::TimedOut, "the disk does not answer"));
        }
        writer.join().unwrap_or_else(|_| Err(io::Error::other("the writer broke off")))
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.notes.get_mut().unwrap_or_else(PoisonError::into_inner).take();
    }
}

struct Writer {
    out: BufWriter<File>,
    redactor: Redactor,
    last: Option<Instant>,
    waiting: Arc<AtomicUsize>,
    left_out: Arc<AtomicU64>,
}

impl Writer {
    /// A disk that fails ends the recording, never the conversation; [`Recorder::finish`] tells it.
    fn run(mut self, notes: &mpsc::Receiver<Note>) -> io::Result<()> {
        while let Ok(first) = notes.recv() {
            self.write(first)?;
            while let Ok(next) = notes.try_recv() {
                self.write(next)?;
            }
            self.tell_left_out()?;
            self.out.flush()?;
        }
        self.tell_left_out()?;
        self.out.flush()
    }

    fn write(&mut self, note: Note) -> io::Result<()> {
        self.waiting.fetch_sub(note.line.len(), Ordering::AcqRel);
        let since = self.last.map_or(0, |last| note.at.saturating_duration_since(last).as_millis());
        self.last = Some(note.at);
        let after = u64::try_from(since).ok().filter(|millis| *millis > 0).map(Millis);
        let step = self.redactor.step(Step::recorded(note.side, note.lane, &note.line, after));
        writeln!(self.out, "{step}")?;
        match note.remark {
            None => Ok(()),
            Some(remark) => writeln!(self.out, "{}", Step::new(Kind::Note(format!("# {remark}")))),
        }
    }

    fn tell_left_out(&mut self) -> io::Result<()> {
        match self.left_out.swap(0, Ordering::AcqRel) {
            0 => Ok(()),
            count => {
                let note = Kind::Note(format!("# {count} lines were left out: the disk did not keep up"));
                writeln!(self.out, "{}", Step::new(note))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::notation::Transcript;

    #[test]
    fn what_is_noted_reads_back_as_a_transcript() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("one.txt");
        let heads = Heads { dialect: Some("codelia".into()), ..Heads::default() };
        let recorder = Recorder::create(&path, &heads).unwrap();
        recorder.note(Side::Ui, 0, br#"{"id":"1","price":"$run","api_key":"k"}"#);
        recorder.note(Side::Runtime, 1, b"not json");
        recorder.note_with(Side::Runtime, 0, b"\xff\xfe", Some("the line above was not finished".into()));
        recorder.finish().unwrap();
        recorder.note(Side::Ui, 0, b"too late");
        let text = std::fs::read_to_string(&path).unwrap();
        let transcript = Transcript::parse(&text).unwrap();
        assert_eq!(transcript.heads, heads);
        let said: Vec<String> = transcript.steps.iter().map(|step| step.kind.to_string()).collect();
        assert_eq!(
            said,
            [
                r#"> {"id":"1","price":"\u0024run","api_key":"[redacted]"}"#,
                "!<@1 not json",
                "!<hex fffe0a",
                "# the line above was not finished"
            ]
        );
        assert!(Recorder::create(&path, &heads).is_err(), "a recording is never overwritten");
    }

    #[test]
    fn a_disk_that_fails_is_told_at_the_end() {
        let (file, reader) = std::os::unix::net::UnixStream::pair().unwrap();
        let file = File::from(std::os::fd::OwnedFd::from(file));
        let recorder = Recorder::to(file, &Heads::default()).unwrap();
        drop(reader);
        recorder.note(Side::Ui, 0, b"{}");
        assert_eq!(recorder.finish().unwrap_err().kind(), io::ErrorKind::BrokenPipe);
    }
}
