//! `parlor login` and `parlor logout`: the key of a provider is asked for without being shown, tried at once, and kept for the person
//! alone. What it is not: the file of the keys (`keys.rs`), or the choice of a model.
//!
//! Invariants: a key that the provider refuses, or that nobody could try, is kept only when the person says so. Nothing that is said
//! quotes a key, nor a word that may be one.

pub(crate) mod on_screen;

use crate::exit::{self, Exit};
use crate::output;
use clap::Args;
use host::launch::Launch;
use host::model_source;
use host::stop::Stops;
use host::{keys, settings};
use models::catalog::{Catalog, KeptKey, KeyFrom, ProviderState, Trial, Verdict, account, usual_address};
use models::{ModelName, Secret};
use std::io::{IsTerminal, Read};
use tui::{Echo, MAX_LINE, StopSignal, TypedLine, ask_line};

/// What `parlor login` is told.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  parlor login                     asks whose key it is, then for the key\n  parlor login anthropic           asks for the key\n  parlor login openai < key.txt    reads it from a file or a pipe"
)]
pub(crate) struct Login {
    /// Whose key it is: anthropic, openai, gemini, openrouter, groq, deepseek, mistral, xai, moonshot, zai, qwen, or a local server that
    /// wants one.
    pub(crate) provider: Option<String>,
    /// Keep the key also when the provider refuses it or cannot be asked now.
    #[arg(long)]
    pub(crate) keep: bool,
}

/// What `parlor logout` is told.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  parlor logout openai\n  parlor logout --all")]
pub(crate) struct Logout {
    /// Whose key is forgotten. Not needed when only one is kept.
    provider: Option<String>,
    /// Forget all of them.
    #[arg(long, conflicts_with = "provider")]
    all: bool,
}

/// Takes a key, tries it and keeps it.
pub(crate) async fn login(launch: &Launch, asked: Login) -> anyhow::Result<Exit> {
    if launch.ephemeral {
        return Err(exit::usage(
            "nothing is to be kept on disk (--ephemeral, or PARLOR_EPHEMERAL), and a login is\n\nhint: leave it out, or set the \
             provider's variable, such as ANTHROPIC_API_KEY",
        ));
    }
    // Before anything is typed: what cannot be kept is not asked for.
    let file = keys::file()?;
    let catalog = model_source::catalog();
    let at_terminal = std::io::stdin().is_terminal();
    let provider = match &asked.provider {
        Some(named) => account(named).ok_or_else(|| unknown(named))?,
        None if at_terminal => match choose(&catalog).await? {
            Ok(provider) => provider,
            Err(signal) => return Ok(nothing_kept(signal)),
        },
        None => {
            return Err(exit::usage(format!(
                "whose key is it?\n\nhint: parlor login PROVIDER < FILE; providers are {}",
                names()
            )));
        }
    };
    let key = match at_terminal {
        true => {
            let question = format!("The key of {provider} (it is not shown; Enter ends it, Ctrl-C leaves): ");
            match ask_line(&question, Echo::Hidden).await? {
                TypedLine::Line(line) => key_of(line.as_bytes()),
                TypedLine::Unusable(why) => Err(why.to_owned()),
                TypedLine::Cancelled => return Ok(nothing_kept(StopSignal::Interrupt)),
                TypedLine::Told(signal) => return Ok(nothing_kept(signal)),
            }
        }
        false => key_of(&piped()?),
    };
    let key = key
        .map_err(|why| anyhow::anyhow!("that is no key: {why}\nhint: nothing was kept; copy it once more, or give it on stdin: parlor login PROVIDER < FILE"))?;
    let mut stops = Stops::listen();
    output::print_error("asking the provider…");
    let trial = tokio::select! {
        tried = catalog.try_key(provider, &key) => tried.map_err(|why| anyhow::anyhow!("{why}\nhint: {}", why.hint()))?,
        signal = stops.next() => return Ok(nothing_kept(exit::by(signal))),
    };
    drop(stops);
    if !wanted(provider, &trial, asked.keep, at_terminal).await? {
        return Ok(Exit::Failed);
    }
    let shown = trial.shown;
    let replaced = keys::keep(provider, &KeptKey { key, address: trial.address })?;
    let again = if replaced { ", in the place of the one before" } else { "" };
    output::print_line(&format!("kept the key of {provider} in {}, for you alone{again}", file.display()));
    for line in afterwards(launch, provider, &shown).await {
        output::print_line(&line);
    }
    Ok(Exit::Done)
}

