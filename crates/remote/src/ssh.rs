//! A session of another machine (`parlor attach ssh://HOST[/SESSION]`): the person's own ssh runs `parlor relay` there, and its stdin and
//! stdout are the link. ssh stays in our process group, so that it can ask its questions on the terminal; the screen opens when the relay has said its first line. A
//! link that breaks is tried again without questions: the screen has the terminal then.

use anyhow::Context;
use link::{AsyncSink, AsyncSource, Lane, Limits, LinkIo, Wiring};
use serde_json::Value;
use std::collections::VecDeque;
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader};
use tokio::process::{Child, ChildStderr, Command};
use tokio::task::JoinSet;

/// How such an address begins.
pub const SCHEME: &str = "ssh://";
/// The longest first line, and how many lines before it (of a login script there) are passed over.
const MAX_GREETING: u64 = 64 * 1024;
const MAX_BEFORE: usize = 100;
/// Lines of ssh that are shown when it fails, and the longest of them.
const MAX_SAID: usize = 20;
const MAX_LINE: u64 = 4096;

/// A machine, and which of its sessions is meant where one is named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    /// As ssh takes it: `[user@]host`.
    pub host: String,
    port: Option<u16>,
    pub session: Option<String>,
}

/// What is asked of the relay there.
#[derive(Debug, Clone, Copy)]
pub enum Wanted<'a> {
    /// A session, by its id or the beginning of it.
    Session(&'a str),
    /// A new one in this folder there; without it in the home.
    New { cwd: Option<&'a str> },
}

impl Wanted<'_> {
    /// The words of the relay, as a shell there reads them.
    fn words(self) -> Vec<String> {
        match self {
            Wanted::Session(session) => vec![session.to_owned()],
            Wanted::New { cwd: Some(cwd) } => vec!["--cwd".to_owned(), quoted(cwd)],
            Wanted::New { cwd: None } => Vec::new(),
        }
    }
}

/// A word that a shell reads as it is. ssh hands all words to one as a single line.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-".contains(c);
    match !word.is_empty() && word.chars().all(plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

/// Reads an address.
///
/// # Errors
/// What is wrong with it.
pub fn read(text: &str) -> Result<Address, &'static str> {
    let rest = text.strip_prefix(SCHEME).ok_or("an address begins with ssh://")?;
    let (place, session) = match rest.split_once('/') {
        Some((place, session)) => (place, Some(session.trim_end_matches('/')).filter(|id| !id.is_empty())),
        None => (rest, None),
    };
    let plain = |id: &str| id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    if !session.is_none_or(plain) {
        return Err("behind the host comes the id of a session, as `parlor sessions` shows it there");
    }
    let (host, port) = match place.rsplit_once(':') {
        // An address of many colons stands in brackets.
        Some((host, port)) if !port.contains(']') => {
            (host, Some(port.parse().map_err(|_| "the port is no number")?))
        }
        _ => (place, None),
    };
    let host = host.replace(['[', ']'], "");
    // The words are ssh's own: nothing of the address may be taken for an option or a command.
    let odd = |c: char| c.is_control() || c.is_whitespace() || "'\"`$;&|<>()\\".contains(c);
    if host.is_empty() || host.starts_with('-') || host.contains("@-") || host.contains(odd) {
        return Err("name a host, as in ssh://me@host or ssh://host:2222/SESSION");
    }
    Ok(Address { host, port, session: session.map(str::to_owned) })
}

/// Whether ssh may ask.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Questions {
    Asked,
    None,
}

/// ssh while it runs; dropped, it is ended.
pub struct Ssh {
    _child: Child,
    _stderr: JoinSet<()>,
}

/// What the relay says first.
pub struct Greeting {
    /// The whole id of the session that was named.
    pub session: Option<String>,
}

/// What ssh said last.
type StderrLines = Arc<Mutex<VecDeque<String>>>;

