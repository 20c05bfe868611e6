//! Compaction: the older part of a conversation becomes a summary that the model itself writes, and what stands [`beside`] it.
//!
//! A summary that is cut or empty is none: it is asked for again with more room and little thinking, then of the spare model; where nobody
//! writes one and the conversation does not fit, it is cut by rule, which says so. Where the conversation still fits, it is asked for at
//! its end, so that the provider has it in its cache; else in a request without tools that is much smaller than the window.

mod beside;

use crate::context::{Context, Piece, Source};
use beside::Beside;
use domain::event::{Compaction, Trigger};
use domain::ids::{EntryId, Ids};
use models::{ChatMessage, Content, Effort, ErrorKind, Model, ModelError, Reply, Request, StopReason, Usage};
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
/// Most tokens of a summary, thinking included; a smaller window has a share.
const MAX_SUMMARY_TOKENS: u32 = 16_000;
const SUMMARY_SHARE: u32 = 8;
/// How much more room a summary gets after one was cut.
const MORE_ROOM: u32 = 3;
/// Answers of which a cut by rule keeps the beginning, and how much of each.
const RULE_ANSWERS: usize = 12;
const RULE_ANSWER: usize = 400;

const SYSTEM: &str = "You write the summary that takes the place of the older part of a conversation between a person and a coding \
     agent; the agent goes on with it and sees nothing else of what was before. Keep: what the person wants, in their words \
     where they matter; decisions and limits they set; files that were read or changed and how; commands whose results \
     matter; what is still open and what comes next. Leave out what led nowhere. Do not go on with the work and do not \
     answer anything: write only the summary, as plain text.";

/// Asked at the end of the conversation itself.
const SUMMARIZE_ALL: &str = "Stop here for a moment: this conversation becomes too long and goes on from a summary of it. Write that \
     summary now, as plain text, without calling a tool. Keep: what I want, decisions and limits I set, files that were read or \
     changed and how, commands whose results matter, what is still open and what comes next. My own words are kept beside it.";

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
    /// Why no model wrote it, if so: it was cut by rule.
    pub(crate) by_rule: Option<String>,
}

/// Who is asked for a summary, and how.
pub(crate) struct Summarizer<'a> {
    pub(crate) model: &'a dyn Model,
    /// Asked where that one cannot.
    pub(crate) spare: Option<&'a dyn Model>,
    /// The next request of the conversation: the summary is asked for at its end, if that fits.
    pub(crate) request: Option<Request>,
    pub(crate) trigger: Trigger,
    /// What the person wants to be kept in mind.
    pub(crate) instruction: Option<&'a str>,
    pub(crate) cancel: &'a CancellationToken,
}

/// Lets the model summarize the older part of the context.
pub(crate) async fn compact(
    mut summarizer: Summarizer<'_>,
    context: &mut Context,
    ids: &Ids,
) -> Result<Compacted, NotCompacted> {
    let cut = context.cut().ok_or(NotCompacted::Nothing)?;
    let older = context.older(cut);
    let beside = Beside::of(older, window(summarizer.model).into());
    let mut bill = Bill::default();
    let (written, by_rule) = match summarizer.write(older, context.tokens(), &mut bill).await {
        Ok(written) => (written, None),
        Err(NoSummary::Cancelled) => return Err(NotCompacted::Cancelled),
        Err(NoSummary::Failed(error) | NoSummary::NotWhole(error))
            if summarizer.trigger == Trigger::Manual =>
        {
            return Err(NotCompacted::Failed(error));
        }
        // The next step may find the provider well again; one that does not fit does not.
        Err(NoSummary::Failed(error)) if summarizer.trigger != Trigger::Overflow => {
            return Err(NotCompacted::Failed(error));
        }
        Err(NoSummary::Failed(error) | NoSummary::NotWhole(error)) => {
            (by_rule(older), Some(error.to_string()))
        }
    };
    let summary = beside.write(&written);
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
            trigger: summarizer.trigger,
            unexplained: false,
            usage: domain::content::Usage::default(),
        },
        usage: bill.usage,
        estimated: bill.estimated,
        by_rule,
    })
}

/// What was spent on summaries, also on those that came to nothing.
#[derive(Default)]
struct Bill {
    usage: Usage,
    estimated: bool,
}

/// Why there is no summary.
enum NoSummary {
    Cancelled,
    /// It is cut or empty.
    NotWhole(ModelError),
    Failed(ModelError),
}

