//! `parlor check`: the conformance kit for other people's programs, and for our own.

mod agent;
pub(crate) mod relay;

use crate::exit::{self, Exit};
use crate::output;
use anyhow::Context;
use domain::harmless::quoted;
use host::guard;
use host::peer_trust;
use kit::check::{CheckReport, Expected, ScenarioOutcome, Suite, Tested, Wishes};
use kit::peer::{Peer, PeerAddress, PeerCommand};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What the program under test is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum TestedRole {
    /// It runs an agent.
    Runtime,
    /// A person sits at it.
    Ui,
}

impl From<TestedRole> for Tested {
    fn from(role: TestedRole) -> Tested {
        match role {
            TestedRole::Runtime => Tested::Runtime,
            TestedRole::Ui => Tested::Ui,
        }
    }
}

/// Check whether a program keeps to its protocol.
///
/// Each scenario starts the program anew in an empty directory and plays the other side: handshake, runs, consent, cancelling, and what
/// goes wrong in practice (torn lines, garbage, a slow reader, late and double answers). In the command, `{socket}` becomes the path of a
/// socket; for a UI, `{runtime}` becomes a program to start as its runtime. A UI has to say one prompt by itself. Exit code 0 when all
/// is as expected, 1 when not, also when nothing could be judged. `parlor check agent` checks how well an agent works.
#[derive(Debug, clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    after_help = "\
Examples:
  parlor check --dialect asst --role runtime -- python3 agent.py
  parlor check --dialect nous --role runtime -- \\
    parlor serve --dialect nous --socket {socket} --ephemeral
  parlor check --dialect codelia --role ui -- \\
    parlor attach --dialect codelia --prompt hello -- {runtime}
  parlor check --dialect asst --role runtime --explain run-ends
  parlor check agent"
)]
pub(crate) struct CheckArgs {
    #[command(subcommand)]
    agent: Option<CheckAgent>,
    #[command(flatten)]
    program: Option<Check>,
}

#[derive(Debug, clap::Subcommand)]
enum CheckAgent {
    Agent(agent::AgentArgs),
}

/// Checks what was asked for.
pub(crate) async fn check(asked: CheckArgs) -> anyhow::Result<Exit> {
    match (asked.agent, asked.program) {
        (Some(CheckAgent::Agent(asked)), _) => agent::agent(asked).await,
        (None, Some(asked)) => program(asked).await,
        (None, None) => {
            Err(exit::usage("say what to check\n\nhint: --dialect D --role ROLE -- COMMAND, or `agent`"))
        }
    }
}

