//! Files that a person attached, as the model reads them: the record keeps where they are, the model gets what is in them.
//!
//! Read anew for each turn. A file of the turn's own input that cannot be read fails the turn with a clear word; one of an older
//! message only leaves a note.

use base64::Engine;
use domain::content::Part;
use domain::event::Failure;
use domain::state::{Entry, EntryKind};
use std::io::Read as _;
use std::path::PathBuf;
use std::sync::Arc;
use tools::ToolContext;

/// The kind of part that stands for an attached file: `{"path": …, "mime": …}`.
pub(crate) const ATTACHMENT: &str = "attachment";
/// Most bytes of one attached file.
pub(crate) const MAX_ATTACHMENT: u64 = 10 * 1024 * 1024;

/// Puts the contents of attached files in the place of their names. Blocks on the disk.
pub(crate) fn expand(entries: &mut [Arc<Entry>], place: &ToolContext) -> Result<(), Failure> {
    let newest = entries.len().saturating_sub(1);
    for (at, entry) in entries.iter_mut().enumerate() {
        // The others stay those of the session.
        if !brings_file(entry) {
            continue;
        }
        let EntryKind::Message(message) = &mut Arc::make_mut(entry).kind else { continue };
        for part in &mut message.parts {
            let Part::Opaque { kind, json } = &*part else { continue };
            if kind != ATTACHMENT {
                continue;
            }
            *part = match read(json.as_str(), place) {
                Ok(read) => read,
                Err(why) if at == newest => {
                    let failure = Failure::new("attachment", why);
                    return Err(failure.hint("check the path, or send the message without the file"));
                }
                Err(why) => Part::Text(format!("(a file was attached here: {why})")),
            };
        }
    }
    Ok(())
}

fn brings_file(entry: &Entry) -> bool {
    let is_file = |part: &Part| matches!(part, Part::Opaque { kind, .. } if kind == ATTACHMENT);
    matches!(&entry.kind, EntryKind::Message(message) if message.parts.iter().any(is_file))
}

fn read(json: &str, place: &ToolContext) -> Result<Part, String> {
    let named: serde_json::Value = serde_json::from_str(json).map_err(|why| format!("not a file: {why}"))?;
    let text = |name: &str| named.get(name).and_then(serde_json::Value::as_str);
    let path = text("path").ok_or("the attachment names no file")?;
    let mime = text("mime").unwrap_or("text/plain");
    let file = place.workdir().join(PathBuf::from(path));
    let failed = |why: std::io::Error| format!("{path}: {why}");
    let file = tools::plain_file::open(&file).map_err(failed)?;
    let mut bytes = Vec::new();
    file.take(MAX_ATTACHMENT + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > MAX_ATTACHMENT {
        return Err(format!("{path} is larger than {} MB", MAX_ATTACHMENT / 1024 / 1024));
    }
    if mime.starts_with("image/") {
        let base64 = Arc::from(base64::engine::general_purpose::STANDARD.encode(bytes));
        return Ok(Part::Image { mime: mime.to_owned(), base64 });
    }
    match String::from_utf8(bytes) {
        Ok(content) => Ok(Part::Text(format!("Attached file {path} ({mime}):\n{content}"))),
        Err(_) => Err(format!("{path} ({mime}) is neither text nor a picture")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::content::{Json, Role};
    use domain::event::{Body, Finish, MessageEvent};
    use domain::ids::{EntryId, MessageId, Millis};
    use domain::state::State;

    /// A conversation in which each prompt brings one file along.
    fn prompts_with(files: &[&str]) -> Vec<Arc<Entry>> {
        let mut state = State::new();
        for (n, file) in (1..).zip(files) {
            let message = MessageId(n);
            let parent = n.checked_sub(1).filter(|before| *before > 0).map(EntryId);
            let json = Json::verbatim(format!(r#"{{"path":"{file}"}}"#));
            let part = Part::Opaque { kind: ATTACHMENT.to_owned(), json };
            let (role, turn, step) = (Role::User, None, None);
            for event in [
                MessageEvent::Started { message, parent, role, turn, step },
                MessageEvent::PartAdded { message, part },
                MessageEvent::Ended { message, finish: Finish::Complete },
            ] {
                state.apply(Millis(n), &Body::Message(event)).unwrap();
            }
        }
        state.entries.into_values().collect()
    }

    #[test]
    fn a_file_that_is_gone_fails_its_own_prompt_and_is_a_note_in_an_older_one() {
        let (folder, place) = place();
        std::fs::write(folder.path().join("a.txt"), "alpha").unwrap();
        let mut older = prompts_with(&["gone.txt", "a.txt"]);
        expand(&mut older, &place).unwrap();
        let EntryKind::Message(message) = &older[0].kind else { panic!("a message") };
        assert!(message.text().starts_with("(a file was attached here: gone.txt"), "{}", message.text());
        let failure = expand(&mut prompts_with(&["a.txt", "gone.txt"]), &place).unwrap_err();
        assert!(failure.message.contains("gone.txt"), "{failure:?}");
    }

    fn place() -> (tempfile::TempDir, ToolContext) {
        let folder = tempfile::tempdir().unwrap();
        let place = ToolContext::new(folder.path(), &folder.path().join("out")).unwrap();
        (folder, place)
    }

    #[test]
    fn text_and_pictures_are_read_by_their_type() {
        let (folder, place) = place();
        std::fs::write(folder.path().join("a.txt"), "alpha").unwrap();
        let text = read(r#"{"path":"a.txt","mime":"text/plain"}"#, &place).unwrap();
        assert!(matches!(text, Part::Text(text) if text.ends_with("alpha")));
        let picture = read(r#"{"path":"a.txt","mime":"image/png"}"#, &place).unwrap();
        assert!(matches!(picture, Part::Image { base64, .. } if &*base64 == "YWxwaGE="));
    }

    #[test]
    fn what_cannot_be_read_says_why() {
        let (folder, place) = place();
        std::fs::write(folder.path().join("b.bin"), [0xff, 0xfe]).unwrap();
        assert!(read(r#"{"path":"gone.txt","mime":"text/plain"}"#, &place).unwrap_err().contains("gone.txt"));
        assert!(
            read(r#"{"path":"b.bin","mime":"application/zip"}"#, &place).unwrap_err().contains("neither")
        );
    }
}
