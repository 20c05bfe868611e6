//! Random lines against the real shells: whatever could be allowed must not run a program that was not found in it.

use crate::room::Room;
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Command, Stdio};
use tools::shell::{Cover, judge};

/// Lines that are made up. The seed is fixed: a failure can be repeated.
const LINES: usize = 40_000;
const SEED: u64 = 0x9E37_79B9_7F4A_7C15;

const PIECES: &[&str] = &[
    "evil",
    "evil",
    "echo ",
    "ls ",
    "cat ",
    " ",
    " ",
    ";",
    "|",
    "|&",
    "&",
    "&&",
    "\n",
    "(",
    ")",
    "{ ",
    "; }",
    "$(",
    "$(evil)",
    "`",
    "`evil`",
    "\"",
    "'",
    "\\",
    "$",
    "cat <<E\n",
    "\nE\n",
    "<<'E'\n",
    "<<-E\n",
    "<<<",
    "<(evil)",
    ">(",
    "<",
    ">a ",
    ">&",
    "&>a ",
    "2>&1",
    "/dev/null",
    "#",
    "#'",
    "if ",
    "then ",
    "fi",
    "for x in ",
    "do ",
    "done",
    "! ",
    "x=",
    "$x",
    "${x}",
    "${x:-",
    "}",
    "$((",
    "))",
    "1",
    "sh -c ",
    "bash -c ",
    "env ",
    "xargs ",
    "command ",
    "exec ",
    "time ",
    "nohup ",
    "timeout 5 ",
    "nice ",
    "find . -exec ",
    " {} \\;",
    "case ",
    ";;",
    "\\\n",
    "*",
    "~",
    "a",
    "E",
    "true ",
    "test ",
    "[ ",
    " ]",
    "$'",
    "$'\\'",
    "$\"",
    "-v ",
    "printf ",
    "sed -n ",
    "1p",
    "function ",
    "() ",
    "[[ ",
    "=",
    "+=",
    "'evil'",
    "\\'",
    "\\\"",
    "\\`",
    "\\$",
];

fn step(state: &mut u64) -> usize {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    usize::try_from(*state >> 33).unwrap()
}

#[test]
fn nothing_runs_that_was_not_found() {
    let room = Room::new();
    room.put("a", "x");
    let mark = room.dir.path().join("mark");
    let bin = room.dir.path().join("bin");
    std::fs::create_dir(&bin).unwrap();
    std::fs::write(bin.join("evil"), format!("#!/bin/sh\n: > {}\n", mark.display())).unwrap();
    std::fs::set_permissions(bin.join("evil"), std::fs::Permissions::from_mode(0o755)).unwrap();
    let shells: Vec<&str> =
        ["/bin/bash", "/bin/dash"].into_iter().filter(|path| std::path::Path::new(path).exists()).collect();
    let (mut state, mut ran) = (SEED, 0);
    for _ in 0..LINES {
        let length = 2 + step(&mut state) % 8;
        let line: String = (0..length).map(|_| PIECES[step(&mut state) % PIECES.len()]).collect();
        let judgement = judge(&line, &room.place);
        let allowable =
            judgement.doubts.is_empty() && judgement.inner.iter().all(|inner| inner.cover != Cover::Never);
        let found =
            judgement.inner.iter().any(|inner| inner.cover != Cover::Free && inner.shown.contains("evil"));
        if !allowable || found || !line.contains("evil") {
            continue;
        }
        ran += 1;
        for shell in &shells {
            let mut command = Command::new(shell);
            command.arg("-c").arg(&line).current_dir(room.place.root().unwrap()).env_clear();
            command.env("PATH", format!("{}:/usr/bin:/bin", bin.display()));
            command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
            command.status().unwrap();
            assert!(!mark.exists(), "{shell}: {line:?} -> {judgement:?}");
        }
    }
    assert!(ran > 50, "{ran}: the lines must be worth the test");
}
