//! Who is at the other end, as far as `initialize` told, and what follows for how we speak. A client may skip `initialize`.

use super::super::OUR_NAME;
use super::super::wire::{InitializeParams, QueryOptions, capability};

/// The existing client, and the versions of it that read what its document does not say.
const TERMINAL: (&str, &str) = ("openagent-terminal", "0.1.");

/// What is known about the client.
#[derive(Debug, Clone, Default)]
pub(super) struct Client {
    /// It said who it is.
    named: bool,
    /// It is the existing client: it shows nothing of errors to queries, prints `content` as it stands and knows few notifications.
    pub(super) terminal: bool,
    ours: bool,
    capabilities: Option<Vec<String>>,
}

impl Client {
    pub(super) fn new(params: &InitializeParams) -> Client {
        let (name, version) = TERMINAL;
        let info = params.client_info.as_ref().filter(|info| !info.name.is_empty());
        Client {
            named: info.is_some(),
            terminal: info.is_some_and(|info| info.name == name && info.version.starts_with(version)),
            ours: info.is_some_and(|info| info.name == OUR_NAME),
            capabilities: params.capabilities.clone(),
        }
    }

    fn has(&self, name: &str) -> bool {
        self.capabilities.as_ref().is_none_or(|have| have.iter().any(|c| c == name))
    }

    /// It follows the document as far as we know.
    pub(super) fn by_the_book(&self) -> bool {
        self.named && !self.terminal
    }

    /// It can be asked. The existing client can, and does not say so.
    pub(super) fn approves(&self) -> bool {
        self.terminal || self.has(capability::TOOL_APPROVAL)
    }

    /// The person wants to be asked about every action of this query.
    pub(super) fn asks_first(&self, options: &QueryOptions) -> bool {
        let wanted = if self.ours { options.ask_first } else { options.require_approval == Some(true) };
        wanted && self.approves()
    }

    /// How this client wants its texts.
    pub(super) fn style(&self) -> Style {
        Style {
            carriage_returns: self.terminal,
            batches: self.by_the_book(),
            blocks: self.has(capability::BLOCKS),
            object_preview: self.by_the_book(),
            error_blocks: self.terminal,
        }
    }
}

/// How to speak to a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Style {
    /// Line breaks of text need a carriage return: the existing client prints them in raw mode.
    pub(super) carriage_returns: bool,
    /// `stream.tokens` is understood.
    pub(super) batches: bool,
    /// `stream.block` is understood.
    pub(super) blocks: bool,
    /// `preview` is an object, not a text.
    pub(super) object_preview: bool,
    /// `stream.error` shows nothing: a block must say it.
    pub(super) error_blocks: bool,
}