/// Forgets keys.
pub(crate) fn logout(asked: &Logout) -> anyhow::Result<Exit> {
    if asked.all {
        let there = keys::forget_all()?;
        output::print_line(if there { "forgot all kept keys" } else { "no key is kept" });
        return Ok(Exit::Done);
    }
    if let Some(why) = keys::trouble().filter(|_| keys::read().is_empty()) {
        anyhow::bail!(why);
    }
    let kept: Vec<String> = keys::read().into_keys().collect();
    let provider = match (&asked.provider, kept.as_slice()) {
        (Some(named), _) => account(named).ok_or_else(|| unknown(named))?.to_owned(),
        (None, []) => {
            output::print_line("no key is kept");
            return Ok(Exit::Done);
        }
        (None, [only]) => only.clone(),
        (None, several) => {
            let several = several.join(", ");
            return Err(exit::usage(format!(
                "keys of {several} are kept\n\nhint: name one of them, or say --all"
            )));
        }
    };
    let there = keys::forget(&provider)?;
    output::print_line(&if there {
        format!("forgot the key of {provider}")
    } else {
        format!("no key of {provider} is kept")
    });
    if let Some(variable) = state(&provider).and_then(|state| in_environment(&state)) {
        output::print_line(&format!("{variable} is set in the environment, and is used"));
    }
    Ok(Exit::Done)
}

/// Whether the key is to be kept, after what the provider said to it.
async fn wanted(provider: &str, trial: &Trial, keep: bool, at_terminal: bool) -> anyhow::Result<bool> {
    let verdict = in_words(trial);
    let (Ok(what) | Err(what)) = &verdict;
    output::print_error(what);
    if keep || verdict.is_ok() {
        return Ok(true);
    }
    if !at_terminal {
        output::print_error(&format!(
            "nothing was kept\nhint: look at the key once more; `parlor login {provider} --keep` keeps it all the same"
        ));
        return Ok(false);
    }
    let answer = ask_line("Keep it all the same? [y/N] ", Echo::Shown).await?;
    let yes = matches!(answer, TypedLine::Line(line) if is_yes(&line));
    if !yes {
        output::print_error("nothing was kept");
    }
    Ok(yes)
}

/// What the provider said to a key; an error where it is not to be kept without a word.
fn in_words(trial: &Trial) -> Result<String, String> {
    let shown = &trial.shown;
    match &trial.verdict {
        Verdict::Taken { models: 0 } => Ok(format!("{shown} accepts it")),
        Verdict::Taken { models } => Ok(format!("{shown} accepts it and lists {models} models")),
        Verdict::Unproven => Ok(format!(
            "{shown} answers without a key as well, so nothing is known of this one until the first prompt"
        )),
        Verdict::Refused(why) => Err(format!("{shown} does not accept this key: {why}")),
        Verdict::Untried(why) => Err(format!("the key could not be tried: {why}\nhint: {}", why.hint())),
    }
}

/// Whether somebody said yes.
pub(crate) fn is_yes(line: &str) -> bool {
    matches!(line.trim(), "y" | "Y" | "yes")
}

fn nothing_kept(signal: StopSignal) -> Exit {
    output::print_error("nothing was kept");
    Exit::Cancelled(signal)
}

