//! What existing UIs put on the command line of the runtime they start. They cannot be told to say it our way, so it is read here.
//!
//! What they say is part of each wire's description: lemon's clients call `PROGRAM run SCRIPT -- --cwd DIR --model PROVIDER:ID …`,
//! codelia's append `--approval-mode MODE`, asst's shell calls `npx tsx SCRIPT`. Everything else is refused, with the nearest flag named: a
//! flag that narrows what a UI may do must not be lost by a misspelling. A flag that is accepted without effect is named on stderr.

use crate::habits;
use dialects::Dialect;
use domain::session::Policy;
use host::launch::Launch;
use roles::dialect::{Approval, Meaning};
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use tools::policy::Allowance;

/// What was said, as settings of ours.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct CompatArgs {
    pub(crate) cwd: Option<PathBuf>,
    pub(crate) model: Option<String>,
    pub(crate) policy: Option<Policy>,
    /// What is allowed from the start.
    pub(crate) allow: Vec<Allowance>,
    /// Options of the dialect.
    pub(crate) options: Vec<(String, String)>,
    /// What was taken and changes nothing.
    pub(crate) idle: Vec<String>,
}

/// Lists the flags of our own that can be typed.
pub(crate) type OwnFlags = fn() -> Vec<String>;

/// The flags that programs of these wires say to their runtime.
fn flags(dialects: &[Dialect]) -> impl Iterator<Item = &'static (&'static str, Meaning)> {
    dialects.iter().flat_map(|dialect| dialect.description().habits.flags)
}

/// Reads what stands behind our own arguments, as programs of these wires say it. `own` lists the flags of ours that could be meant: it
/// is asked only where a word is not known.
///
/// # Errors
/// What is not known, in words.
pub(crate) fn read(rest: &[OsString], dialects: &[Dialect], own: OwnFlags) -> Result<CompatArgs, String> {
    let mut habits = CompatArgs::default();
    let mut words = rest.iter().map(OsString::as_os_str).peekable();
    for interpreter in dialects.iter().filter_map(|dialect| dialect.description().habits.interpreter) {
        let (program, end) = (interpreter.word, interpreter.script_ends);
        if words.next_if(|word| *word == program).is_some() {
            // Options of that program, such as mix's `--no-start`, then the script.
            let script = |word: &OsStr| word.as_encoded_bytes().ends_with(end.as_bytes());
            let found = words.by_ref().take(MAX_BEFORE_SCRIPT).any(script);
            if !found {
                return Err(format!("`{program}` names no script that ends in {end}"));
            }
        }
    }
    while let Some(word) = words.next() {
        if word == "--" {
            continue;
        }
        let text = word.to_str().ok_or_else(|| format!("`{}` is not known here", word.display()))?;
        let (name, inline) = match text.split_once('=') {
            Some((name, value)) => (name, Some(OsStr::new(value))),
            None => (text, None),
        };
        let name = name.replace('_', "-");
        let known = flags(dialects).find(|(flag, _)| *flag == name);
        let Some((flag, meaning)) = known else { return Err(not_known(text, &name, dialects, &own())) };
        let mut value = || {
            let next = || words.next_if(|next| !next.as_encoded_bytes().starts_with(b"--"));
            inline.or_else(next).ok_or_else(|| format!("`{flag}` needs a value"))
        };
        match meaning {
            Meaning::Cwd => habits.cwd = Some(PathBuf::from(value()?)),
            Meaning::Model => habits.model = Some(text_of(flag, value()?)?.replacen(':', "/", 1)),
            Meaning::Approval(modes) => {
                let (policy, allow) = approval(modes, text_of(flag, value()?)?)?;
                (habits.policy, habits.allow) = (Some(policy), allow);
            }
            Meaning::Option(option) => habits.options.push(((*option).to_owned(), "true".to_owned())),
            Meaning::Idle => habits.idle.push(format!("{flag} {}", value()?.display())),
        }
    }
    Ok(habits)
}

fn text_of<'a>(flag: &str, value: &'a OsStr) -> Result<&'a str, String> {
    value.to_str().ok_or_else(|| format!("the value of `{flag}` is not text"))
}

fn not_known(word: &str, name: &str, dialects: &[Dialect], own: &[String]) -> String {
    if own.iter().any(|flag| flag == name) {
        return format!(
            "`{word}` comes behind what a UI says to its runtime\n\nhint: put {name} before that"
        );
    }
    let theirs = flags(dialects).map(|(flag, _)| *flag);
    let hint =
        match (habits::meant(name), habits::nearest(name, own.iter().map(String::as_str).chain(theirs))) {
            (Some(here), _) => here.to_owned(),
            (None, Some(flag)) => format!("did you mean {flag}?"),
            (None, None) => "`parlor serve --help` lists what is".to_owned(),
        };
    format!("`{word}` is not known to `parlor serve`\n\nhint: {hint}")
}

