//! What may happen without asking in a session: the policy mode and the remembered rules. Both may change while a turn runs: then
//! every open question is judged again.

use crate::ports::page_ports;
use domain::ask::Scope;
use domain::session::Policy;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;
use tokio::sync::watch;
use tools::Plan;
use tools::policy::{Rule, Rules, Verdict};

/// Tells all sessions of the agent that rules or modes have changed.
#[derive(Debug, Clone, Default)]
pub(crate) struct Changes(watch::Sender<u64>);

impl Changes {
    fn tell(&self) {
        self.0.send_modify(|count| *count += 1);
    }
}

/// What may happen without asking. Clones share it.
#[derive(Debug, Clone)]
pub(crate) struct Grants {
    policy: Arc<Mutex<Policy>>,
    rules: Arc<Mutex<Rules>>,
    changes: Changes,
    /// Whether it is kept what was asked.
    keeps: bool,
    /// Nothing may be changed, whatever the mode of the session is.
    only_looks: bool,
    /// Parlor's data folder, where it is written at which ports the page was served.
    data: Option<Arc<Path>>,
}

impl Grants {
    pub(crate) fn new(policy: Policy, rules: Rules, changes: Changes) -> Grants {
        Grants {
            policy: Arc::new(Mutex::new(policy)),
            rules: Arc::new(Mutex::new(rules)),
            changes,
            keeps: false,
            only_looks: false,
            data: None,
        }
    }

    /// The same, with what is written in this folder of Parlor's.
    pub(crate) fn with_data(self, data: &Path) -> Grants {
        Grants { data: Some(data.into()), ..self }
    }

    /// Whether the page is or was served at this port. Reads a small file.
    pub(crate) fn is_pages(&self, port: u16) -> bool {
        self.data.as_deref().is_some_and(|data| page_ports(data).contains(&port))
    }

    /// The same, keeping what is asked where that may be kept.
    pub(crate) fn keeping(self, keeps: bool) -> Grants {
        Grants { keeps, ..self }
    }

    /// The same for whoever only looks, whatever the mode is or becomes.
    pub(crate) fn only_looking(&self) -> Grants {
        Grants { only_looks: true, ..self.clone() }
    }

    /// The rule that a question about this proposes, in words, with how many of the latest questions it would have answered. That this
    /// was asked is kept. Reads and writes a small file.
    pub(crate) fn proposed(&self, plan: &Plan) -> Option<String> {
        let (rules, asked) = {
            let rules = self.rules.lock().unwrap_or_else(PoisonError::into_inner);
            (rules.all(), rules.asked())
        };
        let now = SystemTime::now();
        let offer = plan.rule.as_ref();
        let answered = offer.filter(|_| self.keeps).and_then(|offer| asked.answered_by(offer, &rules, now));
        if self.keeps && plan.place.root().is_some() {
            asked.add(plan, now);
        }
        offer.map(|offer| match answered {
            Some(answered) => format!("{}; {answered}", offer.words),
            None => offer.words.clone(),
        })
    }

    /// Changes the mode at once, also for a run in progress; open questions are judged again.
    pub(crate) fn set_policy(&self, policy: Policy) {
        let before =
            std::mem::replace(&mut *self.policy.lock().unwrap_or_else(PoisonError::into_inner), policy);
        if before != policy {
            self.changes.tell();
        }
    }

    /// The mode that holds now.
    pub(crate) fn policy(&self) -> Policy {
        let policy = *self.policy.lock().unwrap_or_else(PoisonError::into_inner);
        if self.only_looks { Policy::ReadOnly } else { policy }
    }

    /// Judges a plan by the mode and by the rules as they are now. Looks whether a small file is another one.
    pub(crate) fn verdict(&self, plan: &Plan) -> Verdict {
        let mode = self.policy();
        let mut rules = self.rules.lock().unwrap_or_else(PoisonError::into_inner);
        // What was taken back meanwhile, here or by another program, counts no more. What cannot be read changes nothing.
        let _ = rules.keep_up();
        let rules = rules.all();
        tools::policy::decide(mode, plan, &rules)
    }

    /// The verdict with the rules as they are on disk now: another session may have added some. Reads a file.
    pub(crate) fn fresh_verdict(&self, plan: &Plan) -> Verdict {
        // What cannot be read changes nothing.
        let _ = self.rules.lock().unwrap_or_else(PoisonError::into_inner).refresh();
        self.verdict(plan)
    }

    /// Keeps what a yes with this scope covers. May write a file.
    pub(crate) fn remember(&self, scope: Scope, plan: &Plan) {
        let Some(offer) = &plan.rule else { return };
        {
            let mut rules = self.rules.lock().unwrap_or_else(PoisonError::into_inner);
            match scope {
                Scope::Once => return,
                Scope::Session => rules.add_for_session(&offer.rules),
                Scope::Always => {
                    // A rule that cannot be written still holds for this session.
                    if rules.add_for_project(&offer.rules).is_err() {
                        rules.add_for_session(&offer.rules);
                    }
                }
            }
        }
        self.changes.tell();
    }

    /// The ports of this machine that rules allow commands to reach. Looks whether a small file is another one.
    pub(crate) fn machine_ports(&self) -> Vec<u16> {
        let mut rules = self.rules.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = rules.keep_up();
        rules.all().iter().filter_map(Rule::machine_port).collect()
    }

    /// What was allowed until the session closes.
    pub(crate) fn of_session(&self) -> Vec<Rule> {
        self.rules.lock().unwrap_or_else(PoisonError::into_inner).of_session().to_vec()
    }

    /// Takes back what was allowed until the session closes; whether there was such a rule.
    pub(crate) fn revoke_of_session(&self, rule: &Rule) -> bool {
        self.rules.lock().unwrap_or_else(PoisonError::into_inner).remove_of_session(rule)
    }

    /// Wakes with every change from here on.
    pub(crate) fn changes(&self) -> watch::Receiver<u64> {
        self.changes.0.subscribe()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_mode_wakes_open_questions_and_the_same_one_does_not() {
        let folder = tempfile::tempdir().unwrap();
        let rules = Rules::none(folder.path(), folder.path());
        let grants = Grants::new(Policy::Ask, rules, Changes::default());
        let changes = grants.changes();
        grants.set_policy(Policy::Ask);
        assert!(!changes.has_changed().unwrap());
        grants.set_policy(Policy::AutoEdit);
        assert!(changes.has_changed().unwrap());
    }
}
