//! One person's folders, and the programs that are started in them.

use super::client::Browser;
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use testkit::Running;

const PARLOR: &str = env!("CARGO_BIN_EXE_parlor");
/// The size of its terminal.
const COLUMNS: u16 = 100;
const ROWS: u16 = 30;
/// Lines that may wait to be looked at.
const MAX_LINES: usize = 256;
/// After how long a key is pressed again: one within a second after a question, or after another key, counts for nothing.
const AGAIN: std::time::Duration = std::time::Duration::from_millis(1_200);

pub(crate) struct World(tempfile::TempDir);

impl World {
    pub(crate) fn new() -> World {
        let world = World(tempfile::tempdir().unwrap());
        for folder in ["home", "project"] {
            std::fs::create_dir(world.path(folder)).unwrap();
        }
        testkit::asked_first(&world.path("config"));
        world
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn parlor(&self, args: &[&str]) -> Command {
        let mut command = Command::new(PARLOR);
        command.args(args).current_dir(self.path("project")).env_clear().stdin(Stdio::null());
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.env("HOME", self.path("home"));
        command.env("PARLOR_DATA_DIR", self.path("data")).env("PARLOR_CONFIG_DIR", self.path("config"));
        testkit::ask_offline(&mut command);
        command
    }

    /// A server of the page.
    pub(crate) fn web(&self, args: &[&str]) -> Web {
        let mut child = self.parlor(&[&["web", "--no-open"], args].concat());
        let (keyboard, terminal) = testkit::opened(COLUMNS, ROWS);
        let child = child.stdin(terminal).stdout(Stdio::piped()).stderr(Stdio::piped());
        Web::of(child.spawn().unwrap(), keyboard, self.path("data/web.port"))
    }

    /// The rooms, by the numbers of their processes.
    pub(crate) fn rooms(&self) -> Vec<u32> {
        let told = self.parlor(&["ps", "--json"]).output().unwrap().stdout;
        let told: serde_json::Value = serde_json::from_slice(&told).unwrap();
        let rooms = told.as_array().unwrap().iter().filter(|process| process["serving"] == "room");
        rooms.map(|room| u32::try_from(room["pid"].as_u64().unwrap()).unwrap()).collect()
    }

    /// A runtime that speaks this wire over WebSockets, and where.
    pub(crate) fn listening(&self, dialect: &str) -> (Running, String) {
        let mut child = self.parlor(&["serve", "--dialect", dialect, "--listen", "ws://127.0.0.1:0"]);
        let mut child = child.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let stderr = child.stderr.take().unwrap();
        let (lines, heard) = mpsc::sync_channel(MAX_LINES);
        std::thread::spawn(move || {
            for line in BufReader::new(stderr).lines().map_while(Result::ok) {
                let _ = lines.try_send(line);
            }
        });
        let child = Running(child);
        let words = format!("serving {dialect} on ");
        let url = heard.iter().find_map(|line| line.strip_prefix(&words).map(str::to_owned));
        (child, url.unwrap())
    }
}

impl Drop for World {
    /// Rooms are nobody's children: `down` ends those that no server has, and waits until they are gone.
    fn drop(&mut self) {
        let _ = self.parlor(&["down"]).output();
    }
}

/// A server that runs.
pub(crate) struct Web {
    child: Running,
    pub(crate) address: SocketAddr,
    /// The address that was printed first.
    pub(crate) url: String,
    keyboard: Mutex<File>,
    /// Addresses that were printed after that.
    further: Mutex<mpsc::Receiver<String>>,
    /// Whether a browser has come to the first one.
    used: AtomicBool,
    said: Arc<Mutex<String>>,
}

impl Web {
    /// A program that prints addresses and asks about browsers.
    fn of(mut child: Child, keyboard: File, port: PathBuf) -> Web {
        let said: Arc<Mutex<String>> = Arc::default();
        let (stderr, noting) = (child.stderr.take().unwrap(), said.clone());
        std::thread::spawn(move || {
            for line in BufReader::new(stderr).lines().map_while(Result::ok) {
                let mut said = noting.lock().unwrap();
                said.push_str(&line);
                said.push('\n');
            }
        });
        let (lines, further) = mpsc::sync_channel(MAX_LINES);
        let stdout = child.stdout.take().unwrap();
        std::thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                let _ = lines.try_send(line);
            }
        });
        let child = Running(child);
        let Ok(url) = further.recv() else { panic!("no address: {}", said.lock().unwrap()) };
        // Behind a proxy the address names no port of ours.
        let host = url.split_once("://").unwrap().1.trim_end_matches('/');
        let told = host.rsplit_once(':').and_then(|(_, port)| port.parse().ok());
        let port = told.unwrap_or_else(|| std::fs::read_to_string(port).unwrap().trim().parse().unwrap());
        let address = SocketAddr::from(([127, 0, 0, 1], port));
        let (keyboard, further) = (Mutex::new(keyboard), Mutex::new(further));
        Web { child, address, url, keyboard, further, used: AtomicBool::new(false), said }
    }

    /// Types at its terminal.
    pub(crate) fn types(&self, text: &str) {
        self.keyboard.lock().unwrap().write_all(text.as_bytes()).unwrap();
    }

    /// Presses a key until its question is answered.
    pub(crate) async fn answers<T>(&self, key: &str, told: impl Future<Output = T>) -> T {
        tokio::pin!(told);
        loop {
            self.types(key);
            tokio::select! {
                told = &mut told => return told,
                () = tokio::time::sleep(AGAIN) => {}
            }
        }
    }

    /// An address that no browser has come to yet.
    pub(crate) fn fresh(&self) -> String {
        if !self.used.swap(true, Ordering::AcqRel) {
            return self.url.clone();
        }
        self.types("\n");
        self.further.lock().unwrap().recv().unwrap()
    }

    /// A browser that was asked about and allowed.
    pub(crate) async fn browser(&self) -> Browser {
        let mut browser = Browser::at(self.address, &self.fresh());
        let (page, told) = browser.candidate().await;
        let code = told["code"]["code"].as_str().unwrap_or_else(|| panic!("{told}")).to_owned();
        self.until_said(&code).await;
        let told = self.answers("y", browser.enrolled(page)).await;
        assert!(told["enrolled"].is_object(), "{told}");
        browser
    }

    /// Waits until this was said on stderr.
    pub(crate) async fn until_said(&self, words: &str) {
        while !self.said().contains(words) {
            tokio::task::yield_now().await;
        }
    }

    /// The number of its process.
    pub(crate) fn pid(&self) -> u32 {
        self.child.0.id()
    }

    /// What it said on stderr.
    pub(crate) fn said(&self) -> String {
        self.said.lock().unwrap().clone()
    }
}
