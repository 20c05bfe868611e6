//! The page in a browser: who may connect, what a browser is told, and the way from a page to the process that has its session open.
//!
//! It hosts no session. It is a guard and a relay: devices show who they are ([`devices`], `proof`), native lines go between a page's
//! WebSocket and the process behind it as far as the device's role allows (`relay`), and the fleet is told as rows (`fleet`). Sessions are
//! known only through [`Rooms`]. A window of the desktop shell is told the same without a device (`window`).
//!
//! Invariants: no route answers before the guard; no cookie, no secret in an address, no header for other origins; nobody becomes a device
//! whom the person did not allow; what came from a command of an agent is refused whatever key it shows; a device that was revoked loses
//! its connections; everything is bounded.

mod assets;
mod caller;
mod converse;
pub mod devices;
mod enrol;
mod fleet;
mod guard;
mod holder;
mod offers;
mod pace;
mod proof;
mod relay;
mod rooms;
mod routes;
mod server;
mod shared;
mod tls;
mod visits;
mod window;

pub use devices::{Device, Devices, Role, Shelf, Signs, Stay};
pub use offers::{GOOD_FOR as OFFER_GOOD_FOR, Pairing, Standing};
pub use proof::{Identity, enrol_text, server_text, signed_text};
pub use rooms::{Act, NoRoom, PageQuery, PageTarget, Rooms, Rows};
pub use routes::ROUTES;
pub use server::{MAX_SOCKETS, NotServed, Offered, Parts, Server};
pub use shared::{ConnectionOwner, Log, Look, Options};
pub use tls::Tls;
pub use window::{LookAtWindow, Window};

/// Codes with which a page's socket is closed.
pub mod code {
    /// It is no device of ours.
    pub const DEVICE: u16 = 4401;
    /// The session cannot be had.
    pub const SESSION: u16 = 4404;
    /// The device was revoked meanwhile.
    pub const REVOKED: u16 = 4410;
    /// The device has another role now: it may come again.
    pub const ROLE: u16 = 4411;
    /// The process behind it went away: it may come again.
    pub const GONE: u16 = 4412;
}
