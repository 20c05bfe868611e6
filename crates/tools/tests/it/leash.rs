//! What a leashed command can reach, tried from inside: as whoever runs the tests, and as an ordinary user when that is root.

use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tools::sandbox::{Guard, Lacks, Leash, Status};

/// The ordinary user that root becomes; no account is needed.
const NOBODY: u32 = 65534;

/// A home with a secret, a workspace, and a guard that a given user can run.
pub(crate) struct Bench {
    pub(crate) user: Option<u32>,
    pub(crate) home: tempfile::TempDir,
    pub(crate) work: tempfile::TempDir,
    guard: Guard,
}

/// How a command ended, and all that it wrote.
#[derive(Debug)]
pub(crate) struct CallArgs {
    pub(crate) code: Option<i32>,
    pub(crate) text: String,
}

impl CallArgs {
    #[track_caller]
    pub(crate) fn is(&self, code: i32, text: &str) {
        assert_eq!((self.code, self.text.as_str()), (Some(code), text));
    }

    #[track_caller]
    pub(crate) fn fails_with(&self, words: &str) {
        assert!(self.code != Some(0) && self.text.contains(words), "{self:?}");
    }
}

/// A folder that is neither temp nor the person's own home, where root can make homes for others.
pub(crate) fn outside_temp() -> PathBuf {
    let system = ["/srv", "/opt", "/home"].into_iter().map(PathBuf::from);
    let mut places = system.chain(std::env::home_dir());
    places
        .find(|place| tempfile::tempdir_in(place).is_ok())
        .expect("no folder outside of temp can be written")
}

fn program() -> PathBuf {
    let here = std::env::current_exe().unwrap();
    here.ancestors().nth(2).unwrap().join("examples/guard")
}

impl Bench {
    fn of(user: Option<u32>) -> Bench {
        let home = tempfile::Builder::new().prefix("parlor-test-").tempdir_in(outside_temp()).unwrap();
        let work = tempfile::tempdir_in(home.path()).unwrap();
        let guard = home.path().join("bin-guard");
        std::fs::copy(program(), &guard).unwrap();
        let bench = Bench { user, guard: Guard::new(&guard, &["__guard"]), home, work };
        for folder in [".ssh", ".cargo", "notes"] {
            std::fs::create_dir(bench.home.path().join(folder)).unwrap();
        }
        bench.put(".ssh/id", "SECRET");
        bench.put(".cargo/credentials.toml", "SECRET");
        bench.put(".cargo/config.toml", "plain");
        bench.put("notes/today", "plain");
        bench.own(bench.home.path());
        bench
    }

    /// One bench for each user that the tests can be.
    pub(crate) fn users() -> Vec<Bench> {
        let root = rustix::process::geteuid().is_root();
        std::iter::once(None).chain(root.then_some(Some(NOBODY))).map(Bench::of).collect()
    }

    /// The same, with namespaces where they work and without them.
    pub(crate) fn all() -> Vec<Bench> {
        let lacks = Lacks { namespaces: true, ..Lacks::default() };
        let without = Bench::users().into_iter().map(|bench| bench.with(|guard| guard.without(lacks)));
        Bench::users().into_iter().chain(without).collect()
    }

    pub(crate) fn namespaces(&self) -> bool {
        self.guard.namespaces().is_ok()
    }

    pub(crate) fn put(&self, name: &str, text: &str) {
        std::fs::write(self.home.path().join(name), text).unwrap();
    }

    pub(crate) fn own(&self, place: &Path) {
        chown(place, self.user, self.user).unwrap();
        if place.is_dir() && !place.is_symlink() {
            std::fs::set_permissions(place, PermissionsExt::from_mode(0o755)).unwrap();
            for entry in std::fs::read_dir(place).unwrap() {
                self.own(&entry.unwrap().path());
            }
        }
    }

    pub(crate) fn leash(&self) -> Leash {
        Leash {
            writable: vec![self.work.path().to_owned()],
            home: Some(self.home.path().to_owned()),
            ..Leash::default()
        }
    }

