//! Whose hand a client's lines are in.
//!
//! One existing client stops for good at the first `select` and says yes to every `confirm` without its person. It does not say who it
//! is, so it is known by how it writes: with blanks, the members of each command complete and always in the same order. Blanks alone are
//! everybody's who writes JSON as Python does; a single line that this client would not write shows that it is another.

/// What the lines so far tell.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Hand {
    /// Nothing yet.
    #[default]
    Unknown,
    /// They are those of the client that answers by itself, to the letter.
    AnswersItself,
    /// They are another's, or somebody said so.
    Others,
}

/// Commands with the members that the client writes behind `type`, in its order. What it writes like everybody tells nothing.
const WRITTEN: &[(&str, &[&str])] = &[
    ("prompt", &["text", "session_id"]),
    ("abort", &["session_id"]),
    ("reset", &["session_id"]),
    ("save", &["session_id"]),
    ("ui_response", &["id", "result", "error"]),
];

impl Hand {
    /// Whether questions to the person would be answered without them.
    pub(super) fn answers_itself(self) -> bool {
        self == Hand::AnswersItself
    }

    /// Reads a command's line; `true` when this one shows that the client answers by itself.
    pub(super) fn read(&mut self, line: &str) -> bool {
        let was = *self;
        *self = match (was, is_its(line)) {
            (Hand::Others, _) | (_, Some(false)) => Hand::Others,
            (_, Some(true)) => Hand::AnswersItself,
            (hand, None) => hand,
        };
        *self == Hand::AnswersItself && was != Hand::AnswersItself
    }
}

/// Whether that client would write a command so; `None` where every writer would.
fn is_its(line: &str) -> Option<bool> {
    let Some(rest) = line.strip_prefix("{\"type\": \"") else { return Some(false) };
    let (command, members) = rest.split_once('"')?;
    let (_, names) = WRITTEN.iter().find(|(name, _)| *name == command)?;
    let mut rest = members;
    for (place, name) in names.iter().enumerate() {
        // Inside of a text each quotation mark stands behind a backslash, so a member's name is found nowhere else.
        let Some((before, behind)) = rest.split_once(&format!(", \"{name}\": ")) else { return Some(false) };
        if place == 0 && !before.is_empty() {
            return Some(false);
        }
        rest = behind;
    }
    Some(line.is_ascii())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the lines show, one after the other.
    fn read(lines: &[&str]) -> Hand {
        let mut hand = Hand::default();
        for line in lines {
            hand.read(line);
        }
        hand
    }

    #[test]
    fn it_is_known_by_its_letters_and_not_by_a_blank() {
        let its = r#"{"type": "prompt", "text": "a \"text\": b", "session_id": "sess-1"}"#;
        let answer = r#"{"type": "ui_response", "id": "u", "result": true, "error": null}"#;
        assert_eq!(read(&[r#"{"type": "ping"}"#, its]), Hand::AnswersItself);
        assert_eq!(read(&[answer]), Hand::AnswersItself);
        assert_eq!(read(&[r#"{"type": "ping"}"#, r#"{"type": "list_models"}"#]), Hand::Unknown);
        for others in [
            r#"{"type":"ping"}"#,
            r#"{"type": "prompt", "text": "hello"}"#,
            r#"{"type": "prompt", "text": "a, \"session_id\": b"}"#,
            r#"{"type": "prompt", "session_id": "sess-1", "text": "hello"}"#,
            r#"{"text": "hello", "type": "prompt"}"#,
            r#"{"type": "abort"}"#,
            r#"{"type": "ui_response", "id": "u", "result": "allow_once"}"#,
            r#"{"type": "prompt", "text": "ä", "session_id": null}"#,
        ] {
            assert_eq!(read(&[others, its]), Hand::Others, "{others}");
            assert_eq!(read(&[its, others]), Hand::Others, "{others}");
        }
    }
}
