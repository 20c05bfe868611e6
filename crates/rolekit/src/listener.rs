//! The listener: one run of a foreign runtime as it is heard, said as facts.
//!
//! It keeps what every wire leaves for its UI to remember: which run is heard, which calls are open and what a role notes about each,
//! that a result counts once, and that the model's next word after its tools is another step. It knows no wire and has no switch for
//! one: a role reads its lines and tells the listener what they say. It repairs nothing: that is the canon's.
//!
//! Invariants: every fact names the run; a call ends once; open calls and what is remembered of ended ones are bounded, and past the
//! bound the oldest is forgotten.

#[cfg(test)]
mod tests;

use domain::content::{Input, Json, Part, Role, TextKind, Usage};
use domain::event::{Cause, Finish, Outcome};
use domain::fact::{Fact, Key, Said};
use domain::tool::{ToolOutcome, ToolResult};
use roles::UiCx;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Most calls of a run that are open at once.
pub const MAX_OPEN: usize = 1024;
/// Most calls of a run that are remembered as ended.
pub const MAX_ENDED: usize = 10_000;
/// Longest name of a call; a longer one names nothing.
pub const MAX_NAME: usize = 1024;

/// A run that is being heard. `T` is what the role notes about an open call.
#[derive(Debug)]
pub struct Listener<T> {
    run: Key,
    open: BTreeMap<Key, OpenCall<T>>,
    opened: u64,
    ended: BTreeSet<Key>,
    /// The same, oldest first.
    ended_in_order: VecDeque<Key>,
    /// A call has ended and the model has said nothing since.
    answered: bool,
}

/// A call that has no end yet.
#[derive(Debug)]
struct OpenCall<T> {
    /// How many were opened before it.
    number: u64,
    note: T,
}

impl<T> Listener<T> {
    pub fn new(run: Key) -> Listener<T> {
        Listener {
            run,
            open: BTreeMap::new(),
            opened: 0,
            ended: BTreeSet::new(),
            ended_in_order: VecDeque::new(),
            answered: false,
        }
    }

    /// Begins a run with what the person said, on a wire where that is all a run is for.
    pub fn begin(cx: &mut UiCx<'_>, run: Key, input: &Input) -> Listener<T> {
        let listener = Listener::new(run);
        listener.say(cx, Said::RunStarted);
        listener.say(cx, Said::TurnStarted(Some(Cause::Prompt)));
        listener.input(cx, input);
        listener
    }

    /// The run's name on the wire.
    pub fn run(&self) -> &Key {
        &self.run
    }

    /// Says something of this run.
    pub fn say(&self, cx: &mut UiCx<'_>, said: Said) {
        cx.fact(Fact::of(self.run.clone(), said));
    }

    /// What the person said, where the wire does not repeat it.
    pub fn prompt(&self, cx: &mut UiCx<'_>, message: Option<Key>, parts: Vec<Part>) {
        self.say(cx, Said::MessageStarted { message: message.clone(), role: Role::User });
        for part in parts {
            self.say(cx, Said::Part { message: message.clone(), part });
        }
        self.say(cx, Said::MessageEnded { message, finish: Finish::Complete });
    }

    /// The person's input as the message that it becomes.
    pub fn input(&self, cx: &mut UiCx<'_>, input: &Input) {
        self.prompt(cx, None, input.parts());
    }

    /// The model says or wants something: after its tools that is another step. Whether one began.
    pub fn model_speaks(&mut self, cx: &mut UiCx<'_>) -> bool {
        let next = self.answered && self.open.is_empty();
        if next {
            self.step_over(cx, Usage::default());
        }
        next
    }

    /// More of what the model says or thinks, on a wire that does not name its messages.
    pub fn text(&mut self, cx: &mut UiCx<'_>, kind: TextKind, text: String) {
        self.model_speaks(cx);
        self.say(cx, Said::Text { message: None, kind, text });
    }

