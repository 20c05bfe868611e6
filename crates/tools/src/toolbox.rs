//! The tools that exist in one session, by name, and which of them the model is offered.

use crate::tool::{Spec, Tool};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The tool that calls one which was found by a search: such a call is taken as one of the tool that it names.
pub const CALL_FOUND: &str = "tool_call";

/// Tools by name. A later tool of the same name takes the place of the earlier one.
#[derive(Clone, Default)]
pub struct Toolbox {
    tools: BTreeMap<String, Arc<dyn Tool>>,
    hidden: BTreeSet<String>,
    /// Those that are not ours: their arguments are what their maker says.
    foreign: BTreeSet<String>,
    /// Those that are called as ever and are not told: the model finds them by a search.
    apart: BTreeSet<String>,
}

impl Toolbox {
    /// No tools at all.
    pub fn empty() -> Toolbox {
        Toolbox::default()
    }

    /// Every tool of this crate. The engine answers `ask` itself.
    pub fn standard() -> Toolbox {
        let tools: [Arc<dyn Tool>; 10] = [
            Arc::new(crate::Read),
            Arc::new(crate::Ls),
            Arc::new(crate::Grep),
            Arc::new(crate::Find),
            Arc::new(crate::Write),
            Arc::new(crate::Edit),
            Arc::new(crate::Bash::default()),
            Arc::new(crate::BashJobs),
            Arc::new(crate::Todo),
            Arc::new(crate::Ask),
        ];
        let mut toolbox = Toolbox::empty();
        for tool in tools {
            toolbox.add(tool);
        }
        toolbox
    }

    /// Puts a tool of ours in.
    pub fn add(&mut self, tool: Arc<dyn Tool>) {
        let name = tool.name();
        self.foreign.remove(&name);
        self.tools.insert(name, tool);
    }

    /// Puts in a tool of an MCP server or a UI.
    pub fn add_foreign(&mut self, tool: Arc<dyn Tool>) {
        let name = tool.name();
        self.foreign.insert(name.clone());
        self.tools.insert(name, tool);
    }

    /// Takes a tool out, for instance when an MCP server went away.
    pub fn remove(&mut self, name: &str) {
        self.foreign.remove(name);
        self.tools.remove(name);
    }

    /// Offers only the tools named; names that are not known are given back.
    pub fn activate(&mut self, names: &[String]) -> Vec<String> {
        self.hidden = self.tools.keys().filter(|name| !names.contains(name)).cloned().collect();
        names.iter().filter(|name| !self.tools.contains_key(*name)).cloned().collect()
    }

    /// Leaves tools out of what the model is told. They are called as before, by their name or by [`CALL_FOUND`].
    pub fn set_apart(&mut self, names: impl IntoIterator<Item = String>) {
        self.apart = names.into_iter().collect();
    }

    /// The tools that are offered and not told.
    pub fn apart(&self) -> impl Iterator<Item = &Arc<dyn Tool>> {
        self.apart.iter().filter(|name| !self.hidden.contains(*name)).filter_map(|name| self.tools.get(name))
    }

    /// Whether a tool is there that is found by a search.
    pub(crate) fn is_apart(&self, name: &str) -> bool {
        self.apart.contains(name) && !self.hidden.contains(name) && self.tools.contains_key(name)
    }

    /// The tool of that name, if it is offered.
    pub fn get(&self, name: &str) -> Option<Arc<dyn Tool>> {
        if self.hidden.contains(name) {
            return None;
        }
        self.tools.get(name).cloned()
    }

    /// The same, and `apply_patch` also where it is not offered, unless somebody chose which tools are: it is another form of writing
    /// and editing.
    pub fn reach(&self, name: &str) -> Option<Arc<dyn Tool>> {
        let own = |name: &str| self.tools.contains_key(name) && !self.foreign.contains(name);
        let unlisted = || {
            let is_patch = name == crate::patch::NAME && !self.tools.contains_key(name);
            is_patch && self.hidden.is_empty() && own("edit") && own("write")
        };
        self.get(name).or_else(|| unlisted().then(|| Arc::new(crate::ApplyPatch) as Arc<dyn Tool>))
    }

    /// Whether a tool of that name is there that is not ours.
    pub(crate) fn is_foreign(&self, name: &str) -> bool {
        self.foreign.contains(name)
    }

    /// The names of the tools that are not ours.
    pub(crate) fn foreign_names(&self) -> impl Iterator<Item = &str> {
        self.foreign.iter().map(String::as_str)
    }

    /// The names of our tools, offered or not.
    pub(crate) fn own_names(&self) -> impl Iterator<Item = &str> {
        self.tools.keys().filter(|name| !self.foreign.contains(*name)).map(String::as_str)
    }

    /// Whether a tool of that name is there and not offered.
    pub fn hides(&self, name: &str) -> bool {
        self.hidden.contains(name)
    }

    /// The names of the tools that the model is told.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let told = |name: &&String| !self.hidden.contains(*name) && !self.apart.contains(*name);
        self.tools.keys().filter(told).map(String::as_str)
    }

    /// What the model is told: every offered tool that does not stand apart.
    pub fn specs(&self) -> Vec<Spec> {
        self.names().filter_map(|name| self.tools.get(name)).map(|tool| tool.spec()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_that_stands_apart_is_called_and_not_told() {
        let mut toolbox = Toolbox::standard();
        toolbox.set_apart(["read".to_owned(), "none".to_owned()]);
        assert!(toolbox.specs().iter().all(|spec| spec.name != "read") && toolbox.get("read").is_some());
        assert_eq!(toolbox.apart().map(|tool| tool.name()).collect::<Vec<_>>(), ["read"]);
        toolbox.activate(&["ls".into()]);
        assert_eq!(toolbox.apart().count(), 0, "what was switched off is not found either");
        assert!(!toolbox.is_apart("read"));
    }

    #[test]
    fn a_part_of_the_tools_can_be_offered() {
        let mut toolbox = Toolbox::standard();
        assert_eq!(
            toolbox.names().collect::<Vec<_>>(),
            ["ask", "bash", "bash_jobs", "edit", "find", "grep", "ls", "read", "todo", "write"]
        );
        assert_eq!(toolbox.activate(&["read".into(), "dance".into()]), ["dance"]);
        assert_eq!(toolbox.specs().len(), 1);
        assert!(toolbox.get("bash").is_none() && toolbox.get("read").is_some());
        for spec in Toolbox::standard().specs() {
            assert_eq!(spec.schema["type"], "object", "{}", spec.name);
            assert!(!spec.description.is_empty());
        }
    }
}
