//! The calls of a JSON-RPC wire, each named once: its method, the type of its parameters, the type of its result.
//!
//! Whoever sends names no method: it follows from the parameters' type, so that no line can go out under a name that the schema does
//! not know.

use serde::Serialize;
use wire::WireId;
use wire::jsonrpc;

/// Parameters of a method of a JSON-RPC wire.
pub trait Call {
    /// The method's name on the wire.
    const METHOD: &'static str;
}

/// The line of a request.
pub(crate) fn request<P: Call + Serialize>(id: &WireId, params: &P) -> String {
    jsonrpc::request(id, P::METHOD, params)
}

/// The line of a notification.
pub(crate) fn notification<P: Call + Serialize>(params: &P) -> String {
    jsonrpc::notification(P::METHOD, params)
}

/// The table of a wire's calls: `SIDE request "method": Params => Result;` or `SIDE notification "method": Params;`. It gives each type
/// of parameters its method, and `describe`, which puts all of them into a schema.
macro_rules! calls {
    ($($side:ident $kind:ident $method:literal: $params:ty $(=> $result:ty)?;)+) => {
        $(impl $crate::rpc::Call for $params {
            const METHOD: &'static str = $method;
        })+

        #[cfg(feature = "schema")]
        pub(super) fn describe(document: &mut $crate::schema::Document) {
            use $crate::schema::Side::{Runtime, Ui};
            $(
                document.$kind::<$params>($side);
                $(document.result::<$params, $result>($side.other());)?
            )+
        }
    };
}
pub(crate) use calls;
