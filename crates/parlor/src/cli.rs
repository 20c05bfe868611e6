//! What can be typed. Help texts teach: each says what happens and shows an example.

use crate::launch::Launch;
use clap::builder::TypedValueParser;
use clap::parser::ValueSource;
use clap::{Args, CommandFactory, Parser, Subcommand, ValueEnum};
use domain::session::{Effort, Policy};
use std::ffi::OsString;
use std::path::PathBuf;
use tools::policy::Allowance;

/// Said when there is neither a terminal nor a prompt.
pub(crate) const WHAT_IT_IS: &str = "\
Parlor talks to coding agents, and lets any UI talk to any of them.

  parlor                         opens the terminal UI (run this in a terminal)
  parlor run \"list files\"        one prompt, the answer on stdout
  echo \"list files\" | parlor     the same
  parlor serve --dialect codelia --stdio
                                 be the runtime of another program's UI
  parlor attach --dialect codelia -- COMMAND
                                 be the UI of another program's runtime
  parlor login                   give the key of a provider, to have a real model
  parlor agents                  other programs' agents: what there is, how to get it
  parlor attach NAME             talk to one of them
  parlor web                     the same in a browser, with all sessions
  parlor doctor                  what is configured and what is missing

It works without a key: the embedded offline model understands a few plain requests.";

/// Any UI on any agent.
///
/// Without a sub-command, `parlor` opens the terminal UI. It works without a key: the embedded offline model understands plain
/// requests such as "list files", "read README.md" or "write hello.txt: hi".
#[derive(Debug, Parser)]
#[command(name = "parlor", version, max_term_width = 100, after_help = format!("Try:  parlor run \"list files\"\n{}", crate::serve::habits::words_in_help().trim_end()))]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) common: Common,
    #[command(subcommand)]
    pub(crate) sub: Option<Sub>,
}

/// A command line that was read, with what the environment says besides.
#[derive(Debug)]
pub(crate) struct Line {
    pub(crate) launch: Launch,
    pub(crate) sub: Option<Sub>,
}

impl Sub {
    /// The name of a command after which sessions are begun, but not by it: what is said of them there would be believed and not count.
    pub(crate) fn begins_none(&self) -> Option<&'static str> {
        match self {
            Sub::Up(_) => Some("up"),
            Sub::Web(_) => Some("web"),
            _ => None,
        }
    }
}

/// The options for sessions among these words, as they are typed.
pub(crate) fn for_sessions(words: &[OsString]) -> Vec<String> {
    let Ok(read) = Cli::command().try_get_matches_from(words) else { return Vec::new() };
    let (_, read) = read.subcommand().unwrap_or(("", &read));
    let typed = |name: &str| {
        read.try_get_raw(name).is_ok() && read.value_source(name) == Some(ValueSource::CommandLine)
    };
    let all = Common::augment_args(clap::Command::new(""));
    let named = all.get_arguments().filter(|argument| typed(argument.get_id().as_str()));
    named.filter_map(|argument| Some(format!("--{}", argument.get_long()?))).collect()
}

