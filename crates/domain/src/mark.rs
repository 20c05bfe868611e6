//! The mark of a secret: all that is known of one wherever it is not needed. Who keeps the values is [`crate::secret`].

use crate::ids::AskId;

/// What stands in the place of the secret that was typed into this question. It tells nothing of it, not even its length.
pub fn mark(ask: AskId) -> String {
    format!("{BEFORE}{}{AFTER}", ask.0)
}

/// How a mark begins.
pub(crate) const BEFORE: &str = "[secret ";
const AFTER: &str = ": not kept]";

/// Whether a mark stands somewhere in the text.
pub fn has_mark(text: &str) -> bool {
    text.match_indices(BEFORE).any(|(at, _)| {
        let rest = &text[at + BEFORE.len()..];
        let number = rest.bytes().take_while(u8::is_ascii_digit).count();
        number > 0 && rest[number..].starts_with(AFTER)
    })
}
