//! `parlor check agent`: our own agent, or another, on tasks with scripted models that err.

use crate::exit::{self, Exit};
use crate::output;
use anyhow::Context;
use host::guard;
use host::stop::Stops;
use kit::check::agent::{
    AgentCheck, AgentGround, AgentReport, AgentTask, MODEL, ModelApi, ReachAgent, TaskFinding, TaskOutcome,
    tasks,
};
use kit::peer::{Carrier, Peer, PeerAddress, PeerCommand, PeerError, SOCKET};
use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::time::Duration;

/// Stands in a command for the address of the model's server.
const URL: &str = "{url}";
/// Stands in a command for the prompt, where the command takes one and ends.
const PROMPT: &str = "{prompt}";
/// Any key will do.
const KEY: &str = "parlor-check";
/// Prompts of a day, where no number is given.
const DAY: &str = "300";

/// The API of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Api {
    /// Chat Completions of OpenAI and of most others.
    Chat,
    /// Responses of OpenAI.
    Responses,
    /// Messages of Anthropic.
    Messages,
}

impl Api {
    fn model(self) -> String {
        let provider = match ModelApi::from(self) {
            ModelApi::Chat => "openai-chat",
            ModelApi::Responses => "openai-responses",
            ModelApi::Messages => "anthropic",
        };
        format!("{provider}/{MODEL}")
    }
}

impl From<Api> for ModelApi {
    fn from(api: Api) -> ModelApi {
        match api {
            Api::Chat => ModelApi::Chat,
            Api::Responses => ModelApi::Responses,
            Api::Messages => ModelApi::Messages,
        }
    }
}

/// Find out how well an agent works with models that err.
///
/// Each task starts the agent anew in a folder of its own, with a scripted model on loopback behind it that does what real models do:
/// edits that do not quite fit, the tools of other harnesses, circles, floods of output; and what providers do: answers that break,
/// refusals, a window that is full. Told are the tasks that were solved, the rounds that were lost to the harness (what was wanted was
/// clear, and it had to be tried again), the questions that were asked, and about how many tokens were sent and cached. No model is
/// paid for. Without a command it is Parlor's own agent.
///
/// Another agent is started with OPENAI_BASE_URL, OPENAI_API_KEY, ANTHROPIC_BASE_URL, ANTHROPIC_API_KEY and their like set to the
/// scripted model; in its command, `{url}` becomes the server's address (without /v1) and `{socket}` the path of a socket. The model is
/// called parlor-check. With `{prompt}` in its command the agent speaks no wire: it is started for each prompt, works, and ends. It works in your name, outside of any sandbox of ours, and every question of it is answered with yes. Exit code
/// 0 when all that could be tried was solved, 1 when not.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  parlor check agent
  parlor check agent --only edit --json
  parlor check agent --day
  parlor check agent --dialect acp -- env OPENAI_HOST={url} \\
    GOOSE_PROVIDER=openai GOOSE_MODEL=parlor-check goose acp
  parlor check agent -- my-agent --model parlor-check --yes --prompt {prompt}")]
pub(crate) struct AgentArgs {
    /// The protocol that the agent speaks with its UI.
    #[arg(long, default_value = "native", value_name = "DIALECT", value_parser = crate::flags::dialect())]
    dialect: dialects::Dialect,
    /// The API that Parlor's own agent speaks with the model. Others speak what they like.
    #[arg(long, value_enum, default_value = "chat")]
    api: Api,
    /// Only tasks whose name contains one of these.
    #[arg(long, value_name = "TEXT,…", value_delimiter = ',')]
    only: Vec<String>,
    /// Print the tasks and run nothing.
    #[arg(long)]
    list: bool,
    /// One session with this many prompts in place of the tasks.
    #[arg(long, value_name = "PROMPTS", num_args = 0..=1, default_missing_value = DAY, conflicts_with_all = ["only", "list"],
        value_parser = clap::value_parser!(u16).range(1..=tasks::MAX_DAY as i64))]
    day: Option<u16>,
    /// Print the result as JSON.
    #[arg(long)]
    json: bool,
    /// How long to wait for the answer to one prompt, such as 60s.
    #[arg(long, default_value_t = 60, value_name = "TIME", value_parser = crate::flags::seconds)]
    patience: u64,
    /// How many tasks run at the same time.
    #[arg(long, default_value_t = 2, value_name = "N")]
    at_once: usize,
    /// The agent and its arguments.
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

/// Gives the agent its tasks and reports.
pub(crate) async fn agent(asked: AgentArgs) -> anyhow::Result<Exit> {
    let (name, patience) = (asked.dialect.name(), Duration::from_secs(asked.patience));
    let takes_prompt = asked.command.iter().any(|word| word.to_string_lossy().contains(PROMPT));
    let check = match takes_prompt {
        true => Some(AgentCheck::by_command(patience)),
        false => AgentCheck::new(name, patience),
    };
    let check = check.with_context(|| format!("nothing is known of how to prompt on {name} yet"))?;
    if asked.day.is_some() && !check.remembers() {
        return Err(exit::usage(
            "a day is one session\n\nhint: name the protocol that the agent speaks with --dialect",
        ));
    }
    let tasks = match asked.day {
        Some(prompts) => vec![tasks::day(prompts.into(), check.waits())],
        None => chosen(&asked.only)?,
    };
    if asked.list {
        for task in &tasks {
            output::print_line(&format!("{:<21} {}", task.name, task.holds));
        }
        return Ok(Exit::Done);
    }
    let mut stops = Stops::listen();
    let start = Start::of(&asked, &check)?;
    let reach = |ground: AgentGround| {
        let (start, carrier) = (start.clone(), check.carrier());
        let reaching = async move {
            let what = "cannot write the agent's settings".to_owned();
            let start = start.at(&ground).map_err(|source| PeerError::Io { what, source })?;
            let address = PeerAddress::Command(start);
            Peer::runtime(&address, carrier).await
        };
        Box::pin(reaching) as std::pin::Pin<Box<dyn Future<Output = _> + Send>>
    };
    if !asked.json {
        output::print_line(AgentReport::HEAD);
    }
    let report = tokio::select! {
        report = run(&check, tasks, &reach, &asked) => report,
        // With what is under way its agents and folders go.
        signal = stops.next() => return Ok(Exit::Cancelled(exit::by(signal))),
    };
    if asked.json {
        output::print_line(&report.to_json().to_string());
    } else {
        output::print_line(&format!("\n{}", report.summary()));
    }
    let (_, unsolved, _) = report.counts();
    Ok(if unsolved == 0 { Exit::Done } else { Exit::Failed })
}

