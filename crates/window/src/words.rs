//! The words that the shell is started with, also a second time: those of a second start go to the one that runs.
//!
//! Invariant: no word does more than show, hide or end the window; a link leads nowhere before the person has read it.

use crate::address;

/// What a start asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wish {
    /// The window is to be seen; without any word too.
    Show,
    /// It is to be seen, or no longer.
    Toggle,
    /// The shell is to wait in the tray.
    Hide,
    /// It is to end; sessions go on.
    Quit,
    /// A link from elsewhere is to be asked about.
    Link(String),
    /// Only words for the terminal.
    Help,
    Version,
}

/// What `--help` prints.
pub const HELP: &str = "\
Parlor in a window: the page of your sessions, with a place in the tray. It ends no session, and needs `parlor` beside it or on the PATH.

parlor-desktop [WORD]

  --hidden              start in the tray, without a window
  --toggle              show the window, or hide it
  --quit                end the window; sessions go on
  parlor://session/ID   show a session, once you have said yes
  --version, --help

PARLOR_BIN names the program `parlor` where it lies elsewhere. Settings are in desktop.json beside Parlor's own.
";

/// Reads the words behind the program's name.
///
/// # Errors
/// What cannot be read, for the person.
pub fn read(words: &[String]) -> Result<Wish, String> {
    match words {
        [] => Ok(Wish::Show),
        [word] => match word.as_str() {
            "--hidden" => Ok(Wish::Hide),
            "--toggle" => Ok(Wish::Toggle),
            "--quit" => Ok(Wish::Quit),
            "--help" | "-h" => Ok(Wish::Help),
            "--version" | "-V" => Ok(Wish::Version),
            link if address::is_ours(link) => Ok(Wish::Link(link.to_owned())),
            other => Err(unread(other)),
        },
        [_, other, ..] => Err(unread(other)),
    }
}

fn unread(word: &str) -> String {
    format!(
        "{} is nothing that this program knows; --help tells what it does",
        domain::harmless::quoted(word)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_read_or_refused() {
        let read = |words: &[&str]| read(&words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>());
        for (words, wish) in [
            (&[][..], Wish::Show),
            (&["--hidden"], Wish::Hide),
            (&["--toggle"], Wish::Toggle),
            (&["--quit"], Wish::Quit),
            (&["-h"], Wish::Help),
            (&["parlor://anything"], Wish::Link("parlor://anything".to_owned())),
        ] {
            assert_eq!(read(words), Ok(wish), "{words:?}");
        }
        for bad in [&["--allow"][..], &["--hidden", "--quit"], &["https://a"], &["\u{1b}[31m"]] {
            let why = read(bad).unwrap_err();
            assert!(why.contains("--help") && !why.contains('\u{1b}'), "{why:?}");
        }
    }
}
