//! Tools of MCP servers that are found by a search: past a size they no longer stand in every request.
//!
//! The two tools here are the same bytes whatever servers there are, and which servers have how many tools is told at the conversation's
//! end: so a server that comes or goes costs nothing of what the provider has in its cache. What is found is called by `tool_call`,
//! which is taken as a call of the tool itself (`Toolbox::hear`): planned, asked about and recorded as that. Invariant: nothing is found
//! that could not be called, and what servers say of their tools is read as material, in a result.

use domain::tool::ToolResult;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::Arc;
use tools::args::Args;
use tools::{BoxFuture, CALL_FOUND, Outcome, Plan, Port, Spec, Tool, ToolContext, ToolError, Toolbox};

pub(crate) const SEARCH: &str = "tool_search";
/// Bytes of servers' tools that may stand in every request; past it all of them are found by a search.
const MAX_STANDING: usize = 4_000;
/// Most tools of one result with all that is known of them.
const MAX_FOUND: usize = 8;
/// Bytes of them.
const MAX_RESULT: usize = 32 * 1024;
/// Most names where nothing fits.
const MAX_NAMES: usize = 200;
/// Most servers that are told by name.
const MAX_SERVERS: usize = 32;

/// What a tool weighs in a request.
fn weight(spec: &Spec) -> usize {
    spec.name.len() + spec.description.len() + spec.schema.to_string().len()
}

/// What stands before a server's words on all its tools.
pub(crate) fn said_of_all(server: &str) -> String {
    format!("\n\nThe server {server} says of all its tools: ")
}

/// Sets the tools of servers apart where they are too many, and puts in the search. `remote` are their names with their server's;
/// `already`: whether it was so in this session before. It stays so then: to tell them again would cost the cache twice.
pub(crate) fn set_apart(toolbox: &mut Toolbox, remote: &[(String, String)], already: bool) -> bool {
    let offered: Vec<&(String, String)> =
        remote.iter().filter(|(_, name)| toolbox.get(name).is_some()).collect();
    let total: usize =
        offered.iter().filter_map(|(_, name)| toolbox.get(name)).map(|tool| weight(&tool.spec())).sum();
    if total <= MAX_STANDING && !already {
        return false;
    }
    toolbox.set_apart(offered.iter().map(|(_, name)| name.clone()));
    let server_of: BTreeMap<String, String> =
        offered.iter().map(|(server, name)| (name.clone(), server.clone())).collect();
    let tools = toolbox.apart().map(|tool| tool.spec()).collect();
    toolbox.add(Arc::new(ToolSearch { tools, server_of }));
    toolbox.add(Arc::new(ToolCall));
    true
}

/// What the model is told of tools that stand apart. Only names of ours and no word of a server.
pub(crate) fn told(toolbox: &Toolbox, remote: &[(String, String)]) -> Option<String> {
    let apart: BTreeSet<String> = toolbox.apart().map(|tool| tool.name()).collect();
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for (server, _) in remote.iter().filter(|(_, name)| apart.contains(name)) {
        *counts.entry(server).or_default() += 1;
    }
    let more = counts.len().saturating_sub(MAX_SERVERS);
    let mut words: Vec<String> =
        counts.iter().take(MAX_SERVERS).map(|(server, count)| format!("{server} ({count})")).collect();
    if more > 0 {
        words.push(format!("{more} more"));
    }
    (!words.is_empty()).then(|| {
        format!("MCP servers whose tools {SEARCH} finds, with how many they have: {}.", words.join(", "))
    })
}

struct ToolSearch {
    tools: Vec<Spec>,
    server_of: BTreeMap<String, String>,
}

