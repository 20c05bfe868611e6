//! A server's tool as one of ours.

use super::beside::link;
use super::link::Link;
use crate::long_text::{MAX_TEXT, cap};
use crate::tool_search::said_of_all;
use domain::ask::{Preview, Risk};
use domain::content::{Json, Part};
use domain::harmless;
use domain::tool::ToolResult;
use rmcp::model::{CallToolRequestParams, CallToolResult, ContentBlock, ResourceContents};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::path::Path;
use std::sync::Arc;
use tokio::sync::watch;
use tools::policy::Rule;
use tools::{BoxFuture, Deed, Outcome, Plan, Port, RuleOffer, Spec, Tool, ToolContext, ToolError};

/// Longest name that every provider takes.
const MAX_NAME: usize = 64;
/// Characters of a description that the model reads.
const MAX_DESCRIPTION: usize = 2_000;
/// Bytes of a schema; a larger one is left open.
const MAX_SCHEMA: usize = 32 * 1024;
/// Characters of a title that are kept.
const MAX_TITLE: usize = 200;
/// Most pictures of one result.
const MAX_IMAGES: usize = 8;

/// Longest name of a tool at its server; one with a longer name is left out.
const MAX_OWN_NAME: usize = 256;

/// What is kept of a tool that a server offers: never more than a model may read, whatever the server sent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Offered {
    name: String,
    description: String,
    /// What it calls itself for people, where that is something else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    title: Option<String>,
    schema: Value,
    says_read_only: bool,
    says_destructive: bool,
}

impl Offered {
    /// `None` when it has no name that could be called.
    pub(crate) fn of(tool: &rmcp::model::Tool) -> Option<Offered> {
        if tool.name.is_empty() || tool.name.len() > MAX_OWN_NAME {
            return None;
        }
        let hints = tool.annotations.as_ref();
        let description = tool.description.as_deref().or(tool.title.as_deref()).unwrap_or("no description");
        let mut schema = Value::Object(tool.input_schema.as_ref().clone());
        if schema.to_string().len() > MAX_SCHEMA || schema["type"] != "object" {
            schema = json!({"type": "object"});
        }
        let title = tool.title.as_deref().or(hints.and_then(|hints| hints.title.as_deref()));
        let title = title.filter(|title| !title.trim().is_empty() && *title != tool.name);
        Some(Offered {
            name: tool.name.to_string(),
            title: title.map(|title| title.chars().take(MAX_TITLE).collect()),
            description: description.chars().take(MAX_DESCRIPTION).collect(),
            schema,
            says_read_only: hints.and_then(|hints| hints.read_only_hint) == Some(true),
            says_destructive: hints.and_then(|hints| hints.destructive_hint) == Some(true),
        })
    }

    /// The same with what its server says of all its tools, marked as the server's words. They stand here and nowhere else: a server's
    /// word has the weight of a tool's description, never that of an instruction.
    pub(super) fn said_by(self, server: &str, instructions: &str) -> Offered {
        let about = format!("{}{}{instructions}", self.description, said_of_all(server));
        Offered { description: about, ..self }
    }

    /// The name that its server gave it.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// The same, of a tool that is no longer needed.
    pub(crate) fn into_name(self) -> String {
        self.name
    }
}

/// A tool of a server.
pub(crate) struct RemoteTool {
    server: String,
    spec: Spec,
    /// Its name at the server.
    own_name: String,
    title: Option<String>,
    says_destructive: bool,
    believed: bool,
    link: watch::Receiver<Link>,
}

impl RemoteTool {
    /// `believed`: whether the server's own word that a tool only reads counts. A project's does not: it would free itself of
    /// being asked for.
    pub(super) fn new(
        server: &str,
        tool: Offered,
        link: watch::Receiver<Link>,
        believed: bool,
    ) -> RemoteTool {
        let Offered { name: own_name, title, description, schema, says_read_only, says_destructive } = tool;
        let name = full_name(server, &own_name);
        let spec = Spec { name, description, schema, read_only: believed && says_read_only };
        RemoteTool { server: server.to_owned(), spec, own_name, title, says_destructive, believed, link }
    }
}

/// `mcp__server__tool`, in letters that every provider takes; a long one ends in a digest so that no two are alike.
fn full_name(server: &str, tool: &str) -> String {
    let plain: String = tool
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || matches!(c, '-' | '_') { c } else { '_' })
        .collect();
    let name = format!("mcp__{server}__{plain}");
    if name.len() <= MAX_NAME && plain == tool {
        return name;
    }
    let digest = tools::digest::hex(tool.as_bytes());
    let keep: String = name.chars().take(MAX_NAME - 9).collect();
    format!("{keep}_{}", digest.get(..8).unwrap_or_default())
}

impl Tool for RemoteTool {
    fn spec(&self) -> Spec {
        self.spec.clone()
    }

    fn name(&self) -> String {
        self.spec.name.clone()
    }