/// What every way of starting a runtime understands.
#[derive(Debug, Default, Args)]
pub(crate) struct Common {
    /// The model, as provider/name. Without it: what the environment offers, else the offline one.
    #[arg(long, global = true, env = "PARLOR_MODEL", value_name = "PROVIDER/NAME")]
    pub(crate) model: Option<String>,
    /// How hard the model thinks before it answers, in new sessions. Without it: as your settings say, else as its provider does.
    #[arg(long, global = true, value_enum, value_name = "EFFORT")]
    pub(crate) effort: Option<ThinkingEffort>,
    /// Where the agent works. Relative paths of its tools start here.
    #[arg(long, global = true, visible_alias = "workdir", value_name = "DIR")]
    pub(crate) cwd: Option<PathBuf>,
    /// The folder that the agent may read and, as far as the mode allows it, write in. Without it: the project that you are in; none in
    /// your home folder itself, in `/` and in a folder of another user.
    #[arg(long, global = true, env = "PARLOR_WORKSPACE", value_name = "DIR")]
    pub(crate) workspace: Option<PathBuf>,
    /// What tools may do without asking.
    #[arg(long, global = true, value_enum, value_name = "MODE")]
    pub(crate) policy: Option<PolicyMode>,
    /// Let the model fetch pages of the web; each host is asked for. Off unless your settings say `fetch.enabled = true`.
    #[arg(long, global = true, env = "PARLOR_FETCH", value_parser = on_or_off())]
    pub(crate) fetch: bool,
    /// Go on with the newest conversation of this project; one with another program's runtime starts or reaches that again.
    #[arg(long = "continue", short = 'c', conflicts_with = "resume")]
    pub(crate) continue_last: bool,
    /// Go on with this conversation; its id may be shortened. Without an id, pick one from a list. One with another program's runtime
    /// starts that program again in its folder, or connects to its socket; what is started is shown first.
    #[arg(long, short = 'r', value_name = "ID", num_args = 0..=1)]
    pub(crate) resume: Option<Option<String>>,
    /// Work in a git worktree of its own, on branch parlor/NAME; one that is there is gone on with. At the end you say whether it is
    /// merged, kept or removed.
    #[arg(long, value_name = "NAME", num_args = 0..=1)]
    pub(crate) worktree: Option<Option<String>>,
    /// With --worktree: an untracked file that comes along, such as .env. May be said again for more.
    #[arg(long, value_name = "FILE")]
    pub(crate) copy: Vec<PathBuf>,
    /// Work in this process, which ends with the terminal, also when a server runs (`parlor up`).
    #[arg(long)]
    pub(crate) here: bool,
    /// Keep to the terminal's own scrollback instead of taking the whole screen.
    #[arg(long, global = true, env = "PARLOR_INLINE", value_parser = on_or_off())]
    pub(crate) inline: bool,
    /// Take the whole screen, whatever the settings say.
    #[arg(long, global = true, conflicts_with = "inline")]
    pub(crate) full_screen: bool,
    /// Lines of text instead of a screen: nothing is drawn, questions are answered in words. By itself where TERM is `dumb`.
    #[arg(long, global = true, env = "PARLOR_PLAIN", value_parser = on_or_off())]
    pub(crate) plain: bool,
    /// Colours of the terminal UI: auto, terminal, dark, light, contrast or plain.
    #[arg(long, global = true, env = "PARLOR_THEME", value_name = "NAME")]
    pub(crate) theme: Option<String>,
    /// Keep nothing on disk.
    #[arg(long, global = true, env = "PARLOR_EPHEMERAL", value_parser = on_or_off())]
    pub(crate) ephemeral: bool,
    /// Ask the model no more once the session has cost this many dollars. Kept with the session, as the next two are.
    #[arg(long, global = true, value_name = "DOLLARS", value_parser = dollars)]
    pub(crate) max_cost: Option<u64>,
    /// Ask the model at most this many times for one prompt.
    #[arg(long, global = true, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) max_steps: Option<u64>,
    /// Ask the model no more after this many seconds of one prompt; what is under way goes on to its end.
    #[arg(long, global = true, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) max_time: Option<u64>,
}

impl From<Common> for Launch {
    fn from(common: Common) -> Launch {
        Launch {
            model: common.model,
            effort: common.effort.map(Effort::from),
            cwd: common.cwd,
            workspace: common.workspace,
            policy: common.policy.map(Policy::from),
            fetch: common.fetch,
            continue_last: common.continue_last,
            resume: common.resume,
            worktree: common.worktree,
            copy: common.copy,
            here: common.here,
            inline: common.inline,
            full_screen: common.full_screen,
            plain: common.plain,
            theme: common.theme,
            ephemeral: common.ephemeral,
            max_cost: common.max_cost,
            max_steps: common.max_steps,
            max_time: common.max_time,
            ..Launch::default()
        }
    }
}

/// What a variable that stands for a flag may say: the words of [`crate::environment`].
fn on_or_off() -> clap::builder::BoolishValueParser {
    clap::builder::BoolishValueParser::new()
}

/// How hard the model thinks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ThinkingEffort {
    Low,
    Medium,
    High,
}

impl From<ThinkingEffort> for Effort {
    fn from(effort: ThinkingEffort) -> Effort {
        match effort {
            ThinkingEffort::Low => Effort::Low,
            ThinkingEffort::Medium => Effort::Medium,
            ThinkingEffort::High => Effort::High,
        }
    }
}