/// The tasks that are meant; a part of a name that fits none is a slip.
fn chosen(only: &[String]) -> anyhow::Result<Vec<AgentTask>> {
    let mut all = tasks::all();
    if let Some(part) = only.iter().find(|part| !all.iter().any(|task| task.name.contains(*part))) {
        return Err(exit::usage(format!(
            "no task has {part:?} in its name\n\nhint: parlor check agent --list"
        )));
    }
    all.retain(|task| only.is_empty() || only.iter().any(|part| task.name.contains(part)));
    Ok(all)
}

async fn run(
    check: &AgentCheck,
    tasks: Vec<AgentTask>,
    reach: &ReachAgent<'_>,
    asked: &AgentArgs,
) -> AgentReport {
    let mut each = |finding: &TaskFinding| {
        if !asked.json {
            output::print_line(&finding.line());
        } else if matches!(finding.outcome, TaskOutcome::Unsolved(_)) {
            output::print_error(&finding.line());
        }
    };
    check.run(tasks, reach, asked.at_once, &mut each).await
}

/// How the agent is started.
#[derive(Debug, Clone)]
struct Start {
    command: Vec<OsString>,
    /// The model of our own agent; `None` for another.
    own: Option<String>,
}

impl Start {
    fn of(asked: &AgentArgs, check: &AgentCheck) -> anyhow::Result<Start> {
        if !asked.command.is_empty() {
            return Ok(Start { command: super::absolute(&asked.command), own: None });
        }
        let exe = std::env::current_exe().context("cannot find this program's own path")?;
        let model = asked.api.model();
        let mut command = vec![exe.into_os_string()];
        command.extend(["serve", "--dialect", asked.dialect.name(), "--model", &model].map(OsString::from));
        if !check.asks() {
            command.extend(["--policy", "full"].map(OsString::from));
        }
        command.extend(match check.carrier() {
            Carrier::One => vec![OsString::from("--stdio")],
            Carrier::Two => vec![OsString::from("--socket"), OsString::from(SOCKET)],
        });
        Ok(Start { command, own: Some(model) })
    }

    /// The agent for one task.
    fn at(&self, ground: &AgentGround) -> io::Result<PeerCommand> {
        let prompt = ground.prompt.as_deref().unwrap_or(PROMPT);
        let filled = |word: &OsString| match word.to_str() {
            Some(text) => OsString::from(text.replace(URL, &ground.url).replace(PROMPT, prompt)),
            None => word.clone(),
        };
        let mut env = model_at(&ground.url);
        if let Some(model) = &self.own {
            env.extend(kept_in(&ground.home));
            settle(&ground.home, model, ground.window)?;
        }
        Ok(PeerCommand {
            command: self.command.iter().map(filled).collect(),
            cwd: Some(ground.cwd.clone()),
            env,
            guard: guard::watching(),
        })
    }
}

/// What tells agents where their model is, under the names that they look for.
fn model_at(url: &str) -> Vec<(OsString, OsString)> {
    let versioned = format!("{url}/v1");
    let set = [
        ("OPENAI_BASE_URL", versioned.as_str()),
        ("OPENAI_API_BASE", &versioned),
        ("OPENAI_HOST", url),
        ("OPENAI_API_KEY", KEY),
        ("ANTHROPIC_BASE_URL", url),
        ("ANTHROPIC_HOST", url),
        ("ANTHROPIC_API_KEY", KEY),
        // No proxy stands between an agent and this machine.
        ("NO_PROXY", "127.0.0.1"),
        ("no_proxy", "127.0.0.1"),
    ];
    set.into_iter().map(|(name, value)| (name.into(), value.into())).collect()
}

/// Our own agent keeps to folders of the task, and to no variable that was meant for others.
fn kept_in(home: &Path) -> Vec<(OsString, OsString)> {
    let folders = [("PARLOR_DATA_DIR", home.join("data")), ("PARLOR_CONFIG_DIR", home.join("config"))];
    let unset = ["PARLOR_WORKSPACE", "PARLOR_MODEL", "PARLOR_FETCH", "PARLOR_EPHEMERAL"];
    let folders = folders.into_iter().map(|(name, folder)| (name.into(), folder.into_os_string()));
    folders.chain(unset.map(|name| (name.into(), OsString::new()))).collect()
}

/// Tells our own agent how much its model takes.
fn settle(home: &Path, model: &str, window: Option<u64>) -> io::Result<()> {
    let folder = home.join("config");
    std::fs::create_dir_all(&folder)?;
    let Some(window) = window else { return Ok(()) };
    std::fs::write(folder.join("config.toml"), format!("[models.\"{model}\"]\nwindow = {window}\n"))
}
