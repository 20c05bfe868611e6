//! Judges lines by the schema of their wire: whether a line is one of its kinds, and whether the schema would notice if it were not.
//!
//! A schema that accepts everything proves nothing. So each line is also broken, one member at a time: each member that the schema
//! requires is left out, renamed, and given every other JSON type; each object gets a member that nobody knows. The line's kind must
//! refuse all of them. [`Contract::seen`] keeps which kinds and which alternatives inside them have been met, so that a test can ask
//! for those that never were.

mod requirements;
mod walk;

#[cfg(test)]
mod tests;

use boon::{Compiler, SchemaIndex, Schemas};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

pub use requirements::requirements;

/// Who says a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// What a person has before them.
    Ui,
    /// What runs the agent.
    Runtime,
}

/// Where the schema is thought to be; it is never fetched.
const HOME: &str = "https://schema.invalid/wire.json";

/// The schema of one wire, ready to judge.
pub struct Contract {
    root: Arc<Value>,
    compiler: Compiler,
    schemas: Schemas,
    compiled: BTreeMap<String, SchemaIndex>,
    seen: BTreeSet<String>,
    /// Demands that were tried already: the next line with the same ones need not be broken there again.
    tried: BTreeSet<String>,
}

impl Contract {
    /// Reads a schema.
    ///
    /// # Errors
    /// When it is no JSON or no schema.
    pub fn read(text: &str) -> Result<Contract, String> {
        let root: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
        let mut compiler = Compiler::new();
        compiler.add_resource(HOME, root.clone()).map_err(|error| format!("{error:#}"))?;
        let mut contract = Contract {
            root: Arc::new(root),
            compiler,
            schemas: Schemas::new(),
            compiled: BTreeMap::new(),
            seen: BTreeSet::new(),
            tried: BTreeSet::new(),
        };
        contract.index("")?;
        Ok(contract)
    }

    /// The kinds of lines that a side says.
    pub fn kinds(&self, side: Side) -> Vec<String> {
        let refs = self.root["$defs"][key(side)]["anyOf"].as_array().into_iter().flatten();
        refs.filter_map(|one| one["$ref"].as_str()?.strip_prefix("#/$defs/").map(ToOwned::to_owned)).collect()
    }

    /// Kinds and alternatives that were met by [`Contract::judge`].
    pub fn seen(&self) -> &BTreeSet<String> {
        &self.seen
    }

    /// Every kind of `side`, and every alternative that can be told by a word inside one of them.
    pub fn all(&self, side: Side) -> BTreeSet<String> {
        walk::alternatives(&self.root, &self.kinds(side))
    }

    /// The kinds of `side` that the line is of; the alternatives inside count as seen.
    pub fn kinds_of(&mut self, side: Side, line: &Value) -> Vec<String> {
        let mut kinds = self.kinds(side);
        kinds.retain(|kind| self.accepts(&format!("/$defs/{kind}"), line));
        for kind in &kinds {
            walk::walk(self, kind, line);
        }
        kinds
    }

    /// Whether the line is of the wire, and whether every way of breaking it is noticed. Gives how many ways there were; a
    /// member that was broken in an earlier line of this kind is left alone.
    ///
    /// # Errors
    /// What is wrong, with the line.
    pub fn judge(&mut self, side: Side, line: &Value) -> Result<usize, String> {
        let kinds = self.kinds_of(side, line);
        if kinds.is_empty() {
            return Err(format!("no kind of line {}: {line}\n{}", key(side), self.why(side, line)));
        }
        let mut ways = 0;
        for kind in kinds {
            let mut demands = walk::walk(self, &kind, line);
            demands.only_new(&kind, &mut self.tried);
            for (how, broken) in demands.breakages(&self.root, line) {
                ways += 1;
                if self.accepts(&format!("/$defs/{kind}"), &broken) {
                    return Err(format!("{kind} does not notice {how}: {broken}"));
                }
            }
        }
        Ok(ways)
    }

    fn why(&mut self, side: Side, line: &Value) -> String {
        match self.index(&format!("/$defs/{}", key(side))) {
            Ok(index) => {
                self.schemas.validate(line, index).map_or_else(|error| format!("{error}"), |()| String::new())
            }
            Err(why) => why,
        }
    }

    /// Whether a value is one of this definition.
    pub fn is_one(&mut self, definition: &str, value: &Value) -> bool {
        self.accepts(&format!("/$defs/{definition}"), value)
    }

    fn accepts(&mut self, pointer: &str, value: &Value) -> bool {
        self.index(pointer).is_ok_and(|index| self.schemas.validate(value, index).is_ok())
    }

    fn index(&mut self, pointer: &str) -> Result<SchemaIndex, String> {
        if let Some(index) = self.compiled.get(pointer) {
            return Ok(*index);
        }
        let place = format!("{HOME}#{}", pointer.replace('$', "%24").replace(' ', "%20"));
        let index = self
            .compiler
            .compile(&place, &mut self.schemas)
            .map_err(|error| format!("{pointer}: {error:#}"))?;
        self.compiled.insert(pointer.to_owned(), index);
        Ok(index)
    }
}

fn key(side: Side) -> &'static str {
    match side {
        Side::Ui => "from_ui",
        Side::Runtime => "from_runtime",
    }
}
