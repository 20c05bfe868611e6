//! Ways out of a sandbox that go through other programs: what starts something later, what has more rights, what does as it is told by
//! a socket. With the real programs where they are installed; a test that lacks one says so and tries the rest.

use crate::leash::{Bench, ended};
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::net::UnixListener;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use tools::sandbox::Leash;

/// Where a program is, if it is installed; said when it is not.
fn installed(name: &str) -> bool {
    let found = std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default())
        .any(|folder| folder.join(name).is_file());
    if !found {
        println!("{name} is not installed: not tried");
    }
    found
}

/// A program of the person's own, on no leash.
fn person(bench: &Bench, program: &str, args: &[&str]) -> Output {
    let mut command = Command::new(program);
    command.args(args).current_dir(bench.work.path()).env_clear().env("HOME", bench.home.path());
    command
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("SHELL", "/bin/sh")
        .stdin(Stdio::null());
    if let Some(user) = bench.user {
        command.uid(user).gid(user);
    }
    command.output().unwrap()
}

#[test]
fn nothing_is_left_for_others_to_start_later() {
    for bench in Bench::all().into_iter().filter(|bench| bench.status().files) {
        for folder in [".config/autostart", ".config/systemd/user", ".local/bin"] {
            std::fs::create_dir_all(bench.home.path().join(folder)).unwrap();
        }
        for file in [".bashrc", ".profile", ".gitconfig", ".tmux.conf"] {
            bench.put(file, "old");
        }
        bench.own(bench.home.path());
        for file in [
            ".bashrc",
            ".profile",
            ".zshrc",
            ".gitconfig",
            ".tmux.conf",
            ".config/autostart/x.desktop",
            ".config/systemd/user/x.service",
            ".local/bin/ls",
            ".ssh/authorized_keys",
            ".ssh/rc",
        ] {
            let said = bench.line(&format!("echo x >> {}", bench.path(file)));
            said.fails_with("Permission denied");
        }
        // Of the system: root could write there, and cron and at do what they find.
        let spools = [
            "/var/spool",
            "/var/spool/cron",
            "/var/spool/cron/crontabs",
            "/var/spool/cron/atjobs",
            "/var/spool/at",
        ];
        let started = [
            "/etc",
            "/etc/cron.d",
            "/etc/cron.daily",
            "/etc/systemd/system",
            "/etc/profile.d",
            "/usr/local/bin",
        ];
        for folder in spools.iter().chain(&started).filter(|folder| Path::new(folder).is_dir()) {
            let file = format!("{folder}/parlor-test-{}", std::process::id());
            bench.line(&format!("echo x > {file}")).fails_with("Permission denied");
            assert!(!Path::new(&file).exists(), "{file}");
        }
        for line in ["echo '* * * * * true' | crontab -", "echo true | at now + 1 hour", "echo true | batch"]
        {
            let said = bench.line(line);
            assert_ne!(said.code, Some(0), "{line} {said:?}");
        }
    }
}

#[test]
fn a_set_uid_program_gives_no_rights() {
    // Only root can make one that would.
    for bench in Bench::all().into_iter().filter(|bench| bench.user.is_some() && bench.status().files) {
        let user = bench.user.unwrap().to_string();
        let program = bench.work.path().join("other-id");
        std::fs::copy("/usr/bin/id", &program).unwrap();
        chown(&program, Some(0), Some(0)).unwrap();
        std::fs::set_permissions(&program, PermissionsExt::from_mode(0o6755)).unwrap();
        for leash in [bench.leash(), Leash { looking: true, ..bench.leash() }] {
            bench.run(&leash, "./other-id -u; ./other-id -g").is(0, &format!("{user}\n{user}\n"));
        }
        let held = rustix::fs::statvfs(&program).unwrap().f_flag;
        if !held.contains(rustix::fs::StatVfsMountFlags::NOSUID) {
            let free = Leash { free: true, ..bench.leash() };
            bench.run(&free, "./other-id -u").is(0, "0\n");
        }
    }
}

#[test]
fn a_library_that_is_loaded_first_is_on_the_same_leash() {
    if !installed("cc") {
        return;
    }
    for bench in Bench::all().into_iter().filter(|bench| bench.status().files) {
        let source = format!(
            r#"#include <fcntl.h>
            #include <unistd.h>
            __attribute__((constructor)) static void loaded(void) {{
                char text[6];
                int file = open("{}", O_RDONLY);
                int note = open("{}", O_WRONLY | O_APPEND);
                if (file >= 0 && read(file, text, 6) == 6) write(1, text, 6);
                if (note >= 0) write(note, "x", 1);
                write(1, file < 0 && note < 0 ? "stopped\n" : "\n", file < 0 && note < 0 ? 8 : 1);
            }}"#,
            bench.path(".ssh/id"),
            bench.path("notes/today"),
        );
        std::fs::write(bench.work.path().join("evil.c"), source).unwrap();
        let built = Command::new("cc")
            .args(["-shared", "-fPIC", "-w", "-o", "evil.so", "evil.c"])
            .current_dir(bench.work.path())
            .output()
            .unwrap();
        assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
        bench.own(bench.work.path());
        let line = "LD_PRELOAD=$PWD/evil.so /usr/bin/env true";
        // Once for each program that loads it.
        bench.line(line).is(0, "stopped\nstopped\n");
        assert_eq!(std::fs::read_to_string(bench.path("notes/today")).unwrap(), "plain");
        // A variable that stands in the command's own environment does not reach its guard, which is on no leash.
        let mut command = bench.command(&bench.leash(), "/usr/bin/true");
        let library = bench.work.path().join("evil.so").into_os_string();
        command.envs(tools::sandbox::handed_on([("LD_PRELOAD".into(), library)]));
        let said = ended(command);
        assert!(said.code == Some(0) && !said.text.contains("SECRET"), "{said:?}");
        assert_eq!(std::fs::read_to_string(bench.path("notes/today")).unwrap(), "plain");
        let free = bench.run(&Leash { free: true, ..bench.leash() }, line);
        assert!(free.text.contains("SECRET"), "it would: {free:?}");
        bench.put("notes/today", "plain");
    }
}

