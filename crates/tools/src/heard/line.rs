//! Command lines: a list of words as the line that runs them, and a line that is nothing but a patch. Pure.
//!
//! A line is taken as a patch only where a shell would hand exactly this text to a program `apply_patch`, and would do nothing else.

/// Shells whose script is the line itself, and how it is given to them.
const SHELLS: &[&str] = &["bash", "/bin/bash", "/usr/bin/bash"];
const SCRIPT: &[&str] = &["-c", "-lc"];
/// Words that are no names of programs where they stand first.
const RESERVED: &[&str] = &[
    "if", "then", "else", "elif", "fi", "do", "done", "case", "esac", "while", "until", "for", "in",
    "function", "time", "select", "coproc",
];
/// The program that others have for patches.
const PROGRAMS: &[&str] = &["apply_patch", "applypatch"];

/// The line that runs these words; `None` where there are none.
pub(super) fn of_words(words: &[&str]) -> Option<String> {
    match words {
        [] | [""] => None,
        [shell, how, script] if SHELLS.contains(shell) && SCRIPT.contains(how) => Some((*script).to_owned()),
        [program, text] if PROGRAMS.contains(program) => Some(format!("{program} {}", quoted(text))),
        words => {
            let word = |(at, word): (usize, &&str)| match at == 0
                && (word.contains('=') || RESERVED.contains(word))
            {
                true => quoted(word),
                false => plain(word),
            };
            Some(words.iter().enumerate().map(word).collect::<Vec<_>>().join(" "))
        }
    }
}

/// A word that a shell leaves as it is.
fn plain(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_@%+=:,./-".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) { word.to_owned() } else { quoted(word) }
}

fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// The patch that a line hands to `apply_patch`, where it does nothing else; an error where a shell would change the patch on the way.
pub(super) fn patch(line: &str) -> Result<Option<String>, String> {
    let line = line.trim();
    let Some(rest) = PROGRAMS.iter().find_map(|name| line.strip_prefix(name)) else { return Ok(None) };
    let text = rest.trim_start_matches([' ', '\t']);
    if let Some(here) = text.strip_prefix("<<").filter(|here| !here.starts_with('<')) {
        return Ok(here_document(here)?.filter(|(_, after)| after.trim().is_empty()).map(|(body, _)| body));
    }
    if text.len() == rest.len() {
        return Ok(None);
    }
    if let Some(inner) = text.strip_prefix("\"$(cat <<").and_then(|here| here.strip_suffix(")\"")) {
        return Ok(here_document(inner)?.filter(|(_, after)| after.trim().is_empty()).map(|(body, _)| body));
    }
    if text.starts_with('\'') {
        return Ok(single_quoted(text));
    }
    let inner = text.strip_prefix('"').and_then(|inner| inner.strip_suffix('"'));
    match inner.filter(|inner| !inner.contains('"')) {
        Some(inner) if inner.contains(CHANGED) => Err(changed("quoted by `\"`")),
        inner => Ok(inner.map(str::to_owned)),
    }
}

/// What a shell does not leave as it is, where a text is not quoted by `'`.
const CHANGED: [char; 3] = ['$', '`', '\\'];

fn changed(how: &str) -> String {
    format!(
        "the patch is {how}, so a shell would change `$`, backquotes and backslashes in it: call apply_patch itself, with the patch as `input`"
    )
}

/// One word quoted by `'`, with `'\''` for each `'` in it.
fn single_quoted(text: &str) -> Option<String> {
    let inner = text.strip_prefix('\'')?.strip_suffix('\'')?;
    let inner = inner.replace(r"'\''", "\0");
    (!inner.contains('\'')).then(|| inner.replace('\0', "'"))
}

