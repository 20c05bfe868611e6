//! Everything that one end of a scene saw, as a text in which two plays of the same scene are equal: without ids and times.

use super::onlooker::{Onlooker, Shown};
use super::scene::Scene;
use domain::event::{Body, MessageEvent};
use domain::ids::SessionId;
use domain::port::{Order, TurnBrief};
use domain::state::{Entry, EntryKind};

/// What a UI was shown.
pub(crate) fn of_ui(ui: &Onlooker) -> String {
    let mut text = String::new();
    let mut stream = None;
    for shown in &ui.shown {
        let delta = match shown {
            Shown::Happened(event) => match &event.body {
                Body::Message(MessageEvent::Delta { message, kind, text }) => Some((*message, *kind, text)),
                _ => None,
            },
            Shown::Whole(_) | Shown::Signal(_) => None,
        };
        if let Some((message, kind, piece)) = delta {
            // How a stream is cut says nothing.
            if stream != Some((message, kind)) {
                text.push_str(&format!("\n{kind:?} "));
            }
            stream = Some((message, kind));
            text.push_str(piece);
            continue;
        }
        stream = None;
        let line = match shown {
            // Whether it is shown once more when its runtime has named it depends on who is quicker.
            Shown::Whole(bodies) if text.contains(&plain(&format!("{bodies:?}"))) => continue,
            Shown::Whole(bodies) => plain(&format!("{bodies:?}")),
            Shown::Happened(event) => format!("{:?}", event.body),
            Shown::Signal(signal) => format!("{signal:?}"),
        };
        text.push('\n');
        text.push_str(&line);
    }
    plain(&text)
}

/// What the engine was told.
pub(crate) fn of_engine(scene: &Scene) -> String {
    let orders = scene.orders();
    let mut sessions: Vec<SessionId> = Vec::new();
    let mut text = String::new();
    for order in &orders {
        let line = match order {
            Order::Turn(brief) => {
                let at = sessions.iter().position(|known| *known == brief.session);
                let at = at.unwrap_or_else(|| {
                    sessions.push(brief.session.clone());
                    sessions.len() - 1
                });
                let TurnBrief { input, options, model, policy, active_tools, ui_context, .. } = &**brief;
                let said = said(&brief.context);
                format!(
                    "turn in {at} {input:?} {options:?} {model:?} {policy:?} {active_tools:?} {ui_context:?} {said:?}"
                )
            }
            Order::Cancel { .. } => "cancel".to_owned(),
            Order::AskClosed { closing, .. } => format!("{closing:?}"),
            Order::SteerWaits { waits, .. } => format!("steer waits: {waits}"),
            Order::StoreFails { why, .. } => format!("store fails: {why:?}"),
            Order::PolicyChanged { policy, .. } => format!("{policy:?}"),
            Order::Consult { command, .. } => format!("{command:?}"),
            Order::Performed { failed, result, .. } => format!("performed: {failed} {result:?}"),
            Order::OffersGone { .. } => "offers gone".to_owned(),
            Order::FileDone { with, .. } => format!("file: {with:?}"),
            Order::Forget { .. } => "forget".to_owned(),
        };
        text.push_str(&line);
        text.push('\n');
    }
    plain(&text)
}

/// The texts of a conversation, oldest first.
pub(crate) fn said(entries: &[std::sync::Arc<Entry>]) -> Vec<String> {
    let texts = entries.iter().filter_map(|entry| match &entry.kind {
        EntryKind::Message(message) => Some(message.text()),
        EntryKind::Compaction(compaction) => Some(compaction.summary.clone()),
        EntryKind::Notice { .. } => None,
    });
    texts.collect()
}

/// The text without what differs from play to play: ids and times.
pub(crate) fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while !rest.is_empty() {
        let marks = ["SessionId(\"", "Id(", "Millis(", "Seq(", "sess-"];
        let Some((at, mark)) = marks.iter().filter_map(|mark| Some((rest.find(mark)?, *mark))).min() else {
            break;
        };
        let after = at + mark.len();
        plain.push_str(&rest[..after]);
        // A session may have the name that its runtime gave it.
        let of_id = |c: char| if mark.ends_with('"') { c != '"' } else { c.is_ascii_hexdigit() };
        rest = rest[after..].trim_start_matches(of_id);
    }
    plain.push_str(rest);
    plain
}
