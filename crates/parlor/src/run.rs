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
use host::{rooms, stack, worktrees};
use remote::elsewhere;
use std::io::Read;

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
            return Err(exit::usage("stdin is the prompt or a file that goes along, not both"));
        }
        prompt.clear();
        std::io::stdin().take(headless::MAX_PIPED).read_to_string(&mut prompt)?;
    }
    if prompt.trim().is_empty() {
        return Err(exit::usage("there is nothing to say\n\nhint: parlor run \"list files\""));
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
    run.usual_model = Some(own.model.to_string());
    // While it runs it is one of the live ones: nobody takes its folder away, and the fleet shows it.
    let _announcement = Announcement::quietly(&own.hub, &own.cwd, "run").await;
    let exit = headless::converse(&own.hub, own.start, said, &run, &[], stops).await;
    aloud::stop(own.engine, &own.hub).await;
    tree.iter().for_each(worktree_end::told_kept);
    exit
}
