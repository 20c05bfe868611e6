//! Questions of the runtime, and the answers to them.
//!
//! The wire has one kind of yes-or-no question. In a run it is a consent, about the tool call that waits for one or about what it says
//! itself; only a runtime that announces its consents may mean a mere confirm there. Every request is answered exactly once: by the person, or with a no when its run is stopped or over.

use super::super::runtime_role::{REMEMBER, WARNING};
use super::super::wire::{ConfirmParams, ConfirmResult, PickParams, PickResult, PromptParams, PromptResult};
use super::CodeliaUi;
use super::hearing::Tool;
use domain::ask::{Answer, AskKind, Assessment, Choice, Preview, Risk, Scope};
use domain::command::{Receipt, Refusal, RefusalKind};
use domain::content::Json;
use domain::fact::{Fact, FactAsk, Key, Said};
use domain::ids::AskId;
use domain::port::Ticket;
use rolekit::said::DescribedCall;
use roles::{Drift, Item, Seen, UiCx};
use wire::{WireId, jsonrpc};

/// Most questions that may be open.
const MAX_OPEN: usize = 256;
/// What "always" means where the runtime does not say it in words.
const UNNAMED_RULE: &str = "do not ask again";

/// What a question is about that names no tool.
const UNNAMED_TOOL: &str = "confirm";
/// Why such a question is of high risk.
const DANGER: &str = "the runtime calls it dangerous";

/// What stands above every question about a tool, and says nothing of it.
const HEADINGS: &[&str] = &["Run command?", "Run tool?"];

/// A request that waits for its answer.
#[derive(Debug)]
pub(super) struct OpenAsk {
    id: WireId,
    form: Form,
    /// The tool that it is about.
    tool: Option<Key>,
}

/// What the answer looks like.
#[derive(Debug, Clone, Copy)]
enum Form {
    Confirm,
    Prompt,
    Pick,
}

impl CodeliaUi {
    /// The runtime asks for a yes or a no: a consent where it is about a tool.
    pub(super) fn confirm(&mut self, cx: &mut UiCx<'_>, id: &WireId, params: ConfirmParams) {
        let announces = self.capabilities().supports_permission_preflight_events;
        let of_run = |key: &Key| params.run_id.as_deref().is_none_or(|run| *run == **key);
        let about =
            self.run.as_mut().filter(|run| of_run(run.key())).and_then(|run| run.asked_about(announces));
        let (kind, tool) = match about {
            Some((key, tool)) => (lift_consent(&params, key.clone(), tool), Some(key)),
            None if self.is_consent(&params, announces) => (lift_bare_consent(&params), None),
            None => (FactAsk::Other(lift_confirm(&params)), None),
        };
        self.opened(cx, id, Form::Confirm, params.run_id, params.title, kind, tool);
    }

    /// Whether a question that is about no tool call that we know of decides what the runtime does.
    fn is_consent(&self, params: &ConfirmParams, announces: bool) -> bool {
        let as_consents_do = params.allow_remember || params.allow_reason;
        match params.run_id {
            Some(_) => !announces || as_consents_do,
            None => self.run.is_some() && as_consents_do,
        }
    }

    /// The runtime asks for a text.
    pub(super) fn prompt(&mut self, cx: &mut UiCx<'_>, id: &WireId, params: PromptParams) {
        let kind = AskKind::Text {
            message: params.message,
            placeholder: None,
            default: params.default_value,
            secret: params.secret,
            multiline: params.multiline,
        };
        self.opened(cx, id, Form::Prompt, params.run_id, params.title, FactAsk::Other(kind), None);
    }

    /// The runtime asks to choose.
    pub(super) fn pick(&mut self, cx: &mut UiCx<'_>, id: &WireId, params: PickParams) {
        let choices = params.items.into_iter().map(|item| Choice {
            id: item.id,
            label: item.label,
            detail: item.detail,
        });
        let kind = AskKind::Choose { message: String::new(), choices: choices.collect(), many: params.multi };
        self.opened(cx, id, Form::Pick, params.run_id, params.title, FactAsk::Other(kind), None);
    }

