//! What existing UIs put on the command line of the runtime they start. They cannot be told to say it our way, so it is read here.
//!
//! It is a list, per wire, of what programs really say: lemon's clients call `PROGRAM run SCRIPT -- --cwd DIR --model PROVIDER:ID …`,
//! codelia's append `--approval-mode MODE`, asst's shell calls `npx tsx SCRIPT`. Everything else is refused, with the nearest flag named:
//! who misspells a flag that narrows what a UI may do must not get the wider one. What is taken without effect is named.

use crate::cli::{Cli, Common, PolicyMode};
use dialects::Dialect;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use tools::policy::Allowance;

/// What was said, as settings of ours.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Habits {
    pub(crate) cwd: Option<PathBuf>,
    pub(crate) model: Option<String>,
    pub(crate) policy: Option<PolicyMode>,
    /// What is allowed from the start.
    pub(crate) allow: Vec<Allowance>,
    /// Options of the dialect.
    pub(crate) options: Vec<(String, String)>,
    /// What was taken and changes nothing.
    pub(crate) idle: Vec<String>,
}

/// What a flag of theirs means to us.
#[derive(Debug, Clone, Copy)]
enum Meaning {
    /// The working directory.
    Cwd,
    /// The model, `PROVIDER:ID`.
    Model,
    /// codelia's word for how much runs without asking.
    Approval,
    /// An option of the dialect that is on, by this name.
    Option(&'static str),
    /// Nothing; it has a value.
    Idle,
}

/// The flags that programs of a wire say to their runtime. Words are told apart by dashes: `_` counts as one.
fn flags(dialect: Dialect) -> &'static [(&'static str, Meaning)] {
    match dialect {
        Dialect::Lemon => &[
            ("--cwd", Meaning::Cwd),
            ("--model", Meaning::Model),
            ("--no-ui", Meaning::Option("no-ui")),
            ("--debug", Meaning::Option("debug")),
            ("--system-prompt", Meaning::Idle),
            ("--base-url", Meaning::Idle),
            ("--session-file", Meaning::Idle),
        ],
        Dialect::Codelia => &[("--approval-mode", Meaning::Approval)],
        // Their programs start no runtime, or say nothing to it.
        _ => &[],
    }
}

/// The program that a UI of this wire believes to start, and how its script's name ends.
fn interpreter(dialect: Dialect) -> Option<(&'static str, &'static str)> {
    match dialect {
        Dialect::Lemon => Some(("run", ".exs")),
        Dialect::Asst => Some(("tsx", ".ts")),
        _ => None,
    }
}

