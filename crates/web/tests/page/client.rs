//! What a page does, without a browser: enrols a key, signs a challenge, and speaks over a WebSocket.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use link::websocket::{self, Socket, Unanswered};
use link::{Incoming, Lane, Limits, LinkIo};
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair};
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use wire::lines::Frame;

/// However slow the machine is.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// The key of a browser, and what it was enrolled as.
pub(crate) struct Browser {
    pub(crate) address: SocketAddr,
    pub(crate) id: String,
    pair: EcdsaKeyPair,
}

/// An answer: its status, its head in small letters, its body.
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

/// Asks for something as it is written here.
pub(crate) async fn ask(address: SocketAddr, request: &str) -> Answer {
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut bytes = Vec::new();
    tokio::time::timeout(PATIENCE, stream.read_to_end(&mut bytes)).await.unwrap().unwrap();
    let text = String::from_utf8(bytes).unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or_default();
    Answer { status, head: head.to_ascii_lowercase(), body: body.to_owned() }
}

/// Asks to be enrolled as a page at `address` would.
pub(crate) async fn post(address: SocketAddr, body: &Value) -> Answer {
    let body = body.to_string();
    let request = format!(
        "POST /enrol HTTP/1.1\r\nHost: {address}\r\nOrigin: http://{address}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\
         Connection: close\r\n\r\n{body}",
        body.len()
    );
    ask(address, &request).await
}

impl Browser {
    /// One with a key of its own that nobody knows yet.
    pub(crate) fn new(address: SocketAddr) -> Browser {
        let random = SystemRandom::new();
        let pkcs8 = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &random).unwrap();
        let pair =
            EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, pkcs8.as_ref(), &random).unwrap();
        Browser { address, id: "dev-nobody".to_owned(), pair }
    }

    pub(crate) fn key(&self) -> String {
        URL_SAFE_NO_PAD.encode(self.pair.public_key().as_ref())
    }

    /// Uses a token up.
    pub(crate) async fn enrol(&mut self, token: &str) -> Answer {
        let answer = post(self.address, &json!({"token": token, "key": self.key(), "name": "a test"})).await;
        if let Some(id) = serde_json::from_str::<Value>(&answer.body)
            .ok()
            .and_then(|told| told["device"]["id"].as_str().map(str::to_owned))
        {
            self.id = id;
        }
        answer
    }

    /// A socket that was asked who it is.
    pub(crate) async fn challenged(&self) -> Result<(Page, String), Unanswered> {
        let stream = TcpStream::connect(self.address).await.unwrap();
        let (url, origin) = (format!("ws://{}/wire", self.address), format!("http://{}", self.address));
        let (link, socket) =
            websocket::call(stream, &url, Some(&origin), Lane::MAIN, Limits::default()).await?;
        let mut page = Page { link, socket };
        let challenge = page.next().await.unwrap();
        Ok((page, challenge["challenge"]["nonce"].as_str().unwrap().to_owned()))
    }

    /// What it shows for a challenge.
    pub(crate) fn shows(&self, nonce: &str, host: &str, wants: &Value) -> Value {
        let text = web::signed_text(nonce, host, &self.id);
        let signature = self.pair.sign(&SystemRandom::new(), text.as_bytes()).unwrap();
        json!({"device": {"id": self.id, "signature": URL_SAFE_NO_PAD.encode(signature), "wants": wants}})
    }

    /// A socket that was welcomed or refused, and with what.
    pub(crate) async fn connect(&self, wants: &Value) -> (Page, Value) {
        let (mut page, nonce) = self.challenged().await.unwrap();
        page.say(&self.shows(&nonce, &self.address.to_string(), wants));
        let answer = page.next().await.unwrap();
        (page, answer)
    }
}

/// A page's socket.
pub(crate) struct Page {
    pub(crate) link: LinkIo,
    pub(crate) socket: Socket,
}

impl Page {
    pub(crate) fn say(&self, value: &Value) {
        self.link.outgoing.try_send(Lane::MAIN, value.to_string()).unwrap();
    }

    /// The next message; `None` at the end.
    pub(crate) async fn next(&mut self) -> Option<Value> {
        match tokio::time::timeout(PATIENCE, self.link.incoming.recv()).await.unwrap() {
            Some(Incoming::Frame { frame: Frame::Line(line), .. }) => {
                Some(serde_json::from_str(&line).unwrap())
            }
            _ => None,
        }
    }

    /// The next message that has this key.
    pub(crate) async fn until(&mut self, key: &str) -> Value {
        loop {
            let said = self
                .next()
                .await
                .unwrap_or_else(|| panic!("ended before {key}: {:?}", self.socket.closed_with()));
            if let Some(told) = said.get(key) {
                return told.clone();
            }
        }
    }

    /// The code of the end, once it has come.
    pub(crate) async fn end(&mut self) -> u16 {
        while self.next().await.is_some() {}
        self.socket.closed_with().map_or(0, |(code, _)| code)
    }
}
