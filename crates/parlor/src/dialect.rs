//! Which wires there are, and the roles that speak them.

use dialects::role::{RuntimeRole, UiRole};

/// A wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// Our own, lossless.
    Native,
}

impl Dialect {
    pub(crate) const ALL: &[Dialect] = &[Dialect::Native];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Dialect::Native => "native",
        }
    }

    /// We play the runtime.
    pub(crate) fn runtime_role(self) -> Box<dyn RuntimeRole> {
        match self {
            Dialect::Native => Box::new(dialects::native::NativeRuntime::default()),
        }
    }

    /// We play the UI.
    pub(crate) fn ui_role(self) -> Box<dyn UiRole> {
        match self {
            Dialect::Native => Box::new(dialects::native::NativeUi::default()),
        }
    }

    /// Whether the wire carries our events as they are.
    pub(crate) fn is_lossless(self) -> bool {
        self == Dialect::Native
    }
}

/// Reads a name as typed.
pub(crate) fn parse(text: &str) -> Result<Dialect, String> {
    let names: Vec<&str> = Dialect::ALL.iter().map(|dialect| dialect.name()).collect();
    let found = Dialect::ALL.iter().find(|dialect| dialect.name() == text);
    found.copied().ok_or_else(|| format!("there are: {}", names.join(", ")))
}
