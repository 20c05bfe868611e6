//! Whether a program in the small language of `awk` or `jq` only computes and prints. Pure, and narrow on purpose: what is not
//! surely harmless is asked about.

/// What awk can do beside computing, by the words that do it. Some reach files by way of its own lists of words.
const AWK_ACTS: &[&str] =
    &["system", "getline", "close", "ARG", "ENVIRON", "SYMTAB", "FUNCTAB", "PROCINFO", "@", "\\"];
/// What reads other files, or the environment.
const JQ_ACTS: &[&str] = &["import", "include", "modulemeta", "env", "ENV"];

/// Whether awk with these words only prints.
pub(super) fn awk_prints(args: &[&str]) -> bool {
    let mut rest = args.iter().copied();
    let program = loop {
        match rest.next() {
            Some("-F" | "-v") => {
                if rest.next().is_none() {
                    return false;
                }
            }
            Some("--") => break rest.next(),
            Some(glued) if glued.starts_with("-F") || glued.starts_with("-v") => {}
            other => break other,
        }
    };
    let Some(program) = program.filter(|program| !program.starts_with('-')) else { return false };
    // GNU's takes some absolute names for connections to other machines.
    let plain = |file: &str| file == "-" || !file.starts_with(['-', '/']);
    awk_computes(program) && rest.all(plain)
}

/// A `>` is a comparison only where nothing can be printed: in a program without an action.
fn awk_computes(program: &str) -> bool {
    let pipes = program.replace("||", "").contains('|');
    let redirects = program.contains('>') && program.contains('{');
    !pipes && !redirects && !AWK_ACTS.iter().any(|act| program.contains(act))
}

/// Whether none of jq's words reads what its words do not name as a file. Its options are in the table of programs that look.
pub(super) fn jq_prints(args: &[&str]) -> bool {
    !args.iter().any(|arg| JQ_ACTS.iter().any(|act| arg.contains(act)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn awk_that_prints_is_told_from_awk_that_acts() {
        for args in [
            &["{print $1}", "a.txt"][..],
            &["-F:", "NR==3 || /x/ {print $NF; n++} END {print n}", "a.txt", "-"],
            &["-F", ",", "-v", "n=2", "$n > 5", "a.csv"],
            &["--", "length", "a.txt"],
        ] {
            assert!(awk_prints(args), "{args:?}");
        }
        for args in [
            &["{print > \"b.txt\"}", "a.txt"][..],
            &["BEGIN {system(\"touch x\")}"],
            &["{print | \"sh\"}", "a.txt"],
            &["BEGIN {while ((getline line < \"/etc/passwd\") > 0) print line}"],
            &["BEGIN {ARGV[1] = \"/etc/passwd\"; ARGC = 2} {print}"],
            &["@load \"filefuncs\"; BEGIN {print}"],
            &["-f", "prog.awk", "a.txt"],
            &["-i", "inplace", "{print}", "a.txt"],
            &["-o", "{print}"],
            &["{print}", "/inet/tcp/0/localhost/80"],
            &["{print}", "--source=BEGIN{x}"],
            &["-F"],
            &[],
        ] {
            assert!(!awk_prints(args), "{args:?}");
        }
    }

    #[test]
    fn jq_that_reads_more_than_its_files_is_asked_about() {
        assert!(jq_prints(&[".scripts | keys[]", "package.json"]));
        for filter in
            ["import \"a\" as $a; .", "include \"x\"; .", "$ENV.KEY", "env.KEY", "\"m\" | modulemeta"]
        {
            assert!(!jq_prints(&[filter, "a.json"]), "{filter}");
        }
    }
}
