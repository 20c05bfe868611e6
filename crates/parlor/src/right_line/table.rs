//! What is typed here in the place of a word of another program: of the table of habits, what one word can be put for.

/// What is right in the place of a word.
pub(super) enum Right {
    /// These words; what stands behind stays.
    Is(&'static [&'static str]),
    /// The word that editors are told.
    Served,
    /// Nothing.
    Out,
    /// Nothing, and its value goes with it.
    OutWithValue,
    /// Its value is the file that stdout goes into.
    Into,
    /// Its value says how the answer is printed.
    Printed,
}

pub(super) const RIGHT: &[(&[&str], Right)] = &[
    (&["exec", "e", "ask", "query", "--exec"], Right::Is(&["run"])),
    (&["--prompt", "--message", "--query", "--instruction", "--task"], Right::Is(&["run"])),
    (&["chat", "tui", "repl", "start", "code", "interactive", "--interactive", "--tui"], Right::Out),
    (&["-i", "--prompt-interactive"], Right::Out),
    (&["resume", "restore", "open", "--restore"], Right::Is(&["--resume"])),
    (&["continue", "--last"], Right::Is(&["--continue"])),
    (
        &["--session", "--session-id", "--conversation", "--thread", "--from-session"],
        Right::Is(&["--resume"]),
    ),
    (
        &["history", "ls", "list", "conversations", "threads", "--list", "--list-sessions"],
        Right::Is(&["sessions"]),
    ),
    (&["version", "-v"], Right::Is(&["--version"])),
    (&["auth", "signin", "sign-in"], Right::Is(&["login"])),
    (&["signout", "sign-out"], Right::Is(&["logout"])),
    (
        &[
            "--yolo",
            "--dangerously-skip-permissions",
            "--dangerously-bypass-approvals-and-sandbox",
            "--skip-permissions",
        ],
        Right::Is(&["--policy", "full"]),
    ),
    (
        &["--yes", "-y", "--auto-approve", "--auto", "--full-auto", "--trust-all-tools", "--no-confirm"],
        Right::Is(&["--policy", "sandboxed"]),
    ),
    (
        &["--approval-mode", "--ask-for-approval", "-a", "--permission-mode", "--mode", "--permissions"],
        Right::Is(&["--policy"]),
    ),
    (&["--sandbox", "-s"], Right::Is(&["--policy"])),
    (&["--plan"], Right::Is(&["--policy", "plan"])),
    (&["--dry-run"], Right::Is(&["--policy", "read-only"])),
    (&[".", "./"], Right::Out),
    (&["--allowedtools", "--allowed-tools", "--allow-tool", "--tools"], Right::Is(&["--allow"])),
    (&["--quiet", "-q", "--silent", "--no-stream", "--verbose", "-d", "--debug"], Right::Out),
    (&["--output-format", "--format"], Right::Printed),
    (&["--stream-json", "--jsonl"], Right::Is(&["--json"])),
    (&["-o", "--output", "--out", "--output-last-message"], Right::Into),
    (&["--no-session", "--no-save", "--incognito", "--temporary"], Right::Is(&["--ephemeral"])),
    (&["--fix"], Right::Out),
    (&["--transport"], Right::OutWithValue),
    (&["--cd", "--dir", "--directory", "--project", "--path", "-C"], Right::Is(&["--cwd"])),
    (&["--add-dir", "--include-directories", "--root"], Right::Is(&["--workspace"])),
    (&["--search", "--web-search"], Right::Is(&["--fetch"])),
    (&["--list-models", "--models", "model", "providers", "provider"], Right::Is(&["models"])),
    (&["--reasoning-effort", "--thinking", "--think", "--reasoning"], Right::Is(&["--effort"])),
    (&["--max-turns", "--max-iterations", "--turns"], Right::Is(&["--max-steps"])),
    (&["--max-budget-usd", "--budget", "--max-budget", "--max-spend"], Right::Is(&["--max-cost"])),
    (&["--temperature", "--top-p", "--max-tokens", "--seed"], Right::OutWithValue),
    (&["tools", "system-prompt"], Right::Is(&["prompt"])),
    (&["undo", "revert", "rewind", "checkpoint"], Right::Is(&["sessions", "undo"])),
    (&["redo"], Right::Is(&["sessions", "redo"])),
    (&["diff", "changes", "apply"], Right::Is(&["sessions", "diff"])),
    (&["export", "share"], Right::Is(&["sessions", "export"])),
    (&["import"], Right::Is(&["sessions", "import"])),
    (&["delete", "rm", "remove"], Right::Is(&["sessions", "rm"])),
    (&["server", "daemon", "--daemon", "--background", "--detach", "service"], Right::Is(&["up"])),
    (&["stop", "kill", "shutdown", "quit"], Right::Is(&["down"])),
    (&["status", "stats", "usage", "cost", "top"], Right::Is(&["ps"])),
    (&["ui", "gui", "browser", "app", "desktop", "dashboard"], Right::Is(&["web"])),
    (&["agent"], Right::Is(&["agents"])),
    (&["--agent", "connect"], Right::Is(&["attach"])),
    (&["mcp-server", "app-server", "proto"], Right::Served),
    (&["completion", "--completion", "--completions"], Right::Is(&["completions"])),
    (&["manual"], Right::Is(&["man"])),
    (&["docs", "doc"], Right::Is(&["help", "topics"])),
    (&["worktree"], Right::Is(&["worktrees"])),
    (&["login-status", "whoami", "account"], Right::Is(&["doctor"])),
    (&["--no-color", "--no-colour", "--no-ansi"], Right::Is(&["--theme", "plain"])),
    (&["--attach", "-f", "--input"], Right::Is(&["--file"])),
    (&["watch", "monitor"], Right::Is(&["ps", "--watch"])),
    (&["backup"], Right::Is(&["sessions", "backup"])),
    (&["pair", "qr", "phone", "mobile"], Right::Is(&["web"])),
    (&["zed", "jetbrains", "neovim", "nvim", "emacs", "vscode", "ide"], Right::Served),
];

