//! Stands between a UI and a runtime, on sockets, and adds something to what the runtime says once it was asked.

use crate::flooded::{WORD, most_memory, rubbish};
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

/// What it adds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mischief {
    /// Lines that mean nothing.
    Rubbish,
    /// The runtime's answer again and again, each time another and very long one.
    Flood,
}

/// How often a flood repeats, and how long each is: 150 MB.
const TIMES: usize = 1_500;
const LENGTH: usize = 100_000;

#[derive(Debug)]
struct Shared {
    mischief: Mischief,
    prompted: AtomicBool,
    played: AtomicBool,
    watched: AtomicU32,
    most: AtomicU64,
}

impl Shared {
    fn look(&self) {
        self.most.fetch_max(most_memory(self.watched.load(Ordering::Relaxed)), Ordering::Relaxed);
    }
}

/// The go-between; its threads end with the connections.
#[derive(Debug)]
pub(crate) struct GoBetween(Arc<Shared>);

impl GoBetween {
    /// Listens at `near` for the UI and reaches the runtime at `far`, both in `world`; with a second socket where the wire has one.
    pub(crate) fn start(world: &Path, far: &str, near: &str, two: bool, mischief: Mischief) -> GoBetween {
        let shared = Arc::new(Shared {
            mischief,
            prompted: AtomicBool::new(false),
            played: AtomicBool::new(false),
            watched: AtomicU32::new(0),
            most: AtomicU64::new(0),
        });
        let ways: &[&str] = if two { &["", ".events"] } else { &[""] };
        for way in ways {
            let listener = UnixListener::bind(world.join(format!("{near}{way}"))).unwrap();
            let far = world.join(format!("{far}{way}"));
            // With two sockets what happens is told on the second.
            let (shared, tells) = (shared.clone(), !two || *way == ".events");
            std::thread::spawn(move || {
                for near in listener.incoming() {
                    let (Ok(near), Ok(far)) = (near, UnixStream::connect(&far)) else { return };
                    forward(near, far, &shared, tells);
                }
            });
        }
        GoBetween(shared)
    }

    /// Looks at the memory of this process.
    pub(crate) fn watch(&self, pid: u32) {
        self.0.watched.store(pid, Ordering::Relaxed);
    }

    /// Whether it did what it was there for, and the most memory that the watched process held, in KB.
    pub(crate) fn end(self) -> (bool, u64) {
        self.0.look();
        (self.0.played.load(Ordering::Relaxed), self.0.most.load(Ordering::Relaxed))
    }
}

fn forward(near: UnixStream, far: UnixStream, shared: &Arc<Shared>, tells: bool) {
    let (mut up_from, mut up_to) = (near.try_clone().unwrap(), far.try_clone().unwrap());
    let noting = shared.clone();
    std::thread::spawn(move || {
        let mut buffer = vec![0; 64 * 1024];
        while let Ok(count @ 1..) = up_from.read(&mut buffer) {
            let said = &buffer[..count];
            if said.windows(WORD.len()).any(|window| window == WORD.as_bytes()) {
                noting.prompted.store(true, Ordering::Release);
            }
            if up_to.write_all(said).is_err() {
                break;
            }
        }
        let _ = up_to.shutdown(std::net::Shutdown::Write);
    });
    let shared = shared.clone();
    std::thread::spawn(move || {
        let mut near = near;
        for line in BufReader::new(far).lines() {
            let Ok(line) = line else { break };
            if tells && shared.prompted.load(Ordering::Acquire) {
                mischief(&mut near, &line, &shared);
            }
            if near.write_all(format!("{line}\n").as_bytes()).is_err() {
                break;
            }
        }
        let _ = near.shutdown(std::net::Shutdown::Write);
    });
}

/// Does what it is there for, once. A UI that has had enough may close the link, which ends it too.
fn mischief(near: &mut UnixStream, line: &str, shared: &Shared) {
    let asked = format!("say {WORD}");
    let answers = line.contains(WORD) && !line.contains(&asked);
    if shared.mischief == Mischief::Flood && !answers || shared.played.swap(true, Ordering::Relaxed) {
        return;
    }
    match shared.mischief {
        Mischief::Rubbish => {
            for bytes in rubbish::lines() {
                if near.write_all(&bytes).is_err() {
                    return;
                }
            }
        }
        Mischief::Flood => {
            let filling = "word ".repeat(LENGTH / 5);
            for number in 0..TIMES {
                let flood = line.replace(WORD, &format!("{number} {filling}"));
                if near.write_all(format!("{flood}\n").as_bytes()).is_err() {
                    return;
                }
                if number % 100 == 0 {
                    shared.look();
                }
            }
        }
    }
    shared.look();
}
