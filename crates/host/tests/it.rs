//! The host from outside: the contract of who has a session, for every directory there is.

#![expect(clippy::unwrap_used, reason = "a test may fall over; its helping functions too")]

mod directory;
