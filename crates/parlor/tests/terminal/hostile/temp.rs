//! Temp of a session's own, in the whole program.

use crate::hostile::bench::as_each_user;
use serde_json::json;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
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
        // Links mean the same for tools and for commands, and what fails is told by the names that commands know.
        let ran = ui.bash("bash -c 'mkdir /tmp/d; ln -s /tmp/d /tmp/abs; echo in > /tmp/d/f'", false);
        assert_eq!(ran.outcome, "done", "{ran:?}");
        for path in ["/tmp/abs/f", "/tmp/abs/../d/f"] {
            let ran = ui.call("read", &json!({"path": path}), false);
            assert!(ran.asked.is_none() && ran.text.contains("in"), "{path} {ran:?}");
        }
        for (path, lands) in [("/tmp/abs/y", "/tmp/d/y"), ("/tmp/d/../z", "/tmp/z")] {
            let ran = ui.call("write", &json!({"path": path, "content": "there\n"}), false);
            assert!(ran.asked.is_none() && ran.outcome == "done", "{path} {ran:?}");
            assert_eq!(ui.bash(&format!("bash -c 'cat {lands}'"), false).text, "there\n");
        }
        let ran = ui.call("read", &json!({"path": "/tmp/abs/nothing.txt"}), false);
        assert!(ran.text.contains("/tmp/d/nothing.txt") && !ran.text.contains("parlor-temp-"), "{ran:?}");
        // Another session, at the same time, has another.
        let mut other = world.ui(&serving.socket);
        let ran = other.bash("bash -c 'cat /tmp/by-a-tool; ls /tmp'", true);
        assert!(ran.text.contains("No such file") && !ran.text.contains("agent"), "{ran:?}");
        let temps = || fs::read_dir(world.path("data/temp")).into_iter().flatten().count();
        assert_eq!(temps(), 2);
        drop((ui, other));
        let process = rustix::process::Pid::from_child(&serving.child);
        rustix::process::kill_process(process, rustix::process::Signal::TERM).unwrap();
        serving.child.wait().unwrap();
        assert_eq!(temps(), 0, "temp is left behind");
    });
}

#[test]
fn what_another_user_put_at_a_name_in_temp_is_not_what_a_setting_shares() {
    if tools::sandbox::status().can_hold().is_err() || !rustix::process::getuid().is_root() {
        return;
    }
    as_each_user(|world| {
        let temp = world.temp();
        fs::set_permissions(temp.path(), Permissions::from_mode(0o1777)).unwrap();
        let (temp, home) = (temp.path().display(), world.path("home"));
        let named = ["screens", "theirs", "mine"].map(|name| format!("\"{temp}/{name}\"")).join(", ");
        world.put("config/config.toml", format!("[sandbox]\nalso_writable = [{named}]\n"));
        world.folder("home/.ssh");
        world.put("home/.ssh/id_rsa", "THE KEY\n");
        let plant = format!(
            "umask 0; symlink q({}), q({temp}/screens) and mkdir q({temp}/theirs) or die",
            home.display()
        );
        assert_eq!(world.stranger("/usr/bin/perl", &["-e", &plant]), "");

        let said =
            world.outside("sh", &["-c", &format!("{} doctor", world.parlor(&[]).get_program().display())]);
        for name in ["screens is a link in a folder where anybody writes", "theirs is another user's"] {
            assert!(said.contains("also_writable in your settings") && said.contains(name), "{name}: {said}");
        }
        let serving = world.serve(&["--policy", "sandboxed"]);
        let mut ui = world.ui(&serving.socket);
        let home = home.display();
        world.put(
            "project/run.sh",
            format!(
                "cat {home}/.ssh/id_rsa {temp}/screens/.ssh/id_rsa; echo x > {home}/.bashrc; echo x > {temp}/theirs/x\n\
                 echo shot > {temp}/mine/shot"
            ),
        );
        let ran = ui.bash("bash run.sh", true);
        assert!(!ran.text.contains("THE KEY"), "{ran:?}");
        assert_eq!(world.get("home/.bashrc"), "");
        assert!(!fs::exists(format!("{temp}/theirs/x")).unwrap());
        assert_eq!(fs::read_to_string(format!("{temp}/mine/shot")).unwrap(), "shot\n");
        assert_eq!(fs::metadata(format!("{temp}/mine")).unwrap().permissions().mode() & 0o077, 0);
    });
}

#[test]
fn no_link_in_the_sessions_temp_has_something_mounted_over_what_it_leads_to() {
    as_each_user(|world| {
        let serving = world.serve(&["--policy", "sandboxed"]);
        let mut ui = world.ui(&serving.socket);
        let user = if world.is_root() { 0 } else { rustix::fs::stat(world.path("home")).unwrap().st_uid };
        world.folder("project/src");
        world.put("project/src/main.c", "int main;\n");
        world.put(
            "project/plant.sh",
            format!(
                "ln -s $PWD/src /tmp/ssh-cache; ln -s /usr/bin /tmp/ssh-2; ln -s /proc /tmp/.X11-unix; ln -s /dev /tmp/tmux-{user}\n\
                 mkdir /tmp/ssh-work && echo kept > /tmp/ssh-work/f"
            ),
        );
        assert_eq!(ui.bash("bash plant.sh", true).outcome, "done");
        world.put(
            "project/look.sh",
            "cat src/main.c /tmp/ssh-work/f; echo new > src/new; ls /usr/bin/env /proc/self/exe",
        );
        let ran = ui.bash("bash look.sh", true);
        assert!(ran.text.starts_with("int main;\n") && ran.outcome == "done", "{ran:?}");
        assert_eq!(world.get("project/src/new"), "new\n");
        // Without a temp of its own the innocent folder is closed: it may be an agent's.
        if tools::sandbox::status().can_hold().is_ok() {
            assert!(ran.text.contains("kept\n"), "{ran:?}");
        }
    });
}

#[test]
fn a_temp_beside_the_data_folder_is_closed_to_other_users() {
    as_each_user(|world| {
        // Nothing can be made there.
        world.put("data/temp", "");
        let serving = world.serve(&["--policy", "sandboxed"]);
        let mut ui = world.ui(&serving.socket);
        let name = format!("of-{}", world.path("").file_name().unwrap().display());
        assert_eq!(ui.bash(&format!("bash -c 'echo secret > /tmp/{name}'"), true).outcome, "done");
        let temps = fs::read_dir(std::env::temp_dir()).unwrap().flatten().map(|entry| entry.path());
        let of_sessions = temps.filter(|path| path.join("tmp").join(&name).exists());
        for temp in of_sessions {
            assert_eq!(fs::metadata(&temp).unwrap().permissions().mode() & 0o077, 0, "{}", temp.display());
        }
    });
}
