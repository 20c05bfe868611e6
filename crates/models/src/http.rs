//! One HTTP client for all providers: rustls with ring, no redirects, errors without URLs and keys.
//!
//! It is not a provider: it knows statuses and bytes, no wire. Redirects are refused because a key in a header of
//! ours would follow to the other host.

use std::error::Error as _;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, SystemTime};

use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use reqwest::{Client, ClientBuilder, Response};

use crate::{ErrorKind, ModelError, Secret};

/// Time to reach a server.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(15);
/// Bytes of an error body that are read.
const MAX_ERROR_BODY: usize = 64 * 1024;
/// Time an error body may take.
const ERROR_BODY_TIMEOUT: Duration = Duration::from_secs(10);

/// A header; the value of a key is a secret.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum HeaderText {
    Plain(&'static str),
    Key(Secret),
    Bearer(Secret),
}

/// What is to be posted (with a body) or got (without).
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Call {
    pub(crate) url: String,
    pub(crate) headers: Vec<(&'static str, HeaderText)>,
    pub(crate) body: Option<String>,
}

/// The clients of a catalog: one that checks TLS by the machine's certificates, and one for plain HTTP. Each is made by the first call
/// that needs it, because reading the certificates takes longer than all else at the start of the program. Clones share them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Clients {
    checking: Arc<OnceLock<Result<Client, ModelError>>>,
    plain: Arc<OnceLock<Result<Client, ModelError>>>,
}

impl Clients {
    fn of(&self, url: &str) -> Result<Client, ModelError> {
        if needs_certificates(url, |name| std::env::var(name).ok()) {
            // Without certificates nothing over TLS can be reached; why is then told by the call that fails.
            return self.checking.get_or_init(|| made(builder()).or_else(|_| plain())).clone();
        }
        self.plain.get_or_init(plain).clone()
    }
}

/// Whether a call speaks TLS to anybody, be it to a proxy.
fn needs_certificates(url: &str, variable: impl Fn(&str) -> Option<String>) -> bool {
    let is_tls =
        |url: &str| url.trim_start().get(..6).is_some_and(|start| start.eq_ignore_ascii_case("https:"));
    let mut proxies = ["http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"].into_iter();
    is_tls(url) || proxies.any(|name| variable(name).is_some_and(|proxy| is_tls(&proxy)))
}

fn builder() -> ClientBuilder {
    // Another part of the program may have installed a provider before; any will do.
    let _ = rustls::crypto::ring::default_provider().install_default();
    Client::builder()
        .connect_timeout(CONNECT_TIMEOUT)
        .redirect(reqwest::redirect::Policy::none())
        .user_agent(concat!("parlor/", env!("CARGO_PKG_VERSION")))
}

fn plain() -> Result<Client, ModelError> {
    made(builder().tls_certs_only([]))
}

fn made(builder: ClientBuilder) -> Result<Client, ModelError> {
    builder.build().map_err(|error| {
        ModelError::new(ErrorKind::Network, "http", format!("no HTTP client: {}", describe(&error)))
    })
}

/// Sends a call and gives the answer's head. Dropping the future drops the connection.
pub(crate) async fn send(clients: &Clients, call: &Call, source: &str) -> Result<Response, ModelError> {
    let client = clients.of(&call.url)?;
    let mut headers = HeaderMap::new();
    for (name, value) in &call.headers {
        let text = match value {
            HeaderText::Plain(text) => (*text).to_owned(),
            HeaderText::Key(key) => key.expose().to_owned(),
            HeaderText::Bearer(key) => format!("Bearer {}", key.expose()),
        };
        let mut header = HeaderValue::from_str(&text).map_err(|_| {
            ModelError::new(ErrorKind::Auth, source, "the key contains characters that no header can carry")
        })?;
        header.set_sensitive(!matches!(value, HeaderText::Plain(_)));
        headers.insert(HeaderName::from_static(name), header);
    }
    let request = match &call.body {
        Some(body) => client.post(&call.url).body(body.clone()),
        None => client.get(&call.url),
    };
    let sent = request.headers(headers).send().await;
    sent.map_err(|error| {
        let kind = if error.is_builder() { ErrorKind::BadRequest } else { ErrorKind::Network };
        ModelError::new(kind, source, format!("{}: {}", server(&call.url), describe(&error.without_url())))
    })
}

