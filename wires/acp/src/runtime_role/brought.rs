//! What the client brings along for the agent: files that it holds open, and MCP servers that its person chose.
//!
//! Invariants: a file that was asked for is answered once; what the client passes is handed on as it is, or refused with the reason.

use super::super::wire::{McpServer, Named, ReadTextFileParams, ReadTextFileResult, WriteTextFileParams};
use super::AcpRuntime;
use super::requests::invalid;
use domain::content::Json;
use domain::given_server::{self, GivenServer, MAX_GIVEN};
use domain::ids::SessionId;
use domain::ui_files::{FileAnswer, FileRequest, FileRequestId, UiFiles};
use rolekit::rpc;
use roles::RuntimeCx;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use wire::WireId;
use wire::jsonrpc::RpcError;

/// Most files that the client is asked for at a time; the hub allows no more.
const MAX_ASKED: usize = 256;

/// What a server without a name is called.
const UNNAMED: &str = "server";

/// A file that the client was asked for.
#[derive(Debug)]
pub(super) struct AskedFile {
    id: WireId,
    wish: FileRequestId,
    reads: bool,
}

impl AcpRuntime {
    /// What the client does with files: all or nothing, since what was read here and is written there would be another text. In front of
    /// another program we have none to ask for, and a client of ours holds no files open: its disk is ours.
    pub(super) fn does_files(&self) -> UiFiles {
        let fs = &self.client.fs;
        let does =
            fs.read_text_file && fs.write_text_file && !self.endpoint.greeting.follows && !self.is_ours();
        UiFiles { reads: does, writes: does }
    }

    /// Has the client read or write a file; [`AcpRuntime::file_answered`] hears what came of it.
    pub(super) fn ask_for_file(
        &mut self,
        cx: &mut RuntimeCx<'_>,
        session: &SessionId,
        wish: FileRequestId,
        request: &FileRequest,
    ) {
        let (FileRequest::Read { path } | FileRequest::Write { path, .. }) = request;
        if !path.starts_with('/') {
            return cx
                .file_done(wish, Err("its name is not UTF-8 text, which this wire cannot say".to_owned()));
        }
        if !self.sessions.contains_key(session) || self.asked_files.len() >= MAX_ASKED {
            return cx.file_done(wish, Err("this editor cannot be asked for it now".to_owned()));
        }
        let (id, session_id, path) = (self.asks.mint(), session.to_string(), path.clone());
        let (line, reads) = match request {
            FileRequest::Read { .. } => {
                let params = ReadTextFileParams { session_id, path, ..ReadTextFileParams::default() };
                (rpc::request(&id, &params), true)
            }
            FileRequest::Write { text, .. } => {
                let content = text.clone();
                let params =
                    WriteTextFileParams { session_id, path, content, ..WriteTextFileParams::default() };
                (rpc::request(&id, &params), false)
            }
        };
        self.asked_files.push(AskedFile { id, wish, reads });
        if let Some(known) = self.sessions.get_mut(session) {
            known.send(cx, line);
        }
    }

    /// A response of the client; `false` when it is none about a file.
    pub(super) fn file_answered(
        &mut self,
        cx: &mut RuntimeCx<'_>,
        id: &WireId,
        outcome: &Result<&RawValue, RpcError>,
    ) -> bool {
        let Some(at) = self.asked_files.iter().position(|asked| asked.id == *id) else { return false };
        let asked = self.asked_files.remove(at);
        let with: FileAnswer = match outcome {
            Ok(raw) if asked.reads => match serde_json::from_str::<ReadTextFileResult>(raw.get()) {
                Ok(result) => Ok(result.content),
                Err(why) => Err(format!("it answered something else ({why})")),
            },
            Ok(_) => Ok(String::new()),
            Err(error) => Err(error.message.clone()),
        };
        cx.file_done(asked.wish, with);
        true
    }
}

/// The servers that a client passes for a session.
pub(super) fn lift_servers(servers: Vec<McpServer>) -> Result<Vec<GivenServer>, RpcError> {
    let mut given: Vec<GivenServer> = servers.into_iter().map(lift_server).collect::<Result<_, _>>()?;
    tell_apart(&mut given);
    match given_server::fits(&given) {
        true => Ok(given),
        false => Err(invalid(format!("more than {MAX_GIVEN} MCP servers, or too large ones"))),
    }
}

/// Names that became one lose nobody: the later ones get a number.
fn tell_apart(given: &mut [GivenServer]) {
    for at in 1..given.len() {
        let (before, rest) = given.split_at_mut(at);
        let is_taken = |name: &str| before.iter().any(|server| server.name == name);
        let plain = rest[0].name.clone();
        let mut number = 2;
        while is_taken(&rest[0].name) {
            rest[0].name = format!("{plain}-{number}");
            number += 1;
        }
    }
}

fn lift_server(server: McpServer) -> Result<GivenServer, RpcError> {
    let pairs = |pairs: Option<Vec<Named>>| -> Map<String, Value> {
        pairs.into_iter().flatten().map(|pair| (pair.name, Value::from(pair.value))).collect()
    };
    let entry = match (server.kind.as_deref(), server.command, server.url) {
        (None | Some("stdio"), Some(command), _) => {
            json!({"command": command, "args": server.args.unwrap_or_default(), "env": pairs(server.env)})
        }
        (Some("http"), _, Some(url)) => json!({"url": url, "headers": pairs(server.headers)}),
        (None | Some("stdio"), None, _) => return Err(invalid("an MCP server needs a command")),
        (Some("http"), _, None) => return Err(invalid("an MCP server of type http needs a url")),
        (Some(kind), ..) => {
            return Err(invalid(format!("MCP servers of type {kind:?} are not offered here")));
        }
    };
    // Tools are named after it, and providers take few signs in names.
    let plain = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '-' | '_') { c } else { '-' };
    let name: String = server.name.chars().map(plain).collect();
    let name = if name.is_empty() { UNNAMED.to_owned() } else { name };
    Ok(GivenServer { name, entry: Json::verbatim(entry.to_string()) })
}
