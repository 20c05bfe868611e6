//! A call as a model made it, taken as the call of our tool that it means: names and arguments of other harnesses' tools, JSON in a text,
//! a patch as a command line.
//!
//! It stands before everything else: what is planned, asked, recorded and run is the call that comes out of here, so no other form of a
//! call can pass what the plain form does not pass. Tools that are not ours are called as the model called them. Where a call could mean
//! two things, it is refused and says what to write.

mod line;
mod shapes;
mod theirs;

use crate::forms;
use crate::patch;
use crate::toolbox::{CALL_FOUND, Toolbox};
use serde_json::{Map, Value};
use std::path::Path;
use theirs::Meant;

/// What a model wrote as arguments.
#[derive(Debug, Clone, PartialEq)]
pub enum CallArgs {
    /// JSON.
    Value(Value),
    /// As it was written, where no JSON can be read from it.
    Text(String),
}

/// A call as it is taken.
#[derive(Debug, Clone, PartialEq)]
pub struct Heard {
    pub name: String,
    pub said: CallArgs,
    /// Why it cannot be taken, and what to write instead.
    pub unclear: Option<String>,
}

impl Toolbox {
    /// Takes a call for what it means. Pure: `workdir` is where relative paths begin.
    pub fn hear(&self, name: &str, said: CallArgs, workdir: &Path) -> Heard {
        let said = decoded(said);
        if name == CALL_FOUND && self.own_names().any(|own| own == CALL_FOUND) {
            return self.found(said);
        }
        let Some(meant) = self.meant(name) else {
            return Heard { name: name.to_owned(), said, unclear: None };
        };
        let args = match said {
            CallArgs::Value(Value::Object(args)) => args,
            CallArgs::Text(text) | CallArgs::Value(Value::String(text))
                if meant.tool() == patch::NAME && is_whole_patch(&text) =>
            {
                patch_args(text)
            }
            said => return Heard { name: meant.tool().to_owned(), said, unclear: None },
        };
        let patches = !self.is_foreign(patch::NAME) && self.reach(patch::NAME).is_some();
        let call = shapes::Call { name, meant, args: unwrapped(args), workdir, patches };
        match call.clone().take() {
            Ok((tool, args)) => {
                Heard { name: tool, said: CallArgs::Value(Value::Object(args)), unclear: None }
            }
            Err(why) => {
                let (tool, said) = (call.meant.tool(), CallArgs::Value(Value::Object(call.args)));
                Heard { name: tool.to_owned(), said, unclear: Some(format!("{tool}: {why}")) }
            }
        }
    }

    /// A call of a tool that was found by a search, taken as a call of that tool.
    fn found(&self, said: CallArgs) -> Heard {
        let wanted = match &said {
            CallArgs::Value(Value::Object(args)) => args.get("name").and_then(Value::as_str),
            _ => None,
        };
        let Some(name) = wanted.filter(|name| self.is_apart(name)).map(str::to_owned) else {
            let why = match wanted {
                Some(name) => format!(
                    "{CALL_FOUND}: no tool {name:?} is to be found. Search for it, and write its name as it was found; \
                     tools that you are told of are called by themselves."
                ),
                None => format!("{CALL_FOUND}: write {{\"name\": TOOL, \"arguments\": {{…}}}}"),
            };
            return Heard { name: CALL_FOUND.to_owned(), said, unclear: Some(why) };
        };
        let CallArgs::Value(Value::Object(mut args)) = said else {
            return Heard { name, said, unclear: None };
        };
        let inner = ["arguments", "args", "parameters", "input"].iter().find_map(|key| args.remove(*key));
        let inner = match inner.map(forms::object) {
            None => Value::Object(Map::new()),
            Some(Ok(inner) | Err(inner)) => inner,
        };
        Heard { name, said: CallArgs::Value(inner), unclear: None }
    }

    /// The tool of ours that a name means. A name that another tool has is that tool's, whatever it means elsewhere.
    fn meant(&self, name: &str) -> Option<Meant> {
        if self.is_foreign(name) {
            return None;
        }
        let bare = theirs::bare(name);
        let own = self.own_names().find(|own| *own == name).or_else(|| {
            let letters = theirs::letters(bare);
            self.own_names().find(|own| theirs::letters(own) == letters)
        });
        if let Some(own) = own {
            return Some(Meant::Tool(own.to_owned()));
        }
        let letters = theirs::letters(bare);
        let tail = |name: &str| {
            let marks = ["__", ".", "/", ":"];
            let begin =
                marks.iter().filter_map(|mark| Some(name.rfind(mark)? + mark.len())).max().unwrap_or(0);
            theirs::letters(name.get(begin..).unwrap_or_default())
        };
        if self.foreign_names().any(|other| theirs::letters(other) == letters || tail(other) == letters) {
            return None;
        }
        let meant = theirs::meant(&letters)?;
        let tool = meant.tool();
        (meant.is_several() || self.reach(tool).is_some() || self.hides(tool)).then_some(meant)
    }
}

/// The arguments as an object, where they are one that was written down twice or with a comma too many.
fn decoded(said: CallArgs) -> CallArgs {
    let value = match said {
        CallArgs::Text(text) => match forms::json(&text) {
            Some(value) => value,
            None => return CallArgs::Text(text),
        },
        CallArgs::Value(value) => value,
    };
    CallArgs::Value(forms::object(value).unwrap_or_else(|value| value))
}

/// Some write the arguments into an argument.
fn unwrapped(mut args: Map<String, Value>) -> Map<String, Value> {
    let only =
        ["arguments", "parameters", "args"].iter().find(|name| args.len() == 1 && args.contains_key(**name));
    let inner = only.and_then(|name| args.get(*name).cloned()).map(forms::object);
    if let Some(Ok(Value::Object(inner))) = inner {
        args = inner;
    }
    args
}

/// Whether a text in the place of arguments is a patch from its first to its last line: one that was cut has no last line.
fn is_whole_patch(text: &str) -> bool {
    let has = |mark: &str| text.lines().any(|line| line.trim() == mark);
    has("*** Begin Patch") && has("*** End Patch")
}

/// The arguments of a patch.
fn patch_args(text: String) -> Map<String, Value> {
    Map::from_iter([("input".to_owned(), Value::String(text))])
}

#[cfg(test)]
mod tests;
