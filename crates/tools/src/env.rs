//! What children of the agent may know of our environment: an allow-list, minus whatever looks like a secret.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};

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

/// Where programs are looked for when nobody says.
const USUAL_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// What is added for a command that only looks: git then refreshes nothing on disk and runs nothing that a repository names.
pub(crate) const LOOKING: &[(&str, &str)] = &[
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_CONFIG_COUNT", "8"),
    ("GIT_CONFIG_KEY_0", "diff.autoRefreshIndex"),
    ("GIT_CONFIG_VALUE_0", "false"),
    ("GIT_CONFIG_KEY_1", "core.fsmonitor"),
    ("GIT_CONFIG_VALUE_1", "false"),
    ("GIT_CONFIG_KEY_2", "core.hooksPath"),
    ("GIT_CONFIG_VALUE_2", "/dev/null"),
    ("GIT_CONFIG_KEY_3", "log.showSignature"),
    ("GIT_CONFIG_VALUE_3", "false"),
    // A folder that happens to look like a repository is none.
    ("GIT_CONFIG_KEY_4", "safe.bareRepository"),
    ("GIT_CONFIG_VALUE_4", "explicit"),
    // Git starts itself in other repositories without what is said here, and obeys their settings.
    ("GIT_CONFIG_KEY_5", "diff.submodule"),
    ("GIT_CONFIG_VALUE_5", "short"),
    ("GIT_CONFIG_KEY_6", "diff.ignoreSubmodules"),
    ("GIT_CONFIG_VALUE_6", "all"),
    ("GIT_CONFIG_KEY_7", "status.submoduleSummary"),
    ("GIT_CONFIG_VALUE_7", "false"),
];

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
    // An empty or relative entry means the working directory: a project could bring libraries of its own for every program.
    for (name, value) in &mut clean {
        if name == "LD_LIBRARY_PATH" {
            *value = absolute_entries(value);
        }
    }
    clean.retain(|(name, value)| name != "LD_LIBRARY_PATH" || !value.is_empty());
    // Without one, shells look in places of their own choice; for some of them that is the working directory, too.
    if !clean.iter().any(|(name, _)| name == "PATH") {
        clean.push(("PATH".into(), USUAL_PATH.into()));
    }
    // Programs that would open a pager or ask on the terminal would hang: nobody is there.
    for (name, value) in [("GIT_TERMINAL_PROMPT", "0"), ("GIT_PAGER", "cat"), ("PAGER", "cat")] {
        clean.retain(|(known, _)| known != name);
        clean.push((name.into(), value.into()));
    }
    clean
}

fn absolute_entries(value: &OsStr) -> OsString {
    let entries = value.as_bytes().split(|byte| matches!(byte, b':' | b';'));
    let absolute: Vec<&[u8]> = entries.filter(|entry| entry.starts_with(b"/")).collect();
    OsString::from_vec(absolute.join(&b':'))
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

    fn clean(all: &[(&str, &str)]) -> Vec<(OsString, OsString)> {
        cleaned(all.iter().map(|(name, value)| ((*name).into(), (*value).into())))
    }

    #[test]
    fn nothing_is_looked_for_in_the_working_directory() {
        let kept = clean(&[("LD_LIBRARY_PATH", "::lib:.")]);
        assert!(kept.iter().all(|(name, _)| name != "LD_LIBRARY_PATH"));
        assert!(kept.contains(&("PATH".into(), USUAL_PATH.into())));
        let kept = clean(&[("LD_LIBRARY_PATH", ":/opt/lib;lib:/x"), ("PATH", "/bin")]);
        assert!(kept.contains(&("LD_LIBRARY_PATH".into(), "/opt/lib:/x".into())));
        assert!(kept.contains(&("PATH".into(), "/bin".into())));
    }

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
        let kept = clean(&all);
        let names: Vec<_> = kept.iter().filter_map(|(name, _)| name.to_str()).collect();
        assert_eq!(names, ["PATH", "LC_ALL", "HTTPS_PROXY", "GIT_TERMINAL_PROMPT", "GIT_PAGER", "PAGER"]);
    }
}
