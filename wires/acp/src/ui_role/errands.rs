//! Files and terminals that the agent wants of its client: handed on as errands, and answered with what became of them.
//!
//! Nothing is decided here: who does errands judges each by our mode. Invariants: every request is answered exactly once; what acts is
//! wanted for a run under way that nobody stopped, and shown in it; what a stopped run left running is ended.

use super::super::wire::{
    CreateTerminalParams, CreateTerminalResult, ExitStatus, KillTerminalParams, Nothing, ReadTextFileParams,
    ReadTextFileResult, ReleaseTerminalParams, TerminalOutputParams, TerminalOutputResult, WaitForExitParams,
    WriteTextFileParams, code,
};
use super::AcpUi;
use super::asks::Form;
use domain::ask::{Answer, Scope};
use domain::content::Json;
use domain::errand::{
    CommandEnd, CommandErrand, Errand, ErrandCause, ErrandConsent, ErrandDone, ErrandId, ErrandNews,
    ErrandStep,
};
use domain::event::ERRAND_REFUSED;
use domain::fact::{Fact, FactAsk, Key, Said};
use domain::signal::Level;
use domain::tool::{Progress, ToolOutcome, ToolResult};
use rolekit::rpc::Call;
use roles::{Drift, UiCx};
use std::collections::BTreeMap;
use wire::WireId;
use wire::jsonrpc::{self, INTERNAL_ERROR, RpcError};

/// Most errands that may be under way, commands that run included.
const MAX_UNDER_WAY: usize = 64;
/// A variable in which one agent names its session to each command. It changes nothing, and what is shown should be what runs.
const SESSION_VARIABLE: &str = "AGENT_SESSION_ID";
/// How the agent calls itself that cannot make a file unless it can read it first.
const READS_WHAT_IT_MAKES: &str = "gemini";
/// What a command that was stopped ended by.
const STOPPED_BY: &str = "SIGTERM";

/// What is being done for the agent.
#[derive(Debug, Default)]
pub(super) struct Errands {
    /// Somebody does them.
    done_here: bool,
    last: u64,
    under_way: BTreeMap<ErrandId, UnderWay>,
}

#[derive(Debug)]
struct UnderWay {
    /// The request, until it is answered.
    request: Option<WireId>,
    /// The run that it is shown in, once it is shown.
    shown: Option<Key>,
    what: What,
}

/// What is told when it is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum What {
    Reads,
    /// Something with a command that was started.
    Tends,
    Writes,
    Starts,
}

impl What {
    /// Whether it changes something.
    fn acts(self) -> bool {
        matches!(self, What::Writes | What::Starts)
    }
}

impl Errands {
    pub(super) fn new(done_here: bool) -> Errands {
        Errands { done_here, ..Errands::default() }
    }

    /// A name that no errand has had.
    pub(super) fn next_id(&mut self) -> ErrandId {
        self.last += 1;
        ErrandId(self.last)
    }

    /// Whether somebody does errands.
    pub(super) fn are_done(&self) -> bool {
        self.done_here
    }

    /// The agent is gone: nobody waits for an answer.
    pub(super) fn forget(&mut self) {
        self.under_way.clear();
    }
}

/// Whether a method is a request for something to be done by our hands.
pub(super) fn is_errand(method: &str) -> bool {
    [
        ReadTextFileParams::METHOD,
        WriteTextFileParams::METHOD,
        CreateTerminalParams::METHOD,
        TerminalOutputParams::METHOD,
        WaitForExitParams::METHOD,
        KillTerminalParams::METHOD,
        ReleaseTerminalParams::METHOD,
    ]
    .contains(&method)
}

