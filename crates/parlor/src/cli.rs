//! What can be typed. Help texts teach: each says what happens and shows an example.

use clap::parser::ValueSource;
use clap::{Args, CommandFactory, Parser, Subcommand, ValueEnum};
use domain::session::{Effort, Policy};
use host::launch::Launch;
use std::ffi::OsString;
use std::path::PathBuf;

/// Said when there is neither a terminal nor a prompt.
pub(crate) const WHAT_IT_IS: &str = "\
Parlor is a coding agent for your terminal, and lets any agent UI drive any agent.

  parlor                         opens the terminal UI (run this in a terminal)
  parlor run \"list files\"        one prompt, the answer on stdout
  echo \"list files\" | parlor     the same
  parlor serve --dialect codelia --stdio
                                 be the runtime of another program's UI
  parlor attach --dialect codelia -- COMMAND
                                 be the UI of another program's runtime
  parlor login                   save a provider's API key, to use a real model
  parlor agents                  other programs' agents: what there is, how to get it
  parlor attach NAME             talk to one of them
  parlor web                     the same in a browser, with all sessions
  parlor tour                    learn it in ten minutes, offline
  parlor doctor                  check the setup and suggest fixes

It works without a key: the embedded offline model understands a few plain requests.";

/// What the help says of the pages.
const TOPICS: &str =
    "parlor help COMMAND explains a command, parlor help topics lists the pages of\nthe documentation.";

