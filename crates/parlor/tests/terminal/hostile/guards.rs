//! A command against the process that watches over it: killing it, tracing it, reading it, getting away from it.

use crate::hostile::bench::{alive, as_each_user, wait_until};
use serde_json::json;

/// Whether this kernel keeps signals inside of the sandbox.
fn kernel_keeps_signals() -> bool {
    tools::sandbox::status().landlock.is_some_and(|version| version >= 6)
}

#[test]
fn a_command_cannot_kill_or_stop_its_guard_nor_parlor() {
    as_each_user(|world| {
        let serving = world.serve(&["--policy", "full"]);
        let mut ui = world.ui(&serving.socket);
        let parlor = serving.child.id();
        for victim in ["$PPID", &parlor.to_string()] {
            for signal in ["KILL", "STOP", "TERM", "INT", "HUP"] {
                if kernel_keeps_signals() {
                    let ran = ui.bash(&format!("kill -{signal} {victim} && echo hit"), true);
                    assert!(ran.text.contains("not permitted") && !ran.text.contains("hit"), "{ran:?}");
                }
            }
        }
        if tools::sandbox::status().filter {
            // A second of processor time: whoever has used more is ended by the kernel.
            for victim in ["$PPID", &parlor.to_string()] {
                let ran = ui.bash(&format!("prlimit --pid {victim} --cpu=1:1 && echo hit"), true);
                assert!(ran.text.contains("Permission denied") && !ran.text.contains("hit"), "{ran:?}");
            }
        }
        assert_eq!(ui.bash("echo still here", true).text, "still here\n");
    });
}

#[test]
fn a_command_cannot_trace_or_read_its_guard_nor_parlor() {
    as_each_user(|world| {
        let attack = world.attack();
        let serving = world.serve(&["--policy", "full"]);
        let mut ui = world.ui(&serving.socket);
        if tools::sandbox::status().landlock.is_none() {
            return;
        }
        let parlor = serving.child.id().to_string();
        for victim in ["$PPID", &parlor] {
            for way in ["trace", "read-memory"] {
                let ran = ui.bash(&format!("{attack} {way} {victim}"), true);
                assert!(ran.text.contains("stopped: "), "{way} {victim}: {ran:?}");
            }
            for line in [
                format!("cat /proc/{victim}/environ"),
                format!("ls -l /proc/{victim}/fd/"),
                format!("head -c 1 /proc/{victim}/fd/0"),
                format!("nsenter --target {victim} --mount --user true"),
            ] {
                let ran = ui.bash(&format!("{line} && echo got it"), true);
                assert!(ran.outcome == "failed" && !ran.text.contains("got it"), "{line}: {ran:?}");
            }
        }
    });
}

#[test]
fn nothing_outlives_its_command_by_a_double_fork_or_another_session() {
    as_each_user(|world| {
        let serving = world.serve(&["--policy", "full"]);
        let mut ui = world.ui(&serving.socket);
        let survivor = "(setsid --fork sh -c 'echo $$ > survivor; exec sleep 1000' &); until test -s survivor; do :; done";
        for line in [survivor, &format!("{survivor}; kill -9 $PPID"), &format!("{survivor}; kill -9 $$")] {
            let _ = std::fs::remove_file(world.path("project/survivor"));
            ui.bash(line, true);
            let pid: i32 = world.get("project/survivor").trim().parse().unwrap();
            wait_until("the survivor is gone", || !alive(pid));
        }
    });
}

#[test]
fn what_a_job_left_is_put_back_when_the_program_ends() {
    if tools::sandbox::status().can_hold().is_err() {
        return;
    }
    as_each_user(|world| {
        let mut serving = world.serve(&["--policy", "sandboxed"]);
        let mut ui = world.ui(&serving.socket);
        // Not in the line itself: what a person sees and agrees to stays.
        let job = "printf evil > AGENTS.md; printf evil > .envrc; touch there; sleep 1000";
        world.put("project/job.sh", job);
        ui.call("bash", &json!({"command": "bash job.sh", "background": true}), true);
        wait_until("the job wrote its files", || world.path("project/there").exists());
        let parlor = rustix::process::Pid::from_child(&serving.child);
        rustix::process::kill_process(parlor, rustix::process::Signal::TERM).unwrap();
        serving.child.wait().unwrap();
        for name in ["AGENTS.md", ".envrc"] {
            assert!(!world.path(format!("project/{name}")).exists(), "{name} stays");
            assert_eq!(world.get(&format!("project/{name}.held")), "evil");
        }
    });
}