    fn as_of_now(&self) -> Option<BoxFuture<'static, Result<Arc<dyn Tool>, String>>> {
        let (link, server, name) = (self.link.clone(), self.server.clone(), self.own_name.clone());
        let believed = self.believed;
        Some(Box::pin(async move {
            let offered =
                Link::offered(link.clone()).await.map_err(|why| format!("The MCP server {server}: {why}"))?;
            let gone = || {
                format!(
                    "The MCP server {server} no longer has a tool {name}. What it has now is offered in your next step."
                )
            };
            let tool = offered.iter().find(|tool| tool.name == name).ok_or_else(gone)?;
            let now: Arc<dyn Tool> = Arc::new(RemoteTool::new(&server, tool.clone(), link, believed));
            Ok(now)
        }))
    }

    fn plan(&self, args: &Value, place: &ToolContext) -> Result<Plan, ToolError> {
        // In quotes that it cannot close: whatever it calls itself, its name and its server stand behind it.
        let called =
            self.title.as_deref().map(|title| format!("{}, ", harmless::quoted(title))).unwrap_or_default();
        let title = format!("{called}{} of {}", self.own_name, self.server);
        let mut plan = Plan::reading(&self.spec.name, args, place, title);
        if self.spec.read_only {
            return Ok(plan);
        }
        plan.raise(
            Risk::Medium,
            format!("the server {} does it; only it knows what that changes", self.server),
        );
        if self.says_destructive {
            plan.assessment.reversible = false;
            plan.assessment.reasons.push("it says that it may destroy something".to_owned());
        }
        (plan.read_only, plan.deed) = (false, Deed::Other);
        plan.preview = Some(Preview::Text(format!("{args:#}")));
        let rule = Rule::whole(&self.spec.name);
        plan.rule = Some(RuleOffer { words: rule.to_string(), rules: vec![rule] });
        Ok(plan)
    }

    fn run(&self, plan: Plan, port: Port) -> BoxFuture<'static, Outcome> {
        let (link, server) = (self.link.clone(), self.server.clone());
        let mut params = CallToolRequestParams::new(self.own_name.clone());
        params.arguments = Some(plan.args.as_object().cloned().unwrap_or_else(Map::new));
        Box::pin(async move {
            let client = tokio::select! {
                biased;
                () = port.cancel.cancelled() => return Outcome::cancelled(),
                reached = Link::reach(link) => match reached {
                    Ok(client) => client,
                    Err(why) => return Outcome::failed(format!("The MCP server {server}: {why}")),
                },
            };
            let call = async {
                let answer = tokio::select! {
                    biased;
                    () = port.cancel.cancelled() => return Outcome::cancelled(),
                    answer = client.call(params, port.clone()) => answer,
                };
                match answer {
                    Err(why) => {
                        let beside = client.beside_a_failure();
                        Outcome::failed(format!("The MCP server {server}: {why}{beside}"))
                    }
                    Ok(answer) => {
                        let failed = answer.is_error == Some(true);
                        let result = result(answer, plan.place.outputs(), &plan.digest.0);
                        if !failed {
                            return Outcome::done(result);
                        }
                        Outcome::failed(result.text + &client.beside_a_failure())
                    }
                }
            };
            client.watched(&port, call).await
        })
    }
}

fn result(answer: CallToolResult, outputs: &Path, id: &str) -> ToolResult {
    let (mut texts, mut parts) = (Vec::new(), Vec::new());
    for block in answer.content {
        match block {
            ContentBlock::Text(text) => texts.push(text.text),
            ContentBlock::Image(image) if parts.len() < MAX_IMAGES => {
                parts.push(Part::Image { mime: image.mime_type, base64: image.data.into() });
            }
            ContentBlock::Image(_) => texts.push("[one more picture]".to_owned()),
            ContentBlock::Resource(embedded) => texts.push(match embedded.resource {
                ResourceContents::TextResourceContents { uri, text, .. } => format!("{uri}:\n{text}"),
                ResourceContents::BlobResourceContents { uri, .. } => format!("[{uri}: bytes]"),
                _ => "[something that cannot be shown]".to_owned(),
            }),
            ContentBlock::ResourceLink(resource) => texts.push(link(&resource)),
            ContentBlock::Audio(_) => texts.push("[a sound]".to_owned()),
            _ => texts.push("[something that cannot be shown]".to_owned()),
        }
    }
    let json = answer.structured_content.map(|value| value.to_string());
    if texts.is_empty()
        && let Some(json) = &json
    {
        texts.push(json.clone());
    }
    let (text, truncated) = cap(texts.join("\n"), outputs, "mcp", id);
    ToolResult {
        text,
        parts,
        json: json.filter(|json| json.len() <= MAX_TEXT).map(Json::verbatim),
        truncated,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_fit_every_provider_and_stay_apart() {
        assert_eq!(full_name("files", "read_file"), "mcp__files__read_file");
        let (dot, slash) = (full_name("s", "a.b"), full_name("s", "a/b"));
        assert_ne!(dot, slash);
        assert!(dot.starts_with("mcp__s__a_b_"));
        for tool in ["x".repeat(200), format!("{}y", "x".repeat(199)), "ü".repeat(100)] {
            let name = full_name("server", &tool);
            assert!(name.len() <= MAX_NAME && name.is_ascii(), "{name}");
        }
    }
}
