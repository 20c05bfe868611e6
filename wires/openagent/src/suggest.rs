//! What the person may want to type next, from the commands they ran: the last one failed, so the same again, saying more. Pure.

use super::wire::RecentCommand;
use super::wire::notify::Suggestion;

/// Exit codes of shells for a command that could not be run or was stopped by a signal: saying more would not help.
const NOT_WORTH: std::ops::RangeInclusive<i64> = 126..=255;
/// Longest command line that is suggested again.
const MAX_COMMAND: usize = 200;

/// First words of a command, what to add so that it says more, and how sure that is, in hundredths.
const LOUDER: &[(&str, &str, u8)] = &[
    ("cargo test", "-- --nocapture", 80),
    ("cargo nextest run", "--no-capture", 80),
    ("cargo", "--verbose", 60),
    ("pytest", "-vv", 75),
    ("go test", "-v", 75),
    ("npm test", "-- --verbose", 65),
    ("npm run", "--loglevel verbose", 55),
    ("npm install", "--loglevel verbose", 60),
    ("yarn test", "--verbose", 60),
    ("mvn", "-X", 60),
    ("gradle", "--info", 60),
    ("./gradlew", "--info", 60),
    ("make", "V=1", 60),
    ("cmake --build", "--verbose", 65),
    ("ctest", "--output-on-failure", 80),
    ("docker build", "--progress=plain", 70),
    ("pip install", "--verbose", 60),
    ("ssh", "-v", 70),
    ("curl", "-v", 70),
    ("rsync", "-v", 55),
    ("ansible-playbook", "-vv", 65),
    ("terraform plan", "-no-color", 40),
];

/// A suggestion after the last command, if it failed and there is something to suggest.
pub(super) fn suggest(recent: &[RecentCommand]) -> Option<Suggestion> {
    let (last, before) = recent.split_last()?;
    let code = last.exit_code.filter(|code| *code != 0 && !NOT_WORTH.contains(code))?;
    let line = last.command.trim();
    if line.is_empty() || line.len() > MAX_COMMAND || line.contains(['|', ';', '&', '>', '\n']) {
        return None;
    }
    let (_, more, sure) = LOUDER.iter().find(|(words, _, _)| begins_with(line, words))?;
    if line.contains(more) || (more.starts_with("--") && line.contains(" -- ")) || has_flag(line, more) {
        return None;
    }
    let suggestion = format!("{line} {more}");
    let used = before.iter().any(|command| command.command.trim() == suggestion);
    let failures = before.iter().filter(|c| c.command.trim() == line && c.exit_code != Some(0)).count();
    let hundredths = u32::from(*sure) + if used { 15 } else { 0 } + if failures > 0 { 7 } else { 0 };
    let context = if used {
        format!("`{line}` failed with code {code}; you have used this before")
    } else {
        format!("`{line}` failed with code {code}; this says more about why")
    };
    let source = if used { "command_history" } else { "last_failure" };
    Some(Suggestion {
        suggestion,
        confidence: f64::from(hundredths.min(97)) / 100.0,
        source: source.to_owned(),
        context,
    })
}

fn begins_with(line: &str, words: &str) -> bool {
    line.strip_prefix(words).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
}

fn has_flag(line: &str, more: &str) -> bool {
    more.split(' ').filter(|word| *word != "--").any(|word| line.split(' ').any(|have| have == word))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ran(commands: &[(&str, i64)]) -> Option<(String, f64, String)> {
        let recent: Vec<RecentCommand> = commands
            .iter()
            .map(|(command, code)| RecentCommand {
                command: (*command).to_owned(),
                exit_code: Some(*code),
                timestamp: None,
            })
            .collect();
        suggest(&recent).map(|s| (s.suggestion, s.confidence, s.source))
    }

    #[test]
    fn a_failed_command_again_saying_more() {
        let told = ran(&[("cargo build", 0), ("cargo test", 1)]);
        assert_eq!(told, Some(("cargo test -- --nocapture".into(), 0.80, "last_failure".into())));
        let told = ran(&[("cargo test -- --nocapture", 1), ("cargo test", 101), ("cargo test", 101)]);
        assert_eq!(told, Some(("cargo test -- --nocapture".into(), 0.97, "command_history".into())));
    }

    #[test]
    fn nothing_where_it_would_not_help() {
        for commands in [
            &[][..],
            &[("cargo test", 0)],
            &[("cargo test", 127)],
            &[("cargo test", 130)],
            &[("cargo test -- --nocapture", 1)],
            &[("cargo test -- x", 1)],
            &[("cargo test | tee log", 1)],
            &[("ls nowhere", 2)],
            &[("makeup", 1)],
            &[("make V=1", 2)],
        ] {
            assert_eq!(ran(commands), None, "{commands:?}");
        }
    }
}
