//! Well-known agents that speak this wire. Commands and packages as they were run, or as their makers publish them.

use roles::agents::KnownAgent;

/// A row of the list.
const fn agent(
    name: &'static str,
    title: &'static str,
    command: &'static [&'static str],
    install: &'static str,
) -> KnownAgent {
    KnownAgent { name, title, command, install }
}

/// By name.
pub(super) const KNOWN: &[KnownAgent] = &[
    agent(
        "amp",
        "Amp",
        &["amp-acp"],
        "a release from https://github.com/tao12345666333/amp-acp, and the agent itself: npm install -g @sourcegraph/amp",
    ),
    agent("auggie", "Auggie", &["auggie", "--acp"], "npm install -g @augmentcode/auggie"),
    agent(
        "claude",
        "Claude Agent",
        &["claude-agent-acp"],
        "npm install -g @agentclientprotocol/claude-agent-acp",
    ),
    agent("cline", "Cline", &["cline", "--acp"], "npm install -g cline"),
    agent("codex", "Codex", &["codex-acp"], "npm install -g @agentclientprotocol/codex-acp"),
    agent("copilot", "GitHub Copilot", &["copilot", "--acp"], "npm install -g @github/copilot"),
    agent("cursor", "Cursor", &["cursor-agent", "acp"], "see https://cursor.com/cli"),
    agent("devin", "Devin", &["devin", "acp"], "see https://docs.devin.ai/cli"),
    agent("droid", "Factory Droid", &["droid", "exec", "--output-format", "acp"], "npm install -g droid"),
    agent("gemini", "Gemini CLI", &["gemini", "--acp"], "npm install -g @google/gemini-cli"),
    agent("goose", "goose", &["goose", "acp"], "a release from https://github.com/aaif-goose/goose"),
    agent("junie", "Junie", &["junie", "--acp=true"], "npm install -g @jetbrains/junie"),
    agent("kilo", "Kilo", &["kilo", "acp"], "npm install -g @kilocode/cli"),
    agent("kimi", "Kimi CLI", &["kimi", "acp"], "uv tool install kimi-cli"),
    agent("opencode", "OpenCode", &["opencode", "acp"], "npm install -g opencode-ai"),
    agent(
        "pi",
        "pi",
        &["pi-acp"],
        "npm install -g pi-acp, and the agent itself: npm install -g @mariozechner/pi-coding-agent",
    ),
    agent("qoder", "Qoder", &["qodercli", "--acp"], "npm install -g @qoder-ai/qodercli"),
    agent("qwen", "Qwen Code", &["qwen", "--acp"], "npm install -g @qwen-code/qwen-code"),
    agent("stakpak", "Stakpak", &["stakpak", "acp"], "a release from https://github.com/stakpak/agent"),
    agent("vibe", "Mistral Vibe", &["vibe-acp"], "a release from https://github.com/mistralai/mistral-vibe"),
];
