//! Connections of whoever has not shown yet who they are: counted in all and by process, and the oldest has to go first, so that nobody
//! keeps a device out by connecting very often.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use tokio_util::sync::CancellationToken;

/// Connections without proof at once.
pub(crate) const MAX_UNPROVEN: usize = 2_048;
/// Of those, how many may be of one process; all that cannot be seen count as one.
pub(crate) const MAX_OF_ONE: usize = 1_024;

/// Everybody at the door.
#[derive(Debug, Default)]
pub(crate) struct Visits(Mutex<Book>);

#[derive(Debug, Default)]
struct Book {
    number: u64,
    /// By the order in which they came.
    open: BTreeMap<u64, Line>,
}

#[derive(Debug)]
struct Line {
    /// Whose it is, once that was looked at: a process, or nobody that can be seen.
    process: Option<Option<i32>>,
    over: CancellationToken,
}

/// One of them, until it is proven or gone.
#[derive(Debug)]
pub(crate) struct Visit {
    visits: Arc<Visits>,
    number: u64,
    over: CancellationToken,
    /// Whether a process was seen to hold it.
    seen: AtomicBool,
}

impl Visits {
    fn book(&self) -> std::sync::MutexGuard<'_, Book> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Somebody has connected.
    pub(crate) fn begin(self: &Arc<Visits>) -> Arc<Visit> {
        let over = CancellationToken::new();
        let mut book = self.book();
        book.number += 1;
        let number = book.number;
        book.open.insert(number, Line { process: None, over: over.clone() });
        if book.open.len() > MAX_UNPROVEN
            && let Some((_, oldest)) = book.open.pop_first()
        {
            oldest.over.cancel();
        }
        Arc::new(Visit { visits: self.clone(), number, over, seen: AtomicBool::new(false) })
    }
}

impl Visit {
    /// It is of this process, or of one that cannot be seen.
    pub(crate) fn is_of(&self, process: Option<i32>) {
        self.seen.fetch_or(process.is_some(), Ordering::AcqRel);
        let mut book = self.visits.book();
        let Some(line) = book.open.get_mut(&self.number) else { return };
        line.process = Some(process);
        let its: Vec<u64> = book
            .open
            .iter()
            .filter(|(_, line)| line.process == Some(process))
            .map(|(number, _)| *number)
            .collect();
        if its.len() > MAX_OF_ONE
            && let Some(oldest) = its.first().and_then(|number| book.open.remove(number))
        {
            oldest.over.cancel();
        }
    }

    /// Whether a process was seen to hold it when it came.
    pub(crate) fn was_seen(&self) -> bool {
        self.seen.load(Ordering::Acquire)
    }

    /// It has shown who it is: it is counted no more, and nobody drives it out.
    pub(crate) fn is_proven(&self) {
        self.visits.book().open.remove(&self.number);
    }

    /// Waits until it has to go for others.
    pub(crate) async fn driven_out(&self) {
        self.over.cancelled().await;
    }
}

impl Drop for Visit {
    fn drop(&mut self) {
        self.is_proven();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_of_a_process_goes_first_and_others_stay() {
        let visits: Arc<Visits> = Arc::default();
        let other = visits.begin();
        other.is_of(Some(7));
        let many: Vec<Arc<Visit>> = (0..MAX_OF_ONE + 3)
            .map(|_| {
                let visit = visits.begin();
                visit.is_of(Some(9));
                visit
            })
            .collect();
        let out = many.iter().take_while(|visit| visit.over.is_cancelled()).count();
        assert_eq!((out, many.iter().filter(|visit| visit.over.is_cancelled()).count()), (3, 3));
        assert!(!other.over.is_cancelled());
    }

    #[test]
    fn in_all_there_are_so_many_and_who_is_proven_does_not_count() {
        let visits: Arc<Visits> = Arc::default();
        let proven = visits.begin();
        proven.is_proven();
        let many: Vec<Arc<Visit>> = (0..MAX_UNPROVEN + 2).map(|_| visits.begin()).collect();
        assert!(!proven.over.is_cancelled());
        assert_eq!(many.iter().filter(|visit| visit.over.is_cancelled()).count(), 2);
        drop(many);
        assert!(visits.book().open.is_empty());
    }
}
