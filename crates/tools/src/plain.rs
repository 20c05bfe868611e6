//! A file's text as it is, for programs that count lines themselves: no numbers, no cuts, no pictures.
//!
//! What it is not: a tool. It reads what a plan of [`crate::Read`] is about, after somebody decided on that plan.

use crate::args::{Args, PATH};
use crate::tool::{Plan, ToolError};
use crate::{digest, exact};
use std::io::{BufRead as _, BufReader, Read as _};

/// Largest text that is given at once.
pub const MAX_PLAIN: usize = 10 * 1024 * 1024;

const NAME: &str = "read";

/// The lines of the file that was planned for: from `line` on (counted from 1), at most `limit` of them.
///
/// # Errors
/// When the path leads elsewhere by now, or what is there is no text, or too long.
pub fn lines(plan: &Plan, line: Option<u64>, limit: Option<u64>) -> Result<String, ToolError> {
    let path = plan.path_again(Args::new(NAME, &plan.args).text(PATH)?)?;
    let failed = ToolError::at_path(NAME, &path);
    let file = exact::open(&path).map_err(&failed)?;
    let meta = file.metadata().map_err(&failed)?;
    if !meta.is_file() {
        // A pipe or a device could block for ever.
        return Err(ToolError::path(&path, "is not a plain file"));
    }
    let first = line.unwrap_or(1).max(1);
    let end = limit.map_or(u64::MAX, |limit| first.saturating_add(limit));
    let (mut text, mut number) = (Vec::new(), 0_u64);
    let mut reader = BufReader::new(file);
    while number.saturating_add(1) < end {
        number += 1;
        let before = text.len();
        let room = (MAX_PLAIN + 1) as u64;
        reader.by_ref().take(room).read_until(b'\n', &mut text).map_err(&failed)?;
        if text.len() == before {
            break;
        }
        if number < first {
            text.truncate(before);
        }
        if text.len() > MAX_PLAIN {
            let why = format!("has more than {MAX_PLAIN} bytes: ask for a part of its lines");
            return Err(ToolError::path(&path, why));
        }
    }
    let text = String::from_utf8(text).map_err(|_| ToolError::path(&path, "is not UTF-8 text"))?;
    if line.is_none() && limit.is_none() {
        plan.place.saw(&path, digest::hex(text.as_bytes()));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::ToolContext;
    use crate::tool::Tool as _;
    use serde_json::json;
    use std::os::unix::fs::symlink;

    #[test]
    fn lines_come_as_they_are() {
        let dir = tempfile::tempdir().unwrap();
        let place = ToolContext::new(dir.path(), &dir.path().join("out")).unwrap();
        std::fs::write(dir.path().join("f"), "one\r\ntwo\n\nfour").unwrap();
        std::fs::write(dir.path().join("empty"), "").unwrap();
        let plan = |path: &str| crate::Read.plan(&json!({"path": path}), &place).unwrap();
        let of = |line, limit| lines(&plan("f"), line, limit).unwrap();
        assert_eq!(of(None, None), "one\r\ntwo\n\nfour");
        assert_eq!(of(Some(2), Some(2)), "two\n\n");
        assert_eq!(of(Some(0), Some(1)), "one\r\n");
        assert_eq!(of(Some(4), None), "four");
        assert_eq!(of(Some(9), Some(1)), "");
        assert_eq!(of(None, Some(0)), "");
        assert_eq!(lines(&plan("empty"), None, None).unwrap(), "");
    }

    #[test]
    fn what_is_no_text_or_leads_elsewhere_by_now_is_not_read() {
        let dir = tempfile::tempdir().unwrap();
        let (root, other) = (dir.path().join("work"), dir.path().join("other"));
        std::fs::create_dir_all(&root).unwrap();
        std::fs::write(&other, "SECRET").unwrap();
        std::fs::write(root.join("binary"), [0xff, 0xfe, b'\n']).unwrap();
        std::fs::write(root.join("f"), "text").unwrap();
        let place = ToolContext::new(&root, &dir.path().join("out")).unwrap();
        let plan = |path: &str| crate::Read.plan(&json!({"path": path}), &place).unwrap();
        assert!(lines(&plan("binary"), None, None).is_err());
        assert!(lines(&plan("."), None, None).is_err());
        assert!(matches!(lines(&plan("missing"), None, None), Err(ToolError::Io { source, .. })
            if source.kind() == std::io::ErrorKind::NotFound));
        let planned = plan("f");
        std::fs::remove_file(root.join("f")).unwrap();
        symlink(&other, root.join("f")).unwrap();
        assert!(lines(&planned, None, None).is_err());
    }
}
