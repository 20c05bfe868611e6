//! A host that a program names, with its port: what a person is asked about, what a rule holds, what is looked up. Pure.
//!
//! Strict on purpose: what two readers could read differently (logins, zones, numbers that some resolvers take for addresses, letters
//! beyond ASCII) names no host, so that what is shown is what is connected to.

use super::looks_public;
use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Longest name, as in DNS.
const MAX_NAME: usize = 253;
/// Longest part of a name between two dots.
const MAX_LABEL: usize = 63;
/// The ports that need no word: of https and of http.
const USUAL_PORTS: [u16; 2] = [443, 80];

/// What stands in the place of a name where this machine is meant. No request can name it: a name has no blank.
const MACHINE: &str = "this machine";

/// A host and a port. Shown as people and rules name it: with the port where that is not a usual one.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Host {
    /// In lower case, without a dot at its end; an address as it is usually written, without brackets.
    name: String,
    port: u16,
}

/// The text names no host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("it names no host: write it as name:port, in plain letters and without a login")]
pub struct NoHost;

impl Host {
    /// Reads `name`, `name:port` or `[address]:port`; `usual` is the port where none is written, if it may be left out.
    pub fn parse(text: &str, usual: Option<u16>) -> Result<Host, NoHost> {
        let (name, port) = match text.strip_prefix('[') {
            Some(rest) => {
                let (inner, port) = rest.split_once(']').ok_or(NoHost)?;
                let address: Ipv6Addr = inner.parse().map_err(|_| NoHost)?;
                let port = if port.is_empty() { None } else { Some(port.strip_prefix(':').ok_or(NoHost)?) };
                (address.to_string(), port)
            }
            None => {
                let (name, port) = match text.split_once(':') {
                    Some((name, port)) => (name, Some(port)),
                    None => (text, None),
                };
                (plain_name(name)?, port)
            }
        };
        let port = match port {
            Some(digits) => number(digits)?,
            None => usual.ok_or(NoHost)?,
        };
        if port == 0 { Err(NoHost) } else { Ok(Host { name, port }) }
    }

    /// A port of this machine's own loopback, as it is asked for and as rules name it.
    pub fn of_machine(port: u16) -> Host {
        Host { name: MACHINE.to_owned(), port }
    }

    /// The port, where one of this machine is meant.
    pub fn machine_port(&self) -> Option<u16> {
        (self.name == MACHINE).then_some(self.port)
    }

    /// The port of this machine that a rule's words mean.
    pub fn named_machine_port(words: &str) -> Option<u16> {
        let digits = words.strip_prefix("port ")?.strip_suffix(MACHINE)?.strip_suffix(" of ")?;
        number(digits).ok().filter(|port| *port > 0)
    }

    /// What is looked up.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The port that is connected to.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Whether nothing in it says by itself that it is this machine or its own network.
    pub fn looks_public(&self) -> bool {
        self.name != MACHINE && looks_public(&self.name)
    }

    /// Whether this is the name that TLS would say of it. Of an address it says none.
    pub(crate) fn is_called(&self, said: Option<&str>) -> bool {
        match (self.name.parse::<IpAddr>(), said) {
            (Ok(_), said) => said.is_none(),
            (Err(_), Some(said)) => plain_name(said).is_ok_and(|said| said == self.name),
            (Err(_), None) => false,
        }
    }

    /// As a request's `Host` says it, where `usual` is the port that its scheme leaves out.
    pub(crate) fn header(&self, usual: u16) -> String {
        let name = self.bracketed();
        if self.port == usual { name } else { format!("{name}:{}", self.port) }
    }

    fn bracketed(&self) -> String {
        if self.name.contains(':') { format!("[{}]", self.name) } else { self.name.clone() }
    }
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.name == MACHINE {
            return write!(f, "port {} of {MACHINE}", self.port);
        }
        f.write_str(&self.bracketed())?;
        if USUAL_PORTS.contains(&self.port) { Ok(()) } else { write!(f, ":{}", self.port) }
    }
}

/// A port as it is written: digits alone.
fn number(digits: &str) -> Result<u16, NoHost> {
    let plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    if plain { digits.parse().map_err(|_| NoHost) } else { Err(NoHost) }
}

