//! What must be installed before a chore can run: looked for first, installed when it is missing and we may.
//!
//! To add a part, add a row: how to see that it is there, how to install it, and why we need it. A part that is
//! missing and cannot be installed stops the chore with the command a person should run; no test is skipped.

use std::collections::BTreeSet;

use anyhow::{Context, Result, bail};

use crate::shell::Shell;

/// Who may install a part.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rights {
    /// It goes into the person's own folders.
    User,
    /// It goes into the system.
    Root,
}

/// One thing that must be there.
pub(crate) struct Part {
    pub(crate) name: &'static str,
    pub(crate) why: &'static str,
    /// Ends well when the part is there.
    pub(crate) probe: &'static [&'static str],
    /// What installs it, line by line.
    pub(crate) install: &'static [&'static [&'static str]],
    pub(crate) rights: Rights,
}

/// What `lint` needs.
pub(crate) const FOR_LINT: &[Part] = &[
    Part {
        name: "rustfmt",
        why: "formatting is checked",
        probe: &["cargo", "fmt", "--version"],
        install: &[&["rustup", "component", "add", "rustfmt"]],
        rights: Rights::User,
    },
    Part {
        name: "clippy",
        why: "its lints are errors here",
        probe: &["cargo", "clippy", "--version"],
        install: &[&["rustup", "component", "add", "clippy"]],
        rights: Rights::User,
    },
];

/// What `test` needs.
pub(crate) const FOR_TEST: &[Part] = &[
    Part {
        name: "bash",
        why: "the tool of that name runs commands with it",
        probe: &["bash", "-c", "exit 0"],
        install: &[APT_UPDATE, &["apt-get", "install", "--yes", "--no-install-recommends", "bash"]],
        rights: Rights::Root,
    },
    Part {
        name: "strace",
        why: "it shows that what is acknowledged was synced before",
        probe: &["strace", "-o", "/dev/null", "true"],
        install: &[APT_UPDATE, &["apt-get", "install", "--yes", "--no-install-recommends", "strace"]],
        rights: Rights::Root,
    },
    Part {
        name: "valgrind",
        why: "it counts the instructions of a start, the same on every machine",
        probe: &["valgrind", "--version"],
        install: &[APT_UPDATE, &["apt-get", "install", "--yes", "--no-install-recommends", "valgrind"]],
        rights: Rights::Root,
    },
    Part {
        name: "PostgreSQL",
        why: "the store of teams is tried with the real one, which each test starts for itself",
        probe: &["sh", "-c", "command -v initdb || ls /usr/lib/postgresql/*/bin/initdb"],
        install: &[APT_UPDATE, &["apt-get", "install", "--yes", "--no-install-recommends", "postgresql"]],
        rights: Rights::Root,
    },
    NPM,
    Part {
        name: "server-everything",
        why: "the engine is tried with a real MCP server of other people",
        probe: &["test", "-f", MCP_EVERYTHING],
        install: &[&[
            "npm",
            "install",
            "--no-audit",
            "--no-fund",
            "--prefix",
            "target/xtask/npm",
            "@modelcontextprotocol/server-everything@2026.8.31",
        ]],
        rights: Rights::User,
    },
    Part {
        name: "the library of the Agent Client Protocol",
        why: "both roles are tried with it, as with a program of other people",
        probe: &["test", "-f", ACP_LIBRARY],
        install: &[&[
            "npm",
            "install",
            "--no-audit",
            "--no-fund",
            "--prefix",
            "target/xtask/npm",
            "@agentclientprotocol/sdk@2.4.0",
            "zod@4",
        ]],
        rights: Rights::User,
    },
];

/// What the conformance suite of MCP needs.
pub(crate) const FOR_MCP_CONFORMANCE: &[Part] = &[
    NPM,
    Part {
        name: "the conformance suite of MCP",
        why: "the MCP client is tried with it; it wants a node of its own, from version 22 on",
        probe: &["test", "-f", MCP_CONFORMANCE, "-a", "-x", MCP_CONFORMANCE_NODE],
        install: &[&[
            "npm",
            "install",
            "--no-audit",
            "--no-fund",
            "--prefix",
            "target/xtask/npm",
            "@modelcontextprotocol/conformance@0.1.16",
            "node@22.23.3",
        ]],
        rights: Rights::User,
    },
];

