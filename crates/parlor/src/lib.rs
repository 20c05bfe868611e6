//! The command line of Parlor: flags and their environment (`cli`, `environment`, `flags`), one file per sub-command, what is said and how
//! the program ends (`exit`, `aloud`, `paint`), and what draws on a terminal (`screen`, `interactive`, `headless`). What runs sessions is in
//! the crate `host`, the way to other programs' runtimes in `remote`.

mod agent_list;
mod agent_room;
mod aloud;
mod attach;
mod attach_ssh;
mod bridge;
mod browser;
mod check;
mod cli;
mod complete;
mod device_list;
mod docs;
mod doctor;
mod environment;
mod exit;
mod flags;
mod fleet_port;
mod habits;
mod handover;
mod headless;
mod help;
mod hooks;
mod interactive;
mod join;
mod login;
mod man;
mod mcp;
mod model_list;
mod new;
mod output;
mod paint;
mod prompt;
mod ps;
mod record;
mod relay;
mod replay;
mod resumed;
mod right_line;
mod room;
mod rules;
mod run;
mod screen;
mod serve;
mod sessions;
mod skill_list;
mod tape;
mod topics;
mod tour;
mod trace;
mod ui_settings;
mod unsupported_flags;
mod up;
mod web;
mod worktree_end;
mod worktree_list;
mod wrong_usage;

use cli::{Line, Sub};
use domain::harmless;
use exit::Exit;
use host::{guard, launch, log_limit, rooms, worktrees};
pub use host::{stack, vault};
use output::Stream;
use remote::elsewhere;
use std::ffi::OsString;
use std::io::{IsTerminal, Read};
use std::process::ExitCode;

/// The whole program: reads the command line, does what it says, and gives the exit code. The commit that it was built from is told by
/// the binary: crates below know nothing of it, so that a new commit compiles none of them again.
pub fn main(commit: Option<&str>) -> ExitCode {
    heap::stay_small();
    host::version::set_commit(commit);
    tools::sandbox::be_known();
    guard::enable();
    let mut args = std::env::args_os();
    match args.nth(1) {
        Some(first) if first == guard::GUARD => return guard(&args.collect::<Vec<_>>()),
        Some(first) if first == rooms::detach::DETACH => {
            return detach(&args.collect::<Vec<_>>());
        }
        Some(first) if first == complete::COMPLETE => {
            complete::answer(&args.collect::<Vec<_>>());
            return ExitCode::SUCCESS;
        }
        Some(_) | None => {}
    }
    std::panic::set_hook(Box::new(|panic| output::print_error(&broken(panic))));
    let typed: Vec<OsString> = std::env::args_os().collect();
    // Scripts and shells ask for it all the time: it need not know every command first.
    if matches!(&typed[..], [_, word] if word == "--version" || word == "-V") {
        output::print_line(&format!("parlor {}", host::version::version()));
        return ExitCode::SUCCESS;
    }
    if let Some(help) = serve::argv_compat::help_of_word(&typed) {
        output::print_line(&help);
        return ExitCode::SUCCESS;
    }
    if let Some(page) = topics::asked(&typed) {
        return match page {
            Ok(text) => {
                output::print_report(&format!("{text}\n"), Stream::Out);
                ExitCode::SUCCESS
            }
            Err(why) => {
                output::print_error(&format!("error: {why}"));
                ExitCode::from(exit::USAGE)
            }
        };
    }
    let words = cli::with_run(serve::argv_compat::our_words(typed.clone()));
    if let Some(why) = cli::command_for_value(&words) {
        output::print_error(&format!("error: {why}"));
        return ExitCode::from(exit::USAGE);
    }
    let cli = match environment::parse(&words, |name| std::env::var_os(name)) {
        Ok(cli) => cli,
        Err(why) => {
            let Some(answer) = wrong_usage::answer(&why, &words) else { return told_by_clap(&why, &words) };
            output::print_error(&format!("error: {}", right_line::beside(&answer, &typed)));
            return ExitCode::from(exit::USAGE);
        }
    };
    if let Some(word) = cli.launch.prompt.as_ref().filter(|said| !said.contains(char::is_whitespace)) {
        let answer = right_line::beside(&wrong_usage::no_command(word), &typed);
        output::print_error(&format!("error: {answer}"));
        return ExitCode::from(exit::USAGE);
    }
    if let (None | Some(Sub::Run(_) | Sub::Serve(_) | Sub::Room(_)), Some(why)) =
        (&cli.sub, stack::refuse_mode(cli.launch.policy, || tools::sandbox::status().can_hold()))
    {
        output::print_error(&format!(
            "error: {why}\n\nhint: with --policy ask you are asked before each command"
        ));
        return ExitCode::from(exit::USAGE);
    }
    if let Some(command) = cli.sub.as_ref().and_then(Sub::begins_none) {
        let idle = cli::for_sessions(&words);
        if !idle.is_empty() {
            let idle = idle.join(" and ");
            output::print_error(&format!(
                "error: {idle} has no effect with `parlor {command}`, which starts no session\n\nhint: use it where a session is started, or in your settings"
            ));
            return ExitCode::from(exit::USAGE);
        }
    }
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(why) => {
            return say_error(&anyhow::anyhow!(
                "cannot start: {why}\n\nhint: `ulimit -u` and `ulimit -n` tell how many processes and files you may have"
            ));
        }
    };
    stack::with_delegation(engine::Delegation {
        others: Some(std::sync::Arc::new(remote::task::TaskAgents::default())),
        worktrees: Some(std::sync::Arc::new(worktrees::OfTasks)),
    });
    // A picture of our memory would hold keys, and secrets that were typed.
    let nothing = rustix::process::Rlimit { current: Some(0), maximum: Some(0) };
    let _ = rustix::process::setrlimit(rustix::process::Resource::Core, nothing);
    // What loses its guard is ours, and is ended. Goes on for as long as the program does.
    #[cfg(target_os = "linux")]
    if !starts_rooms(&cli) {
        runtime.spawn(tools::sandbox::inherit());
    }
    let exit = runtime.block_on(dispatch(cli));
    // What still runs is abandoned: everything worth keeping is on disk.
    runtime.shutdown_background();
    log_limit::finish();
    match (exit, output::unwritten()) {
        (Err(why), _) => say_error(&why),
        // Nobody may take what arrived for all of it.
        (Ok(_), Some(why)) => say_error(&anyhow::anyhow!(
            "stdout could not be written ({why}): what arrived is not all\n\nhint: make room where it goes, and run it again"
        )),
        (Ok(exit), None) => exit.into(),
    }
}

