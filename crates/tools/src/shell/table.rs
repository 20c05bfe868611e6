//! What is known of programs that do more than look: which use the network, which destroy, which a rule may cover.
//!
//! A program that is not here is not harmless. Options are matched generously: any abbreviation, any letter of a cluster.

/// Built-ins that change how everything after them is understood, or run text that is not in the line.
pub(super) const CHANGES_SHELL: &[&str] = &[
    "eval",
    "source",
    ".",
    "alias",
    "unalias",
    "trap",
    "shopt",
    "enable",
    "hash",
    "export",
    "declare",
    "typeset",
    "local",
    "readonly",
    "unset",
    "read",
    "mapfile",
    "readarray",
    "let",
    "getopts",
    "bind",
    "complete",
    "pushd",
    "popd",
    "fc",
    "history",
    "suspend",
    "setsid",
    "coproc",
    "caller",
    "disown",
    "umask",
    "ulimit",
];

/// Programs whose `--version` runs nothing else. Not those that let a repository choose what runs: rustup's proxies, yarn.
pub(super) const TELL_VERSION: &[&str] =
    &["git", "make", "cmake", "ninja", "gcc", "node", "python", "python3", "docker"];

/// What `find` may be asked without doing more than look.
pub(super) const FIND_LOOKS: &[&str] = &[
    "-name",
    "-iname",
    "-path",
    "-ipath",
    "-type",
    "-maxdepth",
    "-mindepth",
    "-size",
    "-mtime",
    "-mmin",
    "-newer",
    "-print",
    "-print0",
    "-not",
    "-o",
    "-or",
    "-a",
    "-and",
    "-regex",
    "-iregex",
    "-empty",
    "-prune",
    "-perm",
    "-user",
    "-group",
    "-ls",
    "-depth",
    "-xdev",
    "-links",
    "-atime",
    "-ctime",
];

/// Programs that reach out.
pub(super) const NETWORK: &[&str] = &[
    "curl",
    "wget",
    "nc",
    "ncat",
    "netcat",
    "ssh",
    "scp",
    "sftp",
    "rsync",
    "ftp",
    "telnet",
    "ping",
    "dig",
    "nslookup",
    "host",
    "traceroute",
    "socat",
    "openssl",
    "http",
    "https",
    "xh",
    "aria2c",
    "gh",
    "glab",
    "aws",
    "gcloud",
    "az",
    "kubectl",
    "helm",
    "terraform",
    "docker",
    "podman",
    "npx",
    "bunx",
    "uvx",
    "pipx",
    "ssh-copy-id",
    "rclone",
    "git-lfs",
];
/// Commands of programs that reach out: the program and its first argument.
pub(super) const NETWORK_VERBS: &[(&str, &[&str])] = &[
    ("git", &["push", "pull", "fetch", "clone", "ls-remote", "submodule", "svn", "send-email"]),
    (
        "cargo",
        &["install", "fetch", "update", "publish", "add", "search", "login", "owner", "yank", "vendor"],
    ),
    ("npm", &["install", "i", "ci", "add", "publish", "update", "exec", "audit", "login", "create", "init"]),
    ("pnpm", &["install", "i", "add", "publish", "update", "dlx", "create"]),
    ("yarn", &["install", "add", "publish", "upgrade", "dlx", "create"]),
    ("bun", &["install", "i", "add", "publish", "update", "x", "create"]),
    ("pip", &["install", "download"]),
    ("pip3", &["install", "download"]),
    ("uv", &["sync", "add", "pip", "tool", "lock", "publish", "self"]),
    ("poetry", &["install", "add", "update", "publish"]),
    ("go", &["get", "install", "mod", "work"]),
    ("gem", &["install", "update", "push"]),
    ("bundle", &["install", "update"]),
    ("composer", &["install", "update", "require"]),
    ("rustup", &["update", "install", "toolchain", "component", "target", "self"]),
];

