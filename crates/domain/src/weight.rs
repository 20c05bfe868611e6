//! How much room something takes: about as many bytes as it holds of text. For bounds, not for bookkeeping.

use crate::ask::{Answer, Ask, AskKind, Closing, Preview};
use crate::command::{
    Command, FilesCommand, LibraryCommand, ListCommand, ListScope, QueueCommand, RunCommand, SessionCommand,
    ShellCommand,
};
use crate::content::{Input, Json, Part};
use crate::event::{
    AskEvent, Body, ContextEvent, MessageEvent, NoteEvent, Outcome, QueueEvent, RunEvent, SessionEvent,
    ToolEvent,
};
use crate::offer::Offer;
use crate::signal::{Signal, UiContext};
use crate::state::{EntryKind, State};
use crate::tool::{Progress, ToolResult};

impl Part {
    /// About how many bytes it holds.
    pub fn weight(&self) -> usize {
        match self {
            Part::Text(text) => text.len(),
            Part::Thought { text, signature } => text.len() + maybe(signature),
            Part::Image { mime, base64 } => mime.len() + base64.len(),
            Part::Code { language, text, path } => text.len() + maybe(language) + maybe(path),
            Part::Diff { path, text } => text.len() + maybe(path),
            Part::Tool(_) => 0,
            Part::Opaque { kind, json } => kind.len() + json.as_str().len(),
        }
    }
}

impl Input {
    /// About how many bytes it holds.
    pub fn weight(&self) -> usize {
        self.text.len() + self.attachments.iter().map(Part::weight).sum::<usize>()
    }
}

impl Command {
    /// About how many bytes it holds.
    pub fn weight(&self) -> usize {
        match self {
            Command::Run(RunCommand::Prompt { input, options }) => {
                input.weight() + options.offers.iter().map(Offer::weight).sum::<usize>()
            }
            Command::Shell(ShellCommand::Run { line, cwd, .. } | ShellCommand::Start { line, cwd, .. }) => {
                line.len() + maybe(cwd)
            }
            Command::Shell(ShellCommand::Job { job: text, .. } | ShellCommand::Stop { job: text }) => {
                text.len()
            }
            Command::Files(FilesCommand::Go { back, forth, .. }) => {
                size_of::<crate::ids::TurnId>() * (back.len() + forth.len())
            }
            Command::Performed { result, .. } => result_weight(result),
            Command::Queue(QueueCommand::Add { input, .. } | QueueCommand::Edit { input, .. }) => {
                input.weight()
            }
            Command::Run(RunCommand::Cancel { reason: text, .. })
            | Command::Run(RunCommand::Compact { instruction: text })
            | Command::List(ListCommand::Models { provider: text } | ListCommand::Skills { cwd: text, .. })
            | Command::Library(LibraryCommand::Save { path: text, .. }) => maybe(text),
            Command::Session(SessionCommand::Rename { title: text })
            | Command::Library(LibraryCommand::Load { path: text }) => text.len(),
            Command::Library(LibraryCommand::New { cwd, title, .. }) => maybe(cwd) + maybe(title),
            Command::Library(LibraryCommand::List { scope, search, .. }) => {
                let project = match scope {
                    ListScope::Project(project) => maybe(project),
                    ListScope::All => 0,
                };
                project + maybe(search)
            }
            Command::Session(SessionCommand::SetModel { provider, name }) => maybe(provider) + name.len(),
            Command::Session(SessionCommand::SetTools { tools }) => tools.as_deref().map_or(0, all),
            Command::Answer { answer, .. } => answer_weight(answer),
            Command::UpdateContext(context) => context.weight(),
            Command::Extension { name, payload } => name.len() + payload.as_str().len(),
            Command::Queue(QueueCommand::Drop { .. } | QueueCommand::SetMode { .. })
            | Command::Library(
                LibraryCommand::Open { .. }
                | LibraryCommand::Branch { .. }
                | LibraryCommand::Delete { .. }
                | LibraryCommand::History { .. }
                | LibraryCommand::Export { .. },
            )
            | Command::Session(
                SessionCommand::Close
                | SessionCommand::Clear
                | SessionCommand::SetLeaf { .. }
                | SessionCommand::Stats
                | SessionCommand::SetPolicy { .. }
                | SessionCommand::SetEffort { .. }
                | SessionCommand::SetBudget { .. },
            )
            | Command::List(ListCommand::Servers | ListCommand::Tools)
            | Command::Shell(ShellCommand::Jobs)
            | Command::Files(
                FilesCommand::Undo { .. } | FilesCommand::Redo { .. } | FilesCommand::Diff { .. },
            ) => 0,
        }
    }
}

