//! Addresses on the network: which may be fetched from, where a redirect may lead, which host a program names, and what is one's own
//! network. Pure: who looks names up and connects does it elsewhere, and has what was found judged here.

mod host;

pub use host::Host;

use reqwest::Url;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// Longest address.
const MAX_URL: usize = 8 * 1024;

/// An address that can be fetched from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Target {
    url: Url,
    /// Host and, where it is not the usual one, port: what the person is shown and what rules hold.
    host: String,
    name: String,
    port: u16,
}

impl Target {
    /// Reads an address; the error says what would be right.
    pub(crate) fn parse(text: &str) -> Result<Target, String> {
        let text = text.trim();
        if text.len() > MAX_URL {
            return Err(format!("the address is longer than {MAX_URL} bytes"));
        }
        let mut url = Url::parse(text).map_err(|why| format!("{why}: write it as https://host/path"))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(format!("{}: only http and https can be fetched", url.scheme()));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err("the address carries a login, which is not sent".to_owned());
        }
        url.set_fragment(None);
        let (Some(name), Some(port)) = (url.host_str().map(str::to_owned), url.port_or_known_default())
        else {
            return Err("the address names no host".to_owned());
        };
        let host = match url.port() {
            Some(port) => format!("{name}:{port}"),
            None => name.clone(),
        };
        let name = name.trim_start_matches('[').trim_end_matches(']').to_owned();
        Ok(Target { url, host, name, port })
    }

    /// The address as it is fetched.
    pub(crate) fn url(&self) -> &Url {
        &self.url
    }

    /// The host as people and rules name it: with the port, if the URL names one.
    pub(crate) fn host(&self) -> &str {
        &self.host
    }

    /// The host as it is looked up.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// The port, also when the URL leaves it to the scheme.
    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// Whether nothing in the address itself says that it is not public; what a name leads to shows when it is looked up.
    pub(crate) fn looks_public(&self) -> bool {
        looks_public(&self.name)
    }
}

/// Whether nothing in a name itself, or in an address that stands in its place, says that it is not public.
pub fn looks_public(name: &str) -> bool {
    if let Ok(address) = name.parse::<IpAddr>() {
        return is_public(address);
    }
    let name = name.trim_end_matches('.').to_ascii_lowercase();
    let own = ["localhost", "local", "internal", "localdomain", "home.arpa"];
    !own.iter().any(|own| name == *own || name.strip_suffix(own).is_some_and(|rest| rest.ends_with('.')))
}

/// The addresses that a name was found to have, if they may be connected to: whoever connects takes these and does not look the name up
/// again. `private` lets one's own network count as well.
pub(crate) fn judged(found: Vec<SocketAddr>, private: bool) -> Result<Vec<SocketAddr>, NoWay> {
    if found.is_empty() {
        Err(NoWay::Nowhere)
    } else if private || found.iter().all(|address| is_public(address.ip())) {
        Ok(found)
    } else {
        Err(NoWay::Own)
    }
}

/// Why a name is not connected to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NoWay {
    /// It leads to this machine or its own network, if by one of its addresses.
    Own,
    /// It has no address.
    Nowhere,
}

/// Where a redirect leads.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// Another page of the same host.
    Here(Target),
    /// Another host: nobody agreed to that.
    Elsewhere(Url),
}

/// Where a redirect leads; an error where it cannot be followed at all.
pub(crate) fn next(from: &Target, location: &str) -> Result<Next, String> {
    let url = from.url.join(location).map_err(|why| format!("{why}"))?;
    let target = Target::parse(url.as_str())?;
    if from.url.scheme() == "https" && target.url.scheme() == "http" {
        return Err("to an address that is not encrypted".to_owned());
    }
    // From http to https is the same host on another usual port.
    if target.host == from.host { Ok(Next::Here(target)) } else { Ok(Next::Elsewhere(target.url)) }
}

/// Why an address of one's own network is not asked, and what to do.
pub(crate) fn refusal(host: &str) -> String {
    format!(
        "{host} is on this machine or its own network, which is not asked; the person can allow it with `private = true` \
         under [fetch] in their settings"
    )
}

