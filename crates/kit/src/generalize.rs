//! Makes a recording fit to be played again: what is made anew in every conversation (ids, times) becomes names and `...`, and so does
//! what another person's machine has elsewhere or has more of (paths in a home, lists of what was kept earlier).
//!
//! An id that the tested side said first becomes a name, everywhere it stands, so that the played side uses the one that comes this
//! time. What the played side said first stays as it is. Of a list of what was kept earlier, only what the played side speaks of later
//! must be there. Pure; a transcript that already has names keeps them.

use crate::notation::{Kind, Say, Side, Step, Transcript};
use crate::pattern::{Glob, Item, Pattern, Piece, Text};
use std::collections::{BTreeMap, BTreeSet};

/// Shorter ids are not searched for inside longer texts: they would hit by chance.
const MIN_INSIDE: usize = 8;
/// Numbers this large are taken for points in time, in milliseconds.
const FIRST_TIME: f64 = 1.0e12;
/// Where people's homes are, on any machine.
const HOMES: &[&str] = &["/home/", "/Users/", "/root/"];
/// What ends a path inside a longer text, besides white space.
const AFTER_PATH: &[char] = &['"', '\'', '`', ',', ';', ')', ']', '}', '>', '|'];

/// The transcript with ids as names, times as `...` and paths in a home as stars, as seen from the side that is tested. `home` is where
/// the person's home is now; where it was is told by the transcript.
#[must_use]
pub fn generalize(transcript: &Transcript, tested: Side, home: Option<&str>) -> Transcript {
    let named = transcript.heads.home.as_deref().into_iter().chain(home);
    let own = named.map(|home| format!("{}/", home.trim_end_matches('/'))).filter(|home| home != "/");
    let homes = HOMES.iter().map(|home| (*home).to_owned()).chain(own).collect();
    let mut played = BTreeSet::new();
    transcript.steps.iter().for_each(|step| said(step, tested, &mut played));
    let mut ids = Ids { tested, homes, played, known: BTreeMap::new(), count: 0 };
    let mut loose = transcript.clone();
    for step in &mut loose.steps {
        ids.step(step);
    }
    loose
}

/// Every text that the played side says.
fn said(step: &Step, tested: Side, texts: &mut BTreeSet<String>) {
    match &step.kind {
        Kind::Say(say) | Kind::Optional(say) if say.side != tested => texts_of(&say.pattern, texts),
        Kind::AnyOrder(steps) => steps.iter().for_each(|step| said(step, tested, texts)),
        _ => {}
    }
}

fn texts_of(value: &Pattern, texts: &mut BTreeSet<String>) {
    match value {
        Pattern::Text(text) => texts.extend(whole(text)),
        Pattern::Array(items) => items.iter().for_each(|item| {
            if let Item::One(value) = item {
                texts_of(value, texts);
            }
        }),
        Pattern::Object(object) => object.members.iter().for_each(|(_, value)| texts_of(value, texts)),
        _ => {}
    }
}

struct Ids {
    tested: Side,
    /// How paths begin that lie in somebody's home.
    homes: Vec<String>,
    /// What the played side says, now or later.
    played: BTreeSet<String>,
    /// By value: the name it got, or `None` when it stays as it is.
    known: BTreeMap<String, Option<String>>,
    count: usize,
}

impl Ids {
    fn step(&mut self, step: &mut Step) {
        match &mut step.kind {
            Kind::Say(say) | Kind::Optional(say) => self.say(say),
            Kind::AnyOrder(steps) => steps.iter_mut().for_each(|step| self.step(step)),
            _ => {}
        }
    }

    fn say(&mut self, say: &mut Say) {
        self.learn(None, &say.pattern, say.side);
        let tested = say.side == self.tested;
        self.rewrite(None, &mut say.pattern, tested);
    }

