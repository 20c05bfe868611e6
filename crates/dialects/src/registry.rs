//! Which wires this build speaks, by name.

use roles::fidelity::{Quirk, Row};
use roles::{RuntimeRole, UiRole};
use std::fmt;
use std::str::FromStr;

/// A wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Dialect {
    /// Our own, lossless.
    #[cfg(feature = "native")]
    Native,
    /// codelia's.
    #[cfg(feature = "codelia")]
    Codelia,
    /// nous's, over two sockets.
    #[cfg(feature = "nous")]
    Nous,
    /// asst's.
    #[cfg(feature = "asst")]
    Asst,
    /// lemon's.
    #[cfg(feature = "lemon")]
    Lemon,
    /// openagent's, over a socket.
    #[cfg(feature = "openagent")]
    Openagent,
}

impl Dialect {
    /// Every wire of this build.
    pub const ALL: &[Dialect] = &[
        #[cfg(feature = "native")]
        Dialect::Native,
        #[cfg(feature = "codelia")]
        Dialect::Codelia,
        #[cfg(feature = "nous")]
        Dialect::Nous,
        #[cfg(feature = "asst")]
        Dialect::Asst,
        #[cfg(feature = "lemon")]
        Dialect::Lemon,
        #[cfg(feature = "openagent")]
        Dialect::Openagent,
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            #[cfg(feature = "native")]
            Dialect::Native => "native",
            #[cfg(feature = "codelia")]
            Dialect::Codelia => "codelia",
            #[cfg(feature = "nous")]
            Dialect::Nous => "nous",
            #[cfg(feature = "asst")]
            Dialect::Asst => "asst",
            #[cfg(feature = "lemon")]
            Dialect::Lemon => crate::lemon::NAME,
            #[cfg(feature = "openagent")]
            Dialect::Openagent => crate::openagent::NAME,
        }
    }

    /// We play the runtime.
    pub fn runtime_role(self) -> Box<dyn RuntimeRole> {
        match self {
            #[cfg(feature = "native")]
            Dialect::Native => Box::new(crate::native::NativeRuntime::default()),
            #[cfg(feature = "codelia")]
            Dialect::Codelia => Box::new(crate::codelia::CodeliaRuntime::default()),
            #[cfg(feature = "nous")]
            Dialect::Nous => Box::new(crate::nous::NousRuntime::default()),
            #[cfg(feature = "asst")]
            Dialect::Asst => Box::new(crate::asst::AsstRuntime::default()),
            #[cfg(feature = "lemon")]
            Dialect::Lemon => Box::new(crate::lemon::LemonRuntime::new()),
            #[cfg(feature = "openagent")]
            Dialect::Openagent => Box::new(crate::openagent::OpenagentRuntime::new()),
        }
    }

    /// We play the UI.
    pub fn ui_role(self) -> Box<dyn UiRole> {
        match self {
            #[cfg(feature = "native")]
            Dialect::Native => Box::new(crate::native::NativeUi::default()),
            #[cfg(feature = "codelia")]
            Dialect::Codelia => Box::new(crate::codelia::CodeliaUi::default()),
            #[cfg(feature = "nous")]
            Dialect::Nous => Box::new(crate::nous::NousUi::default()),
            #[cfg(feature = "asst")]
            Dialect::Asst => Box::new(crate::asst::AsstUi::default()),
            #[cfg(feature = "lemon")]
            Dialect::Lemon => Box::new(crate::lemon::LemonUi::new()),
            #[cfg(feature = "openagent")]
            Dialect::Openagent => Box::new(crate::openagent::OpenagentUi::new()),
        }
    }

    /// Whether the wire carries our events as they are, so that a session is mirrored instead of canonised.
    pub fn is_lossless(self) -> bool {
        self.name() == "native"
    }

    /// Whether events go over a second socket, and every command may come over a connection of its own.
    pub fn has_event_lane(self) -> bool {
        self.name() == "nous"
    }

    /// The wire that a client's first line belongs to, on wires where the client speaks first.
    pub fn of_first_line(line: &str) -> Option<Dialect> {
        let first: serde_json::Value = serde_json::from_str(line).ok()?;
        let said = |key: &str| first.get(key).is_some();
        let params = first.get("params");
        let has = |key: &str| params.is_some_and(|params| params.get(key).is_some());
        let name = if said("hello") {
            "native"
        } else if first.get("jsonrpc").is_some() && first.get("method").is_some() {
            // Both begin with `initialize`; they name the client differently.
            let openagent = has("client_info")
                || has("terminal_size")
                || first.get("id").is_some_and(serde_json::Value::is_number);
            if openagent { "openagent" } else { "codelia" }
        } else if said("type") && (said("v") || said("payload") || said("id")) {
            "nous"
        } else {
            return None;
        };
        name.parse().ok()
    }

    /// How it carries each item of the vocabulary.
    pub fn fidelity(self) -> &'static [Row] {
        match self {
            #[cfg(feature = "native")]
            Dialect::Native => &crate::native::fidelity::TABLE,
            #[cfg(feature = "codelia")]
            Dialect::Codelia => crate::codelia::fidelity::TABLE,
            #[cfg(feature = "nous")]
            Dialect::Nous => crate::nous::fidelity::TABLE,
            #[cfg(feature = "asst")]
            Dialect::Asst => crate::asst::fidelity::TABLE,
            #[cfg(feature = "lemon")]
            Dialect::Lemon => crate::lemon::fidelity::TABLE,
            #[cfg(feature = "openagent")]
            Dialect::Openagent => crate::openagent::fidelity::TABLE,
        }
    }

    /// Where existing programs leave their own document, and what we do.
    pub fn quirks(self) -> &'static [Quirk] {
        match self {
            #[cfg(feature = "native")]
            Dialect::Native => &[],
            #[cfg(feature = "codelia")]
            Dialect::Codelia => crate::codelia::quirks::QUIRKS,
            #[cfg(feature = "nous")]
            Dialect::Nous => crate::nous::quirks::QUIRKS,
            #[cfg(feature = "asst")]
            Dialect::Asst => crate::asst::quirks::QUIRKS,
            #[cfg(feature = "lemon")]
            Dialect::Lemon => crate::lemon::quirks::QUIRKS,
            #[cfg(feature = "openagent")]
            Dialect::Openagent => crate::openagent::quirks::QUIRKS,
        }
    }

    /// Every message of the wire: a JSON Schema, or the requirement tables where its document speaks of such.
    pub fn schema(self) -> serde_json::Value {
        match self {
            #[cfg(feature = "native")]
            Dialect::Native => crate::native::schema::schema(),
            #[cfg(feature = "codelia")]
            Dialect::Codelia => crate::codelia::schema::schema(),
            #[cfg(feature = "nous")]
            Dialect::Nous => crate::nous::schema(),
            #[cfg(feature = "asst")]
            Dialect::Asst => crate::asst::schema(),
            #[cfg(feature = "lemon")]
            Dialect::Lemon => crate::lemon::schema::schema(),
            #[cfg(feature = "openagent")]
            Dialect::Openagent => crate::openagent::schema::schema(),
        }
    }
}

impl fmt::Display for Dialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// No wire of this name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotADialect;

impl fmt::Display for NotADialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = Dialect::ALL.iter().map(|dialect| dialect.name()).collect();
        write!(f, "there are: {}", names.join(", "))
    }
}

impl std::error::Error for NotADialect {}

impl FromStr for Dialect {
    type Err = NotADialect;
    fn from_str(text: &str) -> Result<Dialect, NotADialect> {
        Dialect::ALL.iter().copied().find(|dialect| dialect.name() == text).ok_or(NotADialect)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_table_has_one_row_for_every_item() {
        for dialect in Dialect::ALL {
            assert_eq!(roles::fidelity::holes(dialect.fidelity()), [], "{dialect}");
        }
    }

    #[test]
    fn names_read_back() {
        for dialect in Dialect::ALL {
            assert_eq!(dialect.name().parse(), Ok(*dialect));
        }
    }
}