/// What building and linting the page needs.
pub(crate) const FOR_PAGE: &[Part] = &[NODE, NPM];

/// What the tests of the page need.
pub(crate) const FOR_PAGE_TESTS: &[Part] = &[
    NODE,
    Part {
        name: "chromium",
        why: "the page is tried in a real browser",
        probe: &["chromium", "--version"],
        install: &[APT_UPDATE, &["apt-get", "install", "--yes", "--no-install-recommends", "chromium"]],
        rights: Rights::Root,
    },
    Part {
        name: "firefox-esr",
        why: "the page is tried in a second browser",
        probe: &["firefox-esr", "--version"],
        install: &[APT_UPDATE, &["apt-get", "install", "--yes", "--no-install-recommends", "firefox-esr"]],
        rights: Rights::Root,
    },
];

/// What building and running the desktop shell needs.
pub(crate) const FOR_DESKTOP: &[Part] = &[Part {
    name: "WebKitGTK for developers",
    why: "the desktop shell shows the page with it",
    probe: &["pkg-config", "--exists", "webkit2gtk-4.1", "gtk+-3.0"],
    install: &[
        APT_UPDATE,
        &[
            "apt-get",
            "install",
            "--yes",
            "--no-install-recommends",
            "libwebkit2gtk-4.1-dev",
            "pkg-config",
            "xdg-utils",
        ],
    ],
    rights: Rights::Root,
}];

/// What a package of it is made with.
pub(crate) const FOR_PACKAGE: &[Part] = &[Part {
    name: "dpkg-dev",
    why: "what the package needs of the system is read off its programs",
    probe: &["dpkg-shlibdeps", "--version"],
    install: &[APT_UPDATE, &["apt-get", "install", "--yes", "--no-install-recommends", "dpkg-dev"]],
    rights: Rights::Root,
}];

/// What the tests of the desktop shell need beside that.
pub(crate) const FOR_DESKTOP_TESTS: &[Part] = &[
    Part {
        name: "WebKitWebDriver",
        why: "the window is driven by it",
        probe: &["WebKitWebDriver", "--help"],
        install: &[
            APT_UPDATE,
            &["apt-get", "install", "--yes", "--no-install-recommends", "webkit2gtk-driver"],
        ],
        rights: Rights::Root,
    },
    Part {
        name: "Xvfb",
        why: "windows that nobody sees",
        probe: &["sh", "-c", "command -v Xvfb"],
        install: &[APT_UPDATE, &["apt-get", "install", "--yes", "--no-install-recommends", "xvfb"]],
        rights: Rights::Root,
    },
    Part {
        name: "openbox, xdotool and xclip",
        why: "windows that have the focus, and a person's keys and clipboard",
        probe: &["sh", "-c", "command -v openbox && command -v xdotool && command -v xclip"],
        install: &[
            APT_UPDATE,
            &["apt-get", "install", "--yes", "--no-install-recommends", "openbox", "xdotool", "xclip"],
        ],
        rights: Rights::Root,
    },
    Part {
        name: "dbus-daemon",
        why: "each test has a desktop of its own",
        probe: &["dbus-daemon", "--version"],
        install: &[APT_UPDATE, &["apt-get", "install", "--yes", "--no-install-recommends", "dbus-daemon"]],
        rights: Rights::Root,
    },
];

/// The program that builds, lints and tests the page.
const NODE: Part = Part {
    name: "node",
    why: "the page is built, linted and tested with it, from version 20 on",
    probe: &["node", "--eval", "process.exit(Number(process.versions.node.split('.')[0]) >= 20 ? 0 : 1)"],
    install: &[APT_UPDATE, &["apt-get", "install", "--yes", "--no-install-recommends", "nodejs"]],
    rights: Rights::Root,
};

/// Where the packages of the page come from, and the programs of other people that are tried.
const NPM: Part = Part {
    name: "npm",
    why: "the packages of the page and an MCP server of other people come from there",
    probe: &["npm", "--version"],
    install: &[APT_UPDATE, &["apt-get", "install", "--yes", "--no-install-recommends", "npm"]],
    rights: Rights::Root,
};

/// The library of the Agent Client Protocol, once it is installed; seen from the root of the checkout.
pub(crate) const ACP_LIBRARY: &str =
    "target/xtask/npm/node_modules/@agentclientprotocol/sdk/dist/v1/stable/acp.js";

