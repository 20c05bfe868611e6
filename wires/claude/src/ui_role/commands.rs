//! What our side wants, as lines; what the wire has no word for is refused.

use super::super::wire::{Prompt, PromptBlock, PromptContent, Source, ToAgent, UiRequest};
use super::hearing::Hearing;
use super::options::{MODE, MODEL};
use super::{ClaudeUi, STOPPED, STOPS_WITHIN, Sent};
use domain::command::{
    Command, LibraryCommand, ListCommand, Receipt, Refusal, RefusalKind, RunCommand, SessionCommand,
};
use domain::content::{Input, Json, Part};
use domain::fact::Key;
use domain::port::Ticket;
use domain::port::menu::{SET_OPTION, SetOption};
use domain::session::RunSummary;
use roles::{Seen, UiCx};

/// The command that puts a summary in the place of older messages.
pub(super) const COMPACT: &str = "compact";
/// The command that begins another session.
pub(super) const CLEAR: &str = "clear";

impl ClaudeUi {
    /// Sends a command, or refuses what there is no word for.
    pub(super) fn want(&mut self, cx: &mut UiCx<'_>, seen: Seen<'_>, ticket: Ticket, command: Command) {
        match command {
            Command::Run(RunCommand::Prompt { input, .. }) => self.lower_prompt(cx, ticket, &input),
            Command::Run(RunCommand::Cancel { .. }) => self.lower_cancel(cx, seen, ticket),
            Command::Run(RunCommand::Compact { instruction }) if self.options.has_command(COMPACT) => {
                let text = format!("/{COMPACT} {}", instruction.unwrap_or_default());
                self.lower_prompt(cx, ticket, &Input::text(text.trim_end()));
            }
            Command::Answer { ask, answer } => self.lower_answer(cx, seen, ticket, ask, answer),
            Command::Library(LibraryCommand::New { cwd, .. }) if self.options.has_command(CLEAR) => {
                self.lower_new(cx, ticket, cwd.as_deref());
            }
            Command::List(ListCommand::Models { provider }) if self.options.has_models() => {
                let (mut models, current) = self.options.listed();
                models.retain(|entry| provider.as_ref().is_none_or(|wanted| *wanted == entry.model.provider));
                cx.settle(ticket, Ok(Receipt::Models { models, current }));
            }
            Command::Session(SessionCommand::SetModel { name, .. }) if self.options.has_models() => {
                // A model that no list has may be there all the same: the program takes any name.
                let model = self.options.meant(MODEL, &name).unwrap_or(name);
                self.set_model(cx, ticket, model);
            }
            Command::Extension { name, payload } => self.lower_extension(cx, ticket, &name, &payload),
            Command::UpdateContext(_) => cx.settle(ticket, Ok(Receipt::Done)),
            _ => {
                let refusal = Refusal::new(RefusalKind::Unsupported, "Claude Code has no word for that");
                cx.settle(ticket, Err(refusal));
            }
        }
    }

    fn refuse_busy(&self, cx: &mut UiCx<'_>, ticket: Ticket) -> bool {
        let busy = self.run.is_some() || self.clearing.is_some();
        if busy {
            let refusal = Refusal::new(RefusalKind::Busy, "Claude Code is at work");
            cx.settle(ticket, Err(refusal.hint("wait for its end or cancel it")));
        }
        busy
    }

    fn lower_prompt(&mut self, cx: &mut UiCx<'_>, ticket: Ticket, input: &Input) {
        if self.refuse_busy(cx, ticket) {
            return;
        }
        self.prompt(cx, lower_input(input));
        cx.settle(ticket, Ok(Receipt::Done));
        self.runs += 1;
        let key = Key::from(format!("prompt-{}", self.runs));
        self.run = Some(Hearing::prompted(cx, key, input));
    }

    fn prompt(&self, cx: &mut UiCx<'_>, content: PromptContent) {
        let message = Prompt { role: "user", content };
        let session_id = self.session.as_deref().unwrap_or_default();
        rolekit::lines::send(cx, &ToAgent::User { message, parent_tool_use_id: None, session_id });
    }

