//! Commands of ours become commands of the wire; what it cannot do is refused.

use super::{MAX_UNANSWERED, NousUi, hearing};
use crate::wire::ErrorBody;
use domain::command::{
    Command, LibraryCommand, QueueCommand, Receipt, Refusal, RefusalKind, RunCommand, SessionCommand,
};
use domain::content::{Input, Part};
use domain::ids::{EntryId, SessionId};
use domain::port::Ticket;
use domain::queue::{Mode, QueueKind};
use roles::{Item, Seen, UiCx};
use serde_json::{Value, json};

/// A command whose answer is out.
#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "few are under way at once")]
pub(super) enum Sent {
    Hello,
    State,
    /// How many inputs wait at the core.
    Counts,
    /// Whether a run of which nothing was heard is under way.
    StillRuns {
        run: String,
    },
    /// What was kept of such a run.
    Kept {
        run: String,
    },
    /// What another client said.
    AskedBy {
        run: String,
    },
    /// What the core calls a message, for whoever goes on from there.
    Names {
        then: GoingFrom,
    },
    /// What a session holds, and the receipt that waits for it where somebody went there.
    Messages {
        at: Option<(Ticket, Receipt)>,
    },
    Prompt {
        ticket: Ticket,
        text: String,
    },
    Enqueue {
        ticket: Ticket,
        kind: QueueKind,
        text: String,
    },
    Cancel {
        ticket: Ticket,
    },
    /// `None`: the session that the person named at the start.
    Session {
        ticket: Option<Ticket>,
    },
    Mode {
        ticket: Ticket,
        kind: QueueKind,
        mode: Mode,
    },
    Leaf {
        ticket: Ticket,
        leaf: EntryId,
    },
    Compact {
        ticket: Ticket,
    },
    Extension {
        ticket: Ticket,
    },
    Plain {
        ticket: Ticket,
    },
}

/// What is done from a message whose name has to be asked for first.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum GoingFrom {
    Leaf { ticket: Ticket, leaf: EntryId },
    Prompt { ticket: Ticket, text: String, from: EntryId },
}

impl GoingFrom {
    /// The message.
    pub(super) fn entry(&self) -> EntryId {
        match self {
            GoingFrom::Leaf { leaf, .. } => *leaf,
            GoingFrom::Prompt { from, .. } => *from,
        }
    }

    fn ticket(&self) -> Ticket {
        match self {
            GoingFrom::Leaf { ticket, .. } | GoingFrom::Prompt { ticket, .. } => *ticket,
        }
    }
}

impl Sent {
    /// Tells whoever waits that it was not done.
    pub(super) fn refuse(self, cx: &mut UiCx<'_>, refusal: Refusal) {
        let ticket = match self {
            Sent::Hello
            | Sent::State
            | Sent::Counts
            | Sent::StillRuns { .. }
            | Sent::Kept { .. }
            | Sent::AskedBy { .. } => None,
            Sent::Messages { at } => at.map(|(ticket, _)| ticket),
            Sent::Session { ticket } => ticket,
            Sent::Names { then } => Some(then.ticket()),
            Sent::Prompt { ticket, .. }
            | Sent::Enqueue { ticket, .. }
            | Sent::Cancel { ticket }
            | Sent::Mode { ticket, .. }
            | Sent::Leaf { ticket, .. }
            | Sent::Compact { ticket }
            | Sent::Extension { ticket }
            | Sent::Plain { ticket } => Some(ticket),
        };
        match ticket {
            Some(ticket) => cx.settle(ticket, Err(refusal)),
            None => cx.log(format!("nous: {refusal}")),
        }
    }
}

/// The core's refusal in our words; what it said itself is kept.
pub(super) fn refusal(error: &ErrorBody) -> Refusal {
    let kind = match (error.code.as_str(), error.message.as_str()) {
        ("command_rejected", "run_in_progress") => RefusalKind::Busy,
        ("command_rejected", "no_active_run") => RefusalKind::NoRun,
        ("command_rejected", "leaf_not_found") => RefusalKind::EntryUnknown,
        ("command_rejected", "nothing_to_compact") => RefusalKind::NothingToCompact,
        ("command_rejected", message) if message.starts_with("tool_not_registered") => {
            RefusalKind::ToolUnknown
        }
        ("command_rejected", message) if message.starts_with("extension_command_not_found") => {
            RefusalKind::ExtensionUnknown
        }
        ("session_not_found", _) => RefusalKind::SessionUnknown,
        ("invalid_payload", _) => RefusalKind::Invalid,
        ("timeout", _) => RefusalKind::TimedOut,
        (code, _) => RefusalKind::Remote { code: code.to_owned() },
    };
    // Code, message and cause, as the contract wants them shown.
    let ErrorBody { code, message, cause } = error;
    let message = match cause {
        Some(cause) => format!("{code}: {message} ({cause})"),
        None => format!("{code}: {message}"),
    };
    Refusal::new(kind, message)
}

