//! Flags of ours that a runtime of another program cannot be told: refused with what to do instead, before anything is started.
//!
//! Invariant: what was typed for `attach` or `bridge` is honoured or refused, never passed over. What only the environment says is meant
//! for runtimes of ours and counts there.

use crate::exit;
use dialects::Dialect;
use domain::session::Policy;
use host::launch::Launch;
use roles::Item;
use roles::fidelity::Verdict;
use tools::policy::Allowance;

/// A flag for runtimes of ours.
pub(crate) struct OurFlag {
    /// The member of [`Launch`] that it fills.
    pub(crate) member: &'static str,
    flag: &'static str,
    /// Why a foreign runtime cannot be told.
    why: &'static str,
    /// What to do instead.
    instead: &'static str,
    /// What does it once one is there.
    there: Option<OnScreen>,
}

/// A command of the screen, and whether a wire has it.
type OnScreen = (&'static str, fn(Dialect) -> bool);

impl OurFlag {
    /// What to do instead on a runtime that speaks this wire.
    fn hint(&self, dialect: Dialect) -> String {
        match self.there {
            Some((command, has)) if has(dialect) => {
                format!("{}, or say it once you are there: {command}", self.instead)
            }
            _ => self.instead.to_owned(),
        }
    }
}

const START: &str = "set it where the runtime is started";
const SPENDS: &str = "the runtime decides itself what it spends";
const BUDGET: Option<OnScreen> = Some(("/budget", Dialect::is_lossless));
const GO_ON: &str =
    "name one of them: attach --session ID; what is kept of one goes on with parlor --resume ID alone";

pub(crate) const OURS: &[OurFlag] = &[
    OurFlag {
        member: "model",
        flag: "--model",
        why: "the runtime chooses its model itself",
        instead: START,
        there: Some(("/model", |dialect| can(dialect, Item::ModelSet))),
    },
    OurFlag {
        member: "effort",
        flag: "--effort",
        why: "the runtime decides itself how hard its model thinks",
        instead: START,
        // No other wire says for all its runtimes whether they can.
        there: Some(("/effort", Dialect::is_lossless)),
    },
    OurFlag {
        member: "workspace",
        flag: "--workspace",
        why: "the runtime decides itself where it may read and write",
        instead: START,
        there: None,
    },
    OurFlag {
        member: "fetch",
        flag: "--fetch",
        why: "the runtime has its own tools",
        instead: START,
        there: None,
    },
    OurFlag { member: "max_cost", flag: "--max-cost", why: SPENDS, instead: START, there: BUDGET },
    OurFlag { member: "max_steps", flag: "--max-steps", why: SPENDS, instead: START, there: BUDGET },
    OurFlag { member: "max_time", flag: "--max-time", why: SPENDS, instead: START, there: BUDGET },
    OurFlag {
        member: "continue_last",
        flag: "--continue",
        why: "the runtime has its own conversations",
        instead: GO_ON,
        there: None,
    },
    OurFlag {
        member: "resume",
        flag: "--resume",
        why: "the runtime has its own conversations",
        instead: GO_ON,
        there: None,
    },
];

/// Refuses what was typed and cannot be honoured on a runtime that speaks this wire.
pub(crate) fn refuse(launch: &Launch, dialect: Dialect) -> anyhow::Result<()> {
    refuse_of(OURS.iter(), launch, dialect)
}

/// The same where a kept conversation with that runtime is gone on with: that is what was asked for.
pub(crate) fn refuse_resumed(launch: &Launch, dialect: Dialect) -> anyhow::Result<()> {
    let resumes = |flag: &&OurFlag| matches!(flag.member, "resume" | "continue_last");
    refuse_of(OURS.iter().filter(|flag| !resumes(flag)), launch, dialect)
}

fn refuse_of<'a>(
    mut ours: impl Iterator<Item = &'a OurFlag>,
    launch: &Launch,
    dialect: Dialect,
) -> anyhow::Result<()> {
    if let Some(ours) = ours.find(|flag| launch.typed.contains(&flag.member)) {
        let OurFlag { flag, why, .. } = ours;
        let hint = ours.hint(dialect);
        return Err(exit::usage(format!("{flag} cannot be honoured here: {why}\n\nhint: {hint}")));
    }
    let asks = asks(dialect);
    match launch.policy {
        Some(_) if dialect.is_lossless() => Err(exit::usage(format!(
            "--policy cannot be honoured here: the session that you attach to has its own\n\nhint: {START}, or switch it once you \
             are there: /policy"
        ))),
        Some(Policy::ReadOnly) if asks => Ok(()),
        Some(Policy::ReadOnly) => Err(exit::usage(format!(
            "--policy read-only cannot be honoured here: runtimes that speak {dialect} act without asking\n\nhint: {START}"
        ))),
        Some(Policy::Plan) => Err(exit::usage(format!(
            "--policy plan cannot be honoured here: it is a mode of Parlor's own agent\n\nhint: {START}"
        ))),
        // It counts for what such a runtime has done by our hands.
        Some(Policy::Ask | Policy::AutoEdit | Policy::Sandboxed | Policy::Full)
            if dialect.ui_role().has_errands() =>
        {
            Ok(())
        }
        Some(Policy::Ask | Policy::AutoEdit | Policy::Sandboxed | Policy::Full) => Err(exit::usage(format!(
            "--policy cannot be honoured here: the runtime has its own rules for what may run without asking\n\nhint: {START}; \
                 with --policy read-only every consent that it asks for is denied"
        ))),
        None if launch.require_consent && !asks => Err(exit::usage(format!(
            "--require-consent: runtimes that speak {dialect} act without asking\n\nhint: leave it out to use one all the same"
        ))),
        None => Ok(()),
    }
}

