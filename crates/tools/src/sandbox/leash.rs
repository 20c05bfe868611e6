//! What a guarded command may reach, and how the guard is told: by its arguments.
//!
//! Never by the environment: a project may set the variables of what it starts, and a leash that a project could loosen is none.
//! Places such as the home folder and temp are therefore spelled out by whoever starts the guard.

use std::ffi::OsString;
use std::path::PathBuf;

/// Places that programs write to and nobody keeps.
pub(super) const TEMP: &[&str] = &["/tmp", "/var/tmp", "/dev/shm"];

/// Those that a session can have for its own, and what they are called in its folder.
pub(crate) const TEMP_PLACES: [(&str, &str); 2] = [("/tmp", "tmp"), ("/var/tmp", "var-tmp")];

/// What a guarded command may reach.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Leash {
    /// Places it may write in.
    pub writable: Vec<PathBuf>,
    /// Places it may read although they are closed otherwise.
    pub readable: Vec<PathBuf>,
    /// Places it may not read, beside those where people keep secrets.
    pub hidden: Vec<PathBuf>,
    /// Places of secrets in what it may read or write, which are not there for it, where the kernel gives a command a view of its own;
    /// who only looks does not reach them in any case. Set by [`super::Guard`].
    pub covered: Vec<PathBuf>,
    /// Places in writable ones that can be neither written nor moved, where the kernel gives a command a view of its own.
    pub locked: Vec<PathBuf>,
    /// Places that can be written in but not moved, in the same way.
    pub pinned: Vec<PathBuf>,
    /// The folder of a session's own temp (see [`crate::ToolContext`]): what it holds is in the place of `/tmp` and `/var/tmp`, where the
    /// kernel gives a command a view of its own. `None` for the person's.
    pub temp: Option<PathBuf>,
    /// The person's home folder: it is granted entry by entry, without the secrets in it.
    pub home: Option<PathBuf>,
    /// Whether it may use the network.
    pub network: bool,
    /// Whether it joins the network whose namespaces its guard is handed as stdin ([`crate::net::Net`]), where there is nothing but
    /// loopback.
    pub own_network: bool,
    /// Whether it may talk to programs that were there before it, by their sockets. The network is another matter.
    pub sockets: bool,
    /// Whether it gets a view of the file system of its own: terminals, locked files, no sockets of others. Set by [`super::Guard`].
    pub private: bool,
    /// Whether it only looks: it reads the system, `readable` and `writable`, and nothing of a home folder or of temp.
    pub looking: bool,
    /// Whether it may do what the user may: only the watch over its processes stays.
    pub free: bool,
    /// What is done without although the kernel may have it.
    pub lacks: Lacks,
}

/// What is done without although the kernel may have it, so that tests can see what other kernels do. Not for users: nothing in the
/// environment or in any file sets it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Lacks {
    /// The newest version of Landlock that counts; 0 for none at all.
    pub landlock: Option<u32>,
    /// No filter on system calls.
    pub filter: bool,
    /// No namespaces.
    pub namespaces: bool,
    /// No network of commands' own.
    pub networks: bool,
}

const WRITABLE: &str = "--rw";
const READABLE: &str = "--ro";
const HIDDEN: &str = "--hide";
const COVERED: &str = "--cover";
const LOCKED: &str = "--lock";
const PINNED: &str = "--pin";
const OWN_TEMP: &str = "--temp";
const SOCKETS: &str = "--sockets";
const PRIVATE: &str = "--private";
const HOME: &str = "--home";
const NETWORK: &str = "--net";
const OWN_NETWORK: &str = "--own-net";
const LOOKING: &str = "--look";
const FREE: &str = "--free";
const LACKS: &str = "--without";
const LANDLOCK: &str = "landlock-";
const FILTER: &str = "filter";
const NAMESPACES: &str = "namespaces";
const NETWORKS: &str = "networks";

