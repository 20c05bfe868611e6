//! What a prompt's text holds beside the person's own words: a command that they ran themselves, with its output, and the files that they
//! mention with `@`. One place writes and reads it, so that a wire with members for such things can fill them from the text.
//!
//! What it is not: a markup. A text that nobody here wrote holds no command, and a word that could be anything names no file. Invariant:
//! `own_command(&with_own_command(line, end, output, text)) == Some((line, end))` for lines without a line break.

use std::fmt;

/// How a person's own command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OwnEnd {
    Code(i32),
    Stopped,
}

impl fmt::Display for OwnEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OwnEnd::Code(0) => f.write_str(WORKED),
            OwnEnd::Code(code) => write!(f, "{FAILED}{code}"),
            OwnEnd::Stopped => f.write_str(STOPPED),
        }
    }
}

const WORKED: &str = "it worked";
const FAILED: &str = "exit code ";
const STOPPED: &str = "stopped";

const BEFORE: &str = "I ran `";
const BETWEEN: &str = "` (";
const AFTER: &str = "):\n```\n";

/// The text of a prompt, with the command that was run before it.
pub fn with_own_command(line: &str, end: OwnEnd, output: &str, text: &str) -> String {
    format!("{BEFORE}{line}{BETWEEN}{end}{AFTER}{output}\n```\n\n{text}")
}

/// The command that goes along with a prompt, and how it ended.
pub fn own_command(text: &str) -> Option<(&str, OwnEnd)> {
    let (head, _) = text.strip_prefix(BEFORE)?.split_once(AFTER)?;
    let (line, end) = head.rsplit_once(BETWEEN)?;
    let end = match end {
        WORKED => OwnEnd::Code(0),
        STOPPED => OwnEnd::Stopped,
        other => OwnEnd::Code(other.strip_prefix(FAILED)?.parse().ok()?),
    };
    (!line.contains('\n')).then_some((line, end))
}

/// The files that a text mentions: `@src/main.rs`, `@"with blanks.md"`. Each once, in order. A word without a slash or a dot may be a
/// name of anything, and is none.
pub fn mentioned_files(text: &str) -> Vec<String> {
    let mut files: Vec<String> = Vec::new();
    let starts = text.match_indices('@').filter(|(at, _)| {
        let before = text[..*at].chars().next_back();
        before.is_none_or(|sign| sign.is_whitespace() || sign == '(')
    });
    for (at, sign) in starts {
        let rest = &text[at + sign.len()..];
        let file = match rest.strip_prefix('"') {
            Some(quoted) => quoted.split_once('"').map(|(name, _)| name).filter(|name| !name.contains('\n')),
            None => {
                let word = rest.split_whitespace().next().filter(|word| rest.starts_with(word));
                let word = word.map(|word| word.trim_end_matches([',', ';', ':', '.', '!', '?', ')']));
                word.filter(|word| word.contains(['/', '.']))
            }
        };
        if let Some(file) = file.filter(|file| !file.is_empty() && !files.iter().any(|known| known == file)) {
            files.push(file.to_owned());
        }
    }
    files
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_command_is_read_as_it_was_written(line in "[^\n]{1,40}", code in any::<i32>(), output in ".{0,40}", text in ".{0,20}") {
            for end in [OwnEnd::Code(code), OwnEnd::Stopped] {
                let prompt = with_own_command(&line, end, &output, &text);
                prop_assert_eq!(own_command(&prompt), Some((line.as_str(), end)));
            }
        }
    }

    #[test]
    fn a_text_that_only_looks_like_it_holds_no_command() {
        for text in
            ["I ran `ls`", "I ran `ls` (fine):\n```\nx\n```\n\n", "You said: I ran `ls` (it worked):\n```\n"]
        {
            assert_eq!(own_command(text), None, "{text}");
        }
    }

    #[test]
    fn files_are_mentioned_by_their_paths() {
        let text = "Compare @src/main.rs, (@README.md) and @\"my notes.md\"; mail a@b.example, ask @ann. Again: @src/main.rs.";
        assert_eq!(mentioned_files(text), ["src/main.rs", "README.md", "my notes.md"]);
        assert_eq!(mentioned_files("@ @\" @.. x"), Vec::<String>::new());
    }
}
