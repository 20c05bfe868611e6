//! The schema of a wire (JSON Schema, draft 2020-12), derived from the types that its lines are written from.
//!
//! It says what we write: a member that we always write is required, also where reading does without it, and a member that we never
//! write is not there. Readers ignore members that they do not know; these schemas refuse them, so that a line of ours that is not
//! described is found.
//!
//! Each document has `$defs.from_ui` and `$defs.from_runtime`, the lines of each side, and all lines as `oneOf`. It is committed in its
//! wire's folder, which is what the program prints; this module is compiled for tests only.

mod closing;
mod described;

use crate::rpc::Call;
use schemars::generate::{SchemaGenerator, SchemaSettings};
use schemars::transform::{RecursiveTransform, Transform as _};
use schemars::{JsonSchema, Schema};
use serde_json::{Map, Value, json};

/// Who says a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    Ui,
    Runtime,
}

impl Side {
    /// The peer of this side.
    pub fn other(self) -> Side {
        match self {
            Side::Ui => Side::Runtime,
            Side::Runtime => Side::Ui,
        }
    }

    fn key(self) -> &'static str {
        match self {
            Side::Ui => "from_ui",
            Side::Runtime => "from_runtime",
        }
    }
}

/// What every schema says of itself: whoever checks another program's lines with it must know what it is for.
pub const WRITES: &str = "It describes the lines that Parlor writes, member by member. It reads more than that: members that it does not \
    know are passed over, and many that it always writes may be missing.";

/// A schema in the making.
pub struct Document {
    generator: SchemaGenerator,
    head: Map<String, Value>,
    lines: Map<String, Value>,
    said_by: Vec<(Side, String)>,
    alternatives: Vec<String>,
    /// What each part means, where the wire says it.
    described: Option<&'static str>,
}

impl Document {
    /// A schema without lines.
    pub fn new(title: &str, description: &str) -> Document {
        let head = json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "title": title,
            "description": format!("{description} {WRITES}"),
        });
        Document {
            generator: SchemaSettings::draft2020_12().for_serialize().into_generator(),
            head: head.as_object().cloned().unwrap_or_default(),
            lines: Map::new(),
            said_by: Vec::new(),
            alternatives: Vec::new(),
            described: None,
        }
    }

    /// Says what each part means: a table of paths and words. A part without words is refused, and so are words for nothing.
    pub fn describe(&mut self, table: &'static str) {
        self.described = Some(table);
    }

    /// One more member at the top, for whoever looks it up there.
    pub fn member(&mut self, key: &str, value: Value) {
        self.head.insert(key.to_owned(), value);
    }

    /// The schema of a type, to be put into a line. Types with names of their own become definitions.
    pub fn schema_of<T: JsonSchema>(&mut self) -> Value {
        self.generator.subschema_for::<T>().to_value()
    }

    /// A kind of line. Both sides may say the same one; two kinds of the same name must be the same.
    pub fn line(&mut self, side: Side, name: &str, mut schema: Value) {
        plain(&mut schema);
        let before = self.lines.insert(name.to_owned(), schema.clone());
        assert!(before.is_none_or(|before| before == schema), "two lines have the name {name:?}");
        self.said_by.push((side, name.to_owned()));
    }

    /// A kind of line that may look like another of them: only what was asked tells them apart.
    pub fn answer(&mut self, side: Side, name: &str, schema: Value) {
        self.line(side, name, schema);
        self.alternatives.push(name.to_owned());
    }

    /// Every variant of an enum as a kind of line, under its word on the wire with `prefix` before it.
    pub fn lines<T: JsonSchema>(&mut self, side: Side, prefix: &str) {
        let schema = T::json_schema(&mut self.generator).to_value();
        let variants = schema.get("oneOf").or_else(|| schema.get("anyOf")).and_then(Value::as_array);
        let variants = variants.cloned().unwrap_or_else(|| vec![schema.clone()]);
        for variant in variants {
            let word = word_of(&variant);
            assert!(word.is_some(), "a line of {} without a word", T::schema_name());
            let word = word.unwrap_or_default();
            self.line(side, &format!("{prefix}{word}"), variant);
        }
    }

    /// A request of a JSON-RPC wire, as `message.METHOD`.
    pub fn request<P: Call + JsonSchema>(&mut self, side: Side) {
        let mut message = self.message::<P>();
        message["properties"]["id"] = id(&["string", "integer"]);
        message["required"] = json!(["id", "jsonrpc", "method", "params"]);
        self.line(side, &named("message", P::METHOD), message);
    }

    /// A notification of a JSON-RPC wire, as `message.METHOD`.
    pub fn notification<P: Call + JsonSchema>(&mut self, side: Side) {
        let message = self.message::<P>();
        self.line(side, &named("message", P::METHOD), message);
    }

    fn message<P: Call + JsonSchema>(&mut self) -> Value {
        json!({
            "type": "object",
            "properties": {
                "jsonrpc": { "const": "2.0" },
                "method": { "const": P::METHOD },
                "params": self.schema_of::<P>(),
            },
            "required": ["jsonrpc", "method", "params"],
        })
    }

    /// What a request of a JSON-RPC wire is answered with, as `response.METHOD`. Results have no tag, so two may look alike.
    pub fn result<P: Call, R: JsonSchema>(&mut self, side: Side) {
        let name = named("response", P::METHOD);
        let response = json!({
            "type": "object",
            "properties": {
                "jsonrpc": { "const": "2.0" },
                "id": id(&["string", "integer"]),
                "result": self.schema_of::<R>(),
            },
            "required": ["id", "jsonrpc", "result"],
        });
        self.answer(side, &name, response);
    }

    /// The refusal of a request of a JSON-RPC wire, with the codes that there are.
    pub fn refusals(&mut self, sides: &[Side], codes: &[i64]) {
        for side in sides {
            self.line(
                *side,
                "error",
                json!({
                    "type": "object",
                    "properties": {
                        "jsonrpc": { "const": "2.0" },
                        "id": id(&["string", "integer", "null"]),
                        "error": {
                            "type": "object",
                            "properties": { "code": { "enum": codes }, "message": { "type": "string" }, "data": true },
                            "required": ["code", "message"],
                        },
                    },
                    "required": ["error", "id", "jsonrpc"],
                }),
            );
        }
    }

    /// The text of the file.
    pub fn finish(mut self) -> String {
        let mut defs = self.generator.take_definitions(false);
        let reference = |name: &str| json!({ "$ref": format!("#/$defs/{name}") });
        let mut all: Vec<Value> = self
            .lines
            .keys()
            .filter(|name| !self.alternatives.contains(name))
            .map(|name| reference(name))
            .collect();
        for (name, schema) in &self.lines {
            let before = defs.insert(name.clone(), schema.clone());
            assert!(before.is_none(), "a line and a type have the name {name:?}");
        }
        closing::close(&mut defs, &self.lines.keys().cloned().collect::<Vec<_>>());
        if !self.alternatives.is_empty() {
            let any: Vec<Value> = self.alternatives.iter().map(|name| reference(name)).collect();
            defs.insert("response".to_owned(), json!({ "anyOf": any }));
            all.push(reference("response"));
        }
        for side in [Side::Ui, Side::Runtime] {
            let of_side = self.said_by.iter().filter(|(by, _)| *by == side).map(|(_, name)| reference(name));
            defs.insert(side.key().to_owned(), json!({ "anyOf": of_side.collect::<Vec<_>>() }));
        }
        for schema in defs.values_mut() {
            plain(schema);
        }
        if let Some(table) = self.described {
            let wrong = described::put(&mut defs, table);
            assert!(wrong.is_empty(), "{}", wrong.join("\n"));
        }
        self.head.insert("oneOf".to_owned(), Value::Array(all));
        self.head.insert("$defs".to_owned(), Value::Object(defs));
        format!("{:#}\n", Value::Object(self.head))
    }
}

