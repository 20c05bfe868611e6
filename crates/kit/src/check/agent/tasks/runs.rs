//! Tasks in which the model runs commands that flood, wait, fail, or are called as another harness would have it; and several at once.

use super::*;
use serde_json::json;

/// Tokens that a request may have after a flood.
const AFTER_FLOOD: u64 = 60_000;

/// About commands, and about calls of any kind.
pub(super) fn tasks() -> Vec<AgentTask> {
    let mut all = commands();
    all.extend(calls());
    all
}

/// A task whose command gives the word, however it is run.
fn finds(name: &'static str, holds: &'static str) -> AgentTask {
    task(name, holds)
        .prompt("Find the word and write it into found.txt.")
        .file(WORD_FILE, format!("{WORD}\n"))
}

impl AgentTask {
    /// Finds the word by these, and writes it down.
    fn by(self, tries: Vec<CallForm>) -> AgentTask {
        self.call(tries, Sign::Said(WORD.to_owned())).writes_it_down()
    }

    fn writes_it_down(self) -> AgentTask {
        let text = format!("{WORD}\n");
        self.call(vec![write("found.txt", &*text)], file_has("found.txt", WORD)).then("found.txt", text)
    }
}

fn commands() -> Vec<AgentTask> {
    let shows = format!("cat {WORD_FILE}");
    let flood = |name, holds, noise: &str| {
        let tries = vec![
            vec![run(&format!("{noise}; {shows}"))],
            vec![run(&format!("({noise}; {shows}) | tail -c 200"))],
        ];
        let signs = vec![Sign::Said(WORD.to_owned()), Sign::Fits(AFTER_FLOOD)];
        finds(name, holds).step(TaskStep::Call { tries, signs }).writes_it_down()
    };
    vec![
        finds("another-shell", "the shell of another harness is called").by(vec![
            foreign(ToolRole::Run, "run_shell_command", json!({"command":shows,"description":"look"})),
            run(&shows),
        ]),
        finds("command-as-list", "the command is a list of words")
            .by(vec![own(ToolRole::Run, json!({"command":["bash","-lc",shows]})), run(&shows)]),
        flood("flood", "the output is far too long, and its end is what counts", "seq 1 300000"),
        flood(
            "long-line",
            "the output is one line of megabytes",
            "head -c 3000000 /dev/zero | tr '\\0' x; echo",
        ),
        finds("reads-stdin", "the command waits for somebody to type")
            .by(vec![run(&format!("read -r name; {shows}"))]),
        finds("background", "the command leaves something running")
            .by(vec![run(&format!("sleep 300 & {shows}"))]),
        finds("bytes", "the output is no text")
            .by(vec![run(&format!("printf '\\377\\376\\001\\033[31m'; {shows}"))]),
        finds("missing-program", "the program is not there")
            .call(
                vec![run("frobnicate-all --now"), run("command -v frobnicate-all || echo not found")],
                Sign::Said("not found".to_owned()),
            )
            .by(vec![run(&shows)]),
        finds("failing-command", "the command fails, and only its code says so")
            .call(vec![run("exit 42"), run("(exit 42); echo code $?")], Sign::Said("42".to_owned()))
            .by(vec![run(&shows)]),
    ]
}

fn calls() -> Vec<AgentTask> {
    let parts = [read("a.txt"), read("b.txt"), read("c.txt"), exact(), write("n.txt", "new\n")];
    let signs = vec![
        Sign::Answered,
        Sign::Said("apricot".to_owned()),
        Sign::Said("cherry".to_owned()),
        file_has("f.py", "return y * 2"),
        file_has("n.txt", "new"),
    ];
    let apart = vec![parts.to_vec(), parts[..3].to_vec(), vec![exact()], vec![write("n.txt", "new\n")]];
    vec![
        task("parallel-calls", "five calls come in one answer")
            .file("a.txt", "apricot\n")
            .file("b.txt", "banana\n")
            .file("c.txt", "cherry\n")
            .reads("f.py", "class Three")
            .step(TaskStep::Call { tries: apart, signs })
            .then("f.py", F.replacen(LINE, CHANGED, 1))
            .then("n.txt", "new\n"),
        task("unknown-tool", "a tool is called that nobody has")
            .call(vec![foreign(ToolRole::Run, "make_it_so", json!({"how":"now"}))], Sign::Answered)
            .errs(exact()),
        task("near-name", "a file is read under a name that is almost its own")
            .file("src/app.py", "from f import two\n")
            .call(vec![read("src/App.py"), run("ls src")], Sign::Said("app.py".to_owned()))
            .reads("src/app.py", "from f import two")
            .errs(exact()),
    ]
}
