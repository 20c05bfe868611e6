//! `parlor help TOPIC`: the pages of the documentation in the terminal. They are put into the program when it is built (`build.rs`),
//! compressed: whoever installed a binary has no folder `docs`.
//!
//! Invariant: a command's own help goes before a page of the same name; `parlor help NAME.md` is always the page.

use crate::cli::Cli;
use crate::output::Stream;
use crate::paint::{Paint, WIDEST, wrapped};
use clap::CommandFactory;
use domain::harmless::quoted;
use flate2::read::DeflateDecoder;
use std::ffi::OsString;
use std::io::Read;

/// A page: its name, its title, how many bytes of the text it has.
type Page = (&'static str, &'static str, usize);

/// All pages one after the other, and all of their text.
const PAGES: (&[Page], &[u8]) = include!(concat!(env!("OUT_DIR"), "/pages.rs"));

/// What `parlor help TOPIC` prints, where a page is meant; `Err` is what is wrong with the topic.
pub(crate) fn asked(words: &[OsString]) -> Option<Result<String, String>> {
    let [_, help, topic] = words else { return None };
    let topic = topic.to_str().filter(|_| help == "help")?;
    let name = topic.strip_prefix("docs/").unwrap_or(topic);
    let named = name.strip_suffix(".md");
    let cli = Cli::command();
    if named.is_none() && (cli.find_subcommand(name).is_some() || name.starts_with('-')) {
        return None;
    }
    if matches!(name, "topics" | "pages") {
        return Some(Ok(list()));
    }
    let name = named.unwrap_or(name);
    let name = name.strip_prefix("guides/").unwrap_or(name);
    let text = page(name).or_else(|| page(name.strip_prefix("reference/")?));
    Some(text.map(|text| shown(&text, Stream::Out.is_terminal().then(Paint::of_stdout))).ok_or_else(|| {
        let names: Vec<&str> = PAGES.0.iter().map(|(name, ..)| *name).collect();
        format!(
            "there is neither a command nor a page {}\n\nhint: pages are {}; `parlor --help` lists the commands",
            quoted(topic),
            names.join(", ")
        )
    }))
}

/// The pages, as they are asked for, and their titles.
pub(crate) fn all() -> impl Iterator<Item = (String, &'static str)> {
    PAGES.0.iter().map(|(name, title, _)| (file(name), *title))
}

/// The pages with their titles.
fn list() -> String {
    let lines = PAGES.0.iter().map(|(name, title, _)| format!("  parlor help {:<18} {title}", file(name)));
    format!("Pages of the documentation:\n\n{}", lines.collect::<Vec<_>>().join("\n"))
}

/// As a page is asked for: by its name, or with `.md` where a command has that.
fn file(name: &str) -> String {
    if Cli::command().find_subcommand(name).is_some() { format!("{name}.md") } else { name.to_owned() }
}

/// The page of this name.
fn page(name: &str) -> Option<String> {
    let at = PAGES.0.iter().position(|(known, ..)| *known == name)?;
    let before: usize = PAGES.0.iter().take(at).map(|(_, _, bytes)| bytes).sum();
    let mut text = Vec::new();
    let most = u64::try_from(before + PAGES.0[at].2).ok()?;
    DeflateDecoder::new(PAGES.1).take(most).read_to_end(&mut text).ok()?;
    String::from_utf8(text.get(before..)?.to_vec()).ok()
}

/// The page as it is read: without what only a browser draws, and in a terminal broken between words.
fn shown(text: &str, paint: Option<Paint>) -> String {
    let mut lines = Vec::new();
    let mut code = false;
    for line in text.lines().filter(|line| !line.starts_with("<!--") && !line.starts_with("![")) {
        let fence = line.trim_start().starts_with("```");
        code ^= fence;
        let Some(paint) = paint else {
            lines.push(line.to_owned());
            continue;
        };
        let width = paint.width.unwrap_or(WIDEST).min(WIDEST);
        if fence {
            continue;
        }
        if code {
            lines.push(format!("    {}", paint.accent(line)));
        } else if line.starts_with('#') {
            lines.push(paint.strong(line.trim_start_matches('#').trim()));
        } else if line.starts_with('|') {
            lines.push(line.to_owned());
        } else {
            lines.extend(wrapped(line, width));
        }
    }
    lines.join("\n").trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(topic: &str) -> Option<Result<String, String>> {
        asked(&["parlor", "help", topic].map(OsString::from))
    }

    #[test]
    fn every_page_can_be_read_whole() {
        assert!(PAGES.0.len() > 12);
        for (name, title, bytes) in PAGES.0 {
            let text = page(name).expect("it is there");
            assert!(text.len() == *bytes && text.contains(title) && !title.is_empty(), "{name}");
            assert!(said(&format!("{name}.md")).is_some_and(|page| page.is_ok()), "{name}");
        }
    }

    #[test]
    fn a_command_goes_before_a_page_and_what_is_neither_is_told() {
        assert!(said("run").is_none() && said("web").is_none() && said("--help").is_none());
        assert!(said("web.md").unwrap().is_ok() && said("docs/fleet.md").unwrap().is_ok());
        assert!(said("keys").unwrap().unwrap().contains("`ctrl-s`"));
        assert!(said("docs/reference/settings.md").unwrap() != said("settings").unwrap());
        assert!(said("docs/reference/providers.md").unwrap().is_ok() && said("exit-codes").unwrap().is_ok());
        assert!(said("your-agent").unwrap().is_ok() && said("docs/guides/your-agent.md").unwrap().is_ok());
        assert!(said("topics").unwrap().unwrap().contains("parlor help web.md"));
        let why = said("nonsense").unwrap().unwrap_err();
        assert!(why.contains("settings") && why.contains("hint: "), "{why}");
    }
}
