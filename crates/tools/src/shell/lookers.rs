//! The programs that only look, each with the options that are known to do no more.
//!
//! An option that is not listed is not harmless: it may write (`sort -o`), run a program (`rg --pre`, `file -Z`), read files that
//! another file names (`wc --files0-from`, `strings @list`), follow links (`ls -L`) or set a date (`file -p`). Lists hold what
//! GNU, BSD and busybox understand in the same way; letters that one of them reads differently are left out.

/// What a program may be told and still only look.
pub(super) enum Options {
    /// Whatever it gets, it only says something about its words.
    Any,
    /// Only these, and numbers such as `-5`.
    These {
        /// Letters that stand alone.
        flags: &'static str,
        /// Letters whose value follows, glued or as the next word.
        valued: &'static str,
        /// Long options, with or without `=value`. Never abbreviated.
        long: &'static [&'static str],
    },
}

/// What its plain words are.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Reads {
    Words,
    Files,
    /// Files, and `@file` is a file full of further words.
    Lists,
}

/// A program that only looks.
pub(super) struct Looker {
    pub(super) name: &'static str,
    pub(super) options: Options,
    /// How many plain words there may be, values of options counted: some programs write to the second.
    pub(super) most: usize,
    pub(super) reads: Reads,
    /// Whether the shells have it built in, so that no program is run.
    pub(super) builtin: bool,
}

const fn these(name: &'static str, flags: &'static str, valued: &'static str) -> Looker {
    let options = Options::These { flags, valued, long: &[] };
    Looker { name, options, most: usize::MAX, reads: Reads::Files, builtin: false }
}

const fn long(looker: Looker, long: &'static [&'static str]) -> Looker {
    let options = match looker.options {
        Options::These { flags, valued, .. } => Options::These { flags, valued, long },
        Options::Any => Options::Any,
    };
    Looker { options, ..looker }
}

const fn at_most(most: usize, looker: Looker) -> Looker {
    Looker { most, ..looker }
}

const fn words(looker: Looker) -> Looker {
    Looker { reads: Reads::Words, ..looker }
}

const fn talker(name: &'static str) -> Looker {
    Looker { name, options: Options::Any, most: usize::MAX, reads: Reads::Words, builtin: false }
}

const fn builtin(name: &'static str) -> Looker {
    Looker { builtin: true, ..talker(name) }
}

const SUM: &[&str] = &["--binary", "--tag", "--text", "--zero"];
const GREP: (&str, &str) = ("abcEFGhHiIlLnoPqrsTUvwxyZ", "ABCem");
const GREP_LONG: &[&str] = &[
    "--after-context",
    "--basic-regexp",
    "--before-context",
    "--byte-offset",
    "--color",
    "--colour",
    "--context",
    "--count",
    "--exclude",
    "--exclude-dir",
    "--extended-regexp",
    "--files-with-matches",
    "--files-without-match",
    "--fixed-strings",
    "--ignore-case",
    "--include",
    "--invert-match",
    "--line-buffered",
    "--line-number",
    "--line-regexp",
    "--max-count",
    "--no-filename",
    "--no-messages",
    "--null",
    "--only-matching",
    "--perl-regexp",
    "--quiet",
    "--recursive",
    "--regexp",
    "--silent",
    "--text",
    "--with-filename",
    "--word-regexp",
];

/// Long options that every program may have.
const TELLS: &[&str] = &["--help", "--version"];

