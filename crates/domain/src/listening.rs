//! The ports at which commands of a session listen, as a field of the status line: a person reads it as it is, and a screen of ours reads
//! it back, to offer each port to be opened. It is a lasting signal, so whoever comes later sees it too.

use crate::signal::Signal;

/// The key of that field.
pub const LISTENING: &str = "parlor/listening";
/// Ports that are named; of the others only how many there are.
pub const MAX_NAMED: usize = 8;

const LEAD: &str = "listens on ";
const OPEN: &str = " (open)";

/// A port of the session's own network.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ListeningPort {
    pub port: u16,
    /// Whether it is led out to the person's machine.
    pub open: bool,
}

/// The field for these ports, the one that came last at the end; none takes it away.
pub fn told(ports: &[ListeningPort]) -> Signal {
    let more = ports.len().saturating_sub(MAX_NAMED);
    let named = ports.iter().skip(more);
    let mut words: Vec<String> =
        named.map(|one| format!("{}{}", one.port, if one.open { OPEN } else { "" })).collect();
    if more > 0 {
        words.push(format!("and {more} more"));
    }
    let text = (!words.is_empty()).then(|| format!("{LEAD}{}", words.join(", ")));
    Signal::Status { key: LISTENING.to_owned(), text }
}

/// The ports that the field names; nothing of what is written otherwise.
pub fn read(text: &str) -> Vec<ListeningPort> {
    let words = text.strip_prefix(LEAD).into_iter().flat_map(|words| words.split(", "));
    let port = |word: &str| {
        let (digits, open) = word.strip_suffix(OPEN).map_or((word, false), |digits| (digits, true));
        digits.parse().ok().map(|port| ListeningPort { port, open })
    };
    words.filter_map(port).take(MAX_NAMED).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(ports: &[ListeningPort]) -> Option<String> {
        match told(ports) {
            Signal::Status { text, .. } => text,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn ports_are_read_back_from_the_words_that_a_person_reads() {
        let closed = |port| ListeningPort { port, open: false };
        let some = [closed(3000), ListeningPort { port: 5173, open: true }];
        assert_eq!(text(&some).unwrap(), "listens on 3000, 5173 (open)");
        assert_eq!(read(&text(&some).unwrap()), some);
        assert_eq!(text(&[]), None);
        let many: Vec<ListeningPort> = (1..=300).map(closed).collect();
        let words = text(&many).unwrap();
        assert!(words.ends_with("299, 300, and 292 more") && words.len() < 100, "{words}");
        assert_eq!(read(&words), many[292..]);
        for wrong in ["", "listens on", "listens on x, 99999, -1", "5173"] {
            assert_eq!(read(wrong), [], "{wrong}");
        }
    }
}
