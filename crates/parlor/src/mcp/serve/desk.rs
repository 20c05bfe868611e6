//! The sessions of one MCP client: begun, spoken to, waited for, read. Each is a UI of the hub that can answer nothing.

use domain::command::{Command, LibraryCommand, PromptOptions, Receipt, RunCommand, Target};
use domain::content::{Input, Role};
use domain::event::Outcome;
use domain::ids::{RunId, SessionId};
use domain::port::{LinkState, News, Ticket};
use domain::rights::Standing;
use domain::state::{EntryKind, State};
use domain::tool::ToolPhase;
use hub::{Hub, LocalUi};
use roles::Answers;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Mutex, mpsc, oneshot, watch};
use tokio::task::JoinSet;

/// Most sessions of one client.
const MAX_SESSIONS: usize = 32;
/// Most bytes that are said at once.
const MAX_SAID: usize = 1024 * 1024;
/// Bytes of an answer, and of what is read at once.
const MAX_READ: usize = 50 * 1024;
/// How long is waited where nothing is said, and at most, in seconds.
const USUAL_WAIT_S: u64 = 60;
pub(super) const MAX_WAIT_S: u64 = 600;
/// How long a question may wait for the person where nobody has it on a screen of theirs.
const PATIENCE: Duration = Duration::from_secs(300);
/// Words that may wait to be said in one session.
const MAX_WAITING: usize = 16;
/// How long the hub may take to begin a session.
const BEGIN: Duration = Duration::from_secs(30);

/// All sessions of a client.
pub(super) struct Desk {
    hub: Hub,
    sessions: Mutex<BTreeMap<String, Arc<Session>>>,
    /// Those who follow a session each, until the client is gone.
    following: Mutex<JoinSet<()>>,
}

struct Session {
    id: SessionId,
    seen: watch::Receiver<SeenSession>,
    says: mpsc::Sender<Words>,
}

/// A session as far as it was heard of.
#[derive(Default)]
struct SeenSession {
    state: State,
    /// The run that was said last: until it was seen, the session is at work.
    last: Option<RunId>,
    /// Why nothing more is heard.
    over: Option<String>,
}

/// Something to say, and where it is told what came of it.
struct Words {
    text: String,
    taken: oneshot::Sender<Result<(), String>>,
}

impl Desk {
    pub(super) fn new(hub: Hub) -> Desk {
        Desk { hub, sessions: Mutex::default(), following: Mutex::default() }
    }

    /// Does what a tool does.
    ///
    /// # Errors
    /// Why not, in words for the model of the client.
    pub(super) async fn call(&self, name: &str, args: &Map<String, Value>) -> Result<Value, String> {
        let known: &[&str] = match name {
            "begin" => &["prompt"],
            "say" => &["session", "text"],
            "wait" => &["session", "seconds"],
            _ => &["session", "from"],
        };
        if let Some(other) = args.keys().find(|key| !known.contains(&key.as_str())) {
            let other = domain::harmless::quoted(other);
            return Err(format!("{name} has no argument {other}; it has {}", known.join(" and ")));
        }
        match name {
            "begin" => self.begin(text(args, "prompt")?).await,
            "say" => {
                let session = self.session(args).await?;
                session.say(text(args, "text")?).await?;
                Ok(session.told())
            }
            "wait" => {
                let session = self.session(args).await?;
                let seconds = number(args, "seconds")?.unwrap_or(USUAL_WAIT_S).min(MAX_WAIT_S);
                let mut seen = session.seen.clone();
                let over =
                    async { seen.wait_for(|seen| !seen.is_at_work() || seen.is_asked()).await.is_ok() };
                let _ = tokio::time::timeout(Duration::from_secs(seconds), over).await;
                Ok(session.told())
            }
            _ => {
                let session = self.session(args).await?;
                let from = usize::try_from(number(args, "from")?.unwrap_or(0)).unwrap_or(usize::MAX);
                let seen = session.seen.borrow();
                Ok(read(session.id.as_str(), &seen.state, from))
            }
        }
    }

