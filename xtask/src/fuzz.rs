//! `cargo xtask fuzz`: coverage-guided fuzzing with the stable toolchain, and where its first inputs come from.
//!
//! The program is `fuzz/`, a workspace of its own; here it is built with counters in every block (`sancov-module`, which stable rustc
//! passes on to LLVM) and fed. First inputs are the transcripts, the fixtures and the pages of this repository, turned into the steps that a
//! target takes; inputs that once broke something are in `fuzz/found`. What a run learns stays in `target/fuzz`, so that the next goes on.

use crate::shell::Shell;
use anyhow::{Context, Result, bail};
use std::fs;
use std::path::{Path, PathBuf};

/// Seconds for each target, unless it is said.
const SECONDS: u64 = 30;
/// The same in the suite, which is about half a minute for all.
const SECONDS_IN_SUITE: u64 = 2;
/// Counters at every edge, and what comparisons compare, so that the fuzzer learns words.
const FLAGS: &str = "--cfg fuzzing -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
     -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
     -Cllvm-args=-sanitizer-coverage-trace-compares -Ccodegen-units=1";
/// What reads bytes apart from the wires.
const READERS: &[&str] = &["framer", "shell", "record", "markdown"];
/// So many seconds for one input, or this much memory, is a fault. An input is as long as the longest of the first ones.
const LIMITS: &[&str] = &["-timeout=20", "-rss_limit_mb=3000", "-print_final_stats=1"];
/// How our side settles what a UI wants; the fuzzer finds which fits where.
const RECEIPTS: &[&str] = &[
    r#"{"started":{"session":"sess-00000000a001","run":1}}"#,
    "\"done\"",
    r#"{"session":{"session":{"id":"sess-00000000a001","title":"t","cwd":"/w","project":"/w","created_at":1,"updated_at":2,"messages":1}}}"#,
    r#"{"queued":{"item":9,"run":1}}"#,
    r#"{"sessions":[]}"#,
    r#"{"cancelling":{"run":{"run":1}}}"#,
];
/// What a person answers, in turn.
const ANSWERS: &[&str] = &[
    r#"{"allow":{"scope":"once"}}"#,
    r#"{"deny":{}}"#,
    r#"{"confirmed":true}"#,
    r#"{"chosen":["a"]}"#,
    r#"{"entered":"x"}"#,
    "\"dismissed\"",
];
/// The longest section of a page that is a first input, in bytes.
const SECTION: usize = 2_048;
/// Where kept sessions of every version are.
const FIXTURES: &str = "crates/parlor/fixtures";

/// What is asked for.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Fuzzing {
    seconds: u64,
    targets: Vec<String>,
}

impl Default for Fuzzing {
    fn default() -> Fuzzing {
        Fuzzing { seconds: SECONDS, targets: Vec::new() }
    }
}

impl Fuzzing {
    /// A short look at every target.
    pub(crate) fn in_suite() -> Fuzzing {
        Fuzzing { seconds: SECONDS_IN_SUITE, targets: Vec::new() }
    }

    /// Reads `[--seconds N] [TARGET...]`.
    pub(crate) fn parse(args: &[String]) -> Result<Fuzzing> {
        let mut options = Fuzzing::default();
        let mut args = args.iter();
        while let Some(arg) = args.next() {
            match arg.as_str() {
                "--seconds" => {
                    let number = args.next().context("--seconds needs a number")?;
                    options.seconds = number.parse().context("--seconds needs a number")?;
                }
                flag if flag.starts_with('-') => {
                    bail!("unknown option {flag}; it takes [--seconds N] [TARGET...]")
                }
                name => options.targets.push(name.to_owned()),
            }
        }
        Ok(options)
    }
}

/// Builds the program, and lets every target run for its time.
pub(crate) fn run(shell: &Shell, options: &Fuzzing) -> Result<()> {
    let root = shell.root().to_owned();
    let all = targets(&root)?;
    if let Some(wrong) = options.targets.iter().find(|name| !all.contains(name)) {
        bail!("there is no target {wrong}; there are: {}", all.join(", "));
    }
    let home = root.join("target/fuzz");
    let triple = shell.host()?;
    let manifest = root.join("fuzz/Cargo.toml");
    let build = ["build", "--release", "--target", &triple, "--manifest-path", &manifest.to_string_lossy()];
    shell.cargo(&build, &[("RUSTFLAGS", FLAGS), ("CARGO_TARGET_DIR", &home.to_string_lossy())])?;
    let program = home.join(&triple).join("release/fuzz");
    let chosen = if options.targets.is_empty() { &all } else { &options.targets };
    let (mut all, mut broken) = (0, Vec::new());
    for target in chosen {
        match one(shell, &home, &program, target, options.seconds) {
            Ok(count) => {
                println!("{target:<20} {count:>12} inputs");
                all += count;
            }
            Err(error) => {
                println!("{target:<20} {error:#}");
                broken.push(target.as_str());
            }
        }
    }
    println!("{:<20} {all:>12} inputs", "in all");
    if !broken.is_empty() {
        bail!("broken: {}; what broke them is in {}", broken.join(", "), home.join("broken").display());
    }
    Ok(())
}

