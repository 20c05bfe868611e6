//! Worktrees, with the real git: what the agent does there stays apart until a person takes it over, and is lost by nothing else.

use crate::task::Project;
use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use testkit::Screen;

/// A repository with one commit, an untracked file and an ignored one.
fn repository() -> Project {
    let project = Project::new();
    std::fs::remove_dir(project.path("work/.git")).unwrap();
    git(&project, &["init", "--quiet", "--initial-branch=main"]);
    git(&project, &["config", "--global", "user.name", "A Person"]);
    git(&project, &["config", "--global", "user.email", "person@example.org"]);
    git(&project, &["add", "--all"]);
    git(&project, &["commit", "--quiet", "-m", "first"]);
    std::fs::write(project.path("work/.env"), "KEY=1\n").unwrap();
    std::fs::write(project.path("work/notes"), "mine\n").unwrap();
    project
}

/// What git says in the main checkout.
#[track_caller]
fn git(project: &Project, args: &[&str]) -> String {
    let mut command = Command::new("git");
    command.args(args).current_dir(project.path("work")).env_clear().env("HOME", project.path("home"));
    let output = command.env("PATH", std::env::var_os("PATH").unwrap()).output().unwrap();
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

fn parlor(project: &Project, args: &[&str]) -> Output {
    project.bare(args).args(["--model", "offline/offline"]).stdin(Stdio::null()).output().unwrap()
}

#[track_caller]
fn done(output: &Output) -> String {
    let said = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let all = format!("{}{}", said(&output.stdout), said(&output.stderr));
    assert_eq!(output.status.code(), Some(0), "{all}");
    all
}

fn tree(project: &Project, file: &str) -> PathBuf {
    project.path("work.worktrees").join(file)
}

fn listed(project: &Project) -> Vec<Value> {
    let output = parlor(project, &["worktrees", "list", "--json"]);
    let told: Value = serde_json::from_slice(&output.stdout).unwrap();
    told["worktrees"].as_array().unwrap().clone()
}

#[test]
fn what_is_done_in_a_worktree_stays_apart_until_it_is_merged_by_a_word() {
    let project = repository();
    let args = ["run", "--worktree=fix", "--copy", ".env", "--allow", "write", "write new.txt: hi"];
    let said = done(&parlor(&project, &args));
    assert!(said.contains("worktree fix is kept (branch parlor/fix, 1 file not committed)"), "{said}");
    assert!(!project.path("work/new.txt").exists(), "the checkout is left alone");
    assert!(tree(&project, "fix/new.txt").exists());
    assert!(
        tree(&project, "fix/.env").exists() && !tree(&project, "fix/notes").exists(),
        "only what was named"
    );
    let all = listed(&project);
    assert_eq!((all[0]["name"].as_str(), all[0]["base"].as_str()), (Some("fix"), Some("main")));
    assert_eq!((all[0]["commits"].as_u64(), all[0]["uncommitted_files"].as_u64()), (Some(0), Some(1)));
    // Nothing is committed that nobody wanted committed, and nothing is thrown away that nobody wanted gone.
    let refused = parlor(&project, &["worktrees", "merge", "fix"]);
    assert_eq!(refused.status.code(), Some(1), "{refused:?}");
    let refused = parlor(&project, &["worktrees", "remove", "fix"]);
    assert_eq!(refused.status.code(), Some(1), "{refused:?}");
    assert!(tree(&project, "fix/new.txt").exists());
    // The same worktree again.
    done(&parlor(&project, &["run", "--worktree=fix", "--allow", "write", "write more.txt: hi"]));
    assert_eq!(listed(&project).len(), 1);
    let said = done(&parlor(&project, &["worktrees", "merge", "fix", "--commit", "the fix"]));
    assert!(said.contains("merged parlor/fix into main"), "{said}");
    assert_eq!(git(&project, &["log", "--format=%s", "-1"]), "the fix");
    assert_eq!(git(&project, &["show", "--name-only", "--format=", "HEAD"]), "more.txt\nnew.txt");
    assert!(project.path("work/new.txt").exists() && !tree(&project, "fix").exists());
    assert_eq!(
        (git(&project, &["branch", "--list", "parlor/*"]), listed(&project).len()),
        (String::new(), 0)
    );
}

#[test]
fn a_worktree_that_cannot_be_looked_at_is_not_told_as_empty_and_not_removed() {
    let project = repository();
    done(&parlor(&project, &["run", "--worktree=fix", "--allow", "write", "write new.txt: hi"]));
    std::fs::write(project.path("work/.git/worktrees/fix/index"), "rubbish").unwrap();
    let all = listed(&project);
    assert_eq!((all[0]["name"].as_str(), &all[0]["commits"]), (Some("fix"), &Value::Null));
    assert!(all[0]["error"].as_str().is_some_and(|why| why.contains("index")), "{all:?}");
    let refused = parlor(&project, &["worktrees", "remove", "fix"]);
    assert_eq!(refused.status.code(), Some(1), "{refused:?}");
    assert!(tree(&project, "fix/new.txt").exists());
}

#[test]
fn a_worktree_that_cannot_be_merged_is_kept_and_one_is_thrown_away_only_by_that_word() {
    let project = repository();
    done(&parlor(&project, &["run", "--worktree=a", "--allow", "write", "write sum.sh: theirs"]));
    std::fs::write(project.path("work/sum.sh"), "mine\n").unwrap();
    git(&project, &["commit", "--quiet", "-am", "mine"]);
    let before = git(&project, &["rev-parse", "HEAD"]);
    let failed = parlor(&project, &["worktrees", "merge", "a", "--commit", "theirs"]);
    assert_eq!(failed.status.code(), Some(1), "{failed:?}");
    assert_eq!((git(&project, &["rev-parse", "HEAD"]), listed(&project).len()), (before, 1));
    assert_eq!(
        git(&project, &["status", "--porcelain", "--untracked-files=no"]),
        "",
        "the merge is given up whole"
    );
    let refused = parlor(&project, &["worktrees", "remove", "a"]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("1 commit not merged"), "{refused:?}");
    done(&parlor(&project, &["worktrees", "remove", "a", "--discard"]));
    assert!(listed(&project).is_empty() && !tree(&project, "a").exists());
    // Worktrees of others are not ours to take away.
    let other = tree(&project, "other").display().to_string();
    git(&project, &["worktree", "add", "--quiet", "-b", "parlor/other", &other]);
    assert!(listed(&project).is_empty());
    assert_eq!(parlor(&project, &["worktrees", "remove", "other", "--discard"]).status.code(), Some(2));
    for (args, word) in [
        (&["run", "--worktree=a/b", "hi"][..], "letters"),
        (&["run", "--worktree=x", "--copy", "../home", "hi"], "--copy"),
        (&["run", "--copy", ".env", "hi"], "--copy goes with --worktree"),
        (&["--worktree", "x", "models"], "--worktree goes with"),
    ] {
        let output = parlor(&project, args);
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(String::from_utf8_lossy(&output.stderr).contains(word), "{args:?}: {output:?}");
    }
    assert!(listed(&project).is_empty(), "what was refused made nothing");
}

#[test]
fn after_a_kill_the_worktree_is_listed_and_its_session_goes_on_in_it() {
    let project = repository();
    std::fs::write(project.path("work/model.txt"), "model text \"Counting\" | pause forever\n").unwrap();
    git(&project, &["add", "model.txt"]);
    git(&project, &["commit", "--quiet", "-m", "a model"]);
    let mut command = project.bare(&["run", "--json", "--worktree=w", "--model", "scripted/model.txt", "go"]);
    let mut run = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut lines = BufReader::new(run.stdout.take().unwrap()).lines().map(Result::unwrap);
    let header: Value = serde_json::from_str(&lines.next().unwrap()).unwrap();
    let session = header["header"]["session"].as_str().unwrap().to_owned();
    assert!(lines.by_ref().any(|line| line.contains("Counting")));
    // While it runs it is one of the live ones, and nobody takes its folder away.
    let refused = parlor(&project, &["worktrees", "remove", "w", "--discard"]);
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert_eq!(refused.status.code(), Some(1), "{said}");
    assert!(said.contains(&format!("open in another Parlor (pid {}, run)", run.id())), "{said}");
    let live: Value = serde_json::from_slice(&parlor(&project, &["ps", "--json"]).stdout).unwrap();
    assert!(live.to_string().contains(&session), "{live}");
    run.kill().unwrap();
    run.wait().unwrap();
    let all = listed(&project);
    assert_eq!(all.len(), 1, "{all:?}");
    // From the main checkout, by the session alone.
    done(&parlor(&project, &["run", "--resume", &session, "--allow", "write", "write b.txt: hi"]));
    assert!(tree(&project, "w/b.txt").exists() && !project.path("work/b.txt").exists());
    let mut terminal = Screen::start(project.bare(&[]).args(["--model", "offline/offline"]));
    terminal.shows(&["worktree w waits on branch parlor/w"]);
    drop(terminal);
    // However many there are, the first screen has one line for them.
    for name in ["--worktree=x", "--worktree=y"] {
        done(&parlor(&project, &["run", name, "say hi"]));
    }
    let mut terminal = Screen::start(project.bare(&[]).args(["--model", "offline/offline"]));
    terminal.shows(&["3 worktrees wait, w first: parlor worktrees tells what is in them"]);
    assert_eq!(terminal.count("parlor worktrees"), 1);
}

#[test]
fn git_works_in_a_worktree_as_in_a_checkout_and_its_hooks_stay_what_they_are() {
    let project = repository();
    let run = |line: &str| {
        let prompt = format!("run `{line}`");
        parlor(&project, &["run", "--worktree=w", "--allow", "bash", &prompt])
    };
    // Looking is free, as in a checkout.
    let looked = parlor(&project, &["run", "--worktree=w", "run `git log --oneline`"]);
    assert!(done(&looked).contains("first"), "{looked:?}");
    // What it commits goes to the repository, from inside the sandbox.
    done(&run("echo new > new.txt && git add new.txt && git commit -q -m second"));
    assert_eq!(git(&project, &["log", "--format=%s", "-1", "parlor/w"]), "second");
    assert_eq!(listed(&project)[0]["commits"].as_u64(), Some(1));
    // What would make git run something is not written: neither what is there nor what is new.
    let (hook, config) = (project.path("work/.git/hooks/pre-commit"), project.path("work/.git/config"));
    let before = std::fs::read(&config).unwrap();
    for line in [
        format!("git status; echo x > {}", hook.display()),
        "git config core.fsmonitor ./evil".to_owned(),
        format!("git status; echo evil > {}", project.path("work/.git/commondir").display()),
    ] {
        run(&line);
        assert!(!hook.exists() && !project.path("work/.git/commondir").exists(), "{line}");
        assert_eq!(std::fs::read(&config).unwrap(), before, "{line}");
    }
}

#[test]
fn the_screen_names_the_worktree_and_its_end_is_asked_for() {
    let project = repository();
    let start = |args: &[&str]| Screen::start(project.bare(args).args(["--model", "offline/offline"]));
    let mut terminal = start(&["--worktree", "end", "--policy", "auto-edit"]);
    terminal.shows(&["offline", "worktree end"]);
    terminal.send("write new.txt: hi\r");
    terminal.shows(&["Done with"]);
    terminal.settles();
    terminal.send("\u{4}");
    terminal.shows(&["worktree end has 1 file not committed", "merge, keep or remove?"]);
    // No letter, and not without a second word.
    terminal.send("r\r");
    terminal.shows(&["write one of the three words"]);
    terminal.settles();
    terminal.send("remove\r");
    terminal.shows(&["Write \"discard\""]);
    terminal.settles();
    terminal.send("yes\r");
    terminal.shows(&["worktree end is kept"]);
    assert_eq!(terminal.code(), Some(0));
    assert!(tree(&project, "end/new.txt").exists());
    let mut terminal = start(&["--worktree", "end", "--continue"]);
    terminal.shows(&["worktree end", "write new.txt: hi"]);
    terminal.settles();
    terminal.send("\u{4}");
    terminal.shows(&["merge, keep or remove?"]);
    terminal.send("merge\r");
    terminal.shows(&["merged parlor/end into main"]);
    assert_eq!(terminal.code(), Some(0));
    assert!(project.path("work/new.txt").exists() && !tree(&project, "end").exists());
}

/// A repository that ignores `.env`, logs and what is built, and a worktree with a copy of `.env`.
fn ignoring(name: &str) -> Project {
    let project = repository();
    std::fs::write(project.path("work/.gitignore"), "*.log\n.env\nbuilt/\n").unwrap();
    git(&project, &["add", ".gitignore"]);
    git(&project, &["commit", "--quiet", "-m", "ignore"]);
    done(&parlor(&project, &["run", &format!("--worktree={name}"), "--copy", ".env", "hi"]));
    project
}

#[test]
fn ignored_files_and_changed_copies_of_a_worktree_are_lost_only_by_that_word() {
    let project = ignoring("w");
    let outside = |project: &Project| listed(project)[0]["outside_of_git"].as_u64();
    assert_eq!(outside(&project), Some(0), "a copy as it was is nothing to lose");
    std::fs::write(tree(&project, "w/res.log"), "precious\n").unwrap();
    std::fs::write(tree(&project, "w/.env"), "KEY=2\n").unwrap();
    std::fs::create_dir(tree(&project, "w/built")).unwrap();
    std::fs::write(tree(&project, "w/built/one"), "1").unwrap();
    std::fs::write(tree(&project, "w/built/two"), "2").unwrap();
    let refused = parlor(&project, &["worktrees", "remove", "w"]);
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert_eq!(refused.status.code(), Some(1), "{refused:?}");
    assert!(said.contains("3 outside of git (built/, res.log, .env)"), "{said}");
    // What is committed is taken over; the folder stays for the rest.
    std::fs::write(tree(&project, "w/new.txt"), "new\n").unwrap();
    let said = done(&parlor(&project, &["worktrees", "merge", "w", "--commit", "new"]));
    assert!(said.contains("the worktree is kept, for it has 3 outside of git"), "{said}");
    assert_eq!(git(&project, &["show", "--name-only", "--format=", "HEAD"]), "new.txt");
    assert!(tree(&project, "w/res.log").exists());
    // The same on the screen: each way out asks for the second word.
    for word in ["remove\r", "merge\r"] {
        let mut terminal =
            Screen::start(project.bare(&["--worktree", "w"]).args(["--model", "offline/offline"]));
        terminal.shows(&["worktree w"]);
        terminal.settles();
        terminal.send("\u{4}");
        terminal.shows(&["merge, keep or remove?"]);
        terminal.send(word);
        terminal.shows(&["3 outside of git", "Write \"discard\""]);
        terminal.settles();
        terminal.send("\r");
        terminal.shows(&["is kept"]);
        assert_eq!(terminal.code(), Some(0));
        assert!(tree(&project, "w/res.log").exists(), "{word}");
    }
    done(&parlor(&project, &["worktrees", "merge", "w", "--discard"]));
    assert!(!tree(&project, "w").exists());
}

#[test]
fn an_ignored_copy_does_not_hinder_the_merge_of_a_worktree() {
    let project = ignoring("w");
    std::fs::write(tree(&project, "w/new.txt"), "new\n").unwrap();
    let said = done(&parlor(&project, &["worktrees", "merge", "w", "--commit", "new"]));
    assert!(said.contains("the worktree is gone"), "{said}");
    assert_eq!(git(&project, &["show", "--name-only", "--format=", "HEAD"]), "new.txt");
}

#[test]
fn what_came_to_a_worktree_while_its_end_was_asked_for_counts() {
    let project = repository();
    let mut terminal = Screen::start(project.bare(&["--worktree", "w"]).args(["--model", "offline/offline"]));
    terminal.shows(&["worktree w"]);
    terminal.settles();
    terminal.send("\u{4}");
    terminal.shows(&["nothing in it yet", "merge, keep or remove?"]);
    std::fs::write(tree(&project, "w/late.txt"), "late\n").unwrap();
    terminal.send("remove\r");
    terminal.shows(&["1 file not committed would be lost", "Write \"discard\""]);
    terminal.settles();
    terminal.send("\r");
    terminal.shows(&["worktree w is kept"]);
    assert_eq!(terminal.code(), Some(0));
    assert!(tree(&project, "w/late.txt").exists());
}

#[test]
fn a_worktree_is_not_taken_from_under_another_session() {
    let project = repository();
    let start = || Screen::start(project.bare(&["--worktree", "w"]).args(["--model", "offline/offline"]));
    let mut first = start();
    first.shows(&["worktree w"]);
    first.settles();
    for args in [&["worktrees", "remove", "w", "--discard"][..], &["worktrees", "merge", "w"]] {
        let refused = parlor(&project, args);
        let said = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert_eq!(refused.status.code(), Some(1), "{args:?}: {refused:?}");
        assert!(said.contains("open in another Parlor") && said.contains("close it there first"), "{said}");
    }
    let mut second = start();
    second.shows(&["worktree w"]);
    second.settles();
    second.send("\u{4}");
    second.shows(&["open in another Parlor", "worktree w is kept"]);
    assert_eq!(second.code(), Some(0));
    assert!(tree(&project, "w").exists());
    // Alone again it is asked for.
    first.send("\u{4}");
    first.shows(&["merge, keep or remove?"]);
    first.send("remove\r");
    first.shows(&["removed worktree w"]);
    assert_eq!(first.code(), Some(0));
    assert!(!tree(&project, "w").exists());
}

#[test]
fn no_setting_has_a_merge_leave_out_the_work_that_is_then_thrown_away() {
    let project = repository();
    let settings = [
        ("branch.main.mergeOptions", "--squash"),
        ("branch.main.mergeOptions", "--no-commit --no-ff"),
        ("branch.main.mergeOptions", "-s ours"),
        ("pull.twohead", "ours"),
    ];
    for (number, (setting, value)) in settings.into_iter().enumerate() {
        let (name, file) = (format!("w{number}"), format!("new{number}.txt"));
        let made = format!("--worktree={name}");
        done(&parlor(&project, &["run", &made, "--allow", "write", &format!("write {file}: hi")]));
        // Something to merge with: what is only moved forward obeys few options.
        git(&project, &["commit", "--quiet", "--allow-empty", "-m", "main goes on"]);
        git(&project, &["config", setting, value]);
        let said = done(&parlor(&project, &["worktrees", "merge", &name, "--commit", "work"]));
        assert!(said.contains("the worktree is gone"), "{said}");
        assert_eq!(git(&project, &["ls-tree", "--name-only", "HEAD", &file]), file, "{setting} {value}");
        git(&project, &["config", "--unset", setting]);
    }
}

#[test]
fn a_worktree_stays_where_git_says_merged_and_the_work_is_not_there() {
    let project = repository();
    done(&parlor(&project, &["run", "--worktree=w", "--allow", "write", "write new.txt: hi"]));
    // A git that does all but merge.
    let path = std::env::var_os("PATH").unwrap();
    let real = std::env::split_paths(&path).map(|dir| dir.join("git")).find(|git| git.is_file()).unwrap();
    let script = format!("#!/bin/sh\n[ \"$2\" = merge ] && exit 0\nexec '{}' \"$@\"\n", real.display());
    std::fs::create_dir(project.path("bin")).unwrap();
    std::fs::write(project.path("bin/git"), script).unwrap();
    std::fs::set_permissions(project.path("bin/git"), std::fs::Permissions::from_mode(0o755)).unwrap();
    let dirs = std::iter::once(project.path("bin")).chain(std::env::split_paths(&path));
    let mut command = project.bare(&["worktrees", "merge", "w", "--commit", "work"]);
    command.env("PATH", std::env::join_paths(dirs).unwrap()).stdin(Stdio::null());
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stderr).contains("nothing was removed"), "{output:?}");
    assert!(tree(&project, "w/new.txt").exists());
    assert_ne!(git(&project, &["branch", "--list", "parlor/w"]), "");
}

