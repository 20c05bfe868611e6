//! What a program outside of us says at length: the model reads the beginning, and all of it is kept in a file.

use std::path::Path;

/// Bytes of a result that the model reads; the rest is kept in a file.
pub(crate) const MAX_TEXT: usize = 50 * 1024;

/// The beginning of a long text, with the place where all of it is; `from` and `id` name the file.
pub(crate) fn cap(mut text: String, outputs: &Path, from: &str, id: &str) -> (String, bool) {
    if text.len() <= MAX_TEXT {
        return (text, false);
    }
    let file = outputs.join(format!("{from}-{}.txt", id.get(..16).unwrap_or(id)));
    let kept = std::fs::create_dir_all(outputs).and_then(|()| std::fs::write(&file, &text));
    let total = text.len();
    let mut end = MAX_TEXT;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.truncate(end);
    match kept {
        Ok(()) => {
            text.push_str(&format!("\n[cut at {end} of {total} bytes; all of it is in {}]", file.display()));
        }
        Err(_) => text.push_str(&format!("\n[cut at {end} of {total} bytes]")),
    }
    (text, true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_result_is_cut_and_kept() {
        let dir = tempfile::tempdir().unwrap();
        let (text, truncated) = cap("é".repeat(MAX_TEXT), dir.path(), "mcp", "0123456789abcdef0123");
        assert!(truncated && text.contains("all of it is in "));
        let kept = std::fs::read_to_string(dir.path().join("mcp-0123456789abcdef.txt")).unwrap();
        assert_eq!(kept.len(), 2 * MAX_TEXT);
        assert_eq!(cap("short".into(), dir.path(), "mcp", "x"), ("short".to_owned(), false));
    }
}
