//! Lines of a wire whose messages are one type each way: a value becomes a line, and a line becomes a value or the reason why it is none.

use roles::{Cx, Line, RoleEffect};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Most commands that a role without a bound of its own lets wait for the hub.
pub const MAX_UNDER_WAY: usize = 64;

/// Sends a line. One that cannot be written is a fault of ours, and logged.
pub fn send<E: RoleEffect>(cx: &mut Cx<'_, E>, line: &impl Serialize) {
    match wire::encode(line) {
        Ok(line) => cx.send(line),
        Err(why) => cx.log(format!("a line was not sent: {why}")),
    }
}

/// Reads a line of the peer.
///
/// # Errors
/// In words for the peer: the line is too long, no text, or no message of the wire.
pub fn read<T: DeserializeOwned>(line: &Line) -> Result<T, String> {
    match line {
        Line::Text(text) => serde_json::from_str(text).map_err(|why| why.to_string()),
        Line::Overlong(_) => Err(format!("the line is longer than {} bytes", wire::lines::MAX_LINE)),
        Line::Garbled(_) => Err("the line is not UTF-8".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::ids::Millis;
    use roles::{LinkEffect, RuntimeCx, RuntimeEffect};
    use std::collections::BTreeMap;

    fn sent(line: &impl Serialize) -> Vec<RuntimeEffect> {
        let mut effects = Vec::new();
        send(&mut RuntimeCx { now: Millis(0), effects: &mut effects }, line);
        effects
    }

    #[test]
    fn what_cannot_be_written_is_logged() {
        let written = sent(&[1]);
        let line = |effect: &RuntimeEffect| matches!(effect, RuntimeEffect::Link(LinkEffect::Send { line, .. }) if line == "[1]");
        assert!(written.iter().all(line), "{written:?}");
        let unwritten = sent(&BTreeMap::from([([0u8], 1)]));
        let logged = |effect: &RuntimeEffect| matches!(effect, RuntimeEffect::Link(LinkEffect::Log(_)));
        assert!(unwritten.len() == 1 && unwritten.iter().all(logged), "{unwritten:?}");
    }

    #[test]
    fn a_line_that_is_no_message_says_why() {
        assert_eq!(read(&Line::Text("[1]".to_owned())), Ok([1]));
        for line in [Line::Text("{".to_owned()), Line::Overlong(String::new()), Line::Garbled(String::new())]
        {
            assert!(read::<[u8; 1]>(&line).is_err_and(|why| !why.is_empty()), "{line:?}");
        }
    }
}