/// What stands behind the command of a runtime when a person is to log in.
const LOGIN: &str = "login";

/// Most words before the script in what UIs call.
const MAX_BEFORE_SCRIPT: usize = 4;

/// The command line in our words. UIs that name their runtime by one path call us as they would call its interpreter: with our path
/// there, `run SCRIPT.exs -- …` means a lemon runtime on stdio.
///
/// UIs that are told one command to start are told `parlor WORD`, with the word of their wire. Those that let a person log in start that
/// command in a terminal once more, with `login` behind all that they were told; `serve --dialect WIRE --stdio` is such a command too.
pub(crate) fn our_words(mut args: Vec<OsString>) -> Vec<OsString> {
    let word = |dialect: &&Dialect| {
        let command = dialect.description().habits.command;
        command.is_some_and(|command| args.get(1).is_some_and(|first| first == command))
    };
    if let Some(dialect) = dialects::ALL.iter().find(word)
        && let Some(between) = between(&args, dialect.name())
    {
        return between;
    }
    let is_served = args.get(1).is_some_and(|first| first == "serve") && names_commanded_wire(&args);
    let commanded = dialects::ALL.iter().find(word);
    if (is_served || commanded.is_some())
        && let Some(at) = args.iter().skip(2).rposition(|arg| arg == LOGIN)
    {
        // What stands behind it is whose key it is.
        args.drain(1..at + 2);
        return args;
    }
    if let Some(dialect) = commanded {
        let serve = ["serve", "--dialect", dialect.name(), "--stdio"].map(OsString::from);
        args.splice(1..2, serve);
        // Said once more by who knows that such programs speak on stdio.
        let mut at = 0;
        args.retain(|arg| {
            at += 1;
            at <= SERVED || arg != "--stdio"
        });
        return args;
    }
    let called = |dialect: &&Dialect| {
        let interpreter = dialect.description().habits.interpreter.filter(|habit| habit.in_our_place);
        interpreter.is_some_and(|habit| calls(&args, habit.word, habit.script_ends))
    };
    let Some(dialect) = dialects::ALL.iter().find(called) else { return args };
    let serve = ["serve", "--dialect", dialect.name(), "--stdio"].map(OsString::from);
    let mut words = args.into_iter();
    let program = words.next();
    program.into_iter().chain(serve).chain(words).collect()
}

/// `parlor WORD --to AGENT`: a bridge between the UI and another program's agent, which is judged here. In the place of a name, a command
/// of the same wire may stand behind `--`.
fn between(args: &[OsString], dialect: &str) -> Option<Vec<OsString>> {
    const TO: &str = "--to";
    let ours = args.iter().position(|arg| arg == "--").unwrap_or(args.len());
    let is_to = |arg: &OsString| arg == TO || arg.to_str().is_some_and(|arg| arg.starts_with("--to="));
    let at = args[..ours].iter().position(is_to)?;
    let (name, rest) = match args[at].to_str()?.split_once('=') {
        Some((_, name)) => (Some(OsString::from(name)), at + 1),
        None => match args[at + 1..ours].first().filter(|name| !name.as_encoded_bytes().starts_with(b"-")) {
            Some(name) => (Some(name.clone()), at + 2),
            None => (None, at + 1),
        },
    };
    let mut words: Vec<OsString> = args[..1].to_vec();
    words.extend(["bridge", "--from", dialect, "--stdio", "--judge"].map(OsString::from));
    words.extend(match name {
        Some(name) => ["--agent".into(), name],
        None => [TO.into(), dialect.into()],
    });
    let before = args[2..at].iter().chain(&args[rest..ours]).filter(|arg| *arg != "--stdio");
    words.extend(before.cloned());
    words.extend_from_slice(&args[ours..]);
    Some(words)
}

/// The program, and `serve --dialect WIRE --stdio`.
const SERVED: usize = 5;

/// Whether `--dialect` names a wire whose UIs are told one command.
fn names_commanded_wire(args: &[OsString]) -> bool {
    let commanded = |name: &str| {
        let mut named = dialects::ALL.iter().filter(|dialect| dialect.name() == name);
        named.any(|dialect| dialect.description().habits.command.is_some())
    };
    let mut words = args.iter().filter_map(|arg| arg.to_str()).peekable();
    while let Some(arg) = words.next() {
        let value =
            arg.strip_prefix("--dialect=").or_else(|| words.peek().copied().filter(|_| arg == "--dialect"));
        if value.is_some_and(|names| names.split(',').any(commanded)) {
            return true;
        }
    }
    false
}

