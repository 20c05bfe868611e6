//! What a command printed: head and tail kept for the model, the whole kept in a file, both bounded.
//!
//! Invariants: the bytes in memory never pass [`KEPT`], the bytes on disk never pass [`MAX_SPILL`]; secrets that the person typed
//! are marks on disk.

use crate::known_secrets::KnownSecrets;
use domain::path_text;
use std::collections::VecDeque;
use std::fs::File;
use std::io::Write as _;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

/// Bytes of output that the model gets to see.
pub const KEPT: usize = 50 * 1024;
/// Bytes of output kept in a file.
pub const MAX_SPILL: u64 = 10 * 1024 * 1024;
/// Files with long outputs that are kept; past it the oldest goes.
pub const MAX_FILES: usize = 64;

const HEAD: usize = KEPT / 2;
const TAIL: usize = KEPT - HEAD;

/// Collects output as it comes.
#[derive(Debug)]
pub(crate) struct Output {
    dir: PathBuf,
    head: Vec<u8>,
    tail: VecDeque<u8>,
    total: u64,
    spill: SpillFile,
    secrets: KnownSecrets,
    /// Bytes for the file that may be the beginning of a secret.
    held: Vec<u8>,
}

#[derive(Debug)]
enum SpillFile {
    None,
    Open {
        file: File,
        path: PathBuf,
        written: u64,
        /// Bytes of the output that it stands for.
        taken: u64,
    },
    Failed,
}

impl Output {
    /// Nothing yet; a long output would go to a file in `dir`, without these secrets.
    pub(crate) fn new(dir: &Path, secrets: &KnownSecrets) -> Output {
        Output {
            dir: dir.to_owned(),
            head: Vec::new(),
            tail: VecDeque::new(),
            total: 0,
            spill: SpillFile::None,
            secrets: secrets.clone(),
            held: Vec::new(),
        }
    }

    /// Takes the next bytes.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        let before = self.total;
        self.total += bytes.len() as u64;
        if self.total > KEPT as u64 {
            if before <= KEPT as u64 {
                self.open();
            }
            self.write(bytes);
        }
        let room = HEAD.saturating_sub(self.head.len()).min(bytes.len());
        let (first, rest) = bytes.split_at(room);
        self.head.extend_from_slice(first);
        self.tail.extend(rest);
        let excess = self.tail.len().saturating_sub(TAIL);
        self.tail.drain(..excess);
    }

    /// Whether bytes were left out of [`Output::text`].
    pub(crate) fn truncated(&self) -> bool {
        self.total > KEPT as u64
    }

    /// The file with the whole output, when there is one.
    pub(crate) fn file(&self) -> Option<&Path> {
        match &self.spill {
            SpillFile::Open { path, .. } => Some(path),
            SpillFile::None | SpillFile::Failed => None,
        }
    }

    /// The output for the model.
    pub(crate) fn text(&self) -> String {
        let tail: Vec<u8> = self.tail.iter().copied().collect();
        if !self.truncated() {
            let all = [self.head.as_slice(), &tail].concat();
            return String::from_utf8_lossy(&all).into_owned();
        }
        let left_out = self.total - (self.head.len() + tail.len()) as u64;
        let whole = match &self.spill {
            SpillFile::Open { path, taken, .. } if *taken < self.total => {
                format!("the first {taken} bytes are in {}, use read", path_text::write(path))
            }
            SpillFile::Open { path, .. } => format!("the whole is in {}, use read", path_text::write(path)),
            SpillFile::None | SpillFile::Failed => "it could not be kept".to_owned(),
        };
        format!(
            "{}\n… ({left_out} of {} bytes left out; {whole}) …\n{}",
            String::from_utf8_lossy(&self.head),
            self.total,
            String::from_utf8_lossy(&tail)
        )
    }

    /// Starts the file with what came so far: up to here head and tail hold everything.
    fn open(&mut self) {
        self.spill = match create(&self.dir) {
            Ok((file, path)) => SpillFile::Open { file, path, written: 0, taken: 0 },
            Err(_) => SpillFile::Failed,
        };
        let head = std::mem::take(&mut self.head);
        let tail: Vec<u8> = self.tail.iter().copied().collect();
        self.write(&head);
        self.write(&tail);
        self.head = head;
    }

    fn write(&mut self, bytes: &[u8]) {
        let SpillFile::Open { taken, written, .. } = &mut self.spill else { return };
        let room = usize::try_from(MAX_SPILL.saturating_sub(*written)).unwrap_or(usize::MAX);
        let piece = bytes.get(..room.min(bytes.len())).unwrap_or_default();
        *taken += piece.len() as u64;
        let mut waiting = std::mem::take(&mut self.held);
        waiting.extend_from_slice(piece);
        let (ready, held) = self.secrets.lock().mask_beginning(&waiting);
        self.held = waiting.split_off(waiting.len() - held);
        self.write_masked(&ready);
    }

    fn write_masked(&mut self, bytes: &[u8]) {
        let SpillFile::Open { file, written, .. } = &mut self.spill else { return };
        let room = usize::try_from(MAX_SPILL.saturating_sub(*written)).unwrap_or(usize::MAX);
        let piece = bytes.get(..room.min(bytes.len())).unwrap_or_default();
        if file.write_all(piece).is_ok() {
            *written += piece.len() as u64;
        } else {
            self.spill = SpillFile::Failed;
        }
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        let rest = self.secrets.lock().mask_rest(&std::mem::take(&mut self.held));
        self.write_masked(&rest);
    }
}

