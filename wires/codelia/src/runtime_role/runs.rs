//! `run.start` and `run.cancel`: a prompt becomes a run, and a run is stopped.

use super::super::run_name;
use super::super::wire::{
    InputPart, RunCancelParams, RunCancelResult, RunInput, RunStartParams, RunStartResult, Status, code,
};
use super::requests::{CodeliaMemo, invalid, read};
use super::{COMMAND_LINE, CodeliaRuntime, RESULT_PAUSE, client_tools};
use domain::command::{Command, PromptOptions, Receipt, RunCommand, Target};
use domain::content::{Input, Part};
use domain::event::Outcome;
use domain::ids::SessionId;
use rolekit::endpoint::{MAX_PENDING, reply};
use rolekit::exchange::{Answering, Asking, Exchange, Fault, Next, Request, Settlement, TableRole as _};
use roles::{Item, Lane, LinkEffect, RuntimeCx, RuntimeEffect};
use wire::WireId;
use wire::jsonrpc::{self, RpcError};

pub(super) const REQUESTS: &[Exchange<CodeliaRuntime>] = &[
    Exchange::of::<RunStartParams>(CodeliaRuntime::run_start, CodeliaRuntime::run_started),
    Exchange::of::<RunCancelParams>(CodeliaRuntime::run_cancel, CodeliaRuntime::run_cancelled),
];

impl CodeliaRuntime {
    fn run_start(&mut self, cx: &mut RuntimeCx<'_>, request: Request<'_, Self>) -> Asking<Self> {
        let params: RunStartParams = read(request.params)?;
        let target = target(params.session_id.as_deref())?;
        let input = lift_input(params.input)?;
        let empty = input.text.trim().is_empty() && input.attachments.is_empty();
        if empty && !params.force_compaction {
            return Err(invalid("the input is empty"));
        }
        let mut offers = client_tools::lift_offers(params.tools)?;
        if self.endpoint.greeting.follows && !offers.is_empty() {
            offers.clear();
            if !std::mem::replace(&mut self.offered_tools, true) {
                cx.loss(Item::Tools, "tools that the UI offers are not used by the runtime behind this one");
            }
        }
        if let Some(context) = params.ui_context {
            let command = Command::UpdateContext(self.lift_context(context));
            self.tell_hub(cx, target.clone(), command, CodeliaMemo::Nothing);
        }
        if params.force_compaction {
            let command = Command::Run(RunCommand::Compact { instruction: None });
            let pending = request.pending(CodeliaMemo::Compact(target.clone()));
            let ticket = self.endpoint.pending.command(cx, target, command, pending);
            Self::await_compaction(cx, ticket);
            return Ok(Next::Nothing);
        }
        let tools = offers.iter().map(|offer| offer.name.clone()).collect();
        let options = PromptOptions { offers, ..PromptOptions::default() };
        let command = Command::Run(RunCommand::Prompt { input, options });
        Ok(Next::Hub(target, command, CodeliaMemo::RunStart(tools)))
    }

    fn run_started(&mut self, cx: &mut RuntimeCx<'_>, settled: Settlement<'_, Self>) -> Answering<Self> {
        let tools = match settled.memo {
            CodeliaMemo::Compact(_) => return self.compacted(cx, settled),
            CodeliaMemo::RunStart(tools) => tools,
            _ => return Err(Fault::Odd),
        };
        let Receipt::Started { session, run } = settled.with? else { return Err(Fault::Odd) };
        self.client_tools.offered(&session, run, tools);
        let run_id = run_name::write(&session, run);
        let result = RunStartResult { run_id, session_id: Some(session.to_string()) };
        self.send_result(cx, jsonrpc::result(settled.from, &result));
        if self.own_runs.len() >= MAX_PENDING {
            self.own_runs.pop_first();
        }
        self.own_runs.insert((session, run));
        Ok(Next::Nothing)
    }

    /// Sends the result of `run.start`; nothing may share a chunk with it for the client that drops the rest.
    pub(super) fn send_result(&self, cx: &mut RuntimeCx<'_>, line: String) {
        if self.client != COMMAND_LINE {
            return cx.send(line);
        }
        cx.effects.push(RuntimeEffect::Link(LinkEffect::SendAlone {
            lane: Lane::MAIN,
            line,
            pause: RESULT_PAUSE,
        }));
    }

