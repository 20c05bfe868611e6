//! Command lines of the person's own, beside the conversation, and those in the background.
//!
//! What the person typed runs for them: nobody is asked, it is not held by the sandbox, and the session notes it as theirs. Two limits
//! hold all the same: a mode that denies what it would do, since whoever served this runtime may have set it, and the workspace as the
//! place where it begins. What is started in the background, unless the person typed it, goes by the rules and the leash of the model's own
//! commands.

use super::Consultation;
use crate::grants::Grants;
use crate::host_gate::HostGate;
use crate::seat::OpenAsks;
use domain::ask::{Answer, Ask, AskKind, Closing, Preview, Risk};
use domain::command::{Receipt, Refusal, RefusalKind, ShellCommand};
use domain::event::{AskEvent, Body, NoteEvent, PERSONS_COMMAND};
use domain::ids::{AskId, EntryId, Millis};
use domain::path_text;
use domain::session::{JobState, ShellJob};
use domain::signal::Level;
use domain::tool::ToolOutcome;
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::sync::{Semaphore, mpsc};
use tools::bash::{DEFAULT_TIMEOUT, JobReport, JobState as State};
use tools::checkpoint::Ledger;
use tools::policy::Verdict;
use tools::{Bash, Outcome, Plan, Port, Tool as _, ToolContext, ToolError};

/// Commands of the person's own that may run at once, over all sessions; past it one is refused.
pub(crate) const MAX_TYPED: usize = 16;
/// Longest time that a command of the person's own may take, in seconds: a UI waits for it.
const MAX_SECONDS: u64 = 300;
/// Longest that one question waits for the end of a command in the background, in seconds.
const MAX_WAIT: u64 = 300;
/// What stands where the model gives its reason.
const TYPED: &str = "the person typed it";

/// What a command line is run with.
pub(crate) struct ShellContext {
    pub(crate) place: ToolContext,
    pub(crate) grants: Grants,
    pub(crate) asked: OpenAsks,
    /// Room for commands of the person's own.
    pub(crate) room: Arc<Semaphore>,
    /// What turns did to files, where that is kept.
    pub(crate) ledger: Option<Ledger>,
}

/// What `bash` says beside the output.
#[derive(Deserialize, Default)]
#[serde(default)]
struct BashOutcome {
    exit_code: Option<i32>,
    timed_out: bool,
    job: Option<String>,
}

impl Consultation {
    /// Does what the person wants of their shell.
    pub(crate) async fn shell(mut self, command: ShellCommand) -> Result<Receipt, Refusal> {
        let shell_context = match self.shell_context.take() {
            Some(Ok(shell_context)) => shell_context,
            Some(Err(why)) => return Err(Refusal::new(RefusalKind::Invalid, why)),
            None => return Err(Refusal::new(RefusalKind::Internal, "there is no place to run it in")),
        };
        let job = match command {
            ShellCommand::Jobs => return Ok(Receipt::Jobs(list(&shell_context))),
            ShellCommand::Run { line, cwd, seconds } => {
                self.run_typed(&shell_context, &line, cwd, seconds).await?
            }
            ShellCommand::Start { line, cwd, typed } => self.start(&shell_context, &line, cwd, typed).await?,
            ShellCommand::Job { job, wait } => {
                let id = number(&job)?;
                if let Some(seconds) = wait {
                    let most = Duration::from_secs(seconds.min(MAX_WAIT));
                    shell_context.place.jobs().wait(id, most).await;
                }
                look(&shell_context, id)?
            }
            ShellCommand::Stop { job } => {
                let id = number(&job)?;
                shell_context.place.jobs().stop_and_wait(id).await;
                look(&shell_context, id)?
            }
        };
        Ok(Receipt::Jobs(vec![job]))
    }

