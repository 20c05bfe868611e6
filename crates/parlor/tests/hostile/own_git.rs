//! A folder whose `.git` means harm, as an unpacked archive brings it: Parlor's own calls of git run nothing of it.

use crate::bench::{World, as_each_user};
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

/// A repository with one commit, whose settings then name a program wherever they can.
fn hostile(world: &World) {
    let git = |args: &[&str]| {
        let output = world.program("git").args(args).output().unwrap();
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    };
    // Beside the project only root could make it.
    world.folder("project.worktrees");
    git(&["init", "--quiet", "--initial-branch=main"]);
    git(&["config", "--global", "user.name", "A Person"]);
    git(&["config", "--global", "user.email", "person@example.org"]);
    world.put("project/.gitattributes", "a.txt filter=x=y diff=x merge=x\nb.txt merge=x filter=hidden\n");
    world.put("project/b.txt", "b\n");
    git(&["add", "--all"]);
    git(&["commit", "--quiet", "-m", "first"]);
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
        let git = |args: &[&str]| {
            let output = world.program("git").args(args).output().unwrap();
            assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        };
        world.folder("project.worktrees");
        git(&["init", "--quiet", "--initial-branch=main"]);
        for (setting, value) in [
            ("user.name", "A Person"),
            ("user.email", "person@example.org"),
            ("filter.own.clean", "tr A-Z a-z"),
            ("filter.own.smudge", "tr a-z A-Z"),
            ("filter.own.required", "true"),
        ] {
            git(&["config", "--global", setting, value]);
        }
        world.put("project/.gitattributes", "a.txt filter=own\n");
        git(&["add", "--all"]);
        git(&["commit", "--quiet", "-m", "first"]);
        parlor(world, &["run", "--worktree=w", "say hi"], 0);
        assert_eq!(world.get("project.worktrees/w/a.txt"), "ALPHA\nBETA\n");
        world.put("project.worktrees/w/a.txt", "ALPHA\nGAMMA\n");
        parlor(world, &["worktrees", "merge", "w", "--commit", "more"], 0);
        assert_eq!(world.outside("git", &["show", "HEAD:a.txt"]), "alpha\ngamma\n");
        // The program may obey any setting that we do not know.
        git(&["config", "lfs.customtransfer.x.path", "x"]);
        let said = parlor(world, &["run", "--worktree=v", "say hi"], 0);
        assert!(said.contains("filter own"), "{said}");
        assert_eq!(world.get("project.worktrees/v/a.txt"), "alpha\ngamma\n");
    });
}
