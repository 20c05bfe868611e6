//! The tables of the wires.

use rolekit::exchange::TableRole;
use std::collections::BTreeSet;

fn methods<R: TableRole>(role: &R) -> Vec<&'static str> {
    role.tables().iter().copied().flatten().map(|row| row.method).collect()
}

/// The first of two rows would hide the second.
#[test]
fn a_request_has_one_row() {
    for methods in [
        methods(&acp::AcpRuntime::new()),
        methods(&codelia::CodeliaRuntime::new()),
        methods(&nous::NousRuntime::new()),
        methods(&openagent::OpenagentRuntime::new()),
    ] {
        assert_eq!(methods.iter().collect::<BTreeSet<_>>().len(), methods.len(), "{methods:?}");
    }
}

#[test]
fn every_command_of_the_contract_has_a_row() {
    let rows: BTreeSet<&str> = methods(&nous::NousRuntime::new()).into_iter().collect();
    let contract: BTreeSet<&str> = nous::tables::COMMANDS.iter().map(|row| row.name).collect();
    assert_eq!(rows, contract);
}
