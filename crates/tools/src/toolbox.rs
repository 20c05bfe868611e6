//! The tools that exist in one session, by name, and which of them the model is offered.

use crate::tool::{Spec, Tool};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Tools by name. A later tool of the same name takes the place of the earlier one.
#[derive(Clone, Default)]
pub struct Toolbox {
    tools: BTreeMap<String, Arc<dyn Tool>>,
    hidden: BTreeSet<String>,
}

impl Toolbox {
    /// No tools at all.
    pub fn empty() -> Toolbox {
        Toolbox::default()
    }

    /// The tools that need nothing but a workplace.
    pub fn standard() -> Toolbox {
        let mut toolbox = Toolbox::empty();
        toolbox.add(Arc::new(crate::Read));
        toolbox.add(Arc::new(crate::Ls));
        toolbox.add(Arc::new(crate::Write));
        toolbox.add(Arc::new(crate::Bash));
        toolbox.add(Arc::new(crate::BashJobs));
        toolbox
    }

    /// Puts a tool in.
    pub fn add(&mut self, tool: Arc<dyn Tool>) {
        self.tools.insert(tool.spec().name, tool);
    }

    /// Takes a tool out, for instance when an MCP server went away.
    pub fn remove(&mut self, name: &str) {
        self.tools.remove(name);
    }

    /// Offers only the tools named; names that are not known are given back.
    pub fn activate(&mut self, names: &[String]) -> Vec<String> {
        self.hidden = self.tools.keys().filter(|name| !names.contains(name)).cloned().collect();
        names.iter().filter(|name| !self.tools.contains_key(*name)).cloned().collect()
    }

    /// The tool of that name, if it is offered.
    pub fn get(&self, name: &str) -> Option<Arc<dyn Tool>> {
        if self.hidden.contains(name) {
            return None;
        }
        self.tools.get(name).cloned()
    }

    /// The names of the tools that are offered.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.tools.keys().filter(|name| !self.hidden.contains(*name)).map(String::as_str)
    }

    /// What the model is told: every offered tool.
    pub fn specs(&self) -> Vec<Spec> {
        self.names().filter_map(|name| self.tools.get(name)).map(|tool| tool.spec()).collect()
    }
}
