//! Whether commands of a session may reach a host: by the same mode and rules as everything else that it does.

use crate::grants::Grants;
use domain::ask::Scope;
use std::sync::Arc;
use tools::policy::Verdict;
use tools::{Gate, Host, HostSay, Plan, ToolContext};

/// Decides on hosts for the commands of one session.
#[derive(Debug)]
pub(crate) struct HostGate {
    grants: Grants,
    place: ToolContext,
}

impl HostGate {
    /// The gate of a session, for the ports of its tools.
    pub(crate) fn of(grants: &Grants, place: &ToolContext) -> Arc<dyn Gate> {
        Arc::new(HostGate { grants: grants.clone(), place: place.without_net() })
    }
}

impl Gate for HostGate {
    fn says(&self, host: &Host) -> HostSay {
        if let Some(port) = host.machine_port()
            && self.grants.is_pages(port)
        {
            return HostSay::Denied(format!(
                "port {port} of this machine is or was Parlor's page, which no command reaches"
            ));
        }
        let plan = Plan::reaching(host, &self.place);
        match self.grants.verdict(&plan) {
            Verdict::Allow(_) => HostSay::Allowed,
            Verdict::Deny(why) => HostSay::Denied(why),
            Verdict::Ask => HostSay::Asked { rule: plan.rule.map(|rule| rule.words) },
        }
    }

    fn machine_ports(&self) -> Vec<u16> {
        self.grants.machine_ports()
    }

    fn remember(&self, scope: Scope, host: &Host) {
        self.grants.remember(scope, &Plan::reaching(host, &self.place));
    }
}
