//! Whether a planned call may run: policy modes and remembered rules. Pure; the modes are in [`table`], the files in [`book`].
//!
//! Invariants: a rule covers a command line only when it covers every command inside it and nothing is in doubt; what is critical,
//! steers programs or leaves the leash is never covered by a rule or a mode, but for the removal of what can be built again. To look again at what is pending, decide again.

pub mod allow;
mod asked;
pub mod book;
mod registries;
pub mod table;

use crate::shell::{Cover, Inner, Judgement, RuleWords, ScriptFile, rule_words};
use crate::tool::{Deed, Plan, RuleOffer};
use domain::ask::Risk;
use domain::session::Policy;
use domain::tool::Decider;
use std::path::PathBuf;

pub use crate::rule::{Allowance, Matcher, NotAllowable, NotNarrower, Rule};
pub use asked::{AnsweredBy, AskedQuestions};
pub use book::{Rules, RulesError, projects};
use table::{Act, Say, acts};

/// What policy says of a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    Allow(Decider),
    /// It may not; the reason is for the model.
    Deny(String),
    /// A person must say. Where nobody can be asked, that means no.
    Ask,
}

/// Decides on one plan. Call it again when the mode or the rules changed while it was pending.
pub fn decide(mode: Policy, plan: &Plan, rules: &[Rule]) -> Verdict {
    // Without a leash that holds, running inside of it would be running free.
    let held = mode != Policy::Sandboxed || plan.place.confined();
    let mode = if held { mode } else { Policy::Ask };
    match table::strictest(mode, plan) {
        (Say::Free, _) => Verdict::Allow(Decider::Policy),
        (Say::Denied, act) => Verdict::Deny(table::refusal(mode, act, &plan.tool)),
        (Say::Asked, _) if plan.changes_nothing() => Verdict::Allow(Decider::Policy),
        (Say::Asked, _) => match covering(plan, rules) {
            Some(rule) => Verdict::Allow(Decider::Rule(rule)),
            None => Verdict::Ask,
        },
    }
}

/// The rules that cover a plan, in words.
fn covering(plan: &Plan, rules: &[Rule]) -> Option<String> {
    let given = rules
        .iter()
        .find(|rule| matches!(&rule.matcher, Matcher::Given(allowance) if allowance.covers(plan)));
    if let Some(rule) = given {
        return Some(rule.to_string());
    }
    let only_built = matches!(&plan.deed, Deed::Command { judgement, .. } if judgement.only_built);
    let never = |act: &Act| match act {
        Act::Critical => !only_built,
        act => [Act::Steer, Act::Leave].contains(act),
    };
    if acts(plan).iter().any(never) {
        return None;
    }
    let whole = || {
        let rule = rules
            .iter()
            .find(|rule| rule.matcher == Matcher::Whole && rule.tool.as_ref() == Some(&plan.tool));
        rule.map(Rule::to_string)
    };
    // What may replace more than text is asked each time, and an address that may carry data away or that leads inside.
    let usual = plan.assessment.risk <= Risk::Medium;
    match &plan.deed {
        Deed::Command { judgement, leaves } if !leaves.network => cover_line(judgement, rules),
        Deed::Write { paths } if usual => {
            let covering = |path: &PathBuf| rules.iter().find(|rule| rule.covers_file(path));
            // Every file must be covered; the rule for one of them is named.
            let covered: Option<Vec<&Rule>> = paths.iter().map(covering).collect();
            covered.and_then(|rules| rules.first().map(ToString::to_string)).or_else(whole)
        }
        Deed::Fetch { host } if usual => {
            rules.iter().find(|rule| rule.covers_host(host)).map(Rule::to_string)
        }
        Deed::Reach { host } => rules.iter().find(|rule| rule.covers_reach(host)).map(Rule::to_string),
        Deed::Other => whole(),
        Deed::Command { .. } | Deed::Write { .. } | Deed::Fetch { .. } | Deed::Read | Deed::ReadClosed => {
            None
        }
    }
}

