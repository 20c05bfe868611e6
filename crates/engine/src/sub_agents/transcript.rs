//! What a sub-agent said, called and read, as a text beside the session's long outputs: whoever wants to know why it said something reads
//! that. It is no part of the record, and nothing is gone on with from it. Bounded; where it cannot be written there is none.

use domain::content::{Part, Role, TextKind};
use domain::event::{Body, MessageEvent, ToolEvent};
use domain::ids::ToolRunId;
use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

/// What a sub-agent says past this is in its last words alone.
const MAX_BYTES: usize = 1024 * 1024;
/// Bytes of what one call gave.
const MAX_RESULT: usize = 16 * 1024;
/// Readable for its owner alone, like all that is kept.
const MODE: u32 = 0o600;

/// The text while it grows.
#[derive(Debug)]
pub(crate) struct Transcript {
    file: PathBuf,
    pending: String,
    written: usize,
    calls: BTreeMap<ToolRunId, String>,
}

impl Transcript {
    /// Begins the text of a tool run.
    pub(crate) fn begin(outputs: &Path, id: ToolRunId, agent: &str, task: &str) -> Transcript {
        let pending = format!("# {agent}\n\n## Its task\n\n{task}\n");
        Transcript {
            file: outputs.join(format!("task-{}.md", id.0)),
            pending,
            written: 0,
            calls: BTreeMap::new(),
        }
    }

    /// Where it lies, or will as soon as something was written.
    pub(crate) fn file(&self) -> &Path {
        &self.file
    }

    /// Takes in what happened; `true` when that should be on disk soon.
    pub(crate) fn hears(&mut self, body: &Body) -> bool {
        match body {
            Body::Message(MessageEvent::Started { role: Role::Assistant, .. }) => {
                self.add("\n## It says\n\n");
            }
            Body::Message(MessageEvent::Started { .. }) => self.add("\n## It hears\n\n"),
            Body::Message(MessageEvent::Delta { kind: TextKind::Text, text, .. })
            | Body::Message(MessageEvent::PartAdded { part: Part::Text(text), .. }) => self.add(text),
            Body::Tool(ToolEvent::Proposed { tool, name, args, .. }) => {
                self.calls.insert(*tool, format!("\n\n## {name}\n\n{}\n", args.as_str()));
            }
            Body::Tool(ToolEvent::Ended { tool, outcome, result }) => {
                let call = self.calls.remove(tool).unwrap_or_default();
                let mut end = result.text.len().min(MAX_RESULT);
                while !result.text.is_char_boundary(end) {
                    end -= 1;
                }
                let (told, more) = result.text.split_at(end);
                let more = if more.is_empty() { "" } else { "\n[cut here]" };
                self.add(&format!("{call}\n{outcome:?}:\n\n{told}{more}\n"));
                return true;
            }
            _ => {}
        }
        false
    }

    fn add(&mut self, text: &str) {
        if self.written + self.pending.len() + text.len() <= MAX_BYTES {
            self.pending.push_str(text);
        }
    }

    /// What is to be written next, and whether it begins the file.
    pub(crate) fn take(&mut self) -> (PathBuf, String, bool) {
        let text = std::mem::take(&mut self.pending);
        let begins = self.written == 0;
        self.written += text.len();
        (self.file.clone(), text, begins)
    }
}

/// Writes a piece. Blocks.
///
/// # Errors
/// When the disk says no.
pub(crate) fn write(file: &Path, text: &str, begins: bool) -> io::Result<()> {
    if let Some(folder) = file.parent().filter(|_| begins) {
        std::fs::create_dir_all(folder)?;
    }
    let mut open = OpenOptions::new();
    open.create(true).mode(MODE);
    let mut open = if begins { open.write(true).truncate(true) } else { open.append(true) }.open(file)?;
    open.write_all(text.as_bytes())
}
