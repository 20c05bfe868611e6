//! The terms of a session: which model, how hard it thinks, what it may spend, how tools get their consent.

use serde::{Deserialize, Serialize};
use std::fmt;

/// A model, by provider and name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ModelRef {
    /// The provider, such as `anthropic`; empty where a foreign runtime does not tell it.
    pub provider: String,
    /// The provider's name for the model.
    pub name: String,
}

impl fmt::Display for ModelRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.provider.is_empty() {
            true => f.write_str(&self.name),
            false => write!(f, "{}/{}", self.provider, self.name),
        }
    }
}

/// How tools get their consent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(transform = crate::written::plain))]
#[serde(rename_all = "snake_case")]
pub enum Policy {
    /// Nothing that changes anything.
    ReadOnly,
    /// Low risk runs; everything else is asked.
    #[default]
    Ask,
    /// Edits inside the workspace run too.
    AutoEdit,
    /// Commands run too, inside the sandbox; leaving it is asked.
    Sandboxed,
    /// Everything that stays inside the sandbox runs.
    Full,
    /// Nothing that changes anything, until the person has agreed to a plan. The last here, since native revision 1 hashes its place.
    Plan,
}

impl Policy {
    /// All modes, the strictest first.
    pub const ALL: [Policy; 6] =
        [Policy::ReadOnly, Policy::Plan, Policy::Ask, Policy::AutoEdit, Policy::Sandboxed, Policy::Full];

    /// The name that a person reads and types.
    pub fn name(self) -> &'static str {
        match self {
            Policy::ReadOnly => "read-only",
            Policy::Plan => "plan",
            Policy::Ask => "ask",
            Policy::AutoEdit => "auto-edit",
            Policy::Sandboxed => "sandboxed",
            Policy::Full => "full",
        }
    }

    /// Whether nothing may be changed in it, whatever anybody answers.
    pub fn only_looks(self) -> bool {
        matches!(self, Policy::ReadOnly | Policy::Plan)
    }

    /// The mode of that name.
    pub fn named(name: &str) -> Option<Policy> {
        Policy::ALL.into_iter().find(|policy| policy.name() == name)
    }
}

impl fmt::Display for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// How hard a model shall think before it answers. A session without one leaves it to the provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(transform = crate::written::plain))]
#[serde(rename_all = "snake_case")]
pub enum Effort {
    // Not at all, or as little as the model can. No doc comment: the schema would name it last.
    None,
    Minimal,
    Low,
    Medium,
    High,
    Xhigh,
    Max,
}

impl Effort {
    /// All of them, the least first.
    pub const ALL: [Effort; 7] = [
        Effort::None,
        Effort::Minimal,
        Effort::Low,
        Effort::Medium,
        Effort::High,
        Effort::Xhigh,
        Effort::Max,
    ];

    /// The name that a person reads and types.
    pub fn name(self) -> &'static str {
        match self {
            Effort::None => "none",
            Effort::Minimal => "minimal",
            Effort::Low => "low",
            Effort::Medium => "medium",
            Effort::High => "high",
            Effort::Xhigh => "xhigh",
            Effort::Max => "max",
        }
    }

    /// What a person or a wire calls by this word; `None` for words of others.
    pub fn named(name: &str) -> Option<Effort> {
        Effort::ALL.into_iter().find(|effort| effort.name() == name)
    }
}

/// What may be spent. Of each bound: `None` is as the runtime's settings say, zero is no bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Budget {
    /// Millionths of a US dollar, for the whole session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_cost_micros: Option<u64>,
    /// Requests to the model, for one run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_steps: Option<u64>,
    /// Seconds, for one turn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_time_s: Option<u64>,
}

impl Budget {
    /// Nothing is bounded, whatever settings say.
    pub const OFF: Budget = Budget { max_cost_micros: Some(0), max_steps: Some(0), max_time_s: Some(0) };

    /// The same where another one says nothing.
    #[must_use]
    pub fn or(self, other: Budget) -> Budget {
        Budget {
            max_cost_micros: self.max_cost_micros.or(other.max_cost_micros),
            max_steps: self.max_steps.or(other.max_steps),
            max_time_s: self.max_time_s.or(other.max_time_s),
        }
    }
}