impl UiContext {
    /// About how many bytes it holds.
    pub fn weight(&self) -> usize {
        let UiContext { cwd, workspace_root, active_file, selection, notes, size: _ } = self;
        let selected = selection.as_ref().map_or(0, |(text, file)| text.len() + file.len());
        maybe(cwd) + maybe(workspace_root) + maybe(active_file) + selected + all(notes)
    }
}

impl Signal {
    /// About how many bytes it holds.
    pub fn weight(&self) -> usize {
        match self {
            Signal::Notify { text, .. } | Signal::Title(text) | Signal::EditorText(text) => text.len(),
            Signal::Status { key, text } => key.len() + maybe(text),
            Signal::Working(text) => maybe(text),
            Signal::Widget { key, lines, .. } => key.len() + all(lines),
            Signal::Suggestion { text, source, context, .. } => text.len() + source.len() + maybe(context),
        }
    }
}

impl Body {
    /// About how many bytes it holds.
    pub fn weight(&self) -> usize {
        match self {
            Body::Message(MessageEvent::Delta { text, .. }) => text.len(),
            Body::Message(MessageEvent::PartAdded { part, .. }) => part.weight(),
            Body::Tool(ToolEvent::Proposed { name, args, .. }) => name.len() + args.as_str().len(),
            Body::Tool(ToolEvent::Decided { decision, .. }) => {
                maybe(&decision.reason) + decision.digest.as_ref().map_or(0, |digest| digest.0.len())
            }
            Body::Tool(ToolEvent::Progress { progress, .. }) => match progress {
                Progress::Output(text) | Progress::Replace(text) => text.len(),
                Progress::Status { message, .. } => message.len(),
            },
            Body::Tool(ToolEvent::Ended { result, .. }) => result_weight(result),
            Body::Ask(AskEvent::Opened(ask)) => ask_weight(ask),
            Body::Ask(AskEvent::Closed { closing: Closing::Answered { answer, .. }, .. }) => {
                answer_weight(answer)
            }
            Body::Queue(QueueEvent::Added { input, .. } | QueueEvent::Edited { input, .. }) => input.weight(),
            Body::Context(ContextEvent::Compacted { compaction, .. }) => compaction.summary.len(),
            Body::Note(NoteEvent::PlanChanged { items }) => items.iter().map(|item| item.text.len()).sum(),
            Body::Run(RunEvent::Retrying { reason, .. }) => reason.len(),
            Body::Note(NoteEvent::Noticed { code, text, .. }) => code.len() + text.len(),
            Body::Session(SessionEvent::Opened { cwd, project, .. }) => cwd.len() + project.len(),
            Body::Session(SessionEvent::CameFrom { origin }) => origin.weight(),
            Body::Session(SessionEvent::Renamed { title }) => title.len(),
            Body::Session(SessionEvent::ModelChosen { model }) => model.provider.len() + model.name.len(),
            Body::Session(SessionEvent::ToolsChosen { tools }) => tools.as_deref().map_or(0, all),
            Body::Run(RunEvent::Ended { outcome: Outcome::Failed(failure), .. }) => {
                failure.message.len() + maybe(&failure.hint)
            }
            Body::Session(
                SessionEvent::EffortChosen { .. }
                | SessionEvent::BudgetChosen { .. }
                | SessionEvent::PolicyChosen { .. }
                | SessionEvent::LeafMoved { .. },
            )
            | Body::Run(
                RunEvent::Started { .. }
                | RunEvent::Ended { .. }
                | RunEvent::TurnStarted { .. }
                | RunEvent::TurnEnded { .. }
                | RunEvent::StepStarted { .. }
                | RunEvent::StepBilled { .. }
                | RunEvent::StepEnded { .. },
            )
            | Body::Message(MessageEvent::Started { .. } | MessageEvent::Ended { .. })
            | Body::Tool(ToolEvent::Started { .. })
            | Body::Ask(AskEvent::Closed { .. })
            | Body::Queue(QueueEvent::Left { .. } | QueueEvent::ModeSet { .. })
            | Body::Context(ContextEvent::Measured { .. })
            | Body::Rebased(_) => 0,
        }
    }

