//! Names of entries on the wire: `msg-7` for a message, `cmp-7` for a summary. Invariant: `read(write(entry)) == entry`.

use domain::ids::EntryId;
use domain::state::{Entry, EntryKind};

/// The name of an entry; `None` for what this wire does not show.
pub(super) fn write(entry: &Entry) -> Option<String> {
    match entry.kind {
        EntryKind::Message(_) => Some(message(entry.id)),
        EntryKind::Compaction(_) => Some(compaction(entry.id)),
        EntryKind::Notice { .. } => None,
    }
}

/// The name of a message.
pub(super) fn message(id: EntryId) -> String {
    format!("msg-{}", id.0)
}

/// The name of a summary.
pub(super) fn compaction(id: EntryId) -> String {
    format!("cmp-{}", id.0)
}

/// The entry that a name stands for.
pub(super) fn read(name: &str) -> Option<EntryId> {
    let number = name.strip_prefix("msg-").or_else(|| name.strip_prefix("cmp-"))?;
    let plain = number.bytes().all(|b| b.is_ascii_digit());
    number.parse().ok().filter(|_| plain).map(EntryId)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back() {
        for id in [0, 7, u64::MAX] {
            assert_eq!(read(&message(EntryId(id))), Some(EntryId(id)));
            assert_eq!(read(&compaction(EntryId(id))), Some(EntryId(id)));
        }
        for bad in ["", "7", "msg-", "msg-nope", "msg-+7", "user-7", "msg-99999999999999999999"] {
            assert_eq!(read(bad), None, "{bad}");
        }
    }
}
