//! What people type who do not know the program yet, or know another one: each is refused with what to do instead.
//!
//! The first rows are those that a newcomer tried in their first hour, the others habits of users of other agents' programs and slips.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panic")]

use crate::pages::{commands, refused};
use std::collections::BTreeSet;
use std::process::Stdio;
use testkit::in_world;

const PARLOR: &str = env!("CARGO_BIN_EXE_parlor");

/// What is typed, words parted by blanks (`_` is one within a word), and what has to stand in what is answered.
const NEWCOMER: &[(&str, &str)] = &[
    ("run", "hint: parlor run \"list files\""),
    ("run --model nosuch/x hi", "known are offline"),
    ("run --model gpt hi", "`parlor models` lists"),
    ("run --model anthropic/claude-sonnet-4-5 hi", "`parlor login` adds one"),
    ("run --model openai hi", "set OPENAI_API_KEY"),
    ("run --allow wirte hi", "bash, bash:free, bash:network"),
    ("--policy yolo", "[possible values: read-only, plan, ask"),
    ("run --model offline --cwd nowhere hi", "nowhere"),
    ("run --model offline --file nowhere hi", "check the path"),
    ("run --model offline --image nowhere.png hi", "--image"),
    ("serve --dialect klingon --stdio", "codelia"),
    ("attach", "hint"),
    ("attach nosuch", "parlor agents"),
    ("attach --dialect codelia -- nosuchprog", "No such file"),
    ("bridge --ui codelia --runtime nous", "parlor bridge --from codelia --stdio --to asst"),
    ("sessions rm", "for example parlor sessions rm 3f2a"),
    ("sessions rm zzzz", "start one with `parlor`"),
    ("sessions export zzzz", "start one with `parlor`"),
    ("session", "did you mean `parlor sessions`?"),
    ("mcp add", "for example parlor mcp add weather -- uvx"),
    ("login chatgpt", "providers are"),
    ("login", "providers are"),
    ("logout chatgpt", "providers are"),
    ("worktrees merge nosuch", "git init"),
    ("rules revoke 3", "rules"),
    ("attach ssh://nosuch.invalid", "ssh"),
    ("attach --dialect native --socket nowhere.sock", "nowhere.sock"),
    ("replay nowhere.tape -- true", "nowhere.tape"),
    ("web --no-open --bind 0.0.0.0", "--tls"),
    ("run --max-cost free hi", "write dollars, such as 2.50"),
    ("run --model offline --output-schema nowhere.json hi", "nowhere.json"),
    ("check --dialect asst -- true", "parlor check --dialect asst --role runtime --"),
    ("check --role runtime -- true", "parlor check --dialect asst --role runtime --"),
    ("completions", "for example parlor completions bash >"),
    ("sessions search", "for example parlor sessions search"),
    ("run --continue --resume x hi", "`parlor run --help` tells all"),
    ("list_files please now", "put a prompt in quotes: parlor \"list files please now\""),
    ("--prompt hi", "parlor run \"PROMPT\""),
    ("--yolo", "--policy full"),
    ("--yes", "--policy sandboxed"),
    ("run --quiet hi", "leave it out"),
    ("exec hi", "parlor run \"PROMPT\""),
    ("exec --full-auto fix_it", "parlor run \"PROMPT\""),
    ("chat", "`parlor` alone opens the terminal UI"),
    ("resume", "parlor --resume"),
    ("config", "the settings are a file"),
    ("init", "nothing has to be set up"),
    ("update", "install it again"),
    ("version", "parlor --version"),
    ("sessions dlete x", "did you mean `parlor sessions delete`?"),
    ("up --daemon", "it needs no further flag"),
    ("models --provider openai", "`parlor models` lists the models"),
    ("run --timeout soon hi", "write a time such as"),
    ("web --port 80x", "write a number"),
    ("mcp add foo npx server", "the program and its words go behind `--`"),
    ("trace README.md", "README.md is no recording"),
    ("acp --help2", "`parlor serve --help` lists"),
    ("--resume zzzz", "parlor run sends one prompt"),
    ("--worktree x", "parlor run sends one prompt"),
    ("run --model offline --resume zzzz hi", "parlor sessions"),
    ("ps --wacth", "--watch"),
    ("run hi", "`parlor login` saves a key"),
    ("run --max-time never hi", "write a time such as"),
];