    fn run_cancel(&mut self, cx: &mut RuntimeCx<'_>, request: Request<'_, Self>) -> Asking<Self> {
        let params: RunCancelParams = read(request.params)?;
        if let Some(status) = self.compaction(&params.run_id) {
            return Ok(reply(&RunCancelResult { ok: false, status: Some(status) }));
        }
        let not_found = || RpcError::new(code::RUN_NOT_FOUND, "run not found");
        let (session, run) = run_name::read(&params.run_id).ok_or_else(not_found)?;
        let telling = self.tellings.get_mut(&session).filter(|telling| telling.run == run);
        let told = telling.map(|telling| telling.stopping = true).is_some();
        let command = Command::Run(RunCommand::Cancel { run: Some(run), reason: params.reason });
        let (target, pending) = (Target::Session(session.clone()), request.pending(CodeliaMemo::Nothing));
        let ticket = self.endpoint.pending.command(cx, target, command, pending);
        if told {
            self.stops.ask(session, run, ticket);
            Self::await_stop(cx);
        }
        Ok(Next::Nothing)
    }

    fn run_cancelled(&mut self, cx: &mut RuntimeCx<'_>, settled: Settlement<'_, Self>) -> Answering<Self> {
        match settled.with {
            Ok(Receipt::Cancelling { run }) if run.outcome.is_none() => {
                self.stopping(cx, settled.ticket, settled.from.clone());
                Ok(Next::Nothing)
            }
            Ok(Receipt::Cancelling { run }) => {
                self.not_stopping(cx, settled.ticket);
                Ok(reply(&lower_cancel(run.outcome.as_ref())))
            }
            Ok(_) => Err(Fault::Odd),
            Err(refusal) => {
                self.not_stopping(cx, settled.ticket);
                Err(refusal.into())
            }
        }
    }
}

/// The answer to `run.cancel` for a run that is being stopped.
pub(super) fn cancel_accepted(id: &WireId) -> String {
    jsonrpc::result(id, &lower_cancel(None))
}

fn lower_cancel(outcome: Option<&Outcome>) -> RunCancelResult {
    let status = match outcome {
        None => return RunCancelResult { ok: true, status: None },
        Some(Outcome::Done) => Status::Completed,
        Some(Outcome::Cancelled) => Status::Cancelled,
        Some(Outcome::Failed(_) | Outcome::Interrupted | Outcome::Lost) => Status::Error,
    };
    RunCancelResult { ok: false, status: Some(status) }
}

/// No session named means the current one; a name that cannot be one is unknown.
fn target(session_id: Option<&str>) -> Result<Target, RpcError> {
    match session_id {
        None => Ok(Target::Current),
        Some(id) => SessionId::parse(id)
            .map(Target::Session)
            .ok_or_else(|| RpcError::new(code::SESSION_NOT_FOUND, "session not found")),
    }
}

fn lift_input(input: RunInput) -> Result<Input, RpcError> {
    let parts = match input {
        RunInput::Text { text } => return Ok(Input::text(text)),
        RunInput::Parts { parts } => parts,
    };
    let mut lifted = Input::default();
    for part in parts {
        match part {
            InputPart::Text { text } => {
                if !lifted.text.is_empty() {
                    lifted.text.push_str("\n\n");
                }
                lifted.text.push_str(&text);
            }
            InputPart::ImageUrl { image_url } => {
                let (mime, base64) = data_url(&image_url.url)
                    .ok_or_else(|| invalid("an image must come along as a base64 data: address"))?;
                lifted.attachments.push(Part::Image { mime: mime.to_owned(), base64: base64.into() });
            }
        }
    }
    Ok(lifted)
}

/// Media type and base64 of a `data:` address.
pub(super) fn data_url(url: &str) -> Option<(&str, &str)> {
    let (head, base64) = url.strip_prefix("data:")?.split_once(',')?;
    let mime = head.strip_suffix(";base64")?;
    (mime.starts_with("image/") && !base64.is_empty()).then_some((mime, base64))
}
