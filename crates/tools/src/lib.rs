//! The agent's hands: what tools there are, what each call would do, and how it is done.
//!
//! It is not the agent: it knows nothing of models, sessions or UIs. A call goes through three doors, in this order:
//! [`Tool::plan`] tells what would happen (risk, preview, digest) without doing it; [`policy::decide`] says whether it
//! may happen; [`Tool::run`] does it, after [`still_valid`] found that the world is still the one that was shown.

#![warn(missing_docs)]

pub mod args;
pub mod bash;
pub mod digest;
pub mod env;
pub mod ls;
pub mod place;
pub mod policy;
pub mod read;
pub mod sandbox;
pub mod shell;
pub mod tool;
pub mod toolbox;
pub mod write;

pub use bash::{Bash, BashJobs};
pub use ls::Ls;
pub use place::Workplace;
pub use read::Read;
pub use tool::{BoxFuture, Deed, Outcome, Plan, Port, RuleOffer, Spec, Tool, ToolError, still_valid};
pub use toolbox::Toolbox;
pub use write::Write;
