//! Where the database is: an address as people type it, without any password, and what is done about TLS.

use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;
use store::StoreError;
use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode, TargetSessionAttrs};

/// How long one try to connect may take.
const CONNECT_WITHIN: Duration = Duration::from_secs(3);
/// How long what was sent may stay without an answer of the other machine.
const SILENT_AFTER: Duration = Duration::from_secs(5);
/// What addresses of databases begin with.
const SCHEMES: [&str; 2] = ["postgres://", "postgresql://"];

/// Whether this is to be the address of a database, whatever is wrong with it.
pub fn is_address(text: &str) -> bool {
    SCHEMES.iter().any(|scheme| text.starts_with(scheme))
}

/// The address of a database.
#[derive(Clone)]
pub struct Address {
    pub(crate) config: Config,
    /// How it is named to people: without anything that is secret.
    pub(crate) shown: String,
    /// Certificates of those who may vouch for the server; those of the system where it is `None`.
    pub(crate) roots: Option<PathBuf>,
    /// The file with passwords, where it is named.
    pub(crate) passfile: Option<PathBuf>,
}

impl std::fmt::Debug for Address {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Address").field(&self.shown).finish()
    }
}

impl Address {
    /// Reads an address such as `postgres://user@host:5432/database`.
    ///
    /// # Errors
    /// When it cannot be used; a password in it is refused, since whoever may list processes could read it.
    pub fn parse(text: &str) -> Result<Address, StoreError> {
        let Some(scheme) = SCHEMES.iter().find(|scheme| text.starts_with(**scheme)) else {
            return Err(StoreError::Place("a store is postgres://USER@HOST:PORT/DATABASE".to_owned()));
        };
        let (base, own) = take_own_options(text);
        let wrong = |why: &str| StoreError::Place(format!("the address of the store cannot be used: {why}"));
        // The library names the option that is wrong, and never its value.
        let mut config = Config::from_str(&base).map_err(|error| wrong(&in_words(&error)))?;
        let is_secret_in_query = base.split_once('?').is_some_and(|(_, query)| {
            query
                .split('&')
                .any(|pair| pair.split('=').next().is_some_and(|name| name.eq_ignore_ascii_case("password")))
        });
        if config.get_password().is_some() || is_secret_in_query {
            return Err(wrong(
                "it holds a password, which every program of this machine could read in the list of processes; leave it out and name a file with it in PGPASSFILE",
            ));
        }
        if config.get_hosts().is_empty() {
            return Err(wrong(
                "it names no host; for a socket of this machine write ?host=/var/run/postgresql",
            ));
        }
        if config.get_dbname().is_none() {
            return Err(wrong("it names no database"));
        }
        let shown = shown(scheme, &config);
        if config.get_hosts().iter().any(is_remote) && config.get_ssl_mode() == SslMode::Prefer {
            // Nothing is sent in the clear to another machine unless the person says so.
            config.ssl_mode(SslMode::Require);
        } else if config.get_ssl_mode() == SslMode::Prefer {
            config.ssl_mode(SslMode::Disable);
        }
        config
            .application_name("parlor")
            .connect_timeout(CONNECT_WITHIN)
            .tcp_user_timeout(SILENT_AFTER)
            .keepalives_idle(SILENT_AFTER)
            .target_session_attrs(TargetSessionAttrs::ReadWrite);
        Ok(Address { config, shown, roots: own.roots, passfile: own.passfile })
    }

    /// How it is named to people.
    pub fn shown(&self) -> &str {
        &self.shown
    }
}

/// Options that the library does not know.
#[derive(Default)]
struct OwnOptions {
    roots: Option<PathBuf>,
    passfile: Option<PathBuf>,
}

fn take_own_options(text: &str) -> (String, OwnOptions) {
    let mut own = OwnOptions::default();
    let Some((base, query)) = text.split_once('?') else { return (text.to_owned(), own) };
    let mut left = Vec::new();
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        match pair.split_once('=') {
            Some(("sslrootcert", file)) => own.roots = Some(PathBuf::from(unescaped(file))),
            Some(("passfile", file)) => own.passfile = Some(PathBuf::from(unescaped(file))),
            // Who asks for these gets more: a server is always held to its name.
            Some(("sslmode", "verify-full" | "verify-ca")) => left.push("sslmode=require".to_owned()),
            _ => left.push(pair.to_owned()),
        }
    }
    if left.is_empty() { (base.to_owned(), own) } else { (format!("{base}?{}", left.join("&")), own) }
}

