//! A tiny HTTP/1.1 server on loopback that plays prepared answers and remembers what it was asked.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;

/// One prepared answer.
pub(crate) enum Play {
    /// A status with headers and a body.
    Status(u16, Vec<(&'static str, &'static str)>, &'static str),
    /// An event stream in these pieces, each its own HTTP chunk.
    Stream(Vec<Vec<u8>>, End),
}

/// How a stream ends.
pub(crate) enum End {
    /// As it should.
    Proper,
    /// The connection breaks.
    Cut,
    /// Silence until the client goes away.
    Stall,
}

/// A whole stream, cut into pieces of `size` bytes.
pub(crate) fn torn(text: &str, size: usize) -> Play {
    Play::Stream(text.as_bytes().chunks(size).map(<[u8]>::to_vec).collect(), End::Proper)
}

/// A request as it arrived.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    pub(crate) line: String,
    pub(crate) headers: Vec<String>,
    pub(crate) body: Value,
}

impl Seen {
    pub(crate) fn header(&self, name: &str) -> Option<String> {
        let start = format!("{name}: ");
        self.headers.iter().find_map(|line| line.strip_prefix(&start).map(str::to_owned))
    }
}

pub(crate) struct Server {
    pub(crate) url: String,
    seen: Arc<Mutex<Vec<Seen>>>,
    gone: Arc<Semaphore>,
}

impl Server {
    /// Starts a server; each connection gets the next answer, after the last one connections are closed.
    pub(crate) async fn start(plays: Vec<Play>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let seen = Arc::new(Mutex::new(Vec::new()));
        let gone = Arc::new(Semaphore::new(0));
        let server = Self { url, seen: Arc::clone(&seen), gone: Arc::clone(&gone) };
        let mut plays = VecDeque::from(plays);
        tokio::spawn(async move {
            while let Ok((socket, _)) = listener.accept().await {
                let Some(play) = plays.pop_front() else { continue };
                tokio::spawn(serve(socket, play, Arc::clone(&seen), Arc::clone(&gone)));
            }
        });
        server
    }

    /// Starts a server that decides by the request what it answers.
    pub(crate) async fn deciding(decide: impl Fn(&Seen) -> Play + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let seen = Arc::new(Mutex::new(Vec::new()));
        let gone = Arc::new(Semaphore::new(0));
        let server = Self { url, seen: Arc::clone(&seen), gone: Arc::clone(&gone) };
        tokio::spawn(async move {
            while let Ok((socket, _)) = listener.accept().await {
                let mut socket = BufReader::new(socket);
                let request = read(&mut socket).await;
                let play = decide(&request);
                seen.lock().unwrap().push(request);
                let _ = answer(&mut socket, play).await;
                gone.add_permits(1);
            }
        });
        server
    }

    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }

    /// Waits until the client of a stalled stream has closed its connection.
    pub(crate) async fn client_gone(&self) {
        self.gone.acquire().await.unwrap().forget();
    }
}

async fn serve(socket: TcpStream, play: Play, seen: Arc<Mutex<Vec<Seen>>>, gone: Arc<Semaphore>) {
    let mut socket = BufReader::new(socket);
    let request = read(&mut socket).await;
    seen.lock().unwrap().push(request);
    // A client that goes away while it is spoken to is part of the tests.
    let _ = answer(&mut socket, play).await;
    gone.add_permits(1);
}

async fn read(socket: &mut BufReader<TcpStream>) -> Seen {
    let mut line = String::new();
    socket.read_line(&mut line).await.unwrap();
    let mut headers = Vec::new();
    loop {
        let mut header = String::new();
        socket.read_line(&mut header).await.unwrap();
        if header.trim().is_empty() {
            break;
        }
        headers.push(header.trim().to_owned());
    }
    let length = headers.iter().find_map(|header| header.strip_prefix("content-length: "));
    let mut body = vec![0; length.map_or(0, |length| length.parse().unwrap())];
    socket.read_exact(&mut body).await.unwrap();
    let body = serde_json::from_slice(&body).unwrap_or(Value::Null);
    Seen { line: line.trim().to_owned(), headers, body }
}

async fn answer(socket: &mut BufReader<TcpStream>, play: Play) -> std::io::Result<()> {
    match play {
        Play::Status(status, headers, body) => {
            let mut head =
                format!("HTTP/1.1 {status} X\r\nconnection: close\r\ncontent-length: {}\r\n", body.len());
            for (name, value) in headers {
                head.push_str(&format!("{name}: {value}\r\n"));
            }
            socket.write_all(format!("{head}\r\n{body}").as_bytes()).await?;
            socket.shutdown().await
        }
        Play::Stream(pieces, end) => {
            let head = "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-type: text/event-stream; charset=utf-8\r\n\
                        transfer-encoding: chunked\r\n\r\n";
            socket.write_all(head.as_bytes()).await?;
            for piece in pieces {
                socket.write_all(format!("{:x}\r\n", piece.len()).as_bytes()).await?;
                socket.write_all(&piece).await?;
                socket.write_all(b"\r\n").await?;
                socket.flush().await?;
            }
            match end {
                End::Proper => socket.write_all(b"0\r\n\r\n").await?,
                End::Cut => {}
                End::Stall => {
                    let mut rest = Vec::new();
                    socket.read_to_end(&mut rest).await?;
                }
            }
            socket.shutdown().await
        }
    }
}
