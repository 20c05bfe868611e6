//! One field of a form: the question it becomes, and what its answers mean. Pure.

use super::rule::{FieldInput, Format, Limits};
use domain::ask::{Answer, AskKind, Choice};
use serde_json::{Map, Value};

/// Most fields of a form.
const MAX_FIELDS: usize = 16;
/// Most choices of a field.
const MAX_CHOICES: usize = 200;
/// Characters of a server's words that are shown.
const MAX_WORDS: usize = 1_000;

/// One field of a form.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Field {
    /// As the server calls it.
    pub(super) name: String,
    pub(super) kind: AskKind,
    reads: Reads,
    required: bool,
    /// What counts where nothing was said.
    default: Option<Value>,
}

#[derive(Debug, Clone, PartialEq)]
enum Reads {
    Written(FieldInput),
    Flag,
    One(Options),
    Many(Options, Limits),
}

/// What may be chosen.
#[derive(Debug, Clone, PartialEq)]
struct Options {
    ids: Vec<String>,
    /// The line that chooses nothing, where that is possible. No value of the server's has its id.
    none: Option<String>,
}

/// The fields of a form, those that `order` names first; `None` when it is none that can be shown.
pub(super) fn fields(message: &str, schema: &Value, order: &[String]) -> Option<Vec<Field>> {
    let empty = Map::new();
    let properties = schema["properties"].as_object().unwrap_or(&empty);
    if properties.len() > MAX_FIELDS {
        return None;
    }
    let required =
        |name: &str| schema["required"].as_array().is_some_and(|all| all.iter().any(|one| one == name));
    let mut names: Vec<&String> = order.iter().filter(|name| properties.contains_key(*name)).collect();
    names.extend(properties.keys().filter(|name| !order.contains(name)));
    names.into_iter().map(|name| Field::of(message, name, properties.get(name)?, required(name))).collect()
}

impl Field {
    fn of(message: &str, name: &str, schema: &Value, required: bool) -> Option<Field> {
        let secret = is_secret(name, schema);
        let (mut reads, mut choices) = reads(schema)?;
        // A default that is shown is no secret, and one that is hidden would be sent unseen.
        let default = reads.checked(&schema["default"]).filter(|_| !secret);
        let mut lines = vec![message.to_owned()];
        let words = ["title", "description"].into_iter().filter_map(|key| schema[key].as_str());
        lines.extend(words.map(str::to_owned));
        lines.extend(reads.limits());
        // Lists have a line of their own for it.
        lines.extend(match (&reads, &default) {
            (Reads::Written(_), Some(default)) => Some(format!("(left empty: {})", told(default, &choices))),
            (Reads::Written(_), None) if !required => Some("(may be left empty)".to_owned()),
            (Reads::Flag, Some(default)) => Some(format!("(suggested: {})", told(default, &choices))),
            _ => None,
        });
        reads.offer_none(&mut choices, required, default.as_ref());
        let message = shown(&lines.join("\n"));
        let kind = match &reads {
            Reads::Written(written) => AskKind::Text {
                message,
                placeholder: written.hint(),
                default: default.as_ref().map(|default| shown(&plain(default))),
                secret,
                multiline: false,
            },
            Reads::Flag => AskKind::Confirm { message, yes: None, no: None, danger: false },
            Reads::One(_) => AskKind::Choose { message, choices, many: false },
            Reads::Many(..) => AskKind::Choose { message, choices, many: true },
        };
        Some(Field { name: name.to_owned(), kind, reads, required, default })
    }

    /// The value of an answer, nothing for one that was left empty; an error says what would fit.
    pub(super) fn read(&self, answer: &Answer) -> Result<Option<Value>, String> {
        match (&self.reads, answer) {
            (Reads::Written(_), Answer::Entered(text)) if text.trim().is_empty() => {
                self.left_empty("something must be written")
            }
            (Reads::Written(written), Answer::Entered(text)) => written.read(text).map(Some),
            (Reads::Flag, Answer::Confirmed(yes)) => Ok(Some(Value::from(*yes))),
            (Reads::One(options), Answer::Chosen(ids)) => match options.taken(ids)?.as_slice() {
                [] => self.left_empty("one must be chosen"),
                [id] => Ok(Some(Value::from(*id))),
                _ => Err("only one can be chosen".to_owned()),
            },
            (Reads::Many(options, count), Answer::Chosen(ids)) => {
                let taken = options.taken(ids)?;
                if taken.is_empty() && !ids.is_empty() {
                    return self.left_empty("something must be chosen");
                }
                #[expect(clippy::cast_precision_loss, reason = "no list is that long")]
                let missed = count.misses(taken.len() as f64);
                missed.map_or(Ok(Some(Value::from(taken))), |limit| Err(format!("it must be {limit}")))
            }
            _ => Err("this is no answer to it".to_owned()),
        }
    }

    fn left_empty(&self, needed: &str) -> Result<Option<Value>, String> {
        match &self.default {
            Some(default) => Ok(Some(default.clone())),
            None if self.required => Err(needed.to_owned()),
            None => Ok(None),
        }
    }

