//! What was asked in a project in the last days, so that a proposed rule can say how many of those questions it would have answered.
//!
//! One bounded file per project beside its rules, a line for each question: what a rule would have had to cover, and nothing where no
//! rule could, or where something secret stands in it. It decides nothing. What cannot be read or written is passed over.

use super::{Matcher, Rule, is_alone};
use crate::rule::RuleOffer;
use crate::shell::{Cover, ScriptFile};
use crate::tool::{Deed, Plan};
use serde::{Deserialize, Serialize};
use std::io::{Read as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// How far back is counted.
const COUNTED: Duration = Duration::from_secs(7 * 24 * 60 * 60);
/// Largest file; the older half goes when it is full.
const MAX_BYTES: u64 = 256 * 1024;
/// Longest line of one question; of a longer one it is only kept that it was asked.
const MAX_LINE: usize = 4 * 1024;

/// The questions of one project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AskedQuestions(PathBuf);

/// One question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct AskedOnce {
    /// Seconds since 1970.
    at: u64,
    tool: String,
    /// What rules have to cover, all of it; `None` where none can.
    needs: Option<Vec<Need>>,
}

/// Something that a rule has to cover.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Need {
    Words(Vec<String>),
    /// A script that a command runs, which a rule for it or for the words may cover.
    Script {
        words: Vec<String>,
        by: Option<String>,
        #[serde(with = "crate::rule::path")]
        file: PathBuf,
        digest: String,
    },
    File(#[serde(with = "crate::rule::path")] PathBuf),
    Host(String),
    /// A host that a command reaches by the session's proxy.
    Reach(String),
    Tool,
}

/// How many of the questions that are known a rule would have answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AnsweredBy {
    pub answered: usize,
    pub asked: usize,
}

impl std::fmt::Display for AnsweredBy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let AnsweredBy { answered, asked } = self;
        let which = match (answered, asked) {
            (1, 1) => "the only question".to_owned(),
            (_, 1) => format!("{answered} of the 1 question"),
            _ => format!("{answered} of the {asked} questions"),
        };
        write!(f, "would have answered {which} of the last 7 days")
    }
}

impl AskedQuestions {
    /// Those that are kept beside this file of rules.
    pub(super) fn beside(rules: &Path) -> AskedQuestions {
        AskedQuestions(rules.with_extension("asked"))
    }

    /// How many of them the offered rules would have answered beside those that hold; nothing where nothing is known.
    pub fn answered_by(&self, offer: &RuleOffer, rules: &[Rule], now: SystemTime) -> Option<AnsweredBy> {
        let since = seconds(now).saturating_sub(COUNTED.as_secs());
        let known: Vec<AskedOnce> = self.read().into_iter().filter(|asked| asked.at >= since).collect();
        let both: Vec<Rule> = rules.iter().chain(&offer.rules).cloned().collect();
        let answered = known.iter().filter(|asked| asked.by(&both) && !asked.by(rules)).count();
        (!known.is_empty()).then_some(AnsweredBy { answered, asked: known.len() })
    }

    /// Keeps that this was asked. May be lost where several sessions ask at the same moment and the file is full.
    pub fn add(&self, plan: &Plan, now: SystemTime) {
        let at = seconds(now);
        let asked = AskedOnce { at, tool: plan.tool.clone(), needs: needs(plan) };
        let text = |asked: &AskedOnce| serde_json::to_string(asked).ok().filter(|line| line.len() < MAX_LINE);
        let Some(line) = text(&asked).or_else(|| text(&AskedOnce { needs: None, ..asked })) else { return };
        if std::fs::metadata(&self.0).is_ok_and(|meta| meta.len() + MAX_LINE as u64 > MAX_BYTES) {
            let kept = self.read();
            let newer: Vec<String> = kept.iter().skip(kept.len() / 2).filter_map(text).collect();
            let _ = std::fs::remove_file(&self.0);
            self.append(&newer.join("\n"));
        }
        self.append(&line);
    }

    fn append(&self, lines: &str) {
        let Some(folder) = self.0.parent() else { return };
        let _ = super::book::private_folder(folder);
        let file = std::fs::OpenOptions::new().append(true).create(true).mode(0o600).open(&self.0);
        // At once, so that lines of other sessions stay whole.
        let _ = file.and_then(|mut file| file.write_all(format!("{lines}\n").as_bytes()));
    }

    fn read(&self) -> Vec<AskedOnce> {
        // A pipe in its place would be waited for.
        if !std::fs::metadata(&self.0).is_ok_and(|meta| meta.is_file()) {
            return Vec::new();
        }
        let mut text = Vec::new();
        let read =
            std::fs::File::open(&self.0).and_then(|file| file.take(2 * MAX_BYTES).read_to_end(&mut text));
        let lines = text.split(|byte| *byte == b'\n').filter(|_| read.is_ok());
        lines.filter_map(|line| serde_json::from_slice(line).ok()).collect()
    }
}

impl AskedOnce {
    fn by(&self, rules: &[Rule]) -> bool {
        let whole = |rule: &Rule| rule.matcher == Matcher::Whole && rule.tool.as_ref() == Some(&self.tool);
        let covered = |need: &Need| {
            rules.iter().any(|rule| match need {
                Need::Words(words) => rule.covers_words(words),
                Need::Script { words, by, file, digest } => {
                    let script = ScriptFile { by: by.clone(), file: file.clone(), digest: digest.clone() };
                    rule.covers_words(words) || rule.covers_script(&script)
                }
                Need::File(path) => rule.covers_file(path) || whole(rule),
                Need::Host(host) => rule.covers_host(host),
                Need::Reach(host) => rule.covers_reach(host),
                Need::Tool => whole(rule),
            })
        };
        self.needs.as_ref().is_some_and(|needs| needs.iter().all(covered))
    }
}

/// What rules have to cover of a plan for which one is proposed.
fn needs(plan: &Plan) -> Option<Vec<Need>> {
    plan.rule.as_ref()?;
    Some(match &plan.deed {
        Deed::Command { judgement, .. } => {
            let mut needs = Vec::new();
            for inner in &judgement.inner {
                match (&inner.cover, &inner.script) {
                    (Cover::Never, _) => return None,
                    (Cover::Free, _) => {}
                    (Cover::Words(words), Some(script)) if is_alone(inner, judgement) => {
                        let (words, ScriptFile { by, file, digest }) = (words.clone(), script.clone());
                        needs.push(Need::Script { words, by, file, digest });
                    }
                    (Cover::Words(words), _) => needs.push(Need::Words(words.clone())),
                }
                needs.extend(inner.writes.iter().cloned().map(Need::File));
            }
            needs
        }
        Deed::Write { paths } => paths.iter().cloned().map(Need::File).collect(),
        Deed::Fetch { host } => vec![Need::Host(host.clone())],
        Deed::Reach { host } => vec![Need::Reach(host.clone())],
        Deed::Other => vec![Need::Tool],
        Deed::Read | Deed::ReadClosed => return None,
    })
}

fn seconds(at: SystemTime) -> u64 {
    at.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
}
