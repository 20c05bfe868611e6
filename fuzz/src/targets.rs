//! Which targets there are.

use crate::{readers, role};
use dialects::Dialect;

/// What is done with one input.
pub(crate) type Target = Box<dyn Fn(&[u8]) + Send + Sync>;

/// The target that the environment names.
pub(crate) fn asked() -> Target {
    let name = std::env::var("PARLOR_FUZZ").unwrap_or_default();
    named(&name).unwrap_or_else(|| panic!("PARLOR_FUZZ={name} names no target; see cargo xtask fuzz"))
}

fn named(name: &str) -> Option<Target> {
    let dialect = |name: &str| -> Option<Dialect> { dialects::driven(name).ok() };
    Some(match name {
        "framer" => Box::new(readers::framer),
        "shell" => Box::new(readers::shell),
        "record" => Box::new(readers::record),
        "markdown" => Box::new(readers::markdown),
        _ => match name.split_once('-')? {
            ("runtime", wire) => {
                let dialect = dialect(wire)?;
                Box::new(move |bytes| role::runtime(dialect, bytes))
            }
            ("ui", wire) => {
                let dialect = dialect(wire)?;
                Box::new(move |bytes| role::ui(dialect, bytes))
            }
            _ => return None,
        },
    })
}
