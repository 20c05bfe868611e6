//! Questions of the program: whether a call may run, and what its model wants to know. Each is answered once.
//!
//! A yes never reaches further than what was shown: what lasts are the rules that the program offered, and nothing beside them.

use super::super::wire::{AgentRequest, Decision, ToAgent, UiResponse};
use super::ClaudeUi;
use super::hearing::Phase;
use domain::ask::{Answer, AskKind, Assessment, Choice, Risk, Scope};
use domain::command::{Receipt, Refusal, RefusalKind};
use domain::content::Json;
use domain::fact::{FactAsk, Key, Said};
use domain::ids::AskId;
use domain::port::Ticket;
use rolekit::said::{Change, DescribedCall};
use roles::{Drift, Item, Seen, UiCx};
use serde::Deserialize;
use serde_json::{Map, Value};
use std::collections::VecDeque;

/// Most questions that may be open.
const MAX_OPEN: usize = 256;
/// Most questions of one form.
const MAX_FORM: usize = 32;
/// The tool by which the model asks the person.
const ASK_USER: &str = "AskUserQuestion";
/// What the model is told where nobody gave a reason.
const NO: &str = "The person said no.";

/// A question that waits for its answer.
#[derive(Debug)]
pub(super) struct OpenAsk {
    /// The program's name of its request.
    id: String,
    input: Json,
    tool: Key,
    form: Form,
}

#[derive(Debug)]
enum Form {
    /// With what a yes that lasts would change.
    Permission { always: Vec<Value> },
    /// The question that is asked, those that are left, and what was said so far.
    Questions { asked: Question, left: VecDeque<Question>, said: Map<String, Value> },
}

/// One question of the model.
#[derive(Debug, Clone, Deserialize)]
struct Question {
    question: String,
    #[serde(default)]
    header: String,
    #[serde(default)]
    options: Vec<QuestionOption>,
    #[serde(rename = "multiSelect", default)]
    many: bool,
}

#[derive(Debug, Clone, Deserialize)]
struct QuestionOption {
    label: String,
    #[serde(default)]
    description: Option<String>,
}

#[derive(Deserialize)]
struct Questions {
    questions: VecDeque<Question>,
}

fn respond(cx: &mut UiCx<'_>, id: &str, response: Decision) {
    let response = UiResponse::Success { request_id: id, response };
    rolekit::lines::send(cx, &ToAgent::ControlResponse { response });
}

fn deny(cx: &mut UiCx<'_>, id: &str, message: &str, interrupt: bool) {
    respond(cx, id, Decision::Deny { message: message.to_owned(), interrupt });
}

impl ClaudeUi {
    /// The program asks something.
    pub(super) fn asked(&mut self, cx: &mut UiCx<'_>, id: &str, request: AgentRequest) {
        if request.subtype != "can_use_tool" {
            cx.drift(Drift::new("control_request", "a request that we do not offer", &request.subtype));
            let error = format!("not offered here: {}", request.subtype);
            let response = UiResponse::Error { request_id: id, error: &error };
            return rolekit::lines::send(cx, &ToAgent::ControlResponse { response });
        }
        let key = Key::from(id);
        let stopped = self.run.as_ref().is_some_and(|run| run.stopped);
        if stopped || self.asks.len() >= MAX_OPEN || self.asks.contains_key(&key) {
            return deny(cx, id, "Nobody can be asked: the run was stopped.", stopped);
        }
        let tool = Key::from(request.tool_use_id.as_str());
        let input = request.input.clone().unwrap_or_else(Json::empty);
        let run = self.hearing(cx);
        let call = run.listener.noted(&tool).map(|call| call.phase = Phase::Asked);
        if request.tool_name == ASK_USER
            && let Ok(Questions { mut questions }) = serde_json::from_str(input.as_str())
            && questions.len() <= MAX_FORM
            && let Some(asked) = questions.pop_front()
        {
            let form = Form::Questions { asked, left: questions, said: Map::new() };
            return self.put(cx, key, OpenAsk { id: id.to_owned(), input, tool, form });
        }
        let always = lasting(&request);
        let (title, kind) = lift_consent(&request, call.map(|()| tool.clone()), &input, &always);
        let form = Form::Permission { always };
        self.asks.insert(key.clone(), OpenAsk { id: id.to_owned(), input, tool, form });
        self.say(cx, Said::AskOpened { ask: key, title, kind, deadline: None });
    }

