//! Wrong lines, and the whole right line that each is answered with.

use super::*;

/// The words of a line, as a shell would take it apart.
fn words_of(line: &str) -> Vec<OsString> {
    let mut words = vec![OsString::from("parlor")];
    for (at, piece) in line.split('\'').enumerate() {
        if at % 2 == 1 {
            words.push(piece.into());
        } else {
            words.extend(piece.split_whitespace().map(OsString::from));
        }
    }
    words
}

fn line(typed: &str) -> Option<String> {
    meant_line(&words_of(typed))
}

/// What is typed behind `parlor`, and what is meant.
const MEANT: &[(&str, &str)] = &[
    ("exec 'fix the test'", "parlor run \"fix the test\""),
    ("exec hi", "parlor run hi"),
    ("exec --full-auto 'fix it'", "parlor run --policy sandboxed \"fix it\""),
    ("exec -o out.txt 'sum it up'", "parlor run \"sum it up\" > out.txt"),
    ("ask what is this", "parlor run what is this"),
    ("--prompt 'list files'", "parlor run \"list files\""),
    ("--prompt=hi", "parlor run hi"),
    ("run --prompt hi", "parlor run hi"),
    ("chat 'fix it please'", "parlor \"fix it please\""),
    ("-i 'fix it'", "parlor \"fix it\""),
    ("resume 3f2a", "parlor --resume 3f2a"),
    ("resume --last", "parlor --continue"),
    ("sessions resume 3f2a", "parlor --resume 3f2a"),
    ("--session 3f2a 'go on'", "parlor --resume 3f2a \"go on\""),
    ("continue 'do more'", "parlor --continue \"do more\""),
    ("auth login openai", "parlor login openai"),
    ("auth status", "parlor doctor"),
    ("signout openai", "parlor logout openai"),
    ("--yolo 'fix it'", "parlor --policy full \"fix it\""),
    ("run --yes hi", "parlor run --policy sandboxed hi"),
    ("--permission-mode plan 'look at it'", "parlor --policy plan \"look at it\""),
    ("--approval-mode=yolo 'fix it'", "parlor --policy=full \"fix it\""),
    ("--sandbox workspace-write", "parlor --policy sandboxed"),
    ("run --policy acceptEdits hi", "parlor run --policy auto-edit hi"),
    ("run --quiet hi", "parlor run hi"),
    ("-p hi --output-format json", "parlor -p hi --json"),
    ("-p hi --max-turns 3 --verbose", "parlor -p hi --max-steps 3"),
    ("-p hi --allowedTools bash,write", "parlor -p hi --allow bash,write"),
    ("--json 'list files'", "parlor run --json \"list files\""),
    ("--no-session 'list files'", "parlor --ephemeral \"list files\""),
    ("-C src 'list files'", "parlor --cwd src \"list files\""),
    ("run --temperature 0 hi", "parlor run hi"),
    ("run --thinking high hi", "parlor run --effort high hi"),
    ("run --effort hihg hi", "parlor run --effort high hi"),
    ("run -f notes.md hi", "parlor run --file notes.md hi"),
    ("run --json=true hi", "parlor run --json hi"),
    ("fix the failing test", "parlor \"fix the failing test\""),
    ("--model offline what is here", "parlor --model offline \"what is here\""),
    ("--model offline acp", "parlor acp --model offline"),
    ("status of the build please", "parlor \"status of the build please\""),
    ("sesions list", "parlor sessions list"),
    ("sessions dlete 3f2a", "parlor sessions delete 3f2a"),
    ("mcp lst", "parlor mcp list"),
    ("mcp add foo npx server", "parlor mcp add foo -- npx server"),
    ("mcp add wiki https://example.org/mcp", "parlor mcp add wiki --url https://example.org/mcp"),
    (
        "mcp add --transport http wiki https://example.org/mcp",
        "parlor mcp add wiki --url https://example.org/mcp",
    ),
    ("mcp install foo -- npx server", "parlor mcp add foo -- npx server"),
    ("attach codelia -- python3 agent.py", "parlor attach --dialect codelia -- python3 agent.py"),
    ("attach goose 'fix it'", "parlor attach goose --prompt \"fix it\""),
    ("--agent goose", "parlor attach goose"),
    ("models list", "parlor models"),
    ("models --list", "parlor models"),
    ("ps --wacth", "parlor ps --watch"),
    ("up --daemon", "parlor up"),
    ("daemon stop", "parlor down"),
    ("doctor --fix", "parlor doctor"),
    ("undo", "parlor sessions undo"),
    ("diff 3f2a", "parlor sessions diff 3f2a"),
    ("export 3f2a -o talk.md", "parlor sessions export 3f2a -o talk.md"),
    ("completion zsh", "parlor completions zsh"),
    ("version", "parlor --version"),
    ("docs", "parlor help topics"),
    ("--whatever 'list files' --modle offline", ""),
    ("login --yes openai", ""),
    ("--api-key sk-1 'list files'", ""),
    ("config set theme dark", "parlor \"config set theme dark\""),
    ("config set theme", ""),
    ("plugin install x", ""),
    ("frobnicate", ""),
    ("run --model offline hi", ""),
    ("run --timeout soon hi", ""),
    ("sessions frobnicate", ""),
];

