//! A task as it is played: what the scripted model says to the next request, by what came of its calls.
//!
//! It looks at the folder to see whether a call had its effect, since every harness words its results in its own way. Invariants: every
//! step ends after a bounded number of tries, and a task after [`MAX_ROUNDS`]; what is not the task's own (titles, summaries) is answered
//! and counted apart.

use super::bill::Bill;
use super::form::CallForm;
use super::heard::{Heard, ModelApi};
use super::reply::{Charged, Reply, ReplyCall, ReplyEnd, boundary};
use std::path::{Path, PathBuf};

/// Most requests of one prompt, after which the model only says that it stops.
pub(super) const MAX_ROUNDS: u64 = 400;
const GIVES_UP: &str = "I cannot do this here.";
/// A summary as a poor model writes it: nothing of what the person said is in it.
const SUMMARY: &str = "The work so far: some files were looked at. It goes on where it stopped.";

/// By what it is seen that a call had its effect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Sign {
    /// Path and text.
    File(String, String),
    /// A result says this.
    Said(String),
    /// Each call has a result.
    Answered,
    /// The request has at most so many tokens.
    Fits(u64),
}

impl Sign {
    /// What is missing, in words.
    fn words(&self) -> String {
        match self {
            Sign::File(path, text) => format!("{path} did not get “{text}”"),
            Sign::Said(words) => format!("no result said “{words}”"),
            Sign::Answered => "not every call had a result".to_owned(),
            Sign::Fits(most) => format!("the next request had more than about {most} tokens"),
        }
    }
}

/// What is wrong with an answer, or with who gives it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Trouble {
    BreaksInText,
    BreaksInCall(CallForm),
    /// The longest answer is reached in the middle of a call.
    LimitInCall(CallForm),
    /// Nothing is said and nothing called.
    Empty,
    Status(u16),
    /// The next summary reaches the longest answer.
    CutSummary,
}

/// One thing that the model does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum TaskStep {
    /// Calls that are said together, until their signs show: the first way, then the next.
    Call {
        tries: Vec<Vec<CallForm>>,
        signs: Vec<Sign>,
    },
    /// A call that could mean two things: the file must stay as it is.
    Ambiguous {
        form: CallForm,
        path: String,
        text: String,
    },
    /// The same call again and again, until the harness says something else than before.
    Circle {
        form: CallForm,
        at_most: usize,
    },
    Trouble(Trouble),
    /// The answer ends here; the person says the next thing, `early` while the answer before is still given.
    Prompt {
        text: String,
        early: bool,
    },
}

/// A task, as data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentTask {
    pub name: &'static str,
    /// Which error of real models, or of what is between them and the harness, it has in it.
    pub holds: &'static str,
    pub(super) files: Vec<(String, String)>,
    pub(super) prompt: String,
    pub(super) steps: Vec<TaskStep>,
    /// Files afterwards.
    pub(super) after: Vec<(String, String)>,
    /// Words of the prompt that every request must carry.
    pub(super) keeps: Vec<String>,
    /// What the model says when it is done with a prompt.
    pub(super) last_words: String,
    /// Tokens that fit in a request.
    pub(super) window: Option<u64>,
}

/// What came of a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TaskOutcome {
    Solved,
    /// Why not.
    Unsolved(String),
    /// The agent has no occasion to show it.
    NotTried(String),
}

/// What the model says to a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ModelAnswer {
    Reply(Reply, Charged),
    /// A refusal; with the window where the request does not fit.
    Status(u16, Option<u64>),
}

/// A task under way.
#[derive(Debug)]
pub(super) struct TaskPlay {
    task: AgentTask,
    cwd: PathBuf,
    /// The step, and which of its tries it is.
    at: usize,
    tried: usize,
    /// The names of the calls that were said and whose effect was not looked for yet.
    pending: Vec<String>,
    calls: u64,
    /// What the harness said first to a call that is repeated.
    first_word: Option<String>,
    /// Prompts that were said, and those that the model has begun with.
    said: usize,
    taken: usize,
    /// Whether the newest prompt that was taken is answered.
    answered: bool,
    /// Requests of the prompt under way.
    of_prompt: u64,
    summaries_to_cut: usize,
    wrong: Option<String>,
    not_tried: Option<String>,
    pub(super) rounds: u64,
    pub(super) summaries: u64,
    /// What was wanted in each round that was lost to the harness.
    pub(super) lost: Vec<String>,
    pub(super) bill: Bill,
}

