//! Hooks in a turn: found, agreed to, run at its points, and what comes of them. What they did stands in the record as notices, or in
//! what the model was told.

use super::Turn;
use super::servers::PersonReply;
use super::step::Call;
use crate::hooks::{self, HookCall, HookEvent, HookVerdict, ListedHook, names_of};
use domain::ask::{Answer, AskKind};
use domain::event::Failure;
use domain::harmless;
use domain::path_text;
use domain::signal::Level;
use domain::tool::ToolOutcome;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::MutexGuard;
use tools::checkpoint::{CallScope, Watched};
use tools::steering::SteeringWatch;
use tools::{Deed, Outcome, Plan};

/// How often hooks may let a model go on that has nothing more to do, in one turn.
const MAX_GOING_ON: u32 = 3;
/// Characters of a result that a hook reads.
const MAX_RESULT: usize = 100_000;
/// Most things that a program says once; past it nothing more is said, asked or agreed to.
const MAX_TOLD: usize = 1_000;
/// The code of notices about hooks.
const HOOK: &str = "hook";

/// What the person was told and asked about hooks, and told of sub-agents' files, as long as the program runs. Clones share it.
#[derive(Debug, Clone, Default)]
pub(crate) struct ToldHooks(Arc<Mutex<BTreeSet<String>>>);

impl ToldHooks {
    /// Whether this is said for the first time.
    pub(super) fn is_first(&self, words: String) -> bool {
        let mut told = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        told.len() < MAX_TOLD && told.insert(words)
    }
}

/// What one run of the hooks of an event came to.
#[derive(Default)]
struct HookRound {
    denied: Option<String>,
    added: Vec<String>,
}

/// What is known of the files before hooks run that may change them.
struct HookFence<'a> {
    alone: Option<MutexGuard<'a, ()>>,
    watched: Option<Watched>,
    steering: Option<SteeringWatch>,
}

impl Turn {
    /// The hooks that may run in this turn. Asks about those of the project that the person has not agreed to, once for as long as the
    /// program runs.
    pub(super) async fn find_hooks(&self) -> Vec<ListedHook> {
        let (look, data) = (self.look.clone(), self.data.clone());
        let project = self.place.root().map(Path::to_owned);
        let find =
            move || hooks::find(look.settings.as_deref(), look.home.as_deref(), &data, project.as_deref());
        let Ok((mut all, told)) = tokio::task::spawn_blocking(find).await else { return Vec::new() };
        for (file, why) in told {
            let text = format!("Hooks in {}: {why}", path_text::write(&file));
            if self.told_hooks.is_first(text.clone()) {
                self.notice(self.brief.leaf, HOOK, text).await;
            }
        }
        let is_new = |one: &ListedHook| !one.approved && self.told_hooks.is_first(one.key());
        let waiting: Vec<ListedHook> = all.iter().filter(|one| is_new(one)).cloned().collect();
        if !waiting.is_empty() && self.agrees_to(&waiting).await {
            let (data, agreed) = (self.data.clone(), waiting.clone());
            let keep = move || agreed.iter().try_for_each(|one| hooks::approve_hook(&data, one));
            match tokio::task::spawn_blocking(keep).await {
                Ok(Ok(())) => {
                    all.iter_mut().filter(|one| waiting.contains(one)).for_each(|one| one.approved = true);
                }
                Ok(Err(why)) => {
                    self.port.notify(Level::Error, format!("This could not be kept: {why}")).await;
                }
                Err(_) => {}
            }
        }
        all.retain(|one| one.approved);
        all
    }

    /// Whether the person agrees to these hooks of the project.
    async fn agrees_to(&self, waiting: &[ListedHook]) -> bool {
        let line = |one: &ListedHook| {
            let compared = one.compared.as_ref().map(|words| format!("\n{words}")).unwrap_or_default();
            harmless::marked(&format!("{}{compared}", one.words()))
        };
        let what = waiting.iter().map(line).collect::<Vec<_>>().join("\n");
        let not_yet =
            format!("Hooks of this project do not run until you agree with `parlor hooks approve`:\n{what}");
        if self.is_headless {
            self.notice(self.brief.leaf, HOOK, not_yet).await;
            return false;
        }
        let kind = AskKind::Confirm {
            message: format!(
                "{what}\n\nThey run in the sandbox: they read what commands may read, write in the project and in temp, and have no \
                 network. They can deny what the agent does and add to what it reads; they allow nothing."
            ),
            yes: Some("Run them".to_owned()),
            no: Some("Not now".to_owned()),
            danger: true,
        };
        match self.ask_about(("This project brings hooks".to_owned(), kind)).await {
            PersonReply::Said(Answer::Confirmed(said)) => said,
            PersonReply::Nobody => {
                self.port.notify(Level::Info, not_yet).await;
                false
            }
            PersonReply::Said(_) | PersonReply::Nothing => false,
        }
    }

