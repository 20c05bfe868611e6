//! Our agent: does the turns that the hub orders, with a model and tools, and reports what happens.
//!
//! One task per turn; the agent's own task only routes orders. Invariants: a tool runs only after its start was kept; after a
//! cancel nothing starts; every tool that was proposed ends.

mod agent;
mod attachments;
mod briefing;
mod budget;
mod cache_meter;
mod chat;
mod compact;
mod config;
mod context;
mod converse;
mod custom_commands;
mod delegation;
mod editor;
mod extension;
mod family;
mod grants;
mod hooks;
mod host_gate;
mod long_text;
pub mod mcp;
mod offered;
mod outside_turn;
mod port;
mod ports;
mod private_file;
mod recall;
mod rules;
mod seat;
mod secrets;
mod setup;
mod skills;
mod sub_agents;
mod text_sources;
mod tool_search;
mod turn;
mod usage;
mod words;

pub use agent::{Agent, ORDERS};
pub use briefing::branch;
pub use budget::OVER_BUDGET;
pub use config::{
    COMPACT_AT, Config, ConfigError, EXTENSION_DEADLINE, Extension, Fetching, KnownSetting, SETTINGS,
    Sandbox, WorkDir, cost_micros,
};
pub use custom_commands::menu;
pub use delegation::{
    Delegation, OTHER_NEWS, OtherAgent, OtherAgents, OtherNews, OtherRun, OtherTask, OtherWord, OwnTree,
    Worktrees,
};
pub use domain::session::Budget;
pub use hooks::{Hook, HookEvent, ListedHook, approve_hook, forget_hook, hooks};
pub use outside_turn::{FilesTold, StandingText, files_of, list_skills, standing_text};
pub use port::{REPORTS, Reported};
pub use ports::PAGE_PORTS;
pub use seat::ModelSource;
pub use setup::Setup;
pub use skills::{MAX_SKILL_BYTES, MAX_SKILLS};
