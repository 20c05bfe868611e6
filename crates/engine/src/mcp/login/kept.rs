//! The tokens of servers: one file in the data folder, for its owner alone, which is closed to every command in a leash and to the tools
//! that read files.
//!
//! A token stands there with the address of its server and is sent nowhere else. A file that cannot be understood gives no token and is
//! not written over. Reads and writes files: call where blocking is allowed.

use super::challenge::Challenge;
use super::documents::Registered;
use crate::mcp::entry::Entry;
use crate::private_file::{hold, write_private};
use reqwest::Url;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// The file, in the data folder.
const FILE: &str = "mcp-logins.json";
/// The form of the file. Another one is somebody else's to read.
const VERSION: u64 = 1;
/// Most servers whose tokens are kept.
const MAX_KEPT: usize = 256;
/// Largest file that is read.
const MAX_BYTES: u64 = 16 * 1024 * 1024;

/// A token and what renews it. It has no form for the eye.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::mcp) struct KeptLogin {
    pub(super) token: String,
    pub(super) renewal: Option<String>,
    /// Until when it counts, in seconds since 1970.
    pub(super) until: Option<u64>,
    pub(super) scope: Option<String>,
    /// What the token is for, as it was asked for.
    pub(super) resource: String,
    /// Who gave it out.
    pub(super) issuer: String,
    /// Where it is renewed.
    pub(super) token_address: String,
    pub(super) client: Registered,
    /// Whether it was given to a program without a person's yes, and can be had again that way.
    #[serde(default)]
    pub(super) alone: bool,
    /// What the server wanted beyond it when it was last used.
    #[serde(default)]
    pub(super) wanted: Option<Challenge>,
}

#[derive(Serialize, Deserialize)]
struct LoginFile {
    version: u64,
    logins: BTreeMap<String, KeptLogin>,
}

/// Where tokens are kept.
#[derive(Debug, Clone)]
pub struct Logins {
    file: PathBuf,
}

/// Which file it is: another one when a token was kept or forgotten since, also by another process.
pub(in crate::mcp) type LoginStamp = Option<(u64, SystemTime)>;

impl Logins {
    /// In the data folder, whether there are any or not.
    pub fn in_data(data: &Path) -> Logins {
        Logins { file: data.join(FILE) }
    }

    /// Keeps others from changing it for as long as the value lives.
    pub(super) fn hold(&self) -> io::Result<File> {
        hold(&self.file)
    }

    /// Which file is there now; `None` where there is none.
    pub(in crate::mcp) fn stamp(&self) -> LoginStamp {
        let meta = std::fs::metadata(&self.file).ok()?;
        Some((meta.len(), meta.modified().ok()?))
    }

    /// The token for a server, if there is one that can be understood.
    pub(in crate::mcp) fn of(&self, server: &str) -> Option<KeptLogin> {
        self.read().ok()?.remove(server)
    }

    /// Keeps a token in the place of another one for the same server.
    ///
    /// # Errors
    /// When the file cannot be understood or written; what was kept stays.
    pub(super) fn keep(&self, server: &str, login: KeptLogin) -> io::Result<()> {
        let _held = self.hold()?;
        self.keep_held(server, login)
    }

    /// As [`Logins::keep`], by who holds it.
    pub(super) fn keep_held(&self, server: &str, login: KeptLogin) -> io::Result<()> {
        let mut logins = self.read()?;
        if logins.len() >= MAX_KEPT && !logins.contains_key(server) {
            let why = format!(
                "logins of {MAX_KEPT} MCP servers are kept already; forget one with `parlor mcp logout NAME`"
            );
            return Err(io::Error::other(why));
        }
        logins.insert(server.to_owned(), login);
        self.write(logins)
    }

    /// Forgets the token for the server of an entry; whether there was one.
    ///
    /// # Errors
    /// When the file cannot be understood or written, or the entry's address names a variable that is not there: then nobody knows which it
    /// is.
    pub fn forget(&self, entry: &Entry) -> io::Result<bool> {
        match entry.address(false) {
            None => Ok(false),
            Some(Err(why)) => Err(io::Error::other(why)),
            Some(Ok(url)) => Url::parse(&url).map_or(Ok(false), |url| self.forget_at(&super::key(&url))),
        }
    }