impl TaskPlay {
    pub(super) fn new(task: AgentTask, cwd: PathBuf) -> TaskPlay {
        TaskPlay {
            task,
            cwd,
            at: 0,
            tried: 0,
            pending: Vec::new(),
            calls: 0,
            first_word: None,
            said: 0,
            taken: 0,
            answered: true,
            of_prompt: 0,
            summaries_to_cut: 0,
            wrong: None,
            not_tried: None,
            rounds: 0,
            summaries: 0,
            lost: Vec::new(),
            bill: Bill::default(),
        }
    }

    /// All prompts, in order.
    fn prompts(&self) -> impl Iterator<Item = (&str, bool)> {
        let later = self.task.steps.iter().filter_map(|step| match step {
            TaskStep::Prompt { text, early } => Some((text.as_str(), *early)),
            _ => None,
        });
        [(self.task.prompt.as_str(), false)].into_iter().chain(later)
    }

    /// What the person says next, now that nothing runs; it counts as said.
    pub(super) fn next_prompt(&mut self) -> Option<String> {
        if self.not_tried.is_some() || self.has_given_up() {
            return None;
        }
        let (text, _) = self.prompts().nth(self.said)?;
        let text = text.to_owned();
        self.said += 1;
        Some(text)
    }

    /// The same while a prompt is being answered, for those that are said early.
    pub(super) fn early_prompt(&mut self) -> Option<String> {
        self.prompts().nth(self.said).filter(|(_, early)| *early)?;
        self.next_prompt()
    }

    /// Whether all that was said is answered.
    pub(super) fn is_answered(&self) -> bool {
        self.answered && self.taken == self.said
    }

    fn has_given_up(&self) -> bool {
        self.at == usize::MAX
    }

    /// The prompt that the model is busy with.
    fn prompt(&self) -> &str {
        self.prompts().nth(self.taken.saturating_sub(1)).map_or("", |(text, _)| text)
    }

    /// What the model says to a request, whatever that is about.
    pub(super) fn answer(&mut self, heard: &Heard) -> ModelAnswer {
        if let Some(window) = self.task.window.filter(|window| heard.tokens() > *window) {
            return ModelAnswer::Status(400, Some(window));
        }
        let (sent, cached) = self.bill.add(heard);
        let answer = self.say(heard);
        match answer {
            Ok(reply) => {
                let said = reply.tokens();
                ModelAnswer::Reply(reply, Charged { sent, cached, said })
            }
            Err(status) => ModelAnswer::Status(status, None),
        }
    }

    fn say(&mut self, heard: &Heard) -> Result<Reply, u16> {
        let next = self.prompts().nth(self.taken).map(|(text, _)| text.to_owned());
        let is_next = |next: &Option<String>| next.as_ref().is_some_and(|text| heard.carries(text));
        let newest =
            next.as_deref().filter(|text| heard.newest_words().contains(text)).unwrap_or(self.prompt());
        if heard.asks_for_summary(newest) {
            self.summaries += 1;
            let cut = self.summaries_to_cut > 0;
            self.summaries_to_cut -= usize::from(cut);
            let end = if cut { ReplyEnd::AtLimit } else { ReplyEnd::Whole };
            return Ok(Reply { end, ..Reply::text(SUMMARY) });
        }
        if heard.tools.is_empty() {
            // A title, a word for what goes on: nothing of the task.
            return Ok(Reply::text("A task"));
        }
        self.rounds += 1;
        if self.answered && self.taken < self.said {
            self.take(is_next(&next));
        }
        self.of_prompt += 1;
        if self.of_prompt > MAX_ROUNDS {
            return Ok(self.give_up(format!("not done after {MAX_ROUNDS} requests")));
        }
        if let Some(lost) = self.task.keeps.iter().find(|words| !heard.carries(words)) {
            let why =
                format!("“{lost}” of the first prompt was not sent any more in request {}", self.rounds);
            self.wrong.get_or_insert(why);
        }
        if !self.pending.is_empty() {
            self.look(heard);
        }
        loop {
            let next = match self.go_on(heard) {
                Some(said) => return said,
                None => self.prompts().nth(self.taken).map(|(text, _)| text.to_owned()),
            };
            // A harness may put what the person said early into the request under way.
            if self.taken < self.said && is_next(&next) {
                self.take(true);
                continue;
            }
            self.answered = true;
            let words = if self.has_given_up() { GIVES_UP } else { &self.task.last_words };
            return Ok(Reply::text(words));
        }
    }