/// Forty more.
const SWITCHER: &[(&str, &str)] = &[
    ("e fix_the_test", "parlor run \"PROMPT\""),
    ("ask what_is_this", "parlor run \"PROMPT\""),
    ("-i fix_it", "leave the flag out"),
    ("--dangerously-skip-permissions", "--policy full"),
    ("--dangerously-bypass-approvals-and-sandbox fix_it", "--policy full"),
    ("--full-auto fix_it", "--policy sandboxed"),
    ("-y", "--policy sandboxed"),
    ("--approval-mode yolo", "--policy MODE"),
    ("-a never fix_it", "--policy MODE"),
    ("--permission-mode plan", "--policy MODE"),
    ("--sandbox workspace-write", "commands run in a sandbox already"),
    ("-p hi --output-format json", "parlor run --json"),
    ("-p hi --allowedTools Bash", "parlor run --allow"),
    ("-p hi --max-turns 3", "--max-steps N"),
    ("-p hi --append-system-prompt x", "AGENTS.md"),
    ("-C /tmp", "--cwd DIR"),
    ("--add-dir /tmp", "--workspace DIR"),
    ("--search", "--fetch"),
    ("--oss", "--model ollama/NAME"),
    ("--profile work", "there are no profiles"),
    ("--api-key sk-1", "`parlor login` saves"),
    ("--mcp-config x.json", "parlor mcp add NAME"),
    ("auth login", "`parlor login` saves"),
    ("setup", "nothing has to be set up"),
    ("upgrade", "install it again"),
    ("undo", "parlor sessions undo"),
    ("diff", "parlor sessions diff"),
    ("apply", "parlor sessions diff"),
    ("history", "`parlor sessions` lists"),
    ("fork x", "/branch"),
    ("export x", "parlor sessions export ID"),
    ("delete x", "parlor sessions rm ID"),
    ("daemon", "parlor up"),
    ("status", "parlor ps"),
    ("ui", "parlor web"),
    ("app-server", "parlor acp"),
    ("plugin install x", "parlor mcp add"),
    ("modles", "did you mean `parlor models`?"),
    ("--modle x", "--model"),
    ("mcp lst", "did you mean `parlor mcp list`?"),
    ("frobnicate", "`parlor --help` lists the commands"),
    (".", "`parlor` alone works in the folder"),
    ("--model offline hi", "hint: parlor run --model offline hi"),
    ("--plan move_it", "--policy plan"),
];

/// What a stranger tried who knows five other agents' programs.
const STRANGER: &[(&str, &str)] = &[
    (
        "mcp add wiki https://example.org/mcp",
        "an address goes behind --url: parlor mcp add NAME --url https://example.org/mcp",
    ),
    ("mcp add --transport http wiki x", "parlor mcp add NAME --url URL"),
    ("mcp remove nosuch", "`parlor mcp list`"),
    ("--policy full-auto hi_there", "`--policy sandboxed`"),
    ("--policy planning hi_there", "`--policy plan`"),
    ("--policy yolo hi_there", "`--policy full`"),
    ("--policy acceptEdits hi_there", "`--policy auto-edit`"),
    ("run --output out.txt hi", "> FILE"),
    ("run --no-session hi", "--ephemeral"),
    ("run --dry-run hi", "--policy read-only"),
    ("doctor --fix", "it says what to do"),
    ("session list", "did you mean `parlor sessions list`?"),
    ("list files", "put a prompt in quotes: parlor \"list files\""),
    ("models list", "leave it out"),
    ("--model offline acp", "parlor acp, and its flags behind it"),
    ("run --model offline --output-schema nope.json hi", "JSON Schema"),
    ("--cwd /no/such/dir run --model offline hi", "check the path"),
    ("login openai", "parlor login PROVIDER < FILE"),
    ("plugin install x", "parlor mcp add"),
];

