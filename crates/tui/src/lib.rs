//! The terminal UI: a pure [`update`] and [`view`] over the domain's vocabulary, and a thin shell ([`run`]) that owns the terminal.
//!
//! It knows no dialect and no engine: it hears [`domain::port::News`] and says [`domain::command::Command`]s. Nothing but the shell
//! does I/O; nothing but `theme` knows colours; no text from outside reaches the terminal before `clean` has seen it.

pub mod ask;
pub mod cell;
pub mod clean;
pub mod commands;
pub mod complete;
pub mod composer;
pub mod diff;
mod dump;
pub mod fuzzy;
mod headless;
pub mod key;
pub mod keymap;
pub mod markdown;
pub mod model;
pub mod msg;
pub mod overlay;
mod paint;
pub mod picker;
pub mod picture;
pub mod row;
pub mod search;
pub mod settings;
mod shell;
mod svg;
pub mod theme;
pub mod thread;
pub mod transcript;
mod update;
mod view;
pub mod world;

pub use dump::dump;
pub use headless::Headless;
pub use model::{About, Model, Note};
pub use msg::{AgentLine, Begin, Errand, Fx, Msg, Outgoing};
pub use shell::{
    Decoded, Echo, Errands, ExitReason, Farewell, Keep, MAX_LINE, Options, Typed, ask_line, run,
};
pub use svg::svg;
pub use update::update;
pub use view::{Cache, view};