    /// Lets hooks read the prompt; gives what they add.
    ///
    /// # Errors
    /// When one refuses it.
    pub(super) async fn hooks_of_prompt(&self) -> Result<Vec<String>, Failure> {
        let mut added = Vec::new();
        if self.brief.context.len() <= 1 {
            let about = [("source", json!("startup"))];
            added.extend(self.hooks_of(HookEvent::SessionStart, &[], &[], &about).await.added);
        }
        let Some(prompt) = self.newest_prompt() else { return Ok(added) };
        let round = self.hooks_of(HookEvent::UserPromptSubmit, &[], &[], &[("prompt", json!(prompt))]).await;
        if let Some(why) = round.denied {
            let failure = Failure::new(HOOK, format!("The prompt was refused: {why}"));
            return Err(failure.hint("say it otherwise; `parlor hooks` lists the hooks that read prompts"));
        }
        added.extend(round.added);
        Ok(added)
    }

    /// Why a hook denies a call, if one does. No hook allows anything.
    pub(super) async fn hooks_before(&self, call: &Call, plan: &Plan) -> Option<String> {
        if !self.has_hooks(HookEvent::PreToolUse) {
            return None;
        }
        for input in inputs(plan) {
            let about = [("tool_use_id", json!(call.id.to_string()))];
            let round =
                self.hooks_of(HookEvent::PreToolUse, &names(plan), &[("tool_input", input)], &about).await;
            if let Some(why) = round.denied {
                // On a screen it stands at the call.
                if self.is_headless {
                    self.notice(self.brief.leaf, HOOK, format!("A hook denied {}: {why}", plan.tool)).await;
                }
                return Some(why);
            }
            for text in round.added {
                self.note(
                    Level::Info,
                    self.brief.leaf,
                    HOOK,
                    format!("A hook said before {}: {text}", plan.tool),
                )
                .await;
            }
        }
        None
    }

    /// What hooks have to be told of a call once it has run.
    pub(super) fn hooks_after(&self, plan: &Plan) -> Option<(Vec<String>, Vec<Value>)> {
        self.has_hooks(HookEvent::PostToolUse).then(|| (names(plan), inputs(plan)))
    }

    /// Lets hooks read what a call gave; what they say stands at the end of it.
    pub(super) async fn hooks_add(
        &self,
        call: &Call,
        told: Option<(Vec<String>, Vec<Value>)>,
        outcome: &mut Outcome,
    ) {
        let Some((names, inputs)) = told else { return };
        let is_done = matches!(outcome.outcome, ToolOutcome::Done);
        let text: String = outcome.result.text.chars().take(MAX_RESULT).collect();
        let about = [
            ("tool_response", json!({"success": is_done, "text": text})),
            ("tool_use_id", json!(call.id.to_string())),
        ];
        for input in inputs {
            let round = self.hooks_of(HookEvent::PostToolUse, &names, &[("tool_input", input)], &about).await;
            for words in round.denied.into_iter().chain(round.added) {
                outcome.result.text.push_str(&format!("\n\n[a hook that ran after this says: {words}]"));
            }
        }
    }

    /// What hooks want to have done before the turn ends; `gone_on` is how often they said so in it.
    pub(super) async fn hooks_at_end(&self, gone_on: u32) -> Option<String> {
        if gone_on >= MAX_GOING_ON || self.cancel.is_cancelled() || self.steered.waits() {
            return None;
        }
        let about = [("stop_hook_active", json!(gone_on > 0))];
        let why = self.hooks_of(HookEvent::Stop, &[], &[], &about).await.denied?;
        self.note(Level::Info, self.brief.leaf, HOOK, format!("Going on: {why}")).await;
        Some(format!("You are not done yet: {why}"))
    }

    fn has_hooks(&self, event: HookEvent) -> bool {
        self.hooks.iter().any(|one| one.hook.event == event)
    }

    /// Runs the hooks of an event, one after the other, until one denies.
    async fn hooks_of(
        &self,
        event: HookEvent,
        names: &[String],
        input: &[(&str, Value)],
        about: &[(&str, Value)],
    ) -> HookRound {
        let (mut round, mut fence) = (HookRound::default(), None);
        for one in self.hooks.iter().filter(|one| one.hook.event == event) {
            let Some(name) = one.named(names) else { continue };
            let name = name.map(|name| ("tool_name", json!(name)));
            let members = name.into_iter().chain(input.iter().cloned()).chain(about.iter().cloned());
            let call = HookCall {
                session: self.port.session.as_str(),
                workdir: self.place.workdir(),
                policy: self.grants.policy(),
                about: members.map(|(name, value)| (name.to_owned(), value)).collect::<Map<_, _>>(),
            };
            if !is_as_agreed(one).await {
                let why = "its files have changed since you agreed to it: it does not run, and what it would look at is denied, \
                           until you agree with `parlor hooks approve`";
                if event == HookEvent::PreToolUse {
                    round.denied = Some(format!("{why} (the hook {})", one.words()));
                    break;
                }
                let text = format!("The hook {} was left out: {why}", one.words());
                if self.told_hooks.is_first(text.clone()) {
                    self.notice(self.brief.leaf, HOOK, text).await;
                }
                continue;
            }
            if fence.is_none() && self.writes(one) {
                fence = Some(self.fence().await);
            }
            let Some(verdict) = hooks::run(one, &call, self.place.guard(), &self.cancel).await else { break };
            self.tell_of(one, &verdict).await;
            // What it says first: its command may be longer than there is room.
            let by = |text: String| format!("{text} (the hook {})", one.words());
            round.added.extend(verdict.adds.map(by));
            if let Some(why) = verdict.denies {
                round.denied = Some(by(why));
                break;
            }
        }
        if let Some(fence) = fence {
            self.lift(fence).await;
        }
        round
    }

