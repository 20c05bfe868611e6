//! Addresses that stand in a text without any sign around them.

/// What an address begins with.
const SCHEMES: &[&str] = &["https://", "http://"];

/// A text in pieces: whether each is an address.
pub(super) fn split(text: &str) -> Vec<(bool, &str)> {
    let mut pieces = Vec::new();
    let (mut from, mut at) = (0, 0);
    while let Some(begin) = next(text, at) {
        let end = begin + length(&text[begin..]);
        let scheme = SCHEMES.iter().find(|scheme| text[begin..].starts_with(**scheme)).map_or(0, |s| s.len());
        at = end;
        if end <= begin + scheme {
            continue;
        }
        if begin > from {
            pieces.push((false, &text[from..begin]));
        }
        pieces.push((true, &text[begin..end]));
        from = end;
    }
    if from < text.len() {
        pieces.push((false, &text[from..]));
    }
    pieces
}

/// Where the next address begins, at the beginning of a word.
fn next(text: &str, from: usize) -> Option<usize> {
    let found = SCHEMES.iter().flat_map(|scheme| text[from..].match_indices(scheme).map(|(at, _)| from + at));
    found.filter(|at| !text[..*at].ends_with(char::is_alphanumeric)).min()
}

/// How much of the text is the address: what ends a sentence, or closes a bracket that was open before, is not.
fn length(text: &str) -> usize {
    let ends = |c: char| c.is_whitespace() || c.is_control() || "<>\"`|\\^{}".contains(c) || is_closing(c);
    let mut end = text.find(ends).unwrap_or(text.len());
    while let Some(last) = text[..end].chars().last() {
        let inside = &text[..end];
        let unpaired = |open: char, close: char| {
            last == close && inside.matches(close).count() > inside.matches(open).count()
        };
        if ".,;:!?'*_~".contains(last) || unpaired('(', ')') || unpaired('[', ']') {
            end -= last.len_utf8();
        } else {
            break;
        }
    }
    end
}

/// Signs of other scripts that end what is before them.
fn is_closing(c: char) -> bool {
    "、。，．：；？！）］」』】〉》".contains(c)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_ends_where_a_person_would_say_so() {
        for (text, addresses) in [
            ("see https://example.org/a_b?c=1#d.", &["https://example.org/a_b?c=1#d"][..]),
            ("(http://a.b/c_(d)) and https://x.y,", &["http://a.b/c_(d)", "https://x.y"]),
            ("見て https://例え.jp/あ。次", &["https://例え.jp/あ"]),
            ("https:// alone, xhttps://no.no", &[]),
            ("no address", &[]),
        ] {
            let pieces = split(text);
            let found: Vec<&str> = pieces.iter().filter(|(is, _)| *is).map(|(_, text)| *text).collect();
            assert_eq!(found, addresses, "{text}");
            assert_eq!(pieces.iter().map(|(_, text)| *text).collect::<String>(), text);
        }
    }
}
