//! `bash`: a command line in a shell, in its own process group, with live output, a time limit, and background jobs.

mod child;
mod jobs;
mod removal;
mod steered;
mod way;

pub use crate::jobs::{JobReport, JobState, Jobs, MAX_JOBS, MAX_RUNNING};
pub use crate::output::{KEPT, MAX_FILES, MAX_SPILL};
pub use child::GRACE;
pub use jobs::BashJobs;

use crate::args::{Args, COMMAND};
use crate::context::{Followed, ToolContext};
use crate::digest;
use crate::output::Output;
use crate::policy::allow::RUNS_IN;
use crate::shell;
use crate::tool::{BoxFuture, Deed, Leaves, Outcome, Plan, Port, Spec, Tool, ToolError};
use child::{End, Leave, Running, Sink};
use domain::ask::{Assessment, Preview, Risk};
use domain::content::Json;
use domain::path_text;
use domain::tool::{ToolOutcome, ToolResult};
use serde_json::{Value, json};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use steered::Steered;
use way::Way;

/// Time limit unless the call says otherwise, in seconds.
pub const DEFAULT_TIMEOUT: u64 = 120;
/// Longest time limit of a call unless the person has set another, in seconds.
pub const MAX_TIMEOUT: u64 = 600;
/// The longest that can be set: a day, in seconds.
pub const MAX_SET_TIMEOUT: u64 = 24 * 60 * 60;
/// Longest command line, in bytes.
pub const MAX_LINE: usize = 64 * 1024;

const NAME: &str = "bash";
/// Longest reason that a person is shown, in characters.
const MAX_REASON: usize = 400;

/// Runs a command line.
#[derive(Debug, Clone, Copy)]
pub struct Bash {
    /// Longest time limit of a call, in seconds.
    pub max_timeout: u64,
}

impl Default for Bash {
    fn default() -> Bash {
        Bash { max_timeout: MAX_TIMEOUT }
    }
}

struct BashArgs<'a> {
    line: &'a str,
    timeout: Duration,
    /// What it asked for, where that is more than a command may have.
    too_long: Option<u64>,
    background: bool,
    network: bool,
    unsandboxed: bool,
    reason: Option<&'a str>,
    workdir: Option<&'a str>,
}

