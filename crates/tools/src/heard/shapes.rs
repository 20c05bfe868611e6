//! Arguments of a call in the shape that our tool reads. Pure. What our tool cannot do as it was asked is refused: nothing is left out
//! in silence that would change what happens.

use super::theirs::{self, Meant};
use super::{line, patch_args};
use crate::{forms, patch};
use serde_json::{Map, Value};
use std::path::Path;

/// A value of `timeout` from which on others mean milliseconds.
const MILLISECONDS: f64 = 1000.0;
/// How deep a listing goes that is to show everything below.
const ALL_LEVELS: u64 = 8;

/// A call of one of our tools, as another harness' tool would be called.
#[derive(Debug, Clone)]
pub(super) struct Call<'a> {
    /// As the model wrote it.
    pub(super) name: &'a str,
    pub(super) meant: Meant,
    pub(super) args: Map<String, Value>,
    /// Where relative paths begin.
    pub(super) workdir: &'a Path,
    /// Whether there is a tool for patches.
    pub(super) patches: bool,
}

impl Call<'_> {
    /// Our tool and its arguments; why it cannot be taken, and what to write instead.
    pub(super) fn take(mut self) -> Result<(String, Map<String, Value>), String> {
        let mut tool = match &self.meant {
            Meant::Tool(tool) => tool.clone(),
            Meant::Job(act) => {
                self.args.insert("action".to_owned(), (*act).into());
                "bash_jobs".to_owned()
            }
            Meant::Editor => self.editor()?.to_owned(),
        };
        self.rename(&tool)?;
        match tool.as_str() {
            "bash" => {
                self.bash()?;
                if let Some(text) = self.patch()? {
                    patch::NAME.clone_into(&mut tool);
                    self.args = patch_args(text);
                }
            }
            "read" => self.read()?,
            "grep" => self.grep()?,
            "edit" => self.refuse("use_regex", "`old` is plain text here: give the text itself")?,
            "write" if self.text("mode") == Some("append") => {
                return Err("it writes the whole file: use edit to add to one".to_owned());
            }
            "ls" if self.is("recursive") => {
                self.args.insert("depth".to_owned(), ALL_LEVELS.into());
            }
            "todo" => self.decode("items"),
            _ => {}
        }
        Ok((tool, self.args))
    }

    /// The arguments under our names for them.
    fn rename(&mut self, tool: &str) -> Result<(), String> {
        let mut named = Map::new();
        let (own, theirs): (Vec<_>, Vec<_>) = std::mem::take(&mut self.args)
            .into_iter()
            .filter(|(_, value)| !value.is_null())
            .partition(|(name, _)| theirs::argument(tool, name).is_none());
        named.extend(own);
        for (name, value) in theirs {
            let Some(ours) = theirs::argument(tool, &name) else { continue };
            match named.get(ours) {
                Some(other) if *other != value => {
                    return Err(format!("`{ours}` and `{name}` say different things: give one of them"));
                }
                _ => drop(named.insert(ours.to_owned(), value)),
            }
        }
        self.args = named;
        Ok(())
    }

    /// The tool that an editor of several commands means.
    fn editor(&mut self) -> Result<&'static str, String> {
        let command = self.args.remove("command");
        match command.as_ref().and_then(Value::as_str) {
            Some("view") => Ok("read"),
            Some("create" | "write") => Ok("write"),
            Some("str_replace") => Ok("edit"),
            Some("insert") => {
                Err("there is no `insert`: give the line that stands there as `old`, and it with the new ones as `new`".to_owned())
            }
            _ => Err("`command` is view, create or str_replace; to take an edit back, edit once more".to_owned()),
        }
    }

    fn bash(&mut self) -> Result<(), String> {
        let words = match self.args.get("command") {
            Some(Value::Array(words)) => Some(words.clone()),
            Some(Value::String(text)) if text.trim_start().starts_with('[') => match forms::json(text) {
                Some(Value::Array(words)) if words.iter().all(Value::is_string) => Some(words),
                _ => None,
            },
            _ => None,
        };
        if let Some(words) = words {
            let words: Option<Vec<&str>> = words.iter().map(Value::as_str).collect();
            let line = words.as_deref().and_then(line::of_words);
            let line = line.ok_or("`command` is one line of text: write it as you would type it")?;
            self.args.insert("command".to_owned(), line.into());
        }
        let by_name = (self.name != "bash")
            .then(|| self.number("timeout").filter(|time| *time >= MILLISECONDS))
            .flatten();
        if let Some(time) = self.args.remove("timeout_ms").as_ref().and_then(number).or(by_name) {
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "a count of seconds, rounded up"
            )]
            let seconds = (time / MILLISECONDS).ceil().max(1.0) as u64;
            self.args.insert("timeout".to_owned(), seconds.into());
        }
        if self.text("sandbox_permissions") == Some("require_escalated") {
            self.args.insert("unsandboxed".to_owned(), true.into());
        }
        Ok(())
    }

    /// The patch that a command line is, where it is nothing more than that, here and now.
    fn patch(&self) -> Result<Option<String>, String> {
        let here = match self.text("workdir") {
            None => true,
            Some(dir) => dir == "." || Path::new(dir) == self.workdir,
        };
        let background = self.args.get("background").is_some_and(|value| *value != Value::Bool(false));
        if !self.patches || !here || background {
            return Ok(None);
        }
        line::patch(self.text("command").unwrap_or_default())
    }

    fn read(&mut self) -> Result<(), String> {
        let unclear = || "the range is [first line, last line]".to_owned();
        if let Some(range) = self.args.remove("view_range") {
            let Some([first, last]) = range.as_array().map(Vec::as_slice) else { return Err(unclear()) };
            let first = first.as_u64().ok_or_else(unclear)?;
            self.args.insert("offset".to_owned(), first.into());
            // -1 is the end of the file.
            if last.as_i64() != Some(-1) {
                self.args.insert("end_line".to_owned(), last.clone());
            }
        }
        if let Some(last) = self.args.remove("end_line") {
            let first = self.number("offset").unwrap_or(1.0).max(1.0);
            let lines = number(&last).map(|last| last - first + 1.0).filter(|lines| *lines >= 1.0);
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "a count of lines, 1 or more"
            )]
            let lines = lines.ok_or_else(unclear)? as u64;
            self.args.insert("limit".to_owned(), lines.into());
        }
        Ok(())
    }

    fn grep(&mut self) -> Result<(), String> {
        self.refuse("multiline", "a match is in one line: search for a part of it")?;
        let mode = self.args.remove("output_mode");
        match mode.as_ref().and_then(Value::as_str) {
            Some("files_with_matches") => drop(self.args.insert("files_only".to_owned(), true.into())),
            Some("count") => {
                return Err("there is no count: leave `output_mode` out, or count in bash".to_owned());
            }
            _ => {}
        }
        if let Some(Value::Bool(sensitive)) = self.args.remove("case_sensitive") {
            self.args.entry("ignore_case").or_insert((!sensitive).into());
        }
        if let Some(Value::Bool(regex)) = self.args.remove("isRegexp") {
            self.args.entry("literal").or_insert((!regex).into());
        }
        let around = ["-A", "-B"].iter().filter_map(|name| self.args.remove(*name)?.as_u64()).max();
        if let Some(around) = around {
            self.args.entry("context").or_insert(around.into());
        }
        Ok(())
    }

    /// Reads a list that stands there as a text of JSON.
    fn decode(&mut self, name: &str) {
        let list = self.text(name).and_then(forms::json).filter(Value::is_array);
        if let Some(list) = list {
            self.args.insert(name.to_owned(), list);
        }
    }

    fn refuse(&self, name: &str, why: &str) -> Result<(), String> {
        if self.is(name) { Err(format!("`{name}` cannot be had: {why}")) } else { Ok(()) }
    }

    fn is(&self, name: &str) -> bool {
        matches!(self.args.get(name), Some(Value::Bool(true))) || self.text(name) == Some("true")
    }

    fn text(&self, name: &str) -> Option<&str> {
        self.args.get(name).and_then(Value::as_str)
    }

    fn number(&self, name: &str) -> Option<f64> {
        self.args.get(name).and_then(number)
    }
}

fn number(value: &Value) -> Option<f64> {
    value.as_f64().or_else(|| value.as_str()?.trim().parse().ok()).filter(|number: &f64| number.is_finite())
}
