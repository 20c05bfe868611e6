//! Tests of the whole: hub, agent, tools and dialects together, in this process, with a scripted model.

#[cfg(test)]
mod abilities;
#[cfg(test)]
mod attach;
#[cfg(test)]
mod bench;
#[cfg(test)]
mod bridges;
#[cfg(test)]
mod core_restart;
#[cfg(test)]
mod crash;
#[cfg(test)]
mod ends;
#[cfg(test)]
mod examples;
#[cfg(test)]
mod fidelity;
#[cfg(test)]
mod joining;
#[cfg(test)]
mod kept;
#[cfg(test)]
mod killed;
#[cfg(test)]
mod laws;
#[cfg(test)]
mod lemon_server;
#[cfg(test)]
mod many;
#[cfg(test)]
mod odd_ids;
#[cfg(test)]
mod offered;
#[cfg(test)]
mod partial;
#[cfg(test)]
mod postcard;
#[cfg(test)]
mod remembering;
#[cfg(test)]
mod roles;
#[cfg(test)]
mod schemas;
#[cfg(test)]
mod sessions;
#[cfg(test)]
mod sub_agents;
#[cfg(test)]
mod taken_back;
#[cfg(test)]
mod talk;
#[cfg(test)]
mod transcripts;
#[cfg(test)]
mod undo;