    pub(crate) fn with(mut self, change: impl FnOnce(Guard) -> Guard) -> Bench {
        self.guard = change(self.guard);
        self
    }

    pub(crate) fn status(&self) -> Status {
        self.guard.status()
    }

    pub(crate) fn command(&self, leash: &Leash, line: &str) -> Command {
        let mut command = self.guard.command("bash".as_ref(), leash);
        command.arg("-c").arg(line).current_dir(self.work.path()).env("HOME", self.home.path());
        command.stdin(Stdio::null());
        if let Some(user) = self.user {
            command.uid(user).gid(user);
        }
        command
    }

    pub(crate) fn run(&self, leash: &Leash, line: &str) -> CallArgs {
        ended(self.command(leash, line))
    }

    /// Runs a line in the usual leash of a command.
    pub(crate) fn line(&self, line: &str) -> CallArgs {
        self.run(&self.leash(), line)
    }

    pub(crate) fn path(&self, name: &str) -> String {
        self.home.path().join(name).display().to_string()
    }
}

pub(crate) fn ended(mut command: Command) -> CallArgs {
    let output = command.output().unwrap();
    let text = [output.stdout, output.stderr].concat();
    CallArgs { code: output.status.code(), text: String::from_utf8_lossy(&text).into_owned() }
}

/// A terminal of the person, with the name that a command would open it by.
fn terminal() -> (std::os::fd::OwnedFd, String) {
    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
    let person = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&person).unwrap();
    unlockpt(&person).unwrap();
    let name = ptsname(&person, Vec::new()).unwrap().into_string().unwrap();
    (person, name)
}

#[test]
fn no_terminal_can_be_opened_painted_on_or_read() {
    let (_person, name) = terminal();
    for bench in Bench::all() {
        if let Some(user) = bench.user {
            chown(&name, Some(user), Some(user)).unwrap();
        }
        for (open, leash) in [
            (false, bench.leash()),
            (false, Leash { network: true, ..bench.leash() }),
            (false, Leash { looking: true, ..bench.leash() }),
            (true, Leash { free: true, ..bench.leash() }),
        ] {
            let open = open || !bench.status().files;
            for line in [format!("exec 3< {name}"), format!("exec 3> {name}"), format!("exec 3<> {name}")] {
                let said = bench.run(&leash, &line);
                assert_eq!(said.code == Some(0), open, "{line} {leash:?} {said:?}");
            }
        }
        let said = bench.line("exec 3<> /dev/tty");
        assert_ne!(said.code, Some(0), "{said:?}");
    }
}

#[test]
fn the_devices_that_programs_need_are_there() {
    let line = "set -e; echo x > /dev/null; head -c1 /dev/zero | wc -c; head -c2 /dev/urandom | wc -c; \
                head -c2 /dev/random | wc -c; ! echo x 2>/dev/null > /dev/full; (echo a > /dev/stdout) | cat; \
                echo b | cat /dev/stdin; cat <(echo c) /dev/fd/0 < /dev/null; test ! -t 0; cat <<< d";
    for bench in Bench::all() {
        for leash in [bench.leash(), Leash { looking: true, ..bench.leash() }] {
            bench.run(&leash, line).is(0, "1\n2\n2\na\nb\nc\nd\n");
        }
        if bench.status().files {
            bench.line("exec 3< /dev/kmsg").fails_with("Permission denied");
            let said = bench.line("exec 3<> /dev/ptmx");
            assert_eq!(said.code == Some(0), bench.namespaces(), "{said:?}");
        }
    }
}

#[test]
fn programs_that_need_a_terminal_get_one_of_their_own() {
    for bench in Bench::all().into_iter().filter(|bench| bench.status().files) {
        let said = bench.line("script -qc 'tty; stty size' /dev/null < /dev/null");
        if bench.namespaces() {
            said.is(0, "/dev/pts/0\r\n0 0\r\n");
        } else {
            said.fails_with("pseudo-terminal");
        }
    }
}

