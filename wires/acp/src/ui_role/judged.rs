//! Permissions that are judged here before anybody is asked: by our mode and our rules, as what our own agent wants is.
//!
//! Invariants: every request is answered once; a yes is never longer than once on the wire, since the agent would not ask again and
//! whoever keeps the rules is here; what was shown and is another thing by the time of the yes is refused; what was stopped or taken back
//! while it was judged is answered as cancelled.

use super::super::wire::{PermissionOption, ToolKind};
use super::AcpUi;
use super::asks::Form;
use super::calls::Tool;
use domain::ask::{Answer, Scope};
use domain::content::Json;
use domain::errand::{
    AskedCall, AskedChange, Errand, ErrandConsent, ErrandDone, ErrandId, ErrandNews, ErrandStep,
};
use domain::event::ERRAND_REFUSED;
use domain::fact::{FactAsk, Key, Said};
use domain::ids::Millis;
use domain::signal::Level;
use domain::tool::{ToolOutcome, ToolResult};
use roles::{Drift, UiCx};
use serde_json::Value;
use std::collections::BTreeMap;
use wire::WireId;

/// Members of a call's input that are the line of a command.
const LINE: [&str; 2] = ["command", "cmd"];

/// Members that change nothing of what runs.
const FOR_EYES: [&str; 12] = [
    "description",
    "title",
    "justification",
    "reason",
    "timeout",
    "timeout_ms",
    "timeout_seconds",
    "yield_time_ms",
    "max_output_tokens",
    "call_id",
    "turn_id",
    "parsed_cmd",
];

/// Members of a call's input that say where a command runs.
const WHERE: [&str; 4] = ["cwd", "workdir", "directory", "dir_path"];

/// Permissions that are being judged, or were said yes to and are looked at once more.
#[derive(Debug, Default)]
pub(super) struct Judging {
    /// Whether that is done here.
    pub(super) is_on: bool,
    under_way: BTreeMap<ErrandId, JudgedCall>,
}

/// A permission that was asked for.
#[derive(Debug)]
pub(super) struct JudgedCall {
    pub(super) request: WireId,
    pub(super) options: Vec<PermissionOption>,
    /// The call in the record, and whether it stands for itself.
    pub(super) tool: (Key, bool),
    pub(super) title: String,
    pub(super) kind: FactAsk,
    pub(super) deadline: Option<Millis>,
    /// Whether the person was asked.
    pub(super) is_shown: bool,
}

impl Judging {
    pub(super) fn new(is_on: bool) -> Judging {
        Judging { is_on, ..Judging::default() }
    }

    pub(super) fn len(&self) -> usize {
        self.under_way.len()
    }

    /// The agent is gone: nobody waits for an answer.
    pub(super) fn forget(&mut self) {
        self.under_way.clear();
    }
}

impl AcpUi {
    /// Has a permission judged; whoever does that asks for the person, or says what it is.
    pub(super) fn judge(&mut self, cx: &mut UiCx<'_>, call: JudgedCall, asked: AskedCall) {
        if self.judging.under_way.values().any(|known| known.request == call.request) {
            let request = call.request.to_string();
            return cx.drift(Drift::new("question", "the id of a question that is still open", &request));
        }
        let id = self.errands.next_id();
        self.judging.under_way.insert(id, call);
        cx.errand(id, ErrandStep::Wanted(Errand::Judge(Box::new(asked))));
    }