/// Whether an address belongs to the public internet and not to this machine, its network or a special purpose.
pub fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    let special = matches!(
        (a, b, c),
        (0 | 10 | 127, ..)
            | (100, 64..=127, _)
            | (169, 254, _)
            | (172, 16..=31, _)
            | (192, 0, 0 | 2)
            | (192, 88, 99)
            | (192, 168, _)
            | (198, 18..=19, _)
            | (198, 51, 100)
            | (203, 0, 113)
            | (224.., ..)
    );
    !special
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    let parts = address.segments();
    let inner = |high: u16, low: u16| {
        let [a, b] = high.to_be_bytes();
        let [c, d] = low.to_be_bytes();
        is_public_v4(Ipv4Addr::new(a, b, c, d))
    };
    match parts {
        // Addresses of the older kind in the clothes of the newer: mapped, compatible, translated, tunnelled.
        [0, 0, 0, 0, 0, 0 | 0xffff, high, low] => inner(high, low),
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] => inner(high, low),
        [0x2002, high, low, ..] => inner(high, low),
        [0x2001, 0..=0x1ff, ..] | [0x2001, 0xdb8, ..] => false,
        // What has been given out so far.
        [first, ..] => (0x2000..=0x3fff).contains(&first),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_public_addresses_are_public() {
        for public in ["1.1.1.1", "8.8.8.8", "172.32.0.1", "100.128.0.1", "2606:4700::1111", "::ffff:8.8.8.8"]
        {
            assert!(is_public(public.parse().unwrap()), "{public}");
        }
        for own in [
            "127.0.0.1",
            "127.9.9.9",
            "0.0.0.0",
            "10.0.0.1",
            "172.16.0.1",
            "192.168.1.1",
            "169.254.169.254",
            "100.64.0.1",
            "198.18.0.1",
            "224.0.0.1",
            "255.255.255.255",
            "::1",
            "::",
            "fe80::1",
            "fc00::1",
            "fd12::1",
            "ff02::1",
            "::ffff:127.0.0.1",
            "::ffff:169.254.169.254",
            "::127.0.0.1",
            "64:ff9b::a00:1",
            "2002:7f00:1::",
            "2001:db8::1",
        ] {
            assert!(!is_public(own.parse().unwrap()), "{own}");
        }
    }

    #[test]
    fn addresses_are_read_as_browsers_read_them() {
        let looks =
            |text: &str| Target::parse(text).map(|target| (target.host().to_owned(), target.looks_public()));
        assert_eq!(looks("https://docs.rs/x#y"), Ok(("docs.rs".to_owned(), true)));
        assert_eq!(looks(" HTTP://Docs.RS:8080/ "), Ok(("docs.rs:8080".to_owned(), true)));
        // All the ways to write one's own machine.
        for own in [
            "http://localhost/",
            "http://LOCALHOST.:80/",
            "http://a.localhost",
            "http://printer.local",
            "http://0x7f.1/",
            "http://2130706433/",
            "http://127.1:8080",
            "http://[::1]/",
            "http://[::ffff:7f00:1]/",
            "http://169.254.169.254/",
            "http://metadata.google.internal/",
            "http://0/",
        ] {
            assert!(!looks(own).unwrap().1, "{own}");
        }
        for wrong in [
            "",
            "docs.rs",
            "file:///etc/passwd",
            "ftp://x/",
            "javascript:1",
            "http://",
            "https://me:pw@host/",
        ] {
            assert!(looks(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_redirect_stays_on_the_host_that_was_shown() {
        let from = Target::parse("http://host.example/a/b").unwrap();
        let leads = |location: &str| match next(&from, location) {
            Ok(Next::Here(target)) => format!("here {}", target.url()),
            Ok(Next::Elsewhere(url)) => format!("elsewhere {url}"),
            Err(why) => why,
        };
        assert_eq!(leads("c"), "here http://host.example/a/c");
        assert_eq!(leads("https://host.example/a"), "here https://host.example/a");
        assert_eq!(leads("//127.0.0.1/x"), "elsewhere http://127.0.0.1/x");
        assert_eq!(leads("http://host.example:8080/"), "elsewhere http://host.example:8080/");
        assert_eq!(leads("file:///etc/passwd"), "file: only http and https can be fetched");
        let safe = Target::parse("https://host.example/").unwrap();
        assert!(next(&safe, "http://host.example/").is_err());
    }
}
