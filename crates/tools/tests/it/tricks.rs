//! Lines that look harmless and are not: each once got past the reader of command lines. None may run unasked.

use crate::room::{Room, SYSTEM};
use domain::session::Policy;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::process::Command;
use tools::policy::{Matcher, Rule, Verdict, decide};
use tools::shell::judge;

fn runs_unasked(room: &Room, line: &str) -> bool {
    judge(line, &room.place).read_only()
}

fn none_run_unasked(room: &Room, lines: &[&str]) {
    for line in lines {
        assert!(!runs_unasked(room, line), "{line:?} -> {:?}", judge(line, &room.place));
    }
}

fn all_run_unasked(room: &Room, lines: &[&str]) {
    for line in lines {
        assert!(runs_unasked(room, line), "{line:?} -> {:?}", judge(line, &room.place));
    }
}

#[test]
fn words_that_become_several_hide_no_command() {
    let room = Room::new();
    room.put("deep/a", "x");
    room.put("--pre=sh", "evil");
    let lines = [
        // What a wrapper's option takes may hold the command, too.
        "x='1 1 evil'; timeout -k $x 5 ls",
        "x='KILL 1 evil'; timeout --signal $x 5 ls",
        "timeout -k * 5 ls",
        "x='A evil'; env -u $x ls",
        "env --unset * ls",
        // A loop without a list goes over what the shell was given.
        "bash -c 'for x do evil; done' _ a",
        "bash -c 'for x do evil; done' _ a > deep/b",
        // `{}` may open a list of words after all.
        "rg -e --pre{},=sh} .",
        "cat deep/.{},./../../x}",
        // A file may have an option for its name.
        "rg x -*",
        "sort -[a-z]*",
        "git diff --*",
        // The second file is written.
        "echo x | uniq - deep/a",
        "echo x | xxd - deep/a",
        "uniq -- -in deep/a",
        // What is in directories may be links.
        "diff deep deep",
        "diff deep/a d*",
        // Says how much it wrote, in a variable.
        "printf '%n' PATH; ls",
        "printf 'a%%b% -5.*ln' x PATH; ls",
        // A time without a plus is set.
        "date 01010000",
    ];
    none_run_unasked(&room, &lines);
    let fine = [
        "timeout -k 1 5 ls",
        "env -u A ls",
        "date +%F",
        "diff deep/a deep/a",
        "uniq -",
        "uniq -c deep/a",
        "printf '%s\\n' a",
        "printf 'no\\n'",
        "date",
        "date -u +%s",
        "for x in a b; do echo $x; done",
    ];
    all_run_unasked(&room, &fine);
}

#[test]
fn words_from_elsewhere_never_complete_a_line_for_a_shell() {
    let room = Room::new();
    let lines = [
        "printf 'x; touch PWN; id' | xargs -I{} sh -c 'echo {}'",
        "printf 'x; touch PWN' | xargs -I % sh -c 'echo %'",
        "printf 'x; touch PWN' | xargs -I{} bash -lc 'ls {}'",
        "printf 'x; touch PWN' | xargs -n1 -I{} env sh -c 'echo {}'",
        "printf 'x; touch PWN' | timeout 5 xargs -I{} nice sh -c 'echo {}'",
        "printf 'touch PWN' | xargs sh -c 'echo' sh",
        "sh -c \"printf 'x; touch PWN' | xargs -I{} sh -c 'echo {}'\"",
        "find . -name 'x;touch PWN' -exec sh -c 'echo {}' \\;",
    ];
    none_run_unasked(&room, &lines);
    // Nor does a rule cover it, nor is what is seen in it forgotten.
    let rule = Rule { tool: None, matcher: Matcher::Prefix { words: vec!["cargo".into(), "test".into()] } };
    let plan = |line: &str| room.plan("bash", &serde_json::json!({ "command": line })).unwrap();
    let smuggled = plan("cat names | xargs -I{} sh -c 'cargo test {}'");
    assert_eq!(decide(Policy::Ask, &smuggled, &[rule]), Verdict::Ask);
    let deletes = plan("cat names | xargs -I{} sh -c 'rm -rf {}'");
    assert_eq!(deletes.assessment.risk, domain::ask::Risk::Critical);
}