    /// Begins with the next prompt that was said.
    fn take(&mut self, reached: bool) {
        if !reached {
            let why = format!("prompt {} did not reach the model", self.taken + 1);
            self.wrong.get_or_insert(why);
        }
        if self.taken > 0 && !self.has_given_up() {
            self.at += 1;
        }
        self.taken += 1;
        self.of_prompt = 0;
        self.answered = false;
    }

    fn give_up(&mut self, why: String) -> Reply {
        self.wrong.get_or_insert(why);
        (self.at, self.answered) = (usize::MAX, true);
        self.pending.clear();
        Reply::text(GIVES_UP)
    }

    /// What the model does now; `None` when the prompt is answered.
    fn go_on(&mut self, heard: &Heard) -> Option<Result<Reply, u16>> {
        loop {
            let step = self.task.steps.get(self.at)?.clone();
            return Some(match step {
                TaskStep::Prompt { .. } => return None,
                TaskStep::Call { tries, .. } => {
                    let forms = tries.get(self.tried).cloned().unwrap_or_default();
                    Ok(self.call(&forms, heard))
                }
                TaskStep::Ambiguous { form, .. } | TaskStep::Circle { form, .. } => {
                    Ok(self.call(&[form], heard))
                }
                TaskStep::Trouble(trouble) => {
                    self.at += 1;
                    match trouble {
                        Trouble::CutSummary => {
                            self.summaries_to_cut += 1;
                            continue;
                        }
                        Trouble::Status(status) => Err(status),
                        Trouble::Empty => {
                            // The person may have to say that it goes on.
                            self.answered =
                                matches!(self.task.steps.get(self.at), Some(TaskStep::Prompt { .. }));
                            Ok(Reply::default())
                        }
                        Trouble::BreaksInText => {
                            Ok(Reply { end: ReplyEnd::Broken, ..Reply::text("I begin with this and") })
                        }
                        Trouble::BreaksInCall(form) => {
                            let reply = self.call(&[form], heard);
                            self.pending.clear();
                            Ok(Reply { end: ReplyEnd::Broken, ..reply })
                        }
                        Trouble::LimitInCall(form) => {
                            let mut reply = self.call(&[form], heard);
                            self.pending.clear();
                            for call in &mut reply.calls {
                                call.args.truncate(boundary(&call.args, call.args.len() * 2 / 3));
                            }
                            Ok(Reply { end: ReplyEnd::AtLimit, ..reply })
                        }
                    }
                }
            });
        }
    }

    /// Says these calls together.
    fn call(&mut self, forms: &[CallForm], heard: &Heard) -> Reply {
        let cwd = self.cwd.display().to_string();
        let mut calls = Vec::new();
        for form in forms {
            match form.call(&heard.tools, &cwd) {
                Ok((name, args)) => {
                    self.calls += 1;
                    calls.push(ReplyCall { id: call_id(heard.api, self.calls), name, args });
                }
                Err(role) => {
                    self.not_tried = Some(format!("the agent offers no {}", role.words()));
                    (self.at, self.answered) = (usize::MAX, true);
                    return Reply::text(GIVES_UP);
                }
            }
        }
        self.pending = calls.iter().map(|call| call.name.clone()).collect();
        Reply { calls, ..Reply::text("I go on.") }
    }