/// Two words that mean more together than the first alone.
pub(super) const PAIRS: &[(&[&str], &[&str], &[&str])] = &[
    (&["auth", "key", "keys", "credentials"], &["login", "add", "set"], &["login"]),
    (&["auth", "key", "keys", "credentials"], &["logout", "rm", "remove", "delete"], &["logout"]),
    (&["auth", "key", "keys", "credentials"], &["status", "list", "ls"], &["doctor"]),
    (&["config", "settings"], &["list", "ls", "show", "get", "path"], &["doctor"]),
    (&["server", "daemon", "service"], &["start", "up", "run"], &["up"]),
    (&["server", "daemon", "service"], &["stop", "down", "kill"], &["down"]),
    (&["server", "daemon", "service"], &["status", "list", "ls"], &["ps"]),
    (&["agent", "connect"], &["list", "ls"], &["agents"]),
    (&["model", "provider", "providers"], &["list", "ls"], &["models"]),
    (&["tools"], &["list", "ls"], &["prompt"]),
    (&["resume"], &["--last", "--latest"], &["--continue"]),
];

/// What stands below a command of another program of the same name.
pub(super) const BELOW: &[(&str, &[&str], &[&str])] = &[
    ("sessions", &["resume", "open", "continue", "restore", "attach"], &["--resume"]),
    ("sessions", &["clear", "purge", "kill"], &["sessions", "rm"]),
    ("worktrees", &["add", "new", "create"], &["--worktree"]),
    ("worktrees", &["rm", "delete"], &["worktrees", "remove"]),
    ("mcp", &["install", "new", "add-json"], &["mcp", "add"]),
    ("mcp", &["uninstall", "delete"], &["mcp", "remove"]),
    ("mcp", &["get", "show", "status"], &["mcp", "test"]),
];

/// Words of other programs' commands that begin a prompt here.
pub(super) const PROMPTS: &[&str] =
    &["review", "fix", "explain", "commit", "test", "show", "search", "allow", "view", "clean", "cat"];
