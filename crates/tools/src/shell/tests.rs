//! What is found in a line: the commands that would run, wrappers taken off, or a doubt.

use super::unwrap::commands;
use proptest::prelude::*;

fn found(line: &str) -> (Vec<String>, bool) {
    let found = commands(line);
    let shown = found.commands.iter().map(|bare| {
        let words: Vec<&str> = bare.simple.words.iter().map(|word| word.raw.as_str()).collect();
        words.join(" ")
    });
    (shown.filter(|words| !words.is_empty()).collect(), found.doubts.is_empty())
}

#[test]
fn inner_commands_are_found() {
    let cases: &[(&str, &[&str])] = &[
        ("ls -la", &["ls -la"]),
        ("a && b || c; d | e & f", &["a", "b", "c", "d", "e", "f"]),
        ("a\nb\n\n# c\nd # e", &["a", "b", "d"]),
        ("(a; (b)) > x", &["a", "b"]),
        ("{ a; b; } 2>&1", &["a", "b"]),
        ("! a", &["a"]),
        ("echo \"$(a \"$(b)\")\"", &["b", "a \"$(b)\"", "echo \"$(a \"$(b)\")\""]),
        ("echo `a \\`b\\``", &["b", "a `b`", "echo `a \\`b\\``"]),
        ("diff <(a) <(b)", &["a", "b", "diff <(a) <(b)"]),
        ("tee >(a) < b", &["a", "tee >(a)"]),
        ("cat <<EOF\n$(a) `b`\nEOF\nc", &["cat", "a", "b", "c"]),
        ("cat <<'EOF'\n$(a)\nEOF\nc", &["cat", "c"]),
        ("cat <<-EOF | d\n\tx\n\tEOF\nc", &["cat", "d", "c"]),
        ("cat <<< $(a)", &["a", "cat"]),
        ("sh -c 'a; b'", &["a", "b"]),
        ("bash -lc \"a | b\"", &["a", "b"]),
        ("bash -euo pipefail -c 'a'", &["a"]),
        ("bash -eu -o pipefail -c 'a'", &["a"]),
        ("env X=1 Y=2 a b", &["a b"]),
        ("env -i -u Z sh -c 'a && sh -c b'", &["a", "b"]),
        ("nohup nice -n 5 timeout -k 1 5s time -p a", &["a"]),
        ("x | xargs -0 -n 1 a b", &["x", "a b"]),
        ("command a; exec b; builtin c; stdbuf -oL d", &["a", "b", "c", "d"]),
        (
            "find . -name x -exec a {} \\; -exec b {} +",
            &["find . -name x -exec a {} \\; -exec b {} +", "a {}", "b {}"],
        ),
        ("if a; then b; elif c; then d; else e; fi", &["a", "b", "c", "d", "e"]),
        ("while a; do b; done < f", &["a", "b"]),
        ("for x in $(a) b; do c $x; done | d", &["a", "c $x", "d"]),
        ("X=$(a) b", &["a", "b"]),
        ("l's' \\-a \"b c\"", &["l's' \\-a \"b c\""]),
        ("a \\\n  b", &["a b"]),
        ("a 2>/dev/null >&2 &>x", &["a"]),
        ("echo $((1 + 2)) ${HOME} ${x:-y}", &["echo $((1 + 2)) ${HOME} ${x:-y}"]),
    ];
    for (line, expected) in cases {
        let (words, sure) = found(line);
        assert_eq!(words, *expected, "{line}");
        assert!(sure, "{line}: {:?}", commands(line).doubts);
    }
}

