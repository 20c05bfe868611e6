//! Commands in the background: watched here once `bash` has started them, listed, read and stopped by `bash_jobs`.

use super::child::{End, Running, Sink};
use super::steered::Steered;
use super::way::Way;
use crate::args::Args;
use crate::context::ToolContext;
use crate::jobs::{Job, JobReport, JobState, Jobs};
use crate::output::Output;
use crate::proxy::Thinking;
use crate::tool::{BoxFuture, Outcome, Plan, Port, Spec, Tool, ToolError};
use domain::content::Json;
use domain::tool::ToolResult;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// Takes a started command over; gives its number.
pub(super) fn adopt(
    jobs: &Jobs,
    line: &str,
    running: Running,
    output: Output,
    steered: Option<Steered>,
    way: Option<Way>,
) -> u64 {
    let output = Arc::new(Mutex::new(output));
    let stop = CancellationToken::new();
    let (tell, state) = watch::channel((JobState::Running, None));
    let mut sink = Sink::new(&output, None, way.as_ref());
    let token = stop.clone();
    tokio::spawn(async move {
        let state = match running.watch(&mut sink, None, &Thinking::default(), &token).await {
            End::Exited(status) => JobState::Exited(status.code()),
            End::TimedOut | End::Cancelled => JobState::Stopped,
        };
        if let Some(told) = way.and_then(|way| way.told(Vec::new())) {
            let mut output = sink.output.lock().unwrap_or_else(PoisonError::into_inner);
            output.push(format!("\n{told}\n").as_bytes());
        }
        if let Some(steered) = steered
            && let Some(told) = steered.after_all().await
        {
            let mut output = sink.output.lock().unwrap_or_else(PoisonError::into_inner);
            output.push(format!("\n{told}\n").as_bytes());
        }
        tell.send_replace((state, Some(Instant::now())));
    });
    jobs.enter(Job { line: line.to_owned(), started: Instant::now(), output, state, stop })
}

const NAME: &str = "bash_jobs";

/// Lists, reads and stops background commands.
#[derive(Debug, Clone, Copy)]
pub struct BashJobs;

enum JobsAction {
    List,
    Read(u64),
    Stop(u64),
}

fn parse(args: &Value) -> Result<JobsAction, ToolError> {
    let args = Args::new(NAME, args);
    let id = || {
        let text = args.text_opt(&["id", "job", "job_id"]).ok().flatten();
        match text.and_then(|text| text.trim_start_matches("job-").parse().ok()) {
            Some(id) => Ok(id),
            None => args.count_opt(&["id", "job", "job_id"])?.ok_or_else(|| args.wrong("`id` is missing")),
        }
    };
    match args.text_opt(&["action", "op"])?.unwrap_or("list") {
        "list" => Ok(JobsAction::List),
        "read" => Ok(JobsAction::Read(id()?)),
        "stop" | "kill" => Ok(JobsAction::Stop(id()?)),
        other => Err(args.wrong(format!("`action` is list, read or stop, not {other}"))),
    }
}

impl Tool for BashJobs {
    fn spec(&self) -> Spec {
        Spec {
            name: NAME.into(),
            description: "List, read or stop the commands that bash started in the background.".into(),
            schema: json!({
                "type": "object",
                "properties": {
                    "action": {"type": "string", "enum": ["list", "read", "stop"]},
                    "id": {"type": "string", "description": "The job, such as job-1; for read and stop"}
                },
                "required": ["action"]
            }),
            read_only: true,
        }
    }

    fn plan(&self, args: &Value, place: &ToolContext) -> Result<Plan, ToolError> {
        let title = match parse(args)? {
            JobsAction::List => "list background commands".to_owned(),
            JobsAction::Read(id) => format!("read the output of job-{id}"),
            JobsAction::Stop(id) => format!("stop job-{id}"),
        };
        Ok(Plan::reading(NAME, args, place, title))
    }

    fn run(&self, plan: Plan, port: Port) -> BoxFuture<'static, Outcome> {
        Box::pin(async move {
            if port.cancel.is_cancelled() {
                return Outcome::cancelled();
            }
            let jobs = plan.place.jobs();
            match parse(&plan.args) {
                Err(error) => Outcome::failed(error.to_string()),
                Ok(JobsAction::List) => Outcome::done(listing(&jobs.list())),
                Ok(JobsAction::Read(id)) => match jobs.read(id) {
                    None => unknown(id),
                    Some((report, text, truncated)) => {
                        let text = format!("{}\n{text}", describe(&report));
                        Outcome::done(ToolResult { truncated, ..ToolResult::text(text) })
                    }
                },
                Ok(JobsAction::Stop(id)) if jobs.stop_and_wait(id).await => {
                    Outcome::done(ToolResult::text(format!("stopped job-{id}")))
                }
                Ok(JobsAction::Stop(id)) => unknown(id),
            }
        })
    }
}

fn unknown(id: u64) -> Outcome {
    Outcome::failed(format!("there is no job-{id}: use action list"))
}

fn describe(report: &JobReport) -> String {
    let state = match report.state {
        JobState::Running => "running".to_owned(),
        JobState::Exited(Some(code)) => format!("exit code {code}"),
        JobState::Exited(None) => "ended by a signal".to_owned(),
        JobState::Stopped => "stopped".to_owned(),
    };
    format!("job-{} ({state}, {} s): {}", report.id, report.ran.as_secs(), report.line)
}

fn listing(reports: &[JobReport]) -> ToolResult {
    let mut text = String::new();
    for report in reports {
        let _ = writeln!(text, "{}", describe(report));
    }
    if text.is_empty() {
        text.push_str("(no background commands)");
    }
    let jobs: Vec<_> = reports
        .iter()
        .map(|report| {
            json!({"id": format!("job-{}", report.id), "command": report.line,
                   "running": report.state == JobState::Running, "seconds": report.ran.as_secs()})
        })
        .collect();
    ToolResult {
        json: Some(Json::verbatim(json!({"jobs": jobs}).to_string())),
        ..ToolResult::text(text.trim_end())
    }
}
