//! A command's text with what the person wrote behind its name in the places for it. Pure.
//!
//! `$ARGUMENTS` is all of it, `$1` and on are its words (quotes hold several together), `$NAME` is what `NAME=value` says in it. What has
//! no place stands at the end. `` !`command` `` is left to the model and its tools.

use crate::words::words;
use std::collections::BTreeMap;

/// The text, and whether it wants something run first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Filled {
    pub(super) text: String,
    pub(super) wants_commands: bool,
}

/// Fills the places of a command's text with the words behind its name.
pub(super) fn fill(body: &str, behind: &str) -> Filled {
    let words = words(behind);
    let named: BTreeMap<&str, &str> =
        words.iter().filter_map(|word| word.split_once('=')).filter(|(name, _)| is_name(name)).collect();
    let mut filled = Filled { text: String::with_capacity(body.len()), wants_commands: false };
    let mut is_placed = behind.is_empty();
    let mut rest = body.trim();
    while let Some(at) = rest.find(['$', '!']) {
        filled.text.push_str(&rest[..at]);
        let (mark, after) = rest[at..].split_at(1);
        if mark == "!" {
            match quoted(after) {
                Some((command, length)) => {
                    // What stands in the line is filled as everywhere else.
                    let inner = fill_line(command, behind, &words, &named, &mut is_placed);
                    filled.text.push_str(&format!("(output of `{inner}`)"));
                    filled.wants_commands = true;
                    rest = &after[length..];
                }
                None => {
                    filled.text.push('!');
                    rest = after;
                }
            }
            continue;
        }
        match placed(after, behind, &words, &named) {
            Some((value, length)) => {
                filled.text.push_str(value);
                is_placed = true;
                rest = &after[length..];
            }
            None => {
                filled.text.push('$');
                rest = after;
            }
        }
    }
    filled.text.push_str(rest);
    if !is_placed {
        filled.text.push_str(&format!("\n\nThe person wrote behind it: {behind}"));
    }
    filled
}

fn fill_line(
    line: &str,
    behind: &str,
    words: &[String],
    named: &BTreeMap<&str, &str>,
    is_placed: &mut bool,
) -> String {
    let (mut text, mut rest) = (String::new(), line);
    while let Some(at) = rest.find('$') {
        text.push_str(&rest[..at]);
        let after = &rest[at + 1..];
        match placed(after, behind, words, named) {
            Some((value, length)) => {
                text.push_str(value);
                *is_placed = true;
                rest = &after[length..];
            }
            None => {
                text.push('$');
                rest = after;
            }
        }
    }
    text + rest
}

/// A command between backticks right behind a `!`, and how long that is.
fn quoted(after: &str) -> Option<(&str, usize)> {
    let inner = after.strip_prefix('`')?;
    let command = &inner[..inner.find('`')?];
    let is_one = !command.trim().is_empty() && !command.contains('\n');
    is_one.then_some((command, command.len() + 2))
}

/// What stands for a place behind a `$`, and how long its name is.
fn placed<'a>(
    after: &str,
    behind: &'a str,
    words: &'a [String],
    named: &BTreeMap<&str, &'a str>,
) -> Option<(&'a str, usize)> {
    let digits = after.bytes().take_while(u8::is_ascii_digit).count();
    if digits > 0 {
        let number: usize = after[..digits].parse().ok().filter(|number| *number > 0)?;
        return Some((words.get(number - 1).map_or("", String::as_str), digits));
    }
    let length = after
        .bytes()
        .take_while(|byte| byte.is_ascii_uppercase() || matches!(byte, b'_' | b'0'..=b'9'))
        .count();
    let name = &after[..length];
    if name == "ARGUMENTS" {
        return Some((behind, length));
    }
    named.get(name).map(|value| (*value, length))
}

fn is_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_uppercase())
        && name.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_behind_a_command_goes_where_the_command_wants_it() {
        for (body, behind, expected) in [
            ("Fix $ARGUMENTS now", "issue 7", "Fix issue 7 now"),
            ("Fix $ARGUMENTS now", "", "Fix  now"),
            ("$2 before $1, no $3.", "a \"b c\"", "b c before a, no ."),
            ("$1 costs $5 and $x and $", "it", "it costs  and $x and $"),
            ("in $FILE: $FOCUS", "FILE=src/a.rs FOCUS='the loop'", "in src/a.rs: the loop"),
            ("in $HOME", "x=1", "in $HOME\n\nThe person wrote behind it: x=1"),
            ("Look.", "at this", "Look.\n\nThe person wrote behind it: at this"),
            ("Look.", "", "Look."),
            ("$0 and $10", "a b c d e f g h i j", "$0 and j"),
            ("it's $1", "it's", "it's its"),
        ] {
            assert_eq!(fill(body, behind).text, expected, "{body:?} with {behind:?}");
        }
    }

    #[test]
    fn a_command_line_in_it_is_left_to_the_tools() {
        let filled = fill("Status: !`git log $1`. Wow! Use `!`.\n!`\n`", "main");
        assert_eq!(filled.text, "Status: (output of `git log main`). Wow! Use `!`.\n!`\n`");
        assert!(filled.wants_commands);
        assert!(!fill("Wow! `ls`", "").wants_commands);
    }

    #[test]
    fn any_text_is_survived() {
        proptest::proptest!(|(body in "[$!`A-Z0-9 a\n\"'=é]{0,60}", behind in "[A-Z=a-z \"'é]{0,30}")| {
            let _ = fill(&body, behind.trim());
        });
    }
}