    async fn run_typed(
        &self,
        shell_context: &ShellContext,
        line: &str,
        cwd: Option<String>,
        seconds: Option<u64>,
    ) -> Result<ShellJob, Refusal> {
        let _room = shell_context.room.try_acquire().map_err(|_| {
            let what = format!("{MAX_TYPED} commands of yours run already");
            Refusal::new(RefusalKind::TooMany, what).hint("wait for one to end")
        })?;
        let seconds = seconds.unwrap_or(DEFAULT_TIMEOUT).clamp(1, MAX_SECONDS);
        let mut args = json!({"command": line, "timeout": seconds});
        begin_at(shell_context, &mut args, cwd)?;
        let plan = self.plan_typed(shell_context, args).await?;
        let started_at = now();
        let outcome = run(plan, shell_context, &self.stop).await;
        let (ran, output) = read(&outcome);
        let state = match &outcome.outcome {
            ToolOutcome::Cancelled => JobState::Stopped,
            _ if ran.timed_out => JobState::Stopped,
            _ => JobState::Exited(ran.exit_code),
        };
        let job = ShellJob {
            id: String::new(),
            line: line.to_owned(),
            state,
            started_at,
            ended_at: Some(now()),
            output,
            truncated: outcome.result.truncated,
        };
        self.note(line, &outcome.result.text).await;
        Ok(job)
    }

    /// A command of the person's own as it is run.
    async fn plan_typed(&self, shell_context: &ShellContext, mut args: Value) -> Result<Plan, Refusal> {
        let plan = plan(shell_context, args.clone()).await?;
        match shell_context.grants.verdict(&plan) {
            Verdict::Deny(reason) => Err(Refusal::new(RefusalKind::NotAllowed, reason)),
            Verdict::Allow(_) if self.grounds.policy.only_looks() => Ok(plan),
            Verdict::Allow(_) | Verdict::Ask => {
                args["unsandboxed"] = Value::Bool(true);
                args["reason"] = Value::from(TYPED);
                self::plan(shell_context, args).await
            }
        }
    }

    /// The session says whose command that was; the model does not read it.
    async fn note(&self, line: &str, output: &str) {
        let entry = EntryId::mint(&self.grounds.ids);
        let text = format!("$ {line}\n{output}");
        self.kept(Body::Note(NoteEvent::Noticed {
            entry,
            parent: self.grounds.leaf,
            run: None,
            level: Level::Info,
            code: PERSONS_COMMAND.to_owned(),
            text,
        }))
        .await;
    }

    async fn start(
        &self,
        shell_context: &ShellContext,
        line: &str,
        cwd: Option<String>,
        typed: bool,
    ) -> Result<ShellJob, Refusal> {
        let mut args = json!({"command": line, "background": true});
        begin_at(shell_context, &mut args, cwd)?;
        let plan = match typed {
            true => self.plan_typed(shell_context, args).await?,
            false => plan(shell_context, args).await?,
        };
        match shell_context.grants.verdict(&plan) {
            _ if typed => {}
            Verdict::Allow(_) => {}
            Verdict::Deny(reason) => return Err(Refusal::new(RefusalKind::NotAllowed, reason)),
            Verdict::Ask => self.ask(shell_context, &plan).await?,
        }
        let outcome = run(plan, shell_context, &self.stop).await;
        match read(&outcome).0.job {
            Some(job) => {
                if typed {
                    self.note(line, &format!("(in the background as {job})")).await;
                }
                look(shell_context, number(&job)?)
            }
            None => Err(Refusal::new(RefusalKind::Invalid, outcome.result.text)),
        }
    }

    /// Asks the person about a command that would go on in the background.
    async fn ask(&self, shell_context: &ShellContext, plan: &Plan) -> Result<(), Refusal> {
        let id = AskId::mint(&self.grounds.ids);
        let closing = shell_context.asked.wait_for(id);
        let line = match &plan.preview {
            Some(Preview::Command { line, .. }) => line.clone(),
            _ => plan.title.clone(),
        };
        let reasons = plan.assessment.reasons.join("; ");
        let line = domain::harmless::marked_command(&line);
        let message = if reasons.is_empty() { line } else { format!("{line}\n\n{reasons}") };
        let kind = AskKind::Confirm {
            message,
            yes: Some("Run it".to_owned()),
            no: Some("Do not run it".to_owned()),
            danger: plan.assessment.risk >= Risk::High,
        };
        let title = "Run this in the background?".to_owned();
        let asked = Ask { id, run: None, title, kind, deadline: None };
        let no = |what: &str| Err(Refusal::new(RefusalKind::NotAllowed, what));
        if !self.kept(Body::Ask(AskEvent::Opened(asked))).await {
            return no("it could not be asked whether this may run");
        }
        match closing.await {
            Ok(Closing::Answered { answer: Answer::Confirmed(true), .. }) => Ok(()),
            Ok(Closing::Answered { .. }) => no("the person did not allow it"),
            Ok(Closing::Withdrawn | Closing::Expired | Closing::Unattended) | Err(_) => {
                no("nobody could be asked whether this may run")
            }
        }
    }
}