#[test]
fn a_file_of_words_is_not_read_for_more_words() {
    let room = Room::new();
    room.put("list", "/etc/passwd");
    room.put("deep/@list", "/etc/passwd");
    let lines = [
        "strings @list",
        "strings -- @list",
        "strings -n 3 '@list'",
        "strings \\@list",
        "cd deep && strings *",
        "cd deep && strings ?list",
        "cd deep && strings @*",
        "file -f list",
        "wc --files0-from=list",
        "du --files0-from list",
        "sort --files0-from=list",
        "md5sum -c list",
        "date -f list",
        "grep -f list x",
        "diff --from-file=list list",
        "tree --fromfile list",
    ];
    none_run_unasked(&room, &lines);
    all_run_unasked(&room, &["strings list", "strings deep/*", "strings -n8 ./list", "echo @list"]);
}

#[test]
fn an_option_that_is_not_known_to_look_is_asked() {
    let room = Room::new();
    room.put("a", "x");
    symlink("/etc/passwd", room.path("link")).unwrap();
    let lines = [
        // It runs a program, sets a date, reads devices.
        "file -Z a",
        "file -p a",
        "file -s a",
        "rg --pre=sh x",
        "rg --hostname-bin=sh x",
        "sort -S1 a",
        "sort --compress-prog=sh a",
        "tree -R -H x -L 1",
        // Elsewhere it runs what it is given.
        "arch -x86_64 ./evil",
        "arch ./evil",
        // It asks the network.
        "hostname -f",
        // It follows links.
        "ls -LR",
        "ls -RL .",
        "du -L",
        "grep -rS x .",
        "find . -follow",
        // A value that is glued to a letter names a file, too.
        "hexdump -flink a",
        "nl -blink link",
        "git blame -Slink a",
        "git log -Llink a",
        "uniq -clink",
        // It flushes everything.
        "df --sync",
    ];
    none_run_unasked(&room, &lines);
    let fine = [
        "ls -la --color=never a",
        "sort -k2,2n -t: -u a",
        "grep -rniE 'x|y' --include='*.rs' -C 3 .",
        "rg -n --hidden -g '!target' -t rust x",
        "head -n -5 a",
        "head -20 a",
        "tail -n +3 a",
        "cut -d: -f1 a",
        "xxd -l16 a",
        "od -A d -t x1 a",
        "du -sh a",
        "diff -u a a",
        "stat -c %s a",
        "column -t -s: a",
    ];
    all_run_unasked(&room, &fine);
}

#[test]
fn patterns_find_no_names_outside() {
    let room = Room::new();
    room.put("a", "x");
    room.put(".hidden/x", "x");
    let lines = [
        "echo /etc/*",
        "echo ~/*",
        "echo ../*",
        "printf '%s\\n' /etc/*",
        "for f in /etc/*; do echo \"$f\"; done",
        "x='/etc/*'; echo $x",
        "x=/etc/*; echo ${x}",
        "for x in '/etc/*'; do echo $x; done",
        "for x in a; do echo $x; done; x='/etc/*'",
        "echo $(cat a)",
        "echo `cat a`",
        "echo ${HOME:-/etc/*}",
        "for f in $(cat a); do echo \"$f\"; done",
        "bash -c 'echo $1' _ '/etc/*'",
        "bash -c 'echo $*' '/etc/*' '/etc/*'",
        "bash -c 'for x; do echo $x; done' _ '/etc/*'",
        "x=$(cat a); echo $x",
        // To plain shells and older ones the directory above fits it.
        "cat .*/x",
        "ls .*",
        "ls .?",
        "ls .[.]/x",
        "sh -c 'cat .*/x'",
        "echo .*/x",
    ];
    none_run_unasked(&room, &lines);
    let fine = [
        "echo *",
        "for f in *; do echo $f; done",
        "for f in a b; do echo \"$f\" $f; done",
        "echo \"$(cat a)\" $? $# $HOME",
        "x=1; echo $x \"${x}\" ${#x}",
        "cat .h*/x",
        "ls .hidden/*",
    ];
    all_run_unasked(&room, &fine);
}

