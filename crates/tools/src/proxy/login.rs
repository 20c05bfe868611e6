//! What a command's programs say to its proxy, so that no other command of the session is served by it: a secret in the proxy's address.
//!
//! It lasts as long as the command. Invariant: it is shown nowhere but in the command's own variables.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hyper::header::{self, HeaderMap};
use std::fmt;
use std::hint::black_box;
use std::io;

/// The name before the secret; it says nothing.
const USER: &str = "parlor";
/// Random bytes of a secret.
const SECRET_BYTES: usize = 16;

/// The login of one proxy.
pub(super) struct Login {
    /// `name:secret`, as in an address.
    words: String,
    /// As it must stand in a request.
    header: String,
}

impl Login {
    /// A new one, which nobody can guess.
    pub(super) fn new() -> io::Result<Login> {
        let mut secret = [0; SECRET_BYTES];
        let random = rustls::crypto::ring::default_provider().secure_random;
        random.fill(&mut secret).map_err(|_| io::Error::other("this system gives no random bytes"))?;
        let words = format!("{USER}:{:032x}", u128::from_be_bytes(secret));
        let header = format!("Basic {}", STANDARD.encode(&words));
        Ok(Login { words, header })
    }

    /// As it stands in an address, before the `@`.
    pub(super) fn words(&self) -> &str {
        &self.words
    }

    /// What of it nobody else knows.
    pub(super) fn secret(&self) -> &str {
        self.words.split_once(':').map_or("", |(_, secret)| secret)
    }

    /// Whether a request brings it, once.
    pub(super) fn is_in(&self, headers: &HeaderMap) -> bool {
        let mut said = headers.get_all(header::PROXY_AUTHORIZATION).iter();
        match (said.next(), said.next()) {
            (Some(said), None) => is_same(said.as_bytes(), self.header.as_bytes()),
            _ => false,
        }
    }
}

impl fmt::Debug for Login {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Login")
    }
}

/// Takes as long for every text of the same length, so that it cannot be guessed piece by piece.
fn is_same(one: &[u8], other: &[u8]) -> bool {
    one.len() == other.len()
        && one.iter().zip(other).fold(0, |differs, (one, other)| black_box(differs | (one ^ other))) == 0
}
