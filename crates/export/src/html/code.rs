//! Colours for code in the page: a small lexer for comments, texts, numbers and the words that most languages share.
//!
//! Not a parser: it knows how a language writes comments and texts, and never fails. Everything it gives is escaped.

/// How a family of languages writes what is not code.
struct Family {
    names: &'static [&'static str],
    line_comments: &'static [&'static str],
    block: Option<(&'static str, &'static str)>,
    quotes: &'static str,
    words: bool,
}

const FAMILIES: &[Family] = &[
    Family {
        names: &["rust", "rs"],
        line_comments: &["//"],
        block: Some(("/*", "*/")),
        // A single quote may be a lifetime.
        quotes: "\"",
        words: true,
    },
    Family {
        names: &[
            "js",
            "javascript",
            "jsx",
            "ts",
            "typescript",
            "tsx",
            "c",
            "h",
            "cpp",
            "c++",
            "java",
            "cs",
            "csharp",
            "go",
            "golang",
            "kotlin",
            "swift",
            "scala",
            "dart",
            "php",
            "zig",
        ],
        line_comments: &["//"],
        block: Some(("/*", "*/")),
        quotes: "\"'`",
        words: true,
    },
    Family {
        names: &[
            "python",
            "py",
            "sh",
            "bash",
            "shell",
            "zsh",
            "fish",
            "ruby",
            "rb",
            "elixir",
            "ex",
            "perl",
            "r",
            "toml",
            "yaml",
            "yml",
            "ini",
            "make",
            "makefile",
            "dockerfile",
            "nix",
        ],
        line_comments: &["#"],
        block: None,
        quotes: "\"'",
        words: true,
    },
    Family {
        names: &["json", "jsonc", "jsonl"],
        line_comments: &["//"],
        block: None,
        quotes: "\"",
        words: true,
    },
    Family {
        names: &["sql", "lua", "haskell", "hs", "elm"],
        line_comments: &["--"],
        block: Some(("/*", "*/")),
        quotes: "\"'",
        words: true,
    },
    Family {
        names: &["html", "xml", "svg", "vue"],
        line_comments: &[],
        block: Some(("<!--", "-->")),
        quotes: "\"'",
        words: false,
    },
    Family {
        names: &["css", "scss", "less"],
        line_comments: &[],
        block: Some(("/*", "*/")),
        quotes: "\"'",
        words: false,
    },
];

/// Words that most of these languages share; compared without regard to case, as SQL is written both ways.
#[rustfmt::skip]
const WORDS: &[&str] = &[
    "abstract", "alias", "and", "as", "async", "await", "begin", "bool", "break", "case", "catch", "class",
    "const", "continue", "crate", "create", "def", "default", "defer", "delete", "do", "done", "dyn", "elif",
    "else", "end", "enum", "esac", "except", "export", "extends", "extern", "false", "fi", "final", "finally",
    "fn", "for", "from", "func", "function", "goto", "if", "impl", "implements", "import", "in", "insert",
    "int", "interface", "into", "is", "join", "lambda", "let", "local", "loop", "match", "mod", "module",
    "move", "mut", "namespace", "new", "nil", "none", "not", "null", "or", "package", "pass", "private",
    "protected", "pub", "public", "raise", "ref", "return", "select", "self", "set", "static", "string",
    "struct", "super", "switch", "table", "then", "this", "throw", "trait", "true", "try", "type", "typeof",
    "undefined", "union", "unsafe", "update", "use", "using", "var", "void", "where", "while", "with",
    "yield",
];

/// The code as HTML.
pub(super) fn coloured(language: &str, code: &str) -> String {
    let named = |c: char| c.is_ascii_alphanumeric() || c == '+' || c == '#';
    let name = language.split(|c| !named(c)).next().unwrap_or("").to_ascii_lowercase();
    if matches!(name.as_str(), "diff" | "patch") {
        return diff(code);
    }
    match FAMILIES.iter().find(|family| family.names.contains(&name.as_str())) {
        Some(family) => lex(family, code),
        None => super::escaped(code),
    }
}

