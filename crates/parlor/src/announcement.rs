//! How a serving process makes itself known: a small file in the runtime directory, a native socket to attach by, and a socket that
//! tells everyone who connects what is open and who is there.
//!
//! Invariants: the directory is for its owner alone; everything is removed when the process ends in order; what a killed process
//! leaves is found by its process id and removed by whoever looks next. A process that cannot announce
//! itself is only not found.

use crate::entrance::Refusals;
use crate::host::Host;
use crate::{exit, places};
use anyhow::Context;
use hub::core::LiveSession;
use hub::{Guest, Hub};
use link::unix::Listener;
use link::{Limits, LinkIo};
use roles::Lane;
use serde_json::{Value, json};
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::task::JoinSet;

/// Most connections at once to the socket that tells who is there.
const MAX_VISITORS: usize = 64;
/// How long somebody who asks may take to read the answer.
const TELL_WITHIN: Duration = Duration::from_secs(2);

/// What a serving process says about itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Notice {
    pub(crate) pid: u32,
    /// Milliseconds since 1970.
    pub(crate) since: u64,
    pub(crate) cwd: String,
    /// What it serves, in words.
    pub(crate) serving: String,
}

impl Notice {
    /// Reads a notice file; nothing if it is gone or half written.
    pub(crate) fn read(path: &Path) -> Option<Notice> {
        let told: Value = serde_json::from_str(&std::fs::read_to_string(path).ok()?).ok()?;
        let text = |key: &str| told.get(key).and_then(Value::as_str).map(str::to_owned);
        Some(Notice {
            pid: u32::try_from(told.get("pid")?.as_u64()?).ok()?,
            since: told.get("since")?.as_u64()?,
            cwd: text("cwd")?,
            serving: text("serving")?,
        })
    }

    /// The notices that lie in a directory, so many at most.
    pub(crate) fn all(directory: &Path, most: usize) -> Vec<Notice> {
        let files = std::fs::read_dir(directory).into_iter().flatten().flatten();
        let notices =
            files.map(|file| file.path()).filter(|path| path.extension().is_some_and(|is| is == "json"));
        notices.take(most).filter_map(|path| Notice::read(&path)).collect()
    }

    /// As it stands in the file, and in `ps --json`.
    pub(crate) fn to_json(&self) -> Value {
        json!({"pid": self.pid, "since": self.since, "cwd": self.cwd, "serving": self.serving})
    }

    /// Whether a process of this number exists, whoever owns it.
    pub(crate) fn is_alive(&self) -> bool {
        let pid = i32::try_from(self.pid).ok().and_then(rustix::process::Pid::from_raw);
        pid.is_some_and(|pid| rustix::process::test_kill_process(pid) != Err(rustix::io::Errno::SRCH))
    }

    fn file(&self, directory: &Path) -> PathBuf {
        directory.join(format!("{}.json", self.pid))
    }

    /// The socket to attach by.
    pub(crate) fn native(&self, directory: &Path) -> PathBuf {
        Notice::socket_of(self.pid, directory)
    }

    /// The notice of the process with this number, if it left one.
    pub(crate) fn of(pid: u32, directory: &Path) -> Option<Notice> {
        Notice::read(&directory.join(format!("{pid}.json")))
    }

    /// The socket to attach by of the process with this number.
    pub(crate) fn socket_of(pid: u32, directory: &Path) -> PathBuf {
        directory.join(format!("{pid}.sock"))
    }

    /// The socket that tells who is there.
    pub(crate) fn who(&self, directory: &Path) -> PathBuf {
        directory.join(format!("{}.who", self.pid))
    }

    /// Removes what the process left.
    pub(crate) fn clear(&self, directory: &Path) {
        for path in [self.file(directory), self.native(directory), self.who(directory)] {
            let _ = std::fs::remove_file(path);
        }
    }
}

/// By what this process is found. Dropping it removes everything.
pub(crate) struct Announcement {
    notice: Notice,
    directory: PathBuf,
    _attending: JoinSet<()>,
}

impl Announcement {
    /// Announces this process; a failure is said on stderr.
    pub(crate) async fn open(hub: &Hub, host: &Host, cwd: &Path, serving: String) -> Option<Announcement> {
        let opened = Announcement::try_open(hub, host, cwd, serving).await;
        opened.inspect_err(|why| exit::complain(&format!("`parlor ps` will not show this: {why:#}"))).ok()
    }

    /// Announces a process whose screen belongs to its UI: nothing is said.
    pub(crate) async fn quietly(hub: &Hub, cwd: &Path, serving: &str) -> Option<Announcement> {
        Announcement::try_open(
            hub,
            &Host::in_front(cwd, Vec::new(), Vec::new(), None),
            cwd,
            serving.to_owned(),
        )
        .await
        .ok()
    }

