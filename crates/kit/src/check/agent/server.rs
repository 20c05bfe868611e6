//! The scripted model behind an HTTP server on loopback, one for each task: `/chat/completions`, `/responses`, `/messages`, `/models`,
//! whatever stands before them. What a program on loopback says is bounded, and decides nothing but what it is answered.

use super::heard::{Heard, ModelApi};
use super::play::{ModelAnswer, TaskPlay};
use super::reply::{self, MODEL, ReplyEnd};
use serde_json::{Value, json};
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

/// Requests that are answered at the same time; others wait.
const MAX_CONNECTIONS: usize = 32;
/// Bytes of a request's head, and of its body.
const MAX_HEAD: u64 = 64 * 1024;
const MAX_BODY: usize = 64 * 1024 * 1024;
/// How long one request may take from its first byte to the last of its answer.
const REQUEST_WITHIN: Duration = Duration::from_secs(60);

/// A server; with it its connections end.
pub(super) struct ModelServer {
    /// Where it listens, without a path.
    pub(super) url: String,
    _tasks: JoinSet<()>,
}

impl ModelServer {
    /// Listens on a port that is free.
    pub(super) async fn start(play: Arc<Mutex<TaskPlay>>) -> io::Result<ModelServer> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let url = format!("http://{}", listener.local_addr()?);
        let mut tasks = JoinSet::new();
        tasks.spawn(listen(listener, play));
        Ok(ModelServer { url, _tasks: tasks })
    }
}

async fn listen(listener: TcpListener, play: Arc<Mutex<TaskPlay>>) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept(), if connections.len() < MAX_CONNECTIONS => {
                // What fails here is one connection; the agent tries again or is seen to fail.
                let Ok((socket, _)) = accepted else { continue };
                let play = Arc::clone(&play);
                connections.spawn(async move {
                    let _ = tokio::time::timeout(REQUEST_WITHIN, serve(socket, &play)).await;
                });
            }
            Some(_) = connections.join_next() => {}
        }
    }
}

/// One request and its answer.
async fn serve(socket: TcpStream, play: &Mutex<TaskPlay>) -> io::Result<()> {
    let mut socket = BufReader::new(socket);
    let (method, path, body) = read(&mut socket).await?;
    let path = path.split('?').next().unwrap_or_default();
    if method == "GET" && path.ends_with("/models") {
        let model = json!({"id":MODEL,"object":"model","type":"model","display_name":MODEL,"created":0,"owned_by":"parlor"});
        return send(&mut socket, 200, &json!({"object":"list","data":[model],"has_more":false})).await;
    }
    if path.ends_with("/count_tokens") {
        let tokens = Heard::read(ModelApi::Messages, &body).tokens();
        return send(&mut socket, 200, &json!({"input_tokens":tokens})).await;
    }
    let Some(api) = ModelApi::of_path(path).filter(|_| method == "POST") else {
        return send(&mut socket, 404, &json!({"error":{"message":"there is no such path"}})).await;
    };
    let heard = Heard::read(api, &body);
    let answer = play.lock().unwrap_or_else(PoisonError::into_inner).answer(&heard);
    match answer {
        ModelAnswer::Status(status, window) => {
            send(&mut socket, status, &reply::refusal(api, status, window)).await
        }
        ModelAnswer::Reply(said, charged) if heard.streams => {
            let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n";
            let text = reply::stream(api, &said, charged);
            let chunk = format!("{head}{:x}\r\n{text}\r\n", text.len());
            socket.write_all(chunk.as_bytes()).await?;
            if said.end != ReplyEnd::Broken {
                socket.write_all(b"0\r\n\r\n").await?;
            }
            socket.shutdown().await
        }
        ModelAnswer::Reply(said, charged) => {
            let body = reply::whole(api, &said, charged);
            if said.end == ReplyEnd::Broken {
                let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{{", body.to_string().len());
                socket.write_all(head.as_bytes()).await?;
                return socket.shutdown().await;
            }
            send(&mut socket, 200, &body).await
        }
    }
}

async fn send(socket: &mut BufReader<TcpStream>, status: u16, body: &Value) -> io::Result<()> {
    let body = body.to_string();
    // Who is told to come again does so at once: nobody waits in a check.
    let again = if status == 429 { "retry-after: 0\r\n" } else { "" };
    let head = format!(
        "HTTP/1.1 {status} -\r\ncontent-type: application/json\r\n{again}connection: close\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    socket.write_all((head + &body).as_bytes()).await?;
    socket.shutdown().await
}

/// Method, path and body of a request.
async fn read(socket: &mut BufReader<TcpStream>) -> io::Result<(String, String, Value)> {
    let mut head = (&mut *socket).take(MAX_HEAD);
    let mut first = String::new();
    head.read_line(&mut first).await?;
    let (mut length, mut chunked, mut waits) = (0, false, false);
    loop {
        let mut line = String::new();
        if head.read_line(&mut line).await? == 0 || line.trim().is_empty() {
            break;
        }
        let (name, value) = line.split_once(':').unwrap_or_default();
        match name.to_ascii_lowercase().as_str() {
            "content-length" => length = value.trim().parse().unwrap_or(0),
            "transfer-encoding" => chunked = value.to_ascii_lowercase().contains("chunked"),
            "expect" => waits = true,
            _ => {}
        }
    }
    if waits {
        socket.write_all(b"HTTP/1.1 100 Continue\r\n\r\n").await?;
    }
    let bytes = if chunked { chunks(socket).await? } else { exactly(socket, length, 0).await? };
    let mut words = first.split_whitespace().map(str::to_owned);
    let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    Ok((method, path, serde_json::from_slice(&bytes).unwrap_or(Value::Null)))
}

async fn exactly(socket: &mut BufReader<TcpStream>, length: usize, before: usize) -> io::Result<Vec<u8>> {
    if before.saturating_add(length) > MAX_BODY {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    let mut bytes = vec![0; length];
    socket.read_exact(&mut bytes).await?;
    Ok(bytes)
}

async fn chunks(socket: &mut BufReader<TcpStream>) -> io::Result<Vec<u8>> {
    let mut all = Vec::new();
    loop {
        let mut line = String::new();
        (&mut *socket).take(MAX_HEAD).read_line(&mut line).await?;
        let size = line.split(';').next().unwrap_or_default().trim();
        let size = usize::from_str_radix(size, 16).map_err(|_| io::ErrorKind::InvalidData)?;
        let piece = exactly(socket, size, all.len()).await?;
        all.extend(piece);
        // The line break after the piece.
        let mut end = String::new();
        (&mut *socket).take(MAX_HEAD).read_line(&mut end).await?;
        if size == 0 {
            return Ok(all);
        }
    }
}
