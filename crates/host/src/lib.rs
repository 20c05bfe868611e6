//! What it takes to run sessions on a machine, whoever shows them: settings and keys, the stack of store, agent and hub, sockets by
//! which UIs come in, processes that find each other, workers and the server in the background, the fleet of all sessions, worktrees.
//!
//! It knows no flags, prints nothing and draws nothing: what was asked for is [`launch::Launch`], what there is to say comes back as data
//! or goes to a log that the caller hands in. The command line is one of its users, a shell with windows could be another. Ways to other
//! programs' runtimes are in the crate `remote`.
//!
//! The modules stand in layers, lowest first. A module uses those of the layers above it in this list and those named before it in
//! its own; the two sides of a bar do not know each other (`cargo xtask layers` checks it).
//!
//! - words: error, version, launch, clock, log_limit, stop
//! - files: private, text_file, vault, paths, kept
//! - settings: keys, settings, store_place, guard, model_source, mode
//! - agent: stack, guests
//! - doors: peer_trust, doors, directory, announcement, processes, visits
//! - beside sessions: devices | worktrees
//! - workers: rooms, control, reach
//! - all sessions: fleet
//! - server: page, server
//!
//! | module | holds |
//! |---|---|
//! | [`launch`] | what was asked for when the program was started, as plain data |
//! | [`error`], [`version`], [`clock`], [`log_limit`], [`stop`] | what is wrong with what was asked; which program this is; the time of day; a bounded log; being told to stop |
//! | [`paths`], [`private`], [`text_file`] | where things lie; files for the person alone; reading a small one |
//! | [`settings`], [`keys`], [`vault`] | what the person has set, the keys they gave, contents of files for undo |
//! | [`model_source`], [`guard`], [`mode`] | models for the agent; this program as the guard of what it starts; the mode that a session begins in |
//! | [`store_place`] | whether conversations are kept in a database, and in which |
//! | [`kept`] | which kept conversation is meant |
//! | [`stack`], [`guests`] | store, agent and hub together; what a UI that connects meets |
//! | [`peer_trust`], [`doors`] | who may come in, and where |
//! | [`directory`], [`announcement`], [`processes`] | who has a session: the contract, how this process is found, what each tells |
//! | [`visits`] | the way to a session that another process has open |
//! | [`rooms`], [`control`], [`reach`] | workers without a terminal; what is said to the server; the way to a session |
//! | [`fleet`] | what all processes tell of their sessions |
//! | [`devices`], [`page`], [`server`] | browsers that may connect; the page's server; the server in the background |
//! | [`worktrees`] | a git worktree and a branch of its own for a session |

pub mod announcement;
pub mod clock;
pub mod control;
pub mod devices;
pub mod directory;
pub mod doors;
pub mod error;
pub mod fleet;
pub mod guard;
pub mod guests;
pub mod kept;
pub mod keys;
pub mod launch;
pub mod log_limit;
pub mod mode;
pub mod model_source;
pub mod page;
pub mod paths;
pub mod peer_trust;
pub mod private;
pub mod processes;
pub mod reach;
pub mod rooms;
pub mod server;
pub mod settings;
pub mod stack;
pub mod stop;
pub mod store_place;
pub mod text_file;
pub mod vault;
pub mod version;
pub mod visits;
pub mod worktrees;