/// What is typed by somebody who has the help open and slips: a word, a value or a place.
const SLIPS: &[(&str, &str)] = &[
    ("help me", "`parlor --help` lists the commands"),
    ("run --model=gpt-5 hi", "set OPENAI_API_KEY"),
    ("run --model claude hi", "`parlor login` adds one"),
    ("run --allow=bash,rm hi", "there is no tool `rm`: allow apply_patch"),
    ("run --timeout=-5 hi", "write a time such as"),
    ("run --max-cost 5$ hi", "write dollars, such as 2.50"),
    ("run --max-steps many hi", "write a number"),
    ("run --model offline --image README.md hi", "attach a text with --file"),
    ("run --model offline --file . hi", "check the path"),
    ("run --model offline --cwd README.md hi", "name a folder"),
    ("run --effort extreme hi", "[possible values: none, minimal"),
    ("run --effort hihg hi", "did you mean high?"),
    ("serve", "for example parlor serve --dialect codelia --stdio"),
    ("serve --dialect codelia", "--stdio, --socket PATH, or --listen"),
    ("serve --dialect codelia --socket", "for example parlor serve --dialect codelia --stdio"),
    ("serve --dialect codelia --listen localhost:8080", "write ws://127.0.0.1:PORT"),
    ("serve --dialect codex --stdio", "there are: native, codelia"),
    ("attach --dialect codelia", "-- COMMAND"),
    ("attach codelia -- python3 agent.py", "parlor attach --dialect codelia -- COMMAND"),
    ("bridge --from codelia --to asst", "--to-socket PATH, or -- COMMAND"),
    ("bridge codelia asst", "for example parlor bridge --from"),
    ("check python3 agent.py", "for example parlor check"),
    ("check --dialect asst --role agent -- true", "[possible values: runtime, ui]"),
    ("check --dialect asst --role runtime", "--socket PATH, or -- COMMAND"),
    ("record -- true", "for example parlor record --dialect asst"),
    ("replay", "for example parlor replay"),
    ("new", "for example parlor new agent mine"),
    ("new myagent", "for example parlor new agent mine"),
    ("new agent mine --lang go", "[possible values: py, ts, rs]"),
    ("new agent my/agent", "give its name alone"),
    ("sessions export --format pdf", "[possible values: md, html, jsonl]"),
    ("sessions import nowhere.json", "`parlor sessions export` wrote"),
    ("mcp add weather", "--url URL, or -- COMMAND"),
    ("mcp add weather --url weather.example.org", "write it with https:// in front"),
    ("mcp test nosuch", "`parlor mcp list`"),
    ("mcp approve nosuch", "`parlor mcp list`"),
    ("devices revoke nosuch", "`parlor devices` lists them"),
    ("web --port 99999", "is not in 0..=65535"),
    ("web --bind localhost", "write an address such as 127.0.0.1"),
    ("completions tcsh", "[possible values: bash, zsh"),
    ("man nosuch", "`parlor --help` lists the commands"),
    ("schema", "for example parlor schema --dialect"),
    ("rules revoke", "for example parlor rules revoke"),
    ("login --key sk-1", "`parlor login` saves"),
    ("--continue --resume x", "`parlor --help` tells all"),
    ("tour nosuch", "[possible values: allow, deny"),
    ("relay nosuch", "start one with `parlor`"),
    ("trace nowhere.txt", "check the path"),
    ("--effort", "[possible values: none, minimal"),
    ("--model", "`parlor --help` tells all"),
    ("ps -a", "`parlor ps --help` lists its flags"),
    ("down --force", "`parlor down --help` lists its flags"),
    ("--agent codex", "`parlor attach NAME` talks to one"),
    ("run --json=true hi", "for example parlor run"),
    ("web --tls", "for example parlor web"),
    ("sessions rm --all", "`parlor sessions rm --help`"),
    ("-", "`parlor --help` lists the commands"),
];