/// `%2F` and its like as what they stand for; what is no text stays as it is.
fn unescaped(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, more)) = rest.split_first() {
        let escaped = (*first == b'%').then(|| more.get(..2)).flatten();
        let byte = escaped
            .and_then(|digits| std::str::from_utf8(digits).ok())
            .and_then(|digits| u8::from_str_radix(digits, 16).ok());
        match byte {
            Some(byte) => {
                bytes.push(byte);
                rest = &more[2..];
            }
            None => {
                bytes.push(*first);
                rest = more;
            }
        }
    }
    String::from_utf8(bytes).unwrap_or_else(|_| text.to_owned())
}

/// Whether what is sent there leaves this machine.
fn is_remote(host: &Host) -> bool {
    match host {
        Host::Unix(_) => false,
        Host::Tcp(name) => {
            let is_loopback = name.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback());
            !(is_loopback || name == "localhost")
        }
    }
}

fn shown(scheme: &str, config: &Config) -> String {
    let user = config.get_user().map(|user| format!("{user}@")).unwrap_or_default();
    let hosts = config.get_hosts().iter().enumerate().map(|(at, host)| {
        let port = config.get_ports().get(at).or(config.get_ports().first());
        let port = port.filter(|port| **port != 5432).map(|port| format!(":{port}")).unwrap_or_default();
        match host {
            Host::Tcp(name) => format!("{name}{port}"),
            Host::Unix(path) => format!("{}{port}", path.display()),
        }
    });
    let hosts: Vec<String> = hosts.collect();
    format!("{scheme}{user}{}/{}", hosts.join(","), config.get_dbname().unwrap_or_default())
}

fn in_words(error: &tokio_postgres::Error) -> String {
    use std::error::Error as _;
    error.source().map_or_else(|| error.to_string(), ToString::to_string)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_shown_as_it_was_meant_and_a_password_in_it_is_refused() {
        let address = Address::parse("postgres://ada@db.example:5433/team").unwrap();
        assert_eq!(address.shown(), "postgres://ada@db.example:5433/team");
        assert_eq!(format!("{address:?}"), "Address(\"postgres://ada@db.example:5433/team\")");
        for secret in [
            "postgres://ada:hunter2@db.example/team",
            "postgres://ada@db.example/team?password=hunter2",
            "postgres://ada@db.example/team?PASSWORD=hunter2",
            "postgres://ada@db.example/team?sslmode=hunter2",
            "postgres://ada@db.example/team?hunter2=1x%",
        ] {
            let refused = Address::parse(secret).unwrap_err().to_string();
            assert!(!refused.contains("hunter2") || secret.contains("?hunter2"), "{refused}");
        }
        let refused = Address::parse("postgres://ada:hunter2@db.example/team").unwrap_err().to_string();
        assert!(refused.contains("PGPASSFILE"), "{refused}");
        for (bad, why) in [
            ("mysql://x/y", "postgres://USER@HOST"),
            ("postgres:///team", "no host"),
            ("postgres://db.example", "no database"),
            ("postgres://db.example:x/team", "cannot be used"),
        ] {
            let refused = Address::parse(bad).unwrap_err().to_string();
            assert!(refused.contains(why), "{bad}: {refused}");
        }
    }

    #[test]
    fn what_leaves_the_machine_goes_by_tls_unless_the_person_says_otherwise() {
        for (text, mode) in [
            ("postgres://db.example/team", SslMode::Require),
            ("postgres://10.0.0.1/team", SslMode::Require),
            ("postgres://127.0.0.1/team", SslMode::Disable),
            ("postgres://localhost/team", SslMode::Disable),
            ("postgres://u@/team?host=/run/pg", SslMode::Disable),
            ("postgres://localhost,db.example/team", SslMode::Require),
            ("postgres://db.example/team?sslmode=disable", SslMode::Disable),
            ("postgres://localhost/team?sslmode=verify-full", SslMode::Require),
        ] {
            assert_eq!(Address::parse(text).unwrap().config.get_ssl_mode(), mode, "{text}");
        }
        let own = Address::parse("postgres://h/team?sslrootcert=/a%20b/ca.pem&passfile=/p").unwrap();
        assert_eq!(own.roots, Some("/a b/ca.pem".into()));
        assert_eq!(own.passfile, Some("/p".into()));
    }
}
