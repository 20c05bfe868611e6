//! `session/prompt` and `session/steer`: what the person says begins a turn, waits for one, or goes into the one under way.

use super::super::blocks;
use super::super::wire::{
    ContentBlock, PromptParams, PromptResult, SteeringOutcome, SteeringParams, SteeringResult, code,
};
use super::AcpRuntime;
use super::commands::Slash;
use super::requests::{AcpMemo, invalid, not_here, read};
use domain::command::{
    Command, PromptOptions, QueueCommand, Receipt, RefusalKind, RunCommand, Target, WhenBusy,
};
use domain::content::Input;
use domain::queue::QueueKind;
use rolekit::endpoint::reply;
use rolekit::exchange::{Answering, Asking, Exchange, Fault, Next, Request, Settlement};
use roles::RuntimeCx;
use wire::jsonrpc::RpcError;

pub(super) const REQUESTS: &[Exchange<AcpRuntime>] = &[
    Exchange::of::<PromptParams>(AcpRuntime::prompt, AcpRuntime::prompted),
    Exchange::of::<SteeringParams>(AcpRuntime::steer, AcpRuntime::steered),
];

/// How often a prompt goes from the queue to a run of its own and back, where runs begin and end meanwhile.
const MAX_STEPS: u8 = 4;
/// The word of a client that wants to start a turn itself where nothing runs.
const PROMPT_REQUIRED: &str = "promptRequired";

impl AcpRuntime {
    fn prompt(&mut self, _: &mut RuntimeCx<'_>, request: Request<'_, Self>) -> Asking<Self> {
        let params: PromptParams = read(request.params)?;
        let session = self.known(&params.session_id)?;
        let target = Target::Session(session.clone());
        let mut input = lift_prompt(params.prompt)?;
        match self.commands.read(&input.text, &self.endpoint.can()) {
            Some(Slash::Compact { instruction }) => {
                let command = Command::Run(RunCommand::Compact { instruction });
                return Ok(Next::Hub(target, command, AcpMemo::Compact(session)));
            }
            Some(Slash::Skill(text)) => input.text = text,
            None => {}
        }
        let command = prompt_command(input.clone());
        Ok(Next::Hub(target, command, AcpMemo::Prompt { session, input, steps: 0 }))
    }

    /// A prompt was taken, or waits, or has to be put otherwise: a run may begin or end while it is on its way.
    fn prompted(&mut self, _: &mut RuntimeCx<'_>, settled: Settlement<'_, Self>) -> Answering<Self> {
        let AcpMemo::Prompt { session, input, steps } = settled.memo else {
            settled.with?;
            return Ok(reply(&PromptResult::default()));
        };
        let again = match settled.with {
            Ok(receipt @ (Receipt::Started { .. } | Receipt::Queued { .. })) => {
                let Some(known) = self.sessions.get_mut(&session) else {
                    let error = RpcError::new(code::NOT_FOUND, "the session was closed meanwhile");
                    return Err(Fault::Error(error));
                };
                match receipt {
                    Receipt::Queued { item, .. } => known.prompts.queued(settled.from.clone(), item),
                    Receipt::Started { run, .. } => known.prompts.started(settled.from.clone(), run),
                    _ => {}
                }
                return Ok(Next::Nothing);
            }
            Ok(_) => return Err(Fault::Odd),
            Err(refusal) if refusal.kind == RefusalKind::Busy && steps < MAX_STEPS => {
                Command::Queue(QueueCommand::Add { kind: QueueKind::FollowUp, input: input.clone() })
            }
            Err(refusal) if refusal.kind == RefusalKind::NoRun && steps < MAX_STEPS => {
                prompt_command(input.clone())
            }
            Err(refusal) => return Err(refusal.into()),
        };
        let memo = AcpMemo::Prompt { session: session.clone(), input, steps: steps + 1 };
        Ok(Next::Hub(Target::Session(session), again, memo))
    }

    /// Something that is said into the run under way.
    fn steer(&mut self, _: &mut RuntimeCx<'_>, request: Request<'_, Self>) -> Asking<Self> {
        if !self.endpoint.can().steer {
            return Err(not_here(request.method));
        }
        let params: SteeringParams = read(request.params)?;
        let session = self.known(&params.session_id)?;
        let input = lift_prompt(params.prompt)?;
        let idle = params.meta.and_then(|meta| meta.steering).and_then(|steering| steering.idle_behavior);
        // Without a word about it the text is said all the same: it begins a turn.
        let begins = idle.as_deref() != Some(PROMPT_REQUIRED);
        let command = Command::Queue(QueueCommand::Add { kind: QueueKind::Steer, input: input.clone() });
        let memo = AcpMemo::Steer { session: session.clone(), input: Some(input).filter(|_| begins) };
        Ok(Next::Hub(Target::Session(session), command, memo))
    }

    fn steered(&mut self, _: &mut RuntimeCx<'_>, settled: Settlement<'_, Self>) -> Answering<Self> {
        let outcome = match (settled.with, settled.memo) {
            (Ok(_), AcpMemo::SteeredAnew) => SteeringOutcome::StartedNewTurn,
            (Ok(_), _) => SteeringOutcome::Injected,
            (Err(refusal), memo) if refusal.kind == RefusalKind::NoRun => match memo {
                AcpMemo::Steer { session, input: Some(input) } => {
                    let (target, command) = (Target::Session(session), prompt_command(input));
                    return Ok(Next::Hub(target, command, AcpMemo::SteeredAnew));
                }
                _ => SteeringOutcome::PromptRequired,
            },
            (Err(refusal), _) => return Err(refusal.into()),
        };
        Ok(reply(&SteeringResult { outcome, ..SteeringResult::default() }))
    }
}

/// A prompt waits where a run is under way.
fn prompt_command(input: Input) -> Command {
    let options = PromptOptions { when_busy: WhenBusy::Queue, ..PromptOptions::default() };
    Command::Run(RunCommand::Prompt { input, options })
}

fn lift_prompt(prompt: Vec<ContentBlock>) -> Result<Input, RpcError> {
    let input = blocks::lift_prompt(prompt).map_err(|blocks::NotTaken(why)| invalid(why))?;
    if input.text.trim().is_empty() && input.attachments.is_empty() {
        return Err(invalid("the prompt is empty"));
    }
    Ok(input)
}
