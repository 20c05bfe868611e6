//! The kit against what is written down: the schemas of the wires, the one that acp's authors published, and the transcripts.

mod published;
mod schemas;
mod ui_roles;
