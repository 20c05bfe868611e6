//! What a bash line would really run: every simple command inside it, and how dangerous each is.
//!
//! Not a shell: a careful reader. It understands the plain part of the language and says "cannot tell" (a doubt) to
//! everything odd. It knows nothing of tools: what it must ask about the place is [`Surroundings`]. Invariant: a doubt may be needless, but a line without doubts runs nothing beside what is listed.

mod git;
mod judge;
mod linked_git;
mod lookers;
mod looks;
mod loops;
#[cfg(test)]
#[cfg(target_os = "linux")]
mod oracle;
mod parse;
mod programs;
mod python;
mod reach;
mod small_languages;
mod surroundings;
mod table;
#[cfg(test)]
mod tests;
mod touches;
mod unwrap;

pub(crate) use git::is_harmless_setting;
pub use judge::{Cover, Inner, Judgement, ScriptFile, judge};
pub use linked_git::{LinkedGit, linked_git};
pub(crate) use linked_git::{git_word, small};
pub(crate) use reach::STEERS;
pub use surroundings::Surroundings;
pub use touches::Touched;
pub(crate) use touches::ground;

/// One word of a command.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Word {
    /// What it will be; `None` when only the shell will know.
    pub(crate) text: Option<String>,
    /// As it was written.
    pub(crate) raw: String,
    /// Whether it is a pattern for file names.
    pub(crate) glob: bool,
    /// Whether it starts in someone's home.
    pub(crate) tilde: bool,
    /// What is expanded in it outside of quotes: the shell takes the outcome apart and looks for files that fit it.
    pub(crate) spills: Vec<BareExpansion>,
}

/// An expansion outside of quotes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum BareExpansion {
    /// What the variable holds.
    Variable(String),
    Anything,
}

/// One simple command as it stands in the line, wrappers such as `env` included.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Simple {
    /// `NAME=value` before the command, or alone.
    pub(crate) assigns: Vec<(String, Word)>,
    /// The command and its arguments; empty when there are only assignments or redirections.
    pub(crate) words: Vec<Word>,
    /// Files that are opened for writing.
    pub(crate) writes: Vec<Word>,
    /// Files that are opened for reading.
    pub(crate) reads: Vec<Word>,
    /// The variable that a loop sets, and what it goes over.
    pub(crate) looped: Option<Loop>,
    /// The loops whose body it stands in.
    pub(crate) inside: Vec<Loop>,
}

/// A variable that a loop sets, and what it goes over.
pub(crate) type Loop = (String, Vec<Word>);

/// What was found in a line.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Script {
    /// Every simple command, also those in substitutions.
    pub(crate) commands: Vec<Simple>,
    /// What could not be understood.
    pub(crate) doubts: Vec<String>,
}

/// Words that make a rule.
pub(crate) enum RuleWords {
    /// For commands that start with them.
    First(Vec<String>),
    /// For a command of exactly these: further words could make it another one.
    Exactly(Vec<String>),
}

/// The first words that make a useful rule for this command, and those of others that do no more than it can do already: whoever
/// lets a project's tests run lets it be built. Nothing when only the exact command makes one.
pub(crate) fn rule_words(words: &[String]) -> Vec<RuleWords> {
    let Some(first) = first_words(words) else { return Vec::new() };
    let split = |command: &&str| command.split(' ').map(str::to_owned).collect::<Vec<String>>();
    let family =
        table::FAMILIES.iter().find(|family| family.alike.iter().any(|command| split(command) == first));
    let Some(family) = family else { return vec![RuleWords::First(first)] };
    let first = family.alike.iter().chain(family.less).map(split).map(RuleWords::First);
    first.chain(family.told.iter().map(split).map(RuleWords::Exactly)).collect()
}

fn first_words(words: &[String]) -> Option<Vec<String>> {
    let name = words.first()?.as_str();
    let verb = words.get(1).map(String::as_str).filter(|verb| !verb.starts_with(['-', '+']));
    let count = match (name, verb, words.get(2).map(String::as_str)) {
        ("git", Some("checkout"), Some("-b")) | ("git", Some("switch"), Some("-c")) => Some(3),
        ("git", Some(verb), _) if table::GIT_ROUTINE.contains(&verb) => Some(2),
        ("git", ..) => return None,
        ("python" | "python3", None, Some("pytest")) if words.get(1).is_some_and(|word| word == "-m") => {
            Some(3)
        }
        ("npx", Some(tool), _) if table::NPX_TOOLS.contains(&tool) => Some(2),
        ("make", Some(target), _) if is_plain_name(target) => Some(2),
        _ => None,
    };
    if let Some(count) = count {
        return words.get(..count).map(<[String]>::to_vec).filter(|_| !barred(words));
    }
    let runs_anything = table::RUNNERS.contains(&name)
        || verb.is_some_and(|verb| table::RUNNER_VERBS.contains(&(name, verb)))
        || !table::BUILDS.contains(&name);
    if runs_anything || barred(words) {
        return None;
    }
    if !table::VERBS.contains(&name) {
        return Some(vec![name.to_owned()]);
    }
    // `npm run` alone would cover every script.
    let count = if verb? == "run" && name != "cargo" { 3 } else { 2 };
    words.get(..count).map(<[String]>::to_vec)
}

fn is_plain_name(name: &str) -> bool {
    name.chars().all(|c| c.is_ascii_alphanumeric() || "-_".contains(c))
}

/// A line that is nothing but `rm -rf` of names.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Removed {
    pub(crate) words: Vec<String>,
    /// What is removed, each a name without a path.
    pub(crate) folders: Vec<String>,
}

/// Reads a line that is one `rm -rf` of names which are written out, and nothing else.
pub(crate) fn removed(line: &str) -> Option<Removed> {
    let Script { commands, doubts } = parse::parse(line);
    let [Simple { assigns, words, writes, reads, looped: None, inside }] = commands.as_slice() else {
        return None;
    };
    if !(doubts.is_empty()
        && assigns.is_empty()
        && writes.is_empty()
        && reads.is_empty()
        && inside.is_empty())
    {
        return None;
    }
    let plain = |word: &Word| word.text.clone().filter(|text| !word.glob && !word.tilde && *text == word.raw);
    let words: Vec<String> = words.iter().map(plain).collect::<Option<_>>()?;
    let (rm, rest) = words.split_first()?;
    let is_option =
        |word: &&String| matches!(word.as_str(), "-r" | "-f" | "-R" | "-rf" | "-fr" | "-Rf" | "-fR");
    let options = rest.iter().take_while(is_option).count();
    let is_name = |word: &String| !word.is_empty() && !word.starts_with('-') && !word.contains('/');
    let folders: Vec<String> =
        rest.iter().skip(options).map(|word| word.strip_suffix('/').unwrap_or(word).to_owned()).collect();
    // Whatever a shell would read beside them is no part of such a line.
    let alone = line.split_ascii_whitespace().eq(words.iter().map(String::as_str));
    let fits = alone && rm == "rm" && options > 0 && !folders.is_empty() && folders.iter().all(is_name);
    fits.then_some(Removed { words, folders })
}

pub(crate) use table::barred;
