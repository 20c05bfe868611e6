//! One turn: ask the model, run the tools it wants, ask again, until it has nothing more to do.

mod consent;
mod step;

use crate::chat;
use crate::port::Port;
use crate::seat::{Asked, ModelSource, SharedRules, Steered};
use domain::event::{Body, Failure};
use domain::ids::{EntryId, StepId};
use domain::port::{TurnBrief, TurnEnd};
use models::{ChatMessage, Model, Request, ToolSpec};
use std::sync::Arc;
use step::Stepped;
use tokio_util::sync::CancellationToken;
use tools::{Toolbox, Workplace};

/// Most steps of one turn; then the person is told and decides whether to go on.
pub(crate) const MAX_STEPS: usize = 50;

/// A turn under way.
pub(crate) struct Turn {
    pub(crate) models: Arc<dyn ModelSource>,
    pub(crate) toolbox: Toolbox,
    pub(crate) place: Workplace,
    pub(crate) rules: SharedRules,
    pub(crate) asked: Asked,
    pub(crate) steered: Steered,
    pub(crate) cancel: CancellationToken,
    pub(crate) port: Port,
    pub(crate) brief: TurnBrief,
}

impl Turn {
    pub(crate) async fn run(self) -> TurnEnd {
        let model = match self.models.open(self.brief.model.as_ref()) {
            Ok(model) => model,
            Err(refusal) => {
                let failure =
                    Failure { code: "model".to_owned(), message: refusal.message, hint: refusal.hint };
                return TurnEnd::Failed(failure);
            }
        };
        let mut messages = chat::messages(&self.brief.context, &self.brief.tools);
        let mut leaf = self.brief.leaf;
        if let Some(resume) = &self.brief.resume {
            match self.resume(resume, &mut messages).await {
                Stepped::Again => {}
                Stepped::End(end) => return end,
            }
        }
        for _ in 0..MAX_STEPS {
            if self.cancel.is_cancelled() {
                return TurnEnd::Cancelled;
            }
            match self.step(model.as_ref(), &mut messages, &mut leaf).await {
                Stepped::Again => {}
                Stepped::End(end) => return end,
            }
        }
        let failure =
            Failure::new("step_limit", format!("The model asked for tools {MAX_STEPS} times in a row."));
        TurnEnd::Failed(failure.hint("say \"go on\" if it should continue"))
    }

    fn request(&self, messages: &[ChatMessage]) -> Request {
        let specs = if self.brief.options.tools == Some(false) { Vec::new() } else { self.toolbox.specs() };
        Request {
            system: Some(self.system()),
            messages: messages.to_vec(),
            tools: specs
                .into_iter()
                .map(|spec| ToolSpec { name: spec.name, description: spec.description, schema: spec.schema })
                .collect(),
            max_tokens: self.brief.options.max_tokens.map(|most| u32::try_from(most).unwrap_or(u32::MAX)),
            temperature: self.brief.options.temperature.map(|thousandths| f64::from(thousandths) / 1000.0),
            ..Request::default()
        }
    }

    fn system(&self) -> String {
        let mut system = format!(
            "You are a coding agent at work in {}. Use the tools to look before you answer and to make the changes that \
             are asked for. Be brief and exact. When a tool is denied, respect the reason.",
            self.place.workdir().display()
        );
        let context = &self.brief.ui_context;
        if let Some(file) = &context.active_file {
            system.push_str(&format!("\nThe person has {file} open."));
        }
        if let Some((file, text)) = &context.selection {
            system.push_str(&format!("\nSelected in {file}:\n{text}"));
        }
        for note in &context.notes {
            system.push('\n');
            system.push_str(note);
        }
        system
    }

    async fn start_step(&self, model: &dyn Model) -> StepId {
        let step = StepId::mint(&self.brief.ids);
        let name = model.name();
        let model = domain::session::ModelRef { provider: name.provider.clone(), name: name.name.clone() };
        self.port.emit(Body::StepStarted { turn: self.brief.turn, step, model: Some(model) }).await;
        step
    }
}

/// The newest entry of the conversation.
pub(crate) type Leaf = Option<EntryId>;