/// The MCP server of other people, once it is installed; seen from the root of the checkout.
pub(crate) const MCP_EVERYTHING: &str =
    "target/xtask/npm/node_modules/@modelcontextprotocol/server-everything/dist/index.js";

/// The conformance suite of MCP, once it is installed; seen from the root of the checkout.
pub(crate) const MCP_CONFORMANCE: &str =
    "target/xtask/npm/node_modules/@modelcontextprotocol/conformance/dist/index.js";
pub(crate) const MCP_CONFORMANCE_NODE: &str = "target/xtask/npm/node_modules/node/bin/node";

const APT_UPDATE: &[&str] = &["apt-get", "update"];

/// What the decision about one part is.
#[derive(Debug, PartialEq, Eq)]
enum Verdict {
    Present,
    Install,
    /// A person has to do it: the text says how.
    Stuck(String),
}

/// Makes sure that every part is there.
pub(crate) fn ensure(shell: &Shell, parts: &[Part]) -> Result<()> {
    let mut done: BTreeSet<&[&str]> = BTreeSet::new();
    for part in parts {
        match decide(part, |command| shell.probe(command)) {
            Verdict::Present => {}
            Verdict::Stuck(how) => bail!(how),
            Verdict::Install => {
                println!("{} is missing ({}): installing it", part.name, part.why);
                for &line in part.install {
                    // One `apt-get update` is enough for all parts.
                    if done.insert(line) {
                        install_line(shell, part, line)?;
                    }
                }
                if !shell.probe(part.probe) {
                    bail!("{} was installed but `{}` still fails", part.name, part.probe.join(" "));
                }
            }
        }
    }
    Ok(())
}

fn install_line(shell: &Shell, part: &Part, line: &'static [&'static str]) -> Result<()> {
    let (program, args) = line.split_first().context("an empty install line")?;
    shell
        .step(program, args, &[("DEBIAN_FRONTEND", "noninteractive")])
        .with_context(|| format!("{} could not be installed; {}", part.name, by_hand(part)))
}

fn decide(part: &Part, probe: impl Fn(&[&str]) -> bool) -> Verdict {
    if probe(part.probe) {
        return Verdict::Present;
    }
    if part.rights == Rights::Root && !probe(&["sh", "-c", "test \"$(id -u)\" = 0"]) {
        let why = format!("{} is missing ({}) and only root may install it", part.name, part.why);
        return Verdict::Stuck(format!("{why}; {}", by_hand(part)));
    }
    Verdict::Install
}

fn by_hand(part: &Part) -> String {
    let lines: Vec<String> = part.install.iter().map(|line| line.join(" ")).collect();
    format!("install it by hand, for example with `{}`, and start again", lines.join(" && "))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLANTED: Part = Part {
        name: "spoon",
        why: "soup",
        probe: &["spoon", "--version"],
        install: &[APT_UPDATE, &["apt-get", "install", "spoon"]],
        rights: Rights::Root,
    };

    #[test]
    fn a_part_that_is_there_is_left_alone() {
        assert_eq!(decide(&PLANTED, |_| true), Verdict::Present);
    }

    #[test]
    fn a_missing_part_is_installed_by_root() {
        assert_eq!(decide(&PLANTED, |command| command[0] == "sh"), Verdict::Install);
    }

    #[test]
    fn without_rights_the_person_is_told_what_to_run() {
        let Verdict::Stuck(how) = decide(&PLANTED, |_| false) else { panic!("it must be stuck") };
        assert!(how.contains("`apt-get update && apt-get install spoon`"), "{how}");
        assert!(how.contains("soup"), "{how}");
    }

    #[test]
    fn every_row_can_be_probed_installed_and_explained() {
        for part in FOR_LINT
            .iter()
            .chain(FOR_TEST)
            .chain(FOR_MCP_CONFORMANCE)
            .chain(FOR_PAGE_TESTS)
            .chain(FOR_DESKTOP)
            .chain(FOR_DESKTOP_TESTS)
        {
            assert!(!part.probe.is_empty() && !part.install.is_empty(), "{}", part.name);
            assert!(part.install.iter().all(|line| !line.is_empty()), "{}", part.name);
            assert!(!part.why.is_empty(), "{}", part.name);
        }
    }
}