/// A program, and how it is checked.
#[derive(Debug, clap::Args)]
struct Check {
    /// The protocol that it speaks.
    #[arg(long, value_name = "DIALECT", value_parser = crate::flags::dialect())]
    dialect: dialects::Dialect,
    /// What the program is.
    #[arg(long, value_enum)]
    role: TestedRole,
    /// Only scenarios whose name contains this.
    #[arg(long, value_name = "TEXT")]
    only: Option<String>,
    /// Print the scenarios and run nothing.
    #[arg(long)]
    list: bool,
    /// Tell what one scenario asks, and where that stands, and run nothing.
    #[arg(long, value_name = "NAME", conflicts_with_all = ["list", "only"])]
    explain: Option<String>,
    /// Print the result as JSON.
    #[arg(long)]
    json: bool,
    /// Write the result as JUnit, for build servers.
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
    /// Scenarios that are known to fail, one name per line with `# why`. One that passes, or does not exist, is a failure too.
    #[arg(long, value_name = "FILE")]
    expected_failures: Option<PathBuf>,
    /// How long to wait for anything that is due, such as 20s.
    #[arg(long, default_value_t = 20, value_name = "TIME", value_parser = crate::flags::seconds)]
    patience: u64,
    /// How many scenarios run at the same time.
    #[arg(long, default_value_t = 4, value_name = "N")]
    at_once: usize,
    /// A prompt that gets a short answer.
    #[arg(help_heading = "Prompts", long, value_name = "TEXT")]
    plain_prompt: Option<String>,
    /// A prompt that needs a harmless tool.
    #[arg(help_heading = "Prompts", long, value_name = "TEXT")]
    tool_prompt: Option<String>,
    /// A prompt that is answered slowly, within seconds.
    #[arg(help_heading = "Prompts", long, value_name = "TEXT")]
    slow_prompt: Option<String>,
    /// A prompt that makes the agent append the line `once` to parlor-check.txt, which it has to ask for.
    #[arg(help_heading = "Prompts", long, value_name = "TEXT")]
    consent_prompt: Option<String>,
    /// The program listens on this Unix socket (a UI: the kit listens, start the UI once per scenario).
    #[arg(long, value_name = "PATH", conflicts_with = "command")]
    socket: Option<PathBuf>,
    /// The program and its arguments.
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

/// Runs the scenarios against the program and reports.
async fn program(asked: Check) -> anyhow::Result<Exit> {
    let name = asked.dialect.name();
    let tested = Tested::from(asked.role);
    let mut suite =
        Suite::of(name, tested).with_context(|| format!("there are no scenarios for {name} yet"))?;
    if let Some(part) = &asked.only
        && !suite.only(part)
    {
        let hint = format!("parlor check --dialect {name} --role {} --list", tested.word());
        return Err(exit::usage(format!("no scenario has {part:?} in its name\n\nhint: {hint}")));
    }
    if let Some(scenario) = &asked.explain {
        let hint = format!("parlor check --dialect {name} --role {} --list", tested.word());
        let told = suite.explain(scenario);
        let told =
            told.ok_or_else(|| exit::usage(format!("there is no scenario {scenario:?}\n\nhint: {hint}")))?;
        output::print_line(&told);
        return Ok(Exit::Done);
    }
    if asked.list {
        for scenario in &suite.scenarios {
            let section = scenario.says.map_or("left open", |quote| quote.section);
            output::print_line(&format!("{:<26} {section:<28} {}", scenario.name, scenario.expects));
        }
        return Ok(Exit::Done);
    }
    let expected = match &asked.expected_failures {
        None => Expected::default(),
        Some(path) => {
            let text =
                std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
            Expected::parse(&text)
        }
    };
    let report = run(&suite, &asked, &expected).await?;
    if let Some(path) = &asked.junit {
        std::fs::write(path, report.to_junit())
            .with_context(|| format!("cannot write {}", path.display()))?;
    }
    if asked.json {
        output::print_line(&report.to_json().to_string());
    } else {
        output::print_line(&format!("\n{}", report.summary()));
    }
    // With `--only`, what is named in the file and left out here is not unknown.
    let whole = Suite::of(name, tested).unwrap_or(suite);
    let wrong = expected.against(&whole, &report);
    for what in &wrong {
        output::print_error(&format!("not as expected: {what}"));
    }
    if report.counts().1 > 0 && !asked.json {
        let (name, role) = (report.dialect, report.tested.word());
        output::print_line(&format!("why: parlor check --dialect {name} --role {role} --explain NAME"));
    }
    if report.score().is_none() {
        output::print_error(NOTHING_JUDGED);
    }
    Ok(if wrong.is_empty() && report.score().is_some() { Exit::Done } else { Exit::Failed })
}

/// Said where every scenario was skipped, or left open by the document.
const NOTHING_JUDGED: &str = "nothing was judged, so nothing is known of this program\n\nhint: each scenario above says why; without \
    --only all are tried, and --tool-prompt, --slow-prompt and --consent-prompt say what this program acts on";

async fn run(suite: &Suite, asked: &Check, expected: &Expected) -> anyhow::Result<CheckReport> {
    if asked.socket.is_none() && asked.command.is_empty() {
        return Err(exit::usage("say what to check\n\nhint: --socket PATH, or -- COMMAND"));
    }
    let defaults = Wishes::default();
    let wishes = Wishes {
        plain: asked.plain_prompt.clone().unwrap_or(defaults.plain),
        tool: asked.tool_prompt.clone().unwrap_or(defaults.tool),
        slow: asked.slow_prompt.clone().unwrap_or(defaults.slow),
        consent: asked.consent_prompt.clone().unwrap_or(defaults.consent),
        patience: Duration::from_secs(asked.patience),
        lull: defaults.lull,
    };
    let relay = relay::command()?;
    let command = absolute(&asked.command);
    let reach = |cwd: PathBuf| {
        let address = match &asked.socket {
            Some(path) => PeerAddress::Socket(path.clone(), peer_trust::trust),
            None => PeerAddress::Command(PeerCommand {
                command: command.clone(),
                cwd: Some(cwd),
                guard: guard::watching(),
                ..PeerCommand::default()
            }),
        };
        let (carrier, tested, relay) = (suite.carrier, suite.tested, relay.clone());
        let reaching = async move {
            match tested {
                Tested::Runtime => Peer::runtime(&address, carrier).await,
                Tested::Ui => Peer::ui(&address, carrier, &relay).await,
            }
        };
        Box::pin(reaching) as std::pin::Pin<Box<dyn Future<Output = _> + Send>>
    };
    let mut each = |finding: &kit::check::Finding| {
        let line = CheckReport::line(finding, expected);
        if !asked.json {
            output::print_line(&line);
        } else if matches!(finding.found, ScenarioOutcome::Failed(_)) {
            output::print_error(&line);
        }
    };
    // A program that was not started by us is one and the same for all.
    let at_once = if asked.socket.is_some() { 1 } else { asked.at_once };
    Ok(suite.run(&reach, &wishes, at_once, &mut each).await)
}

/// The program is started in a directory of its own, so a relative path to it, or to a file that it is given, must not stay relative.
/// What was typed is told where it was changed.
fn absolute(command: &[OsString]) -> Vec<OsString> {
    let mut command = command.to_vec();
    for word in command.iter_mut().skip(1) {
        let file = Path::new(&*word);
        if file.is_relative()
            && file.is_file()
            && let Ok(whole) = std::path::absolute(file)
        {
            output::print_error(&format!(
                "{} is given as {}: each scenario starts in an empty folder",
                quoted(&word.to_string_lossy()),
                quoted(&whole.to_string_lossy())
            ));
            *word = whole.into();
        }
    }
    if let Some(program) = command.first_mut().filter(|program| program.as_encoded_bytes().contains(&b'/'))
        && let Ok(path) = std::path::absolute(&*program)
    {
        *program = path.into();
    }
    command
}
