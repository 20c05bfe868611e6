//! What may be completed at the caret: a slash command and what it takes, a file after `@`, a skill after `$`. Pure; files, skills and
//! models come from outside.

mod values;

use crate::clean::clean_line;
use crate::commands::{COMMANDS, Here, is_ours};
use crate::fuzzy::rank;
use domain::port::Abilities;
use domain::port::menu::{AgentCommand, AgentMenu};
pub(crate) use values::ValueSources;

/// Most things beside files that are offered behind an `@`: files have room below them.
const MAX_MENTIONED: usize = 4;
/// Things offered at most.
const MAX_OFFERED: usize = 50;

/// What is being completed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A command.
    Slash,
    /// A word behind a command.
    Argument,
    File,
    Skill,
}

/// One thing that fits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Candidate {
    /// What it is called.
    pub(crate) label: String,
    /// What it is or does, in a few words.
    pub(crate) detail: String,
    /// What is put in place.
    pub(crate) insert: String,
}

/// The list below the caret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Completion {
    /// What is being completed.
    pub(crate) kind: Kind,
    /// Where the word begins, with its sign.
    pub(crate) from: usize,
    /// The word without its sign.
    pub(crate) query: String,
    /// What fits, best first.
    pub(crate) offers: Vec<Candidate>,
    /// The one under the cursor.
    pub(crate) cursor: usize,
    /// The person has closed it: what is found later opens it no more.
    pub(crate) closed: bool,
}

/// The word at the end of `before` that can be completed: its kind, where it begins, the word without its sign.
pub(crate) fn word(before: &str) -> Option<(Kind, usize, &str)> {
    // A second slash is for commands of the agent's own.
    if let Some(name) = before.strip_prefix("//").or_else(|| before.strip_prefix('/'))
        && !name.contains(char::is_whitespace)
        && !name.contains('/')
    {
        return Some((Kind::Slash, 0, name));
    }
    let from = before
        .rfind(char::is_whitespace)
        .map_or(0, |at| at + before[at..].chars().next().map_or(1, char::len_utf8));
    let word = &before[from..];
    if values::of(&before[..from]).is_some() {
        return Some((Kind::Argument, from, word));
    }
    let file = word.strip_prefix('@').map(|query| (Kind::File, from, query));
    // A lone `$` or a variable in a shell line is no skill: its name begins with a small letter.
    let skill =
        word.strip_prefix('$').filter(|query| query.chars().all(|c| c.is_ascii_lowercase() || c == '-'));
    file.or(skill.map(|query| (Kind::Skill, from, query)))
}

/// The commands that fit, as a list.
pub(crate) fn slashes(from: usize, query: &str, abilities: &Abilities, here: Here) -> Completion {
    let able: Vec<_> = COMMANDS.iter().filter(|command| command.is_offered(abilities, here)).collect();
    let theirs = &abilities.menu.commands;
    let names =
        able.iter().map(|command| command.name).chain(theirs.iter().map(|command| command.name.as_str()));
    let names: Vec<&str> = names.collect();
    let offers = rank(query, &names).into_iter().map(|at| match able.get(at) {
        Some(command) => Candidate {
            label: format!("/{} {}", command.name, command.takes).trim_end().to_owned(),
            detail: command.help.to_owned(),
            insert: format!("/{}{}", command.name, if command.waits() { " " } else { "" }),
        },
        None => agent_command(&theirs[at - able.len()], abilities, here),
    });
    Completion {
        kind: Kind::Slash,
        from,
        query: query.to_owned(),
        offers: offers.take(MAX_OFFERED).collect(),
        cursor: 0,
        closed: false,
    }
}

/// A command of the agent's own, under its name; one that is called like ours has a slash more.
pub(crate) fn agent_command(command: &AgentCommand, abilities: &Abilities, here: Here) -> Candidate {
    let slash = if is_ours(&command.name, abilities, here) { "//" } else { "/" };
    let (name, hint) = (clean_line(&command.name), clean_line(command.hint.as_deref().unwrap_or_default()));
    Candidate {
        label: format!("{slash}{name} {hint}").trim_end().to_owned(),
        detail: format!("{}: {}", clean_line(&abilities.name), clean_line(&command.about)),
        insert: format!("{slash}{name}{}", if hint.is_empty() { "" } else { " " }),
    }
}

/// What fits behind a command, as a list: `before` is the line up to the word.
pub(crate) fn arguments(before: &str, query: &str, known: &ValueSources<'_>) -> Completion {
    let values = values::of(before).map(|values| values.list(known)).unwrap_or_default();
    let names: Vec<&str> = values.iter().map(|(name, _)| name.as_str()).collect();
    let offer = |at: usize| {
        let (name, about) = values[at].clone();
        Candidate { label: name.clone(), detail: about, insert: name }
    };
    let offers = rank(query, &names).into_iter().take(MAX_OFFERED).map(offer).collect();
    Completion {
        kind: Kind::Argument,
        from: before.len(),
        query: query.to_owned(),
        offers,
        cursor: 0,
        closed: false,
    }
}

