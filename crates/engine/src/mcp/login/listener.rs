//! Waits on this machine for the browser to come back: on loopback alone, for one address, and for as long as it is wanted.

use super::documents::Issuer;
use super::grant::{self, Brought};
use reqwest::Url;
use std::io;
use std::net::Ipv4Addr;
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

/// Where on this machine the browser comes back to.
const PATH: &str = "/callback";
/// Longest beginning of a request.
const MAX_HEAD: usize = 16 * 1024;
/// Visitors at once; further ones wait until one of these has gone.
const MAX_VISITORS: usize = 64;
/// How long one visitor may take to say what they want.
const PATIENCE: Duration = Duration::from_secs(5);

/// A place on this machine that a browser can come back to.
pub(super) struct Doorstep {
    listener: TcpListener,
    port: u16,
}

impl Doorstep {
    /// At this port, or at one that is free.
    pub(super) async fn open(port: Option<u16>) -> io::Result<Doorstep> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port.unwrap_or(0))).await?;
        let port = listener.local_addr()?.port();
        Ok(Doorstep { listener, port })
    }

    /// As the authorization server knows it.
    pub(super) fn address(&self) -> String {
        format!("http://127.0.0.1:{}{PATH}", self.port)
    }

    /// Waits for the browser. Visitors that bring nothing of ours are told so, and change nothing.
    pub(super) async fn wait(&self, state: &str, issuer: &Issuer) -> io::Result<Result<String, String>> {
        // Who only holds a connection open must not keep the browser waiting.
        let mut visitors = JoinSet::new();
        loop {
            let (mut stream, back) = tokio::select! {
                biased;
                Some(visitor) = visitors.join_next() => match visitor {
                    Ok((stream, Some(back))) => (stream, back),
                    Ok((_, None)) | Err(_) => continue,
                },
                visitor = self.listener.accept(), if visitors.len() < MAX_VISITORS => {
                    let (stream, port) = (visitor?.0, self.port);
                    visitors.spawn(heard_out(stream, port));
                    continue;
                }
            };
            let (status, words, over) = match grant::brought(&back, state, issuer) {
                Brought::Code(code) => (
                    "200 OK",
                    "Parlor goes on from here, and says how it ends. You can close this page.",
                    Some(Ok(code)),
                ),
                Brought::Refused(why) => {
                    ("200 OK", "It was refused; Parlor says more. You can close this page.", Some(Err(why)))
                }
                Brought::Foreign => ("400 Bad Request", "This is not what Parlor asked for.", None),
            };
            let _ = tokio::time::timeout(PATIENCE, answer(&mut stream, status, words)).await;
            if let Some(over) = over {
                return Ok(over);
            }
        }
    }
}

/// What a visitor wants, within their time.
async fn heard_out(mut stream: TcpStream, port: u16) -> (TcpStream, Option<Url>) {
    let back = tokio::time::timeout(PATIENCE, asked_for(&mut stream, port)).await;
    (stream, back.ok().flatten())
}

/// The address that a visitor wants, if it is the one that is waited for.
async fn asked_for(stream: &mut TcpStream, port: u16) -> Option<Url> {
    let (mut head, mut piece) = (Vec::new(), [0; 1024]);
    while !head.windows(4).any(|end| end == b"\r\n\r\n") {
        let read = stream.read(&mut piece).await.ok().filter(|read| *read > 0)?;
        head.extend_from_slice(&piece[..read]);
        if head.len() > MAX_HEAD {
            return None;
        }
    }
    let head = String::from_utf8(head).ok()?;
    let target = head.strip_prefix("GET ")?.split(' ').next()?;
    let url = Url::parse(&format!("http://127.0.0.1:{port}")).ok()?.join(target).ok()?;
    match url.path() == PATH {
        true => Some(url),
        false => {
            let _ = answer(stream, "404 Not Found", "There is nothing here.").await;
            None
        }
    }
}

async fn answer(stream: &mut TcpStream, status: &str, words: &str) -> io::Result<()> {
    let length = words.len();
    let head = format!(
        "HTTP/1.1 {status}\r\ncontent-type: text/plain; charset=utf-8\r\ncontent-length: {length}\r\ncache-control: no-store\r\n\
         referrer-policy: no-referrer\r\nx-content-type-options: nosniff\r\nconnection: close\r\n\r\n{words}"
    );
    stream.write_all(head.as_bytes()).await?;
    stream.shutdown().await
}
