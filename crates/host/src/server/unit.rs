//! The user unit of systemd that starts the server with the login.

use crate::private;
use anyhow::Context;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const NAME: &str = "parlor.service";

/// Writes the unit, enables and starts it.
///
/// # Errors
/// Where there is no systemd of this user; nothing is written then.
pub(super) fn install(room_idle: u64, clients: bool) -> anyhow::Result<()> {
    const HINT: &str = "hint: `parlor up` alone needs no systemd";
    let asked = Command::new("systemctl")
        .args(["--user", "is-system-running"])
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .map_err(|why| anyhow::anyhow!("systemd cannot be asked (systemctl: {why})\n\n{HINT}"))?;
    let state = String::from_utf8_lossy(&asked.stdout).trim().to_owned();
    // `degraded` is a system in which some unit failed.
    anyhow::ensure!(
        matches!(state.as_str(), "running" | "degraded" | "starting"),
        "there is no systemd of this user here (it says {state:?})\n\n{HINT}"
    );
    let exe = std::env::current_exe().context("cannot find this program's own path")?;
    let file = folder()?.join(NAME);
    let data = std::env::var_os("PARLOR_DATA_DIR").filter(|data| !data.is_empty());
    let data = data.map(std::path::absolute).transpose()?;
    private::replace(&file, &unit(&exe, data.as_deref(), room_idle, clients))?;
    for words in [&["--user", "daemon-reload"][..], &["--user", "enable", "--now", NAME]] {
        let told = Command::new("systemctl").args(words).stdin(Stdio::null()).output()?;
        let said = String::from_utf8_lossy(&told.stderr).trim().to_owned();
        anyhow::ensure!(told.status.success(), "systemctl {}: {said}", words.join(" "));
    }
    Ok(())
}

fn folder() -> anyhow::Result<PathBuf> {
    let config = std::env::var_os("XDG_CONFIG_HOME").map(PathBuf::from).filter(|dir| dir.is_absolute());
    let config = config.or_else(|| tools::home().map(|home| home.join(".config")));
    Ok(config.context("no home folder is known; set HOME")?.join("systemd/user"))
}

/// A room outlives a server that crashes (`KillMode=process`); a stop in order ends the rooms first.
fn unit(exe: &Path, data: Option<&Path>, room_idle: u64, clients: bool) -> String {
    let clients = if clients { format!(" --{}", dialects::OF_CLIENTS) } else { String::new() };
    let data =
        data.map(|data| format!("Environment={}\n", quoted(&format!("PARLOR_DATA_DIR={}", data.display()))));
    format!(
        "[Unit]\nDescription=Parlor: sessions that outlive their terminals\n\n[Service]\n{}ExecStart={} up --foreground --room-idle {room_idle}{clients}\n\
         KillMode=process\nTimeoutStopSec=60\nRestart=on-failure\n\n[Install]\nWantedBy=default.target\n",
        data.unwrap_or_default(),
        quoted(&exe.display().to_string())
    )
}

/// As systemd reads a word: `%` means something there; `$` does in the words behind a program, which none of these is.
fn quoted(text: &str) -> String {
    let text = text.replace('\\', "\\\\").replace('"', "\\\"").replace('%', "%%");
    format!("\"{text}\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_unit_names_the_program_and_the_data_folder_as_they_are() {
        let unit = unit(Path::new("/opt/a b/100%/$x/parlor"), Some(Path::new("/d \"x\"")), 7, false);
        let words = |name: &str| said(&unit, "Service", name);
        assert_eq!(words("ExecStart"), "\"/opt/a b/100%%/$x/parlor\" up --foreground --room-idle 7");
        assert_eq!(words("Environment"), "\"PARLOR_DATA_DIR=/d \\\"x\\\"\"");
    }

    #[test]
    fn a_crash_is_mended_and_takes_no_room_along() {
        let unit = unit(Path::new("/usr/bin/parlor"), None, 600, true);
        assert!(said(&unit, "Service", "ExecStart").ends_with(&format!("600 --{}", dialects::OF_CLIENTS)));
        for (section, name, value) in [
            ("Service", "KillMode", "process"),
            ("Service", "Restart", "on-failure"),
            ("Install", "WantedBy", "default.target"),
        ] {
            assert_eq!(said(&unit, section, name), value);
        }
        let stop: u64 = said(&unit, "Service", "TimeoutStopSec").parse().unwrap();
        assert!(stop > super::super::STOP_WITHIN.as_secs(), "rooms end within the time that systemd gives");
        assert!(!unit.contains("Environment="));
    }

    /// What stands for a name in a section, read as systemd reads it.
    fn said(unit: &str, section: &str, name: &str) -> String {
        let mut within = "";
        for line in unit.lines().filter(|line| !line.is_empty()) {
            if let Some(begun) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
                within = begun;
            } else if let Some((key, value)) = line.split_once('=')
                && (within, key) == (section, name)
            {
                return value.to_owned();
            }
        }
        panic!("no {name} in [{section}]:\n{unit}")
    }
}
