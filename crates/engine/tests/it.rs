//! The agent at work against a hub that checks every law.

#[cfg(test)]
#[path = "it/bench.rs"]
mod bench;
#[cfg(test)]
#[path = "it/cached_day.rs"]
mod cached_day;
#[cfg(test)]
#[path = "it/caches.rs"]
mod caches;
#[cfg(test)]
#[path = "it/cancel.rs"]
mod cancel;
#[cfg(test)]
#[path = "it/compaction.rs"]
mod compaction;
#[cfg(test)]
#[path = "it/consent.rs"]
mod consent;
#[cfg(test)]
#[path = "it/delegation.rs"]
mod delegation;
#[cfg(test)]
#[path = "it/editor.rs"]
mod editor;
#[cfg(test)]
#[path = "it/extension.rs"]
mod extension;
#[cfg(test)]
#[path = "it/files.rs"]
mod files;
#[cfg(test)]
#[path = "it/heals.rs"]
mod heals;
#[cfg(test)]
#[path = "it/heard.rs"]
mod heard;
#[cfg(test)]
#[path = "it/hooks.rs"]
mod hooks;
#[cfg(test)]
#[path = "it/hostile.rs"]
mod hostile;
#[cfg(test)]
#[path = "it/mcp.rs"]
mod mcp;
#[cfg(test)]
#[path = "it/mcp_conformance.rs"]
mod mcp_conformance;
#[cfg(test)]
#[path = "it/mcp_forms.rs"]
mod mcp_forms;
#[cfg(test)]
#[path = "it/mcp_login.rs"]
mod mcp_login;
#[cfg(test)]
#[path = "it/mcp_offers.rs"]
mod mcp_offers;
#[cfg(test)]
#[path = "it/mcp_starts.rs"]
mod mcp_starts;
#[cfg(test)]
#[path = "it/mcp_town.rs"]
mod mcp_town;
#[cfg(test)]
#[path = "it/mcp_versions.rs"]
mod mcp_versions;
#[cfg(test)]
#[path = "it/offers.rs"]
mod offers;
#[cfg(test)]
#[path = "it/person.rs"]
mod person;
#[cfg(test)]
#[path = "it/planning.rs"]
mod planning;
#[cfg(test)]
#[path = "it/secrets.rs"]
mod secrets;
#[cfg(test)]
#[path = "it/skills.rs"]
mod skills;
#[cfg(test)]
#[path = "it/stand_in.rs"]
mod stand_in;
#[cfg(test)]
#[path = "it/storm.rs"]
mod storm;
#[cfg(test)]
#[path = "it/sub_agents.rs"]
mod sub_agents;
#[cfg(test)]
#[path = "it/table.rs"]
mod table;
#[cfg(test)]
#[path = "it/together.rs"]
mod together;
#[cfg(test)]
#[path = "it/told.rs"]
mod told;
#[cfg(test)]
#[path = "it/turns.rs"]
mod turns;
#[cfg(test)]
#[path = "it/ground.rs"]
mod work_dir;
