//! One place of a file beside what a model wrote for it, line by line, and what a new line becomes there. Pure.
//!
//! What always holds: a line that the model repeats is the file's line, byte by byte; where two lines of the file could be meant, or two
//! indentations, there is no answer.

use super::indent::{IndentRule, Style, split};
use crate::nearest::straight;
use std::collections::{BTreeMap, BTreeSet};

/// The lines of a place with those that a model wrote for them.
pub(super) struct Fitting<'a> {
    /// Of the file, and as the model wrote it.
    pairs: Vec<(&'a str, &'a str)>,
    /// The file's indentation for each that the model wrote.
    indents: BTreeMap<&'a str, &'a str>,
    rules: Vec<IndentRule<'a>>,
    style: Style,
    /// Quotes and dashes, as a keyboard has them, that the model wrote otherwise than the file.
    turned: BTreeSet<char>,
    /// The lines to come.
    new: Vec<&'a str>,
    /// A line that goes or changes holds blanks or quotes that the model wrote otherwise: what comes in its place may hold them too.
    loses: bool,
}

impl<'a> Fitting<'a> {
    /// `None` where the same indentation of the model would be two of the file. `new` are the lines to come: they too tell what the model
    /// means by its blanks.
    pub(super) fn of(lines: &[&str], pairs: Vec<(&'a str, &'a str)>, new: &[&'a str]) -> Option<Fitting<'a>> {
        let style = Style::of(lines);
        let mut indents = BTreeMap::new();
        for (file, wrote) in pairs.iter().filter(|(file, _)| !file.trim().is_empty()) {
            let (file, wrote) = (split(file).0, split(wrote).0);
            if indents.insert(wrote, file).is_some_and(|before| before != file) {
                return None;
            }
        }
        let known: Vec<(&str, &str)> = indents.iter().map(|(wrote, file)| (*file, *wrote)).collect();
        let mut rules = IndentRule::all(&known);
        for line in new.iter().filter(|line| !line.trim().is_empty()) {
            let indent = split(line).0;
            if !indents.contains_key(indent) {
                rules.retain(|rule| rule.lead(indent, style).is_some());
            }
        }
        let turned = pairs.iter().flat_map(|(file, wrote)| turned(file, wrote)).collect();
        let lost = |(file, wrote): &(&str, &str)| file.trim() != wrote.trim() && !new.contains(wrote);
        let loses = pairs.iter().any(lost);
        Some(Fitting { pairs, indents, rules, style, turned, new: new.to_vec(), loses })
    }

    /// What a new line is in the file. `partner` is the old line that it takes the place of.
    pub(super) fn line(&self, new: &str, partner: Option<usize>) -> Option<String> {
        let same: Vec<&str> =
            self.pairs.iter().filter(|(_, wrote)| *wrote == new).map(|(file, _)| *file).collect();
        if let Some(file) = same.first() {
            // One more than there were is a line of the model's own: it is the same only where nothing but the indentation differs.
            let repeats = self.new.iter().filter(|line| **line == new).count() <= same.len();
            let plain = split(file).1 == split(new).1;
            return (same.iter().all(|other| other == file) && (repeats || plain))
                .then(|| (*file).to_owned());
        }
        if new.trim().is_empty() {
            return Some(new.to_owned());
        }
        // Blanks at its end: meant, or as little as those that did not fit?
        if new.trim_end() != new {
            return None;
        }
        let (wrote, body) = split(new);
        Some(format!("{}{}", self.indent(wrote)?, self.body(body, partner)?))
    }

    fn indent(&self, wrote: &str) -> Option<String> {
        if let Some(file) = self.indents.get(wrote) {
            return Some((*file).to_owned());
        }
        let mut led = self.rules.iter().filter_map(|rule| rule.lead(wrote, self.style));
        let first = led.next()?;
        led.all(|other| other == first).then_some(first)
    }

    /// The line without its indentation. What it repeats of the line that it takes the place of is written as the file has it.
    fn body(&self, new: &str, partner: Option<usize>) -> Option<String> {
        let partner = partner.and_then(|at| self.pairs.get(at));
        let partner =
            partner.map(|(file, wrote)| (file.trim(), wrote.trim())).filter(|(file, wrote)| file != wrote);
        let repeated = partner.and_then(|(file, wrote)| repeated(file, wrote, new));
        match repeated {
            Some((line, middle)) => self.is_sure(&middle).then_some(line),
            // One word has no blanks that could be meant otherwise.
            None => {
                let settled = partner.is_none() && !self.loses || !new.contains(char::is_whitespace);
                (settled && self.is_sure(new)).then(|| new.to_owned())
            }
        }
    }

    /// Whether a text holds nothing that the model may have written otherwise than the file would have it.
    fn is_sure(&self, text: &str) -> bool {
        !straight(text).chars().any(|c| self.turned.contains(&c))
    }
}

/// A new line with what it repeats of an old one as the file has it, and the part of it that is new. `None` where the two have less than
/// half in common, or where what is replaced is written otherwise in the file.
fn repeated(file: &str, wrote: &str, new: &str) -> Option<(String, String)> {
    let letters = |text: &str| text.chars().collect::<Vec<char>>();
    let (file, wrote, new) = (letters(file), letters(wrote), letters(new));
    let before = wrote.iter().zip(&new).take_while(|(a, b)| a == b).count();
    let rest = wrote.len().min(new.len()) - before;
    let after = wrote.iter().rev().zip(new.iter().rev()).take(rest).take_while(|(a, b)| a == b).count();
    if (before + after) * 2 < wrote.len().max(new.len()) {
        return None;
    }
    let steps = steps(&file, &wrote);
    let (head, from) = (0..=before).rev().find_map(|at| Some((at, (*steps.get(at)?)?)))?;
    let (tail, to) = (wrote.len() - after..=wrote.len()).find_map(|at| Some((at, (*steps.get(at)?)?)))?;
    if file.get(from..to) != wrote.get(head..tail) {
        return None;
    }
    let middle: String = new.get(head..new.len() - (wrote.len() - tail))?.iter().collect();
    let (head, tail): (String, String) =
        (file.get(..from)?.iter().collect(), file.get(to..)?.iter().collect());
    Some((format!("{head}{middle}{tail}"), middle))
}

/// For each place between two letters of what the model wrote the same place in the file's line; `None` in the middle of blanks that are
/// others there.
fn steps(file: &[char], wrote: &[char]) -> Vec<Option<usize>> {
    let run = |line: &[char], at: usize| line.iter().skip(at).take_while(|c| c.is_whitespace()).count();
    let (mut steps, mut here, mut there) = (vec![Some(0)], 0, 0);
    while here < wrote.len() {
        let (mine, theirs) = (run(wrote, here), run(file, there));
        if mine == 0 || theirs == 0 {
            (here, there) = (here + 1, there + 1);
            steps.push(Some(there));
            continue;
        }
        steps.extend(std::iter::repeat_n(None, mine - 1));
        (here, there) = (here + mine, there + theirs);
        steps.push(Some(there));
    }
    steps
}

/// The quotes and dashes that two lines write differently.
fn turned(file: &str, wrote: &str) -> Vec<char> {
    let bare = |line: &str| line.chars().filter(|c| !c.is_whitespace()).collect::<Vec<char>>();
    let (file, wrote) = (bare(file), bare(wrote));
    let straight = |c: char| straight(c.encode_utf8(&mut [0; 4])).chars().next().unwrap_or(c);
    file.iter().zip(&wrote).filter(|(a, b)| a != b).map(|(a, _)| straight(*a)).collect()
}

/// Old and new lines without the line numbers that were copied along with them. `None` where they have none, or some have and some have
/// not: the numbers could be the text's own.
pub(crate) fn unnumbered<'a>(old: &[&'a str], new: &[&'a str]) -> Option<(Vec<&'a str>, Vec<&'a str>)> {
    let (mut bare, mut next) = (Vec::new(), None);
    for line in old {
        let number = match numbered(line).or_else(|| trimmed(line)) {
            Some((number, text)) => {
                bare.push(text);
                number
            }
            None if line.trim().is_empty() => {
                bare.push(*line);
                next?
            }
            None => return None,
        };
        if next.is_some_and(|next| next != number) {
            return None;
        }
        next = Some(number.checked_add(1)?);
    }
    let count = new.iter().filter(|line| numbered(line).is_some()).count();
    let blank = new.iter().filter(|line| line.trim().is_empty()).count();
    match count {
        0 => Some((bare, new.to_vec())),
        _ if count + blank == new.len() => {
            Some((bare, new.iter().map(|line| numbered(line).map_or(*line, |(_, text)| text)).collect()))
        }
        _ => None,
    }
}

/// A line number as pages show it, and the text after it.
fn numbered(line: &str) -> Option<(u64, &str)> {
    let line = line.trim_start_matches(' ');
    let end = line.find(|c: char| !c.is_ascii_digit())?;
    let (digits, rest) = line.split_at_checked(end)?;
    let text = ["\t", "→", "| ", "|"].iter().find_map(|mark| rest.strip_prefix(mark))?;
    Some((digits.parse().ok()?, text))
}

/// The number of a blank line whose mark was trimmed away.
fn trimmed(line: &str) -> Option<(u64, &str)> {
    Some((line.trim().parse().ok()?, ""))
}
