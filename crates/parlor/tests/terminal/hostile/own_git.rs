//! A folder whose `.git` means harm, as an unpacked archive brings it: Parlor's own calls of git run nothing of it.

use crate::hostile::bench::{World, as_each_user};
use serde_json::json;
use std::fs;
use std::os::unix::fs::PermissionsExt;

/// What every program of the repository does: it leaves a word of itself, where a command on no leash could.
const EVIL: &str = "#!/bin/sh\necho \"$0 $*\" >> \"$(dirname \"$0\")/../outside/RAN\"\ncat 2> /dev/null\n";
/// Hooks, by every name that git knows for what is done here.
const HOOKS: &[&str] = &[
    "post-checkout",
    "pre-commit",
    "prepare-commit-msg",
    "commit-msg",
    "post-commit",
    "pre-merge-commit",
    "post-merge",
    "reference-transaction",
    "post-index-change",
    "pre-auto-gc",
];

/// The person's git.
#[track_caller]
fn git(world: &World, args: &[&str]) {
    let output = world.program("git").args(args).output().unwrap();
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// A repository with one commit.
fn repository(world: &World, attributes: &str) {
    // Beside the project only root could make it.
    world.folder("project.worktrees");
    git(world, &["init", "--quiet", "--initial-branch=main"]);
    git(world, &["config", "--global", "user.name", "A Person"]);
    git(world, &["config", "--global", "user.email", "person@example.org"]);
    world.put("project/.gitattributes", attributes);
    world.put("project/b.txt", "b\n");
    git(world, &["add", "--all"]);
    git(world, &["commit", "--quiet", "-m", "first"]);
}

/// A repository with one commit, whose settings then name a program wherever they can.
fn hostile(world: &World) {
    let git = |args: &[&str]| git(world, args);
    repository(world, "a.txt filter=x=y diff=x merge=x\nb.txt merge=x filter=hidden\n");
    world.folder("evil");
    let program = |name: &str| {
        let below = format!("evil/{name}");
        world.put(&below, EVIL);
        fs::set_permissions(world.path(&below), fs::Permissions::from_mode(0o755)).unwrap();
        world.path(&below).display().to_string()
    };
    for (setting, name) in [
        ("core.fsmonitor", "fsmonitor"),
        ("core.pager", "pager"),
        ("core.editor", "editor"),
        ("core.sshCommand", "ssh"),
        ("core.askPass", "askpass"),
        ("diff.external", "external"),
        ("diff.x.textconv", "textconv"),
        ("diff.x.command", "command"),
        ("filter.x=y.clean", "clean"),
        ("filter.x=y.smudge", "smudge"),
        ("merge.x.driver", "driver"),
        ("gpg.program", "gpg"),
        ("gc.recentObjectsHook", "recent"),
        ("hook.x.command", "hook"),
        ("remote.origin.uploadpack", "uploadpack"),
    ] {
        git(&["config", setting, &program(name)]);
    }
    for (setting, value) in [
        ("commit.gpgSign", "true"),
        ("merge.verifySignatures", "true"),
        ("log.showSignature", "true"),
        ("gc.auto", "1"),
        ("gc.autoDetach", "false"),
        ("protocol.ext.allow", "always"),
        ("hook.x.event", "post-checkout"),
    ] {
        git(&["config", setting, value]);
    }
    for hook in HOOKS {
        program(hook);
    }
    let hooks = world.path("evil").display().to_string();
    git(&["config", "core.hooksPath", &hooks]);
    // Settings that hold only on the branches that Parlor makes.
    world.put("evil/hidden.inc", format!("[filter \"hidden\"]\n\tsmudge = {}\n", program("hidden")));
    git(&["config", "includeIf.onbranch:parlor/**.path", &format!("{hooks}/hidden.inc")]);
    forget(world);
}

fn forget(world: &World) {
    let _ = fs::remove_file(world.path("outside/RAN"));
}

/// What a call of Parlor said, after which nothing of the repository may have run.
#[track_caller]
fn parlor(world: &World, args: &[&str], code: i32) -> String {
    let output = world.parlor(args).output().unwrap();
    let said =
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(world.get("outside/RAN"), "", "{args:?}: {said}");
    assert_eq!(output.status.code(), Some(code), "{args:?}: {said}");
    said
}

#[test]
fn a_repository_has_nothing_run_by_parlors_own_git() {
    as_each_user(|world| {
        hostile(world);
        let said = parlor(world, &["run", "--worktree=w", "--allow", "write", "write new.txt: hi"], 0);
        for left in ["core.fsmonitor", "filter x=y", "filter hidden", "hook post-checkout"] {
            assert!(said.contains(left), "{left} is told: {said}");
        }
        assert_eq!(world.get("project.worktrees/w/a.txt"), "alpha\nbeta\n");
        let said = parlor(world, &["worktrees"], 0);
        assert!(said.contains("1 file not committed"), "{said}");
        let said = parlor(world, &["worktrees", "list", "--json"], 0);
        assert!(said.contains("\"uncommitted_files\":1"), "{said}");
        // A file that a filter of the repository's should change is not committed without it.
        world.put("project.worktrees/w/a.txt", "gamma\n");
        let said = parlor(world, &["worktrees", "merge", "w", "--commit", "the work"], 1);
        assert!(said.contains("a.txt goes through the filter x=y"), "{said}");
        world.put("project.worktrees/w/a.txt", "alpha\nbeta\n");
        let said = parlor(world, &["worktrees", "merge", "w", "--commit", "the work"], 0);
        for left in ["signing", "hook pre-commit", "hook post-merge", "merge driver x"] {
            assert!(said.contains(left), "{left} is told: {said}");
        }
        assert_eq!(world.get("project/new.txt").trim(), "hi");
        parlor(world, &["run", "--worktree=v", "--allow", "write", "write more.txt: hi"], 0);
        parlor(world, &["worktrees", "remove", "v", "--discard"], 0);
        assert!(!world.path("project.worktrees/v").exists());
        // What differs, told by hand and to a UI.
        world.put("project/a.txt", "gamma\n");
        parlor(world, &["run", "say hi"], 0);
        let said = parlor(world, &["sessions", "diff", "--git"], 0);
        assert!(said.contains("+gamma"), "{said}");
        let serving = world.serve(&[]);
        let mut ui = world.ui(&serving.socket);
        let said = ui.settled(json!({"diff_files": {"since": "commit"}})).to_string();
        assert!(said.contains("+gamma"), "{said}");
        assert_eq!(world.get("outside/RAN"), "", "{said}");
    });
}

#[test]
fn options_for_merges_have_nothing_run_that_would_sign() {
    as_each_user(|world| {
        hostile(world);
        world.put("evil/key", EVIL);
        fs::set_permissions(world.path("evil/key"), fs::Permissions::from_mode(0o755)).unwrap();
        let key = world.path("evil/key").display().to_string();
        for (setting, value) in [
            ("branch.main.mergeOptions", "-S --no-ff"),
            ("gpg.format", "ssh"),
            ("gpg.ssh.defaultKeyCommand", key.as_str()),
        ] {
            world.outside("git", &["config", setting, value]);
        }
        parlor(world, &["run", "--worktree=w", "--allow", "write", "write new.txt: hi"], 0);
        let said = parlor(world, &["worktrees", "merge", "w", "--commit", "the work"], 0);
        assert!(said.contains("merge options of branch main"), "{said}");
        assert_eq!(world.get("project/new.txt").trim(), "hi");
    });
}

#[test]
fn a_filter_of_the_persons_own_is_run_for_a_worktree_unless_the_repository_could_steer_it() {
    as_each_user(|world| {
        repository(world, "a.txt filter=own\n");
        for (setting, value) in [
            ("filter.own.clean", "tr A-Z a-z"),
            ("filter.own.smudge", "tr a-z A-Z"),
            ("filter.own.required", "true"),
        ] {
            git(world, &["config", "--global", setting, value]);
        }
        parlor(world, &["run", "--worktree=w", "say hi"], 0);
        assert_eq!(world.get("project.worktrees/w/a.txt"), "ALPHA\nBETA\n");
        let said = parlor(world, &["worktrees", "list", "--json"], 0);
        assert!(said.contains("\"uncommitted_files\":0"), "nobody has changed it: {said}");
        world.put("project.worktrees/w/a.txt", "ALPHA\nGAMMA\n");
        parlor(world, &["worktrees", "merge", "w", "--commit", "more"], 0);
        assert_eq!(world.outside("git", &["show", "HEAD:a.txt"]), "alpha\ngamma\n");
        // The program may obey any setting that we do not know.
        git(world, &["config", "lfs.customtransfer.x.path", "x"]);
        let said = parlor(world, &["run", "--worktree=v", "say hi"], 0);
        assert!(said.contains("filter own"), "{said}");
        assert_eq!(world.get("project.worktrees/v/a.txt"), "alpha\ngamma\n");
    });
}

/// Settings that name a program for each thing that git does by itself.
fn evil_settings(world: &World) -> String {
    world.folder("evil");
    for name in ["fsmonitor", "filter", "textconv"].iter().chain(HOOKS) {
        world.executable(&format!("evil/{name}"), EVIL);
    }
    let evil = world.path("evil").display().to_string();
    format!(
        "[core]\n\tfsmonitor = {evil}/fsmonitor\n\thooksPath = {evil}\n[filter \"x\"]\n\tclean = {evil}/filter\n\tsmudge = \
         {evil}/filter\n[diff \"x\"]\n\ttextconv = {evil}/textconv\n"
    )
}

/// What the person's own git does in a folder: the settings do count there.
#[track_caller]
fn counts(world: &World, folder: &str) {
    world.outside("git", &["-C", &world.path(folder).display().to_string(), "status"]);
    assert_ne!(world.get("outside/RAN"), "", "the settings say nothing in {folder}");
    forget(world);
}

#[test]
fn settings_that_count_in_some_places_only_have_nothing_run() {
    as_each_user(|world| {
        repository(world, "a.txt filter=x diff=x\n");
        let settings = evil_settings(world);
        world.put("evil/settings", settings);
        // A conversation whose project is asked about what differs.
        parlor(world, &["run", "say hi"], 0);
        let (file, project) = (world.path("evil/settings"), world.path("project"));
        let (file, project) = (file.display().to_string(), project.display());
        for (number, (setting, counts_in_project)) in [
            ("include.path".to_owned(), true),
            ("includeIf.onbranch:**.path".to_owned(), true),
            ("includeIf.onbranch:parlor/**.path".to_owned(), false),
            ("includeIf.gitdir:**/worktrees/**.path".to_owned(), false),
            (format!("includeIf.gitdir:{project}/.path"), true),
        ]
        .into_iter()
        .enumerate()
        {
            git(world, &["config", &setting, &file]);
            let tree = format!("w{number}");
            parlor(
                world,
                &["run", &format!("--worktree={tree}"), "--allow", "write", "write new.txt: hi"],
                0,
            );
            let said = parlor(world, &["worktrees"], 0);
            assert!(said.contains(&tree) && said.contains("1 file not committed"), "{setting}: {said}");
            parlor(world, &["sessions", "diff", "--git"], 0);
            counts(world, &format!("project.worktrees/{tree}"));
            if counts_in_project {
                counts(world, "project");
            }
            parlor(world, &["worktrees", "remove", &tree, "--discard"], 0);
            git(world, &["config", "--unset", &setting]);
            forget(world);
        }
    });
}

#[test]
fn settings_of_a_worktree_alone_have_nothing_run() {
    as_each_user(|world| {
        repository(world, "a.txt filter=x diff=x\n");
        let settings = evil_settings(world);
        git(world, &["config", "extensions.worktreeConfig", "true"]);
        world.put("project/.git/config.worktree", &settings);
        parlor(world, &["run", "say hi"], 0);
        parlor(world, &["run", "--worktree=w", "--allow", "write", "write new.txt: hi"], 0);
        parlor(world, &["sessions", "diff", "--git"], 0);
        counts(world, "project");
        // And those of Parlor's own.
        world.put("project/.git/worktrees/w/config.worktree", &settings);
        let said = parlor(world, &["worktrees"], 0);
        assert!(said.contains("1 file not committed"), "{said}");
        counts(world, "project.worktrees/w");
        let said = parlor(world, &["worktrees", "merge", "w", "--commit", "the work"], 0);
        assert!(said.contains("hook pre-commit"), "{said}");
        assert_eq!(world.get("project/new.txt").trim(), "hi");
    });
}

#[test]
fn records_that_lie_elsewhere_have_nothing_run() {
    as_each_user(|world| {
        repository(world, "a.txt filter=x diff=x\n");
        let settings = evil_settings(world);
        for (number, elsewhere) in ["project/records", "outside/records"].into_iter().enumerate() {
            let before = if number == 0 { "project/.git" } else { "project/records" };
            fs::rename(world.path(before), world.path(elsewhere)).unwrap();
            world.put("project/.git", format!("gitdir: {}\n", world.path(elsewhere).display()));
            let own = fs::read_to_string(world.path(elsewhere).join("config")).unwrap();
            world.put(format!("{elsewhere}/config"), format!("{own}{settings}"));
            counts(world, "project");
            // Whatever it answers, it answers without them.
            for args in [
                &["worktrees"][..],
                &["run", "--worktree=w", "say hi"],
                &["run", "say hi"],
                &["sessions", "diff", "--git"],
            ] {
                let output = world.parlor(args).output().unwrap();
                assert_eq!(world.get("outside/RAN"), "", "{elsewhere} {args:?}: {output:?}");
            }
        }
    });
}

#[test]
fn a_worktree_in_whose_place_something_else_stands_is_not_parlors() {
    as_each_user(|world| {
        repository(world, "a.txt filter=x diff=x\n");
        let settings = evil_settings(world);
        for (name, by_link) in [("w", true), ("v", false)] {
            parlor(
                world,
                &["run", &format!("--worktree={name}"), "--allow", "write", "write new.txt: hi"],
                0,
            );
            let (victim, tree) = (format!("outside/{name}"), format!("project.worktrees/{name}"));
            world.outside("git", &["clone", "--quiet", ".", &world.path(&victim).display().to_string()]);
            let own = world.get(&format!("{victim}/.git/config"));
            world.put(format!("{victim}/.git/config"), format!("{own}{settings}"));
            world.put(format!("{victim}/precious"), "precious");
            counts(world, &victim);
            let said = parlor(world, &["worktrees"], 0);
            assert!(said.contains(name), "{said}");
            if by_link {
                fs::rename(world.path(&tree), world.path(format!("{tree}.moved"))).unwrap();
                std::os::unix::fs::symlink(world.path(&victim), world.path(&tree)).unwrap();
            } else {
                let dot = world.path(&victim).join(".git").display().to_string();
                world.put(format!("project/.git/worktrees/{name}/gitdir"), dot);
            }
            let said = parlor(world, &["worktrees", "list", "--json"], 0);
            assert!(!said.contains("uncommitted_files"), "{said}");
            parlor(world, &["worktrees", "remove", name, "--discard"], 2);
            parlor(world, &["worktrees", "merge", name, "--commit", "x"], 2);
            assert_eq!(world.get(&format!("{victim}/precious")), "precious");
        }
    });
}

#[test]
fn records_that_are_exchanged_while_git_looks_have_nothing_done_outside() {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    use std::sync::atomic::{AtomicBool, Ordering};
    as_each_user(|world| {
        repository(world, "a.txt filter=x diff=x\n");
        let settings = evil_settings(world);
        parlor(world, &["run", "--worktree=w", "--allow", "write", "write new.txt: hi"], 0);
        // As long as before: only its contents tell, and a filter would be asked for them.
        world.put("project.worktrees/w/a.txt", "alpha\nzeta\n");
        let (good, evil) = (world.path("project/.git"), world.path("project/other"));
        let copied = world.outside("cp", &["-a", &good.display().to_string(), &evil.display().to_string()]);
        assert_eq!(copied, "");
        let own = world.get("project/other/config");
        world.put("project/other/config", format!("{own}{settings}"));
        let over = AtomicBool::new(false);
        let exchange = || renameat_with(CWD, &good, CWD, &evil, RenameFlags::EXCHANGE).unwrap();
        exchange();
        counts(world, "project.worktrees/w");
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !over.load(Ordering::Relaxed) {
                    exchange();
                    std::thread::yield_now();
                }
            });
            for _ in 0..8 {
                // Git may well lose its way; what it may not is obey.
                let output = world.parlor(&["worktrees", "list", "--json"]).output().unwrap();
                let ran = world.get("outside/RAN");
                if !ran.is_empty() {
                    over.store(true, Ordering::Relaxed);
                }
                assert_eq!(ran, "", "{output:?}");
            }
            over.store(true, Ordering::Relaxed);
        });
    });
}

#[test]
fn who_cannot_have_a_worktree_is_told_the_reason() {
    as_each_user(|world| {
        world.folder("project.worktrees");
        git(world, &["init", "--quiet", "--initial-branch=main"]);
        git(world, &["config", "--global", "user.name", "A Person"]);
        git(world, &["config", "--global", "user.email", "person@example.org"]);
        let refused = |reason: &str| {
            let said = parlor(world, &["run", "--worktree=w", "say hi"], 1);
            assert!(said.contains(reason), "{reason}: {said}");
            assert_eq!(said.contains("there is no commit yet"), reason == "there is no commit yet", "{said}");
        };
        refused("there is no commit yet");
        git(world, &["add", "--all"]);
        git(world, &["commit", "--quiet", "-m", "first"]);
        let own = world.get("project/.git/config");
        let filters: String =
            (0..201).map(|number| format!("[filter \"f{number}\"]\n\tclean = x\n")).collect();
        world.put("project/.git/config", format!("{own}{filters}"));
        refused("more than 200 filters");
        world.put("project/.git/config", format!("{own}[broken\n"));
        refused("bad config");
        world.put("project/.git/config", own);
        parlor(world, &["run", "--worktree=w", "say hi"], 0);
    });
}
