//! Tasks in which the model goes round in a circle, its answer breaks, its provider is busy, or the conversation outgrows its window.

use super::*;

/// Tokens that fit in a request of the tasks about summaries: agents come with up to twenty thousand before the first word.
const WINDOW: u64 = 48_000;
/// Files that together do not fit, and about how many bytes each has.
const LONG_FILES: usize = 12;
const LONG_FILE: usize = 24_000;
/// Calls of a long turn.
const LONG_TURN: usize = 80;
/// How often a call is repeated by a model that nobody tells so.
const IN_CIRCLE: usize = 12;
/// What the person said at first and no request may leave out.
const CONDITION: &str = "Never change anything in the folder vendor";

/// About the model as such, and about what it comes through.
pub(super) fn tasks() -> Vec<AgentTask> {
    let long: String = (1..200).map(|number| format!("line {number} of the file\n")).collect();
    vec![
        task("circle", "the same call comes again and again")
            .step(TaskStep::Circle { form: read("f.py"), at_most: IN_CIRCLE })
            .errs(exact()),
        task("breaks-in-text", "the connection breaks while the model speaks")
            .trouble(Trouble::BreaksInText)
            .errs(exact()),
        task("breaks-in-call", "the connection breaks in the middle of a call")
            .prompt("Write the lines into l.txt.")
            .trouble(Trouble::BreaksInCall(write("l.txt", &*long)))
            .call(vec![write("l.txt", &*long)], file_has("l.txt", "line 199"))
            .then("l.txt", &*long),
        task("limit-in-call", "the longest answer is reached in the middle of a call")
            .prompt("Write the lines into l.txt.")
            .trouble(Trouble::LimitInCall(write("l.txt", &*long)))
            .call(vec![write("l.txt", &*long)], file_has("l.txt", "line 199"))
            .then("l.txt", &*long),
        task("busy", "the provider is busy, then fails, then answers")
            .trouble(Trouble::Status(429))
            .trouble(Trouble::Status(500))
            .trouble(Trouble::Status(503))
            .errs(exact()),
        task("empty-answer", "the model says nothing and calls nothing, and the person asks again")
            .trouble(Trouble::Empty)
            .says("Go on with two.")
            .errs(exact()),
        outgrown("outgrown-window", "the conversation outgrows the window, and the summary is poor", false),
        outgrown("cut-summary", "the summary itself is cut by the longest answer", true),
        long_turn(),
    ]
}

/// Words enough for a file of this size, with a mark of its own.
pub(super) fn filler(mark: &str, bytes: usize) -> String {
    let line = "The quick brown fox jumps over the lazy dog and looks back at it.\n";
    format!("{mark}\n{}", line.repeat(bytes / line.len()))
}

/// A task that is too long for the window: by what is read, which may be forgotten, or by what the model writes, which may not.
fn outgrown(name: &'static str, holds: &'static str, cut: bool) -> AgentTask {
    let mut task = task(name, holds)
        .prompt(&format!(
            "See to all the long files. {CONDITION}. Then let two() in f.py return twice as much."
        ))
        .keeps(CONDITION)
        .window(WINDOW);
    if cut {
        task = task.trouble(Trouble::CutSummary);
    }
    for number in 1..=LONG_FILES {
        let (path, mark) = (format!("long{number}.txt"), format!("mark of file {number}."));
        let text = filler(&mark, LONG_FILE);
        task = match cut {
            true => task.call(vec![write(&path, text)], file_has(&path, &mark)),
            false => task.file(&path, text).reads(&path, &mark),
        };
    }
    task.changes(vec![exact(), read("f.py"), exact()])
}

fn long_turn() -> AgentTask {
    let mut task = task("long-turn", "the work takes eighty rounds");
    for number in 1..=LONG_TURN {
        let (path, mark) = (format!("part{number}.txt"), format!("part number {number}."));
        task = task.file(&path, format!("{mark}\n")).reads(&path, &mark);
    }
    task.errs(exact())
}
