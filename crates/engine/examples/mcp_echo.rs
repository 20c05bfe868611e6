//! A small MCP server, for tests: tools that read, change, wait and die, and some ways to be a bad server.
//!
//! `mcp_echo` speaks on stdin and stdout. `mcp_echo hang` never answers. `mcp_echo die` says why on stderr and ends.
//! `mcp_echo noise` writes lines that are not protocol first. `mcp_echo http` serves on a port of loopback, which it tells
//! first. `mcp_echo __guard …` is the guard that keeps another program in bounds.

#![allow(clippy::print_stdout, clippy::print_stderr, clippy::unwrap_used, reason = "a program for tests")]

use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto::Builder;
use hyper_util::service::TowerToHyperService;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorData, ListToolsResult,
    PaginatedRequestParams, ProgressNotificationParam, ServerCapabilities, ServerConfig, Tool,
    ToolAnnotations,
};
use rmcp::service::RequestContext;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{RoleServer, ServerHandler, ServiceExt as _};
use serde_json::{Value, json};
use std::ffi::OsString;
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
            tool("save", reads()),
            tool("fork", reads()),
            tool("form", reads()),
            tool("login", reads()),
            tool("steps", reads()),
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
                let names: Vec<String> =
                    std::env::vars_os().map(|(name, _)| name.to_string_lossy().into_owned()).collect();
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
            "save" => match std::fs::write(&said, "saved") {
                Ok(()) => CallToolResult::success(vec![ContentBlock::text("saved")]),
                Err(why) => CallToolResult::error(vec![ContentBlock::text(why.to_string())]),
            },
            "fork" => {
                // Something that leaves the process group and would stay behind, holding a pipe open.
                let line = format!("exec 3>{said}; exec setsid sleep 1000");
                let quiet = std::process::Stdio::null;
                let mut command = std::process::Command::new("sh");
                command.args(["-c", &line]).stdin(quiet()).stdout(quiet()).stderr(quiet());
                match command.spawn() {
                    Ok(_) => CallToolResult::success(vec![ContentBlock::text("forked")]),
                    Err(why) => CallToolResult::error(vec![ContentBlock::text(why.to_string())]),
                }
            }
            "form" | "login" => {
                let schema = json!({"type": "object", "required": ["name", "size"], "properties": {
                    "name": {"type": "string", "title": "Your name"},
                    "size": {"type": "integer"},
                    "sure": {"type": "boolean"},
                }});
                let login = json!({"type": "object", "properties": {"password": {"type": "string"}}});
                let schema = if request.name == "login" { login } else { schema };
                let params = json!({"mode": "form", "message": "Who are you?", "requestedSchema": schema});
                let params = serde_json::from_value(params).unwrap();
                let filled = context.peer.create_elicitation(params).await;
                let said = serde_json::to_string(&filled.map_err(|why| why.to_string())).unwrap();
                CallToolResult::success(vec![ContentBlock::text(said)])
            }
            "steps" => {
                let token = context.meta.get_progress_token().unwrap();
                for step in [1.0, 2.0] {
                    let told = ProgressNotificationParam::new(token.clone(), step).with_total(4.0);
                    let told = if step > 1.0 { told.with_message("half way") } else { told };
                    context.peer.notify_progress(told).await.unwrap();
                }
                // Until the person has seen it: notifications and answers are not ordered among each other.
                context.ct.cancelled().await;
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

fn main() {
    let args: Vec<OsString> = std::env::args_os().skip(1).collect();
    let mode = args.first().and_then(|mode| mode.to_str());
    if mode == Some("__guard") {
        // First of all: its limits hold for threads that are started later.
        let Err(broken) = tools::sandbox::run_guard(&args[1..]);
        eprintln!("{broken}");
        std::process::exit(broken.exit_code().into());
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(serve(mode));
}

async fn serve(mode: Option<&str>) {
    match mode {
        Some("hang") => std::future::pending().await,
        Some("die") => {
            eprintln!("the database is missing");
            std::process::exit(3);
        }
        Some("noise") => println!("Welcome!\n{{\"not\": \"protocol\"}}"),
        Some("http") => return http().await,
        _ => {}
    }
    let server = Echo.serve(rmcp::transport::io::stdio()).await.unwrap();
    let _ = server.waiting().await;
}

async fn http() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    println!("http://{}/mcp", listener.local_addr().unwrap());
    let sessions = Arc::new(LocalSessionManager::default());
    let service = StreamableHttpService::new(|| Ok(Echo), sessions, StreamableHttpServerConfig::default());
    loop {
        let Ok((stream, _)) = listener.accept().await else { return };
        let service = TowerToHyperService::new(service.clone());
        tokio::spawn(async move {
            let _ = Builder::new(TokioExecutor::new()).serve_connection(TokioIo::new(stream), service).await;
        });
    }
}
