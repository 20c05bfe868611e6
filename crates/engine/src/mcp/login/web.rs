//! Asking a server or its authorization server something over the web: at an address that was looked up and judged before the connection
//! and is the one connected to, with bounds for time, size and redirects.

use super::address::{self, Nearness};
use crate::config::CONNECT;
use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, LOCATION};
use reqwest::{Client, Method, Response, Url};
use serde_json::Value;
use std::net::SocketAddr;
use std::time::Duration;

/// How long one answer may take, redirects included.
const DEADLINE: Duration = Duration::from_secs(8);
/// Largest answer, in bytes.
const MAX_ANSWER: usize = 256 * 1024;
/// Redirects that are followed, on the same host.
const MAX_HOPS: usize = 3;

/// What is sent beside the address.
#[derive(Clone, Default)]
pub(super) struct Letter {
    /// Its kind and its text; without one it is a plain question.
    pub(super) body: Option<(&'static str, String)>,
    /// The header that shows who Parlor is.
    pub(super) authorization: Option<String>,
}

/// How an authorization server or a description answered.
pub(super) struct Answer {
    pub(super) status: u16,
    /// `Null` where it is no JSON.
    pub(super) said: Value,
}

/// Where the server of this address stands.
pub(super) async fn nearness(server: &Url) -> Result<Nearness, String> {
    Ok(Nearness::of(&found(server).await?))
}

/// Asks, and gives what came back whatever it was.
///
/// # Errors
/// Why there is no answer, in words.
pub(super) async fn ask(url: &Url, letter: &Letter, near: Nearness) -> Result<Answer, String> {
    let host = url.host_str().unwrap_or_default();
    match tokio::time::timeout(DEADLINE, follow(url, letter, near)).await {
        Ok(answer) => answer.map_err(|why| format!("{host}: {why}")),
        Err(_) => Err(format!("{host} did not answer within {} seconds", DEADLINE.as_secs())),
    }
}

async fn follow(url: &Url, letter: &Letter, near: Nearness) -> Result<Answer, String> {
    let mut url = url.clone();
    for _ in 0..=MAX_HOPS {
        let response = send(&url, letter, near).await?;
        let status = response.status();
        if !status.is_redirection() {
            return Ok(Answer { status: status.as_u16(), said: body(response).await? });
        }
        // What is sent is for who was shown, and for nobody else.
        if letter.body.is_some() {
            return Err("it redirects what it is sent, which is not followed".to_owned());
        }
        let to = response.headers().get(LOCATION).and_then(|to| to.to_str().ok()).unwrap_or_default();
        let next = url.join(to).map_err(|why| format!("it redirects to no address: {why}"))?;
        if next.origin() != url.origin() {
            return Err(format!(
                "it redirects to another host, {}, which is not followed",
                super::shown(next.as_str())
            ));
        }
        url = next;
    }
    Err(format!("it redirects more than {MAX_HOPS} times"))
}

async fn found(url: &Url) -> Result<Vec<SocketAddr>, String> {
    let (name, port) = (address::name_of(url), url.port_or_known_default().unwrap_or_default());
    let looking = tokio::net::lookup_host((name, port));
    match tokio::time::timeout(DEADLINE, looking).await {
        Ok(Ok(found)) => Ok(found.collect()),
        Ok(Err(why)) => Err(format!("{name} cannot be found: {why}")),
        Err(_) => Err(format!("{name} was not found within {} seconds", DEADLINE.as_secs())),
    }
}

async fn send(url: &Url, letter: &Letter, near: Nearness) -> Result<Response, String> {
    let addresses = found(url).await?;
    // A name may lead here although it does not look like it.
    if !near.private && !addresses.iter().all(|address| tools::fetch::is_public(address.ip())) {
        return Err("it leads to this machine or its own network, where the server itself is not".to_owned());
    }
    let client = client(url, &addresses).map_err(|why| format!("no HTTP client: {why}"))?;
    let method = if letter.body.is_some() { Method::POST } else { Method::GET };
    let mut request = client.request(method, url.clone()).header(ACCEPT, "application/json");
    if let Some(authorization) = &letter.authorization {
        request = request.header(AUTHORIZATION, authorization);
    }
    if let Some((kind, text)) = &letter.body {
        request = request.header(CONTENT_TYPE, *kind).body(text.clone());
    }
    request.send().await.map_err(|why| cause(&why.without_url()))
}

fn client(url: &Url, addresses: &[SocketAddr]) -> reqwest::Result<Client> {
    // Another part of the program may have installed a provider before; any will do.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let builder = || {
        Client::builder()
            .connect_timeout(CONNECT)
            .redirect(reqwest::redirect::Policy::none())
            // A proxy would look the name up again.
            .no_proxy()
            .resolve_to_addrs(address::name_of(url), addresses)
            .user_agent(concat!("parlor/", env!("CARGO_PKG_VERSION")))
    };
    // Plain HTTP works even where the machine has no certificates to check TLS with.
    builder().build().or_else(|_| builder().tls_certs_only([]).build())
}

async fn body(mut response: Response) -> Result<Value, String> {
    let mut body = Vec::new();
    while let Some(piece) = response.chunk().await.map_err(|why| cause(&why.without_url()))? {
        if body.len() + piece.len() > MAX_ANSWER {
            return Err(format!("its answer is larger than {MAX_ANSWER} bytes"));
        }
        body.extend_from_slice(&piece);
    }
    Ok(serde_json::from_slice(&body).unwrap_or_default())
}

/// What is at the bottom of an error: the layers above it name our own parts.
fn cause(error: &reqwest::Error) -> String {
    let mut cause: &dyn std::error::Error = error;
    while let Some(deeper) = cause.source() {
        cause = deeper;
    }
    super::shown(&cause.to_string())
}