    /// Whether it adds a thing to a session's state: something that stays and takes room by itself.
    pub fn adds(&self) -> bool {
        match self {
            Body::Run(
                RunEvent::Started { .. } | RunEvent::TurnStarted { .. } | RunEvent::StepStarted { .. },
            )
            | Body::Message(MessageEvent::Started { .. } | MessageEvent::PartAdded { .. })
            | Body::Tool(ToolEvent::Proposed { .. })
            | Body::Ask(AskEvent::Opened(_))
            | Body::Context(ContextEvent::Compacted { .. })
            | Body::Note(NoteEvent::Noticed { .. }) => true,
            Body::Session(_)
            | Body::Run(
                RunEvent::Ended { .. }
                | RunEvent::TurnEnded { .. }
                | RunEvent::StepBilled { .. }
                | RunEvent::StepEnded { .. }
                | RunEvent::Retrying { .. },
            )
            | Body::Message(MessageEvent::Delta { .. } | MessageEvent::Ended { .. })
            | Body::Tool(
                ToolEvent::Decided { .. }
                | ToolEvent::Started { .. }
                | ToolEvent::Progress { .. }
                | ToolEvent::Ended { .. },
            )
            | Body::Ask(AskEvent::Closed { .. })
            | Body::Queue(_)
            | Body::Context(ContextEvent::Measured { .. })
            | Body::Note(NoteEvent::PlanChanged { .. })
            | Body::Rebased(_) => false,
        }
    }
}

/// What a thing takes beside its text.
pub const THING_BYTES: usize = 512;

impl State {
    /// About how many bytes it takes.
    pub fn weight(&self) -> usize {
        let entries = self.entries.values().map(|entry| match &entry.kind {
            EntryKind::Message(message) => {
                message.parts.iter().map(|part| part.weight() + size_of::<Part>()).sum()
            }
            EntryKind::Compaction(compaction) => compaction.summary.len(),
            EntryKind::Notice { code, text, .. } => code.len() + text.len(),
        });
        let tools = self.tools.values().map(|tool| {
            let result = tool.result.as_ref().map_or(0, result_weight);
            tool.name.len() + tool.args.as_str().len() + tool.output.len() + result
        });
        let asks = self.asks.iter().map(ask_weight);
        let waiting = self.queues.all().map(|(_, waiting)| waiting.input.weight());
        let steps: usize = self.runs.iter().flat_map(|run| &run.turns).map(|turn| 1 + turn.steps.len()).sum();
        let text: usize = entries.chain(tools).chain(asks).chain(waiting).sum();
        let things = self.entries.len() + self.tools.len() + self.runs.len() + steps;
        text + things * THING_BYTES
    }
}

fn maybe(text: &Option<String>) -> usize {
    text.as_ref().map_or(0, String::len)
}

fn all(texts: &[String]) -> usize {
    texts.iter().map(|text| text.len() + size_of::<String>()).sum()
}

fn result_weight(result: &ToolResult) -> usize {
    let json = result.json.as_ref().map_or(0, |json: &Json| json.as_str().len());
    result.text.len() + json + result.parts.iter().map(Part::weight).sum::<usize>()
}

fn answer_weight(answer: &Answer) -> usize {
    match answer {
        Answer::Deny { reason } => maybe(reason),
        Answer::Entered(text) => text.len(),
        Answer::Chosen(ids) => all(ids),
        Answer::Allow { digest, .. } => digest.as_ref().map_or(0, |digest| digest.0.len()),
        Answer::Confirmed(_) | Answer::Dismissed => 0,
    }
}

