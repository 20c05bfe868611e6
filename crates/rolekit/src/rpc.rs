//! What is sent on a JSON-RPC wire. Whoever sends names no method: it follows from the parameters' type, so that no line can go out
//! under a name that the schema does not know.

use roles::{Drift, UiCx};
use serde::Serialize;
use wire::WireId;
use wire::jsonrpc::{self, Invalid, RpcError};

/// Parameters of a method of a JSON-RPC wire.
pub trait Call {
    /// The method's name on the wire.
    const METHOD: &'static str;
}

/// The line of a request.
pub fn request<P: Call + Serialize>(id: &WireId, params: &P) -> String {
    jsonrpc::request(id, P::METHOD, params)
}

/// The line of a notification.
pub fn notification<P: Call + Serialize>(params: &P) -> String {
    jsonrpc::notification(P::METHOD, params)
}

/// What a UI says to a line of a runtime that it cannot use: it is kept as odd, and a request whose id is none is answered all the same.
pub fn unusable(cx: &mut UiCx<'_>, why: &Invalid, text: &str) {
    cx.drift(Drift::new("line", why.to_string(), text));
    if why.is_waited_for() {
        cx.send(jsonrpc::error(None, &RpcError::new(jsonrpc::INVALID_REQUEST, why.to_string())));
    }
}