/// What was typed instead of a provider is not repeated: it may be a key.
fn unknown(typed: &str) -> anyhow::Error {
    let like_a_name = |c: char| c.is_ascii_alphabetic() || matches!(c, '-' | '.');
    let secret = typed.len() > MAX_SHOWN || !typed.chars().all(like_a_name);
    let what = if secret {
        "that is no provider; if it was a key, it is in your shell's history now: have it replaced where you got it".to_owned()
    } else {
        format!("there is no provider `{typed}` with an API key")
    };
    exit::usage(format!(
        "{what}\n\nhint: `parlor login PROVIDER` asks for the key; providers are {}",
        names()
    ))
}

/// Words longer than this, or with other characters than a name has, are no provider, and may be a key.
const MAX_SHOWN: usize = 16;

/// The providers that keys are kept for, those first that are nothing without one.
fn takers(catalog: &Catalog) -> Vec<ProviderState> {
    let own = |state: &ProviderState| account(state.provider) == Some(state.provider);
    let (local, remote): (Vec<_>, Vec<_>) =
        catalog.providers().into_iter().filter(own).partition(|state| state.local);
    remote.into_iter().chain(local).collect()
}

fn names() -> String {
    let all: Vec<&str> = takers(&Catalog::new([])).iter().map(|state| state.provider).collect();
    all.join(", ")
}

fn state(provider: &str) -> Option<ProviderState> {
    model_source::catalog().providers().into_iter().find(|state| state.provider == provider)
}

/// The variable that holds a key of it.
fn in_environment(state: &ProviderState) -> Option<&'static str> {
    match state.key_from? {
        KeyFrom::Variable(variable) => Some(variable),
        KeyFrom::Kept => None,
    }
}

/// What is known of a provider's key.
fn known_of(state: &ProviderState) -> String {
    match state.key_from {
        Some(KeyFrom::Variable(variable)) => format!("has one, from {variable}"),
        Some(KeyFrom::Kept) => "has one, kept".to_owned(),
        None if state.local => "local; most want none".to_owned(),
        None => String::new(),
    }
}

/// Asks whose key it is, until that is clear; `None` when the person wants nothing of it.
async fn choose(catalog: &Catalog) -> anyhow::Result<Result<&'static str, StopSignal>> {
    let takers = takers(catalog);
    output::print_error("Whose key do you have?\n");
    for (at, state) in takers.iter().enumerate() {
        let has = match known_of(state) {
            none if none.is_empty() => none,
            known => format!("({known})"),
        };
        output::print_error(format!("  {:>2}  {:<12} {has}", at + 1, state.provider).trim_end());
    }
    output::print_error("");
    let question = format!("A number from 1 to {}, or a name (Ctrl-C leaves): ", takers.len());
    loop {
        let line = match ask_line(&question, Echo::Shown).await? {
            TypedLine::Line(line) => line,
            TypedLine::Unusable(_) => String::new(),
            TypedLine::Cancelled => return Ok(Err(StopSignal::Interrupt)),
            TypedLine::Told(signal) => return Ok(Err(signal)),
        };
        let number = line.trim().parse::<usize>().ok().and_then(|number| number.checked_sub(1));
        match number
            .and_then(|at| takers.get(at))
            .map(|state| state.provider)
            .or_else(|| account(line.trim()))
        {
            Some(provider) => return Ok(Ok(provider)),
            None => output::print_error("that is none of them"),
        }
    }
}