/// A coding agent for your terminal; also a UI and a server for other agents.
///
/// Without a sub-command, `parlor` opens the terminal UI. It works without a key: the embedded offline model understands plain
/// requests such as "list files", "read README.md" or "write hello.txt: hi".
#[derive(Debug, Parser)]
#[command(name = "parlor", version = host::version::version(), max_term_width = 100, after_help = TOPICS)]
pub(crate) struct Cli {
    /// What to begin with, in quotes: `parlor "fix the failing test"`. Where there is no terminal, as with `parlor run`.
    pub(crate) prompt: Option<String>,
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

/// The flags that can be typed with `parlor serve`, its own and those of all.
pub(crate) fn flags_of_serve() -> Vec<String> {
    let cli = Cli::command();
    let sub = cli.find_subcommand("serve");
    let of_all = cli.get_arguments().filter(|argument| argument.is_global_set());
    let all = of_all.chain(sub.iter().flat_map(|sub| sub.get_arguments()));
    all.filter_map(|argument| Some(format!("--{}", argument.get_long()?))).collect()
}

/// The options for sessions among these words, as they are typed.
pub(crate) fn for_sessions(words: &[OsString]) -> Vec<String> {
    let Ok(read) = Cli::command().try_get_matches_from(words) else { return Vec::new() };
    let (_, read) = read.subcommand().unwrap_or(("", &read));
    let typed = |name: &str| {
        read.try_get_raw(name).is_ok() && read.value_source(name) == Some(ValueSource::CommandLine)
    };
    let all = Common::augment_args(clap::Command::new(""));
    // Where conversations are kept is judged where it is known: `here` is right with all of them.
    let named = all.get_arguments().filter(|argument| {
        let id = argument.get_id().as_str();
        id != "store" && typed(id)
    });
    named.filter_map(|argument| Some(format!("--{}", argument.get_long()?))).collect()
}

/// What every way of starting a runtime understands.
#[derive(Debug, Default, Args)]
pub(crate) struct Common {
    /// The model, as provider/name. Without it: what the environment offers, else the offline one.
    #[arg(
        help_heading = "Model",
        long,
        short,
        global = true,
        env = "PARLOR_MODEL",
        hide_env_values = true,
        value_name = "PROVIDER/NAME"
    )]
    pub(crate) model: Option<String>,
    /// How hard the model thinks before it answers, in new sessions. Without it: as your settings say, else as its provider does.
    #[arg(help_heading = "Model", long, global = true, value_enum, value_name = "EFFORT")]
    pub(crate) effort: Option<ThinkingEffort>,
    /// The folder to work in. Relative paths of tools start here.
    #[arg(help_heading = "Place", long, global = true, visible_alias = "workdir", value_name = "DIR")]
    pub(crate) cwd: Option<PathBuf>,
    /// The folder that the agent may read and, as far as the mode allows it, write in. Without it: the project that you are in; none in
    /// your home folder itself, in `/` and in a folder of another user.
    #[arg(
        help_heading = "Place",
        long,
        global = true,
        env = "PARLOR_WORKSPACE",
        hide_env_values = true,
        value_name = "DIR"
    )]
    pub(crate) workspace: Option<PathBuf>,
    /// What tools may do without asking. Without it: your settings; else `sandboxed` in Parlor's own terminal and page, where the kernel holds commands and the folder is a project, and `ask` everywhere else.
    #[arg(help_heading = "Permissions", long, global = true, value_name = "MODE", value_parser = crate::flags::policy())]
    pub(crate) policy: Option<Policy>,
    /// Let the model fetch pages of the web; you are asked per host. Off unless your settings say `fetch.enabled = true`.
    #[arg(help_heading = "Permissions", long, global = true, env = "PARLOR_FETCH", hide_env_values = true, value_parser = on_or_off())]
    pub(crate) fetch: bool,
    /// Continue the most recent conversation of this project; one with another program's runtime starts or reaches that again.
    #[arg(help_heading = "Conversation", long = "continue", short = 'c', conflicts_with = "resume")]
    pub(crate) continue_last: bool,
    /// Continue this conversation; its id may be shortened. Without an id, pick one from a list. One with another program's runtime
    /// starts that program again in its folder, or connects to its socket; what is started is shown first.
    #[arg(help_heading = "Conversation", long, short = 'r', value_name = "ID", num_args = 0..=1)]
    pub(crate) resume: Option<Option<String>>,
    /// Work in its own git worktree, on branch parlor/NAME; an existing one is reused. At the end you say whether it is
    /// merged, kept or removed.
    #[arg(help_heading = "Place", long, value_name = "NAME", num_args = 0..=1)]
    pub(crate) worktree: Option<Option<String>>,
    /// With --worktree: an untracked file that comes along, such as .env. Repeatable.
    #[arg(help_heading = "Place", long, value_name = "FILE")]
    pub(crate) copy: Vec<PathBuf>,
    /// Work in this process, which ends with the terminal, also when a server runs (`parlor up`).
    #[arg(help_heading = "Conversation", long)]
    pub(crate) here: bool,
    /// Keep to the terminal's own scrollback instead of taking the whole screen.
    #[arg(help_heading = "Screen", long, global = true, env = "PARLOR_INLINE", hide_env_values = true, value_parser = on_or_off())]
    pub(crate) inline: bool,
    /// Use the whole screen, whatever the settings say.
    #[arg(help_heading = "Screen", long, global = true)]
    pub(crate) full_screen: bool,
    /// Lines of text instead of a screen: nothing is drawn, questions are answered in words. By itself where TERM is `dumb`.
    #[arg(help_heading = "Screen", long, global = true, env = "PARLOR_PLAIN", hide_env_values = true, value_parser = on_or_off())]
    pub(crate) plain: bool,
    /// Colours of the terminal UI: auto, terminal, dark, light, contrast or plain.
    #[arg(
        help_heading = "Screen",
        long,
        global = true,
        env = "PARLOR_THEME",
        hide_env_values = true,
        value_name = "NAME"
    )]
    pub(crate) theme: Option<String>,
    /// Keep nothing on disk.
    #[arg(help_heading = "Conversation", long, global = true, env = "PARLOR_EPHEMERAL", hide_env_values = true, value_parser = on_or_off())]
    pub(crate) ephemeral: bool,
    /// Keep conversations in this PostgreSQL, such as `postgres://ada@db.example/team`, or `here` for the file of this machine. The
    /// password comes from the file that PGPASSFILE names. Without it: `store` of your settings, else here.
    #[arg(help_heading = "Conversation", long, global = true, value_name = "PLACE")]
    pub(crate) store: Option<String>,
    /// Stop once the session has cost this many dollars. Kept with the session, as the next two are.
    #[arg(help_heading = "Limits", long, global = true, value_name = "DOLLARS", value_parser = dollars)]
    pub(crate) max_cost: Option<u64>,
    /// Ask the model at most this many times for one prompt.
    #[arg(help_heading = "Limits", long, global = true, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) max_steps: Option<u64>,
    /// Ask the model no more after this time of one prompt, such as 90s or 10m; what is under way goes on to its end. `--timeout` of
    /// `parlor run` stops it.
    #[arg(help_heading = "Limits", long, global = true, value_name = "TIME", value_parser = crate::flags::seconds)]
    pub(crate) max_time: Option<u64>,
}