/// A request as it is understood: for which session, and what.
fn lift(method: &str, raw: &str) -> Result<(String, Errand), serde_json::Error> {
    Ok(match method {
        ReadTextFileParams::METHOD => {
            let ReadTextFileParams { session_id, path, line, limit, .. } = serde_json::from_str(raw)?;
            (session_id, Errand::Read { path, line, limit })
        }
        WriteTextFileParams::METHOD => {
            let WriteTextFileParams { session_id, path, content, .. } = serde_json::from_str(raw)?;
            (session_id, Errand::Write { path, text: content })
        }
        CreateTerminalParams::METHOD => {
            let params: CreateTerminalParams = serde_json::from_str(raw)?;
            let env = params.env.into_iter().map(|named| (named.name, named.value));
            let command = CommandErrand {
                command: params.command,
                args: params.args,
                env: env.filter(|(name, _)| name != SESSION_VARIABLE).collect(),
                cwd: params.cwd,
                output_limit: params.output_byte_limit,
            };
            (params.session_id, Errand::Start(command))
        }
        WaitForExitParams::METHOD => {
            let WaitForExitParams { session_id, terminal_id, .. } = serde_json::from_str(raw)?;
            (session_id, Errand::Wait { terminal: terminal_id })
        }
        KillTerminalParams::METHOD => {
            let KillTerminalParams { session_id, terminal_id, .. } = serde_json::from_str(raw)?;
            (session_id, Errand::Kill { terminal: terminal_id })
        }
        ReleaseTerminalParams::METHOD => {
            let ReleaseTerminalParams { session_id, terminal_id, .. } = serde_json::from_str(raw)?;
            (session_id, Errand::Release { terminal: terminal_id })
        }
        _ => {
            let TerminalOutputParams { session_id, terminal_id, .. } = serde_json::from_str(raw)?;
            (session_id, Errand::Output { terminal: terminal_id })
        }
    })
}

impl AcpUi {
    /// The agent wants something done.
    pub(super) fn errand_wanted(
        &mut self,
        cx: &mut UiCx<'_>,
        id: &WireId,
        method: &str,
        raw: &str,
    ) -> Result<(), serde_json::Error> {
        let (session, errand) = lift(method, raw)?;
        if self.session.as_ref() != Some(&session) {
            cx.drift(Drift::new(method, "for a session that is not shown", &session));
            refuse(cx, id, code::NOT_FOUND, &format!("session {session} not found"));
            return Ok(());
        }
        // What makes room is never refused for want of it.
        let makes_room =
            matches!(errand, Errand::Kill { .. } | Errand::Release { .. } | Errand::Output { .. });
        if self.errands.under_way.len() >= MAX_UNDER_WAY && !makes_room {
            refuse(cx, id, INTERNAL_ERROR, "too much is under way; release what is over, or try again");
            return Ok(());
        }
        let what = match &errand {
            Errand::Write { .. } => What::Writes,
            Errand::Start(_) => What::Starts,
            Errand::Read { .. } => What::Reads,
            // What a request never is comes last.
            Errand::Output { .. }
            | Errand::Wait { .. }
            | Errand::Kill { .. }
            | Errand::Release { .. }
            | Errand::Judge(_)
            | Errand::Before { .. }
            | Errand::After { .. }
            | Errand::Files(_) => What::Tends,
        };
        if what == What::Reads && self.prompt.is_some() && !self.is_stopped() {
            // The person may have to be asked, which is shown in a run.
            self.prompt_taken(cx);
        }
        if what.acts() {
            let nothing_runs = self.prompt.is_none() && self.run.is_none();
            if nothing_runs || self.is_stopped() {
                cx.drift(Drift::new(method, "for no prompt that is under way", &session));
                refuse(cx, id, INTERNAL_ERROR, "no prompt is under way that this could be for");
                return Ok(());
            }
            self.prompt_taken(cx);
        }
        let errand_id = self.errands.next_id();
        let under_way = UnderWay { request: Some(id.clone()), shown: None, what };
        self.errands.under_way.insert(errand_id, under_way);
        cx.errand(errand_id, ErrandStep::Wanted(errand));
        Ok(())
    }

    /// Something became of an errand.
    pub(super) fn errand_news(&mut self, cx: &mut UiCx<'_>, id: ErrandId, news: ErrandNews) {
        if self.judged(cx, id, &news)
            || self.watch_news(cx, id, &news)
            || !self.errands.under_way.contains_key(&id)
        {
            return;
        }
        match news {
            ErrandNews::Asks(consent) => self.ask_about(cx, id, *consent),
            ErrandNews::Begins { name, args } => self.show_errand(cx, id, name, args),
            ErrandNews::Done { done, seen } => self.errand_done(cx, id, done, seen),
            ErrandNews::Wrote(text) => {
                if let Some(run) = self.errands.under_way.get(&id).and_then(|errand| errand.shown.clone()) {
                    let progress = Progress::Output(text);
                    cx.fact(Fact { run: Some(run), said: Said::ToolProgress { tool: key_of(id), progress } });
                }
            }
            ErrandNews::Over(result) => {
                if let Some(over) = self.errands.under_way.remove(&id) {
                    end_shown(cx, id, &over, ToolOutcome::Done, result);
                }
            }
            ErrandNews::Refused { cause: ErrandCause::Missing, .. } if self.reads_what_it_makes(id) => {
                self.errand_done(cx, id, ErrandDone::Text(String::new()), None);
            }
            ErrandNews::Refused { cause, why } => {
                let (number, outcome) = match cause {
                    ErrandCause::Missing => (code::NOT_FOUND, ToolOutcome::Failed),
                    ErrandCause::Mode => (INTERNAL_ERROR, ToolOutcome::Denied),
                    ErrandCause::Failed => (INTERNAL_ERROR, ToolOutcome::Failed),
                };
                if cause == ErrandCause::Mode {
                    self.tell_denied(cx, id, &why);
                }
                self.errand_refused(cx, id, number, outcome, &why);
            }
        }
    }

