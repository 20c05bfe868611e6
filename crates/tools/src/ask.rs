//! `ask`: how the model asks the person something. The tool cannot ask by itself: the engine takes the call, turns it into
//! a question with [`parse`], and the answer back into a result with [`report`].

use crate::args::Args;
use crate::context::ToolContext;
use crate::tool::{BoxFuture, Outcome, Plan, Port, Spec, Tool, ToolError};
use domain::ask::{Answer, AskKind, Choice, Closing};
use serde_json::{Value, json};

/// Things to choose from in one question.
pub const MAX_CHOICES: usize = 100;
/// Characters of a title; the rest is cut.
pub const MAX_TITLE: usize = 200;

/// The name it is called by.
pub const NAME: &str = "ask";

/// A question that the model wants asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AskRequest {
    /// The line on top.
    pub title: String,
    /// What is asked; never a consent.
    pub kind: AskKind,
}

/// Asks the person, where the engine lets it.
#[derive(Debug, Clone, Copy)]
pub struct Ask;

/// The question in a call's arguments.
pub fn parse(args: &Value) -> Result<AskRequest, ToolError> {
    let said = Args::new(NAME, args);
    let message = said.text_opt(&["message", "question", "prompt"])?.unwrap_or_default().to_owned();
    let title = match said.text_opt(&["title", "header"])? {
        Some(title) => title.to_owned(),
        None if message.is_empty() => return Err(said.wrong("`title` is missing")),
        None => message.lines().next().unwrap_or_default().to_owned(),
    };
    let choices = choices(said)?;
    let implied = if choices.is_empty() { "text" } else { "choose" };
    let owned = |names: &[&str]| said.text_opt(names).map(|text| text.map(str::to_owned));
    let kind = match said.text_opt(&["kind", "type"])?.unwrap_or(implied) {
        "confirm" => AskKind::Confirm {
            message,
            yes: owned(&["yes"])?,
            no: owned(&["no"])?,
            danger: said.flag(&["danger"])?,
        },
        "choose" | "select" | "pick" => {
            if choices.is_empty() {
                return Err(said.wrong("`choices` is empty: give at least one, or ask with kind text"));
            }
            AskKind::Choose { message, choices, many: said.flag(&["many", "multi", "multiple"])? }
        }
        "text" | "input" => AskKind::Text {
            message,
            placeholder: owned(&["placeholder"])?,
            default: owned(&["default"])?,
            secret: said.flag(&["secret"])?,
            multiline: said.flag(&["multiline"])?,
        },
        "edit" | "editor" => {
            AskKind::Edit { message, prefill: owned(&["prefill", "text", "default"])?.unwrap_or_default() }
        }
        other => return Err(said.wrong(format!("`kind` is confirm, choose, text or edit, not {other}"))),
    };
    Ok(AskRequest { title: title.chars().take(MAX_TITLE).collect(), kind })
}

fn choices(said: Args<'_>) -> Result<Vec<Choice>, ToolError> {
    let list = match said.one(&["choices", "options"])? {
        None => return Ok(Vec::new()),
        Some(Value::Array(list)) if list.len() <= MAX_CHOICES => list,
        Some(_) => return Err(said.wrong(format!("`choices` must be a list of at most {MAX_CHOICES}"))),
    };
    let mut choices: Vec<Choice> = Vec::new();
    for value in list {
        let one = Args::new(NAME, value);
        let label = match value {
            Value::String(label) => label.as_str(),
            _ => match one.text_opt(&["label", "title", "name"])? {
                Some(label) => label,
                None => one.text(&["id"])?,
            },
        };
        let id = one.text_opt(&["id", "value"])?.unwrap_or(label);
        if choices.iter().any(|known| known.id == id) {
            return Err(said.wrong(format!("two choices are called `{id}`")));
        }
        let detail = one.text_opt(&["detail", "description"])?.map(str::to_owned);
        choices.push(Choice { id: id.to_owned(), label: label.to_owned(), detail });
    }
    Ok(choices)
}

