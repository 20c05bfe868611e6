//! Text that stands in a file but for what is hard to see: blanks, indentation, curved quotes, line numbers copied from a page.
//!
//! Pure. Only whole lines are taken, and only where one place alone is meant. Lines that stay keep the file's own bytes; lines that come
//! are indented as the file is. Where that could be read in two ways, nothing is taken.

mod indent;
mod lines;

use crate::nearest;
use lines::Fitting;
pub(crate) use lines::unnumbered;

/// Lines of a file that are looked through, at most.
const MAX_LINES: usize = 400_000;

/// What was found for a text that does not stand in the file exactly.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Found {
    Nothing,
    One(Fit),
    /// Several places fit: the first lines of some, from 1.
    Many(Vec<usize>),
    /// One place fits, but what should stand there could be read in two ways.
    Unsure,
}

/// One place, and what shall stand there.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Fit {
    /// In bytes.
    pub(crate) from: usize,
    pub(crate) to: usize,
    pub(crate) new: String,
    /// Its first line, from 1.
    pub(crate) line: usize,
    /// In what the texts differ.
    pub(crate) how: &'static str,
}

/// Looks for `old` in a text whose lines end in LF, and works out what stands there once it is `new`.
pub(crate) fn fit(text: &str, old: &str, new: &str) -> Found {
    let Some(wanted) = Wanted::of(old, new) else { return Found::Nothing };
    let lines: Vec<&str> = text.strip_suffix('\n').unwrap_or(text).split('\n').collect();
    let last_ends = text.ends_with('\n');
    let mut places = places(&lines, &wanted.old);
    let mut wanted = wanted;
    let mut how = None;
    if places.is_empty()
        && let Some((old, new)) = unnumbered(&wanted.old, &wanted.new)
    {
        wanted = Wanted { old, new, ..wanted };
        places = self::places(&lines, &wanted.old);
        how = Some("copied line numbers");
    }
    // What takes the end of its last line along needs one there.
    places.retain(|at| !wanted.ends || last_ends || at + wanted.old.len() < lines.len());
    let at = match places.as_slice() {
        [] => return Found::Nothing,
        [at] => *at,
        many => return Found::Many(many.iter().map(|at| at + 1).collect()),
    };
    let there = lines.get(at..at + wanted.old.len()).unwrap_or_default();
    // Blank lines at the end of `old`: which of those that stand there are they?
    let blank = |line: Option<&&str>| line.is_some_and(|line| line.trim().is_empty());
    let next = lines.get(at + wanted.old.len());
    if wanted.ends
        && blank(wanted.old.last())
        && blank(next)
        && (next, there.last()) != (Some(&""), Some(&""))
    {
        return Found::Unsure;
    }
    let Some(put) = put(&lines, there, &wanted) else { return Found::Unsure };
    let how = how.or_else(|| nearest::difference(there, &wanted.old)).unwrap_or("blanks, tabs or quotes");
    let from = lines.iter().take(at).map(|line| line.len() + 1).sum();
    let length: usize = there.iter().map(|line| line.len() + 1).sum();
    let to = from + length - usize::from(!wanted.ends);
    let mut new = put.join("\n");
    if wanted.ends && !put.is_empty() {
        new.push('\n');
    }
    Found::One(Fit { from, to, new, line: at + 1, how })
}

/// The lines that shall come in the place of others.
struct Wanted<'a> {
    old: Vec<&'a str>,
    new: Vec<&'a str>,
    /// The end of the last line belongs to it.
    ends: bool,
}

impl<'a> Wanted<'a> {
    /// `None` where these are no whole lines.
    fn of(old: &'a str, new: &'a str) -> Option<Wanted<'a>> {
        let (body, ends) = match old.strip_suffix('\n') {
            Some(body) => (body, true),
            None => (old, false),
        };
        let new = match (ends, new.strip_suffix('\n')) {
            (true, _) if new.is_empty() => Vec::new(),
            (true, Some(new)) => new.split('\n').collect(),
            // The next line would be joined to it: that is hardly meant.
            (true, None) => return None,
            (false, _) => new.split('\n').collect(),
        };
        Some(Wanted { old: body.split('\n').collect(), new, ends })
    }

    /// For each new line the old one that it takes the place of, where that can be told: what is the same before and after is left out,
    /// and as many lines come as go.
    fn partners(&self) -> Vec<Option<usize>> {
        let same = |pair: &(&&str, &&str)| pair.0 == pair.1;
        let before = self.old.iter().zip(&self.new).take_while(same).count();
        let rest = self.old.len().min(self.new.len()) - before;
        let after = self.old.iter().rev().zip(self.new.iter().rev()).take(rest).take_while(same).count();
        let middle = before..self.new.len() - after;
        let as_many = self.old.len() == self.new.len();
        (0..self.new.len()).map(|at| Some(at).filter(|at| as_many && middle.contains(at))).collect()
    }
}

/// The new lines as they fit the place; `None` where that is not sure.
fn put(lines: &[&str], there: &[&str], wanted: &Wanted<'_>) -> Option<Vec<String>> {
    let pairs = there.iter().copied().zip(wanted.old.iter().copied()).collect();
    let fitting = Fitting::of(lines, pairs, &wanted.new)?;
    let new = wanted.new.iter().zip(wanted.partners());
    new.map(|(line, partner)| fitting.line(line, partner)).collect()
}

/// A hunk of a patch that fits but for what is hard to see: where, and the lines that come as they fit.
pub(crate) struct FitHunk {
    pub(crate) at: usize,
    pub(crate) comes: Vec<String>,
}

/// Looks for a hunk's old lines among `lines` from a line on. `partners` names for each line that comes the old line that it takes the
/// place of, where that can be told. `None` where no place, several, or no sure reading is found.
pub(crate) fn fit_hunk(
    lines: &[&str],
    from: usize,
    old: &[&str],
    comes: &[&str],
    partners: &[Option<usize>],
) -> Option<FitHunk> {
    let rest = lines.get(from..)?;
    let (mut old, mut comes) = (old.to_vec(), comes.to_vec());
    let mut places = places(rest, &old);
    if places.is_empty() {
        (old, comes) = unnumbered(&old, &comes)?;
        places = self::places(rest, &old);
    }
    let [at] = places.as_slice() else { return None };
    let there = rest.get(*at..at + old.len())?;
    let fitting = Fitting::of(lines, there.iter().copied().zip(old.iter().copied()).collect(), &comes)?;
    let comes = comes.iter().zip(partners).map(|(line, partner)| fitting.line(line, *partner));
    Some(FitHunk { at: from + at, comes: comes.collect::<Option<_>>()? })
}

/// Where lines stand but for what is hard to see. Nothing is found by blank lines alone.
fn places(lines: &[&str], wanted: &[&str]) -> Vec<usize> {
    let wanted: Vec<String> = wanted.iter().map(|line| nearest::loose(line)).collect();
    if wanted.iter().all(String::is_empty) || lines.len() > MAX_LINES {
        return Vec::new();
    }
    let lines: Vec<String> = lines.iter().map(|line| nearest::loose(line)).collect();
    lines
        .windows(wanted.len())
        .enumerate()
        .filter(|(_, window)| *window == wanted)
        .map(|(at, _)| at)
        .collect()
}

#[cfg(test)]
mod tests;
