//! The environment that a room is born with: the terminal's, without what is of that terminal only and without what is a secret or
//! belongs to a provider of models, for which the server's own counts. So a key never travels, and never goes to an address that
//! another environment names.
//!
//! What commands of the agent get of it is another, shorter list (`tools::env`).

use domain::path_text;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::Path;

/// Variables that are about one terminal, one login or one shell.
const OF_TERMINAL: &[&str] = &[
    "TERM",
    "TERMCAP",
    "COLORTERM",
    "COLORFGBG",
    "COLUMNS",
    "LINES",
    "WINDOWID",
    "WINDOW",
    "STY",
    "SHLVL",
    "OLDPWD",
    "PWD",
    "_",
    "SSH_TTY",
    "SSH_CLIENT",
    "SSH_CONNECTION",
    "GPG_TTY",
    "TTY",
    "NOTIFY_SOCKET",
    "LISTEN_FDS",
    "LISTEN_PID",
    "INVOCATION_ID",
    "JOURNAL_STREAM",
    "PS1",
    "PROMPT_COMMAND",
];
/// Families of such names.
const OF_TERMINAL_PREFIXES: &[&str] = &[
    "TERM_",
    "TMUX",
    "VTE_",
    "KITTY_",
    "WEZTERM_",
    "ALACRITTY_",
    "ITERM_",
    "LC_TERMINAL",
    "KONSOLE_",
    "GNOME_TERMINAL_",
    "WT_",
    "ZELLIJ",
    "GHOSTTY_",
    "VSCODE_",
    "BASH_FUNC_",
];
/// What would bring code into every program that the room starts.
const BRINGS_CODE: &[&str] = &["BASH_ENV", "ENV", "LD_PRELOAD", "LD_AUDIT", "DYLD_INSERT_LIBRARIES"];
/// A name with one of these in it is taken for a secret, as for commands of the agent.
const SECRET: &[&str] = &["KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "CREDENTIAL", "COOKIE", "SESSION"];
/// Say where the data folder and the announcements are: those of a room are the server's.
const PLACES: &[&str] = &["PARLOR_DATA_DIR", "XDG_DATA_HOME", "XDG_RUNTIME_DIR"];
/// Flags that a process of its own is needed for, or that are about a screen.
const OF_SCREEN: &[&str] =
    &["PARLOR_EPHEMERAL", "PARLOR_INLINE", "PARLOR_PLAIN", "PARLOR_THEME", "PARLOR_NO_MOUSE"];

/// The most variables that are taken from a terminal.
const MAX_VARIABLES: usize = 10_000;

/// Whether a variable comes from the server and never from a terminal.
fn is_withheld(name: &OsStr, value: &OsStr) -> bool {
    let text = name.to_string_lossy();
    let upper = text.to_ascii_uppercase();
    SECRET.iter().any(|word| upper.contains(word))
        || PLACES.contains(&text.as_ref())
        || models::catalog::variables().contains(&text.as_ref())
        || carries_login(value)
}

/// An address may carry a user's name and password.
fn carries_login(value: &OsStr) -> bool {
    let text = value.to_string_lossy();
    text.split_once("://")
        .is_some_and(|(_, rest)| rest.split('/').next().is_some_and(|host| host.contains('@')))
}

/// Whether a variable means nothing in a room.
fn is_left_out(name: &OsStr) -> bool {
    let text = name.to_string_lossy();
    let is = |list: &[&str]| list.contains(&text.as_ref());
    is(OF_TERMINAL)
        || is(BRINGS_CODE)
        || is(OF_SCREEN)
        || OF_TERMINAL_PREFIXES.iter().any(|prefix| text.starts_with(prefix))
}

/// What a terminal hands on.
pub fn of_terminal() -> Vec<(OsString, OsString)> {
    handed_on(std::env::vars_os())
}

fn handed_on(all: impl Iterator<Item = (OsString, OsString)>) -> Vec<(OsString, OsString)> {
    all.filter(|(name, value)| !is_left_out(name) && !is_withheld(name, value)).take(MAX_VARIABLES).collect()
}

/// The environment of a room that a terminal asked for, or that nobody's terminal did: then it is our own.
pub(super) fn environment(given: Option<&[(OsString, OsString)]>) -> Vec<(OsString, OsString)> {
    born(given, std::env::vars_os().collect())
}

fn born(given: Option<&[(OsString, OsString)]>, own: Vec<(OsString, OsString)>) -> Vec<(OsString, OsString)> {
    let mut all: Vec<(OsString, OsString)> = match given {
        // Whoever asks is asked to leave out what we leave out anyway.
        Some(given) => handed_on(given.iter().cloned()),
        None => handed_on(own.iter().cloned()),
    };
    all.extend(own.into_iter().filter(|(name, value)| is_withheld(name, value) && !is_left_out(name)));
    // Programs that ask for it are told that nothing can be drawn.
    all.push(("TERM".into(), "dumb".into()));
    all
}

/// Variables as they stand in a line; bytes that are no text are kept.
pub(crate) fn to_json(variables: &[(OsString, OsString)]) -> Value {
    let text = |word: &OsStr| path_text::write(Path::new(word));
    variables.iter().map(|(name, value)| json!([text(name), text(value)])).collect()
}

/// Reads them; `None` when it is no list of pairs.
pub(crate) fn from_json(told: &Value) -> Option<Vec<(OsString, OsString)>> {
    let word = |told: &Value| Some(path_text::read(told.as_str()?).into_os_string());
    let pair = |told: &Value| {
        let [name, value] = told.as_array()?.as_slice() else { return None };
        Some((word(name)?, word(value)?))
    };
    let usable = |(name, value): &(OsString, OsString)| {
        let (name, value) = (name.as_encoded_bytes(), value.as_encoded_bytes());
        !name.is_empty() && !name.contains(&b'=') && !name.contains(&0) && !value.contains(&0)
    };
    let pairs: Option<Vec<_>> = told.as_array()?.iter().map(pair).collect();
    pairs.map(|pairs| pairs.into_iter().filter(usable).collect())
}

/// What the environment says of providers of models: keys and addresses, each only as a digest with this salt.
pub fn providers(salt: &str) -> BTreeMap<String, String> {
    providers_of(salt, |name| std::env::var_os(name))
}

fn providers_of(salt: &str, value: impl Fn(&str) -> Option<OsString>) -> BTreeMap<String, String> {
    let set = models::catalog::variables().into_iter().filter_map(|name| {
        let value = value(name).filter(|value| !value.is_empty())?;
        let mut bytes = format!("{salt}\0{name}\0").into_bytes();
        bytes.extend(value.as_encoded_bytes());
        Some((name.to_owned(), tools::digest::hex(&bytes)))
    });
    set.collect()
}

/// The variables of providers that are set here and not so there.
pub fn only_here(here: &BTreeMap<String, String>, there: &BTreeMap<String, String>) -> Vec<String> {
    here.iter()
        .filter(|(name, digest)| there.get(*name) != Some(digest))
        .map(|(name, _)| name.clone())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::ffi::OsStringExt;

    fn pairs(all: &[(&str, &str)]) -> Vec<(OsString, OsString)> {
        all.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect()
    }

    #[test]
    fn a_room_has_the_environment_of_its_terminal_and_the_secrets_of_its_server() {
        let terminal = pairs(&[
            ("PATH", "/terminal"),
            ("DIRENV_DIR", "/w"),
            ("TERM", "xterm"),
            ("TMUX_PANE", "%1"),
            ("ANTHROPIC_API_KEY", "theirs"),
            ("ANTHROPIC_BASE_URL", "http://evil"),
            ("GITHUB_TOKEN", "theirs"),
            ("LD_PRELOAD", "/evil.so"),
            ("HTTP_PROXY", "http://me:word@proxy"),
            ("PARLOR_DATA_DIR", "/elsewhere"),
            ("PARLOR_EPHEMERAL", "1"),
        ]);
        let server = pairs(&[
            ("PATH", "/server"),
            ("ANTHROPIC_API_KEY", "ours"),
            ("PARLOR_DATA_DIR", "/data"),
            ("TMUX", "x"),
            ("ONLY_THE_SERVERS", "x"),
        ]);
        let mut born = born(Some(&terminal), server);
        born.sort();
        let wanted = pairs(&[
            ("ANTHROPIC_API_KEY", "ours"),
            ("DIRENV_DIR", "/w"),
            ("PARLOR_DATA_DIR", "/data"),
            ("PATH", "/terminal"),
            ("TERM", "dumb"),
        ]);
        assert_eq!(born, wanted);
    }

    #[test]
    fn odd_bytes_come_back_as_they_were() {
        let odd = vec![(OsString::from("ODD"), OsString::from_vec(b"caf\xe9\n%".to_vec()))];
        assert_eq!(from_json(&to_json(&odd)), Some(odd));
        assert_eq!(
            from_json(&json!([["A=B", "x"], ["", "x"], ["N", "a\0b"], ["A", "b"]])),
            Some(pairs(&[("A", "b")]))
        );
        for wrong in [json!({}), json!([["A"]]), json!([1]), json!([["A", 1]]), json!(null)] {
            assert_eq!(from_json(&wrong), None, "{wrong}");
        }
    }

    #[test]
    fn keys_and_addresses_are_compared_without_being_told() {
        let set = |pairs: &'static [(&str, &str)]| {
            move |name: &str| pairs.iter().find(|(set, _)| *set == name).map(|(_, value)| (*value).into())
        };
        let here = providers_of(
            "s",
            set(&[("ANTHROPIC_API_KEY", "a"), ("OPENAI_BASE_URL", "b"), ("GROQ_API_KEY", "")]),
        );
        let there = providers_of("s", set(&[("ANTHROPIC_API_KEY", "a"), ("XAI_API_KEY", "more is no harm")]));
        assert_eq!(only_here(&here, &there), ["OPENAI_BASE_URL"]);
        let other = providers_of("s", set(&[("ANTHROPIC_API_KEY", "other"), ("OPENAI_BASE_URL", "b")]));
        assert_eq!(only_here(&here, &other), ["ANTHROPIC_API_KEY"]);
        assert!(!format!("{here:?}").contains("\"a\""));
    }
}