impl Summarizer<'_> {
    /// The summary, by whoever writes a whole one first.
    async fn write(&mut self, older: &[Piece], tokens: u64, bill: &mut Bill) -> Result<String, NoSummary> {
        let most = room(self.model);
        let first = match self.request.take() {
            Some(mut request) if tokens + u64::from(most) < u64::from(window(self.model)) => {
                request.messages.push(ChatMessage::user(self.asking(SUMMARIZE_ALL)));
                // The form is for the answer.
                request.schema = None;
                self.answer(self.model, request, bill).await
            }
            _ => self.plain(self.model, older, most, bill).await,
        };
        let more = match first {
            Err(NoSummary::NotWhole(_)) => {
                self.plain(self.model, older, most.saturating_mul(MORE_ROOM), bill).await
            }
            Err(NoSummary::Failed(error))
                if matches!(error.kind, ErrorKind::ContextOverflow | ErrorKind::BadRequest) =>
            {
                self.plain(self.model, older, most, bill).await
            }
            first => first,
        };
        match (more, self.spare) {
            (Err(NoSummary::NotWhole(_)), Some(spare)) => {
                self.plain(spare, older, room(spare).saturating_mul(MORE_ROOM), bill).await
            }
            (Err(NoSummary::Failed(error)), Some(spare)) if error.another_may_answer() => {
                self.plain(spare, older, room(spare), bill).await
            }
            (more, _) => more,
        }
    }

    /// Asks with the conversation as plain text, shorter and shorter until the provider takes it.
    async fn plain(
        &self,
        model: &dyn Model,
        older: &[Piece],
        most: u32,
        bill: &mut Bill,
    ) -> Result<String, NoSummary> {
        let mut room = (window(model) as usize).saturating_mul(BYTES_PER_WINDOW_TOKEN);
        let mut attempt = 1;
        loop {
            let mut request = request(older, room, &self.asking(SYSTEM));
            request.max_tokens = Some(most.min(model.info().max_output.unwrap_or(u32::MAX)));
            // What it thinks counts into that.
            request.thinking = if model.info().thinking == Some(true) { Effort::None } else { Effort::Off };
            match self.answer(model, request, bill).await {
                Err(NoSummary::Failed(error))
                    if error.kind == ErrorKind::ContextOverflow && attempt < ATTEMPTS =>
                {
                    (room, attempt) = (room / 2, attempt + 1);
                }
                answered => return answered,
            }
        }
    }

    fn asking(&self, words: &str) -> String {
        match self.instruction.map(str::trim).filter(|text| !text.is_empty()) {
            Some(instruction) => format!("{words}\nThe person asks to keep in mind: {instruction}"),
            None => words.to_owned(),
        }
    }

    async fn answer(
        &self,
        model: &dyn Model,
        request: Request,
        bill: &mut Bill,
    ) -> Result<String, NoSummary> {
        let mut deltas = model.stream(request, self.cancel.clone());
        let mut reply = Reply::default();
        let failed = loop {
            let delta = tokio::select! {
                biased;
                () = self.cancel.cancelled() => return Err(NoSummary::Cancelled),
                delta = deltas.recv() => delta,
            };
            match delta {
                Some(Ok(delta)) => reply.push(delta),
                Some(Err(error)) => break Some(error),
                None => break None,
            }
        };
        bill.usage += reply.spent();
        bill.estimated |= reply.estimated;
        if let Some(error) = failed {
            return Err(NoSummary::Failed(error));
        }
        let not_whole = |why: &str| {
            Err(NoSummary::NotWhole(ModelError::new(ErrorKind::Protocol, model.name().to_string(), why)))
        };
        let text = reply.text.trim();
        match reply.stop {
            Some(StopReason::Length) => not_whole("its summary was cut by the length limit"),
            Some(StopReason::Refusal) => not_whole("it declined to write a summary"),
            _ if text.is_empty() => not_whole("it wrote no summary"),
            _ => Ok(text.to_owned()),
        }
    }
}

/// Tokens that fit into a request of this model, or usually do where nobody told.
pub(crate) fn window(model: &dyn Model) -> u32 {
    model.info().context_window.unwrap_or(USUAL_WINDOW)
}

/// Tokens that a summary may have.
fn room(model: &dyn Model) -> u32 {
    let info = model.info();
    MAX_SUMMARY_TOKENS.min(window(model) / SUMMARY_SHARE).min(info.max_output.unwrap_or(u32::MAX))
}