/// Programs that change the system.
pub(super) const SYSTEM: &[&str] = &[
    "apt",
    "apt-get",
    "dpkg",
    "dnf",
    "yum",
    "rpm",
    "brew",
    "pacman",
    "apk",
    "snap",
    "flatpak",
    "systemctl",
    "service",
    "crontab",
    "at",
    "mount",
    "umount",
    "kill",
    "pkill",
    "killall",
    "useradd",
    "usermod",
    "userdel",
    "passwd",
    "chsh",
    "iptables",
    "nft",
    "sysctl",
    "modprobe",
    "insmod",
    "launchctl",
    "defaults",
    "loginctl",
    "chroot",
    "unshare",
    "nsenter",
    "systemd-run",
];

/// Programs that destroy.
pub(super) const DESTROYS: &[&str] = &[
    "dd", "shred", "wipefs", "fdisk", "sfdisk", "parted", "mkswap", "shutdown", "reboot", "halt", "poweroff",
    "init", "telinit", "eval", "srm",
];

/// Programs that change files named in their arguments.
pub(super) const CHANGES_FILES: &[&str] = &[
    "mkdir", "touch", "cp", "mv", "ln", "tee", "patch", "truncate", "install", "rm", "rmdir", "unlink",
    "sed", "chmod", "chown", "chgrp", "tar", "zip", "unzip", "gzip", "gunzip",
];

/// Programs that build, check or test what is in the workspace; with them one word more belongs to the rule.
pub(super) const BUILDS: &[&str] = &[
    "cargo",
    "make",
    "npm",
    "pnpm",
    "yarn",
    "bun",
    "go",
    "git",
    "just",
    "mvn",
    "gradle",
    "./gradlew",
    "dotnet",
    "mix",
    "swift",
    "zig",
    "cmake",
    "ninja",
    "meson",
    "bazel",
    "deno",
    "rustup",
    "pytest",
    "tox",
    "uv",
    "poetry",
    "rustfmt",
    "rustc",
    "gcc",
    "tsc",
    "eslint",
    "prettier",
    "ruff",
    "black",
    "mypy",
    "jest",
    "vitest",
    "pip",
    "docker",
    "kubectl",
    "gh",
];
/// Of those: the ones whose first argument says what they do.
pub(super) const VERBS: &[&str] = &[
    "cargo", "npm", "pnpm", "yarn", "bun", "go", "git", "just", "make", "dotnet", "mix", "swift", "zig",
    "bazel", "deno", "rustup", "uv", "poetry", "pip", "docker", "kubectl", "gh",
];

