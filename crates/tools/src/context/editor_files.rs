//! Which files of a workplace the person's editor is asked for, and what tools are told when it does not answer.

use super::ToolContext;
use crate::buffers::{Buffers, MAX_HELD, OneCall};
use crate::error::ToolError;
use domain::ui_files::TOO_LONG;
use std::path::Path;
use std::sync::Arc;

impl ToolContext {
    /// The same workplace for one call: what the editor holds is asked for once.
    #[must_use]
    pub fn for_one_call(&self) -> ToolContext {
        let fresh = ToolContext { taking_in: Arc::default(), ..self.clone() };
        fresh.with_buffers(self.buffers().map(OneCall::of))
    }

    /// Time went by: what the editor holds is asked for again.
    pub(crate) fn look_again(&self) {
        if let Some(editor) = self.buffers() {
            editor.look_again();
        }
    }

    /// Whether the editor is asked what a file holds.
    pub(crate) fn is_read_through(&self, path: &Path) -> bool {
        self.editor(path).is_some_and(|editor| editor.reads())
    }

    /// The text of a file as the editor holds it; `None` where there is no editor, or the file is not its business.
    pub(crate) fn held(&self, path: &Path) -> Option<Result<String, ToolError>> {
        let editor = self.editor(path).filter(|editor| editor.reads())?;
        let failed = |why| ToolError::path(path, format!("could not be read through the editor: {why}"));
        match editor.read(path) {
            // It has stopped answering: from here on the disk counts, which is told.
            Err(_) if !editor.reads() => None,
            read => Some(read.map_err(failed)),
        }
    }

    /// The same for a file that is not on the disk: where the editor says that it has none either, there is none.
    pub(crate) fn held_only(&self, path: &Path) -> Option<Result<String, ToolError>> {
        let editor = self.editor(path).filter(|editor| editor.reads())?;
        match editor.read(path) {
            Ok(text) => Some(Ok(text)),
            Err(why) if why.starts_with(TOO_LONG) => {
                let why = format!("is only in the editor, and could not be read there: {why}");
                Some(Err(ToolError::path(path, why)))
            }
            Err(_) => None,
        }
    }

    /// Writes a file through the editor; `None` where it does not write this one.
    pub(crate) fn hand_over(&self, path: &Path, text: &str) -> Option<Result<(), ToolError>> {
        let editor = self.editor(path).filter(|editor| editor.writes())?;
        let failed = |why| ToolError::path(path, format!("could not be written through the editor: {why}"));
        Some(editor.write(path, text).map_err(failed))
    }

    fn editor(&self, path: &Path) -> Option<&dyn Buffers> {
        let small = || std::fs::metadata(path).map_or(true, |meta| meta.len() <= MAX_HELD);
        let editor = self.buffers().filter(|_| self.inside(path) && self.readable(path) && small())?;
        Some(editor.as_ref())
    }
}
