//! Lines over the reader's grammar: words, quotes, pipes, redirections, substitutions, wrappers, patterns, and the options of each
//! program. Hostile pieces come often; most lines are asked for, and that is fine.

use super::super::git::{LONG, READ_ONLY_VERBS};
use super::super::lookers::{LOOKERS, Options};

/// Names that a line may begin with.
pub(super) const PROGRAMS: &[&str] = &[
    "ls",
    "cat",
    "head",
    "tail",
    "wc",
    "du",
    "echo",
    "printf",
    "pwd",
    "seq",
    "basename",
    "dirname",
    "realpath",
    "readlink",
    "stat",
    "file",
    "sort",
    "uniq",
    "cut",
    "tr",
    "rev",
    "nl",
    "tac",
    "paste",
    "join",
    "comm",
    "cmp",
    "diff",
    "fold",
    "fmt",
    "expand",
    "column",
    "md5sum",
    "sha256sum",
    "cksum",
    "which",
    "type",
    "grep",
    "egrep",
    "xxd",
    "od",
    "hexdump",
    "strings",
    "find",
    "sed",
    "git",
    "test",
    "true",
    "date",
    "id",
    "cd",
    "awk",
    "tee",
];
/// What may stand before a command.
pub(super) const WRAPPERS: &[&str] =
    &["env", "timeout", "nice", "nohup", "stdbuf", "xargs", "sh", "bash", "time", "builtin"];

const PREFIXES: &[&str] = &[
    "",
    "",
    "",
    "",
    "",
    "",
    "env ",
    "env A=b ",
    "env -i ",
    "timeout 5 ",
    "nice ",
    "nice -n 5 ",
    "nohup ",
    "stdbuf -oL ",
    "command ",
    "builtin ",
    "exec ",
    "time ",
    "! ",
    "xargs ",
    "xargs -I{} ",
    "xargs -n1 ",
    "LC_ALL=C ",
    "TZ=UTC ",
    "X=1 ",
    "PATH=bin ",
    "LANG=C.UTF-8 ",
    "x=* ",
];

const WORDS: &[&str] = &[
    "a.txt",
    "a.txt",
    "a.txt",
    "b.txt",
    "src",
    "src/lib.rs",
    "src/deep/c.txt",
    "inner",
    ".",
    "./a.txt",
    "'with space.txt'",
    "with\\ space.txt",
    "\"with space.txt\"",
    "link",
    "./link",
    "dirlink",
    "dirlink/secret.txt",
    "src/up",
    "src/up/outside/secret.txt",
    "dangling",
    "-link",
    "--",
    "-",
    "list",
    "list0",
    "@list",
    "@args",
    "'@args'",
    "odd/@list",
    "glob",
    "sums",
    "commands",
    "../outside",
    "../outside/secret.txt",
    "..",
    "../*",
    "*",
    "*.txt",
    "?.txt",
    "[ab].txt",
    "odd/*",
    "./*",
    "src/*/c.txt",
    "*/secret.txt",
    ".*",
    ".*/secret.txt",
    ".?/outside/*",
    ".h*/d.txt",
    "-*",
    "@*",
    "~",
    "~/.ssh/id_rsa",
    "~/*",
    "$HOME",
    "\"$HOME\"",
    "$HOME/.netrc",
    "\"$HOME/.netrc\"",
    "$x",
    "\"$x\"",
    "${x}",
    "${x:-link}",
    "$(cat a.txt)",
    "\"$(cat glob)\"",
    "$(cat glob)",
    "`cat glob`",
    "\"`cat list`\"",
    "<(cat a.txt)",
    "$1",
    "\"$@\"",
    "{a,b}.txt",
    "a{,}.txt",
    "{}",
    "x{},y}",
    "'*'",
    "\\*",
    "\"*\"",
    "%n",
    "'%n'",
    "'%s\\n'",
    "PATH",
    "PWN",
    "1",
    "5",
    "0",
    "-5",
    "+5",
    "+%s",
    "x",
    "'x|y'",
    "'$(touch PWN)'",
    "\";touch PWN\"",
    "'; touch PWN'",
    "/dev/null",
    "/etc/passwd",
    "/dev/tty",
    "tracked",
    "tracked/secret.txt",
    "HEAD",
    "HEAD:a.txt",
    "é",
    "''",
    "#x",
    "1,3p",
    "'1,3p'",
    "'1w PWN'",
    "-f",
    "-d",
    "-n",
    "=",
    "-eq",
    "/",
    "$((1+2))",
    "a.txt:b.txt",
    "x=1",
];