    /// Puts the next question of a form.
    fn put(&mut self, cx: &mut UiCx<'_>, ask: Key, open: OpenAsk) {
        let Form::Questions { asked, .. } = &open.form else { return };
        let choice = |option: &QuestionOption| Choice {
            id: option.label.clone(),
            label: option.label.clone(),
            detail: option.description.clone(),
        };
        let kind = match asked.options.is_empty() {
            true => AskKind::Text {
                message: asked.question.clone(),
                placeholder: None,
                default: None,
                secret: false,
                multiline: false,
            },
            false => AskKind::Choose {
                message: asked.question.clone(),
                choices: asked.options.iter().map(choice).collect(),
                many: asked.many,
            },
        };
        let title = if asked.header.is_empty() { "Claude asks".to_owned() } else { asked.header.clone() };
        self.asks.insert(ask.clone(), open);
        self.say(cx, Said::AskOpened { ask, title, kind: FactAsk::Other(kind), deadline: None });
    }

    /// The program takes a question back; one that it takes back because we stopped it is forgotten already.
    pub(super) fn taken_back(&mut self, cx: &mut UiCx<'_>, id: &str) {
        let found = self.asks.iter().find(|(_, open)| open.id == id).map(|(key, _)| key.clone());
        if let Some(ask) = found {
            self.asks.remove(&ask);
            self.say(cx, Said::AskWithdrawn { ask, expired: false });
        }
    }

    /// The person's answer as the program wants it.
    pub(super) fn lower_answer(
        &mut self,
        cx: &mut UiCx<'_>,
        seen: Seen<'_>,
        ticket: Ticket,
        ask: AskId,
        answer: Answer,
    ) {
        let key = seen.names.ask(ask).cloned();
        let Some((key, open)) = key.and_then(|key| self.asks.remove_entry(&key)) else {
            let refusal =
                Refusal::new(RefusalKind::AskOver, "Claude Code does not wait for this answer any more");
            return cx.settle(ticket, Err(refusal));
        };
        let OpenAsk { id, input, tool, form } = open;
        match form {
            Form::Permission { always } => self.lower_permission(cx, &id, &tool, input, always, answer),
            Form::Questions { asked, left, said } => {
                self.lower_question(
                    cx,
                    &key,
                    OpenAsk { id, input, tool, form: Form::Permission { always: Vec::new() } },
                    (asked, left, said),
                    answer,
                );
            }
        }
        cx.settle(ticket, Ok(Receipt::Done));
    }

    fn lower_permission(
        &mut self,
        cx: &mut UiCx<'_>,
        id: &str,
        tool: &Key,
        input: Json,
        always: Vec<Value>,
        answer: Answer,
    ) {
        let updated_permissions = match &answer {
            Answer::Allow { scope: Scope::Once, .. } | Answer::Confirmed(true) => Vec::new(),
            Answer::Allow { scope: Scope::Session, .. } => {
                cx.loss(
                    Item::ConsentScope,
                    "a yes until the session closes: the same action is answered by the hub",
                );
                Vec::new()
            }
            Answer::Allow { scope: Scope::Always, .. } => always,
            Answer::Deny { .. }
            | Answer::Confirmed(false)
            | Answer::Chosen(_)
            | Answer::Entered(_)
            | Answer::Dismissed => {
                let reason = match &answer {
                    Answer::Deny { reason } => reason.clone(),
                    _ => None,
                };
                if let Some(call) = self.run.as_mut().and_then(|run| run.listener.noted(tool)) {
                    call.phase = Phase::Denied;
                }
                // Without a reason there is nothing to go on with.
                return deny(cx, id, reason.as_deref().unwrap_or(NO), reason.is_none());
            }
        };
        respond(cx, id, Decision::Allow { updated_input: input, updated_permissions });
        if let Some(run) = &mut self.run {
            run.start(cx, tool);
        }
    }