#[test]
fn a_copy_is_not_written_through_a_link_that_the_repository_tracks() {
    let project = repository();
    std::fs::write(project.path("home/mine"), "MINE\n").unwrap();
    std::fs::remove_file(project.path("work/.env")).unwrap();
    symlink(project.path("home/mine"), project.path("work/.env")).unwrap();
    symlink(project.path("home"), project.path("work/conf")).unwrap();
    git(&project, &["add", "--force", ".env", "conf"]);
    git(&project, &["commit", "--quiet", "-m", "links"]);
    for link in ["work/.env", "work/conf"] {
        std::fs::remove_file(project.path(link)).unwrap();
    }
    std::fs::create_dir_all(project.path("work/conf/deep")).unwrap();
    for file in ["work/.env", "work/conf/mine", "work/conf/deep/new"] {
        std::fs::write(project.path(file), "EVIL\n").unwrap();
    }
    for (file, link) in [(".env", ".env"), ("conf/mine", "conf"), ("conf/deep/new", "conf")] {
        // The first one could be copied; it is not.
        let output = parlor(&project, &["run", "--worktree=w", "--copy", "notes", "--copy", file, "hi"]);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        assert!(said.contains(&format!("--copy {file}: {link} is a link in the last commit")), "{said}");
        assert_eq!(std::fs::read_to_string(project.path("home/mine")).unwrap(), "MINE\n", "{file}");
        assert!(!project.path("home/deep").exists() && !tree(&project, "w").exists(), "{file}");
        assert!(listed(&project).is_empty());
    }
}