#[test]
fn a_secret_inside_of_the_workspace_is_not_there_for_a_command() {
    for bench in Bench::all().into_iter().filter(|bench| bench.status().files) {
        for (file, text) in
            [("gh/hosts.yml", "SECRET"), ("git/credentials", "SECRET"), ("nvim/init.lua", "plain\n")]
        {
            let file = bench.home.path().join(".config").join(file);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, text).unwrap();
        }
        bench.own(bench.home.path());
        let work = bench.home.path().join(".config");
        let writes = Leash { writable: vec![work.clone()], ..bench.leash() };
        let looks =
            Leash { readable: vec![work.clone()], writable: Vec::new(), looking: true, ..bench.leash() };
        let steal = format!("cd {}; cat gh/hosts.yml git/credentials; cat nvim/init.lua", work.display());
        for leash in [&writes, &looks] {
            let said = bench.run(leash, &steal);
            assert!(said.text.contains("plain"), "{leash:?} {said:?}");
            // Without namespaces what may be written may be read.
            let read = !leash.looking && !bench.namespaces();
            assert_eq!(said.text.contains("SECRET"), read, "{leash:?} {said:?}");
        }
        if bench.namespaces() {
            let move_it = format!("cd {}; mv gh away; cat away/hosts.yml; echo x > gh/new", work.display());
            let said = bench.run(&writes, &move_it);
            assert!(!said.text.contains("SECRET") && !work.join("gh/new").exists(), "{said:?}");
            bench.run(&writes, &format!("cd {}; echo x > made; cat made", work.display())).is(0, "x\n");
        }
        let free = bench.run(&Leash { free: true, ..writes.clone() }, &steal);
        assert!(free.text.contains("SECRET"), "{free:?}");
        let bench = bench.with(|guard| guard.also_readable(&[work.join("gh"), work.join("git/credentials")]));
        let opened = bench.run(&writes, &steal);
        assert_eq!(opened.text, "SECRETSECRETplain\n", "{opened:?}");
    }
}

#[test]
fn a_locked_place_can_be_neither_written_nor_replaced() {
    for bench in Bench::users().into_iter().filter(Bench::namespaces) {
        let work = bench.work.path();
        for (file, text) in [(".git/hooks/pre-commit", "old"), (".envrc", "old"), ("deep/.npmrc", "old")] {
            std::fs::create_dir_all(work.join(file).parent().unwrap()).unwrap();
            std::fs::write(work.join(file), text).unwrap();
        }
        bench.own(work);
        let (locked, pinned) = tools::steering::locks(work, tools::steering::Commits::Not);
        let leash = Leash { locked, pinned, ..bench.leash() };
        for line in [
            "echo x > .envrc",
            "rm .envrc",
            "mv .envrc away",
            "echo x > new && mv new .envrc",
            "ln -sf /etc/passwd .envrc",
            "echo x > .git/hooks/pre-commit",
            "echo x > .git/hooks/post-checkout",
            "cd .git/hooks && echo x > pre-commit",
            "mv .git away",
            "rm -rf .git",
            "echo x > /proc/self/cwd/.envrc",
            "echo x > /proc/self/root$PWD/.envrc",
            "mount -o remount,rw,bind .envrc",
            "umount .envrc",
            "unshare -rm sh -c 'umount -l .envrc; mount -o remount,bind,rw .envrc; echo x > .envrc'",
            "echo x > deep/.npmrc",
            "perl -e 'truncate q(.envrc), 0 or exit 1'",
            "chmod +x .envrc",
        ] {
            let said = bench.run(&leash, line);
            assert_ne!(said.code, Some(0), "{line} {said:?}");
        }
        // Started in the very folder that is locked.
        let mut command = bench.command(&leash, "echo x > pre-commit");
        command.current_dir(work.join(".git/hooks"));
        ended(command).fails_with("Read-only file system");
        for file in [".git/hooks/pre-commit", ".envrc", "deep/.npmrc"] {
            assert_eq!(std::fs::read_to_string(work.join(file)).unwrap(), "old", "{file}");
        }
        bench.run(&leash, "echo x > new; cat .envrc new").is(0, "oldx\n");
    }
}