const OPTIONS: &[&str] = &[
    "-o",
    "-oPWN",
    "-o PWN",
    "--output=PWN",
    "--outp=PWN",
    "-T.",
    "-r",
    "-R",
    "-L",
    "-f",
    "-flist",
    "-flink",
    "-f list",
    "-m link",
    "-C",
    "-z",
    "-Z",
    "-p",
    "-s",
    "-S1b",
    "--files0-from=list0",
    "--files-from=list",
    "-c",
    "--check",
    "-csums",
    "--compress-program=bin/evil",
    "--pre=bin/evil",
    "-exec",
    "-delete",
    "-fprint",
    "-newer",
    "-name",
    "-type",
    "-maxdepth",
    "-i",
    "-e",
    "-E",
    "-n",
    "-w",
    "-v",
    "-l",
    "-a",
    "-b",
    "-u",
    "-d",
    "-t",
    "-k",
    "-x",
    "-H",
    "-la",
    "-rn",
    "-1",
    "-5",
    "-20",
    "--help",
    "--version",
    "--color=auto",
    "--no-index",
    "--cached",
    "--ext-diff",
    "--stat",
    "-p1",
    "--exclude-from=link",
    "--from-file=link",
    "-X link",
    "-Xlink",
    "--follow",
    "-follow",
    "--random-source=link",
    "--dereference",
    "-D",
    "-I",
    "-O",
    "-Obin/evil",
    "-Slink",
];

const VERBS: &[&str] = &[
    "status",
    "log",
    "diff",
    "show",
    "blame",
    "ls-files",
    "grep",
    "branch",
    "tag",
    "describe",
    "cat-file",
    "rev-parse",
    "stash list",
    "commit",
    "add",
    "checkout",
    "config",
    "shortlog",
    "--no-pager log",
    "-c core.pager=bin/evil log",
    "ls-tree HEAD",
    "show-ref",
    "remote -v",
];

const REDIRECTIONS: &[&str] = &[
    "",
    "",
    "",
    "",
    "",
    "",
    "",
    "",
    " > /dev/null",
    " 2>&1",
    " 2>/dev/null",
    " < a.txt",
    " < link",
    " < /etc/passwd",
    " > PWN",
    " >> a.txt",
    " >| b.txt",
    " > link",
    " <> PWN",
    " &> PWN",
    " >& PWN",
    " > /dev/tty",
    " <<< x",
    " <<< \"$(cat list)\"",
    " < ../outside/secret.txt",
    " > 'odd/x'",
    " > dangling",
    " 3> PWN",
    " > /dev/stderr",
    " < dirlink/secret.txt",
];

const JOINS: &[&str] = &["; ", " && ", " || ", " | ", " | ", " | ", "\n", " & ", " |& "];

/// What is fed to programs that run programs: names and lines that are more than that.
const FED: &[&str] = &[
    "cat commands",
    "head -n1 commands",
    "cat a.txt list",
    "printf 'x; touch PWN'",
    "printf '%s\\n' '$(touch PWN)'",
    "echo ';touch PWN;'",
    "ls odd",
    "find odd -name '*PWN*'",
    "grep -h x commands",
];
/// Programs that run a program with what they are fed, or with what they find.
const RUNNERS: &[&str] = &[
    "xargs",
    "xargs -I{}",
    "xargs -I {}",
    "xargs -n1 -I{}",
    "xargs -d '\\n' -I{}",
    "timeout 5 xargs -I{}",
    "env xargs -n1 -I{}",
    "xargs -I{} env",
    "xargs -I{} nice",
    "find odd -name '*PWN*' -exec",
    "find . -maxdepth 2 -exec",
];
/// Shells that such a program may run.
const SHELLS: &[&str] =
    &["sh -c", "bash -c", "dash -c", "env sh -c", "timeout 5 sh -c", "bash -euo pipefail -c", ""];
/// What such a shell may be told; what is fed to it takes the place of the braces.
const FILLED: &[&str] =
    &["echo {}", "echo x{}", "ls {}", "cat {}", "printf {}", "echo '{}'", "echo \"{}\"", "grep x {}"];

