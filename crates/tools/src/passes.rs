//! What a walk through folders passes over: places that are closed to commands, when the walk began above them.
//!
//! A person has agreed to a walk that begins in such a place; one that begins above it was allowed for other files.

use crate::context::ToolContext;
use crate::sandbox::Closed;
use ignore::DirEntry;
use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What one walk passes over, and how often it did.
pub(crate) struct Passes {
    closed: Option<Arc<Closed>>,
    passed: Arc<AtomicUsize>,
}

impl Passes {
    /// For a walk that begins at `start`, every link in it followed.
    pub(crate) fn below(start: &Path, place: &ToolContext) -> Passes {
        let closed = Some(place.closed()).filter(|closed| !closed.holds(start));
        Passes { closed, passed: Arc::default() }
    }

    /// Takes what is both wanted and not closed.
    pub(crate) fn filter(
        &self,
        wanted: impl Fn(&DirEntry) -> bool + Send + Sync + 'static,
    ) -> impl Fn(&DirEntry) -> bool + Send + Sync + 'static {
        let (closed, passed) = (self.closed.clone(), self.passed.clone());
        move |entry| {
            let open = closed.as_ref().is_none_or(|closed| !closed.holds(entry.path()));
            if !open {
                passed.fetch_add(1, Ordering::Relaxed);
            }
            open && wanted(entry)
        }
    }

    /// Adds a line about what was passed over, if something was.
    pub(crate) fn tell(&self, text: &mut String) {
        let passed = self.passed.load(Ordering::Relaxed);
        if passed > 0 {
            if !text.is_empty() && !text.ends_with('\n') {
                text.push('\n');
            }
            let _ = write!(
                text,
                "({passed} passed over, since people keep secrets there: name one to ask for it)"
            );
        }
    }
}
