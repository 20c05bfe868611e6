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
    /// The host that it asks for.
    pub(crate) host: String,
    pub(crate) id: String,
    pub(crate) pair: EcdsaKeyPair,
    /// The key that only a tab knows.
    pub(crate) tab: EcdsaKeyPair,
}

fn pair() -> EcdsaKeyPair {
    let random = SystemRandom::new();
    let pkcs8 = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &random).unwrap();
    EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, pkcs8.as_ref(), &random).unwrap()
}

fn public(pair: &EcdsaKeyPair) -> String {
    URL_SAFE_NO_PAD.encode(pair.public_key().as_ref())
}

fn signed(pair: &EcdsaKeyPair, text: &str) -> String {
    URL_SAFE_NO_PAD.encode(pair.sign(&SystemRandom::new(), text.as_bytes()).unwrap())
}

/// An answer: its status, and its head in small letters.
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
}

/// Asks for something as it is written here.
pub(crate) async fn ask(address: SocketAddr, request: &str) -> Answer {
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut bytes = Vec::new();
    tokio::time::timeout(PATIENCE, stream.read_to_end(&mut bytes)).await.unwrap().unwrap();
    let text = String::from_utf8(bytes).unwrap();
    let head = text.split_once("\r\n\r\n").map_or(text.as_str(), |(head, _)| head);
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or_default();
    Answer { status, head: head.to_ascii_lowercase() }
}

impl Browser {
    /// One with keys of its own that nobody knows yet.
    pub(crate) fn new(address: SocketAddr) -> Browser {
        let (pair, tab) = (pair(), pair());
        let host = address.to_string();
        Browser { address, host, id: "dev-nobody".to_owned(), pair, tab }
    }

    /// The same, which asks for the host of an address that was told.
    pub(crate) fn at(address: SocketAddr, page: &str) -> Browser {
        let host = page.split_once("://").unwrap().1.trim_end_matches('/').to_owned();
        Browser { host, ..Browser::new(address) }
    }

    pub(crate) fn key(&self) -> String {
        public(&self.pair)
    }

    async fn socket(&self, path: &str) -> Result<Page, Unanswered> {
        let stream = TcpStream::connect(self.address).await.unwrap();
        let (url, origin) = (format!("ws://{}{path}", self.host), format!("http://{}", self.host));
        let (link, socket) =
            websocket::call(stream, &url, Some(&origin), Lane::MAIN, Limits::default()).await?;
        Ok(Page { link, socket })
    }

    pub(crate) async fn enrol_socket(&self) -> Result<Page, Unanswered> {
        self.socket("/enrol").await
    }

    pub(crate) async fn wire_socket(&self) -> Result<Page, Unanswered> {
        self.socket("/wire").await
    }

    /// Whether a server with this public key proved who it is.
    pub(crate) fn proves(&self, server: &str, ours: &str, theirs: &str, signature: &str) -> bool {
        use ring::signature::{ECDSA_P256_SHA256_FIXED, UnparsedPublicKey};
        let bytes = |text: &str| URL_SAFE_NO_PAD.decode(text).unwrap();
        let key = UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, bytes(server));
        key.verify(web::server_text(ours, &self.host, theirs).as_bytes(), &bytes(signature)).is_ok()
    }

    /// What it says to be enrolled.
    pub(crate) fn asks(&self, nonce: &str) -> Value {
        let (key, tab) = (public(&self.pair), public(&self.tab));
        let signature = signed(&self.pair, &web::enrol_text(nonce, &self.host, &key, &tab));
        json!({"enrol": {"key": key, "tab": tab, "name": "a test", "signature": signature}})
    }

    /// The same where addresses are encrypted, so that there is no key of a tab.
    pub(crate) fn asks_to_last(&self, nonce: &str) -> Value {
        let key = public(&self.pair);
        let signature = signed(&self.pair, &web::enrol_text(nonce, &self.host, &key, ""));
        json!({"enrol": {"key": key, "name": "a test", "signature": signature}})
    }

    /// A socket that has asked to be enrolled, and what it was told: a code, or why not.
    pub(crate) async fn candidate(&self) -> (Page, Value) {
        let mut page = self.socket("/enrol").await.unwrap();
        let told = page.next().await.unwrap();
        let Some(nonce) = told["challenge"]["nonce"].as_str() else { return (page, told) };
        page.say(&self.asks(nonce));
        let told = page.next().await.unwrap();
        (page, told)
    }

    /// Waits for the end of that.
    pub(crate) async fn enrolled(&mut self, mut page: Page) -> Value {
        let told = page.next().await.unwrap();
        if let Some(id) = told["enrolled"]["device"]["id"].as_str() {
            self.id = id.to_owned();
        }
        told
    }

    /// A socket that was asked who it is.
    pub(crate) async fn challenged(&self) -> Result<(Page, String), Unanswered> {
        let mut page = self.socket("/wire").await?;
        let challenge = page.next().await.unwrap();
        let nonce = challenge["challenge"]["nonce"].as_str();
        Ok((page, nonce.unwrap_or_else(|| panic!("{challenge}")).to_owned()))
    }

    /// What it shows for a challenge.
    pub(crate) fn shows(&self, nonce: &str, host: &str, wants: &Value) -> Value {
        let signature = signed(&self.pair, &web::signed_text(nonce, host, &self.id));
        json!({"device": {"id": self.id, "signature": signature, "wants": wants}})
    }

    /// The same as a tab that stayed open.
    pub(crate) fn tab_shows(&self, nonce: &str, wants: &Value) -> Value {
        let signature = signed(&self.tab, &web::signed_text(nonce, &self.host, &self.id));
        json!({"device": {"id": self.id, "signature": signature, "with": "tab", "wants": wants}})
    }

    /// A socket that was welcomed or refused, and with what.
    pub(crate) async fn connect(&self, wants: &Value) -> (Page, Value) {
        let (mut page, nonce) = self.challenged().await.unwrap();
        page.say(&self.shows(&nonce, &self.host, wants));
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
