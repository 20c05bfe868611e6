//! From a line to what is wanted. Pure; what is wrong is told with the id of the request, as far as it can be read.

use crate::wire::{Attachment, Metadata, Picture, Request};
use crate::{ATTACHMENT, conversation};
use domain::content::{Input, Json, Part};
use domain::ids::SessionId;
use serde_json::{Value, json};

/// Largest picture.
pub const MAX_IMAGE_BYTES: usize = 5 * 1024 * 1024;
/// Most files and pictures of one message.
pub const MAX_ATTACHMENTS: usize = 32;

/// What a request wants.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Wanted {
    Message { input: Input, session: Option<SessionId> },
    Clear { session: Option<SessionId> },
    Status,
    New { title: Option<String> },
    Load { session: SessionId, conversation: String },
}

/// A request that was read, or why it was not: the id to answer with, and the words.
pub(super) type Read = Result<(Value, Wanted), (Value, String)>;

/// Reads a line. `notes` collects what was passed over.
pub(super) fn read(line: &str, notes: &mut Vec<String>) -> Read {
    let nameless = |why: String| (Value::String(String::new()), why);
    wire::depth::check(line).map_err(|why| nameless(format!("the request could not be read: {why}")))?;
    let value: Value = serde_json::from_str(line)
        .map_err(|why| nameless(format!("the request is not JSON: {why}; send one JSON object per line")))?;
    if !value.is_object() {
        return Err(nameless("the request is not a JSON object; send {\"id\":…,\"kind\":…}".to_owned()));
    }
    let id = match value.get("id") {
        Some(Value::String(id)) if !id.is_empty() => Value::String(id.clone()),
        Some(id @ Value::Number(_)) => id.clone(),
        _ => return Err(nameless("the request has no id; give it a string of its own".to_owned())),
    };
    match wanted(value, notes) {
        Ok(wanted) => Ok((id, wanted)),
        Err(why) => Err((id, why)),
    }
}

fn wanted(value: Value, notes: &mut Vec<String>) -> Result<Wanted, String> {
    let Some(kind) = value.get("kind").and_then(Value::as_str).map(str::to_owned) else {
        return Err(
            "The request has no kind; known are user_message, clear_history and get_status".to_owned()
        );
    };
    let request: Request = serde_json::from_value(value).map_err(|why| why.to_string())?;
    match request {
        Request::UserMessage { message, images, attachments, metadata, .. } => {
            let input = input(message, attachments, pictures(images, notes))?;
            Ok(Wanted::Message { input, session: session_of(metadata.as_ref()) })
        }
        Request::ClearHistory { metadata, .. } => {
            Ok(Wanted::Clear { session: session_of(metadata.as_ref()) })
        }
        Request::GetStatus { .. } => Ok(Wanted::Status),
        Request::NewConversation { metadata, .. } => {
            Ok(Wanted::New { title: metadata.and_then(|metadata| metadata.title) })
        }
        Request::LoadConversation { conversation_id, metadata, .. } => {
            let named = || metadata.as_ref().and_then(Metadata::conversation).map(str::to_owned);
            let name = Some(conversation_id).filter(|name| !name.is_empty()).or_else(named);
            let name = name.ok_or("load_conversation needs a conversation_id")?;
            Ok(Wanted::Load { session: conversation::session(&name), conversation: name })
        }
        Request::Unknown => {
            let shown: String = kind.chars().take(80).collect();
            Err(format!(
                "Unknown request kind: {shown}; known are user_message, clear_history and get_status"
            ))
        }
    }
}

fn session_of(metadata: Option<&Metadata>) -> Option<SessionId> {
    metadata.and_then(Metadata::conversation).map(conversation::session)
}

fn input(text: String, files: Vec<Attachment>, pictures: Vec<Picture>) -> Result<Input, String> {
    let mut input = Input::text(text);
    for attachment in files {
        // The name goes to the model in words too, so that it can open the file by itself.
        let Attachment { path, mime } = &attachment;
        let kind = if mime.is_empty() { String::new() } else { format!(" ({mime})") };
        let gap = if input.text.is_empty() { "" } else { "\n\n" };
        input.text.push_str(&format!("{gap}[attached file: {path}{kind}]"));
        let json = Json::verbatim(json!({ "path": path, "mime": mime }).to_string());
        input.attachments.push(Part::Opaque { kind: ATTACHMENT.to_owned(), json });
    }
    for picture in pictures {
        let bytes = picture.data.len() / 4 * 3;
        if bytes > MAX_IMAGE_BYTES {
            // Tenths of a megabyte, as the existing runtime tells them.
            let tenths = bytes * 10 / (1024 * 1024);
            let size = format!("{}.{}", tenths / 10, tenths % 10);
            return Err(format!(
                "Image too large ({size}MB). Maximum size is 5MB. Please use a smaller image."
            ));
        }
        let mime = if picture.mime_type.is_empty() { "image/png".to_owned() } else { picture.mime_type };
        input.attachments.push(Part::Image { mime, base64: picture.data.into() });
    }
    if input.attachments.len() > MAX_ATTACHMENTS {
        return Err(format!("too many attachments; send at most {MAX_ATTACHMENTS} with one message"));
    }
    if input.text.trim().is_empty() && input.attachments.is_empty() {
        return Err("the message is empty; write something or attach a picture".to_owned());
    }
    Ok(input)
}

/// Pictures come as a string that holds JSON; a plain list is taken too. What cannot be read is left out: the text still counts.
fn pictures(images: Value, notes: &mut Vec<String>) -> Vec<Picture> {
    let read = match images {
        Value::Null => return Vec::new(),
        Value::String(text) if text.is_empty() => return Vec::new(),
        Value::String(text) => serde_json::from_str(&text),
        list => serde_json::from_value(list),
    };
    read.unwrap_or_else(|_| {
        notes.push("images could not be read and were left out".to_owned());
        Vec::new()
    })
}

/// The id of a request whose line was too long to be read whole, if it stands first.
pub(super) fn id_in_head(head: &str) -> Option<Value> {
    let rest = head.trim_start().strip_prefix('{')?.trim_start().strip_prefix("\"id\"")?;
    let rest = rest.trim_start().strip_prefix(':')?.trim_start();
    let end = rest.strip_prefix('"')?.find('"')? + 2;
    serde_json::from_str(rest.get(..end)?).ok()
}
