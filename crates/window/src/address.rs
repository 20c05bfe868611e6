//! Addresses from elsewhere: links of the page that are to be opened in a browser, and `parlor://` links by which other programs lead
//! here. Nothing of either happens before the person has read it and said yes; this says what they read.
//!
//! Invariants: only addresses of the web and of mail are opened; a link of ours leads to a session and does nothing else; no address is
//! shown with characters that hide what it is.

use domain::harmless::is_hidden;
use domain::ids::SessionId;

/// Schemes that are opened.
const OPENED: [&str; 3] = ["https://", "http://", "mailto:"];
/// What other programs name a session by.
const OURS: &str = "parlor://session/";
/// Characters of an address; nobody reads longer ones.
pub const MAX_ADDRESS: usize = 2_000;

/// Why an address is not opened, for the person.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Unopened {
    #[error("it is no address of the web or of mail")]
    Scheme,
    #[error("it is longer than {MAX_ADDRESS} characters")]
    Long,
    #[error("it has characters that hide what it is")]
    Hidden,
    #[error("a link to Parlor is parlor://session/ID, with the id of a session")]
    NoSession,
}

fn readable(address: &str) -> Result<(), Unopened> {
    if address.chars().count() > MAX_ADDRESS {
        return Err(Unopened::Long);
    }
    let hides = |c: char| c.is_whitespace() || is_hidden(c);
    if address.chars().any(hides) { Err(Unopened::Hidden) } else { Ok(()) }
}

/// Whether a link of the page may be opened, once the person has read it.
///
/// # Errors
/// Why not.
pub fn openable(address: &str) -> Result<(), Unopened> {
    let lower = address.to_ascii_lowercase();
    if !OPENED.iter().any(|scheme| lower.starts_with(scheme) && lower.len() > scheme.len()) {
        return Err(Unopened::Scheme);
    }
    readable(address)
}

/// The session that a link of ours leads to.
///
/// # Errors
/// Why it leads nowhere.
pub fn session(link: &str) -> Result<SessionId, Unopened> {
    readable(link)?;
    let id = link.strip_prefix(OURS).ok_or(Unopened::NoSession)?;
    SessionId::parse(id.strip_suffix('/').unwrap_or(id)).ok_or(Unopened::NoSession)
}

/// Whether a word of a command line is a link of ours, good or bad.
pub fn is_ours(word: &str) -> bool {
    word.get(..7).is_some_and(|scheme| scheme.eq_ignore_ascii_case("parlor:"))
}

/// Where the page shows a session.
pub fn place(session: &SessionId) -> String {
    // An id is plain: nothing in it needs to be escaped.
    format!("#/s/{}", session.as_str())
}

/// Where the page shows the session of this id; nowhere, where that is none.
pub fn place_of(id: &str) -> Option<String> {
    SessionId::parse(id).as_ref().map(place)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_web_and_mail_are_opened() {
        for good in ["https://a.example/b?c#d", "HTTP://a", "mailto:a@b"] {
            assert_eq!(openable(good), Ok(()), "{good}");
        }
        for bad in [
            "file:///etc/passwd",
            "javascript:alert(1)",
            "parlor://session/x",
            "https://",
            "/etc",
            "",
            "smb://a",
        ] {
            assert_eq!(openable(bad), Err(Unopened::Scheme), "{bad}");
        }
        assert_eq!(openable(&format!("https://{}", "a".repeat(MAX_ADDRESS))), Err(Unopened::Long));
        for hidden in
            ["https://a\u{202e}b", "https://a b", "https://a\nb", "https://a\u{200b}b", "https://a\u{a0}b"]
        {
            assert_eq!(openable(hidden), Err(Unopened::Hidden), "{hidden:?}");
        }
    }

    #[test]
    fn a_link_of_ours_leads_to_a_session_and_nowhere_else() {
        let id = SessionId::from_number(7);
        assert_eq!(session(&format!("parlor://session/{id}")), Ok(id.clone()));
        assert_eq!(session(&format!("parlor://session/{id}/")), Ok(id.clone()));
        for bad in [
            "parlor://session/",
            "parlor://session/../x",
            "parlor://session/a%20b",
            "parlor://new",
            "parlor:x",
            "https://session/abcdefgh",
            "parlor://session/abcdefgh?allow=1",
            "parlor://session/abcdefgh#allow",
        ] {
            assert_eq!(session(bad), Err(Unopened::NoSession), "{bad}");
        }
        assert_eq!(session("parlor://session/abcd\nefgh"), Err(Unopened::Hidden));
        assert!(
            is_ours("PARLOR:x") && !is_ours("parl") && !is_ours("--hidden") && !is_ours("https://parlor:1")
        );
        assert_eq!(place(&id), "#/s/sess-000000000007");
        assert_eq!((place_of("abcdefgh"), place_of("a/b")), (Some("#/s/abcdefgh".to_owned()), None));
    }
}