/// Nothing begins outside the project.
fn begin_at(shell_context: &ShellContext, args: &mut Value, cwd: Option<String>) -> Result<(), Refusal> {
    let Some(cwd) = cwd else { return Ok(()) };
    let there = shell_context.place.resolve(&cwd).map_err(invalid)?;
    if !shell_context.place.inside(&there) {
        let what = format!("{} lies outside the project", path_text::write(&there));
        return Err(Refusal::new(RefusalKind::Invalid, what).hint("name a folder in it"));
    }
    args["workdir"] = Value::from(cwd);
    Ok(())
}

async fn plan(shell_context: &ShellContext, args: Value) -> Result<Plan, Refusal> {
    // What the person's command changes is theirs: the model reads it anew before it edits.
    let place = shell_context.place.clone().with_own_memory();
    match tokio::task::spawn_blocking(move || Bash::default().plan(&args, &place)).await {
        Ok(plan) => plan.map_err(invalid),
        Err(_) => Err(Refusal::new(RefusalKind::Internal, "the command could not be looked at")),
    }
}

fn invalid(why: ToolError) -> Refusal {
    Refusal::new(RefusalKind::Invalid, why.to_string())
}

/// Nobody watches the output as it comes, and nobody is asked in the middle.
async fn run(
    plan: Plan,
    shell_context: &ShellContext,
    stop: &tokio_util::sync::CancellationToken,
) -> Outcome {
    let ((progress, _), (asks, _)) = (mpsc::channel(1), mpsc::channel(1));
    let gate = Some(HostGate::of(&shell_context.grants, &shell_context.place));
    Bash::default().run(plan, Port { progress, asks, cancel: stop.clone(), gate }).await
}

/// What came of a command, and what it wrote without what `bash` says about it.
fn read(outcome: &Outcome) -> (BashOutcome, String) {
    let json = outcome.result.json.as_ref();
    let ran: BashOutcome = json.and_then(|json| serde_json::from_str(json.as_str()).ok()).unwrap_or_default();
    let text = &outcome.result.text;
    let note = ran.exit_code.filter(|code| *code != 0).map(|code| format!("(exit code {code})"));
    let text = note.and_then(|note| text.strip_suffix(&note)).unwrap_or(text);
    let quiet = text == "(no output)" && json.is_some();
    (ran, if quiet { String::new() } else { text.to_owned() })
}

fn list(shell_context: &ShellContext) -> Vec<ShellJob> {
    shell_context.place.jobs().list().into_iter().map(|report| told(report, String::new(), false)).collect()
}

fn look(shell_context: &ShellContext, id: u64) -> Result<ShellJob, Refusal> {
    let seen = shell_context.place.jobs().read(id).map(|(report, text, cut)| told(report, text, cut));
    seen.ok_or_else(|| unknown(&format!("job-{id}")))
}

fn number(job: &str) -> Result<u64, Refusal> {
    job.strip_prefix("job-").and_then(|number| number.parse().ok()).ok_or_else(|| unknown(job))
}

fn unknown(job: &str) -> Refusal {
    Refusal::new(RefusalKind::Invalid, format!("there is no {job}")).hint("list them to see which there are")
}

fn told(report: JobReport, output: String, truncated: bool) -> ShellJob {
    let millis = |duration: Duration| u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
    let ended_at = report.over_for.map(|over| Millis(now().0.saturating_sub(millis(over))));
    let until = ended_at.unwrap_or_else(now);
    ShellJob {
        id: format!("job-{}", report.id),
        line: report.line,
        state: match report.state {
            State::Running => JobState::Running,
            State::Exited(code) => JobState::Exited(code),
            State::Stopped => JobState::Stopped,
        },
        started_at: Millis(until.0.saturating_sub(millis(report.ran))),
        ended_at,
        output,
        truncated,
    }
}

fn now() -> Millis {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Millis(u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}