fn diff(code: &str) -> String {
    let line = |line: &str| match line.as_bytes().first() {
        Some(b'+') => span("plus", line),
        Some(b'-') => span("minus", line),
        Some(b'@') => span("at", line),
        Some(_) | None => super::escaped(line),
    };
    code.split_inclusive('\n').map(line).collect()
}

fn span(class: &str, text: &str) -> String {
    format!("<span class=\"{class}\">{}</span>", super::escaped(text))
}

fn lex(family: &Family, code: &str) -> String {
    let mut out = String::with_capacity(code.len() * 2);
    let mut rest = code;
    while !rest.is_empty() {
        let (class, length) = token(family, rest);
        let (text, after) = rest.split_at(length);
        out.push_str(&class.map_or_else(|| super::escaped(text), |class| span(class, text)));
        rest = after;
    }
    out
}

/// What `rest` begins with: its class, and how many bytes of it.
fn token(family: &Family, rest: &str) -> (Option<&'static str>, usize) {
    if family.line_comments.iter().any(|sign| rest.starts_with(sign)) {
        return (Some("c"), rest.find('\n').unwrap_or(rest.len()));
    }
    if let Some((begin, end)) = family.block.filter(|(begin, _)| rest.starts_with(begin)) {
        let inside = rest[begin.len()..].find(end);
        return (Some("c"), inside.map_or(rest.len(), |at| begin.len() + at + end.len()));
    }
    let first = rest.chars().next().unwrap_or(' ');
    if family.quotes.contains(first) {
        return (Some("s"), quoted(rest, first));
    }
    let part = |c: char| c.is_alphanumeric() || c == '_';
    if part(first) {
        let digits = first.is_ascii_digit();
        let end = rest.find(|c| !(part(c) || digits && c == '.')).unwrap_or(rest.len());
        let word = family.words && WORDS.binary_search(&rest[..end].to_ascii_lowercase().as_str()).is_ok();
        let class = if digits { Some("n") } else { word.then_some("w") };
        return (class, end);
    }
    (None, rest.find(|c| part(c) || !c.is_whitespace()).filter(|at| *at > 0).unwrap_or(first.len_utf8()))
}

fn quoted(rest: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in rest.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            // Only backticks go over lines; else one odd apostrophe would colour the rest of the file.
            '\n' if quote != '`' => return at,
            c if c == quote => return at + c.len_utf8(),
            _ => {}
        }
    }
    rest.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn words_are_sorted() {
        assert!(WORDS.is_sorted());
    }

    #[test]
    fn code_is_coloured_and_escaped() {
        for (language, code, page) in [
            ("rust", "let x = 1;", "<span class=\"w\">let</span> x = <span class=\"n\">1</span>;"),
            ("py", "# a<b", "<span class=\"c\"># a&lt;b</span>"),
            ("js", "`a\nb`", "<span class=\"s\">`a\nb`</span>"),
            ("diff", "+a\n b\n", "<span class=\"plus\">+a\n</span> b\n"),
            ("", "<script>", "&lt;script&gt;"),
        ] {
            assert_eq!(coloured(language, code), page);
        }
    }

    proptest! {
        #[test]
        fn nothing_is_lost_and_nothing_escapes(code in "\\PC{0,200}", language in "(rust|py|js|sql|html|json|diff|x)") {
            let page = coloured(&language, &code);
            let mut plain = String::new();
            let mut rest = page.as_str();
            while let Some(at) = rest.find('<') {
                plain.push_str(&rest[..at]);
                let end = rest[at..].find('>').unwrap() + at + 1;
                prop_assert!(rest[at..end].starts_with("<span class=") || &rest[at..end] == "</span>");
                rest = &rest[end..];
            }
            plain.push_str(rest);
            let back = plain.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&amp;", "&");
            prop_assert_eq!(back, code);
        }
    }
}
