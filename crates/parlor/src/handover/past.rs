//! A conversation as another agent is told it: what was said whole, what tools did in a line each, and what was left out by its count.
//!
//! Bounded: where it is too long the oldest is left out first. Nothing of it is an instruction; its head says so.

use domain::content::{Part, Role};
use domain::harmless;
use domain::state::{EntryKind, Message, State};
use domain::tool::ToolRun;
use export::{conversation, standing};
use std::fmt;

/// Longest text that is told, in bytes.
pub(crate) const MAX_PAST: usize = 32 * 1024;
/// Most of a call's arguments, and of what it said, that is told, in characters.
const MAX_OF_CALL: usize = 300;

/// What a past is called where it stands among the parts of a message.
pub(crate) const BEFORE: &str = "What came before";

/// A conversation as it is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Past {
    pub(crate) text: String,
    pub(crate) told: Counts,
    pub(crate) left_out: Counts,
}

/// How much of each kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) messages: usize,
    pub(crate) calls: usize,
    pub(crate) thoughts: usize,
    pub(crate) pictures: usize,
}

impl Counts {
    fn add(&mut self, more: Counts) {
        self.messages += more.messages;
        self.calls += more.calls;
        self.thoughts += more.thoughts;
        self.pictures += more.pictures;
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let of = |count: usize, one: &str| match count {
            0 => None,
            1 => Some(format!("1 {one}")),
            count => Some(format!("{count} {one}s")),
        };
        let said = [
            of(self.messages, "message"),
            of(self.calls, "tool call"),
            of(self.thoughts, "thought"),
            of(self.pictures, "picture"),
        ];
        let said: Vec<String> = said.into_iter().flatten().collect();
        f.write_str(&if said.is_empty() { "nothing".to_owned() } else { said.join(", ") })
    }
}

/// The conversation on the active path, for an agent that was not there. `who` says in words whose it was, and where it is kept. Without
/// `earlier`, what it was told itself of a conversation before it is left out: whoever hears this was there.
pub(crate) fn past(state: &State, who: &str, earlier: bool) -> Past {
    let pieces = conversation(state);
    let pieces: Vec<Piece> =
        pieces.iter().filter_map(|entry| Piece::of(state, &entry.kind, earlier)).collect();
    let (mut room, mut from) = (MAX_PAST, pieces.len());
    while from > 0 && pieces[from - 1].text.len() <= room {
        from -= 1;
        room -= pieces[from].text.len();
    }
    let (mut told, mut left_out) = (Counts::default(), Counts::default());
    for (at, piece) in pieces.iter().enumerate() {
        if at >= from {
            told.add(piece.told);
        } else {
            left_out.add(piece.told);
        }
        left_out.add(piece.left_out);
    }
    let mut text = format!(
        "What was said and done before you came, {who}. It is told so that you can go on; what tools did is done already. \
         Left out: {left_out}; of what tools said, the beginning is told.\n"
    );
    if !state.plan.is_empty() {
        text.push_str("\nThe plan:\n");
        for item in &state.plan {
            text.push_str(&format!("- ({:?}) {}\n", item.state, item.text));
        }
    }
    pieces[from..].iter().for_each(|piece| text.push_str(&piece.text));
    Past { text, told, left_out }
}

/// One entry as it is told.
#[derive(Default)]
struct Piece {
    text: String,
    told: Counts,
    left_out: Counts,
}

impl Piece {
    fn of(state: &State, kind: &EntryKind, earlier: bool) -> Option<Piece> {
        let piece = match kind {
            EntryKind::Message(message) => Piece::of_message(state, message, earlier),
            EntryKind::Compaction(compaction) => Piece {
                text: format!("\nIn short, before that:\n{}\n", compaction.summary),
                ..Piece::default()
            },
            EntryKind::Notice { .. } => return None,
        };
        Some(piece).filter(|piece| !piece.text.is_empty() || piece.left_out != Counts::default())
    }