/// What tools may do without asking.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum PolicyMode {
    /// Nothing that changes anything.
    ReadOnly,
    /// Read; everything else is asked.
    Ask,
    /// Edit files of the project; everything else is asked.
    AutoEdit,
    /// Run commands too, inside the sandbox; leaving it is asked. Only where the kernel can hold them there.
    Sandboxed,
    /// All that stays inside the sandbox; the network, leaving it and what cannot be undone are asked.
    Full,
}

impl From<PolicyMode> for Policy {
    fn from(mode: PolicyMode) -> Policy {
        match mode {
            PolicyMode::ReadOnly => Policy::ReadOnly,
            PolicyMode::Ask => Policy::Ask,
            PolicyMode::AutoEdit => Policy::AutoEdit,
            PolicyMode::Sandboxed => Policy::Sandboxed,
            PolicyMode::Full => Policy::Full,
        }
    }
}

/// What a UI may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum UiRole {
    /// Do everything: prompt, answer, change settings.
    #[default]
    Controller,
    /// Look, allow once and deny.
    Approver,
    /// Look, and change nothing.
    Observer,
}

impl From<UiRole> for hub::core::Standing {
    fn from(role: UiRole) -> hub::core::Standing {
        match role {
            UiRole::Controller => hub::core::Standing::Controller,
            UiRole::Approver => hub::core::Standing::Approver,
            UiRole::Observer => hub::core::Standing::Observer,
        }
    }
}

/// The sub-commands; without one, the terminal UI opens.
#[derive(Debug, Subcommand)]
pub(crate) enum Sub {
    /// One prompt without a screen; the answer goes to stdout.
    Run(Run),
    /// Be a runtime: let another program's UI in.
    Serve(Serve),
    /// Be a UI: open the terminal UI on another program's runtime.
    Attach(Attach),
    /// Start a server of yours in the background: sessions then outlive their terminals.
    Up(crate::home::Up),
    /// End the server and its rooms.
    Down(crate::home::Down),
    /// Carry stdin and stdout to a session of this machine; `parlor attach ssh://HOST` starts it there.
    ///
    /// Goes to the process that has the session open, else asks the server for a room, else starts one. The first line on stdout says
    /// who is there; what follows is the native protocol.
    Relay(crate::relay::Relay),
    /// The agents of other programs that can be talked to: what is installed, how to get the others.
    ///
    /// Those that are known to Parlor, those of your settings (`[agents.NAME]`), and those of registries that you name: a file or a folder
    /// of this machine in the form of the ACP registry. Nothing is downloaded, installed or started.
    Agents(crate::agents::Agents),
    /// Give the key of a provider: it is tried at once and kept for you alone.
    ///
    /// The key is not shown while you type or paste it. It is kept in one file that only you can read, and that no command of the agent
    /// can. A key in the environment (such as ANTHROPIC_API_KEY) goes before a kept one, and a kept one goes only to the address that it
    /// was tried at.
    Login(crate::login::Login),
    /// Forget a key that was given with `parlor login`.
    ///
    /// Keys in the environment are not touched.
    Logout(crate::login::Logout),
    /// A UI of one wire on a runtime of another.
    Bridge(Bridge),
    /// The conversations that are kept: list, show, search, tree, export, import, rename, rm, undo, redo, diff, backup, recover.
    Sessions(crate::sessions::Sessions),
    /// The git worktrees that `--worktree` made: list, merge, keep, remove.
    Worktrees(crate::worktrees::Worktrees),
    /// The models that can be had now, with their windows and prices where known.
    Models {
        /// Print them as JSON.
        #[arg(long)]
        json: bool,
    },
    /// The live sessions and who is attached to them.
    Ps(crate::ps::Ps),
    /// The page in a browser: prints its address and opens it.
    ///
    /// The address enrols one browser, once, within a minute; after that the browser is known by its key. Sessions stay in the processes
    /// that have them open; others are opened in a process of their own.
    Web(crate::web::Web),
    /// The browsers that may connect to the page: list, revoke, rename, role.
    Devices(crate::devices::Asked),
    /// Sit between a UI and a program and write their conversation down.
    Record(crate::record::Record),
    /// Play one side of a recording against a program and tell where it differs.
    Replay(crate::replay::Replay),
    /// Show what a recording tells, as text or as a page.
    Trace(crate::trace::Trace),
    /// Check whether a program keeps to its wire.
    Check(crate::check::Check),
    /// MCP servers: list, add, remove, approve, test.
    Mcp(crate::mcp::Mcp),
    /// The skills that a prompt can pull in with `$name`.
    Skills,
    /// What you have allowed for good: list, narrow, revoke.
    Rules(crate::rules::Asked),
    /// What the model is told before the first word: the text and the tools, as they would be sent from here.
    Prompt {
        /// Print them as JSON.
        #[arg(long)]
        json: bool,
    },
    /// Every message of a wire, as Parlor writes it, as a JSON Schema, or as the requirement tables that its document speaks of.
    Schema {
        /// The wire whose messages are wanted.
        #[arg(long, value_parser = dialect(), required_unless_present = "typescript")]
        dialect: Option<dialects::Dialect>,
        /// TypeScript definitions of the wire that Parlor's own UIs speak.
        #[arg(long, conflicts_with = "dialect")]
        typescript: bool,
    },
    /// Completions for your shell: `parlor completions bash >> ~/.bashrc`.
    Completions {
        /// The shell that will read them.
        shell: clap_complete::Shell,
    },
    /// Tell what is configured and what is missing.
    Doctor,
    /// Carries stdin and stdout to a socket.
    #[command(name = crate::check::relay::RELAY, hide = true)]
    KitRelay {
        /// The socket of the runtime under test.
        socket: PathBuf,
    },
    /// The process of a room.
    #[command(name = crate::rooms::room::ROOM, hide = true)]
    Room(crate::rooms::room::Room),
    /// Writes generated pages.
    #[command(name = "__docs", hide = true)]
    Docs {
        /// The folder to write them into.
        folder: PathBuf,
    },
}

