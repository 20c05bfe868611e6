//! Where the two sides of this wire meet: the socket's path, as a pure function of the environment. Opens nothing.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// What of the environment decides.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SocketEnv {
    /// `$OPENAGENT_SOCKET`, which the existing programs read.
    pub openagent_socket: Option<OsString>,
    pub xdg_runtime_dir: Option<OsString>,
}

impl SocketEnv {
    /// Reads what is needed; empty variables count as absent.
    pub fn read(variable: impl Fn(&str) -> Option<OsString>) -> SocketEnv {
        let read = |name| variable(name).filter(|value: &OsString| !value.is_empty());
        SocketEnv { openagent_socket: read("OPENAGENT_SOCKET"), xdg_runtime_dir: read("XDG_RUNTIME_DIR") }
    }

    fn dir(&self) -> &Path {
        self.xdg_runtime_dir.as_deref().map_or(Path::new("/tmp"), Path::new)
    }

    /// Where a runtime listens: the name the person chose, or the document's name and the one that the existing client looks for.
    pub fn listen(&self, pid: u32) -> Vec<PathBuf> {
        match &self.openagent_socket {
            Some(path) => vec![PathBuf::from(path)],
            None => vec![by_pid(self.dir(), pid), self.dir().join(TEST_NAME)],
        }
    }

    /// Where a UI looks, best first; `pid` is the runtime's, if it is known.
    pub fn connect(&self, pid: Option<u32>) -> Vec<PathBuf> {
        if let Some(path) = &self.openagent_socket {
            return vec![PathBuf::from(path)];
        }
        let mut paths: Vec<PathBuf> = pid.map(|pid| by_pid(self.dir(), pid)).into_iter().collect();
        paths.push(self.dir().join(TEST_NAME));
        if self.xdg_runtime_dir.is_some() {
            paths.push(Path::new("/tmp").join(TEST_NAME));
        }
        paths
    }
}

/// The name that the existing programs use.
const TEST_NAME: &str = "openagent-terminal-test.sock";

fn by_pid(dir: &Path, pid: u32) -> PathBuf {
    dir.join(format!("openagent-terminal-{pid}.sock"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn env(socket: Option<&str>, xdg: Option<&str>) -> SocketEnv {
        SocketEnv::read(|name| {
            match name {
                "OPENAGENT_SOCKET" => socket,
                "XDG_RUNTIME_DIR" => xdg,
                _ => None,
            }
            .map(OsString::from)
        })
    }

    fn texts(paths: Vec<PathBuf>) -> Vec<String> {
        paths.iter().map(|path| path.display().to_string()).collect()
    }

    #[test]
    fn both_names_unless_one_was_chosen() {
        let listen = |env: SocketEnv| texts(env.listen(7));
        assert_eq!(listen(env(Some("/x/s"), Some("/run/u"))), ["/x/s"]);
        assert_eq!(
            listen(env(None, Some("/run/u"))),
            ["/run/u/openagent-terminal-7.sock", "/run/u/openagent-terminal-test.sock"]
        );
        assert_eq!(
            listen(env(Some(""), Some(""))),
            ["/tmp/openagent-terminal-7.sock", "/tmp/openagent-terminal-test.sock"]
        );
    }

    #[test]
    fn a_ui_looks_where_a_runtime_may_be() {
        let connect = |env: SocketEnv, pid| texts(env.connect(pid));
        assert_eq!(connect(env(Some("/x/s"), None), Some(7)), ["/x/s"]);
        assert_eq!(connect(env(None, None), None), ["/tmp/openagent-terminal-test.sock"]);
        assert_eq!(
            connect(env(None, Some("/run/u")), Some(7)),
            [
                "/run/u/openagent-terminal-7.sock",
                "/run/u/openagent-terminal-test.sock",
                "/tmp/openagent-terminal-test.sock"
            ]
        );
    }
}