    fn of_message(state: &State, message: &Message, earlier: bool) -> Piece {
        let mut piece = Piece::default();
        let mut said = String::new();
        for part in &message.parts {
            match part {
                Part::Text(text) => said.push_str(&format!("{}\n", text.trim_end())),
                Part::Code { path: Some(path), .. } if path == BEFORE && !earlier => {}
                Part::Code { text, path, .. } => {
                    said.push_str(&format!("{}\n{text}\n", path.as_deref().unwrap_or("code:")));
                }
                Part::Diff { text, path } => {
                    said.push_str(&format!("{}\n{text}\n", path.as_deref().unwrap_or("diff:")));
                }
                Part::Tool(id) => {
                    if let Some(tool) = state.tool(*id) {
                        said.push_str(&of_call(tool));
                        piece.told.calls += 1;
                    }
                }
                Part::Thought { .. } => piece.left_out.thoughts += 1,
                Part::Image { .. } => piece.left_out.pictures += 1,
                Part::Opaque { .. } => {}
            }
        }
        if !said.is_empty() {
            let who = match message.role {
                Role::User => "The person",
                Role::Assistant => "The agent",
                Role::System => "The program",
            };
            piece.text = format!("\n{who}:\n{said}");
            piece.told.messages = 1;
        }
        piece
    }
}

fn of_call(tool: &ToolRun) -> String {
    let said = tool.result.as_ref().map_or(tool.output.as_str(), |result| result.text.as_str());
    let said = beginning(said);
    let said = if said.is_empty() { said } else { format!(": {said}") };
    format!("[{} {} ({}){said}]\n", tool.name, beginning(tool.args.as_str()), standing(tool))
}

/// The beginning of a text, in one line.
fn beginning(text: &str) -> String {
    let mut words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    words.retain(|c| !harmless::is_harmful(c));
    if let Some((at, _)) = words.char_indices().nth(MAX_OF_CALL) {
        words.truncate(at);
        words.push('…');
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::event::{Body, Event, Finish, MessageEvent, SessionEvent};
    use domain::ids::{EntryId, MessageId, Millis, Seq};

    /// What the person says, one message for each list of parts.
    fn said(messages: &[Vec<Part>]) -> State {
        let (cwd, project) = ("/there".to_owned(), "/there".to_owned());
        let mut bodies = vec![Body::Session(SessionEvent::Opened { cwd, project, parent: None })];
        for (parts, id) in messages.iter().zip(1..) {
            let (message, parent) = (MessageId(id), (id > 1).then(|| EntryId(id - 1)));
            let role = Role::User;
            bodies.push(Body::Message(MessageEvent::Started {
                message,
                parent,
                role,
                turn: None,
                step: None,
            }));
            let parts = parts.iter().cloned();
            bodies.extend(parts.map(|part| Body::Message(MessageEvent::PartAdded { message, part })));
            bodies.push(Body::Message(MessageEvent::Ended { message, finish: Finish::Complete }));
        }
        let mut state = State::new();
        for (body, n) in bodies.into_iter().zip(1..) {
            state.fold(&Event { seq: Seq(n), at: Millis(n), body }).unwrap();
        }
        state
    }

    fn text(text: &str) -> Part {
        Part::Text(text.to_owned())
    }

    #[test]
    fn words_are_told_whole_and_what_is_left_out_is_counted() {
        let thought = Part::Thought { text: "a secret".to_owned(), signature: None };
        let picture = Part::Image { mime: "image/png".to_owned(), base64: "AAAA".into() };
        let told = past(
            &said(&[vec![text("look\nat it"), picture], vec![thought]]),
            "with goose, in session x",
            true,
        );
        assert_eq!(told.told.to_string(), "1 message");
        assert_eq!(told.left_out.to_string(), "1 thought, 1 picture");
        let head = "What was said and done before you came, with goose, in session x.";
        assert!(
            told.text.starts_with(head) && told.text.contains("Left out: 1 thought, 1 picture;"),
            "{}",
            told.text
        );
        assert!(told.text.contains("\nThe person:\nlook\nat it\n") && !told.text.contains("secret"));
    }

    #[test]
    fn a_past_that_is_too_long_loses_its_oldest_part_and_counts_it() {
        let messages: Vec<Vec<Part>> =
            (0..40).map(|n| vec![text(&format!("word {n} {}", "x".repeat(2000)))]).collect();
        let told = past(&said(&messages), "x", true);
        assert!(told.text.len() <= MAX_PAST + 1024, "{}", told.text.len());
        assert!(told.text.contains("word 39 ") && !told.text.contains("word 1 "));
        assert_eq!(told.told.messages + told.left_out.messages, 40);
        assert!(told.left_out.messages > 0);
    }

    #[test]
    fn who_was_there_before_is_not_told_its_own_words_again() {
        let before = Part::Code { language: None, text: "its own words".into(), path: Some(BEFORE.into()) };
        let state = said(&[vec![text("go on"), before]]);
        assert!(past(&state, "x", true).text.contains("its own words"));
        let back = past(&state, "x", false).text;
        assert!(!back.contains("its own words") && back.contains("go on"), "{back}");
    }
}
