//! What prompts of an agent do to files, kept so that it can be taken back: the whole workspace is looked at before a prompt and after it.
//!
//! Invariants: one look at a time, in the order in which they were wanted; what is not kept is said once; a prompt that began and was never
//! said to be over is over when the next one begins.

use super::ToolRunner;
use domain::errand::{Errand, ErrandCause, ErrandDone, ErrandId, ErrandNews};
use domain::ids::SessionId;
use engine::{FilesTold, files_of};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tools::checkpoint::{CallScope, Ledger, Watched};

/// Wishes that may wait.
const WAITING: usize = 64;
/// Sessions whose ledgers are kept at hand.
const MAX_LEDGERS: usize = 256;
/// How long the last look may take when the program ends.
const END_WITHIN: Duration = Duration::from_secs(5);
const NOT_KEPT: &str = "what happens to files is not kept here";

type Wish = (ErrandId, Option<SessionId>, Errand);

/// The way to who looks.
pub(super) struct Watching {
    wishes: mpsc::Sender<Wish>,
    task: JoinSet<()>,
}

impl Watching {
    /// One task does all the looking, so that order is kept. It is over with `end`, or called off when this is dropped.
    pub(super) fn start(runner: &Arc<ToolRunner>) -> Watching {
        let (wishes, wanted) = mpsc::channel(WAITING);
        let mut task = JoinSet::new();
        task.spawn(look(runner.clone(), wanted));
        Watching { wishes, task }
    }

    /// Waits for what is being looked at.
    pub(super) async fn end(self) {
        let Watching { wishes, mut task } = self;
        drop(wishes);
        let _ = tokio::time::timeout(END_WITHIN, task.join_next()).await;
    }
}

impl ToolRunner {
    /// Puts the wish at the end of the queue and returns at once. When the queue is full, it is refused as failed.
    pub(super) fn watch(
        &self,
        watching: &Watching,
        id: ErrandId,
        session: Option<SessionId>,
        errand: Errand,
    ) {
        if watching.wishes.try_send((id, session, errand)).is_err() {
            let why = "too much is under way with files; try again".to_owned();
            // Whoever waits for it goes on without.
            let _ = self.tell.try_send((id, ErrandNews::Refused { cause: ErrandCause::Failed, why }));
        }
    }
}

async fn look(runner: Arc<ToolRunner>, mut wanted: mpsc::Receiver<Wish>) {
    let mut ledgers: BTreeMap<SessionId, Ledger> = BTreeMap::new();
    let mut begun: Option<(ErrandId, Ledger, Watched)> = None;
    while let Some((id, session, errand)) = wanted.recv().await {
        let ledger = session.zip(runner.vault.clone()).map(|(session, vault)| {
            if ledgers.len() >= MAX_LEDGERS && !ledgers.contains_key(&session) {
                ledgers.clear();
            }
            let new = || Ledger::new(session.as_str(), &runner.unheld, vault);
            ledgers.entry(session.clone()).or_insert_with(new).clone()
        });
        let news = match (errand, ledger) {
            (Errand::Before { prompt }, Some(ledger)) => {
                let open = begun.take();
                let looked = tokio::task::spawn_blocking(move || {
                    if let Some((_, ledger, watched)) = open {
                        ledger.after(watched);
                    }
                    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
                    ledger.begin(&format!("theirs-{}", now.as_micros()), &prompt);
                    let never = || false;
                    // So that it is said where it cannot be taken back.
                    let kept = ledger.prepare(&CallScope::Everything, &never);
                    (ledger.before(&CallScope::Everything, &never), ledger, kept)
                })
                .await;
                match looked {
                    Ok((watched, ledger, kept)) => {
                        begun = Some((id, ledger, watched));
                        match kept {
                            Ok(()) => ErrandNews::Done { done: ErrandDone::Nothing, seen: None },
                            Err(why) => ErrandNews::Refused { cause: ErrandCause::Failed, why: why.0 },
                        }
                    }
                    Err(_) => broke(),
                }
            }
            (Errand::After { of }, _) => {
                if let Some((_, ledger, watched)) = begun.take_if(|(before, ..)| *before == of) {
                    let _ = tokio::task::spawn_blocking(move || ledger.after(watched)).await;
                }
                continue;
            }
            (Errand::Files(command), Some(ledger)) => {
                let root = runner.unheld.root().unwrap_or(runner.unheld.workdir()).to_owned();
                match tokio::task::spawn_blocking(move || files_of(&ledger, &root, &command)).await {
                    Ok(Ok(FilesTold { text, noted })) => {
                        let noted = noted.map(ToOwned::to_owned);
                        ErrandNews::Done { done: ErrandDone::Files { text, noted }, seen: None }
                    }
                    Ok(Err(refusal)) => {
                        ErrandNews::Refused { cause: ErrandCause::Failed, why: refusal.to_string() }
                    }
                    Err(_) => broke(),
                }
            }
            _ => ErrandNews::Refused { cause: ErrandCause::Failed, why: NOT_KEPT.to_owned() },
        };
        runner.say(id, news).await;
    }
    // What runs to the end of the program is looked at once more.
    if let Some((_, ledger, watched)) = begun {
        let _ = tokio::task::spawn_blocking(move || ledger.after(watched)).await;
    }
}

fn broke() -> ErrandNews {
    ErrandNews::Refused { cause: ErrandCause::Failed, why: "the look at the files broke down".to_owned() }
}
