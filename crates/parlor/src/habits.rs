//! What people who come from another agent's program type, and what is meant by it here: one table, for commands and for flags.
//!
//! Invariants: nothing of it shadows a command or a flag of ours, since it is looked at only where the command line could not be read.
//! A tip never names something unrelated: what is neither in the table nor close to a word of ours is told without a tip.

/// Words of other programs, and what to type here.
pub(crate) struct Habit {
    pub(crate) words: &'static [&'static str],
    pub(crate) here: &'static str,
}

const fn habit(words: &'static [&'static str], here: &'static str) -> Habit {
    Habit { words, here }
}

pub(crate) const HABITS: &[Habit] = &[
    habit(&["exec", "e", "ask", "query", "--exec"], "`parlor run \"PROMPT\"` is one prompt without a screen"),
    habit(
        &["chat", "tui", "repl", "start", "code", "interactive", "--interactive", "--tui"],
        "`parlor` alone opens the terminal UI, `parlor \"PROMPT\"` with that prompt",
    ),
    habit(
        &["-i", "--prompt-interactive"],
        "`parlor \"PROMPT\"` opens the terminal UI with that prompt: leave the flag out",
    ),
    habit(
        &["--prompt", "--message", "--query", "--instruction", "--task"],
        "`parlor run \"PROMPT\"` is one prompt without a screen, `parlor \"PROMPT\"` opens the terminal UI with it",
    ),
    habit(
        &["resume", "continue", "restore", "open", "--last", "--restore"],
        "`parlor --resume` picks a conversation from a list, `parlor --resume ID` opens that one, `parlor --continue` the newest",
    ),
    habit(
        &["--session", "--session-id", "--conversation", "--thread", "--from-session"],
        "`parlor --resume ID` goes on with a conversation; `parlor sessions` lists the ids",
    ),
    habit(
        &["history", "ls", "list", "conversations", "threads", "--list", "--list-sessions"],
        "`parlor sessions` lists the conversations that are kept",
    ),
    habit(
        &["fork", "branch", "--fork", "--fork-session"],
        "`/branch` in the terminal UI starts a new session from any message",
    ),
    habit(
        &["config", "settings", "configure", "set", "preferences", "--config", "--settings"],
        "the settings are a file: `parlor doctor` tells where it is and what is wrong with it, `parlor help settings` what it may contain",
    ),
    habit(&["--profile"], "there are no profiles: each flag has a setting, see `parlor help settings`"),
    habit(
        &["init", "setup", "onboard", "quickstart", "bootstrap"],
        "nothing has to be set up: `parlor` works at once, `parlor login` gives it a real model, and `parlor \"write an AGENTS.md for this project\"` makes that file",
    ),
    habit(
        &["update", "upgrade", "self-update", "install", "--update", "--upgrade"],
        "Parlor does not update itself: install it again the way you did; `parlor --version` tells which one this is",
    ),
    habit(
        &["uninstall"],
        "remove the program the way you installed it; `parlor doctor` tells where its data and settings are",
    ),
    habit(&["version", "-v"], "`parlor --version`"),
    habit(
        &[
            "auth",
            "key",
            "keys",
            "signin",
            "sign-in",
            "credentials",
            "token",
            "--api-key",
            "--key",
            "--token",
        ],
        "`parlor login` saves a provider's API key; a variable such as ANTHROPIC_API_KEY does it for one shell. A key on the command line would stay in your shell's history",
    ),
    habit(&["signout", "sign-out"], "`parlor logout` forgets a key"),
    habit(
        &[
            "--yolo",
            "--dangerously-skip-permissions",
            "--dangerously-bypass-approvals-and-sandbox",
            "--skip-permissions",
        ],
        "`--policy full` runs all that stays inside the sandbox without asking; nothing here switches the sandbox off permanently",
    ),
    habit(
        &["--yes", "-y", "--auto-approve", "--auto", "--full-auto", "--trust-all-tools", "--no-confirm"],
        "`--policy sandboxed` runs commands inside the sandbox without asking, `--policy auto-edit` only edits files; `parlor run --allow TOOL \"PROMPT\"` allows single tools",
    ),
    habit(
        &["--approval-mode", "--ask-for-approval", "-a", "--permission-mode", "--mode", "--permissions"],
        "`--policy MODE`: read-only, plan, ask, auto-edit, sandboxed or full",
    ),
    habit(&["--plan"], "`--policy plan` looks and writes a plan, which begins when you agree"),
    habit(&["--dry-run"], "`--policy read-only` changes nothing"),
    habit(
        &[".", "./"],
        "`parlor` alone works in the folder that you are in, `parlor --cwd DIR` in another one",
    ),
    habit(
        &["--sandbox", "-s", "--no-sandbox"],
        "commands run in a sandbox already; `--policy MODE` says what is asked: read-only, plan, ask, auto-edit, sandboxed or full",
    ),
    habit(
        &["--allowedtools", "--allowed-tools", "--allow-tool", "--allow-all-tools", "--tools"],
        "`parlor run --allow TOOL,TOOL \"PROMPT\"`; in a terminal you are asked, and `parlor rules` shows what you allowed permanently",
    ),
    habit(
        &["--disallowedtools", "--disallowed-tools", "--deny-tool", "--deny"],
        "what is not allowed is asked or denied already; `--policy read-only` denies all that changes anything",
    ),
    habit(
        &["--quiet", "-q", "--silent", "--no-stream", "--verbose", "-d", "--debug"],
        "leave it out: of `parlor run` only the answer is on stdout, the rest on stderr; `parlor run --json \"PROMPT\"` tells everything, `parlor doctor` the setup",
    ),
    habit(
        &["--output-format", "--format", "--stream-json", "--jsonl"],
        "`parlor run --json \"PROMPT\"` prints one JSON line for each event and a last one with the result",
    ),
    habit(
        &["-o", "--output", "--out", "--output-last-message"],
        "the answer is on stdout: `parlor run \"PROMPT\" > FILE`",
    ),
    habit(
        &["--no-session", "--no-save", "--incognito", "--temporary"],
        "`--ephemeral` keeps nothing of the conversation",
    ),
    habit(&["--fix"], "`parlor doctor` changes nothing: it says what to do"),
    habit(&["--transport"], "leave it out: `parlor mcp add NAME --url URL` is a server at an address"),
    habit(
        &["--cd", "--dir", "--directory", "--project", "--path", "-C"],
        "`--cwd DIR` is where the agent works",
    ),
    habit(
        &["--add-dir", "--include-directories", "--root"],
        "`--workspace DIR` is the folder that the agent may read and write in; more folders go into the settings",
    ),
    habit(
        &["--search", "--web-search", "--web", "--browser", "--browse"],
        "`--fetch` lets the model fetch pages of the web; `parlor web` is Parlor's own page",
    ),
    habit(
        &["--oss", "--local", "--local-provider", "--ollama"],
        "`--model ollama/NAME` uses a local model, `parlor models` lists what there is",
    ),
    habit(
        &["--provider", "--list-models", "--models", "--llm", "--engine", "model", "providers", "provider"],
        "`parlor models` lists the models, `--model PROVIDER/NAME` uses one",
    ),
    habit(
        &["--base-url", "--api-base", "--endpoint"],
        "the provider's variable says it, such as `OPENAI_BASE_URL=http://localhost:8000/v1 parlor login openai`",
    ),
    habit(
        &["--reasoning-effort", "--thinking", "--think", "--reasoning"],
        "`--effort LEVEL`: none, minimal, low, medium, high, xhigh or max",
    ),
    habit(
        &["--system-prompt", "--append-system-prompt", "--system", "--instructions"],
        "what the model should always know goes into AGENTS.md; `parlor prompt` shows what it is told",
    ),
    habit(&["--max-turns", "--max-iterations", "--turns"], "`--max-steps N` asks the model at most N times"),
    habit(&["--max-budget-usd", "--budget", "--max-budget", "--max-spend"], "`--max-cost DOLLARS`"),
    habit(
        &["--temperature", "--top-p", "--max-tokens", "--seed"],
        "Parlor leaves that to the provider; `--effort LEVEL` says how hard the model thinks",
    ),
    habit(&["--mcp-config", "--mcp", "--mcp-server"], "`parlor mcp add NAME -- COMMAND` adds an MCP server"),
    habit(
        &["plugin", "plugins", "extension", "extensions", "marketplace"],
        "`parlor mcp add NAME -- COMMAND` adds tools, `parlor skills` lists skills, `parlor help settings` tells of extensions",
    ),
    habit(&["tools", "system-prompt"], "`parlor prompt` shows what the model is told: text and tools"),
    habit(
        &["undo", "revert", "rewind", "checkpoint"],
        "`parlor sessions undo` undoes what the last prompt did to files",
    ),
    habit(&["redo"], "`parlor sessions redo` does again what was taken back last"),
    habit(
        &["diff", "changes", "apply"],
        "edits are in your files already: `parlor sessions diff` shows them, `parlor sessions undo` undoes them",
    ),
    habit(
        &["review", "fix", "explain", "commit", "test"],
        "say it as a prompt, in quotes: `parlor \"review the last commit\"`; authors test a program with `parlor check`",
    ),
    habit(
        &["export", "share"],
        "`parlor sessions export ID -o FILE` writes a conversation as Markdown, HTML or JSONL",
    ),
    habit(&["import"], "`parlor sessions import FILE` imports an exported conversation"),
    habit(
        &["delete", "rm", "remove"],
        "`parlor sessions rm ID` deletes a conversation, `parlor worktrees remove NAME` a worktree",
    ),
    habit(
        &["server", "daemon", "--daemon", "--background", "--detach", "service"],
        "`parlor up` keeps sessions running in the background; it needs no further flag",
    ),
    habit(
        &["stop", "kill", "shutdown", "quit"],
        "`parlor down` ends the background server, `/stop` in the terminal UI a run",
    ),
    habit(
        &["status", "stats", "usage", "cost", "top"],
        "`parlor ps` shows the live sessions, `parlor sessions show ID` one of them, `parlor doctor` the setup",
    ),
    habit(&["ui", "gui", "browser", "app", "desktop", "dashboard"], "`parlor web` opens Parlor in a browser"),
    habit(
        &["agent", "connect", "join"],
        "`parlor agents` lists other programs' agents, `parlor attach NAME` talks to one",
    ),
    habit(
        &["mcp-server", "app-server", "proto"],
        "`parlor mcp serve` is an MCP server, `parlor acp` is an agent for editors, `parlor serve --dialect NAME --stdio` for other UIs",
    ),
    habit(
        &["completion", "--completion", "--completions"],
        "`parlor completions bash`, or zsh, fish, elvish, powershell",
    ),
    habit(
        &["manual", "docs", "doc"],
        "`parlor help COMMAND` explains a command, `parlor man` prints the manual page",
    ),
    habit(
        &["worktree"],
        "`parlor --worktree NAME` works in its own git worktree, `parlor worktrees` lists them",
    ),
    habit(&["login-status", "whoami", "account"], "`parlor doctor` tells which keys there are"),
    habit(
        &["--no-color", "--no-colour", "--color", "--no-ansi"],
        "`--theme plain` draws without colours, and NO_COLOR=1 counts everywhere",
    ),
    habit(
        &["--attach", "-f", "--input"],
        "`parlor run --file FILE \"PROMPT\"` sends a file along, `parlor run --image FILE \"PROMPT\"` a picture",
    ),
    habit(&["--agent"], "`parlor agents` lists other programs' agents, `parlor attach NAME` talks to one"),
    habit(
        &["--ui", "--runtime"],
        "`parlor bridge --from codelia --stdio --to asst -- COMMAND` connects a UI and a runtime, `parlor check --dialect asst --role runtime -- COMMAND` tests one",
    ),
    habit(
        &["permissions", "policy", "approvals", "trust", "allow", "sandbox"],
        "`--policy MODE` says what is asked: read-only, plan, ask, auto-edit, sandboxed or full; `parlor rules` shows what you allowed permanently",
    ),
    habit(
        &["hosts", "ssh", "remote"],
        "`parlor attach ssh://HOST` opens Parlor's UI on the runtime of another machine, where Parlor is installed, too",
    ),
    habit(
        &["log", "logs"],
        "`parlor sessions show ID` shows a conversation; the logs of the server lie where `parlor doctor` tells",
    ),
    habit(&["grep", "search"], "`parlor sessions search WORDS` searches all conversations"),
    habit(&["watch", "monitor"], "`parlor ps --watch` shows the live sessions, and goes on"),
    habit(&["backup"], "`parlor sessions backup FILE` copies all conversations into a file"),
    habit(&["title"], "`parlor sessions rename ID TITLE` gives a conversation a title"),
    habit(&["show", "view", "cat"], "`parlor sessions show ID` shows a conversation"),
    habit(
        &["pair", "qr", "phone", "mobile"],
        "`parlor web` prints an address that pairs the browser that opens it, on this machine; `parlor help server` tells of other ones",
    ),
    habit(
        &["clean", "cleanup", "wipe"],
        "`parlor help data` tells where everything lies, and how to start over",
    ),
    habit(&["commands"], "`parlor --help` lists the commands; those of the terminal UI begin with `/`"),
    habit(
        &["zed", "jetbrains", "neovim", "nvim", "emacs", "vscode", "ide"],
        "`parlor acp` is an agent for editors: each editor is told to start it",
    ),
    habit(&["about", "info"], "`parlor --version` tells which one this is, `parlor doctor` the setup"),
    habit(
        &["pricing", "quota"],
        "`parlor sessions show ID` tells what a conversation cost, `parlor models` lists the models",
    ),
    habit(
        &["--listen", "--host", "--port"],
        "`parlor web --port PORT` is the page, `parlor serve --dialect NAME --listen ws://127.0.0.1:0` is for other programs' UIs",
    ),
];

