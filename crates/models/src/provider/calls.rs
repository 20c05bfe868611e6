//! Puts tool calls together from their fragments. Pure, shared by all wires.

use crate::{Delta, ErrorKind, ModelError, ToolArgs, ToolCall};

/// Calls of one response at most.
const MAX_CALLS: usize = 128;
/// Bytes of one call's arguments at most.
const MAX_ARGS: usize = 16 * 1024 * 1024;

/// The calls of one response. A wire names each by a key of its own (an index, an id).
#[derive(Debug)]
pub(super) struct Calls {
    open: Vec<Open>,
    started: usize,
    seed: u64,
}

#[derive(Debug)]
struct Open {
    key: String,
    index: usize,
    id: String,
    name: String,
    args: String,
}

impl Calls {
    /// `seed` keeps the made-up ids of two responses apart.
    pub(super) fn new(seed: u64) -> Self {
        Self { open: Vec::new(), started: 0, seed }
    }

    /// The id for the next call where the server gives none.
    pub(super) fn made_up_id(&self) -> String {
        format!("call_{:08x}_{}", self.seed & 0xffff_ffff, self.started)
    }

    /// Any call so far.
    pub(super) fn any(&self) -> bool {
        self.started > 0
    }

    /// The place among the calls of the one that began last.
    pub(super) fn last_place(&self) -> Option<usize> {
        self.started.checked_sub(1)
    }

    /// Whether a call with this key is being put together.
    pub(super) fn is_open(&self, key: &str) -> bool {
        self.open.iter().any(|call| call.key == key)
    }

    /// The key of the call that began last and is still open.
    pub(super) fn last_key(&self) -> Option<&str> {
        self.open.last().map(|call| call.key.as_str())
    }

    /// Notes a call whose arguments will follow in pieces.
    pub(super) fn start(
        &mut self,
        key: &str,
        id: &str,
        name: &str,
        out: &mut Vec<Delta>,
    ) -> Result<(), ModelError> {
        if self.started == MAX_CALLS {
            return Err(ModelError::new(
                ErrorKind::Protocol,
                "",
                format!("more than {MAX_CALLS} tool calls at once"),
            ));
        }
        let id = if id.is_empty() { self.made_up_id() } else { id.to_owned() };
        let index = self.started;
        self.started += 1;
        out.push(Delta::ToolCallStart { index, id: id.clone(), name: name.to_owned() });
        self.open.push(Open { key: key.to_owned(), index, id, name: name.to_owned(), args: String::new() });
        Ok(())
    }

    /// More of a call's arguments; a key that was never started is ignored.
    pub(super) fn args(&mut self, key: &str, fragment: &str, out: &mut Vec<Delta>) -> Result<(), ModelError> {
        let Some(call) = self.open.iter_mut().find(|call| call.key == key) else { return Ok(()) };
        if fragment.is_empty() {
            return Ok(());
        }
        if call.args.len() + fragment.len() > MAX_ARGS {
            return Err(ModelError::new(
                ErrorKind::Protocol,
                "",
                "the arguments of a tool call are too long",
            ));
        }
        call.args.push_str(fragment);
        out.push(Delta::ToolCallArgs { index: call.index, fragment: fragment.to_owned() });
        Ok(())
    }

    /// A call is complete. The final arguments win over the fragments where the wire sends both.
    pub(super) fn close(&mut self, key: &str, final_args: Option<&str>, out: &mut Vec<Delta>) {
        let Some(at) = self.open.iter().position(|call| call.key == key) else { return };
        let call = self.open.remove(at);
        let args = ToolArgs::read(final_args.unwrap_or(&call.args));
        out.push(Delta::ToolCall(ToolCall { id: call.id, name: call.name, args }));
    }

    /// Completes the calls that the provider did not end one by one.
    pub(super) fn close_all(&mut self, out: &mut Vec<Delta>) {
        for call in std::mem::take(&mut self.open) {
            let args = ToolArgs::read(&call.args);
            out.push(Delta::ToolCall(ToolCall { id: call.id, name: call.name, args }));
        }
    }
}