/// About how many bytes of text a question shows.
pub(crate) fn ask_weight(ask: &Ask) -> usize {
    let kind = match &ask.kind {
        AskKind::Consent(consent) => {
            let preview = match &consent.preview {
                None => 0,
                Some(Preview::Text(text)) => text.len(),
                Some(Preview::Command { line, inner }) => line.len() + all(inner),
                Some(Preview::Diff { path, text }) => path.len() + text.len(),
            };
            let args = consent.args.as_str().len();
            preview + args + consent.digest.0.len() + all(&consent.assessment.reasons) + maybe(&consent.rule)
        }
        AskKind::Confirm { message, .. } => message.len(),
        AskKind::Choose { message, choices, .. } => {
            let choices = choices.iter().map(|c| c.id.len() + c.label.len() + maybe(&c.detail));
            message.len() + choices.sum::<usize>()
        }
        AskKind::Text { message, placeholder, default, .. } => {
            message.len() + maybe(placeholder) + maybe(default)
        }
        AskKind::Edit { message, prefill } => message.len() + prefill.len(),
    };
    ask.title.len() + kind
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ask::{ActionDigest, Scope};
    use crate::command::PromptOptions;
    use crate::ids::{AskId, QueuedId};
    use crate::queue::QueueKind;

    #[test]
    fn whatever_text_a_command_holds_is_weighed() {
        const LONG: usize = 10_000;
        let long = || "x".repeat(LONG);
        let some = || Some(long());
        let context = |context| Command::UpdateContext(context);
        let empty = UiContext::default;
        let run = Command::Run;
        let library = Command::Library;
        let session = Command::Session;
        let answer = |answer| Command::Answer { ask: AskId(1), answer };
        let input = || Input::text(long());
        let commands = [
            run(RunCommand::Prompt { input: input(), options: PromptOptions::default() }),
            run(RunCommand::Cancel { run: None, reason: some() }),
            run(RunCommand::Compact { instruction: some() }),
            Command::Queue(QueueCommand::Add { kind: QueueKind::Steer, input: input() }),
            Command::Queue(QueueCommand::Edit { item: QueuedId(1), input: input() }),
            library(LibraryCommand::New { cwd: some(), title: None, id: None }),
            library(LibraryCommand::New { cwd: None, title: some(), id: None }),
            library(LibraryCommand::List { scope: ListScope::All, limit: None, search: some() }),
            library(LibraryCommand::List { scope: ListScope::Project(some()), limit: None, search: None }),
            library(LibraryCommand::Save { path: some(), history: true }),
            library(LibraryCommand::Load { path: long() }),
            session(SessionCommand::Rename { title: long() }),
            session(SessionCommand::SetModel { provider: some(), name: String::new() }),
            session(SessionCommand::SetModel { provider: None, name: long() }),
            session(SessionCommand::SetTools { tools: Some(vec![long()]) }),
            Command::List(ListCommand::Models { provider: some() }),
            Command::List(ListCommand::Skills { cwd: some(), reload: false }),
            answer(Answer::Allow { scope: Scope::Once, digest: Some(ActionDigest(long())) }),
            answer(Answer::Deny { reason: some() }),
            answer(Answer::Chosen(vec![long()])),
            answer(Answer::Entered(long())),
            context(UiContext { cwd: some(), ..empty() }),
            context(UiContext { workspace_root: some(), ..empty() }),
            context(UiContext { active_file: some(), ..empty() }),
            context(UiContext { selection: Some((long(), String::new())), ..empty() }),
            context(UiContext { selection: Some((String::new(), long())), ..empty() }),
            context(UiContext { notes: vec![long()], ..empty() }),
            Command::Extension { name: long(), payload: Json::empty() },
            Command::Extension { name: String::new(), payload: Json::verbatim(long()) },
        ];
        for command in commands {
            let weight = command.weight();
            assert!((LONG..LONG + 100).contains(&weight), "{weight}: {}", &format!("{command:?}")[..60]);
        }
        let many = session(SessionCommand::SetTools { tools: Some(vec![String::new(); LONG]) });
        assert!(many.weight() >= LONG * size_of::<String>(), "empty names take room too");
    }
}
