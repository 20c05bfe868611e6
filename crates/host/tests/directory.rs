//! What every directory of processes does, and that whoever asks who has a session needs nothing but the contract.

use domain::ids::SessionId;
use host::directory::{Directory, Files, FoundProcess, Notice, SocketPurpose};
use host::processes;
use link::unix::Listener;
use link::{Lane, Limits};
use serde_json::json;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;

/// No process has this number: it is past the largest that Linux gives out.
const DEAD: u32 = 4_194_305;
/// How long a visitor may take to read what it is told.
const TOLD_WITHIN: Duration = Duration::from_secs(10);
/// More than any test announces.
const ALL: usize = 100;

/// A directory without notices on a disk, as one that several machines share would be.
struct Table {
    notices: Mutex<BTreeMap<u32, Notice>>,
    sockets: PathBuf,
}

impl Directory for Table {
    fn prepare(&self, pid: u32) -> anyhow::Result<()> {
        self.withdraw(pid);
        Ok(())
    }

    fn announce(&self, notice: &Notice) -> anyhow::Result<()> {
        let mut notices = self.notices.lock().unwrap();
        anyhow::ensure!(!notices.contains_key(&notice.pid), "it is announced already");
        notices.insert(notice.pid, notice.clone());
        Ok(())
    }

    fn withdraw(&self, pid: u32) {
        self.notices.lock().unwrap().remove(&pid);
        for door in [SocketPurpose::Ui, SocketPurpose::Who] {
            let _ = std::fs::remove_file(self.socket(pid, door));
        }
    }

    fn find(&self, pid: u32) -> Option<Notice> {
        self.notices.lock().unwrap().get(&pid).cloned()
    }

    fn look(&self, most: usize) -> anyhow::Result<Vec<FoundProcess>> {
        let mut notices = self.notices.lock().unwrap();
        let seen: Vec<FoundProcess> = notices
            .values()
            .take(most)
            .map(|notice| FoundProcess { notice: notice.clone(), is_alive: notice.pid != DEAD })
            .collect();
        notices.remove(&DEAD);
        Ok(seen)
    }

    fn socket(&self, pid: u32, door: SocketPurpose) -> PathBuf {
        self.sockets.join(format!("{pid}-{door:?}"))
    }
}

/// Every directory there is, each in a folder of its own.
fn each(folder: &Path) -> [Box<dyn Directory>; 2] {
    let sockets = folder.join("table");
    std::fs::create_dir(&sockets).unwrap();
    [
        Box::new(Files::at(folder.join("files/not/made/yet"))),
        Box::new(Table { notices: Mutex::default(), sockets }),
    ]
}

fn notice(pid: u32) -> Notice {
    Notice { pid, since: 7, cwd: "/w".to_owned(), serving: "codelia".to_owned() }
}

fn pids(seen: Vec<FoundProcess>) -> Vec<(u32, bool)> {
    let mut pids: Vec<(u32, bool)> = seen.iter().map(|seen| (seen.notice.pid, seen.is_alive)).collect();
    pids.sort_unstable();
    pids
}

#[test]
fn what_is_announced_is_found_and_seen_until_it_is_withdrawn() {
    let place = tempfile::tempdir().unwrap();
    for directory in each(place.path()) {
        let own = std::process::id();
        assert_eq!(pids(directory.look(ALL).unwrap()), [], "nobody ever was there");
        directory.prepare(own).unwrap();
        assert_eq!(directory.find(own), None, "to prepare is not to be found");
        directory.announce(&notice(own)).unwrap();
        assert_eq!(directory.find(own), Some(notice(own)));
        assert_eq!(pids(directory.look(ALL).unwrap()), [(own, true)]);
        assert_eq!(pids(directory.look(0).unwrap()), [], "so many at most");
        assert!(directory.announce(&notice(own)).is_err(), "two of one number are one too many");
        // What one of this number left is forgotten by the next.
        directory.prepare(own).unwrap();
        let next = Notice { since: 8, ..notice(own) };
        directory.announce(&next).unwrap();
        assert_eq!(directory.find(own), Some(next));
        directory.withdraw(own);
        directory.withdraw(own);
        assert_eq!((directory.find(own), pids(directory.look(ALL).unwrap())), (None, Vec::new()));
    }
}

#[test]
fn a_dead_process_is_told_once_and_then_forgotten() {
    let place = tempfile::tempdir().unwrap();
    for directory in each(place.path()) {
        for pid in [DEAD, std::process::id()] {
            directory.prepare(pid).unwrap();
            directory.announce(&notice(pid)).unwrap();
        }
        assert_eq!(pids(directory.look(ALL).unwrap()), [(std::process::id(), true), (DEAD, false)]);
        assert_eq!(pids(directory.look(ALL).unwrap()), [(std::process::id(), true)]);
        assert_eq!(directory.find(DEAD), None);
    }
}

#[tokio::test]
async fn each_process_has_sockets_of_its_own_which_go_with_it() {
    let place = tempfile::tempdir().unwrap();
    for directory in each(place.path()) {
        directory.prepare(1).unwrap();
        directory.prepare(2).unwrap();
        let doors = [
            (1, SocketPurpose::Ui),
            (1, SocketPurpose::Who),
            (2, SocketPurpose::Ui),
            (2, SocketPurpose::Who),
        ];
        let mut listening = Vec::new();
        for (pid, door) in doors {
            listening.push(Listener::bind(&directory.socket(pid, door)).await.unwrap());
        }
        assert!(doors.iter().all(|(pid, door)| directory.socket(*pid, *door).exists()));
        directory.withdraw(1);
        let left: Vec<bool> =
            doors.iter().map(|(pid, door)| directory.socket(*pid, *door).exists()).collect();
        assert_eq!(left, [false, false, true, true]);
    }
}

#[tokio::test]
async fn whoever_has_a_session_is_found_by_what_it_tells() {
    let place = tempfile::tempdir().unwrap();
    for directory in each(place.path()) {
        let (own, session) = (std::process::id(), SessionId::from_number(7));
        directory.prepare(own).unwrap();
        let door = Listener::bind(&directory.socket(own, SocketPurpose::Who)).await.unwrap();
        directory.announce(&notice(own)).unwrap();
        let told = json!([{"id": session.as_str(), "running": false, "asks": 0, "uis": []}]).to_string();
        let telling = async {
            loop {
                let link = door.accept().await.unwrap().into_link(Lane::MAIN, Limits::default());
                link.outgoing.try_send(Lane::MAIN, told.clone()).unwrap();
                link.shutdown(TOLD_WITHIN).await;
            }
        };
        let asking = async {
            let holder = processes::holder(directory.as_ref(), &session).await.unwrap().unwrap();
            assert_eq!(holder.notice, notice(own));
            let other = SessionId::from_number(8);
            assert!(processes::holder(directory.as_ref(), &other).await.unwrap().is_none());
        };
        tokio::select! {
            () = asking => {}
            () = telling => {}
        }
        // Its sockets were there before its notice: when nobody listens any more, another process has its number.
        drop(door);
        assert!(processes::holder(directory.as_ref(), &session).await.unwrap().is_none());
        assert_eq!(directory.find(own), None);
    }
}
