//! Flags of ours that a runtime of another program cannot be told: refused with what to do instead, before anything is started.
//!
//! Invariant: what was typed for `attach` or `bridge` is honoured or refused, never passed over. What only the environment says is meant
//! for runtimes of ours and counts there.

use crate::cli::{Common, PolicyMode};
use crate::exit;
use dialects::Dialect;
use roles::Item;
use roles::fidelity::Verdict;

/// A flag for runtimes of ours.
pub(crate) struct OurFlag {
    /// The member of [`Common`] that it fills.
    pub(crate) member: &'static str,
    flag: &'static str,
    /// Why a foreign runtime cannot be told.
    why: &'static str,
    /// What to do instead.
    instead: &'static str,
}

const START: &str = "set it where the runtime is started";
const GO_ON: &str =
    "name one of them: attach --session ID; what is kept of one goes on with parlor --resume ID alone";

pub(crate) const OURS: &[OurFlag] = &[
    OurFlag {
        member: "model",
        flag: "--model",
        why: "the runtime chooses its model itself",
        instead: "set it where the runtime is started, or take another one once you are there: /model",
    },
    OurFlag {
        member: "effort",
        flag: "--effort",
        why: "the runtime decides itself how hard its model thinks",
        instead: "set it where the runtime is started, or say it once you are there: /effort",
    },
    OurFlag {
        member: "workspace",
        flag: "--workspace",
        why: "the runtime decides itself where it may read and write",
        instead: START,
    },
    OurFlag { member: "fetch", flag: "--fetch", why: "the runtime has its own tools", instead: START },
    OurFlag {
        member: "continue_last",
        flag: "--continue",
        why: "the runtime has its own conversations",
        instead: GO_ON,
    },
    OurFlag {
        member: "resume",
        flag: "--resume",
        why: "the runtime has its own conversations",
        instead: GO_ON,
    },
];

/// Refuses what was typed and cannot be honoured on a runtime that speaks this wire.
pub(crate) fn refuse(common: &Common, dialect: Dialect) -> anyhow::Result<()> {
    refuse_of(OURS.iter(), common, dialect)
}

/// The same where a kept conversation with that runtime is gone on with: that is what was asked for.
pub(crate) fn refuse_resumed(common: &Common, dialect: Dialect) -> anyhow::Result<()> {
    let resumes = |flag: &&OurFlag| matches!(flag.member, "resume" | "continue_last");
    refuse_of(OURS.iter().filter(|flag| !resumes(flag)), common, dialect)
}

fn refuse_of<'a>(
    mut ours: impl Iterator<Item = &'a OurFlag>,
    common: &Common,
    dialect: Dialect,
) -> anyhow::Result<()> {
    if let Some(OurFlag { flag, why, instead, .. }) = ours.find(|flag| common.typed.contains(&flag.member)) {
        return Err(exit::usage(format!("{flag} cannot be honoured here: {why}\n\nhint: {instead}")));
    }
    let asks = asks(dialect);
    match common.policy {
        Some(_) if dialect.is_lossless() => Err(exit::usage(format!(
            "--policy cannot be honoured here: the session that you attach to has its own\n\nhint: {START}, or take another one once you \
             are there: /policy"
        ))),
        Some(PolicyMode::ReadOnly) if asks => Ok(()),
        Some(PolicyMode::ReadOnly) => Err(exit::usage(format!(
            "--policy read-only cannot be honoured here: runtimes that speak {dialect} act without asking\n\nhint: {START}"
        ))),
        Some(PolicyMode::Ask | PolicyMode::AutoEdit | PolicyMode::Sandboxed | PolicyMode::Full) => {
            Err(exit::usage(format!(
                "--policy cannot be honoured here: the runtime has its own rules for what may run without asking\n\nhint: {START}; \
                 with --policy read-only every consent that it asks for is denied"
            )))
        }
        None if common.require_consent && !asks => Err(exit::usage(format!(
            "--require-consent: runtimes that speak {dialect} act without asking\n\nhint: leave it out to use one all the same"
        ))),
        None => Ok(()),
    }
}

/// Whether a question for consent can come over this wire at all.
fn asks(dialect: Dialect) -> bool {
    let row = dialect.fidelity().into_iter().find(|row| row.item == Item::Consent);
    row.is_none_or(|row| matches!(row.verdict, Verdict::Exact | Verdict::Emulated))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::environment;
    use std::ffi::OsString;

    fn refused(words: &str, dialect: Dialect) -> Option<String> {
        let words: Vec<OsString> = words.split(' ').map(OsString::from).collect();
        let cli = environment::parse(&words, |_| None).expect("it reads");
        refuse(&cli.common, dialect).err().map(|why| why.to_string())
    }

    #[test]
    fn what_a_runtime_cannot_be_told_is_refused_with_what_to_do() {
        for dialect in dialects::ALL.iter().copied() {
            for flag in [
                "--model a/b",
                "--effort high",
                "--workspace /tmp",
                "--fetch",
                "--policy ask",
                "--policy auto-edit",
                "--policy full",
                "--policy sandboxed",
            ] {
                for words in [format!("parlor {flag} attach -- x"), format!("parlor attach {flag} -- x")] {
                    let why = refused(&words, dialect);
                    let why = why.unwrap_or_else(|| panic!("{dialect}: {words} is passed over"));
                    assert!(why.contains("hint: ") && why.contains("where the runtime is started"), "{why}");
                }
            }
            for words in ["parlor --continue attach -- x", "parlor --resume ab12 attach -- x"] {
                assert!(refused(words, dialect).is_some_and(|why| why.contains("--session")), "{words}");
            }
            assert_eq!(refused("parlor attach -- x", dialect), None);
        }
    }

    #[test]
    fn read_only_can_be_had_where_consent_is_asked_for() {
        for dialect in dialects::ALL.iter().copied() {
            let why = refused("parlor attach --policy read-only -- x", dialect);
            assert_eq!(why.is_none(), asks(dialect) && !dialect.is_lossless(), "{dialect}: {why:?}");
        }
        assert!(dialects::ALL.iter().any(|dialect| asks(*dialect)));
        assert!(dialects::ALL.iter().any(|dialect| !asks(*dialect)));
    }

    #[test]
    fn a_wire_without_questions_does_not_do_where_consent_is_required() {
        for dialect in dialects::ALL.iter().copied() {
            let common = Common { require_consent: true, ..Common::default() };
            assert_eq!(refuse(&common, dialect).is_ok(), asks(dialect), "{dialect}");
        }
    }

    #[test]
    fn what_the_environment_says_for_our_own_runtimes_is_no_reason_to_refuse() {
        let words = ["parlor", "attach", "--", "x"].map(OsString::from);
        let said = |name: &str| (name == "PARLOR_MODEL").then(|| OsString::from("a/b"));
        let cli = environment::parse(&words, said).expect("it reads");
        assert_eq!(cli.common.typed, Vec::<&str>::new());
    }
}
