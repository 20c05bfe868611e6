//! Well-known agents that speak this wire. Commands and packages as they were run, or as the registry publishes them.

use roles::agents::KnownAgent;

/// By name.
pub(super) const KNOWN: &[KnownAgent] = &[
    KnownAgent {
        name: "claude",
        title: "Claude Agent",
        command: &["claude-agent-acp"],
        install: "npm install -g @agentclientprotocol/claude-agent-acp",
    },
    KnownAgent {
        name: "codex",
        title: "Codex",
        command: &["codex-acp"],
        install: "npm install -g @zed-industries/codex-acp",
    },
    KnownAgent {
        name: "gemini",
        title: "Gemini CLI",
        command: &["gemini", "--acp"],
        install: "npm install -g @google/gemini-cli",
    },
    KnownAgent {
        name: "goose",
        title: "goose",
        command: &["goose", "acp"],
        install: "a release from https://github.com/block/goose",
    },
    KnownAgent {
        name: "opencode",
        title: "OpenCode",
        command: &["opencode", "acp"],
        install: "npm install -g opencode-ai, or see https://opencode.ai",
    },
    KnownAgent {
        name: "qwen",
        title: "Qwen Code",
        command: &["qwen", "--acp"],
        install: "npm install -g @qwen-code/qwen-code",
    },
    KnownAgent {
        name: "vibe",
        title: "Mistral Vibe",
        command: &["vibe-acp"],
        install: "a release from https://github.com/mistralai/mistral-vibe",
    },
];
