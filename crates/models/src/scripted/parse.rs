//! The notation of scripts. Pure and total: bad input gives an error with its line, never a panic.
//!
//! A script is lines; blank lines and `#` comments are skipped, `---` (or `model step`) ends a response.
//! Every other line is `model CUE [| CUE]…`, where a cue is one of
//!
//! ```text
//! text "JSON string"            thought "JSON string"
//! tool NAME {"json":1}          tool NAME#ID {"json":1}      tool NAME "not an object"
//! usage in=10 out=5 cache_read=1 cache_write=1 reasoning=2
//! pause 30s | pause 50ms | pause 2m | pause forever
//! retry 2/4 500ms "reason"
//! error [auth|rate_limited|overloaded|context_overflow|bad_request|network|cut|empty|timeout|stall|protocol] ["words"]
//! end [length|refusal|end_turn|tool_use|OTHER]
//! step
//! ```

use std::time::Duration;

use serde_json::Value;

use super::{Cue, Script};
use crate::{ErrorKind, StopReason, ToolArgs, Usage, Wait};

/// Longest pause a script may ask for.
const MAX_PAUSE: Duration = Duration::from_secs(24 * 60 * 60);

/// A script that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {what}")]
pub struct ScriptError {
    /// From 1.
    pub line: usize,
    /// What is wrong and what was expected.
    pub what: String,
}

/// Reads a whole script.
pub fn parse(text: &str) -> Result<Script, ScriptError> {
    let mut cues = Vec::new();
    for (at, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        if line.chars().all(|c| c == '-') && line.len() >= 3 {
            cues.push(Cue::Step);
            continue;
        }
        cues.extend(parse_line(line).map_err(|what| ScriptError { line: at + 1, what })?);
    }
    Ok(Script::new(cues))
}

/// Reads one `model …` line of a transcript.
pub fn parse_line(line: &str) -> Result<Vec<Cue>, String> {
    let line = line.trim();
    let rest = match word(line) {
        ("model", rest) => rest,
        (other, _) => return Err(format!("expected `model`, found `{other}`")),
    };
    let mut cues = Vec::new();
    let mut rest = rest;
    loop {
        let (cue, after) = cue(rest)?;
        cues.push(cue);
        let after = after.trim_start();
        match after.strip_prefix('|') {
            Some(next) => rest = next.trim_start(),
            None if after.is_empty() => return Ok(cues),
            None => return Err(format!("expected `|` or the end of the line, found `{after}`")),
        }
    }
}

fn cue(text: &str) -> Result<(Cue, &str), String> {
    let (verb, rest) = word(text);
    match verb {
        "text" => string(rest).map(|(text, rest)| (Cue::Text(text), rest)),
        "thought" => string(rest).map(|(text, rest)| (Cue::Thought(text), rest)),
        "tool" => tool(rest),
        "usage" => usage(rest),
        "pause" => {
            let (time, rest) = word(rest);
            let time = if time == "forever" { None } else { Some(duration(time)?) };
            Ok((Cue::Pause(time), rest))
        }
        "retry" => retry(rest),
        "error" => error(rest),
        "end" => {
            let (stop, rest) = word(rest);
            Ok((Cue::End(stop_reason(stop)), rest))
        }
        "step" => Ok((Cue::Step, rest)),
        "" => Err("expected a cue: text, thought, tool, usage, pause, retry, error, end or step".to_owned()),
        other => Err(format!(
            "unknown cue `{other}`; known are text, thought, tool, usage, pause, retry, error, end and step"
        )),
    }
}

fn tool(text: &str) -> Result<(Cue, &str), String> {
    let (name, rest) = word(text);
    if name.is_empty() {
        return Err("expected a tool's name after `tool`".to_owned());
    }
    let (name, id) = match name.split_once('#') {
        Some((name, id)) if !name.is_empty() && !id.is_empty() => (name, Some(id.to_owned())),
        Some(_) => return Err(format!("expected NAME#ID, found `{name}`")),
        None => (name, None),
    };
    let (args, rest) = if rest.is_empty() || rest.starts_with('|') {
        (ToolArgs::Parsed(Value::Object(serde_json::Map::new())), rest)
    } else {
        let (value, rest) = json(rest)?;
        let args = match value {
            Value::String(text) => ToolArgs::read(&text),
            value => ToolArgs::Parsed(value),
        };
        (args, rest)
    };
    Ok((Cue::Tool { id, name: name.to_owned(), args }, rest))
}