    async fn begin(&self, prompt: &str) -> Result<Value, String> {
        let mut sessions = self.sessions.lock().await;
        if sessions.len() >= MAX_SESSIONS {
            return Err(format!(
                "{MAX_SESSIONS} sessions are begun, which is as many as one client may have: go on in one of them"
            ));
        }
        let gone = |_| "Parlor has stopped".to_owned();
        let start = Command::Library(LibraryCommand::New { cwd: None, title: None, id: None });
        let answers = Answers { deadline: Some(PATIENCE), ..Answers::NONE };
        let mut ui =
            self.hub.attach("mcp", Standing::Controller, answers, Some(start)).await.map_err(gone)?;
        let attached = async {
            let mut first = ui.begun().await.map_err(|refusal| refusal.to_string())?;
            loop {
                match first {
                    Some(News::Attached { session, replay, .. }) => {
                        let mut state = State::new();
                        for (at, body) in &replay {
                            state.apply(*at, body).map_err(|why| why.to_string())?;
                        }
                        return Ok((session, state));
                    }
                    Some(_) => first = ui.news.recv().await,
                    None => return Err("Parlor has stopped".to_owned()),
                }
            }
        };
        let attached = tokio::time::timeout(BEGIN, attached).await;
        let (id, state) = attached.map_err(|_| "the session did not begin in time".to_owned())??;
        let (tell, seen) = watch::channel(SeenSession { state, ..SeenSession::default() });
        let (says, words) = mpsc::channel(MAX_WAITING);
        self.following.lock().await.spawn(follow(ui, words, tell, id.clone()));
        let session = Arc::new(Session { id: id.clone(), seen, says });
        sessions.insert(id.as_str().to_owned(), session.clone());
        drop(sessions);
        session.say(prompt).await?;
        Ok(session.told())
    }

    async fn session(&self, args: &Map<String, Value>) -> Result<Arc<Session>, String> {
        let wanted = text(args, "session")?;
        self.sessions.lock().await.get(wanted).cloned().ok_or_else(|| {
            let wanted = domain::harmless::quoted(wanted);
            format!("{wanted} is no session that was begun here: `begin` begins one and gives its id")
        })
    }
}

/// Takes in what happens in a session, and says in it what is to be said.
async fn follow(
    mut ui: LocalUi,
    mut words: mpsc::Receiver<Words>,
    tell: watch::Sender<SeenSession>,
    id: SessionId,
) {
    let mut open: BTreeMap<u64, oneshot::Sender<Result<(), String>>> = BTreeMap::new();
    let mut next = 0;
    loop {
        tokio::select! {
            biased;
            news = ui.news.recv() => match news {
                None => {
                    tell.send_modify(|seen| seen.over = Some("Parlor has stopped".to_owned()));
                    return;
                }
                Some(News::Happened { session, event }) if session == id => {
                    tell.send_modify(|seen| if let Err(why) = seen.state.follow(&event) {
                        seen.over = Some(why.to_string());
                    });
                }
                Some(News::Attached { session, replay, .. }) if session == id => {
                    tell.send_modify(|seen| {
                        seen.state = State::new();
                        for (at, body) in &replay {
                            if let Err(why) = seen.state.apply(*at, body) {
                                seen.over = Some(why.to_string());
                            }
                        }
                    });
                }
                Some(News::Settled { ticket: Ticket(ticket), with }) => {
                    let taken = match with {
                        Ok(Receipt::Started { run, .. } | Receipt::Queued { run, .. }) => {
                            tell.send_modify(|seen| seen.last = Some(run));
                            Ok(())
                        }
                        Ok(_) => Ok(()),
                        Err(refusal) => Err(refusal.to_string()),
                    };
                    if let Some(waits) = open.remove(&ticket) {
                        let _ = waits.send(taken);
                    }
                }
                Some(News::Link(LinkState::Lost(why))) => tell.send_modify(|seen| seen.over = Some(why)),
                Some(News::Happened { .. } | News::Attached { .. } | News::Signal { .. } | News::Link(_)) => {}
            },
            said = words.recv() => {
                let Some(Words { text, taken }) = said else { return };
                next += 1;
                open.insert(next, taken);
                let prompt = RunCommand::Prompt { input: Input::text(text), options: PromptOptions::default() };
                if ui.port.command(Ticket(next), Target::Current, Command::Run(prompt)).await.is_err() {
                    return;
                }
            }
        }
    }
}

impl SeenSession {
    fn is_at_work(&self) -> bool {
        let unseen = self.last.is_some_and(|run| self.state.run(run).is_none());
        let waits = !self.state.queues.steer.is_empty() || !self.state.queues.follow_up.is_empty();
        self.over.is_none() && (unseen || waits || self.state.open_run().is_some())
    }

    fn is_asked(&self) -> bool {
        !self.state.asks.is_empty()
    }
}