/// One prompt without a screen.
///
/// Nobody can be asked here: low-risk tools run, others are denied unless allowed. Exit codes: 0 done, 1 failed, 2 usage,
/// 3 a tool was denied, 4 a person would have had to answer, 5 timed out, 7 the answer is cut, refused or empty, 8 the budget is used up,
/// 9 the answer is not what --output-schema asks for, 129, 130, 131 or 143 told to stop by SIGHUP, SIGINT
/// (Ctrl-C), SIGQUIT or SIGTERM.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  parlor run \"list files\"\n  parlor run --allow write \"write hello.txt: hi\"\n  parlor run --json \"read README.md\" | jq .\n  git diff | parlor run --file - \"what would you ask about this?\"\n  parlor run --output-schema answer.json --file notes.txt \"what is to be done?\""
)]
pub(crate) struct Run {
    /// What to say. `-` reads it from stdin.
    pub(crate) prompt: Vec<String>,
    /// Print every event as one JSON line, and a last line with the result.
    #[arg(long)]
    pub(crate) json: bool,
    /// Tools that may run without asking, by name.
    ///
    /// `bash` runs commands inside the sandbox, `bash:network` also those that ask for the network, `bash:free` also those that ask to
    /// leave the sandbox; `mcp__SERVER__TOOL` is a tool of an MCP server. None of these covers what cannot be undone, what steers
    /// programs or what is written outside: only `all` does, which says yes to everything that would be asked.
    #[arg(long, value_delimiter = ',', value_name = "TOOL,…", value_parser = allowance)]
    pub(crate) allow: Vec<Allowance>,
    /// Give up after this many seconds.
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) timeout: Option<u64>,
    /// A picture that goes along: PNG, JPEG, GIF or WebP, up to 5 MB. May be said again for more.
    #[arg(long, value_name = "FILE")]
    pub(crate) image: Vec<PathBuf>,
    /// A text file that goes along, up to 1 MB; `-` is what comes on stdin. May be said again for more.
    #[arg(long, value_name = "FILE")]
    pub(crate) file: Vec<PathBuf>,
    /// The answer is to be JSON that fits this JSON Schema, and nothing else is on stdout. An answer that does not fit is asked for once
    /// more, with what is wrong.
    #[arg(long, value_name = "FILE")]
    pub(crate) output_schema: Option<PathBuf>,
    /// Go on with the newest conversation of this project.
    #[arg(long = "continue", conflicts_with = "resume")]
    pub(crate) continue_last: bool,
    /// Go on with this conversation, by its id or the beginning of it.
    #[arg(long, value_name = "ID")]
    pub(crate) resume: Option<String>,
    /// Work in a git worktree of its own, on branch parlor/NAME, which is kept: `parlor worktrees` merges or removes it.
    #[arg(long, value_name = "NAME", num_args = 0..=1, require_equals = true)]
    pub(crate) worktree: Option<Option<String>>,
    /// With --worktree: an untracked file that comes along, such as .env. May be said again for more.
    #[arg(long, value_name = "FILE")]
    pub(crate) copy: Vec<PathBuf>,
    /// The model that answers where nobody named one, for the first line of `--json`.
    #[arg(skip)]
    pub(crate) usual_model: Option<String>,
}

