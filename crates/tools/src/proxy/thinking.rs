//! How long a person has been asked in the middle of a command: that time is not the command's.

use std::time::Duration;
use tokio::sync::watch;
use tokio::time::Instant;

/// The time that questions took so far. Clones share it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Thinking(watch::Sender<Thought>);

#[derive(Debug, Clone, Copy, Default)]
struct Thought {
    /// What the questions took that are over.
    taken: Duration,
    /// When the one began that is open.
    since: Option<Instant>,
}

/// A question that is open; dropped, it is over.
#[derive(Debug)]
pub(super) struct Pause(Thinking);

impl Thinking {
    /// A question opens; until its end the time stands still.
    pub(super) fn begin(&self) -> Pause {
        self.0.send_modify(|thought| thought.since = Some(Instant::now()));
        Pause(self.clone())
    }

    /// Comes when no question is open.
    pub(super) async fn answered(&self) {
        let _ = self.0.subscribe().wait_for(|thought| thought.since.is_none()).await;
    }

    /// Comes when `time` is over, not counting questions.
    pub(crate) async fn over(&self, time: Duration) {
        let began = Instant::now();
        let mut thoughts = self.0.subscribe();
        loop {
            let Thought { taken, since } = *thoughts.borrow_and_update();
            let due = async {
                match since {
                    None => tokio::time::sleep_until(began + time + taken).await,
                    Some(_) => std::future::pending().await,
                }
            };
            tokio::select! {
                biased;
                Ok(()) = thoughts.changed() => {}
                () = due => return,
            }
        }
    }
}

impl Drop for Pause {
    fn drop(&mut self) {
        self.0.0.send_modify(|thought| {
            thought.taken += thought.since.take().map(|since| since.elapsed()).unwrap_or_default();
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn what_a_person_takes_to_answer_is_not_the_commands_time() {
        let thinking = Thinking::default();
        let began = Instant::now();
        let asks = async {
            tokio::time::sleep(Duration::from_secs(50)).await;
            let pause = thinking.begin();
            tokio::time::sleep(Duration::from_secs(1000)).await;
            drop(pause);
        };
        tokio::join!(asks, thinking.over(Duration::from_secs(60)));
        assert_eq!(began.elapsed().as_secs(), 1060);
    }
}
