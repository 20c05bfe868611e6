//! The terminal UI: a pure `update` and `view` over the domain's vocabulary, and a thin shell ([`run`]) that owns the terminal.
//!
//! It knows no dialect and no engine: it hears [`domain::port::News`] and says [`domain::command::Command`]s. Nothing but the shell
//! does I/O; nothing but `theme` knows colours; no text from outside reaches the terminal before `clean` has seen it.
//!
//! The modules stand in layers, lowest first. A module uses those of the layers above it in this list and those named before it in
//! its own; the two sides of a bar do not know each other (`cargo xtask layers` checks it).
//!
//! - text: key, fuzzy, theme, figures, clean, row
//! - look: look, picture, highlight, diff, markdown
//! - tables: settings, commands, keymap
//! - facts: about, thread, world, policy, cell
//! - forms: login
//! - messages: msg
//! - components: window, flow, toasts, wishes, user_command, complete, composer, preferences, search, transcript, picker, fleet, devices, overlay, ask
//! - model: model
//! - layout: layout
//! - both halves: update | view
//! - output: paint | dump | svg | plain
//! - shells: shell | headless
//!
//! A component owns a part of the screen: its fields are its own, its methods are all that can happen to it. `model` puts the
//! components together, `layout` tells what stands where, `update` decides what concerns several of them, `view` draws.

mod about;
mod ask;
mod cell;
mod clean;
mod commands;
mod complete;
mod composer;
mod devices;
mod diff;
mod dump;
mod figures;
mod fleet;
mod flow;
mod fuzzy;
mod headless;
mod highlight;
mod key;
mod keymap;
mod layout;
mod login;
mod look;
mod markdown;
mod model;
mod msg;
mod overlay;
mod paint;
mod picker;
mod picture;
mod plain;
mod policy;
mod preferences;
mod row;
mod search;
mod settings;
mod shell;
mod svg;
mod theme;
mod thread;
mod toasts;
mod transcript;
mod update;
mod user_command;
mod view;
mod window;
mod wishes;
mod world;

pub use about::{About, Note};
pub use commands::{COMMANDS, Restart};
pub use fleet::Rows;
pub use headless::Headless;
pub use keymap::{ACTIONS, Action, Keymap, can_press};
pub use login::TypedKey;
pub use msg::{
    AgentLine, Asking, Begin, DeviceLine, FleetAct, FleetNews, FleetWish, LoginNews, Outgoing, ProviderLine,
    ScreenExit,
};
pub use settings::{Setting, Settings, settings};
pub use shell::{
    Echo, ExitReason, Farewell, FleetPort, FoundTerminal, Keep, LoginPort, MAX_LINE, Options, ScreenExits,
    StopSignal, TypedLine, ask_line, notification, picture_file, run,
};
pub use svg::svg;
pub use theme::Theme;