    /// Something came of a judgement; `false` when this errand is none.
    pub(super) fn judged(&mut self, cx: &mut UiCx<'_>, id: ErrandId, news: &ErrandNews) -> bool {
        if !self.judging.under_way.contains_key(&id) {
            return false;
        }
        match news {
            ErrandNews::Asks(consent) => self.ask_judged(cx, id, consent),
            ErrandNews::Done { done: ErrandDone::Allowed(by), .. } => {
                let Some(call) = self.judging.under_way.remove(&id) else { return true };
                let yes = Answer::Allow { scope: Scope::Once, digest: None };
                let (line, allowed) = self.lower_permission(cx, &call.request, &call.options, yes);
                cx.send(line);
                match (allowed, call.tool, &mut self.run) {
                    (true, (tool, true), Some(run)) => {
                        run.listener.say(cx, Said::AllowedHere { tool: tool.clone(), by: by.clone() });
                        run.allowed(cx, &tool);
                    }
                    (true, (_, false), Some(_)) if call.is_shown => self.allowed_beside(cx, &call.request),
                    _ => {}
                }
            }
            ErrandNews::Refused { why, .. } => {
                let Some(call) = self.judging.under_way.remove(&id) else { return true };
                self.refuse_judged(cx, call, why);
            }
            ErrandNews::Begins { .. }
            | ErrandNews::Wrote(_)
            | ErrandNews::Over(_)
            | ErrandNews::Done { .. } => {}
        }
        true
    }

    fn refuse_judged(&mut self, cx: &mut UiCx<'_>, call: JudgedCall, why: &str) {
        let no = Answer::Deny { reason: Some(why.to_owned()) };
        let (line, _) = self.lower_permission(cx, &call.request, &call.options, no);
        cx.send(line);
        let Some(run) = &mut self.run else { return };
        let text = format!("The agent wanted to run {}, and was refused: {why}", call.title);
        run.listener.say(cx, Said::Notice { level: Level::Warning, code: ERRAND_REFUSED.to_owned(), text });
        if let (tool, true) = call.tool {
            run.listener.result(cx, &tool, ToolOutcome::Denied, ToolResult::text(why));
        }
    }

    /// The person is asked: what the agent showed, with what we make of it.
    fn ask_judged(&mut self, cx: &mut UiCx<'_>, id: ErrandId, ours: &ErrandConsent) {
        let run = self.run.as_ref().filter(|run| !run.stopped).map(|run| run.key().clone());
        let Some(call) = self.judging.under_way.get_mut(&id) else { return };
        call.is_shown = true;
        let request = call.request.clone();
        let Some(run) = run else { return self.drop_judged(cx, id) };
        let kind = match call.kind.clone() {
            FactAsk::Consent { tool, name, args, preview, assessment, .. } => FactAsk::Consent {
                tool,
                name,
                args,
                preview: ours.preview.clone().or(preview),
                assessment: if ours.assessment.unrated { assessment } else { ours.assessment.clone() },
                rule: ours.rule.clone(),
                takes_reason: true,
            },
            other => other,
        };
        let (title, deadline) = (call.title.clone(), call.deadline);
        self.opened(cx, Some(run), &request, Form::Judged(id), title, kind, deadline);
    }

    /// What the person said to it. A yes is looked at once more before it is said.
    pub(super) fn judged_answered(&mut self, cx: &mut UiCx<'_>, id: ErrandId, answer: Answer) {
        let scope = match answer {
            Answer::Allow { scope, .. } => Some(scope),
            Answer::Confirmed(true) => Some(Scope::Once),
            _ => None,
        };
        if let Some(scope) = scope {
            return cx.errand(id, ErrandStep::Allowed(scope));
        }
        cx.errand(id, ErrandStep::Dropped);
        if let Some(call) = self.judging.under_way.remove(&id) {
            let (line, _) = self.lower_permission(cx, &call.request, &call.options, answer);
            cx.send(line);
        }
    }

    /// Nobody wants to know any more: the agent hears that it was cancelled.
    pub(super) fn drop_judged(&mut self, cx: &mut UiCx<'_>, id: ErrandId) {
        cx.errand(id, ErrandStep::Dropped);
        if let Some(call) = self.judging.under_way.remove(&id) {
            cx.send(super::asks::cancelled(&call.request));
        }
    }