impl Session {
    async fn say(&self, text: &str) -> Result<(), String> {
        if text.trim().is_empty() || text.len() > MAX_SAID {
            return Err(format!("say something, of at most {MAX_SAID} bytes"));
        }
        let over = || "the session is over".to_owned();
        let (taken, told) = oneshot::channel();
        self.says.send(Words { text: text.to_owned(), taken }).await.map_err(|_| over())?;
        told.await.map_err(|_| over())?
    }

    /// How it stands, for the client.
    fn told(&self) -> Value {
        let seen = self.seen.borrow();
        let mut told = json!({"session": self.id.as_str(), "state": "idle"});
        let mut set = |key: &str, value: Value| told[key] = value;
        if let Some(why) = &seen.over {
            set("state", "over".into());
            set("why", why.clone().into());
        } else if let Some(ask) = seen.state.asks.first() {
            set("state", "asks_its_person".into());
            set("question", ask.title.clone().into());
            let how = format!(
                "The person answers on a screen of theirs (`parlor attach --session {}`, or the page); this client cannot. Wait again.",
                self.id
            );
            set("what_to_do", how.into());
        } else if seen.is_at_work() {
            set("state", "at_work".into());
        } else if let Some((_, outcome)) = seen.state.runs.last().and_then(|run| run.ended.as_ref()) {
            match outcome {
                Outcome::Done => set("state", "done".into()),
                Outcome::Failed(failure) => {
                    set("state", "failed".into());
                    set("why", failure.message.clone().into());
                }
                Outcome::Cancelled => set("state", "stopped".into()),
                Outcome::Interrupted | Outcome::Lost => set("state", "broken_off".into()),
            }
        }
        if let Some(said) = last_words(&seen.state) {
            let (said, cut) = cut(said);
            set("answer", said.into());
            if cut {
                set("cut", "the answer is longer; `read` gives the conversation".into());
            }
        }
        told
    }
}

/// What the agent said last, if it said something since the newest prompt.
fn last_words(state: &State) -> Option<String> {
    let messages = state.entries.values().rev().filter_map(|entry| match &entry.kind {
        EntryKind::Message(message) => Some(message),
        EntryKind::Compaction(_) | EntryKind::Notice { .. } => None,
    });
    let newest = messages.take_while(|message| message.role != Role::User);
    newest.map(|message| message.text()).find(|text| !text.trim().is_empty())
}

fn cut(mut text: String) -> (String, bool) {
    if text.len() <= MAX_READ {
        return (text, false);
    }
    let end = (0..=MAX_READ).rev().find(|at| text.is_char_boundary(*at)).unwrap_or_default();
    text.truncate(end);
    (text, true)
}

/// The conversation from an entry on, as much as is given at once.
fn read(id: &str, state: &State, from: usize) -> Value {
    let (mut entries, mut size, mut next) = (Vec::new(), 0, None);
    for (at, entry) in state.entries.values().enumerate().skip(from) {
        let EntryKind::Message(message) = &entry.kind else { continue };
        let (text, _) = cut(message.text());
        let tools: Vec<Value> = message
            .tools()
            .filter_map(|tool| state.tools.get(&tool))
            .map(|run| json!({"tool": run.name, "outcome": outcome(&run.phase)}))
            .collect();
        if size > 0 && size + text.len() > MAX_READ {
            next = Some(at);
            break;
        }
        size += text.len() + 1;
        let who = if message.role == Role::User { "person" } else { "agent" };
        let mut one = json!({"entry": at, "who": who, "text": text});
        if !tools.is_empty() {
            one["tools"] = tools.into();
        }
        entries.push(one);
    }
    let mut told = json!({"session": id, "entries": entries});
    if let Some(next) = next {
        told["next"] = next.into();
    }
    told
}

/// How a tool run ended, in a word.
fn outcome(phase: &ToolPhase) -> Value {
    match phase {
        ToolPhase::Ended(outcome) => serde_json::to_value(outcome).unwrap_or_default(),
        _ => "not over".into(),
    }
}

fn text<'a>(args: &'a Map<String, Value>, key: &str) -> Result<&'a str, String> {
    args.get(key).and_then(Value::as_str).ok_or_else(|| format!("`{key}` is a text that has to be there"))
}

fn number(args: &Map<String, Value>, key: &str) -> Result<Option<u64>, String> {
    match args.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(value) => value.as_u64().map(Some).ok_or_else(|| format!("`{key}` is a whole number")),
    }
}
