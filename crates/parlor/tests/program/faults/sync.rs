//! What was acknowledged is on disk first: the system calls of the built program, in their order. A kill cannot show a missing sync, for
//! the kernel still has what was written.

use crate::faults::World;
use crate::release::talk::Native;
use serde_json::json;
use std::collections::BTreeSet;

/// The calls that matter, with the files that they are about.
const CALLS: &str = "trace=fdatasync,fsync,read,write,writev,pwrite64";
/// A disk that takes its time: who does not wait for it is seen.
const SLOW: &str = "inject=fdatasync,fsync:delay_enter=50000";

#[test]
fn a_receipt_is_written_only_after_the_log_is_synced() {
    let world = World::new();
    world.script("model text \"Hello.\"\n");
    let (trace, parlor) = (world.path("trace").display().to_string(), crate::faults::PARLOR);
    let words = ["-f", "-y", "-s", "300", "-e", CALLS, "-e", SLOW, "-o", &trace, parlor, "serve"];
    let words = [&words[..], &["--dialect", "native", "--stdio", "--model", "scripted/model.txt"]].concat();
    let mut ui = Native::start(world.command("strace".as_ref(), &words));
    ui.new_session("sess-00000000abcd", "synced");
    let prompt = json!({"prompt": {"input": {"text": "remember this"}}});
    ui.command(Some("sess-00000000abcd"), &prompt);
    ui.leave();

    let trace = std::fs::read_to_string(world.path("trace")).unwrap();
    let (mut written, mut synced, mut receipts) = (false, false, 0);
    // Threads whose sync of the log has begun and is not over.
    let mut syncing = BTreeSet::new();
    for line in trace.lines() {
        let thread = line.split_whitespace().next().unwrap_or_default();
        let of_log = line.contains("sessions.db-wal>");
        let syncs = line.contains("fdatasync") || line.contains("fsync");
        if line.contains("read") && line.contains("remember this") {
            // What was kept before the prompt was heard says nothing about it.
            (written, synced) = (false, false);
        } else if of_log && line.contains("pwrite64(") {
            (written, synced) = (true, false);
        } else if of_log && syncs && line.contains("unfinished") {
            syncing.insert(thread);
        } else if syncs && (of_log || line.contains("resumed") && syncing.remove(thread)) {
            synced = written;
        } else if line.contains("write") && line.contains("settled") && line.contains("started") {
            receipts += 1;
            assert!(written && synced, "told before it was on disk: {line}\n{trace}");
        }
    }
    assert_eq!(receipts, 1, "{trace}");
}
