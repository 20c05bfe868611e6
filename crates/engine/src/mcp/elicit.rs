//! Forms by which a server asks the person: each field becomes one question, and the answers become the form's content.
//!
//! A form is flat by its definition: texts, numbers, yes or no, one or several of a list. A form with anything else is declined.

use super::calls::McpCalls;
use domain::ask::{Answer, AskKind, Choice, Closing};
use serde_json::{Map, Value};

/// Most fields of a form.
const MAX_FIELDS: usize = 16;
/// Most choices of a field.
const MAX_CHOICES: usize = 200;
/// How often a value that does not fit is asked for again.
const ATTEMPTS: usize = 3;
/// Characters of a server's words that are shown.
const MAX_WORDS: usize = 1_000;

/// How a form ended.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Filled {
    In(Map<String, Value>),
    /// The person said no.
    Declined,
    /// Nobody answered.
    Not,
}

/// One field of a form.
#[derive(Debug, Clone, PartialEq)]
struct Field {
    name: String,
    kind: AskKind,
    reads: Reads,
    required: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reads {
    Text,
    Number,
    Integer,
    Flag,
    One,
    Many,
}

/// Puts a form before the person, field by field.
pub(crate) async fn fill(calls: &McpCalls, server: &str, message: &str, schema: &Value) -> Filled {
    let Some(fields) = fields(message, schema) else { return Filled::Declined };
    let mut content = Map::new();
    let count = fields.len();
    if count == 0 {
        let kind = AskKind::Confirm { message: shown(message), yes: None, no: None, danger: false };
        return match calls.ask(format!("The MCP server {server} asks"), kind).await {
            Some(Closing::Answered { answer: Answer::Confirmed(true), .. }) => Filled::In(content),
            Some(Closing::Answered { .. }) => Filled::Declined,
            _ => Filled::Not,
        };
    }
    for (at, field) in fields.into_iter().enumerate() {
        let place = if count > 1 { format!(" ({} of {count})", at + 1) } else { String::new() };
        let mut title = format!("The MCP server {server} asks for {}{place}", field.name);
        let mut given = None;
        for _ in 0..ATTEMPTS {
            let answer = match calls.ask(title.clone(), field.kind.clone()).await {
                Some(Closing::Answered { answer: Answer::Dismissed, .. }) => return Filled::Declined,
                Some(Closing::Answered { answer, .. }) => answer,
                _ => return Filled::Not,
            };
            match field.read(&answer) {
                Ok(value) => {
                    given = Some(value);
                    break;
                }
                Err(why) => title = format!("{}{place}: {why}", field.name),
            }
        }
        match given {
            Some(Some(value)) => {
                content.insert(field.name, value);
            }
            Some(None) => {}
            None => return Filled::Declined,
        }
    }
    Filled::In(content)
}

/// The fields of a form; `None` when it is none that can be shown.
fn fields(message: &str, schema: &Value) -> Option<Vec<Field>> {
    let empty = Map::new();
    let properties = schema["properties"].as_object().unwrap_or(&empty);
    if properties.len() > MAX_FIELDS {
        return None;
    }
    let required =
        |name: &str| schema["required"].as_array().is_some_and(|all| all.iter().any(|one| one == name));
    let read = |(name, field): (&String, &Value)| {
        let (reads, kind) = question(message, name, field, required(name))?;
        Some(Field { name: shown(name), kind, reads, required: required(name) })
    };
    properties.iter().map(read).collect()
}

fn question(message: &str, name: &str, field: &Value, required: bool) -> Option<(Reads, AskKind)> {
    let mut lines = vec![message];
    lines.extend(["title", "description"].into_iter().filter_map(|key| field[key].as_str()));
    if !required {
        lines.push("(may be left empty)");
    }
    let message = shown(&lines.join("\n"));
    let default = match &field["default"] {
        Value::String(text) => Some(shown(text)),
        Value::Null => None,
        other => Some(other.to_string()),
    };
    let secret = is_secret(name, field);
    let text = |reads| {
        let kind = AskKind::Text {
            message: message.clone(),
            placeholder: None,
            // A default that is shown is no secret, and one that is hidden would be sent unseen.
            default: default.filter(|_| !secret),
            secret,
            multiline: false,
        };
        Some((reads, kind))
    };
    if let Some(choices) = choices(field) {
        return Some((Reads::One, AskKind::Choose { message, choices, many: false }));
    }
    match field["type"].as_str()? {
        "string" => text(Reads::Text),
        "number" => text(Reads::Number),
        "integer" => text(Reads::Integer),
        "boolean" => Some((Reads::Flag, AskKind::Confirm { message, yes: None, no: None, danger: false })),
        "array" => {
            let choices = choices(&field["items"])?;
            Some((Reads::Many, AskKind::Choose { message, choices, many: true }))
        }
        _ => None,
    }
}

/// Words in the name or the title of a field that ask for a secret. Forms should not, and servers do.
const TELLING: &[&str] = &[
    "password",
    "passwd",
    "passphrase",
    "passcode",
    "secret",
    "credential",
    "apikey",
    "accesskey",
    "privatekey",
];

/// Whether what is typed into a field is a secret: the form says so, or its name does.
fn is_secret(name: &str, field: &Value) -> bool {
    let said = field["format"] == "password" || field["writeOnly"] == true;
    let telling = |words: &str| {
        let plain: String = words.chars().filter(char::is_ascii_alphanumeric).collect();
        let plain = plain.to_ascii_lowercase();
        plain == "pin" || plain.ends_with("token") || TELLING.iter().any(|word| plain.contains(word))
    };
    said || telling(name) || field["title"].as_str().is_some_and(telling)
}

/// The values of an enumeration with their titles, in any of the ways there are to write one.
fn choices(field: &Value) -> Option<Vec<Choice>> {
    let choice = |id: &str, label: &str| Choice { id: id.to_owned(), label: shown(label), detail: None };
    let titled = field["oneOf"].as_array().or(field["anyOf"].as_array());
    let all: Vec<Choice> = if let Some(titled) = titled {
        let one = |entry: &Value| {
            let id = entry["const"].as_str()?;
            Some(choice(id, entry["title"].as_str().unwrap_or(id)))
        };
        titled.iter().map(one).collect::<Option<_>>()?
    } else {
        let ids = field["enum"].as_array()?;
        let name = |at: usize| field["enumNames"].get(at).and_then(Value::as_str);
        let one = |(at, id): (usize, &Value)| id.as_str().map(|id| choice(id, name(at).unwrap_or(id)));
        ids.iter().enumerate().map(one).collect::<Option<_>>()?
    };
    (!all.is_empty() && all.len() <= MAX_CHOICES).then_some(all)
}

impl Field {
    /// The value of an answer, nothing for one that was left empty; an error says what would fit.
    fn read(&self, answer: &Answer) -> Result<Option<Value>, &'static str> {
        match (self.reads, answer) {
            (Reads::Text | Reads::Number | Reads::Integer, Answer::Entered(text))
                if text.trim().is_empty() =>
            {
                if self.required {
                    Err("something must be written")
                } else {
                    Ok(None)
                }
            }
            (Reads::Text, Answer::Entered(text)) => Ok(Some(Value::from(text.as_str()))),
            (Reads::Integer, Answer::Entered(text)) => {
                let number = text.trim().parse::<i64>().map_err(|_| "it must be a whole number")?;
                Ok(Some(Value::from(number)))
            }
            (Reads::Number, Answer::Entered(text)) => {
                let number = text.trim().parse::<f64>().ok().and_then(serde_json::Number::from_f64);
                number.map(|number| Some(Value::Number(number))).ok_or("it must be a number")
            }
            (Reads::Flag, Answer::Confirmed(yes)) => Ok(Some(Value::from(*yes))),
            (Reads::One, Answer::Chosen(ids)) => Ok(ids.first().map(|id| Value::from(id.as_str()))),
            (Reads::Many, Answer::Chosen(ids)) => Ok(Some(Value::from(ids.clone()))),
            _ => Err("this is no answer to it"),
        }
    }
}

