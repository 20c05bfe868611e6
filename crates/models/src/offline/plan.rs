//! Request → what the offline model does. Pure: the conversation alone says how far the work has come.

use serde_json::Value;

use super::wishes::{Wish, question, read};
use super::{closing, samples};
use crate::{ChatMessage, ErrorKind, Request, ToolCall};

/// One thing to do in this response, in order.
#[derive(Debug, Clone, PartialEq)]
pub enum Planned {
    Say(String),
    Think(String),
    Call {
        tool: String,
        /// Its arguments, an object.
        args: Value,
    },
    /// Stream the numbers from 1.
    Count {
        /// The last number.
        to: u32,
        /// With a pause between two.
        slowly: bool,
    },
    Fail {
        kind: ErrorKind,
        text: String,
    },
}

/// Characters of a prompt that are echoed.
const MAX_ECHO: usize = 300;

/// Decides what to do from the last prompt and the tool results after it.
pub fn plan(request: &Request) -> Vec<Planned> {
    let Some(at) = request.messages.iter().rposition(closing::is_prompt) else {
        return vec![Planned::Say(samples::HELP.to_owned())];
    };
    let prompt = request.messages[at].text();
    let since = &request.messages[at + 1..];
    let steps = read(&prompt);
    let mut planned = Vec::new();

    let done = since.iter().filter(|message| !calls_of(message).is_empty()).count();
    if done > 0 {
        let news = closing::report(since);
        planned.push(Planned::Say(news.text));
        if news.declined {
            return planned;
        }
    }

    for step in pending(&steps, done, request) {
        let before = planned.len();
        for wish in step {
            planned.extend(grant(wish, request, at, &prompt));
        }
        if planned[before..].iter().any(|planned| matches!(planned, Planned::Call { .. })) {
            break;
        }
    }
    separate(planned)
}

/// The steps after the one whose tools ran last.
fn pending<'a>(steps: &'a [Vec<Wish>], done: usize, request: &Request) -> &'a [Vec<Wish>] {
    if done == 0 {
        return steps;
    }
    let calls = |step: &Vec<Wish>| step.iter().filter_map(Wish::tool).any(|tool| is_offered(tool, request));
    let last = steps.iter().enumerate().filter(|(_, step)| calls(step)).map(|(at, _)| at).nth(done - 1);
    last.map_or(&[], |last| &steps[last + 1..])
}

fn calls_of(message: &ChatMessage) -> &[ToolCall] {
    match message {
        ChatMessage::Assistant { tool_calls, .. } => tool_calls,
        ChatMessage::User { .. } | ChatMessage::Tool { .. } => &[],
    }
}

fn grant(wish: &Wish, request: &Request, at: usize, prompt: &str) -> Vec<Planned> {
    match wish {
        Wish::Tool(tool, args) => vec![call(tool, args.clone(), request)],
        Wish::AskSomething => match question(asked_before(request, at)) {
            Wish::Tool(tool, args) => vec![call(&tool, args, request)],
            _ => Vec::new(),
        },
        Wish::Think => vec![
            Planned::Think(samples::THOUGHT.to_owned()),
            Planned::Say("I have thought about it: forty-two.".to_owned()),
        ],
        Wish::Fail { kind, halfway } => {
            let words = halfway.then(|| Planned::Say("This answer breaks off in the mid".to_owned()));
            let text = "the offline model was asked to fail".to_owned();
            words.into_iter().chain([Planned::Fail { kind: *kind, text }]).collect()
        }
        Wish::Count { to, slowly } => vec![Planned::Count { to: *to, slowly: *slowly }],
        Wish::Markdown => vec![Planned::Say(samples::MARKDOWN.to_owned())],
        Wish::Say(text) => vec![Planned::Say(text.clone())],
        Wish::Summary => vec![Planned::Say(closing::summary(&request.messages[..at]))],
        Wish::Help => vec![Planned::Say(samples::HELP.to_owned())],
        Wish::Chat => vec![Planned::Say(chat(prompt))],
    }
}

fn call(tool: &str, args: Value, request: &Request) -> Planned {
    if is_offered(tool, request) {
        return Planned::Call { tool: tool.to_owned(), args };
    }
    Planned::Say(format!("I would call the tool `{tool}` with `{args}`, but it is not offered to me here."))
}

fn is_offered(tool: &str, request: &Request) -> bool {
    request.tools.iter().any(|offered| offered.name == tool)
}

/// How often "ask me something" stood in the conversation before: the sorts of questions take turns.
fn asked_before(request: &Request, at: usize) -> usize {
    request.messages[..at]
        .iter()
        .filter(|message| closing::is_prompt(message))
        .filter(|message| read(&message.text()).iter().flatten().any(|wish| *wish == Wish::AskSomething))
        .count()
}

fn chat(prompt: &str) -> String {
    let echo = prompt.trim();
    let echo = match echo.char_indices().nth(MAX_ECHO) {
        Some((end, _)) => format!("{}…", &echo[..end]),
        None => echo.to_owned(),
    };
    if echo.is_empty() {
        return samples::HELP.to_owned();
    }
    let quoted: Vec<String> = echo.lines().map(|line| format!("> {line}")).collect();
    format!("You said:\n\n{}\n\n{}", quoted.join("\n"), samples::HELP)
}

/// Puts a blank line between two texts that would run together.
fn separate(planned: Vec<Planned>) -> Vec<Planned> {
    let mut out: Vec<Planned> = Vec::with_capacity(planned.len());
    for mut item in planned {
        let after_words = matches!(out.last(), Some(Planned::Say(_) | Planned::Count { .. }));
        match &mut item {
            Planned::Say(text) if after_words => text.insert_str(0, "\n\n"),
            Planned::Count { .. } if after_words => out.push(Planned::Say("\n\n".to_owned())),
            _ => {}
        }
        out.push(item);
    }
    out
}
