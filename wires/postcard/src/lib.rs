//! postcard, the wire that docs/guides/a-dialect.md builds. Tests play it; the list of `dialects` does not have it.

mod runtime_role;
mod ui_role;
mod wire;

use roles::dialect::{Description, Dialect, Habits, Lanes};
use roles::fidelity::Sources;

/// The wire, for everybody else.
pub const DIALECT: Dialect = Dialect::new(&Description {
    name: "postcard",
    lanes: Lanes::One,
    lossless: false,
    drains: false,
    restart_code: None,
    recognises: |line| line.starts_with(r#"{"say":"#),
    greets: |_| false,
    sockets: None,
    habits: Habits::NONE,
    runtime_role: Some(|| Box::new(runtime_role::PostcardRuntime::default())),
    ui_role: || Box::new(ui_role::PostcardUi::default()),
    fidelity: Sources::new(include_str!("words.txt"), include_str!("verdicts.txt")),
    quirks: &[],
});