/// Reads what stands behind our own arguments, as programs of these wires say it.
///
/// # Errors
/// What is not known, in words.
pub(crate) fn read(rest: &[OsString], dialects: &[Dialect]) -> Result<Habits, String> {
    let mut habits = Habits::default();
    let mut words = rest.iter().map(OsString::as_os_str).peekable();
    for (program, end) in dialects.iter().filter_map(|dialect| interpreter(*dialect)) {
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
        let known = dialects.iter().flat_map(|dialect| flags(*dialect)).find(|(flag, _)| *flag == name);
        let Some((flag, meaning)) = known else { return Err(not_known(text, &name, dialects)) };
        let mut value = || {
            let next = || words.next_if(|next| !next.as_encoded_bytes().starts_with(b"--"));
            inline.or_else(next).ok_or_else(|| format!("`{flag}` needs a value"))
        };
        match meaning {
            Meaning::Cwd => habits.cwd = Some(PathBuf::from(value()?)),
            Meaning::Model => habits.model = Some(text_of(flag, value()?)?.replacen(':', "/", 1)),
            Meaning::Approval => {
                let (policy, allow) = approval(text_of(flag, value()?)?)?;
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

/// How alike two words must be for one to be meant by the other, from 0 to 1.
const ALIKE: f64 = 0.75;

fn not_known(word: &str, name: &str, dialects: &[Dialect]) -> String {
    use clap::CommandFactory as _;
    let command = Cli::command();
    let serve = command.find_subcommand("serve");
    let own = command.get_arguments().chain(serve.iter().flat_map(|serve| serve.get_arguments()));
    let own: Vec<String> = own.filter_map(|argument| Some(format!("--{}", argument.get_long()?))).collect();
    if own.iter().any(|flag| flag == name) {
        return format!(
            "`{word}` stands behind what a UI says to its runtime\n\nhint: put {name} before that"
        );
    }
    let theirs = dialects.iter().flat_map(|dialect| flags(*dialect)).map(|(flag, _)| *flag);
    let nearest = own
        .iter()
        .map(String::as_str)
        .chain(theirs)
        .map(|flag| (strsim::jaro_winkler(flag, name), flag))
        .filter(|(alike, _)| *alike >= ALIKE)
        .max_by(|one, two| one.0.total_cmp(&two.0));
    match nearest {
        Some((_, flag)) => format!("`{word}` is not known to `parlor serve`\n\nhint: did you mean {flag}?"),
        None => {
            format!("`{word}` is not known to `parlor serve`\n\nhint: `parlor serve --help` lists what is")
        }
    }
}

/// Most words before the script in what lemon's clients call.
const MAX_BEFORE_SCRIPT: usize = 4;

/// The command line in our words. lemon's clients name their runtime by one path (`LEMON_AGENT_COMMAND`) and call it as they would
/// `mix`: with our path there, `run SCRIPT.exs -- …` means a lemon runtime on stdio.
pub(crate) fn our_words(args: Vec<OsString>) -> Vec<OsString> {
    let script = |words: &[OsString]| matches!(words, [script, dashes] if script.as_encoded_bytes().ends_with(b".exs") && dashes == "--");
    let called = args.get(1).is_some_and(|word| word == "run")
        && args.windows(2).take(MAX_BEFORE_SCRIPT).skip(2).any(script);
    if !called {
        return args;
    }
    let mut words = args.into_iter();
    let program = words.next();
    let serve = ["serve", "--dialect", "lemon", "--stdio"].map(OsString::from);
    program.into_iter().chain(serve).chain(words).collect()
}

/// codelia's words for how much runs without asking. Full access is the person's word for commands inside the sandbox, for the network
/// and for leaving it; what cannot be undone is asked all the same.
fn approval(mode: &str) -> Result<(PolicyMode, Vec<Allowance>), String> {
    match mode {
        "minimal" => Ok((PolicyMode::Ask, Vec::new())),
        "trusted" => Ok((PolicyMode::AutoEdit, Vec::new())),
        "full-access" => {
            let commands = Allowance::Tool("bash".to_owned());
            Ok((PolicyMode::Full, vec![commands, Allowance::Network, Allowance::Free]))
        }
        _ => Err(format!("`{mode}` is no approval mode: say minimal, trusted or full-access")),
    }
}

impl Habits {
    /// Puts what was said into our settings, where nothing was said our way.
    pub(crate) fn settle(&mut self, common: &mut Common) {
        common.cwd = common.cwd.take().or(self.cwd.take());
        // A mode that was said our way is the whole of it.
        if common.policy.is_none() {
            common.policy = self.policy;
            common.allow = std::mem::take(&mut self.allow);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<OsString> {
        text.split_whitespace().map(OsString::from).collect()
    }

    fn said(dialect: Dialect, text: &str) -> Result<Habits, String> {
        read(&words(text), &[dialect])
    }

    #[test]
    fn lemons_clients_are_understood() {
        let line = "run scripts/debug.exs -- --model anthropic:claude --cwd /tmp --no-ui --base_url http://x";
        let habits = said(Dialect::Lemon, line).unwrap();
        assert_eq!(habits.model.as_deref(), Some("anthropic/claude"));
        assert_eq!(habits.cwd, Some(PathBuf::from("/tmp")));
        assert_eq!(habits.options, [("no-ui".to_owned(), "true".to_owned())]);
        assert_eq!(habits.idle, ["--base-url http://x"]);
        said(Dialect::Lemon, "run --no-start s/rpc.exs -- --debug --session-file s --system_prompt=x")
            .unwrap();
        said(Dialect::Asst, "tsx src/index.ts").unwrap();
    }

    #[test]
    fn what_is_not_known_is_refused_with_the_nearest_flag() {
        for (dialect, line, what) in [
            (Dialect::Native, "--polcy read-only", "did you mean --policy?"),
            (Dialect::Native, "--standng observer", "`--standng` is not known to `parlor serve`"),
            (Dialect::Native, "--rol observer", "did you mean --role?"),
            (Dialect::Native, "--ephemerl", "did you mean --ephemeral?"),
            (Dialect::Native, "read-only", "`read-only` is not known"),
            (Dialect::Native, "--approval-mode trusted", "`--approval-mode` is not known"),
            (Dialect::Nous, "--no-ui", "is not known"),
            (Dialect::Codelia, "--cwd /tmp", "put --cwd before that"),
            (Dialect::Codelia, "--aproval-mode minimal", "did you mean --approval-mode?"),
            (Dialect::Codelia, "--approval-mode odd", "`odd` is no approval mode"),
            (Dialect::Codelia, "--approval-mode", "`--approval-mode` needs a value"),
            (Dialect::Codelia, "--approval-mode minimal --role observer", "put --role before that"),
            (Dialect::Lemon, "run -- --cwd /tmp", "names no script"),
            (Dialect::Lemon, "run x.exs -- --cwd", "`--cwd` needs a value"),
            (Dialect::Lemon, "run x.exs -- --verbose", "`--verbose` is not known"),
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
        assert_eq!(read(&rest, &[Dialect::Lemon]).unwrap().cwd, Some(PathBuf::from(odd)));
        assert!(read(&[odd.to_owned()], &[Dialect::Lemon]).is_err());
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
    fn codelias_approval_mode_is_a_policy() {
        let read = |line: &str| said(Dialect::Codelia, line).unwrap();
        assert_eq!(read("--approval-mode trusted").policy, Some(PolicyMode::AutoEdit));
        assert!(read("--approval-mode trusted").allow.is_empty());
        let full = read("--approval-mode=full-access");
        assert_eq!(full.policy, Some(PolicyMode::Full));
        let given: Vec<String> = full.allow.iter().map(Allowance::to_string).collect();
        assert_eq!(given, ["bash", "bash:network", "bash:free"]);
        let mut common = Common { policy: Some(PolicyMode::ReadOnly), ..Common::default() };
        read("--approval-mode=full-access").settle(&mut common);
        assert!(common.policy == Some(PolicyMode::ReadOnly) && common.allow.is_empty());
        assert_eq!(read("").policy, None);
    }
}
