//! What rules are proposed and how long they hold; tools that look only where a project chooses nothing.

use crate::consent::trapped;
use crate::room::Room;
use domain::session::Policy;
use domain::tool::Decider;
use serde_json::json;
use tools::policy::{Rule, Verdict, decide};

#[test]
fn offered_rules_are_shown_in_words_and_cover_what_they_were_offered_for() {
    let room = trapped();
    let cases = [
        (
            "cargo test --all",
            Some(
                "run commands that start with `cargo build`, `cargo check`, `cargo clippy`, `cargo doc`, `cargo test`, `cargo fmt`, `cargo tree`",
            ),
        ),
        // Formatting is less than building, so it asks for no more.
        ("cd src && cargo fmt", Some("run commands that start with `cargo fmt`")),
        ("cargo fmt && cargo run | tail", Some("run commands that start with `cargo fmt`, `cargo run`")),
        ("cargo test --config x", Some("run exactly `cargo test --config x`")),
        ("npm run build -- --x", Some("run commands that start with `npm run build`")),
        (
            "git commit -m 'a b'",
            Some(
                "run commands that start with `git commit`, `git checkout -b`, `git switch -c`, `git add`, `git stash`",
            ),
        ),
        ("git checkout -b x -f", Some("run exactly `git checkout -b x -f`")),
        ("python3 tool.py", Some("run exactly `python3 tool.py`")),
        ("make test", Some("run commands that start with `make test`")),
        ("make test CC=evil", Some("run exactly `make test CC=evil`")),
        ("make -f x test", Some("run exactly `make -f x test`")),
        ("npx vitest run", Some("run commands that start with `npx vitest`")),
        ("npx -y vitest", Some("run exactly `npx -y vitest`")),
        ("npx vitest@latest", Some("run exactly `npx vitest@latest`")),
        ("./unknown x", Some("run exactly `./unknown x`")),
        ("rm a.txt", Some("run exactly `rm a.txt`")),
        ("rm -rf x", None),
        ("cargo test $X", None),
        ("cargo test > /tmp/x", None),
        ("curl x | sh", None),
        ("ls", None),
    ];
    for (line, words) in cases {
        let plan = room.plan("bash", &json!({"command": line})).unwrap();
        assert_eq!(plan.rule.as_ref().map(|offer| offer.words.as_str()), words, "{line}");
        if let Some(offer) = &plan.rule {
            assert!(
                matches!(decide(Policy::Ask, &plan, &offer.rules), Verdict::Allow(Decider::Rule(_))),
                "{line}"
            );
        }
    }
}

#[test]
fn a_rule_for_a_script_holds_while_it_is_what_it_was() {
    let room = Room::new();
    room.put("run.sh", "echo 1\n");
    room.put("other.sh", "echo 1\n");
    let plan = |line: &str| room.plan("bash", &json!({"command": line})).unwrap();
    let first = plan("bash run.sh --all");
    let offer = first.rule.clone().unwrap();
    assert!(offer.words.ends_with("run.sh` as it is now, with any arguments"), "{}", offer.words);
    let kept: Vec<Rule> = serde_json::from_str(&serde_json::to_string(&offer.rules).unwrap()).unwrap();
    let allowed = |line: &str| matches!(decide(Policy::Ask, &plan(line), &kept), Verdict::Allow(_));
    for line in ["bash run.sh --all", "bash run.sh", "bash ./run.sh x"] {
        assert!(allowed(line), "{line}");
    }
    for line in [
        "bash other.sh",
        "sh run.sh",
        "bash -x run.sh",
        "bash run.sh; rm x",
        "bash run.sh > /tmp/x",
        "./run.sh",
    ] {
        assert!(!allowed(line), "{line}");
    }
    room.put("run.sh", "echo 2\n");
    assert!(!allowed("bash run.sh --all"));
    // What was agreed to is no longer what would run.
    assert!(tools::still_valid(&*room.tool("bash"), &first).is_err());
}

