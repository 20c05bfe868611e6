//! Where a server keeps what it downloads: a folder of its own below Parlor's data, which it is told of by variables.
//!
//! Nothing of the person's is written: what lies in `~/.npm`, `~/.bun` or `~/.local/share/uv` is run by the person too, on no leash.
//! A folder belongs to who brought the server (the person, or one project), its name and its command: no server can prepare what another
//! one runs. It can be removed at any time; what was in it is downloaded again.

use super::entry::{Entry, Way};
use serde_json::json;
use std::ffi::OsString;
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

/// The folder of all of them below the data folder.
const FOLDER: &str = "mcp-caches";
/// Characters of the digest in a name.
const DIGEST: usize = 16;

/// Variables by which programs find where to keep what they download, and the part of the cache that each of them names.
const PLACES: &[(&str, &str)] = &[
    ("XDG_CACHE_HOME", "cache"),
    ("XDG_DATA_HOME", "data"),
    ("XDG_STATE_HOME", "state"),
    ("npm_config_cache", "npm"),
    ("npm_config_store_dir", "pnpm-store"),
    ("PNPM_HOME", "pnpm"),
    ("COREPACK_HOME", "corepack"),
    ("YARN_CACHE_FOLDER", "yarn-cache"),
    ("YARN_GLOBAL_FOLDER", "yarn"),
    ("BUN_INSTALL", "bun"),
    ("BUN_INSTALL_CACHE_DIR", "bun/install/cache"),
    ("DENO_DIR", "deno"),
    ("DENO_INSTALL_ROOT", "deno-installed"),
    ("UV_CACHE_DIR", "uv"),
    ("UV_TOOL_DIR", "uv-tools"),
    ("UV_TOOL_BIN_DIR", "uv-bin"),
    ("UV_PYTHON_INSTALL_DIR", "uv-python"),
    ("PIP_CACHE_DIR", "pip"),
    ("PIPX_HOME", "pipx"),
    ("PIPX_BIN_DIR", "pipx-bin"),
    ("PRE_COMMIT_HOME", "pre-commit"),
    ("PYTHONPYCACHEPREFIX", "pycache"),
    ("GOPATH", "go"),
    ("GOCACHE", "go-build"),
    ("GOMODCACHE", "go/pkg/mod"),
    ("NUGET_PACKAGES", "nuget"),
    ("DOTNET_CLI_HOME", "dotnet"),
];

/// What makes programs that download run what they have, in place of asking the network whether there is something newer.
const OFFLINE: &[(&str, &str)] =
    &[("npm_config_offline", "true"), ("UV_OFFLINE", "1"), ("PIP_NO_INDEX", "1"), ("GOPROXY", "off")];

/// The folder of a server; `project` is who brought it, if that was not the person.
pub(super) fn folder(data: &Path, project: Option<&Path>, entry: &Entry) -> PathBuf {
    let who = project.map(|project| project.display().to_string());
    let words: Vec<&str> = match &entry.way {
        Way::Child { command, args, .. } => {
            std::iter::once(command).chain(args).map(String::as_str).collect()
        }
        Way::Http { url, .. } => vec![url],
    };
    let digest = tools::digest::hex(json!([who, entry.name, words]).to_string().as_bytes());
    data.join(FOLDER).join(format!("{}-{}", entry.name, digest.get(..DIGEST).unwrap_or_default()))
}

/// Makes the folder, for the person alone; its path with every link followed, as a leash needs it.
pub(super) fn make(folder: &Path) -> io::Result<PathBuf> {
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    folder.canonicalize()
}

/// Removes the folder of a server; what is not there is gone already.
pub(super) fn remove(folder: &Path) -> io::Result<()> {
    match std::fs::remove_dir_all(folder) {
        Err(why) if why.kind() != io::ErrorKind::NotFound => Err(why),
        _ => Ok(()),
    }
}

/// What a server is told of its folder.
pub(super) fn variables(folder: &Path, network: bool) -> impl Iterator<Item = (OsString, OsString)> {
    let places = PLACES.iter().map(|(name, part)| (name.into(), folder.join(part).into()));
    places.chain(OFFLINE.iter().filter(move |_| !network).map(|(name, value)| (name.into(), value.into())))
}

#[cfg(test)]
mod tests {
    use super::super::entry::read;
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;

    #[test]
    fn no_two_servers_share_a_cache_and_only_the_person_sees_it() {
        let dir = tempfile::tempdir().unwrap();
        let entry = |name: &str, args: &[&str]| {
            read(name, &json!({"command": "npx", "args": args, "env": {"A": "b"}})).unwrap()
        };
        let own = folder(dir.path(), None, &entry("a", &["x"]));
        let all = [
            folder(dir.path(), Some(Path::new("/p")), &entry("a", &["x"])),
            folder(dir.path(), None, &entry("b", &["x"])),
            folder(dir.path(), None, &entry("a", &["x", "y"])),
            folder(dir.path(), None, &entry("a", &["x\ny"])),
        ];
        assert!(all.iter().all(|other| *other != own), "{all:?} {own:?}");
        let made = make(&own).unwrap();
        for place in [made.as_path(), made.parent().unwrap()] {
            assert_eq!(std::fs::metadata(place).unwrap().permissions().mode() & 0o777, 0o700);
        }
        assert!(variables(&made, true).all(|(_, place)| Path::new(&place).starts_with(&made)));
        remove(&own).unwrap();
        remove(&own).unwrap();
        assert!(!own.exists());
    }
}
