//! A UI of ours that holds a conversation: says something, answers what it is asked, waits for the end.

use domain::ask::Answer;
use domain::command::{
    Command, LibraryCommand, ListCommand, ListScope, PromptOptions, QueueCommand, Receipt, Refusal,
    RunCommand, Target,
};
use domain::content::{Input, Role, TextKind};
use domain::event::{AskEvent, Body, Event, MessageEvent, NoteEvent, Outcome, RunEvent};
use domain::ids::{Millis, SessionId};
use domain::port::{News, Ticket};
use domain::queue::QueueKind;
use domain::session::SessionSummary;
use domain::signal::Signal;
use domain::state::State;
use hub::core::Standing;
use hub::{Hub, LocalUi};
use roles::Answers;
use std::time::Duration;

/// How long a run may take on the runtime's clock, which tests stop.
const PATIENCE: Duration = Duration::from_secs(120);

/// What came of something that was said.
#[derive(Debug)]
pub(crate) struct Spoken {
    /// What the model said in the run.
    pub(crate) text: String,
    pub(crate) outcome: Outcome,
    /// How often a person was asked.
    pub(crate) asked: usize,
}

pub(crate) struct Talk {
    ui: LocalUi,
    pub(crate) state: State,
    broken: Vec<String>,
    next: u64,
}

impl Talk {
    pub(crate) async fn start(hub: &Hub) -> Talk {
        let ui = hub.attach("talk", Standing::Controller, Answers::ALL, None).await.expect("the hub runs");
        Talk { ui, state: State::new(), broken: Vec::new(), next: 0 }
    }

    /// Says something, answers in order what is asked, waits for the end of the run.
    pub(crate) async fn prompt(&mut self, text: &str, answers: &[Answer]) -> Spoken {
        self.say(Command::Run(RunCommand::Prompt {
            input: Input::text(text),
            options: PromptOptions::default(),
        }))
        .await;
        self.until_the_end(answers, |_| None).await
    }

    /// The same; when the model has begun to speak, something is queued.
    pub(crate) async fn prompt_and(&mut self, text: &str, kind: QueueKind, then: &str) -> Spoken {
        self.say(Command::Run(RunCommand::Prompt {
            input: Input::text(text),
            options: PromptOptions::default(),
        }))
        .await;
        let then = Command::Queue(QueueCommand::Add { kind, input: Input::text(then) });
        // Where the runtime has no queue, the hub prompts again: that is a turn of the same run, too.
        self.until_the_end(&[], begins(then)).await
    }

    /// The same; when the model has begun to speak, the run is cancelled.
    pub(crate) async fn prompt_and_cancel(&mut self, text: &str) -> Spoken {
        self.say(Command::Run(RunCommand::Prompt {
            input: Input::text(text),
            options: PromptOptions::default(),
        }))
        .await;
        self.until_the_end(&[], begins(Command::Run(RunCommand::Cancel { run: None, reason: None }))).await
    }

    /// Says something that is not taken: it is refused, or ends as a failure where a wire has no other way to say so.
    pub(crate) async fn refused(&mut self, text: &str) {
        self.say(Command::Run(RunCommand::Prompt {
            input: Input::text(text),
            options: PromptOptions::default(),
        }))
        .await;
        loop {
            match self.news().await {
                News::Settled { with: Err(_), .. } => return,
                News::Happened { event, .. } => {
                    self.state.follow(&event).expect("events that fit");
                    if let Body::Run(RunEvent::Ended { outcome, .. }) = &event.body {
                        assert_ne!(*outcome, Outcome::Done, "it was taken");
                        return;
                    }
                }
                News::Attached { replay, .. } => self.attached(replay),
                News::Settled { .. } | News::Signal { .. } | News::Link(_) => {}
            }
        }
    }

    /// Makes a session and goes there.
    pub(crate) async fn new_session(&mut self) -> SessionId {
        self.say(Command::Library(LibraryCommand::New { cwd: None, title: None, id: None })).await;
        loop {
            if let News::Attached { session, replay, .. } = self.news().await {
                self.attached(replay);
                return session;
            }
        }
    }