/// Makes lines, always the same ones from the same seed.
const AWK: &[&str] = &[
    "print $1",
    "print",
    "n++",
    "print > \"b.txt\"",
    "print >> \"b.txt\"",
    "print | \"sh\"",
    "system(\"touch made\")",
    "while ((getline line < \"../outside/secret.txt\") > 0) print line",
    "\"cat ../outside/secret.txt\" | getline x; print x",
    "ARGV[1] = \"../outside/secret.txt\"",
    "ARGC = 2",
    "$1 > 5",
    "x = \"}\"; print 1 > \"made\"",
    "printf \"%s\", $0 > \"made\"",
    "print (1 > 2)",
    "close(\"x\")",
    "/a|b/",
    "NR == 1 || NR == 2",
    "print length($0)",
    ";",
    "\n",
];
const AWK_OPTIONS: &[&str] = &[
    "",
    "",
    "",
    "-F: ",
    "-F : ",
    "-v n=1 ",
    "-vn=1 ",
    "-f a.txt ",
    "-i inplace ",
    "-o ",
    "-- ",
    "-W exec ",
    "-e ",
];
const JQ: &[&str] = &[
    ".",
    ".[]",
    "keys",
    "env",
    "$ENV",
    "import \"x\" as $x; .",
    "include \"x\"; .",
    "input_filename",
    "length",
];
const JQ_OPTIONS: &[&str] = &[
    "",
    "",
    "-r ",
    "-c ",
    "-s ",
    "-n ",
    "--arg a b ",
    "-f a.txt ",
    "-L .. ",
    "--rawfile a ../outside/secret.txt ",
    "--slurpfile a link ",
    "--indent 2 ",
    "--tab ",
    "-rn ",
    "--from-file a.txt ",
];
/// What the body of a loop over `x` does, or what stands beside it.
const BODIES: &[&str] = &[
    "cat \"$x\"",
    "cat $x",
    "cat \"${x}\"",
    "wc -l < \"$x\"",
    "wc -l < $x",
    "head -1 \"$x\"",
    "echo \"$x: $(wc -l < \"$x\")\"",
    "x=../outside/secret.txt; cat \"$x\"",
    "cat \"$x/secret.txt\"",
    "cat \"$y\"",
    "ls -d \"$x\"",
    "test -f \"$x\" && cat \"$x\" || exit 1",
    "echo x > \"$x\"",
    "touch \"$x\"",
    "(for x in ../outside/secret.txt; do :; done); cat \"$x\"",
    "for x in ../outside/secret.txt; do :; done; cat \"$x\"",
    "$x a.txt",
    "break",
    "git log --oneline -- \"$x\"",
    "sort \"$x\"",
    "uniq \"$x\"",
];

pub(super) struct Generator {
    state: u64,
}

impl Generator {
    pub(super) fn new(seed: u64) -> Generator {
        Generator { state: seed }
    }

    fn below(&mut self, most: usize) -> usize {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        usize::try_from(self.state >> 33).unwrap() % most
    }

