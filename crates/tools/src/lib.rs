//! The agent's hands: what tools there are, what each call would do, and how it is done.
//!
//! It is not the agent: it knows nothing of models, sessions or UIs. A call goes through three doors, in this order:
//! [`Tool::plan`] tells what would happen (risk, preview, digest) without doing it; [`policy::decide`] says whether it
//! may happen; [`Tool::run`] does it, after [`still_valid`] found that the world is still the one that was shown.
//!
//! The modules stand in layers, lowest first. A module uses those of the layers above it in this list and those named before it in
//! its own; the two sides of a bar do not know each other (`cargo xtask layers` checks it). So the reader of shell lines knows nothing
//! of the rest, and the sandbox nothing of tools.
//!
//! - reader and sandbox: shell | home, exact, sandbox
//! - network: net
//! - texts: address, diff, plain_file, digest, encoding, env, forms, line_ends, names, outline, nearest, loose, title
//! - words: error, args, buffers, known_secrets, output, tries, jobs, rule, gate, port, proxy
//! - context: workspace, tree, temp, steering, built, context
//! - calls: tool, touches, policy, passes, own_git
//! - tools: ask, todo, fetch, bash, ls, search, plain, write, edit, patch, read, toolbox, heard | checkpoint | leashed

mod address;
pub mod args;
pub mod ask;
pub mod bash;
pub mod buffers;
mod built;
pub mod checkpoint;
pub mod context;
mod diff;
pub mod digest;
pub mod edit;
mod encoding;
pub mod env;
mod error;
mod exact;
pub mod fetch;
mod forms;
mod gate;
pub mod heard;
mod home;
mod jobs;
mod known_secrets;
pub mod leashed;
mod line_ends;
mod loose;
pub mod ls;
pub mod names;
mod nearest;
pub mod net;
pub mod outline;
mod output;
pub mod own_git;
mod passes;
pub mod patch;
pub mod plain;
pub mod plain_file;
pub mod policy;
mod port;
mod proxy;
pub mod read;
mod rule;
pub mod sandbox;
pub mod search;
pub mod shell;
pub mod steering;
mod temp;
mod title;
pub mod todo;
pub mod tool;
pub mod toolbox;
mod touches;
mod tree;
mod tries;
pub mod workspace;
pub mod write;

pub use address::{Host, looks_public};
pub use ask::{Ask, AskRequest};
pub use bash::{Bash, BashJobs};
pub use context::ToolContext;
pub use edit::Edit;
pub use exact::copy as copy_exactly;
pub use fetch::Fetch;
pub use gate::{Gate, HostSay};
pub use heard::{CallArgs, Heard};
pub use home::home;
pub use known_secrets::KnownSecrets;
pub use ls::Ls;
pub use net::Net;
pub use patch::ApplyPatch;
pub use proxy::NAMES as PROXY_VARIABLES;
pub use read::Read;
pub use search::{Find, Grep};
pub use todo::{ItemState, PlanItem, Todo};
pub use tool::{
    BoxFuture, Deed, Leaves, Outcome, Plan, Port, Question, RuleOffer, Spec, Tool, ToolError, still_valid,
};
pub use toolbox::{CALL_FOUND, Toolbox};
pub use touches::Touches;
pub use workspace::{Bounds, NoWorkspace};
pub use write::Write;
