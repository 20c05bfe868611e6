//! Errands of a foreign runtime, done by our tools: each is planned, judged by our mode and our rules, and done in our leash, as what
//! our own agent wants is.
//!
//! Invariants: the workspace is ours, whatever folder a runtime names; what a person said yes to is done only while it is still what
//! they were shown; everything that was started is ended when the hub lets go.

mod judging;
mod terminals;
mod watching;

use domain::ask::Scope;
use domain::content::Json;
use domain::errand::{
    Errand, ErrandCause, ErrandConsent, ErrandDone, ErrandId, ErrandNews, ErrandOrder, ErrandStep,
};
use domain::session::Policy;
use domain::tool::{Decider, ToolOutcome};
use engine::WorkDir;
use hub::ErrandPort;
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use terminals::Terminals;
use tokio::sync::mpsc;
use tokio::task::{AbortHandle, JoinSet};
use tokio_util::sync::CancellationToken;
use tools::checkpoint::Vault;
use tools::policy::{Allowance, Rules, Verdict, decide};
use tools::sandbox::Guard;
use tools::{
    Bash, Deed, Outcome, Plan, Port, Read, Tool, ToolContext, ToolError, Write, digest, plain, still_valid,
};
use watching::Watching;

/// Orders that may wait; a role has fewer under way.
const ORDERS: usize = 256;
/// News that may wait for the hub.
const NEWS: usize = 64;
/// Errands that are remembered as allowed again; those past it are asked for.
const MAX_SAME: usize = 256;
/// How long what was started may take to end with the program.
const END_WITHIN: Duration = Duration::from_secs(6);

/// Does errands until the hub that they come from lets go.
pub(crate) struct Doing {
    task: JoinSet<()>,
}

impl Doing {
    /// Waits until everything that was started is ended.
    pub(crate) async fn end(mut self) {
        let _ = tokio::time::timeout(END_WITHIN, self.task.join_next()).await;
    }
}

/// Somebody who does errands on this ground, and the way there.
///
/// # Errors
/// When the folder cannot be worked in.
pub(crate) fn begin(
    work_dir: &WorkDir,
    data: &Path,
    guard: Option<Guard>,
    allow: &[Allowance],
    vault: Option<Arc<dyn Vault>>,
) -> Result<(ErrandPort, Doing), ToolError> {
    let outputs = data.join("outputs").join("errands");
    let place = match &work_dir.workspace {
        Ok(root) => ToolContext::new(root, &outputs).and_then(|place| place.at(&work_dir.cwd)),
        Err(_) => ToolContext::without_workspace(&work_dir.cwd, &outputs),
    }?;
    // What cargo sets for its tests names folders that anybody may write in.
    #[cfg(test)]
    let place = place.with_env(std::env::vars_os().filter(|(name, _)| name != "LD_LIBRARY_PATH"));
    let unheld = place.clone().with_own_memory();
    let place = match guard {
        Some(guard) => place.guarded(guard),
        None => place,
    };
    let rules = match &work_dir.workspace {
        Ok(root) => Rules::load(data, root).unwrap_or_else(|_| Rules::none(data, root)),
        // Rules are for a project.
        Err(_) => Rules::none(data, place.workdir()),
    };
    let rules = rules.with(allow);
    let (orders, ordered) = mpsc::channel(ORDERS);
    let (tell, news) = mpsc::channel(NEWS);
    let runner = Arc::new(ToolRunner {
        place,
        unheld,
        vault,
        rules: Mutex::new(rules),
        asked: Mutex::default(),
        same: Mutex::default(),
        terminals: Terminals::default(),
        tell,
    });
    let mut task = JoinSet::new();
    task.spawn(work(runner, ordered));
    Ok((ErrandPort { orders, news }, Doing { task }))
}

async fn work(runner: Arc<ToolRunner>, mut ordered: mpsc::Receiver<ErrandOrder>) {
    let mut tasks = JoinSet::new();
    let mut under_way: BTreeMap<ErrandId, AbortHandle> = BTreeMap::new();
    let watching = Watching::start(&runner);
    while let Some(ErrandOrder { id, session, step, policy }) = ordered.recv().await {
        while tasks.try_join_next().is_some() {}
        under_way.retain(|_, task| !task.is_finished());
        let runner = runner.clone();
        let step = match step {
            // One after the other, in the order in which they were wanted.
            ErrandStep::Wanted(
                errand @ (Errand::Before { .. } | Errand::After { .. } | Errand::Files(_)),
            ) => {
                runner.watch(&watching, id, session, errand);
                continue;
            }
            step => step,
        };
        let task = match step {
            ErrandStep::Wanted(errand) => tasks.spawn(async move { runner.wanted(id, errand, policy).await }),
            ErrandStep::Allowed(scope) => tasks.spawn(async move { runner.allowed(id, scope).await }),
            ErrandStep::Dropped => {
                runner.asked().remove(&id);
                let task = under_way.remove(&id);
                // A command that is just being started is ended as soon as it can be named.
                if !runner.terminals.drop_of(id, &runner.place)
                    && let Some(task) = task
                {
                    task.abort();
                }
                continue;
            }
        };
        under_way.insert(id, task);
    }
    tasks.shutdown().await;
    watching.end().await;
    runner.place.jobs().end().await;
}