fn cover_line(judgement: &Judgement, rules: &[Rule]) -> Option<String> {
    if !judgement.doubts.is_empty() || judgement.inner.is_empty() {
        return None;
    }
    let mut used: Vec<String> = Vec::new();
    for inner in &judgement.inner {
        for rule in cover_inner(inner, rules)? {
            // What else the line does could change the script before it runs.
            if matches!(rule.matcher, Matcher::Script { .. }) && !is_alone(inner, judgement) {
                return None;
            }
            let words = rule.to_string();
            if !used.contains(&words) {
                used.push(words);
            }
        }
    }
    Some(used.join(", "))
}

fn cover_inner<'r>(inner: &Inner, rules: &'r [Rule]) -> Option<Vec<&'r Rule>> {
    let mut used = Vec::new();
    match &inner.cover {
        Cover::Never => return None,
        Cover::Free => {}
        Cover::Words(words) => {
            let script = |rule: &Rule| inner.script.as_ref().is_some_and(|script| rule.covers_script(script));
            used.push(rules.iter().find(|rule| rule.covers_words(words) || script(rule))?);
        }
    }
    for path in &inner.writes {
        used.push(rules.iter().find(|rule| rule.covers_file(path))?);
    }
    Some(used)
}

/// The rules that would cover a command line from now on; `None` when it must be asked each time.
pub fn offer(judgement: &Judgement) -> Option<RuleOffer> {
    if !judgement.doubts.is_empty() || judgement.risk == Risk::Critical && !judgement.only_built {
        return None;
    }
    let mut rules: Vec<Rule> = Vec::new();
    for inner in &judgement.inner {
        let matchers = match &inner.cover {
            Cover::Never => return None,
            Cover::Free => Vec::new(),
            Cover::Words(words) => match (rule_words(words), &inner.script) {
                (_, Some(ScriptFile { by, file, digest })) if is_alone(inner, judgement) => {
                    vec![Matcher::Script { by: by.clone(), file: file.clone(), digest: digest.clone() }]
                }
                (known, _) if known.is_empty() => vec![Matcher::Exact { words: words.clone() }],
                (known, _) => known.into_iter().map(matcher).collect(),
            },
        };
        let dirs = inner
            .writes
            .iter()
            .filter_map(|path| path.parent())
            .map(|dir| Matcher::Under { dir: dir.to_owned() });
        for matcher in matchers.into_iter().chain(dirs) {
            let rule = Rule { tool: None, matcher };
            if !rules.contains(&rule) {
                rules.push(rule);
            }
        }
    }
    if rules.is_empty() {
        return None;
    }
    for host in rules.iter().flat_map(registries::hosts_of).collect::<Vec<Rule>>() {
        if !rules.contains(&host) {
            rules.push(host);
        }
    }
    Some(RuleOffer { words: in_words(&rules), rules })
}

fn matcher(words: RuleWords) -> Matcher {
    match words {
        RuleWords::First(words) => Matcher::Prefix { words },
        RuleWords::Exactly(words) => Matcher::Exact { words },
    }
}

/// Whether everything else in a line only looks.
fn is_alone(inner: &Inner, judgement: &Judgement) -> bool {
    let looks = |other: &Inner| other.cover == Cover::Free && other.writes.is_empty();
    inner.writes.is_empty() && judgement.inner.iter().all(|other| std::ptr::eq(inner, other) || looks(other))
}

/// Some rules in words; what several begin with is said once.
fn in_words(rules: &[Rule]) -> String {
    let mut said = String::new();
    let mut before: Option<&Rule> = None;
    for rule in rules {
        match (before.map(|before| &before.matcher), &rule.matcher) {
            (Some(Matcher::Prefix { .. }), Matcher::Prefix { words })
            | (Some(Matcher::Exact { .. }), Matcher::Exact { words }) => {
                said.push_str(&format!(", `{}`", words.join(" ")));
            }
            _ if said.is_empty() => said = rule.to_string(),
            _ => said.push_str(&format!(", {rule}")),
        }
        before = Some(rule);
    }
    said
}
