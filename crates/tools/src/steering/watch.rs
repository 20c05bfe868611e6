//! The files that steer programs, over the life of a program that may write beside them and is called now and then: an MCP server.
//!
//! What changes while it is called is put back at once and asked about then, as with a command. Between its calls the person, an editor
//! or git may have changed such files just as well, so what changed then is asked about first and stays until a person says no. What
//! changes while it is being ended is its own doing again.
//! What it is not: a lock. Files that are there when it starts are locked by mounts, where the kernel can.

use super::compare::{PutBack, SteeringChanges, SteeringSnapshot};
use super::question::{SteeringAnswer, ask};
use crate::port::{Outcome, Port};
use domain::ask::{Answer, AskKind, Closing};
use domain::harmless::marked;
use domain::tool::ToolOutcome;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// What steers the folders that a program may write in.
#[derive(Debug)]
pub struct SteeringWatch {
    /// Who is watched, as a person calls it: `the MCP server files`.
    who: String,
    seen: Arc<Mutex<Vec<SteeringSnapshot>>>,
    /// Calls that are under way.
    calls: AtomicUsize,
}

/// A call, for as long as it is under way.
struct UnderWay<'a> {
    calls: &'a AtomicUsize,
    /// Whether no other was when it began.
    alone: bool,
}

impl UnderWay<'_> {
    fn begin(calls: &AtomicUsize) -> UnderWay<'_> {
        UnderWay { calls, alone: calls.fetch_add(1, Ordering::SeqCst) == 0 }
    }
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        self.calls.fetch_sub(1, Ordering::SeqCst);
    }
}

impl SteeringWatch {
    /// Looks at the folders before it is started. `None` when it may write in none.
    pub async fn begin(who: String, folders: Vec<PathBuf>) -> Option<SteeringWatch> {
        if folders.is_empty() {
            return None;
        }
        let look = move || folders.iter().map(|folder| SteeringSnapshot::look(folder)).collect();
        let seen = tokio::task::spawn_blocking(look).await.ok()?;
        Some(SteeringWatch { who, seen: Arc::new(Mutex::new(seen)), calls: AtomicUsize::new(0) })
    }

    /// Runs a call of it. What changed since its last call is asked about before; what changes meanwhile is put back after it, and the
    /// person may have it.
    pub async fn around(&self, port: &Port, call: impl Future<Output = Outcome>) -> Outcome {
        let under_way = UnderWay::begin(&self.calls);
        // What changed while another call is under way is that call's matter.
        let told = if under_way.alone { self.ask_about_the_time_between(port).await } else { Vec::new() };
        let mut outcome = self.after(call.await, port).await;
        for told in told {
            outcome.result.text.push_str(&format!("\n{told}"));
        }
        outcome
    }

    async fn ask_about_the_time_between(&self, port: &Port) -> Vec<String> {
        let mut told = Vec::new();
        for (at, changed) in self.changed().await.into_iter().filter(|(_, changed)| !changed.is_empty()) {
            let Some(whole) = changed.whole() else {
                told.extend(self.put_back(at, changed, PutBack::leave_unshown).await);
                continue;
            };
            let message = format!(
                "Since its last call, files changed that steer what programs do here, by you or by {}, which may write here:\n{}\n\n\
                 They are as they were made. If you do not know of them, have them put back.",
                self.who,
                marked(whole.trim_end())
            );
            let title = format!("{} runs, and protected files changed", self.who);
            let (yes, no) = (Some("keep them".to_owned()), Some("put them back".to_owned()));
            match port.ask(&title, AskKind::Confirm { message, yes, no, danger: true }).await {
                Some(Closing::Answered { answer: Answer::Confirmed(true), .. }) => {
                    told.extend(self.accept(at, None).await);
                }
                Some(
                    Closing::Answered { answer: Answer::Confirmed(false), .. }
                    | Closing::Unattended
                    | Closing::Expired,
                ) => told.extend(self.put_back(at, changed, PutBack::leave).await),
                // Nobody said no, and they may be the person's: asked again before the next call.
                _ => {}
            }
        }
        told
    }

    async fn after(&self, mut outcome: Outcome, port: &Port) -> Outcome {
        for (at, back) in self.put_all_back().await {
            let title = format!("{} changed protected files", self.who);
            let asked = outcome.outcome != ToolOutcome::Cancelled;
            let said =
                if asked { ask(&back, &title, "The server", port).await } else { SteeringAnswer::Nothing };
            let told = match said {
                SteeringAnswer::Yes => self.accept(at, Some(back)).await.join("\n"),
                SteeringAnswer::No => back.discard(),
                SteeringAnswer::Nothing => back.leave(),
                SteeringAnswer::NotAsked => back.leave_unshown(),
            };
            outcome.result.text.push_str(&format!("\n{told}"));
        }
        outcome
    }

