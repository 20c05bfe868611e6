//! Questions of the agent: permissions and forms, those about its errands, and the answers to them.
//!
//! Every request is answered exactly once: by the person, or as cancelled when its prompt is stopped or over. A late yes is never sent:
//! some agents run the tool even then. What an option means is said by its kind; authority is never widened to find one that fits.

use super::super::tool_words;
use super::super::wire::{
    ConsentNote, CreateElicitationParams, CreateElicitationResult, ElicitationAction, ElicitationMode,
    FormField, Meta, PermissionKind, PermissionOption, PermissionOutcome, Raw, RequestPermissionParams,
    RequestPermissionResult, SelectedOption, ToolKind, Withdrawn,
};
use super::AcpUi;
use super::calls::Tool;
use super::judged::{JudgedCall, asked_call};
use domain::ask::{Answer, AskKind, Assessment, Choice, Preview, Risk, Scope};
use domain::command::{Receipt, Refusal, RefusalKind};
use domain::errand::ErrandId;
use domain::fact::{Fact, FactAsk, Key, Said};
use domain::ids::{AskId, Millis};
use domain::port::Ticket;
use domain::signal::{Level, Signal};
use domain::tool::{ToolOutcome, ToolResult};
use rolekit::said::DescribedCall;
use roles::{Drift, Item, Seen, UiCx};
use serde_json::Value;
use std::collections::{BTreeMap, VecDeque};
use wire::WireId;
use wire::jsonrpc::{self, INVALID_PARAMS, RpcError};

/// Most questions that may be open.
const MAX_OPEN: usize = 256;
/// Most fields of a form.
const MAX_FIELDS: usize = 64;
/// What a lasting yes allows, where the agent does not say it.
const OF_THE_AGENTS: &str = "what the agent means by always";
const YES: &str = "yes";
const ALLOW_SESSION: &str = "allow_session";

/// A request that waits for its answer.
#[derive(Debug)]
pub(super) struct OpenAsk {
    pub(super) id: WireId,
    pub(super) form: Form,
}

/// What is asked, and what is needed to answer.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "a few at a time, for as long as a person thinks")]
pub(super) enum Form {
    Permission {
        options: Vec<PermissionOption>,
        tool: Option<Key>,
    },
    /// The fields that are still to be asked for, the one that is asked, and what was said so far.
    Fields {
        asked: (String, FormField),
        left: VecDeque<(String, FormField)>,
        required: Vec<String>,
        said: BTreeMap<String, Raw>,
        title: String,
    },
    /// A page to open, by the agent's name for it.
    Page(String),
    /// A yes, and nothing else.
    Agreement,
    /// Something that is to be done by our hands.
    Errand(ErrandId),
    /// Something that the agent does by its own hands, which was judged here.
    Judged(ErrandId),
}

impl AcpUi {
    /// The agent asks whether a tool may run.
    pub(super) fn permission(&mut self, cx: &mut UiCx<'_>, id: &WireId, mut params: RequestPermissionParams) {
        let ours = self.session.as_ref() == Some(&params.session_id);
        let nothing_runs = self.prompt.is_none() && self.run.is_none();
        if !ours || nothing_runs || self.is_stopped() || self.asks.len() >= MAX_OPEN {
            // Nobody can be asked about a session that is not shown, or a prompt that is stopped or over.
            cx.drift(Drift::new(
                "session/request_permission",
                "a question about nothing that is shown",
                &params.session_id,
            ));
            return cx.send(cancelled(id));
        }
        self.prompt_taken(cx);
        let Some(run) = &mut self.run else { return cx.send(cancelled(id)) };
        let (call, tool, stands) = run.asked_about(cx, &mut params);
        // With no room for its call it is about one of its own.
        let about = Some(call.clone()).filter(|key| run.listener.noted(key).is_some());
        let run = run.key().clone();
        let note = params.meta.and_then(|meta| meta.parlor?.consent);
        let waits =
            note.as_ref().and_then(|note| note.waits).map(|waits| Millis(cx.now.0.saturating_add(waits)));
        let title = note.as_ref().map_or_else(|| title_of(&tool), |note| note.title.clone());
        let kind = lift_consent(&tool, about, &params.options, note);
        if self.judging.is_on && self.judging.len() < MAX_OPEN {
            let asked = asked_call(&tool, &self.cwd);
            let (request, options) = (id.clone(), params.options);
            let (tool, deadline) = ((call, stands), waits);
            let call = JudgedCall { request, options, tool, title, kind, deadline, is_shown: false };
            return self.judge(cx, call, asked);
        }
        let form = Form::Permission { options: params.options, tool: stands.then_some(call) };
        self.opened(cx, Some(run), id, form, title, kind, waits);
    }

