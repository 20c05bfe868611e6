//! Secrets of a session: learned from an answer, masked in everything that is told or kept, given back only to who asked.

use super::{Core, CoreEffect, Live};
use domain::ask::{Answer, Closing};
use domain::command::{Receipt, Refusal, RefusalKind};
use domain::content::{Input, TextKind};
use domain::event::{Body, Event, MessageEvent, ToolEvent};
use domain::ids::{AskId, MessageId, SessionId, ToolRunId};
use domain::secret::Secrets;
use domain::state::State;
use domain::tool::Progress;
use std::sync::Arc;

impl Core {
    /// Keeps the secret that an answer holds, for as long as the session is open here.
    pub(super) fn learn(&mut self, session: &SessionId, ask: AskId, answer: &Answer) -> Result<(), Refusal> {
        let Ok(live) = self.live_mut(session) else { return Ok(()) };
        let typed = live.state.ask(ask).and_then(|open| open.kind.secret_in(answer));
        let Some(value) = typed else { return Ok(()) };
        live.secrets.keep(ask, value).map_err(|why| {
            Refusal::new(RefusalKind::TooMany, why.to_string())
                .hint("the question is still open; Esc closes it")
        })
    }

    /// An answer as the runtime that asked may have it: with the values that were masked on its way to the person.
    pub(super) fn unmask_answer(&self, session: &SessionId, answer: Answer) -> Answer {
        let Ok(live) = self.live(session) else { return answer };
        let open = |text: String| live.secrets.unmask(&text, |_| true).into_owned();
        match answer {
            Answer::Entered(text) => Answer::Entered(open(text)),
            Answer::Chosen(ids) => Answer::Chosen(ids.into_iter().map(open).collect()),
            Answer::Deny { reason } => Answer::Deny { reason: reason.map(open) },
            answer @ (Answer::Allow { .. } | Answer::Confirmed(_) | Answer::Dismissed) => answer,
        }
    }

    /// The same for the end of a question.
    pub(super) fn unmask_closing(&self, session: &SessionId, closing: Closing) -> Closing {
        match closing {
            Closing::Answered { answer, by } if self.setup.engine.hears_secrets() => {
                Closing::Answered { answer: self.unmask_answer(session, answer), by }
            }
            closing => closing,
        }
    }

    /// The same for what waited to be said to it.
    pub(super) fn unmask_input(&self, session: &SessionId, mut input: Input) -> Input {
        if let Ok(live) = self.live(session) {
            input.text = live.secrets.unmask(&input.text, |_| true).into_owned();
        }
        input
    }

    /// What an engine settled a command with, with marks.
    pub(super) fn mask_settled(
        &self,
        session: &SessionId,
        with: Result<Receipt, Refusal>,
    ) -> Result<Receipt, Refusal> {
        let Some(live) = self.sessions.get(session).filter(|live| !live.secrets.is_empty()) else {
            return with;
        };
        let secrets = &live.secrets;
        match with {
            Ok(Receipt::Exported { format, text }) => {
                Ok(Receipt::Exported { format, text: secrets.mask(&text).into_owned() })
            }
            Ok(Receipt::Compacted { entry, mut compaction }) => {
                compaction.summary = secrets.mask(&compaction.summary).into_owned();
                Ok(Receipt::Compacted { entry, compaction })
            }
            Ok(Receipt::Jobs(mut jobs)) => {
                for job in &mut jobs {
                    job.line = secrets.mask(&job.line).into_owned();
                    job.output = secrets.mask(&job.output).into_owned();
                }
                Ok(Receipt::Jobs(jobs))
            }
            Ok(Receipt::Files { text }) => Ok(Receipt::Files { text: secrets.mask(&text).into_owned() }),
            Ok(Receipt::Extension(json)) => Ok(Receipt::Extension(secrets.mask_json(&json))),
            Ok(Receipt::History(mut history)) => {
                let masked = |event: Event| Event { body: secrets.mask_body(event.body), ..event };
                history.events = history.events.into_iter().map(masked).collect();
                Ok(Receipt::History(history))
            }
            Ok(receipt) => Ok(receipt),
            Err(refusal) => Err(secrets.mask_refusal(refusal)),
        }
    }