/// An errand that a person is asked about.
struct PendingErrand {
    plan: Plan,
    then: Then,
}

/// What is done once it may.
enum Then {
    /// The agent does it by its own hands; with what else it is about.
    Judged(Vec<Plan>),
    Tell {
        line: Option<u64>,
        limit: Option<u64>,
    },
    Write,
    Start {
        output_limit: Option<u64>,
    },
}

struct ToolRunner {
    place: ToolContext,
    /// What agents do by their own hands happens outside of our leash, and is judged as that.
    unheld: ToolContext,
    /// Where what stood in files is kept.
    vault: Option<Arc<dyn Vault>>,
    rules: Mutex<Rules>,
    asked: Mutex<BTreeMap<ErrandId, PendingErrand>>,
    /// What a person allowed again and again.
    same: Mutex<BTreeSet<String>>,
    terminals: Terminals,
    tell: mpsc::Sender<(ErrandId, ErrandNews)>,
}

impl ToolRunner {
    fn asked(&self) -> MutexGuard<'_, BTreeMap<ErrandId, PendingErrand>> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn same(&self) -> MutexGuard<'_, BTreeSet<String>> {
        self.same.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn say(&self, id: ErrandId, news: ErrandNews) {
        // A hub that is gone wants to know nothing more.
        let _ = self.tell.send((id, news)).await;
    }

    async fn refuse(&self, id: ErrandId, cause: ErrandCause, why: impl Into<String>) {
        self.say(id, ErrandNews::Refused { cause, why: why.into() }).await;
    }

    async fn failed(&self, id: ErrandId, why: &ToolError) {
        let missing = matches!(why, ToolError::Io { source, .. } if source.kind() == io::ErrorKind::NotFound);
        let cause = if missing { ErrandCause::Missing } else { ErrandCause::Failed };
        self.refuse(id, cause, why.to_string()).await;
    }

    async fn wanted(self: Arc<Self>, id: ErrandId, errand: Errand, policy: Policy) {
        let runner = self.clone();
        let errand = match errand {
            Errand::Judge(call) => return self.judge(id, *call, policy).await,
            errand => errand,
        };
        let (plan, then) = match errand {
            Errand::Read { path, line, limit } => {
                let planned = blocking(move || Read.plan(&json!({ "path": path }), &runner.place)).await;
                (planned, Then::Tell { line, limit })
            }
            Errand::Write { path, text } => {
                (blocking(move || runner.plan_write(&path, &text)).await, Then::Write)
            }
            Errand::Start(command) => {
                let output_limit = command.output_limit;
                let args = terminals::args(&command);
                let planned = blocking(move || Bash::default().plan(&args, &runner.place)).await;
                (planned, Then::Start { output_limit })
            }
            Errand::Output { .. }
            | Errand::Wait { .. }
            | Errand::Kill { .. }
            | Errand::Release { .. }
            | Errand::Judge(_)
            | Errand::Before { .. }
            | Errand::After { .. }
            | Errand::Files(_) => {
                return self.terminals.tend(id, errand, &self.place, &self.tell).await;
            }
        };
        let plan = match plan {
            Ok(plan) => plan,
            Err(why) => return self.failed(id, &why).await,
        };
        let verdict = self.verdict(policy, &plan);
        match verdict {
            Verdict::Allow(_) => self.act(id, plan, then, true).await,
            Verdict::Ask if self.same().contains(&key_of(&plan)) => self.act(id, plan, then, true).await,
            Verdict::Deny(why) => self.refuse(id, ErrandCause::Mode, why).await,
            Verdict::Ask => {
                let consent = ErrandConsent {
                    title: plan.title.clone(),
                    name: plan.tool.clone(),
                    args: Json::verbatim(plan.args.to_string()),
                    preview: plan.preview.clone(),
                    assessment: plan.assessment.clone(),
                    rule: self.offered(&plan),
                };
                self.asked().insert(id, PendingErrand { plan, then });
                self.say(id, ErrandNews::Asks(Box::new(consent))).await;
            }
        }
    }

    fn verdict(&self, policy: Policy, plan: &Plan) -> Verdict {
        let mut rules = self.rules.lock().unwrap_or_else(PoisonError::into_inner);
        // What was taken back meanwhile counts no more. What cannot be read changes nothing.
        let _ = rules.keep_up();
        let rules = rules.all();
        decide(policy, plan, &rules)
    }

    /// The rule that "always" would add. Rules are for a project.
    fn offered(&self, plan: &Plan) -> Option<String> {
        plan.rule.as_ref().filter(|_| self.place.root().is_some()).map(|rule| rule.words.clone())
    }

    fn plan_write(&self, path: &str, text: &str) -> Result<Plan, ToolError> {
        plan_write(path, text, &self.place)
    }

    async fn allowed(self: Arc<Self>, id: ErrandId, scope: Scope) {
        let Some(PendingErrand { plan, then }) = self.asked().remove(&id) else {
            return self.refuse(id, ErrandCause::Failed, "nobody asked about this").await;
        };
        let mut again = vec![plan.clone()];
        if let Then::Judged(more) = &then {
            again.extend(more.iter().cloned());
        }
        let valid = blocking(move || again.iter().try_for_each(is_same));
        if let Err(why) = valid.await {
            return self.failed(id, &why).await;
        }
        match (scope, plan.rule.as_ref().filter(|_| self.place.root().is_some())) {
            (Scope::Once, _) | (Scope::Always, None) => {}
            // What is offered in front of another program's runtime is the same again, and no rule.
            (Scope::Session, _) => {
                let mut same = self.same();
                if same.len() < MAX_SAME {
                    same.insert(key_of(&plan));
                }
            }
            (Scope::Always, Some(offer)) => {
                let mut rules = self.rules.lock().unwrap_or_else(PoisonError::into_inner);
                // A rule that cannot be written still holds for this session.
                if rules.add_for_project(&offer.rules).is_err() {
                    rules.add_for_session(&offer.rules);
                }
            }
        }
        self.act(id, plan, then, false).await;
    }

    /// Does what may be done. `unasked`: nobody has seen it yet, so whoever watches is shown it.
    async fn act(self: &Arc<Self>, id: ErrandId, plan: Plan, then: Then, unasked: bool) {
        if unasked && !matches!(then, Then::Tell { .. } | Then::Judged(_)) {
            let (name, args) = (plan.tool.clone(), Json::verbatim(plan.args.to_string()));
            self.say(id, ErrandNews::Begins { name, args }).await;
        }
        match then {
            Then::Judged(_) => {
                let done = ErrandDone::Allowed(Decider::Foreign);
                self.say(id, ErrandNews::Done { done, seen: None }).await;
            }
            Then::Tell { line, limit } => match blocking(move || plain::lines(&plan, line, limit)).await {
                Ok(text) => self.say(id, ErrandNews::Done { done: ErrandDone::Text(text), seen: None }).await,
                Err(why) => self.failed(id, &why).await,
            },
            Then::Write => {
                let Outcome { outcome, result } = run(&Write, plan).await;
                match outcome {
                    ToolOutcome::Done => {
                        let (done, seen) = (ErrandDone::Nothing, Some(result));
                        self.say(id, ErrandNews::Done { done, seen }).await;
                    }
                    _ => self.refuse(id, ErrandCause::Failed, result.text).await,
                }
            }
            Then::Start { output_limit } => {
                self.terminals.starting(id);
                let started = run(&Bash::default(), plan).await;
                self.terminals.started(id, &started, output_limit, &self.place, &self.tell).await;
            }
        }
    }
}

/// Whether what was shown is still what would happen. What we cannot judge is bound to nothing but its words.
fn is_same(plan: &Plan) -> Result<(), ToolError> {
    match (&plan.deed, plan.tool.as_str()) {
        (Deed::Other, _) => Ok(()),
        (_, "write") => still_valid(&Write, plan),
        (_, "bash") => still_valid(&Bash::default(), plan),
        _ => still_valid(&Read, plan),
    }
}

/// The plan of a text in the place of a file.
fn plan_write(path: &str, text: &str, place: &ToolContext) -> Result<Plan, ToolError> {
    let real = place.resolve(path)?;
    // The runtime may have looked at the file or changed it by its own hands since we did: that is no reason to refuse.
    if place.last_seen(&real).is_some()
        && let Ok(Some(now)) = digest::of_file(&real)
    {
        place.saw(&real, now);
    }
    Write.plan(&json!({ "path": path, "content": text }), place)
}

/// What makes two errands the same: the tool and everything it is told.
fn key_of(plan: &Plan) -> String {
    format!("{} {}", plan.tool, digest::canonical(&plan.args))
}

/// Runs a tool that asks nothing and tells nothing on the way.
async fn run(tool: &dyn Tool, plan: Plan) -> Outcome {
    let (progress, _told) = mpsc::channel(1);
    let (asks, _asked) = mpsc::channel(1);
    tool.run(plan, Port { progress, asks, cancel: CancellationToken::new(), gate: None }).await
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, ToolError> + Send + 'static,
) -> Result<T, ToolError> {
    let broke = || ToolError::Args { tool: "errand".to_owned(), why: "it broke down".to_owned() };
    tokio::task::spawn_blocking(work).await.unwrap_or_else(|_| Err(broke()))
}

#[cfg(test)]
mod tests;
