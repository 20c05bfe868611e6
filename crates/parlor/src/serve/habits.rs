//! What existing UIs put on the command line of the runtime they start. They cannot be told to say it our way, so it is read here.
//!
//! lemon's clients call `PROGRAM run SCRIPT -- --cwd DIR --model PROVIDER:ID …`; codelia's append `--approval-mode MODE`. What is not
//! known is named and passed over: a client must not fail because it said more than we understand.

use crate::cli::{Common, PolicyMode};
use std::ffi::OsString;
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
    /// What was passed over.
    pub(crate) unknown: Vec<String>,
}

/// Reads what stands behind our own arguments.
pub(crate) fn read(rest: &[String]) -> Habits {
    let mut habits = Habits::default();
    let mut words = rest.iter().map(String::as_str).peekable();
    if words.next_if_eq(&"run").is_some() {
        words.next();
    }
    while let Some(word) = words.next() {
        let (name, inline) = match word.split_once('=') {
            Some((name, value)) => (name, Some(value.to_owned())),
            None => (word, None),
        };
        let mut value =
            || inline.clone().or_else(|| words.next_if(|next| !next.starts_with("--")).map(str::to_owned));
        match name.replace('_', "-").as_str() {
            "--" => {}
            "--cwd" | "--workdir" => habits.cwd = value().map(PathBuf::from),
            "--model" => habits.model = value().map(|model| model.replacen(':', "/", 1)),
            "--approval-mode" => {
                let (policy, allow) = value().and_then(|mode| approval(&mode)).unzip();
                (habits.policy, habits.allow) = (policy, allow.unwrap_or_default());
            }
            "--no-ui" => habits.options.push(("no-ui".to_owned(), "true".to_owned())),
            "--debug" => habits.options.push(("debug".to_owned(), "true".to_owned())),
            "--system-prompt" | "--base-url" | "--session-file" => {
                let said = value().unwrap_or_default();
                habits.unknown.push(format!("{name} {said}"));
            }
            _ => habits.unknown.push(word.to_owned()),
        }
    }
    habits
}

/// Most words before the script in what lemon's clients call.
const MAX_BEFORE_SCRIPT: usize = 4;

/// The command line in our words. lemon's clients name their runtime by one path (`LEMON_AGENT_COMMAND`) and call it as they would
/// `mix`: with our path there, `run SCRIPT.exs -- …` means a lemon runtime on stdio.
pub(crate) fn our_words(args: Vec<OsString>) -> Vec<OsString> {
    let script = |words: &[OsString]| matches!(words, [script, dashes] if script.to_string_lossy().ends_with(".exs") && dashes == "--");
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
fn approval(mode: &str) -> Option<(PolicyMode, Vec<Allowance>)> {
    match mode {
        "minimal" => Some((PolicyMode::Ask, Vec::new())),
        "trusted" => Some((PolicyMode::AutoEdit, Vec::new())),
        "full-access" => {
            let commands = Allowance::Tool("bash".to_owned());
            Some((PolicyMode::Full, vec![commands, Allowance::Network, Allowance::Free]))
        }
        _ => None,
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

    fn words(text: &str) -> Vec<String> {
        text.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn lemons_clients_are_understood() {
        let habits = read(&words(
            "run scripts/debug.exs -- --model anthropic:claude --cwd /tmp --no-ui --base_url http://x",
        ));
        assert_eq!(habits.model.as_deref(), Some("anthropic/claude"));
        assert_eq!(habits.cwd, Some(PathBuf::from("/tmp")));
        assert_eq!(habits.options, [("no-ui".to_owned(), "true".to_owned())]);
        assert_eq!(habits.unknown, ["--base_url http://x"]);
    }

    #[test]
    fn a_path_in_the_place_of_mix_is_a_lemon_runtime() {
        let ours = |text: &str| {
            let words = our_words(words(text).into_iter().map(OsString::from).collect());
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
        assert_eq!(read(&words("--approval-mode trusted")).policy, Some(PolicyMode::AutoEdit));
        assert!(read(&words("--approval-mode trusted")).allow.is_empty());
        let full = read(&words("--approval-mode=full-access"));
        assert_eq!(full.policy, Some(PolicyMode::Full));
        let given: Vec<String> = full.allow.iter().map(Allowance::to_string).collect();
        assert_eq!(given, ["bash", "bash:network", "bash:free"]);
        let mut common = Common { policy: Some(PolicyMode::ReadOnly), ..Common::default() };
        read(&words("--approval-mode=full-access")).settle(&mut common);
        assert!(common.policy == Some(PolicyMode::ReadOnly) && common.allow.is_empty());
        assert_eq!(read(&words("--approval-mode odd")).policy, None);
    }
}
