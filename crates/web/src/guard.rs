//! What stands before every route: which hosts we are, which pages may ask, and what browsers are told with every answer.
//!
//! Invariants: what the client chose is looked up in our own lists before it is compared with anything else that it chose. No header
//! ever lets another origin read an answer.

#[cfg(test)]
mod tests;

use crate::offers;
use axum::body::Body;
use axum::http::header::{self, HeaderMap, HeaderName, HeaderValue};
use axum::http::{Method, Request, StatusCode};
use axum::response::{IntoResponse, Response};
use std::net::{IpAddr, SocketAddr};

/// The hosts that everybody is to themselves.
const LOOPBACK: [&str; 3] = ["127.0.0.1", "localhost", "[::1]"];

/// The hosts that we are, and the origins of our own pages.
#[derive(Debug, Clone)]
pub(crate) struct Names {
    /// All that are always the same, as browsers send them.
    hosts: Vec<String>,
    /// The one that the person is told.
    told: String,
    scheme: &'static str,
    /// What follows the name that an offer has for itself; where addresses are not encrypted.
    fresh: Option<String>,
}

/// How pages reach us.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reached {
    /// Without encryption.
    Plainly,
    /// By TLS, ours or a proxy's.
    ByTls,
}

impl Names {
    /// What we are called at this address, with further names that were typed. A name without a port has the port that we listen on, but
    /// for those of a proxy.
    pub(crate) fn new(
        address: SocketAddr,
        further: &[String],
        reached: Reached,
        behind_proxy: bool,
    ) -> Names {
        let (scheme, usual) = match reached {
            Reached::Plainly => ("http", ":80"),
            Reached::ByTls => ("https", ":443"),
        };
        let port = address.port();
        let with_port = |name: &str| format!("{name}:{port}");
        let mut hosts: Vec<String> = LOOPBACK.map(with_port).into();
        let mut told = match address.ip() {
            ip if !ip.is_unspecified() => address.to_string(),
            IpAddr::V4(_) => with_port("127.0.0.1"),
            IpAddr::V6(_) => with_port("[::1]"),
        };
        if !hosts.contains(&told) {
            hosts.push(told.clone());
        }
        for (at, name) in further.iter().enumerate() {
            let name = name.to_ascii_lowercase();
            let has_port = name.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
            let name = if has_port || behind_proxy { name } else { with_port(&name) };
            if at == 0 {
                told.clone_from(&name);
            }
            hosts.push(name);
        }
        // Browsers leave the usual port of a scheme out, in the host as in the origin.
        let short = |host: &String| host.strip_suffix(usual).map(str::to_owned);
        let shortened: Vec<String> = hosts.iter().filter_map(short).collect();
        hosts.extend(shortened);
        let told = short(&told).unwrap_or(told);
        let fresh = format!(".localhost:{port}");
        let fresh = (reached == Reached::Plainly).then(|| short(&fresh).unwrap_or(fresh));
        Names { hosts, told, scheme, fresh }
    }

    /// Whether nobody else can speak from our addresses, because they are encrypted.
    pub(crate) fn is_encrypted(&self) -> bool {
        self.scheme == "https"
    }

    /// The address of the page under a name that an offer has for itself.
    pub(crate) fn page_at(&self, name: &str) -> String {
        match &self.fresh {
            Some(rest) => format!("{}://{name}{rest}/", self.scheme),
            None => self.page(),
        }
    }