    /// The sessions there are.
    pub(crate) async fn sessions(&mut self) -> Result<Vec<SessionSummary>, Refusal> {
        let (scope, limit, search) = (ListScope::All, None, None);
        let list = Command::Library(LibraryCommand::List { scope, limit, search });
        match self.settled(Target::Current, list).await? {
            Receipt::Sessions(sessions) => Ok(sessions),
            receipt => panic!("another answer: {receipt:?}"),
        }
    }

    /// Goes to a session and waits until it is shown.
    pub(crate) async fn open(&mut self, session: &SessionId) -> Result<(), Refusal> {
        let open = Command::Library(LibraryCommand::Open { session: session.clone() });
        self.settled(Target::Current, open).await?;
        // What was told of it has been heard when something else is settled.
        self.until_connected().await;
        Ok(())
    }

    /// Says something in a session that is named.
    pub(crate) async fn prompt_in(&mut self, session: &SessionId, text: &str) -> Result<Receipt, Refusal> {
        let (input, options) = (Input::text(text), PromptOptions::default());
        let prompt = Command::Run(RunCommand::Prompt { input, options });
        self.settled(Target::Session(session.clone()), prompt).await
    }

    /// Gives a command and waits for what becomes of it.
    pub(crate) async fn settled(&mut self, target: Target, command: Command) -> Result<Receipt, Refusal> {
        self.next += 1;
        let ticket = Ticket(self.next);
        self.ui.port.command(ticket, target, command).await.expect("the hub runs");
        loop {
            match self.news().await {
                News::Settled { ticket: settled, with } if settled == ticket => return with,
                News::Attached { replay, .. } => self.attached(replay),
                News::Happened { event, .. } => self.state.follow(&event).expect("events that fit"),
                News::Settled { .. } | News::Signal { .. } | News::Link(_) => {}
            }
        }
    }

    /// Says something and does not wait.
    pub(crate) async fn ask(&mut self, text: &str) {
        self.say(Command::Run(RunCommand::Prompt {
            input: Input::text(text),
            options: PromptOptions::default(),
        }))
        .await;
    }

    /// Answers the oldest open question.
    pub(crate) async fn answer(&mut self, answer: Answer) {
        let ask = self.state.asks.first().expect("a question").id;
        self.say(Command::Answer { ask, answer }).await;
    }

    /// The same where the wire may show a consent as a plain question.
    pub(crate) async fn answer_plainly(&mut self, answer: Answer) {
        let ask = self.state.asks.first().expect("a question");
        let (id, answer) = (ask.id, if ask.kind.accepts(&answer) { answer } else { plain(&answer) });
        self.say(Command::Answer { ask: id, answer }).await;
    }

    /// Waits until the runtime has shown itself: a receipt of something harmless.
    pub(crate) async fn until_connected(&mut self) {
        self.say(Command::List(ListCommand::Models { provider: None })).await;
        let ticket = Ticket(self.next);
        loop {
            match self.news().await {
                News::Settled { ticket: settled, .. } if settled == ticket => return,
                News::Attached { replay, .. } => self.attached(replay),
                News::Happened { event, .. } => self.state.follow(&event).expect("events that fit"),
                News::Settled { .. } | News::Signal { .. } | News::Link(_) => {}
            }
        }
    }

    /// Takes news in until something has happened; at once if it is in the state already.
    pub(crate) async fn until(&mut self, happened: impl Fn(&Event) -> bool) {
        loop {
            match self.news().await {
                News::Happened { event, .. } => {
                    self.state.follow(&event).expect("events that fit");
                    if happened(&event) {
                        return;
                    }
                }
                News::Attached { replay, .. } => self.attached(replay),
                News::Settled { .. } | News::Signal { .. } | News::Link(_) => {}
            }
        }
    }