impl NousUi {
    /// Sends a command, or refuses what the wire has no word for.
    pub(super) fn lower(&mut self, cx: &mut UiCx<'_>, seen: Seen<'_>, ticket: Ticket, command: Command) {
        match command {
            Command::Run(RunCommand::Prompt { input, options }) => {
                let Some(text) = said(cx, &input) else { return empty(cx, ticket) };
                let payload = json!({ "text": text, "wait": false });
                if let Some(from) = options.from {
                    return self.go(cx, seen, GoingFrom::Prompt { ticket, text, from });
                }
                if self.is_there() {
                    self.hearing.prompting(text.clone());
                    self.send(cx, "prompt", payload, Sent::Prompt { ticket, text });
                } else if self.unsaid.len() < MAX_UNANSWERED {
                    self.unsaid.push((ticket, text, payload));
                } else {
                    let refusal = Refusal::new(RefusalKind::TooMany, "too many prompts wait for the runtime");
                    cx.settle(ticket, Err(refusal.hint("wait until it has answered")));
                }
            }
            Command::Queue(QueueCommand::Add { kind, input }) => {
                let Some(text) = said(cx, &input) else { return empty(cx, ticket) };
                let name = match kind {
                    QueueKind::Steer => "steer",
                    QueueKind::FollowUp => "follow_up",
                };
                let payload = json!({ "text": text });
                self.send(cx, name, payload, Sent::Enqueue { ticket, kind, text });
            }
            Command::Run(RunCommand::Cancel { run, .. }) => {
                // A late cancel of a run that is over must not touch the one under way.
                let over = run.and_then(|run| seen.state.run(run)).filter(|run| run.ended.is_some());
                match over {
                    Some(run) => {
                        let outcome = run.ended.as_ref().map(|(_, outcome)| outcome.clone());
                        let run = domain::session::RunSummary { run: run.id, outcome };
                        cx.settle(ticket, Ok(Receipt::Cancelling { run }));
                    }
                    None => self.send(cx, "abort", json!({}), Sent::Cancel { ticket }),
                }
            }
            Command::Queue(QueueCommand::SetMode { kind, mode }) => {
                let name = match kind {
                    QueueKind::Steer => "set_steering_mode",
                    QueueKind::FollowUp => "set_follow_up_mode",
                };
                let word = match mode {
                    Mode::OneAtATime => "one-at-a-time",
                    Mode::All => "all",
                };
                self.send(cx, name, json!({ "mode": word }), Sent::Mode { ticket, kind, mode });
            }
            Command::Library(LibraryCommand::New { .. }) => {
                self.send(cx, "new_session", json!({}), Sent::Session { ticket: Some(ticket) });
            }
            Command::Library(LibraryCommand::Open { session }) => {
                let payload = json!({ "session_id": session.as_str() });
                self.send(cx, "switch_session", payload, Sent::Session { ticket: Some(ticket) });
            }
            Command::Library(LibraryCommand::Branch { session, at }) => {
                self.branch(cx, seen, ticket, session, at);
            }
            Command::Session(SessionCommand::SetLeaf { leaf: Some(leaf) }) => {
                self.go(cx, seen, GoingFrom::Leaf { ticket, leaf });
            }
            Command::Run(RunCommand::Compact { instruction }) => {
                let payload = match instruction {
                    Some(instruction) => json!({ "instruction": instruction }),
                    None => json!({}),
                };
                self.send(cx, "compact_session", payload, Sent::Compact { ticket });
            }
            Command::Session(SessionCommand::SetTools { tools: Some(tools) }) => {
                self.send(cx, "set_active_tools", json!({ "tools": tools }), Sent::Plain { ticket });
            }
            Command::Extension { name, payload } => {
                let payload: Value = serde_json::from_str(payload.as_str()).unwrap_or_else(|_| json!({}));
                let payload = json!({ "name": name, "payload": payload });
                self.send(cx, "extension_command", payload, Sent::Extension { ticket });
            }
            Command::UpdateContext(context) => {
                if !context.is_size_only() {
                    cx.loss(Item::ContextUpdate, "where the person works");
                }
                cx.settle(ticket, Ok(Receipt::Done));
            }
            Command::Session(SessionCommand::SetLeaf { leaf: None } | SessionCommand::Clear) => {
                let refusal = unsupported("this runtime cannot empty a session").hint("begin a new session");
                cx.settle(ticket, Err(refusal));
            }
            Command::Queue(QueueCommand::Edit { .. } | QueueCommand::Drop { .. })
            | Command::Answer { .. }
            | Command::Shell(_)
            | Command::Files(_)
            | Command::Performed { .. }
            | Command::Session(
                SessionCommand::Close
                | SessionCommand::Rename { .. }
                | SessionCommand::Stats
                | SessionCommand::SetModel { .. }
                | SessionCommand::SetEffort { .. }
                | SessionCommand::SetBudget { .. }
                | SessionCommand::SetPolicy { .. }
                | SessionCommand::SetTools { tools: None },
            )
            | Command::Library(
                LibraryCommand::Delete { .. }
                | LibraryCommand::List { .. }
                | LibraryCommand::History { .. }
                | LibraryCommand::Save { .. }
                | LibraryCommand::Load { .. }
                | LibraryCommand::Export { .. },
            )
            | Command::List(_) => {
                cx.settle(ticket, Err(unsupported("this runtime cannot do that")));
            }
        }
    }