impl From<Common> for Launch {
    fn from(common: Common) -> Launch {
        Launch {
            model: common.model,
            effort: common.effort.map(Effort::from),
            cwd: common.cwd,
            workspace: common.workspace,
            policy: common.policy,
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
            store: common.store,
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
    None,
    Minimal,
    Low,
    Medium,
    High,
    Xhigh,
    Max,
}

impl From<ThinkingEffort> for Effort {
    fn from(effort: ThinkingEffort) -> Effort {
        match effort {
            ThinkingEffort::None => Effort::None,
            ThinkingEffort::Minimal => Effort::Minimal,
            ThinkingEffort::Low => Effort::Low,
            ThinkingEffort::Medium => Effort::Medium,
            ThinkingEffort::High => Effort::High,
            ThinkingEffort::Xhigh => Effort::Xhigh,
            ThinkingEffort::Max => Effort::Max,
        }
    }
}

/// The sub-commands; without one, the terminal UI opens.
#[derive(Debug, Subcommand)]
pub(crate) enum Sub {
    /// Answer one prompt on stdout, without a screen.
    Run(crate::headless::Run),
    /// Run Parlor's agent behind another program's UI.
    Serve(crate::serve::Serve),
    /// Open Parlor's UI on another agent.
    Attach(crate::attach::Attach),
    /// Keep sessions running after their terminal closes.
    Up(crate::up::Up),
    /// End the background server and its sessions.
    Down(crate::up::Down),
    /// Carry stdin and stdout to a session of this machine.
    ///
    /// `parlor attach ssh://HOST` starts it there. Goes to the process that has the session open, else asks the server for a session process, else starts one. The first line on stdout says
    /// who is there; what follows is the native protocol.
    Relay(crate::relay::Relay),
    /// List other programs' agents, and how to get them.
    ///
    /// Those that are known to Parlor, those of your settings (`[agents.NAME]`), and those of registries that you name: a file or a folder
    /// of this machine in the form of the ACP registry. Nothing is downloaded, installed or started.
    Agents(crate::agent_list::Agents),
    /// Save a provider's API key (tested first, readable only by you).
    ///
    /// The key is not shown while you type or paste it. It is kept in one file that only you can read, and that no command of the agent
    /// can. A key in the environment (such as ANTHROPIC_API_KEY) goes before a kept one, and a kept one goes only to the address that it
    /// was tried at.
    Login(crate::login::Login),
    /// Forget a saved API key.
    ///
    /// Keys in the environment are not touched.
    Logout(crate::login::Logout),
    /// Connect one program's UI to another program's agent.
    Bridge(crate::bridge::Bridge),
    /// List, show, search, export, undo and delete conversations.
    Sessions(crate::sessions::Sessions),
    /// List, merge, keep or remove the worktrees of --worktree.
    Worktrees(crate::worktree_list::Worktrees),
    /// List available models, with windows and prices where known.
    #[command(after_help = "Examples:\n  parlor models\n  parlor run --model offline \"list files\"")]
    Models {
        /// Print them as JSON.
        #[arg(long)]
        json: bool,
    },
    /// List live sessions and who is attached to them.
    Ps(crate::ps::Ps),
    /// Open Parlor in a browser.
    ///
    /// Its address is printed too. Within a minute one browser can be paired at the address: both sides show the same short code, and you say `y` here. After that it is
    /// known by its key. Sessions stay in the processes that have them open; others are opened in a process of their own.
    Web(crate::web::Web),
    /// List, revoke or rename the browsers that may connect.
    Devices(crate::device_list::DevicesArgs),
    /// Write down what a UI and an agent say to each other.
    Record(crate::record::Record),
    /// Play one side of a recording and tell where it differs.
    Replay(crate::replay::Replay),
    /// Show a recording as text or as a page.
    Trace(crate::trace::Trace),
    Check(crate::check::CheckArgs),
    New(crate::new::New),
    Tour(crate::tour::Tour),
    /// List, add, remove, approve and test MCP servers, or be one.
    Mcp(crate::mcp::Mcp),
    Hooks(crate::hooks::Hooks),
    /// List the skills that a prompt can pull in with `$name`.
    #[command(
        after_help = "Examples:\n  parlor skills\n  parlor run '$review what does the last commit change?'"
    )]
    Skills,
    /// List, narrow and revoke what you allowed permanently.
    Rules(crate::rules::RulesArgs),
    /// Show what the model is told before the first word.
    ///
    /// The text and the tools, as they would be sent from here.
    #[command(after_help = "Examples:\n  parlor prompt\n  parlor prompt --json > prompt.json")]
    Prompt {
        /// Print them as JSON.
        #[arg(long)]
        json: bool,
    },
    /// Print the messages of a protocol as a JSON Schema.
    ///
    /// Every message as Parlor writes it, or the requirement tables of the protocol's document.
    #[command(
        after_help = "Examples:\n  parlor schema --dialect codelia\n  parlor schema --typescript > parlor.d.ts"
    )]
    Schema {
        /// The protocol whose messages are wanted.
        #[arg(long, value_parser = crate::flags::dialect(), required_unless_present = "typescript")]
        dialect: Option<dialects::Dialect>,
        /// TypeScript definitions of the protocol that Parlor's own UIs speak.
        #[arg(long, conflicts_with = "dialect")]
        typescript: bool,
    },
    /// Print completions for your shell.
    ///
    /// Those of bash, zsh and fish ask the program at each Tab, and know sessions, models, agents and more. Those of elvish and powershell
    /// know commands and flags. For zsh, the folder of the file has to be in `fpath` before `compinit` is called.
    #[command(
        after_help = "Examples:\n  parlor completions bash > ~/.local/share/bash-completion/completions/parlor\n  parlor completions zsh > ~/.zfunc/_parlor\n  parlor completions fish > ~/.config/fish/completions/parlor.fish"
    )]
    Completions {
        /// The shell that will read them.
        shell: Shell,
    },
    Man(Man),
    /// Check the setup and suggest fixes.
    #[command(after_help = "Examples:\n  parlor doctor\n  parlor doctor --model anthropic/claude-sonnet-4-5")]
    Doctor,
    /// Carries stdin and stdout to a socket.
    #[command(name = crate::check::relay::RELAY, hide = true)]
    KitRelay {
        /// The socket of the runtime under test.
        socket: PathBuf,
    },
    /// A session process.
    #[command(name = host::rooms::room::ROOM, hide = true)]
    Room(crate::room::Room),
    /// Writes generated pages.
    #[command(name = "__docs", hide = true)]
    Docs {
        /// The folder to write them into.
        folder: PathBuf,
    },
}

