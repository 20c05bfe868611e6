//! A provider on loopback: plays a story over its wire, and refuses a request that does not carry all that happened so far.

use crate::task::project::KEY;
use crate::task::story::{self, Ends, Say};
use crate::task::wire::{SIGNATURE, Wire};
use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Instant;
use testkit::PATIENCE;

/// Bytes of a stream that come at once: no event comes whole.
const TEAR: usize = 23;

/// A provider.
pub(crate) struct Server {
    pub(crate) url: String,
    told: Arc<Mutex<ServerLog>>,
}

/// What came of the requests.
#[derive(Default)]
struct ServerLog {
    requests: usize,
    /// Streams that stalled until the client went away.
    left: usize,
    trouble: Vec<String>,
    /// What came, the oldest first.
    asked: Vec<Value>,
}

impl Server {
    /// Starts a provider that plays this story, one step for each request.
    pub(crate) fn start(wire: Wire, story: Vec<Say>) -> Server {
        Server::playing(wire, Arc::new(Mutex::new(story)))
    }

    /// The same, going on at step `from`: what came before was said by another provider.
    pub(crate) fn going_on(wire: Wire, story: Vec<Say>, from: usize) -> Server {
        let server = Server::start(wire, story);
        server.told.lock().unwrap().requests = from;
        server
    }

    /// The same with a story that may still be written.
    pub(crate) fn playing(wire: Wire, story: Arc<Mutex<Vec<Say>>>) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let told = Arc::new(Mutex::new(ServerLog::default()));
        let telling = told.clone();
        std::thread::spawn(move || {
            for socket in listener.incoming().flatten() {
                // A client that goes away in the middle is its own affair.
                let story = story.lock().unwrap().clone();
                let _ = serve(&socket, wire, &story, &telling);
            }
        });
        Server { url, told }
    }

    /// What was wrong with the requests.
    pub(crate) fn trouble(&self) -> Vec<String> {
        self.told.lock().unwrap().trouble.clone()
    }

    /// Waits until the client has left the one stream that stalled.
    #[track_caller]
    pub(crate) fn left_alone(&self) {
        let end = Instant::now() + PATIENCE;
        while self.told.lock().unwrap().left == 0 {
            assert!(Instant::now() < end, "the connection is still open");
            std::thread::yield_now();
        }
    }

    /// The newest request.
    pub(crate) fn last(&self) -> Value {
        self.asked().pop().unwrap_or_default()
    }

    /// All requests, the oldest first.
    pub(crate) fn asked(&self) -> Vec<Value> {
        self.told.lock().unwrap().asked.clone()
    }

    /// How many requests came.
    pub(crate) fn requests(&self) -> usize {
        self.told.lock().unwrap().requests
    }
}

fn serve(
    mut socket: &TcpStream,
    wire: Wire,
    story: &[Say],
    everything: &Mutex<ServerLog>,
) -> std::io::Result<()> {
    let (line, headers, body) = request(socket)?;
    if line == "GET /page HTTP/1.1" {
        let head =
            "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-type: text/html\r\ncontent-length: 20\r\n\r\n";
        return write!(socket, "{head}<h1>A fine page</h1>");
    }
    if line.starts_with("GET ") {
        let head = "HTTP/1.1 404 Not Found\r\nconnection: close\r\ncontent-length: 0\r\n\r\n";
        return socket.write_all(head.as_bytes());
    }
    let mut told = everything.lock().unwrap();
    let at = told.requests;
    told.requests += 1;
    told.asked.push(body.clone());
    match look(wire, story, at, &line, &headers, &body) {
        Ok(stream) => {
            drop(told);
            let sent = send(socket, &stream);
            let ends = story.get(at).map(|say| say.ends);
            if ends == Some(Ends::Cut) {
                sent?;
                return socket.shutdown(Shutdown::Both);
            }
            if ends == Some(Ends::Stalled) {
                // Until the client closes its end, in whatever way.
                let _ = sent.and_then(|()| socket.read_to_end(&mut Vec::new()));
                everything.lock().unwrap().left += 1;
                return Ok(());
            }
            sent?;
            socket.write_all(b"0\r\n\r\n")
        }
        Err(why) => {
            told.trouble.push(why);
            drop(told);
            let body = r#"{"error":{"type":"invalid_request_error","message":"the conversation is not as it should be"}}"#;
            let head = format!(
                "HTTP/1.1 400 Bad Request\r\nconnection: close\r\ncontent-length: {}\r\n\r\n",
                body.len()
            );
            write!(socket, "{head}{body}")
        }
    }
}

/// A request: its first line, its headers and its body.
type Request = (String, Vec<(String, String)>, Value);

fn request(socket: &TcpStream) -> std::io::Result<Request> {
    let mut reader = BufReader::new(socket);
    let mut line = String::new();
    reader.read_line(&mut line)?;
    let mut headers = Vec::new();
    loop {
        let mut header = String::new();
        reader.read_line(&mut header)?;
        let Some((name, value)) = header.trim().split_once(": ") else { break };
        headers.push((name.to_ascii_lowercase(), value.to_owned()));
    }
    let length =
        headers.iter().find(|(name, _)| name == "content-length").and_then(|(_, value)| value.parse().ok());
    let mut body = vec![0; length.unwrap_or(0)];
    reader.read_exact(&mut body)?;
    Ok((line.trim().to_owned(), headers, serde_json::from_slice(&body).unwrap_or(Value::Null)))
}

/// Looks at a request and gives the answer.
fn look(
    wire: Wire,
    story: &[Say],
    at: usize,
    line: &str,
    headers: &[(String, String)],
    body: &Value,
) -> Result<String, String> {
    wire.check_head(line, headers)?;
    if body.to_string().contains(KEY) {
        return Err("the model gets to see the key".to_owned());
    }
    story::check(story, at, &wire.heard(body)?)?;
    let signed = body.to_string().matches(SIGNATURE).count();
    let (_, wanted) = story::brought(story, at, |say| wire.signs(say));
    if !wanted.contains(&signed) {
        return Err(format!("request {at} brings {signed} signatures back"));
    }
    let say = story.get(at).ok_or("asked once more than there is to say")?;
    let mut stream = wire.stream(say, at);
    if say.ends.breaks() {
        // Up to the event with the words.
        let words = stream.find(say.text).ok_or("the words are not in the stream")?;
        let gap = if stream.contains("\r\n\r\n") { "\r\n\r\n" } else { "\n\n" };
        let end = stream[words..].find(gap).ok_or("no end of an event")?;
        stream.truncate(words + end + gap.len());
        // This wire gives a reason to end with the last words.
        stream = stream.replace(r#""finishReason":"STOP","#, "");
        if say.ends == Ends::InError {
            stream.push_str(&wire.trouble());
        }
    }
    Ok(stream)
}

fn send(mut socket: &TcpStream, stream: &str) -> std::io::Result<()> {
    socket.set_nodelay(true)?;
    let head = "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
    socket.write_all(head.as_bytes())?;
    for piece in stream.as_bytes().chunks(TEAR) {
        let mut chunk = format!("{:x}\r\n", piece.len()).into_bytes();
        chunk.extend_from_slice(piece);
        chunk.extend_from_slice(b"\r\n");
        socket.write_all(&chunk)?;
    }
    Ok(())
}