/// A program that leaves a mark.
fn plant(path: &Path) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, "#!/bin/sh\n: > PWN\n").unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

fn with_path(room: Room, path: &str) -> Room {
    with_env(room, &[("PATH", path)])
}

fn with_env(room: Room, env: &[(&str, &str)]) -> Room {
    let env: Vec<_> = env.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
    let place = room.place.clone().with_env(env.into_iter());
    Room { place, ..room }
}

#[test]
fn a_name_is_worth_nothing_where_the_project_brings_its_own_program() {
    let room = Room::new();
    room.put("a", "x");
    let bin = room.path("bin");
    for name in ["cat", "timeout", "bash", "sh", "grep", "echo", "time", "builtin", "git", "node"] {
        plant(&bin.join(name));
    }
    let hostile = format!("{}:{SYSTEM}", bin.display());
    let room = with_path(room, &hostile);
    let lines = [
        "cat a",
        "ls; cat a",
        "timeout 5 ls",
        "bash -c 'ls'",
        "sh -c 'ls'",
        "env cat a",
        "command cat a",
        "exec cat a",
        "egrep x a",
        "fgrep x a",
        "ls | grep x",
        "env echo x",
        "nice echo x",
        "exec echo x",
        "sh -c 'time echo x'",
        "sh -c 'builtin ls'",
        // A shell with nothing to do is a program all the same.
        "bash -c ''",
        "bash -c '# ls'",
        "sh -c 'x=1'",
        "git status",
        "git --version",
        "node --version",
    ];
    none_run_unasked(&room, &lines);
    // What the shell does itself, and what is found elsewhere.
    all_run_unasked(
        &room,
        &["echo x", "printf x", "test -f a", "ls", "cd bin && ls", "/usr/bin/cat a", "command echo x"],
    );
    let judgement = judge("cat a", &room.place);
    assert!(judgement.reasons.iter().any(|why| why.contains("a program of this project")), "{judgement:?}");
    // It is found by the same rules as in the shell: what stands behind does not count.
    let room = with_path(room, &format!("{SYSTEM}:{}", bin.display()));
    all_run_unasked(&room, &["cat a", "timeout 5 ls"]);
    // A link to it is as bad.
    let elsewhere = room.dir.path().join("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    symlink(bin.join("cat"), elsewhere.join("cat")).unwrap();
    none_run_unasked(&with_path(room, &format!("{}:{SYSTEM}", elsewhere.display())), &["cat a"]);
}

#[test]
fn programs_are_not_looked_for_where_anybody_may_put_one() {
    let room = Room::new();
    room.put("a", "x");
    for path in [":/usr/bin", "/usr/bin/..:", "", ".:/usr/bin", "bin:/usr/bin"] {
        let room = with_path(Room::new(), path);
        none_run_unasked(&room, &["nosuchprogram; ls; rg x", "rg x"]);
    }
    all_run_unasked(&with_path(Room::new(), &format!("{SYSTEM}:.")), &["ls"]);
    // The test's own directory may lie in /tmp, where everybody may write; so it is made plain in both ways.
    let open = room.dir.path().join("open");
    plant(&open.join("cat"));
    std::fs::set_permissions(&open, std::fs::Permissions::from_mode(0o777)).unwrap();
    let room = with_path(room, &format!("{}:{SYSTEM}", open.display()));
    none_run_unasked(&room, &["cat a"]);
    let said = judge("cat a", &room.place).reasons;
    assert!(said.iter().any(|why| why.contains("others may write in")), "{said:?}");
}

#[test]
fn libraries_of_the_project_make_every_program_doubtful() {
    let room = Room::new();
    room.put("a", "x");
    let lib = room.path("lib");
    std::fs::create_dir(&lib).unwrap();
    let room = with_env(room, &[("PATH", SYSTEM), ("LD_LIBRARY_PATH", &lib.display().to_string())]);
    none_run_unasked(&room, &["cat a", "ls"]);
    all_run_unasked(&room, &["echo x"]);
    // An empty entry means the working directory; it is not handed on.
    let room = with_env(room, &[("PATH", SYSTEM), ("LD_LIBRARY_PATH", ":/usr/lib")]);
    assert_eq!(room.place.variable("LD_LIBRARY_PATH"), Some("/usr/lib".as_ref()));
    all_run_unasked(&room, &["cat a", "ls"]);
}

#[test]
fn a_version_is_not_asked_of_what_obeys_the_project() {
    let room = Room::new();
    let home = room.dir.path().join("home");
    let shims = home.join("shims");
    plant(&shims.join("python3"));
    plant(&shims.join("rg"));
    let path = format!("{}:{SYSTEM}", shims.display());
    let room = with_env(room, &[("PATH", &path), ("HOME", &home.display().to_string())]);
    none_run_unasked(
        &room,
        &["python3 --version", "rg x", "bash -lc 'ls'", "bash -ic ls", "env -i bash -c ls"],
    );
    all_run_unasked(&room, &["ls", "git --version", "bash -c ls"]);
}

#[test]
fn the_terminal_is_no_harmless_device() {
    let room = Room::new();
    let lines = [
        "printf '\\033[8;20H' > /dev/tty",
        "echo x >/dev/pts/0",
        "cat /dev/tty",
        "cat < /dev/tty",
        "ls 2>/dev/tty",
    ];
    none_run_unasked(&room, &lines);
    all_run_unasked(&room, &["ls > /dev/null 2>&1", "echo x >/dev/stderr"]);
}

#[test]
fn an_encoding_in_which_shells_read_other_letters_is_a_doubt() {
    let room = Room::new();
    // In GBK the last byte of `€` and the backslash are one letter: the quote ends, and `evil` is a command.
    let line = "echo \"€\\\"; evil; \"";
    all_run_unasked(&room, &[line, "LC_ALL=C.UTF-8 bash -c 'ls'", "TZ=Europe/Berlin date"]);
    none_run_unasked(
        &room,
        &["LC_ALL=zh_CN.GBK bash -c 'ls'", "LANG=ja_JP.SJIS sh -c ls", "TZ=/etc/passwd date"],
    );
    let room = with_env(room, &[("PATH", SYSTEM), ("LC_CTYPE", "zh_CN.GBK")]);
    none_run_unasked(&room, &[line]);
    all_run_unasked(&room, &["echo \"plain\""]);
}

#[test]
fn a_rule_never_covers_what_runs_anything() {
    let room = Room::new();
    let lines = [
        "rustup run nightly cargo test",
        "cmake -E env ls",
        "meson devenv ls",
        "yarn node x.js",
        "mix eval 1",
        "go env -w GOFLAGS=-x",
        "npm config set script-shell x",
    ];
    for line in lines {
        let offer = tools::policy::offer(&judge(line, &room.place));
        let exact = offer.is_none_or(|offer| offer.words.starts_with("run exactly"));
        assert!(exact, "{line}");
    }
    // An abbreviation is as good as the whole option.
    let words = ["npm", "test"].map(str::to_owned).to_vec();
    let rule = Rule { tool: None, matcher: Matcher::Prefix { words } };
    let verdict = |line: &str| {
        let plan = room.plan("bash", &serde_json::json!({ "command": line })).unwrap();
        decide(Policy::Ask, &plan, std::slice::from_ref(&rule))
    };
    assert!(matches!(verdict("npm test --silent"), Verdict::Allow(_)));
    assert_eq!(verdict("npm test --script-sh=evil"), Verdict::Ask);
}

fn git(room: &Room, args: &[&str]) {
    let mut command = Command::new("git");
    command.args(["-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"]).args(args);
    command.current_dir(room.place.root().unwrap()).env("GIT_CONFIG_GLOBAL", "/dev/null");
    assert!(command.output().unwrap().status.success(), "{args:?}");
}

/// A plain repository.
fn plain_repository() -> Room {
    let room = Room::new();
    room.put("a", "x");
    git(&room, &["init", "-q"]);
    git(&room, &["add", "a"]);
    git(&room, &["commit", "-qm", "a"]);
    room
}

/// A plain repository, changed by one trap.
fn repository(trap: impl FnOnce(&Room)) -> bool {
    let room = plain_repository();
    trap(&room);
    runs_unasked(&room, "git status")
}

#[test]
fn git_is_asked_when_it_would_write_run_or_read_more() {
    let room = plain_repository();
    let lines = [
        // It refreshes the index.
        "git describe --dirty",
        // It reads through a link where a directory was.
        "git grep x",
        "git grep --untracked --cached=no x",
        "git grep -n --no-index x",
        // It runs `gpg`.
        "git log --format=%G?",
        "git log --pretty='tformat:%h %GS'",
        "git log --show-signature",
        "git grep --cached -LOevil x",
        "git grep --cached -GOevil x",
        "git diff --ext-diff",
        "git diff --submodule=log",
        "git ls-files -X /etc/passwd",
        "git ls-files --exclude-from=a",
        "git blame --contents /etc/passwd a",
        "git log --outp=x",
    ];
    none_run_unasked(&room, &lines);
    let fine = [
        "git status -sb",
        "git log --oneline -5 --graph",
        "git log -n 3 --format='%h %s' -- a",
        "git diff HEAD --stat",
        "git show HEAD:a",
        "git grep --cached -n x",
        "git blame -L 1,2 a",
        "git --no-pager log -p",
    ];
    all_run_unasked(&room, &fine);
}

#[test]
fn a_repository_cannot_make_git_run_its_programs() {
    assert!(repository(|_| {}), "a plain one is looked at unasked");
    assert!(!repository(|room| room.put(".git/hooks/post-index-change", "#!/bin/sh\nevil")));
    assert!(!repository(|room| room.put(".git/commondir", "../other")));
    assert!(!repository(|room| git(room, &["config", "remote.origin.uploadpack", "./evil"])));
    assert!(!repository(|room| git(room, &["config", "remote.origin.promisor", "true"])));
    // It quotes a line of the file that it cannot understand, or shows what another repository holds.
    assert!(!repository(|room| git(room, &["config", "blame.ignoreRevsFile", "/etc/passwd"])));
    assert!(!repository(|room| symlink("/etc/passwd", room.path(".git/packed-refs")).unwrap()));
    assert!(!repository(|room| symlink("/etc/passwd", room.path(".git/shallow")).unwrap()));
    assert!(!repository(|room| room.put(".git/objects/info/alternates", "/other/.git/objects\n")));
    assert!(!repository(|room| {
        std::fs::remove_dir_all(room.path(".git/objects/pack")).unwrap();
        symlink("/other/.git/objects/pack", room.path(".git/objects/pack")).unwrap();
    }));
    assert!(!repository(|room| git(room, &["config", "log.showSignature", "true"])));
    assert!(!repository(|room| {
        git(room, &["init", "-q", "inner"]);
        git(room, &["-C", "inner", "commit", "-q", "--allow-empty", "-m", "b"]);
        git(room, &["add", "inner"]);
    }));
}

#[test]
fn half_a_repository_hides_no_other() {
    let room = Room::new();
    room.put(".git/config", "[core]\n\tfsmonitor = evil\n");
    room.put("sub/.git/config", "[core]\n");
    let below = room.place.at(&room.path("sub")).unwrap();
    assert!(!judge("git status", &below).read_only());
}