#[test]
fn a_tool_that_obeys_the_project_looks_only_where_nothing_chooses() {
    let room = Room::new();
    // Whatever lies in temp others might have put there.
    let home = tempfile::tempdir_in(crate::leash::outside_temp()).unwrap();
    let home = home.path();
    let script = |path: std::path::PathBuf| {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, "#!/bin/sh\n").unwrap();
        std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    };
    let mut folders = Vec::new();
    for (folder, names) in [
        (".cargo/bin", &["cargo", "rustc", "cargo-fmt", "rustfmt"][..]),
        (".nvm/versions/node/v22/bin", &["node", "npm"]),
        (".asdf/shims", &["cargo", "npm"]),
    ] {
        names.iter().for_each(|name| script(home.join(folder).join(name)));
        folders.push(home.join(folder));
    }
    let free = |path: &[&std::path::PathBuf], line: &str| {
        let path: Vec<_> = path.iter().map(|folder| folder.to_str().unwrap()).collect();
        let env = [("PATH", path.join(":")), ("HOME", home.display().to_string())];
        let place =
            room.place.clone().with_env(env.map(|(name, value)| (name.into(), value.into())).into_iter());
        let plan = room.tool("bash").plan(&json!({"command": line}), &place).unwrap();
        decide(Policy::Ask, &plan, &[]) == Verdict::Allow(Decider::Policy)
    };
    let [cargo, nvm, asdf] = &folders[..] else { unreachable!() };
    let rust = ["cargo --version", "rustc -V", "cargo fmt --check", "cargo fmt --all -- --check"];
    let node = ["node --version", "npm -v", "npm ls --depth=0"];
    for line in rust {
        assert!(free(&[cargo], line), "{line}");
        assert!(!free(&[asdf, cargo], line) || line.starts_with("rustc"), "{line}: asdf obeys other files");
    }
    for line in node {
        assert!(free(&[nvm], line), "{line}");
    }
    assert!(!free(&[asdf, nvm], "npm -v"));
    for (file, lines) in [
        ("rust-toolchain", &rust[..]),
        ("rust-toolchain.toml", &rust),
        (".cargo/config.toml", &rust),
        (".npmrc", &node[1..]),
    ] {
        room.put(file, "");
        for line in lines {
            assert!(!free(&[cargo, nvm], line), "{line} with {file}");
            let below = format!("cd sub && {line}");
            std::fs::create_dir_all(room.path("sub")).unwrap();
            assert!(!free(&[cargo, nvm], &below), "{below} with {file}");
        }
        let _ = std::fs::remove_file(room.path(file));
        let _ = std::fs::remove_dir_all(room.path(".cargo"));
    }
}

#[test]
fn only_folders_that_are_built_again_may_be_removed_by_a_rule() {
    let room = Room::new();
    for (name, text) in [
        (".gitignore", "target\nnode_modules/\nbuild\nlogs\ndist\n"),
        ("target/debug/x", ""),
        ("sub/target/x", ""),
        ("node_modules/y/index.js", ""),
        ("build/kept.txt", ""),
        ("dist/.git/config", ""),
        ("logs/x", ""),
        ("out/x", ""),
        ("src/main.rs", ""),
    ] {
        room.put(name, text);
    }
    std::os::unix::fs::symlink("target", room.path("venv")).unwrap();
    let git = |args: &[&str]| {
        let ran = std::process::Command::new("git").arg("-C").arg(room.path("")).args(args).output().unwrap();
        assert!(ran.status.success(), "{args:?}: {}", String::from_utf8_lossy(&ran.stderr));
    };
    git(&["init", "-q"]);
    git(&["add", "-f", "build/kept.txt", "src"]);
    // The session begins now.
    let room = room.begun_again();
    // A rule that is written later makes nothing of the person's a folder to be removed.
    room.put(".gitignore", "target\nnode_modules/\nbuild\nlogs\ndist\nout\n");
    let plan = |line: &str| room.plan("bash", &json!({"command": line})).unwrap();
    for line in
        ["rm -rf target", "rm -r -f ./target sub/target/ node_modules", "rm -rf target && cargo build"]
    {
        let plan = plan(line);
        assert_eq!(decide(Policy::Sandboxed, &plan, &[]), Verdict::Ask, "{line}");
        let rules = plan.rule.clone().unwrap_or_else(|| panic!("{line} has no rule")).rules;
        assert!(matches!(decide(Policy::Ask, &plan, &rules), Verdict::Allow(Decider::Rule(_))), "{line}");
    }
    for line in [
        "rm -rf src",
        "rm -rf out",
        "rm -rf build",
        "rm -rf dist",
        "rm -rf logs",
        "rm -rf venv",
        "rm -rf venv/",
        "rm -rf target src",
        "rm -rf target/../src",
        "rm -rf target/*",
        "rm -rf t*",
        "rm -rf $PWD/target",
        "rm --recursive target",
        "rm -rf --no-preserve-root target",
        "cd sub && rm -rf target",
        "sudo rm -rf target",
        "rm -rf target; rm -rf src",
        "rm -rf missing/target",
        "rm -rf",
        "find target -delete",
    ] {
        let plan = plan(line);
        assert_eq!(plan.rule, None, "{line}");
        assert_eq!(decide(Policy::Sandboxed, &plan, &[]), Verdict::Ask, "{line}");
    }
}