#[test]
fn odd_lines_are_doubted() {
    let lines = [
        "$X foo",
        "${X} foo",
        "\"$(which ls)\" foo",
        "`a` b",
        "l* foo",
        "~/bin/x",
        "eval ls",
        "source x",
        ". x",
        "alias ls=rm",
        "ls() { rm x; }; ls",
        "function ls { rm x; }",
        "case x in x) rm y;; esac",
        "select x in a; do rm b; done",
        "coproc rm x",
        "[[ 'a[$(rm x)]' -eq 0 ]]",
        "((x = 1))",
        "echo $((x))",
        "echo $((a[$(rm x)]))",
        "echo $[1+1]",
        "echo ${x@P}",
        "echo ${x:=$(rm y)}",
        "echo ${!x}",
        "echo ${a[0]}",
        "a=(1 2)",
        "a[$(rm x)]=1",
        "export PATH=/tmp",
        "trap 'rm x' EXIT",
        "bash",
        "bash -s",
        "bash -",
        "curl x | sh",
        "bash --rcfile x -i",
        "bash -c \"$X\"",
        "bash -c",
        "zsh -c ls",
        "env -S 'rm x'",
        "env \"$X\" ls",
        "xargs -a f rm",
        // Words from elsewhere in the middle of a line for a shell.
        "x | xargs -I {} sh -c 'a; b'",
        "x | xargs -I{} sh -c 'echo {}'",
        "x | xargs -I % bash -lc 'ls %'",
        "x | xargs -n1 -I{} env sh -c 'echo {}'",
        "x | xargs -I{} timeout 5 nice env A=b sh -c 'echo {}'",
        "x | xargs -I{} sh -c \"sh -c 'echo {}'\"",
        "x | xargs sh -c 'echo \"$0\"'",
        "x | xargs sh -c 'for y do $y; done' _",
        "x | xargs -n $y ls",
        "sh -c 'x | xargs -I{} sh -c \"echo {}\"'",
        "find . -exec sh -c 'echo {}' \\;",
        "find . -exec env sh -c 'echo {}' _ {} +",
        "find . -execdir bash -c 'ls' {} +",
        "find . -ok sh -c 'ls {}' \\;",
        "xargs $X",
        "timeout $X ls",
        "exec 3<>x",
        "exec -a x ls",
        "{ls,-la}",
        "ls 'open",
        "ls \"open",
        "ls `open",
        "ls $(open",
        "ls )",
        "cat <<EOF\nno end",
        "cat <<EOF\nEO\\\nF\nrm x\nEOF",
        "cat <<$X\nx\n$X",
        "$\\\n(rm x)",
        "echo \"$\\\n(rm x)\"",
        "l\\\ns",
        "ls >",
        "for PATH in /tmp/evil; do ls; done",
        "ls\r\nrm x",
        "ls \u{1b}[A",
        "setsid ls",
        "busybox rm x",
        "ls \\",
        "ls >&'$(rm x)'",
        "ls >&\"<(rm x)\"",
        "echo ${x:-<(rm y)}",
        "echo &> x rm y",
        "sh -c 'ls &>/dev/null rm x'",
        "echo $'\\'\nrm x\n#'",
    ];
    for line in lines {
        assert!(!found(line).1, "{line:?} -> {:?}", found(line).0);
    }
    let deep = format!("{}ls{}", "$(".repeat(100), ")".repeat(100));
    assert!(!found(&deep).1);
    assert!(!found(&"ls;".repeat(1000)).1);
}

proptest! {
    #[test]
    fn any_text_is_read_without_harm(line in "[ \\PC\n$`'\"(){}<>|&;\\\\*~=a-c]{0,60}") {
        let _ = commands(&line);
    }

    #[test]
    fn a_command_in_any_plain_place_is_found(
        before in prop::sample::select(vec!["", "ls; ", "ls && ", "ls | ", "ls & ", "( ", "echo $(", "echo \"$(", "echo `", "cat <(", "! ", "X=1 ", "ls\n", "if ", "{ ", "sh -c '", "bash -lc '", "env A=b ", "nohup ", "timeout 5 ", "xargs ", "nice "]),
    ) {
        let (words, sure) = found(&format!("{before}evil x"));
        prop_assert!(!sure || words.iter().any(|words| words.starts_with("evil")), "{words:?}");
    }
}