    /// Puts a question, once.
    #[expect(clippy::too_many_arguments, reason = "the members of one question, named at each call")]
    pub(super) fn opened(
        &mut self,
        cx: &mut UiCx<'_>,
        run: Option<Key>,
        id: &WireId,
        form: Form,
        title: String,
        kind: FactAsk,
        deadline: Option<Millis>,
    ) {
        let key = Key::from(id.to_string());
        if self.asks.contains_key(&key) {
            return cx.drift(Drift::new("question", "the id of a question that is still open", &key));
        }
        self.asks.insert(key.clone(), OpenAsk { id: id.clone(), form });
        cx.fact(Fact { run, said: Said::AskOpened { ask: key, title, kind, deadline } });
    }

    /// A yes about a call that was under way already: what stands for the question is over with it, and what comes of the call stands with the
    /// call.
    pub(super) fn allowed_beside(&mut self, cx: &mut UiCx<'_>, asked: &WireId) {
        let Some(run) = &self.run else { return };
        let (tool, result) =
            (Key::from(asked.to_string()), ToolResult::text("allowed: it is part of the call above"));
        run.listener.say(cx, Said::ToolStarted { tool: tool.clone(), name: None, args: None });
        run.listener.say(cx, Said::ToolEnded { tool, outcome: ToolOutcome::Done, result });
    }

