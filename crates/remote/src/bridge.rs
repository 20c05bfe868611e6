//! A UI of one wire on a runtime of another. What one side lacks (queues, deadlines, who answered) the hub supplies; what is lost between
//! them is told by their tables.

use crate::front::{Approach, Front, LastWords};
use crate::origin::{KeepAs, RuntimeAddress};
use dialects::Dialect;
use host::announcement::Announcement;
use host::guests::{Host, Listening};
use host::launch::Launch;
use host::paths;
use host::stop::{self, Manner, Over, Runs};
use hub::{Hub, Log};
use roles::Item;
use roles::fidelity::{Carried, Verdict};
use std::time::Duration;

/// The UIs' side of a bridge, and what is kept between the two.
pub struct Bridging {
    /// As whose the conversation is kept, if it is.
    pub keep: Option<KeepAs>,
    /// The wire that they speak.
    pub from: Dialect,
    /// Options of their wire.
    pub options: Vec<(String, String)>,
    /// Who listens in on their links.
    pub listening: Option<Listening>,
    /// How long their last lines may take.
    pub last_lines: Duration,
}

/// Reaches the runtime and has UIs served on it, until the UI leaves or the program is told to stop. `log` is bounded; `said` takes every
/// line as it comes. Gives why it is over, and what the runtime said last where it failed.
///
/// # Errors
/// When the runtime cannot be reached.
pub async fn bridge(
    launch: &Launch,
    place: RuntimeAddress,
    approach: Approach<'_>,
    between: Bridging,
    serving: impl AsyncFnOnce(&Hub, &Host) -> anyhow::Result<()>,
    log: Log,
    said: Log,
) -> anyhow::Result<(anyhow::Result<Over>, Option<LastWords>)> {
    let Bridging { keep, from, options, listening, last_lines } = between;
    let to = approach.dialect;
    let front = Front::open(launch, place, approach, keep, log).await?;
    let cwd = paths::working_directory(launch)?;
    let warnings = decided_elsewhere(from, to).into_iter().collect();
    let host = Host::in_front(&cwd, options, warnings, listening, said.clone());
    // Held until the end.
    let _announcement = Announcement::open(&front.hub, &host, &cwd, format!("bridge: {from} on {to}")).await;
    // The runtime waits for an answer, and ends with us.
    let manner = Manner { runs: Runs::BreakOff, last_lines, keeps_questions: false };
    let over = stop::until_told(&front.hub, serving(&front.hub, &host), manner, &*said).await;
    let well = matches!(over, Ok(Over::UiGone | Over::Told));
    let last = front.close(well).await;
    Ok((over, last))
}

/// What is answered from the record where the runtime cannot.
const REMEMBERED: [Item; 3] = [Item::SessionOpen, Item::SessionList, Item::History];
const FROM_RECORD: &str = "answered from what Parlor keeps of the conversation";

fn is_carried(verdict: Verdict) -> bool {
    matches!(verdict, Verdict::Exact | Verdict::Emulated)
}

/// What a person decides with, and what it means for them when it is lost: that must be known before anything else.
const AUTHORITY: [(Item, &str); 7] = [
    (Item::Cancel, "a run cannot be stopped from here"),
    (Item::Answer, "its questions cannot be answered here"),
    (Item::Consent, "it does not ask here before it acts"),
    (Item::ConsentScope, "a yes holds only once"),
    (Item::DenialReason, "why you say no does not reach it"),
    (Item::Decision, "a denial looks like a failure"),
    (Item::Policy, "its mode is its own"),
];

fn decides(item: Item) -> Option<&'static str> {
    AUTHORITY.iter().find(|(of, _)| *of == item).map(|(_, means)| *means)
}

/// What a person who decides here cannot decide on that runtime, in a sentence: stderr, where the reasons are, is thrown away by most UIs.
pub(crate) fn decided_elsewhere(from: Dialect, to: Dialect) -> Option<String> {
    let is_lost = |carried: &Carried| matches!(carried.verdict, Verdict::Dropped | Verdict::Refused);
    let items = from.carried_on(to).into_iter().filter(is_lost);
    let words: Vec<&str> = items.filter_map(|carried| decides(carried.item)).collect();
    (!words.is_empty()).then(|| format!("A runtime that speaks {to} is behind this: {}.", words.join("; ")))
}

/// What becomes of each item of the vocabulary between these two wires: what decides first, then the rest; items of one fate together.
/// `kept`: what the runtime has no words for is answered from the record where the UI has them.
pub fn report(from: Dialect, to: Dialect, kept: bool) -> String {
    let asks = |item: Item| {
        let row = from.fidelity().into_iter().find(|row| row.item == item);
        row.is_some_and(|row| is_carried(row.verdict))
    };
    let remember = |carried: Carried| match kept && REMEMBERED.contains(&carried.item) {
        true if !is_carried(carried.verdict) && asks(carried.item) => {
            Carried { verdict: Verdict::Emulated, why: FROM_RECORD.to_owned(), ..carried }
        }
        _ => carried,
    };
    let carried = from.carried_on(to).into_iter().map(remember);
    let (decides, rest): (Vec<_>, Vec<_>) = carried.partition(|carried| decides(carried.item).is_some());
    let mut text = format!("a UI that speaks {from} on a runtime that speaks {to}\n");
    for (head, items) in [("what the person decides", decides), ("everything else", rest)] {
        text.push_str(&format!("\n{head}\n"));
        for (verdict, items, why) in grouped(&items) {
            let why = if why.is_empty() { String::new() } else { format!(": {why}") };
            text.push_str(&format!("  {verdict:<9} {}{why}\n", items.join(", ")));
        }
    }
    text.trim_end().to_owned()
}

/// Items with the same fate for the same reason, the best fate first.
fn grouped(items: &[Carried]) -> Vec<(Verdict, Vec<&'static str>, &str)> {
    let mut groups: Vec<(Verdict, Vec<&'static str>, &str)> = Vec::new();
    for verdict in Verdict::ALL {
        for Carried { item, why, .. } in items.iter().filter(|carried| carried.verdict == verdict) {
            match groups.iter_mut().find(|(of, _, reason)| *of == verdict && *reason == why) {
                Some((_, items, _)) => items.push(item.name()),
                None => groups.push((verdict, vec![item.name()], why)),
            }
        }
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three rows of a narrow terminal: some UIs show it over everything else.
    const SHORT: usize = 240;

    #[test]
    fn what_a_person_cannot_decide_over_a_bridge_is_said_in_a_short_sentence_of_plain_words() {
        for from in dialects::ALL {
            for to in dialects::ALL {
                let Some(said) = decided_elsewhere(*from, *to) else { continue };
                assert!(said.len() <= SHORT, "{from} on {to}: {} letters: {said}", said.len());
                for word in ["dropped", "refused", "seen from"] {
                    assert!(!said.contains(word), "{from} on {to}: {word}: {said}");
                }
            }
        }
    }
}