    /// Notes the ids of a line and who said them first.
    fn learn(&mut self, key: Option<&str>, value: &Pattern, side: Side) {
        match value {
            Pattern::Text(text) => {
                let Some(text) = whole(text).filter(|text| !text.is_empty()) else { return };
                if self.known.contains_key(&text) {
                    return;
                }
                if side != self.tested {
                    self.known.insert(text, None);
                } else if key.is_some_and(is_id) {
                    self.count += 1;
                    self.known.insert(text, Some(format!("id{}", self.count)));
                }
            }
            Pattern::Array(items) => items.iter().for_each(|item| {
                if let Item::One(value) = item {
                    self.learn(key, value, side);
                }
            }),
            Pattern::Object(object) => {
                object.members.iter().for_each(|(key, value)| self.learn(Some(key), value, side));
            }
            _ => {}
        }
    }

    fn rewrite(&self, key: Option<&str>, value: &mut Pattern, tested: bool) {
        match value {
            Pattern::Text(text) => {
                let Some(plain) = whole(text) else { return };
                match self.known.get(&plain) {
                    Some(Some(name)) => *value = Pattern::Name(name.clone()),
                    _ if tested && (key.is_some_and(is_time) || is_stamp(&plain)) => {
                        *value = Pattern::Anything;
                    }
                    None if tested && self.path(&plain).is_some() => *value = self.without_paths(&plain),
                    _ => *text = self.inside(&plain),
                }
            }
            Pattern::Number(number) => {
                let large = number.to_string().parse::<f64>().is_ok_and(|number| number >= FIRST_TIME);
                if tested && (large || key.is_some_and(is_time)) {
                    *value = Pattern::Anything;
                }
            }
            Pattern::Array(items) => {
                if tested && was_kept(key, items) {
                    self.only_what_is_spoken_of(items);
                }
                items.iter_mut().for_each(|item| {
                    if let Item::One(value) = item {
                        self.rewrite(key, value, tested);
                    }
                });
            }
            Pattern::Object(object) => {
                object.members.iter_mut().for_each(|(key, value)| self.rewrite(Some(key), value, tested));
            }
            _ => {}
        }
    }

    /// There may be more, or less, of what nobody speaks of.
    fn only_what_is_spoken_of(&self, items: &mut Vec<Item>) {
        let spoken_of = |item: &Item| {
            let mut texts = BTreeSet::new();
            if let Item::One(value) = item {
                texts_of(value, &mut texts);
            }
            texts.iter().any(|text| text.len() >= MIN_INSIDE && self.played.contains(text))
        };
        let kept: Vec<Item> = items.drain(..).filter(spoken_of).collect();
        items.push(Item::Rest);
        items.extend(kept.into_iter().flat_map(|item| [item, Item::Rest]));
    }

    /// Where the first path in somebody's home begins and ends; what the played side named is no such path.
    fn path(&self, text: &str) -> Option<(usize, usize)> {
        let begins = |at: &usize| {
            let before = text.get(..*at).and_then(|before| before.chars().next_back());
            before.is_none_or(|char| !char.is_alphanumeric() && !matches!(char, '/' | '.' | '_' | '-'))
        };
        let firsts = self.homes.iter().flat_map(|home| text.match_indices(home.as_str()).map(|(at, _)| at));
        let mut firsts: Vec<usize> = firsts.filter(begins).collect();
        firsts.sort_unstable();
        firsts.into_iter().find_map(|from| {
            let rest = text.get(from..)?;
            let length = rest.find(|c: char| c.is_whitespace() || AFTER_PATH.contains(&c));
            let path = rest.get(..length.unwrap_or(rest.len()))?;
            let named = self.played.iter().any(|said| is_path(said) && path.starts_with(said.as_str()));
            (!named).then_some((from, from + path.len()))
        })
    }

    /// A text with stars for paths and for ids.
    fn without_paths(&self, text: &str) -> Pattern {
        let (mut glob, mut rest) = (String::new(), text);
        while let Some((from, to)) = self.path(rest) {
            glob.push_str(&self.without_ids(rest.get(..from).unwrap_or_default()));
            glob.push('*');
            rest = rest.get(to..).unwrap_or_default();
        }
        glob.push_str(&self.without_ids(rest));
        Pattern::Glob(Glob::new(&glob))
    }

    fn without_ids(&self, text: &str) -> String {
        let pieces = self.inside(text);
        let glob = pieces.pieces().iter().map(|piece| match piece {
            Piece::Plain(plain) => plain.replace('\\', "\\\\").replace('*', "\\*"),
            Piece::Name(_) => "*".to_owned(),
        });
        glob.collect()
    }