    /// Whether a hook is the project's and may change its files now.
    fn writes(&self, one: &ListedHook) -> bool {
        one.project.is_some() && hooks::may_write(self.grants.policy())
    }

    /// Whether hooks of the project run around calls and may change its files: then no two calls that do so run at once, since nobody could
    /// tell who changed what.
    pub(super) fn hooks_may_write(&self) -> bool {
        self.hooks.iter().any(|one| one.hook.event.is_of_tools() && self.writes(one))
    }

    /// Before hooks run that may change files: what stands there is kept for undo, and what steers programs is looked at.
    async fn fence(&self) -> HookFence<'_> {
        let scope = CallScope::on_the_leash(&self.place);
        let alone = self.changes_alone(Some(&scope)).await;
        let watched = self.watch(Some(scope)).await;
        let folders = self.place.root().map(Path::to_owned).into_iter().collect();
        let steering = SteeringWatch::begin("A hook of this project".to_owned(), folders).await;
        HookFence { alone, watched, steering }
    }

    /// After them, however they ended: puts back what steers programs, and writes down what else they changed.
    async fn lift(&self, fence: HookFence<'_>) {
        let HookFence { alone, watched, steering } = fence;
        let told = match &steering {
            Some(steering) => steering.over().await,
            None => None,
        };
        self.watched(watched).await;
        drop(alone);
        if let Some(told) = told {
            self.notice(self.brief.leaf, HOOK, told).await;
        }
    }

    /// Tells the person what they would not see otherwise.
    async fn tell_of(&self, one: &ListedHook, verdict: &HookVerdict) {
        let (leaf, who) = (self.brief.leaf, one.words());
        if let Some(text) = &verdict.tells {
            self.note(Level::Info, leaf, HOOK, format!("The hook {who} says: {text}")).await;
        }
        if let Some(why) = &verdict.failed {
            self.notice(leaf, HOOK, format!("The hook {who} did not work: {why}. Nothing was denied by it."))
                .await;
        }
        for what in &verdict.ignored {
            let text = format!(
                "The hook {who} says {what}: that counts for nothing here, hooks only deny and add text."
            );
            if self.told_hooks.is_first(text.clone()) {
                self.notice(leaf, HOOK, text).await;
            }
        }
        if let Some(text) = verdict.adds.as_ref().filter(|_| !one.hook.event.is_of_tools()) {
            self.note(Level::Info, leaf, HOOK, format!("The hook {who} told the model: {text}")).await;
        }
    }
}

async fn is_as_agreed(one: &ListedHook) -> bool {
    let one = one.clone();
    tokio::task::spawn_blocking(move || one.is_as_agreed()).await.unwrap_or(false)
}

fn names(plan: &Plan) -> Vec<String> {
    let own = std::iter::once(plan.tool.as_str());
    let mut names: Vec<String> = names_of(&plan.tool).into_iter().chain(own).map(str::to_owned).collect();
    names.dedup();
    names
}

/// What a call does, as this form writes the arguments of its tools: once for each file that a patch writes.
fn inputs(plan: &Plan) -> Vec<Value> {
    let file = |path: &PathBuf| json!(path_text::write(path));
    let files: Vec<Value> = match (&plan.deed, &plan.path) {
        (Deed::Write { paths }, _) if !paths.is_empty() => paths.iter().map(file).collect(),
        (_, Some(path)) => vec![file(path)],
        (_, None) => vec![plan.args["path"].clone()],
    };
    let args = &plan.args;
    match plan.tool.as_str() {
        "read" => files.into_iter().take(1).map(|file| json!({"file_path": file})).collect(),
        "write" => files
            .into_iter()
            .take(1)
            .map(|file| json!({"file_path": file, "content": args["content"]}))
            .collect(),
        "edit" => {
            let edits: Vec<Value> = args["edits"].as_array().into_iter().flatten().map(theirs).collect();
            files.into_iter().take(1).map(|file| edited(&file, &edits)).collect()
        }
        "apply_patch" => {
            files.into_iter().map(|file| json!({"file_path": file, "patch": args["input"]})).collect()
        }
        _ => vec![args.clone()],
    }
}

fn theirs(edit: &Value) -> Value {
    let all = edit["all"].as_bool().unwrap_or(false);
    json!({"old_string": edit["old"], "new_string": edit["new"], "replace_all": all})
}

fn edited(file: &Value, edits: &[Value]) -> Value {
    let mut input = match edits {
        [one] => one.clone(),
        many => json!({ "edits": many }),
    };
    if let Some(members) = input.as_object_mut() {
        members.insert("file_path".to_owned(), file.clone());
    }
    input
}
