//! Temp of a session's own, in the whole program.

use crate::hostile::bench::as_each_user;
use serde_json::json;
use std::os::unix::net::UnixListener;

#[test]
fn a_session_has_a_temp_of_its_own_which_ends_with_it() {
    if tools::sandbox::status().can_hold().is_err() {
        return;
    }
    as_each_user(|world| {
        let theirs = world.temp();
        let socket = theirs.path().join("agent");
        let _agent = UnixListener::bind(&socket).unwrap();
        let mut serving = world.serve(&["--policy", "sandboxed"]);
        let mut ui = world.ui(&serving.socket);
        let name = theirs.path().join("log").display().to_string();
        // By a script, so that nothing but the leash decides.
        world.put(
            "project/run.sh",
            format!("mkdir -p {0} && echo own > {name}; ls -A {0}", theirs.path().display()),
        );
        let ran = ui.bash("bash run.sh", true);
        assert_eq!((ran.outcome.as_str(), ran.text.as_str()), ("done", "log\n"), "{ran:?}");
        assert!(!theirs.path().join("log").exists());
        // The next command and the tools have it, unasked.
        for (tool, args) in [
            ("bash", json!({"command": format!("bash -c 'cat {name}'")})),
            ("bash", json!({"command": format!("cat {name}")})),
            ("read", json!({"path": name})),
        ] {
            let ran = ui.call(tool, &args, false);
            assert!(ran.asked.is_none() && ran.text.contains("own"), "{tool} {args} {ran:?}");
        }
        let wrote = ui.call("write", &json!({"path": "/tmp/by-a-tool", "content": "tool\n"}), false);
        assert!(wrote.asked.is_none() && wrote.outcome == "done", "{wrote:?}");
        assert!(ui.bash("bash -c 'cat /tmp/by-a-tool'", false).text.contains("tool"));
        // Another session, at the same time, has another.
        let mut other = world.ui(&serving.socket);
        let ran = other.bash("bash -c 'cat /tmp/by-a-tool; ls /tmp'", true);
        assert!(ran.text.contains("No such file") && !ran.text.contains("agent"), "{ran:?}");
        let temps = || std::fs::read_dir(world.path("data/temp")).into_iter().flatten().count();
        assert_eq!(temps(), 2);
        drop((ui, other));
        let process = rustix::process::Pid::from_child(&serving.child);
        rustix::process::kill_process(process, rustix::process::Signal::TERM).unwrap();
        serving.child.wait().unwrap();
        assert_eq!(temps(), 0, "temp is left behind");
    });
}