#[test]
fn a_wrong_line_is_answered_with_the_whole_right_one() {
    let said = |typed: &str| line(typed).unwrap_or_default();
    let wrong: Vec<String> = MEANT
        .iter()
        .filter(|(typed, meant)| said(typed) != *meant)
        .map(|(typed, meant)| format!("parlor {typed}\n  told  {}\n  meant {meant}", said(typed)))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(MEANT.iter().filter(|(_, meant)| !meant.is_empty()).count() >= 40);
}

#[test]
fn what_is_told_is_taken_by_the_program() {
    for (_, meant) in MEANT.iter().filter(|(_, meant)| !meant.is_empty()) {
        let typed = meant.split(" > ").next().unwrap_or_default().replace('"', "'");
        let words: Vec<String> = words_of(typed.trim_start_matches("parlor "))[1..]
            .iter()
            .map(|word| word.to_string_lossy().into_owned())
            .collect();
        assert!(read(&words).is_ok(), "{meant}");
    }
}

#[test]
fn words_of_the_tables_are_habits_and_what_they_stand_for_is_ours() {
    let cli = Cli::command();
    let run = cli.find_subcommand("run").unwrap();
    let served: Vec<&str> = argv_compat::words_in_help().map(|(word, _)| word).collect();
    let known = |word: &str| {
        let flag = word.strip_prefix("--");
        let long = |of: &Command| of.get_arguments().any(|arg| arg.get_long() == flag);
        let is_flag = flag.is_some_and(|flag| flag == "version" || long(&cli) || long(run));
        is_flag || cli.find_subcommand(word).is_some() || served.contains(&word) || word == "help"
    };
    for (words, right) in RIGHT {
        for word in *words {
            assert!(meant(word).is_some(), "{word} is in no habit");
        }
        if let Right::Is(new) = right {
            assert!(known(new[0]), "{new:?}");
        }
    }
    for new in PAIRS.iter().map(|(.., new)| new) {
        assert!(known(new[0]), "{new:?}");
    }
    for (name, known, new) in BELOW {
        let of = cli.find_subcommand(name).unwrap();
        assert!(known.iter().all(|word| of.find_subcommand(word).is_none()), "{name}: {known:?}");
        assert!(new[0].starts_with('-') || new.len() == 2 && of.find_subcommand(new[1]).is_some(), "{new:?}");
    }
}

#[test]
fn a_word_is_told_as_a_shell_reads_it() {
    for (word, told) in [
        ("hi", "hi"),
        ("", "\"\""),
        ("fix it", "\"fix it\""),
        ("what is $HOME", "'what is $HOME'"),
        ("it's `ls`", r"'it'\''s `ls`'"),
        ("--model=ollama/x", "--model=ollama/x"),
        ("*", "\"*\""),
    ] {
        assert_eq!(in_shell(word), told);
    }
    assert_eq!(line("exec 'two\nlines'"), None);
    assert_eq!(line("exec 'a\u{1b}[2Jb'"), None);
}

#[test]
fn a_guess_gives_way_to_the_whole_line() {
    let beside = |answer: &str, typed: &str| beside(answer, &words_of(typed));
    for (answer, typed, told) in [
        (
            "no\n\nhint: a; put a prompt in quotes: parlor \"resume 3f2a\"",
            "resume 3f2a",
            "no\n\nhint: parlor --resume 3f2a\n      a",
        ),
        (
            "no\n\nhint: did you mean `parlor sessions rename`?",
            "sessions resume 3f",
            "no\n\nhint: parlor --resume 3f",
        ),
        (
            "no\n\nhint: did you mean `parlor sessions delete`?",
            "sessions dlete 3f",
            "no\n\nhint: parlor sessions delete 3f\n      did you mean `parlor sessions delete`?",
        ),
        ("no\n\nhint: `parlor models` lists them", "models list", "no\n\nhint: `parlor models` lists them"),
        ("no\n\nhint: nothing", "frobnicate", "no\n\nhint: nothing"),
    ] {
        assert_eq!(beside(answer, typed), told);
    }
}