impl<'a> BashArgs<'a> {
    fn parse(args: &'a Value, max_timeout: u64) -> Result<BashArgs<'a>, ToolError> {
        let args = Args::new(NAME, args);
        let line = args.text(COMMAND)?;
        if line.trim().is_empty() {
            return Err(args.wrong("`command` is empty"));
        }
        if line.len() > MAX_LINE || line.contains('\0') {
            return Err(
                args.wrong(format!("`command` must be text of at most {MAX_LINE} bytes: use a script file"))
            );
        }
        let asked = args.count_opt(&["timeout", "timeout_seconds"])?;
        let seconds = asked.unwrap_or(DEFAULT_TIMEOUT).clamp(1, max_timeout.max(1));
        let wanted = BashArgs {
            line,
            timeout: Duration::from_secs(seconds),
            too_long: asked.filter(|asked| *asked > seconds),
            background: args.flag(&["background", "run_in_background"])?,
            network: args.flag(&["network"])?,
            unsandboxed: args.flag(&["unsandboxed"])?,
            reason: args.text_opt(&["reason", "justification"])?.filter(|reason| !reason.trim().is_empty()),
            workdir: args.text_opt(&["workdir", "cwd"])?,
        };
        if (wanted.network || wanted.unsandboxed) && wanted.reason.is_none() {
            return Err(args
                .wrong("`network` and `unsandboxed` need a `reason`: the person reads it before deciding"));
        }
        Ok(wanted)
    }

    /// What the call asks for beside the command itself. It is no longer what a rule was given for.
    fn more(&self, plan: &mut Plan, at: &ToolContext) -> Leaves {
        let outside = !at.inside(at.workdir()) && !at.in_temp(at.workdir());
        if self.unsandboxed {
            plan.raise(Risk::High, "runs outside of the sandbox");
        }
        if self.network {
            plan.raise(Risk::High, "asks for the network");
        }
        if outside {
            plan.raise(
                Risk::High,
                format!("{RUNS_IN}{}, outside the project", path_text::write(at.workdir())),
            );
        }
        if self.background {
            plan.raise(Risk::Low, "goes on in the background");
        }
        if self.unsandboxed || self.network {
            let reason: String = self.reason.unwrap_or_default().trim().chars().take(MAX_REASON).collect();
            let reason: String = reason.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
            plan.assessment.reasons.push(format!("the model's reason: {reason}"));
            if let Some(last) = at.tries().of(self.line, at.workdir()) {
                plan.assessment.reasons.push("inside the sandbox it failed; its last lines were:".to_owned());
                plan.assessment.reasons.extend(last.iter().map(|line| format!("| {line}")));
            }
        }
        Leaves { network: self.network, free: self.unsandboxed || outside }
    }

    fn place(&self, place: &ToolContext) -> Result<ToolContext, ToolError> {
        match self.workdir {
            None => Ok(place.clone()),
            Some(dir) => place.at(&place.resolve(dir)?),
        }
    }
}

impl Tool for Bash {
    fn spec(&self) -> Spec {
        let most = self.max_timeout;
        let usual = DEFAULT_TIMEOUT.min(most);
        Spec {
            name: NAME.into(),
            description: format!(
                "Run a command line in bash. No stdin, no terminal. Output past {} KB is cut in the middle, kept in \
                 a file. The limit is {usual} s unless `timeout` (at most {most}) is set. \
                 What must go on (servers, watchers) needs `background`; all else ends with it. \
                 Commands run in a sandbox: they write only in the workspace and an own /tmp, files that steer programs (.git, \
                 CI, editor and agent settings) stay as is, and the network is an own 127.0.0.1 and $https_proxy (asked per \
                 host). If one fails for that, call it again with `network` or `unsandboxed` and a `reason`: the person is \
                 asked.",
                KEPT / 1024
            ),
            schema: json!({
                "type": "object",
                "properties": {
                    "command": {"type": "string", "description": "The command line"},
                    "timeout": {"type": "integer", "minimum": 1, "maximum": most, "description": "Seconds"},
                    "workdir": {"type": "string", "description": "The working directory if left out"},
                    "background": {"type": "boolean", "description": "Go on without waiting; see bash_jobs"},
                    "network": {"type": "boolean", "description": "It needs the network"},
                    "unsandboxed": {"type": "boolean", "description": "It must do what the sandbox does not let it"},
                    "reason": {"type": "string", "description": "Why it needs `network` or `unsandboxed`, for the person"}
                },
                "required": ["command"]
            }),
            read_only: false,
        }
    }

    fn plan(&self, args: &Value, place: &ToolContext) -> Result<Plan, ToolError> {
        let wanted = BashArgs::parse(args, self.max_timeout)?;
        let at = wanted.place(place)?;
        let mut judgement = shell::judge(wanted.line, &at);
        if !judgement.read_only() {
            removal::look(wanted.line, &at, &mut judgement);
        }
        let mut plan = Plan::reading(NAME, args, place, format!("run `{}`", wanted.line.trim()));
        // What was judged belongs to what was shown: a link that leads elsewhere by now makes it another action.
        let scripts: Vec<_> = judgement.inner.iter().filter_map(|inner| inner.script.as_ref()).collect();
        let told = format!("{:?} {:?} {scripts:?}", judgement.risk, judgement.reasons);
        plan.digest = digest::action(NAME, args, at.workdir(), &[("judgement".into(), Some(told))]);
        let inner = judgement.inner.iter().map(|inner| inner.shown.clone()).collect();
        plan.preview = Some(Preview::Command { line: wanted.line.to_owned(), inner });
        plan.assessment = Assessment {
            risk: judgement.risk,
            reasons: judgement.reasons.clone(),
            reversible: judgement.reversible,
            unrated: false,
        };
        let leaves = wanted.more(&mut plan, &at);
        let stays = leaves == Leaves::default();
        plan.read_only = judgement.read_only() && !wanted.background && stays;
        plan.rule = crate::policy::offer(&judgement).filter(|_| stays);
        // In the background it goes on beside whatever comes next.
        judgement.touches = judgement.touches.filter(|_| stays && !wanted.background);
        plan.deed = Deed::Command { judgement: Box::new(judgement), leaves };
        Ok(plan)
    }