    /// What did not fit stands in the field again, to be put right.
    pub(super) fn put_back(&mut self, answer: &Answer) {
        if let (AskKind::Text { default, secret: false, .. }, Answer::Entered(text)) =
            (&mut self.kind, answer)
        {
            *default = Some(text.clone());
        }
    }
}

impl Options {
    /// What was chosen without the line that stands for nothing; only what there is can be chosen.
    fn taken<'a>(&self, ids: &'a [String]) -> Result<Vec<&'a str>, String> {
        let mut taken = Vec::new();
        for id in ids.iter().filter(|id| self.none.as_ref() != Some(*id)) {
            if !self.ids.contains(id) {
                return Err(format!("{} is not in the list", shown(id)));
            }
            taken.push(id.as_str());
        }
        Ok(taken)
    }
}

impl Reads {
    /// The default of a form, if it fits.
    fn checked(&self, default: &Value) -> Option<Value> {
        let fits = match (self, default) {
            (_, Value::Null) => false,
            (Reads::Written(FieldInput::Text { .. }), Value::String(text)) => self.takes(text),
            (Reads::Written(FieldInput::Number(_) | FieldInput::Integer(_)), Value::Number(number)) => {
                self.takes(&number.to_string())
            }
            (Reads::Flag, Value::Bool(_)) => true,
            (Reads::One(options), Value::String(id)) => options.ids.contains(id),
            (Reads::Many(options, count), Value::Array(all)) => {
                #[expect(clippy::cast_precision_loss, reason = "no list is that long")]
                let missed = count.misses(all.len() as f64);
                let known =
                    |id: &Value| id.as_str().is_some_and(|id| options.ids.iter().any(|one| one == id));
                missed.is_none() && all.iter().all(known)
            }
            _ => false,
        };
        fits.then(|| default.clone())
    }

    fn takes(&self, text: &str) -> bool {
        matches!(self, Reads::Written(written) if !text.trim().is_empty() && written.read(text).is_ok())
    }

    /// How many may be chosen, where that is limited.
    fn limits(&self) -> Option<String> {
        match self {
            Reads::Many(_, count) => count.words().map(|words| format!("(choose {words})")),
            Reads::Written(_) | Reads::Flag | Reads::One(_) => None,
        }
    }

    /// Adds the line that chooses nothing, where nothing may be chosen. It stands first where it means the default: that is what Enter
    /// takes.
    fn offer_none(&mut self, choices: &mut Vec<Choice>, required: bool, default: Option<&Value>) {
        let (Reads::One(options) | Reads::Many(options, _)) = self else { return };
        if required && default.is_none() {
            return;
        }
        let mut id = "none".to_owned();
        while options.ids.contains(&id) {
            id.push('_');
        }
        let label = match default {
            Some(default) => format!("as suggested: {}", told(default, choices)),
            None => "leave it empty".to_owned(),
        };
        let line = Choice { id: id.clone(), label: shown(&label), detail: None };
        let at = if default.is_some() { 0 } else { choices.len() };
        choices.insert(at, line);
        options.none = Some(id);
    }
}

/// How the answers to a field are read, and what there is to choose.
fn reads(schema: &Value) -> Option<(Reads, Vec<Choice>)> {
    let options = |choices: &[Choice]| {
        let ids = choices.iter().map(|choice| choice.id.clone()).collect();
        Options { ids, none: None }
    };
    if let Some(choices) = choices(schema) {
        return Some((Reads::One(options(&choices)), choices));
    }
    let written = |written| Some((Reads::Written(written), Vec::new()));
    match schema["type"].as_str()? {
        "string" => written(FieldInput::Text {
            length: Limits::of(schema, "minLength", "maxLength"),
            format: schema["format"].as_str().and_then(Format::named),
        }),
        "number" => written(FieldInput::Number(Limits::of(schema, "minimum", "maximum"))),
        "integer" => written(FieldInput::Integer(Limits::of(schema, "minimum", "maximum"))),
        "boolean" => Some((Reads::Flag, Vec::new())),
        "array" => {
            let choices = choices(&schema["items"])?;
            let count = Limits::of(schema, "minItems", "maxItems");
            Some((Reads::Many(options(&choices), count), choices))
        }
        _ => None,
    }
}

/// A default as a person reads it.
fn told(default: &Value, choices: &[Choice]) -> String {
    let label = |value: &Value| {
        let known = choices.iter().find(|choice| value.as_str() == Some(&choice.id));
        known.map_or_else(|| plain(value), |choice| choice.label.clone())
    };
    match default {
        Value::Bool(yes) => if *yes { "yes" } else { "no" }.to_owned(),
        Value::Array(all) if all.is_empty() => "nothing".to_owned(),
        Value::Array(all) => all.iter().map(label).collect::<Vec<_>>().join(", "),
        other => label(other),
    }
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
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

/// As much of a server's words as a person is shown.
pub(super) fn shown(text: &str) -> String {
    text.chars().take(MAX_WORDS).collect()
}

#[cfg(test)]
mod tests;
