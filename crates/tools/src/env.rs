//! What children of the agent may know of our environment: an allow-list, minus whatever looks like a secret.

use std::ffi::{OsStr, OsString};

/// Names that are handed on.
const KEPT: &[&str] = &[
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LANGUAGE",
    "TERM",
    "COLORTERM",
    "TZ",
    "TMPDIR",
    "TMP",
    "TEMP",
    "HOSTNAME",
    "EDITOR",
    "PAGER",
    "DISPLAY",
    "WAYLAND_DISPLAY",
    "CI",
    "NO_COLOR",
    "CARGO_HOME",
    "RUSTUP_HOME",
    "RUSTUP_TOOLCHAIN",
    "CARGO_TARGET_DIR",
    "GOPATH",
    "GOROOT",
    "GOCACHE",
    "GOMODCACHE",
    "JAVA_HOME",
    "NVM_DIR",
    "NODE_PATH",
    "VIRTUAL_ENV",
    "CONDA_PREFIX",
    "PYENV_ROOT",
    "RBENV_ROOT",
    "GEM_HOME",
    "PNPM_HOME",
    "BUN_INSTALL",
    "DENO_DIR",
    "SDKMAN_DIR",
    "PKG_CONFIG_PATH",
    "LD_LIBRARY_PATH",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "NIX_PATH",
    "NIX_PROFILES",
    "NIX_SSL_CERT_FILE",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_STATE_HOME",
    "XDG_RUNTIME_DIR",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "no_proxy",
];
/// Families of names that are handed on.
const KEPT_PREFIXES: &[&str] = &["LC_"];
/// A name with one of these in it is never handed on, listed or not.
const SECRET: &[&str] = &["KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "CREDENTIAL", "COOKIE", "SESSION"];

/// Whether a variable may reach a child.
pub fn kept(name: &OsStr, value: &OsStr) -> bool {
    let Some(name) = name.to_str() else { return false };
    let upper = name.to_ascii_uppercase();
    let listed = KEPT.contains(&name) || KEPT_PREFIXES.iter().any(|prefix| name.starts_with(prefix));
    listed && !SECRET.iter().any(|word| upper.contains(word)) && !carries_login(value)
}

/// The environment for a child, made from `all`.
pub fn cleaned(all: impl Iterator<Item = (OsString, OsString)>) -> Vec<(OsString, OsString)> {
    let mut clean: Vec<_> = all.filter(|(name, value)| kept(name, value)).collect();
    // Programs that would open a pager or ask on the terminal would hang: nobody is there.
    for (name, value) in [("GIT_TERMINAL_PROMPT", "0"), ("GIT_PAGER", "cat"), ("PAGER", "cat")] {
        clean.retain(|(known, _)| known != name);
        clean.push((name.into(), value.into()));
    }
    clean
}

/// A proxy address may carry a user's name and password.
fn carries_login(value: &OsStr) -> bool {
    let text = value.to_string_lossy();
    text.split_once("://")
        .is_some_and(|(_, rest)| rest.split('/').next().is_some_and(|host| host.contains('@')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_harmless_names_are_handed_on() {
        let all = [
            ("PATH", "/bin"),
            ("LC_ALL", "C"),
            ("ANTHROPIC_API_KEY", "k"),
            ("LC_SECRET", "s"),
            ("GITHUB_TOKEN", "t"),
            ("AWS_PROFILE", "p"),
            ("BASH_ENV", "/evil"),
            ("LD_PRELOAD", "/evil.so"),
            ("HTTP_PROXY", "http://me:pass@proxy:1"),
            ("HTTPS_PROXY", "http://proxy:1"),
        ];
        let kept = cleaned(all.into_iter().map(|(name, value)| (name.into(), value.into())));
        let names: Vec<_> = kept.iter().filter_map(|(name, _)| name.to_str()).collect();
        assert_eq!(names, ["PATH", "LC_ALL", "HTTPS_PROXY", "GIT_TERMINAL_PROMPT", "GIT_PAGER", "PAGER"]);
    }
}