/// What was tried by hand and had said nothing of use: words below a command of ours, and words of the screen.
const TRIED: &[(&str, &str)] = &[
    ("rules add bash", "a rule is made where it is asked"),
    ("rules allow cargo_test", "parlor run --allow TOOL"),
    ("rules deny rm", "`parlor rules` lists what is"),
    ("permissions", "`parlor rules` shows what you allowed"),
    ("policy full", "`--policy MODE` says what is asked"),
    ("devices add phone", "`parlor web` prints an address"),
    ("agents add mine", "parlor attach --dialect acp -- COMMAND"),
    ("agents codex", "`parlor attach NAME` opens one"),
    ("skills add x", "a folder with a SKILL.md"),
    ("worktrees add x", "hint: parlor --worktree x"),
    ("worktrees rm x", "hint: parlor worktrees remove x"),
    ("worktree rm x", "hint: parlor worktrees remove x"),
    ("models pull qwen3", "Parlor downloads no models"),
    ("models use gpt-5", "`--model PROVIDER/NAME` uses a model once"),
    ("web stop", "Ctrl-C ends the page"),
    ("up stop", "`parlor down` ends the background server"),
    ("up status", "`parlor ps` shows"),
    ("ps kill 3", "`parlor down` ends the background server"),
    ("hooks add x", "`parlor help extend` tells how"),
    ("prompt hi", "`parlor run \"PROMPT\"` is one prompt"),
    ("logs", "`parlor sessions show ID`"),
    ("ssh desk", "parlor attach ssh://HOST"),
    ("attach me@desk", "parlor attach ssh://me@desk"),
    ("grep lantern", "parlor sessions search WORDS"),
    ("search lantern", "parlor sessions search WORDS"),
    ("backup all.db", "hint: parlor sessions backup all.db"),
    ("watch", "hint: `parlor ps --watch` shows"),
    ("phone", "hint: `parlor web` prints an address"),
    ("clean", "`parlor help data` tells where everything lies"),
    ("theme", "`/theme` does that in the terminal UI"),
    ("compact", "`/compact` does that in the terminal UI"),
    ("zed", "`parlor acp` is an agent for editors"),
    ("sessions import README.md", "`parlor sessions export ID --format jsonl`"),
    ("web --no-open --host 0.0.0.0", "--bind 0.0.0.0"),
];

