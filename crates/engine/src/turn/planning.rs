//! Mode `plan`: the model only looks and ends with a plan; the person edits it and lets it begin, and the mode that was there before is
//! on again. That nothing is changed before is the doing of the table of modes and of nothing here.
//!
//! A plan is the part of an answer from its last heading `Plan` on: every UI shows it as it stands, and no tool has to be told for it.
//! When it begins, the turn ends and the person's word waits as the run's next input: it is in the record, whatever happens then.

use super::Turn;
use super::servers::PersonReply;
use domain::ask::{Answer, AskKind, Choice};
use domain::content::Input;
use domain::event::{Body, NoteEvent, PlanItem, PlanState, QueueEvent, SessionEvent};
use domain::ids::QueuedId;
use domain::queue::QueueKind;
use domain::session::Policy;
use tools::todo::{MAX_ITEMS, MAX_TEXT};

/// What the person may choose.
const BEGIN: &str = "begin";
const EDIT: &str = "edit";
const COMMENT: &str = "comment";
const KEEP: &str = "keep";
/// The question.
const TITLE: &str = "Begin with this plan?";
/// What the person says by choosing it.
const AGREED: &str = "Begin with this plan.";
/// The same of a plan that they have changed.
const CHANGED: &str = "I changed the plan. Begin with this one:";
/// What they say by commenting on it.
const COMMENTED: &str = "My comments on the plan, each below the line that it is about:";
/// Before each line of a plan that is commented on.
const QUOTED: &str = "> ";

impl Turn {
    /// The model has nothing more to say: where it wrote a plan in mode `plan`, the person is asked whether it begins.
    pub(super) async fn offer_plan(&self, said: &str) {
        if self.grants.policy() != Policy::Plan || self.nobody_there() {
            return;
        }
        let Some(written) = plan_in(said) else { return };
        let mut plan = written.to_owned();
        loop {
            let chosen = match self.ask_about(question(&plan, plan != written, self.brief.before_plan)).await
            {
                PersonReply::Said(Answer::Chosen(chosen)) => chosen,
                PersonReply::Said(_) | PersonReply::Nobody | PersonReply::Nothing => return,
            };
            match chosen.first().map(String::as_str) {
                Some(BEGIN) => return self.begin_plan(&plan, plan != written).await,
                Some(EDIT) => {
                    let message = "The text as you leave it is the plan.".to_owned();
                    let kind = AskKind::Edit { message, prefill: plan.clone() };
                    if let PersonReply::Said(Answer::Entered(text)) =
                        self.ask_about(("Edit the plan".to_owned(), kind)).await
                        && !text.trim().is_empty()
                    {
                        plan = text.trim().to_owned();
                    }
                }
                Some(COMMENT) => {
                    let message =
                        "Write below the lines that you mean. Lines that begin with > are the plan's.";
                    let kind = AskKind::Edit { message: message.to_owned(), prefill: quoted(&plan) };
                    if let PersonReply::Said(Answer::Entered(text)) =
                        self.ask_about(("Comment on the plan".to_owned(), kind)).await
                        && let Some(comments) = comments_in(&text)
                    {
                        // The mode stays: the next thing is another plan.
                        return self.say_next(format!("{COMMENTED}\n\n{comments}")).await;
                    }
                }
                _ => return,
            }
        }
    }

    /// The person agreed: the mode before is on again, the steps are on the panel, and their word is the next input.
    async fn begin_plan(&self, plan: &str, changed: bool) {
        let policy = self.brief.before_plan;
        if self.grants.policy() == Policy::Plan {
            if !self.port.emit_kept(Body::Session(SessionEvent::PolicyChosen { policy })).await {
                return;
            }
            self.grants.set_policy(policy);
        }
        let items = steps(plan);
        if !items.is_empty() {
            self.port.emit(Body::Note(NoteEvent::PlanChanged { items })).await;
        }
        let text = if changed { format!("{CHANGED}\n\n{plan}") } else { AGREED.to_owned() };
        self.say_next(text).await;
    }

    /// The person's word is the run's next input.
    async fn say_next(&self, text: String) {
        let (item, kind) = (QueuedId::mint(&self.brief.ids), QueueKind::FollowUp);
        let added = QueueEvent::Added { item, kind, input: Input::text(text), by: None };
        self.port.emit_kept(Body::Queue(added)).await;
    }
}

fn question(plan: &str, changed: bool, before: Policy) -> (String, AskKind) {
    let choice = |id: &str, label: &str, detail: String| Choice {
        id: id.to_owned(),
        label: label.to_owned(),
        detail: Some(detail),
    };
    let choices = vec![
        choice(BEGIN, "Begin", format!("back to the mode {before}")),
        choice(EDIT, "Edit the plan", "change its text, then you are asked again".to_owned()),
        choice(
            COMMENT,
            "Comment on lines",
            "write below the lines that you mean; another plan comes".to_owned(),
        ),
        choice(KEEP, "Keep planning", "say what is missing; nothing begins yet".to_owned()),
    ];
    let message = match changed {
        true => format!("As you changed it:\n\n{plan}"),
        false => "It is what the answer ends with. Nothing has been changed so far.".to_owned(),
    };
    (TITLE.to_owned(), AskKind::Choose { message, choices, many: false })
}

