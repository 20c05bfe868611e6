//! A login at a server behind a URL (OAuth 2.1, as the protocol has it): the token that is sent to it, and how it is renewed.
//!
//! Invariants: a token goes to the server that it was given for and to nobody else, never where others could read it on the way; what
//! renews it goes to who gave it out. A server and its authorization server are not believed: see `address`. No login begins on its own:
//! the person begins it (`errand`).

mod address;
mod challenge;
mod documents;
mod errand;
mod grant;
mod kept;
mod listener;
mod web;

pub(super) use challenge::Challenge;
pub use errand::{BegunLogin, BrowserLogin, begin};
pub(super) use kept::LoginStamp;
pub use kept::Logins;

use super::entry::Way;
use documents::Granted;
use kept::KeptLogin;
use reqwest::Url;
use std::io;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};
use tokio::sync::Mutex;

/// A token that counts no longer than this is renewed before it is sent.
const SOON: u64 = 30;
/// The header by which an entry brings a token of its own.
const HEADER: &str = "authorization";

/// The login at one server. Clones share it.
#[derive(Clone)]
pub(super) struct Login(Arc<SharedLogin>);

struct SharedLogin {
    logins: Logins,
    server: Url,
    /// What is kept, as far as it was read. One at a time renews it.
    kept: Mutex<Option<KeptLogin>>,
}

/// As much of the words of others as may be shown, in one line.
fn shown(text: &str) -> String {
    domain::harmless::in_line(&super::client::short(text))
}

/// The address of a server by which its token is kept.
pub(super) fn key(server: &Url) -> String {
    let mut server = server.clone();
    server.set_fragment(None);
    server.to_string()
}

impl Login {
    /// The login at a server; `None` for one that has no use for it: a program, one whose entry brings a token of its own, or one to which
    /// nothing can be sent that others could not read.
    pub(super) fn of(way: &Way, logins: &Logins) -> Option<Login> {
        let Way::Http { url, headers, .. } = way else { return None };
        let server = Url::parse(url).ok().filter(address::is_safe)?;
        let is_plain = server.username().is_empty() && server.password().is_none();
        let brings = headers.keys().any(|name| name.eq_ignore_ascii_case(HEADER));
        (is_plain && !brings).then(|| Login::at(server, logins.clone()))
    }

    fn at(server: Url, logins: Logins) -> Login {
        Login(Arc::new(SharedLogin { logins, server, kept: Mutex::default() }))
    }

    fn server(&self) -> &Url {
        &self.0.server
    }

    /// The token to send, if there is one.
    pub(super) async fn token(&self) -> Option<String> {
        let kept = {
            let mut kept = self.0.kept.lock().await;
            if kept.is_none() {
                *kept = self.stored().await;
            }
            kept.clone()?
        };
        let is_old = kept.until.is_some_and(|until| until <= now().saturating_add(SOON));
        match is_old {
            true => self.renewed(Some(&kept.token)).await.or(Some(kept.token)),
            false => Some(kept.token),
        }
    }

    /// The token of a login that came after the one that was sent, if there is one.
    pub(super) async fn replaced(&self, sent: Option<&str>) -> Option<String> {
        let mut kept = self.0.kept.lock().await;
        let stored = self.stored().await.filter(|stored| Some(stored.token.as_str()) != sent)?;
        *kept = Some(stored.clone());
        Some(stored.token)
    }

    /// Another token in the place of one that the server does not take; `None` where there is no other.
    pub(super) async fn renewed(&self, refused: Option<&str>) -> Option<String> {
        let mut kept = self.0.kept.lock().await;
        // Another request was faster.
        if let Some(other) = kept.as_ref().filter(|kept| Some(kept.token.as_str()) != refused) {
            return Some(other.token.clone());
        }
        // Two programs must not use up what can be used once.
        let logins = self.0.logins.clone();
        let _held = blocking(move || logins.hold()).await.ok()?;
        let stored = self.stored().await?;
        if Some(stored.token.as_str()) != refused {
            *kept = Some(stored.clone());
            return Some(stored.token);
        }
        let renewed = self.renew(&stored).await;
        let login = match renewed {
            Ok(granted) => stored.renewed_by(granted),
            // What was refused once is not sent again.
            Err(NotRenewed::Refused) => KeptLogin { renewal: None, ..stored },
            Err(NotRenewed::NoWay) => return None,
        };
        let (logins, server, kept_login) = (self.0.logins.clone(), key(&self.0.server), login.clone());
        // Where it cannot be written, it counts as long as this program runs.
        let _ = blocking(move || logins.keep_held(&server, kept_login)).await;
        let token = (Some(login.token.as_str()) != refused).then(|| login.token.clone());
        *kept = Some(login);
        token
    }

    async fn renew(&self, kept: &KeptLogin) -> Result<Granted, NotRenewed> {
        let letter = match (&kept.renewal, kept.alone) {
            (_, true) => grant::alone(&kept.client, kept.scope.as_deref(), &kept.resource),
            (Some(renewal), false) => grant::renewal(&kept.client, renewal, &kept.resource),
            (None, false) => return Err(NotRenewed::NoWay),
        };
        let near = web::nearness(&self.0.server).await.map_err(|_| NotRenewed::NoWay)?;
        let url = address::checked(&kept.token_address, near).map_err(|_| NotRenewed::NoWay)?;
        let answer = web::ask(&url, &letter, near).await.map_err(|_| NotRenewed::NoWay)?;
        match answer.status {
            200 => Granted::read(&answer.said).map_err(|_| NotRenewed::Refused),
            400 | 401 | 403 => Err(NotRenewed::Refused),
            _ => Err(NotRenewed::NoWay),
        }
    }

    async fn stored(&self) -> Option<KeptLogin> {
        let (logins, server) = (self.0.logins.clone(), key(&self.0.server));
        tokio::task::spawn_blocking(move || logins.of(&server)).await.ok().flatten()
    }

    /// The server wants a token that may do more: kept for the next login.
    pub(super) async fn wants_more(&self, challenge: Challenge) {
        let (logins, server) = (self.0.logins.clone(), key(&self.0.server));
        let keep = move || {
            let held = logins.hold()?;
            let Some(kept) = logins.of(&server) else { return Ok(held) };
            logins.keep_held(&server, KeptLogin { wanted: Some(challenge), ..kept })?;
            Ok(held)
        };
        // Where it cannot be written, the next login asks for what it had.
        let _ = blocking(keep).await;
    }
}

/// Why a token was not renewed.
enum NotRenewed {
    /// Who gave it out does not want to.
    Refused,
    /// There is nothing to renew it with, or nobody could be asked.
    NoWay,
}

impl KeptLogin {
    fn renewed_by(self, granted: Granted) -> KeptLogin {
        KeptLogin {
            token: granted.token,
            renewal: granted.renewal.or(self.renewal),
            until: until(granted.lasts),
            scope: granted.scope.or(self.scope),
            ..self
        }
    }
}

async fn blocking<T: Send + 'static>(run: impl FnOnce() -> io::Result<T> + Send + 'static) -> io::Result<T> {
    tokio::task::spawn_blocking(run).await.map_err(io::Error::other)?
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
}

fn until(lasts: Option<u64>) -> Option<u64> {
    lasts.map(|lasts| now().saturating_add(lasts))
}
