//! The id of a request whose line was too long to be kept, read from the line's beginning, so that its sender gets an answer. Total, and cautious: it gives an
//! id only when the beginning shows, at the top level, both a usable id and a method.

use crate::WireId;

/// The id of the request that begins like this. `None` if that cannot be seen, or if it is not a request.
pub fn request_id_in_head(head: &str) -> Option<WireId> {
    let Head { id, method } = scan(head);
    id.filter(|_| method)
}

/// The id of the response that begins like this. `None` if that cannot be seen, or if it may be a request.
pub fn response_id_in_head(head: &str) -> Option<WireId> {
    let Head { id, method } = scan(head);
    id.filter(|_| !method)
}

#[derive(Default)]
struct Head {
    id: Option<WireId>,
    method: bool,
}

/// What the beginning of an object says at its root, as far as it goes.
fn scan(head: &str) -> Head {
    let mut found = Head::default();
    let _ = scan_into(head, &mut found);
    found
}

/// `None` where the text ends before it is known.
fn scan_into(head: &str, found: &mut Head) -> Option<()> {
    let bytes = head.as_bytes();
    let (mut depth, mut at) = (0usize, 0);
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.checked_sub(1)?,
            b'"' => {
                let end = string_end(bytes, at)?;
                let value = end + 1 + head.get(end + 1..)?.len() - head.get(end + 1..)?.trim_start().len();
                if depth == 1 && bytes.get(value) == Some(&b':') {
                    let rest = head.get(value + 1..)?.trim_start();
                    match head.get(at..=end)? {
                        "\"id\"" => found.id = scalar(rest).and_then(|text| WireId::from_json(text).ok()),
                        "\"method\"" => found.method = true,
                        _ => {}
                    }
                }
                at = end;
            }
            _ => {}
        }
        if found.id.is_some() && found.method {
            return Some(());
        }
        at += 1;
    }
    None
}

/// The index of the quote that closes the string opened at `open`.
fn string_end(bytes: &[u8], open: usize) -> Option<usize> {
    let mut at = open + 1;
    loop {
        match bytes.get(at)? {
            b'"' => return Some(at),
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
}

/// A whole string or number that something follows, so that it was not cut.
fn scalar(text: &str) -> Option<&str> {
    let bytes = text.as_bytes();
    let end = match bytes.first()? {
        b'"' => string_end(bytes, 0)? + 1,
        _ => text.find([',', '}', ' ', '\t'])?,
    };
    text.get(..end)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn ids_that_can_be_seen() {
        for (head, id) in [
            (r#"{"jsonrpc":"2.0","id":"7","method":"run.start","params":{"te"#, Some(WireId::from("7"))),
            (r#"{"method":"x" , "id" : 7, "params":["#, Some(WireId::from(7i64))),
            (r#"{"params":{"id":"no"},"method":"x","id":"yes","#, Some(WireId::from("yes"))),
            (r#"{"id":"7","result":{"method":"x"},"#, None),
            (r#"{"method":"x","id":12"#, None),
            (r#"{"method":"x","id":"12"#, None),
            (r#"{"method":"x","id":null,"#, None),
            (r#"["id","method"]"#, None),
            ("", None),
            ("}}}}", None),
        ] {
            assert_eq!(request_id_in_head(head), id, "{head}");
        }
    }

    proptest! {
        #[test]
        fn nothing_panics(head in r#"[{}\[\]":,\\a-z0-9é ]{0,80}"#) {
            let _ = request_id_in_head(&head);
        }
    }
}