    /// What a host of ours is known by to offers: the name that one has for itself, else the whole of it.
    pub(crate) fn offered_name<'a>(&self, host: &'a str) -> &'a str {
        self.fresh_name(host).unwrap_or(host)
    }

    fn fresh_name<'a>(&self, host: &'a str) -> Option<&'a str> {
        host.strip_suffix(self.fresh.as_deref()?).filter(|name| offers::is_fresh_name(name))
    }

    /// Names of `localhost` lead to this machine whoever is asked for them, so that none can be bound anew to us.
    fn is_own(&self, host: &str) -> bool {
        self.hosts.iter().any(|own| own == host) || self.fresh_name(host).is_some()
    }

    /// The address of the page: by the first name that was given, else by the address that we listen on.
    pub(crate) fn page(&self) -> String {
        format!("{}://{}/", self.scheme, self.told)
    }

    /// The host that was asked for, if we are it.
    pub(crate) fn host<'a>(&self, request: &'a Request<Body>) -> Option<&'a str> {
        let mut asked = request.headers().get_all(header::HOST).iter();
        let host = asked.next().filter(|_| asked.next().is_none())?.to_str().ok()?;
        let whole = request.uri().authority().is_none_or(|authority| authority.as_str() == host);
        (whole && self.is_own(host)).then_some(host)
    }

    /// Whether a page of this origin is the page of this host of ours. Another one of ours is not: a name that somebody else spoke from
    /// while we were away must not speak for a fresh one.
    fn is_of(&self, origin: &HeaderValue, host: &str) -> bool {
        let origin = origin.to_str().ok().and_then(|origin| origin.split_once("://"));
        origin.is_some_and(|(scheme, from)| scheme == self.scheme && self.is_own(from) && from == host)
    }
}

/// Lets a request through, or says what is wrong with it.
pub(crate) fn judge(names: &Names, request: &Request<Body>) -> Result<(), (StatusCode, &'static str)> {
    let Some(host) = names.host(request) else {
        return Err((StatusCode::MISDIRECTED_REQUEST, "this server is not the host that was asked for"));
    };
    let headers = request.headers();
    let reads = matches!(*request.method(), Method::GET | Method::HEAD);
    let changes = !reads || headers.contains_key(header::UPGRADE);
    let mut origins = headers.get_all(header::ORIGIN).iter();
    match (origins.next(), origins.next()) {
        (None, _) if changes => {
            return Err((StatusCode::FORBIDDEN, "a request of this kind has to say its origin"));
        }
        (None, _) => {}
        (Some(origin), None) if names.is_of(origin, host) => {}
        (Some(_), _) => return Err((StatusCode::FORBIDDEN, "pages of another origin are not answered")),
    }
    let said = |name: &str| headers.get(name).map(|value| value.to_str().unwrap_or("unreadable"));
    match said("sec-fetch-site") {
        None | Some("same-origin" | "none") => Ok(()),
        // A link to us on another page, followed by a person: it is shown the page, and nothing more.
        Some(_)
            if !changes
                && said("sec-fetch-mode") == Some("navigate")
                && said("sec-fetch-dest") == Some("document") =>
        {
            Ok(())
        }
        Some(_) => Err((StatusCode::FORBIDDEN, "pages of another origin are not answered")),
    }
}

/// What every answer carries.
const HEADERS: &[(&str, &str)] = &[
    ("x-content-type-options", "nosniff"),
    ("referrer-policy", "no-referrer"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
    ("x-frame-options", "DENY"),
    ("permissions-policy", "camera=(), microphone=(), geolocation=()"),
];

/// Adds what every answer carries. `host` is one of ours, or nothing.
pub(crate) fn dress(headers: &mut HeaderMap, names: &Names, host: Option<&str>) {
    for (name, value) in HEADERS {
        headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
    // Some browsers do not count sockets among what is 'self'.
    let sockets =
        host.map(|host| format!(" {}://{host}", names.scheme.replacen("http", "ws", 1))).unwrap_or_default();
    let policy = format!(
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; font-src 'self'; \
         connect-src 'self'{sockets}; manifest-src 'self'; worker-src 'self'; frame-ancestors 'none'; base-uri 'none'; \
         form-action 'none'; require-trusted-types-for 'script'; trusted-types parlor-sw"
    );
    if let Ok(policy) = HeaderValue::from_str(&policy) {
        headers.insert(header::CONTENT_SECURITY_POLICY, policy);
    }
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
}

/// A refusal in plain words.
pub(crate) fn refused(status: StatusCode, why: &'static str) -> Response {
    (status, format!("{why}\n")).into_response()
}
