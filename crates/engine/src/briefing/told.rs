//! What the model was told beside the conversation, and what of it is so no longer. Pure.
//!
//! What is told first stands before the conversation and stays there, byte for byte: a provider finds in its cache only what begins as an
//! earlier request did. What changes later is told at the end of the conversation, before the answer that has read it, and stays there as
//! well. Both are kept with that answer in the record, so that a session goes on as it was sent, in whichever process and on whichever branch
//! of it. A summary takes what is before it along: then everything is told anew.

use models::{ChatMessage, OpaquePart};
use serde::{Deserialize, Serialize};
use std::fmt::Write as _;

/// The wire of the part that keeps it: no provider's, so none is sent it.
const WIRE: &str = "parlor";
/// How a note begins; the system prompt says what it is.
pub(super) const NOTE: &str = "[note from Parlor]";

/// Where a fact stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Section {
    /// One line about where the agent works.
    Place,
    /// How to behave here.
    Habits,
    /// What the person, the project or a server wants.
    Instructions,
    Skills,
    /// What is so with a prompt: never before the conversation.
    Now,
}

/// One thing that the model is told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Fact {
    pub(crate) section: Section,
    /// What it is about, in words, one fact for each: the model reads it where this is so no longer.
    pub(crate) topic: String,
    pub(crate) text: String,
    /// As it was at the beginning: not told again when it changes.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) fixed: bool,
}

impl Fact {
    pub(crate) fn new(section: Section, topic: impl Into<String>, text: impl Into<String>) -> Fact {
        Fact { section, topic: topic.into(), text: text.into(), fixed: false }
    }
}

/// What one answer of the model was told beside the conversation.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Told {
    /// What stands before the conversation from here on.
    #[serde(skip_serializing_if = "Option::is_none")]
    first: Option<Vec<Fact>>,
    /// What is new, or other than it was.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    changed: Vec<Fact>,
    /// Topics of what is so no longer.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    gone: Vec<String>,
    /// What happened, and is not compared later.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    once: Vec<String>,
}

/// What a model knows that has read a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Known<'a> {
    /// What stands before the conversation.
    pub(crate) first: &'a [Fact],
    now: Vec<&'a Fact>,
}

impl<'a> Known<'a> {
    /// What was told, the oldest first; `None` where nothing stands before the conversation yet.
    pub(crate) fn of(told: impl Iterator<Item = &'a Told>) -> Option<Known<'a>> {
        let mut known: Option<Known<'a>> = None;
        for told in told {
            if let Some(first) = &told.first {
                known = Some(Known { first, now: first.iter().collect() });
            }
            let Some(Known { now, .. }) = &mut known else { continue };
            let is_new = |fact: &&Fact| {
                !told.gone.contains(&fact.topic) && !told.changed.iter().any(|new| new.topic == fact.topic)
            };
            now.retain(is_new);
            now.extend(&told.changed);
        }
        known
    }

    /// The topics of a section.
    pub(crate) fn topics(&self, section: Section) -> impl Iterator<Item = &'a str> {
        self.now.iter().filter(move |fact| fact.section == section).map(|fact| fact.topic.as_str())
    }
}

impl Told {
    /// What is still to be told to who knows that much, where this is so and that happened.
    pub(crate) fn since(known: Option<&Known<'_>>, facts: &[Fact], once: &[String]) -> Told {
        let once = once.to_vec();
        let Some(known) = known else {
            let (changed, first) = facts.iter().cloned().partition(|fact| fact.section == Section::Now);
            return Told { first: Some(first), changed, gone: Vec::new(), once };
        };
        let is_new = |fact: &&Fact| {
            let before = known.now.iter().find(|before| before.topic == fact.topic);
            before.is_none_or(|before| !fact.fixed && before.text != fact.text)
        };
        let is_gone = |before: &&&Fact| !before.fixed && !facts.iter().any(|fact| fact.topic == before.topic);
        Told {
            first: None,
            changed: facts.iter().filter(is_new).cloned().collect(),
            gone: known.now.iter().filter(is_gone).map(|fact| fact.topic.clone()).collect(),
            once,
        }
    }

    /// Leaves only what happened: all that was so is told elsewhere.
    pub(crate) fn forget_facts(&mut self) {
        *self = Told { once: std::mem::take(&mut self.once), ..Told::default() };
    }

