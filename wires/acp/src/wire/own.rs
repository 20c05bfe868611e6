//! `_meta`: what the protocol leaves to programs. Ours stands under `parlor`; of others' we read what is in wide use.

use super::open::object;
use wire::lenient::or_default;

object! {
    /// What goes along with a message beside the protocol.
    struct Meta {
        #[serde(deserialize_with = "or_default")]
        opt parlor: Own,
        /// In the result of `initialize`: whether `_session/steering` is taken.
        #[serde(deserialize_with = "or_default")]
        opt steering: Steering,
        /// In an answer to a permission request: why not.
        #[serde(deserialize_with = "or_default")]
        opt reason: String,
    }
}

object! {
    /// Whether and how steers are taken.
    struct Steering {
        flag supported,
        /// In a request: what is to happen where nothing runs.
        #[serde(deserialize_with = "or_default")]
        opt idle_behavior: String,
    }
}

object! {
    /// What two of our own programs say to each other beside the protocol; each message uses a few of these.
    struct Own {
        /// Where the runtime has put this link already.
        opt session: String,
        opt cursor: Cursor,
        /// A run that no prompt of this link began, or that ended.
        opt run: RunNote,
        /// How a tool ended, where the protocol has only `failed`.
        opt outcome: String,
        /// The whole patch of which old and new text show one place.
        opt patch: String,
        opt consent: ConsentNote,
        /// Tokens and money of a finished prompt.
        opt usage: UsageNote,
        /// What a tool does now.
        opt progress: ProgressNote,
        /// The question of an elicitation, where its form says less.
        opt ask: String,
        /// A word of the person in a message that began elsewhere or waited.
        opt created: String,
        opt messages: u64,
        /// Of a session in a list: another process has it open, and whoever loads it is led there.
        opt elsewhere: bool,
    }
}

object! {
    /// How far this link was told a session, and the hash of it then, as native revision 2 has it. It is told and never compared: whoever
    /// opens the session again is told the whole of it.
    struct Cursor {
        seq: u64,
        hash: String,
    }
}

object! {
    struct RunNote {
        id: String,
        /// `started`, or how it ended: `done`, `failed`, `cancelled`, `interrupted`, `lost`.
        state: String,
        /// Why it failed.
        opt message: String,
    }
}

object! {
    /// What a permission request says beside its tool call and options.
    struct ConsentNote {
        title: String,
        digest: String,
        /// `low`, `medium`, `high` or `critical`; absent where nobody told.
        opt risk: String,
        list reasons: String,
        flag reversible,
        /// The rule that "always" would add.
        opt rule: String,
        /// Whether `_meta.reason` of the answer reaches the model.
        flag takes_reason,
        /// The command line that would run, and the commands inside it.
        opt command: String,
        list inner: String,
        /// Milliseconds that the question waits.
        opt waits: u64,
    }
}

object! {
    struct UsageNote {
        input: u64,
        output: u64,
        cache_read: u64,
        cache_write: u64,
        cost_micros: u64,
    }
}

object! {
    struct ProgressNote {
        opt percent: u64,
        message: String,
    }
}

object! {
    /// What goes along with a tool call: our own, and live output as clients in use read it.
    struct CallMeta {
        #[serde(deserialize_with = "or_default")]
        opt parlor: Own,
        #[serde(rename = "terminal_info", deserialize_with = "or_default")]
        opt terminal_info: TerminalInfo,
        #[serde(rename = "terminal_output", deserialize_with = "or_default")]
        opt terminal_output: TerminalPiece,
        #[serde(rename = "terminal_exit", deserialize_with = "or_default")]
        opt terminal_exit: TerminalEnd,
    }
}

object! {
    struct TerminalInfo {
        #[serde(rename = "terminal_id")]
        terminal_id: String,
    }
}

object! {
    struct TerminalPiece {
        #[serde(rename = "terminal_id")]
        terminal_id: String,
        data: String,
    }
}

object! {
    struct TerminalEnd {
        #[serde(rename = "terminal_id")]
        terminal_id: String,
        #[serde(rename = "exit_code")]
        opt exit_code: i64,
        opt signal: String,
    }
}

object! {
    /// What a client can do beside the protocol.
    struct ClientMeta {
        /// It is one of ours and reads `_meta.parlor`.
        #[serde(default, deserialize_with = "or_default")]
        parlor: bool,
        /// It shows `_meta.terminal_output` of tool calls.
        #[serde(rename = "terminal_output", default, deserialize_with = "or_default")]
        terminal_output: bool,
        /// It opens a terminal for a login; clients said so here before the protocol had a word for it.
        #[serde(rename = "terminal-auth", deserialize_with = "or_default")]
        opt terminal_auth: bool,
    }
}