    /// The model wants a tool, which is noted as open.
    pub fn call(&mut self, cx: &mut UiCx<'_>, tool: Key, name: String, args: Json, note: T) {
        self.model_speaks(cx);
        self.note(&tool, || note);
        self.say(cx, Said::ToolProposed { tool, name, args });
    }

    /// The model has answered, and its tools are done.
    pub fn step_over(&mut self, cx: &mut UiCx<'_>, usage: Usage) {
        self.answered = false;
        self.say(cx, Said::StepEnded(usage));
    }

    /// Notes an open call, once; a name that was ended is taken for another call. `None` for a name that is none. Past the bound
    /// the oldest is forgotten.
    pub fn note(&mut self, call: &Key, note: impl FnOnce() -> T) -> Option<&mut T> {
        if call.len() > MAX_NAME {
            return None;
        }
        if !self.open.contains_key(call) {
            if self.ended.remove(call) {
                self.ended_in_order.retain(|ended| ended != call);
            }
            if self.open.len() >= MAX_OPEN {
                self.forget_oldest();
            }
            self.opened += 1;
            self.open.insert(call.clone(), OpenCall { number: self.opened, note: note() });
        }
        self.noted(call)
    }

    /// What is noted of an open call.
    pub fn noted(&mut self, call: &str) -> Option<&mut T> {
        self.open.get_mut(call).map(|call| &mut call.note)
    }

    /// Open calls by name.
    pub fn open(&self) -> impl DoubleEndedIterator<Item = (&Key, &T)> {
        self.open.iter().map(|(key, call)| (key, &call.note))
    }

    /// Open calls by name, to be changed.
    pub fn open_mut(&mut self) -> impl DoubleEndedIterator<Item = (&Key, &mut T)> {
        self.open.iter_mut().map(|(key, call)| (key, &mut call.note))
    }

    /// The newest open call of which `is` holds.
    pub fn newest(&self, is: impl Fn(&T) -> bool) -> Option<&Key> {
        let meant = self.open.iter().filter(|(_, call)| is(&call.note));
        meant.max_by_key(|(_, call)| call.number).map(|(key, _)| key)
    }

    /// Forgets the open call that was noted first; what it was about is given back.
    pub fn forget_oldest(&mut self) -> Option<T> {
        let oldest = self.open.iter().min_by_key(|(_, call)| call.number).map(|(key, _)| key.clone())?;
        self.open.remove(&oldest).map(|call| call.note)
    }

    /// Whether a call has ended before.
    pub fn has_ended(&self, call: &str) -> bool {
        self.ended.contains(call)
    }

    /// A call has ended: what was noted of it. `Err` when it had ended before, or has no usable name.
    ///
    /// # Errors
    /// When this end is not the first.
    pub fn end_call(&mut self, call: &Key) -> Result<Option<T>, EndedBefore> {
        if call.len() > MAX_NAME || self.ended.contains(call) {
            return Err(EndedBefore);
        }
        if self.ended_in_order.len() >= MAX_ENDED
            && let Some(oldest) = self.ended_in_order.pop_front()
        {
            self.ended.remove(&oldest);
        }
        self.ended.insert(call.clone());
        self.ended_in_order.push_back(call.clone());
        self.answered = true;
        Ok(self.open.remove(call).map(|call| call.note))
    }

    /// A call has ended and this is its result; said once.
    pub fn result(&mut self, cx: &mut UiCx<'_>, tool: &Key, outcome: ToolOutcome, result: ToolResult) {
        if self.end_call(tool).is_ok() {
            self.say(cx, Said::ToolEnded { tool: tool.clone(), outcome, result });
        }
    }

    /// The run is over; nothing of it is said after.
    pub fn end(self, cx: &mut UiCx<'_>, outcome: Outcome) {
        self.say(cx, Said::RunEnded(outcome));
    }
}

/// A result that counts no more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EndedBefore;