    /// A text with the ids inside it as names.
    fn inside(&self, text: &str) -> Text {
        let mut pieces = vec![Piece::Plain(text.to_owned())];
        for (id, name) in &self.known {
            let Some(name) = name.as_ref().filter(|_| id.len() >= MIN_INSIDE && text.contains(id.as_str()))
            else {
                continue;
            };
            pieces = pieces.into_iter().flat_map(|piece| split(piece, id, name)).collect();
        }
        Text::from_pieces(pieces)
    }
}

fn split(piece: Piece, id: &str, name: &str) -> Vec<Piece> {
    let Piece::Plain(text) = piece else { return vec![piece] };
    let mut pieces = Vec::new();
    for (index, part) in text.split(id).enumerate() {
        if index > 0 {
            pieces.push(Piece::Name(name.to_owned()));
        }
        pieces.push(Piece::Plain(part.to_owned()));
    }
    pieces
}

/// A text without names, as it stands.
fn whole(text: &Text) -> Option<String> {
    match text.pieces() {
        [] => Some(String::new()),
        [Piece::Plain(plain)] => Some(plain.clone()),
        _ => None,
    }
}

/// Whether an array lists what was kept before the conversation began: sessions, or anything with an id and a time of its own.
fn was_kept(key: Option<&str>, items: &[Item]) -> bool {
    let dated = |item: &Item| match item {
        Item::One(Pattern::Object(object)) => {
            let has = |is: fn(&str) -> bool| object.members.iter().any(|(key, _)| is(key));
            has(is_id) && has(is_time)
        }
        Item::One(_) | Item::Rest => false,
    };
    key.is_some_and(|key| key.to_ascii_lowercase().ends_with("sessions"))
        || !items.is_empty() && items.iter().all(dated)
}

fn is_path(text: &str) -> bool {
    text.len() > 1 && text.starts_with('/')
}

fn is_id(key: &str) -> bool {
    let lower = key.to_ascii_lowercase();
    lower.ends_with("id") || matches!(lower.as_str(), "session" | "digest")
}

fn is_time(key: &str) -> bool {
    let lower = key.to_ascii_lowercase();
    ["_at", "_ms", "_time"].iter().any(|end| lower.ends_with(end))
        || key.ends_with("At")
        || matches!(
            lower.as_str(),
            "ts" | "at" | "time" | "timestamp" | "created" | "updated" | "hash" | "pid" | "uptime"
        )
        || lower.contains("duration")
        || lower.contains("elapsed")
        || lower.ends_with("_per_second")
}