#[test]
fn nothing_is_fetched_for_a_worktree_from_where_a_repository_says() {
    let project = repository();
    git(&project, &["clone", "--quiet", "--bare", ".", "../other"]);
    let other = format!("file://{}", project.path("other").display());
    for (setting, value) in [
        ("core.repositoryFormatVersion", "1"),
        ("extensions.partialClone", "origin"),
        ("remote.origin.promisor", "true"),
        ("remote.origin.url", other.as_str()),
    ] {
        git(&project, &["config", setting, value]);
    }
    let blob = git(&project, &["rev-parse", "HEAD:sum.sh"]);
    let object = project.path("work/.git/objects").join(&blob[..2]).join(&blob[2..]);
    std::fs::remove_file(&object).unwrap();
    let output = parlor(&project, &["run", "--worktree=w", "hi"]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(listed(&project).is_empty());
    // By now the object is there only if it was fetched.
    let packs = std::fs::read_dir(project.path("work/.git/objects/pack")).unwrap().count();
    assert!(!object.exists() && packs == 0, "{packs} {output:?}");
}

#[test]
fn sub_agents_work_apart_and_what_they_did_is_merged_by_a_word() {
    let project = repository();
    // One after the other: the script deals its answers in the order in which they are asked for.
    let task = |agent: &str, does: &str| {
        format!(
            "model tool task {{\"agent\":\"{agent}\",\"isolation\":\"worktree\",\"prompt\":\"{does}\"}}\n---\n"
        )
    };
    let write =
        "model tool write {\"path\":\"apart.txt\",\"content\":\"x\"}\n---\nmodel text \"over\"\n---\n";
    let script = [
        task("general", "one"),
        write.to_owned(),
        task("general", "two"),
        write.to_owned(),
        task("explore", "look"),
        "model text \"nothing\"\n---\nmodel text \"done\"\n".to_owned(),
    ]
    .concat();
    std::fs::write(project.path("config/model.txt"), script).unwrap();
    let model = format!("scripted/{}", project.path("config/model.txt").display());
    let run = project.bare(&["run", "--json", "--policy", "auto-edit", "--model", &model, "go"]);
    let told = done(&{ run }.stdin(Stdio::null()).output().unwrap());
    assert!(!project.path("work/apart.txt").exists(), "the checkout is left alone");
    for name in ["task-1", "task-2"] {
        assert_eq!(std::fs::read_to_string(tree(&project, name).join("apart.txt")).unwrap(), "x");
        assert!(told.contains(&format!("parlor worktrees merge {name} --commit MESSAGE")), "{told}");
    }
    assert_eq!(listed(&project).len(), 2, "one in which nothing was done is gone");
    done(&parlor(&project, &["worktrees", "merge", "task-1", "--commit", "theirs"]));
    assert!(project.path("work/apart.txt").exists() && !tree(&project, "task-1").exists());
}