/// Whether this process starts rooms and runs no agent itself: it must not become the parent of what it starts.
#[cfg(target_os = "linux")]
fn starts_rooms(cli: &Line) -> bool {
    matches!(cli.sub, Some(Sub::Up(_) | Sub::Relay(_) | Sub::Web(_) | Sub::Tour(_)))
}

/// Commands that start rooms or look for them: these share the file of this machine.
fn rooms_of(sub: &Sub) -> Option<&'static str> {
    match sub {
        Sub::Up(_) => Some("the server"),
        Sub::Relay(_) => Some("a relay"),
        Sub::Web(_) => Some("the page"),
        Sub::New(_) => Some("the first session of something new"),
        _ => None,
    }
}

async fn dispatch(cli: Line) -> anyhow::Result<Exit> {
    // The terminal UI tells it on its first screen, doctor in its report.
    if !matches!(cli.sub, None | Some(Sub::Doctor | Sub::KitRelay { .. })) {
        say(&cli.launch.unread);
    }
    if let (Some(_), Some(sub)) = (&cli.launch.worktree, &cli.sub)
        && !matches!(sub, Sub::Run(_))
    {
        return Err(exit::usage(
            "--worktree goes with `parlor` and `parlor run`\n\nhint: `parlor run --worktree=NAME \"PROMPT\"`, or `parlor worktrees` for those that are there",
        ));
    }
    if let (Some(None), Some(_)) = (&cli.launch.resume, &cli.sub) {
        return Err(exit::usage(
            "--resume before a command needs its value, the id of a conversation\n\nhint: `parlor sessions` lists the ids, --continue opens the newest",
        ));
    }
    if let (Some(said), Some(sub)) = (&cli.launch.prompt, &cli.sub)
        && !matches!(sub, Sub::Run(_))
    {
        return Err(exit::usage(format!(
            "\"{}\" comes before a command\n\nhint: a prompt goes alone, or with `parlor run`",
            harmless::in_line(&harmless::clean(said))
        )));
    }
    if let Some(command) = cli.sub.as_ref().and_then(rooms_of) {
        host::store_place::only_here(&cli.launch, command)?;
    }
    match cli.sub {
        Some(Sub::Run(mut run)) => {
            run.prompt.splice(..0, cli.launch.prompt.clone());
            run::run(cli.launch, run).await
        }
        Some(Sub::Serve(serve)) => serve::serve(cli.launch, serve, cli::flags_of_serve).await,
        Some(Sub::Attach(asked)) => {
            let mut launch = cli.launch;
            match join::attach(&mut launch, &asked).await? {
                Some(exit) => Ok(exit),
                None => attach::attach(launch, asked).await,
            }
        }
        Some(Sub::Agents(asked)) => Ok(agent_list::list(&asked)),
        Some(Sub::Login(asked)) => login::login(&cli.launch, asked).await,
        Some(Sub::Logout(asked)) => login::logout(&asked),
        Some(Sub::Bridge(bridge)) => bridge::bridge(cli.launch, bridge).await,
        Some(Sub::Sessions(asked)) => match asked.searched_as_typed() {
            Some(words) => search_as_typed(cli.launch, words).await,
            None => sessions::sessions(&cli.launch, asked).await,
        },
        Some(Sub::Worktrees(asked)) => worktree_list::worktrees(&cli.launch, asked).await,
        Some(Sub::Models { json }) => model_list::list(&cli.launch, json).await,
        Some(Sub::Mcp(asked)) => mcp::mcp(&cli.launch, asked).await,
        Some(Sub::Hooks(asked)) => hooks::hooks(&cli.launch, asked),
        Some(Sub::Rules(asked)) => rules::rules(&cli.launch, asked),
        Some(Sub::Skills) => skill_list::list(&cli.launch),
        Some(Sub::Prompt { json }) => prompt::print(&cli.launch, json).await,
        Some(Sub::Schema { dialect: Some(dialect), .. }) => {
            output::print_line(&dialects::schema(dialect));
            Ok(Exit::Done)
        }
        Some(Sub::Schema { dialect: None, .. }) => {
            let schema = dialects::schema(dialects::native::DIALECT);
            output::print(&dialects::native::typescript::definitions(&schema).map_err(anyhow::Error::msg)?);
            Ok(Exit::Done)
        }
        Some(Sub::Completions { shell }) => {
            output::print(&shell.script()?);
            Ok(Exit::Done)
        }
        Some(Sub::Man(asked)) => man::man(&asked),
        Some(Sub::Docs { folder }) => docs::write(&folder),
        Some(Sub::Ps(asked)) => ps::ps(&cli.launch, &asked).await,
        Some(Sub::Web(asked)) => web::web(asked).await,
        Some(Sub::Devices(asked)) => device_list::devices(&asked),
        Some(Sub::Record(asked)) => record::record(asked).await,
        Some(Sub::Replay(asked)) => replay::replay(asked).await,
        Some(Sub::Trace(asked)) => trace::trace(&asked),
        Some(Sub::Tour(asked)) => tour::tour(asked).await,
        Some(Sub::New(asked)) => new::new(cli.launch, asked).await,
        Some(Sub::Check(asked)) => check::check(asked).await,
        Some(Sub::Up(asked)) => up::up(asked).await,
        Some(Sub::Down(asked)) => up::down(asked).await,
        Some(Sub::Relay(asked)) => relay::relay(cli.launch, asked).await,
        Some(Sub::KitRelay { socket }) => check::relay::relay(&socket).await,
        Some(Sub::Room(room)) => room::run(cli.launch, room).await,
        Some(Sub::Doctor) => doctor::doctor(&cli.launch).await,
        None => start(cli.launch).await,
    }
}