fn plain_name(text: &str) -> Result<String, NoHost> {
    let name = text.strip_suffix('.').unwrap_or(text).to_ascii_lowercase();
    let sign = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    let part = |part: &str| (1..=MAX_LABEL).contains(&part.len()) && part.bytes().all(sign);
    if name.len() > MAX_NAME || !name.split('.').all(part) {
        return Err(NoHost);
    }
    let last = name.rsplit('.').next().unwrap_or_default();
    // Resolvers take `127.1`, `0x7f.1` and `2130706433` for addresses too: only the usual form is one.
    let is_number = last.bytes().all(|byte| byte.is_ascii_digit()) || last.starts_with("0x");
    if is_number {
        return Ok(name.parse::<Ipv4Addr>().map_err(|_| NoHost)?.to_string());
    }
    Ok(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(text: &str) -> String {
        Host::parse(text, None).map_or_else(|_| "-".to_owned(), |host| host.to_string())
    }

    #[test]
    fn a_host_is_read_in_one_way_or_not_at_all() {
        for (text, shown) in [
            ("registry.npmjs.org:443", "registry.npmjs.org"),
            ("Registry.NPMJS.org.:80", "registry.npmjs.org"),
            ("files.test:8443", "files.test:8443"),
            ("xn--bcher-kva.example:443", "xn--bcher-kva.example"),
            ("under_score.example:443", "under_score.example"),
            ("1.1.1.1:443", "1.1.1.1"),
            ("[2606:4700:0::1111]:443", "[2606:4700::1111]"),
            ("[::ffff:127.0.0.1]:8080", "[::ffff:127.0.0.1]:8080"),
        ] {
            assert_eq!(read(text), shown, "{text}");
        }
        for wrong in [
            "",
            ":443",
            "host",
            "host:",
            "host:0",
            "host:65536",
            "host:+1",
            "host:443:443",
            "me@host:443",
            "me:pw@host:443",
            "host/path:443",
            "a..b:443",
            ".a:443",
            "host..:443",
            "127.1:443",
            "2130706433:443",
            "0x7f.1:443",
            "0177.0.0.1:443",
            "1.2.3.4.5:443",
            "::1:443",
            "[::1%lo]:443",
            "[::1]443",
            "[::1",
            "b\u{fc}cher.example:443",
            "ho\u{202e}st:443",
            "ho st:443",
            "ho%73t:443",
        ] {
            assert_eq!(read(wrong), "-", "{wrong:?}");
        }
        let long = format!("{}.example:443", "a".repeat(MAX_LABEL + 1));
        assert_eq!(read(&long), "-");
        assert_eq!(read(&format!("{}x:443", "ab.".repeat(90))), "-");
        assert_eq!(Host::parse("a.example", Some(80)).unwrap().port(), 80);
    }

    #[test]
    fn a_port_of_this_machine_is_named_by_nobody_but_us() {
        let host = Host::of_machine(5432);
        assert_eq!(host.to_string(), "port 5432 of this machine");
        assert_eq!(Host::named_machine_port(&host.to_string()), Some(5432));
        assert!(!host.looks_public() && Host::parse(&host.to_string(), Some(443)).is_err());
        for wrong in ["this machine:5432", "this machine", "port 5432 of this machine:80"] {
            assert!(Host::parse(wrong, Some(443)).is_err(), "{wrong}");
        }
        for wrong in ["port 0 of this machine", "port +1 of this machine", "port 5432", "5432", "a.example"] {
            assert_eq!(Host::named_machine_port(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn what_is_said_in_tls_must_be_the_same_name() {
        let host = |text: &str| Host::parse(text, Some(443)).unwrap();
        assert!(host("a.example").is_called(Some("A.example")));
        for said in [Some("b.example"), Some("a.example.evil"), Some(""), None] {
            assert!(!host("a.example").is_called(said), "{said:?}");
        }
        assert!(host("1.1.1.1").is_called(None) && !host("1.1.1.1").is_called(Some("a.example")));
    }

    proptest! {
        /// What is shown names the same host when it is read again, so a rule never stands for another one.
        #[test]
        fn what_is_shown_is_what_is_meant(text in "[a-zA-Z0-9.:@%/_\\[\\]-]{0,40}") {
            if let Ok(host) = Host::parse(&text, Some(443)) {
                let again = Host::parse(&host.to_string(), Some(443)).unwrap();
                prop_assert_eq!(again.name(), host.name());
                prop_assert!(again.port() == host.port() || [80, 443].contains(&host.port()));
            }
        }
    }
}
