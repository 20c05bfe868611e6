//! Where people keep secrets: what a command in a leash may not read, and what tools read only when a person agreed.
//!
//! Names only. A list can never be whole, so it is generous: a program that needs one of these says so, and the person can allow the
//! place by `also_readable`. They are closed inside of a workspace too.

use super::mounts;
use super::named::{NameLookup, names};
use rustix::fs::Access;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// Homes of other users that are looked at when we are root; those past it are granted or not by the names of the first.
const MAX_HOMES: usize = 64;
/// Where links in a secret folder lead to things that everybody has.
const PUBLIC: &[&str] = &["/usr", "/etc", "/opt", "/nix", "/gnu", "/lib", "/proc", "/sys", "/dev"];

/// In a home folder; a `*` at the end stands for any ending.
const IN_HOME: &[&str] = &[
    // Keys and logins of shells and version control.
    ".ssh",
    ".gnupg",
    ".netrc",
    "_netrc",
    ".git-credentials",
    ".config/git/credentials",
    ".config/gh",
    ".config/hub",
    ".config/glab-cli",
    ".subversion/auth",
    ".putty",
    // Clouds and clusters.
    ".aws",
    ".azure",
    ".kube",
    ".oci",
    ".aliyun",
    ".bluemix",
    ".fly",
    ".railway",
    ".pulumi",
    ".terraform.d/credentials*",
    ".vault-token",
    ".cloudflared",
    ".wrangler",
    ".ngrok2",
    ".config/ngrok",
    ".config/gcloud",
    ".config/doctl",
    ".config/heroku",
    ".config/netlify",
    ".config/stripe",
    ".config/linode-cli",
    ".config/helm",
    ".config/rclone",
    ".config/configstore",
    ".config/containers/auth.json",
    ".local/share/com.vercel.cli",
    ".docker/contexts",
    ".docker/machine",
    ".databrickscfg",
    ".snowflake",
    ".snowsql",
    ".kaggle",
    ".huggingface",
    ".cache/huggingface/token*",
    // Package registries.
    ".pypirc",
    ".config/pypoetry/auth.toml",
    ".cargo/credentials*",
    ".gem/credentials",
    ".composer/auth.json",
    ".config/composer/auth.json",
    ".ivy2/.credentials",
    ".sbt/credentials*",
    ".hex/hex.config",
    // Data bases.
    ".pgpass",
    ".my.cnf",
    ".mylogin.cnf",
    ".config/pgcli",
    ".dbeaver*",
    ".local/share/DBeaverData",
    // Key stores, password managers and wallets.
    ".password-store",
    ".local/share/password-store",
    ".local/share/keyrings",
    ".gnome2/keyrings",
    ".local/share/kwalletd",
    ".kde/share/apps/kwallet",
    ".kde4/share/apps/kwallet",
    ".pki",
    ".config/op",
    ".config/1Password",
    ".config/Bitwarden*",
    ".config/keepassxc",
    ".config/KeePass",
    ".config/age",
    ".config/sops",
    ".age",
    ".electrum",
    ".bitcoin",
    ".ethereum",
    ".config/solana",
    ".foundry/keystores",
    ".config/syncthing",
    ".local/state/syncthing",
    // Browsers, mail and talk.
    ".mozilla",
    ".thunderbird",
    ".config/mozilla",
    ".config/google-chrome*",
    ".config/chromium*",
    ".config/BraveSoftware",
    ".config/microsoft-edge*",
    ".config/vivaldi*",
    ".config/opera*",
    ".librewolf",
    ".waterfox",
    ".zen",
    ".cache/mozilla",
    ".cache/google-chrome*",
    ".cache/chromium*",
    ".cache/BraveSoftware",
    ".var",
    "snap",
    ".config/Slack",
    ".config/discord*",
    ".config/Signal*",
    ".config/Element*",
    ".config/teams*",
    ".config/Microsoft",
    ".local/share/TelegramDesktop",
    ".config/evolution",
    ".local/share/evolution",
    ".config/geary",
    ".local/share/geary",
    ".mutt",
    ".muttrc",
    ".config/mutt",
    ".config/neomutt",
    ".config/aerc",
    ".config/himalaya",
    ".mbsyncrc",
    ".msmtprc",
    ".config/msmtp",
    ".offlineimaprc",
    ".fetchmailrc",
    "Mail",
    "mail",
    "Maildir",
    ".mail",
    ".maildir",
    ".local/share/mail",
    "AppData",
    // Editors and other agents: their logins and what was said to them.
    ".config/Code*",
    ".config/VSCodium",
    ".config/Cursor",
    ".config/github-copilot",
    ".config/JetBrains",
    ".claude.json*",
    ".claude/.credentials.json",
    ".claude/history.jsonl",
    ".claude/projects",
    ".codex/auth.json",
    ".codex/history.jsonl",
    ".codex/sessions",
    ".gemini/oauth_creds.json",
    ".local/share/opencode",
    ".codelia",
    ".openagent",
    // What was typed, copied or shown.
    ".*_history",
    ".*history",
    ".histfile",
    ".zsh_sessions",
    ".bash_sessions",
    ".local/share/fish/fish_history",
    ".local/share/atuin",
    ".local/share/nushell",
    ".config/nushell/history*",
    ".local/state/bash",
    ".local/state/zsh",
    ".local/share/zsh",
    ".lesshst",
    ".viminfo",
    ".local/share/klipper",
    ".config/copyq",
    ".cache/cliphist",
    ".Xauthority",
    ".ICEauthority",
    ".vnc",
    ".config/remmina",
    ".local/share/remmina",
    ".config/filezilla",
];

