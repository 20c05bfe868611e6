//! What a server offers beside tools: prompts, which the person uses as `/server:prompt`, and resources, which they name as `@server:uri`.
//!
//! Invariant: bounded and harmless to show, whatever the server sent: what has no name that could be typed is left out. Pure.

use domain::harmless;
use domain::port::menu::AgentCommand;
use rmcp::model::{ContentBlock, Prompt, Resource, ResourceContents, ResourceTemplate};
use serde::{Deserialize, Serialize};
use std::fmt::Write as _;

/// Most prompts of one server.
pub(super) const MAX_PROMPTS: usize = 64;
/// Most arguments of one prompt.
const MAX_ARGUMENTS: usize = 16;
/// Most resources and forms of resources of one server.
pub(super) const MAX_RESOURCES: usize = 256;
/// Longest name, in characters.
const MAX_NAME: usize = 64;
/// Longest address of a resource, in bytes.
const MAX_URI: usize = 1_024;
/// Longest description, in characters.
const MAX_ABOUT: usize = 200;

/// What a server offers beside its tools.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct BesideTools {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) prompts: Vec<OfferedPrompt>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) resources: Vec<OfferedResource>,
}

/// A prompt of a server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct OfferedPrompt {
    /// Its name at the server.
    pub(super) name: String,
    /// The same in letters that a person types behind a slash.
    pub(super) typed: String,
    about: String,
    pub(crate) arguments: Vec<PromptArgument>,
}

/// A value that a prompt is filled with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PromptArgument {
    pub(crate) name: String,
    /// What a person is shown of it.
    pub(crate) about: String,
    pub(crate) required: bool,
}

/// A resource of a server, or a form that addresses of its resources have.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct OfferedResource {
    pub(super) uri: String,
    about: String,
    /// Whether something stands in braces in its address, to be filled in.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) is_form: bool,
}

/// One line that can be shown: without what a screen would obey or hide.
fn line(text: &str, most: usize) -> String {
    let text: String = harmless::clean(text).split_whitespace().collect::<Vec<_>>().join(" ");
    text.chars().filter(|c| !harmless::is_harmful(*c) && !harmless::is_hidden(*c)).take(most).collect()
}

/// A title and a description as one line.
fn about(title: Option<&str>, description: Option<&str>) -> String {
    let parts: Vec<String> =
        [title, description].into_iter().flatten().map(|text| line(text, MAX_ABOUT)).collect();
    let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    parts.join(": ").chars().take(MAX_ABOUT).collect()
}

/// Whether an address can be typed and shown as it is.
fn is_plain_uri(uri: &str) -> bool {
    !uri.is_empty()
        && uri.len() <= MAX_URI
        && !uri
            .chars()
            .any(|c| c.is_whitespace() || harmless::is_harmful(c) || harmless::is_hidden(c) || c == '"')
}

impl OfferedPrompt {
    /// `None` when it has no name that can be used.
    pub(super) fn of(prompt: &Prompt) -> Option<OfferedPrompt> {
        let plain = |c: char| if c.is_ascii_alphanumeric() || "-_.:".contains(c) { c } else { '-' };
        let typed: String = prompt.name.chars().map(plain).collect();
        if typed.is_empty() || prompt.name.chars().count() > MAX_NAME {
            return None;
        }
        let arguments = prompt.arguments.iter().flatten().filter(|one| {
            let is_shown = line(&one.name, MAX_NAME) == one.name;
            is_shown && !one.name.is_empty() && !one.name.contains(['=', ' '])
        });
        let argument = |one: &rmcp::model::PromptArgument| PromptArgument {
            name: one.name.clone(),
            about: about(one.title.as_deref(), one.description.as_deref()),
            required: one.required == Some(true),
        };
        Some(OfferedPrompt {
            name: prompt.name.clone(),
            typed,
            about: about(prompt.title.as_deref(), prompt.description.as_deref()),
            arguments: arguments.take(MAX_ARGUMENTS).map(argument).collect(),
        })
    }

