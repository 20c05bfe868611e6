//! The tasks, as data: each has one error of real models in it, or one fault of what stands between a model and its harness.
//!
//! What a step tries first is what models really write; what it tries next is what they do when that was refused, and the last try is as
//! the agent's own schema wants it. Texts that are looked for need no escapes in JSON.

mod day;
mod edits;
mod providers;
mod runs;

use super::form::{CallForm, ToolRole};
use super::play::{AgentTask, Sign, TaskStep, Trouble};

pub use day::{MAX_DAY, day};

/// All tasks.
pub fn all() -> Vec<AgentTask> {
    let mut all = edits::tasks();
    all.extend(runs::tasks());
    all.extend(providers::tasks());
    all
}

/// The file that most tasks are about.
const F: &str = "\
def one():
    return 1


def two(x):
    y = x + 1
    print(\"y\", y)
    return y


class Three:
    name = \"three\"

    def go(self):
        return self.name
";
/// A line of it, and what shall stand there.
const LINE: &str = "    return y\n";
const CHANGED: &str = "    return y * 2\n";
/// What stands in a file that nobody tells the model of.
const WORD_FILE: &str = "word.in";
const WORD: &str = "kiwi-forty-seven";

/// A task about the usual file, which is read first.
fn task(name: &'static str, holds: &'static str) -> AgentTask {
    AgentTask {
        name,
        holds,
        files: vec![("f.py".to_owned(), F.to_owned())],
        prompt: "Let two() in f.py return twice as much.".to_owned(),
        steps: Vec::new(),
        after: Vec::new(),
        keeps: Vec::new(),
        last_words: "Done.".to_owned(),
        window: None,
    }
}

impl AgentTask {
    fn prompt(self, prompt: &str) -> AgentTask {
        AgentTask { prompt: prompt.to_owned(), ..self }
    }

    fn file(mut self, path: &str, text: impl Into<String>) -> AgentTask {
        self.files.retain(|(other, _)| other != path);
        self.files.push((path.to_owned(), text.into()));
        self
    }

    fn step(mut self, step: TaskStep) -> AgentTask {
        self.steps.push(step);
        self
    }

    /// The answer ends, and the person says this.
    fn says(self, text: impl Into<String>) -> AgentTask {
        self.step(TaskStep::Prompt { text: text.into(), early: false })
    }

    fn trouble(self, trouble: Trouble) -> AgentTask {
        self.step(TaskStep::Trouble(trouble))
    }

    /// One call in these forms, until the sign shows.
    fn call(self, tries: Vec<CallForm>, sign: Sign) -> AgentTask {
        let tries = tries.into_iter().map(|form| vec![form]).collect();
        self.step(TaskStep::Call { tries, signs: vec![sign] })
    }

    /// Reads a file that has these words in it.
    fn reads(self, path: &str, words: &str) -> AgentTask {
        self.call(vec![read(path)], Sign::Said(words.to_owned()))
    }

    /// Reads the usual file and changes its line: first in the form of a model that errs, then as it should be.
    fn errs(self, wrong: CallForm) -> AgentTask {
        self.reads("f.py", "class Three").changes(vec![wrong, exact()])
    }

    /// Changes the usual line.
    fn changes(self, tries: Vec<CallForm>) -> AgentTask {
        self.call(tries, file_has("f.py", "return y * 2")).then("f.py", F.replacen(LINE, CHANGED, 1))
    }

    /// What a file has in the end.
    fn then(mut self, path: &str, text: impl Into<String>) -> AgentTask {
        self.after.push((path.to_owned(), text.into()));
        self
    }

    fn keeps(mut self, words: &str) -> AgentTask {
        self.keeps.push(words.to_owned());
        self
    }

    fn window(self, tokens: u64) -> AgentTask {
        AgentTask { window: Some(tokens), ..self }
    }
}

fn here(path: &str) -> String {
    format!("{{cwd}}/{path}")
}

fn read(path: &str) -> CallForm {
    CallForm::Read { path: here(path) }
}

fn edit(path: &str, old: &str, new: &str) -> CallForm {
    CallForm::Edit { path: here(path), old: old.to_owned(), new: new.to_owned() }
}

fn write(path: &str, text: impl Into<String>) -> CallForm {
    CallForm::Write { path: here(path), text: text.into() }
}

fn run(command: &str) -> CallForm {
    CallForm::Run { command: command.to_owned() }
}

fn own(role: ToolRole, args: serde_json::Value) -> CallForm {
    CallForm::Own { role, args: args.to_string() }
}

fn foreign(role: ToolRole, name: &'static str, args: serde_json::Value) -> CallForm {
    CallForm::Foreign { role, name, args: args.to_string() }
}

/// The usual change as the agent's own schema wants it.
fn exact() -> CallForm {
    edit("f.py", LINE, CHANGED)
}

fn file_has(path: &str, text: &str) -> Sign {
    Sign::File(path.to_owned(), text.to_owned())
}
