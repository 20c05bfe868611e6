//! A text as the one line that a person reads above everything else.

/// Longest title, in characters.
const MAX_TITLE: usize = 120;

/// Text as one bounded line, without control characters that could fool the eye.
pub(crate) fn one_line(text: &str) -> String {
    let mut line = String::new();
    for (count, c) in text.chars().enumerate() {
        if count >= MAX_TITLE {
            line.push('…');
            break;
        }
        line.push(if c.is_control() { ' ' } else { c });
    }
    line
}