#[test]
fn with_an_agreement_git_commits_but_its_hooks_and_settings_stay() {
    for bench in Bench::users().into_iter().filter(Bench::namespaces) {
        let work = bench.work.path();
        bench.run(&Leash { free: true, ..bench.leash() }, "git init -q . && mkdir -p .git/hooks").is(0, "");
        let (locked, pinned) = tools::steering::locks(work, tools::steering::Commits::Agreed);
        let leash = Leash { locked, pinned, ..bench.leash() };
        let commit = "echo x > a && git add a && git -c user.name=n -c user.email=e commit -qm x && git log --format=%s";
        bench.run(&leash, commit).is(0, "x\n");
        for line in [
            "echo x > .git/hooks/pre-commit",
            "git config core.pager evil",
            "mv .git/hooks h && mkdir .git/hooks",
            "mv .git g && cp -r g .git",
        ] {
            let said = bench.run(&leash, line);
            assert_ne!(said.code, Some(0), "{line} {said:?}");
        }
    }
}

#[test]
fn sockets_of_other_programs_are_out_of_reach_where_namespaces_work() {
    for bench in Bench::all().into_iter().filter(|bench| bench.status().files) {
        let folder = tempfile::Builder::new().prefix("ssh-").tempdir_in("/tmp").unwrap();
        let socket = folder.path().join("agent.1");
        let _agent = std::os::unix::net::UnixListener::bind(&socket).unwrap();
        bench.own(folder.path());
        let line = format!(
            "perl -MSocket -e 'socket(S, AF_UNIX, SOCK_STREAM, 0) && connect(S, sockaddr_un(q({}))) or exit 1'",
            socket.display()
        );
        let reached = bench.line(&line).code == Some(0);
        let kernel_knows = bench.status().landlock.is_some_and(|version| version >= 9);
        assert_eq!(reached, !bench.namespaces() && !kernel_knows);
        // A server that the person agreed to may talk to them.
        bench.run(&Leash { sockets: true, ..bench.leash() }, &line).is(0, "");
    }
}

#[test]
fn our_own_folders_are_not_written_even_where_everything_around_them_is() {
    for bench in Bench::users().into_iter().filter(Bench::namespaces) {
        let own = bench.work.path().join("own");
        std::fs::create_dir(&own).unwrap();
        bench.own(&own);
        let bench = bench.with(|guard| guard.hiding(&[own]));
        bench.line("echo x > own/rules").fails_with("Read-only file system");
    }
}

#[test]
fn nothing_is_typed_into_a_terminal_that_was_handed_over() {
    // TIOCSTI, with rubbish in the half of the request that the kernel does not look at, and TIOCLINUX.
    let tries = [0x5412_u64, 0x1_0000_5412, 0x541c].map(|request| {
        format!(
            r#"perl -e 'my $y = "y"; $! = 0; syscall({}, 0, {request}, $y); print $!+0, "\n"'"#,
            libc::SYS_ioctl
        )
    });
    for bench in Bench::all().into_iter().filter(|bench| bench.status().filter) {
        for leash in [bench.leash(), Leash { network: true, ..bench.leash() }] {
            let (_person, name) = terminal();
            let mut command = bench.command(&leash, &tries.join(";"));
            command.stdin(std::fs::File::options().read(true).write(true).open(name).unwrap());
            ended(command).is(0, &format!("{0}\n{0}\n{0}\n", libc::EACCES));
        }
    }
}