fn create(dir: &Path) -> std::io::Result<(File, PathBuf)> {
    // Commands print secrets: nobody else may even see the names.
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(dir)?;
    prune(dir)?;
    let file = tempfile::Builder::new().prefix("output-").suffix(".txt").tempfile_in(dir)?;
    let (file, path) = file.keep().map_err(|error| error.error)?;
    Ok((file, path))
}

/// Removes the oldest outputs so that one more has room.
fn prune(dir: &Path) -> std::io::Result<()> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(dir)? {
        let entry = entry?;
        let name = entry.file_name();
        if name.to_string_lossy().starts_with("output-") {
            files.push((entry.metadata()?.modified()?, entry.path()));
        }
    }
    files.sort();
    let excess = (files.len() + 1).saturating_sub(MAX_FILES);
    for (_, path) in files.into_iter().take(excess) {
        std::fs::remove_file(path)?;
    }
    Ok(())
}

/// Live output on its way to the person: whole characters, bounded when nobody takes it.
#[derive(Debug, Default)]
pub(crate) struct Live {
    bytes: Vec<u8>,
}

/// Bytes of live output that wait for a slow reader; past it the older half is dropped (the result still has it).
const MAX_WAITING: usize = 64 * 1024;

impl Live {
    /// Adds bytes; past the bound the older half is dropped, since the newest are worth showing.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
        if self.bytes.len() > MAX_WAITING {
            let cut = self.bytes.len() - MAX_WAITING / 2;
            self.bytes.drain(..cut);
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.whole() == 0
    }

    /// Everything up to the last whole character.
    pub(crate) fn take(&mut self) -> String {
        let whole = self.whole();
        let bytes: Vec<u8> = self.bytes.drain(..whole).collect();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// How many bytes make whole characters; a torn one at the end waits for its rest.
    fn whole(&self) -> usize {
        let length = self.bytes.len();
        for back in 1..=3.min(length) {
            let Some(byte) = self.bytes.get(length - back) else { break };
            let needs = match byte {
                0xC0..=0xDF => 2,
                0xE0..=0xEF => 3,
                0xF0..=0xF7 => 4,
                0x80..=0xBF => continue,
                _ => break,
            };
            return if needs > back { length - back } else { length };
        }
        length
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn long_output_keeps_both_ends_and_the_whole_in_a_file() {
        let dir = tempfile::tempdir().unwrap();
        let mut output = Output::new(dir.path(), &KnownSecrets::default());
        let mut whole = Vec::new();
        for number in 0..20_000 {
            let line = format!("line {number}\n");
            whole.extend_from_slice(line.as_bytes());
            output.push(line.as_bytes());
        }
        let text = output.text();
        assert!(output.truncated());
        assert!(text.len() < KEPT + 500, "{}", text.len());
        assert!(text.starts_with("line 0\n") && text.ends_with("line 19999\n"));
        assert_eq!(std::fs::read(output.file().unwrap()).unwrap(), whole);
    }

    #[test]
    fn the_file_is_bounded_and_said_so() {
        let dir = tempfile::tempdir().unwrap();
        let mut output = Output::new(dir.path(), &KnownSecrets::default());
        let chunk = vec![b'x'; 1024 * 1024];
        for _ in 0..12 {
            output.push(&chunk);
        }
        assert_eq!(std::fs::metadata(output.file().unwrap()).unwrap().len(), MAX_SPILL);
        assert!(output.text().contains("the first 10485760 bytes are in"));
    }

    #[test]
    fn old_files_make_room_and_nobody_else_sees_them() {
        use std::os::unix::fs::PermissionsExt as _;
        let dir = tempfile::tempdir().unwrap();
        let dir = dir.path().join("outputs");
        for _ in 0..MAX_FILES + 3 {
            create(&dir).unwrap();
        }
        assert_eq!(std::fs::read_dir(&dir).unwrap().count(), MAX_FILES);
        assert_eq!(std::fs::metadata(&dir).unwrap().permissions().mode() & 0o777, 0o700);
    }

    proptest! {
        #[test]
        fn any_cut_of_text_gives_the_same_text(text in "\\PC{0,40}", cuts in prop::collection::vec(0usize..200, 0..6)) {
            let bytes = text.as_bytes();
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(bytes.len())).collect();
            cuts.sort_unstable();
            cuts.push(bytes.len());
            let (mut live, mut start, mut told) = (Live::default(), 0, String::new());
            for cut in cuts {
                live.push(&bytes[start..cut]);
                told.push_str(&live.take());
                start = cut;
            }
            prop_assert_eq!(told, text);
        }
    }

    #[test]
    fn a_slow_reader_gets_the_newest_output() {
        let mut live = Live::default();
        live.push(&vec![b'a'; MAX_WAITING]);
        live.push(b"newest");
        let told = live.take();
        assert!(told.len() <= MAX_WAITING && told.ends_with("newest"), "{}", told.len());
    }

    #[test]
    fn a_secret_is_a_mark_in_the_file_however_it_is_printed() {
        let dir = tempfile::tempdir().unwrap();
        let secrets = KnownSecrets::default();
        secrets.lock().keep(domain::ids::AskId(3), "hunter2").unwrap();
        let mut output = Output::new(dir.path(), &secrets);
        output.push(&vec![b'x'; KEPT]);
        for piece in ["\nthe password is hun", "ter", "2\nand hunt"] {
            output.push(piece.as_bytes());
        }
        let path = output.file().unwrap().to_owned();
        drop(output);
        let kept = std::fs::read_to_string(path).unwrap();
        assert!(kept.ends_with("\nthe password is [secret 3: not kept]\nand hunt"));
    }
}
