//! What is offered at a Tab, for lines as people type them.

use super::*;

/// What is kept, in these tests.
fn kept(path: &[&str], arg: &Arg) -> Vec<Candidate> {
    match (path, arg.get_id().as_str()) {
        (_, "resume") | (["sessions", ..], "id") => {
            vec![Candidate::new("3f2a", "mend the bridge, 2 h ago"), Candidate::new("77c0", "")]
        }
        (_, "model") => vec![Candidate::new("ollama/qwen3:8b", ""), Candidate::new("offline/offline", "")],
        (["run"], "allow") => vec![Candidate::new("bash:network", ""), Candidate::new("write", "")],
        _ => Vec::new(),
    }
}

fn answer_to(line: &str) -> Answer {
    let words = shell_words(line);
    at_cursor(&words.iter().skip(1).map(String::as_str).collect::<Vec<_>>(), kept)
}

fn values(line: &str) -> Vec<String> {
    answer_to(line).found.into_iter().map(|one| one.value).collect()
}

#[test]
fn commands_flags_and_values_are_found_where_they_can_stand() {
    for (line, found) in [
        ("parlor ses", &["sessions"][..]),
        ("parlor sessions ex", &["export"]),
        ("parlor --resume ", &["3f2a", "77c0"]),
        ("parlor -r 3", &["3f2a"]),
        ("parlor --resume=7", &["--resume=77c0"]),
        ("parlor --resume 3f2a9", &["3f2a9"]),
        ("parlor sessions export 3", &["3f2a"]),
        ("parlor run --model off", &["offline/offline"]),
        ("parlor -m oll", &["ollama/qwen3:8b"]),
        ("parlor --policy re", &["read-only"]),
        ("parlor run --policy=re", &["--policy=read-only"]),
        ("parlor run --allow write,ba", &["write,bash:network"]),
        ("parlor run --out", &["--output-schema"]),
        ("parlor sessions export 3f2a --fo", &["--format", "--force"]),
        ("parlor check --role ", &["runtime", "ui"]),
        ("parlor bridge --from nat", &["native"]),
        ("parlor ac", &["acp"]),
        ("parlor acp --log", &["--log-wire"]),
        ("parlor help set", &["settings"]),
        ("parlor help sess", &["sessions", "sessions.md"]),
        ("parlor completions fi", &["fish"]),
        // What a command does not heed is not offered for it.
        ("parlor login --mo", &[]),
        ("parlor run \"say ", &[]),
        ("parlor run -- --mo", &[]),
    ] {
        assert_eq!(values(line), found, "{line}");
    }
}

#[test]
fn a_word_that_is_not_begun_shows_all_that_there_is() {
    let all = values("parlor ");
    assert!(["run", "sessions", "web"].iter().all(|name| all.iter().any(|one| one == name)), "{all:?}");
    assert!(all.iter().all(|one| !one.starts_with("__")), "{all:?}");
    let flags = values("parlor ps ");
    assert!(flags.contains(&"--watch".to_owned()) && !flags.contains(&"--model".to_owned()), "{flags:?}");
}

#[test]
fn files_and_folders_are_left_to_the_shell() {
    for (line, disk) in [
        ("parlor run --file ", Some(Disk::Files)),
        ("parlor run --cwd ", Some(Disk::Folders)),
        ("parlor sessions import ", Some(Disk::Files)),
        ("parlor attach --dialect asst -- ./ag", Some(Disk::Files)),
        ("parlor run --model ", None),
        ("parlor web --tls a ", Some(Disk::Files)),
        ("parlor web --tls a b ", None),
    ] {
        assert_eq!(answer_to(line).disk, disk, "{line}");
    }
}

#[test]
fn bash_gets_what_stands_behind_the_letter_it_breaks_words_at() {
    let lines = |line: &str, only_values| {
        let words = shell_words(line);
        let typed: Vec<&str> = words.iter().skip(1).map(String::as_str).collect();
        let answer = at_cursor(&typed, kept);
        let breaks = "\"'@><=;|&(:";
        answer.found.iter().map(|one| for_bash(&answer, one, &typed, breaks, only_values)).collect::<Vec<_>>()
    };
    assert_eq!(lines("parlor --resume=7", false), ["77c0"]);
    assert_eq!(lines("parlor -m ollama/qwen3:", false), ["8b"]);
    assert_eq!(lines("parlor --resume ", false), ["3f2a  (mend the bridge, 2 h ago)", "77c0"]);
    assert_eq!(lines("parlor --resume ", true), ["3f2a", "77c0"]);
    assert_eq!(lines("parlor --resume 3", false), ["3f2a"]);
}

#[test]
fn what_others_named_reaches_the_terminal_in_one_harmless_line() {
    let one = Candidate::new("3f2a", "two\nlines\u{1b}[2J\tand more");
    assert!(!one.about.contains(['\n', '\t', '\u{1b}']), "{one:?}");
    assert!(Candidate::new("x", &"long ".repeat(100)).about.chars().count() <= MAX_ABOUT);
}

#[test]
fn every_value_that_is_kept_belongs_to_an_argument_that_is_there() {
    fn named(command: &Command, path: &mut Vec<String>, all: &mut Vec<(Vec<String>, String)>) {
        all.extend(command.get_arguments().map(|arg| (path.clone(), arg.get_id().to_string())));
        for sub in command.get_subcommands() {
            path.push(sub.get_name().to_owned());
            named(sub, path, all);
            path.pop();
        }
    }
    let mut all = Vec::new();
    named(&Cli::command(), &mut Vec::new(), &mut all);
    let there = |path: &[&str], id: &str| {
        all.iter().any(|(known, arg)| {
            known.iter().zip(path).all(|(a, b)| a == b) && known.len() >= path.len() && arg == id
        })
    };
    for (path, id) in [
        (&[][..], "resume"),
        (&["serve"], "session"),
        (&["relay"], "session"),
        (&["sessions", "show"], "id"),
        (&["sessions", "rm"], "ids"),
        (&[], "model"),
        (&["attach"], "name"),
        (&["login"], "provider"),
        (&["logout"], "provider"),
        (&["worktrees", "merge"], "name"),
        (&[], "worktree"),
        (&["mcp", "test"], "name"),
        (&["serve"], "dialect"),
        (&["run"], "allow"),
        (&[], "theme"),
    ] {
        assert!(there(path, id), "{path:?} {id}");
    }
    for theme in kept::values(&[], all_args("theme").first().unwrap()) {
        assert!(tui::Settings::default().set("theme", &theme.value).is_ok(), "{theme:?}");
    }
}

fn all_args(id: &str) -> Vec<Arg> {
    Cli::command().get_arguments().filter(|arg| arg.get_id() == id).cloned().collect()
}