#[test]
fn limits_of_other_programs_are_not_set() {
    // RLIMIT_CPU, with a new limit of one second: who has used more than that is ended.
    let set = |pid: u32| {
        format!(
            r#"perl -e '$new = pack("QQ", 1, 1); $! = 0; syscall({}, {pid}, 0, $new, 0); print $!+0, "\n"'"#,
            libc::SYS_prlimit64
        )
    };
    for bench in Bench::all().into_iter().filter(|bench| bench.status().filter) {
        let mut other = Command::new("sleep");
        other.arg("1000");
        if let Some(user) = bench.user {
            other.uid(user).gid(user);
        }
        let mut other = other.spawn().unwrap();
        let limit = || {
            let limits = std::fs::read_to_string(format!("/proc/{}/limits", other.id())).unwrap();
            limits.lines().find(|line| line.starts_with("Max cpu time")).unwrap().to_owned()
        };
        let before = limit();
        for leash in [bench.leash(), Leash { network: true, ..bench.leash() }] {
            bench.run(&leash, &set(other.id())).is(0, &format!("{}\n", libc::EACCES));
        }
        assert_eq!(limit(), before);
        // Its own it may lower, and those of all it starts.
        bench.line(&format!("{}; ulimit -t 100; sh -c 'ulimit -t'", set(0))).is(0, "0\n100\n");
        bench.run(&Leash { free: true, ..bench.leash() }, &set(other.id())).is(0, "0\n");
        assert_ne!(limit(), before, "free of the leash it is a person's matter");
        other.kill().unwrap();
        other.wait().unwrap();
    }
}

#[test]
fn calls_that_go_around_the_limits_are_refused() {
    let calls = [
        libc::SYS_io_uring_setup,
        libc::SYS_keyctl,
        libc::SYS_add_key,
        libc::SYS_mount_setattr,
        libc::SYS_fanotify_init,
    ];
    let line =
        calls.map(|call| format!("perl -e '$!=0; syscall({call}, 0, 0, 0, 0, 0); print $!+0, \"\\n\"'"));
    for bench in Bench::all().into_iter().filter(|bench| bench.status().filter) {
        let said = bench.run(&Leash { network: true, ..bench.leash() }, &line.join(";"));
        said.is(0, &format!("{}\n", libc::EACCES).repeat(calls.len()));
    }
}

#[test]
fn secrets_of_the_home_cannot_be_read_by_whatever_way() {
    for bench in Bench::all().into_iter().filter(|bench| bench.status().files) {
        symlink(".ssh", bench.home.path().join("innocent")).unwrap();
        symlink(bench.path(".ssh/id"), bench.work.path().join("link")).unwrap();
        for leash in [bench.leash(), Leash { network: true, ..bench.leash() }] {
            for line in [
                format!("cat {}", bench.path(".ssh/id")),
                format!("cat {}", bench.path("innocent/id")),
                "cat link".to_owned(),
                format!("cat /proc/self/root{}", bench.path(".ssh/id")),
                format!("cat {}", bench.path("notes/../.ssh/./id")),
                format!("cat {}", bench.path(".cargo/credentials.toml")),
                format!("ls {}", bench.path(".ssh")),
                format!("cd {} && cat id", bench.path(".ssh")),
                format!("exec 3< {} && cat /proc/self/fd/3/id", bench.path(".ssh")),
            ] {
                let said = bench.run(&leash, &line);
                said.fails_with("Permission denied");
                assert!(!said.text.contains("SECRET"), "{line} {said:?}");
            }
            for line in [
                format!("ln {} taken; cat taken", bench.path(".ssh/id")),
                format!("mv {} taken; cat taken", bench.path(".ssh")),
                format!("unshare -rm mount --bind {} . ; cat id", bench.path(".ssh")),
            ] {
                let said = bench.run(&leash, &line);
                assert!(said.code != Some(0) && !said.text.contains("SECRET"), "{line} {said:?}");
            }
        }
    }
}

#[test]
fn what_is_no_secret_can_be_read_but_a_folder_with_secrets_cannot_be_listed() {
    for bench in Bench::all() {
        for (line, text) in [
            (format!("cat {}", bench.path("notes/today")), "plain"),
            (format!("cat {}", bench.path(".cargo/config.toml")), "plain"),
            (format!("ls {}", bench.path("notes")), "today\n"),
            ("head -c4 /etc/passwd".to_owned(), "root"),
            ("ls /usr/bin | grep -cx env".to_owned(), "1\n"),
        ] {
            bench.line(&line).is(0, text);
        }
        if bench.status().files {
            for place in ["/", &bench.path(""), &bench.path(".cargo")] {
                bench.line(&format!("ls {place}")).fails_with("Permission denied");
            }
        }
    }
}