/// Dollars as millionths.
fn dollars(text: &str) -> Result<u64, String> {
    let dollars = text.strip_prefix('$').unwrap_or(text).parse().ok();
    dollars.and_then(engine::cost_micros).ok_or_else(|| "write dollars, such as 2.50".to_owned())
}

impl Run {
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

/// Be a runtime: let another program's UI in.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  parlor serve --dialect codelia --stdio\n  parlor serve --dialect native --socket /tmp/parlor.sock"
)]
pub(crate) struct Serve {
    /// The wire that the UI speaks; several for several sockets, or `auto` to let a client's first line decide.
    #[arg(long, required = true, value_parser = crate::serve::wire, value_name = "DIALECT")]
    pub(crate) dialect: Vec<crate::serve::Wire>,
    /// What UIs that connect may do.
    #[arg(long = "role", value_enum, default_value_t, value_name = "ROLE")]
    pub(crate) standing: UiRole,
    /// Speak on stdin and stdout.
    #[arg(long, conflicts_with = "socket")]
    pub(crate) stdio: bool,
    /// Listen on this Unix socket; only you can connect.
    #[arg(long, value_name = "PATH")]
    pub(crate) socket: Option<PathBuf>,
    /// Listen for WebSockets at ws://127.0.0.1:PORT. Loopback only, and no page of the web can connect; but
    /// these wires have no authentication: whoever knows the address can do everything. Without a path a secret one is made up and told.
    #[arg(long, value_name = "URL", conflicts_with_all = ["stdio", "socket"])]
    pub(crate) listen: Option<String>,
    /// Write the conversation down in this file (a further UI: beside it, with a number). Secrets are taken out.
    #[arg(long, value_name = "FILE")]
    pub(crate) record: Option<PathBuf>,
    /// Every UI that connects goes to this session.
    #[arg(long, value_name = "SESSION")]
    pub(crate) session: Option<String>,
    /// An option of the dialect, such as `no-ui=true`.
    #[arg(long = "option", value_name = "NAME=VALUE", value_parser = option)]
    pub(crate) options: Vec<(String, String)>,
    /// Show every line both ways on stderr.
    #[arg(long, conflicts_with = "record")]
    pub(crate) log_wire: bool,
    /// What a UI that starts us puts behind: lemon's `run SCRIPT -- --cwd DIR …`, codelia's `--approval-mode MODE`.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
    pub(crate) rest: Vec<OsString>,
}

