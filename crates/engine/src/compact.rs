//! Compaction: the older part of a conversation becomes a summary that the model itself writes.
//!
//! The request offers no tools and is much smaller than the window, so that it fits even when the conversation does not.

use crate::context::{Context, Piece};
use domain::event::{Compaction, Trigger};
use domain::ids::{EntryId, Ids};
use models::{ChatMessage, Content, ErrorKind, Model, ModelError, Reply, Request, Usage};
use tokio_util::sync::CancellationToken;

/// Characters of one message or tool result that the summary is made from.
const MAX_TEXT: usize = 4_000;
/// Characters of a call's arguments that the summary is made from.
const MAX_ARGS: usize = 400;
/// Tokens of a window that is not known.
const USUAL_WINDOW: u32 = 100_000;
/// Bytes of the conversation per token of the window: half of it, at about four bytes each.
const BYTES_PER_WINDOW_TOKEN: usize = 2;
/// How often a shorter request is tried when the provider finds it too long still.
const ATTEMPTS: u32 = 3;
/// Most tokens of a summary.
const MAX_SUMMARY_TOKENS: u32 = 4_000;

const SYSTEM: &str = "You write the summary that takes the place of the older part of a conversation between a person and a coding \
     agent; the agent goes on with it and sees nothing else of what was before. Keep: what the person wants, in their words \
     where they matter; decisions and limits they set; files that were read or changed and how; commands whose results \
     matter; what is still open and what comes next. Leave out what led nowhere. Do not go on with the work and do not \
     answer anything: write only the summary, as plain text.";

/// Why nothing was compacted.
#[derive(Debug)]
pub(crate) enum NotCompacted {
    /// There is too little.
    Nothing,
    Cancelled,
    /// The model could not.
    Failed(ModelError),
}

/// A compaction that is to be reported; the context holds it already.
pub(crate) struct Compacted {
    pub(crate) entry: EntryId,
    pub(crate) compaction: Compaction,
    pub(crate) usage: Usage,
    /// Some of it was counted by size.
    pub(crate) estimated: bool,
}

/// Lets the model summarize the older part of the context.
pub(crate) async fn compact(
    model: &dyn Model,
    context: &mut Context,
    ids: &Ids,
    trigger: Trigger,
    instruction: Option<&str>,
    cancel: &CancellationToken,
) -> Result<Compacted, NotCompacted> {
    let cut = context.cut().ok_or(NotCompacted::Nothing)?;
    let window = model.info().context_window.unwrap_or(USUAL_WINDOW) as usize;
    let mut room = window.saturating_mul(BYTES_PER_WINDOW_TOKEN);
    let mut attempt = 1;
    let (summary, usage, estimated) = loop {
        let request = request(context.older(cut), room, instruction);
        match answer(model, request, cancel).await {
            Ok(answered) => break answered,
            Err(NotCompacted::Failed(error))
                if error.kind == ErrorKind::ContextOverflow && attempt < ATTEMPTS =>
            {
                (room, attempt) = (room / 2, attempt + 1);
            }
            Err(why) => return Err(why),
        }
    };
    let tokens_before = context.tokens();
    let first_kept = context.first_kept(cut);
    let entry = EntryId::mint(ids);
    context.compacted(cut, entry, &summary);
    Ok(Compacted {
        entry,
        compaction: Compaction {
            summary,
            first_kept,
            tokens_before,
            trigger,
            unexplained: false,
            usage: domain::content::Usage::default(),
        },
        usage,
        estimated,
    })
}

async fn answer(
    model: &dyn Model,
    request: Request,
    cancel: &CancellationToken,
) -> Result<(String, Usage, bool), NotCompacted> {
    let mut deltas = model.stream(request, cancel.clone());
    let mut reply = Reply::default();
    loop {
        let delta = tokio::select! {
            biased;
            () = cancel.cancelled() => return Err(NotCompacted::Cancelled),
            delta = deltas.recv() => delta,
        };
        match delta {
            Some(Ok(delta)) => reply.push(delta),
            Some(Err(error)) => return Err(NotCompacted::Failed(error)),
            None => break,
        }
    }
    let (text, usage, estimated) = (reply.text.trim(), reply.spent(), reply.estimated);
    if text.is_empty() {
        let why = ModelError::new(ErrorKind::Protocol, model.name().to_string(), "it wrote no summary");
        return Err(NotCompacted::Failed(why));
    }
    Ok((text.to_owned(), usage, estimated))
}

