//! The secrets of a session that this process knows: the model that asked for one reads its value, everybody else its mark.
//!
//! What is kept and reported holds marks; values are put in place when a request goes to a model, and only for the one that asked.
//! Not here: masking what is reported, which the hub does. Nothing of this is ever written.

use domain::ids::AskId;
use domain::secret::{has_mark, mark};
use domain::session::ModelRef;
use models::{ChatMessage, Content, Request, ToolArgs};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tools::{KnownSecrets, Outcome, Plan};

/// What a model is told that reads marks.
const ABOUT_MARKS: &str = "Where it says [secret N: not kept], the person typed a secret that you do not have: it was for someone \
     else, or was typed in another process or for another model, and is kept nowhere. Ask for it again if you need it.";

/// The secrets of a session. Clones share them.
#[derive(Debug, Clone, Default)]
pub(crate) struct SessionSecrets {
    secrets: KnownSecrets,
    /// The models that asked; a server's question is in none.
    asked_by: Arc<Mutex<BTreeMap<AskId, ModelRef>>>,
}

impl SessionSecrets {
    /// The values, for tools that write files.
    pub(crate) fn values(&self) -> KnownSecrets {
        self.secrets.clone()
    }

    fn asked_by(&self) -> MutexGuard<'_, BTreeMap<AskId, ModelRef>> {
        self.asked_by.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A model asked and this was typed; what stands for it in the conversation.
    pub(crate) fn for_model(&self, ask: AskId, value: &str, model: Option<&ModelRef>) -> String {
        // The hub has refused what does not fit.
        if self.secrets.lock().keep(ask, value).is_ok()
            && let Some(model) = model
        {
            self.asked_by().insert(ask, model.clone());
        }
        mark(ask)
    }

    /// A server asked and this was typed: no model is to read it.
    pub(crate) fn for_server(&self, ask: AskId, value: &str) {
        let _ = self.secrets.lock().keep(ask, value);
    }

    /// What a tool gave back, with marks.
    pub(crate) fn mask(&self, mut outcome: Outcome) -> Outcome {
        self.secrets.lock().mask_result(&mut outcome.result);
        outcome
    }

    /// A plan with a secret in it makes no rule: rules are written down.
    pub(crate) fn without_rule(&self, mut plan: Plan) -> Plan {
        let args = domain::content::Json::verbatim(plan.args.to_string());
        if plan.rule.is_some() && self.secrets.lock().mask_json(&args) != args {
            plan.rule = None;
        }
        plan
    }

    /// Puts the values in place that this model asked for, and tells it of the marks that stay.
    pub(crate) fn open(&self, request: &mut Request, model: Option<&ModelRef>) {
        let (secrets, asked_by) = (self.secrets.lock(), self.asked_by());
        let may = |ask: AskId| model.is_some() && asked_by.get(&ask) == model;
        let open = |text: &mut String| *text = secrets.unmask(text, may).into_owned();
        let (mut marks, mut explained) = (false, false);
        for message in &mut request.messages {
            if let ChatMessage::Assistant { tool_calls, kept, .. } = message {
                for call in tool_calls {
                    match &mut call.args {
                        ToolArgs::Parsed(value) => each_text(value, &open),
                        ToolArgs::Unparsed(text) => open(text),
                    }
                }
                kept.iter_mut().for_each(|kept| each_text(&mut kept.value, &open));
            }
            let (ChatMessage::User { content }
            | ChatMessage::Assistant { content, .. }
            | ChatMessage::Tool { content, .. }) = message;
            for piece in content {
                if let Content::Text(text) = piece {
                    open(text);
                    marks |= has_mark(text);
                }
            }
            // In the same place of every later request, so that a provider knows it again.
            if let ChatMessage::User { content } | ChatMessage::Tool { content, .. } = message
                && marks
                && !std::mem::replace(&mut explained, true)
            {
                content.push(Content::Text(ABOUT_MARKS.to_owned()));
            }
        }
        if marks && !explained {
            request.messages.push(ChatMessage::user(ABOUT_MARKS));
        }
    }
}

fn each_text(value: &mut Value, change: &impl Fn(&mut String)) {
    match value {
        Value::String(text) => change(text),
        Value::Array(items) => items.iter_mut().for_each(|item| each_text(item, change)),
        Value::Object(members) => members.values_mut().for_each(|member| each_text(member, change)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn model(name: &str) -> ModelRef {
        ModelRef { provider: "acme".into(), name: name.into() }
    }

    #[test]
    fn only_the_model_that_asked_reads_the_value() {
        let known = SessionSecrets::default();
        let mark = known.for_model(AskId(3), "hunter2", Some(&model("one")));
        known.for_server(AskId(4), "server's own");
        let said = format!("{mark} and {}", domain::secret::mark(AskId(4)));
        let read = |name: Option<&str>| {
            let mut request =
                Request { messages: vec![ChatMessage::user(said.clone())], ..Request::default() };
            known.open(&mut request, name.map(model).as_ref());
            let text = request.messages[0].text();
            let (read, told) = text.split_once('\n').unwrap_or((&text, ""));
            (read.to_owned(), told == ABOUT_MARKS && request.system.is_none())
        };
        assert_eq!(read(Some("one")), ("hunter2 and [secret 4: not kept]".to_owned(), true));
        assert_eq!(read(Some("two")), (said.clone(), true));
        assert_eq!(read(None), (said.clone(), true));
    }
}
