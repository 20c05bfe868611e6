//! Commands in the background: started by `bash`, listed, read and stopped by `bash_jobs`. All end with the workplace.

use super::child::{End, Running, Sink};
use super::steered::Steered;
use crate::args::Args;
use crate::output::{Live, Output};
use crate::place::Workplace;
use crate::tool::{BoxFuture, Outcome, Plan, Port, Spec, Tool, ToolError};
use domain::content::Json;
use domain::tool::ToolResult;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write as _;
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

#[derive(Debug)]
struct Job {
    line: String,
    started: Instant,
    output: Arc<Mutex<Output>>,
    state: watch::Receiver<(JobState, Option<Instant>)>,
    stop: CancellationToken,
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

    /// Takes a started command over; gives its number.
    pub(crate) fn adopt(
        &self,
        line: &str,
        running: Running,
        output: Output,
        steered: Option<Steered>,
    ) -> u64 {
        let output = Arc::new(Mutex::new(output));
        let stop = CancellationToken::new();
        let (tell, state) = watch::channel((JobState::Running, None));
        let mut sink = Sink { output: output.clone(), progress: None, live: Live::default() };
        let token = stop.clone();
        tokio::spawn(async move {
            let state = match running.watch(&mut sink, None, &token).await {
                End::Exited(status) => JobState::Exited(status.code()),
                End::TimedOut | End::Cancelled => JobState::Stopped,
            };
            if let Some(steered) = steered
                && let Some(told) = steered.after_all().await
            {
                let mut output = sink.output.lock().unwrap_or_else(PoisonError::into_inner);
                output.push(format!("\n{told}\n").as_bytes());
            }
            tell.send_replace((state, Some(Instant::now())));
        });
        let mut book = self.lock();
        book.last += 1;
        let id = book.last;
        book.jobs.insert(id, Job { line: line.to_owned(), started: Instant::now(), output, state, stop });
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

const NAME: &str = "bash_jobs";

/// Lists, reads and stops background commands.
#[derive(Debug, Clone, Copy)]
pub struct BashJobs;

enum Act {
    List,
    Read(u64),
    Stop(u64),
}

fn parse(args: &Value) -> Result<Act, ToolError> {
    let args = Args::new(NAME, args);
    let id = || {
        let text = args.text_opt(&["id", "job", "job_id"]).ok().flatten();
        match text.and_then(|text| text.trim_start_matches("job-").parse().ok()) {
            Some(id) => Ok(id),
            None => args.count_opt(&["id", "job", "job_id"])?.ok_or_else(|| args.wrong("`id` is missing")),
        }
    };
    match args.text_opt(&["action", "op"])?.unwrap_or("list") {
        "list" => Ok(Act::List),
        "read" => Ok(Act::Read(id()?)),
        "stop" | "kill" => Ok(Act::Stop(id()?)),
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

    fn plan(&self, args: &Value, place: &Workplace) -> Result<Plan, ToolError> {
        let title = match parse(args)? {
            Act::List => "list background commands".to_owned(),
            Act::Read(id) => format!("read the output of job-{id}"),
            Act::Stop(id) => format!("stop job-{id}"),
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
                Ok(Act::List) => Outcome::done(listing(&jobs.list())),
                Ok(Act::Read(id)) => match jobs.read(id) {
                    None => unknown(id),
                    Some((report, text, truncated)) => {
                        let text = format!("{}\n{text}", describe(&report));
                        Outcome::done(ToolResult { truncated, ..ToolResult::text(text) })
                    }
                },
                Ok(Act::Stop(id)) if jobs.stop_and_wait(id).await => {
                    Outcome::done(ToolResult::text(format!("stopped job-{id}")))
                }
                Ok(Act::Stop(id)) => unknown(id),
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
