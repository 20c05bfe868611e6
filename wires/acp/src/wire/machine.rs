//! The client's files and terminals, as an agent asks for them.

use super::open::object;
use super::session::Named;
use wire::lenient::{null_as_default, opt_whole_i64, opt_whole_u64};

object! {
    struct ReadTextFileParams {
        session_id: String,
        path: String,
        /// From this line on, counted from 1.
        #[serde(deserialize_with = "opt_whole_u64")]
        opt line: u64,
        #[serde(deserialize_with = "opt_whole_u64")]
        opt limit: u64,
    }
}

object! {
    struct ReadTextFileResult {
        content: String,
    }
}

object! {
    struct WriteTextFileParams {
        session_id: String,
        path: String,
        content: String,
    }
}

object! {
    struct CreateTerminalParams {
        session_id: String,
        /// A program, or a whole line for a shell where there are no arguments.
        command: String,
        list args: String,
        list env: Named,
        opt cwd: String,
        #[serde(deserialize_with = "opt_whole_u64")]
        opt output_byte_limit: u64,
    }
}

object! {
    struct CreateTerminalResult {
        terminal_id: String,
    }
}

object! {
    struct TerminalOutputParams {
        session_id: String,
        terminal_id: String,
    }
}

object! {
    struct TerminalOutputResult {
        output: String,
        #[serde(default, deserialize_with = "null_as_default")]
        truncated: bool,
        opt exit_status: ExitStatus,
    }
}

object! {
    struct ExitStatus {
        #[serde(deserialize_with = "opt_whole_i64")]
        opt exit_code: i64,
        opt signal: String,
    }
}

object! {
    struct WaitForExitParams {
        session_id: String,
        terminal_id: String,
    }
}

object! {
    struct KillTerminalParams {
        session_id: String,
        terminal_id: String,
    }
}

object! {
    struct ReleaseTerminalParams {
        session_id: String,
        terminal_id: String,
    }
}
