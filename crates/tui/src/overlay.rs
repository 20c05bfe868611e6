//! Pages and lists that cover the screen: the pager (keys, full views) and the picker.

use crate::key::{Code, Key};
use crate::picker::Picker;

/// What stands over everything.
#[derive(Debug)]
pub enum Overlay {
    /// A long text to read.
    Pager(Pager),
    /// A list to choose from.
    Picker(Box<Picker>),
}

/// What a pager shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    Keys,
    Commands,
    /// Where the session stands.
    Status,
    /// The words that came and went.
    Notices,
    /// All of the question on the screen.
    Ask,
    /// What changed in files.
    Diff(String),
}

/// A long text to read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pager {
    pub title: String,
    pub content: Content,
    /// The first row shown.
    pub top: usize,
}

impl Pager {
    /// A pager at its beginning.
    pub fn new(title: impl Into<String>, content: Content) -> Pager {
        Pager { title: title.into(), content, top: 0 }
    }

    /// Scrolls; `false` when the key means something else.
    pub fn key(&mut self, key: Key, page: usize) -> bool {
        let (page, half) = (page.max(1), (page / 2).max(1));
        match key.code {
            Code::Up | Code::Char('k') => self.top = self.top.saturating_sub(1),
            Code::Down | Code::Char('j') => self.top = self.top.saturating_add(1),
            Code::PageUp | Code::Char('b') => self.top = self.top.saturating_sub(page),
            Code::PageDown | Code::Char(' ') => self.top = self.top.saturating_add(page),
            Code::Char('u') => self.top = self.top.saturating_sub(half),
            Code::Char('d') => self.top = self.top.saturating_add(half),
            Code::Home | Code::Char('g') => self.top = 0,
            Code::End | Code::Char('G') => self.top = usize::MAX,
            _ => return false,
        }
        true
    }

    /// The first row that can be shown, given how many there are and how many fit.
    pub fn clamp(&self, rows: usize, fits: usize) -> usize {
        self.top.min(rows.saturating_sub(fits))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_scrolls_and_any_other_key_leaves_it() {
        for (keys, top) in [
            (&["down"][..], Some(1)),
            (&["up"], Some(0)),
            (&["pagedown", "pageup"], Some(0)),
            (&["space", "j", "k"], Some(10)),
            (&["d"], Some(5)),
            (&["end"], Some(20)),
            (&["end", "g"], Some(0)),
            (&["esc"], None),
            (&["x"], None),
        ] {
            let mut pager = Pager::new("Page", Content::Keys);
            let kept = keys.iter().all(|key| pager.key(key.parse().unwrap(), 10));
            assert_eq!(kept.then(|| pager.clamp(30, 10)), top, "{keys:?}");
        }
    }

    #[test]
    fn the_end_of_a_page_can_be_passed_without_harm() {
        let mut pager = Pager::new("Page", Content::Keys);
        for key in ["end", "down", "pagedown", "space", "d"] {
            pager.key(key.parse().unwrap(), usize::MAX);
        }
        assert_eq!(pager.clamp(0, 10), 0);
    }
}
