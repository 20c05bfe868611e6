//! What a model probably meant when its text does not stand in the file: the lines that are most like it, and how they differ. Shown,
//! never taken: what may be taken is for [`crate::loose`] to say.

use std::collections::BTreeSet;
use std::fmt::Write as _;

/// Lines of the wanted text that are looked for.
const MAX_WANTED: usize = 60;
/// Comparisons of two lines that one search makes.
const MAX_COMPARED: usize = 2_000_000;
/// Lines that are shown, and characters of each.
const MAX_SHOWN: usize = 30;
const MAX_LINE: usize = 300;
/// The share of words, in percent, that a line must have of another to be like it.
const ALIKE: usize = 60;

/// Shows the place that is most like `old`, with its lines exactly as they are; `None` where nothing is.
pub(crate) fn nearest(text: &str, old: &str) -> Option<String> {
    let lines: Vec<&str> = text.lines().collect();
    let wanted: Vec<&str> = old.lines().take(MAX_WANTED).collect();
    let at = by_lines(&lines, &wanted).or_else(|| by_words(&lines, &wanted))?;
    let found = lines.get(at..lines.len().min(at + wanted.len()))?;
    let differs =
        difference(found, &wanted).map(|what| format!(" (it differs in {what})")).unwrap_or_default();
    let mut shown = format!("the nearest is at line {}{differs}, exactly so:", at + 1);
    for line in found.iter().take(MAX_SHOWN) {
        let short: String = line.chars().take(MAX_LINE).collect();
        let cut = if short.len() < line.len() { "…" } else { "" };
        let _ = write!(shown, "\n{short}{cut}");
    }
    if found.len() > MAX_SHOWN {
        let _ = write!(shown, "\n(and {} lines more)", found.len() - MAX_SHOWN);
    }
    Some(shown)
}

/// Where most lines are the same but for blanks and quotes.
fn by_lines(lines: &[&str], wanted: &[&str]) -> Option<usize> {
    if lines.len().saturating_mul(wanted.len()) > MAX_COMPARED {
        return None;
    }
    let lines: Vec<String> = lines.iter().map(|line| loose(line)).collect();
    let wanted: Vec<String> = wanted.iter().map(|line| loose(line)).collect();
    let score = |at: usize| {
        let pairs = lines.iter().skip(at).zip(&wanted);
        pairs.filter(|(line, wanted)| !line.is_empty() && line == wanted).count()
    };
    best((0..lines.len()).map(score))
}

/// Where the first line of weight shares most of its words.
fn by_words(lines: &[&str], wanted: &[&str]) -> Option<usize> {
    let heavy = wanted.iter().map(|line| words(line)).enumerate().max_by_key(|(at, words)| {
        // Of two that weigh the same the first.
        (words.len(), usize::MAX - at)
    });
    let (offset, wanted) = heavy.filter(|(_, words)| !words.is_empty())?;
    let score = |line: &&str| {
        let found = words(line);
        let share = found.intersection(&wanted).count() * 100 / found.len().max(wanted.len()).max(1);
        if share >= ALIKE { share } else { 0 }
    };
    best(lines.iter().take(MAX_COMPARED).map(score)).map(|at| at.saturating_sub(offset))
}

/// The first of the highest scores, if one is above zero.
fn best(scores: impl Iterator<Item = usize>) -> Option<usize> {
    let best = scores.enumerate().max_by_key(|(at, score)| (*score, usize::MAX - at));
    best.filter(|(_, score)| *score > 0).map(|(at, _)| at)
}

fn words(line: &str) -> BTreeSet<&str> {
    line.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty()).collect()
}

/// A line without what is hard to see.
pub(crate) fn loose(line: &str) -> String {
    straight(line).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Curved quotes, long dashes and odd blanks as a keyboard has them.
pub(crate) fn straight(line: &str) -> String {
    let plain = |c: char| match c {
        '‘' | '’' | '‚' | '‛' => '\'',
        '“' | '”' | '„' | '‟' => '"',
        '–' | '—' | '−' => '-',
        '\u{a0}' | '\u{202f}' => ' ',
        other => other,
    };
    line.chars().map(plain).collect()
}

/// How the lines differ, where it is something that is hard to see.
pub(crate) fn difference(found: &[&str], wanted: &[&str]) -> Option<&'static str> {
    let all = |alike: &dyn Fn(&str, &str) -> bool| {
        found.len() == wanted.len() && found.iter().zip(wanted).all(|(a, b)| alike(a, b))
    };
    if all(&|a, b| a.trim_end() == b.trim_end()) {
        Some("blanks at the ends of lines")
    } else if all(&|a, b| straight(a) == straight(b)) {
        Some("quotes, dashes or unusual blanks")
    } else if all(&|a, b| a.trim() == b.trim()) {
        Some("tabs or blanks at the beginnings of lines")
    } else if all(&|a, b| loose(a) == loose(b)) {
        Some("blanks, tabs or quotes")
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str =
        "fn one() {\n\tlet a = 1;  \n\tprint(“a”);\n}\n\nfn two(count: usize) -> String {\n    count\n}\n";

    #[test]
    fn what_is_hard_to_see_is_named_and_shown_as_it_is() {
        let told = |old: &str| nearest(FILE, old).unwrap_or_default();
        let at = "the nearest is at line 2 (it differs in";
        assert_eq!(
            told("\tlet a = 1;"),
            format!("{at} blanks at the ends of lines), exactly so:\n\tlet a = 1;  ")
        );
        assert!(told("    let a = 1;  ").starts_with(&format!("{at} tabs or blanks at the beginnings")));
        assert!(told("\tprint(\"a\");").contains("line 3 (it differs in quotes"));
        assert!(told("    print(\"a\");").contains("line 3 (it differs in blanks, tabs or quotes)"));
    }

    #[test]
    fn what_is_only_alike_is_shown_and_what_is_not_is_left_out() {
        let told = nearest(FILE, "\n\nfn two(count: u32) -> String {\n    other()\n}").unwrap();
        assert!(
            told.starts_with("the nearest is at line 4, exactly so:\n}\n\nfn two(count: usize)"),
            "{told}"
        );
        assert_eq!(nearest(FILE, "struct Nothing;"), None);
        assert_eq!(nearest("", "x"), None);
        assert_eq!(nearest("x", "\n\n"), None);
    }

    #[test]
    fn a_long_place_is_cut_and_a_huge_file_is_no_trouble() {
        let many: String = (0..50).map(|n| format!("line {n}\n")).collect();
        assert!(nearest(&many, &many.replace("line", " line")).unwrap().ends_with("(and 20 lines more)"));
        let huge = "x\n".repeat(400_000);
        assert_eq!(nearest(&huge, &"some words\n".repeat(60)), None);
    }
}