/// What the help of a wire's own word says, where that is asked for: it is no command with flags of its own.
pub(crate) fn help_of_word(args: &[OsString]) -> Option<String> {
    let [_, first, rest @ ..] = args else { return None };
    let asks = rest.first().is_some_and(|word| word == "--help" || word == "-h");
    let called = |dialect: &&Dialect| dialect.description().habits.command.is_some_and(|word| first == word);
    let dialect = dialects::ALL.iter().find(called).filter(|_| asks)?;
    let word = dialect.description().habits.command?;
    Some(format!(
        "Be an agent for programs that speak {dialect}: `parlor {word}` is `parlor serve --dialect {dialect} --stdio`.\n\n\
         Usage: parlor {word} [OPTIONS]\n       parlor {word} --to AGENT [OPTIONS]         be between the editor and another agent, by your rules\n       parlor {word} --to [OPTIONS] -- COMMAND    the same with a command\n       parlor {word} login                        give the key of a provider, as such programs let a person do\n\n\
         Options are those of `parlor serve`, with --to those of `parlor bridge`: see their --help."
    ))
}

/// The same in a line, for the help of the program: each word, and what it does.
pub(crate) fn words_in_help() -> impl Iterator<Item = (&'static str, String)> {
    let line = |dialect: &'static Dialect| {
        let word = dialect.description().habits.command?;
        Some((word, format!("Be an agent for editors that speak {dialect}")))
    };
    dialects::ALL.iter().filter_map(line)
}

/// Whether this is how a UI calls `word SCRIPT --`.
fn calls(args: &[OsString], word: &str, ends: &str) -> bool {
    let script = |words: &[OsString]| matches!(words, [script, dashes] if script.as_encoded_bytes().ends_with(ends.as_bytes()) && dashes == "--");
    args.get(1).is_some_and(|first| first == word)
        && args.windows(2).take(MAX_BEFORE_SCRIPT).skip(2).any(script)
}

/// How much runs without asking, from the wire's own word for it. Everything is the person's word for commands inside the sandbox, for
/// the network and for leaving it; what cannot be undone is asked all the same.
fn approval(modes: &[(&str, Approval)], word: &str) -> Result<(Policy, Vec<Allowance>), String> {
    let Some((_, approval)) = modes.iter().find(|(mode, _)| *mode == word) else {
        let names: Vec<&str> = modes.iter().map(|(mode, _)| *mode).collect();
        return Err(format!("`{word}` is no approval mode: there are {}", names.join(", ")));
    };
    Ok(match approval {
        Approval::Ask => (Policy::Ask, Vec::new()),
        Approval::Edits => (Policy::AutoEdit, Vec::new()),
        Approval::Everything => {
            let commands = Allowance::Tool("bash".to_owned());
            (Policy::Full, vec![commands, Allowance::Network, Allowance::Free])
        }
    })
}

