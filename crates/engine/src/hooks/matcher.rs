//! For which tools a hook is: names with `|` between, `*` and `.*` for any letters. Pure.
//!
//! That is what people write of the regular expressions that this form allows; anything else of them is an error, so that a hook which
//! denies never stands there and means nothing.

/// A matcher as it stands in the file, and what it means.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Matcher {
    text: String,
    /// For each alternative what must follow each other, with anything between; none for every tool.
    alternatives: Vec<Vec<String>>,
}

impl Matcher {
    /// Reads one.
    ///
    /// # Errors
    /// What of it is not understood, in words.
    pub fn read(text: &str) -> Result<Matcher, String> {
        let text = text.trim().to_owned();
        let mut alternatives = Vec::new();
        let inner = text.strip_prefix("^(").and_then(|rest| rest.strip_suffix(")$")).unwrap_or(&text);
        if !matches!(inner, "" | "*" | ".*") {
            for one in inner.split('|') {
                let one = one.trim().trim_start_matches('^').trim_end_matches('$').replace(".*", "*");
                let plain = |c: char| c.is_alphanumeric() || "_-:/ *".contains(c);
                if one.is_empty() || !one.chars().all(plain) {
                    return Err(format!(
                        "the matcher {text:?} is not understood, so its hooks are not run: write names of tools with | between, and .* for any letters"
                    ));
                }
                alternatives.push(one.split('*').map(str::to_owned).collect());
            }
        }
        Ok(Matcher { text, alternatives })
    }

    /// As it stands in the file.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether a tool of this name is meant.
    pub(super) fn fits(&self, name: &str) -> bool {
        self.alternatives.is_empty() || self.alternatives.iter().any(|pieces| fits(pieces, name))
    }
}

/// Whether a name is these pieces with anything between.
fn fits(pieces: &[String], name: &str) -> bool {
    let [first, rest @ ..] = pieces else { return false };
    let Some(mut left) = name.strip_prefix(first.as_str()) else { return false };
    let Some((last, middle)) = rest.split_last() else { return left.is_empty() };
    for piece in middle {
        let Some(at) = left.find(piece.as_str()) else { return false };
        left = &left[at + piece.len()..];
    }
    left.ends_with(last.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_matched_whole_and_stars_stand_for_anything() {
        for (matcher, name, expected) in [
            ("", "Bash", true),
            ("*", "Bash", true),
            (".*", "mcp__a__b", true),
            ("Bash", "Bash", true),
            ("Bash", "BashOutput", false),
            ("Edit|Write", "Write", true),
            ("Edit|Write", "NotebookEdit", false),
            ("^(Edit|Write)$", "Edit", true),
            ("Notebook.*", "NotebookEdit", true),
            ("mcp__.*__write.*", "mcp__files__write_file", true),
            ("mcp__.*__write.*", "mcp__files__read", false),
            ("mcp__memory__*", "mcp__memory__x", true),
            ("a*a", "a", false),
        ] {
            assert_eq!(Matcher::read(matcher).unwrap().fits(name), expected, "{matcher} on {name}");
        }
    }

    #[test]
    fn what_is_not_understood_is_told() {
        for matcher in ["Ed[i]t", "Edit|", "(a|b)c", "Bash(git *)", "a+"] {
            assert!(Matcher::read(matcher).unwrap_err().contains("not understood"), "{matcher}");
        }
    }
}