    /// The agent asks for something else: a form, field by field, or a page to open.
    pub(super) fn elicitation(&mut self, cx: &mut UiCx<'_>, id: &WireId, params: CreateElicitationParams) {
        let refuse = |cx: &mut UiCx<'_>, why: &str| {
            cx.send(jsonrpc::error(Some(id), &RpcError::new(INVALID_PARAMS, why)));
        };
        let elsewhere = params.session_id.is_some() && params.session_id != self.session;
        if elsewhere || self.is_stopped() || self.asks.len() >= MAX_OPEN {
            return cx.send(declined(id, ElicitationAction::Cancel));
        }
        // An agent may ask before it says a word: the question is one of this prompt.
        self.prompt_taken(cx);
        let run = self.run.as_ref().map(|run| run.key().clone());
        match params.mode {
            ElicitationMode::Form => {
                let schema = params.requested_schema.unwrap_or_default();
                let title = schema.title.clone().unwrap_or_else(|| params.message.clone());
                let mut fields: VecDeque<(String, FormField)> = schema.properties.into_iter().collect();
                if fields.len() > MAX_FIELDS {
                    return refuse(cx, "the form has too many fields");
                }
                let Some(asked) = fields.pop_front() else {
                    // A form without fields still wants a yes.
                    let kind =
                        AskKind::Confirm { message: params.message, yes: None, no: None, danger: false };
                    return self.opened(cx, run, id, Form::Agreement, title, FactAsk::Other(kind), None);
                };
                let word = params.meta.and_then(|meta| meta.parlor?.ask);
                let kind = lift_field(&params.message, &asked, word.as_deref());
                let (said, title_of) = (BTreeMap::new(), title.clone());
                let form =
                    Form::Fields { asked, left: fields, required: schema.required, said, title: title_of };
                self.opened(cx, run, id, form, title, FactAsk::Other(kind), None);
            }
            ElicitationMode::Url => {
                let Some(url) = params.url else { return refuse(cx, "there is no url") };
                let message = format!("{}\n\n{url}", params.message);
                let kind = AskKind::Confirm {
                    message,
                    yes: Some("I have opened it".to_owned()),
                    no: Some("No".to_owned()),
                    danger: true,
                };
                let form = Form::Page(params.elicitation_id.unwrap_or_default());
                let title = "The agent wants you to open a page".to_owned();
                self.opened(cx, run, id, form, title, FactAsk::Other(kind), None);
            }
            ElicitationMode::Other(mode) => refuse(cx, &format!("there is no mode {mode:?}")),
        }
    }

    /// The agent takes a question back: it is answered as cancelled, once.
    pub(super) fn taken_back(&mut self, cx: &mut UiCx<'_>, id: &WireId) {
        let key = self.asks.iter().find(|(_, open)| open.id == *id).map(|(key, _)| key.clone());
        if let Some((key, open)) = key.and_then(|key| self.asks.remove_entry(&key)) {
            self.say_no(cx, &open);
            let run = self.run.as_ref().map(|run| run.key().clone());
            cx.fact(Fact { run, said: Said::AskWithdrawn { ask: key, expired: false } });
        } else if !self.judged_taken_back(cx, id) {
            self.errand_taken_back(cx, id);
        }
    }

    /// What was done on a page is done.
    pub(super) fn completed(&mut self, cx: &mut UiCx<'_>, page: &str) {
        let open =
            self.asks.iter().find(|(_, open)| matches!(&open.form, Form::Page(known) if known == page));
        if let Some(key) = open.map(|(key, _)| key.clone())
            && let Some(open) = self.asks.remove(&key)
        {
            cx.send(accepted(&open.id, BTreeMap::new()));
            let run = self.run.as_ref().map(|run| run.key().clone());
            cx.fact(Fact { run, said: Said::AskWithdrawn { ask: key, expired: false } });
        }
    }

    /// The person's answer as the result of the agent's request.
    pub(super) fn lower_answer(
        &mut self,
        cx: &mut UiCx<'_>,
        seen: Seen<'_>,
        ticket: Ticket,
        ask: AskId,
        answer: Answer,
    ) {
        let key = seen.names.ask(ask).cloned();
        let Some((key, OpenAsk { id, form })) = key.and_then(|key| self.asks.remove_entry(&key)) else {
            let refusal =
                Refusal::new(RefusalKind::AskOver, "the agent does not wait for this answer any more");
            return cx.settle(ticket, Err(refusal));
        };
        match form {
            Form::Permission { options, tool } => {
                let (line, allowed) = self.lower_permission(cx, &id, &options, answer);
                cx.send(line);
                match (allowed, tool, &mut self.run) {
                    (true, Some(tool), Some(run)) => run.allowed(cx, &tool),
                    (true, None, Some(_)) => {
                        // Only what is decided is over.
                        cx.settle(ticket, Ok(Receipt::Done));
                        return self.allowed_beside(cx, &id);
                    }
                    _ => {}
                }
            }
            Form::Page(_) | Form::Agreement => {
                let agreed = matches!(answer, Answer::Confirmed(true));
                cx.send(if agreed {
                    accepted(&id, BTreeMap::new())
                } else {
                    declined(&id, ElicitationAction::Decline)
                });
            }
            Form::Errand(errand) => self.errand_answered(cx, errand, answer),
            Form::Judged(errand) => self.judged_answered(cx, errand, answer),
            form @ Form::Fields { .. } => self.next_field(cx, &key, id, form, answer),
        }
        cx.settle(ticket, Ok(Receipt::Done));
    }

    /// A field was filled in: the next one, or the whole form.
    fn next_field(&mut self, cx: &mut UiCx<'_>, key: &Key, id: WireId, form: Form, answer: Answer) {
        let Form::Fields { asked, mut left, required, mut said, title } = form else { return };
        match lower_field(&asked.1, required.contains(&asked.0), answer) {
            Filled::With(value) => {
                said.insert(asked.0, value);
            }
            Filled::LeftOut => {}
            // What does not fit is asked for again.
            Filled::Unfit => left.push_front(asked),
            Filled::Closed => return cx.send(declined(&id, ElicitationAction::Decline)),
        }
        let Some(next) = left.pop_front() else { return cx.send(accepted(&id, said)) };
        let kind = FactAsk::Other(lift_field("", &next, None));
        // Each field is a question of its own here, and one request there.
        let ask = Key::from(format!("{key}+"));
        let form = Form::Fields { asked: next, left, required, said, title: title.clone() };
        self.asks.insert(ask.clone(), OpenAsk { id, form });
        let run = self.run.as_ref().map(|run| run.key().clone());
        cx.fact(Fact { run, said: Said::AskOpened { ask, title, kind, deadline: None } });
    }

    /// The line that answers, and whether it is a yes. Where no option fits, the agent hears that the question was cancelled.
    pub(super) fn lower_permission(
        &self,
        cx: &mut UiCx<'_>,
        id: &WireId,
        options: &[PermissionOption],
        answer: Answer,
    ) -> (String, bool) {
        let of_kind = |kind: &PermissionKind| options.iter().find(|option| option.kind == *kind);
        let by_id = |id: &str| options.iter().find(|option| option.option_id == id);
        let (option, reason) = match &answer {
            Answer::Allow { scope: Scope::Once, .. } => (of_kind(&PermissionKind::AllowOnce), None),
            Answer::Allow { scope: Scope::Session, .. } => match by_id(ALLOW_SESSION) {
                Some(option) => (Some(option), None),
                None => {
                    cx.loss(
                        Item::ConsentScope,
                        "a yes until the session closes: the same action is answered by the hub",
                    );
                    (of_kind(&PermissionKind::AllowOnce), None)
                }
            },
            Answer::Allow { scope: Scope::Always, .. } => {
                let always = |option: &&PermissionOption| {
                    option.kind == PermissionKind::AllowAlways && option.option_id != ALLOW_SESSION
                };
                (options.iter().find(always), None)
            }
            Answer::Deny { reason } => (of_kind(&PermissionKind::RejectOnce), reason.clone()),
            Answer::Confirmed(true) => (of_kind(&PermissionKind::AllowOnce), None),
            Answer::Confirmed(false) => (of_kind(&PermissionKind::RejectOnce), None),
            Answer::Chosen(_) | Answer::Entered(_) | Answer::Dismissed => (None, None),
        };
        let yes = matches!(answer, Answer::Allow { .. } | Answer::Confirmed(true));
        let Some(option) = option else {
            if yes {
                let text = "The agent offers no yes of this reach, so it was told no.".to_owned();
                cx.signal(Signal::Notify { level: Level::Warning, text });
            }
            return (cancelled(id), false);
        };
        let option_id = option.option_id.clone();
        let outcome = PermissionOutcome::Selected(SelectedOption { option_id, ..SelectedOption::default() });
        let meta = reason.map(|reason| Meta { reason: Some(reason), ..Meta::default() });
        let result = RequestPermissionResult { outcome, meta, ..RequestPermissionResult::default() };
        (jsonrpc::result(id, &result), yes)
    }

    /// Whether the person stopped what runs: nothing of it is allowed any more.
    pub(super) fn is_stopped(&self) -> bool {
        self.run.as_ref().is_some_and(|run| run.stopped)
    }

    /// Answers every open question as cancelled.
    pub(super) fn cancel_asks(&mut self, cx: &mut UiCx<'_>) {
        for (_, open) in std::mem::take(&mut self.asks) {
            self.say_no(cx, &open);
        }
        self.cancel_judged(cx);
    }

    fn say_no(&mut self, cx: &mut UiCx<'_>, open: &OpenAsk) {
        match open.form {
            Form::Permission { .. } => cx.send(cancelled(&open.id)),
            Form::Fields { .. } | Form::Page(_) | Form::Agreement => {
                cx.send(declined(&open.id, ElicitationAction::Cancel));
            }
            Form::Errand(errand) => self.errand_cancelled(cx, errand),
            Form::Judged(errand) => self.drop_judged(cx, errand),
        }
    }
}

