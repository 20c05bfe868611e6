//! One person's desktop for one test: folders, a screen, a bus, and the programs that are started there.

use crate::desk::Desk;
use crate::driver::Driven;
use serde_json::Value;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

pub(crate) const SHELL: &str = env!("CARGO_BIN_EXE_parlor-desktop");
/// How long is waited for what has to come, also on a machine that has much else to do.
pub(crate) const PATIENCE: Duration = Duration::from_secs(120);
/// Between two looks at something that does not tell when it changes.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// Looks until it is so; whether it came to that.
pub(crate) fn waited(mut is_so: impl FnMut() -> bool) -> bool {
    let end = Instant::now() + PATIENCE;
    loop {
        if is_so() {
            return true;
        }
        if Instant::now() >= end {
            return false;
        }
        std::thread::sleep(LOOK_EVERY);
    }
}

#[track_caller]
pub(crate) fn until(what: &str, is_so: impl FnMut() -> bool) {
    assert!(waited(is_so), "in vain: {what}");
}

pub(crate) struct World {
    folder: tempfile::TempDir,
    screen: Child,
    display: String,
    bus: Child,
    bus_address: String,
    manager: Child,
}

impl World {
    pub(crate) fn new() -> World {
        let folder = tempfile::tempdir().unwrap();
        for name in ["home", "project", "config", "run", "screen"] {
            std::fs::create_dir(folder.path().join(name)).unwrap();
        }
        // A person who is asked before each change and each command.
        std::fs::write(folder.path().join("config/config.toml"), "policy = \"ask\"\nmodel = \"offline\"\n")
            .unwrap();
        let mut screen = Command::new("Xvfb")
            .args(["-displayfd", "1", "-screen", "0", "1280x900x24", "-nolisten", "tcp", "-fbdir"])
            .arg(folder.path().join("screen"))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let display = format!(":{}", first_line(&mut screen));
        let mut bus = Command::new("dbus-daemon")
            .args(["--session", "--nofork", "--print-address=1"])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let bus_address = first_line(&mut bus);
        let mut manager = Command::new("openbox");
        manager.env("DISPLAY", &display).env("HOME", folder.path().join("home"));
        manager.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let manager = manager.spawn().unwrap();
        World { folder, screen, display, bus, bus_address, manager }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// A file of this world with this text.
    pub(crate) fn written(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        std::fs::write(&path, text).unwrap();
        path
    }

    /// A program in this world.
    pub(crate) fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.env_clear().current_dir(self.path("project")).stdin(Stdio::null());
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default()).env("HOME", self.path("home"));
        command.env("PARLOR_DATA_DIR", self.path("data")).env("PARLOR_CONFIG_DIR", self.path("config"));
        command.env("PARLOR_BIN", parlor()).env("DISPLAY", &self.display);
        command.env("DBUS_SESSION_BUS_ADDRESS", &self.bus_address).env("XDG_RUNTIME_DIR", self.path("run"));
        // No machine of tests has a card, and as root the web view has no sandbox of its own.
        command.env("LIBGL_ALWAYS_SOFTWARE", "1").env("WEBKIT_DISABLE_COMPOSITING_MODE", "1");
        command.env("TAURI_WEBVIEW_AUTOMATION", "true").env("NO_AT_BRIDGE", "1").env("GDK_BACKEND", "x11");
        command
    }

    /// The tray and the notifications of this world, from now on.
    pub(crate) fn desk(&self) -> Desk {
        Desk::on(&self.bus_address)
    }

    /// A start by the person, which is not driven, until it has ended.
    pub(crate) fn start(&self, words: &[&str]) -> ExitStatus {
        self.command(SHELL).env_remove("TAURI_WEBVIEW_AUTOMATION").args(words).status().unwrap()
    }

    /// What the shell has kept.
    pub(crate) fn kept(&self) -> Value {
        let text = std::fs::read(self.path("config/desktop.json")).unwrap_or_default();
        serde_json::from_slice(&text).unwrap_or_default()
    }

    /// The shell, to be driven.
    pub(crate) fn window(&self, words: &[&str]) -> Driven {
        Driven::start(self.command("WebKitWebDriver"), SHELL, words)
    }

    /// What `parlor` says as JSON.
    pub(crate) fn parlor(&self, args: &[&str]) -> Value {
        let said = self.command(&parlor()).args(args).output().unwrap();
        serde_json::from_slice(&said.stdout).unwrap_or_default()
    }

    /// The processes of this world that run a program.
    fn processes(&self, program: &str) -> Vec<String> {
        let own = self.folder.path().display().to_string();
        let is_ours = |pid: &String| {
            std::fs::read_link(format!("/proc/{pid}/exe"))
                .is_ok_and(|exe| exe == std::path::Path::new(program))
                && std::fs::read(format!("/proc/{pid}/environ"))
                    .is_ok_and(|all| String::from_utf8_lossy(&all).contains(&own))
        };
        let all = std::fs::read_dir("/proc").unwrap().flatten();
        all.filter_map(|entry| entry.file_name().into_string().ok()).filter(is_ours).collect()
    }

    pub(crate) fn runs(&self, program: &str) -> bool {
        self.count(program) > 0
    }

    /// How many processes of this world run a program.
    pub(crate) fn count(&self, program: &str) -> usize {
        self.processes(program).len()
    }

    /// Whether a process of this world has this among its words.
    pub(crate) fn has(&self, word: &str) -> bool {
        let own = self.path(word).display().to_string();
        let says = |entry: std::fs::DirEntry| {
            let words = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
            String::from_utf8_lossy(&words).split('\0').any(|word| word == own)
        };
        std::fs::read_dir("/proc").unwrap().flatten().any(says)
    }

    /// Sends a signal to all that run a program, and waits until they are gone.
    pub(crate) fn kill(&self, signal: &[&str], program: &str) {
        let all = self.processes(program);
        assert!(!all.is_empty(), "nobody runs {program}");
        self.command("kill").args(signal).args(all).status().unwrap();
        until("they are gone", || !self.runs(program));
    }

    /// Keeps a picture of the window where pictures are asked for: the base64 of a PNG.
    pub(crate) fn pictured(&self, name: &str, window: &Driven) {
        if let Some(folder) = std::env::var_os("PARLOR_PICTURES") {
            std::fs::write(PathBuf::from(folder).join(format!("{name}.png.base64")), window.picture())
                .unwrap();
        }
    }

    /// The processes that have sessions.
    pub(crate) fn rooms(&self) -> Vec<i64> {
        let all = self.parlor(&["ps", "--json"]);
        let rooms = all.as_array().into_iter().flatten().filter(|process| process["serving"] == "room");
        rooms.filter_map(|room| room["pid"].as_i64()).collect()
    }
}

pub(crate) fn parlor() -> String {
    std::env::var("PARLOR_BIN")
        .expect("PARLOR_BIN names the built program: `cargo xtask test --desktop` says so")
}

fn first_line(child: &mut Child) -> String {
    let mut line = String::new();
    let mut out = BufReader::new(child.stdout.as_mut().unwrap());
    out.read_line(&mut line).unwrap();
    assert!(!line.is_empty(), "{:?}", child.stderr.as_mut().map(|all| all.bytes().count()));
    line.trim().to_owned()
}

impl Drop for World {
    fn drop(&mut self) {
        let _ = self.command(&parlor()).args(["down"]).output();
        for child in [&mut self.manager, &mut self.screen, &mut self.bus] {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}
