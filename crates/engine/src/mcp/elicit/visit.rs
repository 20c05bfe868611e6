//! An address that a server wants the person to open in a browser: a login, a payment, a key that is not to go through us.
//!
//! It is shown whole and opened by the person alone: Parlor asks nothing of it and starts nothing for it. One that is no plain address
//! of the web is declined without a question.

use super::FormOutcome;
use super::field::shown;
use crate::mcp::calls::McpCalls;
use domain::ask::{Answer, AskKind, Closing};
use domain::harmless;
use reqwest::Url;
use serde_json::Value;

/// Longest address that is shown, in bytes.
const MAX_URL: usize = 2_000;
/// Most addresses that one call may want opened.
const MAX_VISITS: usize = 4;

/// Shows an address to the person, who says when it was opened.
pub(crate) async fn visit(calls: &McpCalls, server: &str, message: &str, url: &str) -> FormOutcome {
    let Some((host, shown_url)) = checked(url) else { return FormOutcome::Declined };
    let message = format!(
        "{}\n\nIt wants you to open this address of {host} in your browser:\n{}\n\nParlor does not open it. Open it only if you \
         know why, and say here when you are done.",
        harmless::marked(&shown(&harmless::clean(message))),
        harmless::marked(&shown_url)
    );
    let yes = Some("I have opened it".to_owned());
    let kind = AskKind::Confirm { message, yes, no: Some("Decline".to_owned()), danger: true };
    match calls.ask(format!("The MCP server {server} asks you to open an address"), kind).await {
        Some(Closing::Answered { answer: Answer::Confirmed(true), .. }) => FormOutcome::Visited,
        Some(Closing::Answered { .. }) => FormOutcome::Declined,
        _ => FormOutcome::Not,
    }
}

/// The same for the addresses that a refused call names; `true` where the person opened all of them, so that it can be called again.
pub(crate) async fn visits(calls: &McpCalls, server: &str, data: Option<&Value>) -> bool {
    let wanted = data.and_then(|data| data.get("elicitations")?.as_array());
    let wanted = wanted.map_or(&[][..], Vec::as_slice);
    if wanted.is_empty() || wanted.len() > MAX_VISITS {
        return false;
    }
    for one in wanted {
        let text = |key: &str| one[key].as_str().unwrap_or_default();
        if visit(calls, server, text("message"), text("url")).await != FormOutcome::Visited {
            return false;
        }
    }
    true
}

/// Whose address it is and the address as it is shown, where it is one of the web: encrypted, or of this machine.
fn checked(url: &str) -> Option<(String, String)> {
    let plain = |c: char| c.is_ascii_graphic();
    let read = Url::parse(url).ok().filter(|_| url.len() <= MAX_URL && url.chars().all(plain))?;
    let host = read.host_str()?.to_owned();
    let is_here = ["localhost", "127.0.0.1", "[::1]"].contains(&host.as_str());
    let fits = match read.scheme() {
        "https" => true,
        "http" => is_here,
        _ => false,
    };
    // What stands before the host could pass for it.
    let is_bare = read.username().is_empty() && read.password().is_none();
    (fits && is_bare).then(|| (host, read.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_plain_address_of_the_web_is_shown() {
        for (url, host) in [
            ("https://login.example.org/x?y=1", Some("login.example.org")),
            ("http://127.0.0.1:9/x", Some("127.0.0.1")),
            ("http://example.org/x", None),
            ("file:///etc/passwd", None),
            ("javascript:alert(1)", None),
            ("https://bank.example@evil.example/", None),
            ("https://a.example/\u{202e}x", None),
            ("https://a.example/ x", None),
            ("parlor://open", None),
        ] {
            assert_eq!(checked(url).map(|(host, _)| host).as_deref(), host, "{url}");
        }
        assert!(checked(&format!("https://a.example/{}", "x".repeat(MAX_URL))).is_none());
    }
}