    /// What stands before the conversation from this answer on, if that is new.
    pub(crate) fn first(&self) -> Option<&[Fact]> {
        self.first.as_deref()
    }

    /// What stands right before the answer, in words.
    pub(crate) fn note(&self) -> Option<String> {
        let mut note = String::new();
        for fact in self.changed.iter().filter(|fact| fact.section == Section::Place) {
            let _ = write!(note, "\n- {}", fact.text);
        }
        for topic in &self.gone {
            // Files of instructions are known by their paths; one that does not fit any more is still there.
            let what = if topic.contains('/') { "No longer among the instructions" } else { "No longer so" };
            let _ = write!(note, "\n- {what}: {topic}.");
        }
        let mut headed = false;
        for fact in self.changed.iter().filter(|fact| fact.section != Section::Place) {
            if fact.section == Section::Instructions && !std::mem::replace(&mut headed, true) {
                note.push_str("\nInstructions for the work here; where they differ from others, these lead:");
            }
            let _ = write!(note, "\n{}", fact.text);
        }
        for text in &self.once {
            let _ = write!(note, "\n{text}");
        }
        (!note.is_empty()).then(|| format!("{NOTE}{note}"))
    }

    /// The note as the model reads it: as words of the person's side, with no more weight than theirs.
    pub(crate) fn message(&self) -> Option<ChatMessage> {
        self.note().map(ChatMessage::user)
    }

    /// As it is kept with the answer; nothing where nothing was told.
    pub(crate) fn to_part(&self) -> Option<OpaquePart> {
        let value = serde_json::to_value(self).ok().filter(|_| *self != Told::default())?;
        Some(OpaquePart { wire: WIRE.to_owned(), value })
    }

    /// What is kept with an answer, if it is this.
    pub(crate) fn of_part(part: &OpaquePart) -> Option<Told> {
        (part.wire == WIRE).then(|| serde_json::from_value(part.value.clone()).ok()).flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(topic: &str, text: &str) -> Fact {
        Fact::new(Section::Place, topic, text)
    }

    #[test]
    fn what_was_told_first_stays_and_what_changes_is_told_once() {
        let start = [
            place("the day", "Monday."),
            place("Git", "On main."),
            Fact { fixed: true, ..place("tree", "a b") },
        ];
        let first = Told::since(None, &start, &[]);
        assert_eq!((first.first(), first.note()), (Some(start.as_slice()), None));
        // The same again is nothing; a fixed one may change.
        let known = Known::of([&first].into_iter());
        let same = [start[0].clone(), start[1].clone(), Fact { fixed: true, ..place("tree", "a b c") }];
        assert_eq!(Told::since(known.as_ref(), &same, &[]), Told::default());
        // Another branch, no day, and something that happened.
        let now = [place("Git", "On x."), Fact::new(Section::Instructions, "/a", "From /a:\nTabs.")];
        let second = Told::since(known.as_ref(), &now, &["Files were taken back.".to_owned()]);
        assert_eq!(
            second.note().unwrap(),
            "[note from Parlor]\n- On x.\n- No longer so: the day.\nInstructions for the work here; where they differ from others, these \
             lead:\nFrom /a:\nTabs.\nFiles were taken back."
        );
        let kept = Told::of_part(&second.to_part().unwrap()).unwrap();
        let known = Known::of([&first, &kept].into_iter()).unwrap();
        assert_eq!((known.first, Told::since(Some(&known), &now, &[])), (start.as_slice(), Told::default()));
        assert_eq!(known.topics(Section::Instructions).collect::<Vec<_>>(), ["/a"]);
        // What a summary took along is told anew.
        assert!(Known::of([&kept].into_iter()).is_none());
    }

    #[test]
    fn what_is_so_with_a_prompt_stands_at_its_end_also_at_first() {
        let told = Told::since(None, &[Fact::new(Section::Now, "open", "a.rs is open.")], &[]);
        assert_eq!(
            (told.first(), told.note().as_deref()),
            (Some(&[][..]), Some("[note from Parlor]\na.rs is open."))
        );
        assert!(Told::default().to_part().is_none());
        assert!(
            Told::of_part(&OpaquePart { wire: "gemini".to_owned(), value: serde_json::json!({}) }).is_none()
        );
    }
}
