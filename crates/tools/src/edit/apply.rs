//! Edits on a text, in order, all or none. Pure: what does not fit is told in words, with the next step.
//!
//! What stands there exactly always wins. Where nothing does, whole lines that differ only in what is hard to see are taken if one place
//! alone fits. What was not meant keeps its bytes, ends of lines included.

use super::parse::One;
use crate::line_ends::{Plain, with_ending};
use crate::loose::{self, Found};
use crate::nearest::nearest;
use crate::write::MAX_WRITE;
use std::fmt::Write as _;

/// Lines that are named when a text stands in several places.
const NAMED_LINES: usize = 5;
/// Lines that are shown of a place that was fitted.
const SHOWN_LINES: usize = 30;

/// How sure it is that the model knows what the file holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Knows {
    All,
    /// A command of the model changed the file since: it says where, or nothing is done.
    Place,
}

/// Why an edit is not made.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Not {
    /// In words.
    Fits(String),
    /// The model has to look at the file first.
    Known,
}

/// A text after its edits.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Applied {
    pub(super) text: String,
    /// Where an edit was fitted to the file: in few words for the person.
    pub(super) fitted: Vec<String>,
    /// The same for the model, with the lines that stand there now.
    pub(super) told: String,
}

/// Makes the edits.
pub(super) fn apply(text: &str, edits: &[One], knows: Knows) -> Result<Applied, Not> {
    let mut done = Applied { text: text.to_owned(), ..Applied::default() };
    for (index, edit) in edits.iter().enumerate() {
        let which = if edits.len() == 1 { String::new() } else { format!("edit {}: ", index + 1) };
        let wrong = |why: &str| Not::Fits(format!("{which}{why}"));
        if edit.old.is_empty() {
            return Err(wrong(
                "`old` is empty, nothing was changed: give the text that is there, or use write",
            ));
        }
        if edit.old == edit.new {
            return Err(wrong("`old` and `new` are the same; nothing was changed"));
        }
        done.make(edit, knows).map_err(|not| match not {
            Not::Fits(why) => wrong(&why),
            Not::Known => Not::Known,
        })?;
        if done.text.len() > MAX_WRITE * 2 {
            return Err(wrong("the file would grow too long; nothing was changed"));
        }
    }
    Ok(done)
}

impl Applied {
    fn make(&mut self, edit: &One, knows: Knows) -> Result<(), Not> {
        let (old, new) = (Plain::of(&edit.old).text, Plain::of(&edit.new).text);
        // Whoever changes nothing else means the ends of lines themselves.
        let plain = if old == new { None } else { Some(Plain::of(&self.text)) };
        let mut places = match &plain {
            Some(plain) => places(&plain.text, &old),
            None => places(&self.text, &edit.old),
        };
        if edit.lines {
            let text = plain.as_ref().map_or(self.text.as_str(), |plain| &plain.text);
            places.retain(|at| {
                text.get(..*at).is_some_and(|before| before.is_empty() || before.ends_with('\n'))
            });
        }
        if let Some(times) = edit.times.filter(|times| !places.is_empty() && *times != places.len() as u64) {
            return Err(Not::Fits(format!(
                "`old` is in the file {} times, not {times} as expected, nothing was changed: look again",
                places.len()
            )));
        }
        match places.as_slice() {
            [] => return self.fit(plain.as_ref(), &old, &new),
            [_] => {}
            _ if edit.all && knows == Knows::Place => return Err(Not::Known),
            _ if edit.all && !edit.lines => {}
            many => {
                let text = plain.as_ref().map_or(self.text.as_str(), |plain| &plain.text);
                let lines: Vec<usize> = many.iter().map(|at| line_of(text, *at)).collect();
                return Err(Not::Fits(several("`old` is in the file", &lines)));
            }
        }
        self.text = match (&plain, places.as_slice()) {
            (Some(plain), [at]) => replaced(plain, &self.text, &[*at], &old, &new),
            (Some(plain), _) => {
                let all: Vec<usize> = plain.text.match_indices(&old).map(|(at, _)| at).collect();
                replaced(plain, &self.text, &all, &old, &new)
            }
            (None, _) => self.text.replace(&edit.old, &edit.new),
        };
        Ok(())
    }

