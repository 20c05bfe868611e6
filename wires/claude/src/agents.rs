//! The program that speaks this wire, with the words that make it do so.

use roles::agents::KnownAgent;

/// By name. `claude` is the same program behind an adapter, as editors drive it.
pub(super) const KNOWN: &[KnownAgent] = &[KnownAgent {
    name: "claude-code",
    title: "Claude Code",
    command: &[
        "claude",
        "-p",
        "--input-format",
        "stream-json",
        "--output-format",
        "stream-json",
        "--verbose",
        "--include-partial-messages",
        "--permission-prompt-tool",
        "stdio",
    ],
    install: "npm install -g @anthropic-ai/claude-code",
}];
