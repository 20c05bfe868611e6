//! Conversation ids of the wire and session ids of ours. Any text may name a conversation; a session id is a plain name.
//!
//! Invariants: our own ids stand for themselves; two different conversations never share a session by being cut or cleaned, since
//! whatever was changed is told apart by a digest.

use domain::ids::{MAX_SESSION_ID, SessionId};
use rolekit::session_name;

const PREFIX: &str = "sess-";
/// Room for the digest at the end.
const MAX_PLAIN: usize = MAX_SESSION_ID - PREFIX.len() - 17;

/// The session that a conversation is kept in.
pub(super) fn session(conversation: &str) -> SessionId {
    let own = SessionId::parse(conversation).filter(|id| id.as_str().starts_with(PREFIX));
    let plain = || SessionId::parse(&format!("{PREFIX}{conversation}"));
    let cleaned = || {
        let keep = |c: char| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' };
        let clean: String = conversation.chars().map(keep).take(MAX_PLAIN).collect();
        SessionId::parse(&format!("{PREFIX}{clean}-{:016x}", digest(conversation)))
    };
    own.or_else(plain).or_else(cleaned).unwrap_or_else(|| SessionId::from_number(digest(conversation)))
}

/// What a session is called on the wire. Whoever takes the name for a session finds this one again.
pub(super) fn name(session: &SessionId) -> &str {
    let is_ours = session_name::write(session) != session.as_str();
    let plain = session.as_str().strip_prefix(PREFIX).filter(|_| !is_ours);
    plain.filter(|plain| self::session(plain) == *session).unwrap_or(session.as_str())
}

/// FNV-1a: spreads names apart; keeps no secrets.
fn digest(text: &str) -> u64 {
    text.bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn names_that_are_plain_stay_readable() {
        assert_eq!(session("conv-456").as_str(), "sess-conv-456");
        assert_eq!(session("sess-0123abcd").as_str(), "sess-0123abcd");
        assert!(session("c").as_str().starts_with("sess-c-"));
        assert_ne!(session("a/b"), session("a b"));
        assert!(!session("../../etc/passwd").as_str().contains(".."));
    }

    #[test]
    fn a_session_goes_by_the_name_that_it_was_given() {
        for named in ["conv-456", "conv_1760000000000_abc", "sess-0123456789ab"] {
            assert_eq!(name(&session(named)), named);
        }
        let cut = session("a b");
        assert_eq!(session(name(&cut)), cut);
    }

    proptest! {
        #[test]
        fn any_text_names_a_session_of_its_own(a in ".{0,200}", b in ".{0,200}") {
            prop_assert!(session(&a).as_str().starts_with(PREFIX));
            prop_assert!(SessionId::parse(session(&a).as_str()).is_some());
            prop_assert_eq!(session(name(&session(&a))), session(&a));
            prop_assume!(a != b && format!("{PREFIX}{a}") != b && format!("{PREFIX}{b}") != a);
            prop_assert_ne!(session(&a), session(&b));
        }
    }
}