fn usage(text: &str) -> Result<(Cue, &str), String> {
    let mut usage = Usage::default();
    let mut rest = text;
    loop {
        let (pair, after) = word(rest);
        if pair.is_empty() {
            return Ok((Cue::Usage(usage), rest));
        }
        let (key, count) =
            pair.split_once('=').ok_or_else(|| format!("expected NAME=COUNT, found `{pair}`"))?;
        let count = count.parse().map_err(|_| format!("`{count}` is not a count of tokens"))?;
        match key {
            "in" => usage.input = count,
            "out" => usage.output = count,
            "cache_read" => usage.cache_read = count,
            "cache_write" => usage.cache_write = count,
            "reasoning" => usage.reasoning = count,
            other => {
                return Err(format!(
                    "unknown count `{other}`; known are in, out, cache_read, cache_write and reasoning"
                ));
            }
        }
        rest = after;
    }
}

fn retry(text: &str) -> Result<(Cue, &str), String> {
    let (attempts, rest) = word(text);
    let (attempt, max) = attempts
        .split_once('/')
        .and_then(|(attempt, max)| Some((attempt.parse().ok()?, max.parse().ok()?)))
        .ok_or_else(|| format!("expected ATTEMPT/MAX, found `{attempts}`"))?;
    let (time, rest) = word(rest);
    let delay = duration(time)?;
    let (reason, rest) = optional_string(rest)?;
    Ok((Cue::Retry { attempt, max, delay, reason: reason.unwrap_or_default() }, rest))
}

fn error(text: &str) -> Result<(Cue, &str), String> {
    let (kind, after) = if text.starts_with('"') { ("", text) } else { word(text) };
    let kind = match kind {
        "" | "overloaded" => ErrorKind::Overloaded,
        "auth" => ErrorKind::Auth,
        "rate_limited" => ErrorKind::RateLimited,
        "context_overflow" => ErrorKind::ContextOverflow,
        "bad_request" => ErrorKind::BadRequest,
        "network" => ErrorKind::Network,
        "cut" => ErrorKind::Cut,
        "empty" => ErrorKind::Empty,
        "timeout" => ErrorKind::Timeout { which: Wait::FirstByte },
        "stall" => ErrorKind::Timeout { which: Wait::Idle },
        "protocol" => ErrorKind::Protocol,
        other => {
            return Err(format!(
                "unknown error `{other}`; known are auth, rate_limited, overloaded, context_overflow, \
                 bad_request, network, cut, empty, timeout, stall and protocol"
            ));
        }
    };
    let (message, rest) = optional_string(after)?;
    Ok((Cue::Error(kind, message.unwrap_or_else(|| "the script says so".to_owned())), rest))
}

fn stop_reason(word: &str) -> Option<StopReason> {
    match word {
        "" => None,
        "end_turn" => Some(StopReason::EndTurn),
        "tool_use" => Some(StopReason::ToolUse),
        "length" => Some(StopReason::Length),
        "refusal" => Some(StopReason::Refusal),
        other => Some(StopReason::Other(other.to_owned())),
    }
}

fn duration(text: &str) -> Result<Duration, String> {
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let (count, unit) = text.split_at(digits);
    let millis = match unit {
        "ms" => 1,
        "s" => 1_000,
        "m" => 60_000,
        _ => 0,
    };
    count
        .parse::<u64>()
        .ok()
        .filter(|_| millis > 0)
        .and_then(|count| count.checked_mul(millis))
        .map(Duration::from_millis)
        .filter(|time| *time <= MAX_PAUSE)
        .ok_or_else(|| format!("expected a time such as 50ms, 30s or 2m (at most a day), found `{text}`"))
}

/// The next word and what follows; a `|` is never part of a word.
fn word(text: &str) -> (&str, &str) {
    let text = text.trim_start();
    let end = text.find(|c: char| c.is_whitespace() || c == '|').unwrap_or(text.len());
    let (word, rest) = text.split_at(end);
    (word, rest.trim_start())
}

fn string(text: &str) -> Result<(String, &str), String> {
    match json(text)? {
        (Value::String(text), rest) => Ok((text, rest)),
        (other, _) => Err(format!("expected a JSON string in double quotes, found {other}")),
    }
}

fn optional_string(text: &str) -> Result<(Option<String>, &str), String> {
    if text.starts_with('"') { string(text).map(|(text, rest)| (Some(text), rest)) } else { Ok((None, text)) }
}

fn json(text: &str) -> Result<(Value, &str), String> {
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<Value>();
    match values.next() {
        Some(Ok(value)) => Ok((value, text.get(values.byte_offset()..).unwrap_or_default())),
        Some(Err(error)) => Err(format!("bad JSON: {error}")),
        None => Err("expected JSON, found the end of the line".to_owned()),
    }
}