    /// The same for all of them; those that are shown are answered with their question.
    pub(super) fn cancel_judged(&mut self, cx: &mut UiCx<'_>) {
        for id in self.judging.under_way.keys().copied().collect::<Vec<_>>() {
            self.drop_judged(cx, id);
        }
    }

    /// The agent takes a request back that is still judged.
    pub(super) fn judged_taken_back(&mut self, cx: &mut UiCx<'_>, request: &WireId) -> bool {
        let mut under_way = self.judging.under_way.iter();
        let found = under_way.find(|(_, call)| call.request == *request).map(|(id, _)| *id);
        if let Some(id) = found {
            self.drop_judged(cx, id);
        }
        found.is_some()
    }
}

/// A call as it can be judged: a command by its line, a change by its texts. What shows anything else besides is not all that we know.
pub(super) fn asked_call(tool: &Tool, cwd: &str) -> AskedCall {
    let args = tool.json();
    let value: Value = serde_json::from_str(args.as_str()).unwrap_or_default();
    let line = line_of(&value).filter(|_| matches!(tool.kind, ToolKind::Execute | ToolKind::Unsaid));
    let changes: Vec<AskedChange> = match line {
        Some(_) => Vec::new(),
        None => tool.asked_changes(),
    };
    let named = WHERE.iter().find_map(|name| value.get(*name).and_then(Value::as_str));
    let changes_all =
        tool.kind == ToolKind::Edit && !changes.is_empty() && tells_no_more(&value, changes.len());
    let line_alone = line.is_some() && tells_no_more_than_a_line(&value);
    let is_whole = tool.others().is_empty() && (line_alone || changes_all);
    let cwd = Some(named.unwrap_or(cwd).to_owned()).filter(|cwd| !cwd.is_empty());
    AskedCall {
        name: tool.known_as(),
        args: Json::verbatim(args.as_str()),
        command: line,
        cwd,
        changes,
        is_whole,
    }
}

/// Whether the input of a change names no more files than are shown: a removal or a move beside them is shown by no text.
fn tells_no_more(args: &Value, shown: usize) -> bool {
    let Some(told) = args.get("changes") else { return true };
    let moves = |change: &Value| change.get("move_path").is_some_and(|to| !to.is_null());
    told.as_object().is_some_and(|files| files.len() <= shown && !files.values().any(moves))
}

/// The command line of a call, each word of a list quoted: what is judged must be what a shell would make of it.
fn line_of(args: &Value) -> Option<String> {
    let line = match args.get("command").or_else(|| args.get("cmd"))? {
        Value::String(line) => line.clone(),
        Value::Array(words) => {
            let words: Option<Vec<String>> = words.iter().map(|word| word.as_str().map(quoted)).collect();
            words?.join(" ")
        }
        _ => return None,
    };
    // A program with its arguments beside it is more than its line.
    let beside = args.get("args").is_some_and(|args| args.as_array().is_none_or(|args| !args.is_empty()));
    (!line.trim().is_empty() && !beside).then_some(line)
}

/// Whether all that the input of a command says is its line, where it runs and what is for eyes: arguments, variables, input or another
/// line beside it make it more than its line.
fn tells_no_more_than_a_line(args: &Value) -> bool {
    let Some(args) = args.as_object() else { return false };
    let count = |names: &[&str]| names.iter().filter(|name| args.contains_key(**name)).count();
    let says_nothing = |value: &Value| match value {
        Value::Null => true,
        Value::Array(values) => values.is_empty(),
        Value::Object(members) => members.is_empty(),
        _ => false,
    };
    let known = |name: &str| LINE.contains(&name) || WHERE.contains(&name) || FOR_EYES.contains(&name);
    count(&LINE) == 1
        && count(&WHERE) <= 1
        && args.iter().all(|(name, value)| known(name) || says_nothing(value))
}

/// A word as a shell reads it back.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,+@%".contains(c);
    match !word.is_empty() && word.chars().all(plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}