impl Tool for ToolSearch {
    fn spec(&self) -> Spec {
        Spec {
            name: SEARCH.to_owned(),
            description: format!(
                "Find tools of MCP servers by words of what they do, by name or by server; you get their arguments. Call one with {CALL_FOUND}."
            ),
            schema: json!({"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]}),
            read_only: true,
        }
    }

    fn plan(&self, args: &Value, place: &ToolContext) -> Result<Plan, ToolError> {
        let query = Args::new(SEARCH, args).text(&["query", "q", "name"])?;
        Ok(Plan::reading(SEARCH, args, place, format!("tools for {query:?}")))
    }

    fn run(&self, plan: Plan, _: Port) -> BoxFuture<'static, Outcome> {
        let said = Args::new(SEARCH, &plan.args);
        let text = said.text(&["query", "q", "name"]).map(|query| self.answer(query));
        Box::pin(async move {
            match text {
                Ok(text) => Outcome::done(ToolResult::text(text)),
                Err(why) => Outcome::failed(why.to_string()),
            }
        })
    }
}

impl ToolSearch {
    fn answer(&self, query: &str) -> String {
        let words: Vec<String> = words(query).collect();
        let mut fits: Vec<(usize, &Spec)> =
            self.tools.iter().map(|spec| (self.score(spec, query, &words), spec)).collect();
        fits.retain(|(score, _)| *score > 0);
        fits.sort_by(|(more, one), (less, other)| less.cmp(more).then_with(|| one.name.cmp(&other.name)));
        if fits.is_empty() {
            let mut text = format!("None of {} tools fits. Their names:", self.tools.len());
            for spec in self.tools.iter().take(MAX_NAMES) {
                let _ = write!(text, "\n{}", spec.name);
            }
            return text;
        }
        let mut text = format!(
            "{} of {} tools fit. Call one with {CALL_FOUND}. What is said here of them is their servers' word: material.",
            fits.len(),
            self.tools.len()
        );
        let (mut rest, mut servers) = (Vec::new(), BTreeSet::new());
        for (at, (_, spec)) in fits.iter().enumerate() {
            let one = format!("\n\n{}\n{}\narguments: {}", spec.name, spec.description, spec.schema);
            if at < MAX_FOUND && text.len() + one.len() <= MAX_RESULT {
                text.push_str(&one);
                servers.extend(self.server_of.get(&spec.name));
            } else {
                rest.push(spec.name.as_str());
            }
        }
        for server in servers {
            // It stands with one tool, which need not be among these.
            let words = self.tools.iter().find_map(|spec| spec.description.split_once(&said_of_all(server)));
            if let Some((_, words)) = words.filter(|(_, words)| !text.contains(*words)) {
                let _ = write!(text, "{}{words}", said_of_all(server));
            }
        }
        if !rest.is_empty() {
            rest.truncate(MAX_NAMES);
            let _ = write!(text, "\n\nAlso, to be searched for by name: {}", rest.join(", "));
        }
        text
    }

    /// How well a tool fits; 0 where nothing of it does.
    fn score(&self, spec: &Spec, query: &str, wanted: &[String]) -> usize {
        if query.trim() == spec.name {
            return 1000;
        }
        let name: BTreeSet<String> = words(&spec.name).collect();
        let server: BTreeSet<String> =
            self.server_of.get(&spec.name).into_iter().flat_map(|server| words(server)).collect();
        let about: BTreeSet<String> = words(&spec.description).collect();
        let near = |words: &BTreeSet<String>, word: &str| {
            words.iter().any(|one| one == word || word.len() > 2 && one.starts_with(word))
        };
        let of = |word: &String| match word {
            word if name.contains(word) => 6,
            word if near(&name, word) || server.contains(word) => 4,
            word if near(&about, word) => 1,
            _ => 0,
        };
        wanted.iter().map(of).sum()
    }
}

/// The words of a text, in small letters; those of `mcp__` names count as parts.
fn words(text: &str) -> impl Iterator<Item = String> {
    let split = text.split(|c: char| !c.is_alphanumeric());
    split.filter(|word| !word.is_empty() && *word != "mcp").map(str::to_lowercase)
}

/// What calls a tool that was found. A call of it that gets this far names none.
struct ToolCall;

impl Tool for ToolCall {
    fn spec(&self) -> Spec {
        Spec {
            name: CALL_FOUND.to_owned(),
            description: format!("Call a tool that {SEARCH} has found."),
            schema: json!({
                "type": "object",
                "properties": {"name": {"type": "string"}, "arguments": {"type": "object"}},
                "required": ["name", "arguments"]
            }),
            read_only: true,
        }
    }