/// Be a UI on another program's runtime.
///
/// The conversation is kept, with the command or socket (not with the environment, nor with words that look like keys): `parlor sessions`
/// lists it, `parlor --resume ID` goes on with it. `--ephemeral` keeps nothing.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  parlor attach goose\n  parlor attach --dialect codelia -- parlor serve --dialect codelia --stdio\n  parlor attach --dialect native --socket /tmp/parlor.sock\n  parlor attach ssh://me@build-host"
)]
pub(crate) struct Attach {
    /// An agent of `parlor agents`, by its name; before its first start you see its command and are asked. Or `ssh://HOST[/SESSION]`: a
    /// session of Parlor on another machine, by your own ssh.
    #[arg(value_name = "NAME", conflicts_with_all = ["dialect", "socket", "command"])]
    pub(crate) name: Option<String>,
    /// With NAME: a list of agents as the ACP registry publishes it, a file or a folder of this machine.
    #[arg(long, value_name = "PATH")]
    pub(crate) registry: Vec<PathBuf>,
    /// With NAME: say yes to its first start, where nobody can be asked.
    #[arg(long)]
    pub(crate) yes: bool,
    /// The wire that the runtime speaks.
    #[arg(long, default_value = "native", value_name = "DIALECT", value_parser = dialect())]
    pub(crate) dialect: dialects::Dialect,
    /// Connect to this Unix socket.
    #[arg(long, value_name = "PATH", conflicts_with = "command")]
    pub(crate) socket: Option<PathBuf>,
    /// The session to go to, by the runtime's own id. Alone: wherever `parlor ps` shows it.
    #[arg(long, value_name = "SESSION")]
    pub(crate) session: Option<String>,
    /// Write the conversation down in this file. Secrets are taken out.
    #[arg(long, value_name = "FILE")]
    pub(crate) record: Option<PathBuf>,
    /// Say nothing to a runtime that acts without asking, and stop one that does.
    #[arg(long)]
    pub(crate) require_consent: bool,
    /// One prompt without a screen, like `parlor run`, with its exit codes.
    #[arg(long, value_name = "TEXT")]
    pub(crate) prompt: Option<String>,
    /// With `--prompt`: print every event as one JSON line, and a last line with the result.
    #[arg(long, requires = "prompt")]
    pub(crate) json: bool,
    /// With `--prompt`: tools of the runtime that are said yes to when it asks, by the runtime's own names; `all` for everything it asks.
    #[arg(long, requires = "prompt", value_delimiter = ',', value_name = "TOOL,…", value_parser = granted)]
    pub(crate) allow: Vec<Allowance>,
    /// With `--prompt`: give up after this many seconds.
    #[arg(long, requires = "prompt", value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) timeout: Option<u64>,
    /// Start this program and speak on its stdin and stdout.
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<OsString>,
}

impl Attach {
    /// To the agent of this name, with a screen.
    pub(crate) fn to(name: String) -> Attach {
        Attach { name: Some(name), ..Attach::on(dialects::ALL[0]) }
    }

    /// To a runtime of this wire whose place is told otherwise.
    pub(crate) fn on(dialect: dialects::Dialect) -> Attach {
        Attach {
            name: None,
            registry: Vec::new(),
            yes: false,
            dialect,
            socket: None,
            session: None,
            record: None,
            require_consent: false,
            prompt: None,
            json: false,
            allow: Vec::new(),
            timeout: None,
            command: Vec::new(),
        }
    }
}

/// A UI of one wire on a runtime of another.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  parlor bridge --from codelia --stdio --to native -- parlor serve --dialect native --stdio"
)]
pub(crate) struct Bridge {
    /// The wire that the UI speaks.
    #[arg(long, value_name = "DIALECT", value_parser = dialect())]
    pub(crate) from: dialects::Dialect,
    /// The UI is on stdin and stdout.
    #[arg(long, conflicts_with = "socket")]
    pub(crate) stdio: bool,
    /// UIs connect to this Unix socket.
    #[arg(long, value_name = "PATH")]
    pub(crate) socket: Option<PathBuf>,
    /// The wire that the runtime speaks.
    #[arg(long, value_name = "DIALECT", value_parser = dialect())]
    pub(crate) to: dialects::Dialect,
    /// The runtime listens on this Unix socket.
    #[arg(long, value_name = "PATH", conflicts_with = "command")]
    pub(crate) to_socket: Option<PathBuf>,
    /// Write the conversation down in this file (the runtime's wire: beside it, with `runtime` in its name). Secrets are taken out.
    #[arg(long, value_name = "FILE")]
    pub(crate) record: Option<PathBuf>,
    /// Say nothing to a runtime that acts without asking, and stop one that does.
    #[arg(long)]
    pub(crate) require_consent: bool,
    /// Only print what becomes of each item of the vocabulary between these two wires.
    #[arg(long)]
    pub(crate) report: bool,
    /// An option of the UI's dialect, such as `no-ui=true`.
    #[arg(long = "option", value_name = "NAME=VALUE", value_parser = option)]
    pub(crate) options: Vec<(String, String)>,
    /// Start this program as the runtime and speak on its stdin and stdout.
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<OsString>,
}