    /// Whether a login of the person's would be sent to the server of an entry; `from_project` as it stands there.
    pub fn has(&self, entry: &Entry, from_project: bool) -> bool {
        entry.in_environment(from_project).is_ok_and(|way| {
            let url = |server: &Url| self.of(&super::key(server)).is_some();
            super::Login::of(&way, self).is_some_and(|login| url(login.server()))
        })
    }

    fn forget_at(&self, server: &str) -> io::Result<bool> {
        if !self.file.exists() {
            return Ok(false);
        }
        let _held = self.hold()?;
        let mut logins = self.read()?;
        let had = logins.remove(server).is_some();
        if had {
            self.write(logins)?;
        }
        Ok(had)
    }

    fn write(&self, logins: BTreeMap<String, KeptLogin>) -> io::Result<()> {
        let text = serde_json::to_string_pretty(&LoginFile { version: VERSION, logins })?;
        write_private(&self.file, &format!("{text}\n"))
    }

    fn read(&self) -> io::Result<BTreeMap<String, KeptLogin>> {
        let size = match std::fs::metadata(&self.file) {
            Ok(meta) => meta.len(),
            Err(why) if why.kind() == io::ErrorKind::NotFound => return Ok(BTreeMap::new()),
            Err(why) => return Err(why),
        };
        // What is wrong is not quoted: it may be a token.
        let wrong = || {
            let why = format!("{} cannot be understood; remove it, and log in again", self.file.display());
            io::Error::new(io::ErrorKind::InvalidData, why)
        };
        if size > MAX_BYTES {
            return Err(wrong());
        }
        let text = std::fs::read_to_string(&self.file)?;
        let file: LoginFile = serde_json::from_str(&text).map_err(|_| wrong())?;
        if file.version == VERSION { Ok(file.logins) } else { Err(wrong()) }
    }
}

#[cfg(test)]
mod tests {
    use super::super::documents::ClientProof;
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;

    #[test]
    fn a_server_whose_variables_are_not_set_has_no_login_to_forget() {
        let dir = tempfile::tempdir().unwrap();
        let logins = Logins::in_data(dir.path());
        let forget = |value: serde_json::Value| {
            logins.forget(&crate::mcp::entry::read("a", &value).unwrap()).map_err(|why| why.to_string())
        };
        let unset = "${PARLOR_NOT_SET_ANYWHERE}";
        assert_eq!(forget(serde_json::json!({"command": "x", "env": {"API_KEY": unset}})), Ok(false));
        let header = serde_json::json!({"url": "https://x/mcp", "headers": {"X-Key": unset}});
        assert_eq!(forget(header), Ok(false), "its address is known");
        let why = forget(serde_json::json!({"url": format!("https://x/{unset}/mcp")})).unwrap_err();
        assert!(why.contains("PARLOR_NOT_SET_ANYWHERE is not set"), "{why}");
    }

    #[test]
    fn a_token_is_kept_for_its_server_and_for_nobody_else() {
        let dir = tempfile::tempdir().unwrap();
        let logins = Logins::in_data(dir.path());
        let login = KeptLogin {
            token: "t".into(),
            renewal: None,
            until: Some(1),
            scope: None,
            resource: "https://a/mcp".into(),
            issuer: "https://a".into(),
            token_address: "https://a/token".into(),
            client: Registered { id: "c".into(), secret: None, method: ClientProof::None },
            alone: false,
            wanted: None,
        };
        assert!(logins.of("https://a/mcp").is_none() && !logins.forget_at("https://a/mcp").unwrap());
        logins.keep("https://a/mcp", login.clone()).unwrap();
        assert!(logins.of("https://a/mcp") == Some(login.clone()));
        assert!(logins.of("https://a/").is_none() && logins.of("https://b/mcp").is_none());
        let mode = std::fs::metadata(&logins.file).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        assert!(logins.forget_at("https://a/mcp").unwrap() && logins.of("https://a/mcp").is_none());
        // What is not ours is not written over, and not quoted.
        std::fs::write(&logins.file, "{\"token\": \"topsecret\"}").unwrap();
        let why = logins.keep("https://a/mcp", login).unwrap_err().to_string();
        assert!(why.contains("cannot be understood") && !why.contains("topsecret"), "{why}");
        assert!(logins.of("https://a/mcp").is_none());
        assert_eq!(std::fs::read_to_string(&logins.file).unwrap(), "{\"token\": \"topsecret\"}");
    }
}