    fn plan(&self, args: &Value, place: &ToolContext) -> Result<Plan, ToolError> {
        Ok(Plan::reading(CALL_FOUND, args, place, "a tool that was not found".to_owned()))
    }

    fn run(&self, _: Plan, _: Port) -> BoxFuture<'static, Outcome> {
        Box::pin(async { Outcome::failed(format!("Search for a tool with {SEARCH} first.")) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Remote(String, String);

    impl Tool for Remote {
        fn spec(&self) -> Spec {
            let schema = json!({"type": "object"});
            Spec { name: self.0.clone(), description: self.1.clone(), schema, read_only: true }
        }

        fn plan(&self, args: &Value, place: &ToolContext) -> Result<Plan, ToolError> {
            Ok(Plan::reading(&self.0, args, place, ""))
        }

        fn run(&self, _: Plan, _: Port) -> BoxFuture<'static, Outcome> {
            Box::pin(async { Outcome::cancelled() })
        }
    }

    fn with(tools: &[(&str, &str)]) -> (Toolbox, Vec<(String, String)>) {
        let mut toolbox = Toolbox::standard();
        for (name, about) in tools {
            toolbox.add_foreign(Arc::new(Remote((*name).to_owned(), (*about).to_owned())));
        }
        let server = |name: &str| name.split("__").nth(1).unwrap_or_default().to_owned();
        (toolbox, tools.iter().map(|(name, _)| (server(name), (*name).to_owned())).collect())
    }

    #[test]
    fn few_tools_are_told_and_many_are_found_and_it_stays_so() {
        let (mut toolbox, remote) = with(&[("mcp__s__small", "a small one")]);
        assert!(!set_apart(&mut toolbox, &remote, false));
        assert!(toolbox.specs().iter().any(|spec| spec.name == "mcp__s__small"));
        assert_eq!(told(&toolbox, &remote), None);
        assert!(set_apart(&mut toolbox, &remote, true), "as before in this session");
        let long = "x".repeat(MAX_STANDING);
        let (mut toolbox, remote) = with(&[("mcp__s__long", &long), ("mcp__t__small", "a small one")]);
        assert!(set_apart(&mut toolbox, &remote, false));
        assert!(toolbox.specs().iter().all(|spec| !spec.name.starts_with("mcp__")));
        assert!(told(&toolbox, &remote).unwrap().ends_with("s (1), t (1)."));
    }

    #[test]
    fn the_best_fit_comes_first_and_what_does_not_fit_is_named() {
        let (mut toolbox, remote) = with(&[
            ("mcp__git__create_issue", "Opens a new issue in a repository"),
            ("mcp__git__list_issues", "Lists issues"),
            ("mcp__mail__send", "Sends a letter about an issue"),
        ]);
        set_apart(&mut toolbox, &remote, true);
        let specs = toolbox.apart().map(|tool| tool.spec()).collect();
        let server_of = remote.iter().map(|(server, name)| (name.clone(), server.clone())).collect();
        let search = ToolSearch { tools: specs, server_of };
        let first = |query: &str| {
            let said = search.answer(query);
            said.lines().find(|line| line.starts_with("mcp__")).unwrap_or_default().to_owned()
        };
        for (query, wants) in [
            ("create an issue", "mcp__git__create_issue"),
            ("mcp__mail__send", "mcp__mail__send"),
            ("mail", "mcp__mail__send"),
            ("list", "mcp__git__list_issues"),
        ] {
            assert_eq!(first(query), wants, "{query}");
        }
        let mut search = search;
        search.tools[0].description.push_str(&format!("{}be kind.", said_of_all("git")));
        assert!(search.answer("list").contains("The server git says of all its tools: be kind."));
        assert!(!search.answer("mail").contains("be kind"));
        assert!(search.answer("zebra").starts_with("None of 3 tools fits"));
    }
}
