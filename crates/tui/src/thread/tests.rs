//! Cells kept up to date are those that are built anew, whatever happens.

use super::*;
use domain::content::{Json, TextKind, Usage};
use domain::event::{
    Cause, Compaction, ContextEvent, Event, Finish, MessageEvent, NoteEvent, RunEvent, SessionEvent,
    ToolEvent, Trigger,
};
use domain::ids::{Ids, Millis, Seq, StepId, TurnId};
use domain::signal::Level;
use domain::tool::{ToolOutcome, ToolResult};
use proptest::prelude::*;

#[derive(Debug, Clone, Copy)]
enum Step {
    Run,
    End(bool),
    Message(bool),
    Text(usize, bool),
    Part(usize),
    Close(usize),
    Tool(usize),
    ToolEnd,
    Notice,
    Compact,
    Leaf(usize),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        2 => Just(Step::Run),
        1 => any::<bool>().prop_map(Step::End),
        4 => any::<bool>().prop_map(Step::Message),
        6 => (0usize..3, any::<bool>()).prop_map(|(back, thought)| Step::Text(back, thought)),
        2 => (0usize..3).prop_map(Step::Part),
        2 => (0usize..3).prop_map(Step::Close),
        3 => (0usize..3).prop_map(Step::Tool),
        2 => Just(Step::ToolEnd),
        1 => Just(Step::Notice),
        1 => Just(Step::Compact),
        1 => (0usize..6).prop_map(Step::Leaf),
    ]
}

struct Play {
    state: State,
    thread: Thread,
    ids: Ids,
}

impl Play {
    fn tell(&mut self, body: Body) {
        let event = Event { seq: Seq(self.state.seq.0 + 1), at: Millis(self.state.seq.0 * 400), body };
        if self.state.fold(&event).is_ok() {
            self.thread.follow(&self.state, &event.body);
        }
    }

    /// The message that was opened `back` before the last one.
    fn open(&self, back: usize) -> Option<MessageId> {
        self.state.open_messages().into_iter().rev().nth(back)
    }

    fn take(&mut self, step: Step) {
        let ids = self.ids.clone();
        match step {
            Step::Run => {
                let (run, turn) = (RunId::mint(&ids), TurnId::mint(&ids));
                self.tell(Body::Run(RunEvent::Started { run }));
                self.tell(Body::Run(RunEvent::TurnStarted { run, turn, cause: Cause::Prompt }));
                self.tell(Body::Run(RunEvent::StepStarted { turn, step: StepId::mint(&ids), model: None }));
            }
            Step::End(well) => {
                let outcome = if well { Outcome::Done } else { Outcome::Cancelled };
                self.state.close_run(outcome).into_iter().for_each(|body| self.tell(body));
            }
            Step::Message(person) => {
                let turn = self.state.open_run().and_then(|run| run.open_turn()).map(|turn| turn.id);
                let step = self.state.open_run().and_then(|run| run.open_step()).map(|step| step.id);
                let (message, parent) = (MessageId::mint(&ids), self.state.leaf);
                let role = if person { Role::User } else { Role::Assistant };
                self.tell(Body::Message(MessageEvent::Started { message, parent, role, turn, step }));
            }
            Step::Text(back, thought) => {
                let kind = if thought { TextKind::Thought } else { TextKind::Text };
                let text = "word ".to_owned();
                if let Some(message) = self.open(back) {
                    self.tell(Body::Message(MessageEvent::Delta { message, kind, text }));
                }
            }
            Step::Part(back) => {
                if let Some(message) = self.open(back) {
                    self.tell(Body::Message(MessageEvent::PartAdded {
                        message,
                        part: Part::Text("whole".into()),
                    }));
                }
            }
            Step::Close(back) => {
                if let Some(message) = self.open(back) {
                    self.tell(Body::Message(MessageEvent::Ended { message, finish: Finish::Complete }));
                }
            }
            Step::Tool(back) => {
                if let Some(message) = self.open(back) {
                    let (tool, name, args) = (ToolRunId::mint(&ids), "bash".to_owned(), Json::empty());
                    self.tell(Body::Tool(ToolEvent::Proposed { tool, message, name, args }));
                }
            }
            Step::ToolEnd => {
                if let Some(tool) = self.state.open_tools().first().copied() {
                    let (outcome, result) = (ToolOutcome::Done, ToolResult::text("ok"));
                    self.tell(Body::Tool(ToolEvent::Ended { tool, outcome, result }));
                }
            }
            Step::Notice => {
                let (entry, parent, run) = (EntryId::mint(&ids), self.state.leaf, None);
                let (level, code, text) = (Level::Info, "note".to_owned(), "note".to_owned());
                self.tell(Body::Note(NoteEvent::Noticed { entry, parent, run, level, code, text }));
            }
            Step::Compact => {
                let compaction = Compaction {
                    summary: "short".into(),
                    first_kept: None,
                    tokens_before: 9,
                    trigger: Trigger::Manual,
                    unexplained: false,
                    usage: Usage::default(),
                };
                let (entry, parent) = (EntryId::mint(&ids), self.state.leaf);
                self.tell(Body::Context(ContextEvent::Compacted { entry, parent, compaction }));
            }
            Step::Leaf(nth) => {
                let leaf = self.state.entries.keys().rev().nth(nth).copied();
                self.tell(Body::Session(SessionEvent::LeafMoved { leaf }));
            }
        }
    }
}

proptest! {
    #![proptest_config(testkit::cases(100))]
    #[test]
    fn following_gives_what_building_gives(steps in prop::collection::vec(step(), 0..60)) {
        let mut play = Play { state: State::new(), thread: Thread::default(), ids: Ids::default() };
        for step in steps {
            play.take(step);
            let built: Vec<CellKey> = Thread::build(&play.state).cells().iter().map(|cell| cell.key).collect();
            let mut followed: Vec<CellKey> = play.thread.cells().iter().map(|cell| cell.key).collect();
            for (at, key) in followed.iter().enumerate() {
                prop_assert_eq!(play.thread.position(*key), Some(at));
            }
            // Where the end of a run stands among things that were said outside of it may differ; nothing else may.
            let mut built = built;
            built.retain(|key| !matches!(key, CellKey::End(_)));
            followed.retain(|key| !matches!(key, CellKey::End(_)));
            prop_assert_eq!(followed, built, "after {:?}", step);
        }
    }
}