/// The answer to a question about a tool that nobody decides: the run is stopped, not shown here, or offers no fitting option.
pub(super) fn cancelled(id: &WireId) -> String {
    let outcome = PermissionOutcome::Cancelled(Withdrawn::default());
    jsonrpc::result(id, &RequestPermissionResult { outcome, ..RequestPermissionResult::default() })
}

fn declined(id: &WireId, action: ElicitationAction) -> String {
    jsonrpc::result(id, &CreateElicitationResult { action, ..CreateElicitationResult::default() })
}

fn accepted(id: &WireId, content: BTreeMap<String, Raw>) -> String {
    let content = Some(content).filter(|content| !content.is_empty());
    let action = ElicitationAction::Accept;
    jsonrpc::result(id, &CreateElicitationResult { action, content, ..CreateElicitationResult::default() })
}

fn title_of(tool: &Tool) -> String {
    match tool.kind {
        ToolKind::Execute => "Run a command?".to_owned(),
        _ if tool.title.is_empty() => format!("Run {}?", tool.known_as()),
        _ => format!("{}?", tool.title),
    }
}

fn lift_consent(
    tool: &Tool,
    key: Option<Key>,
    options: &[PermissionOption],
    note: Option<ConsentNote>,
) -> FactAsk {
    let args = tool.json();
    let always = |option: &&PermissionOption| {
        option.kind == PermissionKind::AllowAlways && option.option_id != ALLOW_SESSION
    };
    // A name that is only the kind again says nothing of what it would allow.
    let words = |option: &PermissionOption| match option.name.contains(' ') || !option.name.contains('_') {
        true => option.name.clone(),
        false => OF_THE_AGENTS.to_owned(),
    };
    let offered = options.iter().find(always).map(words);
    let command =
        || tool_words::command(&args).filter(|_| matches!(tool.kind, ToolKind::Execute | ToolKind::Unsaid));
    let (preview, beside) = match &note {
        Some(ConsentNote { command: Some(line), inner, .. }) => {
            (Some(Preview::Command { line: line.clone(), inner: inner.clone() }), Vec::new())
        }
        // A runtime of ours shows what is to be seen, and sends a change once for each of its places.
        Some(_) => {
            let change = tool.changes().into_iter().next();
            let words = Some(tool.words()).filter(|words| !words.is_empty());
            let text = || words.or(Some(tool.title.clone()).filter(|title| !title.is_empty()));
            let diff = change.map(|change| Preview::Diff { path: change.path, text: change.text });
            let run = || command().map(|line| Preview::Command { line, inner: Vec::new() });
            (diff.or_else(run).or_else(|| text().map(Preview::Text)), Vec::new())
        }
        None => {
            // The title of a command is not what the question is called.
            let of_command = tool.kind == ToolKind::Execute;
            let title = if of_command { "" } else { tool.title.as_str() };
            let mut words = vec![tool.words()];
            words.extend(of_command.then(|| tool.title.clone()));
            words.extend(tool.others());
            let (preview, beside) =
                DescribedCall { title, changes: tool.changes(), command: command(), words, args: &args }
                    .shown();
            let name = || Some(tool.title.clone()).filter(|title| !title.is_empty());
            (preview.or_else(|| name().map(Preview::Text)), beside)
        }
    };
    let (assessment, rule, takes_reason) = match note {
        Some(note) => {
            let told = note.risk.as_deref();
            let risk = match told {
                Some("low") => Risk::Low,
                Some("high") => Risk::High,
                Some("critical") => Risk::Critical,
                _ => Risk::Medium,
            };
            let (reasons, reversible) = (note.reasons, note.reversible);
            let assessment = Assessment { risk, reasons, reversible, unrated: told.is_none() };
            (assessment, note.rule.filter(|_| offered.is_some()), note.takes_reason)
        }
        None => {
            let risk = match tool.kind {
                ToolKind::Delete | ToolKind::Execute => Risk::High,
                _ => Risk::Medium,
            };
            // How dangerous it is and whether it can be undone is not said on this wire.
            (Assessment { risk, reasons: beside, reversible: true, unrated: true }, offered, false)
        }
    };
    FactAsk::Consent { tool: key, name: tool.known_as(), args, preview, assessment, rule, takes_reason }
}

