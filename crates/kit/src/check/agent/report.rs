//! What a check of an agent found: a line for each task, a last line, and JSON.

use super::play::{AgentTask, TaskOutcome};
use serde_json::{Value, json};
use std::fmt::Write;
use std::time::Duration;

/// Lines of the conversation that are shown where a task was not solved, and how much of a line.
const SHOWN: usize = 6;
const MAX_SHOWN: usize = 240;

/// What came of a task.
#[derive(Debug, Clone)]
pub struct TaskFinding {
    pub task: &'static str,
    /// Which error it has in it.
    pub holds: &'static str,
    pub outcome: TaskOutcome,
    /// Requests to the model that were about the task.
    pub rounds: u64,
    /// What was wanted in each round that was lost to the harness.
    pub lost: Vec<String>,
    /// Questions that the agent asked; all were answered with yes.
    pub questions: u64,
    /// Summaries that the agent asked for.
    pub summaries: u64,
    /// Tokens that were sent, and those of them that a provider had already. Estimates by size.
    pub sent: u64,
    pub cached: u64,
    pub took: Duration,
    /// The last lines of the conversation and of the agent's stderr.
    pub said: Vec<String>,
}

impl TaskFinding {
    /// Of a task that nothing came of yet.
    pub(super) fn of(task: &AgentTask) -> TaskFinding {
        TaskFinding {
            task: task.name,
            holds: task.holds,
            outcome: TaskOutcome::NotTried("not tried".to_owned()),
            rounds: 0,
            lost: Vec::new(),
            questions: 0,
            summaries: 0,
            sent: 0,
            cached: 0,
            took: Duration::ZERO,
            said: Vec::new(),
        }
    }

    /// One line, and more where it was not solved or rounds were lost.
    pub fn line(&self) -> String {
        let (mark, why) = match &self.outcome {
            TaskOutcome::Solved => ("solved", None),
            TaskOutcome::Unsolved(why) => ("FAILED", Some(why)),
            TaskOutcome::NotTried(why) => ("skip", Some(why)),
        };
        let mut text = format!(
            "{mark:<7} {:<21} {:>5} {:>5} {:>6} {:>8} {:>5} % {:>6} ms  {}",
            self.task,
            self.rounds,
            self.lost.len(),
            self.questions,
            self.sent,
            percent(self.cached, self.sent),
            self.took.as_millis(),
            self.holds
        );
        if let Some(why) = why {
            let _ = write!(text, "\n          {why}");
        }
        for lost in &self.lost {
            let _ = write!(text, "\n          lost: {}", crate::pattern::clip(lost, MAX_SHOWN));
        }
        if matches!(self.outcome, TaskOutcome::Unsolved(_)) {
            for line in self.said.iter().skip(self.said.len().saturating_sub(SHOWN)) {
                let _ = write!(text, "\n          | {}", crate::pattern::clip(line, MAX_SHOWN));
            }
        }
        text
    }
}

fn percent(part: u64, whole: u64) -> u64 {
    (part * 100).checked_div(whole).unwrap_or(0)
}

/// What came of all tasks.
#[derive(Debug, Clone)]
pub struct AgentReport {
    /// The wire.
    pub dialect: &'static str,
    pub findings: Vec<TaskFinding>,
}

impl AgentReport {
    /// What stands over the lines.
    pub const HEAD: &'static str =
        "        task                 rounds  lost asked     sent  cached       time  what it has in it";

    /// How many were solved, were not, and could not be tried.
    pub fn counts(&self) -> (usize, usize, usize) {
        let count = |is: fn(&TaskOutcome) -> bool| {
            self.findings.iter().filter(|finding| is(&finding.outcome)).count()
        };
        (
            count(|outcome| *outcome == TaskOutcome::Solved),
            count(|outcome| matches!(outcome, TaskOutcome::Unsolved(_))),
            count(|outcome| matches!(outcome, TaskOutcome::NotTried(_))),
        )
    }

    /// Rounds that were lost to the harness, in all tasks.
    pub fn lost(&self) -> usize {
        self.findings.iter().map(|finding| finding.lost.len()).sum()
    }

    fn sum(&self, of: fn(&TaskFinding) -> u64) -> u64 {
        self.findings.iter().map(of).sum()
    }

    /// One line that says it all.
    pub fn summary(&self) -> String {
        let (solved, unsolved, not_tried) = self.counts();
        let (sent, cached) = (self.sum(|finding| finding.sent), self.sum(|finding| finding.cached));
        format!(
            "{}: {solved} of {} tasks solved, {not_tried} not tried · {} of {} rounds lost to the harness · {} questions · about {sent} tokens sent, {} % of them cached",
            self.dialect,
            solved + unsolved,
            self.lost(),
            self.sum(|finding| finding.rounds),
            self.sum(|finding| finding.questions),
            percent(cached, sent)
        )
    }

    /// As JSON, for programs.
    pub fn to_json(&self) -> Value {
        let (solved, unsolved, not_tried) = self.counts();
        let tasks: Vec<Value> = self.findings.iter().map(one).collect();
        json!({
            "dialect": self.dialect,
            "solved": solved,
            "unsolved": unsolved,
            "not_tried": not_tried,
            "rounds": self.sum(|finding| finding.rounds),
            "rounds_lost": self.lost(),
            "questions": self.sum(|finding| finding.questions),
            "tokens_estimated": {
                "sent": self.sum(|finding| finding.sent),
                "cached": self.sum(|finding| finding.cached),
            },
            "tasks": tasks,
        })
    }
}

fn one(finding: &TaskFinding) -> Value {
    let (outcome, why) = match &finding.outcome {
        TaskOutcome::Solved => ("solved", None),
        TaskOutcome::Unsolved(why) => ("unsolved", Some(why)),
        TaskOutcome::NotTried(why) => ("not_tried", Some(why)),
    };
    json!({
        "task": finding.task,
        "holds": finding.holds,
        "outcome": outcome,
        "why": why,
        "rounds": finding.rounds,
        "rounds_lost": finding.lost.len(),
        "lost": finding.lost,
        "questions": finding.questions,
        "summaries": finding.summaries,
        "tokens_estimated": {"sent": finding.sent, "cached": finding.cached},
        "millis": u64::try_from(finding.took.as_millis()).unwrap_or(u64::MAX),
    })
}
