//! What the person has allowed for good, and until the session closes: told, narrowed, taken back.
//!
//! One extension command, so that a UI behind any wire that carries those can ask: `{}` lists, `{"revoke": {"project": …, "rule": …}}`
//! takes one back (without a project: one of the session), `{"narrow": {"to": "cargo test --lib"}}` puts a narrower one in the place of
//! the one of this project that it narrows. Each answer is the list as it is then. Only what exists can be named, and nothing can be widened.

use crate::grants::Grants;
use domain::command::{Refusal, RefusalKind};
use domain::content::Json;
use domain::path_text;
use serde::Deserialize;
use serde_json::{Value, json};
use std::path::Path;
use tools::policy::{Rule, Rules, RulesError, projects};

#[derive(Debug, Default, Deserialize)]
struct RulesRequest {
    revoke: Option<NamedRule>,
    narrow: Option<Narrowing>,
}

/// A rule, as it was told.
#[derive(Debug, Deserialize)]
struct NamedRule {
    project: Option<String>,
    rule: Rule,
}

#[derive(Debug, Deserialize)]
struct Narrowing {
    to: String,
}

/// Does what is asked, and tells all rules as they are then. Reads and writes files.
pub(crate) fn answer(
    data: &Path,
    here: Option<&Path>,
    grants: Option<&Grants>,
    payload: &Json,
) -> Result<Json, Refusal> {
    let text = payload.as_str().trim();
    let asked: RulesRequest = match text {
        "" | "null" => RulesRequest::default(),
        text => serde_json::from_str(text).map_err(|why| {
            Refusal::new(RefusalKind::Invalid, format!("that names no rule: {why}"))
                .hint("name one as it is listed")
        })?,
    };
    if let Some(NamedRule { project, rule }) = asked.revoke {
        match project {
            Some(project) => {
                Rules::load(data, &path_text::read(&project)).and_then(|mut rules| rules.remove(&rule))
            }
            None if grants.is_some_and(|grants| grants.revoke_of_session(&rule)) => Ok(()),
            None => Err(RulesError::Unknown),
        }
        .map_err(refusal)?;
    }
    if let Some(Narrowing { to }) = asked.narrow {
        let Some(here) = here else {
            return Err(Refusal::new(RefusalKind::Invalid, "there is no project here, so it has no rules"));
        };
        Rules::load(data, here).and_then(|mut rules| rules.narrow_to(&to)).map_err(refusal)?;
    }
    list(data, here, grants)
}

fn refusal(why: RulesError) -> Refusal {
    let kind = match &why {
        RulesError::Unknown | RulesError::NotNarrower(_) | RulesError::NothingToNarrow { .. } => {
            RefusalKind::Invalid
        }
        _ => RefusalKind::Storage,
    };
    Refusal::new(kind, why.to_string())
}

fn list(data: &Path, here: Option<&Path>, grants: Option<&Grants>) -> Result<Json, Refusal> {
    let line = |rule: &Rule| json!({ "words": rule.to_string(), "rule": rule, "narrow": rule.to_narrow() });
    let lines = |rules: &[Rule]| rules.iter().map(line).collect::<Vec<Value>>();
    let session = grants.map(Grants::of_session).unwrap_or_default();
    let mut told = Vec::new();
    let mut unread = Vec::new();
    for rules in projects(data).map_err(refusal)? {
        match rules {
            Ok(rules) => told.push(json!({
                "project": path_text::write(rules.project()),
                "here": Some(rules.project()) == here,
                "rules": lines(rules.kept()),
            })),
            Err(why) => unread.push(why.to_string()),
        }
    }
    let all = json!({ "session": lines(&session), "projects": told, "unread": unread });
    Ok(Json::verbatim(all.to_string()))
}