/// The text of a here-document after its `<<`, and what follows it.
fn here_document(text: &str) -> Result<Option<(String, &str)>, String> {
    let (text, tabs) = match text.strip_prefix('-') {
        Some(text) => (text, true),
        None => (text, false),
    };
    let Some((head, body)) = text.split_once('\n') else { return Ok(None) };
    let head = head.trim();
    let unquoted = |quote: char| head.strip_prefix(quote).and_then(|head| head.strip_suffix(quote));
    let (end, verbatim) = match unquoted('\'').or_else(|| unquoted('"')) {
        Some(end) => (end, true),
        None => (head, false),
    };
    if end.is_empty() || !end.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
        return Ok(None);
    }
    let (mut patch, mut rest) = (String::new(), body);
    while !rest.is_empty() {
        let (line, after) = rest.split_once('\n').unwrap_or((rest, ""));
        let line = if tabs { line.trim_start_matches('\t') } else { line };
        rest = after;
        if line == end {
            return done(patch, rest, verbatim);
        }
        patch.push_str(line);
        patch.push('\n');
    }
    done(patch, rest, verbatim)
}

fn done(patch: String, rest: &str, verbatim: bool) -> Result<Option<(String, &str)>, String> {
    match !verbatim && patch.contains(CHANGED) {
        true => Err(changed("in a here-document without quotes")),
        false => Ok(Some((patch, rest))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_the_line_that_runs_them() {
        for (words, line) in [
            (&["ls", "-la"][..], Some("ls -la")),
            (&["bash", "-lc", "ls | wc -l"], Some("ls | wc -l")),
            (&["sh", "-c", "a; b"], Some("sh -c 'a; b'")),
            (&["grep", "it's", "a b"], Some(r"grep 'it'\''s' 'a b'")),
            (&["rm", "$HOME", "~", "*", ""], Some("rm '$HOME' '~' '*' ''")),
            (&["A=b", "x"], Some("'A=b' x")),
            (&["if", "x"], Some("'if' x")),
            (&[], None),
        ] {
            assert_eq!(of_words(words).as_deref(), line, "{words:?}");
        }
    }

    const PATCH: &str = "*** Begin Patch\n*** Add File: x\n+it's $5\n*** End Patch\n";

    #[test]
    fn a_line_that_is_a_patch_and_nothing_else_is_one() {
        let plain = PATCH.replace('$', "");
        for line in [
            format!("apply_patch <<'EOF'\n{PATCH}EOF"),
            format!("apply_patch << \"PATCH\"\n{PATCH}PATCH\n"),
            format!("  applypatch <<'EOF'\n{PATCH}EOF\n\n"),
            format!("apply_patch <<-'EOF'\n{PATCH}\tEOF"),
            format!("apply_patch \"$(cat <<'EOF'\n{PATCH}EOF\n)\""),
            of_words(&["apply_patch", PATCH]).unwrap(),
        ] {
            assert_eq!(patch(&line).unwrap().as_deref(), Some(PATCH), "{line}");
        }
        assert_eq!(patch(&format!("apply_patch <<EOF\n{plain}EOF")).unwrap(), Some(plain.clone()));
        assert_eq!(patch(&format!("apply_patch \"{plain}\"")).unwrap(), Some(plain));
    }

    #[test]
    fn a_line_that_does_more_is_none_and_one_that_a_shell_would_change_is_told() {
        for line in [
            format!("apply_patch <<'EOF'\n{PATCH}EOF\nrm -rf x"),
            format!("apply_patch <<'EOF' && rm x\n{PATCH}EOF"),
            format!("apply_patch <<'EOF' > out\n{PATCH}EOF"),
            format!("cd sub && apply_patch <<'EOF'\n{PATCH}EOF"),
            format!("A=1 apply_patch <<'EOF'\n{PATCH}EOF"),
            "apply_patch 'a' 'b'".to_owned(),
            "apply_patch 'a'; rm x'".to_owned(),
            "apply_patch \"a\" \"$(rm x)\"".to_owned(),
            "apply_patch file.patch".to_owned(),
            "apply_patch --help".to_owned(),
            "apply_patches <<'EOF'\nx\nEOF".to_owned(),
            "apply_patch'x'".to_owned(),
            "apply_patch <<< x".to_owned(),
            "apply_patch".to_owned(),
        ] {
            assert_eq!(patch(&line), Ok(None), "{line}");
        }
        for line in [
            format!("apply_patch <<EOF\n{PATCH}EOF"),
            format!("apply_patch \"{PATCH}\""),
            "apply_patch \"$(rm x)\"".to_owned(),
        ] {
            assert!(patch(&line).unwrap_err().contains("call apply_patch itself"), "{line}");
        }
    }
}