/// Says on stderr what of the environment could not be understood.
fn say(unread: &launch::Unread) {
    for line in &unread.told {
        output::print_error(&format!("warning: {line}"));
    }
}

/// The terminal UI, with its search over all conversations.
async fn search_as_typed(launch: launch::Launch, words: String) -> anyhow::Result<Exit> {
    if !(std::io::stdin().is_terminal() && Stream::Out.is_terminal()) {
        return Err(exit::usage(
            "there is no terminal to type in\n\nhint: `parlor sessions search WORDS` prints what is found",
        ));
    }
    start(launch::Launch { search: Some(words), ..launch }).await
}

/// `parlor` alone: the terminal UI, or what a pipe says.
async fn start(mut launch: launch::Launch) -> anyhow::Result<Exit> {
    if launch.plain || std::io::stdin().is_terminal() && Stream::Out.is_terminal() {
        if launch.prompt.is_some() && launch.resume == Some(None) {
            return Err(exit::usage(
                "a prompt needs a conversation that is named\n\nhint: parlor --resume ID \"PROMPT\"; `parlor sessions` lists the ids, --continue opens the newest",
            ));
        }
        // Without an id the screen has the list; where there is none, lines have it.
        if launch.resume == Some(None) && screen::is_plain(&launch) && !launch.ephemeral {
            launch.resume = match sessions::pick(&launch)? {
                sessions::Picked::One(session) => Some(Some(session.to_string())),
                sessions::Picked::New => None,
                sessions::Picked::Left(exit) => return Ok(exit),
            };
        }
        if let Some(exit) = join::join(&mut launch).await? {
            return Ok(exit);
        }
        let tree = worktrees::enter(&mut launch, &output::stderr_log())?;
        if launch.resume != Some(None)
            && let Some(kept) = elsewhere::find(&mut launch)?
        {
            return resumed::go_on(launch, kept, None).await;
        }
        let exit = interactive::own_and_errands(launch, tree.as_ref()).await?;
        if let Some(tree) = &tree {
            worktree_end::at_end(tree, exit).await?;
        }
        return Ok(exit);
    }
    if let Some(prompt) = launch.prompt.take() {
        say(&launch.unread);
        return run::run(launch, headless::Run::of(prompt)).await;
    }
    if !std::io::stdin().is_terminal() {
        let mut piped = String::new();
        std::io::stdin().take(headless::MAX_PIPED).read_to_string(&mut piped)?;
        if !piped.trim().is_empty() {
            say(&launch.unread);
            return run::run(launch, headless::Run::of(piped)).await;
        }
    }
    say(&launch.unread);
    if launch.resume.is_some() || launch.continue_last || launch.worktree.is_some() {
        return Err(exit::usage(
            "there is no terminal for the UI, and no prompt\n\nhint: parlor run sends one prompt, and accepts --continue, --resume ID and --worktree=NAME",
        ));
    }
    output::print_line(cli::WHAT_IT_IS);
    Ok(Exit::Done)
}