/// Programs that only look.
pub(super) const LOOKERS: &[Looker] = &[
    long(
        these("ls", "1AaBbCcdFfgGhiklmNnopQqrRSstUuvXxZ", ""),
        &[
            "--all",
            "--almost-all",
            "--classify",
            "--color",
            "--directory",
            "--full-time",
            "--group-directories-first",
            "--human-readable",
            "--ignore",
            "--inode",
            "--no-group",
            "--numeric-uid-gid",
            "--recursive",
            "--reverse",
            "--size",
            "--sort",
            "--time",
            "--time-style",
        ],
    ),
    long(
        these("cat", "AbeEnstTuv", ""),
        &["--number", "--number-nonblank", "--show-all", "--show-ends", "--show-tabs", "--squeeze-blank"],
    ),
    long(these("head", "qvz", "nc"), &["--bytes", "--lines", "--quiet", "--verbose"]),
    long(these("tail", "fFqrvz", "nc"), &["--bytes", "--follow", "--lines", "--quiet", "--verbose"]),
    long(
        these("wc", "clmLw", ""),
        &["--bytes", "--chars", "--lines", "--max-line-length", "--total", "--words"],
    ),
    long(
        these("du", "abchkmsSx0", "d"),
        &[
            "--all",
            "--apparent-size",
            "--bytes",
            "--exclude",
            "--human-readable",
            "--max-depth",
            "--one-file-system",
            "--si",
            "--summarize",
            "--total",
        ],
    ),
    long(
        these("df", "ahHiklmPT", ""),
        &["--all", "--human-readable", "--inodes", "--local", "--print-type", "--total"],
    ),
    builtin("pwd"),
    builtin("echo"),
    builtin("true"),
    builtin("false"),
    builtin(":"),
    builtin("printf"),
    builtin("type"),
    // They end or turn what the line itself does.
    builtin("exit"),
    builtin("return"),
    builtin("break"),
    builtin("continue"),
    builtin("wait"),
    builtin("times"),
    talker("sleep"),
    talker("seq"),
    talker("whoami"),
    talker("id"),
    talker("uname"),
    talker("nproc"),
    talker("basename"),
    talker("dirname"),
    talker("tr"),
    talker("which"),
    // Elsewhere it runs the program that its words name.
    at_most(0, words(these("arch", "", ""))),
    // With more letters it asks the network, or sets the name.
    at_most(0, words(these("hostname", "s", ""))),
    words(long(
        these("date", "uR", "I"),
        &["--date", "--iso-8601", "--rfc-3339", "--rfc-email", "--utc", "--universal"],
    )),
    long(these("realpath", "eLmPqsz", ""), &["--relative-to", "--relative-base", "--no-symlinks"]),
    long(these("readlink", "efmnqsvz", ""), &["--canonicalize", "--no-newline"]),
    long(
        these("stat", "fFLlnqrstx", "c"),
        &["--dereference", "--file-system", "--format", "--printf", "--terse"],
    ),
    long(
        these("file", "0bhiIkLnNr", ""),
        &["--brief", "--dereference", "--extension", "--mime", "--mime-encoding", "--mime-type"],
    ),
    long(
        these("sort", "bcCdfghiMnRrsuVz", "kt"),
        &[
            "--check",
            "--dictionary-order",
            "--field-separator",
            "--general-numeric-sort",
            "--human-numeric-sort",
            "--ignore-case",
            "--ignore-leading-blanks",
            "--key",
            "--month-sort",
            "--numeric-sort",
            "--reverse",
            "--sort",
            "--stable",
            "--unique",
            "--version-sort",
            "--zero-terminated",
        ],
    ),
    at_most(
        1,
        long(
            these("uniq", "cdDiuz", "fsw"),
            &[
                "--all-repeated",
                "--check-chars",
                "--count",
                "--ignore-case",
                "--repeated",
                "--skip-chars",
                "--skip-fields",
                "--unique",
            ],
        ),
    ),
    long(
        these("cut", "nsz", "bcdf"),
        &[
            "--bytes",
            "--characters",
            "--complement",
            "--delimiter",
            "--fields",
            "--only-delimited",
            "--output-delimiter",
        ],
    ),
    these("rev", "", ""),
    these("nl", "p", "abdfhilnsvw"),
    these("tac", "br", "s"),
    long(these("paste", "sz", "d"), &["--delimiters", "--serial"]),
    these("join", "i12z", "taveoj"),
    long(these("comm", "123iz", ""), &["--output-delimiter", "--total"]),
    these("cmp", "blsz", "in"),
    long(
        these("diff", "abBcdeEinpqstTuwyZ", "CFIUW"),
        &[
            "--brief",
            "--color",
            "--context",
            "--ignore-all-space",
            "--ignore-blank-lines",
            "--ignore-case",
            "--ignore-space-change",
            "--label",
            "--minimal",
            "--report-identical-files",
            "--side-by-side",
            "--strip-trailing-cr",
            "--suppress-common-lines",
            "--text",
            "--unified",
            "--width",
        ],
    ),
    long(these("fold", "bs", "w"), &["--spaces", "--width"]),
    long(these("fmt", "cstu", "w"), &["--width"]),
    long(these("expand", "i", "t"), &["--tabs"]),
    long(these("column", "tx", "cos"), &["--output-separator", "--separator", "--table"]),
    long(these("md5sum", "btz", ""), SUM),
    long(these("sha1sum", "btz", ""), SUM),
    long(these("sha256sum", "btz", ""), SUM),
    long(these("sha512sum", "btz", ""), SUM),
    long(these("cksum", "", "a"), &["--algorithm", "--tag", "--untagged"]),
    long(
        these("tree", "aCdDfFghinNpQrsStuUvx", "ILP"),
        &[
            "--dirsfirst",
            "--du",
            "--filelimit",
            "--filesfirst",
            "--gitignore",
            "--ignore-case",
            "--inodes",
            "--matchdirs",
            "--noreport",
            "--prune",
            "--sort",
        ],
    ),
    long(these("grep", GREP.0, GREP.1), GREP_LONG),
    long(these("egrep", GREP.0, GREP.1), GREP_LONG),
    long(these("fgrep", GREP.0, GREP.1), GREP_LONG),
    long(these("rg", "0.abcFhHiIlnNopPqsSuUvwx", "ABCdeEgjmMrtT"), RG_LONG),
    long(these("fd", "01aFgHIipqsu", "cdeEjSt"), FD_LONG),
    long(these("fdfind", "01aFgHIipqsu", "cdeEjSt"), FD_LONG),
    long(these("jq", "acCejMnrRsS", ""), JQ_LONG),
    at_most(1, these("xxd", "abdeEipu", "cgls")),
    long(
        these("od", "abcdfhilosvx", "AjNtw"),
        &["--address-radix", "--format", "--output-duplicates", "--read-bytes", "--skip-bytes", "--width"],
    ),
    long(these("hexdump", "bcCdovx", "ens"), &["--canonical", "--length", "--no-squeezing", "--skip"]),
    Looker {
        reads: Reads::Lists,
        ..long(these("strings", "afow", "ent"), &["--all", "--bytes", "--encoding", "--radix"])
    },
];