/// Refused, with something that says what to do.
fn says(typed: &str, wanted: &str) -> Result<(), String> {
    let world = tempfile::tempdir().unwrap();
    std::fs::write(world.path().join("README.md"), "no recording\n").unwrap();
    let words: Vec<String> = typed.split(' ').map(|word| word.replace('_', " ")).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let mut command = in_world(PARLOR, world.path(), &words);
    for name in
        ["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "OPENAI_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY"]
    {
        command.env_remove(name);
    }
    let output = command.env_remove("PARLOR_MODEL").stdin(Stdio::null()).output().expect("it starts");
    let said =
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let refused = matches!(output.status.code(), Some(1 | 2));
    if refused && said.contains(wanted) {
        Ok(())
    } else {
        Err(format!("parlor {typed} ({:?}) does not say {wanted:?}:\n{said}", output.status.code()))
    }
}

fn all_say(rows: &'static [(&str, &str)]) {
    let at_once = std::thread::available_parallelism().map_or(2, usize::from);
    let wrong: Vec<String> = std::thread::scope(|scope| {
        let part = |at: usize| {
            rows.iter().skip(at).step_by(at_once).filter_map(|(typed, wanted)| says(typed, wanted).err())
        };
        let threads: Vec<_> =
            (0..at_once).map(|at| scope.spawn(move || part(at).collect::<Vec<_>>())).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), rows.len(), wrong.join("\n"));
}

#[test]
fn what_a_newcomer_types_wrong_is_answered_with_what_to_do() {
    assert_eq!(NEWCOMER.len(), 63);
    all_say(NEWCOMER);
}

#[test]
fn what_users_of_other_programs_type_is_answered_with_what_is_meant_here() {
    assert!(SWITCHER.len() >= 40);
    all_say(SWITCHER);
}

#[test]
fn what_a_stranger_types_wrong_is_answered_with_what_is_right() {
    all_say(STRANGER);
}

#[test]
fn a_word_that_a_command_does_not_have_is_answered_with_what_does_it() {
    assert!(TRIED.len() >= 30);
    all_say(TRIED);
}

#[test]
fn a_slip_is_answered_with_what_would_have_been_right() {
    assert!(SLIPS.len() >= 40);
    all_say(SLIPS);
}

/// A mistake in each part of the settings, and what is told of it.
const MISTAKES: &[(&str, &str)] = &[
    ("modle = \"x\"", "modle: is not known"),
    ("effort = \"hard\"", "is no effort; there are none"),
    ("policy = \"yolo\"", "`yolo` is no policy mode"),
    ("compact_at = 5", "is no percentage between 10 and 100"),
    ("workspaces = \"x\"", "workspaces: must be a list of folders"),
    ("registries = \"x\"", "registries in your settings must be a list"),
    ("[ui]\ntheme = \"drak\"", "did you mean dark?"),
    ("[ui]\ncolour = \"red\"", "[ui] knows no colour"),
    ("[ui.keys]\nsteer = \"a\"", "steer: a alone is typed as text"),
    ("[fetch]\nenabeld = true", "fetch.enabeld: is not known"),
    ("[sandbox]\nalso_readable = \"x\"", "sandbox.also_readable: must be a list"),
    ("[network]\nidle_s = 0", "is no number from 1 to 3600"),
    ("[budget]\nmax_cost = \"free\"", "must be dollars, such as 2.50"),
    ("[models.\"openai/x\"]\nwindw = 1", "windw: is not known"),
    ("[agents.mine]\ncomand = [\"x\"]", "says comand, which is not known"),
    ("[extensions.weather]\ntimout_s = 5\ncommand = [\"x\"]", "timout_s: is not known"),
];

#[test]
fn doctor_finds_a_mistake_in_every_part_of_the_settings() {
    for (settings, told) in MISTAKES {
        let world = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(world.path().join("config")).unwrap();
        std::fs::write(world.path().join("config/config.toml"), settings).unwrap();
        let mut doctor = in_world(PARLOR, world.path(), &["doctor", "--model", "offline"]);
        let output = doctor.stdin(Stdio::null()).output().unwrap();
        let report = String::from_utf8_lossy(&output.stdout);
        assert!(report.contains(told), "{settings}: nothing says {told:?}\n{report}");
    }
}

/// The whole line that an answer tells, which stands alone before its explanation.
fn whole_line(answer: &str) -> Option<String> {
    let mut lines = answer.lines().skip_while(|line| !line.starts_with("hint: parlor"));
    let line = lines.next()?.strip_prefix("hint: ")?.to_owned();
    lines.next().is_some_and(|next| next.starts_with("      ")).then_some(line)
}

#[test]
fn a_whole_line_that_is_told_is_one_that_the_program_takes() {
    let (mut told, mut faults) = (BTreeSet::new(), Vec::new());
    for (typed, _) in NEWCOMER.iter().chain(SWITCHER).chain(STRANGER).chain(SLIPS).chain(TRIED) {
        let world = tempfile::tempdir().unwrap();
        let words: Vec<String> = typed.split(' ').map(|word| word.replace('_', " ")).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let output = in_world(PARLOR, world.path(), &words).stdin(Stdio::null()).output().unwrap();
        if let Some(line) = whole_line(&String::from_utf8_lossy(&output.stderr)) {
            assert!(!line.contains("sk-1"), "a key is told: {line}");
            faults.extend(commands(&line).iter().filter_map(|words| refused(words)));
            told.insert(line);
        }
    }
    assert_eq!(faults, Vec::<String>::new());
    for line in [
        "parlor run hi",
        "parlor run --policy sandboxed \"fix it\"",
        "parlor --policy full",
        "parlor mcp add foo -- npx server",
        "parlor sessions delete x",
    ] {
        assert!(told.contains(line), "{line} is not told: {told:#?}");
    }
    assert!(told.len() >= 30, "{}: {told:#?}", told.len());
}