    fn run(&self, plan: Plan, port: Port) -> BoxFuture<'static, Outcome> {
        let max_timeout = self.max_timeout;
        Box::pin(async move {
            if port.cancel.is_cancelled() {
                return Outcome::cancelled();
            }
            let decided = BashArgs::parse(&plan.args, max_timeout).and_then(|wanted| {
                let leave = leave(&plan, &wanted)?;
                Ok((wanted, leave))
            });
            let (wanted, leave) = match decided {
                Ok(decided) => decided,
                Err(error) => return Outcome::failed(error.to_string()),
            };
            let steered = Steered::before(&plan.place, wanted.line, leave).await;
            let followed = follow(&plan.place, leave).await;
            let way = Way::open(&plan.place, wanted.line, leave, wanted.background, &port).await;
            let outcome = match start(&plan, &wanted, leave, way.as_ref()) {
                Err(error) => Outcome::failed(error.to_string()),
                Ok(running) if wanted.background => background(&plan.place, &wanted, running, steered, way),
                Ok(running) => {
                    let outcome = foreground(&plan.place, &wanted, running, port.clone(), way).await;
                    let outcome = steered::explain(outcome, &plan.place, leave);
                    match steered {
                        Some(steered) => steered.after(outcome, &port).await,
                        None => outcome,
                    }
                }
            };
            if let Some(followed) = followed.filter(|_| !wanted.background) {
                let place = plan.place.clone();
                let _ = tokio::task::spawn_blocking(move || place.after_command(followed)).await;
            }
            outcome
        })
    }
}

/// Looks which files the model knows, before a command that may change them.
async fn follow(place: &ToolContext, leave: Leave) -> Option<Followed> {
    if leave.looking {
        return None;
    }
    let place = place.clone();
    tokio::task::spawn_blocking(move || place.before_command()).await.ok()
}

/// What the command may do: no more than what was decided on, so it follows the plan and not the arguments alone.
fn leave(plan: &Plan, wanted: &BashArgs<'_>) -> Result<Leave, ToolError> {
    let Deed::Command { judgement, leaves } = &plan.deed else {
        return Err(ToolError::Stale { tool: NAME.into() });
    };
    Ok(Leave {
        network: wanted.network,
        unsandboxed: wanted.unsandboxed,
        // Only what nobody is asked for: who agreed to a look elsewhere wants to see something.
        looking: judgement.read_only() && *leaves == Leaves::default(),
        git: judgement.repository,
        steers: judgement.steering,
    })
}

fn start(plan: &Plan, wanted: &BashArgs<'_>, leave: Leave, way: Option<&Way>) -> Result<Running, ToolError> {
    if wanted.background && !plan.place.jobs().has_room() {
        let why = format!("{MAX_RUNNING} commands run in the background already: stop one with bash_jobs");
        return Err(ToolError::Args { tool: NAME.into(), why });
    }
    let at = wanted.place(&plan.place)?;
    let shell = Path::new("bash");
    Running::start(wanted.line, at.workdir(), &plan.place, leave, way).map_err(ToolError::io(shell))
}

fn background(
    place: &ToolContext,
    wanted: &BashArgs<'_>,
    running: Running,
    steered: Option<Steered>,
    way: Option<Way>,
) -> Outcome {
    let id = jobs::adopt(
        place.jobs(),
        wanted.line,
        running,
        Output::new(place.outputs(), place.secrets()),
        steered,
        way,
    );
    let text = format!("started as job-{id}: read it with bash_jobs");
    let json = Json::verbatim(json!({"job": format!("job-{id}")}).to_string());
    Outcome::done(ToolResult { json: Some(json), ..ToolResult::text(text) })
}