    /// Announces this process.
    ///
    /// # Errors
    /// When it cannot be found by anybody.
    pub(crate) async fn try_open(
        hub: &Hub,
        host: &Host,
        cwd: &Path,
        serving: String,
    ) -> anyhow::Result<Announcement> {
        let directory = places::runtime()?;
        std::fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&directory)
            .with_context(|| format!("cannot make {}", directory.display()))?;
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        let notice = Notice {
            pid: std::process::id(),
            since: u64::try_from(since.as_millis()).unwrap_or_default(),
            cwd: domain::path_text::write(cwd),
            serving,
        };
        notice.clear(&directory);
        let native = Listener::bind(&notice.native(&directory)).await?;
        let who = Listener::bind(&notice.who(&directory)).await?;
        let mut file = std::fs::OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(notice.file(&directory))?;
        file.write_all(notice.to_json().to_string().as_bytes())?;
        let mut attending = JoinSet::new();
        let (guests, at) = (host.clone(), hub.clone());
        attending.spawn(attend(native, move |link| {
            let guest = Guest { start: None, ..guests.guest(dialects::native::DIALECT) };
            let hub = at.clone();
            async move {
                let _ = hub.serve(guest, link).await;
            }
        }));
        let at = hub.clone();
        attending.spawn(attend(who, move |link| {
            let hub = at.clone();
            async move {
                let sessions = hub.present().await.unwrap_or_default();
                let told: Vec<Value> = sessions.iter().map(told).collect();
                let _ = link.outgoing.try_send(Lane::MAIN, Value::from(told).to_string());
                link.shutdown(TELL_WITHIN).await;
            }
        }));
        Ok(Announcement { notice, directory, _attending: attending })
    }
}

impl Drop for Announcement {
    fn drop(&mut self) {
        self.notice.clear(&self.directory);
    }
}

/// Lets visitors in, each with its own task.
async fn attend<V>(door: Listener, visit: impl Fn(LinkIo) -> V)
where
    V: Future<Output = ()> + Send + 'static,
{
    let mut visitors = JoinSet::new();
    let mut refusals = Refusals::default();
    while let Ok(accepted) = door.accept().await {
        let Ok(accepted) = refusals.admit(link::entry::Door::Socket, accepted) else { continue };
        while visitors.try_join_next().is_some() {}
        if visitors.len() < MAX_VISITORS {
            visitors.spawn(visit(accepted.into_link(Lane::MAIN, Limits::default())));
        }
    }
}

fn told(session: &LiveSession) -> Value {
    // A UI on a link is called by its wire and a number; one of this process only by what it is.
    let wire = |name: &str| name.split_once('#').map(|(wire, _)| wire.to_owned());
    let uis: Vec<Value> = session
        .uis
        .iter()
        .map(|ui| {
            let wire = wire(&ui.name);
            let mut told = json!({"name": ui.name, "dialect": wire});
            if let Some(role) = ui.standing {
                told["role"] = role.name().into();
            }
            told
        })
        .collect();
    json!({
        "id": session.id.as_str(),
        "title": session.title,
        "cwd": session.cwd,
        "running": session.running,
        "asks": session.asks,
        "uis": uis,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::ids::SessionId;
    use hub::core::{AttachedUi, Standing};

    #[test]
    fn a_role_is_told_where_it_is_known() {
        let ui = |name: &str, standing| AttachedUi { name: name.to_owned(), standing };
        let uis = vec![
            ui("native#1", None),
            ui("native#2", Some(Standing::Observer)),
            ui("codelia#3", Some(Standing::Controller)),
            ui("terminal", Some(Standing::Controller)),
        ];
        let id = SessionId::from_number(7);
        let session =
            LiveSession { id, title: String::new(), cwd: "/w".into(), running: false, asks: 0, uis };
        let told = told(&session);
        let roles: Vec<_> =
            told["uis"].as_array().unwrap().iter().map(|ui| ui.get("role").cloned()).collect();
        assert_eq!(
            roles,
            [None, Some("observer".into()), Some("controller".into()), Some("controller".into())]
        );
        assert!(
            crate::ps::line(&told)
                .ends_with("native#1, native#2 (observer), codelia#3 (controller), terminal (controller)")
        );
    }

    #[test]
    fn a_notice_reads_back_and_a_dead_one_is_cleared() {
        let dir = tempfile::tempdir().unwrap();
        // No process has this id: it is past the largest that Linux gives out.
        let notice = Notice { pid: 4_194_305, since: 7, cwd: "/w".into(), serving: "codelia".into() };
        std::fs::write(notice.file(dir.path()), notice.to_json().to_string()).unwrap();
        assert_eq!(Notice::read(&notice.file(dir.path())), Some(notice.clone()));
        assert!(!notice.is_alive());
        let own = Notice { pid: std::process::id(), ..notice.clone() };
        assert!(own.is_alive());
        notice.clear(dir.path());
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
    }
}