    /// As UIs list it.
    pub(super) fn command(&self, server: &str) -> AgentCommand {
        let word = |one: &PromptArgument| match one.required {
            true => one.name.clone(),
            false => format!("[{}]", one.name),
        };
        let hint: Vec<String> = self.arguments.iter().map(word).collect();
        let hint = hint.join(" ");
        AgentCommand {
            name: format!("{server}:{}", self.typed),
            about: format!("MCP prompt of {server}. {}", self.about).trim_end_matches([' ', '.']).to_owned(),
            hint: (!hint.is_empty()).then_some(hint),
        }
    }

    /// The arguments as they were written behind the name: `name=value`, or one word after the other; what is left over belongs to the
    /// last one.
    pub(crate) fn arguments_in(&self, behind: &str) -> Vec<(String, String)> {
        let names: Vec<&str> = self.arguments.iter().map(|one| one.name.as_str()).collect();
        let (mut given, mut loose): (Vec<(String, String)>, Vec<String>) = (Vec::new(), Vec::new());
        for word in crate::words::words(behind) {
            match word.split_once('=').filter(|(name, _)| names.contains(name)) {
                Some((name, value)) => given.push((name.to_owned(), value.to_owned())),
                None => loose.push(word),
            }
        }
        let open: Vec<&str> =
            names.into_iter().filter(|name| !given.iter().any(|(known, _)| known == name)).collect();
        for (at, name) in open.iter().enumerate() {
            if loose.is_empty() {
                break;
            }
            let is_last = at + 1 == open.len();
            let value = if is_last { std::mem::take(&mut loose).join(" ") } else { loose.remove(0) };
            given.push(((*name).to_owned(), value));
        }
        given
    }
}

impl OfferedResource {
    /// `None` when its address cannot be typed.
    pub(super) fn of(resource: &Resource) -> Option<OfferedResource> {
        let name = resource.title.as_deref().unwrap_or(&resource.name);
        let about = about(Some(name), resource.description.as_deref());
        is_plain_uri(&resource.uri).then(|| OfferedResource {
            uri: resource.uri.clone(),
            about,
            is_form: false,
        })
    }

    /// The same of a form of addresses.
    pub(super) fn of_form(form: &ResourceTemplate) -> Option<OfferedResource> {
        let name = form.title.as_deref().unwrap_or(&form.name);
        let about = about(Some(name), form.description.as_deref());
        let uri = &form.uri_template;
        is_plain_uri(uri).then(|| OfferedResource { uri: uri.clone(), about, is_form: true })
    }

    /// As UIs offer it behind an `@`.
    pub(super) fn mention(&self, server: &str) -> AgentCommand {
        AgentCommand { name: format!("{server}:{}", self.uri), about: self.about.clone(), hint: None }
    }
}

/// What stands in braces in a form of addresses.
pub(super) fn variables(form: &str) -> Vec<&str> {
    let inner = form.split('{').skip(1).filter_map(|part| part.split_once('}')).map(|(inner, _)| inner);
    inner.map(|name| name.trim_start_matches(['+', '#', '.', '/', ';', '?', '&'])).collect()
}

/// What a resource holds, as a model reads it.
pub(super) fn contents(contents: &[ResourceContents]) -> String {
    let mut text = String::new();
    for one in contents {
        match one {
            ResourceContents::TextResourceContents { text: said, .. } => {
                text.push_str(&harmless::clean(said));
            }
            ResourceContents::BlobResourceContents { blob, mime_type, .. } => {
                let kind = line(mime_type.as_deref().unwrap_or("unknown kind"), MAX_NAME);
                let _ = write!(text, "[{} bytes, {kind}]", blob.len() / 4 * 3);
            }
            _ => text.push_str("[something that cannot be shown]"),
        }
        text.push('\n');
    }
    text.trim_end().to_owned()
}