/// Dollars as millionths.
fn dollars(text: &str) -> Result<u64, String> {
    let dollars = text.strip_prefix('$').unwrap_or(text).parse().ok();
    dollars.and_then(engine::cost_micros).ok_or_else(|| "write dollars, such as 2.50".to_owned())
}

/// What means `run`, to whoever knows other agents' programs.
const RUNS: [&str; 2] = ["-p", "--print"];

/// The command line with `run` in the place of `-p`, where that stands before any command.
pub(crate) fn with_run(mut words: Vec<OsString>) -> Vec<OsString> {
    let is_run = |word: &OsString| RUNS.iter().any(|flag| word == flag);
    let ours = words.iter().take_while(|word| *word != "--").count();
    if let Some(at) = words.iter().take(ours).position(is_run) {
        let cli = Cli::command();
        let is_command =
            |word: &OsString| word.to_str().is_some_and(|word| cli.find_subcommand(word).is_some());
        if !words.iter().take(at).skip(1).any(is_command) {
            words[at] = "run".into();
        }
    }
    words
}

/// What is wrong with a command line where a command stands in the place of an id or a name, which may be left out only at the end:
/// `parlor --resume run hi` would go on with a conversation called `run`.
pub(crate) fn command_for_value(words: &[OsString]) -> Option<String> {
    const MAY_END: &[&str] = &["--resume", "-r", "--worktree"];
    if !words.iter().any(|word| MAY_END.iter().any(|flag| word == flag)) {
        // All flags and commands are put together only where they are asked for: it takes longer than reading the command line.
        return None;
    }
    let cli = Cli::command();
    let is_command = |word: &str| cli.find_subcommand(word).is_some();
    let typed = words.iter().skip(1).map_while(|word| word.to_str()).take_while(|word| *word != "--");
    let mut before = "";
    for word in typed {
        let hint = match (before, is_command(word)) {
            ("--resume" | "-r", true) => "`parlor sessions` lists the ids, --continue opens the newest",
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

/// A shell that completions are written for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Shell {
    Bash,
    Zsh,
    Fish,
    Elvish,
    Powershell,
}

/// Print the manual page of a command, or write those of all.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  parlor man run | man -l -\n  parlor man --into ~/.local/share/man/man1    then `man parlor-run`"
)]
pub(crate) struct Man {
    /// The command, such as `run` or `sessions export`; without it, Parlor itself.
    #[arg(value_name = "COMMAND", conflicts_with = "into")]
    pub(crate) command: Vec<String>,
    /// Write the pages of all commands into this folder.
    #[arg(long, value_name = "DIR")]
    pub(crate) into: Option<PathBuf>,
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
}