    fn one(&mut self, of: &[&'static str]) -> &'static str {
        of[self.below(of.len())]
    }

    /// A program in awk or jq, or a loop over files, made of pieces of which many do harm.
    pub(super) fn small_language_or_loop(&mut self) -> String {
        match self.below(3) {
            0 => {
                let pieces = (0..1 + self.below(5)).map(|_| self.one(AWK)).collect::<Vec<_>>().join(" ");
                let braces = [("{", "}"), ("", ""), ("BEGIN {", "}"), ("/x/ {", "} END {print NR}")];
                let (open, close) = braces[self.below(braces.len())];
                let (options, file) = (self.one(AWK_OPTIONS), self.one(WORDS));
                format!("{} {options}'{open}{pieces}{close}' {file}", self.one(&["awk", "mawk", "gawk"]))
            }
            1 => {
                let filter = (0..1 + self.below(3)).map(|_| self.one(JQ)).collect::<Vec<_>>().join(" | ");
                format!("echo '[1]' | jq {}'{filter}' {}", self.one(JQ_OPTIONS), self.one(WORDS))
            }
            _ => {
                let (list, body) = (self.one(WORDS), self.one(BODIES));
                let line = format!("for x in {list} {}; do {body}; done", self.one(WORDS));
                match self.below(4) {
                    0 => format!("({line}); {}", self.one(BODIES)),
                    1 => format!("{}; {line}", self.one(BODIES)),
                    2 => format!("for y in a.txt ../outside; do {line}; {}; done", self.one(BODIES)),
                    _ => line,
                }
            }
        }
    }

    pub(super) fn line(&mut self) -> String {
        // Programs that run programs are where a reader is most easily wrong.
        if self.below(6) == 0 { self.fed() } else { self.list(0) }
    }

    /// A pipe into a program that runs a program.
    fn fed(&mut self) -> String {
        let runner = self.one(RUNNERS);
        let shell = self.one(SHELLS);
        let told = if self.below(3) == 0 { self.list(2) } else { self.one(FILLED).to_owned() };
        let told = if shell.is_empty() { told } else { quoted(&told) };
        let end = if runner.contains("-exec") { " \\;" } else { "" };
        format!("{} | {runner} {shell} {told}{end}", self.one(FED))
    }

    fn list(&mut self, depth: usize) -> String {
        let mut line = self.command(depth);
        while self.below(3) == 0 && line.len() < 400 {
            line.push_str(self.one(JOINS));
            line.push_str(&self.command(depth));
        }
        line
    }

    fn command(&mut self, depth: usize) -> String {
        let deeper = if depth < 3 { self.below(24) } else { 24 };
        match deeper {
            0 => format!("({})", self.list(depth + 1)),
            1 => format!("{{ {}; }}", self.list(depth + 1)),
            2 => format!("if {}; then {}; fi", self.command(depth + 1), self.list(depth + 1)),
            3 => {
                let list: Vec<&str> = (0..=self.below(3)).map(|_| self.one(WORDS)).collect();
                format!("for x in {}; do {}; done", list.join(" "), self.list(depth + 1))
            }
            4 => {
                let shell = self.one(&[
                    "sh -c",
                    "bash -c",
                    "bash -lc",
                    "dash -c",
                    "xargs -I{} sh -c",
                    "env sh -c",
                    "bash -euo pipefail -c",
                ]);
                format!("{shell} {}", quoted(&self.list(depth + 1)))
            }
            5 => format!("{} \"$({})\"", self.one(PROGRAMS), self.list(depth + 1)),
            6 => format!("{} `{}`", self.one(PROGRAMS), self.list(depth + 1)),
            7 => format!("x={}; {}", self.one(WORDS), self.list(depth + 1)),
            8 => format!(
                "{} <<E\n{}\n$({})\nE\n",
                self.one(PROGRAMS),
                self.one(WORDS),
                self.command(depth + 1)
            ),
            9 => format!("cd {} && {}", self.one(WORDS), self.list(depth + 1)),
            _ => self.simple(),
        }
    }

    fn simple(&mut self) -> String {
        let program = self.one(PROGRAMS);
        let mut line = format!("{}{program}", self.one(PREFIXES));
        if program == "git" {
            line = format!("{line} {}", self.one(VERBS));
        }
        for _ in 0..self.below(3) {
            let option = match self.below(3) {
                0 => self.one(OPTIONS).to_owned(),
                1 => self.listed(program),
                _ => format!(
                    "-{}",
                    char::from(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"[self.below(52)])
                ),
            };
            // Endless, and harmless.
            if !(program == "tail" && (option.contains(['f', 'F']))) {
                line = format!("{line} {option}");
            }
        }
        for _ in 0..self.below(4) {
            line = format!("{line} {}", self.one(WORDS));
        }
        format!("{line}{}", self.one(REDIRECTIONS))
    }

    /// An option of the program's own, sometimes with a hostile value.
    fn listed(&mut self, program: &str) -> String {
        let Some(looker) = LOOKERS.iter().find(|looker| looker.name == program) else {
            return "-n".to_owned();
        };
        let Options::These { flags, valued, long } = &looker.options else { return "-n".to_owned() };
        let letters: Vec<char> = flags.chars().chain(valued.chars()).collect();
        if !long.is_empty() && self.below(3) == 0 {
            let option = long[self.below(long.len())];
            return if self.below(2) == 0 {
                option.to_owned()
            } else {
                format!("{option}={}", self.one(WORDS))
            };
        }
        if letters.is_empty() {
            return "-n".to_owned();
        }
        let letter = letters[self.below(letters.len())];
        match self.below(4) {
            0 => format!("-{letter}{}", self.one(WORDS)),
            1 => format!("-{letter}{}", letters[self.below(letters.len())]),
            2 => format!("-{letter} {}", self.one(WORDS)),
            _ => format!("-{letter}"),
        }
    }
}

/// The text as one word of a shell.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// Every option of every command of git that looks.
pub(super) fn git_lines() -> Vec<String> {
    let mut lines = Vec::new();
    for look in READ_ONLY_VERBS {
        let (verb, flags, valued) = (look.verb, look.flags, look.valued);
        let with = match verb {
            "grep" => "grep --cached x",
            "cat-file" => "cat-file -p HEAD",
            "ls-tree" => "ls-tree HEAD",
            "blame" => "blame a.txt",
            "merge-base" => "merge-base HEAD HEAD",
            "name-rev" => "name-rev HEAD",
            verb => verb,
        };
        lines.push(format!("git {with}"));
        lines.extend(flags.chars().map(|letter| format!("git {with} -{letter}")));
        for letter in valued.chars() {
            lines.extend(["1", "x", "1,2", "a.txt"].map(|value| format!("git {with} -{letter}{value}")));
        }
        for option in LONG {
            lines.push(format!("git {with} {option}"));
            lines.push(format!("git {with} {option}=1"));
        }
    }
    lines
}
