//! Colours for code: a small lexer that knows comments, texts, numbers and the words of the usual languages.
//!
//! Not a parser: it reads line by line, remembers only an open comment or text, and never fails. So it costs nothing at the start and
//! keeps up with code that streams in.

use crate::row::Piece;
use crate::theme::{Role, Theme};

/// What the usual languages have in common, and where they differ.
struct Language {
    names: &'static [&'static str],
    line_comments: &'static [&'static str],
    block_comment: Option<(&'static str, &'static str)>,
    /// Texts that go over lines.
    long_texts: &'static [&'static str],
    quotes: &'static str,
    words: &'static str,
}

const C_LIKE: &str = "if else for while do switch case default break continue return struct enum union typedef const static void int char float double long short unsigned signed sizeof goto extern inline volatile bool true false null nullptr class public private protected virtual override template typename namespace using new delete this throw try catch auto constexpr final abstract interface extends implements import package instanceof super synchronized throws var record sealed string object readonly foreach in out ref async await";

const LANGUAGES: &[Language] = &[
    Language {
        names: &["rust", "rs"],
        line_comments: &["//"],
        block_comment: Some(("/*", "*/")),
        long_texts: &[],
        quotes: "\"",
        words: "as async await break const continue crate dyn else enum extern false fn for if impl in let loop match mod move mut pub ref return self Self static struct super trait true type unsafe use where while",
    },
    Language {
        names: &["python", "py"],
        line_comments: &["#"],
        block_comment: None,
        long_texts: &["\"\"\"", "'''"],
        quotes: "\"'",
        words: "and as assert async await break class continue def del elif else except False finally for from global if import in is lambda None nonlocal not or pass raise return True try while with yield match case self",
    },
    Language {
        names: &["js", "javascript", "ts", "typescript", "jsx", "tsx", "mjs"],
        line_comments: &["//"],
        block_comment: Some(("/*", "*/")),
        long_texts: &["`"],
        quotes: "\"'",
        words: "abstract any as async await boolean break case catch class const continue debugger default delete do else enum export extends false finally for from function get if implements import in instanceof interface let new null number of package private protected public readonly return set static string super switch this throw true try type typeof undefined var void while with yield",
    },
    Language {
        names: &["go", "golang"],
        line_comments: &["//"],
        block_comment: Some(("/*", "*/")),
        long_texts: &["`"],
        quotes: "\"'",
        words: "break case chan const continue default defer else fallthrough false for func go goto if import interface map nil package range return select struct switch true type var string int bool error byte any",
    },
    Language {
        names: &[
            "c", "h", "cpp", "c++", "cc", "hpp", "java", "cs", "csharp", "kotlin", "kt", "swift", "scala",
            "dart", "php",
        ],
        line_comments: &["//"],
        block_comment: Some(("/*", "*/")),
        long_texts: &[],
        quotes: "\"'",
        words: C_LIKE,
    },
    Language {
        names: &["sh", "bash", "shell", "zsh", "fish", "console", "dockerfile", "makefile", "make"],
        line_comments: &["#"],
        block_comment: None,
        long_texts: &[],
        quotes: "\"'",
        words: "if then else elif fi for in do done while until case esac function return local export echo cd set unset exit source alias FROM RUN COPY ADD ENV WORKDIR CMD ENTRYPOINT",
    },
    Language {
        names: &["json", "jsonc", "json5", "jsonl"],
        line_comments: &["//"],
        block_comment: None,
        long_texts: &[],
        quotes: "\"",
        words: "true false null",
    },
    Language {
        names: &["toml", "yaml", "yml", "ini", "conf"],
        line_comments: &["#", ";"],
        block_comment: None,
        long_texts: &["\"\"\""],
        quotes: "\"'",
        words: "true false null yes no on off",
    },
    Language {
        names: &["sql"],
        line_comments: &["--"],
        block_comment: Some(("/*", "*/")),
        long_texts: &[],
        quotes: "'\"",
        words: "select from where insert into values update set delete create table index view drop alter add primary key foreign references join left right inner outer on group by order having limit offset union all distinct and or not null is in like between as case when then else end begin commit rollback SELECT FROM WHERE INSERT INTO VALUES UPDATE SET DELETE CREATE TABLE INDEX VIEW DROP ALTER ADD PRIMARY KEY FOREIGN REFERENCES JOIN LEFT RIGHT INNER OUTER ON GROUP BY ORDER HAVING LIMIT OFFSET UNION ALL DISTINCT AND OR NOT NULL IS IN LIKE BETWEEN AS CASE WHEN THEN ELSE END BEGIN COMMIT ROLLBACK",
    },
    Language {
        names: &["lua", "haskell", "hs", "elm", "ada"],
        line_comments: &["--"],
        block_comment: None,
        long_texts: &[],
        quotes: "\"'",
        words: "and break do else elseif end false for function goto if in local nil not or repeat return then true until while module where import data type class instance let of case deriving",
    },
    Language {
        names: &["ruby", "rb", "elixir", "ex", "exs", "crystal", "perl", "pl", "r"],
        line_comments: &["#"],
        block_comment: None,
        long_texts: &["\"\"\""],
        quotes: "\"'",
        words: "def defp defmodule do end if else elsif unless case when while until for in class module self nil true false and or not return yield begin rescue ensure raise require import alias use fn with cond my sub foreach last next function",
    },
    Language {
        names: &["html", "xml", "svg", "vue", "svelte"],
        line_comments: &[],
        block_comment: Some(("<!--", "-->")),
        long_texts: &[],
        quotes: "\"'",
        words: "html head body div span script style link meta title p a ul ol li table tr td th form input button img section main header footer nav",
    },
    Language {
        names: &["css", "scss", "less"],
        line_comments: &[],
        block_comment: Some(("/*", "*/")),
        long_texts: &[],
        quotes: "\"'",
        words: "important inherit initial none auto flex grid block inline absolute relative fixed",
    },
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Open {
    Comment,
    Text(&'static str),
}

/// Colours the lines of one block, in order.
pub(super) struct Highlighter {
    language: Option<&'static Language>,
    diff: bool,
    open: Option<Open>,
}

impl Highlighter {
    pub(super) fn new(name: &str) -> Highlighter {
        let name = name.trim().to_ascii_lowercase();
        let language = LANGUAGES.iter().find(|language| language.names.contains(&name.as_str()));
        Highlighter { language, diff: matches!(name.as_str(), "diff" | "patch"), open: None }
    }

    /// Paints one line of the block; lines must come in order, for comments and strings that go on.
    pub(super) fn line(&mut self, line: &str, theme: Theme) -> Vec<Piece> {
        if self.diff {
            let role = match line.as_bytes().first() {
                Some(b'+') => Role::Added,
                Some(b'-') => Role::Removed,
                Some(b'@') => Role::Accent,
                _ => Role::Text,
            };
            return vec![Piece::new(line, theme.style(role))];
        }
        let Some(language) = self.language else {
            return vec![Piece::new(line, theme.style(Role::Text))];
        };
        let mut pieces: Vec<(Role, String)> = Vec::new();
        let mut rest = line;
        while !rest.is_empty() {
            let (role, length) = self.token(language, rest);
            let (token, after) = rest.split_at(length);
            match pieces.last_mut() {
                Some((last, text)) if *last == role => text.push_str(token),
                _ => pieces.push((role, token.to_owned())),
            }
            rest = after;
        }
        pieces.into_iter().map(|(role, text)| Piece::new(text, theme.style(role))).collect()
    }

    /// What `rest` begins with, and how many bytes of it.
    fn token(&mut self, language: &'static Language, rest: &str) -> (Role, usize) {
        if let Some(open) = self.open {
            return self.inside(language, open, rest);
        }
        if language.line_comments.iter().any(|sign| rest.starts_with(sign)) {
            return (Role::Comment, rest.len());
        }
        if let Some((begin, _)) = language.block_comment.filter(|(begin, _)| rest.starts_with(begin)) {
            self.open = Some(Open::Comment);
            return (Role::Comment, begin.len());
        }
        if let Some(quote) = language.long_texts.iter().find(|quote| rest.starts_with(**quote)) {
            self.open = Some(Open::Text(quote));
            return (Role::Literal, quote.len());
        }
        let first = rest.chars().next().unwrap_or(' ');
        if language.quotes.contains(first) {
            return (Role::Literal, quoted(rest, first));
        }
        if first.is_ascii_digit() {
            let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_' && c != '.');
            return (Role::Number, end.unwrap_or(rest.len()));
        }
        if first.is_alphabetic() || first == '_' {
            let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
            return (word(language, &rest[..end], &rest[end..]), end);
        }
        (Role::Text, first.len_utf8())
    }

    fn inside(&mut self, language: &'static Language, open: Open, rest: &str) -> (Role, usize) {
        let (role, end) = match open {
            Open::Comment => (Role::Comment, language.block_comment.map_or("", |(_, end)| end)),
            Open::Text(quote) => (Role::Literal, quote),
        };
        match rest.find(end).filter(|_| !end.is_empty()) {
            Some(at) => {
                self.open = None;
                (role, at + end.len())
            }
            None => (role, rest.len()),
        }
    }
}

fn quoted(rest: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in rest.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            c if c == quote => return at + c.len_utf8(),
            _ => {}
        }
    }
    rest.len()
}

fn word(language: &Language, word: &str, after: &str) -> Role {
    if language.words.split(' ').any(|known| known == word) {
        Role::Keyword
    } else if after.starts_with('(') || after.starts_with("!(") {
        Role::Call
    } else if word.starts_with(char::is_uppercase) {
        Role::Type
    } else {
        Role::Text
    }
}