const RG_LONG: &[&str] = &[
    "--after-context",
    "--before-context",
    "--case-sensitive",
    "--color",
    "--column",
    "--context",
    "--count",
    "--count-matches",
    "--files",
    "--files-with-matches",
    "--files-without-match",
    "--fixed-strings",
    "--glob",
    "--heading",
    "--hidden",
    "--iglob",
    "--ignore-case",
    "--invert-match",
    "--json",
    "--line-number",
    "--max-columns",
    "--max-count",
    "--max-depth",
    "--multiline",
    "--multiline-dotall",
    "--no-filename",
    "--no-heading",
    "--no-ignore",
    "--no-ignore-vcs",
    "--no-line-number",
    "--no-messages",
    "--null",
    "--only-matching",
    "--passthru",
    "--pcre2",
    "--pretty",
    "--quiet",
    "--regexp",
    "--replace",
    "--smart-case",
    "--sort",
    "--sortr",
    "--stats",
    "--text",
    "--trim",
    "--type",
    "--type-list",
    "--type-not",
    "--unrestricted",
    "--vimgrep",
    "--with-filename",
    "--word-regexp",
];

const JQ_LONG: &[&str] = &[
    "--arg",
    "--argjson",
    "--args",
    "--ascii-output",
    "--color-output",
    "--compact-output",
    "--exit-status",
    "--indent",
    "--join-output",
    "--jsonargs",
    "--monochrome-output",
    "--null-input",
    "--raw-input",
    "--raw-output",
    "--seq",
    "--slurp",
    "--sort-keys",
    "--stream",
    "--tab",
];