/// Which server an address means, for people: without user, password and path.
fn server(url: &str) -> String {
    reqwest::Url::parse(url)
        .map_or_else(|_| "its address".to_owned(), |url| url.origin().ascii_serialization())
}

/// Reads the body of a failed answer, capped in size and time; what cannot be read is simply missing.
pub(crate) async fn error_body(mut response: Response) -> String {
    let mut body = Vec::new();
    let read = async {
        while let Ok(Some(piece)) = response.chunk().await {
            body.extend_from_slice(&piece);
            if body.len() >= MAX_ERROR_BODY {
                break;
            }
        }
    };
    let _ = tokio::time::timeout(ERROR_BODY_TIMEOUT, read).await;
    body.truncate(MAX_ERROR_BODY);
    String::from_utf8_lossy(&body).into_owned()
}

/// The wait that a provider asks for: `retry-after-ms`, or `retry-after` in seconds or as a date.
pub(crate) fn retry_after(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim);
    if let Some(millis) = text("retry-after-ms").and_then(|text| text.parse::<f64>().ok()) {
        return Duration::try_from_secs_f64(millis / 1_000.0).ok();
    }
    let text = text("retry-after")?;
    if let Ok(seconds) = text.parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let date = httpdate::parse_http_date(text).ok()?;
    Some(date.duration_since(now).unwrap_or_default())
}

/// An error with its causes, without the URL (which may carry a password).
pub(crate) fn describe(error: &reqwest::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let more = error.to_string();
        if !text.contains(&more) {
            text.push_str(": ");
            text.push_str(&more);
        }
        cause = error.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn certificates_are_read_only_for_who_speaks_tls() {
        let none = |_: &str| None;
        for (url, wanted) in
            [("http://127.0.0.1:1/v1", false), ("https://host/v1", true), ("HTTPS://host", true), ("", false)]
        {
            assert_eq!(needs_certificates(url, none), wanted, "{url}");
        }
        for (proxy, wanted) in [("http://proxy:3128", false), ("https://proxy", true)] {
            let set = |name: &str| (name == "ALL_PROXY").then(|| proxy.to_owned());
            assert_eq!(needs_certificates("http://host", set), wanted, "{proxy}");
        }
        let clients = Clients::default();
        clients.of("http://127.0.0.1:1").unwrap();
        assert!(clients.plain.get().is_some() && clients.checking.get().is_none());
    }

    #[test]
    fn waits_are_read_in_all_forms() {
        let now = httpdate::parse_http_date("Sun, 06 Nov 1994 08:49:37 GMT").unwrap();
        let table = [
            ("retry-after", "7", Some(7_000)),
            ("retry-after", " 1.5 ", Some(1_500)),
            ("retry-after-ms", "250", Some(250)),
            ("retry-after", "Sun, 06 Nov 1994 08:50:07 GMT", Some(30_000)),
            ("retry-after", "Sun, 06 Nov 1994 08:00:00 GMT", Some(0)),
            ("retry-after", "-3", None),
            ("retry-after", "soon", None),
            ("retry-after", "NaN", None),
            ("other", "7", None),
        ];
        for (name, value, want) in table {
            let mut headers = HeaderMap::new();
            headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
            assert_eq!(retry_after(&headers, now), want.map(Duration::from_millis), "{name}: {value}");
        }
    }

    #[test]
    fn a_call_prints_no_key() {
        let call = Call {
            url: "http://localhost".to_owned(),
            headers: vec![("x-api-key", HeaderText::Key(Secret::new("top-secret")))],
            body: None,
        };
        assert!(!format!("{call:?}").contains("top-secret"));
    }
}
