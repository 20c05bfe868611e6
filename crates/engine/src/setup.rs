//! What the agent is given before it begins.

use crate::config::Config;
use crate::delegation::Delegation;
use crate::seat::ModelSource;
use domain::port::menu::AgentMenu;
use std::path::PathBuf;
use std::sync::Arc;
use tools::Toolbox;
use tools::checkpoint::Vault;
use tools::policy::Allowance;
use tools::sandbox::Guard;

/// What the agent works with.
#[derive(Clone)]
pub struct Setup {
    /// Where models come from.
    pub models: Arc<dyn ModelSource>,
    pub toolbox: Toolbox,
    /// The user's data directory: rules and spilled outputs live there.
    pub data: PathBuf,
    /// The program that keeps children in bounds, if there is one.
    pub guard: Option<Guard>,
    /// What the person has set.
    pub config: Config,
    /// The commands that UIs know from the start, see [`crate::menu`].
    pub menu: AgentMenu,
    /// What was allowed when the program was started.
    pub allow: Vec<Allowance>,
    /// Where what stood in files is kept; without one nothing can be taken back.
    pub vault: Option<Arc<dyn Vault>>,
    /// Who and what helps with tasks for sub-agents.
    pub delegation: Delegation,
}