    /// Nothing stands there exactly: takes the one place that differs only in what is hard to see.
    fn fit(&mut self, plain: Option<&Plain>, old: &str, new: &str) -> Result<(), Not> {
        let text = plain.map_or(self.text.as_str(), |plain| &plain.text);
        let (Some(plain), found) = (plain, loose::fit(text, old, new)) else {
            return Err(Not::Fits(missing(text, old)));
        };
        let fit = match found {
            Found::One(fit) => fit,
            Found::Nothing | Found::Unsure => return Err(Not::Fits(missing(text, old))),
            Found::Many(lines) => {
                let what = "`old` is not in the file exactly, and but for blanks and quotes";
                return Err(Not::Fits(several(what, &lines)));
            }
        };
        let there = text.get(fit.from..fit.to).unwrap_or_default();
        if there == fit.new {
            let why = format!(
                "`old` differs from line {} in {} alone, and so does `new`: there is nothing to change",
                fit.line, fit.how
            );
            return Err(Not::Fits(why));
        }
        self.fitted.push(format!("line {} differs from what the model wrote in {}", fit.line, fit.how));
        let _ = write!(self.told, "\nline {} differed from `old` in {}; it is now:", fit.line, fit.how);
        for line in fit.new.lines().take(SHOWN_LINES) {
            let _ = write!(self.told, "\n{line}");
        }
        if fit.new.lines().nth(SHOWN_LINES).is_some() {
            self.told.push_str("\n…");
        }
        let (from, to) = (plain.origin(fit.from), plain.origin(fit.to));
        let ending = plain.ending(fit.from, fit.to);
        let (before, after) =
            (self.text.get(..from).unwrap_or_default(), self.text.get(to..).unwrap_or_default());
        self.text = format!("{before}{}{after}", with_ending(&fit.new, ending));
        Ok(())
    }
}

fn several(what: &str, lines: &[usize]) -> String {
    let named: Vec<String> = lines.iter().take(NAMED_LINES).map(usize::to_string).collect();
    format!(
        "{what} {} times (lines {}{}), nothing was changed: add lines around it, or give `all`",
        lines.len(),
        named.join(", "),
        if lines.len() > NAMED_LINES { ", …" } else { "" }
    )
}

/// The text with `old` replaced at these places, the rest byte by byte as it was.
fn replaced(plain: &Plain, text: &str, places: &[usize], old: &str, new: &str) -> String {
    let mut done = String::with_capacity(text.len());
    let mut rest = 0;
    for at in places {
        let end = at + old.len();
        done.push_str(text.get(rest..plain.origin(*at)).unwrap_or_default());
        done.push_str(&with_ending(new, plain.ending(*at, end)));
        rest = plain.origin(end);
    }
    done.push_str(text.get(rest..).unwrap_or_default());
    done
}

fn missing(text: &str, old: &str) -> String {
    let missing = "the text to replace (`old`) was not found, nothing was changed";
    match nearest(text, old) {
        Some(nearest) => format!("{missing}; {nearest}"),
        None => format!("{missing}: read it again and copy it exactly"),
    }
}

/// Where `old` starts, overlapping places included: those are as ambiguous as others. Bounded.
fn places(text: &str, old: &str) -> Vec<usize> {
    const ENOUGH: usize = 1000;
    let mut places = Vec::new();
    let mut from = 0;
    while let Some(found) = text.get(from..).and_then(|rest| rest.find(old)) {
        places.push(from + found);
        let step = old.chars().next().map_or(1, char::len_utf8);
        from += found + step;
        if places.len() == ENOUGH {
            break;
        }
    }
    places
}

fn line_of(text: &str, at: usize) -> usize {
    text.get(..at).unwrap_or_default().matches('\n').count() + 1
}