#[test]
fn a_person_can_open_a_secret_place_and_close_another() {
    for bench in Bench::all().into_iter().filter(|bench| bench.status().files) {
        let (ssh, notes) = (bench.home.path().join(".ssh"), bench.home.path().join("notes"));
        let bench = bench.with(|guard| guard.also_readable(&[ssh]).hiding(&[notes]));
        bench.line(&format!("cat {}", bench.path(".ssh/id"))).is(0, "SECRET");
        bench.line(&format!("echo x > {}", bench.path(".ssh/new"))).fails_with("Permission denied");
        bench.line(&format!("cat {}", bench.path("notes/today"))).fails_with("Permission denied");
    }
}

#[test]
fn the_variables_of_a_command_do_not_loosen_its_leash() {
    for bench in Bench::all().into_iter().filter(|bench| bench.status().files) {
        for name in ["HOME", "TMPDIR", "TMP", "TEMP"] {
            for value in ["/nowhere", &bench.path("")] {
                let mut command = bench.command(&bench.leash(), "cat ../.ssh/id; echo x > ../notes/new");
                command.env(name, value);
                let said = ended(command);
                assert_eq!(said.text.matches("Permission denied").count(), 2, "{name} {said:?}");
            }
        }
    }
}

#[test]
fn who_only_looks_writes_nowhere_and_sees_the_workspace_and_the_system_only() {
    for bench in Bench::all().into_iter().filter(|bench| bench.status().files) {
        bench.put("work-file", "mine");
        std::fs::rename(bench.path("work-file"), bench.work.path().join("file")).unwrap();
        let own = tempfile::tempdir_in(bench.home.path()).unwrap();
        bench.own(own.path());
        let leash = Leash {
            writable: vec![own.path().to_owned()],
            readable: vec![bench.work.path().to_owned()],
            looking: true,
            ..bench.leash()
        };
        bench.run(&leash, "cat file; head -c4 /etc/passwd").is(0, "mineroot");
        bench.run(&leash, &format!("echo x > {0}/t; cat {0}/t", own.path().display())).is(0, "x\n");
        for line in [
            "echo x > file".to_owned(),
            "echo x > new".to_owned(),
            "rm file".to_owned(),
            "mv file other".to_owned(),
            "echo x > $(mktemp -u -p /tmp)".to_owned(),
            "echo x > $(mktemp -u -p /dev/shm)".to_owned(),
            format!("cat {}", bench.path("notes/today")),
            format!("cat {}", bench.path(".ssh/id")),
            "ls /tmp".to_owned(),
        ] {
            bench.run(&leash, &line).fails_with("Permission denied");
        }
        assert_eq!(std::fs::read_to_string(bench.work.path().join("file")).unwrap(), "mine");
    }
}

#[test]
fn other_programs_cannot_be_looked_into() {
    for bench in Bench::all().into_iter().filter(|bench| bench.status().files) {
        let mut other = Command::new("sleep");
        other.arg("1000").env("KEY", "SECRET").stdin(Stdio::piped());
        if let Some(user) = bench.user {
            other.uid(user).gid(user);
        }
        let mut other = other.spawn().unwrap();
        let pid = other.id();
        for line in [
            format!("cat /proc/{pid}/environ"),
            format!("cat /proc/{pid}/maps"),
            format!("head -c1 /proc/{pid}/mem"),
            format!("readlink /proc/{pid}/fd/0"),
            format!("exec 3< /proc/{pid}/fd/0"),
            format!("ls /proc/{pid}/root/"),
            format!("ls /proc/{pid}/cwd/"),
            format!("nsenter -t {pid} -m true"),
            // PTRACE_ATTACH and PTRACE_SEIZE.
            format!("perl -e 'exit(syscall({}, 16, {pid}, 0, 0) == -1)'", libc::SYS_ptrace),
            format!("perl -e 'exit(syscall({}, 0x4206, {pid}, 0, 0) == -1)'", libc::SYS_ptrace),
        ] {
            let said = bench.line(&line);
            assert!(said.code != Some(0) && !said.text.contains("SECRET"), "{line} {said:?}");
        }
        // Its own are its own business. A process that is just being started has no environment yet: it says itself that it runs.
        let own = "sh -c 'echo > runs; while :; do :; done' & until [ -e runs ]; do :; done; \
                   tr '\\0' '\\n' < /proc/$!/environ | grep -c ^HOME=; kill $!; rm runs";
        bench.line(own).is(0, "1\n");
        other.kill().unwrap();
        other.wait().unwrap();
    }
}