    /// A question of a form was answered: the next one, or the whole form.
    fn lower_question(
        &mut self,
        cx: &mut UiCx<'_>,
        key: &Key,
        open: OpenAsk,
        (asked, mut left, mut said): (Question, VecDeque<Question>, Map<String, Value>),
        answer: Answer,
    ) {
        let text = match answer {
            Answer::Chosen(labels) => labels.join(", "),
            Answer::Entered(text) => text,
            Answer::Allow { .. } | Answer::Deny { .. } | Answer::Confirmed(_) | Answer::Dismissed => {
                return deny(cx, &open.id, "The person closed the question without an answer.", false);
            }
        };
        said.insert(asked.question, Value::String(text));
        if let Some(asked) = left.pop_front() {
            // Each is a question of its own here, and one request there.
            let form = Form::Questions { asked, left, said };
            return self.put(cx, Key::from(format!("{key}+")), OpenAsk { form, ..open });
        }
        let answered = match serde_json::from_str::<Value>(open.input.as_str()) {
            Ok(Value::Object(mut input)) => {
                input.insert("answers".to_owned(), Value::Object(said));
                Json::verbatim(Value::Object(input).to_string())
            }
            _ => open.input,
        };
        respond(cx, &open.id, Decision::Allow { updated_input: answered, updated_permissions: Vec::new() });
        if let Some(run) = &mut self.run {
            run.start(cx, &open.tool);
        }
    }
}

/// What a yes that lasts would change: the rules that the program offers. Folders and modes that it offers besides reach further than the
/// call, and are left.
fn lasting(request: &AgentRequest) -> Vec<Value> {
    if request.suppress_always_allow_rule {
        return Vec::new();
    }
    let says = |offer: &Value, name: &str, word: &str| offer.get(name).and_then(Value::as_str) == Some(word);
    let rule = |offer: &&Value| says(offer, "type", "addRules") && says(offer, "behavior", "allow");
    request.permission_suggestions.iter().filter(rule).cloned().collect()
}

/// The rules as the program writes them in its settings.
fn rules(always: &[Value]) -> Option<String> {
    let rules = always.iter().filter_map(|offer| offer.get("rules")?.as_array()).flatten();
    let rule = |rule: &Value| {
        let tool = rule.get("toolName")?.as_str()?;
        Some(match rule.get("ruleContent").and_then(Value::as_str) {
            Some(content) => format!("{tool}({content})"),
            None => tool.to_owned(),
        })
    };
    let rules: Vec<String> = rules.filter_map(rule).collect();
    Some(rules.join(", ")).filter(|rules| !rules.is_empty())
}

/// The members of a call that a person has to see in their own form.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Shown {
    command: Option<String>,
    file_path: Option<String>,
    notebook_path: Option<String>,
    content: Option<String>,
    new_source: Option<String>,
    old_string: Option<String>,
    new_string: Option<String>,
    plan: Option<String>,
}

impl Shown {
    fn change(&self) -> Option<Change> {
        let path = self.file_path.as_ref().or(self.notebook_path.as_ref())?.clone();
        let lines = |mark: char, text: &Option<String>| -> String {
            text.iter().flat_map(|text| text.lines()).map(|line| format!("{mark}{line}\n")).collect()
        };
        let new = self.new_string.clone().or(self.content.clone()).or(self.new_source.clone());
        let text = format!("{}{}", lines('-', &self.old_string), lines('+', &new));
        let sides = self.old_string.iter().cloned().chain(new).collect();
        Some(Change { path, text, sides }).filter(|change| !change.text.is_empty())
    }
}

fn lift_consent(
    request: &AgentRequest,
    tool: Option<Key>,
    input: &Json,
    always: &[Value],
) -> (String, FactAsk) {
    let shown: Shown = serde_json::from_str(input.as_str()).unwrap_or_default();
    let name = request.tool_name.clone();
    let title = match (&request.title, &shown.command, &shown.plan) {
        (Some(title), ..) => title.clone(),
        (None, Some(_), _) => "Run a command?".to_owned(),
        (None, None, Some(_)) => "Leave plan mode and do this?".to_owned(),
        (None, None, None) => format!("Run {name}?"),
    };
    let changes: Vec<Change> = shown.change().into_iter().collect();
    let mut words: Vec<String> = shown.plan.into_iter().collect();
    words.extend(request.decision_reason.clone());
    // As a rule it is one of the arguments, which are shown anyway.
    words.extend(request.description.clone().filter(|about| !input.as_str().contains(about.as_str())));
    words.extend(request.blocked_path.as_ref().map(|path| format!("about {path}")));
    let described = DescribedCall { title: &title, changes, command: shown.command, words, args: input };
    let (preview, reasons) = described.shown();
    let risk = if matches!(name.as_str(), "Bash" | "WebFetch") { Risk::High } else { Risk::Medium };
    // How dangerous it is and whether it can be undone is not said on this wire.
    let assessment = Assessment { risk, reasons, reversible: true, unrated: true };
    let kind = FactAsk::Consent {
        tool,
        name,
        args: input.clone(),
        preview,
        assessment,
        rule: rules(always),
        takes_reason: true,
    };
    (title, kind)
}
