//! Addresses that a server and its metadata name: which of them count, where metadata stands, and whether two belong together. Pure.
//!
//! What a server says is not to be believed: an address counts where it is encrypted and leads out into the world, as the server's own
//! does. Only a server of this machine may name plain addresses of this machine, and only one of the own network others of that.

use reqwest::Url;
use std::net::{IpAddr, SocketAddr};

/// Longest address that a server may name.
const MAX_ADDRESS: usize = 2 * 1024;

/// Where a server stands, and so which addresses it may name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Nearness {
    /// On this machine.
    pub(super) loopback: bool,
    /// On this machine or its own network.
    pub(super) private: bool,
}

impl Nearness {
    /// By the addresses that the server's name leads to.
    pub(super) fn of(found: &[SocketAddr]) -> Nearness {
        Nearness {
            loopback: !found.is_empty() && found.iter().all(|address| address.ip().is_loopback()),
            private: !found.iter().all(|address| tools::fetch::is_public(address.ip())),
        }
    }
}

/// The host of an address as it is looked up.
pub(super) fn name_of(url: &Url) -> &str {
    url.host_str().unwrap_or_default().trim_start_matches('[').trim_end_matches(']')
}

/// Whether an address itself says that it is on this machine.
pub(super) fn is_loopback(url: &Url) -> bool {
    let name = name_of(url);
    name.eq_ignore_ascii_case("localhost")
        || name.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// Whether what is sent there can be read by nobody on the way.
pub(in crate::mcp) fn is_safe(url: &Url) -> bool {
    url.scheme() == "https" || url.scheme() == "http" && is_loopback(url)
}

/// An address that a server or its metadata named, if it may be asked.
///
/// # Errors
/// What is wrong with it, in words that follow its name.
pub(super) fn checked(text: &str, near: Nearness) -> Result<Url, String> {
    if text.len() > MAX_ADDRESS {
        return Err(format!("is longer than {MAX_ADDRESS} bytes"));
    }
    let url = Url::parse(text).map_err(|why| format!("is no address: {why}"))?;
    let shown = super::shown(text);
    if !url.username().is_empty() || url.password().is_some() || url.fragment().is_some() {
        return Err(format!("carries a login or a fragment: {shown}"));
    }
    if !is_safe(&url) || url.scheme() == "http" && !near.loopback {
        return Err(format!("is not encrypted, or no web address: {shown}"));
    }
    if !near.private && !tools::looks_public(name_of(&url)) {
        return Err(format!(
            "leads to this machine or its own network, where the server itself is not: {shown}"
        ));
    }
    Ok(url)
}

/// Where a server describes itself unless it says where: first for its path, then for all of it.
pub(super) fn of_resource(server: &Url) -> Vec<Url> {
    well_known(server, "oauth-protected-resource", true)
}

/// Where an authorization server describes itself, in the order in which these are tried.
pub(super) fn of_issuer(issuer: &Url) -> Vec<Url> {
    let mut places = well_known(issuer, "oauth-authorization-server", false);
    places.extend(well_known(issuer, "openid-configuration", false));
    let path = issuer.path().trim_end_matches('/');
    if !path.is_empty() {
        places.push(at(issuer, &format!("{path}/.well-known/openid-configuration")));
    }
    places
}

fn well_known(url: &Url, name: &str, and_root: bool) -> Vec<Url> {
    let path = url.path().trim_end_matches('/');
    let mut places = vec![at(url, &format!("/.well-known/{name}{path}"))];
    if and_root && !path.is_empty() {
        places.push(at(url, &format!("/.well-known/{name}")));
    }
    places
}

/// Another path of the same host.
pub(super) fn at(url: &Url, path: &str) -> Url {
    let mut place = url.clone();
    place.set_path(path);
    place.set_query(None);
    place.set_fragment(None);
    place
}

/// Whether a server belongs to what a description says it is about: the same host, and the path or one above it.
pub(super) fn is_part_of(server: &Url, resource: &Url) -> bool {
    let (path, of) = (server.path().trim_end_matches('/'), resource.path().trim_end_matches('/'));
    server.origin() == resource.origin()
        && path.strip_prefix(of).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Whether two ways to write an issuer are the same one.
pub(super) fn is_same_issuer(one: &str, other: &str) -> bool {
    one.trim_end_matches('/') == other.trim_end_matches('/')
}

#[cfg(test)]
mod tests {
    use super::*;

    const FAR: Nearness = Nearness { loopback: false, private: false };
    const HERE: Nearness = Nearness { loopback: true, private: true };
    const INSIDE: Nearness = Nearness { loopback: false, private: true };

    fn url(text: &str) -> Url {
        Url::parse(text).unwrap()
    }

    #[test]
    fn an_address_counts_where_it_is_encrypted_and_as_far_away_as_its_server() {
        for (text, far, inside, here) in [
            ("https://auth.example.org/x", true, true, true),
            ("http://auth.example.org/x", false, false, false),
            ("http://127.0.0.1:8/x", false, false, true),
            ("http://localhost:8/x", false, false, true),
            ("http://[::1]:8/x", false, false, true),
            ("https://127.0.0.1/x", false, true, true),
            ("https://10.1.2.3/x", false, true, true),
            ("https://169.254.169.254/latest", false, true, true),
            ("https://[::ffff:127.0.0.1]/x", false, true, true),
            ("https://build.internal/x", false, true, true),
            ("https://me:secret@example.org/", false, false, false),
            ("https://example.org/#x", false, false, false),
            ("file:///etc/passwd", false, false, false),
            ("javascript:alert(1)", false, false, false),
            ("nothing", false, false, false),
        ] {
            let counts = [FAR, INSIDE, HERE].map(|near| checked(text, near).is_ok());
            assert_eq!(counts, [far, inside, here], "{text}");
        }
        assert!(checked(&format!("https://a.org/{}", "x".repeat(MAX_ADDRESS)), HERE).is_err());
    }

    #[test]
    fn a_server_is_as_near_as_its_addresses() {
        let near = |found: &[&str]| {
            let found: Vec<SocketAddr> = found.iter().map(|text| text.parse().unwrap()).collect();
            Nearness::of(&found)
        };
        assert_eq!(near(&["127.0.0.1:1", "[::1]:1"]), HERE);
        assert_eq!(near(&["192.168.1.1:1", "127.0.0.1:1"]), INSIDE);
        assert_eq!(near(&["93.184.215.14:1"]), FAR);
        assert_eq!(near(&[]), FAR);
    }

    #[test]
    fn descriptions_stand_where_the_standards_put_them() {
        let texts = |urls: Vec<Url>| urls.iter().map(Url::to_string).collect::<Vec<_>>();
        assert_eq!(
            texts(of_resource(&url("https://a/deep/mcp?q=1"))),
            [
                "https://a/.well-known/oauth-protected-resource/deep/mcp",
                "https://a/.well-known/oauth-protected-resource"
            ]
        );
        assert_eq!(texts(of_resource(&url("https://a"))), ["https://a/.well-known/oauth-protected-resource"]);
        assert_eq!(
            texts(of_issuer(&url("https://a/"))),
            [
                "https://a/.well-known/oauth-authorization-server",
                "https://a/.well-known/openid-configuration"
            ]
        );
        assert_eq!(
            texts(of_issuer(&url("https://a/t/"))),
            [
                "https://a/.well-known/oauth-authorization-server/t",
                "https://a/.well-known/openid-configuration/t",
                "https://a/t/.well-known/openid-configuration"
            ]
        );
    }

    #[test]
    fn a_description_is_of_the_server_or_of_what_it_is_in() {
        for (server, resource, is) in [
            ("https://a/mcp", "https://a/mcp", true),
            ("https://a/mcp/", "https://a/mcp", true),
            ("https://a/mcp/x", "https://a/mcp", true),
            ("https://a/mcp", "https://a", true),
            ("https://a/mcpx", "https://a/mcp", false),
            ("https://a/mcp", "https://a/mcp/x", false),
            ("https://a/mcp", "https://b/mcp", false),
            ("https://a/mcp", "http://a/mcp", false),
            ("https://a:8/mcp", "https://a/mcp", false),
        ] {
            assert_eq!(is_part_of(&url(server), &url(resource)), is, "{server} in {resource}");
        }
    }
}
