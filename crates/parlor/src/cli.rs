//! What can be typed. Help texts teach: each says what happens and shows an example.

use clap::parser::ValueSource;
use clap::{Args, CommandFactory, Parser, Subcommand, ValueEnum};
use domain::session::{Effort, Policy};
use host::launch::Launch;
use std::ffi::OsString;
use std::path::PathBuf;

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
#[command(name = "parlor", version = host::version::version(), max_term_width = 100, after_help = format!("Try:  parlor run \"list files\"\n{}", crate::serve::argv_compat::words_in_help().trim_end()))]
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

/// The flags that can be typed with `parlor serve`, its own and those of all.
pub(crate) fn flags_of_serve() -> Vec<String> {
    let cli = Cli::command();
    let sub = cli.find_subcommand("serve");
    let all = cli.get_arguments().chain(sub.iter().flat_map(|sub| sub.get_arguments()));
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
    /// What tools may do without asking. Without it: your settings; else `sandboxed` in Parlor's own terminal and page, where the kernel holds commands and the folder is a project, and `ask` everywhere else.
    #[arg(long, global = true, value_name = "MODE", value_parser = crate::flags::policy())]
    pub(crate) policy: Option<Policy>,
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
    #[arg(long, global = true)]
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
    /// One prompt without a screen; the answer goes to stdout.
    Run(crate::headless::Run),
    /// Be a runtime: let another program's UI in.
    Serve(crate::serve::Serve),
    /// Be a UI: open the terminal UI on another program's runtime.
    Attach(crate::attach::Attach),
    /// Start a server of yours in the background: sessions then outlive their terminals.
    Up(crate::up::Up),
    /// End the server and its rooms.
    Down(crate::up::Down),
    /// Carry stdin and stdout to a session of this machine; `parlor attach ssh://HOST` starts it there.
    ///
    /// Goes to the process that has the session open, else asks the server for a room, else starts one. The first line on stdout says
    /// who is there; what follows is the native protocol.
    Relay(crate::relay::Relay),
    /// The agents of other programs that can be talked to: what is installed, how to get the others.
    ///
    /// Those that are known to Parlor, those of your settings (`[agents.NAME]`), and those of registries that you name: a file or a folder
    /// of this machine in the form of the ACP registry. Nothing is downloaded, installed or started.
    Agents(crate::agent_list::Agents),
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
    Bridge(crate::bridge::Bridge),
    /// The conversations that are kept: list, show, search, tree, export, import, rename, rm, undo, redo, diff, backup, recover.
    Sessions(crate::sessions::Sessions),
    /// The git worktrees that `--worktree` made: list, merge, keep, remove.
    Worktrees(crate::worktree_list::Worktrees),
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
    /// Within a minute one browser can be paired at the address: both sides show the same short code, and you say `y` here. After that it is
    /// known by its key. Sessions stay in the processes that have them open; others are opened in a process of their own.
    Web(crate::web::Web),
    /// The browsers that may connect to the page: list, revoke, rename, role.
    Devices(crate::device_list::DevicesArgs),
    /// Sit between a UI and a program and write their conversation down.
    Record(crate::record::Record),
    /// Play one side of a recording against a program and tell where it differs.
    Replay(crate::replay::Replay),
    /// Show what a recording tells, as text or as a page.
    Trace(crate::trace::Trace),
    Check(crate::check::CheckArgs),
    /// MCP servers: list, add, remove, approve, test.
    Mcp(crate::mcp::Mcp),
    /// The skills that a prompt can pull in with `$name`.
    Skills,
    /// What you have allowed for good: list, narrow, revoke.
    Rules(crate::rules::RulesArgs),
    /// What the model is told before the first word: the text and the tools, as they would be sent from here.
    Prompt {
        /// Print them as JSON.
        #[arg(long)]
        json: bool,
    },
    /// Every message of a wire, as Parlor writes it, as a JSON Schema, or as the requirement tables that its document speaks of.
    Schema {
        /// The wire whose messages are wanted.
        #[arg(long, value_parser = crate::flags::dialect(), required_unless_present = "typescript")]
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