    /// An event of a lossless runtime with marks. Its number stays, so a piece of a stream that may end in the beginning of a secret
    /// waits for the event after it.
    pub(super) fn masked_events(&mut self, session: &SessionId, event: Arc<Event>) -> Vec<Arc<Event>> {
        let Some(live) = self.sessions.get_mut(session).filter(|live| !live.secrets.is_empty()) else {
            return vec![event];
        };
        let secrets = &live.secrets;
        let mask = |event: &Event| Arc::new(Event { body: secrets.mask_body(event.body.clone()), ..*event });
        let mut out = Vec::new();
        let event = match live.waiting.take() {
            Some(before) => match joined(&before, &event) {
                Some((stream, whole)) => {
                    let (ready, held) = secrets.mask_beginning(whole.as_bytes());
                    let ready = String::from_utf8_lossy(&ready).into_owned();
                    let waits = whole.get(whole.len() - held..).unwrap_or_default().to_owned();
                    out.push(Arc::new(Event { body: stream.body(ready), ..*before }));
                    Arc::new(Event { body: stream.body(waits), ..*event })
                }
                None => {
                    out.push(mask(&before));
                    event
                }
            },
            None => event,
        };
        let begins =
            streamed(&event.body).is_some_and(|(_, text)| secrets.mask_beginning(text.as_bytes()).1 > 0);
        if begins {
            live.waiting = Some(event);
        } else {
            out.push(mask(&event));
        }
        out
    }

    /// A line for the log, with the secrets of this session masked.
    pub(super) fn log(&mut self, session: &SessionId, line: String) {
        let line = match self.sessions.get(session) {
            Some(live) => live.secrets.mask(&line).into_owned(),
            None => line,
        };
        self.out.push(CoreEffect::Log(line));
    }

    /// What a foreign runtime said of which nobody knows the session, with the secrets of all that are open here masked. Where it was cut,
    /// an end that may be the beginning of one is left out.
    pub(crate) fn without_secrets(&self, said: &str, is_cut: bool) -> String {
        let known = self.sessions.values().map(|live| &live.secrets).filter(|secrets| !secrets.is_empty());
        known.fold(said.to_owned(), |said, secrets| match is_cut {
            true => String::from_utf8_lossy(&secrets.mask_beginning(said.as_bytes()).0).into_owned(),
            false => secrets.mask(&said).into_owned(),
        })
    }
}

/// The state of a lossless runtime's session with marks.
pub(super) fn mask_state(secrets: &Secrets, state: State) -> State {
    if secrets.is_empty() {
        return state;
    }
    let mut masked = State::new();
    for (at, body) in state.replay() {
        // What a state replays can be applied, with other texts too.
        let _ = masked.apply(at, &secrets.mask_body(body));
    }
    masked
}

impl Live {
    /// What happened with marks, as far as it can be told yet.
    pub(super) fn masked(&mut self, body: Body) -> Vec<Body> {
        self.veil.pass(&self.secrets, body)
    }
}

/// What a piece of a stream belongs to.
#[derive(Clone, Copy, PartialEq)]
enum Stream {
    Message(MessageId, TextKind),
    Tool(ToolRunId),
}

impl Stream {
    fn body(self, text: String) -> Body {
        match self {
            Stream::Message(message, kind) => Body::Message(MessageEvent::Delta { message, kind, text }),
            Stream::Tool(tool) => Body::Tool(ToolEvent::Progress { tool, progress: Progress::Output(text) }),
        }
    }
}

fn streamed(body: &Body) -> Option<(Stream, &str)> {
    match body {
        Body::Message(MessageEvent::Delta { message, kind, text }) => {
            Some((Stream::Message(*message, *kind), text))
        }
        Body::Tool(ToolEvent::Progress { tool, progress: Progress::Output(text) }) => {
            Some((Stream::Tool(*tool), text))
        }
        _ => None,
    }
}

/// The text of two pieces of one stream.
fn joined(before: &Event, event: &Event) -> Option<(Stream, String)> {
    let ((stream, first), (other, second)) = (streamed(&before.body)?, streamed(&event.body)?);
    (stream == other).then(|| (stream, format!("{first}{second}")))
}