    /// Before it is ended: tells what changed since it was called last. That stays: nobody knows who did it, and nobody can be asked.
    pub async fn told_at_the_end(&self) -> Option<String> {
        let mut told = Vec::new();
        for (at, changed) in self.changed().await {
            told.push(format!(
                "Protected files changed since the last call of {}, by you or by it. If you do not know of them, look at them:\n{}",
                self.who,
                changed.list()
            ));
            told.extend(self.accept(at, None).await);
        }
        (!told.is_empty()).then(|| told.join("\n"))
    }

    /// After its end: puts back what it changed in its last moments.
    pub async fn over(&self) -> Option<String> {
        let told: Vec<String> = self.put_all_back().await.into_iter().map(|(_, back)| back.leave()).collect();
        (!told.is_empty()).then(|| format!("{} ended: {}", self.who, told.join("\n")))
    }

    async fn changed(&self) -> Vec<(usize, SteeringChanges)> {
        self.each(|seen| {
            let changed = |(at, seen): (usize, &SteeringSnapshot)| Some((at, seen.changed(|_| false)?));
            seen.iter().enumerate().filter_map(changed).collect()
        })
        .await
    }

    async fn put_all_back(&self) -> Vec<(usize, PutBack)> {
        self.each(|seen| {
            let back = |(at, seen): (usize, &SteeringSnapshot)| Some((at, seen.put_back(|_| false)?));
            seen.iter().enumerate().filter_map(back).collect()
        })
        .await
    }

    /// The person said no, nobody said anything, or nobody was asked: what is new waits beside.
    async fn put_back(
        &self,
        at: usize,
        changed: SteeringChanges,
        left: fn(PutBack) -> String,
    ) -> Option<String> {
        self.each(move |seen| Some(left(seen.get(at)?.put_these_back(changed)))).await
    }

    /// The person agreed: how the files are now is how they are to be. Where they were put back, what changed meanwhile was not agreed to.
    async fn accept(&self, at: usize, back: Option<PutBack>) -> Vec<String> {
        self.each(move |seen| {
            let mut told = Vec::new();
            let Some(known) = seen.get_mut(at) else { return told };
            if let Some(back) = back {
                told.extend(known.put_back(|_| false).map(PutBack::leave));
                told.push(back.keep());
            }
            *known = known.again();
            told
        })
        .await
    }