/// What is wrong with a command line where a command stands in the place of an id or a name, which may be left out only at the end:
/// `parlor --resume run hi` would go on with a conversation called `run`.
pub(crate) fn command_for_value(words: &[OsString]) -> Option<String> {
    let cli = Cli::command();
    let is_command = |word: &str| cli.find_subcommand(word).is_some();
    let typed = words.iter().skip(1).map_while(|word| word.to_str()).take_while(|word| *word != "--");
    let mut before = "";
    for word in typed {
        let hint = match (before, is_command(word)) {
            ("--resume" | "-r", true) => "`parlor sessions` lists the ids, --continue takes the newest",
            ("--worktree", true) => "`parlor run --worktree` makes up a name",
            (_, true) => return None,
            (_, false) => {
                before = word;
                continue;
            }
        };
        let flag = if before == "-r" { "--resume" } else { before };
        let missing = if flag == "--resume" { "ID" } else { "NAME" };
        return Some(format!(
            "{flag} before `{word}` needs its value: parlor {flag} {missing} {word} …\n\nhint: {hint}"
        ));
    }
    None
}

/// A tool that may run without asking, as typed.
fn allowance(text: &str) -> Result<Allowance, String> {
    let toolbox = tools::Toolbox::standard();
    let mut names: Vec<&str> = toolbox.names().collect();
    // They come with settings, skills and certain models; naming one that is not there allows nothing.
    names.extend(["fetch", "skill", "apply_patch"]);
    Allowance::parse(text, &names).map_err(|why| why.to_string())
}

/// A tool of somebody else's runtime, whatever it is called there.
fn granted(text: &str) -> Result<Allowance, String> {
    let names = [text];
    let known = if text.is_empty() { &[] } else { &names[..] };
    Allowance::parse(text, known).map_err(|_| "name a tool of the runtime, or all".to_owned())
}

/// A wire by its name; shells complete it.
pub(crate) fn dialect() -> impl TypedValueParser<Value = dialects::Dialect> {
    let names = dialects::ALL.iter().map(|dialect| dialect.name());
    clap::builder::PossibleValuesParser::new(names).try_map(|name| dialects::named(&name))
}

fn option(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').unwrap_or((text, "true"));
    if name.is_empty() {
        return Err("write it as NAME=VALUE".to_owned());
    }
    Ok((name.to_owned(), value.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn a_command_is_not_taken_for_a_conversation() {
        let read = |words: &[&str]| Cli::try_parse_from([&["parlor"], words].concat());
        assert_eq!(read(&["--resume"]).unwrap().common.resume, Some(None));
        assert_eq!(read(&["--resume", "ab12"]).unwrap().common.resume, Some(Some("ab12".to_owned())));
        let said = read(&["--resume", "ab12", "run", "hi"]).unwrap();
        assert!(matches!(said.sub, Some(Sub::Run(_))) && said.common.resume == Some(Some("ab12".to_owned())));
        let wrong = |words: &[&str]| {
            let words: Vec<OsString> =
                [&["parlor"], words].concat().into_iter().map(OsString::from).collect();
            command_for_value(&words)
        };
        for (words, begins) in [
            (&["--resume", "run", "hi"][..], "--resume before `run` needs its value: parlor --resume ID run"),
            (&["--plain", "-r", "serve"], "--resume before `serve`"),
            (
                &["--worktree", "run", "hi"],
                "--worktree before `run` needs its value: parlor --worktree NAME run",
            ),
        ] {
            assert!(wrong(words).is_some_and(|why| why.starts_with(begins)), "{words:?}: {:?}", wrong(words));
        }
        for words in [
            &["--resume"][..],
            &["-r", "ab12", "run", "x"],
            &["run", "--resume", "run"],
            &["--", "-r", "run"],
        ] {
            assert_eq!(wrong(words), None, "{words:?}");
        }
    }

    #[test]
    fn what_is_allowed_must_be_there() {
        let read = |word: &str| Cli::try_parse_from(["parlor", "run", "--allow", word, "hi"]);
        for word in ["bash", "bash:network", "bash:free", "write,edit", "fetch", "skill", "all", "mcp__a__b"]
        {
            assert!(read(word).is_ok(), "{word}");
        }
        for word in ["bsah", "bash:fre", "write,bsah", "mcp__a", "ALL"] {
            let why = read(word).unwrap_err();
            assert_eq!(why.exit_code(), 2, "{word}");
            assert!(why.to_string().contains("bash, bash:free, bash:network"), "{why}");
        }
    }

    #[test]
    fn options_of_a_dialect_are_pairs() {
        assert_eq!(option("a=b=c"), Ok(("a".to_owned(), "b=c".to_owned())));
        assert_eq!(option("no-ui"), Ok(("no-ui".to_owned(), "true".to_owned())));
        assert!(option("=x").is_err());
    }
}
