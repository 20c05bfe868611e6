//! The calls of a JSON-RPC wire, each named once: its method, the type of its parameters, the type of its result.

/// The table of a wire's calls: `SIDE request "method": Params => Result;` or `SIDE notification "method": Params;`. It gives each type
/// of parameters its method, and `describe`, which puts all of them into a schema.
#[macro_export]
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
