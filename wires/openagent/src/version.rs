//! Which version both sides speak: the same major, the lower of the two. The document demands that it be negotiated.

use super::wire::{PROTOCOL_VERSION, VersionData};

/// The version to speak with a client that speaks `requested`; a client that says nothing speaks ours.
pub(super) fn agree(requested: Option<&str>) -> Result<String, VersionData> {
    let Some(requested) = requested else { return Ok(PROTOCOL_VERSION.to_owned()) };
    match (parse(requested), parse(PROTOCOL_VERSION)) {
        (Some(theirs), Some(ours)) if theirs.0 == ours.0 => {
            let (major, minor, patch) = theirs.min(ours);
            Ok(format!("{major}.{minor}.{patch}"))
        }
        _ => Err(VersionData {
            supported: vec![PROTOCOL_VERSION.to_owned()],
            requested: requested.chars().take(64).collect(),
        }),
    }
}

/// `1`, `1.2` and `1.2.3`, with anything after a `-` or `+`.
fn parse(text: &str) -> Option<(u64, u64, u64)> {
    let core = text.trim().split(['-', '+']).next()?;
    let mut numbers = core.split('.').map(|n| n.parse::<u64>().ok());
    let version = (numbers.next()??, numbers.next().unwrap_or(Some(0))?, numbers.next().unwrap_or(Some(0))?);
    numbers.next().is_none().then_some(version)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_major_is_needed() {
        for (requested, agreed) in [
            (None, Some("1.0.0")),
            (Some("1.0.0"), Some("1.0.0")),
            (Some("1"), Some("1.0.0")),
            (Some("1.7.2"), Some("1.0.0")),
            (Some("1.0.0-rc.1"), Some("1.0.0")),
            (Some("2.0.0"), None),
            (Some("0.9.0"), None),
            (Some("99.0.0"), None),
            (Some("one"), None),
            (Some("1.0.0.0"), None),
            (Some(""), None),
        ] {
            assert_eq!(agree(requested).ok().as_deref(), agreed, "{requested:?}");
        }
        let told = agree(Some("2.0.0")).unwrap_err();
        assert_eq!(told.supported, ["1.0.0"]);
    }
}