fn guard(args: &[OsString]) -> ExitCode {
    match tools::sandbox::run_guard(args) {
        Ok(never) => match never {},
        Err(why) => {
            output::print_error(&format!("error: {why}"));
            ExitCode::from(why.exit_code())
        }
    }
}

/// The program between whoever starts a room or a server and that one.
fn detach(args: &[OsString]) -> ExitCode {
    match rooms::detach::between(args) {
        Ok(pid) => {
            output::print_line(&pid.to_string());
            ExitCode::SUCCESS
        }
        Err(why) => {
            output::print_error(&format!("{why:#}"));
            ExitCode::FAILURE
        }
    }
}

/// What a panic says, as the standard library would say it.
fn broken(panic: &std::panic::PanicHookInfo<'_>) -> String {
    let thread = std::thread::current();
    let trace = std::backtrace::Backtrace::capture();
    let trace = match trace.status() {
        std::backtrace::BacktraceStatus::Captured => format!("\n{trace}"),
        _ => String::new(),
    };
    format!("thread '{}' {panic}{trace}", thread.name().unwrap_or("without a name"))
}

/// Help, or what is wrong with the command line. What was typed is quoted in it: its colours are only ours when that is plain text.
fn told_by_clap(why: &clap::Error, words: &[OsString]) -> ExitCode {
    let stream = if why.use_stderr() { Stream::Err } else { Stream::Out };
    let plain = |word: &OsString| word.to_str().is_some_and(|word| !word.chars().any(harmless::is_harmful));
    if stream.takes_colours() && words.iter().all(plain) {
        output::print_report(&why.render().ansi().to_string(), stream);
    } else {
        output::print_to(&why.render().to_string(), stream);
    }
    ExitCode::from(u8::try_from(why.exit_code()).unwrap_or(exit::USAGE))
}

fn say_error(why: &anyhow::Error) -> ExitCode {
    output::print_error(&format!("error: {}", exit::in_words(why)));
    exit::of_error(why)
}