#[test]
fn root_in_a_leash_is_no_root_of_the_machine() {
    for bench in Bench::all().into_iter().filter(|bench| bench.status().files) {
        let said = bench.line("grep -h NoNewPrivs /proc/self/status | tr -d '\\t '");
        said.is(0, "NoNewPrivs:1\n");
        for line in
            ["mknod disk b 7 0", "mknod tty c 5 0", "mount -t tmpfs x .", "unshare -rm mount -t tmpfs x ."]
        {
            let said = bench.line(line);
            assert_ne!(said.code, Some(0), "{line} {said:?}");
        }
        // 21 and 27 are SYS_ADMIN and MKNOD, 19 is SYS_PTRACE, 2 is DAC_READ_SEARCH.
        let line = "bits=0x$(sed -n 's/^CapPrm:\\t//p' /proc/self/status); echo $(( bits & (1<<21|1<<27|1<<19|1<<2) ))";
        bench.line(line).is(0, "0\n");
    }
}

#[test]
fn files_move_between_the_workspace_and_temp() {
    for bench in Bench::all() {
        let line = "set -e; t=$(mktemp -d); echo x > $t/a; mv $t/a a; mv a $t/b; cp $t/b b; chmod +x b; mkdir d; \
                    mv b d/; ln d/b c; cat c; rm -r $t";
        bench.line(line).is(0, "x\n");
    }
}

#[test]
fn older_kernels_give_less_and_say_so() {
    let whole = Bench::of(None).status();
    let none = Lacks { landlock: Some(0), filter: true, namespaces: true, networks: true };
    let bench = Bench::of(None).with(|guard| guard.without(none));
    assert_eq!((bench.status().files, bench.status().network, bench.status().filter), (false, false, false));
    bench.line(&format!("cat {}", bench.path(".ssh/id"))).is(0, "SECRET");
    let newest = whole.landlock.unwrap_or_default();
    for version in 1..=newest {
        let lacks = Lacks { landlock: Some(version), filter: true, ..Lacks::default() };
        let bench = Bench::of(None).with(|guard| guard.without(lacks));
        assert_eq!(bench.status().landlock, Some(version));
        bench.line(&format!("cat {}", bench.path(".ssh/id"))).fails_with("Permission denied");
        bench.line(&format!("echo x > {}", bench.path("notes/new"))).fails_with("Permission denied");
        bench.line("echo x > new; cat new").is(0, "x\n");
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let connect = format!("exec 3<>/dev/tcp/127.0.0.1/{}", listener.local_addr().unwrap().port());
        assert_eq!(bench.line(&connect).code == Some(0), version < 4, "{version}");
        let mut other = Command::new("sleep").arg("1000").spawn().unwrap();
        let said = bench.line(&format!("kill -0 {}", other.id()));
        assert_eq!(said.code == Some(0), version < 6, "{version} {said:?}");
        other.kill().unwrap();
        other.wait().unwrap();
    }
}