/// Programs that run any text or program they are given: a rule for them covers exactly one command line.
pub(super) const RUNNERS: &[&str] = &[
    "python",
    "python3",
    "node",
    "perl",
    "ruby",
    "php",
    "lua",
    "deno",
    "bun",
    "awk",
    "gawk",
    "mawk",
    "sh",
    "bash",
    "dash",
    "ash",
    "zsh",
    "find",
    "fd",
    "xargs",
    "env",
    "npx",
    "bunx",
    "uvx",
    "pipx",
    "parallel",
    "watch",
    "script",
    "strace",
    "ltrace",
    "gdb",
    "lldb",
    "expect",
    "flock",
    "tmux",
    "screen",
    "ssh",
    "docker",
    "podman",
    "vim",
    "vi",
    "nvim",
    "emacs",
    "ed",
    "ex",
    "sed",
    "tar",
    "git",
    "make",
    "rm",
    "mv",
    "cp",
    "ln",
    "tee",
    "dd",
    "chmod",
    "chown",
    "install",
    "kill",
    "crontab",
    "at",
    "osascript",
    "java",
    "rsync",
    "zip",
    "openssl",
    "socat",
    "nc",
    "ncat",
    "curl",
    "wget",
    "sqlite3",
    "psql",
    "mysql",
    "less",
    "more",
    "man",
    "sort",
    "rg",
    "tree",
    "jq",
    "cmake",
    "meson",
];
/// Verbs that run any text or program they are given, or hide what they do behind an alias.
pub(super) const RUNNER_VERBS: &[(&str, &str)] = &[
    ("npm", "exec"),
    ("pnpm", "exec"),
    ("pnpm", "dlx"),
    ("yarn", "dlx"),
    ("yarn", "exec"),
    ("bun", "x"),
    ("uv", "run"),
    ("uv", "tool"),
    ("poetry", "run"),
    ("go", "run"),
    ("go", "generate"),
    ("deno", "run"),
    ("deno", "eval"),
    ("docker", "run"),
    ("docker", "exec"),
    ("kubectl", "exec"),
    ("git", "config"),
    ("git", "bisect"),
    ("git", "rebase"),
    ("git", "submodule"),
    ("git", "filter-branch"),
    ("gh", "alias"),
    ("gh", "extension"),
    ("gh", "api"),
    ("rustup", "run"),
    ("mix", "run"),
    ("mix", "eval"),
    ("mix", "cmd"),
    ("mix", "do"),
    ("yarn", "node"),
    ("dotnet", "exec"),
    ("go", "env"),
    ("go", "tool"),
    ("npm", "config"),
    ("npm", "set"),
    ("pnpm", "config"),
    ("yarn", "config"),
    ("pip", "config"),
    ("kubectl", "run"),
];

/// What git does to the workspace alone, so that a rule may cover it with any arguments.
pub(super) const GIT_ROUTINE: &[&str] = &["add", "commit", "merge", "mv", "stash", "tag", "branch", "switch"];

/// Commands that are allowed together, because they run the same code of the project, and those that can do no more than these.
pub(super) struct CommandFamily {
    pub(super) alike: &'static [&'static str],
    pub(super) less: &'static [&'static str],
    /// What only tells something, when it is exactly this: `npm --version --no-version test` is another command.
    pub(super) told: &'static [&'static str],
}

pub(super) const FAMILIES: &[CommandFamily] = &[
    // A build script runs in each of the first.
    CommandFamily {
        alike: &["cargo build", "cargo check", "cargo clippy", "cargo doc", "cargo test"],
        less: &["cargo fmt", "cargo tree"],
        // The project chooses the toolchain of all of them.
        told: &["cargo --version", "rustc --version"],
    },
    // npm reads the settings of the project for all of them.
    CommandFamily { alike: &["npm test"], less: &["npm ls"], told: &["npm --version"] },
    // The hooks of the repository do.
    CommandFamily {
        alike: &["git commit", "git checkout -b", "git switch -c"],
        less: &["git add", "git stash"],
        told: &[],
    },
    CommandFamily {
        alike: &["pytest", "python -m pytest", "python3 -m pytest"],
        less: &["mypy", "ruff check"],
        told: &[],
    },
    // Their settings may be code.
    CommandFamily { alike: &["npx eslint", "npx prettier"], less: &["npx tsc"], told: &[] },
];

/// What `npx` runs and that runs nothing else that it is given: a rule may cover it with other words.
pub(super) const NPX_TOOLS: &[&str] =
    &["eslint", "prettier", "tsc", "vitest", "jest", "mocha", "biome", "stylelint"];

/// Programs whose first word is the script that they run.
pub(super) const RUNS_SCRIPTS: &[&str] =
    &["bash", "sh", "dash", "zsh", "python", "python3", "node", "ruby", "perl", "php"];

