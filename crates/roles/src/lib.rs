//! What every wire implements and everybody else relies on: the two roles of a dialect, and how a dialect says what it carries.
//!
//! Nothing here knows a wire. A dialect implements [`RuntimeRole`] and [`UiRole`]; the hub drives them and performs their effects;
//! links move their lines. So who embeds the hub needs none of the dialects that it does not speak.

pub mod agents;
mod context;
pub mod dialect;
mod effect;
pub mod fidelity;
mod item;
mod line;
mod runtime_role;
mod tickets;
mod ui_role;

pub use context::{Cx, RuntimeCx, UiCx};
pub use dialect::Dialect;
pub use effect::{Drift, LinkEffect, Loss, Reason, RoleEffect, RuntimeEffect, TimerKey, UiEffect};
pub use item::Item;
pub use line::{Lane, Line};
pub use runtime_role::{Answers, FolderNames, GREET_WITHIN, Greeting, RuntimeRole, Settled, View};
pub use tickets::Tickets;
pub use ui_role::{HANDSHAKE_TIMEOUT, Hello, KNOCK_AFTER, Past, START_TIMEOUT, Seen, UiRole};