    fn lower_cancel(&mut self, cx: &mut UiCx<'_>, seen: Seen<'_>, ticket: Ticket) {
        let Some(run) = &mut self.run else {
            return cx.settle(ticket, Err(Refusal::new(RefusalKind::NoRun, "no run is under way")));
        };
        if !run.stopped {
            run.stopped = true;
            // None of them can be allowed any more; the program takes them back by itself.
            self.asks.clear();
            self.request(cx, UiRequest::Interrupt, Sent::Interrupt);
            cx.timer(STOPPED, STOPS_WITHIN);
        }
        let receipt = match seen.state.open_run() {
            Some(run) => Receipt::Cancelling { run: RunSummary { run: run.id, outcome: None } },
            None => Receipt::Done,
        };
        cx.settle(ticket, Ok(receipt));
    }

    /// The program begins another session where it is, when its command is said.
    fn lower_new(&mut self, cx: &mut UiCx<'_>, ticket: Ticket, cwd: Option<&str>) {
        if self.refuse_busy(cx, ticket) {
            return;
        }
        if cwd.is_some_and(|cwd| cwd != self.cwd) {
            let refusal =
                Refusal::new(RefusalKind::Unsupported, "Claude Code stays in the folder it was started in");
            return cx.settle(ticket, Err(refusal.hint("start another one there")));
        }
        self.prompt(cx, PromptContent::Text(format!("/{CLEAR}")));
        self.clearing = Some(ticket);
    }

    fn set_model(&mut self, cx: &mut UiCx<'_>, ticket: Ticket, model: String) {
        self.request(cx, UiRequest::SetModel { model: &model.clone() }, Sent::SetModel { ticket, model });
    }

    fn set_mode(&mut self, cx: &mut UiCx<'_>, ticket: Ticket, mode: String) {
        self.request(
            cx,
            UiRequest::SetPermissionMode { mode: &mode.clone() },
            Sent::SetMode { ticket, mode },
        );
    }

    /// An option of its menu, by its id and a value; or its mode.
    fn lower_extension(&mut self, cx: &mut UiCx<'_>, ticket: Ticket, name: &str, payload: &Json) {
        let wanted = match name {
            SET_OPTION => serde_json::from_str::<SetOption>(payload.as_str())
                .map_err(|why| format!("an option is set by its id and a value: {why}")),
            MODE => serde_json::from_str::<String>(payload.as_str())
                .map(|value| SetOption { id: MODE.to_owned(), value })
                .map_err(|why| format!("a mode is a text: {why}")),
            _ => {
                let refusal =
                    Refusal::new(RefusalKind::ExtensionUnknown, format!("there is no {name:?} here"));
                return cx.settle(ticket, Err(refusal));
            }
        };
        let meant = wanted.and_then(|SetOption { id, value }| Ok((self.options.meant(&id, &value)?, id)));
        match meant {
            Ok((mode, id)) if id == MODE => self.set_mode(cx, ticket, mode),
            Ok((model, _)) => self.set_model(cx, ticket, model),
            Err(why) => cx.settle(ticket, Err(Refusal::new(RefusalKind::Invalid, why))),
        }
    }
}

/// What a person says, as the content of a message.
fn lower_input(input: &Input) -> PromptContent {
    if input.attachments.is_empty() {
        return PromptContent::Text(input.text.clone());
    }
    PromptContent::Blocks(input.parts().iter().filter_map(lower_part).collect())
}

fn lower_part(part: &Part) -> Option<PromptBlock> {
    let fenced = |language: &str, text: &str, path: Option<&String>| {
        let head = path.map(|path| format!("{path}:\n")).unwrap_or_default();
        PromptBlock::Text { text: format!("{head}```{language}\n{text}\n```") }
    };
    Some(match part {
        Part::Text(text) | Part::Thought { text, .. } => PromptBlock::Text { text: text.clone() },
        Part::Image { mime, base64 } => PromptBlock::Image {
            source: Source { kind: "base64".to_owned(), media_type: mime.clone(), data: base64.to_string() },
        },
        Part::Code { language, text, path } => {
            fenced(language.as_deref().unwrap_or_default(), text, path.as_ref())
        }
        Part::Diff { text, path } => fenced("diff", text, path.as_ref()),
        Part::Tool(_) => return None,
        Part::Opaque { .. } if part.is_private() => return None,
        Part::Opaque { json, .. } => PromptBlock::Text { text: json.as_str().to_owned() },
    })
}
