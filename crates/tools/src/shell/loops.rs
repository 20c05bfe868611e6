//! What a command in the body of a loop is each time: its variable replaced by what the loop goes over.
//!
//! Only where that is sure: the line sets the variable nowhere else, and the command's word is the variable alone.

use super::Word;
use super::unwrap::Bare;

/// Commands that one may become.
const MAX_TIMES: usize = 32;

/// The commands that `bare` becomes; `None` when its loops do not tell, or when it has nothing of theirs.
pub(super) fn each_time(bare: &Bare, all: &[Bare]) -> Option<Vec<Bare>> {
    let mut times = vec![bare.clone()];
    let mut replaced = false;
    for (name, list) in &bare.simple.inside {
        if !is_set_once(name, all) {
            continue;
        }
        if !words(bare).any(|word| is_variable(word, name)) {
            continue;
        }
        if times.len() * list.len() > MAX_TIMES {
            return None;
        }
        replaced = true;
        times = times.iter().flat_map(|bare| list.iter().map(move |item| (bare, item))).try_fold(
            Vec::new(),
            |mut times, (bare, item)| {
                times.push(replace(bare, name, item)?);
                Some(times)
            },
        )?;
    }
    replaced.then_some(times)
}

fn words(bare: &Bare) -> impl Iterator<Item = &Word> {
    let assigned = bare.simple.assigns.iter().map(|(_, value)| value);
    bare.simple.words.iter().chain(&bare.simple.reads).chain(&bare.simple.writes).chain(assigned)
}

/// Whether one loop sets the variable, and nothing else in the line.
fn is_set_once(name: &str, all: &[Bare]) -> bool {
    let assigned = |bare: &Bare| bare.simple.assigns.iter().any(|(other, _)| other == name);
    let loops = all.iter().filter(|bare| matches!(&bare.simple.looped, Some((other, _)) if other == name));
    loops.count() == 1 && !all.iter().any(assigned)
}

/// Whether a word is the variable and nothing else.
fn is_variable(word: &Word, name: &str) -> bool {
    let raw = word.raw.as_str();
    let bare = raw.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(raw);
    let braced = |rest: &str| rest.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')) == Some(name);
    bare.strip_prefix('$').is_some_and(|rest| rest == name || braced(rest))
}

fn replace(bare: &Bare, name: &str, item: &Word) -> Option<Bare> {
    let mut bare = bare.clone();
    let simple = &mut bare.simple;
    for word in simple.words.iter_mut().chain(&mut simple.reads) {
        if is_variable(word, name) {
            // Without quotes the shell takes it apart once more, and looks for files again.
            let quoted = word.raw.starts_with('"');
            if !quoted && !is_one_plain_word(item) {
                return None;
            }
            *word = item.clone();
        }
    }
    Some(bare)
}

fn is_one_plain_word(item: &Word) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-./".contains(c);
    // An empty one vanishes.
    !item.glob && item.text.as_deref().is_some_and(|text| !text.is_empty() && text.chars().all(plain))
}