/// Settings in a home folder that programs need and that only sometimes hold a login: secret when one of [`LOGIN`] stands in them.
const SETTINGS: &[&str] = &[
    ".npmrc",
    ".yarnrc*",
    ".bunfig.toml",
    ".m2/settings*",
    ".gradle/gradle.properties",
    ".nuget/NuGet/NuGet.Config",
    ".config/NuGet/NuGet.Config",
    ".docker/config.json",
    ".terraformrc",
];
/// Words, in lower case, that settings with a login in them have.
const LOGIN: &[&str] = &["auth", "token", "pass", "secret", "cred", "key", "@"];
/// Bytes of such settings that are looked at; longer ones are secret.
const MAX_SETTINGS: u64 = 64 * 1024;

/// Variables that name places of secrets, as in `PATH`.
const VARIABLES: &[&str] = &[
    "AWS_CONFIG_FILE",
    "AWS_SHARED_CREDENTIALS_FILE",
    "AZURE_CONFIG_DIR",
    "CLOUDSDK_CONFIG",
    "DOCKER_CONFIG",
    "GH_CONFIG_DIR",
    "GNUPGHOME",
    "GOOGLE_APPLICATION_CREDENTIALS",
    "HISTFILE",
    "KUBECONFIG",
    "NETRC",
    "NPM_CONFIG_USERCONFIG",
    "PASSWORD_STORE_DIR",
    "PGPASSFILE",
    "XAUTHORITY",
];
/// Variables that name another place for a folder of the home.
const MOVED: &[(&str, &str)] = &[
    ("XDG_CONFIG_HOME", ".config"),
    ("XDG_DATA_HOME", ".local/share"),
    ("XDG_STATE_HOME", ".local/state"),
    ("XDG_CACHE_HOME", ".cache"),
    ("CARGO_HOME", ".cargo"),
    ("CODEX_HOME", ".codex"),
    ("CLAUDE_CONFIG_DIR", ".claude"),
];

/// In the system. Most of it only root may read, and what the user may not read needs no closing.
const IN_SYSTEM: &[&str] = &[
    "/etc/shadow*",
    "/etc/gshadow*",
    "/etc/sudoers*",
    "/etc/security/opasswd",
    "/etc/ssh/ssh_host_*",
    "/etc/ssl/private",
    "/etc/pki/tls/private",
    "/etc/letsencrypt",
    "/etc/krb5.keytab",
    "/etc/wireguard",
    "/etc/openvpn",
    "/etc/NetworkManager/system-connections",
    "/etc/kubernetes",
    "/etc/rancher",
    "/var/lib/kubelet",
    "/var/lib/docker",
    "/var/lib/containers",
    "/var/lib/sss",
    "/var/mail",
    "/var/spool/mail",
    "/var/spool/cron",
    "/run/secrets",
    "/run/credentials",
    "/run/user",
];

/// The home folders of this machine as far as they matter: the person's, and, for root, those of everybody.
pub(super) fn homes(own: Option<&Path>) -> Vec<PathBuf> {
    let mut homes: Vec<PathBuf> = own.map(Path::to_owned).into_iter().collect();
    if rustix::process::geteuid().is_root() {
        homes.push("/root".into());
        homes.extend(names(Path::new("/home")).into_iter().take(MAX_HOMES));
    }
    // Under WSL the other system's home is readable by everybody.
    homes.extend(names(Path::new("/mnt/c/Users")).into_iter().take(MAX_HOMES));
    homes
}

/// Everything that is closed: secret places of the machine and of this home, and what else is to be hidden.
pub(super) fn closed(home: Option<&Path>, hidden: &[PathBuf]) -> BTreeSet<PathBuf> {
    let mut closed = places(&homes(home));
    for place in hidden {
        close(place, &mut closed);
    }
    closed
}

/// What names alone do not tell: places that the person's variables name, and where a mount shows a closed place once more. They are
/// added to what is closed.
pub(super) fn beyond(closed: &mut BTreeSet<PathBuf>) -> Vec<PathBuf> {
    let mut more = named_by(|name| std::env::var_os(name));
    for place in &more {
        close(place, closed);
    }
    let again = mounts::again(closed);
    for place in &again {
        close(place, closed);
    }
    more.extend(again);
    more
}

