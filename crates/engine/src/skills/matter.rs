//! Front matter: `key: value` lines between two `---` lines. The part of YAML that skills use, read by hand. Pure.

use std::collections::BTreeMap;

/// The front matter and the text after it.
///
/// # Errors
/// When there is none, or it does not end.
pub(crate) fn split(text: &str) -> Result<(BTreeMap<String, String>, &str), String> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let missing = || "it must begin with `---`, `name:` and `description:` lines, and `---`".to_owned();
    let rest = text.strip_prefix("---").ok_or_else(missing)?;
    let rest = rest.strip_prefix('\r').unwrap_or(rest).strip_prefix('\n').ok_or_else(missing)?;
    let mut at = 0;
    for line in rest.split_inclusive('\n') {
        if line.trim_end() == "---" {
            return Ok((read(&rest[..at]), &rest[at + line.len()..]));
        }
        at += line.len();
    }
    Err("its front matter does not end: a line `---` is missing".to_owned())
}

/// Top-level keys with text values; what is indented belongs to the key before it.
fn read(matter: &str) -> BTreeMap<String, String> {
    let mut values: BTreeMap<String, String> = BTreeMap::new();
    let mut open: Option<(String, bool)> = None;
    for line in matter.lines() {
        let indented = line.starts_with([' ', '\t']);
        if line.trim().is_empty() || (!indented && line.starts_with('#')) {
            continue;
        }
        if indented {
            if let Some((key, block)) = &open {
                let value = values.entry(key.clone()).or_default();
                if *block {
                    if !value.is_empty() {
                        value.push(' ');
                    }
                    value.push_str(line.trim());
                }
            }
            continue;
        }
        let Some((key, value)) = line.split_once(':') else { continue };
        let (key, value) = (key.trim().to_owned(), value.trim());
        // A value may go on in the lines below, folded or as it stands; for one line of text that is the same.
        let block = value.is_empty() || matches!(value.trim_end_matches(['-', '+']), ">" | "|");
        values.insert(key.clone(), if block { String::new() } else { unquote(value) });
        open = Some((key, block));
    }
    values
}

fn unquote(value: &str) -> String {
    let inner = |quote: char| value.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote));
    if let Some(text) = inner('"') {
        return text.replace("\\\"", "\"").replace("\\\\", "\\");
    }
    if let Some(text) = inner('\'') {
        return text.replace("''", "'");
    }
    match value.find(" #") {
        Some(comment) => value[..comment].trim_end().to_owned(),
        None => value.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_read_as_people_write_them() {
        let text = "---\nname: pdf # the name\ndescription: >-\n  Fill forms:\n  merge files\nquoted: \"a \\\"b\\\"\"\n\
                    single: 'it''s'\nmeta:\n  nested: x\nlist:\n  - a\n# no\nlicense: MIT\n---\nBody\n---\nmore";
        let (values, body) = split(text).unwrap();
        for (key, value) in [
            ("name", "pdf"),
            ("description", "Fill forms: merge files"),
            ("quoted", "a \"b\""),
            ("single", "it's"),
            ("license", "MIT"),
        ] {
            assert_eq!(values[key], value);
        }
        assert_eq!(body, "Body\n---\nmore");
        assert_eq!(split("---\r\nname: a\r\n---\r\nB").unwrap(), ([("name".into(), "a".into())].into(), "B"));
    }

    #[test]
    fn what_is_no_front_matter_is_told() {
        for bad in ["", "text", "----\nname: a\n---", "---\nname: a\n", "--- x\n---\n"] {
            assert!(split(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn any_text_is_survived() {
        proptest::proptest!(|(text in "(---\n)?[a-z:>|'\"# \n\r-]{0,60}(---\n)?.{0,20}")| {
            let _ = split(&text);
        });
    }
}