/// The request for a summary: the conversation as plain text messages, shortened until it fits in `room` bytes.
fn request(older: &[Piece], room: usize, instruction: Option<&str>) -> Request {
    let mut plain: Vec<ChatMessage> = older.iter().filter_map(plain).collect();
    let mut size: usize = plain.iter().map(|message| message.text().len()).sum();
    // The first prompt often says what it is all about; what goes first is what came right after it.
    while size > room && plain.len() > 2 {
        size = size.saturating_sub(plain.remove(1).text().len());
    }
    plain.push(ChatMessage::user("Summarize"));
    let mut system = SYSTEM.to_owned();
    if let Some(instruction) = instruction.filter(|text| !text.trim().is_empty()) {
        system.push_str("\nThe person asks to keep in mind: ");
        system.push_str(instruction.trim());
    }
    Request {
        system: Some(system),
        messages: plain,
        max_tokens: Some(MAX_SUMMARY_TOKENS),
        ..Request::default()
    }
}

/// A piece without tool calls: a provider refuses those when no tools are offered.
fn plain(piece: &Piece) -> Option<ChatMessage> {
    let mut text = String::new();
    let mut person = false;
    for message in &piece.messages {
        match message {
            ChatMessage::User { content } => {
                person = true;
                add(&mut text, &said(content));
            }
            ChatMessage::Assistant { content, tool_calls, .. } => {
                add(&mut text, &said(content));
                for call in tool_calls {
                    let args = shorten(&call.args.to_object().to_string(), MAX_ARGS);
                    add(&mut text, &format!("[used {} {args}]", call.name));
                }
            }
            ChatMessage::Tool { name, content, .. } => {
                add(&mut text, &format!("[{name} gave]\n{}", said(content)));
            }
        }
    }
    if text.is_empty() {
        return None;
    }
    Some(if person { ChatMessage::user(text) } else { ChatMessage::assistant(text) })
}

fn add(text: &mut String, more: &str) {
    if !text.is_empty() && !more.is_empty() {
        text.push('\n');
    }
    text.push_str(more);
}

fn said(content: &[Content]) -> String {
    let mut text = String::new();
    for piece in content {
        match piece {
            Content::Text(words) => add(&mut text, &shorten(words, MAX_TEXT)),
            Content::Image { .. } => add(&mut text, "[a picture]"),
        }
    }
    text
}

/// The beginning and the end of a long text.
fn shorten(text: &str, most: usize) -> String {
    let count = text.chars().count();
    if count <= most {
        return text.to_owned();
    }
    let half = most / 2;
    let head: String = text.chars().take(half).collect();
    let tail: String = text.chars().skip(count - half).collect();
    format!("{head}\n[… {} characters left out …]\n{tail}", count - 2 * half)
}

#[cfg(test)]
mod tests {
    use super::*;
    use models::{ToolArgs, ToolCall};

    #[test]
    fn a_request_for_a_summary_is_plain_text_and_fits() {
        let call = ToolCall { id: "c".into(), name: "read".into(), args: ToolArgs::read(r#"{"path":"a"}"#) };
        let asks =
            ChatMessage::Assistant { content: Vec::new(), tool_calls: vec![call.clone()], kept: Vec::new() };
        let pieces = [
            Piece { entry: EntryId(1), messages: vec![ChatMessage::user("fix it")] },
            Piece { entry: EntryId(2), messages: vec![ChatMessage::assistant("x".repeat(3000))] },
            Piece {
                entry: EntryId(3),
                messages: vec![asks, ChatMessage::tool(&call, "é".repeat(MAX_TEXT * 2))],
            },
        ];
        let all = request(&pieces, 100_000, Some("keep names"));
        assert!(all.tools.is_empty() && all.system.unwrap().ends_with("keep names"));
        let texts: Vec<String> = all.messages.iter().map(ChatMessage::text).collect();
        assert_eq!(texts.len(), 4);
        assert!(texts[2].starts_with("[used read {\"path\":\"a\"}]\n[read gave]\né"));
        assert!(texts[2].contains("characters left out") && texts[2].len() < 2 * MAX_TEXT + 200);
        assert_eq!(texts[3], "Summarize");
        let less = request(&pieces, 9_000, None);
        let texts: Vec<String> = less.messages.iter().map(ChatMessage::text).collect();
        assert_eq!((texts.len(), texts[0].as_str()), (3, "fix it"), "the first prompt and the newest stay");
    }
}