/// Words behind a command of ours that it does not have.
pub(crate) struct Below {
    of: &'static str,
    words: &'static [&'static str],
    pub(crate) here: &'static str,
}

const fn below(of: &'static str, words: &'static [&'static str], here: &'static str) -> Below {
    Below { of, words, here }
}

/// Any word.
const ANY: &str = "";

/// What is meant by a word that a command of ours does not have, where leaving it out would do something else.
pub(crate) const BELOW: &[Below] = &[
    below(
        "rules",
        &["add", "new", "create", "set", "allow"],
        "a rule is made where it is asked: `a` at a question; `parlor run --allow TOOL \"PROMPT\"` allows tools for one prompt",
    ),
    below(
        "rules",
        &["deny", "block"],
        "what no rule allows is asked or denied already; `parlor rules` lists what is, and revokes it",
    ),
    below(
        "devices",
        &["add", "new", "pair", "invite", "qr"],
        "`parlor web` prints an address that pairs the browser that opens it",
    ),
    below(
        "agents",
        &["add", "new", "create", "install", "register"],
        "`parlor attach --dialect acp -- COMMAND` opens any agent; `parlor help settings` tells how an agent gets a name",
    ),
    below("agents", &[ANY], "`parlor attach NAME` opens one of them, `parlor agents` lists them"),
    below(
        "skills",
        &["add", "new", "create", "install"],
        "a skill is a folder with a SKILL.md: `parlor help extend` tells where",
    ),
    below(
        "worktrees",
        &["add", "new", "create"],
        "`parlor --worktree NAME` makes a worktree and works in it",
    ),
    below(
        "models",
        &["pull", "download", "add", "install"],
        "Parlor downloads no models: pull it with your local server, then `--model ollama/NAME` uses it",
    ),
    below(
        "models",
        &["set", "use", "default", "switch", "select"],
        "`--model PROVIDER/NAME` uses a model once; `/model` in the terminal UI or `model` in the settings keeps it",
    ),
    below(
        "web",
        &["stop", "down", "kill", "end", "quit"],
        "Ctrl-C ends the page where `parlor web` runs; sessions go on",
    ),
    below("up", &["stop", "down", "kill", "end", "quit"], "`parlor down` ends the background server"),
    below("up", &["status", "list", "ls"], "`parlor ps` shows the live sessions"),
    below(
        "ps",
        &["stop", "kill", "rm", "end"],
        "`parlor down` ends the background server, `/stop` in the terminal UI a run; `/fleet` there shows all sessions",
    ),
    below(
        "hooks",
        &["add", "new", "create", "install"],
        "hooks are written in a settings file: `parlor help extend` tells how; `parlor hooks` lists them",
    ),
    below(
        "prompt",
        &[ANY],
        "`parlor prompt` shows what the model is told; `parlor run \"PROMPT\"` is one prompt without a screen",
    ),
];

/// What is meant by a word behind a command of ours.
pub(crate) fn meant_below(command: &str, word: &str) -> Option<&'static str> {
    let is = |below: &&Below| below.of == command && (below.words == [ANY] || below.words.contains(&word));
    BELOW.iter().find(is).map(|below| below.here)
}