fn shown(text: &str) -> String {
    text.chars().take(MAX_WORDS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn every_kind_of_field_becomes_a_question() {
        let schema = json!({"type": "object", "required": ["a", "e"], "properties": {
            "a": {"type": "string", "title": "Name"},
            "b": {"type": "integer", "default": 3},
            "c": {"type": "boolean"},
            "d": {"type": "string", "enum": ["x", "y"], "enumNames": ["The X"]},
            "e": {"type": "array", "items": {"anyOf": [{"const": "p", "title": "P!"}, {"const": "q"}]}},
            "f": {"type": "number"},
        }});
        let fields = fields("Tell me", &schema).unwrap();
        let reads: Vec<Reads> = fields.iter().map(|field| field.reads).collect();
        assert_eq!(reads, [Reads::Text, Reads::Integer, Reads::Flag, Reads::One, Reads::Many, Reads::Number]);
        let AskKind::Text { message, .. } = &fields[0].kind else { panic!() };
        assert_eq!(message, "Tell me\nName");
        let AskKind::Text { default, .. } = &fields[1].kind else { panic!() };
        assert_eq!(default.as_deref(), Some("3"));
        let AskKind::Choose { choices, .. } = &fields[3].kind else { panic!() };
        assert_eq!((choices[0].label.as_str(), choices[1].label.as_str()), ("The X", "y"));
        let table = [
            (0, Answer::Entered("  ".into()), Err("something must be written")),
            (0, Answer::Entered("Ann".into()), Ok(Some(json!("Ann")))),
            (1, Answer::Entered(String::new()), Ok(None)),
            (1, Answer::Entered(" 12 ".into()), Ok(Some(json!(12)))),
            (1, Answer::Entered("1.5".into()), Err("it must be a whole number")),
            (2, Answer::Confirmed(false), Ok(Some(json!(false)))),
            (3, Answer::Chosen(vec!["y".into()]), Ok(Some(json!("y")))),
            (4, Answer::Chosen(vec!["p".into(), "q".into()]), Ok(Some(json!(["p", "q"])))),
            (5, Answer::Entered("1.5".into()), Ok(Some(json!(1.5)))),
            (5, Answer::Entered("NaN".into()), Err("it must be a number")),
            (5, Answer::Confirmed(true), Err("this is no answer to it")),
        ];
        for (at, answer, want) in table {
            assert_eq!(fields[at].read(&answer), want, "{answer:?}");
        }
    }

    #[test]
    fn fields_for_secrets_are_hidden() {
        let secret = |name: &str, field: Value| {
            let schema = json!({"properties": {name: field}});
            matches!(fields("m", &schema).unwrap()[0].kind, AskKind::Text { secret: true, default: None, .. })
        };
        let plain = || json!({"type": "string", "default": "x"});
        for name in ["password", "db_password", "API key", "api-key", "githubToken", "PIN", "clientSecret"] {
            assert!(secret(name, plain()), "{name}");
        }
        for name in ["name", "tokens", "spinning", "keyboard"] {
            assert!(!secret(name, plain()), "{name}");
        }
        assert!(secret("x", json!({"type": "string", "format": "password"})));
        assert!(!secret("x", json!({"type": "integer", "title": "Your pins"})));
        assert!(secret("x", json!({"type": "string", "title": "Pass phrase"})));
    }

    #[test]
    fn what_is_no_form_is_declined() {
        for odd in [
            json!({"properties": {"a": {"type": "object"}}}),
            json!({"properties": {"a": {}}}),
            json!({"properties": {"a": {"type": "array", "items": {"type": "string"}}}}),
            json!({"properties": (0..=MAX_FIELDS).map(|n| (n.to_string(), json!({"type": "string"}))).collect::<Map<_, _>>()}),
        ] {
            assert_eq!(fields("m", &odd), None, "{odd}");
        }
        assert_eq!(fields("m", &Value::Null), Some(Vec::new()));
    }
}