impl Leash {
    /// The leash as arguments of a guard.
    pub(super) fn arguments(&self) -> Vec<OsString> {
        let mut said: Vec<OsString> = Vec::new();
        let lists = [
            (WRITABLE, &self.writable),
            (READABLE, &self.readable),
            (HIDDEN, &self.hidden),
            (COVERED, &self.covered),
            (LOCKED, &self.locked),
            (PINNED, &self.pinned),
        ];
        for (flag, paths) in lists {
            said.extend(paths.iter().flat_map(|path| [flag.into(), path.into()]));
        }
        said.extend(self.temp.iter().flat_map(|temp| [OWN_TEMP.into(), temp.into()]));
        said.extend(self.home.iter().flat_map(|home| [HOME.into(), home.into()]));
        let flags = [
            (NETWORK, self.network),
            (OWN_NETWORK, self.own_network),
            (SOCKETS, self.sockets),
            (PRIVATE, self.private),
            (LOOKING, self.looking),
            (FREE, self.free),
        ];
        said.extend(flags.iter().filter(|(_, set)| *set).map(|(flag, _)| OsString::from(flag)));
        said.extend(self.lacks.words().into_iter().flat_map(|word| [LACKS.into(), word.into()]));
        said
    }

    /// Takes one argument of a guard in; `value` gives the next one. `false` when it is none of a leash.
    pub(super) fn take<E>(
        &mut self,
        flag: &str,
        value: impl FnOnce() -> Result<OsString, E>,
    ) -> Result<bool, E> {
        match flag {
            WRITABLE => self.writable.push(value()?.into()),
            READABLE => self.readable.push(value()?.into()),
            HIDDEN => self.hidden.push(value()?.into()),
            COVERED => self.covered.push(value()?.into()),
            LOCKED => self.locked.push(value()?.into()),
            PINNED => self.pinned.push(value()?.into()),
            SOCKETS => self.sockets = true,
            PRIVATE => self.private = true,
            OWN_TEMP => self.temp = Some(value()?.into()),
            HOME => self.home = Some(value()?.into()),
            NETWORK => self.network = true,
            OWN_NETWORK => self.own_network = true,
            LOOKING => self.looking = true,
            FREE => self.free = true,
            LACKS => return Ok(self.lacks.take(&value()?.to_string_lossy())),
            _ => return Ok(false),
        }
        Ok(true)
    }
}

impl Lacks {
    fn words(self) -> Vec<String> {
        let mut words: Vec<String> = self.landlock.iter().map(|most| format!("{LANDLOCK}{most}")).collect();
        let flags = [(FILTER, self.filter), (NAMESPACES, self.namespaces), (NETWORKS, self.networks)];
        words.extend(flags.iter().filter(|(_, set)| *set).map(|(word, _)| (*word).to_owned()));
        words
    }

    fn take(&mut self, word: &str) -> bool {
        match word {
            FILTER => self.filter = true,
            NAMESPACES => self.namespaces = true,
            NETWORKS => self.networks = true,
            other => match other.strip_prefix(LANDLOCK).and_then(|most| most.parse().ok()) {
                Some(most) => self.landlock = Some(most),
                None => return false,
            },
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::convert::Infallible;

    #[test]
    fn a_leash_survives_being_told() {
        let leash = Leash {
            writable: vec!["/w".into(), "--net".into()],
            readable: vec!["/r".into()],
            hidden: vec!["/h".into()],
            covered: vec!["/w/c".into()],
            locked: vec!["/w/l".into()],
            pinned: vec!["/w/p".into()],
            sockets: true,
            private: true,
            temp: Some("/data/temp".into()),
            home: Some("/home/u".into()),
            network: true,
            own_network: true,
            looking: true,
            free: true,
            lacks: Lacks { landlock: Some(3), filter: true, namespaces: true, networks: true },
        };
        let mut told = leash.arguments().into_iter();
        let mut heard = Leash::default();
        while let Some(flag) = told.next() {
            let value = || Ok::<_, Infallible>(told.next().unwrap());
            assert_eq!(heard.take(flag.to_str().unwrap(), value), Ok(true), "{flag:?}");
        }
        assert_eq!(heard, leash);
    }

    #[test]
    fn what_is_no_part_of_a_leash_is_not_taken() {
        let mut leash = Leash::default();
        for (flag, value) in [("--what", ""), (LACKS, "air"), (LACKS, "landlock-x")] {
            assert_eq!(leash.take(flag, || Ok::<_, Infallible>(value.into())), Ok(false), "{flag} {value}");
        }
        assert_eq!(leash, Leash::default());
    }
}