/// Modes of other programs, and the mode here that is meant: by what it does, never a looser one.
const MODES: &[(&[&str], &str)] = &[
    (&["readonly", "read_only", "suggest", "chat", "dry-run"], "read-only"),
    (&["plan-mode", "planning"], "plan"),
    (&["default", "untrusted", "on-request", "on-failure", "manual", "normal"], "ask"),
    (&["acceptedits", "accept-edits", "auto_edit", "autoedit", "edit"], "auto-edit"),
    (&["full-auto", "auto", "workspace-write", "sandbox", "smart-approve"], "sandboxed"),
    (&["yolo", "bypasspermissions", "never", "danger-full-access", "autonomous"], "full"),
];

/// The mode that is meant by the word of another program.
pub(crate) fn mode_meant(word: &str) -> Option<&'static str> {
    let has = |words: &[&str]| words.iter().any(|known| known.eq_ignore_ascii_case(word));
    MODES.iter().find(|(words, _)| has(words)).map(|(_, mode)| *mode)
}

/// What is meant by a word of another program, if it is known.
pub(crate) fn meant(word: &str) -> Option<&'static str> {
    let has = |habit: &&Habit| {
        habit.words.iter().any(|known| *known == word || word.len() > 2 && known.eq_ignore_ascii_case(word))
    };
    HABITS.iter().find(has).map(|habit| habit.here)
}