    /// Goes on from a message. The names of what was just said are not in the events: they are asked for.
    fn go(&mut self, cx: &mut UiCx<'_>, seen: Seen<'_>, then: GoingFrom) {
        match seen.names.entry(then.entry()).filter(|name| !hearing::is_passing(name)) {
            Some(name) => self.go_from(cx, then, Some(name.to_string())),
            None => self.send(cx, "get_messages", json!({}), Sent::Names { then }),
        }
    }

    /// The same once the core's name of the message is known, or known to be none.
    pub(super) fn go_from(&mut self, cx: &mut UiCx<'_>, then: GoingFrom, name: Option<String>) {
        let Some(name) = name else { return cx.settle(then.ticket(), Err(no_entry())) };
        match then {
            GoingFrom::Leaf { ticket, leaf } => {
                self.send(cx, "set_leaf", json!({ "leaf_id": name }), Sent::Leaf { ticket, leaf });
            }
            GoingFrom::Prompt { ticket, text, .. } => {
                let payload = json!({ "text": text, "wait": false, "leaf_id": name });
                self.hearing.prompting(text.clone());
                self.send(cx, "prompt", payload, Sent::Prompt { ticket, text });
            }
        }
    }

    fn branch(
        &mut self,
        cx: &mut UiCx<'_>,
        seen: Seen<'_>,
        ticket: Ticket,
        session: Option<SessionId>,
        at: Option<EntryId>,
    ) {
        if at.is_some() && at != seen.state.leaf {
            let refusal = unsupported("this runtime branches whole sessions only");
            return cx.settle(ticket, Err(refusal.hint("go to that message first, then branch")));
        }
        // A session that only we name is the core's active one.
        let known = session
            .filter(|session| self.session.as_deref() == Some(session.as_str()) || self.session.is_none());
        let Some(id) = known.map(|session| session.to_string()).or_else(|| self.session.clone()) else {
            let refusal = Refusal::new(RefusalKind::SessionUnknown, "there is nothing to branch from yet");
            return cx.settle(ticket, Err(refusal.hint("send a prompt first")));
        };
        self.send(cx, "branch_session", json!({ "session_id": id }), Sent::Session { ticket: Some(ticket) });
    }
}

/// What is said, as text alone; pictures cannot be carried.
fn said(cx: &mut UiCx<'_>, input: &Input) -> Option<String> {
    let mut text = input.text.clone();
    for part in &input.attachments {
        match part {
            Part::Text(more) => text = format!("{text}\n\n{more}"),
            Part::Code { language, text: code, path } => {
                let path = path.as_deref().unwrap_or_default();
                let language = language.as_deref().unwrap_or_default();
                text = format!("{text}\n\n{path}\n```{language}\n{code}\n```");
            }
            Part::Diff { text: diff, .. } => text = format!("{text}\n\n```diff\n{diff}\n```"),
            Part::Image { .. } => cx.loss(Item::Attachments, "a picture"),
            Part::Thought { .. } | Part::Tool(_) | Part::Opaque { .. } => {
                cx.loss(Item::Attachments, "a part of the prompt");
            }
        }
    }
    (!text.trim().is_empty()).then_some(text)
}

fn empty(cx: &mut UiCx<'_>, ticket: Ticket) {
    let refusal = Refusal::new(RefusalKind::Invalid, "there is no text in it");
    cx.settle(ticket, Err(refusal.hint("this runtime takes text only")));
}

fn no_entry() -> Refusal {
    Refusal::new(RefusalKind::EntryUnknown, "the core has not kept this message")
        .hint("it keeps no turn that was stopped or failed: go to the one before it")
}

fn unsupported(message: &str) -> Refusal {
    Refusal::new(RefusalKind::Unsupported, message)
}