    /// What our mode denies was shown to nobody: the person hears of it.
    fn tell_denied(&self, cx: &mut UiCx<'_>, id: ErrandId, why: &str) {
        let is_shown = self.errands.under_way.get(&id).is_some_and(|errand| errand.shown.is_some());
        if let Some(run) = self.run.as_ref().filter(|_| !is_shown) {
            let text = format!("The agent wanted something done here, and was refused: {why}");
            run.listener
                .say(cx, Said::Notice { level: Level::Warning, code: ERRAND_REFUSED.to_owned(), text });
        }
    }

    /// The person is asked, in the run that it is for.
    fn ask_about(&mut self, cx: &mut UiCx<'_>, id: ErrandId, consent: ErrandConsent) {
        let run = self.run.as_ref().filter(|run| !run.stopped).map(|run| run.key().clone());
        let Some(under_way) = self.errands.under_way.get_mut(&id) else { return };
        let (Some(run), Some(request)) = (run, under_way.request.clone()) else {
            return self.errand_cancelled(cx, id);
        };
        under_way.shown = Some(run.clone());
        let ErrandConsent { title, name, args, preview, assessment, rule } = consent;
        let tool = Some(key_of(id));
        let kind = FactAsk::Consent { tool, name, args, preview, assessment, rule, takes_reason: true };
        self.opened(cx, Some(run), &request, Form::Errand(id), title, kind, None);
    }

    /// What the person said to it.
    pub(super) fn errand_answered(&mut self, cx: &mut UiCx<'_>, id: ErrandId, answer: Answer) {
        let scope = match answer {
            Answer::Allow { scope, .. } => Ok(scope),
            Answer::Confirmed(true) => Ok(Scope::Once),
            Answer::Deny { reason } => Err(reason),
            Answer::Confirmed(false) | Answer::Chosen(_) | Answer::Entered(_) | Answer::Dismissed => {
                Err(None)
            }
        };
        match scope {
            Ok(scope) => {
                let run = self.errands.under_way.get(&id).and_then(|errand| errand.shown.clone());
                if let Some(run) = run {
                    let started = Said::ToolStarted { tool: key_of(id), name: None, args: None };
                    cx.fact(Fact { run: Some(run), said: started });
                }
                cx.errand(id, ErrandStep::Allowed(scope));
            }
            Err(reason) => {
                cx.errand(id, ErrandStep::Dropped);
                // Without a reason the person wants to speak first.
                let stops = reason.is_none();
                let why = match reason {
                    Some(reason) => format!("the person said no: {reason}"),
                    None => "the person said no".to_owned(),
                };
                self.errand_refused(cx, id, INTERNAL_ERROR, ToolOutcome::Denied, &why);
                if stops {
                    self.stop_prompt(cx);
                }
            }
        }
    }

    /// It is being done, and nobody was asked: whoever watches sees it.
    fn show_errand(&mut self, cx: &mut UiCx<'_>, id: ErrandId, name: String, args: Json) {
        let Some(run) = self.run.as_ref().map(|run| run.key().clone()) else { return };
        let Some(under_way) = self.errands.under_way.get_mut(&id) else { return };
        under_way.shown = Some(run.clone());
        let tool = key_of(id);
        let proposed = Said::ToolProposed { tool: tool.clone(), name, args };
        cx.fact(Fact { run: Some(run.clone()), said: proposed });
        // Our own mode let it pass.
        cx.fact(Fact { run: Some(run.clone()), said: Said::NeedsNoConsent { tool: tool.clone() } });
        let started = Said::ToolStarted { tool, name: None, args: None };
        cx.fact(Fact { run: Some(run), said: started });
    }