/// Starts ssh and waits until the relay there has spoken.
///
/// # Errors
/// When it ends before that: with what it said last.
pub async fn start(
    address: &Address,
    wanted: Wanted<'_>,
    questions: Questions,
) -> anyhow::Result<(LinkIo, Ssh, Greeting)> {
    let mut command = Command::new("ssh");
    command.arg("-T");
    if let Some(port) = address.port {
        command.arg("-p").arg(port.to_string());
    }
    if questions == Questions::None {
        command.args(["-o", "BatchMode=yes"]);
    }
    command.args(["--", &address.host, "parlor", "relay"]).args(wanted.words());
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    let mut child = command.spawn().context("ssh cannot be started")?;
    let (Some(stdin), Some(stdout), Some(stderr)) =
        (child.stdin.take(), child.stdout.take(), child.stderr.take())
    else {
        anyhow::bail!("ssh has no pipes");
    };
    let said = StderrLines::default();
    let mut draining = JoinSet::new();
    draining.spawn(drain(stderr, said.clone()));
    let mut stdout = BufReader::new(stdout);
    let Some(greeting) = greeted(&mut stdout).await else {
        let ended = child.wait().await;
        while draining.join_next().await.is_some() {}
        let said: Vec<String> = said.lock().unwrap_or_else(PoisonError::into_inner).drain(..).collect();
        let how = ended.map_or_else(|why| why.to_string(), |status| status.to_string());
        let words = if said.is_empty() { how } else { said.join("\n") };
        anyhow::bail!("{}: {words}\n\nhint: `ssh {} parlor --version` must work", address.host, address.host);
    };
    let link =
        Wiring::new(Limits::default()).lane(Lane::MAIN, AsyncSource::new(stdout), AsyncSink(stdin)).start();
    Ok((link, Ssh { _child: child, _stderr: draining }, greeting))
}

/// Waits for the first line of the relay; what a login script there prints before it is passed over.
async fn greeted(stdout: &mut (impl AsyncBufReadExt + Unpin)) -> Option<Greeting> {
    for _ in 0..MAX_BEFORE {
        let mut line = Vec::new();
        let read = stdout.take(MAX_GREETING).read_until(b'\n', &mut line).await.ok()?;
        if read == 0 {
            return None;
        }
        let told: Option<Value> = serde_json::from_slice(&line).ok();
        if let Some(relay) = told.as_ref().and_then(|told| told.get("relay")) {
            let session = relay.get("session").and_then(Value::as_str).map(str::to_owned);
            return Some(Greeting { session });
        }
    }
    None
}

/// Keeps the end of what ssh says.
async fn drain(stderr: ChildStderr, said: StderrLines) {
    let mut stderr = BufReader::new(stderr);
    loop {
        let mut line = Vec::new();
        match (&mut stderr).take(MAX_LINE).read_until(b'\n', &mut line).await {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
        let mut said = said.lock().unwrap_or_else(PoisonError::into_inner);
        said.push_back(String::from_utf8_lossy(&line).trim_end().to_owned());
        if said.len() > MAX_SAID {
            said.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_one_word_for_the_shell_there() {
        let words = |cwd| Wanted::New { cwd: Some(cwd) }.words();
        for (folder, word) in [
            ("/srv/shop-2/a_b.c", "/srv/shop-2/a_b.c"),
            ("my shop", "'my shop'"),
            ("$(reboot);`x`", "'$(reboot);`x`'"),
            ("it's", r"'it'\''s'"),
            ("", "''"),
        ] {
            assert_eq!(words(folder), ["--cwd", word]);
        }
        assert!(Wanted::New { cwd: None }.words().is_empty());
    }

    #[test]
    fn an_address_is_a_host_and_nothing_that_ssh_could_mistake() {
        let host = |host: &str, port, session: Option<&str>| {
            Ok(Address { host: host.to_owned(), port, session: session.map(str::to_owned) })
        };
        assert_eq!(read("ssh://h"), host("h", None, None));
        assert_eq!(read("ssh://me@h:22/"), host("me@h", Some(22), None));
        assert_eq!(read("ssh://h/sess-01ab"), host("h", None, Some("sess-01ab")));
        assert_eq!(read("ssh://[::1]:22"), host("::1", Some(22), None));
        for wrong in [
            "ssh://",
            "ssh:///x",
            "ssh://-oProxyCommand=x",
            "ssh://a@-b",
            "ssh://h:x",
            "ssh://h/$(x)",
            "ssh://a b",
            "h",
        ] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