impl CompatArgs {
    /// Puts what was said into our settings, where nothing was said our way.
    pub(crate) fn settle(&mut self, launch: &mut Launch) {
        launch.cwd = launch.cwd.take().or(self.cwd.take());
        // A mode that was said our way is the whole of it.
        if launch.policy.is_none() {
            launch.policy = self.policy;
            launch.allow = std::mem::take(&mut self.allow);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<OsString> {
        text.split_whitespace().map(OsString::from).collect()
    }

    fn said(dialect: Dialect, text: &str) -> Result<CompatArgs, String> {
        read(&words(text), &[dialect], crate::cli::flags_of_serve)
    }

    #[test]
    fn lemons_clients_are_understood() {
        let line = "run scripts/debug.exs -- --model anthropic:claude --cwd /tmp --no-ui --base_url http://x";
        let habits = said(dialects::lemon::DIALECT, line).unwrap();
        assert_eq!(habits.model.as_deref(), Some("anthropic/claude"));
        assert_eq!(habits.cwd, Some(PathBuf::from("/tmp")));
        assert_eq!(habits.options, [("no-ui".to_owned(), "true".to_owned())]);
        assert_eq!(habits.idle, ["--base-url http://x"]);
        said(
            dialects::lemon::DIALECT,
            "run --no-start s/rpc.exs -- --debug --session-file s --system_prompt=x",
        )
        .unwrap();
        said(dialects::asst::DIALECT, "tsx src/index.ts").unwrap();
    }

    #[test]
    fn what_is_not_known_is_refused_with_the_nearest_flag() {
        for (dialect, line, what) in [
            (dialects::native::DIALECT, "--polcy read-only", "did you mean --policy?"),
            (dialects::native::DIALECT, "--standng observer", "`--standng` is not known to `parlor serve`"),
            (dialects::native::DIALECT, "--rol observer", "did you mean --role?"),
            (dialects::native::DIALECT, "--ephemerl", "did you mean --ephemeral?"),
            (dialects::native::DIALECT, "read-only", "`read-only` is not known"),
            (dialects::native::DIALECT, "--approval-mode trusted", "`--approval-mode` is not known"),
            (dialects::native::DIALECT, "--yolo", "--policy full"),
            (dialects::native::DIALECT, "--help2", "`parlor serve --help` lists what is"),
            (dialects::nous::DIALECT, "--no-ui", "is not known"),
            (dialects::codelia::DIALECT, "--cwd /tmp", "put --cwd before that"),
            (dialects::codelia::DIALECT, "--aproval-mode minimal", "did you mean --approval-mode?"),
            (dialects::codelia::DIALECT, "--approval-mode odd", "`odd` is no approval mode"),
            (dialects::codelia::DIALECT, "--approval-mode", "`--approval-mode` needs a value"),
            (dialects::codelia::DIALECT, "--approval-mode minimal --role observer", "put --role before that"),
            (dialects::lemon::DIALECT, "run -- --cwd /tmp", "names no script"),
            (dialects::lemon::DIALECT, "run x.exs -- --cwd", "`--cwd` needs a value"),
            (dialects::lemon::DIALECT, "run x.exs -- --verbose", "`--verbose` is not known"),
        ] {
            let why = said(dialect, line).unwrap_err();
            assert!(why.contains(what), "{line}: {why}");
        }
    }

    #[test]
    fn a_folder_whose_name_is_not_text_is_taken_as_it_is() {
        use std::os::unix::ffi::OsStrExt as _;
        let odd = OsStr::from_bytes(b"/tmp/caf\xe9");
        let rest = [OsString::from("run"), "x.exs".into(), "--".into(), "--cwd".into(), odd.to_owned()];
        assert_eq!(read(&rest, &[dialects::lemon::DIALECT], Vec::new).unwrap().cwd, Some(PathBuf::from(odd)));
        assert!(read(&[odd.to_owned()], &[dialects::lemon::DIALECT], Vec::new).is_err());
    }

    #[test]
    fn a_path_in_the_place_of_mix_is_a_lemon_runtime() {
        let ours = |text: &str| {
            let words = our_words(words(text));
            words.iter().map(|word| word.to_string_lossy().into_owned()).collect::<Vec<_>>().join(" ")
        };
        let served = "parlor serve --dialect lemon --stdio";
        for rest in ["run scripts/rpc.exs -- --cwd /w", "run --no-start s/rpc.exs --"] {
            assert_eq!(ours(&format!("parlor {rest}")), format!("{served} {rest}"));
        }
        for other in
            ["parlor", "parlor run list files", "parlor run explain rpc.exs", "parlor serve rpc.exs --"]
        {
            assert_eq!(ours(other), other);
        }
    }

    #[test]
    fn whatever_starts_us_logs_in_with_one_word_more() {
        let ours = |text: &str| {
            let words = our_words(words(text));
            words.iter().map(|word| word.to_string_lossy().into_owned()).collect::<Vec<_>>().join(" ")
        };
        for started in [
            "parlor acp",
            "parlor acp --policy ask",
            "parlor serve --dialect acp --stdio",
            "parlor serve --stdio --dialect=acp",
        ] {
            assert_eq!(ours(&format!("{started} login")), "parlor login");
            assert_eq!(ours(&format!("{started} login openai --keep")), "parlor login openai --keep");
        }
        assert_eq!(ours("parlor acp --policy ask"), "parlor serve --dialect acp --stdio --policy ask");
        assert_eq!(
            ours("parlor serve --dialect codelia --stdio login"),
            "parlor serve --dialect codelia --stdio login"
        );
        assert_eq!(ours("parlor login openai"), "parlor login openai");
    }

    #[test]
    fn codelias_approval_mode_is_a_policy() {
        let read = |line: &str| said(dialects::codelia::DIALECT, line).unwrap();
        assert_eq!(read("--approval-mode trusted").policy, Some(Policy::AutoEdit));
        assert!(read("--approval-mode trusted").allow.is_empty());
        let full = read("--approval-mode=full-access");
        assert_eq!(full.policy, Some(Policy::Full));
        let given: Vec<String> = full.allow.iter().map(Allowance::to_string).collect();
        assert_eq!(given, ["bash", "bash:network", "bash:free"]);
        let mut launch = Launch { policy: Some(Policy::ReadOnly), ..Launch::default() };
        read("--approval-mode=full-access").settle(&mut launch);
        assert!(launch.policy == Some(Policy::ReadOnly) && launch.allow.is_empty());
        assert_eq!(read("").policy, None);
    }
}