async fn foreground(
    place: &ToolContext,
    wanted: &BashArgs<'_>,
    running: Running,
    port: Port,
    way: Option<Way>,
) -> Outcome {
    let output = Arc::new(Mutex::new(Output::new(place.outputs(), place.secrets())));
    let mut sink = Sink::new(&output, Some(port.progress), way.as_ref());
    let started = Instant::now();
    let thinking = way.as_ref().map(Way::thinking).unwrap_or_default();
    let end = running.watch(&mut sink, Some(wanted.timeout), &thinking, &port.cancel).await;
    let (mut outcome, text) = {
        let output = output.lock().unwrap_or_else(PoisonError::into_inner);
        (report(end, &output, wanted, started.elapsed()), output.text())
    };
    let is_failed = outcome.outcome == ToolOutcome::Failed;
    let mut refused = None;
    if let Some(way) = way {
        let late = if is_failed { way.settle().await } else { Vec::new() };
        refused = way.told(late);
        if refused.is_none() && is_failed {
            refused = way.missed(text.clone()).await;
        }
        way.end().await;
    }
    if place.guard().is_some() && !wanted.unsandboxed {
        let failed = is_failed.then_some(text);
        if let Ok(at) = wanted.place(place) {
            place.tries().note(wanted.line, at.workdir(), failed.as_deref());
        }
        // Who was told no is not told to ask for more.
        if refused.is_none() && failed.is_some_and(|output| crate::tries::sounds_refused(&output)) {
            outcome.result.text.push_str(HOW_TO_ASK);
        }
    }
    if let Some(refused) = refused {
        outcome.result.text.push('\n');
        outcome.result.text.push_str(&refused);
    }
    outcome
}

/// What the model reads when a command may have failed because of the sandbox. What was refused is not known.
const HOW_TO_ASK: &str = "\n(It ran in the sandbox. If that is why it failed, call it again with `network` or `unsandboxed` set \
                          and a `reason`: the person is asked and sees these last lines.)";

fn report(end: End, output: &Output, wanted: &BashArgs<'_>, took: Duration) -> Outcome {
    let mut text = output.text();
    let (outcome, code, note) = match end {
        End::Exited(status) if status.success() => (ToolOutcome::Done, Some(0), None),
        End::Exited(status) => match status.code() {
            Some(code) => (ToolOutcome::Failed, Some(code), Some(format!("(exit code {code})"))),
            None => (ToolOutcome::Failed, None, Some("(ended by a signal)".to_owned())),
        },
        End::TimedOut => {
            let seconds = wanted.timeout.as_secs();
            let instead = if wanted.too_long.is_some() { "use" } else { "give a longer `timeout`, or" };
            let note = format!("(stopped after {seconds} s: {instead} `background`)");
            (ToolOutcome::Failed, None, Some(note))
        }
        End::Cancelled => (ToolOutcome::Cancelled, None, Some("(cancelled)".to_owned())),
    };
    match note {
        Some(note) => {
            if !text.is_empty() && !text.ends_with('\n') {
                text.push('\n');
            }
            text.push_str(&note);
        }
        None if text.is_empty() => text.push_str("(no output)"),
        None => {}
    }
    if let Some(asked) = wanted.too_long {
        let most = wanted.timeout.as_secs();
        if !text.ends_with('\n') {
            text.push('\n');
        }
        text.push_str(&format!("(`timeout` {asked} is more than a command may have here: {most} s counted; `background` has no limit)"));
    }
    let json = json!({
        "exit_code": code,
        "duration_ms": u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
        "timed_out": end == End::TimedOut,
        "output_file": output.file().map(path_text::write),
    });
    let result = ToolResult {
        text,
        parts: Vec::new(),
        json: Some(Json::verbatim(json.to_string())),
        truncated: output.truncated(),
    };
    Outcome { outcome, result }
}
