//! Which wires there are, and which one is meant.

use roles::Dialect;
use std::fmt;

/// Writes the schema of a wire.
#[cfg(feature = "schema")]
pub type WriteSchema = fn() -> String;

/// The wires by the names of their crates: the one list in which a wire stands.
macro_rules! wires {
    (both roles: $($name:ident),*; UI role alone: $($driven:ident),*) => {
        /// Every wire of this build that has both roles.
        pub const ALL: &[Dialect] = &[$($name::DIALECT),*];

        /// Every wire whose runtimes are driven: those, and the wires of programs that nobody else can be.
        pub const DRIVEN: &[Dialect] = &[$($name::DIALECT,)* $($driven::DIALECT),*];

        /// The schema of each wire, as its types say it now. What the program prints is the committed file.
        #[cfg(feature = "schema")]
        pub const DERIVED: &[(Dialect, WriteSchema)] = &[$(($name::DIALECT, $name::schema::document)),*];
    };
}

wires!(both roles: native, codelia, nous, asst, lemon, openagent, acp; UI role alone: claude);

/// The wire of this name.
///
/// # Errors
/// When there is none; the error names those there are.
pub fn named(name: &str) -> Result<Dialect, NotADialect> {
    among(ALL, name)
}

/// The wire of this name, where its runtimes are to be driven.
///
/// # Errors
/// When there is none; the error names those there are.
pub fn driven(name: &str) -> Result<Dialect, NotADialect> {
    among(DRIVEN, name)
}

fn among(wires: &'static [Dialect], name: &str) -> Result<Dialect, NotADialect> {
    wires.iter().copied().find(|dialect| dialect.name() == name).ok_or(NotADialect(wires))
}

/// The wire that a client's first line belongs to, on wires where the client speaks first.
pub fn of_first_line(line: &str) -> Option<Dialect> {
    ALL.iter().copied().find(|dialect| (dialect.description().recognises)(line))
}

/// As which runtimes one speaks that begins with this line, where it is surely not of the wire that was meant.
pub fn stranger(meant: Dialect, line: &str) -> Option<String> {
    let greets = |dialect: &Dialect| (dialect.description().greets)(line);
    if greets(&meant) {
        return None;
    }
    let mut names: Vec<&str> =
        DRIVEN.iter().filter(|dialect| greets(dialect)).map(|dialect| dialect.name()).collect();
    let last = names.pop()?;
    let others = names.join(", ");
    let names = if others.is_empty() { last.to_owned() } else { format!("{others} or {last}") };
    Some(format!(
        "it speaks as a runtime of {names} does, and one of {meant} was meant; name that protocol, or the program that you meant"
    ))
}

/// No wire of this name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotADialect(&'static [Dialect]);

impl fmt::Display for NotADialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.0.iter().map(|dialect| dialect.name()).collect();
        write!(f, "there are: {}", names.join(", "))
    }
}

impl std::error::Error for NotADialect {}

#[cfg(test)]
mod tests {
    use super::*;
    use roles::Item;
    use roles::fidelity::{Carried, Verdict};

    #[test]
    fn every_item_has_its_row_and_words_exactly_where_it_is_not_exact() {
        for dialect in ALL {
            let faults = dialect.description().fidelity.faults();
            assert!(faults.is_empty(), "{dialect}: {faults:#?}");
        }
    }

    #[test]
    fn a_wire_that_is_driven_alone_claims_no_verdict_and_speaks_of_items_that_there_are() {
        for dialect in DRIVEN.iter().filter(|dialect| !dialect.is_served()) {
            assert!(dialect.fidelity().is_empty(), "{dialect}: nobody plays its runtime");
            let faults = dialect.description().fidelity.faults();
            let unknown: Vec<_> = faults.iter().filter(|fault| fault.ends_with("is no item")).collect();
            assert!(unknown.is_empty(), "{dialect}: {unknown:?}");
        }
    }

