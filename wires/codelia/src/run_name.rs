//! Names of runs on the wire. A run's number is unique in its session only, but this wire names runs without their session, so the
//! name holds both. Invariant: `read(write(session, run))` gives them back, so a name needs no table.

use domain::ids::{RunId, SessionId};

/// What our session ids begin with; left out of the name.
const USUAL: &str = "sess-";
/// Marks a session id that does not; cannot stand in one.
const WHOLE: char = ':';

/// `run_18c2f0a4_7` for run 7 of session `sess-18c2f0a4`.
pub(super) fn write(session: &SessionId, run: RunId) -> String {
    match session.as_str().strip_prefix(USUAL) {
        Some(tail) => format!("run_{tail}_{}", run.0),
        None => format!("run_{WHOLE}{session}_{}", run.0),
    }
}

/// The session and the run that a name stands for.
pub(super) fn read(name: &str) -> Option<(SessionId, RunId)> {
    let (session, number) = name.strip_prefix("run_")?.rsplit_once('_')?;
    let session = match session.strip_prefix(WHOLE) {
        Some(whole) => SessionId::parse(whole)?,
        None => SessionId::parse(&format!("{USUAL}{session}"))?,
    };
    let canonical = number.bytes().all(|b| b.is_ascii_digit()) && (number == "0" || !number.starts_with('0'));
    let run = number.parse().ok().filter(|_| canonical).map(RunId)?;
    Some((session, run))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn names_that_are_none() {
        for bad in [
            "",
            "run",
            "run_",
            "run_5",
            "run_ab_5",
            "run_0123abcd_",
            "run_0123abcd_05",
            "run_0123abcd_+5",
            "run_../etc_5",
        ] {
            assert_eq!(read(bad), None, "{bad}");
        }
    }

    proptest! {
        #[test]
        fn a_name_tells_session_and_run(id in "(sess-)?[a-z0-9_-]{8,20}", run in any::<u64>()) {
            let session = SessionId::parse(&id).unwrap();
            prop_assert_eq!(read(&write(&session, RunId(run))), Some((session, RunId(run))));
        }
    }
}