fn id(types: &[&str]) -> Value {
    json!({ "type": types })
}

/// The word by which a variant is told from the others: its constant member, its only member, or itself.
fn word_of(variant: &Value) -> Option<String> {
    if let Some(word) = variant["const"].as_str() {
        return Some(word.to_owned());
    }
    let members = variant["properties"].as_object()?;
    let constant = members.values().find_map(|member| member["const"].as_str());
    let only = members.keys().next().filter(|_| members.len() == 1).map(String::as_str);
    constant.or(only).map(ToOwned::to_owned)
}

/// Comments in our code are for its readers, and what is read for an absent member is no part of what is written: a member that may
/// be absent is left out instead of being null.
fn plain(schema: &mut Value) {
    let Ok(mut read) = Schema::try_from(schema.take()) else { return };
    RecursiveTransform(|schema: &mut Schema| {
        for key in ["description", "default", "title"] {
            schema.remove(key);
        }
        let required = schema.get("required").cloned().unwrap_or_default();
        let required: Vec<&str> =
            required.as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let members = schema.get_mut("properties").and_then(Value::as_object_mut);
        for (name, member) in members.into_iter().flatten() {
            if !required.contains(&name.as_str()) {
                never_null(member);
            }
        }
    })
    .transform(&mut read);
    *schema = read.to_value();
}

/// Takes null from what a schema allows.
fn never_null(schema: &mut Value) {
    if let Some(Value::Array(types)) = schema.get_mut("type") {
        types.retain(|one| one != "null");
        if let [only] = types.as_slice() {
            schema["type"] = only.clone();
        }
    }
    let Some(Value::Array(branches)) = schema.get_mut("anyOf") else { return };
    branches.retain(|branch| branch["type"] != "null");
    if let ([Value::Object(only)], Some(rules)) = (branches.clone().as_slice(), schema.as_object_mut()) {
        rules.remove("anyOf");
        rules.extend(only.clone());
    }
}

/// What a definition of a method is called; a slash would end its name in a reference.
fn named(kind: &str, method: &str) -> String {
    format!("{kind}.{}", method.replace('/', "."))
}
