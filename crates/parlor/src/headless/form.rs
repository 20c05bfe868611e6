//! The form that an answer must have (`--output-schema`): the model is told it in the prompt, and what it says last is judged by it.
//!
//! Told in words, so that it holds for every provider and every runtime behind a wire; a provider that holds its models to a form is given
//! the schema too (`models`). A schema stands alone: what it refers to outside
//! of itself is neither fetched nor read.

use crate::exit;
use boon::{Compiler, SchemaIndex, Schemas, SchemeUrlLoader};
use serde_json::Value;
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// Largest schema, in bytes: the model reads it with the prompt.
const MAX_SCHEMA: u64 = 256 * 1024;
/// Most characters of what is wrong with an answer.
const MAX_WORDS: usize = 2_000;
/// Where the schema is thought to be; it is never fetched.
const HOME: &str = "https://schema.invalid/output.json";

/// A form for answers.
pub(crate) struct Form {
    text: String,
    schemas: Schemas,
    index: SchemaIndex,
}

/// An answer of that form.
#[derive(Debug, PartialEq)]
pub(super) struct Fitting {
    /// As the model wrote it, without a fence around it.
    pub(super) text: String,
    pub(super) value: Value,
}

impl Form {
    /// Reads a schema. All that is wrong with it is wrong usage.
    pub(super) fn read(path: &Path) -> anyhow::Result<Form> {
        let wrong = |why: String| {
            exit::usage(format!(
                "--output-schema: {}: {why}\n\nhint: name a file that holds a JSON Schema",
                path.display()
            ))
        };
        let mut text = String::new();
        let read = File::open(path).and_then(|file| file.take(MAX_SCHEMA + 1).read_to_string(&mut text));
        read.map_err(|why| wrong(format!("could not be read: {why}")))?;
        if text.len() as u64 > MAX_SCHEMA {
            return Err(wrong(format!("is larger than {} KB", MAX_SCHEMA / 1024)));
        }
        Form::of(text).map_err(|why| {
            wrong(format!("is no JSON Schema: {why}\n\nhint: an empty schema {{}} accepts any JSON"))
        })
    }

    fn of(text: String) -> Result<Form, String> {
        let schema: Value = serde_json::from_str(&text).map_err(|why| why.to_string())?;
        let (mut compiler, mut schemas) = (Compiler::new(), Schemas::new());
        compiler.use_loader(Box::new(SchemeUrlLoader::new()));
        compiler.add_resource(HOME, schema).map_err(|why| why.to_string())?;
        let index = compiler.compile(HOME, &mut schemas).map_err(|why| format!("{why:#}"))?;
        Ok(Form { text, schemas, index })
    }

    /// For a provider that holds its models to one; nothing of it is resolved here.
    pub(super) fn schema(&self) -> Option<Value> {
        serde_json::from_str(&self.text).ok()
    }

    /// A prompt that tells the form too.
    pub(super) fn told_with(&self, prompt: &str) -> String {
        format!(
            "{prompt}\n\nEnd with one message that is a single JSON value and nothing else, no words before or after it. It must be valid \
             against this JSON Schema:\n\n{}",
            self.text.trim()
        )
    }

    /// The prompt that asks once more.
    pub(super) fn once_more(why: &str) -> String {
        format!(
            "Your last message is not what was asked for: {why}\n\nSay it again as a single JSON value that is valid against the JSON \
             Schema given above, and nothing else."
        )
    }

    /// Judges an answer; else says what is wrong with it.
    pub(super) fn judge(&self, answer: &str) -> Result<Fitting, String> {
        let text = unfenced(answer.trim());
        if text.is_empty() {
            return Err("it is empty".to_owned());
        }
        let value: Value = serde_json::from_str(text).map_err(|why| format!("it is not JSON: {why}"))?;
        match self.schemas.validate(&value, self.index) {
            Ok(()) => Ok(Fitting { text: text.to_owned(), value }),
            Err(why) => {
                // The first line names the schema, which has no name of its own.
                let words = why.to_string();
                let words = words.split_once('\n').map_or(words.as_str(), |(_, rest)| rest);
                Err(words.trim_start().chars().take(MAX_WORDS).collect())
            }
        }
    }
}

/// Without one code fence that stands around all of it.
fn unfenced(text: &str) -> &str {
    let inside = || {
        let (first, rest) = text.strip_prefix("```")?.split_once('\n')?;
        let body = rest.strip_suffix("```")?;
        (!first.contains('`') && !body.contains("\n```")).then(|| body.trim())
    };
    inside().unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCHEMA: &str = r#"{"type":"object","required":["n"],"properties":{"n":{"type":"integer"}},"additionalProperties":false}"#;

    #[test]
    fn an_answer_fits_bare_or_in_one_fence() {
        let form = Form::of(SCHEMA.to_owned()).unwrap();
        for answer in ["{\"n\":1}", "\n {\"n\":1}\n", "```json\n{\"n\":1}\n```", "```\n{\"n\":1}\n```\n"] {
            let fitting = form.judge(answer).unwrap();
            assert_eq!((fitting.text.as_str(), &fitting.value["n"]), ("{\"n\":1}", &1.into()), "{answer}");
        }
    }

    #[test]
    fn what_does_not_fit_is_told_with_its_place() {
        let form = Form::of(SCHEMA.to_owned()).unwrap();
        for (answer, why) in [
            ("", "it is empty"),
            ("Here: {\"n\":1}", "it is not JSON"),
            ("{\"n\":1} {\"n\":2}", "it is not JSON"),
            ("```json\n{\"n\":1}\n```\n```json\n{\"n\":1}\n```", "it is not JSON"),
            ("{}", "missing properties 'n'"),
            ("{\"n\":\"1\"}", "at '/n'"),
            ("{\"n\":1,\"m\":2}", "'m'"),
        ] {
            let said = form.judge(answer).unwrap_err();
            assert!(said.contains(why) && !said.contains("schema.invalid"), "{answer}: {said}");
        }
        let long =
            format!("{{{}}}", (0..2_000).map(|at| format!("\"m{at}\":1")).collect::<Vec<_>>().join(","));
        assert!(form.judge(&long).unwrap_err().chars().count() <= MAX_WORDS);
    }

    #[test]
    fn a_schema_that_is_none_or_refers_outside_is_refused() {
        for text in [
            "",
            "[",
            "3",
            r#"{"type":"nothing"}"#,
            r#"{"$ref":"file:///etc/hostname"}"#,
            r#"{"$ref":"https://a.invalid/b"}"#,
            r#"{"pattern":"("}"#,
        ] {
            assert!(Form::of(text.to_owned()).is_err(), "{text}");
        }
        for text in [
            "{}",
            "true",
            r#"{"$schema":"http://json-schema.org/draft-07/schema#"}"#,
            r##"{"$ref":"#/$defs/a","$defs":{"a":{}}}"##,
        ] {
            assert!(Form::of(text.to_owned()).is_ok(), "{text}");
        }
    }
}