/// Options that make a build tool run or obey something else: no rule by first words covers them.
pub(super) const BARRED: &[(&str, &[&str])] = &[
    ("cargo", &["config", "Z", "C", "manifest-path", "lockfile-path"]),
    ("npm", &["prefix", "script-shell", "C", "node-options", "userconfig", "globalconfig", "workspace-root"]),
    ("pnpm", &["prefix", "script-shell", "C", "dir", "shell-emulator"]),
    ("yarn", &["cwd", "use-yarnrc"]),
    (
        "go",
        &[
            "exec", "toolexec", "overlay", "vettool", "modfile", "C", "ldflags", "gcflags", "asmflags",
            "pkgdir", "o",
        ],
    ),
    ("pytest", &["c", "p", "rootdir", "o", "override-ini", "confcutdir", "import-mode", "basetemp"]),
    (
        "eslint",
        &[
            "c",
            "config",
            "rulesdir",
            "plugin",
            "resolve-plugins-relative-to",
            "parser",
            "f",
            "format",
            "o",
            "output-file",
        ],
    ),
    ("prettier", &["config", "plugin"]),
    (
        "git",
        &[
            "exec",
            "upload-pack",
            "receive-pack",
            "gpg-sign",
            "S",
            "F",
            "template",
            "edit",
            "e",
            "p",
            "patch",
            "f",
            "force",
            "D",
            "discard-changes",
        ],
    ),
    ("dotnet", &["property", "p"]),
];

/// Variables before a command that cannot change what it runs.
pub(super) const HARMLESS_VARIABLES: &[&str] = &[
    "RUST_BACKTRACE",
    "RUST_LOG",
    "NO_COLOR",
    "FORCE_COLOR",
    "CLICOLOR",
    "CARGO_TERM_COLOR",
    "CI",
    "TZ",
    "COLUMNS",
];
/// Variables that choose a language and the encoding of texts.
pub(super) const LANGUAGE_VARIABLES: &[&str] = &["LANG", "LC_ALL", "LC_CTYPE"];

/// The name of a program in one of the system's own directories; any other path stays what it is.
pub(super) fn base(name: &str) -> &str {
    name.strip_prefix("/usr/bin/").or_else(|| name.strip_prefix("/bin/")).unwrap_or(name)
}

/// Whether `arg` is, or abbreviates, or clusters one of the options.
pub(super) fn has_option(arg: &str, short: &str, long: &[&str]) -> bool {
    if let Some(rest) = arg.strip_prefix("--") {
        let name = arg.split('=').next().unwrap_or(arg);
        return !rest.is_empty() && long.iter().any(|option| option.starts_with(name));
    }
    arg.strip_prefix('-').is_some_and(|letters| letters.chars().any(|letter| short.contains(letter)))
}

fn is_number(text: &str) -> bool {
    text.chars().all(|c| c.is_ascii_digit())
}

/// Whether a build tool gets an option that makes it run or obey something else.
pub(crate) fn barred(words: &[String]) -> bool {
    let Some((name, args)) = words.split_first() else { return true };
    match name.as_str() {
        // Options may stand in a file.
        "pytest" if args.iter().any(|arg| arg.starts_with('@')) => return true,
        // What it runs has options of its own.
        "npx" => return barred(args),
        "python" | "python3" if args.first().is_some_and(|arg| arg == "-m") => {
            return barred(args.get(1..).unwrap_or_default());
        }
        // A second target is another command, and a variable may be any.
        "make" => {
            let calm = |arg: &String| {
                matches!(arg.as_str(), "-k" | "-s") || arg.strip_prefix("-j").is_some_and(is_number)
            };
            return !args.iter().skip(1).all(calm);
        }
        _ => {}
    }
    let Some((_, options)) = BARRED.iter().find(|(program, _)| program == name) else { return false };
    // What comes after `--` is for the program that is built, not for the tool.
    args.iter().take_while(|arg| *arg != "--").filter(|arg| arg.starts_with('-')).any(|arg| {
        let bare = arg.trim_start_matches('-');
        let said = bare.split('=').next().unwrap_or(bare);
        options.iter().any(|option| {
            if option.len() == 1 {
                !arg.starts_with("--") && bare.contains(option)
            } else {
                // Many tools understand an abbreviation.
                said == *option || arg.starts_with("--") && option.starts_with(said)
            }
        })
    })
}
