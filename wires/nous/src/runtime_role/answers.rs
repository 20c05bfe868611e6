//! Lines that answer commands, and refusals in the words of this wire.

use crate::VERSION;
use crate::wire::{ErrorBody, Response};
use domain::command::{Refusal, RefusalKind};
use serde_json::{Map, Value, json};
use wire::encode;

/// A command was taken.
pub(super) fn ok(id: &str, kind: &str, payload: Value) -> String {
    line(&Response {
        v: VERSION.to_owned(),
        id: id.to_owned(),
        kind: kind.to_owned(),
        payload,
        ok: true,
        error: None,
    })
}

/// A command was not taken.
pub(super) fn error(id: &str, error: ErrorBody) -> String {
    line(&Response {
        v: VERSION.to_owned(),
        id: id.to_owned(),
        kind: "error".to_owned(),
        payload: Value::Object(Map::new()),
        ok: false,
        error: Some(error),
    })
}

/// An error without a cause.
pub(super) fn why(code: &str, message: impl Into<String>) -> ErrorBody {
    ErrorBody { code: code.to_owned(), message: message.into(), cause: None }
}

/// A refusal of the hub; `name` is what the command named, for the refusals that repeat it.
pub(super) fn refused(refusal: &Refusal, name: &str) -> ErrorBody {
    let rejected = |message: String| why("command_rejected", message);
    let caused = |code: &str, message: &str| ErrorBody {
        code: code.to_owned(),
        message: message.to_owned(),
        cause: Some(refusal.to_string()),
    };
    match &refusal.kind {
        RefusalKind::Busy => rejected("run_in_progress".to_owned()),
        RefusalKind::NoRun | RefusalKind::RunUnknown => rejected("no_active_run".to_owned()),
        RefusalKind::SessionUnknown => why("session_not_found", refusal.message.clone()),
        RefusalKind::EntryUnknown => rejected("leaf_not_found".to_owned()),
        RefusalKind::ToolUnknown => rejected(format!("tool_not_registered: {name}")),
        RefusalKind::ExtensionUnknown => rejected(format!("extension_command_not_found: {name}")),
        RefusalKind::NothingToCompact => rejected("nothing_to_compact".to_owned()),
        RefusalKind::Invalid => why("invalid_payload", refusal.to_string()),
        RefusalKind::Storage => caused("session_error", "failed to persist session records"),
        RefusalKind::TimedOut => why("timeout", refusal.to_string()),
        RefusalKind::Lost => caused("provider_error", "provider request failed"),
        RefusalKind::Internal => caused("internal_error", "internal error"),
        RefusalKind::Remote { code } => {
            ErrorBody { cause: Some(code.clone()), ..rejected(refusal.to_string()) }
        }
        RefusalKind::AskUnknown
        | RefusalKind::AskOver
        | RefusalKind::QueuedUnknown
        | RefusalKind::ModelUnknown
        | RefusalKind::NotAllowed
        | RefusalKind::Unsupported
        | RefusalKind::TooMany => rejected(refusal.to_string()),
    }
}

/// An answer that cannot be written becomes a refusal, so that nobody waits for it in vain.
fn line(response: &Response) -> String {
    encode(response).unwrap_or_else(|cause| {
        let error =
            json!({ "code": "internal_error", "message": "internal error", "cause": cause.to_string() });
        let (v, id) = (VERSION, &response.id);
        json!({ "v": v, "id": id, "type": "error", "payload": {}, "ok": false, "error": error }).to_string()
    })
}