/// What the model is told of how its question ended.
pub fn report(request: &AskRequest, closing: &Closing) -> String {
    match closing {
        Closing::Answered { answer, .. } => match (answer, &request.kind) {
            (Answer::Confirmed(true), _) => "yes".to_owned(),
            (Answer::Confirmed(false), _) => "no".to_owned(),
            (Answer::Chosen(ids), _) if ids.is_empty() => "nothing was chosen".to_owned(),
            (Answer::Chosen(ids), AskKind::Choose { choices, .. }) => {
                let labels = ids
                    .iter()
                    .map(|id| choices.iter().find(|choice| choice.id == *id).map_or(id, |c| &c.label));
                labels.cloned().collect::<Vec<_>>().join(", ")
            }
            (Answer::Chosen(ids), _) => ids.join(", "),
            (Answer::Entered(text), _) => text.clone(),
            (Answer::Allow { .. }, _) => "yes".to_owned(),
            (Answer::Deny { reason }, _) => reason.clone().unwrap_or_else(|| "no".to_owned()),
            (Answer::Dismissed, _) => "the question was closed without an answer".to_owned(),
        },
        Closing::Withdrawn => "the question was withdrawn".to_owned(),
        Closing::Expired => "nobody answered in time: decide yourself and say so".to_owned(),
        Closing::Unattended => "nobody is there to be asked: decide yourself and say so".to_owned(),
    }
}

impl Tool for Ask {
    fn spec(&self) -> Spec {
        Spec {
            name: NAME.into(),
            description: "Ask the person something that only they can decide: yes or no (confirm), one or more of a list \
                          (choose), a text, or a text to change (edit). Ask rarely."
                .into(),
            schema: json!({
                "type": "object",
                "properties": {
                    "kind": {"type": "string", "enum": ["confirm", "choose", "text", "edit"]},
                    "title": {"type": "string", "description": "The question in one line"},
                    "message": {"type": "string", "description": "More about it"},
                    "choices": {
                        "type": "array",
                        "maxItems": MAX_CHOICES,
                        "description": "For choose",
                        "items": {
                            "type": "object",
                            "properties": {
                                "id": {"type": "string"},
                                "label": {"type": "string"},
                                "detail": {"type": "string"}
                            },
                            "required": ["label"]
                        }
                    },
                    "many": {"type": "boolean", "description": "For choose: several may be taken"},
                    "default": {"type": "string", "description": "For text: what stands there at first"},
                    "placeholder": {"type": "string", "description": "For text"},
                    "multiline": {"type": "boolean", "description": "For text"},
                    "secret": {"type": "boolean", "description": "For text: not shown, not kept"},
                    "prefill": {"type": "string", "description": "For edit: the text to change"},
                    "danger": {"type": "boolean", "description": "For confirm: yes is dangerous"}
                },
                "required": ["kind", "title"]
            }),
            // One question at a time, so never beside other calls.
            read_only: false,
        }
    }

    fn plan(&self, args: &Value, place: &ToolContext) -> Result<Plan, ToolError> {
        let request = parse(args)?;
        Ok(Plan::reading(NAME, args, place, format!("ask: {}", request.title)))
    }

    fn run(&self, _: Plan, _: Port) -> BoxFuture<'static, Outcome> {
        Box::pin(async { Outcome::failed("nobody is there to be asked: decide yourself and say so") })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(args: &Value) -> AskKind {
        parse(args).unwrap().kind
    }

    #[test]
    fn every_kind_of_question_can_be_asked() {
        assert!(matches!(
            kind(&json!({"kind": "confirm", "title": "Go?", "danger": true})),
            AskKind::Confirm { danger: true, .. }
        ));
        assert!(matches!(
            kind(&json!({"kind": "text", "title": "Name", "secret": true})),
            AskKind::Text { secret: true, .. }
        ));
        assert!(
            matches!(kind(&json!({"kind": "edit", "title": "Fix", "prefill": "x"})), AskKind::Edit { prefill, .. } if prefill == "x")
        );
        let choose = parse(
            &json!({"question": "Which?", "options": ["a", {"id": "b", "label": "B", "detail": "d"}], "many": true}),
        );
        let request = choose.unwrap();
        assert_eq!(request.title, "Which?");
        let AskKind::Choose { choices, many: true, .. } = &request.kind else { panic!("{request:?}") };
        assert_eq!(choices[1], Choice { id: "b".into(), label: "B".into(), detail: Some("d".into()) });
        let closing = Closing::Answered { answer: Answer::Chosen(vec!["a".into(), "b".into()]), by: None };
        assert_eq!(report(&request, &closing), "a, B");
        assert!(report(&request, &Closing::Unattended).contains("decide yourself"));
    }

    #[test]
    fn nonsense_is_refused_with_a_hint() {
        let bad = [
            json!({}),
            json!({"kind": "dance", "title": "x"}),
            json!({"kind": "choose", "title": "x"}),
            json!({"kind": "choose", "title": "x", "choices": [1]}),
            json!({"kind": "choose", "title": "x", "choices": ["a", "a"]}),
            json!({"kind": "text", "title": 3}),
            json!({"choices": "x", "title": "x"}),
        ];
        for args in bad {
            assert!(parse(&args).is_err(), "{args}");
        }
    }
}
