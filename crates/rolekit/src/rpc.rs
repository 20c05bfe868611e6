//! What is sent on a JSON-RPC wire. Whoever sends names no method: it follows from the parameters' type, so that no line can go out
//! under a name that the schema does not know.

use serde::Serialize;
use wire::WireId;
use wire::jsonrpc;

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