/// Ends a server of the person's when the test does.
struct Ended<F: FnMut()>(F);

impl<F: FnMut()> Drop for Ended<F> {
    fn drop(&mut self) {
        self.0();
    }
}

/// Whether sockets of others can be reached from the leash, by docs/security.md.
fn reaches_sockets(bench: &Bench) -> bool {
    !bench.namespaces() && bench.status().landlock.is_none_or(|version| version < 9)
}

#[test]
fn a_real_tmux_is_not_typed_into() {
    if !installed("tmux") {
        return;
    }
    for (at, bench) in Bench::all().into_iter().enumerate().filter(|(_, bench)| bench.status().files) {
        let name = format!("parlor-test-{}-{at}", std::process::id());
        let started = person(&bench, "tmux", &["-L", &name, "-f", "/dev/null", "new-session", "-d", "sh"]);
        assert!(started.status.success(), "{}", String::from_utf8_lossy(&started.stderr));
        let _server = Ended(|| {
            person(&bench, "tmux", &["-L", &name, "kill-server"]);
        });
        let mark = bench.home.path().join("typed");
        let line = format!("tmux -L {name} send-keys 'echo > {}' Enter && echo sent", mark.display());
        let said = bench.line(&line);
        let reached = said.text.contains("sent");
        assert_eq!(reached, reaches_sockets(&bench), "{said:?}");
        // What comes after it is typed after it: had the first line arrived, its mark would be there with the second.
        let after = bench.home.path().join("after");
        let typed = person(
            &bench,
            "tmux",
            &["-L", &name, "send-keys", &format!("echo > {}", after.display()), "Enter"],
        );
        assert!(typed.status.success(), "{}", String::from_utf8_lossy(&typed.stderr));
        let end = std::time::Instant::now() + std::time::Duration::from_secs(30);
        while !after.exists() {
            assert!(std::time::Instant::now() < end, "tmux does not type");
            std::thread::yield_now();
        }
        assert_eq!(mark.exists(), reached);
    }
}

#[test]
fn a_real_ssh_agent_is_not_asked_for_keys() {
    if !installed("ssh-agent") || !installed("ssh-add") {
        return;
    }
    for bench in Bench::all().into_iter().filter(|bench| bench.status().files) {
        let started = String::from_utf8(person(&bench, "ssh-agent", &["-s"]).stdout).unwrap();
        let value = |name: &str| {
            let rest = started.split(&format!("{name}=")).nth(1).unwrap();
            rest.split(';').next().unwrap().to_owned()
        };
        let (socket, pid) = (value("SSH_AUTH_SOCK"), value("SSH_AGENT_PID"));
        let _agent = Ended(|| {
            person(&bench, "kill", &[&pid]);
        });
        // 1 says that it has no keys, 2 that there is none to ask.
        let asked = format!("SSH_AUTH_SOCK={socket} ssh-add -l");
        let said = bench.line(&asked);
        assert_eq!(said.code, Some(if reaches_sockets(&bench) { 1 } else { 2 }), "{said:?}");
        bench.run(&Leash { free: true, ..bench.leash() }, &asked).is(1, "The agent has no identities.\n");
    }
}

#[test]
fn sockets_of_docker_dbus_systemd_and_the_like_are_out_of_reach_where_namespaces_work() {
    for (at, bench) in Bench::all().into_iter().enumerate().filter(|(_, bench)| bench.status().files) {
        let user = bench.user.unwrap_or_else(|| rustix::process::geteuid().as_raw());
        // By these go `docker`, `systemd-run`, `systemd-run --user` and `dbus-send`.
        let places = [
            "docker",
            "podman",
            "containerd",
            "dbus",
            &format!("user/{user}"),
            &format!("user/{user}/systemd"),
        ];
        let mut tried = 0;
        for place in places.map(|place| PathBuf::from("/run").join(place)) {
            let new = !place.exists();
            let socket = place.join(format!("parlor-test-{}-{at}", std::process::id()));
            // Only root can, and who has a folder of its own there.
            if std::fs::create_dir_all(&place).is_err() {
                continue;
            }
            let Ok(_listener) = UnixListener::bind(&socket) else { continue };
            let _clean = Ended(|| {
                let _ = std::fs::remove_file(&socket);
                if new {
                    let _ = std::fs::remove_dir(&place);
                }
            });
            for open in [&place, &socket] {
                let open_to_all = std::fs::set_permissions(open, PermissionsExt::from_mode(0o777));
                assert!(open_to_all.is_ok() || !new, "{}", open.display());
            }
            let line = format!(
                "perl -MSocket -e 'socket(S, AF_UNIX, SOCK_STREAM, 0) && connect(S, sockaddr_un(q({}))) or exit 1'",
                socket.display()
            );
            bench.run(&Leash { free: true, ..bench.leash() }, &line).is(0, "");
            let said = bench.line(&line);
            assert_eq!(said.code == Some(0), reaches_sockets(&bench), "{} {said:?}", place.display());
            tried += 1;
        }
        if tried == 0 {
            println!("no folder below /run can be written: not tried");
        }
    }
}
