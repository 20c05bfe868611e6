//! Blocks of content and parts of messages: what one is in the words of the other. Pure, and the same for both roles.

use super::wire::{ContentBlock, EmbeddedResource, ImageContent, Raw, ResourceContents, ResourceLink};
use domain::content::{Input, Json, Part};
use domain::path_text;

/// Begins the address of a file.
const FILE: &str = "file://";
/// Begins the media type of a programming language.
const CODE: &str = "text/x-";
/// What an opaque part is called that is a block of this wire.
const BLOCK: &str = "content_block";

/// Why a prompt cannot be taken.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct NotTaken(pub(super) String);

/// What a prompt says.
pub(super) fn lift_prompt(blocks: Vec<ContentBlock>) -> Result<Input, NotTaken> {
    let mut input = Input::default();
    let mut after_text = false;
    for block in blocks {
        let is_text = matches!(block, ContentBlock::Text(_));
        match block {
            ContentBlock::Text(text) => {
                let touches = |c: Option<char>| c.is_some_and(|c| !c.is_whitespace());
                if after_text && touches(input.text.chars().next_back()) && touches(text.text.chars().next())
                {
                    input.text.push('\n');
                }
                input.text.push_str(&text.text);
            }
            ContentBlock::ResourceLink(link) => input.text.push_str(&mention(&link)),
            ContentBlock::Image(image) => input.attachments.push(readable(lift_image(image))?),
            ContentBlock::Resource(resource) => {
                input.attachments.push(readable(lift_resource(resource))?);
            }
            ContentBlock::Audio(_) => {
                return Err(NotTaken("audio is not offered here; send text".to_owned()));
            }
            ContentBlock::Unknown(raw) => {
                let kind = raw.word("type").unwrap_or_default();
                return Err(NotTaken(format!("a block of type {kind:?} cannot be read")));
            }
        }
        after_text = is_text;
    }
    Ok(input)
}

/// A picture that nobody could draw is refused here, and not by the model after a while.
fn readable(part: Part) -> Result<Part, NotTaken> {
    match &part {
        Part::Image { base64, .. } if !is_base64(base64) => {
            Err(NotTaken("the data of a picture is not base64; send its bytes in that form".to_owned()))
        }
        _ => Ok(part),
    }
}

/// Whether a text is base64 of something, padded or not.
fn is_base64(text: &str) -> bool {
    let digits = text.trim_end_matches('=');
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/');
    !digits.is_empty() && digits.len() % 4 != 1 && text.len() - digits.len() <= 2 && digits.bytes().all(plain)
}

/// A link in the middle of a text.
fn mention(link: &ResourceLink) -> String {
    let place = place(&link.uri);
    if place == link.name || link.name.is_empty() {
        format!("`{place}`")
    } else {
        format!("[@{}]({place})", link.name)
    }
}

/// Where a file is, if it is one; else the address.
fn place(uri: &str) -> String {
    if uri.starts_with(FILE) { path_text::write(&path_text::read(uri)) } else { uri.to_owned() }
}

/// The address of a file; what would end or bend it is escaped.
fn address(path: &str) -> String {
    let mut uri = FILE.to_owned();
    for c in path.chars() {
        match c {
            ' ' => uri.push_str("%20"),
            '#' => uri.push_str("%23"),
            '%' => uri.push_str("%25"),
            '?' => uri.push_str("%3F"),
            c => uri.push(c),
        }
    }
    uri
}

fn lift_image(image: ImageContent) -> Part {
    Part::Image { mime: image.mime_type, base64: image.data.into() }
}

fn lift_resource(embedded: EmbeddedResource) -> Part {
    let resource = embedded.resource;
    let mime = resource.mime_type.clone().unwrap_or_default();
    match (resource.text, resource.blob) {
        (Some(text), _) => {
            let language = mime.strip_prefix(CODE).map(ToOwned::to_owned);
            let path = place(&resource.uri);
            Part::Code { language, text, path: Some(path).filter(|path| !path.is_empty()) }
        }
        (None, Some(blob)) if mime.starts_with("image/") => Part::Image { mime, base64: blob.into() },
        (None, _) => Part::Text(format!("(a file of type {mime:?} at {} that is no text)", resource.uri)),
    }
}

/// What a message says, as a block; `None` for what has no place in one.
pub(super) fn lift_block(block: ContentBlock) -> Part {
    match block {
        ContentBlock::Text(text) => Part::Text(text.text),
        ContentBlock::Image(image) => lift_image(image),
        ContentBlock::Resource(resource) => lift_resource(resource),
        ContentBlock::ResourceLink(link) => Part::Text(mention(&link)),
        block @ (ContentBlock::Audio(_) | ContentBlock::Unknown(_)) => {
            let json = serde_json::to_string(&block).unwrap_or_else(|_| "null".to_owned());
            Part::Opaque { kind: BLOCK.to_owned(), json: Json::verbatim(json) }
        }
    }
}

/// A part of a message as a block; `None` for the place of a tool.
pub(super) fn lower_part(part: &Part, embeds: bool) -> Option<ContentBlock> {
    Some(match part {
        Part::Text(text) | Part::Thought { text, .. } => ContentBlock::text(text.clone()),
        Part::Image { mime, base64 } => ContentBlock::Image(ImageContent {
            data: base64.to_string(),
            mime_type: mime.clone(),
            ..ImageContent::default()
        }),
        Part::Code { language, text, path: Some(path) } if embeds => {
            let uri = if path.starts_with('/') { address(path) } else { path.clone() };
            let mime_type = language.as_ref().map(|language| format!("{CODE}{language}"));
            let resource =
                ResourceContents { uri, mime_type, text: Some(text.clone()), ..ResourceContents::default() };
            ContentBlock::Resource(EmbeddedResource { resource, ..EmbeddedResource::default() })
        }
        Part::Code { language, text, path } => {
            ContentBlock::text(fenced(language.as_deref(), text, path.as_deref()))
        }
        Part::Diff { text, path } => ContentBlock::text(fenced(Some("diff"), text, path.as_deref())),
        Part::Tool(_) => return None,
        Part::Opaque { .. } if part.is_private() => return None,
        Part::Opaque { kind, json } if kind == BLOCK => {
            serde_json::from_str(json.as_str()).unwrap_or_else(|_| ContentBlock::text(json.as_str()))
        }
        Part::Opaque { json, .. } => ContentBlock::text(json.as_str()),
    })
}

/// What a person says, as the blocks of a prompt.
pub(super) fn lower_input(input: &Input, embeds: bool) -> Vec<ContentBlock> {
    input.parts().iter().filter_map(|part| lower_part(part, embeds)).collect()
}

/// Code as Markdown shows it.
pub(super) fn fenced(language: Option<&str>, text: &str, path: Option<&str>) -> String {
    let longest = text.lines().map(|line| line.bytes().take_while(|byte| *byte == b'`').count()).max();
    let fence = "`".repeat(longest.unwrap_or(0).max(2) + 1);
    let head = path.map(|path| format!("{path}:\n")).unwrap_or_default();
    let end = if text.ends_with('\n') || text.is_empty() { "" } else { "\n" };
    format!("{head}{fence}{}\n{text}{end}{fence}\n", language.unwrap_or_default())
}

/// JSON that may be absent, as it stands in `rawInput` and `rawOutput`.
pub(super) fn raw(json: &Json) -> Raw {
    Raw::keep(json.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_only_the_agent_reads_is_told_to_nobody() {
        let private = Part::Opaque { kind: domain::content::KEPT.to_owned(), json: Json::empty() };
        assert!(lower_part(&private, true).is_none());
    }
}