/// One field as a question; `word` is ours for what kind of question it is.
fn lift_field(message: &str, (name, field): &(String, FormField), word: Option<&str>) -> AskKind {
    let label = field.title.clone().or_else(|| field.description.clone()).unwrap_or_else(|| name.clone());
    let message = if message.is_empty() { label } else { message.to_owned() };
    let default = field.default.as_ref().map(Raw::value);
    let text =
        default.as_ref().map(|value| value.as_str().map_or_else(|| value.to_string(), ToOwned::to_owned));
    let titled = field.one_of.iter().flatten().map(|choice| Choice {
        id: choice.value.clone(),
        label: choice.title.clone(),
        detail: choice.description.clone(),
    });
    let plain = |word: &String| Choice { id: word.clone(), label: word.clone(), detail: None };
    let choices: Vec<Choice> = titled.chain(field.words.iter().flatten().map(plain)).collect();
    match field.kind.as_str() {
        "boolean" => AskKind::Confirm { message, yes: None, no: None, danger: false },
        "array" => {
            let items = field.items.clone().unwrap_or_default();
            let titled = items.any_of.iter().flatten().map(|choice| Choice {
                id: choice.value.clone(),
                label: choice.title.clone(),
                detail: choice.description.clone(),
            });
            let choices = titled.chain(items.words.iter().flatten().map(plain)).collect();
            AskKind::Choose { message, choices, many: true }
        }
        _ if word == Some("confirm") && choices.len() == 2 => {
            let label = |at: usize| choices.get(at).map(|choice| choice.label.clone());
            AskKind::Confirm { message, yes: label(0), no: label(1), danger: false }
        }
        _ if !choices.is_empty() => AskKind::Choose { message, choices, many: false },
        _ if word == Some("edit") => AskKind::Edit { message, prefill: text.unwrap_or_default() },
        _ => AskKind::Text {
            message,
            placeholder: field.description.clone(),
            default: text,
            secret: false,
            multiline: false,
        },
    }
}

