//! The book of commands that run in the background, and ran. Who starts and watches one is `bash`; all end with the workplace.

use crate::output::Output;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// Commands that may run in the background at once.
pub const MAX_RUNNING: usize = 16;
/// Commands that are remembered, ended ones included.
pub const MAX_JOBS: usize = 64;
/// How long a stop waits for the job to be over before it answers.
const STOP_WAIT: Duration = Duration::from_millis(500);

/// How long the end of the program waits for all of them.
const END_WAIT: Duration = Duration::from_secs(5);

/// Where a background command stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JobState {
    Running,
    /// It ended by itself; `None` when a signal ended it.
    Exited(Option<i32>),
    Stopped,
}

/// What can be told about a background command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobReport {
    pub id: u64,
    pub line: String,
    pub state: JobState,
    /// How long it ran so far, or in all.
    pub ran: Duration,
    /// How long it has been over, if it is.
    pub over_for: Option<Duration>,
}

/// The background commands of one workplace. Dropped, it stops them all.
#[derive(Debug, Default)]
pub struct Jobs {
    book: Mutex<Book>,
}

#[derive(Debug, Default)]
struct Book {
    last: u64,
    jobs: BTreeMap<u64, Job>,
}

/// A background command, as whoever watches it tells of it.
#[derive(Debug)]
pub(crate) struct Job {
    pub(crate) line: String,
    pub(crate) started: Instant,
    pub(crate) output: Arc<Mutex<Output>>,
    /// Where it stands, and since when it is over.
    pub(crate) state: watch::Receiver<(JobState, Option<Instant>)>,
    pub(crate) stop: CancellationToken,
}

impl Job {
    fn report(&self, id: u64) -> JobReport {
        let (state, ended) = *self.state.borrow();
        let ran = ended.unwrap_or_else(Instant::now).saturating_duration_since(self.started);
        let over_for = ended.map(|ended| ended.elapsed());
        JobReport { id, line: self.line.clone(), state, ran, over_for }
    }
}

impl Jobs {
    /// What runs and what ran.
    pub fn list(&self) -> Vec<JobReport> {
        self.lock().jobs.iter().map(|(id, job)| job.report(*id)).collect()
    }

    /// Stops everything, for instance when the session closes.
    pub fn stop_all(&self) {
        for job in self.lock().jobs.values() {
            job.stop.cancel();
        }
    }

    /// Stops everything and waits until what it did to files that steer programs is put back, for instance before the program ends.
    pub async fn end(&self) {
        self.stop_all();
        let states: Vec<_> = self.lock().jobs.values().map(|job| job.state.clone()).collect();
        let over = async {
            for mut state in states {
                let _ = state.wait_for(|(state, _)| *state != JobState::Running).await;
            }
        };
        let _ = tokio::time::timeout(END_WAIT, over).await;
    }

    /// Whether one more may start.
    pub(crate) fn has_room(&self) -> bool {
        self.lock().jobs.values().filter(|job| job.state.borrow().0 == JobState::Running).count()
            < MAX_RUNNING
    }

    /// Enters a command that was started; gives its number.
    pub(crate) fn enter(&self, job: Job) -> u64 {
        let mut book = self.lock();
        book.last += 1;
        let id = book.last;
        book.jobs.insert(id, job);
        while book.jobs.len() > MAX_JOBS {
            let ended = book.jobs.iter().find(|(_, job)| job.state.borrow().0 != JobState::Running);
            let Some(oldest) = ended.map(|(id, _)| *id) else { break };
            book.jobs.remove(&oldest);
        }
        id
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Book> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// One of them, with what it has written and whether something of that was left out.
    pub fn read(&self, id: u64) -> Option<(JobReport, String, bool)> {
        let book = self.lock();
        let job = book.jobs.get(&id)?;
        let output = job.output.lock().unwrap_or_else(PoisonError::into_inner);
        Some((job.report(id), output.text(), output.truncated()))
    }

    /// Waits for the end of one, at most this long.
    pub async fn wait(&self, id: u64, most: Duration) {
        let state = self.lock().jobs.get(&id).map(|job| job.state.clone());
        if let Some(mut state) = state {
            let over = state.wait_for(|(state, _)| *state != JobState::Running);
            let _ = tokio::time::timeout(most, over).await;
        }
    }

    /// Stops one and waits a moment for its end; whether there is one of this number.
    pub async fn stop_and_wait(&self, id: u64) -> bool {
        let known = self.stop(id);
        self.wait(id, STOP_WAIT).await;
        known
    }

    /// Tells one to stop, and does not wait; whether there is one of this number.
    pub fn stop(&self, id: u64) -> bool {
        self.lock().jobs.get(&id).map(|job| job.stop.cancel()).is_some()
    }
}

impl Drop for Jobs {
    fn drop(&mut self) {
        self.stop_all();
    }
}