/// What is left where nobody writes a summary: how the newest answers began.
fn by_rule(older: &[Piece]) -> String {
    let mut text = "No model could write a summary of this part: it is left out here, and is in the session's record. The newest \
                    answers of it began like this:"
        .to_owned();
    let carried = older.iter().find_map(|piece| match &piece.source {
        Source::Summary(summary) => Some(Beside::read(summary).0.to_owned()),
        Source::Person(_) | Source::Model => None,
    });
    let answers: Vec<String> = older
        .iter()
        .filter(|piece| piece.source == Source::Model)
        .filter_map(|piece| piece.messages.iter().find(|message| is_answer(message)).map(ChatMessage::text))
        .filter(|text| !text.trim().is_empty())
        .collect();
    for answer in answers.iter().skip(answers.len().saturating_sub(RULE_ANSWERS)) {
        text.push_str(&format!("\n- {}", shorten(answer.trim(), RULE_ANSWER).replace('\n', " ")));
    }
    match carried {
        Some(before) => format!("{before}\n\n{text}"),
        None => text,
    }
}

/// The request for a summary: the conversation as plain text messages, shortened until it fits in `room` bytes.
fn request(older: &[Piece], room: usize, system: &str) -> Request {
    let mut plain: Vec<ChatMessage> = older.iter().filter_map(plain).collect();
    let mut size: usize = plain.iter().map(|message| message.text().len()).sum();
    // The first prompt often says what it is all about; what goes first is what came right after it.
    while size > room && plain.len() > 2 {
        size = size.saturating_sub(plain.remove(1).text().len());
    }
    plain.push(ChatMessage::user("Summarize"));
    Request { system: Some(system.to_owned()), messages: plain, ..Request::default() }
}

fn is_answer(message: &ChatMessage) -> bool {
    matches!(message, ChatMessage::Assistant { .. })
}

/// A piece without tool calls: a provider refuses those when no tools are offered. What the model was told beside it is told anew.
fn plain(piece: &Piece) -> Option<ChatMessage> {
    let mut text = String::new();
    let person = !piece.messages.iter().any(is_answer);
    for message in &piece.messages {
        match message {
            ChatMessage::User { .. } if !person => {}
            ChatMessage::User { content } => add(&mut text, &said(content)),
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
    use models::scripted::Scripted;
    use models::{ToolArgs, ToolCall};

    #[test]
    fn a_request_for_a_summary_is_plain_text_and_fits() {
        let call = ToolCall { id: "c".into(), name: "read".into(), args: ToolArgs::read(r#"{"path":"a"}"#) };
        let asks =
            ChatMessage::Assistant { content: Vec::new(), tool_calls: vec![call.clone()], kept: Vec::new() };
        let piece = |entry, messages| Piece {
            entry: EntryId(entry),
            messages,
            source: Source::Model,
            told: None,
            pruned: 0,
        };
        let pieces = [
            piece(1, vec![ChatMessage::user("fix it")]),
            piece(2, vec![ChatMessage::assistant("x".repeat(3000))]),
            piece(3, vec![asks, ChatMessage::tool(&call, "é".repeat(MAX_TEXT * 2))]),
        ];
        let all = request(&pieces, 100_000, "keep names");
        assert!(all.tools.is_empty() && all.system.unwrap() == "keep names");
        let texts: Vec<String> = all.messages.iter().map(ChatMessage::text).collect();
        assert_eq!(texts.len(), 4);
        assert!(texts[2].starts_with("[used read {\"path\":\"a\"}]\n[read gave]\né"));
        assert!(texts[2].contains("characters left out") && texts[2].len() < 2 * MAX_TEXT + 200);
        assert_eq!(texts[3], "Summarize");
        let less = request(&pieces, 9_000, "");
        let texts: Vec<String> = less.messages.iter().map(ChatMessage::text).collect();
        assert_eq!((texts.len(), texts[0].as_str()), (3, "fix it"), "the first prompt and the newest stay");
    }

    #[tokio::test]
    async fn the_spare_model_writes_what_the_chosen_one_cannot() {
        let scripted = |script: &str| Scripted::new(models::scripted::parse(script).unwrap());
        let cut = "model text \"Half\" | end length";
        let chosen = scripted(&[cut, cut].join("\n---\n"));
        let spare = scripted("model text \"Whole.\"");
        let mut summarizer = Summarizer {
            model: &chosen,
            spare: Some(&spare),
            request: None,
            trigger: Trigger::Threshold,
            instruction: None,
            cancel: &CancellationToken::new(),
        };
        let (older, mut bill) = (
            [Piece {
                entry: EntryId(1),
                messages: vec![ChatMessage::user("fix it")],
                source: Source::Person("fix it".to_owned()),
                told: None,
                pruned: 0,
            }],
            Bill::default(),
        );
        let Ok(written) = summarizer.write(&older, 0, &mut bill).await else { panic!("nobody wrote it") };
        assert_eq!((written.as_str(), chosen.seen().len(), spare.seen().len()), ("Whole.", 2, 1));
    }
}