/// What was made of a field.
enum Filled {
    With(Raw),
    /// It need not be filled in.
    LeftOut,
    Unfit,
    /// Without an answer.
    Closed,
}

/// What was said to a field, as its type wants it.
fn lower_field(field: &FormField, required: bool, answer: Answer) -> Filled {
    let value = match (field.kind.as_str(), answer) {
        ("boolean", Answer::Confirmed(yes)) => Some(Value::from(yes)),
        ("array", Answer::Chosen(ids)) => Some(Value::from(ids)),
        (_, Answer::Confirmed(yes)) => {
            let mut choices = field.one_of.iter().flatten();
            choices.find(|choice| (choice.value == YES) == yes).map(|found| Value::from(found.value.clone()))
        }
        (_, Answer::Chosen(ids)) => ids.into_iter().next().map(Value::from),
        (_, Answer::Entered(text)) if !required && text.trim().is_empty() => return Filled::LeftOut,
        ("integer", Answer::Entered(text)) => text.trim().parse::<i64>().ok().map(Value::from),
        ("number", Answer::Entered(text)) => {
            text.trim().parse::<f64>().ok().filter(|number| number.is_finite()).map(Value::from)
        }
        (_, Answer::Entered(text)) => Some(Value::from(text)),
        (_, Answer::Allow { .. } | Answer::Deny { .. } | Answer::Dismissed) => return Filled::Closed,
    };
    value.map_or(Filled::Unfit, |value| Filled::With(Raw::keep(&value.to_string())))
}
