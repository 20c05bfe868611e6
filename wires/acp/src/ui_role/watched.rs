//! Prompts around which files are kept, so that what the agent did can be taken back, and taking it back.
//!
//! Invariants: the agent hears a prompt only once what stands in the files is kept, or cannot be; a prompt that is stopped before that is
//! never heard by it; what was kept before a prompt is compared once, when its run is over.

use super::AcpUi;
use super::responses::SentRequest;
use domain::command::{FilesCommand, Receipt, Refusal, RefusalKind};
use domain::errand::{Errand, ErrandCause, ErrandDone, ErrandId, ErrandNews, ErrandStep};
use domain::fact::{Fact, Said};
use domain::port::Ticket;
use domain::signal::Level;
use roles::UiCx;
use std::collections::BTreeMap;
use wire::WireId;

/// The answer of a prompt that was stopped before the agent heard it.
const STOPPED: &str = r#"{"stopReason":"cancelled"}"#;
/// Most wishes about files that may be under way.
const MAX_WISHES: usize = 16;

/// What is kept around a prompt.
#[derive(Debug, Default)]
pub(super) struct Watching {
    /// A prompt that waits until the files are kept: its request and its line.
    held: Option<(ErrandId, WireId, String)>,
    /// What was begun before the prompt that runs.
    begun: Option<ErrandId>,
    wishes: BTreeMap<ErrandId, Ticket>,
}

impl Watching {
    /// The agent went away: the held prompt is dropped unsaid, and news about these errands is for nobody any more.
    pub(super) fn forget(&mut self) {
        *self = Watching::default();
    }
}

impl AcpUi {
    /// Has the files kept, then says the prompt.
    pub(super) fn hold_prompt(&mut self, cx: &mut UiCx<'_>, text: String, id: WireId, line: String) {
        let errand = self.errands.next_id();
        self.watching.held = Some((errand, id, line));
        self.watching.begun = Some(errand);
        cx.errand(errand, ErrandStep::Wanted(Errand::Before { prompt: text }));
    }

    /// A prompt that the agent has not heard is over at once; whether there was one.
    pub(super) fn stop_held(&mut self, cx: &mut UiCx<'_>) -> bool {
        let held = self.watching.held.take().is_some();
        if held {
            self.prompt_answered(cx, Ok(STOPPED));
        }
        held
    }

    /// A run is over: what it did to files is written down.
    pub(super) fn watched_over(&mut self, cx: &mut UiCx<'_>) {
        if let Some(of) = self.watching.begun.take() {
            let errand = self.errands.next_id();
            cx.errand(errand, ErrandStep::Wanted(Errand::After { of }));
        }
    }

    /// Takes back, does again or shows what prompts did.
    pub(super) fn move_files(&mut self, cx: &mut UiCx<'_>, ticket: Ticket, command: FilesCommand) {
        if self.watching.wishes.len() >= MAX_WISHES {
            let refusal = Refusal::new(RefusalKind::TooMany, "too much is under way with files");
            return cx.settle(ticket, Err(refusal.hint("wait until it is done")));
        }
        let errand = self.errands.next_id();
        self.watching.wishes.insert(errand, ticket);
        cx.errand(errand, ErrandStep::Wanted(Errand::Files(command)));
    }

    /// Something came of it; `false` when this errand is none of these.
    pub(super) fn watch_news(&mut self, cx: &mut UiCx<'_>, id: ErrandId, news: &ErrandNews) -> bool {
        let is_over = matches!(news, ErrandNews::Done { .. } | ErrandNews::Refused { .. });
        if let Some((_, request, line)) = self.watching.held.take_if(|(held, ..)| *held == id && is_over) {
            if !self.send(cx, request, line, SentRequest::Prompt) {
                self.prompt_answered(cx, Ok(STOPPED));
            }
            return true;
        }
        let Some(ticket) = self.watching.wishes.get(&id).copied().filter(|_| is_over) else { return false };
        self.watching.wishes.remove(&id);
        match news {
            ErrandNews::Done { done: ErrandDone::Files { text, noted }, .. } => {
                if let Some(code) = noted.clone() {
                    let said = Said::Notice { level: Level::Info, code, text: text.clone() };
                    cx.fact(Fact::new(said));
                }
                cx.settle(ticket, Ok(Receipt::Files { text: text.clone() }));
            }
            ErrandNews::Refused { cause, why } => {
                let kind = match cause {
                    ErrandCause::Mode => RefusalKind::NotAllowed,
                    ErrandCause::Missing | ErrandCause::Failed => RefusalKind::Invalid,
                };
                cx.settle(ticket, Err(Refusal::new(kind, why.clone())));
            }
            _ => cx.settle(ticket, Ok(Receipt::Done)),
        }
        true
    }
}