/// `2026-01-31T…`
fn is_stamp(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.len() >= 19
        && bytes.iter().take(4).all(u8::is_ascii_digit)
        && [(4, b'-'), (7, b'-'), (10, b'T'), (13, b':')]
            .iter()
            .all(|(at, sign)| bytes.get(*at) == Some(sign))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_of_the_tested_side_become_names_and_times_anything() {
        let recorded = r#"> {"id":"1","method":"run.start"}
< {"id":"1","result":{"run_id":"run-abc12345","at":"2026-01-31T10:00:00Z","n":3}}
< {"method":"log","params":{"text":"see run-abc12345!","ms":1760000000000}}
> {"id":"2","params":{"run_id":"run-abc12345"}}
"#;
        let transcript = Transcript::parse(recorded).unwrap();
        let loose = generalize(&transcript, Side::Runtime, None).to_string();
        assert_eq!(
            loose,
            r#"> {"id":"1","method":"run.start"}
< {"id":"1","result":{"run_id":"$id1","at":...,"n":3}}
< {"method":"log","params":{"text":"see ${id1}!","ms":...}}
> {"id":"2","params":{"run_id":"$id1"}}
"#
        );
        assert!(Transcript::parse(&loose).is_ok());
        let as_ui = generalize(&transcript, Side::Ui, None).to_string();
        assert!(as_ui.contains(r#"{"id":"$id1","method":"run.start"}"#), "{as_ui}");
    }

    #[test]
    fn a_rate_is_as_loose_as_the_time_it_was_made_of() {
        let recorded = r#"> {"id":1}
< {"metadata":{"total_tokens":63,"tokens_per_second":103.4,"duration_ms":87}}
"#;
        let loose = generalize(&Transcript::parse(recorded).unwrap(), Side::Runtime, None);
        let told = |tokens, rate| {
            format!(
                r#"{{"metadata":{{"total_tokens":{tokens},"tokens_per_second":{rate},"duration_ms":91}}}}"#
            )
        };
        assert!(plays(&loose, 1, &told(63, 98.9)));
        assert!(!plays(&loose, 1, &told(64, 103.4)), "tokens are counted");
    }

    fn plays(loose: &Transcript, line: usize, came: &str) -> bool {
        let Kind::Say(say) = &loose.steps[line].kind else { panic!("no line {line}") };
        let came = serde_json::from_str(came).unwrap();
        crate::pattern::matches(&say.pattern, &came, &mut crate::pattern::Bindings::new()).is_ok()
    }

    #[test]
    fn a_path_in_a_home_may_lie_in_another_home() {
        let recorded = r#"dialect codelia
home /tmp/first
> {"id":"1","cwd":"/tmp/first/project"}
< {"id":"1","log":"/tmp/first/.codelia/a.jsonl","cwd":"/tmp/first/project","n":1}
< {"text":"see \"/home/me/.codelia/a*b\" and /tmp/other/x"}
"#;
        let loose = generalize(&Transcript::parse(recorded).unwrap(), Side::Runtime, Some("/tmp/second"));
        let says = |log: &str, cwd: &str| {
            plays(&loose, 1, &format!(r#"{{"id":"1","log":"{log}","cwd":"{cwd}","n":1}}"#))
        };
        assert!(says("/tmp/second/.codelia/b.jsonl", "/tmp/first/project"));
        assert!(
            !says("/tmp/second/.codelia/b.jsonl", "/tmp/second/project"),
            "the played side said that one"
        );
        let text = |path: &str, other: &str| {
            plays(&loose, 2, &format!(r#"{{"text":"see \"{path}\" and {other}"}}"#))
        };
        assert!(text("/tmp/second/x", "/tmp/other/x"));
        assert!(!text("/tmp/second/x", "/tmp/other/y"), "only paths in a home are loose");
    }

    #[test]
    fn a_list_of_what_was_kept_may_have_grown_except_for_what_is_spoken_of() {
        let recorded = r#"> {"id":"1","method":"session.list"}
< {"id":"1","result":{"sessions":[{"session_id":"old-session-1","updated_at":"x","preview":"one"},{"session_id":"old-session-2","updated_at":"x","preview":"two"}]}}
> {"id":"2","method":"session.list"}
< {"id":"2","result":{"sessions":[],"tools":[{"tool_id":"t"}]}}
> {"id":"3","params":{"session_id":"old-session-2"}}
"#;
        let loose = generalize(&Transcript::parse(recorded).unwrap(), Side::Runtime, None);
        let listed = |line: usize, sessions: &str| {
            let id = line.div_ceil(2);
            let more = if line == 3 { r#","tools":[{"tool_id":"u"}]"# } else { "" };
            plays(&loose, line, &format!(r#"{{"id":"{id}","result":{{"sessions":{sessions}{more}}}}}"#))
        };
        let one = |id: &str, preview: &str| {
            format!(r#"{{"session_id":"{id}","updated_at":"y","preview":"{preview}"}}"#)
        };
        let grown = format!("[{},{},{}]", one("c", "three"), one("b", "two"), one("a", "one"));
        assert!(listed(1, &grown) && listed(3, &grown));
        assert!(listed(1, &format!("[{}]", one("b", "two"))), "what nobody speaks of may be gone");
        assert!(!listed(1, &format!("[{}]", one("a", "one"))), "the second session is opened later");
        assert!(!listed(3, "{}"), "it is still a list");
        let tools = r#"{"id":"2","result":{"sessions":[],"tools":[]}}"#;
        assert!(!plays(&loose, 3, tools), "other lists are as they were");
    }
}
