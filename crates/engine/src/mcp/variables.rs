//! The variables that a server would get, in words: what may steer a program is told with its value, what looks like a secret is not. Pure.

use domain::harmless::{as_word, in_ticks};
use std::collections::BTreeMap;

/// Words in a name that make its value a secret.
const SECRETS: &[&str] = &[
    "APIKEY",
    "AUTH",
    "AUTHTOKEN",
    "BEARER",
    "COOKIE",
    "CREDENTIAL",
    "CREDENTIALS",
    "KEY",
    "PASS",
    "PASSPHRASE",
    "PASSWD",
    "PASSWORD",
    "PAT",
    "PW",
    "PWD",
    "SECRET",
    "TOKEN",
];

/// Beginnings of names by which programs are steered: what they load, run and obey. Their value is told even where it looks made.
const STEERS: &[&str] = &[
    "BASH_",
    "BUN_",
    "CARGO_",
    "CLASSPATH",
    "DENO_",
    "DYLD_",
    "EDITOR",
    "ENV",
    "GIT_",
    "HOME",
    "IFS",
    "JAVA_",
    "JDK_",
    "LD_",
    "LUA_",
    "NODE_",
    "NPM_CONFIG_",
    "PAGER",
    "PATH",
    "PERL",
    "PHP",
    "PIP_",
    "PROMPT_COMMAND",
    "PYTHON",
    "RUBY",
    "RUSTC",
    "SHELL",
    "SSH_",
    "UV_",
    "XDG_",
    "_JAVA_",
];

/// Names that steer though they sound like secrets.
const STEERS_ALL_THE_SAME: &[&str] =
    &["GIT_ASKPASS", "GIT_CONFIG_KEY_", "PWD", "SSH_ASKPASS", "SUDO_ASKPASS"];

/// From this length on a value without blanks and slashes, of letters and digits, was made by a machine.
const MADE: usize = 20;

/// What the variables set, in words; nothing where there are none.
pub(super) fn words(variables: &BTreeMap<String, String>) -> String {
    let told = variables.iter().map(|(name, value)| match is_secret(name, value) {
        true => format!("{} (not shown: it may be a secret)", as_word(name)),
        // Whatever such a value looks like, a program obeys all of it.
        false if steers(name) => in_ticks(&format!("{name}={value}")),
        false => in_ticks(&format!("{name}={}", super::entry::without_login(value))),
    });
    let told: Vec<String> = told.collect();
    if told.is_empty() { String::new() } else { format!(", sets {}", told.join(", ")) }
}

/// Whether programs are steered by a variable of this name.
pub(super) fn steers(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    STEERS.iter().chain(STEERS_ALL_THE_SAME).any(|start| name.starts_with(start))
}

fn is_secret(name: &str, value: &str) -> bool {
    let is_steering = steers(name);
    let name = name.to_ascii_uppercase();
    // `${NAME}` names where it comes from, and holds nothing.
    let is_reference = value.starts_with("${") && value.ends_with('}') && !value.contains(":-");
    if is_reference || STEERS_ALL_THE_SAME.iter().any(|start| name.starts_with(start)) {
        return false;
    }
    let mut words = name.split(|c: char| !c.is_ascii_alphanumeric());
    words.any(|word| SECRETS.contains(&word)) || looks_made(value) && !is_steering
}

fn looks_made(value: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '+' | '=');
    value.len() >= MADE
        && value.chars().all(plain)
        && value.contains(|c: char| c.is_ascii_digit())
        && value.contains(|c: char| c.is_ascii_alphabetic())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(name: &str, value: &str) -> String {
        words(&BTreeMap::from([(name.to_owned(), value.to_owned())]))
    }

    #[test]
    fn what_steers_a_program_is_told_with_its_value() {
        for (name, value) in [
            ("NODE_OPTIONS", "--require ./x.js"),
            ("LD_PRELOAD", "./a.so"),
            ("DYLD_INSERT_LIBRARIES", "a.dylib"),
            ("PYTHONPATH", "abcdefghij1234567890abc"),
            ("PATH", "./bin"),
            ("BASH_ENV", "x.sh"),
            ("ENV", "x.sh"),
            ("PERL5OPT", "-Mevil"),
            ("RUBYOPT", "-revil"),
            ("JAVA_TOOL_OPTIONS", "-javaagent:a.jar"),
            ("GIT_SSH_COMMAND", "sh -c x"),
            ("GIT_ASKPASS", "./x"),
            ("GIT_CONFIG_KEY_0", "core.sshCommand"),
            ("npm_config_registry", "http://evil"),
            ("ANYTHING", "else"),
            ("NODE_OPTIONS", "--title=http:// --require evil --title=@localhost"),
            ("PATH", "http://:tools:@/usr/bin:/bin:/usr/bin"),
            ("npm_config_registry", "http://me:pw@host/"),
            ("X", "env x://;touch evil;@"),
            ("API_KEY", "${API_KEY}"),
        ] {
            assert_eq!(told(name, value), format!(", sets `{name}={value}`"));
        }
        assert_eq!(words(&BTreeMap::new()), "");
    }

    #[test]
    fn what_looks_like_a_secret_is_not_told() {
        for (name, value) in [
            ("API_KEY", "hunter2"),
            ("GITHUB_TOKEN", "hunter2"),
            ("db.password", "hunter2"),
            ("DB_PASS", "hunter2"),
            ("npm_config__authToken", "hunter2"),
            ("API_KEY", "${API_KEY:-hunter2}"),
            ("PLAIN", "hunter2abcdefghij1234"),
            ("DATABASE_URL", "postgres://me:hunter2@host/db"),
        ] {
            let words = told(name, value);
            assert!(words.contains(name) && !words.contains("hunter2"), "{words}");
        }
        assert_eq!(told("URL", "http://me:hunter2@host/"), ", sets `URL=http://[login]@host/`");
    }
}
