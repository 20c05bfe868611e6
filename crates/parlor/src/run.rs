//! `parlor run`: one prompt to our own agent, without a screen.

use crate::exit::{self, Exit};
use crate::headless::attachments::{self, OnStdin};
use crate::headless::{self, PromptRequest, Run};
use crate::output;
use crate::{aloud, resumed, worktree_end};
use domain::ids::SessionId;
use host::announcement::Announcement;
use host::launch::Launch;
use host::stop::Stops;
use host::{rooms, settings, stack, worktrees};
use remote::elsewhere;
use std::io::Read;

/// The provider of the model that needs no key.
const OFFLINE: &str = "offline";
/// Why nobody else answers.
const NO_KEY: &str = "no provider's key is set, and no server of models was found";

/// Runs one prompt on our own agent.
pub(crate) async fn run(mut launch: Launch, mut run: Run) -> anyhow::Result<Exit> {
    launch.allow.clone_from(&run.allow);
    launch.continue_last |= run.continue_last;
    if let Some(id) = &run.resume {
        launch.resume = Some(Some(id.clone()));
    }
    let mut prompt = run.prompt.join(" ");
    let is_piped = prompt == attachments::STDIN;
    if is_piped {
        if run.takes_stdin() {
            return Err(exit::usage(
                "stdin is the prompt or an attached file, not both\n\nhint: say the prompt as words: git diff | parlor run --file - \"what does this change?\"",
            ));
        }
        prompt.clear();
        std::io::stdin().take(headless::MAX_PIPED).read_to_string(&mut prompt)?;
    }
    // As where there is no command at all: what is piped in is the prompt.
    let is_piped = is_piped
        || prompt.trim().is_empty()
            && !run.takes_stdin()
            && attachments::on_stdin() == OnStdin::Something
            && {
                std::io::stdin().take(headless::MAX_PIPED).read_to_string(&mut prompt)?;
                true
            };
    if prompt.trim().is_empty() {
        return Err(exit::usage("there is no prompt\n\nhint: parlor run \"list files\""));
    }
    if !is_piped && !run.takes_stdin() {
        match attachments::on_stdin() {
            OnStdin::Nothing => {}
            OnStdin::Something => run.file.push(attachments::STDIN.into()),
            OnStdin::Silent => output::print_error(&format!(
                "nothing came on stdin within {} s: going on without it (say < /dev/null if nothing will)",
                attachments::STDIN_WITHIN.tv_sec
            )),
        }
    }
    if let Some(worktree) = run.worktree.take() {
        launch.worktree = Some(worktree);
    }
    launch.copy.append(&mut run.copy);
    let tree = worktrees::enter(&mut launch, &output::stderr_log())?;
    let said = PromptRequest::of(prompt, &launch, &run)?;
    if let Some(kept) = elsewhere::find(&mut launch)? {
        return resumed::go_on(launch, kept, Some((said, run))).await;
    }
    if let Some(session) = launch.resume.iter().flatten().find_map(|id| SessionId::parse(id)) {
        rooms::make_way(&session).await?;
    }
    launch.is_headless = true;
    launch.answer_schema = said.schema();
    let mut stops = Stops::listen();
    let own = tokio::select! {
        own = stack::own(&launch, aloud::log()) => own?,
        signal = stops.next() => {
            let signal = exit::by(signal);
            if run.json {
                headless::stopped_early(signal);
            }
            return Ok(Exit::Cancelled(signal));
        }
    };
    if let Some(words) = &own.no_workspace {
        output::print_error(words);
    }
    // What is gone on with has its model; for the rest nobody has chosen this one.
    if own.model.provider == OFFLINE
        && own.start.is_none()
        && launch.model.is_none()
        && settings::read().config.model.is_none()
    {
        if !output::Stream::Err.is_terminal() {
            aloud::stop(own.engine, &own.hub).await;
            return Err(exit::usage(format!(
                "{NO_KEY}\n\nhint: `parlor login` saves a key, or set ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY; `--model offline` asks for the offline model, which understands a few plain requests"
            )));
        }
        output::print_error(&format!(
            "{NO_KEY}: the offline model answers, which understands a few plain requests; `parlor login` gives a real one"
        ));
    }
    run.usual_model = Some(own.model.to_string());
    // While it runs it is one of the live ones: nobody takes its folder away, and the fleet shows it.
    let _announcement = Announcement::quietly(&own.hub, &own.cwd, "run").await;
    let exit = headless::converse(&own.hub, own.start, said, &run, &[], stops).await;
    aloud::stop(own.engine, &own.hub).await;
    tree.iter().for_each(worktree_end::told_kept);
    exit
}