    #[expect(clippy::too_many_arguments, reason = "the members of one request, named at each call")]
    fn opened(
        &mut self,
        cx: &mut UiCx<'_>,
        id: &WireId,
        form: Form,
        run: Option<String>,
        title: String,
        kind: FactAsk,
        tool: Option<Key>,
    ) {
        let key = Key::from(id.to_string());
        if self.asks.contains_key(&key) {
            return cx.drift(Drift::new("question", "the id of a question that is still open", &key));
        }
        let secret = matches!(&kind, FactAsk::Other(AskKind::Text { secret: true, .. }));
        if self.asks_by_mistake(cx, run.as_deref(), secret) {
            return cx.send(no(id, form));
        }
        let run = run.map(Key::from);
        let ended = run.as_ref().is_some_and(|run| self.ended.contains(run));
        if ended || self.asks.len() >= MAX_OPEN {
            // Nobody can be asked for a run that is over.
            return cx.send(no(id, form));
        }
        self.asks.insert(key.clone(), OpenAsk { id: id.clone(), form, tool });
        cx.fact(Fact { run, said: Said::AskOpened { ask: key, title, kind, deadline: None } });
    }

    /// The person's answer as the result of the runtime's request.
    pub(super) fn lower_answer(
        &mut self,
        cx: &mut UiCx<'_>,
        seen: Seen<'_>,
        ticket: Ticket,
        ask: AskId,
        answer: Answer,
    ) {
        let open = seen.names.ask(ask).and_then(|key| self.asks.remove(key));
        let Some(OpenAsk { id, form, tool }) = open else {
            let refusal =
                Refusal::new(RefusalKind::AskOver, "the runtime does not wait for this answer any more");
            return cx.settle(ticket, Err(refusal));
        };
        if let Answer::Allow { scope: Scope::Session, .. } = answer {
            cx.loss(
                Item::ConsentScope,
                "a yes until the session closes: the same action is answered by the hub",
            );
        }
        if let (Answer::Allow { .. }, Some(tool), Some(run)) = (&answer, &tool, &mut self.run) {
            run.allowed(tool);
        }
        self.answers_since_list = true;
        cx.send(lower(&id, form, answer));
        cx.settle(ticket, Ok(Receipt::Done));
    }

    /// Says no to every open question.
    pub(super) fn deny_all(&mut self, cx: &mut UiCx<'_>) {
        for (_, ask) in std::mem::take(&mut self.asks) {
            cx.send(no(&ask.id, ask.form));
        }
    }
}

fn no(id: &WireId, form: Form) -> String {
    lower(id, form, Answer::Dismissed)
}

fn lower(id: &WireId, form: Form, answer: Answer) -> String {
    match form {
        Form::Confirm => {
            let (ok, remember, reason) = match answer {
                Answer::Allow { scope, .. } => (true, scope == Scope::Always, None),
                Answer::Deny { reason } => (false, false, reason),
                Answer::Confirmed(yes) => (yes, false, None),
                Answer::Chosen(_) | Answer::Entered(_) | Answer::Dismissed => (false, false, None),
            };
            jsonrpc::result(id, &ConfirmResult { ok, remember, reason })
        }
        Form::Prompt => {
            let value = match answer {
                Answer::Entered(text) => Some(text),
                Answer::Allow { .. }
                | Answer::Deny { .. }
                | Answer::Confirmed(_)
                | Answer::Chosen(_)
                | Answer::Dismissed => None,
            };
            jsonrpc::result(id, &PromptResult { value })
        }
        Form::Pick => {
            let ids = match answer {
                Answer::Chosen(ids) => ids,
                Answer::Allow { .. }
                | Answer::Deny { .. }
                | Answer::Confirmed(_)
                | Answer::Entered(_)
                | Answer::Dismissed => Vec::new(),
            };
            jsonrpc::result(id, &PickResult { ids })
        }
    }
}

fn is_danger(params: &ConfirmParams) -> bool {
    params.danger_level.as_deref() == Some("danger")
}