const FD_LONG: &[&str] = &[
    "--absolute-path",
    "--case-sensitive",
    "--changed-before",
    "--changed-within",
    "--color",
    "--exact-depth",
    "--exclude",
    "--extension",
    "--fixed-strings",
    "--full-path",
    "--glob",
    "--hidden",
    "--ignore-case",
    "--max-depth",
    "--max-results",
    "--min-depth",
    "--no-ignore",
    "--print0",
    "--prune",
    "--size",
    "--strip-cwd-prefix",
    "--type",
    "--unrestricted",
];

/// The looker of this name.
pub(super) fn find(name: &str) -> Option<&'static Looker> {
    LOOKERS.iter().find(|looker| looker.name == name)
}

impl Looker {
    /// Whether it only looks when it gets these words.
    pub(super) fn sedate(&self, args: &[&str]) -> bool {
        let Options::These { flags, valued, long } = &self.options else { return true };
        let options = args.iter().position(|arg| *arg == "--").unwrap_or(args.len());
        let (before, after) = args.split_at(options);
        if !after.is_empty() && before.last().is_some_and(|last| takes_value(last, valued)) {
            // It is the value of that option, and what follows are options still.
            return false;
        }
        let plain = |arg: &&&str| **arg == "-" || !arg.starts_with('-');
        let names = before.iter().filter(plain).count() + after.len().saturating_sub(1);
        // A word may be the value of the option before it or, to another version of the program, an option: it must be both.
        let known = before.iter().filter(|arg| !plain(arg)).all(|arg| known(arg, flags, valued, long));
        let listed = self.reads == Reads::Lists && args.iter().any(|arg| arg.starts_with('@'));
        known && !listed && names <= self.most
    }
}

/// Whether the word after `arg` may be its value.
fn takes_value(arg: &str, valued: &str) -> bool {
    match arg.strip_prefix("--") {
        Some(long) => !long.contains('='),
        None => arg.starts_with('-') && arg.ends_with(|letter| valued.contains(letter)),
    }
}

/// Whether `arg` is made of options that are listed.
pub(super) fn known(arg: &str, flags: &str, valued: &str, long: &[&str]) -> bool {
    if arg.starts_with("--") {
        let name = arg.split('=').next().unwrap_or(arg);
        return long.contains(&name) || TELLS.contains(&name);
    }
    let letters = arg.strip_prefix('-').unwrap_or(arg);
    if letters.chars().all(|letter| letter.is_ascii_digit()) {
        return true;
    }
    for letter in letters.chars() {
        if valued.contains(letter) {
            return true;
        }
        if !flags.contains(letter) {
            return false;
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_listed_options_are_known() {
        let sort = find("sort").unwrap();
        for args in [&["-u", "x"][..], &["-k2,2n", "-t:", "x"], &["--key=1", "--", "-o"], &["-rn", "-"]] {
            assert!(sort.sedate(args), "{args:?}");
        }
        for args in [&["-o", "x"][..], &["-uo", "x"], &["--output=x"], &["--outp=x"], &["--rev"], &["-Sx"]] {
            assert!(!sort.sedate(args), "{args:?}");
        }
        let uniq = find("uniq").unwrap();
        assert!(uniq.sedate(&["-c", "x"]) && uniq.sedate(&["-"]) && uniq.sedate(&["-f1"]));
        assert!(!uniq.sedate(&["-", "x"]) && !uniq.sedate(&["--", "-in", "x"]) && !uniq.sedate(&["x", "y"]));
        let strings = find("strings").unwrap();
        assert!(
            strings.sedate(&["-n", "8", "x"]) && !strings.sedate(&["@x"]) && !strings.sedate(&["--", "@x"])
        );
    }

    #[test]
    fn no_two_programs_have_one_name() {
        for (at, looker) in LOOKERS.iter().enumerate() {
            assert!(LOOKERS.iter().skip(at + 1).all(|other| other.name != looker.name), "{}", looker.name);
        }
    }
}