    fn errand_done(&mut self, cx: &mut UiCx<'_>, id: ErrandId, done: ErrandDone, seen: Option<ToolResult>) {
        let Some(under_way) = self.errands.under_way.get_mut(&id) else { return };
        if let Some(request) = under_way.request.take() {
            cx.send(lower_done(&request, done));
        }
        // A command goes on after it was started.
        if under_way.what != What::Starts
            && let Some(over) = self.errands.under_way.remove(&id)
        {
            end_shown(cx, id, &over, ToolOutcome::Done, seen.unwrap_or_default());
        }
    }

    fn errand_refused(
        &mut self,
        cx: &mut UiCx<'_>,
        id: ErrandId,
        number: i64,
        outcome: ToolOutcome,
        why: &str,
    ) {
        let Some(over) = self.errands.under_way.remove(&id) else { return };
        if let Some(request) = &over.request {
            refuse(cx, request, number, why);
        }
        end_shown(cx, id, &over, outcome, ToolResult::text(why));
    }

    /// Nobody wants it any more.
    pub(super) fn errand_cancelled(&mut self, cx: &mut UiCx<'_>, id: ErrandId) {
        cx.errand(id, ErrandStep::Dropped);
        self.errand_refused(cx, id, code::CANCELLED, ToolOutcome::Cancelled, "cancelled");
    }

    /// The agent takes a request back.
    pub(super) fn errand_taken_back(&mut self, cx: &mut UiCx<'_>, request: &WireId) {
        let mut under_way = self.errands.under_way.iter();
        let found = under_way.find(|(_, errand)| errand.request.as_ref() == Some(request));
        if let Some(id) = found.map(|(id, _)| *id) {
            self.errand_cancelled(cx, id);
        }
    }

    /// A run is over, and with it what it left running: nobody would see it any more, and nobody could stop it.
    pub(super) fn run_left(&mut self, cx: &mut UiCx<'_>, stopped: bool) {
        let left = self.errands.under_way.iter();
        let left = left.filter(|(_, errand)| errand.what == What::Starts || stopped && errand.what.acts());
        for id in left.map(|(id, _)| *id).collect::<Vec<_>>() {
            self.errand_cancelled(cx, id);
        }
    }
}

impl AcpUi {
    /// Whether this is how the agent reads a file before it makes it: it gives up at whatever error says that it is not there.
    fn reads_what_it_makes(&self, id: ErrandId) -> bool {
        if self.errands.under_way.get(&id).is_none_or(|errand| errand.what != What::Reads) {
            return false;
        }
        let info = self.agent.as_ref().and_then(|agent| agent.agent_info.as_ref());
        info.is_some_and(|info| info.name.starts_with(READS_WHAT_IT_MAKES))
    }
}

/// Its name among the tools and the questions of a run.
fn key_of(id: ErrandId) -> Key {
    Key::from(format!("errand-{}", id.0))
}

fn end_shown(cx: &mut UiCx<'_>, id: ErrandId, over: &UnderWay, outcome: ToolOutcome, result: ToolResult) {
    if let Some(run) = over.shown.clone() {
        cx.fact(Fact { run: Some(run), said: Said::ToolEnded { tool: key_of(id), outcome, result } });
    }
}

fn refuse(cx: &mut UiCx<'_>, request: &WireId, number: i64, why: &str) {
    cx.send(jsonrpc::error(Some(request), &RpcError::new(number, why)));
}

fn lower_done(request: &WireId, done: ErrandDone) -> String {
    match done {
        ErrandDone::Nothing | ErrandDone::Allowed(_) | ErrandDone::Files { .. } => {
            jsonrpc::result(request, &Nothing::default())
        }
        ErrandDone::Text(content) => {
            jsonrpc::result(request, &ReadTextFileResult { content, ..ReadTextFileResult::default() })
        }
        ErrandDone::Started(terminal_id) => {
            jsonrpc::result(request, &CreateTerminalResult { terminal_id, ..CreateTerminalResult::default() })
        }
        ErrandDone::Output { text, truncated, end } => {
            let exit_status = end.map(lower_end);
            let result = TerminalOutputResult { output: text, truncated, exit_status, ..Default::default() };
            jsonrpc::result(request, &result)
        }
        ErrandDone::Ended(end) => jsonrpc::result(request, &lower_end(end)),
    }
}

fn lower_end(end: CommandEnd) -> ExitStatus {
    let (exit_code, signal) = match end {
        CommandEnd::Exited(code) => (code.map(i64::from), None),
        CommandEnd::Stopped => (None, Some(STOPPED_BY.to_owned())),
    };
    ExitStatus { exit_code, signal, ..ExitStatus::default() }
}
