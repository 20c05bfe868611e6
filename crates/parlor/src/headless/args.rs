//! What `parlor run` takes, and `parlor attach --prompt` fills in for itself.

use super::attachments;
use clap::Args;
use std::path::PathBuf;
use tools::policy::Allowance;

/// One prompt without a screen.
///
/// Nobody can be asked here: low-risk tools run, others are denied unless allowed. Exit codes: 0 done, 1 failed, 2 usage,
/// 3 a tool was denied, 4 a person would have had to answer, 5 timed out, 7 the answer is cut, refused or empty, 8 the budget is used up,
/// 9 the answer is not what --output-schema asks for, 129, 130, 131 or 143 told to stop by SIGHUP, SIGINT
/// (Ctrl-C), SIGQUIT or SIGTERM.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  parlor run \"list files\"\n  parlor run --allow write \"write hello.txt: hi\"\n  parlor run --json \"read README.md\" | jq .\n  git diff | parlor run \"what would you ask about this?\"\n  parlor run --output-schema answer.json \"what is to be done?\"\n  parlor run --max-cost 0.50 --timeout 10m \"fix the failing test\""
)]
pub(crate) struct Run {
    /// What to say. `-` reads it from stdin.
    pub(crate) prompt: Vec<String>,
    /// Attach a text file, up to 1 MB; `-` is what comes on stdin, which a pipe beside a prompt is anyway. Repeatable.
    #[arg(long, value_name = "FILE")]
    pub(crate) file: Vec<PathBuf>,
    /// Attach an image: PNG, JPEG, GIF or WebP, up to 5 MB. Repeatable.
    #[arg(long, value_name = "FILE")]
    pub(crate) image: Vec<PathBuf>,
    /// Print every event as one JSON line, and a last line with the result.
    #[arg(long)]
    pub(crate) json: bool,
    /// The answer is to be JSON that fits this JSON Schema, and nothing else is on stdout. An answer that does not fit is asked for once
    /// more, with what is wrong.
    #[arg(long, value_name = "FILE")]
    pub(crate) output_schema: Option<PathBuf>,
    /// Tools that may run without asking, by name.
    ///
    /// `bash` runs commands inside the sandbox, `bash:network` also those that ask for the network, `bash:free` also those that ask to
    /// leave the sandbox; `host:NAME` lets commands reach that host, `port:NUMBER` that port of this machine; `mcp__SERVER__TOOL` is a tool of an MCP server. None of these covers what cannot be undone, what steers
    /// programs or what is written outside: only `all` does, which says yes to everything that would be asked.
    #[arg(long, value_delimiter = ',', value_name = "TOOL,…", value_parser = crate::flags::allowance)]
    pub(crate) allow: Vec<Allowance>,
    /// Give up after this time, such as 90s or 5m: what is under way is stopped.
    #[arg(long, value_name = "TIME", value_parser = crate::flags::seconds)]
    pub(crate) timeout: Option<u64>,
    /// Continue the most recent conversation of this project.
    #[arg(long = "continue", short = 'c', conflicts_with = "resume")]
    pub(crate) continue_last: bool,
    /// Continue this conversation, by its id or the beginning of it.
    #[arg(long, short, value_name = "ID")]
    pub(crate) resume: Option<String>,
    /// Work in its own git worktree, on branch parlor/NAME, which is kept: `parlor worktrees` merges or removes it.
    #[arg(long, value_name = "NAME", num_args = 0..=1, require_equals = true)]
    pub(crate) worktree: Option<Option<String>>,
    /// With --worktree: an untracked file that comes along, such as .env. Repeatable.
    #[arg(long, value_name = "FILE")]
    pub(crate) copy: Vec<PathBuf>,
    /// The model that answers where nobody named one, for the first line of `--json`.
    #[arg(skip)]
    pub(crate) usual_model: Option<String>,
}

impl Run {
    /// Whether what goes along comes on stdin.
    pub(crate) fn takes_stdin(&self) -> bool {
        attachments::takes_stdin(&self.file)
    }

    /// A run of what a pipe said.
    pub(crate) fn of(prompt: String) -> Run {
        Run {
            prompt: vec![prompt],
            json: false,
            allow: Vec::new(),
            timeout: None,
            image: Vec::new(),
            file: Vec::new(),
            output_schema: None,
            continue_last: false,
            resume: None,
            worktree: None,
            copy: Vec::new(),
            usual_model: None,
        }
    }
}