    async fn each<T: Default + Send + 'static>(
        &self,
        act: impl FnOnce(&mut Vec<SteeringSnapshot>) -> T + Send + 'static,
    ) -> T {
        let seen = self.seen.clone();
        let act = move || act(&mut seen.lock().unwrap_or_else(PoisonError::into_inner));
        tokio::task::spawn_blocking(act).await.unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::port::Question;
    use domain::tool::ToolResult;
    use std::path::Path;
    use tokio::sync::mpsc;
    use tokio_util::sync::CancellationToken;

    async fn watched() -> (tempfile::TempDir, PathBuf, SteeringWatch) {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let watch = SteeringWatch::begin("the MCP server x".to_owned(), vec![root.clone()]).await.unwrap();
        (dir, root, watch)
    }

    /// A port, and the questions that come to it.
    fn port() -> (Port, mpsc::Receiver<Question>) {
        let ((progress, _), (asks, questions)) = (mpsc::channel(1), mpsc::channel(1));
        (Port { progress, asks, cancel: CancellationToken::new(), gate: None }, questions)
    }

    /// One call, which makes a file or does nothing; every question is answered so. Gives how many there were.
    async fn call(watch: &SteeringWatch, makes: Option<&Path>, yes: bool) -> usize {
        let (port, mut questions) = port();
        let calling = async move {
            let made = async {
                makes.iter().for_each(|file| std::fs::write(file, "new").unwrap());
                Outcome::done(ToolResult::text("done"))
            };
            watch.around(&port, made).await
        };
        let answering = async {
            let mut count = 0;
            while let Some(question) = questions.recv().await {
                count += 1;
                let answer = Answer::Confirmed(yes);
                question.answer.send(Closing::Answered { answer, by: None }).unwrap();
            }
            count
        };
        tokio::join!(calling, answering).1
    }

    #[tokio::test]
    async fn what_a_call_made_is_put_back_unless_a_person_takes_it() {
        let (_dir, root, watch) = watched().await;
        let file = root.join(".envrc");
        assert_eq!(call(&watch, Some(&file), false).await, 1);
        assert!(!file.exists() && !root.join(".envrc.held").exists());
        assert_eq!(call(&watch, Some(&file), true).await, 1);
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "new");
        assert_eq!(call(&watch, None, false).await, 0, "it was agreed to");
        assert_eq!(call(&watch, Some(&root.join("src.rs")), false).await, 0, "it steers nothing");
    }

    #[tokio::test]
    async fn what_changed_between_calls_may_be_the_persons_and_stays_until_they_say_no() {
        let (_dir, root, watch) = watched().await;
        let file = root.join("AGENTS.md");
        std::fs::write(&file, "mine").unwrap();
        assert_eq!(call(&watch, None, true).await, 1);
        assert_eq!(call(&watch, None, true).await, 0, "asked once");
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "mine");
        std::fs::write(&file, "not mine").unwrap();
        assert_eq!(call(&watch, None, false).await, 1);
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "mine");
        assert_eq!(std::fs::read_to_string(root.join("AGENTS.md.held")).unwrap(), "not mine");
    }

    #[tokio::test]
    async fn at_its_end_what_is_unclear_is_told_and_what_it_did_in_its_last_moments_is_put_back() {
        let (_dir, root, watch) = watched().await;
        std::fs::write(root.join("AGENTS.md"), "whose?").unwrap();
        let told = watch.told_at_the_end().await.unwrap();
        assert!(told.contains("- made AGENTS.md"), "{told}");
        std::fs::write(root.join(".envrc"), "its").unwrap();
        assert!(watch.over().await.unwrap().contains("- made .envrc"));
        assert!(root.join("AGENTS.md").exists() && !root.join(".envrc").exists());
        assert_eq!((watch.told_at_the_end().await, watch.over().await), (None, None));
        assert!(SteeringWatch::begin("x".to_owned(), Vec::new()).await.is_none(), "it writes nowhere");
    }

    #[tokio::test]
    async fn nobody_is_asked_to_keep_or_take_more_than_can_be_shown() {
        let (_dir, root, watch) = watched().await;
        let (file, long) = (root.join("AGENTS.md"), "obey\n".repeat(20_000));
        std::fs::write(&file, &long).unwrap();
        assert_eq!(call(&watch, None, true).await, 0);
        assert!(!file.exists(), "what cannot be shown is not kept");
        assert_eq!(std::fs::read_to_string(root.join("AGENTS.md.held")).unwrap(), long);
        let many: Vec<PathBuf> = (0..2000).map(|number| root.join(format!("{number}"))).collect();
        many.iter().for_each(|folder| std::fs::create_dir(folder).unwrap());
        let (port, mut questions) = port();
        let made = async {
            many.iter().for_each(|folder| std::fs::write(folder.join(".envrc"), "run").unwrap());
            Outcome::done(ToolResult::text("done"))
        };
        let outcome = watch.around(&port, made).await;
        drop(port);
        assert!(questions.recv().await.is_none());
        assert!(many.iter().all(|folder| !folder.join(".envrc").exists()));
        assert!(many.iter().all(|folder| folder.join(".envrc.held").exists()));
        assert!(outcome.result.text.contains("nobody was asked"), "{}", outcome.result.text);
    }

    #[tokio::test]
    async fn a_person_who_keeps_what_changed_between_calls_is_shown_all_of_it() {
        let (_dir, root, watch) = watched().await;
        for number in 0..25 {
            std::fs::create_dir(root.join(format!("{number}"))).unwrap();
            std::fs::write(root.join(format!("{number}/.envrc")), format!("run {number}")).unwrap();
        }
        let (port, mut questions) = port();
        let around = watch.around(&port, async { Outcome::done(ToolResult::text("done")) });
        let shown = async {
            let question = questions.recv().await.unwrap();
            question.answer.send(Closing::Unattended).unwrap();
            question.kind
        };
        let (_, AskKind::Confirm { message, .. }) = tokio::join!(around, shown) else { panic!() };
        for number in 0..25 {
            assert!(message.contains(&format!("- made {number}/.envrc\n")), "{message}");
            assert!(message.contains(&format!("+run {number}\n")), "{message}");
        }
    }
}
