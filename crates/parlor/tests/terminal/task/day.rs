//! A whole day in one session, through every provider's wire: an edit that breaks the test, a stream that is cut, undo and redo, a command
//! that rewrites files and is taken back, a budget that ends a run, a summary in the place of the past, a kill in the middle of a command.
//! Headless and in a terminal; the script is the same.

mod headless;
mod screen;

use crate::task::story::{Ends, Say};
use crate::task::{Project, Server};
use serde_json::json;

const MEND: &str = "mend sum.sh until the test passes";
const REWRITE: &str = "rewrite it all with one command";
const LIST: &str = "what is there?";
const GO_ON: &str = "go on";
const TRY: &str = "try something that takes long";
const BACK: &str = "where were we?";

const BROKEN: &str = "It multiplies now, which the test does not like.";
const REWRITTEN: &str = "All of it is rewritten.";
const LISTED: &str = "There are two files, as there were.";
const SUMMARY: &str = "In short: the person wants sum.sh mended, and took everything back so far.";
const RETURNED: &str = "The command was cut, and nobody knows how far it came.";

/// What is cut, and what the answer to the same question begins with.
const CUT: usize = 2;
const REWRITES: usize = 5;
const SUMS_UP: usize = 9;
const KILLED: usize = 10;
const RETURNS: usize = 11;
const STEPS: usize = 12;

/// Tokens near the end of every window: the next prompt does not go without a summary.
const NEARLY_FULL: u64 = 900_000;

const SUM: &str = "echo $(( $1 - $2 ))\n";

/// What the model says that day.
fn script() -> Vec<Say> {
    let edit = json!({ "path": "sum.sh", "edits": [{ "old": "$1 - $2", "new": "$1 * $2" }] });
    let rewrite = "sed -i s/-/+/ sum.sh; rm test.sh; mkdir new; printf x > new/c";
    // It ends with what it wrote, should it outlive its program.
    let long = "printf half > half; rm test.sh; while [ -e half ]; do sleep 0.1; done";
    let bash = |command: &str| json!({ "command": command });
    vec![
        Say::call("I look at it first.", "read", json!({ "path": "sum.sh" }), "echo $(( $1 - $2 ))"),
        Say::call("That takes away.", "edit", edit, "+1 -1 lines"),
        Say::ending("Does the te", Ends::Cut),
        Say::call("Does the test like it?", "bash", bash("sh test.sh"), "FAILED: 2 and 3 made 6"),
        Say::words(BROKEN),
        Say::call("In one go.", "bash", bash(rewrite), ""),
        Say::words(REWRITTEN),
        Say::call("I list them.", "ls", json!({ "path": "." }), "test.sh"),
        Say { read: Some(NEARLY_FULL), ..Say::words(LISTED) },
        Say::summary(SUMMARY),
        Say::call("This takes long.", "bash", bash(long), "nobody knows how far it came"),
        Say::words(RETURNED),
    ]
}

/// The files as they were in the morning, with nothing else beside them.
fn is_as_before(project: &Project) -> bool {
    project.sum() == SUM
        && project.path("work/test.sh").exists()
        && !rewritten(project)
        && !half_done(project)
}

fn rewritten(project: &Project) -> bool {
    project.path("work/new/c").exists()
}

fn half_done(project: &Project) -> bool {
    project.path("work/half").exists() && !project.path("work/test.sh").exists()
}

/// What the model was told over the day. The server has compared every call and its result with the script already.
#[track_caller]
fn told_all(server: &Server) {
    assert_eq!((server.trouble(), server.requests()), (Vec::new(), STEPS));
    let asked: Vec<String> = server.asked().iter().map(ToString::to_string).collect();
    assert_eq!(asked[CUT], asked[CUT + 1], "what was cut is asked for again, with the same words");
    assert!(!asked[CUT - 1].contains("took back"), "{}", asked[CUT - 1]);
    let moved = "The person took back earlier file changes of yours: sum.sh.";
    assert!(asked[REWRITES].contains(moved), "{}", asked[REWRITES]);
    let moved = "The person took back earlier file changes of yours: new, new/c, sum.sh, test.sh.";
    assert!(asked[REWRITES + 2].contains(moved), "{}", asked[REWRITES + 2]);
    for (at, request) in asked.iter().enumerate() {
        let knows = [MEND, SUMMARY].map(|words| request.contains(words));
        // The person's own words stay, whatever becomes of the rest.
        assert_eq!(knows, [true, at > SUMS_UP], "request {at}: {request}");
    }
    // Nothing falls between the summary and what is kept as it was.
    for words in [BROKEN, REWRITE, REWRITTEN, LIST, GO_ON, LISTED] {
        assert!(
            asked[SUMS_UP].contains(words) || asked[KILLED].contains(words),
            "{words}: {}",
            asked[SUMS_UP]
        );
    }
    assert!(asked[KILLED].contains(TRY) && asked[RETURNS].contains(TRY) && asked[RETURNS].contains(BACK));
}
