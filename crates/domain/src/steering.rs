//! The files of a project that steer what programs and agents do there: hooks, settings of tools, instructions. Writing one of them is
//! never routine, whoever wants it and over whatever way.
//!
//! Only names, so that every layer can ask; where a path leads is the caller's business: ask about a path that was followed to its end.
//! Letter case does not count, because it does not on every file system.

/// Names that steer, as a folder with everything in it or as a file, at any depth of a project.
const NAMES: &[&str] = &[
    // Version control: hooks and settings that name programs.
    ".git",
    ".gitmodules",
    ".hg",
    ".jj",
    ".svn",
    // What agents and editors read.
    ".agents",
    ".aider.conf.yml",
    ".claude",
    ".codelia",
    ".codex",
    ".cursor",
    ".continue",
    ".gemini",
    ".mcp.json",
    ".openagent",
    ".opencode",
    ".parlor",
    "opencode.json",
    "agents.md",
    "agents.override.md",
    "claude.local.md",
    "warp.md",
    ".amazonq",
    ".augment",
    ".goosehints",
    ".junie",
    ".kiro",
    ".trae",
    "claude.md",
    "gemini.md",
    ".clinerules",
    ".cursorrules",
    ".roo",
    ".windsurf",
    ".windsurfrules",
    ".devcontainer",
    ".exrc",
    ".fleet",
    ".idea",
    ".nvim.lua",
    ".nvimrc",
    ".vimrc",
    ".vscode",
    ".zed",
    ".dir-locals.el",
    ".dir-locals-2.el",
    ".gdbinit",
    ".lldbinit",
    ".vim",
    // What build servers run.
    ".buildkite",
    ".circleci",
    ".forgejo",
    ".gitea",
    ".github",
    ".appveyor.yml",
    ".cirrus.yml",
    ".drone.yml",
    ".gitlab-ci.yaml",
    ".gitlab-ci.yml",
    ".semaphore",
    ".travis.yml",
    ".woodpecker",
    ".woodpecker.yml",
    "appveyor.yml",
    "azure-pipelines.yml",
    "bitbucket-pipelines.yml",
    "jenkinsfile",
    // What runs by itself when something else is done.
    ".bazelrc",
    ".envrc",
    ".githooks",
    ".lefthook-local.yml",
    "lefthook-local.yml",
    "lefthook.yaml",
    ".mise",
    "mise.local.toml",
    ".pnp.cjs",
    ".pnp.loader.mjs",
    "bunfig.toml",
    "rust-toolchain",
    "rust-toolchain.toml",
    ".husky",
    ".lefthook.yml",
    "lefthook.yml",
    ".mise.toml",
    "mise.toml",
    ".pre-commit-config.yaml",
    ".tool-versions",
    // Settings of package managers that name programs and registries.
    ".cargo",
    ".npmrc",
    ".pnpmfile.cjs",
    ".yarn",
    ".yarnrc",
    ".yarnrc.yml",
    ".pypirc",
    "pip.conf",
    // What a shell reads when it starts.
    ".bash_aliases",
    ".bash_login",
    ".bash_logout",
    ".bash_profile",
    ".bashrc",
    ".cshrc",
    ".inputrc",
    ".irbrc",
    ".login",
    ".pryrc",
    ".rprofile",
    ".tmux.conf",
    ".zlogout",
    ".profile",
    ".zlogin",
    ".zprofile",
    ".zshenv",
    ".zshrc",
];

/// Every name that steers, in lower case.
pub fn names() -> &'static [&'static str] {
    NAMES
}

/// The part of a path that steers, if there is one: the name as it is written there. `names` are the components below the project.
pub fn part<'a>(names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    names.into_iter().find(|name| NAMES.iter().any(|known| name.eq_ignore_ascii_case(known)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_steers_is_found_at_any_depth_and_in_any_case() {
        for (path, found) in [
            (".git/hooks/pre-commit", Some(".git")),
            ("vendor/x/.GIT/config", Some(".GIT")),
            (".mcp.json", Some(".mcp.json")),
            ("AGENTS.md", Some("AGENTS.md")),
            ("deep/Claude.md", Some("Claude.md")),
            (".parlor/config.toml", Some(".parlor")),
            (".github/workflows/ci.yml", Some(".github")),
            (".cargo/config.toml", Some(".cargo")),
            (".envrc", Some(".envrc")),
            (".npmrc", Some(".npmrc")),
            (".bashrc", Some(".bashrc")),
            ("src/main.rs", None),
            ("agents.md.txt", None),
            ("git/x", None),
            (".gitignore", None),
            ("", None),
        ] {
            assert_eq!(part(path.split('/')), found, "{path}");
        }
    }

    #[test]
    fn what_an_attack_found_missing_steers() {
        let agents = "AGENTS.override.md CLAUDE.local.md WARP.md .amazonq .augment .goosehints .junie .kiro .trae .roo .windsurf \
                      .aider.conf.yml .codelia .continue .openagent .opencode opencode.json";
        let editors = ".dir-locals-2.el .gdbinit .lldbinit .vim";
        let servers = ".appveyor.yml .cirrus.yml .gitlab-ci.yaml .drone.yml .semaphore appveyor.yml bitbucket-pipelines.yml";
        let tools = ".bazelrc .githooks .lefthook-local.yml lefthook-local.yml lefthook.yaml .mise mise.local.toml .pnp.cjs \
                     .pnp.loader.mjs bunfig.toml rust-toolchain rust-toolchain.toml";
        let shells = ".cshrc .irbrc .login .pryrc .Rprofile .tmux.conf .zlogout";
        for name in [agents, editors, servers, tools, shells].into_iter().flat_map(str::split_whitespace) {
            assert_eq!(part(["deep", name, "below"]), Some(name));
        }
    }

    #[test]
    fn every_name_is_written_in_lower_case_and_once() {
        for (at, name) in NAMES.iter().enumerate() {
            assert_eq!(*name, name.to_ascii_lowercase());
            assert!(!NAMES[..at].contains(name), "{name} stands twice");
        }
    }
}
