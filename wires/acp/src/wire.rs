//! Messages exactly as the protocol's version 1 writes them, in its names. No logic: what they mean is the roles' business.
//!
//! Absent and null mean the same unless a field says otherwise. Members, kinds and words that are not here are kept ([`open`]) and come
//! out again. What only we say to each other stands in `_meta.parlor` ([`own`]).

mod content;
mod handshake;
mod machine;
mod open;
mod own;
mod person;
mod session;
mod update;

pub use content::*;
pub use handshake::*;
pub use machine::*;
pub use open::{Keeps, Raw, Rest};
pub use own::*;
pub use person::*;
pub use session::*;
pub use update::*;

use rolekit::calls;

/// The version of the protocol that we speak.
pub const PROTOCOL_VERSION: u64 = 1;

/// A request that older clients send and no schema has: it is taken and never sent.
pub const SET_MODEL: &str = "session/set_model";
/// Requests of the draft, which are taken where they are advertised: a session that goes on from another, and a title.
pub const FORK: &str = "session/fork";
pub const SET_TITLE: &str = "session/set_title";

calls! {
    Ui request "initialize": InitializeParams => InitializeResult;
    Ui request "authenticate": AuthenticateParams => Nothing;
    Ui request "logout": LogoutParams => Nothing;
    Ui request "session/new": NewSessionParams => NewSessionResult;
    Ui request "session/load": LoadSessionParams => SessionSetup;
    Ui request "session/resume": ResumeSessionParams => SessionSetup;
    Ui request "session/list": ListSessionsParams => ListSessionsResult;
    Ui request "session/close": CloseSessionParams => Nothing;
    Ui request "session/delete": DeleteSessionParams => Nothing;
    Ui request "session/prompt": PromptParams => PromptResult;
    Ui request "session/set_mode": SetModeParams => Nothing;
    Ui request "session/set_config_option": SetConfigOptionParams => SetConfigOptionResult;
    Ui request "_session/steering": SteeringParams => SteeringResult;
    Ui notification "session/cancel": CancelParams;
    Ui notification "$/cancel_request": CancelRequestParams;
    Runtime notification "session/update": SessionNotification;
    Runtime request "session/request_permission": RequestPermissionParams => RequestPermissionResult;
    Runtime request "elicitation/create": CreateElicitationParams => CreateElicitationResult;
    Runtime notification "elicitation/complete": CompleteElicitationParams;
    Runtime request "fs/read_text_file": ReadTextFileParams => ReadTextFileResult;
    Runtime request "fs/write_text_file": WriteTextFileParams => Nothing;
    Runtime request "terminal/create": CreateTerminalParams => CreateTerminalResult;
    Runtime request "terminal/output": TerminalOutputParams => TerminalOutputResult;
    Runtime request "terminal/wait_for_exit": WaitForExitParams => ExitStatus;
    Runtime request "terminal/kill": KillTerminalParams => Nothing;
    Runtime request "terminal/release": ReleaseTerminalParams => Nothing;
}

/// Error codes beside those of JSON-RPC.
pub mod code {
    /// A login is wanted first.
    pub const AUTH_REQUIRED: i64 = -32000;
    /// No such session, file or terminal.
    pub const NOT_FOUND: i64 = -32002;
    /// The request was taken back.
    pub const CANCELLED: i64 = -32800;

    /// Every code that a refusal of ours may have.
    #[cfg(feature = "schema")]
    pub(in super::super) const ALL: &[i64] = &[
        wire::jsonrpc::PARSE_ERROR,
        wire::jsonrpc::INVALID_REQUEST,
        wire::jsonrpc::METHOD_NOT_FOUND,
        wire::jsonrpc::INVALID_PARAMS,
        wire::jsonrpc::INTERNAL_ERROR,
        AUTH_REQUIRED,
        NOT_FOUND,
        CANCELLED,
    ];
}