    #[test]
    fn every_pair_has_every_item_and_says_how_and_why() {
        for ui in ALL {
            for runtime in ALL {
                let carried = ui.carried_on(*runtime);
                let items: Vec<Item> = carried.iter().map(|carried| carried.item).collect();
                assert_eq!(items, Item::ALL, "{ui} on {runtime}");
                let unsaid = |carried: &&Carried| carried.verdict != Verdict::Exact && carried.why.is_empty();
                let unsaid: Vec<_> = carried.iter().filter(unsaid).collect();
                assert!(unsaid.is_empty(), "{ui} on {runtime}: {unsaid:?}");
            }
        }
    }

    #[test]
    fn names_read_back_and_are_told_apart() {
        for dialect in DRIVEN {
            assert_eq!(driven(dialect.name()), Ok(*dialect));
            assert_eq!(named(dialect.name()).is_ok(), dialect.is_served(), "{dialect}");
            assert_eq!(DRIVEN.iter().filter(|other| *other == dialect).count(), 1, "{dialect}");
        }
        assert_eq!(named("morse"), Err(NotADialect(ALL)));
    }

    #[test]
    fn a_program_of_another_wire_is_known_by_its_greeting_and_nothing_else_is() {
        let lemon = r#"{"type":"ready","cwd":"/w","model":{"provider":"p","id":"m"},"ui":true}"#;
        let asst = r#"{"type":"ready","timestamp":1,"version":"1.0.0"}"#;
        let refusal = r#"{"jsonrpc":"2.0","id":"knock","error":{"code":-32601,"message":"no"}}"#;
        let acp = r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1}}"#;
        let mcp = r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025","serverInfo":{}}}"#;
        for (line, meant, names) in [
            (lemon, asst::DIALECT, Some("lemon")),
            (lemon, lemon::DIALECT, None),
            (asst, lemon::DIALECT, Some("asst")),
            (asst, asst::DIALECT, None),
            (refusal, lemon::DIALECT, Some("codelia, openagent or acp")),
            (refusal, acp::DIALECT, None),
            (acp, openagent::DIALECT, Some("acp")),
            (acp, acp::DIALECT, None),
            (mcp, codelia::DIALECT, None),
            (r#"{"hello":{"protocol":1}}"#, claude::DIALECT, Some("native")),
            (r#"{"type":"ready"}"#, native::DIALECT, None),
            (r#"{"type":"event","event":{}}"#, native::DIALECT, None),
            ("Welcome to runtime 3000!", lemon::DIALECT, None),
            ("[1]", lemon::DIALECT, None),
        ] {
            let told = stranger(meant, line);
            let named = told.as_deref().and_then(|told| told.split(" of ").nth(1)?.split(" does").next());
            assert_eq!(named, names, "{line} where {meant} was meant");
        }
    }

    #[test]
    fn a_first_line_belongs_to_one_wire_at_most() {
        for (line, name) in [
            (r#"{"hello":{"protocol":1}}"#, Some("native")),
            (r#"{"jsonrpc":"2.0","id":"1","method":"initialize","params":{"client":{}}}"#, Some("codelia")),
            (
                r#"{"jsonrpc":"2.0","id":"1","method":"initialize","params":{"client_info":{}}}"#,
                Some("openagent"),
            ),
            (r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}"#, Some("openagent")),
            (r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}"#, Some("acp")),
            (
                r#"{"jsonrpc":"2.0","id":"a","method":"initialize","params":{"protocolVersion":1}}"#,
                Some("acp"),
            ),
            (r#"{"v":"1","type":"ping","payload":{}}"#, Some("nous")),
            (r#"{"type":"prompt","text":"hi"}"#, None),
            (r#"{"kind":"chat","id":"1"}"#, None),
            ("", None),
            ("GET / HTTP/1.1", None),
            ("[1]", None),
        ] {
            let said: Vec<&str> = ALL
                .iter()
                .filter(|dialect| (dialect.description().recognises)(line))
                .map(|dialect| dialect.name())
                .collect();
            assert_eq!(said, name.into_iter().collect::<Vec<_>>(), "{line}");
            assert_eq!(of_first_line(line).map(Dialect::name), name, "{line}");
        }
    }
}
