//! A small MCP server, for tests: tools that read, change, wait and die, and some ways to be a bad server.
//!
//! `mcp_echo` speaks on stdin and stdout. `mcp_echo hang` never answers. `mcp_echo die` says why on stderr and ends.
//! `mcp_echo noise` writes lines that are not protocol first.

#![allow(clippy::print_stdout, clippy::print_stderr, clippy::unwrap_used, reason = "a program for tests")]

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorData, ListToolsResult,
    PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool, ToolAnnotations,
};
use rmcp::service::RequestContext;
use rmcp::{RoleServer, ServerHandler, ServiceExt as _};
use serde_json::{Value, json};
use std::sync::Arc;

struct Echo;

fn tool(name: &'static str, annotations: Option<ToolAnnotations>) -> Tool {
    let schema = json!({"type": "object", "properties": {"text": {"type": "string"}}});
    let Value::Object(schema) = schema else { return Tool::default() };
    let mut tool = Tool::new(name, format!("the tool {name}"), Arc::new(schema));
    tool.annotations = annotations;
    tool
}

impl ServerHandler for Echo {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let reads = || Some(ToolAnnotations::default().read_only(true));
        let tools = vec![
            tool("echo", reads()),
            tool("env", reads()),
            tool("image", reads()),
            tool("fail", reads()),
            tool("slow", reads()),
            tool("die", reads()),
            tool("put", None),
            tool("wipe", Some(ToolAnnotations::default().destructive(true))),
        ];
        Ok(ListToolsResult::with_all_items(tools))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let text = request.arguments.as_ref().and_then(|args| args.get("text")).and_then(Value::as_str);
        let said = text.unwrap_or_default().to_owned();
        let result = match request.name.as_ref() {
            "echo" | "put" | "wipe" => CallToolResult::success(vec![ContentBlock::text(said)]),
            "env" => {
                let names: Vec<String> = std::env::vars().map(|(name, _)| name).collect();
                CallToolResult::success(vec![ContentBlock::text(names.join(" "))])
            }
            "image" => CallToolResult::success(vec![ContentBlock::image("AAAA", "image/png")]),
            "fail" => CallToolResult::error(vec![ContentBlock::text("it does not work")]),
            "slow" => {
                // Tells whoever looks at the file how far it is.
                let _ = std::fs::write(&said, "started");
                context.ct.cancelled().await;
                let _ = std::fs::write(&said, "cancelled");
                CallToolResult::success(Vec::new())
            }
            "die" => {
                eprintln!("dying as asked");
                std::process::exit(3);
            }
            other => return Err(ErrorData::invalid_params(format!("there is no tool {other}"), None)),
        };
        Ok(CallToolResponse::Complete(result))
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    match std::env::args().nth(1).as_deref() {
        Some("hang") => std::future::pending().await,
        Some("die") => {
            eprintln!("the database is missing");
            std::process::exit(3);
        }
        Some("noise") => println!("Welcome!\n{{\"not\": \"protocol\"}}"),
        _ => {}
    }
    let server = Echo.serve(rmcp::transport::io::stdio()).await.unwrap();
    let _ = server.waiting().await;
}