/// How alike two words must be for one to be meant by the other, from 0 to 1: one slip in a word of three letters is.
const ALIKE: f64 = 0.66;

/// The one of these that is most like the word, if one is meant by it.
pub(crate) fn nearest<'a>(word: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    // By slips, not by how it begins: `resume` is not `rules`.
    // Dashes are alike in all flags, and say nothing.
    let bare = word.trim_start_matches('-');
    let alike =
        |one: &'a str| (strsim::normalized_damerau_levenshtein(one.trim_start_matches('-'), bare), one);
    let found = known.map(alike).filter(|(alike, _)| *alike >= ALIKE);
    found.max_by(|one, two| one.0.total_cmp(&two.0)).map(|(_, one)| one)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tip_names_nothing_unrelated() {
        let names = ["serve", "rules", "sessions", "up", "skills", "run", "models", "doctor", "worktrees"];
        let near = |word: &str| nearest(word, names.into_iter());
        for word in ["resume", "version", "update", "list files", "x", "help2", "here"] {
            assert_eq!(near(word), None, "{word}");
        }
        for (word, meant) in [
            ("sesions", "sessions"),
            ("session", "sessions"),
            ("modles", "models"),
            ("docter", "doctor"),
            ("worktre", "worktrees"),
            ("skill", "skills"),
            ("rnu", "run"),
            ("serv", "serve"),
        ] {
            assert_eq!(near(word), Some(meant), "{word}");
        }
    }
}