    /// Looks whether what was called had its effect.
    fn look(&mut self, heard: &Heard) {
        let pending = std::mem::take(&mut self.pending);
        let Some(step) = self.task.steps.get(self.at).cloned() else { return };
        match step {
            TaskStep::Call { tries, signs } => {
                let Some(missing) = signs.iter().find(|sign| !self.shows(sign, heard, pending.len())) else {
                    (self.at, self.tried) = (self.at + 1, 0);
                    return;
                };
                let said =
                    heard.newest_results().first().map_or_else(|| "nothing".to_owned(), |text| start(text));
                self.lost.push(format!("{}: {}; came: {said}", pending.join(", "), missing.words()));
                self.tried += 1;
                if self.tried >= tries.len() {
                    self.give_up(format!("step {} never had its effect", self.at + 1));
                }
            }
            TaskStep::Ambiguous { path, text, .. } => {
                if self.file(&path).is_none_or(|now| now != text) {
                    self.wrong
                        .get_or_insert(format!("{path} was changed by a call that could mean two places"));
                }
                self.at += 1;
            }
            TaskStep::Circle { at_most, .. } => {
                let word = without_figures(&(heard.newest_results().concat() + &heard.newest_words()));
                self.tried += 1;
                match &self.first_word {
                    Some(first) if *first != word => {
                        (self.at, self.tried, self.first_word) = (self.at + 1, 0, None);
                    }
                    _ if self.tried >= at_most => {
                        self.give_up(format!(
                            "the model was never told that it repeats itself, {at_most} times"
                        ));
                    }
                    Some(_) => {}
                    None => self.first_word = Some(word),
                }
            }
            TaskStep::Trouble(_) | TaskStep::Prompt { .. } => {}
        }
    }

    fn shows(&self, sign: &Sign, heard: &Heard, calls: usize) -> bool {
        match sign {
            Sign::File(path, text) => self.file(path).is_some_and(|now| now.contains(text)),
            Sign::Said(words) => heard.says(words),
            Sign::Answered => heard.newest_results().len() >= calls,
            Sign::Fits(most) => heard.tokens() <= *most,
        }
    }

    fn file(&self, path: &str) -> Option<String> {
        read(&self.cwd, path)
    }

    /// What came of it, now that the agent has stopped; `stopped` says why it did, where that is not its own end.
    pub(super) fn outcome(&self, stopped: Option<String>) -> TaskOutcome {
        if let Some(why) = &self.not_tried {
            return TaskOutcome::NotTried(why.clone());
        }
        if let Some(why) = self.wrong.clone().or(stopped) {
            return TaskOutcome::Unsolved(why);
        }
        if self.at < self.task.steps.len() || !self.is_answered() {
            let steps = self.task.steps.len();
            return TaskOutcome::Unsolved(format!("the run ended at step {} of {steps}", self.at + 1));
        }
        if self.prompts().count() > self.taken {
            return TaskOutcome::Unsolved(format!("only {} prompts were taken", self.taken));
        }
        let wrong = self.task.after.iter().find(|(path, text)| self.file(path).as_ref() != Some(text));
        match wrong {
            Some((path, _)) => {
                let now = self.file(path).unwrap_or_else(|| "nothing".to_owned());
                TaskOutcome::Unsolved(format!("{path} is not as it should be, it has: {}", start(&now)))
            }
            None => TaskOutcome::Solved,
        }
    }
}

/// A file of the task's folder.
fn read(cwd: &Path, path: &str) -> Option<String> {
    let bytes = std::fs::read(cwd.join(path)).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// An id as providers of this API make them.
fn call_id(api: ModelApi, number: u64) -> String {
    match api {
        ModelApi::Messages => format!("toolu_check{number}"),
        ModelApi::Chat | ModelApi::Responses => format!("call_check{number}"),
    }
}

/// Without figures: how long a command took is no word of the harness.
fn without_figures(text: &str) -> String {
    text.chars().filter(|sign| !sign.is_ascii_digit()).collect()
}

fn start(text: &str) -> String {
    crate::pattern::clip(&text.replace('\n', "⏎"), 200)
}