#[test]
fn other_ways_to_run_or_write_end_on_the_same_leash() {
    for bench in Bench::all().into_iter().filter(|bench| bench.status().files) {
        let (secret, note) = (bench.path(".ssh/id"), bench.path("notes/today"));
        let in_memory = format!(
            r##"perl -e '$n = "x"; $f = syscall({}, $n, 0); open(M, ">&=", $f); syswrite(M, "#!/bin/sh\ncat {secret}\n"); exec("/proc/self/fd/$f") or exit 9'"##,
            libc::SYS_memfd_create
        );
        for line in [
            in_memory,
            format!("exec 3< {note}; echo x > /proc/self/fd/3"),
            format!("exec 3< {note}; echo x > /dev/fd/3"),
            format!("setsid -w sh -c 'cat {secret}'"),
            format!(
                "(sh -c '(cat {secret}; echo $? > code) &'); while ! test -s code; do :; done; exit $(cat code)"
            ),
            format!("unshare -r cat {secret}"),
            format!("unshare -rm chroot / cat {secret}"),
            format!("env -i LD_PRELOAD=/nowhere.so cat {secret}"),
        ] {
            let said = bench.line(&line);
            assert!(said.code != Some(0) && !said.text.contains("SECRET"), "{line} {said:?}");
        }
        assert_eq!(std::fs::read_to_string(&note).unwrap(), "plain");
    }
}

#[test]
fn abstract_sockets_of_other_programs_cannot_be_reached_where_the_kernel_can() {
    use std::os::linux::net::SocketAddrExt as _;
    for bench in
        Bench::all().into_iter().filter(|bench| bench.status().landlock.is_some_and(|version| version >= 6))
    {
        let name = format!("parlor-test-{}-{}", std::process::id(), bench.path(""));
        let address = std::os::unix::net::SocketAddr::from_abstract_name(&name).unwrap();
        let _listener = std::os::unix::net::UnixListener::bind_addr(&address).unwrap();
        let line = format!(
            r#"perl -MSocket -e 'socket(S, AF_UNIX, SOCK_STREAM, 0) && connect(S, pack("S a*", AF_UNIX, "\0{name}")) or exit 1'"#
        );
        for (leash, reached) in [(bench.leash(), false), (Leash { free: true, ..bench.leash() }, true)] {
            let said = bench.run(&leash, &line);
            assert_eq!(said.code == Some(0), reached, "{said:?}");
        }
    }
}

#[test]
fn a_place_that_became_a_link_is_not_granted() {
    for bench in Bench::all().into_iter().filter(|bench| bench.status().files) {
        let own = bench.work.path().join("own");
        symlink(bench.home.path().join(".ssh"), &own).unwrap();
        for leash in [
            Leash { writable: vec![own.clone()], looking: true, ..bench.leash() },
            Leash { writable: vec![own.clone()], ..bench.leash() },
            Leash { readable: vec![own.clone()], ..bench.leash() },
            Leash { readable: vec![own.join("id")], ..bench.leash() },
        ] {
            let said = bench.run(&leash, &format!("cat {}", bench.path(".ssh/id")));
            assert!(said.code != Some(0) && !said.text.contains("SECRET"), "{leash:?} {said:?}");
            assert_ne!(bench.run(&leash, &format!("echo x > {}", bench.path(".ssh/new"))).code, Some(0));
        }
    }
}

#[test]
fn a_workspace_in_temp_cannot_be_moved_away() {
    for bench in Bench::users().into_iter().filter(Bench::namespaces) {
        let temp = tempfile::tempdir_in("/tmp").unwrap();
        let work = temp.path().join("above/work");
        std::fs::create_dir_all(&work).unwrap();
        bench.own(temp.path());
        let leash = Leash { writable: vec![work.clone()], ..bench.leash() };
        for line in [
            format!("mv {0} {0}.old", work.display()),
            format!("mv {0} {0}.old", work.parent().unwrap().display()),
            format!("mv {0} {0}.old", temp.path().display()),
        ] {
            let said = bench.run(&leash, &line);
            assert_ne!(said.code, Some(0), "{line} {said:?}");
        }
        bench.run(&leash, &format!("echo x > {}/new", work.display())).is(0, "");
    }
}