fn lift_confirm(params: &ConfirmParams) -> AskKind {
    AskKind::Confirm {
        message: params.message.clone(),
        yes: params.confirm_label.clone(),
        no: params.cancel_label.clone(),
        danger: is_danger(params),
    }
}

/// A consent that comes without its tool call: all that is known of the action are the words of the question.
fn lift_bare_consent(params: &ConfirmParams) -> FactAsk {
    let message = ConsentWords::read(&params.message);
    let labels = [("yes", &params.confirm_label), ("no", &params.cancel_label)];
    let labels =
        labels.into_iter().filter_map(|(word, label)| Some(format!("{word} means: {}", label.as_ref()?)));
    let args = serde_json::json!({ "title": params.title, "message": message.what });
    let danger = is_danger(params);
    let reasons = danger.then(|| DANGER.to_owned()).into_iter();
    let reasons = reasons.chain(message.warning.map(str::to_owned)).chain(labels);
    FactAsk::Consent {
        tool: None,
        name: UNNAMED_TOOL.to_owned(),
        args: Json::verbatim(args.to_string()),
        preview: Some(Preview::Text(message.what.to_owned())),
        assessment: assessment(danger, reasons.collect()),
        rule: params.allow_remember.then(|| message.rule.unwrap_or(UNNAMED_RULE).to_owned()),
        takes_reason: params.allow_reason,
    }
}

fn assessment(danger: bool, reasons: Vec<String>) -> Assessment {
    let risk = if danger { Risk::High } else { Risk::Medium };
    // Whether it can be undone is not said on this wire.
    Assessment { risk, reasons, reversible: true, unrated: !danger }
}

fn lift_consent(params: &ConfirmParams, key: Key, tool: Tool) -> FactAsk {
    let message = ConsentWords::read(&params.message);
    let command = serde_json::from_str::<serde_json::Value>(tool.args.as_str())
        .ok()
        .and_then(|args| args.get("command")?.as_str().map(str::to_owned));
    let mut call = match tool.preview {
        Some(preview) => DescribedCall::with_preview(&tool.name, preview, &tool.args),
        None => DescribedCall::with_preview(&tool.name, Preview::Text(String::new()), &tool.args),
    };
    call.command = call.command.or(command);
    call.words.push(message.what.to_owned());
    // A UI of this wire shows its own words above a question, never these.
    call.words.extend((!HEADINGS.contains(&params.title.as_str())).then(|| params.title.clone()));
    let (preview, beside) = call.shown();
    let preview = preview.unwrap_or_else(|| Preview::Text(message.what.to_owned()));
    let danger = is_danger(params);
    let rule = params.allow_remember.then(|| message.rule.unwrap_or(UNNAMED_RULE).to_owned());
    FactAsk::Consent {
        tool: Some(key),
        name: tool.name,
        args: tool.args,
        preview: Some(preview),
        assessment: assessment(
            danger,
            message.warning.map(str::to_owned).into_iter().chain(beside).collect(),
        ),
        rule,
        takes_reason: params.allow_reason,
    }
}

/// A message as existing runtimes write it: what would happen, perhaps a warning, perhaps the rules.
struct ConsentWords<'m> {
    what: &'m str,
    warning: Option<&'m str>,
    rule: Option<&'m str>,
}

impl<'m> ConsentWords<'m> {
    fn read(message: &'m str) -> ConsentWords<'m> {
        let (rest, rules) = match message.split_once(REMEMBER) {
            Some((rest, rules)) => (rest.trim_end(), Some(rules.trim())),
            None => (message, None),
        };
        let (what, warning) = match rest.rsplit_once("\n\n") {
            Some((what, last)) => match last.strip_prefix(WARNING) {
                Some(warning) => (what, Some(warning)),
                None => (rest, None),
            },
            None => (rest, None),
        };
        let rule =
            rules.map(|rules| rules.strip_prefix("- ").unwrap_or(rules)).filter(|rule| !rule.is_empty());
        ConsentWords { what, warning, rule }
    }
}