/// Every target: the roles of every wire, and the readers. A wire without conversations of a runtime role of ours has the UI role alone.
fn targets(root: &Path) -> Result<Vec<String>> {
    let mut wires = vec!["native".to_owned()];
    for folder in sorted(&root.join("transcripts"))? {
        wires.extend(folder.file_name().map(|name| name.to_string_lossy().into_owned()));
    }
    let served =
        |wire: &str| wire == wires[0] || root.join("transcripts").join(wire).join("runtime").is_dir();
    let roles = wires.iter().flat_map(|wire| {
        let runtime = served(wire).then(|| format!("runtime-{wire}"));
        runtime.into_iter().chain([format!("ui-{wire}")])
    });
    Ok(roles.chain(READERS.iter().map(|name| (*name).to_owned())).collect())
}

/// Runs one target; gives how many inputs were tried.
fn one(shell: &Shell, home: &Path, program: &Path, target: &str, seconds: u64) -> Result<u64> {
    let (corpus, first) = (home.join("corpus").join(target), home.join("first").join(target));
    let found = shell.root().join("fuzz/found").join(target);
    let (log, broken) = (home.join(format!("{target}.log")), home.join("broken"));
    // What an earlier version of the repository had is learnt already, or of no use.
    fs::remove_dir_all(&first).ok();
    for folder in [&corpus, &first, &broken] {
        fs::create_dir_all(folder)?;
    }
    for (number, input) in first_inputs(shell.root(), target)?.iter().enumerate() {
        fs::write(first.join(number.to_string()), input)?;
    }
    let mut folders = vec![corpus, first];
    folders.extend(found.is_dir().then_some(found));
    let folders: Vec<String> = folders.iter().map(|folder| folder.to_string_lossy().into_owned()).collect();
    let prefix = format!("-artifact_prefix={}/{target}-", broken.display());
    let time = format!("-max_total_time={seconds}");
    let mut args: Vec<&str> = LIMITS.to_vec();
    args.extend([prefix.as_str(), time.as_str()]);
    args.extend(folders.iter().map(String::as_str));
    let ended = shell.aside(&log)?.step(&program.to_string_lossy(), &args, &[("PARLOR_FUZZ", target)]);
    let said = String::from_utf8_lossy(&fs::read(&log)?).into_owned();
    if ended.is_err() {
        bail!("broke, {} ends:\n{}", log.display(), last_lines(&said, 60));
    }
    executed(&said).with_context(|| format!("{target} told no number of inputs, see {}", log.display()))
}

fn last_lines(text: &str, count: usize) -> String {
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(count)..].join("\n")
}

/// How many inputs the fuzzer says that it tried.
fn executed(log: &str) -> Option<u64> {
    log.lines().find_map(|line| line.strip_prefix("stat::number_of_executed_units:")?.trim().parse().ok())
}

/// The first inputs of a target, from what is in the repository.
fn first_inputs(root: &Path, target: &str) -> Result<Vec<String>> {
    let text = |path: &PathBuf| fs::read_to_string(path).with_context(|| path.display().to_string());
    let ending = |paths: Vec<PathBuf>, end: &str| -> Vec<PathBuf> {
        paths.into_iter().filter(|path| path.extension().is_some_and(|found| found == end)).collect()
    };
    let mut sessions = Vec::new();
    for version in sorted(&root.join(FIXTURES))? {
        for path in ending(sorted(&version.join("exports"))?, "jsonl") {
            sessions.push(text(&path)?);
        }
    }
    match target.split_once('-') {
        Some(("runtime", "native")) => native(root, "from-ui.jsonl"),
        Some(("ui", "native")) => native(root, "from-runtime.jsonl"),
        Some((role, wire)) => {
            let files = ending(sorted(&root.join("transcripts").join(wire).join(role))?, "txt");
            let turn = files.iter().zip(sessions.iter().cycle());
            turn.map(|(path, session)| {
                let transcript = text(path)?;
                Ok(if role == "ui" { to_our_ui(&transcript) } else { to_our_runtime(&transcript, session) })
            })
            .collect()
        }
        None => match target {
            "record" => Ok(sessions),
            "markdown" => {
                let pages =
                    ending(sorted(&root.join("docs"))?, "md").iter().map(text).collect::<Result<String>>()?;
                // A page is long to draw; the sections of all have what the pages have.
                Ok(pages
                    .split("\n## ")
                    .filter(|section| section.len() <= SECTION)
                    .map(str::to_owned)
                    .collect())
            }
            "shell" => Ok(literals(&text(&root.join("crates/tools/src/shell/tests.rs"))?)),
            _ => Ok(vec!["a\nbc\r\n\nd".to_owned()]),
        },
    }
}