/// The plan in an answer: all from its last heading `Plan` on, if something stands below it.
fn plan_in(said: &str) -> Option<&str> {
    let mut at = 0;
    let mut found = None;
    let mut fenced = false;
    for line in said.split_inclusive('\n') {
        fenced ^= line.trim_start().starts_with("```");
        if !fenced && is_heading(line) {
            found = Some((at, at + line.len()));
        }
        at += line.len();
    }
    let (begins, below) = found?;
    (!said[below..].trim().is_empty()).then(|| said[begins..].trim())
}

fn is_heading(line: &str) -> bool {
    let words = line.trim_start_matches('#');
    let level = line.len() - words.len();
    (1..=4).contains(&level)
        && words
            .trim()
            .trim_end_matches(':')
            .split_whitespace()
            .next()
            .is_some_and(|first| first.trim_end_matches(':').eq_ignore_ascii_case("plan"))
}

/// A plan as it is commented on: each line marked, so that it is told from what is written between them.
fn quoted(plan: &str) -> String {
    plan.lines().map(|line| format!("{QUOTED}{line}\n")).collect()
}

/// What was written between the lines, each piece below the line before it; nothing where nothing was.
fn comments_in(text: &str) -> Option<String> {
    let mut told = String::new();
    let mut about: Option<&str> = None;
    let mut pieces = 0;
    for line in text.lines() {
        if line.starts_with(QUOTED.trim_end()) {
            about = Some(line);
            continue;
        }
        if line.trim().is_empty() {
            continue;
        }
        if let Some(quoted) = about.take() {
            let gap = if pieces == 0 { "" } else { "\n" };
            told.push_str(&format!("{gap}{quoted}\n\n"));
        }
        told.push_str(line.trim_end());
        told.push('\n');
        pieces += 1;
    }
    (pieces > 0).then(|| told.trim_end().to_owned())
}

/// The steps of a plan: the items of its lists that are not inside another item.
fn steps(plan: &str) -> Vec<PlanItem> {
    let mut fenced = false;
    let item = |line: &str| {
        let rest = line.strip_prefix(['-', '*', '+']).or_else(|| {
            let digits = line.find(|c: char| !c.is_ascii_digit()).filter(|digits| *digits > 0)?;
            line[digits..].strip_prefix(['.', ')'])
        })?;
        let text = rest.strip_prefix(' ')?.trim();
        let text = text.strip_prefix("[ ]").unwrap_or(text).trim();
        (!text.is_empty()).then(|| text.chars().take(MAX_TEXT).collect::<String>())
    };
    let lines = plan.lines().filter(|line| {
        let fence = line.trim_start().starts_with("```");
        fenced ^= fence;
        !fence && !fenced
    });
    let texts = lines.filter_map(item).take(MAX_ITEMS);
    texts.map(|text| PlanItem { text, state: PlanState::Pending }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_is_what_stands_below_its_last_heading() {
        for (said, plan) in [
            ("Looked.\n\n# Plan\n1. a\n2. b\n", Some("# Plan\n1. a\n2. b")),
            ("## Plan: move it\n- a", Some("## Plan: move it\n- a")),
            ("# Plan\nold\n# Other\n\n# Plan\nnew", Some("# Plan\nnew")),
            ("```\n# Plan\n- in code\n```\ndone", None),
            ("# Plan\n\n", None),
            ("# Planning\n- a", None),
            ("My plan: nothing.\n#plan", None),
            ("", None),
        ] {
            assert_eq!(plan_in(said), plan, "{said:?}");
        }
    }

    #[test]
    fn comments_stand_below_the_lines_that_they_are_about() {
        let plan = "# Plan\n1. a\n2. b";
        assert_eq!(quoted(plan), "> # Plan\n> 1. a\n> 2. b\n");
        let text = "> # Plan\n> 1. a\nnot a, c\n\nsince d\n> 2. b\nwhy?\n";
        let told = "> 1. a\n\nnot a, c\nsince d\n\n> 2. b\n\nwhy?";
        assert_eq!(comments_in(text).as_deref(), Some(told));
        assert_eq!(comments_in("all of it\n> # Plan").as_deref(), Some("all of it"));
        assert_eq!(comments_in(&quoted(plan)), None);
    }

    #[test]
    fn the_steps_of_a_plan_are_its_items() {
        let texts = |plan: &str| steps(plan).into_iter().map(|item| item.text).collect::<Vec<_>>();
        let plan =
            "# Plan\nFirst:\n1. read `a.rs`\n   - why\n2) change it\n- [ ] test\n```\n- code\n```\n*bold*\n";
        assert_eq!(texts(plan), ["read `a.rs`", "change it", "test"]);
        assert!(texts("# Plan\nno list").is_empty());
    }
}
