//! A scripted day: one session of many prompts, with summaries, faults, a long turn and words that the person says too early.

use super::providers::filler;
use super::*;

/// Most prompts of a day.
pub const MAX_DAY: usize = 1_000;
/// What the person said in the morning and no request may leave out.
const CONDITIONS: [&str; 2] =
    ["Never change anything in the folder vendor", "Write British English in every file"];
/// Tokens that fit in a request.
const WINDOW: u64 = 48_000;
/// Notes that are looked at, and about how many bytes each has.
const NOTES: usize = 10;
const NOTE: usize = 9_000;
/// Bytes of the model's last words to a prompt.
const LAST_WORDS: usize = 2_500;
/// Every so many prompts something is written, the provider fails, a summary is cut, the person does not wait.
const WRITES: usize = 10;
const FAILS: usize = 25;
const CUTS: usize = 16;
const EARLY: usize = 7;
/// The prompt whose answer takes many rounds, and how many.
const LONG_AT: usize = 12;
const LONG: usize = 60;

/// A day of so many prompts. `waits` for people whose wire takes a prompt only when nothing runs.
pub fn day(prompts: usize, waits: bool) -> AgentTask {
    let mut task = task("day", "a whole day in one session").window(WINDOW).prompt(&format!(
        "{}. {}. Part 1: look at the notes and say what you found.",
        CONDITIONS[0], CONDITIONS[1]
    ));
    task.last_words = filler("What I found.", LAST_WORDS);
    for condition in CONDITIONS {
        task = task.keeps(condition);
    }
    for number in 0..NOTES {
        task = task.file(&format!("notes/{number}.txt"), filler(&format!("note {number}."), NOTE));
    }
    for number in 1..=prompts.min(MAX_DAY) {
        if number > 1 {
            let text = format!("Part {number}: look at the notes again and say what you found.");
            task = task.step(TaskStep::Prompt { text, early: !waits && number % EARLY == 0 });
        }
        if number % CUTS == 0 {
            task = task.trouble(Trouble::CutSummary);
        }
        if number % FAILS == 0 {
            task = task.trouble(Trouble::Status(500)).trouble(Trouble::BreaksInText);
        }
        let note = format!("notes/{}.txt", number % NOTES);
        task = task.call(vec![read(&note)], Sign::Answered);
        if number == LONG_AT {
            for round in 1..=LONG {
                let (path, mark) = (format!("parts/{round}.txt"), format!("part number {round}."));
                task = task.file(&path, format!("{mark}\n")).reads(&path, &mark);
            }
        }
        if number % WRITES == 0 {
            let (path, text) = (format!("done/{number}.txt"), format!("part {number} is done\n"));
            task = task.call(vec![write(&path, &*text)], file_has(&path, "is done")).then(&path, text);
        }
    }
    task
}