/// Whether models are wanted behind what stands before the word.
pub(crate) fn wants_models(before: &str) -> bool {
    values::of(before).is_some_and(|values| values.are_models())
}

/// Files that fit, as a list; they come ranked.
pub(crate) fn files(from: usize, query: &str, paths: Vec<String>) -> Completion {
    let offers = paths.into_iter().take(MAX_OFFERED).map(|path| {
        let path = clean_line(&path);
        let spaced = path.contains(' ');
        let insert = if spaced { format!("@\"{path}\" ") } else { format!("@{path} ") };
        Candidate { label: path, detail: String::new(), insert }
    });
    Completion {
        kind: Kind::File,
        from,
        query: query.to_owned(),
        offers: offers.collect(),
        cursor: 0,
        closed: false,
    }
}

/// What fits behind an `@`: what the agent says can be named, as far as it fits, then files.
pub(crate) fn with_mentions(query: &str, menu: &AgentMenu, files: Vec<String>) -> Vec<String> {
    let names: Vec<&str> = menu.mentions.iter().map(|one| one.name.as_str()).collect();
    let fits = rank(query, &names).into_iter().take(MAX_MENTIONED).map(|at| names[at].to_owned());
    fits.chain(files).collect()
}

/// Skills that fit, as a list.
pub(crate) fn skills(from: usize, query: &str, known: &[(String, String)]) -> Completion {
    let names: Vec<&str> = known.iter().map(|(name, _)| name.as_str()).collect();
    let offers = rank(query, &names).into_iter().map(|at| Candidate {
        label: format!("${}", known[at].0),
        detail: known[at].1.clone(),
        insert: format!("${} ", known[at].0),
    });
    Completion {
        kind: Kind::Skill,
        from,
        query: query.to_owned(),
        offers: offers.take(MAX_OFFERED).collect(),
        cursor: 0,
        closed: false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::Restart;

    #[test]
    fn the_word_at_the_caret_decides() {
        for (text, expected) in [
            ("/mo", Some((Kind::Slash, 0, "mo"))),
            ("/model x", Some((Kind::Argument, 7, "x"))),
            ("/theme ", Some((Kind::Argument, 7, ""))),
            ("/theme dark ", None),
            ("/queue steer o", Some((Kind::Argument, 13, "o"))),
            ("/rename x", None),
            ("/compact see @src", Some((Kind::File, 13, "src"))),
            ("say /theme ", None),
            ("see @src/l", Some((Kind::File, 4, "src/l"))),
            ("mail a@b", None),
            ("use $rev", Some((Kind::Skill, 4, "rev"))),
            ("echo $PATH", None),
            ("日本 @x", Some((Kind::File, 7, "x"))),
            ("", None),
        ] {
            assert_eq!(word(text), expected, "{text}");
        }
    }

    #[test]
    fn what_can_be_named_beside_files_comes_first_and_leaves_room_for_them() {
        let mention =
            |at: usize| AgentCommand { name: format!("srv:note://{at}"), ..AgentCommand::default() };
        let menu = AgentMenu { mentions: (0..20).map(mention).collect(), ..AgentMenu::default() };
        let files = vec!["src/note.rs".to_owned()];
        let offered = with_mentions("note", &menu, files.clone());
        assert_eq!((offered.len(), offered.last()), (MAX_MENTIONED + 1, files.last()));
        assert_eq!(with_mentions("zebra", &menu, files.clone()), files);
    }

    #[test]
    fn what_the_runtime_cannot_do_is_not_offered() {
        let none = Abilities::default();
        assert!(slashes(0, "sess", &none, Here::default()).offers.is_empty());
        assert_eq!(slashes(0, "sess", &Abilities::all("x"), Here::default()).offers[0].insert, "/sessions");
        let restarts = |restart| {
            let here = Here { restart, ..Here::default() };
            slashes(0, "restart", &none, here).offers.iter().any(|offer| offer.insert == "/restart")
        };
        assert!(restarts(Restart::Start) && restarts(Restart::Connect) && !restarts(Restart::None));
        let leaves = |exits| {
            let here = Here { exits, ..Here::default() };
            ["/login", "/agents"].map(|name| {
                slashes(0, &name[1..], &none, here).offers.iter().any(|o| o.insert.trim_end() == name)
            })
        };
        assert_eq!((leaves(true), leaves(false)), ([true; 2], [false; 2]));
    }
}