/// Every secret place that is there, by its real path. What a place leads to by a link counts, and so do the links in it.
fn places(homes: &[PathBuf]) -> BTreeSet<PathBuf> {
    let mut found = BTreeSet::new();
    for home in homes {
        let mut names = NameLookup::below(home);
        for place in IN_HOME.iter().flat_map(|name| names.matching(name)) {
            close(&place, &mut found);
        }
        let settings = SETTINGS.iter().flat_map(|name| names.matching(name));
        for place in settings.filter(|place| holds_login(place)) {
            close(&place, &mut found);
        }
    }
    let readable = |place: &PathBuf| rustix::fs::access(place, Access::READ_OK).is_ok();
    let mut names = NameLookup::below(Path::new("/"));
    let in_system = IN_SYSTEM.iter().flat_map(|pattern| names.matching(pattern.trim_start_matches('/')));
    for place in in_system.filter(readable) {
        close(&place, &mut found);
    }
    found
}

/// Places of secrets that the person's own variables name, where they are not at their usual place.
fn named_by(variable: impl Fn(&str) -> Option<OsString>) -> Vec<PathBuf> {
    let named = VARIABLES.iter().filter_map(|name| variable(name));
    let mut places: Vec<PathBuf> =
        named.flat_map(|value| std::env::split_paths(&value).collect::<Vec<_>>()).collect();
    for (name, usual) in MOVED {
        let Some(folder) = variable(name).map(PathBuf::from) else { continue };
        let mut names = NameLookup::below(&folder);
        let below = IN_HOME.iter().filter_map(|pattern| pattern.strip_prefix(usual)?.strip_prefix('/'));
        places.extend(below.flat_map(|rest| names.matching(rest)));
    }
    places.retain(|place| place.is_absolute() && place.parent().is_some());
    places
}

fn holds_login(settings: &Path) -> bool {
    let Ok(file) = std::fs::File::open(settings) else { return true };
    let mut bytes = Vec::new();
    if file.take(MAX_SETTINGS + 1).read_to_end(&mut bytes).is_err() || bytes.len() as u64 > MAX_SETTINGS {
        return true;
    }
    let text = String::from_utf8_lossy(&bytes).to_ascii_lowercase();
    LOGIN.iter().any(|word| text.contains(word))
}

/// Adds the real place of `context`, and where links directly in it lead.
pub(super) fn close(place: &Path, found: &mut BTreeSet<PathBuf>) {
    let Ok(real) = place.canonicalize() else { return };
    if real.is_dir() {
        for entry in names(&real) {
            let target = entry.is_symlink().then(|| entry.canonicalize().ok()).flatten();
            found.extend(target.filter(|target| !PUBLIC.iter().any(|public| target.starts_with(public))));
        }
    }
    found.insert(real);
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn secrets_are_found_where_they_really_lie() {
        let dir = tempfile::tempdir().unwrap();
        let base = dir.path().canonicalize().unwrap();
        let home = base.join("home");
        for folder in ["home/dots/gh", "home/.cargo/bin", "home/.ssh", "vault"] {
            std::fs::create_dir_all(base.join(folder)).unwrap();
        }
        for file in ["home/.cargo/credentials.toml", "home/.bash_history", "home/.profile", "vault/key"] {
            std::fs::write(base.join(file), "").unwrap();
        }
        symlink("dots", home.join(".config")).unwrap();
        symlink("../../vault/key", home.join(".ssh/id")).unwrap();
        symlink("/etc/passwd", home.join(".ssh/everybody")).unwrap();
        symlink("nowhere", home.join(".netrc")).unwrap();
        let found = places(std::slice::from_ref(&home));
        let ours: Vec<_> = found.iter().filter_map(|path| path.strip_prefix(&base).ok()).collect();
        let wanted =
            ["home/.bash_history", "home/.cargo/credentials.toml", "home/.ssh", "home/dots/gh", "vault/key"];
        assert_eq!(ours, wanted.map(Path::new));
        assert!(!found.contains(Path::new("/etc/passwd")));
    }

    #[test]
    fn settings_are_secret_only_when_they_hold_a_login() {
        let dir = tempfile::tempdir().unwrap();
        let home = dir.path().canonicalize().unwrap();
        for (text, secret) in [
            ("registry=https://mirror.example\nfund=false\n", false),
            ("//mirror.example/:_authToken=x\n", true),
            ("proxy=http://me:word@proxy.example\n", true),
            (&"a".repeat(70_000), true),
        ] {
            std::fs::write(home.join(".npmrc"), text).unwrap();
            let found = places(std::slice::from_ref(&home));
            assert_eq!(found.contains(&home.join(".npmrc")), secret, "{text:.40}");
        }
    }

    #[test]
    fn secrets_are_found_where_variables_name_them() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(dir.path().join("gh")).unwrap();
        let found = named_by(|name| match name {
            "KUBECONFIG" => Some("/k/one:/k/two:relative".into()),
            "XDG_CONFIG_HOME" => Some(dir.path().into()),
            "GNUPGHOME" => Some("/".into()),
            _ => None,
        });
        assert_eq!(found, [PathBuf::from("/k/one"), "/k/two".into(), dir.path().join("gh")]);
    }
}