/// Refuses to allow beforehand what a runtime that speaks this wire never asks for.
pub(crate) fn refuse_allowed(allowed: &[Allowance], dialect: Dialect) -> anyhow::Result<()> {
    if allowed.is_empty() || asks(dialect) {
        return Ok(());
    }
    Err(exit::usage(format!(
        "--allow cannot be honoured here: runtimes that speak {dialect} act without asking, so there is nothing to say yes to\n\n\
         hint: leave it out; what the runtime may do is set where it is started"
    )))
}

/// Whether a question for consent can come over this wire at all.
pub(crate) fn asks(dialect: Dialect) -> bool {
    can(dialect, Item::Consent)
}

/// Whether something can be said over this wire.
fn can(dialect: Dialect, item: Item) -> bool {
    let row = dialect.fidelity().into_iter().find(|row| row.item == item);
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
        refuse(&cli.launch, dialect).err().map(|why| why.to_string())
    }

    #[test]
    fn what_a_runtime_cannot_be_told_is_refused_with_what_to_do() {
        for dialect in dialects::ALL.iter().copied() {
            for flag in [
                "--model a/b",
                "--effort high",
                "--workspace /tmp",
                "--fetch",
                "--max-cost 1",
                "--max-steps 2",
                "--max-time 3",
                "--policy ask",
                "--policy auto-edit",
                "--policy full",
                "--policy sandboxed",
            ] {
                let counts = dialect.ui_role().has_errands() && flag.starts_with("--policy");
                if counts {
                    assert_eq!(refused(&format!("parlor attach {flag} -- x"), dialect), None, "{flag}");
                    continue;
                }
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
    fn no_hint_names_a_command_that_is_refused_there() {
        let mut seen = [[false; 2]; 2];
        for dialect in dialects::ALL.iter().copied() {
            let hints = ["model", "effort"].map(|name| {
                let why = refused(&format!("parlor attach --{name} low -- x"), dialect).expect("refused");
                why.contains(&format!("/{name}"))
            });
            assert_eq!(hints[0], can(dialect, Item::ModelSet), "{dialect}");
            assert_eq!(hints[1], dialect.is_lossless(), "{dialect}");
            hints.iter().zip(&mut seen).for_each(|(hint, seen)| seen[usize::from(*hint)] = true);
        }
        assert_eq!(seen, [[true; 2]; 2], "there are wires of both kinds");
    }

    #[test]
    fn nothing_is_allowed_beforehand_where_nothing_is_asked() {
        for dialect in dialects::ALL.iter().copied() {
            let allowed = [Allowance::Tool("write".into())];
            assert_eq!(refuse_allowed(&allowed, dialect).is_ok(), asks(dialect), "{dialect}");
            assert!(refuse_allowed(&[], dialect).is_ok());
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
            let launch = Launch { require_consent: true, ..Launch::default() };
            assert_eq!(refuse(&launch, dialect).is_ok(), asks(dialect), "{dialect}");
        }
    }

    #[test]
    fn what_the_environment_says_for_our_own_runtimes_is_no_reason_to_refuse() {
        let words = ["parlor", "attach", "--", "x"].map(OsString::from);
        let said = |name: &str| (name == "PARLOR_MODEL").then(|| OsString::from("a/b"));
        let cli = environment::parse(&words, said).expect("it reads");
        assert_eq!(cli.launch.typed, Vec::<&str>::new());
    }
}