fn native(root: &Path, file: &str) -> Result<Vec<String>> {
    let versions = sorted(&root.join(FIXTURES))?;
    let files = versions.iter().map(|version| version.join("native").join(file));
    files.filter(|path| path.is_file()).map(|path| Ok(fs::read_to_string(path)?)).collect()
}

/// What a runtime said in a transcript, and what the person wanted.
fn to_our_ui(transcript: &str) -> String {
    transcript
        .lines()
        .enumerate()
        .filter_map(|(number, line)| ui_step(number, line))
        .collect::<Vec<String>>()
        .join("\n")
}

/// What a UI said in a transcript, each command settled in some way, with a kept session happening in between.
fn to_our_runtime(transcript: &str, session: &str) -> String {
    let mut steps = Vec::new();
    let said = transcript.lines().filter_map(|line| line.strip_prefix("> "));
    for (line, receipt) in said.zip(RECEIPTS.iter().cycle()) {
        steps.extend([line.to_owned(), format!("={receipt}")]);
    }
    let bodies = session.lines().filter_map(|line| {
        let event: serde_json::Value = serde_json::from_str(line).ok()?;
        Some(format!("+{}", event.get("body")?))
    });
    let middle = steps.len() / 2;
    steps.splice(middle..middle, bodies);
    steps.join("\n")
}

/// One line of a transcript as a step of a UI role.
fn ui_step(number: usize, line: &str) -> Option<String> {
    if let Some(said) = line.strip_prefix("< ") {
        return Some(said.to_owned());
    }
    if let Some(said) = line.strip_prefix("<@1 ") {
        return Some(format!("@{said}"));
    }
    let command = line.strip_prefix("command ")?;
    let (word, rest) = command.split_once(' ').unwrap_or((command, ""));
    Some(match word {
        "prompt" => r#"!{"prompt":{"input":{"text":"hi"}}}"#.to_owned(),
        "answer" => format!(r#"!{{"answer":{{"ask":1,"answer":{}}}}}"#, ANSWERS[number % ANSWERS.len()]),
        "open-session" => format!(r#"!{{"open_session":{{"id":"{}"}}}}"#, rest.trim_matches('"')),
        "cancel" => r#"!{"cancel":{}}"#.to_owned(),
        _ => format!("!\"{}\"", word.replace('-', "_")),
    })
}

/// The first text in quotes of every line of a Rust file.
fn literals(source: &str) -> Vec<String> {
    let texts = source.lines().filter_map(|line| line.split_once('"')?.1.split_once('"'));
    texts.map(|(text, _)| text.to_owned()).filter(|text| !text.is_empty()).collect()
}

fn sorted(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder).with_context(|| folder.display().to_string())?;
    let mut paths = entries.map(|entry| Ok(entry?.path())).collect::<Result<Vec<PathBuf>>>()?;
    paths.sort();
    Ok(paths)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(words: &[&str]) -> Result<Fuzzing> {
        Fuzzing::parse(&words.iter().map(|word| (*word).to_owned()).collect::<Vec<String>>())
    }

    #[test]
    fn what_is_asked_for_is_read_and_the_rest_is_refused() {
        let options = parsed(&["--seconds", "3600", "shell"]).unwrap();
        assert_eq!(options, Fuzzing { seconds: 3600, targets: vec!["shell".to_owned()] });
        assert!(parsed(&["--seconds"]).is_err());
        assert!(parsed(&["--fast"]).unwrap_err().to_string().contains("--seconds N"));
    }

    #[test]
    fn a_transcript_becomes_the_steps_of_its_role() {
        let ui = "dialect lemon\n\n< {\"type\":\"ready\"}\n<@1 x\ncommand prompt \"x\"\n> {\"type\":\"prompt\"}\nevent done";
        assert_eq!(to_our_ui(ui), "{\"type\":\"ready\"}\n@x\n!{\"prompt\":{\"input\":{\"text\":\"hi\"}}}");
        let session = "{\"format\":\"parlor-session\"}\n{\"seq\":1,\"body\":{\"run_started\":{\"run\":1}}}";
        let steps = to_our_runtime("> a\n< b\n> c", session);
        let expected =
            format!("a\n={}\n+{{\"run_started\":{{\"run\":1}}}}\nc\n={}", RECEIPTS[0], RECEIPTS[1]);
        assert_eq!(steps, expected);
    }

    #[test]
    fn every_target_has_a_first_input() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let all = targets(root).unwrap();
        // Seven wires have both roles, one has that of a UI alone.
        assert_eq!(all.len(), 2 * 7 + 1 + READERS.len(), "{all:?}");
        for target in all {
            assert!(!first_inputs(root, &target).unwrap().is_empty(), "{target}");
        }
    }

    #[test]
    fn the_number_of_inputs_is_the_fuzzers_own() {
        let log = "#2 INITED\nstat::number_of_executed_units: 4711\nstat::peak_rss_mb: 40\n";
        assert_eq!(executed(log), Some(4711));
        assert_eq!(executed("#2 INITED"), None);
    }
}