/// A link that a server gives, in one line. Nothing is read for it.
pub(super) fn link(link: &Resource) -> String {
    let title = about(link.title.as_deref(), link.description.as_deref());
    let mut text = format!("[link: {}", line(&link.name, MAX_ABOUT));
    let size = link.size.map(|size| format!("{size} bytes"));
    let kind = link.mime_type.as_deref().map(|kind| line(kind, MAX_NAME));
    for more in [Some(title), kind, size, Some(line(&link.uri, MAX_URI))].into_iter().flatten() {
        if !more.is_empty() {
            let _ = write!(text, ", {more}");
        }
    }
    text + "]"
}

/// One piece of a prompt's text.
pub(super) fn piece(block: &ContentBlock) -> String {
    match block {
        ContentBlock::Text(text) => harmless::clean(&text.text).into_owned(),
        ContentBlock::Resource(embedded) => contents(std::slice::from_ref(&embedded.resource)),
        ContentBlock::ResourceLink(resource) => link(resource),
        ContentBlock::Image(_) => "[a picture]".to_owned(),
        ContentBlock::Audio(_) => "[a sound]".to_owned(),
        _ => "[something that cannot be shown]".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prompt(name: &str, arguments: &[(&str, bool)]) -> OfferedPrompt {
        let arguments = arguments
            .iter()
            .map(|(name, required)| rmcp::model::PromptArgument::new(*name).with_required(*required));
        OfferedPrompt::of(&Prompt::new(name, Some("About it"), Some(arguments.collect()))).unwrap()
    }

    #[test]
    fn arguments_are_named_or_stand_in_their_order() {
        let trip = prompt("plan a trip", &[("from", true), ("to", true), ("note", false)]);
        assert_eq!(trip.command("srv").name, "srv:plan-a-trip");
        assert_eq!(trip.command("srv").hint.as_deref(), Some("from to [note]"));
        for (behind, wants) in [
            ("Oslo Rome by train", vec![("from", "Oslo"), ("to", "Rome"), ("note", "by train")]),
            ("to=Rome Oslo", vec![("to", "Rome"), ("from", "Oslo")]),
            ("\"New York\" Rome", vec![("from", "New York"), ("to", "Rome")]),
            ("", vec![]),
        ] {
            let given = trip.arguments_in(behind);
            let given: Vec<(&str, &str)> = given.iter().map(|(n, v)| (n.as_str(), v.as_str())).collect();
            assert_eq!(given, wants, "{behind}");
        }
    }

    #[test]
    fn what_a_server_says_of_itself_is_one_harmless_line() {
        let bad = "\u{1b}[2Jhello\u{202e} \n\r\tworld\u{200b}".repeat(100);
        let prompt = Prompt::new("x", Some(bad.as_str()), None).with_title(bad.as_str());
        let command = OfferedPrompt::of(&prompt).unwrap().command("s");
        assert!(!command.about.contains(['\u{1b}', '\n', '\u{202e}', '\u{200b}']), "{command:?}");
        assert!(command.about.chars().count() <= MAX_ABOUT + 40);
        assert!(OfferedPrompt::of(&Prompt::new("y".repeat(MAX_NAME + 1), Some("x"), None)).is_none());
        for uri in ["", "a b", "a\u{200b}b", "a\nb", "\u{1b}[1m", &"x".repeat(MAX_URI + 1)] {
            assert!(OfferedResource::of(&Resource::new(uri, "x")).is_none(), "{uri:?}");
        }
        let link = link(&Resource::new("file:///etc/passwd", "pass\u{1b}[2J\nwd").with_title(bad));
        assert!(
            link.ends_with("file:///etc/passwd]") && !link.contains(['\n', '\u{1b}', '\u{202e}']),
            "{link}"
        );
        assert_eq!(variables("a://{+x}/{y}"), ["x", "y"]);
    }
}