/// What comes in on stdin, as far as a key can be long.
fn piped() -> anyhow::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    std::io::stdin().take(MAX_LINE as u64 + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The key in what was typed, pasted or piped; else what is wrong with it, without quoting any of it.
fn key_of(bytes: &[u8]) -> Result<Secret, String> {
    if bytes.len() > MAX_LINE {
        return Err(format!("it is longer than {MAX_LINE} bytes"));
    }
    let text = std::str::from_utf8(bytes).map_err(|_| "it is not UTF-8 text".to_owned())?;
    // What editors and shells put around it is none of it.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text).trim();
    let within = |quote: char| text.strip_prefix(quote)?.strip_suffix(quote);
    let text = within('"').or_else(|| within('\'')).unwrap_or(text).trim();
    match text {
        "" => Err("there is nothing in it".to_owned()),
        text if text.lines().count() > 1 => Err("it has several lines".to_owned()),
        text if text.contains(char::is_whitespace) => Err("there are blanks in it".to_owned()),
        text if !text.chars().all(|c| c.is_ascii_graphic()) => {
            Err("it holds characters that no header can carry".to_owned())
        }
        text => Ok(Secret::new(text)),
    }
}

/// What is true from now on.
async fn afterwards(launch: &Launch, provider: &str, tried_at: &str) -> Vec<String> {
    let mut lines = caveats(provider, tried_at);
    lines.push(match chosen(launch.model.is_some(), provider).await {
        Some(model) => format!("`parlor` speaks with {model} now; `parlor models` lists others"),
        None => format!("`parlor models` lists what it has; --model {provider}/NAME uses one"),
    });
    lines
}

/// What to know of a key that is kept.
fn caveats(provider: &str, tried_at: &str) -> Vec<String> {
    let mut lines = Vec::new();
    if usual_address(provider).as_deref() != Some(tried_at) {
        lines.push(format!("it is sent to {tried_at} only; no variable is needed for that"));
    }
    if let Some(variable) = state(provider).and_then(|state| in_environment(&state)) {
        lines.push(format!("{variable} is set in the environment and goes before it, as long as it is"));
    }
    lines
}

/// The model that answers from now on, if it is one of this provider.
async fn chosen(is_named: bool, provider: &str) -> Option<ModelName> {
    // A model that was named elsewhere goes before what is found.
    let named = is_named || settings::read().config.model.is_some();
    let model = if named { None } else { Some(model_source::catalog().choose().await) };
    model.filter(|model| model.provider == provider)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_one_word_that_a_header_can_carry() {
        for good in ["sk-1", "  sk-1\r\n", "a.b_c-d/e+f=="] {
            assert_eq!(key_of(good.as_bytes()).unwrap().expose(), good.trim());
        }
        for wrapped in ["\u{feff}sk-1\n", "\"sk-1\"", "'sk-1'\n", "\u{feff} \"sk-1\" "] {
            assert_eq!(key_of(wrapped.as_bytes()).unwrap().expose(), "sk-1", "{wrapped:?}");
        }
        for bad in [
            &b""[..],
            b" \n ",
            b"two words",
            b"one\ntwo",
            b"\xff\xfe",
            "schl\u{fc}ssel".as_bytes(),
            b"a\x1b[2Jb",
            b"a\0b",
        ] {
            let why = key_of(bad).unwrap_err();
            assert!(!why.contains("word") && !why.contains("two"), "nothing of it is quoted: {why}");
        }
        assert!(key_of(&[b'k'; MAX_LINE]).is_ok() && key_of(&[b'k'; MAX_LINE + 1]).is_err());
    }

    #[test]
    fn a_key_in_the_place_of_a_provider_is_not_repeated() {
        for key in [
            "sk-proj-abcdefghijklmnop",
            "AIzaSyA1234567890123456789",
            "0123456789abcdef0123456789abcdef",
            "topsecret-0123",
            "abcdefghijklmnopqrstuv",
        ] {
            let said = unknown(key).to_string();
            assert!(!said.contains(key) && said.contains("history") && said.contains("anthropic"), "{said}");
        }
        assert!(unknown("antropic").to_string().contains("`antropic`"));
    }

    #[test]
    fn every_provider_that_takes_a_key_is_named_once() {
        let names = names();
        for name in [
            "anthropic",
            "openai",
            "gemini",
            "openrouter",
            "groq",
            "deepseek",
            "mistral",
            "xai",
            "moonshot",
            "zai",
            "qwen",
            "vllm",
        ] {
            assert_eq!(names.split(", ").filter(|known| *known == name).count(), 1, "{names}");
        }
        assert!(!names.contains("openai-chat"), "{names}");
    }
}