    /// Takes news in until a word for the person comes: one that is kept in the conversation, or one in passing. Whether it came.
    pub(crate) async fn is_told(&mut self, words: &str) -> bool {
        while let Ok(news) = tokio::time::timeout(PATIENCE, self.ui.news.recv()).await {
            match news.expect("the hub runs") {
                News::Happened { event, .. } => {
                    self.state.follow(&event).expect("events that fit");
                    let note = &event.body;
                    if matches!(note, Body::Note(NoteEvent::Noticed { text, .. }) if text.contains(words)) {
                        return true;
                    }
                }
                News::Signal { signal: Signal::Notify { text, .. }, .. } if text.contains(words) => {
                    return true;
                }
                News::Attached { replay, .. } => self.attached(replay),
                News::Settled { .. } | News::Signal { .. } | News::Link(_) => {}
            }
        }
        false
    }

    async fn news(&mut self) -> News {
        let news = tokio::time::timeout(PATIENCE, self.ui.news.recv()).await;
        let news = news.unwrap_or_else(|_| panic!("nothing more comes: {:#?}", self.state.runs.last()));
        news.expect("the hub runs")
    }

    fn attached(&mut self, replay: Vec<(Millis, Body)>) {
        self.state = State::new();
        for (at, body) in replay {
            self.state.apply(at, &body).expect("a replay that holds");
        }
    }

    async fn say(&mut self, command: Command) {
        self.next += 1;
        self.ui.port.command(Ticket(self.next), Target::Current, command).await.expect("the hub runs");
    }

    async fn until_the_end(
        &mut self,
        answers: &[Answer],
        mut react: impl FnMut(&Event) -> Option<Command>,
    ) -> Spoken {
        let mut spoken = Spoken { text: String::new(), outcome: Outcome::Done, asked: 0 };
        loop {
            match self.news().await {
                News::Attached { replay, .. } => self.attached(replay),
                News::Happened { event, .. } => {
                    self.state.follow(&event).expect("events that fit");
                    if let Some(command) = react(&event) {
                        self.say(command).await;
                    }
                    match &event.body {
                        Body::Message(MessageEvent::Delta { message, kind: TextKind::Text, text })
                            if self.is_models(*message) =>
                        {
                            spoken.text.push_str(text);
                        }
                        Body::Message(MessageEvent::PartAdded { message, part })
                            if self.is_models(*message) =>
                        {
                            if let Some((TextKind::Text, text)) = part.streamed() {
                                spoken.text.push_str(text);
                            }
                        }
                        Body::Ask(AskEvent::Opened(ask)) => {
                            let answer = answers.get(spoken.asked).cloned().unwrap_or(Answer::Dismissed);
                            spoken.asked += 1;
                            let answer = if ask.kind.accepts(&answer) { answer } else { plain(&answer) };
                            self.say(Command::Answer { ask: ask.id, answer }).await;
                        }
                        Body::Run(RunEvent::Ended { outcome, .. }) => {
                            spoken.outcome = outcome.clone();
                            return spoken;
                        }
                        _ => {}
                    }
                }
                News::Settled { with: Err(refusal), .. } => self.broken.push(refusal.to_string()),
                News::Settled { .. } | News::Signal { .. } | News::Link(_) => {}
            }
        }
    }

    fn is_models(&self, message: domain::ids::MessageId) -> bool {
        self.state.message(message).is_some_and(|message| message.role == Role::Assistant)
    }

    /// Nothing was refused and nothing is left open.
    pub(crate) fn check(&self) {
        assert!(self.state.open_run().is_none() && self.state.asks.is_empty());
        assert!(self.broken.is_empty(), "refused: {:?}", self.broken);
    }
}

/// Gives the command once, when the model begins to speak.
fn begins(command: Command) -> impl FnMut(&Event) -> Option<Command> {
    let mut once = Some(command);
    move |event| match &event.body {
        Body::Message(MessageEvent::Delta { kind: TextKind::Text, .. }) => once.take(),
        _ => None,
    }
}

/// A consent that a wire shows as a plain question gets a plain answer.
fn plain(answer: &Answer) -> Answer {
    match answer {
        Answer::Allow { .. } => Answer::Confirmed(true),
        Answer::Deny { .. } => Answer::Confirmed(false),
        answer => answer.clone(),
    }
}
